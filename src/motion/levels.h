// The motions as one table: what the layer that lets robots change between them asks of each.
#ifndef MF_MOTION_LEVELS_H
#define MF_MOTION_LEVELS_H

#include <mayfly/motion.h>

typedef struct mf_Level {
    // Adds the motion with its part of `config`.
    mf_Status (*add)(mf_Group *group, const mf_MotionsConfig *config, mf_Error *error);
    bool (*is_in)(const mf_Group *group);
    // Forgets paths and what follows from joint angles; NULL: the motion keeps nothing like that.
    void (*refresh)(mf_Group *group, uint32_t instance);
    void (*momentum)(const mf_Group *group, uint32_t instance, double center[3], double linear[3],
                     double angular[3]);
    mf_MotionEnergy (*energy)(const mf_Group *group, uint32_t instance);
} mf_Level;

// NULL: there is none.
const mf_Level *mf_level(mf_Motion motion);

// The system of a motion from a plugin, whose levels are numbered in the order of being added;
// NULL: the group has none of that number.
const mf_SystemConfig *mf_level_own(const mf_Group *group, mf_Motion motion);

// The error of a motion that a group does not have, with those that it has.
mf_Status mf_motion_missing(const mf_Group *group, mf_Motion motion, mf_Error *error);

#endif
