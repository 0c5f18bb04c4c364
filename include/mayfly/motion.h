// Mayfly: the motions of a robot, from cheap to dear. They share the canonical state (pose and
// velocity of the base, angle and rate of each joint), so a robot can change from one to another
// while it runs. docs/ladder.md says what each can show, and how far they differ.
#ifndef MAYFLY_MOTION_H
#define MAYFLY_MOTION_H

#include <mayfly/articulated.h>
#include <mayfly/kinematic.h>
#include <mayfly/points.h>
#include <mayfly/prescribed.h>
#include <mayfly/rigid.h>
#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_Motion {
    MF_MOTION_KINEMATIC,   // the standing feet stay where they are; no forces
    MF_MOTION_POINTS,      // one rigid body of mass points, feet fitted to the ground
    MF_MOTION_RIGID,       // one rigid body with the mass and inertia of the present angles
    MF_MOTION_PRESCRIBED,  // joints go as they are told, the base answers by full dynamics
    MF_MOTION_ARTICULATED, // full multibody dynamics, joints moved by torques
    MF_MOTION_COUNT,
    MF_MOTION_OWN = 16, // from a shared library (plugin.h), and those after it for further ones
    MF_MOTION_OWN_LAST = 31
} mf_Motion;

// "kinematic", "points", "rigid", "prescribed", "articulated"; "own", "own2" .. "own16".
MF_API const char *mf_motion_name(mf_Motion motion);
// The motion of that name; false when there is none.
MF_API bool mf_motion_find(const char *name, mf_Motion *out);

#ifdef __cplusplus
}
#endif
#endif
