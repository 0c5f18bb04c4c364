// Where the robots of an assembly are (assemblies.h): how far docks are open before a step, and
// behind it each robot where its dock meets that of its parent. So docks do not drift, and the
// assembly has the freedom of a tree only: its root's base and the joints.
#include "solve/modules/assemblies.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <string.h>

// [m/s], [rad/s] Docks that have just met do not close faster.
static const double closes_most = 1.0, loops_close_most = 0.1; // in loops others have to give way

// ---- sites --------------------------------------------------------------------------------------

typedef struct Site {
    double world_rotation[9], position[3], velocity[3], rate[3];
} Site;

void mf_assembly_rotation(double out[4], const double rate[3], double time) {
    const double size = mf_vec3_length(rate);
    double axis[3] = {1.0, 0.0, 0.0};
    if (size > 0.0)
        mf_vec3_scale(axis, rate, 1.0 / size);
    mf_quat_from_axis_angle(out, axis, size * time);
}

// Of a link that moves by itself, `after` seconds later.
static void site_of_anchor(const mf_LinkMotion *motion, double after, Site *out) {
    double about[4], rotated[4];
    mf_assembly_rotation(about, motion->rate, after);
    mf_quat_multiply(rotated, about, motion->orientation);
    mf_quat_to_matrix(out->world_rotation, rotated);
    mf_vec3_copy(out->velocity, motion->velocity);
    mf_vec3_copy(out->rate, motion->rate);
    mf_vec3_copy(out->position, motion->position);
    mf_vec3_add_scaled(out->position, out->position, after, motion->velocity);
}

static void site_of(const mf_Assemblies *all, const mf_AssemblyRobot *robot, uint32_t site,
                    Site *out) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    double values[MF_ART_SITE_POSE];
    mf_art_pieces_get(pieces, piece->pose, robot->lane, MF_ART_SITE_POSE * site, MF_ART_SITE_POSE,
                      values);
    memcpy(out->world_rotation, values, sizeof out->world_rotation);
    mf_vec3_copy(out->position, values + 9);
    mf_vec3_copy(out->velocity, values + 12);
    mf_vec3_copy(out->rate, values + 15);
}

// ---- before the step ----------------------------------------------------------------------------

static bool is_wide(const mf_AssemblyRobot *robot) {
    return mf_group_config_of(robot->group->group)->double_precision;
}

// What is rounding of the fields and no gap: docks are where they should be.
static double rounding(const mf_AssemblyRobot *robot, const mf_AssemblyRobot *parent,
                       const double position[3]) {
    const bool wide = is_wide(robot) && is_wide(parent);
    const double far = mf_abs(position[0]) + mf_abs(position[1]) + mf_abs(position[2]);
    return (wide ? 1e-14 : 4e-7) * (1.0 + far) * 16.0;
}

static void closing(const mf_Assemblies *all, double gap[3], double closes[3], double least,
                    double fastest) {
    const double size = mf_vec3_length(gap);
    if (size <= least)
        mf_vec3_set(gap, 0.0, 0.0, 0.0);
    const double rate = 1.0 / all->time, most = fastest / (size > 0.0 ? size : 1.0);
    mf_vec3_scale(closes, gap, -(rate < most ? rate : most));
}

