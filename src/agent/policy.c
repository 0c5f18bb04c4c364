// Policies: a C function that sees a robot's own percepts, memory and messages, and acts.
//
// It is a callback (callback.c) with a view: the fields that the function may use are found when it
// is added, so a tick does not search for names, and the schedule knows what is read and written.
// Invariants: a call changes fields of its own robot only; random numbers are keyed by robot, tick
// and stream.
#include "agent/policy.h"
#include "control/callback.h"
#include "base/floats.h"
#include "control/follow.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 64 };

static const uint32_t noise_stream = 0x6d696e64; // of random numbers: "mind" in ASCII
static const uint32_t own_stream = 0x6d6f776e;   // those of functions

typedef struct PolicyPlan {
    mf_Kept kept; // the group keeps it
    mf_PolicyFn function;
    void *user;
    mf_Field *percepts[MF_POLICY_FIELDS], *actions[MF_POLICY_FIELDS], *memory;
    double noise[MF_POLICY_FIELDS]; // [1] unit of the action
    mf_NoiseFn sense, disturb;
    mf_MadePercept made[MF_POLICY_FIELDS];
    uint32_t made_count;
    uint32_t percept_count, action_count;
    bool messages;
    uint64_t seed;
    double period;   // [s]
    mf_Time step;    // [ns]
    char name[NAME]; // of the system
    char memory_name[NAME + 8];
} PolicyPlan;

mf_PolicyConfig mf_policy_config(void) {
    return (mf_PolicyConfig){.struct_size = sizeof(mf_PolicyConfig),
                             .name = "policy",
                             .rate = mf_system_config().rate,
                             .messages = true};
}

// ---- what a function may do ---------------------------------------------------------------------

mf_Time mf_policy_time(const mf_Policy *policy) {
    return policy != NULL ? policy->time : 0;
}

double mf_policy_period(const mf_Policy *policy) {
    return policy != NULL ? policy->plan->period : 0.0;
}

uint32_t mf_policy_robot(const mf_Policy *policy) {
    return policy != NULL ? policy->instance : 0;
}

uint32_t mf_policy_percept_size(const mf_Policy *policy, uint32_t percept) {
    return policy != NULL && percept < policy->plan->percept_count
               ? policy->plan->percepts[percept]->components
               : 0;
}

uint32_t mf_policy_action_size(const mf_Policy *policy, uint32_t action) {
    return policy != NULL && action < policy->plan->action_count
               ? policy->plan->actions[action]->components
               : 0;
}

double mf_policy_percept(const mf_Policy *policy, uint32_t percept, uint32_t component) {
    if (component >= mf_policy_percept_size(policy, percept))
        return 0.0;
    const PolicyPlan *plan = policy->plan;
    const double value = mf_field_get(plan->percepts[percept], policy->instance, component);
    return plan->sense != NULL ? plan->sense(policy, percept, component, value, plan->user) : value;
}

static size_t doubles_of(size_t bytes) {
    return (bytes + sizeof(double) - 1) / sizeof(double);
}

const void *mf_policy_made(mf_Policy *policy, uint32_t index) {
    if (policy == NULL || index >= policy->plan->made_count || (policy->making >> index & 1))
        return NULL;
    const mf_MadePercept *percept = &policy->plan->made[index];
    if (policy->made[index] == NULL) {
        void *out = policy->space + policy->used;
        policy->used += doubles_of(percept->size);
        memset(out, 0, percept->size);
        policy->making |= 1u << index;
        percept->make(policy, out, policy->plan->user);
        policy->making &= ~(1u << index);
        policy->made[index] = out;
    }
    return policy->made[index];
}

static uint64_t tick_of(const mf_Policy *policy) {
    return (uint64_t)(policy->time / policy->plan->step);
}

// The sum of twelve uniform numbers less its mean: standard deviation 1, at most 6.
static double draw(const mf_Policy *policy, uint32_t action, uint32_t component) {
    double sum = -6.0;
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t words[4];
        mf_random(policy->plan->seed, policy->instance,
                  noise_stream + 3 * (component * MF_POLICY_FIELDS + action) + k, tick_of(policy),
                  words);
        for (uint32_t w = 0; w < 4; w++)
            sum += mf_random_unit_double(words[w], 0);
    }
    return sum;
}

