// The wall clock. No simulated result may depend on it.
#pragma once

#include <stdint.h>
#include <time.h>

// [ns] monotonic clock.
static inline int64_t mf_clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// [s] of the same.
static inline double mf_clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
