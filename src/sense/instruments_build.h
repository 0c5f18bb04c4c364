// Making the plan of a group's instruments.
#ifndef MF_SENSE_INSTRUMENTS_BUILD_H
#define MF_SENSE_INSTRUMENTS_BUILD_H

#include "base/scratch.h"
#include "sense/instruments.h"
#include "sense/signal.h"

#include <mayfly/instruments.h>

enum {
    MF_INSTRUMENT_EXTERNAL = 64, // bodies whose forces from outside are summed
    MF_INSTRUMENT_TOUCHES = 1024 // touch sensors that the motion sums
};

// Of an instrument, for the host.
typedef struct mf_InstrumentSource {
    const char *reason;    // why it cannot be measured, NULL: it can
    const mf_Field *field; // that it shows; NULL: none
} mf_InstrumentSource;

// The plan of one group.
typedef struct mf_InstrumentPlan {
    mf_InstrumentBatch batch;     // data pointers are left NULL
    mf_InstrumentImage *image;    // of the batch; not changed once the systems are added
    mf_InstrumentSource *sources; // per instrument
    mf_InstrumentFn run, run_one, keep;
    mf_Group *group;
    mf_SignalSet *signals;
    mf_Scratch *scratch;
    struct mf_Ranges *ranges; // what its range sensors see, whose system measures; NULL: the ground
    bool limits;              // some sensor needs forces of limits
    uint32_t external_count;
    uint32_t external[MF_INSTRUMENT_EXTERNAL]; // [1] bodies
    uint32_t touch_count;
    uint32_t touches[MF_INSTRUMENT_TOUCHES]; // [1] sensors
} mf_InstrumentPlan;

// What the model has, as the kernel wants it. *out is NULL when the model has no instruments.
mf_Status mf_instrument_plan_create(mf_Group *group, const mf_InstrumentsConfig *config,
                                    mf_InstrumentPlan **out, mf_Error *error);
void mf_instrument_plan_destroy(mf_Context *context, mf_InstrumentPlan *plan); // NULL is allowed

// The instruments of a group; NULL: it has none.
mf_InstrumentPlan *mf_instrument_plan_of(const mf_Group *group);
// Measures the robots of a run at the end of a step.
void mf_instrument_measure(const mf_InstrumentPlan *plan, const mf_SystemRun *run);
// Measures the present state of a robot, at rest, as the first reading of an episode. What its
// range sensors see must have been updated.
void mf_instrument_start(const mf_InstrumentPlan *plan, uint32_t instance);

// Whether the values of such a sensor have length 1 together.
bool mf_instrument_is_direction(mf_SensorType type);

#endif
