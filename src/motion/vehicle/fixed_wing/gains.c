// Gains of the autopilot by successive loop closure: each loop's second-order model at the design
// airspeed gets the natural frequency and damping of the parameters (Beard and McLain 2012,
// equations 5.23 to 5.36 for the models, chapter 6 for the gains). And the constants of the gust
// filters, exact for white noise held in law, not in value, over a step.
#include "motion/vehicle/fixed_wing/motion.h"

#include "math/scalar.h"

static void lateral_gains(double *c, const mf_FixedWing *p, double gravity) {
    const double v = p->airspeed_design, span = p->wing_span, half = 0.5 * span / v;
    const double det = p->inertia_xx * p->inertia_zz - p->inertia_xz * p->inertia_xz;
    const double gamma3 = p->inertia_zz / det, gamma4 = p->inertia_xz / det;
    const double pressure = c[MF_WING_HALF_DENSITY] * v * v * span;
    double rate = gamma3 * p->roll_p + gamma4 * p->yaw_p;                // C_pp
    double aileron = gamma3 * p->roll_aileron + gamma4 * p->yaw_aileron; // C_p aileron
    double a1 = -pressure * rate * half, a2 = pressure * aileron;
    double w = p->roll_frequency, course = w / p->course_separation;
    c[MF_WING_GAIN_ROLL] = w * w / a2;
    c[MF_WING_GAIN_ROLL_RATE] = (2.0 * p->roll_damping * w - a1) / a2;
    c[MF_WING_GAIN_COURSE] = 2.0 * p->course_damping * course * v / gravity;
    c[MF_WING_GAIN_COURSE_I] = course * course * v / gravity;
}

static void longitudinal_gains(double *c, const mf_FixedWing *p) {
    const double v = p->airspeed_design, chord = p->wing_chord;
    const double pressure = c[MF_WING_HALF_DENSITY] * v * v * chord / p->inertia_yy;
    double a1 = -pressure * p->pitch_q * 0.5 * chord / v, a2 = -pressure * p->pitch_alpha;
    double a3 = pressure * p->pitch_elevator;
    double w = p->pitch_frequency, climb = w / p->altitude_separation;
    double gain = (w * w - a2) / a3;
    double steady = gain * a3 / (a2 + gain * a3); // K_theta_DC
    c[MF_WING_GAIN_PITCH] = gain;
    c[MF_WING_GAIN_PITCH_RATE] = (2.0 * p->pitch_damping * w - a1) / a3;
    c[MF_WING_GAIN_ALTITUDE] = 2.0 * p->altitude_damping * climb / (steady * v);
    c[MF_WING_GAIN_ALTITUDE_I] = climb * climb / (steady * v);
}

// Acceleration along the path for an airspeed and a throttle, the attitude to the air held.
static double path_acceleration(const double *c, const mf_FixedWingTrim *trim, double airspeed,
                                double throttle) {
    double sine, cosine;
    mf_sin_cos(trim->alpha, &sine, &cosine);
    mf_WingLoads work = {.constants = c,
                         .velocity = {airspeed * cosine, 0.0, -airspeed * sine},
                         .surfaces = {trim->elevator, trim->aileron, trim->rudder, throttle}};
    mf_fixed_wing_load_scalar_f64(&work);
    return (work.force[0] * cosine - work.force[2] * sine) * c[MF_WING_INVERSE_MASS];
}

static void airspeed_gains(double *c, const mf_FixedWing *p, const mf_FixedWingTrim *trim) {
    const double v = p->airspeed_design, reach = 1e-4;
    double a1 = -(path_acceleration(c, trim, v + reach, trim->throttle) -
                  path_acceleration(c, trim, v - reach, trim->throttle)) /
                (2.0 * reach);
    double a2 = (path_acceleration(c, trim, v, trim->throttle + reach) -
                 path_acceleration(c, trim, v, trim->throttle - reach)) /
                (2.0 * reach);
    double w = p->airspeed_frequency;
    double gain = (2.0 * p->airspeed_damping * w - a1) / a2;
    // A motor that brakes harder than the loop requests needs no help.
    c[MF_WING_GAIN_AIRSPEED] = gain > 0.0 ? gain : 0.0;
    c[MF_WING_GAIN_AIRSPEED_I] = w * w / a2;
}

