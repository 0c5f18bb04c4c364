// Contacts between links, and hard ones with the ground, as the broad and narrow phases of
// src/contact find them: once a step.
#ifndef MF_MOTION_ARTICULATED_MEETING_H
#define MF_MOTION_ARTICULATED_MEETING_H

#include "contact/narrow.h"
#include "motion/articulated/contact.h"

enum { MEETING_MOST = 512 }; // found at a time, all lanes together

typedef struct Meeting {
    uint32_t pair;  // [1] of the plan's; MF_NONE: with the ground
    uint32_t touch; // [1] which contact with the ground
    mf_mask exists;
    Vec point, normal; // [m], [1] world; from the first shape to the second
    mf_lane depth;     // [m]
} Meeting;

typedef struct Meetings {
    bool found, overflow; // `found`: the list is that of this state
    uint32_t count;       // [1]
    Meeting list[MEETING_MOST];
} Meetings;

// Plan links of a pair's shapes.
static MF_INLINE int32_t meeting_link(const mf_ArtPlan *plan, uint32_t shape) {
    uint32_t frame = plan->collide->shapes[shape].frame;
    return frame == MF_NONE ? MF_ART_WORLD : (int32_t)frame - 1;
}

static inline void meetings_push(Meetings *all, const Meeting *meeting, mf_mask lanes) {
    mf_mask exists = mf_and(meeting->exists, lanes);
    if (!mf_any(exists))
        return;
    if (all->count == MEETING_MOST) {
        all->overflow = true;
        return;
    }
    all->list[all->count] = *meeting;
    all->list[all->count++].exists = exists;
}

// What touches in `lanes`; contacts of a lane beyond the room are left out, with `overflow` set.
static inline void meetings_find(const mf_ArtPlan *plan, const Contacts *contacts, mf_mask lanes,
                                 Meetings *all) {
    all->found = true;
    all->overflow = false;
    all->count = 0;
    const mf_lane zero = mf_zero();
    for (uint32_t i = 0; plan->config.hard && i < plan->contact_count; i++) {
        const Touch *touch = &contacts->touch[i];
        if (!touch->near)
            continue;
        const Pose *pose = &contacts->pose[plan->contacts[i].link + 1];
        Meeting meeting = {.pair = MF_NONE,
                           .touch = i,
                           .exists = touch->may,
                           .point = mat_apply_add(&pose->turn, touch->arm, pose->place),
                           .normal = mat_apply(&pose->turn, touch->normal),
                           .depth = touch->depth};
        meetings_push(all, &meeting, lanes);
    }
    if (plan->collide == NULL)
        return;
    const Frames frames = {(const mf_lane *)&contacts->pose[0], sizeof(Pose) / sizeof(mf_lane)};
    mf_lane spheres[4 * MF_ARTICULATED_MAX_SPHERES];
    uint32_t near[MF_ARTICULATED_MAX_PAIRS];
    uint32_t count = MF_KERNEL(mf_collide_near)(plan->collide, &frames, 0, spheres, near);
    for (uint32_t n = 0; n < count; n++) {
        Manifold manifold;
        if (!plan->meets[near[n]])
            continue;
        MF_KERNEL(mf_collide_pair)(plan->collide, near[n], &frames, 0, &manifold);
        for (uint32_t k = 0; k < manifold.count; k++) {
            const ShapeContact *contact = &manifold.contact[k];
            Meeting meeting = {.pair = near[n],
                               .exists = mf_and(contact->exists, mf_less(zero, contact->depth)),
                               .point = contact->point,
                               .normal = contact->normal,
                               .depth = contact->depth};
            meetings_push(all, &meeting, lanes);
        }
    }
}

#endif
