// Networks of neurons, for those who run them.
#pragma once

#include <mayfly/neurons.h>

// As mf_neurons_check, for a network with `inputs` components of input fields.
mf_Status mf_neurons_check_inputs(const mf_Brain *brain, uint32_t inputs, mf_Error *error);

// Whether neurons and synapses can be a network: counts, kinds, finite biases and weights (at most
// 1e6), states 0 .. 1, synapses between neurons that exist, none twice. MF_BAD_ARGUMENT names the
// member that is wrong: "synapses[3].to: ...". MF_LIMIT: more than MF_NEURONS_MOST or
// MF_SYNAPSES_MOST. A list may be NULL where its count is 0.
mf_Status mf_neurons_check(const mf_Neuron *neurons, uint32_t neuron_count,
                           const mf_Synapse *synapses, uint32_t synapse_count, mf_Error *error);
