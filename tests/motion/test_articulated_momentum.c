// Fast spins and long flights under the default integrator: closed forms and conserved quantities.
#include "motion/articulated_rig.h"

#include "math/scalar.h"

static const char rod[] =
    "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
    "<inertial pos='.1 .02 -.05' mass='1' diaginertia='1e-2 1.001e-2 2e-5'/></body>"
    "</worldbody></mujoco>";

static ArtConfig in_flight(double gravity, mf_Time step) {
    return WITH(art_config(MF_ARTICULATED_IMPLICIT, step), .world.gravity = gravity);
}

typedef struct Motion {
    double center[3], linear[3], angular[3];
} Motion;

static Motion motion_of(const Rig *t) {
    Motion m;
    mf_motion_momentum(t->group, 0, m.center, m.linear, m.angular);
    return m;
}

static double apart(const double a[3], const double b[3]) {
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return mf_vec3_length(d);
}

// A thin rod with its center off the base, 100 rad/s about every axis: momentum and energy to
// rounding.
TEST(a_rod_keeps_its_energy) {
    AUTO_RIG t = text_open(rod, in_flight(0.0, MF_MILLISECOND));
    rig_set3(&t, "base.angular_velocity", 100, 1, 100);
    rig_set3(&t, "base.linear_velocity", 0.1, -0.2, 0.3);
    const Motion start = motion_of(&t);
    const double energy = rig_energy(&t);
    const int steps = STEPS_OF(100000);
    double worst = 0.0;
    for (int n = 0; n < steps; n++) {
        mf_world_step(t.world, 1);
        worst = fmax(worst, fabs(rig_energy(&t) / energy - 1.0));
    }
    const Motion end = motion_of(&t);
    printf("rod: energy off by %g; momentum %g, %g\n", worst,
           apart(start.angular, end.angular) / mf_vec3_length(start.angular),
           apart(start.linear, end.linear) / mf_vec3_length(start.linear));
    assert_int_equal(mf_group_fault(t.group, 0), 0);
    assert_true(worst < 1e-11);
    assert_true(apart(start.angular, end.angular) < 1e-10 * mf_vec3_length(start.angular));
    assert_true(apart(start.linear, end.linear) < 1e-10 * mf_vec3_length(start.linear));
    for (int c = 0; c < 3; c++)
        assert_true(fabs(end.center[c] - start.center[c] - 1e-3 * steps * start.linear[c]) < 1e-8);
}

// ---- MuJoCo's law -------------------------------------------------------------------------------

typedef struct Drift { // relative changes
    double energy, momentum;
} Drift;

static Drift drift_of(const Rig *t, int steps) {
    const double energy = rig_energy(t);
    const Motion start = motion_of(t);
    Drift worst = {0.0, 0.0};
    for (int n = 0; n < steps; n++) {
        mf_world_step(t->world, 1);
        worst.energy = fmax(worst.energy, fabs(rig_energy(t) / energy - 1.0));
    }
    const Motion end = motion_of(t);
    worst.momentum = fmax(apart(start.angular, end.angular) / mf_vec3_length(start.angular),
                          apart(start.linear, end.linear));
    assert_int_equal(mf_group_fault(t->group, 0), 0);
    return worst;
}

static ArtConfig as_mujoco(double gravity) {
    ArtConfig config = in_flight(gravity, 2 * MF_MILLISECOND);
    config.motion.contact_law = MF_CONTACT_LAW_MUJOCO;
    return config;
}

// A plate about its middle axis, alone, off its frame, and two in one file: MuJoCo's own steps make
// 2.93 of 1 J in 50,000 of them.
TEST(free_bodies_of_files_keep_their_spin) {
    static const char *const centers[2] = {"0 0 0", ".1 .05 -.02"};
    for (int i = 0; i < 4; i++) {
        const bool two = i >= 2;
        AUTO_RIG t = text_open(
            formatted(
                "<mujoco><option gravity='0 0 0' integrator='%s'/><worldbody><body><freejoint/>"
                "<inertial pos='%s' mass='1' diaginertia='.01 .02 .03'/></body>%s%s%s"
                "</worldbody></mujoco>",
                i % 2 ? "implicitfast" : "Euler", centers[i % 2],
                two ? "<body pos='1 2 3' euler='10 20 30'><freejoint/><inertial pos='" : "",
                two ? centers[1] : "", two ? "' mass='1' diaginertia='.03 .01 .02'/></body>" : ""),
            as_mujoco(0.0));
        for (uint32_t k = 0; k < (two ? 2 : 1); k++)
            for (uint32_t c = 0; c < 3; c++)
                rig_set(&t, two ? "ball.rate" : "base.angular_velocity", 3 * k + c,
                        c == 1 ? 10.0 : 0.01);
        const Drift drift = drift_of(&t, STEPS_OF(50000));
        print_message("%d bodies: energy off by %g, momentum by %g\n", two ? 2 : 1, drift.energy,
                      drift.momentum);
        assert_true(drift.energy < 1e-10 && drift.momentum < 1e-9);
    }
}

