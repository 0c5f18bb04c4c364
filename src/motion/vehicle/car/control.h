// Control of a car, in lanes: commands are checked, then one of the loops converts them into a
// steering angle, a duty of the motor and a brake.
//
// Speed: a proportional-integral loop commands an acceleration, the model of the motor and of the
// resistances converts it into a duty; if the force would oppose the motion, it brakes. Path: pure
// pursuit (Coulter 1992, CMU-RI-TR-92-01) from the rear axle.
#pragma once

#include "motion/vehicle/car/dynamics.h"

typedef struct Actuators {
    mf_lane target;   // [rad] steering
    mf_lane duty;     // [1]
    mf_lane brake;    // [1]
    mf_lane integral; // [m/s^2] of the speed loop
    mf_lane progress; // [m] along the path; negative: not known
} Actuators;

// A target position.
typedef struct Goal {
    mf_lane x, y;    // [m] world
    mf_lane speed;   // [m/s] target
    mf_lane slowing; // [m/s^2] at which the target speed falls, >= 0
    mf_mask blocked; // cannot be reached by steering towards it: go straight on
} Goal;

// ---- speed --------------------------------------------------------------------------------------

// Lowers the target speed to that from which the car stops within `distance` [m] with four fifths
// of its braking; the rest is left to the loop.
static MF_INLINE void stop_within(const Fixed *fixed, mf_lane distance, Goal *g) {
    mf_lane slowing = mf_set((mf_real)0.8) * constant(fixed, MF_CAR_BRAKING), zero = mf_zero();
    mf_lane speed = mf_sqrt((slowing + slowing) * mf_max(distance, zero));
    mf_mask slows = mf_less(speed, g->speed);
    g->speed = mf_select(slows, speed, g->speed);
    g->slowing = mf_select(slows, slowing, g->slowing);
}

// The duty and brake for a force [N] on the car, which includes the resistances; `ahead` is the
// direction of motion. Returns the lanes in which the motor cannot deliver it.
static MF_INLINE mf_mask give_force(const Fixed *fixed, mf_lane speed, mf_lane force, mf_lane ahead,
                                    Actuators *out) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane motor = constant(fixed, MF_CAR_MOTOR), loss = constant(fixed, MF_CAR_MOTOR_SLOPE);
    mf_lane forward = force * ahead;
    mf_mask pulls = mf_less(forward, zero);
    mf_lane back_emf = loss * mf_abs(speed);
    bool brakes = fixed->plan->brakes;
    mf_lane most = motor - back_emf;
    if (!brakes)
        most = mf_select(pulls, motor + back_emf, most);
    most = mf_max(most, motor * mf_set((mf_real)0.001));
    mf_lane duty = force / most;
    mf_mask weak = mf_less(one, mf_abs(duty));
    duty = mf_clamp(duty, -one, one);
    out->brake = zero;
    if (brakes) {
        mf_lane brake = (-forward) * constant(fixed, MF_CAR_INVERSE_BRAKE);
        out->brake = mf_clamp(brake, zero, one);
        weak = mf_or(weak, mf_less(one, brake));
        duty = mf_select(pulls, zero, duty);
    }
    out->duty = duty;
    return weak;
}

static MF_INLINE void drive_at(const Fixed *fixed, const State *s, mf_lane target, mf_lane slowing,
                               Actuators *out) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane speed = s->vx, error = target - speed;
    mf_lane requested = mf_fma(constant(fixed, MF_CAR_SPEED_GAIN), error, out->integral - slowing);
    mf_lane faster = constant(fixed, MF_CAR_ACCELERATION), slower = constant(fixed, MF_CAR_BRAKING);
    mf_lane low = mf_select(mf_less(zero, speed), slower, faster);
    mf_lane high = mf_select(mf_less(speed, zero), slower, faster);
    mf_lane given = mf_clamp(requested, -low, high);
    mf_lane ahead = sign_of(mf_select(mf_less_equal(mf_abs(speed), zero), target, speed));
    mf_lane drag = constant(fixed, MF_CAR_DRAG) * (speed * mf_abs(speed));
    mf_lane force = mf_fma(constant(fixed, MF_CAR_LONG_MASS), given, drag);
    force = mf_fma(constant(fixed, MF_CAR_ROLLING), ahead, force);
    mf_mask weak = give_force(fixed, speed, force, ahead, out);
    // The integral stops while the demand exceeds the limits and the error would increase it.
    mf_mask limited = mf_or(weak, mf_or(mf_less(given, requested), mf_less(requested, given)));
    mf_mask winding = mf_and(limited, mf_less(zero, error * requested));
    mf_lane rate = constant(fixed, MF_CAR_SPEED_INTEGRAL) * constant(fixed, MF_CAR_TICK);
    mf_lane integral = mf_fma(rate, error, out->integral);
    out->integral = mf_select(winding, out->integral, integral);
    // A car commanded to stop is braked.
    mf_mask stands = mf_and(mf_less_equal(mf_abs(target), zero),
                            mf_less(mf_abs(speed), constant(fixed, MF_CAR_HOLD_SPEED)));
    out->integral = mf_select(stands, zero, out->integral);
    if (fixed->plan->brakes) {
        out->brake = mf_select(stands, one, out->brake);
        out->duty = mf_select(stands, zero, out->duty);
    }
}

