// Rays against the ground and all shapes of a space. Instances whose bounding sphere the ray misses
// are skipped; of the others every shape is tested.
#include "contact/ray_solid.h"
#include "base/floats.h"
#include "multibody/numbers.h"
#include "solve/query.h"
#include "math/scalar.h"
#include "model/points.h"
#include "model/shape_kinds.h"
#include "terrain/lookup.h"
#include "world/attach.h"

#include <math.h>

mf_RayConfig mf_ray_config(void) {
    return (mf_RayConfig){.struct_size = sizeof(mf_RayConfig),
                          .direction = {0.0, 0.0, -1.0},
                          .reach = (double)INFINITY,
                          .ground = true};
}

typedef struct Ray {
    double start[3], direction[3]; // [m], [1] unit
    mf_RayHit *best;               // its distance bounds the search; normal in the world frame
} Ray;

static mf_Status check(const mf_Query *query, const mf_RayConfig *config, mf_Error *error) {
    MF_NEED(mf_all_finite(config->start, 3) && mf_all_finite(config->direction, 3) &&
                mf_vec3_length(config->direction) > 0.0,
            error, "ray: need a finite start and a direction of a length > 0");
    MF_NEED(config->reach > 0.0, error, "ray.reach: %g, need > 0 m", config->reach);
    const mf_Group *const groups[] = {config->without, config->alone};
    const uint32_t instances[] = {config->without_instance, config->alone_instance};
    for (int i = 0; i < 2; i++) {
        if (groups[i] == NULL)
            continue;
        if (mf_query_number(query, groups[i]) == MF_NONE)
            return mf_fail(error, MF_BAD_ARGUMENT, "ray: a group of another world");
        if (instances[i] >= mf_group_count(groups[i]))
            return mf_fail(error, MF_BAD_ARGUMENT, "ray: group %s has %u robots, no robot %u",
                           mf_group_config_of(groups[i])->name, mf_group_count(groups[i]),
                           instances[i]);
    }
    if (config->alone != NULL && !mf_group_config_of(config->alone)->isolated)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "ray.alone: group %s is shared, need an isolated one",
                       mf_group_config_of(config->alone)->name);
    if (config->alone == NULL && config->without != NULL &&
        mf_group_config_of(config->without)->isolated)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "ray.without: group %s is isolated, so a ray sees none of its robots but "
                       "that of ray.alone",
                       mf_group_config_of(config->without)->name);
    return MF_OK;
}

static void hit_ground(const mf_World *world, Ray *ray) {
    double normal[3];
    const double distance = mf_terrain_ray(mf_world_config_of(world)->terrain, ray->start,
                                           ray->direction, ray->best->distance, normal);
    if (!(distance < ray->best->distance))
        return;
    ray->best->hit = true;
    ray->best->distance = distance;
    mf_vec3_copy(ray->best->normal, normal);
    ray->best->owner = (mf_ShapeOwner){NULL, MF_NONE, MF_NONE, MF_NONE};
}

// A shape in a frame; `position` NULL: the world's.
static void hit_shape(const mf_Model *model, const mf_Shape *shape, const double position[3],
                      const double orientation[4], Ray *ray, mf_ShapeOwner owner) {
    static const double endless[3] = {0, 0, 0};
    const mf_Mesh *mesh = shape->type == MF_SHAPE_MESH ? &model->meshes[shape->mesh] : NULL;
    const mf_RaySolid solid =
        mf_ray_solid(shape->type, shape->type == MF_SHAPE_PLANE ? endless : shape->size, mesh);
    double at[3], rotation[4], start[3], direction[3], normal[3];
    mf_vec3_copy(at, shape->position);
    memcpy(rotation, shape->rotation, sizeof rotation);
    if (position != NULL)
        mf_pose_multiply(at, rotation, position, orientation, at, rotation);
    mf_vec3_sub(start, ray->start, at);
    mf_quat_rotate_inverse(start, rotation, start);
    mf_quat_rotate_inverse(direction, rotation, ray->direction);
    const double distance = mf_ray_hit(&solid, start, direction, normal);
    if (!(distance < ray->best->distance && distance < MF_RAY_FAR))
        return;
    ray->best->hit = true;
    ray->best->distance = distance;
    mf_quat_rotate(ray->best->normal, rotation, normal);
    ray->best->owner = owner;
}

