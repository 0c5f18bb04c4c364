// The displacement by contact with the ground, with either friction model, and its effect on the
// body and the anchors of its contacts.
#pragma once

#include "motion/points/coulomb.h"
#include "motion/points/coupled.h"
#include "motion/points/fit.h"
#include "motion/points/contacts.h"
#include "motion/points/kinematics.h"
#include "motion/warn.h"

// ---- state --------------------------------------------------------------------------------------

// Data of a step: live lanes, body, contacts; loading, storing, faults. Included by the kernel and
// its parts only.

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
    Lows low;         // remainders of the body's sums
    mf_lane residual; // [1] largest of this step's solutions of the contacts
    mf_Carver rest;   // of the scratch behind the contacts, where what follows lies:
    Kinematics kinematics;
    // Per contact point:
    mf_lane *top; // [m] up to where a joint update may lift it: height, or above the ground
    mf_lane *hold, *weight;
    // Working memory, per contact point:
    mf_lane *depth;       // lift_feet, carry_coupled
    mf_lane *press, *was; // hold_inaccurate
    Vec *stretch;         // carry_body
    mf_real *from;        // update_joints: rows of MF_BLOCK per joint
} Step;

// The contacts come first: most steps need no more.
static MF_INLINE void carve_contacts(Step *s, void *scratch) {
    s->rest.block = (char *)scratch;
    s->rest.used = 0;
    MF_CARVE(&s->rest, s->contacts.row, s->plan->contact_count);
}

// Everything else. Returns how much that is altogether [byte].
static __attribute__((noinline)) size_t carve_rest(Step *s) {
    const uint32_t points = s->plan->contact_count;
    mf_Carver carver = s->rest;
    kinematics_carve(s->plan, &carver, &s->kinematics);
    MF_CARVE(&carver, s->top, points);
    MF_CARVE(&carver, s->hold, points);
    MF_CARVE(&carver, s->weight, points);
    MF_CARVE(&carver, s->depth, points);
    MF_CARVE(&carver, s->press, points);
    MF_CARVE(&carver, s->was, points);
    MF_CARVE(&carver, s->stretch, points);
    MF_CARVE(&carver, s->from, (size_t)s->plan->joint_count * MF_BLOCK);
    return carver.used;
}

// Depth of a point that is a contact in another lane only: no tilt makes it touch.
static MF_INLINE mf_lane depth_of_none(void) {
    return mf_set((mf_real)-1e30);
}

// Frozen lanes keep their values. `all`: there are none.
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
    const mf_lane zero = mf_zero();
    const Vec none = {zero, zero, zero};
    if (!short_steps(block))
        return MF_VALUE(Lows, .com = low_vec(lows_of(block, MF_ROW_POSITION), 0), .velocity = none,
                        .attitude = {zero, zero, zero, zero}, .rate = none);
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

// A cell edge of a nearest-cell map is a cliff; a point that enters it from the side keeps its
// height instead of being thrown to the top. `reach` is the height up to which it may be lifted.
static MF_INLINE mf_lane support_height(const Step *s, mf_lane ground, mf_lane reach) {
    if (s->plan->level || s->plan->slopes)
        return ground;
    mf_lane slack = mf_abs(reach) * mf_set(4 * MF_REAL_EPSILON);
    return mf_min(ground, reach + slack);
}

static MF_INLINE mf_lane load_before(const Step *s, size_t contact) {
    mf_lane load = row_load((const mf_real *)s->block->load, contact);
    return load * constant_at(s->constant, MF_PLAN_SOFTNESS);
}

// Slip of a contact: where it is now minus its anchor.
static MF_INLINE Vec contact_slip(const Step *s, const Body *body, const Contact *row) {
    Vec anchor = vec_load((const mf_real *)s->block->anchor, 3 * row->index);
    return vec_sub(vec_add(body->com, row->position), anchor);
}

// ---- support ------------------------------------------------------------------------------------

// Normal response: the smallest rise, roll and pitch that move the points out of the ground.
//
// With u = (rise, roll, pitch) and a_i = (1, y_i, -x_i), minimize
//     1/2 eps u^T (M/m) u + 1/2 sum_i max(0, depth_i - a_i u)^2,
// where M is the mass matrix of these three motions when only vertical forces act. This is one
// implicit step with contact springs of stiffness m / (eps dt^2) that push and never pull, so
// kinetic plus potential plus spring energy cannot rise, any set of contacts (none, one, two, all
// in a line) has exactly one solution, and loads at rest have the least norm. Newton's method on
// the piecewise quadratic function alternates between the active set and the 3x3 solution.

