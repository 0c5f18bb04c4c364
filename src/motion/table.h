// The motion table: one row per motion, with all functions and data that other code uses of a
// motion. A row is at the end of the motion's host file; table.c lists the rows.
// docs/how_to/add_a_motion.md adds one step by step.
#ifndef MF_MOTION_TABLE_H
#define MF_MOTION_TABLE_H

#include <mayfly/motion.h>

#include "motion/pieces.h"

typedef struct mf_MotionRow {
    const char *name; // in files and messages, and of the motion's system
    mf_Motion motion; // its own place in the table
    bool level;       // of models with links and joints; robots can switch among such motions
    bool dynamic;     // it counts momentum, so that a switch can keep it

    // Adds the motion to a group with its part of `config`; ends with mf_motion_join.
    mf_Status (*add)(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error);

    // The system that steps the group. `user` of all four is the motion's plan.
    void (*run)(const mf_SystemRun *run, void *plan);
    void (*reset)(mf_Group *group, uint32_t instance, void *plan);
    void (*refresh)(mf_Group *group, uint32_t instance, void *plan); // or NULL (mayfly/world.h)
    void (*destroy)(mf_Context *context, void *plan);
    const char *const *reads, *const *writes; // fields (mf_SystemConfig)
    bool any_gravity;

    // Forgets paths and what follows from joint angles, after a switch to the motion; NULL: it
    // keeps nothing like that.
    void (*enter)(mf_Group *group, uint32_t instance, void *plan);
    // How the base is held; NULL: it is free.
    mf_ArticulatedBase (*base)(const void *plan);
    // As mf_motion_momentum and mf_motion_energy.
    void (*momentum)(const mf_Group *group, uint32_t instance, double center[3], double linear[3],
                     double angular[3]);
    mf_MotionEnergy (*energy)(const mf_Group *group, uint32_t instance);
} mf_MotionRow;

// NULL: no motion of this library.
const mf_MotionRow *mf_motion_row(mf_Motion motion);

// What every mf_<motion>_add begins with. MF_BAD_ARGUMENT: the group is NULL or moves so already.
mf_Status mf_motion_begin(const mf_Group *group, const mf_MotionRow *row, mf_Error *error);

// Adds the system of `row` to the group, which owns `plan` from now on.
mf_Status mf_motion_join(mf_Group *group, const mf_MotionRow *row, void *plan,
                         uint64_t settings_hash, mf_Error *error);

// The plan by which a group moves, or can, by `row`; NULL: it does not.
void *mf_motion_plan(const mf_Group *group, const mf_MotionRow *row);

// The system of a motion from a plugin, which are numbered in the order of being added; NULL: the
// group has none of that number.
const mf_SystemConfig *mf_motion_own(const mf_Group *group, mf_Motion motion);

// The error of a motion that a group does not have, with those that it has.
mf_Status mf_motion_missing(const mf_Group *group, mf_Motion motion, mf_Error *error);

// ---- rows ---------------------------------------------------------------------------------------

extern const mf_MotionRow mf_kinematic_row, mf_points_row, mf_rigid_row, mf_prescribed_row,
    mf_articulated_row, mf_quadrotor_row, mf_fixed_wing_row, mf_car_row, mf_external_row;

#endif
