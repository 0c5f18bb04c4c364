// Oscillators that synchronize by messages only (Kuramoto 1984; Acebron et al. 2005, eq. 1): module
// i with the natural frequency w_i and n neighbors, whose phases it hears, has
//     dphase_i / dt = w_i + coupling / n * sum_j sin(phase_j - phase_i).
// Two with the same coupling lock if |w_1 - w_2| <= 2 coupling, with sin(phase_1 - phase_2) =
// (w_1 - w_2) / (2 coupling).
#include "scene/behavior/minds.h"

#include "math/scalar.h"

enum { PHASE, BEGUN, RATE, MEMORY };

static const double full_turn = 6.283185307179586;
static const uint32_t start_stream = 0x70686173; // of random numbers: "phas"

// A phase at random, and a frequency that differs by `scatter`: the sum of twelve uniform numbers
// less its mean has the standard deviation 1.
static void begin(mf_Mind *mind, const mf_MindPlan *plan) {
    double sum = -6.0;
    uint32_t words[4];
    for (uint32_t k = 0; k < 3; k++) {
        mf_random(plan->seed, plan->first_id + mf_mind_robot(mind), start_stream + k, 0, words);
        for (uint32_t w = 0; w < 4; w++)
            sum += mf_random_unit_double(words[w], 0);
    }
    mf_random(plan->seed, plan->first_id + mf_mind_robot(mind), start_stream + 3, 0, words);
    mf_mind_remember(mind, PHASE,
                     mf_mind_wrap(full_turn * mf_random_unit_double(words[0], words[1])));
    mf_mind_remember(mind, RATE,
                     full_turn * plan->settings.frequency * (1.0 + plan->settings.scatter * sum));
    mf_mind_remember(mind, BEGUN, 1.0);
}

// What was sent in the last tick is a period old: it is compared with the own phase of then.
static double listen(mf_Mind *mind, double before) {
    mf_Message message;
    double sum = 0.0;
    uint32_t count = 0;
    while (mf_mind_receive(mind, MF_NONE, &message)) {
        double sine, cosine;
        if (message.type != MF_MIND_PHASE)
            continue;
        mf_sin_cos(message.content.floats[0] - before, &sine, &cosine);
        sum += sine;
        count++;
    }
    return count > 0 ? sum / count : 0.0;
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    double sine, cosine;
    if (mf_mind_recall(mind, BEGUN) == 0.0)
        begin(mind, plan);
    const double before = mf_mind_recall(mind, PHASE);
    const double rate = mf_mind_recall(mind, RATE) + plan->settings.coupling * listen(mind, before);
    const double phase = mf_mind_wrap(before + rate * mf_mind_period(mind));
    mf_Message message = {.type = MF_MIND_PHASE, .size = 4};
    mf_mind_remember(mind, PHASE, phase);
    message.content.floats[0] = (float)phase;
    for (uint32_t d = 0; d < mf_mind_docks(mind); d++)
        if (mf_mind_is_engaged(mind, d))
            mf_mind_send(mind, d, &message);
    mf_sin_cos(phase, &sine, &cosine);
    return mf_mind_pose(mind, plan, plan->settings.offset + plan->settings.amplitude * sine);
}

const mf_MindKind mf_mind_phase = {.name = "phase",
                                   .think = think,
                                   .memory = MEMORY,
                                   .words = 1,
                                   .joints = true,
                                   .sensor = MF_SENSOR_CONTACTS};
