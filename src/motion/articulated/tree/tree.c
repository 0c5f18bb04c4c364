// The tree of a plan from a model's: fixed joints merged, floating ones split, frames chosen.
//
// Every link of the model belongs to the link of the plan that carries it. The frames of the plan
// are found in two passes: first every joint's frame and axis relative to its carrier's model axes,
// then the carriers' own axes, which depend on the joints they carry (plan.h).
#include "model/points.h"
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <string.h>

typedef struct Tree {
    mf_ArtMotion *motion;
    const mf_Model *model;
    mf_Context *context;
    uint32_t *carrier;     // per model link: the model link whose joint moves it; itself or above
    double (*rotation)[4]; // per model link: its axes to its carrier's
    double (*point)[3];    // per model link: its origin in its carrier's model frame
    double (*own)[4];      // per model link that is a carrier: plan axes to model axes
    uint32_t *weight;      // per model link: number of links that it carries, itself included
    uint32_t *position;    // per joint: first value in a position vector
    uint32_t *velocity;    // per joint: first value in a velocity vector
    int32_t *last_link;    // per model link that is a carrier: its plan link
} Tree;

static uint32_t position_values(const mf_Joint *joint) {
    return joint->type == MF_JOINT_BALL       ? 4
           : joint->type == MF_JOINT_FLOATING ? 7
                                              : (mf_joint_moves(joint) ? 1 : 0);
}

static uint32_t velocity_values(const mf_Joint *joint) {
    return joint->type == MF_JOINT_BALL       ? 3
           : joint->type == MF_JOINT_FLOATING ? 6
                                              : (mf_joint_moves(joint) ? 1 : 0);
}

// How many joints before this one are balls or floating, or only floating: their rows in the fields
// are in the model's order.
static uint32_t ball_number(const mf_Model *model, uint32_t joint, bool only_floating) {
    uint32_t count = 0;
    for (uint32_t j = 0; j < joint; j++)
        count += model->joints[j].type == MF_JOINT_FLOATING ||
                 (model->joints[j].type == MF_JOINT_BALL && !only_floating);
    return count;
}

// ---- first pass: carriers -----------------------------------------------------------------------

static void find_carriers(Tree *t) {
    const mf_Model *model = t->model;
    t->carrier[0] = 0;
    mf_quat_identity(t->rotation[0]);
    mf_vec3_set(t->point[0], 0, 0, 0);
    for (uint32_t l = 1; l < model->link_count; l++) {
        const mf_Joint *joint = &model->joints[model->links[l].joint];
        if (mf_joint_moves(joint)) {
            t->carrier[l] = l;
            mf_quat_identity(t->rotation[l]);
            mf_vec3_set(t->point[l], 0, 0, 0);
            continue;
        }
        uint32_t p = joint->parent;
        t->carrier[l] = t->carrier[p];
        mf_pose_multiply(t->point[l], t->rotation[l], t->point[p], t->rotation[p], joint->position,
                         joint->rotation);
    }
    for (uint32_t l = model->link_count; l-- > 1;) {
        t->weight[l] += 1;
        const mf_Joint *joint = &model->joints[model->links[l].joint];
        uint32_t above = t->carrier[joint->parent];
        t->weight[t->carrier[l] == l ? above : t->carrier[l]] += t->weight[l];
    }
    uint32_t position = t->motion->plan->fixed ? 0 : 7, velocity = t->motion->plan->fixed ? 0 : 6;
    for (uint32_t j = 0; j < model->joint_count; j++) {
        t->position[j] = position;
        t->velocity[j] = velocity;
        position += position_values(&model->joints[j]);
        velocity += velocity_values(&model->joints[j]);
    }
    t->motion->plan->position_count = position;
    t->motion->plan->velocity_count = velocity;
}

// A joint's frame relative to its carrier's model axes.
static void joint_frame(const Tree *t, const mf_Joint *joint, double rotation[4],
                        double position[3]) {
    mf_pose_multiply(position, rotation, t->point[joint->parent], t->rotation[joint->parent],
                     joint->position, joint->rotation);
}

// ---- second pass: axes of the carriers ----------------------------------------------------------

