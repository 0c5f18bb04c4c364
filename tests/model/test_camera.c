// Cameras of models: from URDF, MJCF and calls, what is written back, and mistakes in files.
#include "math/scalar.h"
#include "model/support.h"

GROUP_FIXTURE(make_context, drop_context);

#define LINKS                                                                                      \
    "<link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "  \
    "iyz='0'/></inertial></link>"

static const char *const urdf =
    "<robot name='r'>" LINKS
    "<link name='nose'/><joint name='n' type='fixed'><parent link='a'/><child link='nose'/>"
    "<origin xyz='0.1 0 0' rpy='0 0 1.5707963267948966'/></joint>"
    "<mayfly><camera name='eye' link='nose' xyz='0.02 0 0.03' width='640' height='480' "
    "lens='brown' focal='500 510' center='320 240' coefficients='-0.28 0.09 0.0005 -0.0003' "
    "nearest='0.1' farthest='20' color='false' depth='true' segmentation='true' blur='0.8' "
    "vignetting='0.5' noise='0.01' bits='6' readout='0.02' rate='62.5' delay='0.05'/>"
    "<camera name='plain' link='a'/><camera name='wide' link='a' lens='fisheye' height='100' "
    "width='200' fovy='2'/></mayfly></robot>";

TEST(urdf_files_have_cameras) {
    AUTO_MODEL *model = load_urdf(*state, urdf);
    assert_int_equal(model->camera_count, 3);
    const mf_Camera *eye = &model->cameras[0], *plain = &model->cameras[1],
                    *wide = &model->cameras[2], defaults = mf_camera();
    assert_int_equal(mf_model_find(model, MF_ITEM_CAMERA, "plain"), 1);
    assert_int_equal(mf_model_find(model, MF_ITEM_CAMERA, "none"), MF_NONE);
    assert_int_equal(eye->frame.link, 0);
    assert_near3(eye->frame.position, 0.1, 0.02, 0.03, 1e-15);
    assert_near(eye->frame.rotation[0], sqrt(0.5), 1e-15);
    assert_near(eye->frame.rotation[3], sqrt(0.5), 1e-15);
    assert_int_equal(eye->width, 640);
    assert_int_equal(eye->height, 480);
    assert_int_equal(eye->lens, MF_LENS_BROWN);
    const double values[] = {eye->focal[0],        eye->focal[1],        eye->center[0],
                             eye->center[1],       eye->coefficients[0], eye->coefficients[1],
                             eye->coefficients[2], eye->coefficients[3], eye->coefficients[4],
                             eye->nearest,         eye->farthest,        eye->blur,
                             eye->vignetting,      eye->noise,           eye->readout};
    const double expected[] = {500, 510, 320, 240, -0.28, 0.09, 0.0005, -0.0003,
                               0,   0.1, 20,  0.8, 0.5,   0.01, 0.02};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_near(values[i], expected[i], 0.0);
    assert_true(!eye->color && eye->depth && eye->segmentation && eye->bits == 6);
    assert_true(eye->rate.numerator == 625 && eye->rate.denominator == 10);
    assert_true(eye->delay == 50 * MF_MILLISECOND);
    assert_true(plain->width == 320 && plain->height == 240 && plain->color && !plain->depth);
    assert_near(plain->focal[0], 120.0 / tan(M_PI / 8), 1e-9);
    assert_near(plain->focal[0], defaults.focal[0], 1e-9);
    assert_near(plain->center[1], 119.5, 0.0);
    assert_near(wide->focal[0], 50.0, 1e-12); // 100 rows for 2 rad
    assert_near(wide->center[0], 99.5, 0.0);
    for (uint32_t i = 0; i < model->note_count; i++) // nothing in <mayfly> is ignored
        assert_null(strstr(model->notes[i].text, "ignored"));
}

