// Forces at a joint from its own position and rate: servo, damping, spring, limit, and dry friction
// of explicit steps (that of implicit ones is in aba_velocity.h).
//
// Each is linear, torque = t - g (change of rate), so that it can act at the end of the step: t is
// added to the torque and the slope, times the step, to the inertia of the joint, which makes the
// step stable for any slope. Nonlinear forces (clamps) are replaced by the chord from the present
// state to rest, which gives the correct torque now and can only dissipate energy.
#pragma once

#include "motion/articulated/actuator/external_wrench.h"
#include "math/lane.h"

// ---- impedance ----------------------------------------------------------------------------------

// The impedance of a constraint (MuJoCo's term; softness.c): it rises with the depth along two
// parabolas or a straight line from its smallest to its largest value.

// `c`: inverse of the depth [m] or [rad] at which it is largest, its value at depth 0, its rise,
// and the fraction of the depth at its inflection, 0 for a straight line.
static MF_INLINE mf_lane impedance_at(const Constant *c, mf_lane depth) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane distance = mf_clamp(depth * constant_at(c, 0), zero, one);
    if (constant_shared(c, 3) > 0) {
        mf_lane middle = constant_at(c, 3), left = one - distance;
        distance = mf_select(mf_less(middle, distance), one - left * left / (one - middle),
                             distance * distance / middle);
    }
    return mf_fma(distance, constant_at(c, 2), constant_at(c, 1));
}

// ---- drive --------------------------------------------------------------------------------------

typedef struct Line {
    mf_lane torque; // [N m] or [N]
    mf_lane slope;  // [kg m^2] or [kg] added to the inertia
} Line;

typedef struct Drive {
    bool active;           // joint forces act at all
    bool closes;           // couplings act at the end of the step, not now
    mf_lane step;          // [s] 0 when forces act at the beginning of the step
    mf_lane damps;         // [s] the same for the damping of joints
    const mf_real *target; // rows of joint.target
    const mf_real *gain;   // rows of servo.gain, NULL: the plan's; with them those of
    const mf_real *damping, *target_rate, *torque; // servo.damping and so on
    const mf_real *before;                         // rows of step.acceleration, NULL: none
    mf_lane ahead;                                 // [s] half a step, with `before`
    const State *state;
    const ExternalWrenches *wrenches; // of collisions; NULL: none
    const Vec *swirl; // [rad/s] of the base in the middle of the step, own axes; NULL: as `before`
    Line *limits;     // per plan link: the part of the limit, on request; else NULL
} Drive;

// Servo: gain (target - position) - damping rate at the end of the step, clamped to the effort;
// with its inputs gain (target - position) + damping (target rate - rate) + torque. `input` is an
// external torque within its limits.
static MF_INLINE void drive_servo(const mf_ArtLink *link, const Constant *c, const Drive *drive,
                                  mf_lane ahead, mf_lane rate, mf_lane input, Line *line) {
    const bool inputs = drive->gain != NULL;
    mf_lane gain = inputs ? row_load(drive->gain, link->joint) : constant_at(c, MF_ART_SERVO_GAIN);
    const mf_lane damping =
        inputs ? row_load(drive->damping, link->joint) : constant_at(c, MF_ART_SERVO_DAMPING);
    mf_lane error = row_load(drive->target, link->joint) - ahead;
    if (link->drive & MF_ART_HAS_BACKLASH) {
        mf_lane play = constant_at(c, MF_ART_BACKLASH);
        mf_lane out = error - mf_clamp(error, -play, play);
        gain = mf_keep(mf_less(mf_zero(), mf_abs(out)), gain);
        error = out;
    }
    mf_lane pull = mf_fma(gain, error, input);
    if (link->drive & MF_ART_HAS_SPEED) {
        mf_lane most = constant_at(c, MF_ART_SERVO_SPEED);
        gain = mf_keep(mf_less_equal(mf_abs(pull), most), gain);
        pull = mf_clamp(pull, -most, most);
    }
    mf_lane torque = mf_fma(-damping, rate, pull);
    if (inputs)
        torque = mf_fma(damping, row_load(drive->target_rate, link->joint), torque) +
                 row_load(drive->torque, link->joint);
    mf_lane slope = drive->step * mf_fma(drive->step, gain, damping);
    if (link->drive & MF_ART_HAS_EFFORT) {
        mf_lane effort = constant_at(c, MF_ART_EFFORT), size = mf_abs(torque);
        // The chord: the slope in proportion to the clamped torque.
        mf_lane part = effort / mf_max(size, effort);
        torque = mf_clamp(torque, -effort, effort);
        slope = slope * part;
    }
    line->torque = line->torque + torque;
    line->slope = line->slope + slope;
}

