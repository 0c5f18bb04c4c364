// Constraints with MuJoCo's law (contact_law mujoco, and limits with softness in the file): depths
// at rest against its equations and against numbers of MuJoCo 4.0 (Euler, step 1 ms), springs that
// neither gain nor lose energy, forces on bodies that are fixed to each other.
#include "motion/articulated_rig.h"
#include "motion/articulated/host.h"

static const double gravity = 9.81, step = 1e-3;

typedef struct Soft {
    double time, ratio;                       // solref; negative: stiffness and damping
    double least, most, width, middle, power; // solimp
} Soft;

// ---- the equations, by hand --------------------------------------------------------------------

static double impedance(const Soft *soft, double depth) {
    double distance = fmin(depth / soft->width, 1.0), p = soft->power, m = soft->middle;
    if (distance < m)
        distance = pow(distance, p) / pow(m, p - 1.0);
    else
        distance = 1.0 - pow(1.0 - distance, p) / pow(1.0 - m, p - 1.0);
    return soft->least + distance * (soft->most - soft->least);
}

// What is left over at this depth of z k d = (1 - z) a / (z many), where a is the acceleration
// without the constraint and `many` the weight of the contact's edges.
static double excess(const Soft *soft, double depth, double many, double a) {
    double slow = soft->most * soft->time * soft->ratio, z = impedance(soft, depth);
    double k = soft->time > 0.0 ? 1.0 / (slow * slow) : -soft->time / (soft->most * soft->most);
    return many * z * z * k * depth - (1.0 - z) * a;
}

static double rest_depth(const Soft *soft, double many, double a) {
    double lower = 0.0, upper = 1.0;
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (lower + upper);
        if (excess(soft, middle, many, a) < 0.0)
            lower = middle;
        else
            upper = middle;
    }
    return lower;
}

static ArtConfig config_of(bool like) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    config.motion.shapes = true;
    config.motion.contact_law = like ? MF_CONTACT_LAW_MUJOCO : MF_CONTACT_LAW_COMPLIANT;
    return config;
}

// ---- limits ------------------------------------------------------------------------------------

static Rig open_slide(const char *joint, ArtConfig config) {
    return text_open(
        formatted(
            "<mujoco><compiler angle='radian'/><worldbody><body>"
            "<joint type='slide' axis='0 0 1' limited='true' range='-.2 .3' %s/>"
            "<geom size='.1' mass='2' contype='0' conaffinity='0'/></body></worldbody></mujoco>",
            joint),
        config);
}

static double slide_depth(const char *joint, ArtConfig config) {
    AUTO_RIG t = open_slide(joint, config);
    mf_world_step(t.world, 20000);
    double depth = -0.2 - rig_get(&t, "joint.angle", 0);
    assert_near(rig_get(&t, "joint.rate", 0), 0.0, 1e-9);
    return depth;
}

// A weight on its lower limit. The last column is MuJoCo's.
TEST(a_slide_rests_on_its_limit) {
    static const struct {
        const char *joint;
        Soft soft;
        double margin, mujoco;
    } cases[] = {
        {"", {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0}, 0.0, 0.00036718184245629337},
        {"solreflimit='.05 .7' solimplimit='.5 .99 .01 .3 2'",
         {0.05, 0.7, 0.5, 0.99, 0.01, 0.3, 2.0},
         0.0,
         0.004444548581654467},
        {"solreflimit='-3000 -20'",
         {-3000.0, -20.0, 0.9, 0.95, 0.001, 0.5, 2.0},
         0.0,
         0.00031977780384429},
        {"solimplimit='.3 .8 .02 .5 1'",
         {0.02, 1.0, 0.3, 0.8, 0.02, 0.5, 1.0},
         0.0,
         0.0064044922364884516},
        {"margin='.05'", {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0}, 0.05, -0.04963281815751899},
    };
    ArtConfig config = config_of(true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double expected = rest_depth(&cases[i].soft, 1.0, gravity) - cases[i].margin;
        double depth = slide_depth(cases[i].joint, config);
        assert_near(depth, expected, 1e-9);
        assert_near(depth, cases[i].mujoco, 1e-9);
    }
}

