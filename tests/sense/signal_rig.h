// A fixture for tests of sensors: a world with one group of a robot given as text, and sensors with
// known true values.
#pragma once

#include "model/support.h"

#define ROBOT                                                                                      \
    "<robot name='r'><link name='a'><inertial><mass value='2'/><inertia ixx='0.01' iyy='0.01' "    \
    "izz='0.01'/></inertial><collision><geometry><box size='0.2 0.2 0.2'/></geometry>"             \
    "</collision></link></robot>"

typedef struct Rig {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Rig;

typedef struct RigConfig {
    const char *model; // as text or as a file
    uint32_t count;
    mf_Time step;
    double gravity; // [m/s^2]
    uint64_t seed;
    mf_Isa isa;
    bool floats, shared;
    mf_FaultPolicy policy;
} RigConfig;

static inline RigConfig rig_config(void) {
    return (RigConfig){
        .model = ROBOT, .count = 1, .step = 10 * MF_MILLISECOND, .gravity = 9.81, .seed = 1};
}

static inline Rig rig_open(mf_Context *context, RigConfig config) {
    Rig rig = {.context = context};
    if (config.model[0] == '<')
        rig.model = load_text(context, config.model);
    else
        MUST(mf_model_load(context, config.model, NULL, &rig.model, &error));
    rig.world =
        open_world(context, &WITH(mf_world_config(), .step = config.step, .gravity = config.gravity,
                                  .seed = config.seed, .isa = config.isa));
    rig.group = add_group(rig.world,
                          &WITH(mf_group_config(), .model = rig.model, .count = config.count,
                                .isolated = !config.shared, .spacing = config.shared ? 2.0 : 0.0,
                                .double_precision = !config.floats, .fault_policy = config.policy));
    return rig;
}

static inline void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

static inline double rig_get(const Rig *rig, const char *field, uint32_t robot, uint32_t value) {
    return get_field(rig->group, field, robot, value);
}

static inline void rig_set(const Rig *rig, const char *field, uint32_t robot, uint32_t value,
                           double number) {
    set_field(rig->group, field, robot, value, number);
}

// ---- true values -------------------------------------------------------------------------------

// Value c of robot i: what the test says, or the number of the state + i / 1000 + 1000 c.
static inline void map_number(const mf_SystemRun *run, mf_Field *values, void *user) {
    const double *constant = user;
    double state = (double)run->tick + (run->step > 0 ? 1.0 : 0.0);
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK; i++)
        for (uint32_t c = 0; c < values->components; c++)
            mf_field_set(values, i, c,
                         constant != NULL ? *constant : state + 0.001 * i + 1000.0 * c);
}

static inline void rig_add(Rig *rig, const char *name, uint32_t count, const mf_Signal *signal,
                           const double *constant) {
    MUST(mf_sensor_add(rig->group,
                       &WITH(mf_sensor_config(), .name = name, .count = count, .signal = *signal,
                             .map = map_number, .user = (void *)(uintptr_t)constant),
                       &error));
}
