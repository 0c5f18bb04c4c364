// Gaits for a block of robots, each with its own gait: the kernel runs gait after gait and masks
// the other lanes.
//
// Time since the selection of a gait is counted in whole ticks and converted to nanoseconds, and to
// a phase or a position between two frames, in integers, so there is no drift. Targets of a new
// gait are blended with the previous ones:
//
//   target = from + (3 b^2 - 2 b^3) (value - from),   b = time / blend up to 1
//
// The rate of change of commands is limited by the gait. Invariants: a robot with a fault word
// keeps its state; one without a gait keeps its targets; a non-finite command or rate gives targets
// of NaN (always the same one), which the motion reports as an input fault; otherwise targets are
// within the joints' ranges.

#include "control/gait.h"
#include "math/lane_functions.h"
#include "math/lane_vector.h"

// ---- gait walk ----------------------------------------------------------------------------------

// Bipedal walking in lanes: paths of the feet, inverse kinematics of the legs. Included by the gait
// kernel only.
//
// A leg swings for the fraction s = (1 - double support) / 2 of the period and stands for the rest.
// In stance its foot moves back under the trunk by v T (1 - s) at constant speed, like the ground;
// in swing it returns on the cubic with the ground's speed at both ends. With p = -1/2 .. 1/2 its
// forward progress, T the period and the commands v, w:
//
//   foot = Rz(w T (1-s) p) (v T (1-s) p + (0, +-width)) + (offset, sway, lift - height)
//
// relative to the center between the hips, in level axes with the trunk's heading; the trunk leans.

// Inputs of a walk in one step.
typedef struct GaitWish {
    mf_lane forward, left, yaw; // [m/s], [m/s], [rad/s] smoothed commands
    mf_lane activity;           // [1] 0 stands, 1 moves
    mf_lane pitch, roll;        // [rad/s] inputs of the balance
} GaitWish;

// Position of a foot in its cycle.
typedef struct GaitStep {
    mf_lane swing;    // [1] 0 .. 1 through the swing, 1 in the stance
    mf_lane progress; // [1] -1/2 .. 1/2
    mf_lane gone;     // [1] 0 .. 1 through the stance, 0 in the swing
    mf_mask swings;
} GaitStep;

static MF_INLINE mf_lane gait_number(double a) {
    return mf_set((mf_real)a);
}

// 3 u^2 - 2 u^3.
static MF_INLINE mf_lane gait_smooth(mf_lane u) {
    return u * u * mf_fma(gait_number(-2), u, gait_number(3));
}

// Fractional part of `cycles`, for |cycles| < 2^31.
static MF_INLINE mf_lane gait_fraction(mf_lane cycles) {
    return cycles - mf_floor_lane(cycles);
}

static MF_INLINE GaitStep gait_step(mf_lane phase, double share) {
    const mf_lane one = gait_number(1), half = gait_number(0.5);
    const double back = -share / (1.0 - share); // the ground's speed in units of the swing
    GaitStep step;
    step.swings = mf_less(phase, gait_number(share));
    step.swing = mf_min(phase * gait_number(1.0 / share), one);
    step.gone =
        mf_clamp((phase - gait_number(share)) * gait_number(1.0 / (1.0 - share)), mf_zero(), one);
    mf_lane u = step.swing;
    mf_lane bent = u * mf_fma(u, mf_fma(gait_number(2), u, gait_number(-3)), one);
    mf_lane forth = mf_fma(gait_number(back), bent, gait_smooth(u) - half);
    step.progress = mf_select(step.swings, forth, half - step.gone);
    return step;
}

// [1] height of a swinging foot.
static MF_INLINE mf_lane gait_lift(const GaitStep *step, mf_GaitPath path) {
    const mf_lane one = gait_number(1), four = gait_number(4);
    mf_lane u = step->swing, height;
    if (path == MF_GAIT_TRAPEZOID) {
        height = gait_smooth(mf_min(mf_min(four * u, four * (one - u)), one));
    } else {
        mf_lane sine, cosine;
        mf_sin_cos_lane(u * gait_number(3.14159265358979323846), &sine, &cosine);
        height = sine * sine;
    }
    return mf_keep(step->swings, height);
}

