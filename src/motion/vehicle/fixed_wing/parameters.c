// The parameters of a fixed-wing aircraft: the Aerosonde as default, the check of every member, and
// the constants that follow from them.
//
// The Aerosonde is from Beard and McLain, "Small Unmanned Aircraft" (2012), appendix E, in the
// values of the authors' mavsim (2nd edition: motor and propeller instead of a thrust curve).
#include "motion/vehicle/fixed_wing/motion.h"
#include "base/floats.h"
#include "motion/vehicle/body.h"
#include "motion/vehicle/keys.h"

#include "math/scalar.h"

mf_FixedWing mf_fixed_wing(void) {
    MF_DEFAULT_FLOATS;
    return (mf_FixedWing){.struct_size = sizeof(mf_FixedWing),
                          .mass = 11.0,
                          .inertia_xx = 0.8244,
                          .inertia_yy = 1.135,
                          .inertia_zz = 1.759,
                          .inertia_xz = 0.1204,
                          .radius = 1.5,
                          .clearance = 0.3,
                          .air_density = 1.2682,
                          .wing_area = 0.55,
                          .wing_span = 2.8956,
                          .wing_chord = 0.18994,
                          .oswald = 0.9,
                          .drag = MF_DRAG_POLAR,
                          .drag_zero = 0.043,
                          .drag_alpha = 0.03,
                          .drag_elevator = 0.0135,
                          .lift_zero = 0.23,
                          .lift_alpha = 5.61,
                          .lift_q = 7.95,
                          .lift_elevator = 0.13,
                          .stall_angle = 0.47,
                          .stall_sharpness = 50.0,
                          .pitch_zero = 0.0135,
                          .pitch_alpha = -2.74,
                          .pitch_q = -38.21,
                          .pitch_elevator = -0.99,
                          .side_beta = -0.98,
                          .side_aileron = 0.075,
                          .side_rudder = 0.19,
                          .roll_beta = -0.13,
                          .roll_p = -0.51,
                          .roll_r = 0.25,
                          .roll_aileron = 0.17,
                          .roll_rudder = 0.0024,
                          .yaw_beta = 0.073,
                          .yaw_p = 0.069,
                          .yaw_r = -0.095,
                          .yaw_aileron = -0.011,
                          .yaw_rudder = -0.069,
                          .propeller_diameter = 0.508,
                          .propeller_thrust = {0.09357, -0.06044, -0.1079},
                          .propeller_torque = {0.00523, 0.00497, -0.01664},
                          .battery_voltage = 44.4,
                          .motor_speed_constant = 145.0 * 2.0 * MF_PI / 60.0,
                          .motor_resistance = 0.042,
                          .motor_no_load_current = 1.5,
                          .elevator_limit = 0.785,
                          .aileron_limit = 0.785,
                          .rudder_limit = 0.785,
                          .airspeed_min = 18.0,
                          .airspeed_max = 35.0,
                          .airspeed_design = 25.0,
                          .roll_limit = 0.785,
                          .pitch_limit = 0.35,
                          .altitude_zone = 10.0,
                          .roll_frequency = 10.0,
                          .roll_damping = 0.9,
                          .course_separation = 20.0,
                          .course_damping = 1.4,
                          .pitch_frequency = 16.0,
                          .pitch_damping = 0.8,
                          .altitude_separation = 60.0,
                          .altitude_damping = 1.4,
                          .airspeed_frequency = 0.8,
                          .airspeed_damping = 1.5,
                          .yaw_damper_gain = 0.5,
                          .yaw_damper_washout = 0.45,
                          .orbit_gain = 1.5};
}

// ---- check --------------------------------------------------------------------------------------

