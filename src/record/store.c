// Layout of the HDF5 file: one extendible, chunked data set per field, shape (time, instance,
// component), and one for the time; attributes as UTF-8 strings of variable length, which readers
// in Python get as str.
#include "record/recorder.h"

#include <math.h>

enum { JOINTS_TOGETHER = 8 };   // [1] at least, in a chunk
enum { DRAWN_CHUNK = 1 << 16 }; // [byte]

mf_Quiet mf_quiet_begin(void) {
    mf_Quiet quiet = {0};
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void mf_quiet_end(mf_Quiet quiet) {
    H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}

// The innermost entry of HDF5's error stack is the most specific.
static herr_t take_first(unsigned index, const H5E_error2_t *entry, void *user) {
    if (index == 0)
        *(const char **)user = entry->desc;
    return 0;
}

static mf_Status fail_store(mf_Recorder *recorder, const char *operation, mf_Error *error) {
    const mf_Output *output = &recorder->output;
    if (output->failure != 0)
        return mf_output_fail(output, error);
    const char *reason = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
    mf_Status status = mf_fail_at(error, MF_IO, output->path, 0, 0, "HDF5 cannot %s: %s", operation,
                                  reason != NULL ? reason : "no reason given");
    H5Eclear2(H5E_DEFAULT);
    return status;
}

// ---- attributes --------------------------------------------------------------------------------

static bool put_attribute(hid_t object, const char *name, hid_t stored, hid_t given,
                          const void *value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    bool good = attribute >= 0 && H5Awrite(attribute, given, value) >= 0;
    if (attribute >= 0)
        good &= H5Aclose(attribute) >= 0;
    if (space >= 0)
        H5Sclose(space);
    return good;
}

static bool put_text(hid_t object, const char *name, const char *text) {
    hid_t type = H5Tcopy(H5T_C_S1);
    bool good = type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                put_attribute(object, name, type, type, &text);
    if (type >= 0)
        H5Tclose(type);
    return good;
}

static bool describe_group(hid_t object, const mf_Group *group, uint32_t first) {
    return put_text(object, "model", mf_group_model(group)->name) &&
           put_text(object, "group", mf_group_config_of(group)->name) &&
           put_attribute(object, "first_instance", H5T_STD_U32LE, H5T_NATIVE_UINT32, &first);
}

static bool describe_file(const mf_Recorder *recorder, const mf_RecorderConfig *config) {
    const mf_WorldConfig *world = mf_world_config_of(recorder->world);
    double step = mf_time_to_seconds(world->step);
    hid_t file = recorder->file;
    const uint32_t format = MF_RECORD_FORMAT;
    bool good = put_attribute(file, "recording", H5T_STD_U32LE, H5T_NATIVE_UINT32, &format) &&
                put_text(file, "version", mf_version()) &&
                put_attribute(file, "seed", H5T_STD_U64LE, H5T_NATIVE_UINT64, &world->seed) &&
                put_attribute(file, "step", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &step);
    if (recorder->group != NULL)
        good &= describe_group(file, recorder->group, recorder->columns[0].first);
    if (recorder->picture.take != NULL)
        good &= put_text(file, "picture", config->picture->description);
    if (config->scene != NULL)
        good &= put_text(file, "scene", config->scene);
    return good && (config->attributes == NULL || put_text(file, "run", config->attributes));
}

// In a file of several groups each group has an HDF5 group of its name.
static bool make_group(const mf_Recorder *recorder, const mf_Group *group) {
    hid_t made = H5Gcreate2(recorder->file, mf_group_config_of(group)->name, H5P_DEFAULT,
                            H5P_DEFAULT, H5P_DEFAULT);
    bool good = made >= 0 && describe_group(made, group, 0);
    if (made >= 0)
        good &= H5Gclose(made) >= 0;
    return good;
}

static bool describe_column(const mf_Column *column) {
    if (column->field == NULL)
        return put_text(column->set, "unit", "s") &&
               put_text(column->set, "description", "simulated time of each sample");
    const mf_FieldInfo *info = &column->field->info;
    return put_text(column->set, "unit", column->unit != NULL ? column->unit : info->unit) &&
           put_text(column->set, "frame", info->frame) &&
           put_text(column->set, "description", info->description) &&
           put_text(column->set, "dimensions",
                    column->of_joints ? "time, row, component" : "time, instance, component");
}

// ---- data sets ---------------------------------------------------------------------------------

// As it is in the file, or in memory.
static hid_t type_of(const mf_Column *column, bool in_file) {
    const hid_t types[][2] = {[MF_F32] = {H5T_NATIVE_FLOAT, H5T_IEEE_F32LE},
                              [MF_F64] = {H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE},
                              [MF_I32] = {H5T_NATIVE_INT32, H5T_STD_I32LE},
                              [MF_U32] = {H5T_NATIVE_UINT32, H5T_STD_U32LE}};
    return types[column->field == NULL ? MF_F64 : column->field->info.type][in_file];
}

// Dimensions: samples, instances or joints, components; the time has only the first.
static int shape(const mf_Column *column, uint64_t samples, hsize_t out[3]) {
    out[0] = samples;
    out[1] = column->count;
    out[2] = column->components;
    return column->field == NULL ? 1 : 3;
}

// What a row holds at samples before its first joint.
static bool set_fill(hid_t creation, const mf_Column *column) {
    const double nothing = (double)NAN;
    return !column->of_joints || column->field->info.type != MF_F64 ||
           H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &nothing) >= 0;
}

