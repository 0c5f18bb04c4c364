// Mayfly: recurrent networks of neurons that compute in cycles, any neuron connected to any: the
// brains of machines of bars, and controllers of robots of links.
#pragma once

#include <mayfly/world.h>

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
    uint32_t from, to; // [1] neurons, which may be the same one; `from` also an input, see below
    double weight;     // [1]
} mf_Synapse;

// ---- networks as controllers -------------------------------------------------------------------

// As mf_Synapse.from: component k of the input fields of mf_NeuronsConfig, one after the other.
#define MF_NEURON_INPUT(k) (MF_NEURONS_MOST + (k))
#define MF_NEURON_INPUTS_MOST 512u // [1] most components of input fields

typedef struct mf_Brain { // a network and what it drives
    const mf_Neuron *neurons;
    const mf_Synapse *synapses;
    uint32_t neuron_count, synapse_count; // [1]
    const uint32_t *attached;             // [1] per component of the output field the neuron that
                                          // drives it, MF_NONE: none does
    uint32_t attached_count;              // [1] components with an entry; the others: MF_NONE
    const double *lower; // [1] or the output's unit: per component its value where the state is 0
    const double *upper; // [1] where it is 1. NULL: as the output of mf_NetworkConfig
} mf_Brain;

typedef struct mf_NeuronsConfig {
    uint32_t struct_size;      // [byte] set by mf_neurons_config()
    mf_Brain brain;            // of every instance at first; borrowed while it is added
    uint32_t most_neurons;     // [1] space for other brains; less than the first one has: as
                               // many as it has
    uint32_t most_synapses;    // [1] the same
    mf_Time cycle;             // [ns] of a cycle, rounded to whole steps, at least one; 0, the
                               // default: 200 ms
    mf_Time delay;             // [ns] before the first cycle, in whole steps; 0, the default:
                               // none
    double change;             // [m] or the output's unit: most by which a component of the
                               // output changes in a cycle; 0, the default: no limit
    const char *const *inputs; // names of fields of the group's precision, ended by NULL;
                               // NULL, the default: none
    const char *output;        // name of the output field; NULL, the default:
                               // actuator.control of bars, else joint.target
} mf_NeuronsConfig;
// The defaults of mf_NeuronsConfig: every configuration starts from them.
MF_API mf_NeuronsConfig mf_neurons_config(void);

// Controls every instance by its own recurrent network. In the first step of each cycle all neurons
// change at once: from the states x before and the inputs u,
//     x_i' = f_i(bias_i + sum of weight x_from (or u_from) over the synapses to i)
// with f of the neuron's kind; the sum is in the order of the synapses. The driven components of
// the output then go to lower + (upper - lower) x', by at most `change`, in equal parts in the
// steps of the cycle; before the first cycle they stay as they are. Fields: neuron.state and the
// network itself (docs/reference/controllers.md). A sum that is not finite raises MF_FAULT_CONTROL
// for its instance. `config` may be NULL; arrays are copied. MF_NOT_FOUND: a field.
// MF_BAD_ARGUMENT: names the setting. MF_LIMIT: too many.
MF_API mf_Status mf_neurons_add(mf_Group *group, const mf_NeuronsConfig *config, mf_Error *error);

// Gives an instance another brain, at the beginning of a cycle with the states that it begins with.
// MF_LIMIT: the group has no space for it. MF_BAD_ARGUMENT: as mf_neurons_check.
MF_API mf_Status mf_neurons_set(mf_Group *group, uint32_t instance, const mf_Brain *brain,
                                mf_Error *error);
