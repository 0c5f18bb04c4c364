// A file that appears with its head, and can be read from then on: temporary name, move, writes
// with a way back (journal.h), sync of the file and its folder (Pillai et al., OSDI 2014). A file
// that it replaces is exchanged with it in one step and kept until the end, so that it can come
// back.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // renameat2
#endif
#include "record/output.h"
#include "base/inject.h"

#include "record/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TRIES = 100 };

static mf_Status fail_call(const mf_Output *output, mf_Error *error, const char *operation) {
    int cause = errno;
    mf_Status status = cause == ENOENT || cause == ENOTDIR ? MF_NOT_FOUND
                       : cause == ENOMEM                   ? MF_NO_MEMORY
                                                           : MF_IO;
    return mf_fail_at(error, status, output->path, 0, 0, "cannot %s: %s", operation,
                      strerror(cause));
}

mf_Status mf_output_fail(const mf_Output *output, mf_Error *error) {
    errno = output->failure;
    return fail_call(output, error, "write");
}

// ---- making ------------------------------------------------------------------------------------

static mf_Status check_target(const mf_Output *output, mf_Error *error) {
    struct stat info;
    if (!mf_allow(output->context, "stat"))
        return fail_call(output, error, "read its status");
    if (stat(output->path, &info) == 0 && !S_ISREG(info.st_mode))
        return mf_fail_at(error, MF_BAD_ARGUMENT, output->path, 0, 0,
                          "exists and is not a regular file; it is not replaced");
    return MF_OK;
}

static mf_Status open_temporary(mf_Output *output, size_t size, mf_Error *error) {
    for (int i = 0; i < NAME_TRIES; i++) {
        snprintf(output->temporary, size, "%s.part-%ld-%d", output->path, (long)getpid(), i);
        errno = 0;
        if (mf_allow(output->context, "open"))
            output->descriptor =
                open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (output->descriptor >= 0)
            return MF_OK;
        if (errno != EEXIST && errno != EINTR)
            break;
    }
    mf_Status status = fail_call(output, error, "create a file in its folder");
    output->temporary[0] = '\0'; // not removed by mf_output_free
    return status;
}

mf_Status mf_output_create(mf_Context *context, const char *path, mf_Output *out, mf_Error *error) {
    *out = (mf_Output){.context = context,
                       .descriptor = -1,
                       .driver = H5I_INVALID_HID,
                       .journal = {.descriptor = -1}};
    size_t length = strlen(path), capacity = length + 64;
    char *name = mf_allocate(context, length + 1, 1);
    out->path = name;
    out->temporary = mf_allocate(context, capacity, 1);
    if (name == NULL || out->temporary == NULL) {
        mf_output_free(out);
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to record");
    }
    memcpy(name, path, length + 1);
    mf_Status status = check_target(out, error);
    MF_THEN(status, open_temporary(out, capacity, error));
    if (status != MF_OK)
        mf_output_free(out);
    return status;
}

hid_t mf_output_access(mf_Output *output) {
    if (output->driver < 0)
        output->driver = H5FDregister(mf_driver_class());
    hid_t access = output->driver < 0 ? H5I_INVALID_HID : H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_driver(access, output->driver, &output) < 0) {
        H5Pclose(access);
        return H5I_INVALID_HID;
    }
    return access;
}

// ---- moving into place -------------------------------------------------------------------------

static int open_folder(const mf_Output *output) {
    const char *slash = strrchr(output->path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - output->path) + 1;
    char *folder = mf_allocate(output->context, length + 2, 1);
    if (folder == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(folder, length == 0 ? "." : output->path, length == 0 ? 1 : length);
    int descriptor = -1;
    if (mf_allow(output->context, "open"))
        descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mf_release(output->context, folder);
    return descriptor;
}

// Moves the file; *exchanged tells whether an old one now has the temporary name.
static bool move_file(const mf_Output *output, bool *exchanged) {
    *exchanged = false;
    if (!mf_allow(output->context, "rename"))
        return false;
    if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_EXCHANGE) == 0) {
        *exchanged = true;
        return true;
    }
    // No old file, or a file system without exchange.
    return rename(output->temporary, output->path) == 0;
}

