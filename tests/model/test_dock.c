// Docks of models: from URDF, MJCF and calls, what is written back, and mistakes in files.
#include "model/support.h"

GROUP_FIXTURE(make_context, drop_context);

static const char *const urdf =
    "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' "
    "ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<link name='nose'/><joint name='n' type='fixed'><parent link='a'/><child link='nose'/>"
    "<origin xyz='0.1 0 0' rpy='0 0 1.5707963267948966'/></joint>"
    "<mayfly><servo gain='1'/><dock name='front' link='nose' xyz='0.02 0 0.03' gender='male' "
    "type='small' fits='small large' orientations='4' distance='0.01' angle='0.2' closing='0.5' "
    "failure='0.25' pull='3' range='0.06' stiffness='100' damping='5' angular_stiffness='7' "
    "angular_damping='0.5' tension='50' shear='40' bending='3' torsion='2' enabled='false'/>"
    "<dock name='plain' link='a'/></mayfly></robot>";

// `orientations` by its earlier name: the same dock, with a note.
TEST(an_earlier_name_is_noted) {
    const char *at = strstr(urdf, "orientations='4'");
    AUTO_MODEL *model = load_urdf(*state, formatted("%.*sturns='4'%s", (int)(at - urdf), urdf,
                                                    at + strlen("orientations='4'"))),
               *plain = load_urdf(*state, urdf);
    assert_int_equal(model->docks[0].orientations, 4);
    assert_int_equal(model->note_count, plain->note_count + 1);
    bool noted = false;
    for (uint32_t i = 0; i < model->note_count; i++)
        noted = noted || strstr(model->notes[i].text, "turns is called orientations") != NULL;
    assert_true(noted);
}

// The frame of a link that a fixed joint merged is that of its parent; every attribute arrives.
TEST(urdf_files_have_docks) {
    mf_Context *context = *state;
    AUTO_MODEL *model = load_urdf(context, urdf);
    assert_non_null(model);
    assert_int_equal(model->dock_count, 2);
    const mf_Dock *dock = &model->docks[0], *plain = &model->docks[1], defaults = mf_dock();
    assert_int_equal(mf_model_find(model, MF_ITEM_DOCK, "front"), 0);
    assert_int_equal(mf_model_find(model, MF_ITEM_DOCK, "none"), MF_NONE);
    assert_int_equal(dock->frame.link, 0);
    const double position[3] = {0.1, 0.02, 0.03}, half = sqrt(0.5),
                 rotation[4] = {half, 0, 0, half};
    for (int c = 0; c < 4; c++) {
        if (c < 3)
            assert_near(dock->frame.position[c], position[c], 1e-15);
        assert_near(dock->frame.rotation[c], rotation[c], 1e-15);
    }
    assert_int_equal(dock->gender, MF_DOCK_MALE);
    assert_string_equal(dock->type, "small");
    assert_string_equal(dock->fits, "small large");
    assert_int_equal(dock->orientations, 4);
    const double values[14] = {dock->distance,        dock->angle,   dock->closing,
                               dock->failure,         dock->pull,    dock->range,
                               dock->stiffness,       dock->damping, dock->angular_stiffness,
                               dock->angular_damping, dock->tension, dock->shear,
                               dock->bending,         dock->torsion};
    const double expected[14] = {0.01, 0.2, 0.5, 0.25, 3, 0.06, 100, 5, 7, 0.5, 50, 40, 3, 2};
    for (int i = 0; i < 14; i++)
        assert_true(values[i] == expected[i]);
    assert_false(dock->enabled);
    assert_true(plain->enabled && plain->orientations == 1 &&
                plain->distance == defaults.distance && isinf(plain->tension));
    for (uint32_t i = 0; i < model->note_count; i++) // nothing in <mayfly> is ignored
        assert_null(strstr(model->notes[i].text, "ignored"));
}

TEST(docks_change_the_hash) {
    mf_Context *context = *state;
    AUTO_MODEL *model = load_urdf(context, urdf);
    const uint64_t hash = mf_model_hash(model);
    const char *const changes[][2] = {{"orientations='4'", "orientations='2'"},
                                      {"bending='3'", "bending='4'"},
                                      {"type='small'", "type='large'"}};
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(urdf, changes[i][0]);
        const char *text = formatted("%.*s%s%s", (int)(at - urdf), urdf, changes[i][1],
                                     at + strlen(changes[i][0]));
        AUTO_MODEL *other = load_urdf(context, text);
        assert_int_not_equal(mf_model_hash(other), hash);
    }
}

