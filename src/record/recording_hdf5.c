// Reading recordings in HDF5: all data sets of three dimensions (time, instance, component), the
// time and the picture; of other files also those of one (time) or two (time, component).
//
// Files are untrusted, and HDF5's library trusts what it reads: a damaged string or index can end
// the program. So a child process reads a file first, as a whole, within limits; what ends the
// child is one line here. Neither filters from other libraries nor values from other files are
// read.
#define _GNU_SOURCE // pipe2
#include "base/inject.h"
#include "record/recorder.h"
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHUNK_MOST = 1 << 23, // [byte] of a chunk, unless the data set is larger
    SPARE = 256 << 20,    // [byte] of memory for the library beside the values
    SECONDS_MOST = 60,    // [s] of the processor, for 4 GiB of values at least
    SLOWEST = 17          // 2^17 byte of a file in a second, which may be 1000 times as many values
};

typedef struct Reading {
    mf_Recording *recording;
    hid_t file;
    mf_Status status;
    mf_Error *error;
} Reading;

static mf_Status damaged(const mf_Recording *recording, mf_Error *error) {
    return mf_fail_at(error, MF_BAD_FILE, recording->path, 0, 0,
                      "not a recording, or damaged: HDF5 cannot read it (was the run killed? MCAP "
                      "recordings can be read up to where they end)");
}

// ---- attributes --------------------------------------------------------------------------------

// Text of an attribute of variable length, kept by the recording; "": there is none.
static const char *read_text(Reading *reading, hid_t object, const char *name) {
    char *found = NULL;
    const char *kept = "";
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    if (type >= 0 && H5Tis_variable_str(type) > 0 && H5Aread(attribute, type, &found) >= 0 &&
        found != NULL) {
        kept = mf_recording_text(reading->recording, found, strlen(found), reading->error);
        H5free_memory(found);
    }
    if (kept == NULL) {
        reading->status = reading->error->status;
        kept = "";
    }
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return kept;
}

static bool read_number(hid_t object, const char *name, hid_t type, void *out) {
    hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
    const bool good = attribute >= 0 && H5Aread(attribute, type, out) >= 0;
    if (attribute >= 0)
        H5Aclose(attribute);
    return good;
}

static void read_head(Reading *reading) {
    mf_Recording *recording = reading->recording;
    uint32_t format = 1, complete = 1; // of older recordings
    const bool marked = read_number(reading->file, "recording", H5T_NATIVE_UINT32, &format);
    recording->version = read_text(reading, reading->file, "version");
    if (marked && !read_number(reading->file, "complete", H5T_NATIVE_UINT32, &complete))
        complete = 0;
    if (reading->status == MF_OK)
        reading->status = mf_recording_check(recording, format, reading->error);
    if (reading->status != MF_OK)
        return;
    recording->complete = complete != 0;
    read_number(reading->file, "seed", H5T_NATIVE_UINT64, &recording->seed);
    read_number(reading->file, "step", H5T_NATIVE_DOUBLE, &recording->step);
    recording->model = read_text(reading, reading->file, "model");
    recording->group = read_text(reading, reading->file, "group");
    recording->run = read_text(reading, reading->file, "run");
    recording->scene = read_text(reading, reading->file, "scene");
    recording->picture = read_text(reading, reading->file, "picture");
}

// ---- data sets ---------------------------------------------------------------------------------

static bool find_type(hid_t set, mf_FieldType *out, hid_t *memory) {
    hid_t type = H5Dget_type(set);
    const H5T_class_t kind = H5Tget_class(type);
    const size_t size = H5Tget_size(type);
    const bool whole = kind == H5T_INTEGER && size == 4;
    const bool sign = whole && H5Tget_sign(type) == H5T_SGN_2;
    const bool real = kind == H5T_FLOAT && (size == 4 || size == 8);
    H5Tclose(type);
    *out = whole ? (sign ? MF_I32 : MF_U32) : size == 4 ? MF_F32 : MF_F64;
    *memory = whole       ? (sign ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32)
              : size == 4 ? H5T_NATIVE_FLOAT
                          : H5T_NATIVE_DOUBLE;
    return whole || real;
}

