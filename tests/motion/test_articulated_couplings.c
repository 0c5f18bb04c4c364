// Couplings of the `articulated` motion: loops, equality constraints and tendons against closed
// forms.
#include "motion/articulated_rig.h"

static const double degree = 3.14159265358979323846 / 180.0;

// ---- loops --------------------------------------------------------------------------------------

// A crank of 0.05 m and a rod of 0.2 m: x = r cos t + sqrt(l^2 - r^2 sin^2 t); at 60 degrees
// 0.22025624 m (validation list, B7 and F12). The crank starts upright, so t = 90 degrees - q.
static const char slider_crank[] =
    "<mujoco><compiler angle='radian'/><worldbody>"
    "<body><joint name='crank' axis='0 1 0'/>"
    "<inertial pos='0 0 0.025' mass='1' diaginertia='0.01 0.01 0.01'/>"
    "<body name='rod' pos='0 0 0.05'><joint name='rod' axis='0 1 0' ref='0'/>"
    "<inertial pos='0.0968 0 -0.025' mass='0.5' diaginertia='0.002 0.002 0.002'/></body></body>"
    "<body name='slider' pos='0.19364916731037085 0 0'><joint name='slide' type='slide' "
    "axis='1 0 0'/><inertial pos='0 0 0' mass='0.3' diaginertia='1 1 1'/></body>"
    "</worldbody><equality><connect body1='slider' body2='rod' anchor='0 0 "
    "0'/></equality></mujoco>";

static double slider_error(const Rig *t, double *crank) {
    double q = rig_get(t, "joint.angle", rig_joint(t, "crank"));
    double x = rig_get(t, "joint.angle", rig_joint(t, "slide")) + 0.19364916731037085;
    *crank = q;
    return x - (0.05 * sin(q) + sqrt(0.04 - 0.0025 * cos(q) * cos(q)));
}

static void b7_slider_crank(mf_ArticulatedIntegrator integrator, double tolerance, double drift) {
    AUTO_RIG t =
        text_open(slider_crank, WITH(art_config(integrator, MF_MILLISECOND), .world.gravity = 0.0));
    rig_set(&t, "joint.rate", rig_joint(&t, "crank"), 6.0);
    mf_world_step(t.world, 100); // at first only the crank turned
    double energy = rig_energy(&t), worst = 0.0, before = INFINITY, q = 0.0, at_60 = 1.0;
    for (int n = 0; n < 100000; n++) {
        mf_world_step(t.world, 1);
        worst = fmax(worst, fabs(slider_error(&t, &q)));
        q = fmod(q, 360 * degree);
        if (before < 30 * degree && q >= 30 * degree)
            at_60 = rig_get(&t, "joint.angle", rig_joint(&t, "slide")) + 0.19364916731037085 -
                    0.22025624;
        before = q;
    }
    print_message("slider crank: error %.2g m, energy %+.2g\n", worst,
                  rig_energy(&t) / energy - 1.0);
    assert_true(worst < tolerance);
    assert_true(fabs(at_60) < 4e-4); // it is not at 60 degrees exactly: at most 6 mrad past
    assert_true(fabs(rig_energy(&t) / energy - 1.0) < drift);
}

TEST(f12_slider_crank) {
    b7_slider_crank(MF_ARTICULATED_IMPLICIT, 1e-8, 0.02);
    b7_slider_crank(MF_ARTICULATED_EULER, 1e-8, 0.02);
    b7_slider_crank(MF_ARTICULATED_RK4, 1e-8, 1e-5);
}

// A free body held to the world at one point is a pendulum that may turn any way.
static const char fixed_body[] =
    "<mujoco><worldbody><body name='a' pos='0 0 0'><freejoint/>"
    "<inertial pos='0.3 0 0.1' mass='2' diaginertia='0.02 0.03 0.04'/></body></worldbody>"
    "<equality><connect body1='a' anchor='0 0 0'/></equality></mujoco>";

