// mayfly evolve: a search over a scene's genomes, generation by generation into the archive, and a
// report at the end. Only the archive survives a kill; a resumed run continues from its newest
// generation and ends with the same bits as an uninterrupted one.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "base/file.h"
#include "crew.h"
#include "inputs.h"
#include "options.h"
#include "progress.h"
#include "run_files.h"
#include "run_folder.h"
#include "run_scripts.h"

#define STOP_SECONDS 4 // [s] after SIGTERM for the generation that is being evaluated

typedef struct Options {
    mf_Inputs inputs;
    const char *out;
    const char *engine, *workers, *address;
    bool resume, json;
} Options;

typedef struct Evolution {
    const Options *options;
    mf_Context *context;
    mf_SceneFile *file;
    mf_RunFiles files; // input files of the scene
    mf_Lives lives;
    mf_Crew crew; // who else evaluates genomes
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
    MF_OPT_NAME("engine", "NAME", Options, engine, mf_crew_engine,
                "who evaluates genomes: threads of this process (default); processes of this "
                "machine; ray or mpi, those of a cluster; listen, workers that you start (mayfly "
                "worker). Results are the same"),
    MF_OPT_COUNT("workers", "N", Options, workers, 1, 65536,
                 "workers of the engine, each with --threads, by default 1 (default: one per "
                 "processor)"),
    MF_OPT_TEXT("address", "HOST:PORT", Options, address,
                "numeric address at which the engine waits for workers (default: this machine's "
                "own; of ray and mpi 0.0.0.0), port 0: a free one"),
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

static mf_Status live(Evolution *evolution, bool verifies, const uint8_t *genomes, uint32_t count,
                      uint32_t genome_bytes, double *fitness, mf_Error *error) {
    evolution->simulated += (verifies ? mf_lives_verify_count(&evolution->lives) : 1) * count *
                            evolution->file->duration;
    return evolution->crew.engine != NULL
               ? mf_crew_evaluate(&evolution->crew, verifies, genomes, count, genome_bytes, fitness,
                                  error)
               : mf_lives_evaluate(&evolution->lives, verifies, 0, genomes, count, genome_bytes,
                                   fitness, NULL, error);
}

static mf_Status evaluate(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                          double *fitness, mf_Error *error) {
    return live(user, false, genomes, count, genome_bytes, fitness, error);
}

static mf_Status verify(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error) {
    return live(user, true, genomes, count, genome_bytes, fitness, error);
}

static mf_Status describe(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                          double *values, mf_Error *error) {
    Evolution *evolution = user;
    if (evolution->crew.engine == NULL)
        return mf_scene_describe(&evolution->lives.scene, genomes, count, genome_bytes, values,
                                 error);
    mf_crew_describe(&evolution->crew, count, values);
    return MF_OK;
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
    config.genome_bytes = mf_scene_genome_bytes(&evolution->lives.scene);
    config.evaluate = evaluate;
    config.user = evolution;
    config.describe = describe;
    config.describe_user = evolution;
    if (mf_lives_verifies(&evolution->lives)) {
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
                             &evolution->lives.scene, error));
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
        settings, mf_model_hash(evolution->lives.scene.model),
        mf_terrain_hash(mf_world_config_of(evolution->lives.scene.world)->terrain),
        &evolution->archive, error);
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

static mf_Status make_lives(Evolution *evolution, mf_Error *error) {
    mf_run_files_begin(evolution->context, &evolution->files);
    const mf_Status status =
        mf_lives_open(evolution->context, evolution->file, &evolution->lives, error);
    mf_run_files_end(&evolution->files);
    return status;
}

static mf_Status open_crew(Evolution *evolution, mf_Error *error) {
    const Options *options = evolution->options;
    char *settings;
    MF_TRY(mf_scene_file_write(evolution->file, &settings, error));
    const mf_CrewConfig config = {.engine = options->engine,
                                  .folder = evolution->folder,
                                  .address = options->address,
                                  .workers = (uint32_t)mf_option_count(options->workers, 0),
                                  .threads = options->inputs.threads,
                                  .allow_plugins = options->inputs.allow_plugins,
                                  .files = &evolution->files,
                                  .settings = settings};
    const mf_Status status =
        mf_crew_open(evolution->context, &evolution->lives, &config, &evolution->crew, error);
    mf_release(evolution->context, settings);
    if (status != MF_OK && evolution->fresh)
        take_back(evolution);
    return status;
}

static mf_Status set_up(Evolution *evolution, const char *file, mf_Error *error) {
    const mf_Inputs *inputs = &evolution->options->inputs;
    MF_TRY(mf_inputs_context(inputs, &evolution->context, error));
    MF_TRY(mf_inputs_load(evolution->context, inputs, "evolve", file, &evolution->file, error));
    MF_TRY(mf_scene_file_can_evolve(evolution->file, error));
    evolution->file->evolves = true; // also if all its settings are defaults
    MF_TRY(choose_folder(evolution, error));
    MF_TRY(make_lives(evolution, error));
    MF_TRY(make_search(evolution, error));
    MF_TRY(open_archive(evolution, error));
    return open_crew(evolution, error);
}

static void tear_down(Evolution *evolution) {
    mf_archive_close(evolution->archive);
    mf_search_destroy(evolution->search);
    mf_crew_close(&evolution->crew);
    mf_lives_close(&evolution->lives);
    if (evolution->context != NULL) {
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
                            .isa = mf_isa_name(mf_world_isa(evolution->lives.scene.world)),
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
    mf_app_stop_within(STOP_SECONDS);
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
