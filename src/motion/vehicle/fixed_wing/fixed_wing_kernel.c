// One step of fixed-wing aircraft for a block of lanes: checks commands, runs the autopilot if due,
// advances gusts, and integrates the body with constant surfaces.
//
// Invariants: a lane with a fault word does not change; a lane whose new state is not finite or
// out of range gets a fault word and keeps its old state; no lane reads another.

#include "math/lane_random.h"
#include "motion/vehicle/fixed_wing/aero.h"

// ---- body ---------------------------------------------------------------------------------------

// The rigid body of an aircraft and its integration over a step, for a block of lanes. World axes
// are east-north-up, body axes forward-left-up; the quaternion rotates body into world.
//
// Included by the kernel only.

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

// Derivatives of velocities and attitude.
typedef struct Change {
    Vec acceleration;         // [m/s^2] world
    Vec angular_acceleration; // [rad/s^2] body
    Quat rotation_rate;       // [1/s]
} Change;

// The air during a step, constant over the step.
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

// ---- autopilot ----------------------------------------------------------------------------------

// Commands and autopilot of fixed-wing aircraft, for a block of lanes: successive loop closure as
// in Beard and McLain (2012), chapter 6, and the orbit of section 10.2 (equation 10.13).
//
//   aileron   PD on roll; the roll command is a PI on course
//   rudder    yaw rate through a wash-out filter
//   elevator  PD on pitch; the pitch command is a PI on altitude
//   throttle  PI on airspeed
//
// around the trim of the design airspeed. An integrator stops if its output is limited and its
// error would push it further. Roll and pitch are the usual ones (right wing down, nose up); course
// counts from east to north.
//
// Included by the kernel only.

enum { MEMORY_COURSE, MEMORY_ALTITUDE, MEMORY_AIRSPEED, MEMORY_YAW };

typedef struct Autopilot {
    mf_lane command[MF_WING_COMMANDS]; // those in force
    mf_lane memory[MF_WING_MEMORIES];  // [rad], [rad], [1] integrals; [rad/s] slow yaw rate
} Autopilot;

// Lanes whose new commands are all finite and in range take them.
static MF_INLINE mf_mask accept_commands(Autopilot *pilot, const mf_real *c,
                                         const mf_WingBlock *block) {
    mf_lane next[MF_WING_COMMANDS];
    mf_mask fine = mf_mask_all();
    uint32_t count = block->plan->command_count;
    for (uint32_t i = 0; i < count; i++) {
        next[i] = mf_load((const mf_real *)block->commands[i]);
        // NaN fails every comparison, and infinities are beyond the limits.
        mf_mask in = mf_and(mf_less_equal(set(c, MF_WING_COMMAND_LOW + (int)i), next[i]),
                            mf_less_equal(next[i], set(c, MF_WING_COMMAND_HIGH + (int)i)));
        in = mf_and(in, mf_less_equal(set(c, MF_WING_COMMAND_SIZE + (int)i), mf_abs(next[i])));
        fine = mf_and(fine, in);
    }
    for (uint32_t i = 0; i < count; i++)
        pilot->command[i] = mf_select(fine, next[i], pilot->command[i]);
    return fine;
}

// An angle without its whole rotations, in [-pi, pi).
static MF_INLINE mf_lane wrap(mf_lane angle) {
    const mf_lane far = mf_set((mf_real)1e4);
    mf_lane cycles = mf_fma(angle, mf_set((mf_real)0.15915494309189533577), mf_set((mf_real)0.5));
    cycles = mf_floor_lane(mf_clamp(cycles, -far, far));
    return mf_fma(-cycles, mf_set((mf_real)6.28318530717958647693), angle);
}

