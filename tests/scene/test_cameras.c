// Cameras of scenes: keys, mistakes with their positions, pictures as PNG files at their own rates,
// and cameras of robots that take pictures while a scene runs.
#include "rig/rig.h"
#include "world/group.h"
#include "support.h"

#include "image/image.h"
#include "math/scalar.h"

GROUP_FIXTURE(make_context, drop_context);

#define BALL                                                                                       \
    "world: {step: 0.001}\n"                                                                       \
    "groups:\n  - name: balls\n    model: ../models/ball.xml\n    motion: rigid\n    count: 2\n"   \
    "    placement: {poses: [[0, 0, 0], [0.5, 0, 0]]}\n    height: 2\n"

TEST(what_is_read_is_written) {
    AUTO_SCENE_FILE *again,
        *file = parse_scene(
            *state, BALL
            "cameras:\n  - {name: top, position: [1, 2, 3], look_at: [0, 0, 0.5], width: 80, "
            "height: 60,\n     fovy: 0.6, depth: true, interval: 0.25}\n"
            "  - {name: eye, group: balls, robot: 1, link: ball, rpy: [0.1, 0.2, 0.3],\n"
            "     lens: brown, coefficients: [-0.2, 0.05, 0.001, 0.002, 0, 0], focal: [200, 210],\n"
            "     center: [90, 70], color: false, segmentation: true, blur: 1, noise: 0.01}\n");
    write_twice(*state, file, &again);
    for (int both = 0; both < 2; both++) {
        const mf_SceneFile *one = both == 0 ? file : again;
        const mf_SceneCamera *top = &one->cameras[0], *eye = &one->cameras[1];
        assert_int_equal(one->camera_count, 2);
        assert_string_equal(top->name, "top");
        assert_string_equal(top->on.group, "");
        assert_true(top->look_at[2] == 0.5 && top->fovy == 0.6 && isnan(top->focal[0]));
        assert_int_equal(top->camera.width, 80);
        assert_true(top->camera.rate.numerator == 4 * top->camera.rate.denominator);
        assert_true(top->camera.color && top->camera.depth && !top->camera.segmentation);
        assert_true(isnan(eye->look_at[0]) && eye->rpy[2] == 0.3 && eye->focal[1] == 210);
        assert_int_equal(eye->camera.lens, MF_LENS_BROWN);
        assert_true(eye->camera.coefficients[3] == 0.002 && eye->camera.noise == 0.01);
        assert_true(!eye->camera.color && eye->camera.segmentation && eye->center[0] == 90);
        assert_int_equal(eye->camera.width, 640);
    }
}

TEST(mistakes_have_a_position) {
    static const struct {
        const char *cameras, *message; // after the path; in line 9
        bool built;                    // found when the world is built
    } cases[] = {
        {"[{}]", ":9:11: expected the key cameras.0.name, which is missing", false},
        {"[{name: a b}]",
         ":9:18: cameras.a b.name: expected 1 to 80 characters without dots, slashes and blanks",
         false},
        {"[{name: a}, {name: a}]", ":9:29: cameras.a.name: expected each name once, found it again",
         false},
        {"[{name: a, group: cubes}]",
         ":9:28: cameras.a.group: expected the name of a group, found 'cubes'", false},
        {"[{name: a, link: ball}]", ":9:27: cameras.a.link: expected the group that has it, too",
         false},
        {"[{name: a, lens: glass}]",
         ":9:27: cameras.a.lens: expected one of pinhole, brown, angle, fisheye, found glass",
         false},
        {"[{name: a, width: 0}]",
         ":9:28: cameras.a.width: expected a whole number from 1 to 4096, found 0", false},
        {"[{name: a, group: balls, robot: 2}]",
         ":9:18: cameras.a: robot: the group has fewer robots", true},
        {"[{name: a, group: balls, link: bal}]",
         ":9:18: cameras.a: link: group balls (ball) has no link 'bal', did you mean 'ball'?",
         true},
        {"[{name: a, fovy: 4}]",
         ":9:18: cameras.a: fovy: expected less than 3.14 rad for this lens", true},
        {"[{name: a, nearest: 5, farthest: 2}]",
         ":9:18: cameras.a: camera farthest: expected more than the nearest depth, found 2", true},
        {"[{name: a, look_at: [0, 0, 0]}]",
         ":9:18: cameras.a: look_at: expected another point than position", true},
        {"[{name: a, color: false}]",
         ":9:18: cameras.a: camera: expected color, depth or segmentation, found none", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = formatted(BALL "cameras: %s\n", cases[i].cameras);
        assert_string_equal(scene_error(*state, text, !cases[i].built), cases[i].message);
    }
}

// The camera's pose: `look_at` is in the middle of the picture, and its upper edge is level.
TEST(look_at_is_in_the_middle) {
    AUTO_WHOLE_SCENE scene = scene_of(
        *state, BALL "cameras: [{name: a, position: [1, -2, 3], look_at: [0, 0.5, 0.25]}]\n");
    mf_Camera camera;
    mf_Error error = {0};
    uint32_t group, robot;
    assert_int_equal(mf_scene_camera(&scene, 0, &camera, &group, &robot, &error), MF_OK);
    assert_int_equal(group, MF_NONE);
    const double *q = camera.frame.rotation, direction[3] = {-1.0, 2.5, -2.75};
    const double length = sqrt(1.0 + 6.25 + 7.5625);
    const double x[3] = {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] + q[0] * q[3]),
                         2 * (q[1] * q[3] - q[0] * q[2])};
    for (int c = 0; c < 3; c++)
        assert_near(x[c], direction[c] / length, 1e-12);
    assert_near(2 * (q[2] * q[3] + q[0] * q[1]), 0.0, 1e-12); // z of the y axis
    assert_int_equal(mf_scene_camera(&scene, 1, &camera, &group, &robot, &error), MF_BAD_ARGUMENT);
}

