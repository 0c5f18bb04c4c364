// The oscillator against its closed form, computed by the C library in double.
#include "control/robot.h"

static Fixture open_oscillator(mf_Isa isa, bool precise, uint32_t count) {
    Fixture fixture = fixture_open(isa, precise, count);
    MUST(mf_oscillator_add(fixture.group,
                           &WITH(mf_oscillator_config(), .rate = fixture_every_step()), &error));
    return fixture;
}

static void set_gait(Fixture *fixture, uint32_t instance) {
    fixture_set(fixture, "oscillator.frequency", instance, 0, 0.75 + 0.125 * instance);
    for (uint32_t j = 0; j < ROBOT_JOINTS; j++) {
        fixture_set(fixture, "oscillator.offset", instance, j, 0.25 * j - 0.5);
        fixture_set(fixture, "oscillator.amplitude", instance, j, 0.5 + 0.125 * j);
        fixture_set(fixture, "oscillator.phase", instance, j, 0.375 * j - 1.0);
    }
}

// Largest difference from the closed form over all robots and joints at the time of the last tick.
static double largest_error(Fixture *fixture, double time) {
    double largest = 0.0;
    for (uint32_t i = 0; i < mf_group_count(fixture->group); i++) {
        for (uint32_t j = 0; j < ROBOT_JOINTS; j++) {
            double cycles = (0.75 + 0.125 * i) * time + 0.375 * j - 1.0;
            double expected = 0.25 * j - 0.5 +
                              (0.5 + 0.125 * j) * sin(6.283185307179586 * (cycles - floor(cycles)));
            double error = fabs(fixture_get(fixture, "joint.target", i, j) - expected);
            largest = error > largest ? error : largest;
        }
    }
    return largest;
}

TEST(targets_follow_the_sine) {
    FOR_EACH_ISA (isa) {
        for (int precise = 0; precise < 2; precise++) {
            AUTO_FIXTURE fixture = open_oscillator(isa, precise, 19);
            for (uint32_t i = 0; i < 19; i++)
                set_gait(&fixture, i);
            // Three turns rounded to float (1.2e-7), as an angle, times the largest amplitude:
            // 1.1e-6; as much again for the sine and the sum. In double nine turns are rounded here
            // and in the library: 2 * 8.9e-16 * 2 pi * 1.4 = 1.6e-14.
            double tolerance = precise ? 2e-14 : 2.2e-6;
            for (int n = 0; n < 300; n++) {
                mf_world_step(fixture.world, 1);
                assert_near(largest_error(&fixture, 0.01 * n), 0.0, tolerance);
            }
        }
    }
}

// At 0 with phase 1/4 the sine is 1, with 1/2 it is 0, with 3/4 it is -1.
TEST(quarter_rotations) {
    AUTO_FIXTURE fixture = open_oscillator(MF_ISA_AUTO, true, 1);
    for (uint32_t j = 0; j < 4; j++) {
        fixture_set(&fixture, "oscillator.amplitude", 0, j, 2.0);
        fixture_set(&fixture, "oscillator.phase", 0, j, 0.25 * j);
    }
    mf_world_step(fixture.world, 1);
    const double expected[4] = {0.0, 2.0, 0.0, -2.0};
    for (uint32_t j = 0; j < 4; j++)
        assert_near(fixture_get(&fixture, "joint.target", 0, j), expected[j], 1e-15);
}

// The error does not grow with simulated time: a world of 1 s steps, three weeks on.
TEST(long_runs_keep_the_phase) {
    AUTO_FIXTURE fixture = {.context = open_context(0), .robot = calloc(1, sizeof *fixture.robot)};
    robot_make(fixture.robot, fixture.context);
    fixture.world = open_world(fixture.context, &WITH(mf_world_config(), .step = MF_SECOND));
    fixture.group =
        add_group(fixture.world, &WITH(mf_group_config(), .model = &fixture.robot->model));
    MUST(mf_oscillator_add(fixture.group,
                           &WITH(mf_oscillator_config(), .rate = mf_rate_from_period(MF_SECOND)),
                           &error));
    set_gait(&fixture, 0);
    mf_world_step(fixture.world, 2000001);
    assert_true(largest_error(&fixture, 2e6) < 2.2e-6);
}

