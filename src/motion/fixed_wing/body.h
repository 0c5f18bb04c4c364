// The rigid body of an aircraft and its integration over a step, for a block of lanes. World axes
// are east-north-up, body axes forward-left-up; the quaternion turns body into world.
//
// Included by the kernel only.
#ifndef MF_MOTION_FIXED_WING_BODY_H
#define MF_MOTION_FIXED_WING_BODY_H

#include "motion/fixed_wing/aero.h"

typedef struct Rotation { // body to world, row by row
    mf_lane xx, xy, xz, yx, yy, yz, zx, zy, zz;
} Rotation;

typedef struct Lows { // remainders of sums (math/lane_sum.h)
    Vec position, velocity, rate;
    Quat attitude;
} Lows;

typedef struct Body {
    Vec position; // [m] world
    Vec velocity; // [m/s] world
    Quat attitude;
    Vec rate; // [rad/s] body
    Lows low;
} Body;

// How the velocities and the attitude change.
typedef struct Change {
    Vec acceleration;         // [m/s^2] world
    Vec angular_acceleration; // [rad/s^2] body
    Quat rotation_rate;       // [1/s]
} Change;

// The air that a step meets: held over the step.
typedef struct Air {
    Vec wind; // [m/s] world
    Vec gust; // [m/s] body
} Air;

static MF_INLINE Vec along(Vec a, mf_lane factor, Vec b) {
    return MF_VALUE(Vec, mf_fma(b.x, factor, a.x), mf_fma(b.y, factor, a.y),
                    mf_fma(b.z, factor, a.z));
}

static MF_INLINE Quat quat_along(Quat a, mf_lane factor, Quat b) {
    return MF_VALUE(Quat, mf_fma(b.w, factor, a.w), mf_fma(b.x, factor, a.x),
                    mf_fma(b.y, factor, a.y), mf_fma(b.z, factor, a.z));
}

static MF_INLINE Rotation rotation_of(Quat q) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    mf_lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    mf_lane less_x = mf_fma(-q.x, x2, one), less_y = mf_fma(-q.y, y2, one);
    return MF_VALUE(Rotation, mf_fma(-q.z, z2, less_y), mf_fma(q.x, y2, -wz), mf_fma(q.x, z2, wy),
                    mf_fma(q.x, y2, wz), mf_fma(-q.z, z2, less_x), mf_fma(q.y, z2, -wx),
                    mf_fma(q.x, z2, -wy), mf_fma(q.y, z2, wx), mf_fma(-q.y, y2, less_x));
}

static MF_INLINE Vec to_world(const Rotation *m, Vec a) {
    return MF_VALUE(Vec, mf_fma(m->xx, a.x, mf_fma(m->xy, a.y, m->xz * a.z)),
                    mf_fma(m->yx, a.x, mf_fma(m->yy, a.y, m->yz * a.z)),
                    mf_fma(m->zx, a.x, mf_fma(m->zy, a.y, m->zz * a.z)));
}

static MF_INLINE Vec to_body(const Rotation *m, Vec a) {
    return MF_VALUE(Vec, mf_fma(m->xx, a.x, mf_fma(m->yx, a.y, m->zx * a.z)),
                    mf_fma(m->xy, a.x, mf_fma(m->yy, a.y, m->zy * a.z)),
                    mf_fma(m->xz, a.x, mf_fma(m->yz, a.y, m->zz * a.z)));
}

// Velocity relative to the air, body axes.
static MF_INLINE Vec through_air(const Rotation *rotation, Vec velocity, const Air *air) {
    Vec relative = {velocity.x - air->wind.x, velocity.y - air->wind.y, velocity.z - air->wind.z};
    Vec body = to_body(rotation, relative);
    return MF_VALUE(Vec, body.x - air->gust.x, body.y - air->gust.y, body.z - air->gust.z);
}

// Half of q times (0, w).
static MF_INLINE Quat rotation_rate_of(Quat q, Vec w) {
    const mf_lane half = mf_set((mf_real)0.5);
    Vec h = {w.x * half, w.y * half, w.z * half};
    return MF_VALUE(Quat, -mf_fma(q.x, h.x, mf_fma(q.y, h.y, q.z * h.z)),
                    mf_fma(q.w, h.x, mf_fma(q.y, h.z, -(q.z * h.y))),
                    mf_fma(q.w, h.y, mf_fma(q.z, h.x, -(q.x * h.z))),
                    mf_fma(q.w, h.z, mf_fma(q.x, h.y, -(q.y * h.x))));
}

// Euler's equations for a tensor with the one product xz.
static MF_INLINE Vec spin_up(const mf_real *c, Vec w, Vec moment) {
    Vec h = {mf_fma(set(c, MF_WING_INERTIA_X), w.x, set(c, MF_WING_INERTIA_XZ) * w.z),
             set(c, MF_WING_INERTIA_Y) * w.y,
             mf_fma(set(c, MF_WING_INERTIA_Z), w.z, set(c, MF_WING_INERTIA_XZ) * w.x)};
    Vec t = {mf_fma(w.z, h.y, mf_fma(-w.y, h.z, moment.x)),
             mf_fma(w.x, h.z, mf_fma(-w.z, h.x, moment.y)),
             mf_fma(w.y, h.x, mf_fma(-w.x, h.y, moment.z))};
    return MF_VALUE(Vec, mf_fma(set(c, MF_WING_INVERSE_X), t.x, set(c, MF_WING_INVERSE_XZ) * t.z),
                    set(c, MF_WING_INVERSE_Y) * t.y,
                    mf_fma(set(c, MF_WING_INVERSE_Z), t.z, set(c, MF_WING_INVERSE_XZ) * t.x));
}

