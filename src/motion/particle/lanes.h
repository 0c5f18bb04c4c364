// Lanes of particles: ranges of neighbors, the ground and solids as signed distances, and stores to
// fields of unsorted particles.
#pragma once

#include "contact/solid_lane.h"
#include "math/lane_list.h"
#include "math/lane_sum.h"
#include "motion/particle/plan.h"
#include "terrain/distance_lane.h"

// ---- neighbors ----------------------------------------------------------------------------------

// The first cells of each of the nine rows of cells around a row.
typedef struct NearRows {
    int32_t cells[9];
    int32_t count; // [1] rows that exist
} NearRows;

static MF_INLINE NearRows near_cells(const mf_ParticleTask *task, uint32_t row) {
    NearRows near;
    const int32_t columns = task->size[0], rows = task->size[1], layers = task->size[2];
    const int32_t y = (int32_t)row % rows, z = (int32_t)row / rows;
    near.count = 0;
    for (int32_t dz = -1; dz <= 1; dz++)
        for (int32_t dy = -1; dy <= 1; dy++) {
            if (y + dy < 0 || y + dy >= rows || z + dz < 0 || z + dz >= layers)
                continue;
            near.cells[near.count++] = ((z + dz) * rows + y + dy) * columns;
        }
    return near;
}

// Columns of cells [low, end) in reach of a column.
typedef struct Columns {
    int32_t low, end;
} Columns;

static MF_INLINE Columns near_columns(const mf_ParticleTask *task, int32_t column) {
    Columns near = {column - MF_PARTICLE_FINE, column + MF_PARTICLE_FINE + 1};
    near.low = near.low < 0 ? 0 : near.low;
    near.end = near.end > task->size[0] ? task->size[0] : near.end;
    return near;
}

// Ranks [first, end) of each of the nine rows of cells around some particles.
typedef struct Near {
    int32_t first[9], end[9];
    int32_t count; // [1] rows that exist
} Near;

// Of particles between columns low and high of a row of cells.
static MF_INLINE Near near_rows(const mf_ParticleTask *task, uint32_t row, int32_t low,
                                int32_t high) {
    const NearRows rows = near_cells(task, row);
    const int32_t first = near_columns(task, low).low, end = near_columns(task, high).end;
    Near near;
    near.count = rows.count;
    for (int32_t n = 0; n < rows.count; n++) {
        near.first[n] = task->starts[rows.cells[n] + first];
        near.end[n] = task->starts[rows.cells[n] + end];
    }
    return near;
}

// ---- fields -------------------------------------------------------------------------------------

static MF_INLINE size_t position_in(const mf_ParticleField *field, uint32_t particle) {
    return (size_t)(particle / 16) * field->width * 16 + particle % 16;
}

// The lanes whose particles are written.
typedef struct Writers {
    const uint32_t *order; // [1] particle of each lane
    uint32_t count;
    uint32_t lane[MF_LANES];
} Writers;

// The first `live` lanes where the mask holds.
static MF_INLINE Writers writers_of(const uint32_t *order, uint32_t live, mf_mask where) {
    MF_ALIGNED(64) mf_real chosen[MF_LANES];
    Writers who;
    who.order = order;
    who.count = 0;
    mf_store(chosen, mf_keep(where, mf_set((mf_real)1)));
    for (uint32_t lane = 0; lane < live; lane++) {
        who.lane[who.count] = lane;
        who.count += chosen[lane] != 0;
    }
    return who;
}

static MF_INLINE void scatter_row(const mf_ParticleField *field, uint32_t component,
                                  const Writers *who, mf_lane value) {
    MF_ALIGNED(64) mf_real values[MF_LANES];
    mf_real *base = (mf_real *)field->base + (size_t)component * 16;
    mf_store(values, value);
    for (uint32_t i = 0; i < who->count; i++)
        base[position_in(field, who->order[who->lane[i]])] = values[who->lane[i]];
}

static MF_INLINE void scatter_vec(const mf_ParticleField *field, const Writers *who, Vec value) {
    scatter_row(field, 0, who, value.x);
    scatter_row(field, 1, who, value.y);
    scatter_row(field, 2, who, value.z);
}

// The remainders of a field's sums in the first `live` lanes; zeros where there are none.
static MF_INLINE Vec gather_lows(const mf_ParticleField *field, const uint32_t *order,
                                 uint32_t live) {
    MF_ALIGNED(64) mf_real values[3][MF_LANES] = {{0}};
    const mf_real *lows = low_row(field->base, field->low);
    if (lows == NULL)
        return MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
    for (uint32_t lane = 0; lane < live; lane++)
        for (size_t c = 0; c < 3; c++)
            values[c][lane] = lows[position_in(field, order[lane]) + c * 16];
    return MF_VALUE(Vec, mf_load(values[0]), mf_load(values[1]), mf_load(values[2]));
}

