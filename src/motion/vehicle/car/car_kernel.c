// One step of a block of cars: commands and loops when they are due, dry friction, the step itself,
// and back onto the ground. Everything stays in registers between loading and storing.
//
// Invariants: the values of a car with a fault word do not change; a car at rest keeps its position
// and rotation to the bit; no lane reads another one.
#include "math/lane_vector.h"
#include "motion/vehicle/car/control.h"
#include "terrain/lookup_lane.h"

typedef struct Car {
    Fixed fixed;
    const mf_CarFields *fields;
    State state, low; // low: remainders of position and heading (math/lane_sum.h)
    Actuators actuators;
    mf_lane qx, qy; // [1] of the attitude as loaded
    mf_lane w, z;   // [1] as loaded
    mf_lane height; // [m] as loaded
    mf_lane command[MF_CAR_COMMANDS];
    uint32_t *fault;    // [1]
    size_t block, lane; // [1]
    mf_mask alive;
    bool all_alive;
} Car;

static MF_INLINE mf_real *row(const Car *car, uint32_t index, uint32_t component) {
    const mf_CarFields *fields = car->fields;
    size_t at = (car->block * fields->components[index] + component) * MF_BLOCK + car->lane;
    return (mf_real *)fields->rows[index] + at;
}

// The remainders of a row; NULL: it has none.
static MF_INLINE mf_real *low_at(const Car *car, uint32_t index, uint32_t component) {
    return low_row(row(car, index, component), car->fields->low[index]);
}

static MF_INLINE mf_lane load(const Car *car, uint32_t index, uint32_t component) {
    return mf_load(row(car, index, component));
}

static MF_INLINE void keep(const Car *car, uint32_t index, uint32_t component, mf_lane a) {
    if (car->all_alive)
        mf_store(row(car, index, component), a);
    else
        mf_store_where(car->alive, row(car, index, component), a);
}

static MF_INLINE void keep_low(const Car *car, uint32_t index, uint32_t component, mf_lane a) {
    mf_real *lows = low_at(car, index, component);
    if (lows != NULL)
        mf_store_where(car->alive, lows, a);
}

static void raise_fault(Car *car, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(car->alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    int32_t *address = (int32_t *)car->fault;
    mf_index word = mf_load_index(address);
    mf_store_index(address, mf_select_index(bad, word | mf_set_index((int32_t)bit), word));
    car->alive = mf_and(car->alive, fine);
    car->all_alive = false;
}

// ---- loading ------------------------------------------------------------------------------------

// The twist about the body's z axis is the heading; a car on its head has none and gets 0.
static MF_INLINE void load_heading(Car *car) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane w = load(car, MF_CAR_ROW_ORIENTATION, 0), z = load(car, MF_CAR_ROW_ORIENTATION, 3);
    car->qx = load(car, MF_CAR_ROW_ORIENTATION, 1);
    car->qy = load(car, MF_CAR_ROW_ORIENTATION, 2);
    car->w = w;
    car->z = z;
    mf_lane square = mf_fma(w, w, z * z);
    mf_mask off = mf_less(mf_set(8 * MF_REAL_EPSILON), mf_abs(square - one));
    if (mf_any(off)) {
        mf_mask none = mf_less_equal(square, zero);
        mf_lane scale = one / mf_sqrt(mf_select(none, one, square));
        w = mf_select(off, mf_select(none, one, w * scale), w);
        z = mf_select(off, z * scale, z);
    }
    car->state.w = w;
    car->state.z = z;
}

