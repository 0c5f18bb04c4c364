// mayfly view: a scene, or a robot's own file, live in the browser; or a film that was written.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "inputs.h"
#include "options.h"
#include "recorded.h"
#include "view_show.h"

#define USUAL_PORT 8765u     // [1]
#define WAIT_SECONDS 0.02    // [s] for messages, while nothing moves
#define OPEN_SECONDS 0.3     // [s] in which a browser that cannot be opened says so
#define FILM_MOST 268435456u // [byte] of a film

typedef struct Options {
    mf_Inputs inputs;
    const char *port, *host, *speed, *duration, *record, *session, *plot;
    bool paused, open;
} Options;

static const mf_Option table[] = {
    MF_OPT_COUNT(
        "port", "N", Options, port, 0, 65535,
        "port of the page (default 8765, or a free one where that is taken; 0: a free one)"),
    MF_OPT_TEXT(
        "host", "ADDRESS", Options, host,
        "address to bind (default 127.0.0.1: this machine alone; others need the token that "
        "is printed)"),
    MF_OPT_FLAG("open", Options, open, "open the page in the browser, where there is a display"),
    MF_OPT_OUTPUT("plot", Options, plot, ".html",
                  "of a recording: write it as a film (.html) instead of serving it"),
    MF_OPT_FLAG("paused", Options, paused, "begin paused"),
    MF_OPT_REAL("speed", "FACTOR", Options, speed, 0, 1e6,
                "simulated seconds per second (default 1; 0: as fast as possible)"),
    MF_OPT_REAL("duration", "S", Options, duration, 1e-6, 1e9,
                "ends after so many simulated seconds, of a recording or film after so many of the "
                "clock (default: runs on)"),
    MF_OPT_OUTPUT("record-session", Options, record, ".jsonl",
                  "write what is done on the page, and at which step, to a file: mayfly run "
                  "--session does it again"),
    MF_OPT_TEXT("session", "FILE", Options, session, "do again what was recorded"),
    MF_INPUT_SCENE(Options, inputs),
    MF_INPUT_THREADS(Options, inputs),
    MF_INPUT_FILES(Options, inputs),
    MF_OPT_END};

const mf_CommandHelp mf_help_view = {
    .name = "view",
    .arguments = "FILE",
    .summary = "show a scene, a robot, a champion, a recording or a film in the browser",
    .text =
        "Simulates a scene (YAML) or a robot (URDF, MJCF) without an end and shows it on a page "
        "of\n"
        "the browser, whose address is printed: pause, single steps, also back, slow motion or as\n"
        "fast as possible; a click on a robot lists its fields with plots, sliders for its inputs\n"
        "and its level of physics; Ctrl and drag pulls it by a spring. The page's key H lists all\n"
        "keys. Several pages may look at one run. Drawing never holds the simulation up. A file "
        "or\n"
        "folder that is dropped on the page replaces the scene.\n\n"
        "The folder of an evolution run shows its champion, the best of the newest generation.\n\n"
        "--record-session writes what is done on the page to a file; mayfly run and mayfly view "
        "do\n"
        "it again with --session, to the same bits.\n\n"
        "A recording (.h5 or .mcap, by --record) is shown as it was, with a time line, or written\n"
        "as a film by --plot. A film (.html, by --plot) or report is shown as it is.\n\n"
        "The page is served to this machine alone, unless --host names another address: then only\n"
        "to those who have the token of the printed address. Ctrl-C ends it.",
    .examples = "  mayfly view scenes/soccer.yaml\n"
                "  mayfly view models/hexapod.urdf --gait tripod\n"
                "  mayfly view scenes/swarm.yaml --port 9000\n"
                "  mayfly view models/hexapod.urdf --record-session pushed.jsonl\n"
                "  mayfly view robot.xml --robots 100 --paused\n"
                "  mayfly view runs/hexapod-1\n"
                "  mayfly view match.mcap\n"
                "  mayfly view walk.h5 --plot walk.html\n",
    .least = 1,
    .most = 1,
    .options = table};

// ---- the page ----------------------------------------------------------------------------------