static const mf_Joint *heaviest_child(const Tree *t, uint32_t carrier) {
    const mf_Joint *best = NULL;
    for (uint32_t l = 1; l < t->model->link_count; l++) {
        const mf_Joint *joint = &t->model->joints[t->model->links[l].joint];
        if (t->carrier[l] == l && t->carrier[joint->parent] == carrier &&
            (best == NULL || t->weight[l] > t->weight[best->child]))
            best = joint;
    }
    return best;
}

// Nearly parallel axes have no useful perpendicular: then x points to the child's origin.
static void choose_x(double x[3], const double z[3], const double other[3],
                     const double direction[3]) {
    const double tiny = 1e-9;
    mf_vec3_cross(x, z, other);
    if (mf_vec3_length(x) > tiny && mf_vec3_normalize(x))
        return;
    mf_vec3_add_scaled(x, direction, -mf_vec3_dot(direction, z), z);
    if (mf_vec3_length(x) > tiny && mf_vec3_normalize(x))
        return;
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (mf_abs(z[i]) < mf_abs(z[least]))
            least = i;
    double unit[3] = {least == 0, least == 1, least == 2};
    mf_vec3_cross(x, unit, z);
    mf_vec3_normalize(x);
}

static void choose_axes(Tree *t, uint32_t carrier) {
    mf_quat_identity(t->own[carrier]);
    if (carrier == 0)
        return;
    const mf_Joint *joint = &t->model->joints[t->model->links[carrier].joint];
    if (!mf_joint_has_axis(joint))
        return;
    double other[3] = {0, 0, 0}, direction[3] = {0, 0, 0}, x[3], y[3], rotation[4], position[3];
    const mf_Joint *child = heaviest_child(t, carrier);
    if (child != NULL) {
        joint_frame(t, child, rotation, position);
        mf_vec3_copy(direction, position);
        if (mf_joint_has_axis(child))
            mf_quat_rotate(other, rotation, child->axis);
    }
    choose_x(x, joint->axis, other, direction);
    mf_vec3_cross(y, joint->axis, x);
    double matrix[9] = {x[0],           y[0], joint->axis[0], x[1],          y[1],
                        joint->axis[1], x[2], y[2],           joint->axis[2]};
    mf_quat_from_matrix(t->own[carrier], matrix);
    mf_quat_normalize(t->own[carrier]);
}

// ---- constants ----------------------------------------------------------------------------------

static double snapped(double a) {
    const double near = 1e-12;
    if (mf_abs(a) < near)
        return 0.0;
    if (mf_abs(a - 1.0) < near)
        return 1.0;
    return mf_abs(a + 1.0) < near ? -1.0 : a;
}

// Splits a rotation (row after row) into turns about z, x and z. Returns the angle of the last.
static double split_rotation(double *c, mf_ArtLink *link, const double e[9]) {
    double a = snapped(e[2]), b = snapped(e[5]), sine = mf_sqrt(a * a + b * b);
    double cos_angle = 1.0, sin_angle = 0.0, sin_tilt = 0.0, cos_tilt = snapped(e[8]);
    if (sine > 0.0) {
        sin_tilt = b < 0.0 || (b == 0.0 && a > 0.0) ? sine : -sine;
        sin_angle = snapped(a / sin_tilt);
        cos_angle = snapped(-b / sin_tilt);
        if (mf_abs(sin_tilt) < 0.5)
            sin_tilt = snapped(sin_tilt);
    }
    // A sine that looks like 1 leaves cosines up to the root of what was rounded away.
    if (sin_tilt == 0.0)
        cos_tilt = cos_tilt < 0.0 ? -1.0 : 1.0;
    else if (cos_tilt == 0.0)
        sin_tilt = sin_tilt < 0.0 ? -1.0 : 1.0;
    c[MF_ART_COS_ANGLE] = cos_angle;
    c[MF_ART_SIN_ANGLE] = sin_angle;
    c[MF_ART_COS_TILT] = cos_tilt;
    c[MF_ART_SIN_TILT] = sin_tilt;
    link->spun = sin_angle != 0.0;
    link->tilt = cos_tilt == 0.0 && sin_tilt > 0.0     ? MF_ART_UP
                 : cos_tilt == 0.0                     ? MF_ART_DOWN
                 : sin_tilt == 0.0 && cos_tilt == 1.0  ? MF_ART_LEVEL
                 : sin_tilt == 0.0 && cos_tilt == -1.0 ? MF_ART_OVER
                                                       : MF_ART_ANY;
    // First column of (turn x)^T (turn z)^T e.
    double x = cos_angle * e[0] + sin_angle * e[3], y = cos_angle * e[3] - sin_angle * e[0];
    double cosine = snapped(x), angle = snapped(cos_tilt * y + sin_tilt * e[6]);
    c[MF_ART_COS_OFFSET] = cosine;
    c[MF_ART_SIN_OFFSET] = angle;
    return mf_atan2(angle, cosine);
}

