// Worlds of the check cases: one group, usually one robot of `articulated` in double precision.
#ifndef MAYFLY_APP_CHECK_RIG_H
#define MAYFLY_APP_CHECK_RIG_H

#include <mayfly/motion.h>

#include "check.h"
#include "model/hand.h"

#define MF_CHECK_DEGREE (3.14159265358979323846 / 180.0) // [rad]

// Must not move in memory while open: the world refers to `hand`.
typedef struct mf_Rig {
    mf_HandModel hand; // the robot, if built link by link
    mf_Model *model;   // the robot, if it is another; else NULL
    mf_World *world;
    mf_Group *group;
} mf_Rig;

typedef struct mf_RigConfig {
    mf_WorldConfig world;
    mf_ArticulatedConfig motion;
} mf_RigConfig;
mf_RigConfig mf_rig_config(mf_ArticulatedIntegrator integrator, mf_Time step);

// Each opens a world with one robot: that of rig->hand, which the caller has started and built;
// that of an MJCF text; or that of a file of Mayfly's own. After MF_OK call mf_rig_close.
mf_Status mf_rig_open(mf_Rig *rig, mf_Context *context, const mf_RigConfig *config,
                      mf_Error *error);
mf_Status mf_rig_open_text(mf_Rig *rig, mf_Context *context, const char *text,
                           const mf_RigConfig *config, mf_Error *error);
// The same with any motion.
mf_Status mf_rig_open_motion(mf_Rig *rig, mf_Context *context, const char *text,
                             const mf_WorldConfig *world, mf_Motion motion,
                             const mf_MotionsConfig *motions, mf_Error *error);
mf_Status mf_rig_open_file(mf_Rig *rig, mf_Context *context, const char *file,
                           const mf_RigConfig *config, mf_Error *error);

// The same with any model (rig->hand, or rig->model, which the rig owns) and any group of it. On
// failure the rig is freed.
mf_Status mf_rig_open_model(mf_Rig *rig, mf_Context *context, const mf_Model *model,
                            const mf_WorldConfig *world, mf_Motion motion,
                            const mf_MotionsConfig *motions, mf_Error *error);
mf_Status mf_rig_open_group(mf_Rig *rig, mf_Context *context, const mf_WorldConfig *world,
                            const mf_GroupConfig *group, mf_Motion motion,
                            const mf_MotionsConfig *motions, mf_Error *error);
void mf_rig_free(mf_Rig *rig); // again: without effect

// Frees the rig. Fails when the robot has a fault: a frozen robot would look like one at rest.
mf_Status mf_rig_close(mf_Rig *rig, mf_Error *error);

double mf_rig_get(const mf_Rig *rig, const char *field, uint32_t component);
void mf_rig_set(const mf_Rig *rig, const char *field, uint32_t component, double value);
void mf_rig_set3(const mf_Rig *rig, const char *field, double x, double y, double z);
double mf_rig_time(const mf_Rig *rig);   // [s]
double mf_rig_energy(const mf_Rig *rig); // [J] kinetic, potential and elastic

// Gives a link of rig->hand mass [kg], center [m] and principal moments about it [kg m^2].
void mf_rig_body(mf_Rig *rig, uint32_t link, double mass, const double center[3],
                 const double moments[3]);

// Builds a base with an arm of two hinges in rig->hand: masses 3, 1 and 0.5 kg.
void mf_rig_build_arm(mf_Rig *rig);

// Uniform in [-1, 1), the n-th number of a stream.
double mf_rig_random(uint32_t stream, uint64_t n);

#endif