enum { SUPPORT_ITERATIONS = 8 };

typedef struct Support {
    mf_lane zz, zr, zp, rr, rp, pp; // sum of a_i a_i^T: rise, roll, pitch
    mf_lane z, r, p;                // sum of a_i depth_i
} Support;

static MF_INLINE void support_add(Support *s, const Contact *row, mf_mask pressed) {
    mf_lane x = row->position.x, y = row->position.y, depth = row->depth;
    s->zz = mf_add_where(pressed, s->zz, mf_set((mf_real)1));
    s->zr = mf_add_where(pressed, s->zr, y);
    s->zp = mf_add_where(pressed, s->zp, -x);
    s->rr = mf_fma_where(pressed, y, y, s->rr);
    s->rp = mf_fma_where(pressed, -x, y, s->rp);
    s->pp = mf_fma_where(pressed, x, x, s->pp);
    s->z = mf_add_where(pressed, s->z, depth);
    s->r = mf_fma_where(pressed, y, depth, s->r);
    s->p = mf_fma_where(pressed, -x, depth, s->p);
}

// Solves the 3x3 motion, which is positive definite because of the mass terms: the rise is
// eliminated, the tilts follow by Cramer's rule. Two divisions.
static MF_INLINE Vec support_solve_sum(const Support *s) {
    mf_lane one = mf_set((mf_real)1), first = one / s->zz;
    mf_lane lr = s->zr * first, lp = s->zp * first;
    mf_lane rr = mf_fma(-lr, s->zr, s->rr), rp = mf_fma(-lr, s->zp, s->rp);
    mf_lane pp = mf_fma(-lp, s->zp, s->pp);
    mf_lane r = mf_fma(-lr, s->z, s->r), p = mf_fma(-lp, s->z, s->p);
    mf_lane scale = one / mf_fma(rr, pp, -(rp * rp));
    mf_lane roll = mf_fma(r, pp, -(p * rp)) * scale, pitch = mf_fma(p, rr, -(r * rp)) * scale;
    mf_lane rise = mf_fma(-lr, roll, mf_fma(-lp, pitch, s->z * first));
    return MF_VALUE(Vec, rise, roll, pitch); // x holds the rise
}

// Inverse of the upper left 2x2 block of the world's inverse inertia: (xx, xy, yy).
static MF_INLINE Vec support_inertia(const Sym *inverse_world) {
    mf_lane xx = inverse_world->xx, yy = inverse_world->yy, xy = inverse_world->xy;
    mf_lane scale = mf_set((mf_real)1) / mf_fma(xx, yy, -(xy * xy));
    return MF_VALUE(Vec, yy * scale, -(xy * scale), xx * scale);
}

// Sets the load of each contact from its remaining depth after `shift`; true while an active set
// changes.
static MF_INLINE bool support_press(Contacts *contacts, size_t count, const Shift *shift) {
    mf_lane zero = mf_zero(), has = zero;
    mf_mask changed = mf_not(mf_mask_all());
    for (Contact *row = contacts->row; row < contacts->row + count; row++) {
        mf_lane rest =
            mf_fma(-shift->rotation_vector.x, row->position.y, row->depth - shift->move.z);
        rest = mf_fma(shift->rotation_vector.y, row->position.x, rest);
        mf_mask was = row->pressed, is = mf_less(zero, rest);
        row->pressed = is;
        row->press = mf_max(rest, zero);
        has = mf_fma(row->press, row->press, has);
        changed = mf_or(changed, mf_differ(was, is));
    }
    contacts->has = has;
    return mf_any(changed);
}

// The system for the active points: at first those of the previous step, or, for a robot in the
// air, those below the ground; later those of the last round.
static MF_INLINE Support support_system(Contacts *contacts, size_t count, mf_lane softness,
                                        Vec masses, bool first) {
    mf_lane zero = mf_zero();
    Support sum = {softness, zero, zero, masses.x, masses.y, masses.z, zero, zero, zero};
    for (Contact *row = contacts->row; row < contacts->row + count; row++) {
        if (first)
            row->pressed = mf_less(zero, mf_select(contacts->standing, row->before, row->depth));
        support_add(&sum, row, row->pressed);
    }
    return sum;
}