// [1] Dimensions, and their sizes; those that are missing are 1.
static int read_shape(hid_t set, hsize_t out[3]) {
    hid_t space = H5Dget_space(set);
    const int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : -1;
    out[0] = out[1] = out[2] = 1;
    if (rank >= 1 && rank <= 3)
        H5Sget_simple_extent_dims(space, out, NULL);
    if (space >= 0)
        H5Sclose(space);
    return rank;
}

// Whether the values are in the file itself, and a chunk is no larger than a recorder makes them:
// HDF5 takes memory for a whole one, whatever is in it. `total` [byte] is the size of the data set;
// a chunk has at least a sample.
static bool is_readable(hid_t set, uint64_t total, size_t size) {
    hsize_t chunk[3];
    hid_t creation = H5Dget_create_plist(set);
    if (creation < 0)
        return false;
    const bool own = H5Pget_external_count(creation) <= 0 && H5Pget_layout(creation) != H5D_VIRTUAL;
    const int rank = H5Pget_chunk(creation, 3, chunk);
    double bytes = (double)size;
    for (int i = 0; i < rank && i < 3; i++)
        bytes *= (double)chunk[i];
    H5Pclose(creation);
    return own && (rank < 0 || bytes <= (double)(total > CHUNK_MOST ? total : CHUNK_MOST));
}

static void *read_values(Reading *reading, hid_t set, hid_t memory, const hsize_t shape[3],
                         size_t size) {
    const uint64_t samples = reading->recording->samples;
    void *values =
        mf_recording_take(reading->recording, samples * shape[1] * shape[2], size, reading->error);
    if (values == NULL) {
        reading->status = reading->error->status;
        return NULL;
    }
    if (samples > 0 && !is_readable(set, samples * shape[1] * shape[2] * size, size)) {
        reading->status = damaged(reading->recording, reading->error);
        return NULL;
    }
    hid_t space = H5Dget_space(set);
    const int rank = H5Sget_simple_extent_ndims(space);
    hsize_t start[3] = {0, 0, 0}, count[3] = {samples, rank == 2 ? shape[2] : shape[1], shape[2]};
    hid_t here = H5Screate_simple(rank, count, NULL);
    if (samples > 0 && (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
                        H5Dread(set, memory, here, space, H5P_DEFAULT, values) < 0))
        reading->status = damaged(reading->recording, reading->error);
    H5Sclose(here);
    H5Sclose(space);
    return values;
}

