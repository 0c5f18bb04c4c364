// A world that pages look at and act on: what the files view*.c share.
#ifndef MAYFLY_APP_VIEW_H
#define MAYFLY_APP_VIEW_H

#include "app.h"
#include "view/film.h"
#include "view_server.h"

// A robot that is pulled by the mouse.
typedef struct mf_ViewPush {
    bool on;
    mf_Group *group;
    uint32_t instance, link; // [1]
    double at[3];            // [m] where it is taken, link frame
    double to[3];            // [m] where it is pulled to, world
    double mass;             // [kg] of the robot
} mf_ViewPush;

// The state of a live run. One thread steps the world, answers the pages and draws the pictures.
typedef struct mf_Viewer {
    mf_Context *context;
    mf_Scene *scene;
    mf_Film *film;
    void *start; // snapshot of the world
    size_t start_size;
    double step; // [s] of physics
    bool paused;
    uint64_t steps_asked;   // [1] while paused
    double speed;           // [1] simulated seconds per second; 0: as fast as possible
    double factor;          // [1] at present
    double clock_begin;     // [s] of the clock at `simulated_begin`
    double simulated_begin; // [s]
    double factor_begin, factor_simulated; // [s] likewise, of the measurement of `factor`
    double step_seconds;                   // [s] that a step takes, smoothed
    uint64_t pictures;                     // [1] taken
    mf_ViewPush push;
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
// Sets a value of an input. NULL, or why not.
const char *mf_view_set(const mf_Viewer *viewer, uint32_t robot, const char *name,
                        uint32_t component, double value);

// Takes hold of a link of a robot, or moves what holds it. NULL, or why it cannot be pushed.
const char *mf_view_push(mf_Viewer *viewer, uint32_t robot, uint32_t link, const double at[3],
                         const double to[3]);
void mf_view_release(mf_Viewer *viewer);
// Before each step, while something is pushed.
void mf_view_pull(mf_Viewer *viewer);

#endif
