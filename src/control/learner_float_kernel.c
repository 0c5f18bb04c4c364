// Multilayer perceptrons with weights that all samples share: outputs, gradients, steps of Adam.
//
// A block of samples passes forward, through the loss and backward while it is in the cache. The
// three products of matrices (outputs, gradients of weights, gradients of inputs) are one function:
// lanes are columns, and each number adds its products in the order of the third index, by fused
// multiply-adds. So neither the width of vectors nor that of tiles shows in the result. Rows begin
// an odd number of cache lines apart: columns of a matrix then use all sets of the cache.
//
// Networks as controllers (network_kernel.c) have weights of their own for each robot, so there
// lanes are robots; their units add up in the same order.
//
// Invariants: columns between a layer's units and its width are 0 in all that is stored; sums of
// rows have the same shape on every instruction set, 16 partial sums.
#include "control/learner_kernel.h"

#include "math/lane.h"
#include "math/lane_functions.h"

enum {
    TILE = MF_LANES > 8 ? 8 : 4, // rows that a tile keeps in registers
    COLUMN = 16                  // partial sums
};

// ---- products of matrices ----------------------------------------------------------------------

// out(i, j) = start(i, j) + sum over k of left(i, k) right(k, j)
typedef struct Product {
    float *out;
    const float *start, *left, *right;
    uint32_t out_row, start_row, left_row, left_step, right_row;
    uint32_t rows, columns, depth; // rows in whole tiles, columns in whole vectors of 16
} Product;

static MF_INLINE void multiply_tile(const Product *p, uint32_t i, uint32_t j, int vectors) {
    mf_lane sum[TILE][2];
    const float *start = p->start + (size_t)i * p->start_row + j;
    for (int r = 0; r < TILE; r++)
        for (int c = 0; c < vectors; c++)
            sum[r][c] = mf_load(start + (size_t)r * p->start_row + c * MF_LANES);
    const float *left = p->left + (size_t)i * p->left_row, *right = p->right + j;
    const size_t left_row = p->left_row, left_step = p->left_step, right_row = p->right_row;
    for (uint32_t k = 0; k < p->depth; k++) {
        mf_lane row[2];
        for (int c = 0; c < vectors; c++)
            row[c] = mf_load(right + c * MF_LANES);
        for (int r = 0; r < TILE; r++)
            for (int c = 0; c < vectors; c++)
                sum[r][c] = mf_fma(mf_set(left[r * left_row]), row[c], sum[r][c]);
        left += left_step;
        right += right_row;
    }
    float *out = p->out + (size_t)i * p->out_row + j;
    for (int r = 0; r < TILE; r++)
        for (int c = 0; c < vectors; c++)
            mf_store(out + (size_t)r * p->out_row + c * MF_LANES, sum[r][c]);
}

static void multiply(const Product *product) {
    uint32_t j = 0;
    for (; j + 2 * MF_LANES <= product->columns; j += 2 * MF_LANES)
        for (uint32_t i = 0; i < product->rows; i += TILE)
            multiply_tile(product, i, j, 2);
    for (; j < product->columns; j += MF_LANES)
        for (uint32_t i = 0; i < product->rows; i += TILE)
            multiply_tile(product, i, j, 1);
}

// ---- activations -------------------------------------------------------------------------------

static MF_INLINE mf_lane activate(mf_lane x, mf_LearnerActivation kind) {
    if (kind == MF_LEARNER_TANH)
        return mf_tanh_lane(x);
    const mf_mask above = mf_less(mf_zero(), x);
    const mf_lane below = kind == MF_LEARNER_ELU ? mf_exp_lane(mf_min(x, mf_zero())) - mf_set(1.0f)
                                                 : mf_zero() * x; // not a number stays
    return mf_select(above, x, below);
}

// The derivative by the activation's value.
static MF_INLINE mf_lane incline(mf_lane y, mf_LearnerActivation kind) {
    if (kind == MF_LEARNER_TANH)
        return mf_fma(-y, y, mf_set(1.0f));
    const mf_lane below = kind == MF_LEARNER_ELU ? y + mf_set(1.0f) : mf_zero();
    return mf_select(mf_less(mf_zero(), y), mf_set(1.0f), below);
}

