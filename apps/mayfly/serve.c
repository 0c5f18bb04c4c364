// mayfly serve: a scene, or a robot's own file, that other programs take part in over sockets.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app.h"
#include "inputs.h"
#include "serve/server.h"
#include "options.h"
#include "serve_bridges.h"
#include "run_scripts.h"
#include "serve_page.h"
#include "simulate.h"
#include "notes.h"
#include "body/kind.h"

typedef struct Options {
    mf_Inputs inputs;
    const char *port, *address, *path, *speed, *duration, *connections, *spin;
    const char *page, *message_rate, *byte_rate, *shared, *record, *fields, *every, *files;
    bool paused, allow_bridges;
} Options;

static const mf_Option table[] = {
    MF_OPT_COUNT("port", "N", Options, port, 0, 65535,
                 "TCP port (default 8766; 0: a free one, which is printed)"),
    MF_OPT_TEXT("listen", "ADDRESS", Options, address,
                "address to bind (default 127.0.0.1: this machine alone; others need the token in "
                "MAYFLY_TOKEN, or the one that is printed)"),
    MF_OPT_TEXT("unix", "PATH", Options, path, "Unix socket instead of TCP, for this user alone"),
    MF_OPT_COUNT("page", "PORT", Options, page, 0, 65535,
                 "also show the world on a page of the browser, as mayfly view does, at this port "
                 "(0: a free one) of the same address"),
    MF_OPT_FLAG("allow-bridges", Options, allow_bridges,
                "start the bridges that the file names: their programs run with your permissions"),
    MF_OPT_FLAG("paused", Options, paused, "begin paused"),
    MF_OPT_REAL("speed", "FACTOR", Options, speed, 0, 1e6,
                "simulated seconds per second (default 1; 0: as fast as possible)"),
    MF_OPT_REAL("duration", "S", Options, duration, 1e-6, 1e9,
                "ends after so many simulated seconds (default: runs on)"),
    MF_OPT_REAL("spin", "US", Options, spin, 0, 1e6,
                "most microseconds for which a turn in lock-step is waited for without a sleep "
                "(default 200; 10 where that is in vain)"),
    MF_OPT_TEXT("files", "FOLDER", Options, files,
                "folder below which clients name files to load, and robots that join (default: "
                "that of FILE)"),
    MF_OPT_COUNT("connections", "N", Options, connections, 1, 4096,
                 "most connections at once (default 64)"),
    MF_OPT_REAL("message-rate", "N", Options, message_rate, 1, 1e9,
                "most messages per second of a connection (default: no limit)"),
    MF_OPT_REAL("byte-rate", "N", Options, byte_rate, 1000, 1e12,
                "most bytes per second that a connection may send (default: no limit)"),
    MF_OPT_REAL("shared", "MIB", Options, shared, 0, 16384,
                "most MiB of memory that a connection over a Unix socket shares (default 64)"),
    MF_OPT_OUTPUT("record", Options, record, MF_APP_RECORDS,
                  "record to HDF5 (.h5) or MCAP (.mcap) until the end"),
    MF_INPUT_RECORD(Options),
    MF_INPUT_SCENE(Options, inputs),
    MF_INPUT_THREADS(Options, inputs),
    MF_INPUT_FILES(Options, inputs),
    MF_OPT_END};

static const mf_OptionGone gone[] = {
    {"serial", "mayfly-bridge dynamixel opens serial ports (docs/how_to/hardware.md)"},
    {NULL, NULL}};

const mf_CommandHelp mf_help_serve = {
    .name = "serve",
    .arguments = "FILE",
    .summary = "let other programs take part in a scene over TCP or a Unix socket",
    .text =
        "Simulates a scene (YAML) or a robot (URDF, MJCF) without an end. Programs connect, read\n"
        "fields of any group at any rate, write inputs, and pause, step, reset or restore the\n"
        "world: with mayfly.connect() in Python, mayfly/client.h in C, or by the messages of\n"
        "docs/reference/protocol.md in any language. A program may make the world wait for its\n"
        "commands (lock-step), or let it run on.\n\n"
        "--page shows the world on the page of mayfly view, too: what is done there - pause, "
        "steps,\n"
        "speed, reset, inputs, pushes - acts as if a program did it.\n\n"
        "--record writes what mayfly run --record writes. Ctrl-C or SIGTERM ends it; the "
        "recording\n"
        "is complete until then.",
    .examples = "  mayfly serve scenes/soccer.yaml\n"
                "  mayfly serve models/humanoid.urdf --speed 0 --unix /tmp/robot\n"
                "  mayfly serve scenes/swarm.yaml --listen 0.0.0.0\n"
                "  mayfly serve scenes/soccer.yaml --record match.mcap\n"
                "  mayfly serve models/hexapod.urdf --page 8765\n",
    .least = 1,
    .most = 1,
    .options = table,
    .gone = gone};