// A satellite with an arm keeps its momentum, and its energy within 2 %; MuJoCo 4.0 has 16 % more
// after 10 s and diverges after 66 s.
TEST(satellites_of_files_keep_their_momentum) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/><inertial pos='0 0 0' "
        "mass='1' diaginertia='.01 .02 .03'/><body pos='.2 0 0'><joint axis='0 1 0'/><inertial "
        "pos='.1 0 0' mass='.3' diaginertia='.001 .002 .002'/></body></body></worldbody></mujoco>";
    AUTO_RIG t = text_open(text, as_mujoco(0.0));
    rig_set3(&t, "base.angular_velocity", 1, 5, 2);
    rig_set(&t, "joint.angle", 0, 0.5);
    rig_set(&t, "joint.rate", 0, 3);
    const Drift drift = drift_of(&t, STEPS_OF(50000));
    print_message("satellite: energy off by %g, momentum by %g\n", drift.energy, drift.momentum);
    assert_true(drift.energy < 0.02 && drift.momentum < 1e-9);
}

// A box that strikes the ground and leaves it again.
TEST(a_body_that_has_touched_flies_on) {
    static const char text[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><geom type='plane' size='5 5 1'/><body><"
        "freejoint/><geom type='box' size='.1 .05 .02' mass='1' solref='-2000 -5'/></body>"
        "</worldbody></mujoco>";
    AUTO_RIG t = text_open(text, WITH(as_mujoco(0.0), .motion.shapes = true));
    rig_set3(&t, "base.position", 0, 0, 0.3);
    rig_set3(&t, "base.linear_velocity", 0, 0, -2);
    rig_set3(&t, "base.angular_velocity", 0.1, 0.2, 10);
    mf_world_step(t.world, 500);
    assert_true(rig_get(&t, "base.linear_velocity", 2) > 0.1);
    const Drift drift = drift_of(&t, STEPS_OF(20000));
    print_message("after a touch: energy off by %g, momentum by %g\n", drift.energy,
                  drift.momentum);
    assert_true(drift.energy < 1e-10 && drift.momentum < 1e-9);
}

// ---- the order ----------------------------------------------------------------------------------

// Rates after 0.5 s against Runge-Kutta in steps of 0.05 ms.
TEST(the_order_is_two) {
    static const mf_Time steps[3] = {50000, 1000000, 500000};
    double rate[3][3], worst[2];
    for (int i = 0; i < 3; i++) {
        ArtConfig config =
            art_config(i == 0 ? MF_ARTICULATED_RK4 : MF_ARTICULATED_IMPLICIT, steps[i]);
        config.world.gravity = 0.0;
        AUTO_RIG t = text_open(rod, config);
        rig_set3(&t, "base.angular_velocity", 20, 1, 20);
        mf_world_step(t.world, (uint64_t)(MF_SECOND / 2 / steps[i]));
        get_fields(t.group, "base.angular_velocity", 0, 3, rate[i]);
    }
    for (int i = 0; i < 2; i++)
        worst[i] = apart(rate[0], rate[i + 1]);
    printf("order: %g\n", log2(worst[0] / worst[1]));
    assert_true(fabs(log2(worst[0] / worst[1]) - 2.0) < 0.1);
}

// Heavy symmetric top on a ball joint: M 0.1 kg, l 0.05 m, I1 3e-4, I3 1e-4 kg m^2 about the pivot,
// 200 rad/s at 60 degrees. Steady precession is the slow root of
// I1 cos(t) W^2 - I3 s W + M g l = 0 (Goldstein 1980, chapter 5.7): 2.536 rad/s.
TEST(a_top_precesses) {
    static const char top[] =
        "<mujoco><worldbody><body><joint type='ball'/>"
        "<inertial pos='0 0 .05' mass='.1' diaginertia='5e-5 5e-5 1e-4'/></body>"
        "</worldbody></mujoco>";
    const double theta = 60.0 * MF_PI / 180.0, i1 = 3e-4, i3 = 1e-4, pull = 0.1 * 9.81 * 0.05;
    const double total = 200.0; // [rad/s] about the axis of the top
    const double b = i3 * total, a = i1 * cos(theta);
    const double slow = (b - sqrt(b * b - 4.0 * a * pull)) / (2.0 * a);
    AUTO_RIG t = text_open(top, art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND));
    // Tilted about x; precession about z seen from the top: (0, sin, cos) W.
    rig_set(&t, "ball.orientation", 0, cos(0.5 * theta));
    rig_set(&t, "ball.orientation", 1, sin(0.5 * theta));
    rig_set3(&t, "ball.rate", 0.0, slow * sin(theta), total);
    const double energy = rig_energy(&t);
    double angle = 0.0, before = -0.5 * MF_PI, lowest = 1.0, highest = -1.0;
    const int steps = 100000;
    for (int n = 0; n < steps; n++) {
        mf_world_step(t.world, 1);
        double q[4], axis[3];
        const double up[3] = {0, 0, 1};
        get_fields(t.group, "ball.orientation", 0, 4, q);
        mf_quat_rotate(axis, q, up);
        const double now = atan2(axis[1], axis[0]);
        angle += remainder(now - before, 2.0 * MF_PI);
        before = now;
        lowest = fmin(lowest, axis[2]);
        highest = fmax(highest, axis[2]);
    }
    printf("top: %.6f rad/s of %.6f, cosine of the tilt %.5f .. %.5f, energy %g\n",
           angle / (1e-3 * steps), slow, lowest, highest, rig_energy(&t) / energy - 1.0);
    assert_int_equal(mf_group_fault(t.group, 0), 0);
    assert_true(fabs(angle / (1e-3 * steps) - slow) < 2e-3 * slow);
    assert_true(lowest > 0.49 && highest < 0.51);
    assert_true(fabs(rig_energy(&t) / energy - 1.0) < 1e-3);
}