// The largest speed of a joint for a motor whose law has no such limit. If the motor would drive
// the joint beyond it within the step, it acts as a damper towards that speed, with the inertia
// that the joint moves (MF_ART_MOVED) over the step. It never brakes: other forces may move the
// joint faster.
static MF_INLINE void drive_bound(const mf_ArtPlan *plan, const Constant *c, const Drive *drive,
                                  mf_lane rate, Line *motor) {
    const mf_lane zero = mf_zero(), moved = constant_at(c, MF_ART_MOVED),
                  most = constant_at(c, MF_ART_SPEED);
    const mf_lane damping = moved / setting(plan, MF_ART_STEP);
    const mf_lane up = mf_max(damping * (most - rate), zero);
    const mf_lane down = mf_min(damping * (-most - rate), zero);
    const mf_mask beyond = mf_or(mf_less(up, motor->torque), mf_less(motor->torque, down));
    motor->torque = mf_clamp(motor->torque, down, up);
    const mf_mask pushes = mf_and(mf_less(zero, mf_abs(motor->torque)), mf_less(zero, drive->step));
    motor->slope = mf_select(beyond, mf_keep(pushes, moved), motor->slope);
}

// A limit: a spring and damper in proportion to the inertia that the joint moves (MF_ART_MOVED), so
// that its time constant is about the same at every joint. With depth d beyond the range and rate
// v, both at the end of the step, it pushes with k d - c v and never pulls; a joint inside its
// range is only kept from leaving it within the step. As for contacts (contact.h), the active
// limits are estimated and checked with the result.
typedef struct Limit {
    mf_lane sign;         // [1] of the push: 1 at the lower end, -1 at the upper
    mf_lane acceleration; // [rad/s^2] or [m/s^2] at rate 0
    mf_lane drag;         // [1/s] its decrease per rate along `sign`
    mf_lane ease;         // [1] its decrease per acceleration along `sign`
    mf_lane mass;         // [kg m^2] or [kg] that makes it a torque or a force
} Limit;

// State of a joint's limit.
typedef struct LimitLoad {
    mf_mask active; // lanes in which it acts
} LimitLoad;

static MF_INLINE Limit limit_beyond(const mf_ArtPlan *plan, const Constant *c, mf_lane step,
                                    mf_lane depth, mf_lane sign) {
    mf_lane force = setting(plan, MF_ART_LIMIT_FORCE), brake = setting(plan, MF_ART_LIMIT_BRAKE);
    mf_lane load = mf_fma(brake, mf_min(depth, mf_zero()), force * depth);
    return MF_VALUE(Limit, sign, load, mf_fma(step, force, setting(plan, MF_ART_LIMIT_DRAG)),
                    mf_zero(), constant_at(c, MF_ART_MOVED));
}

// MuJoCo's rule (softness.c has its equations): z (k z d - b v) = a - (1 - z) a0, the force of a
// spring, a damper and an added mass m z / (1 - z), where m is the inertia that the joint alone
// moves; depth d and rate v are those at the beginning of the step.
static MF_INLINE Limit limit_soft(const Constant *c, mf_lane depth, mf_lane sign, mf_lane rate) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane deep = depth + constant_at(c, MF_ART_LIMIT_MARGIN);
    mf_lane z = impedance_at(c + MF_ART_LIMIT_WIDTH, deep);
    mf_lane load = constant_at(c, MF_ART_LIMIT_PULL) * z * deep;
    load = mf_fma(-constant_at(c, MF_ART_LIMIT_BRAKING), sign * rate, load);
    const mf_mask beyond = mf_less(zero, deep);
    return MF_VALUE(Limit, sign, mf_keep(beyond, load), zero, mf_keep(beyond, one),
                    constant_at(c, MF_ART_LIMIT_EASE) * z / (one - z));
}

