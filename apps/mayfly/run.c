// mayfly run: a scene, or a robot's own file, simulated once.
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "base/file.h"
#include "base/memory.h"
#include "inputs.h"
#include "moment.h"
#include "options.h"
#include "run_end.h"
#include "run_python.h"
#include "run_scripts.h"
#include "body/kind.h"
#include "view/film.h"

#define MOMENTS 10u         // [1] printed next to the start
#define TRACK_SAMPLES 190.0 // [1] of a run, about

typedef struct Options {
    mf_Inputs inputs;
    const char *record, *fields, *every, *realtime, *plot, *photos, *session, *results;
    const char *video, *camera, *trace;
    const char *python, *patience;
    bool json;
} Options;

static const mf_Option table[] = {
    MF_INPUT_DURATION(Options, inputs),
    MF_INPUT_SCENE(Options, inputs),
    MF_OPT_TEXT("session", "FILE", Options, session,
                "do again what mayfly view --record-session FILE recorded, until its end"),
    MF_OPT_REAL("realtime", "FACTOR", Options, realtime, 1e-6, 1e9,
                "simulated seconds per second of real time (default: as fast as possible)"),
    MF_OPT_OUTPUT("record", Options, record, MF_APP_RECORDS,
                  "record to HDF5 (.h5), or to MCAP (.mcap) for Foxglove and ROS tools"),
    MF_INPUT_RECORD(Options),
    MF_OPT_OUTPUT("plot", Options, plot, ".html .svg",
                  "a film to open in a browser (.html); for vehicles only: their tracks (.html or "
                  ".svg)"),
    MF_OPT_TEXT("photos", "FOLDER", Options, photos,
                "write the pictures of the scene's cameras, and of those of the first robot of "
                "each group, as PNG"),
    MF_OPT_OUTPUT(
        "video", Options, video, MF_VIDEO_ENDINGS,
        "a video at the speed of life, by the program ffmpeg (.mp4, .webm, .mkv or .gif)"),
    MF_OPT_TEXT(
        "camera", "NAME", Options, camera,
        "camera for --video: one of the scene, or GROUP-CAMERA of the first robot of a group, "
        "CAMERA if there is one group (default: one that keeps all robots in sight)"),
    MF_OPT_OUTPUT("trace", Options, trace, ".csv",
                  "table of the energies of a quasi-static truss, after each iteration of each "
                  "frame"),
    MF_OPT_TEXT("results", "DIR", Options, results,
                "folder for the results of scripts (default: runs/<scene>-<seed>)"),
    MF_OPT_TEXT("python", "FILE", Options, python,
                "a script in Python, run by python3 or $MAYFLY_PYTHON with the package mayfly"),
    MF_OPT_REAL("patience", "S", Options, patience, 0.001, 3000,
                "longest time that a function of --python may take (default 60)"),
    MF_INPUT_THREADS(Options, inputs),
    MF_OPT_FLAG("json", Options, json, "print one JSON object"),
    MF_INPUT_FILES(Options, inputs),
    MF_OPT_END};

