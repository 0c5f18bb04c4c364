// Common code of the tests of cameras: a group of a model from text, and a camera that is free.
#pragma once

#include "rig/rig.h"
#include "math/scalar.h"

// A robot of all shapes, beside a box in the world.
#define ALL                                                                                        \
    "<mujoco><asset><mesh name='m' vertex='0 0 0  0.5 0 0  0 0.5 0  0 0 0.5'/></asset>"            \
    "<worldbody><geom type='plane' size='0 0 1'/><geom type='box' pos='2 1.4 .5' size='.2 .3 .5' " \
    "euler='10 20 30'/><body pos='2 0 0.9'><freejoint/><geom size='0.3'/>"                         \
    "<geom type='box' size='0.1 0.2 0.3' pos='0 .6 0' euler='30 0 20'/>"                           \
    "<geom type='capsule' size='0.1 0.25' pos='0 -.6 0' euler='40 30 0'/>"                         \
    "<geom type='cylinder' size='0.2 0.15' pos='0 0 .6' euler='20 60 10'/>"                        \
    "<geom type='ellipsoid' size='0.1 0.2 0.4' pos='0 .5 .6' euler='20 60 10'/>"                   \
    "<geom type='mesh' mesh='m' pos='0 -.5 .6'/></body></worldbody></mujoco>"

typedef struct Rig {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Camera camera;
    mf_FreeCamera *eye; // NULL without a camera
} Rig;

// `group` without its model, which is `text`; `world` and `camera` may be NULL.
static inline Rig open_world_of(mf_Context *context, const char *text, const mf_WorldConfig *world,
                                mf_GroupConfig group, const mf_Camera *camera) {
    Rig rig = {.model = load_text(context, text)};
    MUST(mf_world_create(context, world, &rig.world, &error));
    rig.group = add_group(rig.world, &WITH(group, .model = rig.model));
    MUST(mf_motion_add(rig.group, MF_MOTION_ARTICULATED, NULL, &error));
    if (camera != NULL) {
        rig.camera = *camera;
        MUST(mf_free_camera_create(rig.world, camera, &rig.eye, &error));
    }
    return rig;
}

static inline void rig_close(Rig *rig) {
    mf_free_camera_destroy(rig->eye);
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}
// A pose of seven numbers, whose quaternion need not be of length 1, to what cameras take.
static inline void rotation_of(const double pose[7], double out[4]) {
    memcpy(out, pose + 3, 4 * sizeof *out);
    mf_quat_normalize(out);
}