// ---- the token ---------------------------------------------------------------------------------

// The token of MAYFLY_TOKEN, or, where the address needs one, a random one that is printed.
static mf_Status choose_token(mf_ServerConfig *config, char made[MF_APP_TOKEN], mf_Error *error) {
    config->token = getenv("MAYFLY_TOKEN");
    if (config->token != NULL && config->token[0] == '\0')
        config->token = NULL;
    if (config->token != NULL || config->path != NULL || strncmp(config->address, "127.", 4) == 0 ||
        strcmp(config->address, "::1") == 0)
        return MF_OK;
    config->token = made;
    return mf_app_token("serve", made, error);
}

// ---- files -------------------------------------------------------------------------------------

// The folder that is given, or that of the served file; without a slash at its end.
static mf_Status choose_files(const char *given, const char *file, char out[MF_APP_PATH],
                              mf_Error *error) {
    struct stat info;
    const char *slash = strrchr(file, '/');
    const char *path = given != NULL ? given : slash != NULL ? file : ".";
    size_t length = given != NULL || slash == NULL ? strlen(path) : (size_t)(slash - file);
    while (length > 1 && path[length - 1] == '/')
        length--;
    length = length > 0 ? length : 1; // "/scene.yaml"
    if (length >= MF_APP_PATH)
        return mf_fail(error, MF_LIMIT, "--files: the path is too long");
    memcpy(out, path, length);
    out[length] = '\0';
    if (stat(out, &info) != 0 || !S_ISDIR(info.st_mode))
        return mf_fail(error, MF_NOT_FOUND, "--files: there is no folder %.200s", out);
    return MF_OK;
}

// ---- the command -------------------------------------------------------------------------------

// What the server's calls need.
typedef struct Served {
    const mf_Server *server;  // NULL before it is there
    mf_Bridges *bridges;      // NULL: none
    mf_ServePage *page;       // NULL: none
    char files[MF_APP_PATH];  // folder of what clients name
    char token[MF_APP_TOKEN]; // that was made
} Served;

// Asked by the server again and again. Programs of bridges may have ended.
static bool stop_requested(void *user) {
    const Served *served = user;
    if (served->bridges != NULL)
        mf_bridges_watch(served->bridges);
    return mf_app_stop_requested();
}

static bool announce(const mf_Server *server, const char *made, const mf_ServePage *page) {
    if (page != NULL)
        printf("see it at %s\n", mf_serve_page_address(page));
    printf("serving at %s (Ctrl-C ends it)\n", mf_server_address(server));
    if (made[0] != '\0')
        printf("token %s\n", made);
    return mf_app_flush();
}

// ---- scripts and pushes ------------------------------------------------------------------------

static void step_page(void *user, uint64_t steps) {
    mf_serve_page_move(((const Served *)user)->page, steps);
}

static mf_Status move(void *user, uint64_t steps, uint64_t *done, mf_Error *error) {
    const Served *served = user;
    return mf_scene_step_by(mf_server_scene(served->server), step_page, user, steps, done, error);
}

// A world that a client has loaded rests from now on.
static void rest(void *user, const char *reason) {
    (void)user;
    fprintf(stderr,
            "mayfly: the loaded world has stopped%s%s; it rests until another one is loaded\n",
            reason[0] != '\0' ? ": " : "", reason);
}

