// Recurrent networks of neurons as controllers (neurons_kernel.c): fields, brains of instances,
// reset. The network of an instance is state, so instances of a group have different ones.
#include "control/neurons.h"
#include "base/floats.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "control/outputs.h"
#include "math/kernel_table.h"
#include "model/neurons.h"
#include "motion/table.h"
#include "world/attach.h"
#include "world/systems.h"

#include <math.h>
#include <string.h>

static const char system_name[] = "neurons";

enum { PER_ONE, PER_NEURON, PER_SYNAPSE, PER_OUTPUT };
enum { STATE = MF_FIELD_STATE, INPUT = MF_FIELD_STATE | MF_FIELD_INPUT };

// The fields: row, how many, type, components of each, flags, name, unit, description.
#define FIELDS(ROW)                                                                                \
    ROW(ROW_COUNTS, PER_ONE, MF_U32, 2, STATE, "neuron.counts", "1", "neurons and synapses")       \
    ROW(ROW_KIND, PER_NEURON, MF_U32, 1, STATE, "neuron.kind", "1", "0: sigmoid, 1: threshold")    \
    ROW(ROW_BIAS, PER_NEURON, MF_REAL, 1, INPUT, "neuron.bias", "1",                               \
        "added to the weighted sum of its inputs")                                                 \
    ROW(ROW_HOME, PER_NEURON, MF_REAL, 1, INPUT, "neuron.home", "1",                               \
        "state before the first cycle")                                                            \
    ROW(ROW_STATE, PER_NEURON, MF_REAL, 1, INPUT, "neuron.state", "1", "of this cycle, 0 .. 1")    \
    ROW(ROW_FROM, PER_SYNAPSE, MF_U32, 1, STATE, "synapse.from", "1",                              \
        "a neuron; numbers from the neuron capacity on are inputs")                                \
    ROW(ROW_TO, PER_SYNAPSE, MF_U32, 1, STATE, "synapse.to", "1", "a neuron")                      \
    ROW(ROW_WEIGHT, PER_SYNAPSE, MF_REAL, 1, INPUT, "synapse.weight", "1",                         \
        "factor of the state of `from` in the sum of `to`")                                        \
    ROW(ROW_ATTACHED, PER_OUTPUT, MF_U32, 1, STATE, "neuron.attached", "1",                        \
        "neuron that drives each component of the output; 4294967295: none")                       \
    ROW(ROW_RANGE, PER_OUTPUT, MF_REAL, 2, INPUT, "neuron.range", "",                              \
        "values of the component where the state is 0 and 1")                                      \
    ROW(ROW_GOAL, PER_OUTPUT, MF_REAL, 1, STATE, "neuron.goal", "",                                \
        "value of the component at the end of the cycle")                                          \
    ROW(ROW_FRAME, PER_ONE, MF_U32, 1, STATE, "neuron.frame", "1",                                 \
        "steps into the cycle; 2^32 - n: n steps before the first one")
#define INDEX(row, ...) row,
#define ENTRY(row, per, type, width, flags, name, unit, text)                                      \
    {per, {name, unit, "", type, MF_FIXED_COUNT, width, flags, text}},
enum { FIELDS(INDEX) ROWS };
static const struct {
    int per;
    mf_FieldInfo info;
} table[ROWS] = {FIELDS(ENTRY)};

typedef struct NeuronsSystem {
    mf_NeuronsBatch batch;
    mf_NeuronsRunFn run;
    mf_Scratch *scratch;
    mf_Field *rows[ROWS];
    const char *output; // owned by the group
    const char *reads[MF_NEURON_FIELDS + ROWS + 2];
    const char *writes[6];
} NeuronsSystem;

mf_NeuronsConfig mf_neurons_config(void) {
    return (mf_NeuronsConfig){.struct_size = sizeof(mf_NeuronsConfig)};
}

// ---- running -----------------------------------------------------------------------------------

static void run_neurons(const mf_SystemRun *run, void *user) {
    const NeuronsSystem *system = user;
    void *scratch = mf_scratch_borrow(system->scratch);
    system->run(&system->batch, run->first_block, run->block_count, scratch);
    mf_scratch_return(system->scratch, scratch);
}

