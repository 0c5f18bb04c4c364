// One step of the `points` motion for a few lanes: one rigid body of mass points over a height map
// (Fischer and Ihme 2024, NeoPhysIx). docs/explanation/points.md has the equations.
//
//   joint update (every interval)  joints advance, points move, the center of mass stays; the body
//                                  is lifted out of the ground and carried by its feet, without
//                                  gaining velocity
//   flight (every step)            gravity, then free rotation
//   contact (every step)           support and friction displacements, which also change the
//                                  velocities; the total energy is kept from rising
//
// Invariants: a lane never reads another lane. If the new state of a lane is not finite or out of
// range, base pose, velocity and contacts are not stored, its fault word is set and it is frozen;
// joint angles and points of a joint update in that step are stored.

#pragma once

#include "motion/points/solve.h"
#include "motion/points/kinematics.h"
#include "math/lane_sum.h"
#include "motion/points/vector.h"

// The joint update: joints advance, points move, the center of mass stays; the body is lifted out
// of the ground and carried by its feet without gaining velocity.

// ---- reaction -----------------------------------------------------------------------------------

// How the base turns against its own joints in the air: with total angular momentum of the internal
// motion zero, I w + sum_k m_k (r_k - c) x v_k = 0, where v_k is the velocity of point k relative
// to the base. Integrated over one joint update with the geometry of its middle.

typedef struct Swing {
    Moments shape;
    Vec momentum; // [kg m^2] sum of m r x (displacement), about the base's origin
    Vec impulse;  // [kg m] sum of m (displacement)
} Swing;

static inline void swing_points(const mf_PointsPlan *plan, const mf_real *constant,
                                const Frame *frame, const Drift *drift, const mf_PlanLink *link,
                                Swing *swing) {
    for (size_t i = link->first_point; i < link->first_point + link->point_count; i++) {
        const mf_real *mass;
        Vec p = point_constant(plan, constant, i, &mass);
        Vec arm = mat_apply(&frame->rotation, p);
        p = vec_add(frame->position, arm);
        Vec moved = vec_scale(vec_add(drift->move, vec_cross(drift->rotation_vector, arm)),
                              constant_at(mass, 0));
        swing->impulse = vec_add(swing->impulse, moved);
        swing->momentum = vec_add(swing->momentum, vec_cross(p, moved));
        kinematics_mass(&swing->shape, p, constant_at(mass, 0));
    }
}

static inline Drift link_drift(const mf_PlanLink *link, const Frame *frame, const Frame *parent,
                               const Drift *parent_drift, mf_lane change) {
    mf_lane zero = mf_zero();
    Drift drift = {{zero, zero, zero}, {zero, zero, zero}};
    if (parent != NULL) {
        drift.rotation_vector = parent_drift->rotation_vector;
        drift.move =
            vec_add(parent_drift->move, vec_cross(parent_drift->rotation_vector,
                                                  vec_sub(frame->position, parent->position)));
    }
    Vec axis = {frame->rotation.xz, frame->rotation.yz, frame->rotation.zz};
    if (link->kind == MF_PLAN_HINGE)
        drift.rotation_vector = vec_add(drift.rotation_vector, vec_scale(axis, change));
    if (link->kind == MF_PLAN_SLIDE)
        drift.move = vec_add(drift.move, vec_scale(axis, change));
    return drift;
}

// Rotation vector [rad] of the base, in its own axes, for joints that go from `from` to `to` (rows
// of MF_BLOCK per joint). `k` lends its memory.
static inline Vec reaction_rotation(const mf_PointsPlan *plan, const mf_real *constant,
                                    const mf_real *from, const mf_real *to, Kinematics *k) {
    const mf_PlanLink *links = mf_points_plan_links(plan);
    Frame *frames = k->frames;
    Drift *drifts = k->drifts;
    Swing swing;
    mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5);
    swing.momentum = swing.impulse = MF_VALUE(Vec, zero, zero, zero);
    swing.shape = moments_start();
    kinematics_points(plan, constant, NULL, 0, plan->base_points, NULL, &swing.shape);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_PlanLink *link = &links[l];
        const mf_real *c = constants_of_link(plan, constant, l);
        mf_lane start = row_load(from, link->joint), end = row_load(to, link->joint);
        const Frame *parent = link->parent < 0 ? NULL : &frames[link->parent];
        Pose pose = joint_pose(link, half * (start + end));
        frames[l] = link_frame(link, c, parent, &pose);
        drifts[l] = link_drift(link, &frames[l], parent,
                               link->parent < 0 ? NULL : &drifts[link->parent], end - start);
        swing_points(plan, constant, &frames[l], &drifts[l], link, &swing);
    }
    Vec center;
    Sym inertia;
    kinematics_inertia(&swing.shape, constant, &center, &inertia);
    Sym inverse = sym_inverse(&inertia);
    Vec momentum = vec_sub(swing.momentum, vec_cross(center, swing.impulse));
    return vec_scale(sym_apply(&inverse, momentum), mf_set((mf_real)-1));
}

