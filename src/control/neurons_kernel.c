// Recurrent networks for a block of robots, each lane with a network of its own. In the first step
// of a cycle, with states x, inputs u and synapses (from, to, weight),
//
//   s_i = bias_i + sum of weight (x, u)_from,  x_i' = 1 / (1 + exp(-s_i)), or 1 where s_i > 0 else
//   0
//
// and the goal of output k is lower + (upper - lower) x'_attached, at most `change` from its value.
// In each step an output goes the share 1 / (steps left) of the way that is left. Before the first
// cycle outputs are left alone.
//
// Where all lanes have the same synapses (mutants of weights, noise trials) states are loaded, else
// gathered: both add up in the order of the synapses, so they give the same bits.
//
// Invariants: a robot with a fault word keeps its states and outputs; a sum or an output that is
// not finite raises MF_FAULT_CONTROL, and nothing of that robot is stored. Numbers of neurons that
// are out of range, which only foreign writes to the fields make, are no synapses.
#include "control/neurons.h"

#include "math/lane.h"
#include "math/lane_functions.h"

typedef struct Cycle { // of some lanes
    const mf_NeuronsBatch *batch;
    uint32_t block, lane;
    mf_lane *value; // states of neurons, then inputs
    mf_lane *sum;   // per neuron
    mf_mask active;
} Cycle;

// The first of some rows with `components` in a block.
static size_t rows_of(const Cycle *c, uint32_t components) {
    return (size_t)c->block * components * MF_BLOCK + c->lane;
}

static mf_index index_at(const Cycle *c, const uint32_t *field, uint32_t components, uint32_t row) {
    return mf_load_index((const int32_t *)field + rows_of(c, components) + (size_t)row * MF_BLOCK);
}

static mf_lane real_at(const Cycle *c, const void *field, uint32_t components, uint32_t row) {
    return mf_load((const mf_real *)field + rows_of(c, components) + (size_t)row * MF_BLOCK);
}

static void store_real(const Cycle *c, mf_mask where, void *field, uint32_t components,
                       uint32_t row, mf_lane value) {
    mf_store_where(where, (mf_real *)field + rows_of(c, components) + (size_t)row * MF_BLOCK,
                   value);
}

// Whether 0 <= value < limit.
static MF_INLINE mf_mask in_range(mf_index value, uint32_t limit) {
    return mf_and(mf_index_less(mf_set_index(-1), value),
                  mf_index_less(value, mf_set_index((int32_t)limit)));
}

// Whether the lanes where the mask holds have the same number; that number, else 0.
static bool agree(mf_index value, mf_mask where, uint32_t *number) {
    MF_ALIGNED(64) int32_t values[MF_BLOCK], chosen[MF_BLOCK];
    bool any = false, same = true;
    mf_store_index(values, value);
    mf_store_index(chosen, mf_select_index(where, mf_set_index(1), mf_set_index(0)));
    *number = 0;
    for (uint32_t i = 0; i < MF_LANES; i++) {
        if (chosen[i] == 0)
            continue;
        same = same && (!any || (uint32_t)values[i] == *number);
        *number = any ? *number : (uint32_t)values[i];
        any = true;
    }
    return same;
}

// Most of the lanes, at most the capacity.
static uint32_t most_of(mf_index value, uint32_t capacity) {
    MF_ALIGNED(64) int32_t values[MF_BLOCK];
    uint32_t most = 0;
    mf_store_index(values, value);
    for (uint32_t i = 0; i < MF_LANES; i++)
        most = (uint32_t)values[i] > most ? (uint32_t)values[i] : most;
    return most < capacity ? most : capacity;
}

static void read_values(const Cycle *c) {
    const mf_NeuronsBatch *batch = c->batch;
    uint32_t n = 0;
    for (; n < batch->neurons; n++) {
        c->value[n] = real_at(c, batch->state, batch->neurons, n);
        c->sum[n] = real_at(c, batch->bias, batch->neurons, n);
    }
    for (uint32_t f = 0; f < batch->input_fields; f++)
        for (uint32_t i = 0; i < batch->components[f]; i++)
            c->value[n++] = real_at(c, batch->input[f], batch->components[f], i);
}

