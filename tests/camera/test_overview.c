// Where the camera of videos is: at the densest robots, not at the farthest.
#include "support.h"
#include "camera/overview.h"

GROUP_FIXTURE(make_context, drop_context);

#define BALLS                                                                                      \
    "<mujoco><worldbody><geom type='plane' size='0 0 1'/><geom type='box' pos='50 0 0'"            \
    " size='1 1 1'/><body pos='3 0.2 1.1'><freejoint/><geom "                                      \
    "size='0.5'/></body></worldbody></mujoco>"

static Rig open_rig(mf_Context *context, uint32_t count, bool isolated) {
    mf_Camera camera = WITH(mf_camera(), .width = 640, .height = 360);
    mf_camera_set_view(&camera, 0.7);
    return open_world_of(context, BALLS, NULL,
                         WITH(mf_group_config(), .count = count, .isolated = isolated), &camera);
}

static void put(const Rig *rig, uint32_t instance, double x, double y, double z) {
    set_field3(rig->group, "link.pose", instance, x, y, z);
}

typedef struct Look {
    double position[3], ahead[3];
} Look;

static Look look_of(const mf_Overview *overview) {
    Look out;
    double rotation[4];
    mf_overview_pose(overview, out.position, rotation);
    mf_quat_rotate(out.ahead, rotation, (double[3]){1.0, 0.0, 0.0});
    return out;
}

// [m] From the camera to a point along its axis, and from the axis to it.
static double away_from(const Look *look, double x, double y, double z, double *beside) {
    double way[3];
    mf_vec3_sub(way, (double[3]){x, y, z}, look->position);
    const double along = mf_vec3_dot(way, look->ahead);
    *beside = sqrt(mf_vec3_dot(way, way) - along * along);
    return along;
}

#define AUTO_OVERVIEW AUTO(drop) mf_Overview *
static void drop(mf_Overview **overview) {
    mf_overview_destroy(*overview);
}

static mf_Overview *overview_of(const Rig *rig, uint32_t group, uint32_t instance) {
    mf_Overview *out;
    MUST(mf_overview_create(rig->eye, &rig->camera, group, instance, &out, &error));
    return out;
}

// A lone ball fills the picture; the ground and the box in the world do not count.
TEST(one_robot) {
    AUTO_RIG rig = open_rig(*state, 1, false);
    AUTO_OVERVIEW overview = overview_of(&rig, MF_NONE, 0);
    const Look look = look_of(overview);
    double beside;
    const double away = away_from(&look, 3.0, 0.2, 1.1, &beside);
    assert_near(beside, 0.0, 1e-6);
    assert_true(away > 1.0 / tan(0.35) * 0.5 && away < 3.0);
}

// Twenty together and one 1 km away: the twenty are seen, as tall as it takes.
TEST(who_flew_off_does_not_count) {
    AUTO_RIG rig = open_rig(*state, 21, false);
    double beside;
    for (uint32_t i = 0; i < 21; i++)
        put(&rig, i, i == 7 ? 1000.0 : 1.2 * (i % 5), 1.2 * (i / 5), 0.5);
    AUTO_OVERVIEW overview = overview_of(&rig, MF_NONE, 0);
    const Look look = look_of(overview);
    const double away = away_from(&look, 2.4, 2.4, 0.5, &beside);
    assert_true(beside < 0.7);
    assert_true(rig.camera.focal[1] * 1.0 / away > 40.0);
}

// Of two clusters the larger one; of equal ones the first.
TEST(the_larger_crowd) {
    AUTO_RIG rig = open_rig(*state, 12, false);
    double beside;
    for (uint32_t i = 0; i < 12; i++)
        put(&rig, i, (i < 5 ? -100.0 : 100.0) + i % 5, 0.0, 0.5);
    AUTO_OVERVIEW right = overview_of(&rig, MF_NONE, 0);
    Look look = look_of(right);
    away_from(&look, 102.0, 0.0, 0.5, &beside);
    assert_true(beside < 1.5);
    for (uint32_t i = 0; i < 12; i++)
        put(&rig, i, (i < 6 ? -100.0 : 100.0) + i % 6, 0.0, 0.5);
    AUTO_OVERVIEW left = overview_of(&rig, MF_NONE, 0);
    look = look_of(left);
    away_from(&look, -97.5, 0.0, 0.5, &beside);
    assert_true(beside < 1.5);
}

// It goes where they go, farther back where they part, and stays where none is left.
TEST(it_follows) {
    AUTO_RIG rig = open_rig(*state, 2, false);
    double beside, before[3];
    put(&rig, 0, 0.0, 0.0, 0.5);
    put(&rig, 1, 2.0, 0.0, 0.5);
    AUTO_OVERVIEW overview = overview_of(&rig, MF_NONE, 0);
    Look look = look_of(overview);
    const double start = away_from(&look, 1.0, 0.0, 0.5, &beside);
    put(&rig, 0, 0.0, 30.0, 0.5);
    put(&rig, 1, 2.0, 40.0, 0.5);
    mf_overview_follow(overview, 1.0);
    look = look_of(overview);
    assert_true(away_from(&look, 1.0, 35.0, 0.5, &beside) > 2.0 * start);
    assert_near(beside, 0.0, 1e-6);
    mf_vec3_copy(before, look.position);
    put(&rig, 0, (double)NAN, 0.0, 0.5);
    put(&rig, 1, (double)NAN, 0.0, 0.5);
    mf_overview_follow(overview, 1.0);
    look = look_of(overview);
    assert_near3(look.position, before[0], before[1], before[2], 0.0);
}

// Each has the world to itself: the one that is asked for is there, and nobody otherwise.
TEST(isolated_robots) {
    AUTO_RIG rig = open_rig(*state, 3, true);
    double beside;
    put(&rig, 2, -4.0, 1.0, 2.0);
    AUTO_OVERVIEW none = overview_of(&rig, MF_NONE, 0);
    Look look = look_of(none);
    away_from(&look, 0.0, 0.0, 0.0, &beside);
    assert_near(beside, 0.0, 1e-6);
    AUTO_OVERVIEW third = overview_of(&rig, 0, 2);
    look = look_of(third);
    away_from(&look, -4.0, 1.0, 2.0, &beside);
    assert_near(beside, 0.0, 1e-6);
}
