// Gyroscopic torque at the end of a step, and the momentum of bodies in flight.
//
// With the explicit torque w x J w a spinning body gains energy in every step, without bound. Here
// a step is a kick and a rotation. The kick adds the impulse of forces to the angular momentum, L =
// J w + h t. The rotation keeps L constant in the world, so in the body's axes, which rotate by u =
// h (w0 + w1) / 2,
//     D w1 = b + exp(-u) L                                                                      (1)
// with w0 the rate after the kick and D = J, b = 0 for a single body. The attitude rotates by
// the same u. This is the Lie midpoint rule (Simo and Wong 1991; Krysl and Endres 2005): the
// momentum in the world is kept to rounding, and so is the energy of a body in flight, since (w0 +
// w1) (L1 - L0) is 0; |L| stays, so no step is unstable. (1) is solved by Newton's method.
//
// A single body: all forces, including contacts, follow from its accelerations; a body that an
// equality constraint connects to the world is not corrected. With MuJoCo's law, whose Euler steps
// have the explicit torque, this applies to bodies on which no constraint acts, including free
// bodies of a larger file. A tree in flight: the momentum of all links together; J and b contain
// its joints at the end of the step, and the external forces are gravity, base.force and
// collisions. A ball joint: J is the inertia of its link about the joint, D that which the joint
// moves. Otherwise (a tree that touches something) the torque at the beginning of the step is used.
#pragma once

#include "motion/articulated/tree/integrate.h"
#include "motion/articulated/tree/aba_velocity.h"
#include "motion/articulated/tree/linkage.h"

// ---- crba ---------------------------------------------------------------------------------------

// A tree moved as one rigid body (Featherstone 2008, section 6.2): inertias of links, added.

typedef struct Composite {
    Frame frame;
    mf_lane mass; // [kg]
    Vec moment;   // [kg m]
    Sym inertia;  // [kg m^2] about the origin
} Composite;

// Adds a body, seen from a frame in which its own lies as `frame`.
static inline void join(Composite *sum, const Composite *body, const Frame *frame) {
    Vec moment = mat_apply(&frame->rotation, body->moment), d = frame->position;
    Sym rotated = sym_rotate(&frame->rotation, &body->inertia);
    // Steiner's theorem for a body given by its first moment: with p = 2 d.h + m d^2 the tensor
    // grows by p 1 - (d h^T + h d^T + m d d^T).
    Vec md = vec_scale(d, body->mass), g = vec_add(moment, md);
    mf_lane p = vec_dot(d, moment) + vec_dot(d, g);
    sum->inertia.xx += rotated.xx + p - mf_fma(d.x, g.x, moment.x * d.x);
    sum->inertia.yy += rotated.yy + p - mf_fma(d.y, g.y, moment.y * d.y);
    sum->inertia.zz += rotated.zz + p - mf_fma(d.z, g.z, moment.z * d.z);
    sum->inertia.xy += rotated.xy - mf_fma(d.x, g.y, moment.x * d.y);
    sum->inertia.xz += rotated.xz - mf_fma(d.x, g.z, moment.x * d.z);
    sum->inertia.yz += rotated.yz - mf_fma(d.y, g.z, moment.y * d.z);
    sum->moment = vec_add(sum->moment, g);
    sum->mass = sum->mass + body->mass;
}

static inline Composite rigid_body(const Constant *c) {
    return MF_VALUE(Composite, .mass = constant_at(c, MF_ART_MASS),
                    .moment = vec_constant(c + MF_ART_MOMENT),
                    .inertia = sym_constant(c + MF_ART_INERTIA));
}

// ---- momentum -----------------------------------------------------------------------------------

enum { GYROSCOPIC_ROUNDS = 5 }; // of Newton's method, which converges quadratically

// Rotation by u: exp(-u) a = a - first u x a + second u x (u x a); its derivative by u is 1 -
// second [u] + third [u]^2.
typedef struct RotationStep {
    Vec by; // [rad]
    mf_lane first, second, third;
} RotationStep;

