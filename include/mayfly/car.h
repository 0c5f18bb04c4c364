// Mayfly: cars. A kinematic and a dynamic bicycle with Pacejka tires on the ground, and the loops
// that drive it. Equations, frames and sources: docs/explanation/vehicles.md.
#pragma once

#include <mayfly/vehicle.h>

// Steering model.
typedef enum mf_CarModel {
    MF_CAR_KINEMATIC, // wheels never slip sideways
    MF_CAR_DYNAMIC,   // tire forces at every speed; slip is softened below blend_low
    MF_CAR_BLENDED    // kinematic below blend_low, dynamic above blend_high, linear between
} mf_CarModel;

// Lateral force of an axle from the slip angle s.
typedef enum mf_CarTire {
    MF_CAR_TIRE_PACEJKA,   // D sin(C atan(B s))
    MF_CAR_TIRE_CURVATURE, // D sin(C atan(B s (1 - E) + E atan(B s)))
    MF_CAR_TIRE_LINEAR     // B C D s
} mf_CarTire;

// Command mode; determines the command.* fields of the group.
typedef enum mf_CarCommand {
    MF_CAR_COMMAND_DRIVE,   // command.steering, command.duty, command.brake
    MF_CAR_COMMAND_SPEED,   // command.speed, command.steering
    MF_CAR_COMMAND_CIRCLE,  // command.speed, command.circle: drive around a circle
    MF_CAR_COMMAND_LINE,    // command.speed, command.line: drive along a straight line
    MF_CAR_COMMAND_PATH,    // command.speed: drive along the group's path, see mf_car_set_path()
    MF_CAR_COMMAND_WAYPOINT // command.speed, command.waypoint: drive to a point and stop there
} mf_CarCommand;

// The parameters of a car, by default the ORCA 1:43. All three sets with their sources:
// models/car_*.yaml.
typedef struct mf_Car {
    uint32_t struct_size; // [byte] set by mf_motions_config()
    double mass;          // [kg] 1e-6 .. 1e6
    double yaw_inertia;   // [kg m^2] > 0, about the vertical axis through the center of mass
    double front;         // [m] >= 0, center of mass to front axle; front + rear > 0
    double rear;          // [m] >= 0, center of mass to rear axle
    double height;        // [m] >= 0, center of mass above the ground
    double radius;        // [m] > 0, of the sphere about it; its collision shape is the upright
                          // cylinder in it, from the ground to twice the height
    double rotating_mass; // [kg] >= 0, equivalent mass of the inertia of the wheels
    double front_b;       // [1/rad] > 0, tire stiffness factor, front axle
    double front_c;       // [1] 0 < C <= 2, tire shape factor, front axle
    double front_d;       // [N] > 0, largest lateral force of the front axle at rest
    double front_e;       // [1] -10 .. 1, tire curvature factor, front axle
    double rear_b;        // [1/rad] > 0, as front_b
    double rear_c;        // [1] 0 < C <= 2
    double rear_d;        // [N] > 0
    double rear_e;        // [1] -10 .. 1
    double motor;         // [N] > 0, drive force at full duty at rest (Cm1)
    double motor_slope;   // [N s/m] >= 0, decrease of the drive force with speed (Cm2)
    double brake;         // [N] >= 0, largest brake force; 0: the motor brakes
    double rolling;       // [N] >= 0, rolling resistance (Cr0)
    double drag;          // [N s^2/m^2] >= 0, air drag per squared speed (Cr2)
    double downforce;     // [N s^2/m^2] >= 0, aerodynamic load per squared speed, distributed
                          // like weight
    double ellipse; // [1] >= 0, limit of the combined drive and lateral force of the rear tire, in
                    // rear_d; 0: no limit
    double ellipse_long;     // [1] > 0, weight of the drive force in that limit
    double steering_limit;   // [rad] 0 .. 1.4, largest steering angle of the front wheel
    double steering_rate;    // [rad/s] > 0, fastest steering
    double steering_lag;     // [s] >= 0, time constant of the steering; 0 or at least the step
    double blend_low;        // [m/s] > 0, kinematic below
    double blend_high;       // [m/s] > blend_low, dynamic above
    double speed_limit;      // [m/s] > 0, largest commanded speed
    double acceleration;     // [m/s^2] > 0, largest acceleration command of the speed loop
    double braking;          // [m/s^2] > 0, largest deceleration command of the speed loop
    double speed_gain;       // [1/s] > 0, speed loop, proportional
    double speed_integral;   // [1/s^2] >= 0, speed loop, integral
    double look_ahead_time;  // [s] >= 0, look-ahead distance per speed
    double look_ahead_least; // [m] > 0
    double look_ahead_most;  // [m] >= look_ahead_least
    double stop_distance;    // [m] > 0, distance at which a waypoint counts as reached
} mf_Car;

// mf_motion_add adds the fields car.*, command.* and wind.velocity and one system, and places the
// cars on the ground. External wrenches (mayfly/collision.h) act in the plane of the ground; their
// normal component loads the tires. Fails if the step is too long for the tires.
//
// A command that is not finite or out of range is rejected: the last valid one (command.accepted)
// remains active, and command.refused increases by one at each control tick. Ranges: steering
// within the limit, duty -1 .. 1, brake 0 .. 1, speed within the limit (negative, backwards, in
// mode `speed` only), positions within 1e6 m, a circle's radius at least one wheelbase; positive:
// to the left, counterclockwise.
typedef struct mf_CarConfig {
    uint32_t struct_size;     // [byte] set by mf_motions_config()
    mf_CarModel model;        // default MF_CAR_BLENDED
    mf_CarTire tire;          // default MF_CAR_TIRE_PACEJKA
    mf_Integrator integrator; // default MF_INTEGRATOR_RK4
    mf_CarCommand command;    // default MF_CAR_COMMAND_SPEED
    mf_Time control_interval; // [ns] period of reading commands and of the control loops; a
                              // multiple of the step; default 0: every step
} mf_CarConfig;