static void add_synapses(const Cycle *c) {
    const mf_NeuronsBatch *batch = c->batch;
    const mf_index lanes = mf_set_index(MF_LANES), zero = mf_set_index(0);
    const mf_index count = index_at(c, batch->counts, MF_NEURON_COUNTS, MF_NEURON_SYNAPSES);
    const uint32_t most = most_of(count, batch->synapses);
    mf_real *sums = (mf_real *)(void *)c->sum;
    for (uint32_t s = 0; s < most; s++) {
        mf_index from = index_at(c, batch->from, batch->synapses, s);
        mf_index to = index_at(c, batch->to, batch->synapses, s);
        mf_lane weight = real_at(c, batch->weight, batch->synapses, s);
        mf_mask exists = mf_and(c->active, mf_index_less(mf_set_index((int32_t)s), count));
        exists = mf_and(exists, in_range(from, batch->neurons + batch->inputs));
        exists = mf_and(exists, in_range(to, batch->neurons));
        uint32_t one_from, one_to;
        if (agree(from, exists, &one_from) && agree(to, exists, &one_to)) {
            mf_lane sum = mf_fma(weight, c->value[one_from], c->sum[one_to]);
            c->sum[one_to] = mf_select(exists, sum, c->sum[one_to]);
            continue;
        }
        from = mf_select_index(exists, from, zero) * lanes + mf_lane_numbers();
        to = mf_select_index(exists, to, zero) * lanes + mf_lane_numbers();
        mf_lane value = mf_gather((const mf_real *)(const void *)c->value, from);
        mf_scatter(exists, sums, to, mf_fma(weight, value, mf_gather(sums, to)));
    }
}

// All neurons from their sums; returns the lanes whose sums are finite.
static mf_mask fire(const Cycle *c) {
    const mf_NeuronsBatch *batch = c->batch;
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const mf_index count = index_at(c, batch->counts, MF_NEURON_COUNTS, MF_NEURON_NEURONS);
    const uint32_t most = most_of(count, batch->neurons);
    mf_mask sound = c->active;
    for (uint32_t n = 0; n < most; n++) {
        mf_lane sum = c->sum[n];
        mf_mask exists = mf_index_less(mf_set_index((int32_t)n), count);
        mf_index kind = index_at(c, batch->kind, batch->neurons, n);
        mf_lane step = mf_keep(mf_less(zero, sum), one);
        mf_lane smooth = one / (one + mf_exp_lane(-sum));
        mf_mask steps = mf_index_equal(kind, mf_set_index(MF_NEURON_THRESHOLD));
        sound = mf_and(sound, mf_or(mf_finite(sum), mf_not(exists)));
        // A neuron that only other lanes have keeps its zero.
        c->value[n] = mf_select(exists, mf_select(steps, step, smooth), c->value[n]);
    }
    return sound;
}

static mf_mask fresh_goals(const Cycle *c, mf_mask sound) {
    const mf_NeuronsBatch *batch = c->batch;
    const mf_lane change = mf_set((mf_real)batch->change);
    const mf_lane all = mf_set((mf_real)3e38);
    for (uint32_t k = 0; k < batch->outputs; k++) {
        mf_index neuron = index_at(c, batch->attached, batch->outputs, k);
        mf_mask driven = in_range(neuron, batch->neurons);
        mf_index at = mf_select_index(driven, neuron, mf_set_index(0)) * mf_set_index(MF_LANES) +
                      mf_lane_numbers();
        mf_lane lower = real_at(c, batch->range, 2 * batch->outputs, 2 * k);
        mf_lane upper = real_at(c, batch->range, 2 * batch->outputs, 2 * k + 1);
        mf_lane now = real_at(c, batch->output, batch->outputs, k);
        mf_lane state = mf_gather((const mf_real *)(const void *)c->value, at);
        mf_lane by = mf_fma(upper - lower, state, lower) - now;
        mf_mask cut = mf_less(change, mf_abs(by));
        by = mf_select(cut, mf_clamp(by, -change, change), by);
        mf_lane goal = mf_select(driven, now + by, now);
        sound = mf_and(sound, mf_or(mf_less(mf_abs(goal), all), mf_not(driven)));
        store_real(c, mf_and(c->active, driven), batch->goal, batch->outputs, k, goal);
    }
    return sound;
}