static mf_Status check_inertia(const mf_FixedWing *p, mf_Error *error) {
    double determinant = p->inertia_xx * p->inertia_zz - p->inertia_xz * p->inertia_xz;
    MF_NEED(determinant > 1e-12 * p->inertia_xx * p->inertia_zz, error,
            "fixed_wing.inertia_xz: %g, the tensor is not positive definite", p->inertia_xz);
    // Principal values, closed form for one product of inertia; 1 % of slack for rounded data.
    double middle = 0.5 * (p->inertia_xx + p->inertia_zz);
    double half = 0.5 * (p->inertia_xx - p->inertia_zz);
    double spread = mf_sqrt(half * half + p->inertia_xz * p->inertia_xz);
    double low = middle - spread, high = middle + spread, y = p->inertia_yy;
    if (high > 1.01 * (low + y) || y > 1.01 * (low + high))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "fixed_wing.inertia_xx: no real body has the principal values %g, %g, %g "
                       "kg m^2, the largest exceeds the sum of the others",
                       low, y, high);
    return MF_OK;
}

mf_Status mf_fixed_wing_check(const mf_FixedWing *p, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (p == NULL || p->struct_size != sizeof *p)
        return mf_fail(error, MF_BAD_ARGUMENT, "fixed_wing: start from mf_motions_config()");
    MF_TRY(mf_vehicle_check_ranges(MF_VEHICLE_FIXED_WING, p, error));
    MF_NEED(p->propeller_torque[0] >= 1e-6, error,
            "fixed_wing.propeller_torque[0]: %g, need at least 1e-06", p->propeller_torque[0]);
    MF_NEED(p->drag == MF_DRAG_POLAR || p->drag == MF_DRAG_LINEAR, error,
            "fixed_wing.drag: %d, need polar or linear", (int)p->drag);
    MF_NEED(p->pitch_elevator != 0.0, error,
            "fixed_wing.pitch_elevator: 0, the elevator has no effect");
    MF_NEED(p->roll_aileron != 0.0, error,
            "fixed_wing.roll_aileron: 0, the ailerons have no effect");
    MF_NEED(p->airspeed_max > p->airspeed_min, error,
            "fixed_wing.airspeed_max: %g, need more than airspeed_min, %g m/s", p->airspeed_max,
            p->airspeed_min);
    MF_NEED(p->airspeed_design >= p->airspeed_min && p->airspeed_design <= p->airspeed_max, error,
            "fixed_wing.airspeed_design: %g, need airspeed_min .. airspeed_max, %g .. "
            "%g m/s",
            p->airspeed_design, p->airspeed_min, p->airspeed_max);
    return check_inertia(p, error);
}

mf_Status mf_fixed_wing_model(mf_Context *context, const mf_FixedWing *p, const char *name,
                              mf_Model **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && p != NULL, error, "fixed_wing: context or p is NULL");
    *out = NULL;
    MF_TRY(mf_fixed_wing_check(p, error));
    // Turning y and z round keeps the moments and changes the sign of the element -J_xz.
    mf_VehicleBody body = {
        .name = name,
        .mass = p->mass,
        .inertia = {p->inertia_xx, p->inertia_yy, p->inertia_zz, 0.0, p->inertia_xz, 0.0},
        .radius = p->radius,
        .clearance = p->clearance};
    return mf_vehicle_model(context, &body, out, error);
}

// ---- constants ----------------------------------------------------------------------------------

static void body_constants(double *c, const mf_FixedWing *p) {
    double determinant = p->inertia_xx * p->inertia_zz - p->inertia_xz * p->inertia_xz;
    c[MF_WING_INVERSE_MASS] = 1.0 / p->mass;
    c[MF_WING_INERTIA_X] = p->inertia_xx;
    c[MF_WING_INERTIA_Y] = p->inertia_yy;
    c[MF_WING_INERTIA_Z] = p->inertia_zz;
    c[MF_WING_INERTIA_XZ] = p->inertia_xz;
    c[MF_WING_INVERSE_X] = p->inertia_zz / determinant;
    c[MF_WING_INVERSE_Y] = 1.0 / p->inertia_yy;
    c[MF_WING_INVERSE_Z] = p->inertia_xx / determinant;
    c[MF_WING_INVERSE_XZ] = -p->inertia_xz / determinant;
}

