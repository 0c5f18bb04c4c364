// The update of proximal policy optimization: cuts batches into parts for threads, adds their
// gradients in order, and adapts the rate of the optimizer (learner_float_kernel.c computes).
//
// Invariant: parts are cut by the size of a batch alone, so results do not depend on threads.
#include "base/context.h"
#include "base/floats.h"
#include "control/learner_kernel.h"
#include "math/kernel_table.h"
#include "math/scalar.h"

#include <string.h>

enum {
    PART = 512,     // [1] samples of a part, at least
    MOST_PARTS = 16 // [1] of a batch
};

typedef void (*PartFn)(mf_LearnerPart *part);
typedef void (*StepFn)(const mf_LearnerStep *step);

uint32_t mf_learner_stride(uint32_t units) {
    return mf_learner_row(units);
}

uint32_t mf_learner_offset(const mf_LearnerNetwork *network, uint32_t layer) {
    return mf_learner_begin(network, layer);
}

uint32_t mf_learner_count(const mf_LearnerNetwork *network) {
    return mf_learner_size(network);
}

static size_t scratch_bytes(const mf_LearnerNetwork *network) {
    mf_LearnerBlock block;
    mf_Carver carver = {NULL, 0};
    mf_learner_carve(&carver, network, &block);
    return carver.used;
}