static void measure_edge(mf_Assemblies *all, mf_AssemblyEdge *edge, double most) {
    const mf_AssemblyRobot *robots[2];
    mf_AssemblyFrame *first = &edge->frames[0], *second = &edge->frames[1];
    Site sites[2];
    double back[9], swing_back[9], q[4], gap[6], swing[3], velocity[2][3], arm[3];
    for (uint32_t s = 0; s < 2; s++) {
        mf_AssemblyFrame *frame = &edge->frames[s];
        robots[s] = &all->order[edge->robots[s]];
        if (robots[s]->anchored)
            site_of_anchor(&edge->anchors[s], 0.0, &sites[s]);
        else
            site_of(all, robots[s], frame->site, &sites[s]);
        mf_mat3_multiply(frame->world_rotation, sites[s].world_rotation, frame->rotation);
        mf_mat3_apply(frame->arm, sites[s].world_rotation, frame->position);
    }
    mf_vec3_copy(arm, second->arm);
    // Gaps in the world, then in axes of the first link.
    mf_mat3_transpose(back, first->world_rotation);
    mf_mat3_multiply(swing_back, second->world_rotation, back);
    mf_quat_from_matrix(q, swing_back);
    mf_quat_to_rotation_vector(gap, q);
    for (uint32_t c = 0; c < 3; c++)
        gap[3 + c] = sites[1].position[c] + arm[c] - sites[0].position[c] - first->arm[c];
    const double least = rounding(robots[0], robots[1], sites[0].position);
    mf_mat3_apply_transposed(edge->open, sites[0].world_rotation, gap);
    mf_mat3_apply_transposed(edge->open + 3, sites[0].world_rotation, gap + 3);
    closing(all, edge->open, edge->closes, least, most);
    closing(all, edge->open + 3, edge->closes + 3, least, most);
    mf_mat3_apply(gap + 3, sites[0].world_rotation, edge->open + 3);
    mf_vec3_sub(second->arm, arm, gap + 3);
    for (uint32_t s = 0; s < 2; s++) {
        mf_vec3_cross(swing, sites[s].rate, edge->frames[s].arm);
        mf_vec3_add(velocity[s], sites[s].velocity, swing);
    }
    mf_mat3_apply(edge->correction, sites[0].world_rotation, edge->closes);
    mf_mat3_apply(edge->correction + 3, sites[0].world_rotation, edge->closes + 3);
    for (uint32_t c = 0; c < 3; c++) {
        edge->correction[c] -= sites[1].rate[c] - sites[0].rate[c];
        edge->correction[3 + c] -= velocity[1][c] - velocity[0][c];
    }
    mf_mat3_apply(edge->pull, sites[0].world_rotation, edge->closes);
    mf_mat3_apply(edge->pull + 3, sites[0].world_rotation, edge->closes + 3);
    for (uint32_t c = 0; c < 6; c++) {
        edge->pull[c] /= all->step;
        edge->correction[c] /= all->step;
    }
}

void mf_assembly_measure(mf_Assemblies *all, uint32_t robot) {
    if (all->order[robot].parent != MF_NONE)
        measure_edge(all, &all->order[robot].edge, closes_most);
}

void mf_assembly_measure_loops(mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++) {
        mf_AssemblyEdge *loop = &all->loops[l];
        const mf_JointRecord *record = &all->docks->joints->records[loop->slot];
        measure_edge(all, loop, loops_close_most);
        // In its first step it carries nothing yet, and nothing closes.
        const bool carried = mf_vec3_dot(record->force, record->force) +
                                 mf_vec3_dot(record->moment, record->moment) >
                             0.0;
        loop->stuck = carried ? mf_assembly_stuck(loop) : 0.0;
    }
}

// ---- loads --------------------------------------------------------------------------------------

static void store_edge(mf_Assemblies *all, const mf_AssemblyEdge *edge, uint32_t rounds) {
    mf_JointRecord *record = &all->docks->joints->records[edge->slot];
    const double sign = edge->side == 1 ? 1.0 : -1.0; // it is the wrench on the second
    const double *axes = edge->frames[edge->side == 1 ? 0 : 1].world_rotation;
    mf_vec3_scale(record->moment, edge->wrench, sign);
    mf_vec3_scale(record->force, edge->wrench + 3, sign);
    mf_mat3_apply_transposed(record->load, axes, record->force);
    mf_mat3_apply_transposed(record->load + 3, axes, record->moment);
    record->torque = record->residual = 0.0;
    record->rounds = rounds;
}

void mf_assembly_store(mf_Assemblies *all, mf_Assembly *assembly) {
    for (uint32_t i = assembly->first + 1; i < assembly->end; i++)
        store_edge(all, &all->order[i].edge, assembly->rounds);
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++)
        store_edge(all, &all->loops[l], assembly->rounds);
}

