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
#ifndef MF_CONTROL_GAIT_WALK_H
#define MF_CONTROL_GAIT_WALK_H

#include "control/gait.h"

#include "math/lane_functions.h"
#include "math/lane_vector.h"

// Inputs of a walk in one step.
typedef struct GaitWish {
    mf_lane forward, left, yaw; // [m/s], [m/s], [rad/s] smoothed commands
    mf_lane activity;           // [1] 0 stands, 1 moves
    mf_lane pitch, roll;        // [rad/s] inputs of the balance
} GaitWish;

// Where a foot is in its cycle.
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

// Fractional part of `turns`, for |turns| < 2^31.
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
    // Divided by the shin's length, since only the ratio matters.
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

// Columns of the foot's rotation Ry(-lean) Rz(turned), and the hip relative to the ankle.
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

#endif
