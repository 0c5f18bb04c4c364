// Whole files: read one into memory, replace one so that a crash leaves the old or the new content.
//
// Replacing (Pillai et al., OSDI 2014: what must be synced, and when): write a new file next to the
// old one, sync it, move it into place, sync the folder. Where the system can exchange two names
// in one step the old file is kept under the temporary name until the folder is synced, so that a
// failure there can be undone too; elsewhere that last failure leaves the complete new file.
// A symbolic link is replaced by a file. Devices, pipes and folders are never replaced.
// Invariant: every return path closes what it opened and removes its temporary file.
#define _GNU_SOURCE // renameat2, %m
#include "base/file.h"
#include "base/floats.h"
#include "base/inject.h"

#include "base/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_LIMIT = 4096, NAME_TRIES = 100 };

// The largest number of bytes one read or write transfers on Linux.
#define TRANSFER_LIMIT ((size_t)0x7ffff000)

static mf_Status status_of_errno(void) {
    return errno == ENOENT || errno == ENOTDIR ? MF_NOT_FOUND : MF_IO;
}

static mf_Status fail_call(mf_Error *error, const char *path, const char *operation) {
    return mf_fail_at(error, status_of_errno(), path, 0, 0, "cannot %s: %m", operation);
}

static int open_retrying(mf_Context *context, const char *path, int flags, mode_t mode) {
    int file = -1;
    do {
        file = mf_allow(context, "open") ? open(path, flags | O_CLOEXEC, mode) : -1;
    } while (file < 0 && errno == EINTR);
    return file;
}

// ---- read --------------------------------------------------------------------------------------

// Checks what was opened, so that nothing can be swapped in between.
static mf_Status check_regular(mf_Context *context, int file, const char *path, size_t limit,
                               size_t *size, mf_Error *error) {
    struct stat info;
    if (!mf_allow(context, "fstat") || fstat(file, &info) != 0)
        return fail_call(error, path, "read its status");
    if (S_ISDIR(info.st_mode))
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "is a folder; need a file");
    if (!S_ISREG(info.st_mode))
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "is not a regular file");
    if ((uintmax_t)info.st_size > limit)
        return mf_fail_at(error, MF_LIMIT, path, 0, 0, "is %jd bytes long; at most %zu are allowed",
                          (intmax_t)info.st_size, limit);
    *size = (size_t)info.st_size;
    return MF_OK;
}

// Reads until `size` bytes are there or the file ends; *got receives how many. False with errno.
static bool read_fully(mf_Context *context, int file, char *data, size_t size, size_t *got) {
    size_t filled = 0;
    while (filled < size) {
        size_t needed = size - filled < TRANSFER_LIMIT ? size - filled : TRANSFER_LIMIT;
        ssize_t count = mf_allow(context, "read") ? read(file, data + filled, needed) : -1;
        if (count == 0)
            break;
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0)
            filled += (size_t)count;
    }
    *got = filled;
    return true;
}

