// Forces of couplings on the zones of force and torque sensors (sensor_wrench.h), from the impulses
// that the solver found.
#pragma once

#include "motion/articulated/contact/contact_rows.h"
#include "motion/articulated/sensing/sensor_wrench.h"

// An impulse along (or, `angular`, about) `axis` for the second zones, and back for the first.
static inline void sensor_wrench_pair(const uint64_t zones[2], Vec at, Vec axis, bool angular,
                                      mf_lane force, Work *work) {
    Vec impulse = vec_scale(axis, force), none = vec_zero();
    Vec back = vec_negative(impulse);
    sensor_wrench_add(zones[0], at, angular ? none : back, angular ? back : none, work);
    sensor_wrench_add(zones[1], at, angular ? none : impulse, angular ? impulse : none, work);
}

// In a stage of Runge-Kutta contacts neither turn nor roll.
static inline void sensor_wrench_contact(const Couple *c, const ContactResult *result,
                                         mf_lane scale, mf_mask lanes, bool is_explicit) {
    const mf_ArtPlan *plan = c->plan;
    const uint32_t rows = result->batch->surface.rows;
    const uint32_t count = is_explicit ? least(rows, 3) : rows;
    const uint64_t *contact_zones = mf_art_contact_zones(plan);
    const uint64_t *shape_zones = mf_art_shape_zones(plan);
    for (uint32_t m = 0; m < result->batch->count; m++) {
        const LinkContact *contact = result->batch->members[m];
        uint64_t zones[2] = {0, 0};
        uint32_t sites[2];
        if (contact->pair == MF_NONE) {
            zones[0] = plan->ground_zones;
            zones[1] = contact_zones[contact->touch];
            sites[0] = plan->ground_site;
            sites[1] = mf_art_contact_site(plan)[contact->touch];
        } else {
            const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(plan), contact->pair);
            zones[0] = shape_zones[pair.a];
            zones[1] = shape_zones[pair.b];
            sites[0] = mf_art_shape_site(plan)[pair.a];
            sites[1] = mf_art_shape_site(plan)[pair.b];
        }
        const mf_lane load =
            mf_keep(mf_and(contact->exists, lanes), c->rows[result->first].impulse * scale);
        sensor_touch_add(plan, sites[0], contact->point, contact->normal, load, c->work);
        sensor_touch_add(plan, sites[1], contact->point, vec_negative(contact->normal), load,
                         c->work);
        Vec axes[3] = {contact->normal};
        across(contact->normal, axes + 1);
        for (uint32_t k = 0; k < count; k++) {
            mf_lane force = c->rows[result->first + k].impulse * scale;
            sensor_wrench_pair(zones, contact->point, axes[k % 3], k >= 3,
                               mf_keep(mf_and(contact->exists, lanes), force), c->work);
        }
    }
}

// The points of both frames are one; those of equations of joints push within the tree.
static inline void sensor_wrench_loops(const Couple *c, uint32_t first, mf_lane scale,
                                       mf_mask lanes) {
    const mf_ArtPlan *plan = c->plan;
    const mf_ArtLoop *loops = mf_art_loops(plan);
    for (uint32_t i = 0; i < plan->loop_count; first += loops[i++].rows) {
        const mf_ArtLoop *loop = &loops[i];
        const int32_t links[2] = {loop->links[1], loop->links[0]};
        const uint64_t *sides = mf_art_loop_zones(plan) + 2 * (size_t)i,
                       zones[2] = {sides[1], sides[0]};
        if (loop->rows == 1)
            continue;
        Vec at = {mf_set((mf_real)loop->arms[1][0]), mf_set((mf_real)loop->arms[1][1]),
                  mf_set((mf_real)loop->arms[1][2])};
        if (links[0] != MF_ART_WORLD) {
            const Pose *pose = &c->work->contacts.pose[links[0] + 1];
            at = mat_apply_add(&pose->rotation, at, pose->position);
        }
        for (uint32_t k = 0; k < loop->rows; k++) {
            Vec axis = vec_zero();
            mf_lane *const parts[3] = {&axis.x, &axis.y, &axis.z};
            *parts[k % 3] = mf_set((mf_real)1);
            sensor_wrench_pair(zones, at, axis, k >= 3,
                               mf_keep(lanes, c->rows[first + k].impulse * scale), c->work);
        }
    }
}
