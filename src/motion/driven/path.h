// Paths of joints. At the beginning of a control interval T a joint at q with rate v is given a
// knot p, its target within its limits and no farther than its speed allows, and goes there by the
// cubic
//     a = (6 D / T - 4 v - 2 e) / T,    j = (6 v + 6 e - 12 D / T) / T^2,    D = p - q
// which has rate e at the knot. e is the slope of the parabola through the last three knots,
// (3 D - D') / (2 T) with the travel D' of the interval before: the path of a smooth motion is then
// as smooth as its samples allow, where a rate of 0 would stop every joint at every knot. A cubic
// lies between its Bezier points q, q + v T / 3, p - e T / 3 and p, so e is kept so small that this
// interval and the next stay within the limits.
#ifndef MF_MOTION_DRIVEN_PATH_H
#define MF_MOTION_DRIVEN_PATH_H

#include "motion/articulated/load_store.h"
#include "motion/driven/plan.h"

#if defined(MF_KERNEL_F64)
#define MF_DRIVEN_CONSTANTS(plan) mf_driven_constants_f64(plan)
#else
#define MF_DRIVEN_CONSTANTS(plan) mf_driven_constants_f32(plan)
#endif

// Of plan link `link`, -1 = base.
static MF_INLINE const mf_real *driven_constants(const mf_DrivenPlan *plan, int32_t link) {
    return MF_DRIVEN_CONSTANTS(plan) + MF_DRIVEN_SETTINGS +
           (size_t)(link + 1) * MF_DRIVEN_LINK_VALUES;
}
static MF_INLINE mf_lane driven_setting(const mf_DrivenPlan *plan, uint32_t which) {
    return mf_set(MF_DRIVEN_CONSTANTS(plan)[which]);
}

typedef struct Paths {
    // Per plan link:
    mf_lane *acceleration; // [rad/s^2] or [m/s^2] at the beginning
    mf_lane *jerk;         // [rad/s^3] or [m/s^3]
    mf_lane *travel;       // [rad] or [m]
} Paths;

static inline void paths_carve(const mf_ArtPlan *plan, mf_Carver *carver, Paths *paths) {
    MF_CARVE(carver, paths->acceleration, plan->link_count);
    MF_CARVE(carver, paths->jerk, plan->link_count);
    MF_CARVE(carver, paths->travel, plan->link_count);
}

typedef struct Knot {
    mf_lane position; // [rad] or [m]
    mf_lane rate;     // [rad/s] or [m/s]
} Knot;

// Where a joint without leader goes.
static MF_INLINE Knot knot_of(const mf_DrivenBlock *block, uint32_t l) {
    const mf_DrivenPlan *plan = block->plan;
    const mf_real *c = driven_constants(plan, (int32_t)l);
    const uint32_t row = mf_art_links(mf_driven_art(plan))[l].row;
    const mf_lane lower = mf_set(c[MF_DRIVEN_LOWER]), upper = mf_set(c[MF_DRIVEN_UPPER]),
                  most = mf_set(c[MF_DRIVEN_TRAVEL]), fastest = mf_set(c[MF_DRIVEN_FASTEST]),
                  zero = mf_zero(), per_second = driven_setting(plan, MF_DRIVEN_INVERSE_INTERVAL);
    mf_lane now = row_load(row_of(&block->art, MF_ART_ROW_ANGLE), row);
    mf_lane target = row_load(row_of(&block->art, MF_ART_ROW_TARGET), row);
    mf_lane passed = row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_PASSED], row);
    mf_lane position = mf_clamp(now + mf_clamp(target - now, zero - most, most), lower, upper);
    mf_lane travel = position - now;
    mf_lane rate =
        mf_fma(mf_set((mf_real)3), travel, -passed) * (per_second * mf_set((mf_real)0.5));
    mf_lane space = mf_max(mf_min(upper - position, position - lower), zero);
    mf_lane limit = mf_min(space * (per_second * mf_set((mf_real)3)), fastest);
    return MF_VALUE(Knot, position, mf_clamp(rate, zero - limit, limit));
}

