// Neural networks as controllers, including linear ones (network_kernel.c).
#include "base/floats.h"
#include "control/network.h"
#include "control/outputs.h"
#include "math/kernel_table.h"
#include "motion/dispatch.h"

#include "math/scalar.h"

#include "world/attach.h"
#include "world/systems.h"

#include <string.h>

static const char system_name[] = "network";

typedef struct NetworkSystem {
    mf_NetworkBatch batch; // owns its plan
    mf_NetworkRunFn run;
    mf_Scratch *scratch;                      // the world's
    const char *reads[MF_NETWORK_INPUTS + 3]; // names, owned by the group
    const char *writes[2];
} NetworkSystem;

// The plan while it is made.
typedef struct Draft {
    mf_NetworkPlan plan;
    double middle[MF_NETWORK_UNITS], half[MF_NETWORK_UNITS];
} Draft;

mf_NetworkConfig mf_network_config(void) {
    return (mf_NetworkConfig){
        .struct_size = sizeof(mf_NetworkConfig), .rate = {50, 1}, .output = "joint.target"};
}

uint64_t mf_network_weight_count(const uint32_t *sizes, uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k + 1 < count; k++)
        sum += ((uint64_t)sizes[k] + 1) * sizes[k + 1];
    return sum;
}

static void run_network(const mf_SystemRun *run, void *user) {
    const NetworkSystem *system = user;
    void *scratch = mf_scratch_borrow(system->scratch);
    system->run(&system->batch, run->first_block, run->block_count, scratch);
    mf_scratch_return(system->scratch, scratch);
}

static void destroy_network(mf_Context *context, void *user) {
    NetworkSystem *system = user;
    mf_release(context, (void *)system->batch.plan);
    mf_release(context, system);
}

// ---- inputs and outputs ------------------------------------------------------------------------

static mf_Status add_input(mf_Group *group, const char *name, NetworkSystem *system,
                           mf_NetworkPlan *plan, mf_Error *error) {
    mf_Field *field;
    MF_TRY(mf_control_find_field(group, system_name, name, &field, error));
    if (plan->input_count == MF_NETWORK_INPUTS)
        return mf_fail(error, MF_LIMIT, "network: more than %d input fields", MF_NETWORK_INPUTS);
    if (field->components > MF_NETWORK_UNITS - plan->sizes[0])
        return mf_fail(error, MF_LIMIT, "network: more than %u inputs, with those of %s",
                       MF_NETWORK_UNITS, name);
    system->reads[plan->input_count] = field->info.name;
    system->batch.input[plan->input_count] = field->data;
    plan->components[plan->input_count++] = field->components;
    plan->sizes[0] += field->components;
    return MF_OK;
}

static mf_Status add_inputs(mf_Group *group, const char *const *names, NetworkSystem *system,
                            mf_NetworkPlan *plan, mf_Error *error) {
    static const char *const defaults[] = {
        "base.orientation", "base.linear_velocity", "base.angular_velocity",
        "joint.angle",      "joint.rate",           NULL};
    if (names == NULL)
        names = defaults;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; names[i] != NULL && status == MF_OK; i++)
        status = add_input(group, names[i], system, plan, error);
    MF_TRY(status);
    MF_NEED(plan->sizes[0] != 0, error, "network: no inputs");
    return MF_OK;
}

static mf_Status set_range(mf_Group *group, const mf_NetworkConfig *config, uint32_t units,
                           Draft *draft, mf_Error *error) {
    for (uint32_t i = 0; i < units; i++) {
        double lower, upper;
        mf_control_range(mf_group_model(group), config->output, i, &lower, &upper);
        lower = config->lower != NULL ? config->lower[i] : lower;
        upper = config->upper != NULL ? config->upper[i] : upper;
        MF_NEED(mf_is_finite(lower) && mf_is_finite(upper) && lower <= upper, error,
                "network: output %u: need a range of two finite numbers, found %g .. %g", i, lower,
                upper);
        draft->middle[i] = 0.5 * lower + 0.5 * upper;
        draft->half[i] = 0.5 * upper - 0.5 * lower;
    }
    return MF_OK;
}

static mf_Status add_output(mf_Group *group, const mf_NetworkConfig *config, NetworkSystem *system,
                            Draft *draft, mf_Error *error) {
    mf_Field *field;
    MF_TRY(mf_control_find_output(group, system_name, config->output, &field, error));
    if (field->components < 1 || field->components > MF_NETWORK_UNITS)
        return mf_fail(error, MF_LIMIT, "network: field %s: %u values, need 1 .. %u",
                       config->output, field->components, MF_NETWORK_UNITS);
    system->writes[0] = field->info.name;
    system->batch.output = field->data;
    draft->plan.sizes[draft->plan.layers++] = field->components;
    return set_range(group, config, field->components, draft, error);
}

static mf_Status add_hidden(const mf_NetworkConfig *config, mf_NetworkPlan *plan, mf_Error *error) {
    plan->layers = 1;
    for (uint32_t k = 0; k < config->hidden_count; k++) {
        if (config->hidden[k] < 1 || config->hidden[k] > MF_NETWORK_UNITS)
            return mf_fail(error, MF_LIMIT, "network: hidden layer %u: %u units, need 1 .. %u", k,
                           config->hidden[k], MF_NETWORK_UNITS);
        plan->sizes[plan->layers++] = config->hidden[k];
    }
    return MF_OK;
}

