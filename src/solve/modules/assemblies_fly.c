// The momentum of an assembly in flight (assemblies.h): masses and momenta of its robots summed as
// those of the links of one tree, seen from its root's base; the root's kernel does with them what
// a robot by itself does with its own (motion/articulated/tree/momentum.h).
#include "solve/modules/assemblies.h"
#include "math/scalar.h"

#include <string.h>

// Of a robot or an assembly, from a base at rest, in its axes; the order of MF_ART_WHOLE_VALUES.
typedef struct Whole {
    double center[3], drift[3], own[3]; // [m], [m/s], [N m s] about the center
    double inertia[6];                  // [kg m^2] about the center: xx, yy, zz, xy, xz, yz
} Whole;

static double at(const double s[6], uint32_t r, uint32_t c) {
    return r == c ? s[r] : s[r + c + 2];
}

// R s R^T of a symmetric matrix.
static void rotate_inertia(double out[6], const double m[9], const double s[6]) {
    static const uint32_t rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    double sum[6];
    for (uint32_t i = 0; i < 6; i++) {
        sum[i] = 0.0;
        for (uint32_t p = 0; p < 3; p++)
            for (uint32_t q = 0; q < 3; q++)
                sum[i] += m[3 * rows[i] + p] * at(s, p, q) * m[3 * columns[i] + q];
    }
    memcpy(out, sum, sizeof sum);
}

static void apply_inertia(double out[3], const double s[6], const double a[3]) {
    const double x = a[0], y = a[1], z = a[2];
    out[0] = s[0] * x + s[3] * y + s[4] * z;
    out[1] = s[3] * x + s[1] * y + s[5] * z;
    out[2] = s[4] * x + s[5] * y + s[2] * z;
}

static const mf_ArtPlan *plan_of(const mf_AssemblyRobot *robot) {
    return robot->group->assemblies->pieces->motion->plan;
}

// A robot seen from the root, whose own values begin at `first`.
static void see(const mf_Assemblies *all, const mf_AssemblyRobot *robot, uint32_t first,
                Whole *out) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    double values[MF_ART_WHOLE_VALUES], arm[3], swing[3], spin[3];
    mf_art_pieces_get(pieces, piece->whole, robot->lane, first, MF_ART_WHOLE_VALUES, values);
    mf_mat3_apply(arm, robot->world_rotation, values);
    mf_vec3_add(out->center, robot->position, arm);
    mf_vec3_cross(swing, robot->rate, arm);
    mf_mat3_apply(out->drift, robot->world_rotation, values + 3);
    mf_vec3_add(out->drift, out->drift, swing);
    mf_vec3_add(out->drift, out->drift, robot->velocity);
    rotate_inertia(out->inertia, robot->world_rotation, values + 9);
    mf_mat3_apply(out->own, robot->world_rotation, values + 6);
    apply_inertia(spin, out->inertia, robot->rate);
    mf_vec3_add(out->own, out->own, spin);
}

static double mass_of(const mf_Assemblies *all, const mf_Assembly *assembly) {
    double mass = 0.0;
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        mass += plan_of(&all->order[i])->mass;
    return mass;
}

static void sum_up(const mf_Assemblies *all, const mf_Assembly *assembly, uint32_t first,
                   Whole *sum) {
    const double mass = mass_of(all, assembly);
    memset(sum, 0, sizeof *sum);
    for (uint32_t i = assembly->first; i < assembly->end; i++) {
        Whole own;
        const double part = plan_of(&all->order[i])->mass / mass;
        see(all, &all->order[i], first, &own);
        mf_vec3_add_scaled(sum->center, sum->center, part, own.center);
        mf_vec3_add_scaled(sum->drift, sum->drift, part, own.drift);
    }
    for (uint32_t i = assembly->first; i < assembly->end; i++) {
        Whole own;
        const double part = plan_of(&all->order[i])->mass;
        double r[3], v[3], spin[3];
        see(all, &all->order[i], first, &own);
        mf_vec3_sub(r, own.center, sum->center);
        mf_vec3_sub(v, own.drift, sum->drift);
        mf_vec3_cross(spin, r, v);
        const double square = mf_vec3_dot(r, r);
        const double more[6] = {square - r[0] * r[0], square - r[1] * r[1], square - r[2] * r[2],
                                -r[0] * r[1],         -r[0] * r[2],         -r[1] * r[2]};
        for (uint32_t c = 0; c < 6; c++)
            sum->inertia[c] += own.inertia[c] + part * more[c];
        mf_vec3_add(sum->own, sum->own, own.own);
        mf_vec3_add_scaled(sum->own, sum->own, part, spin);
    }
}

// ---- before and behind the step -----------------------------------------------------------------

typedef struct Base {
    double position[3], world_rotation[9], velocity[3], rate[3]; // world; the rate in world axes
} Base;

