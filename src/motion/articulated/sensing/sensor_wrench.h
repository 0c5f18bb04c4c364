// External forces on a robot's links, for its force and torque sensors: of contacts, equality
// constraints, spatial tendons (tendon_path.h) and programs. Summed over zones, what a body with a
// sensor carries; forces between two parts of a zone cancel. As MuJoCo 4.0, sensors do not count
// what actuators on sites, the medium and compensation of gravity push with. All values are those
// at the end of the step, and nothing is computed without such sensors.
#pragma once

#include "contact/ray.h"
#include "motion/articulated/tree/aba_velocity.h"

// Whether sensors of force, torque or touch want to know.
static inline bool sensors_feel(const mf_ArtPlan *plan) {
    return plan->zone_count > 0 || plan->touch_count > 0;
}

static inline void sensor_wrench_start(const mf_ArtPlan *plan, Work *work) {
    const mf_ArtZone *zones = mf_art_zones(plan);
    for (uint32_t i = 0; i < plan->touch_count; i++)
        work->touches[i] = mf_zero();
    for (uint32_t z = 0; z < plan->zone_count; z++) {
        const mf_ArtZone *zone = &zones[z];
        Vec at = {mf_set((mf_real)zone->position[0]), mf_set((mf_real)zone->position[1]),
                  mf_set((mf_real)zone->position[2])};
        if (zone->link != MF_ART_WORLD) {
            const Pose *pose = &work->contacts.pose[zone->link + 1];
            at = mat_apply_add(&pose->rotation, at, pose->position);
        }
        work->zones[z] = MF_VALUE(ZoneWrench, at, vec_zero(), vec_zero());
    }
}

// A force at `at` and a torque for these zones (bits), all in the world.
static inline void sensor_wrench_add(uint64_t zones, Vec at, Vec force, Vec torque,
                                     const Work *work) {
    for (uint64_t left = zones; left != 0; left &= left - 1) {
        ZoneWrench *zone = &work->zones[__builtin_ctzll(left)];
        zone->force = vec_add(zone->force, force);
        zone->torque =
            vec_add(zone->torque, vec_cross_add(vec_sub(at, zone->position), force, torque));
    }
}

// The normal force of a contact at `at`, for touch sites from `first` on; `outward` leads away from
// their body. All in the world. As MuJoCo (documentation, XML reference, sensor/touch).
static inline void sensor_touch_add(const mf_ArtPlan *plan, uint32_t first, Vec at, Vec outward,
                                    mf_lane force, const Work *work) {
    const mf_ArtTouchSite *sites = mf_art_touch_sites(plan);
    for (uint32_t i = first; i != 0; i = sites[i - 1].next) {
        const mf_ArtTouchSite *site = &sites[i - 1];
        const double *r = site->rotation;
        const Mat axes = {mf_set((mf_real)r[0]), mf_set((mf_real)r[1]), mf_set((mf_real)r[2]),
                          mf_set((mf_real)r[3]), mf_set((mf_real)r[4]), mf_set((mf_real)r[5]),
                          mf_set((mf_real)r[6]), mf_set((mf_real)r[7]), mf_set((mf_real)r[8])};
        const mf_RaySolid volume = {
            site->type, site->kind, {site->size[0], site->size[1], site->size[2]}, NULL};
        Vec p = at, d = outward;
        if (site->link != MF_ART_WORLD) {
            const Pose *pose = &work->contacts.pose[site->link + 1];
            p = mat_apply_transposed(&pose->rotation, vec_sub(p, pose->position));
            d = mat_apply_transposed(&pose->rotation, d);
        }
        p = vec_sub(p, MF_VALUE(Vec, mf_set((mf_real)site->position[0]),
                                mf_set((mf_real)site->position[1]),
                                mf_set((mf_real)site->position[2])));
        const mf_lane hit =
            ray_shape(&volume, mat_apply_transposed(&axes, p), mat_apply_transposed(&axes, d));
        work->touches[i - 1] =
            work->touches[i - 1] + mf_keep(mf_less(hit, mf_set(RAY_FAR)), mf_max(force, mf_zero()));
    }
}