static MF_INLINE void scatter_lows(const mf_ParticleField *field, const Writers *who, Vec lows) {
    const mf_ParticleField behind = {low_row(field->base, field->low), field->width, 0};
    if (behind.base != NULL)
        scatter_vec(&behind, who, lows);
}

// What other groups of particles add.
static MF_INLINE mf_lane extra_row(const mf_ParticleTask *task, int row, uint32_t rank) {
    return mf_load_any((const mf_real *)task->extra[row] + rank);
}

static MF_INLINE Vec extra_of(const mf_ParticleTask *task, int row, uint32_t rank) {
    return MF_VALUE(Vec, extra_row(task, row, rank), extra_row(task, row + 1, rank),
                    extra_row(task, row + 2, rank));
}

// Mask of the first `live` lanes.
static MF_INLINE mf_mask first_lanes(uint32_t live) {
    return mf_index_less(mf_lane_numbers(), mf_set_index((int32_t)live));
}

// ---- the ground and solids ----------------------------------------------------------------------

// Of use where it is less than `reach`.
static MF_INLINE Gap ground_gap(const mf_LaneMap *map, Vec at, mf_real reach) {
    Gap gap;
    const mf_lane over = at.z - mf_set(map->highest);
    if (!mf_any(mf_less(over, mf_set(reach)))) {
        gap.distance = over;
        gap.normal = MF_VALUE(Vec, mf_zero(), mf_zero(), mf_set((mf_real)1));
        return gap;
    }
    gap.distance = mf_map_distance(map, at, reach, &gap.normal);
    return gap;
}

typedef struct Bounds {
    double low[3], high[3]; // [m]
} Bounds;

static MF_INLINE Bounds bounds_of(Vec at, uint32_t live) {
    Bounds all;
    const mf_lane rows[3] = {at.x, at.y, at.z};
    for (int c = 0; c < 3; c++) {
        MF_ALIGNED(64) mf_real values[MF_LANES];
        mf_store(values, rows[c]);
        all.low[c] = all.high[c] = (double)values[0];
        for (uint32_t lane = 1; lane < live; lane++) {
            all.low[c] = (double)values[lane] < all.low[c] ? (double)values[lane] : all.low[c];
            all.high[c] = (double)values[lane] > all.high[c] ? (double)values[lane] : all.high[c];
        }
    }
    return all;
}

static MF_INLINE bool bounds_overlap(const Bounds *bounds, const mf_Solid *solid) {
    for (int c = 0; c < 3; c++)
        if (bounds->low[c] > solid->high[c] || bounds->high[c] < solid->low[c])
            return false;
    return true;
}

// Adds what acts on a solid at the points, particle after particle, so that the sum does not depend
// on the number of lanes.
static MF_INLINE void push_solid(const mf_Solid *solid, Vec point, Vec force, uint32_t live,
                                 double wrench[6]) {
    MF_ALIGNED(64) mf_real values[6][MF_LANES];
    mf_store(values[0], force.x);
    mf_store(values[1], force.y);
    mf_store(values[2], force.z);
    mf_store(values[3], point.x);
    mf_store(values[4], point.y);
    mf_store(values[5], point.z);
    for (uint32_t lane = 0; lane < live; lane++) {
        double f[3], arm[3];
        for (int c = 0; c < 3; c++) {
            f[c] = (double)values[c][lane];
            arm[c] = (double)values[3 + c][lane] - solid->about[c];
            wrench[c] += f[c];
        }
        wrench[3] += arm[1] * f[2] - arm[2] * f[1];
        wrench[4] += arm[2] * f[0] - arm[0] * f[2];
        wrench[5] += arm[0] * f[1] - arm[1] * f[0];
    }
}

// ---- faults and warnings ------------------------------------------------------------------------

// Raises a warning of particles.
static inline void warn_particles(const mf_ParticleTask *task, const Writers *who, uint32_t bit,
                                  uint32_t kinds, mf_lane residual) {
    MF_ALIGNED(64) mf_real values[MF_LANES];
    uint32_t kind = 0;
    while (bit >> kind != 1)
        kind++;
    mf_store(values, residual);
    for (uint32_t n = 0; n < who->count; n++) {
        const uint32_t i = who->order[who->lane[n]];
        const size_t at = ((size_t)(i / 16) * kinds + kind) * 16 + i % 16;
        mf_real *most = (mf_real *)task->warning_residual + at;
        task->warning[i] |= bit;
        task->warning_steps[at]++;
        *most = *most < values[who->lane[n]] ? values[who->lane[n]] : *most;
    }
}

static inline void fault_particles(const mf_ParticleTask *task, const Writers *who, uint32_t bit) {
    for (uint32_t n = 0; n < who->count; n++)
        task->fault[who->order[who->lane[n]]] |= bit;
}
