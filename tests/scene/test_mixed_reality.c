// A real can among simulated robots: they see it with a range sensor, turn away from it, and are
// pushed by it.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(setup_context, teardown_context);

enum { ROWS = 8 };

#define SCENE(behavior)                                                                            \
    "world: {step: 0.005}\n"                                                                       \
    "groups:\n"                                                                                    \
    "  - name: real\n    model: ../models/obstacles/can.xml\n"                                     \
    "    motion: {external: {poses: 8, delay: 0.03, hold: 0.2}}\n"                                 \
    "    placement: {poses: [[3, 0, 0]]}\n"                                                        \
    "  - name: simulated\n    model: ../models/modules/wheelbot.urdf\n"                            \
    "    placement: {poses: [[0, 0, 0]]}\n" behavior

// One step of a can that somebody moves along -x towards the robot, from x = 2 m at 0.5 m/s, seen
// 100 times a second.
static void step(mf_Scene *scene, uint32_t tick) {
    const double time = 0.005 * tick, row[8] = {time, 2.0 - 0.5 * time, 0, 0.045, 1, 0, 0, 0};
    for (uint32_t c = 0; c < 8 && tick % 2 == 0; c++)
        set_field(mf_world_group(scene->world, 0), "poses", 0, tick / 2 % ROWS * 8 + c, row[c]);
    mf_world_step(scene->world, 1);
}

// The robot stands: its sensor, 0.1 m before its middle, reads the distance to the can, whose
// radius is 35 mm; then it is pushed back at the can's speed.
TEST(it_is_seen_and_pushes) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, SCENE("    motion: articulated\n"));
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
}

// One that drives towards it turns away.
TEST(it_is_avoided) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, SCENE("    behavior: {wheels: {left: front_left back_left,\n"
                               "      right: front_right back_right, distance: 0.5}}\n"));
    double angle = 0.0;
    for (uint32_t tick = 0; tick < 800; tick++) {
        step(&scene, tick);
        const double gap =
            get(&scene, 0, "base.position", 0, 0) - get(&scene, 1, "base.position", 0, 0);
        const double half = get(&scene, 1, "base.orientation", 0, 3);
        if (gap > 0.8)
            assert_true(fabs(half) < 0.05);
        angle = fmax(angle, fabs(half));
    }
    assert_true(angle > 0.3);
}

// A quadrotor that hovers has it among its neighbours, with its velocity.
TEST(it_is_a_neighbor) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, "world: {step: 0.005}\nproximity: {neighbors: {radius: 5}}\ngroups:\n"
                         "  - name: real\n    model: ../models/obstacles/can.xml\n"
                         "    motion: {external: {poses: 8, delay: 0.03}}\n"
                         "    placement: {poses: [[3, 0, 0]]}\n"
                         "  - name: quad\n    model: ../models/sun2022.yaml\n"
                         "    placement: {poses: [[0, 0, 0]]}\n    height: 1\n");
    for (uint32_t tick = 0; tick < 200; tick++)
        step(&scene, tick);
    assert_near(get(&scene, 1, "neighbor.count", 0, 0), 1, 0);
    const double between = get(&scene, 0, "base.position", 0, 0) - // a step ago at most
                           get(&scene, 1, "base.position", 0, 0);
    assert_near(get(&scene, 1, "neighbor.position", 0, 0), between, 0.005 * 0.5 + 1e-4);
    assert_near(get(&scene, 1, "neighbor.velocity", 0, 0), -0.5, 1e-3);
}

// Where a picture has the links of a group: the middle [pixel] of what is seen of them.
static void middle_of(const int32_t *owner, uint32_t width, uint32_t height, int32_t group,
                      double out[2]) {
    double count = 0.0;
    out[0] = out[1] = 0.0;
    for (uint32_t i = 0; i < width * height; i++)
        if (owner[3 * i] == group) {
            out[0] += i % width + 0.5;
            out[1] += i / width + 0.5;
            count += 1.0;
        }
    assert_true(count > 10);
    out[0] /= count;
    out[1] /= count;
}

// The pose of a body at (x, y, z) that is turned about z.
static void send(mf_Scene *scene, uint32_t group, double time, double x, double y, double z,
                 double heading) {
    const double half = 0.5 * heading, row[8] = {time, x, y, z, cos(half), 0, 0, sin(half)};
    const uint32_t number = (uint32_t)(time / 0.01 + 0.5) % ROWS;
    for (uint32_t c = 0; c < 8; c++)
        set_field(mf_world_group(scene->world, group), "poses", 0, number * 8 + c, row[c]);
}

