// The system of the world that steps the cloths of shared groups.
#ifndef MF_SOLVE_CLOTHS_H
#define MF_SOLVE_CLOTHS_H

#include "contact/compound.h"
#include "solve/link_motion.h"
#include "motion/cloth/motion.h"

enum { MF_CLOTHS_GROUPS = 64 }; // [1] most groups of cloths, and of robots

typedef struct mf_ClothRobots { // a group that cloths meet
    mf_Group *group;
    uint32_t number; // [1] of the world's groups
    mf_Compound *compound;
    const mf_Field *position, *fault;
    mf_Field *wrench, *wrench_count; // NULL: they are not pushed
    mf_LinkMotions motions;
    double *values; // per block: how its links move
    size_t stride;  // [1] of them
    double **faces; // per solid: of a hull, as in mf_ClothObstacle
    uint32_t *face_counts;
} mf_ClothRobots;

typedef struct mf_ClothOwner { // of an obstacle
    uint32_t robots, instance, link;
} mf_ClothOwner;

typedef struct mf_Cloths {
    mf_Context *context;
    double step;                       // [s]
    bool clears;                       // no collisions clear the wrenches
    uint32_t cloth_count, robot_count; // [1] groups
    mf_Group *cloth_groups[MF_CLOTHS_GROUPS];
    mf_ClothMotion *cloths[MF_CLOTHS_GROUPS];
    mf_ClothRobots robots[MF_CLOTHS_GROUPS];
    mf_ClothOwner owners[MF_CLOTH_OBSTACLES]; // of those that were found last
} mf_Cloths;

#endif
