// Mayfly: recurrent networks of neurons that compute in cycles, any neuron connected to any: the
// brains of machines of bars, and controllers of robots of links.
#ifndef MAYFLY_NEURONS_H
#define MAYFLY_NEURONS_H

#include <mayfly/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_NeuronKind {
    MF_NEURON_SIGMOID,  // 1 / (1 + exp(-sum)): 0 .. 1
    MF_NEURON_THRESHOLD // 1 where the sum is above 0, else 0
} mf_NeuronKind;

typedef struct mf_Neuron {
    mf_NeuronKind kind;
    double bias;  // [1] added to the weighted sum of its inputs
    double state; // [1] 0 .. 1, before the first cycle
} mf_Neuron;

typedef struct mf_Synapse {
    uint32_t from, to; // [1] neurons, which may be the same one
    double weight;     // [1]
} mf_Synapse;

#ifdef __cplusplus
}
#endif
#endif