// `rate` is that at the beginning of the step.
static MF_INLINE Limit limit_at(const mf_ArtPlan *plan, const mf_ArtLink *link, const Constant *c,
                                mf_lane step, mf_lane position, mf_lane rate) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane below = constant_at(c, MF_ART_LOWER) - position,
            above = position - constant_at(c, MF_ART_UPPER);
    mf_lane depth = mf_max(below, above), sign = mf_select(mf_less(below, above), -one, one);
    return link->drive & MF_ART_SOFT_LIMIT ? limit_soft(c, depth, sign, rate)
                                           : limit_beyond(plan, c, step, depth, sign);
}

// [rad/s^2] or [m/s^2], with the rate at the end of the step and the acceleration in it.
static MF_INLINE mf_lane limit_load(const Limit *limit, mf_lane rate, mf_lane gain) {
    mf_lane load = mf_fma(-limit->drag, limit->sign * rate, limit->acceleration);
    return mf_fma(-limit->ease, limit->sign * gain, load);
}

static MF_INLINE void drive_limit(const mf_ArtPlan *plan, const mf_ArtLink *link, const Constant *c,
                                  const Drive *drive, const LimitLoad *load, mf_lane position,
                                  mf_lane rate, Line *line) {
    Limit limit = limit_at(plan, link, c, drive->step, position, rate);
    mf_lane inertia = mf_keep(load->active, limit.mass);
    mf_lane total = mf_fma(-limit.drag, rate, limit.sign * limit.acceleration);
    const Line own = {mf_keep(load->active, total) * inertia,
                      mf_fma(drive->step, limit.drag, limit.ease) * inertia};
    line->torque = line->torque + own.torque;
    line->slope = line->slope + own.slope;
    if (drive->limits != NULL)
        drive->limits[link - mf_art_links(plan)] = own;
}

// The limit of a ball joint bounds its rotation angle; sets `axis` to the rotation axis.
static MF_INLINE mf_lane ball_angle(Quat q, Vec *axis) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane sign = mf_select(mf_less(q.w, zero), -one, one);
    Vec rotation_vector = vec_scale(MF_VALUE(Vec, q.x, q.y, q.z), sign);
    mf_lane sine = mf_sqrt(vec_dot(rotation_vector, rotation_vector)),
            half = mf_atan2_lane(sine, q.w * sign);
    *axis =
        vec_scale(rotation_vector, one / mf_max(sine, mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON)));
    return half + half;
}

static MF_INLINE Limit limit_of_ball(const mf_ArtPlan *plan, const Constant *c, mf_lane step,
                                     mf_lane angle) {
    return limit_beyond(plan, c, step, angle - constant_at(c, MF_ART_UPPER), mf_set((mf_real)-1));
}

