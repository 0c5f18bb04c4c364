// Recordings: what a recorder wrote, in both formats, is read back equal; files that were cut off,
// damaged or written by others give an error of one line or what is whole of them.
#include "rig/rig.h"
#include "record/compress.h"

#include <signal.h>
#include <sys/resource.h>

enum { ROBOTS = 18, FRAME = 9 };

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *groups[2];
    const char *path;
} Fixture;

static const char *const paths[] = {"recording.test.h5", "recording.test.mcap"};
static const char copy_path[] = "recording.copy.mcap";

static mf_Model *pendulum(mf_Context *context) {
    AUTO_BUILDER *builder = NULL;
    mf_Model *model = NULL;
    const double top[3] = {0, 0, 1}, end[3] = {0, 0, 0.5}, axis[3] = {0, 1, 0}, half[3] = {0, 0, 0};
    MUST(mf_builder_create(context, "pendulum", &builder, &error));
    mf_BodyId head = mf_body_create_sphere(builder, top, 0.1, 1.0, NULL);
    mf_BodyId arm = mf_body_create_cylinder(builder, top, end, 0.02, 0.5, NULL);
    mf_joint_create_hinge(builder, head, arm, half, axis,
                          &WITH(mf_hinge_config(), .name = "shoulder"));
    MUST(mf_builder_finalize(builder, &model, &error));
    return model;
}

static void build_world(Fixture *fixture) {
    fixture->world = open_world(fixture->context, &WITH(mf_world_config(), .seed = UINT64_MAX - 5));
    for (int g = 0; g < 2; g++) {
        fixture->groups[g] =
            add_group(fixture->world, &WITH(mf_group_config(), .model = fixture->model,
                                            .name = g == 0 ? "left" : "right-1", .count = ROBOTS,
                                            .double_precision = g == 1, .isolated = false));
        double position[6], rotation[8]; // what link poses need is made once per group
        MUST(mf_group_link_poses(fixture->groups[g], 0, 1, position, rotation, &error));
    }
}

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->context = open_context(1);
    fixture->model = pendulum(fixture->context);
    build_world(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
    unlink(copy_path);
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
    free(fixture);
    return 0;
}
#define TEST_OF_RECORDS(name) TEST_ON_WITH(name, Fixture *fixture, set_up, tear_down)

static void end_recording(mf_Recording **recording) {
    mf_recording_destroy(*recording);
}
#define AUTO_RECORDING AUTO(end_recording) mf_Recording

static mf_Recording *open_recording(const Fixture *fixture) {
    mf_Recording *recording;
    MUST(mf_recording_open(fixture->context, fixture->path, 0, &recording, &error));
    return recording;
}

static double value_of(int group, uint32_t sample, uint32_t instance, uint32_t component) {
    return 0.5 * group + sample + 0.01 * instance + 0.001 * component;
}

static void set_values(Fixture *fixture, uint32_t sample) {
    for (int g = 0; g < 2; g++)
        for (uint32_t i = 0; i < ROBOTS; i++) {
            for (uint32_t c = 0; c < 3; c++)
                set_field(fixture->groups[g], "base.position", i, c, value_of(g, sample, i, c));
            set_field(fixture->groups[g], "joint.angle", i, 0, value_of(g, sample, i, 7));
            set_field(fixture->groups[g], "fault.count", i, 0, 100.0 * sample + i);
        }
}

static void take_frame(float *frame, void *user) {
    uint32_t *calls = user;
    for (uint32_t i = 0; i < FRAME; i++)
        frame[i] = (float)(*calls * 10 + i);
    ++*calls;
}

static const char description[] = "{\"casts\":[],\"note\":\"caf\xc3\xa9\"}";
static const char *const names[] = {"base.position", "joint.angle", "fault.count", NULL};