static MF_INLINE RotationStep rotation_of_rates(Vec kicked, Vec rate, mf_lane half) {
    const mf_lane one = mf_set((mf_real)1), part = mf_set((mf_real)0.5);
    RotationStep rotation_step = {.by = vec_scale(vec_add(kicked, rate), half)};
    const mf_lane square = vec_dot(rotation_step.by, rotation_step.by), size = mf_sqrt(square);
    mf_lane sine, cosine;
    sin_cos(part * size, &sine, &cosine);
    // sin(t) / t, (1 - cos(t)) / t^2 and (t - sin(t)) / t^3; by their series near 0, the last one,
    // which only steers Newton's method, from farther away.
    const mf_mask small = mf_less(square, mf_set((mf_real)1e-6)),
                  close = mf_less(square, mf_set((mf_real)0.0625));
    const mf_lane safe = mf_select(small, one, square);
    const mf_lane first = mf_fma(square, mf_set((mf_real)(-1.0 / 6.0)), one);
    const mf_lane second = mf_fma(square, mf_set((mf_real)(-1.0 / 24.0)), part);
    const mf_lane third =
        mf_fma(square, mf_set((mf_real)(-1.0 / 120.0)), mf_set((mf_real)(1.0 / 6.0)));
    rotation_step.first = mf_select(small, first, (sine + sine) * cosine / mf_sqrt(safe));
    rotation_step.second = mf_select(small, second, (sine + sine) * sine / safe);
    rotation_step.third = mf_select(close, third, (one - rotation_step.first) / safe);
    return rotation_step;
}

// The world vector `a` in rotated axes.
static MF_INLINE Vec vec_rotate_back(const RotationStep *rotation_step, Vec a) {
    const Vec across = vec_cross(rotation_step->by, a);
    return vec_fma(across, -rotation_step->first,
                   vec_fma(vec_cross(rotation_step->by, across), rotation_step->second, a));
}

// x of m x = r by Cramer's rule; m by its columns.
static MF_INLINE Vec divide_by_columns(Vec a, Vec b, Vec c, Vec r) {
    const Vec bc = vec_cross(b, c);
    const mf_lane over = mf_set((mf_real)1) / vec_dot(a, bc);
    return MF_VALUE(Vec, vec_dot(r, bc) * over, vec_dot(a, vec_cross(r, c)) * over,
                    vec_dot(a, vec_cross(b, r)) * over);
}

// Small bodies must not vanish in a product of three moments.
static MF_INLINE mf_lane scale_of(const Sym *d) {
    return mf_set((mf_real)1) / (d->xx + d->yy + d->zz);
}

static MF_INLINE Vec sym_divide(const Sym *d, Vec r) {
    const mf_lane s = scale_of(d);
    return divide_by_columns(MF_VALUE(Vec, d->xx * s, d->xy * s, d->xz * s),
                             MF_VALUE(Vec, d->xy * s, d->yy * s, d->yz * s),
                             MF_VALUE(Vec, d->xz * s, d->yz * s, d->zz * s), vec_scale(r, s));
}

// Derivative of `seen` = exp(-u) l for a change of u along `direction`, d: seen x (d - second u x d
// + ...).
static MF_INLINE Vec change_of(const RotationStep *rotation_step, Vec seen, Vec direction) {
    const Vec across = vec_cross(rotation_step->by, direction);
    const Vec more = vec_fma(vec_cross(rotation_step->by, across), rotation_step->third, direction);
    return vec_cross(seen, vec_fma(across, -rotation_step->second, more));
}

// Solves (1) for w1 - w0 by Newton's method, starting from `kicked` = w0. A lane stops after the
// correction whose square is below rounding and then keeps its values, so other lanes do not affect
// it. Lanes in `lanes` whose last correction was more than a thousandth of the rate raise a
// warning.
static MF_INLINE Vec gyroscopic_solve(const Sym *d, Vec b, Vec momentum, Vec kicked, mf_lane step,
                                      mf_mask lanes, Warnings *warnings) {
    const mf_lane half = step * mf_set((mf_real)0.5), s = scale_of(d), k = -half * s,
                  zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_lane fine = mf_set(sizeof(mf_real) == 4 ? (mf_real)1e-8 : (mf_real)1e-16);
    Vec w = kicked, more = MF_VALUE(Vec, zero, zero, zero);
    mf_lane moved = zero, size = zero;
    mf_mask busy = mf_mask_all();
    for (int i = 0; i < GYROSCOPIC_ROUNDS && mf_any(busy); i++) {
        const RotationStep rotation_step = rotation_of_rates(kicked, w, half);
        const Vec seen = vec_rotate_back(&rotation_step, momentum);
        const Vec rest = vec_sub(vec_add(b, seen), sym_apply(d, w));
        const Vec x = vec_fma(change_of(&rotation_step, seen, MF_VALUE(Vec, one, zero, zero)), k,
                              MF_VALUE(Vec, d->xx * s, d->xy * s, d->xz * s));
        const Vec y = vec_fma(change_of(&rotation_step, seen, MF_VALUE(Vec, zero, one, zero)), k,
                              MF_VALUE(Vec, d->xy * s, d->yy * s, d->yz * s));
        const Vec z = vec_fma(change_of(&rotation_step, seen, MF_VALUE(Vec, zero, zero, one)), k,
                              MF_VALUE(Vec, d->xz * s, d->yz * s, d->zz * s));
        const Vec change = divide_by_columns(x, y, z, vec_scale(rest, s));
        more = vec_select(busy, vec_add(more, change), more);
        w = vec_add(kicked, more);
        moved = mf_select(busy, vec_dot(change, change), moved);
        size = mf_select(busy, vec_dot(w, w), size);
        busy = mf_and(busy, mf_less(fine * size, moved));
    }
    const mf_mask wrong = mf_and(lanes, mf_less(mf_set((mf_real)1e-6) * size, moved));
    if (mf_any(wrong))
        warnings_raise(warnings, wrong, MF_WARNING_ROTATION, mf_sqrt(moved / size));
    return more;
}

