// The second pass of the articulated-body algorithm: inward, each link eliminates its joint from
// its articulated inertia and passes the rest to its parent (forward.h). Rotor armature and joint
// forces at the end of the step make the joint's inertia larger than that of the link about the
// axis, so the row of the axis does not vanish.
#pragma once

#include "motion/articulated/constraint/warm_start.h"
#include "motion/articulated/tree/ball_joint.h"
#include "motion/articulated/contact/contact.h"

// ---- fluid --------------------------------------------------------------------------------------

// Forces of the medium on the bodies of a file: drag of the box that has a body's inertia (MuJoCo's
// documentation, "Computation", section "Passive forces", fluid model by inertia), or drag, lift
// and added mass of its shapes, where one has fluidshape. Of the box, along and
// about every axis
//     force = -(drag |v| + creep) v        torque = -(twist |w| + whirl) w
// with v relative to the medium. In an implicit step this is the chord to rest with the present
// slope, taken at the end of the step, so no density makes a step unstable.

#define FLUID_PI 3.14159265358979323846

static MF_INLINE Vec fluid_numbers(const double *a) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2]));
}

// The tensor that has the values (square |x| + plain) on the axes of the box, x along them.
static MF_INLINE Sym fluid_tensor(const Mat *rotation, Vec x, const double *square, double plain) {
    const Vec part = fluid_numbers(square);
    const mf_lane rest = mf_set((mf_real)plain), zero = mf_zero();
    const Sym own = {mf_fma(part.x, mf_abs(x.x), rest),
                     mf_fma(part.y, mf_abs(x.y), rest),
                     mf_fma(part.z, mf_abs(x.z), rest),
                     zero,
                     zero,
                     zero};
    return sym_rotate(rotation, &own);
}

static MF_INLINE Sym sym_scale(const Sym *a, mf_lane s) {
    return MF_VALUE(Sym, a->xx * s, a->yy * s, a->zz * s, a->xy * s, a->xz * s, a->yz * s);
}

// Forces of the medium on a shape with the relative velocity v and rate w, in its axes
// (MuJoCo's documentation, "Computation", fluid models, the one by shapes; added mass: Lamb 1932,
// sections 114 and 115; lift: Kutta and Joukowski, Magnus). The force is `force` - drag v, the
// torque `torque` - torque_drag w; the added mass acts by the velocities only.
typedef struct Stream {
    Vec force, torque;
    mf_lane drag, torque_drag;
} Stream;

static MF_INLINE Vec vec_products(const double *a, Vec b) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]) * b.x, mf_set((mf_real)a[1]) * b.y,
                    mf_set((mf_real)a[2]) * b.z);
}

static inline Stream stream_on(const mf_ArtFluid *fluid, Vec v, Vec w) {
    const mf_ArtSolid *solid = &fluid->solid;
    const mf_lane tiny = mf_set((mf_real)1e-15); // MuJoCo's value, for equal coefficients
    const mf_lane size = mf_sqrt(vec_dot(v, v));
    const Vec momentum = vec_products(solid->mass, v),
              angular_momentum = vec_products(solid->inertia, w);
    // Along the normal of the projected area.
    const Vec normal = vec_products(solid->sides, v);
    const mf_lane square = vec_dot(normal, normal), part = vec_dot(normal, v);
    const mf_lane area = mf_set((mf_real)FLUID_PI) * mf_sqrt(square / mf_max(part, tiny));
    const mf_lane slant = part / mf_max(size * square, tiny);
    const Vec around =
        vec_scale(vec_cross(normal, v), mf_set((mf_real)solid->kutta) * slant * area);
    const Vec angular = vec_products(solid->angular_drag, w);
    Vec force = vec_add(vec_cross(momentum, w), vec_cross(around, v));
    force = vec_fma(vec_cross(w, v), mf_set((mf_real)solid->magnus), force);
    const mf_lane whole = mf_fma(mf_set((mf_real)(solid->blunt - solid->slender_part)), area,
                                 mf_set((mf_real)solid->slender));
    return MF_VALUE(Stream, force, vec_add(vec_cross(momentum, v), vec_cross(angular_momentum, w)),
                    mf_fma(size, whole, mf_set((mf_real)fluid->creep)),
                    mf_sqrt(vec_dot(angular, angular)) + mf_set((mf_real)fluid->whirl));
}