// `alone`: of the first group, else of all.
static mf_Status record(Fixture *fixture, bool alone, uint32_t samples, mf_Error *error) {
    uint32_t calls = 0;
    mf_RecorderPicture picture = {
        .description = description, .size = FRAME, .take = take_frame, .user = &calls};
    mf_RecorderConfig config =
        WITH(mf_recorder_config(), .path = fixture->path, .fields = names,
             .attributes = "{\"by\":\"a test\"}", .scene = "name: x\n", .picture = &picture);
    mf_Recorder *recorder = NULL;
    mf_Status status = alone ? mf_recorder_create(fixture->groups[0], &config, &recorder, error)
                             : mf_recorder_create_all(fixture->world, &config, &recorder, error);
    for (uint32_t s = 0; s < samples && status == MF_OK; s++) {
        set_values(fixture, s);
        status = mf_recorder_sample(recorder, error);
        mf_world_step(fixture->world, 10);
    }
    if (status == MF_OK)
        return mf_recorder_close(recorder, error);
    mf_recorder_destroy(recorder);
    return status;
}

static void record_well(Fixture *fixture, bool alone, uint32_t samples) {
    mf_world_destroy(fixture->world);
    build_world(fixture);
    MUST(record(fixture, alone, samples, &error));
}

static const mf_RecordedField *find(const mf_Recording *recording, const char *prefix,
                                    const char *field) {
    const char *name = formatted("%s%s", prefix, field);
    for (uint32_t i = 0; i < recording->field_count; i++)
        if (strcmp(recording->fields[i].name, name) == 0)
            return &recording->fields[i];
    fail_msg("%s was not recorded", name);
    return NULL;
}

static double value_at(const mf_RecordedField *field, uint32_t sample, uint32_t instance,
                       uint32_t component) {
    const size_t i = ((size_t)sample * field->count + instance) * field->components + component;
    switch (field->type) {
    case MF_F32:
        return (double)((const float *)field->values)[i];
    case MF_F64:
        return ((const double *)field->values)[i];
    default:
        return (double)((const uint32_t *)field->values)[i];
    }
}

static void check_group(const mf_Recording *recording, int group, const char *prefix) {
    const mf_RecordedField *position = find(recording, prefix, "base.position");
    assert_string_equal(position->unit, "m");
    assert_string_equal(position->frame, "world");
    assert_string_equal(position->description, "origin of the base link");
    assert_int_equal(position->type, group == 0 ? MF_F32 : MF_F64);
    assert_int_equal(position->count, ROBOTS);
    assert_int_equal(position->components, 3);
    const mf_RecordedField *angle = find(recording, prefix, "joint.angle");
    const mf_RecordedField *count = find(recording, prefix, "fault.count");
    assert_int_equal(count->type, MF_U32);
    for (uint32_t s = 0; s < recording->samples; s++)
        for (uint32_t i = 0; i < ROBOTS; i++) {
            for (uint32_t c = 0; c < 3; c++) {
                const double value = value_of(group, s, i, c);
                assert_true(value_at(position, s, i, c) ==
                            (group == 0 ? (double)(float)value : value));
            }
            const double value = value_of(group, s, i, 7);
            assert_true(value_at(angle, s, i, 0) == (group == 0 ? (double)(float)value : value));
            assert_true(value_at(count, s, i, 0) == 100.0 * s + i);
        }
}

static void check_head(const mf_Recording *recording, uint32_t samples) {
    assert_string_equal(recording->version, mf_version());
    assert_true(recording->complete);
    assert_true(recording->seed == UINT64_MAX - 5);
    assert_true(recording->step == 0.01);
    assert_string_equal(recording->run, "{\"by\":\"a test\"}");
    assert_string_equal(recording->scene, "name: x\n");
    assert_string_equal(recording->picture, description);
    assert_int_equal(recording->samples, samples);
    assert_int_equal(recording->frame_size, FRAME);
    for (uint32_t s = 0; s < samples; s++) {
        assert_true(recording->time[s] == (double)(s * 100000000ull) / 1e9);
        for (uint32_t i = 0; i < FRAME; i++)
            assert_true(recording->frames[s * FRAME + i] == (float)(s * 10 + i));
    }
}