// output = proportional + integral, limited; the integral grows by gain_i * error * step unless
// that would drive the output further beyond a limit.
static MF_INLINE mf_lane integrate(mf_lane *integral, mf_lane rest, mf_lane growth, mf_lane low,
                                   mf_lane high) {
    mf_lane next = *integral + growth, target = rest + next;
    mf_lane output = mf_clamp(target, low, high);
    mf_lane excess = target - output;
    *integral = mf_select(mf_less(mf_zero(), excess * growth), *integral, next);
    return output;
}

// Course and roll command that join and hold a circle.
static MF_INLINE void orbit(const mf_real *c, const Body *body, const mf_lane command[5],
                            mf_lane *course, mf_lane *lean) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane east = body->position.x - command[2], north = body->position.y - command[3];
    mf_lane radius = mf_abs(command[4]);
    mf_lane sense = mf_select(mf_less(command[4], zero), -one, one);
    mf_lane distance = mf_sqrt(mf_fma(east, east, north * north));
    mf_lane error = distance - radius;
    mf_lane join = mf_atan_ratio_lane(error * set(c, MF_WING_GAIN_ORBIT), radius);
    *course =
        mf_fma(sense, join + mf_set((mf_real)1.57079632679489661923), mf_atan2_lane(north, east));
    // The bank that the circle takes, faded out away from it.
    mf_lane ground =
        mf_fma(body->velocity.x, body->velocity.x, body->velocity.y * body->velocity.y);
    mf_lane near = mf_max(one - mf_abs(error) / radius, zero);
    mf_lane bank =
        mf_atan_ratio_lane(ground, mf_max(radius * set(c, MF_WING_GRAVITY), mf_set((mf_real)1e-6)));
    *lean = -(sense * bank * near);
}

static MF_INLINE void fly_lateral(Autopilot *pilot, const mf_real *c, const Body *body,
                                  const Rotation *rotation, mf_lane course, mf_lane lean,
                                  Surfaces *out) {
    const mf_lane limit = set(c, MF_WING_ROLL_LIMIT), dt = set(c, MF_WING_CONTROL_STEP);
    mf_lane error = wrap(course - mf_atan2_lane(body->velocity.y, body->velocity.x));
    mf_lane growth = -(error * set(c, MF_WING_GAIN_COURSE_I) * dt);
    mf_lane command =
        integrate(&pilot->memory[MEMORY_COURSE], mf_fma(-error, set(c, MF_WING_GAIN_COURSE), lean),
                  growth, -limit, limit);
    mf_lane roll = mf_atan2_lane(rotation->zy, rotation->zz);
    mf_lane aileron =
        mf_fma(command - roll, set(c, MF_WING_GAIN_ROLL),
               mf_fma(-body->rate.x, set(c, MF_WING_GAIN_ROLL_RATE), set(c, MF_WING_TRIM_AILERON)));
    mf_lane yaw_rate = -body->rate.z, *slow = &pilot->memory[MEMORY_YAW];
    *slow = mf_fma(yaw_rate - *slow, set(c, MF_WING_WASHOUT), *slow);
    mf_lane rudder =
        mf_fma(yaw_rate - *slow, set(c, MF_WING_GAIN_YAW_RATE), set(c, MF_WING_TRIM_RUDDER));
    mf_lane most = set(c, MF_WING_AILERON_LIMIT), rudder_most = set(c, MF_WING_RUDDER_LIMIT);
    out->aileron = mf_clamp(aileron, -most, most);
    out->rudder = mf_clamp(rudder, -rudder_most, rudder_most);
}