static mf_Status read_open_file(mf_Context *context, int file, const char *path, size_t limit,
                                char **data, size_t *size, mf_Error *error) {
    size_t expected = 0;
    MF_TRY(check_regular(context, file, path, limit, &expected, error));
    mf_Status status = MF_OK;
    // One byte for the terminator, which also shows whether the file grew meanwhile.
    char *buffer = mf_allocate(context, expected + 1, 1);
    if (buffer == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory for its %zu bytes", expected);
    size_t got = 0;
    if (!read_fully(context, file, buffer, expected + 1, &got))
        status = fail_call(error, path, "read");
    else if (got != expected)
        status = mf_fail_at(error, MF_IO, path, 0, 0, "its length changed while it was read");
    if (status != MF_OK) {
        mf_release(context, buffer);
        return status;
    }
    buffer[expected] = '\0';
    *data = buffer;
    *size = expected;
    return MF_OK;
}

mf_Status mf_file_read(mf_Context *context, const char *path, size_t limit, char **data,
                       size_t *size, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL, error, "mf_file_read: context is NULL");
    if (!mf_file_may(context, path))
        return mf_fail_at(error, MF_NOT_FOUND, path, 0, 0,
                          "expected a file below the folder whose files may be read");
    // Not blocking, or opening a pipe without a writer would hang.
    int file = open_retrying(context, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (file < 0)
        return fail_call(error, path, "open");
    mf_Status status = read_open_file(context, file, path, limit, data, size, error);
    close(file);
    if (status == MF_OK && context->file_seen != NULL)
        context->file_seen(path, context->file_user);
    return status;
}

mf_Status mf_file_read_text(mf_Context *context, const char *path, size_t limit, char **data,
                            size_t *size, mf_Error *error) {
    MF_TRY(mf_file_read(context, path, limit, data, size, error));
    if (*size >= 2 && (memcmp(*data, "\xff\xfe", 2) == 0 || memcmp(*data, "\xfe\xff", 2) == 0)) {
        mf_release(context, *data);
        *data = NULL;
        return mf_fail_at(error, MF_BAD_FILE, path, 1, 1,
                          "expected UTF-8, found UTF-16: save the file as UTF-8");
    }
    if (*size >= 3 && memcmp(*data, "\xef\xbb\xbf", 3) == 0) {
        *size -= 3;
        memmove(*data, *data + 3, *size + 1); // with the 0 behind it
    }
    return MF_OK;
}

void mf_file_watch(mf_Context *context, void (*seen)(const char *path, void *user), void *user) {
    context->file_seen = seen;
    context->file_user = user;
}

bool mf_file_may(const mf_Context *context, const char *path) {
    return context->file_may == NULL || context->file_may(path, context->file_guard);
}

void mf_file_guard(mf_Context *context, bool (*may)(const char *path, void *user), void *user) {
    context->file_may = may;
    context->file_guard = user;
}

// ---- replace -----------------------------------------------------------------------------------

typedef struct Replacement {
    mf_Context *context;
    mf_Error *error;
    const char *path;
    bool exists; // there is an old file
    mode_t mode; // [1] its permission bits
    int folder;  // open folder, -1 when not
    char folder_path[PATH_LIMIT];
    char temporary[PATH_LIMIT + 64]; // "" while there is none
} Replacement;

static mf_Status check_target(Replacement *job) {
    struct stat info;
    if (!mf_allow(job->context, "stat"))
        return fail_call(job->error, job->path, "read its status");
    if (stat(job->path, &info) != 0) {
        if (errno != ENOENT)
            return fail_call(job->error, job->path, "read its status");
        return MF_OK;
    }
    if (!S_ISREG(info.st_mode))
        return mf_fail_at(job->error, MF_BAD_ARGUMENT, job->path, 0, 0,
                          "exists and is not a regular file; it is not replaced");
    job->exists = true;
    job->mode = info.st_mode & 0777;
    return MF_OK;
}

static mf_Status open_folder(Replacement *job) {
    const char *slash = strrchr(job->path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - job->path) + 1;
    if (length >= sizeof job->folder_path - 2)
        return mf_fail_at(job->error, MF_LIMIT, job->path, 0, 0, "path is longer than %d bytes",
                          PATH_LIMIT - 2);
    if (length == 0) {
        strcpy(job->folder_path, "./");
    } else {
        memcpy(job->folder_path, job->path, length);
        job->folder_path[length] = '\0';
    }
    job->folder = open_retrying(job->context, job->folder_path, O_RDONLY | O_DIRECTORY, 0);
    if (job->folder < 0)
        return fail_call(job->error, job->path, "open its folder");
    return MF_OK;
}

// Creates the temporary file. Its name is short whatever the target's is. Process id and time keep
// it apart from what other processes, and killed ones, have left; exclusive creation keeps threads
// apart.
static int create_temporary(Replacement *job) {
    for (int i = 0; i < NAME_TRIES; i++) {
        struct timespec now = {0, 0};
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(job->temporary, sizeof job->temporary, "%s.mayfly-%ld-%jx%08lx.tmp",
                 job->folder_path, (long)getpid(), (intmax_t)now.tv_sec, now.tv_nsec);
        int file = open_retrying(job->context, job->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
        if (file >= 0)
            return file;
        if (errno != EEXIST)
            break;
    }
    job->temporary[0] = '\0';
    return -1;
}

static bool write_fully(mf_Context *context, int file, const char *data, size_t size) {
    while (size > 0) {
        size_t needed = size < TRANSFER_LIMIT ? size : TRANSFER_LIMIT;
        ssize_t count = mf_allow(context, "write") ? write(file, data, needed) : -1;
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            if (count == 0)
                errno = EIO;
            return false;
        }
        data += count;
        size -= (size_t)count;
    }
    return true;
}

static bool sync_file(mf_Context *context, int file) {
    int result;
    do {
        result = mf_allow(context, "fsync") ? fsync(file) : -1;
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

static mf_Status fill_temporary(Replacement *job, const void *data, size_t size) {
    int file = create_temporary(job);
    if (file < 0)
        return fail_call(job->error, job->path, "create a temporary file in its folder");
    const char *failed = NULL;
    if (job->exists && (!mf_allow(job->context, "fchmod") || fchmod(file, job->mode) != 0))
        failed = "set permissions";
    else if (!write_fully(job->context, file, data, size))
        failed = "write";
    else if (!sync_file(job->context, file))
        failed = "sync";
    mf_Status status = MF_OK;
    if (failed != NULL)
        status = fail_call(job->error, job->path, failed);
    // Network file systems report a full disk as late as here.
    bool closed = mf_allow(job->context, "close");
    closed = close(file) == 0 && closed;
    if (status == MF_OK && !closed)
        status = fail_call(job->error, job->path, "close");
    return status;
}

static bool exchange(const char *first, const char *second) {
#ifdef RENAME_EXCHANGE
    return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0;
#else
    (void)first;
    (void)second;
    errno = ENOSYS;
    return false;
#endif
}

static bool sync_folder(Replacement *job) {
    // Some file systems cannot sync a folder and say so; there is nothing more to do there.
    return sync_file(job->context, job->folder) || errno == EINVAL || errno == ENOTSUP;
}

static mf_Status replace_file(Replacement *job) {
    if (!mf_allow(job->context, "rename"))
        return fail_call(job->error, job->path, "replace");
    bool exchanged = job->exists && exchange(job->temporary, job->path);
    if (!exchanged) {
        if (rename(job->temporary, job->path) != 0)
            return fail_call(job->error, job->path, "replace");
        job->temporary[0] = '\0';
    }
    if (sync_folder(job))
        return MF_OK;
    mf_Status status = fail_call(job->error, job->path, "sync its folder");
    if (exchanged)
        exchange(job->temporary, job->path);
    else if (!job->exists)
        unlink(job->path);
    return status;
}

static void clean_up(const Replacement *job) {
    if (job->temporary[0] != '\0')
        unlink(job->temporary);
    if (job->folder >= 0)
        close(job->folder);
}

mf_Status mf_file_replace(mf_Context *context, const char *path, const void *data, size_t size,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL, error, "mf_file_replace: context is NULL");
    Replacement job = {.context = context, .error = error, .path = path, .folder = -1};
    mf_Status status = check_target(&job);
    MF_THEN(status, open_folder(&job));
    MF_THEN(status, fill_temporary(&job, data, size));
    MF_THEN(status, replace_file(&job));
    clean_up(&job);
    return status;
}

mf_Status mf_file_try(mf_Context *context, const char *path, mf_Error *error) {
    MF_NEED(context != NULL, error, "mf_file_try: context is NULL");
    MF_CHECK(path[0] != '\0', error, MF_NOT_FOUND, "expected the name of a file, found nothing");
    Replacement job = {.context = context, .error = error, .path = path, .folder = -1};
    mf_Status status = check_target(&job);
    MF_THEN(status, open_folder(&job));
    if (status == MF_OK) {
        const int file = create_temporary(&job);
        if (file < 0)
            status = fail_call(error, path, "create a file in its folder");
        else
            close(file);
    }
    clean_up(&job);
    return status;
}
