// Muscles by Hill's model in MuJoCo's form (documentation, "Muscles"): with the length L and the
// velocity V in units of the optimal length and the largest shortening velocity,
//     force = -(peak) (activation FL(L) FV(V) + FP(L)),
// FL a bump of four parabolas between `lower` and `upper`, FV a parabola on each side of standing
// still, FP a parabola that becomes a line. Activation follows the control with a time constant
// that grows with activation when it rises and shrinks when it falls (Millard et al. 2013), the
// change between the two smooth over `smoothing` (a quintic).
#ifndef MF_MOTION_ARTICULATED_MUSCLE_H
#define MF_MOTION_ARTICULATED_MUSCLE_H

#include "motion/articulated/state.h"

static inline mf_lane muscle_value(double v) {
    return mf_set((mf_real)v);
}

// A parabola of height one half at x = 1.
static inline mf_lane muscle_half(mf_lane x) {
    return mf_set((mf_real)0.5) * x * x;
}

static inline mf_lane muscle_active(const mf_ArtMuscle *m, mf_lane length) {
    const mf_lane one = mf_set((mf_real)1);
    const double left = 0.5 * (m->lower + 1.0), right = 0.5 * (1.0 + m->upper);
    const double tiny = 1e-15;
    const mf_lane a = (length - muscle_value(m->lower)) *
                      muscle_value(1.0 / (left - m->lower > tiny ? left - m->lower : tiny)),
                  b = (one - length) * muscle_value(1.0 / (1.0 - left > tiny ? 1.0 - left : tiny)),
                  c = (length - one) *
                      muscle_value(1.0 / (right - 1.0 > tiny ? right - 1.0 : tiny)),
                  d = (muscle_value(m->upper) - length) *
                      muscle_value(1.0 / (m->upper - right > tiny ? m->upper - right : tiny));
    mf_lane out = muscle_half(d);
    out = mf_select(mf_less_equal(length, muscle_value(right)), one - muscle_half(c), out);
    out = mf_select(mf_less_equal(length, one), one - muscle_half(b), out);
    out = mf_select(mf_less_equal(length, muscle_value(left)), muscle_half(a), out);
    return mf_keep(mf_and(mf_less_equal(muscle_value(m->lower), length),
                          mf_less_equal(length, muscle_value(m->upper))),
                   out);
}

static inline mf_lane muscle_speed(const mf_ArtMuscle *m, mf_lane speed) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const double over = m->lengthening - 1.0;
    const mf_lane most = muscle_value(m->lengthening), rest = muscle_value(over) - speed;
    const mf_lane up = one + speed;
    mf_lane out = most;
    out = mf_select(mf_less_equal(speed, muscle_value(over)),
                    most - rest * rest * muscle_value(1.0 / (over > 1e-15 ? over : 1e-15)), out);
    out = mf_select(mf_less_equal(speed, zero), up * up, out);
    return mf_select(mf_less_equal(speed, -one), zero, out);
}

static inline mf_lane muscle_passive(const mf_ArtMuscle *m, mf_lane length) {
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5);
    const double right = 0.5 * (1.0 + m->upper), width = right - 1.0 > 1e-15 ? right - 1.0 : 1e-15;
    const mf_lane x = (length - one) * muscle_value(1.0 / width),
                  y = (length - muscle_value(right)) * muscle_value(1.0 / width);
    const mf_lane out =
        mf_select(mf_less_equal(length, muscle_value(right)), muscle_half(x), half + y);
    return mf_keep(mf_less(one, length), out * muscle_value(m->passive));
}

static inline mf_lane muscle_force(const mf_ArtMuscle *m, mf_lane activation, mf_lane length,
                                   mf_lane rate) {
    const mf_lane scaled = mf_fma(muscle_value(m->scale), length, muscle_value(m->offset));
    const mf_lane active = muscle_active(m, scaled) * muscle_speed(m, rate * muscle_value(m->rate));
    const mf_lane sum = mf_fma(activation, active, muscle_passive(m, scaled));
    return -(muscle_value(m->force) * sum);
}

// How fast activation changes [1/s].
static inline mf_lane muscle_change(const mf_ArtMuscle *m, mf_lane control, mf_lane activation) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), tiny = mf_set((mf_real)1e-15);
    const mf_lane grade =
        mf_fma(mf_set((mf_real)1.5), mf_clamp(activation, zero, one), mf_set((mf_real)0.5));
    const mf_lane rise = muscle_value(m->rise) * grade, fall = muscle_value(m->fall) / grade;
    const mf_lane distance = mf_clamp(control, zero, one) - activation;
    mf_lane time = mf_select(mf_less(zero, distance), rise, fall);
    if (m->smoothing >= 1e-15) {
        const mf_lane x = mf_clamp(
            mf_fma(distance, muscle_value(1.0 / m->smoothing), mf_set((mf_real)0.5)), zero, one);
        const mf_lane bend =
            mf_fma(x, mf_fma(x, mf_set((mf_real)6), mf_set((mf_real)-15)), mf_set((mf_real)10));
        time = mf_fma(x * x * x * bend, rise - fall, fall);
    }
    return distance / mf_max(time, tiny);
}

#endif
