// The scripts of a scene, run between the steps of its world (docs/how_to/scripts.md). A script can
// neither reach files and processes nor hang the world, and its results do not depend on threads.
#pragma once

#include <mayfly/scene.h>

typedef struct mf_Scripts mf_Scripts;

// What a program gives to scripts.
typedef struct mf_ScriptHost {
    // A line that a script prints, without its end. NULL: it is dropped.
    void (*print)(const char *script, const char *line, void *user);
    // Instead of mf_world_step, for a program that does more in a step. NULL: that.
    void (*step)(void *user, uint64_t steps);
    void *user;
} mf_ScriptHost;

// Loads the scripts of the scene's file: an error of syntax is found here. `scene` must outlive
// them. NULL without an error when the file has none. MF_UNSUPPORTED: this build has no Lua.
mf_Status mf_scripts_create(mf_Scene *scene, const mf_ScriptHost *host, mf_Scripts **out,
                            mf_Error *error);
void mf_scripts_destroy(mf_Scripts *scripts); // NULL is fine

// Runs the scripts themselves and their functions `start`, each in the order of the file. This and
// the next three: an error names the script's file and line, and no more calls may follow but
// destroy and those of results.
mf_Status mf_scripts_start(mf_Scripts *scripts, mf_Error *error);
// mf_world_step for a world with scripts: `event` and `tick` of each are called before the steps
// where they are due. `done` [1] steps, fewer than `steps` if a script stopped the run.
mf_Status mf_scripts_step(mf_Scripts *scripts, uint64_t steps, uint64_t *done, mf_Error *error);
// Calls `event` and `tick` of each that are due at the present step, which the next mf_scripts_step
// then does not call again: for a program that acts after the scripts and before the step. Does
// nothing the second time. After the world was set back by others no script gets events of what has
// changed since.
mf_Status mf_scripts_call(mf_Scripts *scripts, mf_Error *error);
// Their functions `finish`, after the run.
mf_Status mf_scripts_finish(mf_Scripts *scripts, mf_Error *error);

// Why a script stopped the run, "" without a reason; NULL while none did.
const char *mf_scripts_stopped(const mf_Scripts *scripts);

// A file that scripts wrote, in memory.
typedef struct mf_ScriptResult {
    const char *name; // of the file, without folder
    const char *text;
    size_t size; // [byte]
} mf_ScriptResult;
// Result `index`, in the order of their creation; false: there are no more.
bool mf_scripts_result(const mf_Scripts *scripts, uint32_t index, mf_ScriptResult *out);
