// Legs of six joints: measured from a model, forward and inverse kinematics.
#pragma once

#include <mayfly/gait.h>

// A leg whose joints rotate, from the base on, about z, x, y (hip yaw, roll, pitch), y (knee), y
// and x (ankle pitch, roll) of the base at angle 0, forward or backward. The three hip axes
// intersect in one point, the two ankle axes in another, and thigh and shin lie in a plane of
// constant y.
typedef struct mf_Leg {
    uint32_t joints[MF_LEG_JOINTS]; // [1] of the model: hip yaw, roll, pitch, knee, ankle pitch,
                                    // roll
    double sign[MF_LEG_JOINTS];     // [1] +1 when the axis points forward, left or up, else -1
    double hip[3];                  // [m] intersection of the hip axes, base frame
    double thigh[2];                // [m] from hip to knee at angle 0, forward and up
    double shin[2];                 // [m] from knee to ankle at angle 0, forward and up
} mf_Leg;

// Determines the leg of these joints. MF_BAD_ARGUMENT names the joint that does not fit.
mf_Status mf_leg_find(const mf_Model *model, const uint32_t joints[MF_LEG_JOINTS], mf_Leg *out,
                      mf_Error *error);

// Position [m] of the ankle and rotation (w, x, y, z) of the foot, in the base frame, for angles
// [rad] of the six joints.
void mf_leg_forward(const mf_Leg *leg, const double angles[MF_LEG_JOINTS], double ankle[3],
                    double rotation[4]);

// Angles [rad] for a position [m] of the ankle and a rotation (w, x, y, z) of the foot, in the base
// frame, with the knee pointing forward. In closed form. False if the position is out of reach: the
// angles are then those of the leg stretched (or folded) towards it, and the foot keeps its
// rotation. Finite for every finite input.
bool mf_leg_inverse(const mf_Leg *leg, const double ankle[3], const double rotation[4],
                    double angles[MF_LEG_JOINTS]);