TEST(mistakes_are_named) {
    const struct {
        const char *camera, *message;
    } rows[] = {
        {"<camera name='c' link='b'/>", "<camera>: there is no link 'b'"},
        {"<camera link='a'/>", "<camera> needs the attribute 'name'"},
        {"<camera name='c' link='a' lens='round'/>",
         "<camera> lens: expected pinhole, brown, angle or fisheye, found \"round\""},
        {"<camera name='c' link='a' zoom='2'/>",
         "<camera>: unknown attribute 'zoom' (docs/reference/model_fields.md lists them)"},
        {"<camera name='c' link='a' width='0'/>",
         "<camera> c width: expected 1 .. 4096 pixels, found 0"},
        {"<camera name='c' link='a' width='2.5'/>",
         "<camera> width: expected a whole number, found \"2.5\""},
        {"<camera name='c' link='a' focal='5'/>",
         "<camera> focal: expected 2 finite numbers, found \"5\""},
        {"<camera name='c' link='a' focal='5 5' fovy='1'/>",
         "<camera> fovy: expected either fovy or focal, found \"1\""},
        {"<camera name='c' link='a' fovy='4'/>",
         "<camera> fovy: expected 0 .. 3.14 rad, found \"4\""},
        {"<camera name='c' link='a' coefficients='1 2 3 4 5 6 7'/>",
         "<camera> coefficients: expected 1 .. 6 numbers, found \"1 2 3 4 5 6 7\""},
        {"<camera name='c' link='a' nearest='2' farthest='1'/>",
         "<camera> c farthest: expected more than the nearest depth, found 1"},
        {"<camera name='c' link='a' bits='9'/>", "<camera> c bits: expected 1 .. 8, found 9"},
        {"<camera name='c' link='a' color='false'/>",
         "<camera> c: expected color, depth or segmentation, found none"},
        {"<camera name='c' link='a' depth='yes'/>",
         "<camera> depth: expected true or false, found \"yes\""},
        {"<camera name='c' link='a' rate='0'/>",
         "<camera> rate: expected 0.001 to 1e6 per second, found 0"},
        {"<camera name='c' link='a' delay='-1'/>",
         "<camera> c delay: expected 0 .. 1000 s, found -1"},
        {"<camera name='c' link='a'/><camera name='c' link='a'/>",
         "<camera> c: two cameras are named 'c'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_refused(
            *state,
            formatted("<robot name='r'>" LINKS "<mayfly>%s</mayfly></robot>", rows[i].camera),
            MF_BAD_FILE, 1, rows[i].message);
    }
}

// MuJoCo 3.3 (mjv_updateScene) draws the second camera with a frustum from -0.725 to 0.875 of the
// depth to the right and from -0.52 to 0.44 upwards.
static const char *const mjcf =
    "<mujoco><default><camera fovy='30'/><default class='small'>"
    "<camera resolution='64 48'/></default></default>"
    "<worldbody><camera name='sky' pos='0 0 5'/><body name='b' pos='0 0 1'><freejoint/>"
    "<geom size='.1'/><camera name='a' class='small' fovy='60' quat='.5 .5 -.5 -.5'/>"
    "<camera name='b' resolution='640 480' focal='.004 .005' sensorsize='.0064 .0048' "
    "principal='.0003 .0002' output='rgb depth'/>"
    "<camera name='p' resolution='640 480' focalpixel='400 500' sensorsize='.0064 .0048' "
    "principalpixel='30 20'/><camera/><camera name='t' mode='track'/></body></worldbody></mujoco>";

static void check_mjcf(const mf_Model *model) {
    assert_int_equal(model->camera_count, 5);
    const mf_Camera *sky = &model->cameras[mf_model_find(model, MF_ITEM_CAMERA, "sky")],
                    *a = &model->cameras[mf_model_find(model, MF_ITEM_CAMERA, "a")];
    const double ahead[3] = {1.0, 0.0, 0.0}, up[3] = {0.0, 0.0, 1.0};
    double out[3];
    // Looks down, with the y axis up in the picture.
    assert_int_equal(sky->frame.link, MF_NONE);
    assert_near3(sky->frame.position, 0, 0, 5, 0);
    mf_quat_rotate(out, sky->frame.rotation, ahead);
    assert_near3(out, 0, 0, -1, 1e-15);
    mf_quat_rotate(out, sky->frame.rotation, up);
    assert_near3(out, 0, 1, 0, 1e-15);
    assert_near(sky->focal[1], 120.0 / tan(M_PI / 12), 1e-9);
    // The inverse rotation of the axes: as the body itself.
    assert_near(fabs(a->frame.rotation[0]), 1.0, 1e-15);
    assert_int_equal(a->width, 64);
    assert_near(a->focal[0], 24.0 * sqrt(3.0), 1e-9);
    for (int i = 0; i < 2; i++) {
        const mf_Camera *c = &model->cameras[mf_model_find(model, MF_ITEM_CAMERA, i ? "p" : "b")];
        const mf_Lens lens = mf_lens_of(c);
        const double low[3] = {1.0, 0.725, -0.52}, high[3] = {1.0, -0.875, 0.44};
        double pixel[2];
        assert_true(mf_lens_project(&lens, low, pixel));
        assert_near(pixel[0], -0.5, 1e-9);
        assert_near(pixel[1], 479.5, 1e-9);
        assert_true(mf_lens_project(&lens, high, pixel));
        assert_near(pixel[0], 639.5, 1e-9);
        assert_near(pixel[1], -0.5, 1e-9);
        assert_true(c->color && c->depth == (i == 0) && !c->segmentation);
    }
    assert_int_equal(model->cameras[mf_model_find(model, MF_ITEM_CAMERA, "camera4")].width, 320);
}