static MF_INLINE void fly_longitudinal(Autopilot *pilot, const mf_real *c, const Body *body,
                                       const Rotation *rotation, mf_lane speed, Surfaces *out) {
    const mf_lane limit = set(c, MF_WING_PITCH_LIMIT), dt = set(c, MF_WING_CONTROL_STEP);
    const mf_lane zone = set(c, MF_WING_ALTITUDE_ZONE), one = mf_set((mf_real)1);
    mf_lane height = pilot->command[1] - body->position.z;
    mf_lane climb = mf_clamp(height, -zone, zone);
    // The integrator stops during large changes of altitude.
    mf_lane growth =
        mf_keep(mf_less(mf_abs(height), zone), climb * set(c, MF_WING_GAIN_ALTITUDE_I) * dt);
    mf_lane command =
        integrate(&pilot->memory[MEMORY_ALTITUDE],
                  mf_fma(climb, set(c, MF_WING_GAIN_ALTITUDE), set(c, MF_WING_TRIM_PITCH)), growth,
                  -limit, limit);
    // sin(pitch) is the vertical component of the nose.
    mf_lane level =
        mf_sqrt(mf_max(mf_fma(-rotation->zx, rotation->zx, one), mf_set((mf_real)1e-12)));
    mf_lane pitch = mf_atan_ratio_lane(rotation->zx, level);
    mf_lane elevator = mf_fma(
        command - pitch, set(c, MF_WING_GAIN_PITCH),
        mf_fma(body->rate.y, set(c, MF_WING_GAIN_PITCH_RATE), set(c, MF_WING_TRIM_ELEVATOR)));
    mf_lane most = set(c, MF_WING_ELEVATOR_LIMIT);
    out->elevator = mf_clamp(elevator, -most, most);
    mf_lane lack = pilot->command[0] - speed;
    out->throttle =
        integrate(&pilot->memory[MEMORY_AIRSPEED],
                  mf_fma(lack, set(c, MF_WING_GAIN_AIRSPEED), set(c, MF_WING_TRIM_THROTTLE)),
                  lack * set(c, MF_WING_GAIN_AIRSPEED_I) * dt, mf_zero(), one);
}

// One control tick: the surfaces until the next.
static MF_INLINE void control(Autopilot *pilot, const mf_real *c, mf_FixedWingCommand mode,
                              const Body *body, const Rotation *rotation, mf_lane speed,
                              Surfaces *out) {
    if (mode == MF_FIXED_WING_SURFACES) {
        *out = MF_VALUE(Surfaces, pilot->command[0], pilot->command[1], pilot->command[2],
                        pilot->command[3]);
        return;
    }
    mf_lane course = pilot->command[2], lean = mf_zero();
    if (mode == MF_FIXED_WING_ORBIT)
        orbit(c, body, pilot->command, &course, &lean);
    fly_lateral(pilot, c, body, rotation, course, lean, out);
    fly_longitudinal(pilot, c, body, rotation, speed, out);
}

// ---- gust ---------------------------------------------------------------------------------------

// Gusts by the Dryden model for a block of lanes: Beard and McLain (2012), section 4.4, after
// MIL-F-8785C. With a = V / L and white noise of unit density
//
//   forward  sigma sqrt(2 a) / (s + a)        left, up  sigma sqrt(3 a) (s + a / sqrt 3) / (s +
//   a)^2
//
// whose outputs have the variance sigma^2. Both are stepped exactly in time as two first-order
// filters in a row; mf_wing_gusts() makes the constants so that the sampled output keeps the
// variance. The noise of an agent depends on seed, instance, stream and tick alone.
//
// Included by the kernel only.

enum { GUST_STATES = 5 }; // forward 1, left 2, up 2

typedef struct Gust {
    mf_lane state[GUST_STATES]; // [1]
    Vec velocity;               // [m/s] body axes
} Gust;

static MF_INLINE mf_lane gust_axis(const mf_real *c, mf_lane *first, mf_lane *second,
                                   mf_lane noise) {
    mf_lane keep = set(c, MF_WING_GUST_KEEP), was = *first;
    *first = mf_fma(was, keep, noise * set(c, MF_WING_GUST_NOISE1));
    *second = mf_fma(*second, keep,
                     mf_fma(was, set(c, MF_WING_GUST_PASS), noise * set(c, MF_WING_GUST_NOISE2)));
    return mf_fma(*first, set(c, MF_WING_GUST_OUT1), *second * set(c, MF_WING_GUST_OUT2));
}

