// Sensors on bodies that are fixed to the world, the pull of tendons on sensors, and touch sites,
// against closed forms, under all laws of contact and in both precisions.
#include "signal_rig.h"

#define G 9.81

static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT,
                                     MF_CONTACT_LAW_HARD};

// With steps of 1 ms, after this many of them.
static Rig open_rig(mf_Context *context, const char *text, mf_ContactLaw law, bool floats,
                    int steps) {
    Rig rig = rig_open(context,
                       WITH(rig_config(), .model = text, .step = MF_MILLISECOND, .floats = floats));
    MUST(rig_add_articulated(
        rig.group, &WITH(mf_motions_config().articulated, .shapes = true, .contact_law = law),
        &error));
    if (rig.model->base == MF_BASE_FIXED)
        MUST(mf_group_set_start(rig.group, 0, (double[3]){0, 0, 0}, NULL, NULL, &error));
    MUST(mf_sensors_add(rig.group, NULL, &error));
    mf_world_step(rig.world, (uint64_t)steps);
    return rig;
}

static double get(const Rig *rig, const char *field, uint32_t component) {
    return get_field(rig->group, field, 0, component);
}

#define assert_read(rig, component, expected, tolerance)                                           \
    assert_near(get(rig, "sensor.value", component), expected, tolerance)

// Runs the checks for each law and precision.
typedef void (*Check)(const Rig *rig, double tolerance);

static void for_all(mf_Context *context, const char *text, int steps, Check check) {
    for (int floats = 0; floats < 2; floats++)
        for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
            AUTO_RIG rig = open_rig(context, text, laws[i], floats, steps);
            check(&rig, floats ? 0.02 : 2e-3);
        }
}

// ---- weights on plates --------------------------------------------------------------------------

// A plate of 1 kg carries a box of 2 kg, off its middle, and one welded to it of 0.5 kg. The plate
// is a body of the world; beside it rests another box on a plate without sensor.
static void check_plate(const Rig *rig, double tolerance) {
    assert_read(rig, 0, 0.0, tolerance);
    assert_read(rig, 2, 3.5 * G, 10.0 * tolerance);
    assert_read(rig, 4, -0.2 * 2.0 * G - 0.1 * 0.5 * G, 10.0 * tolerance); // about y
    assert_read(rig, 8, 0.5 * G, tolerance);                               // the welded one alone
    assert_read(rig, 11, 6.5 * G, 10.0 * tolerance);                       // all at the world
}

TEST(plates_feel_what_lies_on_them) {
    for_all(*state,
            "<mujoco><worldbody><site name='w'/><body name='plate'>"
            "<geom type='box' size='.5 .5 .05' mass='1'/><site name='s'/>"
            "<body pos='.1 0 -.2'><geom size='.05' mass='.5'/><site name='u'/></body></body>"
            "<body pos='2 0 0'><geom type='box' size='.5 .5 .05' mass='1'/></body>"
            "<body pos='.2 0 .15'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/></body>"
            "<body pos='2 0 .15'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/></body>"
            "</worldbody><sensor><force site='s'/><torque site='s'/><force site='u'/>"
            "<force site='w'/></sensor></mujoco>",
            2000, check_plate);
}

// The only moving body is free, so the plate is no part of the tree.
static void check_single(const Rig *rig, double tolerance) {
    assert_read(rig, 2, 3.0 * G, 10.0 * tolerance);
}

TEST(plates_beside_a_free_body) {
    for_all(*state,
            "<mujoco><worldbody><body name='plate' pos='0 0 1'>"
            "<geom type='box' size='.5 .5 .05' mass='1'/><site name='s'/></body>"
            "<body pos='0 0 1.15'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/></body>"
            "</worldbody><sensor><force site='s'/></sensor></mujoco>",
            2000, check_single);
}

// ---- welds --------------------------------------------------------------------------------------

// A weight of 2 kg without friction on a slide is held by a weld to one of two bodies that share
// the world's link.
static void check_weld(const Rig *rig, double tolerance) {
    assert_read(rig, 2, 1.0 * G + 2.0 * G, 20.0 * tolerance);
    assert_read(rig, 5, 1.0 * G, tolerance);
}

TEST(welds_hold_on_to_one_body) {
    static const char *const ties[] = {"<weld body1='a' body2='m'/>", "<weld site1='t' site2='n'/>",
                                       "<connect body1='m' body2='a' anchor='0 0 0'/>",
                                       "<connect site1='n' site2='t'/>"};
    for (size_t i = 0; i < sizeof ties / sizeof *ties; i++) {
        const char *text = formatted(
            "<mujoco><worldbody><body name='a' pos='0 0 2'><geom size='.05' mass='1'/><site "
            "name='s'/>"
            "<site name='t' pos='0 0 -.5'/></body><body name='b' pos='1 0 2'>"
            "<geom size='.05' mass='1'/><site name='u'/></body><body name='m' pos='0 0 1.5'>"
            "<joint type='slide' axis='0 0 1'/><geom size='.05' mass='2'/><site name='n'/>"
            "</body></worldbody><equality>%s</equality><sensor><force site='s'/>"
            "<force site='u'/></sensor></mujoco>",
            ties[i]);
        for_all(*state, text, 3000, check_weld);
    }
}

// ---- tendons ------------------------------------------------------------------------------------

