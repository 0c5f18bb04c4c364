// Models of many bodies: files of free boxes and long chains, whose links, balls, contacts and
// velocities have no limit of their own.
#include "motion/articulated_rig.h"
#include "motion/kinematic/motion.h"

enum { ROW = 16, BOXES = 176, CHAIN = 420, TEETH = 80, UNITS = 90 };

#define HALF 0.05 // [m] of a box
#define MASS 0.5  // [kg]

// Boxes on a grid, `height` above the ground, of which the file may ask for an integrator.
static char *boxes_text(uint32_t count, double height, const char *integrator) {
    const size_t size = 256 + (size_t)count * 160;
    char *text = calloc(1, size);
    assert_non_null(text);
    int at = snprintf(text, size, "<mujoco><option integrator='%s'/><worldbody>", integrator);
    for (uint32_t i = 0; i < count; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "<body pos='%g %g %g'><freejoint/><geom type='box' size='%g %g %g' "
                       "mass='%g'/></body>",
                       0.3 * (i % ROW), 0.3 * (i / ROW), HALF + height, HALF, HALF, HALF, MASS);
    snprintf(text + at, size - (size_t)at, "</worldbody></mujoco>");
    return text;
}

static Rig boxes_open(uint32_t count, double height, ArtConfig config) {
    char *text = boxes_text(count, height, "Euler");
    Rig rig = text_open(text, config);
    free(text);
    return rig;
}

static ArtConfig boxes_config(mf_ContactLaw law) {
    return WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND), .motion.contact_law = law,
                .motion.self_contacts = false);
}

// Each falls as if alone, z0 - g t^2 / 2, then the ground bears every weight.
TEST(many_free_boxes_fall_and_rest) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_COMPLIANT, MF_CONTACT_LAW_HARD,
                                         MF_CONTACT_LAW_MUJOCO};
    const double height = 0.01, weight = MASS * 9.81;
    for (int i = 0; i < 3; i++) {
        AUTO_RIG t = boxes_open(BOXES, height, boxes_config(laws[i]));
        double center[3], linear[3], angular[3];
        mf_world_step(t.world, 20);
        mf_motion_momentum(t.group, 0, center, linear, angular);
        assert_near(linear[2], -BOXES * weight * 0.02, 1e-9 * BOXES * weight);
        assert_near(center[2], HALF + height - 0.5 * 9.81 * 0.02 * 0.02, 1.1e-4);
        mf_world_step(t.world, 600);
        double load = 0.0;
        for (uint32_t c = 0; c < 8 * BOXES; c++)
            load += rig_get(&t, "contact.load", c);
        assert_near(load, BOXES * weight, 1e-3 * BOXES * weight);
        for (uint32_t b = 0; b < BOXES; b++) {
            assert_near(rig_get(&t, "free.position", 3 * b + 2), HALF, 1e-3);
            assert_near(rig_get(&t, "ball.orientation", 4 * b), 1.0, 1e-6);
        }
    }
}

// The others change nothing of the first boxes: what 60 boxes have memory for any matrix for, 176
// do with entries of the tree alone. (MuJoCo's tolerance is for all together.)
TEST(boxes_do_not_depend_on_their_number) {
    static const struct {
        mf_ContactLaw law;
        double tolerance; // [m]
    } cases[] = {{MF_CONTACT_LAW_COMPLIANT, 0.0}, {MF_CONTACT_LAW_MUJOCO, 1e-6}};
    for (int i = 0; i < 2; i++) {
        // The default stiffness is that for the mass of all.
        const ArtConfig config = WITH(boxes_config(cases[i].law), .motion.contact_stiffness = 1e5,
                                      .motion.contact_damping = 100.0);
        AUTO_RIG few = boxes_open(60, 0.002, config);
        AUTO_RIG many = boxes_open(BOXES, 0.002, config);
        for (int k = 0; k < 2; k++) {
            const Rig *t = k == 0 ? &few : &many;
            rig_set3(t, "free.velocity", 0.3, 0.1, 0.0); // the first one slides
            mf_world_step(t->world, 100);
        }
        assert_true(rig_get(&few, "free.position", 0) > 0.005);
        for (uint32_t c = 0; c < 180; c++)
            assert_near(rig_get(&many, "free.position", c), rig_get(&few, "free.position", c),
                        cases[i].tolerance);
    }
}

