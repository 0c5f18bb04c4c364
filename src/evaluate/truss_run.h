// A truss in a comparison: what drives it, and samples of it.
#ifndef MAYFLY_SRC_EVALUATE_TRUSS_RUN_H
#define MAYFLY_SRC_EVALUATE_TRUSS_RUN_H

#include "evaluate/level_run.h"

// Writes one line about what drives the truss of the only group of a scene.
void mf_truss_drive_name(const mf_SceneFile *file, char out[96]);

// Adds to the group a system that drives all actuators by a sine through their ranges, where the
// truss has neither neurons nor oscillators.
mf_Status mf_truss_drive(const mf_SceneFile *file, mf_Group *group, mf_Error *error);

// Samples the first truss since the previous sample, whose vertices are in run->before; `force` [N]
// is that of its most loaded bar.
void mf_truss_sample(mf_LevelRun *run, mf_CompareSample *sample, double *force);

#endif