// ---- behind the step ----------------------------------------------------------------------------

// The frame of the parent's side, as the own side is to match it: what is still open stays so.
static void frame_to_match(const mf_Assemblies *all, const mf_AssemblyRobot *robot, Site *out) {
    const mf_AssemblyRobot *parent = &all->order[robot->parent];
    const mf_AssemblyEdge *edge = &robot->edge;
    Site on;
    double link[9], arm[3], swing[3], rest[3], more[9], back[9], q[4];
    if (parent->anchored)
        site_of_anchor(&edge->anchors[0], all->step, &on);
    else
        site_of(all, parent, edge->frames[0].site, &on);
    mf_mat3_multiply(link, parent->world_rotation, on.world_rotation);
    mf_mat3_apply(out->rate, parent->world_rotation, on.rate);
    mf_vec3_add(out->rate, out->rate, parent->rate);
    // Origin of the link, then of the frame.
    mf_mat3_apply(arm, parent->world_rotation, on.position);
    mf_vec3_cross(swing, parent->rate, arm);
    mf_mat3_apply(out->velocity, parent->world_rotation, on.velocity);
    mf_vec3_add(out->velocity, out->velocity, swing);
    mf_vec3_add(out->velocity, out->velocity, parent->velocity);
    mf_vec3_add(out->position, parent->position, arm);
    for (uint32_t c = 0; c < 3; c++)
        rest[c] = edge->frames[0].position[c] + edge->open[3 + c] + all->step * edge->closes[3 + c];
    mf_mat3_apply(arm, link, rest);
    mf_vec3_cross(swing, out->rate, arm);
    mf_vec3_add(out->position, out->position, arm);
    mf_vec3_add(out->velocity, out->velocity, swing);
    mf_mat3_apply(rest, link, edge->closes + 3);
    mf_vec3_add(out->velocity, out->velocity, rest);
    // Its turn, and what is open of it.
    for (uint32_t c = 0; c < 3; c++)
        rest[c] = edge->open[c] + all->step * edge->closes[c];
    mf_assembly_rotation(q, rest, 1.0);
    mf_quat_to_matrix(more, q);
    mf_mat3_multiply(back, more, edge->frames[0].rotation);
    mf_mat3_multiply(out->world_rotation, link, back);
    mf_mat3_apply(rest, link, edge->closes);
    mf_vec3_add(out->rate, out->rate, rest);
}

static void chain_robot(const mf_Assemblies *all, mf_AssemblyRobot *robot) {
    const mf_AssemblyEdge *edge = &robot->edge;
    Site mate, own;
    double frame[9], back[9], arm[3], swing[3], moves[3];
    frame_to_match(all, robot, &mate);
    site_of(all, robot, edge->frames[1].site, &own);
    mf_mat3_multiply(frame, own.world_rotation, edge->frames[1].rotation);
    mf_mat3_transpose(back, frame);
    mf_mat3_multiply(robot->world_rotation, mate.world_rotation, back);
    mf_mat3_apply(arm, robot->world_rotation, own.rate);
    mf_vec3_sub(robot->rate, mate.rate, arm);
    // The frame from the base's origin, and how the joints move it.
    mf_mat3_apply(arm, own.world_rotation, edge->frames[1].position);
    mf_vec3_cross(moves, own.rate, arm);
    mf_vec3_add(moves, moves, own.velocity);
    mf_vec3_add(arm, arm, own.position);
    mf_mat3_apply(arm, robot->world_rotation, arm);
    mf_mat3_apply(moves, robot->world_rotation, moves);
    mf_vec3_sub(robot->position, mate.position, arm);
    mf_vec3_cross(swing, robot->rate, arm);
    for (uint32_t c = 0; c < 3; c++)
        robot->velocity[c] = mate.velocity[c] - swing[c] - moves[c];
}

