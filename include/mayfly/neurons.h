// Mayfly: recurrent networks of neurons that compute in cycles, any neuron connected to any: the
// brains of machines of bars, and controllers of robots of links.
#ifndef MAYFLY_NEURONS_H
#define MAYFLY_NEURONS_H

#include <mayfly/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MF_NEURONS_MOST 1024u  // [1] most neurons of a network
#define MF_SYNAPSES_MOST 4096u // [1] most synapses of a network

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

// Whether neurons and synapses can be a network: counts, kinds, finite biases and weights (at most
// 1e6), states 0 .. 1, synapses between neurons that exist, none twice. MF_BAD_ARGUMENT names the
// member that is wrong: "synapses[3].to: ...". MF_LIMIT: more than MF_NEURONS_MOST or
// MF_SYNAPSES_MOST. A list may be NULL where its count is 0.
MF_API mf_Status mf_neurons_check(const mf_Neuron *neurons, uint32_t neuron_count,
                                  const mf_Synapse *synapses, uint32_t synapse_count,
                                  mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
