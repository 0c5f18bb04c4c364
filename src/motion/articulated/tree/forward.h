// Forward dynamics by articulated bodies (Featherstone 1983; 2008, table 7.1) in three passes:
// outward for velocities (aba_velocity.h), inward for articulated inertias (aba_inertia.h), outward
// for accelerations. Joint forces and contacts that act at the end of the step enter the
// articulated inertia (drive.h, contact.h).
//
// Accelerations are those of the origins without gravity, so that a link's bias force is w x J w
// and w x (w x h) only.
#pragma once

#include "motion/articulated/actuator/adhesion.h"
#include "motion/articulated/tree/aba_inertia.h"
#include "motion/articulated/sensing/sensor_wrench.h"
#include "motion/articulated/tree/six.h"
#include "motion/articulated/step.h"

// ---- base ---------------------------------------------------------------------------------------

static MF_INLINE Vec rub_of(Vec rate, mf_lane most, mf_lane creep) {
    return MF_VALUE(Vec, most / mf_max(mf_abs(rate.x), creep), most / mf_max(mf_abs(rate.y), creep),
                    most / mf_max(mf_abs(rate.z), creep));
}

// c - a b, part by part.
static MF_INLINE Vec vec_less(Vec a, Vec b, Vec c) {
    return MF_VALUE(Vec, mf_fma(-a.x, b.x, c.x), mf_fma(-a.y, b.y, c.y), mf_fma(-a.z, b.z, c.z));
}

// Dry friction of a free base's joint: of each coordinate separately, as for joints (drive.h),
// along the world's axes and about the base's. `m` multiplies accelerations without gravity, for
// which the friction at the end of the step is corrected.
static inline void rub_base(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                            const Mat *world, mf_lane m[6][6], Vec *torque, Vec *pull) {
    const mf_lane most = constant_at(base_constants(plan), MF_ART_FRICTION),
                  creep = setting(plan, MF_ART_CREEP), zero = mf_zero();
    const Vec along = rub_of(state->velocity, most, creep),
              about = rub_of(state->rate, most, creep);
    const Vec slope = vec_scale(along, drive->step), angular = vec_scale(about, drive->step);
    Vec weight = vec_scale(up_in_world(plan), setting(plan, MF_ART_GRAVITY));
    Vec rub = vec_less(along, state->velocity, vec_less(vec_negative(slope), weight, vec_zero()));
    *torque = vec_less(about, state->rate, *torque);
    *pull = mat_apply_transposed_add(world, rub, *pull);
    const Mat back = {world->xx, world->yx, world->zx, world->xy, world->yy,
                      world->zy, world->xz, world->yz, world->zz};
    const Sym straight = {slope.x, slope.y, slope.z, zero, zero, zero};
    const Sym own = sym_rotate(&back, &straight);
    m[0][0] = m[0][0] + angular.x;
    m[1][1] = m[1][1] + angular.y;
    m[2][2] = m[2][2] + angular.z;
    m[3][3] = m[3][3] + own.xx;
    m[4][3] = m[4][3] + own.xy;
    m[4][4] = m[4][4] + own.yy;
    m[5][3] = m[5][3] + own.xz;
    m[5][4] = m[5][4] + own.yz;
    m[5][5] = m[5][5] + own.zz;
}

