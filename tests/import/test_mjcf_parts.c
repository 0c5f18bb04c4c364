// MJCF from several files: attached models, height fields, assets next to included files; and
// actuators and tendons beyond linear sums: paths, muscles, PID plugins.
#include "model/support.h"
#include "model/draft.h"

GROUP_FIXTURE(setup_context, teardown_context);

// ---- attached models ---------------------------------------------------------------------------

static const char arm[] =
    "<mujoco model='arm'><compiler angle='radian' meshdir='meshes'/>"
    "<default><joint damping='3'/><default class='soft'><joint damping='1'/></default></default>"
    "<asset><mesh file='tet.obj'/></asset>"
    "<worldbody><body name='base' pos='1 0 0'><body name='upper'>"
    "<joint name='j' range='-1 1'/><geom type='mesh' mesh='tet'/>"
    "<body name='lower' pos='0 0 1'><joint name='k' class='soft'/><geom size='.1'/></body></body>"
    "</body><body name='other'><joint name='o'/><geom size='.1'/></body></worldbody>"
    "<actuator><motor name='m' joint='j' gear='7'/><motor name='n' joint='o'/></actuator>"
    "<keyframe><key/></keyframe></mujoco>";

TEST(attached_models_bring_all_they_have) {
    char path[512], part[512], mesh[512];
    write_text(mesh, "attach/parts/meshes/tet.obj",
               "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    write_text(part, "attach/parts/arm.xml", arm);
    write_text(path, "attach/robot.xml",
               "<mujoco><default><joint damping='9'/></default>"
               "<asset><model name='arm' file='parts/arm.xml'/></asset><worldbody>"
               "<body name='root' pos='0 0 2'><joint name='j' range='-90 90'/><geom size='.1'/>"
               "<attach model='arm' body='base' prefix='l_'/>"
               "<frame pos='0 5 0'><attach model='arm' body='upper' prefix='r_'/></frame></body>"
               "</worldbody></mujoco>");
    AUTO_MODEL *model = load_file(*state, path, NULL);
    assert_int_equal(model->joint_count, 5); // root, and j and k of each
    const mf_Joint *root = joint_named(model, "j"), *left = joint_named(model, "l_j");
    assert_near(root->upper, 1.57079632679489662, 1e-15); // degrees
    assert_near(left->upper, 1, 0);                       // radians
    assert_near(root->damping, 9, 0);
    assert_near(left->damping, 3, 0); // nothing of the outer class
    assert_near(joint_named(model, "r_k")->damping, 1, 0);
    assert_near3(left->position, 1, 0, 0, 1e-15);
    assert_near3(joint_named(model, "r_j")->position, 0, 5, 0, 1e-15);
    // Actuators of what is attached, not of the rest.
    assert_int_equal(model->actuator_count, 2);
    assert_int_equal(model->actuators[mf_model_find(model, MF_ITEM_ACTUATOR, "l_m")].joint,
                     left - model->joints);
    assert_non_null(find_note(model, "keyframes of the attached model"));
    assert_non_null(find_note(model, "that is not attached"));
    assert_int_equal(model->mesh_count, 2);
}

TEST(models_that_attach_themselves_are_refused) {
    static const char *const names[] = {"self.xml", "other.xml"};
    char path[512], other[512];
    write_text(other, "attach/other.xml",
               "<mujoco><asset><model name='s' file='self.xml'/></asset><worldbody/></mujoco>");
    for (int i = 0; i < 2; i++) {
        mf_Model *model = NULL;
        write_text(
            path, "attach/self.xml",
            formatted("<mujoco><asset><model name='s' file='%s'/></asset><worldbody><body name='b'>"
                      "<joint/><geom size='1'/></body></worldbody></mujoco>",
                      names[i]));
        MUST_FAIL(mf_model_load(*state, path, NULL, &model, &error), MF_BAD_FILE,
                  "is a part of itself");
    }
}

// Of three levels with the same class: each joint has the damping of its own file.
TEST(attached_models_attach) {
    static const char *const prefixes[] = {"", "p_"};
    char path[512];
    write_text(path, "attach/child.xml",
               "<mujoco><default><joint armature='3'/><default class='lifter'><joint damping='50'/>"
               "</default></default><worldbody><frame name='f' pos='1 0 0'><body name='arm'>"
               "<joint name='c' class='lifter'/><geom size='.1'/></body></frame>"
               "<body name='rest'><joint name='r'/><geom size='.1'/></body></worldbody></mujoco>");
    for (int i = 0; i < 2; i++) {
        char text[700], name[20];
        snprintf(text, sizeof text,
                 "<mujoco><default><default class='lifter'><joint damping='7'/></default></default>"
                 "<asset><model name='c' file='child.xml'/></asset><worldbody><body name='lift'>"
                 "<joint name='m' class='lifter'/><geom size='.05'/>"
                 "<attach model='c' frame='f' prefix='%s'/></body></worldbody></mujoco>",
                 prefixes[i]);
        write_text(path, "attach/mid.xml", text);
        snprintf(text, sizeof text,
                 "<mujoco><default><joint armature='4'/><default class='lifter'>"
                 "<joint damping='5'/></default></default><asset><model name='m' file='mid.xml'/>"
                 "</asset><worldbody><body><joint name='o' class='lifter'/><geom size='.1'/>"
                 "<attach model='m' prefix='%s'/></body></worldbody></mujoco>",
                 prefixes[i]);
        write_text(path, "attach/outer.xml", text);
        AUTO_MODEL *model = load_file(*state, path, NULL);
        assert_int_equal(model->joint_count, 3); // not that of the body beside the frame
        const mf_Joint *outer = joint_named(model, "o");
        assert_near(outer->damping, 5, 0);
        assert_near(outer->armature, 4, 0);
        snprintf(name, sizeof name, "%sm", prefixes[i]);
        const mf_Joint *middle = joint_named(model, name);
        assert_near(middle->damping, 7, 0);
        assert_near(middle->armature, 0, 0);
        snprintf(name, sizeof name, "%s%sc", prefixes[i], prefixes[i]);
        const mf_Joint *inner = joint_named(model, name);
        assert_near(inner->damping, 50, 0);
        assert_near(inner->armature, 3, 0);
        assert_near3(inner->position, 1, 0, 0, 0);
    }
}

// A frame or body of the model itself: with its own class and assets, and names of its own.
TEST(own_parts_are_attached) {
    AUTO_MODEL *model = load_urdf(
        *state,
        "<mujoco><default><default class='d'><joint damping='2'/></default></default><asset>"
        "<mesh name='tet' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset><worldbody>"
        "<body name='a' childclass='d'><frame name='f' pos='1 0 0'><body name='x'>"
        "<joint name='j'/><geom type='mesh' mesh='tet'/></body></frame></body>"
        "<frame pos='0 5 0'><attach frame='f' prefix='p_'/></frame>"
        "<body><attach body='p_x' prefix='q_'/></body></worldbody></mujoco>");
    assert_int_equal(model->joint_count, 3);
    assert_int_equal(model->mesh_count, 1);
    const mf_Joint *first = joint_named(model, "p_j");
    assert_near(first->damping, 2, 0);
    assert_near3(first->position, 1, 5, 0, 1e-15);
    const mf_Joint *second = joint_named(model, "q_p_j");
    assert_near(second->damping, 2, 0);
    assert_near3(second->position, 0, 0, 0, 0);
}

// The hull of its points is the surface.
TEST(points_alone_are_a_mesh) {
    char path[512];
    write_text(path, "points/tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv .1 .1 .1\nvt 0 0\n");
    write_text(path, "points/robot.xml",
               "<mujoco><asset><mesh file='tet.obj'/></asset><worldbody><body><freejoint/>"
               "<geom type='mesh' mesh='tet'/></body></worldbody></mujoco>");
    mf_Model *model = load_file(*state, path, NULL);
    assert_int_equal(model->meshes[0].triangle_count, 4);
    assert_near(model->mass, 1000.0 / 6.0, 1e-9);
    mf_model_destroy(model);
    mf_Error error = {0};
    write_text(path, "points/tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    write_text(path, "points/robot.xml",
               "<mujoco><asset><mesh file='tet.obj'/></asset><worldbody><body><freejoint/>"
               "<geom type='mesh' mesh='tet'/></body></worldbody></mujoco>");
    assert_int_equal(mf_model_load(*state, path, NULL, &model, &error), MF_BAD_FILE);
}

// ---- height fields -----------------------------------------------------------------------------

#define GROUND                                                                                     \
    "<mujoco><asset><hfield name='h' file='%s' size='4 3 2 1'/></asset><worldbody>"                \
    "<geom type='hfield' hfield='h'/><body><freejoint/><geom size='.1'/></body></worldbody>"       \
    "</mujoco>"

// Three columns, two rows: 0 100 200 above, 50 50 150 below.
static const uint8_t picture[] = {137, 80, 78,  71, 13,  10, 26, 10, 0,  0,   0,  13,  73,  72, 68,
                                  82,  0,  0,   0,  3,   0,  0,  0,  2,  8,   0,  0,   0,   0,  184,
                                  31,  57, 198, 0,  0,   0,  16, 73, 68, 65,  84, 120, 156, 99, 96,
                                  72,  57, 193, 96, 100, 52, 13, 0,  7,  216, 2,  39,  132, 47, 87,
                                  34,  0,  0,   0,  0,   73, 69, 78, 68, 174, 66, 96,  130};

static const struct {
    int32_t sizes[2];
    float heights[6];
} binary = {{2, 3}, {1, 1, 3, 0, 2, 4}};

TEST(height_fields_are_read_from_files) {
    char path[512], data[512];
    write_bytes(data, "hf/h.bin", &binary, sizeof binary);
    write_text(path, "hf/binary.xml", formatted(GROUND, "h.bin"));
    AUTO_MODEL *model = load_file(*state, path, NULL);
    assert_int_equal(model->height_field_count, 1);
    const mf_HeightField *field = model->height_fields;
    assert_true(field->rows == 2 && field->columns == 3);
    for (int i = 0; i < 6; i++)
        assert_near(field->heights[i], binary.heights[i] / 4.0, 1e-7);
    mf_model_destroy(model);
    write_bytes(data, "hf/h.png", picture, sizeof picture);
    write_text(path, "hf/image.xml", formatted(GROUND, "h.png"));
    model = load_file(*state, path, NULL);
    static const double rows[6] = {50, 50, 150, 0, 100, 200}; // the lower row first
    for (int i = 0; i < 6; i++)
        assert_near(model->height_fields->heights[i], rows[i] / 200.0, 1e-7);
}

// Where meshes are: in `meshdir`, which goes before `assetdir` (MuJoCo 4.0).
TEST(height_fields_are_searched_like_meshes) {
    char path[512], data[512];
    write_bytes(data, "hf/deep/only.bin", &binary, sizeof binary);
    write_text(path, "hf/folder.xml",
               "<mujoco><compiler assetdir='none' meshdir='deep'/><asset>"
               "<hfield name='h' file='../deep/only.bin' size='4 3 2 1'/></asset><worldbody>"
               "<geom type='hfield' hfield='h'/><body><freejoint/><geom size='.1'/></body>"
               "</worldbody></mujoco>");
    AUTO_MODEL *model = load_file(*state, path, NULL);
    assert_int_equal(model->height_field_count, 1);
}

TEST(broken_height_fields_are_refused) {
    char path[512], data[512];
    const int32_t sizes[5][2] = {{2, 3}, {-1, 3}, {1 << 30, 1 << 30}, {1, 1}, {2147483647, 2}};
    for (int i = 0; i < 5; i++) {
        mf_Model *model = NULL;
        write_bytes(data, "hf/bad.bin", sizes[i], sizeof sizes[i]);
        write_text(path, "hf/bad.xml", formatted(GROUND, "bad.bin"));
        assert_int_equal(mf_model_load(*state, path, NULL, &model, NULL), MF_BAD_FILE);
        assert_null(model);
    }
}

// ---- tendons and actuators ---------------------------------------------------------------------

static const char ropes[] =
    "<mujoco><compiler angle='radian'/><worldbody><site name='w' pos='0 0 1'/>"
    "<body name='b'><joint name='j' axis='0 1 0'/><geom name='ball' size='.1' mass='1'/>"
    "<site name='s' pos='.3 0 0'/><site name='e' pos='.3 0 .4'/>"
    "<geom name='roll' type='cylinder' size='.05 .1' pos='.3 0 .2'/></body></worldbody><tendon>"
    "<spatial name='t' stiffness='3'><site site='w'/><geom geom='ball' sidesite='e'/>"
    "<site site='s'/><pulley divisor='2'/><site site='w'/><site site='e'/></spatial></tendon>"
    "<actuator><muscle name='m' tendon='t' lengthrange='.5 2'/>"
    "<muscle name='n' joint='j' lengthrange='-1 1' force='5' timeconst='.02 .05'/></actuator>"
    "</mujoco>";

TEST(paths_and_muscles_survive_writing) {
    AUTO_MODEL *model = load_urdf(*state, ropes);
    assert_int_equal(model->tendon_wrap_count, 6);
    assert_int_equal(model->tendons[0].wrap_count, 6);
    assert_int_equal(model->tendon_wraps[1].type, MF_WRAP_SPHERE);
    assert_near(model->tendon_wraps[1].radius, 0.1, 0);
    assert_int_equal(model->tendon_wraps[1].side, 2);
    assert_near(model->tendon_wraps[3].divisor, 2, 0);
    // The spring is relaxed at the start: straight past the ball on that side, and half of the
    // second branch.
    const double first = model->tendons[0].spring_lower;
    assert_near(first, sqrt(1.09) + 0.5 * sqrt(0.09 + 0.36), 1e-12);
    const mf_Muscle *muscle = &model->actuators[0].muscle;
    assert_true(muscle->exists && muscle->force == -1.0 && muscle->scale == 200.0);
    assert_true(muscle->acceleration > 0.0); // it has no force of its own
    assert_near(model->actuators[1].muscle.fall, 0.05, 0);
    assert_int_equal(model->activation_count, 2);
    mf_model_destroy(written_and_read(*state, model));
}

// kp and kd as a position actuator, ki by the activation; what is left out is notified. Written and
// read again it is the same.
TEST(pid_plugins_are_actuators_with_an_integral) {
    mf_ImportConfig config = WITH(mf_import_config(), .lenient = true);
    AUTO_MODEL *model = load_text_with(
        *state,
        "<mujoco><extension><plugin plugin='mujoco.pid'><instance name='i'>"
        "<config key='kp' value='4'/><config key='kd' value='.5'/>\n<config key='ki' value='2'/>"
        "<config key='imax' value='3'/><config key='slewmax' value='9'/>"
        "</instance></plugin></extension><worldbody><body><joint name='j'/><geom size='1'/></body>"
        "</worldbody><actuator><plugin name='p' plugin='mujoco.pid' instance='i' joint='j' "
        "actdim='2' ctrlrange='-1 1'/></actuator><keyframe><key act='.5 7'/></keyframe></mujoco>",
        &config);
    assert_int_equal(model->actuator_count, 1);
    assert_near(model->actuators[0].gain[0], 4, 0);
    assert_near3(model->actuators[0].bias, 0, -4, -0.5, 0);
    assert_near(model->actuators[0].control_upper, 1, 0);
    assert_int_equal(model->actuators[0].dynamics, MF_DYNAMICS_ERROR);
    assert_int_equal(model->activation_count, 1);
    assert_near(model->actuators[0].integral_gain, 2, 0);
    assert_near(model->actuators[0].activation_lower, -1.5, 0);
    assert_near(model->actuators[0].activation_upper, 1.5, 0);
    assert_true(model->actuators[0].explicit_rate);
    assert_near(model->actuators[0].slew_limit, 9, 0);
    assert_near(model->keyframes[0].activation[0], 0.5, 0);
    mf_model_destroy(written_and_read(*state, model));
}

// A ball joint has no one length: its controller keeps kp and kd, and the rest is notified.
TEST(integrals_need_a_length) {
    mf_ImportConfig config = WITH(mf_import_config(), .lenient = true);
    AUTO_MODEL *model = load_text_with(
        *state,
        "<mujoco><worldbody><body><joint name='j' type='ball'/><geom size='1'/></body></worldbody>"
        "<actuator><plugin plugin='mujoco.pid' joint='j' actdim='1'><config key='kp' value='4'/>"
        "<config key='ki' value='2'/></plugin></actuator></mujoco>",
        &config);
    assert_int_equal(model->actuators[0].dynamics, MF_DYNAMICS_NONE);
    assert_near(model->actuators[0].gain[0], 4, 0);
    assert_non_null(find_note(model, "ki on what is neither"));
}

// MuJoCo drops what the armature of a tendon couples between branches; Mayfly keeps it and says so.
TEST(armatures_that_couple_branches_are_noted) {
    static const struct {
        const char *joints[2];
        bool noted;
    } cases[] = {{{"a", "b"}, false}, {{"b", "c"}, true}, {{"a", "d"}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted("<mujoco><worldbody><body><joint name='a'/><geom size='1'/>"
                      "<body><joint name='b'/><geom size='1'/></body>"
                      "<body><joint name='c'/><geom size='1'/></body></body>"
                      "<body><joint name='d'/><geom size='1'/></body></worldbody><tendon>"
                      "<fixed armature='1'><joint joint='%s' coef='1'/><joint joint='%s' coef='1'/>"
                      "</fixed></tendon></mujoco>",
                      cases[i].joints[0], cases[i].joints[1]));
        assert_int_equal(find_note(model, "couples branches") != NULL, cases[i].noted);
    }
}

TEST(planes_of_one_height_are_noted) {
    for (int i = 0; i < 2; i++) {
        AUTO_MODEL *model = load_urdf(
            *state, formatted("<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
                              "<geom type='plane' size='1 1 1' pos='0 0 %d'/>"
                              "<body><freejoint/><geom size='1'/></body></worldbody></mujoco>",
                              -i));
        assert_int_equal(find_note(model, "count as one ground") != NULL, i == 0);
    }
}

// What elements take from the defaults of others, as MuJoCo 4.0 takes it.
static const struct {
    const char *defaults, *element;
    double gain, by_position, by_rate; // the bias
    mf_ActuatorDynamics dynamics;
} laws[] = {
    {"<position kp='40' kv='2'/>", "velocity", 1, 0, -1, MF_DYNAMICS_NONE},
    {"<position kp='40' kv='2'/>", "position", 40, -40, -2, MF_DYNAMICS_NONE},
    {"<position kp='40' kv='2'/>", "intvelocity", 1, -1, 0, MF_DYNAMICS_INTEGRATOR},
    {"<position kp='40' kv='2'/>", "cylinder", 1, 0, 0, MF_DYNAMICS_FILTER},
    {"<velocity kv='7'/><position kp='40'/>", "velocity", 1, 0, -1, MF_DYNAMICS_NONE},
    {"<velocity kv='7'/>", "general", 7, 0, -7, MF_DYNAMICS_NONE},
    {"<general gainprm='9' biastype='affine' biasprm='1 2 -3'/>", "position", 9, -9, -3,
     MF_DYNAMICS_NONE},
    {"<general gainprm='9'/>", "velocity", 9, 0, -9, MF_DYNAMICS_NONE},
    {"<general dyntype='filter' dynprm='.2'/>", "position", 1, -1, 0, MF_DYNAMICS_NONE},
    {"<general dyntype='filterexact' dynprm='.2'/>", "position", 1, -1, 0,
     MF_DYNAMICS_FILTER_EXACT},
    {"<position kp='40' kv='2'/><general gear='3'/>", "velocity", 40, 0, -40, MF_DYNAMICS_NONE},
    {"<position kp='40' kv='2'/><default class='a'><velocity kv='3'/></default>",
     "position class='a'", 40, -40, -2, MF_DYNAMICS_NONE},
    {"<position kp='40' kv='2'/><default class='b'><velocity kv='3'/><default class='a'>"
     "<motor gear='2'/></default></default>",
     "velocity class='a'", 3, 0, -3, MF_DYNAMICS_NONE},
    {"<position kp='40' kv='2'/><default class='b'><motor gear='3'/></default>",
     "general class='b'", 1, 0, 0, MF_DYNAMICS_NONE},
    {"<general gainprm='9'/><default class='a'><position kp='3'/></default>", "velocity class='a'",
     9, 0, -9, MF_DYNAMICS_NONE},
    {"<muscle/>", "position", 1, -1, 0, MF_DYNAMICS_NONE},
};

TEST(shortcuts_take_the_law_of_their_own_kind) {
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        AUTO_MODEL *model = load_urdf(
            *state,
            formatted(
                "<mujoco><default>%s</default><worldbody><body><joint name='j'/><geom size='1'/>"
                "</body></worldbody><actuator><%s joint='j'/></actuator></mujoco>",
                laws[i].defaults, laws[i].element));
        const mf_Actuator *actuator = &model->actuators[0];
        assert_near(actuator->gain[0], laws[i].gain, 0);
        assert_near3(actuator->bias, 0, laws[i].by_position, laws[i].by_rate, 0);
        assert_int_equal(actuator->dynamics, laws[i].dynamics);
    }
}

