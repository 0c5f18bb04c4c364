// Spatial tendons and muscles: lengths and rates in closed form, a string over a wheel, energy,
// and muscle activation. (Every kind of path against MuJoCo: tendons.xml in
// test_articulated_peers.sh.)
#include "motion/articulated_rig.h"

// A wheel of 0.1 m at the origin, its axis along y, and two weights that slide along z beside it.
// An actuator without gain tells the tendon's length, another its rate.
#define WHEEL(tendon)                                                                              \
    "<mujoco><option timestep='0.001'/><default><geom contype='0' conaffinity='0'/></default>"     \
    "<worldbody><geom name='wheel' type='cylinder' size='.1 .05' euler='90 0 0'/>"                 \
    "<site name='top' pos='0 0 .2'/><site name='bottom' pos='0 0 -.2'/>"                           \
    "<body name='a' pos='-.1 %g -.5'><joint name='a' type='slide' axis='0 0 1'/>"                  \
    "<geom size='.02' mass='3'/><site name='a'/></body>"                                           \
    "<body name='b' pos='.1 0 -.5'><joint name='b' type='slide' axis='0 0 1'/>"                    \
    "<geom size='.02' mass='1'/><site name='b'/></body></worldbody>"                               \
    "<tendon><spatial name='t' " tendon "><site site='a'/><geom geom='wheel' sidesite='top'/>"     \
    "<site site='b'/></spatial></tendon><actuator>"                                                \
    "<general tendon='t' gainprm='0' biastype='affine' biasprm='0 1 0'/>"                          \
    "<general tendon='t' gainprm='0' biastype='affine' biasprm='0 0 -1'/></actuator></mujoco>"

static ArtConfig tendon_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    return WITH(art_config(integrator, step), .group.double_precision = true,
                .motion.contacts = false);
}

// Two straight parts of 0.5 m and half a rotation; with 0.3 m between the ends along the axis, the
// square root of the squares of both, as on the unrolled cylinder.
TEST(a_string_over_a_wheel_has_its_length) {
    const double offsets[2] = {0.0, 0.3};
    for (int i = 0; i < 2; i++) {
        ArtConfig config = tendon_config(MF_ARTICULATED_EULER, 1000);
        AUTO_RIG t = text_open(formatted(WHEEL(""), offsets[i]), config);
        rig_set(&t, "joint.rate", 0, -0.5);
        rig_set(&t, "joint.rate", 1, 0.125);
        mf_world_step(t.world, 1);
        const double flat = 1.0 + 0.1 * M_PI, length = sqrt(flat * flat + offsets[i] * offsets[i]);
        // The pull of 1.3 N or so changes nothing of what the step began with.
        assert_near(rig_get(&t, "actuator.force", 0), length, 1e-12);
        assert_near(rig_get(&t, "actuator.force", 1), -0.375 * flat / length, 1e-12);
    }
}

// Atwood: weights of 3 and 1 kg on a string that does not give accelerate by g (3 - 1) / (3 + 1).
TEST(a_string_over_a_wheel_carries_weights) {
    AUTO_RIG t = text_open(
        formatted(WHEEL("limited='true' range='0 1.314159265358979'"), 0.0),
        WITH(tendon_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .world.gravity = 9.81));
    mf_world_step(t.world, 100);
    const double early = rig_get(&t, "joint.rate", 0);
    mf_world_step(t.world, 200);
    const double gain = (rig_get(&t, "joint.rate", 0) - early) / 0.2;
    assert_near(gain, -9.81 / 2.0, 9.81 * 2e-3);
    assert_near(rig_get(&t, "joint.rate", 0), -rig_get(&t, "joint.rate", 1), 1e-3);
}

// A weight of 2 kg between two springs of 100 N/m with dampers of 2 N s/m that pull along z:
// x = v0 / w exp(-a t) sin(w t) with a = 2 2 / (2 2) and w^2 = (100 + 100) / 2 - a^2.
TEST(springs_along_paths_swing) {
    static const char text[] =
        "<mujoco><option timestep='0.001'/><default><geom contype='0' conaffinity='0'/></default>"
        "<worldbody><site name='up' pos='0 0 1'/><site name='down' pos='0 0 -1'/><body>"
        "<joint type='slide' axis='0 0 1'/><geom size='.1' mass='2'/><site name='m'/></body>"
        "</worldbody><tendon><spatial stiffness='100' damping='2'><site site='up'/>"
        "<site site='m'/></spatial><spatial stiffness='100' damping='2'><site site='down'/>"
        "<site site='m'/></spatial></tendon></mujoco>";
    const double w = sqrt(99.0);
    AUTO_RIG t = text_open(
        text, WITH(tendon_config(MF_ARTICULATED_RK4, MF_MILLISECOND), .world.gravity = 0.0));
    rig_set(&t, "joint.rate", 0, 1.0);
    mf_world_step(t.world, 1000);
    assert_near(rig_get(&t, "joint.angle", 0), exp(-1.0) * sin(w) / w, 1e-9);
    assert_near(rig_get(&t, "joint.rate", 0), exp(-1.0) * (cos(w) - sin(w) / w), 1e-8);
}

