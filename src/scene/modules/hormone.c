// Digital hormones (Shen, Salemi and Will 2002): a caterpillar whose modules find their places by
// messages, whatever way round they are docked, and anew whenever they split or merge.
//
// The module at the head emits a hormone, which each module passes on to all its docks: who the
// head is, how many modules away, and the phase of the sender. The head is chosen by a flood, anew
// with each change of docks (flood.c): ends of the assembly before others, those with a free front
// before other ends, the largest draw among equals. A module relaxes towards its phase,
//     dphase / dt = 2 pi frequency + coupling (phase of the sender - lag - phase),
// so waves that meet become one without a jump; the head's phase is free.
#include "scene/modules/policies.h"

#include "math/scalar.h"

enum { HEAD = MF_FLOOD_OWN, RANK, HOPS, PHASE, MEMORY };
enum { WORD_HEAD = 1, WORD_HOPS, WORD_PHASE, WORDS };
enum { RANK_SHIFT = 30 }; // the bits of a word above the number of a module
enum { INNER, END, FRONT };

static const double two_pi = 6.283185307179586;
static const uint32_t lot_stream = 0x686f726d; // of random numbers: "horm"

static uint32_t position_in_chain(const mf_Policy *policy, const mf_PolicyPlan *plan) {
    uint32_t engaged = 0;
    for (uint32_t d = 0; d < mf_policy_docks(policy); d++)
        engaged += mf_policy_is_engaged(policy, d);
    return engaged > 1 ? INNER : mf_policy_is_engaged(policy, plan->front) ? END : FRONT;
}

// [1] What decides between heads; a number of its own for each module.
static double rank_of(const mf_PolicyPlan *plan, uint32_t index, uint32_t id) {
    uint32_t words[4];
    mf_random(plan->seed, id, lot_stream, 0, words);
    return 4294967296.0 * index + (double)words[0];
}

static void follow(mf_Policy *policy, uint32_t head, double rank, double hops) {
    mf_policy_set_memory(policy, HEAD, head);
    mf_policy_set_memory(policy, RANK, rank);
    mf_policy_set_memory(policy, HOPS, hops);
}

static void follow_itself(mf_Policy *policy, const mf_PolicyPlan *plan) {
    const uint32_t id = plan->first_id + mf_policy_robot(policy),
                   index = position_in_chain(policy, plan);
    follow(policy, index << RANK_SHIFT | id, rank_of(plan, index, id), 0.0);
}

// True: the message is from a module that is nearer to the head.
static bool compare(mf_Policy *policy, const mf_PolicyPlan *plan, const mf_Message *message) {
    const uint32_t head = message->content.words[WORD_HEAD];
    const double hops = message->content.words[WORD_HOPS] + 1.0;
    const double rank = rank_of(plan, head >> RANK_SHIFT, head & ((UINT32_C(1) << RANK_SHIFT) - 1));
    const double best = mf_policy_memory(policy, RANK), own = mf_policy_memory(policy, HEAD);
    if (rank > best || (rank == best && (double)head > own) ||
        ((double)head == own && hops < mf_policy_memory(policy, HOPS)))
        follow(policy, head, rank, hops);
    return (double)head == mf_policy_memory(policy, HEAD) && hops == mf_policy_memory(policy, HOPS);
}

// [rad] How far the own phase is behind the sender's phase less the lag. What was sent in the last
// tick is a period old, like the own phase.
static double listen(mf_Policy *policy, const mf_PolicyPlan *plan) {
    mf_Message message;
    double behind = 0.0;
    while (mf_policy_receive(policy, MF_NONE, &message)) {
        const int worth = message.type == MF_POLICY_HORMONE ? mf_flood_hear(policy, &message) : -1;
        if (worth > 0)
            follow_itself(policy, plan);
        if (worth >= 0 && compare(policy, plan, &message))
            behind = mf_policy_wrap(message.content.floats[WORD_PHASE] - plan->settings.lag -
                                    mf_policy_memory(policy, PHASE));
    }
    return behind;
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    const mf_PolicyBehavior *settings = &plan->settings;
    double sine, cosine;
    if (mf_flood_begin(policy))
        follow_itself(policy, plan);
    const double behind = listen(policy, plan);
    const double rate = two_pi * settings->frequency + settings->coupling * behind;
    const double phase =
        mf_policy_wrap(mf_policy_memory(policy, PHASE) + rate * mf_policy_period(policy));
    mf_policy_set_memory(policy, PHASE, phase);
    mf_Message message = {.type = MF_POLICY_HORMONE, .size = 4 * WORDS};
    message.content.words[WORD_HEAD] = (uint32_t)mf_policy_memory(policy, HEAD);
    message.content.words[WORD_HOPS] = (uint32_t)mf_policy_memory(policy, HOPS);
    message.content.floats[WORD_PHASE] = (float)phase;
    mf_flood_send(policy, &message);
    mf_sin_cos(phase, &sine, &cosine);
    return mf_policy_pose(policy, plan, settings->offset + settings->amplitude * sine);
}

const mf_PolicyKind mf_policy_hormone = {.name = "hormone",
                                         .think = think,
                                         .memory = MEMORY,
                                         .words = WORDS,
                                         .joints = true,
                                         .ends = true,
                                         .sensor = MF_SENSOR_CONTACTS};