// Eight links on hinges and balls, thrown and whirling: momentum of all for 100,000 steps.
TEST(a_chain_keeps_its_momentum) {
    char text[4096];
    size_t used =
        (size_t)snprintf(text, sizeof text,
                         "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
                         "<inertial pos='.02 .01 0' mass='1' diaginertia='.01 .02 .03'/>");
    for (int i = 0; i < 8; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used,
            "<body pos='0 0 -.2'><joint type='%s' axis='%d 1 %d' damping='%s'/>"
            "<inertial pos='0 .01 -.1' mass='.3' diaginertia='2e-3 2e-3 5e-4'/>",
            i % 3 == 1 ? "ball" : "hinge", i % 2, i % 4, i % 2 == 0 ? "1e-4" : "0");
    for (int i = 0; i < 9; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "</body>");
    snprintf(text + used, sizeof text - used, "</worldbody></mujoco>");
    for (int i = 0; i < 2; i++) {
        AUTO_RIG t =
            text_open(text, WITH(in_flight(0.0, MF_MILLISECOND), .group.double_precision = i == 0));
        rig_set3(&t, "base.angular_velocity", 1, 2, -1);
        rig_set3(&t, "base.linear_velocity", 0.3, 0.1, 0.2);
        for (uint32_t j = 0; j < 8; j++)
            rig_set(&t, "joint.rate", j, j % 2 == 0 ? 1.0 : -0.7);
        const Motion start = motion_of(&t);
        mf_world_step(t.world, STEPS_OF(100000));
        const Motion end = motion_of(&t);
        const double angle = apart(start.angular, end.angular) / mf_vec3_length(start.angular);
        const double force = apart(start.linear, end.linear) / mf_vec3_length(start.linear);
        printf("chain, %s: momentum off by %g (angular), %g\n", i == 0 ? "double" : "float", angle,
               force);
        assert_int_equal(mf_group_fault(t.group, 0), 0);
        assert_true(angle < (i == 0 ? 1e-10 : 2e-2) && force < (i == 0 ? 1e-10 : 2e-2));
    }
}

