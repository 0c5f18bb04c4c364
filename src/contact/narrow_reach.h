// The point of a solid that is farthest along a direction.
#pragma once

#include "contact/narrow_parts.h"

#if defined(MF_KERNEL_F64)
#define HULL_POINTS(hull) mf_hull_points_f64(hull)
#else
#define HULL_POINTS(hull) mf_hull_points_f32(hull)
#endif

// What one lane sees of a hull along a direction: the entries of a cell (hull.h).
typedef struct HullView {
    const mf_real *points; // of the hull
    uint32_t first, last;  // [1] chunks
} HullView;

typedef struct HullBest { // entry of the largest value; of equal ones the first
    mf_real value;
    uint32_t entry;
} HullBest;

static MF_INLINE mf_real positive(mf_real a) {
    return a < 0 ? -a : a;
}

static MF_INLINE void less_of(const mf_real a[3], const mf_real b[3], mf_real out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = a[i] - b[i];
}

// The cell that a direction is in; any will do for a direction without a length.
static inline HullView hull_view(const mf_ConvexHull *hull, const mf_real n[3]) {
    const uint32_t side = hull->side;
    uint32_t cell = 0, axis = positive(n[0]) < positive(n[1]) ? 1 : 0;
    axis = positive(n[axis]) < positive(n[2]) ? 2 : axis;
    const mf_real most = positive(n[axis]);
    if (side > 0 && most > 0 && most < MF_REAL_MAX) {
        const mf_real half = (mf_real)0.5 * (mf_real)side;
        const mf_real u = (n[(axis + 1) % 3] / most + 1) * half,
                      v = (n[(axis + 2) % 3] / most + 1) * half;
        const uint32_t column = u > 0 ? (uint32_t)u : 0, row = v > 0 ? (uint32_t)v : 0;
        cell = 2 * axis + (n[axis] < 0);
        cell = (cell * side + (row < side ? row : side - 1)) * side;
        cell += column < side ? column : side - 1;
    }
    const uint32_t *chunks = mf_hull_cells(hull) + 2 * (size_t)cell;
    return MF_VALUE(HullView, HULL_POINTS(hull), chunks[0], chunks[1]);
}

static MF_INLINE Vec hull_entries(const mf_real *points, uint32_t chunk, uint32_t part) {
    const mf_real *x = points + (size_t)chunk * 3 * MF_HULL_CHUNK + part;
    return MF_VALUE(Vec, mf_load(x), mf_load(x + MF_HULL_CHUNK), mf_load(x + 2 * MF_HULL_CHUNK));
}

static MF_INLINE void hull_entry(const mf_ConvexHull *hull, uint32_t entry, mf_real out[3]) {
    const mf_real *x = HULL_POINTS(hull) + (size_t)(entry / MF_HULL_CHUNK) * 3 * MF_HULL_CHUNK +
                       entry % MF_HULL_CHUNK;
    out[0] = x[0];
    out[1] = x[MF_HULL_CHUNK];
    out[2] = x[2 * MF_HULL_CHUNK];
}

// Halves against halves: pairs of comparisons do not wait for each other.
static inline HullBest hull_best(mf_lane best, mf_index at) {
    MF_ALIGNED(64) mf_real values[MF_LANES];
    MF_ALIGNED(64) int32_t entries[MF_LANES < 4 ? 4 : MF_LANES];
    mf_store(values, best);
    mf_store_index(entries, at);
    for (uint32_t half = MF_LANES / 2; half > 0; half /= 2)
        for (uint32_t i = 0; i < half; i++) {
            const mf_real other = values[i + half];
            const bool equal = !(other < values[i]) & (entries[i + half] < entries[i]);
            const bool better = (other > values[i]) | equal;
            values[i] = better ? other : values[i];
            entries[i] = better ? entries[i + half] : entries[i];
        }
    return MF_VALUE(HullBest, values[0], (uint32_t)entries[0]);
}

// The entry farthest along n of those at least `floor` far along `up`. Entries side by side in the
// lanes of a vector: one lane of the caller at a time.
static inline HullBest hull_search(const HullView *view, const mf_real n[3], const mf_real from[3],
                                   const mf_real up[3], mf_real floor) {
    const Vec direction = {mf_set(n[0]), mf_set(n[1]), mf_set(n[2])};
    const Vec start = {mf_set(from[0]), mf_set(from[1]), mf_set(from[2])};
    const Vec high = {mf_set(up[0]), mf_set(up[1]), mf_set(up[2])};
    mf_lane best = mf_set(-MF_REAL_MAX);
    mf_index at = mf_set_index((int32_t)(view->first * MF_HULL_CHUNK));
    for (uint32_t c = view->first; c < view->last; c++)
        for (uint32_t part = 0; part < MF_HULL_CHUNK; part += MF_LANES) {
            const Vec vertex = hull_entries(view->points, c, part);
            mf_lane value = vec_dot(vec_sub(vertex, start), direction);
            mf_mask better =
                mf_and(mf_less_equal(mf_set(floor), vec_dot(vertex, high)), mf_less(best, value));
            mf_index here = mf_set_index((int32_t)(c * MF_HULL_CHUNK + part)) + mf_lane_numbers();
            at = mf_select_index(better, here, at);
            best = mf_select(better, value, best);
        }
    return hull_best(best, at);
}