static MF_INLINE mf_lane gait_wrap(mf_lane angle) {
    const mf_lane half = gait_number(3.14159265358979323846);
    const mf_lane circle = gait_number(6.28318530717958647693);
    angle = mf_select(mf_less(half, angle), angle - circle, angle);
    return mf_select(mf_less(angle, mf_zero() - half), angle + circle, angle);
}

// Angles of a leg from the position of its hip relative to the ankle, base axes, and the columns of
// the foot's rotation: as mf_leg_inverse (leg.c).
static MF_INLINE void gait_leg(const mf_Leg *leg, Vec away, Vec foot_x, Vec foot_y, Vec foot_z,
                               mf_lane out[MF_LEG_JOINTS]) {
    const double a2 = leg->thigh[0] * leg->thigh[0] + leg->thigh[1] * leg->thigh[1];
    const double b2 = leg->shin[0] * leg->shin[0] + leg->shin[1] * leg->shin[1];
    const double ab = __builtin_sqrt(a2 * b2);
    const mf_lane one = gait_number(1);
    mf_lane seen_y = vec_dot(foot_y, away), seen_z = vec_dot(foot_z, away);
    mf_lane ankle_roll = mf_atan2_lane(seen_y, seen_z), sine, cosine;
    mf_sin_cos_lane(ankle_roll, &sine, &cosine);
    Vec y = vec_fma(foot_z, mf_zero() - sine, vec_scale(foot_y, cosine));
    mf_lane up = mf_fma(sine, foot_y.z, cosine * foot_z.z);
    mf_lane level = mf_sqrt(mf_fma(y.x, y.x, y.y * y.y));
    mf_lane yaw = mf_atan2_lane(mf_zero() - y.x, y.y), roll = mf_atan2_lane(y.z, level);
    mf_lane sum = mf_atan2_lane(mf_zero() - foot_x.z, up);
    mf_mask upright = mf_less(mf_zero(), level);
    mf_lane safe = mf_select(upright, level, one);
    mf_lane yaw_cosine = mf_select(upright, y.y / safe, one);
    mf_lane yaw_sine = mf_keep(upright, (mf_zero() - y.x) / safe);
    mf_lane x = mf_zero() - mf_fma(yaw_cosine, away.x, yaw_sine * away.y);
    mf_lane aside = mf_fma(yaw_sine, away.x, mf_zero() - yaw_cosine * away.y);
    mf_lane z = mf_zero() - mf_fma(y.z, aside, level * away.z);
    mf_lane bend = (mf_fma(x, x, z * z) - gait_number(a2 + b2)) * gait_number(0.5 / ab);
    bend = mf_select(mf_finite(bend), mf_clamp(bend, mf_zero() - one, one), bend);
    mf_lane side = mf_sqrt((one - bend) * (one + bend));
    mf_lane folded = mf_atan2_lane(side, bend);
    // Divided by the shin's length, as only the ratio matters.
    mf_lane share = mf_atan2_lane(side, bend + gait_number(__builtin_sqrt(a2 / b2)));
    mf_lane thigh = mf_atan2_lane(gait_number(-leg->thigh[0]), gait_number(-leg->thigh[1]));
    mf_lane shin = mf_atan2_lane(gait_number(-leg->shin[0]), gait_number(-leg->shin[1]));
    out[0] = yaw;
    out[1] = roll;
    out[2] = mf_atan2_lane(mf_zero() - x, mf_zero() - z) - share - thigh;
    out[3] = folded + thigh - shin;
    out[4] = sum - out[2] - out[3];
    out[5] = ankle_roll;
    for (int i = 0; i < MF_LEG_JOINTS; i++)
        out[i] = gait_wrap(out[i]);
}

