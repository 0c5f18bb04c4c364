// How the base turns against its own joints in the air: with total angular momentum of the internal
// motion zero, I w + sum_k m_k (r_k - c) x v_k = 0, where v_k is the velocity of point k relative
// to the base. Integrated over one joint update with the geometry of its middle.
#ifndef MF_MOTION_POINTS_REACTION_H
#define MF_MOTION_POINTS_REACTION_H

#include "motion/points/kinematics.h"

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

#endif