static void air_constants(double *c, const mf_FixedWing *p) {
    const double span = p->wing_span, half_chord = 0.5 * p->wing_chord;
    bool polar = p->drag == MF_DRAG_POLAR;
    c[MF_WING_HALF_DENSITY] = 0.5 * p->air_density * p->wing_area;
    c[MF_WING_SPAN] = span;
    c[MF_WING_CHORD] = p->wing_chord;
    c[MF_WING_LIFT_0] = p->lift_zero;
    c[MF_WING_LIFT_ALPHA] = p->lift_alpha;
    c[MF_WING_LIFT_Q] = p->lift_q * half_chord;
    c[MF_WING_LIFT_ELEVATOR] = p->lift_elevator;
    c[MF_WING_DRAG_0] = polar ? p->drag_parasitic : p->drag_zero;
    c[MF_WING_DRAG_ALPHA] = polar ? 0.0 : p->drag_alpha;
    c[MF_WING_DRAG_LIFT] = polar ? p->wing_area / (MF_PI * p->oswald * span * span) : 0.0;
    c[MF_WING_DRAG_Q] = p->drag_q * half_chord;
    c[MF_WING_DRAG_ELEVATOR] = p->drag_elevator;
    c[MF_WING_STALL_SLOPE] = p->stall_sharpness;
    c[MF_WING_STALL_OFFSET] = p->stall_sharpness * p->stall_angle;
    c[MF_WING_STALL_FLOOR] = mf_exp(-2.0 * p->stall_sharpness * p->stall_angle);
    c[MF_WING_PITCH_0] = p->pitch_zero;
    c[MF_WING_PITCH_ALPHA] = p->pitch_alpha;
    c[MF_WING_PITCH_Q] = p->pitch_q * half_chord;
    c[MF_WING_PITCH_ELEVATOR] = p->pitch_elevator;
    const double *rows[] = {&p->side_zero, &p->roll_zero, &p->yaw_zero};
    for (int row = 0; row < 3; row++) {
        double *to = c + MF_WING_SIDE_0 + 6 * row;
        for (int i = 0; i < 6; i++) // zero, beta, p, r, aileron, rudder
            to[i] = rows[row][i] * (i == 2 || i == 3 ? 0.5 * span : 1.0);
    }
}

static void motor_constants(double *c, const mf_FixedWing *p) {
    const double rho = p->air_density, d = p->propeller_diameter, angle = 2.0 * MF_PI;
    const double constant = 1.0 / p->motor_speed_constant; // K_Q = K_V in SI units
    const double square = rho * d * d * d * d / (angle * angle), mixed = rho * d * d * d / angle;
    const double air = rho * d * d;
    c[MF_WING_MOTOR_DRAG] = constant * constant / p->motor_resistance;
    c[MF_WING_MOTOR_IDLE] = constant * p->motor_no_load_current;
    c[MF_WING_MOTOR_STALL] = constant * p->battery_voltage / p->motor_resistance;
    c[MF_WING_THRUST_0] = square * p->propeller_thrust[0];
    c[MF_WING_THRUST_1] = mixed * p->propeller_thrust[1];
    c[MF_WING_THRUST_2] = air * p->propeller_thrust[2];
    c[MF_WING_TORQUE_0] = d * square * p->propeller_torque[0];
    c[MF_WING_TORQUE_1] = d * mixed * p->propeller_torque[1];
    c[MF_WING_TORQUE_2] = d * air * p->propeller_torque[2];
    c[MF_WING_MOTOR_ROOT] = rho > 0.0 ? 0.5 / c[MF_WING_TORQUE_0] : 0.0;
}

void mf_wing_constants(double *c, const mf_FixedWing *p) {
    memset(c, 0, MF_WING_CONSTANTS * sizeof *c);
    body_constants(c, p);
    air_constants(c, p);
    motor_constants(c, p);
    c[MF_WING_ELEVATOR_LIMIT] = p->elevator_limit;
    c[MF_WING_AILERON_LIMIT] = p->aileron_limit;
    c[MF_WING_RUDDER_LIMIT] = p->rudder_limit;
    c[MF_WING_ROLL_LIMIT] = p->roll_limit;
    c[MF_WING_PITCH_LIMIT] = p->pitch_limit;
    c[MF_WING_ALTITUDE_ZONE] = p->altitude_zone;
    c[MF_WING_GAIN_ORBIT] = p->orbit_gain;
}
