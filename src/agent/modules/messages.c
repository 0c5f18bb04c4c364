// Messages of a world: creation, fields, sending and receiving by calls. The path of messages is in
// route.c.
//
// Invariants: all state is in fields; a box is in the order in which its messages arrive, so that
// those which may be read come first; a robot's calls change its own fields only.
#include "agent/modules/messages.h"
#include "agent/policy.h"
#include "base/floats.h"
#include "base/hash.h"
#include "world/attach.h"
#include "world/states.h"
#include "world/systems.h"

#include <string.h>

static const char system_name[] = "messages";

mf_MessagesConfig mf_messages_config(void) {
    return (mf_MessagesConfig){
        .struct_size = sizeof(mf_MessagesConfig), .size = 16, .capacity = 4, .angle = 0.5};
}

// ---- fields -------------------------------------------------------------------------------------

static mf_Status add_fields(mf_MessageGroup *group, mf_Error *error) {
    const uint32_t docks = group->docks->model->dock_count, width = group->messages->slot;
    const uint32_t slots = docks * group->messages->config.capacity;
    const mf_StateField rows[] = {
        {"message.out", "1", MF_U32, slots, width, MF_FIELD_INPUT, NULL, &group->out,
         "outbox: unused, type and content of each message"},
        {"message.out_count", "1", MF_U32, docks, 1, MF_FIELD_INPUT, NULL, &group->out_count,
         "messages in the outbox"},
        {"message.in", "1", MF_U32, slots, width, MF_FIELD_INPUT, NULL, &group->in,
         "box: due tick, type and content of each message"},
        {"message.in_count", "1", MF_U32, docks, 1, MF_FIELD_INPUT, NULL, &group->in_count,
         "messages in the box"},
        {"message.ready", "1", MF_U32, docks, 1, MF_FIELD_INPUT, NULL, &group->ready,
         "of these, have arrived"},
        {"message.tally", "1", MF_U32, docks, MF_TALLY_COUNT, MF_FIELD_OUTPUT, NULL, &group->tally,
         "sent, unheard, received, lost, overflowed"},
    };
    return mf_attach_states(group->docks->group, rows, sizeof rows / sizeof *rows, error);
}

// What is left in emptied slots is state too: it is zeroed, so that equal robots have equal hashes.
static void clear_slots(const mf_MessageGroup *group, uint32_t *slots, uint32_t instance,
                        uint32_t dock) {
    for (uint32_t k = 0; k < group->messages->config.capacity; k++)
        for (uint32_t c = 0; c < group->messages->slot; c++)
            slots[mf_message_at(group, instance, dock, k, c)] = 0;
}

static void reset(mf_Group *of, uint32_t instance, void *user) {
    const mf_MessageGroup *group = user;
    (void)of;
    for (uint32_t d = 0; d < group->docks->model->dock_count; d++) {
        const size_t at = mf_dock_at(group->docks, instance, d, 1, 0);
        group->out_count[at] = group->in_count[at] = group->ready[at] = 0;
        clear_slots(group, group->out, instance, d);
        clear_slots(group, group->in, instance, d);
        for (uint32_t t = 0; t < MF_TALLY_COUNT; t++)
            *mf_message_tally(group, instance, d, t) = 0;
    }
}

static uint64_t hash_of(const mf_MessagesConfig *config) {
    const double settings[] = {config->size,   config->capacity, config->loss, config->delay,
                               config->jitter, config->range,    config->angle};
    return mf_hash_doubles(MF_HASH_START, settings, sizeof settings / sizeof *settings);
}

static mf_Status add_reset(mf_MessageGroup *group, mf_Error *error) {
    static const char *const nothing[] = {NULL};
    mf_SystemConfig system = mf_system_config();
    system.name = system_name;
    system.phase = MF_PHASE_AFTER;
    system.reset = reset;
    system.user = group;
    system.reads = system.writes = nothing;
    system.settings_hash = hash_of(&group->messages->config);
    return mf_group_add_system(group->docks->group, &system, error);
}

// ---- creation -----------------------------------------------------------------------------------

static mf_Status check_config(const mf_World *world, const mf_MessagesConfig *config,
                              mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "messages: start from mf_messages_config()");
    if (config->size < 4 || config->size > MF_MESSAGE_BYTES || config->size % 4 != 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "messages.size: %u, need a multiple of 4, 4 .. %u",
                       config->size, MF_MESSAGE_BYTES);
    if (config->capacity < 1 || config->capacity > MF_MESSAGE_CAPACITY)
        return mf_fail(error, MF_BAD_ARGUMENT, "messages.capacity: %u, need 1 .. %u",
                       config->capacity, MF_MESSAGE_CAPACITY);
    if (!(config->loss >= 0.0 && config->loss <= 1.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "messages.loss: %g, need 0 .. 1", config->loss);
    if (config->delay > MF_MESSAGE_DELAY || config->jitter > MF_MESSAGE_DELAY)
        return mf_fail(error, MF_BAD_ARGUMENT, "messages: delay %u, jitter %u, need 0 .. %u steps",
                       config->delay, config->jitter, MF_MESSAGE_DELAY);
    MF_NEED(config->range >= 0.0 && config->range <= 1e4, error,
            "messages.range: %g, need 0 .. 1e4 m", config->range);
    MF_NEED(config->angle >= 0.0 && config->angle <= 3.1415926535897932, error,
            "messages.angle: %g, need 0 .. pi rad", config->angle);
    if (mf_world_kept(world, system_name) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "messages: the world has them already");
    return mf_world_docks_of(world) != NULL
               ? MF_OK
               : mf_fail(error, MF_BAD_ARGUMENT, "messages: call mf_world_docks_add first");
}

