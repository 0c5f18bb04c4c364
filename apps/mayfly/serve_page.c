// The page visits the server between steps (mf_ServerConfig.visit). What it does to the world is
// done by the calls behind the messages of clients, so that these get the same events; a push is a
// force on top of the inputs that clients write, for the length of each step.
#include "serve_page.h"

#include "view.h"

#include <stdio.h>

#define VISIT_SECONDS 0.001 // [s] between two looks at the messages of pages

struct mf_ServePage {
    mf_Viewer viewer;
    mf_Server *server;
    mf_ServerConfig config;
    mf_Pusher *pusher; // NULL: the world is not shown
    mf_ViewServer *pages;
    mf_Text page, description; // of the first world, which somebody may still be sent
    double visited;            // [s] of the clock
    void *kept;                // snapshot; NULL: none
    size_t kept_size;
    mf_Error error; // why the last act was not done
};

static const char *note(const mf_ServePage *page, mf_Status status) {
    return status == MF_OK ? NULL : page->error.message;
}

// ---- what pages do -----------------------------------------------------------------------------

static void set_pause(mf_Viewer *viewer, bool paused) {
    mf_server_pause(((mf_ServePage *)viewer->user)->server, paused);
}

static const char *ask_step(mf_Viewer *viewer) {
    mf_ServePage *page = viewer->user;
    const mf_Status status = mf_server_ask_steps(page->server, 1, &page->error);
    return note(page, status);
}

static void set_speed(mf_Viewer *viewer, double factor) {
    (void)mf_server_set_speed(((mf_ServePage *)viewer->user)->server, factor, NULL); // checked
}

static void reset(mf_Viewer *viewer) {
    mf_server_reset(((mf_ServePage *)viewer->user)->server);
}

static const char *keep(mf_Viewer *viewer) {
    mf_ServePage *page = viewer->user;
    const size_t size = mf_world_snapshot_size(viewer->scene->world);
    void *image = mf_allocate(viewer->context, size, 1);
    if (image == NULL)
        return "this moment cannot be kept: no memory";
    const mf_Status status = mf_world_snapshot(viewer->scene->world, image, size, &page->error);
    if (status != MF_OK) {
        mf_release(viewer->context, image);
        return note(page, status);
    }
    mf_release(viewer->context, page->kept);
    page->kept = image;
    page->kept_size = size;
    return NULL;
}

static const char *give_back(mf_Viewer *viewer) {
    mf_ServePage *page = viewer->user;
    if (page->kept == NULL)
        return "no moment has been kept";
    const mf_Status status =
        mf_server_restore(page->server, page->kept, page->kept_size, &page->error);
    return note(page, status);
}

static const char *act(mf_Viewer *viewer, const mf_Act *act) {
    mf_ServePage *page = viewer->user;
    mf_Status status = MF_OK;
    const char *refused = mf_act_refused(viewer->scene->world, NULL, act);
    if (refused != NULL)
        return refused;
    if (act->kind == MF_ACT_RELEASE) {
        mf_pusher_release(page->pusher);
        return NULL;
    }
    mf_Group *group = mf_world_group(viewer->scene->world, act->group);
    if (act->kind == MF_ACT_SET)
        mf_field_set(mf_group_field(group, act->field), act->robot, act->part, act->values[0]);
    else if (act->kind == MF_ACT_PUSH)
        status = mf_pusher_take(page->pusher, group, act->robot, act->part, act->values,
                                act->values + 3, &page->error);
    else
        status = mf_server_switch(page->server, act->group, act->robot, 1, (mf_Motion)act->part,
                                  &page->error);
    return note(page, status);
}

static const mf_ViewDriver driver = {.pause = set_pause,
                                     .step = ask_step,
                                     .speed = set_speed,
                                     .reset = reset,
                                     .keep = keep,
                                     .give_back = give_back,
                                     .act = act};

// ---- the world ---------------------------------------------------------------------------------

static void forget_world(mf_ServePage *page) {
    mf_pusher_destroy(page->pusher);
    mf_film_destroy(page->viewer.film);
    mf_release(page->viewer.context, page->kept);
    page->pusher = NULL;
    page->viewer.film = NULL;
    page->kept = NULL;
    page->viewer.scene = NULL;
}

