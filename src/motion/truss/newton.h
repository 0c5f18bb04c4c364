// Relaxation of a frame: Newton's method with a band matrix. The step is shortened to a reach, and
// where it does not lower the energy a shift of the diagonal turns it towards steepest descent
// (Levenberg 1944). Each lane has its own shift, step and end.
#pragma once

#include "motion/truss/hessian.h"

// ---- pair solve ---------------------------------------------------------------------------------

// Systems of trusses whose bars touch. A contact couples four vertices that need not be close in
// the band, so the band holds a bound of it (hessian.h), and conjugate gradients correct the
// solution, with the factored band as preconditioner: after as many rounds as there are contacts it
// is exact, but for rounding. The product of the band with the search direction follows from the
// residuals.

enum { MF_TRUSS_ROUNDS = 30 };

// Adds to `out` what the contacts of bars are more than their bound, times `x`; both in the order
// of the matrix.
static MF_INLINE void pairs_product(const Frame *f, const mf_lane *x, mf_lane *out, bool same) {
    const mf_lane one = mf_set((mf_real)1), stiffness = f->spring;
    uint32_t at = 0;
    BarContact other;
    for (const BarContact *bar_contact;
         (bar_contact = bar_contacts_next(f, &at, &other, same)) != NULL;) {
        const ClosestPoints *m = &bar_contact->closest;
        mf_lane share[4], along[4], sum = mf_zero();
        End end[4];
        for (int e = 0; e < 4; e++) {
            mf_lane t = m->share[e / 2];
            share[e] = e % 2 != 0 ? t : one - t;
            end[e] = end_in_rows(
                &f->bar[e / 2 != 0 ? bar_contact->second : bar_contact->first].ends[e % 2]);
            along[e] = vec_dot(vertex_get((const Vec *)(const void *)x, &end[e], same), m->normal);
            sum = mf_fma(e / 2 != 0 ? share[e] : -share[e], along[e], sum);
        }
        for (int e = 0; e < 4; e++) {
            mf_lane exact = e / 2 != 0 ? sum : -sum;
            mf_lane size = stiffness * share[e] * (exact - (along[e] + along[e]));
            vertex_add((Vec *)(void *)out, &end[e], same, bar_contact->deep,
                       vec_scale(m->normal, size));
        }
    }
}

static MF_INLINE mf_lane rows_dot(const mf_lane *a, const mf_lane *b, uint32_t rows) {
    mf_lane sum = mf_zero();
    for (uint32_t r = 0; r < rows; r++)
        sum = mf_fma(a[r], b[r], sum);
    return sum;
}

// Solves the system with the right-hand side f->step into f->step, for the lanes `where`, in which
// bars touch where `touching_bars` holds. The others get the band's own solution, so that their
// bits do not depend on those.
static __attribute__((noinline)) void solve_with_pairs(const Frame *f, const Band *factor,
                                                       mf_mask where, mf_mask touching_bars) {
    const uint32_t rows = factor->rows;
    const size_t bytes = rows * sizeof(mf_lane);
    mf_lane *z = f->image; // the preconditioned residual, then the product
    memcpy(f->rest, f->step, bytes);
    memcpy(z, f->rest, bytes);
    band_solve(factor, f->inverse, z);
    memcpy(f->search, z, bytes);
    for (uint32_t r = 0; r < rows; r++)
        f->step[r] = mf_select(touching_bars, mf_zero(), z[r]);
    where = mf_and(where, touching_bars);
    mf_lane energy = rows_dot(f->rest, z, rows);
    const mf_lane enough = energy * mf_set((mf_real)1e-12);
    // band * search, kept beside it
    mf_lane *band_search = f->product;
    memcpy(band_search, f->rest, bytes);
    for (int round = 0; round < MF_TRUSS_ROUNDS && mf_any(where); round++) {
        memcpy(z, band_search, bytes);
        if (f->same)
            pairs_product(f, f->search, z, true);
        else
            pairs_product(f, f->search, z, false);
        mf_lane curve = rows_dot(f->search, z, rows);
        where = mf_and(where, mf_less(mf_zero(), curve));
        mf_lane length = mf_keep(where, energy / mf_select(where, curve, mf_set((mf_real)1)));
        for (uint32_t r = 0; r < rows; r++) {
            f->step[r] = mf_fma(length, f->search[r], f->step[r]);
            f->rest[r] = mf_fma(-length, z[r], f->rest[r]);
        }
        memcpy(z, f->rest, bytes);
        band_solve(factor, f->inverse, z);
        mf_lane next = rows_dot(f->rest, z, rows);
        where = mf_and(where, mf_less(enough, next));
        mf_lane share = mf_keep(where, next / mf_select(where, energy, mf_set((mf_real)1)));
        for (uint32_t r = 0; r < rows; r++) {
            f->search[r] = mf_fma(share, f->search[r], z[r]);
            band_search[r] = mf_fma(share, band_search[r], f->rest[r]);
        }
        energy = next;
    }
}

