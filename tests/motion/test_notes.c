// Notes about unsupported features of a model are complete and correct: files that differ by one
// feature, and the motions that have one more note for it. Features that the file disables give no
// note.
#include "motion/articulated_rig.h"

enum {
    K = 1 << MF_MOTION_KINEMATIC,
    P = 1 << MF_MOTION_POINTS,
    R = 1 << MF_MOTION_RIGID,
    S = 1 << MF_MOTION_PRESCRIBED,
    A = 1 << MF_MOTION_ARTICULATED,
    ALL_BUT_A = K | P | R | S
};

// A box on a leg with a foot, and places for more: options, geom of the world, attributes of the
// leg's joint, of the foot, elements of the leg, and behind the world.
#define ROBOT                                                                                      \
    "<mujoco><option timestep='.002' %s</option><worldbody><geom type='plane' size='5 5 1'/>%s"    \
    "<body name='base' pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .1' contype='0' "      \
    "conaffinity='0' mass='1'/><body name='leg' pos='0 0 -.2'><joint name='hip' axis='0 1 0' %s/>" \
    "<geom name='foot' size='.05' pos='0 0 -.2' mass='.1' %s/>%s</body></body></worldbody>%s"      \
    "</mujoco>"
enum { PLACES = 6 };

typedef struct Thing {
    const char *parts[PLACES];
    unsigned motions; // that have a note more
    const char *says;
    bool acts; // the robot stays the same, but for this, and `articulated` feels it
} Thing;

static mf_Model *load_with(mf_Context *context, const char *const parts[PLACES]) {
    const char *p[PLACES];
    for (int i = 0; i < PLACES; i++)
        p[i] = parts[i] != NULL ? parts[i] : i == 0 ? ">" : "";
    return load_text(context, formatted(ROBOT, p[0], p[1], p[2], p[3], p[4], p[5]));
}

static uint32_t count_notes(const mf_Model *model, mf_Motion motion, const char *says) {
    char text[MF_MOTION_NOTE];
    uint32_t count = 0;
    for (uint32_t i = 0; mf_motion_note(model, motion, i, text); i++)
        count += says == NULL || strstr(text, says) != NULL;
    return count;
}

#define FLAG(name) "><flag " name "='disable'/>"
#define MOTOR "<actuator><motor joint='hip'/></actuator>"

static const Thing things[] = {
    {{[5] = MOTOR}, ALL_BUT_A, "actuators (1) have no effect", true},
    {{[0] = FLAG("actuation"), [5] = MOTOR}, 0, NULL, false},
    {{[2] = "actuatorfrcrange='-3 3' actuatorfrclimited='true'"},
     ALL_BUT_A,
     "effort limits of joints (1)",
     false},
    {{[2] = "stiffness='2'"}, ALL_BUT_A, "springs of joints (1)", true},
    {{[0] = FLAG("spring"), [2] = "stiffness='2'"}, 0, NULL, false},
    {{[2] = "damping='2'"}, ALL_BUT_A, "damping of joints (1)", true},
    {{[2] = "frictionloss='2'"}, ALL_BUT_A, "dry friction of joints (1)", true},
    {{[2] = "armature='2'"}, ALL_BUT_A, "armature of joints (1)", true},
    {{[2] = "range='-1 1' limited='true'"}, 0, NULL, false},
    {{[2] = "range='-1 1' limited='true' solreflimit='.1 1'"}, ALL_BUT_A, "solreflimit", false},
    {{[0] = FLAG("limit"), [2] = "range='-1 1' limited='true'"}, K | P, "flag limit", false},
    {{[4] = "<body pos='.3 0 0'><joint type='ball'/><geom type='capsule' size='.02 .1' mass='.1' "
            "contype='0' conaffinity='0'/></body>"},
     ALL_BUT_A,
     "ball joints (1)",
     false},
    {{[5] = "<tendon><fixed stiffness='3'><joint joint='hip' coef='1'/></fixed></tendon>"},
     ALL_BUT_A,
     "tendons (1)",
     true},
    {{[5] = "<tendon><fixed><joint joint='hip' coef='1'/></fixed></tendon>"}, 0, NULL, false},
    {{[5] = "<equality><joint joint1='hip'/></equality>"},
     ALL_BUT_A,
     "equality constraints (1)",
     true},
    {{[5] = "<equality><joint joint1='hip' active='false'/></equality>"}, 0, NULL, false},
    {{[0] = FLAG("equality"), [5] = "<equality><joint joint1='hip'/></equality>"}, 0, NULL, false},
    {{[4] = "<body gravcomp='1' pos='.3 0 0'><joint/><geom size='.1' mass='.1' contype='0' "
            "conaffinity='0'/></body>"},
     ALL_BUT_A,
     "gravcomp",
     false},
    {{[0] = "density='1.2'>"}, ALL_BUT_A, "medium", true},
    {{[0] = "integrator='RK4'>"}, ALL_BUT_A, "integrator: the motion uses its own", false},
    {{[0] = "integrator='implicit'>"}, ALL_BUT_A, "integrator", false},
    {{[0] = "impratio='10'>"}, R | S, "impratio", false},
    {{[1] = "<geom type='box' size='.1 .1 .1' pos='3 0 0'/>"}, ALL_BUT_A, "obstacles (1)", false},
    {{[4] =
          "<body pos='.3 0 0'><joint/><geom size='.1' mass='.1' contype='0' "
          "conaffinity='0'/><body pos='.3 0 0'><joint/><geom size='.1' mass='.1'/></body></body>"},
     ALL_BUT_A,
     "links do not touch each other",
     false},
    {{[3] = "solref='.05 1'"}, R | S, "solref and solimp of shapes (1)", false},
    {{[3] = "condim='6' friction='1 .1 .1'"}, 0, NULL, false},
    {{[0] = FLAG("contact")}, K | P, "flag contact: shapes (1) collide nevertheless", false},
    {{[4] = "<geom size='.02' contype='0' conaffinity='0' mass='.01'/>"}, 0, NULL, false},
};

