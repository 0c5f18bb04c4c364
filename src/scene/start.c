// Initial poses of single robots: from their file, a keyframe or the start of a gait, on the
// ground.
#include "base/memory.h"
#include "scene/builder.h"
#include "world/attach.h"
#include <mayfly/model_fields.h>
#include "scene/scene_file.h"

#include "model/points.h"
#include "motion/table.h"

#include "math/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATE_STREAM 0x64726f70u // separates these random numbers from all others
#define DEEP 0.005              // [m] deeper penetration is corrected

// ---- contact shapes ----------------------------------------------------------------------------

// Radius [m] around the base's origin, or around the vertical through it, that contains the robot.
static double reach_of(const mf_Model *model, const mf_RobotStart *start, bool level) {
    double farthest = 0.0;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const mf_Shape *shape = &model->shapes[i];
        double at[3];
        if (!shape->collides || shape->link == MF_NONE)
            continue;
        mf_quat_rotate(at, start->rotation[shape->link], shape->position);
        mf_vec3_add(at, at, start->point[shape->link]);
        const double z = level ? 0.0 : at[2];
        farthest = mf_larger(mf_sqrt(at[0] * at[0] + at[1] * at[1] + z * z) +
                                 mf_model_shape_radius(model, i),
                             farthest);
    }
    return farthest;
}

// The highest ground [m] within `reach` of the origin.
static double highest_near(const mf_Terrain *ground, double reach) {
    if (ground == NULL)
        return 0.0;
    double highest = mf_terrain_height(ground, 0.0, 0.0, NULL), far = reach + ground->cell;
    for (uint32_t row = 0; row < ground->rows; row++)
        for (uint32_t column = 0; column < ground->columns; column++) {
            double x = ground->origin[0] + (column + 0.5) * ground->cell;
            double y = ground->origin[1] + (row + 0.5) * ground->cell;
            if (x * x + y * y < far * far)
                highest =
                    mf_larger(ground->height_f64[(size_t)row * ground->columns + column], highest);
        }
    return highest;
}

// Depth [m] of the deepest shape in the ground with the links at these poses; < 0: above it.
static double depth_of(const mf_Model *model, const mf_Terrain *ground,
                       const mf_RobotStart *start) {
    double deepest = -INFINITY;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const uint32_t link = model->shapes[i].link;
        double point[3], at[3];
        if (!model->shapes[i].collides || link == MF_NONE)
            continue;
        mf_model_shape_lowest(model, i, start->point[link], start->rotation[link], point);
        mf_quat_rotate(at, start->rotation[link], point);
        mf_vec3_add(at, at, start->point[link]);
        const double height = ground != NULL ? mf_terrain_height(ground, at[0], at[1], NULL) : 0.0;
        deepest = mf_larger(height - at[2], deepest);
    }
    return deepest;
}

// ---- the pose ----------------------------------------------------------------------------------

void mf_robot_start_free(mf_Context *context, mf_RobotStart *start) {
    mf_release(context, start->position);
    *start = (mf_RobotStart){0};
}