// ---- newton -------------------------------------------------------------------------------------

enum { MF_TRUSS_TRIES = 40, MF_TRUSS_HALVINGS = 3 };
#define MF_TRUSS_NEARLY ((mf_real)1e-2) // [1] share of the load
#define MF_TRUSS_SLOW ((mf_real)0.7)    // [1] share of the force that a good step does not leave
#define MF_TRUSS_STEP ((mf_real)5e-4)   // [m] an iteration may go at least so far

typedef struct Newton {
    Frame *frame;
    Band matrix, factor;
    mf_lane energy;        // [J] at the positions
    mf_lane shift;         // [N/m]
    mf_lane largest;       // [N/m] of the matrix
    mf_lane rate;          // [m/N] step of a descent by the gradient
    mf_lane slowest;       // [m/N] step that is short enough for the stiffest bars
    mf_lane before;        // [N] residual one iteration ago
    mf_lane reach;         // [m] longest movement of a vertex in the next iteration
    mf_lane listed;        // [m] by which no vertex may move before the list of pairs is made anew
    mf_lane moved;         // [m] most since it was made
    mf_real travel;        // [m] sum over iterations of the largest movement in any lane
    mf_lane longest;       // [m] of the direction
    mf_lane residual;      // [N]
    mf_lane rounding;      // [J] of the energy at the positions
    mf_mask stuck;         // lanes that found no lower energy
    mf_mask full;          // lanes that took the whole of their last step
    mf_mask touching_bars; // lanes in which bars touch
    bool fresh;            // energy and gradient are those at the positions
    bool traces;           // energies are kept in frame.trace
} Newton;

// -gradient in the order of the matrix.
static MF_INLINE void load_rows(const Frame *f, mf_lane *rows) {
    mf_real *values = (mf_real *)(void *)rows;
    const mf_lane minus = mf_set((mf_real)-1);
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec down = vec_scale(f->gradient[v], minus);
        if (f->same) {
            mf_lane *at = rows + (size_t)AXES * f->own[v].same_row;
            at[0] = down.x;
            at[1] = down.y;
            at[2] = down.z;
            continue;
        }
        mf_scatter(mf_mask_all(), values, component_of(f->own[v].row, 0), down.x);
        mf_scatter(mf_mask_all(), values, component_of(f->own[v].row, 1), down.y);
        mf_scatter(mf_mask_all(), values, component_of(f->own[v].row, 2), down.z);
    }
}

static MF_INLINE Vec row_of(const Frame *f, const mf_lane *rows, uint32_t v) {
    const End end_point = end_in_rows(&f->own[v]);
    return vertex_get((const Vec *)(const void *)rows, &end_point, f->same);
}