bool mf_policy_act(mf_Policy *policy, uint32_t action, uint32_t component, double value) {
    if (!mf_is_finite(value) || component >= mf_policy_action_size(policy, action))
        return false;
    const PolicyPlan *plan = policy->plan;
    const double noise = plan->noise[action];
    if (plan->disturb != NULL)
        value = plan->disturb(policy, action, component, value, plan->user);
    if (!mf_is_finite(value))
        return false;
    if (noise > 0.0)
        value += noise * draw(policy, action, component);
    mf_field_set(policy->plan->actions[action], policy->instance, component, value);
    return true;
}

double mf_policy_memory(const mf_Policy *policy, uint32_t index) {
    return policy != NULL && policy->plan->memory != NULL &&
                   index < policy->plan->memory->components
               ? mf_field_get(policy->plan->memory, policy->instance, index)
               : 0.0;
}

void mf_policy_set_memory(mf_Policy *policy, uint32_t index, double value) {
    if (policy != NULL && policy->plan->memory != NULL && index < policy->plan->memory->components)
        mf_field_set(policy->plan->memory, policy->instance, index, value);
}

void mf_policy_random(const mf_Policy *policy, uint32_t stream, uint32_t out[4]) {
    if (policy != NULL && out != NULL)
        mf_random(policy->plan->seed, policy->instance, own_stream + stream, tick_of(policy), out);
}

// ---- the system ---------------------------------------------------------------------------------

static bool think(mf_Group *group, uint32_t instance, mf_Time time, void *user) {
    const PolicyPlan *plan = user;
    mf_Policy policy; // `space` is not cleared
    policy.plan = plan;
    policy.group = group;
    policy.instance = instance;
    policy.time = time;
    policy.talks = plan->messages;
    policy.used = 0;
    policy.making = 0;
    memset(policy.made, 0, sizeof policy.made);
    return plan->function(&policy, plan->user);
}

// ---- adding it ----------------------------------------------------------------------------------

static mf_Status find_fields(mf_Group *group, const char *const *names, mf_Field **out,
                             uint32_t *count, const char *what, mf_Error *error) {
    for (*count = 0; names != NULL && names[*count] != NULL; ++*count) {
        MF_NEED(*count != MF_POLICY_FIELDS, error, "policy: more than %d %s", MF_POLICY_FIELDS,
                what);
        out[*count] = mf_group_find_field(group, names[*count]);
        if (out[*count] == NULL)
            return mf_fail(error, MF_NOT_FOUND, "policy: %s: group %s has no field %.100s", what,
                           mf_group_config_of(group)->name, names[*count]);
    }
    return MF_OK;
}

static mf_Status check_action(mf_Group *group, PolicyPlan *plan, uint32_t action, double noise,
                              mf_Error *error) {
    const mf_FieldInfo *info = &plan->actions[action]->info;
    if (!(info->flags & MF_FIELD_INPUT))
        return mf_fail(error, MF_BAD_ARGUMENT, "policy: action %.100s is not an input", info->name);
    MF_NEED(noise >= 0.0 && noise <= 1e300, error, "policy: noise of %.100s: %g, need 0 or more",
            info->name, noise);
    if (noise > 0.0 && info->type != MF_F32 && info->type != MF_F64)
        return mf_fail(error, MF_BAD_ARGUMENT, "policy: noise of %.100s, which has whole numbers",
                       info->name);
    plan->noise[action] = noise;
    return strcmp(info->name, "joint.target") == 0 ? mf_control_follows(group, plan->name, error)
                                                   : MF_OK;
}

static mf_Status add_memory(mf_Group *group, PolicyPlan *plan, uint32_t numbers, mf_Error *error) {
    const mf_FieldInfo info = {.name = plan->memory_name,
                               .unit = "1",
                               .frame = "",
                               .type = MF_F64,
                               .shape = MF_FIXED_COUNT,
                               .width = 1,
                               .flags = MF_FIELD_STATE | MF_FIELD_INPUT,
                               .description = "what the robot remembers"};
    return numbers > 0 ? mf_attach_field(group, &info, numbers, &plan->memory, error) : MF_OK;
}

