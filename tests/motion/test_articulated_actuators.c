// Actuators on ball joints, on sites and between sites against closed forms and conserved momentum.
// (Every kind of actuator against MuJoCo: actuators.xml in test_articulated_peers.sh.)
#include "motion/articulated_rig.h"

static const double degree = 3.14159265358979323846 / 180.0;

// A ball of 2 kg with moments of 0.1 kg m^2 on a ball joint in its middle, with these actuators.
static Rig open_ball(const char *actuators, ArtConfig config) {
    return text_open(
        formatted(
            "<mujoco><worldbody><body><joint name='b' type='ball'/><inertial pos='0 0 0' mass='2' "
            "diaginertia='0.1 0.1 0.1'/></body></worldbody><actuator>%s</actuator></mujoco>",
            actuators),
        config);
}

static void set_rotation(const Rig *t, double x, double y, double z, double angle) {
    set_field3(t->group, "ball.orientation", 0, cos(0.5 * angle), x * sin(0.5 * angle),
               y * sin(0.5 * angle));
    rig_set(t, "ball.orientation", 3, z * sin(0.5 * angle));
}

// The gear is a torque in the child's axes, or in the parent's.
TEST(a_motor_turns_a_ball) {
    ArtConfig config = art_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
    const double gear[3] = {0.3, -1.1, 0.6}, back[3] = {-1.1, -0.3, 0.6};
    for (int i = 0; i < 2; i++) {
        AUTO_RIG t = open_ball(i == 0 ? "<motor joint='b' gear='0.3 -1.1 0.6'/>"
                                      : "<motor jointinparent='b' gear='0.3 -1.1 0.6'/>",
                               config);
        set_rotation(&t, 0, 0, 1, 90 * degree);
        rig_set(&t, "actuator.control", 0, 2.0);
        mf_world_step(t.world, 1);
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rig_get(&t, "ball.rate", c), 1e-3 * 2.0 * (i == 0 ? gear : back)[c] / 0.1,
                        1e-15);
    }
}

// From 170 to -170 degrees are 20, not -340.
TEST(position_control_takes_the_shorter_arc) {
    ArtConfig config = art_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
    const double targets[][2] = {{-170, 20}, {100, -70}, {530, 0}, {-9, -179}, {-11, 179}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        AUTO_RIG t = open_ball("<position joint='b' gear='0 3 0' kp='0.5'/>", config);
        set_rotation(&t, 0, 1, 0, 170 * degree);
        rig_set(&t, "actuator.control", 0, 3.0 * targets[i][0] * degree);
        mf_world_step(t.world, 1);
        assert_near(rig_get(&t, "actuator.force", 0), 0.5 * 3.0 * targets[i][1] * degree, 1e-13);
    }
}

// Stable at any gain: within steps far longer than its period the ball is where it should be.
TEST(a_stiff_position_of_a_ball_is_stable) {
    AUTO_RIG t =
        open_ball("<position joint='b' gear='1 0 0' kp='1e7'/><position joint='b' gear='0 1 0' "
                  "kp='1e7'/><position joint='b' gear='0 0 1' kp='1e7'/>",
                  art_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND));
    rig_set3(&t, "actuator.control", 0.4, -0.3, 0.2);
    rig_set3(&t, "ball.rate", 5, -3, 2);
    mf_world_step(t.world, 2000);
    const double angle = sqrt(0.29), part = sin(0.5 * angle) / angle;
    assert_near(rig_get(&t, "ball.orientation", 1), 0.4 * part, 1e-6);
    assert_near(rig_get(&t, "ball.orientation", 2), -0.3 * part, 1e-6);
    assert_near(rig_get(&t, "ball.orientation", 3), 0.2 * part, 1e-6);
}

