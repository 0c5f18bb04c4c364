// Symmetric matrices of a band: entries of a row from `entries` - 1 before the diagonal to the
// diagonal, and their factors L D L^T. Lanes whose band is narrower have zeros there.
#ifndef MF_MOTION_QUASISTATIC_BAND_H
#define MF_MOTION_QUASISTATIC_BAND_H

#include "motion/quasistatic/state.h"

typedef struct Band {
    mf_lane *value;   // row r, column c: value[r * entries + entries - 1 - (r - c)]
    uint32_t rows;    // [1]
    uint32_t entries; // [1]
} Band;

static MF_INLINE mf_lane *band_row(const Band *band, uint32_t row) {
    return band->value + (size_t)row * band->entries + (band->entries - 1) - row;
}

// Column 0 of row r is at band_row(r)[0] in the sense of an index: columns before the band are not
// to be read.
static MF_INLINE uint32_t band_first(const Band *band, uint32_t row) {
    return row + 1 > band->entries ? row + 1 - band->entries : 0;
}

// Factors in place, `shift` added to the diagonal; `inverse` gets 1 / D. Lanes with a pivot below
// `least` are not in the result; their factors are of no use.
static __attribute__((noinline)) mf_mask band_factor(const Band *band, mf_lane shift, mf_lane least,
                                                     mf_lane *inverse) {
    const mf_lane one = mf_set((mf_real)1);
    mf_mask sound = mf_mask_all();
    for (uint32_t i = 0; i < band->rows; i++) {
        mf_lane *row = band_row(band, i);
        const uint32_t first = band_first(band, i);
        for (uint32_t j = first; j < i; j++) {
            const mf_lane *other = band_row(band, j);
            const uint32_t low = band_first(band, j), from = low > first ? low : first;
            mf_lane sum = row[j];
            for (uint32_t k = from; k < j; k++)
                sum = mf_fma(-row[k], other[k], sum);
            row[j] = sum;
        }
        mf_lane pivot = row[i] + shift;
        for (uint32_t j = first; j < i; j++) {
            mf_lane scaled = row[j] * inverse[j];
            pivot = mf_fma(-row[j], scaled, pivot);
            row[j] = scaled;
        }
        mf_mask good = mf_less(least, pivot);
        sound = mf_and(sound, good);
        pivot = mf_select(good, pivot, one);
        row[i] = pivot;
        inverse[i] = one / pivot;
    }
    return sound;
}

// Solves L D L^T x = x in place.
static __attribute__((noinline)) void band_solve(const Band *band, const mf_lane *inverse,
                                                 mf_lane *x) {
    for (uint32_t i = 0; i < band->rows; i++) {
        const mf_lane *row = band_row(band, i);
        mf_lane sum = x[i];
        for (uint32_t j = band_first(band, i); j < i; j++)
            sum = mf_fma(-row[j], x[j], sum);
        x[i] = sum;
    }
    for (uint32_t i = 0; i < band->rows; i++)
        x[i] = x[i] * inverse[i];
    for (uint32_t i = band->rows; i-- > 0;) {
        const mf_lane *row = band_row(band, i);
        for (uint32_t j = band_first(band, i); j < i; j++)
            x[j] = mf_fma(-row[j], x[i], x[j]);
    }
}

#endif
