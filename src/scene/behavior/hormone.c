// Digital hormones (Shen, Salemi and Will 2002): a caterpillar whose modules find their places by
// messages, whatever way round they are docked, and anew whenever they split or merge.
//
// The module at the head emits a hormone, which each module passes on to all its docks: who the
// head is, how many modules away, and the phase of the sender. The head is chosen by a flood, anew
// with each change of docks (flood.c): ends of the assembly before others, those with a free front
// before other ends, the largest draw among equals. A module relaxes towards its phase,
//     dphase / dt = 2 pi frequency + coupling (phase of the sender - lag - phase),
// so waves that meet become one without a jump; the head's phase is free.
#include "scene/behavior/minds.h"

#include "math/scalar.h"

enum { HEAD = MF_FLOOD_OWN, RANK, HOPS, PHASE, MEMORY };
enum { WORD_HEAD = 1, WORD_HOPS, WORD_PHASE, WORDS };
enum { RANK_SHIFT = 30 }; // the bits of a word above the number of a module
enum { INNER, END, FRONT };

static const double full_turn = 6.283185307179586;
static const uint32_t lot_stream = 0x686f726d; // of random numbers: "horm"

static uint32_t place_of(const mf_Mind *mind, const mf_MindPlan *plan) {
    uint32_t engaged = 0;
    for (uint32_t d = 0; d < mf_mind_docks(mind); d++)
        engaged += mf_mind_is_engaged(mind, d);
    return engaged > 1 ? INNER : mf_mind_is_engaged(mind, plan->front) ? END : FRONT;
}

// [1] What decides between heads; a number of its own for each module.
static double rank_of(const mf_MindPlan *plan, uint32_t place, uint32_t id) {
    uint32_t words[4];
    mf_random(plan->seed, id, lot_stream, 0, words);
    return 4294967296.0 * place + (double)words[0];
}

static void follow(mf_Mind *mind, uint32_t head, double rank, double hops) {
    mf_mind_remember(mind, HEAD, head);
    mf_mind_remember(mind, RANK, rank);
    mf_mind_remember(mind, HOPS, hops);
}

static void follow_itself(mf_Mind *mind, const mf_MindPlan *plan) {
    const uint32_t id = plan->first_id + mf_mind_robot(mind), place = place_of(mind, plan);
    follow(mind, place << RANK_SHIFT | id, rank_of(plan, place, id), 0.0);
}

// True: the message is from a module that is nearer to the head.
static bool compare(mf_Mind *mind, const mf_MindPlan *plan, const mf_Message *message) {
    const uint32_t head = message->content.words[WORD_HEAD];
    const double hops = message->content.words[WORD_HOPS] + 1.0;
    const double rank = rank_of(plan, head >> RANK_SHIFT, head & ((UINT32_C(1) << RANK_SHIFT) - 1));
    const double best = mf_mind_recall(mind, RANK), own = mf_mind_recall(mind, HEAD);
    if (rank > best || (rank == best && (double)head > own) ||
        ((double)head == own && hops < mf_mind_recall(mind, HOPS)))
        follow(mind, head, rank, hops);
    return (double)head == mf_mind_recall(mind, HEAD) && hops == mf_mind_recall(mind, HOPS);
}

// [rad] How far the own phase is behind that of the sender less the lag. What was sent in the last
// tick is a period old, as the own phase.
static double listen(mf_Mind *mind, const mf_MindPlan *plan) {
    mf_Message message;
    double behind = 0.0;
    while (mf_mind_receive(mind, MF_NONE, &message)) {
        const int worth = message.type == MF_MIND_HORMONE ? mf_flood_hear(mind, &message) : -1;
        if (worth > 0)
            follow_itself(mind, plan);
        if (worth >= 0 && compare(mind, plan, &message))
            behind = mf_mind_wrap(message.content.floats[WORD_PHASE] - plan->settings.lag -
                                  mf_mind_recall(mind, PHASE));
    }
    return behind;
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    const mf_MindBehavior *settings = &plan->settings;
    double sine, cosine;
    if (mf_flood_begin(mind))
        follow_itself(mind, plan);
    const double behind = listen(mind, plan);
    const double rate = full_turn * settings->frequency + settings->coupling * behind;
    const double phase = mf_mind_wrap(mf_mind_recall(mind, PHASE) + rate * mf_mind_period(mind));
    mf_mind_remember(mind, PHASE, phase);
    mf_Message message = {.type = MF_MIND_HORMONE, .size = 4 * WORDS};
    message.content.words[WORD_HEAD] = (uint32_t)mf_mind_recall(mind, HEAD);
    message.content.words[WORD_HOPS] = (uint32_t)mf_mind_recall(mind, HOPS);
    message.content.floats[WORD_PHASE] = (float)phase;
    mf_flood_send(mind, &message);
    mf_sin_cos(phase, &sine, &cosine);
    return mf_mind_pose(mind, plan, settings->offset + settings->amplitude * sine);
}

const mf_MindKind mf_mind_hormone = {.name = "hormone",
                                     .think = think,
                                     .memory = MEMORY,
                                     .words = WORDS,
                                     .joints = true,
                                     .ends = true,
                                     .sensor = MF_SENSOR_CONTACTS};
