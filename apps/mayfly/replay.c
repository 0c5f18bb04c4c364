// mayfly replay: simulates a stored individual again. With the archive's own step its fitness must
// equal the stored one bit for bit; otherwise the command reports a difference.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "inputs.h"
#include "options.h"
#include "replay_machine.h"
#include "simulate.h"
#include "stored.h"
#include "notes.h"

typedef struct Options {
    const char *individual, *generation, *ancestry, *motion, *divisor, *record, *fields, *every,
        *plot, *truss, *stl;
    bool json;
    mf_Inputs inputs; // --model, --ground and --set
} Options;

typedef struct Replay {
    const Options *options;
    mf_Context *context;
    mf_Stored stored;
    mf_SceneFile *file;
    mf_Scene scene;
    mf_Simulation simulation;
} Replay;

static const mf_Option table[] = {
    MF_OPT_COUNT("individual", "ID", Options, individual, 0, 1.8446744073709552e19,
                 "the individual with that number"),
    MF_OPT_COUNT("generation", "N", Options, generation, 1, 4294967295.0,
                 "the best of that generation (default: of the newest one)"),
    MF_OPT_TEXT("ancestry", "best|ID", Options, ancestry,
                "print that individual's ancestors instead of simulating it"),
    MF_OPT_NAME("motion", "LEVEL", Options, motion, mf_compared_name_at,
                MF_APP_LEVELS
                "; of a truss quasistatic or elastic (default: that of the evolution)"),
    MF_OPT_COUNT("step-divisor", "N", Options, divisor, 1, 1000000,
                 "divide the physics step by this number"),
    MF_OPT_OUTPUT("record", Options, record, MF_APP_RECORDS,
                  "record to HDF5 (.h5), or to MCAP (.mcap) for Foxglove and ROS tools"),
    MF_INPUT_RECORD(Options),
    MF_OPT_OUTPUT("plot", Options, plot, ".html",
                  "a film of the robot, a page to open in a browser (.html)"),
    MF_OPT_OUTPUT("truss", Options, truss, ".yaml",
                  "write an evolved machine as the file of a truss (.truss.yaml)"),
    MF_OPT_TEXT("stl", "FOLDER", Options, stl,
                "write the parts of an evolved machine as STL files, with a list of parts"),
    MF_INPUT_MODEL(Options, inputs),
    MF_INPUT_GROUND(Options, inputs),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_FLAG("json", Options, json, "print one JSON object"),
    MF_OPT_END};

const mf_CommandHelp mf_help_replay = {
    .name = "replay",
    .arguments = "RUN",
    .summary = "simulate a stored individual again and compare",
    .text =
        "RUN is the folder of an evolution run, or its archive. The best individual of the newest\n"
        "generation (or the selected one) is simulated again; its result must equal the stored\n"
        "fitness to the last bit, else the exit code is 1. --step-divisor divides the physics\n"
        "step, to test whether the walk depends on it; --motion selects another level, with the\n"
        "step search.verify.step; --set changes any key of the scene. With these options the new\n"
        "and the stored result are only printed, together with the result of the verification. If\n"
        "the model or the ground has moved, it is searched for in the folders above RUN; --model\n"
        "and --ground state its path, and it must have the same content.\n\n"
        "Machines of bars (controller: machine) can be written: --truss FILE as a truss for run,\n"
        "info, compare and print, --stl FOLDER as parts to print, at the smallest scale at which\n"
        "all joints and actuators fit.\n\n"
        "--ancestry prints the line of an individual back to the first generation: id, generation\n"
        "of birth, fitness, length of the genome and how many bytes differ from the parent's; "
        "with\n"
        "--json one object: individual, and ancestors, a list of id, parent, generation, fitness,\n"
        "bytes, changed.\n\n"
        "--json prints: motion, individual, distance and fitness [m], stored_fitness,\n"
        "stored_verified, ratio, equal, step, simulated_seconds, wall_seconds, realtime_factor,\n"
        "hash.",
    .examples =
        "  mayfly replay runs/hexapod-1 --plot champion.html\n"
        "  mayfly replay runs/hexapod-1 --motion articulated --plot articulated.html\n"
        "  mayfly replay runs/hexapod-1 --motion articulated --set group.servo.stiffness=2\n"
        "  mayfly replay runs/hexapod-1 --record champion.h5\n"
        "  mayfly replay runs/hexapod-1 --ancestry best\n"
        "  mayfly replay runs/golem-1 --plot crawl.html --truss crawler.truss.yaml --stl parts\n"
        "  mayfly replay runs/hexapod-1 --generation 10 --step-divisor 10\n",
    .least = 1,
    .most = 1,
    .options = table};

static mf_Status open_run(Replay *replay, const char *name, mf_Error *error) {
    MF_TRY(mf_inputs_context(&replay->options->inputs, &replay->context, error));
    return mf_stored_open(replay->context, name, &replay->stored, error);
}

