// mayfly run --python: a script in Python, a client in lock-step of the world that this process
// simulates (docs/how_to/scripts.md).
#pragma once

#include "session.h"

typedef struct mf_RunPython mf_RunPython;

// Starts python3, or $MAYFLY_PYTHON, with the script, and waits until its function `start` has
// ended. `patience` [s]: the longest call of a function of it. The scene is borrowed. An error of
// this and the next two names the script's file and, where it is known, the line.
// Scripts of the scene are called before this one at the same time; but where there is a session
// (borrowed, may be NULL), which calls them, after it, as the session's acts are done.
mf_Status mf_run_python_open(mf_Scene *scene, const char *file, double patience,
                             mf_Session *session, mf_RunPython **out, mf_Error *error);
// mf_world_step. `done` [1] steps, fewer than `steps` if a script stopped the run. MF_STOPPED: a
// signal did.
mf_Status mf_run_python_step(mf_RunPython *python, uint64_t steps, uint64_t *done, mf_Error *error);
// Its function `finish`; then it has ended.
mf_Status mf_run_python_finish(mf_RunPython *python, mf_Error *error);

// Whether the script stopped the run; false for NULL.
bool mf_run_python_stopped(const mf_RunPython *python);
// Ends the script, however far it is, and writes its results to `folder`; NULL: the default one.
// `python` NULL: nothing to do.
mf_Status mf_run_python_close(mf_RunPython *python, const char *folder, mf_Error *error);
void mf_run_python_destroy(mf_RunPython *python); // NULL is allowed