// ---- tests -------------------------------------------------------------------------------------

TEST_OF_RECORDS(both_formats_give_back_what_was_recorded) {
    static const char *const kinds[] = {"HDF5", "MCAP"};
    for (int k = 0; k < 2; k++) {
        fixture->path = paths[k];
        record_well(fixture, false, 60); // several chunks
        AUTO_RECORDING *recording = open_recording(fixture);
        assert_string_equal(recording->kind, kinds[k]);
        assert_string_equal(recording->compression, k == 1 ? mf_compress_name() : "deflate");
        assert_int_equal(recording->field_count, 6);
        check_head(recording, 60);
        assert_string_equal(recording->model, "");
        check_group(recording, 0, "left/");
        check_group(recording, 1, "right-1/");
        record_well(fixture, true, 3);
        AUTO_RECORDING *alone = open_recording(fixture);
        check_head(alone, 3);
        assert_string_equal(alone->model, "pendulum");
        assert_string_equal(alone->group, "left");
        check_group(alone, 0, "");
        record_well(fixture, true, 0);
        AUTO_RECORDING *empty = open_recording(fixture);
        assert_int_equal(empty->samples, 0);
    }
}

// Whatever a file holds: an error with a line, or a recording.
static mf_Recording *open_any(Fixture *fixture, const char *path) {
    mf_Recording *recording;
    mf_Error error = {0};
    mf_Status status = mf_recording_open(fixture->context, path, 1 << 24, &recording, &error);
    assert_int_equal(status == MF_OK, recording != NULL);
    if (status != MF_OK)
        assert_true(error.message[0] != '\0' && strchr(error.message, '\n') == NULL);
    return recording;
}

// A killed run: the file ends anywhere.
TEST_OF_RECORDS(what_is_whole_of_a_cut_file_is_read) {
    fixture->path = paths[1];
    record_well(fixture, false, 60);
    size_t size;
    AUTO(end_memory) char *data = file_get(paths[1], &size);
    uint32_t before = 0;
    bool grew = false;
    for (size_t length = 0; length < size; length += 997) {
        file_put(copy_path, data, length);
        AUTO_RECORDING *recording = open_any(fixture, copy_path);
        if (recording == NULL)
            continue;
        assert_true(recording->samples >= before);
        grew = grew || (before > 0 && recording->samples > before);
        before = recording->samples;
        assert_false(recording->complete);
        if (recording->samples > 0)
            check_group(recording, 1, "right-1/");
    }
    assert_true(grew);
    assert_true(before >= 50);
}

// HDF5's library 1.10 ends the program, or takes gigabytes, for texts and indices that are damaged,
// and does not free a node of a list (56 bytes) of one damaged file in these 420 which it reads.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libhdf5";
}

TEST_OF_RECORDS(damaged_files_harm_nothing) {
    for (int k = 0; k < 2; k++) {
        fixture->path = paths[k];
        record_well(fixture, false, 3);
        size_t size;
        AUTO(end_memory) char *data = file_get(paths[k], &size);
        for (uint32_t round = 0; round < (k == 0 ? 120u : 300u); round++) {
            AUTO(end_memory) char *bad = malloc(size);
            memcpy(bad, data, size);
            for (uint32_t i = 0; i <= round % 8; i++) {
                uint32_t word[4];
                mf_random(7, round, 0, i, word);
                bad[word[0] % size] = (char)word[1];
            }
            for (size_t at = 0; k == 0 && round < 40 && at + 24 < size; at++)
                if (memcmp(bad + at, "GCOL", 4) == 0) // of the texts: their heap
                    bad[at + 8 + round % 16] = (char)(round % 3 == 0 ? -1 : 7 * (int)round);
            file_put(copy_path, bad, size);
            mf_recording_destroy(open_any(fixture, copy_path));
        }
    }
}

