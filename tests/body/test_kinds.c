// The table of kinds of bodies: every row is complete, files are distinguished by their top key,
// and a motion of a kind refuses other models.
#include "rig/rig.h"
#include "body/kind.h"
#include "motion/table.h"

GROUP_FIXTURE(make_context, drop_context);

static const char *const samples[] = {"truss",   "models/tetrahedron.truss.yaml",
                                      "cloth",   "models/sheet.cloth.yaml",
                                      "vehicle", "models/crazyflie.yaml"};
enum { KINDS = sizeof samples / sizeof *samples / 2 };

TEST(rows_are_complete) {
    for (int i = 0; i < KINDS; i++) {
        const mf_BodyKind *kind = mf_body_kind_named(samples[2 * i]);
        assert_non_null(kind);
        assert_string_equal(mf_body_kind_name(kind), samples[2 * i]);
        assert_true(kind->document && kind->model && (kind->step > 0 || kind->step_of) &&
                    kind->check && kind->write && kind->configure && kind->describe);
    }
    assert_null(mf_body_kind_named("rock"));
    assert_null(mf_body_kind_named(NULL));
    assert_null(mf_body_kind_name(NULL));
}

TEST(files_have_a_kind) {
    mf_Context *context = *state;
    for (int i = 0; i < KINDS; i++) {
        char path[512], *text;
        size_t size;
        snprintf(path, sizeof path, "%s/%s", MAYFLY_SOURCE_DIR, samples[2 * i + 1]);
        assert_int_equal(mf_file_read(context, path, MF_YAML_BYTES, &text, &size, NULL), MF_OK);
        const mf_BodyKind *kind = mf_body_kind_of(text, size);
        assert_non_null(kind);
        assert_string_equal(kind->name, samples[2 * i]);
        mf_release(context, text);
        void *body = NULL;
        mf_Model *model = NULL;
        MUST(mf_body_load(context, kind, path, &body, &error));
        assert_string_equal(mf_body_file(body), path);
        assert_true(mf_body_moves_by(kind, mf_body_motion(kind, body)));
        MUST(mf_body_model(context, kind, body, &model, &error));
        assert_true(model->mass > 0.0);
        MUST(mf_body_write(context, kind, body, &text, &error));
        assert_ptr_equal(mf_body_kind_of(text, strlen(text)), kind);
        void *again = NULL;
        MUST(mf_body_parse(context, kind, path, text, strlen(text), &again, &error));
        mf_body_destroy(again);
        mf_release(context, text);
        mf_model_destroy(model);
        mf_body_destroy(body);
    }
    assert_null(mf_body_kind_of("groups: []\n", 11));
    assert_null(mf_body_kind_of(NULL, 0));
    mf_body_destroy(NULL);
}

TEST(bad_arguments_are_refused) {
    mf_Model *model = NULL;
    AUTO_SCENE_FILE *file = NULL;
    const mf_Cloth cloth = mf_cloth_rectangle(1.0, 1.0, 3, 3);
    MUST_FAIL(mf_body_model(*state, NULL, &cloth, &model, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_body_model(*state, &mf_cloth_body, NULL, &model, &error), MF_BAD_ARGUMENT, "");
    void *body = NULL;
    char *text = NULL;
    MUST_FAIL(mf_body_load(*state, NULL, "a", &body, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_body_parse(*state, NULL, "a", "", 0, &body, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_body_write(*state, NULL, &cloth, &text, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_scene_file_of_body(*state, NULL, &cloth, NULL, 0, &file, &error), MF_BAD_ARGUMENT,
              "");
    MUST(mf_scene_file_of_body(*state, &mf_cloth_body, &cloth, NULL, 0, &file, &error));
    assert_string_equal(file->name, "cloth");
    assert_int_equal(file->groups[0].motion, MF_MOTION_CLOTH);
}

// Every motion is for a kind that exists, or for robots.
TEST(motions_are_of_kinds) {
    uint32_t own = 0;
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        const mf_MotionRow *row = mf_motion_row((mf_Motion)i);
        assert_false(row->body != NULL && row->level);
        own += row->body != NULL;
        if (row->body != NULL)
            assert_non_null(mf_body_kind_named(row->body));
        assert_true((row->look.kind == MF_VISUAL_TRIANGLES) == (row->look.surface != NULL));
    }
    assert_int_equal(own, 6);
}
