// The loops above the body rates: attitude, velocity and position, each asking the one below.
//
//   position  velocity = K (goal - position), limited in length and climb
//   velocity  acceleration = K (goal - velocity) + integral; with gravity it is the target thrust,
//             limited in tilt and size
//   attitude  the shortest rotation of the body's z axis to the target thrust, and the heading
//   about
//             the world's vertical (tilt first, as Brescianini and D'Andrea 2018)
#ifndef MF_MOTION_QUADROTOR_GUIDE_H
#define MF_MOTION_QUADROTOR_GUIDE_H

#include "motion/quadrotor/rates.h"

typedef struct Heading {
    mf_lane sine, cosine;
} Heading;

// Rates that turn the body's z axis to the unit vector `goal` and its x axis to the heading.
static Vec aim(const Lanes *s, const Mat *rotation, Vec goal, Heading heading) {
    const mf_lane half = mf_set((mf_real)0.5), one = mf_set((mf_real)1), zero = mf_zero();
    const mf_lane tiny = mf_set((mf_real)1e-4);
    Vec seen = mat_apply_transposed(rotation, goal);
    // z x seen has the sine of the angle as its length; over cos(angle / 2) it is 2 sin(angle / 2).
    mf_lane gain = value_of(s, MF_QUAD_ATTITUDE_GAIN) / mf_sqrt(mf_max(half + half * seen.z, tiny));
    mf_lane most = value_of(s, MF_QUAD_RATE_MAX);
    Vec rate = {mf_clamp(zero - gain * seen.y, zero - most, most),
                mf_clamp(gain * seen.x, zero - most, most), zero};
    mf_lane level =
        mf_max(mf_sqrt(rotation->xx * rotation->xx + rotation->yx * rotation->yx), tiny);
    mf_lane sine = (rotation->xx * heading.sine - rotation->yx * heading.cosine) / level;
    mf_lane cosine = (rotation->xx * heading.cosine + rotation->yx * heading.sine) / level;
    // 2 sin(error / 2), by the form that is exact on its side of a right angle.
    mf_lane front = sine / mf_sqrt(mf_max(half + half * cosine, tiny));
    mf_lane back = mf_sqrt(mf_max(one + one - (cosine + cosine), zero));
    back = mf_select(mf_less(sine, zero), zero - back, back);
    mf_lane limit = value_of(s, MF_QUAD_YAW_RATE_MAX);
    mf_lane yaw = value_of(s, MF_QUAD_YAW_GAIN) * mf_select(mf_less(cosine, zero), back, front);
    yaw = mf_clamp(yaw, zero - limit, limit);
    rate.x = mf_clamp(rate.x + yaw * rotation->zx, zero - most, most);
    rate.y = mf_clamp(rate.y + yaw * rotation->zy, zero - most, most);
    rate.z = yaw * rotation->zz;
    return rate;
}

static Demand follow_attitude(const Lanes *s, const Vehicle *vehicle, const mf_lane *goal) {
    Mat rotation = quat_matrix(vehicle->attitude);
    mf_lane sr, cr, sp, cp;
    Heading heading;
    mf_sin_cos_lane(goal[0], &sr, &cr);
    mf_sin_cos_lane(goal[1], &sp, &cp);
    mf_sin_cos_lane(goal[2], &heading.sine, &heading.cosine);
    Vec up = {heading.cosine * sp * cr + heading.sine * sr,
              heading.sine * sp * cr - heading.cosine * sr, cp * cr};
    return MF_VALUE(Demand, value_of(s, MF_QUAD_LIFT_PER_FORCE) * goal[3],
                    aim(s, &rotation, up, heading));
}

// A horizontal vector no longer than `most`; `cut` tells where it was.
static Vec limit_level(Vec a, mf_lane most, mf_mask *cut) {
    mf_lane size = mf_sqrt(a.x * a.x + a.y * a.y);
    *cut = mf_less(most, size);
    mf_lane scale =
        mf_select(*cut, most / mf_select(*cut, size, mf_set((mf_real)1)), mf_set((mf_real)1));
    return MF_VALUE(Vec, a.x * scale, a.y * scale, a.z);
}

// Integrates the velocity error where nothing was cut; the vertical goes its own way.
static void integrate_velocity(const Lanes *s, mf_real *rows, Vec integral, Vec error,
                               mf_mask level_cut, mf_mask rise_cut) {
    mf_lane gain = value_of(s, MF_QUAD_VELOCITY_INTEGRAL);
    mf_lane bound = value_of(s, MF_QUAD_VELOCITY_BOUND), zero = mf_zero();
    Vec next = vec_fma(error, gain, integral);
    next.x = mf_select(level_cut, integral.x, mf_clamp(next.x, zero - bound, bound));
    next.y = mf_select(level_cut, integral.y, mf_clamp(next.y, zero - bound, bound));
    next.z = mf_select(rise_cut, integral.z, mf_clamp(next.z, zero - bound, bound));
    keep_three(s, rows, next);
}

static Demand follow_velocity(const Lanes *s, const Vehicle *vehicle, Vec goal, mf_lane yaw) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_real *memory = rows_of(s, s->fields->velocity_integral, 3);
    mf_mask ignored, level_cut, rise_cut;
    mf_lane climb = value_of(s, MF_QUAD_CLIMB_MAX);
    goal = limit_level(goal, value_of(s, MF_QUAD_SPEED_MAX), &ignored);
    goal.z = mf_clamp(goal.z, zero - climb, climb);
    Vec error = vec_sub(goal, vehicle->velocity), integral = vec_load(memory, 0);
    Vec pull = vec_fma(error, value_of(s, MF_QUAD_VELOCITY_GAIN), integral);
    mf_lane target = pull.z - value_of(s, MF_QUAD_GRAVITY);
    pull.z = mf_clamp(target, value_of(s, MF_QUAD_RISE_LOW), value_of(s, MF_QUAD_RISE_HIGH));
    rise_cut = mf_not(mf_and(mf_less_equal(target, pull.z), mf_less_equal(pull.z, target)));
    // What the tilt allows, and what the rotors have left.
    mf_lane most = mf_set((mf_real)0.5) * value_of(s, MF_QUAD_LIFT_MOST);
    mf_lane left = mf_sqrt(mf_max(most * most - pull.z * pull.z, zero));
    pull = limit_level(pull, mf_min(value_of(s, MF_QUAD_TILT) * pull.z, left), &level_cut);
    integrate_velocity(s, memory, integral, error, level_cut, rise_cut);
    mf_lane inverse = one / mf_sqrt(pull.x * pull.x + pull.y * pull.y + pull.z * pull.z);
    Mat rotation = quat_matrix(vehicle->attitude);
    Heading heading;
    mf_sin_cos_lane(yaw, &heading.sine, &heading.cosine);
    mf_lane along = pull.x * rotation.xz + pull.y * rotation.yz + pull.z * rotation.zz;
    return MF_VALUE(Demand, mf_max(along + along, zero),
                    aim(s, &rotation, vec_scale(pull, inverse), heading));
}

static Demand follow_position(const Lanes *s, const Vehicle *vehicle, const mf_lane *goal) {
    mf_lane gain = value_of(s, MF_QUAD_POSITION_GAIN);
    Vec offset = vec_sub(MF_VALUE(Vec, goal[0], goal[1], goal[2]), vehicle->position);
    return follow_velocity(s, vehicle, vec_scale(offset, gain), goal[3]);
}

#endif
