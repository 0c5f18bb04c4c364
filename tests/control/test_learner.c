// The learner's update: the same bits with every instruction set and number of threads, and memory
// that is refused. python/tests/test_learn.py compares it with another implementation.
#include "control/learner_kernel.h"
#include "rig/rig.h"

enum { SAMPLES = 2900, INPUTS = 19, OUTPUTS = 3, EPOCHS = 2 };

// Numbers in -1 .. 1 that are exact in float.
static float number(uint32_t stream, uint64_t index) {
    uint32_t words[4];
    mf_random(7, 0, stream, index, words);
    return (float)(int32_t)(words[0] >> 8) * 0x1p-23f - 1.0f;
}

static void fill(float *rows, size_t count, uint32_t stream) {
    for (size_t i = 0; i < count; i++)
        rows[i] = number(stream, i);
}

typedef struct Samples {
    uint32_t order[EPOCHS * SAMPLES];
    float inputs[SAMPLES * INPUTS], actions[SAMPLES * OUTPUTS], means[SAMPLES * OUTPUTS];
    float advantages[SAMPLES], returns[SAMPLES];
} Samples;

static void make_samples(Samples *samples) {
    for (uint32_t i = 0; i < EPOCHS * SAMPLES; i++)
        samples->order[i] = i % SAMPLES * 1171 % SAMPLES; // coprime
    fill(samples->inputs, SAMPLES * INPUTS, 1);
    fill(samples->actions, SAMPLES * OUTPUTS, 2);
    fill(samples->means, SAMPLES * OUTPUTS, 3);
    fill(samples->advantages, SAMPLES, 4);
    fill(samples->returns, SAMPLES, 5);
}

static mf_LearnerNetwork make_network(mf_Context *context, mf_LearnerActivation activation,
                                      uint32_t outputs) {
    mf_LearnerNetwork network = {
        .layers = 3, .sizes = {INPUTS, 40, 17, outputs}, .activation = activation};
    const uint32_t count = mf_learner_count(&network);
    network.parameters = mf_allocate(context, 3 * (size_t)count, sizeof(float));
    network.first = network.parameters + count;
    network.second = network.first + count;
    for (uint32_t k = 0; k < network.layers; k++)
        for (uint32_t i = 0; i < network.sizes[k]; i++)
            fill(network.parameters + mf_learner_offset(&network, k) +
                     (size_t)i * mf_learner_stride(network.sizes[k + 1]),
                 network.sizes[k + 1], 10 * k + i);
    return network;
}

// A hash of all that an update changes, or the status with which it failed.
static mf_Status update_once(mf_Context *context, const Samples *samples,
                             mf_LearnerActivation activation, uint64_t *hash, mf_Error *error) {
    mf_LearnerUpdate update = {.actor = make_network(context, activation, OUTPUTS),
                               .critic = make_network(context, activation, 1),
                               .samples = SAMPLES,
                               .epochs = EPOCHS,
                               .batches = 2,
                               .order = samples->order,
                               .actor_inputs = samples->inputs,
                               .critic_inputs = samples->inputs,
                               .actions = samples->actions,
                               .means = samples->means,
                               .advantages = samples->advantages,
                               .returns = samples->returns,
                               .clip = 0.2f,
                               .entropy = 0.01f,
                               .divergence = 0.01f,
                               .longest = 1.0f,
                               .least_rate = 1e-5f,
                               .most_rate = 1e-2f,
                               .rate = 1e-3f,
                               .decayed = {1.0, 1.0}};
    float outputs[SAMPLES * OUTPUTS] = {0};
    mf_Status status = mf_learner_update(context, &update, error);
    if (status == MF_OK)
        status = mf_learner_run(context, &update.actor, samples->inputs, SAMPLES, outputs, error);
    *hash = mf_hash_bytes(0, outputs, sizeof outputs);
    const mf_LearnerNetwork *networks[2] = {&update.actor, &update.critic};
    for (int n = 0; n < 2; n++)
        *hash = mf_hash_bytes(*hash, networks[n]->parameters,
                              3 * sizeof(float) * mf_learner_count(networks[n]));
    const float found[] = {update.rate, update.found_divergence, update.clipped, update.value_loss};
    *hash = mf_hash_bytes(*hash, found, sizeof found);
    for (int n = 0; n < 2; n++)
        mf_release(context, networks[n]->parameters);
    return status;
}

TEST(same_bits_with_every_set_and_number_of_threads) {
    static Samples samples;
    make_samples(&samples);
    for (mf_LearnerActivation activation = 0; activation <= MF_LEARNER_RELU; activation++) {
        uint64_t first = 0;
        FOR_EACH_ISA (isa) {
            setenv("MAYFLY_ISA", mf_isa_name(isa), 1);
            for (uint32_t threads = 1; threads <= 3; threads++) {
                AUTO_CONTEXT *context = open_context(threads);
                uint64_t hash;
                MUST(update_once(context, &samples, activation, &hash, &error));
                first = first == 0 ? hash : first;
                assert_int_equal(hash, first);
            }
            unsetenv("MAYFLY_ISA");
        }
    }
}

TEST(memory_that_is_refused) {
    static Samples samples;
    make_samples(&samples);
    AUTO_CONTEXT *context = open_context(1);
    const size_t before = mf_context_live_bytes(context);
    for (int countdown = 3; countdown <= 4; countdown++) { // after the networks: update, run
        mf_context_fail_after(context, countdown);
        mf_Error error = {0};
        uint64_t hash;
        assert_int_equal(update_once(context, &samples, MF_LEARNER_ELU, &hash, &error),
                         MF_NO_MEMORY);
        mf_context_fail_after(context, 0);
        assert_non_null(strstr(error.message, "learner: no memory"));
        assert_int_equal(mf_context_live_bytes(context), before);
    }
}

TEST(batches_of_no_sample_are_refused) {
    AUTO_CONTEXT *context = open_context(1);
    mf_Error error = {0};
    mf_LearnerUpdate update = {.samples = 3, .batches = 4};
    assert_int_equal(mf_learner_update(context, &update, &error), MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "3 samples, need one for each of 4 batches"));
}