static void read_base(const mf_AssemblyRobot *robot, Base *out) {
    mf_Field *const *fields = robot->group->assemblies->base;
    double q[4], rate[3];
    for (uint32_t c = 0; c < 3; c++) {
        out->position[c] = mf_field_get(fields[0], robot->instance, c);
        out->velocity[c] = mf_field_get(fields[2], robot->instance, c);
        rate[c] = mf_field_get(fields[3], robot->instance, c);
    }
    for (uint32_t c = 0; c < 4; c++)
        q[c] = mf_field_get(fields[1], robot->instance, c);
    mf_quat_to_matrix(out->world_rotation, q);
    mf_mat3_apply(out->rate, out->world_rotation, rate);
}

static void add_force(const mf_Assemblies *all, const mf_AssemblyRobot *robot, const double arm[3],
                      double sum[6]) {
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, robot, &pieces);
    double force[6], moment[3];
    mf_art_pieces_get(pieces, piece->whole, robot->lane, 2 * MF_ART_WHOLE_VALUES, 6, force);
    mf_vec3_cross(moment, arm, force);
    for (uint32_t c = 0; c < 3; c++) {
        sum[c] += force[c];
        sum[3 + c] += force[3 + c] + moment[c];
    }
}

static bool may_fly(const mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        if (all->order[i].anchored || plan_of(&all->order[i])->fixed ||
            !plan_of(&all->order[i])->loose)
            return false;
    return true;
}

void mf_assembly_note(mf_Assemblies *all, mf_Assembly *assembly) {
    Base root, own;
    if (!may_fly(all, assembly))
        return;
    read_base(&all->order[assembly->first], &root);
    mf_vec3_copy(assembly->origin, root.position);
    memset(assembly->force, 0, sizeof assembly->force);
    for (uint32_t i = assembly->first; i < assembly->end; i++) {
        mf_AssemblyRobot *robot = &all->order[i];
        double arm[3], moves[3], swing[3], rate[3];
        read_base(robot, &own);
        mf_vec3_sub(arm, own.position, root.position);
        mf_vec3_sub(moves, own.velocity, root.velocity);
        mf_vec3_cross(swing, root.rate, arm);
        mf_vec3_sub(moves, moves, swing);
        mf_vec3_sub(rate, own.rate, root.rate);
        mf_mat3_apply_transposed(robot->position, root.world_rotation, arm);
        mf_mat3_apply_transposed(robot->velocity, root.world_rotation, moves);
        mf_mat3_apply_transposed(robot->rate, root.world_rotation, rate);
        for (uint32_t c = 0; c < 3; c++) {
            const double column[3] = {own.world_rotation[c], own.world_rotation[3 + c],
                                      own.world_rotation[6 + c]};
            double seen[3];
            mf_mat3_apply_transposed(seen, root.world_rotation, column);
            for (uint32_t r = 0; r < 3; r++)
                robot->world_rotation[3 * r + c] = seen[r];
        }
        add_force(all, robot, arm, assembly->force);
    }
    Whole sum;
    sum_up(all, assembly, 0, &sum);
    memcpy(assembly->whole, &sum, sizeof sum);
}

// Wrenches on nodes, about where the root's base was.
static void add_nodes(const mf_Assemblies *all, const mf_Assembly *assembly, double sum[6]) {
    for (uint32_t n = assembly->first_node; n < assembly->node_end; n++) {
        const double *wrench = all->nodes[n].wrench;
        double arm[3], moment[3];
        mf_vec3_sub(arm, all->nodes[n].point, assembly->origin);
        mf_vec3_cross(moment, arm, wrench + 3);
        for (uint32_t c = 0; c < 3; c++) {
            sum[c] += wrench[3 + c];
            sum[3 + c] += wrench[c] + moment[c];
        }
    }
}

void mf_assembly_gather(mf_Assemblies *all, mf_Assembly *assembly) {
    const mf_AssemblyRobot *root = &all->order[assembly->first];
    const mf_ArtPieces *pieces;
    Whole sum;
    double end[MF_ART_WHOLE_VALUES];
    if ((assembly->flags & MF_ART_STANDS) != 0 || !may_fly(all, assembly))
        return;
    mf_ArtAssembly *piece = mf_assembly_piece(all, root, &pieces);
    sum_up(all, assembly, MF_ART_WHOLE_VALUES, &sum);
    memcpy(end, &sum, sizeof end);
    const double mass = mass_of(all, assembly);
    mf_art_pieces_set(pieces, piece->whole, root->lane, 0, MF_ART_WHOLE_VALUES, assembly->whole);
    mf_art_pieces_set(pieces, piece->whole, root->lane, MF_ART_WHOLE_VALUES, MF_ART_WHOLE_VALUES,
                      end);
    add_nodes(all, assembly, assembly->force);
    mf_art_pieces_set(pieces, piece->whole, root->lane, 2 * MF_ART_WHOLE_VALUES, 6,
                      assembly->force);
    mf_art_pieces_set(pieces, piece->whole, root->lane, 2 * MF_ART_WHOLE_VALUES + 6, 1, &mass);
    piece->flags[root->lane] |= MF_ART_FLIES;
}
