// Signals of sensors (noise, delay, conversion) for many sensors of a group: host code (signal.c)
// and its interface to the kernel.
//
// A set processes the values of one field of readings. Sensors with the same timing share a clock.
// A mapping writes true values: directly to the readings if they are not processed (`treated`
// false), else to the field NAME.raw, from which the set computes readings.
//
// Invariants: all persistent values are state: the readings, NAME.ring (delayed samples),
// NAME.bias. The position of a sample in the ring is a function of the tick. Robots with a fault
// word keep their values.
#pragma once

#include "math/kernel.h"

#include <mayfly/sensor.h>

enum { MF_SIGNAL_CLOCKS = 64 };

// Random numbers: Philox streams from these on, one per sensor.
#define MF_SIGNAL_NOISE 0x73656e73u
#define MF_SIGNAL_START 0x73746172u // the noise of the first reading of an episode
#define MF_SIGNAL_BIAS 0x62696173u
#define MF_SIGNAL_DRIFT 0x64726966u

// Actions of one clock at one state.
typedef struct mf_SignalMoment {
    bool due;             // its sensors are measured
    bool shows;           // an earlier sample becomes readable
    uint32_t write, read; // [1] their positions in the ring
} mf_SignalMoment;

typedef struct mf_SignalMoments {
    uint64_t tick; // [1] of the state
    uint64_t due;  // bit c: clock c is due
    bool any;
    mf_SignalMoment of[MF_SIGNAL_CLOCKS];
} mf_SignalMoments;

typedef struct mf_SignalChannel { // `count` values of one sensor
    uint32_t clock, count, stream;
    uint32_t reading, raw; // [1] first component in these fields
    uint32_t bias, ring;   // [1] likewise, if used
    uint32_t slots;        // [1] samples in the ring; 0: no delay
    bool unit;             // a unit vector: renormalized, without limits
    bool saturates, noisy, wanders, biased, converts, rounds;
    double saturation[2], noise, bias_size;
    double drift;     // of one sample to the next
    double low, high; // of the converter
    double origin, step;
} mf_SignalChannel;

// All blocks of a group; data in field layout and the group's precision.
typedef struct mf_SignalBatch {
    uint32_t channel_count;
    const mf_SignalChannel *channels;
    uint32_t readings_components, raw_components, bias_components, ring_components; // [1]
    void *readings, *bias, *ring;
    const void *raw;
    int32_t *fault; // fault.word
    uint64_t seed;
} mf_SignalBatch;

typedef struct mf_SignalRun {
    uint32_t first, count;           // [1] blocks
    const mf_SignalMoments *moments; // NULL: the start of an episode
    uint32_t lane;                   // [1] at a start: the robot's lane
    uint64_t tick;                   // [1] of the state; at a start: the number of the episode
} mf_SignalRun;

typedef void (*mf_SignalFn)(const mf_SignalBatch *batch, const mf_SignalRun *run);
MF_KERNEL_COPIES(void, mf_signal_run, (const mf_SignalBatch *batch, const mf_SignalRun *run));

// ---- the host's side ---------------------------------------------------------------------------

typedef struct mf_SignalSpec {
    const mf_Signal *signal;
    uint32_t first, count; // [1] components of the readings
    uint32_t stream;       // [1] different for each sensor of a group
    bool unit;             // a unit vector
    bool always;           // processed even without any effect
} mf_SignalSpec;

typedef struct mf_SignalTarget { // destination of the values of one spec
    uint32_t clock, row;         // [1] clock; component
    bool treated;                // of the field NAME.raw, else of the readings
} mf_SignalTarget;

typedef struct mf_SignalSet mf_SignalSet;

// Creates a set for `count` specs; signals without a rate are measured at `rate` ({0, 0}: each
// step). Adds the fields NAME.raw, NAME.ring, NAME.bias if needed. Errors contain NAME.
mf_Status mf_signal_set_create(mf_Group *group, const char *name, mf_Field *readings, mf_Rate rate,
                               const mf_SignalSpec *specs, uint32_t count, mf_SignalSet **out,
                               mf_Error *error);
void mf_signal_set_destroy(mf_Context *context, mf_SignalSet *set); // may be NULL

mf_SignalTarget mf_signal_set_target(const mf_SignalSet *set, uint32_t spec);
mf_Field *mf_signal_set_raw(const mf_SignalSet *set); // NULL if no value is processed
// Names of the fields that it added, at most 3; returns their number.
uint32_t mf_signal_set_fields(const mf_SignalSet *set, const char *names[3]);
uint64_t mf_signal_set_hash(const mf_SignalSet *set, uint64_t hash);

// The rate of all its values where they have one and no delay, else {0, 0}.
mf_Rate mf_signal_set_rate(const mf_SignalSet *set);

// The actions at the state after `tick` steps, called for each state; false: none.
bool mf_signal_set_measure(const mf_SignalSet *set, uint64_t tick, mf_SignalMoments *out);
// Computes readings from the true values that the mapping has written for these moments.
void mf_signal_set_run(const mf_SignalSet *set, const mf_SystemRun *run,
                       const mf_SignalMoments *moments);
// Start of an episode: draws the bias, reads the true values, and clears delayed samples.
void mf_signal_set_start(const mf_SignalSet *set, uint32_t instance);