static MF_INLINE Vec vec_mean(Vec a, Vec b) {
    return vec_scale(vec_add(a, b), mf_set((mf_real)0.5));
}

static MF_INLINE Sym sym_more(Sym a, mf_lane more) {
    return MF_VALUE(Sym, a.xx + more, a.yy + more, a.zz + more, a.xy, a.xz, a.yz);
}

// ---- all links together -------------------------------------------------------------------------

// The tree as a rigid body, and its momentum while the base rests; the base's axes.
typedef struct Whole {
    Vec center;     // [m] from the base's origin
    Sym inertia;    // [kg m^2] about the center
    Vec drift, own; // [m/s] of the center, [N m s] about it
} Whole;

typedef struct Rider { // a link relative to the base
    Frame frame;
    Vec rate, speed; // [rad/s] own axes, [m/s] the base's
} Rider;

static MF_INLINE Rider rider_of(const mf_ArtPlan *plan, const State *state, uint32_t l,
                                const Rider *parent) {
    const mf_ArtLink *link = &mf_art_links(plan)[l];
    const Frame frame = link_frame(plan, state, l);
    const Mat *to_base = &parent->frame.rotation;
    Rider own = {.frame = {mat_multiply(to_base, &frame.rotation),
                           mat_apply_add(to_base, frame.position, parent->frame.position)}};
    Vec speed = vec_cross(parent->rate, frame.position);
    own.rate = mat_apply_transposed(&frame.rotation, parent->rate);
    if (link->kind == MF_ART_BALL)
        own.rate = vec_add(own.rate, state->ball_rate[link->row]);
    else if (link->kind == MF_ART_HINGE)
        own.rate.z = own.rate.z + state->speed[l];
    else
        speed = vec_fma(MF_VALUE(Vec, frame.rotation.xz, frame.rotation.yz, frame.rotation.zz),
                        state->speed[l], speed);
    own.speed = mat_apply_add(to_base, speed, parent->speed);
    return own;
}

// Steiner's theorem backwards: about the center.
static MF_INLINE Sym about_center(const Composite *body, Vec c) {
    const Vec h = body->moment;
    const Sym *j = &body->inertia;
    const mf_lane p = vec_dot(h, c);
    return MF_VALUE(Sym, j->xx - mf_fma(-h.x, c.x, p), j->yy - mf_fma(-h.y, c.y, p),
                    j->zz - mf_fma(-h.z, c.z, p), mf_fma(h.x, c.y, j->xy), mf_fma(h.x, c.z, j->xz),
                    mf_fma(h.y, c.z, j->yz));
}

