// Poses of links and docks, and how they follow each other along an arm of modules.
#pragma once

#include "math/scalar.h"
#include "scene/support.h"

typedef struct Pose {
    double at[3], turn[4];
} Pose;

static const Pose origin = {.turn = {1, 0, 0, 0}}, facing = {.turn = {0, 0, 0, 1}};

static inline Pose pose_of(const double at[3], const double rotation[4]) {
    Pose out;
    memcpy(out.at, at, sizeof out.at);
    memcpy(out.turn, rotation, sizeof out.turn);
    return out;
}

static inline Pose chain(const Pose *a, const Pose *b) {
    Pose out;
    mf_quat_rotate(out.at, a->turn, b->at);
    mf_vec3_add(out.at, out.at, a->at);
    mf_quat_multiply(out.turn, a->turn, b->turn);
    return out;
}

static inline Pose inverse(const Pose *a) {
    Pose out;
    mf_quat_conjugate(out.turn, a->turn);
    mf_quat_rotate(out.at, out.turn, a->at);
    mf_vec3_scale(out.at, out.at, -1.0);
    return out;
}

static inline const mf_Frame *dock_of(const mf_Model *model, const char *name) {
    return &model->docks[mf_model_find(model, MF_ITEM_DOCK, name)].frame;
}

// A dock of a robot whose links are there.
static inline Pose dock_pose(const mf_Model *model, const char *name, double (*at)[3],
                             double (*rotation)[4]) {
    const mf_Frame *frame = dock_of(model, name);
    const Pose link = pose_of(at[frame->link], rotation[frame->link]),
               own = pose_of(frame->position, frame->rotation);
    return chain(&link, &own);
}

// The front dock of a module of a group, in the world.
static inline Pose tip_pose(const mf_Scene *scene, uint32_t group, uint32_t robot) {
    double at[8][3], rotation[8][4];
    MUST(mf_group_link_poses(mf_world_group(scene->world, group), robot, 1, at[0], rotation[0],
                             &error));
    return dock_pose(scene->models[group], "front", at, rotation);
}