// Difference of the next solution from `u`, relative to both.
static __attribute__((noinline)) mf_lane support_rest(const Support *sum, Vec u) {
    const Vec next = support_solve_sum(sum), offset = vec_sub(next, u);
    const mf_lane size = vec_dot(next, next) + vec_dot(u, u), tiny = mf_set(MF_REAL_EPSILON);
    return mf_sqrt(vec_dot(offset, offset) / mf_max(size, tiny * tiny));
}

// Fills `press` and returns the shift (no horizontal move). `softness` is eps. With `again` the
// search starts from the previous active set. `count` is contacts->count. Sets `residual` if the
// rounds do not converge.
static MF_INLINE Shift support_solve(Contacts *contacts, size_t count, const Sym *inverse_world,
                                     mf_real softness, mf_lane inverse_mass, bool again,
                                     mf_lane *residual) {
    Vec tilt = support_inertia(inverse_world);
    Vec masses = vec_scale(tilt, mf_set(softness) * inverse_mass); // eps M/m of roll and pitch
    mf_lane zero = mf_zero();
    Shift shift = {{zero, zero, zero}, {zero, zero, zero}};
    Support sum = support_system(contacts, count, mf_set(softness), masses, !again);
    for (int iteration = 1;; iteration++) {
        Vec u = support_solve_sum(&sum);
        shift.move.z = u.x;
        shift.rotation_vector.x = u.y;
        shift.rotation_vector.y = u.z;
        // The same set gives the same solution, so stopping early does not change the result.
        if (!support_press(contacts, count, &shift))
            break;
        sum = support_system(contacts, count, mf_set(softness), masses, false);
        if (iteration < SUPPORT_ITERATIONS)
            continue;
        *residual = mf_max(*residual, support_rest(&sum, u));
        break;
    }
    // A vertical force also rotates a tilted body about the vertical.
    mf_lane torque_x = mf_fma(tilt.x, shift.rotation_vector.x, tilt.y * shift.rotation_vector.y);
    mf_lane torque_y = mf_fma(tilt.y, shift.rotation_vector.x, tilt.z * shift.rotation_vector.y);
    shift.rotation_vector.z = mf_fma(inverse_world->xz, torque_x, inverse_world->yz * torque_y);
    return shift;
}

// ---- solve --------------------------------------------------------------------------------------

// The paper's fit over the contacts of both steps, after `shift`.
static MF_INLINE Vec fit_friction(Step *s, size_t count, const Body *body, const Shift *shift,
                                  bool joints) {
    Contacts *contacts = &s->contacts;
    const mf_lane zero = mf_zero(), margin = mf_set(setting(s->constant, MF_PLAN_MARGIN));
    const bool weighted = s->plan->weighted;
    Fit fit = fit_start();
    for (const Contact *row = contacts->row; row < contacts->row + count; row++) {
        mf_mask both = mf_less(zero, row->before);
        if (joints)
            both = mf_and(both, mf_less(contact_rise(shift, row->position) - row->depth, margin));
        else
            both = mf_and(both, row->pressed);
        if (!mf_any(both))
            continue;
        Vec slip = contact_slip(s, body, row), position = row->position;
        mf_lane slip_x = mf_fma(-shift->rotation_vector.z, position.y,
                                mf_fma(shift->rotation_vector.y, position.z, slip.x));
        mf_lane slip_y = mf_fma(shift->rotation_vector.z, position.x,
                                mf_fma(-shift->rotation_vector.x, position.z, slip.y));
        if (weighted)
            fit_add(&fit, position, slip_x, slip_y, mf_keep(both, row->before));
        else
            fit_add_where(&fit, both, position, slip_x, slip_y);
    }
    return fit_solve(&fit);
}

// The support of a joint update, from hard contacts. In a second round what penetration remains is
// added to their depth, so that the points end at the surface and no penetration is left that would
// add energy later.
static MF_INLINE Shift lift_feet(Step *s, size_t count, const Sym *inverse_world) {
    const mf_real softness = setting(s->constant, MF_PLAN_COMPLIANCE) * (mf_real)0.01;
    const mf_lane inverse_mass = constant_at(s->constant, MF_PLAN_INVERSE_MASS);
    Contacts *contacts = &s->contacts;
    mf_lane *depth = s->depth;
    support_solve(contacts, count, inverse_world, softness, inverse_mass, false, &s->residual);
    for (size_t i = 0; i < count; i++) {
        depth[i] = contacts->row[i].depth;
        contacts->row[i].depth = depth[i] + contacts->row[i].press;
    }
    Shift shift =
        support_solve(contacts, count, inverse_world, softness, inverse_mass, true, &s->residual);
    for (size_t i = 0; i < count; i++)
        contacts->row[i].depth = depth[i];
    return shift;
}

