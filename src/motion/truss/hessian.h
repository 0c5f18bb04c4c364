// The second derivatives of the energy, as a band, made so that factoring succeeds often: exact for
// bars under loads and for sticking contacts; sliding contacts far from the minimum with a tenth of
// their curvature along the slip, where they have none; bars that touch exactly in small trusses,
// in others by a bound of their couplings, which keeps them out of the band.
#pragma once

#include "motion/truss/ground.h"
#include "motion/truss/pairs.h"
#include "motion/truss/state.h"

// ---- band ---------------------------------------------------------------------------------------

// Symmetric matrices of a band: entries of a row from `entries` - 1 before the diagonal to the
// diagonal, and their factors L D L^T. Within the band a row begins with its first column that is
// not zero in some lane, as its factor does (the envelope of Jennings, 1966); what is before that
// is neither set nor read.

typedef struct Band {
    mf_lane *value;        // row r, column c: value[r * entries + entries - 1 - (r - c)]
    uint32_t rows;         // [1]
    uint32_t entries;      // [1]
    const uint32_t *first; // per vertex in the order of rows: the first vertex of its rows
} Band;

static MF_INLINE mf_lane *band_row(const Band *band, uint32_t row) {
    return band->value + (size_t)row * band->entries + (band->entries - 1) - row;
}

// The first value of a row, and their number in `count`.
static MF_INLINE mf_lane *row_begin(const Band *band, uint32_t row, uint32_t *count) {
    const uint32_t column = AXES * band->first[row / AXES];
    *count = row - column + 1;
    return band_row(band, row) + column;
}

static MF_INLINE void band_clear(const Band *band) {
    for (uint32_t r = 0; r < band->rows; r++) {
        uint32_t count;
        mf_lane *value = row_begin(band, r, &count);
        for (uint32_t i = 0; i < count; i++)
            value[i] = mf_zero();
    }
}

static MF_INLINE void band_copy(const Band *to, const Band *from) {
    for (uint32_t r = 0; r < from->rows; r++) {
        uint32_t count;
        const mf_lane *value = row_begin(from, r, &count);
        mf_lane *copy = row_begin(to, r, &count);
        for (uint32_t i = 0; i < count; i++)
            copy[i] = value[i];
    }
}

// Rows of the vertex `block`, times D, at the columns of the vertex `other` before it. Nine sums at
// a time hide the latency of each; every one has its products in the order of the columns.
static MF_INLINE void factor_block(const Band *band, uint32_t block, uint32_t other) {
    mf_lane *row[AXES], sum[AXES][AXES];
    const mf_lane *top[AXES];
    const uint32_t to = AXES * other;
    for (uint32_t i = 0; i < AXES; i++) {
        row[i] = band_row(band, AXES * block + i);
        top[i] = band_row(band, to + i);
    }
    for (uint32_t i = 0; i < AXES; i++)
        for (uint32_t j = 0; j < AXES; j++)
            sum[i][j] = row[i][to + j];
    const uint32_t low = band->first[other], own = band->first[block];
    for (uint32_t k = AXES * (low > own ? low : own); k < to; k++)
        for (uint32_t i = 0; i < AXES; i++)
            for (uint32_t j = 0; j < AXES; j++)
                sum[i][j] = mf_fma(-row[i][k], top[j][k], sum[i][j]);
    for (uint32_t i = 0; i < AXES; i++) {
        sum[i][1] = mf_fma(-sum[i][0], top[1][to], sum[i][1]);
        sum[i][2] = mf_fma(-sum[i][0], top[2][to], sum[i][2]);
        sum[i][2] = mf_fma(-sum[i][1], top[2][to + 1], sum[i][2]);
        for (uint32_t j = 0; j < AXES; j++)
            row[i][to + j] = sum[i][j];
    }
}

// Row i of the vertex `block`, whose columns before the vertex hold L D: its columns within the
// vertex, its pivot, and L instead of L D.
static MF_INLINE mf_lane finish_row(const Band *band, uint32_t block, uint32_t i, mf_lane shift,
                                    const mf_lane *inverse) {
    mf_lane *row = band_row(band, AXES * block + i);
    const uint32_t first = AXES * band->first[block], here = AXES * block;
    for (uint32_t j = 0; j < i; j++) {
        const mf_lane *top = band_row(band, here + j);
        mf_lane sum = row[here + j];
        for (uint32_t k = first; k < here + j; k++)
            sum = mf_fma(-row[k], top[k], sum);
        row[here + j] = sum;
    }
    mf_lane pivot = row[here + i] + shift;
    for (uint32_t k = first; k < here + i; k++) {
        mf_lane scaled = row[k] * inverse[k];
        pivot = mf_fma(-row[k], scaled, pivot);
        row[k] = scaled;
    }
    return pivot;
}

