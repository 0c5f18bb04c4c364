// The folder of an evolution run.
#define _XOPEN_SOURCE 700 // nftw
#define _DEFAULT_SOURCE
#include "run_folder.h"
#include "base/inject.h"

#include "run_files.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS_OPEN = 20 }; // [1] while one is removed

mf_Status mf_folder_path(const char *folder, const char *name, char out[MF_APP_PATH],
                         mf_Error *error) {
    int length = snprintf(out, MF_APP_PATH, "%s/%s", folder, name);
    if (length > 0 && length < MF_APP_PATH)
        return MF_OK;
    return mf_fail(error, MF_LIMIT, "expected a folder name below %d bytes", MF_APP_PATH);
}

void mf_folder_default(const char *file, uint64_t seed, char out[MF_APP_PATH]) {
    char plain[128];
    size_t length = 0;
    const char *slash = strrchr(file, '/'), *name = slash == NULL ? file : slash + 1;
    const char *dot = strrchr(name, '.'), *end = dot == NULL ? name + strlen(name) : dot;
    for (; name < end && length + 1 < sizeof plain; name++) {
        bool letter = isalnum((unsigned char)*name) && (unsigned char)*name < 0x80;
        if (letter)
            plain[length++] = (char)tolower((unsigned char)*name);
        else if (length > 0 && plain[length - 1] != '-')
            plain[length++] = '-';
    }
    while (length > 0 && plain[length - 1] == '-')
        length--;
    plain[length] = '\0';
    snprintf(out, MF_APP_PATH, "runs/%s-%llu", length == 0 ? "run" : plain,
             (unsigned long long)seed);
}

// ---- creating folders --------------------------------------------------------------------------

static mf_Status make_one(mf_Context *context, const char *path, uint32_t *made, mf_Error *error) {
    struct stat info;
    if (mf_allow(context, "mkdir") && mkdir(path, 0777) == 0) {
        ++*made;
        return MF_OK;
    }
    int reason = errno;
    if (reason == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return MF_OK;
    return mf_fail_at(error, MF_IO, path, 0, 0, "cannot create the folder: %s", strerror(reason));
}

mf_Status mf_folder_make(mf_Context *context, const char *folder, uint32_t *made, mf_Error *error) {
    char path[MF_APP_PATH];
    snprintf(path, sizeof path, "%s", folder);
    *made = 0;
    mf_Status status = MF_OK;
    for (char *slash = strchr(path + 1, '/'); slash != NULL && status == MF_OK;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = make_one(context, path, made, error);
        *slash = '/';
    }
    MF_THEN(status, make_one(context, path, made, error));
    if (status != MF_OK) {
        mf_folder_remove(folder, *made);
        *made = 0;
    }
    return status;
}

void mf_folder_remove(const char *folder, uint32_t made) {
    char path[MF_APP_PATH];
    snprintf(path, sizeof path, "%s", folder);
    while (made > 0) {
        if (rmdir(path) == 0)
            made--;
        else if (errno != ENOENT) // not there: not created
            return;
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path)
            return;
        *slash = '\0';
    }
}

// ---- finding again -----------------------------------------------------------------------------

static mf_Status find_again(const char *archive, const char *what, const char **path,
                            char out[MF_APP_PATH], bool *moved, mf_Error *error) {
    char folder[MF_APP_PATH], *slash;
    if (*path == NULL)
        return MF_OK;
    mf_app_absolute(archive, folder);
    slash = strrchr(folder, '/');
    *slash = '\0';
    bool found = mf_run_files_find(folder, "files/", *path, out);
    if (!found && access(*path, R_OK) == 0)
        return MF_OK;
    *moved = !found;
    while (!found && folder[0] != '\0') {
        found = mf_run_files_find(folder, "", *path, out);
        *strrchr(folder, '/') = '\0';
    }
    if (!found && !mf_run_files_find(".", "", *path, out))
        return mf_fail_at(error, MF_NOT_FOUND, archive, 0, 0,
                          "its %s %.300s is missing, also in the folders above the archive; state "
                          "its path by --%s FILE",
                          what, *path, what);
    *path = out;
    return MF_OK;
}