// The states before the first cycle, whose first step comes after the delay.
static void reset_neurons(mf_Group *group, uint32_t instance, void *user) {
    const NeuronsSystem *system = user;
    (void)group;
    for (uint32_t n = 0; n < system->batch.neurons; n++)
        mf_field_set(system->rows[ROW_STATE], instance, n,
                     mf_field_get(system->rows[ROW_HOME], instance, n));
    for (uint32_t k = 0; k < system->batch.outputs; k++)
        mf_field_set(system->rows[ROW_GOAL], instance, k, 0.0);
    mf_field_set(system->rows[ROW_FRAME], instance, 0, (double)(uint32_t)-system->batch.delay);
}

static void destroy_neurons(mf_Context *context, void *user) {
    NeuronsSystem *system = user;
    mf_scratch_destroy(context, system->scratch);
    mf_release(context, system);
}

// ---- the brain of an instance ------------------------------------------------------------------

static NeuronsSystem *find_system(const mf_Group *group) {
    for (uint32_t i = 0; group != NULL && i < mf_group_system_count(group); i++)
        if (mf_group_system(group, i)->run == run_neurons)
            return mf_group_system(group, i)->user;
    return NULL;
}

static mf_Status check_attached(const NeuronsSystem *system, const mf_Brain *brain,
                                mf_Error *error) {
    if (brain->attached_count > system->batch.outputs)
        return mf_fail(error, MF_LIMIT, "neurons.attached: %u, the field %s has %u components",
                       brain->attached_count, system->output, system->batch.outputs);
    if (brain->attached_count > 0 && brain->attached == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "neurons.attached: NULL with a count");
    for (uint32_t k = 0; k < brain->attached_count; k++) {
        const double lower = brain->lower != NULL ? brain->lower[k] : 0.0;
        const double upper = brain->upper != NULL ? brain->upper[k] : 0.0;
        if (brain->attached[k] != MF_NONE && brain->attached[k] >= brain->neuron_count)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "neurons.attached[%u]: no neuron %u, the network has %u", k,
                           brain->attached[k], brain->neuron_count);
        MF_NEED(lower >= -1e30 && lower <= 1e30 && upper >= -1e30 && upper <= 1e30, error,
                "neurons.lower, upper: component %u: %g .. %g, need finite numbers", k, lower,
                upper);
    }
    return MF_OK;
}

static mf_Status check_brain(const NeuronsSystem *system, const mf_Brain *brain, mf_Error *error) {
    MF_TRY(mf_neurons_check_inputs(brain, system->batch.inputs, error));
    MF_CHECK(brain->neuron_count <= system->batch.neurons &&
                 brain->synapse_count <= system->batch.synapses,
             error, MF_LIMIT,
             "neurons: the brain has %u neurons and %u synapses, the group holds at most "
             "%u and %u",
             brain->neuron_count, brain->synapse_count, system->batch.neurons,
             system->batch.synapses);
    return check_attached(system, brain, error);
}

static void clear_rows(const NeuronsSystem *system, uint32_t instance) {
    for (int row = 0; row < ROWS; row++) {
        mf_Field *field = system->rows[row];
        for (uint32_t c = 0; field != NULL && c < field->components; c++)
            mf_field_set(field, instance, c, row == ROW_ATTACHED ? MF_NONE : 0.0);
    }
}

static void write_brain(mf_Group *group, const NeuronsSystem *system, uint32_t instance,
                        const mf_Brain *brain) {
    mf_Field *const *rows = system->rows;
    clear_rows(system, instance);
    mf_field_set(rows[ROW_COUNTS], instance, MF_NEURON_NEURONS, brain->neuron_count);
    mf_field_set(rows[ROW_COUNTS], instance, MF_NEURON_SYNAPSES, brain->synapse_count);
    for (uint32_t n = 0; n < brain->neuron_count; n++) {
        mf_field_set(rows[ROW_KIND], instance, n, brain->neurons[n].kind);
        mf_field_set(rows[ROW_BIAS], instance, n, brain->neurons[n].bias);
        mf_field_set(rows[ROW_HOME], instance, n, brain->neurons[n].state);
    }
    for (uint32_t s = 0; s < brain->synapse_count; s++) {
        const mf_Synapse *synapse = &brain->synapses[s];
        const bool is_input = synapse->from >= MF_NEURON_INPUT(0);
        mf_field_set(rows[ROW_FROM], instance, s,
                     is_input ? synapse->from - MF_NEURON_INPUT(0) + system->batch.neurons
                              : synapse->from);
        mf_field_set(rows[ROW_TO], instance, s, synapse->to);
        mf_field_set(rows[ROW_WEIGHT], instance, s, synapse->weight);
    }
    for (uint32_t k = 0; k < brain->attached_count; k++) {
        double lower, upper;
        mf_control_range(mf_group_model(group), system->output, k, &lower, &upper);
        mf_field_set(rows[ROW_ATTACHED], instance, k, brain->attached[k]);
        mf_field_set(rows[ROW_RANGE], instance, 2 * k,
                     brain->lower != NULL ? brain->lower[k] : lower);
        mf_field_set(rows[ROW_RANGE], instance, 2 * k + 1,
                     brain->upper != NULL ? brain->upper[k] : upper);
    }
    reset_neurons(group, instance, (void *)(uintptr_t)system);
}

