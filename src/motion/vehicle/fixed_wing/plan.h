// The data of an aircraft and the settings for the fixed-wing kernel: a flat image, constant after
// the first step and shared by all threads.
#pragma once

#include <mayfly/fixed_wing.h>

#include "math/kernel.h"

// The constants, in both precisions. Coefficients of rates are those of the book times b/2 or c/2,
// so that they multiply a rate times the airspeed, without division by the airspeed.
enum {
    MF_WING_STEP,            // [s] h
    MF_WING_HALF_STEP,       // [s] h / 2
    MF_WING_SIXTH_STEP,      // [s] h / 6
    MF_WING_SPIN_LIMIT,      // [rad/s] two radians per step
    MF_WING_GRAVITY,         // [m/s^2]
    MF_WING_INVERSE_MASS,    // [1/kg]
    MF_WING_INERTIA_X,       // [kg m^2]
    MF_WING_INERTIA_Y,       // [kg m^2]
    MF_WING_INERTIA_Z,       // [kg m^2]
    MF_WING_INERTIA_XZ,      // [kg m^2] element xz of the tensor in forward-left-up axes
    MF_WING_INVERSE_X,       // [1/(kg m^2)] elements of the inverse tensor
    MF_WING_INVERSE_Y,       // [1/(kg m^2)]
    MF_WING_INVERSE_Z,       // [1/(kg m^2)]
    MF_WING_INVERSE_XZ,      // [1/(kg m^2)]
    MF_WING_HALF_DENSITY,    // [kg/m] rho S / 2
    MF_WING_SPAN,            // [m]
    MF_WING_CHORD,           // [m]
    MF_WING_LIFT_0,          // [1]
    MF_WING_LIFT_ALPHA,      // [1/rad]
    MF_WING_LIFT_Q,          // [m]
    MF_WING_LIFT_ELEVATOR,   // [1/rad]
    MF_WING_DRAG_0,          // [1] drag = 0 + ALPHA alpha + LIFT C_L(alpha)^2, either model
    MF_WING_DRAG_ALPHA,      // [1/rad]
    MF_WING_DRAG_LIFT,       // [1]
    MF_WING_DRAG_Q,          // [m]
    MF_WING_DRAG_ELEVATOR,   // [1/rad]
    MF_WING_STALL_SLOPE,     // [1] M
    MF_WING_STALL_OFFSET,    // [1] M alpha_0
    MF_WING_STALL_NEAR,      // [rad] below it the blend is 1 to the last bit
    MF_WING_STALL_FLOOR,     // [1] exp(-2 M alpha_0)
    MF_WING_PITCH_0,         // [1]
    MF_WING_PITCH_ALPHA,     // [1/rad]
    MF_WING_PITCH_Q,         // [m]
    MF_WING_PITCH_ELEVATOR,  // [1/rad]
    MF_WING_SIDE_0,          // [1] then roll and yaw in the same order
    MF_WING_SIDE_BETA,       // [1/rad]
    MF_WING_SIDE_P,          // [m]
    MF_WING_SIDE_R,          // [m]
    MF_WING_SIDE_AILERON,    // [1/rad]
    MF_WING_SIDE_RUDDER,     // [1/rad]
    MF_WING_ROLL_0,          // [1]
    MF_WING_ROLL_BETA,       // [1/rad]
    MF_WING_ROLL_P,          // [m]
    MF_WING_ROLL_R,          // [m]
    MF_WING_ROLL_AILERON,    // [1/rad]
    MF_WING_ROLL_RUDDER,     // [1/rad]
    MF_WING_YAW_0,           // [1]
    MF_WING_YAW_BETA,        // [1/rad]
    MF_WING_YAW_P,           // [m]
    MF_WING_YAW_R,           // [m]
    MF_WING_YAW_AILERON,     // [1/rad]
    MF_WING_YAW_RUDDER,      // [1/rad]
    MF_WING_MOTOR_DRAG,      // [N m s] K_Q^2 / R
    MF_WING_MOTOR_IDLE,      // [N m] K_Q i_0
    MF_WING_MOTOR_STALL,     // [N m] K_Q V_max / R at full throttle
    MF_WING_MOTOR_ROOT,      // [s/(N m)] 1 / (2 TORQUE_0); 0 without air
    MF_WING_THRUST_0,        // [N s^2] of speed^2
    MF_WING_THRUST_1,        // [N s^2/m] of speed times airspeed
    MF_WING_THRUST_2,        // [N s^2/m^2] of airspeed^2
    MF_WING_TORQUE_0,        // [N m s^2]
    MF_WING_TORQUE_1,        // [N s^2]
    MF_WING_TORQUE_2,        // [N s^2/m]
    MF_WING_ELEVATOR_LIMIT,  // [rad]
    MF_WING_AILERON_LIMIT,   // [rad]
    MF_WING_RUDDER_LIMIT,    // [rad]
    MF_WING_CONTROL_STEP,    // [s]
    MF_WING_TRIM_ELEVATOR,   // [rad] at the design airspeed
    MF_WING_TRIM_AILERON,    // [rad]
    MF_WING_TRIM_RUDDER,     // [rad]
    MF_WING_TRIM_THROTTLE,   // [1]
    MF_WING_TRIM_PITCH,      // [rad]
    MF_WING_ROLL_LIMIT,      // [rad]
    MF_WING_PITCH_LIMIT,     // [rad]
    MF_WING_ALTITUDE_ZONE,   // [m]
    MF_WING_GAIN_ROLL,       // [1] aileron per roll
    MF_WING_GAIN_ROLL_RATE,  // [s]
    MF_WING_GAIN_COURSE,     // [1] roll per course
    MF_WING_GAIN_COURSE_I,   // [1/s]
    MF_WING_GAIN_PITCH,      // [1] elevator per pitch
    MF_WING_GAIN_PITCH_RATE, // [s]
    MF_WING_GAIN_ALTITUDE,   // [rad/m]
    MF_WING_GAIN_ALTITUDE_I, // [rad/(m s)]
    MF_WING_GAIN_AIRSPEED,   // [s/m]
    MF_WING_GAIN_AIRSPEED_I, // [1/m]
    MF_WING_GAIN_YAW_RATE,   // [s]
    MF_WING_WASHOUT,         // [1] share of the yaw rate that the filter takes over in a tick
    MF_WING_GAIN_ORBIT,      // [1]
    MF_WING_COMMAND_LOW,     // 5 values: least of each command
    MF_WING_COMMAND_HIGH = MF_WING_COMMAND_LOW + 5,  // 5 values
    MF_WING_COMMAND_SIZE = MF_WING_COMMAND_HIGH + 5, // 5 values: least of its absolute value
    MF_WING_GUST = MF_WING_COMMAND_SIZE + 5,         // forward, left, up: MF_WING_GUST_VALUES each
    MF_WING_CONSTANTS = MF_WING_GUST + 18
};