// Adds a body to the inertia of a plan link; `rotation` and `position` from the body's frame to
// the link's.
static void add_inertia(double *c, const mf_Link *body, bool lifts, const double rotation[4],
                        const double position[3]) {
    double center[3], inertia[6];
    mf_pose_point(center, position, rotation, body->center);
    mf_inertia_rotate(inertia, body->inertia, rotation);
    mf_inertia_translate(inertia, inertia, body->mass, center);
    c[MF_ART_MASS] += body->mass;
    for (int i = 0; i < 3; i++)
        c[MF_ART_MOMENT + i] += body->mass * center[i];
    for (int i = 0; i < 6; i++)
        c[MF_ART_INERTIA + i] += inertia[i];
    if (!lifts)
        return;
    mf_quat_rotate(center, rotation, body->lift_moment);
    c[MF_ART_LIFT] += body->lift_mass;
    for (int i = 0; i < 3; i++)
        c[MF_ART_LIFT_MOMENT + i] += center[i] + body->lift_mass * position[i];
}

static mf_ArtLink *new_link(Tree *t, int32_t parent, uint32_t joint, mf_ArtKind kind) {
    mf_ArtLink *link = &t->motion->links[t->motion->plan->link_count++];
    *link = (mf_ArtLink){.parent = parent,
                         .kind = kind,
                         .joint = joint,
                         .leaf = true,
                         .position = t->position[joint],
                         .velocity = t->velocity[joint]};
    if (parent >= 0) {
        t->motion->links[parent].leaf = false;
        link->depth = t->motion->links[parent].depth + 1;
    }
    return link;
}

static void set_position(double *c, mf_ArtLink *link, const double position[3]) {
    for (int i = 0; i < 3; i++) {
        c[MF_ART_POSITION + i] = mf_abs(position[i]) < 1e-14 ? 0.0 : position[i];
        if (c[MF_ART_POSITION + i] != 0.0)
            link->shift |= 1u << i;
    }
}

// Frame of the child's axes in the parent's, and the constants that it makes.
static void set_frame(Tree *t, int32_t index, const double rotation[4], const double position[3],
                      double reference) {
    mf_ArtLink *link = &t->motion->links[index];
    double *c = mf_art_constants(t->motion, index), e[9];
    mf_quat_to_matrix(e, rotation);
    for (int i = 0; i < 9; i++)
        c[MF_ART_ROTATION + i] = snapped(e[i]);
    if (link->kind != MF_ART_BALL)
        c[MF_ART_OFFSET] = split_rotation(c, link, e) - reference;
    if (link->kind == MF_ART_SLIDE)
        c[MF_ART_OFFSET] = -reference;
    set_position(c, link, position);
}

// The three slides of a floating joint along x, y and z of its frame, which is in the parent's.
// Returns the last, which has the axes of the joint.
static int32_t add_slides(Tree *t, int32_t parent, uint32_t joint, const double rotation[4],
                          const double position[3]) {
    const double half = mf_sqrt(0.5), none[3] = {0, 0, 0};
    // Axes with z along x, along y, along z of the joint.
    const double axes[3][4] = {{half, 0, half, 0}, {half, -half, 0, 0}, {1, 0, 0, 0}};
    double before[4];
    memcpy(before, rotation, sizeof before);
    for (uint32_t i = 0; i < 3; i++) {
        double frame[4], back[4];
        mf_ArtLink *link = new_link(t, parent, joint, MF_ART_SLIDE);
        int32_t index = (int32_t)(link - t->motion->links);
        link->inner = true;
        link->row = 3 * ball_number(t->model, joint, true) + i;
        link->position += i;
        link->velocity += i;
        mf_quat_multiply(frame, before, axes[i]);
        set_frame(t, index, frame, i == 0 ? position : none, 0.0);
        mf_quat_conjugate(back, axes[i]);
        memcpy(before, back, sizeof before);
        parent = index;
    }
    return parent;
}