// Acceleration of a free base: `angular` and `linear` (without gravity) in its own axes.
static inline void accelerate_base(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                   const Rates *force, const Mat *world, Work *work) {
    const Art *a = &work->base;
    const Constant *c = base_constants(plan);
    mf_lane armature = constant_at(c, MF_ART_ARMATURE), damping = mf_zero();
    if (drive->active)
        damping = constant_at(c, MF_ART_DAMPING);
    mf_lane extra = mf_fma(drive->damps, damping, armature);
    Vec down = vec_negative(up_of(plan, world));
    Vec speed = mat_apply_transposed(world, state->velocity);
    Vec torque = vec_sub(vec_fma(state->rate, -damping, force->angular), a->n);
    Vec pull = vec_sub(mat_apply_transposed(world, force->linear), a->f);
    pull = vec_fma(speed, -damping, pull);
    // The base's acceleration excludes gravity, so resistance to its velocity is corrected for it.
    pull = vec_fma(down, -(extra * setting(plan, MF_ART_GRAVITY)), pull);
    mf_lane m[6][6] = {
        {a->j.xx + extra},
        {a->j.xy, a->j.yy + extra},
        {a->j.xz, a->j.yz, a->j.zz + extra},
        {a->h.xx, a->h.yx, a->h.zx, a->m.xx + extra},
        {a->h.xy, a->h.yy, a->h.zy, a->m.xy, a->m.yy + extra},
        {a->h.xz, a->h.yz, a->h.zz, a->m.xz, a->m.yz, a->m.zz + extra},
    };
    if (drive->active && constant_shared(c, MF_ART_FRICTION) > 0 && !plan->law)
        rub_base(plan, state, drive, world, m, &torque, &pull);
    mf_lane r[6] = {torque.x, torque.y, torque.z, pull.x, pull.y, pull.z};
    memcpy(work->base_factor, m, sizeof m);
    solve_six(work->base_factor, work->base_inverse, r);
    work->base_angular = MF_VALUE(Vec, r[0], r[1], r[2]);
    work->base_linear = MF_VALUE(Vec, r[3], r[4], r[5]);
}

// ---- third pass: outward ------------------------------------------------------------------------

static MF_INLINE void accelerate_link(const mf_ArtPlan *plan, const State *state, uint32_t l,
                                      Work *work, Rates *out) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const LinkWork *own = &work->links[l];
    Vec angular = link->parent < 0 ? work->base_angular : work->angular[link->parent];
    Vec linear = link->parent < 0 ? work->base_linear : work->linear[link->parent];
    carry_to_link(plan, state, l, work, &angular, &linear);
    if (link->kind == MF_ART_BALL) {
        const BallWork *ball = &work->balls[link->row];
        Vec force = vec_sub(ball->force, sym_apply(&ball->j, angular));
        force = vec_sub(force, mat_apply(&ball->h, linear));
        out->ball[link->row] = vec_add(ball_gain(ball, force), ball->acceleration);
        work->angular[l] = vec_add(angular, out->ball[link->row]);
        work->linear[l] = linear;
        return;
    }
    mf_lane back = vec_dot_add(own->angular, angular, vec_dot(own->linear, linear));
    mf_lane joint = own->acceleration - back;
    out->joint[l] = joint;
    if (link->kind == MF_ART_HINGE)
        angular.z = angular.z + joint;
    else
        linear.z = linear.z + joint;
    if (!link->leaf || link->posed) {
        work->angular[l] = angular;
        work->linear[l] = linear;
    }
}

// ---- contacts -----------------------------------------------------------------------------------

// The link of the current contacts.
typedef struct Passed {
    int32_t link;
    Carrier carrier;
    Vec angular, linear; // [rad/s^2], [m/s^2] without gravity
} Passed;

static MF_INLINE void pass_link(const mf_ArtPlan *plan, const State *state, const Work *work,
                                int32_t link, Passed *passed) {
    if (passed->link == link)
        return;
    passed->link = link;
    passed->carrier =
        carrier_of(plan, &work->contacts, link, link < 0 ? state->rate : work->links[link].rate);
    passed->angular = link < 0 ? work->base_angular : work->angular[link];
    passed->linear = link < 0 ? work->base_linear : work->linear[link];
}

