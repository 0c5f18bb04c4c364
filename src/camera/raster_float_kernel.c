// Depth and face of pixels (raster.h), MF_LANES pixels of a row at a time.
#include "camera/intersect.h"

// Where `hit` holds and the depth is the least so far.
static MF_INLINE void keep_nearest(const mf_Raster *raster, size_t pixel, mf_mask hit,
                                   mf_lane depth, float face) {
    const mf_lane before = mf_load(raster->depth + pixel);
    hit = mf_and(hit, mf_and(mf_less(depth, before), mf_less(mf_set(raster->nearest), depth)));
    if (!mf_any(hit))
        return;
    mf_store(raster->depth + pixel, mf_select(hit, depth, before));
    mf_store(raster->face + pixel, mf_select(hit, mf_set(face), mf_load(raster->face + pixel)));
}

// The rows of a rectangle that are drawn.
static MF_INLINE uint32_t first_row(const mf_Raster *raster, uint32_t top) {
    return top > raster->top ? top : raster->top;
}

static MF_INLINE uint32_t end_row(const mf_Raster *raster, uint32_t bottom) {
    return bottom < raster->bottom ? bottom : raster->bottom;
}

// ---- triangles ----------------------------------------------------------------------------------

static void fill_triangle(const mf_Raster *raster, const mf_RasterTriangle *own) {
    const mf_lane zero = mf_zero(), distance = mf_set(own->distance);
    const uint32_t left = first_column(own->rect.left), right = end_column(own->rect.right);
    const uint32_t end = end_row(raster, own->rect.bottom);
    for (uint32_t y = first_row(raster, own->rect.top); y < end; y++)
        for (uint32_t x = left; x < right; x += MF_LANES) {
            const size_t pixel = (size_t)y * raster->stride + x;
            const Vec d = ray_at(raster, pixel);
            mf_mask in = mf_less_equal(zero, dot_with(own->edge[0], d));
            in = mf_and(in, mf_less_equal(zero, dot_with(own->edge[1], d)));
            in = mf_and(in, mf_less_equal(zero, dot_with(own->edge[2], d)));
            if (!mf_any(in))
                continue;
            const mf_lane across = dot_with(own->plane, d);
            in = mf_and(in, mf_less(zero, across));
            keep_nearest(raster, pixel, in, distance / mf_select(in, across, mf_set(1.0f)),
                         own->face);
        }
}

void MF_KERNEL(mf_raster_triangles)(const mf_Raster *raster, const mf_RasterTriangle *triangles,
                                    uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        fill_triangle(raster, &triangles[i]);
}

// ---- solids -------------------------------------------------------------------------------------

void MF_KERNEL(mf_raster_solid)(const mf_Raster *raster, const mf_RasterSolid *solid) {
    const float *m = solid->axes;
    const Vec c =
        MF_VALUE(Vec, mf_set(solid->center[0]), mf_set(solid->center[1]), mf_set(solid->center[2]));
    const mf_lane half = mf_set(solid->half);
    const uint32_t left = first_column(solid->rect.left), right = end_column(solid->rect.right);
    const uint32_t end = end_row(raster, solid->rect.bottom);
    for (uint32_t y = first_row(raster, solid->rect.top); y < end; y++)
        for (uint32_t x = left; x < right; x += MF_LANES) {
            const size_t pixel = (size_t)y * raster->stride + x;
            const Vec ray = ray_at(raster, pixel);
            const Vec d =
                MF_VALUE(Vec, dot_with(m, ray), dot_with(m + 3, ray), dot_with(m + 6, ray));
            mf_mask hit;
            const mf_lane depth = intersect_solid(solid->type, d, c, half, &hit);
            keep_nearest(raster, pixel, hit, depth, solid->face);
        }
}

// ---- the ground ---------------------------------------------------------------------------------

void MF_KERNEL(mf_raster_ground)(const mf_Raster *raster, const mf_RasterGround *ground) {
    const mf_lane zero = mf_zero(), height = mf_set(ground->height), one = mf_set(1.0f);
    const bool hole = ground->low[0] <= ground->high[0];
    for (uint32_t y = raster->top; y < raster->bottom; y++)
        for (uint32_t x = 0; x < raster->width; x += MF_LANES) {
            const size_t pixel = (size_t)y * raster->stride + x;
            const Vec d = ray_at(raster, pixel);
            const mf_lane down = dot_with(ground->down, d);
            mf_mask hit = mf_less(zero, down);
            const mf_lane depth = height / mf_select(hit, down, one);
            if (hole) {
                mf_mask out = mf_not(mf_mask_all());
                for (int k = 0; k < 2; k++) {
                    const mf_lane at =
                        dot_with(ground->axes[k], d) * depth + mf_set(ground->position[k]);
                    out = mf_or(out, mf_or(mf_less(at, mf_set(ground->low[k])),
                                           mf_less(mf_set(ground->high[k]), at)));
                }
                hit = mf_and(hit, out);
            }
            keep_nearest(raster, pixel, hit, depth, ground->face);
        }
}
