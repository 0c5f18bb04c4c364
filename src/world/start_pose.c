// Starts of instances: where a reset puts a robot of its model onto the ground, and those of single
// instances (mf_group_set_start).
#include "world/group.h"
#include "base/floats.h"
#include "base/memory.h"
#include "model/points.h"

#include <string.h>

#define DEEP 0.005 // [m] deeper penetration is corrected

// ---- onto the ground ----------------------------------------------------------------------------

// The base's position and orientation in an MJCF file; NULL: none.
static const double *file_pose(const mf_Model *model) {
    return model->base == MF_BASE_FREE && model->body_count > 0 ? model->start_position : NULL;
}

static void rotate_point(double out[3], const double q[4], const double p[3]) {
    // v + 2 w (u x v) + 2 u x (u x v) with q = (w, u).
    const double t[3] = {2 * (q[2] * p[2] - q[3] * p[1]), 2 * (q[3] * p[0] - q[1] * p[2]),
                         2 * (q[1] * p[1] - q[2] * p[0])};
    const double rotated[3] = {p[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1],
                               p[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2],
                               p[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0]};
    memcpy(out, rotated, sizeof rotated);
}

// Poses of the links at the start angles.
typedef struct Poses {
    double (*position)[3];
    double (*rotation)[4];
} Poses;

static void from_link(const Poses *poses, uint32_t link, double point[3]) {
    rotate_point(point, poses->rotation[link], point);
    for (uint32_t c = 0; c < 3; c++)
        point[c] += poses->position[link][c];
}

// Contact points; their number.
static uint32_t stand_on_points(const mf_Model *model, const Poses *poses, double *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->point_count; i++) {
        double *own = out + 3 * (size_t)count;
        if (!(model->points[i].flags & MF_POINT_COLLIDES))
            continue;
        memcpy(own, model->points[i].position, 3 * sizeof *own);
        from_link(poses, model->points[i].link, own);
        if (file_pose(model) != NULL)
            rotate_point(own, file_pose(model) + 3, own);
        count++;
    }
    return count;
}

// The lowest points of colliding shapes.
static uint32_t stand_on_shapes(const mf_Model *model, const Poses *poses, double *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const uint32_t link = model->shapes[i].link;
        double *own = out + 3 * (size_t)count;
        if (!model->shapes[i].collides || link == MF_NONE)
            continue;
        mf_model_shape_lowest(model, i, poses->position[link], poses->rotation[link], own);
        from_link(poses, link, own);
        count++;
    }
    return count;
}

static mf_Status find_points(const mf_Group *group, const mf_Model *model, bool shapes, double *out,
                             uint32_t *count, mf_Error *error) {
    mf_Context *context = group->world->context;
    Poses poses;
    const mf_Array arrays[] = {MF_ARRAY(poses.position, model->link_count),
                               MF_ARRAY(poses.rotation, model->link_count)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "group %s: out of memory", group->config.name);
    mf_model_pose(model, model->start_angle, poses.position, poses.rotation);
    *count = (shapes ? stand_on_shapes : stand_on_points)(model, &poses, out);
    mf_release(context, poses.position);
    return MF_OK;
}

// Replaces the group's points, if there are some.
static mf_Status use_points(mf_Group *group, bool shapes, mf_Error *error) {
    mf_Context *context = group->world->context;
    const mf_Model *model = group->config.model;
    const uint32_t most = shapes ? model->shape_count : model->point_count;
    uint32_t count = 0;
    double *points = mf_allocate(context, most, 3 * sizeof *points);
    if (points == NULL)
        return mf_fail(error, MF_NO_MEMORY, "group %s: out of memory", group->config.name);
    const mf_Status status = find_points(group, model, shapes, points, &count, error);
    if (status != MF_OK || count == 0) {
        mf_release(context, points);
        return status;
    }
    mf_release(context, group->start_points);
    group->start_points = points;
    group->start_point_count = count;
    group->on_shapes = shapes;
    return MF_OK;
}

