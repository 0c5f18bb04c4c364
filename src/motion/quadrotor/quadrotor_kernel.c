// One step of a few quadrotors: commands, control loops, rotors and flight in one pass, so that a
// state is read and written once. docs/explanation/quadrotor.md has the equations.
//
// Invariants: a lane never reads another lane; a lane whose new state is not finite or out of range
// stores nothing of it (it raises its fault word and is frozen), except the memories of its
// control.
#include "motion/quadrotor/guide.h"

// ---- commands -----------------------------------------------------------------------------------

static MF_INLINE const mf_real *command_row(const Lanes *s, int i) {
    if (s->fields->command_last == NULL)
        return rows_of(s, s->fields->command, 4) + (size_t)i * MF_BLOCK;
    return i == 3 ? rows_of(s, s->fields->command_last, 1)
                  : rows_of(s, s->fields->command, 3) + (size_t)i * MF_BLOCK;
}

// Takes over new commands that are in range and counts those that are not. Only of lanes whose own
// command is new: not even the sign of a zero may depend on the others.
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

// The command in force. One that did not change was in range already.
static MF_INLINE void read_command(const Lanes *s, mf_lane *accepted) {
    const mf_real *rows = rows_of(s, s->fields->accepted, 4);
    mf_mask same = mf_mask_all();
    for (uint32_t i = 0; i < 4; i++) {
        accepted[i] = row_load(rows, i);
        same = mf_and(same, mf_equal(mf_load(command_row(s, (int)i)), accepted[i]));
    }
    if (!mf_all(same)) {
        mf_lane admitted[4]; // the copy leaves the command in registers else
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

// What the outer loops requested at their last tick.
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
        const Vehicle refused = *vehicle; // the copy leaves the state itself in registers
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