// `riders` is space for one per plan link and the base.
static inline void whole_find(const mf_ArtPlan *plan, const State *state, Rider *riders,
                              Whole *out) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Composite sum = rigid_body(base_constants(plan));
    Vec linear = vec_zero(),
        angular_momentum = vec_zero(); // [kg m/s], [N m s] about the base's origin
    riders[0] =
        MF_VALUE(Rider, .frame = {{one, zero, zero, zero, one, zero, zero, zero, one}, vec_zero()},
                 .rate = vec_zero(), .speed = vec_zero());
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const Composite body = rigid_body(link_constants(plan, l));
        riders[l + 1] = rider_of(plan, state, l, &riders[links[l].parent + 1]);
        const Rider *own = &riders[l + 1];
        join(&sum, &body, &own->frame);
        // In the link's axes, about its origin: m v + w x h and J w + h x v.
        const Vec v = mat_apply_transposed(&own->frame.rotation, own->speed);
        const Vec p = vec_cross_add(own->rate, body.moment, vec_scale(v, body.mass));
        const Vec s = vec_cross_add(body.moment, v, sym_apply(&body.inertia, own->rate));
        const Vec pushed = mat_apply(&own->frame.rotation, p);
        linear = vec_add(linear, pushed);
        angular_momentum = vec_cross_add(own->frame.position, pushed,
                                         mat_apply_add(&own->frame.rotation, s, angular_momentum));
    }
    const mf_lane over = one / sum.mass;
    out->center = vec_scale(sum.moment, over);
    out->inertia = about_center(&sum, out->center);
    out->drift = vec_scale(linear, over);
    out->own = vec_sub(angular_momentum, vec_cross(out->center, linear));
}

// ---- the base -----------------------------------------------------------------------------------

typedef struct Start { // of a step
    Vec position, velocity, rate;
    Quat attitude;
    Vec position_low, velocity_low, rate_low; // remainders, not a whole State: stacks are small
    Quat attitude_low;
    Whole whole;
    Rider *riders; // memory of whole_find, on request
    mf_mask flies; // trees: in flight
    bool any;      // some lane needs a correction
} Start;

static MF_INLINE Start start_of(const State *state, const State *low, mf_mask flies) {
    return MF_VALUE(Start, .position = state->position, .velocity = state->velocity,
                    .rate = state->rate, .attitude = state->attitude, .position_low = low->position,
                    .velocity_low = low->velocity, .rate_low = low->rate,
                    .attitude_low = low->attitude, .flies = flies);
}

static MF_INLINE Start start_note(const mf_ArtPlan *plan, const State *state, const State *low,
                                  mf_mask flies, Rider *riders) {
    Start start = start_of(state, low, flies);
    start.riders = riders;
    const bool whole = plan->link_count == 0 ? plan->law || plan->loop_count == 0 : plan->loose;
    start.any = !plan->fixed && whole && mf_any(flies);
    if (start.any)
        whole_find(plan, state, riders, &start.whole);
    return start;
}

static MF_INLINE Quat quat_where(mf_mask where, Quat a, Quat b) {
    return MF_VALUE(Quat, mf_select(where, a.w, b.w), mf_select(where, a.x, b.x),
                    mf_select(where, a.y, b.y), mf_select(where, a.z, b.z));
}

typedef struct Kick { // effect of forces in a step
    Vec rate;         // [rad/s] own axes
    Vec momentum;     // [N m s] about the center, own axes of the beginning: all of it then
    Vec moves;        // [m/s] of the center against the origin at the beginning, world
    Vec gain;         // [m/s] of the center, world
} Kick;

// Rate, attitude, velocity and position at the end of the step.
static MF_INLINE void base_set(const Start *start, const Whole *end, const Sym *d, Vec b,
                               const Kick *kick, mf_lane step, Warnings *warnings, State *state,
                               State *low) {
    const mf_mask flies = start->flies;
    Vec position_low = start->position_low, velocity_low = start->velocity_low,
        rate_low = start->rate_low;
    Quat attitude_low = start->attitude_low;
    const Vec kicked = vec_add(start->rate, kick->rate);
    const Vec more = gyroscopic_solve(d, b, kick->momentum, kicked, step, flies, warnings);
    const Vec rate = vec_sum_plus(vec_add(kick->rate, more), start->rate, &rate_low);
    const Quat attitude = quat_sum_plus(quat_change(start->attitude, vec_mean(kicked, rate), step),
                                        start->attitude, &attitude_low);
    const Mat before = quat_matrix(start->attitude), after = quat_matrix(attitude);
    const Vec from = mat_apply(&before, start->whole.center), to = mat_apply(&after, end->center);
    const Vec own = mat_apply(&after, vec_cross_add(rate, end->center, end->drift));
    const Vec center = vec_add(vec_add(start->velocity, kick->moves), kick->gain);
    const Vec position =
        vec_sum_plus(vec_fma(center, step, vec_sub(from, to)), start->position, &position_low);
    const Vec velocity = vec_sum_plus(vec_add(kick->gain, vec_sub(kick->moves, own)),
                                      start->velocity, &velocity_low);
    state->rate = vec_select(flies, rate, state->rate);
    state->attitude = quat_where(flies, attitude, state->attitude);
    state->velocity = vec_select(flies, velocity, state->velocity);
    state->position = vec_select(flies, position, state->position);
    low->rate = vec_select(flies, rate_low, low->rate);
    low->attitude = quat_where(flies, attitude_low, low->attitude);
    low->velocity = vec_select(flies, velocity_low, low->velocity);
    low->position = vec_select(flies, position_low, low->position);
}