// q rotated by a rotation vector in body axes, exactly.
static inline Quat quat_rotate_body(Quat q, Vec rotation) {
    mf_lane square = vec_dot(rotation, rotation), angle = mf_sqrt(square), s, c;
    mf_mask moves = mf_less(mf_set((mf_real)1e-12), angle);
    mf_sin_cos_lane(angle * mf_set((mf_real)0.5), &s, &c);
    mf_lane scale =
        mf_select(moves, s / mf_select(moves, angle, mf_set((mf_real)1)), mf_set((mf_real)0.5));
    Quat orientation = {c, rotation.x * scale, rotation.y * scale, rotation.z * scale};
    return quat_normalize(quat_multiply(q, orientation));
}

// ---- joints -------------------------------------------------------------------------------------

static mf_lane joint_goal(const Step *s, const mf_PlanLink *link, const mf_real *c, mf_lane now) {
    mf_lane low = constant_at(c, MF_PLAN_LINK_LOWER), high = constant_at(c, MF_PLAN_LINK_UPPER);
    if (link->mimic >= 0) {
        mf_lane leader = row_load((const mf_real *)s->block->angle, s->links[link->mimic].joint);
        return mf_fma(leader, constant_at(c, MF_PLAN_LINK_MULTIPLIER),
                      constant_at(c, MF_PLAN_LINK_OFFSET));
    }
    mf_lane target = row_load((const mf_real *)s->block->target, link->joint);
    mf_lane reach = constant_at(c, MF_PLAN_LINK_REACH);
    mf_lane change = mf_clamp(target - now, mf_zero() - reach, reach);
    return mf_clamp(now + change, low, high);
}

// Advances the joints; `from` gets the angles before (rows of MF_BLOCK). True where one moved.
static mf_mask move_joints(Step *s, mf_real *from) {
    mf_lane per_second = mf_set(setting(s->constant, MF_PLAN_INVERSE_INTERVAL));
    mf_mask fine = mf_mask_all(), whole = fine;
    for (uint32_t l = 0; l < s->plan->link_count; l++) {
        whole =
            mf_and(whole, mf_finite(row_load((const mf_real *)s->block->angle, s->links[l].joint)));
        if (s->links[l].mimic < 0)
            fine = mf_and(
                fine, mf_finite(row_load((const mf_real *)s->block->target, s->links[l].joint)));
    }
    raise_fault(s, whole, MF_FAULT_NONFINITE);
    raise_fault(s, fine, MF_FAULT_INPUT);
    mf_lane travel = mf_zero();
    // Leaders first, then the joints that follow them.
    const uint32_t links = s->plan->link_count, both = s->plan->mimics ? 2 * links : links;
    for (uint32_t i = 0; i < both; i++) {
        const uint32_t l = i < links ? i : i - links;
        const mf_PlanLink *link = &s->links[l];
        if (link->kind == MF_PLAN_FIXED || (link->mimic >= 0) != (i >= links))
            continue;
        const mf_real *c = constants_of_link(s->plan, s->constant, l);
        mf_lane now = row_load((const mf_real *)s->block->angle, link->joint);
        mf_lane goal = joint_goal(s, link, c, now);
        row_store(from, link->joint, now);
        travel = travel + mf_abs(goal - now);
        keep_store(s, s->block->angle, link->joint, goal);
        keep_store(s, s->block->rate, link->joint, (goal - now) * per_second);
    }
    return mf_less(mf_zero(), travel);
}

// New points, center and inertia from the joint angles; the center of mass and the angular momentum
// stay what they were. `down` is the last row of the attitude.
static void reshape_body(Step *s, Body *body, Vec down) {
    kinematics_run(s->plan, s->constant, (const mf_real *)s->block->angle, &s->kinematics);
    Sym inertia = body_inertia(s);
    Vec momentum = sym_apply(&inertia, body->rate), center;
    kinematics_inertia(&s->kinematics.moments, s->constant, &center, &inertia);
    Sym inverse = sym_inverse(&inertia);
    body->rate = sym_apply(&inverse, momentum);
    mf_lane values[12] = {inertia.xx, inertia.yy, inertia.zz, inertia.xy, inertia.xz, inertia.yz,
                          inverse.xx, inverse.yy, inverse.zz, inverse.xy, inverse.xz, inverse.yz};
    keep_vec(s, s->block->center, 0, center);
    for (size_t c = 0; c < 6; c++) {
        keep_store(s, s->block->inertia, c, values[c]);
        keep_store(s, s->block->inverse, c, values[6 + c]);
    }
    for (size_t i = 0; i < s->plan->contact_count; i++) {
        Vec old = vec_load((const mf_real *)s->block->points, 3 * i);
        Vec position = vec_sub(s->kinematics.contact[i], center);
        Vec moved = vec_sub(position, old);
        // A point is lifted at most as far as its joints moved it: still joints do no work, however
        // deep it is in the ground.
        mf_lane climb = mf_abs(moved.x) + mf_abs(moved.y) + mf_abs(moved.z);
        s->top[i] = vec_dot_add(down, old, body->com.z) + load_before(s, i) + climb;
        s->kinematics.contact[i] = position;
        keep_vec(s, s->block->points, 3 * i, position);
    }
}

// Whether `top` is above the ground: on a slope, feet that are carried along may rise with it.
static MF_INLINE bool top_over(const mf_PointsPlan *plan) {
    return plan->coupled && plan->slopes;
}

