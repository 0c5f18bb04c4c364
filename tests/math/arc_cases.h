// Input of the kernel of test_arc.c: arrays in the kernel's precision, aligned to 64 bytes, with a
// length that is a multiple of 16.
#pragma once

#include "math/kernel.h"

typedef struct mf_ArcBatch {
    uint32_t count;      // [1]
    const void *a, *b;   // arguments; a is also the angle [rad] of sine and cosine
    void *atan;          // [rad] of a / b
    void *sine, *cosine; // [1] of a
} mf_ArcBatch;

MF_KERNEL_COPIES(void, mf_arc_run, (const mf_ArcBatch *batch));
