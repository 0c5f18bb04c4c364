// Working data of the passes of the articulated-body algorithm, the transform between a link and
// its parent, and the first pass: outward, for velocities and contacts (forward.h).
#pragma once

#include "motion/articulated/actuator/actuate.h"
#include "motion/articulated/contact/contact.h"
#include "motion/articulated/tree/linkage.h"
#include "motion/articulated/contact/contact_pairs.h"
#include "motion/warn.h"

// ---- dry ----------------------------------------------------------------------------------------

// Dry friction of joints at the end of a step: a joint sticks if the friction that stops it by the
// end of the step is within +-F, else F acts against its final rate. This projects the impulse onto
// +-F h, for all joints and contacts together (Moreau 1988).
//
// The set of sticking joints is estimated and corrected with the result, as for contacts and
// limits. A joint that sticks is locked: its acceleration ends at rate 0, and it passes its link's
// whole inertia to its parent. A ball joint sticks as a whole; if it slips, F opposes its rate at
// the beginning of the step.
//
// The solver of couplings does not support locked joints. If its rows act, joints get the computed
// friction as a force, and rows for the remainder (dry_rows in couple_tendons.h).

typedef struct Dry {
    mf_mask sticks;
    mf_lane force; // [N m] or [N] of the friction; if it sticks, the holding force
    // Of the last solution: the equation of the joint is
    //     inertia * acceleration + (angular, linear) . (those of the parent) = rest + friction
    mf_lane inertia, rest;
    Vec angular, linear;
} Dry;

typedef struct DryBall {
    mf_mask sticks;
    Vec force; // [N m]
    Sym inertia;
    Vec rest;
} DryBall;

// Joints with rates below this are initially assumed to stick.
static MF_INLINE Dry dry_start(mf_lane rate, mf_lane most, mf_lane creep) {
    const mf_lane zero = mf_zero();
    Dry dry = {.sticks = mf_less_equal(mf_abs(rate), creep),
               .inertia = zero,
               .rest = zero,
               .angular = vec_zero(),
               .linear = vec_zero()};
    dry.force = mf_keep(mf_not(dry.sticks), mf_select(mf_less(zero, rate), -most, most));
    return dry;
}

static MF_INLINE DryBall dry_ball_start(Vec rate, mf_lane most, mf_lane creep) {
    const mf_lane zero = mf_zero(), size = mf_sqrt(vec_dot(rate, rate));
    DryBall dry = {.sticks = mf_less_equal(size, creep),
                   .inertia = {zero, zero, zero, zero, zero, zero},
                   .rest = vec_zero()};
    dry.force = vec_keep(mf_not(dry.sticks), vec_scale(rate, -most / mf_max(size, creep)));
    return dry;
}

// Friction may exceed F by rounding, or the joint would slip without a cause.
static MF_INLINE mf_lane dry_most(mf_lane most) {
    return most * mf_set((mf_real)1 + 64 * MF_REAL_EPSILON);
}

// Updates whether the joint sticks, from its acceleration and those of its parent (in its own
// axes). Returns the lanes that changed.
static MF_INLINE mf_mask dry_revise(Dry *dry, mf_lane most, mf_lane step, mf_lane rate,
                                    mf_lane acceleration, Vec angular, Vec linear) {
    const mf_lane back = vec_dot_add(dry->angular, angular, vec_dot(dry->linear, linear));
    const mf_lane hold = mf_fma(dry->inertia, acceleration, back) - dry->rest;
    const mf_mask slips = mf_less(dry_most(most), mf_abs(hold));
    const mf_mask drives = mf_less(mf_zero(), mf_fma(step, acceleration, rate) * dry->force);
    const mf_mask sticks =
        mf_or(mf_and(dry->sticks, mf_not(slips)), mf_and(mf_not(dry->sticks), drives));
    const mf_mask wrong = mf_differ(sticks, dry->sticks);
    dry->force = mf_select(dry->sticks, mf_clamp(hold, -most, most), dry->force);
    dry->sticks = sticks;
    return wrong;
}

