// Gaits compiled for a model: the interface of host code and kernel.
#ifndef MF_CONTROL_GAIT_H
#define MF_CONTROL_GAIT_H

#include "math/kernel.h"

#include <mayfly/gait.h>

// The member that an error refers to, such as "frames.2.angles.left_knee", and the name of a
// missing joint.
typedef struct mf_GaitBlame {
    char path[160];
    const char *missing; // NULL: another error
} mf_GaitBlame;

// A curve with its joint as an index.
typedef struct mf_GaitTone {
    uint32_t target; // [1] row of mf_GaitPlan.joints
    mf_GaitShape shape;
    double offset, amplitude, forward, left, turn; // [rad] or [m]
    double phase;                                  // [1] turns, 0 .. 1
    uint32_t harmonic;                             // [1]
} mf_GaitTone;

// A gait for one model. Arrays are in the order of `joints`, the joints that it moves.
typedef struct mf_GaitPlan {
    mf_GaitKind kind;
    double blend;     // [s]
    mf_GaitPace pace; // zeros for keyframes
    mf_Time period;   // [ns] period, or the time of the last frame
    bool loop;        // keyframes
    uint32_t count;   // [1] joints
    uint32_t *joints; // [1] of the model
    double *lower;    // [rad] or [m] range of each
    double *upper;    // [rad] or [m]
    // walk: rows 0 .. 5 are the left leg's joints, 6 .. 11 the right one's
    mf_GaitWalk walk;      // strings and lists not used
    mf_Leg legs[2];        // left, right
    uint32_t shoulders[2]; // [1] rows of the joints, MF_NONE: none
    double *pose;          // [rad] or [m] of each row, 0 for legs
    // waves
    double swing; // [1]
    uint32_t tone_count;
    mf_GaitTone *tones; // in order of their targets
    // keyframes: values = c0 + u (c1 + u (c2 + u c3)), u from 0 to 1 in a segment
    uint32_t segment_count; // [1] >= 1
    mf_Time *times;         // [ns] segment_count + 1
    double *curves;         // [rad] or [m] segment after segment, row after row, 4 each
} mf_GaitPlan;

// Compiles `gait` for `model`, or without a model only checks it as far as possible (`out` is then
// empty). On failure nothing remains allocated. `blame` may be NULL.
mf_Status mf_gait_plan(mf_Context *context, const mf_Gait *gait, const mf_Model *model,
                       mf_GaitPlan *out, mf_GaitBlame *blame, mf_Error *error);
void mf_gait_plan_release(mf_Context *context, mf_GaitPlan *plan);

// The parts for single kinds of gait; on failure the caller releases `plan`.
mf_Status mf_gait_plan_frames(mf_Context *context, const mf_GaitKeyframes *keyframes,
                              const mf_Model *model, mf_GaitPlan *plan, mf_GaitBlame *blame,
                              mf_Error *error);
// The movable joint of that name; sets the path in `blame`.
mf_Status mf_gait_find_joint(const mf_Model *model, const char *name, const char *path,
                             uint32_t *out, mf_GaitBlame *blame, mf_Error *error);
// The same for an angle, which must be within the joint's range.
mf_Status mf_gait_find_angle(const mf_Model *model, const mf_GaitAngle *angle, const char *path,
                             uint32_t *out, mf_GaitBlame *blame, mf_Error *error);
// Adds joint `joint` to the plan if it is missing; returns its row.
uint32_t mf_gait_row(mf_GaitPlan *plan, const mf_Model *model, uint32_t joint);

// The joint on the other side and the factor of its angle: +1 or -1. False when there is none.
bool mf_gait_mirror(const mf_Model *model, uint32_t joint, uint32_t *other, double *factor);

// All blocks of a group; data pointers are in field layout and the group's precision.
typedef struct mf_GaitBatch {
    const mf_GaitPlan *plans;
    uint32_t plan_count;            // [1]
    uint32_t joint_count;           // [1] of the model
    mf_Rate rate;                   // [1/s]
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

#endif
