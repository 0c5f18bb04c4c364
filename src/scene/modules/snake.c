// A sinusoidal snake: a wave runs along a chain of modules. A module without a neighbor at its
// front is a head and has the clock. Each module sends its number and its phase to the one behind;
// so a module knows both from messages only. In a ring, which has no head, nobody moves.
#include "scene/modules/policies.h"

#include "math/scalar.h"

enum { PHASE, INDEX, KNOWN, MEMORY };
enum { WORD_INDEX, WORD_PHASE, WORDS };
_Static_assert((int)MEMORY == (int)MF_SNAKE_MEMORY && (int)WORDS == (int)MF_SNAKE_WORDS,
               "others begin behind it");

static const double two_pi = 6.283185307179586;

// What was sent in the last tick is a period old.
static void listen(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory, double angle) {
    mf_Message message;
    while (mf_policy_receive(policy, MF_NONE, &message)) {
        if (message.type != MF_POLICY_SNAKE || message.dock != plan->front)
            continue;
        const double phase = message.content.floats[WORD_PHASE] + angle - plan->settings.lag;
        mf_policy_set_memory(policy, memory + PHASE, mf_policy_wrap(phase));
        mf_policy_set_memory(policy, memory + INDEX, message.content.words[WORD_INDEX] + 1.0);
        mf_policy_set_memory(policy, memory + KNOWN, 1.0);
    }
}

static void tell(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory) {
    mf_Message message = {.type = MF_POLICY_SNAKE, .size = 4 * WORDS};
    message.content.words[WORD_INDEX] = (uint32_t)mf_policy_memory(policy, memory + INDEX);
    message.content.floats[WORD_PHASE] = (float)mf_policy_memory(policy, memory + PHASE);
    mf_policy_send(policy, plan->back, &message);
}

bool mf_policy_snake_angle(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory,
                           double *out) {
    const double angle = two_pi * plan->settings.frequency * mf_policy_period(policy);
    double sine, cosine;
    mf_policy_set_memory(policy, memory + PHASE,
                         mf_policy_wrap(mf_policy_memory(policy, memory + PHASE) + angle));
    listen(policy, plan, memory, angle);
    if (!mf_policy_is_engaged(policy, plan->front)) {
        mf_policy_set_memory(policy, memory + INDEX, 0.0);
        mf_policy_set_memory(policy, memory + KNOWN, 1.0);
    }
    if (mf_policy_memory(policy, memory + KNOWN) == 0.0)
        return false;
    if (mf_policy_is_engaged(policy, plan->back))
        tell(policy, plan, memory);
    mf_sin_cos(mf_policy_memory(policy, memory + PHASE), &sine, &cosine);
    *out = plan->settings.amplitude * sine;
    return true;
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    double angle;
    return !mf_policy_snake_angle(policy, plan, 0, &angle) || // the wave has not come here yet
           mf_policy_pose(policy, plan, plan->settings.offset + angle);
}

const mf_PolicyKind mf_policy_snake = {.name = "snake",
                                       .think = think,
                                       .memory = MEMORY,
                                       .words = WORDS,
                                       .joints = true,
                                       .ends = true,
                                       .sensor = MF_SENSOR_CONTACTS};
