// A world with one robot that follows one gait at one level, for comparisons.
#pragma once

#include "body/compare.h"

typedef struct mf_LevelRun {
    mf_Context *context;
    mf_Scene scene;
    const mf_Model *model;                      // the scene's
    const mf_BodyKind *kind;                    // of its group
    double (*position)[3], (*rotation)[4];      // of the links, world
    double (*before)[3], (*before_rotation)[4]; // the same at the previous sample, or the vertices
    uint32_t vertex_count;                      // [1] of bodies of vertices; 0: links
    mf_Time sampled;                            // [ns] time of that sample; < 0: none
} mf_LevelRun;

// Builds the scene as `mayfly run` does, with `count` isolated robots at this level.
mf_Status mf_level_run_open(mf_Context *context, mf_SceneFile *file, mf_Motion motion,
                            uint32_t count, mf_LevelRun *out, mf_Error *error);
void mf_level_run_close(mf_LevelRun *run);

// Samples the first robot: pose of the base, depth [m] in the ground, and mean slip speed [m/s] of
// its contacts since the previous sample.
void mf_level_run_sample(mf_LevelRun *run, double position[3], double orientation[4],
                         double *penetration, double *slip);

// The same of a body of vertices, whose largest force [N] is returned; run->before has them.
double mf_level_run_sample_body(mf_LevelRun *run, mf_CompareSample *sample);

// Kinetic and potential energy [J] of the first robot in its level's model.
double mf_level_run_energy(const mf_LevelRun *run);

// Wall time times threads [s] per robot and step, in a batch of config->cost_robots: the least of
// three measurements.
mf_Status mf_level_run_cost(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                            mf_Motion motion, double *out, mf_Error *error);

// A truss in a comparison: what drives it, and samples of it.
// Adds to the group a system that drives all actuators by a sine through their ranges, where the
// truss has neither neurons nor oscillators.
mf_Status mf_truss_drive(const mf_SceneFile *file, mf_Group *group, mf_Error *error);

// Samples the first truss since the previous sample, whose vertices are in run->before; `force` [N]
// is that of its most loaded bar.
void mf_truss_sample(mf_LevelRun *run, mf_CompareSample *sample, double *force);