// A side point in the ring sends the string through its inside: by symmetry it touches the circle
// of 0.1 m at (0, -0.1) on its way between (-0.3, -0.2) and (0.3, -0.2), which see each other
// below.
TEST(a_string_passes_through_a_ring) {
    static const char text[] =
        "<mujoco><worldbody><geom name='ring' type='cylinder' size='.1 .05' euler='90 0 0' "
        "contype='0'/><site name='in' pos='0 0 .01'/><site name='a' pos='-.3 0 -.2'/><body>"
        "<joint type='slide' axis='0 0 1'/><geom size='.1' contype='0' conaffinity='0'/>"
        "<site name='b' pos='.3 0 -.2'/></body></worldbody><tendon><spatial name='t'>"
        "<site site='a'/><geom geom='ring' sidesite='in'/><site site='b'/></spatial></tendon>"
        "<actuator><general tendon='t' gainprm='0' biastype='affine' biasprm='0 1 0'/></actuator>"
        "</mujoco>";
    AUTO_RIG t = text_open(text, tendon_config(MF_ARTICULATED_EULER, 1000));
    mf_world_step(t.world, 1);
    assert_near(rig_get(&t, "actuator.force", 0), 2.0 * sqrt(0.09 + 0.01), 1e-9);
}

// At the optimal length a muscle that stands still pulls with its activation times its peak force;
// activation rises by (1 - a) / (rise (1/2 + 3 a / 2)) and falls by a (1/2 + 3 a / 2) / fall.
TEST(muscles_pull_and_wake) {
    static const char text[] =
        "<mujoco><option timestep='0.001'/><default><geom contype='0' conaffinity='0'/></default>"
        "<worldbody><site name='w' pos='0 0 1'/><body><joint type='slide' axis='0 0 1'/>"
        "<geom size='.1' mass='2'/><site name='m'/></body></worldbody><tendon><spatial name='t'>"
        "<site site='w'/><site site='m'/></spatial></tendon><actuator>"
        "<muscle tendon='t' lengthrange='.5 1.5' range='.5 1.5' force='80'/></actuator></mujoco>";
    AUTO_RIG t = text_open(
        text, WITH(tendon_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .world.gravity = 0.0));
    rig_set(&t, "actuator.activation", 0, 0.4);
    rig_set(&t, "actuator.control", 0, 1.0);
    mf_world_step(t.world, 1);
    assert_near(rig_get(&t, "actuator.force", 0), -0.4 * 80.0, 1e-12);
    double now = 0.4 + 0.001 * 0.6 / (0.01 * (0.5 + 1.5 * 0.4));
    assert_near(rig_get(&t, "actuator.activation", 0), now, 1e-14);
    // A tension shortens: the weight is pulled up.
    assert_near(rig_get(&t, "joint.rate", 0), 0.001 * 32.0 / 2.0, 1e-14);
    rig_set(&t, "actuator.control", 0, 0.0);
    mf_world_step(t.world, 1);
    now -= 0.001 * now * (0.5 + 1.5 * now) / 0.04;
    assert_near(rig_get(&t, "actuator.activation", 0), now, 1e-14);
}

