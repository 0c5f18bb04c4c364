// The equations of one run-time joint.
#pragma once

#include "solve/link_motion.h"

#include <mayfly/joints.h>

enum { MF_JOINT_ROWS = 6 };

// One joint: configuration and state, as images hold it. Free of gaps between members.
typedef struct mf_JointRecord {
    uint32_t generation; // [1] of the slot; 0: never used
    uint32_t exists, enabled, broken;
    uint32_t kind;
    uint32_t group[2], instance[2], link[2]; // [1] group: MF_NONE is the world
    uint32_t rounds;                         // [1] trial steps with corrected forces
    double position[2][3], orientation[2][4];
    double stiffness, damping, angular_stiffness, angular_damping, time;
    double force_limit, moment_limit;
    double force[3], moment[3]; // [N], [N m] on the second link, world axes
    double residual;            // [1]
    // Of a hinge; behind all others, since hashes hold them only where they are set.
    double lower_angle, upper_angle, motor_rate, motor_torque;
    double torque; // [N m] on the second link about the axis
    // Of a joint between parts of models that join robots (modules/).
    uint32_t part[2]; // [1] number of the robot's part, plus 1; 0: none
    double load[6];   // [N], [N m] force and moment of the last step in the joint's frame
} mf_JointRecord;

// Motor and stops of a hinge in a step: their torque at relative rate w about the axis is, with
// what gives way gamma,
//     clamp(-(w + aim) / gamma, -most, most) + max(0, -(w + low) / gamma) + min(0, -(w + high) /
//     gamma)
typedef struct mf_JointDrive {
    bool acts;             // `low` and `high` as mf_joint_now has set them last, or to first order
    double most;           // [N m]
    double aim, low, high; // [rad/s]
} mf_JointDrive;

typedef struct mf_JointSideNow {
    mf_LinkMotion motion;
    double point[3];       // [m] what the joint pushes, link's axes
    double begin[3];       // [m] from the link's origin to it where the step began, world axes
    double rotation_share; // [1] how much of the step's rotation counts for its velocity
                           // (joint_rows.c)
} mf_JointSideNow;

// A joint in a step. Rows: three along the world's axes, then those against torsion.
typedef struct mf_JointNode {
    mf_JointRecord *record;
    uint32_t rows;     // [1] 3 .. 6
    double axes[3][3]; // [1] directions of rows 3 .. 5, world axes
    double point[3];   // [m] where it pushes, world frame
    mf_JointSideNow sides[2];
    double gamma[MF_JOINT_ROWS];     // [(m/s)/N] what gives way; 0: it is stiff
    double beta[MF_JOINT_ROWS];      // [1/s] how fast an opening closes
    double alpha[MF_JOINT_ROWS];     // [1] 1 - beta h
    double opening, angular_opening; // [m], [rad] where the step began
    double step;                     // [s]
    double gaps[2];                  // [rad] to both stops where the step began; < 0: beyond
    mf_JointDrive drive;             // row 5, if it acts
} mf_JointNode;

// Where the joint's frame of a side is.
void mf_joint_frame(const mf_JointRecord *record, uint32_t side, const mf_LinkMotion *motion,
                    double position[3], double orientation[4]);
// The opening [m] and the turning [rad] of the second frame against the first, world axes. Of a
// ball the turning is 0, of a hinge that between the axes.
void mf_joint_error(const mf_JointRecord *record, const mf_LinkMotion motions[2], double opening[3],
                    double rotation_vector[3]);
// Angle [rad] and rate [rad/s] of a hinge.
void mf_joint_angle(const mf_JointRecord *record, const mf_LinkMotion motions[2], double *angle,
                    double *rate);
// Whether a hinge has stops; and whether it has stops or a motor.
bool mf_joint_has_stops(const mf_JointRecord *record);
bool mf_joint_has_drive(const mf_JointRecord *record);
// Sets up a joint for a step of `step` [s] from the present motion of its sides.
void mf_joint_begin(double step, mf_JointNode *node);
// What vanishes at the end of a step but for gamma f, from how both sides move then:
// beta x + alpha v. Row 5 of a hinge with a drive: the rate about the axis.
void mf_joint_now(mf_JointNode *node, double rows[MF_JOINT_ROWS]);
// The relative velocities [m/s], [rad/s] that the rows ask for, to first order in the step, where
// both sides move like that at its beginning.
void mf_joint_closing(const mf_JointNode *node, const mf_LinkMotion motions[2],
                      double rows[MF_JOINT_ROWS]);
// Torque of motor and stops at relative rate `rate` [rad/s], and its negative derivative. `slope`
// may be NULL.
double mf_joint_drive(const mf_JointDrive *drive, double gamma, double rate, double *slope);
// [rad/s] How far `torque` is from what the law says, where a torque changes the rate by `gives`
// [(rad/s)/(N m)].
double mf_joint_drive_residual(const mf_JointDrive *drive, double gamma, double gives, double rate,
                               double torque);
// Forces of the rows as force and moment about the point, world axes.
void mf_joint_wrench(const mf_JointNode *node, const double rows[MF_JOINT_ROWS], double force[3],
                     double moment[3]);
void mf_joint_rows_of(const mf_JointNode *node, const double force[3], const double moment[3],
                      double rows[MF_JOINT_ROWS]);