// A tendon without a length of its own is relaxed where the springs of its joints are.
TEST(tendons_relax_with_the_springs_of_joints) {
    AUTO_MODEL *model = load_urdf(
        *state, "<mujoco><compiler angle='radian'/><worldbody><site name='w' pos='0 0 0'/><body>"
                "<joint name='z' type='slide' axis='0 0 1' ref='.5' springref='2'/>"
                "<geom size='.1'/><body pos='1 0 0'><joint name='h' axis='0 1 0' ref='.3' "
                "springref='1.87079632679489662'/><geom size='.1'/><site name='s' pos='1 0 0'/>"
                "</body></body></worldbody><tendon><spatial stiffness='1'><site site='w'/>"
                "<site site='s'/></spatial><fixed stiffness='1'><joint joint='z' coef='3'/>"
                "<joint joint='h' coef='1'/></fixed></tendon></mujoco>");
    // The slide is 1.5 m up; the hinge turned by 90 degrees, so the site is 1 m below it.
    assert_near(model->tendons[0].spring_lower, sqrt(1.0 + 0.25), 1e-12);
    assert_near(model->tendons[0].spring_upper, sqrt(1.0 + 0.25), 1e-12);
    assert_near(model->tendons[1].spring_lower, 3 * 2 + 1.87079632679489662, 1e-12);
}