// `speed` of its center and `rate` relative to the medium, and the center's speed `ahead` at the
// end of the step without further forces; all in the link's axes.
static inline void solid_add(const mf_ArtFluid *fluid, mf_lane step, const Mat *rotation, Vec arm,
                             Vec speed, Vec ahead, Vec rate, Art *a) {
    const mf_lane zero = mf_zero();
    const Stream stream = stream_on(fluid, mat_apply_transposed(rotation, speed),
                                    mat_apply_transposed(rotation, rate));
    const mf_lane drag = stream.drag * step, torque_drag = stream.torque_drag * step;
    const Vec force = vec_fma(ahead, -stream.drag, mat_apply(rotation, stream.force));
    resist_at(arm, force, MF_VALUE(Sym, drag, drag, drag, zero, zero, zero), a);
    a->n = vec_add(
        a->n, vec_fma(rate, stream.torque_drag, vec_negative(mat_apply(rotation, stream.torque))));
    a->j.xx = a->j.xx + torque_drag;
    a->j.yy = a->j.yy + torque_drag;
    a->j.zz = a->j.zz + torque_drag;
}

static inline void fluid_add(const mf_ArtPlan *plan, const mf_ArtFluid *fluid, mf_lane step,
                             const Pose *pose, Vec down, Vec rate, Art *a) {
    const Vec arm = fluid_numbers(fluid->position);
    const Vec x = fluid_numbers(fluid->rotation), y = fluid_numbers(fluid->rotation + 3),
              z = fluid_numbers(fluid->rotation + 6);
    const Mat rotation = {x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z};
    Vec stream = vec_sub(pose->speed, fluid_numbers(plan->wind));
    Vec speed = vec_cross_add(rate, arm, mat_apply_transposed(&pose->rotation, stream));
    if (plan->integrator != MF_ARTICULATED_IMPLICIT)
        step = mf_zero();
    Vec swing =
        vec_cross_add(rate, vec_cross(rate, arm), vec_scale(down, setting(plan, MF_ART_GRAVITY)));
    Vec ahead = vec_fma(swing, step, speed);
    if (fluid->shaped) {
        solid_add(fluid, step, &rotation, arm, speed, ahead, rate, a);
        return;
    }
    Sym drag =
        fluid_tensor(&rotation, mat_apply_transposed(&rotation, speed), fluid->drag, fluid->creep);
    Sym torque_drag = fluid_tensor(&rotation, mat_apply_transposed(&rotation, rate),
                                   fluid->torque_drag, fluid->whirl);
    resist_at(arm, vec_negative(sym_apply(&drag, ahead)), sym_scale(&drag, step), a);
    a->n = vec_add(a->n, sym_apply(&torque_drag, rate));
    Sym slow = sym_scale(&torque_drag, step);
    a->j = MF_VALUE(Sym, a->j.xx + slow.xx, a->j.yy + slow.yy, a->j.zz + slow.zz, a->j.xy + slow.xy,
                    a->j.xz + slow.xz, a->j.yz + slow.yz);
}

// Those of a link (-1 = base) with the angular velocity `rate`.
static inline void fluids_add(const mf_ArtPlan *plan, int32_t link, uint32_t first, uint32_t count,
                              mf_lane step, const Contacts *contacts, Vec rate, Art *a) {
    const Vec down = pose_down(plan, contacts, link);
    const mf_ArtFluid *fluids = mf_art_fluids(plan);
    for (uint32_t i = first; i < first + count; i++)
        fluid_add(plan, &fluids[i], step, &contacts->pose[link + 1], down, rate, a);
}