static void find_joint_contacts(Step *s, const Body *body, const Mat *rotation) {
    mf_lane highest =
        mf_set(setting(s->constant, MF_PLAN_HIGHEST) + setting(s->constant, MF_PLAN_MARGIN));
    const mf_lane zero = mf_zero();
    const Vec down = {rotation->zx, rotation->zy, rotation->zz};
    const size_t points = s->plan->contact_count;
    const mf_LaneMap map = ground_map(s->plan, s->heights, s->constant);
    ContactSums sums = {zero, zero, zero};
    mf_mask any = mf_not(mf_mask_all());
    Contact *row = s->contacts.row;
    for (size_t i = 0; i < points; i++) {
        Vec local = s->kinematics.contact[i];
        mf_lane z = vec_dot(down, local), before = load_before(s, i);
        mf_mask near = mf_or(mf_less(body->com.z + z, highest), mf_less(zero, before));
        if (!mf_any(near))
            continue;
        any = mf_or(any, near);
        Vec arm = mat_apply(rotation, local), position = vec_add(body->com, arm);
        mf_lane ground =
            ground_at(s->plan, &map, s->constant, position.x, position.y, &row->normal);
        // Feet stay pressed as far as their load pressed them.
        mf_lane top = mf_min(ground, top_over(s->plan) ? ground + s->top[i] : s->top[i]);
        mf_lane depth = mf_select(near, top - position.z - before, depth_of_none());
        contact_add(row++, &sums, i, arm, before, depth);
    }
    s->near = any;
    s->contacts.count = (size_t)(row - s->contacts.row);
    s->contacts.sums = sums;
    s->contacts.standing = mf_not(mf_mask_all());
}

// Loads of feet that the joints lifted off vanish; the others keep their anchors under them.
static void settle_joint_contacts(Step *s, const Body *body, const Shift *shift) {
    mf_lane margin = mf_set(setting(s->constant, MF_PLAN_MARGIN)), zero = mf_zero();
    Mat rotation = quat_matrix(body->attitude);
    for (size_t i = 0; i < s->contacts.count; i++) {
        size_t contact = s->contacts.row[i].index;
        mf_lane above = contact_rise(shift, s->contacts.row[i].position) - s->contacts.row[i].depth;
        mf_lane load = row_load((const mf_real *)s->block->load, contact);
        keep_store(s, s->block->load, contact, mf_keep(mf_less(above, margin), load));
        Vec local = vec_load((const mf_real *)s->block->points, 3 * contact);
        Vec position = mat_apply_add(&rotation, local, body->com);
        if (s->plan->coupled) {
            // The stretch that held the robot before the joints moved goes on holding it.
            position = vec_sub(position, s->stretch[contact]);
        }
        keep_vec_where(s, mf_less(zero, s->contacts.row[i].before), s->block->anchor, 3 * contact,
                       position);
    }
}

// In coupled friction the slip of a joint update is what the joints moved, not the stretch that
// already holds the robot up; that stretch is put aside. `points` are those before the update.
static void rebase_anchors(Step *s, const Body *body, const Mat *rotation, const Vec *points) {
    const mf_LaneMap map = ground_map(s->plan, s->heights, s->constant);
    for (size_t i = 0; i < s->plan->contact_count; i++) {
        Vec was = mat_apply_add(rotation, points[i], body->com), normal;
        if (top_over(s->plan))
            s->top[i] = s->top[i] - ground_at(s->plan, &map, s->constant, was.x, was.y, &normal);
        Vec anchor = vec_load((const mf_real *)s->block->anchor, 3 * i);
        s->stretch[i] = vec_sub(was, anchor);
        keep_vec_where(s, mf_less(mf_zero(), load_before(s, i)), s->block->anchor, 3 * i, was);
    }
}

// Coupled friction also tilts the body: by large angles, on slopes and with points that were not
// near the ground. So the body is lifted out of the ground where it is then; what the second round
// leaves is of fourth order in the angle. Returns the last lift. The residual of a lift by less
// than the margin is one of rounding.
static Shift lift_again(Step *s, Body *body) {
    const mf_lane zero = mf_zero(), margin = mf_set(setting(s->constant, MF_PLAN_MARGIN));
    Shift shift = {{zero, zero, zero}, {zero, zero, zero}};
    for (int round = 0; round < 2; round++) {
        const Mat rotation = quat_matrix(body->attitude);
        find_joint_contacts(s, body, &rotation);
        if (s->contacts.count == 0)
            break;
        const Sym inverse = body_inverse(s), inverse_world = sym_rotate(&rotation, &inverse);
        const mf_lane residual = s->residual;
        shift = lift_feet(s, s->contacts.count, &inverse_world);
        s->residual = mf_select(mf_less(margin, s->contacts.sums.deep), s->residual, residual);
        apply_shift(s, body, &shift);
    }
    return shift;
}