mf_Status mf_folder_find(const char *archive, mf_SceneFile *file, mf_FolderPaths *paths,
                         mf_Error *error) {
    bool ground_moved = false;
    paths->moved = false;
    if (!paths->own_model)
        MF_TRY(find_again(archive, "model", &file->groups[0].model_path, paths->model,
                          &paths->moved, error));
    return paths->own_ground ? MF_OK
                             : find_again(archive, "ground", &file->ground.path, paths->ground,
                                          &ground_moved, error);
}

// ---- removing -----------------------------------------------------------------------------------

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void mf_folder_remove_all(const char *folder) {
    nftw(folder, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
}

// ---- comparing ---------------------------------------------------------------------------------

mf_Status mf_folder_settings(mf_SceneFile *file, uint32_t generations, char **text,
                             mf_Error *error) {
    uint32_t before = file->generations;
    file->generations = generations;
    mf_Status status = mf_scene_file_write(file, text, error);
    file->generations = before;
    return status;
}

// Names the first line in which two texts differ.
static mf_Status name_difference(const char *path, const char *stored, const char *now,
                                 mf_Error *error) {
    while (*stored != '\0' && *now != '\0') {
        size_t a = strcspn(stored, "\n"), b = strcspn(now, "\n");
        if (a != b || memcmp(stored, now, a) != 0)
            break;
        stored += a + (stored[a] == '\n');
        now += b + (now[b] == '\n');
    }
    stored += strspn(stored, " ");
    now += strspn(now, " ");
    return mf_fail_at(error, MF_BAD_ARGUMENT, path, 0, 0,
                      "made with different settings: it has '%.*s', this run '%.*s'; use the same "
                      "ones or another --out",
                      (int)strcspn(stored, "\n"), stored, (int)strcspn(now, "\n"), now);
}

mf_Status mf_folder_compare_settings(mf_Context *context, const mf_ArchiveRun *run,
                                     const char *path, mf_SceneFile *file, mf_Error *error) {
    mf_SceneFile *stored = NULL;
    char *before = NULL, *now = NULL;
    mf_Status status = mf_scene_file_parse(context, path, run->settings, strlen(run->settings),
                                           NULL, 0, &stored, error);
    if (status == MF_OK) { // paths of files do not matter: their hashes are compared
        stored->groups[0].model_path = file->groups[0].model_path;
        if (stored->ground.path != NULL && file->ground.path != NULL)
            stored->ground.path = file->ground.path;
        status = mf_folder_settings(stored, 1, &before, error);
    }
    MF_THEN(status, mf_folder_settings(file, 1, &now, error));
    if (status == MF_OK && strcmp(before, now) != 0)
        status = name_difference(path, before, now, error);
    mf_scene_file_destroy(stored);
    mf_release(context, before);
    mf_release(context, now);
    return status;
}

mf_Status mf_folder_check_world(const mf_ArchiveRun *run, const char *path, const mf_Scene *scene,
                                mf_Error *error) {
    uint64_t model = mf_model_hash(scene->model);
    uint64_t ground = mf_terrain_hash(mf_world_config_of(scene->world)->terrain);
    if (run->model_hash != model)
        return mf_fail_at(error, MF_BAD_ARGUMENT, path, 0, 0,
                          "the robot %.300s has changed since the archive was made (hash "
                          "%016llx, now %016llx)",
                          scene->file->groups[0].model_path, (unsigned long long)run->model_hash,
                          (unsigned long long)model);
    if (run->terrain_hash != ground)
        return mf_fail_at(error, MF_BAD_ARGUMENT, path, 0, 0,
                          "the ground has changed since the archive was made (hash %016llx, now "
                          "%016llx)",
                          (unsigned long long)run->terrain_hash, (unsigned long long)ground);
    return MF_OK;
}

mf_Status mf_folder_compare(mf_Context *context, mf_Archive *archive, const char *path,
                            const mf_Scene *scene, mf_Error *error) {
    mf_ArchiveRun run;
    MF_TRY(mf_archive_run(archive, &run, error));
    MF_TRY(mf_folder_compare_settings(context, &run, path, scene->file, error));
    return mf_folder_check_world(&run, path, scene, error);
}