// ---- contact prediction -------------------------------------------------------------------------

// Estimated forces of contacts between links, used while the contacts with the ground and the
// limits are determined.
//
// The active set depends on all forces, but contacts between links are solved later. Meanwhile,
// contacts between links have an estimated force from their depth or, if stored (warm_start.h),
// that of the end of the previous step, so that the active set of a robot that rests on itself
// rarely changes. The last solution does not contain these forces.

static inline void prediction_force(const Contacts *contacts, const LinkContact *contact,
                                    int32_t link, mf_real sign, Work *work) {
    if (link == MF_ART_WORLD)
        return;
    const Pose *pose = &contacts->pose[link + 1];
    PredictedLoad *own = &work->predicted[link + 1];
    Vec force = mat_apply_transposed(&pose->rotation, vec_scale(contact->force, mf_set(sign)));
    Vec arm = mat_apply_transposed(&pose->rotation, vec_sub(contact->point, pose->position));
    own->force = vec_add(own->force, vec_keep(contact->exists, force));
    own->torque = vec_add(own->torque, vec_keep(contact->exists, vec_cross(arm, force)));
    work->touching[link + 1] = true;
}

// The forces of the contacts in the list. Lanes without a contact of a link get +0, which changes
// no bit of a difference.
static inline bool predict_list(const mf_ArtPlan *plan, Work *work) {
    const LinkContacts *all = &work->link_contacts;
    for (uint32_t i = 0; i < all->count; i++) {
        const LinkContact *contact = &all->list[i];
        const mf_CollidePair pair = mf_collide_pair_of(mf_art_collide(plan), contact->pair);
        prediction_force(&work->contacts, contact, contact_plan_link(plan, pair.a), -1, work);
        prediction_force(&work->contacts, contact, contact_plan_link(plan, pair.b), 1, work);
    }
    return all->count > 0;
}

// Without a stored force the depth gives the load of a contact at rest.
static inline void predict_springs(const mf_ArtPlan *plan, LinkContacts *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        LinkContact *contact = &all->list[i];
        mf_lane depth = mf_clamp(contact->depth, mf_zero(), setting(plan, MF_ART_DEEP));
        contact->force = vec_scale(contact->normal, setting(plan, MF_ART_FORCE) * depth);
    }
}

static inline void prediction_clear(const mf_ArtPlan *plan, Work *work) {
    for (uint32_t l = 0; l <= plan->link_count; l++) {
        work->predicted[l] = MF_VALUE(PredictedLoad, vec_zero(), vec_zero());
        work->touching[l] = false;
    }
}

// Finds contacts and their expected forces, for fewer lanes at a time if the list is too short.
// False if there are none.
static inline bool predict_forces(const mf_ArtPlan *plan, Work *work) {
    LinkContacts *all = &work->link_contacts;
    bool any = false;
    prediction_clear(plan, work);
    work->closing = mf_not(mf_mask_all());
    for (uint32_t first = 0; first < MF_LANES;) {
        uint32_t width = MF_LANES - first;
        link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        for (; all->overflow && width > 1;) {
            width /= 2;
            link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        }
        if (all->memory != NULL)
            warm_start_load(plan, &work->contacts, all);
        else
            predict_springs(plan, all);
        any = predict_list(plan, work) || any;
        for (uint32_t i = 0; i < all->count; i++)
            work->closing = mf_or(work->closing, all->list[i].exists);
        first += width;
        all->found = width == MF_LANES;
    }
    return any;
}

// Adds the expected forces on link l (-1 = base).
static MF_INLINE void prediction_add(const Work *work, int32_t l, Art *a) {
    if (!work->predicts || !work->touching[l + 1])
        return;
    a->f = vec_sub(a->f, work->predicted[l + 1].force);
    a->n = vec_sub(a->n, work->predicted[l + 1].torque);
}

