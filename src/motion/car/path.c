// A path for cars: a chain of straight lines, sampled at equal distances along it so that a
// position is found from its progress without a search.
//
// Method: walk along the chain; sample i lies at i * spacing. Corners are cut by at most half the
// spacing.
#include "motion/car/plan.h"
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

static mf_Status check_places(const double (*positions)[2], uint32_t count, bool closed,
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
    if (!(*length >= 1e-6))
        return mf_fail(error, MF_BAD_ARGUMENT, "car path: %g m long, need at least 1e-6 m",
                       *length);
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

mf_Status mf_car_path_create(mf_Context *context, const double (*positions)[2], uint32_t count,
                             bool closed, double spacing, mf_CarPath *out, mf_Error *error) {
    mf_CarPath path = {.closed = closed};
    mf_Status status = check_places(positions, count, closed, &path.length, error);
    if (status != MF_OK)
        return status;
    double segments = mf_floor(path.length / spacing) + 1.0;
    path.segments = (uint32_t)mf_clamp(segments, 8.0, MF_CAR_PATH_SAMPLES);
    path.spacing = path.length / path.segments;
    const size_t samples = (size_t)path.segments + 2;
    path.x_f64 = mf_allocate(context, 2 * samples, sizeof(double) + sizeof(float));
    if (path.x_f64 == NULL)
        return mf_fail(error, MF_NO_MEMORY, "car path: out of memory");
    path.y_f64 = path.x_f64 + samples;
    path.x_f32 = (float *)(void *)(path.y_f64 + samples);
    path.y_f32 = path.x_f32 + samples;
    Walk walk = {
        .positions = positions, .count = count, .length = edge_length(positions, count, 0)};
    for (size_t i = 0; i < samples; i++) {
        double position[2], at = (double)i < path.segments ? (double)i * path.spacing : path.length;
        place_along(&walk, at, closed ? count : count - 1, position);
        path.x_f64[i] = position[0];
        path.y_f64[i] = position[1];
        path.x_f32[i] = (float)position[0];
        path.y_f32[i] = (float)position[1];
    }
    *out = path;
    return MF_OK;
}

void mf_car_path_release(mf_Context *context, mf_CarPath *path) {
    mf_release(context, path->x_f64);
    *path = (mf_CarPath){0};
}