// Corrects which limits act. Returns the lanes in which one was wrong.
static inline mf_mask revise_limits(const mf_ArtPlan *plan, const State *state, mf_lane step,
                                    Work *work, const Rates *rates) {
    mf_mask wrong = mf_not(mf_mask_all());
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->limited && l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Constant *c = link_constants(plan, l);
        if (!(link->drive & MF_ART_HAS_LIMIT))
            continue;
        Limit limit;
        mf_lane rate, gain = mf_zero();
        if (link->kind == MF_ART_BALL) {
            Vec axis;
            limit = limit_of_ball(plan, c, step, ball_angle(state->ball[link->row], &axis));
            Vec end = vec_fma(rates->ball[link->row], step, state->ball_rate[link->row]);
            rate = vec_dot(axis, end);
        } else {
            limit = limit_at(plan, link, c, step, state->angle[l], state->speed[l]);
            gain = rates->joint[l];
            rate = mf_fma(step, gain, state->speed[l]);
        }
        mf_mask active = mf_less(mf_zero(), limit_load(&limit, rate, gain));
        mf_mask change = mf_differ(active, work->links[l].limit.active);
        wrong = mf_or(wrong, change);
        work->links[l].limit.active = active;
        if (REUSES_INERTIA)
            work->stale[l] = mf_any(change);
    }
    return wrong;
}

// Updates which joints stick. Returns the lanes that changed.
static inline mf_mask revise_dry(const mf_ArtPlan *plan, const State *state, mf_lane step,
                                 Work *work, const Rates *rates) {
    mf_mask wrong = mf_not(mf_mask_all());
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->dry_rows > 0 && l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (!(link->drive & MF_ART_HAS_FRICTION))
            continue;
        const mf_lane most = constant_at(link_constants(plan, l), MF_ART_FRICTION);
        Vec angular = link->parent < 0 ? work->base_angular : work->angular[link->parent];
        Vec linear = link->parent < 0 ? work->base_linear : work->linear[link->parent];
        carry_to_link(plan, state, l, work, &angular, &linear);
        mf_mask change;
        if (link->kind == MF_ART_BALL) {
            const BallWork *ball = &work->balls[link->row];
            const Vec others = vec_add(sym_apply(&ball->j, angular), mat_apply(&ball->h, linear));
            change = dry_ball_revise(&work->dry_balls[link->row], most, step,
                                     state->ball_rate[link->row], rates->ball[link->row], others);
        } else {
            change = dry_revise(&work->dry[l], most, step, state->speed[l], rates->joint[l],
                                angular, linear);
        }
        wrong = mf_or(wrong, change);
        if (REUSES_INERTIA)
            work->stale[l] = work->stale[l] || mf_any(change);
    }
    return wrong;
}

// The normal force of a contact at the end of the step.
static MF_INLINE mf_lane load_at_end(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                     const Work *work, uint32_t i, Passed *passed) {
    const Touch *touch = &work->contacts.touch[i];
    pass_link(plan, state, work, mf_art_contacts(plan)[i].link, passed);
    Vec velocity =
        touch_end(plan, i, touch, drive->step, &passed->carrier, passed->angular, passed->linear);
    return press_load(touch_press(plan, i, touch, drive->step), vec_dot(velocity, touch->normal));
}

// Updates which limits act, and computes which contacts press and their loads. Returns the lanes
// that changed.
static inline mf_mask revise_find(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                  Work *work, const Rates *rates) {
    stale_set(plan, false, work);
    mf_mask wrong = revise_limits(plan, state, drive->step, work, rates);
    wrong = mf_or(wrong, revise_dry(plan, state, drive->step, work, rates));
    const uint32_t count = work->contacts.any && !plan->hard ? plan->contact_count : 0;
    const mf_lane zero = mf_zero();
    Passed passed = {.link = MF_ART_WORLD};
    for (uint32_t i = 0; i < count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        if (!touch->near)
            continue;
        mf_lane load = mf_max(load_at_end(plan, state, drive, work, i, &passed), zero);
        mf_mask presses = mf_and(touch->may, mf_less(zero, load));
        wrong = mf_or(wrong, mf_differ(presses, touch->presses));
        work->load[i] = load;
        work->presses[i] = presses;
    }
    return wrong;
}

