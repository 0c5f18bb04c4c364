// Rays and where they hit solids, in lanes, for the kernels of this folder.
//
// A ray hits a solid at the smaller root t of |t d - c|^2 = 1 over the components that count, with
// the discriminant from the part of c perpendicular to d, because b^2 - a (c^2 - 1) loses all
// digits where the solid is far (Hearn and Baker, Computer Graphics, section on rays and spheres).
#pragma once

#include "camera/raster.h"

#include "math/lane_vector.h"

static MF_INLINE Vec ray_at(const mf_Raster *raster, size_t pixel) {
    return MF_VALUE(Vec, mf_load(raster->ray[0] + pixel), mf_load(raster->ray[1] + pixel),
                    mf_load(raster->ray[2] + pixel));
}

// Sums without fused steps, so that a normal and its negative give the negative: triangles that
// share an edge leave no pixel between them.
static MF_INLINE mf_lane dot_with(const float *v, Vec d) {
    return mf_set(v[0]) * d.x + mf_set(v[1]) * d.y + mf_set(v[2]) * d.z;
}

// Whole runs of pixels, so that all copies look at the same ones.
static MF_INLINE uint32_t first_column(uint32_t left) {
    return left / MF_RASTER_RUN * MF_RASTER_RUN;
}

static MF_INLINE uint32_t end_column(uint32_t right) {
    return (right + MF_RASTER_RUN - 1) / MF_RASTER_RUN * MF_RASTER_RUN;
}

// The first t at which t d is within 1 of c; flat: only x and y count. NaN-free: `hit` says where.
static MF_INLINE mf_lane first_root(Vec d, Vec c, bool flat, mf_mask *hit) {
    const mf_lane one = mf_set(1.0f), tiny = mf_set(1e-30f);
    mf_lane square = d.x * d.x + d.y * d.y, along = d.x * c.x + d.y * c.y;
    if (!flat) {
        square = square + d.z * d.z;
        along = along + d.z * c.z;
    }
    square = mf_max(square, tiny);
    const mf_lane middle = along / square;
    const mf_lane x = c.x - middle * d.x, y = c.y - middle * d.y, z = c.z - middle * d.z;
    mf_lane away = x * x + y * y;
    if (!flat)
        away = away + z * z;
    const mf_lane rest = one - away;
    *hit = mf_less_equal(mf_zero(), rest);
    return middle - mf_sqrt(mf_max(rest, mf_zero()) / square);
}

static MF_INLINE mf_lane intersect_ball(Vec d, Vec c, mf_mask *hit) {
    return first_root(d, c, false, hit);
}

// The side where it is met between the ends, else the end that faces the camera.
static MF_INLINE mf_lane intersect_tube(Vec d, Vec c, mf_lane half, mf_mask *hit) {
    const mf_lane zero = mf_zero(), tiny = mf_set(1e-30f), one = mf_set(1.0f);
    mf_mask round;
    const mf_lane side = first_root(d, c, true, &round);
    round = mf_and(round, mf_less_equal(mf_abs(side * d.z - c.z), half));
    const mf_mask up = mf_less(zero, d.z), steep = mf_less(tiny, mf_abs(d.z));
    const mf_lane end = c.z + mf_select(up, -half, half);
    const mf_lane cap = end / mf_select(steep, d.z, one);
    const mf_lane x = cap * d.x - c.x, y = cap * d.y - c.y;
    const mf_mask flat = mf_and(steep, mf_less_equal(x * x + y * y, one));
    *hit = mf_or(round, flat);
    return mf_select(round, side, cap);
}

static MF_INLINE mf_lane intersect_pill(Vec d, Vec c, mf_lane half, mf_mask *hit) {
    mf_mask round;
    const mf_lane side = first_root(d, c, true, &round), far = mf_set(1e30f);
    round = mf_and(round, mf_less_equal(mf_abs(side * d.z - c.z), half));
    mf_lane depth = mf_select(round, side, far);
    *hit = round;
    for (int k = 0; k < 2; k++) {
        const Vec end = MF_VALUE(Vec, c.x, c.y, k == 0 ? c.z - half : c.z + half);
        mf_mask ball;
        const mf_lane at = first_root(d, end, false, &ball);
        depth = mf_select(ball, mf_min(depth, at), depth);
        *hit = mf_or(*hit, ball);
    }
    return depth;
}

// The last of the three planes that face the camera, if it comes before the first of the others.
static MF_INLINE mf_lane intersect_brick(Vec d, Vec c, mf_mask *hit) {
    const mf_lane one = mf_set(1.0f), tiny = mf_set(1e-30f);
    const mf_lane direction[3] = {d.x, d.y, d.z}, middle[3] = {c.x, c.y, c.z};
    mf_lane in = mf_set(-1e30f), out = mf_set(1e30f);
    for (int k = 0; k < 3; k++) {
        const mf_lane step = mf_select(mf_less(mf_abs(direction[k]), tiny), tiny, direction[k]);
        const mf_lane low = (middle[k] - one) / step, high = (middle[k] + one) / step;
        in = mf_max(in, mf_min(low, high));
        out = mf_min(out, mf_max(low, high));
    }
    *hit = mf_less_equal(in, out);
    return in;
}

// The first intersection along the whole line, negative t included.
static MF_INLINE mf_lane intersect_solid(mf_RasterType type, Vec d, Vec c, mf_lane half,
                                         mf_mask *hit) {
    switch (type) {
    case MF_RASTER_BALL:
        return intersect_ball(d, c, hit);
    case MF_RASTER_TUBE:
        return intersect_tube(d, c, half, hit);
    case MF_RASTER_PILL:
        return intersect_pill(d, c, half, hit);
    default:
        return intersect_brick(d, c, hit);
    }
}
