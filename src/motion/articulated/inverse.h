// Recursive Newton-Euler: forces for given accelerations (Luh, Walker and Paul 1980; Featherstone
// 2008, table 5.1), and poses. In axes of the links, with accelerations of their origins.
#ifndef MF_MOTION_ARTICULATED_INVERSE_H
#define MF_MOTION_ARTICULATED_INVERSE_H

#include "motion/articulated/linkage.h"

typedef struct Moving {
    Frame frame;
    Vec rate, spin; // [rad/s], [rad/s^2]
    Vec push;       // [m/s^2] acceleration of the origin, gravity taken away
    Vec force;      // [N] that the parent exerts
    Vec torque;     // [N m] about the origin
} Moving;

static inline void need_force(Moving *body, const mf_real *c) {
    Vec moment = vec_constant(c + MF_ART_MOMENT);
    Sym inertia = sym_constant(c + MF_ART_INERTIA);
    Vec along = vec_cross_add(body->spin, moment, vec_scale(body->push, mf_set(c[MF_ART_MASS])));
    body->force = vec_cross_add(body->rate, vec_cross(body->rate, moment), along);
    Vec turning = vec_cross_add(moment, body->push, sym_apply(&inertia, body->spin));
    body->torque = vec_cross_add(body->rate, sym_apply(&inertia, body->rate), turning);
}

static inline void move_link(const mf_ArtPlan *plan, const State *state, const Rates *wanted,
                             uint32_t l, Moving *body, const Moving *parent) {
    const mf_ArtLink *link = &plan->links[l];
    const mf_lane zero = mf_zero();
    body->frame = link_frame(plan, state, l);
    const Mat *turn = &body->frame.turn;
    Vec way = body->frame.place;
    Vec push = vec_cross_add(parent->spin, way, parent->push);
    push = vec_cross_add(parent->rate, vec_cross(parent->rate, way), push);
    body->push = mat_apply_transposed(turn, push);
    body->rate = mat_apply_transposed(turn, parent->rate);
    body->spin = mat_apply_transposed(turn, parent->spin);
    Vec rate = {zero, zero, zero}, spin = rate;
    if (link->kind == MF_ART_BALL) {
        rate = state->ball_rate[link->row];
        spin = wanted->ball[link->row];
    } else {
        rate.z = state->speed[l];
        spin.z = wanted->joint[l];
    }
    Vec turned = vec_cross(body->rate, rate);
    if (link->kind == MF_ART_SLIDE) {
        body->push = vec_add(body->push, vec_add(spin, vec_add(turned, turned)));
    } else {
        body->spin = vec_add(body->spin, vec_add(spin, turned));
        body->rate = vec_add(body->rate, rate);
    }
    need_force(body, link_constants(plan, l));
}

// Forces that make the accelerations `wanted`, in the presence of gravity. `bodies` is room for one
// per plan link.
static inline void inverse_dynamics(const mf_ArtPlan *plan, const State *state, const Rates *wanted,
                                    Moving *bodies, Rates *force) {
    Moving base;
    const mf_real *root = base_constants(plan);
    Mat world = quat_matrix(state->attitude);
    Vec push = plan->fixed ? vec_zero() : wanted->linear;
    push = vec_fma(up_in_world(plan), setting(plan, MF_ART_GRAVITY), push);
    base.push = mat_apply_transposed(&world, push);
    base.spin = plan->fixed ? vec_zero() : wanted->angular;
    base.rate = plan->fixed ? vec_zero() : state->rate;
    need_force(&base, root);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        int32_t parent = plan->links[l].parent;
        move_link(plan, state, wanted, l, &bodies[l], parent < 0 ? &base : &bodies[parent]);
    }
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const mf_ArtLink *link = &plan->links[l];
        const Moving *body = &bodies[l];
        Moving *parent = link->parent < 0 ? &base : &bodies[link->parent];
        mf_lane armature = mf_set(link_constants(plan, l)[MF_ART_ARMATURE]);
        if (link->kind == MF_ART_BALL)
            force->ball[link->row] = vec_fma(wanted->ball[link->row], armature, body->torque);
        else
            force->joint[l] = mf_fma(armature, wanted->joint[l],
                                     link->kind == MF_ART_SLIDE ? body->force.z : body->torque.z);
        Vec pull = mat_apply(&body->frame.turn, body->force);
        parent->force = vec_add(parent->force, pull);
        parent->torque =
            vec_cross_add(body->frame.place, pull,
                          mat_apply_add(&body->frame.turn, body->torque, parent->torque));
    }
    mf_lane armature = mf_set(root[MF_ART_ARMATURE]);
    force->linear = vec_fma(wanted->linear, armature, mat_apply(&world, base.force));
    force->angular = vec_fma(wanted->angular, armature, base.torque);
}

#endif
