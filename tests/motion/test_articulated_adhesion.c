// Adhesion: bodies in contact are attracted. Loads at rest, a hanging load against MuJoCo,
// and momentum.
#include "motion/articulated_rig.h"

static const char ball[] =
    "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='0 0 1'/>"
    "<body name='ball' pos='0 0 .1'><freejoint/><geom size='.1' mass='1' condim='1'/></body>"
    "</worldbody><actuator><adhesion body='ball' gain='30' ctrlrange='0 1'/></actuator></mujoco>";

// A cup that a motor holds against the weight of both, and a ball under it.
static const char cup[] =
    "<mujoco><option timestep='0.001' cone='elliptic'/><worldbody><body name='lift' pos='0 0 1'>"
    "<joint name='z' type='slide' axis='0 0 1' damping='20'/><geom size='.1' mass='1'/></body>"
    "<body name='load' pos='.005 0 .801'><freejoint/><geom size='.1' mass='.5'/></body></worldbody>"
    "<actuator><motor joint='z'/><adhesion body='lift' gain='40' ctrlrange='0 1'/>"
    "</actuator></mujoco>";

static ArtConfig glue_config(mf_Time step) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, step);
    config.group.double_precision = true;
    config.motion.shapes = config.motion.contacts = config.motion.self_contacts = true;
    config.motion.contact_law = MF_CONTACT_LAW_MUJOCO;
    return config;
}

// The ground bears the weight and the pull; MuJoCo 4.0 has the ball as deep after 1 s.
TEST(a_ball_is_pressed_to_the_ground) {
    const ArtConfig config = glue_config(2 * MF_MILLISECOND);
    const double heights[2] = {0.09963281815745, 0.09915904650609};
    for (int on = 0; on < 2; on++) {
        AUTO_RIG t = text_open(ball, config);
        rig_set(&t, "actuator.control", 0, on);
        mf_world_step(t.world, 500);
        assert_near(rig_get(&t, "contact.load", 0), 9.81 + 30.0 * on, 1e-4);
        assert_near(rig_get(&t, "base.position", 2), heights[on], 1e-7);
        assert_near(rig_get(&t, "actuator.force", 0), 30.0 * on, 0.0);
    }
}

// MuJoCo 4.0 after 1, 100 and 300 steps of 1 ms: the cup's place, and the load's along x and z.
TEST(a_load_hangs_or_falls) {
    static const double control[2] = {1.0, 0.05};
    static const uint64_t steps[3] = {1, 99, 200};
    static const double expected[2][3][3] = {
        {{-7.76287395202328e-07, 4.99976312208582e-03, 8.01002153626286e-01},
         {4.78988524644168e-04, 4.10355660942937e-03, 8.02576162071445e-01},
         {0.00321502321189, -0.00108981871327, 0.80532199921951}},
        {{3.12806960631816e-06, 4.99989952919590e-03, 8.00994188738003e-01},
         {1.35050799858697e-02, 4.86016374497335e-03, 7.57037747550539e-01},
         {6.34141413413411e-02, 4.55946944717601e-03, 3.75652979564364e-01}}};
    const ArtConfig config = glue_config(MF_MILLISECOND);
    for (int weak = 0; weak < 2; weak++) {
        AUTO_RIG t = text_open(cup, config);
        rig_set(&t, "actuator.control", 0, 15.0);
        rig_set(&t, "actuator.control", 1, control[weak]);
        for (int i = 0; i < 3; i++) {
            mf_world_step(t.world, steps[i]);
            assert_near(rig_get(&t, "joint.angle", 0), expected[weak][i][0], 1e-6);
            assert_near(rig_get(&t, "free.position", 0), expected[weak][i][1], 1e-6);
            assert_near(rig_get(&t, "free.position", 2), expected[weak][i][2], 1e-6);
        }
    }
}

// Between two free bodies it is a force within.
TEST(it_gives_no_momentum) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><body name='a'><freejoint/>"
        "<geom size='.1' mass='1'/></body><body pos='.15 .1 .07'><freejoint/>"
        "<geom type='capsule' size='.1 .1' mass='2'/></body></worldbody>"
        "<actuator><adhesion body='a' gain='50' ctrlrange='0 1'/></actuator></mujoco>";
    double center[3], linear[3], angular[3];
    AUTO_RIG t = text_open(text, WITH(glue_config(2 * MF_MILLISECOND), .world.gravity = 0.0,
                                      .motion.contacts = false));
    rig_set(&t, "actuator.control", 0, 1.0);
    mf_world_step(t.world, 5);
    assert_true(fabs(rig_get(&t, "free.velocity", 0)) > 1e-4);
    mf_motion_momentum(t.group, 0, center, linear, angular);
    for (int i = 0; i < 3; i++) {
        assert_near(linear[i], 0.0, 1e-10);
        assert_near(angular[i], 0.0, 1e-10);
    }
}
