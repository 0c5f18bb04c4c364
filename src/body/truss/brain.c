// Brains of trusses: their neurons as a controller of their actuators (control/neurons.c), which
// machines that evolve replace.
#include "body/truss/row.h"

#include "base/floats.h"
#include "motion/truss/model.h"

#include <mayfly/machine.h>

typedef struct TrussBrain {
    mf_Brain brain;
    uint32_t *attached; // owns the memory of the three arrays
    double *lower, *upper;
} TrussBrain;

// Closed in any case.
static mf_Status open_brain(mf_Context *context, const mf_Truss *truss, TrussBrain *out,
                            mf_Error *error) {
    *out = (TrussBrain){.attached = NULL};
    mf_Status status = mf_truss_check(truss, error);
    if (status != MF_OK)
        return status;
    const uint32_t count = truss->actuator_count;
    out->attached = mf_allocate(context, count + 1, sizeof *out->attached);
    out->lower = mf_allocate(context, 2 * (size_t)count + 1, sizeof *out->lower);
    if (out->attached == NULL || out->lower == NULL)
        return mf_fail(error, MF_NO_MEMORY, "neurons: out of memory");
    out->upper = out->lower + count;
    for (uint32_t a = 0; a < count; a++) {
        out->attached[a] = truss->actuators[a].neuron;
        out->lower[a] = truss->actuators[a].lower;
        out->upper[a] = truss->actuators[a].upper;
    }
    out->brain = (mf_Brain){.neurons = truss->neurons,
                            .synapses = truss->synapses,
                            .neuron_count = truss->neuron_count,
                            .synapse_count = truss->synapse_count,
                            .attached = out->attached,
                            .attached_count = count,
                            .lower = out->lower,
                            .upper = out->upper};
    return MF_OK;
}

static void close_brain(mf_Context *context, TrussBrain *brain) {
    mf_release(context, brain->attached);
    mf_release(context, brain->lower);
}

mf_Status mf_neurons_add_truss(mf_Group *group, const mf_Truss *truss,
                               const mf_NeuronsConfig *config, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_NeuronsConfig own = *config;
    TrussBrain brain;
    mf_Status status = open_brain(context, truss, &brain, error);
    if (status == MF_OK) {
        own.brain = brain.brain;
        if (own.cycle == 0)
            own.cycle = mf_time_from_seconds(mf_truss_cycle(truss));
        if (own.delay == 0)
            own.delay = mf_time_from_seconds(truss->delay);
        if (own.change == 0.0)
            own.change = mf_truss_change(truss);
        status = mf_neurons_add(group, &own, error);
    }
    close_brain(context, &brain);
    return status;
}

mf_Status mf_neurons_set_truss(mf_Group *group, uint32_t instance, const mf_Truss *truss,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (group == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_neurons_set_truss: group is NULL");
    mf_Context *context = mf_world_context(mf_group_world(group));
    TrussBrain brain;
    mf_Status status = open_brain(context, truss, &brain, error);
    if (status == MF_OK)
        status = mf_neurons_set(group, instance, &brain.brain, error);
    close_brain(context, &brain);
    return status;
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
