// Common code of the tests of cameras: a group of a model from text, and a camera that is free.
#ifndef MAYFLY_TESTS_CAMERA_SUPPORT_H
#define MAYFLY_TESTS_CAMERA_SUPPORT_H

#include "rig/rig.h"

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

static inline void close_rig(Rig *rig) {
    mf_free_camera_destroy(rig->eye);
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}
#define AUTO_CAMERA_RIG AUTO(close_rig) Rig

// A vector rotated by a quaternion.
static inline void rotate(const double q[4], const double v[3], double out[3]) {
    const double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                         2 * (q[1] * v[1] - q[2] * v[0])};
    out[0] = v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1];
    out[1] = v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2];
    out[2] = v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
}

#endif
