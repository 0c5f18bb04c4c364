// The ball around all that a camera sees (extent.h).
#include "camera/extent.h"

#include "camera/develop.h"

#include "math/scalar.h"

// [1] Of the parts' distance from their mean, as a root of the mean square: those farther out are
// not meant to be seen, so that a lone robot that flew off does not decide. On a disk that is
// evenly full 1.42 of it reaches the edge, in a row 1.73.
static const double widest = 3.0;

// ---- one robot ---------------------------------------------------------------------------------

// Balls that a robot consists of.
static uint32_t balls_of(const mf_RenderGroup *group, uint32_t instance) {
    switch (group->visual.kind) {
    case MF_VISUAL_PARTS:
        return group->count;
    case MF_VISUAL_BARS:
        return (uint32_t)mf_render_value(group->visual.counts, instance, 0);
    case MF_VISUAL_TRIANGLES:
        return group->visual.surface.vertex_count;
    case MF_VISUAL_POINTS:
        break;
    }
    return 1;
}

static bool shape_ball(const mf_RenderGroup *group, uint32_t instance, const mf_RenderShape *shape,
                       double at[3], double *radius) {
    double pose[7], middle[3];
    if (shape->link == MF_NONE || shape->plane)
        return false; // scenery
    for (uint32_t c = 0; c < 7; c++)
        pose[c] = mf_render_value(group->pose, instance, 7 * shape->link + c);
    mf_mat3_apply(middle, shape->rotation, shape->middle);
    mf_vec3_add(middle, middle, shape->position);
    mf_quat_rotate(at, pose + 3, middle);
    mf_vec3_add(at, at, pose);
    *radius = shape->solid.radius;
    return mf_all_finite(pose, 7);
}

// False: it is not there.
static bool ball_of(const mf_RenderGroup *group, uint32_t instance, uint32_t ball, double at[3],
                    double *radius) {
    const mf_Visual *visual = &group->visual;
    if (visual->kind == MF_VISUAL_PARTS)
        return shape_ball(group, instance, &group->shapes[ball], at, radius);
    if (visual->waiting != NULL && mf_render_value(visual->waiting, instance, 0) != 0.0)
        return false;
    for (uint32_t c = 0; c < 3; c++)
        at[c] = mf_render_value(visual->position, instance, 3 * (size_t)ball + c);
    *radius = visual->kind == MF_VISUAL_POINTS ? group->ball.radius : 0.0;
    return mf_all_finite(at, 3);
}

// ---- all of them -------------------------------------------------------------------------------

typedef struct Range {
    uint32_t first, end; // [1]
} Range;

typedef struct Cluster {
    double mean[3]; // [m] of the parts' middles
    double square;  // [m^2] sum of the squares of their distances from it, and of their radii
    uint64_t count; // [1]
} Cluster;

// One after the other: the sums of Welford (1962, Technometrics 4, 419).
static void add_robot(Cluster *cluster, const mf_RenderGroup *group, uint32_t instance) {
    const uint32_t balls = balls_of(group, instance);
    double at[3], before[3], after[3], radius;
    for (uint32_t b = 0; b < balls; b++) {
        if (!ball_of(group, instance, b, at, &radius))
            continue;
        cluster->count++;
        mf_vec3_sub(before, at, cluster->mean);
        mf_vec3_add_scaled(cluster->mean, cluster->mean, 1.0 / (double)cluster->count, before);
        mf_vec3_sub(after, at, cluster->mean);
        cluster->square += mf_vec3_dot(before, after) + radius * radius;
    }
}

static void reach_robot(const double middle[3], const mf_RenderGroup *group, uint32_t instance,
                        double *reach) {
    const uint32_t balls = balls_of(group, instance);
    double at[3], arm[3], radius;
    for (uint32_t b = 0; b < balls; b++) {
        if (!ball_of(group, instance, b, at, &radius))
            continue;
        mf_vec3_sub(arm, at, middle);
        radius += mf_vec3_length(arm);
        *reach = radius > *reach ? radius : *reach;
    }
}

// The robots of a group that are there: all of them, or one of isolated ones.
static Range range_of(const mf_RenderGroup *own, uint32_t group, uint32_t instance) {
    const uint32_t count = mf_group_count(own->group);
    if (!own->isolated)
        return (Range){0, count};
    return own->number == group && instance < count ? (Range){instance, instance + 1}
                                                    : (Range){0, 0};
}

mf_Status mf_free_camera_extent(const mf_FreeCamera *camera, uint32_t group, uint32_t instance,
                                double middle[3], double *radius, mf_Error *error) {
    const mf_RenderScene *scene = mf_free_camera_scene(camera);
    Cluster cluster = {.count = 0};
    double reach = 0.0;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const Range range = range_of(&scene->groups[g], group, instance);
        for (uint32_t i = range.first; i < range.end; i++)
            add_robot(&cluster, &scene->groups[g], i);
    }
    MF_CHECK(cluster.count != 0, error, MF_NOT_FOUND, "no robot is there");
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const Range range = range_of(&scene->groups[g], group, instance);
        for (uint32_t i = range.first; i < range.end; i++)
            reach_robot(cluster.mean, &scene->groups[g], i, &reach);
    }
    const double most = widest * mf_sqrt(cluster.square / (double)cluster.count);
    mf_vec3_copy(middle, cluster.mean);
    *radius = reach < most ? reach : most;
    return MF_OK;
}
