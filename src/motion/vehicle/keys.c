// The parameters of vehicles: one key for each member of the public structures, with its unit, its
// range and its description. Defaults come from mf_quadrotor(), mf_fixed_wing() and mf_car();
// relations between members are checked by mf_<kind>_check().
#include "motion/vehicle/keys.h"
#include "motion/table.h"
#include "motion/vehicle/car/motion.h"
#include "motion/vehicle/fixed_wing/motion.h"
#include "motion/vehicle/quadrotor/motion.h"

#include <stdio.h>
#include <string.h>

static const char *const drags[] = {"polar", "linear", NULL};

_Static_assert(sizeof(mf_FixedWingDrag) == sizeof(int), "choices are stored as int");

// `kind` is the structure; limits in `unit`.
#define REAL(kind, member, flags, unit, lower, upper, description)                                 \
    MF_KEY(#member, MF_KEY_REAL, flags, unit, NULL, lower, upper, NULL, offsetof(kind, member),    \
           description)
#define VECTOR(kind, member, length, flags, unit, lower, upper, description)                       \
    MF_KEY_TUPLE(#member, MF_KEY_VECTOR, length, flags, unit, NULL, lower, upper,                  \
                 offsetof(kind, member), description)

// clang-format off
static const mf_Key quadrotor_keys[] = {
    REAL(mf_Quadrotor, mass, MF_KEY_REQUIRED, "kg", 1e-9, 1e9, "mass"),
    VECTOR(mf_Quadrotor, inertia, 6, MF_KEY_REQUIRED, "kg m^2", -1e9, 1e9,
           "xx, yy, zz, xy, xz, yz about the center of mass, body axes"),
    REAL(mf_Quadrotor, radius, 0, "m", 1e-6, 1e4, "radius of the collision sphere"),
    REAL(mf_Quadrotor, clearance, 0, "m", 0, 1e4,
           "height of the center of mass above the ground when it stands"),
    VECTOR(mf_Quadrotor, rotor_x, 4, 0, "m", -1e3, 1e3, "forward position of each rotor"),
    VECTOR(mf_Quadrotor, rotor_y, 4, 0, "m", -1e3, 1e3, "left position of each rotor"),
    VECTOR(mf_Quadrotor, rotor_direction, 4, 0, "1", -1, 1,
           "direction of rotation: +1 counterclockwise seen from above, -1 clockwise; the torque on "
           "the body is opposite"),
    REAL(mf_Quadrotor, rotor_speed_min, 0, "rad/s", 0, 1e6, "lowest speed of a rotor"),
    REAL(mf_Quadrotor, rotor_speed_max, 0, "rad/s", 1e-3, 1e6,
           "highest speed of a rotor; above rotor_speed_min"),
    REAL(mf_Quadrotor, thrust_coefficient, 0, "N s^2", 1e-15, 1e6,
           "thrust = coefficient * speed^2"),
    REAL(mf_Quadrotor, torque_coefficient, 0, "N m s^2", 1e-18, 1e6,
           "torque = coefficient * speed^2"),
    REAL(mf_Quadrotor, motor_time_constant, 0, "s", 0, 10,
           "time constant of the first-order lag of the rotors' speed; 0 = none"),
    VECTOR(mf_Quadrotor, rotor_drag, 3, 0, "N s^2/(m rad)", 0, 1e3,
           "force = -speed * drag * air velocity, at each rotor, body axes"),
    VECTOR(mf_Quadrotor, body_drag, 3, 0, "N s^2/m^2", 0, 1e6,
           "force = -drag * |air velocity| * air velocity, body axes"),
    REAL(mf_Quadrotor, rate_bandwidth, 0, "rad/s", 1e-3, 1e4,
           "bandwidth of the body-rate loop, roll and pitch"),
    REAL(mf_Quadrotor, yaw_rate_bandwidth, 0, "rad/s", 1e-3, 1e4,
           "bandwidth of the body-rate loop, yaw"),
    REAL(mf_Quadrotor, rate_integral, 0, "1/s", 0, 1e3,
           "share of the rate error that is integrated per second"),
    REAL(mf_Quadrotor, rate_lead, 0, "1", 0, 100,
           "lead of the thrust command that compensates the motor lag (derivative term): 1 = none, "
           "0 = computed: max(1, 3 * rate_bandwidth * motor_time_constant)"),
    REAL(mf_Quadrotor, attitude_bandwidth, 0, "rad/s", 1e-3, 1e4, "bandwidth of the tilt loop"),
    REAL(mf_Quadrotor, yaw_bandwidth, 0, "rad/s", 1e-3, 1e4, "bandwidth of the heading loop"),
    REAL(mf_Quadrotor, velocity_bandwidth, 0, "rad/s", 1e-3, 1e4,
           "bandwidth of the velocity loop"),
    REAL(mf_Quadrotor, velocity_integral, 0, "1/s", 0, 1e3,
           "share of the velocity error integrated per second"),
    REAL(mf_Quadrotor, position_bandwidth, 0, "rad/s", 1e-3, 1e4,
           "bandwidth of the position loop"),
    REAL(mf_Quadrotor, rate_max, 0, "rad/s", 1e-3, 1e3, "largest commanded roll and pitch rate"),
    REAL(mf_Quadrotor, yaw_rate_max, 0, "rad/s", 1e-3, 1e3, "largest commanded yaw rate"),
    REAL(mf_Quadrotor, tilt_max, 0, "rad", 0.01, 1.4,
           "largest tilt of the velocity and position loops"),
    REAL(mf_Quadrotor, speed_max, 0, "m/s", 1e-3, 1e3, "largest commanded horizontal speed"),
    REAL(mf_Quadrotor, climb_max, 0, "m/s", 1e-3, 1e3, "largest commanded vertical speed"),
};

