// Adhesion: actuators that pull what touches a body to it. The force is shared by all contacts of
// the body in equal parts and acts along their normals, on both sides (MuJoCo's documentation,
// "XML reference", actuator/adhesion). It is a force of the beginning of the step, like those of
// other actuators; contacts within their margin are pulled together before they touch.
#pragma once

#include "motion/articulated/constraint/tendon_path.h"

// ---- actuate site -------------------------------------------------------------------------------

// Actuators on sites: they push a link with a force and a torque that are fixed in its axes or,
// with a reference site, in the axes of that one, which then gets the reaction.
//
// Method: MuJoCo's transmissions. Without a reference the length is 0. With one it is the gear
// times the position of the site in the axes of the reference, and times the rotation vector
// between them. The reaction acts at the reference site, and what the distance makes of the two
// forces is taken up by the last link that carries both sites: joints that carry both feel nothing.
// So the rate is gear times the velocity of the site as seen from that link, less that of the
// reference.

typedef struct SiteView { // a site in the world
    Mat rotation;
    Vec position; // [m]
    Vec velocity; // [m/s]
    Vec rate;     // [rad/s]
} SiteView;

static inline Vec rate_in_world(const mf_ArtPlan *plan, const State *state, const Work *work,
                                int32_t link) {
    if (is_still(plan, link))
        return vec_zero();
    return mat_apply(&work->contacts.pose[link + 1].rotation,
                     link < 0 ? state->rate : work->links[link].rate);
}

static inline SiteView line_of_sight(const mf_ArtPlan *plan, const State *state, const Work *work,
                                     const mf_ArtActuator *actuator, int side) {
    const int32_t link = actuator->links[side];
    const double *a = actuator->arms[side], *t = actuator->rotations[side];
    const Vec arm = {mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2])};
    const Mat own = {mf_set((mf_real)t[0]), mf_set((mf_real)t[1]), mf_set((mf_real)t[2]),
                     mf_set((mf_real)t[3]), mf_set((mf_real)t[4]), mf_set((mf_real)t[5]),
                     mf_set((mf_real)t[6]), mf_set((mf_real)t[7]), mf_set((mf_real)t[8])};
    if (link == MF_ART_WORLD)
        return MF_VALUE(SiteView, own, arm, vec_zero(), vec_zero());
    const Pose *pose = &work->contacts.pose[link + 1];
    Vec reach = mat_apply(&pose->rotation, arm), rate = rate_in_world(plan, state, work, link);
    return MF_VALUE(SiteView, mat_multiply(&pose->rotation, &own), vec_add(pose->position, reach),
                    vec_cross_add(rate, reach, pose->speed), rate);
}

// the rotation vector from axes `b` to axes `a`, in b's, of at most half a revolution (Shepperd
// 1978: the largest of the four numbers of the quaternion decides).
static inline Vec rotation_between(const Mat *a, const Mat *b) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), two = one + one;
    const Vec x = mat_apply_transposed(b, MF_VALUE(Vec, a->xx, a->yx, a->zx)),
              y = mat_apply_transposed(b, MF_VALUE(Vec, a->xy, a->yy, a->zy)),
              z = mat_apply_transposed(b, MF_VALUE(Vec, a->xz, a->yz, a->zz));
    const Quat tries[4] = {
        {one + x.x + y.y + z.z, y.z - z.y, z.x - x.z, x.y - y.x},
        {y.z - z.y, one + x.x - y.y - z.z, x.y + y.x, x.z + z.x},
        {z.x - x.z, x.y + y.x, one - x.x + y.y - z.z, y.z + z.y},
        {x.y - y.x, x.z + z.x, y.z + z.y, one - x.x - y.y + z.z},
    };
    const mf_lane sizes[4] = {tries[0].w, tries[1].x, tries[2].y, tries[3].z};
    Quat q = tries[0];
    mf_lane most = sizes[0];
    for (int i = 1; i < 4; i++) {
        mf_mask larger = mf_less(most, sizes[i]);
        most = mf_select(larger, sizes[i], most);
        q = MF_VALUE(Quat, mf_select(larger, tries[i].w, q.w), mf_select(larger, tries[i].x, q.x),
                     mf_select(larger, tries[i].y, q.y), mf_select(larger, tries[i].z, q.z));
    }
    mf_lane sign = mf_select(mf_less(q.w, zero), -one, one);
    Vec half = vec_scale(MF_VALUE(Vec, q.x, q.y, q.z), sign);
    mf_lane sine = mf_sqrt(vec_dot(half, half)), tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    return vec_scale(half, two * mf_atan2_lane(sine, q.w * sign) / mf_max(sine, tiny));
}