// The body after its joints went on from `from`.
static void carry_body(Step *s, Body *body, const mf_real *from) {
    mf_lane zero = mf_zero();
    if (s->plan->keep_momentum) {
        mf_lane loads = zero;
        for (size_t i = 0; i < s->plan->contact_count; i++)
            loads = loads + row_load((const mf_real *)s->block->load, i);
        Vec rotated = reaction_rotation(s->plan, s->constant, from,
                                        (const mf_real *)s->block->angle, &s->kinematics);
        Vec still = {zero, zero, zero};
        Mat before = quat_matrix(body->attitude);
        body->attitude =
            quat_rotate_body(body->attitude, vec_select(mf_less(zero, loads), still, rotated));
        // The angular momentum keeps its direction in the world, not in the body.
        Mat after = quat_matrix(body->attitude);
        Sym inertia = body_inertia(s), inverse = body_inverse(s);
        Vec momentum = mat_apply(&before, sym_apply(&inertia, body->rate));
        body->rate = sym_apply(&inverse, mat_apply_transposed(&after, momentum));
    }
    const bool coupled = s->plan->coupled;
    Mat rotation = quat_matrix(body->attitude);
    if (coupled)
        for (size_t i = 0; i < s->plan->contact_count; i++)
            s->stretch[i] = vec_load((const mf_real *)s->block->points, 3 * i);
    reshape_body(s, body, MF_VALUE(Vec, rotation.zx, rotation.zy, rotation.zz));
    if (coupled)
        rebase_anchors(s, body, &rotation, s->stretch);
    find_joint_contacts(s, body, &rotation);
    if (s->contacts.count == 0)
        return;
    Shift shift = solve(s, body, &rotation, true);
    apply_shift(s, body, &shift);
    if (coupled)
        shift = lift_again(s, body);
    settle_joint_contacts(s, body, &shift);
}

// What is remembered of the contacts must be finite.
static void check_memory(Step *s) {
    mf_lane sum = mf_zero();
    for (size_t i = 0; i < s->plan->contact_count; i++) {
        Vec local = vec_load((const mf_real *)s->block->points, 3 * i);
        sum = sum + (mf_abs(local.x) + mf_abs(local.y)) +
              (mf_abs(local.z) + mf_abs(row_load((const mf_real *)s->block->load, i)));
    }
    raise_fault(s, mf_finite(sum), MF_FAULT_NONFINITE);
}

// Robots whose joints stay where they are do not change by a bit.
static void update_joints(Step *s, Body *body) {
    mf_real *from = s->from;
    mf_mask moved = move_joints(s, from);
    check_memory(s);
    if (!mf_any(moved))
        return;
    const mf_mask alive = s->alive;
    const Body before = *body;
    const Vec low = s->low.com;
    const mf_lane residual = s->residual;
    s->alive = mf_and(alive, moved);
    s->all_alive = mf_all(s->alive);
    carry_body(s, body, from);
    s->residual = mf_select(moved, s->residual, residual);
    s->alive = mf_and(alive, mf_or(s->alive, mf_not(moved)));
    s->all_alive = mf_all(s->alive);
    if (mf_all(moved))
        return;
    body->com = vec_select(moved, body->com, before.com);
    s->low.com = vec_select(moved, s->low.com, low);
    body->attitude = quat_select(moved, body->attitude, before.attitude);
    body->rate = vec_select(moved, body->rate, before.rate);
}

// ---- free rotation ------------------------------------------------------------------------------

// Torque-free rotation of one body (Euler's equations) of fourth order. Angular momentum in body
// axes by the classical Runge-Kutta method,
//   L' = L x w,  w = I^-1 L;
// integrating L instead of w saves one tensor product per stage. The attitude, q' = q (0, w) / 2,
// by the exponential of Magnus's series (Iserles, Munthe-Kaas, Norsett and Zanna 2000, "Lie-group
// methods", chapter 5): q exp(v), where with the rates w1 .. w4 of the four stages
//   v = h/12 (w1 + 2 w2 + 2 w3 + w4) + h^2/24 w1 x w4,
// and the series of cosine and sine are truncated at the order of the step: for a constant rate
// this equals Runge-Kutta.

// Without torque the rotational energy is constant; `had` is twice that before the step. Above 0.25
// rad a step the method can increase it, and the rate is then reduced. Below, the error of a step
// is less than 1e-5 of the energy and changes sign.
static MF_INLINE Vec rate_limit(const Sym *inertia, mf_real step, mf_lane had, Vec before,
                                Vec after) {
    mf_mask fast = mf_less(mf_set((mf_real)0.0625 / (step * step)), vec_dot(before, before));
    if (!mf_any(fast))
        return after;
    mf_lane has = vec_dot(after, sym_apply(inertia, after)), one = mf_set((mf_real)1);
    mf_mask over = mf_and(fast, mf_less(had, has));
    mf_lane scale = mf_sqrt(had / mf_select(over, has, one));
    return vec_scale(after, mf_select(over, scale, one));
}

static MF_INLINE void free_rotation_step(const Sym *inertia, const Sym *inverse, mf_real step,
                                         bool short_steps, Quat *attitude, Vec *rate,
                                         Quat *low_attitude, Vec *low_rate) {
    const mf_lane half = mf_set(step * (mf_real)0.5), whole = mf_set(step);
    const mf_lane sixth = mf_set(step / (mf_real)6), twelfth = mf_set(step / (mf_real)12);
    const mf_lane two = mf_set((mf_real)2);
    Vec w1 = *rate, l = sym_apply(inertia, w1), a1 = vec_cross(l, w1);
    Vec l2 = vec_fma(a1, half, l), w2 = sym_apply(inverse, l2), a2 = vec_cross(l2, w2);
    Vec l3 = vec_fma(a2, half, l), w3 = sym_apply(inverse, l3), a3 = vec_cross(l3, w3);
    Vec l4 = vec_fma(a3, whole, l), w4 = sym_apply(inverse, l4), a4 = vec_cross(l4, w4);
    Vec sum = vec_fma(vec_add(a2, a3), two, vec_add(a1, a4));
    // The change of w, so that a body at rest keeps its rate exactly.
    Vec w = short_steps ? vec_sum_plus(sym_apply(inverse, vec_scale(sum, sixth)), w1, low_rate)
                        : sym_apply_add(inverse, vec_scale(sum, sixth), w1);
    *rate = rate_limit(inertia, step, vec_dot(l, w1), w1, w);
    Vec rotation_vector = vec_fma(vec_add(w2, w3), two, vec_add(w1, w4));
    rotation_vector = vec_cross_add(vec_scale(w1, half), w4, rotation_vector);
    if (!short_steps) {
        *attitude = quat_renormalize(
            quat_multiply(*attitude, quat_exponential(vec_scale(rotation_vector, twelfth))));
        return;
    }
    const Quat rotation = quat_exponential_less_one(vec_scale(rotation_vector, twelfth));
    *attitude = quat_sum_plus(quat_multiply(*attitude, rotation), *attitude, low_attitude);
}