static const mf_Key fixed_wing_keys[] = {
    REAL(mf_FixedWing, mass, MF_KEY_REQUIRED, "kg", 1e-3, 1e6, "mass"),
    REAL(mf_FixedWing, inertia_xx, MF_KEY_REQUIRED, "kg m^2", 1e-9, 1e12,
           "about the forward axis"),
    REAL(mf_FixedWing, inertia_yy, MF_KEY_REQUIRED, "kg m^2", 1e-9, 1e12,
           "about the axis through the wings"),
    REAL(mf_FixedWing, inertia_zz, MF_KEY_REQUIRED, "kg m^2", 1e-9, 1e12,
           "about the vertical axis"),
    REAL(mf_FixedWing, inertia_xz, 0, "kg m^2", -1e12, 1e12,
           "integral of x z dm, x forward and z down; the book's J_xz"),
    REAL(mf_FixedWing, radius, 0, "m", 1e-6, 1e4, "radius of the collision sphere"),
    REAL(mf_FixedWing, clearance, 0, "m", 0, 1e4,
           "height of the center of mass above the ground when it stands"),
    REAL(mf_FixedWing, air_density, 0, "kg/m^3", 0, 100,
           "density of the air; 0: only gravity acts"),
    REAL(mf_FixedWing, wing_area, 0, "m^2", 1e-6, 1e6, "area of the wing"),
    REAL(mf_FixedWing, wing_span, 0, "m", 1e-3, 1e4, "span of the wing"),
    REAL(mf_FixedWing, wing_chord, 0, "m", 1e-3, 1e4, "mean aerodynamic chord"),
    REAL(mf_FixedWing, oswald, 0, "1", 0.1, 1.5, "span efficiency, for drag: polar"),
    MF_KEY("drag", MF_KEY_CHOICE, 0, "", NULL, 0, 0, drags, offsetof(mf_FixedWing, drag),
           "`polar`: drag_parasitic + lift^2 / (pi oswald aspect ratio); `linear`: drag_zero + "
           "drag_alpha * angle of attack"),

    REAL(mf_FixedWing, drag_parasitic, 0, "1", 0, 1e3, "drag without lift, for drag: polar"),
    REAL(mf_FixedWing, drag_zero, 0, "1", -1e3, 1e3, "for drag: linear"),
    REAL(mf_FixedWing, drag_alpha, 0, "1/rad", -1e3, 1e3, "for drag: linear"),
    REAL(mf_FixedWing, drag_q, 0, "1", -1e3, 1e3, "drag per pitch rate"),
    REAL(mf_FixedWing, drag_elevator, 0, "1/rad", -1e3, 1e3, "drag per elevator"),
    REAL(mf_FixedWing, lift_zero, 0, "1", -1e3, 1e3, "lift at no angle"),
    REAL(mf_FixedWing, lift_alpha, 0, "1/rad", 1e-3, 1e3, "lift per angle of attack"),
    REAL(mf_FixedWing, lift_q, 0, "1", -1e3, 1e3, "lift per pitch rate"),
    REAL(mf_FixedWing, lift_elevator, 0, "1/rad", -1e3, 1e3, "lift per elevator"),
    REAL(mf_FixedWing, stall_angle, 0, "rad", 0.05, 1.5,
           "angle of attack at which lift changes to that of a flat plate"),
    REAL(mf_FixedWing, stall_sharpness, 0, "1", 1, 500,
           "sharpness of the change of lift at the stall"),
    REAL(mf_FixedWing, pitch_zero, 0, "1", -1e3, 1e3, "pitching moment at no angle"),
    REAL(mf_FixedWing, pitch_alpha, 0, "1/rad", -1e3, -1e-6,
           "pitching moment per angle of attack; below 0 is stable"),
    REAL(mf_FixedWing, pitch_q, 0, "1", -1e3, 1e3, "pitching moment per pitch rate"),
    REAL(mf_FixedWing, pitch_elevator, 0, "1/rad", -1e3, 1e3,
           "pitching moment per elevator; not 0"),
    REAL(mf_FixedWing, side_zero, 0, "1", -1e3, 1e3, "side force at no angle"),
    REAL(mf_FixedWing, side_beta, 0, "1/rad", -1e3, 1e3, "side force per sideslip"),
    REAL(mf_FixedWing, side_p, 0, "1", -1e3, 1e3, "side force per roll rate"),
    REAL(mf_FixedWing, side_r, 0, "1", -1e3, 1e3, "side force per yaw rate"),
    REAL(mf_FixedWing, side_aileron, 0, "1/rad", -1e3, 1e3, "side force per aileron"),
    REAL(mf_FixedWing, side_rudder, 0, "1/rad", -1e3, 1e3, "side force per rudder"),
    REAL(mf_FixedWing, roll_zero, 0, "1", -1e3, 1e3, "rolling moment at no angle"),
    REAL(mf_FixedWing, roll_beta, 0, "1/rad", -1e3, 1e3, "rolling moment per sideslip"),
    REAL(mf_FixedWing, roll_p, 0, "1", -1e3, 1e3, "rolling moment per roll rate"),
    REAL(mf_FixedWing, roll_r, 0, "1", -1e3, 1e3, "rolling moment per yaw rate"),
    REAL(mf_FixedWing, roll_aileron, 0, "1/rad", -1e3, 1e3, "rolling moment per aileron; not 0"),
    REAL(mf_FixedWing, roll_rudder, 0, "1/rad", -1e3, 1e3, "rolling moment per rudder"),
    REAL(mf_FixedWing, yaw_zero, 0, "1", -1e3, 1e3, "yawing moment at no angle"),
    REAL(mf_FixedWing, yaw_beta, 0, "1/rad", -1e3, 1e3, "yawing moment per sideslip"),
    REAL(mf_FixedWing, yaw_p, 0, "1", -1e3, 1e3, "yawing moment per roll rate"),
    REAL(mf_FixedWing, yaw_r, 0, "1", -1e3, 1e3, "yawing moment per yaw rate"),
    REAL(mf_FixedWing, yaw_aileron, 0, "1/rad", -1e3, 1e3, "yawing moment per aileron"),
    REAL(mf_FixedWing, yaw_rudder, 0, "1/rad", -1e3, 1e3, "yawing moment per rudder"),
    REAL(mf_FixedWing, propeller_diameter, 0, "m", 1e-3, 100, "diameter of the propeller"),
    VECTOR(mf_FixedWing, propeller_thrust, 3, 0, "1", -1e3, 1e3,
           "C_T in powers of the advance ratio 0, 1, 2"),
    VECTOR(mf_FixedWing, propeller_torque, 3, 0, "1", -1e3, 1e3, "C_Q in powers 0 (> 0), 1, 2"),
    REAL(mf_FixedWing, battery_voltage, 0, "V", 1e-3, 1e5, "voltage at full throttle"),
    REAL(mf_FixedWing, motor_speed_constant, 0, "rad/s/V", 1e-3, 1e6, "speed per voltage"),
    REAL(mf_FixedWing, motor_resistance, 0, "V/A", 1e-6, 1e6, "resistance of the winding"),
    REAL(mf_FixedWing, motor_no_load_current, 0, "A", 0, 1e5, "current without load"),
    REAL(mf_FixedWing, elevator_limit, 0, "rad", 0, 1.5, "largest angle of the elevator"),
    REAL(mf_FixedWing, aileron_limit, 0, "rad", 0, 1.5, "largest angle of the ailerons"),
    REAL(mf_FixedWing, rudder_limit, 0, "rad", 0, 1.5, "largest angle of the rudder"),
    REAL(mf_FixedWing, airspeed_min, 0, "m/s", 1e-3, 1e3,
           "lowest airspeed that can be commanded"),
    REAL(mf_FixedWing, airspeed_max, 0, "m/s", 1e-3, 1e3,
           "highest airspeed that can be commanded; above airspeed_min"),
    REAL(mf_FixedWing, airspeed_design, 0, "m/s", 1e-3, 1e3,
           "airspeed for which gains are computed; from airspeed_min to airspeed_max"),
    REAL(mf_FixedWing, roll_limit, 0, "rad", 0.05, 1.3, "largest roll of the autopilot"),
    REAL(mf_FixedWing, pitch_limit, 0, "rad", 0.05, 1, "largest pitch of the autopilot"),
    REAL(mf_FixedWing, altitude_zone, 0, "m", 1e-3, 1e5,
           "errors of altitude are limited to this"),
    REAL(mf_FixedWing, roll_frequency, 0, "rad/s", 1e-3, 1e4, "bandwidth of the roll loop"),
    REAL(mf_FixedWing, roll_damping, 0, "1", 1e-3, 100, "damping of the roll loop"),
    REAL(mf_FixedWing, course_separation, 0, "1", 2, 1e4, "roll bandwidth / course bandwidth"),
    REAL(mf_FixedWing, course_damping, 0, "1", 1e-3, 100, "damping of the course loop"),
    REAL(mf_FixedWing, pitch_frequency, 0, "rad/s", 1e-3, 1e4, "bandwidth of the pitch loop"),
    REAL(mf_FixedWing, pitch_damping, 0, "1", 1e-3, 100, "damping of the pitch loop"),
    REAL(mf_FixedWing, altitude_separation, 0, "1", 2, 1e4,
           "pitch bandwidth / altitude bandwidth"),
    REAL(mf_FixedWing, altitude_damping, 0, "1", 1e-3, 100, "damping of the altitude loop"),
    REAL(mf_FixedWing, airspeed_frequency, 0, "rad/s", 1e-3, 1e4,
           "bandwidth of the airspeed loop"),
    REAL(mf_FixedWing, airspeed_damping, 0, "1", 1e-3, 100, "damping of the airspeed loop"),
    REAL(mf_FixedWing, yaw_damper_gain, 0, "s", 0, 1e3, "rudder per yaw rate"),
    REAL(mf_FixedWing, yaw_damper_washout, 0, "rad/s", 1e-6, 1e3,
           "corner frequency of the high-pass filter of the yaw rate"),
    REAL(mf_FixedWing, orbit_gain, 0, "1", 1e-3, 1e3, "gain of the course towards the orbit"),
};