static inline void path_begin(const mf_DrivenBlock *block, uint32_t l, const State *state,
                              Paths *paths) {
    const mf_DrivenPlan *plan = block->plan;
    const uint32_t leader = mf_driven_all(plan)[l + 1].leader;
    const mf_lane per_second = driven_setting(plan, MF_DRIVEN_INVERSE_INTERVAL),
                  six = mf_set((mf_real)6);
    Knot knot = knot_of(block, leader);
    if (leader != l) {
        const mf_real *c = driven_constants(plan, (int32_t)l);
        const mf_lane multiplier = mf_set(c[MF_DRIVEN_MULTIPLIER]);
        knot = MF_VALUE(Knot, mf_fma(knot.position, multiplier, mf_set(c[MF_DRIVEN_SHIFT])),
                        knot.rate * multiplier);
    }
    const mf_lane travel = knot.position - state->angle[l], rate = state->speed[l];
    const mf_lane mean = travel * per_second;
    mf_lane down = mf_fma(mf_set((mf_real)-4), rate, mf_set((mf_real)-2) * knot.rate);
    paths->acceleration[l] = mf_fma(six, mean, down) * per_second;
    mf_lane sum = mf_fma(mf_set((mf_real)-2), mean, rate + knot.rate);
    paths->jerk[l] = six * sum * (per_second * per_second);
    paths->travel[l] = travel;
}

// Clamps forget what is not a number, so it is requested here.
static inline void paths_check(Step *s, const mf_DrivenBlock *block) {
    const mf_ArtPlan *plan = s->plan;
    mf_lane commanded = mf_zero(), passed = mf_zero();
    const mf_ArtLink *links = mf_art_links(plan);
    const mf_DrivenLink *roles = mf_driven_all(block->plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const uint32_t row = links[l].row;
        if (links[l].kind == MF_ART_BALL || roles[l + 1].leader != l)
            continue;
        commanded = commanded + mf_abs(row_load(row_of(&block->art, MF_ART_ROW_TARGET), row));
        passed = passed + mf_abs(row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_PASSED], row));
    }
    for (uint32_t i = 0; i < plan->contact_count; i++)
        passed = passed + mf_abs(row_load(row_of(&block->art, MF_ART_ROW_LOAD), i)) +
                 mf_abs(row_load(row_of(&block->art, MF_ART_ROW_SLIP), i));
    raise_fault(s, mf_finite(commanded), MF_FAULT_INPUT);
    raise_fault(s, mf_finite(passed), MF_FAULT_NONFINITE);
}

static inline void paths_load(Step *s, const mf_DrivenBlock *block, const State *state,
                              Paths *paths) {
    const mf_ArtPlan *plan = s->plan;
    if (block->due)
        paths_check(s, block);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL)
            continue;
        if (block->due) {
            path_begin(block, l, state, paths);
            continue;
        }
        paths->acceleration[l] =
            row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_ACCELERATION], link->row);
        paths->jerk[l] = row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_JERK], link->row);
    }
}

static inline void paths_store(const Step *s, const mf_DrivenBlock *block, const Paths *paths) {
    const mf_ArtPlan *plan = s->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const uint32_t row = links[l].row;
        if (links[l].kind == MF_ART_BALL)
            continue;
        keep_at(s, block->rows[MF_DRIVEN_ROW_ACCELERATION], row, paths->acceleration[l]);
        if (!block->due)
            continue;
        keep_at(s, block->rows[MF_DRIVEN_ROW_JERK], row, paths->jerk[l]);
        keep_at(s, block->rows[MF_DRIVEN_ROW_PASSED], row, paths->travel[l]);
    }
}

// Angle and rate after `step`, which a constant acceleration would have reached with the same
// change of the rate: that is put instead of the present one.
static MF_INLINE void path_ahead(const Paths *paths, uint32_t l, mf_lane step, mf_lane *angle,
                                 mf_lane *rate, mf_lane *acceleration) {
    const mf_lane half = mf_set((mf_real)0.5), third = mf_set((mf_real)(1.0 / 3.0));
    const mf_lane jerk = paths->jerk[l] * step, now = paths->acceleration[l];
    mf_lane bend = mf_fma(jerk, third, now) * half;
    *angle = mf_fma(mf_fma(bend, step, *rate), step, *angle);
    *acceleration = mf_fma(jerk, half, now);
    *rate = mf_fma(*acceleration, step, *rate);
}

// The same, of sums with remainders (math/lane_sum.h).
static MF_INLINE void path_sum(const Paths *paths, uint32_t l, mf_lane step, mf_lane *angle,
                               mf_lane *rate, mf_lane *low_angle, mf_lane *low_rate) {
    const mf_lane half = mf_set((mf_real)0.5), third = mf_set((mf_real)(1.0 / 3.0));
    const mf_lane jerk = paths->jerk[l] * step, now = paths->acceleration[l];
    mf_lane bend = mf_fma(jerk, third, now) * half;
    *angle = sum_fma(mf_fma(bend, step, *rate), step, *angle, low_angle);
    *rate = sum_fma(mf_fma(jerk, half, now), step, *rate, low_rate);
}

#endif
