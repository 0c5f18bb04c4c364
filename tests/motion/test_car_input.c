// Rejected commands, parameters, settings and steps of cars.
#include "motion/car_rig.h"

TEST(refused_commands_are_counted_and_change_nothing) {
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0.36, -0.36};
    for (int precise = 0; precise < 2; precise++) {
        RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED);
        config.config.control_interval = 5 * MF_MILLISECOND;
        config.group.double_precision = precise;
        AUTO_RIG rig = rig_open(config), good = rig_open(config);
        for (int i = 0; i < 2; i++) {
            rig_set(i ? &good : &rig, "command.speed", 0, 1.0);
            rig_set(i ? &good : &rig, "command.steering", 0, 0.1);
            rig_step(i ? &good : &rig, 100);
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            rig_set(&rig, "command.steering", 0, bad[i]);
            rig_step(&rig, 10);
            rig_step(&good, 10);
            assert_int_equal((int)rig_get(&rig, "command.refused", 0), 2 * ((int)i + 1));
        }
        assert_int_equal((int)rig_get(&good, "command.refused", 0), 0);
        for (uint32_t c = 0; c < 3; c++)
            assert_true(rig_get(&rig, "base.position", c) == rig_get(&good, "base.position", c));
        rig_set(&rig, "command.steering", 0, -0.1);
        rig_step(&rig, 100);
        assert_near(rig_get(&rig, "car.steering", 0), -0.1, 1e-7);
        assert_int_equal((int)rig_get(&rig, "command.refused", 0), 10);
    }
}

TEST(circles_smaller_than_the_car_are_refused) {
    AUTO_RIG rig = rig_open(rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_CIRCLE));
    rig_set(&rig, "command.circle", 2, -0.05);
    rig_step(&rig, 3);
    assert_int_equal((int)rig_get(&rig, "command.refused", 0), 3);
    rig_set(&rig, "command.circle", 2, -0.5);
    rig_step(&rig, 3);
    assert_int_equal((int)rig_get(&rig, "command.refused", 0), 3);
}

TEST(published_cars_are_good) {
    const mf_Car sets[] = {mf_car(), rig_car("car_full_size"), rig_car("car_racing")};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        MUST(mf_car_check(&sets[i], &error));
    MUST_FAIL(mf_car_check(&WITH(mf_car(), .front = 0.0, .rear = 0.0), &error), MF_BAD_ARGUMENT,
              "front + rear > 0");
}

// Tries to add cars to a group that has none and expects a refusal.
static void expect_refusal(const Rig *rig, const mf_Car *car, const mf_CarConfig *config,
                           const char *name) {
    mf_Error error = {0};
    mf_GroupConfig group = mf_group_config();
    group.name = formatted("group %u", mf_world_group_count(rig->world));
    group.model = rig->model;
    mf_Group *out = add_group(rig->world, &group);
    assert_int_equal(rig_add_car(out, car, config, &error), MF_BAD_ARGUMENT);
    if (strncmp(error.message, name, strlen(name)) != 0)
        fail_msg("expected %s, got %s", name, error.message);
    assert_null(mf_vehicle_parameters(out, MF_VEHICLE_CAR));
}

TEST(bad_settings_and_steps_are_refused) {
    RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED);
    AUTO_RIG rig = rig_open(config);
    expect_refusal(&rig, &WITH(config.car, .blend_high = 0.01, .blend_low = 0.005), &config.config,
                   "car.blend_high: ");
    expect_refusal(&rig, &WITH(config.car, .steering_lag = 0.0005), &config.config,
                   "car.steering_lag: ");
    const double positions[2][2] = {{0, 0}, {1, 0}};
    MUST_FAIL(mf_car_set_path(rig.group, positions, 2, false, &error), MF_BAD_ARGUMENT, "");
}