// ---- aba inertia --------------------------------------------------------------------------------

static MF_INLINE void add_rigid(Art *a, const Constant *c, Vec rate) {
    Vec h = vec_constant(c + MF_ART_MOMENT);
    Sym j = sym_constant(c + MF_ART_INERTIA);
    mf_lane mass = constant_at(c, MF_ART_MASS);
    a->j = MF_VALUE(Sym, a->j.xx + j.xx, a->j.yy + j.yy, a->j.zz + j.zz, a->j.xy + j.xy,
                    a->j.xz + j.xz, a->j.yz + j.yz);
    a->h.xy = a->h.xy - h.z;
    a->h.xz = a->h.xz + h.y;
    a->h.yx = a->h.yx + h.z;
    a->h.yz = a->h.yz - h.x;
    a->h.zx = a->h.zx - h.y;
    a->h.zy = a->h.zy + h.x;
    a->m.xx = a->m.xx + mass;
    a->m.yy = a->m.yy + mass;
    a->m.zz = a->m.zz + mass;
    a->n = vec_cross_add(rate, sym_apply(&j, rate), a->n);
    a->f = vec_cross_add(rate, vec_cross(rate, h), a->f);
}

// A leaf has nothing to add to.
static MF_INLINE Art rigid_art(const Constant *c, Vec rate) {
    const mf_lane zero = mf_zero();
    Vec h = vec_constant(c + MF_ART_MOMENT);
    Sym j = sym_constant(c + MF_ART_INERTIA);
    mf_lane mass = constant_at(c, MF_ART_MASS);
    return MF_VALUE(Art, .j = j, .h = {zero, -h.z, h.y, h.z, zero, -h.x, -h.y, h.x, zero},
                    .m = {mass, mass, mass, zero, zero, zero},
                    .n = vec_cross(rate, sym_apply(&j, rate)),
                    .f = vec_cross(rate, vec_cross(rate, h)));
}

static MF_INLINE Sym sym_plus(const Sym *a, const Sym *b) {
    return MF_VALUE(Sym, a->xx + b->xx, a->yy + b->yy, a->zz + b->zz, a->xy + b->xy, a->xz + b->xz,
                    a->yz + b->yz);
}

// Whether the joint has dry friction at the end of the step (aba_velocity.h).
static MF_INLINE bool is_dry(const mf_ArtPlan *plan, const Drive *drive, const mf_ArtLink *link) {
    return plan->dry_rows > 0 && drive->active && (link->drive & MF_ART_HAS_FRICTION) != 0;
}

static MF_INLINE void eliminate_by(LinkWork *own, Art *a, Vec angular, Vec linear, mf_lane inverse,
                                   mf_lane acceleration) {
    own->acceleration = acceleration;
    own->inverse = inverse;
    own->angular = vec_scale(angular, inverse);
    own->linear = vec_scale(linear, inverse);
    a->j = sym_minus_outer(&a->j, own->angular, angular);
    a->h = art_minus_outer(&a->h, own->angular, linear);
    a->m = sym_minus_outer(&a->m, own->linear, linear);
    a->n = vec_fma(angular, own->acceleration, a->n);
    a->f = vec_fma(linear, own->acceleration, a->f);
}

// Eliminates the joint from the articulated body: (angular, linear) is the column of the joint's
// axis in its inertia.
static MF_INLINE void eliminate(LinkWork *own, Art *a, Vec angular, Vec linear, mf_lane inertia,
                                mf_lane force) {
    mf_lane inverse = mf_set((mf_real)1) / inertia;
    eliminate_by(own, a, angular, linear, inverse, force * inverse);
}

