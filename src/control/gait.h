// Gaits compiled for a model, as flat images, and what else the host code hands to the kernel.
#pragma once

#include "base/flat.h"
#include "control/leg.h"
#include "math/kernel.h"

// The member that an error refers to, such as "frames.2.angles.left_knee", and the name of a
// missing joint.
typedef struct mf_GaitBlame {
    char path[160];
    const char *missing; // NULL: another error
} mf_GaitBlame;

// A curve with its joint as an index.
typedef struct mf_GaitTone {
    uint32_t target; // [1] row of the plan
    mf_GaitShape shape;
    double offset, amplitude, forward, left, yaw; // [rad] or [m]
    double phase;                                 // [1] revolutions, 0 .. 1
    uint32_t harmonic;                            // [1]
} mf_GaitTone;

// The numbers of a walk, as in mf_GaitWalk.
typedef struct mf_GaitSteps {
    double period, height, lift, sway, double_support, lean, width, offset, arms;
    mf_GaitPath path;
    mf_GaitBalance balance;
} mf_GaitSteps;

// A gait for one model. Arrays are in the order of `joints`, the joints that it moves.
typedef struct mf_GaitPlan {
    uint32_t bytes;
    mf_GaitKind kind;
    double blend;          // [s]
    mf_GaitPace pace;      // zeros for keyframes
    mf_Time period;        // [ns] period, or the time of the last frame
    bool loop;             // keyframes
    uint32_t count;        // [1] joints
    MF_FLAT_ARRAY(joints); // [1] of the model
    MF_FLAT_ARRAY(lower);  // [rad] or [m] range of each
    MF_FLAT_ARRAY(upper);  // [rad] or [m]
    // walk: rows 0 .. 5 are the left leg's joints, 6 .. 11 the right one's
    mf_GaitSteps walk;
    mf_Leg legs[2];        // left, right
    uint32_t shoulders[2]; // [1] rows of the joints, MF_NONE: none
    MF_FLAT_ARRAY(pose);   // [rad] or [m] of each row, 0 for legs
    // waves
    double swing; // [1]
    uint32_t tone_count;
    MF_FLAT_ARRAY(tones); // in order of their targets
    // keyframes: values = c0 + u (c1 + u (c2 + u c3)), u from 0 to 1 in a segment
    uint32_t segment_count; // [1] >= 1
    MF_FLAT_ARRAY(times);   // [ns] segment_count + 1
    MF_FLAT_ARRAY(curves);  // [rad] or [m] segment after segment, row after row, 4 each
} mf_GaitPlan;
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, uint32_t, joints)
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, double, lower)
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, double, upper)
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, double, pose)
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, mf_GaitTone, tones)
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, mf_Time, times)
MF_FLAT_READER(mf_GaitPlan, mf_gait_plan, double, curves)

// The gaits of a group: image after image.
typedef struct mf_GaitSet {
    uint32_t bytes;
    uint32_t count;        // [1]
    MF_FLAT_ARRAY(starts); // [byte] of each plan, from the first one's beginning
    MF_FLAT_ARRAY(plans);
} mf_GaitSet;
MF_FLAT_READER(mf_GaitSet, mf_gait_set, uint32_t, starts)
MF_FLAT_READER(mf_GaitSet, mf_gait_set, char, plans)

static inline const mf_GaitPlan *mf_gait_set_plan(const mf_GaitSet *set, uint32_t gait) {
    const char *plans = mf_gait_set_plans(set);
    return (const mf_GaitPlan *)(const void *)(plans + mf_gait_set_starts(set)[gait]);
}

// A plan and its arrays while they are compiled.
typedef struct mf_GaitDraft {
    mf_GaitPlan plan;
    uint32_t *joints;
    double *lower, *upper, *pose;
    mf_GaitTone *tones;
    mf_Time *times;
    double *curves;
} mf_GaitDraft;

// Compiles `gait` for `model`, or without a model only checks it as far as possible (`out` is then
// empty). On failure nothing remains allocated. `blame` may be NULL.
mf_Status mf_gait_draft(mf_Context *context, const mf_Gait *gait, const mf_Model *model,
                        mf_GaitDraft *out, mf_GaitBlame *blame, mf_Error *error);
void mf_gait_draft_release(mf_Context *context, mf_GaitDraft *draft);

// Packs the plans; the caller frees *out with mf_release. MF_NO_MEMORY, MF_LIMIT: 4 GiB or more.
mf_Status mf_gait_set_create(mf_Context *context, mf_GaitDraft *drafts, uint32_t count,
                             const mf_GaitSet **out, mf_Error *error);

// The parts of a draft that only one kind has; `draft` is released by the caller on failure.
mf_Status mf_gait_draft_frames(mf_Context *context, const mf_GaitKeyframes *keyframes,
                               const mf_Model *model, mf_GaitDraft *draft, mf_GaitBlame *blame,
                               mf_Error *error);
// The movable joint of that name; sets the path in `blame`.
mf_Status mf_gait_find_joint(const mf_Model *model, const char *name, const char *path,
                             uint32_t *out, mf_GaitBlame *blame, mf_Error *error);
// The same for an angle, which must be within the joint's range.
mf_Status mf_gait_find_angle(const mf_Model *model, const mf_GaitAngle *angle, const char *path,
                             uint32_t *out, mf_GaitBlame *blame, mf_Error *error);
// Takes joint `joint` into the draft unless it is there; its row.
uint32_t mf_gait_row(mf_GaitDraft *draft, const mf_Model *model, uint32_t joint);

// The joint on the other side and the factor of its angle: +1 or -1. False when there is none.
bool mf_gait_mirror(const mf_Model *model, uint32_t joint, uint32_t *other, double *factor);

// All blocks of a group; data pointers are in field layout and the group's precision.
typedef struct mf_GaitBatch {
    const mf_GaitSet *set;
    uint32_t joint_count;           // [1] of the model
    mf_Rate rate;                   // [1/s]
    uint64_t tick_time, tick_rest;  // [ns] of a tick, and [ns / rate.numerator] of what it leaves
    double interval;                // [s] between ticks
    const uint32_t *select;         // gait.select
    const void *command;            // gait.command
    const void *angular_velocity;   // base.angular_velocity, NULL: no gyroscope
    uint32_t *active, *tick, *done; // gait.active, gait.tick, gait.done
    void *time;                     // gait.time
    void *pace;                     // gait.pace: smoothed commands and activity
    void *tilt;                     // gait.tilt
    void *from;                     // gait.from
    void *target;                   // joint.target
    const uint32_t *fault;          // fault.word
} mf_GaitBatch;

typedef void (*mf_GaitRunFn)(const mf_GaitBatch *batch, uint32_t first, uint32_t count);
MF_KERNEL_COPIES(void, mf_gait_run, (const mf_GaitBatch *batch, uint32_t first, uint32_t count));

// "walk", "waves", "keyframes".
const char *mf_gait_kind_name(mf_GaitKind kind);

// All checks of mf_gaits_add, without a group.
mf_Status mf_gait_check(const mf_Gait *gait, const mf_Model *model, mf_Error *error);

// [s] one period, or from 0 to the last frame.
double mf_gait_duration(const mf_Gait *gait);