// Contacts with the ground that are not couplings.
static inline void sensor_wrench_ground(const mf_ArtPlan *plan, const State *state,
                                        const Drive *drive, Work *work) {
    const mf_ArtContact *contacts = mf_art_contacts(plan);
    const uint64_t *contact_zones = mf_art_contact_zones(plan);
    const uint32_t *sites = mf_art_contact_site(plan);
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        const int32_t link = contacts[i].link;
        const bool felt = contact_zones[i] != 0 || plan->ground_zones != 0 || sites[i] != 0 ||
                          plan->ground_site != 0;
        if (!touch->near || !felt)
            continue;
        const Pose *pose = &work->contacts.pose[link + 1];
        Vec rate = link < 0 ? state->rate : work->links[link].rate;
        const Constant *c = contact_constants(plan, i);
        const Carrier carrier = carrier_of(plan, &work->contacts, link, rate);
        Vec gain = vec_cross_add(rate, vec_cross(rate, touch_pivot(plan, i)),
                                 link < 0 ? work->base_linear : work->linear[link]);
        gain = vec_cross_add(link < 0 ? work->base_angular : work->angular[link], touch->arm, gain);
        gain = vec_fma(pose_down(plan, &work->contacts, link), setting(plan, MF_ART_GRAVITY), gain);
        Vec speed = vec_fma(gain, drive->step, touch_velocity(touch, &carrier)), n = touch->normal;
        mf_lane climb = vec_dot(speed, n), slip = touch_slip(c, touch);
        // As the step had it: a contact that couplings pull off holds for one step.
        Vec force = vec_scale(
            n, mf_fma(slip, climb, press_load(touch_press(plan, i, touch, drive->step), climb)));
        force = vec_fma(speed, -slip, force);
        Vec torque = vec_zero();
        if (contacts[i].rotates) {
            Vec angular =
                vec_fma(link < 0 ? work->base_angular : work->angular[link], drive->step, rate);
            const mf_lane roll = touch_roll(c, touch);
            mf_lane about = (roll - touch_torsion(c, touch)) * vec_dot(n, angular);
            torque = vec_fma(n, about, vec_scale(angular, -roll));
        }
        const mf_mask on = touch->presses;
        force = MF_VALUE(Vec, mf_keep(on, force.x), mf_keep(on, force.y), mf_keep(on, force.z));
        torque = MF_VALUE(Vec, mf_keep(on, torque.x), mf_keep(on, torque.y), mf_keep(on, torque.z));
        force = mat_apply(&pose->rotation, force);
        torque = mat_apply(&pose->rotation, torque);
        const Vec at = mat_apply_add(&pose->rotation, touch->arm, pose->position);
        const Vec up = mat_apply(&pose->rotation, n);
        const mf_lane load = vec_dot(up, force);
        sensor_touch_add(plan, sites[i], at, vec_negative(up), load, work);
        sensor_touch_add(plan, plan->ground_site, at, up, load, work);
        sensor_wrench_add(contact_zones[i], at, force, torque, work);
        sensor_wrench_add(plan->ground_zones, at, vec_negative(force), vec_negative(torque), work);
    }
}

// What programs do to the base, and collisions to all links.
static inline void sensor_wrench_given(const mf_ArtPlan *plan, const State *state,
                                       const Drive *drive, const Rates *force, Work *work) {
    const Mat *world = &work->contacts.pose[0].rotation;
    const ExternalWrenches *wrenches = drive->wrenches;
    const uint64_t *link_zones = mf_art_link_zones(plan);
    for (uint32_t l = 0; wrenches != NULL && l <= plan->link_count; l++)
        sensor_wrench_add(link_zones[l], state->position, wrenches->force[l], wrenches->torque[l],
                          work);
    if (plan->fixed)
        return;
    Vec linear = wrenches != NULL ? wrenches->linear : force->linear;
    Vec angular = wrenches != NULL ? wrenches->angular : force->angular;
    sensor_wrench_add(link_zones[0], state->position, linear, mat_apply(world, angular), work);
}
