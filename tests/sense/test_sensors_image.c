// The plan of sensors is one block without pointers: a copy in other memory is equivalent after
// the original is overwritten.
#include "rig/rig.h"
#include "sense/move_plan.h"

static uint64_t hash_of_run(const char *path, bool precise, bool moved) {
    AUTO_CONTEXT *context;
    AUTO_MODEL *model;
    mf_Group *group;
    MUST(mf_context_create(NULL, &context, &error));
    MUST(mf_model_load(context, path, NULL, &model, &error));
    mf_GroupConfig config =
        WITH(mf_group_config(), .model = model, .count = 20, .double_precision = precise);
    AUTO_WORLD *world = open_world(context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND));
    group = add_group(world, &config);
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, NULL, &error));
    MUST(mf_sensors_add(group, &WITH(mf_sensors_config(), .lenient = true), &error));
    for (uint32_t i = 0; i < config.count; i++)
        for (uint32_t j = 0; j < model->joint_count; j++)
            set_field(group, "joint.rate", i, j, 0.03 * i - 0.1 * j);
    if (moved)
        move_plan(context, group);
    mf_world_step(world, 30);
    return mf_world_hash(world);
}

TEST(a_copied_plan_gives_the_same_bits) {
    static const char *const paths[] = {MAYFLY_SOURCE_DIR "/tests/sense/sensors.xml",
                                        MAYFLY_SOURCE_DIR "/tests/sense/contacts.xml"};
    for (int p = 0; p < 2; p++)
        for (int precise = 0; precise < 2; precise++)
            assert_true(hash_of_run(paths[p], precise != 0, true) ==
                        hash_of_run(paths[p], precise != 0, false));
}
