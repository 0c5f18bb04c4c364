// mayfly evolve: a search over a scene's genomes, generation by generation into the archive, and a
// report at the end. Only the archive survives a kill; a resumed run continues from its newest
// generation and ends with the same bits as an uninterrupted one.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/file.h"
#include "inputs.h"
#include "options.h"
#include "progress.h"
#include "run_files.h"
#include "run_folder.h"
#include "run_scripts.h"

typedef struct Options {
    mf_Inputs inputs;
    const char *out;
    bool resume, json;
} Options;

typedef struct Evolution {
    const Options *options;
    mf_Context *context;
    mf_SceneFile *file;
    mf_RunFiles files; // input files of the scene
    mf_Scene scene;
    mf_Scene verify[2];     // at the level of the second evaluation; with other servos
    double *verify_fitness; // [1] of the second of them
    mf_Search *search;
    mf_Archive *archive;
    char folder[MF_APP_PATH], archive_path[MF_APP_PATH], report_path[MF_APP_PATH];
    const char *command; // command that repeats the run
    double seconds;      // [s] wall time before this process
    double simulated;    // [s] simulated robot time so far
    double started;      // [s] clock
    uint32_t made;       // [1] folders created by this process
    bool fresh;          // created by this process, without a stored generation
} Evolution;

static const mf_Option table[] = {
    MF_OPT_COUNT("generations", "N", Options, inputs.generations, 1, 1e9,
                 "total number of generations, including those of a resumed run"),
    MF_OPT_COUNT("population", "N", Options, inputs.population, 2, 1 << 20,
                 "robots per generation"),
    MF_OPT_COUNT("survivors", "N", Options, inputs.survivors, 1, (1 << 20) - 1,
                 "number of them that are kept and copied, fewer than the population"),
    MF_INPUT_SEED(Options, inputs),
    MF_OPT_REAL("duration", "S", Options, inputs.duration, 1e-6, 1e9,
                "simulated seconds of one evaluation"),
    MF_INPUT_MOTION(Options, inputs),
    MF_INPUT_STEP(Options, inputs),
    MF_INPUT_THREADS(Options, inputs),
    MF_OPT_TEXT("out", "FOLDER", Options, out,
                "folder for archive and report (default: runs/<scene>-<seed>)"),
    MF_OPT_FLAG("resume", Options, resume,
                "continue with the archive in that folder; start if there is none"),
    MF_OPT_FLAG("json", Options, json, "one JSON object per line on stdout"),
    MF_INPUT_MODEL(Options, inputs),
    MF_INPUT_GROUND(Options, inputs),
    MF_INPUT_IMPORT(Options, inputs),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_END};

const mf_CommandHelp mf_help_evolve = {
    .name = "evolve",
    .arguments = "FILE",
    .summary = "evolve a controller and write an archive and a report",
    .text =
        "Reads a scene of one group with an evolvable controller (gp, oscillator, machine),\n"
        "searches for the best genome, and writes a folder with archive.sqlite (every "
        "individual),\n"
        "scene.yaml (all settings) and report.html. For a robot's own file, use --set\n"
        "group.controller=oscillator.\n\n"
        "Each generation is stored before the next one starts: after kill -9, or Ctrl-C (exit\n"
        "code 75), the same command with --resume continues and ends with the same population.\n"
        "--json prints one object per generation (generation, best, mean, evaluations,\n"
        "simulated_seconds summed over robots, wall_seconds, realtime_factor; after the first\n"
        "verification also verified, the fitness of the best at the level of search.verify) and a\n"
        "last one with \"done\", the hash of the final population and \"lies\": whether the best "
        "robot\n"
        "lies at the end. With search.replacement: "
        "cell\n"
        "the objects also have coverage (filled cells) and quality (sum of their fitness).",
    .examples = "  mayfly evolve scenes/hexapod.yaml --seed 2\n"
                "  mayfly evolve scenes/hexapod.yaml --set search.fitness=economy\n"
                "  mayfly evolve scenes/neophysix.yaml\n"
                "  mayfly evolve scenes/golem.yaml --set search.machine.stroke=0.02\n"
                "  mayfly evolve scenes/hexapod.yaml --model robot.urdf --ground hills.png "
                "--out runs/hills\n",
    .least = 1,
    .most = 1,
    .options = table};