// As above without start and floor: what every search calls most.
static inline HullBest hull_farthest(const HullView *view, const mf_real n[3]) {
    const Vec direction = {mf_set(n[0]), mf_set(n[1]), mf_set(n[2])};
    mf_lane best = mf_set(-MF_REAL_MAX);
    mf_index at = mf_set_index((int32_t)(view->first * MF_HULL_CHUNK));
    for (uint32_t c = view->first; c < view->last; c++)
        for (uint32_t part = 0; part < MF_HULL_CHUNK; part += MF_LANES) {
            mf_lane value = vec_dot(hull_entries(view->points, c, part), direction);
            mf_index here = mf_set_index((int32_t)(c * MF_HULL_CHUNK + part)) + mf_lane_numbers();
            at = mf_select_index(mf_less(best, value), here, at);
            best = mf_max(value, best);
        }
    return hull_best(best, at);
}

// The entry farthest from a position of those at least `floor` far along `up`.
static inline HullBest hull_distant(const HullView *view, const mf_real from[3],
                                    const mf_real up[3], mf_real floor) {
    const Vec start = {mf_set(from[0]), mf_set(from[1]), mf_set(from[2])};
    const Vec high = {mf_set(up[0]), mf_set(up[1]), mf_set(up[2])};
    mf_lane best = mf_set((mf_real)-1);
    mf_index at = mf_set_index((int32_t)(view->first * MF_HULL_CHUNK));
    for (uint32_t c = view->first; c < view->last; c++)
        for (uint32_t part = 0; part < MF_HULL_CHUNK; part += MF_LANES) {
            const Vec vertex = hull_entries(view->points, c, part), offset = vec_sub(vertex, start);
            mf_lane value = vec_dot(offset, offset);
            mf_mask better =
                mf_and(mf_less_equal(mf_set(floor), vec_dot(vertex, high)), mf_less(best, value));
            mf_index here = mf_set_index((int32_t)(c * MF_HULL_CHUNK + part)) + mf_lane_numbers();
            at = mf_select_index(better, here, at);
            best = mf_select(better, value, best);
        }
    return hull_best(best, at);
}

// Lanes as numbers.
typedef struct Rows {
    MF_ALIGNED(64) mf_real x[MF_LANES];
    MF_ALIGNED(64) mf_real y[MF_LANES];
    MF_ALIGNED(64) mf_real z[MF_LANES];
} Rows;

static MF_INLINE void rows_put(Vec a, Rows *rows) {
    mf_store(rows->x, a.x);
    mf_store(rows->y, a.y);
    mf_store(rows->z, a.z);
}

static MF_INLINE Vec rows_take(const Rows *rows) {
    return MF_VALUE(Vec, mf_load(rows->x), mf_load(rows->y), mf_load(rows->z));
}

static MF_INLINE void rows_set(Rows *rows, uint32_t lane, const mf_real a[3]) {
    rows->x[lane] = a[0];
    rows->y[lane] = a[1];
    rows->z[lane] = a[2];
}

// Which lanes, as numbers that are not 0.
static MF_INLINE void lanes_put(mf_mask where, mf_real out[MF_LANES]) {
    mf_store(out, mf_keep(where, mf_set((mf_real)1)));
}

// 0 in lanes that are not in `where`. What all lanes will look at is requested first: tables are
// larger than caches.
static Vec hull_reach(const Solid *solid, Vec n, mf_mask where) {
    Rows direction, out;
    MF_ALIGNED(64) mf_real on[MF_LANES];
    HullView views[MF_LANES];
    uint32_t lanes[MF_LANES], count = 0;
    rows_put(n, &direction);
    rows_put(constant_vec(0, 0, 0), &out);
    lanes_put(where, on);
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        if (!(on[lane] > 0))
            continue;
        const mf_real own[3] = {direction.x[lane], direction.y[lane], direction.z[lane]};
        views[count] = hull_view(solid->hull, own);
        const mf_real *points =
            views[count].points + (size_t)views[count].first * 3 * MF_HULL_CHUNK;
        for (uint32_t i = 0; i < 3; i++)
            __builtin_prefetch(points + (size_t)i * MF_HULL_CHUNK);
        lanes[count++] = lane;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lane = lanes[i];
        const mf_real own[3] = {direction.x[lane], direction.y[lane], direction.z[lane]};
        mf_real vertex[3];
        hull_entry(solid->hull, hull_farthest(&views[i], own).entry, vertex);
        rows_set(&out, lane, vertex);
    }
    return rows_take(&out);
}

// Of the core: a sphere is its center, a capsule its segment, the others are themselves. Hulls are
// searched in the lanes `where` only.
static Vec core_reach(const Solid *solid, Vec n, mf_mask where) {
    return solid->kind == MF_COLLIDE_HULL ? hull_reach(solid, n, where)
                                          : shape_reach(solid->kind, halves(solid), n);
}

// [m] around the core.
static mf_lane core_radius(const Solid *solid) {
    bool round = solid->kind == MF_COLLIDE_SPHERE || solid->kind == MF_COLLIDE_CAPSULE;
    return round ? half(solid, 0) : mf_zero();
}