static mf_Status find_individual(Replay *replay, mf_Error *error) {
    const Options *options = replay->options;
    return mf_stored_find(&replay->stored, options->individual,
                          (uint32_t)mf_option_count(options->generation, 0), error);
}

static mf_Status make_scene(Replay *replay, mf_Error *error) {
    const Options *options = replay->options;
    MF_TRY(mf_stored_scene(&replay->stored, &options->inputs, "replay", options->motion,
                           (uint32_t)mf_option_count(options->divisor, 1), &replay->file,
                           &replay->scene, error));
    replay->simulation.steps = mf_scene_steps(&replay->scene);
    return MF_OK;
}

static mf_Status simulate(Replay *replay, mf_Error *error) {
    mf_Simulation *simulation = &replay->simulation;
    simulation->scene = &replay->scene;
    simulation->group = replay->scene.group;
    simulation->agents = mf_group_count(replay->scene.group);
    simulation->record = replay->options->record;
    simulation->fields = replay->options->fields;
    simulation->record_period = mf_option_real(replay->options->every, 0.1);
    simulation->title = replay->file->name;
    char *text;
    MF_TRY(mf_scene_file_write(replay->file, &text, error));
    simulation->text = text;
    const mf_Status status = mf_simulate_filmed(simulation, replay->options->plot, error);
    mf_release(replay->context, text);
    return status;
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static bool print_result(const Replay *replay, double distance, double fitness, bool equal) {
    const mf_Simulation *simulation = &replay->simulation;
    double factor = simulation->simulated / simulation->seconds;
    double stored = replay->stored.individual.fitness;
    double ratio = fitness / stored;
    uint64_t hash = mf_world_hash(replay->scene.world);
    uint64_t id = replay->stored.individual.id;
    const char *motion = mf_motion_name(replay->scene.motion);
    double verified = replay->stored.individual.verified;
    if (replay->options->json)
        return mf_app_print(json_pack(
            "{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "motion",
            motion, "individual", (json_int_t)id, "distance", mf_json_real(distance), "fitness",
            mf_json_real(fitness), "stored_fitness", mf_json_real(stored), "stored_verified",
            mf_json_real(verified), "ratio", mf_json_real(ratio), "equal", (int)equal, "step",
            mf_json_real(mf_time_to_seconds(replay->scene.step)), "simulated_seconds",
            mf_json_real(simulation->simulated), "wall_seconds", mf_json_real(simulation->seconds),
            "realtime_factor", mf_json_real(factor), "warnings",
            mf_warnings_pack(replay->scene.group), "hash", mf_app_hash(hash)));
    char lifetime[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER];
    char share[40] = "";
    if (replay->stored.paths.moved)
        printf("model      found at: %s\n", replay->stored.paths.model);
    if (!equal && isfinite(ratio))
        snprintf(share, sizeof share, "; now %.1f %% of it", 100.0 * ratio);
    printf("individual %llu: %s in %s, %s x real time\n", (unsigned long long)id,
           mf_app_duration(simulation->simulated, lifetime),
           mf_app_duration(simulation->seconds, time), mf_app_count(factor, speed));
    printf("motion     %s with a step of %g ms\ndistance   %.9g m\nfitness    %.9g m\n"
           "stored     %.9g m, %s%s\n",
           motion, 1000.0 * mf_time_to_seconds(replay->scene.step), distance, fitness, stored,
           equal ? "the same bits" : "not the same", share);
    if (isfinite(verified) && replay->file->verify.motion != MF_VERIFY_NONE)
        printf("verified   %.9g m at %s, by the verification\n", verified,
               mf_motion_name(mf_verify_motion(replay->file->verify.motion)));
    mf_replay_machine_print(&replay->scene, replay->stored.genome);
    mf_warnings_print(replay->scene.group, NULL);
    printf("hash       %016llx\n", (unsigned long long)hash);
    return mf_app_flush();
}

static int compare(const Replay *replay, mf_Error *error) {
    double distance = mf_scene_distance(&replay->scene, 0);
    double fitness = mf_scene_fitness(&replay->scene, 0);
    bool equal = same_bits(fitness, replay->stored.individual.fitness);
    bool printed = print_result(replay, distance, fitness, equal);
    bool same_level = replay->scene.motion == replay->file->groups[0].motion;
    bool same_settings = replay->options->inputs.settings.count == 0 &&
                         mf_option_count(replay->options->divisor, 1) == 1;
    if (!equal && same_level && same_settings) {
        mf_fail_at(error, MF_CORRUPT, replay->stored.path, 0, 0,
                   "individual %llu: the result is %.17g m, the stored one %.17g m: written by "
                   "version %s, this is %s",
                   (unsigned long long)replay->stored.individual.id, fitness,
                   replay->stored.individual.fitness, replay->stored.run.version, mf_version());
        return mf_app_fail(error);
    }
    return printed ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// ---- ancestry ----------------------------------------------------------------------------------

// The line of an individual, itself first.
static bool print_line_json(const mf_Ancestor *line, uint32_t count) {
    json_t *ancestors = json_array();
    for (uint32_t i = 0; i < count; i++) {
        bool root = line[i].parent == UINT64_MAX;
        json_array_append_new(
            ancestors,
            json_pack("{s:I, s:o, s:I, s:o, s:I, s:I}", "id", (json_int_t)line[i].id, "parent",
                      root ? json_null() : json_integer((json_int_t)line[i].parent), "generation",
                      (json_int_t)line[i].generation, "fitness", mf_json_real(line[i].fitness),
                      "bytes", (json_int_t)line[i].bytes, "changed", (json_int_t)line[i].changed));
    }
    return mf_app_print(
        json_pack("{s:I, s:o}", "individual", (json_int_t)line[0].id, "ancestors", ancestors));
}

static bool print_line(const mf_Ancestor *line, uint32_t count) {
    printf("%10s  %10s  %12s  %12s  change from its parent\n", "individual", "generation",
           "fitness", "genome");
    for (uint32_t i = 0; i < count; i++) {
        printf("%10llu  %10u  %12.6g  %6u bytes  ", (unsigned long long)line[i].id,
               line[i].generation, line[i].fitness, line[i].bytes);
        if (line[i].parent == UINT64_MAX)
            printf("no parent\n");
        else
            printf("%u byte%s; child of %llu\n", line[i].changed, line[i].changed == 1 ? "" : "s",
                   (unsigned long long)line[i].parent);
    }
    return mf_app_flush();
}

// The line of an individual back to the first generation, instead of a simulation.
static int show_ancestry(Replay *replay, mf_Error *error) {
    const Options *options = replay->options;
    uint64_t id = mf_option_count(options->ancestry, 0);
    mf_Ancestor *line;
    uint32_t count;
    mf_Status status = MF_OK;
    if (strcmp(options->ancestry, "best") == 0) {
        status = find_individual(replay, error);
        id = replay->stored.individual.id;
    }
    MF_THEN(status, mf_archive_ancestry(replay->stored.archive, id, &line, &count, error));
    if (status != MF_OK)
        return mf_app_fail(error);
    const bool printed = options->json ? print_line_json(line, count) : print_line(line, count);
    mf_release(replay->context, line);
    return printed ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// ---- the command -------------------------------------------------------------------------------

static bool is_id(const char *text) {
    return strcmp(text, "best") == 0 ||
           (text[0] != '\0' && strlen(text) < 20 && text[strspn(text, "0123456789")] == '\0');
}

static int check_options(const Options *options) {
    if (options->ancestry != NULL && !is_id(options->ancestry))
        return mf_app_usage("replay", "--ancestry: expected best or the number of an individual");
    if (options->ancestry != NULL && (options->individual != NULL || options->record != NULL ||
                                      options->plot != NULL || options->motion != NULL))
        return mf_app_usage("replay", "--ancestry simulates nothing: without --individual, "
                                      "--motion, --record and --plot");
    if (options->individual != NULL && options->generation != NULL)
        return mf_app_usage("replay", "--individual and --generation exclude each other");
    if (options->record == NULL && (options->fields != NULL || options->every != NULL))
        return mf_app_usage("replay", "--fields and --every require --record FILE");
    return MF_OPTIONS_GO_ON;
}

static mf_Status replay_individual(Replay *replay, mf_Error *error) {
    MF_TRY(find_individual(replay, error));
    MF_TRY(make_scene(replay, error));
    MF_TRY(simulate(replay, error));
    return mf_replay_machine_write(replay->context, &replay->scene, replay->stored.genome,
                                   replay->options->truss, replay->options->stl, error);
}

int mf_command_replay(int argc, char **argv) {
    Options options = {0};
    int count, result = mf_options_parse(&mf_help_replay, &options, argc, argv, &count);
    if (result == MF_OPTIONS_GO_ON)
        result = check_options(&options);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_app_catch_stop();
    Replay replay = {.options = &options};
    mf_Error error = {0};
    mf_Status status = open_run(&replay, argv[1], &error);
    if (status == MF_OK && options.ancestry == NULL)
        status = replay_individual(&replay, &error);
    if (status != MF_OK)
        result = mf_inputs_fail(&error);
    else
        result =
            options.ancestry != NULL ? show_ancestry(&replay, &error) : compare(&replay, &error);
    if (replay.scene.world != NULL)
        mf_scene_destroy(&replay.scene);
    mf_scene_file_destroy(replay.file);
    mf_stored_close(&replay.stored);
    mf_context_destroy(replay.context);
    return result;
}