static double wall_seconds(const Evolution *evolution) {
    return evolution->seconds + mf_clock_seconds() - evolution->started;
}

// ---- setting up --------------------------------------------------------------------------------

static mf_Status evaluate(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                          double *fitness, mf_Error *error) {
    Evolution *evolution = user;
    evolution->simulated += count * evolution->file->duration;
    return mf_scene_evaluate(&evolution->scene, genomes, count, genome_bytes, fitness, error);
}

static mf_Status describe(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                          double *values, mf_Error *error) {
    Evolution *evolution = user;
    return mf_scene_describe(&evolution->scene, genomes, count, genome_bytes, values, error);
}

static mf_Status verify(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error) {
    Evolution *evolution = user;
    double *other = evolution->verify_fitness;
    evolution->simulated += count * evolution->file->duration;
    mf_Status status =
        mf_scene_evaluate(&evolution->verify[0], genomes, count, genome_bytes, fitness, error);
    if (status != MF_OK || other == NULL)
        return status;
    evolution->simulated += count * evolution->file->duration;
    status = mf_scene_evaluate(&evolution->verify[1], genomes, count, genome_bytes, other, error);
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        if (!isnan(fitness[i]) && !(fitness[i] < other[i]))
            fitness[i] = other[i];
    }
    return status;
}

static bool verifies(const Evolution *evolution) {
    return evolution->file->verify.motion != MF_VERIFY_NONE;
}

static mf_Status make_verify_scenes(Evolution *evolution, mf_Error *error) {
    const mf_VerifyConfig *verify = &evolution->file->verify;
    if (!verifies(evolution))
        return MF_OK;
    mf_Motion motion = mf_verify_motion(verify->motion);
    mf_SceneConfig config = mf_scene_config_at_level(evolution->file, motion);
    config.count = verify->best;
    if (motion != MF_MOTION_POINTS)
        config.step = verify->step; // also at the level of the evolution
    mf_Status status =
        mf_scene_create(evolution->context, evolution->file, &config, &evolution->verify[0], error);
    if (status != MF_OK || verify->stiffness == 1.0)
        return status;
    config.stiffness = evolution->file->groups[0].servo.stiffness * verify->stiffness;
    evolution->verify_fitness = mf_allocate(evolution->context, verify->best, sizeof(double));
    MF_NEED_MEMORY(evolution->verify_fitness != NULL, error, "verify");
    return mf_scene_create(evolution->context, evolution->file, &config, &evolution->verify[1],
                           error);
}

// Whether the report can be written there at the end; leaves no file.
static mf_Status try_folder(const Evolution *evolution, mf_Error *error) {
    uint32_t made;
    MF_TRY(mf_folder_make(evolution->context, evolution->folder, &made, error));
    const mf_Status status = mf_file_try(evolution->context, evolution->report_path, error);
    mf_folder_remove(evolution->folder, made);
    return status;
}

static mf_Status choose_folder(Evolution *evolution, mf_Error *error) {
    const char *out = evolution->options->out;
    if (out == NULL)
        mf_folder_default(evolution->file->file, evolution->file->search.seed, evolution->folder);
    else
        snprintf(evolution->folder, MF_APP_PATH, "%s", out);
    size_t length = strlen(evolution->folder);
    while (length > 1 && evolution->folder[length - 1] == '/')
        evolution->folder[--length] = '\0';
    MF_TRY(mf_folder_path(evolution->folder, "archive.sqlite", evolution->archive_path, error));
    MF_TRY(mf_folder_path(evolution->folder, "report.html", evolution->report_path, error));
    if (!evolution->options->resume && access(evolution->archive_path, F_OK) == 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%.300s exists already: add --resume to continue it, or --out FOLDER to "
                       "start elsewhere",
                       evolution->archive_path);
    return try_folder(evolution, error);
}