const mf_CommandHelp mf_help_run = {
    .name = "run",
    .arguments = "FILE",
    .summary = "simulate a scene or a robot once",
    .text =
        "A scene (YAML) defines groups of robots and vehicles in one world, with their\n"
        "controllers, behaviors, contacts and detection; mayfly help scene lists its keys.\n"
        "Robots of a scene for evolution get random genomes, which depend on the seed and the\n"
        "robot's index; machines are their ancestor.\n\n"
        "A robot's own file (URDF, MJCF) is a scene of that robot with defaults for everything\n"
        "else: full dynamics, with the step, gravity and ground of the file. An MJCF robot starts\n"
        "in its first keyframe, if it has one, a URDF robot on the ground; with --gait it stands\n"
        "for half a second and then walks.\n\n"
        "The output begins with notes: unsupported features of the files, and initial states that\n"
        "are probably unintended. For one robot height, speed, energy, load on the ground,\n"
        "distance, tilt, falls, the largest penetration, faults and sensors follow; for several\n"
        "groups the number of active robots, collisions and faults, goals, and the cost of\n"
        "contact. --session does again what was done on the page of mayfly view. --photos writes\n"
        "one picture per camera and tick of its rate, beginning with the start: NAME-NUMBER.png,\n"
        "with -depth (16 bit, millimeters) and -segmentation. --video encodes while it runs.\n"
        "--record FILE.h5 writes fields with their units to HDF5, --record FILE.mcap also poses,\n"
        "shapes and joint states for Foxglove; mayfly view FILE shows either. --json prints one\n"
        "object: motion,\n"
        "simulated_seconds, wall_seconds, realtime_factor, hash, groups; for a scene with one\n"
        "group also the members of the group.",
    .examples = "  mayfly run models/hexapod.urdf\n"
                "  mayfly run models/humanoid.urdf --gait walk --plot walk.html\n"
                "  mayfly run robot.xml --duration 5 --robots 1000 --key stand\n"
                "  mayfly run scenes/swarm.yaml --duration 10\n"
                "  mayfly run scenes/soccer.yaml --plot match.html\n"
                "  mayfly run scenes/circles.yaml --plot circles.html\n"
                "  mayfly run robot.xml --plot fall.html\n"
                "  mayfly run scenes/soccer.yaml --duration 2 --photos photos\n"
                "  mayfly run scenes/soccer.yaml --duration 10 --video match.mp4\n"
                "  mayfly run scenes/hexapod.yaml --robots 100 --duration 20\n"
                "  mayfly run scenes/hexapod.yaml --record walk.h5 --fields "
                "base.position,joint.angle\n"
                "  mayfly run scenes/soccer.yaml --duration 5 --record match.mcap\n"
                "  mayfly run models/humanoid.urdf --python examples/python/pushes.py\n",
    .least = 1,
    .most = 1,
    .options = table};

// ---- observation of the run --------------------------------------------------------------------

static bool has_links(const mf_Scene *scene, uint32_t index) {
    return mf_group_vehicle(&scene->file->groups[index]) == NULL &&
           mf_motion_of(mf_world_group(scene->world, index), 0) != MF_MOTION_COUNT;
}

static mf_Status begin_outcomes(mf_Context *context, mf_Run *run, mf_Error *error) {
    const uint32_t count = run->scene.group_count;
    mf_Status status = MF_OK;
    MF_TRY(MF_ALLOCATE(context, "run", error, MF_ARRAY(run->outcomes, count),
                       MF_ARRAY(run->observed, count)));
    for (uint32_t g = 0; g < count && status == MF_OK; g++) {
        if (!has_links(&run->scene, g))
            continue;
        status = mf_outcome_begin(context, mf_world_group(run->scene.world, g), &run->outcomes[g],
                                  error);
        run->observed[g] = status == MF_OK;
    }
    return status;
}

static void sample_outcomes(void *watched) {
    mf_Run *run = watched;
    for (uint32_t g = 0; g < run->scene.group_count; g++)
        if (run->observed[g])
            mf_outcome_sample(&run->outcomes[g]);
}

// Each step: the frame and its result.
static void observe_frame(void *watched) {
    sample_outcomes(watched);
    mf_trace_frame(((const mf_Run *)watched)->trace);
}

static void end_outcomes(mf_Run *run) {
    for (uint32_t g = 0; run->observed != NULL && g < run->scene.group_count; g++)
        if (run->observed[g])
            mf_outcome_end(&run->outcomes[g]);
    mf_release(run->scene.context, run->outcomes);
    mf_release(run->scene.context, run->observed);
}

// Sampling interval for falls and depths: at most a few hundred samples.
static double watch_period(double duration) {
    return duration > 5.0 ? duration / 500.0 : 0.01;
}

// ---- the run -----------------------------------------------------------------------------------