// Force and torque about `at`, all in the world, on a link.
static inline void force_from_world(const mf_ArtPlan *plan, int32_t link, Vec at, Vec force,
                                    Vec torque, Work *work) {
    if (is_still(plan, link))
        return;
    const Pose *pose = &work->contacts.pose[link + 1];
    Wrench *wrench = &work->actuation.wrench[link + 1];
    torque = vec_cross_add(vec_sub(at, pose->position), force, torque);
    wrench->force = vec_add(wrench->force, mat_apply_transposed(&pose->rotation, force));
    wrench->torque = vec_add(wrench->torque, mat_apply_transposed(&pose->rotation, torque));
}

static inline void force_between(const mf_ArtPlan *plan, const State *state,
                                 const mf_ArtActuator *actuator, const Constant *c, mf_lane input,
                                 uint32_t i, Work *work) {
    const double *g = actuator->gear;
    const Vec gear = {mf_set((mf_real)g[0]), mf_set((mf_real)g[1]), mf_set((mf_real)g[2])},
              moment = {mf_set((mf_real)g[3]), mf_set((mf_real)g[4]), mf_set((mf_real)g[5])};
    const SiteView site = line_of_sight(plan, state, work, actuator, 0),
                   from = line_of_sight(plan, state, work, actuator, 1);
    const Vec offset = vec_sub(site.position, from.position),
              pull = mat_apply(&from.rotation, gear),
              torque_axis = mat_apply(&from.rotation, moment),
              shared = rate_in_world(plan, state, work, actuator->common);
    mf_lane length = vec_dot_add(offset, pull,
                                 vec_dot(moment, rotation_between(&site.rotation, &from.rotation)));
    Vec seen = vec_sub(vec_sub(site.velocity, from.velocity), vec_cross(shared, offset));
    mf_lane rate = vec_dot_add(seen, pull, vec_dot(torque_axis, vec_sub(site.rate, from.rate)));
    input = actuator_nearest(actuator, input, length);
    const mf_lane size =
        actuator_line(c, mf_zero(), input, length, rate, mf_zero(), mf_zero()).torque;
    const Vec force = vec_scale(pull, size), torque = vec_scale(torque_axis, size);
    work->actuation.force[i] = size;
    force_from_world(plan, actuator->links[0], site.position, force, torque, work);
    force_from_world(plan, actuator->links[1], from.position, vec_negative(force),
                     vec_negative(torque), work);
    force_from_world(plan, actuator->common, from.position, vec_zero(),
                     vec_negative(vec_cross(offset, force)), work);
}

static inline void load_site(const mf_ArtPlan *plan, const State *state,
                             const mf_ArtActuator *actuator, const Constant *c, mf_lane input,
                             mf_lane step, uint32_t i, Work *work) {
    const int32_t link = actuator->links[0];
    const Vec force = vec_constant(c + MF_ART_WRENCH), torque = vec_constant(c + MF_ART_WRENCH + 3);
    mf_lane rate = mf_zero();
    if (actuator->rated && !is_still(plan, link)) {
        const Pose *pose = &work->contacts.pose[link + 1];
        rate = vec_dot_add(force, mat_apply_transposed(&pose->rotation, pose->speed),
                           vec_dot(torque, link < 0 ? state->rate : work->links[link].rate));
    }
    Line line = actuator_line(c, mf_zero(), input, mf_zero(), rate, step, step);
    Wrench *wrench = &work->actuation.wrench[link + 1];
    work->actuation.force[i] = line.torque;
    work->actuation.slope[i] = line.slope;
    wrench->force = vec_fma(force, line.torque, wrench->force);
    wrench->torque = vec_fma(torque, line.torque, wrench->torque);
}

// On a spatial tendon: all its links are pulled.
static inline void actuate_tendon(const mf_ArtPlan *plan, const State *state,
                                  const mf_ArtActuator *actuator, const Constant *c, mf_lane input,
                                  uint32_t i, Work *work) {
    TendonPath path;
    const mf_lane gear = mf_set((mf_real)actuator->gear[0]);
    tendon_path(plan, state, work, actuator->path, &path);
    const mf_lane force = actuator_pull(actuator, c, input, gear * path.length, gear * path.speed,
                                        mf_zero(), i, &work->actuation)
                              .torque;
    work->actuation.force[i] = force;
    tendon_force(plan, &path, gear * force, work->actuation.wrench);
}