static mf_Status make_search(Evolution *evolution, mf_Error *error) {
    mf_SearchConfig config = evolution->file->search;
    config.genome_bytes = mf_scene_genome_bytes(&evolution->scene);
    config.evaluate = evaluate;
    config.user = evolution;
    config.describe = describe;
    config.describe_user = evolution;
    if (verifies(evolution)) {
        config.verify_every = evolution->file->verify.every;
        config.verify_best = evolution->file->verify.best;
        config.verify_disparity = evolution->file->verify.disparity;
        config.verify = verify;
        config.verify_user = evolution;
    }
    return mf_search_create(evolution->context, &config, &evolution->search, error);
}

static mf_Status write_settings(const Evolution *evolution, const char *settings, mf_Error *error) {
    char path[MF_APP_PATH];
    MF_TRY(mf_folder_path(evolution->folder, "scene.yaml", path, error));
    return mf_file_replace(evolution->context, path, settings, strlen(settings), error);
}

static mf_Status resume(Evolution *evolution, const char *settings, mf_Error *error) {
    mf_ArchiveRun run;
    MF_TRY(mf_archive_open(evolution->context, evolution->archive_path, true, &evolution->archive,
                           error));
    MF_TRY(mf_folder_compare(evolution->context, evolution->archive, evolution->archive_path,
                             &evolution->scene, error));
    MF_TRY(mf_archive_run(evolution->archive, &run, error));
    if (strcmp(run.version, mf_version()) != 0)
        fprintf(stderr,
                "mayfly: note: %s was made by Mayfly %s, this is %s: the generations to come may "
                "not be those of that version\n",
                evolution->archive_path, run.version, mf_version());
    MF_TRY(mf_archive_resume(evolution->archive, evolution->search, &evolution->seconds,
                             &evolution->simulated, error));
    return write_settings(evolution, settings, error);
}

// Removes the files of this process as long as they contain no generation.
static void take_back(Evolution *evolution) {
    char path[MF_APP_PATH];
    mf_archive_close(evolution->archive);
    evolution->archive = NULL;
    if (evolution->fresh) {
        unlink(evolution->archive_path);
        if (mf_folder_path(evolution->folder, "scene.yaml", path, NULL) == MF_OK)
            unlink(path);
        mf_run_files_drop(&evolution->files, evolution->folder);
    }
    mf_folder_remove(evolution->folder, evolution->made);
    evolution->made = 0;
    evolution->fresh = false;
}

// The first write: before it nothing has been changed, and on failure it is undone.
static mf_Status begin(Evolution *evolution, const char *settings, mf_Error *error) {
    MF_TRY(mf_folder_make(evolution->context, evolution->folder, &evolution->made, error));
    mf_Status status = mf_archive_create(
        evolution->context, evolution->archive_path, mf_search_config_of(evolution->search),
        settings, mf_model_hash(evolution->scene.model),
        mf_terrain_hash(mf_world_config_of(evolution->scene.world)->terrain), &evolution->archive,
        error);
    evolution->fresh = status == MF_OK;
    MF_THEN(status, write_settings(evolution, settings, error));
    MF_THEN(status, mf_run_files_keep(&evolution->files, evolution->folder, error));
    if (status != MF_OK)
        take_back(evolution);
    return status;
}

// A new run or an existing one; --resume without an existing run starts one.
static mf_Status open_archive(Evolution *evolution, mf_Error *error) {
    char *settings;
    MF_TRY(mf_scene_file_write(evolution->file, &settings, error));
    bool again = evolution->options->resume && access(evolution->archive_path, F_OK) == 0;
    mf_Status status =
        again ? resume(evolution, settings, error) : begin(evolution, settings, error);
    mf_release(evolution->context, settings);
    return status;
}

