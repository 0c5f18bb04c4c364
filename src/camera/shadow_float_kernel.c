// Shadows (render_shadow.c): one ray from what each pixel sees towards the light.
//
// What a solid hides from the light is the same question as what it hides from the camera, with the
// point as the eye: the first root along the ray, which is negative where the ray leaves the solid
// that the point is on. The margin keeps rounding from shading a surface by itself.
#include "camera/intersect.h"

#define MARGIN 5e-5f // [1] of the depth

static MF_INLINE mf_mask seen_at(const mf_Raster *raster, size_t pixel) {
    return mf_less(mf_set((float)MF_RASTER_SKY), mf_load(raster->face + pixel));
}

static MF_INLINE Vec point_at(const mf_Raster *raster, size_t pixel) {
    const Vec ray = ray_at(raster, pixel);
    const mf_lane depth = mf_load(raster->depth + pixel);
    return MF_VALUE(Vec, ray.x * depth, ray.y * depth, ray.z * depth);
}

void MF_KERNEL(mf_raster_span)(const mf_Raster *raster, const mf_RasterTile *tile, float low[3],
                               float high[3]) {
    const mf_lane none = mf_set(1e30f);
    mf_lane least[3] = {none, none, none}, most[3] = {-none, -none, -none};
    for (uint32_t y = tile->rect.top; y < tile->rect.bottom; y++)
        for (uint32_t x = tile->rect.left; x < tile->rect.right; x += MF_LANES) {
            const size_t pixel = (size_t)y * raster->stride + x;
            const mf_mask seen = seen_at(raster, pixel);
            const Vec point = point_at(raster, pixel);
            for (int i = 0; i < 3; i++) {
                const mf_lane at = dot_with(tile->axes[i], point);
                least[i] = mf_min(least[i], mf_select(seen, at, none));
                most[i] = mf_max(most[i], mf_select(seen, at, -none));
            }
        }
    for (int i = 0; i < 3; i++) {
        MF_ALIGNED(64) mf_real values[2][MF_LANES];
        mf_store(values[0], least[i]);
        mf_store(values[1], most[i]);
        low[i] = values[0][0];
        high[i] = values[1][0];
        for (int k = 1; k < MF_LANES; k++) {
            low[i] = values[0][k] < low[i] ? values[0][k] : low[i];
            high[i] = values[1][k] > high[i] ? values[1][k] : high[i];
        }
    }
}

static MF_INLINE Vec corner_from(const float *corner, Vec point) {
    return MF_VALUE(Vec, mf_set(corner[0]) - point.x, mf_set(corner[1]) - point.y,
                    mf_set(corner[2]) - point.z);
}

static MF_INLINE Vec cross_of(Vec a, Vec b) {
    return MF_VALUE(Vec, a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// As mf_raster_triangles, with the point as the eye; from both sides.
static MF_INLINE mf_mask hits_flat(const mf_RasterBlock *block, Vec point, mf_lane margin) {
    const mf_lane zero = mf_zero();
    Vec corner[3];
    mf_lane side[3];
    for (int k = 0; k < 3; k++)
        corner[k] = corner_from(block->axes + 3 * k, point);
    for (int k = 0; k < 3; k++)
        side[k] = dot_with(block->direction, cross_of(corner[k], corner[(k + 1) % 3]));
    const mf_mask front =
        mf_and(mf_less_equal(zero, side[0]),
               mf_and(mf_less_equal(zero, side[1]), mf_less_equal(zero, side[2])));
    const mf_mask back = mf_and(mf_less_equal(side[0], zero),
                                mf_and(mf_less_equal(side[1], zero), mf_less_equal(side[2], zero)));
    // Plane of the triangle, whose normal is `center`: t = normal . corner / normal . direction.
    const mf_lane height = dot_with(block->center, corner[0]);
    const mf_lane slope = mf_set(block->half);
    const mf_mask after = mf_less(mf_zero(), height * slope - margin * slope * slope);
    return mf_and(mf_or(front, back), after);
}

static MF_INLINE mf_mask hits(const mf_RasterBlock *block, Vec point, mf_lane margin) {
    if (block->type == MF_RASTER_FLAT)
        return hits_flat(block, point, margin);
    const float *m = block->axes;
    const Vec direction = MF_VALUE(Vec, mf_set(block->direction[0]), mf_set(block->direction[1]),
                                   mf_set(block->direction[2]));
    const Vec c = MF_VALUE(Vec, mf_set(block->center[0]) - dot_with(m, point),
                           mf_set(block->center[1]) - dot_with(m + 3, point),
                           mf_set(block->center[2]) - dot_with(m + 6, point));
    mf_mask hit;
    const mf_lane along = intersect_solid(block->type, direction, c, mf_set(block->half), &hit);
    return mf_and(hit, mf_less(margin, along));
}

void MF_KERNEL(mf_raster_shadow)(const mf_Raster *raster, const mf_RasterTile *tile) {
    const mf_lane one = mf_set(1.0f), zero = mf_zero();
    for (uint32_t y = tile->rect.top; y < tile->rect.bottom; y++)
        for (uint32_t x = tile->rect.left; x < tile->rect.right; x += MF_LANES) {
            const size_t pixel = (size_t)y * raster->stride + x;
            mf_mask free = seen_at(raster, pixel);
            const Vec point = point_at(raster, pixel);
            const mf_lane margin = mf_load(raster->depth + pixel) * mf_set(MARGIN);
            for (uint32_t i = 0; i < tile->count && mf_any(free); i++)
                free = mf_and(free, mf_not(hits(&tile->blocks[tile->list[i]], point, margin)));
            mf_store(tile->lit + pixel, mf_select(free, one, zero));
        }
}
