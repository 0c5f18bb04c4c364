// Synchronization of a simulation with the wall clock, with a warning if it is too slow. No
// simulated result depends on it.
#pragma once

#include "app.h"

// Initialize with zeros and the factor; used over several calls of mf_simulate.
typedef struct mf_Pace {
    double factor;    // [1] simulated seconds per second of the clock; 0: as fast as possible
    bool started;     // the next three are valid
    double begin;     // [s] of the clock at simulated time 0
    double simulated; // [s] so far
    double latest;    // [s] largest delay
    double warned;    // [s] simulated time of the warning; 0: none
} mf_Pace;

// Called at `simulated` [s] since the start: waits for the clock, or warns once, on stderr, when
// the simulation is late by more than half a second and a tenth of the time.
void mf_pace_keep(mf_Pace *pace, mf_World *world, double simulated);

// Prints a summary on stderr if the simulation was late: achieved speed and largest delay.
void mf_pace_end(const mf_Pace *pace, mf_World *world);