static MF_INLINE mf_mask dry_ball_revise(DryBall *dry, mf_lane most, mf_lane step, Vec rate,
                                         Vec acceleration, Vec others) {
    const mf_lane one = mf_set((mf_real)1);
    const Vec hold = vec_sub(vec_add(sym_apply(&dry->inertia, acceleration), others), dry->rest);
    const mf_lane size = mf_sqrt(vec_dot(hold, hold));
    const mf_mask slips = mf_less(dry_most(most), size);
    const Vec end = vec_fma(acceleration, step, rate);
    const mf_mask drives = mf_less(mf_zero(), vec_dot(end, dry->force));
    const mf_mask sticks =
        mf_or(mf_and(dry->sticks, mf_not(slips)), mf_and(mf_not(dry->sticks), drives));
    const mf_mask wrong = mf_differ(sticks, dry->sticks);
    const mf_lane part = mf_select(slips, most / mf_select(slips, size, one), one);
    dry->force = vec_select(dry->sticks, vec_scale(hold, part), dry->force);
    dry->sticks = sticks;
    return wrong;
}

// ---- aba velocity -------------------------------------------------------------------------------

typedef struct LinkWork {
    mf_lane cosine, sine; // [1] of the joint's rotation
    Vec rate;             // [rad/s] own axes
    Vec swirl;            // [rad/s] likewise in the middle of the step, for gyroscopic forces
    mf_lane speed;        // [rad/s] or [m/s] of the joint, likewise
    Vec bias;             // [m/s^2] swirl x (swirl x position) of the parent, its axes
    Vec angular;          // [1], [1/m] response of the joint's acceleration to those of the parent
    Vec linear;
    LimitLoad limit;
    mf_lane
        acceleration; // [rad/s^2] or [m/s^2] the joint's acceleration when the parent is at rest
    mf_lane inverse;  // [1/(kg m^2)] or [1/kg] of the inertia that the joint moves
} LinkWork;

// L D L^T is the inertia that the joint moves (ball_joint.h).
typedef struct BallWork {
    Mat rotation; // child's axes to the parent's
    Sym j;
    Mat h;
    mf_lane yx, zx, zy; // [1] of L
    mf_lane inverse[3]; // [1/(kg m^2)] of D; 0: locked
    mf_mask small;      // lanes in which `angular` is of the joint's own inertia, not of j
    Vec angular[3];     // [1], [1/m] response of each axis of L to the accelerations of the parent
    Vec linear[3];
    Vec force;        // [N m]
    Vec acceleration; // [rad/s^2] added by couplings
} BallWork;

typedef struct ZoneWrench { // external forces on all links of a zone
    Vec position;           // [m] world
    Vec force;              // [N] world
    Vec torque;             // [N m] about `position`
} ZoneWrench;

typedef struct PredictedLoad {
    Vec force, torque; // [N], [N m] about the link's origin, its axes
} PredictedLoad;

enum { REUSES_INERTIA = MF_LANES == 1 };

typedef struct Solver { // rows of the constraint solver's fields, NULL: none
    mf_real *warm, *residual, *iterations;
    mf_mask alive;                         // lanes that may write there
    mf_lane rest, rounds;                  // for the last two, of the solver of couplings
    mf_SparseFn sparse;                    // for large plans
    struct mf_ArtProblem *const *problems; // per lane; NULL: they are solved here
} Solver;