// ---- flight and contact -------------------------------------------------------------------------

static MF_INLINE mf_lane kinetic_energy(const Step *s, const Body *body) {
    Sym inertia = body_inertia(s);
    mf_lane rotational = vec_dot(body->rate, sym_apply(&inertia, body->rate));
    mf_lane flight = vec_dot(body->velocity, body->velocity);
    return mf_set((mf_real)0.5) *
           mf_fma(constant_at(s->constant, MF_PLAN_MASS), flight, rotational);
}

// Adds the forces of collisions in lanes that have some: the force on the whole robot, and the
// torque about the base's origin.
static MF_INLINE void add_wrenches(const Step *s, Vec *force, Vec *torque) {
    mf_index count = mf_load_index((const int32_t *)s->block->wrench_count);
    mf_mask loaded = mf_not(mf_index_equal(count, mf_set_index(0)));
    if (!mf_any(loaded))
        return;
    const mf_lane zero = mf_zero();
    Vec linear = {zero, zero, zero}, angular = linear;
    for (size_t c = 0; c < s->block->wrench_components; c += 6) {
        linear = vec_add(linear, vec_load((const mf_real *)s->block->wrench, c));
        angular = vec_add(angular, vec_load((const mf_real *)s->block->wrench, c + 3));
    }
    *force = vec_select(loaded, vec_add(*force, linear), *force);
    *torque = vec_select(loaded, vec_add(*torque, angular), *torque);
}

// An external force on the base's origin and a torque, as an impulse at the start of the step.
static MF_INLINE void apply_wrench(Step *s, Body *body, const Mat *rotation) {
    Vec force = vec_load((const mf_real *)s->block->force, 0),
        torque = vec_load((const mf_real *)s->block->torque, 0);
    if (s->block->wrench != NULL)
        add_wrenches(s, &force, &torque);
    // (A sum, because a maximum ignores NaN.)
    mf_lane sum = mf_abs(force.x) + mf_abs(force.y) + mf_abs(force.z) + mf_abs(torque.x) +
                  mf_abs(torque.y) + mf_abs(torque.z);
    mf_mask still = mf_less_equal(sum, mf_zero());
    if (mf_all(still))
        return;
    raise_fault(s, mf_finite(sum), MF_FAULT_INPUT);
    torque = vec_cross_add(
        force, mat_apply(rotation, vec_load((const mf_real *)s->block->center, 0)), torque);
    mf_lane step = mf_set(setting(s->constant, MF_PLAN_STEP));
    mf_lane scale = step * constant_at(s->constant, MF_PLAN_INVERSE_MASS);
    Sym inverse = body_inverse(s);
    Vec velocity = vec_fma(force, scale, body->velocity);
    Vec angular_acceleration = sym_apply(&inverse, mat_apply_transposed(rotation, torque));
    Vec rate = vec_fma(angular_acceleration, step, body->rate);
    body->velocity = vec_select(still, body->velocity, velocity);
    body->rate = vec_select(still, body->rate, rate);
}

static MF_INLINE void fly(Step *s, Body *body) {
    mf_lane step = mf_set(setting(s->constant, MF_PLAN_STEP));
    Lows *low = &s->low;
    const mf_lane fall = mf_set(setting(s->constant, MF_PLAN_FALL));
    if (short_steps(s->block))
        body->velocity.z = sum_plus(-fall, body->velocity.z, &low->velocity.z);
    else
        body->velocity.z = body->velocity.z - fall;
    body->com = vec_sum_fma(body->velocity, step, body->com, &low->com);
    // A body that does not rotate keeps its attitude exactly; often all lanes are at rest.
    const Vec w = body->rate;
    mf_mask rotates = mf_less(mf_zero(), mf_abs(w.x) + mf_abs(w.y) + mf_abs(w.z));
    if (!mf_any(rotates))
        return;
    const bool small = short_steps(s->block);
    Quat attitude = body->attitude, low_attitude;
    if (small)
        low_attitude = low->attitude;
    Sym inertia = body_inertia(s), inverse = body_inverse(s);
    free_rotation_step(&inertia, &inverse, setting(s->constant, MF_PLAN_STEP), small, &attitude,
                       &body->rate, &low_attitude, &low->rate);
    if (small)
        low->attitude = quat_select(rotates, low_attitude, low->attitude);
    if (!mf_all(rotates))
        attitude = quat_select(rotates, attitude, body->attitude);
    body->attitude = attitude;
}