// World velocity in the body's axes, on the plane that the attitude tells.
static MF_INLINE void load_motion(Car *car) {
    const mf_lane one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    Fixed *fixed = &car->fixed;
    mf_lane ux = load(car, MF_CAR_ROW_LINEAR, 0), uy = load(car, MF_CAR_ROW_LINEAR, 1);
    mf_lane wind_x = load(car, MF_CAR_ROW_WIND, 0), wind_y = load(car, MF_CAR_ROW_WIND, 1);
    if (!fixed->plan->level) {
        mf_lane tilt = mf_fma(car->qx, car->qx, car->qy * car->qy);
        fixed->nx = two * mf_fma(car->qx, car->z, car->w * car->qy);
        fixed->ny = two * mf_fma(car->qy, car->z, -car->w * car->qx);
        fixed->nz = mf_fma(-two, tilt, one);
        fixed->lean = one / mf_max(one + fixed->nz, mf_set((mf_real)0.01));
        mf_lane up = load(car, MF_CAR_ROW_LINEAR, 2);
        mf_lane part = mf_fma(fixed->lean, mf_fma(fixed->nx, ux, fixed->ny * uy), up);
        ux = mf_fma(-fixed->nx, part, ux);
        uy = mf_fma(-fixed->ny, part, uy);
        up = load(car, MF_CAR_ROW_WIND, 2);
        part = mf_fma(fixed->lean, mf_fma(fixed->nx, wind_x, fixed->ny * wind_y), up);
        wind_x = mf_fma(-fixed->nx, part, wind_x);
        wind_y = mf_fma(-fixed->ny, part, wind_y);
    }
    fixed->wind_x = wind_x;
    fixed->wind_y = wind_y;
    mf_lane cosine, sine;
    heading(&car->state, &cosine, &sine);
    car->state.vx = mf_fma(cosine, ux, sine * uy);
    car->state.vy = mf_fma(cosine, uy, -sine * ux);
    car->state.yaw_rate = load(car, MF_CAR_ROW_ANGULAR, 2);
}

// Row `c` of wrench.link in the lanes with a wrench, else 0.
static MF_INLINE mf_lane load_wrench(const Car *car, mf_mask loaded, uint32_t c) {
    const mf_CarFields *fields = car->fields;
    size_t at = (car->block * fields->wrench_components + c) * MF_BLOCK + car->lane;
    return mf_select(loaded, mf_load((const mf_real *)fields->wrench + at), mf_zero());
}

// An external wrench acts in the plane of the ground; the ground bears the rest of it.
static MF_INLINE void load_wrenches(Car *car) {
    Fixed *fixed = &car->fixed;
    fixed->loaded = false;
    if (car->fields->wrench == NULL)
        return;
    const int32_t *count = (const int32_t *)car->fields->wrench_count;
    mf_index touches = mf_load_index(count + car->block * MF_BLOCK + car->lane);
    mf_mask loaded = mf_not(mf_index_equal(touches, mf_set_index(0)));
    if (!mf_any(loaded))
        return;
    fixed->loaded = true;
    mf_lane w[6];
    for (uint32_t c = 0; c < 6; c++)
        w[c] = load_wrench(car, loaded, c);
    mf_lane lifts = mf_fma(fixed->nx, w[0], mf_fma(fixed->ny, w[1], fixed->nz * w[2]));
    mf_lane cycles = mf_fma(fixed->nx, w[3], mf_fma(fixed->ny, w[4], fixed->nz * w[5]));
    mf_lane part = mf_fma(fixed->lean, mf_fma(fixed->nx, w[0], fixed->ny * w[1]), w[2]);
    mf_lane x = mf_fma(-fixed->nx, part, w[0]), y = mf_fma(-fixed->ny, part, w[1]);
    mf_lane cosine, sine, inverse = constant(fixed, MF_CAR_INVERSE_MASS);
    heading(&car->state, &cosine, &sine);
    fixed->external_x = inverse * mf_fma(cosine, x, sine * y);
    fixed->external_y = inverse * mf_fma(cosine, y, -sine * x);
    fixed->external_yaw = constant(fixed, MF_CAR_INVERSE_YAW) * cycles;
    fixed->external_load = mf_set((mf_real)-fixed->plan->load_per_force) * lifts;
}

