// Recorders: records contain the values of the fields, with units; a file that could not be
// completed is removed.
#include "rig/rig.h"

#include <dirent.h>
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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
    mf_Builder *builder = NULL;
    const double origin[3] = {0, 0, 0};
    assert_int_equal(mf_builder_create(fixture->context, "ball", &builder, NULL), MF_OK);
    mf_body_create_sphere(builder, origin, 0.1, 1.0, NULL);
    assert_int_equal(mf_builder_finalize(builder, &fixture->model, NULL), MF_OK);
    mf_builder_destroy(builder);
    mf_WorldConfig world = WITH(mf_world_config(), .seed = 42);
    fixture->world = open_world(fixture->context, &world);
    mf_GroupConfig group = WITH(mf_group_config(), .model = fixture->model, .count = ROBOTS);
    fixture->group = add_group(fixture->world, &group);
    static const mf_FieldInfo wide = {"test.wide",    "m/s", "body", MF_F64,
                                      MF_FIXED_COUNT, 2,     0,      "two by two, caf\xc3\xa9"};
    static const mf_FieldInfo whole = {"test.whole", "1", "", MF_I32, MF_PER_INSTANCE, 1, 0, "n"};
    mf_Field *field;
    assert_int_equal(mf_group_add_field(fixture->group, &wide, 2, &field, NULL), MF_OK);
    assert_int_equal(mf_group_add_field(fixture->group, &whole, 0, &field, NULL), MF_OK);
}

static int set_up(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    mf_ContextConfig config = WITH(mf_context_config(), .threads = 1);
    if (mf_context_create(&config, &fixture->context, NULL) != MF_OK)
        return -1;
    build_world(fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/mayfly-record-XXXXXX");
    if (mkdtemp(fixture->folder) == NULL)
        return -1;
    snprintf(fixture->path, sizeof fixture->path, "%s/run.h5", fixture->folder);
    *state = fixture;
    return 0;
}

static int count_files(const Fixture *fixture) {
    int count = 0;
    DIR *folder = opendir(fixture->folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    unlink(fixture->path);
    int left = count_files(fixture);
    rmdir(fixture->folder);
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    size_t live = mf_context_live_bytes(fixture->context);
    mf_context_destroy(fixture->context);
    free(fixture);
    return live == 0 && left == 0 ? 0 : -1;
}

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
    mf_RecorderConfig config =
        WITH(mf_recorder_config(), .path = fixture->path, .fields = test_fields,
             .attributes = "{\"name\": \"t\xc3\xa9st\"}");
    return config;
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

static hid_t open_set(hid_t file, const char *name, int rank, const hsize_t *expected,
                      const char *unit) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    hsize_t size[4], limit[4];
    assert_int_equal(H5Sget_simple_extent_dims(space, size, limit), rank);
    for (int i = 0; i < rank; i++)
        assert_int_equal(size[i], expected[i]);
    assert_true(limit[0] == H5S_UNLIMITED);
    H5Sclose(space);
    read_text(set, "unit", unit);
    return set;
}

static void check_wide(hid_t file, hsize_t samples, uint32_t first, hsize_t count) {
    hid_t set = open_set(file, "test.wide", 3, (hsize_t[]){samples, count, 4}, "m/s");
    read_text(set, "frame", "body");
    read_text(set, "description", "two by two, caf\xc3\xa9");
    read_text(set, "dimensions", "time, instance, component");
    double *values = malloc(samples * count * 4 * sizeof *values);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (hsize_t s = 0; s < samples; s++)
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t c = 0; c < 4; c++)
                assert_true(values[(s * count + i) * 4 + c] ==
                            value_of((int)s, first + i, c) + 0.125);
    free(values);
    H5Dclose(set);
}