// In one call for a record, else in intervals for the table of the first robot.
static mf_Status simulate_alone(mf_Run *run, mf_Error *error) {
    mf_Simulation *simulation = &run->simulation;
    const uint64_t steps = simulation->total = simulation->steps;
    double simulated = 0.0, seconds = 0.0;
    uint64_t done = 0;
    mf_Status status = MF_OK;
    mf_moment_print(run->scene.group, 0.0);
    if (simulation->record != NULL) {
        status = mf_simulate(simulation, error);
        mf_moment_print(run->scene.group, simulation->simulated);
        return status;
    }
    simulation->progress = NULL;
    for (uint32_t i = 1;
         i <= MOMENTS && status == MF_OK && mf_scene_scripts_stopped(&run->scene) == NULL &&
         !mf_run_python_stopped(simulation->python);
         i++) {
        simulation->steps = steps * i / MOMENTS - done;
        if (simulation->steps == 0)
            continue;
        status = mf_simulate(simulation, error);
        done += simulation->steps;
        simulation->first = done;
        simulated += simulation->simulated;
        seconds += simulation->seconds;
        mf_moment_print(run->scene.group, simulated);
    }
    simulation->simulated = simulated;
    simulation->seconds = seconds;
    return status;
}

// A film, or, as .svg, the tracks of vehicles.
static mf_Status begin_picture(mf_Context *context, mf_Run *run, const char *plot,
                               mf_Error *error) {
    mf_Simulation *simulation = &run->simulation;
    if (plot != NULL && mf_app_ends_with(plot, ".svg")) {
        simulation->picture_period = run->scene.file->duration / TRACK_SAMPLES;
        return mf_tracks_create(context, &run->scene, &simulation->tracks, error);
    }
    MF_TRY(mf_simulation_film(simulation, plot, error));
    return simulation->film != NULL ? mf_film_color_circles(simulation->film, &run->scene, error)
                                    : MF_OK;
}

static mf_Status end_picture(mf_Run *run, const char *plot, bool ran, mf_Error *error) {
    mf_Simulation *simulation = &run->simulation;
    mf_Status status = mf_simulation_film_end(simulation, plot, ran, error);
    if (status == MF_OK && ran && simulation->tracks != NULL)
        status = mf_tracks_write(simulation->tracks, plot, error);
    mf_tracks_destroy(simulation->tracks);
    return status;
}

// What was simulated is not what the scene says where contacts between robots were dropped.
static int check_contacts(const mf_Scene *scene) {
    const mf_CollisionsStatistics none = {0};
    const mf_CollisionsStatistics sum =
        scene->collisions != NULL ? mf_collisions_statistics(scene->collisions) : none;
    if (sum.lost_pairs + sum.lost_contacts == 0)
        return MF_EXIT_DONE;
    fprintf(stderr,
            "mayfly: contacts between robots were dropped, buffers full: %llu pairs and %llu "
            "contacts\n",
            (unsigned long long)sum.lost_pairs, (unsigned long long)sum.lost_contacts);
    return MF_EXIT_FAILED;
}

static int finish(mf_Run *run, const Options *options, mf_Status status, mf_Error *error) {
    const bool ran = status == MF_OK || status == MF_STOPPED;
    mf_Error writing = {0};
    const bool filmed = mf_video_close(run->simulation.video, ran, &writing) == MF_OK;
    const bool drawn = end_picture(run, options->plot, ran, &writing) == MF_OK && filmed;
    bool printed = false;
    if (ran) {
        sample_outcomes(run);
        printed = options->json ? mf_run_print_json(run) : mf_run_print_end(run);
    }
    end_outcomes(run);
    mf_photographer_destroy(run->simulation.photographer);
    if (ran && !drawn)
        return mf_app_fail(&writing);
    if (status != MF_OK)
        return mf_app_fail(error);
    if (!printed)
        return MF_EXIT_FAILED;
    const int code = mf_end_check(run->scene.world);
    return code == MF_EXIT_DONE ? check_contacts(&run->scene) : code;
}

