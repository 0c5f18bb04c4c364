// Recorders: records contain the values of the fields, with units; a file that could not be
// completed is removed.
#include "record/h5.h"

#include <signal.h>
#include <sys/resource.h>

// A world with one group of a one-link robot and two fields of our own.
typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    char folder[64];
    char path[128];
} Fixture;

enum { ROBOTS = 21 }; // more than one block, the last one not full

static void build_world(Fixture *fixture) {
    AUTO_BUILDER *builder = NULL;
    MUST(mf_builder_create(fixture->context, "ball", &builder, &error));
    mf_body_create_sphere(builder, (double[3]){0, 0, 0}, 0.1, 1.0, NULL);
    MUST(mf_builder_finalize(builder, &fixture->model, &error));
    fixture->world = open_world(fixture->context, &WITH(mf_world_config(), .seed = 42));
    fixture->group = add_group(fixture->world,
                               &WITH(mf_group_config(), .model = fixture->model, .count = ROBOTS));
    static const mf_FieldInfo wide = {"test.wide",    "m/s", "body", MF_F64,
                                      MF_FIXED_COUNT, 2,     0,      "two by two, caf\xc3\xa9"};
    static const mf_FieldInfo whole = {"test.whole", "1", "", MF_I32, MF_PER_INSTANCE, 1, 0, "n"};
    mf_Field *field;
    MUST(mf_group_add_field(fixture->group, &wide, 2, &field, &error));
    MUST(mf_group_add_field(fixture->group, &whole, 0, &field, &error));
}

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    fixture->context = open_context(1);
    build_world(fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/mayfly-record-XXXXXX");
    if (mkdtemp(fixture->folder) == NULL)
        return -1;
    snprintf(fixture->path, sizeof fixture->path, "%s/run.h5", fixture->folder);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    unlink(fixture->path);
    const unsigned left = count_files(fixture->folder);
    rmdir(fixture->folder);
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
    free(fixture);
    return left == 0 ? 0 : -1;
}
#define TEST_OF_RECORDS(name) TEST_ON_WITH(name, Fixture *fixture, set_up, tear_down)

// The value of everything at a sample, so that any mix-up shows.
static double value_of(int sample, uint32_t instance, uint32_t component) {
    return 1000.0 * sample + 10.0 * instance + component;
}

static void set_values(Fixture *fixture, int sample) {
    mf_Field *wide = mf_group_find_field(fixture->group, "test.wide");
    mf_Field *whole = mf_group_find_field(fixture->group, "test.whole");
    mf_Field *position = mf_group_find_field(fixture->group, "base.position");
    for (uint32_t i = 0; i < ROBOTS; i++) {
        for (uint32_t c = 0; c < 4; c++)
            mf_field_set(wide, i, c, value_of(sample, i, c) + 0.125);
        for (uint32_t c = 0; c < 3; c++)
            mf_field_set(position, i, c, value_of(sample, i, c));
        mf_field_set(whole, i, 0, -value_of(sample, i, 0));
    }
}

static const char *const test_fields[] = {"test.*", "base.position", NULL};

static mf_Status record(Fixture *fixture, mf_RecorderConfig config, int samples, mf_Error *error) {
    mf_Recorder *recorder = (mf_Recorder *)fixture;
    mf_Status status = mf_recorder_create(fixture->group, &config, &recorder, error);
    if (status != MF_OK) {
        assert_null(recorder);
        return status;
    }
    for (int sample = 0; sample < samples; sample++) {
        set_values(fixture, sample);
        status = mf_recorder_sample(recorder, error);
        if (status != MF_OK) {
            mf_recorder_destroy(recorder);
            return status;
        }
        mf_world_step(fixture->world, 1);
    }
    return mf_recorder_close(recorder, error);
}

static mf_RecorderConfig test_config(const Fixture *fixture) {
    return WITH(mf_recorder_config(), .path = fixture->path, .fields = test_fields,
                .attributes = "{\"name\": \"t\xc3\xa9st\"}");
}

// ---- reading back ------------------------------------------------------------------------------

static void read_text(hid_t object, const char *name, const char *expected) {
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    hid_t type = H5Aget_type(attribute);
    assert_int_equal(H5Tget_cset(type), H5T_CSET_UTF8);
    char *text = NULL;
    assert_true(H5Aread(attribute, type, &text) >= 0);
    assert_string_equal(text, expected);
    H5free_memory(text);
    H5Tclose(type);
    H5Aclose(attribute);
}

static hid_t open_with_unit(hid_t file, const char *name, int rank, const hsize_t *expected,
                            const char *unit) {
    const hid_t set = open_set(file, name, rank, expected);
    read_text(set, "unit", unit);
    return set;
}

