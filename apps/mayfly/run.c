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

static const mf_CommandHelp help = {
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
    .most = 1};

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
    if (options->run.plot != NULL && !mf_app_ends_with(options->run.plot, ".html"))
        return mf_app_usage("run", MF_APP_FILM_NAME);
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

static int refuse_vehicle(const char *name) {
    mf_Error error;
    mf_fail_at(&error, MF_BAD_ARGUMENT, name, 0, 0,
               "expected an experiment or a swarm, found a vehicle; mayfly info describes it, and "
               "scenes/swarm.yaml shows how to fly it");
    return mf_app_fail(&error);
}

int mf_command_run(int argc, char **argv) {
    Options options = {.inputs = {0}};
    mf_Inputs *inputs = &options.inputs;
    const mf_Option table[] = {
        {"duration", "S", MF_OPTION_REAL, &inputs->duration, 1e-6, 1e9, "simulated seconds"},
        {"seconds", "S", MF_OPTION_REAL, &inputs->duration, 1e-6, 1e9, "the same"},
        {"robots", "N", MF_OPTION_COUNT, &inputs->robots, 1, 1 << 26, "how many, side by side"},
        {"instances", "N", MF_OPTION_COUNT, &inputs->robots, 1, 1 << 26, "the same"},
        {"seed", "N", MF_OPTION_COUNT, &inputs->seed, 0, 1.8446744073709552e19,
         "of the random controllers; of a robot's own file: of small joint rates, other for every "
         "robot but the first"},
        {"motion", "NAME", MF_OPTION_TEXT, &options.run.motion, 0, 0,
         "how a robot's own file moves: kinematic, points, rigid, prescribed or articulated (the "
         "default)"},
        {"gait", "NAME", MF_OPTION_TEXT, &options.run.gait, 0, 0,
         "what a robot's own file does: the name of a gait beside it, or a file"},
        {"command", "F,L,T", MF_OPTION_TEXT, &options.run.command, 0, 0,
         "what the gait is told: forward [m/s], left [m/s], turn [rad/s] (default: half of the "
         "largest forward)"},
        {"key", "NAME", MF_OPTION_TEXT, &options.run.key, 0, 0,
         "keyframe that a robot's own file starts with (default: the first)"},
        {"step", "S", MF_OPTION_REAL, &options.run.step, 1e-6, 1,
         "physics step of a robot's own file (default: as the file says)"},
        MF_PLUGIN_OPTIONS(&options.run.plugins),
        {"strict", NULL, MF_OPTION_FLAG, &options.run.strict, 0, 0,
         "refuse an MJCF robot with physical elements that are not supported instead of dropping "
         "them with a note"},
        {"root", "FOLDER", MF_OPTION_TEXT, &options.run.root, 0, 0,
         "folder that a robot's meshes and includes may not leave by '..' (default: the package "
         "around it)"},
        {"realtime", "FACTOR", MF_OPTION_REAL, &options.run.realtime, 1e-6, 1e9,
         "keep to the clock: simulated seconds per second (default: as fast as it goes)"},
        {"record", "FILE", MF_OPTION_TEXT, &options.run.record, 0, 0,
         "write fields to an HDF5 file"},
        {"fields", "a,b", MF_OPTION_TEXT, &options.run.fields, 0, 0,
         "fields to record (default: base.*, joint.angle, sensor.*)"},
        {"every", "S", MF_OPTION_REAL, &options.run.every, 1e-9, 1e9,
         "simulated seconds between samples, rounded to whole steps (default 0.1)"},
        {"plot", "FILE", MF_OPTION_TEXT, &options.run.plot, 0, 0,
         "robots: a film to open in a browser (.html); a swarm: its tracks (.html or .svg)"},
        MF_INPUT_THREADS(inputs),
        {"json", NULL, MF_OPTION_FLAG, &options.run.json, 0, 0, "print one JSON object"},
        MF_INPUT_MODEL(inputs),
        MF_INPUT_SET(inputs),
        MF_INPUT_PLUGINS(inputs),
        {NULL, NULL, MF_OPTION_FLAG, NULL, 0, 0, NULL}};
    int count, result = mf_options_parse(&help, table, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    if (options.run.record == NULL && (options.run.fields != NULL || options.run.every != NULL))
        return mf_app_usage("run", "--fields and --every need --record FILE");
    if (options.run.record != NULL && !mf_app_record_name(options.run.record))
        return mf_app_usage("run", MF_APP_RECORD_NAME);
    mf_app_starting(true); // until mf_simulate
    mf_app_catch_stop();
    mf_Context *context = NULL;
    mf_InputKind kind = MF_INPUT_EXPERIMENT;
    mf_Error error = {0};
    mf_Status status = mf_inputs_context(inputs, &context, &error);
    if (status == MF_OK)
        status = mf_inputs_kind(context, argv[1], &kind, &error);
    if (status != MF_OK)
        result = mf_inputs_fail(&error);
    else if (kind == MF_INPUT_ROBOT)
        result = mf_run_model(context, inputs, &options.run, argv[1]);
    else if (options.run.motion != NULL || options.run.key != NULL || options.run.strict ||
             options.run.root != NULL || options.run.gait != NULL || options.run.command != NULL ||
             options.run.step != NULL)
        result = mf_app_usage("run", "--motion, --gait, --command, --key, --step, --strict and "
                                     "--root are for a robot's own file");
    else if (options.run.plugins.files.count + options.run.plugins.settings.count > 0 ||
             options.run.plugins.tick != NULL)
        result = mf_app_usage("run", "--plugin is for a robot's own file; other files have keys "
                                     "for plugins (mayfly help robots, mayfly help experiment)");
    else if (kind == MF_INPUT_SWARM)
        result = mf_run_swarm(context, inputs, &options.run, argv[1]);
    else if (kind == MF_INPUT_ROBOTS)
        result = mf_run_robots(context, inputs, &options.run, argv[1]);
    else if (kind == MF_INPUT_VEHICLE)
        result = refuse_vehicle(argv[1]);
    else
        result = run_experiment(context, &options, argv[1]);
    mf_context_destroy(context);
    return result;
}