// An arm of 2 kg, 0.5 m long, on its upper limit of 0.5 rad: the torque over the inertia about the
// joint, m l cos(a) g / (m l^2 + I). MuJoCo's numbers again.
TEST(an_arm_rests_on_its_limit) {
    static const struct {
        const char *joint;
        Soft soft;
        double mujoco;
    } cases[] = {{"", {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0}, 0.0005199414975287642},
                 {"solreflimit='.05 .7' solimplimit='.5 .99 .01 .3 2'",
                  {0.05, 0.7, 0.5, 0.99, 0.01, 0.3, 2.0},
                  0.005163490396685733}};
    ArtConfig config = config_of(true);
    for (size_t i = 0; i < 2; i++) {
        AUTO_RIG t = text_open(
            formatted(
                "<mujoco><compiler angle='radian'/><worldbody><body>"
                "<joint axis='0 1 0' limited='true' range='-1 .5' %s/><geom pos='.5 0 0' "
                "size='.1' mass='2' contype='0' conaffinity='0'/></body></worldbody></mujoco>",
                cases[i].joint),
            config);
        mf_world_step(t.world, 20000);
        double depth = rig_get(&t, "joint.angle", 0) - 0.5, inertia = 2 * (0.25 + 0.4 * 0.01);
        double pull = 2 * 0.5 * gravity * cos(0.5 + depth) / inertia;
        assert_near(depth, rest_depth(&cases[i].soft, 1.0, pull), 1e-9);
        assert_near(depth, cases[i].mujoco, 1e-9);
    }
}

// A file that says how soft limits are has it so with the compliant law too; one that says nothing
// has the motion's own, two steps; settings beat the file.
TEST(who_decides_on_limits) {
    const char *said = "solreflimit='.05 .7' solimplimit='.5 .99 .01 .3 2'";
    ArtConfig own = config_of(false), like = config_of(true), set = config_of(true);
    set.motion.contact_law = MF_CONTACT_LAW_AS_MODEL; // the compliant law, then
    set.motion.limit_time = 0.01;
    assert_near(slide_depth(said, own), slide_depth(said, like), 1e-12);
    assert_near(slide_depth("", own), gravity * 4.0 * step * step, 1e-9);
    assert_near(slide_depth(said, set), gravity * 1e-4, 1e-9);
}

// Any power of the impedance, by MuJoCo's law.
TEST(powers_are_any) {
    static const double powers[] = {1.0, 1.5, 2.0, 2.7, 3.0, 6.0};
    ArtConfig config = config_of(true);
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        const Soft soft = {0.02, 1.0, 0.3, 0.8, 0.02, 0.4, powers[i]};
        assert_near(slide_depth(formatted("solimplimit='.3 .8 .02 .4 %.17g'", powers[i]), config),
                    rest_depth(&soft, 1.0, gravity), 1e-9);
    }
}

// A limit never pulls, and its force is the weight at rest.
TEST(limits_push_with_the_weight) {
    AUTO_RIG t = open_slide("", config_of(true));
    MUST(mf_articulated_report_limits(t.group, &error));
    rig_set(&t, "joint.rate", 0, -3.0);
    double least = 0.0;
    for (int i = 0; i < 10000; i++) {
        mf_world_step(t.world, 1);
        least = fmin(least, rig_get(&t, "joint.limit_force", 0));
    }
    assert_true(least >= 0.0);
    assert_near(rig_get(&t, "joint.limit_force", 0), 2.0 * gravity, 1e-6);
}

// A limit with one impedance, 0.9, of a file that steps by Runge-Kutta: the speed after one step is
// that of the classical method for v' = 0.9 (0.9 k d - b v), d' = -v, worked out here. With the
// file's Euler it is that of Euler.
TEST(a_limit_steps_as_the_file_does) {
    static const char *const options[] = {"", "integrator='RK4'"};
    const double z = 0.9, h = 1e-2, slow = z * 0.03 * 0.8, k = 1.0 / (slow * slow);
    const double b = 2.0 / (z * 0.03), part[4] = {0.0, 0.5, 0.5, 1.0};
    for (int method = 0; method < 2; method++) {
        AUTO_RIG t = text_open(
            formatted("<mujoco><option timestep='.01' %s/><worldbody><body><joint type='slide' "
                      "axis='1 0 0' limited='true' range='-1 1' solreflimit='.03 .8' "
                      "solimplimit='.9 .9 .001'/><geom size='.1' mass='2' contype='0' "
                      "conaffinity='0'/></body></worldbody></mujoco>",
                      options[method]),
            WITH(art_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND),
                 .motion.contact_law = MF_CONTACT_LAW_MUJOCO, .world.gravity = 0.0));
        const double depth = 0.01, speed = -0.2; // out of the limit
        double change[5] = {0}, sunk[5] = {0};
        for (int i = 0; i < 4; i++) {
            double d = depth + h * part[i] * (i > 0 ? sunk[i - 1] : 0.0);
            double v = speed + h * part[i] * (i > 0 ? change[i - 1] : 0.0);
            change[i] = z * (z * k * d - b * v);
            sunk[i] = -v;
        }
        change[4] = (change[0] + 2.0 * change[1] + 2.0 * change[2] + change[3]) / 6.0;
        rig_set(&t, "joint.angle", 0, -1.0 - depth);
        rig_set(&t, "joint.rate", 0, speed);
        mf_world_step(t.world, 1);
        double expected = speed + h * change[method == 0 ? 0 : 4];
        assert_near(rig_get(&t, "joint.rate", 0), expected, 1e-13);
    }
}

