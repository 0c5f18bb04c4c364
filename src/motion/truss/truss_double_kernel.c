// One step of the trusses of some lanes: actuators change their rest lengths, noise is drawn, and
// the vertices move to the nearest minimum of the energy, without inertia (a frame) or with it;
// then forces, stresses and warnings. docs/explanation/quasistatic.md has the
// equations.
//
// Invariants: a lane never depends on another; a lane whose step is not finite or out of range
// stores nothing of it.

#include "motion/truss/load.h"

// ---- stages -------------------------------------------------------------------------------------

// A step of a truss with inertia: TR-BDF2, the trapezoidal rule to 2 d = 0.59 of the step and the
// second backward difference formula to its end (Bank et al. 1985; in the form of Hosea and
// Shampine 1996, a rule of order 2, L-stable, whose stages have order 2 too). Both stages are
// minima of an incremental potential (Radovitzky and Ortiz 1999). With c = d h, w = sqrt(2) / 4,
// forces of bars and loads S(x), and of contacts C(x):
//     stage 1: v1 = v + c (S + S1) / m + 2 c C1 / m,           x1 = x + c (v + v1)
//     stage 2: v2 = v + (w h (S + S1) + c S2) / m + h C2 / m,  x2 = x + w h (v + v1) + c v2
// Contacts act with the force at the end of a stage for all of its time, so they count 2 and h / c
// times in the potentials: with the weights of bars an impact in stage 1 alone would give more than
// it takes (docs/explanation/quasistatic.md). A lane that still ends with more energy than it had
// and its actuators gave takes the step anew by the implicit rule of Euler.

// ---- store --------------------------------------------------------------------------------------

// Storing of the trusses of some lanes into their fields, with forces, stresses and warnings.

// Range of positions: within it a double resolves a bar's length to 1e-10 m.
#define MF_TRUSS_RANGE ((mf_real)1e6) // [m]

static MF_INLINE void keep_row(mf_mask where, double *rows, size_t c, mf_lane a) {
    mf_store_where(where, rows + c * MF_BLOCK, a);
}

static MF_INLINE void keep_vec(mf_mask where, double *rows, size_t c, Vec a) {
    keep_row(where, rows, c, a.x);
    keep_row(where, rows, c + 1, a.y);
    keep_row(where, rows, c + 2, a.z);
}

// The velocity [m/s] of a vertex at the end of a stage.
static Vec velocity_of(const Frame *f, uint32_t v) {
    return vec_scale(vec_sub(f->position[v], f->base[v]), mf_set((mf_real)1) / f->stage);
}

// Center of mass of `at`.
static Vec center_of(const Frame *f, const Vec *at) {
    Vec sum = {mf_zero(), mf_zero(), mf_zero()};
    mf_lane mass = mf_set((mf_real)1e-30);
    for (uint32_t v = 0; v < f->vertices; v++) {
        sum = vec_fma(at[v], f->mass[v], sum);
        mass = mass + f->mass[v];
    }
    return vec_scale(sum, mf_set((mf_real)1) / mass);
}

static void store_vertices(const Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_VERTICES);
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask has = mf_and(where, mf_index_less(mf_set_index((int32_t)v), count));
        keep_vec(has, block->position, AXES * (size_t)v, f->position[v]);
    }
    Vec now = center_of(f, f->position), was = center_of(f, f->start);
    keep_vec(where, block->base, 0, now);
    if (!f->plan->dynamic)
        keep_vec(where, block->linear, 0,
                 vec_scale(vec_sub(now, was), mf_set((mf_real)(1 / block->step))));
}

// What is farther than a jump is no movement that goes on.
static void store_movements(const Frame *f, mf_mask where, mf_lane most) {
    const mf_index count = index_load(f->block->counts, MF_TRUSS_VERTICES);
    mf_mask jumps = mf_less(mf_set((mf_real)f->plan->jump), most);
    const Vec none = {mf_zero(), mf_zero(), mf_zero()};
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask has = mf_and(where, mf_index_less(mf_set_index((int32_t)v), count));
        Vec by = vec_select(jumps, none, vec_sub(f->position[v], f->start[v]));
        Vec change = vec_select(jumps, none, vec_sub(by, f->movement[v]));
        keep_vec(has, f->block->movement, AXES * (size_t)v, by);
        keep_vec(has, f->block->change, AXES * (size_t)v, change);
    }
}

