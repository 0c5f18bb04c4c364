// What programs draw: layers and controls of a world, their bounds, and that films and recordings
// in both formats show each change at its time; hashes and snapshots know nothing of it.
#include "rig/rig.h"

#include "view/ball.h"
#include "view/film_page.h"
#include "visual/draw.h"

enum { LINKS = 2, NUMBERS = 3 };

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Fixture;

static const char *const paths[] = {"drawn.test.h5", "drawn.test.mcap", "drawn.test.html"};

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->context = open_context(1);
    fixture->model = ball_with_arm(fixture->context, "ball");
    fixture->world = open_world(fixture->context, NULL);
    fixture->group = add_group(fixture->world, &WITH(mf_group_config(), .model = fixture->model,
                                                     .name = "balls", .count = 3));
    MUST(rig_add_articulated(fixture->group, NULL, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    for (int i = 0; i < 3; i++)
        unlink(paths[i]);
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
    free(fixture);
    return 0;
}
#define TEST_OF_DRAWINGS(name) TEST_ON_WITH(name, Fixture *fixture, set_up, tear_down)

static float zero_number(const void *film, const mf_Group *group, uint32_t robot) {
    return (float)robot;
}

// The records after `since`; the caller frees them.
static uint8_t *pack(const mf_World *world, uint64_t since, size_t *size, uint64_t *last) {
    *size = mf_draw_pack(world, since, zero_number, NULL, NULL, 0, last);
    uint8_t *out = calloc(1, *size + 1);
    assert_int_equal(mf_draw_pack(world, since, zero_number, NULL, out, *size, last), *size);
    return out;
}

static mf_DrawnRecord record_at(const uint8_t *records, size_t at) {
    mf_DrawnRecord out;
    memcpy(&out, records + at, sizeof out);
    return out;
}

static void point(mf_World *world, const char *layer, float x) {
    const float at[NUMBERS] = {x, 0, 1};
    MUST(mf_draw(world, layer, &(mf_Drawing){.numbers = at, .count = NUMBERS}, &error));
}

// ---- layers ------------------------------------------------------------------------------------

TEST_OF_DRAWINGS(test_a_layer_is_drawn_replaced_and_cleared) {
    mf_World *world = fixture->world;
    uint64_t first, last;
    size_t size;
    assert_int_equal(mf_draw_serial(world), 0);
    point(world, "a", 1);
    point(world, "b", 2);
    AUTO(end_memory) uint8_t *all = pack(world, 0, &size, &first);
    mf_DrawnRecord head = record_at(all, 0);
    float x;
    assert_int_equal(head.kind, MF_DRAW_POINTS);
    assert_int_equal(head.count, NUMBERS);
    assert_int_equal(head.robot, -1);
    assert_int_equal(head.name_size, 1);
    memcpy(&x, all + sizeof head, sizeof x);
    assert_true(x == 1.0f);
    assert_int_equal(all[sizeof head + sizeof(float[NUMBERS])], 'a');
    assert_int_equal(2 * head.size, size);
    // Only what has changed since.
    point(world, "a", 3);
    AUTO(end_memory) uint8_t *next = pack(world, first, &size, &last);
    assert_int_equal(size, head.size);
    assert_int_equal(record_at(next, 0).slot, head.slot);
    memcpy(&x, next + sizeof head, sizeof x);
    assert_true(x == 3.0f);
    mf_draw_clear(world, "b");
    AUTO(end_memory) uint8_t *gone = pack(world, last, &size, &last);
    assert_int_equal(record_at(gone, 0).kind, MF_DRAW_CLEARED);
    assert_int_equal(record_at(gone, 0).size, size);
    mf_draw_clear(world, NULL);
    mf_draw_clear(world, "never was");
}

TEST_OF_DRAWINGS(test_what_does_not_fit_is_refused_in_a_line) {
    static const float some[12] = {0, 0, 0, 1, 0, 0, 0};
    static const float bad[NUMBERS] = {0, NAN, 0};
    mf_World *world = fixture->world;
#define REFUSE(status, part, values, ...)                                                          \
    MUST_FAIL(mf_draw(world, "x", &(mf_Drawing){.numbers = values, __VA_ARGS__}, &error), status,  \
              part)
    REFUSE(MF_BAD_ARGUMENT, "3 for each point, found 4", some, .count = 4);
    REFUSE(MF_BAD_ARGUMENT, "6 for each arrow", some, .kind = MF_DRAW_ARROWS, .count = 3);
    REFUSE(MF_BAD_ARGUMENT, "expected a text", some, .kind = MF_DRAW_TEXT, .count = 3);
    REFUSE(MF_BAD_ARGUMENT, "group that the ghost is like", some, .kind = MF_DRAW_GHOST,
           .count = 7);
    REFUSE(MF_BAD_ARGUMENT, "or 8 with its joints, found 9", some, .kind = MF_DRAW_GHOST,
           .count = 9, .group = fixture->group);
    REFUSE(MF_BAD_ARGUMENT, "of length 1", some + 1, .kind = MF_DRAW_GHOST, .count = 7,
           .group = fixture->group);
    REFUSE(MF_NOT_FOUND, "3 robots of 2 links, found robot 3", some, .count = 3, .robot = 3,
           .group = fixture->group);
    REFUSE(MF_BAD_ARGUMENT, "finite", bad, .count = 3);
    REFUSE(MF_BAD_ARGUMENT, "no such kind", some, .kind = MF_DRAW_KINDS);
    REFUSE(MF_LIMIT, "at most 262144 numbers", some, .count = MF_DRAW_NUMBERS + 1);
    const mf_Drawing line = {.kind = MF_DRAW_LINES, .numbers = bad, .count = 3};
    MUST(mf_draw(world, "gap", &line, &error)); // NAN ends a line
    MUST_FAIL(mf_draw(world, "", &line, &error), MF_BAD_ARGUMENT, "name of the layer");
}

TEST_OF_DRAWINGS(test_memory_is_bounded) {
    enum { EACH = MF_DRAW_NUMBERS / 3 * 3, FIT = MF_DRAW_BYTES / (4 * EACH) };
    AUTO(end_memory) float *many = calloc(EACH, sizeof *many);
    const mf_Drawing large = {.numbers = many, .count = EACH};
    char name[16] = "";
    for (int i = 0; i < FIT; i++) {
        snprintf(name, sizeof name, "large %d", i);
        MUST(mf_draw(fixture->world, name, &large, &error));
    }
    MUST_FAIL(mf_draw(fixture->world, "more", &large, &error), MF_LIMIT, "clear some");
    MUST(mf_draw(fixture->world, name, &large, &error)); // in place of itself
    mf_draw_clear(fixture->world, name);
    MUST(mf_draw(fixture->world, "more", &large, &error));
    mf_draw_clear(fixture->world, NULL);
    for (int i = 0; i < MF_DRAW_LAYERS; i++) {
        snprintf(name, sizeof name, "%d", i);
        point(fixture->world, name, 0);
    }
    MUST_FAIL(mf_draw(fixture->world, "more", &(mf_Drawing){.count = 0}, &error), MF_LIMIT,
              "256 layers already");
}

// A ghost is where the robot would be: its links by the same kinematics.
TEST_OF_DRAWINGS(test_a_ghost_has_the_poses_of_links) {
    const float pose[8] = {1, 2, 3, 0.6f, 0, 0, 0.8f, 0.4f};
    double position[3 * LINKS], rotation[4 * LINKS], state[8];
    uint64_t last;
    size_t size;
    mf_Field *base = mf_group_find_field(fixture->group, "base.position");
    mf_Field *turn = mf_group_find_field(fixture->group, "base.orientation");
    for (uint32_t c = 0; c < 8; c++)
        state[c] = (double)pose[c];
    for (uint32_t c = 0; c < 7; c++)
        mf_field_set(c < 3 ? base : turn, 1, c < 3 ? c : c - 3, state[c]);
    mf_field_set(mf_group_find_field(fixture->group, "joint.angle"), 1, 0, state[7]);
    mf_group_refresh(fixture->group, 1);
    MUST(mf_group_link_poses(fixture->group, 1, 1, position, rotation, &error));
    const mf_Drawing ghost = {
        .kind = MF_DRAW_GHOST, .group = fixture->group, .numbers = pose, .count = 8};
    MUST(mf_draw(fixture->world, "ghost", &ghost, &error));
    AUTO(end_memory) uint8_t *records = pack(fixture->world, 0, &size, &last);
    float links[7 * LINKS];
    assert_int_equal(record_at(records, 0).count, 7 * LINKS);
    memcpy(links, records + sizeof(mf_DrawnRecord), sizeof links);
    for (int l = 0; l < LINKS; l++)
        for (int c = 0; c < 7; c++)
            assert_true(fabs((double)links[7 * l + c] -
                             (c < 3 ? position[3 * l + c] : rotation[4 * l + c - 3])) < 1e-6);
}

// ---- controls ----------------------------------------------------------------------------------

TEST_OF_DRAWINGS(test_what_people_move_comes_to_the_program) {
    mf_World *world = fixture->world;
    const mf_Control slider = {.kind = MF_CONTROL_SLIDER, .name = "gain", .high = 2, .value = 1};
    const mf_Control button = {.kind = MF_CONTROL_BUTTON, .name = "kick"};
    uint32_t number;
    double value;
    MUST(mf_control(world, 3, &slider, &error));
    MUST(mf_control(world, 5, &button, &error));
    assert_false(mf_control_changed(world, &number, &value));
    assert_true(mf_control_move(world, 0, 7.0)); // beyond its end
    assert_true(mf_control_move(world, 1, 1.0));
    assert_true(mf_control_move(world, 1, 1.0));
    assert_true(mf_control_changed(world, &number, &value));
    assert_int_equal(number, 3);
    assert_true(value == 2.0);
    assert_true(mf_control_changed(world, &number, &value));
    assert_int_equal(number, 5);
    assert_true(value == 2.0); // pressed twice
    assert_false(mf_control_changed(world, &number, &value));
    MUST(mf_control(world, 5, NULL, &error));
    assert_false(mf_control_move(world, 1, 1.0));
    assert_false(mf_control_move(world, 9999, 1.0));
    MUST_FAIL(mf_control(world, 0, &WITH(slider, .low = 2), &error), MF_BAD_ARGUMENT, "low < high");
    MUST_FAIL(mf_control(world, 0, &WITH(slider, .value = 3), &error), MF_BAD_ARGUMENT,
              "a value of 0 .. 2, found 3");
    MUST_FAIL(mf_control(world, 64, &slider, &error), MF_LIMIT, "0 .. 63");
}

// ---- the world, films and recordings -----------------------------------------------------------

TEST_OF_DRAWINGS(test_the_world_knows_nothing_of_it) {
    const size_t size = mf_world_snapshot_size(fixture->world);
    mf_world_step(fixture->world, 5);
    const uint64_t before = mf_world_hash(fixture->world);
    AUTO(end_memory) void *image = calloc(1, size);
    MUST(mf_world_snapshot(fixture->world, image, size, &error));
    mf_world_step(fixture->world, 20);
    const uint64_t plain = mf_world_hash(fixture->world);
    MUST(mf_world_restore(fixture->world, image, size, &error));
    point(fixture->world, "a", 1);
    assert_true(mf_world_hash(fixture->world) == before);
    assert_int_equal(mf_world_snapshot_size(fixture->world), size);
    for (int i = 0; i < 20; i++) {
        point(fixture->world, "a", (float)i);
        mf_world_step(fixture->world, 1);
    }
    assert_true(mf_world_hash(fixture->world) == plain);
}

// The records of a page's script, inflated; the caller frees them.
static uint8_t *records_of(const char *page, size_t *size) {
    size_t packed_size;
    AUTO(end_memory) char *base64 = element(page, "drawn");
    AUTO(end_memory) uint8_t *packed = decode(base64, &packed_size);
    uLongf most = 1 << 20;
    uint8_t *out = calloc(1, most);
    assert_int_equal(uncompress(out, &most, packed, packed_size), Z_OK);
    *size = most;
    return out;
}

// Three changes: drawn at once, replaced at the third sample, cleared at the fifth.
static void change(mf_World *world, int sample) {
    if (sample == 0)
        point(world, "a", 10);
    if (sample == 2)
        point(world, "a", 12);
    if (sample == 4)
        mf_draw_clear(world, NULL);
}

static void check_records(const char *page, double period) {
    static const int samples[] = {0, 2, 4};
    static const uint32_t kinds[] = {MF_DRAW_POINTS, MF_DRAW_POINTS, MF_DRAW_CLEARED};
    size_t size, at = 0;
    AUTO(end_memory) uint8_t *records = records_of(page, &size);
    for (int i = 0; i < 3; i++, at += record_at(records, at).size) {
        const mf_DrawnRecord head = record_at(records, at);
        assert_int_equal(head.kind, kinds[i]);
        assert_true(fabs(head.time - samples[i] * period) < 1e-9);
    }
    assert_int_equal(at, size);
}

TEST_OF_DRAWINGS(test_films_show_each_change_at_its_time) {
    mf_Film *film = NULL;
    AUTO(end_memory) char *page = NULL;
    const double step = mf_time_to_seconds(mf_world_config_of(fixture->world)->step);
    MUST(mf_film_create_world(fixture->world, "balls", NULL, step, &film, &error));
    for (int i = 0; i < 6; i++) {
        change(fixture->world, i);
        mf_film_sample(film);
        mf_world_step(fixture->world, 1);
    }
    char *text = NULL;
    MUST(mf_film_text(film, &text, &error));
    page = strdup(text);
    mf_release(fixture->context, text);
    mf_film_destroy(film);
    check_records(page, step);
}

static void record(Fixture *fixture, const char *path) {
    mf_RecorderPicture picture;
    mf_Film *film = NULL;
    mf_Recorder *recorder = NULL;
    MUST(mf_film_record(fixture->world, "balls", NULL, NULL, &film, &picture, &error));
    const mf_RecorderConfig config = WITH(mf_recorder_config(), .path = path, .picture = &picture);
    MUST(mf_recorder_create_all(fixture->world, &config, &recorder, &error));
    MUST(mf_control(fixture->world, 0,
                    &(mf_Control){.kind = MF_CONTROL_BUTTON, .name = "not recorded"}, &error));
    for (int i = 0; i < 6; i++) {
        change(fixture->world, i);
        MUST(mf_recorder_sample(recorder, &error));
        mf_world_step(fixture->world, 1);
    }
    MUST(mf_recorder_close(recorder, &error));
    mf_film_destroy(film);
}

TEST_OF_DRAWINGS(test_recordings_show_each_change_at_its_time) {
    const double step = mf_time_to_seconds(mf_world_config_of(fixture->world)->step);
    for (int i = 0; i < 2; i++) {
        mf_Recording *recording = NULL;
        char *text = NULL;
        record(fixture, paths[i]);
        MUST(mf_recording_open(fixture->context, paths[i], 0, &recording, &error));
        assert_int_equal(recording->samples, 6);
        MUST(mf_film_recording_page(fixture->context, recording, &text, &error));
        check_records(text, step);
        mf_release(fixture->context, text);
        mf_recording_destroy(recording);
    }
}