static MF_INLINE void load_car(Car *car) {
    car->state.x = load(car, MF_CAR_ROW_POSITION, 0);
    car->state.y = load(car, MF_CAR_ROW_POSITION, 1);
    car->height = load(car, MF_CAR_ROW_POSITION, 2);
    car->state.steering = load(car, MF_CAR_ROW_STEERING, 0);
    car->low.x = low_load(low_at(car, MF_CAR_ROW_POSITION, 0), 0);
    car->low.y = low_load(low_at(car, MF_CAR_ROW_POSITION, 1), 0);
    car->low.w = low_load(low_at(car, MF_CAR_ROW_ORIENTATION, 0), 0);
    car->low.z = low_load(low_at(car, MF_CAR_ROW_ORIENTATION, 3), 0);
    load_heading(car);
    load_motion(car);
    load_wrenches(car);
    bind_wheels(&car->fixed, &car->state);
    car->actuators.target = load(car, MF_CAR_ROW_TARGET, 0);
    car->actuators.duty = load(car, MF_CAR_ROW_DUTY, 0);
    car->actuators.brake = load(car, MF_CAR_ROW_BRAKE, 0);
}

// ---- commands -----------------------------------------------------------------------------------

// A command is taken or refused as a whole.
static MF_INLINE void take_commands(Car *car) {
    const mf_CarPlan *plan = car->fixed.plan;
    mf_mask good = mf_mask_all();
    for (uint32_t i = 0; i < plan->command_count; i++) {
        const mf_CarCommandValue *value = &plan->command[i];
        mf_lane a = load(car, value->row, value->component);
        mf_mask range = mf_and(mf_less_equal(mf_set((mf_real)value->low), a),
                               mf_less_equal(a, mf_set((mf_real)value->high)));
        good = mf_and(good, range);
        good = mf_and(good, mf_less_equal(mf_set((mf_real)value->least), mf_abs(a)));
        car->command[i] = a;
    }
    for (uint32_t i = 0; i < plan->command_count; i++) {
        mf_lane last = load(car, MF_CAR_ROW_ACCEPTED, i);
        car->command[i] = mf_select(good, car->command[i], last);
        keep(car, MF_CAR_ROW_ACCEPTED, i, car->command[i]);
    }
    mf_mask refused = mf_and(car->alive, mf_not(good));
    if (!mf_any(refused))
        return;
    int32_t *count = (int32_t *)car->fields->refused + car->block * MF_BLOCK + car->lane;
    mf_index before = mf_load_index(count);
    mf_store_index(count, mf_select_index(refused, before + mf_set_index(1), before));
}

static MF_INLINE void control_car(Car *car) {
    take_commands(car);
    car->actuators.integral = load(car, MF_CAR_ROW_INTEGRAL, 0);
    car->actuators.progress = load(car, MF_CAR_ROW_PROGRESS, 0);
    run_control(&car->fixed, &car->state, car->command, &car->actuators);
    keep(car, MF_CAR_ROW_TARGET, 0, car->actuators.target);
    keep(car, MF_CAR_ROW_DUTY, 0, car->actuators.duty);
    keep(car, MF_CAR_ROW_BRAKE, 0, car->actuators.brake);
    keep(car, MF_CAR_ROW_INTEGRAL, 0, car->actuators.integral);
    keep(car, MF_CAR_ROW_PROGRESS, 0, car->actuators.progress);
}

// ---- the step -----------------------------------------------------------------------------------

static MF_INLINE void hold_actuators(Car *car) {
    Fixed *fixed = &car->fixed;
    const Actuators *a = &car->actuators;
    fixed->target = a->target;
    fixed->drive = a->duty * constant(fixed, MF_CAR_MOTOR);
    fixed->drive_slope = mf_abs(a->duty) * constant(fixed, MF_CAR_MOTOR_SLOPE);
    fixed->friction =
        mf_fma(a->brake, constant(fixed, MF_CAR_BRAKE), constant(fixed, MF_CAR_ROLLING));
    mf_lane most = constant(fixed, MF_CAR_STEERING_RATE);
    mf_lane rate = (a->target - car->state.steering) * constant(fixed, MF_CAR_STEERING_GAIN);
    fixed->slew = mf_clamp(rate, -most, most);
}

