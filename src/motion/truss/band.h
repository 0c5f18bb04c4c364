// Symmetric matrices of a band: entries of a row from `entries` - 1 before the diagonal to the
// diagonal, and their factors L D L^T. Within the band a row begins with its first column that is
// not zero in some lane, as its factor does (the envelope of Jennings, 1966); what is before that
// is neither set nor read.
#ifndef MF_MOTION_TRUSS_BAND_H
#define MF_MOTION_TRUSS_BAND_H

#include "motion/truss/state.h"

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

#endif
