// mayfly run: an experiment's robots, simulated once, each with its own random controller; or a
// swarm (run_swarm.c); or a robot's file alone (run_model.c).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "inputs.h"
#include "options.h"
#include "run_model.h"
#include "run_robots.h"
#include "run_swarm.h"
#include "simulate.h"
#include "end_check.h"
#include "warnings.h"

#define GENOME_STREAM 0x72756eu // keeps these random numbers apart from all others

typedef struct Options {
    mf_Inputs inputs;
    mf_RunOptions run;
} Options;

static const mf_Option table[] = {
    MF_OPT_REAL("duration", "S", Options, inputs.duration, 1e-6, 1e9, "simulated seconds"),
    MF_OPT_COUNT("robots", "N", Options, inputs.robots, 1, 1 << 26, "how many, side by side"),
    MF_OPT_COUNT("seed", "N", Options, inputs.seed, 0, 1.8446744073709552e19,
                 "of the random controllers; of a robot's own file: of small joint rates, other "
                 "for every robot but the first"),
    MF_OPT_WORD("motion", "NAME", Options, run.motion, mf_word_motion,
                "how a robot's own file moves: kinematic, points, rigid, prescribed or articulated "
                "(the default)"),
    MF_OPT_TEXT("gait", "NAME", Options, run.gait,
                "what a robot's own file does: the name of a gait beside it, or a file"),
    MF_OPT_TEXT("command", "F,L,T", Options, run.command,
                "what the gait is told: forward [m/s], left [m/s], turn [rad/s] (default: half of "
                "the largest forward)"),
    MF_OPT_TEXT("key", "NAME", Options, run.key,
                "keyframe that a robot's own file starts with (default: the first)"),
    MF_OPT_REAL("step", "S", Options, run.step, 1e-6, 1,
                "physics step of a robot's own file (default: as the file says)"),
    MF_PLUGIN_OPTIONS(Options, run.plugins),
    MF_OPT_FLAG("strict", Options, run.strict,
                "refuse an MJCF robot with physical elements that are not supported instead of "
                "dropping them with a note"),
    MF_OPT_TEXT("root", "FOLDER", Options, run.root,
                "folder that a robot's meshes and includes may not leave by '..' (default: the "
                "package around it)"),
    MF_OPT_REAL("realtime", "FACTOR", Options, run.realtime, 1e-6, 1e9,
                "keep to the clock: simulated seconds per second (default: as fast as it goes)"),
    MF_OPT_OUTPUT("record", Options, run.record, MF_APP_RECORDS, "write fields to an HDF5 file"),
    MF_OPT_TEXT("fields", "a,b", Options, run.fields,
                "fields to record (default: base.*, joint.angle, sensor.*)"),
    MF_OPT_REAL("every", "S", Options, run.every, 1e-9, 1e9,
                "simulated seconds between samples, rounded to whole steps (default 0.1)"),
    MF_OPT_OUTPUT(
        "plot", Options, run.plot, ".html .svg",
        "robots: a film to open in a browser (.html); a swarm: its tracks (.html or .svg)"),
    MF_INPUT_THREADS(Options, inputs),
    MF_OPT_FLAG("json", Options, run.json, "print one JSON object"),
    MF_INPUT_MODEL(Options, inputs),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_END};

