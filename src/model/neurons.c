// Networks of neurons: what is one.
#include "model/neurons.h"
#include "base/floats.h"
#include "math/scalar.h"

static mf_Status check_neuron(const mf_Neuron *neuron, uint32_t index, mf_Error *error) {
    MF_NEED(neuron->kind == MF_NEURON_SIGMOID || neuron->kind == MF_NEURON_THRESHOLD, error,
            "neurons[%u].kind: %d, need sigmoid or threshold", index, (int)neuron->kind);
    MF_NEED(mf_between(neuron->bias, -1e6, 1e6), error, "neurons[%u].bias: %g, need -1e6 .. 1e6",
            index, neuron->bias);
    MF_NEED(mf_between(neuron->state, 0.0, 1.0), error, "neurons[%u].state: %g, need 0 .. 1", index,
            neuron->state);
    return MF_OK;
}

static mf_Status check_synapse(const mf_Synapse *synapses, uint32_t index, uint32_t neurons,
                               uint32_t inputs, mf_Error *error) {
    const mf_Synapse *synapse = &synapses[index];
    const bool is_input = synapse->from >= MF_NEURON_INPUT(0);
    if (is_input && synapse->from - MF_NEURON_INPUT(0) >= inputs)
        return mf_fail(error, MF_BAD_ARGUMENT, "synapses[%u].from: no input %u, there are %u",
                       index, synapse->from - MF_NEURON_INPUT(0), inputs);
    if (!is_input && synapse->from >= neurons)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "synapses[%u].from: no neuron %u, the network has %u", index, synapse->from,
                       neurons);
    if (synapse->to >= neurons)
        return mf_fail(error, MF_BAD_ARGUMENT, "synapses[%u].to: no neuron %u, the network has %u",
                       index, synapse->to, neurons);
    MF_NEED(mf_between(synapse->weight, -1e6, 1e6), error,
            "synapses[%u].weight: %g, need -1e6 .. 1e6", index, synapse->weight);
    for (uint32_t other = 0; other < index; other++) {
        if (synapses[other].from == synapse->from && synapses[other].to == synapse->to)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "synapses[%u].from: synapses[%u] goes from %u to %u already", index,
                           other, synapse->from, synapse->to);
    }
    return MF_OK;
}

mf_Status mf_neurons_check(const mf_Neuron *neurons, uint32_t neuron_count,
                           const mf_Synapse *synapses, uint32_t synapse_count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_Brain brain = {.neurons = neurons,
                            .synapses = synapses,
                            .neuron_count = neuron_count,
                            .synapse_count = synapse_count};
    return mf_neurons_check_inputs(&brain, 0, error);
}

mf_Status mf_neurons_check_inputs(const mf_Brain *brain, uint32_t inputs, mf_Error *error) {
    const mf_Neuron *neurons = brain->neurons;
    const mf_Synapse *synapses = brain->synapses;
    const uint32_t neuron_count = brain->neuron_count, synapse_count = brain->synapse_count;
    if (neuron_count > MF_NEURONS_MOST)
        return mf_fail(error, MF_LIMIT, "neurons: %u, at most %u", neuron_count, MF_NEURONS_MOST);
    MF_CHECK(synapse_count <= MF_SYNAPSES_MOST, error, MF_LIMIT, "synapses: %u, at most %u",
             synapse_count, MF_SYNAPSES_MOST);
    if ((neuron_count > 0 && neurons == NULL) || (synapse_count > 0 && synapses == NULL))
        return mf_fail(error, MF_BAD_ARGUMENT, "neurons, synapses: NULL with a count");
    for (uint32_t i = 0; i < neuron_count; i++)
        MF_TRY(check_neuron(&neurons[i], i, error));
    for (uint32_t i = 0; i < synapse_count; i++)
        MF_TRY(check_synapse(synapses, i, neuron_count, inputs, error));
    return MF_OK;
}
