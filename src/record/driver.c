// An HDF5 virtual file driver that writes to the recorder's descriptor.
//
// Why not HDF5's own: when a write fails (a full disk), that driver keeps the file and all its
// objects open forever, because closing needs more writes. This driver stores the first failure in
// the output, reports success to HDF5 and drops all later writes; HDF5 then closes cleanly, and
// what was half written is undone (journal.h). Every system call also calls mf_allow, so that tests
// can make each one fail.
#include "record/driver.h"
#include "base/inject.h"

#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

typedef struct DriverFile {
    H5FD_t common; // must be the first member
    mf_Output *output;
    haddr_t allocated; // [byte] HDF5's "end of allocation"
    haddr_t end;       // [byte] end of what was written
} DriverFile;

static void note_failure(mf_Output *output) {
    if (output->failure == 0)
        output->failure = errno != 0 ? errno : EIO;
}

static H5FD_t *open_file(const char *name, unsigned flags, hid_t access, haddr_t limit) {
    (void)name;
    (void)flags;
    (void)limit;
    mf_Output *const *information = H5Pget_driver_info(access);
    if (information == NULL)
        return NULL;
    DriverFile *file = mf_allocate((*information)->context, 1, sizeof *file);
    if (file == NULL) { // HDF5 may try again; the recorder fails in any case
        (*information)->failure = ENOMEM;
        return NULL;
    }
    file->output = *information;
    return &file->common;
}

static herr_t close_file(H5FD_t *common) {
    DriverFile *file = (DriverFile *)common;
    mf_release(file->output->context, file);
    return 0;
}

static int compare_files(const H5FD_t *a, const H5FD_t *b) {
    const mf_Output *first = ((const DriverFile *)a)->output;
    const mf_Output *second = ((const DriverFile *)b)->output;
    return first < second ? -1 : first > second;
}

static herr_t query_features(const H5FD_t *common, unsigned long *flags) {
    (void)common;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t get_allocated(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const DriverFile *)common)->allocated;
}

static herr_t set_allocated(H5FD_t *common, H5FD_mem_t type, haddr_t address) {
    (void)type;
    ((DriverFile *)common)->allocated = address;
    return 0;
}

static haddr_t get_end(const H5FD_t *common, H5FD_mem_t type) {
    (void)type;
    return ((const DriverFile *)common)->end;
}

static herr_t read_bytes(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *bytes) {
    (void)type;
    (void)transfer;
    mf_Output *output = ((DriverFile *)common)->output;
    char *target = bytes;
    while (size > 0) {
        ssize_t count = -1;
        if (output->failure == 0 && mf_allow(output->context, "pread"))
            count = pread(output->descriptor, target, size, (off_t)address);
        if (count < 0 && errno == EINTR && output->failure == 0)
            continue;
        if (count < 0) {
            note_failure(output);
            return -1;
        }
        if (count == 0) { // bytes after the end are 0
            memset(target, 0, size);
            break;
        }
        target += count;
        address += (haddr_t)count;
        size -= (size_t)count;
    }
    return 0;
}

static herr_t write_bytes(H5FD_t *common, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, const void *bytes) {
    (void)type;
    (void)transfer;
    DriverFile *file = (DriverFile *)common;
    mf_Output *output = file->output;
    if (address + size > file->end)
        file->end = address + size;
    const char *source = bytes;
    errno = 0;
    if (output->failure == 0 && address < output->journal.whole &&
        !mf_journal_keep(&output->journal, output->descriptor, address, size))
        note_failure(output);
    while (size > 0 && output->failure == 0) {
        ssize_t count = -1;
        errno = 0;
        if (mf_allow(output->context, "pwrite"))
            count = pwrite(output->descriptor, source, size, (off_t)address);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            note_failure(output);
            break;
        }
        source += count;
        address += (haddr_t)count;
        size -= (size_t)count;
    }
    return 0;
}

static herr_t truncate_file(H5FD_t *common, hid_t transfer, hbool_t closing) {
    (void)transfer;
    (void)closing;
    DriverFile *file = (DriverFile *)common;
    mf_Output *output = file->output;
    if (file->allocated == file->end)
        return 0;
    file->end = file->allocated;
    if (output->failure == 0 && file->end < output->journal.whole &&
        !mf_journal_keep(&output->journal, output->descriptor, file->end,
                         (size_t)(output->journal.whole - file->end)))
        note_failure(output);
    if (output->failure == 0 && (!mf_allow(output->context, "ftruncate") ||
                                 ftruncate(output->descriptor, (off_t)file->end) != 0))
        note_failure(output);
    return 0;
}

const H5FD_class_t *mf_driver_class(void) {
    static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 13, 0)
        .version = H5FD_CLASS_VERSION,
        .value = 600, // in the range for private use
#endif
        .name = "mayfly",
        .maxaddr = LLONG_MAX,
        .fc_degree = H5F_CLOSE_STRONG,
        .fapl_size = sizeof(mf_Output *),
        .open = open_file,
        .close = close_file,
        .cmp = compare_files,
        .query = query_features,
        .get_eoa = get_allocated,
        .set_eoa = set_allocated,
        .get_eof = get_end,
        .read = read_bytes,
        .write = write_bytes,
        .truncate = truncate_file,
        .fl_map = H5FD_FLMAP_DICHOTOMY,
    };
    return &driver;
}
