// The flight of a quadrotor: equations 1-9 of the paper (Li et al., "Potato", 2023), stepped by an
// explicit Runge-Kutta method.
//
//   p' = v    v' = R(q) f / m - g    q' = q (0, w) / 2    I w' = t - w x I w    W' = (Wc - W) / tau
//
// The speed W of a rotor does not depend on the rest, so its values at the stages are known
// beforehand: Wc + lag[s] (W - Wc), with the very factors that the method gives. The position needs
// no stages either: with the accelerations a_s of the stages it moves by h v + h^2 sum of lean[s]
// a_s.
#pragma once

#include "math/lane_sum.h"
#include "motion/vehicle/quadrotor/plan.h"

// ---- state --------------------------------------------------------------------------------------

// The lanes that a step works on: loading, storing, and the parts of a quadrotor. Included by the
// kernel and its parts only.

enum { ROTORS = 4 };

typedef struct Lanes {
    const mf_QuadrotorPlan *plan;
    const mf_QuadrotorFields *fields;
    const mf_real *constant;
    size_t block, lane; // where the lanes begin
    mf_mask alive;      // lanes without a fault
    bool all_alive;
} Lanes;

typedef struct Vehicle {
    Vec position, velocity; // world
    Quat attitude;          // body to world
    Vec rate;               // body axes
    mf_lane speed[ROTORS];
} Vehicle;

// Remainders of these sums (lane_sum.h). That of the position is there always, the others of brief
// steps only.
typedef struct Remainder {
    Vec position, velocity, rate;
    Quat attitude;
} Remainder;

static MF_INLINE mf_lane value_of(const Lanes *s, int constant) {
    return mf_set(s->constant[constant]);
}

// c - a b, rounded once.
static MF_INLINE mf_lane less_product(mf_lane a, mf_lane b, mf_lane c) {
    return mf_fma(-a, b, c);
}

// The rows of these lanes in a field with `components` values per agent.
static MF_INLINE mf_real *rows_of(const Lanes *s, void *field, size_t components) {
    return (mf_real *)field + s->block * components * MF_BLOCK + s->lane;
}
static MF_INLINE uint32_t *words_of(const Lanes *s, uint32_t *field) {
    return field + s->block * MF_BLOCK + s->lane;
}

// The remainders of these lanes; NULL: there are none.
static MF_INLINE mf_real *lows_of(const Lanes *s, void *field, size_t components) {
#if defined(MF_KERNEL_F64)
    (void)s, (void)field, (void)components;
    return NULL;
#else
    return field != NULL ? rows_of(s, field, components) : NULL;
#endif
}

// Frozen lanes keep what they have.
static MF_INLINE void keep_row(const Lanes *s, mf_real *rows, uint32_t c, mf_lane a) {
    if (s->all_alive)
        mf_store(rows + (size_t)c * MF_BLOCK, a);
    else
        mf_store_where(s->alive, rows + (size_t)c * MF_BLOCK, a);
}
static MF_INLINE void keep_three(const Lanes *s, mf_real *rows, Vec a) {
    keep_row(s, rows, 0, a.x);
    keep_row(s, rows, 1, a.y);
    keep_row(s, rows, 2, a.z);
}
static MF_INLINE void keep_four(const Lanes *s, mf_real *rows, Quat a) {
    keep_row(s, rows, 0, a.w);
    keep_row(s, rows, 1, a.x);
    keep_row(s, rows, 2, a.y);
    keep_row(s, rows, 3, a.z);
}

static MF_INLINE Vehicle load_vehicle(const Lanes *s) {
    const mf_real *q = rows_of(s, s->fields->orientation, 4);
    const mf_real *speed = rows_of(s, s->fields->speed, ROTORS);
    Vehicle vehicle;
    vehicle.position = vec_load(rows_of(s, s->fields->position, 3), 0);
    vehicle.velocity = vec_load(rows_of(s, s->fields->linear, 3), 0);
    vehicle.attitude =
        MF_VALUE(Quat, row_load(q, 0), row_load(q, 1), row_load(q, 2), row_load(q, 3));
    vehicle.rate = vec_load(rows_of(s, s->fields->angular, 3), 0);
    for (uint32_t i = 0; i < ROTORS; i++)
        vehicle.speed[i] = row_load(speed, i);
    return vehicle;
}

static MF_INLINE void load_remainder(const Lanes *s, bool brief, Remainder *low) {
    low->position = low_vec(lows_of(s, s->fields->position_low, 3), 0);
    if (!brief)
        return;
    low->velocity = low_vec(lows_of(s, s->fields->linear_low, 3), 0);
    low->attitude = low_quat(lows_of(s, s->fields->orientation_low, 4), 0);
    low->rate = low_vec(lows_of(s, s->fields->angular_low, 3), 0);
}

