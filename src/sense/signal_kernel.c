// From true values to readings, for a block of robots: saturation, bias and noise, conversion, and
// the ring of delayed samples. A sample that becomes readable is taken from the ring before the
// position is written again.
//
// Converter: k = floor((x - origin) / step + 1/2), reading = origin + k step, within its range.
// With bits the origin is the lower end of the range and the highest code one step below its upper
// end, as those of two's complement are; a range about 0 then shows 0 exactly.
//
// Bias: b = bias n at the start of an episode, then b + drift sqrt(interval) n at each sample: a
// random walk.
#include "sense/signal.h"

#include "math/lane_random.h"
#include "math/lane_vector.h"

#define CODES_MOST ((mf_real)1073741824) // |k| limit of rounding: range of floor

typedef struct SignalLane {
    const mf_SignalBatch *batch;
    const mf_SignalRun *run;
    uint32_t block, lane;
    mf_mask who;
} SignalLane;

static inline size_t offset_of(const SignalLane *at, uint32_t components, uint32_t row) {
    return ((size_t)at->block * components + row) * MF_BLOCK + at->lane;
}

// Four numbers; the values of a sensor beyond its fourth have generators of their own.
static inline void draw(const SignalLane *at, uint32_t stream, uint32_t value, mf_lane out[4]) {
    const uint64_t apart = UINT64_C(0x9e3779b97f4a7c15); // 2^64 over the golden ratio
    mf_normal_lanes(at->batch->seed + value / 4 * apart, at->block * MF_BLOCK + at->lane, stream,
                    at->run->tick, out);
}

static inline mf_lane rounded(const mf_SignalChannel *c, mf_lane x) {
    mf_lane origin = mf_set((mf_real)c->origin), step = mf_set((mf_real)c->step);
    mf_lane code = (x - origin) / step + mf_set((mf_real)0.5);
    mf_mask small = mf_less(mf_abs(code), mf_set(CODES_MOST));
    return mf_select(small, mf_fma(mf_floor_lane(mf_keep(small, code)), step, origin), x);
}

static inline mf_lane converted(const mf_SignalChannel *c, mf_lane x) {
    mf_lane low = mf_set((mf_real)c->low), high = mf_set((mf_real)c->high);
    if (c->converts)
        x = mf_clamp(x, low, high);
    if (c->rounds)
        x = rounded(c, x);
    return c->converts && c->rounds ? mf_clamp(x, low, high) : x;
}

// The bias of up to four values, after drawing or advancing it.
static inline void add_bias(const SignalLane *at, const mf_SignalChannel *c, uint32_t first,
                            uint32_t n, mf_lane x[4]) {
    mf_real *rows =
        (mf_real *)at->batch->bias + offset_of(at, at->batch->bias_components, c->bias + first);
    bool start = at->run->moments == NULL, moves = start || c->wanders;
    mf_lane normal[4];
    if (moves)
        draw(at, (start ? MF_SIGNAL_BIAS : MF_SIGNAL_DRIFT) + c->stream, first, normal);
    mf_lane size = mf_set((mf_real)(start ? c->bias_size : c->drift));
    for (uint32_t i = 0; i < n; i++) {
        mf_lane bias = start ? mf_zero() : mf_load(rows + i * MF_BLOCK);
        if (moves) {
            bias = mf_fma(size, normal[i], bias);
            mf_store_where(at->who, rows + i * MF_BLOCK, bias);
        }
        x[i] = x[i] + bias;
    }
}

static inline void add_noise(const SignalLane *at, const mf_SignalChannel *c, uint32_t first,
                             uint32_t n, mf_lane x[4]) {
    bool start = at->run->moments == NULL;
    mf_lane normal[4];
    draw(at, (start ? MF_SIGNAL_START : MF_SIGNAL_NOISE) + c->stream, first, normal);
    for (uint32_t i = 0; i < n; i++)
        x[i] = mf_fma(mf_set((mf_real)c->noise), normal[i], x[i]);
}

static inline void renormalize(uint32_t n, mf_lane x[4]) {
    mf_lane square = mf_zero();
    for (uint32_t i = 0; i < n; i++)
        square = mf_fma(x[i], x[i], square);
    mf_lane scale = mf_set((mf_real)1) / mf_sqrt(mf_max(square, mf_set((mf_real)1e-30)));
    for (uint32_t i = 0; i < n; i++)
        x[i] = x[i] * scale;
}

static inline mf_real *sample_of(const SignalLane *at, const mf_SignalChannel *c, uint32_t slot) {
    uint32_t row = c->ring + slot * c->count;
    return (mf_real *)at->batch->ring + offset_of(at, at->batch->ring_components, row);
}

