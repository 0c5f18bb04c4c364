// A world with one robot that follows one gait at one level, for comparisons.
#ifndef MAYFLY_SRC_EVALUATE_LEVEL_RUN_H
#define MAYFLY_SRC_EVALUATE_LEVEL_RUN_H

#include <mayfly/compare.h>

typedef struct mf_LevelRun {
    mf_Context *context;
    mf_Scene scene;
    const mf_Model *model;                      // the scene's
    double (*position)[3], (*rotation)[4];      // of the links, world
    double (*before)[3], (*before_rotation)[4]; // the same at the previous sample
    mf_Time sampled;                            // [ns] when that was; < 0: never
} mf_LevelRun;

// Makes the scene as `mayfly run` does, with `count` isolated robots at this level.
mf_Status mf_ladder_open(mf_Context *context, mf_SceneFile *file, mf_Motion motion, uint32_t count,
                         mf_LevelRun *out, mf_Error *error);
void mf_ladder_close(mf_LevelRun *run);

// Of the first robot: pose of the base, how deep [m] it is in the ground, and how fast [m/s] what
// is on the ground has moved along it since the previous sample.
void mf_ladder_sample(mf_LevelRun *run, double position[3], double orientation[4],
                      double *penetration, double *slip);

// Kinetic and potential [J] of the first robot, as its level counts them.
double mf_ladder_energy(const mf_LevelRun *run);

// Wall time times threads [s] per robot and step, in a batch of config->price_robots: the least of
// three goes.
mf_Status mf_ladder_price(mf_Context *context, mf_SceneFile *file, const mf_CompareConfig *config,
                          mf_Motion motion, double *out, mf_Error *error);

#endif