static bool misses(const mf_QueryGroup *group, const double base[3], const Ray *ray) {
    double to[3], off[3];
    if (isinf(group->reach) || mf_group_numbers(group->group) != NULL)
        return false;
    mf_vec3_sub(to, base, ray->start);
    double along = mf_vec3_dot(to, ray->direction);
    along = mf_clamp(along, 0.0, ray->best->distance);
    mf_vec3_add_scaled(off, to, -along, ray->direction);
    return !(mf_vec3_dot(off, off) <= group->reach * group->reach);
}

static bool takes_part(const mf_Shape *shape) {
    return shape->collides && mf_shape_is_solid(shape->type);
}

static void hit_instance(mf_QueryGroup *group, uint32_t instance, Ray *ray) {
    const mf_Model *model = group->model;
    mf_QueryPose *pose = &group->pose[0];
    double base[3];
    if (!mf_query_present(group, instance, base) || misses(group, base, ray))
        return;
    mf_query_links(group, instance, pose);
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape shape = mf_own_shape(group->group, instance, i);
        const uint32_t frame = mf_shape_frame(model, &shape);
        const mf_ShapeOwner owner = {group->group, instance, shape.link, i};
        if (takes_part(&shape) && frame != MF_NONE)
            hit_shape(model, &shape, pose->position[frame], pose->rotation[frame], ray, owner);
    }
}

// World-fixed shapes in the file of a free robot, tested once for all instances.
static void hit_scenery(mf_QueryGroup *group, uint32_t instance, Ray *ray) {
    for (uint32_t i = 0; i < group->model->shape_count; i++) {
        const mf_Shape shape = mf_own_shape(group->group, instance, i);
        const mf_ShapeOwner owner = {group->group, instance, MF_NONE, i};
        if (takes_part(&shape) && mf_shape_frame(group->model, &shape) == MF_NONE)
            hit_shape(group->model, &shape, NULL, NULL, ray, owner);
    }
}

static void hit_group(mf_QueryGroup *group, const mf_RayConfig *config, Ray *ray) {
    uint32_t first = 0, end = mf_group_count(group->group);
    const bool isolated = mf_group_config_of(group->group)->isolated;
    if (isolated != (config->alone != NULL) || (isolated && group->group != config->alone))
        return;
    if (isolated) {
        first = config->alone_instance;
        end = first + 1;
    }
    hit_scenery(group, first, ray);
    for (uint32_t i = first; i < end && group->reach >= 0.0; i++)
        if (group->group != config->without || i != config->without_instance)
            hit_instance(group, i, ray);
}

mf_Status mf_world_ray(mf_World *world, const mf_RayConfig *config, mf_RayHit *out,
                       mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Query *query;
    if (world == NULL || config == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_world_ray: world, config or out is NULL");
    *out = (mf_RayHit){0};
    MF_NEED(config->struct_size == sizeof *config, error, "ray: start from mf_ray_config()");
    MF_TRY(mf_query_of(world, &query, error));
    MF_TRY(check(query, config, error));
    mf_RayHit best = {.distance = config->reach};
    Ray ray = {.best = &best};
    mf_vec3_copy(ray.start, config->start);
    mf_vec3_copy(ray.direction, config->direction);
    mf_vec3_normalize(ray.direction);
    if (config->ground)
        hit_ground(world, &ray);
    for (uint32_t g = 0; g < query->count; g++)
        hit_group(&query->groups[g], config, &ray);
    if (best.hit) {
        mf_vec3_add_scaled(best.point, ray.start, best.distance, ray.direction);
        *out = best;
    }
    return MF_OK;
}