static void check_wide(hid_t file, hsize_t samples, uint32_t first, hsize_t count) {
    AUTO_SET set = open_with_unit(file, "test.wide", 3, (hsize_t[]){samples, count, 4}, "m/s");
    read_text(set, "frame", "body");
    read_text(set, "description", "two by two, caf\xc3\xa9");
    read_text(set, "dimensions", "time, instance, component");
    AUTO(end_memory) double *values = read_set(set, H5T_NATIVE_DOUBLE);
    for (hsize_t s = 0; s < samples; s++)
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t c = 0; c < 4; c++)
                assert_true(values[(s * count + i) * 4 + c] ==
                            value_of((int)s, first + i, c) + 0.125);
}

static void check_others(hid_t file, hsize_t samples) {
    AUTO_SET wholes = open_with_unit(file, "test.whole", 3, (hsize_t[]){samples, ROBOTS, 1}, "1");
    AUTO(end_memory) int32_t *whole = read_set(wholes, H5T_NATIVE_INT32);
    hid_t type = H5Dget_type(wholes);
    assert_true(H5Tequal(type, H5T_STD_I32LE) > 0);
    H5Tclose(type);
    for (hsize_t s = 0; s < samples; s++)
        for (uint32_t i = 0; i < ROBOTS; i++)
            assert_int_equal(whole[s * ROBOTS + i], (int32_t)-value_of((int)s, i, 0));

    AUTO_SET places =
        open_with_unit(file, "base.position", 3, (hsize_t[]){samples, ROBOTS, 3}, "m");
    read_text(places, "frame", "world");
    AUTO(end_memory) float *position = read_set(places, H5T_NATIVE_FLOAT);
    for (hsize_t k = 0; k < samples * ROBOTS * 3; k++)
        assert_true(position[k] == (float)value_of((int)(k / (ROBOTS * 3)),
                                                   (uint32_t)(k / 3 % ROBOTS), (uint32_t)(k % 3)));

    AUTO_SET times = open_with_unit(file, "time", 1, &samples, "s");
    AUTO(end_memory) double *time = read_set(times, H5T_NATIVE_DOUBLE);
    for (hsize_t s = 0; s < samples; s++)
        assert_true(time[s] == (double)(s * 10000000) / 1e9);
}

static void check_attributes(hid_t file) {
    read_text(file, "version", mf_version());
    read_text(file, "model", "ball");
    read_text(file, "group", "robots");
    read_text(file, "run", "{\"name\": \"t\xc3\xa9st\"}");
    uint64_t seed = 0;
    double step = 0;
    hid_t attribute = H5Aopen(file, "seed", H5P_DEFAULT);
    assert_true(H5Aread(attribute, H5T_NATIVE_UINT64, &seed) >= 0);
    H5Aclose(attribute);
    attribute = H5Aopen(file, "step", H5P_DEFAULT);
    assert_true(H5Aread(attribute, H5T_NATIVE_DOUBLE, &step) >= 0);
    H5Aclose(attribute);
    assert_int_equal(seed, 42);
    assert_true(step == 0.01);
}

// ---- tests -------------------------------------------------------------------------------------

TEST_OF_RECORDS(what_is_written_reads_back) {
    // 1000 samples fill the buffers several times and end in the middle of one.
    static const int samples[] = {1000, 1, 0};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(mf_world_time(fixture->world), 0);
        MUST(record(fixture, test_config(fixture), samples[k], &error));
        assert_int_equal(count_files(fixture->folder), 1);
        AUTO_FILE file = open_file(fixture->path);
        check_attributes(file);
        if (samples[k] > 0) {
            check_wide(file, (hsize_t)samples[k], 0, ROBOTS);
            check_others(file, (hsize_t)samples[k]);
        }
        mf_world_destroy(fixture->world);
        mf_model_destroy(fixture->model);
        build_world(fixture);
    }
}

TEST_OF_RECORDS(some_instances_can_be_recorded_alone) {
    mf_RecorderConfig config = WITH(test_config(fixture), .first_instance = 14);
    config.instance_count = 5; // across the border of two blocks
    MUST(record(fixture, config, 300, &error));
    AUTO_FILE file = open_file(fixture->path);
    check_wide(file, 300, 14, 5);
}