// Velocities [m/s] at the end of a dynamic step, and that of the center of mass.
static void store_velocities(Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_VERTICES);
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask has = mf_and(where, mf_index_less(mf_set_index((int32_t)v), count));
        f->velocity[v] = velocity_of(f, v);
        keep_vec(has, block->velocity, AXES * (size_t)v, f->velocity[v]);
    }
    keep_vec(where, block->linear, 0, center_of(f, f->velocity));
}

static void store_contacts(const Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const uint32_t count = contact_count(f);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = i < f->vertices ? i : i - f->vertices + f->plan->vertices;
        const Touch *touch = &f->touch[i];
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Contact c = contact_at(f, touch, contact_position(f->position, &contact_point, false));
        Vec force;
        contact_energy(f, &c, &force);
        force = vec_scale(force, mf_set((mf_real)1) / f->share);
        mf_mask has = mf_and(where, contact_point_exists(f, i));
        keep_vec(has, block->contact, AXES * (size_t)row, force);
        keep_vec(has, block->anchor, AXES * (size_t)row, touch->anchor);
    }
}

// Tension, stress, and what the material does not bear: yield, and the load of Euler (1744),
// pi^2 E I / L^2 with E I = rigidity * d^2 / 16 for a round bar.
static void store_bars(Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const mf_real pi = (mf_real)3.14159265358979323846;
    const mf_lane yield = mf_set((mf_real)f->plan->yield);
    mf_lane stressed = mf_zero(), buckled = mf_zero();
    for (uint32_t b = 0; b < f->bars; b++) {
        const Bar *bar = &f->bar[b];
        Stretch s = stretch_of(bar, f->position, false);
        mf_lane diameter = mf_max(bar->radius + bar->radius, mf_set((mf_real)1e-9));
        mf_lane stress = s.force / (mf_set(pi / 4) * diameter * diameter);
        mf_mask has = mf_and(where, mf_less(mf_zero(), bar->stiffness));
        keep_row(has, block->force, b, s.force);
        keep_row(has, block->stress, b, stress);
        mf_lane bending = bar->stiffness * bar->rest * diameter * diameter * mf_set(pi * pi / 16);
        mf_lane euler = bending / mf_max(bar->rest * bar->rest, mf_set((mf_real)1e-18));
        stressed = mf_max(stressed, mf_abs(stress));
        buckled = mf_max(buckled, -s.force / mf_max(euler, mf_set((mf_real)1e-30)));
    }
    mf_mask yields = mf_and(mf_less(mf_zero(), yield), mf_less(yield, stressed));
    warnings_raise(&f->warnings, yields, MF_WARNING_YIELD, stressed);
    warnings_raise(&f->warnings, mf_less(mf_set((mf_real)1), buckled), MF_WARNING_BUCKLING,
                   buckled);
}

static mf_lane movement_of(const Frame *f) {
    mf_lane most = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++)
        most = mf_max(most, vec_most(vec_sub(f->position[v], f->start[v])));
    return most;
}

// Lanes whose positions are no numbers or too far away are frozen.
static void check_frame(Frame *f) {
    mf_lane most = mf_zero(), sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_lane size = vec_most(f->position[v]);
        most = mf_max(most, size);
        sum = sum + mf_abs(f->position[v].x) + mf_abs(f->position[v].y) + mf_abs(f->position[v].z);
    }
    raise_fault(f, mf_not(mf_finite(sum)), MF_FAULT_NONFINITE);
    raise_fault(f, mf_not(mf_less(most, mf_set(MF_TRUSS_RANGE))), MF_FAULT_RANGE);
}

// ---- stages -------------------------------------------------------------------------------------

#define MF_TRUSS_STAGE ((mf_real)0.29289321881345247560) // [1] d = 1 - 1 / sqrt 2
#define MF_TRUSS_EARLY ((mf_real)0.35355339059327376220) // [1] w = sqrt(2) / 4
// Shares of energies that a step may gain.
#define MF_TRUSS_ROUNDING ((mf_real)1e-9)
#define MF_TRUSS_EXCHANGE ((mf_real)1e-2) // [1] of the change of the kinetic energy
#define MF_TRUSS_FREE ((mf_real)1e-5)     // [1] without contact

typedef struct Result { // of the stages of a step
    mf_index spent;     // [1] iterations
    mf_lane residual;   // [1] over the tolerance
    mf_lane energy;     // [J] kinetic, and stored relative to loads at the start
} Result;