static const mf_Key car_keys[] = {
    REAL(mf_Car, mass, MF_KEY_REQUIRED, "kg", 1e-6, 1e6, "mass"),
    REAL(mf_Car, yaw_inertia, MF_KEY_REQUIRED, "kg m^2", 1e-12, 1e9,
           "about the vertical axis through the center of mass"),
    REAL(mf_Car, front, 0, "m", 0, 100, "center of mass to front axle; front + rear > 0"),
    REAL(mf_Car, rear, 0, "m", 0, 100, "center of mass to rear axle"),
    REAL(mf_Car, height, 0, "m", 0, 100, "center of mass above the ground"),
    REAL(mf_Car, radius, 0, "m", 1e-6, 100, "radius of the collision sphere"),
    REAL(mf_Car, rotating_mass, 0, "kg", 0, 1e6, "equivalent mass of the inertia of the wheels"),
    REAL(mf_Car, front_b, 0, "1/rad", 1e-6, 1e3, "tire stiffness factor, front axle"),
    REAL(mf_Car, front_c, 0, "1", 1e-6, 2, "tire shape factor, front axle"),
    REAL(mf_Car, front_d, 0, "N", 1e-9, 1e9, "largest lateral force of the front axle at rest"),
    REAL(mf_Car, front_e, 0, "1", -10, 1, "tire curvature factor, front axle"),
    REAL(mf_Car, rear_b, 0, "1/rad", 1e-6, 1e3, "tire stiffness factor, rear axle"),
    REAL(mf_Car, rear_c, 0, "1", 1e-6, 2, "tire shape factor, rear axle"),
    REAL(mf_Car, rear_d, 0, "N", 1e-9, 1e9, "largest lateral force of the rear axle at rest"),
    REAL(mf_Car, rear_e, 0, "1", -10, 1, "tire curvature factor, rear axle"),
    REAL(mf_Car, motor, 0, "N", 1e-9, 1e9, "drive force at full duty at rest (Cm1)"),
    REAL(mf_Car, motor_slope, 0, "N s/m", 0, 1e9, "decrease of the drive force with speed (Cm2)"),
    REAL(mf_Car, brake, 0, "N", 0, 1e9, "largest brake force; 0: the motor brakes"),
    REAL(mf_Car, rolling, 0, "N", 0, 1e9, "rolling resistance (Cr0)"),
    REAL(mf_Car, drag, 0, "N s^2/m^2", 0, 1e6, "air drag per squared speed (Cr2)"),
    REAL(mf_Car, downforce, 0, "N s^2/m^2", 0, 1e6,
           "aerodynamic load per squared speed, distributed over the axles like weight"),
    REAL(mf_Car, ellipse, 0, "1", 0, 100,
           "limit of the combined drive and lateral force of the rear tire, in units of rear_d; 0: "
           "no limit"),
    REAL(mf_Car, ellipse_long, 0, "1", 1e-3, 1e3, "weight of the drive force in that limit"),
    REAL(mf_Car, steering_limit, 0, "rad", 1e-3, 1.4,
           "largest steering angle of the front wheel"),
    REAL(mf_Car, steering_rate, 0, "rad/s", 1e-6, 1e6, "fastest steering"),
    REAL(mf_Car, steering_lag, 0, "s", 0, 100,
           "time constant of the steering; 0 or at least the step"),
    REAL(mf_Car, blend_low, 0, "m/s", 1e-6, 1e3, "kinematic below this speed"),
    REAL(mf_Car, blend_high, 0, "m/s", 1e-6, 1e4, "dynamic above this speed; above blend_low"),
    REAL(mf_Car, speed_limit, 0, "m/s", 1e-6, 1e3, "largest commanded speed"),
    REAL(mf_Car, acceleration, 0, "m/s^2", 1e-6, 1e4,
           "largest acceleration command of the speed loop"),
    REAL(mf_Car, braking, 0, "m/s^2", 1e-6, 1e4,
           "largest deceleration command of the speed loop"),
    REAL(mf_Car, speed_gain, 0, "1/s", 1e-6, 1e4, "speed loop, proportional"),
    REAL(mf_Car, speed_integral, 0, "1/s^2", 0, 1e6, "speed loop, integral"),
    REAL(mf_Car, look_ahead_time, 0, "s", 0, 100, "look-ahead distance per speed"),
    REAL(mf_Car, look_ahead_least, 0, "m", 1e-6, 1e4, "shortest look-ahead distance"),
    REAL(mf_Car, look_ahead_most, 0, "m", 1e-6, 1e4, "longest look-ahead distance"),
    REAL(mf_Car, stop_distance, 0, "m", 1e-6, 1e3,
           "distance at which a waypoint counts as reached"),
};
// clang-format on