// ---- files --------------------------------------------------------------------------------------

static bool exists(const char *folder, const char *name) {
    return access(formatted("%s/%s", folder, name), R_OK) == 0;
}

static mf_Image open_image(mf_Context *context, const char *folder, const char *name) {
    mf_Image image = {0};
    MUST(mf_image_load(context, formatted("%s/%s", folder, name), &image, &error));
    return image;
}

static uint32_t word_at(const mf_Image *image, uint32_t row, uint32_t index) {
    return ((const uint16_t *)image->pixels)[row * image->width * image->channels + index];
}

// 1.5 m above the ground, upside down in the world: the middle pixel is 1500 mm deep.
TEST(pictures_come_at_their_rates) {
    static const char *const names[] = {
        "down-000000.png",       "down-000000-depth.png", "down-000000-segmentation.png",
        "down-000001-depth.png", "down-000003-depth.png", "slow-000000.png",
        "slow-000001.png"};
    char folder[] = "/tmp/mayfly-photos-XXXXXX";
    AUTO_WHOLE_SCENE scene = scene_of(
        *state, BALL "cameras:\n  - {name: down, position: [3, 0, 1.5], look_at: [3, 0, 0], "
                     "width: 33, height: 21, depth: true, segmentation: true, interval: 0.0033}\n"
                     "  - {name: slow, position: [-1, 0, 2.06], width: 33, height: 33, interval: "
                     "0.01}\n");
    mf_Photographer *photographer;
    const uint64_t before = mf_world_hash(scene.world);
    assert_non_null(mkdtemp(folder));
    MUST(mf_photographer_create(&scene, folder, &photographer, &error));
    assert_int_equal(mf_photographer_cameras(photographer), 2);
    MUST(mf_photographer_take(photographer, &error));
    assert_true(mf_world_hash(scene.world) == before);
    uint64_t stops[3], steps = 0;
    for (int i = 0; i < 3; i++) { // ticks of 3.3 ms, at steps 4, 7 and 10
        const uint64_t wait = mf_photographer_wait(photographer);
        mf_world_step(scene.world, wait);
        stops[i] = steps += wait;
        MUST(mf_photographer_take(photographer, &error));
    }
    assert_true(stops[0] == 4 && stops[1] == 7 && stops[2] == 10);
    assert_int_equal(mf_photographer_files(photographer), 4 * 3 + 2);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(exists(folder, names[i]));
    mf_Image depth = open_image(*state, folder, names[1]),
             owner = open_image(*state, folder, names[2]),
             color = open_image(*state, folder, names[0]),
             ball = open_image(*state, folder, names[5]);
    assert_true(depth.width == 33 && depth.height == 21 && depth.bits == 16);
    assert_int_equal(depth.channels, 1);
    assert_int_equal(word_at(&depth, 10, 16), 1500);
    assert_true(owner.bits == 16 && owner.channels == 3);
    for (uint32_t c = 0; c < 3; c++) // the ground: group -2, robot and link -1
        assert_int_equal(word_at(&owner, 10, 3 * 16 + c), 0);
    assert_true(color.bits == 8 && color.channels == 3);
    // The ball is before the sky, which is as blue as it is bright.
    const uint8_t *sky = (const uint8_t *)ball.pixels + (size_t)2 * 3 * 33;
    const uint8_t *middle = (const uint8_t *)ball.pixels + (size_t)(16 * 33 + 16) * 3;
    assert_true(sky[2] > sky[0]);
    const float *own = scene.model->shapes[0].color;
    assert_true((middle[0] > middle[2]) == (own[0] > own[2]));
    mf_release(*state, depth.pixels);
    mf_release(*state, owner.pixels);
    mf_release(*state, color.pixels);
    mf_release(*state, ball.pixels);
    mf_photographer_destroy(photographer);
    assert_int_equal(system(formatted("rm -r %s", folder)), 0);
}