void mf_assembly_chain(mf_Assemblies *all, mf_Assembly *assembly) {
    mf_AssemblyRobot *root = &all->order[assembly->first];
    memset(root->world_rotation, 0, sizeof root->world_rotation);
    root->world_rotation[0] = root->world_rotation[4] = root->world_rotation[8] = 1.0;
    mf_vec3_set(root->position, 0.0, 0.0, 0.0);
    mf_vec3_set(root->velocity, 0.0, 0.0, 0.0);
    mf_vec3_set(root->rate, 0.0, 0.0, 0.0);
    for (uint32_t i = assembly->first + 1; i < assembly->end; i++)
        chain_robot(all, &all->order[i]);
}

// ---- into the fields ----------------------------------------------------------------------------

bool mf_assembly_has_failed(const mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        if (all->order[i].group->fault[all->order[i].instance] != 0)
            return true;
    return false;
}

// The root's base in the world.
static void read_root(const mf_AssemblyRobot *root, Site *out) {
    mf_Field *const *base = root->group->assemblies->base;
    double q[4], about[3];
    mf_field_read(base[0], root->instance, 0, 3, out->position);
    mf_field_read(base[1], root->instance, 0, 4, q);
    mf_field_read(base[2], root->instance, 0, 3, out->velocity);
    mf_field_read(base[3], root->instance, 0, 3, about);
    if (root->anchored) { // its children are placed in the world
        mf_quat_identity(q);
        mf_vec3_set(out->position, 0.0, 0.0, 0.0);
    }
    if (root->anchored || root->group->assemblies->pieces->motion->plan->fixed) {
        mf_vec3_set(out->velocity, 0.0, 0.0, 0.0);
        mf_vec3_set(about, 0.0, 0.0, 0.0);
    }
    mf_quat_to_matrix(out->world_rotation, q);
    mf_mat3_apply(out->rate, out->world_rotation, about);
}

// Of two quaternions of an attitude the one nearer to the last is taken.
static void place_robot(const Site *root, const mf_AssemblyRobot *robot) {
    mf_Field *const *own = robot->group->assemblies->base;
    double to[9], at[3], moves[3], swing[3], before[4], next[4], rotation[3];
    mf_mat3_multiply(to, root->world_rotation, robot->world_rotation);
    mf_mat3_apply(at, root->world_rotation, robot->position);
    mf_mat3_apply(moves, root->world_rotation, robot->velocity);
    mf_mat3_apply(rotation, root->world_rotation, robot->rate);
    mf_vec3_cross(swing, root->rate, at);
    for (uint32_t c = 0; c < 3; c++) {
        moves[c] += root->velocity[c] + swing[c];
        at[c] += root->position[c];
        rotation[c] += root->rate[c];
    }
    mf_mat3_apply_transposed(rotation, to, rotation);
    mf_field_read(own[1], robot->instance, 0, 4, before);
    mf_quat_from_matrix(next, to);
    mf_quat_normalize(next);
    const double same = before[0] * next[0] + mf_vec3_dot(before + 1, next + 1);
    for (uint32_t c = 0; c < 4 && same < 0.0; c++)
        next[c] = -next[c];
    mf_field_write(own[0], robot->instance, 0, 3, at);
    mf_field_write(own[1], robot->instance, 0, 4, next);
    mf_field_write(own[2], robot->instance, 0, 3, moves);
    mf_field_write(own[3], robot->instance, 0, 3, rotation);
}

void mf_assembly_update_poses(mf_Assemblies *all, uint32_t first, uint32_t end) {
    uint32_t last = MF_NONE;
    Site root;
    for (uint32_t i = first; i < end; i++) {
        const mf_AssemblyRobot *robot = &all->order[i];
        const mf_Assembly *assembly = &all->assemblies[robot->assembly];
        if (!assembly->active || assembly->failed || i == assembly->first)
            continue;
        if (robot->assembly != last)
            read_root(&all->order[assembly->first], &root);
        last = robot->assembly;
        place_robot(&root, robot);
    }
}