// A chain of damped hinges, from level and at rest: (M + h B) a = f, which MuJoCo's law solves with
// the factors of a matrix, the other by articulated bodies.
static char *chain_text(void) {
    const size_t size = 256 + (size_t)CHAIN * 400;
    char *text = calloc(1, size);
    assert_non_null(text);
    int at = snprintf(text, size, "<robot name='chain'><link name='l0'/>");
    for (int i = 1; i <= CHAIN; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "<link name='l%d'><inertial><origin xyz='.05 0 0'/><mass value='.1'/>"
                       "<inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/>"
                       "</inertial></link><joint name='j%d' type='continuous'><parent link='l%d'/>"
                       "<child link='l%d'/><origin xyz='%g 0 0'/><axis xyz='0 1 0'/>"
                       "<dynamics damping='.5'/></joint>",
                       i, i, i - 1, i, i == 1 ? 0.0 : 0.1);
    snprintf(text + at, size - (size_t)at, "</robot>");
    return text;
}

TEST(a_long_chain_accelerates_alike_by_all_laws) {
    char *text = chain_text();
    Rig rigs[2];
    for (int i = 0; i < 2; i++)
        rigs[i] = text_open(
            text, WITH(boxes_config(i == 0 ? MF_CONTACT_LAW_MUJOCO : MF_CONTACT_LAW_COMPLIANT),
                       .motion.base = MF_ARTICULATED_FIXED));
    free(text);
    for (int i = 0; i < 2; i++)
        mf_world_step(rigs[i].world, 1);
    assert_true(rig_get(&rigs[0], "joint.rate", 0) > 0.01);
    for (uint32_t j = 0; j < CHAIN; j++)
        assert_near(rig_get(&rigs[0], "joint.rate", j), rig_get(&rigs[1], "joint.rate", j), 1e-9);
    for (int i = 0; i < 2; i++)
        rig_close(&rigs[i]);
}

// A trunk between two rows of boxes on hinges, all of which stand on four corners: the solver holds
// every contact with the ground.
TEST(a_robot_of_many_links_lies_on_the_ground) {
    const double weight = (1.0 + TEETH * 0.3) * 9.81;
    char text[16384];
    int at = snprintf(text, sizeof text,
                      "<mujoco><worldbody><body pos='0 0 .051'><freejoint/>"
                      "<geom type='box' size='.05 .05 .05' mass='1'/>");
    for (int i = 0; i < TEETH; i++) {
        const double side = i % 2 == 0 ? 1.0 : -1.0;
        at += snprintf(text + at, sizeof text - (size_t)at,
                       "<body pos='%g 0 0'><joint axis='0 1 0' pos='%g 0 0'/>"
                       "<geom type='box' size='.05 .05 .05' mass='.3'/></body>",
                       side * 0.12 * (i / 2 + 1), side * -0.06);
    }
    snprintf(text + at, sizeof text - (size_t)at, "</body></worldbody></mujoco>");
    AUTO_RIG t = text_open(text, boxes_config(MF_CONTACT_LAW_MUJOCO));
    mf_world_step(t.world, 300);
    assert_int_equal(mf_group_fault(t.group, 0), 0);
    double load = 0.0;
    for (uint32_t c = 0; c < 8 * (TEETH + 1); c++)
        load += rig_get(&t, "contact.load", c);
    assert_near(load, weight, 0.01 * weight);
    assert_near(rig_get(&t, "base.position", 2), 0.05, 1e-3);
}

// Levels without forces have the same bodies.
TEST(many_bodies_are_posed_by_kinematics) {
    char *text = boxes_text(BOXES, 0.5, "Euler");
    Rig rig = {.context = open_context(1)};
    const mf_WorldConfig world = mf_world_config();
    const mf_KinematicConfig config = mf_motions_config().kinematic;
    rig.model = load_text(rig.context, text);
    free(text);
    rig_add_group(&rig, &world, mf_group_config());
    MUST(rig_add_kinematic(rig.group, &config, &error));
    double center[3], linear[3], angular[3];
    mf_world_step(rig.world, 5);
    mf_motion_momentum(rig.group, 0, center, linear, angular);
    assert_near(center[2], HALF + 0.5, 1e-6);
    rig_close(&rig);
}