TEST(depths_that_have_no_number_are_zero) {
    const float depth[6] = {0.0004f, 0.0006f, 65.5349f, 65.536f, 99.9f, 100.0f};
    const uint32_t expected[6] = {0, 1, 65535, 0, 0, 0};
    char folder[] = "/tmp/mayfly-photos-XXXXXX", path[1200];
    mf_Error error = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/d.png", folder);
    assert_int_equal(mf_photo_write_depth(*state, path, 3, 2, depth, 100.0, &error), MF_OK);
    mf_Image image = open_image(*state, folder, "d.png");
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(word_at(&image, i / 3, i % 3), expected[i]);
    mf_release(*state, image.pixels);
    assert_int_equal(mf_photo_write_depth(*state, path, 0, 2, depth, 100.0, &error),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_write_color(*state, path, 1, 1, NULL, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_write_depth(*state, "/nowhere/d.png", 3, 2, depth, 100.0, &error),
                     MF_NOT_FOUND);
    remove(path);
    rmdir(folder);
}

TEST(without_a_camera) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, BALL);
    mf_Photographer *none = NULL;
    mf_Error error = {0};
    assert_int_equal(mf_photographer_create(&scene, "/tmp/none", &none, &error), MF_NOT_FOUND);
    assert_null(none);
    assert_int_equal(mf_photographer_create(&scene, NULL, &none, &error), MF_BAD_ARGUMENT);
    mf_photographer_destroy(NULL);
}

// ---- robots' cameras ----------------------------------------------------------------------------

#define HUMANOIDS                                                                                  \
    "world: {step: 0.005}\ngroups:\n  - {name: a, model: ../models/humanoid.urdf, motion: rigid, " \
    "cameras: true}\n  - {name: b, model: ../models/humanoid.urdf, motion: rigid, placement: "     \
    "{poses: [[1, 0, 3.14159265]]}}\n"

// Group a takes pictures, from the start on, and sees group b; group b takes none.
TEST(groups_choose_their_pictures) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, HUMANOIDS);
    mf_Group *a = mf_world_group(scene.world, 0), *b = mf_world_group(scene.world, 1);
    const char *name = formatted("camera.%s.color", scene.model->cameras[0].name);
    const mf_Field *color = mf_group_find_field(a, name);
    assert_non_null(color);
    assert_null(mf_group_find_field(b, name));
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < color->components; i++)
        drawn += mf_field_get(color, 0, i) != 0.0;
    assert_int_equal(drawn, color->components);
}

// The camera is where the link is, at every level of physics: the ground under it is as deep as the
// link's pose says.
// Cameras see the colors of films.
TEST(groups_have_the_colors_of_films) {
    AUTO_SCENE_FILE *file = parse_scene(
        *state, "world: {step: 0.001}\ngroups:\n"
                "  - {name: a, model: ../models/ball.xml, motion: rigid, color: red}\n"
                "  - {name: b, model: ../models/ball.xml, motion: rigid, color: file}\n");
    AUTO_SCENE scene;
    float color[3];
    MUST(mf_scene_create(*state, file, NULL, &scene, &error));
    assert_true(mf_group_tint(mf_world_group(scene.world, 0), color)); // #d63a3a
    assert_true(color[0] == 214.0f / 255.0f && color[1] == 58.0f / 255.0f && color[2] == color[1]);
    assert_false(mf_group_tint(mf_world_group(scene.world, 1), color));
}