static MF_INLINE void activate_rows(float *values, uint32_t units, uint32_t rows,
                                    mf_LearnerActivation kind) {
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < mf_learner_width(units); j += MF_LANES) {
            float *at = values + (size_t)i * mf_learner_row(units) + j;
            mf_store(at, activate(mf_load(at), kind));
        }
}

static MF_INLINE void incline_rows(float *slope, const float *values, uint32_t units, uint32_t rows,
                                   mf_LearnerActivation kind) {
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < mf_learner_width(units); j += MF_LANES) {
            const size_t at = (size_t)i * mf_learner_row(units) + j;
            mf_store(slope + at, mf_load(slope + at) * incline(mf_load(values + at), kind));
        }
}

// ---- a network ---------------------------------------------------------------------------------

static void copy_rows(float *to, const float *from, uint32_t units, const mf_LearnerPart *part,
                      uint32_t first, uint32_t count, uint32_t rows) {
    const uint32_t stride = mf_learner_row(units);
    for (uint32_t i = 0; i < rows; i++) {
        const size_t sample = i >= count            ? 0
                              : part->order == NULL ? first + i
                                                    : part->order[first + i];
        for (uint32_t j = 0; j < units; j++)
            to[(size_t)i * stride + j] = i < count ? from[sample * units + j] : 0.0f;
        for (uint32_t j = units; j < stride; j++)
            to[(size_t)i * stride + j] = 0.0f;
    }
}

static void run_forward(const mf_LearnerNetwork *network, mf_LearnerBlock *block, uint32_t rows) {
    const float *weights = network->parameters;
    for (uint32_t k = 0; k < network->layers; k++) {
        const uint32_t inputs = network->sizes[k], units = network->sizes[k + 1];
        const float *biases = weights + (size_t)mf_learner_width(inputs) * mf_learner_row(units);
        const Product product = {.out = block->values[k + 1],
                                 .start = biases,
                                 .left = block->values[k],
                                 .right = weights,
                                 .out_row = mf_learner_row(units),
                                 .start_row = 0,
                                 .left_row = mf_learner_row(inputs),
                                 .left_step = 1,
                                 .right_row = mf_learner_row(units),
                                 .rows = rows,
                                 .columns = mf_learner_width(units),
                                 .depth = inputs};
        multiply(&product);
        if (k + 1 < network->layers && network->activation == MF_LEARNER_TANH)
            activate_rows(block->values[k + 1], units, rows, MF_LEARNER_TANH);
        else if (k + 1 < network->layers && network->activation == MF_LEARNER_ELU)
            activate_rows(block->values[k + 1], units, rows, MF_LEARNER_ELU);
        else if (k + 1 < network->layers)
            activate_rows(block->values[k + 1], units, rows, MF_LEARNER_RELU);
        weights = biases + mf_learner_row(units);
    }
}

// Adds the gradient of the weights and biases of a layer.
static void add_gradient(const mf_LearnerNetwork *network, uint32_t k, const mf_LearnerBlock *block,
                         const float *slope, uint32_t rows, float *gradient) {
    const uint32_t inputs = network->sizes[k], units = network->sizes[k + 1];
    const Product product = {.out = gradient,
                             .start = gradient,
                             .left = block->values[k],
                             .right = slope,
                             .out_row = mf_learner_row(units),
                             .start_row = mf_learner_row(units),
                             .left_row = 1,
                             .left_step = mf_learner_row(inputs),
                             .right_row = mf_learner_row(units),
                             .rows = mf_learner_width(inputs),
                             .columns = mf_learner_width(units),
                             .depth = rows};
    multiply(&product);
    float *biases = gradient + (size_t)mf_learner_width(inputs) * mf_learner_row(units);
    for (uint32_t j = 0; j < mf_learner_width(units); j += MF_LANES) {
        mf_lane sum = mf_load(biases + j);
        for (uint32_t i = 0; i < rows; i++)
            sum = sum + mf_load(slope + (size_t)i * mf_learner_row(units) + j);
        mf_store(biases + j, sum);
    }
}

