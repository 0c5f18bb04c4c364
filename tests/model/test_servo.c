// Motors in URDF files: read, inherited, rejected; the motor estimated from effort and speed; and
// their effect in the articulated motion.
#include "rig/rig.h"
#include "rig/motions.h"
#include "model/points.h"
#include "import/urdf.h"

GROUP_FIXTURE(setup_context, teardown_context);

// A beam on a hinge and one on a slide behind it; `extra` goes in front of the links.
static mf_Status parse(mf_Context *context, const char *extra, mf_Model **out, mf_Error *error) {
    static const char inertial[] = "<inertial><mass value='1'/><inertia ixx='.01' iyy='.01' "
                                   "izz='.01' ixy='0' ixz='0' iyz='0'/></inertial>";
    const char *text = formatted(
        "<robot name='r'>\n%s\n<link name='a'>%s</link><link name='b'>%s</link>"
        "<link name='c'>%s</link>"
        "<joint name='turn' type='revolute'><parent link='a'/><child link='b'/>"
        "<axis xyz='0 0 1'/><limit lower='-3' upper='3' effort='2' velocity='5'/></joint>"
        "<joint name='shift' type='prismatic'><parent link='b'/><child link='c'/>"
        "<axis xyz='1 0 0'/><limit lower='-1' upper='1' effort='20' velocity='0.5'/></joint>"
        "</robot>",
        extra, inertial, inertial, inertial);
    const mf_ImportConfig config = mf_import_config();
    return mf_urdf_parse(context, "r.urdf", text, strlen(text), &config, true, out, error);
}

TEST(later_servos_change_earlier_ones) {
    AUTO_MODEL *model = NULL;
    assert_int_equal(parse(*state,
                           "<mayfly><servo gain='7' damping='0.5' effort='1.5'/>"
                           "<servo joint='shift' damping='2' gear='10'/></mayfly>",
                           &model, NULL),
                     MF_OK);
    mf_Servo turn = mf_joint_servo(model, 0), shift = mf_joint_servo(model, 1);
    assert_true(turn.gain == 7 && turn.damping == 0.5 && turn.effort == 1.5 && turn.gear == 1);
    assert_true(isinf(turn.speed) && isinf(turn.no_load_speed) && turn.backlash == 0);
    assert_true(shift.gain == 7 && shift.damping == 2 && shift.effort == 1.5 && shift.gear == 10);
}

// Of 2 N m and 5 rad/s: 2 / 0.1, 2 / 5; of 20 N and 0.5 m/s: 20 / 0.01, 40. Nobody asked for a
// rotor.
TEST(a_likely_motor_by_hand) {
    AUTO_MODEL *model = NULL;
    assert_int_equal(parse(*state, "", &model, NULL), MF_OK);
    mf_Servo turn = mf_joint_servo(model, 0), shift = mf_joint_servo(model, 1);
    assert_true(fabs(turn.gain - 20) < 1e-12 && fabs(turn.damping - 0.4) < 1e-15);
    assert_true(turn.rotor_inertia == 0.0 && shift.rotor_inertia == 0.0);
    assert_true(fabs(shift.gain - 2000) < 1e-9 && fabs(shift.damping - 40) < 1e-12);
}

// A file without motors keeps the hash that archives know it by; a motor changes it.
TEST(motors_are_part_of_the_hash) {
    static const char *const extras[] = {"", "<mayfly/>", "<mayfly><servo gain='1'/></mayfly>",
                                         "<mayfly><servo gain='2'/></mayfly>"};
    uint64_t hashes[4];
    for (int i = 0; i < 4; i++) {
        AUTO_MODEL *model = NULL;
        assert_int_equal(parse(*state, extras[i], &model, NULL), MF_OK);
        hashes[i] = mf_model_hash(model);
    }
    assert_true(hashes[0] == hashes[1] && hashes[1] != hashes[2] && hashes[2] != hashes[3]);
}

TEST(mistakes_are_named) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"<mayfly><servo damping='1'/></mayfly>", "<servo> of joint 'turn' needs a gain"},
        {"<mayfly><servo gain='-1'/></mayfly>", "<servo>: gain must be > 0, found -1"},
        {"<mayfly><servo gain='1' gear='0'/></mayfly>", "<servo>: gear must be > 0, found 0"},
        {"<mayfly><servo joint='knee' gain='1'/></mayfly>", "<servo>: there is no joint 'knee'"},
        {"<mayfly><servo gain='1' inertia='3'/></mayfly>",
         "<servo>: unknown attribute 'inertia'; there are joint, gain, damping, effort, speed, "
         "no_load_speed, rotor_inertia, gear and backlash"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Model *model = NULL;
        mf_Error error = {0};
        assert_fails_as(parse(*state, cases[i].text, &model, &error), MF_BAD_FILE, &error,
                        cases[i].message);
        assert_int_equal(error.line, 2);
        assert_null(model);
    }
}

// Steady angle of the hinge under a torque of 0.1 N m: 0.1 / gain of whichever motor holds it.
static double angle_under_load(mf_Context *context, const mf_Model *model,
                               const mf_ArticulatedConfig *config) {
    mf_Group *group;
    mf_WorldConfig settings = WITH(mf_world_config(), .step = 2 * MF_MILLISECOND, .gravity = 0.0);
    mf_GroupConfig robots = WITH(mf_group_config(), .model = model, .double_precision = true);
    AUTO_WORLD *world = open_world(context, &settings);
    group = add_group(world, &robots);
    assert_int_equal(rig_add_articulated(group, config, NULL), MF_OK);
    set_field(group, "joint.torque", 0, 0, 0.1);
    mf_world_step(world, 2000);
    return get_field(group, "joint.angle", 0, 0);
}

TEST(the_articulated_motion_takes_them) {
    mf_Context *context = *state;
    AUTO_MODEL *plain = NULL, *motors = NULL;
    mf_ArticulatedConfig config = mf_motions_config().articulated;
    assert_int_equal(parse(context, "", &plain, NULL), MF_OK);
    assert_int_equal(
        parse(context, "<mayfly><servo gain='4' damping='0.5'/></mayfly>", &motors, NULL), MF_OK);
    config.base = MF_ARTICULATED_FIXED;
    config.contacts = config.self_contacts = false;
    assert_near(angle_under_load(context, plain, &config), 0.1 / 20, 1e-9);
    assert_near(angle_under_load(context, motors, &config), 0.1 / 4, 1e-9);
    config.servo.gain = 8.0; // settings go first
    config.servo.damping = 0.5;
    assert_near(angle_under_load(context, motors, &config), 0.1 / 8, 1e-9);
    config.servo = mf_servo();
    config.motors = false;
    assert_true(angle_under_load(context, motors, &config) > 1.0); // nothing holds it
}
