// Simulating a world once, for `run` and `replay`: in one go, recorded, or at the pace of a clock.
#ifndef MAYFLY_APP_SIMULATE_H
#define MAYFLY_APP_SIMULATE_H

#include "app.h"
#include "pace.h"

#include <mayfly/film.h>
#include <mayfly/tracks.h>

typedef struct mf_Simulation {
    mf_World *world;
    mf_Group *group;              // that is recorded; NULL: all of the world's
    const mf_WorldJoints *joints; // recorded and filmed too; NULL: none
    double agents;                // [1] robots of all groups
    mf_Tracks *tracks;            // sampled too, or NULL
    mf_Film *film;                // sampled too, or NULL
    const char *title;            // of the film, when `group` is NULL
    const char *const *colors;    // likewise, as mf_film_create_world has them
    double picture_period;        // [s] between samples of the tracks and of the film
    void (*watch)(void *watched); // called each `watch_period`, or NULL
    void *watched;
    double watch_period;         // [s]
    mf_Interaction *interaction; // whose losses the progress bar shows, or NULL
    uint64_t first;              // [1] steps done before, by an earlier call
    uint64_t steps;              // [1] to do
    double realtime;             // [1] simulated per wall second; 0 = as fast as it goes
    const char *record;          // file, or NULL
    const char *fields;          // names with commas between, or NULL for the usual ones
    double record_period;        // [s] between samples
    const char *progress;        // unit of the progress bar, or NULL for none
    mf_Pace pace;                // zeros at the start
    mf_Recorder *recorder;       // NULL at the start
    // Results.
    double simulated; // [s]
    double seconds;   // [s] wall
} mf_Simulation;

// Begins the record, where there is one, before anything is printed; mf_simulate does it otherwise.
mf_Status mf_simulation_open(mf_Simulation *simulation, mf_Error *error);

// MF_STOPPED when a signal came: what was recorded until then is kept.
mf_Status mf_simulate(mf_Simulation *simulation, mf_Error *error);

// After the last call: says on stderr when it could not keep to the clock.
void mf_simulation_end(const mf_Simulation *simulation);

// Films the group when `path` is not NULL, at a rate for the eye.
mf_Status mf_simulation_film(mf_Simulation *simulation, const char *path, mf_Error *error);
// Writes the film, if there is one and `keep` is set, and forgets it; then mf_simulation_end.
mf_Status mf_simulation_film_end(mf_Simulation *simulation, const char *path, bool keep,
                                 mf_Error *error);

// mf_simulate between the two. A film that cannot be written is an error after the whole run.
mf_Status mf_simulate_filmed(mf_Simulation *simulation, const char *path, mf_Error *error);

#endif