static void take_drawings(Reading *reading, hid_t set) {
    hsize_t shape[3];
    hid_t type = H5Dget_type(set);
    const bool bytes = type >= 0 && H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 1;
    if (type >= 0)
        H5Tclose(type);
    if (read_shape(set, shape) != 1 || !bytes || shape[0] == 0)
        return;
    uint8_t *values = mf_recording_take(reading->recording, shape[0], 1, reading->error);
    if (values == NULL)
        reading->status = reading->error->status;
    else if (!is_readable(set, shape[0], 1) ||
             H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        reading->status = damaged(reading->recording, reading->error);
    reading->recording->drawings = values;
    reading->recording->drawings_size = values != NULL ? shape[0] : 0;
}

static void take_set(Reading *reading, hid_t set, const char *name) {
    mf_Recording *recording = reading->recording;
    hsize_t shape[3];
    hid_t memory;
    mf_FieldType type;
    if (strcmp(name, "drawings") == 0)
        take_drawings(reading, set);
    const int rank = read_shape(set, shape);
    if (rank < 1 || rank > 3 || !find_type(set, &type, &memory) || shape[1] > UINT32_MAX ||
        shape[2] > UINT32_MAX)
        return; // not of a recorder
    if (rank < 3 && shape[0] != recording->samples)
        return; // nor another's column of numbers, one for each time
    if (rank == 2) {
        shape[2] = shape[1];
        shape[1] = 1;
    }
    void *values = read_values(reading, set, memory, shape, mf_field_value_size(type));
    if (values == NULL)
        return;
    if (strcmp(name, "picture/frame") == 0) {
        recording->frame_size = (uint32_t)shape[2];
        recording->frames = values;
        return;
    }
    mf_RecordedField *field = mf_recording_field(recording, reading->error);
    const char *copy = mf_recording_text(recording, name, strlen(name), reading->error);
    if (field == NULL || copy == NULL) {
        reading->status = reading->error->status;
        return;
    }
    *field = (mf_RecordedField){.name = copy,
                                .unit = read_text(reading, set, "unit"),
                                .frame = read_text(reading, set, "frame"),
                                .description = read_text(reading, set, "description"),
                                .type = type,
                                .count = (uint32_t)shape[1],
                                .components = (uint32_t)shape[2],
                                .values = values};
}

// A data set has at least so many samples as all have; after a killed run some may have more.
static herr_t visit(hid_t file, const char *name, const H5O_info_t *info, void *user) {
    Reading *reading = user;
    const bool counting = reading->recording->time == NULL;
    if (info->type != H5O_TYPE_DATASET || strcmp(name, "time") == 0)
        return 0;
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    hsize_t shape[3];
    if (set >= 0 && counting && read_shape(set, shape) == 3 &&
        shape[0] < reading->recording->samples)
        reading->recording->samples = (uint32_t)shape[0];
    if (set >= 0 && !counting)
        take_set(reading, set, name);
    if (set >= 0)
        H5Dclose(set);
    else
        reading->status = damaged(reading->recording, reading->error);
    return reading->status == MF_OK ? 0 : -1;
}

static bool is_deflated(hid_t set) {
    unsigned flags, settings;
    size_t count = 0;
    hid_t creation = H5Dget_create_plist(set);
    const bool found = creation >= 0 && H5Pget_filter_by_id2(creation, H5Z_FILTER_DEFLATE, &flags,
                                                             &count, NULL, 0, NULL, &settings) >= 0;
    if (creation >= 0)
        H5Pclose(creation);
    return found;
}

static void read_sets(Reading *reading) {
    mf_Recording *recording = reading->recording;
    hsize_t shape[3];
    H5L_info_t link = {.type = H5L_TYPE_ERROR};
    hid_t set = H5Lexists(reading->file, "time", H5P_DEFAULT) > 0 &&
                        H5Lget_info(reading->file, "time", &link, H5P_DEFAULT) >= 0 &&
                        link.type == H5L_TYPE_HARD
                    ? H5Dopen2(reading->file, "time", H5P_DEFAULT)
                    : -1;
    if (set < 0 || read_shape(set, shape) != 1 || shape[0] > UINT32_MAX) {
        reading->status = mf_fail_at(reading->error, MF_BAD_FILE, recording->path, 0, 0,
                                     "an HDF5 file, but no recording of Mayfly: it has no data "
                                     "set `time`");
    } else {
        recording->samples = (uint32_t)shape[0];
        recording->compression = is_deflated(set) ? "deflate" : "";
        H5Ovisit2(reading->file, H5_INDEX_NAME, H5_ITER_INC, visit, reading, H5O_INFO_BASIC);
        shape[1] = shape[2] = 1;
        if (reading->status == MF_OK)
            recording->time = read_values(reading, set, H5T_NATIVE_DOUBLE, shape, sizeof(double));
        if (reading->status == MF_OK)
            H5Ovisit2(reading->file, H5_INDEX_NAME, H5_ITER_INC, visit, reading, H5O_INFO_BASIC);
    }
    if (set >= 0)
        H5Dclose(set);
}

// The file, or its image in memory.
static hid_t open_file(const mf_Recording *recording, char *image, size_t size) {
    hid_t access = image != NULL ? H5Pcreate(H5P_FILE_ACCESS) : H5P_DEFAULT, file = -1;
    if (image == NULL || (access >= 0 && H5Pset_fapl_core(access, 1 << 20, 0) >= 0 &&
                          H5Pset_file_image(access, image, size) >= 0))
        // The library refuses an image where there is a file of that name.
        file = H5Fopen(image != NULL ? "/dev/null/image" : recording->path, H5F_ACC_RDONLY, access);
    if (image != NULL && access >= 0)
        H5Pclose(access);
    return file;
}

// `closed`: the library has let go of all that it opened.
static mf_Status read_all(mf_Recording *recording, char *image, size_t size, bool *closed,
                          mf_Error *error) {
    Reading reading = {.recording = recording, .error = error, .status = MF_OK};
    unsigned plugins = 0;
    mf_Quiet quiet = mf_quiet_begin();
    const bool known = H5PLget_loading_state(&plugins) >= 0 && H5PLset_loading_state(0) >= 0;
    reading.file = open_file(recording, image, size);
    if (reading.file < 0)
        reading.status = damaged(recording, error);
    if (reading.status == MF_OK)
        read_head(&reading);
    if (reading.status == MF_OK)
        read_sets(&reading);
    *closed = reading.file < 0 || H5Fget_obj_count(reading.file, H5F_OBJ_ALL) == 1;
    if (reading.file >= 0)
        *closed = H5Fclose(reading.file) >= 0 && *closed;
    if (known)
        H5PLset_loading_state(plugins);
    mf_quiet_end(quiet);
    return reading.status;
}

// ---- the child ---------------------------------------------------------------------------------

static void set_limit(int what, uint64_t most) {
    struct rlimit limit;
    if (getrlimit(what, &limit) == 0 && most < limit.rlim_cur) {
        limit.rlim_cur = most;
        setrlimit(what, &limit);
    }
}

// [byte] of address space that this process has; 0: unknown.
static uint64_t address_space(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL && fscanf(file, "%llu", &pages) != 1)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

// What a child found.
typedef struct Answer {
    mf_Status status;
    mf_Error error;
} Answer;

// Reads the file, writes the answer once that is over, and ends.
static _Noreturn void try_in_child(mf_Recording *recording, char *image, size_t size, int answer) {
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGXCPU, SIGALRM};
    Answer found = {0};
    bool closed;
    mf_context_fail_after(recording->context, 0); // calls that fail on purpose fail in the parent
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL); // whatever the host does then
    set_limit(RLIMIT_CORE, 0);
    const uint64_t most = SECONDS_MOST + (recording->memory->left >> 26),
                   needs = 1 + (size >> SLOWEST);
    const uint64_t seconds = needs < most ? needs : most;
    set_limit(RLIMIT_CPU, seconds);       // a damaged index can go round for ever
    alarm((unsigned)(60 + 10 * seconds)); // and a lock that another thread of the host holds
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const uint64_t now = address_space();
    if (now > 0 && recording->memory->left < UINT64_MAX / 2)
        set_limit(RLIMIT_AS, now + recording->memory->left + SPARE);