static void held(bool double_precision, double tolerance) {
    AUTO_RIG t =
        text_open(fixed_body, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND / 10),
                                   .group.double_precision = double_precision));
    double worst = 0.0;
    mf_Field *position = mf_group_find_field(t.group, "base.position");
    rig_set3(&t, "base.position", 0, 0, 0);
    rig_set3(&t, "base.angular_velocity", 1.0, 2.0, 3.0);
    mf_world_step(t.world, 2);
    const double energy = rig_energy(&t);
    for (int n = 0; n < STEPS_OF(100000); n++) {
        mf_world_step(t.world, 1);
        for (uint32_t c = 0; c < 3; c++)
            worst = fmax(worst, fabs(mf_field_get(position, 0, c)));
    }
    print_message("fixed body: error %.2g m, energy %.4g to %.4g J\n", worst, energy,
                  rig_energy(&t));
    assert_true(worst < tolerance);
    assert_near(rig_energy(&t), energy, 0.1); // Euler's method at 4 rad/s for 10 s
}

// A four-bar linkage in a plane, each joint of its loop closed twice: rows across the plane say
// nothing, and the second connects what the first do. It moves as with one connect, at every step.
static double bar_angle(int connects, mf_Time step) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, step);
    char text[1500];
    int used = snprintf(
        text, sizeof text,
        "<mujoco><default><geom type='capsule' size='.02' contype='0' conaffinity='0'/></default>"
        "<worldbody><body><joint axis='0 1 0'/><geom fromto='0 0 0 .1 0 .4'/>"
        "<body name='a' pos='.1 0 .4'><joint axis='0 1 0'/><geom fromto='0 0 0 .5 0 0'/></body>"
        "</body><body name='b' pos='.5 0 0'><joint axis='0 1 0'/><geom fromto='0 0 0 .1 0 .4'/>"
        "</body></worldbody><equality>");
    for (int i = 0; i < connects; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "<connect body1='a' body2='b' anchor='.5 0 0'/>");
    snprintf(text + used, sizeof text - (size_t)used, "</equality></mujoco>");
    AUTO_RIG t = text_open(text, config);
    mf_world_step(t.world, (uint64_t)(MF_SECOND / 4 / step));
    assert_int_equal(mf_group_fault_total(t.group), 0);
    const double angle = rig_get(&t, "joint.angle", 0);
    return angle;
}

TEST(loops_may_be_closed_twice) {
    const mf_Time steps[] = {MF_MILLISECOND, MF_MILLISECOND / 10};
    for (size_t i = 0; i < 2; i++) {
        const double once = bar_angle(1, steps[i]);
        assert_true(fabs(once) > 0.05);
        assert_near(bar_angle(2, steps[i]), once, 1e-9);
        assert_near(bar_angle(4, steps[i]), once, 1e-9);
    }
}

TEST(f12_fixed_body) {
    held(true, 1e-8);
    held(false, 1e-6);
}

// A body welded to the base moves as if it were part of it.
static const char welded[] =
    "<mujoco><worldbody><body name='a'><freejoint/>"
    "<inertial pos='0 0 0' mass='2' diaginertia='0.02 0.03 0.04'/>"
    "<body name='b' pos='0.2 0.1 0'><joint type='slide' axis='1 0 0'/><joint type='ball'/>"
    "<inertial pos='0 0 0.1' mass='1' diaginertia='0.01 0.02 0.02'/></body></body></worldbody>"
    "<equality><weld body1='a' body2='b'/></equality></mujoco>";
static const char one_body[] =
    "<mujoco><compiler inertiafromgeom='false'/><worldbody><body name='a'><freejoint/>"
    "<inertial pos='0 0 0' mass='2' diaginertia='0.02 0.03 0.04'/>"
    "<body name='b' pos='0.2 0.1 0'>"
    "<inertial pos='0 0 0.1' mass='1' diaginertia='0.01 0.02 0.02'/></body></body></worldbody>"
    "</mujoco>";