static void start_quadrotor(void *base) {
    *(mf_Quadrotor *)base = mf_quadrotor();
}

static void start_fixed_wing(void *base) {
    *(mf_FixedWing *)base = mf_fixed_wing();
}

static void start_car(void *base) {
    *(mf_Car *)base = mf_car();
}

const mf_KeyTable *mf_vehicle_table(mf_VehicleKind kind) {
    static const mf_KeyTable tables[] = {
        {MF_KEY_ROWS("quadrotor", quadrotor_keys, mf_Quadrotor), .start = start_quadrotor},
        {MF_KEY_ROWS("fixed_wing", fixed_wing_keys, mf_FixedWing), .start = start_fixed_wing},
        {MF_KEY_ROWS("car", car_keys, mf_Car), .start = start_car},
    };
    return &tables[kind];
}

const void *mf_vehicle_parameters(const mf_Group *group, mf_VehicleKind kind) {
    static const struct {
        const mf_MotionRow *row;
        size_t offset; // [byte] in the motion's plan
    } plans[] = {
        [MF_VEHICLE_QUADROTOR] = {&mf_quadrotor_row, offsetof(mf_QuadrotorMotion, parameters)},
        [MF_VEHICLE_FIXED_WING] = {&mf_fixed_wing_row, offsetof(mf_WingMotion, parameters)},
        [MF_VEHICLE_CAR] = {&mf_car_row, offsetof(mf_CarMotion, car)},
    };
    const char *plan = mf_motion_plan(group, plans[kind].row);
    return plan != NULL ? plan + plans[kind].offset : NULL;
}

static bool is_number(const mf_Key *key) {
    return key->kind == MF_KEY_REAL || key->kind == MF_KEY_VECTOR;
}

mf_Status mf_vehicle_check_ranges(mf_VehicleKind kind, const void *parameters, mf_Error *error) {
    const mf_KeyTable *table = mf_vehicle_table(kind);
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_Key *key = &table->keys[i];
        const char *unit = strcmp(key->unit, "1") != 0 ? key->unit : "";
        for (uint32_t c = 0; is_number(key) && c < key->length; c++) {
            double value;
            memcpy(&value, (const char *)parameters + key->offset + c * sizeof value, sizeof value);
            if (value >= key->lower && value <= key->upper)
                continue;
            char index[16] = "";
            if (key->kind == MF_KEY_VECTOR)
                snprintf(index, sizeof index, "[%u]", c);
            return mf_fail(error, MF_BAD_ARGUMENT, "%s.%s%s: %g, need %g .. %g%s%s", table->noun,
                           key->path, index, value, key->lower, key->upper,
                           *unit != '\0' ? " " : "", unit);
        }
    }
    return MF_OK;
}