// The bare robot: its one shape touches by the law of the motion's own, under points by points.
TEST(a_bare_robot_has_few_notes) {
    static const char *const nothing[PLACES] = {NULL};
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model = load_with(context, nothing);
    assert_int_equal(count_notes(model, MF_MOTION_ARTICULATED, NULL), 0);
    for (int m = 0; m < MF_MOTION_ARTICULATED; m++) {
        assert_int_equal(count_notes(model, (mf_Motion)m, "the law of the motion"), 1);
        assert_int_equal(count_notes(model, (mf_Motion)m, NULL), m == MF_MOTION_POINTS ? 2 : 1);
    }
    assert_int_equal(count_notes(model, MF_MOTION_POINTS, "by contact points instead"), 1);
}

TEST(each_feature_gives_its_note) {
    static const char *const nothing[PLACES] = {NULL};
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *bare = load_with(context, nothing);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        AUTO_MODEL *model = load_with(context, things[i].parts);
        for (int m = 0; m < MF_MOTION_LEVELS; m++) {
            const bool expected = things[i].motions >> m & 1;
            const char *says = things[i].says;
            if (says == NULL) {
                if (count_notes(model, (mf_Motion)m, NULL) != count_notes(bare, (mf_Motion)m, NULL))
                    fail_msg("thing %zu: another number of notes by %s", i,
                             mf_motion_name((mf_Motion)m));
                continue;
            }
            assert_int_equal(count_notes(bare, (mf_Motion)m, says), 0);
            if ((count_notes(model, (mf_Motion)m, says) > 0) != expected)
                fail_msg("%s: %s by %s", says, expected ? "not told" : "told",
                         mf_motion_name((mf_Motion)m));
        }
    }
}

// Where a robot is after 0.4 s, dropped on its foot and with its leg told to swing.
static void move(mf_Context *context, const mf_Model *model, mf_Motion motion, double position[8]) {
    mf_MotionsConfig motions = mf_motions_config();
    mf_Group *group;
    mf_motions_set_shapes(&motions, true);
    mf_motions_set_control(&motions, 10 * MF_MILLISECOND);
    AUTO_WORLD *world = open_world(context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND));
    group = add_group(world, &WITH(mf_group_config(), .model = model, .double_precision = true));
    MUST(mf_motion_add(group, motion, &motions, &error));
    mf_Field *base = mf_group_find_field(group, "base.position");
    mf_Field *control = mf_group_find_field(group, "actuator.control");
    mf_field_set(base, 0, 2, 0.46);
    set_field(group, "base.linear_velocity", 0, 0, 0.5);
    set_field(group, "joint.rate", 0, 0, 1.0);
    set_field(group, "joint.target", 0, 0, 0.3);
    if (control != NULL)
        mf_field_set(control, 0, 0, 1.0);
    mf_world_step(world, 200);
    for (uint32_t c = 0; c < 3; c++)
        position[c] = mf_field_get(base, 0, c);
    get_fields(group, "base.orientation", 0, 4, position + 3);
    position[7] = get_field(group, "joint.angle", 0, 0);
}