mf_Status mf_wing_gains(double *c, const mf_FixedWing *p, double gravity, double control_step,
                        mf_Error *error) {
    mf_FixedWingTrim trim;
    MF_TRY(mf_wing_trim(c, p, p->airspeed_design, 0.0, 0.0, gravity, &trim, error));
    c[MF_WING_TRIM_ELEVATOR] = trim.elevator;
    c[MF_WING_TRIM_AILERON] = trim.aileron;
    c[MF_WING_TRIM_RUDDER] = trim.rudder;
    c[MF_WING_TRIM_THROTTLE] = trim.throttle;
    c[MF_WING_TRIM_PITCH] = trim.pitch;
    lateral_gains(c, p, gravity);
    longitudinal_gains(c, p);
    airspeed_gains(c, p, &trim);
    // Positive rudder turns the nose left where yaw_rudder is negative.
    c[MF_WING_GAIN_YAW_RATE] = p->yaw_rudder < 0.0 ? p->yaw_damper_gain : -p->yaw_damper_gain;
    c[MF_WING_WASHOUT] = 1.0 - mf_exp(-p->yaw_damper_washout * control_step);
    c[MF_WING_CONTROL_STEP] = control_step;
    for (int i = MF_WING_TRIM_ELEVATOR; i <= MF_WING_WASHOUT; i++)
        if (!mf_is_finite(c[i]) || mf_abs(c[i]) > 1e9)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "fixed_wing: the autopilot has no finite gains, check the coefficients "
                           "of elevator, aileron and propeller");
    return MF_OK;
}

// ---- gusts --------------------------------------------------------------------------------------

// One axis. With t = a T and states of unit size, z1 = sqrt(2 a) x1 and z2 = a sqrt(2 a) x2,
//   z1' = k z1 + n1 noise           k = exp(-t), n1 = sqrt(1 - k^2)
//   z2' = k z2 + t k z1 + n2 noise  n2 = (1 - k^2 (1 + 2 t)) / (2 n1)
// n2 from the covariance of the two integrals of the noise. The small part of the noise in z2 that
// is independent of z1 (variance t^3 / 12 of a step) is left out; the stationary covariance of the
// recursion gives the output its exact variance again.
static void gust_axis(double *c, const mf_Dryden *dryden, int axis, double step) {
    const double t = dryden->airspeed / dryden->length[axis] * step, k = mf_exp(-t);
    double rest = 1.0 - k * k, n1 = mf_sqrt(rest), n2 = 0.5 * (1.0 - k * k * (1.0 + 2.0 * t)) / n1;
    c[MF_WING_GUST_KEEP] = k;
    c[MF_WING_GUST_PASS] = t * k;
    c[MF_WING_GUST_NOISE1] = n1;
    c[MF_WING_GUST_NOISE2] = n2;
    if (axis == 0) { // one state
        c[MF_WING_GUST_OUT1] = dryden->intensity[axis];
        c[MF_WING_GUST_PASS] = c[MF_WING_GUST_NOISE2] = c[MF_WING_GUST_OUT2] = 0.0;
        return;
    }
    double p11 = n1 * n1 / rest, p12 = (k * k * t * p11 + n1 * n2) / rest;
    double p22 = (k * k * t * (t * p11 + 2.0 * p12) + n2 * n2) / rest;
    double second = 1.0 / mf_sqrt(3.0) - 1.0; // (s + a / sqrt 3) / (s + a)^2 in parts
    double variance = p11 + second * (2.0 * p12 + second * p22);
    double scale = dryden->intensity[axis] / mf_sqrt(variance);
    c[MF_WING_GUST_OUT1] = scale;
    c[MF_WING_GUST_OUT2] = scale * second;
}

void mf_wing_gusts(double *c, const mf_Dryden *dryden, double step) {
    for (int axis = 0; axis < 3; axis++)
        gust_axis(c + MF_WING_GUST + axis * MF_WING_GUST_VALUES, dryden, axis, step);
}
