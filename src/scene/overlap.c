// Spatial hash of spheres (see overlap.h). A cell is at least as wide as the sum of two radii, so a
// search visits one cell and its 26 neighbors.
#include "scene/overlap.h"
#include "base/memory.h"

#include <math.h>

#define NONE UINT32_MAX

mf_Status mf_overlap_create(mf_Context *context, uint32_t capacity, double largest,
                            mf_OverlapGrid *out, mf_Error *error) {
    *out = (mf_OverlapGrid){.context = context, .cell = 2.0 * largest, .capacity = capacity};
    uint32_t heads = 64;
    while (heads < capacity)
        heads *= 2;
    out->mask = heads - 1;
    const mf_Array arrays[] = {MF_ARRAY(out->spheres, capacity), MF_ARRAY(out->next, capacity),
                               MF_ARRAY(out->heads, heads)};
    if (!mf_allocate_arrays(context, arrays, 3))
        return mf_fail(error, MF_NO_MEMORY, "placement: no memory for %u agents", capacity);
    for (uint32_t i = 0; i < heads; i++)
        out->heads[i] = NONE;
    return MF_OK;
}

void mf_overlap_free(mf_OverlapGrid *grid) {
    mf_release(grid->context, grid->spheres); // with the others
    *grid = (mf_OverlapGrid){0};
}

static uint32_t slot_of(const mf_OverlapGrid *grid, const int64_t cell[3]) {
    uint64_t mixed = (uint64_t)cell[0] * UINT64_C(0x9e3779b97f4a7c15) ^
                     (uint64_t)cell[1] * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                     (uint64_t)cell[2] * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(mixed >> 32 ^ mixed) & grid->mask;
}

static void cell_of(const mf_OverlapGrid *grid, const double center[3], int64_t cell[3]) {
    for (int c = 0; c < 3; c++)
        cell[c] = (int64_t)floor(center[c] / grid->cell);
}

void mf_overlap_add(mf_OverlapGrid *grid, const double center[3], double radius) {
    int64_t cell[3];
    cell_of(grid, center, cell);
    uint32_t slot = slot_of(grid, cell), index = grid->count++;
    double *sphere = grid->spheres[index];
    for (int c = 0; c < 3; c++)
        sphere[c] = center[c];
    sphere[3] = radius;
    grid->next[index] = grid->heads[slot];
    grid->heads[slot] = index;
}

static uint32_t lowest_in(const mf_OverlapGrid *grid, uint32_t slot, const double center[3],
                          double radius, uint32_t lowest) {
    for (uint32_t i = grid->heads[slot]; i != NONE; i = grid->next[i]) {
        const double *sphere = grid->spheres[i];
        double x = sphere[0] - center[0], y = sphere[1] - center[1], z = sphere[2] - center[2];
        double reach = sphere[3] + radius;
        if (x * x + y * y + z * z < reach * reach && i < lowest)
            lowest = i;
    }
    return lowest;
}

uint32_t mf_overlap_test(const mf_OverlapGrid *grid, const double center[3], double radius) {
    int64_t middle[3];
    cell_of(grid, center, middle);
    uint32_t lowest = NONE;
    for (int i = 0; i < 27; i++) {
        int64_t cell[3] = {middle[0] + i % 3 - 1, middle[1] + i / 3 % 3 - 1, middle[2] + i / 9 - 1};
        lowest = lowest_in(grid, slot_of(grid, cell), center, radius, lowest);
    }
    return lowest;
}
