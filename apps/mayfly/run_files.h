// The input files of a run (model, meshes, ground), stored in its folder so that the folder can be
// replayed elsewhere.
#pragma once

#include "app.h"

enum { MF_RUN_FILES = 512 }; // [1] most files of a run

typedef struct mf_RunFiles {
    mf_Context *context;
    char *paths[MF_RUN_FILES]; // absolute, without links; each once
    uint32_t count;            // [1]
    bool overflow;             // there were more files
} mf_RunFiles;

// Records every file that is read in `context` until mf_run_files_end.
void mf_run_files_begin(mf_Context *context, mf_RunFiles *files);
void mf_run_files_end(mf_RunFiles *files);

// Copies them to FOLDER/files with their paths relative to the common folder. Existing files are
// replaced. MF_LIMIT: more than MF_RUN_FILES.
mf_Status mf_run_files_keep(const mf_RunFiles *files, const char *folder, mf_Error *error);
// [byte] of their paths that are the common folder, with its slash; 0: there are none.
size_t mf_run_files_shared(const mf_RunFiles *files);
// Removes those copies, and the folders that they leave empty.
void mf_run_files_drop(const mf_RunFiles *files, const char *folder);
void mf_run_files_free(mf_RunFiles *files);

// A copy of `path` in FOLDER/WITHIN, which is "files/" for those that a run keeps: the one with the
// longest common suffix of the path. False when there is none.
bool mf_run_files_find(const char *folder, const char *within, const char *path,
                       char out[MF_APP_PATH]);