// Columns of the foot's rotation Ry(-lean) Rz(angle), and the hip relative to the ankle.
static MF_INLINE void gait_position(const mf_GaitPlan *plan, int side, Vec foot, mf_lane angle,
                                    mf_lane out[MF_LEG_JOINTS]) {
    const mf_GaitSteps *walk = &plan->walk;
    const mf_Leg *leg = &plan->legs[side];
    mf_lane lean_sine, lean_cosine, sine, cosine;
    double middle[3];
    for (int i = 0; i < 3; i++)
        middle[i] = leg->hip[i] - 0.5 * (plan->legs[0].hip[i] + plan->legs[1].hip[i]);
    mf_sin_cos_lane(gait_number(walk->lean), &lean_sine, &lean_cosine);
    mf_sin_cos_lane(angle, &sine, &cosine);
    Vec x = {lean_cosine * cosine, sine, lean_sine * cosine};
    Vec y = {mf_zero() - lean_cosine * sine, cosine, mf_zero() - lean_sine * sine};
    Vec z = {mf_zero() - lean_sine, mf_zero(), lean_cosine};
    // The foot in base axes, then from it to the hip.
    mf_lane fore = mf_fma(lean_cosine, foot.x, mf_zero() - lean_sine * foot.z);
    mf_lane high = mf_fma(lean_sine, foot.x, lean_cosine * foot.z);
    Vec away = {gait_number(middle[0]) - fore, gait_number(middle[1]) - foot.y,
                gait_number(middle[2]) - high};
    gait_leg(leg, away, x, y, z, out);
}

// Angles of one leg. `steps` is the displacement of its foot forward and to the left by the
// balance; it is set during the swing and removed during the stance.
static MF_INLINE void gait_walk_leg(const mf_GaitPlan *plan, int side, mf_lane phase, mf_lane sway,
                                    const GaitWish *wish, mf_lane steps[2],
                                    mf_lane out[MF_LEG_JOINTS]) {
    const mf_GaitSteps *walk = &plan->walk;
    const mf_GaitBalance *balance = &walk->balance;
    const double share = 0.5 * (1.0 - walk->double_support);
    const mf_lane one = gait_number(1);
    phase = gait_fraction(phase + gait_number(side == 0 ? 0.0 : 0.5));
    GaitStep step = gait_step(phase, share);
    mf_lane length = step.progress * gait_number(walk->period * (1.0 - share));
    mf_lane angle = wish->yaw * length, sine, cosine;
    mf_lane x = wish->forward * length;
    mf_lane y = mf_fma(wish->left, length, gait_number(side == 0 ? walk->width : -walk->width));
    mf_sin_cos_lane(angle, &sine, &cosine);
    mf_lane eased = gait_smooth(step.swing), left = one - step.gone;
    steps[0] =
        mf_select(step.swings, gait_number(balance->step_pitch) * wish->pitch * eased, steps[0]);
    steps[1] =
        mf_select(step.swings, gait_number(-balance->step_roll) * wish->roll * eased, steps[1]);
    mf_lane height = gait_lift(&step, walk->path) * wish->activity;
    Vec foot = {mf_fma(cosine, x, mf_zero() - sine * y) + gait_number(walk->offset),
                mf_fma(sine, x, cosine * y) + sway,
                mf_fma(height, gait_number(walk->lift), gait_number(-walk->height))};
    foot.x = mf_fma(steps[0] * left, wish->activity, foot.x);
    foot.y = mf_fma(steps[1] * left, wish->activity, foot.y);
    gait_position(plan, side, foot, angle, out);
    out[1] = mf_fma(gait_number(balance->hip_roll), wish->roll, out[1]);
    out[2] = mf_fma(gait_number(balance->hip_pitch), wish->pitch, out[2]);
    out[4] = mf_fma(gait_number(balance->ankle_pitch), wish->pitch, out[4]);
    out[5] = mf_fma(gait_number(balance->ankle_roll), wish->roll, out[5]);
    for (int i = 0; i < MF_LEG_JOINTS; i++)
        out[i] = out[i] * gait_number(plan->legs[side].sign[i]);
}

// ---- gait kernel --------------------------------------------------------------------------------

// One robot's position in its gait, in the order of lanes.
typedef struct Playback {
    MF_ALIGNED(64) int32_t plan[MF_BLOCK];    // [1] -1: none
    MF_ALIGNED(64) int32_t fresh[MF_BLOCK];   // [1] 1: just selected
    MF_ALIGNED(64) int32_t segment[MF_BLOCK]; // [1] of keyframes
    MF_ALIGNED(64) mf_real phase[MF_BLOCK];   // [1] of the period, or in the segment
    MF_ALIGNED(64) mf_real time[MF_BLOCK];    // [s]
} Playback;

