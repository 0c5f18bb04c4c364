// Forward kinematics and the model's hash.
#include "model/support.h"
#include "model/points.h"

#include "math/scalar.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define QUARTER 1.57079632679489661923

static const char *const arm =
    "<robot name='arm'>\n"
    "<link name='base'><inertial><mass value='1'/></inertial></link>\n"
    "<link name='upper'><inertial><mass value='1'/></inertial></link>\n"
    "<link name='lower'><inertial><mass value='1'/></inertial></link>\n"
    "<joint name='turn' type='revolute'><parent link='base'/><child link='upper'/>\n"
    "<origin xyz='0 0 1' rpy='0 0 1.57079632679489661923'/><axis xyz='0 1 0'/>\n"
    "<limit lower='-3' upper='3' velocity='1' effort='1'/></joint>\n"
    "<joint name='slide' type='prismatic'><parent link='upper'/><child link='lower'/>\n"
    "<origin xyz='2 0 0'/><axis xyz='1 0 0'/>\n"
    "<limit lower='0.5' upper='1.5' velocity='1' effort='1'/></joint></robot>";

TEST(links_follow_their_joints) {
    AUTO_MODEL *model = load_urdf(*state, arm);
    double position[3][3], rotation[3][4];
    const double zero[2] = {0.0, 0.0}, bent[2] = {QUARTER, 1.0};
    mf_model_pose(model, zero, position, rotation);
    assert_near3(position[0], 0.0, 0.0, 0.0, 0.0);
    assert_near3(position[1], 0.0, 0.0, 1.0, 1e-15);
    assert_near3(position[2], 0.0, 2.0, 1.0, 1e-15); // x of the yawed frame is y of the base
    mf_model_pose(model, bent, position, rotation);
    // Turning x about y by 90 degrees points it down; the slide adds 1.
    assert_near3(position[2], 0.0, 0.0, -2.0, 1e-14);
}

TEST(either_array_may_be_missing) {
    AUTO_MODEL *model = load_urdf(*state, arm);
    const double angle[2] = {0.3, 0.7};
    double position[3][3], rotation[3][4], alone_position[3][3], alone_rotation[3][4];
    mf_model_pose(model, angle, position, rotation);
    mf_model_pose(model, angle, alone_position, NULL);
    mf_model_pose(model, angle, NULL, alone_rotation);
    for (int i = 0; i < 3; i++) {
        assert_near3(alone_position[i], position[i][0], position[i][1], position[i][2], 1e-15);
        for (int k = 0; k < 4; k++)
            assert_near(alone_rotation[i][k], rotation[i][k], 1e-15);
    }
}

TEST(start_angles_are_zero_inside_the_range) {
    AUTO_MODEL *model = load_urdf(*state, arm);
    assert_near(model->start_angle[0], 0.0, 0.0);
    assert_near(model->start_angle[1], 0.5, 0.0);
    assert_near(model->rest_height, 0.0, 0.0); // nothing collides
}

// Tilted by t about x, a shape reaches below its middle: a box (a, b, c) by (b sin t + c cos t) /
// 2, a cylinder by r sin t + l/2 cos t, a capsule by r + l/2 cos t, a ball by r.
TEST(shapes_reach_down_as_far_as_they_should) {
    static const char *const bodies[] = {
        "<box size='0.2 0.4 0.6'/>", "<cylinder radius='0.1' length='0.5'/>",
        "<capsule radius='0.1' length='0.5'/>", "<sphere radius='0.3'/>"};
    const double tilt = 0.4, sine = 0.38941834230865049, cosine = 0.92106099400288508;
    const double depth[] = {0.2 * sine + 0.3 * cosine, 0.1 * sine + 0.25 * cosine,
                            0.1 + 0.25 * cosine, 0.3};
    for (int i = 0; i < 4; i++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted(
                "<robot name='r'><link name='b'><inertial><mass value='1'/></inertial><collision>"
                "<origin xyz='0.1 0 0.2'/><geometry>%s</geometry></collision></link></robot>",
                bodies[i]));
        double position[1][3] = {{5, 6, 7}},
               rotation[1][4] = {{cos(tilt / 2), sin(tilt / 2), 0, 0}};
        double point[3], world[3], middle = 7.0 + 0.2 * cosine;
        double height = mf_model_shape_lowest(model, 0, position[0], rotation[0], point);
        assert_near(height, middle - depth[i], 1e-15);
        assert_near(mf_model_lowest(model, position, rotation, true), height, 0.0);
        mf_quat_rotate(world, rotation[0], point);
        assert_near(7.0 + world[2], height, 1e-15);
    }
}

TEST(the_hash_sees_motion_and_not_paint) {
    const char *const plain =
        "<robot name='a'><link name='b'><inertial><mass value='1'/></inertial>"
        "<collision><geometry><box size='1 1 1'/></geometry></collision>"
        "</link></robot>";
    const char *const painted =
        "<robot name='c'><link name='d'><inertial><mass value='1'/></inertial>"
        "<visual><geometry><sphere radius='0.1'/></geometry><material><color rgba='1 0 0 1'/>"
        "</material></visual>"
        "<collision><geometry><box size='1 1 1'/></geometry></collision></link></robot>";
    const char *const heavier =
        "<robot name='a'><link name='b'><inertial><mass value='1.0000000001'/></inertial>"
        "<collision><geometry><box size='1 1 1'/></geometry></collision></link></robot>";
    mf_Model *a = load_urdf(*state, plain), *b = load_text(*state, painted);
    AUTO_MODEL *c = load_urdf(*state, heavier);
    assert_true(mf_model_hash(a) == mf_model_hash(b));
    assert_true(mf_model_hash(a) != mf_model_hash(c));
    mf_model_destroy(a);
    mf_model_destroy(b);
}
