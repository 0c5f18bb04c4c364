// The energy H of a truss and its derivatives: bars, weight, loads, ground, bars that meet, and in
// a dynamic step inertia.
#ifndef MF_MOTION_TRUSS_ENERGY_H
#define MF_MOTION_TRUSS_ENERGY_H

#include "motion/truss/ground.h"
#include "motion/truss/pairs.h"

typedef struct Stretch { // of one bar
    Vec direction;       // [1] from its first to its second end
    mf_lane length;      // [m]
    mf_lane force;       // [N] tension
} Stretch;

static MF_INLINE Stretch stretch_of(const Bar *bar, const Vec *at, bool same) {
    Stretch s;
    Vec span = vec_sub(vertex_get(at, &bar->ends[1], same), vertex_get(at, &bar->ends[0], same));
    mf_lane square = mf_max(vec_dot(span, span), mf_set((mf_real)1e-24));
    s.length = mf_sqrt(square);
    s.direction = vec_scale(span, mf_set((mf_real)1) / s.length);
    s.force = bar->stiffness * (s.length - bar->rest);
    return s;
}

// k (l - l0)^2 / 2 of every bar.
static MF_INLINE mf_lane bars_energy(const Frame *f, const Vec *at, Vec *gradient, bool same) {
    mf_lane sum = mf_zero();
    for (uint32_t b = 0; b < f->bars; b++) {
        const Bar *bar = &f->bar[b];
        Stretch s = stretch_of(bar, at, same);
        sum = mf_fma(s.force, s.length - bar->rest, sum);
        if (gradient == NULL)
            continue;
        Vec pull = vec_scale(s.direction, s.force);
        vertex_add(gradient, &bar->ends[1], same, f->alive, pull);
        vertex_add(gradient, &bar->ends[0], same, f->alive, vec_scale(pull, mf_set((mf_real)-1)));
    }
    return sum * mf_set((mf_real)0.5);
}

// m / c^2 [N/m], with which inertia holds a vertex at its predicted position.
static MF_INLINE mf_lane inertia_of(const Frame *f, uint32_t v) {
    return f->mass[v] / (f->stage * f->stage);
}

// m |x - predicted|^2 / (2 c^2) of every vertex: the minimum of H and this is a step of the
// implicit rule of Euler of duration c (the incremental potential of Radovitzky and Ortiz 1999).
static MF_INLINE mf_lane inertia_energy(const Frame *f, const Vec *at, Vec *gradient) {
    mf_lane sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec from = vec_sub(at[v], f->predicted[v]);
        Vec force = vec_scale(from, inertia_of(f, v));
        sum = sum + vec_dot(force, from);
        if (gradient != NULL)
            gradient[v] = vec_add(gradient[v], force);
    }
    return sum * mf_set((mf_real)0.5);
}

// -pull . (x - start): weight, loads and noise, which are constant in a frame.
static MF_INLINE mf_lane loads_energy(const Frame *f, const Vec *at, Vec *gradient) {
    mf_lane sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        sum = sum - vec_dot(f->pull[v], vec_sub(at[v], f->start[v]));
        if (gradient != NULL)
            gradient[v] = vec_scale(f->pull[v], mf_set((mf_real)-1));
    }
    return sum;
}

// Components that are held do not count.
static MF_INLINE void hold_fixed(const Frame *f, Vec *gradient) {
    if (!f->holds)
        return;
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_lane *component[AXES] = {&gradient[v].x, &gradient[v].y, &gradient[v].z};
        for (int axis = 0; axis < AXES; axis++) {
            const mf_index bit = mf_set_index(1 << axis);
            mf_mask fixed = mf_index_equal(f->fixed[v] & bit, bit);
            *component[axis] = mf_select(fixed, mf_zero(), *component[axis]);
        }
    }
}

static MF_INLINE mf_lane total_energy(const Frame *f, const Vec *at, Vec *gradient, bool same) {
    mf_lane sum = loads_energy(f, at, gradient);
    sum = sum + bars_energy(f, at, gradient, same);
    if (f->plan->ground)
        sum = sum + ground_energy(f, at, gradient, same);
    if (f->pair_count > 0)
        sum = sum + pairs_energy(f, at, gradient, same);
    if (f->plan->dynamic)
        sum = sum + inertia_energy(f, at, gradient);
    if (gradient != NULL)
        hold_fixed(f, gradient);
    return sum;
}

// H at the positions `at`, relative to that of loads at the start of the frame. Out of line: it is
// called from several places.
static __attribute__((noinline)) mf_lane energy_at(const Frame *f, const Vec *at, Vec *gradient) {
    return f->same ? total_energy(f, at, gradient, true) : total_energy(f, at, gradient, false);
}

static MF_INLINE mf_lane residual_of(const Frame *f) {
    mf_lane most = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++)
        most = mf_max(most, vec_most(f->gradient[v]));
    return most;
}

#endif
