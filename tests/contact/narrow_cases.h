// Runs the narrow phase over many states, for every copy of narrow_kernel.c.
#pragma once

#include "contact/collide.h"
#include "math/kernel.h"

// Rows of a contact: exists (1 or 0), point, normal, depth.
enum { NARROW_ROWS = 8, NARROW_FRAME = 12 };

// Arrays are [frame][12][count] and [contact][NARROW_ROWS][count] of the copy's precision, aligned
// to 64 bytes; count is a multiple of 16.
typedef struct NarrowRun {
    const mf_CollidePlan *plan;
    uint32_t pair, frame_count, count;
    double reach;
    const void *frames;
    void *contacts;
    uint32_t *contact_count; // [count] of the group of lanes
} NarrowRun;

MF_KERNEL_COPIES(void, mf_narrow_run, (const NarrowRun *run));
