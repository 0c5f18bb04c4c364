// Policies that ship, in scenes: the wave of a snake, oscillators that lock, joints and wheels that
// are driven, a track that rolls.
#include "rig/rig.h"
#include "scene/support.h"

static const double two_pi = 6.283185307179586;

GROUP_FIXTURE(setup_context, teardown_context);

static double value(const mf_Scene *scene, const char *field, uint32_t robot, uint32_t component) {
    return get_field(scene->group, field, robot, component);
}

static void run(const mf_Scene *scene, double seconds) {
    mf_world_step(scene->world, (uint64_t)(seconds / mf_time_to_seconds(scene->step) + 0.5));
}

static double wrap(double angle) {
    return angle - two_pi * floor(angle / two_pi + 0.5);
}

static const char snake[] =
    "name: s\nworld: {step: 0.002}\nmessages: {}\nrun: {duration: 1}\ngroups:\n"
    "  - {name: m, model: ../models/modules/pitch.urdf, count: 6, heading: 1.5707963267948966,\n"
    "     placement: {line: {distance: 0.1}}, behavior_interval: 0.02,\n"
    "     behavior: {snake: {amplitude: 0.6, frequency: 0.6, lag: 1.2}}}\n";

// Robot 5 is the head: its front is free. Robot k is the module 5 - k of the chain.
TEST(a_snake_is_a_wave_that_crawls) {
    double start[2], direction[2];
    AUTO_WHOLE_SCENE scene = scene_of(*state, snake);
    for (uint32_t c = 0; c < 2; c++)
        start[c] = value(&scene, "base.position", 2, c);
    run(&scene, 5.0);
    const double head = value(&scene, "snake.memory", 5, 0);
    assert_near(wrap(head - 5.0 * 0.6 * two_pi), 0.0, 1e-9);
    for (uint32_t k = 0; k < 6; k++) {
        assert_near(value(&scene, "snake.memory", k, 1), 5 - k, 0.0);
        assert_near(wrap(value(&scene, "snake.memory", k, 0) - head + 1.2 * (5 - k)), 0.0, 2e-6);
        assert_near(value(&scene, "joint.target", k, 0),
                    0.6 * sin(value(&scene, "snake.memory", k, 0)), 1e-6);
    }
    for (uint32_t c = 0; c < 2; c++)
        direction[c] = value(&scene, "base.position", 2, c) - start[c];
    assert_true(hypot(direction[0], direction[1]) > 0.15);
}

// The same by a plugin, which uses the fields of messages.
TEST(a_plugin_gets_its_messages) {
    const char *text = formatted(
        "name: s\nworld: {step: 0.002}\nmessages: {}\nrun: {duration: 1}\ngroups:\n"
        "  - {name: m, model: ../models/modules/pitch.urdf, count: 20, chain: {first: back, "
        "second: front},\n     plugins: [{file: %s/plugins/plugin_wave.so, tick: 0.01}]}\n",
        MAYFLY_BINARY_DIR);
    mf_plugins_allow(*state, true);
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    run(&scene, 0.1);
    assert_near(value(&scene, "wave.place", 9, 0), 9, 0.0);
    assert_near(value(&scene, "wave.place", 19, 0), 9, 0.0); // a place further in each tick
    run(&scene, 0.4);
    for (uint32_t i = 0; i < 20; i++)
        assert_near(value(&scene, "wave.place", i, 0), i, 0.0);
    const mf_MessagesStatistics sum = mf_messages_statistics(mf_messages_of(scene.world));
    assert_int_equal(sum.delivered, 19 * 50);
    assert_int_equal(sum.overflowed, 0);
}

// Steps of 10 ms, because phases are counted by the policies: every other step.
static const char pair[] =
    "name: s\nworld: {step: 0.01, gravity: 0, seed: %u}\nmessages: {}\nrun: {duration: "
    "1}\ngroups:\n"
    "  - {name: m, model: ../models/modules/pitch.urdf, count: %u, heading: 1.5707963267948966,\n"
    "     placement: {line: {distance: 0.1}}, behavior_interval: 0.02,\n"
    "     behavior: {phase: {frequency: 1, coupling: %g, scatter: %g, amplitude: 0.05}}}\n";

// Two lock with sin(difference of phases) = difference of frequencies / (2 coupling).
TEST(two_oscillators_lock_as_computed) {
    for (uint32_t seed = 1; seed <= 3; seed++) {
        AUTO_WHOLE_SCENE scene = scene_of(*state, formatted(pair, seed, 2u, 2.0, 0.1));
        run(&scene, 10.0);
        const double rates =
            value(&scene, "phase.memory", 0, 2) - value(&scene, "phase.memory", 1, 2);
        const double phases =
            value(&scene, "phase.memory", 0, 0) - value(&scene, "phase.memory", 1, 0);
        assert_true(fabs(rates) > 0.01 && fabs(rates) < 4.0);
        assert_near(sin(phases), rates / 4.0, 1e-4);
    }
}

