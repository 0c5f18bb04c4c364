// The body-rate loop of a quadrotor and its mixer: from a collective thrust and three body rates to
// four rotor speeds.
//
// The loop requests the angular acceleration K (wc - w) + integral, less what the rotation brings
// by itself. `lead` makes up for the lag of the motors: the change against what the rotors give now
// is enlarged by it, which is a derivative part taken of the acceleration instead of a difference
// of rates. The mixer inverts the allocation matrix (equation 9 of the paper). Where rotors reach
// their limits yaw is given up first, then thrust, and roll and pitch last (Faessler, Falanga and
// Scaramuzza 2017 give up in the same order).
#ifndef MF_MOTION_QUADROTOR_RATES_H
#define MF_MOTION_QUADROTOR_RATES_H

#include "motion/quadrotor/flight.h"

typedef struct Demand {
    mf_lane lift; // [m/s^2] twice the thrust per mass
    Vec rate;     // [rad/s] body axes
} Demand;

static MF_INLINE mf_lane mix_of(const Lanes *s, int rotor, int part) {
    return value_of(s, MF_QUAD_MIX + 4 * rotor + part);
}

// Squared speeds within the rotors' limits, for demands that no setting of the rotors fulfils.
static void mix_limited(const Lanes *s, mf_lane lift, Vec angular_acceleration, mf_lane *square) {
    const mf_lane low = value_of(s, MF_QUAD_SQUARE_LOW), high = value_of(s, MF_QUAD_SQUARE_HIGH);
    mf_lane least = mf_set(-MF_REAL_MAX), most = mf_set(MF_REAL_MAX);
    for (int i = 0; i < ROTORS; i++) { // roll and pitch, and the lift that they leave space for
        mf_lane inverse = value_of(s, MF_QUAD_MIX_LIFT + i);
        square[i] = mf_fma(mix_of(s, i, 1), angular_acceleration.x,
                           mix_of(s, i, 2) * angular_acceleration.y);
        least = mf_max(least, (low - square[i]) * inverse);
        most = mf_min(most, (high - square[i]) * inverse);
    }
    mf_lane middle = mf_set((mf_real)0.5) * (least + most);
    lift = mf_select(mf_less(most, least), middle, mf_clamp(lift, least, most));
    least = mf_set(-MF_REAL_MAX);
    most = mf_set(MF_REAL_MAX);
    for (int i = 0; i < ROTORS; i++) { // and the yaw that is left
        mf_lane inverse = value_of(s, MF_QUAD_MIX_YAW + i);
        square[i] = mf_clamp(mf_fma(mix_of(s, i, 0), lift, square[i]), low, high);
        least = mf_max(least, less_product(inverse, square[i], value_of(s, MF_QUAD_YAW_LOW + i)));
        most = mf_min(most, less_product(inverse, square[i], value_of(s, MF_QUAD_YAW_HIGH + i)));
    }
    mf_lane yaw = mf_clamp(angular_acceleration.z, least, most);
    for (int i = 0; i < ROTORS; i++)
        square[i] = mf_clamp(mf_fma(mix_of(s, i, 3), yaw, square[i]), low, high);
}

// Fills the squared speeds; returns the lanes in which the rotors can do what is asked.
static MF_INLINE mf_mask mix(const Lanes *s, mf_lane lift, Vec angular_acceleration,
                             mf_lane *square) {
    for (int i = 0; i < ROTORS; i++) {
        square[i] = mf_fma(mix_of(s, i, 1), angular_acceleration.x, mix_of(s, i, 0) * lift);
        square[i] = mf_fma(mix_of(s, i, 2), angular_acceleration.y, square[i]);
        square[i] = mf_fma(mix_of(s, i, 3), angular_acceleration.z, square[i]);
    }
    mf_lane least = mf_min(mf_min(square[0], square[1]), mf_min(square[2], square[3]));
    mf_lane most = mf_max(mf_max(square[0], square[1]), mf_max(square[2], square[3]));
    mf_mask fine = mf_and(mf_less_equal(value_of(s, MF_QUAD_SQUARE_LOW), least),
                          mf_less_equal(most, value_of(s, MF_QUAD_SQUARE_HIGH)));
    if (!mf_all(fine)) {
        mf_lane limited[ROTORS];
        mix_limited(s, lift, angular_acceleration, limited);
        for (int i = 0; i < ROTORS; i++)
            square[i] = mf_select(fine, square[i], limited[i]);
    }
    return fine;
}

// Integrates the rate error, only where the rotors could follow.
static MF_INLINE void integrate_rate(const Lanes *s, mf_real *rows, Vec integral, Vec error,
                                     mf_mask fine) {
    const mf_lane before[3] = {integral.x, integral.y, integral.z};
    const mf_lane miss[3] = {error.x, error.y, error.z};
    for (int i = 0; i < 3; i++) {
        mf_lane bound = value_of(s, MF_QUAD_RATE_BOUND + i);
        mf_lane next = mf_fma(value_of(s, MF_QUAD_RATE_INTEGRAL + i), miss[i], before[i]);
        next = mf_clamp(next, -bound, bound);
        keep_row(s, rows, (uint32_t)i, mf_all(fine) ? next : mf_select(fine, next, before[i]));
    }
}

// From a demand to commanded rotor speeds.
static MF_INLINE void follow_rates(const Lanes *s, const Vehicle *vehicle, const Demand *demand,
                                   bool swift, mf_lane *command) {
    mf_lane square[ROTORS], zero = mf_zero(), lead = value_of(s, MF_QUAD_LEAD);
    for (int i = 0; i < ROTORS; i++)
        square[i] = vehicle->speed[i] * vehicle->speed[i];
    const Thrust now = thrust_of(s, square);
    mf_real *memory = NULL;
    Vec integral = {zero, zero, zero}, error = vec_sub(demand->rate, vehicle->rate);
    if (swift || s->plan->integral) {
        memory = rows_of(s, s->fields->rate_integral, 3);
        integral = vec_load(memory, 0);
    }
    Vec gyro = add_gyro(s, vehicle->rate, MF_VALUE(Vec, zero, zero, zero), swift);
    Vec angular_acceleration = {
        mf_fma(value_of(s, MF_QUAD_RATE_GAIN), error.x, integral.x - gyro.x),
        mf_fma(value_of(s, MF_QUAD_RATE_GAIN + 1), error.y, integral.y - gyro.y),
        mf_fma(value_of(s, MF_QUAD_RATE_GAIN + 2), error.z, integral.z - gyro.z)};
    angular_acceleration = vec_fma(vec_sub(angular_acceleration, now.angular_acceleration), lead,
                                   angular_acceleration);
    mf_lane lift = mf_fma(lead, demand->lift - now.lift, demand->lift);
    mf_mask fine = mix(s, lift, angular_acceleration, square);
    if (swift || s->plan->integral)
        integrate_rate(s, memory, integral, error, fine);
    for (int i = 0; i < ROTORS; i++)
        command[i] = mf_sqrt(square[i]);
}

#endif