// The slope of the energy [J] along the solved rows; `scale` shortens them to the reach.
static MF_INLINE mf_lane take_direction(Newton *n, mf_lane *scale) {
    Frame *f = n->frame;
    mf_lane most = mf_set((mf_real)1e-30), slope = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec d = row_of(f, f->step, v);
        most = mf_max(most, vec_most(d));
        slope = slope + vec_dot(d, f->gradient[v]);
    }
    n->longest = most;
    *scale = mf_min(mf_set((mf_real)1), n->reach / most);
    return slope;
}

// Positions are `further` [m] from those at the beginning of the iteration, or closer.
static MF_INLINE void bound_pairs(Newton *n, mf_lane further) {
    n->frame->closer = (n->travel + lanes_most(further)) * MF_TRUSS_CLOSING;
}

// What is held does not move along the solved rows.
static MF_INLINE void hold_rows(const Frame *f) {
    mf_real *values = (mf_real *)(void *)f->step;
    for (uint32_t v = 0; v < f->vertices && f->holds; v++) {
        for (int axis = 0; axis < AXES; axis++) {
            const mf_index bit = mf_set_index(1 << axis);
            mf_mask fixed = mf_index_equal(f->fixed[v] & bit, bit);
            mf_scatter(fixed, values, component_of(f->own[v].row, axis), mf_zero());
        }
    }
}

static MF_INLINE void place_trial(Newton *n, mf_lane scale) {
    Frame *f = n->frame;
    bound_pairs(n, scale * n->longest);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->trial[v] = vec_fma(row_of(f, f->step, v), scale, f->position[v]);
}

// Accepts the trial positions of lanes.
static MF_INLINE void accept(Newton *n, mf_mask where, mf_lane energy) {
    Frame *f = n->frame;
    mf_lane most = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        most = mf_max(most, vec_most(vec_sub(f->trial[v], f->position[v])));
        f->position[v] = vec_select(where, f->trial[v], f->position[v]);
    }
    n->moved = n->moved + mf_keep(where, most);
    n->travel += lanes_most(mf_keep(where, most));
    mf_lane reach =
        mf_clamp(most * mf_set((mf_real)4), mf_set(MF_TRUSS_STEP), mf_set((mf_real)f->plan->reach));
    n->reach = mf_select(where, reach, n->reach);
    n->energy = mf_select(where, energy, n->energy);
}

// How a step of the points along the solved rows changes contacts: of points that are above the
// ground the share of the step to where the first one lands, of those that slip to where the first
// one is back at its anchor. Its contact then is, or sticks, in the next matrix. A step that is
// only halved approaches these kinks of the energy by the same share again and again.
static MF_INLINE mf_lane stop_at_kinks(const Newton *n, mf_lane scale, bool same) {
    const Frame *f = n->frame;
    const uint32_t count = contact_count(f);
    const mf_lane near = mf_set(MF_TRUSS_NEAR), one = mf_set((mf_real)1);
    for (uint32_t i = 0; i < count; i++) {
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Vec d = {mf_zero(), mf_zero(), mf_zero()};
        for (int e = 0; e < 2 && contact_point.ends[e] != NULL; e++) {
            const End end_point = end_in_rows(contact_point.ends[e]);
            Vec step = vertex_get((const Vec *)(const void *)f->step, &end_point, same);
            d = vec_fma(step, contact_point.share[e], d);
        }
        Vec at = contact_position(f->position, &contact_point, same);
        if (contact_point_clears(f, &f->touch[i], at, mf_max(near, -(d.z * scale))))
            continue;
        Contact c = contact_at(f, &f->touch[i], at);
        mf_lane sinks = vec_dot(c.rise, d), gap = near - c.depth;
        mf_mask lands = mf_and(mf_less(c.depth, -near), mf_less(gap, sinks * scale));
        scale = mf_select(lands, gap / mf_select(lands, sinks, one), scale);
        mf_lane edge = c.bound / f->grip;
        mf_lane back = -vec_dot(c.slip, d) / mf_max(c.far, mf_set((mf_real)1e-30));
        mf_mask returns = mf_and(mf_less(edge, c.far), mf_less(c.far + edge, back * scale));
        returns = mf_and(returns, mf_less(mf_zero(), edge));
        scale = mf_select(returns, c.far / mf_select(returns, back, one), scale);
    }
    return scale;
}