mf_Status mf_group_find_start_points(mf_Group *group, mf_Error *error) {
    return use_points(group, false, error);
}

mf_Status mf_group_stand_on_shapes(mf_Group *group, mf_Error *error) {
    const mf_Model *model = group->config.model;
    return file_pose(model) != NULL || model->shape_count == 0 ? MF_OK
                                                               : use_points(group, true, error);
}

void mf_group_start_position(const mf_Group *group, uint32_t instance, double position[3],
                             double rotation[4]) {
    const mf_OwnModel *own = group->own != NULL ? group->own[instance] : NULL;
    const mf_Model *model = own != NULL ? own->model : group->config.model;
    const double *points = own != NULL ? own->points : group->start_points;
    uint32_t columns = 1;
    while ((uint64_t)columns * columns < group->config.count)
        columns++;
    double middle = 0.5 * (columns - 1);
    position[0] = group->config.spacing * ((double)(instance % columns) - middle);
    position[1] = group->config.spacing * ((double)(instance / columns) - middle);
    if (group->config.spacing == 0.0)
        position[0] = position[1] = 0.0;
    position[2] = 0.0;
    const double *pose = file_pose(model);
    for (uint32_t c = 0; c < 2 && pose != NULL; c++)
        position[c] += pose[c];
    if (pose != NULL)
        memcpy(rotation, pose + 3, 4 * sizeof *rotation);
    if (model->base == MF_BASE_FIXED) // its positions are in the coordinates of its file
        return;
    const mf_Terrain *terrain = group->world->config.terrain;
    position[2] = group->start_point_count == 0
                      ? mf_terrain_height(terrain, position[0], position[1], NULL)
                      : -1e30;
    for (uint32_t i = 0; i < group->start_point_count; i++) {
        const double *point = points + 3 * (size_t)i;
        double ground =
            mf_terrain_height(terrain, position[0] + point[0], position[1] + point[1], NULL);
        if (ground - point[2] > position[2])
            position[2] = ground - point[2];
    }
    // An MJCF file gives the height; robots deep in the ground are raised.
    if (pose != NULL && (group->start_point_count == 0 || position[2] - pose[2] <= DEEP))
        position[2] = pose[2];
}

// ---- models of their own ------------------------------------------------------------------------

const mf_Model *mf_group_model_of(const mf_Group *group, uint32_t instance) {
    const bool own =
        group->own != NULL && instance < group->config.count && group->own[instance] != NULL;
    return own ? group->own[instance]->model : group->config.model;
}

bool mf_group_has_own_models(const mf_Group *group) {
    return group->own != NULL;
}

const mf_Field *mf_group_numbers(const mf_Group *group) {
    return group != NULL ? group->numbers : NULL;
}

void mf_attach_numbers(mf_Group *group, const mf_Field *numbers) {
    group->numbers = numbers;
}

static void leave(mf_Group *group, uint32_t instance) {
    mf_OwnModel *own = group->own[instance];
    group->own[instance] = NULL;
    if (own != NULL && --own->robots == 0)
        mf_release(group->world->context, own);
}

void mf_group_drop_models(mf_Group *group) {
    for (uint32_t i = 0; group->own != NULL && i < group->config.count; i++)
        leave(group, i);
    mf_release(group->world->context, group->own);
}