// Points that may be in the ground after the flight. `was_down` and `was_z` are the last row of the
// attitude and the height of the center of mass before it.
static MF_INLINE void find_contacts(Step *s, const Body *body, const Mat *rotation, Vec was_down,
                                    mf_lane was_z) {
    const mf_lane zero = mf_zero(), none = depth_of_none();
    const mf_lane reach_z = mf_set(setting(s->constant, MF_PLAN_HIGHEST)) - body->com.z;
    const Vec down = {rotation->zx, rotation->zy, rotation->zz};
    const bool all = s->all_alive;
    const size_t points = s->plan->contact_count;
    const mf_LaneMap map = ground_map(s->plan, s->heights, s->constant);
    ContactSums sums = {zero, zero, zero};
    mf_mask any = mf_not(mf_mask_all());
    Contact *row = s->contacts.row;
    const mf_real *at = (const mf_real *)s->block->points;
    mf_real *load = (mf_real *)s->block->load;
    for (size_t i = 0; i < points; i++, at += 3 * MF_BLOCK, load += MF_BLOCK) {
        Vec local = vec_load(at, 0);
        mf_lane z = vec_dot(down, local);
        mf_mask near = mf_less(z, reach_z);
        if (!mf_any(near)) {
            keep_store_all(s, all, load, 0, zero);
            continue;
        }
        mf_lane before = mf_keep(near, load_before(s, i));
        any = mf_or(any, near);
        Vec position = {vec_dot(MF_VALUE(Vec, rotation->xx, rotation->xy, rotation->xz), local),
                        vec_dot(MF_VALUE(Vec, rotation->yx, rotation->yy, rotation->yz), local), z};
        mf_lane ground = ground_at(s->plan, &map, s->constant, body->com.x + position.x,
                                   body->com.y + position.y, &row->normal);
        mf_lane top = support_height(s, ground, vec_dot_add(was_down, local, was_z + before));
        mf_lane depth = mf_select(near, top - (body->com.z + z), none);
        contact_add(row++, &sums, i, position, before, depth);
    }
    s->near = any;
    s->contacts.count = (size_t)(row - s->contacts.row);
    s->contacts.sums = sums;
    s->contacts.has = zero;
    s->contacts.standing = mf_less(zero, sums.fixed);
}

// The step's response to the ground. Returns the bound of the kinetic energy afterwards: the energy
// before the step (`energy` is its kinetic part, `was_z` the height of the center of mass) minus
// the present energy of springs and height.
static MF_INLINE mf_lane respond(Step *s, Body *body, const Mat *rotation, mf_lane was_z,
                                 mf_lane energy) {
    Shift shift = solve(s, body, rotation, false);
    mf_lane per_second = mf_set(setting(s->constant, MF_PLAN_INVERSE_STEP));
    if (short_steps(s->block)) { // a sum of zeros may still round: only near lanes
        Vec low = s->low.velocity;
        const Vec moved = vec_sum_fma(shift.move, per_second, body->velocity, &low);
        body->velocity = vec_select(s->near, moved, body->velocity);
        s->low.velocity = vec_select(s->near, low, s->low.velocity);
    } else {
        body->velocity = vec_fma(shift.move, per_second, body->velocity);
    }
    Vec kick = vec_scale(shift.rotation_vector, per_second);
    body->rate = mat_apply_transposed_add(rotation, kick, body->rate);
    apply_shift(s, body, &shift);
    mf_lane springs = mf_set((mf_real)0.5) * constant_at(s->constant, MF_PLAN_STIFFNESS);
    energy = mf_fma(springs, s->contacts.sums.had - s->contacts.has, energy);
    return mf_fma(constant_at(s->constant, MF_PLAN_WEIGHT), was_z - body->com.z, energy);
}

// Lanes with a contact that had a load or touched the ground (not only a final load: a robot may be
// thrown off the ground within the step).
static MF_INLINE mf_mask touching(Step *s) {
    mf_lane touched = s->contacts.sums.fixed + s->contacts.sums.deep;
    raise_fault(s, mf_finite(touched), MF_FAULT_NONFINITE);
    return mf_less(mf_zero(), touched);
}

// Energy never rises: kinetic energy above `budget` is removed by scaling all velocities. Lanes in
// the air keep theirs exactly.
static MF_INLINE void limit_energy(const Step *s, Body *body, mf_mask touched, mf_lane budget) {
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane energy = kinetic_energy(s, body);
    // Velocities of a body at rest are set to zero before they become subnormal.
    mf_lane least = constant_at(s->constant, MF_PLAN_MASS) * mf_set((mf_real)1e-16);
    budget = mf_keep(mf_less(least, energy), budget);
    mf_mask over = mf_and(touched, mf_less(budget, energy));
    if (!mf_any(over))
        return;
    mf_lane ratio = mf_max(budget, zero) / mf_select(over, energy, one);
    mf_lane scale = mf_select(over, mf_sqrt(ratio), one);
    body->velocity = vec_scale(body->velocity, scale);
    body->rate = vec_scale(body->rate, scale);
}

static void choose_pose(Body *body, mf_mask where, const Body *other) {
    body->com = vec_select(where, other->com, body->com);
    body->velocity = vec_select(where, other->velocity, body->velocity);
    body->attitude = quat_select(where, other->attitude, body->attitude);
    body->rate = vec_select(where, other->rate, body->rate);
}

