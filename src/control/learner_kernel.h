// The interface of the learner's host code and kernel.
#pragma once

#include "control/learner.h"
#include "math/carve.h"
#include "math/kernel.h"

enum {
    MF_LEARNER_BLOCK = 64, // [1] samples that pass through a network together
    MF_LEARNER_SUMS = 3    // [1] numbers that a part adds up
};

// Samples of a batch that one thread takes through one network, and what they give.
typedef struct mf_LearnerPart {
    const mf_LearnerNetwork *network;
    const float *transposed; // weights of all layers but the first, outputs by inputs
    const float *inputs;     // [sample][inputs]
    const uint32_t *order;   // samples; NULL: 0, 1, ...
    uint32_t count;          // [1]
    // Of the actor; NULL for the critic.
    const float *actions, *means; // [sample][actions]
    const float *before;          // deviations (logarithms) before the update
    const float *values;          // [sample] advantages of actions, returns for the critic
    float clip, weight;           // [1]; weight: of a sample in the loss
    float *outputs;               // [sample][outputs]: it runs and learns nothing; else NULL
    float *gradient;              // as the parameters
    void *scratch;                // for mf_learner_carve
    float sums[MF_LEARNER_SUMS];  // half of the squared shift of means, clipped, loss of values
} mf_LearnerPart;

// One step of the optimizer along the sum of gradients.
typedef struct mf_LearnerStep {
    const mf_LearnerNetwork *network;
    float *gradients; // [gradient_count] as the parameters; the first becomes their sum
    uint32_t gradient_count;
    float entropy, longest, rate; // [1]; rate: with the correction of bias
    float *transposed;            // follows the parameters
} mf_LearnerStep;

MF_KERNEL_COPIES(void, mf_learner_part, (mf_LearnerPart * part));
MF_KERNEL_COPIES(void, mf_learner_step, (const mf_LearnerStep *step));

// ---- sizes -------------------------------------------------------------------------------------

static inline uint32_t mf_learner_width(uint32_t units) { // [1] in whole vectors
    return (units + 15) / 16 * 16;
}

// An odd number of cache lines.
static inline uint32_t mf_learner_row(uint32_t units) {
    return 16 * ((units + 15) / 16 | 1);
}

// Where the parameters of a layer begin.
static inline uint32_t mf_learner_begin(const mf_LearnerNetwork *network, uint32_t layer) {
    uint32_t begin = 0;
    for (uint32_t k = 0; k < layer; k++)
        begin += (mf_learner_width(network->sizes[k]) + 1) * mf_learner_row(network->sizes[k + 1]);
    return begin;
}

static inline uint32_t mf_learner_size(const mf_LearnerNetwork *network) {
    return mf_learner_begin(network, network->layers) +
           mf_learner_row(network->sizes[network->layers]);
}

// Where the transposed weights of a layer > 0 begin; layer = layers: their number.
static inline uint32_t mf_learner_begin_transposed(const mf_LearnerNetwork *network,
                                                   uint32_t layer) {
    uint32_t begin = 0;
    for (uint32_t k = 1; k < layer; k++)
        begin += network->sizes[k + 1] * mf_learner_row(network->sizes[k]);
    return begin;
}

// ---- scratch of a part -------------------------------------------------------------------------

typedef struct mf_LearnerBlock {
    float *values[MF_LEARNER_LAYERS + 1];           // of each layer, [sample] rows
    float *slopes[2];                               // of the loss by the values of two layers
    float *actions, *means;                         // [sample] rows of the last layer
    float *ratios;                                  // [sample]
    float *zeros, *inverse, *inverse_before, *used; // one row each
} mf_LearnerBlock;

static inline void mf_learner_carve(mf_Carver *carver, const mf_LearnerNetwork *network,
                                    mf_LearnerBlock *block) {
    const uint32_t last = mf_learner_row(network->sizes[network->layers]);
    uint32_t most = 0;
    for (uint32_t k = 0; k <= network->layers; k++) {
        const uint32_t row = mf_learner_row(network->sizes[k]);
        MF_CARVE(carver, block->values[k], MF_LEARNER_BLOCK * row);
        most = row > most ? row : most;
    }
    for (int k = 0; k < 2; k++)
        MF_CARVE(carver, block->slopes[k], MF_LEARNER_BLOCK * most);
    MF_CARVE(carver, block->actions, MF_LEARNER_BLOCK * last);
    MF_CARVE(carver, block->means, MF_LEARNER_BLOCK * last);
    MF_CARVE(carver, block->ratios, MF_LEARNER_BLOCK);
    MF_CARVE(carver, block->zeros, most);
    MF_CARVE(carver, block->inverse, last);
    MF_CARVE(carver, block->inverse_before, last);
    MF_CARVE(carver, block->used, last);
}