// Factors in place, `shift` added to the diagonal; `inverse` gets 1 / D. Lanes with a pivot below
// `least` are not in the result; their factors are of no use.
static __attribute__((noinline)) mf_mask band_factor(const Band *band, mf_lane shift, mf_lane least,
                                                     mf_lane *inverse) {
    const mf_lane one = mf_set((mf_real)1);
    mf_mask sound = mf_mask_all();
    for (uint32_t block = 0; block < band->rows / AXES; block++) {
        for (uint32_t other = band->first[block]; other < block; other++)
            factor_block(band, block, other);
        for (uint32_t i = 0; i < AXES; i++) {
            const uint32_t r = AXES * block + i;
            mf_lane pivot = finish_row(band, block, i, shift, inverse);
            mf_mask good = mf_less(least, pivot);
            sound = mf_and(sound, good);
            pivot = mf_select(good, pivot, one);
            band_row(band, r)[r] = pivot;
            inverse[r] = one / pivot;
        }
    }
    return sound;
}

// Solves L D L^T x = x in place.
static __attribute__((noinline)) void band_solve(const Band *band, const mf_lane *inverse,
                                                 mf_lane *x) {
    for (uint32_t block = 0; block < band->rows / AXES; block++) {
        const uint32_t here = AXES * block;
        const mf_lane *row[AXES] = {band_row(band, here), band_row(band, here + 1),
                                    band_row(band, here + 2)};
        mf_lane sum[AXES] = {x[here], x[here + 1], x[here + 2]};
        for (uint32_t k = AXES * band->first[block]; k < here; k++)
            for (uint32_t i = 0; i < AXES; i++)
                sum[i] = mf_fma(-row[i][k], x[k], sum[i]);
        sum[1] = mf_fma(-row[1][here], sum[0], sum[1]);
        sum[2] = mf_fma(-row[2][here], sum[0], sum[2]);
        sum[2] = mf_fma(-row[2][here + 1], sum[1], sum[2]);
        for (uint32_t i = 0; i < AXES; i++)
            x[here + i] = sum[i];
    }
    for (uint32_t i = 0; i < band->rows; i++)
        x[i] = x[i] * inverse[i];
    for (uint32_t i = band->rows; i-- > 0;) {
        const mf_lane *row = band_row(band, i);
        for (uint32_t j = AXES * band->first[i / AXES]; j < i; j++)
            x[j] = mf_fma(-row[j], x[i], x[j]);
    }
}

// ---- energy -------------------------------------------------------------------------------------

// The energy H of a truss and its derivatives: bars, weight, loads, ground, bars that touch, and in
// a dynamic step inertia.

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

// ---- hessian ------------------------------------------------------------------------------------

#define MF_TRUSS_SLIDE ((mf_real)0.1) // [1] share of the curvature along the slip

// s n n^T + t I
static MF_INLINE Sym along_and_across(Vec n, mf_lane s, mf_lane t) {
    return MF_VALUE(Sym, mf_fma(s * n.x, n.x, t), mf_fma(s * n.y, n.y, t), mf_fma(s * n.z, n.z, t),
                    s * n.x * n.y, s * n.x * n.z, s * n.y * n.z);
}

static MF_INLINE Sym sym_scale(Sym a, mf_lane s) {
    return MF_VALUE(Sym, a.xx * s, a.yy * s, a.zz * s, a.xy * s, a.xz * s, a.yz * s);
}

static MF_INLINE Sym sym_add(Sym a, Sym b) {
    return MF_VALUE(Sym, a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz,
                    a.yz + b.yz);
}

static MF_INLINE mf_lane sym_entry(const Sym *a, int row, int column) {
    if (row == column)
        return row == 0 ? a->xx : row == 1 ? a->yy : a->zz;
    return row + column == 1 ? a->xy : row + column == 2 ? a->xz : a->yz;
}

// Adds a symmetric block at the vertices `one` and `two`; `diagonal`: they are the same.
static MF_INLINE void add_same(const Band *band, uint32_t one, uint32_t two, bool diagonal,
                               const Sym *block) {
    const uint32_t high = one > two ? one : two, low = one > two ? two : one;
    for (uint32_t i = 0; i < AXES; i++) {
        mf_lane *row = band_row(band, AXES * high + i) + (size_t)AXES * low;
        for (uint32_t j = 0; j < (diagonal ? i + 1 : AXES); j++)
            row[j] = row[j] + sym_entry(block, (int)i, (int)j);
    }
}

