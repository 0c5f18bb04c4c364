// How long to wait for a message without a sleep. A sleep takes tens of microseconds to wake up
// from, and as much of the processor as a spin of that length; a spin that ends in a sleep costs
// both, and long ones keep the processor from those that are waited for. So one spins only while
// messages usually come soon.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MF_SPIN_LONG 2e-4  // [s] the default: several times the wake-up of the other side
#define MF_SPIN_SHORT 1e-5 // [s] where messages come later
#define MF_SPIN_SOON 1e-4  // [s] mean time of a message to come up to which it pays
#define MF_SPIN_PROBE 64u  // [1] waits, of which one tries the long spin again
#define MF_SPIN_RATE 0.125 // [1] weight of the last wait

typedef struct mf_Spin {
    double mean;    // [s] running mean of waits; those that ended in a sleep as MF_SPIN_LONG
    uint32_t count; // [1] waits so far
} mf_Spin;

// [s] to spin now, at most `most`.
static inline double mf_spin_seconds(const mf_Spin *spin, double most) {
    const bool pays = spin->mean < MF_SPIN_SOON || spin->count % MF_SPIN_PROBE == 0;
    return pays || most < MF_SPIN_SHORT ? most : MF_SPIN_SHORT;
}

// After a spin of `seconds`, at whose end the message was there or not.
static inline void mf_spin_learn(mf_Spin *spin, double seconds, bool came) {
    const double wait = came && seconds < MF_SPIN_LONG ? seconds : MF_SPIN_LONG;
    spin->count++;
    spin->mean += MF_SPIN_RATE * (wait - spin->mean);
}
