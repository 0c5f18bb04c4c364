// A fixture for tests of sensors: a world with one group of a robot given as text, and sensors with
// known true values.
#ifndef MF_TESTS_SENSE_SIGNAL_RIG_H
#define MF_TESTS_SENSE_SIGNAL_RIG_H

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
    const char *text;
    uint32_t count;
    mf_Time step;
    uint64_t seed;
    mf_Isa isa;
    bool floats, shared;
    mf_FaultPolicy policy;
} RigConfig;

static inline RigConfig rig_config(void) {
    return (RigConfig){
        .text = ROBOT, .count = 1, .step = 10 * MF_MILLISECOND, .seed = 1, .isa = MF_ISA_AUTO};
}

static inline Rig rig_open(mf_Context *context, RigConfig config) {
    Rig rig;
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    rig.context = context;
    rig.model = load_urdf(context, config.text);
    world.step = config.step;
    world.seed = config.seed;
    world.isa = config.isa;
    group.model = rig.model;
    group.count = config.count;
    group.isolated = !config.shared;
    group.spacing = config.shared ? 2.0 : 0.0;
    group.double_precision = !config.floats;
    group.fault_policy = config.policy;
    rig.world = open_world(context, &world);
    rig.group = add_group(rig.world, &group);
    return rig;
}

static inline void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

static inline double rig_get(const Rig *rig, const char *field, uint32_t robot, uint32_t value) {
    mf_Field *found = mf_group_find_field(rig->group, field);
    assert_non_null(found);
    return mf_field_get(found, robot, value);
}

static inline void rig_set(const Rig *rig, const char *field, uint32_t robot, uint32_t value,
                           double number) {
    mf_Field *found = mf_group_find_field(rig->group, field);
    assert_non_null(found);
    mf_field_set(found, robot, value, number);
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

#endif