// Slopes of the values of layer k > 0, from those of the layer after it.
static void run_back(const mf_LearnerNetwork *network, uint32_t k, const mf_LearnerBlock *block,
                     const float *transposed, const float *slope, uint32_t rows, float *out) {
    const uint32_t inputs = network->sizes[k], units = network->sizes[k + 1];
    const Product product = {.out = out,
                             .start = block->zeros,
                             .left = slope,
                             .right = transposed + mf_learner_begin_transposed(network, k),
                             .out_row = mf_learner_row(inputs),
                             .start_row = 0,
                             .left_row = mf_learner_row(units),
                             .left_step = 1,
                             .right_row = mf_learner_row(inputs),
                             .rows = rows,
                             .columns = mf_learner_width(inputs),
                             .depth = units};
    multiply(&product);
    if (network->activation == MF_LEARNER_TANH)
        incline_rows(out, block->values[k], inputs, rows, MF_LEARNER_TANH);
    else if (network->activation == MF_LEARNER_ELU)
        incline_rows(out, block->values[k], inputs, rows, MF_LEARNER_ELU);
    else
        incline_rows(out, block->values[k], inputs, rows, MF_LEARNER_RELU);
}

// ---- the loss ----------------------------------------------------------------------------------

// The sum of 16 partial sums.
static MF_INLINE float add_up(const float partial[COLUMN]) {
    float sum[COLUMN / 2];
    for (int c = 0; c < COLUMN / 2; c++)
        sum[c] = partial[c] + partial[c + COLUMN / 2];
    for (int width = COLUMN / 4; width > 0; width /= 2)
        for (int c = 0; c < width; c++)
            sum[c] += sum[c + width];
    return sum[0];
}

// Logarithms of the ratio of densities, and (action - mean) / deviation, which becomes `off`.
// Returns the sum of half of the squared shift of means, in deviations.
static float compare_actions(const mf_LearnerBlock *block, const float *means, uint32_t units,
                             uint32_t count, float *off) {
    const uint32_t stride = mf_learner_row(units);
    float shift = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        MF_ALIGNED(64) float ratio[COLUMN], moved[COLUMN];
        for (uint32_t c = 0; c < COLUMN; c += MF_LANES) {
            mf_lane logarithm = mf_zero(), square = mf_zero();
            for (uint32_t j = c; j < mf_learner_width(units); j += COLUMN) {
                const size_t at = (size_t)i * stride + j;
                const mf_lane action = mf_load(block->actions + at), mean = mf_load(means + at);
                const mf_lane old = mf_load(block->means + at);
                const mf_lane now = (action - mean) * mf_load(block->inverse + j);
                const mf_lane then = (action - old) * mf_load(block->inverse_before + j);
                const mf_lane move = (mean - old) * mf_load(block->inverse + j);
                mf_store(off + at, now);
                logarithm = mf_fma(then, then, mf_fma(-now, now, logarithm));
                square = mf_fma(move, move, square);
            }
            mf_store(ratio + c, logarithm);
            mf_store(moved + c, square);
        }
        block->ratios[i] = 0.5f * add_up(ratio);
        shift += 0.5f * add_up(moved);
    }
    return shift;
}

