// What acts between two steps of a whole world and may end them: the scripts of a scene.
#pragma once

#include "world/attach.h"

// Begins an object that the world keeps by the name MF_BETWEEN_STEPS.
typedef struct mf_BetweenSteps {
    // Called where the world stands before `most` steps. Returns how many of them follow before it
    // is called again; 0: no more. Called again without a step since, it does not act twice.
    uint64_t (*act)(struct mf_BetweenSteps *own, uint64_t most);
} mf_BetweenSteps;
#define MF_BETWEEN_STEPS "between steps"

// Lets it act already: for a program that itself acts after it and before the step.
static inline void mf_world_prepare_step(const mf_World *world) {
    mf_BetweenSteps *between = mf_world_kept(world, MF_BETWEEN_STEPS);
    if (between != NULL)
        between->act(between, 0);
}
