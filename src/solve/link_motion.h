// How links of robots move, for joints: the links of a block of robots by the tree's kernel, in
// double.
#pragma once

#include <mayfly/dynamics.h>
#include "multibody/tree.h"

// Takes `count` rows of a block from the memory.
static inline double *mf_take_rows(double **memory, size_t count) {
    double *rows = *memory;
    *memory += count * MF_BLOCK;
    return rows;
}

typedef struct mf_LinkMotion { // world frame
    double position[3];        // [m] of the link's origin
    double orientation[4];     // [1] link to world
    double velocity[3];        // [m/s] of the origin
    double rate[3];            // [rad/s]
} mf_LinkMotion;

// The tree of a group's model with the base and the armatures that its motion gives it. The caller
// releases it. MF_NO_MEMORY.
mf_Status mf_group_make_tree(mf_Group *group, mf_Tree **out, mf_Error *error);

// The links of a group.
typedef struct mf_LinkMotions {
    mf_Tree *tree;
    mf_TreeFields fields;
    mf_TreeMotionFn kernel;
    uint32_t lanes; // [1] that it works on at once
} mf_LinkMotions;

// Which links of which robots of a block.
typedef struct mf_LinkChoice {
    const uint32_t *links; // [1] as in mf_TreeMotion; NULL: all
    uint32_t count;        // [1]
    uint32_t first, end;   // [1] lanes
} mf_LinkChoice;

// MF_NO_MEMORY. Released with mf_link_motions_release, also where it was never created but zero.
mf_Status mf_link_motions_create(mf_LinkMotions *out, mf_Group *group, mf_Error *error);
void mf_link_motions_release(mf_Context *context, mf_LinkMotions *motions);

// [1] doubles, aligned to 64 bytes, that the motions of a block take.
size_t mf_link_motions_size(const mf_LinkMotions *motions);
// Computes motions of links of a block from its fields.
void mf_link_motions_find(const mf_LinkMotions *motions, uint32_t block,
                          const mf_LinkChoice *choice, double *values);

// One of them. `still`: of a robot that does not move, whatever its fields say.
void mf_link_motion(mf_LinkMotion *out, const double *values, uint32_t lane, uint32_t link,
                    bool still);

// One of a robot from its fields; `values` is space for the motions of a block.
void mf_link_motion_read(mf_LinkMotion *out, const mf_LinkMotions *motions, uint32_t instance,
                         uint32_t link, double *values);

// A frame of the world, at rest.
mf_LinkMotion mf_link_motion_world(void);

// Where a point of the link [m] (link's axes) is in the world, and its velocity; either may be
// NULL.
void mf_link_point(const mf_LinkMotion *motion, const double point[3], double position[3],
                   double velocity[3]);

// The first value of a joint in a velocity vector; MF_NONE when it has none.
uint32_t mf_group_velocity_address(const mf_Group *group, uint32_t joint);