// A single body with its accelerations; `rotor` is added to its inertia.
static MF_INLINE void keep_body(const Start *start, const Rates *rates, mf_lane rotor, mf_lane step,
                                Warnings *warnings, State *state, State *low) {
    const Whole *body = &start->whole;
    const Mat before = quat_matrix(start->attitude);
    const Vec w = start->rate, gain = rates->angular, c = body->center;
    const Sym d = sym_more(body->inertia, rotor);
    const Vec gyro = vec_cross(w, sym_apply(&body->inertia, w));
    const Vec end = vec_fma(gain, step, w);
    const Vec swing = vec_cross_add(gain, c, vec_cross(w, vec_cross(w, c)));
    const Kick kick = {.rate = vec_scale(vec_add(gain, sym_divide(&d, gyro)), step),
                       .momentum = vec_fma(gyro, step, sym_apply(&body->inertia, end)),
                       .moves = mat_apply(&before, vec_cross(w, c)),
                       .gain = vec_scale(vec_add(rates->linear, mat_apply(&before, swing)), step)};
    base_set(start, body, &d, vec_scale(end, rotor), &kick, step, warnings, state, low);
}

// A tree in flight; `end` is the sum of its links after the joints have moved, `force` the external
// force.
static inline void keep_whole(const mf_ArtPlan *plan, const Start *start, const Whole *end,
                              mf_lane mass, const Rates *force, mf_lane step, Warnings *warnings,
                              State *state, State *low) {
    const Whole *from = &start->whole;
    const mf_lane over = mf_set((mf_real)1) / mass;
    const Mat before = quat_matrix(start->attitude);
    const Vec w = start->rate, pull = mat_apply_transposed(&before, force->linear);
    const Vec torque = vec_sub(force->angular, vec_cross(from->center, pull));
    Vec gain = vec_scale(force->linear, over);
    gain = vec_fma(up_in_world(plan), -setting(plan, MF_ART_GRAVITY), gain);
    const Kick kick = {.rate = vec_scale(sym_divide(&from->inertia, torque), step),
                       .momentum =
                           vec_add(vec_fma(torque, step, from->own), sym_apply(&from->inertia, w)),
                       .moves = mat_apply(&before, vec_cross_add(w, from->center, from->drift)),
                       .gain = vec_scale(gain, step)};
    base_set(start, end, &end->inertia, vec_negative(end->own), &kick, step, warnings, state, low);
}

static inline void keep_tree(const mf_ArtPlan *plan, const Start *start, const Rates *force,
                             mf_lane step, Warnings *warnings, State *state, State *low) {
    Whole end;
    whole_find(plan, state, start->riders, &end);
    keep_whole(plan, start, &end, setting(plan, MF_ART_ALL_MASS), force, step, warnings, state,
               low);
}

// Corrects the base after an Euler step.
static inline void keep_momentum(const mf_ArtPlan *plan, const Start *start, const Rates *force,
                                 const Rates *rates, mf_lane step, Warnings *warnings, State *state,
                                 State *low) {
    if (!start->any)
        return;
    if (plan->link_count == 0) {
        keep_body(start, rates, constant_at(base_constants(plan), MF_ART_ARMATURE), step, warnings,
                  state, low);
        return;
    }
    keep_tree(plan, start, force, step, warnings, state, low);
}

// ---- free bodies of a larger file ---------------------------------------------------------------

// The ball link of a floating body in the world without children.
static MF_INLINE bool is_floating(const mf_ArtPlan *plan, uint32_t l) {
    const mf_ArtLink *links = mf_art_links(plan);
    return plan->fixed && links[l].kind == MF_ART_BALL && links[l].leaf && l >= 3 &&
           links[l].parent == (int32_t)l - 1 && links[l - 1].inner && links[l - 3].parent < 0;
}

static MF_INLINE Vec vec_rows(const mf_lane *rows) {
    return MF_VALUE(Vec, rows[0], rows[1], rows[2]);
}

