// Neural networks as controllers: the interface of host code and kernel.
#pragma once

#include "base/flat.h"
#include "math/kernel.h"

#include <mayfly/control.h>

enum { MF_NETWORK_INPUTS = 16 }; // most input fields of a network

// A flat image, frozen before the first tick.
typedef struct mf_NetworkPlan {
    uint32_t bytes;
    uint32_t input_count;                   // [1] fields
    uint32_t components[MF_NETWORK_INPUTS]; // [1] of each
    uint32_t layers;                        // [1] number of layers
    uint32_t sizes[MF_NETWORK_HIDDEN + 2];  // [1] units of each layer, inputs first
    uint32_t weight_count;                  // [1] components of the weights
    uint32_t most;                          // [1] units of the largest layer
    MF_FLAT_ARRAY(middle);                  // per unit of the last layer
    MF_FLAT_ARRAY(half);
} mf_NetworkPlan;
MF_FLAT_READER(mf_NetworkPlan, mf_network_plan, double, middle)
MF_FLAT_READER(mf_NetworkPlan, mf_network_plan, double, half)

// All blocks of a group; data pointers are in field layout and the group's precision.
typedef struct mf_NetworkBatch {
    const mf_NetworkPlan *plan;
    const void *input[MF_NETWORK_INPUTS];
    const void *weight;
    void *output;
    const int32_t *fault; // fault.word
} mf_NetworkBatch;

// `scratch` has space for two layers of a block, 2 * most * MF_BLOCK values of the group's
// precision, aligned to 64 bytes.
typedef void (*mf_NetworkRunFn)(const mf_NetworkBatch *batch, uint32_t first, uint32_t count,
                                void *scratch);
MF_KERNEL_COPIES(void, mf_network_run,
                 (const mf_NetworkBatch *batch, uint32_t first, uint32_t count, void *scratch));

// Number of components of network.weight for layers of these sizes, inputs first: sum of (size[k] +
// 1) * size[k + 1].
uint64_t mf_network_weight_count(const uint32_t *sizes, uint32_t count); // [1]
