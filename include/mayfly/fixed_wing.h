// Mayfly: fixed-wing aircraft, the model and autopilot of Beard and McLain, "Small Unmanned
// Aircraft: Theory and Practice" (2012), with the propulsion of the second edition. Equations,
// frames and sources: docs/explanation/vehicles.md.
//
// Frames: the book uses north-east-down and forward-right-down axes; every field and command here
// is in Mayfly's world (east, north, up) and body (forward, left, up) axes instead. Two quantities
// keep the book's sign conventions: the aerodynamic coefficients (about forward-right-down axes)
// and the surfaces (elevator and rudder trailing edge down and left, aileron right wing down, are
// positive).
#pragma once

#include <mayfly/vehicle.h>

typedef enum mf_FixedWingDrag {
    MF_DRAG_POLAR, // C_D = drag_parasitic + C_L(alpha)^2 / (pi oswald aspect ratio)
    MF_DRAG_LINEAR // C_D = drag_zero + drag_alpha alpha
} mf_FixedWingDrag;

// An aircraft, its limits and the design values of its autopilot. Angles of attack and sideslip,
// rates and moments are about forward-right-down axes; rates enter as p b/(2 V), q c/(2 V),
// r b/(2 V), relative to the air. The default is the Aerosonde with polar drag and the autopilot
// measured in docs/studies/vehicles.md.
typedef struct mf_FixedWing {
    uint32_t struct_size; // [byte] set by mf_motions_config()

    double mass;       // [kg] 1e-3 .. 1e6
    double inertia_xx; // [kg m^2] > 0
    double inertia_yy; // [kg m^2] > 0
    double inertia_zz; // [kg m^2] > 0
    double inertia_xz; // [kg m^2] integral of x z dm, x forward and z down; the book's J_xz
    double radius;     // [m] > 0 of the collision sphere
    double clearance;  // [m] >= 0 from the center of mass to the ground where it stands

    double air_density; // [kg/m^3] 0 .. 100; 0 leaves only gravity
    double wing_area;   // [m^2] > 0
    double wing_span;   // [m] > 0
    double wing_chord;  // [m] > 0 mean aerodynamic chord
    double oswald;      // [1] 0.1 .. 1.5 efficiency of the span, for MF_DRAG_POLAR

    mf_FixedWingDrag drag; // which drag; default MF_DRAG_POLAR
    double drag_parasitic; // [1] >= 0, MF_DRAG_POLAR
    double drag_zero;      // [1] MF_DRAG_LINEAR
    double drag_alpha;     // [1/rad] MF_DRAG_LINEAR
    double drag_q;         // [1]
    double drag_elevator;  // [1/rad]

    double lift_zero;       // [1]
    double lift_alpha;      // [1/rad] > 0
    double lift_q;          // [1]
    double lift_elevator;   // [1/rad]
    double stall_angle;     // [rad] 0.05 .. 1.5, where lift changes to that of a flat plate
    double stall_sharpness; // [1] 1 .. 500 of that change

    double pitch_zero;     // [1]
    double pitch_alpha;    // [1/rad] < 0: stable
    double pitch_q;        // [1]
    double pitch_elevator; // [1/rad] not 0

    double side_zero;    // [1]
    double side_beta;    // [1/rad]
    double side_p;       // [1]
    double side_r;       // [1]
    double side_aileron; // [1/rad]
    double side_rudder;  // [1/rad]

    double roll_zero;    // [1]
    double roll_beta;    // [1/rad]
    double roll_p;       // [1]
    double roll_r;       // [1]
    double roll_aileron; // [1/rad] not 0
    double roll_rudder;  // [1/rad]

    double yaw_zero;    // [1]
    double yaw_beta;    // [1/rad]
    double yaw_p;       // [1]
    double yaw_r;       // [1]
    double yaw_aileron; // [1/rad]
    double yaw_rudder;  // [1/rad]

    double propeller_diameter;    // [m] > 0
    double propeller_thrust[3];   // [1] C_T in powers of the advance ratio 0, 1, 2
    double propeller_torque[3];   // [1] C_Q in powers 0 (> 0), 1, 2
    double battery_voltage;       // [V] > 0 at full throttle
    double motor_speed_constant;  // [rad/s/V] > 0
    double motor_resistance;      // [V/A] > 0
    double motor_no_load_current; // [A] >= 0
    double elevator_limit;        // [rad] 0 .. 1.5
    double aileron_limit;         // [rad] 0 .. 1.5
    double rudder_limit;          // [rad] 0 .. 1.5
    double airspeed_min;          // [m/s] > 0, lowest airspeed that can be commanded
    double airspeed_max;          // [m/s] > airspeed_min
    double airspeed_design;       // [m/s] airspeed_min .. airspeed_max, where gains are computed
    double roll_limit;            // [rad] 0.05 .. 1.3 of the autopilot
    double pitch_limit;           // [rad] 0.05 .. 1.0 of the autopilot
    double altitude_zone;         // [m] > 0, errors of altitude are limited to this
    double roll_frequency;        // [rad/s] > 0 bandwidth of the roll loop
    double roll_damping;          // [1] > 0
    double course_separation;     // [1] >= 2, roll bandwidth / course bandwidth
    double course_damping;        // [1] > 0
    double pitch_frequency;       // [rad/s] > 0
    double pitch_damping;         // [1] > 0
    double altitude_separation;   // [1] >= 2, pitch bandwidth / altitude bandwidth
    double altitude_damping;      // [1] > 0
    double airspeed_frequency;    // [rad/s] > 0
    double airspeed_damping;      // [1] > 0
    double yaw_damper_gain;       // [s] rudder per yaw rate
    double yaw_damper_washout;    // [rad/s] > 0, corner frequency of the high-pass filter of the
                                  // yaw rate
    double orbit_gain;            // [1] > 0, gain of the course towards the orbit
} mf_FixedWing;

