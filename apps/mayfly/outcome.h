// Results of the robots of a run: distances, final tilt, falls, penetration, and names of their
// faults.
#pragma once

#include "app.h"
#include "evaluate/robot_pose.h"

// During a run.
typedef struct mf_Outcome {
    mf_Context *context;
    mf_Group *group;
    uint32_t count;
    double (*start)[3]; // [m] position of each base at the start
    double (*up)[3];    // [1] the vertical at the start, in each base's frame
    bool *fell;         // tilted more than 1 rad from its start
    double *tilt;       // [rad] of the last sample, from the vertical of the start
    double *distance;   // [m] horizontally from the start, at the last sample
    uint32_t left;      // [1] robots outside of the map, at the last sample
    double deepest;     // [m] of the first robots in the ground, >= 0
    double tall;        // [m] of the first robot at the start, from its lowest to its highest point
    mf_RobotPose pose;
} mf_Outcome;

mf_Status mf_outcome_begin(mf_Context *context, mf_Group *group, mf_Outcome *out, mf_Error *error);
void mf_outcome_end(mf_Outcome *outcome);
// Robots with a fault keep their values. `outcome` is an mf_Outcome.
void mf_outcome_sample(void *outcome);
// Number of robots evaluated: after a stop request only the first few thousand, so that the user
// does not wait.
uint32_t mf_outcome_requested(const mf_Group *group);

// Whether the ground did not carry a robot: it was in it by a quarter of its height.
bool mf_outcome_sank(const mf_Outcome *outcome);

// Over the robots without a fault, or all when there are none.
typedef struct mf_OutcomeSum {
    double distance;         // [m] mean
    double farthest;         // [m]
    uint32_t farthest_robot; // [1]
    double tilt;             // [rad] mean
    uint32_t falls;          // [1] robots that fell, with or without a fault
} mf_OutcomeSum;
mf_OutcomeSum mf_outcome_sum(const mf_Outcome *outcome);

// "nonfinite, range" for the bits of a fault word.
#define MF_FAULT_TEXT 120
const char *mf_fault_text(uint32_t word, char out[MF_FAULT_TEXT]);
// ": 2 nonfinite, 1 range" over all robots, "" without faults.
const char *mf_fault_summary(const mf_Group *group, char out[MF_FAULT_TEXT]);
// {"nonfinite": 2, "range": 1}
json_t *mf_fault_pack(const mf_Group *group);