TEST(mistakes_have_their_line) {
    const struct {
        const char *dock, *message;
    } rows[] = {
        {"<dock name='d' link='b'/>", "<dock>: there is no link 'b'"},
        {"<dock link='a'/>", "<dock> needs the attribute 'name'"},
        {"<dock name='d' link='a' gender='other'/>",
         "<dock> gender: expected both, male or female, found \"other\""},
        {"<dock name='d' link='a' orientations='3'/>",
         "<dock> d orientations: expected 1, 2 or 4, found 3"},
        {"<dock name='d' link='a' strength='3'/>",
         "<dock>: unknown attribute 'strength' (docs/reference/model_fields.md lists them)"},
        {"<dock name='d' link='a' enabled='yes'/>",
         "<dock> enabled: expected true or false, found \"yes\""},
        {"<dock name='d' link='a' tension='-1'/>",
         "<dock> d tension: expected a number > 0, found -1"},
        {"<dock name='d' link='a' pull='1'/>", "<dock> d range: a pull needs a range > 0"},
        {"<dock name='d' link='a' damping='1'/>", "<dock> d: a damping needs a stiffness"},
        {"<dock name='d' link='a'/><dock name='d' link='a'/>", "<dock> d: two docks are named 'd'"},
    };
    mf_Context *context = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_refused(
            context,
            formatted("<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' "
                      "iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\n<mayfly>\n%s"
                      "</mayfly></robot>",
                      rows[i].dock),
            MF_BAD_FILE, 3, rows[i].message);
    }
}

static const char *const mjcf =
    "<mujoco model='m'><worldbody><body name='b' pos='0 0 1'><freejoint/><geom size='0.1' "
    "mass='1'/>"
    "<site name='s' pos='0.1 0 0' euler='0 0 90'/>"
    "<body name='arm one' pos='0 0 0.2'><joint axis='0 1 0'/><geom size='0.05' mass='0.2'/></body>"
    "</body></worldbody><custom><text name='other' data='no dock'/>"
    "<text name='dock:front' data='site=s gender=male orientations=4 fits=a,b type=a "
    "tension=12.5'/>"
    "<text name='dock:arm' data='body=arm,one xyz=0,0,0.05 quat=0.5,0.5,0.5,0.5'/>"
    "</custom></mujoco>";

TEST(mjcf_files_have_docks_and_are_written_with_them) {
    mf_Context *context = *state;
    AUTO_MODEL *model = load_urdf(context, mjcf);
    assert_int_equal(model->dock_count, 2);
    assert_string_equal(model->docks[0].fits, "a b");
    assert_near(model->docks[0].frame.position[0], 0.1, 1e-15);
    assert_int_equal(model->docks[1].frame.link, 1);
    AUTO_MODEL *again = written_and_read(context, model);
    assert_string_equal(again->docks[0].type, "a");
    const char *const bad[][2] = {
        {"<text name='dock:x' data='site=s turns'/>",
         "<text> dock:x: expected key=value pairs, found \"site=s turns\""},
        {"<text name='dock:x' data='orientations=2'/>", "<dock>: expected a site or a body"},
    };
    for (int i = 0; i < 2; i++) {
        assert_refused(context,
                       formatted("<mujoco><worldbody><body><freejoint/><geom size='0.1' mass='1'/>"
                                 "<site name='s'/></body></worldbody><custom>%s</custom></mujoco>",
                                 bad[i][0]),
                       MF_BAD_FILE, 1, bad[i][1]);
    }
}

// A dock in the construction frame moves and turns with its body.
TEST(docks_by_calls_move_with_their_body) {
    mf_Context *context = *state;
    mf_Error error = {0};
    AUTO_BUILDER *builder;
    mf_Model *model = NULL;
    assert_int_equal(mf_builder_create(context, "c", &builder, &error), MF_OK);
    const mf_BodyId body =
        mf_body_create_box(builder, (double[]){0.1, 0.1, 0.1}, (double[]){1, 0, 0}, 1, NULL);
    mf_Dock dock = WITH(mf_dock(), .name = "front", .frame.position[0] = 1.05);
    mf_body_dock(builder, body, &dock);
    mf_body_rotate(builder, body, (double[]){0, 0, 1.5707963267948966});
    mf_body_move(builder, body, (double[]){0, 3, 0});
    assert_int_equal(mf_builder_finalize(builder, &model, &error), MF_OK);
    mf_builder_destroy(builder);
    assert_int_equal(model->dock_count, 1);
    const double position[3] = {0, 0.05, 0}; // the base's frame is at its center, not rotated
    for (int c = 0; c < 3; c++)
        assert_near(model->docks[0].frame.position[c], position[c], 1e-12);
    assert_near(model->docks[0].frame.rotation[3], sqrt(0.5), 1e-12);
    mf_model_destroy(model);
    assert_int_equal(mf_builder_create(context, "c", &builder, &error), MF_OK);
    dock.orientations = 3;
    mf_body_dock(builder,
                 mf_body_create_box(builder, (double[]){1, 1, 1}, (double[]){0, 0, 0}, 1, NULL),
                 &dock);
    assert_fails_as(mf_builder_finalize(builder, &model, &error), MF_BAD_ARGUMENT, &error,
                    "mf_body_dock orientations: expected 1, 2 or 4, found 3");
}