static void gust_step(Gust *gust, const mf_real *c, const mf_WingBlock *block) {
    mf_lane noise[4], none = mf_zero();
    mf_normal_lanes(block->plan->seed, block->instance, block->plan->stream, block->tick, noise);
    const mf_real *axis = c + MF_WING_GUST;
    gust->velocity.x = gust_axis(axis, &gust->state[0], &none, noise[0]);
    axis += MF_WING_GUST_VALUES;
    gust->velocity.y = gust_axis(axis, &gust->state[1], &gust->state[2], noise[1]);
    axis += MF_WING_GUST_VALUES;
    gust->velocity.z = gust_axis(axis, &gust->state[3], &gust->state[4], noise[2]);
}

// ---- fixed wing kernel --------------------------------------------------------------------------

static MF_INLINE mf_real *row_at(const mf_WingBlock *block, int row, uint32_t c) {
    return (mf_real *)block->rows[row] + (size_t)c * MF_BLOCK;
}

static MF_INLINE mf_lane row(const mf_WingBlock *block, int which, uint32_t c) {
    return mf_load(row_at(block, which, c));
}

static MF_INLINE Vec row_vec(const mf_WingBlock *block, int which) {
    return MF_VALUE(Vec, row(block, which, 0), row(block, which, 1), row(block, which, 2));
}

static MF_INLINE void keep(mf_mask where, const mf_WingBlock *block, int which, uint32_t c,
                           mf_lane a) {
    mf_store_where(where, row_at(block, which, c), a);
}

static MF_INLINE void keep_vec(mf_mask where, const mf_WingBlock *block, int which, Vec a) {
    keep(where, block, which, 0, a.x);
    keep(where, block, which, 1, a.y);
    keep(where, block, which, 2, a.z);
}

static MF_INLINE mf_real *lows_of(const mf_WingBlock *block, int which) {
    return low_row(block->rows[which], block->low[which]);
}

static MF_INLINE Body load_body(const mf_WingBlock *block) {
    Body body;
    body.position = row_vec(block, MF_WING_ROW_POSITION);
    body.velocity = row_vec(block, MF_WING_ROW_LINEAR);
    body.attitude = MF_VALUE(
        Quat, row(block, MF_WING_ROW_ORIENTATION, 0), row(block, MF_WING_ROW_ORIENTATION, 1),
        row(block, MF_WING_ROW_ORIENTATION, 2), row(block, MF_WING_ROW_ORIENTATION, 3));
    body.rate = row_vec(block, MF_WING_ROW_ANGULAR);
    body.low.position = low_vec(lows_of(block, MF_WING_ROW_POSITION), 0);
    body.low.velocity = low_vec(lows_of(block, MF_WING_ROW_LINEAR), 0);
    body.low.attitude = low_quat(lows_of(block, MF_WING_ROW_ORIENTATION), 0);
    body.low.rate = low_vec(lows_of(block, MF_WING_ROW_ANGULAR), 0);
    return body;
}

static MF_INLINE void keep_low_vec(mf_mask where, mf_real *rows, Vec a) {
    if (rows == NULL)
        return;
    mf_store_where(where, rows, a.x);
    mf_store_where(where, rows + MF_BLOCK, a.y);
    mf_store_where(where, rows + 2 * MF_BLOCK, a.z);
}

static MF_INLINE void keep_remainders(mf_mask alive, const mf_WingBlock *block, const Lows *low) {
    const Quat q = low->attitude;
    mf_real *attitude = lows_of(block, MF_WING_ROW_ORIENTATION);
    keep_low_vec(alive, lows_of(block, MF_WING_ROW_POSITION), low->position);
    keep_low_vec(alive, lows_of(block, MF_WING_ROW_LINEAR), low->velocity);
    keep_low_vec(alive, lows_of(block, MF_WING_ROW_ANGULAR), low->rate);
    if (attitude == NULL)
        return;
    mf_store_where(alive, attitude, q.w);
    keep_low_vec(alive, attitude + MF_BLOCK, MF_VALUE(Vec, q.x, q.y, q.z));
}