// The same for a joint with dry friction, which stops it in lanes where it sticks.
static MF_INLINE void eliminate_dry(const Drive *drive, mf_lane rate, mf_mask unlocked, Dry *dry,
                                    LinkWork *own, Art *a, Vec angular, Vec linear, mf_lane inertia,
                                    mf_lane force) {
    const mf_mask locked = mf_and(dry->sticks, mf_not(unlocked));
    const mf_lane inverse = mf_set((mf_real)1) / inertia;
    dry->inertia = inertia;
    dry->rest = force;
    dry->angular = angular;
    dry->linear = linear;
    const mf_lane free = (force + dry->force) * inverse;
    eliminate_by(own, a, angular, linear, mf_keep(mf_not(locked), inverse),
                 mf_select(locked, -rate / drive->step, free));
}

static MF_INLINE void aba_inertia_hinge(const mf_ArtPlan *plan, const State *state,
                                        const Drive *drive, mf_lane torque, const Line *pull,
                                        uint32_t l, Work *work, Art *a) {
    LinkWork *own = &work->links[l];
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    mf_lane inertia = a->j.zz + constant_at(c, MF_ART_ARMATURE), rate = state->speed[l];
    Line line = {torque, mf_zero()};
    if (drive->active && link->actuated) {
        line.torque = line.torque + pull->torque;
        line.slope = pull->slope;
    }
    if (drive->active && link->drive != 0)
        drive_joint(plan, link, c, drive, &own->limit, state->angle[l], rate, &line);
    Vec angular = {a->j.xz, a->j.yz, a->j.zz}, linear = {a->h.zx, a->h.zy, a->h.zz};
    inertia = inertia + line.slope;
    if (is_dry(plan, drive, link))
        eliminate_dry(drive, rate, work->unlocked, &work->dry[l], own, a, angular, linear, inertia,
                      line.torque - a->n.z);
    else
        eliminate(own, a, angular, linear, inertia, line.torque - a->n.z);
    // The axis rotates with the link: rate x axis times the joint's rate.
    mf_lane x = own->swirl.y * own->speed, y = own->swirl.x * own->speed;
    a->n.x = mf_fma(a->j.xx, x, mf_fma(-a->j.xy, y, a->n.x));
    a->n.y = mf_fma(a->j.xy, x, mf_fma(-a->j.yy, y, a->n.y));
    a->n.z = mf_fma(a->j.xz, x, mf_fma(-a->j.yz, y, a->n.z));
    a->f.x = mf_fma(a->h.xx, x, mf_fma(-a->h.yx, y, a->f.x));
    a->f.y = mf_fma(a->h.xy, x, mf_fma(-a->h.yy, y, a->f.y));
    a->f.z = mf_fma(a->h.xz, x, mf_fma(-a->h.yz, y, a->f.z));
    art_rotate_z(a, own->cosine, own->sine);
}

static MF_INLINE void add_force(Art *a, Vec acceleration) {
    a->n = mat_apply_add(&a->h, acceleration, a->n);
    a->f = sym_apply_add(&a->m, acceleration, a->f);
}

static inline void aba_inertia_slide(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                     mf_lane force, const Line *pull, uint32_t l, Work *work,
                                     Art *a) {
    LinkWork *own = &work->links[l];
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    mf_lane inertia = a->m.zz + constant_at(c, MF_ART_ARMATURE), rate = state->speed[l];
    Line line = {force, mf_zero()};
    if (drive->active && link->actuated) {
        line.torque = line.torque + pull->torque;
        line.slope = pull->slope;
    }
    if (drive->active && link->drive != 0)
        drive_joint(plan, link, c, drive, &own->limit, state->angle[l], rate, &line);
    Vec angular = {a->h.xz, a->h.yz, a->h.zz}, linear = {a->m.xz, a->m.yz, a->m.zz};
    inertia = inertia + line.slope;
    if (is_dry(plan, drive, link))
        eliminate_dry(drive, rate, work->unlocked, &work->dry[l], own, a, angular, linear, inertia,
                      line.torque - a->f.z);
    else
        eliminate(own, a, angular, linear, inertia, line.torque - a->f.z);
    mf_lane distance = state->angle[l] + constant_at(c, MF_ART_OFFSET);
    add_force(a, slide_bias(own->swirl, distance, own->speed));
    art_shift_z(a, distance);
    art_rotate_z(a, own->cosine, own->sine);
}