// A part of a block as pointers to its first lane.
typedef struct Part {
    mf_mask active;
    mf_index plan;
    mf_lane phase, time;
    const Playback *playback;
    mf_real *from, *target, *pace, *tilt;
    const mf_real *command, *rate;
    double interval; // [s]
} Part;

// ---- time ---------------------------------------------------------------------------------------

// The segment of a time and the position in it; times past the end give the end.
static void find_segment(const mf_GaitPlan *plan, mf_Time time, Playback *playback, uint32_t lane) {
    const mf_Time *times = mf_gait_plan_times(plan);
    uint32_t s = 0;
    while (s + 1 < plan->segment_count && time >= times[s + 1])
        s++;
    mf_Time length = times[s + 1] - times[s];
    double u = length > 0 ? (double)(time - times[s]) / (double)length : 1.0;
    playback->segment[lane] = (int32_t)s;
    playback->phase[lane] = (mf_real)(u < 1.0 ? u : 1.0);
}

// a b / c rounded down, for b < c < 2^63. Digit by digit if the product exceeds 64 bits: GPUs have
// no 128-bit division.
static uint64_t multiply_divide(uint32_t a, uint64_t b, uint64_t c) {
    if (b <= UINT32_MAX)
        return a * b / c;
    uint64_t quotient = 0, rest = 0;
    for (int bit = 31; bit >= 0; bit--) {
        quotient *= 2;
        rest *= 2;
        for (int part = 0; part < 2; part++) {
            if (rest >= c) {
                rest -= c;
                quotient++;
            }
            if (part == 0 && (a >> bit & 1) != 0)
                rest += b;
        }
    }
    return quotient;
}

static void find_position(const mf_GaitBatch *batch, const mf_GaitPlan *plan, size_t row,
                          Playback *playback, uint32_t lane) {
    const uint32_t tick = batch->tick[row];
    const uint64_t rest = multiply_divide(tick, batch->tick_rest, (uint64_t)batch->rate.numerator);
    const mf_Time time = (mf_Time)(tick * batch->tick_time + rest);
    playback->time[lane] = (mf_real)((double)time * 1e-9);
    bool frames = plan->kind == MF_GAIT_KEYFRAMES, ends = frames && !plan->loop;
    batch->done[row] = ends && time >= plan->period ? 1 : 0;
    mf_Time within = ends ? time : time % plan->period;
    if (frames)
        find_segment(plan, within, playback, lane);
    else
        playback->phase[lane] = (mf_real)((double)within / (double)plan->period);
}

// Advances time and selects the requested gaits.
static void advance(const mf_GaitBatch *batch, size_t first, Playback *playback) {
    for (uint32_t i = 0; i < MF_LANES; i++) {
        size_t row = first + i;
        playback->plan[i] = -1;
        playback->fresh[i] = playback->segment[i] = 0;
        playback->phase[i] = playback->time[i] = 0;
        if (batch->fault[row] != 0)
            continue;
        uint32_t needed = batch->select[row] < batch->set->count ? batch->select[row] : MF_NONE;
        // The stored index is one higher, so that 0 means none and a reset starts a new gait.
        bool fresh = batch->active[row] != needed + 1;
        batch->active[row] = needed + 1;
        batch->tick[row] = fresh ? 0 : batch->tick[row] + 1;
        batch->done[row] = 0;
        if (needed == MF_NONE)
            continue;
        playback->plan[i] = (int32_t)needed;
        playback->fresh[i] = fresh;
        find_position(batch, mf_gait_set_plan(batch->set, needed), row, playback, i);
    }
}

// ---- targets ------------------------------------------------------------------------------------