static MF_INLINE void store_remainder(const Lanes *s, bool brief, const Remainder *low) {
    mf_real *position = lows_of(s, s->fields->position_low, 3);
    if (position != NULL)
        keep_three(s, position, low->position);
    if (!brief)
        return;
    keep_four(s, lows_of(s, s->fields->orientation_low, 4), low->attitude);
    keep_three(s, lows_of(s, s->fields->linear_low, 3), low->velocity);
    keep_three(s, lows_of(s, s->fields->angular_low, 3), low->rate);
}

static MF_INLINE void store_vehicle(const Lanes *s, const Vehicle *vehicle) {
    mf_real *q = rows_of(s, s->fields->orientation, 4);
    mf_real *speed = rows_of(s, s->fields->speed, ROTORS);
    keep_three(s, rows_of(s, s->fields->position, 3), vehicle->position);
    keep_three(s, rows_of(s, s->fields->linear, 3), vehicle->velocity);
    keep_four(s, q, vehicle->attitude);
    keep_three(s, rows_of(s, s->fields->angular, 3), vehicle->rate);
    for (uint32_t i = 0; i < ROTORS; i++)
        keep_row(s, speed, i, vehicle->speed[i]);
}

// Adds `bit` to the fault word of the lanes in `bad`.
static void raise_fault(Lanes *s, mf_mask bad, uint32_t bit) {
    if (!mf_any(bad))
        return;
    int32_t *words = (int32_t *)words_of(s, s->fields->fault);
    mf_index word = mf_load_index(words);
    mf_store_index(words, mf_select_index(bad, word | mf_set_index((int32_t)bit), word));
    s->alive = mf_and(s->alive, mf_not(bad));
    s->all_alive = false;
}

// ---- flight -------------------------------------------------------------------------------------

typedef struct Thrust {
    mf_lane lift;             // [m/s^2] twice the thrust per mass
    Vec angular_acceleration; // [rad/s^2] of the rotors' torques alone
} Thrust;

typedef struct Slope { // derivatives: of the velocity, of the attitude (twice), of the rate
    Vec acceleration;
    Quat drift;
    Vec angular_acceleration;
} Slope;

static MF_INLINE mf_lane torque_row(const Lanes *s, const mf_lane *square, int axis) {
    int row = MF_QUAD_TORQUE + 4 * axis;
    mf_lane sum = value_of(s, row) * square[0];
    for (int i = 1; i < ROTORS; i++)
        sum = mf_fma(value_of(s, row + i), square[i], sum);
    return sum;
}

// From the squares of the rotors' speeds.
static MF_INLINE Thrust thrust_of(const Lanes *s, const mf_lane *square) {
    mf_lane sum = (square[0] + square[1]) + (square[2] + square[3]);
    return MF_VALUE(Thrust, value_of(s, MF_QUAD_LIFT) * sum,
                    {torque_row(s, square, 0), torque_row(s, square, 1), torque_row(s, square, 2)});
}

static MF_INLINE Sym sym_constant(const Lanes *s, int first) {
    return MF_VALUE(Sym, value_of(s, first), value_of(s, first + 1), value_of(s, first + 2),
                    value_of(s, first + 3), value_of(s, first + 4), value_of(s, first + 5));
}

// The change of the rate that the rotation itself brings: -I^-1 (w x I w), added to
// `angular_acceleration`.
static MF_INLINE Vec add_gyro(const Lanes *s, Vec w, Vec angular_acceleration, bool plain) {
    if (plain || !s->plan->full_inertia)
        return MF_VALUE(Vec, mf_fma(value_of(s, MF_QUAD_GYRO), w.y * w.z, angular_acceleration.x),
                        mf_fma(value_of(s, MF_QUAD_GYRO + 1), w.z * w.x, angular_acceleration.y),
                        mf_fma(value_of(s, MF_QUAD_GYRO + 2), w.x * w.y, angular_acceleration.z));
    Sym inertia = sym_constant(s, MF_QUAD_INERTIA), inverse = sym_constant(s, MF_QUAD_INVERSE);
    Vec torque = vec_cross(sym_apply(&inertia, w), w);
    return vec_add(angular_acceleration, sym_apply(&inverse, torque));
}

// Twice the derivative of q.
static MF_INLINE Quat drift_of(Quat q, Vec w) {
    return MF_VALUE(Quat, -mf_fma(q.x, w.x, mf_fma(q.y, w.y, q.z * w.z)),
                    mf_fma(q.w, w.x, mf_fma(q.y, w.z, -(q.z * w.y))),
                    mf_fma(q.w, w.y, mf_fma(q.z, w.x, -(q.x * w.z))),
                    mf_fma(q.w, w.z, mf_fma(q.x, w.y, -(q.y * w.x))));
}

