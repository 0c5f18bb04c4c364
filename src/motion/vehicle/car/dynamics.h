// A car's equations of motion in lanes: tires, forces, rates, and the four ways to step them.
//
// Frames. The car stands on a plane with unit normal n. Its attitude is the heading about the
// body's z axis, followed by the shortest rotation from the vertical to n ("swing and twist"). The
// tangent frame is the swing alone; in it the car drives as on level ground. The heading is carried
// as a half-angle quaternion (w, 0, 0, z), so no sine or cosine of it is ever needed.
//
// Standstill. Rolling resistance and brakes are dry friction with a constant direction in a step. A
// car that they stop has exactly zero speed until the other forces exceed them.
#pragma once

#include "motion/vehicle/car/plan.h"
#include "math/lane_sum.h"

typedef struct State {
    mf_lane x, y;     // [m] world
    mf_lane w, z;     // [1] heading, half-angle
    mf_lane vx, vy;   // [m/s] body
    mf_lane yaw_rate; // [rad/s] yaw rate, body
    mf_lane steering; // [rad]
} State;

// Constants of a step.
typedef struct Fixed {
    const mf_CarPlan *plan;
    const mf_CarPath *path; // NULL: none
    const mf_real *constant;
    mf_lane nx, ny, nz;     // [1] the ground's normal; unused on level ground
    mf_lane lean;           // [1] 1 / (1 + nz)
    mf_lane wind_x, wind_y; // [m/s] in the tangent frame
    mf_lane drive;          // [N] drive force at rest
    mf_lane drive_slope;    // [N s/m] its decrease with forward speed
    mf_lane friction;       // [N] rolling resistance and brake
    mf_lane direction;      // [1] -1, 0, 1: direction of rolling
    mf_mask alive;          // without a fault
    mf_mask stuck;          // held by friction
    mf_lane target;         // [rad] commanded steering angle
    mf_lane slew;           // [rad/s] steering rate of this step, without lag
    bool loaded;            // an external wrench acts on a car; else the rest is not set
    mf_lane external_x,
        external_y;        // [m/s^2] its force over the mass, body frame at the step's beginning
    mf_lane external_yaw;  // [rad/s^2] its torque about the normal over the yaw inertia
    mf_lane external_load; // [1] its force against the normal over the weight at rest
} Fixed;

static MF_INLINE mf_lane constant(const Fixed *fixed, uint32_t index) {
    return mf_set(fixed->constant[index]);
}

// -1, 0 or 1.
static MF_INLINE mf_lane sign_of(mf_lane a) {
    mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane below = mf_select(mf_less(a, zero), -one, zero);
    return mf_select(mf_less(zero, a), one, below);
}

// `a` with the sign of `b`; a >= 0, and a zero counts as positive.
static MF_INLINE mf_lane with_sign(mf_lane a, mf_lane b) {
    return mf_select(mf_less(b, mf_zero()), -a, a);
}

// Cosine and sine of the heading.
static MF_INLINE void heading(const State *s, mf_lane *cosine, mf_lane *sine) {
    *cosine = mf_fma(s->w, s->w, -s->z * s->z);
    *sine = (s->w + s->w) * s->z;
}

// ---- tires --------------------------------------------------------------------------------------

// sin(a) for |a| <= pi.
static MF_INLINE mf_lane sin_to_pi(mf_lane a) {
    const mf_lane pi = mf_set((mf_real)3.14159265358979323846);
    mf_lane size = mf_abs(a);
    return with_sign(mf_sin_short_lane(mf_min(size, pi - size)), a);
}

// Force of an axle over its D from the slip angle [rad]; `row` is MF_CAR_FRONT_B or MF_CAR_REAR_B.
// Pacejka and Bakker 1992, "The magic formula tire model", equation 1, without shifts.
static MF_INLINE mf_lane tire_force(const Fixed *fixed, uint32_t row, mf_lane slip) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane stretched = constant(fixed, row) * slip, shape = constant(fixed, row + 1);
    if (fixed->plan->tire == MF_CAR_TIRE_LINEAR)
        return shape * stretched;
    if (fixed->plan->tire == MF_CAR_TIRE_CURVATURE) {
        mf_lane curve = constant(fixed, row + 3);
        mf_lane bent = mf_atan_ratio_lane(stretched, one) - stretched;
        stretched = mf_fma(curve, bent, stretched);
    }
    return sin_to_pi(shape * mf_atan_ratio_lane(stretched, one));
}