static void move_back(const mf_Output *output, bool exchanged) {
    if (exchanged)
        renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path, RENAME_EXCHANGE);
    else
        rename(output->path, output->temporary);
}

static mf_Status move_and_sync(mf_Output *output, int folder, mf_Error *error) {
    bool exchanged;
    if (!move_file(output, &exchanged))
        return fail_call(output, error, "rename it");
    if (!mf_allow(output->context, "fsync") || fsync(folder) != 0) {
        mf_Status status = fail_call(output, error, "sync its folder");
        move_back(output, exchanged);
        return status;
    }
    if (exchanged)
        unlink(output->temporary);
    output->temporary[0] = '\0';
    return MF_OK;
}

// ---- while it is written -----------------------------------------------------------------------

mf_Status mf_output_publish(mf_Output *output, mf_Error *error) {
    struct stat info;
    const bool replaces = lstat(output->path, &info) == 0;
    MF_TRY(mf_journal_begin(&output->journal, output->context,
                            replaces ? output->temporary : output->path, error));
    if (!replaces) {
        if (!mf_allow(output->context, "rename") || rename(output->temporary, output->path) != 0)
            return fail_call(output, error, "rename it");
        output->placed = true;
    }
    mf_output_whole(output);
    return MF_OK;
}

void mf_output_whole(mf_Output *output) {
    struct stat info;
    if (output->journal.path != NULL && fstat(output->descriptor, &info) == 0)
        mf_journal_whole(&output->journal, (uint64_t)info.st_size);
}

void mf_output_keep(mf_Output *output) {
    const int cause = output->failure;
    const bool full = cause == ENOSPC || cause == EDQUOT || cause == EFBIG;
    if (full && output->journal.path != NULL && output->descriptor >= 0 &&
        mf_journal_undo(&output->journal, output->descriptor))
        output->kept = output->placed || rename(output->temporary, output->path) == 0;
}

// ---- the end -----------------------------------------------------------------------------------

static mf_Status sync_folder(mf_Output *output, int folder, mf_Error *error) {
    if (!output->placed)
        return move_and_sync(output, folder, error);
    return mf_allow(output->context, "fsync") && fsync(folder) == 0
               ? MF_OK
               : fail_call(output, error, "sync its folder");
}

mf_Status mf_output_commit(mf_Output *output, mf_Error *error) {
    if (!mf_allow(output->context, "fsync") || fsync(output->descriptor) != 0)
        return fail_call(output, error, "sync it");
    if (!mf_allow(output->context, "close"))
        return fail_call(output, error, "close it");
    int closed = close(output->descriptor);
    output->descriptor = -1; // closed in any case
    if (closed != 0)
        return fail_call(output, error, "close it");
    int folder = open_folder(output);
    if (folder < 0)
        return fail_call(output, error, "open its folder");
    mf_Status status = sync_folder(output, folder, error);
    output->kept = status == MF_OK;
    close(folder);
    return status;
}

void mf_output_free(mf_Output *output) {
    if (output->context == NULL)
        return;
    if (output->descriptor >= 0)
        close(output->descriptor);
    if (!output->kept && output->placed)
        unlink(output->path);
    else if (!output->kept && output->temporary != NULL && output->temporary[0] != '\0')
        unlink(output->temporary);
    if (output->driver >= 0)
        H5FDunregister(output->driver);
    mf_journal_free(&output->journal);
    mf_release(output->context, output->temporary);
    mf_release(output->context, (void *)(uintptr_t)output->path);
    *output = (mf_Output){.descriptor = -1, .driver = H5I_INVALID_HID};
}
