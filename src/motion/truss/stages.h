// A step of a truss with inertia: two stages of the rule of Alexander (1977, SDIRK of order 2,
// L-stable, gamma = 1 - 1/sqrt 2), each the minimum of an incremental potential (Radovitzky and
// Ortiz 1999). With c = gamma h, forces of bars and loads S, forces of contacts C:
//     stage 1: Y1 = x + c v + c^2 (S1 + C1) / m,             V1 = (Y1 - x) / c
//     stage 2: Y2 = b + c (v + (h - c) S1 / m + c S2 / m + h C2 / m),   b = x + (h - c) V1
//              x, v at the end: Y2, (Y2 - b) / c
// Contacts act with the force at the end of the step for the whole step, so they count h / c times
// in the potential of stage 2: with the weights of bars an impact in stage 1 alone would come back
// with 1.4 times its speed (docs/decisions.md). A lane that still ends with more energy than it had
// and its actuators gave takes the step anew by the implicit rule of Euler (c = h).
#ifndef MF_MOTION_TRUSS_STAGES_H
#define MF_MOTION_TRUSS_STAGES_H

#include "motion/truss/store.h"

#define MF_TRUSS_GAMMA ((mf_real)0.29289321881345247560) // [1] 1 - 1 / sqrt 2
#define MF_TRUSS_SLACK ((mf_real)1e-9)                   // [1] of energies: rounding

typedef struct Result { // of the stages of a step
    mf_index spent;     // [1] iterations
    mf_lane residual;   // [1] over the tolerance
    mf_lane energy;     // [J] kinetic, and stored relative to loads at the start
} Result;

// Bars of a stage that ends when a `share` of the step is over. Damping is a second spring from the
// length at which the stage began: its force is rigidity / rest * damping * (length - reference)
// / c, so turning without stretch costs nothing.
static void stage_bars(Frame *f, mf_real share, bool damped) {
    const mf_lane ratio =
        mf_set(damped ? (mf_real)f->plan->damping : (mf_real)0) / f->stage;
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

static MF_INLINE mf_lane stored_as(const Frame *f, const Vec *at, bool same) {
    mf_lane sum = loads_energy(f, at, NULL) + bars_energy(f, at, NULL, same);
    mf_lane touching = mf_zero();
    if (f->plan->ground)
        touching = ground_energy(f, at, NULL, same);
    if (f->pair_count > 0)
        touching = touching + pairs_energy(f, at, NULL, same);
    return sum + touching / f->share;
}

// Energy of bars, contacts and, relative to the start of the step, loads.
static __attribute__((noinline)) mf_lane stored_at(const Frame *f, const Vec *at) {
    return f->same ? stored_as(f, at, true) : stored_as(f, at, false);
}

static mf_lane kinetic_energy(const Frame *f, bool ends) {
    mf_lane sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec velocity = ends ? velocity_of(f, v) : f->velocity[v];
        sum = mf_fma(f->mass[v], vec_dot(velocity, velocity), sum);
    }
    return sum * mf_set((mf_real)0.5);
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
    mf_mask relaxed = relax(n, where, tolerance, &spent);
    mf_lane residual = n->residual / mf_max(tolerance, mf_set((mf_real)1e-300));
    result->spent = result->spent + spent;
    result->residual = mf_select(where, mf_max(result->residual, residual), result->residual);
    warnings_raise(&f->warnings, mf_and(where, mf_not(relaxed)), MF_WARNING_SOLVER, residual);
}

static void first_stage(Newton *n, Result *result) {
    Frame *f = n->frame;
    f->stage = mf_set(MF_TRUSS_GAMMA * (mf_real)f->block->step);
    for (uint32_t v = 0; v < f->vertices; v++) {
        f->base[v] = f->start[v];
        f->position[v] = f->predicted[v] = vec_fma(f->velocity[v], f->stage, f->start[v]);
    }
    stage_bars(f, MF_TRUSS_GAMMA, true);
    stage_relax(n, f->alive, result);
}

// The gradient of the energy of bars and loads, which is -S1.
static __attribute__((noinline)) void smooth_gradient(const Frame *f) {
    loads_energy(f, f->position, f->gradient);
    if (f->same)
        bars_energy(f, f->position, f->gradient, true);
    else
        bars_energy(f, f->position, f->gradient, false);
    hold_fixed(f, f->gradient);
}

// The length of bars from which stage 2 counts its rate: lengths follow the same rule as positions.
static void second_reference(const Frame *f, mf_real later) {
    for (uint32_t b = 0; b < f->bars; b++) {
        BarStep *step = &f->bar_step[b];
        mf_lane length = stretch_of(&f->bar[b], f->position, false).length;
        step->reference = mf_fma(mf_set(later), length - step->length, step->length);
    }
}

// Begins where a steady acceleration would end.
static void second_stage(Newton *n, Result *result) {
    Frame *f = n->frame;
    const mf_real gamma = MF_TRUSS_GAMMA, later = (1 - gamma) / gamma;
    const mf_lane rest = mf_set((1 - gamma) * (mf_real)f->block->step);
    const mf_lane step = mf_set((mf_real)f->block->step);
    smooth_gradient(f);
    second_reference(f, later);
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec gone = vec_sub(f->position[v], f->start[v]);
        Vec change = vec_sub(vec_scale(gone, mf_set((mf_real)1) / f->stage), f->velocity[v]);
        f->base[v] = vec_fma(gone, mf_set(later), f->start[v]);
        Vec coasts = vec_fma(f->velocity[v], f->stage, f->base[v]);
        mf_mask weighs = mf_less(mf_zero(), f->mass[v]);
        mf_lane mass = mf_select(weighs, f->mass[v], mf_set((mf_real)1));
        mf_lane by = mf_keep(weighs, f->stage * rest / mass);
        f->predicted[v] = vec_fma(f->gradient[v], -by, coasts);
        f->position[v] = vec_fma(change, step, coasts);
    }
    contact_share(f, f->alive, 1 / gamma);
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
static mf_lane end_of_step(Frame *f, mf_mask where) {
    if (f->plan->ground)
        ground_slip(f, where, false);
    stage_bars(f, 1, false);
    return stored_at(f, f->position) + kinetic_energy(f, true);
}

// The energy that the step begins with; bars remember their lengths.
static mf_lane begin_step(Frame *f, mf_lane *work) {
    f->stage = mf_set((mf_real)f->block->step);
    for (uint32_t b = 0; b < f->bars; b++) {
        BarStep *step = &f->bar_step[b];
        step->after = f->bar[b].rest;
        step->length = step->reference = stretch_of(&f->bar[b], f->start, false).length;
    }
    stage_bars(f, 0, false);
    *work = half_work(f, f->start);
    return stored_at(f, f->start) + kinetic_energy(f, false);
}

static void elastic_step(Newton *n, Result *result) {
    Frame *f = n->frame;
    mf_lane work, before = begin_step(f, &work);
    first_stage(n, result);
    second_stage(n, result);
    result->energy = end_of_step(f, f->alive);
    work = work + half_work(f, f->position);
    mf_lane scale = mf_abs(before) + mf_abs(result->energy) + mf_abs(work);
    mf_lane most = mf_fma(scale, mf_set(MF_TRUSS_SLACK), before + work);
    mf_mask gains = mf_and(f->alive, mf_not(mf_less_equal(result->energy, most)));
    if (!mf_any(gains))
        return;
    euler_step(n, gains, result);
    result->energy = mf_select(gains, end_of_step(f, gains), result->energy);
}

#endif
