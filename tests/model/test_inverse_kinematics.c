// Inverse kinematics: closed forms, random targets of an arm and of real hands, limits, joints that
// follow others, targets out of reach, the same bits again.
#include "model/support.h"
#include "model/points.h"

#include "math/scalar.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define LINK(name) "<link name='" name "'><inertial><mass value='1'/></inertial></link>\n"
#define HINGE(name, from, to, place, axis, lower, upper)                                           \
    "<joint name='" name "' type='revolute'><parent link='" from "'/><child link='" to "'/>"       \
    "<origin xyz='" place "'/><axis xyz='" axis "'/>"                                              \
    "<limit lower='" lower "' upper='" upper "' velocity='1' effort='1'/></joint>\n"

// Two links of 0.3 and 0.2 m in a plane, and a tip.
static const char *const planar = "<robot name='planar'>\n" LINK("base") LINK("upper") LINK("fore")
    HINGE("shoulder", "base", "upper", "0 0 0", "0 0 1", "-3.2", "3.2")
        HINGE("elbow", "upper", "fore", "0.3 0 0", "0 0 1", "0", "3") "</robot>";

// Six joints, as in industrial arms; a reach of about 0.9 m.
static const char *const arm = "<robot name='arm'>\n" LINK("base") LINK("a") LINK("b") LINK("c")
    LINK("d") LINK("e") LINK("f") HINGE("j1", "base", "a", "0 0 0.2", "0 0 1", "-2.9", "2.9")
        HINGE("j2", "a", "b", "0 0 0.1", "0 1 0", "-1.9", "1.9")
            HINGE("j3", "b", "c", "0 0 0.35", "0 1 0", "-2.5", "2.5")
                HINGE("j4", "c", "d", "0 0 0.15", "0 0 1", "-3.0", "3.0")
                    HINGE("j5", "d", "e", "0 0 0.2", "0 1 0", "-2.0", "2.0")
                        HINGE("j6", "e", "f", "0 0 0.1", "0 0 1", "-6.2", "6.2") "</robot>";

static mf_InverseKinematicsConfig config_of(const mf_Model *model, const char *link, double x,
                                            double y, double z) {
    mf_InverseKinematicsConfig config =
        WITH(mf_inverse_kinematics_config(), .link = mf_model_find(model, MF_ITEM_LINK, link),
             .point[0] = x, .point[1] = y, .point[2] = z);
    return config;
}

// Cosines of the elbow by the lengths of the triangle.
TEST(two_links_have_the_closed_form) {
    AUTO_MODEL *model = load_urdf(*state, planar);
    mf_InverseKinematicsConfig config = config_of(model, "fore", 0.2, 0.0, 0.0);
    config.tolerance = 1e-12;
    for (int i = 0; i < 20; i++) {
        const double far = 0.15 + 0.34 * i / 20.0, direction = 0.3 * i - 2.0;
        const double target[3] = {far * cos(direction), far * sin(direction), 0.0};
        double angle[2] = {0.1, 0.1};
        mf_InverseKinematicsResult result;
        MUST(mf_inverse_kinematics(*state, model, &config, target, NULL, angle, &result, &error));
        assert_true(result.reached && result.distance <= 1e-12);
        const double elbow = acos((far * far - 0.3 * 0.3 - 0.2 * 0.2) / (2 * 0.3 * 0.2));
        assert_near(angle[1], elbow, 1e-9);
        const double back = atan2(0.2 * sin(elbow), 0.3 + 0.2 * cos(elbow));
        assert_near(sin(angle[0]), sin(direction - back), 1e-9);
        assert_near(cos(angle[0]), cos(direction - back), 1e-9);
    }
}

static double random_unit(uint32_t stream, uint32_t draw) {
    uint32_t word[4];
    mf_random(7, draw, stream, 0, word);
    return mf_random_unit_double(word[0], word[1]);
}

static bool within_limits(const mf_Model *model, const double *angle) {
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        if (joint->mimic == MF_NONE && (angle[j] < joint->lower || angle[j] > joint->upper))
            return false;
    }
    return true;
}

