// Cameras that take pictures while the world runs: rates, delays, resets, snapshots, isolated and
// shared groups, and the same bits for any number of threads.
#include "rig/rig.h"

GROUP_FIXTURE(make_context, drop_context);

enum { SIDE = 12, PIXELS = SIDE * SIDE };

// Falls from 10 m with a camera that looks down; the ground is as deep as it is high.
#define FALLING(more)                                                                              \
    "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' "  \
    "ixy='0' ixz='0' iyz='0'/></inertial><visual><geometry><sphere radius='0.01'/></geometry>"     \
    "<origin xyz='0 0 1'/></visual></link><mayfly><camera name='eye' link='a' width='12' "         \
    "height='12' rpy='0 1.5707963267948966 0' depth='true' segmentation='true' " more              \
    "/></mayfly></robot>"

typedef struct Rig {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Field *depth, *height;
} Rig;

static Rig open_rig(mf_Context *context, const char *text, uint32_t count, bool isolated) {
    Rig rig = {.model = load_text(context, text)};
    rig.world = open_world(context, NULL);
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = rig.model, .count = count,
                                           .isolated = isolated, .double_precision = true));
    MUST(mf_motion_add(rig.group, MF_MOTION_ARTICULATED, NULL, &error));
    for (uint32_t i = 0; i < count; i++) {
        const double at[3] = {3.0 * i, 0.0, 10.0 + i};
        MUST(mf_group_set_start(rig.group, i, at, NULL, NULL, &error));
    }
    MUST(mf_cameras_add(rig.world, &error));
    MUST(mf_cameras_take(rig.world, &error));
    rig.depth = mf_group_find_field(rig.group, "camera.eye.depth");
    rig.height = mf_group_find_field(rig.group, "base.position");
    return rig;
}

static void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

static double height_of(const Rig *rig, uint32_t instance) {
    return mf_field_get(rig->height, instance, 2);
}

// The depth of all pixels, which see the ground.
static double depth_of(const Rig *rig, uint32_t instance) {
    const double first = mf_field_get(rig->depth, instance, 0);
    for (uint32_t c = 1; c < PIXELS; c++)
        if (fabs(mf_field_get(rig->depth, instance, c) - first) > 1e-5)
            fail_msg("pixel %u: %g, not %g", c, mf_field_get(rig->depth, instance, c), first);
    return first;
}

// Steps of 10 ms, 40/3 pictures per second: at 0, 75, 150 ms, ...; seen in the state of the step in
// which they fall.
TEST(rates_are_exact) {
    for (int isolated = 0; isolated < 2; isolated++) {
        AUTO_RIG rig = open_rig(*state, FALLING("rate='13.333333333'"), 3, isolated);
        double expected[3];
        mf_Time next = 75 * MF_MILLISECOND;
        uint32_t taken = 0;
        for (uint32_t i = 0; i < 3; i++)
            expected[i] = height_of(&rig, i);
        for (int step = 1; step <= 60; step++) {
            mf_world_step(rig.world, 1);
            const mf_Time now = mf_world_time(rig.world);
            // A rate of nine decimals is 0.2 ns late after a second.
            if (now > next) {
                for (uint32_t i = 0; i < 3; i++)
                    expected[i] = height_of(&rig, i);
                next += 75 * MF_MILLISECOND;
                taken++;
            }
            for (uint32_t i = 0; i < 3; i++)
                assert_near(depth_of(&rig, i), expected[i], 1e-5);
        }
        assert_int_equal(taken, 7);
    }
}

TEST(fields_are_what_they_say) {
    AUTO_RIG rig = open_rig(*state, FALLING(""), 2, false);
    const mf_Field *color = mf_group_find_field(rig.group, "camera.eye.color"),
                   *owner = mf_group_find_field(rig.group, "camera.eye.segmentation");
    assert_int_equal(rig.depth->info.type, MF_F32);
    assert_int_equal(rig.depth->components, PIXELS);
    assert_int_equal(color->info.type, MF_U32);
    assert_int_equal(owner->components, 3 * PIXELS);
    for (uint32_t c = 0; c < PIXELS; c++) {
        const uint32_t rgba = (uint32_t)mf_field_get(color, 1, c);
        assert_int_equal(rgba >> 24, 255);
        assert_true((rgba & 255) > 60 && (rgba >> 8 & 255) > 60);
        assert_near(mf_field_get(owner, 1, 3 * c), -2.0, 0.0); // the ground
    }
    assert_non_null(strstr(mf_cameras_device(mf_world_isa(rig.world)), "software ("));
}

// Pictures of 50 per second, 30 ms late: between ticks, and never one that was not taken.
TEST(delays_are_exact) {
    for (int isolated = 0; isolated < 2; isolated++) {
        AUTO_RIG rig = open_rig(*state, FALLING("rate='50' delay='0.03'"), 2, isolated);
        double past[40];
        past[0] = height_of(&rig, 1);
        for (int step = 1; step < 40; step++) {
            mf_world_step(rig.world, 1);
            past[step] = height_of(&rig, 1);
            // At 3, 5, 7, ... steps the picture of 0, 2, 4, ... appears.
            const int shown = step < 3 ? 0 : (step - 3) / 2 * 2;
            assert_near(depth_of(&rig, 1), past[shown], 1e-5);
        }
    }
}

