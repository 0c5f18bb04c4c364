// Inside of policies: shared by their files only.
#pragma once

#include <mayfly/policy.h>

// The view of a robot in a tick.
struct mf_Policy {
    const struct PolicyPlan *plan;
    mf_Group *group;
    uint32_t instance;
    mf_Time time; // [ns]
    bool talks;   // sends and receives messages
    // Of made percepts.
    double space[MF_POLICY_MADE / sizeof(double)];
    size_t used; // [1] doubles of `space`
    void *made[MF_POLICY_FIELDS];
    uint32_t making; // [1] bit i: percept i is being made
};