// Slopes of the loss by the outputs of the actor, and by the deviations.
static void find_actor_slopes(mf_LearnerPart *part, const mf_LearnerBlock *block, uint32_t first,
                              uint32_t count, uint32_t rows, float *slope, float *deviation) {
    const mf_LearnerNetwork *network = part->network;
    const uint32_t units = network->sizes[network->layers], stride = mf_learner_row(units);
    const float *logarithms = network->parameters + mf_learner_begin(network, network->layers);
    part->sums[0] += compare_actions(block, block->values[network->layers], units, count, slope);
    float wider = 0.0f; // by the deviations alone
    for (uint32_t j = 0; j < units; j++)
        wider += part->before[j] - logarithms[j];
    for (uint32_t i = 0; i < MF_LEARNER_BLOCK; i += MF_LANES) {
        const mf_lane logarithm = mf_load(block->ratios + i) + mf_set(wider);
        mf_store(block->ratios + i,
                 mf_exp_lane(mf_clamp(logarithm, mf_set(-20.0f), mf_set(20.0f))));
    }
    for (uint32_t i = 0; i < rows; i++) {
        float pull = 0.0f;
        if (i < count) {
            const uint32_t sample = part->order[first + i];
            const float gain = part->values[sample], ratio = block->ratios[i];
            const bool beyond =
                gain > 0.0f ? !(ratio < 1.0f + part->clip) : !(ratio > 1.0f - part->clip);
            pull = beyond ? 0.0f : -gain * ratio * part->weight;
            part->sums[1] += beyond ? 1.0f : 0.0f;
        }
        for (uint32_t j = 0; j < mf_learner_width(units); j += MF_LANES) {
            float *at = slope + (size_t)i * stride + j;
            const mf_lane off = i < count ? mf_load(at) : mf_zero();
            const mf_lane square = mf_fma(off, off, -mf_load(block->used + j));
            mf_store(deviation + j, mf_fma(mf_set(pull), square, mf_load(deviation + j)));
            mf_store(at, mf_set(pull) * off * mf_load(block->inverse + j));
        }
    }
}

static void find_critic_slopes(mf_LearnerPart *part, const mf_LearnerBlock *block, uint32_t first,
                               uint32_t count, uint32_t rows, float *slope) {
    const mf_LearnerNetwork *network = part->network;
    const float *values = block->values[network->layers];
    const uint32_t stride = mf_learner_row(network->sizes[network->layers]);
    for (uint32_t i = 0; i < rows * stride; i++)
        slope[i] = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        const float miss = values[i * stride] - part->values[part->order[first + i]];
        slope[i * stride] = miss * part->weight;
        part->sums[2] += 0.5f * miss * miss;
    }
}

// ---- a part of a batch -------------------------------------------------------------------------

static void prepare_deviations(const mf_LearnerPart *part, const mf_LearnerBlock *block) {
    const mf_LearnerNetwork *network = part->network;
    const float *logarithms = network->parameters + mf_learner_begin(network, network->layers);
    const uint32_t units = network->sizes[network->layers];
    for (uint32_t j = 0; j < mf_learner_width(units); j += MF_LANES) {
        mf_store(block->inverse + j, mf_exp_lane(-mf_load(logarithms + j)));
        mf_store(block->inverse_before + j, mf_exp_lane(-mf_load(part->before + j)));
    }
    for (uint32_t j = 0; j < mf_learner_width(units); j++)
        block->used[j] = j < units ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < MF_LEARNER_BLOCK; i++)
        block->ratios[i] = 0.0f;
}

static void learn_block(mf_LearnerPart *part, mf_LearnerBlock *block, uint32_t first,
                        uint32_t count, uint32_t rows) {
    const mf_LearnerNetwork *network = part->network;
    const uint32_t last = network->layers, units = network->sizes[last];
    float *slope = block->slopes[0], *next = block->slopes[1];
    if (part->actions != NULL) {
        copy_rows(block->actions, part->actions, units, part, first, count, rows);
        copy_rows(block->means, part->means, units, part, first, count, rows);
        find_actor_slopes(part, block, first, count, rows, slope,
                          part->gradient + mf_learner_begin(network, last));
    } else {
        find_critic_slopes(part, block, first, count, rows, slope);
    }
    for (uint32_t k = last; k-- > 0;) {
        add_gradient(network, k, block, slope, rows, part->gradient + mf_learner_begin(network, k));
        if (k == 0)
            break;
        run_back(network, k, block, part->transposed, slope, rows, next);
        float *swap = slope;
        slope = next;
        next = swap;
    }
}