static mf_Status make_scene(Evolution *evolution, mf_Error *error) {
    mf_SceneConfig config = mf_scene_config();
    config.evaluates = true;
    config.count = mf_search_evaluated_at_once(&evolution->file->search);
    mf_run_files_begin(evolution->context, &evolution->files);
    mf_Status status =
        mf_scene_create(evolution->context, evolution->file, &config, &evolution->scene, error);
    mf_scene_on_print(&evolution->scene, mf_run_script_line, NULL);
    mf_run_files_end(&evolution->files);
    return status;
}

static mf_Status set_up(Evolution *evolution, const char *file, mf_Error *error) {
    const mf_Inputs *inputs = &evolution->options->inputs;
    MF_TRY(mf_inputs_context(inputs, &evolution->context, error));
    MF_TRY(mf_inputs_load(evolution->context, inputs, "evolve", file, &evolution->file, error));
    MF_TRY(mf_scene_file_can_evolve(evolution->file, error));
    evolution->file->evolves = true; // also if all its settings are defaults
    MF_TRY(choose_folder(evolution, error));
    MF_TRY(make_scene(evolution, error));
    MF_TRY(make_verify_scenes(evolution, error));
    MF_TRY(make_search(evolution, error));
    return open_archive(evolution, error);
}

static void tear_down(Evolution *evolution) {
    mf_archive_close(evolution->archive);
    mf_search_destroy(evolution->search);
    if (evolution->scene.world != NULL)
        mf_scene_destroy(&evolution->scene);
    for (int i = 0; i < 2; i++)
        if (evolution->verify[i].world != NULL)
            mf_scene_destroy(&evolution->verify[i]);
    if (evolution->context != NULL) {
        mf_release(evolution->context, evolution->verify_fitness);
        mf_run_files_free(&evolution->files);
    }
    mf_scene_file_destroy(evolution->file);
    mf_context_destroy(evolution->context);
}

// Evaluations so far, including those before a resume.
static json_int_t evaluations_of(const Evolution *evolution) {
    return (json_int_t)(evolution->simulated / evolution->file->duration + 0.5);
}

// ---- generations -------------------------------------------------------------------------------

static bool print_generation(const Evolution *evolution, double wall) {
    json_t *line = json_pack("{s:I, s:o, s:o, s:I, s:o, s:o, s:o}", "generation",
                             (json_int_t)mf_search_generation(evolution->search), "best",
                             mf_json_real(mf_search_best(evolution->search)), "mean",
                             mf_json_real(mf_search_mean(evolution->search)), "evaluations",
                             evaluations_of(evolution), "simulated_seconds",
                             mf_json_real(evolution->simulated), "wall_seconds", mf_json_real(wall),
                             "realtime_factor", mf_json_real(evolution->simulated / wall));
    if (line != NULL && mf_search_config_of(evolution->search)->descriptor_count > 0) {
        json_object_set_new(line, "coverage", mf_json_real(mf_search_coverage(evolution->search)));
        json_object_set_new(line, "quality", mf_json_real(mf_search_quality(evolution->search)));
    }
    if (line != NULL && mf_search_verified(evolution->search) > 0)
        json_object_set_new(line, "verified",
                            mf_json_real(mf_search_individual(evolution->search, 0).verified));
    return mf_app_print(line);
}

static void show_progress(const Evolution *evolution, mf_Progress *progress, double wall) {
    if (!progress->visible)
        return;
    char note[160], lifetime[MF_APP_NUMBER], speed[MF_APP_NUMBER];
    snprintf(note, sizeof note, "best %.3g %s  %s  %s x real time",
             mf_search_best(evolution->search), mf_fitness_unit(evolution->file->fitness),
             mf_app_duration(evolution->simulated, lifetime),
             mf_app_count(evolution->simulated / wall, speed));
    mf_progress_update(progress, mf_search_generation(evolution->search), note);
}

