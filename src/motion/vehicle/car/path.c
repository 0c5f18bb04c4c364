// A path for cars: a chain of straight lines, sampled at equal distances along it so that a
// position is found from its progress without a search.
//
// Method: walk along the chain; sample i lies at i * spacing. Corners are cut by at most half the
// spacing.
#include "motion/vehicle/car/motion.h"
#include "base/memory.h"
#include "math/scalar.h"

typedef struct Walk {
    const double (*positions)[2];
    uint32_t count; // [1]
    uint32_t edge;  // [1] from this position to the next
    double behind;  // [m] length of the edges before
    double length;  // [m] of this edge
} Walk;

static double edge_length(const double (*positions)[2], uint32_t count, uint32_t edge) {
    const double *a = positions[edge % count], *b = positions[(edge + 1) % count];
    double along[3] = {b[0] - a[0], b[1] - a[1], 0.0};
    return mf_vec3_length(along);
}

static mf_Status check_positions(const double (*positions)[2], uint32_t count, bool closed,
                                 double *length, mf_Error *error) {
    if (positions == NULL || count < 2 || count > 1000000)
        return mf_fail(error, MF_BAD_ARGUMENT, "car path: %u points, need 2 .. 1000000", count);
    for (uint32_t i = 0; i < count; i++)
        for (int c = 0; c < 2; c++)
            if (!(positions[i][c] >= -1e6 && positions[i][c] <= 1e6))
                return mf_fail(error, MF_BAD_ARGUMENT,
                               "car path: point %u is (%g, %g), need -1e6 .. 1e6 m", i,
                               positions[i][0], positions[i][1]);
    *length = 0.0;
    for (uint32_t i = 0; i + (closed ? 0 : 1) < count; i++)
        *length += edge_length(positions, count, i);
    MF_NEED(*length >= 1e-6, error, "car path: %g m long, need at least 1e-6 m", *length);
    return MF_OK;
}

static void place_along(Walk *walk, double at, uint32_t edges, double out[2]) {
    while (walk->edge + 1 < edges && at > walk->behind + walk->length) {
        walk->behind += walk->length;
        walk->length = edge_length(walk->positions, walk->count, ++walk->edge);
    }
    const double *a = walk->positions[walk->edge % walk->count];
    const double *b = walk->positions[(walk->edge + 1) % walk->count];
    double part = walk->length > 0.0 ? (at - walk->behind) / walk->length : 0.0;
    part = mf_clamp(part, 0.0, 1.0);
    out[0] = a[0] + part * (b[0] - a[0]);
    out[1] = a[1] + part * (b[1] - a[1]);
}

// Samples of a path, in both precisions, one after the other in one allocation.
typedef struct Samples {
    double *x, *y;
    float *narrow_x, *narrow_y;
} Samples;

static void sample(const mf_CarPath *path, const Walk *start, uint32_t edges, const Samples *out) {
    Walk walk = *start;
    for (size_t i = 0; i < (size_t)path->segments + 2; i++) {
        double position[2], at = path->length;
        if ((double)i < path->segments)
            at = (double)i * path->spacing;
        place_along(&walk, at, edges, position);
        out->x[i] = position[0];
        out->y[i] = position[1];
        out->narrow_x[i] = (float)position[0];
        out->narrow_y[i] = (float)position[1];
    }
}

mf_Status mf_car_path_create(mf_Context *context, const double (*positions)[2], uint32_t count,
                             bool closed, double spacing, const mf_CarPath **out, mf_Error *error) {
    mf_CarPath path = {.closed = closed};
    MF_TRY(check_positions(positions, count, closed, &path.length, error));
    double segments = mf_floor(path.length / spacing) + 1.0;
    path.segments = (uint32_t)mf_clamp(segments, 8.0, MF_CAR_PATH_SAMPLES);
    path.spacing = path.length / path.segments;
    const size_t samples = (size_t)path.segments + 2;
    Samples all;
    const mf_Array arrays[] = {MF_ARRAY(all.x, samples), MF_ARRAY(all.y, samples),
                               MF_ARRAY(all.narrow_x, samples), MF_ARRAY(all.narrow_y, samples)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "car path: out of memory");
    const Walk start = {
        .positions = positions, .count = count, .length = edge_length(positions, count, 0)};
    sample(&path, &start, closed ? count : count - 1, &all);
    const mf_FlatPart parts[] = {MF_FLAT_PART(&path, x_f64, all.x, samples),
                                 MF_FLAT_PART(&path, y_f64, all.y, samples),
                                 MF_FLAT_PART(&path, x_f32, all.narrow_x, samples),
                                 MF_FLAT_PART(&path, y_f32, all.narrow_y, samples)};
    void *image;
    mf_Status status = mf_flat_pack(context, &path, sizeof path, parts,
                                    sizeof parts / sizeof *parts, &image, error);
    mf_release(context, all.x);
    if (status == MF_OK)
        *out = image;
    return status;
}