typedef struct Saved {
    Body body;
    Lows low;
} Saved;

// The body before the flight and its remainders. They differ from the fields only after a joint
// update, and are only saved then.
static Body body_before(Step *s, const Saved *saved, Lows *low) {
    if (s->block->joints_due) {
        *low = saved->low;
        return saved->body;
    }
    Mat rotation;
    *low = load_lows(s->block);
    Body body = load_body(s->block, &rotation, low);
    apply_wrench(s, &body, &rotation);
    return body;
}

// The energy of an `inaccurate` lane does not suffice to lift it out of the ground (a point deep in
// a slope or below the floor). Such a lane is supported where its points were before the step
// instead: relative to that support it is at rest, so the implicit step cannot gain energy. If even
// that fails, by the curvature of large rotations, the body stays where it was and stops.
static __attribute__((noinline)) mf_lane hold_inaccurate(Step *s, Body *body, const Saved *saved,
                                                         mf_mask inaccurate, mf_lane budget,
                                                         mf_lane energy) {
    carve_rest(s);
    mf_lane *press = s->press, *hold = s->was;
    Contacts *contacts = &s->contacts;
    bool coupled = s->plan->coupled;
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Lows low_before;
    Body was = body_before(s, saved, &low_before), second = was, still = was;
    Mat was_rotation = quat_matrix(was.attitude);
    Vec down = {was_rotation.zx, was_rotation.zy, was_rotation.zz};
    const Lows low = s->low;
    s->low = low_before;
    fly(s, &second); // as before the first response
    for (size_t i = 0; i < contacts->count; i++) {
        Contact *row = &contacts->row[i];
        Vec local = vec_load((const mf_real *)s->block->points, 3 * row->index);
        mf_lane top = vec_dot_add(down, local, was.com.z + row->before);
        top = top - (second.com.z + row->position.z);
        press[i] = row->press;
        row->depth = mf_select(inaccurate, mf_min(row->depth, top), row->depth);
        hold[i] = coupled ? s->hold[i] : one;
    }
    contacts->standing = mf_not(mf_mask_all());
    Mat rotation = quat_matrix(second.attitude);
    const mf_lane residual = s->residual;
    mf_lane clamped = respond(s, &second, &rotation, was.com.z, energy);
    s->residual = mf_select(inaccurate, s->residual, residual);
    mf_mask stuck = mf_less(clamped, zero);
    still.velocity = still.rate = MF_VALUE(Vec, zero, zero, zero);
    choose_pose(&second, stuck, &still);
    choose_pose(&s->low, stuck, &low_before);
    choose_pose(body, inaccurate, &second);
    choose_pose(&s->low, mf_not(inaccurate), &low);
    for (size_t i = 0; i < contacts->count; i++) {
        mf_lane kept = mf_select(stuck, contacts->row[i].before, contacts->row[i].press);
        contacts->row[i].press = mf_select(inaccurate, kept, press[i]);
        if (coupled)
            s->hold[i] = mf_select(inaccurate, mf_select(stuck, one, s->hold[i]), hold[i]);
    }
    return mf_select(inaccurate, mf_max(clamped, zero), budget);
}

// `was_rotation` is the attitude before the flight.
static MF_INLINE void hit_ground(Step *s, Body *body, const Saved *saved, const Mat *was_rotation,
                                 mf_lane was_z, mf_lane energy) {
    Mat rotation = quat_matrix(body->attitude);
    find_contacts(s, body, &rotation,
                  MF_VALUE(Vec, was_rotation->zx, was_rotation->zy, was_rotation->zz), was_z);
    if (s->contacts.count == 0)
        return;
    mf_lane budget = respond(s, body, &rotation, was_z, energy);
    // Rounding of the height does not count as a lack of energy.
    mf_lane slack = mf_abs(body->com.z) *
                    (constant_at(s->constant, MF_PLAN_WEIGHT) * mf_set(-4 * MF_REAL_EPSILON));
    mf_mask touched = touching(s), inaccurate = mf_and(touched, mf_less(budget, slack));
    if (mf_any(inaccurate))
        budget = hold_inaccurate(s, body, saved, inaccurate, budget, energy);
    limit_energy(s, body, touched, budget);
}

// Position within 1e6 m, speed within 1e4 m/s, and at most two radians per step, which is what the
// integration of the rotation can follow.
static MF_INLINE void check_state(Step *s, const Body *body) {
    const Vec p = body->com, v = body->velocity, w = body->rate;
    const Quat q = body->attitude;
    mf_lane position = mf_abs(p.x) + mf_abs(p.y) + mf_abs(p.z);
    mf_lane speed = mf_abs(v.x) + mf_abs(v.y) + mf_abs(v.z);
    mf_lane rotational = mf_abs(w.x) + mf_abs(w.y) + mf_abs(w.z);
    mf_lane attitude = mf_abs(q.w) + mf_abs(q.x) + mf_abs(q.y) + mf_abs(q.z);
    mf_mask in_range =
        mf_and(mf_and(mf_less(position, mf_set((mf_real)1e6)),
                      mf_less(attitude, mf_set((mf_real)2.5))), // 1 .. 2 for a unit one
               mf_and(mf_less(speed, mf_set((mf_real)1e4)),
                      mf_less(rotational, mf_set(2 * setting(s->constant, MF_PLAN_INVERSE_STEP)))));
    if (mf_all(in_range))
        return;
    raise_fault(s, mf_finite(position + speed + rotational + attitude), MF_FAULT_NONFINITE);
    raise_fault(s, in_range, MF_FAULT_RANGE);
}

