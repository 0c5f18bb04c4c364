// Recurrent networks in cycles: the interface of host code and kernel.
#pragma once

#include "math/kernel.h"

#include <mayfly/neurons.h>

enum { MF_NEURON_FIELDS = 16 }; // most input fields

// All blocks of a group; data pointers are in field layout, numbers in the group's precision.
typedef struct mf_NeuronsBatch {
    uint32_t neurons, synapses; // [1] capacity
    uint32_t inputs, outputs;   // [1] components
    uint32_t input_fields;      // [1]
    uint32_t components[MF_NEURON_FIELDS];
    const void *input[MF_NEURON_FIELDS];
    uint32_t frames; // [1] of a cycle
    uint32_t delay;  // [1] steps before the first cycle
    double change;   // of an output in a cycle
    const uint32_t *counts, *kind, *from, *to, *attached;
    const void *bias, *weight, *range;
    uint32_t *frame; // [1] into the cycle; as int32_t < 0: steps to the first one
    void *state, *goal, *output;
    uint32_t *fault;
} mf_NeuronsBatch;

enum { MF_NEURON_NEURONS, MF_NEURON_SYNAPSES, MF_NEURON_COUNTS };

// Working memory of some lanes: states and inputs, then sums.
static inline uint32_t mf_neurons_slots(const mf_NeuronsBatch *batch) { // [1] values per lane
    return 2 * batch->neurons + batch->inputs;
}

// `scratch` has mf_neurons_slots() * MF_BLOCK values of the group's precision, aligned to 64 bytes.
typedef void (*mf_NeuronsRunFn)(const mf_NeuronsBatch *batch, uint32_t first, uint32_t count,
                                void *scratch);
MF_KERNEL_COPIES(void, mf_neurons_run,
                 (const mf_NeuronsBatch *batch, uint32_t first, uint32_t count, void *scratch));
