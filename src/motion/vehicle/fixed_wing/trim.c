// Trim of a fixed-wing aircraft: steady flight with given airspeed, climb angle and radius of turn,
// without sideslip (Beard and McLain 2012, section 5.3 and appendix F). Six unknowns (angle of
// attack, roll, elevator, aileron, rudder, throttle) make six accelerations zero; Newton's method
// with central differences and limited steps, on the forces that the step itself uses.
//
// Axes are forward-left-up. Up, in body axes, is (sin pitch, cos pitch sin roll, cos pitch cos
// roll), and pitch follows from the climb angle.
#include "motion/vehicle/fixed_wing/motion.h"
#include "base/floats.h"

#include "math/scalar.h"

enum { ALPHA, ROLL, ELEVATOR, AILERON, RUDDER, THROTTLE, UNKNOWNS };
enum { ROUNDS = 60 };

typedef struct Flight {
    const double *constants;
    double airspeed, climb_sine, yaw_rate; // [m/s], [1], [rad/s] counterclockwise seen from above
    double gravity;                        // [m/s^2]
} Flight;

typedef struct Posture { // what follows from the unknowns
    double up[3];        // [1] body axes
    double velocity[3], rate[3];
    double pitch; // [rad]
} Posture;

static Posture posture_of(const Flight *flight, const double x[UNKNOWNS]) {
    Posture posture;
    double sine, cosine, roll_sine, roll_cosine, pitch_sine, pitch_cosine;
    mf_sin_cos(x[ALPHA], &sine, &cosine);
    mf_sin_cos(x[ROLL], &roll_sine, &roll_cosine);
    // sin(climb) = cos(alpha) sin(pitch) - sin(alpha) cos(roll) cos(pitch)
    double across = sine * roll_cosine;
    double reach = mf_sqrt(cosine * cosine + across * across);
    posture.pitch = mf_asin(flight->climb_sine / reach) + mf_atan2(across, cosine);
    mf_sin_cos(posture.pitch, &pitch_sine, &pitch_cosine);
    mf_vec3_set(posture.up, pitch_sine, pitch_cosine * roll_sine, pitch_cosine * roll_cosine);
    mf_vec3_set(posture.velocity, flight->airspeed * cosine, 0.0, -flight->airspeed * sine);
    mf_vec3_scale(posture.rate, posture.up, flight->yaw_rate);
    return posture;
}

static double evaluate(const Flight *flight, const double x[UNKNOWNS], double residual[UNKNOWNS]) {
    const double *c = flight->constants;
    Posture posture = posture_of(flight, x);
    mf_WingLoads work = {.constants = c,
                         .surfaces = {x[ELEVATOR], x[AILERON], x[RUDDER], x[THROTTLE]}};
    mf_vec3_copy(work.velocity, posture.velocity);
    mf_vec3_copy(work.rate, posture.rate);
    mf_fixed_wing_load_scalar_f64(&work);
    const double *w = posture.rate;
    double carried[3], momentum[3], gyroscopic[3];
    mf_vec3_cross(carried, w, posture.velocity);
    for (int i = 0; i < 3; i++)
        residual[i] = (work.force[i] * c[MF_WING_INVERSE_MASS] - carried[i]) / flight->gravity -
                      posture.up[i];
    mf_vec3_set(momentum, c[MF_WING_INERTIA_X] * w[0] + c[MF_WING_INERTIA_XZ] * w[2],
                c[MF_WING_INERTIA_Y] * w[1],
                c[MF_WING_INERTIA_Z] * w[2] + c[MF_WING_INERTIA_XZ] * w[0]);
    mf_vec3_cross(gyroscopic, w, momentum);
    double torque[3];
    mf_vec3_sub(torque, work.moment, gyroscopic);
    residual[3] = c[MF_WING_INVERSE_X] * torque[0] + c[MF_WING_INVERSE_XZ] * torque[2];
    residual[4] = c[MF_WING_INVERSE_Y] * torque[1];
    residual[5] = c[MF_WING_INVERSE_Z] * torque[2] + c[MF_WING_INVERSE_XZ] * torque[0];
    for (int i = 3; i < UNKNOWNS; i++)
        residual[i] /= flight->gravity; // of a body of one meter
    return work.thrust;
}

// Solves matrix * x = right by elimination with pivots; `right` becomes x. False when singular.
static bool solve(double matrix[UNKNOWNS][UNKNOWNS], double right[UNKNOWNS]) {
    for (int column = 0; column < UNKNOWNS; column++) {
        int best = column;
        for (int i = column + 1; i < UNKNOWNS; i++)
            if (mf_abs(matrix[i][column]) > mf_abs(matrix[best][column]))
                best = i;
        if (!(mf_abs(matrix[best][column]) > 1e-14))
            return false;
        for (int j = 0; j < UNKNOWNS; j++) {
            double swap = matrix[column][j];
            matrix[column][j] = matrix[best][j];
            matrix[best][j] = swap;
        }
        double swap = right[column];
        right[column] = right[best];
        right[best] = swap;
        for (int i = 0; i < UNKNOWNS; i++) {
            if (i == column)
                continue;
            double factor = matrix[i][column] / matrix[column][column];
            for (int j = column; j < UNKNOWNS; j++)
                matrix[i][j] -= factor * matrix[column][j];
            right[i] -= factor * right[column];
        }
    }
    for (int i = 0; i < UNKNOWNS; i++)
        right[i] /= matrix[i][i];
    return true;
}

