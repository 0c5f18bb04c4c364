// The machine-code controller's batch interpreter: the interface of host code and kernel.
#pragma once

#include "base/flat.h"
#include "math/kernel.h"

#include <mayfly/control.h>

enum {
    MF_GP_OPERANDS = 32,         // an operand has five bits
    MF_GP_SENSOR_MINIMUM = -128, // range of the accumulator
    MF_GP_SENSOR_MAXIMUM = 127,
    MF_GP_READINGS = 32 // sensors that operands can select
};

// Operand -> joint, with the rule for unknown motors already applied.
typedef struct mf_GpMotors {
    MF_ALIGNED(64) int32_t joint[MF_GP_OPERANDS];   // component of joint.target, -1 = no motor
    MF_ALIGNED(64) float lower_f32[MF_GP_OPERANDS]; // infinite when unlimited
    float upper_f32[MF_GP_OPERANDS];
    double lower_f64[MF_GP_OPERANDS];
    double upper_f64[MF_GP_OPERANDS];
} mf_GpMotors;

// One sensor: its value is multiplied by `scale` and truncated to an integer.
typedef struct mf_GpReading {
    uint32_t component; // [1] of sensor.value
    double scale;
} mf_GpReading;

// A flat image, frozen before the first tick.
typedef struct mf_GpPlan {
    uint32_t bytes;
    uint32_t sensor_count; // [1] sensors that operands can select, 0 .. 32
    uint32_t values;       // [1] components of sensor.value
    uint32_t instructions; // [1] per tick
    bool wrap;             // out-of-range numbers wrap; else they read 0
    double angle;          // [rad] or [m] per move
    mf_GpReading sensors[MF_GP_READINGS];
    mf_GpMotors motors;
} mf_GpPlan;

// All blocks of a group.
typedef struct mf_GpBatch {
    const mf_GpPlan *plan;
    const void *values; // sensor.value
    const int32_t *program;
    int32_t *address;
    int32_t *accumulator;
    void *target;               // joint.target
    uint32_t target_components; // [1]
    const int32_t *fault;       // fault.word
} mf_GpBatch;

// One tick for the blocks first .. first+count-1.
typedef void (*mf_GpRunFn)(const mf_GpBatch *batch, uint32_t first, uint32_t count);
MF_KERNEL_COPIES(void, mf_gp_run, (const mf_GpBatch *batch, uint32_t first, uint32_t count));

// Executes one instruction at machine->address; `sensors` [1] are their readings.
mf_GpMove mf_gp_execute(mf_GpMachine *machine, const uint8_t program[MF_GP_BYTES], uint32_t motors,
                        const int32_t *sensors, uint32_t sensor_count, mf_GpUnknown unknown);

// The index that `operand` selects among `count` items, or MF_NONE.
static inline uint32_t mf_gp_resolve(uint32_t operand, uint32_t count, mf_GpUnknown unknown) {
    if (operand < count)
        return operand;
    return unknown == MF_GP_UNKNOWN_WRAP && count > 0 ? operand % count : MF_NONE;
}
