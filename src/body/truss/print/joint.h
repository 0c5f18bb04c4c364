// How the bars of a truss are joined: which bar carries the hub of a vertex, where the sockets are,
// and how much of each bar its joints take.
#pragma once

#include "math/scalar.h"

#include <mayfly/print.h>

typedef enum mf_EndKind {
    MF_END_FOOT, // round: no other bar is there
    MF_END_BALL, // in a socket of another bar
    MF_END_HUB   // carries the sockets of the others
} mf_EndKind;

typedef struct mf_BarEnd {
    mf_EndKind kind;
    double ball;   // [m] of a ball's center from the vertex, along the bar
    double start;  // [m] from the vertex, from where on the bar has its full radius
    double radius; // [m] full: of the bar, or of an actuator's seat
} mf_BarEnd;

// A vertex where bars meet. With two bars the ball is in the vertex itself, where their angle
// allows.
typedef struct mf_VertexJoint {
    uint32_t count, host; // [1] bars there; the one with the hub
    bool central;         // the ball is in the vertex
    double radius;        // [m] of the hub's sphere
    double offset;        // [m] of the sockets' centers from the vertex
    double angle;         // [rad] least between two bars
    uint32_t pair[2];     // [1] these bars
} mf_VertexJoint;

typedef struct mf_JointPlan {
    mf_Context *context;
    const mf_Truss *truss;
    const mf_PrintConfig *config;
    mf_VertexJoint *joints; // per vertex
    mf_BarEnd *ends;        // 2 per bar
    uint32_t *actuators;    // [1] per bar, MF_NONE
    uint32_t *first, *bars; // [1] bars at vertex v: bars[first[v] .. first[v + 1] - 1]
    double ball, neck;      // [m] radii
    double cavity, shell;   // [m] radii of a socket inside and outside
    double arm;             // [m] radius of what carries a socket
    double lip;             // [rad] from a socket's axis to its edge
} mf_JointPlan;

// On failure nothing is left to be freed. The truss and the settings are borrowed.
mf_Status mf_joint_plan(mf_Context *context, const mf_Truss *truss, const mf_PrintConfig *config,
                        mf_JointPlan *out, mf_Error *error);
void mf_joint_plan_free(mf_JointPlan *plan);

// Direction [1] of a bar away from one of its ends (0 or 1).
void mf_bar_direction(double out[3], const mf_JointPlan *plan, uint32_t bar, uint32_t end);
// 0 or 1: which end of the bar is at the vertex.
uint32_t mf_bar_end_at(const mf_JointPlan *plan, uint32_t bar, uint32_t vertex);
// [m] between the vertices as printed: without force; of an actuated bar at its shortest.
double mf_bar_length(const mf_JointPlan *plan, uint32_t bar);
// [m] of what an actuated bar has between its full radii at its shortest: bottoms, body and rod.
double mf_actuator_length(const mf_PrintConfig *config);

// The third side of a right triangle.
static inline double mf_side_of(double hypotenuse, double other) {
    return mf_sqrt(hypotenuse * hypotenuse - other * other);
}