mf_Status mf_neurons_set(mf_Group *group, uint32_t instance, const mf_Brain *brain,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const NeuronsSystem *system = find_system(group);
    if (system == NULL || brain == NULL || instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_neurons_set: no brain, or the group has no neurons of instance %u",
                       instance);
    MF_TRY(check_brain(system, brain, error));
    write_brain(group, system, instance, brain);
    return MF_OK;
}

// ---- adding ------------------------------------------------------------------------------------

static mf_Status check(const mf_Group *group, const mf_NeuronsConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error,
            "neurons: start from mf_neurons_config()");
    const mf_Time most = 1000000 * MF_SECOND;
    if (config->cycle < 0 || config->cycle > most || config->delay < 0 || config->delay > most)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "neurons.cycle, delay: %g s, %g s, need 0 .. 1000000",
                       mf_time_to_seconds(config->cycle), mf_time_to_seconds(config->delay));
    MF_NEED(config->change >= 0.0, error, "neurons.change: %g, need 0 or more", config->change);
    MF_CHECK(config->most_neurons <= MF_NEURONS_MOST && config->most_synapses <= MF_SYNAPSES_MOST,
             error, MF_LIMIT, "neurons: capacity %u and %u synapses, at most %u and %u",
             config->most_neurons, config->most_synapses, MF_NEURONS_MOST, MF_SYNAPSES_MOST);
    return mf_attach_check(group, system_name, (mf_Rate){1, 1}, error);
}

static mf_Status add_inputs(mf_Group *group, const char *const *names, NeuronsSystem *system,
                            mf_Error *error) {
    mf_NeuronsBatch *batch = &system->batch;
    for (uint32_t i = 0; names != NULL && names[i] != NULL; i++) {
        mf_Field *field;
        MF_TRY(mf_control_find_field(group, system_name, names[i], &field, error));
        if (i == MF_NEURON_FIELDS || field->components > MF_NEURON_INPUTS_MOST - batch->inputs)
            return mf_fail(error, MF_LIMIT, "neurons: more than %d input fields or %u inputs",
                           MF_NEURON_FIELDS, MF_NEURON_INPUTS_MOST);
        batch->input[i] = field->data;
        batch->components[i] = field->components;
        batch->inputs += field->components;
        batch->input_fields++;
        system->reads[i] = field->info.name;
    }
    return MF_OK;
}

static mf_Status add_output(mf_Group *group, const mf_NeuronsConfig *config, NeuronsSystem *system,
                            mf_Error *error) {
    const char *name = config->output;
    mf_Field *field;
    if (name == NULL)
        name = mf_motion_counts(group) != NULL ? "actuator.control" : "joint.target";
    MF_TRY(mf_control_find_output(group, system_name, name, &field, error));
    system->output = field->info.name;
    system->batch.output = field->data;
    system->batch.outputs = field->components;
    system->batch.change = config->change > 0.0 ? config->change : (double)INFINITY;
    return MF_OK;
}

static uint32_t components_of(const mf_NeuronsBatch *batch, int per) {
    const uint32_t counts[] = {1, batch->neurons, batch->synapses, batch->outputs};
    return counts[per];
}

static mf_Status add_fields(mf_Group *group, NeuronsSystem *system, mf_Error *error) {
    for (int row = 0; row < ROWS; row++) {
        const uint32_t count = components_of(&system->batch, table[row].per);
        if (count > 0)
            MF_TRY(mf_attach_field(group, &table[row].info, count, &system->rows[row], error));
    }
    return MF_OK;
}

