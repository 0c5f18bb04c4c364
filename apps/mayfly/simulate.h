// Simulating a world once, for `run` and `replay`: at once, recorded, or paced by the clock.
#pragma once

#include "app.h"
#include "pace.h"
#include "session.h"
#include "video.h"

#include <mayfly/film.h>
#include <mayfly/photos.h>
#include "view/tracks.h"

typedef struct mf_Simulation {
    mf_Scene *scene;
    mf_Group *group;               // recorded group; NULL: all groups of the world
    mf_Session *session;           // steps the world and does what was recorded; or NULL
    const mf_WorldJoints *joints;  // also recorded and filmed; NULL: none
    double agents;                 // [1] robots of all groups
    mf_Tracks *tracks;             // sampled too, or NULL
    mf_Film *film;                 // sampled too, or NULL
    mf_Photographer *photographer; // takes pictures at their rates, or NULL
    mf_Video *video;               // likewise, or NULL
    const char *title;             // of the film of a whole world
    const char *const *colors;     // likewise, as in mf_film_create_world
    double picture_period;         // [s] between samples of the tracks and of the film
    void (*watch)(void *watched);  // called each `watch_period`, or NULL
    void *watched;
    double watch_period;         // [s]
    struct mf_RunPython *python; // steps the world and may end the run; or NULL
    mf_Interaction *interaction; // its losses are shown by the progress bar; or NULL
    uint64_t first;              // [1] steps done before, by an earlier call
    uint64_t steps;              // [1] to do
    uint64_t total;              // [1] of all calls; 0: `steps`
    double realtime;             // [1] simulated per wall second; 0 = as fast as possible
    const char *record;          // file, or NULL
    const char *fields;          // names separated by commas, or NULL for the default
    const char *text;            // of the scene, for the record, or NULL
    double record_period;        // [s] between samples
    const char *progress;        // unit of the progress bar, or NULL for none
    mf_Pace pace;                // zeros at the start
    mf_Recorder *recorder;       // NULL at the start
    mf_Film *stage;              // the record's picture; NULL at the start
    // Results.
    double simulated; // [s]
    double seconds;   // [s] wall
} mf_Simulation;

// Sets what is recorded to the file `record` (NULL: nothing): `fields` and `every` are those of the
// command line, or NULL for those of the scene's file. `names` and `text` (from mf_allocate, the
// caller's) must outlive the record.
mf_Status mf_simulation_record(mf_Simulation *simulation, const mf_SceneFile *file,
                               const char *record, const char *fields, const char *every,
                               char names[MF_APP_PATH], char **text, mf_Error *error);
// [1] steps between two samples of the record.
uint64_t mf_simulation_record_steps(const mf_Simulation *simulation);
// Ends the record that mf_simulation_open has begun, if any; with `keep` its file is complete.
mf_Status mf_simulation_close(mf_Simulation *simulation, bool keep, mf_Error *error);
// Begins the record, if any, before anything is printed; otherwise mf_simulate does it.
mf_Status mf_simulation_open(mf_Simulation *simulation, mf_Error *error);

// MF_STOPPED after a signal: the record until then is kept.
mf_Status mf_simulate(mf_Simulation *simulation, mf_Error *error);

// After the last call: reports on stderr if the simulation was slower than the clock.
void mf_simulation_end(const mf_Simulation *simulation);

// Films the group when `path` is not NULL, at a rate for smooth motion.
mf_Status mf_simulation_film(mf_Simulation *simulation, const char *path, mf_Error *error);
// Writes the film, if there is one and `keep` is set, and releases it; then mf_simulation_end.
mf_Status mf_simulation_film_end(mf_Simulation *simulation, const char *path, bool keep,
                                 mf_Error *error);

// mf_simulate between both. A film that cannot be written is an error after the whole run.
mf_Status mf_simulate_filmed(mf_Simulation *simulation, const char *path, mf_Error *error);