static MF_INLINE Autopilot load_autopilot(const mf_WingBlock *block) {
    Autopilot pilot;
    for (uint32_t i = 0; i < MF_WING_COMMANDS; i++)
        pilot.command[i] =
            i < block->plan->command_count ? row(block, MF_WING_ROW_ACCEPTED, i) : mf_zero();
    for (uint32_t i = 0; i < MF_WING_MEMORIES; i++)
        pilot.memory[i] = row(block, MF_WING_ROW_MEMORY, i);
    return pilot;
}

static MF_INLINE void keep_autopilot(mf_mask alive, const mf_WingBlock *block,
                                     const Autopilot *pilot, const Surfaces *surfaces) {
    for (uint32_t i = 0; i < block->plan->command_count; i++)
        keep(alive, block, MF_WING_ROW_ACCEPTED, i, pilot->command[i]);
    for (uint32_t i = 0; i < MF_WING_MEMORIES; i++)
        keep(alive, block, MF_WING_ROW_MEMORY, i, pilot->memory[i]);
    keep(alive, block, MF_WING_ROW_SURFACE, 0, surfaces->elevator);
    keep(alive, block, MF_WING_ROW_SURFACE, 1, surfaces->aileron);
    keep(alive, block, MF_WING_ROW_SURFACE, 2, surfaces->rudder);
    keep(alive, block, MF_WING_ROW_THROTTLE, 0, surfaces->throttle);
}

// ---- faults -------------------------------------------------------------------------------------

static MF_INLINE mf_lane extent(Vec a) {
    return mf_abs(a.x) + mf_abs(a.y) + mf_abs(a.z);
}

