// A sinusoidal snake: a wave runs along a chain of modules. A module without a neighbor at its
// front is a head and has the clock. Each module sends its number and its phase to the one behind;
// so a module knows both from messages only. In a ring, which has no head, nobody moves.
#include "scene/behavior/minds.h"

#include "math/scalar.h"

enum { PHASE, INDEX, KNOWN, MEMORY };
enum { WORD_INDEX, WORD_PHASE, WORDS };
_Static_assert((int)MEMORY == (int)MF_SNAKE_MEMORY && (int)WORDS == (int)MF_SNAKE_WORDS,
               "others begin behind it");

static const double full_turn = 6.283185307179586;

// What was sent in the last tick is a period old.
static void listen(mf_Mind *mind, const mf_MindPlan *plan, uint32_t memory, double turned) {
    mf_Message message;
    while (mf_mind_receive(mind, MF_NONE, &message)) {
        if (message.type != MF_MIND_SNAKE || message.dock != plan->front)
            continue;
        const double phase = message.content.floats[WORD_PHASE] + turned - plan->settings.lag;
        mf_mind_remember(mind, memory + PHASE, mf_mind_wrap(phase));
        mf_mind_remember(mind, memory + INDEX, message.content.words[WORD_INDEX] + 1.0);
        mf_mind_remember(mind, memory + KNOWN, 1.0);
    }
}

static void tell(mf_Mind *mind, const mf_MindPlan *plan, uint32_t memory) {
    mf_Message message = {.type = MF_MIND_SNAKE, .size = 4 * WORDS};
    message.content.words[WORD_INDEX] = (uint32_t)mf_mind_recall(mind, memory + INDEX);
    message.content.floats[WORD_PHASE] = (float)mf_mind_recall(mind, memory + PHASE);
    mf_mind_send(mind, plan->back, &message);
}

bool mf_mind_snake_angle(mf_Mind *mind, const mf_MindPlan *plan, uint32_t memory, double *out) {
    const double turned = full_turn * plan->settings.frequency * mf_mind_period(mind);
    double sine, cosine;
    mf_mind_remember(mind, memory + PHASE,
                     mf_mind_wrap(mf_mind_recall(mind, memory + PHASE) + turned));
    listen(mind, plan, memory, turned);
    if (!mf_mind_is_engaged(mind, plan->front)) {
        mf_mind_remember(mind, memory + INDEX, 0.0);
        mf_mind_remember(mind, memory + KNOWN, 1.0);
    }
    if (mf_mind_recall(mind, memory + KNOWN) == 0.0)
        return false;
    if (mf_mind_is_engaged(mind, plan->back))
        tell(mind, plan, memory);
    mf_sin_cos(mf_mind_recall(mind, memory + PHASE), &sine, &cosine);
    *out = plan->settings.amplitude * sine;
    return true;
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    double angle;
    return !mf_mind_snake_angle(mind, plan, 0, &angle) || // the wave has not come here yet
           mf_mind_pose(mind, plan, plan->settings.offset + angle);
}

const mf_MindKind mf_mind_snake = {.name = "snake",
                                   .think = think,
                                   .memory = MEMORY,
                                   .words = WORDS,
                                   .joints = true,
                                   .ends = true,
                                   .sensor = MF_SENSOR_CONTACTS};
