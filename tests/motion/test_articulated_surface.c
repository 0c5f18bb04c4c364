// Surface parameters of a file: sliding, torsional and rolling friction, their combination,
// softness and margin. Closed forms, and numbers of MuJoCo 4.0 (implicitfast, elliptic cones, step
// 1 ms).
#include "motion/articulated_rig.h"

static const double gravity = 9.81;

// A ball of 1 kg, radius 0.1 m and I = 0.004 kg m^2, or a box of 0.2 m, on a plane.
static Rig open_body(const char *shape, const char *geom, const char *plane, ArtConfig config) {
    Rig t = text_open(
        formatted(
            "<mujoco><option timestep='0.001'/><worldbody><geom type='plane' size='5 5 1' %s/>"
            "<body pos='0 0 0.1'><freejoint/><inertial pos='0 0 0' mass='1' "
            "diaginertia='.004 .004 .004'/><geom %s %s/></body></worldbody></mujoco>",
            plane, shape, geom),
        config);
    rig_set3(&t, "base.position", 0, 0, 0.1);
    return t;
}

static const char *const ball = "type='sphere' size='.1'", *const box =
                                                               "type='box' size='.1 .1 .1'";

static ArtConfig by_shapes(void) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    config.motion.shapes = true;
    return config;
}

// ---- friction -----------------------------------------------------------------------------------

// A ball that spins in place loses mu N / I of its rate: 10 - 0.002 9.81 / 0.004 after a second
// (MuJoCo: 5.09513). The step's chord to rest brakes too little by h a ln(10 / 5.095) = 0.0033.
TEST(turning_friction_stops_a_spin) {
    AUTO_RIG t = open_body(ball, "condim='4' friction='1 .002 0'", "condim='1' friction='0 0 0'",
                           by_shapes());
    mf_world_step(t.world, 500);
    rig_set3(&t, "base.angular_velocity", 0, 0, 10);
    mf_world_step(t.world, 1000);
    assert_near(rig_get(&t, "base.angular_velocity", 2), 5.095, 4e-3);
    mf_world_step(t.world, 1100);
    assert_near(rig_get(&t, "base.angular_velocity", 2), 0.0, 1e-4);
}

// A ball that rolls is braked by mu g / (r (1 + I / (m r^2))) = 0.0700714 m/s^2: 0.859857 m/s after
// two seconds (MuJoCo: 0.859533).
TEST(rolling_friction_stops_a_ball) {
    AUTO_RIG t = open_body(ball, "condim='6' friction='1 0 .001'", "condim='1' friction='0 0 0'",
                           by_shapes());
    mf_world_step(t.world, 500);
    rig_set3(&t, "base.linear_velocity", 1, 0, 0);
    rig_set3(&t, "base.angular_velocity", 0, 10, 0);
    mf_world_step(t.world, 2000);
    assert_near(rig_get(&t, "base.linear_velocity", 0), 1.0 - 0.0700714 * 2.0, 5e-4);
    assert_near(rig_get(&t, "base.angular_velocity", 1),
                10.0 * rig_get(&t, "base.linear_velocity", 0), 5e-3);
    mf_world_step(t.world, 14000);
    assert_near(rig_get(&t, "base.linear_velocity", 0), 0.0, 2e-4);
}