// ---- steering -----------------------------------------------------------------------------------

typedef struct Axle {
    mf_lane x, y;         // [m] of the rear axle, world
    mf_lane cosine, sine; // [1] heading
    mf_lane look_ahead;   // [m] look-ahead distance
} Axle;

static MF_INLINE Axle rear_axle(const Fixed *fixed, const State *s) {
    Axle a;
    heading(s, &a.cosine, &a.sine);
    mf_lane back = -constant(fixed, MF_CAR_REAR);
    a.x = mf_fma(back, a.cosine, s->x);
    a.y = mf_fma(back, a.sine, s->y);
    mf_lane look_ahead = constant(fixed, MF_CAR_LOOK_TIME) * mf_abs(s->vx);
    look_ahead = mf_max(look_ahead, constant(fixed, MF_CAR_LOOK_LEAST));
    a.look_ahead = mf_min(look_ahead, constant(fixed, MF_CAR_LOOK_MOST));
    return a;
}

// (x, y) seen from the axle: ahead and to the left.
static MF_INLINE void seen_from(const Axle *a, mf_lane x, mf_lane y, mf_lane *ahead,
                                mf_lane *left) {
    mf_lane dx = x - a->x, dy = y - a->y;
    *ahead = mf_fma(a->cosine, dx, a->sine * dy);
    *left = mf_fma(a->cosine, dy, -a->sine * dx);
}

// The arc from the rear axle, initially along the car, through the goal has the curvature k = 2
// left / distance^2; the wheel's angle for it is atan(L k), and atan(L k (1 + K v^2)) with
// understeer. The tires limit k v^2; for a goal behind the axle the curvature is at that limit.
static MF_INLINE mf_lane steer_to(const Fixed *fixed, const State *s, const Axle *a,
                                  const Goal *g) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane ahead, left, limit = constant(fixed, MF_CAR_STEERING_LIMIT);
    seen_from(a, g->x, g->y, &ahead, &left);
    mf_lane square = mf_fma(ahead, ahead, left * left), speed2 = s->vx * s->vx;
    mf_lane small = constant(fixed, MF_CAR_STOP_DISTANCE);
    square = mf_max(square, small * small);
    mf_lane top = left + left, grip = constant(fixed, MF_CAR_CORNERING);
    mf_mask hard = mf_or(mf_less(ahead, zero), mf_less(grip * square, mf_abs(top) * speed2));
    top = mf_select(hard, with_sign(grip, left), top);
    square = mf_select(hard, mf_max(speed2, small * small), square);
    mf_lane gain = mf_fma(constant(fixed, MF_CAR_UNDERSTEER), speed2, one);
    mf_lane angle = mf_atan_ratio_lane(top * (constant(fixed, MF_CAR_BASE) * gain), square);
    angle = mf_clamp(angle, -limit, limit);
    return mf_select(g->blocked, zero, angle);
}

// ---- the target point ---------------------------------------------------------------------------