// What was done after the last step; then the state must be the one that was recorded.
static mf_Status end_session(mf_Run *run, mf_Error *error) {
    if (run->simulation.session == NULL)
        return MF_OK;
    mf_session_catch_up(&run->session);
    const uint64_t hash = mf_world_hash(run->scene.world);
    if (run->simulation.python != NULL) // it may have acted, too
        return MF_OK;
    if (!run->file.ended || run->session.step != run->file.steps || hash == run->file.end)
        return MF_OK;
    return mf_fail_at(error, MF_CORRUPT, run->file.path, 0, 0,
                      "expected the last state to have the hash %016llx, found %016llx",
                      (unsigned long long)run->file.end, (unsigned long long)hash);
}

// The steps of the run, and then the functions `finish` of scripts.
static mf_Status simulate(mf_Run *run, const Options *options, mf_Error *error) {
    MF_TRY(run->alone && !options->json ? simulate_alone(run, error)
                                        : mf_simulate(&run->simulation, error));
    MF_TRY(mf_scene_finish_scripts(&run->scene, error));
    if (run->simulation.python != NULL)
        MF_TRY(mf_run_python_finish(run->simulation.python, error));
    return MF_OK;
}

// Opens all that takes part in the run, prints its start and simulates it. `fields` and `text` as
// in mf_simulation_record.
static mf_Status open_and_simulate(mf_Context *context, mf_Run *run, const Options *options,
                                   char fields[MF_APP_PATH], char **text, mf_Error *error) {
    mf_Scene *scene = &run->scene;
    mf_Simulation *simulation = &run->simulation;
    const char *record = options->record != NULL ? options->record : scene->file->record_path;
    MF_TRY(mf_simulation_record(simulation, scene->file, record, options->fields, options->every,
                                fields, text, error));
    if (simulation->session == NULL) // which has started them
        MF_TRY(mf_scene_start_scripts(scene, error));
    if (options->python != NULL)
        MF_TRY(mf_run_python_open(scene, options->python, mf_option_real(options->patience, 60.0),
                                  simulation->session, &simulation->python, error));
    MF_TRY(begin_outcomes(context, run, error));
    if (options->trace != NULL) {
        MF_TRY(mf_trace_open(scene, options->trace, &run->trace, error));
        simulation->watch = observe_frame;
        simulation->watch_period = mf_time_to_seconds(scene->step);
    }
    mf_start_report(scene, &run->report);
    MF_TRY(begin_picture(context, run, options->plot, error));
    if (options->photos != NULL)
        MF_TRY(mf_photographer_create(scene, options->photos, &simulation->photographer, error));
    MF_TRY(mf_simulation_open(simulation, error));
    if (options->video != NULL)
        MF_TRY(mf_video_open(scene, options->video, options->camera, &simulation->video, error));
    if (!options->json)
        mf_run_print_start(run);
    return simulate(run, options, error);
}

static int run_scene(mf_Context *context, mf_Run *run, const Options *options, mf_Error *error) {
    mf_Scene *scene = &run->scene;
    const mf_SceneFile *file = scene->file;
    char fields[MF_APP_PATH], *text = NULL;
    run->alone = scene->group_count == 1 && has_links(scene, 0);
    run->simulation = (mf_Simulation){.scene = scene,
                                      .session = run->simulation.session,
                                      .group = scene->group_count == 1 ? scene->group : NULL,
                                      .joints = scene->joints,
                                      .title = file->name,
                                      .colors = scene->colors,
                                      .agents = (double)mf_scene_file_count(file),
                                      .steps = mf_scene_steps(scene),
                                      .realtime = mf_option_real(options->realtime, 0.0),
                                      .watch = sample_outcomes,
                                      .watched = run,
                                      .watch_period = watch_period(file->duration),
                                      .interaction = scene->interaction,
                                      .progress = "step"};
    if (run->simulation.session != NULL && options->inputs.duration == NULL)
        run->simulation.steps = run->file.steps;
    mf_Status status = open_and_simulate(context, run, options, fields, &text, error);
    mf_release(context, text);
    MF_THEN(status, end_session(run, error));
    mf_Error writing = {0};
    mf_Status closed = mf_run_python_close(run->simulation.python, options->results, &writing);
    MF_THEN(closed, mf_trace_close(run->trace, &writing));
    if (closed == MF_OK)
        closed = mf_run_scripts_close(scene, options->results, &writing);
    if (closed != MF_OK)
        mf_app_fail(&writing);
    const int result = finish(run, options, status, error);
    return closed == MF_OK ? result : MF_EXIT_FAILED;
}

