// Runs the broad phase over many states, for every copy of broad_kernel.c.
#pragma once

#include "contact/collide.h"
#include "math/kernel.h"

enum { BROAD_FRAME = 12, BROAD_FRAMES = 32, BROAD_NODES = 128, BROAD_PAIRS = 2048 };

// `frames` is [frame][12][count] of the copy's precision, aligned to 64 bytes; count is a multiple
// of 16. `near` is [count][pair]: how often the pair is notified for the group of lanes. Returns
// the lanes of a group.
typedef struct BroadRun {
    const mf_CollidePlan *plan;
    uint32_t frame_count, count;
    double reach;
    const void *frames;
    unsigned char *near;
} BroadRun;

MF_KERNEL_COPIES(uint32_t, mf_broad_run, (const BroadRun *run));
