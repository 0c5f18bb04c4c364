// A distributed count of connected modules: a flood of sets of modules, as bits of a message. The
// set of a module after k ticks is that of all modules within k hops, whatever the shape of the
// assembly, so the count is right after as many ticks as the assembly's diameter.
#include "scene/modules/policies.h"

enum { COUNT = MF_FLOOD_OWN, SET, WORDS = MF_MESSAGE_BYTES / 4 - 1 };

static mf_Status check(const mf_PolicyPlan *plan, mf_Error *error) {
    const uint32_t most = 32 * (plan->words - 1);
    return plan->robots <= most
               ? MF_OK
               : mf_fail(error, MF_LIMIT,
                         "count: %u modules, messages.size %u has space for %u, and 64 for %u",
                         plan->robots, 4 * plan->words, most, 32 * WORDS);
}

static uint32_t bits_of(uint32_t word) {
    uint32_t bits = 0;
    for (; word != 0; word &= word - 1)
        bits++;
    return bits;
}

// The set becomes just this module.
static void forget(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t robot) {
    const uint32_t id = plan->first_id + robot;
    for (uint32_t w = 0; w + 1 < plan->words; w++)
        mf_policy_set_memory(policy, SET + w,
                             w == id / 32 ? (double)(UINT32_C(1) << id % 32) : 0.0);
}

static void add(mf_Policy *policy, const mf_PolicyPlan *plan, const mf_Message *message) {
    for (uint32_t w = 0; w + 1 < plan->words; w++)
        mf_policy_set_memory(policy, SET + w,
                             (uint32_t)mf_policy_memory(policy, SET + w) |
                                 message->content.words[w + 1]);
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    mf_Message message;
    if (mf_flood_begin(policy))
        forget(policy, plan, mf_policy_robot(policy));
    while (mf_policy_receive(policy, MF_NONE, &message)) {
        const int worth = message.type == MF_POLICY_COUNT ? mf_flood_hear(policy, &message) : -1;
        if (worth > 0)
            forget(policy, plan, mf_policy_robot(policy));
        if (worth >= 0)
            add(policy, plan, &message);
    }
    uint32_t count = 0;
    message = (mf_Message){.type = MF_POLICY_COUNT, .size = 4 * plan->words};
    for (uint32_t w = 0; w + 1 < plan->words; w++) {
        message.content.words[w + 1] = (uint32_t)mf_policy_memory(policy, SET + w);
        count += bits_of(message.content.words[w + 1]);
    }
    mf_policy_set_memory(policy, COUNT, count);
    mf_flood_send(policy, &message);
    return true;
}

const mf_PolicyKind mf_policy_count = {.name = "count",
                                       .think = think,
                                       .memory = SET + WORDS,
                                       .words = 2,
                                       .sensor = MF_SENSOR_CONTACTS,
                                       .check = check};
