// One step of fixed-wing aircraft for a block of lanes: commands are checked, the autopilot runs
// when it is due, gusts move on, and the body flies through the step with its surfaces held.
//
// Invariants: a lane with a fault word is left as it is; a lane whose new state is not finite or
// out of range gets a fault word and keeps its old state; no lane reads another.
#include "motion/fixed_wing/autopilot.h"
#include "motion/fixed_wing/gust.h"

static MF_INLINE mf_real *row_at(const mf_WingBlock *block, int row, uint32_t c) {
    return (mf_real *)block->rows[row] + (size_t)c * MF_BLOCK;
}

static MF_INLINE mf_lane row(const mf_WingBlock *block, int which, uint32_t c) {
    return mf_load(row_at(block, which, c));
}

static MF_INLINE Vec row_vec(const mf_WingBlock *block, int which) {
    return MF_VALUE(Vec, row(block, which, 0), row(block, which, 1), row(block, which, 2));
}

static MF_INLINE void keep(mf_mask where, const mf_WingBlock *block, int which, uint32_t c,
                           mf_lane a) {
    mf_store_where(where, row_at(block, which, c), a);
}

static MF_INLINE void keep_vec(mf_mask where, const mf_WingBlock *block, int which, Vec a) {
    keep(where, block, which, 0, a.x);
    keep(where, block, which, 1, a.y);
    keep(where, block, which, 2, a.z);
}

static MF_INLINE mf_real *lows_of(const mf_WingBlock *block, int which) {
    return low_row(block->rows[which], block->low[which]);
}

static MF_INLINE Body load_body(const mf_WingBlock *block) {
    Body body;
    body.position = row_vec(block, MF_WING_ROW_POSITION);
    body.velocity = row_vec(block, MF_WING_ROW_LINEAR);
    body.attitude = MF_VALUE(
        Quat, row(block, MF_WING_ROW_ORIENTATION, 0), row(block, MF_WING_ROW_ORIENTATION, 1),
        row(block, MF_WING_ROW_ORIENTATION, 2), row(block, MF_WING_ROW_ORIENTATION, 3));
    body.rate = row_vec(block, MF_WING_ROW_ANGULAR);
    body.low.position = low_vec(lows_of(block, MF_WING_ROW_POSITION), 0);
    body.low.velocity = low_vec(lows_of(block, MF_WING_ROW_LINEAR), 0);
    body.low.attitude = low_quat(lows_of(block, MF_WING_ROW_ORIENTATION), 0);
    body.low.rate = low_vec(lows_of(block, MF_WING_ROW_ANGULAR), 0);
    return body;
}

static MF_INLINE void keep_low_vec(mf_mask where, mf_real *rows, Vec a) {
    if (rows == NULL)
        return;
    mf_store_where(where, rows, a.x);
    mf_store_where(where, rows + MF_BLOCK, a.y);
    mf_store_where(where, rows + 2 * MF_BLOCK, a.z);
}

static MF_INLINE void keep_remainders(mf_mask alive, const mf_WingBlock *block, const Lows *low) {
    const Quat q = low->attitude;
    mf_real *attitude = lows_of(block, MF_WING_ROW_ORIENTATION);
    keep_low_vec(alive, lows_of(block, MF_WING_ROW_POSITION), low->position);
    keep_low_vec(alive, lows_of(block, MF_WING_ROW_LINEAR), low->velocity);
    keep_low_vec(alive, lows_of(block, MF_WING_ROW_ANGULAR), low->rate);
    if (attitude == NULL)
        return;
    mf_store_where(alive, attitude, q.w);
    keep_low_vec(alive, attitude + MF_BLOCK, MF_VALUE(Vec, q.x, q.y, q.z));
}

static MF_INLINE Autopilot load_autopilot(const mf_WingBlock *block) {
    Autopilot pilot;
    for (uint32_t i = 0; i < MF_WING_COMMANDS; i++)
        pilot.command[i] =
            i < block->plan->command_count ? row(block, MF_WING_ROW_ACCEPTED, i) : mf_zero();
    for (uint32_t i = 0; i < MF_WING_MEMORIES; i++)
        pilot.memory[i] = row(block, MF_WING_ROW_MEMORY, i);
    return pilot;
}

static MF_INLINE void keep_autopilot(mf_mask alive, const mf_WingBlock *block,
                                     const Autopilot *pilot, const Surfaces *surfaces) {
    for (uint32_t i = 0; i < block->plan->command_count; i++)
        keep(alive, block, MF_WING_ROW_ACCEPTED, i, pilot->command[i]);
    for (uint32_t i = 0; i < MF_WING_MEMORIES; i++)
        keep(alive, block, MF_WING_ROW_MEMORY, i, pilot->memory[i]);
    keep(alive, block, MF_WING_ROW_SURFACE, 0, surfaces->elevator);
    keep(alive, block, MF_WING_ROW_SURFACE, 1, surfaces->aileron);
    keep(alive, block, MF_WING_ROW_SURFACE, 2, surfaces->rudder);
    keep(alive, block, MF_WING_ROW_THROTTLE, 0, surfaces->throttle);
}

// ---- faults -------------------------------------------------------------------------------------

static MF_INLINE mf_lane extent(Vec a) {
    return mf_abs(a.x) + mf_abs(a.y) + mf_abs(a.z);
}