// Sets which contacts press. In lanes with a change friction uses the new loads.
static inline void revise_apply(const mf_ArtPlan *plan, mf_mask wrong, Work *work) {
    const uint32_t count = work->contacts.any && !plan->hard ? plan->contact_count : 0;
    const mf_ArtContact *contacts = mf_art_contacts(plan);
    for (uint32_t i = 0; i < count; i++) {
        Touch *touch = &work->contacts.touch[i];
        if (!touch->near)
            continue;
        // A contact that did not press has no load yet: its force at impact speed is not a bound
        // for friction.
        touch->load = mf_select(wrong, mf_keep(touch->presses, work->load[i]), touch->load);
        touch->presses = work->presses[i];
        if (REUSES_INERTIA && contacts[i].link >= 0)
            work->stale[contacts[i].link] = true;
    }
    mark_stale(plan, work);
}

// Updates which contacts press and which limits act. False if nothing changed.
static inline bool revise(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                          Work *work, const Rates *rates) {
    const mf_mask wrong = revise_find(plan, state, drive, work, rates);
    if (!mf_any(wrong))
        return false;
    revise_apply(plan, wrong, work);
    return true;
}

// The third pass, when the base's acceleration and the joints' shares are known.
static inline void accelerate_all(const mf_ArtPlan *plan, const State *state, Work *work,
                                  Rates *out) {
    out->linear = out->angular = vec_zero();
    if (!plan->fixed) {
        out->angular = work->base_angular;
        out->linear = mat_apply(&work->contacts.pose[0].rotation, work->base_linear);
        out->linear = vec_fma(up_in_world(plan), -setting(plan, MF_ART_GRAVITY), out->linear);
    }
    for (uint32_t l = 0; l < plan->link_count; l++)
        accelerate_link(plan, state, l, work, out);
}

// The second and third pass.
static inline void solve(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                         const Rates *force, const Mat *world, Work *work, Rates *out) {
    mf_lane gravity = setting(plan, MF_ART_GRAVITY);
    if (plan->link_count == 0)
        work->base = MF_VALUE(Art, .n = vec_zero());
    aba_inertia_all(plan, state, drive, force, work);
    work->base_angular = vec_zero();
    work->base_linear = vec_scale(up_of(plan, world), gravity);
    if (!plan->fixed) {
        add_rigid(&work->base, base_constants(plan), base_swirl(plan, state, drive));
        if (work->contacts.any && plan->base_contacts > 0 && !plan->law)
            contacts_add(plan, -1, 0, plan->base_contacts, drive->step, &work->contacts,
                         state->rate, &work->base);
        prediction_add(work, -1, &work->base);
        if (drive->active && (plan->base_lifted || plan->base_thrust))
            load_link(plan, -1, plan->base_lifted, plan->base_thrust, work, &work->base);
        if (drive->active && plan->base_fluids > 0)
            fluids_add(plan, -1, 0, plan->base_fluids, drive->step, &work->contacts, state->rate,
                       &work->base);
        accelerate_base(plan, state, drive, force, world, work);
    }
    accelerate_all(plan, state, work, out);
}

// Couplings outside of the tree.
static inline void couple_links(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                Work *work, Rates *out) {
    if (drive->active && sensors_feel(plan))
        sensor_wrench_start(plan, work);
    for (uint32_t i = 0; drive->active && plan->keeps_limits && i < plan->tendon_count; i++)
        work->tendon_limits[i] = mf_zero();
    if (drive->active && plan->coupled)
        MF_ART_KERNEL(mf_articulated_couple)(plan, state, !drive->closes, work, out);
}