// ---- compressed chunks -------------------------------------------------------------------------

enum { CHUNK = 6, HEAD = 9 };              // opcode; [byte] of a record's head
enum { CHUNK_HEAD = 40 + 4 };              // [byte] of a chunk's head with "zstd"
enum { BOMB = 1 << 26, LENGTH = 1 << 24 }; // [byte] that a chunk expands to, and that are allowed

// [byte] Where the first record of that kind begins.
static size_t find_record(const char *data, size_t size, int opcode) {
    size_t at = 8;
    while (at < size && data[at] != opcode) {
        uint64_t length;
        memcpy(&length, data + at + 1, sizeof length);
        at += HEAD + length;
    }
    assert_true(at < size);
    return at;
}

// Opens what stands in front of the first chunk, and a chunk of `frame`, which is said to expand to
// `size` bytes.
static mf_Status open_chunk(Fixture *fixture, const char *compression, const mf_Text *frame,
                            uint64_t size, mf_Error *error) {
    size_t whole;
    AUTO(end_memory) char *data = file_get(paths[1], &whole);
    const size_t begin = find_record(data, whole, CHUNK);
    AUTO(mf_text_free) mf_Text file = mf_text_begin(fixture->context);
    const uint32_t letters = (uint32_t)strlen(compression);
    const uint64_t packed = frame->size, length = CHUNK_HEAD - 4 + letters + packed, zero[3] = {0};
    mf_text_put_bytes(&file, data, begin);
    mf_text_put_bytes(&file, (const char[]){CHUNK}, 1);
    mf_text_put_bytes(&file, (const char *)&length, 8);
    mf_text_put_bytes(&file, (const char *)zero, 16);
    mf_text_put_bytes(&file, (const char *)&size, 8);
    mf_text_put_bytes(&file, (const char *)zero, 4); // no checksum
    mf_text_put_bytes(&file, (const char *)&letters, 4);
    mf_text_put(&file, compression);
    mf_text_put_bytes(&file, (const char *)&packed, 8);
    mf_text_put_bytes(&file, frame->data, frame->size);
    assert_false(file.failed);
    file_put(copy_path, file.data, file.size);
    AUTO_RECORDING *recording = NULL;
    return mf_recording_open(fixture->context, copy_path, LENGTH, &recording, error);
}

TEST_OF_RECORDS(a_bad_compressed_chunk_is_an_error) {
    fixture->path = paths[1];
    record_well(fixture, false, 3);
    if (mf_compress_name()[0] == '\0')
        skip();
    AUTO(end_memory) char *zeros = calloc(BOMB, 1);
    AUTO(mf_text_free) mf_Text frame = mf_text_begin(fixture->context);
    mf_compress(&frame, zeros, 1000);
    MUST_FAIL(open_chunk(fixture, "lz4", &frame, 1000, &error), MF_BAD_FILE,
              "by another method than zstd");
    const uint64_t wrong[] = {0, 999, 1001, UINT64_C(1) << 40, UINT64_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        MUST_FAIL(open_chunk(fixture, "zstd", &frame, wrong[i], &error), MF_BAD_FILE,
                  "does not hold what its head says");
    }
    frame.size -= 2;
    MUST_FAIL(open_chunk(fixture, "zstd", &frame, 1000, &error), MF_BAD_FILE, "cannot be expanded");
    mf_compress(&frame, zeros, BOMB);
    assert_true(frame.size < BOMB / 1000);
    const size_t before = mf_context_live_bytes(fixture->context);
    MUST_FAIL(open_chunk(fixture, "zstd", &frame, BOMB, &error), MF_LIMIT,
              "expands to more than 0.0168 GB");
    assert_int_equal(mf_context_live_bytes(fixture->context), before);
}

