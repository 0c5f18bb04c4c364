// The momentum of what moves, about the world's origin, and its energy.
#pragma once

#include <mayfly/motion.h>

#include "rig/rig.h"

typedef struct Momentum {
    double linear[3], angular[3]; // [kg m/s], [kg m^2/s]
} Momentum;

static inline void add_momentum(const mf_Group *group, uint32_t instance, Momentum *sum) {
    double center[3], linear[3], angular[3], moment[3];
    mf_motion_momentum(group, instance, center, linear, angular);
    cross3(center, linear, moment);
    for (uint32_t c = 0; c < 3; c++) {
        sum->linear[c] += linear[c];
        sum->angular[c] += angular[c] + moment[c];
    }
}

// Of all instances of these groups.
static inline Momentum momentum_of(mf_Group *const *groups, uint32_t count) {
    Momentum sum = {0};
    for (uint32_t g = 0; g < count; g++)
        for (uint32_t i = 0; i < mf_group_count(groups[g]); i++)
            add_momentum(groups[g], i, &sum);
    return sum;
}

// [J] Of all instances of a group.
static inline double kinetic_energy_of(const mf_Group *group) {
    double sum = 0.0;
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        sum += mf_motion_energy(group, i).kinetic;
    return sum;
}

// The one is the other, within these tolerances of their components.
static inline void check_momentum(Momentum found, Momentum expected, double linear, double angular,
                                  const char *file, int line) {
    for (uint32_t c = 0; c < 3; c++) {
        check_near(found.linear[c], expected.linear[c], linear, file, line);
        check_near(found.angular[c], expected.angular[c], angular, file, line);
    }
}
#define assert_momentum(found, expected, linear, angular)                                          \
    check_momentum(found, expected, linear, angular, __FILE__, __LINE__)