// By the filters that every reader of HDF5 has. Higher levels save 3 % more.
static bool set_compression(hid_t creation) {
    return H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 ||
           (H5Pset_shuffle(creation) >= 0 && H5Pset_deflate(creation, 1) >= 0);
}

// Chunks hold the samples of one buffer, and as many instances as fit into 1 MiB.
static hid_t chunking(const mf_Recorder *recorder, const mf_Column *column) {
    hsize_t chunk[3];
    int rank = shape(column, recorder->capacity, chunk);
    hsize_t fitting = (1u << 20) / (recorder->capacity * column->components * column->value_size);
    if (column->of_joints && chunk[1] < JOINTS_TOGETHER)
        chunk[1] = JOINTS_TOGETHER;
    if (chunk[1] > fitting)
        chunk[1] = fitting == 0 ? 1 : fitting;
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    if (creation >= 0 && (H5Pset_chunk(creation, rank, chunk) < 0 || !set_fill(creation, column) ||
                          !set_compression(creation))) {
        H5Pclose(creation);
        return H5I_INVALID_HID;
    }
    return creation;
}

static bool make_column(mf_Recorder *recorder, mf_Column *column) {
    hsize_t size[3], limit[3];
    int rank = shape(column, 0, size);
    shape(column, H5S_UNLIMITED, limit);
    if (column->of_joints)
        limit[1] = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(rank, size, limit);
    hid_t creation = chunking(recorder, column), links = H5Pcreate(H5P_LINK_CREATE);
    // A path is a chain of nested HDF5 groups.
    if (space >= 0 && creation >= 0 && links >= 0 &&
        H5Pset_create_intermediate_group(links, 1) >= 0)
        column->set = H5Dcreate2(recorder->file, column->name, type_of(column, true), space, links,
                                 creation, H5P_DEFAULT);
    if (links >= 0)
        H5Pclose(links);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return column->set >= 0 && describe_column(column);
}

static mf_Status make_set(mf_Recorder *recorder, mf_Column *column, mf_Error *error) {
    if (!make_column(recorder, column))
        return fail_store(recorder, "make a data set", error);
    return recorder->output.failure != 0 ? mf_output_fail(&recorder->output, error) : MF_OK;
}

static mf_Status make_file(mf_Recorder *recorder, const mf_RecorderConfig *config,
                           mf_Error *error) {
    hid_t access = mf_output_access(&recorder->output);
    if (access >= 0) {
        recorder->file = H5Fcreate(recorder->output.temporary, H5F_ACC_TRUNC, H5P_DEFAULT, access);
        H5Pclose(access);
    }
    if (recorder->file < 0 || !describe_file(recorder, config))
        return fail_store(recorder, "make the file", error);
    for (uint32_t i = 0; recorder->group == NULL && i < mf_world_group_count(recorder->world); i++)
        if (!make_group(recorder, mf_world_group(recorder->world, i)))
            return fail_store(recorder, "make a group", error);
    for (uint32_t i = 0; i < recorder->column_count; i++)
        if (recorder->columns[i].count > 0)
            MF_TRY(make_set(recorder, &recorder->columns[i], error));
    return MF_OK;
}

// ---- samples -----------------------------------------------------------------------------------

