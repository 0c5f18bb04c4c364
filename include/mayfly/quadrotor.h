// Mayfly: quadrotors. The equations, frames and sources are in docs/explanation/vehicles.md.
#pragma once

#include <mayfly/vehicle.h>

// Parameters of a quadrotor. Body axes: x forward, y left, z up, origin at the center of mass; the
// four rotors lie in the xy plane and push along +z. The default, in mf_motions_config(), is the
// quadrotor of Sun et al. 2022 with gains for quadrotors of any size.
typedef struct mf_Quadrotor {
    uint32_t struct_size; // [byte] set by mf_motions_config()

    double mass;       // [kg] 1e-9 .. 1e9
    double inertia[6]; // [kg m^2] xx, yy, zz, xy, xz, yz about the center of mass, body axes
    double radius;     // [m] > 0 of the collision sphere
    double clearance;  // [m] >= 0 height of the center of mass above the ground when it stands

    double rotor_x[4];         // [m] forward position of each rotor, -1e3 .. 1e3
    double rotor_y[4];         // [m] left position of each rotor, -1e3 .. 1e3
    double rotor_direction[4]; // [1] direction of rotation: +1 counterclockwise seen from above, -1
                               // clockwise; the torque on the body is opposite
    double rotor_speed_min;    // [rad/s] >= 0
    double rotor_speed_max;    // [rad/s] > rotor_speed_min, <= 1e6
    double thrust_coefficient; // [N s^2] > 0: thrust = coefficient * speed^2
    double torque_coefficient; // [N m s^2] > 0: torque = coefficient * speed^2
    double motor_time_constant; // [s] 0 .. 10 of the first-order lag of the rotors' speed; 0 = none
    double rotor_drag[3];       // [N s^2/m] >= 0: force = -speed * drag * air velocity, at
                                // each rotor, body axes; default 0
    double body_drag[3];        // [N s^2/m^2] >= 0: force = -drag * |air velocity| * air velocity,
                                // body axes; default 0

    double rate_bandwidth;     // [rad/s] > 0 of the body-rate loop, roll and pitch
    double yaw_rate_bandwidth; // [rad/s] > 0 of the body-rate loop, yaw
    double rate_integral;      // [1/s] >= 0 share of the rate error that is integrated per second
    double rate_lead;          // [1] lead of the thrust command that compensates the motor lag
                               // (derivative term): 1 = none, 0 = max(1, 3 * rate_bandwidth *
                               // motor_time_constant)
    double attitude_bandwidth; // [rad/s] > 0 of the tilt loop
    double yaw_bandwidth;      // [rad/s] > 0 of the heading loop
    double velocity_bandwidth; // [rad/s] > 0
    double velocity_integral;  // [1/s] >= 0 share of the velocity error integrated per second
    double position_bandwidth; // [rad/s] > 0
    double rate_max;           // [rad/s] > 0 largest commanded roll and pitch rate
    double yaw_rate_max;       // [rad/s] > 0 largest commanded yaw rate
    double tilt_max;           // [rad] 0.01 .. 1.4 of the velocity and position loops
    double speed_max;          // [m/s] > 0 largest commanded horizontal speed
    double climb_max;          // [m/s] > 0 largest commanded vertical speed
} mf_Quadrotor;

// Rotor speeds [rad/s] of hovering; not limited to the rotors' range. The quadrotor must pass
// mf_quadrotor_check(). `gravity` [m/s^2] >= 0.
MF_API void mf_quadrotor_hover(const mf_Quadrotor *quadrotor, double gravity, double speed[4]);

// Command mode of a group. Each mode has four values per agent; if one is not finite or out of its
// range, all four are rejected: the last valid ones (command.accepted) remain active, and
// command.refused increases by one at every tick of the loop that reads them.
typedef enum mf_QuadrotorCommand {
    MF_QUADROTOR_ROTORS,   // command.rotors [rad/s], 0 .. rotor_speed_max each
    MF_QUADROTOR_RATES,    // command.rates [rad/s] body axes, up to rate_max and yaw_rate_max;
                           // command.thrust [N] of all rotors, 0 .. their maximum
    MF_QUADROTOR_ATTITUDE, // command.attitude [rad] roll, pitch, yaw: +-pi, +-pi/2, +-2 pi;
                           // command.thrust [N]
    MF_QUADROTOR_VELOCITY, // command.velocity [m/s] world, +-1e3; command.yaw [rad], +-2 pi
    MF_QUADROTOR_POSITION  // command.position [m] world, +-1e6; command.yaw [rad], +-2 pi
} mf_QuadrotorCommand;

// The group's model must have the quadrotor's mass (mf_motion_model). Adds the fields
// rotor.speed, command.*, control.*, wind.velocity and one system. A reset starts the rotors at
// hover speed, with a command that keeps the agent in place. A speed above 1e4 m/s, a position more
// than 1e7 m away or a rotation by more than one radian per step raises MF_FAULT_RANGE. External
// wrenches (mayfly/collision.h) act as impulses at the beginning of a step.
typedef struct mf_QuadrotorConfig {
    uint32_t struct_size;        // [byte] set by mf_motions_config()
    mf_QuadrotorCommand command; // default MF_QUADROTOR_RATES
    mf_Integrator integrator;    // default MF_INTEGRATOR_RK4
    mf_Time control_interval;    // [ns] between ticks of the control loops, a multiple of the
                                 // world's step; default 0: every step
    mf_Time outer_interval;      // [ns] between ticks of the attitude, velocity and position loops,
                                 // a multiple of control_interval; the thrust and body rates that
    // they command are constant in between; default 0: every tick of the
    // control
} mf_QuadrotorConfig;