// The position on the circle that is one look-ahead farther than the nearest: a chord of that
// length.
static MF_INLINE Goal circle_goal(const Axle *a, const mf_lane *command) {
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5), zero = mf_zero();
    mf_lane radius = mf_abs(command[3]);
    mf_lane rx = a->x - command[1], ry = a->y - command[2];
    mf_lane distance = mf_sqrt(mf_fma(rx, rx, ry * ry));
    mf_mask middle = mf_less_equal(distance, zero);
    mf_lane scale = one / mf_select(middle, one, distance);
    rx = mf_select(middle, one, rx * scale);
    ry = ry * scale;
    mf_lane part = mf_min(a->look_ahead / radius, one); // chord / radius
    mf_lane step_cosine = mf_fma(-part * half, part, one);
    mf_lane step_sine = part * mf_sqrt(mf_fma(part * mf_set((mf_real)-0.25), part, one));
    step_sine = with_sign(step_sine, command[3]);
    mf_lane gx = mf_fma(step_cosine, rx, -step_sine * ry);
    mf_lane gy = mf_fma(step_cosine, ry, step_sine * rx);
    return MF_VALUE(Goal, mf_fma(radius, gx, command[1]), mf_fma(radius, gy, command[2]),
                    command[0], zero, mf_less(one, zero));
}

static MF_INLINE Goal line_goal(const Axle *a, const mf_lane *command) {
    mf_lane sine, cosine;
    mf_sin_cos_lane(command[3], &sine, &cosine);
    mf_lane along = mf_fma(cosine, a->x - command[1], sine * (a->y - command[2])) + a->look_ahead;
    return MF_VALUE(Goal, mf_fma(along, cosine, command[1]), mf_fma(along, sine, command[2]),
                    command[0], mf_zero(), mf_less(mf_set((mf_real)1), mf_zero()));
}

// For a goal inside one of the two smallest turning circles the car drives on first. Towards a goal
// at its side the cornering limit bounds its speed.
static MF_INLINE Goal waypoint_goal(const Fixed *fixed, const State *s, const Axle *a,
                                    const mf_lane *command) {
    const mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5);
    mf_lane dx = command[1] - s->x, dy = command[2] - s->y, ahead, left;
    mf_lane distance = mf_sqrt(mf_fma(dx, dx, dy * dy));
    seen_from(a, command[1], command[2], &ahead, &left);
    mf_lane beyond = ahead - constant(fixed, MF_CAR_REAR); // of the center of mass
    mf_lane near_bound = constant(fixed, MF_CAR_STOP_DISTANCE);
    mf_mask passed =
        mf_and(mf_less_equal(beyond, zero), mf_less(distance, half * constant(fixed, MF_CAR_BASE)));
    mf_mask there = mf_or(passed, mf_less_equal(distance, near_bound));
    mf_lane square = mf_fma(ahead, ahead, left * left), side = mf_abs(left);
    mf_lane radius = constant(fixed, MF_CAR_ARC_RADIUS);
    mf_mask blocked = mf_less(square, mf_set((mf_real)1.9) * radius * side);
    // Half the cornering limit on the arc to the goal, of radius square / (2 side).
    mf_lane arc = mf_select(mf_less(ahead, zero), radius,
                            mf_max(square * half / mf_max(side, near_bound * half), radius));
    Goal g = {command[1], command[2], command[0], zero, blocked};
    g.speed = mf_min(g.speed, mf_sqrt(half * constant(fixed, MF_CAR_CORNERING) * arc));
    stop_within(fixed, distance - half * near_bound, &g);
    g.speed = mf_select(there, zero, g.speed);
    return g;
}

// ---- the group's path ---------------------------------------------------------------------------

typedef struct Track {
    const mf_real *x, *y; // [m]
    mf_lane spacing, inverse_spacing, length;
    uint32_t segments;
    bool closed;
} Track;

static MF_INLINE Track track_of(const mf_CarPath *path) {
    Track t = {.segments = path->segments, .closed = path->closed};
#if defined(MF_KERNEL_F64)
    t.x = mf_car_path_x_f64(path);
    t.y = mf_car_path_y_f64(path);
#else
    t.x = mf_car_path_x_f32(path);
    t.y = mf_car_path_y_f32(path);
#endif
    t.spacing = mf_set((mf_real)path->spacing);
    t.inverse_spacing = mf_set((mf_real)(1.0 / path->spacing));
    t.length = mf_set((mf_real)path->length);
    return t;
}

// On a closed path back into one lap, on an open one back onto it.
static MF_INLINE mf_lane wrap(const Track *t, mf_lane progress) {
    mf_lane zero = mf_zero();
    if (!t->closed)
        return mf_clamp(progress, zero, t->length);
    progress = mf_select(mf_less(progress, zero), progress + t->length, progress);
    progress = mf_select(mf_less_equal(t->length, progress), progress - t->length, progress);
    return mf_clamp(progress, zero, t->length);
}

