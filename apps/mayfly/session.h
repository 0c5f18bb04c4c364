// A world to which people do things while it runs: what a live run and its replay share.
//
// Acts are done between two steps and kept in a timeline. Snapshots in memory, close to each other
// near the present and less so long ago, make it possible to go back to any step: the world is set
// to the last snapshot before, and the acts since then are done again, which gives the same bits.
#pragma once

#include <stdio.h>

#include "timeline.h"

// A state of the world from which it can go on.
typedef struct mf_SessionImage {
    uint64_t step; // [1]
    uint64_t slot; // [1] number of the interval in which it was taken
    uint32_t next; // [1] cursor of the timeline
    mf_Push push;
    size_t size;   // [byte] of a snapshot of the world
    uint8_t *data; // that, the inputs that are no state, those before the push; NULL: none
} mf_SessionImage;

enum { MF_SESSION_IMAGES = 512 };

typedef struct mf_Session {
    mf_Context *context;
    mf_Scene *scene;
    bool only_once;     // nobody goes back, so there are no images but that of the start
    mf_Status scripted; // not MF_OK: a script has failed, and none is called any more
    mf_Error error;     // why
    mf_Timeline timeline;
    mf_Push push;
    mf_PushMemory memory;
    uint64_t step;                                 // [1] done since the start
    size_t inputs_size;                            // [byte] of inputs that are no state
    mf_SessionImage images[MF_SESSION_IMAGES + 1]; // by rising step; the first is the start
    uint32_t image_count;                          // [1]
    mf_SessionImage kept;                          // data NULL: none
    bool kept_elsewhere;  // what was done before it was done otherwise since
    uint64_t interval;    // [1] steps between images
    double image_clock;   // [s] of the clock, when the last image was taken
    double image_seconds; // [s] that it took
    FILE *file;           // what is done is written there, too; NULL: nowhere
} mf_Session;

// Begins at the present state of the scene's world, which is its start.
mf_Status mf_session_begin(mf_Context *context, mf_Scene *scene, mf_Session *out, mf_Error *error);
void mf_session_end(mf_Session *session);

// Does it now, and keeps it. NULL, or why not. `act->step` is ignored.
const char *mf_session_act(mf_Session *session, const mf_Act *act);

// Simulates so many steps, with the acts that are behind the cursor.
void mf_session_step(mf_Session *session, uint64_t count);
// MF_OK, or how a script failed.
mf_Status mf_session_scripted(const mf_Session *session, mf_Error *error);
// Does the acts behind the cursor that are due at the present step.
void mf_session_catch_up(mf_Session *session);

// To the start; the timeline is empty then.
void mf_session_reset(mf_Session *session);
// To the beginning of an earlier step. Variables of scripts keep their values. What has been done
// since is behind the cursor.
void mf_session_back(mf_Session *session, uint64_t step);
// Keeps this moment; back to it, with what had been done then. NULL, or why not.
const char *mf_session_keep(mf_Session *session);
const char *mf_session_return(mf_Session *session);

// ---- files (session_file.c) --------------------------------------------------------------------

// Writes what is done to `path` from now on, one JSON object per line. `name`: of the scene.
mf_Status mf_session_record(mf_Session *session, const char *path, const char *name,
                            mf_Error *error);
// One line about the present step: an act, NULL with a `name` ("reset", "back", "keep", "return",
// "end").
void mf_session_write(mf_Session *session, const char *name, const mf_Act *act, uint64_t to);

// A file of a session.
typedef struct mf_SessionFile {
    mf_Context *context;
    const char *path; // borrowed
    char *text;
    size_t size;
    bool levels;    // of the world
    uint64_t step;  // [ns] of the world
    uint64_t start; // hash of the world at the start
    uint64_t steps; // [1] at the end
    bool ended;     // it has an end:
    uint64_t end;   // hash of the world there
} mf_SessionFile;

mf_Status mf_session_file_read(mf_Context *context, const char *path, mf_SessionFile *out,
                               mf_Error *error);
void mf_session_file_free(mf_SessionFile *file);
// The acts of the file become those of the session, which is at its start. MF_BAD_ARGUMENT: it is
// one of another world.
mf_Status mf_session_load(mf_Session *session, mf_SessionFile *file, mf_Error *error);