// Slip angle [rad] of a wheel that moves with `along` and `across` its own plane, opposite to the
// lateral motion. The speed along is taken as at least the slip speed, so that nothing is divided
// by zero and the slope stays within what a step can follow.
static MF_INLINE mf_lane slip_angle(const Fixed *fixed, mf_lane along, mf_lane across) {
    mf_lane speed = mf_max(mf_abs(along), constant(fixed, MF_CAR_SLIP_SPEED));
    return -mf_atan_ratio_lane(across, speed);
}

// ---- forces -------------------------------------------------------------------------------------

typedef struct Forces {
    mf_lane drive;          // [N] of the motor, along the car
    mf_lane resistance;     // [N] against the car's motion: air, rolling, brake
    mf_lane load;           // [1] weight on the wheels over the weight at rest on level ground
    mf_lane pull_x, pull_y; // [m/s^2] gravity along the slope and external force, body frame
} Forces;

// Lift reduces the load of the wheels, at most to 0.
static MF_INLINE void add_force(const Fixed *fixed, Forces *f) {
    f->load = mf_max(f->load + fixed->external_load, mf_zero());
    f->pull_x = f->pull_x + fixed->external_x;
    f->pull_y = f->pull_y + fixed->external_y;
}

static MF_INLINE Forces external_forces(const Fixed *fixed, const State *s) {
    mf_lane cosine, sine, one = mf_set((mf_real)1);
    Forces f;
    heading(s, &cosine, &sine);
    mf_lane air = s->vx - mf_fma(cosine, fixed->wind_x, sine * fixed->wind_y);
    mf_lane pressure = air * mf_abs(air);
    f.resistance =
        mf_fma(constant(fixed, MF_CAR_DRAG), pressure, fixed->direction * fixed->friction);
    f.drive = mf_fma(-fixed->drive_slope, s->vx, fixed->drive);
    if (fixed->plan->level) {
        f.load = mf_fma(constant(fixed, MF_CAR_LIFT), mf_abs(pressure), one);
        f.pull_x = f.pull_y = mf_zero();
    } else {
        mf_lane gravity = constant(fixed, MF_CAR_GRAVITY);
        f.load = mf_fma(constant(fixed, MF_CAR_LIFT), mf_abs(pressure), fixed->nz);
        f.pull_x = gravity * mf_fma(cosine, fixed->nx, sine * fixed->ny);
        f.pull_y = gravity * mf_fma(cosine, fixed->ny, -sine * fixed->nx);
    }
    if (fixed->loaded)
        add_force(fixed, &f);
    return f;
}

typedef struct Rates {
    mf_lane x, y, w, z, vx, vy, yaw_rate, steering; // of State, per second
} Rates;

// The acceleration along the car, 0 while friction holds it.
static MF_INLINE mf_lane free_or_stuck(const Fixed *fixed, mf_lane acceleration) {
    return mf_select(fixed->stuck, mf_zero(), acceleration);
}