// Robots of one model are usually next to each other: the one before may have it.
mf_Status mf_group_set_model(mf_Group *group, uint32_t instance, const mf_Model *model,
                             mf_Error *error) {
    mf_Context *context = group->world->context;
    if (mf_group_model_of(group, instance) == model)
        return MF_OK;
    if (group->own == NULL)
        MF_TRY(MF_ALLOCATE(context, "group", error, MF_ARRAY(group->own, group->config.count)));
    mf_OwnModel *own = instance > 0 ? group->own[instance - 1] : NULL;
    if (model != group->config.model && (own == NULL || own->model != model)) {
        uint32_t count = 0;
        const size_t most = group->on_shapes ? model->shape_count : model->point_count;
        own = mf_allocate(context, 1, sizeof *own + most * 3 * sizeof(double));
        MF_NEED_MEMORY(own != NULL, error, "group");
        own->model = model;
        mf_Status status = find_points(group, model, group->on_shapes, own->points, &count, error);
        if (status == MF_OK && count != group->start_point_count)
            status =
                mf_fail(error, MF_UNSUPPORTED,
                        "group %.99s: model %.99s of robot %u has %u contact points, need %u",
                        group->config.name, model->name, instance, count, group->start_point_count);
        if (status != MF_OK) {
            mf_release(context, own);
            return status;
        }
    }
    leave(group, instance);
    if (model != group->config.model) {
        group->own[instance] = own;
        own->robots++;
    }
    return MF_OK;
}

// ---- starts of single instances -----------------------------------------------------------------

static bool within(const double *values, uint32_t count, double limit) {
    for (uint32_t i = 0; i < count; i++)
        if (!(values[i] > -limit && values[i] < limit))
            return false;
    return true;
}

static mf_Status make_start(const mf_Group *group, const double position[3],
                            const double orientation[4], const double linear_velocity[3],
                            mf_StartPose *start, mf_Error *error) {
    const char *name = group->config.name;
    *start = (mf_StartPose){.orientation = {1.0, 0.0, 0.0, 0.0}};
    MF_NEED(within(position, 3, 1e9), error, "group %s: place: need a position within 1e9 m", name);
    memcpy(start->position, position, sizeof start->position);
    if (linear_velocity != NULL) {
        MF_NEED(within(linear_velocity, 3, 1e9), error,
                "group %s: place: need a velocity within 1e9 m/s", name);
        memcpy(start->linear_velocity, linear_velocity, sizeof start->linear_velocity);
    }
    if (orientation != NULL) {
        double square = 0.0;
        for (int i = 0; i < 4; i++)
            square += orientation[i] * orientation[i];
        MF_NEED(square > 0.98 && square < 1.02, error,
                "group %s: place: need an orientation of length 1 (w, x, y, z)", name);
        double length = __builtin_sqrt(square);
        for (int i = 0; i < 4; i++)
            start->orientation[i] = orientation[i] / length;
    }
    return MF_OK;
}

static uint64_t hash_start(const mf_StartPose *start, uint32_t instance) {
    uint64_t hash = mf_hash_bytes(MF_HASH_START, &instance, sizeof instance);
    return mf_hash_bytes(hash, start, sizeof *start);
}

mf_Status mf_group_set_start(mf_Group *group, uint32_t instance, const double position[3],
                             const double orientation[4], const double linear_velocity[3],
                             mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_group_set_start: group is NULL");
    mf_Context *context = group->world->context;
    mf_StartPose start;
    if (instance >= group->config.count)
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: place: there is no instance %u of %u",
                       group->config.name, instance, group->config.count);
    MF_TRY(make_start(group, position, orientation, linear_velocity, &start, error));
    if (group->starts == NULL) {
        mf_StartPose *starts = mf_allocate(context, group->config.count, sizeof *starts);
        uint8_t *placed = mf_allocate(context, group->config.count, 1);
        if (starts == NULL || placed == NULL) {
            mf_release(context, starts);
            mf_release(context, placed);
            return mf_fail(error, MF_NO_MEMORY, "group %s: no memory for %u starts",
                           group->config.name, group->config.count);
        }
        group->starts = starts;
        group->placed = placed;
    }
    // A sum, so that the hash does not depend on the order of the calls.
    if (group->placed[instance] != 0)
        group->starts_hash -= hash_start(&group->starts[instance], instance);
    group->starts[instance] = start;
    group->placed[instance] = 1;
    group->starts_hash += hash_start(&start, instance);
    mf_group_reset(group, instance);
    return MF_OK;
}
