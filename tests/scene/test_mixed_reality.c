// A real can among simulated robots: they see it with a range sensor, turn away from it, and are
// pushed by it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 8 };

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g, not %.9g +- %g", value, expected, tolerance);
}

#define SCENE(behavior)                                                                            \
    "world: {step: 0.005}\n"                                                                       \
    "groups:\n"                                                                                    \
    "  - name: real\n    model: ../models/obstacles/can.xml\n"                                     \
    "    motion: {external: {poses: 8, delay: 0.03, hold: 0.2}}\n"                                 \
    "    place: {poses: [[3, 0, 0]]}\n"                                                            \
    "  - name: simulated\n    model: ../models/modules/wheelbot.urdf\n"                            \
    "    place: {poses: [[0, 0, 0]]}\n" behavior

// One step of a can that somebody moves along -x towards the robot, from x = 2 m at 0.5 m/s, seen
// 100 times a second.
static void step(mf_Scene *scene, uint32_t tick) {
    mf_Field *poses = mf_group_find_field(mf_world_group(scene->world, 0), "poses");
    const double time = 0.005 * tick, row[8] = {time, 2.0 - 0.5 * time, 0, 0.045, 1, 0, 0, 0};
    for (uint32_t c = 0; c < 8 && tick % 2 == 0; c++)
        mf_field_set(poses, 0, tick / 2 % ROWS * 8 + c, row[c]);
    mf_world_step(scene->world, 1);
}

// The robot stands: its sensor, 0.1 m before its middle, reads the distance to the can, whose
// radius is 35 mm; then it is pushed back at the can's speed.
static void it_is_seen_and_pushes(void **state) {
    mf_SceneFile *file = parse_scene(*state, SCENE("    motion: articulated\n"));
    mf_Scene scene = make_scene(*state, file);
    assert_near(get(&scene, 0, "base.position", 0, 0), 3.0, 1e-6);
    for (uint32_t tick = 0; tick < 600; tick++) {
        step(&scene, tick);
        const double real = get(&scene, 0, "base.position", 0, 0);
        const double seen = get(&scene, 1, "sensor.value", 0, 0);
        if (tick < 20)
            continue;
        assert_near(real, 2.0 - 0.5 * (0.005 * (tick + 1) - 0.03), 1e-6);
        assert_near(seen, real - get(&scene, 1, "base.position", 0, 0) - 0.135, 2e-3);
    }
    for (uint32_t tick = 600; tick < 1000; tick++)
        step(&scene, tick);
    const double real = get(&scene, 0, "base.position", 0, 0);
    assert_near(real, 2.0 - 0.5 * (5.0 - 0.03), 1e-6);
    assert_true(get(&scene, 1, "base.position", 0, 0) < real - 0.13);
    assert_true(get(&scene, 1, "base.position", 0, 0) > real - 0.2);
    assert_int_equal(mf_group_fault_total(mf_world_group(scene.world, 0)), 0);
    drop_scene(&scene, file);
}

// One that drives towards it turns away.
static void it_is_avoided(void **state) {
    mf_SceneFile *file =
        parse_scene(*state, SCENE("    behavior: {wheels: {left: front_left back_left,\n"
                                  "      right: front_right back_right, distance: 0.5}}\n"));
    mf_Scene scene = make_scene(*state, file);
    double turned = 0.0;
    for (uint32_t tick = 0; tick < 800; tick++) {
        step(&scene, tick);
        const double gap =
            get(&scene, 0, "base.position", 0, 0) - get(&scene, 1, "base.position", 0, 0);
        const double half = get(&scene, 1, "base.orientation", 0, 3);
        if (gap > 0.8)
            assert_true(fabs(half) < 0.05);
        turned = fmax(turned, fabs(half));
    }
    assert_true(turned > 0.3);
    drop_scene(&scene, file);
}

// A quadrotor that hovers has it among its neighbours, with its velocity.
static void it_is_a_neighbor(void **state) {
    mf_SceneFile *file =
        parse_scene(*state, "world: {step: 0.005}\nproximity: {neighbors: {radius: 5}}\ngroups:\n"
                            "  - name: real\n    model: ../models/obstacles/can.xml\n"
                            "    motion: {external: {poses: 8, delay: 0.03}}\n"
                            "    place: {poses: [[3, 0, 0]]}\n"
                            "  - name: quad\n    model: ../models/sun2022.yaml\n"
                            "    place: {poses: [[0, 0, 0]]}\n    height: 1\n");
    mf_Scene scene = make_scene(*state, file);
    for (uint32_t tick = 0; tick < 200; tick++)
        step(&scene, tick);
    assert_near(get(&scene, 1, "neighbor.count", 0, 0), 1, 0);
    const double between = get(&scene, 0, "base.position", 0, 0) - // a step ago at most
                           get(&scene, 1, "base.position", 0, 0);
    assert_near(get(&scene, 1, "neighbor.position", 0, 0), between, 0.005 * 0.5 + 1e-4);
    assert_near(get(&scene, 1, "neighbor.velocity", 0, 0), -0.5, 1e-3);
    drop_scene(&scene, file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_seen_and_pushes),
        cmocka_unit_test(it_is_avoided),
        cmocka_unit_test(it_is_a_neighbor),
    };
    return cmocka_run_group_tests(tests, setup_context, teardown_context);
}