// The next scale after the trial positions at `scale` had too much energy: to where the first bars
// that were apart touch, if some do at the trial positions, else a third.
static MF_INLINE mf_lane shorten(const Newton *n, mf_lane scale, bool same) {
    const Frame *f = n->frame;
    const mf_lane near = mf_set(MF_TRUSS_NEAR), one = mf_set((mf_real)1);
    mf_lane share = one;
    for (uint32_t i = 0; i < f->pair_count; i++) {
        const Pair *pair = &f->pair[i];
        if (pair_apart(f, pair))
            continue;
        mf_lane now = closest_points_of(f, pair, f->position, same).depth;
        mf_lane then = closest_points_of(f, pair, f->trial, same).depth;
        mf_mask lands = mf_and(mf_less(now, -near), mf_less(near, then));
        lands = mf_and(lands, strangers(&f->bar[pair->first], &f->bar[pair->second]));
        mf_lane at = (near - now) / mf_select(lands, then - now, one);
        share = mf_select(lands, mf_min(share, at), share);
    }
    return scale * mf_select(mf_less(share, one), share, mf_set((mf_real)0.3));
}

// One factoring with the present shifts and a search along the step. Returns the lanes of `open`
// that moved on; `easy` those which did at once.
static mf_mask attempt(Newton *n, mf_mask open, mf_mask *easy) {
    Frame *f = n->frame;
    const mf_lane floor = n->largest * mf_set((mf_real)1e-10);
    band_copy(&n->factor, &n->matrix);
    mf_mask sound =
        band_factor(&n->factor, n->shift + floor, n->largest * mf_set((mf_real)1e-13), f->inverse);
    mf_mask moved = mf_not(mf_mask_all());
    *easy = moved;
    sound = mf_and(sound, open);
    if (!mf_any(sound))
        return moved;
    load_rows(f, f->step);
    if (mf_any(n->touching_bars) && !f->direct)
        solve_with_pairs(f, &n->factor, sound, n->touching_bars);
    else
        band_solve(&n->factor, f->inverse, f->step);
    mf_lane scale, slope = take_direction(n, &scale);
    hold_rows(f);
    if (f->plan->ground)
        scale = f->same ? stop_at_kinks(n, scale, true) : stop_at_kinks(n, scale, false);
    for (int halving = 0; halving <= MF_TRUSS_HALVINGS; halving++) {
        place_trial(n, scale);
        mf_lane energy = energy_at(f, f->trial, NULL);
        mf_lane bound = mf_fma(slope * scale, mf_set((mf_real)1e-4), n->energy + n->rounding);
        mf_mask better = mf_and(mf_and(sound, mf_not(moved)), mf_less_equal(energy, bound));
        if (mf_any(better))
            accept(n, better, energy);
        moved = mf_or(moved, better);
        if (halving == 0) {
            *easy = better;
            n->full = mf_or(n->full, mf_and(better, mf_less_equal(mf_set((mf_real)1), scale)));
        }
        if (mf_all(mf_or(moved, mf_not(sound))))
            break;
        scale = f->same ? shorten(n, scale, true) : shorten(n, scale, false);
    }
    return moved;
}

// Rounding of the energy. In a dynamic step also that of large forces times lengths and positions,
// whose energies cancel.
static mf_lane rounding_of(const Newton *n) {
    const Frame *f = n->frame;
    mf_lane sum = mf_abs(n->energy);
    if (f->plan->dynamic) {
        for (uint32_t b = 0; b < f->bars; b++) {
            Stretch s = stretch_of(&f->bar[b], f->position, false);
            sum = mf_fma(mf_abs(s.force), s.length, sum);
        }
        for (uint32_t v = 0; v < f->vertices; v++) {
            Vec from = vec_sub(f->position[v], f->predicted[v]);
            sum = mf_fma(inertia_of(f, v) * vec_most(from), vec_most(f->position[v]), sum);
        }
    }
    return mf_set((mf_real)1e-15) * sum;
}