static mf_Status add_weights(mf_Group *group, mf_NetworkPlan *plan, mf_NetworkBatch *batch,
                             mf_Error *error) {
    static const mf_FieldInfo info = MF_FIELD_INFO(
        "network.weight", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_STATE | MF_FIELD_INPUT,
        "layer by layer and unit by unit: weights of the unit's inputs, then its bias");
    mf_Field *field;
    plan->weight_count = (uint32_t)mf_network_weight_count(plan->sizes, plan->layers);
    MF_TRY(mf_attach_field(group, &info, plan->weight_count, &field, error));
    batch->weight = field->data;
    batch->fault = mf_group_find_field(group, "fault.word")->data;
    return MF_OK;
}

// ---- the system --------------------------------------------------------------------------------

static mf_Status check(const mf_Group *group, const mf_NetworkConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error,
            "network: start from mf_network_config()");
    MF_NEED(config->output != NULL, error, "network.output: need the name of a field");
    if (config->hidden_count > MF_NETWORK_HIDDEN)
        return mf_fail(error, MF_LIMIT, "network: %u hidden layers, need 0 .. %u",
                       config->hidden_count, MF_NETWORK_HIDDEN);
    MF_NEED(config->hidden_count == 0 || config->hidden != NULL, error,
            "network.hidden: need the units of %u layers", config->hidden_count);
    return mf_attach_check(group, system_name, config->rate, error);
}

static uint64_t hash_settings(const mf_NetworkPlan *plan) {
    const uint32_t units = plan->sizes[plan->layers - 1];
    uint64_t hash = mf_hash_bytes(MF_HASH_START, plan->sizes, sizeof plan->sizes);
    hash = mf_hash_bytes(hash, mf_network_plan_middle(plan), units * sizeof(double));
    return mf_hash_bytes(hash, mf_network_plan_half(plan), units * sizeof(double));
}

static mf_Status make_scratch(mf_Group *group, NetworkSystem *system, mf_Error *error) {
    const mf_NetworkPlan *plan = system->batch.plan;
    const size_t real =
        mf_group_config_of(group)->double_precision ? sizeof(double) : sizeof(float);
    return mf_world_scratch(mf_group_world(group), (size_t)2 * plan->most * MF_BLOCK * real,
                            &system->scratch, error);
}

static mf_Status pack(mf_Context *context, Draft *draft, const mf_NetworkPlan **out,
                      mf_Error *error) {
    mf_NetworkPlan *plan = &draft->plan;
    for (uint32_t k = 0; k < plan->layers; k++)
        plan->most = plan->sizes[k] > plan->most ? plan->sizes[k] : plan->most;
    const uint32_t units = plan->sizes[plan->layers - 1];
    const mf_FlatPart parts[] = {MF_FLAT_PART(plan, middle, draft->middle, units),
                                 MF_FLAT_PART(plan, half, draft->half, units)};
    void *image;
    mf_Status status = mf_flat_pack(context, plan, sizeof *plan, parts, 2, &image, error);
    *out = image;
    return status;
}

static mf_Status make_plan(mf_Group *group, const mf_NetworkConfig *config, NetworkSystem *system,
                           mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    Draft *draft = mf_allocate(context, 1, sizeof *draft);
    MF_NEED_MEMORY(draft != NULL, error, "network");
    mf_Status status = add_inputs(group, config->inputs, system, &draft->plan, error);
    MF_THEN(status, add_hidden(config, &draft->plan, error));
    MF_THEN(status, add_output(group, config, system, draft, error));
    MF_THEN(status, add_weights(group, &draft->plan, &system->batch, error));
    MF_THEN(status, pack(context, draft, &system->batch.plan, error));
    mf_release(context, draft);
    return status;
}

static mf_Status fill(mf_Group *group, const mf_NetworkConfig *config, NetworkSystem *system,
                      mf_Error *error) {
    static const mf_NetworkRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_network_run);
    mf_World *world = mf_group_world(group);
    system->run =
        kernels[mf_kernel_row(mf_world_isa(world))][mf_group_config_of(group)->double_precision];
    MF_TRY(make_plan(group, config, system, error));
    MF_TRY(make_scratch(group, system, error));
    const mf_NetworkPlan *plan = system->batch.plan;
    system->reads[plan->input_count] = "network.weight";
    system->reads[plan->input_count + 1] = "fault.word";
    mf_SystemConfig entry = mf_attach_system(system_name, MF_PHASE_CONTROL, run_network, system);
    entry.rate = config->rate;
    entry.destroy = destroy_network;
    entry.reads = system->reads;
    entry.writes = system->writes;
    entry.settings_hash = hash_settings(plan);
    return mf_group_add_system(group, &entry, error);
}

static bool is_alike(const void *user, const void *other) {
    const NetworkSystem *a = user, *b = other;
    const mf_NetworkPlan *plan = a->batch.plan;
    bool same = a->run == b->run && plan->bytes == b->batch.plan->bytes &&
                memcmp(plan, b->batch.plan, plan->bytes) == 0;
    for (uint32_t i = 0; same && i < plan->input_count; i++)
        same = strcmp(a->reads[i], b->reads[i]) == 0;
    return same;
}

static const mf_Alike alike = {.alike = is_alike};

mf_Status mf_network_add(mf_Group *group, const mf_NetworkConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_network_add: group is NULL");
    const mf_NetworkConfig defaults = mf_network_config();
    if (config == NULL)
        config = &defaults;
    MF_TRY(check(group, config, error));
    mf_Context *context = mf_world_context(mf_group_world(group));
    NetworkSystem *system = mf_allocate(context, 1, sizeof *system);
    MF_NEED_MEMORY(system != NULL, error, "network");
    mf_Status status = fill(group, config, system, error);
    if (status == MF_OK)
        mf_attach_alike(group, system_name, &alike);
    else
        destroy_network(context, system);
    return status;
}