// Bars of a stage that ends when a `share` of the step is over. Damping is a second spring from the
// length at which the stage began: its force is rigidity / rest * damping * (length - reference)
// / c, so turning without stretch costs nothing.
static void stage_bars(Frame *f, mf_real share, bool damped) {
    const mf_lane ratio = mf_set(damped ? (mf_real)f->plan->damping : (mf_real)0) / f->stage;
    for (uint32_t b = 0; b < f->bars; b++) {
        Bar *bar = &f->bar[b];
        const BarStep *step = &f->bar_step[b];
        mf_lane rest = mf_fma(mf_set(share), step->after - step->before, step->before);
        mf_mask exists = mf_less(mf_zero(), bar->stiffness);
        mf_lane stiffness = step->rigidity / mf_max(rest, mf_set((mf_real)1e-6));
        mf_lane both = mf_set((mf_real)1) + ratio;
        bar->stiffness = mf_keep(exists, stiffness * both);
        bar->rest = mf_fma(ratio, step->reference, rest) / both;
    }
}

// ---- energy ------------------------------------------------------------------------------------

typedef struct Energies { // energies [J] at the beginning or the end of a step
    mf_lane all;          // bars, contacts, kinetic; and loads relative to the beginning
    mf_lane touching;     // contacts
    mf_lane kinetic;
} Energies;

static MF_INLINE mf_lane touching_as(const Frame *f, const Vec *at, bool same) {
    mf_lane sum = mf_zero();
    if (f->plan->ground)
        sum = ground_energy(f, at, NULL, same);
    if (f->pair_count > 0)
        sum = sum + pairs_energy(f, at, NULL, same);
    return sum / f->share;
}

// With the velocities at the end of the stage, or at the beginning of the step.
static __attribute__((noinline)) Energies energies_at(const Frame *f, const Vec *at, bool ends) {
    Energies energies;
    energies.kinetic = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec velocity = ends ? velocity_of(f, v) : f->velocity[v];
        energies.kinetic = mf_fma(f->mass[v], vec_dot(velocity, velocity), energies.kinetic);
    }
    energies.kinetic = energies.kinetic * mf_set((mf_real)0.5);
    energies.touching = f->same ? touching_as(f, at, true) : touching_as(f, at, false);
    mf_lane bars = f->same ? bars_energy(f, at, NULL, true) : bars_energy(f, at, NULL, false);
    energies.all = loads_energy(f, at, NULL) + bars + energies.touching + energies.kinetic;
    return energies;
}

// Half the work [J] of actuators with the tensions at `at`, -dH/drest = F + F^2 / (2 E A) per
// length.
static mf_lane half_work(const Frame *f, const Vec *at) {
    mf_lane sum = mf_zero();
    const mf_lane half = mf_set((mf_real)0.5);
    for (uint32_t b = 0; b < f->bars; b++) {
        const BarStep *step = &f->bar_step[b];
        mf_lane change = step->after - step->before;
        if (!mf_any(mf_less(mf_zero(), mf_abs(change))))
            continue;
        mf_lane force = stretch_of(&f->bar[b], at, false).force;
        mf_lane strained = half * force * force / mf_max(step->rigidity, mf_set((mf_real)1e-30));
        sum = mf_fma(-change, (force + strained) * half, sum);
    }
    return sum;
}

// ---- stages ------------------------------------------------------------------------------------

// Relaxes the lanes `where` from the present positions.
static void stage_relax(Newton *n, mf_mask where, Result *result) {
    Frame *f = n->frame;
    mf_index spent = mf_set_index(0);
    load_ground(f, where);
    newton_begin(n);
    find_pairs(n);
    const mf_lane tolerance = tolerance_of(f);
    const mf_index most = mf_set_index((int32_t)f->plan->iterations);
    mf_mask relaxed = relax(n, where, tolerance, most, &spent);
    mf_lane residual = n->residual / mf_max(tolerance, mf_set((mf_real)1e-300));
    result->spent = result->spent + spent;
    result->residual = mf_select(where, mf_max(result->residual, residual), result->residual);
    warnings_raise(&f->warnings, mf_and(where, mf_not(relaxed)), MF_WARNING_SOLVER, residual);
}

// The gradient at the present positions of the energy of bars and loads, which is -S.
static __attribute__((noinline)) void smooth_gradient(const Frame *f) {
    loads_energy(f, f->position, f->gradient);
    if (f->same)
        bars_energy(f, f->position, f->gradient, true);
    else
        bars_energy(f, f->position, f->gradient, false);
    hold_fixed(f, f->gradient);
}

