// A world with one group of fixed-wing aircraft.
#pragma once

#include "motion/rig.h"
#include "motion/vehicle/fixed_wing/motion.h"

typedef struct RigConfig {
    mf_FixedWing aircraft;
    mf_FixedWingConfig config;
    mf_WorldConfig world;
    uint32_t count, threads;
    bool single_precision;
} RigConfig;

// One aircraft in double precision with its surfaces held.
static inline RigConfig rig_config(mf_FixedWingCommand command) {
    RigConfig config = {.aircraft = mf_fixed_wing(),
                        .config = mf_motions_config().fixed_wing_config,
                        .world = mf_world_config(),
                        .count = 1,
                        .threads = 1};
    config.config.command = command;
    return config;
}

static inline Rig rig_open(RigConfig config) {
    Rig rig = {.context = open_context(config.threads)};
    MUST(mf_fixed_wing_model(rig.context, &config.aircraft, "fixed_wing", &rig.model, &error));
    rig_add_group(&rig, &config.world,
                  WITH(mf_group_config(), .count = config.count, .isolated = false,
                       .double_precision = !config.single_precision));
    MUST(rig_add_fixed_wing(rig.group, &config.aircraft, &config.config, &error));
    return rig;
}

static inline double course_of(const Rig *rig, uint32_t instance) {
    return atan2(get_field(rig->group, "base.linear_velocity", instance, 1),
                 get_field(rig->group, "base.linear_velocity", instance, 0));
}
