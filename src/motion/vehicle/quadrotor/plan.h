// The data of a vehicle and the settings for the quadrotor kernels: a flat image, constant after
// the first step and shared by all threads.
#pragma once

#include <mayfly/quadrotor.h>

#include "math/kernel.h"

// The constants, in both precisions. "Lift" is twice the thrust per mass, because a quaternion
// gives half the direction of the thrust.
enum {
    MF_QUAD_STEP,              // [s] h
    MF_QUAD_SHARE,             // [s] h times the weight of the first stage
    MF_QUAD_ROTATION_SHARE,    // [s] half of it
    MF_QUAD_LEAN,              // [s^2] h^2 times how much the first stage moves the position
    MF_QUAD_NODE,              // [s] 4 values: h times where stage s is evaluated
    MF_QUAD_ROTATION_NODE = 8, // [s] 4 values: half of it
    MF_QUAD_LAG = 12,          // [1] 5 values: rest of a speed error at stage 0 .. 3 and the end
    MF_QUAD_GRAVITY = 17,      // [m/s^2] -g
    MF_QUAD_LIFT,              // [m] 2 kt / m
    MF_QUAD_TORQUE, // [1] 12 values: angular acceleration per squared speed, axis after axis
    MF_QUAD_GYRO =
        31, // [1] 3 values: angular acceleration per product of two rates, diagonal inertia
    MF_QUAD_INERTIA = 34,        // [kg m^2] 6 values
    MF_QUAD_INVERSE = 40,        // [1/(kg m^2)] 6 values
    MF_QUAD_INVERSE_MASS = 46,   // [1/kg]
    MF_QUAD_ROTOR_X,             // [m] 4 values
    MF_QUAD_ROTOR_Y = 51,        // [m] 4 values
    MF_QUAD_ROTOR_DRAG = 55,     // 3 values
    MF_QUAD_BODY_DRAG = 58,      // 3 values
    MF_QUAD_POSITION_MOST = 61,  // [m^2] squared range of the position
    MF_QUAD_SPEED_MOST,          // [m^2/s^2]
    MF_QUAD_RATE_MOST,           // [rad^2/s^2]
    MF_QUAD_ROTOR_LOW,           // [rad/s]
    MF_QUAD_ROTOR_HIGH,          // [rad/s]
    MF_QUAD_SQUARE_LOW,          // [rad^2/s^2]
    MF_QUAD_SQUARE_HIGH,         // [rad^2/s^2]
    MF_QUAD_MIX,                 // 16 values: squared speed of rotor i per lift, roll, pitch, yaw
    MF_QUAD_MIX_LIFT = 84,       // 4 values: 1 / MIX[i][0]
    MF_QUAD_MIX_YAW = 88,        // 4 values: 1 / MIX[i][3], 0 where yaw does not need rotor i
    MF_QUAD_YAW_LOW = 92,        // 4 values: yaw acceleration that an idle rotor i could still give
    MF_QUAD_YAW_HIGH = 96,       // 4 values
    MF_QUAD_RATE_GAIN = 100,     // [1/s] 3 values
    MF_QUAD_RATE_INTEGRAL = 103, // [1/s] 3 values: gain * share * control interval
    MF_QUAD_RATE_BOUND = 106,    // [rad/s^2] 3 values: bound of the integral
    MF_QUAD_LEAD = 109,          // [1] lead - 1
    MF_QUAD_BOUND_LOW,           // 4 values: range of a command
    MF_QUAD_BOUND_HIGH = 114,    // 4 values
    MF_QUAD_LIFT_PER_FORCE = 118, // [1/kg] 2 / m
    MF_QUAD_LIFT_MOST,            // [m/s^2]
    MF_QUAD_ATTITUDE_GAIN,        // [1/s]
    MF_QUAD_YAW_GAIN,             // [1/s]
    MF_QUAD_RATE_MAX,             // [rad/s]
    MF_QUAD_YAW_RATE_MAX,         // [rad/s]
    MF_QUAD_VELOCITY_GAIN,        // [1/s]
    MF_QUAD_VELOCITY_INTEGRAL,    // [1/s] gain * share * control interval
    MF_QUAD_VELOCITY_BOUND,       // [m/s^2]
    MF_QUAD_POSITION_GAIN,        // [1/s]
    MF_QUAD_SPEED_MAX,            // [m/s]
    MF_QUAD_CLIMB_MAX,            // [m/s]
    MF_QUAD_TILT,                 // [1] tangent of the largest tilt
    MF_QUAD_RISE_LOW,             // [m/s^2] least vertical part of the thrust per mass
    MF_QUAD_RISE_HIGH,            // [m/s^2] most
    MF_QUAD_CONSTANTS             // their number
};

// Data of the fields; a field that the settings do not need is NULL.
typedef struct mf_QuadrotorFields {
    void *position, *orientation, *linear, *angular;
    void *position_low, *orientation_low, *linear_low, *angular_low; // remainders (lane_sum.h)
    void *speed;                                                     // rotor.speed
    void *rotor_command;     // rotor.command, between ticks of the control
    void *demand;            // control.demand, between ticks of the outer loops
    void *rate_integral;     // control.rate_integral
    void *velocity_integral; // control.velocity_integral
    void *command;           // the first values of the command: 3, or 4 rotor speeds
    void *command_last;      // the fourth value: thrust or yaw; NULL for rotor speeds
    void *accepted;          // command.accepted
    void *wind;              // wind.velocity
    uint32_t *refused, *fault;
} mf_QuadrotorFields;

typedef struct mf_QuadrotorPlan {
    uint32_t bytes;
    mf_QuadrotorCommand command;
    mf_Integrator integrator;
    uint32_t interval;       // [1] steps between ticks of the control
    uint32_t outer_interval; // [1] steps between ticks of the loops above the body rates
    bool plain;              // Runge-Kutta, diagonal inertia, rotors with lag, no drag
    bool swift;              // plain, body-rate commands, integral part, control in every step
    bool full_inertia;       // the inertia has products
    bool rotor_drag, body_drag;
    bool integral; // the rate loop has one
    double constants_f64[MF_QUAD_CONSTANTS];
    float constants_f32[MF_QUAD_CONSTANTS];
} mf_QuadrotorPlan;

// Loops that are due in a step.
typedef struct mf_QuadrotorTicks {
    bool control;
    bool outer; // the loops above the body rates; only together with `control`
} mf_QuadrotorTicks;

// Steps the agents first .. first+count-1, rounded up to whole lanes; `first` is a multiple of the
// lanes and no other block is touched than theirs.
MF_KERNEL_COPIES(void, mf_quadrotor_run,
                 (const mf_QuadrotorPlan *plan, const mf_QuadrotorFields *fields, size_t first,
                  size_t count, mf_QuadrotorTicks due));
typedef void (*mf_QuadrotorRunFn)(const mf_QuadrotorPlan *plan, const mf_QuadrotorFields *fields,
                                  size_t first, size_t count, mf_QuadrotorTicks due);