// Per axis of the gust filter, for states of unit size (fixed_wing_kernel.c).
enum {
    MF_WING_GUST_KEEP,   // [1] exp(-a T)
    MF_WING_GUST_PASS,   // [1] a T exp(-a T)
    MF_WING_GUST_NOISE1, // [1] into the first state
    MF_WING_GUST_NOISE2, // [1] into the second
    MF_WING_GUST_OUT1,   // [m/s] from the first state
    MF_WING_GUST_OUT2,   // [m/s] from the second
    MF_WING_GUST_VALUES
};

enum { MF_WING_COMMANDS = 5, MF_WING_MEMORIES = 4 };

// The rows of fields that a step touches, in the order of the pointers in mf_WingBlock.
enum {
    MF_WING_ROW_POSITION,
    MF_WING_ROW_ORIENTATION,
    MF_WING_ROW_LINEAR,
    MF_WING_ROW_ANGULAR,
    MF_WING_ROW_ACCEPTED,
    MF_WING_ROW_REFUSED,
    MF_WING_ROW_SURFACE,
    MF_WING_ROW_THROTTLE,
    MF_WING_ROW_MEMORY,
    MF_WING_ROW_WIND,
    MF_WING_ROW_SPEED,
    MF_WING_ROW_ALPHA,
    MF_WING_ROW_BETA,
    MF_WING_ROW_FAULT,
    MF_WING_ROW_GUST_STATE, // these two only with gusts
    MF_WING_ROW_GUST,
    MF_WING_ROWS
};

typedef struct mf_WingPlan {
    uint32_t bytes;
    mf_FixedWingCommand command;
    mf_Integrator integrator;
    uint32_t command_count; // [1] values of a command
    uint32_t stream;        // [1] of the gusts' random numbers
    uint64_t seed;          // [1]
    bool gusty;
    double constants_f64[MF_WING_CONSTANTS];
    float constants_f32[MF_WING_CONSTANTS];
} mf_WingPlan;

// Pointers to lane 0 of the lanes to step; values of one lane are MF_BLOCK apart.
typedef struct mf_WingBlock {
    const mf_WingPlan *plan;
    void *rows[MF_WING_ROWS];
    size_t low[MF_WING_ROW_ACCEPTED]; // [byte] from values of sums to their remainders; 0: none
    const void *commands[MF_WING_COMMANDS];
    uint64_t tick;     // [1]
    uint32_t instance; // [1] of lane 0
    bool control_due;
} mf_WingBlock;

typedef void (*mf_WingStepFn)(const mf_WingBlock *block);
MF_KERNEL_COPIES(void, mf_fixed_wing_step, (const mf_WingBlock *block));

// One evaluation of forces and moments, for the set-up code.
typedef struct mf_WingLoads {
    const double *constants;
    double velocity[3], rate[3], surfaces[4]; // [m/s], [rad/s] body axes; [rad] and throttle [1]
    double force[3], moment[3];               // [N], [N m] body axes
    double thrust;                            // [N]
} mf_WingLoads;

void mf_fixed_wing_load_scalar_f64(mf_WingLoads *loads);
