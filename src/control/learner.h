// The update of proximal policy optimization (Schulman et al. 2017) for multilayer perceptrons. It
// is internal: the Python module (mayfly.learn) has the loop round it, which steps environments.
#pragma once

#include <mayfly/base.h>

#define MF_LEARNER_LAYERS 8u // [1] most layers of weights

typedef enum mf_LearnerActivation {
    MF_LEARNER_TANH,
    MF_LEARNER_ELU, // e^x - 1 below 0
    MF_LEARNER_RELU
} mf_LearnerActivation;

// A network, and the moments of its optimizer (Adam, Kingma and Ba 2015). The caller owns the
// numbers, which are aligned to 64 bytes and 0 where nothing is said: layer by layer
// rows of mf_learner_stride() numbers, the weights of one input each and, in the last row before
// the next layer, the biases; then one row, the logarithms of the standard deviations of actions.
typedef struct mf_LearnerNetwork {
    uint32_t layers;                       // [1] of weights
    uint32_t sizes[MF_LEARNER_LAYERS + 1]; // [1] units of each layer, inputs first
    mf_LearnerActivation activation;       // between layers
    float *parameters;
    float *first, *second; // moments
} mf_LearnerNetwork;

uint32_t mf_learner_stride(uint32_t units); // [1] numbers from one row to the next
// [1] where the parameters of a layer begin; layer = layers: where the deviations do.
uint32_t mf_learner_offset(const mf_LearnerNetwork *network, uint32_t layer);
uint32_t mf_learner_count(const mf_LearnerNetwork *network); // [1] parameters

// Outputs of `count` rows of inputs, rows without gaps.
mf_Status mf_learner_run(mf_Context *context, const mf_LearnerNetwork *network, const float *inputs,
                         uint32_t count, float *outputs, mf_Error *error);

// One update: `epochs` passes over the samples in `batches` parts each, a step of both networks for
// each part.
typedef struct mf_LearnerUpdate {
    mf_LearnerNetwork actor, critic;
    uint32_t samples, epochs, batches;         // [1] samples >= batches
    const uint32_t *order;                     // [epochs][samples] permutations
    const float *actor_inputs, *critic_inputs; // [sample][inputs]
    const float *actions, *means;              // [sample][actions]; means of when it acted
    const float *advantages, *returns;         // [sample]
    float clip;       // [1] the ratio of densities counts within 1 - clip .. 1 + clip
    float entropy;    // [1] its weight in the loss
    float divergence; // [1] that a step aims at (Kullback and Leibler); the rate follows it
    float longest;    // [1] limit of the length of a gradient, of each network
    float least_rate, most_rate; // [1] range of the rate of the optimizer
    // Of the state before and after.
    float rate;        // [1]
    double decayed[2]; // [1] 0.9^n and 0.999^n after n steps
    // What it gives, means over all parts.
    float found_divergence; // [1]
    float clipped;          // [1] share of samples beyond the clip range
    float value_loss;       // [1] half of the squared error of the estimate of returns
} mf_LearnerUpdate;

// The same bits with every number of threads and every instruction set.
mf_Status mf_learner_update(mf_Context *context, mf_LearnerUpdate *update, mf_Error *error);
