// The points of a robot that may touch the ground in one step, and the body that they carry.
#pragma once

#include "math/lane_sum.h"
#include "motion/points/plan.h"
#include "motion/points/vector.h"
#include "terrain/lookup_lane.h"

// ---- constants ----------------------------------------------------------------------------------

// Of one body; or, in the copies with MF_POINTS_VARIED, of a body for each lane: MF_BLOCK values
// for one. Settings are the same for all.

#if defined(MF_POINTS_VARIED)
enum { CONSTANT_VALUES = MF_BLOCK };
static MF_INLINE mf_lane constant_at(const mf_real *constant, size_t row) {
    return row_load(constant, row);
}
#else
enum { CONSTANT_VALUES = 1 };
static MF_INLINE mf_lane constant_at(const mf_real *constant, size_t row) {
    return mf_set(constant[row]);
}
#endif

static MF_INLINE mf_real setting(const mf_real *constant, size_t row) {
    return constant[row * CONSTANT_VALUES];
}

static MF_INLINE const mf_real *constants_from(const mf_real *constant, size_t row) {
    return constant + row * CONSTANT_VALUES;
}

// ---- ground -------------------------------------------------------------------------------------

// The ground below a point: terrain/lookup_lane.h with the numbers of a plan.

#if defined(MF_KERNEL_F64)
#define MF_PLAN_HEIGHTS(terrain) mf_terrain_image_heights_f64(terrain)
#else
#define MF_PLAN_HEIGHTS(terrain) mf_terrain_image_heights_f32(terrain)
#endif

// `heights` are the ground's. A loop that stores values makes it once, outside.
static MF_INLINE mf_LaneMap ground_map(const mf_PointsPlan *plan, const mf_real *heights,
                                       const mf_real *constant) {
    return MF_VALUE(
        mf_LaneMap, .height = heights, .columns = (int32_t)plan->columns,
        .last = {setting(constant, MF_PLAN_LAST_COLUMN), setting(constant, MF_PLAN_LAST_ROW)},
        .origin = {setting(constant, MF_PLAN_ORIGIN_X), setting(constant, MF_PLAN_ORIGIN_Y)},
        .inverse_cell = setting(constant, MF_PLAN_INVERSE_CELL), .bilinear = plan->slopes,
        .ends = plan->ends);
}

// Height [m] and, where the ground slopes, the unit normal.
static MF_INLINE mf_lane ground_at(const mf_PointsPlan *plan, const mf_LaneMap *map,
                                   const mf_real *constant, mf_lane x, mf_lane y, Vec *normal) {
    if (plan->level)
        return mf_set(setting(constant, MF_PLAN_HIGHEST));
    mf_lane slope_x, slope_y, one = mf_set((mf_real)1);
    mf_lane height = mf_map_surface(map, x, y, &slope_x, &slope_y);
    if (map->bilinear) {
        mf_lane length = one / mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        *normal = MF_VALUE(Vec, -(slope_x * length), -(slope_y * length), length);
    }
    return height;
}

// ---- contacts -----------------------------------------------------------------------------------

// The rest of a body - its center and inertia, which change with the joints only - is read from its
// fields where it is needed: registers are few.
typedef struct Body {
    Vec com;       // [m] center of mass, world
    Vec velocity;  // [m/s] of the center of mass, world
    Quat attitude; // body to world
    Vec rate;      // [rad/s] body axes
} Body;

typedef Body Lows; // the remainders of a body's sums (math/lane_sum.h)

typedef struct Contact {
    Vec position;    // [m] relative to the center of mass, world axes
    Vec normal;      // [1] of the ground, only where it is not level
    Vec slip;        // [m] position minus anchor, world axes
    mf_lane depth;   // [m] vertical, how far below its support
    mf_lane before;  // [m] compression after the step before, 0 = no contact
    mf_lane press;   // [m] compression found by the solver
    mf_mask pressed; // whether the support's solver takes it for pressed
    size_t index;    // [1] contact number
} Contact;

// Sums over the contacts, kept along the way so that nobody has to go through the rows once more.
typedef struct ContactSums {
    mf_lane fixed; // [m] of `before`
    mf_lane deep;  // [m] of the depths of points below the ground
    mf_lane had;   // [m^2] of the squares of `before`
} ContactSums;

typedef struct Contacts {
    size_t count;
    ContactSums sums;
    mf_lane has;      // [m^2] sum of the squares of `press`
    mf_mask standing; // lanes whose search for pressed points starts from those pressed before
    Contact *row;
} Contacts;

static MF_INLINE void contact_add(Contact *row, ContactSums *sums, size_t index, Vec position,
                                  mf_lane before, mf_lane depth) {
    row->index = index;
    row->position = position;
    row->before = before;
    row->depth = depth;
    sums->fixed = sums->fixed + before;
    sums->deep = sums->deep + mf_max(depth, mf_zero());
    sums->had = mf_fma(before, before, sums->had);
}

// How the solved displacement moves the body.
typedef struct Shift {
    Vec move;            // [m] of the center of mass
    Vec rotation_vector; // [rad] world axes, small
} Shift;

static MF_INLINE mf_lane contact_rise(const Shift *shift, Vec position) {
    return mf_fma(-shift->rotation_vector.y, position.x,
                  mf_fma(shift->rotation_vector.x, position.y, shift->move.z));
}
