// Oscillators that synchronize by messages only (Kuramoto 1984; Acebron et al. 2005, eq. 1): module
// i with the natural frequency w_i and n neighbors, whose phases it hears, has
//     dphase_i / dt = w_i + coupling / n * sum_j sin(phase_j - phase_i).
// Two with the same coupling lock if |w_1 - w_2| <= 2 coupling, with sin(phase_1 - phase_2) =
// (w_1 - w_2) / (2 coupling).
#include "scene/modules/policies.h"

#include "math/scalar.h"

enum { PHASE, BEGUN, RATE, MEMORY };

static const double two_pi = 6.283185307179586;
static const uint32_t start_stream = 0x70686173; // of random numbers: "phas"

// A phase at random, and a frequency that differs by `scatter`: the sum of twelve uniform numbers
// less its mean has the standard deviation 1.
static void begin(mf_Policy *policy, const mf_PolicyPlan *plan) {
    double sum = -6.0;
    uint32_t words[4];
    for (uint32_t k = 0; k < 3; k++) {
        mf_random(plan->seed, plan->first_id + mf_policy_robot(policy), start_stream + k, 0, words);
        for (uint32_t w = 0; w < 4; w++)
            sum += mf_random_unit_double(words[w], 0);
    }
    mf_random(plan->seed, plan->first_id + mf_policy_robot(policy), start_stream + 3, 0, words);
    mf_policy_set_memory(policy, PHASE,
                         mf_policy_wrap(two_pi * mf_random_unit_double(words[0], words[1])));
    mf_policy_set_memory(policy, RATE,
                         two_pi * plan->settings.frequency * (1.0 + plan->settings.scatter * sum));
    mf_policy_set_memory(policy, BEGUN, 1.0);
}

// What was sent in the last tick is a period old: it is compared with the own phase of then.
static double listen(mf_Policy *policy, double before) {
    mf_Message message;
    double sum = 0.0;
    uint32_t count = 0;
    while (mf_policy_receive(policy, MF_NONE, &message)) {
        double sine, cosine;
        if (message.type != MF_POLICY_PHASE)
            continue;
        mf_sin_cos(message.content.floats[0] - before, &sine, &cosine);
        sum += sine;
        count++;
    }
    return count > 0 ? sum / count : 0.0;
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    double sine, cosine;
    if (mf_policy_memory(policy, BEGUN) == 0.0)
        begin(policy, plan);
    const double before = mf_policy_memory(policy, PHASE);
    const double rate =
        mf_policy_memory(policy, RATE) + plan->settings.coupling * listen(policy, before);
    const double phase = mf_policy_wrap(before + rate * mf_policy_period(policy));
    mf_Message message = {.type = MF_POLICY_PHASE, .size = 4};
    mf_policy_set_memory(policy, PHASE, phase);
    message.content.floats[0] = (float)phase;
    mf_policy_tell(policy, &message);
    mf_sin_cos(phase, &sine, &cosine);
    return mf_policy_pose(policy, plan, plan->settings.offset + plan->settings.amplitude * sine);
}

const mf_PolicyKind mf_policy_phase = {.name = "phase",
                                       .think = think,
                                       .memory = MEMORY,
                                       .words = 1,
                                       .joints = true,
                                       .sensor = MF_SENSOR_CONTACTS};