static MF_INLINE Shift solve_rows(Step *s, size_t count, const Body *body, const Sym *inverse_world,
                                  bool joints) {
    Shift shift =
        joints ? lift_feet(s, count, inverse_world)
               : support_solve(&s->contacts, count, inverse_world,
                               setting(s->constant, MF_PLAN_COMPLIANCE),
                               constant_at(s->constant, MF_PLAN_INVERSE_MASS), false, &s->residual);
    Vec fit = fit_friction(s, count, body, &shift, joints);
    shift.move.x = fit.x;
    shift.move.y = fit.y;
    shift.rotation_vector.z = shift.rotation_vector.z + fit.z;
    if (joints || !(setting(s->constant, MF_PLAN_FRICTION) <= MF_REAL_MAX))
        return shift;
    mf_lane torsion_mass = constant_at(s->constant, MF_PLAN_INVERSE_MASS) / inverse_world->zz;
    Shift release = coulomb_release(s->plan, s->constant, &s->contacts, fit, torsion_mass);
    shift.move = vec_add(shift.move, release.move);
    shift.rotation_vector.z = shift.rotation_vector.z + release.rotation_vector.z;
    return shift;
}

// Most robots stand on four or six feet: loops of constant length are unrolled.
static MF_INLINE Shift solve_fit(Step *s, const Body *body, const Sym *inverse_world, bool joints) {
    switch (s->contacts.count) {
    case 4:
        return solve_rows(s, 4, body, inverse_world, joints);
    case 6:
        return solve_rows(s, 6, body, inverse_world, joints);
    default:
        return solve_rows(s, s->contacts.count, body, inverse_world, joints);
    }
}

// Tangential stiffness and slip of each contact. Weights by load have the mean 1 over the sticking
// contacts.
static void coupled_rows(Step *s, const Body *body) {
    Contacts *contacts = &s->contacts;
    mf_lane holding = mf_zero(), total = contacts->sums.fixed, one = mf_set((mf_real)1);
    for (size_t i = 0; i < contacts->count; i++)
        holding = mf_add_where(mf_less(mf_zero(), contacts->row[i].before), holding, one);
    mf_lane mean = holding / mf_select(mf_less(mf_zero(), total), total, one);
    for (size_t i = 0; i < contacts->count; i++) {
        mf_mask fixed = mf_less(mf_zero(), contacts->row[i].before);
        s->weight[i] = mf_keep(fixed, one);
        if (s->plan->weighted)
            s->weight[i] = contacts->row[i].before * mean;
        Vec slip = contact_slip(s, body, &contacts->row[i]);
        contacts->row[i].slip =
            MF_VALUE(Vec, mf_keep(fixed, slip.x), mf_keep(fixed, slip.y), mf_keep(fixed, slip.z));
    }
}

static Coupled coupled_problem(Step *s, const Mat *rotation, mf_real softness) {
    const mf_real friction = setting(s->constant, MF_PLAN_FRICTION);
    const mf_lane masses = mf_set(softness) * constant_at(s->constant, MF_PLAN_INVERSE_MASS);
    const Sym inertia = body_inertia(s), m = sym_rotate(rotation, &inertia);
    return MF_VALUE(Coupled, .plan = s->plan, .contacts = &s->contacts,
                    .inertia = {m.xx * masses, m.yy * masses, m.zz * masses, m.xy * masses,
                                m.xz * masses, m.yz * masses},
                    .softness = mf_set(softness), .friction = mf_set(friction),
                    .holds = !(friction <= MF_REAL_MAX));
}

static Shift solve_coupled(Step *s, const Body *body, const Mat *rotation) {
    Contacts *contacts = &s->contacts;
    coupled_rows(s, body);
    Coupled c = coupled_problem(s, rotation, setting(s->constant, MF_PLAN_COMPLIANCE));
    mf_lane residual;
    Shift shift = coupled_solve(&c, s->weight, s->hold, s->alive, &residual);
    s->residual = mf_max(s->residual, mf_keep(s->alive, residual));
    contacts->has = mf_zero();
    for (size_t i = 0; i < contacts->count; i++)
        contacts->has = mf_fma(contacts->row[i].press, contacts->row[i].press, contacts->has);
    return shift;
}