typedef struct Work {
    LinkWork *links; // per plan link
    BallWork *balls; // per ball joint
    Art *sums;       // by depth: sums from the links further out
    Art base;
    // The contribution of each link to its parent, and whether a new solution must recompute it.
    // With several lanes this saves less than it costs, because some lane nearly always changes.
    Art *handed; // space for one if none is kept
    bool *stale;
    mf_lane base_factor[6][6],
        base_inverse[6];           // of its inertia: L D below and on the diagonal, 1/D
    Vec base_angular, base_linear; // accelerations without gravity, own axes
    Vec *angular, *linear;         // likewise of links
    Contacts contacts;
    Dry *dry; // per plan link, if joints have dry friction at the end of the step
    DryBall *dry_balls;
    mf_mask unlocked; // lanes in which no joint is locked by it
    Actuation actuation;
    LinkContacts link_contacts;
    ZoneWrench *zones;
    mf_lane *touches; // [N] per touch site
    Line *limits;
    mf_lane *tendon_limits; // [N] or [N m]
    mf_lane *lengths;       // [m] or [rad] per tendon of the model, of paths that were found
    mf_lane *pushes;        // [N] or [N m] likewise: sum of the forces along the length
    mf_lane *limit_forces;  // [N m] or [N] with MuJoCo's law
    Solver solver;
    Warnings warnings;        // of this step
    mf_mask dropped;          // lanes with more contacts than the capacity
    mf_mask touched;          // lanes with a contact between links
    mf_mask closing;          // lanes with one that is predicted
    bool predicts;            // `predicted` acts (aba_inertia.h)
    bool *touching;           // some lane has it; of the base at 0
    PredictedLoad *predicted; // contact forces of other links
    // Working memory:
    mf_lane *load; // contacts with the ground (forward.h)
    mf_mask *presses;
    Wrench *path_row;  // the path of a spatial tendon (tendon_path.h)
    Rates more;        // forces with those of tendons (forward.h)
    Quat *ball_before; // ball joints at the step's beginning (articulated_kernel.c),
    Quat *ball_low;    // and their remainders
    // With MuJoCo's law: lanes in which a constraint acts, per dof; free bodies at the step's
    // beginning, per ball joint, and their remainders (momentum.h).
    mf_mask *pushed;
    State *floating, *floating_low;
    mf_Carver rest; // for the solver of couplings or of constraints
} Work;

// Needed by a single solution only.
static inline void work_carve_sums(const mf_ArtPlan *plan, mf_Carver *carver, Work *work) {
    MF_CARVE(carver, work->sums, plan->link_count);
}

// Allocates the other arrays for a bare tree, without contacts and actuators.
static inline void work_carve_tree(const mf_ArtPlan *plan, mf_Carver *carver, Work *work) {
    const uint32_t links = plan->link_count;
    MF_CARVE(carver, work->links, links);
    MF_CARVE(carver, work->balls, plan->ball_count);
    MF_CARVE(carver, work->handed, REUSES_INERTIA ? links : 1);
    MF_CARVE(carver, work->stale, links);
    MF_CARVE(carver, work->angular, links);
    MF_CARVE(carver, work->linear, links);
    MF_CARVE(carver, work->contacts.pose, links + 1 + plan->mocap_count);
    MF_CARVE(carver, work->touching, links + 1);
}

// All arrays except those of `work_carve_sums` and `link_contacts_carve`, which only live during
// one pass. The code that allocates the last array of the scratch sets `rest`.
static inline void work_carve_kept(const mf_ArtPlan *plan, mf_Carver *carver, Work *work) {
    const uint32_t links = plan->link_count;
    work_carve_tree(plan, carver, work);
    MF_CARVE(carver, work->contacts.touch, plan->contact_count);
    MF_CARVE(carver, work->dry, plan->dry_rows > 0 ? links : 0);
    MF_CARVE(carver, work->dry_balls, plan->dry_rows > 0 ? plan->ball_count : 0);
    actuation_carve(plan, carver, &work->actuation);
    MF_CARVE(carver, work->zones, plan->zone_count);
    MF_CARVE(carver, work->touches, plan->touch_count);
    MF_CARVE(carver, work->limits, links);
    MF_CARVE(carver, work->tendon_limits, plan->tendon_count);
    MF_CARVE(carver, work->lengths, plan->span_count);
    MF_CARVE(carver, work->pushes, plan->span_count);
    MF_CARVE(carver, work->limit_forces, links);
    MF_CARVE(carver, work->predicted, links + 1);
    MF_CARVE(carver, work->load, plan->contact_count);
    MF_CARVE(carver, work->presses, plan->contact_count);
    MF_CARVE(carver, work->path_row, plan->path_most);
    rates_carve(plan, carver, &work->more);
    MF_CARVE(carver, work->ball_before, plan->ball_count);
    MF_CARVE(carver, work->ball_low, plan->ball_count);
    MF_CARVE(carver, work->pushed, plan->law ? plan->dof_count : 0);
    MF_CARVE(carver, work->floating, plan->law ? plan->ball_count : 0);
    MF_CARVE(carver, work->floating_low, plan->law ? plan->ball_count : 0);
}