TEST(mjcf_files_have_cameras) {
    AUTO_MODEL *model = load_urdf(*state, mjcf);
    check_mjcf(model);
    assert_non_null(find_note(model, "<camera>")); // the one that tracks
    AUTO_MODEL *again = written_and_read(*state, model);
    check_mjcf(again);
}

#define TEXTED(data)                                                                               \
    "<mujoco><worldbody><body name='b' pos='0 .3 1' euler='10 20 30'><freejoint/>"                 \
    "<geom size='.1' pos='.3 .1 .2'/><camera name='eye' pos='.123 .017 .3' euler='3 -4 5'"         \
    " resolution='640 480' sensorsize='640 480' focalpixel='400.1 500.3' principalpixel='3.7 1'"   \
    " output='depth'/></body></worldbody><custom><text name='camera:eye' data='" data              \
    "'/></custom></mujoco>"

// What MJCF has no attribute for comes back from a file that was written, to the last bit.
TEST(written_cameras_are_the_same) {
    AUTO_MODEL *model = load_urdf(
        *state, TEXTED("lens=brown coefficients=-0.28,0.09,0.0005,-0.0003 nearest=0.1 farthest=20 "
                       "blur=0.8 vignetting=0.5 noise=0.01 bits=6 readout=0.02 rate=62.5 "
                       "delay=0.050000001"));
    const mf_Camera *eye = &model->cameras[0];
    assert_int_equal(eye->lens, MF_LENS_BROWN);
    assert_near(eye->coefficients[3], -0.0003, 0.0);
    assert_near(eye->center[0], 319.5 - 3.7, 1e-12);
    assert_true(eye->rate.numerator == 625 && eye->rate.denominator == 10);
    assert_true(eye->delay == 50 * MF_MILLISECOND + 1 && eye->bits == 6 && !eye->color);
    AUTO_MODEL *again = written_and_read(*state, model);
    mf_Camera copy = again->cameras[0];
    assert_string_equal(copy.name, eye->name);
    assert_memory_equal(&copy.frame, &eye->frame, sizeof copy.frame);
}

// A camera that was moved in the file is where the file says.
TEST(edited_files_win) {
    AUTO_MODEL *plain = load_urdf(*state, TEXTED("")),
               *model = load_urdf(*state, TEXTED("frame=1,2,3,1,0,0,0 center=1,2"));
    assert_memory_equal(&plain->cameras[0].frame, &model->cameras[0].frame, sizeof(mf_Frame));
    assert_memory_equal(plain->cameras[0].center, model->cameras[0].center, 2 * sizeof(double));
}

// Pictures may decide what a robot does, so what they show belongs to the model.
TEST(hashes_are_of_the_cameras) {
    static const char *const texts[] = {TEXTED(""), TEXTED("noise=0.1"), TEXTED("rate=30"),
                                        TEXTED("lens=brown"), TEXTED("delay=0.1")};
    uint64_t hashes[5];
    for (int i = 0; i < 5; i++) {
        AUTO_MODEL *model = load_urdf(*state, texts[i]);
        hashes[i] = mf_model_hash(model);
        for (int k = 0; k < i; k++)
            assert_true(hashes[k] != hashes[i]);
    }
}

