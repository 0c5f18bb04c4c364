// Pictures for recorders, and pages of recordings.
#include "rig/rig.h"

#include "view/film.h"
#include "view/film_page.h"

#include <jansson.h>

#define PAGE "film_recorded_test.html"
enum { ROBOTS = 20, POSE = 7, SAMPLES = 5 };

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    float frames[SAMPLES * ROBOTS * POSE];
    double time[SAMPLES];
    mf_Recording recording; // made by hand
} Fixture;

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    AUTO_BUILDER *builder = NULL;
    const double origin[3] = {0, 0, 0};
    fixture->context = open_context(1);
    MUST(mf_builder_create(fixture->context, "ball", &builder, &error));
    mf_body_create_sphere(builder, origin, 0.1, 1.0, NULL);
    MUST(mf_builder_finalize(builder, &fixture->model, &error));
    fixture->world = open_world(fixture->context, NULL);
    fixture->group = add_group(fixture->world,
                               &WITH(mf_group_config(), .model = fixture->model, .count = ROBOTS));
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    unlink(PAGE);
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
    free(fixture);
    return 0;
}

// A recording of the group on its way along x; its description belongs to *film.
static void record(Fixture *fixture, mf_Film **film) {
    mf_RecorderPicture picture;
    mf_Field *position = mf_group_find_field(fixture->group, "base.position");
    assert_int_equal(mf_film_record(fixture->world, "balls", NULL, NULL, film, &picture, NULL),
                     MF_OK);
    assert_int_equal(picture.size, ROBOTS * POSE); // one link each
    for (uint32_t s = 0; s < SAMPLES; s++) {
        for (uint32_t i = 0; i < ROBOTS; i++)
            mf_field_set(position, i, 0, s + 0.25 * i);
        fixture->time[s] = 0.5 + 0.1 * s;
        picture.take(fixture->frames + s * picture.size, picture.user);
    }
    fixture->recording = (mf_Recording){.context = fixture->context,
                                        .path = "folder/<balls>.h5",
                                        .picture = picture.description,
                                        .frame_size = (uint32_t)picture.size,
                                        .samples = SAMPLES,
                                        .time = fixture->time,
                                        .frames = fixture->frames};
}

TEST_ON_WITH(a_picture_is_what_a_film_shows, Fixture *fixture, set_up, tear_down) {
    AUTO_FILM *film;
    record(fixture, &film);
    for (uint32_t s = 0; s < SAMPLES; s++)
        for (uint32_t i = 0; i < ROBOTS; i++) {
            const float *pose = fixture->frames + (s * ROBOTS + i) * POSE;
            assert_true(pose[0] == (float)(s + 0.25 * i));
            assert_true(pose[3] == 1.0F && pose[4] == 0.0F);
        }
}

TEST_ON_WITH(a_recording_becomes_a_page, Fixture *fixture, set_up, tear_down) {
    AUTO_FILM *film;
    char *page = NULL;
    record(fixture, &film);
    MUST(mf_film_recording_page(fixture->context, &fixture->recording, &page, &error));
    AUTO(end_memory) char *film_text = element(page, "film");
    json_t *description = json_loads(film_text, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(description, "frames")), SAMPLES);
    assert_float_equal(json_number_value(json_object_get(description, "period")), 0.1, 1e-12);
    assert_int_equal(json_integer_value(json_object_get(description, "robots")), ROBOTS);
    assert_int_equal(json_integer_value(json_object_get(description, "of")), ROBOTS);
    json_decref(description);
    assert_non_null(strstr(page, "<title>&lt;balls&gt;.h5</title>"));
    MUST(mf_film_write_recording(&fixture->recording, PAGE, &error));
    AUTO(end_memory) char *written = file_get(PAGE, NULL);
    assert_string_equal(page, written);
    mf_release(fixture->context, page);
}

TEST_ON_WITH(what_does_not_fit_is_refused, Fixture *fixture, set_up, tear_down) {
    AUTO_FILM *film;
    mf_Recording *recording = &fixture->recording;
    record(fixture, &film);
    const char *const picture = recording->picture;
    const char *const bad[] = {"{",
                               "[1]",
                               "{}",
                               "{\"casts\":[{\"robots\":-1,\"links\":1}]}",
                               "{\"casts\":[{\"robots\":4294967294,\"links\":4294967294}]}",
                               "{\"casts\":7,\"clouds\":{\"a\":1},\"joints\":99999}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        recording->picture = bad[i];
        MUST_FAIL(mf_film_write_recording(recording, PAGE, &error), MF_BAD_FILE,
                  "do not fit together");
    }
    recording->picture = "";
    MUST_FAIL(mf_film_write_recording(recording, PAGE, &error), MF_UNSUPPORTED, "record it again");
    recording->picture = picture;
    recording->samples = 0;
    MUST_FAIL(mf_film_write_recording(recording, PAGE, &error), MF_UNSUPPORTED, "");
    MUST_FAIL(mf_film_write_recording(NULL, PAGE, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_film_recording_page(fixture->context, NULL, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_film_text(film, NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_film_viewer_page(NULL, "", NULL, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_film_record(NULL, "", NULL, NULL, NULL, NULL, &error), MF_BAD_ARGUMENT, "");
}

static mf_Status record_and_write(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    mf_RecorderPicture picture;
    AUTO_FILM *film = NULL;
    unlink(PAGE);
    mf_Status status = mf_film_record(fixture->world, "balls", NULL, NULL, &film, &picture, error);
    if (status == MF_OK)
        status = mf_film_write_recording(&fixture->recording, PAGE, error);
    assert_int_equal(access(PAGE, F_OK) == 0, status == MF_OK);
    return status;
}

TEST_ON_WITH(nothing_is_lost_when_calls_fail, Fixture *fixture, set_up, tear_down) {
    AUTO_FILM *film;
    record(fixture, &film); // worlds keep what poses need
    assert_true(torture(fixture->context, record_and_write, fixture, TORTURE_MUST_FAIL) > 10);
}
