// Runs the broad phase over many states, for every copy of broad_kernel.c.
#pragma once

#include "contact/collide.h"
#include "math/kernel.h"

enum { BROAD_FRAME = 12, BROAD_FRAMES = 160 };

// `frames` is [frame][12][count] of the copy's precision, aligned to 64 bytes; count is a multiple
// of 16. `near` is [count][pair_most]: how often the pair is notified for the group of lanes.
// `memory` is what mf_broad_memory says. Returns the lanes of a group, 0: pairs of floating shapes
// were not in the order of their numbers.
typedef struct BroadRun {
    const mf_CollidePlan *plan;
    uint32_t frame_count, count;
    double reach;
    const void *frames;
    uint32_t pair_most;
    unsigned char *near;
    void *memory;
} BroadRun;

MF_KERNEL_COPIES(size_t, mf_broad_memory, (const mf_CollidePlan *plan));

MF_KERNEL_COPIES(uint32_t, mf_broad_run, (const BroadRun *run));