// ---- contacts ----------------------------------------------------------------------------------

// A ball of 2 kg on a plane. A pyramid of friction presses by its four edges: 2 / (mu^2 (1 + mu^2))
// times as hard as one constraint, mu^2 divided by impratio.
TEST(a_ball_rests_on_the_ground) {
    static const struct {
        const char *option, *geom;
        Soft soft;
        double many, mujoco;
    } cases[] = {
        {"", "", {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0}, 1.0, 0.0003671818425536044},
        {"", "condim='1'", {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0}, 1.0, 0.0003671818425536044},
        {"cone='elliptic'",
         "friction='.5 .005 .0001'",
         {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0},
         1.0,
         0.0003671818425536044},
        {"",
         "friction='.5 .005 .0001'",
         {0.02, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0},
         6.4,
         6.792933327524897e-05},
        {"",
         "solref='.05 1' solimp='.5 .99 .01 .3 2'",
         {0.05, 1.0, 0.5, 0.99, 0.01, 0.3, 2.0},
         1.0,
         0.005390647426826253},
        {"",
         "condim='1' solimp='.2 .9 .005 .5 1'",
         {0.02, 1.0, 0.2, 0.9, 0.005, 0.5, 1.0},
         1.0,
         0.003040165709353365},
    };
    ArtConfig config = config_of(true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_RIG t = text_open(
            formatted("<mujoco><option %s/><worldbody><geom type='plane' size='5 5 1' %s/>"
                      "<body pos='0 0 .1'><freejoint/><geom size='.1' mass='2' %s/></body>"
                      "</worldbody></mujoco>",
                      cases[i].option, cases[i].geom, cases[i].geom),
            config);
        rig_set3(&t, "base.position", 0, 0, 0.1);
        mf_world_step(t.world, 20000);
        double depth = 0.1 - rig_get(&t, "base.position", 2);
        assert_near(depth, rest_depth(&cases[i].soft, cases[i].many, gravity), 1e-9);
        assert_near(depth, cases[i].mujoco, 1e-9);
    }
}

// Nothing pushes before the touch: a ball that comes to within a micrometer falls freely.
TEST(nothing_acts_before_the_touch) {
    AUTO_RIG t = text_open("<mujoco><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 .1'>"
                           "<freejoint/><geom size='.1' mass='2'/></body></worldbody></mujoco>",
                           config_of(true));
    rig_set3(&t, "base.position", 0, 0, 0.100001);
    rig_set3(&t, "base.linear_velocity", 0, 0, -1);
    mf_world_step(t.world, 1);
    assert_near(rig_get(&t, "base.linear_velocity", 2), -1.0 - gravity * step, 1e-12);
}

// ---- springs -----------------------------------------------------------------------------------

static Rig open_spring(bool like) {
    Rig t = text_open("<mujoco><worldbody><body><joint type='slide' axis='1 0 0' stiffness='800'/>"
                      "<geom size='.1' mass='2' contype='0' conaffinity='0'/></body>"
                      "</worldbody></mujoco>",
                      WITH(config_of(like), .world.gravity = 0.0));
    rig_set(&t, "joint.angle", 0, 0.1);
    return t;
}

// With the spring at the beginning of the step, v' = v - h w^2 x and x' = x + h v' turn (x, v) such
// that v^2 + w^2 x^2 - h w^2 x v stays as it is, here over 320 periods. With the spring at the end
// of the step the swing loses a part h w / 2 a radian and is gone.
TEST(a_spring_keeps_its_energy) {
    const double square = 400.0;
    for (int like = SANITIZED; like < 2; like++) { // the loss takes all of the time
        double first = square * 0.01, last;
        AUTO_RIG t = open_spring(like != 0);
        mf_world_step(t.world, STEPS_OF(100000));
        double x = rig_get(&t, "joint.angle", 0), v = rig_get(&t, "joint.rate", 0);
        last = v * v + square * x * x - step * square * x * v;
        if (like != 0)
            assert_near(last / first, 1.0, 1e-10);
        else
            assert_true(last / first < 1e-10);
    }
}