void MF_KERNEL(mf_learner_part)(mf_LearnerPart *part) {
    const mf_LearnerNetwork *network = part->network;
    const uint32_t units = network->sizes[network->layers];
    mf_LearnerBlock block;
    mf_Carver carver = {(char *)part->scratch, 0};
    mf_learner_carve(&carver, network, &block);
    for (uint32_t j = 0; j < (uint32_t)(block.inverse - block.zeros); j++)
        block.zeros[j] = 0.0f;
    if (part->outputs == NULL)
        for (uint32_t i = 0; i < mf_learner_size(network); i++)
            part->gradient[i] = 0.0f;
    if (part->actions != NULL)
        prepare_deviations(part, &block);
    for (uint32_t first = 0; first < part->count; first += MF_LEARNER_BLOCK) {
        const uint32_t rest = part->count - first;
        const uint32_t count = rest < MF_LEARNER_BLOCK ? rest : MF_LEARNER_BLOCK;
        const uint32_t rows = (count + 7) / 8 * 8;
        copy_rows(block.values[0], part->inputs, network->sizes[0], part, first, count, rows);
        run_forward(network, &block, rows);
        if (part->outputs == NULL)
            learn_block(part, &block, first, count, rows);
        for (uint32_t i = 0; part->outputs != NULL && i < count; i++)
            for (uint32_t j = 0; j < units; j++)
                part->outputs[(size_t)(first + i) * units + j] =
                    block.values[network->layers][i * mf_learner_row(units) + j];
    }
}

// ---- the optimizer -----------------------------------------------------------------------------

static void transpose(const mf_LearnerNetwork *network, float *out) {
    for (uint32_t k = 1; k < network->layers; k++) {
        const uint32_t inputs = network->sizes[k], units = network->sizes[k + 1];
        const float *weights = network->parameters + mf_learner_begin(network, k);
        for (uint32_t j = 0; j < units; j++)
            for (uint32_t i = 0; i < inputs; i++)
                out[(size_t)j * mf_learner_row(inputs) + i] =
                    weights[(size_t)i * mf_learner_row(units) + j];
        out += (size_t)units * mf_learner_row(inputs);
    }
}

// Adds the gradients up, in their order; returns the square of the length of the sum.
static float add_gradients(const mf_LearnerStep *step, uint32_t size) {
    const mf_LearnerNetwork *network = step->network;
    float *sum = step->gradients;
    for (uint32_t i = 0; i < size; i += MF_LANES) {
        mf_lane all = mf_load(sum + i);
        for (uint32_t g = 1; g < step->gradient_count; g++)
            all = all + mf_load(sum + (size_t)g * size + i);
        mf_store(sum + i, all);
    }
    float *deviations = sum + mf_learner_begin(network, network->layers);
    for (uint32_t j = 0; j < network->sizes[network->layers]; j++)
        deviations[j] -= step->entropy;
    MF_ALIGNED(64) float partial[COLUMN];
    for (uint32_t c = 0; c < COLUMN; c += MF_LANES) {
        mf_lane square = mf_zero();
        for (uint32_t i = c; i < size; i += COLUMN)
            square = mf_fma(mf_load(sum + i), mf_load(sum + i), square);
        mf_store(partial + c, square);
    }
    return add_up(partial);
}

void MF_KERNEL(mf_learner_step)(const mf_LearnerStep *step) {
    const mf_LearnerNetwork *network = step->network;
    const uint32_t size = mf_learner_size(network);
    if (step->gradient_count > 0) {
        const mf_lane length = mf_sqrt(mf_set(add_gradients(step, size)));
        const mf_lane one = mf_set(1.0f),
                      short_of = mf_set(step->longest) / (length + mf_set(1e-8f));
        const mf_lane scale = mf_min(short_of, one);
        for (uint32_t i = 0; i < size; i += MF_LANES) {
            const mf_lane slope = mf_load(step->gradients + i) * scale;
            mf_lane first = mf_load(network->first + i), second = mf_load(network->second + i);
            first = mf_fma(mf_set(0.1f), slope - first, first);
            second = mf_fma(mf_set(0.001f), slope * slope - second, second);
            const mf_lane move = mf_set(step->rate) * first / (mf_sqrt(second) + mf_set(1e-8f));
            mf_store(network->first + i, first);
            mf_store(network->second + i, second);
            mf_store(network->parameters + i, mf_load(network->parameters + i) - move);
        }
    }
    transpose(network, step->transposed);
}