// 1 / m; 0 for what has none.
static mf_lane inverse_mass(const Frame *f, uint32_t v) {
    mf_mask weighs = mf_less(mf_zero(), f->mass[v]);
    return mf_keep(weighs, mf_set((mf_real)1) / mf_select(weighs, f->mass[v], mf_set((mf_real)1)));
}

static void first_stage(Newton *n, Result *result) {
    Frame *f = n->frame;
    f->stage = mf_set(MF_TRUSS_STAGE * (mf_real)f->block->step);
    for (uint32_t v = 0; v < f->vertices; v++) {
        const mf_lane by = f->stage * f->stage * inverse_mass(f, v);
        f->base[v] = vec_fma(f->velocity[v], f->stage, f->start[v]);
        Vec coasts = vec_fma(f->velocity[v], f->stage, f->base[v]);
        f->predicted[v] = vec_fma(f->early[v], -by, coasts);
        f->position[v] = coasts;
    }
    for (uint32_t b = 0; b < f->bars; b++) {
        BarStep *step = &f->bar_step[b];
        step->reference = mf_fma(f->stage, step->rate, step->length);
    }
    contact_share(f, f->alive, 2);
    stage_bars(f, 2 * MF_TRUSS_STAGE, true);
    stage_relax(n, f->alive, result);
}

// Lengths of bars follow the same rule as positions.
static void second_reference(const Frame *f, mf_lane early) {
    for (uint32_t b = 0; b < f->bars; b++) {
        BarStep *step = &f->bar_step[b];
        mf_lane length = stretch_of(&f->bar[b], f->position, false).length;
        mf_lane rate = (length - step->reference) / f->stage;
        step->reference = mf_fma(early, step->rate + rate, step->length);
    }
}

// Begins where the acceleration of stage 1 would end.
static void second_stage(Newton *n, Result *result) {
    Frame *f = n->frame;
    const mf_lane early = mf_set(MF_TRUSS_EARLY * (mf_real)f->block->step);
    const mf_lane ahead = mf_set((mf_real)0.5 / MF_TRUSS_STAGE);
    smooth_gradient(f);
    second_reference(f, early);
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec speed = velocity_of(f, v), change = vec_sub(speed, f->velocity[v]);
        f->base[v] = vec_fma(vec_add(f->velocity[v], speed), early, f->start[v]);
        Vec coasts = vec_fma(f->velocity[v], f->stage, f->base[v]);
        Vec gradient = vec_add(f->early[v], f->gradient[v]);
        f->predicted[v] = vec_fma(gradient, -(f->stage * early * inverse_mass(f, v)), coasts);
        f->position[v] = vec_fma(change, f->stage * ahead, coasts);
    }
    contact_share(f, f->alive, 1 / MF_TRUSS_STAGE);
    stage_bars(f, 1, true);
    stage_relax(n, f->alive, result);
}

// The whole step of the lanes `where` by the implicit rule of Euler, whose energy falls wherever
// the stored energy is convex.
static void euler_step(Newton *n, mf_mask where, Result *result) {
    Frame *f = n->frame;
    f->stage = mf_select(where, mf_set((mf_real)f->block->step), f->stage);
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec to = vec_fma(f->velocity[v], f->stage, f->start[v]);
        f->base[v] = vec_select(where, f->start[v], f->base[v]);
        f->predicted[v] = vec_select(where, to, f->predicted[v]);
        f->position[v] = vec_select(where, to, f->position[v]);
    }
    for (uint32_t b = 0; b < f->bars; b++) {
        BarStep *step = &f->bar_step[b];
        step->reference = mf_select(where, step->length, step->reference);
    }
    contact_share(f, where, 1);
    stage_bars(f, 1, true);
    result->residual = mf_select(where, mf_zero(), result->residual);
    stage_relax(n, where, result);
}

// Contacts that slipped in the lanes `where`, then the energy of the step's end.
static Energies end_of_step(Frame *f, mf_mask where) {
    if (f->plan->ground)
        ground_slip(f, where, false);
    stage_bars(f, 1, false);
    return energies_at(f, f->position, true);
}

