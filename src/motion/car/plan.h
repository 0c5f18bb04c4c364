// Data of the car kernel: parameters as constants in both precisions, the path, the fields. Frozen
// while the world steps, shared by all threads.
#ifndef MF_MOTION_CAR_PLAN_H
#define MF_MOTION_CAR_PLAN_H

#include "math/kernel.h"

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
    MF_CAR_TURN_RADIUS,     // [m] smallest, of the rear axle
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
    MF_CAR_ROW_COMMAND_0, // one field or several: see mf_CarCommandField
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
    uint32_t segments; // [1] 0: no path
    bool closed;
    double length;         // [m]
    double spacing;        // [m]
    double *x_f64, *y_f64; // [m] pieces + 2 values, one allocation, owned
    float *x_f32, *y_f32;  // [m] the same
} mf_CarPath;

struct mf_CarBatch;
typedef void (*mf_CarStepFn)(const struct mf_CarBatch *batch);

typedef struct mf_CarPlan {
    mf_Car car;
    mf_CarConfig config;
    const mf_Terrain *terrain;
    bool level;        // the ground has one height everywhere
    uint32_t interval; // [1] steps between control ticks
    double constants_f64[MF_CAR_CONSTANTS];
    float constants_f32[MF_CAR_CONSTANTS];
    mf_CarCommandValue command[MF_CAR_COMMANDS];
    uint32_t command_count; // [1]
    mf_CarPath path;
    mf_CarStepFn step;     // `lanes` lanes at once
    mf_CarStepFn step_one; // one lane
    uint32_t lanes;        // [1]
    bool double_precision;
    mf_Field *rows[MF_CAR_ROWS]; // NULL where the command mode does not use one
    mf_Field *fault, *refused;
    const mf_Field *wrench,
        *wrench_count;     // push.link and push.count; NULL: the cars take no wrenches
    double load_per_force; // [1/N] weight on the wheels, over that at rest
} mf_CarPlan;

// The instances first .. end - 1; `first` is a multiple of the kernel's lanes.
typedef struct mf_CarBatch {
    const mf_CarPlan *plan;
    uint32_t first, end; // [1]
    bool control;        // this step begins with a control tick
} mf_CarBatch;

MF_KERNEL_COPIES(void, mf_car_step, (const mf_CarBatch *batch));

// Names the member that is out of range, its value and the range.
mf_Status mf_car_check_settings(const mf_CarConfig *config, mf_Error *error);
// Samples the positions; `out` is untouched on failure.
mf_Status mf_car_path_create(mf_Context *context, const double (*positions)[2], uint32_t count,
                             bool closed, double spacing, mf_CarPath *out, mf_Error *error);
void mf_car_path_release(mf_Context *context, mf_CarPath *path);
// Fills the constants of plan->car on ground of height `ground` [m].
void mf_car_plan_constants(mf_CarPlan *plan, double step, double gravity, double ground);
// A step [s] that the tires or the steering cannot follow is refused.
mf_Status mf_car_check_step(const mf_CarPlan *plan, double step, mf_Error *error);

#endif