static void destroy(mf_Context *context, void *user) {
    mf_Messages *messages = user;
    for (mf_MessageGroup *group = messages->groups, *next; group != NULL; group = next) {
        next = group->next;
        mf_release(context, group);
    }
    mf_release(context, messages->near);
    mf_release(context, messages->near_count);
    mf_release(context, messages->group_of);
    mf_release(context, messages);
}

static mf_Status add_groups(mf_Messages *messages, mf_Error *error) {
    mf_MessageGroup **end = &messages->groups;
    uint32_t block = 0;
    for (mf_DockGroup *of = messages->docks->groups; of != NULL; of = of->next) {
        mf_MessageGroup *group = *end = mf_allocate(messages->context, 1, sizeof *group);
        MF_NEED_MEMORY(group != NULL, error, "messages");
        *group = (mf_MessageGroup){.messages = messages, .docks = of};
        MF_TRY(add_fields(group, error));
        for (uint32_t b = 0; b < mf_group_block_count(of->group); b++)
            messages->group_of[block++] = group;
        end = &group->next;
    }
    return MF_OK;
}

static mf_Status reserve(mf_Messages *messages, mf_Error *error) {
    const size_t ports = messages->config.range > 0.0 ? messages->docks->port_count : 0;
    messages->group_of =
        mf_allocate(messages->context, messages->docks->block_count, sizeof *messages->group_of);
    bool complete = messages->group_of != NULL;
    if (ports > 0) {
        messages->near =
            mf_allocate(messages->context, ports * MF_MESSAGE_NEAR, sizeof *messages->near);
        messages->near_count = mf_allocate(messages->context, ports, sizeof *messages->near_count);
        complete = complete && messages->near != NULL && messages->near_count != NULL;
    }
    MF_NEED_MEMORY(complete, error, "messages");
    return MF_OK;
}

// The groups' systems point to groups, so the world gets the messages before they are added.
static mf_Status add_systems(mf_Messages *messages, mf_Error *error) {
    static const char *const reads[] = {
        "dock.state",       "dock.partner",  "message.out",      "message.out_count", "message.in",
        "message.in_count", "base.position", "base.orientation", "joint.angle",       NULL};
    static const char *const writes[] = {
        "message.out",   "message.out_count", "message.in", "message.in_count",
        "message.ready", "message.tally",     NULL};
    mf_WorldSystemConfig system =
        mf_attach_world_system(system_name, MF_PHASE_SENSE, mf_messages_route, messages);
    system.reads = reads;
    system.writes = writes;
    system.settings_hash = hash_of(&messages->config);
    for (mf_MessageGroup *group = messages->groups; group != NULL; group = group->next)
        MF_TRY(add_reset(group, error));
    return mf_world_add_system(messages->world, &system, error);
}

mf_Status mf_messages_add(mf_World *world, const mf_MessagesConfig *config, mf_Messages **out,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_MessagesConfig settings = config != NULL ? *config : mf_messages_config();
    MF_NEED(world != NULL && out != NULL, error, "messages: world or out is NULL");
    *out = NULL;
    MF_TRY(check_config(world, &settings, error));
    mf_Context *context = mf_world_context(world);
    mf_Messages *messages = mf_allocate(context, 1, sizeof *messages);
    MF_NEED_MEMORY(messages != NULL, error, "messages");
    *messages = (mf_Messages){.context = context,
                              .world = world,
                              .docks = mf_world_docks_of(world),
                              .config = settings,
                              .slot = MF_MESSAGE_CONTENT + settings.size / 4};
    mf_Status status = reserve(messages, error);
    MF_THEN(status, add_groups(messages, error));
    MF_THEN(status, mf_world_keep(world, system_name, messages, destroy, error));
    if (status != MF_OK) {
        destroy(context, messages);
        return status;
    }
    status = add_systems(messages, error);
    messages->complete = status == MF_OK;
    *out = mf_messages_of(world);
    return status;
}

mf_Messages *mf_messages_of(const mf_World *world) {
    mf_Messages *messages = world != NULL ? mf_world_kept(world, system_name) : NULL;
    return messages != NULL && messages->complete ? messages : NULL;
}

const mf_MessagesConfig *mf_messages_config_of(const mf_Messages *messages) {
    return messages != NULL ? &messages->config : NULL;
}

