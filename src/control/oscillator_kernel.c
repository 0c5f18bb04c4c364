// Open-loop oscillators for a block of robots:
//
//   target = offset + amplitude * sin(2 pi (frequency * time + phase))
//
// frequency * time grows without bound, so whole periods are removed in double before rounding to
// the group's precision: the error does not grow with simulated time.
//
// Invariants: a robot with a fault word keeps its targets; inputs that are not finite give NaN
// targets (always the same NaN), which the motion reports as a bad input.
#include "control/oscillator.h"

#include "math/lane.h"
#include "math/lane_functions.h"

// Fractional part of x in (-1, 1); 0 from 2^52 on, where all numbers are integers; NaN stays NaN.
static inline double without_cycles(double x) {
    if (x >= 0x1p52 || x <= -0x1p52)
        return x - x;
    if (!(x == x))
        return x;
    return x - (double)(int64_t)x;
}

static void run_lanes(const mf_OscillatorBatch *batch, double seconds, uint32_t block,
                      uint32_t lane) {
    const size_t row = (size_t)block * MF_BLOCK + lane;
    const size_t rows = (size_t)block * batch->joint_count * MF_BLOCK + lane;
    const mf_real *frequency = (const mf_real *)batch->frequency + row;
    const mf_real *offset = (const mf_real *)batch->offset + rows;
    const mf_real *amplitude = (const mf_real *)batch->amplitude + rows;
    const mf_real *phase = (const mf_real *)batch->phase + rows;
    mf_real *target = (mf_real *)batch->target + rows;
    const mf_lane far = mf_set((mf_real)0x1p20), half = mf_set((mf_real)0.5);
    const mf_lane circle = mf_set((mf_real)6.28318530717958647693);
    const mf_lane invalid = mf_set((mf_real)__builtin_nanf(""));

    mf_mask active = mf_index_equal(mf_load_index(batch->fault + row), mf_set_index(0));
    MF_ALIGNED(64) mf_real fraction[MF_BLOCK];
    for (uint32_t i = 0; i < MF_LANES; i++)
        fraction[i] = (mf_real)without_cycles((double)frequency[i] * seconds);
    mf_lane base = mf_load(fraction);
    for (uint32_t joint = 0; joint < batch->joint_count; joint++) {
        size_t at = (size_t)joint * MF_BLOCK;
        mf_lane cycles = base + mf_load(phase + at);
        // The nearest whole number is subtracted; the clamp keeps NaN and huge phases from the
        // conversion to an integer.
        cycles = cycles - mf_floor_lane(mf_clamp(cycles + half, mf_zero() - far, far));
        mf_lane sine, cosine;
        mf_sin_cos_lane(cycles * circle, &sine, &cosine);
        mf_lane value = mf_load(offset + at) + mf_load(amplitude + at) * sine;
        value = mf_select(mf_finite(value), value, invalid);
        mf_store_where(active, target + at, value);
    }
}

void MF_KERNEL(mf_oscillator_run)(const mf_OscillatorBatch *batch, double seconds, uint32_t first,
                                  uint32_t count) {
    for (uint32_t block = first; block < first + count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            run_lanes(batch, seconds, block, lane);
}
