// What the car kernel reads of parameters and settings, and the path: flat images, frozen while the
// world steps and shared by all threads.
#pragma once

#include "base/flat.h"
#include "math/kernel.h"
#include "terrain/image.h"

#include <mayfly/car.h>

enum {
    MF_CAR_STEP,            // [s] h
    MF_CAR_TICK,            // [s] control interval
    MF_CAR_GRAVITY,         // [m/s^2]
    MF_CAR_MASS,            // [kg]
    MF_CAR_INVERSE_MASS,    // [1/kg]
    MF_CAR_LONG_MASS,       // [kg] mass + rotating mass
    MF_CAR_INVERSE_LONG,    // [1/kg]
    MF_CAR_INVERSE_YAW,     // [1/(kg m^2)]
    MF_CAR_FRONT,           // [m]
    MF_CAR_REAR,            // [m]
    MF_CAR_BASE,            // [m] wheelbase
    MF_CAR_INVERSE_BASE,    // [1/m]
    MF_CAR_REAR_SHARE,      // [1] rear / wheelbase
    MF_CAR_HEIGHT,          // [m]
    MF_CAR_FRONT_B,         // [1/rad] and so on: as in mf_Car
    MF_CAR_FRONT_C,         // [1]
    MF_CAR_FRONT_D,         // [N]
    MF_CAR_FRONT_E,         // [1]
    MF_CAR_REAR_B,          // [1/rad]
    MF_CAR_REAR_C,          // [1]
    MF_CAR_REAR_D,          // [N]
    MF_CAR_REAR_E,          // [1]
    MF_CAR_MOTOR,           // [N]
    MF_CAR_MOTOR_SLOPE,     // [N s/m]
    MF_CAR_BRAKE,           // [N]
    MF_CAR_INVERSE_BRAKE,   // [1/N] 0 without brakes
    MF_CAR_ROLLING,         // [N]
    MF_CAR_DRAG,            // [N s^2/m^2]
    MF_CAR_LIFT,            // [s^2/m^2] downforce / weight
    MF_CAR_ELLIPSE,         // [N] ellipse * rear_d
    MF_CAR_INVERSE_ELLIPSE, // [1] 1 / ellipse_long
    MF_CAR_STEERING_LIMIT,  // [rad]
    MF_CAR_STEERING_RATE,   // [rad/s]
    MF_CAR_STEERING_GAIN,   // [1/s] 1 / lag, or 1 / h without lag
    MF_CAR_SLIP_SPEED,      // [m/s] slip is formed with at least this speed
    MF_CAR_BLEND_LOW,       // [m/s]
    MF_CAR_INVERSE_BLEND,   // [s/m] 1 / (high - low)
    MF_CAR_GRIP,            // [1/s] how fast slip dies out where the car is kinematic
    MF_CAR_UNDERSTEER,      // [s^2/m^2] K >= 0 that the path loops make up for
    MF_CAR_CORNERING,       // [m/s^2] across the car, that the path loops request at most
    MF_CAR_ACCELERATION,    // [m/s^2]
    MF_CAR_BRAKING,         // [m/s^2]
    MF_CAR_SPEED_GAIN,      // [1/s]
    MF_CAR_SPEED_INTEGRAL,  // [1/s^2]
    MF_CAR_HOLD_SPEED,      // [m/s] slower than this a car that is to stand is held
    MF_CAR_LOOK_TIME,       // [s]
    MF_CAR_LOOK_LEAST,      // [m]
    MF_CAR_LOOK_MOST,       // [m]
    MF_CAR_STOP_DISTANCE,   // [m]
    MF_CAR_ARC_RADIUS,      // [m] smallest, of the rear axle
    MF_CAR_GROUND,          // [m] height of level ground
    MF_CAR_CONSTANTS        // their number
};

// The fields that a step touches.
enum {
    MF_CAR_ROW_POSITION,
    MF_CAR_ROW_ORIENTATION,
    MF_CAR_ROW_LINEAR,
    MF_CAR_ROW_ANGULAR,
    MF_CAR_ROW_STEERING,
    MF_CAR_ROW_TARGET,
    MF_CAR_ROW_DUTY,
    MF_CAR_ROW_BRAKE,
    MF_CAR_ROW_INTEGRAL,
    MF_CAR_ROW_PROGRESS,
    MF_CAR_ROW_WIND,
    MF_CAR_ROW_ACCEPTED,
    MF_CAR_ROW_COMMAND_0, // one field or several, by the kind of command
    MF_CAR_ROW_COMMAND_1,
    MF_CAR_ROW_COMMAND_2,
    MF_CAR_ROWS
};

enum { MF_CAR_COMMANDS = 4, MF_CAR_PATH_SAMPLES = 65536 };

// One number of a command: which row holds it and what it may be.
typedef struct mf_CarCommandValue {
    uint32_t row;       // [1] MF_CAR_ROW_COMMAND_*
    uint32_t component; // [1]
    double low, high;   // in the command's unit
    double least;       // in the command's unit: its size must be at least this
} mf_CarCommandValue;

// A path as positions at equal distances along it; the last position is repeated so that a sample
// has a successor.
typedef struct mf_CarPath {
    uint32_t bytes;
    uint32_t segments; // [1]
    bool closed;
    double length;        // [m]
    double spacing;       // [m]
    MF_FLAT_ARRAY(x_f64); // [m] segments + 2
    MF_FLAT_ARRAY(y_f64);
    MF_FLAT_ARRAY(x_f32); // [m] the same
    MF_FLAT_ARRAY(y_f32);
} mf_CarPath;
MF_FLAT_READER(mf_CarPath, mf_car_path, double, x_f64)
MF_FLAT_READER(mf_CarPath, mf_car_path, double, y_f64)
MF_FLAT_READER(mf_CarPath, mf_car_path, float, x_f32)
MF_FLAT_READER(mf_CarPath, mf_car_path, float, y_f32)

typedef struct mf_CarPlan {
    uint32_t bytes;
    mf_CarModel model;
    mf_CarTire tire;
    mf_Integrator integrator;
    mf_CarCommand mode;
    bool level;                   // the ground has one height everywhere
    bool brakes, lagged, ellipse; // it has brakes, steering with lag, a friction ellipse
    uint32_t command_count;       // [1]
    mf_CarCommandValue command[MF_CAR_COMMANDS];
    double load_per_force; // [1/N] weight on the wheels, over that at rest
    double constants_f64[MF_CAR_CONSTANTS];
    float constants_f32[MF_CAR_CONSTANTS];
} mf_CarPlan;

// Data of the fields; NULL where the command mode does not use one.
typedef struct mf_CarFields {
    void *rows[MF_CAR_ROWS];
    uint32_t components[MF_CAR_ROWS]; // [1]
    size_t low[MF_CAR_ROW_LINEAR];    // [byte] from positions to their remainders; 0: none
    uint32_t *fault, *refused;
    const void *wrench;           // wrench.link; NULL: the cars take no wrenches
    uint32_t wrench_components;   // [1]
    const uint32_t *wrench_count; // wrench.count
} mf_CarFields;

// The instances first .. end - 1; `first` is a multiple of the kernel's lanes.
typedef struct mf_CarBatch {
    const mf_CarPlan *plan;
    const mf_TerrainImage *terrain;
    const mf_CarPath *path; // NULL: none
    const mf_CarFields *fields;
    uint32_t first, end; // [1]
    bool control;        // this step begins with a control tick
} mf_CarBatch;

typedef void (*mf_CarStepFn)(const mf_CarBatch *batch);
MF_KERNEL_COPIES(void, mf_car_step, (const mf_CarBatch *batch));