// Eight in a row with equal frequencies: their phases become one.
TEST(a_row_of_oscillators_agrees) {
    double sum[2] = {0.0, 0.0};
    AUTO_WHOLE_SCENE scene = scene_of(*state, formatted(pair, 4u, 8u, 8.0, 0.0));
    run(&scene, 0.02);
    for (uint32_t i = 0; i < 8; i++) {
        sum[0] += cos(value(&scene, "phase.memory", i, 0)) / 8;
        sum[1] += sin(value(&scene, "phase.memory", i, 0)) / 8;
    }
    assert_true(hypot(sum[0], sum[1]) < 0.8);
    run(&scene, 15.0);
    for (uint32_t i = 1; i < 8; i++)
        assert_near(wrap(value(&scene, "phase.memory", i, 0) - value(&scene, "phase.memory", 0, 0)),
                    0.0, 1e-3);
}

// ---- driven joints ------------------------------------------------------------------------------

static const char rover[] =
    "name: s\nworld: {step: 0.002}\nrun: {duration: 1}\n"
    "ground: {file: yard.pgm, cell: 0.25, scale: 0.4, interpolation: bilinear}\ngroups:\n"
    "  - {name: r, model: ../tests/scene/rover.xml, placement: {poses: [[0, 0, 0.3]]},\n"
    "     behavior: %s}\n";

TEST(joints_spin_at_the_speed) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, formatted(rover, "{spin: {speed: 4, joint: left_front right_front}}"));
    run(&scene, 0.1);
    assert_near(value(&scene, "actuator.control", 0, 0), 4.0, 0.0);
    assert_near(value(&scene, "actuator.control", 0, 1), 0.0, 0.0); // of the rear
    drop_whole_scene(&scene);
    scene = scene_of(*state, formatted(rover, "{spin: {speed: 4}}"));
    run(&scene, 1.0);
    assert_near(
        value(&scene, "joint.rate", 0, mf_model_find(scene.model, MF_ITEM_JOINT, "left_front")),
        4.0, 0.4);
    drop_whole_scene(&scene);
    scene =
        scene_of(*state, "name: s\nworld: {step: 0.002, gravity: 0}\nrun: {duration: 1}\ngroups:\n"
                         "  - {name: m, model: ../models/modules/pitch.urdf,\n"
                         "     behavior: {spin: {speed: 0.5}}, behavior_interval: 0.01}\n");
    run(&scene, 1.0);
    assert_near(value(&scene, "joint.target", 0, 0), 0.5, 1e-5);
    assert_near(value(&scene, "joint.rate", 0, 0), 0.5, 0.02);
}

// It drives at 5 rad/s times 42 mm until it sees a wall, and never gets stuck.
TEST(a_wheelbot_turns_away_from_walls) {
    double distance = 0.0, angle = 0.0;
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/wheelbot.yaml", NULL, 0);
    run(&scene, 1.0);
    assert_near(value(&scene, "base.linear_velocity", 0, 0), 0.21, 1e-3);
    for (uint32_t k = 0; k < 120; k++) {
        double before[2], step[2];
        for (uint32_t c = 0; c < 2; c++)
            before[c] = value(&scene, "base.position", 0, c);
        run(&scene, 0.5);
        for (uint32_t c = 0; c < 2; c++)
            step[c] = value(&scene, "base.position", 0, c) - before[c];
        distance += hypot(step[0], step[1]);
        angle += value(&scene, "wheels.memory", 0, 0) > 0.0;
        assert_true(fabs(value(&scene, "base.position", 0, 0)) < 1.75); // inside
        assert_true(fabs(value(&scene, "base.position", 0, 1)) < 1.75);
    }
    assert_true(distance > 6.0);
    assert_true(angle > 5 && angle < 80);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
}

// [m], [rad] How far scenes/atron_car.yaml gets in five seconds, and how it turns.
static void drive(mf_Context *context, const char *right, double direction[2], double *turned) {
    const mf_Override overrides[] = {{"groups.right.behavior.spin.speed", right}};
    double q[4];
    AUTO_WHOLE_SCENE scene = scene_at(context, "scenes/atron_car.yaml", overrides, 1);
    run(&scene, 5.0);
    for (uint32_t c = 0; c < 4; c++)
        q[c] = value(&scene, "base.orientation", 0, c);
    for (uint32_t c = 0; c < 2; c++)
        direction[c] = value(&scene, "base.position", 0, c);
    // The body's z axis lies along the car.
    *turned = atan2(2.0 * (q[2] * q[3] - q[0] * q[1]), 2.0 * (q[1] * q[3] + q[0] * q[2]));
}

