// Open-loop oscillators: the interface of host code and kernel.
#pragma once

#include "math/kernel.h"

#include <mayfly/world.h>

// All blocks of a group; data pointers are in field layout and the group's precision.
typedef struct mf_OscillatorBatch {
    uint32_t joint_count; // [1]
    const void *offset, *amplitude, *phase, *frequency;
    void *target;
    const int32_t *fault; // fault.word
} mf_OscillatorBatch;

typedef void (*mf_OscillatorRunFn)(const mf_OscillatorBatch *batch, double seconds, uint32_t first,
                                   uint32_t count);
MF_KERNEL_COPIES(void, mf_oscillator_run,
                 (const mf_OscillatorBatch *batch, double seconds, uint32_t first, uint32_t count));