static bool append_column(const mf_Recorder *recorder, const mf_Column *column) {
    hsize_t whole[3], part[3], start[3] = {recorder->written, 0, 0};
    int rank = shape(column, recorder->written + recorder->filled, whole);
    shape(column, recorder->filled, part);
    if (H5Dset_extent(column->set, whole) < 0)
        return false;
    hid_t there = H5Dget_space(column->set), here = H5Screate_simple(rank, part, NULL);
    bool good = there >= 0 && here >= 0 &&
                H5Sselect_hyperslab(there, H5S_SELECT_SET, start, NULL, part, NULL) >= 0 &&
                H5Dwrite(column->set, type_of(column, false), here, there, H5P_DEFAULT,
                         column->buffer) >= 0;
    if (there >= 0)
        H5Sclose(there);
    if (here >= 0)
        H5Sclose(here);
    return good;
}

// What was drawn: bytes in one row, of which the records tell their sizes.
static bool make_drawings(mf_Recorder *recorder) {
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = DRAWN_CHUNK;
    hid_t space = H5Screate_simple(1, &none, &most), creation = H5Pcreate(H5P_DATASET_CREATE);
    if (space >= 0 && creation >= 0 && H5Pset_chunk(creation, 1, &chunk) >= 0 &&
        set_compression(creation))
        recorder->drawn_set = H5Dcreate2(recorder->file, "drawings", H5T_STD_U8LE, space,
                                         H5P_DEFAULT, creation, H5P_DEFAULT);
    if (creation >= 0)
        H5Pclose(creation);
    if (space >= 0)
        H5Sclose(space);
    return recorder->drawn_set >= 0 &&
           put_text(recorder->drawn_set, "description",
                    "what programs drew, for mayfly view: records of bytes");
}

static bool append_drawings(mf_Recorder *recorder) {
    const hsize_t start = recorder->drawn_written, part = recorder->drawn.size,
                  whole = start + part;
    if (part == 0)
        return true;
    if ((recorder->drawn_set < 0 && !make_drawings(recorder)) ||
        H5Dset_extent(recorder->drawn_set, &whole) < 0)
        return false;
    hid_t there = H5Dget_space(recorder->drawn_set), here = H5Screate_simple(1, &part, NULL);
    bool good = there >= 0 && here >= 0 &&
                H5Sselect_hyperslab(there, H5S_SELECT_SET, &start, NULL, &part, NULL) >= 0 &&
                H5Dwrite(recorder->drawn_set, H5T_NATIVE_UINT8, here, there, H5P_DEFAULT,
                         recorder->drawn.data) >= 0;
    if (there >= 0)
        H5Sclose(there);
    if (here >= 0)
        H5Sclose(here);
    recorder->drawn_written = whole;
    recorder->drawn.size = 0;
    return good;
}

static mf_Status flush(mf_Recorder *recorder, mf_Error *error) {
    if (!append_drawings(recorder))
        return fail_store(recorder, "write drawings", error);
    for (uint32_t i = 0; i < recorder->column_count && recorder->filled != 0; i++) {
        if (recorder->columns[i].count == 0) // joints, of which there were none yet
            continue;
        if (!append_column(recorder, &recorder->columns[i]) || recorder->output.failure != 0)
            return fail_store(recorder, "write samples", error);
    }
    // So that a killed run leaves a file that can be read up to here.
    if (H5Fflush(recorder->file, H5F_SCOPE_LOCAL) < 0 || recorder->output.failure != 0)
        return fail_store(recorder, "write samples", error);
    recorder->written += recorder->filled;
    recorder->filled = 0;
    return MF_OK;
}

static mf_Status close_file(mf_Recorder *recorder, bool whole, mf_Error *error) {
    const uint32_t complete = 1;
    bool good = true;
    if (whole)
        good =
            put_attribute(recorder->file, "complete", H5T_STD_U32LE, H5T_NATIVE_UINT32, &complete);
    for (uint32_t i = 0; i < recorder->column_count; i++) {
        if (recorder->columns[i].set >= 0)
            good &= H5Dclose(recorder->columns[i].set) >= 0;
        recorder->columns[i].set = H5I_INVALID_HID;
    }
    if (recorder->drawn_set >= 0)
        good &= H5Dclose(recorder->drawn_set) >= 0;
    recorder->drawn_set = H5I_INVALID_HID;
    if (recorder->file >= 0)
        good &= H5Fclose(recorder->file) >= 0;
    recorder->file = H5I_INVALID_HID;
    if (!good || recorder->output.failure != 0)
        return fail_store(recorder, "close the file", error);
    return MF_OK;
}

const mf_Store mf_hdf5_store = {true, make_file, make_set, flush, close_file};