// A velocity actuator at the middle of a free body is a damper: v / (1 + h k / m) each step, along
// its gear only, for a damper that would need steps of 2e-9 s.
TEST(a_stiff_damper_on_a_site) {
    static const char box[] =
        "<mujoco><worldbody><body><freejoint/><inertial pos='0 0 0' "
        "mass='2' diaginertia='0.1 0.2 0.3'/><site name='s' euler='0 90 0'/></body></worldbody>"
        "<actuator><velocity site='s' gear='0 0 1 0 0 0' kv='%s'/></actuator></mujoco>";
    const char *gains[2] = {"1e9", "10"};
    for (int i = 0; i < 2; i++) {
        AUTO_RIG t = text_open(
            formatted(box, gains[i]),
            WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .world.gravity = 0.0));
        rig_set3(&t, "base.linear_velocity", 3, 2, 1); // z of the site is x of the body
        mf_world_step(t.world, 5);
        double left = pow(1.0 + 1e-3 * strtod(gains[i], NULL) / 2.0, -5.0);
        assert_field3(t.group, "base.linear_velocity", 0, 3.0 * left, 2.0, 1.0, 1e-12);
    }
}

// A slide with its site at 0.3 + x and a reference at 0.1 m in the world, turned by 90 degrees
// about z, so that the gear points along -x: length -(0.2 + x), and m x'' = -kp (control + 0.2 +
// x).
TEST(a_reference_in_the_world) {
    static const char slide[] =
        "<mujoco><worldbody><site name='r' pos='0.1 0 0' euler='0 0 90'/>"
        "<body><joint type='slide' axis='1 0 0'/><inertial pos='0 0 0' mass='2' "
        "diaginertia='1 1 1'/><site name='s' pos='0.3 0 0'/></body></worldbody><actuator><position "
        "site='s' refsite='r' gear='0 1 0 0 0 0' kp='50'/></actuator></mujoco>";
    AUTO_RIG t = text_open(
        slide, WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND), .world.gravity = 0.0));
    rig_set(&t, "actuator.control", 0, 0.1);
    rig_set(&t, "joint.angle", 0, 0.5);
    mf_world_step(t.world, 700);
    assert_near(rig_get(&t, "joint.angle", 0), -0.3 + 0.8 * cos(5.0 * 0.7), 1e-10);
}

// Actuators between sites of one robot push with forces that cancel: a robot in space keeps its
// momentum while its limbs move (Runge-Kutta: within 6e-10, a sixteenth of that at half the step).
TEST(between_sites_momentum_is_kept) {
    static const char diver[] =
        "<mujoco><compiler angle='radian'/><worldbody><body>"
        "<freejoint/><geom type='box' size='0.2 0.15 0.1' mass='4'/><site name='chest' pos='0.1 "
        "0.05 0.08' euler='0.4 0.2 -0.7'/><body pos='0.2 0.1 0'><joint type='ball'/><geom "
        "type='capsule' size='0.04' fromto='0 0 0 0.3 0.05 0' mass='1.2'/><body pos='0.3 0.05 0'>"
        "<joint axis='0.2 1 0.3'/><geom type='capsule' size='0.03' fromto='0 0 0 0.2 0 0.1' "
        "mass='0.7'/><site name='hand' pos='0.2 0.01 0.11' euler='1.1 -0.3 0.5'/></body></body>"
        "<body pos='-0.1 0 -0.1'><joint axis='0 1 0'/><geom type='capsule' size='0.05' fromto='0 0 "
        "0 0 0.1 -0.4' mass='2'/><site name='foot' pos='0.01 0.1 -0.4'/></body></body></worldbody>"
        "<actuator><position site='hand' refsite='chest' gear='0.3 1 -1 0.4 0.2 0.6' kp='6' "
        "kv='0.2'/><position site='hand' refsite='foot' gear='1 1 0.5 -0.3 0.2 0.1' kp='3' "
        "kv='0.5'/></actuator></mujoco>";
    double center[2][3], linear[2][3], angular[2][3];
    AUTO_RIG t = text_open(diver, WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 4),
                                       .world.gravity = 0.0, .motion.contacts = false,
                                       .motion.self_contacts = false));
    rig_set(&t, "actuator.control", 0, -0.2);
    rig_set(&t, "actuator.control", 1, 0.3);
    rig_set3(&t, "base.angular_velocity", 0.5, -0.3, 0.8);
    for (int i = 0; i < 2; i++) {
        mf_motion_momentum(t.group, 0, center[i], linear[i], angular[i]);
        mf_world_step(t.world, 600);
    }
    assert_true(fabs(rig_get(&t, "joint.angle", 1)) > 0.1); // they do move
    for (int c = 0; c < 3; c++) {
        assert_near(linear[1][c], linear[0][c], 1e-9);
        assert_near(angular[1][c], angular[0][c], 1e-9);
    }
}