// ---- drag ---------------------------------------------------------------------------------------

// Each rotor meets the air at the body's speed and that of its own position in the turning body.
static MF_INLINE void add_rotor_drag(const Lanes *s, Vec air, Vec w, const mf_lane *speed,
                                     Vec *force, Vec *torque) {
    for (int i = 0; i < ROTORS; i++) {
        mf_lane x = value_of(s, MF_QUAD_ROTOR_X + i), y = value_of(s, MF_QUAD_ROTOR_Y + i);
        mf_lane angle = -speed[i];
        mf_lane fx = angle * value_of(s, MF_QUAD_ROTOR_DRAG) * less_product(w.z, y, air.x);
        mf_lane fy = angle * value_of(s, MF_QUAD_ROTOR_DRAG + 1) * mf_fma(w.z, x, air.y);
        mf_lane fz = angle * value_of(s, MF_QUAD_ROTOR_DRAG + 2) *
                     less_product(w.y, x, mf_fma(w.x, y, air.z));
        *force = vec_add(*force, MF_VALUE(Vec, fx, fy, fz));
        torque->x = mf_fma(y, fz, torque->x);
        torque->y = less_product(x, fz, torque->y);
        torque->z = torque->z + less_product(y, fx, x * fy);
    }
}

static MF_INLINE void add_drag(const Lanes *s, const Vehicle *vehicle, const mf_lane *speed,
                               Vec wind, Slope *slope) {
    mf_lane zero = mf_zero();
    Mat rotation = quat_matrix(vehicle->attitude);
    Vec air = mat_apply_transposed(&rotation, vec_sub(vehicle->velocity, wind));
    Vec force = {zero, zero, zero}, torque = force;
    if (s->plan->body_drag) {
        mf_lane size = -mf_sqrt(vec_dot(air, air));
        force = MF_VALUE(Vec, value_of(s, MF_QUAD_BODY_DRAG) * size * air.x,
                         value_of(s, MF_QUAD_BODY_DRAG + 1) * size * air.y,
                         value_of(s, MF_QUAD_BODY_DRAG + 2) * size * air.z);
    }
    if (s->plan->rotor_drag)
        add_rotor_drag(s, air, vehicle->rate, speed, &force, &torque);
    Sym inverse = sym_constant(s, MF_QUAD_INVERSE);
    Vec acceleration = vec_scale(mat_apply(&rotation, force), value_of(s, MF_QUAD_INVERSE_MASS));
    slope->acceleration = vec_add(slope->acceleration, acceleration);
    slope->angular_acceleration = vec_add(slope->angular_acceleration, sym_apply(&inverse, torque));
}

// ---- one stage ----------------------------------------------------------------------------------

static MF_INLINE Slope slope_at(const Lanes *s, const Vehicle *vehicle, const mf_lane *speed,
                                Vec wind, bool plain) {
    mf_lane square[ROTORS];
    for (int i = 0; i < ROTORS; i++)
        square[i] = speed[i] * speed[i];
    const Thrust thrust = thrust_of(s, square);
    const Quat q = vehicle->attitude;
    // Half of the body's z axis in the world.
    Vec up = {mf_fma(q.x, q.z, q.w * q.y), mf_fma(q.y, q.z, -(q.w * q.x)),
              less_product(q.x, q.x, less_product(q.y, q.y, mf_set((mf_real)0.5)))};
    Slope slope;
    slope.acceleration = MF_VALUE(Vec, thrust.lift * up.x, thrust.lift * up.y,
                                  mf_fma(thrust.lift, up.z, value_of(s, MF_QUAD_GRAVITY)));
    slope.drift = drift_of(q, vehicle->rate);
    slope.angular_acceleration = add_gyro(s, vehicle->rate, thrust.angular_acceleration, plain);
    if (!plain && (s->plan->rotor_drag || s->plan->body_drag))
        add_drag(s, vehicle, speed, wind, &slope);
    return slope;
}

// ---- one step -----------------------------------------------------------------------------------

static MF_INLINE uint32_t stage_count(mf_Integrator method) {
    return method == MF_INTEGRATOR_RK4 ? 4 : method == MF_INTEGRATOR_HEUN ? 2 : 1;
}
// Weights of a stage relative to the first one's.
static MF_INLINE mf_real stage_weight(mf_Integrator method, uint32_t stage) {
    return method == MF_INTEGRATOR_RK4 && (stage == 1 || stage == 2) ? 2 : 1;
}
static MF_INLINE bool stage_leans(mf_Integrator method, uint32_t stage) {
    return method == MF_INTEGRATOR_RK4 ? stage < 3 : stage == 0;
}

