// Wrenches of collisions on single links, as forces of the coordinates that move them (J^T f): each
// joint gets those on all links that it carries, along or about its axis, and the base all of them.
// Computed only if some lane has a wrench, and added only in lanes that have one.
#ifndef MF_MOTION_ARTICULATED_PUSH_ADD_H
#define MF_MOTION_ARTICULATED_PUSH_ADD_H

#include "motion/articulated/linkage.h"
#include "motion/articulated/push.h"

typedef struct PushFrame {
    Mat turn;  // own axes to the world's
    Vec place; // [m] from the origin of the base, world axes
    Vec force, torque;
} PushFrame;

static inline void pushes_load(const mf_ArtPlan *plan, mf_mask pushed, const mf_real *rows,
                               Pushes *pushes) {
    for (uint32_t l = 0; l <= plan->link_count; l++)
        pushes->force[l] = pushes->torque[l] = vec_zero();
    for (uint32_t l = 0; l < plan->push_links; l++) {
        const uint32_t to = (uint32_t)(plan->places[l].link + 1);
        pushes->force[to] = vec_add(pushes->force[to], vec_load(rows, 6 * (size_t)l));
        pushes->torque[to] = vec_add(pushes->torque[to], vec_load(rows, 6 * (size_t)l + 3));
    }
    for (uint32_t l = 0; l <= plan->link_count; l++) {
        pushes->force[l] = vec_select(pushed, pushes->force[l], vec_zero());
        pushes->torque[l] = vec_select(pushed, pushes->torque[l], vec_zero());
    }
}

static MF_INLINE mf_lane push_sum(mf_mask pushed, mf_lane a, mf_lane b) {
    return mf_select(pushed, a + b, a);
}

static MF_INLINE Vec push_sum_vec(mf_mask pushed, Vec a, Vec b) {
    return vec_select(pushed, vec_add(a, b), a);
}

// `frames` is room for one per plan link and the base.
static __attribute__((noinline)) void pushes_add(const mf_ArtPlan *plan, const State *state,
                                                 mf_mask pushed, PushFrame *frames, Pushes *pushes,
                                                 Rates *force) {
    frames[0] = MF_VALUE(PushFrame, quat_matrix(state->attitude), vec_zero(), pushes->force[0],
                         pushes->torque[0]);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const PushFrame *parent = &frames[plan->links[l].parent + 1];
        const Frame local = link_frame(plan, state, l);
        frames[l + 1] = MF_VALUE(PushFrame, mat_multiply(&parent->turn, &local.turn),
                                 mat_apply_add(&parent->turn, local.place, parent->place),
                                 pushes->force[l + 1], pushes->torque[l + 1]);
    }
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const mf_ArtLink *link = &plan->links[l];
        const PushFrame *own = &frames[l + 1];
        PushFrame *parent = &frames[link->parent + 1];
        const Vec axis = {own->turn.xz, own->turn.yz, own->turn.zz};
        Vec about = vec_sub(own->torque, vec_cross(own->place, own->force));
        if (link->kind == MF_ART_BALL)
            force->ball[link->row] = push_sum_vec(pushed, force->ball[link->row],
                                                  mat_apply_transposed(&own->turn, about));
        else
            force->joint[l] =
                push_sum(pushed, force->joint[l],
                         vec_dot(axis, link->kind == MF_ART_HINGE ? about : own->force));
        parent->force = vec_add(parent->force, own->force);
        parent->torque = vec_add(parent->torque, own->torque);
    }
    pushes->linear = force->linear;
    pushes->angular = force->angular;
    force->linear = push_sum_vec(pushed, force->linear, frames[0].force);
    force->angular = push_sum_vec(pushed, force->angular,
                                  mat_apply_transposed(&frames[0].turn, frames[0].torque));
}

#endif
