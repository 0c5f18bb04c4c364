// Leader election by flooding: each module draws a number, all pass on the largest that they have
// heard of, and after as many ticks as the assembly's diameter all know the same one (FloodMax;
// Lynch 1996, "Distributed Algorithms", 4.1). Equal numbers are distinguished by the module.
#include "scene/modules/policies.h"

enum { LEADER = MF_FLOOD_OWN, BEST, LEADS, MEMORY };
enum { WORD_BEST = 1, WORD_LEADER, WORDS };

static const uint32_t lot_stream = 0x6c656164; // of random numbers: "lead"

// A robot's number does not change, so that an assembly keeps its leader when others join.
static uint32_t lot_of(const mf_PolicyPlan *plan, uint32_t id) {
    uint32_t words[4];
    mf_random(plan->seed, id, lot_stream, 0, words);
    return words[0];
}

static void forget(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t id) {
    mf_policy_set_memory(policy, LEADER, id);
    mf_policy_set_memory(policy, BEST, lot_of(plan, id));
}

static void compare(mf_Policy *policy, const mf_Message *message) {
    const double best = message->content.words[WORD_BEST], own = mf_policy_memory(policy, BEST);
    const double leader = message->content.words[WORD_LEADER];
    if (best < own || (best == own && leader <= mf_policy_memory(policy, LEADER)))
        return;
    mf_policy_set_memory(policy, BEST, best);
    mf_policy_set_memory(policy, LEADER, leader);
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    const uint32_t id = plan->first_id + mf_policy_robot(policy);
    mf_Message message;
    if (mf_flood_begin(policy))
        forget(policy, plan, id);
    while (mf_policy_receive(policy, MF_NONE, &message)) {
        const int worth = message.type == MF_POLICY_LEADER ? mf_flood_hear(policy, &message) : -1;
        if (worth > 0)
            forget(policy, plan, id);
        if (worth >= 0)
            compare(policy, &message);
    }
    mf_policy_set_memory(policy, LEADS, mf_policy_memory(policy, LEADER) == (double)id);
    message = (mf_Message){.type = MF_POLICY_LEADER, .size = 4 * WORDS};
    message.content.words[WORD_BEST] = (uint32_t)mf_policy_memory(policy, BEST);
    message.content.words[WORD_LEADER] = (uint32_t)mf_policy_memory(policy, LEADER);
    mf_flood_send(policy, &message);
    return true;
}

const mf_PolicyKind mf_policy_leader = {.name = "leader",
                                        .think = think,
                                        .memory = MEMORY,
                                        .words = WORDS,
                                        .sensor = MF_SENSOR_CONTACTS};