// One step by hand.
TEST(a_spring_acts_at_the_beginning_of_the_step) {
    AUTO_RIG t = open_spring(true);
    mf_world_step(t.world, 1);
    assert_near(rig_get(&t, "joint.rate", 0), -step * 400.0 * 0.1, 1e-15);
    assert_near(rig_get(&t, "joint.angle", 0), 0.1 - step * step * 400.0 * 0.1, 1e-15);
}

// ---- forces on bodies that are fixed to each other ---------------------------------------------

// A plank of 3 kg on two feet, bodies of their own that are fixed to it, 0.2 m to one side of the
// center of mass and 0.4 m to the other: by the lever they bear two thirds and one third.
TEST(fixed_bodies_are_distinguished_by_their_shapes) {
    AUTO_RIG t = text_open("<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
                           "<body name='plank' pos='0 0 .1'><freejoint/>"
                           "<inertial pos='0 0 0' mass='3' diaginertia='.1 .1 .1'/>"
                           "<body name='near'><geom size='.05' pos='.2 .1 -.05' mass='0'/>"
                           "<geom size='.05' pos='.2 -.1 -.05' mass='0'/></body>"
                           "<body name='far'><geom size='.05' pos='-.4 0 -.05' mass='0'/></body>"
                           "</body></worldbody></mujoco>",
                           config_of(true));
    const uint32_t bodies[3] = {mf_model_find(t.model, MF_ITEM_BODY, "plank"),
                                mf_model_find(t.model, MF_ITEM_BODY, "near"),
                                mf_model_find(t.model, MF_ITEM_BODY, "far")};
    MUST(mf_articulated_report_forces(t.group, bodies, 3, &error));
    rig_set3(&t, "base.position", 0, 0, 0.1);
    mf_world_step(t.world, 5000);
    const double weight = 3.0 * gravity, share[3] = {1.0, 2.0 / 3.0, 1.0 / 3.0};
    for (uint32_t b = 0; b < 3; b++) {
        assert_near(rig_get(&t, "sensor.outer", 6 * b + 2), share[b] * weight, 2e-3 * weight);
        for (uint32_t c = 0; c < 2; c++)
            assert_near(rig_get(&t, "sensor.outer", 6 * b + c), 0.0, 2e-3 * weight);
    }
    for (uint32_t c = 0; c < 3; c++) // what the plank carries is both, to the last bit or so
        assert_near(rig_get(&t, "sensor.outer", c),
                    rig_get(&t, "sensor.outer", 6 + c) + rig_get(&t, "sensor.outer", 12 + c),
                    1e-12 * weight);
}

// Ties pull at bodies: of two bodies of one link only the one that is tied, and what carries it,
// feel the tie.
TEST(ties_on_fixed_bodies_are_distinguished) {
    AUTO_RIG t =
        text_open("<mujoco><worldbody><body name='hook' pos='0 0 1'/>"
                  "<body name='plank' pos='0 0 1'><freejoint/><geom size='.1' mass='1'/>"
                  "<body name='ring'><geom size='.05' pos='0 0 .2' mass='.1'/></body>"
                  "<body name='stone'><geom size='.05' pos='0 0 -.2' mass='.1'/></body></body>"
                  "</worldbody><equality><connect body1='ring' body2='hook' anchor='0 0 .2'/>"
                  "</equality></mujoco>",
                  config_of(true));
    const uint32_t bodies[4] = {mf_model_find(t.model, MF_ITEM_BODY, "ring"),
                                mf_model_find(t.model, MF_ITEM_BODY, "stone"),
                                mf_model_find(t.model, MF_ITEM_BODY, "plank"),
                                mf_model_find(t.model, MF_ITEM_BODY, "hook")};
    const double weight = 1.2 * 9.81, expected[4] = {weight, 0.0, weight, -weight};
    MUST(mf_articulated_report_forces(t.group, bodies, 4, &error));
    mf_world_step(t.world, 2000);
    for (uint32_t b = 0; b < 4; b++)
        assert_near(rig_get(&t, "sensor.outer", 6 * b + 2), expected[b], 1e-6 * weight);
}