static void raise_fault(const mf_WingBlock *block, mf_mask *alive, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(*alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    int32_t *words = (int32_t *)block->rows[MF_WING_ROW_FAULT];
    mf_index word = mf_load_index(words);
    mf_store_index(words, mf_select_index(bad, word | mf_set_index((int32_t)bit), word));
    *alive = mf_and(*alive, fine);
}

// Position within 1e6 m, speed within 1e4 m/s, two radians per step: beyond, nothing here is true.
static MF_INLINE void judge(const mf_WingBlock *block, const mf_real *c, mf_mask *alive,
                            const Body *body, const Autopilot *pilot) {
    mf_lane position = extent(body->position), speed = extent(body->velocity);
    mf_lane spin = extent(body->rate);
    const Quat q = body->attitude;
    mf_lane all = position + speed + spin + mf_abs(q.w) + mf_abs(q.x) + mf_abs(q.y) + mf_abs(q.z);
    for (uint32_t i = 0; i < MF_WING_MEMORIES; i++)
        all = all + mf_abs(pilot->memory[i]);
    raise_fault(block, alive, mf_finite(all), MF_FAULT_NONFINITE);
    mf_mask in_range = mf_and(
        mf_less(position, mf_set((mf_real)1e6)),
        mf_and(mf_less(speed, mf_set((mf_real)1e4)), mf_less(spin, set(c, MF_WING_SPIN_LIMIT))));
    raise_fault(block, alive, in_range, MF_FAULT_RANGE);
}

// ---- step ---------------------------------------------------------------------------------------

static MF_INLINE const mf_real *constants_of(const mf_WingPlan *plan) {
#if defined(MF_KERNEL_F64)
    return plan->constants_f64;
#else
    return plan->constants_f32;
#endif
}

static void count_refused(const mf_WingBlock *block, mf_mask refused) {
    if (!mf_any(refused))
        return;
    int32_t *counts = (int32_t *)block->rows[MF_WING_ROW_REFUSED];
    mf_index count = mf_load_index(counts);
    mf_store_index(counts, mf_select_index(refused, count + mf_set_index(1), count));
}

static MF_INLINE void keep_flow(mf_mask alive, const mf_WingBlock *block, const Body *body,
                                const Air *air) {
    Rotation rotation = rotation_of(body->attitude);
    AirFlow flow = air_flow(through_air(&rotation, body->velocity, air));
    keep(alive, block, MF_WING_ROW_SPEED, 0, flow.speed);
    keep(alive, block, MF_WING_ROW_ALPHA, 0, flow.alpha);
    keep(alive, block, MF_WING_ROW_BETA, 0, flow.beta);
}

static MF_INLINE void keep_gust(mf_mask alive, const mf_WingBlock *block, const Gust *gust) {
    for (uint32_t i = 0; i < GUST_STATES; i++)
        keep(alive, block, MF_WING_ROW_GUST_STATE, i, gust->state[i]);
    keep_vec(alive, block, MF_WING_ROW_GUST, gust->velocity);
}

void MF_KERNEL(mf_fixed_wing_step)(const mf_WingBlock *block) {
    const mf_WingPlan *plan = block->plan;
    const mf_real *c = constants_of(plan);
    const mf_index word = mf_load_index((const int32_t *)block->rows[MF_WING_ROW_FAULT]);
    mf_mask alive = mf_index_equal(word, mf_set_index(0));
    if (!mf_any(alive))
        return;
    Body body = load_body(block);
    Autopilot pilot = load_autopilot(block);
    Surfaces surfaces = {row(block, MF_WING_ROW_SURFACE, 0), row(block, MF_WING_ROW_SURFACE, 1),
                         row(block, MF_WING_ROW_SURFACE, 2), row(block, MF_WING_ROW_THROTTLE, 0)};
    Gust gust = {.velocity = {mf_zero(), mf_zero(), mf_zero()}};
    if (plan->gusty) {
        for (uint32_t i = 0; i < GUST_STATES; i++)
            gust.state[i] = row(block, MF_WING_ROW_GUST_STATE, i);
        gust_step(&gust, c, block);
    }
    Air air = {.wind = row_vec(block, MF_WING_ROW_WIND), .gust = gust.velocity};
    raise_fault(block, &alive, mf_finite(extent(air.wind)), MF_FAULT_INPUT);
    if (block->control_due) {
        mf_mask fine = accept_commands(&pilot, c, block);
        count_refused(block, mf_and(alive, mf_not(fine)));
        Rotation rotation = rotation_of(body.attitude);
        Vec relative = through_air(&rotation, body.velocity, &air);
        mf_lane square =
            mf_fma(relative.x, relative.x, mf_fma(relative.y, relative.y, relative.z * relative.z));
        control(&pilot, c, plan->command, &body, &rotation, mf_sqrt(square), &surfaces);
    }
    Fixed fixed = hold_surfaces(c, &surfaces);
    step_body(c, plan->integrator, &fixed, &air, &body);
    judge(block, c, &alive, &body, &pilot);
    keep_vec(alive, block, MF_WING_ROW_POSITION, body.position);
    keep_vec(alive, block, MF_WING_ROW_LINEAR, body.velocity);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 0, body.attitude.w);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 1, body.attitude.x);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 2, body.attitude.y);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 3, body.attitude.z);
    keep_vec(alive, block, MF_WING_ROW_ANGULAR, body.rate);
    keep_remainders(alive, block, &body.low);
    keep_flow(alive, block, &body, &air);
    if (block->control_due)
        keep_autopilot(alive, block, &pilot, &surfaces);
    if (plan->gusty)
        keep_gust(alive, block, &gust);
}
