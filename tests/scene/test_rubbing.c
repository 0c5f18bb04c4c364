// Parts of a robot that one joint connects rub where they are flush and a pair of the file makes
// them collide: dry friction of the pressed faces against its closed form.
#include "rig/rig.h"
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

// [rad/s] of the disk that is pressed and of the one that is clear of the plate.
static void rates(const mf_Scene *scene, double out[2]) {
    for (uint32_t j = 0; j < 2; j++)
        out[j] = get(scene, 0, "joint.rate", 0, j);
}

// Each of the four contacts on the rim, at the radius R, has the load k d, with the depth d and k =
// m / (2 h)^2 of the whole robot's mass m. So the disk, of the moment I, slows down by 4 mu k d R /
// I, at any rate.
TEST(flush_faces_rub) {
    const double h = 0.002, depth = 1e-5, friction = 0.01, radius = 0.03; // [s], [m], [1], [m]
    AUTO_WHOLE_SCENE scene = scene_at(*state, "scenes/rubbing.yaml", NULL, 0);
    const double stiffness = 1.4 / (4.0 * h * h), moment = 0.5 * 0.2 * radius * radius;
    const double slows = 4.0 * friction * stiffness * depth * radius / moment;
    double before[2], after[2];
    for (int k = 0; k < 3; k++) {
        if (k == 0)
            mf_world_step(scene.world, 50);
        rates(&scene, before);
        mf_world_step(scene.world, 200); // 0.4 s
        rates(&scene, after);
        print_message("from %.3f rad/s: slows down by %.4f rad/s^2 of %.4f\n", before[0],
                      (before[0] - after[0]) / 0.4, slows);
        assert_near((before[0] - after[0]) / 0.4, slows, 0.01 * slows);
        assert_near(after[1], 20.0, 1e-3);
    }
    mf_world_step(scene.world, 500);
    rates(&scene, after);
    assert_near(after[0], 0.0, 1e-3);
    assert_near(after[1], 20.0, 1e-3);
}