TEST(a_weld_makes_one_body) {
    for (int kind = 0; kind < 2; kind++) {
        const mf_ArticulatedIntegrator integrator =
            kind == 0 ? MF_ARTICULATED_EULER : MF_ARTICULATED_RK4;
        Rig t[2];
        ArtConfig config = WITH(art_config(integrator, MF_MILLISECOND), .world.gravity = 0.0);
        for (int i = 0; i < 2; i++) {
            t[i] = text_open(i == 0 ? welded : one_body, config);
            rig_set3(&t[i], "base.angular_velocity", 1.0, -2.0, 0.5);
            rig_set3(&t[i], "base.force", 1.0, 0.5, -2.0);
            mf_world_step(t[i].world, 1000);
        }
        // The step of Euler's method is of order 1, and the loop is closed at its end.
        const double tolerance = kind == 0 ? 5e-3 : 1e-6;
        for (uint32_t c = 0; c < 3; c++) {
            assert_near(rig_get(&t[0], "base.angular_velocity", c),
                        rig_get(&t[1], "base.angular_velocity", c), tolerance);
            assert_near(rig_get(&t[0], "base.position", c), rig_get(&t[1], "base.position", c),
                        tolerance);
        }
        assert_near(rig_get(&t[0], "joint.angle", 0), 0.0, 1e-8);
        assert_near(rig_get(&t[0], "ball.orientation", 0), 1.0, 1e-8);
        rig_close(&t[0]);
        rig_close(&t[1]);
    }
}

// Wheels of moments 0.5 and 0.2, the second at twice the first's angle and one more radian: a
// torque of 3 on the first turns it with 3 / (0.5 + 4 * 0.2) rad/s^2. The leader feels it.
static const char gears[] =
    "<mujoco><worldbody><body><joint name='x' axis='0 0 1'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.5 0.5 0.5'/></body>"
    "<body pos='1 0 0'><joint name='y' axis='0 0 1'/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.2 0.2 0.2'/></body></worldbody>"
    "<equality><joint joint1='y' joint2='x' polycoef='%s'/></equality></mujoco>";

TEST(joints_follow_a_polynomial) {
    char text[1024];
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    snprintf(text, sizeof text, gears, "0 2 0 0 0");
    AUTO_RIG t = text_open(text, config);
    rig_set(&t, "joint.torque", rig_joint(&t, "x"), 3.0);
    mf_world_step(t.world, 1000);
    assert_near(rig_get(&t, "joint.rate", rig_joint(&t, "x")), 3.0 / 1.3, 1e-9);
    assert_near(rig_get(&t, "joint.angle", rig_joint(&t, "y")),
                2 * rig_get(&t, "joint.angle", rig_joint(&t, "x")), 1e-10);
    rig_close(&t);
    snprintf(text, sizeof text, gears, "0.1 0.5 0.3 -0.2 0.05");
    t = text_open(text, config);
    rig_set(&t, "joint.torque", rig_joint(&t, "x"), 0.3);
    for (int n = 0; n < 2000; n++) {
        mf_world_step(t.world, 1);
        double x = rig_get(&t, "joint.angle", rig_joint(&t, "x"));
        double y = 0.1 + x * (0.5 + x * (0.3 + x * (-0.2 + x * 0.05)));
        assert_near(rig_get(&t, "joint.angle", rig_joint(&t, "y")), y, n < 3 ? 1e-3 : 1e-8);
    }
}

// ---- tendons ------------------------------------------------------------------------------------

// Masses of 2 and 3 kg on one line; the tendon's length is their distance.
static const char masses[] =
    "<mujoco><worldbody><body><joint name='a' type='slide' axis='1 0 0'/>"
    "<inertial pos='0 0 0' mass='2' diaginertia='1 1 1'/></body>"
    "<body pos='0 1 0'><joint name='b' type='slide' axis='1 0 0'/>"
    "<inertial pos='0 0 0' mass='3' diaginertia='1 1 1'/></body></worldbody>"
    "<tendon><fixed %s><joint joint='a' coef='-1'/><joint joint='b' coef='1'/></fixed></tendon>"
    "</mujoco>";