static MF_INLINE Change change_of(const mf_real *c, const Fixed *fixed, const Air *air,
                                  Vec velocity, Quat attitude, Vec rate) {
    Rotation rotation = rotation_of(attitude);
    Loads loads = air_loads(c, fixed, through_air(&rotation, velocity, air), rate);
    Vec force = to_world(&rotation, loads.force);
    const mf_lane inverse_mass = set(c, MF_WING_INVERSE_MASS);
    Change change;
    change.acceleration = MF_VALUE(Vec, force.x * inverse_mass, force.y * inverse_mass,
                                   mf_fma(force.z, inverse_mass, -set(c, MF_WING_GRAVITY)));
    change.angular_acceleration = spin_up(c, rate, loads.moment);
    change.rotation_rate = rotation_rate_of(attitude, rate);
    return change;
}

// ---- integrators --------------------------------------------------------------------------------

static MF_INLINE void step_euler(const mf_real *c, const Fixed *fixed, const Air *air, Body *body,
                                 bool velocities_first) {
    const mf_lane h = set(c, MF_WING_STEP);
    Change k = change_of(c, fixed, air, body->velocity, body->attitude, body->rate);
    Vec velocity = along(body->velocity, h, k.acceleration),
        rate = along(body->rate, h, k.angular_acceleration);
    Vec carried = velocities_first ? velocity : body->velocity;
    Quat rotation_rate =
        velocities_first ? rotation_rate_of(body->attitude, rate) : k.rotation_rate;
    body->position = vec_sum_fma(carried, h, body->position, &body->low.position);
    body->attitude = quat_sum_fma(rotation_rate, h, body->attitude, &body->low.attitude);
    body->velocity = vec_sum_fma(k.acceleration, h, body->velocity, &body->low.velocity);
    body->rate = vec_sum_fma(k.angular_acceleration, h, body->rate, &body->low.rate);
}

static MF_INLINE void step_heun(const mf_real *c, const Fixed *fixed, const Air *air, Body *body) {
    const mf_lane h = set(c, MF_WING_STEP), half = set(c, MF_WING_HALF_STEP);
    Change first = change_of(c, fixed, air, body->velocity, body->attitude, body->rate);
    Vec velocity = along(body->velocity, h, first.acceleration);
    Vec rate = along(body->rate, h, first.angular_acceleration);
    Change last = change_of(c, fixed, air, velocity,
                            quat_along(body->attitude, h, first.rotation_rate), rate);
    const Vec path = vec_add(body->velocity, velocity),
              gain = vec_add(first.acceleration, last.acceleration),
              spin = vec_add(first.angular_acceleration, last.angular_acceleration);
    const Quat rotation = quat_along(first.rotation_rate, mf_set((mf_real)1), last.rotation_rate);
    body->position = vec_sum_fma(path, half, body->position, &body->low.position);
    body->velocity = vec_sum_fma(gain, half, body->velocity, &body->low.velocity);
    body->rate = vec_sum_fma(spin, half, body->rate, &body->low.rate);
    body->attitude = quat_sum_fma(rotation, half, body->attitude, &body->low.attitude);
}

// Runge and Kutta's classical method; sums run from the first stage to the last.
static MF_INLINE void step_rk4(const mf_real *c, const Fixed *fixed, const Air *air, Body *body) {
    const Body start = *body;
    const mf_lane two = mf_set((mf_real)2), one = mf_set((mf_real)1);
    const mf_lane zero = mf_zero();
    const Vec none = {zero, zero, zero};
    Change sum = {none, none, {zero, zero, zero, zero}};
    Vec velocity = start.velocity, rate = start.rate, path = none;
    Quat attitude = start.attitude;
    for (int i = 0; i < 4; i++) {
        Change stage = change_of(c, fixed, air, velocity, attitude, rate);
        mf_lane weight = i == 1 || i == 2 ? two : one;
        sum.acceleration = along(sum.acceleration, weight, stage.acceleration);
        sum.angular_acceleration =
            along(sum.angular_acceleration, weight, stage.angular_acceleration);
        sum.rotation_rate = quat_along(sum.rotation_rate, weight, stage.rotation_rate);
        path = along(path, weight, velocity);
        if (i == 3)
            break;
        mf_lane reach = i == 2 ? set(c, MF_WING_STEP) : set(c, MF_WING_HALF_STEP);
        velocity = along(start.velocity, reach, stage.acceleration);
        rate = along(start.rate, reach, stage.angular_acceleration);
        attitude = quat_along(start.attitude, reach, stage.rotation_rate);
    }
    const mf_lane sixth = set(c, MF_WING_SIXTH_STEP);
    body->position = vec_sum_fma(path, sixth, start.position, &body->low.position);
    body->velocity = vec_sum_fma(sum.acceleration, sixth, start.velocity, &body->low.velocity);
    body->rate = vec_sum_fma(sum.angular_acceleration, sixth, start.rate, &body->low.rate);
    body->attitude = quat_sum_fma(sum.rotation_rate, sixth, start.attitude, &body->low.attitude);
}

static MF_INLINE void step_body(const mf_real *c, mf_Integrator integrator, const Fixed *fixed,
                                const Air *air, Body *body) {
    if (integrator == MF_INTEGRATOR_RK4)
        step_rk4(c, fixed, air, body);
    else if (integrator == MF_INTEGRATOR_HEUN)
        step_heun(c, fixed, air, body);
    else
        step_euler(c, fixed, air, body, integrator == MF_INTEGRATOR_SEMI_IMPLICIT);
}

#endif