TEST_OF_RECORDS(the_usual_fields_are_recorded_without_a_list) {
    mf_RecorderConfig config = WITH(mf_recorder_config(), .path = fixture->path);
    MUST(record(fixture, config, 2, &error));
    AUTO_FILE file = open_file(fixture->path);
    assert_true(H5Lexists(file, "base.position", H5P_DEFAULT) > 0);
    assert_true(H5Lexists(file, "base.orientation", H5P_DEFAULT) > 0);
    assert_true(H5Lexists(file, "time", H5P_DEFAULT) > 0);
    assert_int_equal(H5Lexists(file, "test.wide", H5P_DEFAULT), 0);
    assert_int_equal(H5Lexists(file, "joint.angle", H5P_DEFAULT), 0); // a ball has no joints
}

// One component of all robots, under the path that was asked for; constants are not for records.
TEST_OF_RECORDS(paths_are_recorded) {
    mf_RecorderConfig config = test_config(fixture);
    mf_Field *wide = mf_group_find_field(fixture->group, "test.wide");
    for (uint32_t i = 0; i < ROBOTS; i++)
        for (uint32_t c = 0; c < 4; c++)
            mf_field_set(wide, i, c, 10.0 * i + c);
    config.fields = (const char *const[]){"test.wide[2]", "base.position.z", NULL};
    config.first_instance = 15;
    MUST(record(fixture, config, 1, &error));
    AUTO_FILE file = open_file(fixture->path);
    AUTO_SET set = open_set(file, "test.wide[2]", 3, (hsize_t[]){1, ROBOTS - 15, 1});
    AUTO(end_memory) double *values = read_set(set, H5T_NATIVE_DOUBLE);
    for (uint32_t i = 0; i < ROBOTS - 15; i++)
        assert_true(values[i] == mf_field_get(wide, 15 + i, 2));
    assert_true(H5Lexists(file, "base.position[2]", H5P_DEFAULT) > 0);
    config.fields = (const char *const[]){"mass", NULL};
    MUST_FAIL(record(fixture, config, 1, &error), MF_BAD_ARGUMENT, "");
    config.fields = (const char *const[]){"nobody/joint.angle", NULL};
    MUST_FAIL(record(fixture, config, 1, &error), MF_NOT_FOUND, "no such link");
}

// The same values in two units are two data sets, each with its own.
TEST_OF_RECORDS(paths_may_name_a_unit) {
    mf_RecorderConfig config = test_config(fixture);
    mf_Field *position = mf_group_find_field(fixture->group, "base.position");
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_field_set(position, i, 2, 0.25 * i);
    config.fields = (const char *const[]){"base.position.z", "base.position.z:mm", NULL};
    MUST(record(fixture, config, 1, &error));
    AUTO_FILE file = open_file(fixture->path);
    AUTO_SET plain = open_set(file, "base.position[2]", 3, (hsize_t[]){1, ROBOTS, 1});
    AUTO_SET small = open_set(file, "base.position[2]:mm", 3, (hsize_t[]){1, ROBOTS, 1});
    AUTO(end_memory) double *meters = read_set(plain, H5T_NATIVE_DOUBLE);
    AUTO(end_memory) double *millimeters = read_set(small, H5T_NATIVE_DOUBLE);
    for (uint32_t i = 0; i < ROBOTS; i++)
        assert_near(millimeters[i], 1e3 * meters[i], 1e-3);
    assert_true(millimeters[3] > 100);
    config.fields = (const char *const[]){"base.position.z:rpm", NULL};
    MUST_FAIL(record(fixture, config, 1, &error), MF_NOT_FOUND, "expected one of m, mm");
}