static Rig open_masses(const char *what, ArtConfig config) {
    return text_open(formatted(masses, what), config);
}

// Reduced mass 6/5 kg, 30 N/m: w = 5 rad/s, so after pi/5 s the distance is opposite.
TEST(a_spring_between_masses) {
    static const mf_ArticulatedIntegrator kinds[2] = {MF_ARTICULATED_RK4, MF_ARTICULATED_IMPLICIT};
    for (int i = 0; i < 2; i++) {
        ArtConfig config = art_config(kinds[i], MF_MILLISECOND / 10);
        AUTO_RIG t = open_masses("stiffness='30' springlength='0'", config);
        rig_set(&t, "joint.angle", rig_joint(&t, "b"), 0.5);
        mf_world_step(t.world, 6283);
        double a = rig_get(&t, "joint.angle", 0), b = rig_get(&t, "joint.angle", 1);
        assert_near(b - a, -0.5, i == 0 ? 1e-8 : 1e-3);
        assert_near(2 * a + 3 * b, 1.5, 1e-12); // the center of mass stays
    }
}

// A file that switches springs off means those of tendons, too: the masses stay apart as they are.
TEST(a_switch_of_the_file_takes_springs_of_tendons) {
    const ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    const char *file = formatted(masses, "stiffness='30' springlength='0'");
    const char *after = file + strlen("<mujoco>");
    AUTO_RIG t =
        text_open(formatted("<mujoco><option><flag spring='disable'/></option>%s", after), config);
    rig_set(&t, "joint.angle", rig_joint(&t, "b"), 0.5);
    mf_world_step(t.world, 100);
    assert_near(rig_get(&t, "joint.angle", rig_joint(&t, "b")), 0.5, 0.0);
}

// Damping 6 N s/m over 6/5 kg: the relative speed falls as exp(-5 t).
TEST(a_damper_between_masses) {
    ArtConfig config = art_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    AUTO_RIG t = open_masses("damping='6'", config);
    rig_set(&t, "joint.rate", 1, 1.0);
    mf_world_step(t.world, 400);
    assert_near(rig_get(&t, "joint.rate", 1) - rig_get(&t, "joint.rate", 0), 0.1353352832366127,
                1e-9);
    rig_close(&t);
    // At the end of the step: the factor of each is 1 / (1 + h 5), for any h.
    config = art_config(MF_ARTICULATED_IMPLICIT, 200 * MF_MILLISECOND);
    t = open_masses("damping='6'", config);
    rig_set(&t, "joint.rate", 1, 1.0);
    mf_world_step(t.world, 3);
    assert_near(rig_get(&t, "joint.rate", 1) - rig_get(&t, "joint.rate", 0), 0.125, 1e-12);
}

// Friction of 4 N: 3 N do not move the pair apart (but for creep), 10 N do with 6 N / (6/5 kg).
TEST(friction_of_a_tendon) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    AUTO_RIG t = open_masses("frictionloss='4'", config);
    for (int pulled = 0; pulled < 2; pulled++) {
        double force = pulled == 0 ? 3.0 : 10.0;
        rig_set(&t, "joint.torque", 0, -force);
        rig_set(&t, "joint.torque", 1, force);
        mf_world_step(t.world, 500);
        double apart = rig_get(&t, "joint.rate", 1) - rig_get(&t, "joint.rate", 0);
        if (pulled == 0)
            assert_near(apart, 0.0, 1e-9); // it sticks
        else
            assert_near(apart, 2.5, 0.01);
    }
}

