// Copies of a run's files (run_files.h).
#include "run_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "run_folder.h"

#define FILE_MOST ((size_t)1 << 30) // [byte]

// ---- recording paths ---------------------------------------------------------------------------

static void note(const char *path, void *user) {
    mf_RunFiles *files = user;
    char real[MF_APP_PATH];
    if (strlen(path) >= MF_APP_PATH || realpath(path, real) == NULL)
        return;
    for (uint32_t i = 0; i < files->count; i++)
        if (strcmp(files->paths[i], real) == 0)
            return;
    if (files->count == MF_RUN_FILES) {
        files->overflow = true;
        return;
    }
    char *copy = mf_allocate(files->context, strlen(real) + 1, 1);
    if (copy != NULL) {
        memcpy(copy, real, strlen(real) + 1);
        files->paths[files->count++] = copy;
    }
}

void mf_run_files_begin(mf_Context *context, mf_RunFiles *files) {
    *files = (mf_RunFiles){.context = context};
    mf_file_watch(context, note, files);
}

void mf_run_files_end(mf_RunFiles *files) {
    mf_file_watch(files->context, NULL, NULL);
}

void mf_run_files_free(mf_RunFiles *files) {
    for (uint32_t i = 0; i < files->count; i++)
        mf_release(files->context, files->paths[i]);
    files->count = 0;
}

// ---- keeping -----------------------------------------------------------------------------------

size_t mf_run_files_shared(const mf_RunFiles *files) {
    const char *first = files->count > 0 ? files->paths[0] : "/";
    size_t length = (size_t)(strrchr(first, '/') - first) + 1;
    for (uint32_t i = 1; i < files->count; i++) {
        size_t same = 0;
        while (same < length && first[same] == files->paths[i][same])
            same++;
        while (same > 0 && first[same - 1] != '/')
            same--;
        length = same;
    }
    return length;
}

static mf_Status copy(mf_Context *context, const char *from, const char *to, mf_Error *error) {
    char folder[MF_APP_PATH], *data;
    uint32_t made;
    size_t size;
    snprintf(folder, sizeof folder, "%s", to);
    *strrchr(folder, '/') = '\0';
    MF_TRY(mf_folder_make(context, folder, &made, error));
    MF_TRY(mf_file_read(context, from, FILE_MOST, &data, &size, error));
    mf_Status status = mf_file_replace(context, to, data, size, error);
    mf_release(context, data);
    return status;
}

mf_Status mf_run_files_keep(const mf_RunFiles *files, const char *folder, mf_Error *error) {
    mf_Status status = MF_OK;
    MF_CHECK(!files->overflow, error, MF_LIMIT,
             "the model has more than %d files to keep in %.200s", MF_RUN_FILES, folder);
    if (files->count == 0)
        return MF_OK;
    const size_t shared = mf_run_files_shared(files);
    for (uint32_t i = 0; i < files->count && status == MF_OK; i++) {
        char to[MF_APP_PATH];
        int length = snprintf(to, sizeof to, "%s/files/%s", folder, files->paths[i] + shared);
        status = length > 0 && (size_t)length < sizeof to
                     ? copy(files->context, files->paths[i], to, error)
                     : mf_fail(error, MF_LIMIT, "expected paths below %d bytes", MF_APP_PATH);
    }
    return status;
}

void mf_run_files_drop(const mf_RunFiles *files, const char *folder) {
    const size_t shared = mf_run_files_shared(files);
    for (uint32_t i = 0; i < files->count; i++) {
        char path[MF_APP_PATH];
        int length = snprintf(path, sizeof path, "%s/files/%s", folder, files->paths[i] + shared);
        if (length <= 0 || (size_t)length >= sizeof path)
            continue;
        unlink(path);
        for (char *slash; (slash = strrchr(path, '/')) > path + strlen(folder);) {
            *slash = '\0';
            if (rmdir(path) != 0)
                break;
        }
    }
}

// ---- finding -----------------------------------------------------------------------------------

bool mf_run_files_find(const char *folder, const char *within, const char *path,
                       char out[MF_APP_PATH]) {
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += strspn(part, "/");
        const int length = snprintf(out, MF_APP_PATH, "%s/%s%s", folder, within, part);
        if (*part != '\0' && length < MF_APP_PATH && access(out, R_OK) == 0)
            return true;
    }
    return false;
}
