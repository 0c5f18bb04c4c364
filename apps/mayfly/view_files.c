// The folder has one more around it: a robot may name files in the folder above its own, and must
// find nothing of others there.
#define _DEFAULT_SOURCE // mkdtemp
#include "view_files.h"

#include "io/package.h"
#include "run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_scene_or_robot(const char *name) {
    return mf_app_ends_with(name, ".urdf") || mf_app_ends_with(name, ".xml") ||
           mf_app_ends_with(name, ".yaml");
}

static mf_Status refuse_main(const char *name, mf_Error *error) {
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "expected a robot (.urdf, .xml) or a scene (.yaml), found '%.100s'", name);
}

static mf_Status fail_at(const char *path, mf_Error *error) {
    return mf_fail(error, MF_UNSUPPORTED, "%.200s: cannot write: %s", path, strerror(errno));
}

static mf_Status make_folders(mf_DropFolder *folder, mf_Error *error) {
    const char *temporary = getenv("TMPDIR");
    snprintf(folder->path, sizeof folder->path, "%.3000s/mayfly-XXXXXX",
             temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder->path) == NULL) {
        folder->path[0] = '\0';
        return mf_fail(error, MF_UNSUPPORTED, "%.200s: cannot make a folder: %s",
                       temporary != NULL ? temporary : "/tmp", strerror(errno));
    }
    snprintf(folder->files, sizeof folder->files, "%s/drop", folder->path);
    return mkdir(folder->files, 0700) == 0 ? MF_OK : fail_at(folder->files, error);
}

// The folders of a path below folder->files; `path` is as it was while this returns.
static mf_Status make_parents(const mf_DropFolder *folder, const char *path, mf_Error *error) {
    char whole[sizeof folder->main];
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(whole, sizeof whole, "%s/%.*s", folder->files, (int)(slash - path), path);
        if (mkdir(whole, 0700) != 0 && errno != EEXIST)
            return fail_at(whole, error);
    }
    return MF_OK;
}

// A new file: a name that comes twice is refused.
static mf_Status write_file(const mf_DropFolder *folder, const char *path, const void *data,
                            size_t size, mf_Error *error) {
    char whole[sizeof folder->main];
    MF_TRY(make_parents(folder, path, error));
    snprintf(whole, sizeof whole, "%s/%s", folder->files, path);
    const int handle = open(whole, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (handle < 0)
        return fail_at(whole, error);
    size_t done = 0;
    while (done < size) {
        const ssize_t count = write(handle, (const char *)data + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    return close(handle) == 0 && done == size ? MF_OK : fail_at(whole, error);
}

static mf_Status write_all(const mf_DropFolder *folder, const mf_ViewDrop *drop, mf_Error *error) {
    const uint8_t *data = (const uint8_t *)drop->data;
    mf_Package package = {.at = data, .end = data + drop->size};
    mf_PackageFile file;
    mf_Error reason = {0};
    bool found = false;
    mf_Status status = MF_OK;
    while (status == MF_OK && mf_package_next(&package, &file, &reason)) {
        status = write_file(folder, file.path, file.data, file.size, error);
        found = found || strcmp(file.path, drop->name) == 0;
    }
    if (status == MF_OK && reason.status != MF_OK) {
        *error = reason;
        return reason.status;
    }
    return status != MF_OK || found ? status : refuse_main(drop->name, error);
}

mf_Status mf_drop_write(const mf_ViewDrop *drop, mf_DropFolder *out, mf_Error *error) {
    out->path[0] = '\0';
    if (!mf_package_is_path(drop->name) || !is_scene_or_robot(drop->name) ||
        (!drop->several && strchr(drop->name, '/') != NULL))
        return refuse_main(drop->name, error);
    MF_TRY(make_folders(out, error));
    snprintf(out->main, sizeof out->main, "%s/%s", out->files, drop->name);
    return drop->several ? write_all(out, drop, error)
                         : write_file(out, drop->name, drop->data, drop->size, error);
}

void mf_drop_remove(const mf_DropFolder *folder) {
    if (folder->path[0] != '\0')
        mf_folder_remove_all(folder->path);
}

// Takes each "FOLDER/" out of a text.
static void cut(char *text, const char *folder) {
    const size_t size = strlen(folder) + 1;
    for (char *at; (at = strstr(text, folder)) != NULL && strlen(at) >= size;)
        memmove(at, at + size, strlen(at + size) + 1);
}

void mf_drop_shorten(const mf_DropFolder *folder, mf_Error *error) {
    if (folder->path[0] == '\0')
        return;
    cut(error->file, folder->files);
    cut(error->message, folder->files);
}