static mf_Status take_world(mf_ServePage *page, mf_Scene *scene, mf_Text *text,
                            mf_Text *description, mf_Error *error) {
    mf_Viewer *viewer = &page->viewer;
    viewer->scene = scene;
    MF_TRY(mf_film_create_live(scene->world, scene->file->name, scene->colors, scene->joints,
                               &viewer->film, error));
    MF_TRY(mf_film_color_circles(viewer->film, scene, error));
    MF_TRY(mf_pusher_create(scene->world, &page->pusher, error));
    return mf_view_texts(viewer, scene->file->name, text, description, error);
}

void mf_serve_page_leave(mf_ServePage *page) {
    forget_world(page);
}

// A client has made another world: pages see that.
static void follow(mf_ServePage *page, mf_Scene *scene) {
    mf_Context *context = page->viewer.context;
    mf_Text text = mf_text_begin(context), description = mf_text_begin(context);
    mf_Error error = {0};
    mf_Status status = take_world(page, scene, &text, &description, &error);
    MF_THEN(status, mf_view_server_change(page->pages, &text, &description,
                                          mf_view_answer_capacity(&page->viewer), &error));
    mf_text_free(&text);
    mf_text_free(&description);
    if (status == MF_OK)
        return;
    fprintf(stderr, "mayfly: serve: the page ends: %s\n", error.message);
    mf_view_server_stop(page->pages);
    page->pages = NULL;
    forget_world(page);
}

// ---- between the steps of the server -----------------------------------------------------------

static void visit(void *user) {
    mf_ServePage *page = user;
    const double now = mf_clock_seconds();
    if (page->pages == NULL)
        return;
    if (page->viewer.scene == NULL)
        follow(page, mf_server_scene(page->server));
    if (page->pages == NULL || now - page->visited < VISIT_SECONDS)
        return;
    const mf_ServerPace pace = mf_server_pace(page->server);
    page->visited = now;
    page->viewer.paused = pace.paused;
    page->viewer.speed = pace.speed;
    page->viewer.factor = pace.factor;
    mf_view_server_serve(page->pages, mf_view_answer, &page->viewer);
}

void mf_serve_page_move(mf_ServePage *page, uint64_t steps) {
    if (page->pusher != NULL)
        mf_pusher_step(page->pusher, steps);
    else
        mf_world_step(mf_server_scene(page->server)->world, steps);
}

// ---- begin and end -----------------------------------------------------------------------------

mf_Status mf_serve_page_create(mf_Context *context, mf_Scene *scene, mf_ServerConfig *config,
                               mf_ServePage **out, mf_Error *error) {
    *out = NULL;
    mf_ServePage *page = mf_allocate(context, 1, sizeof *page);
    MF_NEED_MEMORY(page != NULL, error, "serve");
    page->page = page->description = mf_text_begin(context);
    page->viewer = (mf_Viewer){.context = context, .driver = &driver, .user = page, .every = 1};
    mf_Status status = take_world(page, scene, &page->page, &page->description, error);
    if (status != MF_OK) {
        mf_serve_page_destroy(page);
        return status;
    }
    config->visit = visit;
    config->visitor = page;
    page->config = *config;
    *out = page;
    return MF_OK;
}

mf_Status mf_serve_page_open(mf_ServePage *page, mf_Server *server, uint16_t port,
                             mf_Error *error) {
    const mf_ViewServerConfig config = {.command = "serve",
                                        .port_option = "--page",
                                        .host_option = "--listen",
                                        .host = page->config.path != NULL ? "127.0.0.1"
                                                                          : page->config.address,
                                        .port = port,
                                        .page = page->page.data,
                                        .page_size = page->page.size,
                                        .description = page->description.data,
                                        .answer_capacity = mf_view_answer_capacity(&page->viewer)};
    page->server = server;
    return mf_view_server_start(page->viewer.context, &config, &page->pages, error);
}

const char *mf_serve_page_address(const mf_ServePage *page) {
    return mf_view_server_address(page->pages);
}

void mf_serve_page_destroy(mf_ServePage *page) {
    if (page == NULL)
        return;
    mf_Context *context = page->viewer.context;
    mf_view_server_stop(page->pages);
    forget_world(page);
    mf_text_free(&page->page);
    mf_text_free(&page->description);
    mf_release(context, page);
}
