// How robots of a group answer to wrenches on their links where nothing holds them: the response of
// the tree's mass matrix, without contacts, limits, servos and damping. All of these only take from
// it, so it bounds the response within a step from above.
#pragma once

#include "base/scratch.h"
#include "multibody/tree.h"

#include <mayfly/motion.h>

typedef struct mf_FreeResponse {
    mf_Group *group;
    const mf_Field *level; // motion.level, or NULL: all by `motion` (mf_free_response_note_motions)
    mf_Motion motion;
    mf_Tree *tree;
    mf_TreeFields fields;
    mf_TreeQueryFn kernel;
    uint32_t lanes;      // [1] that it works on at once
    mf_Scratch *scratch; // of the kernel
    double *twists;      // 6 per degree of freedom, of each robot
    double *factors;     // the tree's entries, of each robot: L^T D L
} mf_FreeResponse;

// After the motions of the group were added. MF_NO_MEMORY. Released with mf_free_response_destroy.
mf_Status mf_free_response_create(mf_Group *group, mf_FreeResponse **out, mf_Error *error);
void mf_free_response_destroy(mf_Context *context, mf_FreeResponse *free); // NULL is fine

// Looks up how robots of the group move: names are not searched in each step.
void mf_free_response_note_motions(mf_FreeResponse *free);

// Degrees of freedom of a robot that answer: those of the tree under `articulated`, else at most
// the six of the base, the joints standing still.
uint32_t mf_free_response_dofs(const mf_FreeResponse *free, uint32_t instance);
// Prepares robots `instances` of one block.
void mf_free_response_prepare(const mf_FreeResponse *free, uint32_t block,
                              const uint32_t *instances, uint32_t count);
// A row over the twist (velocity, rate) of a link at `point` [m], world frame, as one over the
// degrees of freedom, and what they do [1/s] under a unit of it [N] or [N m] for a second.
void mf_free_response_row(const mf_FreeResponse *free, uint32_t instance, uint32_t link,
                          const double point[3], const double row[6], double *jacobian,
                          double *response);
