// How a robot that came without an experiment begins: a world as its file wishes, and its pose.
#ifndef MAYFLY_APP_START_MODEL_H
#define MAYFLY_APP_START_MODEL_H

#include "plugins.h"

typedef struct mf_ModelStart {
    const mf_Model *model;
    mf_Motion motion;
    const mf_Gait *gait;          // that they follow, from its first pose on; NULL: none
    const mf_AppPlugins *plugins; // a motion among them takes the place of `motion`; NULL: none
    double command[3];            // [m/s], [m/s], [rad/s] forward, left, turn: what it is told
    uint32_t key;          // [1] keyframe, MF_NONE: the start pose, lowest point on the ground
    uint32_t count;        // [1] robots
    uint64_t seed;         // [1]
    bool double_precision; // else float
    double (*place)[3], (*turn)[4]; // made by mf_model_start: poses of the links at the start; the
                                    // caller frees them by mf_model_start_free
    mf_Terrain *ground; // NULL, or made by mf_model_start; the caller frees it after the world
} mf_ModelStart;

// Makes a world with the file's step and gravity, ground as the file's (its level plane and
// height fields that touch, mf_terrain_from_model; else at height 0), one group moved with the
// file's integrator, and all robots at their start. A robot that the world holds in a file without
// floor meets no ground. RK4 is taken only where nothing touches: contacts need the implicit
// integrator. Every robot but the first has joint rates of up to 0.1 rad/s or m/s of its own.
// MF_UNSUPPORTED: a motion that the model cannot move by, with the reason and those that it can.
mf_Status mf_model_start(mf_Context *context, mf_ModelStart *start, mf_World **out,
                         mf_Error *error);

// Frees ground and poses, after the world.
void mf_model_start_free(mf_Context *context, mf_ModelStart *start);

// Whether something of the robot meets a ground.
bool mf_model_touches(const mf_Model *model);

#endif
