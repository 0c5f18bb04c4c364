// A distributed count of connected modules: a flood of sets of modules, as bits of a message. The
// set of a module after k ticks is that of all modules within k hops, whatever the shape of the
// assembly, so the count is right after as many ticks as the assembly's diameter.
#include "scene/behavior/minds.h"

enum { COUNT = MF_FLOOD_OWN, SET, WORDS = MF_MESSAGE_BYTES / 4 - 1 };

static mf_Status check(const mf_MindPlan *plan, mf_Error *error) {
    const uint32_t most = 32 * (plan->words - 1);
    return plan->robots <= most
               ? MF_OK
               : mf_fail(error, MF_LIMIT,
                         "count: %u modules, messages.size %u has room for %u, and 64 for %u",
                         plan->robots, 4 * plan->words, most, 32 * WORDS);
}

static uint32_t bits_of(uint32_t word) {
    uint32_t bits = 0;
    for (; word != 0; word &= word - 1)
        bits++;
    return bits;
}

// The set becomes that of the module alone.
static void forget(mf_Mind *mind, const mf_MindPlan *plan, uint32_t robot) {
    const uint32_t id = plan->first_id + robot;
    for (uint32_t w = 0; w + 1 < plan->words; w++)
        mf_mind_remember(mind, SET + w, w == id / 32 ? (double)(UINT32_C(1) << id % 32) : 0.0);
}

static void add(mf_Mind *mind, const mf_MindPlan *plan, const mf_Message *message) {
    for (uint32_t w = 0; w + 1 < plan->words; w++)
        mf_mind_remember(mind, SET + w,
                         (uint32_t)mf_mind_recall(mind, SET + w) | message->content.words[w + 1]);
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    mf_Message message;
    if (mf_flood_begin(mind))
        forget(mind, plan, mf_mind_robot(mind));
    while (mf_mind_receive(mind, MF_NONE, &message)) {
        const int worth = message.type == MF_MIND_COUNT ? mf_flood_hear(mind, &message) : -1;
        if (worth > 0)
            forget(mind, plan, mf_mind_robot(mind));
        if (worth >= 0)
            add(mind, plan, &message);
    }
    uint32_t count = 0;
    message = (mf_Message){.type = MF_MIND_COUNT, .size = 4 * plan->words};
    for (uint32_t w = 0; w + 1 < plan->words; w++) {
        message.content.words[w + 1] = (uint32_t)mf_mind_recall(mind, SET + w);
        count += bits_of(message.content.words[w + 1]);
    }
    mf_mind_remember(mind, COUNT, count);
    mf_flood_send(mind, &message);
    return true;
}

const mf_MindKind mf_mind_count = {.name = "count",
                                   .think = think,
                                   .memory = SET + WORDS,
                                   .words = 2,
                                   .sensor = MF_SENSOR_CONTACTS,
                                   .check = check};
