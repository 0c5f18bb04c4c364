// Making the plan of a group's sensors.
#pragma once

#include "base/scratch.h"
#include "sense/sensors.h"
#include "sense/signal.h"

#include <mayfly/sensor.h>

enum {
    MF_SENSE_EXTERNAL = 64, // bodies whose forces from outside are summed
    MF_SENSE_TOUCHES = 1024 // touch sensors that the motion sums
};

// Of a sensor, for the host.
typedef struct mf_SenseSource {
    const char *reason;    // why it cannot be measured, NULL: it can
    const mf_Field *field; // that it shows; NULL: none
} mf_SenseSource;

// The plan of one group.
typedef struct mf_SensePlan {
    mf_SenseBatch batch;     // data pointers are left NULL
    mf_SenseImage *image;    // of the batch; not changed once the systems are added
    mf_SenseSource *sources; // per item
    mf_Sensor *posture;      // the sensors behind those of the model
    mf_SenseFn run, run_one, keep;
    mf_Group *group;
    mf_SignalSet *signals;
    mf_Scratch *scratch;      // the world's
    uint32_t range_group;     // [1] its group among those of `ranges`
    struct mf_Ranges *ranges; // what its range sensors see, whose system measures; NULL: the ground
    bool limits;              // some sensor needs forces of limits
    bool before_control;      // as in mf_SensorsConfig
    uint32_t external_count;
    uint32_t external[MF_SENSE_EXTERNAL]; // [1] bodies
    uint32_t touch_count;
    uint32_t touches[MF_SENSE_TOUCHES]; // [1] sensors
} mf_SensePlan;

// What the model has, as the kernel wants it. *out is NULL when the model has no sensors.
mf_Status mf_sense_plan_create(mf_Group *group, const mf_SensorsConfig *config, mf_SensePlan **out,
                               mf_Error *error);
void mf_sense_plan_destroy(mf_Context *context, mf_SensePlan *plan); // NULL is allowed

// The sensors of a group; NULL: it has none.
mf_SensePlan *mf_sense_plan_of(const mf_Group *group);
// Measures the robots of a run at the end of a step.
void mf_sense_measure(const mf_SensePlan *plan, const mf_SystemRun *run);
// Measures the present state of a robot, at rest, as the first reading of an episode. What its
// range sensors see must have been updated.
void mf_sense_start(const mf_SensePlan *plan, uint32_t instance);

// Sensor `index` of those of the model and, behind them, of the posture.
const mf_Sensor *mf_sense_sensor(const mf_SensePlan *plan, uint32_t index);

// Whether the values of such a sensor have length 1 together.
bool mf_sense_is_direction(mf_SensorType type);
