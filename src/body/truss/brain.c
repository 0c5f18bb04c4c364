// Brains of trusses: their neurons as a controller of their actuators (control/neurons.c), which
// machines that evolve replace.
#include "body/truss/row.h"

#include "base/floats.h"
#include "base/memory.h"
#include "motion/truss/model.h"

#include <mayfly/machine.h>

// Adds neurons to the group with the brain of the truss, or without `config` gives it to an
// instance.
static mf_Status use_brain(mf_Group *group, const mf_Truss *truss, mf_NeuronsConfig *config,
                           uint32_t instance, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    MF_TRY(mf_truss_check(truss, error));
    const uint32_t count = truss->actuator_count;
    double *lower, *upper;
    uint32_t *attached;
    const mf_Array arrays[] = {MF_ARRAY(lower, count), MF_ARRAY(upper, count),
                               MF_ARRAY(attached, count)};
    MF_NEED_MEMORY(mf_allocate_arrays(context, arrays, 3), error, "neurons");
    for (uint32_t a = 0; a < count; a++) {
        lower[a] = truss->actuators[a].lower;
        upper[a] = truss->actuators[a].upper;
        attached[a] = truss->actuators[a].neuron;
    }
    const mf_Brain brain = {.neurons = truss->neurons,
                            .synapses = truss->synapses,
                            .neuron_count = truss->neuron_count,
                            .synapse_count = truss->synapse_count,
                            .attached = attached,
                            .attached_count = count,
                            .lower = lower,
                            .upper = upper};
    if (config != NULL)
        config->brain = brain;
    const mf_Status status = config != NULL ? mf_neurons_add(group, config, error)
                                            : mf_neurons_set(group, instance, &brain, error);
    mf_release(context, lower);
    return status;
}

mf_Status mf_neurons_add_truss(mf_Group *group, const mf_Truss *truss,
                               const mf_NeuronsConfig *config, mf_Error *error) {
    mf_NeuronsConfig own = *config;
    if (own.cycle == 0)
        own.cycle = mf_time_from_seconds(mf_truss_cycle(truss));
    if (own.delay == 0)
        own.delay = mf_time_from_seconds(truss->delay);
    if (own.change == 0.0)
        own.change = mf_truss_change(truss);
    return use_brain(group, truss, &own, 0, error);
}

mf_Status mf_neurons_set_truss(mf_Group *group, uint32_t instance, const mf_Truss *truss,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    return group != NULL ? use_brain(group, truss, NULL, instance, error)
                         : mf_fail(error, MF_BAD_ARGUMENT, "mf_neurons_set_truss: group is NULL");
}

// The network of a machine has space for that of any genome.
mf_Status mf_truss_control(const mf_SceneGroup *from, mf_Group *group, mf_Error *error) {
    const mf_Truss *truss = from->body, machine = mf_machine_placeholder(&from->machine);
    mf_NeuronsConfig config = mf_neurons_config();
    if (from->controller == MF_CONTROLLER_MACHINE) {
        truss = &machine;
        config.most_neurons = MF_MACHINE_NEURONS;
        config.most_synapses = MF_MACHINE_SYNAPSES;
    } else if (truss->neuron_count == 0) {
        return MF_OK;
    }
    return mf_neurons_add_truss(group, truss, &config, error);
}