static mf_Status allocate(mf_SceneBuilder *builder, const mf_Model *model, mf_RobotStart *start) {
    const mf_Array arrays[] = {MF_ARRAY(start->position, (size_t)model->position_count + 7),
                               MF_ARRAY(start->velocity, (size_t)model->velocity_count + 6),
                               MF_ARRAY(start->angle, model->joint_count),
                               MF_ARRAY(start->point, model->link_count),
                               MF_ARRAY(start->rotation, model->link_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(builder->context, arrays, 5), builder->error, "scene");
    return MF_OK;
}

// Robots with gaits begin in the first pose of their first gait.
static mf_Status choose_key(const mf_SceneBuilder *builder, uint32_t index, uint32_t *out) {
    const mf_Model *model = builder->scene->models[index];
    const mf_SceneGroup *from = &builder->file->groups[index];
    *out = model->keyframe_count > 0 && from->gait_count == 0 ? 0 : MF_NONE;
    if (strcmp(from->keyframe, "none") == 0)
        *out = MF_NONE;
    if (from->keyframe[0] == '\0' || strcmp(from->keyframe, "none") == 0)
        return MF_OK;
    *out = mf_model_find(model, MF_ITEM_KEYFRAME, from->keyframe);
    if (*out != MF_NONE)
        return MF_OK;
    char names[320] = "none";
    size_t used = 0;
    for (uint32_t i = 0; i < model->keyframe_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 model->keyframes[i].name);
    return mf_fail_at(builder->error, MF_NOT_FOUND, model->file, 0, 0,
                      "group %.60s: keyframe: expected the name of one (%s), found '%.99s'",
                      from->name, names, from->keyframe);
}

// Angles within their ranges, from the start of the gait if there is one.
static mf_Status fill_angles(const mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *start) {
    static const double still[3] = {0.0, 0.0, 0.0};
    const mf_Model *model = builder->scene->models[index];
    const mf_Gait *gait = builder->scene->gaits[index][0];
    memcpy(start->angle, model->start_angle, model->joint_count * sizeof *start->angle);
    return gait != NULL ? mf_gait_sample(gait, model, 0.0, still, start->angle, builder->error)
                        : MF_OK;
}

static void fill_state(const mf_Model *model, mf_RobotStart *start) {
    double *q = start->position;
    if (start->key != MF_NONE) {
        const mf_Keyframe *frame = &model->keyframes[start->key];
        memcpy(q, frame->position, model->position_count * sizeof(double));
        memcpy(start->velocity, frame->velocity, model->velocity_count * sizeof(double));
        return;
    }
    memcpy(q, model->start_position, model->position_count * sizeof *q);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (mf_joint_has_axis(&model->joints[j]))
            q[model->joints[j].position_address] = start->angle[j];
}

static bool touches_by_shapes(const mf_SceneBuilder *builder, uint32_t index) {
    return builder->file->groups[index].contact_shapes &&
           !mf_scene_is_vertices(&builder->file->groups[index]) &&
           mf_motion_has_shapes(mf_scene_group_motion(builder, index));
}

// Measures the robot in its own frame: base at the origin, level unless the file rotates it.
static void measure(const mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *start) {
    const mf_Model *model = builder->scene->models[index];
    double *q = start->position;
    const double at[3] = {q[0], q[1], q[2]};
    if (model->base == MF_BASE_FREE)
        q[0] = q[1] = q[2] = 0.0;
    mf_model_pose_at(model, q, start->point, start->rotation);
    start->lowest =
        mf_model_lowest(model, start->point, start->rotation, touches_by_shapes(builder, index));
    if (!mf_is_finite(start->lowest))
        start->lowest = 0.0;
    start->reach = reach_of(model, start, false);
    if (model->base == MF_BASE_FREE)
        memcpy(q, at, sizeof at);
}

mf_Status mf_robot_start_make(mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *out) {
    const mf_Model *model = builder->scene->models[index];
    mf_RobotStart start = {.own_position =
                               model->body_count > 0 && builder->scene->gaits[index][0] == NULL};
    mf_Status status = choose_key(builder, index, &start.key);
    MF_THEN(status, allocate(builder, model, &start));
    MF_THEN(status, fill_angles(builder, index, &start));
    if (status == MF_OK) {
        fill_state(model, &start);
        measure(builder, index, &start);
        *out = start;
    } else {
        mf_robot_start_free(builder->context, &start);
    }
    return status;
}

// ---- single robots -----------------------------------------------------------------------------

static void set_values(mf_Group *group, const char *name, uint32_t robot, uint32_t component,
                       double value) {
    mf_Field *field = mf_group_find_field(group, name);
    if (field != NULL)
        mf_field_set(field, robot, component, value);
}

static void give_key(mf_Group *group, const mf_Keyframe *frame, uint32_t robot) {
    const mf_Model *model = mf_group_model(group);
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        uint32_t address = model->actuators[a].activation_address;
        set_values(group, "actuator.control", robot, a, frame->control[a]);
        if (address != MF_NONE)
            set_values(group, "actuator.activation", robot, a, frame->activation[address]);
    }
}

static void shake(mf_Group *group, uint64_t seed, double most, uint32_t robot) {
    const mf_Model *model = mf_group_model(group);
    mf_Field *rate = mf_group_find_field(group, "joint.rate");
    for (uint32_t j = 0; most > 0.0 && robot > 0 && j < model->joint_count; j++) {
        uint32_t words[4];
        mf_random(seed, robot, RATE_STREAM, j, words);
        double part = 2.0 * words[0] * 0x1p-32 - 1.0;
        mf_field_set(rate, robot, j, mf_field_get(rate, robot, j) + most * part);
    }
}

static void write_state(mf_SceneBuilder *builder, uint32_t index, uint32_t robot,
                        const mf_RobotStart *start) {
    mf_Group *group = mf_world_group(builder->scene->world, index);
    mf_group_set_state(group, robot, start->position, start->velocity);
    if (start->key != MF_NONE)
        give_key(group, &mf_group_model(group)->keyframes[start->key], robot);
    if (!builder->config.evaluates) // evaluations start all robots alike
        shake(group, builder->file->seed, builder->file->groups[index].joint_noise, robot);
    mf_group_refresh(group, robot);
}

