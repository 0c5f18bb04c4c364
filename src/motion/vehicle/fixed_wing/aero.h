// Forces and moments of the air and the propeller on a fixed-wing aircraft, for a block of lanes.
//
// Beard and McLain, "Small Unmanned Aircraft" (2012), equations 4.6 to 4.20, with the propulsion of
// the second edition (DC motor and propeller in equilibrium, C_T and C_Q quadratic in the advance
// ratio). Inside this file axes are the book's, forward-right-down; what comes in and goes out is
// in forward-left-up axes. Neither airspeed nor propeller speed is divided by: products of the two
// appear instead of the quotients of the textbook, so still air is no special case.
//
// Included by the kernel only.
#pragma once

#include "math/lane_sum.h"
#include "motion/vehicle/fixed_wing/plan.h"

typedef struct Surfaces {
    mf_lane elevator, aileron, rudder; // [rad]
    mf_lane throttle;                  // [1]
} Surfaces;

// What of the coefficients stays the same while the surfaces are held.
typedef struct Fixed {
    mf_lane lift, drag, side, roll, pitch, yaw; // [1]
    mf_lane motor;                              // [N m] c of the motor's equation without airspeed
} Fixed;

typedef struct AirFlow {
    mf_lane speed; // [m/s] V
    mf_lane plane; // [m/s] its part in the plane of symmetry
    mf_lane alpha; // [rad]
    mf_lane beta;  // [rad]
} AirFlow;

typedef struct Loads {
    Vec force, moment; // [N], [N m] body axes: forward, left, up
    mf_lane thrust;    // [N]
} Loads;

static MF_INLINE mf_lane set(const mf_real *constant, int which) {
    return mf_set(constant[which]);
}

static MF_INLINE Fixed hold_surfaces(const mf_real *c, const Surfaces *s) {
    Fixed fixed;
    fixed.lift = s->elevator * set(c, MF_WING_LIFT_ELEVATOR);
    fixed.drag = s->elevator * set(c, MF_WING_DRAG_ELEVATOR);
    fixed.pitch = mf_fma(s->elevator, set(c, MF_WING_PITCH_ELEVATOR), set(c, MF_WING_PITCH_0));
    fixed.side = mf_fma(s->rudder, set(c, MF_WING_SIDE_RUDDER),
                        mf_fma(s->aileron, set(c, MF_WING_SIDE_AILERON), set(c, MF_WING_SIDE_0)));
    fixed.roll = mf_fma(s->rudder, set(c, MF_WING_ROLL_RUDDER),
                        mf_fma(s->aileron, set(c, MF_WING_ROLL_AILERON), set(c, MF_WING_ROLL_0)));
    fixed.yaw = mf_fma(s->rudder, set(c, MF_WING_YAW_RUDDER),
                       mf_fma(s->aileron, set(c, MF_WING_YAW_AILERON), set(c, MF_WING_YAW_0)));
    fixed.motor = mf_fma(-s->throttle, set(c, MF_WING_MOTOR_STALL), set(c, MF_WING_MOTOR_IDLE));
    return fixed;
}

// Angles of the velocity relative to the air; alpha is 0 where there is none.
static MF_INLINE AirFlow air_flow(Vec velocity) {
    mf_lane down = -velocity.z, right = -velocity.y;
    mf_lane square = mf_fma(velocity.x, velocity.x, down * down);
    AirFlow flow;
    flow.plane = mf_sqrt(square);
    flow.speed = mf_sqrt(mf_fma(right, right, square));
    flow.alpha = mf_atan2_lane(down, velocity.x);
    flow.beta = mf_atan_ratio_lane(right, mf_max(flow.plane, mf_set((mf_real)1e-12)));
    return flow;
}

// Lift and drag beyond the stall become those of a flat plate (lift: equation 4.9; the book leaves
// drag as it is, which for the linear model would push the aircraft at large negative angles). With
// F = exp(M (|alpha| - alpha_0)) and k = exp(-2 M alpha_0) the share of the attached flow,
// 1 - sigma of equation 4.10, is F / (F (1 + k + F) + k).
static MF_INLINE void stall(const mf_real *c, mf_lane angle, mf_lane sine, mf_lane cosine,
                            mf_lane *lift, mf_lane *drag) {
    const mf_lane one = mf_set((mf_real)1), floor = set(c, MF_WING_STALL_FLOOR);
    mf_mask near = mf_less(set(c, MF_WING_STALL_NEAR), angle);
    if (!mf_any(near))
        return;
    mf_lane power = mf_fma(angle, set(c, MF_WING_STALL_SLOPE), -set(c, MF_WING_STALL_OFFSET));
    mf_lane f = mf_exp_lane(mf_min(power, mf_set((mf_real)40)));
    mf_lane attached = f / mf_fma(f, one + floor + f, floor);
    mf_lane plate = (sine + sine) * mf_abs(sine);
    mf_lane plate_lift = plate * cosine, plate_drag = plate * sine;
    *lift = mf_select(near, mf_fma(attached, *lift - plate_lift, plate_lift), *lift);
    *drag = mf_select(near, mf_fma(attached, *drag - plate_drag, plate_drag), *drag);
}