static MF_INLINE void add_apart(const Band *band, mf_mask where, mf_index one, mf_index two,
                                bool diagonal, const Sym *block) {
    mf_mask swap = mf_index_less(one, two);
    mf_index high = mf_select_index(swap, two, one), low = mf_select_index(swap, one, two);
    const mf_index axes = mf_set_index(AXES), lanes = mf_set_index(MF_LANES);
    const mf_index entries = mf_set_index((int32_t)band->entries - 1);
    mf_real *values = (mf_real *)(void *)band->value;
    for (int i = 0; i < AXES; i++) {
        mf_index row = high * axes + mf_set_index(i);
        mf_index start = row * entries + entries + low * axes;
        for (int j = 0; j < (diagonal ? i + 1 : AXES); j++) {
            mf_index at = (start + mf_set_index(j)) * lanes + mf_lane_numbers();
            mf_scatter(where, values, at, mf_gather(values, at) + sym_entry(block, i, j));
        }
    }
}

static MF_INLINE void matrix_add(const Band *band, bool same, mf_mask where, const End *one,
                                 const End *two, bool diagonal, const Sym *block) {
    if (same)
        add_same(band, one->same_row, two->same_row, diagonal, block);
    else
        add_apart(band, where, one->row, two->row, diagonal, block);
}

// k n n^T + (F / l) (I - n n^T), the second part of bars in compression only in lanes that are
// nearly relaxed: before, their forces come of rest lengths that changed, and go with the next
// step.
static MF_INLINE void add_bars(const Frame *f, const Band *band, bool same) {
    const mf_lane least = mf_select(f->nearly, mf_set((mf_real)-1e30), mf_zero());
    for (uint32_t b = 0; b < f->bars; b++) {
        const Bar *bar = &f->bar[b];
        Stretch s = stretch_of(bar, f->position, same);
        mf_mask exists = mf_and(f->alive, mf_less(mf_zero(), bar->stiffness));
        mf_lane across = mf_max(s.force, least) / s.length;
        Sym block = along_and_across(s.direction, bar->stiffness - across, across);
        Sym minus = sym_scale(block, mf_set((mf_real)-1));
        matrix_add(band, same, exists, &bar->ends[0], &bar->ends[0], true, &block);
        matrix_add(band, same, exists, &bar->ends[1], &bar->ends[1], true, &block);
        matrix_add(band, same, exists, &bar->ends[0], &bar->ends[1], false, &minus);
    }
}

static MF_INLINE Sym contact_block(const Frame *f, const Touch *touch, const Contact *c) {
    const mf_lane one = mf_set((mf_real)1), grip = f->grip;
    mf_mask deep = mf_less(mf_set(-MF_TRUSS_NEAR), c->depth);
    Sym block = along_and_across(c->rise, mf_keep(deep, c->spring), mf_zero());
    mf_mask slides = mf_less(c->bound, c->far * grip);
    Vec along = vec_scale(c->slip, one / mf_max(c->far, mf_set((mf_real)1e-30)));
    mf_lane kept = mf_select(f->nearly, mf_zero(), c->grip * mf_set(MF_TRUSS_SLIDE));
    mf_lane flat = mf_keep(slides, c->grip - mf_max(kept, c->rise_rate));
    block = sym_add(block, along_and_across(along, -flat, c->grip));
    return sym_add(block, along_and_across(touch->normal, -c->grip, mf_zero()));
}

static MF_INLINE void add_ground(const Frame *f, const Band *band, bool same) {
    const uint32_t count = contact_count(f);
    for (uint32_t i = 0; i < count; i++) {
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Vec at = contact_position(f->position, &contact_point, same);
        if (contact_point_clears(f, &f->touch[i], at, mf_set(MF_TRUSS_NEAR)))
            continue;
        Contact c = contact_at(f, &f->touch[i], at);
        mf_mask touches = mf_and(
            f->alive, mf_or(mf_less(mf_set(-MF_TRUSS_NEAR), c.depth), mf_less(mf_zero(), c.bound)));
        if (!mf_any(touches))
            continue;
        Sym block = contact_block(f, &f->touch[i], &c);
        for (int e = 0; e < 2 && contact_point.ends[e] != NULL; e++) {
            Sym own = sym_scale(block, contact_point.share[e] * contact_point.share[e]);
            matrix_add(band, same, touches, contact_point.ends[e], contact_point.ends[e], true,
                       &own);
        }
        if (contact_point.ends[1] == NULL)
            continue;
        Sym cross = sym_scale(block, contact_point.share[0] * contact_point.share[1]);
        matrix_add(band, same, touches, contact_point.ends[0], contact_point.ends[1], false,
                   &cross);
    }
}