// A mass of 1 kg hangs by a spring of 500 N/m, 0.2 m long, at a fixed body, which feels it; so does
// the hanging body, from its own site.
static void check_spring(const Rig *rig, double tolerance) {
    assert_read(rig, 2, 1.0 * G + 1.0 * G, 10.0 * tolerance);
    assert_read(rig, 5, 0.1 * G - 1.0 * G, 10.0 * tolerance);
    assert_read(rig, 6, 0.2 + G / 500.0, tolerance);
    assert_near(get(rig, "tendon.length", 0), 0.2 + G / 500.0, tolerance);
    assert_near(get(rig, "tendon.force", 0), G, 10.0 * tolerance);
    // A fixed tendon in N m or N: 2 q = 2 (-0.0 ...) with its own spring at rest pulls nothing.
    assert_near(get(rig, "tendon.force", 1), 0.0, 10.0 * tolerance);
    assert_near(get(rig, "tendon.length", 1), 2.0 * get(rig, "joint.angle", 0), tolerance);
}

TEST(tendons_pull_on_sensors) {
    for_all(
        *state,
        "<mujoco><worldbody><body name='a'><geom size='.01' mass='1'/><site name='s'/></body>"
        "<body name='m' pos='0 0 -.2'><joint name='z' type='slide' axis='0 0 1'/>"
        "<geom size='.05' mass='.9' contype='0' conaffinity='0'/><body><geom size='.01' mass='.1' "
        "contype='0' conaffinity='0'/><site name='k'/></body></body></worldbody><tendon>"
        "<spatial name='t' stiffness='500' damping='20' springlength='.2'><site site='s'/>"
        "<site site='k'/></spatial><fixed><joint joint='z' coef='2'/></fixed></tendon><sensor>"
        "<force site='s'/><force site='k'/><tendonpos tendon='t'/></sensor></mujoco>",
        4000, check_spring);
}

// A limit, dry friction and a motor: the mass of 1 kg hangs at the end of a rope of 0.5 m and is
// pulled down by 3 N more through another path.
static void check_rope(const Rig *rig, double tolerance) {
    assert_read(rig, 2, 1.0 * G + 1.0 * G + 3.0, 20.0 * tolerance);
    assert_near(get(rig, "tendon.force", 0), G + 3.0, 20.0 * tolerance);
    assert_near(get(rig, "tendon.force", 1), 3.0, tolerance);
}

TEST(ropes_and_motors_pull) {
    static const char text[] =
        "<mujoco><worldbody><site name='d' pos='0 0 -2'/><body name='a'><geom size='.01' mass='1'/>"
        "<site name='s'/></body><body name='m' pos='0 0 -.5'><joint type='slide' axis='0 0 1'/>"
        "<geom size='.05' mass='1' contype='0' conaffinity='0'/><site name='k'/></body></worldbody>"
        "<tendon><spatial range='0 .5'><site site='s'/><site site='k'/></spatial><spatial name='t'>"
        "<site site='d'/><site site='k'/></spatial></tendon><actuator><motor tendon='t' gear='-2'/>"
        "</actuator><sensor><force site='s'/></sensor></mujoco>";
    for (int floats = 0; floats < 2; floats++)
        for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
            AUTO_RIG rig = open_rig(*state, text, laws[i], floats, 0);
            set_field(rig.group, "actuator.control", 0, 0, 1.5);
            mf_world_step(rig.world, 4000);
            check_rope(&rig, floats ? 0.02 : 2e-3);
        }
}

// ---- touch --------------------------------------------------------------------------------------

// A half line from the contact outwards: what is inside of the ball alone feels nothing.
static void check_touch(const Rig *rig, double tolerance) {
    assert_read(rig, 0, 0.0, tolerance);
    assert_read(rig, 1, 2.0 * G, 10.0 * tolerance); // reaches the surface
    assert_read(rig, 2, 2.0 * G, 10.0 * tolerance); // around the whole ball
    assert_read(rig, 3, 0.0, tolerance);            // beside
    assert_read(rig, 4, 2.0 * G, 10.0 * tolerance); // on the fixed plate
    assert_read(rig, 5, 0.0, tolerance);            // on it, elsewhere
}

TEST(touch_is_a_half_line) {
    static const struct {
        const char *text;
        double height; // [m] of its surface; the world's ground is at 0
    } grounds[] = {{"<body name='p' pos='0 0 .9'><geom type='box' size='1 1 .1'/>", 1.0},
                   {"<body name='p'><geom type='plane' size='1 1 1'/>", 0.0}};
    for (size_t i = 0; i < sizeof grounds / sizeof *grounds; i++) {
        const double above = i == 0 ? 0.1 : 0.0;
        const char *text = formatted(
            "<mujoco><worldbody>%s<site name='e' type='box' size='.1 .1 .05' pos='0 0 %g'/>"
            "<site name='f' type='box' size='.1 .1 .05' pos='.5 0 %g'/></body>"
            "<body pos='0 0 %g'><freejoint/><geom size='.1' mass='2'/>"
            "<site name='a' type='box' size='.05 .05 .02' pos='0 0 -.07'/>"
            "<site name='b' type='box' size='.05 .05 .02' pos='0 0 -.1'/>"
            "<site name='c' size='.12'/><site name='d' size='.02' pos='.1 0 -.1'/></body>"
            "</worldbody><sensor><touch site='a'/><touch site='b'/><touch site='c'/>"
            "<touch site='d'/><touch site='e'/><touch site='f'/></sensor></mujoco>",
            grounds[i].text, above, above, grounds[i].height + 0.1);
        for_all(*state, text, 1500, check_touch);
    }
}

GROUP_FIXTURE(setup_context, teardown_context);
