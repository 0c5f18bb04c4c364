// Rows of fields, lists of names and configurations of systems, for those that add them.
#pragma once

#include <mayfly/world.h>

// An mf_FieldInfo: name, unit, frame, type, shape, components, flags, description.
#define MF_FIELD_INFO(name, unit, frame, type, shape, count, flags, text)                          \
    { name, unit, frame, type, shape, count, flags, text }

// The same of real numbers that every instance has.
#define MF_FIELD_VALUES(name, unit, frame, count, flags, text)                                     \
    MF_FIELD_INFO(name, unit, frame, MF_REAL, MF_PER_INSTANCE, count, flags, text)

// A list of names that ends with NULL.
#define MF_NAMES(...)                                                                              \
    { __VA_ARGS__, NULL }

// The index of a group in its world; MF_NONE: it is of another one.
uint32_t mf_world_group_number(const mf_World *world, const mf_Group *group);

const char *mf_phase_name(mf_Phase phase); // "control"

// Configurations of systems with what every one has.
static inline mf_SystemConfig mf_attach_system(const char *name, mf_Phase phase, mf_SystemFn run,
                                               void *user) {
    mf_SystemConfig config = mf_system_config();
    config.name = name;
    config.phase = phase;
    config.run = run;
    config.user = user;
    return config;
}
static inline mf_WorldSystemConfig mf_attach_world_system(const char *name, mf_Phase phase,
                                                          mf_WorldSystemFn run, void *user) {
    mf_WorldSystemConfig config = mf_world_system_config();
    config.name = name;
    config.phase = phase;
    config.run = run;
    config.user = user;
    return config;
}