// The matrix at the positions, with a band as wide as it needs.
static void make_matrix(Newton *n) {
    Frame *f = n->frame;
    uint32_t width = 0;
    n->touching_bars = f->same ? bar_contacts_find(f, true) : bar_contacts_find(f, false);
    memcpy(f->first, f->bars_first, f->vertices * sizeof *f->first);
    if (f->direct && mf_any(n->touching_bars)) {
        if (f->same)
            bar_contacts_widen(f, true);
        else
            bar_contacts_widen(f, false);
    }
    for (uint32_t row = 0; row < f->vertices; row++)
        width = row - f->first[row] > width ? row - f->first[row] : width;
    n->matrix.entries = n->factor.entries = band_entries(width);
    n->largest = assemble(f, &n->matrix);
}

// One step of the lanes `open`.
static void newton_step(Newton *n, mf_mask open) {
    const mf_lane tenth = mf_set((mf_real)0.1), more = mf_set((mf_real)8);
    n->full = mf_not(mf_mask_all());
    make_matrix(n);
    n->rounding = rounding_of(n);
    for (int tries = 0; tries < MF_TRUSS_TRIES && mf_any(open); tries++) {
        mf_mask easy, moved = attempt(n, open, &easy);
        mf_lane less = n->shift * tenth, least = n->largest * mf_set((mf_real)1e-11);
        less = mf_select(mf_less(less, least), mf_zero(), less);
        n->shift = mf_select(tries == 0 ? easy : mf_not(mf_mask_all()), less, n->shift);
        open = mf_and(open, mf_not(moved));
        mf_lane grown = mf_max(n->shift * more, n->largest * mf_set((mf_real)1e-6));
        n->shift = mf_select(open, grown, n->shift);
    }
    n->stuck = mf_or(n->stuck, open);
}

static mf_lane slowest_rate(const Frame *f) {
    mf_lane most = f->spring;
    for (uint32_t b = 0; b < f->bars; b++)
        most = mf_max(most, f->bar[b].stiffness);
    return mf_set((mf_real)0.1) / most;
}

// One step of the lanes `open` down the gradient by a fixed length per force: the energy rises
// where that is too long for the stiffest bars.
static void fixed_step(Newton *n, mf_mask open) {
    Frame *f = n->frame;
    const mf_lane reach = mf_set((mf_real)f->plan->reach);
    mf_lane most;
    load_rows(f, f->step);
    take_direction(n, &most);
    hold_rows(f);
    place_trial(n, mf_min(mf_set((mf_real)f->plan->relaxation), reach / n->longest));
    mf_lane energy = energy_at(f, f->trial, NULL);
    mf_mask finite = mf_and(open, mf_less(mf_abs(energy), mf_set((mf_real)1e300)));
    if (mf_any(finite))
        accept(n, finite, energy);
    n->reach = reach;
    n->stuck = mf_or(n->stuck, mf_and(open, mf_not(finite)));
}

// One step of the lanes `open` down the gradient: longer after each success, shorter until the
// energy falls, and after a step that left more force: near the minimum the energy's digits do not
// tell a step that is too long.
static void descent_step(Newton *n, mf_mask open) {
    Frame *f = n->frame;
    mf_mask grew = mf_less(n->before, n->residual);
    n->rate = mf_select(grew, mf_max(n->rate * mf_set((mf_real)0.5), n->slowest), n->rate);
    n->before = n->residual;
    load_rows(f, f->step);
    mf_lane most, slope = take_direction(n, &most);
    hold_rows(f);
    for (int tries = 0; tries < MF_TRUSS_TRIES && mf_any(open); tries++) {
        mf_lane scale = mf_min(n->rate, most);
        place_trial(n, scale);
        mf_lane energy = energy_at(f, f->trial, NULL);
        // Lengths of bars have about 1e-16 m of rounding.
        mf_lane rounding = mf_set((mf_real)1e-15) * (mf_abs(n->energy) + f->load);
        mf_lane bound = mf_fma(slope * scale, mf_set((mf_real)1e-4), n->energy + rounding);
        mf_mask better = mf_and(open, mf_less_equal(energy, bound));
        if (mf_any(better))
            accept(n, better, energy);
        mf_lane next = scale * mf_select(better, mf_set((mf_real)1.2), mf_set((mf_real)0.3));
        n->rate = mf_select(open, next, n->rate);
        open = mf_and(open, mf_not(better));
    }
    n->stuck = mf_or(n->stuck, open);
}