static void bind_rows(mf_Group *group, NeuronsSystem *system) {
    mf_NeuronsBatch *batch = &system->batch;
    void *data[ROWS];
    for (int row = 0; row < ROWS; row++)
        data[row] = system->rows[row] != NULL ? system->rows[row]->data : NULL;
    batch->counts = data[ROW_COUNTS];
    batch->kind = data[ROW_KIND];
    batch->from = data[ROW_FROM];
    batch->to = data[ROW_TO];
    batch->attached = data[ROW_ATTACHED];
    batch->bias = data[ROW_BIAS];
    batch->weight = data[ROW_WEIGHT];
    batch->range = data[ROW_RANGE];
    batch->frame = data[ROW_FRAME];
    batch->state = data[ROW_STATE];
    batch->goal = data[ROW_GOAL];
    batch->fault = mf_group_find_field(group, "fault.word")->data;
}

static mf_Status add_system(mf_Group *group, NeuronsSystem *system, mf_Error *error) {
    const mf_NeuronsBatch *batch = &system->batch;
    uint32_t reads = batch->input_fields, writes = 0;
    for (int row = 0; row < ROWS; row++) {
        const bool changes = row == ROW_STATE || row == ROW_GOAL || row == ROW_FRAME;
        if (system->rows[row] != NULL && changes)
            system->writes[writes++] = table[row].info.name;
        else if (system->rows[row] != NULL)
            system->reads[reads++] = table[row].info.name;
    }
    system->writes[writes++] = system->output;
    system->writes[writes++] = "fault.word";
    const uint32_t sizes[] = {batch->neurons, batch->synapses, batch->inputs, batch->frames,
                              batch->delay};
    mf_SystemConfig entry = mf_attach_system(system_name, MF_PHASE_CONTROL, run_neurons, system);
    entry.reset = reset_neurons;
    entry.destroy = destroy_neurons;
    entry.reads = system->reads;
    entry.writes = system->writes;
    entry.settings_hash =
        mf_hash_bytes(mf_hash_doubles(MF_HASH_START, &batch->change, 1), sizes, sizeof sizes);
    return mf_group_add_system(group, &entry, error);
}

// Whole steps of a time, 1 .. 2^30.
static uint32_t steps_of(const mf_Group *group, mf_Time time) {
    const mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    const mf_Time steps = (time + step / 2) / step;
    return steps < 1 ? 1 : steps > 1 << 30 ? 1u << 30 : (uint32_t)steps;
}

static mf_Status fill(mf_Group *group, const mf_NeuronsConfig *config, NeuronsSystem *system,
                      mf_Error *error) {
    static const mf_NeuronsRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_neurons_run);
    const bool precise = mf_group_config_of(group)->double_precision;
    const mf_Brain *brain = &config->brain;
    mf_World *world = mf_group_world(group);
    mf_NeuronsBatch *batch = &system->batch;
    system->run = kernels[mf_kernel_row(mf_world_isa(world))][precise];
    batch->frames = steps_of(group, config->cycle > 0 ? config->cycle : 200 * MF_MILLISECOND);
    batch->delay = config->delay > 0 ? steps_of(group, config->delay) : 0;
    batch->neurons =
        brain->neuron_count > config->most_neurons ? brain->neuron_count : config->most_neurons;
    batch->synapses =
        brain->synapse_count > config->most_synapses ? brain->synapse_count : config->most_synapses;
    MF_TRY(add_inputs(group, config->inputs, system, error));
    MF_TRY(add_output(group, config, system, error));
    MF_TRY(check_brain(system, brain, error));
    MF_TRY(add_fields(group, system, error));
    bind_rows(group, system);
    const size_t real = precise ? sizeof(double) : sizeof(float);
    MF_TRY(mf_scratch_create(mf_world_context(world),
                             ((size_t)mf_neurons_slots(batch) + 1) * MF_BLOCK * real,
                             mf_group_block_count(group), &system->scratch, error));
    return add_system(group, system, error);
}

mf_Status mf_neurons_add(mf_Group *group, const mf_NeuronsConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_neurons_add: group is NULL");
    const mf_NeuronsConfig defaults = mf_neurons_config();
    if (config == NULL)
        config = &defaults;
    MF_TRY(check(group, config, error));
    mf_Context *context = mf_world_context(mf_group_world(group));
    NeuronsSystem *system = mf_allocate(context, 1, sizeof *system);
    MF_NEED_MEMORY(system != NULL, error, "neurons");
    mf_Status status = fill(group, config, system, error);
    if (status != MF_OK) {
        destroy_neurons(context, system);
        return status;
    }
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        write_brain(group, system, i, &config->brain);
    return MF_OK;
}
