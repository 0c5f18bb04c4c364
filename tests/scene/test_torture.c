// Every allocation and system call behind scenes fails once.
#include "rig/rig.h"
#include "scene/keys.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

static mf_Status load(mf_Context *context, mf_SceneFile **out, mf_Error *error) {
    static const mf_Override overrides[] = {{"search.population", "8"},
                                            {"search.survivors", "4"},
                                            {"group.import.packages.here", "there"},
                                            {"ground.origin", "[1, 2]"},
                                            {"group.controller.gp.tick", "0.04"},
                                            {"run.duration", "0.1"}};
    static const char text[] =
        "world: {step: 0.01}\nground: {shape: noise, columns: 8, rows: 8}\n"
        "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n    motion: points\n"
        "    controller: gp\n"
        "    initial: [{property: base.linear_velocity.x, values: [0.5]}, "
        "{property: '*/joint.target', values: [0.1]}]\n";
    mf_Status status = mf_scene_file_parse(context, SCENE_PATH, text, sizeof text - 1, overrides,
                                           sizeof overrides / sizeof overrides[0], out, error);
    assert_int_equal(status != MF_OK, *out == NULL);
    return status;
}

static mf_Status read_and_write(mf_Context *context, void *user, mf_Error *error) {
    AUTO_SCENE_FILE *file = NULL;
    char *text = NULL;
    MF_TRY(load(context, &file, error));
    file->groups[0].model_path = "relative.urdf"; // so that the current folder is asked for
    const mf_Status status = mf_scene_file_write(file, &text, error);
    assert_int_equal(status != MF_OK, text == NULL);
    mf_release(context, text);
    return status;
}

static mf_Status make_and_evaluate(mf_Context *context, void *user, mf_Error *error) {
    AUTO_SCENE_FILE *file = NULL;
    AUTO(mf_scene_destroy) mf_Scene scene = {0};
    mf_SceneConfig config = WITH(mf_scene_config(), .count = 2);
    uint8_t genomes[2 * MF_GP_BYTES] = {1, 2, 3};
    double fitness[2];
    MF_TRY(load(context, &file, error));
    const mf_Status status = mf_scene_create(context, file, &config, &scene, error);
    assert_int_equal(status != MF_OK, scene.world == NULL);
    MF_TRY(status);
    return mf_scene_evaluate(&scene, genomes, 2, MF_GP_BYTES, fitness, error);
}

// A robot's own file goes through text of its own.
static mf_Status make_from_robot(mf_Context *context, void *user, mf_Error *error) {
    static const mf_Override one = {"group.count", "2"};
    AUTO_SCENE_FILE *file = NULL;
    AUTO(mf_scene_destroy) mf_Scene scene = {0};
    mf_Status status = mf_scene_file_load(context, user, &one, 1, &file, error);
    assert_int_equal(status != MF_OK, file == NULL);
    MF_TRY(status);
    return mf_scene_create(context, file, NULL, &scene, error);
}

static mf_Status describe(mf_Context *context, void *user, mf_Error *error) {
    char *text = NULL;
    mf_Status status = mf_keys_describe(context, mf_scene_table(), user != NULL, &text, error);
    assert_int_equal(status != MF_OK, text == NULL);
    mf_release(context, text);
    return status;
}

TEST(reading_and_writing_survive) {
    assert_true(torture(*state, read_and_write, NULL, TORTURE_MUST_FAIL) > 50);
}

TEST(scenes_survive) {
    assert_true(torture(*state, make_and_evaluate, NULL, TORTURE_MUST_FAIL) > 60);
}

TEST(robots_survive) {
    char path[] = MAYFLY_SOURCE_DIR "/models/ball.xml";
    assert_true(torture(*state, make_from_robot, path, TORTURE_MUST_FAIL) > 60);
}

TEST(the_help_text_survives) {
    assert_true(torture(*state, describe, NULL, TORTURE_MUST_FAIL) > 0);
    assert_true(torture(*state, describe, *state, TORTURE_MUST_FAIL) > 0);
}