// Liniger, Domahidi and Morari 2015, equations 1 and 2, with slip in the wheel's own plane (the
// same angle, and also correct in reverse) and the inertia of the wheels along the road.
static MF_INLINE void dynamic_rates(const Fixed *fixed, const State *s, const Forces *f,
                                    Rates *out) {
    mf_lane sine = mf_sin_short_lane(s->steering), cosine = mf_cos_short_lane(s->steering);
    mf_lane mass = constant(fixed, MF_CAR_MASS), front = constant(fixed, MF_CAR_FRONT);
    mf_lane side = mf_fma(front, s->yaw_rate, s->vy);
    mf_lane along = mf_fma(cosine, s->vx, sine * side);
    mf_lane across = mf_fma(cosine, side, -sine * s->vx);
    mf_lane rear = constant(fixed, MF_CAR_REAR);
    mf_lane rear_across = mf_fma(-rear, s->yaw_rate, s->vy);
    mf_lane front_force = tire_force(fixed, MF_CAR_FRONT_B, slip_angle(fixed, along, across));
    mf_lane rear_force = tire_force(fixed, MF_CAR_REAR_B, slip_angle(fixed, s->vx, rear_across));
    front_force = front_force * (constant(fixed, MF_CAR_FRONT_D) * f->load);
    rear_force = rear_force * (constant(fixed, MF_CAR_REAR_D) * f->load);
    mf_lane drive = f->drive;
    if (fixed->plan->ellipse) {
        mf_lane most = constant(fixed, MF_CAR_ELLIPSE) * f->load;
        mf_lane left = mf_fma(most, most, -rear_force * rear_force);
        most = mf_sqrt(mf_max(left, mf_zero())) * constant(fixed, MF_CAR_INVERSE_ELLIPSE);
        drive = mf_clamp(drive, -most, most);
    }
    mf_lane pull = mf_fma(s->vy, s->yaw_rate, f->pull_x);
    mf_lane force = mf_fma(mass, pull, drive - f->resistance);
    force = mf_fma(-front_force, sine, force);
    out->vx = free_or_stuck(fixed, force * constant(fixed, MF_CAR_INVERSE_LONG));
    mf_lane front_across = front_force * cosine;
    mf_lane acceleration = mf_fma(-s->vx, s->yaw_rate, f->pull_y);
    out->vy = mf_fma(rear_force + front_across, constant(fixed, MF_CAR_INVERSE_MASS), acceleration);
    mf_lane torque = mf_fma(front, front_across, -rear * rear_force);
    out->yaw_rate = torque * constant(fixed, MF_CAR_INVERSE_YAW);
    if (fixed->loaded)
        out->yaw_rate = out->yaw_rate + fixed->external_yaw;
}

static MF_INLINE mf_lane rolling_rate(const Fixed *fixed, const Forces *f) {
    mf_lane force = mf_fma(constant(fixed, MF_CAR_MASS), f->pull_x, f->drive - f->resistance);
    return free_or_stuck(fixed, force * constant(fixed, MF_CAR_INVERSE_LONG));
}

static MF_INLINE mf_lane tangent(mf_lane angle) {
    return mf_sin_short_lane(angle) / mf_cos_short_lane(angle);
}

// Without slip: vy = (l_r / L) tan(d) vx and r = tan(d) vx / L (Kabzan et al. 2020, equation 4).
// Their time derivatives alone would keep any slip forever; it decays at the rate of the tires at
// the end of the blend.
static MF_INLINE void kinematic_rates(const Fixed *fixed, const State *s, const Forces *f,
                                      mf_lane steering_rate, Rates *out) {
    mf_lane slope = tangent(s->steering), grip = constant(fixed, MF_CAR_GRIP);
    out->vx = rolling_rate(fixed, f);
    mf_lane widening = mf_fma(slope, slope, mf_set((mf_real)1)) * steering_rate;
    mf_lane change = mf_fma(slope, out->vx, widening * s->vx);
    mf_lane bound = slope * s->vx, inverse = constant(fixed, MF_CAR_INVERSE_BASE);
    mf_lane share = constant(fixed, MF_CAR_REAR_SHARE);
    out->vy = mf_fma(share, change, grip * mf_fma(share, bound, -s->vy));
    out->yaw_rate = mf_fma(inverse, change, grip * mf_fma(inverse, bound, -s->yaw_rate));
}

static MF_INLINE mf_lane mix(mf_mask whole, mf_lane part, mf_lane dynamic, mf_lane kinematic) {
    return mf_select(whole, dynamic, mf_fma(part, dynamic - kinematic, kinematic));
}