// The center of mass of a thrown chain moves as the method has it: z = -g h^2 n (n + 1) / 2.
TEST(a_thrown_chain_falls_on_a_parabola) {
    static const char text[] =
        "<mujoco><worldbody><body><freejoint/>"
        "<inertial pos='0 0 .1' mass='1' diaginertia='.01 .02 .03'/>"
        "<body><joint type='hinge' axis='0 1 0'/>"
        "<inertial pos='.2 0 0' mass='1' diaginertia='.01 .02 .03'/></body></body>"
        "</worldbody></mujoco>";
    AUTO_RIG t =
        text_open(text, WITH(in_flight(9.81, 10 * MF_MILLISECOND), .motion.contacts = false));
    rig_set3(&t, "base.angular_velocity", 5, 3, 1);
    rig_set(&t, "joint.rate", 0, -4.0);
    const Motion start = motion_of(&t);
    mf_world_step(t.world, 100);
    const Motion end = motion_of(&t);
    const double distance = start.linear[2] / 2.0 - 9.81 * 1e-4 * 100 * 101 / 2;
    assert_true(fabs(end.center[2] - start.center[2] - distance) < 1e-11);
    assert_true(apart(start.angular, end.angular) < 1e-12 * mf_vec3_length(start.angular));
}

// What starts 10 cm in the ground comes out no faster at smaller steps.
TEST(depth_does_not_throw) {
    static const char ball[] =
        "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body><freejoint/>"
        "<geom type='sphere' size='.2' mass='2'/></body></worldbody></mujoco>";
    for (int i = 0; i < 6; i++) {
        static const mf_Time steps[6] = {10000000, 5000000, 2000000, 1000000, 500000, 200000};
        double fastest = 0.0;
        AUTO_RIG t = text_open(
            ball, WITH(art_config(MF_ARTICULATED_IMPLICIT, steps[i]), .motion.shapes = true));
        rig_set3(&t, "base.position", 0, 0, 0.1);
        for (mf_Time now = 0; now < MF_SECOND; now += steps[i]) {
            mf_world_step(t.world, 1);
            fastest = fmax(fastest, rig_get(&t, "base.linear_velocity", 2));
        }
        printf("out of the ground at %g ms: %g m/s\n", 1e-6 * (double)steps[i], fastest);
        assert_true(fastest < 1.0 && fastest > 0.1);
        assert_true(fabs(rig_get(&t, "base.position", 2) - 0.2) < 5e-3);
    }
}

// At steps of any length a ball that falls 2 m is stopped by the ground and rests on it.
TEST(long_steps_do_not_fall_through) {
    static const char *const balls[] = {
        "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body><freejoint/>"
        "<geom type='sphere' size='.1' mass='2'/></body></worldbody></mujoco>",
        "<mujoco><worldbody><geom type='plane' size='5 5 .1' solref='.01 1'/><body><freejoint/>"
        "<geom type='sphere' size='.1' mass='2' solref='.01 1'/></body></worldbody></mujoco>"};
    for (int kind = 0; kind < 2; kind++)
        for (int i = 1; i <= 10; i++) {
            const mf_Time step = i * 10 * MF_MILLISECOND;
            AUTO_RIG t = text_open(balls[kind], WITH(art_config(MF_ARTICULATED_IMPLICIT, step),
                                                     .motion.shapes = true));
            rig_set3(&t, "base.position", 0, 0, 2.0);
            mf_world_step(t.world, (uint64_t)(5 * MF_SECOND / step));
            // As deep as its law rests: g T^2 with T of two steps.
            const double deep = 9.81 * 4e-18 * (double)step * (double)step;
            assert_true(rig_get(&t, "base.position", 2) > 0.1 - deep - 1e-3);
            assert_true(fabs(rig_get(&t, "base.linear_velocity", 2)) < 1e-2);
        }
}

// The memory of contacts is asked for NaN, which clamps would swallow.
TEST(a_load_that_is_no_number_is_a_fault) {
    static const char *const fields[] = {"contact.load", "contact.slip"};
    static const char ball[] =
        "<mujoco><worldbody><geom type='plane' size='5 5 .1'/><body><freejoint/>"
        "<geom type='sphere' size='.1' mass='2'/></body></worldbody></mujoco>";
    for (int i = 0; i < 2; i++) {
        AUTO_RIG t = text_open(
            ball, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .motion.shapes = true));
        rig_set3(&t, "base.position", 0, 0, 5.0);
        rig_set(&t, fields[i], 0, (double)NAN);
        mf_world_step(t.world, 1);
        assert_int_equal(mf_group_fault(t.group, 0), MF_FAULT_NONFINITE);
    }
}
