// A fixture for tests of fixed-wing aircraft: one world with one group.
#ifndef MF_TESTS_MOTION_FIXED_WING_RIG_H
#define MF_TESTS_MOTION_FIXED_WING_RIG_H

#include "rig/rig.h"
#include "motion/vehicle/fixed_wing/motion.h"

typedef struct RigConfig {
    mf_FixedWing aircraft;
    mf_FixedWingConfig config;
    mf_WorldConfig world;
    uint32_t count, threads;
    bool single_precision;
} RigConfig;

typedef struct Rig {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Rig;

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
    Rig rig = {0};
    rig.context = open_context(config.threads);
    MUST(mf_fixed_wing_model(rig.context, &config.aircraft, "fixed_wing", &rig.model, &error));
    rig.world = open_world(rig.context, &config.world);
    rig.group = add_group(rig.world,
                          &WITH(mf_group_config(), .model = rig.model, .count = config.count,
                                .isolated = false, .double_precision = !config.single_precision));
    MUST(rig_add_fixed_wing(rig.group, &config.aircraft, &config.config, &error));
    return rig;
}

static inline void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    close_context(rig->context);
}

static inline mf_Field *rig_field(const Rig *rig, const char *name) {
    return field_of(rig->group, name);
}

static inline double get(const Rig *rig, const char *name, uint32_t instance, uint32_t c) {
    return mf_field_get(rig_field(rig, name), instance, c);
}

static inline void put(const Rig *rig, const char *name, uint32_t instance, uint32_t c,
                       double value) {
    mf_field_set(rig_field(rig, name), instance, c, value);
}

static inline void get_vec(const Rig *rig, const char *name, uint32_t instance, double out[3]) {
    get_fields(rig->group, name, instance, 3, out);
}

static inline void put_vec(const Rig *rig, const char *name, uint32_t instance, double x, double y,
                           double z) {
    set_field3(rig->group, name, instance, x, y, z);
}

static inline double course_of(const Rig *rig, uint32_t instance) {
    return atan2(get(rig, "base.linear_velocity", instance, 1),
                 get(rig, "base.linear_velocity", instance, 0));
}

#endif