static void add_link(Tree *t, uint32_t carrier) {
    const mf_Joint *joint = &t->model->joints[t->model->links[carrier].joint];
    uint32_t number = (uint32_t)(joint - t->model->joints), above = t->carrier[joint->parent];
    int32_t parent = t->last_link[above];
    double rotation[4], position[3], back[4], frame[4];
    joint_frame(t, joint, rotation, position);
    mf_quat_conjugate(back, t->own[above]);
    mf_quat_multiply(frame, back, rotation);
    mf_quat_rotate(position, back, position);
    if (joint->type == MF_JOINT_FLOATING) {
        parent = add_slides(t, parent, number, frame, position);
        mf_quat_identity(frame);
        mf_vec3_set(position, 0, 0, 0);
    }
    mf_ArtKind kind = joint->type == MF_JOINT_HINGE   ? MF_ART_HINGE
                      : joint->type == MF_JOINT_SLIDE ? MF_ART_SLIDE
                                                      : MF_ART_BALL;
    mf_ArtLink *link = new_link(t, parent, number, kind);
    int32_t index = (int32_t)(link - t->motion->links);
    link->row = number;
    if (kind == MF_ART_BALL)
        link->row = ball_number(t->model, number, false);
    if (joint->type == MF_JOINT_FLOATING) {
        link->position += 3;
        link->velocity += 3;
    }
    mf_quat_multiply(frame, frame, t->own[carrier]);
    set_frame(t, index, frame, position, joint->reference);
    t->last_link[carrier] = index;
    t->motion->joint_links[number] = (uint32_t)index;
}

// Depth first: the children of a carrier behind each other with all that they carry.
static void add_links(Tree *t, uint32_t carrier, uint32_t *stack) {
    uint32_t height = 0;
    stack[height++] = carrier;
    while (height > 0) {
        uint32_t next = stack[--height];
        if (next != 0)
            add_link(t, next);
        for (uint32_t l = t->model->link_count; l-- > 1;) {
            uint32_t joint = t->model->links[l].joint;
            if (t->carrier[l] == l && t->carrier[t->model->joints[joint].parent] == next)
                stack[height++] = l;
        }
    }
}

static bool is_lifted(const double *c) {
    return c[MF_ART_LIFT] != 0.0 || c[MF_ART_LIFT_MOMENT] != 0.0 ||
           c[MF_ART_LIFT_MOMENT + 1] != 0.0 || c[MF_ART_LIFT_MOMENT + 2] != 0.0;
}

static void finish_links(Tree *t) {
    mf_ArtMotion *motion = t->motion;
    const uint32_t passive = MF_DISABLE_SPRING | MF_DISABLE_DAMPER; // all passive forces
    const bool lifts = (t->model->physics.disabled & passive) != passive;
    for (uint32_t l = 0; l < t->model->link_count; l++) {
        uint32_t carrier = t->carrier[l];
        double back[4];
        mf_ArtFrame *frame = &motion->frames[l];
        mf_quat_conjugate(back, t->own[carrier]);
        frame->link = t->last_link[carrier];
        mf_quat_multiply(frame->rotation, back, t->rotation[l]);
        mf_quat_rotate(frame->position, back, t->point[l]);
        add_inertia(mf_art_constants(motion, frame->link), &t->model->links[l], lifts,
                    frame->rotation, frame->position);
    }
    for (uint32_t i = motion->plan->link_count; i-- > 0;) {
        uint32_t next = i + 1; // behind all that it carries
        while (next < motion->plan->link_count && motion->links[next].parent >= (int32_t)i)
            next++;
        motion->links[i].last = next == motion->plan->link_count ||
                                motion->links[next].parent != motion->links[i].parent;
        motion->links[i].lifted = is_lifted(mf_art_constants(motion, (int32_t)i));
        motion->plan->any_lifted = motion->plan->any_lifted || motion->links[i].lifted;
    }
    motion->plan->base_lifted = !motion->plan->fixed && is_lifted(mf_art_constants(motion, -1));
    motion->plan->any_lifted = motion->plan->any_lifted || motion->plan->base_lifted;
    motion->plan->ball_count = ball_number(t->model, t->model->joint_count, false);
    motion->plan->joint_count = t->model->joint_count;
    motion->plan->free_count = ball_number(t->model, t->model->joint_count, true);
    motion->plan->mass = t->model->mass;
}