// `value` for the joint of a row of the plan.
static MF_INLINE void put_target(const Part *part, const mf_GaitPlan *plan, mf_mask lanes,
                                 mf_lane blend, uint32_t row, mf_lane value) {
    const size_t at = (size_t)mf_gait_plan_joints(plan)[row] * MF_BLOCK;
    const mf_lane one = gait_number(1), invalid = mf_set((mf_real)__builtin_nanf(""));
    mf_lane from = mf_load(part->from + at);
    mf_lane clamped = mf_clamp(value, gait_number(mf_gait_plan_lower(plan)[row]),
                               gait_number(mf_gait_plan_upper(plan)[row]));
    clamped = mf_select(mf_less(blend, one), mf_fma(blend, clamped - from, from), clamped);
    clamped = mf_select(mf_and(mf_finite(value), mf_finite(clamped)), clamped, invalid);
    mf_store_where(lanes, part->target + at, clamped);
}

// `now` moved towards `target` by at most `step`.
static MF_INLINE mf_lane approach(mf_lane now, mf_lane target, mf_lane step) {
    return now + mf_clamp(target - now, mf_zero() - step, step);
}

// Commands limited and smoothed, and the activity of the robot.
static MF_INLINE GaitWish follow(const Part *part, const mf_GaitPlan *plan, mf_mask lanes) {
    const double largest[3] = {plan->pace.forward, plan->pace.left, plan->pace.yaw};
    const mf_lane invalid = mf_set((mf_real)__builtin_nanf("")), one = gait_number(1);
    mf_lane smooth[3], moving = gait_number(plan->pace.march ? 1 : 0);
    const double share = part->interval / plan->pace.rise;
    for (int i = 0; i < 3; i++) {
        mf_lane requested = mf_load(part->command + (size_t)i * MF_BLOCK),
                most = gait_number(largest[i]);
        mf_lane cut = mf_clamp(requested, mf_zero() - most, most);
        mf_lane before = mf_load(part->pace + (size_t)i * MF_BLOCK);
        smooth[i] = approach(before, cut, gait_number(largest[i] * share));
        moving = mf_select(mf_less(mf_zero(), mf_max(mf_abs(cut), mf_abs(before))), one, moving);
        smooth[i] = mf_select(mf_and(mf_finite(requested), mf_finite(before)), smooth[i], invalid);
        mf_store_where(lanes, part->pace + (size_t)i * MF_BLOCK, smooth[i]);
    }
    mf_real *kept = part->pace + (size_t)3 * MF_BLOCK;
    mf_lane activity = approach(mf_load(kept), moving, gait_number(share));
    mf_store_where(lanes, kept, activity);
    return MF_VALUE(GaitWish, .forward = smooth[0], .left = smooth[1], .yaw = smooth[2],
                    .activity = gait_smooth(activity), .pitch = mf_zero(), .roll = mf_zero());
}

// Inputs of the balance: averaged rate, and tilt.
static MF_INLINE void feel(const Part *part, const mf_GaitPlan *plan, mf_mask lanes,
                           GaitWish *wish) {
    const mf_GaitBalance *balance = &plan->walk.balance;
    const double fresh = part->interval / (part->interval + balance->smooth);
    if (part->rate == NULL)
        return;
    for (int i = 0; i < 2; i++) {
        mf_real *kept = part->tilt + (size_t)i * MF_BLOCK;
        mf_lane rate = mf_load(part->rate + (size_t)i * MF_BLOCK), tilt = mf_load(kept);
        mf_lane gained = mf_fma(gait_number(-1.0 / balance->memory), tilt, rate);
        tilt = mf_fma(gait_number(part->interval), gained, tilt);
        mf_store_where(lanes, kept, tilt);
        mf_real *mean = part->tilt + (size_t)(6 + i) * MF_BLOCK;
        mf_lane before = mf_load(mean);
        if (balance->smooth > 0.0)
            rate = mf_fma(gait_number(fresh), rate - before, before);
        mf_store_where(lanes, mean, rate);
        mf_lane felt = mf_fma(gait_number(balance->tilt), tilt, rate);
        if (i == 0)
            wish->roll = felt;
        else
            wish->pitch = felt;
    }
}