// All arrays.
static inline void work_carve(const mf_ArtPlan *plan, mf_Carver *carver, Work *work) {
    work_carve_kept(plan, carver, work);
    work_carve_sums(plan, carver, work);
    link_contacts_carve(plan, carver, &work->link_contacts);
}

// Links that no force moves.
static inline bool is_still(const mf_ArtPlan *plan, int32_t link) {
    return link == MF_ART_WORLD || (link < 0 && plan->fixed);
}

// ---- between a link and its parent --------------------------------------------------------------

// The same way back for a whole body.
static MF_INLINE void out_of_joint(const mf_ArtLink *link, const Constant *c, Art *a) {
    switch (link->tilt) {
    case MF_ART_LEVEL:
        break;
    case MF_ART_UP:
        art_swap_yz(a);
        art_flip_y(a);
        break;
    case MF_ART_DOWN:
        art_swap_yz(a);
        art_flip_z(a);
        break;
    case MF_ART_OVER:
        art_flip_y(a);
        art_flip_z(a);
        break;
    case MF_ART_ANY:
        art_rotate_x(a, constant_at(c, MF_ART_COS_TILT), constant_at(c, MF_ART_SIN_TILT));
        break;
    }
    if (link->spun)
        art_rotate_z(a, constant_at(c, MF_ART_COS_ANGLE), constant_at(c, MF_ART_SIN_ANGLE));
}

static MF_INLINE void shift_to_parent(const mf_ArtLink *link, const Constant *c, Art *a) {
    if (link->shift & 1)
        art_shift_x(a, constant_at(c, MF_ART_POSITION));
    if (link->shift & 2)
        art_shift_y(a, constant_at(c, MF_ART_POSITION + 1));
    if (link->shift & 4)
        art_shift_z(a, constant_at(c, MF_ART_POSITION + 2));
}

// ---- first pass: outward ------------------------------------------------------------------------

// Coriolis and centrifugal forces of the velocities at the beginning of a step add energy in every
// step (a chain of three hinges at 13 rad/s and 1 ms: a third in 4 s); those at its middle do not.
// The middle is extrapolated by the acceleration of the previous step, which is the Adams-Bashforth
// method of order 2 for these forces alone (Hairer, Norsett and Wanner 1993, III.1).

// For the base, at the beginning and at the middle; equal if there is no previous step.
static MF_INLINE Vec base_swirl(const mf_ArtPlan *plan, const State *state, const Drive *drive) {
    if (drive->swirl != NULL)
        return *drive->swirl;
    if (drive->before == NULL || plan->fixed)
        return state->rate;
    return vec_fma(vec_load(drive->before, 0), drive->ahead, state->rate);
}

static MF_INLINE void aba_velocity_swirl(const mf_ArtPlan *plan, const State *state,
                                         const Drive *drive, uint32_t l, Vec swirl, LinkWork *own) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    if (link->kind == MF_ART_BALL) { // its own spin is momentum.h's
        own->swirl = own->rate;
        return;
    }
    own->speed = mf_fma(row_load(drive->before, link->dof), drive->ahead, state->speed[l]);
    own->swirl = vec_back_z(into_joint(link, c, swirl), own->cosine, own->sine);
    if (link->kind == MF_ART_HINGE)
        own->swirl.z = own->swirl.z + own->speed;
}