const mf_CommandHelp mf_help_run = {
    .name = "run",
    .arguments = "FILE",
    .summary = "simulate a robot, an experiment or a swarm once",
    .text =
        "A robot's own file starts with its first keyframe, where an MJCF has it, or, a URDF, on\n"
        "the ground, under full dynamics or another --motion, with the step, gravity and floor\n"
        "that the file asks for; --gait lets it stand for half a second and then walk. First come\n"
        "notes: what of the file is not there, and starts that are most likely not meant. Prints\n"
        "height, speed, energy, what the ground bears, distance, tilt, falls, the deepest\n"
        "penetration, faults and sensors.\n\n"
        "In an experiment every robot gets a controller of the experiment's kind with random\n"
        "content (a random program, random waves, or none), drawn from the seed and the robot's\n"
        "number. Prints how far they came; --record keeps what they did, in HDF5 with units. With\n"
        "--json the last line has motion, simulated_seconds, wall_seconds, realtime_factor and\n"
        "hash.\n\n"
        "A file with `groups` is a swarm: vehicles of several kinds in one world, which meet. Its\n"
        "summary says who is alive and what happened to the others; --plot draws where they went.\n"
        "mayfly help swarm lists every line of such a file.\n\n"
        "A file with `robots` holds groups of robots in one world: they walk, collide, play, and\n"
        "change the level of their physics while they run. Its summary says who lies on the\n"
        "ground, who scored, and what collisions cost; --plot makes a film of all of them.\n"
        "mayfly help robots lists every line of such a file.",
    .examples = "  mayfly run models/hexapod.urdf\n"
                "  mayfly run models/humanoid.urdf --gait walk --plot walk.html\n"
                "  mayfly run robot.xml --duration 5 --robots 1000 --key stand\n"
                "  mayfly run scenes/swarm.yaml --duration 10\n"
                "  mayfly run scenes/soccer.yaml --plot match.html\n"
                "  mayfly run scenes/circles.yaml --plot circles.html\n"
                "  mayfly run robot.xml --plot fall.html\n"
                "  mayfly run scenes/hexapod.yaml --robots 100 --duration 20\n"
                "  mayfly run scenes/hexapod.yaml --record walk.h5 --fields "
                "base.position,joint.angle\n",
    .least = 1,
    .most = 1,
    .options = table};

static mf_Status give_controllers(mf_Context *context, mf_Scene *scene, mf_Error *error) {
    uint32_t bytes = mf_scene_genome_bytes(scene), count = mf_group_count(scene->group);
    uint64_t seed = scene->experiment->search.seed;
    uint8_t *genome = mf_allocate(context, bytes, 1);
    if (genome == NULL)
        return mf_fail(error, MF_NO_MEMORY, "run: out of memory");
    for (uint32_t robot = 0; robot < count && bytes > 0; robot++) {
        for (uint32_t i = 0; i < bytes; i++) {
            uint32_t words[4];
            mf_random(seed, robot, GENOME_STREAM, i, words);
            genome[i] = (uint8_t)(words[0] >> 24);
        }
        mf_scene_apply_genome(scene, robot, genome);
    }
    mf_release(context, genome);
    return MF_OK;
}

static bool print_summary(const mf_Scene *scene, const mf_Simulation *simulation, bool json) {
    uint32_t count = mf_group_count(scene->group), best = 0;
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        double distance = mf_scene_distance(scene, i);
        sum += distance;
        best = distance > mf_scene_distance(scene, best) ? i : best;
    }
    double farthest = mf_scene_distance(scene, best);
    double factor = simulation->simulated / simulation->seconds;
    uint32_t faults = mf_group_fault_total(scene->group);
    uint64_t hash = mf_world_hash(scene->world);
    if (json)
        return mf_app_print(json_pack(
            "{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o}", "motion",
            mf_motion_name(scene->experiment->motion), "robots", (json_int_t)count,
            "simulated_seconds", mf_app_real(simulation->simulated), "wall_seconds",
            mf_app_real(simulation->seconds), "realtime_factor", mf_app_real(factor),
            "best_distance", mf_app_real(farthest), "mean_distance", mf_app_real(sum / count),
            "best_robot", (json_int_t)best, "faults", (json_int_t)faults, "warnings",
            mf_warnings_pack(scene->group), "hash", mf_app_hash(hash)));
    char life[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER];
    printf("%u robot%s lived %s in %s, %s x real time\n"
           "farthest  %.4g m (robot %u), mean %.4g m\nfaults    %u\nhash      %016llx\n",
           count, count == 1 ? "" : "s", mf_app_duration(simulation->simulated, life),
           mf_app_duration(simulation->seconds, time), mf_app_count(factor, speed), farthest, best,
           sum / count, faults, (unsigned long long)hash);
    mf_warnings_print(scene->group, NULL);
    return mf_app_flush();
}