// Newton's cradle of three balls on tendons: stiffness 1e8 at an impedance of at most 0.01. The
// first ball stops, the last one goes on (MuJoCo 4.0 after 0.25 s).
TEST(a_cradle_hands_its_speed_on) {
    static const char text[] =
        "<mujoco model='cradle'><option timestep='1e-4'/>"
        "<default><geom size='.02' density='8000' friction='.4' solref='-1e8 -0' solimp='0 .01 "
        "1e-3'/><tendon limited='true' range='0 0.146' solreflimit='1e-3 1'/></default>"
        "<worldbody><geom type='plane' size='4 4 .1' friction='.5'/>"
        "<site name='a0' pos='0 -.04 .2'/><site name='c0' pos='0 .04 .2'/><site name='a1' "
        "pos='-.04 -.04 .2'/><site name='c1' pos='-.04 .04 .2'/><site name='a2' pos='.04 -.04 "
        ".2'/><site name='c2' pos='.04 .04 .2'/>"
        "<body name='x0' pos='0 0 .04'><freejoint/><geom/><site name='b0' pos='0 -.008 "
        ".018'/><site name='d0' pos='0 .008 .018'/></body>"
        "<body name='x1' pos='-.04 0 .04'><freejoint/><geom/><site name='b1' pos='0 -.008 "
        ".018'/><site name='d1' pos='0 .008 .018'/></body>"
        "<body name='x2' pos='.12 0 .061' euler='0 -34 0'><freejoint/><geom/><site name='b2' "
        "pos='0 -.008 .018'/><site name='d2' pos='0 .008 .018'/></body>"
        "</worldbody>"
        "<tendon><spatial><site site='a0'/><site site='b0'/></spatial><spatial><site "
        "site='c0'/><site site='d0'/></spatial><spatial><site site='a1'/><site "
        "site='b1'/></spatial><spatial><site site='c1'/><site site='d1'/></spatial><spatial><site "
        "site='a2'/><site site='b2'/></spatial><spatial><site site='c2'/><site "
        "site='d2'/></spatial></tendon></mujoco>";
    static const double x[] = {-0.000360753, -0.067651302, 0.039715637};
    for (int floats = 0; floats < 2; floats++) {
        AUTO_RIG t = text_open(text, WITH(config_of(true), .world.step = MF_MILLISECOND / 10,
                                          .group.double_precision = !floats));
        mf_world_step(t.world, 2500);
        for (uint32_t i = 0; i < 3; i++)
            assert_near(rig_get(&t, "free.position", 3 * i), x[i], floats ? 1e-3 : 1e-6);
    }
}

// A body that only slides along axes of its inertia rests as deep as a free one: with the impedance
// d of the depth r the softness is (1 - d) / (d m), so that k d^2 r = (1 - d) g (MuJoCo
// documentation, "Solver parameters"), whatever the armature. One that slides askew gives way by
// less.
TEST(what_only_slides_gives_way_by_its_mass) {
    static const struct {
        const char *joint, *rest;
        bool deep;
    } cases[] = {
        {"<freejoint/>", "", true},
        {"<joint type='slide' axis='0 0 1'/>", "", true},
        {"<joint type='slide' axis='0 0 -1' armature='3'/><joint type='slide' axis='1 0 0'/>", "",
         true},
        {"<joint type='slide' axis='0 .1 1'/>", "", false},
        {"<joint type='slide' axis='0 0 1'/>", "<body><geom size='.01' mass='.1'/></body>", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        ArtConfig config = WITH(art_config(MF_ARTICULATED_EULER, 2 * MF_MILLISECOND),
                                .motion.contact_law = MF_CONTACT_LAW_MUJOCO, .motion.shapes = true);
        snprintf(
            text, sizeof text,
            "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body name='b' pos='0 0 .1'>%s"
            "<geom size='.1' mass='3'/>%s</body></worldbody></mujoco>",
            cases[i].joint, cases[i].rest);
        AUTO_RIG t = text_open(text, config);
        mf_world_step(t.world, 2000);
        const double angle = t.model->joint_count > 0 ? rig_get(&t, "joint.angle", 0)
                                                      : rig_get(&t, "base.position", 2) - 0.1;
        const double depth = fabs(angle), x = depth / 0.001;
        const double d = 0.9 + 0.05 * (x < 0.5 ? 2.0 * x * x : 1.0 - 2.0 * (1.0 - x) * (1.0 - x));
        const double k = 1.0 / (0.95 * 0.95 * 0.02 * 0.02);
        const double wrong = k * d * d * depth / ((1.0 - d) * 9.81) - 1.0;
        if (cases[i].deep ? !(fabs(wrong) < 1e-3) : !(wrong < -0.2))
            fail_msg("case %zu: depth %g m, off by %g", i, depth, wrong);
    }
}