// A world that a client has made: what a scene gets at the start, and the same notes.
static mf_Status accept_world(void *user, mf_Scene *scene, bool loaded, mf_Error *error) {
    const uint32_t last = scene->group_count - 1;
    const mf_SceneGroup *joined = &scene->file->groups[last];
    mf_StartReport report = {.count = 0};
    Served *served = user;
    MF_TRY(loaded ? mf_genomes_check(scene->file, error) : MF_OK);
    if (loaded)
        MF_TRY(mf_genomes_give(mf_world_context(scene->world), scene, error));
    mf_scene_on_print(scene, mf_run_script_line, NULL);
    MF_TRY(mf_scene_start_scripts(scene, error));
    if (loaded) {
        printf("loaded %s\n", scene->file->file);
        mf_start_report(scene, &report);
    } else {
        printf("%u robots joined as %s\n", joined->count, joined->name);
        if (mf_group_vehicle(joined) == NULL) {
            mf_start_report_pose(scene, last, &report);
            mf_start_report_settings(scene, mf_world_group(scene->world, last), &report);
        }
    }
    mf_start_report_print(&report);
    mf_app_flush(); // a terminal that is gone ends nothing
    if (served->page != NULL)
        mf_serve_page_leave(served->page);
    return MF_OK;
}

static void print_end(const mf_Server *server) {
    const mf_Scene *scene = mf_server_scene(server);
    const mf_ServerStatistics sum = mf_server_statistics(server);
    printf("served %llu connections (%llu refused) for %.6g s of simulated time: %llu states, "
           "%llu lost by slow readers; %llu writes, %llu late; %llu turns, %llu missed\n",
           (unsigned long long)sum.connections, (unsigned long long)sum.refused,
           mf_time_to_seconds(mf_world_time(scene->world)), (unsigned long long)sum.states,
           (unsigned long long)sum.lost, (unsigned long long)sum.writes,
           (unsigned long long)sum.late, (unsigned long long)sum.turns,
           (unsigned long long)sum.missed);
    if (sum.unshared > 0)
        printf("%llu requests for shared memory were refused\n", (unsigned long long)sum.unshared);
}

static mf_Status sample(void *user, mf_Error *error) {
    return mf_recorder_sample(((mf_Simulation *)user)->recorder, error);
}

// What is recorded, as by mayfly run, and its first sample.
static mf_Status begin_record(mf_Simulation *simulation, mf_ServerConfig *config, mf_Error *error) {
    MF_TRY(mf_simulation_open(simulation, error));
    if (simulation->recorder == NULL)
        return MF_OK;
    config->sample = sample;
    config->sampled = simulation;
    config->sample_steps = mf_simulation_record_steps(simulation);
    return sample(simulation, error);
}

static mf_ServerConfig read_options(const Options *options, Served *served) {
    mf_ServerConfig config = mf_server_config();
    config.address = options->address != NULL ? options->address : config.address;
    config.port = (uint16_t)mf_option_count(options->port, config.port);
    config.path = options->path;
    config.connections = (uint32_t)mf_option_count(options->connections, config.connections);
    config.message_rate = mf_option_real(options->message_rate, 0.0);
    config.byte_rate = mf_option_real(options->byte_rate, 0.0);
    config.shared_limit =
        (size_t)(1048576.0 *
                 mf_option_real(options->shared, (double)config.shared_limit / 1048576.0));
    config.paused = options->paused;
    config.speed = mf_option_real(options->speed, 1.0);
    config.duration = mf_time_from_seconds(mf_option_real(options->duration, 0.0));
    config.files = served->files;
    config.accept = accept_world;
    config.ended = rest;
    config.spin = 1e-6 * mf_option_real(options->spin, 1e6 * config.spin);
    config.stop = stop_requested;
    config.user = served;
    return config;
}

// Prints where it serves, and does so until the end.
static mf_Status run(mf_Context *context, const mf_Scene *scene, mf_Server *server, bool bridges,
                     Served *served, mf_Error *error) {
    mf_StartReport report;
    mf_start_report(scene, &report);
    mf_start_report_print(&report);
    if (!announce(server, served->token, served->page))
        return MF_OK;
    mf_app_starting(false);
    if (bridges)
        MF_TRY(mf_bridges_start(context, scene->file, mf_server_address(server), served->token,
                                &served->bridges, error));
    MF_TRY(mf_server_run(server, error));
    print_end(server);
    return MF_OK;
}