// Kabzan et al. 2020, equations 5 and 6: the share of the dynamic model grows from 0 to 1 between
// the two speeds of the blend.
static MF_INLINE void blended_rates(const Fixed *fixed, const State *s, const Forces *f,
                                    mf_lane steering_rate, Rates *out) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane above = mf_abs(s->vx) - constant(fixed, MF_CAR_BLEND_LOW);
    mf_lane part = mf_clamp(above * constant(fixed, MF_CAR_INVERSE_BLEND), mf_zero(), one);
    mf_mask whole = mf_less_equal(one, part);
    dynamic_rates(fixed, s, f, out);
    if (mf_all(whole))
        return;
    Rates k;
    kinematic_rates(fixed, s, f, steering_rate, &k);
    out->vx = mix(whole, part, out->vx, k.vx);
    out->vy = mix(whole, part, out->vy, k.vy);
    out->yaw_rate = mix(whole, part, out->yaw_rate, k.yaw_rate);
}

// ---- rates --------------------------------------------------------------------------------------

static MF_INLINE mf_lane steering_rate(const Fixed *fixed, const State *s) {
    if (!fixed->plan->lagged)
        return fixed->slew;
    mf_lane most = constant(fixed, MF_CAR_STEERING_RATE);
    mf_lane rate = (fixed->target - s->steering) * constant(fixed, MF_CAR_STEERING_GAIN);
    return mf_clamp(rate, -most, most);
}

// The kinematic model has no slip: sideways speed and yaw rate follow from speed and steering.
static MF_INLINE void bind_wheels(const Fixed *fixed, State *s) {
    if (fixed->plan->model != MF_CAR_KINEMATIC)
        return;
    mf_lane bound = tangent(s->steering) * s->vx;
    s->vy = constant(fixed, MF_CAR_REAR_SHARE) * bound;
    s->yaw_rate = constant(fixed, MF_CAR_INVERSE_BASE) * bound;
}

static MF_INLINE void speed_rates(const Fixed *fixed, State *s, Rates *out) {
    bind_wheels(fixed, s);
    Forces f = external_forces(fixed, s);
    out->steering = steering_rate(fixed, s);
    switch (fixed->plan->model) {
    case MF_CAR_KINEMATIC:
        out->vx = rolling_rate(fixed, &f);
        out->vy = out->yaw_rate = mf_zero();
        break;
    case MF_CAR_DYNAMIC:
        dynamic_rates(fixed, s, &f, out);
        break;
    default:
        blended_rates(fixed, s, &f, out->steering, out);
        break;
    }
}

// Horizontal velocity [m/s] of the car, and the vertical one.
static MF_INLINE void ground_velocity(const Fixed *fixed, const State *s, mf_lane *x, mf_lane *y,
                                      mf_lane *up) {
    mf_lane cosine, sine;
    heading(s, &cosine, &sine);
    *x = mf_fma(cosine, s->vx, -sine * s->vy);
    *y = mf_fma(sine, s->vx, cosine * s->vy);
    *up = mf_zero();
    if (fixed->plan->level)
        return;
    mf_lane fall = mf_fma(fixed->nx, *x, fixed->ny * *y), part = fall * fixed->lean;
    *x = mf_fma(-fixed->nx, part, *x);
    *y = mf_fma(-fixed->ny, part, *y);
    *up = -fall;
}

static MF_INLINE void position_rates(const Fixed *fixed, const State *s, Rates *out) {
    mf_lane up, half = mf_set((mf_real)0.5) * s->yaw_rate;
    ground_velocity(fixed, s, &out->x, &out->y, &up);
    out->w = -half * s->z;
    out->z = half * s->w;
}

static MF_INLINE Rates all_rates(const Fixed *fixed, State *s) {
    Rates out;
    speed_rates(fixed, s, &out);
    position_rates(fixed, s, &out);
    return out;
}

// ---- stepping -----------------------------------------------------------------------------------

static MF_INLINE void add_speeds(State *out, const State *s, const Rates *k, mf_lane h) {
    out->vx = mf_fma(h, k->vx, s->vx);
    out->vy = mf_fma(h, k->vy, s->vy);
    out->yaw_rate = mf_fma(h, k->yaw_rate, s->yaw_rate);
    out->steering = mf_fma(h, k->steering, s->steering);
}

static MF_INLINE void add_positions(State *out, const State *s, const Rates *k, mf_lane h) {
    out->x = mf_fma(h, k->x, s->x);
    out->y = mf_fma(h, k->y, s->y);
    out->w = mf_fma(h, k->w, s->w);
    out->z = mf_fma(h, k->z, s->z);
}