static int run_scene(mf_Context *context, mf_Scene *scene, const Options *options,
                     mf_Error *error) {
    mf_Status status = give_controllers(context, scene, error);
    mf_Simulation simulation = {.world = scene->world,
                                .group = scene->group,
                                .agents = mf_group_count(scene->group),
                                .steps =
                                    mf_simulation_steps(scene->experiment, scene->experiment->step),
                                .realtime = mf_option_real(options->run.realtime, 0.0),
                                .record = options->run.record,
                                .fields = options->run.fields,
                                .record_period = mf_option_real(options->run.every, 0.1),
                                .progress = "step"};
    if (status == MF_OK)
        status = mf_simulate_filmed(&simulation, options->run.plot, error);
    if (status != MF_OK && status != MF_STOPPED)
        return mf_app_fail(error);
    bool printed = print_summary(scene, &simulation, options->run.json);
    if (status == MF_STOPPED)
        return mf_app_fail(error);
    return printed ? mf_end_check(scene->world) : MF_EXIT_FAILED;
}

static int run_experiment(mf_Context *context, const Options *options, const char *name) {
    mf_Experiment *experiment = NULL;
    mf_Scene scene = {0};
    mf_Error error = {0};
    mf_Status status = mf_inputs_load(context, &options->inputs, "run", name, &experiment, &error);
    if (status == MF_OK)
        status = mf_scene_create(context, experiment, experiment->count, &scene, &error);
    int result =
        status == MF_OK ? run_scene(context, &scene, options, &error) : mf_inputs_fail(&error);
    if (scene.world != NULL)
        mf_scene_destroy(&scene);
    mf_experiment_destroy(experiment);
    return result;
}

// Options that the kind of file has no use for.
static int refuse_options(const mf_RunOptions *options, mf_InputKind kind) {
    const bool robot = kind == MF_INPUT_ROBOT;
    // The tracks of a swarm are pictures too; films are pages.
    if (options->plot != NULL && kind != MF_INPUT_SWARM &&
        !mf_app_ends_with(options->plot, ".html"))
        return mf_app_usage("run", "--plot: expected a name that ends with .html (.svg is for a "
                                   "swarm)");
    if (!robot && (options->motion != NULL || options->key != NULL || options->strict ||
                   options->root != NULL || options->gait != NULL || options->command != NULL ||
                   options->step != NULL))
        return mf_app_usage("run", "--motion, --gait, --command, --key, --step, --strict and "
                                   "--root are for a robot's own file");
    if (!robot && (options->plugins.files.count + options->plugins.settings.count > 0 ||
                   options->plugins.tick != NULL))
        return mf_app_usage("run", "--plugin is for a robot's own file; other files have keys "
                                   "for plugins (mayfly help robots, mayfly help experiment)");
    return MF_OPTIONS_GO_ON;
}

static int refuse_vehicle(const char *name) {
    mf_Error error;
    mf_fail_at(&error, MF_BAD_ARGUMENT, name, 0, 0,
               "expected an experiment or a swarm, found a vehicle; mayfly info describes it, and "
               "scenes/swarm.yaml shows how to fly it");
    return mf_app_fail(&error);
}

static int run_kind(mf_Context *context, const Options *options, mf_InputKind kind,
                    const char *name) {
    const int result = refuse_options(&options->run, kind);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    switch (kind) {
    case MF_INPUT_ROBOT:
        return mf_run_model(context, &options->inputs, &options->run, name);
    case MF_INPUT_SWARM:
        return mf_run_swarm(context, &options->inputs, &options->run, name);
    case MF_INPUT_ROBOTS:
        return mf_run_robots(context, &options->inputs, &options->run, name);
    case MF_INPUT_VEHICLE:
        return refuse_vehicle(name);
    case MF_INPUT_EXPERIMENT:
        break;
    }
    return run_experiment(context, options, name);
}

int mf_command_run(int argc, char **argv) {
    Options options = {.inputs = {0}};
    mf_Inputs *inputs = &options.inputs;
    int count, result = mf_options_parse(&mf_help_run, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    if (options.run.record == NULL && (options.run.fields != NULL || options.run.every != NULL))
        return mf_app_usage("run", "--fields and --every need --record FILE");
    mf_app_starting(true); // until mf_simulate
    mf_app_catch_stop();
    mf_Context *context = NULL;
    mf_InputKind kind = MF_INPUT_EXPERIMENT;
    mf_Error error = {0};
    mf_Status status = mf_inputs_context(inputs, &context, &error);
    if (status == MF_OK)
        status = mf_inputs_kind(context, argv[1], &kind, &error);
    result = status == MF_OK ? run_kind(context, &options, kind, argv[1]) : mf_inputs_fail(&error);
    mf_context_destroy(context);
    return result;
}