mf_MessagesStatistics mf_messages_statistics(const mf_Messages *messages) {
    mf_MessagesStatistics sum = {.sent = 0};
    if (messages == NULL)
        return sum;
    uint64_t *const out[MF_TALLY_COUNT] = {&sum.sent, &sum.unheard, &sum.delivered, &sum.lost,
                                           &sum.overflowed};
    for (const mf_MessageGroup *group = messages->groups; group != NULL; group = group->next)
        for (uint32_t i = 0; i < group->docks->robots; i++)
            for (uint32_t d = 0; d < group->docks->model->dock_count; d++)
                for (uint32_t t = 0; t < MF_TALLY_COUNT; t++)
                    *out[t] += *mf_message_tally(group, i, d, t);
    sum.crowded = messages->crowded;
    return sum;
}

// ---- sending and receiving ----------------------------------------------------------------------

static const mf_MessageGroup *find_group(const mf_Group *of) {
    const mf_Messages *messages =
        of != NULL ? mf_messages_of(mf_group_world((mf_Group *)(uintptr_t)of)) : NULL;
    const mf_MessageGroup *group = messages != NULL ? messages->groups : NULL;
    while (group != NULL && group->docks->group != of)
        group = group->next;
    return group;
}

mf_Status mf_message_send(mf_Group *of, uint32_t instance, uint32_t dock, const mf_Message *message,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_MessageGroup *group = find_group(of);
    MF_NEED(group != NULL && message != NULL, error,
            "message: no message, or the group has none: call mf_messages_add");
    if (instance >= group->docks->robots || dock >= group->docks->model->dock_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "message: robot %u, dock %u, need below %u and %u",
                       instance, dock, group->docks->robots, group->docks->model->dock_count);
    const mf_MessagesConfig *config = &group->messages->config;
    if (message->size > config->size)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "message: %u bytes, expected at most %u, the setting messages.size",
                       message->size, config->size);
    uint32_t *count = &group->out_count[mf_dock_at(group->docks, instance, dock, 1, 0)];
    if (*count >= config->capacity) {
        ++*mf_message_tally(group, instance, dock, MF_TALLY_OVERFLOWED);
        return mf_fail(error, MF_LIMIT, "message: the outbox of dock %u has %u messages", dock,
                       config->capacity);
    }
    uint32_t words[MF_MESSAGE_BYTES / 4] = {0};
    memcpy(words, &message->content, message->size);
    group->out[mf_message_at(group, instance, dock, *count, MF_MESSAGE_DUE)] = 0;
    group->out[mf_message_at(group, instance, dock, *count, MF_MESSAGE_TYPE)] = message->type;
    for (uint32_t c = 0; c < config->size / 4; c++)
        group->out[mf_message_at(group, instance, dock, *count, MF_MESSAGE_CONTENT + c)] = words[c];
    ++*count;
    return MF_OK;
}

static void take_first(const mf_MessageGroup *group, uint32_t instance, uint32_t dock,
                       mf_Message *out) {
    const mf_MessagesConfig *config = &group->messages->config;
    const size_t at = mf_dock_at(group->docks, instance, dock, 1, 0);
    *out = (mf_Message){.dock = dock,
                        .type = group->in[mf_message_at(group, instance, dock, 0, MF_MESSAGE_TYPE)],
                        .size = config->size};
    for (uint32_t c = 0; c < config->size / 4; c++)
        out->content.words[c] =
            group->in[mf_message_at(group, instance, dock, 0, MF_MESSAGE_CONTENT + c)];
    const uint32_t count = group->in_count[at];
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t c = 0; c < group->messages->slot; c++)
            group->in[mf_message_at(group, instance, dock, k, c)] =
                k + 1 < count ? group->in[mf_message_at(group, instance, dock, k + 1, c)] : 0;
    group->in_count[at]--;
    group->ready[at]--;
}

bool mf_message_receive(mf_Group *of, uint32_t instance, uint32_t dock, mf_Message *out) {
    const mf_MessageGroup *group = find_group(of);
    if (group == NULL || out == NULL || instance >= group->docks->robots ||
        (dock != MF_NONE && dock >= group->docks->model->dock_count))
        return false;
    const uint32_t first = dock != MF_NONE ? dock : 0;
    const uint32_t end = dock != MF_NONE ? dock + 1 : group->docks->model->dock_count;
    for (uint32_t d = first; d < end; d++) {
        const size_t at = mf_dock_at(group->docks, instance, d, 1, 0);
        const uint32_t count = group->in_count[at];
        if (group->ready[at] == 0 || count == 0 || count > group->messages->config.capacity)
            continue; // a field written from outside may be anything
        take_first(group, instance, d, out);
        return true;
    }
    return false;
}

// ---- of policies --------------------------------------------------------------------------------

uint32_t mf_policy_docks(const mf_Policy *policy) {
    return policy != NULL ? mf_group_model(policy->group)->dock_count : 0;
}

bool mf_policy_send(mf_Policy *policy, uint32_t dock, const mf_Message *message) {
    return policy != NULL && policy->talks &&
           mf_message_send(policy->group, policy->instance, dock, message, NULL) == MF_OK;
}

bool mf_policy_receive(mf_Policy *policy, uint32_t dock, mf_Message *out) {
    return policy != NULL && policy->talks &&
           mf_message_receive(policy->group, policy->instance, dock, out);
}
