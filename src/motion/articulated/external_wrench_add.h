// Wrenches of collisions on single links, as forces of the coordinates that move them (J^T f): each
// joint gets those on all links that it carries, along or about its axis, and the base all of them.
// Computed only if some lane has a wrench, and added only in lanes that have one.
#ifndef MF_MOTION_ARTICULATED_EXTERNAL_WRENCH_ADD_H
#define MF_MOTION_ARTICULATED_EXTERNAL_WRENCH_ADD_H

#include "motion/articulated/linkage.h"
#include "motion/articulated/external_wrench.h"

typedef struct WrenchFrame {
    Mat rotation; // own axes to the world's
    Vec position; // [m] from the origin of the base, world axes
    Vec force, torque;
} WrenchFrame;

static inline void external_wrenches_load(const mf_ArtPlan *plan, mf_mask loaded,
                                          const mf_real *rows, ExternalWrenches *wrenches) {
    for (uint32_t l = 0; l <= plan->link_count; l++)
        wrenches->force[l] = wrenches->torque[l] = vec_zero();
    const mf_ArtFrame *frames = mf_art_frames(plan);
    for (uint32_t l = 0; l < plan->wrench_links; l++) {
        const uint32_t to = (uint32_t)(frames[l].link + 1);
        wrenches->force[to] = vec_add(wrenches->force[to], vec_load(rows, 6 * (size_t)l));
        wrenches->torque[to] = vec_add(wrenches->torque[to], vec_load(rows, 6 * (size_t)l + 3));
    }
    for (uint32_t l = 0; l <= plan->link_count; l++) {
        wrenches->force[l] = vec_select(loaded, wrenches->force[l], vec_zero());
        wrenches->torque[l] = vec_select(loaded, wrenches->torque[l], vec_zero());
    }
}

static MF_INLINE mf_lane wrench_sum(mf_mask loaded, mf_lane a, mf_lane b) {
    return mf_select(loaded, a + b, a);
}

static MF_INLINE Vec wrench_sum_vec(mf_mask loaded, Vec a, Vec b) {
    return vec_select(loaded, vec_add(a, b), a);
}

// `frames` is space for one per plan link and the base.
static __attribute__((noinline)) void
external_wrenches_add(const mf_ArtPlan *plan, const State *state, mf_mask loaded,
                      WrenchFrame *frames, ExternalWrenches *wrenches, Rates *force) {
    frames[0] = MF_VALUE(WrenchFrame, quat_matrix(state->attitude), vec_zero(), wrenches->force[0],
                         wrenches->torque[0]);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const WrenchFrame *parent = &frames[links[l].parent + 1];
        const Frame local = link_frame(plan, state, l);
        frames[l + 1] = MF_VALUE(WrenchFrame, mat_multiply(&parent->rotation, &local.rotation),
                                 mat_apply_add(&parent->rotation, local.position, parent->position),
                                 wrenches->force[l + 1], wrenches->torque[l + 1]);
    }
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const mf_ArtLink *link = &links[l];
        const WrenchFrame *own = &frames[l + 1];
        WrenchFrame *parent = &frames[link->parent + 1];
        const Vec axis = {own->rotation.xz, own->rotation.yz, own->rotation.zz};
        Vec about = vec_sub(own->torque, vec_cross(own->position, own->force));
        if (link->kind == MF_ART_BALL)
            force->ball[link->row] = wrench_sum_vec(loaded, force->ball[link->row],
                                                    mat_apply_transposed(&own->rotation, about));
        else
            force->joint[l] =
                wrench_sum(loaded, force->joint[l],
                           vec_dot(axis, link->kind == MF_ART_HINGE ? about : own->force));
        parent->force = vec_add(parent->force, own->force);
        parent->torque = vec_add(parent->torque, own->torque);
    }
    wrenches->linear = force->linear;
    wrenches->angular = force->angular;
    force->linear = wrench_sum_vec(loaded, force->linear, frames[0].force);
    force->angular = wrench_sum_vec(loaded, force->angular,
                                    mat_apply_transposed(&frames[0].rotation, frames[0].torque));
}

#endif