// A pose within the limits, and where the link is in it.
static void random_pose(const mf_Model *model, uint32_t stream, double *angle, uint32_t link,
                        double position[3], double rotation[4]) {
    double(*at)[3] = calloc(model->link_count, sizeof *at);
    double(*rotate)[4] = calloc(model->link_count, sizeof *rotate);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        const double lower = isfinite(joint->lower) ? joint->lower : -3.0;
        const double upper = isfinite(joint->upper) ? joint->upper : 3.0;
        angle[j] = joint->mimic != MF_NONE ? joint->multiplier * angle[joint->mimic] + joint->offset
                                           : lower + (upper - lower) * random_unit(stream, j);
    }
    mf_model_pose(model, angle, at, rotate);
    memcpy(position, at[link], sizeof at[link]);
    memcpy(rotation, rotate[link], sizeof rotate[link]);
    free(at);
    free(rotate);
}

// Of `count` poses of a link within its limits all are found again: position alone, and with the
// rotation.
static void targets_are_reached(mf_Context *context, const mf_Model *model, uint32_t link,
                                uint32_t count, bool rotates) {
    AUTO(end_memory) double *angle = calloc(model->joint_count, sizeof *angle);
    AUTO(end_memory) double *again = calloc(model->joint_count, sizeof *again);
    uint32_t iterations = 0, starts = 0;
    mf_InverseKinematicsConfig config =
        WITH(mf_inverse_kinematics_config(), .link = link, .use_rotation = rotates, .starts = 100);
    for (uint32_t i = 0; i < count; i++) {
        double position[3], rotation[4], found[3], rotated[4];
        mf_InverseKinematicsResult result, same;
        random_pose(model, i, angle, link, position, rotation);
        for (uint32_t j = 0; j < model->joint_count; j++)
            angle[j] = again[j] = mf_clamp(0.0, model->joints[j].lower, model->joints[j].upper);
        MUST(mf_inverse_kinematics(context, model, &config, position, rotation, angle, &result,
                                   &error));
        MUST(mf_inverse_kinematics(context, model, &config, position, rotation, again, &same,
                                   &error));
        assert_memory_equal(angle, again, model->joint_count * sizeof *angle);
        assert_true(result.reached);
        assert_true(within_limits(model, angle));
        double(*at)[3] = calloc(model->link_count, sizeof *at);
        double(*rotate)[4] = calloc(model->link_count, sizeof *rotate);
        mf_model_pose(model, angle, at, rotate);
        memcpy(found, at[link], sizeof found);
        memcpy(rotated, rotate[link], sizeof rotated);
        free(at);
        free(rotate);
        assert_near3(found, position[0], position[1], position[2], 1.001e-4);
        const double cosine = fabs(rotated[0] * rotation[0] + rotated[1] * rotation[1] +
                                   rotated[2] * rotation[2] + rotated[3] * rotation[3]);
        assert_true(!rotates || cosine >= cos(0.5 * 1.001e-3));
        iterations += result.iterations;
        starts += result.starts;
    }
    print_message("%s, %s: %u targets, %.1f iterations and %.2f starts each\n", model->name,
                  rotates ? "with rotation" : "position", count, iterations / (double)count,
                  starts / (double)count);
}

TEST(an_arm_reaches_random_targets) {
    AUTO_MODEL *model = load_urdf(*state, arm);
    const uint32_t link = mf_model_find(model, MF_ITEM_LINK, "f");
    targets_are_reached(*state, model, link, 100, false);
    targets_are_reached(*state, model, link, 100, true);
}

// Robots that others made: a finger's end, with joints that follow others; a foot.
TEST(real_robots_reach_random_targets) {
    static const struct {
        const char *file, *link;
    } robots[] = {{"wonik_allegro/right_hand.xml", "ff_distal"},
                  {"unitree_go2/go2.xml", "FL_calf"},
                  {"phantomx_description/urdf/phantomx.urdf", "tibia_rf"}};
    const char *shared = getenv("MAYFLY_SHARED");
    uint32_t found = 0;
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        AUTO_MODEL *model = NULL;
        if (mf_model_load(
                *state,
                formatted("%s/models/%s", shared != NULL ? shared : "../shared", robots[i].file),
                NULL, &model, NULL) != MF_OK)
            continue;
        const uint32_t link = mf_model_find(model, MF_ITEM_LINK, robots[i].link);
        if (link != MF_NONE) {
            targets_are_reached(*state, model, link, 50, false);
            found++;
        } else {
            print_message("%s: no link %s\n", robots[i].file, robots[i].link);
        }
    }
    if (found == 0)
        skip();
}

