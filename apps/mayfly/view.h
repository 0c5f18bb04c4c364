// A world that pages look at and act on: what the files view*.c share.
#pragma once

#include "timeline.h"
#include "view/film.h"
#include "view_server.h"

typedef struct mf_Viewer mf_Viewer;

// What moves the world, and takes what pages do to it: mayfly view (view_run.c), or the server of
// mayfly serve (serve_page.c). A text that is returned is why it was not done; NULL: it was.
typedef struct mf_ViewDriver {
    void (*pause)(mf_Viewer *viewer, bool paused);
    const char *(*step)(mf_Viewer *viewer); // one; the world is paused
    void (*speed)(mf_Viewer *viewer, double factor);
    void (*reset)(mf_Viewer *viewer);
    const char *(*keep)(mf_Viewer *viewer);      // this moment
    const char *(*give_back)(mf_Viewer *viewer); // the kept moment
    const char *(*act)(mf_Viewer *viewer, const mf_Act *act);
    // NULL where there is none, and pages are told so:
    void (*back)(mf_Viewer *viewer, uint32_t steps); // the world is paused
    void (*every)(mf_Viewer *viewer, uint32_t steps);
    bool loads; // files that are dropped on a page
} mf_ViewDriver;

// The state of a world that pages look at. One thread steps it, answers the pages and takes the
// pictures.
struct mf_Viewer {
    mf_Context *context;
    mf_Scene *scene;
    mf_Film *film;
    const mf_ViewDriver *driver;
    void *user; // of the driver
    bool paused;
    uint64_t every;    // [1] pictures are taken after such a number of steps; 1: after any
    double speed;      // [1] simulated seconds per second; 0: as fast as possible
    double factor;     // [1] at present
    uint64_t pictures; // [1] taken
};

// [1] Steps of the world so far.
uint64_t mf_view_tick(const mf_Viewer *viewer);

size_t mf_view_frame_size(const mf_Viewer *viewer); // [byte] of the largest frame
// [byte] Of the largest answer: a frame, or the fields of a robot.
size_t mf_view_answer_capacity(const mf_Viewer *viewer);

// Answers one message of a page (mf_view_server_serve); `user` is the viewer.
void mf_view_answer(mf_ViewMail *mail, void *user);
// The texts that pages get first: HTML, and a description of what is drawn and of what pages can
// do.
mf_Status mf_view_texts(const mf_Viewer *viewer, const char *title, mf_Text *page,
                        mf_Text *description, mf_Error *error);