// Puts its lowest point on the ground around the origin.
static void put_on_ground(const mf_SceneBuilder *builder, const mf_Model *model,
                          mf_RobotStart *start) {
    double *q = start->position;
    q[0] = q[1] = 0.0;
    mf_model_pose_at(model, q, start->point, start->rotation);
    const double far = reach_of(model, start, true);
    q[2] = highest_near(builder->scene->terrain, far) - start->lowest;
}

// Keeps the position of a reset: each point of its start pose on or above the ground below.
static void keep_stand(mf_Group *group, mf_RobotStart *start) {
    const mf_Field *position = mf_group_find_field(group, "base.position");
    mf_field_read(position, 0, 0, 3, start->position);
}

// Raises a robot that its file puts deep in the ground.
static double lift_out(const mf_SceneBuilder *builder, const mf_Model *model,
                       mf_RobotStart *start) {
    const mf_Terrain *ground = builder->scene->terrain;
    mf_model_pose_at(model, start->position, start->point, start->rotation);
    const double depth = depth_of(model, ground, start);
    const double raised =
        mf_model_touches_ground(model, ground != NULL) && depth > DEEP ? depth : 0.0;
    start->position[2] += raised;
    return raised;
}

// Bodies of vertices keep the position of a reset, raised by the height of the placement.
static mf_Status raise_vertices(mf_SceneBuilder *builder, uint32_t index) {
    mf_Group *group = mf_world_group(builder->scene->world, index);
    const mf_Field *base = mf_group_find_field(group, "base.position");
    const double height = builder->file->groups[index].placement.height;
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        double at[3];
        mf_field_read(base, i, 0, 3, at);
        at[2] += height;
        MF_TRY(mf_group_set_start(group, i, at, NULL, NULL, builder->error));
    }
    return MF_OK;
}

mf_Status mf_robot_start_at_origin(mf_SceneBuilder *builder, uint32_t index, mf_RobotStart *start) {
    if (mf_scene_is_vertices(&builder->file->groups[index]))
        return raise_vertices(builder, index);
    const double origin[3] = {0, 0, 0};
    const mf_Model *model = builder->scene->models[index];
    mf_Group *group = mf_world_group(builder->scene->world, index);
    if (model->base == MF_BASE_FREE && start->key == MF_NONE) {
        if (start->own_position)
            builder->scene->raised[index] = lift_out(builder, model, start);
        else if (!touches_by_shapes(builder, index) && builder->scene->gaits[index][0] == NULL)
            keep_stand(group, start);
        else
            put_on_ground(builder, model, start);
        start->position[2] += builder->file->groups[index].placement.height;
    }
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        // A robot that is fixed to the world keeps the coordinates of its file.
        if (model->base == MF_BASE_FIXED)
            MF_TRY(mf_group_set_start(group, i, origin, NULL, NULL, builder->error));
        write_state(builder, index, i, start);
    }
    return MF_OK;
}

mf_Status mf_robot_start_at(mf_SceneBuilder *builder, uint32_t index, uint32_t robot,
                            mf_RobotStart *start, const double position[3], double heading) {
    const mf_Model *model = builder->scene->models[index];
    const double speed = builder->file->groups[index].placement.speed;
    mf_Group *group = mf_world_group(builder->scene->world, index);
    double sine, cosine, rotation[4] = {0.0, 0.0, 0.0, 0.0}, own[4],
                         whole[4] = {1.0, 0.0, 0.0, 0.0};
    mf_sin_cos(heading, &sine, &cosine);
    mf_sin_cos(0.5 * heading, &rotation[3], &rotation[0]);
    const bool moves = speed > 0.0; // otherwise a heading west would give -0
    const double velocity[3] = {moves ? speed * cosine : 0.0, moves ? speed * sine : 0.0, 0.0};
    const bool free = model->base == MF_BASE_FREE;
    memcpy(own, free ? start->position + 3 : whole, sizeof own);
    mf_quat_multiply(whole, rotation, own);
    MF_TRY(
        mf_group_set_start(group, robot, position, whole, moves ? velocity : NULL, builder->error));
    if (mf_scene_is_scenery(model) || builder->file->groups[index].kind != NULL)
        return MF_OK;
    if (free) {
        memcpy(start->position, position, 3 * sizeof *position);
        memcpy(start->position + 3, whole, sizeof whole);
        memcpy(start->velocity, velocity, sizeof velocity);
    }
    write_state(builder, index, robot, start);
    if (free)
        memcpy(start->position + 3, own,
               sizeof own); // the next robot starts from the same rotation
    return MF_OK;
}
