// One step of a few quadrotors: commands, control loops, rotors and flight in one pass, so that a
// state is read and written once. docs/explanation/vehicles.md has the equations.
//
// Invariants: a lane never reads another lane; if the new state of a lane is not finite or out of
// range, nothing of it is stored except the memory of its control, its fault word is set, and it is
// frozen.

#include "motion/vehicle/quadrotor/flight.h"

// ---- rates --------------------------------------------------------------------------------------

// The body-rate loop of a quadrotor and its mixer: from a collective thrust and three body rates to
// four rotor speeds.
//
// The loop requests the angular acceleration K (wc - w) + integral, minus the gyroscopic
// acceleration. `lead` compensates the lag of the motors: it amplifies the change relative to the
// present output of the rotors, a derivative term based on acceleration instead of a difference of
// rates. The mixer inverts the allocation matrix (equation 9 of the paper). If rotors reach their
// limits, yaw is reduced first, then thrust, and roll and pitch last (as in Faessler, Falanga and
// Scaramuzza 2017).

typedef struct Demand {
    mf_lane lift; // [m/s^2] twice the thrust per mass
    Vec rate;     // [rad/s] body axes
} Demand;

static MF_INLINE mf_lane mix_of(const Lanes *s, int rotor, int part) {
    return value_of(s, MF_QUAD_MIX + 4 * rotor + part);
}