static void try_browser(const char *address) {
    if (getenv("DISPLAY") == NULL && getenv("WAYLAND_DISPLAY") == NULL) {
        fputs("mayfly: view: no display here, so --open opens nothing: open the address above in a "
              "browser\n",
              stderr);
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        execlp("xdg-open", "xdg-open", address, (char *)NULL);
        _exit(127);
    }
    // It may stay as long as its browser; what fails, fails soon.
    int status = 0;
    for (double end = mf_clock_seconds() + OPEN_SECONDS; child > 0 && mf_clock_seconds() < end;) {
        if (waitpid(child, &status, WNOHANG) == child) {
            if (status != 0)
                fprintf(stderr, "mayfly: view: xdg-open could not open the page%s\n",
                        WIFEXITED(status) && WEXITSTATUS(status) == 127
                            ? ": it is not installed (Debian: xdg-utils)"
                            : "");
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

// At the requested port, or, where none was given and the usual one is taken, at a free one.
static mf_Status listen_somewhere(mf_Context *context, const Options *options,
                                  mf_ViewServerConfig *config, mf_ViewServer **out,
                                  mf_Error *error) {
    config->command = "view";
    config->port_option = "--port";
    config->host_option = "--host";
    config->host = options->host != NULL ? options->host : "127.0.0.1";
    config->port = (uint16_t)mf_option_count(options->port, USUAL_PORT);
    mf_Status status = mf_view_server_start(context, config, out, error);
    if (status != MF_BUSY || options->port != NULL)
        return status;
    config->port = 0;
    return mf_view_server_start(context, config, out, error);
}

static bool announce(const Options *options, const mf_ViewServer *server) {
    printf("see it at %s (Ctrl-C ends it)\n", mf_view_server_address(server));
    if (options->open)
        try_browser(mf_view_server_address(server));
    return mf_app_flush();
}

// ---- a live run --------------------------------------------------------------------------------

// A file that was dropped on a page takes the place of the world, or there is one line why not.
static void take_dropped(mf_Show **show, const Options *options, mf_ViewServer *server) {
    mf_ViewDrop drop;
    char line[MF_VIEW_NOTE];
    mf_Error error = {0};
    mf_Show *next = NULL;
    if (!mf_view_server_dropped(server, &drop))
        return;
    mf_Status status =
        options->record != NULL
            ? mf_fail(&error, MF_UNSUPPORTED,
                      "a session is recorded: start without --record-session to load files")
            : mf_show_dropped((*show)->viewer.context, &drop, &next, &error);
    MF_THEN(status, mf_view_server_change(server, &next->page, &next->description,
                                          mf_view_answer_capacity(&next->viewer), &error));
    if (status == MF_OK) {
        mf_show_destroy(*show);
        *show = next;
        mf_show_restart_clock(next);
    } else
        mf_show_destroy(next);
    if (status == MF_OK)
        mf_show_missing(*show, line, sizeof line);
    else
        mf_error_format(&error, line, sizeof line);
    mf_view_server_loaded(server, status == MF_OK, line);
}

static void run(mf_Show **show, const Options *options, mf_ViewServer *server) {
    mf_show_restart_clock(*show);
    do {
        take_dropped(show, options, server);
        mf_view_server_serve(server, mf_view_answer, &(*show)->viewer);
    } while (!mf_app_stop_requested() && mf_show_go_on(*show, server));
}

static mf_Status serve_show(mf_Show **show, const Options *options, mf_Error *error) {
    mf_Viewer *viewer = &(*show)->viewer;
    mf_ViewServer *server = NULL;
    // Kept until the server stops, also when another world takes the place of this one.
    mf_Text page = (*show)->page, description = (*show)->description;
    (*show)->page = (*show)->description = mf_text_begin(viewer->context);
    mf_ViewServerConfig config = {.page = page.data,
                                  .page_size = page.size,
                                  .description = description.data,
                                  .answer_capacity = mf_view_answer_capacity(viewer)};
    mf_Status status = listen_somewhere(viewer->context, options, &config, &server, error);
    mf_app_starting(false); // whoever reads the address may end it
    if (status == MF_OK && announce(options, server)) {
        run(show, options, server);
    }
    mf_view_server_stop(server);
    mf_text_free(&page);
    mf_text_free(&description);
    return status;
}

static int load_and_view(mf_Context *context, const Options *options, const char *name) {
    mf_SessionFile again = {.context = context};
    mf_Error error = {0};
    mf_Show *show = NULL;
    mf_Status status = MF_OK;
    if (options->session != NULL)
        status = mf_session_file_read(context, options->session, &again, &error);
    MF_THEN(status, mf_show_create(context, &options->inputs, name, &again, &show, &error));
    if (status == MF_OK) {
        show->end = options->duration != NULL
                        ? (uint64_t)(mf_option_real(options->duration, 0.0) / show->step + 0.5)
                        : UINT64_MAX;
        show->viewer.paused = options->paused;
        show->viewer.speed = mf_option_real(options->speed, 1.0);
        if (options->record != NULL)
            status = mf_session_record(&show->session, options->record, show->file->name, &error);
    }
    MF_THEN(status, serve_show(&show, options, &error));
    mf_show_destroy(show);
    mf_session_file_free(&again);
    return status == MF_OK ? MF_EXIT_DONE : mf_inputs_fail(&error);
}

// ---- a film ------------------------------------------------------------------------------------

static mf_Status read_film(mf_Context *context, const char *name, char **out, size_t *size,
                           mf_Error *error) {
    MF_TRY(mf_file_read(context, name, FILM_MOST, out, size, error));
    static const char *const marks[] = {"<script id=\"film\"", ">Mayfly evolution report<"};
    if (strstr(*out, marks[0]) != NULL || strstr(*out, marks[1]) != NULL)
        return MF_OK;
    mf_release(context, *out);
    *out = NULL;
    return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                      "expected a film, as mayfly run --plot FILM.html writes it, or the report of "
                      "mayfly evolve");
}

static mf_Status read_page(mf_Context *context, const char *name, char **out, size_t *size,
                           mf_Error *error) {
    if (mf_app_ends_with(name, ".html"))
        return read_film(context, name, out, size, error);
    mf_Status status = mf_recorded_page(context, name, out, error);
    *size = status == MF_OK ? strlen(*out) : 0;
    return status;
}

static int view_page(mf_Context *context, const Options *options, const char *name) {
    char *page = NULL;
    mf_Error error = {0};
    mf_ViewServer *server = NULL;
    mf_ViewServerConfig config = {.page_size = 0};
    mf_Status status = read_page(context, name, &page, &config.page_size, &error);
    config.page = page;
    MF_THEN(status, listen_somewhere(context, options, &config, &server, &error));
    mf_app_starting(false);
    if (status == MF_OK && announce(options, server)) {
        const double end = mf_clock_seconds() + mf_option_real(options->duration, INFINITY);
        while (!mf_app_stop_requested() && mf_clock_seconds() < end)
            mf_view_server_wait(server, WAIT_SECONDS);
    }
    mf_view_server_stop(server);
    mf_release(context, page);
    return status == MF_OK ? MF_EXIT_DONE : mf_app_fail(&error);
}

static int view(mf_Context *context, const void *given, const char *name) {
    const Options *options = given;
    const bool recording = mf_recorded_is(name);
    if (options->plot != NULL && !recording)
        return mf_app_usage("view", "--plot is for recordings (mayfly run FILE --plot FILM.html "
                                    "films a scene)");
    if (options->plot != NULL) {
        mf_Error error = {0};
        return mf_recorded_film(context, name, options->plot, &error) == MF_OK
                   ? MF_EXIT_DONE
                   : mf_app_fail(&error);
    }
    if (!recording && !mf_app_ends_with(name, ".html"))
        return load_and_view(context, options, name);
    if (options->record != NULL || options->session != NULL)
        return mf_app_usage("view", "sessions are of live runs, not of recordings and films");
    return view_page(context, options, name);
}

int mf_command_view(int argc, char **argv) {
    Options options = {.inputs = {0}};
    int count, result = mf_options_parse(&mf_help_view, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_app_starting(true); // until the page can be opened
    return mf_inputs_run(&options.inputs, view, &options, argv[1]);
}