// Joint updates lift the body as `fit` does and move it by its feet, which stay on the ground: they
// have no loads, so nothing slips.
static Shift carry_coupled(Step *s, const Body *body, const Mat *rotation,
                           const Sym *inverse_world) {
    const mf_lane zero = mf_zero(), part = mf_set((mf_real)0.01);
    const mf_lane margin = mf_set(setting(s->constant, MF_PLAN_MARGIN));
    Contacts *contacts = &s->contacts;
    const Shift lift = lift_feet(s, contacts->count, inverse_world);
    coupled_rows(s, body);
    for (size_t i = 0; i < contacts->count; i++) {
        Contact *row = &contacts->row[i];
        const Vec moved = shift_at(&lift, row->position);
        mf_lane rest = row->depth - moved.z;
        if (s->plan->slopes)
            rest = row->depth - vec_dot(row->normal, moved) / row->normal.z;
        const mf_mask stands = mf_less(-margin, row->depth - moved.z);
        s->weight[i] = mf_keep(stands, s->weight[i]) * part;
        s->depth[i] = row->depth;
        row->depth = mf_select(mf_less(zero, s->weight[i]), zero, rest);
        row->slip = vec_add(row->slip, moved);
    }
    Coupled c =
        coupled_problem(s, rotation, setting(s->constant, MF_PLAN_COMPLIANCE) * (mf_real)1e-4);
    c.holds = c.stands = true;
    mf_lane residual;
    const Shift shift = coupled_solve(&c, s->weight, s->hold, s->alive, &residual);
    s->residual = mf_max(s->residual, mf_keep(s->alive, residual));
    for (size_t i = 0; i < contacts->count; i++)
        contacts->row[i].depth = s->depth[i];
    return MF_VALUE(Shift, vec_add(lift.move, shift.move),
                    vec_add(lift.rotation_vector, shift.rotation_vector));
}

static MF_INLINE Shift solve(Step *s, const Body *body, const Mat *rotation, bool joints) {
    if (s->plan->coupled && !joints)
        return solve_coupled(s, body, rotation);
    Sym inverse = body_inverse(s), inverse_world = sym_rotate(rotation, &inverse);
    if (s->plan->coupled)
        return carry_coupled(s, body, rotation, &inverse_world);
    return solve_fit(s, body, &inverse_world, joints);
}

// A rotation is at most half a radian about each axis, the range of its linear equations. A larger
// one is reduced together with its translation: the translation alone would move the body farther
// than its feet reach.
static MF_INLINE Shift limit_shift(const Shift *shift) {
    const mf_lane limit = mf_set((mf_real)0.5);
    mf_lane x = mf_abs(shift->rotation_vector.x), y = mf_abs(shift->rotation_vector.y),
            z = mf_abs(shift->rotation_vector.z);
    mf_lane most = mf_max(x, mf_max(y, z));
    mf_mask far = mf_less(limit, most);
    if (!mf_any(far))
        return *shift;
    mf_lane one = mf_set((mf_real)1);
    mf_lane scale = mf_select(far, limit / mf_select(far, most, one), one);
    return MF_VALUE(Shift, vec_scale(shift->move, scale), vec_scale(shift->rotation_vector, scale));
}

// Lanes in the air keep theirs exactly, as without other robots in the batch.
static MF_INLINE void apply_shift(Step *s, Body *body, const Shift *target) {
    Shift shift = limit_shift(target);
    Vec low = s->low.com, com = vec_sum_plus(shift.move, body->com, &low);
    Quat attitude = quat_rotation(body->attitude, shift.rotation_vector);
    if (!mf_all(s->near)) {
        com = vec_select(s->near, com, body->com);
        low = vec_select(s->near, low, s->low.com);
        attitude = quat_select(s->near, attitude, body->attitude);
    }
    body->com = com;
    s->low.com = low;
    body->attitude = attitude;
}

// Stores the position of a contact. One that slides partly (coupled friction) keeps the stretch
// that its friction can bear.
static MF_INLINE void store_anchor(const Step *s, const Body *body, const Mat *rotation,
                                   const Contact *row) {
    Vec local = vec_load((const mf_real *)s->block->points, 3 * row->index);
    Vec position = mat_apply_add(rotation, local, body->com);
    mf_mask bears = mf_less(mf_zero(), row->press);
    if (s->plan->coupled) {
        mf_mask stays = mf_and(mf_less(mf_zero(), row->before), bears);
        Vec anchor = vec_load((const mf_real *)s->block->anchor, 3 * row->index);
        Vec left = vec_fma(vec_sub(anchor, position), s->hold[row - s->contacts.row], position);
        position = vec_select(stays, left, position);
    }
    keep_vec_where(s, bears, s->block->anchor, 3 * row->index, position);
}
