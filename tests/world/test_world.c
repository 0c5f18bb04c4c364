// Worlds: rejected settings, groups by name, time, hashes, initial positions.
#include "motion/rig.h"

TEST(bad_worlds_are_refused) {
    AUTO_CONTEXT *context = open_context(1);
    const mf_WorldConfig good = mf_world_config();
    const mf_WorldConfig bad[] = {
        WITH(good, .struct_size = good.struct_size - 1),
        WITH(good, .step = 0),
        WITH(good, .step = -MF_MILLISECOND),
        WITH(good, .step = 999),
        WITH(good, .step = MF_SECOND + 1),
        WITH(good, .gravity = -1.0),
        WITH(good, .gravity = NAN),
        WITH(good, .gravity = INFINITY),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_World *world = NULL;
        mf_Error error = {0};
        assert_int_equal(mf_world_create(context, &bad[i], &world, &error), MF_BAD_ARGUMENT);
        assert_null(world);
        assert_true(error.message[0] != '\0');
        assert_int_equal(mf_context_live_bytes(context), 0);
    }
    mf_world_destroy(NULL);
}

TEST(bad_groups_are_refused) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, points_config(false));
    char longest[257];
    memset(longest, 'a', 256);
    longest[256] = '\0';
    uint64_t hash = mf_world_hash(rig.world);
    const mf_GroupConfig good =
        WITH(mf_group_config(), .model = &rig.hand->model, .name = "second");
    const mf_GroupConfig bad[] = {
        WITH(good, .struct_size = good.struct_size + 1),
        WITH(good, .model = NULL),
        WITH(good, .count = 0),
        WITH(good, .count = (UINT32_C(1) << 26) + 1),
        WITH(good, .name = "robots"), // taken
        WITH(good, .name = ""),
        WITH(good, .name = longest),
        WITH(good, .spacing = NAN),
        WITH(good, .spacing = -1.0),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Group *out = rig.group;
        MUST_FAIL(mf_world_add_group(rig.world, &bad[i], &out, &error), MF_BAD_ARGUMENT, "");
        assert_null(out);
        assert_int_equal(mf_world_group_count(rig.world), 1);
        assert_true(mf_world_hash(rig.world) == hash);
    }
}

TEST(groups_are_found_by_name) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, points_config(false));
    char name[] = "walkers";
    mf_GroupConfig group = WITH(mf_group_config(), .model = &rig.hand->model, .name = name);
    mf_Group *second = add_group(rig.world, &group);
    name[0] = '?'; // the name was copied
    assert_ptr_equal(mf_world_find_group(rig.world, "walkers"), second);
    assert_ptr_equal(mf_world_find_group(rig.world, "robots"), rig.group);
    assert_null(mf_world_find_group(rig.world, "walker"));
    assert_ptr_equal(mf_world_group(rig.world, 1), second);
    assert_null(mf_world_group(rig.world, 2));
}

// A group that could not be completed goes, with what it brought into the world, and nothing else.
TEST(the_last_group_can_be_dropped) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    points_open(&rig, points_config(false));
    mf_world_step(rig.world, 3);
    const uint64_t hash = mf_world_hash(rig.world);
    mf_Model *grain;
    MUST(mf_model_load(rig.context, formatted("%s/models/grain.xml", MAYFLY_SOURCE_DIR), NULL,
                       &grain, &error));
    for (int round = 0; round < 2; round++) {
        mf_Group *group =
            add_group(rig.world, &WITH(mf_group_config(), .name = "heap", .model = grain,
                                       .count = 20, .isolated = false));
        MUST(mf_motion_add(group, MF_MOTION_GRAINS, NULL, &error));
        assert_true(mf_world_system_count(rig.world) > 0);
        assert_true(mf_world_hash(rig.world) != hash);
        const size_t bytes = mf_context_live_bytes(rig.context);
        mf_world_drop_group(rig.world);
        assert_true(mf_context_live_bytes(rig.context) < bytes);
        assert_int_equal(mf_world_group_count(rig.world), 1);
        assert_int_equal(mf_world_system_count(rig.world), 0);
        assert_null(mf_world_find_group(rig.world, "heap"));
        assert_ptr_equal(mf_world_find_group(rig.world, "robots"), rig.group);
        assert_true(mf_world_hash(rig.world) == hash);
    }
    add_group(rig.world, &WITH(mf_group_config(), .name = "heap", .model = &rig.hand->model));
    mf_world_step(rig.world, 3);
    mf_world_destroy(rig.world);
    rig.world = open_world(rig.context, NULL);
    mf_world_drop_group(rig.world); // there is none
    mf_world_drop_group(NULL);
    mf_model_destroy(grain);
}

