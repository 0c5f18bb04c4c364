// Keeping a simulation to the computer's clock, and saying so when it cannot keep up. Nothing that
// is simulated depends on it.
#ifndef MAYFLY_APP_PACE_H
#define MAYFLY_APP_PACE_H

#include "app.h"

// Start with zeros and the factor; goes on over several calls of mf_simulate.
typedef struct mf_Pace {
    double factor;    // [1] simulated seconds per second of the clock; 0: as fast as it goes
    bool started;     // the next three count
    double begin;     // [s] of the clock at simulated time 0
    double simulated; // [s] so far
    double latest;    // [s] the most that it was behind the clock
    double warned;    // [s] simulated, when it was told that it cannot keep up; 0: never
} mf_Pace;

// Notes that the simulation is at `simulated` [s] since its start: waits for the clock, or tells
// once, on stderr, when the clock is more than half a second and a tenth of the time ahead.
void mf_pace_keep(mf_Pace *pace, mf_World *world, double simulated);

// The last word on stderr, when something was late: how fast it went and how late it was at most.
void mf_pace_end(const mf_Pace *pace, mf_World *world);

#endif