static MF_INLINE void aba_velocity_rate(const mf_ArtPlan *plan, const State *state, uint32_t l,
                                        Work *work) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    LinkWork *own = &work->links[l];
    Vec rate = link->parent < 0 ? state->rate : work->links[link->parent].rate;
    own->limit.active = mf_not(mf_mask_all());
    if (link->kind == MF_ART_BALL) {
        BallWork *ball = &work->balls[link->row];
        Mat still = mat_constant(c + MF_ART_ROTATION),
            rotation = quat_matrix(state->ball[link->row]);
        ball->rotation = mat_multiply(&still, &rotation);
        own->rate =
            vec_add(mat_apply_transposed(&ball->rotation, rate), state->ball_rate[link->row]);
        return;
    }
    if (link->kind == MF_ART_HINGE) {
        sin_cos(state->angle[l] + constant_at(c, MF_ART_OFFSET), &own->sine, &own->cosine);
    } else {
        own->sine = constant_at(c, MF_ART_SIN_OFFSET);
        own->cosine = constant_at(c, MF_ART_COS_OFFSET);
    }
    rate = vec_back_z(into_joint(link, c, rate), own->cosine, own->sine);
    if (link->kind == MF_ART_HINGE)
        rate.z = rate.z + state->speed[l];
    own->rate = rate;
}

// The first pass.
static inline void aba_velocity_all(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                    Work *work) {
    const Vec base = base_swirl(plan, state, drive);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        LinkWork *own = &work->links[l];
        const Vec swirl = link->parent < 0 ? base : work->links[link->parent].swirl;
        aba_velocity_rate(plan, state, l, work);
        if (drive->before != NULL) {
            aba_velocity_swirl(plan, state, drive, l, swirl, own);
        } else {
            own->swirl = own->rate;
            if (link->kind != MF_ART_BALL)
                own->speed = state->speed[l];
        }
        if (link->shift != 0)
            own->bias = vec_cross(
                swirl, vec_cross(swirl, vec_constant(link_constants(plan, l) + MF_ART_POSITION)));
    }
}

// Acceleration of a slide's origin by rotation and sliding, own axes.
static MF_INLINE Vec slide_bias(Vec rate, mf_lane distance, mf_lane speed) {
    mf_lane twice = speed + speed;
    return MF_VALUE(Vec, mf_fma(distance * rate.x, rate.z, twice * rate.y),
                    mf_fma(distance * rate.y, rate.z, -(twice * rate.x)),
                    -distance * mf_fma(rate.x, rate.x, rate.y * rate.y));
}

// Transforms the accelerations of a link's parent to the link, for a joint without acceleration.
static MF_INLINE void carry_to_link(const mf_ArtPlan *plan, const State *state, uint32_t l,
                                    const Work *work, Vec *angular, Vec *linear) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    const LinkWork *own = &work->links[l];
    if (link->shift != 0)
        *linear =
            vec_cross_add(*angular, vec_constant(c + MF_ART_POSITION), vec_add(*linear, own->bias));
    if (link->kind == MF_ART_BALL) {
        const BallWork *ball = &work->balls[link->row];
        Vec rotated = vec_cross(own->rate, state->ball_rate[link->row]);
        *angular = mat_apply_transposed_add(&ball->rotation, *angular, rotated);
        *linear = mat_apply_transposed(&ball->rotation, *linear);
        return;
    }
    *angular = vec_back_z(into_joint(link, c, *angular), own->cosine, own->sine);
    *linear = vec_back_z(into_joint(link, c, *linear), own->cosine, own->sine);
    mf_lane rate = own->speed;
    if (link->kind == MF_ART_HINGE) {
        angular->x = mf_fma(own->swirl.y, rate, angular->x);
        angular->y = mf_fma(-own->swirl.x, rate, angular->y);
    } else {
        mf_lane distance = state->angle[l] + constant_at(c, MF_ART_OFFSET);
        *linear = vec_add(*linear, slide_bias(own->swirl, distance, rate));
        linear->x = mf_fma(angular->y, distance, linear->x);
        linear->y = mf_fma(-angular->x, distance, linear->y);
    }
}