// 10 N on the second of both; with 4.8 kg of inertia of the tendon the relative acceleration is
// (10/3) / (1 + 4.8/1.2).
TEST(inertia_of_a_tendon) {
    static const mf_ArticulatedIntegrator kinds[3] = {MF_ARTICULATED_IMPLICIT, MF_ARTICULATED_EULER,
                                                      MF_ARTICULATED_RK4};
    for (int i = 0; i < 3; i++) {
        ArtConfig config = art_config(kinds[i], MF_MILLISECOND);
        AUTO_RIG t = open_masses("armature='4.8'", config);
        rig_set(&t, "joint.torque", 1, 10.0);
        mf_world_step(t.world, 1000);
        assert_near(rig_get(&t, "joint.rate", 1) - rig_get(&t, "joint.rate", 0), 10.0 / 3.0 / 5.0,
                    1e-9);
    }
}

// Pulled apart by 5 N each, the pair stops a little behind the limit: the spring there has 6/5 kg
// over T^2, T two steps. It never pulls.
TEST(a_tendon_stops_at_its_limit) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    AUTO_RIG t = open_masses("limited='true' range='-0.1 0.2'", config);
    for (int side = 0; side < 2; side++) {
        double sign = side == 0 ? 1.0 : -1.0;
        rig_set(&t, "joint.torque", 0, -5.0 * sign);
        rig_set(&t, "joint.torque", 1, 5.0 * sign);
        mf_world_step(t.world, 5000);
        double apart = rig_get(&t, "joint.angle", 1) - rig_get(&t, "joint.angle", 0);
        assert_near(apart, side == 0 ? 0.2 + 5.0 / 1.2 * 4e-6 : -0.1 - 5.0 / 1.2 * 4e-6, 1e-9);
    }
    rig_set(&t, "joint.torque", 0, -5.0);
    rig_set(&t, "joint.torque", 1, 5.0);
    double rate = rig_get(&t, "joint.rate", 1);
    mf_world_step(t.world, 100);
    // Away from the limit it is free at once; what the spring still gave is small.
    assert_near(rig_get(&t, "joint.rate", 1) - rate, 5.0 / 3.0 * 0.1, 0.02);
}

// ---- ball joints --------------------------------------------------------------------------------

// A body of moments 0.5 on a ball joint.
static const char ball[] =
    "<mujoco><worldbody><body><joint type='ball' %s/>"
    "<inertial pos='0 0 0' mass='1' diaginertia='0.5 0.5 0.5'/></body></worldbody></mujoco>";

static Rig open_ball(const char *what, ArtConfig config, double rate) {
    Rig t = text_open(formatted(ball, what), config);
    rig_set3(&t, "ball.rate", rate * 2 / 3, rate / 3, -rate * 2 / 3);
    return t;
}

// Spring of 8 N m/rad: w = 4 rad/s; a quarter of a period after a start with 2 rad/s the angle is
// 0.5 rad. Damping 1 N m s/rad alone: the rate falls as exp(-2 t). Friction 0.25 N m: by 0.5 rad/s
// each second.
TEST(springs_of_ball_joints) {
    ArtConfig config = art_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 10);
    AUTO_RIG t = open_ball("stiffness='8'", config, 2.0);
    mf_world_step(t.world, 3927);
    assert_near(2 * acos(rig_get(&t, "ball.orientation", 0)), 0.5, 1e-7);
    rig_close(&t);
    t = open_ball("damping='1'", config, 3.0);
    mf_world_step(t.world, 10000);
    assert_near(rig_get(&t, "ball.rate", 1), exp(-2.0), 1e-9);
    rig_close(&t);
    config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    t = open_ball("frictionloss='0.25'", config, 3.0);
    mf_world_step(t.world, 2000);
    assert_near(rig_get(&t, "ball.rate", 1), 2.0 / 3.0, 1e-3);
    rig_close(&t);
    // At the end of the step nothing is too stiff.
    config = art_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND);
    t = open_ball("stiffness='1e9' damping='1e3'", config, 3.0);
    mf_world_step(t.world, 100);
    assert_near(rig_get(&t, "ball.rate", 1), 0.0, 1e-6);
}

