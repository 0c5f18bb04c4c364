// The folder of an evolution run: archive.sqlite, scene.yaml and report.html.
#pragma once

#include "app.h"

// Path of `name` in `folder`. MF_LIMIT when it is too long.
mf_Status mf_folder_path(const char *folder, const char *name, char out[MF_APP_PATH],
                         mf_Error *error);

// "runs/<file>-<seed>", the file's name without folder and extension, in lower case, with all other
// characters than letters and digits replaced by '-'.
void mf_folder_default(const char *file, uint64_t seed, char out[MF_APP_PATH]);

// Creates `folder` and missing parents; *made is the number of created folders, counted from the
// end.
mf_Status mf_folder_make(mf_Context *context, const char *folder, uint32_t *made, mf_Error *error);

// Removes the folders that mf_folder_make created, as far as they are empty.
void mf_folder_remove(const char *folder, uint32_t made);

// Removes a folder with all that is in it.
void mf_folder_remove_all(const char *folder);

// The scene's text with generations set to `generations`, for comparing and storing. From
// mf_allocate.
mf_Status mf_folder_settings(mf_SceneFile *file, uint32_t generations, char **text,
                             mf_Error *error);

// Finds the files of an archive's scene: the copies in its folder; without copies the original
// paths, or suffixes of these, the longest first, in the archive's folder, its parents, and the
// current folder. `paths` owns the new names and must outlive the file. mf_folder_check_world
// checks whether they are the same files. MF_NOT_FOUND: the message says what to pass. Files given
// by the user (`--model`, `--ground`) are not changed.
typedef struct mf_FolderPaths {
    bool own_model, own_ground; // named by the user
    bool moved;                 // the model was found at another path, and is not a copy
    char model[MF_APP_PATH], ground[MF_APP_PATH];
} mf_FolderPaths;
mf_Status mf_folder_find(const char *archive, mf_SceneFile *file, mf_FolderPaths *paths,
                         mf_Error *error);

// MF_BAD_ARGUMENT, naming the first line that differs, when the archive at `path` was made with
// other settings (the number of generations may differ).
mf_Status mf_folder_compare_settings(mf_Context *context, const mf_ArchiveRun *run,
                                     const char *path, mf_SceneFile *file, mf_Error *error);

// The same, and with another model or ground.
mf_Status mf_folder_compare(mf_Context *context, mf_Archive *archive, const char *path,
                            const mf_Scene *scene, mf_Error *error);

// MF_BAD_ARGUMENT when model or ground of `scene` are not those the archive was made with.
mf_Status mf_folder_check_world(const mf_ArchiveRun *run, const char *path, const mf_Scene *scene,
                                mf_Error *error);
