// The folder of an evolution run: archive.sqlite, scene.yaml and report.html.
#ifndef MAYFLY_APP_RUN_FOLDER_H
#define MAYFLY_APP_RUN_FOLDER_H

#include "app.h"

// Path of `name` in `folder`. MF_LIMIT when it is too long.
mf_Status mf_folder_path(const char *folder, const char *name, char out[MF_APP_PATH],
                         mf_Error *error);

// "runs/<file>-<seed>", the file's name without folder and ending, in lower case and with
// everything but letters and digits as '-'.
void mf_folder_default(const char *file, uint64_t seed, char out[MF_APP_PATH]);

// Makes `folder` and the ones above it that are missing; *made is how many, counted from the end.
mf_Status mf_folder_make(mf_Context *context, const char *folder, uint32_t *made, mf_Error *error);

// Takes back what mf_folder_make made, as far as it is empty.
void mf_folder_remove(const char *folder, uint32_t made);

// The scene's text with generations set to `generations`, for comparing and storing. From
// mf_allocate.
mf_Status mf_folder_settings(mf_SceneFile *file, uint32_t generations, char **text,
                             mf_Error *error);

// Where the files of an archive's scene are now: the copies that its folder keeps; without them
// where they were, or under the last parts of their names, the longest first, in the archive's
// folder, in those above it, and in the present one. `paths` keeps the new names as long as the
// file lives. Whether they are the same is for mf_folder_check_world to say. MF_NOT_FOUND, with
// what to pass. What the user has named (`--model`, `--ground`) is left alone.
typedef struct mf_FolderPaths {
    bool own_model, own_ground; // named by the user
    bool moved;                 // the model was found elsewhere than it was, and is no copy
    char model[MF_APP_PATH], ground[MF_APP_PATH];
} mf_FolderPaths;
mf_Status mf_folder_find(const char *archive, mf_SceneFile *file, mf_FolderPaths *paths,
                         mf_Error *error);

// MF_BAD_ARGUMENT, naming the first line that differs, when the archive was made with other
// settings (the number of generations may differ) or with another model or ground.
mf_Status mf_folder_compare(mf_Context *context, mf_Archive *archive, const char *path,
                            const mf_Scene *scene, mf_Error *error);

// MF_BAD_ARGUMENT when model or ground of `scene` are not those the archive was made with.
mf_Status mf_folder_check_world(const mf_ArchiveRun *run, const char *path, const mf_Scene *scene,
                                mf_Error *error);

#endif
