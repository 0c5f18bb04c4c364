// A sinusoidal snake: a wave runs along a chain of modules. A module without a neighbor at its
// front is a head and has the clock. Each module sends its number and its phase to the one behind;
// so a module knows both from messages only. In a ring, which has no head, nobody moves.
#include "scene/behavior/minds.h"

#include "math/scalar.h"

enum { PHASE, INDEX, KNOWN, MEMORY };
enum { WORD_INDEX, WORD_PHASE, WORDS };

static const double full_turn = 6.283185307179586;

// What was sent in the last tick is a period old.
static void listen(mf_Mind *mind, const mf_MindPlan *plan, double turned) {
    mf_Message message;
    while (mf_mind_receive(mind, MF_NONE, &message)) {
        if (message.type != MF_MIND_SNAKE || message.dock != plan->front)
            continue;
        const double phase = message.content.floats[WORD_PHASE] + turned - plan->settings.lag;
        mf_mind_remember(mind, PHASE, mf_mind_wrap(phase));
        mf_mind_remember(mind, INDEX, message.content.words[WORD_INDEX] + 1.0);
        mf_mind_remember(mind, KNOWN, 1.0);
    }
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    const double turned = full_turn * plan->settings.frequency * mf_mind_period(mind);
    double sine, cosine;
    mf_mind_remember(mind, PHASE, mf_mind_wrap(mf_mind_recall(mind, PHASE) + turned));
    listen(mind, plan, turned);
    if (!mf_mind_is_engaged(mind, plan->front)) {
        mf_mind_remember(mind, INDEX, 0.0);
        mf_mind_remember(mind, KNOWN, 1.0);
    }
    if (mf_mind_recall(mind, KNOWN) == 0.0)
        return true; // the wave has not come here yet
    if (mf_mind_is_engaged(mind, plan->back)) {
        mf_Message message = {.type = MF_MIND_SNAKE, .size = 4 * WORDS};
        message.content.words[WORD_INDEX] = (uint32_t)mf_mind_recall(mind, INDEX);
        message.content.floats[WORD_PHASE] = (float)mf_mind_recall(mind, PHASE);
        mf_mind_send(mind, plan->back, &message);
    }
    mf_sin_cos(mf_mind_recall(mind, PHASE), &sine, &cosine);
    return mf_mind_pose(mind, plan, plan->settings.offset + plan->settings.amplitude * sine);
}

const mf_MindKind mf_mind_snake = {.name = "snake",
                                   .think = think,
                                   .memory = MEMORY,
                                   .words = WORDS,
                                   .joints = true,
                                   .ends = true,
                                   .sensor = MF_SENSOR_CONTACTS};