#else
    (void)address_space;
#endif
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, STDERR_FILENO) >= 0) { // the C library's last words
        found.status = read_all(recording, image, size, &closed, &found.error);
        while (closed && write(answer, &found, sizeof found) < 0 && errno == EINTR)
            continue;
    }
    for (;;) // without what the host does at its end
        kill(getpid(), SIGKILL);
}

// What a child that reads the file finds, or MF_BAD_FILE where it does not live: in this process
// the library would keep for ever what it has opened of a damaged file.
static mf_Status try_file(mf_Recording *recording, char *image, size_t size, mf_Error *error) {
    int ends[2] = {-1, -1};
    Answer found;
    ssize_t got;
    pid_t child = -1;
    if (mf_allow(recording->context, "pipe") && pipe2(ends, O_CLOEXEC) == 0 &&
        mf_allow(recording->context, "fork"))
        child = fork();
    if (child == 0)
        try_in_child(recording, image, size, ends[1]);
    const int cause = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    do
        got = child > 0 ? read(ends[0], &found, sizeof found) : -1;
    while (got < 0 && child > 0 && errno == EINTR);
    if (ends[0] >= 0)
        close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0)
        return mf_fail_at(error, MF_IO, recording->path, 0, 0, "cannot start a process: %s",
                          strerror(cause));
    if (got != (ssize_t)sizeof found)
        return damaged(recording, error);
    if (found.status != MF_OK && error != NULL)
        *error = found.error;
    return found.status;
}

mf_Status mf_recording_read_hdf5(mf_Recording *recording, char *image, size_t size,
                                 mf_Error *error) {
    recording->kind = "HDF5";
    bool closed;
    MF_TRY(try_file(recording, image, size, error));
    return read_all(recording, image, size, &closed, error);
}