// Dry friction of a ball joint; if it sticks, the joint has only the acceleration that stops it.
// Returns those lanes.
static MF_INLINE mf_mask lock_ball(const Drive *drive, Vec rate, mf_mask unlocked,
                                   const Sym *inertia, DryBall *dry, BallWork *ball) {
    const mf_mask locked = mf_and(dry->sticks, mf_not(unlocked));
    dry->inertia = *inertia;
    dry->rest = ball->force;
    ball->force = vec_add(ball->force, dry->force);
    ball->acceleration = vec_keep(locked, vec_scale(rate, mf_set((mf_real)-1) / drive->step));
    return locked;
}

static inline void aba_inertia_ball(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                    Vec torque, const BallTorque *pull, uint32_t l, Work *work,
                                    Art *a) {
    const mf_ArtLink *links = mf_art_links(plan);
    const mf_ArtLink *link = &links[l];
    const LinkWork *own = &work->links[l];
    BallWork *ball = &work->balls[link->row];
    const Constant *c = link_constants(plan, l);
    Vec rate = state->ball_rate[link->row];
    const mf_lane armature = constant_at(c, MF_ART_ARMATURE), zero = mf_zero();
    Sym more = {armature, armature, armature, zero, zero, zero}; // than the link's inertia
    if (drive->active && link->actuated) {
        torque = vec_add(torque, pull->torque);
        more = sym_plus(&more, &pull->slope);
    }
    if (drive->active && link->drive != 0)
        drive_ball(plan, link, c, drive, &own->limit, state->ball[link->row], rate, &more, &torque);
    const Sym inertia = sym_plus(&a->j, &more);
    mf_mask locked = mf_not(mf_mask_all());
    ball_factor(&inertia, ball);
    ball->j = a->j;
    ball->h = a->h;
    ball->force = vec_sub(torque, a->n);
    ball->acceleration = vec_zero();
    if (is_dry(plan, drive, link))
        locked =
            lock_ball(drive, rate, work->unlocked, &inertia, &work->dry_balls[link->row], ball);
    ball_eliminate(ball, &more, locked, a);
    if (is_dry(plan, drive, link)) { // acceleration of a locked joint
        a->n = sym_apply_add(&ball->j, ball->acceleration, a->n);
        a->f = mat_apply_transposed_add(&ball->h, ball->acceleration, a->f);
    }
    Vec rotated = vec_cross(own->rate, rate);
    a->n = sym_apply_add(&a->j, rotated, a->n);
    a->f = mat_apply_transposed_add(&a->h, rotated, a->f);
    art_rotate(a, &ball->rotation);
}

// The part of the actuators' pushes on a link that resists its velocity at the end of the step:
// slope times the wrench of 1 N times itself.
static inline void resist_forces(const mf_ArtPlan *plan, int32_t l, const Actuation *all, Art *a) {
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t i = 0; i < plan->actuator_count; i++) {
        const mf_ArtActuator *actuator = &actuators[i];
        if (actuator->acts != MF_ART_FORCES || !actuator->rated || actuator->links[0] != l)
            continue;
        const Constant *c = actuator_constants(plan, i) + MF_ART_WRENCH;
        Vec force = vec_constant(c), torque = vec_constant(c + 3);
        Vec less = vec_scale(force, -all->slope[i]), rotated = vec_scale(torque, -all->slope[i]);
        a->j = sym_minus_outer(&a->j, rotated, torque);
        a->h = art_minus_outer(&a->h, rotated, force);
        a->m = sym_minus_outer(&a->m, less, force);
    }
}

