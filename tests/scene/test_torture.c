// Every allocation and system call behind experiments and scenes fails once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <mayfly/experiment.h>

#include "experiment/keys.h"
#include "support.h"
#include "torture.h"

#include <stdio.h>

static mf_Status load(mf_Context *context, mf_Experiment **out, mf_Error *error) {
    static const mf_Override overrides[] = {
        {"search.population", "8"},       {"search.survivors", "4"},
        {"model.packages.here", "there"}, {"terrain.origin", "[1, 2]"},
        {"controller.gp.tick", "0.04"},   {"run.duration", "0.1"}};
    static const char text[] = "model: {file: ../models/hexapod.urdf}\n"
                               "initial: [{property: base.linear_velocity.x, values: [0.5]}, "
                               "{property: '*/joint.target', values: [0.1]}]\n";
    mf_Status status =
        mf_experiment_parse(context, MAYFLY_SOURCE_DIR "/scenes/t.yaml", text, sizeof text - 1,
                            overrides, sizeof overrides / sizeof overrides[0], out, error);
    assert_int_equal(status != MF_OK, *out == NULL);
    return status;
}

static mf_Status read_and_write(mf_Context *context, void *user, mf_Error *error) {
    (void)user;
    mf_Experiment *experiment = NULL;
    char *text = NULL;
    mf_Status status = load(context, &experiment, error);
    if (status == MF_OK) {
        experiment->model_path = "relative.urdf"; // so that the current folder is asked for
        status = mf_experiment_write(experiment, &text, error);
        assert_int_equal(status != MF_OK, text == NULL);
    }
    mf_release(context, text);
    mf_experiment_destroy(experiment);
    return status;
}

static mf_Status make_and_evaluate(mf_Context *context, void *user, mf_Error *error) {
    (void)user;
    mf_Experiment *experiment = NULL;
    mf_Scene scene = {0};
    mf_Status status = load(context, &experiment, error);
    if (status == MF_OK)
        status = mf_scene_create(context, experiment, 2, &scene, error);
    if (status == MF_OK) {
        uint8_t genomes[2 * MF_GP_BYTES] = {1, 2, 3};
        double fitness[2];
        status = mf_scene_evaluate(&scene, genomes, 2, MF_GP_BYTES, fitness, error);
    } else {
        assert_null(scene.world);
    }
    mf_scene_destroy(&scene);
    mf_experiment_destroy(experiment);
    return status;
}

static mf_Status describe(mf_Context *context, void *user, mf_Error *error) {
    char *text = NULL;
    mf_Status status = mf_keys_describe(context, mf_experiment_table(), user != NULL, &text, error);
    assert_int_equal(status != MF_OK, text == NULL);
    mf_release(context, text);
    return status;
}

static void reading_and_writing_survive(void **state) {
    assert_true(torture(*state, read_and_write, NULL, TORTURE_MUST_FAIL) > 50);
}

static void scenes_survive(void **state) {
    assert_true(torture(*state, make_and_evaluate, NULL, TORTURE_MUST_FAIL) > 60);
}

static void the_help_text_survives(void **state) {
    assert_true(torture(*state, describe, NULL, TORTURE_MUST_FAIL) > 0);
    assert_true(torture(*state, describe, *state, TORTURE_MUST_FAIL) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_and_writing_survive),
        cmocka_unit_test(scenes_survive),
        cmocka_unit_test(the_help_text_survives),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