// Friction acts against the motion. A car that friction would stop within the step, and that the
// other forces do not move, is stopped at once; one at rest is moved off by what exceeds friction.
static MF_INLINE void aim_friction(Car *car) {
    Fixed *fixed = &car->fixed;
    mf_lane zero = mf_zero(), impulse = fixed->friction * constant(fixed, MF_CAR_STEP);
    fixed->stuck = mf_less(mf_set((mf_real)1), zero);
    fixed->direction = sign_of(car->state.vx);
    mf_lane momentum = mf_abs(car->state.vx) * constant(fixed, MF_CAR_LONG_MASS);
    mf_mask slow = mf_less_equal(momentum, impulse);
    if (!mf_any(slow))
        return;
    Rates k;
    State still = car->state;
    mf_lane direction = fixed->direction;
    fixed->direction = zero;
    speed_rates(fixed, &still, &k);
    mf_lane force = k.vx * constant(fixed, MF_CAR_LONG_MASS);
    fixed->stuck = mf_and(slow, mf_less_equal(mf_abs(force), fixed->friction));
    car->state.vx = mf_select(fixed->stuck, zero, car->state.vx);
    mf_mask rests = mf_less_equal(mf_abs(direction), zero);
    fixed->direction = mf_select(rests, sign_of(force), direction);
    bind_wheels(fixed, &car->state);
}

// What friction has stopped stands; it does not push back.
static MF_INLINE void stop_car(const Fixed *fixed, State *s) {
    mf_mask backward = mf_less(s->vx * fixed->direction, mf_zero());
    mf_mask dry = mf_less(mf_zero(), fixed->friction);
    s->vx = mf_select(mf_and(backward, dry), mf_zero(), s->vx);
}

// Position within 1e6 m, speed within 1e4 m/s, at most two radians per step.
static MF_INLINE void check_state(Car *car) {
    const State *s = &car->state;
    mf_lane position = mf_abs(s->x) + mf_abs(s->y), speed = mf_abs(s->vx) + mf_abs(s->vy);
    mf_lane spin = mf_abs(s->yaw_rate), rest = mf_abs(s->w) + mf_abs(s->z) + mf_abs(s->steering);
    mf_real fastest = 2 / car->fixed.constant[MF_CAR_STEP];
    mf_mask range =
        mf_and(mf_less(position, mf_set((mf_real)1e6)), mf_less(speed, mf_set((mf_real)1e4)));
    range = mf_and(range, mf_less(spin, mf_set(fastest)));
    range = mf_and(range, mf_less(rest, mf_set((mf_real)4)));
    mf_mask finite = mf_finite(position + speed + spin + rest);
    raise_fault(car, finite, MF_FAULT_NONFINITE);
    raise_fault(car, range, MF_FAULT_RANGE);
}

// ---- storing ------------------------------------------------------------------------------------

static MF_INLINE void store_attitude(const Car *car, mf_lane w, mf_lane x, mf_lane y, mf_lane z) {
    keep(car, MF_CAR_ROW_ORIENTATION, 0, w);
    keep(car, MF_CAR_ROW_ORIENTATION, 1, x);
    keep(car, MF_CAR_ROW_ORIENTATION, 2, y);
    keep(car, MF_CAR_ROW_ORIENTATION, 3, z);
}

// A car that did not move and stands on the ground keeps its attitude to the bit.
static MF_INLINE void settle(Car *car, const State *was, const mf_LaneMap *map) {
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5);
    const State *s = &car->state;
    Fixed *fixed = &car->fixed;
    mf_lane slope_x, slope_y;
    mf_lane ground = mf_map_surface(map, s->x, s->y, &slope_x, &slope_y);
    ground = ground + constant(fixed, MF_CAR_HEIGHT);
    mf_lane nz = one / mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
    mf_lane nx = -slope_x * nz, ny = -slope_y * nz;
    mf_lane moved = mf_abs(s->x - was->x) + mf_abs(s->y - was->y) + mf_abs(s->w - was->w) +
                    mf_abs(s->z - was->z);
    mf_lane lies = mf_abs(nx - fixed->nx) + mf_abs(ny - fixed->ny) + mf_abs(nz - fixed->nz);
    mf_mask same =
        mf_and(mf_less_equal(moved, mf_zero()), mf_less(lies, mf_set(64 * MF_REAL_EPSILON)));
    fixed->nx = mf_select(same, fixed->nx, nx);
    fixed->ny = mf_select(same, fixed->ny, ny);
    fixed->nz = mf_select(same, fixed->nz, nz);
    fixed->lean = mf_select(same, fixed->lean, one / (one + nz));
    mf_lane a = mf_sqrt(mf_fma(half, nz, half)), b = half / a;
    mf_lane sx = -ny * b, sy = nx * b;
    store_attitude(car, mf_select(same, car->w, a * s->w),
                   mf_select(same, car->qx, mf_fma(sx, s->w, sy * s->z)),
                   mf_select(same, car->qy, mf_fma(sy, s->w, -sx * s->z)),
                   mf_select(same, car->z, a * s->z));
    keep(car, MF_CAR_ROW_POSITION, 2, ground);
}