// Such a body in the constant axes of its joint.
static MF_INLINE State floating_state(const State *state, uint32_t l, uint32_t row) {
    return MF_VALUE(State, .position = vec_rows(state->angle + l - 3), .attitude = state->ball[row],
                    .velocity = vec_rows(state->speed + l - 3), .rate = state->ball_rate[row]);
}

static inline void floating_note(const mf_ArtPlan *plan, const State *state, State *before) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->law && l < plan->link_count; l++)
        if (is_floating(plan, l))
            before[links[l].row] = floating_state(state, l, links[l].row);
}

// Lanes in which no constraint acts on dofs first .. first + 5.
static MF_INLINE mf_mask lanes_without_push(const mf_mask *pushed, uint32_t first) {
    mf_mask any = pushed[first];
    for (uint32_t i = 1; i < 6; i++)
        any = mf_or(any, pushed[first + i]);
    return mf_not(any);
}

static MF_INLINE void floating_store(const State *body, uint32_t l, uint32_t row, State *state) {
    const mf_lane position[3] = {body->position.x, body->position.y, body->position.z},
                  velocity[3] = {body->velocity.x, body->velocity.y, body->velocity.z};
    for (uint32_t i = 0; i < 3; i++) {
        state->angle[l - 3 + i] = position[i];
        state->speed[l - 3 + i] = velocity[i];
    }
    state->ball[row] = body->attitude;
    state->ball_rate[row] = body->rate;
}

// With the state stored by floating_note; only in the lanes `alone`.
static inline void keep_floating(const mf_ArtPlan *plan, mf_mask alone, const Rates *rates,
                                 mf_lane step, Work *work, State *state, State *low) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; plan->law && l < plan->link_count; l++) {
        if (!is_floating(plan, l))
            continue;
        const uint32_t row = links[l].row;
        Start start = start_of(&work->floating[row], &work->floating_low[row],
                               mf_and(alone, lanes_without_push(work->pushed, links[l - 3].dof)));
        if (!mf_any(start.flies))
            continue;
        const Constant *c = link_constants(plan, l);
        const Composite body = rigid_body(c);
        start.whole =
            MF_VALUE(Whole, .center = vec_scale(body.moment, mf_set((mf_real)1) / body.mass),
                     .drift = vec_zero(), .own = vec_zero());
        start.whole.inertia = about_center(&body, start.whole.center);
        const Rates own = {.linear = vec_rows(rates->joint + l - 3), .angular = rates->ball[row]};
        State end = floating_state(state, l, row), lost = floating_state(low, l, row);
        keep_body(&start, &own, constant_at(c, MF_ART_ARMATURE), step, &work->warnings, &end,
                  &lost);
        floating_store(&end, l, row, state);
        floating_store(&lost, l, row, low);
    }
}

// ---- ball joints --------------------------------------------------------------------------------

// The same for the link of each ball joint, instead of the rotation by its final rate.
static inline void keep_balls(const mf_ArtPlan *plan, Work *work, mf_lane step, State *state,
                              State *low) {
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Constant *c = link_constants(plan, l);
        if (link->kind != MF_ART_BALL)
            continue;
        const Sym own = sym_constant(c + MF_ART_INERTIA);
        const Sym d = sym_more(work->balls[link->row].j, constant_at(c, MF_ART_ARMATURE));
        const Vec w = work->links[l].rate, gyro = vec_cross(w, sym_apply(&own, w));
        const Vec end = vec_fma(work->angular[l], step, w);
        const Vec constant = sym_apply(&own, end), momentum = vec_fma(gyro, step, constant);
        const Vec kicked = vec_fma(sym_divide(&d, gyro), step, end);
        const Vec b = vec_sub(sym_apply(&d, end), constant);
        const Vec rate = vec_add(kicked, gyroscopic_solve(&d, b, momentum, kicked, step,
                                                          mf_mask_all(), &work->warnings));
        const Vec change = vec_sub(rate, end);
        const Quat before = work->ball_before[link->row];
        const Vec mean = vec_sub(vec_mean(kicked, rate), end); // next to the rate of the end
        const Vec rotation = vec_add(state->ball_rate[link->row], mean);
        state->ball_rate[link->row] =
            vec_sum_plus(change, state->ball_rate[link->row], &low->ball_rate[link->row]);
        low->ball[link->row] = work->ball_low[link->row];
        state->ball[link->row] =
            quat_sum_plus(quat_change(before, rotation, step), before, &low->ball[link->row]);
    }
}