// Propeller speed where the motor's torque equals the propeller's: a W^2 + b W + c = 0. It does not
// turn backwards.
static MF_INLINE mf_lane propeller_speed(const mf_real *c, const Fixed *fixed, mf_lane speed,
                                         mf_lane square) {
    mf_lane b = mf_fma(speed, set(c, MF_WING_TORQUE_1), set(c, MF_WING_MOTOR_DRAG));
    mf_lane rest = mf_fma(square, set(c, MF_WING_TORQUE_2), fixed->motor);
    mf_lane four_a = set(c, MF_WING_TORQUE_0) * mf_set((mf_real)4);
    mf_lane root = mf_sqrt(mf_max(mf_fma(b, b, -(four_a * rest)), mf_zero()));
    return mf_max((root - b) * set(c, MF_WING_MOTOR_ROOT), mf_zero());
}

// A row of six coefficients: what the surfaces give, beta, and the rates about x and z.
static MF_INLINE mf_lane lateral(const mf_real *c, int row, mf_lane clamped, mf_lane beta,
                                 mf_lane square, mf_lane roll_rate, mf_lane yaw_rate) {
    mf_lane still = mf_fma(beta, set(c, row + 1), clamped);
    return mf_fma(square, still, mf_fma(yaw_rate, set(c, row + 3), roll_rate * set(c, row + 2)));
}

static MF_INLINE Loads air_loads(const mf_real *c, const Fixed *fixed, Vec velocity, Vec rate) {
    const AirFlow flow = air_flow(velocity);
    mf_lane square = flow.speed * flow.speed;
    mf_lane inverse = mf_set((mf_real)1) / mf_max(flow.plane, mf_set((mf_real)1e-12));
    mf_lane cosine = velocity.x * inverse, sine = -velocity.z * inverse;
    mf_lane p = rate.x * flow.speed, q = -rate.y * flow.speed, r = -rate.z * flow.speed;
    mf_lane lift = mf_fma(flow.alpha, set(c, MF_WING_LIFT_ALPHA), set(c, MF_WING_LIFT_0));
    mf_lane drag = mf_fma(flow.alpha, set(c, MF_WING_DRAG_ALPHA), set(c, MF_WING_DRAG_0));
    drag = mf_fma(lift * set(c, MF_WING_DRAG_LIFT), lift, drag);
    stall(c, mf_abs(flow.alpha), sine, cosine, &lift, &drag);
    lift = mf_fma(square, lift + fixed->lift, q * set(c, MF_WING_LIFT_Q));
    drag = mf_fma(square, drag + fixed->drag, q * set(c, MF_WING_DRAG_Q));
    mf_lane pitch = mf_fma(square, mf_fma(flow.alpha, set(c, MF_WING_PITCH_ALPHA), fixed->pitch),
                           q * set(c, MF_WING_PITCH_Q));
    mf_lane side = lateral(c, MF_WING_SIDE_0, fixed->side, flow.beta, square, p, r);
    mf_lane roll = lateral(c, MF_WING_ROLL_0, fixed->roll, flow.beta, square, p, r);
    mf_lane yaw = lateral(c, MF_WING_YAW_0, fixed->yaw, flow.beta, square, p, r);

    mf_lane propeller_rate = propeller_speed(c, fixed, flow.speed, square);
    mf_lane both = propeller_rate * flow.speed, rate_square = propeller_rate * propeller_rate;
    Loads loads;
    loads.thrust =
        mf_fma(rate_square, set(c, MF_WING_THRUST_0),
               mf_fma(both, set(c, MF_WING_THRUST_1), square * set(c, MF_WING_THRUST_2)));
    mf_lane torque =
        mf_fma(rate_square, set(c, MF_WING_TORQUE_0),
               mf_fma(both, set(c, MF_WING_TORQUE_1), square * set(c, MF_WING_TORQUE_2)));

    const mf_lane half_density = set(c, MF_WING_HALF_DENSITY);
    mf_lane forward = mf_fma(lift, sine, -(drag * cosine));
    mf_lane upward = mf_fma(lift, cosine, drag * sine);
    loads.force = MF_VALUE(Vec, mf_fma(forward, half_density, loads.thrust), -(side * half_density),
                           upward * half_density);
    // The airframe takes the reaction to the propeller's torque.
    mf_lane span = half_density * set(c, MF_WING_SPAN);
    loads.moment = MF_VALUE(Vec, mf_fma(roll, span, -torque),
                            -(pitch * half_density * set(c, MF_WING_CHORD)), -(yaw * span));
    return loads;
}
