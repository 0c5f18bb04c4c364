// mayfly run for a robot's file alone.
#ifndef MAYFLY_APP_RUN_MODEL_H
#define MAYFLY_APP_RUN_MODEL_H

#include "run_swarm.h"

// Drops the robot `name` (URDF or MJCF) on flat ground and prints what it did; returns an exit
// code.
int mf_run_model(mf_Context *context, const mf_Inputs *inputs, const mf_RunOptions *options,
                 const char *name);

#endif