static double largest(const double residual[UNKNOWNS]) {
    double most = 0.0;
    for (int i = 0; i < UNKNOWNS; i++)
        if (!(mf_abs(residual[i]) <= most))
            most = mf_abs(residual[i]);
    return most;
}

static bool newton_step(const Flight *flight, double x[UNKNOWNS], double residual[UNKNOWNS]) {
    static const double most[UNKNOWNS] = {0.1, 0.3, 0.2, 0.2, 0.2, 0.2};
    const double reach = 1e-6;
    double slope[UNKNOWNS][UNKNOWNS], high[UNKNOWNS], low[UNKNOWNS], move[UNKNOWNS];
    for (int j = 0; j < UNKNOWNS; j++) {
        double there[UNKNOWNS];
        memcpy(there, x, sizeof there);
        there[j] = x[j] + reach;
        evaluate(flight, there, high);
        there[j] = x[j] - reach;
        evaluate(flight, there, low);
        for (int i = 0; i < UNKNOWNS; i++)
            slope[i][j] = (high[i] - low[i]) / (2.0 * reach);
    }
    memcpy(move, residual, sizeof move);
    if (!solve(slope, move))
        return false;
    for (int i = 0; i < UNKNOWNS; i++)
        x[i] -= mf_clamp(move[i], -most[i], most[i]);
    evaluate(flight, x, residual);
    return true;
}

// Rounds until the residual stops falling below what rounding allows.
static double find_trim(const Flight *flight, double x[UNKNOWNS]) {
    double residual[UNKNOWNS];
    evaluate(flight, x, residual);
    for (int round = 0; round < ROUNDS; round++) {
        if (largest(residual) < 1e-14 || !newton_step(flight, x, residual))
            break;
    }
    return largest(residual);
}

static mf_Status refuse(const mf_FixedWing *p, const double x[UNKNOWNS], double residual,
                        double airspeed, mf_Error *error) {
    const char *why = "no steady flight exists";
    if (residual <= 1e-9) {
        if (!(x[THROTTLE] >= 0.0))
            why = "it requires braking, throttle below 0";
        else if (!(x[THROTTLE] <= 1.0))
            why = "it requires more than full throttle";
        else if (!(mf_abs(x[ALPHA]) <= p->stall_angle))
            why = "the wing stalls";
        else if (!(mf_abs(x[ELEVATOR]) <= p->elevator_limit))
            why = "it requires more elevator than elevator_limit";
        else if (!(mf_abs(x[AILERON]) <= p->aileron_limit))
            why = "it requires more aileron than aileron_limit";
        else if (!(mf_abs(x[RUDDER]) <= p->rudder_limit))
            why = "it requires more rudder than rudder_limit";
        else
            return MF_OK;
    }
    return mf_fail(error, MF_NOT_FOUND, "fixed_wing: no trim at %g m/s, %s", airspeed, why);
}

mf_Status mf_wing_trim(const double *constants, const mf_FixedWing *p, double airspeed,
                       double climb, double radius, double gravity, mf_FixedWingTrim *out,
                       mf_Error *error) {
    MF_NEED(airspeed > 0.0 && airspeed <= 1e4, error,
            "trim: airspeed %g, need 0 < airspeed <= 1e4 m/s", airspeed);
    if (!(climb >= -1.2 && climb <= 1.2))
        return mf_fail(error, MF_BAD_ARGUMENT, "trim: climb angle %g, need -1.2 .. 1.2 rad", climb);
    MF_NEED(gravity > 0.0 && gravity <= 1e3, error,
            "trim: gravity %g, need 0 < gravity <= 1e3 m/s^2", gravity);
    MF_NEED(radius == 0.0 || mf_abs(radius) >= 1.0, error,
            "trim: radius %g, need 0 or at least 1 m in size", radius);
    double climb_cosine, x[UNKNOWNS] = {[ALPHA] = 0.05, [THROTTLE] = 0.5};
    Flight flight = {.constants = constants, .airspeed = airspeed, .gravity = gravity};
    mf_sin_cos(climb, &flight.climb_sine, &climb_cosine);
    flight.yaw_rate = radius == 0.0 ? 0.0 : airspeed * climb_cosine / radius;
    x[ROLL] = -mf_atan2(airspeed * flight.yaw_rate, gravity);
    double residual = find_trim(&flight, x);
    MF_TRY(refuse(p, x, residual, airspeed, error));
    Posture posture = posture_of(&flight, x);
    double rest[UNKNOWNS];
    *out = (mf_FixedWingTrim){.alpha = x[ALPHA],
                              .roll = x[ROLL],
                              .pitch = posture.pitch,
                              .elevator = x[ELEVATOR],
                              .aileron = x[AILERON],
                              .rudder = x[RUDDER],
                              .throttle = x[THROTTLE],
                              .residual = residual};
    mf_vec3_copy(out->rate, posture.rate);
    out->thrust = evaluate(&flight, x, rest);
    return MF_OK;
}

mf_Status mf_fixed_wing_trim(const mf_FixedWing *p, double airspeed, double climb, double radius,
                             double gravity, mf_FixedWingTrim *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    double constants[MF_WING_CONSTANTS];
    MF_TRY(mf_fixed_wing_check(p, error));
    mf_wing_constants(constants, p);
    return mf_wing_trim(constants, p, airspeed, climb, radius, gravity, out, error);
}