// Unlocks sticking joints where couplings act. True if there are such lanes, which must be solved
// again.
static inline bool unlock(const mf_ArtPlan *plan, Work *work) {
    if (plan->dry_rows == 0 || !plan->coupled)
        return false;
    if (plan->loop_count > 0 || plan->tendon_count > 0) {
        work->unlocked = mf_mask_all();
    } else if (plan->hard) {
        work->unlocked = link_contacts_lanes(plan, &work->contacts, &work->link_contacts);
        work->link_contacts.found = false; // without stored forces
    } else {
        work->unlocked = work->closing;
    }
    if (!mf_any(work->unlocked))
        return false;
    stale_set(plan, true, work);
    return true;
}

// Solves until the active set of limits and ground contacts is determined, without the couplings,
// which are expensive.
static inline void settle(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                          const Rates *force, const Mat *world, Work *work, Rates *out) {
    const bool soft = work->contacts.any && !plan->hard;
    const bool settles = drive->active && plan->integrator == MF_ARTICULATED_IMPLICIT &&
                         (soft || plan->limited || plan->dry_rows > 0);
    const int most = plan->dry_rows > 0 ? DRY_ROUNDS : CONTACT_ROUNDS;
    const bool expects =
        settles && !plan->hard && mf_art_collide(plan) != NULL && predict_forces(plan, work);
    work->predicts = expects;
    int round = 1;
    stale_set(plan, true, work);
    solve(plan, state, drive, force, world, work, out);
    while (round < most && settles && revise(plan, state, drive, work, out)) {
        // A lane without predicted forces has as many solutions in a batch as alone.
        if (++round < most || !expects)
            solve(plan, state, drive, force, world, work, out);
    }
    work->predicts = false;
    for (uint32_t l = 0; REUSES_INERTIA && expects && l < plan->link_count; l++)
        work->stale[l] = work->stale[l] || work->touching[l + 1];
    mark_stale(plan, work);
    if ((drive->active && unlock(plan, work)) || expects)
        solve(plan, state, drive, force, world, work, out);
    couple_links(plan, state, drive, work, out);
}

// The force of the spring and damper of a tendon.
static MF_INLINE mf_lane tendon_pull(const mf_ArtTendon *tendon, mf_lane length, mf_lane speed) {
    const mf_lane still = mf_clamp(length, mf_set((mf_real)tendon->spring_lower),
                                   mf_set((mf_real)tendon->spring_upper));
    return mf_fma(mf_set((mf_real)tendon->stiffness), still - length,
                  -(mf_set((mf_real)tendon->damping) * speed));
}

// Forces of the springs and dampers of tendons, which are those of the beginning of the step.
static inline void tendons_pull(const mf_ArtPlan *plan, const State *state, Work *work,
                                Rates *force) {
    const mf_ArtTendon *tendons = mf_art_tendons(plan);
    for (uint32_t i = 0; i < plan->tendon_count; i++) {
        const mf_ArtTendon *tendon = &tendons[i];
        const mf_ArtTerm *terms = &mf_art_terms(plan)[tendon->first_term];
        mf_lane length = mf_zero(), speed = mf_zero();
        if (!tendon->elastic)
            continue;
        if (tendon->path != MF_NONE) {
            TendonPath path;
            tendon_path(plan, state, work, tendon->path, &path);
            const mf_lane push = tendon_pull(tendon, path.length, path.speed);
            work->pushes[tendon->tendon] = work->pushes[tendon->tendon] + push;
            tendon_force(plan, &path, push, work->actuation.wrench);
            continue;
        }
        for (uint32_t t = 0; t < tendon->term_count; t++) {
            const mf_lane weight = mf_set((mf_real)terms[t].weight);
            length = mf_fma(weight, state->angle[terms[t].link], length);
            speed = mf_fma(weight, state->speed[terms[t].link], speed);
        }
        const mf_lane pull = tendon_pull(tendon, length, speed);
        work->pushes[tendon->tendon] = work->pushes[tendon->tendon] + pull;
        for (uint32_t t = 0; t < tendon->term_count; t++)
            force->joint[terms[t].link] =
                mf_fma(mf_set((mf_real)terms[t].weight), pull, force->joint[terms[t].link]);
    }
}