// Forces of all actuators. Poses and rates of the links must be there.
static inline void actuate_all(const mf_ArtPlan *plan, const State *state, mf_lane step,
                               Work *work) {
    Actuation *all = &work->actuation;
    actuate_start(plan, all);
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t i = 0; i < plan->actuator_count; i++) {
        const mf_ArtActuator *actuator = &actuators[i];
        const Constant *c = actuator_constants(plan, i);
        mf_lane input = actuator_input(all, actuator, c, i);
        switch (actuator->acts) {
        case MF_ART_PULLS:
            actuate_joints(plan, state, actuator, c, input, step, i, all);
            break;
        case MF_ART_TORQUES:
            actuate_ball(plan, state, actuator, c, input, step, i, all);
            break;
        case MF_ART_TENSES:
            actuate_tendon(plan, state, actuator, c, input, i, work);
            break;
        case MF_ART_FORCES:
            load_site(plan, state, actuator, c, input, step, i, work);
            break;
        case MF_ART_FORCES_FROM:
            force_between(plan, state, actuator, c, input, i, work);
            break;
        case MF_ART_ADHESION: // it pulls when contacts are known (adhesion.h)
            all->force[i] =
                actuator_line(c, mf_zero(), input, mf_zero(), mf_zero(), mf_zero(), mf_zero())
                    .torque;
            break;
        }
    }
    actuate_finish(plan, all);
}

// ---- adhesion -----------------------------------------------------------------------------------

static MF_INLINE mf_mask touch_exists(const Touch *touch) {
    return mf_and(touch->may, mf_less(mf_zero(), touch->depth));
}

static MF_INLINE bool contact_at(const mf_ArtPlan *plan, const LinkContact *contact,
                                 uint32_t body) {
    if (contact->pair == MF_NONE) // with the ground: a touch, too
        return false;
    const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(plan), contact->pair);
    return mf_art_shape_body(plan)[pair.a] == body || mf_art_shape_body(plan)[pair.b] == body;
}

// How many contacts a body has in each lane.
static inline mf_lane adhesion_count(const mf_ArtPlan *plan, const Work *work, uint32_t body) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane count = mf_zero();
    const uint32_t *contact_body = mf_art_contact_body(plan);
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++)
        if (work->contacts.touch[i].near && contact_body[i] == body)
            count = count + mf_keep(touch_exists(&work->contacts.touch[i]), one);
    for (uint32_t i = 0; i < work->link_contacts.count; i++)
        if (contact_at(plan, &work->link_contacts.list[i], body))
            count = count + mf_keep(work->link_contacts.list[i].exists, one);
    return count;
}

// Pulls with `share` [N] at each contact of a body.
static inline void adhesion_pull(const mf_ArtPlan *plan, uint32_t body, mf_lane share,
                                 mf_mask lanes, Work *work) {
    const mf_ArtContact *contacts = mf_art_contacts(plan);
    const uint32_t *contact_body = mf_art_contact_body(plan);
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        const int32_t link = contacts[i].link;
        if (!touch->near || contact_body[i] != body || is_still(plan, link))
            continue;
        const mf_lane pull = mf_keep(mf_and(lanes, touch_exists(touch)), share);
        const Vec force = vec_scale(touch->normal, -pull);
        Wrench *wrench = &work->actuation.wrench[link + 1];
        wrench->force = vec_add(wrench->force, force);
        wrench->torque = vec_cross_add(touch->arm, force, wrench->torque);
    }
    for (uint32_t i = 0; i < work->link_contacts.count; i++) {
        const LinkContact *contact = &work->link_contacts.list[i];
        if (!contact_at(plan, contact, body))
            continue;
        const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(plan), contact->pair);
        const mf_lane pull = mf_keep(mf_and(lanes, contact->exists), share);
        const Vec force = vec_scale(contact->normal, pull);
        force_from_world(plan, contact_plan_link(plan, pair.a), contact->point, force, vec_zero(),
                         work);
        force_from_world(plan, contact_plan_link(plan, pair.b), contact->point, vec_negative(force),
                         vec_zero(), work);
    }
}

static inline void adhesion_lanes(const mf_ArtPlan *plan, mf_mask lanes, Work *work) {
    const mf_lane one = mf_set((mf_real)1);
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t i = 0; i < plan->actuator_count; i++) {
        const mf_ArtActuator *actuator = &actuators[i];
        if (actuator->acts != MF_ART_ADHESION)
            continue;
        const mf_lane count = adhesion_count(plan, work, actuator->body);
        adhesion_pull(plan, actuator->body, work->actuation.force[i] / mf_max(count, one), lanes,
                      work);
    }
}

// Poses, forces of actuators and contacts with the ground must be there. Contacts between links are
// found in parts of the lanes where they are more than the list holds.
static inline void adhere(const mf_ArtPlan *plan, Work *work) {
    LinkContacts *all = &work->link_contacts;
    all->count = 0;
    if (mf_art_collide(plan) == NULL) {
        adhesion_lanes(plan, mf_mask_all(), work);
        return;
    }
    for (uint32_t first = 0, width; first < MF_LANES; first += width) {
        width = MF_LANES - first;
        link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        while (all->overflow && width > 1) {
            width /= 2;
            link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        }
        adhesion_lanes(plan, lane_range(first, width), work);
        // The solver of MuJoCo's law goes on with a list of all lanes; others look again.
        all->found = plan->law && width == MF_LANES && !all->overflow;
    }
}