TEST_OF_RECORDS(wrong_arguments_are_named) {
    const mf_RecorderConfig right = test_config(fixture);
    static const char *const misspelt[] = {"base.positon", NULL}, *const empty[] = {"joint.angle",
                                                                                    NULL};
    const struct {
        mf_RecorderConfig config;
        mf_Status status;
        const char *message;
    } wrong[] = {
        {WITH(right, .fields = misspelt), MF_NOT_FOUND,
         "recorder: no field has the name base.positon; similar: base.position"},
        {WITH(right, .fields = empty), MF_NOT_FOUND,
         "recorder: the field joint.angle has no values in this model"},
        {WITH(right, .first_instance = ROBOTS), MF_BAD_ARGUMENT, ""},
        {WITH(right, .first_instance = 20, .instance_count = 2), MF_BAD_ARGUMENT,
         "recorder: expected instances in 0 .. 20, found 2 from 20 on"},
        {WITH(right, .path = fixture->folder), MF_BAD_ARGUMENT, ""},
        {WITH(right, .path = "/dev/null"), MF_BAD_ARGUMENT, ""},
        {WITH(right, .path = NULL), MF_BAD_ARGUMENT, ""},
        {{.path = fixture->path}, MF_BAD_ARGUMENT, ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        MUST_FAIL(record(fixture, wrong[i].config, 1, &error), wrong[i].status, wrong[i].message);
    mf_Error error = {0};
    const mf_RecorderConfig nowhere = WITH(right, .path = "/nowhere/at/all.h5");
    assert_int_equal(record(fixture, nowhere, 1, &error), MF_NOT_FOUND);
    assert_string_equal(error.file, nowhere.path);
    assert_int_equal(mf_recorder_close(NULL, NULL), MF_BAD_ARGUMENT);
    mf_recorder_destroy(NULL);
    assert_int_equal(count_files(fixture->folder), 0);
}

static void put_old_file(const Fixture *fixture) {
    file_put_text(fixture->path, "old");
}

static void check_old_file(const Fixture *fixture) {
    AUTO(end_memory) char *text = file_get(fixture->path, NULL);
    assert_string_equal(text, "old");
}

// Values written between two steps show in derived fields after the next one.
TEST_OF_RECORDS(link_poses_are_derived_where_they_are_named) {
    static const char *const fields[] = {"link.pose", NULL};
    mf_RecorderConfig config = WITH(test_config(fixture), .fields = fields);
    assert_null(mf_group_find_field(fixture->group, "link.pose"));
    MUST(record(fixture, config, 2, &error));
    AUTO_FILE file = open_file(fixture->path);
    AUTO_SET set = open_with_unit(file, "link.pose", 3, (hsize_t[]){2, ROBOTS, 7}, "1");
    AUTO(end_memory) float(*values)[ROBOTS][7] = read_set(set, H5T_NATIVE_FLOAT);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_true(values[1][i][0] == (float)value_of(0, i, 0));
        assert_true(values[1][i][3] == 1.0F && values[1][i][4] == 0.0F);
    }
}

TEST_OF_RECORDS(an_old_file_stays_until_the_end) {
    put_old_file(fixture);
    mf_RecorderConfig config = test_config(fixture);
    mf_Recorder *recorder = NULL;
    MUST(mf_recorder_create(fixture->group, &config, &recorder, &error));
    MUST(mf_recorder_sample(recorder, &error));
    check_old_file(fixture);
    assert_int_equal(count_files(fixture->folder), 2);
    mf_recorder_destroy(recorder);
    check_old_file(fixture);
    assert_int_equal(count_files(fixture->folder), 1);
    MUST(record(fixture, config, 1, &error));
    assert_true(H5Fis_hdf5(fixture->path) > 0);
    assert_int_equal(count_files(fixture->folder), 1);
}

// A limit on the size of files stands for a full disk: both refuse a write in the middle.
TEST_OF_RECORDS(a_full_disk_leaves_what_was_recorded) {
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    static const rlim_t sizes[] = {0, 100, 3000, 30000, 60000};
    uint32_t before_samples = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        setrlimit(RLIMIT_FSIZE, &WITH(before, .rlim_cur = sizes[i]));
        mf_Error error = {0};
        mf_Status status = record(fixture, test_config(fixture), 1000, &error);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_fails_as(status, MF_IO, &error, "cannot write: File too large");
        assert_string_equal(error.file, fixture->path);
        if (i < 4) { // its head has no space, or no samples behind it
            assert_int_equal(count_files(fixture->folder), 0);
            continue;
        }
        mf_Recording *recording = NULL;
        assert_int_equal(count_files(fixture->folder), 1);
        must(mf_recording_open(fixture->context, fixture->path, 0, &recording, &error), &error);
        assert_false(recording->complete);
        assert_true(recording->samples > before_samples);
        before_samples = recording->samples;
        mf_recording_destroy(recording);
        unlink(fixture->path);
    }
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    MUST(record(fixture, test_config(fixture), 1000, &error));
}

static mf_Status record_some(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    mf_Status status = record(fixture, test_config(fixture), 700, error);
    if (status != MF_OK) {
        check_old_file(fixture);
        assert_int_equal(count_files(fixture->folder), 1);
    }
    return status;
}

static mf_Status record_new(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    unlink(fixture->path);
    mf_Status status = record(fixture, test_config(fixture), 10, error);
    assert_int_equal(count_files(fixture->folder), status == MF_OK);
    return status;
}

TEST_OF_RECORDS(every_failing_call_leaves_the_old_file) {
    put_old_file(fixture);
    assert_true(torture(fixture->context, record_some, fixture, TORTURE_MUST_FAIL) > 30);
    assert_true(torture(fixture->context, record_new, fixture, TORTURE_MUST_FAIL) > 20);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

TEST_OF_RECORDS(the_error_printing_of_hdf5_is_put_back) {
    H5E_auto2_t before, after;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    assert_non_null(before);
    MUST(record(fixture, test_config(fixture), 1, &error));
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    assert_ptr_equal(before, after);
}