// The energy that the step begins with, half the work of actuators, and the forces there.
static Energies begin_step(Frame *f, mf_lane *work) {
    const mf_lane step = mf_set((mf_real)f->block->step);
    f->stage = step;
    for (uint32_t b = 0; b < f->bars; b++) {
        BarStep *bar = &f->bar_step[b];
        Stretch s = stretch_of(&f->bar[b], f->start, false);
        Vec apart = vec_sub(vertex_get(f->velocity, &f->bar[b].ends[1], false),
                            vertex_get(f->velocity, &f->bar[b].ends[0], false));
        bar->after = f->bar[b].rest;
        bar->length = s.length;
        bar->rate = vec_dot(apart, s.direction);
        bar->reference = mf_fma(-step, bar->rate, s.length);
    }
    stage_bars(f, 0, true);
    smooth_gradient(f);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->early[v] = f->gradient[v];
    stage_bars(f, 0, false);
    *work = half_work(f, f->start);
    return energies_at(f, f->start, false);
}

// Lanes that gain energy: in contact more than the rule's error in what changes between motion and
// position, else more than its error in fast turns.
static mf_mask gaining_lanes(const Frame *f, const Energies *before, const Energies *after,
                             mf_lane work) {
    mf_lane scale = mf_abs(before->all) + mf_abs(after->all) + mf_abs(work);
    mf_lane exchange = mf_abs(after->kinetic - before->kinetic);
    mf_mask touches = mf_less(mf_zero(), before->touching + after->touching);
    mf_lane slack = mf_fma(exchange, mf_set(MF_TRUSS_EXCHANGE), scale * mf_set(MF_TRUSS_ROUNDING));
    slack = mf_select(touches, slack, scale * mf_set(MF_TRUSS_FREE));
    mf_mask bounded = mf_less_equal(after->all, before->all + work + slack);
    return mf_and(f->alive, mf_not(bounded));
}

static void elastic_step(Newton *n, Result *result) {
    Frame *f = n->frame;
    mf_lane work;
    const Energies before = begin_step(f, &work);
    first_stage(n, result);
    second_stage(n, result);
    Energies after = end_of_step(f, f->alive);
    work = work + half_work(f, f->position);
    result->energy = after.all;
    mf_mask gains = gaining_lanes(f, &before, &after, work);
    if (!mf_any(gains))
        return;
    euler_step(n, gains, result);
    after = end_of_step(f, gains);
    result->energy = mf_select(gains, after.all, result->energy);
}

// ---- a frame -----------------------------------------------------------------------------------

// Lanes in which the trial positions have less energy begin there.
static void begin_lower(Frame *f, mf_lane *energy) {
    mf_lane at = energy_at(f, f->trial, NULL);
    mf_mask less = mf_and(mf_less(at, *energy), f->driven);
    *energy = mf_select(less, at, *energy);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->position[v] = vec_select(less, f->trial[v], f->position[v]);
}

// Actuators mostly move as in the last frame, and the truss with them: lanes begin where it would
// get them, with the same movement or, better, with one that changes as it did last, where that has
// less energy. What is found then is also what slower motion would find. Where loads alone change,
// going on could pass a snap that they do not reach.
static void go_on(Frame *f) {
    if (f->plan->descend || !mf_any(f->driven))
        return;
    mf_lane energy = energy_at(f, f->position, NULL);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->trial[v] = vec_add(f->start[v], f->movement[v]);
    begin_lower(f, &energy);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->trial[v] = vec_add(f->start[v], vec_add(f->movement[v], f->change[v]));
    begin_lower(f, &energy);
}

static void relax_frame(Newton *n, Result *result) {
    Frame *f = n->frame;
    find_pairs(n);
    const mf_lane tolerance = tolerance_of(f);
    if (!f->plan->descend)
        predict(n, &result->spent);
    const mf_index most = result->spent + mf_set_index((int32_t)f->plan->iterations);
    n->traces = f->plan->trace > 0;
    mf_mask relaxed = relax(n, f->alive, tolerance, most, &result->spent);
    result->residual = n->residual / mf_max(tolerance, mf_set((mf_real)1e-300));
    result->energy = n->energy;
    warnings_raise(&f->warnings, mf_not(relaxed), MF_WARNING_SOLVER, result->residual);
}

// Lanes on level ground that nothing holds: turning or moving them along it changes no energy.
static mf_mask free_lanes(const Frame *f) {
    mf_mask fixed = mf_not(f->alive);
    const mf_index none = mf_set_index(0);
    for (uint32_t v = 0; v < f->vertices; v++)
        fixed = mf_or(fixed, mf_not(mf_index_equal(f->fixed[v], none)));
    const uint32_t count = f->plan->friction > 0 ? contact_count(f) : 0;
    for (uint32_t i = 0; i < count; i++)
        fixed = mf_or(fixed, mf_less(mf_zero(), f->touch[i].normal_force));
    return mf_not(fixed);
}