static mf_Status pick(PartFn *part, StepFn *step, mf_Error *error) {
    static const PartFn parts[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_learner_part);
    static const StepFn steps[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_FLOAT(mf_learner_step);
    mf_Isa isa;
    MF_TRY(mf_isa_detect(&isa, error));
    *part = parts[mf_kernel_row(isa)][0];
    *step = steps[mf_kernel_row(isa)][0];
    return MF_OK;
}

// ---- outputs -----------------------------------------------------------------------------------

// Runs parts and steps of one job on the threads.
typedef struct Work {
    PartFn run_part;
    StepFn run_step;
    mf_LearnerPart *parts;
    mf_LearnerStep steps[2];
} Work;

static void run_part(void *task, uint32_t index) {
    MF_DEFAULT_FLOATS;
    const Work *work = task;
    work->run_part(&work->parts[index]);
}

static void run_step(void *task, uint32_t index) {
    MF_DEFAULT_FLOATS;
    const Work *work = task;
    work->run_step(&work->steps[index]);
}

static uint32_t part_count(uint32_t samples) {
    const uint32_t parts = (samples + PART - 1) / PART;
    return parts < MOST_PARTS ? parts : MOST_PARTS;
}

// The first sample of a part, in whole blocks.
static uint32_t part_begin(uint32_t samples, uint32_t part, uint32_t parts) {
    const uint64_t blocks = (samples + MF_LEARNER_BLOCK - 1) / MF_LEARNER_BLOCK;
    const uint64_t first = blocks * part / parts * MF_LEARNER_BLOCK;
    return first < samples ? (uint32_t)first : samples;
}

mf_Status mf_learner_run(mf_Context *context, const mf_LearnerNetwork *network, const float *inputs,
                         uint32_t count, float *outputs, mf_Error *error) {
    Work work;
    MF_TRY(pick(&work.run_part, &work.run_step, error));
    const uint32_t parts = part_count(count), units = network->sizes[network->layers];
    const size_t scratch = scratch_bytes(network);
    char *memory = mf_allocate(context, parts, scratch);
    if (memory == NULL)
        return mf_fail(error, MF_NO_MEMORY, "learner: no memory for a network of %u layers",
                       network->layers);
    mf_LearnerPart list[MOST_PARTS];
    work.parts = list;
    for (uint32_t p = 0; p < parts; p++) {
        const uint32_t first = part_begin(count, p, parts);
        list[p] = (mf_LearnerPart){.network = network,
                                   .inputs = inputs + (size_t)first * network->sizes[0],
                                   .count = part_begin(count, p + 1, parts) - first,
                                   .outputs = outputs + (size_t)first * units,
                                   .scratch = memory + p * scratch};
    }
    mf_parallel_for(context, parts, run_part, &work);
    mf_release(context, memory);
    return MF_OK;
}

// ---- updates -----------------------------------------------------------------------------------

// The memory of an update, one allocation; gradients and weights of actor and critic.
typedef struct Memory {
    float *before, *gradients[2], *transposed[2];
    char *scratch;
    size_t scratch_step; // [byte]
} Memory;

static void carve(mf_Carver *carver, const mf_LearnerUpdate *update, uint32_t parts,
                  Memory *memory) {
    const mf_LearnerNetwork *networks[2] = {&update->actor, &update->critic};
    MF_CARVE(carver, memory->before, mf_learner_row(update->actor.sizes[update->actor.layers]));
    memory->scratch_step = 0;
    for (int n = 0; n < 2; n++) {
        const size_t scratch = scratch_bytes(networks[n]);
        MF_CARVE(carver, memory->gradients[n], (size_t)parts * mf_learner_size(networks[n]));
        MF_CARVE(carver, memory->transposed[n],
                 mf_learner_begin_transposed(networks[n], networks[n]->layers));
        memory->scratch_step = scratch > memory->scratch_step ? scratch : memory->scratch_step;
    }
    MF_CARVE(carver, memory->scratch, 2 * parts * memory->scratch_step);
}

// The parts of a batch, those of the actor first.
static void cut_batch(const mf_LearnerUpdate *update, const Memory *memory, const uint32_t *order,
                      uint32_t size, uint32_t parts, mf_LearnerPart *list) {
    for (uint32_t i = 0; i < 2 * parts; i++) {
        const bool acts = i < parts;
        const uint32_t p = acts ? i : i - parts, first = part_begin(size, p, parts);
        const mf_LearnerNetwork *network = acts ? &update->actor : &update->critic;
        list[i] = (mf_LearnerPart){.network = network,
                                   .transposed = memory->transposed[acts ? 0 : 1],
                                   .inputs = acts ? update->actor_inputs : update->critic_inputs,
                                   .order = order + first,
                                   .count = part_begin(size, p + 1, parts) - first,
                                   .actions = acts ? update->actions : NULL,
                                   .means = acts ? update->means : NULL,
                                   .before = memory->before,
                                   .values = acts ? update->advantages : update->returns,
                                   .clip = update->clip,
                                   .weight = 1.0f / (float)size,
                                   .gradient = memory->gradients[acts ? 0 : 1] +
                                               (size_t)p * mf_learner_size(network),
                                   .scratch = memory->scratch + i * memory->scratch_step};
    }
}

// The mean divergence of the policy before the update from the present one.
static float divergence_of(const mf_LearnerUpdate *update, const float *before, float shift) {
    const mf_LearnerNetwork *actor = &update->actor;
    const float *now = actor->parameters + mf_learner_begin(actor, actor->layers);
    double sum = (double)shift;
    for (uint32_t j = 0; j < actor->sizes[actor->layers]; j++) {
        const double wider = (double)now[j] - (double)before[j];
        sum += wider + 0.5 * mf_exp(-2.0 * wider) - 0.5;
    }
    return (float)sum;
}

static void adapt_rate(mf_LearnerUpdate *update, float found) {
    float rate = update->rate;
    if (found > 2.0f * update->divergence)
        rate /= 1.5f;
    else if (found > 0.0f && found < 0.5f * update->divergence)
        rate *= 1.5f;
    rate = rate < update->least_rate ? update->least_rate : rate;
    update->rate = rate > update->most_rate ? update->most_rate : rate;
}

static void learn_batch(mf_Context *context, mf_LearnerUpdate *update, const Memory *memory,
                        Work *work, const uint32_t *order, uint32_t size) {
    const uint32_t parts = part_count(size);
    cut_batch(update, memory, order, size, parts, work->parts);
    mf_parallel_for(context, 2 * parts, run_part, work);
    float sums[MF_LEARNER_SUMS] = {0};
    for (uint32_t p = 0; p < 2 * parts; p++)
        for (uint32_t s = 0; s < MF_LEARNER_SUMS; s++)
            sums[s] += work->parts[p].sums[s] / (float)size;
    const float found = divergence_of(update, memory->before, sums[0]);
    adapt_rate(update, found);
    const float share = 1.0f / (float)(update->epochs * update->batches);
    update->found_divergence += share * found;
    update->clipped += share * sums[1];
    update->value_loss += share * sums[2];
    update->decayed[0] *= 0.9;
    update->decayed[1] *= 0.999;
    const double unbiased = mf_sqrt(1.0 - update->decayed[1]) / (1.0 - update->decayed[0]);
    for (int n = 0; n < 2; n++) {
        work->steps[n].gradient_count = parts;
        work->steps[n].rate = (float)((double)update->rate * unbiased);
    }
    mf_parallel_for(context, 2, run_step, work);
}

mf_Status mf_learner_update(mf_Context *context, mf_LearnerUpdate *update, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Work work;
    MF_TRY(pick(&work.run_part, &work.run_step, error));
    MF_NEED(update->batches > 0 && update->samples >= update->batches, error,
            "learner: %u samples, need one for each of %u batches", update->samples,
            update->batches);
    const uint32_t most = (update->samples - 1) / update->batches + 1;
    Memory memory;
    mf_Carver carver = {NULL, 0};
    carve(&carver, update, part_count(most), &memory);
    carver = (mf_Carver){mf_allocate(context, 1, carver.used), 0};
    void *const base = carver.block;
    if (base == NULL)
        return mf_fail(error, MF_NO_MEMORY, "learner: no memory for batches of %u samples", most);
    carve(&carver, update, part_count(most), &memory);
    mf_LearnerPart list[2 * MOST_PARTS];
    work.parts = list;
    for (int n = 0; n < 2; n++)
        work.steps[n] = (mf_LearnerStep){.network = n == 0 ? &update->actor : &update->critic,
                                         .gradients = memory.gradients[n],
                                         .entropy = n == 0 ? update->entropy : 0.0f,
                                         .longest = update->longest,
                                         .transposed = memory.transposed[n]};
    const mf_LearnerNetwork *actor = &update->actor;
    memcpy(memory.before, actor->parameters + mf_learner_begin(actor, actor->layers),
           mf_learner_row(actor->sizes[actor->layers]) * sizeof(float));
    update->found_divergence = update->clipped = update->value_loss = 0.0f;
    mf_parallel_for(context, 2, run_step, &work); // without gradients: weights are transposed
    for (uint32_t e = 0; e < update->epochs; e++)
        for (uint32_t b = 0; b < update->batches; b++) {
            const uint64_t first = (uint64_t)update->samples * b / update->batches;
            const uint64_t end = (uint64_t)update->samples * (b + 1) / update->batches;
            learn_batch(context, update, &memory, &work,
                        update->order + (size_t)e * update->samples + first,
                        (uint32_t)(end - first));
        }
    mf_release(context, base);
    return MF_OK;
}