static void raise_fault(const Cycle *c, mf_mask bad) {
    uint32_t *word = c->batch->fault + (size_t)c->block * MF_BLOCK + c->lane;
    mf_index bits = mf_load_index((const int32_t *)word);
    bits = mf_select_index(bad, bits | mf_set_index(MF_FAULT_CONTROL), bits);
    mf_store_index((int32_t *)word, bits);
}

// The lanes `where` begin a cycle; returns those that did.
static mf_mask begin_cycle(const Cycle *c) {
    const mf_NeuronsBatch *batch = c->batch;
    read_values(c);
    add_synapses(c);
    mf_mask sound = fire(c);
    sound = mf_and(sound, fresh_goals(c, sound));
    mf_mask bad = mf_and(c->active, mf_not(sound));
    if (mf_any(bad))
        raise_fault(c, bad);
    for (uint32_t n = 0; n < batch->neurons; n++)
        store_real(c, sound, batch->state, batch->neurons, n, c->value[n]);
    return sound;
}

static void count_step(const Cycle *c, mf_index after, mf_index before) {
    uint32_t *row = c->batch->frame + (size_t)c->block * MF_BLOCK + c->lane;
    mf_store_index((int32_t *)row, mf_select_index(c->active, after, before));
}

static void move_outputs(const Cycle *c, mf_index frame) {
    const mf_NeuronsBatch *batch = c->batch;
    const mf_index whole = mf_set_index((int32_t)batch->frames), one = mf_set_index(1);
    mf_lane left = mf_from_index(whole - frame);
    mf_mask last = mf_not(mf_less(mf_set((mf_real)1), left));
    left = mf_select(last, mf_set((mf_real)1), left);
    for (uint32_t k = 0; k < batch->outputs; k++) {
        mf_mask driven = in_range(index_at(c, batch->attached, batch->outputs, k), batch->neurons);
        mf_lane now = real_at(c, batch->output, batch->outputs, k);
        mf_lane goal = real_at(c, batch->goal, batch->outputs, k);
        mf_lane next = mf_select(last, goal, now + (goal - now) / left);
        store_real(c, mf_and(c->active, driven), batch->output, batch->outputs, k, next);
    }
    count_step(c, mf_select_index(last, mf_set_index(0), frame + one), frame);
}

static void run_lanes(const mf_NeuronsBatch *batch, uint32_t block, uint32_t lane,
                      mf_lane *scratch) {
    Cycle cycle = {batch,        block, lane, scratch, scratch + batch->neurons + batch->inputs,
                   mf_mask_all()};
    const mf_index zero = mf_set_index(0);
    mf_index frame = index_at(&cycle, batch->frame, 1, 0);
    mf_mask alive = mf_index_equal(index_at(&cycle, batch->fault, 1, 0), zero);
    mf_mask begins = mf_and(alive, mf_index_equal(frame, zero));
    if (mf_any(begins)) {
        cycle.active = begins;
        mf_mask began = begin_cycle(&cycle);
        alive = mf_and(alive, mf_or(began, mf_not(begins)));
    }
    mf_mask waits = mf_index_less(frame, zero);
    cycle.active = mf_and(alive, waits);
    if (mf_any(cycle.active)) {
        count_step(&cycle, frame + mf_set_index(1), frame);
        frame = index_at(&cycle, batch->frame, 1, 0);
    }
    cycle.active = mf_and(alive, mf_not(waits));
    if (mf_any(cycle.active))
        move_outputs(&cycle, frame);
}

void MF_KERNEL(mf_neurons_run)(const mf_NeuronsBatch *batch, uint32_t first, uint32_t count,
                               void *scratch) {
    for (uint32_t block = first; block < first + count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            run_lanes(batch, block, lane, (mf_lane *)scratch);
}