// A camera of the scene above, and one on a body that is itself real, have a moving can where the
// lens says that its pose is.
TEST(cameras_see_it_where_it_is) {
    AUTO_WHOLE_SCENE scene = scene_of(
        *state, "world: {step: 0.005}\ngroups:\n"
                "  - {name: can, model: ../models/obstacles/can.xml, motion: {external: {poses: 8, "
                "delay: 0.03}}, placement: {poses: [[9, 0, 0]]}}\n"
                "  - {name: eyes, model: ../tests/scene/watcher.xml, motion: {external: {poses: 8, "
                "delay: 0.03}}, cameras: true, placement: {poses: [[0, 9, 0]]}}\n"
                "cameras: [{name: top, position: [0.5, 0, 3], rpy: [0, 1.5707963267948966, 0], "
                "width: 201, height: 161, fovy: 0.6, color: false, segmentation: true}]\n");
    mf_Camera top;
    mf_FreeCamera *above;
    uint32_t group, robot;
    int32_t *owner = malloc(3 * 201 * 161 * sizeof *owner), eye_owner[3 * 65 * 49];
    const mf_CameraPixels pixels = {NULL, NULL, owner};
    MUST(mf_scene_camera(&scene, 0, &top, &group, &robot, &error));
    MUST(mf_free_camera_create(scene.world, &top, &above, &error));
    const mf_Model *eyes = mf_group_model(mf_world_group(scene.world, 1));
    const mf_Lens lenses[2] = {mf_lens_of(&top), mf_lens_of(&eyes->cameras[0])};
    for (uint32_t tick = 0; tick < 200; tick++) {
        const double time = 0.005 * tick, rotation = 0.6 * time;
        if (tick % 2 == 0) {
            send(&scene, 0, time, 0.5 + 0.4 * time, 0.2 - 0.3 * time, 0.2, 0.0);
            send(&scene, 1, time, -0.4, 0.1 * time, 0.2, -0.5 * rotation);
        }
        mf_world_step(scene.world, 1);
        if (tick % 40 != 39)
            continue;
        MUST(mf_cameras_take(scene.world, &error));
        const double x = get(&scene, 0, "base.position", 0, 0),
                     y = get(&scene, 0, "base.position", 0, 1), shown = 0.005 * (tick + 1) - 0.03;
        assert_near(x, 0.5 + 0.4 * shown, 1e-6);
        assert_near(y, 0.2 - 0.3 * shown, 1e-6);
        // Above: x is up in the picture, y to the left; between top and middle of the can.
        double seen[2], expected[2];
        MUST(mf_free_camera_take(above, top.frame.position, top.frame.rotation, MF_NONE, 0, &pixels,
                                 &error));
        middle_of(owner, 201, 161, 0, seen);
        const double point[3] = {3.0 - 0.22, y, x - 0.5};
        assert_true(mf_lens_project(&lenses[0], point, expected));
        assert_near(seen[0], expected[0], 1.5); // of 7 pixels, with its side
        assert_near(seen[1], expected[1], 1.5);
        // From the other body: its heading is -0.3 rad/s.
        const double heading = -0.3 * shown, dx = x + 0.4, dy = y - 0.1 * shown;
        const double ahead[3] = {cos(heading) * dx + sin(heading) * dy - 0.1,
                                 cos(heading) * dy - sin(heading) * dx, 0.0};
        for (uint32_t i = 0; i < 3 * 65 * 49; i++)
            eye_owner[i] = (int32_t)get(&scene, 1, "camera.eye.segmentation", 0, i);
        middle_of(eye_owner, 65, 49, 0, seen);
        assert_true(mf_lens_project(&lenses[1], ahead, expected));
        assert_near(seen[0], expected[0], 1.0);
        assert_near(seen[1], expected[1], 1.0);
        double depth = 1e9;
        for (uint32_t i = 0; i < 65 * 49; i++)
            if (eye_owner[3 * i] == 0)
                depth = fmin(depth, get(&scene, 1, "camera.eye.depth", 0, i));
        assert_near(depth, ahead[0] - 0.035, 2e-3);
    }
    mf_free_camera_destroy(above);
    free(owner);
}