int32_t mf_art_pose(const mf_ArtMotion *motion, uint32_t link, const double position[3],
                    const double rotation[4], double out_position[3], double out_rotation[4]) {
    if (link == MF_NONE) {
        mf_vec3_copy(out_position, position);
        memcpy(out_rotation, rotation, 4 * sizeof *rotation);
        return MF_ART_WORLD;
    }
    const mf_ArtFrame *in = &motion->frames[link];
    mf_pose_multiply(out_position, out_rotation, in->position, in->rotation, position, rotation);
    return in->link;
}

// ---- making -------------------------------------------------------------------------------------

static mf_Status count_links(Tree *t, mf_Error *error) {
    uint32_t links = 0;
    for (uint32_t j = 0; j < t->model->joint_count; j++) {
        const mf_Joint *joint = &t->model->joints[j];
        links += joint->type == MF_JOINT_FLOATING ? 4 : mf_joint_moves(joint);
    }
    if (links > MF_ARTICULATED_MAX_LINKS)
        return mf_fail(error, MF_LIMIT,
                       "articulated: model %s has %u joint axes, at most %d (a floating joint has "
                       "4)",
                       t->model->name, links, MF_ARTICULATED_MAX_LINKS);
    t->motion->plan->link_count = links;
    return MF_OK;
}

static mf_Status allocate_tree(Tree *t, uint32_t contact_count, uint32_t actuator_count,
                               mf_Error *error) {
    mf_ArtMotion *motion = t->motion;
    mf_Context *context = t->context;
    const size_t links = t->model->link_count, joints = t->model->joint_count;
    motion->plan->link_offset = MF_ART_SETTINGS + MF_ART_LINK_VALUES;
    motion->plan->contact_offset =
        motion->plan->link_offset + motion->plan->link_count * MF_ART_LINK_VALUES;
    motion->plan->actuator_offset =
        motion->plan->contact_offset + contact_count * MF_ART_CONTACT_VALUES;
    size_t values = motion->plan->actuator_offset + (size_t)actuator_count * MF_ART_ACTUATOR_VALUES;
    motion->plan->value_count = (uint32_t)values;
    motion->plan->frame_count = (uint32_t)links;
    MF_TRY(MF_ALLOCATE(
        context, "articulated", error, MF_ARRAY(motion->links, motion->plan->link_count),
        MF_ARRAY(motion->frames, links), MF_ARRAY(motion->joint_links, joints),
        MF_ARRAY(motion->constants_f64, values), MF_ARRAY(motion->constants_f32, values)));
    const mf_Array arrays[] = {MF_ARRAY(t->carrier, links),    MF_ARRAY(t->rotation, links),
                               MF_ARRAY(t->point, links),      MF_ARRAY(t->own, links),
                               MF_ARRAY(t->weight, 2 * links), MF_ARRAY(t->position, joints),
                               MF_ARRAY(t->velocity, joints),  MF_ARRAY(t->last_link, links)};
    return mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays)
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
}

mf_Status mf_art_tree_build(mf_ArtMotion *motion, const mf_Model *model, uint32_t contact_count,
                            uint32_t actuator_count, mf_Context *context, mf_Error *error) {
    Tree t = {.motion = motion, .model = model, .context = context};
    mf_Status status = count_links(&t, error);
    MF_THEN(status, allocate_tree(&t, contact_count, actuator_count, error));
    if (status == MF_OK) {
        motion->plan->link_count = 0;
        find_carriers(&t);
        for (uint32_t l = 0; l < model->link_count; l++)
            if (t.carrier[l] == l)
                choose_axes(&t, l);
        for (uint32_t j = 0; j < model->joint_count; j++)
            motion->joint_links[j] = MF_NONE;
        t.last_link[0] = -1;
        add_links(&t, 0, t.weight + model->link_count);
        finish_links(&t);
    }
    mf_release(context, t.carrier);
    MF_THEN(status, mf_art_pack(motion, context, error));
    return status;
}