// The same forces at a ball joint, whose position is a rotation: the spring acts along the rotation
// vector, the limit bounds its angle. Forces at the end of the step are added to `inertia`, that of
// the joint. Dry friction opposes the whole rate.
static inline void drive_ball(const mf_ArtPlan *plan, const mf_ArtLink *link, const Constant *c,
                              const Drive *drive, const LimitLoad *load, Quat q, Vec rate,
                              Sym *inertia, Vec *torque) {
    const mf_lane zero = mf_zero(), step = drive->step;
    mf_lane slope = zero, resist = zero, along = zero;
    Vec axis = {zero, zero, zero};
    if (link->drive & MF_ART_HAS_DAMPING) {
        resist = constant_at(c, MF_ART_DAMPING);
        slope = drive->damps * resist;
    }
    if (link->drive & MF_ART_HAS_FRICTION && !plan->law && plan->dry_rows == 0) {
        mf_lane rub = constant_at(c, MF_ART_FRICTION) /
                      mf_max(mf_sqrt(vec_dot(rate, rate)), setting(plan, MF_ART_CREEP));
        resist = resist + rub;
        slope = mf_fma(step, rub, slope);
    }
    *torque = vec_fma(rate, -resist, *torque);
    if (link->drive & (MF_ART_HAS_SPRING | MF_ART_HAS_LIMIT)) {
        mf_lane angle = ball_angle(q, &axis);
        if (link->drive & MF_ART_HAS_SPRING) {
            mf_lane stiffness = constant_at(c, MF_ART_STIFFNESS);
            Vec ahead = vec_fma(rate, step, vec_scale(axis, angle));
            *torque = vec_fma(ahead, -stiffness, *torque);
            slope = mf_fma(step * step, stiffness, slope);
        }
        if (link->drive & MF_ART_HAS_LIMIT && !plan->law) {
            Limit limit = limit_of_ball(plan, c, step, angle);
            mf_lane moved = mf_keep(load->active, limit.mass);
            mf_lane force = mf_fma(limit.drag, vec_dot(axis, rate), limit.acceleration);
            force = mf_keep(load->active, force) * moved;
            along = step * limit.drag * moved;
            *torque = vec_fma(axis, -force, *torque);
            if (drive->limits != NULL)
                drive->limits[link - mf_art_links(plan)] = MF_VALUE(Line, -force, along);
        }
    }
    Vec bent = vec_scale(axis, along);
    *inertia =
        MF_VALUE(Sym, mf_fma(bent.x, axis.x, inertia->xx + slope),
                 mf_fma(bent.y, axis.y, inertia->yy + slope),
                 mf_fma(bent.z, axis.z, inertia->zz + slope), mf_fma(bent.x, axis.y, inertia->xy),
                 mf_fma(bent.x, axis.z, inertia->xz), mf_fma(bent.y, axis.z, inertia->yz));
}

static MF_INLINE void drive_joint(const mf_ArtPlan *plan, const mf_ArtLink *link, const Constant *c,
                                  const Drive *drive, const LimitLoad *load, mf_lane position,
                                  mf_lane rate, Line *line) {
    mf_lane ahead = mf_fma(drive->step, rate, position);
    // If limits apply, external inputs are a part of the motor's torque.
    const bool bound = (link->drive & MF_ART_HAS_BOUND) != 0;
    const mf_lane input = bound ? line->torque : mf_zero();
    line->torque = bound ? mf_zero() : line->torque;
    if (link->drive & MF_ART_HAS_DAMPING) {
        mf_lane damping = constant_at(c, MF_ART_DAMPING);
        line->torque = mf_fma(-damping, rate, line->torque);
        line->slope = mf_fma(drive->damps, damping, line->slope);
    }
    if (link->drive & MF_ART_HAS_SPRING) {
        mf_lane stiffness = constant_at(c, MF_ART_STIFFNESS);
        line->torque = mf_fma(stiffness, constant_at(c, MF_ART_RELAXED) - ahead, line->torque);
        line->slope = mf_fma(drive->step * drive->step, stiffness, line->slope);
    }
    Line motor = {input, mf_zero()};
    if (link->drive & MF_ART_HAS_SERVO) {
        motor.torque = mf_zero();
        drive_servo(link, c, drive, ahead, rate, input, &motor);
    }
    if (bound && !(link->drive & MF_ART_HAS_SPEED)) {
        const mf_lane effort = constant_at(c, MF_ART_EFFORT);
        motor.torque = mf_clamp(motor.torque, -effort, effort);
        drive_bound(plan, c, drive, rate, &motor);
    }
    line->torque = line->torque + motor.torque;
    line->slope = line->slope + motor.slope;
    if (plan->law) // friction and limits are constraints (problem_rows.h)
        return;
    if (link->drive & MF_ART_HAS_FRICTION && plan->dry_rows == 0) {
        mf_lane viscous =
            constant_at(c, MF_ART_FRICTION) / mf_max(mf_abs(rate), setting(plan, MF_ART_CREEP));
        line->torque = mf_fma(-viscous, rate, line->torque);
        line->slope = mf_fma(drive->step, viscous, line->slope);
    }
    if (link->drive & MF_ART_HAS_LIMIT)
        drive_limit(plan, link, c, drive, load, position, rate, line);
}
