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
    mf_Motion level;
    mf_ArticulatedConfig motion; // of MF_MOTION_ARTICULATED
    mf_RigidConfig rigid;
    mf_PrescribedConfig prescribed;
    mf_PointsConfig points;
} mf_RigConfig;
// Of `articulated`; and of another motion, with rigid ground.
mf_RigConfig mf_rig_config(mf_ArticulatedIntegrator integrator, mf_Time step);
mf_RigConfig mf_rig_config_at(mf_Motion level, mf_ArticulatedIntegrator integrator, mf_Time step);

// Gravity tilted about y, so that level ground is a slope of `angle` [rad] down along x.
void mf_rig_tilt(mf_WorldConfig *world, double angle);

// Each opens a world with one robot: that of rig->hand, which the caller has started and built;
// that of an MJCF text; or that of a file of Mayfly's own. After MF_OK call mf_rig_close.
void mf_rig_open(mf_Rig *rig, mf_CheckRun *run, const mf_RigConfig *config);
void mf_rig_open_text(mf_Rig *rig, mf_CheckRun *run, const char *text, const mf_RigConfig *config);
// The same with any motion.
void mf_rig_open_motion(mf_Rig *rig, mf_CheckRun *run, const char *text,
                        const mf_WorldConfig *world, mf_Motion motion,
                        const mf_MotionsConfig *motions);
void mf_rig_open_file(mf_Rig *rig, mf_CheckRun *run, const char *file, const mf_RigConfig *config);

// The same with any model (rig->hand, or rig->model, which the rig owns) and any group of it. On
// failure the rig is freed.
void mf_rig_open_model(mf_Rig *rig, mf_CheckRun *run, const mf_Model *model,
                       const mf_WorldConfig *world, mf_Motion motion,
                       const mf_MotionsConfig *motions);
void mf_rig_open_group(mf_Rig *rig, mf_CheckRun *run, const mf_WorldConfig *world,
                       const mf_GroupConfig *group, mf_Motion motion,
                       const mf_MotionsConfig *motions);
void mf_rig_free(mf_Rig *rig); // again: without effect

// Frees the rig. Fails when the robot has a fault: a frozen robot would look like one at rest.
void mf_rig_close(mf_CheckRun *run, mf_Rig *rig);

double mf_rig_get(const mf_Rig *rig, const char *field, uint32_t component);
void mf_rig_set(const mf_Rig *rig, const char *field, uint32_t component, double value);
void mf_rig_set3(const mf_Rig *rig, const char *field, double x, double y, double z);
double mf_rig_time(const mf_Rig *rig);   // [s]
double mf_rig_energy(const mf_Rig *rig); // [J] kinetic, potential and elastic
double mf_rig_yaw(const mf_Rig *rig);    // [rad] of a base that rotates about z

// The three components of a field, in units of `unit`. A ? in `what` becomes x, y or z.
void mf_rig_near3(mf_CheckRun *run, const mf_Rig *rig, const char *field, const double expected[3],
                  double unit, double tolerance, const char *what);

// A text that grows; overflow makes an MJCF text invalid, which the parser reports.
typedef struct mf_RigText {
    char text[24000];
    size_t used;
} mf_RigText;
MF_PRINTF(2, 3) void mf_rig_text_add(mf_RigText *text, const char *format, ...);

// Ground that rises along x by `angle` [rad], in cells of 0.5 m. The caller destroys it.
mf_Terrain *mf_rig_slope(mf_CheckRun *run, double angle);

// Of robot 0, by the definitions of its motion.
typedef struct mf_RigMomentum {
    double center[3], linear[3], angular[3]; // [m], [kg m/s], [kg m^2/s] about the center
} mf_RigMomentum;
mf_RigMomentum mf_rig_momentum(const mf_Rig *rig);
// The largest difference of two vectors in a component; of a vector to 0 with NULL.
double mf_rig_apart(const double a[3], const double b[3]);

// Gives a link of rig->hand mass [kg], center [m] and principal moments about it [kg m^2].
void mf_rig_body(mf_Rig *rig, uint32_t link, double mass, const double center[3],
                 const double moments[3]);

// Builds a base with an arm of two hinges in rig->hand: masses 3, 1 and 0.5 kg.
void mf_rig_build_arm(mf_Rig *rig);

// Uniform in [-1, 1), the n-th number of a stream.
double mf_rig_random(uint32_t stream, uint64_t n);

#endif