// ---- trim ---------------------------------------------------------------------------------------

// Steady flight: no acceleration, no sideslip, constant airspeed, climb and turn.
typedef struct mf_FixedWingTrim {
    double alpha;    // [rad] angle of attack
    double roll;     // [rad] right wing down is positive
    double pitch;    // [rad] nose up is positive
    double elevator; // [rad]
    double aileron;  // [rad]
    double rudder;   // [rad]
    double throttle; // [1] 0 .. 1
    double rate[3];  // [rad/s] body axes: forward, left, up
    double thrust;   // [N]
    double residual; // [1] largest residual acceleration, in units of g and g/m
} mf_FixedWingTrim;

// Computes the trim for an airspeed [m/s] > 0, a climb angle [rad] within +-1.2, a signed radius of
// turn [m] over ground in calm air (positive: left, as an orbit's; INFINITY or 0: straight ahead)
// and gravity [m/s^2] > 0. MF_NOT_FOUND if no throttle of 0 .. 1 and no surfaces within their
// limits give it; `out` is then unchanged.
MF_API mf_Status mf_fixed_wing_trim(const mf_FixedWing *parameters, double airspeed, double climb,
                                    double radius, double gravity, mf_FixedWingTrim *out,
                                    mf_Error *error);

// ---- motion -------------------------------------------------------------------------------------

typedef enum mf_FixedWingCommand {
    MF_FIXED_WING_SURFACES,  // command.elevator, .aileron, .rudder [rad], .throttle 0 .. 1
    MF_FIXED_WING_AUTOPILOT, // command.airspeed [m/s], .altitude [m], .course [rad]
    MF_FIXED_WING_ORBIT      // command.airspeed, .altitude, .center [m], .radius [m]
} mf_FixedWingCommand;

// Gusts by the Dryden model: white noise through first-order (forward) and second-order (left, up)
// filters, for a nominal airspeed. Zero intensities are calm.
typedef struct mf_Dryden {
    double length[3];    // [m] > 0 scale along the body's forward, left and up axes
    double intensity[3]; // [m/s] >= 0 standard deviation along the same
    double airspeed;     // [m/s] > 0 nominal
} mf_Dryden;

typedef enum mf_Turbulence { // Beard and McLain, table 4.1
    MF_TURBULENCE_NONE,
    MF_TURBULENCE_LOW_LIGHT,      // 50 m
    MF_TURBULENCE_LOW_MODERATE,   // 50 m
    MF_TURBULENCE_MEDIUM_LIGHT,   // 600 m
    MF_TURBULENCE_MEDIUM_MODERATE // 600 m
} mf_Turbulence;

// The group's model must have the mass of the parameters (mf_motion_model).
//
// Fields in addition to the canonical ones: command.* of the command mode, command.accepted (the
// active command, in the order above, SI units), command.refused (number of rejected commands),
// surface.angle (elevator, aileron, rudder [rad]), motor.throttle, autopilot.memory, wind.velocity
// [m/s], with gusts gust.state and gust.velocity (body), and air.speed, air.alpha, air.beta as
// outputs.
//
// Commands are rejected, all of an agent's together, if one is not finite or out of range: surfaces
// within their limits, throttle 0 .. 1, airspeed within airspeed_min .. airspeed_max, altitude
// within +-1e5 m, course within +-1000 rad (east is 0, north pi/2), center within 1e6 m, |radius| 1
// m .. 1e6 m (positive: counterclockwise seen from above).
//
// A reset puts the agent into trimmed flight at start_airspeed along its initial heading, through
// the wind, with commands that continue this flight (an orbit: of 200 m to the left); an agent that
// was placed with a velocity keeps it. External wrenches (mayfly/collision.h) act as impulses at
// the beginning of a step.
typedef struct mf_FixedWingConfig {
    uint32_t struct_size;        // [byte] set by mf_motions_config()
    mf_FixedWingCommand command; // default MF_FIXED_WING_AUTOPILOT
    mf_Integrator integrator;    // default MF_INTEGRATOR_RK4
    mf_Time control_interval;    // [ns] a multiple of the step; default 10 ms; 0 = every step
    mf_Dryden gusts;             // default calm
    mf_Turbulence turbulence;    // other than the default NONE, it sets gusts, as mf_dryden() gives
                                 // them at airspeed_design
    double start_airspeed;       // [m/s] > 0, agents start trimmed; default airspeed_design (0)
    double start_altitude;       // [m] agents that would start lower start at this altitude; 100
} mf_FixedWingConfig;
