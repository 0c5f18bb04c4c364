// Run-time joints of a scene file, created after all robots have their initial poses.
#include "scene/modules/modules.h"

#include <mayfly/model_fields.h>
#include <mayfly/dynamics.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/suggest.h"

static mf_Status refuse(const mf_SceneBuilder *builder, const mf_SceneJoint *joint,
                        mf_Status status, const char *message) {
    return mf_fail_at(builder->error, status, builder->file->file, joint->line, joint->column,
                      "joints.%.80s: %s", joint->name, message);
}

const char *mf_scene_link_name(const void *model, uint32_t index) {
    const mf_Model *of = model;
    return index < of->link_count ? of->links[index].name : NULL;
}

static mf_Status refuse_link(const mf_SceneBuilder *builder, const mf_SceneJoint *joint,
                             const mf_SceneJointSide *side, const mf_Model *model) {
    char message[400], near[MF_SUGGESTION];
    snprintf(message, sizeof message, "link: group %.80s (%.60s) has no link '%.80s'%s",
             side->group, model->name, side->link,
             mf_suggest(side->link, mf_scene_link_name, model, near));
    return refuse(builder, joint, MF_BAD_FILE, message);
}

static mf_Status find_side(const mf_SceneBuilder *builder, const mf_SceneJoint *joint,
                           const mf_SceneJointSide *from, mf_WorldJointSide *out) {
    if (from->group[0] == '\0')
        return MF_OK;
    out->group = mf_world_find_group(builder->scene->world, from->group); // checked by the reader
    out->instance = from->robot;
    if (from->robot >= mf_group_count(out->group))
        return refuse(builder, joint, MF_BAD_FILE, "robot: the group has fewer robots");
    if (from->link[0] != '\0')
        out->link = mf_model_find(mf_group_model(out->group), MF_ITEM_LINK, from->link);
    return out->link == MF_NONE ? refuse_link(builder, joint, from, mf_group_model(out->group))
                                : MF_OK;
}

// [m] world: the origin of the first link that is not the world.
static mf_Status find_origin(const mf_SceneBuilder *builder, const mf_WorldJointConfig *config,
                             double out[3]) {
    const mf_WorldJointSide *side = &config->sides[config->sides[0].group == NULL ? 1 : 0];
    const uint32_t links = mf_group_model(side->group)->link_count;
    double *values = mf_allocate(builder->context, links, 7 * sizeof *values);
    MF_NEED_MEMORY(values != NULL, builder->error, "scene");
    mf_Status status = mf_group_link_poses(side->group, side->instance, 1, values,
                                           values + 3 * (size_t)links, builder->error);
    if (status == MF_OK)
        memcpy(out, values + 3 * (size_t)side->link, 3 * sizeof *out);
    mf_release(builder->context, values);
    return status;
}

static mf_WorldJointConfig config_of(const mf_SceneJoint *from) {
    mf_WorldJointConfig config = mf_world_joint_config();
    config.kind = from->kind;
    config.stiffness = from->stiffness;
    config.damping = from->damping;
    config.angular_stiffness = from->angular_stiffness;
    config.angular_damping = from->angular_damping;
    config.time = from->time;
    config.force_limit = from->force_limit;
    config.moment_limit = from->moment_limit;
    config.motor_rate = from->motor_rate;
    config.motor_torque = from->motor_torque;
    if (!isnan(from->range[0])) {
        config.lower_angle = from->range[0];
        config.upper_angle = from->range[1];
    }
    return config;
}

static mf_Status add_joint(mf_SceneBuilder *builder, const mf_SceneJoint *from) {
    mf_Scene *scene = builder->scene;
    mf_WorldJointConfig config = config_of(from);
    mf_WorldJointId id;
    mf_Error cause = {0};
    double position[3];
    memcpy(position, from->position, sizeof position);
    for (int i = 0; i < 2; i++)
        MF_TRY(find_side(builder, from, &from->sides[i], &config.sides[i]));
    if (isnan(position[0]))
        MF_TRY(find_origin(builder, &config, position));
    mf_Status status = mf_world_joint_here(&config, position, from->axis, &cause);
    MF_THEN(status, mf_world_joint_create(scene->joints, &config, &id, &cause));
    if (status != MF_OK)
        return refuse(builder, from, status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status,
                      cause.message);
    return from->enabled ? MF_OK : mf_world_joint_enable(scene->joints, id, false, builder->error);
}

// The joints of the world, added when there are none.
static mf_Status need_joints(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    scene->joints = mf_world_joints_of(scene->world);
    return scene->joints != NULL
               ? MF_OK
               : mf_world_joints_add(scene->world, NULL, &scene->joints, builder->error);
}

mf_Status mf_scene_add_joint_slots(mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    const uint32_t count = builder->file->groups[index].joint_slots;
    mf_Error cause = {0};
    if (count == 0)
        return MF_OK;
    MF_TRY(need_joints(builder));
    const mf_Status status = mf_joint_slots_add(builder->scene->joints, group, count, &cause);
    return status == MF_OK
               ? MF_OK
               : mf_fail_at(builder->error, status, builder->file->file, 0, 0, "%s", cause.message);
}

mf_Status mf_scene_ready_joint_slots(mf_SceneBuilder *builder) {
    uint32_t slots = 0;
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        slots += builder->file->groups[i].joint_slots;
    return slots > 0 ? mf_joint_slots_ready(builder->scene->joints, builder->error) : MF_OK;
}

mf_Status mf_scene_add_joints(mf_SceneBuilder *builder) {
    const mf_SceneFile *file = builder->file;
    if (file->joint_count == 0)
        return MF_OK;
    MF_TRY(need_joints(builder));
    for (uint32_t i = 0; i < file->joint_count; i++)
        MF_TRY(add_joint(builder, &file->joints[i]));
    return MF_OK;
}

bool mf_scene_group_is_joined(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneFile *file = builder->file;
    if (mf_scene_is_modular(builder, index))
        return true;
    for (uint32_t i = 0; i < file->group_count; i++)
        if (file->groups[i].joint_slots > 0) // whose robots may join any others
            return !mf_scene_group_isolated(builder, index);
    for (uint32_t i = 0; i < file->joint_count; i++)
        for (int side = 0; side < 2; side++)
            if (strcmp(file->joints[i].sides[side].group, file->groups[index].name) == 0)
                return true;
    return false;
}
