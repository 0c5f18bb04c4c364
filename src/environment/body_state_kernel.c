// Poses and velocities of links (multibody/tree.h), and derived quantities of bodies: inertia,
// velocity and external forces about the robot's center of mass (MuJoCo's cinert, cvel and
// cfrc_ext), for robots whose moving bodies have one root.
//
// Invariant: a lane never reads another.
#include "environment/body_state.h"

#include "environment/task.h"
#include "math/lane_vector.h"

typedef struct BodyState { // the batch for one bundle of lanes
    const mf_BodyStatePlan *plan;
    const mf_BodyStateBody *bodies;
    bool free;                 // the base has six degrees of freedom
    const mf_real *base, *raw; // base: position vector
    mf_real *position, *rotation, *axes, *speed, *center, *inertia, *twist, *external;
} BodyState;

static MF_INLINE Vec set_vec(const double v[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

static MF_INLINE Quat set_quat(const double q[4]) {
    return MF_VALUE(Quat, mf_set((mf_real)q[0]), mf_set((mf_real)q[1]), mf_set((mf_real)q[2]),
                    mf_set((mf_real)q[3]));
}

static MF_INLINE Quat quat_load(const mf_real *rows, size_t c) {
    return MF_VALUE(Quat, row_load(rows, c), row_load(rows, c + 1), row_load(rows, c + 2),
                    row_load(rows, c + 3));
}

static MF_INLINE Mat mat_load(const mf_real *rows, size_t c) {
    return MF_VALUE(Mat, row_load(rows, c), row_load(rows, c + 1), row_load(rows, c + 2),
                    row_load(rows, c + 3), row_load(rows, c + 4), row_load(rows, c + 5),
                    row_load(rows, c + 6), row_load(rows, c + 7), row_load(rows, c + 8));
}

// ---- bodies ------------------------------------------------------------------------------------

static MF_INLINE Vec body_center(const BodyState *s, const mf_BodyStateBody *body) {
    if (body->link == MF_NONE && s->free)
        return vec_sub(set_vec(body->center), vec_load(s->base, 0));
    if (body->link == MF_NONE)
        return set_vec(body->center);
    const Mat axes = mat_load(s->axes, 9 * (size_t)body->link);
    return mat_apply_add(&axes, set_vec(body->center),
                         vec_load(s->position, 3 * (size_t)body->link));
}

static Vec see_center(const BodyState *s) {
    Vec sum = {mf_zero(), mf_zero(), mf_zero()};
    for (uint32_t b = 0; b < s->plan->body_count; b++)
        if (s->bodies[b].mass > 0.0)
            sum = vec_fma(body_center(s, &s->bodies[b]), mf_set((mf_real)s->bodies[b].mass), sum);
    if (s->plan->mass > 0.0)
        sum = vec_scale(sum, mf_set((mf_real)(1.0 / s->plan->mass)));
    vec_store(s->center, 0, sum);
    return sum;
}

static MF_INLINE Mat body_axes(const BodyState *s, const mf_BodyStateBody *body) {
    const Quat unit = {mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero()};
    if (body->link != MF_NONE && !body->rotated)
        return mat_load(s->axes, 9 * (size_t)body->link);
    Quat rotation = body->link != MF_NONE ? quat_load(s->rotation, 4 * (size_t)body->link) : unit;
    return quat_matrix(quat_multiply(rotation, set_quat(body->axes)));
}

// Moments m about the axes a: sum of m_k a_k a_k^T. With its mass at `arm`: + m (|arm|^2 - arm
// arm^T).
static void see_inertia(const BodyState *s, uint32_t number, Vec center) {
    const mf_BodyStateBody *body = &s->bodies[number];
    const mf_lane mass = mf_set((mf_real)body->mass);
    const Vec arm = vec_sub(body_center(s, body), center), first = vec_scale(arm, mass);
    const Mat a = body_axes(s, body);
    const Vec m = set_vec(body->moments);
    const Vec rows[3] = {{a.xx, a.xy, a.xz}, {a.yx, a.yy, a.yz}, {a.zx, a.zy, a.zz}};
    Vec part[3];
    for (int i = 0; i < 3; i++)
        part[i] = MF_VALUE(Vec, rows[i].x * m.x, rows[i].y * m.y, rows[i].z * m.z);
    const mf_lane square = vec_dot(arm, first);
    const Sym sum = {vec_dot_add(part[0], rows[0], mf_fma(-arm.x, first.x, square)),
                     vec_dot_add(part[1], rows[1], mf_fma(-arm.y, first.y, square)),
                     vec_dot_add(part[2], rows[2], mf_fma(-arm.z, first.z, square)),
                     vec_dot_add(part[0], rows[1], -(arm.x * first.y)),
                     vec_dot_add(part[0], rows[2], -(arm.x * first.z)),
                     vec_dot_add(part[1], rows[2], -(arm.y * first.z))};
    mf_real *out = s->inertia + 10 * (size_t)number * MF_BLOCK;
    sym_store(out, sum);
    vec_store(out, 6, first);
    row_store(out, 9, mass);
}

static void find_twist(const BodyState *s, uint32_t number, Vec center) {
    const uint32_t link = s->bodies[number].link;
    Vec rate = {mf_zero(), mf_zero(), mf_zero()}, speed = rate;
    if (link != MF_NONE) {
        rate = vec_load(s->speed, 6 * (size_t)link + 3);
        speed = vec_cross_add(rate, vec_sub(center, vec_load(s->position, 3 * (size_t)link)),
                              vec_load(s->speed, 6 * (size_t)link));
    }
    vec_store(s->twist, 6 * (size_t)number, rate);
    vec_store(s->twist, 6 * (size_t)number + 3, speed);
}

// Converts external forces on each body's subtree, about its link, to forces on the body alone,
// about the robot's center of mass: torque, then force.
static void find_external(const BodyState *s, Vec center) {
    for (uint32_t b = 0; b < s->plan->body_count; b++) {
        const uint32_t link = s->bodies[b].link;
        Vec force = {mf_zero(), mf_zero(), mf_zero()}, torque = force, arm = force;
        if (s->raw != NULL) {
            force = vec_load(s->raw, 6 * (size_t)b);
            torque = vec_load(s->raw, 6 * (size_t)b + 3);
        }
        if (link != MF_NONE)
            arm = vec_sub(vec_load(s->position, 3 * (size_t)link), center);
        vec_store(s->external, 6 * (size_t)b, vec_cross_add(arm, force, torque));
        vec_store(s->external, 6 * (size_t)b + 3, force);
    }
    // Parents first, so that a child subtracts its subtree's force before its own is reduced.
    for (uint32_t b = 0; b < s->plan->body_count; b++) {
        const uint32_t parent = s->bodies[b].parent;
        for (uint32_t i = 0; parent != MF_NONE && i < 6; i++)
            row_store(s->external, 6 * (size_t)parent + i,
                      row_load(s->external, 6 * (size_t)parent + i) -
                          row_load(s->external, 6 * (size_t)b + i));
    }
}

// ---- a block -----------------------------------------------------------------------------------

static void see_bodies(const BodyState *s, uint32_t wants) {
    const Vec center = see_center(s);
    for (uint32_t b = 0; wants & MF_TASK_BODIES && b < s->plan->body_count; b++) {
        see_inertia(s, b, center);
        find_twist(s, b, center);
    }
    if (wants & MF_TASK_EXTERNAL)
        find_external(s, center);
}

static void see_links(const mf_BodyStateBatch *batch) {
    const mf_Tree *tree = mf_body_state_plan_tree(batch->plan);
    const mf_real *q = (const mf_real *)batch->position, *v = (const mf_real *)batch->velocity;
    const bool free = tree->free;
    const mf_TreeState state = {.orientation = free ? q + 3 * MF_BLOCK : NULL,
                                .linear = free ? v : NULL,
                                .angular = free ? v + 3 * MF_BLOCK : NULL,
                                .angle = q,
                                .rate = v,
                                .ball = q,
                                .ball_rate = v,
                                .free = q,
                                .free_rate = v,
                                .wide = sizeof(mf_real) == sizeof(double)};
    const mf_TreeMotion motion = {.position = batch->point,
                                  .rotation = batch->rotation,
                                  .matrix = batch->axes,
                                  .velocity = batch->speed,
                                  .position_rows = 3,
                                  .rotation_rows = 4,
                                  .matrix_rows = 9,
                                  .velocity_rows = 6,
                                  .lane_count = MF_BLOCK};
    MF_KERNEL(mf_tree_motion)(tree, &state, &motion);
}

void MF_KERNEL(mf_body_state_run)(const mf_BodyStateBatch *batch) {
    see_links(batch);
    if (!(batch->wants & (MF_TASK_BODIES | MF_TASK_EXTERNAL)))
        return;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
        const mf_real *raw = (const mf_real *)batch->raw;
        const BodyState view = {.plan = batch->plan,
                                .bodies = mf_body_state_plan_bodies(batch->plan),
                                .free = mf_body_state_plan_tree(batch->plan)->free,
                                .base = (const mf_real *)batch->position + lane,
                                .raw = raw != NULL ? raw + lane : NULL,
                                .position = (mf_real *)batch->point + lane,
                                .rotation = (mf_real *)batch->rotation + lane,
                                .axes = (mf_real *)batch->axes + lane,
                                .speed = (mf_real *)batch->speed + lane,
                                .center = (mf_real *)batch->center + lane,
                                .inertia = (mf_real *)batch->inertia + lane,
                                .twist = (mf_real *)batch->twist + lane,
                                .external = (mf_real *)batch->external + lane};
        see_bodies(&view, batch->wants);
    }
}
