// Trial steps: the motion of a robot within the next step under given forces on its links. The
// motion of its group computes the step, contacts, servos and limits included; then the block is
// restored to the bit. This gives the response of any motion.
#pragma once

#include "solve/link_motion.h"

#include <mayfly/motion.h>

enum { MF_TRIAL_STEP_FIELDS = 96, MF_TRIAL_STEP_SYSTEMS = 24 };

typedef struct mf_TrialStep {
    mf_Group *group;
    mf_LinkMotions links;
    mf_Field *wrench, *wrench_count; // wrench.link and wrench.count
    const mf_Field *fault;
    mf_Field *word, *steps, *residual; // of warnings, or NULL
    bool wide;                         // fields are double
    bool alone;  // steps draw random numbers of the robot's own: it cannot stand in other lanes
    double mass; // [kg] of the model
    uint32_t field_count, system_count;
    uint32_t seen_fields, seen_systems;     // [1] of the group, when it was filled
    mf_Field *fields[MF_TRIAL_STEP_FIELDS]; // all that the motion reads or writes
    mf_SystemConfig systems[MF_TRIAL_STEP_SYSTEMS];
    size_t bytes;   // [byte] of a saved block
    double *values; // [1] space for the motions of links of a block, outside of steps
    // Who moves by what, as of the last mf_trial_step_note_motions.
    const mf_Field *level; // motion.level, or NULL: all by `motion`
    mf_Motion motion;
} mf_TrialStep;

// How robots of a group take part in trials.
typedef enum mf_TrialStepKind {
    MF_TRIAL_STEP_ANSWERS,    // its motion takes forces on links
    MF_TRIAL_STEP_KINEMATIC,  // they move, or stand, and feel nothing
    MF_TRIAL_STEP_UNPREPARED, // no field for the forces
    MF_TRIAL_STEP_UNSUPPORTED // its motion takes no forces on links
} mf_TrialStepKind;
mf_TrialStepKind mf_trial_step_kind(mf_Group *group);
// Looks up how robots of the group move: names are not searched in each step.
void mf_trial_step_note_motions(mf_TrialStep *trial);
static inline mf_Motion mf_trial_step_motion(const mf_TrialStep *trial, uint32_t instance) {
    return trial->level != NULL ? (mf_Motion)((const uint32_t *)trial->level->data)[instance]
                                : trial->motion;
}
// Whether positions follow the mean velocity of a step, as by Runge-Kutta methods, and not that at
// its end.
bool mf_trial_step_averages(const mf_TrialStep *trial, uint32_t instance);

// Of a group that answers or is kinematic. MF_NO_MEMORY.
mf_Status mf_trial_step_create(mf_Group *group, mf_TrialStep **out, mf_Error *error);
// Whether the group has got fields or systems since, and takes them in: no allocation, but a saved
// block may need more space.
bool mf_trial_step_stale(const mf_TrialStep *trial);
void mf_trial_step_fill(mf_TrialStep *trial);
void mf_trial_step_destroy(mf_Context *context, mf_TrialStep *trial); // NULL is fine

// Robots of a block.
static inline uint32_t mf_trial_step_lanes(const mf_TrialStep *trial, uint32_t block) {
    const uint32_t left = mf_group_count(trial->group) - block * MF_BLOCK;
    return left < MF_BLOCK ? left : MF_BLOCK;
}

// The robot stands still, frozen by a fault.
static inline bool mf_trial_step_frozen(const mf_TrialStep *trial, uint32_t instance) {
    return ((const uint32_t *)trial->fault->data)[instance] != 0;
}

// Copies a block to and from `saved` (trial->bytes).
void mf_trial_step_save(const mf_TrialStep *trial, uint32_t block, void *saved);
void mf_trial_step_restore(const mf_TrialStep *trial, uint32_t block, const void *saved);
// Only the forces on links.
void mf_trial_step_save_pushes(const mf_TrialStep *trial, uint32_t block, void *saved);
void mf_trial_step_restore_wrenches(const mf_TrialStep *trial, uint32_t block, const void *saved);
// Makes the lanes of a block copies of lanes `from` of the saved block.
void mf_trial_step_spread(const mf_TrialStep *trial, uint32_t block, const void *saved,
                          const uint32_t from[MF_BLOCK]);

// Adds a force [N] at `point` [m] and a moment [N m], world frame, to a link of a robot.
void mf_trial_step_apply(const mf_TrialStep *trial, uint32_t instance, uint32_t link,
                         const double point[3], const double force[3], const double moment[3]);

// Counts a step of a warning of a robot, with the largest residual so far; frozen robots have none.
void mf_trial_step_warn(const mf_TrialStep *trial, uint32_t instance, uint32_t bit, uint32_t kind,
                        double residual);

// Steps the first `lanes` lanes of a block, whether or not the group has so many robots there.
void mf_trial_step_run(const mf_TrialStep *trial, const mf_SystemRun *step, uint32_t block,
                       uint32_t lanes);
