// What a step works on: the lanes that are alive, the body, the contacts; loading, storing, faults.
// Included by the kernel and its parts only.
#ifndef MF_MOTION_POINTS_STATE_H
#define MF_MOTION_POINTS_STATE_H

#include "motion/points/contacts.h"
#include "motion/points/kinematics.h"
#include "motion/warn.h"

typedef struct Step {
    const mf_PointsBlock *block;
    const mf_PointsPlan *plan;
    const mf_PlanLink *links;
    const mf_real *constant;
    const mf_real *heights; // of the ground
    mf_mask alive;          // lanes without a fault
    bool all_alive;         // no lane has one
    mf_mask near;           // lanes with a point that may touch the ground
    Contacts contacts;
    Kinematics kinematics;
    Lows low, low_before; // remainders of the body's sums, now and before the flight
    mf_lane residual;     // [1] largest of this step's solutions of the contacts
    // Per contact point:
    mf_lane *climb; // [m] how far the joints moved it
    mf_lane *hold, *weight;
    // Space for what is needed by the way, per contact point:
    mf_lane *depth;       // lift_clear
    mf_lane *press, *was; // hold_inaccurate
    Vec *stretch;         // carry_body
    mf_real *from;        // update_joints: rows of MF_BLOCK per joint
} Step;

static inline void step_carve(const mf_PointsPlan *plan, mf_Carver *carver, Step *s) {
    const uint32_t points = plan->contact_count;
    const mf_PlanLink *links = mf_points_plan_links(plan);
    uint32_t joints = 0;
    for (uint32_t l = 0; l < plan->link_count; l++)
        joints = links[l].joint >= joints ? links[l].joint + 1 : joints;
    MF_CARVE(carver, s->contacts.row, points);
    kinematics_carve(plan, carver, &s->kinematics);
    MF_CARVE(carver, s->climb, points);
    MF_CARVE(carver, s->hold, points);
    MF_CARVE(carver, s->weight, points);
    MF_CARVE(carver, s->depth, points);
    MF_CARVE(carver, s->press, points);
    MF_CARVE(carver, s->was, points);
    MF_CARVE(carver, s->stretch, points);
    MF_CARVE(carver, s->from, (size_t)joints * MF_BLOCK);
}

// Depth of a point that is no contact of its lane but of another one: no tilt brings it down.
static MF_INLINE mf_lane depth_of_none(void) {
    return mf_set((mf_real)-1e30);
}

// Frozen lanes keep what they have. `all` says that there are none.
static MF_INLINE void keep_store_all(const Step *s, bool all, void *field, size_t c, mf_lane a) {
    mf_real *base = (mf_real *)field + c * MF_BLOCK;
    if (all)
        mf_store(base, a);
    else
        mf_store_where(s->alive, base, a);
}

static MF_INLINE void keep_vec_all(const Step *s, bool all, void *field, size_t c, Vec a) {
    keep_store_all(s, all, field, c, a.x);
    keep_store_all(s, all, field, c + 1, a.y);
    keep_store_all(s, all, field, c + 2, a.z);
}

static MF_INLINE void keep_store(const Step *s, void *field, size_t c, mf_lane a) {
    keep_store_all(s, s->all_alive, field, c, a);
}

static MF_INLINE void keep_vec(const Step *s, void *field, size_t c, Vec a) {
    keep_store(s, field, c, a.x);
    keep_store(s, field, c + 1, a.y);
    keep_store(s, field, c + 2, a.z);
}

static MF_INLINE void keep_vec_where(const Step *s, mf_mask where, void *field, size_t c, Vec a) {
    mf_real *base = (mf_real *)field + c * MF_BLOCK;
    mf_mask mask = mf_and(s->alive, where);
    mf_store_where(mask, base, a.x);
    mf_store_where(mask, base + MF_BLOCK, a.y);
    mf_store_where(mask, base + 2 * MF_BLOCK, a.z);
}

static mf_mask alive_lanes(const mf_PointsBlock *block) {
    mf_index word = mf_load_index((const int32_t *)block->fault);
    return mf_index_equal(word, mf_set_index(0));
}

static void raise_fault(Step *s, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(s->alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    mf_index word = mf_load_index((const int32_t *)s->block->fault);
    word = mf_select_index(bad, word | mf_set_index((int32_t)bit), word);
    mf_store_index((int32_t *)s->block->fault, word);
    s->alive = mf_and(s->alive, fine);
    s->all_alive = false;
}

static MF_INLINE Sym body_inertia(const Step *s) {
    return sym_load((const mf_real *)s->block->inertia);
}

static MF_INLINE Sym body_inverse(const Step *s) {
    return sym_load((const mf_real *)s->block->inverse);
}

static MF_INLINE mf_real *lows_of(const mf_PointsBlock *block, uint32_t row) {
    return low_row(block->rows[row], block->low[row]);
}

// Whether velocities and the attitude have remainders, too.
static MF_INLINE bool short_steps(const mf_PointsBlock *block) {
    return lows_of(block, MF_ROW_LINEAR) != NULL;
}

static MF_INLINE Lows load_lows(const mf_PointsBlock *block) {
    return MF_VALUE(Lows, .com = low_vec(lows_of(block, MF_ROW_POSITION), 0),
                    .velocity = low_vec(lows_of(block, MF_ROW_LINEAR), 0),
                    .attitude = low_quat(lows_of(block, MF_ROW_ORIENTATION), 0),
                    .rate = low_vec(lows_of(block, MF_ROW_ANGULAR), 0));
}

// `low`: the remainders of the base, from load_lows; then those of the body.
static MF_INLINE Body load_body(const mf_PointsBlock *block, Mat *rotation, Lows *low) {
    Body body;
    Vec position = vec_load((const mf_real *)block->position, 0),
        velocity = vec_load((const mf_real *)block->linear, 0);
    const mf_real *q = (const mf_real *)block->orientation;
    body.attitude = MF_VALUE(Quat, row_load(q, 0), row_load(q, 1), row_load(q, 2), row_load(q, 3));
    body.rate = vec_load((const mf_real *)block->angular, 0);
    *rotation = quat_matrix(body.attitude);
    Vec center = vec_load((const mf_real *)block->center, 0), arm = mat_apply(rotation, center);
    body.com = vec_sum_shift(arm, position, &low->com);
    const Vec swing = mat_apply(rotation, vec_cross(body.rate, center));
    if (short_steps(block))
        body.velocity = vec_sum_shift(swing, velocity, &low->velocity);
    else
        body.velocity = vec_add(velocity, swing);
    return body;
}

// ---- ground -------------------------------------------------------------------------------------

// A cell edge of the nearest-cell map is a cliff; a point that enters it from the side is held
// where it is instead of being thrown to the top. `reach` is the height up to which it may be
// lifted.
static MF_INLINE mf_lane support_height(const Step *s, mf_lane ground, mf_lane reach) {
    if (s->plan->level || s->plan->slopes)
        return ground;
    mf_lane slack = mf_abs(reach) * mf_set(4 * MF_REAL_EPSILON);
    return mf_min(ground, reach + slack);
}

static MF_INLINE mf_lane load_before(const Step *s, size_t contact) {
    mf_lane load = row_load((const mf_real *)s->block->load, contact);
    return load * mf_set(s->constant[MF_PLAN_SOFTNESS]);
}

// Slip of a contact: where it is now minus its anchor.
static MF_INLINE Vec contact_slip(const Step *s, const Body *body, const Contact *row) {
    Vec anchor = vec_load((const mf_real *)s->block->anchor, 3 * row->index);
    return vec_sub(vec_add(body->com, row->position), anchor);
}

#endif
