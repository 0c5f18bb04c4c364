// Neural networks for a block of robots, each lane with weights of its own:
//
//   h = tanh(W x + b) from layer to layer, output = middle + half * tanh(W h + b)
//
// A unit's sum starts with b and adds weight times value in the order of the layer before, by fused
// multiply-adds.
//
// Invariants: a robot with a fault word keeps its outputs; inputs that are not finite give NaN
// outputs (always the same NaN), which the motion reports as a bad input.
#include "control/network.h"

#include "math/lane.h"
#include "math/lane_functions.h"

enum { UNROLL = 4 }; // independent sums, to hide latency

static void read_inputs(const mf_NetworkBatch *batch, uint32_t block, uint32_t lane, mf_lane *out) {
    const mf_NetworkPlan *plan = batch->plan;
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->input_count; i++) {
        const uint32_t components = plan->components[i];
        const mf_real *data =
            (const mf_real *)batch->input[i] + (size_t)block * components * MF_BLOCK + lane;
        for (uint32_t c = 0; c < components; c++)
            out[n++] = mf_load(data + (size_t)c * MF_BLOCK);
    }
}

// The sums of `count` units, at most UNROLL, whose weights begin at `weight`.
static MF_INLINE void add_up(const mf_real *weight, const mf_lane *in, uint32_t size,
                             uint32_t count, mf_lane *sums) {
    const size_t row = ((size_t)size + 1) * MF_BLOCK;
    for (uint32_t k = 0; k < count; k++)
        sums[k] = mf_load(weight + k * row + (size_t)size * MF_BLOCK);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t k = 0; k < count; k++)
            sums[k] = mf_fma(mf_load(weight + k * row + (size_t)i * MF_BLOCK), in[i], sums[k]);
}

static void run_layer(const mf_real *weight, const mf_lane *in, uint32_t size, uint32_t units,
                      mf_lane *out) {
    const size_t row = ((size_t)size + 1) * MF_BLOCK;
    uint32_t unit = 0;
    mf_lane sums[UNROLL];
    for (; unit + UNROLL <= units; unit += UNROLL) {
        add_up(weight + unit * row, in, size, UNROLL, sums);
        for (uint32_t k = 0; k < UNROLL; k++)
            out[unit + k] = mf_tanh_lane(sums[k]);
    }
    for (; unit < units; unit++) {
        add_up(weight + unit * row, in, size, 1, sums);
        out[unit] = mf_tanh_lane(sums[0]);
    }
}

static void run_lanes(const mf_NetworkBatch *batch, uint32_t block, uint32_t lane,
                      mf_lane *scratch) {
    const mf_NetworkPlan *plan = batch->plan;
    const double *middle = mf_network_plan_middle(plan), *half = mf_network_plan_half(plan);
    mf_lane *const layers[2] = {scratch, scratch + plan->most};
    const mf_real *weight =
        (const mf_real *)batch->weight + (size_t)block * plan->weight_count * MF_BLOCK + lane;
    read_inputs(batch, block, lane, layers[0]);
    for (uint32_t k = 0; k + 1 < plan->layers; k++) {
        run_layer(weight, layers[k % 2], plan->sizes[k], plan->sizes[k + 1], layers[(k + 1) % 2]);
        weight += ((size_t)plan->sizes[k] + 1) * plan->sizes[k + 1] * MF_BLOCK;
    }
    const mf_lane *last = layers[(plan->layers - 1) % 2];
    const uint32_t units = plan->sizes[plan->layers - 1];
    const mf_lane invalid = mf_set((mf_real)__builtin_nanf(""));
    mf_mask active = mf_index_equal(mf_load_index(batch->fault + (size_t)block * MF_BLOCK + lane),
                                    mf_set_index(0));
    mf_real *output = (mf_real *)batch->output + (size_t)block * units * MF_BLOCK + lane;
    for (uint32_t i = 0; i < units; i++) {
        mf_lane value = mf_fma(mf_set((mf_real)half[i]), last[i], mf_set((mf_real)middle[i]));
        value = mf_select(mf_finite(value), value, invalid);
        mf_store_where(active, output + (size_t)i * MF_BLOCK, value);
    }
}

void MF_KERNEL(mf_network_run)(const mf_NetworkBatch *batch, uint32_t first, uint32_t count,
                               void *scratch) {
    for (uint32_t block = first; block < first + count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            run_lanes(batch, block, lane, (mf_lane *)scratch);
}