static mf_Status advance(Evolution *evolution, uint32_t needed, mf_Progress *progress,
                         mf_Error *error) {
    if (mf_app_stop_requested())
        return mf_fail(error, MF_STOPPED, "stopped after generation %u of %u",
                       mf_search_generation(evolution->search), needed);
    MF_TRY(mf_search_advance(evolution->search, error));
    const double wall = wall_seconds(evolution);
    MF_TRY(mf_archive_append(evolution->archive, evolution->search, wall, evolution->simulated,
                             error));
    evolution->fresh = false;
    if (evolution->options->json && !print_generation(evolution, wall))
        return mf_fail(error, MF_IO, "stopped after generation %u: the output was closed",
                       mf_search_generation(evolution->search));
    show_progress(evolution, progress, wall);
    return MF_OK;
}

static mf_Status evolve(Evolution *evolution, mf_Error *error) {
    uint32_t needed = evolution->file->generations;
    mf_Progress progress =
        mf_progress_begin("gen", mf_search_generation(evolution->search), needed);
    mf_Status status = MF_OK;
    while (status == MF_OK && mf_search_generation(evolution->search) < needed)
        status = advance(evolution, needed, &progress, error);
    mf_progress_end(&progress);
    return status;
}

static void print_levels(const Evolution *evolution, double best) {
    const mf_VerifyConfig *config = &evolution->file->verify;
    double verified = mf_search_individual(evolution->search, 0).verified;
    if (mf_search_verified(evolution->search) == 0)
        return;
    printf("at %-13s %.4g %s", mf_motion_name(mf_verify_motion(config->motion)), verified,
           mf_fitness_unit(evolution->file->fitness));
    if (best > 0.0)
        printf(", %.0f %% as far", 100.0 * verified / best);
    printf("\n");
}

// ---- the end -----------------------------------------------------------------------------------

// A distance of a robot that fell is not that of a walk.
static void print_posture(const Evolution *evolution, const mf_ReportPosture *posture) {
    if (posture->lies)
        printf("posture          the best robot lies at the end, %.0f degrees off upright",
               posture->tilt * 57.295779513082321);
    else if (posture->fell)
        printf("posture          the best robot falls over on its way");
    else
        return;
    const mf_SceneFile *file = evolution->file;
    const bool counts = file->falls == MF_FALLS_COUNT ||
                        (file->falls == MF_FALLS_AUTO && file->fitness == MF_FITNESS_STEPS);
    puts(!counts ? ": search.falls: count makes falls cost fitness"
                 : ": more generations, or another seed, may find one that stays up");
}