TEST(what_is_out_of_reach_is_approached) {
    AUTO_MODEL *model = load_urdf(*state, planar);
    mf_InverseKinematicsConfig config = config_of(model, "fore", 0.2, 0.0, 0.0);
    const double target[3] = {0.8, 0.6, 0.0};
    double angle[2] = {0.0, 1.0};
    mf_InverseKinematicsResult result;
    config.iterations = 1000;
    MUST(mf_inverse_kinematics(*state, model, &config, target, NULL, angle, &result, &error));
    assert_false(result.reached);
    assert_int_equal(result.starts, config.starts);
    assert_near(result.distance, 0.5, 1e-6);
    assert_near(angle[0], atan2(0.6, 0.8), 1e-3);
    assert_near(angle[1], 0.0, 1e-3);
}

// The elbow cannot bend backwards, and the second joint of a finger bends as the first.
TEST(limits_and_mimics_are_kept) {
    static const char *const finger = "<robot name='finger'>\n" LINK("palm") LINK("one") LINK("two")
        HINGE("first", "palm", "one", "0 0 0", "0 0 1", "0",
              "1.5") "<joint name='second' type='revolute'><parent link='one'/><child link='two'/>"
                     "<origin xyz='0.05 0 0'/><axis xyz='0 0 1'/><limit lower='-9' upper='9' "
                     "velocity='1' effort='1'/><mimic joint='first' multiplier='0.5' "
                     "offset='0.1'/></joint></robot>";
    AUTO_MODEL *model = load_urdf(*state, finger);
    mf_InverseKinematicsConfig config = config_of(model, "two", 0.04, 0.0, 0.0);
    double angle[2] = {0.0, 0.0};
    mf_InverseKinematicsResult result;
    const double bent = 0.8, sum = bent + 0.5 * bent + 0.1;
    const double target[3] = {0.05 * cos(bent) + 0.04 * cos(sum),
                              0.05 * sin(bent) + 0.04 * sin(sum), 0.0};
    const double behind[3] = {target[0], -target[1], 0.0};
    const uint32_t first = mf_model_find(model, MF_ITEM_JOINT, "first");
    const uint32_t second = mf_model_find(model, MF_ITEM_JOINT, "second");
    config.tolerance = 1e-10;
    MUST(mf_inverse_kinematics(*state, model, &config, target, NULL, angle, &result, &error));
    assert_true(result.reached);
    assert_near(angle[first], bent, 1e-8);
    assert_near(angle[second], 0.5 * bent + 0.1, 1e-8);
    MUST(mf_inverse_kinematics(*state, model, &config, behind, NULL, angle, &result, &error));
    assert_false(result.reached);
    assert_true(angle[first] == 0.0 && angle[second] == 0.1);
}

TEST(mistakes_are_named) {
    AUTO_MODEL *model = load_urdf(*state, planar);
    const double target[3] = {0.3, 0.1, 0.0}, nowhere[3] = {0.3, NAN, 0.0}, none[4] = {0};
    double angle[2] = {0.25, 0.5};
    mf_InverseKinematicsConfig config = config_of(model, "fore", 0.2, 0.0, 0.0);
    mf_InverseKinematicsConfig base = config_of(model, "base", 0.0, 0.0, 0.0), turned = config;
    mf_InverseKinematicsConfig old = {0}, still = config;
    turned.use_rotation = true;
    still.starts = 0;
    const struct {
        const mf_InverseKinematicsConfig *config;
        const double *position, *rotation;
        const char *reason;
    } cases[] = {{&base, target, NULL, "link 0"},
                 {&config, nowhere, NULL, "not a finite number"},
                 {&turned, target, NULL, "rotation"},
                 {&turned, target, none, "rotation"},
                 {&old, target, NULL, "mf_inverse_kinematics_config"},
                 {&still, target, NULL, "starts"},
                 {NULL, target, NULL, "NULL"},
                 {&config, NULL, NULL, "NULL"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MUST_FAIL(mf_inverse_kinematics(*state, model, cases[i].config, cases[i].position,
                                        cases[i].rotation, angle, NULL, &error),
                  MF_BAD_ARGUMENT, cases[i].reason);
        assert_true(angle[0] == 0.25 && angle[1] == 0.5);
    }
}