// Of all equal minima such a lane takes the nearest to where it was: the center of mass does not
// move along the ground, and the sum of m (was x is) has no vertical part.
static void take_nearest(const Frame *f) {
    mf_mask where = free_lanes(f);
    if (!f->plan->level || !mf_any(where))
        return;
    const mf_lane zero = mf_zero();
    Vec now = center_of(f, f->position), was = center_of(f, f->start);
    mf_lane sine = zero, cosine = zero;
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec a = vec_sub(f->start[v], was), b = vec_sub(f->position[v], now);
        sine = mf_fma(f->mass[v], mf_fma(b.x, a.y, -(b.y * a.x)), sine);
        cosine = mf_fma(f->mass[v], mf_fma(b.x, a.x, b.y * a.y), cosine);
    }
    mf_lane size = mf_sqrt(mf_fma(sine, sine, cosine * cosine));
    mf_mask rotates = mf_less(mf_set((mf_real)1e-30), size);
    sine = mf_keep(rotates, sine / mf_select(rotates, size, mf_set((mf_real)1)));
    cosine = mf_select(rotates, cosine / mf_select(rotates, size, mf_set((mf_real)1)),
                       mf_set((mf_real)1));
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec b = vec_sub(f->position[v], now);
        Vec rotated = {mf_fma(cosine, b.x, -(sine * b.y)) + was.x,
                       mf_fma(sine, b.x, cosine * b.y) + was.y, f->position[v].z};
        f->position[v] = vec_select(where, rotated, f->position[v]);
    }
}
// ---- a step ------------------------------------------------------------------------------------

static void store_frame(Frame *f, const Result *result) {
    const mf_TrussBlock *block = f->block;
    mf_lane movement = movement_of(f);
    mf_mask jumps = mf_less(mf_set((mf_real)f->plan->jump), movement);
    if (!f->plan->dynamic)
        warnings_raise(&f->warnings, jumps, MF_WARNING_JUMP, movement);
    check_frame(f);
    if (f->plan->ground)
        store_contacts(f, f->alive);
    store_vertices(f, f->alive);
    if (f->plan->dynamic)
        store_velocities(f, f->alive);
    else
        store_movements(f, f->alive, movement);
    store_bars(f, f->alive);
    keep_row(f->alive, block->relaxation, 0, result->energy);
    keep_row(f->alive, block->relaxation, 1, result->residual);
    keep_row(f->alive, block->relaxation, 2, movement);
    mf_index was = index_load(block->iterations, 0);
    mf_store_index((int32_t *)block->iterations, mf_select_index(f->alive, result->spent, was));
    warnings_store(&f->warnings, &block->warnings, f->alive);
}
size_t MF_KERNEL(mf_truss_scratch_size)(const mf_TrussPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Frame frame;
    frame_carve(plan, &carver, &frame);
    return carver.used;
}

static void frame_step(Newton *n, Result *result) {
    Frame *f = n->frame;
    go_on(f);
    relax_frame(n, result);
    take_nearest(f);
    if (f->plan->ground)
        ground_slip(f, mf_mask_all(), false);
}

void MF_KERNEL(mf_truss_frame)(const mf_TrussBlock *block) {
    Frame frame;
    frame.block = block;
    frame.plan = block->plan;
    // Lanes behind the last instance have no vertices.
    mf_mask exists = mf_index_less(mf_set_index(0), index_load(block->counts, MF_TRUSS_VERTICES));
    frame.alive = mf_and(exists, mf_index_equal(index_load(block->fault, 0), mf_set_index(0)));
    if (!mf_any(frame.alive))
        return;
    mf_Carver carver = {(char *)block->scratch, 0};
    frame_carve(block->plan, &carver, &frame);
    load_frame(&frame);
    const uint32_t rows = AXES * frame.vertices;
    Newton newton;
    newton.frame = &frame;
    newton.matrix = MF_VALUE(Band, frame.matrix, rows, 0, frame.first);
    newton.factor = MF_VALUE(Band, frame.factor, rows, 0, frame.first);
    newton.energy = mf_zero();
    newton_begin(&newton);
    Result result = {mf_set_index(0), mf_zero(), mf_zero()};
    check_inputs(&frame);
    if (frame.plan->dynamic)
        elastic_step(&newton, &result);
    else
        frame_step(&newton, &result);
    store_frame(&frame, &result);
}