TEST(pictures_at_every_level) {
    static const char *const levels[] = {"kinematic", "points", "rigid", "prescribed",
                                         "articulated"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        AUTO_WHOLE_SCENE scene = scene_of(
            *state,
            formatted(
                "world: {step: 0.001}\ngroups:\n  - {name: a, model: ../models/humanoid.urdf, "
                "motion: %s, gaits: [walk], behavior: {gait: {name: walk}}, placement: {poses: "
                "[[0.3, -0.2, 0.7]]}}\ncameras: [{name: eye, group: a, link: head, position: "
                "[0.4, 0.1, 0], rpy: [0.1, 0.7, 0.2], width: 9, height: 7, depth: true}]\n",
                levels[i]));
        mf_Camera camera;
        mf_FreeCamera *eye;
        uint32_t group, robot;
        float depth[63];
        const mf_CameraPixels pixels = {NULL, depth, NULL};
        MUST(mf_scene_camera(&scene, 0, &camera, &group, &robot, &error));
        MUST(mf_free_camera_create(scene.world, &camera, &eye, &error));
        mf_world_step(scene.world, 321);
        const uint32_t links = scene.model->link_count, link = camera.frame.link;
        double *at = malloc(links * 3 * sizeof *at), *turn = malloc(links * 4 * sizeof *turn);
        MUST(mf_group_link_poses(scene.group, 0, 1, at, turn, &error));
        double position[3], rotation[4], ahead[3];
        const double forward[3] = {1.0, 0.0, 0.0};
        mf_quat_rotate(position, turn + 4 * link, camera.frame.position);
        mf_vec3_add(position, position, at + 3 * link);
        mf_quat_multiply(rotation, turn + 4 * link, camera.frame.rotation);
        mf_quat_rotate(ahead, rotation, forward);
        // The place by the field of poses is the one by the query.
        for (uint32_t c = 0; c < 3; c++)
            assert_near(get_field(scene.group, "link.pose", 0, 7 * link + c), at[3 * link + c],
                        1e-5);
        MUST(mf_free_camera_take(eye, position, rotation, group, robot, &pixels, &error));
        assert_near((double)depth[31], position[2] / -ahead[2], 2e-6);
        mf_free_camera_destroy(eye);
        free(at);
        free(turn);
    }
}

// The plugin `look` turns a head until the red ball, 0.4 rad to the left, is in the middle.
TEST(plugins_read_pictures) {
    const char *robot =
        "<mujoco><worldbody><geom size='.15' pos='1.8 .76 .5' rgba='1 0 0 1'/>"
        "<body name='neck' pos='0 0 .5'><joint name='pan' axis='0 0 1' range='-90 90'/>"
        "<geom size='.05' mass='.1' rgba='.2 .2 .2 1'/><camera name='eye' resolution='32 24' "
        "fovy='60' xyaxes='0 -1 0 0 0 1'/></body></worldbody>"
        "<custom><text name='camera:eye' data='rate=50'/></custom></mujoco>";
    char path[200], text[700];
    snprintf(path, sizeof path, "%s/look.xml", MAYFLY_BINARY_DIR);
    MUST(mf_file_replace(*state, path, robot, strlen(robot), &error));
    snprintf(text, sizeof text,
             "world: {step: 0.01}\nground: {shape: flat}\ngroups:\n  - {name: a, model: \"%s\", "
             "motion: prescribed, cameras: true, plugins: [{file: \"%s/plugins/plugin_look.so\", "
             "tick: 0.02}]}\n",
             path, MAYFLY_BINARY_DIR);
    mf_plugins_allow(*state, true);
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_true(fabs(get(&scene, 0, "joint.angle", 0, 0)) < 1e-6);
    mf_world_step(scene.world, 300);
    assert_near(get(&scene, 0, "joint.angle", 0, 0), atan2(0.76, 1.8), 0.03); // a pixel
    mf_plugins_allow(*state, false);
    remove(path);
}