static MF_INLINE void hand_in(const mf_ArtPlan *plan, uint32_t l, const Art *a, Work *work) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    Art *sum = link->parent < 0 ? &work->base : &work->sums[link->depth - 1];
    if (link->last)
        *sum = *a;
    else
        art_add(sum, a);
}

// Compensated weight and actuators that push a link.
static inline void load_link(const mf_ArtPlan *plan, int32_t l, bool lifted, bool thrust,
                             const Work *work, Art *a) {
    const Constant *c = l < 0 ? base_constants(plan) : link_constants(plan, (uint32_t)l);
    if (thrust) {
        a->f = vec_sub(a->f, work->actuation.wrench[l + 1].force);
        a->n = vec_sub(a->n, work->actuation.wrench[l + 1].torque);
        if (work->actuation.implicit)
            resist_forces(plan, l, &work->actuation, a);
    }
    if (lifted) {
        Vec weight = vec_scale(pose_down(plan, &work->contacts, l), setting(plan, MF_ART_GRAVITY));
        a->f = vec_fma(weight, constant_at(c, MF_ART_LIFT), a->f);
        a->n = vec_cross_add(vec_constant(c + MF_ART_LIFT_MOMENT), weight, a->n);
    }
}

static void aba_inertia_link(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                             const Rates *force, uint32_t l, Work *work) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Constant *c = link_constants(plan, l);
    LinkWork *own = &work->links[l];
    Art a;
    if (link->leaf) {
        a = rigid_art(c, own->swirl);
    } else {
        a = work->sums[link->depth];
        add_rigid(&a, c, own->swirl);
    }
    if (work->contacts.any && link->contact_count > 0 && !plan->law)
        contacts_add(plan, (int32_t)l, link->first_contact, link->contact_count, drive->step,
                     &work->contacts, own->rate, &a);
    prediction_add(work, (int32_t)l, &a);
    if (drive->active && (link->lifted || link->thrust))
        load_link(plan, (int32_t)l, link->lifted, link->thrust, work, &a);
    if (drive->active && link->fluid_count > 0)
        fluids_add(plan, (int32_t)l, link->first_fluid, link->fluid_count, drive->step,
                   &work->contacts, own->rate, &a);
    const Line *pull = &work->actuation.lines[l];
    if (link->kind == MF_ART_BALL) {
        aba_inertia_ball(plan, state, drive, force->ball[link->row],
                         &work->actuation.balls[link->row], l, work, &a);
    } else {
        if (link->kind == MF_ART_HINGE)
            aba_inertia_hinge(plan, state, drive, force->joint[l], pull, l, work, &a);
        else
            aba_inertia_slide(plan, state, drive, force->joint[l], pull, l, work, &a);
        out_of_joint(link, c, &a);
    }
    if (link->shift != 0) {
        add_force(&a, own->bias);
        shift_to_parent(link, c, &a);
    }
    if (REUSES_INERTIA)
        work->handed[l] = a;
    hand_in(plan, l, &a, work);
}

// All new links, with the contributions of their children.
static inline void aba_inertia_all(const mf_ArtPlan *plan, const State *state, const Drive *drive,
                                   const Rates *force, Work *work) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const int32_t parent = links[l].parent;
        if (!REUSES_INERTIA || work->stale[l])
            aba_inertia_link(plan, state, drive, force, l, work);
        else if (parent < 0 || work->stale[parent])
            hand_in(plan, l, &work->handed[l], work);
    }
}

// Marks all ancestors of a stale link as stale.
static inline void mark_stale(const mf_ArtPlan *plan, Work *work) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = plan->link_count; REUSES_INERTIA && l-- > 0;)
        if (work->stale[l] && links[l].parent >= 0)
            work->stale[links[l].parent] = true;
}

static inline void stale_set(const mf_ArtPlan *plan, bool stale, Work *work) {
    for (uint32_t l = 0; REUSES_INERTIA && l < plan->link_count; l++)
        work->stale[l] = stale;
}