// Ten pictures per second, each read within 50 ms: row r of 12 is as high as the robot was at the
// end of the step of 10 ms in which its moment falls.
TEST(rolling_shutters_read_row_by_row) {
    for (int isolated = 0; isolated < 2; isolated++) {
        AUTO_RIG rig =
            open_rig(*state, FALLING("rate='10' readout='0.05' delay='0.01'"), 2, isolated);
        const mf_Field *owner = mf_group_find_field(rig.group, "camera.eye.segmentation"),
                       *color = mf_group_find_field(rig.group, "camera.eye.color");
        double past[40];
        past[0] = height_of(&rig, 1);
        for (int step = 1; step < 40; step++) {
            mf_world_step(rig.world, 1);
            past[step] = height_of(&rig, 1);
            const int end = (step - 1) / 10 * 10; // [10 ms] of the picture that is visible
            for (uint32_t r = 0; r < SIDE; r++) {
                const double moment = end - 5.0 + 5.0 * r / (SIDE - 1);
                const int taken = end == 0 ? 0 : (int)ceil(moment - 1e-9);
                for (uint32_t c = 0; c < SIDE; c++) {
                    assert_near(mf_field_get(rig.depth, 1, r * SIDE + c), past[taken], 1e-5);
                    assert_near(mf_field_get(owner, 1, 3 * (r * SIDE + c)), -2.0, 0.0);
                    assert_true((uint32_t)mf_field_get(color, 1, r * SIDE + c) >> 24 == 255);
                }
            }
        }
    }
}

TEST(resets_take_new_pictures) {
    AUTO_RIG rig = open_rig(*state, FALLING("rate='50' delay='0.03'"), 2, true);
    mf_world_step(rig.world, 50);
    assert_true(depth_of(&rig, 0) < 9.5);
    mf_group_reset(rig.group, 0);
    assert_near(depth_of(&rig, 0), 10.0, 1e-5);
    assert_true(depth_of(&rig, 1) < 10.5);
    mf_world_step(rig.world, 1); // nothing from before is on its way
    assert_true(depth_of(&rig, 0) > 9.9);
}

TEST(snapshots_go_on) {
    for (int isolated = 0; isolated < 2; isolated++) {
        AUTO_RIG rig = open_rig(
            *state, FALLING("rate='25' delay='0.05' noise='0.1' readout='0.03'"), 3, isolated);
        mf_world_step(rig.world, 13);
        size_t size;
        AUTO(end_memory) void *image = take_snapshot(rig.world, &size);
        mf_world_step(rig.world, 20);
        const uint64_t hash = mf_world_hash(rig.world);
        MUST(mf_world_restore(rig.world, image, size, &error));
        assert_true(mf_world_hash(rig.world) != hash);
        mf_world_step(rig.world, 20);
        assert_true(mf_world_hash(rig.world) == hash);
    }
}

static uint64_t run_with(uint32_t threads, bool isolated, uint32_t steps_at_once) {
    AUTO_CONTEXT *context = open_context(threads);
    AUTO_RIG rig = open_rig(context, FALLING("noise='0.1' blur='0.7' rate='30' readout='0.025'"),
                            37, isolated);
    for (uint32_t i = 0; i < 24; i += steps_at_once)
        mf_world_step(rig.world, steps_at_once);
    return mf_world_hash(rig.world);
}

TEST(threads_do_not_count) {
    for (int isolated = 0; isolated < 2; isolated++) {
        const uint64_t hash = run_with(1, isolated, 1);
        assert_true(run_with(4, isolated, 1) == hash);
        assert_true(run_with(3, isolated, 8) == hash);
    }
}

TEST(robots_have_their_own_noise) {
    AUTO_RIG rig = open_rig(*state, FALLING("noise='0.2'"), 2, true);
    const mf_Field *color = mf_group_find_field(rig.group, "camera.eye.color");
    uint32_t same = 0;
    for (uint32_t c = 0; c < PIXELS; c++)
        same += mf_field_get(color, 0, c) == mf_field_get(color, 1, c);
    assert_true(same < PIXELS / 10);
}

TEST(refusals) {
    const struct {
        const char *text, *message;
        mf_Status status;
    } rows[] = {
        {FALLING("rate='101'"),
         "camera eye: 101 pictures per second are more than one per step of 0.01 s",
         MF_BAD_ARGUMENT},
        {FALLING("readout='0.051'"),
         "camera eye: a readout of 0.051 s is longer than the time between two pictures",
         MF_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO_MODEL *model = load_text(*state, rows[i].text);
        AUTO_WORLD *world = open_world(*state, NULL);
        add_group(world, &WITH(mf_group_config(), .model = model));
        MUST_FAIL(mf_cameras_take(world, &error), MF_NOT_FOUND, "");
        MUST_FAIL_AS(mf_cameras_add(world, &error), rows[i].status, rows[i].message);
    }
    AUTO_RIG rig = open_rig(*state, FALLING(""), 1, true);
    MUST_FAIL_AS(mf_cameras_add(rig.world, &error), MF_BAD_ARGUMENT,
                 "cameras: the world has them already");
    MUST_FAIL(mf_cameras_add(NULL, &error), MF_BAD_ARGUMENT, "");
}

// Pictures are fields: a sensor of the user reads them, and its signal saturates and converts.
TEST(sensors_read_pictures) {
    AUTO_RIG rig = open_rig(*state, FALLING("rate='20'"), 2, true);
    const mf_Signal signal = {.saturation = {0.0, 9.9}, .resolution = 0.25};
    MUST(mf_sensor_add_field(rig.group, "sonar", "camera.eye.depth", 0, PIXELS, &signal, &error));
    const mf_Field *sonar = mf_group_find_field(rig.group, "sonar");
    for (int step = 1; step <= 30; step++) {
        mf_world_step(rig.world, 1);
        for (uint32_t i = 0; i < 2; i++) {
            const double seen = 0.25 * round(fmin(depth_of(&rig, i), 9.9) / 0.25);
            for (uint32_t c = 0; c < PIXELS; c++)
                assert_near(mf_field_get(sonar, i, c), seen, 1e-6);
        }
    }
    assert_true(depth_of(&rig, 0) < 9.7); // it fell
}