TEST(mistakes_in_texts_are_named) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"<text name='camera:ear' data='bits=3'/>",
         "<text> camera:ear: there is no camera of this name"},
        {"<text name='camera:eye' data='bits'/>",
         "<text> camera:eye: expected key=value pairs, found \"bits\""},
        {"<text name='camera:eye' data='bit=3'/>",
         "<camera>: unknown attribute 'bit' (docs/reference/model_fields.md lists them)"},
        {"<text name='camera:eye' data='bits=9'/>", "<camera> bits: expected 1 .. 8, found 9"},
        {"<text name='camera:eye' data='rate=0'/>",
         "<camera> rate: expected one number per second, or a whole numerator and denominator, "
         "found \"0\""},
        {"<text name='camera:eye' data='rate=5,2.5'/>",
         "<camera> rate: expected one number per second, or a whole numerator and denominator, "
         "found \"5 2.5\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_refused(
            *state,
            formatted(
                "<mujoco><worldbody><body><freejoint/><geom size='1'/><camera name='eye'/></body>"
                "</worldbody><custom>%s</custom></mujoco>",
                rows[i].text),
            MF_BAD_FILE, 1, rows[i].message);
    }
}

TEST(mistakes_in_mjcf_are_named) {
    const struct {
        const char *camera, *message;
    } rows[] = {
        {"fovy='180'", "<camera> fovy: expected 0 .. 180 degrees, found 180"},
        {"resolution='0.5 1'",
         "<camera> resolution: expected whole numbers of pixels, 1 .. 4096, found 0.5"},
        {"sensorsize='1 1'", "<camera> sensorsize: expected lengths > 0, and a resolution"},
        {"sensorsize='1 1' resolution='4 4'",
         "<camera> focal: a sensorsize needs two numbers > 0, found 0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_refused(
            *state,
            formatted("<mujoco><worldbody><body><freejoint/><geom size='1'/><camera %s/></body>"
                      "</worldbody></mujoco>",
                      rows[i].camera),
            MF_BAD_FILE, 1, rows[i].message);
    }
}

// A camera given in the construction frame turns with its body and is at the same position as one
// of a file; `info` lists it.
TEST(calls_make_cameras) {
    mf_Context *context = *state;
    const double size[3] = {0.2, 0.2, 0.2}, center[3] = {1.0, 0.0, 0.5},
                 quarter[3] = {0, 0, M_PI_2};
    const float red[3] = {1, 0, 0};
    AUTO_BUILDER *builder = NULL;
    mf_Model *model = NULL;
    mf_Error error = {0};
    assert_int_equal(mf_builder_create(context, "made", &builder, &error), MF_OK);
    const mf_BodyId body = mf_body_create_box(builder, size, center, 1.0, red);
    mf_Camera camera = WITH(mf_camera(), .name = "front");
    mf_vec3_set(camera.frame.position, 1.1, 0.0, 0.5);
    camera.delay = MF_MILLISECOND;
    mf_body_camera(builder, body, &camera);
    mf_body_rotate(builder, body, quarter);
    assert_int_equal(mf_builder_finalize(builder, &model, &error), MF_OK);
    mf_builder_destroy(builder);
    const mf_Camera *made = &model->cameras[0];
    assert_int_equal(model->camera_count, 1);
    assert_near3(made->frame.position, 0.0, 0.1, 0.0, 1e-12);
    assert_near(made->frame.rotation[3], sqrt(0.5), 1e-12);
    char *text = NULL;
    assert_int_equal(mf_model_describe(model, &text, &error), MF_OK);
    assert_non_null(strstr(text, "front"));
    assert_non_null(strstr(text, "320 x 240, pinhole, focal length 289.71 289.71 pixels, color, 20 "
                                 "Hz, delay 0.001 s"));
    mf_release(context, text);
    mf_model_destroy(model);

    assert_int_equal(mf_builder_create(context, "bad", &builder, &error), MF_OK);
    mf_body_create_box(builder, size, center, 1.0, red);
    camera.blur = (double)NAN;
    mf_body_camera(builder, 0, &camera);
    assert_fails(mf_builder_finalize(builder, &model, &error), MF_BAD_ARGUMENT, &error,
                 "mf_body_camera blur: expected 0 .. 64 pixels");
}
