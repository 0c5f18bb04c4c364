// HDF5 files that are read back, with what closes them at the end of a block.
#pragma once

#include "rig/rig.h"

#include <hdf5.h>

static inline void end_file(hid_t *file) {
    assert_true(H5Fclose(*file) >= 0);
}
static inline void end_set(hid_t *set) {
    assert_true(H5Dclose(*set) >= 0);
}
#define AUTO_FILE AUTO(end_file) hid_t
#define AUTO_SET AUTO(end_set) hid_t

static inline hid_t open_file(const char *path) {
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    return file;
}

// A data set, which must have this size.
static inline hid_t open_set(hid_t file, const char *name, int rank, const hsize_t *expected) {
    const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    const hid_t space = H5Dget_space(set);
    hsize_t size[4], limit[4];
    assert_int_equal(H5Sget_simple_extent_dims(space, size, limit), rank);
    assert_true(limit[0] == H5S_UNLIMITED);
    for (int i = 0; i < rank; i++)
        if (size[i] != expected[i])
            fail_msg("%s: size %d of dimension %d", name, (int)size[i], i);
    H5Sclose(space);
    return set;
}

// All values of a data set; the caller frees them.
static inline void *read_set(hid_t set, hid_t type) {
    const hid_t space = H5Dget_space(set);
    void *values = calloc((size_t)H5Sget_simple_extent_npoints(space), 8);
    H5Sclose(space);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    return values;
}
