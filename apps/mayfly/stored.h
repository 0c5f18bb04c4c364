// An individual of an evolution run, read from the run's archive, and its world.
#pragma once

#include "inputs.h"
#include "run_folder.h"

typedef struct mf_Stored {
    mf_Context *context;
    mf_Archive *archive;
    mf_ArchiveRun run;
    mf_Individual individual;
    uint8_t *genome;
    char path[MF_APP_PATH]; // of the archive
    mf_FolderPaths paths;
} mf_Stored;

// Whether `name` is the folder of a run.
bool mf_stored_is(const char *name);

// Opens the archive `name` or that in the folder `name`. mf_stored_close in any case.
mf_Status mf_stored_open(mf_Context *context, const char *name, mf_Stored *out, mf_Error *error);
void mf_stored_close(mf_Stored *stored);

// The individual with the number `id`, or NULL: the best of that generation, 0: of the newest.
mf_Status mf_stored_find(mf_Stored *stored, const char *id, uint32_t generation, mf_Error *error);

// One robot with the genome that was found: at the level `motion`, NULL: that of the evolution,
// with the physics step divided by `divisor`. `command` for messages. The caller destroys `scene`,
// if it has a world, and then `file`, also on failure; `stored` must outlive both.
mf_Status mf_stored_scene(mf_Stored *stored, const mf_Inputs *inputs, const char *command,
                          const char *motion, uint32_t divisor, mf_SceneFile **file,
                          mf_Scene *scene, mf_Error *error);