static MF_INLINE void put_walk(const Part *part, const mf_GaitPlan *plan, mf_mask lanes,
                               mf_lane blend) {
    const mf_GaitSteps *walk = &plan->walk;
    const double share = 0.5 * (1.0 - walk->double_support);
    GaitWish wish = follow(part, plan, lanes);
    feel(part, plan, lanes, &wish);
    mf_lane sine, cosine, angles[MF_LEG_JOINTS];
    mf_lane late = part->phase - gait_number(0.5 * share);
    mf_sin_cos_lane(late * gait_number(6.28318530717958647693), &sine, &cosine);
    mf_lane sway = gait_number(walk->sway) * wish.activity * cosine;
    for (int side = 0; side < 2; side++) {
        mf_real *kept = part->tilt + (size_t)(2 + 2 * side) * MF_BLOCK;
        mf_lane steps[2] = {mf_load(kept), mf_load(kept + MF_BLOCK)};
        gait_walk_leg(plan, side, part->phase, sway, &wish, steps, angles);
        mf_store_where(lanes, kept, steps[0]);
        mf_store_where(lanes, kept + MF_BLOCK, steps[1]);
        for (uint32_t i = 0; i < MF_LEG_JOINTS; i++)
            put_target(part, plan, lanes, blend, (uint32_t)side * MF_LEG_JOINTS + i, angles[i]);
    }
    const double scale = plan->pace.forward > 0.0 ? walk->arms / plan->pace.forward : 0.0;
    mf_lane swing = gait_number(scale) * wish.forward * sine;
    const double *pose = mf_gait_plan_pose(plan);
    for (uint32_t row = 2 * MF_LEG_JOINTS; row < plan->count; row++) {
        mf_lane value = gait_number(pose[row]);
        if (row == plan->shoulders[0])
            value = value + swing;
        if (row == plan->shoulders[1])
            value = value - swing;
        put_target(part, plan, lanes, blend, row, value);
    }
}

// The shape of a curve at its own phase, 0 .. 1.
static MF_INLINE mf_lane shape_at(const mf_GaitTone *tone, double share, mf_lane phase) {
    mf_lane sine, cosine;
    if (tone->shape == MF_GAIT_SINE) {
        mf_lane cycles =
            gait_fraction(phase * gait_number(tone->harmonic) + gait_number(tone->phase));
        mf_sin_cos_lane(cycles * gait_number(6.28318530717958647693), &sine, &cosine);
        return sine;
    }
    GaitStep step = gait_step(gait_fraction(phase + gait_number(tone->phase)), share);
    mf_sin_cos_lane(step.swing * gait_number(3.14159265358979323846), &sine, &cosine);
    if (tone->shape == MF_GAIT_BUMP)
        return mf_keep(step.swings, sine * sine);
    mf_lane back = mf_fma(gait_number(-2), step.gone, gait_number(1));
    return mf_select(step.swings, mf_zero() - cosine, back);
}

static MF_INLINE void put_waves(const Part *part, const mf_GaitPlan *plan, mf_mask lanes,
                                mf_lane blend) {
    const mf_GaitPace *pace = &plan->pace;
    GaitWish wish = follow(part, plan, lanes);
    mf_lane forward = wish.forward * gait_number(pace->forward > 0.0 ? 1.0 / pace->forward : 0.0);
    mf_lane left = wish.left * gait_number(pace->left > 0.0 ? 1.0 / pace->left : 0.0);
    mf_lane angle = wish.yaw * gait_number(pace->yaw > 0.0 ? 1.0 / pace->yaw : 0.0);
    mf_lane value = mf_zero();
    const mf_GaitTone *tones = mf_gait_plan_tones(plan);
    for (uint32_t t = 0; t < plan->tone_count; t++) {
        const mf_GaitTone *tone = &tones[t];
        mf_lane size = gait_number(tone->amplitude) * wish.activity;
        size = mf_fma(gait_number(tone->forward), forward, size);
        size = mf_fma(gait_number(tone->left), left, size);
        size = mf_fma(gait_number(tone->yaw), angle, size);
        mf_lane shape = shape_at(tone, plan->swing, part->phase);
        value = value + mf_fma(size, shape, gait_number(tone->offset));
        if (t + 1 < plan->tone_count && tones[t + 1].target == tone->target)
            continue;
        put_target(part, plan, lanes, blend, tone->target, value);
        value = mf_zero();
    }
}

