// A step of a truss with inertia: TR-BDF2, the trapezoidal rule to 2 d = 0.59 of the step and the
// second backward difference formula to its end (Bank et al. 1985; in the form of Hosea and
// Shampine 1996, a rule of order 2, L-stable, whose stages have order 2 too). Both stages are
// minima of an incremental potential (Radovitzky and Ortiz 1999). With c = d h, w = sqrt(2) / 4,
// forces of bars and loads S(x), and of contacts C(x):
//     stage 1: v1 = v + c (S + S1) / m + 2 c C1 / m,           x1 = x + c (v + v1)
//     stage 2: v2 = v + (w h (S + S1) + c S2) / m + h C2 / m,  x2 = x + w h (v + v1) + c v2
// Contacts act with the force at the end of a stage for all of its time, so they count 2 and h / c
// times in the potentials: with the weights of bars an impact in stage 1 alone would give more than
// it takes (docs/explanation/elastic.md). A lane that still ends with more energy than it had and
// its actuators gave takes the step anew by the implicit rule of Euler.
#ifndef MF_MOTION_TRUSS_STAGES_H
#define MF_MOTION_TRUSS_STAGES_H

#include "motion/truss/store.h"

#define MF_TRUSS_STAGE ((mf_real)0.29289321881345247560) // [1] d = 1 - 1 / sqrt 2
#define MF_TRUSS_EARLY ((mf_real)0.35355339059327376220) // [1] w = sqrt(2) / 4
// Shares of energies that a step may gain.
#define MF_TRUSS_ROUNDING ((mf_real)1e-9)
#define MF_TRUSS_EXCHANGE ((mf_real)1e-2) // [1] of the change of the kinetic energy
#define MF_TRUSS_ROTATION ((mf_real)1e-5) // [1] without contact

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

// ---- energy
// --------------------------------------------------------------------------------------

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

// ---- stages
// --------------------------------------------------------------------------------------

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
    slack = mf_select(touches, slack, scale * mf_set(MF_TRUSS_ROTATION));
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

#endif