// Time is whole nanoseconds: 10^6 steps of 3 ms are 3000 s exactly.
TEST(time_is_exact) {
    static const double moment[3] = {1, 1, 1};
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 1, moment);
    PointsConfig config = WITH(points_config(false), .world.step = 3 * MF_MILLISECOND,
                               .world.gravity = 0.0, .points.joint_interval = 3 * MF_MILLISECOND);
    points_open(&rig, config);
    for (int i = 0; i < 10; i++)
        mf_world_step(rig.world, 100000);
    assert_true(mf_world_time(rig.world) == 3000 * MF_SECOND);
}

// Steps in one call or in many: the same state.
TEST(calls_do_not_show) {
    uint64_t hash[2];
    for (int method = 0; method < 2; method++) {
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        points_open(&rig, WITH(points_config(false), .group.count = 50));
        mf_Field *target = rig_field(&rig, "joint.target");
        for (uint32_t i = 0; i < 50; i++)
            for (uint32_t j = 0; j < 18; j++)
                mf_field_set(target, i, j, 0.5 * random_signed(600, i * 18 + j));
        if (method == 0)
            mf_world_step(rig.world, 97);
        for (int i = 0; method == 1 && i < 97; i++)
            mf_world_step(rig.world, 1);
        hash[method] = mf_world_hash(rig.world);
    }
    assert_true(hash[0] == hash[1]);
}

// Every robot starts with its lowest point on the ground below it, none in the ground.
TEST(robots_start_on_the_ground) {
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand);
    PointsConfig config = WITH(points_config(true), .group.count = 30, .group.spacing = 0.7);
    mf_Terrain *terrain = make_terrain(rig.context, MF_TERRAIN_NOISE, MF_BILINEAR, 0.2, 1.0, 0.1);
    config.world.terrain = terrain;
    points_open(&rig, config);
    mf_Field *position = rig_field(&rig, "base.position");
    mf_Field *points = rig_field(&rig, "body.points"), *center = rig_field(&rig, "body.center");
    for (uint32_t i = 0; i < 30; i++) {
        double lowest = INFINITY;
        for (uint32_t p = 0; p < points->components / 3; p++) {
            double at[3];
            for (uint32_t c = 0; c < 3; c++)
                at[c] = mf_field_get(position, i, c) + mf_field_get(center, i, c) +
                        mf_field_get(points, i, 3 * p + c);
            lowest = fmin(lowest, at[2] - mf_terrain_height(terrain, at[0], at[1], NULL));
        }
        assert_near(lowest, 0.0, 1e-12);
    }
    rig.terrain = terrain;
}

// What the world holds is not lifted: shapes of the file's world would stay behind.
TEST(a_fixed_base_starts_at_height_0) {
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    AUTO_RIG rig = rig_begin(1);
    make_hexapod(rig.hand); // its feet are below its base
    for (int fixed_count = 0; fixed_count < 2; fixed_count++) {
        rig.hand->model.base = fixed_count ? MF_BASE_FIXED : MF_BASE_FREE;
        group.model = &rig.hand->model;
        rig.world = open_world(rig.context, &world);
        rig.group = add_group(rig.world, &group);
        double height = rig_get(&rig, "base.position", 2);
        assert_true(fixed_count ? height == 0.0 : height > 0.1);
        mf_world_destroy(rig.world);
    }
    rig.world = NULL;
}
