// Cloth against itself: vertices are balls that stay a distance apart, except of those that are
// near each other in the cloth at rest. Near ones are found once a step in a grid of cells, by a
// counting sort; in every substep all vertices move away from theirs at once (Jacobi), so that both
// of a pair get the same push and the order does not matter.
#ifndef MF_MOTION_CLOTH_SELF_H
#define MF_MOTION_CLOTH_SELF_H

#include "motion/cloth/solve.h"

#define MF_CLOTH_RELAXATION                                                                        \
    ((mf_real)0.25)                        // [1] of what parts a pair, as a vertex may have several
#define MF_CLOTH_MOST_SHIFT ((mf_real)0.1) // [1] of the distance, in a substep
#define MF_CLOTH_FAMILY 3.0 // [1] distances within which vertices are neighbors at rest

// The square root of one value.
static inline mf_real mf_one_sqrt(mf_real value) {
    MF_ALIGNED(64) mf_real lanes[MF_LANES];
    mf_store(lanes, mf_sqrt(mf_set(value)));
    return lanes[0];
}

typedef struct Cell {
    int32_t at[3]; // [1]
} Cell;

// Any place of cells; different ones may share a bucket.
static inline uint32_t bucket_of(const mf_ClothSelf *self, Cell cell) {
    const uint32_t x = (uint32_t)cell.at[0] * 73856093u, y = (uint32_t)cell.at[1] * 19349663u;
    return (x ^ y ^ (uint32_t)cell.at[2] * 83492791u) & (self->bucket_count - 1);
}

static inline int32_t floor_of(mf_real value) {
    const int32_t whole = (int32_t)value;
    return whole - (value < (mf_real)whole);
}

// Cells have the reach of the search, twice the distance, as edge.
static inline Cell cell_of(const mf_ClothJob *job, const mf_real *x, uint32_t vertex) {
    const uint32_t at = mf_cloth_slot_of(job->plan)[vertex];
    const size_t stride = mf_cloth_scratch_size(job->plan);
    const mf_real scale = (mf_real)(0.5 / job->plan->self_distance);
    const mf_real most = (mf_real)1e9;
    Cell cell;
    for (uint32_t c = 0; c < 3; c++) {
        const mf_real value = x[c * stride + at] * scale;
        cell.at[c] = value > -most && value < most ? floor_of(value) : 0;
    }
    return cell;
}

static inline double rest_square(const mf_ClothJob *job, uint32_t a, uint32_t b) {
    const double *home = mf_cloth_home(job->plan);
    double square = 0;
    for (uint32_t c = 0; c < 3; c++) {
        const double distance = home[3 * (size_t)a + c] - home[3 * (size_t)b + c];
        square += distance * distance;
    }
    return square;
}

static inline mf_real distance_squared(const mf_ClothJob *job, const mf_real *x, uint32_t a,
                                       uint32_t b) {
    const size_t stride = mf_cloth_scratch_size(job->plan);
    const uint32_t *slot_of = mf_cloth_slot_of(job->plan);
    mf_real square = 0;
    for (uint32_t c = 0; c < 3; c++) {
        const mf_real distance = x[c * stride + slot_of[a]] - x[c * stride + slot_of[b]];
        square += distance * distance;
    }
    return square;
}

// Adds the vertices of one cell that are near. Returns how many found no space.
static inline uint32_t list_cell(const mf_ClothJob *job, const mf_real *x, uint32_t vertex,
                                 Cell cell) {
    const mf_ClothSelf *self = &job->self;
    const double distance = job->plan->self_distance;
    const mf_real reach = (mf_real)(2 * distance);
    const uint32_t bucket = bucket_of(self, cell);
    uint32_t dropped = 0;
    for (uint32_t i = self->begins[bucket]; i < self->begins[bucket + 1]; i++) {
        const uint32_t other = self->sorted[i];
        if (memcmp(self->cells + 3 * (size_t)other, cell.at, sizeof cell.at) != 0 ||
            other == vertex || distance_squared(job, x, vertex, other) >= reach * reach ||
            rest_square(job, vertex, other) <=
                MF_CLOTH_FAMILY * MF_CLOTH_FAMILY * distance * distance)
            continue;
        if (self->counts[vertex] == MF_CLOTH_NEAR)
            dropped++;
        else
            self->near[(size_t)vertex * MF_CLOTH_NEAR + self->counts[vertex]++] = other;
    }
    return dropped;
}

static inline uint32_t list_near(const mf_ClothJob *job, const mf_real *x, uint32_t vertex) {
    const Cell own = cell_of(job, x, vertex);
    uint32_t dropped = 0;
    job->self.counts[vertex] = 0;
    for (int32_t i = 0; i < 27; i++) {
        Cell cell;
        cell.at[0] = own.at[0] + i % 3 - 1;
        cell.at[1] = own.at[1] + i / 3 % 3 - 1;
        cell.at[2] = own.at[2] + i / 9 - 1;
        dropped += list_cell(job, x, vertex, cell);
    }
    return dropped;
}

// What parts the vertex from those near it: all at once, from where they are.
static inline void separate(const mf_ClothJob *job, const mf_real *x, const mf_real *w,
                            mf_real *shift, uint32_t vertex) {
    const mf_ClothSelf *self = &job->self;
    const size_t stride = mf_cloth_scratch_size(job->plan);
    const uint32_t *slot_of = mf_cloth_slot_of(job->plan);
    const uint32_t at = slot_of[vertex];
    const mf_real distance = (mf_real)job->plan->self_distance;
    mf_real sum[3] = {0, 0, 0};
    for (uint32_t i = 0; i < self->counts[vertex]; i++) {
        const uint32_t other = self->near[(size_t)vertex * MF_CLOTH_NEAR + i];
        const mf_real square = distance_squared(job, x, vertex, other);
        const mf_real both = w[at] + w[slot_of[other]];
        if (!(square < distance * distance && square > 0 && both > 0))
            continue;
        // Bounded, so that what got deep comes out slowly.
        const mf_real length = mf_one_sqrt(square), most = MF_CLOTH_MOST_SHIFT * distance;
        const mf_real depth = distance - length < most ? distance - length : most;
        const mf_real part = MF_CLOTH_RELAXATION * depth / length * w[at] / both;
        for (uint32_t c = 0; c < 3; c++)
            sum[c] += part * (x[c * stride + at] - x[c * stride + slot_of[other]]);
    }
    for (uint32_t c = 0; c < 3; c++)
        shift[c * stride + at] = sum[c];
}

#endif
