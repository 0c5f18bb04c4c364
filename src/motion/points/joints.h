// The joint update: joints advance, points move, the center of mass stays; the body is lifted out
// of the ground and carried by its feet without gaining velocity.
#ifndef MF_MOTION_POINTS_JOINTS_H
#define MF_MOTION_POINTS_JOINTS_H

#include "motion/points/solve.h"
#include "motion/points/kinematics.h"

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
        mf_real mass;
        Vec p = point_constant(plan, constant, i, &mass);
        Vec arm = mat_apply(&frame->rotation, p);
        p = vec_add(frame->position, arm);
        Vec moved =
            vec_scale(vec_add(drift->move, vec_cross(drift->rotation_vector, arm)), mf_set(mass));
        swing->impulse = vec_add(swing->impulse, moved);
        swing->momentum = vec_add(swing->momentum, vec_cross(p, moved));
        kinematics_mass(&swing->shape, p, mf_set(mass));
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
        const mf_real *c = constant + plan->link_offset + (size_t)l * MF_PLAN_LINK_VALUES;
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
    mf_lane low = mf_set(c[MF_PLAN_LINK_LOWER]), high = mf_set(c[MF_PLAN_LINK_UPPER]);
    if (link->mimic >= 0) {
        mf_lane leader = row_load((const mf_real *)s->block->angle, s->links[link->mimic].joint);
        return mf_fma(leader, mf_set(c[MF_PLAN_LINK_MULTIPLIER]), mf_set(c[MF_PLAN_LINK_OFFSET]));
    }
    mf_lane target = row_load((const mf_real *)s->block->target, link->joint);
    mf_lane reach = mf_set(c[MF_PLAN_LINK_REACH]);
    mf_lane change = mf_clamp(target - now, mf_zero() - reach, reach);
    return mf_clamp(now + change, low, high);
}

// Advances the joints; `from` gets the angles before (rows of MF_BLOCK). True where one moved.
static mf_mask move_joints(Step *s, mf_real *from) {
    mf_lane per_second = mf_set(s->constant[MF_PLAN_INVERSE_INTERVAL]);
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
    for (uint32_t i = 0; i < 2 * s->plan->link_count; i++) {
        uint32_t l = i < s->plan->link_count ? i : i - s->plan->link_count;
        const mf_PlanLink *link = &s->links[l];
        if (link->kind == MF_PLAN_FIXED || (link->mimic >= 0) != (i >= s->plan->link_count))
            continue;
        const mf_real *c = s->constant + s->plan->link_offset + (size_t)l * MF_PLAN_LINK_VALUES;
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
// stay what they were.
static void reshape_body(Step *s, Body *body) {
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
        s->climb[i] = mf_abs(moved.x) + mf_abs(moved.y) + mf_abs(moved.z);
        s->kinematics.contact[i] = position;
    }
}

static void find_joint_contacts(Step *s, const Body *body, const Mat *rotation) {
    mf_lane highest = mf_set(s->constant[MF_PLAN_HIGHEST] + s->constant[MF_PLAN_MARGIN]);
    const mf_lane zero = mf_zero();
    const Vec down = {rotation->zx, rotation->zy, rotation->zz};
    const size_t points = s->plan->contact_count;
    ContactSums sums = {zero, zero, zero};
    mf_mask any = mf_not(mf_mask_all());
    Contact *row = s->contacts.row;
    for (size_t i = 0; i < points; i++) {
        Vec local = s->kinematics.contact[i],
            old = vec_load((const mf_real *)s->block->points, 3 * i);
        keep_vec(s, s->block->points, 3 * i, local);
        mf_lane z = vec_dot(down, local), before = load_before(s, i);
        mf_mask near = mf_or(mf_less(body->com.z + z, highest), mf_less(zero, before));
        if (!mf_any(near))
            continue;
        any = mf_or(any, near);
        Vec arm = mat_apply(rotation, local), position = vec_add(body->com, arm);
        mf_lane ground =
            ground_at(s->plan, s->heights, s->constant, position.x, position.y, &row->normal);
        // Feet stay pressed as far as their load pressed them. A point is lifted at most as far as
        // its joints moved it: still joints do no work, however deep it is in the ground.
        mf_lane was = vec_dot_add(down, old, body->com.z);
        mf_lane top = mf_min(ground, was + before + s->climb[i]);
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
    mf_lane margin = mf_set(s->constant[MF_PLAN_MARGIN]), zero = mf_zero();
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
            Vec constant = s->contacts.row[i].slip;
            position = vec_sub(position, vec_select(mf_less(zero, s->contacts.row[i].before),
                                                    constant, MF_VALUE(Vec, zero, zero, zero)));
        }
        keep_vec_where(s, mf_less(zero, s->contacts.row[i].before), s->block->anchor, 3 * contact,
                       position);
    }
}

// In coupled friction the slip of a joint update is what the joints moved, not the stretch that
// already holds the robot up; that stretch is put aside in `slip` and kept.
static void rebase_anchors(Step *s, const Body *body, const Mat *rotation,
                           const Vec *old_position) {
    for (size_t i = 0; i < s->contacts.count; i++) {
        size_t contact = s->contacts.row[i].index;
        Vec was = mat_apply_add(rotation, old_position[i], body->com);
        Vec anchor = vec_load((const mf_real *)s->block->anchor, 3 * contact);
        s->contacts.row[i].slip = vec_sub(was, anchor);
        keep_vec_where(s, mf_less(mf_zero(), s->contacts.row[i].before), s->block->anchor,
                       3 * contact, was);
    }
}

// The body after its joints went on from `from`.
static void carry_body(Step *s, Body *body, const mf_real *from) {
    Vec *stretch = s->stretch;
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
    bool coupled = s->plan->coupled;
    if (coupled)
        for (size_t i = 0; i < s->plan->contact_count; i++)
            stretch[i] = vec_load((const mf_real *)s->block->points, 3 * i);
    reshape_body(s, body);
    Mat rotation = quat_matrix(body->attitude);
    find_joint_contacts(s, body, &rotation);
    if (s->contacts.count == 0)
        return;
    if (coupled) {
        for (size_t i = 0; i < s->contacts.count; i++)
            stretch[i] = stretch[s->contacts.row[i].index];
        rebase_anchors(s, body, &rotation, stretch);
        for (size_t i = 0; i < s->contacts.count; i++)
            stretch[i] = s->contacts.row[i].slip;
    }
    Shift shift = solve(s, body, &rotation, true);
    apply_shift(s, body, &shift);
    if (coupled)
        for (size_t i = 0; i < s->contacts.count; i++)
            s->contacts.row[i].slip = stretch[i];
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
    s->alive = mf_and(alive, moved);
    s->all_alive = mf_all(s->alive);
    carry_body(s, body, from);
    s->alive = mf_and(alive, mf_or(s->alive, mf_not(moved)));
    s->all_alive = mf_all(s->alive);
    if (mf_all(moved))
        return;
    body->com = vec_select(moved, body->com, before.com);
    s->low.com = vec_select(moved, s->low.com, low);
    body->attitude = quat_select(moved, body->attitude, before.attitude);
    body->rate = vec_select(moved, body->rate, before.rate);
}

#endif