static MF_INLINE void store_lows(const Step *s, bool all, Vec com, Vec velocity) {
    mf_real *position = lows_of(s->block, MF_ROW_POSITION);
    if (position != NULL)
        keep_vec_all(s, all, position, 0, com);
    if (!short_steps(s->block))
        return;
    mf_real *attitude = lows_of(s->block, MF_ROW_ORIENTATION);
    const Quat q = s->low.attitude;
    keep_vec_all(s, all, lows_of(s->block, MF_ROW_LINEAR), 0, velocity);
    if (attitude != NULL) {
        keep_store_all(s, all, attitude, 0, q.w);
        keep_vec_all(s, all, attitude, 1, MF_VALUE(Vec, q.x, q.y, q.z));
    }
    mf_real *angular = lows_of(s->block, MF_ROW_ANGULAR);
    if (angular != NULL)
        keep_vec_all(s, all, angular, 0, s->low.rate);
}

static MF_INLINE void store_fields(const Step *s, const Body *body, bool all) {
    const mf_PointsBlock *block = s->block;
    Mat rotation = quat_matrix(body->attitude);
    Vec center = vec_load((const mf_real *)block->center, 0);
    Vec swing = mat_apply(&rotation, vec_cross(body->rate, center));
    Vec low_com = s->low.com, low_velocity = s->low.velocity;
    const Vec arm = mat_apply(&rotation, center),
              zero = MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
    const Vec position = vec_sum_shift(vec_sub(zero, arm), body->com, &low_com);
    keep_vec_all(s, all, block->position, 0, vec_sum_plus(zero, position, &low_com));
    Vec velocity = vec_sub(body->velocity, swing);
    if (short_steps(block)) {
        velocity = vec_sum_shift(vec_sub(zero, swing), body->velocity, &low_velocity);
        velocity = vec_sum_plus(zero, velocity, &low_velocity);
    }
    keep_vec_all(s, all, block->linear, 0, velocity);
    store_lows(s, all, low_com, low_velocity);
    keep_vec_all(s, all, block->angular, 0, body->rate);
    keep_store_all(s, all, block->orientation, 0, body->attitude.w);
    keep_store_all(s, all, block->orientation, 1, body->attitude.x);
    keep_store_all(s, all, block->orientation, 2, body->attitude.y);
    keep_store_all(s, all, block->orientation, 3, body->attitude.z);
    mf_lane stiffness = constant_at(s->constant, MF_PLAN_STIFFNESS);
    const Contacts *contacts = &s->contacts;
    const Contact *const end = contacts->row + contacts->count;
    for (const Contact *row = contacts->row; row < end; row++) {
        keep_store_all(s, all, block->load, row->index, row->press * stiffness);
        store_anchor(s, body, &rotation, row);
    }
}

static __attribute__((noinline)) void store_alive(const Step *s, const Body *body) {
    store_fields(s, body, false);
}

// A residual that affects the motion is a warning.
static __attribute__((noinline)) void store_residual(const Step *s) {
    Warnings warnings = {.any = false};
    warnings_raise(&warnings, mf_less(mf_set((mf_real)MF_POINTS_RESIDUAL), s->residual),
                   MF_WARNING_SOLVER, s->residual);
    warnings_store(&warnings, &s->block->warnings, s->alive);
    if (s->block->residual != NULL)
        keep_store(s, s->block->residual, 0, s->residual);
}

// `constant`: those of the first lane to step.
static MF_INLINE void points_step(const mf_PointsBlock *block, const mf_real *constant) {
    Step s;
    s.block = block;
    s.plan = block->plan;
    s.links = mf_points_plan_links(block->plan);
    s.constant = constant;
    s.alive = alive_lanes(block);
    if (!mf_any(s.alive))
        return;
    s.heights = MF_PLAN_HEIGHTS(block->terrain);
    s.all_alive = mf_all(s.alive);
    s.residual = mf_zero();
    carve_contacts(&s, block->scratch);
    if (block->joints_due || block->only_refresh || s.plan->coupled)
        carve_rest(&s);
    Mat rotation;
    s.low = load_lows(block);
    Body body = load_body(block, &rotation, &s.low);
    Saved saved;
    if (block->only_refresh) {
        reshape_body(&s, &body, MF_VALUE(Vec, rotation.zx, rotation.zy, rotation.zz));
        return;
    }
    if (block->joints_due) {
        update_joints(&s, &body);
        rotation = quat_matrix(body.attitude);
    }
    apply_wrench(&s, &body, &rotation);
    if (block->joints_due) {
        saved.body = body;
        saved.low = s.low;
    }
    mf_lane was_z = body.com.z, energy = kinetic_energy(&s, &body);
    fly(&s, &body);
    hit_ground(&s, &body, &saved, &rotation, was_z, energy);
    check_state(&s, &body);
    if (s.all_alive)
        store_fields(&s, &body, true);
    else
        store_alive(&s, &body);
    if (s.plan->coupled || mf_any(mf_less(mf_zero(), s.residual)))
        store_residual(&s);
}