// Muscles without lengthrange, against the numbers of MuJoCo 4.0, which pulls at the model when it
// compiles it: on a path over a cylinder, on joints with limits (one soft, with a margin), on a
// fixed tendon. MuJoCo's ranges are 0.539605 to 0.609419, -0.0150234 to 0.0400237, -0.0357519 to
// 0.0077463 and -0.0268725 to 0.0278681; these are its forces by them.
TEST(muscles_find_their_lengths) {
    static const char text[] =
        "<mujoco><compiler angle='radian'/><option gravity='0 0 0'/><worldbody>"
        "<site name='w' pos='-.15 .01 .06'/><body><joint name='a' axis='0 1 0' range='-.3 .8' "
        "limited='true' armature='.01'/><geom type='capsule' size='.02' fromto='0 0 0 .3 0 0' "
        "density='900'/><geom name='drum' type='cylinder' size='.02 .05' euler='1.5708 0 0' "
        "contype='0' conaffinity='0' mass='0'/><site name='s' pos='.15 .01 .05'/>"
        "<body pos='.3 0 0'><joint name='b' axis='0 1 0' range='-.2 .9' limited='true' "
        "armature='.004' solreflimit='.03 1' solimplimit='.8 .95 .01 .5 2' margin='.01'/>"
        "<geom type='capsule' size='.015' fromto='0 0 0 .2 0 0' density='900'/>"
        "<site name='t' pos='.12 0 .05'/></body></body></worldbody><tendon><spatial name='p'>"
        "<site site='w'/><geom geom='drum'/><site site='s'/><site site='t'/></spatial>"
        "<fixed name='f'><joint joint='a' coef='.03'/><joint joint='b' coef='-.02'/></fixed>"
        "</tendon><actuator><muscle tendon='p' force='100'/>"
        "<muscle joint='a' gear='.05' force='80'/><muscle joint='b' gear='-.04' force='80'/>"
        "<muscle tendon='f' force='60'/></actuator></mujoco>";
    static const double activation[4] = {0.3, 0.5, 0.7, 0.4};
    static const double force[4] = {-29.511562597560026, -37.112571762512346, -56.190721485586934,
                                    -23.025914645177956};
    AUTO_RIG t = text_open(text, tendon_config(MF_ARTICULATED_EULER, 1000));
    set_fields(t.group, "actuator.activation", 0, 4, activation);
    rig_set(&t, "joint.angle", 0, 0.2);
    rig_set(&t, "joint.angle", 1, 0.3);
    rig_set(&t, "joint.rate", 0, 0.1);
    rig_set(&t, "joint.rate", 1, -0.2);
    mf_world_step(t.world, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_near(rig_get(&t, "actuator.force", i), force[i], 1e-8 * -force[i]);
}

// What an unlimited joint drives has no range, and MuJoCo refuses it, too.
TEST(muscles_need_an_end) {
    static const char text[] =
        "<mujoco><worldbody><body><joint name='a' axis='0 1 0'/><geom size='.1'/></body>"
        "</worldbody><actuator><muscle name='runs' joint='a'/></actuator></mujoco>";
    ArtConfig config = tendon_config(MF_ARTICULATED_EULER, 1000);
    AUTO_RIG t = {.context = open_context(1)};
    t.model = load_text(t.context, text);
    config.group.model = t.model;
    t.world = open_world(t.context, &config.world);
    t.group = add_group(t.world, &config.group);
    MUST_FAIL(rig_add_articulated(t.group, &config.motion, &error), MF_BAD_ARGUMENT, "muscle runs");
}

// A control that may change by 0.2 in a step, but in the first: forces of MuJoCo 4.0's mujoco.pid
// with kp = 1 and slewmax = 2 on 1 kg at 0.1 s.
TEST(controls_change_at_a_limited_rate) {
    static const double controls[] = {0.5, 0.5, 1.0, 1.0, -1.0, -1.0, 0.0, 0.0};
    static const double slewed[] = {0.5, 0.5, 0.7, 0.9, 0.7, 0.5, 0.3, 0.1};
    static const double forces[] = {0.5,      0.495,    0.68505,  0.868249,
                                    0.642767, 0.410856, 0.174837, -0.062931};
    ArtConfig config = WITH(art_config(MF_ARTICULATED_IMPLICIT, 100 * MF_MILLISECOND),
                            .world.gravity = 0.0, .motion.contact_law = MF_CONTACT_LAW_MUJOCO);
    AUTO_RIG t = text_open(
        "<mujoco><extension><plugin plugin='mujoco.pid'><instance name='p'><config key='kp' "
        "value='1'/><config key='slewmax' value='2'/></instance></plugin></extension>"
        "<worldbody><body><joint name='j' type='slide'/><geom size='1' mass='1' "
        "contype='0' conaffinity='0'/></body>"
        "</worldbody><actuator><plugin joint='j' plugin='mujoco.pid' instance='p' "
        "actdim='1'/></actuator></mujoco>",
        config);
    for (int life = 0; life < 2; life++) {
        for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
            rig_set(&t, "actuator.control", 0, controls[i]);
            mf_world_step(t.world, 1);
            assert_near(rig_get(&t, "actuator.slewed", 0), slewed[i], 1e-12);
            assert_near(rig_get(&t, "actuator.force", 0), forces[i], 1e-6);
        }
        mf_group_reset(t.group, 0);
    }
}