static void check_others(hid_t file, hsize_t samples) {
    hid_t set = open_set(file, "test.whole", 3, (hsize_t[]){samples, ROBOTS, 1}, "1");
    int32_t *whole = malloc(samples * ROBOTS * sizeof *whole);
    assert_true(H5Dread(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, whole) >= 0);
    hid_t type = H5Dget_type(set);
    assert_true(H5Tequal(type, H5T_STD_I32LE) > 0);
    H5Tclose(type);
    for (hsize_t s = 0; s < samples; s++)
        for (uint32_t i = 0; i < ROBOTS; i++)
            assert_int_equal(whole[s * ROBOTS + i], (int32_t)-value_of((int)s, i, 0));
    free(whole);
    H5Dclose(set);

    set = open_set(file, "base.position", 3, (hsize_t[]){samples, ROBOTS, 3}, "m");
    read_text(set, "frame", "world");
    float *position = malloc(samples * ROBOTS * 3 * sizeof *position);
    assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, position) >= 0);
    for (hsize_t k = 0; k < samples * ROBOTS * 3; k++)
        assert_true(position[k] == (float)value_of((int)(k / (ROBOTS * 3)),
                                                   (uint32_t)(k / 3 % ROBOTS), (uint32_t)(k % 3)));
    free(position);
    H5Dclose(set);

    set = open_set(file, "time", 1, &samples, "s");
    double *time = malloc(samples * sizeof *time);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, time) >= 0);
    for (hsize_t s = 0; s < samples; s++)
        assert_true(time[s] == (double)(s * 10000000) / 1e9);
    free(time);
    H5Dclose(set);
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

TEST_WITH(what_is_written_reads_back, set_up, tear_down) {
    Fixture *fixture = *state;
    // 1000 samples fill the buffers several times and end in the middle of one.
    static const int samples[] = {1000, 1, 0};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(mf_world_time(fixture->world), 0);
        MUST(record(fixture, test_config(fixture), samples[k], &error));
        assert_int_equal(count_files(fixture), 1);
        hid_t file = H5Fopen(fixture->path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(file >= 0);
        check_attributes(file);
        if (samples[k] > 0) {
            check_wide(file, (hsize_t)samples[k], 0, ROBOTS);
            check_others(file, (hsize_t)samples[k]);
        }
        H5Fclose(file);
        mf_world_destroy(fixture->world);
        mf_model_destroy(fixture->model);
        build_world(fixture);
    }
}