static MF_INLINE void put_frames(const Part *part, const mf_GaitPlan *plan, mf_mask lanes,
                                 mf_lane blend) {
    mf_lane u = part->phase;
    for (uint32_t s = 0; s < plan->segment_count; s++) {
        mf_index own = mf_load_index(part->playback->segment);
        mf_mask here = mf_and(lanes, mf_index_equal(own, mf_set_index((int32_t)s)));
        if (!mf_any(here))
            continue;
        const double *curves = mf_gait_plan_curves(plan) + (size_t)s * plan->count * 4;
        for (uint32_t row = 0; row < plan->count; row++, curves += 4) {
            mf_lane value = mf_fma(u, gait_number(curves[3]), gait_number(curves[2]));
            value = mf_fma(u, mf_fma(u, value, gait_number(curves[1])), gait_number(curves[0]));
            put_target(part, plan, here, blend, row, value);
        }
    }
}

// ---- the kernel ---------------------------------------------------------------------------------

static MF_INLINE void put_gait(const Part *part, const mf_GaitPlan *plan, mf_mask lanes) {
    const double pace = plan->blend > 0.0 ? 1.0 / plan->blend : 0.0;
    mf_lane blend = gait_number(1);
    if (plan->blend > 0.0)
        blend = gait_smooth(mf_min(part->time * gait_number(pace), blend));
    switch (plan->kind) {
    case MF_GAIT_WALK:
        put_walk(part, plan, lanes, blend);
        break;
    case MF_GAIT_WAVES:
        put_waves(part, plan, lanes, blend);
        break;
    case MF_GAIT_KEYFRAMES:
        put_frames(part, plan, lanes, blend);
        break;
    }
}

// Targets from which a new gait starts.
static void take_up(const mf_GaitBatch *batch, const Part *part) {
    mf_mask fresh = mf_index_equal(mf_load_index(part->playback->fresh), mf_set_index(1));
    if (!mf_any(fresh))
        return;
    for (uint32_t j = 0; j < batch->joint_count; j++) {
        size_t at = (size_t)j * MF_BLOCK;
        mf_store_where(fresh, part->from + at, mf_load(part->target + at));
    }
    for (uint32_t i = 0; i < 4; i++)
        mf_store_where(fresh, part->pace + (size_t)i * MF_BLOCK, mf_zero());
    for (uint32_t i = 0; i < 8; i++)
        mf_store_where(fresh, part->tilt + (size_t)i * MF_BLOCK, mf_zero());
}

static void run_lanes(const mf_GaitBatch *batch, uint32_t block, uint32_t lane) {
    const size_t first = (size_t)block * MF_BLOCK + lane;
    const size_t joints = (size_t)block * batch->joint_count * MF_BLOCK + lane;
    Playback playback;
    advance(batch, first, &playback);
    const size_t three = (size_t)block * 3 * MF_BLOCK + lane;
    Part part = {.plan = mf_load_index(playback.plan),
                 .phase = mf_load(playback.phase),
                 .time = mf_load(playback.time),
                 .playback = &playback,
                 .from = (mf_real *)batch->from + joints,
                 .target = (mf_real *)batch->target + joints,
                 .pace = (mf_real *)batch->pace + (size_t)block * 4 * MF_BLOCK + lane,
                 .tilt = (mf_real *)batch->tilt + (size_t)block * 8 * MF_BLOCK + lane,
                 .command = (const mf_real *)batch->command + three,
                 .rate = batch->angular_velocity == NULL
                             ? NULL
                             : (const mf_real *)batch->angular_velocity + three,
                 .interval = batch->interval};
    part.active =
        mf_index_equal(mf_load_index((const int32_t *)batch->fault + first), mf_set_index(0));
    mf_store_where(part.active, (mf_real *)batch->time + first, part.time);
    take_up(batch, &part);
    for (uint32_t p = 0; p < batch->set->count; p++) {
        mf_mask lanes = mf_index_equal(part.plan, mf_set_index((int32_t)p));
        if (mf_any(lanes))
            put_gait(&part, mf_gait_set_plan(batch->set, p), lanes);
    }
}

void MF_KERNEL(mf_gait_run)(const mf_GaitBatch *batch, uint32_t first, uint32_t count) {
    for (uint32_t block = first; block < first + count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            run_lanes(batch, block, lane);
}
