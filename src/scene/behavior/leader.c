// Leader election by flooding: each module draws a number, all pass on the largest that they have
// heard of, and after as many ticks as the assembly's diameter all know the same one (FloodMax;
// Lynch 1996, "Distributed Algorithms", 4.1). Equal numbers are told apart by the module.
#include "scene/behavior/minds.h"

enum { LEADER = MF_FLOOD_OWN, BEST, LEADS, MEMORY };
enum { WORD_BEST = 1, WORD_LEADER, WORDS };

static const uint32_t lot_stream = 0x6c656164; // of random numbers: "lead"

// A robot's number does not change, so that an assembly keeps its leader when others join.
static uint32_t lot_of(const mf_MindPlan *plan, uint32_t id) {
    uint32_t words[4];
    mf_random(plan->seed, id, lot_stream, 0, words);
    return words[0];
}

static void forget(mf_Mind *mind, const mf_MindPlan *plan, uint32_t id) {
    mf_mind_remember(mind, LEADER, id);
    mf_mind_remember(mind, BEST, lot_of(plan, id));
}

static void compare(mf_Mind *mind, const mf_Message *message) {
    const double best = message->content.words[WORD_BEST], own = mf_mind_recall(mind, BEST);
    const double leader = message->content.words[WORD_LEADER];
    if (best < own || (best == own && leader <= mf_mind_recall(mind, LEADER)))
        return;
    mf_mind_remember(mind, BEST, best);
    mf_mind_remember(mind, LEADER, leader);
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    const uint32_t id = plan->first_id + mf_mind_robot(mind);
    mf_Message message;
    if (mf_flood_begin(mind))
        forget(mind, plan, id);
    while (mf_mind_receive(mind, MF_NONE, &message)) {
        const int worth = message.type == MF_MIND_LEADER ? mf_flood_hear(mind, &message) : -1;
        if (worth > 0)
            forget(mind, plan, id);
        if (worth >= 0)
            compare(mind, &message);
    }
    mf_mind_remember(mind, LEADS, mf_mind_recall(mind, LEADER) == (double)id);
    message = (mf_Message){.type = MF_MIND_LEADER, .size = 4 * WORDS};
    message.content.words[WORD_BEST] = (uint32_t)mf_mind_recall(mind, BEST);
    message.content.words[WORD_LEADER] = (uint32_t)mf_mind_recall(mind, LEADER);
    mf_flood_send(mind, &message);
    return true;
}

const mf_MindKind mf_mind_leader = {.name = "leader",
                                    .think = think,
                                    .memory = MEMORY,
                                    .words = WORDS,
                                    .sensor = MF_SENSOR_CONTACTS};