// Wheels roll on the rims of their outer halves, 40 mm from their axes.
TEST(an_atron_car_drives_and_turns) {
    double direction[2], angle;
    drive(*state, "0.5", direction, &angle);
    assert_near(fabs(direction[0]), 5.0 * 0.5 * 0.04, 0.01);
    assert_near(direction[1], 0.0, 0.01);
    assert_near(angle, 0.0, 0.02);
    if (SANITIZED)
        return; // the same code
    drive(*state, "-0.5", direction, &angle);
    assert_true(fabs(angle) > 0.5);
}

// ---- a track ------------------------------------------------------------------------------------

// [m] How far the ring of scenes/track.yaml gets along x in five seconds.
static double roll(mf_Context *context, const char *stretch, const char *lean) {
    const mf_Override overrides[] = {{"groups.modules.behavior.track.stretch", stretch},
                                     {"groups.modules.behavior.track.lean", lean},
                                     {"world.step", "0.005"}};
    double distance = 0.0;
    AUTO_WHOLE_SCENE scene = scene_at(context, "scenes/track.yaml", overrides, SANITIZED ? 3 : 2);
    for (uint32_t i = 0; i < 8; i++)
        distance -= value(&scene, "base.position", i, 0) / 8;
    run(&scene, 5.0);
    for (uint32_t i = 0; i < 8; i++)
        distance += value(&scene, "base.position", i, 0) / 8;
    assert_int_equal(mf_group_fault_total(scene.group), 0);
    return distance;
}

// Towards the side to which it leans; a circle stands.
TEST(a_track_rolls_where_it_leans) {
    assert_true(roll(*state, "0.3", "0.8") > 1.5);
    if (SANITIZED)
        return; // the others run the same code
    assert_true(roll(*state, "0.3", "2.34") < -1.5);
    assert_near(roll(*state, "0", "0.8"), 0.0, 0.05);
}

// scenes/reconfigure.yaml in steps of 5 ms: SuperBots roll more than a meter, open one dock of six
// after 4 s, lie down in a row, and crawl on.
static double forward_of(const mf_Scene *scene) {
    double sum = 0.0;
    for (uint32_t i = 0; i < 6; i++)
        sum += get_field(mf_world_group(scene->world, 0), "base.position", i, 0) / 6.0;
    return sum;
}

TEST(a_track_becomes_a_snake) {
    const mf_Override step = {"world.step", "0.005"};
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/reconfigure.yaml", &step, 1);
    const mf_WorldDocks *docks = mf_world_docks_of(scene.world);
    double began = forward_of(&scene);
    mf_world_step(scene.world, 799); // 3.995 s
    assert_int_equal(mf_docks_statistics(docks).released, 0);
    assert_true(forward_of(&scene) - began > 1.0);
    mf_world_step(scene.world, 401); // 6 s
    assert_int_equal(mf_docks_statistics(docks).released, 1);
    assert_int_equal(mf_world_joints_count(mf_world_joints_of(scene.world)), 5);
    began = forward_of(&scene);
    if (!SANITIZED) {
        mf_world_step(scene.world, 1000);
        assert_true(fabs(forward_of(&scene) - began) > 0.1);
    }
    for (uint32_t i = 0; i < 6 && !SANITIZED; i++)
        assert_true(get_field(mf_world_group(scene.world, 0), "base.position", i, 2) < 0.2);
}

// ---- mistakes -----------------------------------------------------------------------------------

TEST(mistakes_are_one_line) {
    static const char *const rows[][2] = {
        {"{snake: {}}", "requires the section messages"},
        {"{spin: {joint: lef_front}}",
         "behavior.spin: expected names of hinges or slides of rover"},
        {"{track: {}}", "behavior.track: rover has no accelerometer"},
        {"{wheels: {left: left_front, right: right_front, sensor: nose}}",
         "rover has no range sensor 'nose'"},
        {"{wheels: {left: left_front}}", "behavior.wheels.right"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mf_Error error = refused_scene(*state, formatted(rover, rows[i][0]), false);
        assert_fails(error.status, MF_BAD_FILE, &error, rows[i][1]);
    }
}

TEST(mistakes_of_modules_are_one_line) {
    static const char *const rows[][2] = {
        {"{arm: {front: front, back: back}}", "arm: messages.size is 16, need at least 52 bytes"},
        {"{car: {front: nose}}", "car: pitch has no dock 'nose'"},
        {"{hormone: {joint: knee}}", "hormone: expected names of hinges or slides of pitch"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mf_Error error = refused_scene(
            *state,
            formatted("name: s\nmessages: {}\ngroups:\n  - name: m\n    model: "
                      "../models/modules/pitch.urdf\n    count: 2\n    behavior: %s\n",
                      rows[i][0]),
            false);
        assert_fails(error.status, MF_BAD_FILE, &error, rows[i][1]);
        assert_int_equal(error.line, 7);
    }
}