// MuJoCo's law: the accelerations of the beginning of the step without constraints, then the
// constraints, all in one problem (problem.h).
static inline void settle_law(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                              const Rates *force, const Mat *world, Work *work, Rates *out) {
    Drive now = *drive;
    now.step = now.damps = mf_zero();
    stale_set(plan, true, work);
    if (plan->tendon_count > 0) {
        rates_copy(plan, force, &work->more);
        tendons_pull(plan, state, work, &work->more);
        solve(plan, state, &now, &work->more, world, work, out);
    } else {
        solve(plan, state, &now, force, world, work, out);
    }
    if (sensors_feel(plan))
        sensor_wrench_start(plan, work);
    MF_ART_KERNEL(mf_articulated_constrain)(plan, state, drive, work, out);
}

// Initial estimate of the sticking joints.
static inline void find_dry(const mf_ArtPlan *plan, const State *state, Work *work) {
    const mf_lane creep = setting(plan, MF_ART_CREEP);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_lane most = constant_at(link_constants(plan, l), MF_ART_FRICTION);
        if (!(links[l].drive & MF_ART_HAS_FRICTION))
            continue;
        if (links[l].kind == MF_ART_BALL)
            work->dry_balls[links[l].row] =
                dry_ball_start(state->ball_rate[links[l].row], most, creep);
        else
            work->dry[l] = dry_start(state->speed[l], most, creep);
    }
}

// Forces of actuators on tendons.
static inline void pushes_start(const mf_ArtPlan *plan, Work *work) {
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t t = 0; t < plan->span_count; t++)
        work->pushes[t] = mf_zero();
    for (uint32_t i = 0; i < plan->actuator_count; i++)
        if (actuators[i].tendon != MF_NONE)
            work->pushes[actuators[i].tendon] =
                mf_fma(mf_set((mf_real)actuators[i].gear[0]), work->actuation.force[i],
                       work->pushes[actuators[i].tendon]);
}

// Preparation of the first solution of a step: velocities, poses, actuators, contacts and limits.
static inline void forward_look(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                bool poses, Work *work) {
    aba_velocity_all(plan, state, drive, work);
    work->touched = work->unlocked = mf_not(mf_mask_all());
    const bool law = drive->active && plan->law;
    work->contacts.any = work->link_contacts.found = work->predicts = false;
    work->contacts.pose[0] =
        MF_VALUE(Pose, quat_matrix(state->attitude), state->position, state->velocity);
    if (poses)
        find_poses(plan, state, work);
    work->actuation.late = law && !plan->fast ? mf_zero() : drive->step;
    if (drive->active && (plan->actuator_count > 0 || plan->path_count > 0))
        actuate_all(plan, state, law ? mf_zero() : drive->step, work);
    if (drive->active && plan->span_count > 0)
        pushes_start(plan, work);
    if (drive->active)
        find_contacts(plan, drive, state, work);
    if (drive->active && plan->adhesion)
        adhere(plan, work);
    if (drive->active && plan->limited && !law)
        find_limits(plan, state, drive->step, work);
    if (drive->active && plan->dry_rows > 0)
        find_dry(plan, state, work);
}

// Accelerations for `force` and, when `drive` is active, the joints' own forces and contacts.
static inline void forward_dynamics(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                    const Rates *force, Work *work, Rates *out) {
    const bool law = drive->active && plan->law;
    const bool poses = drive->active && (plan->contact_count > 0 || plan->any_lifted ||
                                         plan->coupled || plan->posed || law);
    forward_look(plan, state, drive, poses, work);
    const Mat world = work->contacts.pose[0].rotation;
    if (law)
        settle_law(plan, state, drive, force, &world, work, out);
    else
        settle(plan, state, drive, force, &world, work, out);
}