// Opens the server and what belongs to it, and serves until the end.
static mf_Status open_and_serve(mf_Context *context, mf_Scene *scene, mf_Simulation *simulation,
                                const Options *options, Served *served, mf_Server **server,
                                mf_Error *error) {
    const uint16_t page = (uint16_t)mf_option_count(options->page, 0);
    mf_ServerConfig config = read_options(options, served);
    MF_TRY(choose_files(options->files, scene->file->file, served->files, error));
    MF_TRY(mf_genomes_give(context, scene, error));
    MF_TRY(choose_token(&config, served->token, error));
    MF_TRY(mf_scene_start_scripts(scene, error));
    MF_TRY(begin_record(simulation, &config, error));
    if (options->page != NULL) {
        config.move = move;
        config.mover = served;
        MF_TRY(mf_serve_page_create(context, scene, &config, &served->page, error));
    }
    MF_TRY(mf_server_create(context, scene, &config, server, error));
    served->server = *server;
    if (served->page != NULL)
        MF_TRY(mf_serve_page_open(served->page, *server, page, error));
    return run(context, scene, *server, options->allow_bridges, served, error);
}

static mf_Status serve_recorded(mf_Context *context, mf_Scene *scene, mf_Simulation *simulation,
                                const Options *options, mf_Error *error) {
    mf_Server *server = NULL;
    Served served = {.bridges = NULL};
    const mf_Status status =
        open_and_serve(context, scene, simulation, options, &served, &server, error);
    mf_serve_page_destroy(served.page);
    const char *stopped =
        server != NULL && mf_server_scene(server) == scene ? mf_scene_scripts_stopped(scene) : NULL;
    if (stopped != NULL)
        mf_run_say_stopped(stopped);
    mf_server_destroy(server);
    mf_bridges_stop(served.bridges);
    return status;
}

static mf_Status serve_scene(mf_Context *context, mf_Scene *scene, const Options *options,
                             mf_Error *error) {
    char names[MF_APP_PATH], *text = NULL;
    mf_Error closing = {0};
    mf_Simulation simulation = {.scene = scene,
                                .group = scene->group_count == 1 ? scene->group : NULL,
                                .joints = scene->joints,
                                .title = scene->file->name,
                                .colors = scene->colors};
    mf_Status status = mf_simulation_record(&simulation, scene->file, options->record,
                                            options->fields, options->every, names, &text, error);
    MF_THEN(status, serve_recorded(context, scene, &simulation, options, error));
    const mf_Status closed = mf_simulation_close(&simulation, status == MF_OK, &closing);
    mf_release(context, text);
    if (status == MF_OK && closed != MF_OK)
        *error = closing;
    return status == MF_OK ? closed : status;
}

static int load_and_serve(mf_Context *context, const void *given, const char *name) {
    const Options *options = given;
    mf_SceneFile *file = NULL;
    mf_Error error = {0};
    mf_SceneConfig config = mf_scene_config();
    config.bridges = options->allow_bridges;
    mf_Scene *scene = mf_allocate(context, 1, sizeof *scene);
    mf_Status status =
        scene == NULL ? mf_fail(&error, MF_NO_MEMORY, "serve: out of memory")
                      : mf_inputs_load(context, &options->inputs, "serve", name, &file, &error);
    MF_THEN(status, mf_genomes_check(file, &error));
    MF_THEN(status, mf_scene_create(context, file, &config, scene, &error));
    if (status == MF_OK)
        mf_scene_on_print(scene, mf_run_script_line, NULL);
    if (status == MF_OK && options->inputs.strict)
        status = mf_start_report_refuse(scene, &error);
    MF_THEN(status, serve_scene(context, scene, options, &error));
    if (scene != NULL)
        mf_scene_destroy(scene);
    mf_scene_file_destroy(file);
    mf_release(context, scene);
    return status == MF_OK ? MF_EXIT_DONE : mf_inputs_fail(&error);
}

int mf_command_serve(int argc, char **argv) {
    Options options = {.inputs = {0}};
    int count, result = mf_options_parse(&mf_help_serve, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    if (options.path != NULL && (options.port != NULL || options.address != NULL))
        return mf_app_usage("serve", "--unix and --port or --listen exclude each other");
    if (options.record == NULL && (options.fields != NULL || options.every != NULL))
        return mf_app_usage("serve", "--fields and --every require --record FILE");
    mf_app_starting(true); // until someone can connect
    return mf_inputs_run(&options.inputs, load_and_serve, &options, argv[1]);
}