// The smallest primitives whose box contains that of the mesh, a box of 0.2 x 0.4 x 0.6 m.
TEST(primitives_are_fitted_to_bounds) {
    static const struct {
        const char *type;
        double size[3];
    } cases[] = {{"sphere", {0.3, 0, 0}},
                 {"capsule", {0.2, 0.2, 0}},
                 {"cylinder", {0.2, 0.6, 0}},
                 {"ellipsoid", {0.1, 0.2, 0.3}},
                 {"box", {0.2, 0.4, 0.6}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = formatted(
            "<mujoco><compiler fitaabb='true'/><asset><mesh name='m' vertex='0 0 0 .2 0 0 0 .4 0 "
            ".2 .4 0 0 0 .6 .2 0 .6 0 .4 .6 .2 .4 .6'/></asset><worldbody><body><freejoint/>"
            "<geom type='%s' mesh='m' mass='1'/></body></worldbody></mujoco>",
            cases[i].type);
        AUTO_MODEL *model = load_urdf(*state, text);
        assert_near3(model->shapes[0].position, 0.1, 0.2, 0.3, 1e-7);
        for (int k = 0; k < 3 && cases[i].size[k] > 0; k++)
            assert_near(model->shapes[0].size[k], cases[i].size[k], 1e-6);
    }
}

TEST(other_solvers_are_reported) {
    AUTO_MODEL *model = load_urdf(
        *state, "<mujoco><option solver='CG' iterations='6'/><worldbody><body><geom size='1'/>"
                "</body></worldbody></mujoco>");
    assert_non_null(find_note(model, "Newton's method"));
    assert_int_equal(model->physics.solver_iterations, mf_physics().solver_iterations);
}