// Squared speeds within the rotors' limits, for demands that the rotors cannot fulfil.
static void mix_limited(const Lanes *s, mf_lane lift, Vec angular_acceleration, mf_lane *square) {
    const mf_lane low = value_of(s, MF_QUAD_SQUARE_LOW), high = value_of(s, MF_QUAD_SQUARE_HIGH);
    mf_lane least = mf_set(-MF_REAL_MAX), most = mf_set(MF_REAL_MAX);
    for (int i = 0; i < ROTORS; i++) { // roll and pitch, and the lift that they allow
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

// Fills the squared speeds; returns the lanes in which the rotors can fulfil the demand.
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

// ---- guide --------------------------------------------------------------------------------------

// The loops above the body rates: attitude, velocity and position, each commanding the next.
//
//   position  velocity = K (goal - position), limited in length and climb
//   velocity  acceleration = K (goal - velocity) + integral; with gravity it is the target thrust,
//             limited in tilt and size
//   attitude  the shortest rotation of the body's z axis to the target thrust, and the heading
//             about the world's vertical (tilt first, as Brescianini and D'Andrea 2018)

typedef struct Heading {
    mf_lane sine, cosine;
} Heading;

// Rates that rotate the body's z axis to the unit vector `goal` and its x axis to the heading.
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

// Limits a horizontal vector to the length `most`; `cut`: lanes in which it was longer.
static Vec limit_level(Vec a, mf_lane most, mf_mask *cut) {
    mf_lane size = mf_sqrt(a.x * a.x + a.y * a.y);
    *cut = mf_less(most, size);
    mf_lane scale =
        mf_select(*cut, most / mf_select(*cut, size, mf_set((mf_real)1)), mf_set((mf_real)1));
    return MF_VALUE(Vec, a.x * scale, a.y * scale, a.z);
}

// Integrates the velocity error where it was not limited, horizontal and vertical separately.
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
    // Limits by the tilt and by the rotors.
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

// ---- commands -----------------------------------------------------------------------------------

static MF_INLINE const mf_real *command_row(const Lanes *s, int i) {
    if (s->fields->command_last == NULL)
        return rows_of(s, s->fields->command, 4) + (size_t)i * MF_BLOCK;
    return i == 3 ? rows_of(s, s->fields->command_last, 1)
                  : rows_of(s, s->fields->command, 3) + (size_t)i * MF_BLOCK;
}

// Accepts new commands that are in range and counts the others, only in lanes whose own command is
// new: not even the sign of a zero may depend on other lanes.
static __attribute__((noinline)) void admit(const Lanes *s, mf_mask changed, mf_lane *accepted) {
    const mf_mask requested = mf_and(s->alive, changed);
    mf_mask fine = requested;
    mf_lane target[4];
    for (int i = 0; i < 4; i++) {
        target[i] = mf_load(command_row(s, i));
        mf_lane low = value_of(s, MF_QUAD_BOUND_LOW + i);
        mf_lane high = value_of(s, MF_QUAD_BOUND_HIGH + i);
        fine = mf_and(fine, mf_and(mf_less_equal(low, target[i]), mf_less_equal(target[i], high)));
    }
    mf_real *rows = rows_of(s, s->fields->accepted, 4);
    for (uint32_t i = 0; i < 4; i++) {
        accepted[i] = mf_select(fine, target[i], accepted[i]);
        mf_store_where(fine, rows + (size_t)i * MF_BLOCK, target[i]);
    }
    mf_mask refused = mf_and(requested, mf_not(fine));
    if (!mf_any(refused))
        return;
    int32_t *counts = (int32_t *)words_of(s, s->fields->refused);
    mf_index count = mf_load_index(counts);
    mf_store_index(counts, mf_select_index(refused, count + mf_set_index(1), count));
}

// The command in force. An unchanged one is in range.
static MF_INLINE void read_command(const Lanes *s, mf_lane *accepted) {
    const mf_real *rows = rows_of(s, s->fields->accepted, 4);
    mf_mask same = mf_mask_all();
    for (uint32_t i = 0; i < 4; i++) {
        accepted[i] = row_load(rows, i);
        same = mf_and(same, mf_equal(mf_load(command_row(s, (int)i)), accepted[i]));
    }
    if (!mf_all(same)) {
        mf_lane admitted[4]; // a copy keeps the command in registers
        memcpy(admitted, accepted, sizeof admitted);
        admit(s, mf_not(same), admitted);
        memcpy(accepted, admitted, sizeof admitted);
    }
}

// ---- control ------------------------------------------------------------------------------------

static __attribute__((noinline)) void guide(const Lanes *s, const Vehicle *vehicle,
                                            const mf_lane *command, Demand *demand) {
    if (s->plan->command == MF_QUADROTOR_ATTITUDE)
        *demand = follow_attitude(s, vehicle, command);
    else if (s->plan->command == MF_QUADROTOR_VELOCITY)
        *demand = follow_velocity(s, vehicle, MF_VALUE(Vec, command[0], command[1], command[2]),
                                  command[3]);
    else
        *demand = follow_position(s, vehicle, command);
}

static void control_rotors(const Lanes *s, mf_lane *speed) {
    mf_lane command[4];
    read_command(s, command);
    for (int i = 0; i < ROTORS; i++)
        speed[i] =
            mf_clamp(command[i], value_of(s, MF_QUAD_ROTOR_LOW), value_of(s, MF_QUAD_ROTOR_HIGH));
}

// Demands of the outer loops at their last tick.
static MF_INLINE Demand sampled_demand(const Lanes *s) {
    const mf_real *rows = rows_of(s, s->fields->demand, 4);
    return MF_VALUE(Demand, row_load(rows, 3), vec_load(rows, 0));
}

static MF_INLINE void hold_demand(const Lanes *s, const Demand *demand) {
    mf_real *rows = rows_of(s, s->fields->demand, 4);
    keep_three(s, rows, demand->rate);
    keep_row(s, rows, 3, demand->lift);
}

static MF_INLINE Demand find_demand(const Lanes *s, const Vehicle *vehicle, bool swift,
                                    bool outer) {
    const bool guided = !swift && s->plan->command != MF_QUADROTOR_RATES;
    if (guided && !outer)
        return sampled_demand(s);
    mf_lane command[4];
    read_command(s, command);
    Demand demand = {value_of(s, MF_QUAD_LIFT_PER_FORCE) * command[3],
                     {command[0], command[1], command[2]}};
    if (guided)
        guide(s, vehicle, command, &demand);
    if (guided && s->plan->outer_interval > s->plan->interval)
        hold_demand(s, &demand);
    return demand;
}

static MF_INLINE void control_rates(const Lanes *s, bool swift, bool outer, mf_lane *speed) {
    const Vehicle vehicle = load_vehicle(s);
    Demand demand = find_demand(s, &vehicle, swift, outer);
    follow_rates(s, &vehicle, &demand, swift, speed);
}

// Commanded rotor speeds of this step.
static MF_INLINE void control(const Lanes *s, mf_QuadrotorTicks due, bool swift, mf_lane *speed) {
    if (swift) {
        control_rates(s, true, true, speed);
        return;
    }
    if (!due.control) {
        const mf_real *sampled = rows_of(s, s->fields->rotor_command, ROTORS);
        for (uint32_t i = 0; i < ROTORS; i++)
            speed[i] = row_load(sampled, i);
        return;
    }
    if (s->plan->command == MF_QUADROTOR_ROTORS)
        control_rotors(s, speed);
    else
        control_rates(s, false, due.outer, speed);
    if (s->plan->interval > 1) {
        mf_real *sampled = rows_of(s, s->fields->rotor_command, ROTORS);
        for (uint32_t i = 0; i < ROTORS; i++)
            keep_row(s, sampled, i, speed[i]);
    }
}

// ---- the step -----------------------------------------------------------------------------------

// Freezes lanes whose new state must not be stored; `fine` has the others.
static __attribute__((noinline)) void freeze(Lanes *s, const Vehicle *vehicle, mf_mask fine) {
    mf_mask bad = mf_and(s->alive, mf_not(fine));
    const Quat q = vehicle->attitude;
    mf_lane sum = mf_abs(q.w) + mf_abs(q.x) + mf_abs(q.y) + mf_abs(q.z);
    mf_mask finite = mf_finite(sum);
    const Vec parts[] = {vehicle->position, vehicle->velocity, vehicle->rate};
    for (int i = 0; i < 3; i++)
        finite = mf_and(finite, mf_and(mf_finite(parts[i].x),
                                       mf_and(mf_finite(parts[i].y), mf_finite(parts[i].z))));
    raise_fault(s, mf_and(bad, finite), MF_FAULT_RANGE);
    raise_fault(s, mf_and(bad, mf_not(finite)), MF_FAULT_NONFINITE);
}

static MF_INLINE void check_and_store(Lanes *s, Vehicle *vehicle, bool brief,
                                      const Remainder *low) {
    const Quat q = vehicle->attitude;
    const mf_lane one = mf_set((mf_real)1);
    // A quaternion of length 1 + e comes out with length 1 - 3/2 e^2, without a division.
    mf_lane square = mf_fma(q.w, q.w, q.x * q.x) + mf_fma(q.y, q.y, q.z * q.z);
    mf_lane scale = less_product(mf_set((mf_real)0.5), square, mf_set((mf_real)1.5));
    mf_mask fine = mf_less_equal(mf_abs(scale - one), mf_set((mf_real)0.25));
    if (!brief) // whose sum and remainder have that length already
        vehicle->attitude = MF_VALUE(Quat, q.w * scale, q.x * scale, q.y * scale, q.z * scale);
    fine = mf_and(fine, mf_less_equal(vec_dot(vehicle->position, vehicle->position),
                                      value_of(s, MF_QUAD_POSITION_MOST)));
    fine = mf_and(fine, mf_less_equal(vec_dot(vehicle->velocity, vehicle->velocity),
                                      value_of(s, MF_QUAD_SPEED_MOST)));
    fine = mf_and(
        fine, mf_less_equal(vec_dot(vehicle->rate, vehicle->rate), value_of(s, MF_QUAD_RATE_MOST)));
    if (!mf_all(fine)) {
        const Vehicle refused = *vehicle; // a copy keeps the state in registers
        freeze(s, &refused, fine);
    }
    store_vehicle(s, vehicle);
    store_remainder(s, brief, low);
}

static MF_INLINE bool find_lanes(Lanes *s, size_t agent) {
    s->block = agent / MF_BLOCK;
    s->lane = agent % MF_BLOCK;
    mf_index fault = mf_load_index((const int32_t *)words_of(s, s->fields->fault));
    s->alive = mf_index_equal(fault, mf_set_index(0));
    s->all_alive = mf_all(s->alive);
    return mf_any(s->alive);
}

static MF_INLINE void fly_lanes(Lanes *s, const mf_lane *command, bool plain, bool brief) {
    Vehicle vehicle = load_vehicle(s);
    Remainder low;
    Vec wind = {mf_zero(), mf_zero(), mf_zero()};
    if (!plain && (s->plan->rotor_drag || s->plan->body_drag))
        wind = vec_load(rows_of(s, s->fields->wind, 3), 0);
    if (plain)
        fly(s, &vehicle, command, wind, MF_INTEGRATOR_RK4, true, brief, &low);
    else
        fly(s, &vehicle, command, wind, s->plan->integrator, false, brief, &low);
    check_and_store(s, &vehicle, brief, &low);
}

static MF_INLINE void step_lanes(Lanes *s, size_t agent, mf_QuadrotorTicks due, bool swift,
                                 bool plain, bool brief) {
    mf_lane command[ROTORS];
    if (!find_lanes(s, agent))
        return;
    control(s, due, swift, command);
    fly_lanes(s, command, plain, brief);
}

void MF_KERNEL(mf_quadrotor_run)(const mf_QuadrotorPlan *plan, const mf_QuadrotorFields *fields,
                                 size_t first, size_t count, mf_QuadrotorTicks due) {
#if defined(MF_KERNEL_F64)
    Lanes lanes = {.plan = plan, .fields = fields, .constant = plan->constants_f64};
#else
    Lanes lanes = {.plan = plan, .fields = fields, .constant = plan->constants_f32};
#endif
    for (size_t agent = first; agent < first + count; agent += MF_LANES) {
#if !defined(MF_KERNEL_F64)
        if (fields->linear_low != NULL) {
            step_lanes(&lanes, agent, due, false, false, true);
            continue;
        }
#endif
        if (plan->swift)
            step_lanes(&lanes, agent, due, true, true, false);
        else if (plan->plain)
            step_lanes(&lanes, agent, due, false, true, false);
        else
            step_lanes(&lanes, agent, due, false, false, false);
    }
}