// The same at the end of a step, with remainders of sums (math/lane_sum.h) and a heading of length
// 1. Speeds rotate with the body, so they are not sums.
static MF_INLINE void sum_positions(State *out, const State *s, const Rates *k, mf_lane h,
                                    State *low) {
    const mf_lane zero = mf_zero();
    Quat left = {low->w, zero, zero, low->z};
    const Quat now = quat_sum_fma(MF_VALUE(Quat, k->w, zero, zero, k->z), h,
                                  MF_VALUE(Quat, s->w, zero, zero, s->z), &left);
    out->x = sum_fma(h, k->x, s->x, &low->x);
    out->y = sum_fma(h, k->y, s->y, &low->y);
    out->w = now.w;
    out->z = now.z;
    low->w = left.w;
    low->z = left.z;
}

static MF_INLINE State add_rates(const State *s, const Rates *k, mf_lane h) {
    State out;
    add_speeds(&out, s, k, h);
    add_positions(&out, s, k, h);
    return out;
}

// a += factor * k, component by component.
static MF_INLINE void sum_rates(Rates *a, const Rates *k, mf_lane factor) {
    a->x = mf_fma(factor, k->x, a->x);
    a->y = mf_fma(factor, k->y, a->y);
    a->w = mf_fma(factor, k->w, a->w);
    a->z = mf_fma(factor, k->z, a->z);
    a->vx = mf_fma(factor, k->vx, a->vx);
    a->vy = mf_fma(factor, k->vy, a->vy);
    a->yaw_rate = mf_fma(factor, k->yaw_rate, a->yaw_rate);
    a->steering = mf_fma(factor, k->steering, a->steering);
}

// An explicit method of one step: each stage starts from the rates of the one before.
typedef struct Method {
    uint32_t stages;
    mf_real reach[4];  // [1] time of the next stage, in steps
    mf_real weight[4]; // [1]
} Method;

static MF_INLINE State step_stages(const Fixed *fixed, const State *s, const Method *method,
                                   mf_real h, State *low) {
    const mf_lane zero = mf_zero();
    Rates sum = {zero, zero, zero, zero, zero, zero, zero, zero};
    State at = *s;
    for (uint32_t i = 0; i < method->stages; i++) {
        Rates k = all_rates(fixed, &at);
        sum_rates(&sum, &k, mf_set(method->weight[i]));
        at = add_rates(s, &k, mf_set(method->reach[i] * h));
    }
    add_speeds(&at, s, &sum, mf_set(h));
    sum_positions(&at, s, &sum, mf_set(h), low);
    return at;
}

static MF_INLINE State step_semi_implicit(const Fixed *fixed, State *s, mf_real h, State *low) {
    Rates k;
    State moved = *s;
    speed_rates(fixed, s, &k);
    add_speeds(&moved, s, &k, mf_set(h));
    bind_wheels(fixed, &moved);
    State out = moved;
    position_rates(fixed, &moved, &k);
    sum_positions(&out, s, &k, mf_set(h), low);
    return out;
}

static MF_INLINE State step_state(const Fixed *fixed, State *s, State *low) {
    static const Method euler = {1, {0}, {1}}, heun = {2, {1, 0}, {(mf_real)0.5, (mf_real)0.5}};
    static const Method rk4 = {
        4,
        {(mf_real)0.5, (mf_real)0.5, 1, 0},
        {(mf_real)(1.0 / 6), (mf_real)(1.0 / 3), (mf_real)(1.0 / 3), (mf_real)(1.0 / 6)}};
    const mf_Integrator integrator = fixed->plan->integrator;
    const mf_real h = fixed->constant[MF_CAR_STEP];
    State out;
    if (integrator == MF_INTEGRATOR_SEMI_IMPLICIT)
        out = step_semi_implicit(fixed, s, h, low);
    else
        out = step_stages(fixed, s,
                          integrator == MF_INTEGRATOR_EULER  ? &euler
                          : integrator == MF_INTEGRATOR_HEUN ? &heun
                                                             : &rk4,
                          h, low);
    bind_wheels(fixed, &out);
    return out;
}