// k times the product of both shares, n n^T, for each two of the four vertices.
static MF_INLINE void add_exactly(const Frame *f, const Band *band, const BarContact *bar_contact,
                                  bool same) {
    const mf_lane stiffness = f->spring, one = mf_set((mf_real)1);
    mf_lane share[4];
    const End *end[4];
    for (int e = 0; e < 4; e++) {
        mf_lane t = bar_contact->closest.share[e / 2];
        share[e] = e % 2 != 0 ? t : one - t;
        share[e] = e / 2 != 0 ? share[e] : -share[e];
        end[e] = &f->bar[e / 2 != 0 ? bar_contact->second : bar_contact->first].ends[e % 2];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++) {
            mf_lane size = mf_keep(bar_contact->deep, stiffness * share[i] * share[j]);
            Sym block = along_and_across(bar_contact->closest.normal, size, mf_zero());
            matrix_add(band, same, bar_contact->deep, end[i], end[j], i == j, &block);
        }
}

// (sum of w_i n . dx_i)^2 <= 2 sum of w_i (n . dx_i)^2 for the four shares w, whose sum is 2.
static MF_INLINE void add_pairs(const Frame *f, const Band *band, bool same) {
    const mf_lane twice = f->spring + f->spring, one = mf_set((mf_real)1);
    uint32_t at = 0;
    BarContact other;
    for (const BarContact *bar_contact;
         (bar_contact = bar_contacts_next(f, &at, &other, same)) != NULL;) {
        if (f->direct) {
            add_exactly(f, band, bar_contact, same);
            continue;
        }
        for (int e = 0; e < 4; e++) {
            mf_lane t = bar_contact->closest.share[e / 2], share = e % 2 != 0 ? t : one - t;
            Sym block = along_and_across(bar_contact->closest.normal,
                                         mf_keep(bar_contact->deep, twice * share), mf_zero());
            const End *end =
                &f->bar[e / 2 != 0 ? bar_contact->second : bar_contact->first].ends[e % 2];
            matrix_add(band, same, bar_contact->deep, end, end, true, &block);
        }
    }
}

// m / c^2 of every vertex.
static MF_INLINE void add_inertia(const Frame *f, const Band *band, bool same) {
    for (uint32_t v = 0; v < f->vertices; v++) {
        const mf_lane size = inertia_of(f, v), zero = mf_zero();
        Sym block = MF_VALUE(Sym, size, size, size, zero, zero, zero);
        matrix_add(band, same, f->alive, &f->own[v], &f->own[v], true, &block);
    }
}

// Rows of components that are held get a diagonal which leaves them where they are; rows without
// anything a diagonal at all. Returns the largest diagonal before that.
static MF_INLINE mf_lane finish_diagonal(const Frame *f, const Band *band, bool same) {
    mf_lane most = mf_set((mf_real)1e-12);
    for (uint32_t r = 0; r < band->rows; r++)
        most = mf_max(most, band_row(band, r)[r]);
    const mf_lane stiff = most * mf_set((mf_real)1e12);
    for (uint32_t v = 0; v < f->vertices; v++) {
        for (int axis = 0; axis < AXES; axis++) {
            const mf_index bit = mf_set_index(1 << axis);
            mf_mask fixed = mf_index_equal(f->fixed[v] & bit, bit);
            if (!mf_any(fixed))
                continue;
            Sym block = {mf_zero(), mf_zero(), mf_zero(), mf_zero(), mf_zero(), mf_zero()};
            mf_lane *entry[AXES] = {&block.xx, &block.yy, &block.zz};
            *entry[axis] = mf_keep(fixed, stiff);
            matrix_add(band, same, f->alive, &f->own[v], &f->own[v], true, &block);
        }
    }
    return most;
}

static MF_INLINE mf_lane assemble_as(const Frame *f, const Band *band, bool same) {
    band_clear(band);
    add_bars(f, band, same);
    if (f->plan->ground)
        add_ground(f, band, same);
    if (f->pair_count > 0)
        add_pairs(f, band, same);
    if (f->plan->dynamic)
        add_inertia(f, band, same);
    return finish_diagonal(f, band, same);
}

// The matrix at the present positions; returns its largest diagonal [N/m].
static __attribute__((noinline)) mf_lane assemble(const Frame *f, const Band *band) {
    return f->same ? assemble_as(f, band, true) : assemble_as(f, band, false);
}