// Turned against its limit of 40 degrees by 2 N m it stays there, 2/0.5 T^2 behind it.
TEST(limits_of_ball_joints) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
    AUTO_RIG t = open_ball("limited='true' range='0 40'", config, 0.0);
    rig_set3(&t, "ball.torque", 0, 2.0, 0);
    mf_world_step(t.world, 3000);
    assert_near(2 * acos(rig_get(&t, "ball.orientation", 0)), 40 * degree + 4.0 * 16e-6, 1e-9);
    rig_set3(&t, "ball.torque", 0, -2.0, 0);
    mf_world_step(t.world, 50);
    assert_near(rig_get(&t, "ball.rate", 1), -0.4, 0.02); // it lets go
}

// An ellipsoid lies on its flat side: m g / k deep, k by the setting; on its edge it is unstable.
// (Damping ends its rocking.)
TEST(an_ellipsoid_on_the_ground) {
    static const char egg[] =
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'>"
        "<joint type='free' damping='0.3'/><geom type='ellipsoid' size='0.3 0.2 0.1' mass='2' "
        "euler='90 0 0'/></body></worldbody>"
        "</mujoco>";
    AUTO_RIG t = text_open(egg, WITH(art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND),
                                     .motion.shapes = true, .motion.contact_stiffness = 1e4));
    assert_int_equal(mf_group_find_field(t.group, "contact.load")->components, 1);
    // Standing on the radius 0.2, then turned by a touch: it falls to the radius 0.1.
    rig_set(&t, "base.position", 2, 0.2);
    rig_set3(&t, "base.angular_velocity", 0.01, 0, 0);
    mf_world_step(t.world, 20);
    assert_near(rig_get(&t, "base.position", 2), 0.2, 2e-3);
    mf_world_step(t.world, 20000);
    assert_near(rig_get(&t, "base.position", 2), 0.1 - 2 * 9.81 / 1e4, 1e-4);
    assert_near(rig_get(&t, "contact.load", 0), 2 * 9.81, 0.2);
}

// ---- bits ---------------------------------------------------------------------------------------

// What cannot move is not constrained: the rest falls as if the constraint were not there.
TEST(constraints_of_what_is_fixed_do_nothing) {
    static const char *const texts[] = {"",
                                        "<weld body1='a' body2='b'/>",
                                        "<weld body1='a'/>",
                                        "<weld body1='a' body2='c'/>",
                                        "<connect body1='a' body2='b' anchor='1 2 3'/>",
                                        "<connect body1='b' anchor='1 2 3'/>",
                                        "<weld body1='d' body2='e'/>",
                                        "<connect body1='e' body2='d' anchor='0 0 0'/>",
                                        "<weld site1='s' site2='t'/>",
                                        "<connect site1='s' site2='t'/>"};
    for (int law = 0; law < 2; law++)
        for (int floats = 0; floats < 2; floats++)
            for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                AUTO_RIG t = text_open(
                    formatted(
                        "<mujoco><worldbody><site name='s' pos='1 1 1'/><body name='a'>"
                        "<geom size='.1'/><site name='t'/></body><body name='b' pos='.3 0 0'>"
                        "<geom size='.1'/><body name='c'><geom size='.1'/></body></body>"
                        "<body name='d' pos='0 0 9'><joint name='j' type='slide' axis='0 0 1'/>"
                        "<geom size='.1'/><body name='e' pos='.1 0 0'><geom size='.1'/></body>"
                        "</body></worldbody><equality>%s</equality></mujoco>",
                        texts[i]),
                    WITH(art_config(MF_ARTICULATED_EULER, MF_MILLISECOND),
                         .group.double_precision = !floats,
                         .motion.contact_law =
                             law ? MF_CONTACT_LAW_COMPLIANT : MF_CONTACT_LAW_MUJOCO));
                mf_world_step(t.world, 100);
                const double rate = rig_get(&t, "joint.rate", rig_joint(&t, "j"));
                assert_true(fabs(rate + 0.981) < 1e-5);
            }
}