static bool print_end(const Evolution *evolution, double wall, const mf_ReportPosture *posture) {
    const bool done = posture != NULL; // with a report
    uint64_t hash = mf_search_hash(evolution->search);
    bool any = mf_search_generation(evolution->search) > 0;
    double best = any ? mf_search_best(evolution->search) : 0.0;
    if (evolution->options->json)
        return mf_app_print(json_pack(
            "{s:b, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:s, s:s, s:b}", "done", (int)done,
            "generation", (json_int_t)mf_search_generation(evolution->search), "best",
            any ? mf_json_real(best) : json_null(), "evaluations", evaluations_of(evolution),
            "simulated_seconds", mf_json_real(evolution->simulated), "wall_seconds",
            mf_json_real(wall), "realtime_factor", mf_json_real(evolution->simulated / wall),
            "hash", mf_app_hash(hash), "archive", evolution->archive_path, "report",
            done ? evolution->report_path : "", "lies", (int)(done && posture->lies)));
    char lifetime[MF_APP_NUMBER], time[MF_APP_NUMBER], speed[MF_APP_NUMBER];
    char again[2 * MF_APP_PATH] = "", live[2 * MF_APP_PATH] = "";
    mf_app_quote(again, sizeof again, mf_app_program());
    mf_app_quote(again, sizeof again, "replay");
    mf_app_quote(again, sizeof again, evolution->folder);
    mf_app_quote(live, sizeof live, mf_app_program());
    mf_app_quote(live, sizeof live, "view");
    mf_app_quote(live, sizeof live, evolution->folder);
    mf_app_duration(evolution->simulated, lifetime);
    mf_app_duration(wall, time);
    mf_app_count(evolution->simulated / wall, speed);
    printf("best %-11s %.4g %s after %u generations of %u robots\n",
           mf_fitness_title(evolution->file->fitness), best,
           mf_fitness_unit(evolution->file->fitness), mf_search_generation(evolution->search),
           mf_search_config_of(evolution->search)->population *
               mf_search_config_of(evolution->search)->islands);
    print_levels(evolution, best);
    if (done)
        print_posture(evolution, posture);
    printf("simulated time   %s\nwall time        %s, %s x real time\npopulation hash  %016llx\n",
           lifetime, time, speed, (unsigned long long)hash);
    if (done)
        printf("report           %s\nfilm of the best %s --plot walk.html\nsee it live      %s\n",
               evolution->report_path, again, live);
    return mf_app_flush();
}

static mf_Status write_report(const Evolution *evolution, double wall, mf_ReportPosture *posture,
                              mf_Error *error) {
    mf_ReportFacts facts = {.threads = mf_context_threads(evolution->context),
                            .isa = mf_isa_name(mf_world_isa(evolution->scene.world)),
                            .wall_seconds = wall,
                            .simulated = evolution->simulated,
                            .hash = mf_search_hash(evolution->search),
                            .command = evolution->command};
    return mf_report_write(evolution->context, evolution->archive, evolution->file, &facts,
                           evolution->report_path, posture, error);
}

static int finish(Evolution *evolution, mf_Status status, mf_Error *error) {
    double wall = wall_seconds(evolution);
    mf_ReportPosture posture = {.stands = false};
    if (status == MF_STOPPED) {
        print_end(evolution, wall, NULL);
        fprintf(stderr, "mayfly: %s; the same command with --resume continues\n", error->message);
        return MF_EXIT_STOPPED;
    }
    if (status != MF_OK && evolution->fresh)
        take_back(evolution);
    MF_THEN(status, write_report(evolution, wall, &posture, error));
    if (status != MF_OK)
        return mf_app_fail(error);
    return print_end(evolution, wall, &posture) ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// ---- the command line again --------------------------------------------------------------------

// The command that repeats the run from its beginning: all arguments except --resume and --json.
static void repeat_line(int argc, char **argv, char *out, size_t size) {
    out[0] = '\0';
    mf_app_quote(out, size, mf_app_program());
    for (int i = 0; i < argc && strlen(out) + strlen(argv[i]) + 8 < size; i++) {
        if (strcmp(argv[i], "--resume") != 0 && strcmp(argv[i], "--json") != 0)
            mf_app_quote(out, size, argv[i]);
    }
}

int mf_command_evolve(int argc, char **argv) {
    Options options = {.inputs = {0}};
    char command[8 * MF_APP_PATH];
    repeat_line(argc, argv, command, sizeof command);
    int count, result = mf_options_parse(&mf_help_evolve, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_app_catch_stop();
    Evolution evolution = {.options = &options, .command = command, .started = mf_clock_seconds()};
    mf_Error error = {0};
    mf_Status status = set_up(&evolution, argv[1], &error);
    if (status == MF_OK) {
        status = evolve(&evolution, &error);
        result = finish(&evolution, status, &error);
    } else {
        result = mf_inputs_fail(&error);
    }
    tear_down(&evolution);
    return result;
}