static MF_INLINE mf_lane add_weighted(mf_real weight, mf_lane a, mf_lane sum) {
    if (weight == 1)
        return sum + a;
    return mf_fma(mf_set(weight), a, sum);
}
static MF_INLINE Vec vec_weighted(mf_real weight, Vec a, Vec sum) {
    return MF_VALUE(Vec, add_weighted(weight, a.x, sum.x), add_weighted(weight, a.y, sum.y),
                    add_weighted(weight, a.z, sum.z));
}
static MF_INLINE void slope_weighted(mf_real weight, const Slope *a, Slope *sum) {
    sum->acceleration = vec_weighted(weight, a->acceleration, sum->acceleration);
    sum->angular_acceleration =
        vec_weighted(weight, a->angular_acceleration, sum->angular_acceleration);
    sum->drift.w = add_weighted(weight, a->drift.w, sum->drift.w);
    sum->drift.x = add_weighted(weight, a->drift.x, sum->drift.x);
    sum->drift.y = add_weighted(weight, a->drift.y, sum->drift.y);
    sum->drift.z = add_weighted(weight, a->drift.z, sum->drift.z);
}
static MF_INLINE Quat quat_along(mf_lane factor, Quat a, Quat b) {
    return MF_VALUE(Quat, mf_fma(factor, a.w, b.w), mf_fma(factor, a.x, b.x),
                    mf_fma(factor, a.y, b.y), mf_fma(factor, a.z, b.z));
}

// Speeds at a later stage or, as stage 4, at the end of the step.
static MF_INLINE void rotors_at(const Lanes *s, const mf_lane *now, const mf_lane *command,
                                uint32_t stage, mf_lane *speed) {
    mf_lane rest = value_of(s, MF_QUAD_LAG + (int)stage);
    for (int i = 0; i < ROTORS; i++)
        speed[i] = mf_fma(rest, now[i] - command[i], command[i]);
}

// Steps everything; `brief`: so short that velocities and the attitude need remainders. With a
// literal `method` and `plain` (diagonal inertia, rotors with lag, no drag) the compiler makes
// straight code of it.
static MF_INLINE void fly(const Lanes *s, Vehicle *vehicle, const mf_lane *command, Vec wind,
                          mf_Integrator method, bool plain, bool brief, Remainder *low) {
    const Vehicle start = *vehicle;
    mf_lane speed[ROTORS], zero = mf_zero();
    if (plain)
        memcpy(speed, start.speed, sizeof speed);
    else
        rotors_at(s, start.speed, command, 0, speed);
    Slope slope = slope_at(s, vehicle, speed, wind, plain), sum = slope;
    Vec lean = stage_leans(method, 0) ? slope.acceleration : MF_VALUE(Vec, zero, zero, zero);
    for (uint32_t stage = 1; stage < stage_count(method); stage++) {
        mf_lane node = value_of(s, MF_QUAD_NODE + (int)stage);
        mf_lane angle = value_of(s, MF_QUAD_ROTATION_NODE + (int)stage);
        rotors_at(s, start.speed, command, stage, speed);
        vehicle->attitude = quat_along(angle, slope.drift, start.attitude);
        vehicle->rate = vec_fma(slope.angular_acceleration, node, start.rate);
        if (!plain)
            vehicle->velocity = vec_fma(slope.acceleration, node, start.velocity);
        slope = slope_at(s, vehicle, speed, wind, plain);
        slope_weighted(stage_weight(method, stage), &slope, &sum);
        if (stage_leans(method, stage))
            lean = vec_add(lean, slope.acceleration);
    }
    mf_lane share = value_of(s, MF_QUAD_SHARE);
    if (brief)
        load_remainder(s, brief, low);
    const mf_lane angle = value_of(s, MF_QUAD_ROTATION_SHARE);
    if (brief) {
        vehicle->velocity = vec_sum_fma(sum.acceleration, share, start.velocity, &low->velocity);
        vehicle->rate = vec_sum_fma(sum.angular_acceleration, share, start.rate, &low->rate);
    } else {
        vehicle->velocity = vec_fma(sum.acceleration, share, start.velocity);
        vehicle->rate = vec_fma(sum.angular_acceleration, share, start.rate);
    }
    if (method == MF_INTEGRATOR_SEMI_IMPLICIT)
        sum.drift = drift_of(start.attitude, vehicle->rate);
    vehicle->attitude = brief ? quat_sum_fma(sum.drift, angle, start.attitude, &low->attitude)
                              : quat_along(angle, sum.drift, start.attitude);
    rotors_at(s, start.speed, command, 4, vehicle->speed);
    if (!brief) // this late, it does not take registers all the time
        load_remainder(s, brief, low);
    const Vec late = vec_fma(lean, value_of(s, MF_QUAD_LEAN), low->position);
    vehicle->position = vec_sum_late(vec_fma(start.velocity, value_of(s, MF_QUAD_STEP), late),
                                     start.position, &low->position);
}