// The position at a progress within the path and the direction (per meter) there.
static MF_INLINE void position_at(const Track *t, mf_lane progress, mf_lane *x, mf_lane *y,
                                  mf_lane *dx, mf_lane *dy) {
    mf_lane at = progress * t->inverse_spacing;
    at = mf_clamp(at, mf_zero(), mf_set((mf_real)(t->segments - 1)));
    mf_index index = mf_to_index(at);
    mf_lane rest = mf_fma(progress, t->inverse_spacing, -mf_from_index(index));
    mf_index next = index + mf_set_index(1);
    mf_lane x0 = mf_gather(t->x, index), y0 = mf_gather(t->y, index);
    mf_lane ex = mf_gather(t->x, next) - x0, ey = mf_gather(t->y, next) - y0;
    *x = mf_fma(rest, ex, x0);
    *y = mf_fma(rest, ey, y0);
    *dx = ex * t->inverse_spacing;
    *dy = ey * t->inverse_spacing;
}

// The nearest of all samples, for cars whose progress is not known.
static mf_lane find_progress(const Fixed *fixed, const Track *t, const Axle *a, mf_lane progress) {
    mf_mask lost = mf_and(fixed->alive, mf_less(progress, mf_zero()));
    if (!mf_any(lost))
        return progress;
    mf_lane best = mf_set(MF_REAL_MAX), found = mf_zero();
    for (uint32_t i = 0; i < t->segments; i++) {
        mf_lane dx = mf_set(t->x[i]) - a->x, dy = mf_set(t->y[i]) - a->y;
        mf_lane square = mf_fma(dx, dx, dy * dy);
        mf_mask nearer = mf_less(square, best);
        best = mf_select(nearer, square, best);
        found = mf_select(nearer, mf_set((mf_real)i) * t->spacing, found);
    }
    return mf_select(lost, found, progress);
}

// The progress follows the car by two steps of Newton's method for the foot of the perpendicular,
// so at a crossing the car stays on its own branch. The pieces may be shorter than the spacing
// where the path bends, hence the division-free step along the chord.
static MF_INLINE Goal path_goal(const Fixed *fixed, const Axle *a, const mf_lane *command,
                                Actuators *out) {
    Goal g = {a->x, a->y, mf_zero(), mf_zero(), mf_less(mf_set((mf_real)1), mf_zero())};
    if (fixed->path == NULL)
        return g;
    const Track t = track_of(fixed->path);
    mf_lane x, y, dx, dy, progress = find_progress(fixed, &t, a, out->progress);
    for (int i = 0; i < 2; i++) {
        position_at(&t, progress, &x, &y, &dx, &dy);
        progress = wrap(&t, progress + mf_fma(a->x - x, dx, (a->y - y) * dy));
    }
    out->progress = progress;
    mf_lane goal = progress + a->look_ahead;
    if (t.closed)
        goal = wrap(&t, goal);
    mf_lane onto = mf_min(goal, t.length);
    position_at(&t, onto, &g.x, &g.y, &dx, &dy);
    g.speed = command[0];
    if (!t.closed) {
        // Beyond the end the last piece continues straight.
        g.x = mf_fma(goal - onto, dx, g.x);
        g.y = mf_fma(goal - onto, dy, g.y);
        // The progress is that of the rear axle, the end applies to the center of mass.
        stop_within(fixed, t.length - progress - constant(fixed, MF_CAR_REAR), &g);
    }
    return g;
}

// ---- commands -----------------------------------------------------------------------------------

static MF_INLINE void run_control(const Fixed *fixed, const State *s, const mf_lane *command,
                                  Actuators *out) {
    const mf_CarCommand mode = fixed->plan->mode;
    if (mode == MF_CAR_COMMAND_DRIVE) {
        out->target = command[0];
        out->duty = command[1];
        out->brake = command[2];
        return;
    }
    if (mode == MF_CAR_COMMAND_SPEED) {
        drive_at(fixed, s, command[0], mf_zero(), out);
        out->target = command[1];
        return;
    }
    Axle a = rear_axle(fixed, s);
    Goal g;
    if (mode == MF_CAR_COMMAND_CIRCLE)
        g = circle_goal(&a, command);
    else if (mode == MF_CAR_COMMAND_LINE)
        g = line_goal(&a, command);
    else if (mode == MF_CAR_COMMAND_PATH)
        g = path_goal(fixed, &a, command, out);
    else
        g = waypoint_goal(fixed, s, &a, command);
    out->target = steer_to(fixed, s, &a, &g);
    drive_at(fixed, s, g.speed, g.slowing, out);
}