TEST(bad_inputs_stay_in_their_robot) {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    static const char *const names[] = {"oscillator.offset", "oscillator.amplitude",
                                        "oscillator.phase", "oscillator.frequency"};
    for (int precise = 0; precise < 2; precise++) {
        for (int k = 0; k < 12; k++) {
            AUTO_FIXTURE good = open_oscillator(MF_ISA_AUTO, precise, 5),
                         poisoned = open_oscillator(MF_ISA_AUTO, precise, 5);
            for (uint32_t i = 0; i < 5; i++) {
                set_gait(&good, i);
                set_gait(&poisoned, i);
            }
            fixture_set(&poisoned, names[k % 4], 2, 0, bad[k / 4]);
            mf_world_step(good.world, 7);
            mf_world_step(poisoned.world, 7);
            assert_true(isnan(fixture_get(&poisoned, "joint.target", 2, 0)));
            for (uint32_t i = 0; i < 5; i++)
                for (uint32_t j = 0; j < ROBOT_JOINTS; j++)
                    if (i != 2)
                        assert_true(fixture_get(&good, "joint.target", i, j) ==
                                    fixture_get(&poisoned, "joint.target", i, j));
        }
    }
}

TEST(huge_finite_inputs_are_defined) {
    static const double huge[] = {1e30, -1e30, 3e9, -3e9, 1e-40};
    for (size_t k = 0; k < sizeof huge / sizeof *huge; k++) {
        AUTO_FIXTURE fixture = open_oscillator(MF_ISA_AUTO, false, 1);
        fixture_set(&fixture, "oscillator.amplitude", 0, 0, 1.0);
        fixture_set(&fixture, "oscillator.phase", 0, 0, huge[k]);
        fixture_set(&fixture, "oscillator.frequency", 0, 0, huge[k]);
        mf_world_step(fixture.world, 3);
        assert_true(fabs(fixture_get(&fixture, "joint.target", 0, 0)) <= 1.0 + 1e-6);
    }
}

TEST(faulty_robots_keep_their_targets) {
    AUTO_FIXTURE fixture = open_oscillator(MF_ISA_AUTO, false, 4);
    for (uint32_t i = 0; i < 4; i++)
        set_gait(&fixture, i);
    mf_world_step(fixture.world, 3);
    fixture_set(&fixture, "fault.word", 1, 0, MF_FAULT_NONFINITE);
    double before = fixture_get(&fixture, "joint.target", 1, 0);
    double neighbor = fixture_get(&fixture, "joint.target", 2, 0);
    mf_world_step(fixture.world, 5);
    assert_true(fixture_get(&fixture, "joint.target", 1, 0) == before);
    assert_true(fixture_get(&fixture, "joint.target", 2, 0) != neighbor);
}

TEST(bad_settings_are_refused) {
    AUTO_FIXTURE fixture = fixture_open(MF_ISA_AUTO, false, 1);
    mf_OscillatorConfig config = {0};
    assert_int_equal(mf_oscillator_add(fixture.group, &config, NULL), MF_BAD_ARGUMENT);
    config = mf_oscillator_config();
    config.rate.numerator = -1;
    assert_int_equal(mf_oscillator_add(fixture.group, &config, NULL), MF_BAD_ARGUMENT);
    assert_null(mf_group_find_field(fixture.group, "oscillator.phase"));
    // Each attempt gets one field further; what it added is found again by the next.
    for (uint64_t countdown = 1; countdown <= 2; countdown++) {
        mf_context_fail_after(fixture.context, countdown);
        assert_int_equal(mf_oscillator_add(fixture.group, NULL, NULL), MF_NO_MEMORY);
    }
    mf_context_fail_after(fixture.context, 0);
    MUST(mf_oscillator_add(fixture.group, NULL, &error));
    assert_int_equal(mf_oscillator_add(fixture.group, NULL, NULL), MF_BAD_ARGUMENT);
}
