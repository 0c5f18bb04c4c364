// Records of several groups: one HDF5 group per group of the world, with its own data sets, sizes
// and attributes; the time once.
#include "rig/rig.h"
#include "support.h"

#include <hdf5.h>

GROUP_FIXTURE(make_context, drop_context);

#define FILE_NAME MAYFLY_BINARY_DIR "/test_scene_record.h5"

static const char text[] = "groups:\n"
                           "  - name: quads\n    model: ../models/crazyflie.yaml\n    count: 20\n"
                           "  - name: cars\n    model: ../models/car_orca.yaml\n    count: 3\n"
                           "    placement: {grid: {spacing: [1, 1, 1]}}\n";

static mf_Status record(mf_World *world, const char *const *fields, mf_Error *error) {
    mf_Recorder *recorder = NULL;
    mf_RecorderConfig config = WITH(mf_recorder_config(), .path = FILE_NAME, .fields = fields);
    mf_Status status = mf_recorder_create_all(world, &config, &recorder, error);
    assert_int_equal(status != MF_OK, recorder == NULL);
    if (status != MF_OK)
        return status;
    status = mf_recorder_sample(recorder, error);
    if (status != MF_OK) {
        mf_recorder_destroy(recorder);
        return status;
    }
    return mf_recorder_close(recorder, error);
}

static void expect_shape(hid_t file, const char *name, int rank, hsize_t a, hsize_t b, hsize_t c) {
    hsize_t size[3] = {0, 0, 0};
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    H5Sget_simple_extent_dims(space, size, NULL);
    assert_true(size[0] == a && (rank == 1 || (size[1] == b && size[2] == c)));
    H5Sclose(space);
    H5Dclose(set);
}

TEST(each_group_has_its_own_sets) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_int_equal(record(scene.world, NULL, NULL), MF_OK);
    hid_t file = H5Fopen(FILE_NAME, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    expect_shape(file, "time", 1, 1, 0, 0);
    expect_shape(file, "quads/base.position", 3, 1, 20, 3);
    expect_shape(file, "cars/base.orientation", 3, 1, 3, 4);
    float positions[3][3];
    hid_t set = H5Dopen2(file, "cars/base.position", H5P_DEFAULT);
    assert_true(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, positions) >= 0);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t c = 0; c < 3; c++)
            assert_true((double)positions[i][c] ==
                        get_field(mf_world_find_group(scene.world, "cars"), "base.position", i, c));
    }
    H5Dclose(set);
    H5Fclose(file);
    unlink(FILE_NAME);
}

TEST(a_field_must_be_in_one_group_at_least) {
    static const char *const some[] = {"rotor.speed", NULL}, *const none[] = {"wing.flap", NULL};
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_int_equal(record(scene.world, some, NULL), MF_OK);
    MUST_FAIL(record(scene.world, none, &error), MF_NOT_FOUND, "no field has the name wing.flap");
    unlink(FILE_NAME);
}

static mf_Status record_once(mf_Context *context, void *user, mf_Error *error) {
    return record(user, NULL, error);
}

TEST(every_failing_call_is_survived) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_true(torture(*state, record_once, scene.world, TORTURE_MUST_FAIL) > 20);
    unlink(FILE_NAME);
}
