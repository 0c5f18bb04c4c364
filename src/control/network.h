// Neural networks as controllers: the interface of host code and kernel.
#ifndef MF_CONTROL_NETWORK_H
#define MF_CONTROL_NETWORK_H

#include "math/kernel.h"

#include <mayfly/control.h>

enum { MF_NETWORK_INPUTS = 16 }; // most input fields of a network

typedef struct mf_NetworkInput {
    const void *data;
    uint32_t components;
} mf_NetworkInput;

// All blocks of a group; data pointers are in field layout and the group's precision.
typedef struct mf_NetworkBatch {
    mf_NetworkInput input[MF_NETWORK_INPUTS];
    uint32_t input_count;
    uint32_t sizes[MF_NETWORK_HIDDEN + 2]; // units of each layer, inputs first
    uint32_t layers;                       // [1] number of layers
    const void *weight;
    uint32_t weight_count; // [1] components of `weight`
    void *output;
    const int32_t *fault; // fault.word
    double middle[MF_NETWORK_UNITS], half[MF_NETWORK_UNITS];
    uint32_t most; // [1] units of the largest layer
} mf_NetworkBatch;

// `scratch` has space for two layers of a block, 2 * most * MF_BLOCK values of the group's
// precision, aligned to 64 bytes.
typedef void (*mf_NetworkRunFn)(const mf_NetworkBatch *batch, uint32_t first, uint32_t count,
                                void *scratch);
MF_KERNEL_COPIES(void, mf_network_run,
                 (const mf_NetworkBatch *batch, uint32_t first, uint32_t count, void *scratch));

#endif