// What a motion is said to leave out makes no bit of a difference to it, and some to `articulated`.
TEST(reported_convergence_is_true) {
    static const char *const nothing[PLACES] = {NULL};
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *bare = load_with(context, nothing);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        if (!things[i].acts)
            continue;
        AUTO_MODEL *model = load_with(context, things[i].parts);
        for (int m = 0; m < MF_MOTION_LEVELS; m++) {
            double with[8], without[8];
            move(context, model, (mf_Motion)m, with);
            move(context, bare, (mf_Motion)m, without);
            const bool same = memcmp(with, without, sizeof with) == 0;
            if (same != (bool)(things[i].motions >> m & 1))
                fail_msg("%s: %s to %s", things[i].says, same ? "nothing" : "something",
                         mf_motion_name((mf_Motion)m));
        }
    }
}

// Notes of a group depend on its settings, for each motion to which its robots can switch.
TEST(notes_depend_on_settings_of_groups) {
    static const char *const parts[PLACES] = {[5] = MOTOR};
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model = load_with(context, parts);
    mf_Group *group;
    char text[MF_MOTION_NOTE];
    uint32_t actuators = 0, points = 0, alone = 0, law = 0;
    AUTO_WORLD *world = open_world(context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND));
    group = add_group(world, &WITH(mf_group_config(), .model = model));
    MUST(mf_motions_add(group,
                        &WITH(mf_motions_config(), .has[MF_MOTION_RIGID] = true,
                              .has[MF_MOTION_PRESCRIBED] = true, .articulated.self_contacts = false,
                              .articulated.contact_law = MF_CONTACT_LAW_HARD),
                        &error));
    for (uint32_t i = 0; mf_motion_group_note(group, i, text); i++) {
        actuators += strstr(text, "actuators (1)") != NULL;
        points += strstr(text, "touch the ground by contact points") != NULL;
        alone += strstr(text, "self_contacts") != NULL;
        law += strncmp(text, "contact_law", 11) == 0;
    }
    assert_int_equal(actuators, 2); // of rigid and of prescribed
    assert_int_equal(points, 3);    // settings that come without `shapes`
    assert_int_equal(alone, 0);     // nothing could touch
    assert_int_equal(law, 1);
}

// ---- switches of the file -----------------------------------------------------------------------

// A swinging leg, pushed by its motor beyond the range of its control, for 0.2 s.
static double swing(const char *flag, const char *joint, const char *motor, const char *body) {
    const char *text = formatted(
        "<mujoco><option timestep='.002'>%s</option><worldbody><body pos='0 0 2' %s><joint "
        "name='a' "
        "axis='0 1 0' %s/><geom size='.1' pos='0 0 -.3' "
        "mass='1'/></body></worldbody><actuator>%s</actuator></mujoco>",
        flag, body, joint, motor);
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
    AUTO_RIG t = text_open(text, config);
    rig_set(&t, "joint.angle", 0, 0.1);
    rig_set(&t, "joint.rate", 0, 2.0);
    if (*motor != '\0')
        rig_set(&t, "actuator.control", 0, 1.0);
    mf_world_step(t.world, 100);
    const double angle = rig_get(&t, "joint.angle", 0);
    return angle;
}

// The file with the switch moves to the bit as one without what it switches off.
TEST(switches_of_the_file_hold) {
    static const char *const motor = "<motor joint='a' gear='3' ctrlrange='-.2 .2' "
                                     "ctrllimited='true'/>";
    static const struct {
        const char *flag, *joint, *motor, *body;      // the file with the switch,
        const char *joint_off, *motor_off, *body_off; // and as it acts
    } cases[] = {
        {"spring", "stiffness='5' springref='30'", "", "", "", "", ""},
        {"damper", "damping='.3'", "", "", "", "", ""},
        {"frictionloss", "frictionloss='.2'", "", "", "", "", ""},
        {"actuation", "", motor, "", "", "<motor joint='a' gear='0'/>", ""},
        {"clampctrl", "", motor, "", "", "<motor joint='a' gear='3'/>", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *flag = formatted("<flag %s='disable'/>", cases[i].flag);
        const double with = swing("", cases[i].joint, cases[i].motor, cases[i].body);
        const double off = swing(flag, cases[i].joint, cases[i].motor, cases[i].body);
        const double without = swing("", cases[i].joint_off, cases[i].motor_off, cases[i].body_off);
        assert_true(off == without);
        assert_true(fabs(with - without) > 1e-3); // or the test shows nothing
    }
    // Without passive forces no weight is compensated either.
    assert_true(swing("<flag spring='disable' damper='disable'/>", "", "", "gravcomp='1'") ==
                swing("", "", "", ""));
    assert_true(fabs(swing("", "", "", "gravcomp='1'") - swing("", "", "", "")) > 1e-3);
}

TEST(null_arguments_give_no_notes) {
    char text[MF_MOTION_NOTE];
    assert_false(mf_motion_note(NULL, MF_MOTION_POINTS, 0, text));
    assert_false(mf_motion_group_note(NULL, 0, text));
}
