// The ball around what a camera sees, against sums by hand.
#include "support.h"
#include "camera/extent.h"

GROUP_FIXTURE(make_context, drop_context);

#define BALLS                                                                                      \
    "<mujoco><worldbody><geom type='plane' size='0 0 1'/><geom type='box' pos='50 0 0'"            \
    " size='1 1 1'/><body pos='3 0.2 1.1'><freejoint/><geom "                                      \
    "size='0.5'/></body></worldbody></mujoco>"

static Rig open_rig(mf_Context *context, uint32_t count, bool isolated) {
    const mf_Camera camera = mf_camera();
    return open_world_of(context, BALLS, NULL,
                         WITH(mf_group_config(), .count = count, .isolated = isolated), &camera);
}

static void put(const Rig *rig, uint32_t instance, double x, double y, double z) {
    set_field3(rig->group, "link.pose", instance, x, y, z);
}

// A lone ball of 0.5 m; the ground and the box in the world do not count.
TEST(one_robot) {
    AUTO_RIG rig = open_rig(*state, 1, false);
    double middle[3], radius;
    MUST(mf_free_camera_extent(rig.eye, MF_NONE, 0, middle, &radius, &error));
    assert_near3(middle, 3.0, 0.2, 1.1, 1e-6);
    assert_near(radius, 0.5, 1e-6);
}

// Mean 2, 0, 1; the farthest are 3 m from it; a robot with a broken pose is none.
TEST(several_robots) {
    AUTO_RIG rig = open_rig(*state, 4, false);
    double middle[3], radius;
    put(&rig, 0, -1.0, 0.0, 1.0);
    put(&rig, 1, 5.0, 0.0, 1.0);
    put(&rig, 2, 2.0, 0.0, 1.0);
    put(&rig, 3, (double)NAN, 0.0, 1.0);
    MUST(mf_free_camera_extent(rig.eye, MF_NONE, 0, middle, &radius, &error));
    assert_near3(middle, 2.0, 0.0, 1.0, 1e-6);
    assert_near(radius, 3.5, 1e-6);
}

// Of 21 robots one flew off: mean 1000 / 21, mean square 20 (1000 / 21)^2 + 0.25.
TEST(robots_that_fly_off) {
    AUTO_RIG rig = open_rig(*state, 21, false);
    const double mean = 1000.0 / 21.0;
    double middle[3], radius;
    for (uint32_t i = 0; i < 21; i++)
        put(&rig, i, i == 0 ? 1000.0 : 0.0, 0.0, 0.0);
    MUST(mf_free_camera_extent(rig.eye, MF_NONE, 0, middle, &radius, &error));
    assert_true(fabs(middle[0] - mean) < 1e-9);
    assert_true(fabs(radius - 3.0 * sqrt(20.0 * mean * mean + 0.25)) < 1e-6);
}

// Each has the world to itself: the one that is asked for is there, and nobody otherwise.
TEST(isolated_robots) {
    AUTO_RIG rig = open_rig(*state, 3, true);
    double middle[3] = {7.0, 7.0, 7.0}, radius = 7.0;
    put(&rig, 2, -4.0, 1.0, 2.0);
    MUST_FAIL(mf_free_camera_extent(rig.eye, MF_NONE, 0, middle, &radius, &error), MF_NOT_FOUND,
              "");
    assert_true(middle[0] == 7.0 && radius == 7.0);
    MUST(mf_free_camera_extent(rig.eye, 0, 2, middle, &radius, &error));
    assert_true(fabs(middle[0] - -4.0) < 1e-6);
    assert_true(fabs(radius - 0.5) < 1e-6);
}