// Active limits, with the present rate in place of the final one.
static inline void find_limits(const mf_ArtPlan *plan, const State *state, mf_lane step,
                               Work *work) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Constant *c = link_constants(plan, l);
        if (!(link->drive & MF_ART_HAS_LIMIT))
            continue;
        Limit limit;
        mf_lane rate;
        if (link->kind == MF_ART_BALL) {
            Vec axis;
            limit = limit_of_ball(plan, c, step, ball_angle(state->ball[link->row], &axis));
            rate = vec_dot(axis, state->ball_rate[link->row]);
        } else {
            rate = state->speed[l];
            limit = limit_at(plan, link, c, step, state->angle[l], rate);
        }
        work->links[l].limit.active = mf_less(mf_zero(), limit_load(&limit, rate, mf_zero()));
    }
}

// World poses of the links that contacts, actuators or weights need.
static inline void find_poses(const mf_ArtPlan *plan, const State *state, Work *work) {
    Contacts *contacts = &work->contacts;
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const LinkWork *own = &work->links[l];
        const Constant *c = link_constants(plan, l);
        if (!link->posed)
            continue;
        Mat joint = link->kind == MF_ART_BALL
                        ? work->balls[link->row].rotation
                        : mat_zxz(constant_at(c, MF_ART_COS_ANGLE),
                                  constant_at(c, MF_ART_SIN_ANGLE), constant_at(c, MF_ART_COS_TILT),
                                  constant_at(c, MF_ART_SIN_TILT), own->cosine, own->sine);
        pose_link(plan, state, l, joint, &contacts->pose[link->parent + 1],
                  link->parent < 0 ? state->rate : work->links[link->parent].rate,
                  &contacts->pose[l + 1]);
    }
}

// Whether no lane's link can come down to the ground within the step: touch_find for all contacts.
static MF_INLINE bool is_far(const mf_ArtPlan *plan, int32_t link, const Pose *pose, Vec rate,
                             mf_lane step) {
    const Constant *c = link < 0 ? base_constants(plan) : link_constants(plan, (uint32_t)link);
    const mf_lane around = constant_at(c, MF_ART_AROUND), zero = mf_zero();
    const mf_lane fall = mf_fma(-mf_sqrt(vec_dot(rate, rate)), around, pose->speed.z);
    // Never where touch_find would say yes of one of them, so that results do not depend on the
    // other lanes.
    const mf_lane rounding = mf_set(16 * MF_REAL_EPSILON) * mf_abs(pose->position.z);
    const mf_lane reach = mf_fma(step, mf_min(fall, zero) - mf_set((mf_real)40) * step,
                                 pose->position.z - around - rounding);
    return !mf_any(mf_less(reach, setting(plan, MF_ART_HIGHEST)));
}

static inline void find_contacts(const mf_ArtPlan *plan, const Drive *drive, const State *state,
                                 Work *work) {
    Contacts *contacts = &work->contacts;
    TouchMemo memo;
    memo.terrain = contacts->terrain;
    // The link that `far` is about, and that which `rotated_link` is about.
    int32_t requested = MF_ART_WORLD, rotated = MF_ART_WORLD;
    bool far = false;
    const bool rotates = contacts->implicit && !plan->law;
    RotatedLink rotated_link;
    for (uint32_t i = 0; i < plan->contact_count; i++) {
        int32_t link = mf_art_contacts(plan)[i].link;
        if (link != requested)
            far = is_far(plan, link, &contacts->pose[link + 1],
                         link < 0 ? state->rate : work->links[link].rate, drive->step);
        requested = link;
        if (far) {
            contacts->touch[i].near = false;
            continue;
        }
        mf_lane load = mf_zero(), slid = mf_zero();
        if (contacts->implicit) {
            load = row_load(contacts->load, i);
            slid = row_load(contacts->slip, i);
        }
        const Vec rate = link < 0 ? state->rate : work->links[link].rate;
        const bool own = rotates && mf_art_contacts(plan)[i].kind != MF_TOUCH_BALL;
        if (own && rotated != link)
            rotated_set(&contacts->pose[link + 1], rate, drive->step, &rotated_link);
        rotated = own ? link : rotated;
        touch_find(plan, i, &contacts->pose[link + 1], own ? &rotated_link : NULL, rate, load, slid,
                   drive->step, contacts->implicit, &memo, &contacts->touch[i]);
        contacts->any = contacts->any || contacts->touch[i].near;
    }
}
