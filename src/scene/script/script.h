// The scripts of a scene, run between the steps of its world (docs/how_to/scripts.md). A script can
// neither reach files and processes nor hang the world, and its results do not depend on threads.
// What programs call is in <mayfly/scene.h>; none of these needs to ask whether there are scripts.
#pragma once

#include <mayfly/scene.h>

// Loads the scripts of the scene's file, which from then on act between the steps of its world and
// end with it: an error of syntax is found here. MF_UNSUPPORTED: this build has no Lua.
mf_Status mf_scene_load_scripts(mf_Scene *scene, mf_Error *error);

// Stops and loads them again; the next step starts them.
mf_Status mf_scene_reset_scripts(mf_Scene *scene, mf_Error *error);
// From now on steps do not call them.
void mf_scene_leave_scripts(mf_Scene *scene);

// mf_world_step, then mf_scene_scripts_status without MF_STOPPED. `done` [1] steps, fewer than
// `steps` if a script stopped the run or failed; may be NULL.
mf_Status mf_scene_step(mf_Scene *scene, uint64_t steps, uint64_t *done, mf_Error *error);
// The same for a program that steps the world by `step`.
mf_Status mf_scene_step_by(mf_Scene *scene, void (*step)(void *user, uint64_t steps), void *user,
                           uint64_t steps, uint64_t *done, mf_Error *error);
// Calls `event` and `tick` of each that are due at the present step, which the next step then does
// not call again: for a program that acts after the scripts and before the step. After the world
// was set back by others no script gets events of what has changed since.
mf_Status mf_scene_call_scripts(mf_Scene *scene, mf_Error *error);

// Why a script stopped the run, "" without a reason; NULL while none did.
const char *mf_scene_scripts_stopped(const mf_Scene *scene);