static mf_Status check_config(const mf_Group *group, const mf_PolicyConfig *config,
                              mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error, "policy: start from mf_policy_config()");
    MF_NEED(config->function != NULL, error, "policy: need a function, found NULL");
    if (config->name == NULL || config->name[0] == '\0' || strlen(config->name) >= NAME)
        return mf_fail(error, MF_BAD_ARGUMENT, "policy: need a name of 1 .. %d bytes", NAME - 1);
    if (config->memory > MF_POLICY_MEMORY)
        return mf_fail(error, MF_BAD_ARGUMENT, "policy.memory: %u, need 0 .. %d numbers",
                       config->memory, MF_POLICY_MEMORY);
    size_t made = 0;
    MF_NEED(config->made_count <= MF_POLICY_FIELDS && (config->made_count == 0 || config->made),
            error, "policy: %u made percepts, at most %d", config->made_count, MF_POLICY_FIELDS);
    for (uint32_t i = 0; i < config->made_count; i++) {
        MF_NEED(config->made[i].make != NULL && config->made[i].size > 0 &&
                    config->made[i].size <= MF_POLICY_MADE,
                error, "policy: made percept %u needs a function and 1 .. %d bytes", i,
                MF_POLICY_MADE);
        made += sizeof(double) * doubles_of(config->made[i].size);
    }
    MF_NEED(made <= MF_POLICY_MADE, error, "policy: made percepts of %zu bytes, at most %d", made,
            MF_POLICY_MADE);
    const bool always = config->rate.numerator == 0 && config->rate.denominator == 0;
    return mf_attach_check(group, config->name, always ? (mf_Rate){1, 1} : config->rate, error);
}

static mf_Status fill(mf_Group *group, PolicyPlan *plan, const mf_PolicyConfig *config,
                      mf_Error *error) {
    MF_TRY(find_fields(group, config->percepts, plan->percepts, &plan->percept_count, "percepts",
                       error));
    MF_TRY(
        find_fields(group, config->actions, plan->actions, &plan->action_count, "actions", error));
    for (uint32_t a = 0; a < plan->action_count; a++)
        MF_TRY(check_action(group, plan, a, config->noise != NULL ? config->noise[a] : 0.0, error));
    return add_memory(group, plan, config->memory, error);
}

// The memory, the fields and those of messages.
static void list_fields(const PolicyPlan *plan, mf_Field *const *fields, uint32_t count,
                        const char **out) {
    for (uint32_t i = 0; i < count; i++)
        *out++ = fields[i]->info.name;
    if (plan->memory != NULL)
        *out++ = plan->memory_name;
    *out = NULL;
}

static mf_Status add_system(mf_Group *group, PolicyPlan *plan, const mf_PolicyConfig *config,
                            mf_Error *error) {
    static const char *const messages[] = {"?message.out",   "?message.out_count",
                                           "?message.in",    "?message.in_count",
                                           "?message.ready", "?message.tally"};
    enum { TALK = sizeof messages / sizeof *messages };
    const uint32_t talks = config->messages ? TALK : 0;
    const char *reads[MF_POLICY_FIELDS + 2], *writes[MF_POLICY_FIELDS + TALK + 2];
    mf_SystemConfig entry = mf_system_config();
    list_fields(plan, plan->percepts, plan->percept_count, reads);
    memcpy(writes, messages, talks * sizeof *messages);
    list_fields(plan, plan->actions, plan->action_count, writes + talks);
    entry.name = plan->name;
    entry.rate = config->rate;
    entry.reads = reads;
    entry.writes = writes;
    entry.settings_hash =
        mf_hash_bytes(config->settings_hash != 0 ? config->settings_hash : MF_HASH_START,
                      plan->noise, sizeof plan->noise);
    return mf_callback_add_system(group, &entry, think, plan, plan->memory, error);
}

mf_Status mf_policy_add(mf_Group *group, const mf_PolicyConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL && config != NULL, error, "policy: group or config is NULL");
    MF_TRY(check_config(group, config, error));
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    PolicyPlan *plan = mf_allocate(context, 1, sizeof *plan);
    MF_NEED_MEMORY(plan != NULL, error, "policy");
    const mf_WorldConfig *settings = mf_world_config_of(world);
    *plan = (PolicyPlan){.function = config->function,
                         .user = config->user,
                         .messages = config->messages,
                         .seed = settings->seed,
                         .period = mf_time_to_seconds(settings->step),
                         .step = settings->step};
    plan->sense = config->sense;
    plan->disturb = config->disturb;
    plan->made_count = config->made_count;
    for (uint32_t i = 0; i < config->made_count; i++)
        plan->made[i] = config->made[i];
    if (config->rate.numerator > 0)
        plan->period = (double)config->rate.denominator / (double)config->rate.numerator;
    snprintf(plan->name, sizeof plan->name, "%s", config->name);
    snprintf(plan->memory_name, sizeof plan->memory_name, "%s.memory", config->name);
    mf_Status status = fill(group, plan, config, error);
    MF_THEN(status, add_system(group, plan, config, error));
    if (status == MF_OK)
        mf_attach_keep(group, &plan->kept);
    else
        mf_release(context, plan);
    return status;
}