static void find_pairs(Newton *n) {
    Frame *f = n->frame;
    if (!f->plan->pairs)
        return;
    n->listed = n->reach * mf_set((mf_real)3);
    n->moved = mf_zero();
    n->travel = 0;
    if (f->same)
        pairs_find(f, n->listed, true);
    else
        pairs_find(f, n->listed, false);
}

// Keeps the energy of the lanes `where` with `left` iterations to go.
static void trace_energy(const Newton *n, mf_mask where, mf_index left) {
    const mf_TrussBlock *block = n->frame->block;
    const mf_index entry = mf_set_index((int32_t)n->frame->plan->iterations) - left;
    where = mf_and(where, mf_index_less(entry, mf_set_index((int32_t)n->frame->plan->trace)));
    mf_scatter(where, block->trace, entry * mf_set_index(MF_BLOCK) + mf_lane_numbers(), n->energy);
    mf_index was = mf_load_index((const int32_t *)block->traced);
    mf_store_index((int32_t *)block->traced, mf_select_index(where, entry + mf_set_index(1), was));
}

// Forgets the relaxation before.
static void newton_begin(Newton *n) {
    n->traces = false;
    n->fresh = false;
    n->shift = n->residual = n->moved = n->listed = mf_zero();
    n->travel = 0;
    n->rate = mf_set((mf_real)1e-3);
    n->before = mf_set((mf_real)1e30);
    n->reach = mf_set((mf_real)(n->frame->plan->reach / 4));
}

// The force [N] that counts as none: a share of the load, and above the rounding of bars.
static mf_lane tolerance_of(const Frame *f) {
    mf_lane rounding = mf_zero();
    for (uint32_t b = 0; b < f->bars; b++)
        rounding = mf_max(rounding, f->bar[b].stiffness * f->bar[b].rest);
    rounding = rounding * mf_set((mf_real)1e-14);
    for (uint32_t v = 0; v < f->vertices && f->plan->dynamic; v++) {
        mf_lane inertia = inertia_of(f, v) * vec_most(f->position[v]);
        rounding = mf_max(rounding, inertia * mf_set((mf_real)4e-15));
    }
    return mf_max(f->load * mf_set((mf_real)f->plan->tolerance), rounding);
}

// Lanes whose last step was a full one and left most of the force: what the matrix leaves out far
// from the minimum holds them up.
static void find_slow(Newton *n) {
    mf_mask slow = mf_less(n->before * mf_set(MF_TRUSS_SLOW), n->residual);
    n->frame->nearly = mf_or(n->frame->nearly, mf_and(slow, n->full));
    n->before = n->residual;
}