// Deceleration of a sliding box by the coefficients of both, or of who has priority; none with
// condim 1; that of the settings when they have one.
TEST(sliding_friction_is_the_files) {
    static const struct {
        const char *geom, *plane;
        double setting, mu;
    } cases[] = {
        {"friction='.3'", "friction='.1'", (double)NAN, 0.3},
        {"friction='.1'", "friction='.4'", (double)NAN, 0.4},
        {"friction='.3'", "friction='.2' priority='1'", (double)NAN, 0.2},
        {"friction='.3' priority='2'", "friction='.8'", (double)NAN, 0.3},
        {"condim='1'", "condim='1'", (double)NAN, 0.0},
        {"condim='1' priority='1'", "condim='3'", (double)NAN, 0.0},
        {"condim='1'", "condim='3' friction='.25'", (double)NAN, 1.0},
        {"friction='.3'", "friction='.4'", 0.15, 0.15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_RIG t = open_body(box, cases[i].geom, cases[i].plane,
                               WITH(by_shapes(), .motion.friction = cases[i].setting));
        mf_world_step(t.world, 500);
        rig_set3(&t, "base.linear_velocity", 3, 0, 0);
        mf_world_step(t.world, 200);
        double lost = 3.0 - rig_get(&t, "base.linear_velocity", 0);
        // What the ground has pressed in all: the weight, and what lifts a box that begins to tip.
        double pressed = gravity * 0.2 + rig_get(&t, "base.linear_velocity", 2);
        // The step after the blow goes by twice the slip, as if that went on growing: half a step
        // of friction is missing.
        double missing = 0.5e-3 * cases[i].mu * gravity;
        assert_near(lost, cases[i].mu * pressed - missing, 0.5 * missing + 1e-12);
    }
}

// Shapes and planes whose bits do not match do not meet; a listed pair does, as it says.
TEST(the_file_says_what_meets_the_ground) {
    ArtConfig config = by_shapes();
    AUTO_RIG t =
        open_body(ball, "contype='2' conaffinity='2'", "contype='4' conaffinity='4'", config);
    mf_world_step(t.world, 300);
    assert_near(rig_get(&t, "base.linear_velocity", 2), -0.3 * gravity, 1e-9);
    rig_close(&t);
    t = text_open("<mujoco><worldbody><geom name='f' type='plane' size='5 5 1' contype='4' "
                  "conaffinity='4'/><body pos='0 0 .1'><freejoint/><geom name='b' type='box' "
                  "size='.1 .1 .1' contype='2' conaffinity='2'/></body></worldbody><contact><pair "
                  "geom1='b' geom2='f' friction='.2 .2 0 0 0'/></contact></mujoco>",
                  config);
    rig_set3(&t, "base.position", 0, 0, 0.1);
    mf_world_step(t.world, 300);
    rig_set3(&t, "base.linear_velocity", 2, 0, 0);
    mf_world_step(t.world, 200);
    assert_near(rig_get(&t, "base.linear_velocity", 0), 2.0 - 0.2 * 0.2 * gravity, 1e-3);
}

// ---- softness and margin ------------------------------------------------------------------------

// At rest z k d = (1 - z) g (MuJoCo, the same numbers: 0.3924 mm).
TEST(solref_says_how_deep_a_ball_rests) {
    static const struct {
        const char *softness;
        double rate; // [1/s^2] z k
    } cases[] = {
        {"solref='.02 1' solimp='.9 .9 .001'", 2500.0},
        {"solref='.01 2' solimp='.9 .9 .001'", 2500.0},
        {"solref='-40000 -100' solimp='.9 .9 .001'", 40000.0},
        {"solref='.0001 1' solimp='.9 .9 .001'", 250000.0}, // not below two steps
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ArtConfig config = by_shapes();
        AUTO_RIG t = open_body(ball, cases[i].softness, cases[i].softness, config);
        mf_world_step(t.world, 5000);
        double expected = 0.1 * gravity / cases[i].rate;
        assert_near(0.1 - rig_get(&t, "base.position", 2), expected, 1e-3 * expected);
        assert_near(rig_get(&t, "contact.load", 0), gravity, 1e-3);
    }
}

// Without weight z k = 2000 and z b = 10 are a spring and damper that cannot pull: restitution
// 0.720186 by Schwager and Poeschel (2007), 0.72022 in MuJoCo. The step damps by half a step's
// phase: 0.72 pi sqrt(2000) h / 2 = 5e-4, and the drop of the last step's damping as much.
TEST(solref_says_how_a_ball_bounces) {
    const char *soft = "solref='-2000 -10' solimp='.9 .9 .001'";
    AUTO_RIG t =
        open_body(ball, soft, soft,
                  WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND / 100),
                       .motion.shapes = true, .motion.contact_depth = 1.0, .world.gravity = 0.0));
    rig_set3(&t, "base.linear_velocity", 0, 0, -1);
    mf_world_step(t.world, 12000);
    assert_near(rig_get(&t, "base.linear_velocity", 2), 0.7201856, 1.5e-3);
}

// Contacts act from the sum of both margins on. The settings' stiffness beats the file's.
TEST(margin_and_settings) {
    AUTO_RIG t = open_body(ball, "margin='.01' solref='.02 1' solimp='.9 .9 .001'", "margin='.02'",
                           WITH(by_shapes(), .motion.contact_stiffness = 1e5));
    mf_world_step(t.world, 2000);
    assert_near(rig_get(&t, "base.position", 2), 0.13 - gravity / 1e5, 1e-8);
}
