// What the kernels of neighbor search share: the cells around a slot, distances, ends of lists.
// Included by src/contact/*_kernel.c only.
#pragma once

#include "contact/neighbors.h"
#include "math/lane_list.h"

static MF_INLINE mf_lane square(mf_lane dx, mf_lane dy, mf_lane dz) {
    return (dx * dx + dy * dy) + dz * dz;
}

// Lists are read in whole lanes of any width, so their ends are filled up with nobody.
static inline void fill_up(int32_t *list, uint32_t count, int32_t nobody) {
    for (uint32_t i = 0; i < MF_NEIGHBOR_PAD; i++)
        list[count + i] = nobody;
}

// ---- the cells around a slot --------------------------------------------------------------------

typedef struct Runs {
    const uint64_t *key;
    uint32_t count;    // [1] slots that take part
    uint64_t cell;     // the one that the runs are around
    uint64_t shift[9]; // from a cell to the middle of each of the nine rows, modulo 2^64
    uint32_t begin[9], end[9];
} Runs;

// First slot whose key is at least `key`.
static inline uint32_t lower_bound(const Runs *runs, uint64_t key) {
    uint32_t low = 0, high = runs->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs->key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline void runs_start(Runs *runs, const mf_Neighbors *all, uint32_t slot) {
    runs->key = all->key;
    runs->count = all->live_count;
    runs->cell = all->key[slot];
    for (int r = 0; r < 9; r++) {
        int64_t shift = (int64_t)(r / 3 - 1) * ((int64_t)1 << all->key_bits[1]) +
                        (int64_t)(r % 3 - 1) * ((int64_t)1 << all->key_bits[0]);
        runs->shift[r] = (uint64_t)shift;
        runs->begin[r] = lower_bound(runs, runs->cell + runs->shift[r] - 1);
        runs->end[r] = lower_bound(runs, runs->cell + runs->shift[r] + 2);
    }
}

// On to the cell of `slot`, not before the present one: the pointers only move forward.
static MF_INLINE void runs_advance(Runs *runs, uint32_t slot) {
    uint64_t cell = runs->key[slot];
    if (cell == runs->cell)
        return;
    runs->cell = cell;
    for (int r = 0; r < 9; r++) {
        uint64_t low = cell + runs->shift[r] - 1, high = cell + runs->shift[r] + 2;
        while (runs->begin[r] < runs->count && runs->key[runs->begin[r]] < low)
            runs->begin[r]++;
        if (runs->end[r] < runs->begin[r])
            runs->end[r] = runs->begin[r];
        while (runs->end[r] < runs->count && runs->key[runs->end[r]] < high)
            runs->end[r]++;
    }
}