static void raise_fault(const mf_WingBlock *block, mf_mask *alive, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(*alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    int32_t *words = (int32_t *)block->rows[MF_WING_ROW_FAULT];
    mf_index word = mf_load_index(words);
    mf_store_index(words, mf_select_index(bad, word | mf_set_index((int32_t)bit), word));
    *alive = mf_and(*alive, fine);
}

// Valid range: position within 1e6 m, speed within 1e4 m/s, two radians per step. `pilot` where it
// has run in this step, or NULL.
static MF_INLINE void judge(const mf_WingBlock *block, const mf_real *c, mf_mask *alive,
                            const Body *body, const Autopilot *pilot) {
    mf_lane position = extent(body->position), speed = extent(body->velocity);
    mf_lane spin = extent(body->rate);
    const Quat q = body->attitude;
    mf_lane all = position + speed + spin + mf_abs(q.w) + mf_abs(q.x) + mf_abs(q.y) + mf_abs(q.z);
    for (uint32_t i = 0; pilot != NULL && i < MF_WING_MEMORIES; i++)
        all = all + mf_abs(pilot->memory[i]);
    raise_fault(block, alive, mf_finite(all), MF_FAULT_NONFINITE);
    mf_mask in_range = mf_and(
        mf_less(position, mf_set((mf_real)1e6)),
        mf_and(mf_less(speed, mf_set((mf_real)1e4)), mf_less(spin, set(c, MF_WING_SPIN_LIMIT))));
    raise_fault(block, alive, in_range, MF_FAULT_RANGE);
}

// ---- step ---------------------------------------------------------------------------------------

static MF_INLINE const mf_real *constants_of(const mf_WingPlan *plan) {
#if defined(MF_KERNEL_F64)
    return plan->constants_f64;
#else
    return plan->constants_f32;
#endif
}

static void count_refused(const mf_WingBlock *block, mf_mask refused) {
    if (!mf_any(refused))
        return;
    int32_t *counts = (int32_t *)block->rows[MF_WING_ROW_REFUSED];
    mf_index count = mf_load_index(counts);
    mf_store_index(counts, mf_select_index(refused, count + mf_set_index(1), count));
}

static MF_INLINE void keep_flow(mf_mask alive, const mf_WingBlock *block, const Body *body,
                                const Air *air) {
    Rotation rotation = rotation_of(body->attitude);
    AirFlow flow = air_flow(through_air(&rotation, body->velocity, air));
    keep(alive, block, MF_WING_ROW_SPEED, 0, flow.speed);
    keep(alive, block, MF_WING_ROW_ALPHA, 0, flow.alpha);
    keep(alive, block, MF_WING_ROW_BETA, 0, flow.beta);
}

static MF_INLINE void keep_gust(mf_mask alive, const mf_WingBlock *block, const Gust *gust) {
    for (uint32_t i = 0; i < GUST_STATES; i++)
        keep(alive, block, MF_WING_ROW_GUST_STATE, i, gust->state[i]);
    keep_vec(alive, block, MF_WING_ROW_GUST, gust->velocity);
}

void MF_KERNEL(mf_fixed_wing_step)(const mf_WingBlock *block) {
    const mf_WingPlan *plan = block->plan;
    const mf_real *c = constants_of(plan);
    const mf_index word = mf_load_index((const int32_t *)block->rows[MF_WING_ROW_FAULT]);
    mf_mask alive = mf_index_equal(word, mf_set_index(0));
    if (!mf_any(alive))
        return;
    Body body = load_body(block);
    Surfaces surfaces = {row(block, MF_WING_ROW_SURFACE, 0), row(block, MF_WING_ROW_SURFACE, 1),
                         row(block, MF_WING_ROW_SURFACE, 2), row(block, MF_WING_ROW_THROTTLE, 0)};
    Gust gust = {.velocity = {mf_zero(), mf_zero(), mf_zero()}};
    if (plan->gusty) {
        for (uint32_t i = 0; i < GUST_STATES; i++)
            gust.state[i] = row(block, MF_WING_ROW_GUST_STATE, i);
        gust_step(&gust, c, block);
    }
    Air air = {.wind = row_vec(block, MF_WING_ROW_WIND), .gust = gust.velocity};
    raise_fault(block, &alive, mf_finite(extent(air.wind)), MF_FAULT_INPUT);
    Autopilot pilot;
    if (block->control_due) {
        pilot = load_autopilot(block);
        mf_mask fine = accept_commands(&pilot, c, block);
        count_refused(block, mf_and(alive, mf_not(fine)));
        Rotation rotation = rotation_of(body.attitude);
        Vec relative = through_air(&rotation, body.velocity, &air);
        mf_lane square =
            mf_fma(relative.x, relative.x, mf_fma(relative.y, relative.y, relative.z * relative.z));
        control(&pilot, c, plan->command, &body, &rotation, mf_sqrt(square), &surfaces);
    }
    Fixed fixed = hold_surfaces(c, &surfaces);
    step_body(c, plan->integrator, &fixed, &air, &body);
    judge(block, c, &alive, &body, block->control_due ? &pilot : NULL);
    keep_vec(alive, block, MF_WING_ROW_POSITION, body.position);
    keep_vec(alive, block, MF_WING_ROW_LINEAR, body.velocity);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 0, body.attitude.w);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 1, body.attitude.x);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 2, body.attitude.y);
    keep(alive, block, MF_WING_ROW_ORIENTATION, 3, body.attitude.z);
    keep_vec(alive, block, MF_WING_ROW_ANGULAR, body.rate);
    keep_remainders(alive, block, &body.low);
    keep_flow(alive, block, &body, &air);
    if (block->control_due)
        keep_autopilot(alive, block, &pilot, &surfaces);
    if (plan->gusty)
        keep_gust(alive, block, &gust);
}
