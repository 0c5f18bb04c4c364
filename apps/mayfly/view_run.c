// The time of a live run of mayfly view: which steps are due when, and what pages do to its
// session.
#include "run_scripts.h"
#include "view_show.h"

#define WAIT_SECONDS 0.02    // [s] for messages, while nothing moves
#define WORK_SECONDS 0.008   // [s] of steps between two looks at the messages
#define LATE_SECONDS 0.25    // [s] by which a slow run may lag, before it gives the rest up
#define FACTOR_SECONDS 0.5   // [s] over which the real-time factor is measured
#define STEPS_MOST 1048576.0 // [1] between two looks

static double simulated(const mf_Show *show) {
    return mf_time_to_seconds(mf_world_time(show->scene.world));
}

void mf_show_restart_clock(mf_Show *show) {
    show->clock_begin = show->factor_begin = mf_clock_seconds();
    show->simulated_begin = show->factor_simulated = simulated(show);
}

// Steps until the end of the run.
static uint64_t left(const mf_Show *show) {
    return show->end - show->session.step;
}

// Steps that are due now, at most as many as fit between two looks at the messages.
static uint64_t due(mf_Show *show) {
    const mf_Viewer *viewer = &show->viewer;
    if (viewer->paused)
        return show->steps_asked;
    const double now = mf_clock_seconds();
    const double fit = show->step_seconds > 0.0 ? WORK_SECONDS / show->step_seconds : 1.0;
    double steps = fit < 1.0 ? 1.0 : fit > STEPS_MOST ? STEPS_MOST : fit;
    if (viewer->every > 1) { // what is drawn is the state after such a step
        const uint64_t to = viewer->every - mf_view_tick(viewer) % viewer->every;
        steps = steps < (double)to ? steps : (double)to;
    }
    steps = steps < (double)left(show) ? steps : (double)left(show);
    if (viewer->speed > 0.0) {
        const double lag =
            (now - show->clock_begin) * viewer->speed - (simulated(show) - show->simulated_begin);
        if (lag > LATE_SECONDS * viewer->speed) { // it cannot keep up: from here on, not from then
            show->clock_begin = now - LATE_SECONDS;
            show->simulated_begin = simulated(show);
        }
        steps = lag / show->step < steps ? lag / show->step : steps;
    }
    return steps >= 1.0 ? (uint64_t)steps : 0;
}

// [s] Until the next step is due.
static double idle(const mf_Show *show) {
    if (show->viewer.paused)
        return WAIT_SECONDS;
    const double next =
        (simulated(show) - show->simulated_begin + show->step) / show->viewer.speed -
        (mf_clock_seconds() - show->clock_begin);
    return next < 1e-4 ? 1e-4 : next < WAIT_SECONDS ? next : WAIT_SECONDS;
}

static void measure(mf_Show *show) {
    const double now = mf_clock_seconds(), passed = now - show->factor_begin;
    if (passed < FACTOR_SECONDS)
        return;
    show->viewer.factor = (simulated(show) - show->factor_simulated) / passed;
    show->factor_begin = now;
    show->factor_simulated = simulated(show);
}

// The world waits where a script has failed or stopped the run; without it it can go on.
static void look_at_scripts(mf_Show *show) {
    const char *reason = mf_scene_scripts_stopped(&show->scene);
    if (show->scripts_ended || (show->session.scripted == MF_OK && reason == NULL))
        return;
    if (reason != NULL)
        mf_run_say_stopped(reason);
    else
        mf_app_fail(&show->session.error);
    show->scripts_ended = true;
    show->viewer.paused = true;
}

static void step(mf_Show *show, uint64_t count) {
    const double before = mf_clock_seconds();
    mf_session_step(&show->session, count);
    const double each = (mf_clock_seconds() - before) / (double)count;
    show->step_seconds += 0.3 * (each - show->step_seconds);
    look_at_scripts(show);
    if (show->viewer.paused)
        show->steps_asked = 0;
}

bool mf_show_go_on(mf_Show *show, mf_ViewServer *server) {
    if (left(show) == 0)
        return false;
    const uint64_t count = due(show);
    if (count > 0)
        step(show, count);
    else
        mf_view_server_wait(server, idle(show));
    measure(show);
    return true;
}

// ---- what pages do -----------------------------------------------------------------------------

static void set_pause(mf_Viewer *viewer, bool paused) {
    mf_Show *show = viewer->user;
    viewer->paused = paused;
    show->steps_asked = 0;
    mf_show_restart_clock(show);
}

static const char *ask_step(mf_Viewer *viewer) {
    ((mf_Show *)viewer->user)->steps_asked = 1;
    return NULL;
}

static void set_speed(mf_Viewer *viewer, double factor) {
    viewer->speed = factor;
    mf_show_restart_clock(viewer->user);
}

static void reset(mf_Viewer *viewer) {
    mf_Show *show = viewer->user;
    mf_session_reset(&show->session);
    show->session.scripted = mf_show_start_scripts(show, &show->session.error);
    mf_show_restart_clock(show);
}

static void go_back(mf_Viewer *viewer, uint32_t steps) {
    mf_Session *session = &((mf_Show *)viewer->user)->session;
    mf_session_back(session, session->step > steps ? session->step - steps : 0);
}

static const char *keep(mf_Viewer *viewer) {
    return mf_session_keep(&((mf_Show *)viewer->user)->session);
}

static const char *give_back(mf_Viewer *viewer) {
    mf_Show *show = viewer->user;
    const char *note = mf_session_return(&show->session);
    mf_show_restart_clock(show);
    return note;
}

static const char *act(mf_Viewer *viewer, const mf_Act *act) {
    return mf_session_act(&((mf_Show *)viewer->user)->session, act);
}

static void set_every(mf_Viewer *viewer, uint32_t steps) {
    viewer->every = steps;
}

const mf_ViewDriver mf_show_driver = {.pause = set_pause,
                                      .step = ask_step,
                                      .speed = set_speed,
                                      .reset = reset,
                                      .keep = keep,
                                      .give_back = give_back,
                                      .act = act,
                                      .back = go_back,
                                      .every = set_every,
                                      .loads = true};