static inline void store(const SignalLane *at, const mf_SignalChannel *c, uint32_t value,
                         mf_lane x) {
    const mf_SignalBatch *b = at->batch;
    const size_t row = (size_t)value * MF_BLOCK;
    x = mf_keep(mf_finite(x), x);
    if (c->slots > 0 && at->run->moments != NULL) {
        uint32_t slot = at->run->moments->of[c->clock].write;
        mf_store_where(at->who, sample_of(at, c, slot) + row, x);
        return;
    }
    mf_real *reading = (mf_real *)b->readings + offset_of(at, b->readings_components, c->reading);
    mf_store_where(at->who, reading + row, x);
    for (uint32_t i = 0; i < c->slots; i++) // a start: no other delayed samples
        mf_store_where(at->who, sample_of(at, c, i) + row, x);
}

static inline void measure(const SignalLane *at, const mf_SignalChannel *c, uint32_t first) {
    const mf_SignalBatch *b = at->batch;
    const mf_real *raw = (const mf_real *)b->raw + offset_of(at, b->raw_components, c->raw + first);
    uint32_t n = c->count - first < 4 ? c->count - first : 4;
    mf_lane x[4] = {mf_zero(), mf_zero(), mf_zero(), mf_zero()};
    for (uint32_t i = 0; i < n; i++) {
        mf_lane value = mf_load(raw + i * MF_BLOCK);
        x[i] = mf_keep(mf_finite(value), value);
        if (c->saturates)
            x[i] = mf_clamp(x[i], mf_set((mf_real)c->saturation[0]),
                            mf_set((mf_real)c->saturation[1]));
    }
    if (c->noisy)
        add_noise(at, c, first, n, x);
    if (c->biased)
        add_bias(at, c, first, n, x);
    if (c->unit && (c->noisy || c->biased))
        renormalize(n, x);
    for (uint32_t i = 0; i < n; i++)
        store(at, c, first + i, converted(c, x[i]));
}

// An earlier sample becomes readable.
static inline void show(const SignalLane *at, const mf_SignalChannel *c) {
    const mf_SignalBatch *b = at->batch;
    const mf_real *from = sample_of(at, c, at->run->moments->of[c->clock].read);
    mf_real *to = (mf_real *)b->readings + offset_of(at, b->readings_components, c->reading);
    for (uint32_t i = 0; i < c->count; i++)
        mf_store_where(at->who, to + i * MF_BLOCK, mf_load(from + i * MF_BLOCK));
}

static inline void treat(const SignalLane *at, const mf_SignalChannel *c) {
    const mf_SignalMoments *moments = at->run->moments;
    if (moments != NULL && moments->of[c->clock].shows)
        show(at, c);
    if (moments != NULL && !moments->of[c->clock].due)
        return;
    for (uint32_t first = 0; first < c->count; first += 4)
        measure(at, c, first);
}

// A NaN bias would stay NaN forever.
static inline void ask_bias(SignalLane *at, mf_index fault) {
    const mf_SignalBatch *batch = at->batch;
    if (batch->bias == NULL || at->run->moments == NULL)
        return;
    const mf_real *rows = (const mf_real *)batch->bias + offset_of(at, batch->bias_components, 0);
    mf_lane sum = mf_zero();
    for (uint32_t i = 0; i < batch->bias_components; i++)
        sum = sum + mf_abs(mf_load(rows + i * MF_BLOCK));
    const mf_mask bad = mf_and(at->who, mf_not(mf_finite(sum)));
    if (!mf_any(bad))
        return;
    fault = mf_select_index(bad, fault | mf_set_index(MF_FAULT_NONFINITE), fault);
    mf_store_index(batch->fault + (size_t)at->block * MF_BLOCK + at->lane, fault);
    at->who = mf_and(at->who, mf_not(bad));
}

void MF_KERNEL(mf_signal_run)(const mf_SignalBatch *batch, const mf_SignalRun *run) {
    SignalLane at = {.batch = batch, .run = run};
    for (at.block = run->first; at.block < run->first + run->count; at.block++) {
        for (at.lane = 0; at.lane < MF_BLOCK; at.lane += MF_LANES) {
            // A start concerns one robot, so the single-lane copy runs.
            if (run->moments == NULL && at.lane != run->lane)
                continue;
            mf_index fault = mf_load_index(batch->fault + (size_t)at.block * MF_BLOCK + at.lane);
            at.who = mf_index_equal(fault, mf_set_index(0));
            ask_bias(&at, fault);
            for (uint32_t i = 0; i < batch->channel_count; i++)
                treat(&at, &batch->channels[i]);
        }
    }
}