TEST_WITH(some_instances_can_be_recorded_alone, set_up, tear_down) {
    Fixture *fixture = *state;
    mf_RecorderConfig config = WITH(test_config(fixture), .first_instance = 14);
    config.instance_count = 5; // across the border of two blocks
    MUST(record(fixture, config, 300, &error));
    hid_t file = H5Fopen(fixture->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    check_wide(file, 300, 14, 5);
    H5Fclose(file);
}

TEST_WITH(the_usual_fields_are_recorded_without_a_list, set_up, tear_down) {
    Fixture *fixture = *state;
    mf_RecorderConfig config = WITH(mf_recorder_config(), .path = fixture->path);
    assert_int_equal(record(fixture, config, 2, NULL), MF_OK);
    hid_t file = H5Fopen(fixture->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(H5Lexists(file, "base.position", H5P_DEFAULT) > 0);
    assert_true(H5Lexists(file, "base.orientation", H5P_DEFAULT) > 0);
    assert_true(H5Lexists(file, "time", H5P_DEFAULT) > 0);
    assert_int_equal(H5Lexists(file, "test.wide", H5P_DEFAULT), 0);
    assert_int_equal(H5Lexists(file, "joint.angle", H5P_DEFAULT), 0); // a ball has no joints
    H5Fclose(file);
}

// One component of all robots, under the path that was asked for; constants are not for records.
TEST_WITH(paths_are_recorded, set_up, tear_down) {
    Fixture *fixture = *state;
    mf_RecorderConfig config = test_config(fixture);
    mf_Field *wide = mf_group_find_field(fixture->group, "test.wide");
    for (uint32_t i = 0; i < ROBOTS; i++)
        for (uint32_t c = 0; c < 4; c++)
            mf_field_set(wide, i, c, 10.0 * i + c);
    config.fields = (const char *const[]){"test.wide[2]", "base.position.z", NULL};
    config.first_instance = 15;
    assert_int_equal(record(fixture, config, 1, NULL), MF_OK);
    double values[ROBOTS];
    hid_t file = H5Fopen(fixture->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "test.wide[2]", H5P_DEFAULT);
    hid_t space = H5Dget_space(set);
    hsize_t size[3];
    assert_int_equal(H5Sget_simple_extent_dims(space, size, NULL), 3);
    assert_int_equal(size[1], ROBOTS - 15);
    assert_int_equal(size[2], 1);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (uint32_t i = 0; i < ROBOTS - 15; i++)
        assert_true(values[i] == mf_field_get(wide, 15 + i, 2));
    H5Sclose(space);
    H5Dclose(set);
    assert_true(H5Lexists(file, "base.position[2]", H5P_DEFAULT) > 0);
    H5Fclose(file);
    config.fields = (const char *const[]){"mass", NULL};
    MUST_FAIL(record(fixture, config, 1, &error), MF_BAD_ARGUMENT, "");
    config.fields = (const char *const[]){"nobody/joint.angle", NULL};
    MUST_FAIL(record(fixture, config, 1, &error), MF_NOT_FOUND, "no such link");
}

TEST_WITH(wrong_arguments_are_named, set_up, tear_down) {
    Fixture *fixture = *state;
    mf_Error error = {0};
    mf_RecorderConfig config = test_config(fixture);
    config.fields = (const char *const[]){"base.positon", NULL};
    assert_fails_as(record(fixture, config, 1, &error), MF_NOT_FOUND, &error,
                    "recorder: no field has the name base.positon; similar: base.position");
    config.fields = (const char *const[]){"joint.angle", NULL};
    assert_fails_as(record(fixture, config, 1, &error), MF_NOT_FOUND, &error,
                    "recorder: the field joint.angle has no values in this model");
    config = WITH(test_config(fixture), .first_instance = ROBOTS);
    assert_int_equal(record(fixture, config, 1, &error), MF_BAD_ARGUMENT);
    config.first_instance = 20;
    config.instance_count = 2;
    assert_fails_as(record(fixture, config, 1, &error), MF_BAD_ARGUMENT, &error,
                    "recorder: expected instances in 0 .. 20, found 2 from 20 on");
    config = WITH(test_config(fixture), .path = "/nowhere/at/all.h5");
    assert_int_equal(record(fixture, config, 1, &error), MF_NOT_FOUND);
    assert_string_equal(error.file, "/nowhere/at/all.h5");
    config.path = fixture->folder;
    assert_int_equal(record(fixture, config, 1, &error), MF_BAD_ARGUMENT);
    config.path = "/dev/null";
    assert_int_equal(record(fixture, config, 1, &error), MF_BAD_ARGUMENT);
    config.path = NULL;
    assert_int_equal(record(fixture, config, 1, &error), MF_BAD_ARGUMENT);
    config = (mf_RecorderConfig){.path = fixture->path};
    assert_int_equal(record(fixture, config, 1, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_recorder_close(NULL, &error), MF_BAD_ARGUMENT);
    mf_recorder_destroy(NULL);
    assert_int_equal(count_files(fixture), 0);
}

static void put_old_file(const Fixture *fixture) {
    file_put_text(fixture->path, "old");
}

static void check_old_file(const Fixture *fixture) {
    AUTO(end_memory) char *text = file_get(fixture->path, NULL);
    assert_string_equal(text, "old");
}

// Values written between two steps show in derived fields after the next one.
TEST_WITH(link_poses_are_derived_where_they_are_named, set_up, tear_down) {
    Fixture *fixture = *state;
    static const char *const fields[] = {"link.pose", NULL};
    float values[2][ROBOTS][7];
    mf_RecorderConfig config = WITH(test_config(fixture), .fields = fields);
    assert_null(mf_group_find_field(fixture->group, "link.pose"));
    assert_int_equal(record(fixture, config, 2, NULL), MF_OK);
    hid_t file = H5Fopen(fixture->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t set = open_set(file, "link.pose", 3, (hsize_t[]){2, ROBOTS, 7}, "1");
    assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (uint32_t i = 0; i < ROBOTS; i++) {
        assert_true(values[1][i][0] == (float)value_of(0, i, 0));
        assert_true(values[1][i][3] == 1.0F && values[1][i][4] == 0.0F);
    }
    H5Dclose(set);
    H5Fclose(file);
}

TEST_WITH(an_old_file_stays_until_the_end, set_up, tear_down) {
    Fixture *fixture = *state;
    put_old_file(fixture);
    mf_RecorderConfig config = test_config(fixture);
    mf_Recorder *recorder = NULL;
    assert_int_equal(mf_recorder_create(fixture->group, &config, &recorder, NULL), MF_OK);
    assert_int_equal(mf_recorder_sample(recorder, NULL), MF_OK);
    check_old_file(fixture);
    assert_int_equal(count_files(fixture), 2);
    mf_recorder_destroy(recorder);
    check_old_file(fixture);
    assert_int_equal(count_files(fixture), 1);
    assert_int_equal(record(fixture, config, 1, NULL), MF_OK);
    assert_true(H5Fis_hdf5(fixture->path) > 0);
    assert_int_equal(count_files(fixture), 1);
}

// A limit on the size of files stands for a full disk: both refuse a write in the middle.
TEST_WITH(a_full_disk_leaves_what_was_recorded, set_up, tear_down) {
    Fixture *fixture = *state;
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
        assert_int_equal(status, MF_IO);
        assert_string_equal(error.message, "cannot write: File too large");
        assert_string_equal(error.file, fixture->path);
        if (i < 4) { // its head has no space, or no samples behind it
            assert_int_equal(count_files(fixture), 0);
            continue;
        }
        mf_Recording *recording = NULL;
        assert_int_equal(count_files(fixture), 1);
        status = mf_recording_open(mf_world_context(fixture->world), fixture->path, 0, &recording,
                                   &error);
        if (status != MF_OK)
            fail_msg("%s", error.message);
        assert_false(recording->complete);
        assert_true(recording->samples > before_samples);
        before_samples = recording->samples;
        mf_recording_destroy(recording);
        unlink(fixture->path);
    }
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    assert_int_equal(record(fixture, test_config(fixture), 1000, NULL), MF_OK);
}

static mf_Status record_some(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    mf_Status status = record(fixture, test_config(fixture), 700, error);
    if (status != MF_OK) {
        check_old_file(fixture);
        assert_int_equal(count_files(fixture), 1);
    }
    return status;
}

static mf_Status record_new(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    unlink(fixture->path);
    mf_Status status = record(fixture, test_config(fixture), 10, error);
    assert_int_equal(count_files(fixture), status == MF_OK);
    return status;
}

TEST_WITH(every_failing_call_leaves_the_old_file, set_up, tear_down) {
    Fixture *fixture = *state;
    put_old_file(fixture);
    assert_true(torture(fixture->context, record_some, fixture, TORTURE_MUST_FAIL) > 30);
    assert_true(torture(fixture->context, record_new, fixture, TORTURE_MUST_FAIL) > 20);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

TEST_WITH(the_error_printing_of_hdf5_is_put_back, set_up, tear_down) {
    Fixture *fixture = *state;
    H5E_auto2_t before, after;
    void *data;
    H5Eget_auto2(H5E_DEFAULT, &before, &data);
    assert_non_null(before);
    assert_int_equal(record(fixture, test_config(fixture), 1, NULL), MF_OK);
    H5Eget_auto2(H5E_DEFAULT, &after, &data);
    assert_ptr_equal(before, after);
}
