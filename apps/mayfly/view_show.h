// A world that is shown: its scene, what pages do to it, and the texts that pages get first.
#pragma once

#include "inputs.h"
#include "session.h"
#include "stored.h"
#include "view.h"

typedef struct mf_Show {
    mf_Stored stored; // of a run's folder: the champion
    mf_SceneFile *file;
    mf_Scene scene;
    mf_Viewer viewer;
    mf_Session session;                    // what was done to the world
    bool scripts_ended;                    // that they failed or stopped the run was said
    double step;                           // [s] of physics
    uint64_t end;                          // [1] step at which the run ends
    uint64_t steps_asked;                  // [1] while paused
    double clock_begin;                    // [s] of the clock at `simulated_begin`
    double simulated_begin;                // [s]
    double factor_begin, factor_simulated; // [s] likewise, of the measurement of viewer.factor
    double step_seconds;                   // [s] that a step takes, smoothed
    mf_Text page;                          // HTML
    mf_Text description;                   // of what is drawn, JSON
} mf_Show;

// Loads the scene or robot `name`, or the champion of the run whose folder that is, and builds its
// world; `again`, if it holds a session, is done
// again. MF_BAD_ARGUMENT with an empty message: as mf_inputs_load.
mf_Status mf_show_create(mf_Context *context, const mf_Inputs *inputs, const char *name,
                         mf_SessionFile *again, mf_Show **out, mf_Error *error);
void mf_show_destroy(mf_Show *show); // NULL is allowed

// Starts the scripts of the scene anew, at its start. NULL where it has none.
mf_Status mf_show_start_scripts(mf_Show *show, mf_Error *error);

extern const mf_ViewDriver mf_show_driver; // (view_run.c); its user is the mf_Show

// Simulates the steps that are due now, or waits for a message of a page until the next is (at most
// 20 ms). False: the run is at its end.
bool mf_show_go_on(mf_Show *show, mf_ViewServer *server);
// Time counts from here: after a pause, or at another speed.
void mf_show_restart_clock(mf_Show *show);

// What was dropped on a page: the world of the scene or robot in it, built from copies in a folder
// of their own, without the plugins that it may name.
mf_Status mf_show_dropped(mf_Context *context, const mf_ViewDrop *drop, mf_Show **out,
                          mf_Error *error);
// "loaded", and what of its robots is not drawn because a file was not found, in one line.
void mf_show_missing(const mf_Show *show, char *line, size_t size);
