// How a robot of a file begins: a world as its file wishes, and its pose. The command and
// comparisons of levels both set up by this, so that they show the same.
#ifndef MAYFLY_LADDER_START_H
#define MAYFLY_LADDER_START_H

#include <mayfly/gait.h>
#include <mayfly/motion.h>

#define MF_MODEL_SETTLE 0.5 // [s] that a robot with a gait stands before it walks

typedef struct mf_ModelStart {
    const mf_Model *model;
    mf_Motion motion;
    const mf_Gait *gait;       // that they follow, from its first pose on; NULL: none
    double command[3];         // [m/s], [m/s], [rad/s] forward, left, turn: what it is told
    double settle;             // [s] that they stand before the gait begins
    uint32_t key;              // [1] keyframe, MF_NONE: the start pose
    uint32_t count;            // [1] robots
    uint64_t seed;             // [1]
    bool double_precision;     // else float
    bool instruments;          // with the sensors of the model
    mf_Time step;              // [ns] 0: the file's
    mf_Time control_interval;  // [ns] of gaits and joint paths; 0: about 10 ms in whole steps
    double friction;           // [1] with the ground, NAN: as the model says
    const mf_Terrain *terrain; // NULL: the file's
    // Instead of `motion`, where that is MF_MOTION_OWN; and more controllers. NULL: none.
    mf_Status (*add_motion)(mf_Group *group, const void *user, mf_Error *error);
    mf_Status (*add_controllers)(mf_Group *group, mf_Time interval, const void *user,
                                 mf_Error *error);
    const void *user;
    // Results.
    mf_Terrain *ground; // NULL, or made by mf_model_start; the caller frees it after the world
    double raised;      // [m] that robots were lifted out of the ground, 0: not
} mf_ModelStart;

// Zeros and what cannot be zero.
mf_ModelStart mf_model_start_of(const mf_Model *model, mf_Motion motion);

// Makes a world with the file's step and gravity, ground as the file's (its level plane and
// height fields that touch, mf_terrain_from_model; else at height 0), one group moved with the
// file's integrator, and all robots at their start: a keyframe; with a gait its first pose on the
// ground; the pose of an MJCF where the file has it, lifted out of the ground when it is more than
// 5 mm deep in it; that of a URDF, which has no place, on the ground. What meets no ground is that
// of mf_model_meets_ground. RK4 is taken only where nothing touches: contacts need the implicit
// integrator. Every robot but the first has joint rates of up to 0.1 rad/s or m/s of its own. Then
// they settle. MF_UNSUPPORTED: a motion that the model cannot move by, with the reason and those
// that it can.
mf_Status mf_model_start(mf_Context *context, mf_ModelStart *start, mf_World **out,
                         mf_Error *error);

#endif
