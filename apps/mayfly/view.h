// A world that pages look at and act on: what the files view*.c share.
#ifndef MAYFLY_APP_VIEW_H
#define MAYFLY_APP_VIEW_H

#include "session.h"
#include "view/film.h"
#include "view_server.h"

// The state of a live run. One thread steps the world, answers the pages and draws the pictures.
typedef struct mf_Viewer {
    mf_Context *context;
    mf_Scene *scene;
    mf_Film *film;
    mf_Session session; // what was done to the world
    double step;        // [s] of physics
    uint64_t end;       // [1] step at which the run ends
    uint64_t every;     // [1] pictures are taken after such a number of steps; 1: after any
    bool paused;
    uint64_t steps_asked;   // [1] while paused
    double speed;           // [1] simulated seconds per second; 0: as fast as possible
    double factor;          // [1] at present
    double clock_begin;     // [s] of the clock at `simulated_begin`
    double simulated_begin; // [s]
    double factor_begin, factor_simulated; // [s] likewise, of the measurement of `factor`
    double step_seconds;                   // [s] that a step takes, smoothed
    uint64_t pictures;                     // [1] taken
} mf_Viewer;

size_t mf_view_frame_size(const mf_Viewer *viewer); // [byte] of the largest frame
// [byte] Of the largest answer: a frame, or the fields of a robot.
size_t mf_view_answer_room(const mf_Viewer *viewer);

// Answers one message of a page (mf_view_server_serve); `user` is the viewer.
void mf_view_answer(mf_ViewMail *mail, void *user);
// Time counts from here: after a pause, or at another speed.
void mf_view_restart_clock(mf_Viewer *viewer);

// The fields of a robot; NULL: there is no such robot.
json_t *mf_view_reading(const mf_Viewer *viewer, uint32_t robot);
// The field of a robot's group with that name; MF_NONE: there is none.
uint32_t mf_view_field(const mf_Group *group, const char *name);

#endif
