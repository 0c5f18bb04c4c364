// The equations of one run-time joint.
#ifndef MF_DYNAMICS_JOINT_ROWS_H
#define MF_DYNAMICS_JOINT_ROWS_H

#include "dynamics/link_motion.h"

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
    double stiffness, damping, turning_stiffness, turning_damping, time;
    double force_limit, moment_limit;
    double force[3], moment[3]; // [N], [N m] on the second link, world axes
    double residual;            // [1]
} mf_JointRecord;

typedef struct mf_JointSideNow {
    mf_LinkMotion motion;
    double point[3]; // [m] what the joint pushes, link's axes
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
// Sets up a joint for a step of `step` [s] from the present motion of its sides.
void mf_joint_begin(double step, mf_JointNode *node);
// What vanishes at the end of a step but for gamma f, from how both sides move then:
// beta x + alpha v.
void mf_joint_now(const mf_JointNode *node, double rows[MF_JOINT_ROWS]);
// Forces of the rows as force and moment about the point, world axes.
void mf_joint_wrench(const mf_JointNode *node, const double rows[MF_JOINT_ROWS], double force[3],
                     double moment[3]);
void mf_joint_rows_of(const mf_JointNode *node, const double force[3], const double moment[3],
                      double rows[MF_JOINT_ROWS]);

#endif
