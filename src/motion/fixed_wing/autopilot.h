// Commands and autopilot of fixed-wing aircraft, for a block of lanes: successive loop closure as
// in Beard and McLain (2012), chapter 6, and the orbit of section 10.2 (equation 10.13).
//
//   aileron   PD on roll; the roll command is a PI on course
//   rudder    yaw rate through a wash-out filter
//   elevator  PD on pitch; the pitch command is a PI on altitude
//   throttle  PI on airspeed
//
// around the trim of the design airspeed. An integrator stands still where its output is limited
// and its error would push it further. Roll and pitch are the usual ones (right wing down, nose
// up); course counts from east to north.
//
// Included by the kernel only.
#ifndef MF_MOTION_FIXED_WING_AUTOPILOT_H
#define MF_MOTION_FIXED_WING_AUTOPILOT_H

#include "motion/fixed_wing/body.h"

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
    // On the way to another altitude there is nothing to learn about holding one.
    mf_lane growth =
        mf_keep(mf_less(mf_abs(height), zone), climb * set(c, MF_WING_GAIN_ALTITUDE_I) * dt);
    mf_lane command =
        integrate(&pilot->memory[MEMORY_ALTITUDE],
                  mf_fma(climb, set(c, MF_WING_GAIN_ALTITUDE), set(c, MF_WING_TRIM_PITCH)), growth,
                  -limit, limit);
    // sin(pitch) is how far the nose points up.
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

// One control tick: what the surfaces do until the next.
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

#endif