// Relaxes until the residual is within `tolerance` [N]. Friction follows the normal forces of the
// iteration before. Returns the lanes that are; `spent` counts iterations per lane.
static mf_mask relax(Newton *n, mf_mask where, mf_lane tolerance, mf_index most, mf_index *spent) {
    Frame *f = n->frame;
    const mf_index one = mf_set_index(1);
    n->stuck = n->full = mf_not(mf_mask_all());
    n->slowest = slowest_rate(f);
    for (;;) {
        if (f->plan->pairs && mf_any(mf_less(n->listed, n->moved + n->reach)))
            find_pairs(n);
        bound_pairs(n, mf_zero());
        if (!n->fresh)
            n->energy = mf_select(where, energy_at(f, f->position, f->gradient), n->energy);
        n->fresh = false;
        n->residual = mf_select(where, residual_of(f), n->residual);
        if (n->traces)
            trace_energy(n, where, most - *spent);
        mf_mask done = mf_less_equal(n->residual, tolerance);
        mf_mask open = mf_and(mf_and(where, mf_not(done)), mf_not(n->stuck));
        open = mf_and(open, mf_index_less(*spent, most));
        if (!mf_any(open))
            return mf_and(where, done);
        f->nearly = f->plan->dynamic ? mf_mask_all()
                                     : mf_less(n->residual, f->load * mf_set(MF_TRUSS_NEARLY));
        if (!f->plan->descend)
            find_slow(n);
        *spent = mf_select_index(open, *spent + one, *spent);
        if (f->plan->relaxation > 0)
            fixed_step(n, open);
        else if (f->plan->descend)
            descent_step(n, open);
        else
            newton_step(n, open);
        if (f->plan->ground && f->same)
            ground_renew(f, open, true);
        else if (f->plan->ground)
            ground_renew(f, open, false);
    }
}

// ---- prediction --------------------------------------------------------------------------------

// Bars of plastic are 10^6 times as stiff as what turns them, so the energy is a narrow curved
// valley after an actuator has changed its length, and Newton's steps along it are short. With bars
// so soft that the load strains them by MF_TRUSS_STRAIN the valley is wide; from its minimum the
// real one is a few steps away. Loads that strain the real bars as much are not predicted.
#define MF_TRUSS_STRAIN ((mf_real)1e-3)
#define MF_TRUSS_FAR ((mf_real)100) // [1] residual over the load from which a frame is predicted
enum { MF_TRUSS_PREDICTION = 40 };  // [1] most iterations

static MF_INLINE void scale_bars(const Frame *f, mf_lane by) {
    for (uint32_t b = 0; b < f->bars; b++)
        f->bar[b].stiffness = f->bar[b].own * by;
}

static MF_INLINE mf_lane softness(const Frame *f) {
    mf_lane rigidity = mf_set((mf_real)1e-30);
    for (uint32_t b = 0; b < f->bars; b++)
        rigidity = mf_max(rigidity, f->bar[b].own * f->bar[b].rest);
    mf_lane by = f->load / (rigidity * mf_set(MF_TRUSS_STRAIN));
    return mf_clamp(by, mf_set((mf_real)1e-4), mf_set((mf_real)1));
}

// Moves the lanes whose bars are far from their lengths to where soft bars would be, if that has
// less energy.
static void predict(Newton *n, mf_index *spent) {
    Frame *f = n->frame;
    const mf_lane before = energy_at(f, f->position, f->gradient), by = softness(f);
    n->energy = before;
    n->fresh = true;
    mf_mask far = mf_less(f->load * mf_set(MF_TRUSS_FAR), residual_of(f));
    far = mf_and(mf_and(far, f->alive), mf_less(by, mf_set((mf_real)0.5)));
    if (!mf_any(far))
        return;
    n->fresh = false;
    for (uint32_t v = 0; v < f->vertices; v++)
        f->entry[v] = f->position[v];
    scale_bars(f, mf_select(far, by, mf_set((mf_real)1)));
    relax(n, far, f->load * mf_set(MF_TRUSS_NEARLY), mf_set_index(MF_TRUSS_PREDICTION), spent);
    scale_bars(f, mf_set((mf_real)1));
    mf_mask worse = mf_and(far, mf_less(before, energy_at(f, f->position, NULL)));
    for (uint32_t v = 0; v < f->vertices; v++)
        f->position[v] = vec_select(worse, f->entry[v], f->position[v]);
    if (mf_any(worse))
        find_pairs(n); // the list is of where they came from
    n->shift = mf_zero();
    n->reach = mf_set((mf_real)(f->plan->reach / 4));
}