// SVG pictures exist only for tracks; a record named in the file is tried like an option's.
static mf_Status check_outputs(mf_Context *context, const mf_SceneFile *file,
                               const Options *options, mf_Error *error) {
    bool vehicles = true;
    for (uint32_t g = 0; g < file->group_count; g++)
        vehicles = vehicles && mf_group_vehicle(&file->groups[g]) != NULL;
    if (options->plot != NULL && !vehicles && !mf_app_ends_with(options->plot, ".html"))
        return mf_app_refuse(
            "run", "--plot: expected a name that ends with .html (.svg is for vehicles)", error);
    if (options->record == NULL && file->record_path == NULL &&
        (options->fields != NULL || options->every != NULL))
        return mf_app_refuse("run", "--fields and --every require --record FILE", error);
    if (options->video == NULL && options->camera != NULL)
        return mf_app_refuse("run", "--camera requires --video FILE", error);
    if (options->python == NULL && options->patience != NULL)
        return mf_app_refuse("run", "--patience requires --python FILE", error);
    if (options->record == NULL && file->record_path != NULL)
        return mf_file_try(context, file->record_path, error);
    return MF_OK;
}

static mf_Status begin_session(mf_Context *context, mf_Run *run, mf_Error *error) {
    MF_TRY(mf_scene_start_scripts(&run->scene, error)); // a session begins after `start`
    MF_TRY(mf_session_begin(context, &run->scene, &run->session, error));
    run->simulation.session = &run->session;
    run->session.only_once = true;
    return mf_session_load(&run->session, &run->file, error);
}

static mf_Status load(mf_Context *context, mf_Run *run, const Options *options, const char *name,
                      mf_SceneFile **file, mf_Error *error) {
    if (options->session != NULL)
        MF_TRY(mf_session_file_read(context, options->session, &run->file, error));
    MF_TRY(mf_inputs_scene(context, &options->inputs, "run", name, run->file.levels, file,
                           &run->scene, error));
    MF_TRY(check_outputs(context, *file, options, error));
    return options->session != NULL ? begin_session(context, run, error) : MF_OK;
}

static int load_and_run(mf_Context *context, const void *given, const char *name) {
    const Options *options = given;
    mf_SceneFile *file = NULL;
    mf_Error error = {0};
    mf_Run *run = mf_allocate(context, 1, sizeof *run);
    if (run == NULL) {
        mf_fail(&error, MF_NO_MEMORY, "run: out of memory");
        return mf_app_fail(&error);
    }
    const mf_Status status = load(context, run, options, name, &file, &error);
    const int result =
        status == MF_OK ? run_scene(context, run, options, &error) : mf_inputs_fail(&error);
    if (run->simulation.session != NULL)
        mf_session_end(&run->session);
    mf_session_file_free(&run->file);
    mf_run_python_destroy(run->simulation.python);
    mf_scene_destroy(&run->scene);
    mf_scene_file_destroy(file);
    mf_release(context, run);
    return result;
}

int mf_command_run(int argc, char **argv) {
    Options options = {.inputs = {0}};
    int count, result = mf_options_parse(&mf_help_run, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_OptionList *settings = &options.inputs.settings;
    if (options.trace != NULL && settings->count == MF_OPTION_ITEMS)
        return mf_app_usage("run", "--trace: too many --set");
    if (options.trace != NULL)
        settings->items[settings->count++] = MF_TRACE_SETTING;
    mf_app_starting(true); // until mf_simulate
    return mf_inputs_run(&options.inputs, load_and_run, &options, argv[1]);
}
