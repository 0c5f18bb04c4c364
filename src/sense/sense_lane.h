// Common measurements of two kernels of sensors: the distance along a ray to the ground, and roll,
// pitch, yaw.
//
// Attitude: URDF's roll, pitch, yaw from the rotation matrix, pitch by two-argument arc tangent so
// that it is accurate at +-pi/2.
//
// Ray: the first position where the ray is not above the ground. It is sampled at equal distances,
// at least two in a cell of the map (up to SAMPLES_MOST); the first interval with a change of sign
// is bisected HALVINGS times, followed by linear interpolation. On smooth ground the remaining
// error is rounding; at a step of the ground it is below the distance of two samples / 2^HALVINGS.
// Obstacles between two samples are missed.
#pragma once

#include "math/lane_functions.h"
#include "terrain/lookup_lane.h"

enum {
    SAMPLES_LEAST = 8,
    SAMPLES_MOST = 256,
#if defined(MF_KERNEL_F64)
    HALVINGS = 24
#else
    HALVINGS = 12
#endif
};

typedef struct SenseRay {
    mf_lane start[3];     // [m] world
    mf_lane direction[3]; // [1] world, unit
} SenseRay;

// Height of the ray's point at `distance` above the ground.
static inline mf_lane sense_clearance(const mf_LaneMap *map, const SenseRay *ray,
                                      mf_lane distance) {
    mf_lane x = ray->start[0] + ray->direction[0] * distance;
    mf_lane y = ray->start[1] + ray->direction[1] * distance;
    mf_lane z = ray->start[2] + ray->direction[2] * distance;
    return z - mf_map_height(map, x, y);
}

static inline uint32_t sense_ray_samples(const mf_TerrainImage *terrain, double range) {
    double target = 2.0 * range / terrain->cell;
    if (!(target > SAMPLES_LEAST))
        return SAMPLES_LEAST;
    return target < SAMPLES_MOST ? (uint32_t)target + 1 : SAMPLES_MOST;
}

static inline mf_lane sense_ray(const mf_LaneMap *map, const SenseRay *ray, mf_real range,
                                uint32_t samples) {
    mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5);
    mf_real step = range / (mf_real)samples;
    mf_lane near = zero, near_height = sense_clearance(map, ray, zero);
    mf_lane far = near, far_height = near_height;
    // Written so that a ray from nowhere (NaN) finds nothing.
    mf_mask found = mf_less_equal(near_height, zero);
    for (uint32_t i = 1; i <= samples && !mf_all(found); i++) {
        mf_lane distance = mf_set(i < samples ? (mf_real)i * step : range);
        mf_lane height = sense_clearance(map, ray, distance);
        near = mf_select(found, near, far);
        near_height = mf_select(found, near_height, far_height);
        far = mf_select(found, far, distance);
        far_height = mf_select(found, far_height, height);
        found = mf_or(found, mf_less_equal(height, zero));
    }
    if (!mf_any(found))
        return mf_set(range);
    for (int i = 0; i < HALVINGS; i++) {
        mf_lane middle = half * (near + far);
        mf_lane height = sense_clearance(map, ray, middle);
        mf_mask inside = mf_less_equal(height, zero);
        far = mf_select(inside, middle, far);
        far_height = mf_select(inside, height, far_height);
        near = mf_select(inside, near, middle);
        near_height = mf_select(inside, near_height, height);
    }
    mf_lane drop = near_height - far_height;
    mf_mask steep = mf_less(zero, drop);
    mf_lane part = mf_keep(steep, near_height / mf_select(steep, drop, mf_set((mf_real)1)));
    mf_lane distance = near + mf_clamp(part, zero, mf_set((mf_real)1)) * (far - near);
    return mf_select(found, mf_clamp(distance, zero, mf_set(range)), mf_set(range));
}

// Roll, pitch, yaw [rad] from entries of the rotation matrix to world axes.
static inline void sense_attitude_angles(mf_lane xx, mf_lane xy, mf_lane yx, mf_lane yy, mf_lane zx,
                                         mf_lane zy, mf_lane zz, mf_lane out[3]) {
    mf_lane zero = mf_zero(), level = mf_sqrt(xx * xx + yx * yx);
    // At +-90 degrees of pitch roll and yaw have the same axis: the whole angle is assigned to yaw.
    mf_mask upright = mf_less(level, mf_set(4 * MF_REAL_EPSILON));
    out[0] = mf_keep(mf_not(upright), mf_atan2_lane(zy, zz));
    out[1] = mf_atan2_lane(zero - zx, level);
    out[2] = mf_atan2_lane(mf_select(upright, zero - xy, yx), mf_select(upright, yy, xx));
}