static MF_INLINE void store_car(Car *car, const State *was, const mf_LaneMap *map) {
    State *s = &car->state;
    mf_lane vx, vy, vz, zero = mf_zero();
    s->vx = if_moves(s->vx);
    s->vy = if_moves(s->vy);
    s->yaw_rate = if_moves(s->yaw_rate);
    if (car->fixed.plan->level) {
        store_attitude(car, s->w, zero, zero, s->z);
        keep(car, MF_CAR_ROW_POSITION, 2, constant(&car->fixed, MF_CAR_GROUND));
    } else {
        settle(car, was, map);
    }
    ground_velocity(&car->fixed, s, &vx, &vy, &vz);
    keep(car, MF_CAR_ROW_POSITION, 0, s->x);
    keep(car, MF_CAR_ROW_POSITION, 1, s->y);
    keep_low(car, MF_CAR_ROW_POSITION, 0, car->low.x);
    keep_low(car, MF_CAR_ROW_POSITION, 1, car->low.y);
    keep_low(car, MF_CAR_ROW_ORIENTATION, 0, car->low.w);
    keep_low(car, MF_CAR_ROW_ORIENTATION, 3, car->low.z);
    keep(car, MF_CAR_ROW_LINEAR, 0, vx);
    keep(car, MF_CAR_ROW_LINEAR, 1, vy);
    keep(car, MF_CAR_ROW_LINEAR, 2, vz);
    keep(car, MF_CAR_ROW_ANGULAR, 0, zero);
    keep(car, MF_CAR_ROW_ANGULAR, 1, zero);
    keep(car, MF_CAR_ROW_ANGULAR, 2, s->yaw_rate);
    keep(car, MF_CAR_ROW_STEERING, 0, s->steering);
}

static MF_INLINE void step_lanes(Car *car, const mf_LaneMap *map, bool control) {
    mf_index word = mf_load_index((const int32_t *)car->fault);
    car->alive = mf_index_equal(word, mf_set_index(0));
    if (!mf_any(car->alive))
        return;
    car->all_alive = mf_all(car->alive);
    car->fixed.alive = car->alive;
    load_car(car);
    if (control)
        control_car(car);
    hold_actuators(car);
    aim_friction(car);
    State was = car->state;
    car->state = step_state(&car->fixed, &was, &car->low);
    stop_car(&car->fixed, &car->state);
    bind_wheels(&car->fixed, &car->state);
    check_state(car);
    if (mf_any(car->alive))
        store_car(car, &was, map);
}

void MF_KERNEL(mf_car_step)(const mf_CarBatch *batch) {
    const mf_CarPlan *plan = batch->plan;
    mf_LaneMap map = mf_lane_map(batch->terrain);
    map.ends = false; // cars have no height of their own
    Car car;
    car.fields = batch->fields;
    car.fixed.plan = plan;
    car.fixed.path = batch->path;
#if defined(MF_KERNEL_F64)
    car.fixed.constant = plan->constants_f64;
#else
    car.fixed.constant = plan->constants_f32;
#endif
    // Level ground and no wrench: nothing reads these, but they are copied.
    car.fixed.nx = car.fixed.ny = mf_zero();
    car.fixed.nz = car.fixed.lean = mf_set((mf_real)1);
    car.fixed.external_x = car.fixed.external_y = car.fixed.external_yaw = car.fixed.external_load =
        mf_zero();
    for (uint32_t i = batch->first; i < batch->end; i += MF_LANES) {
        car.block = i / MF_BLOCK;
        car.lane = i % MF_BLOCK;
        car.fault = car.fields->fault + i;
        step_lanes(&car, &map, batch->control);
    }
}