TEST_OF_RECORDS(chunks_are_smaller_by_compression) {
    fixture->path = paths[1];
    record_well(fixture, false, 60);
    size_t size, at;
    AUTO(end_memory) char *data = file_get(paths[1], &size);
    at = find_record(data, size, CHUNK) + HEAD;
    uint64_t records, packed;
    uint32_t letters;
    memcpy(&records, data + at + 16, sizeof records);
    memcpy(&letters, data + at + 28, sizeof letters);
    memcpy(&packed, data + at + 32 + letters, sizeof packed);
    assert_int_equal(letters, strlen(mf_compress_name()));
    assert_true(letters == 0 ? packed == records : packed < records / 2);
}

static void put_number(char *data, size_t size, const char *key, char digit) {
    for (size_t i = 0; i + strlen(key) + 5 < size; i++)
        if (memcmp(data + i, key, strlen(key)) == 0) {
            data[i + strlen(key) + 4] = digit; // behind the length of the text
            return;
        }
    fail_msg("%s is not in the file", key);
}

TEST_OF_RECORDS(what_is_no_recording_is_named) {
    mf_Recording *recording;
    MUST_FAIL(mf_recording_open(fixture->context, "none.mcap", 0, &recording, &error), MF_NOT_FOUND,
              "");
    file_put(copy_path, "hello", 5);
    MUST_FAIL(mf_recording_open(fixture->context, copy_path, 0, &recording, &error), MF_BAD_FILE,
              "not a recording: expected a file that mayfly run");
    fixture->path = paths[1];
    record_well(fixture, true, 3);
    size_t size;
    AUTO(end_memory) char *data = file_get(paths[1], &size);
    put_number(data, size, "recording", '7');
    file_put(copy_path, data, size);
    MUST_FAIL(mf_recording_open(fixture->context, copy_path, 0, &recording, &error), MF_VERSION,
              "this version reads format 1");
    MUST_FAIL(mf_recording_open(fixture->context, paths[1], 100, &recording, &error), MF_LIMIT, "");
    MUST_FAIL(mf_recording_open(NULL, paths[1], 0, &recording, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_recording_open(fixture->context, paths[1], 0, NULL, &error), MF_BAD_ARGUMENT, "");
    mf_recording_destroy(NULL);
}

TEST_OF_RECORDS(a_full_disk_is_an_error) {
    struct rlimit before;
    mf_Error error = {0};
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    fixture->path = paths[1];
    for (rlim_t size = 0; size <= 100000; size += 50000) {
        setrlimit(RLIMIT_FSIZE, &WITH(before, .rlim_cur = size));
        const mf_Status status = record(fixture, false, 60, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(status, MF_IO);
        assert_string_equal(error.message, "cannot write: File too large");
        assert_int_equal(access(paths[1], F_OK), size > 0 ? 0 : -1);
        AUTO_RECORDING *recording = size > 0 ? open_any(fixture, paths[1]) : NULL;
        assert_true(size == 0 || (recording != NULL && recording->samples > 0));
        unlink(paths[1]);
    }
}

static mf_Status record_some(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    unlink(fixture->path);
    const mf_Status status = record(fixture, false, 12, error);
    assert_int_equal(access(fixture->path, F_OK) == 0, status == MF_OK);
    return status;
}

static mf_Status read_some(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    AUTO_RECORDING *recording;
    const mf_Status status = mf_recording_open(context, fixture->path, 0, &recording, error);
    assert_int_equal(status == MF_OK, recording != NULL);
    return status;
}

TEST_OF_RECORDS(every_failing_call_is_an_error) {
    for (int k = 1; k >= 0; k--) {
        fixture->path = paths[k];
        if (k == 1)
            assert_true(torture(fixture->context, record_some, fixture, TORTURE_MUST_FAIL) > 30);
        record_well(fixture, false, 3);
        assert_true(torture(fixture->context, read_some, fixture, TORTURE_MUST_FAIL) > 10);
    }
}