// In each unit a slide that a second one follows, with a tendon that pulls and ends its range, and
// a box that falls on a fixed one.
static char *units_text(uint32_t count, bool boxes) {
    const size_t size = 512 + (size_t)count * 1000;
    char *text = calloc(1, size);
    assert_non_null(text);
    int at =
        snprintf(text, size, "<mujoco><worldbody><geom type='box' size='40 1 .1' pos='0 0 -.1'/>");
    for (uint32_t i = 0; i < count; i++) {
        at += snprintf(text + at, size - (size_t)at,
                       "<body pos='%g 0 1'><joint name='a%u' type='slide' axis='0 0 1'/>"
                       "<geom size='.05' mass='1' contype='0' conaffinity='0'/></body>"
                       "<body pos='%g 0 1'><joint name='b%u' type='slide' axis='0 0 1'/>"
                       "<geom size='.05' mass='2' contype='0' conaffinity='0'/></body>",
                       0.4 * i, i, 0.4 * i + 0.2, i);
        if (boxes)
            at += snprintf(text + at, size - (size_t)at,
                           "<body pos='%g .5 .055'><joint type='slide' axis='0 0 1'/>"
                           "<geom type='box' size='.05 .05 .05' mass='.5'/></body>",
                           0.4 * i);
    }
    at += snprintf(text + at, size - (size_t)at, "</worldbody><tendon>");
    for (uint32_t i = 0; i < count; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "<fixed name='t%u' stiffness='40' limited='true' range='-.05 .05'>"
                       "<joint joint='a%u' coef='1'/></fixed>",
                       i, i);
    at += snprintf(text + at, size - (size_t)at, "</tendon><equality>");
    for (uint32_t i = 0; i < count; i++)
        at += snprintf(text + at, size - (size_t)at,
                       "<joint joint1='b%u' joint2='a%u' polycoef='0 .5 0 0 0'/>", i, i);
    snprintf(text + at, size - (size_t)at, "</equality></mujoco>");
    return text;
}

// Equations, tendons and contacts of one robot have no limit of their own: 90 units move as one
// does. (MuJoCo's tolerance is for all together.)
TEST(many_units_move_as_one) {
    static const mf_ContactLaw laws[] = {MF_CONTACT_LAW_MUJOCO, MF_CONTACT_LAW_COMPLIANT};
    for (int i = 0; i < 2; i++) {
        const bool boxes = laws[i] == MF_CONTACT_LAW_MUJOCO;
        const ArtConfig config = WITH(boxes_config(laws[i]), .motion.self_contacts = true);
        const uint32_t joints = boxes ? 3 : 2;
        Rig rigs[2];
        for (int k = 0; k < 2; k++) {
            char *text = units_text(k == 0 ? 1 : UNITS, boxes);
            rigs[k] = text_open(text, config);
            free(text);
            mf_world_step(rigs[k].world, 300);
            assert_int_equal(mf_group_fault(rigs[k].group, 0), 0);
        }
        const double fallen = rig_get(&rigs[0], "joint.angle", 0);
        assert_true(fallen < -0.03);
        assert_near(rig_get(&rigs[0], "joint.angle", 1), 0.5 * fallen, 1e-3);
        for (uint32_t c = 0; c < joints * UNITS; c++)
            assert_near(rig_get(&rigs[1], "joint.angle", c),
                        rig_get(&rigs[0], "joint.angle", c % joints), 1e-6);
        for (int k = 0; k < 2; k++)
            rig_close(&rigs[k]);
    }
}

// Coriolis forces at the end of the step need a matrix that is not sparse.
TEST(the_implicit_integrator_of_many_bodies_is_refused) {
    char *text = boxes_text(BOXES, 0.5, "implicit");
    Rig rig = {.context = open_context(1)};
    const ArtConfig config = boxes_config(MF_CONTACT_LAW_MUJOCO);
    rig.model = load_text(rig.context, text);
    free(text);
    rig_add_group(&rig, &config.world, config.group);
    MUST_FAIL(rig_add_articulated(rig.group, &config.motion, &error), MF_LIMIT, "implicitfast");
    rig_close(&rig);
}
