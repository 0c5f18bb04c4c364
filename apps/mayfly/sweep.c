// mayfly sweep: searches over seeds and settings, each in a folder of its own, with one table and
// one report. The folder is the only state: a search that is complete there is skipped, one that
// was interrupted continues. So any number of processes can work on one folder, each on its share.
//
// Each search is `mayfly evolve` in a child process: what a search does to its process, a crash
// included, does not reach the others.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "base/file.h"
#include "crew.h"
#include "inputs.h"
#include "options.h"
#include "run_folder.h"
#include "sweep_table.h"

typedef struct Options {
    mf_Inputs inputs;
    const char *out, *task, *of;
    const char *engine, *workers, *address; // of each search
    bool report, json;
} Options;

typedef struct Sweep {
    const Options *options;
    mf_Context *context;
    mf_SweepPlan plan;
    mf_SweepResults results;
    char folder[MF_APP_PATH], title[80], unit[16];
    const char *command;
    uint32_t failed, busy; // [1] searches
} Sweep;

static const mf_Option table[] = {
    MF_OPT_TEXT("out", "FOLDER", Options, out,
                "folder for the searches, table and report (default: runs/<file>)"),
    MF_OPT_COUNT("task", "I", Options, task, 1, 1e6,
                 "do only share I of --of N shares; for job arrays and several processes"),
    MF_OPT_COUNT("of", "N", Options, of, 1, 1e6, "number of shares"),
    MF_OPT_FLAG("report", Options, report, "no searches: only the table and the report"),
    MF_OPT_FLAG("json", Options, json, "one JSON object per line on stdout"),
    MF_INPUT_THREADS(Options, inputs),
    MF_OPT_NAME("engine", "NAME", Options, engine, mf_crew_engine,
                "who evaluates the genomes of each search, as of mayfly evolve"),
    MF_OPT_COUNT("workers", "N", Options, workers, 1, 65536,
                 "workers of the engine, each with --threads, by default 1"),
    MF_OPT_TEXT("address", "HOST:PORT", Options, address,
                "numeric address at which the engine waits for workers"),
    MF_INPUT_SET(Options, inputs),
    MF_INPUT_PLUGINS(Options, inputs),
    MF_OPT_END};

const mf_CommandHelp mf_help_sweep = {
    .name = "sweep",
    .arguments = "FILE",
    .summary = "searches over seeds and settings, with one table and one report",
    .text =
        "Reads a file with a scene, seeds, and settings, and evolves every setting with every "
        "seed,\n"
        "each in FOLDER/<setting>/seed-<n>. Complete searches are skipped, interrupted ones\n"
        "continue: after Ctrl-C (exit code 75) or kill -9 repeat the command. At the end the "
        "folder\n"
        "has table.csv (quartiles over seeds for each setting), searches.csv and report.html.\n\n"
        "Keys of the file:\n"
        "  scene     a scene, relative to the file; or a robot's own file\n"
        "  seeds     their number (1 .. N) or a list\n"
        "  set       keys of the scene that all searches have: {search.generations: 100}\n"
        "  grid      keys with lists of values, of which every combination is a setting\n"
        "  settings  a list of settings: keys with values, and a name; each with all of the "
        "grid\n\n"
        "--task I --of N does every Nth search, beginning with the Ith, so that N processes on "
        "any\n"
        "machines share one folder. --set replaces keys of `set`. --json prints one object per\n"
        "search (setting, seed, state, best, evaluations, wall_seconds, folder) and a last one "
        "with\n"
        "\"done\".",
    .examples = "  mayfly sweep examples/sweep.yaml\n"
                "  mayfly sweep examples/sweep.yaml --task 2 --of 4\n"
                "  mayfly sweep examples/sweep.yaml --report\n",
    .least = 1,
    .most = 1,
    .options = table};

// ---- one search --------------------------------------------------------------------------------

// One setting with one seed.
typedef struct Search {
    const mf_SweepSetting *setting;
    uint64_t seed;
    char seed_text[24];
    char folder[MF_APP_PATH], archive[MF_APP_PATH];
} Search;

// Settings change fastest, so that the first seeds of all settings come first.
static mf_Status name_search(const Sweep *sweep, uint32_t index, Search *out, mf_Error *error) {
    const mf_SweepPlan *plan = &sweep->plan;
    char path[MF_APP_PATH], part[32];
    out->setting = &plan->settings[index % plan->setting_count];
    out->seed = plan->seeds[index / plan->setting_count];
    snprintf(out->seed_text, sizeof out->seed_text, "%llu", (unsigned long long)out->seed);
    snprintf(part, sizeof part, "seed-%s", out->seed_text);
    MF_TRY(mf_folder_path(sweep->folder, out->setting->name, path, error));
    MF_TRY(mf_folder_path(path, part, out->folder, error));
    return mf_folder_path(out->folder, "archive.sqlite", out->archive, error);
}

// Errors of a value name its line in the file of the sweep; others name the setting.
static mf_Status locate(const Sweep *sweep, const mf_SweepSetting *setting, mf_Status status,
                        mf_Error *error) {
    if (status == MF_OK || error->message[0] == '\0')
        return status;
    for (uint32_t i = 0; i < setting->count && error->file[0] == '\0'; i++) {
        char start[MF_APP_PATH];
        const mf_SweepValue *value = &setting->values[i];
        snprintf(start, sizeof start, "override %s: ", value->word);
        if (value->node == sweep->plan.tree.root || // of the command line
            strncmp(error->message, start, strlen(start)) != 0)
            continue;
        const mf_Error cause = *error;
        return mf_yaml_fail(&sweep->plan.tree, value->node, false, status, error, "%s",
                            cause.message + strlen(start));
    }
    const size_t length = strlen(error->message);
    snprintf(error->message + length, sizeof error->message - length, " (setting %s)",
             setting->name);
    return status;
}

static mf_Status load_scene(const Sweep *sweep, const Search *search, mf_SceneFile **out,
                            mf_Error *error) {
    mf_Inputs inputs = sweep->options->inputs;
    inputs.seed = search->seed_text;
    inputs.settings.count = search->setting->count;
    for (uint32_t i = 0; i < search->setting->count; i++)
        inputs.settings.items[i] = search->setting->values[i].word;
    *out = NULL;
    mf_Status status =
        mf_inputs_load(sweep->context, &inputs, "sweep", sweep->plan.scene, out, error);
    MF_THEN(status, mf_scene_file_can_evolve(*out, error));
    if (status == MF_OK)
        (*out)->evolves = true;
    return locate(sweep, search->setting, status, error);
}

typedef enum State { ABSENT, PARTIAL, COMPLETE } State;
static const char *const state_names[] = {"absent", "partial", "complete"};

// Takes a complete search from its archive; the caller releases out->values.
static mf_Status take_search(const Sweep *sweep, const Search *search, mf_Archive *archive,
                             const mf_ArchiveRun *run, const mf_SceneFile *file,
                             mf_SweepSearch *out, mf_Error *error) {
    mf_ArchiveGeneration *rows;
    uint32_t count;
    MF_TRY(mf_archive_generations(archive, &rows, &count, error));
    double *values = mf_allocate(sweep->context, count, sizeof *values);
    for (uint32_t i = 0; i < count && values != NULL; i++)
        values[i] = run->search.verify_every > 0 ? rows[i].verified : rows[i].best;
    mf_release(sweep->context, rows);
    MF_NEED_MEMORY(values != NULL, error, "sweep");
    *out = (mf_SweepSearch){.seed = search->seed,
                            .best = values[count - 1],
                            .evaluations = floor(run->simulated / file->duration + 0.5),
                            .seconds = run->seconds,
                            .values = values,
                            .generations = count};
    return MF_OK;
}

static mf_Status compare(const Sweep *sweep, const Search *search, const mf_ArchiveRun *run,
                         mf_SceneFile *file, mf_Error *error) {
    MF_TRY(mf_folder_compare_settings(sweep->context, run, search->archive, file, error));
    if (run->generations > file->generations)
        return mf_fail_at(error, MF_BAD_ARGUMENT, search->archive, 0, 0,
                          "has %u generations, more than the %u of the sweep: use another --out",
                          run->generations, file->generations);
    return MF_OK;
}

// What the folder has of a search. `out` NULL: only the state. MF_BAD_ARGUMENT: it is of another
// one.
static mf_Status look(const Sweep *sweep, const Search *search, State *state, mf_SweepSearch *out,
                      mf_Error *error) {
    mf_SceneFile *file = NULL;
    mf_Archive *archive = NULL;
    mf_ArchiveRun run;
    char report[MF_APP_PATH];
    *state = ABSENT;
    if (access(search->archive, F_OK) != 0)
        return MF_OK;
    mf_Status status = mf_folder_path(search->folder, "report.html", report, error);
    MF_THEN(status, load_scene(sweep, search, &file, error));
    MF_THEN(status, mf_archive_open(sweep->context, search->archive, false, &archive, error));
    MF_THEN(status, mf_archive_run(archive, &run, error));
    MF_THEN(status, compare(sweep, search, &run, file, error));
    if (status == MF_OK) {
        const bool whole = run.generations == file->generations && access(report, F_OK) == 0;
        *state = whole ? COMPLETE : PARTIAL;
        if (whole && out != NULL)
            status = take_search(sweep, search, archive, &run, file, out, error);
    }
    mf_archive_close(archive);
    mf_scene_file_destroy(file);
    return status;
}

// Locks the folder of a search, so that one process at a time works there: an open file descriptor,
// -1: another one does. Where folders cannot be locked (NFS) the lock of the archive remains.
static mf_Status lock(const Sweep *sweep, const Search *search, int *out, mf_Error *error) {
    uint32_t made;
    MF_TRY(mf_folder_make(sweep->context, search->folder, &made, error));
    *out = open(search->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*out < 0)
        return mf_fail_at(error, MF_IO, search->folder, 0, 0, "cannot open it: %s",
                          strerror(errno));
    mf_Archive *archive = NULL;
    mf_Error failure;
    bool busy = flock(*out, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy && access(search->archive, F_OK) == 0)
        busy =
            mf_archive_open(sweep->context, search->archive, true, &archive, &failure) == MF_BUSY;
    mf_archive_close(archive);
    if (busy) {
        close(*out);
        *out = -1;
    }
    return MF_OK;
}

// ---- running -----------------------------------------------------------------------------------

// The arguments of mayfly evolve.
static void list_arguments(const Sweep *sweep, const Search *search, const char **words) {
    const mf_Inputs *inputs = &sweep->options->inputs;
    uint32_t count = 0;
    const char *const first[] = {"evolve",       sweep->plan.scene, "--resume",       "--out",
                                 search->folder, "--seed",          search->seed_text};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        words[count++] = first[i];
    for (uint32_t i = 0; i < search->setting->count; i++) {
        words[count++] = "--set";
        words[count++] = search->setting->values[i].word;
    }
    const char *const passed[][2] = {{"--threads", inputs->threads},
                                     {"--engine", sweep->options->engine},
                                     {"--workers", sweep->options->workers},
                                     {"--address", sweep->options->address}};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        if (passed[i][1] == NULL)
            continue;
        words[count++] = passed[i][0];
        words[count++] = passed[i][1];
    }
    if (inputs->allow_plugins)
        words[count++] = "--allow-plugins";
    words[count] = NULL;
}

enum { MOST_WORDS = 2 * MF_SWEEP_VALUES + 24 };

// In the child: evolves, without its summary on stdout, in a process group of its own, so that only
// the sweep gets the signals of the terminal.
static _Noreturn void evolve(const char **words) {
    int count = 0;
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    while (words[count] != NULL)
        count++;
    exit(mf_command_evolve(count, (char **)words));
}

// Waits for the child and passes a stop on, once. Returns its exit code.
static int wait_for(pid_t child, const Search *search) {
    bool passed = false;
    int state;
    for (;;) {
        const pid_t ended = waitpid(child, &state, WNOHANG);
        if (ended == child)
            break;
        if (ended < 0 && errno != EINTR)
            return MF_EXIT_FAILED;
        if (mf_app_stop_requested() && !passed) {
            kill(child, SIGTERM);
            passed = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    if (WIFEXITED(state))
        return WEXITSTATUS(state);
    fprintf(stderr, "mayfly: %s: the search ended by signal %d\n", search->folder, WTERMSIG(state));
    return MF_EXIT_FAILED;
}

static int run_search(const Sweep *sweep, const Search *search) {
    const char *words[MOST_WORDS];
    list_arguments(sweep, search, words);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        evolve(words);
    if (child > 0)
        return wait_for(child, search);
    fprintf(stderr, "mayfly: cannot start a search: %s\n", strerror(errno));
    return MF_EXIT_FAILED;
}

static bool print_search(const Sweep *sweep, uint32_t index, const Search *search,
                         const char *state, const mf_SweepSearch *found) {
    char seconds[MF_APP_NUMBER] = "";
    if (sweep->options->json)
        return mf_app_print(json_pack(
            "{s:s, s:I, s:s, s:o, s:o, s:o, s:s}", "setting", search->setting->name, "seed",
            (json_int_t)search->seed, "state", state, "best",
            found != NULL ? mf_json_real(found->best) : json_null(), "evaluations",
            found != NULL ? mf_json_real(found->evaluations) : json_null(), "wall_seconds",
            found != NULL ? mf_json_real(found->seconds) : json_null(), "folder", search->folder));
    printf("%u of %u  %s, seed %s: ", index + 1, sweep->plan.setting_count * sweep->plan.seed_count,
           search->setting->name, search->seed_text);
    if (found != NULL)
        printf("%.4g %s in %s\n", found->best, sweep->results.unit,
               mf_app_duration(found->seconds, seconds));
    else
        printf("%s\n", state);
    return mf_app_flush();
}

// Runs a search whose folder is locked, unless another process has just completed it.
static mf_Status run_locked(Sweep *sweep, uint32_t index, const Search *search, mf_Error *error) {
    State state;
    mf_SweepSearch found = {0};
    MF_TRY(look(sweep, search, &state, NULL, error));
    if (state == COMPLETE)
        return MF_OK;
    const int code = run_search(sweep, search);
    if (code == MF_EXIT_STOPPED || mf_app_stop_requested())
        return mf_fail(error, MF_STOPPED, "stopped; the same command continues");
    if (code == MF_EXIT_DONE)
        MF_TRY(look(sweep, search, &state, &found, error));
    else
        sweep->failed++;
    const bool printed =
        print_search(sweep, index, search, code == MF_EXIT_DONE ? state_names[state] : "failed",
                     found.values != NULL ? &found : NULL);
    mf_release(sweep->context, found.values);
    return printed ? MF_OK : mf_fail(error, MF_IO, "stopped: the output was closed");
}

// Searches or skips one; MF_STOPPED after a stop.
static mf_Status do_search(Sweep *sweep, uint32_t index, mf_Error *error) {
    Search search;
    State state;
    int locked;
    MF_TRY(name_search(sweep, index, &search, error));
    MF_TRY(look(sweep, &search, &state, NULL, error));
    if (state == COMPLETE)
        return MF_OK;
    MF_TRY(lock(sweep, &search, &locked, error));
    if (locked < 0) {
        sweep->busy++;
        return print_search(sweep, index, &search, "another process is at it", NULL)
                   ? MF_OK
                   : mf_fail(error, MF_IO, "stopped: the output was closed");
    }
    const mf_Status status = run_locked(sweep, index, &search, error);
    close(locked);
    mf_folder_remove(search.folder, 2); // if it is empty
    return status;
}

static mf_Status do_searches(Sweep *sweep, mf_Error *error) {
    const uint32_t count = sweep->plan.setting_count * sweep->plan.seed_count;
    const uint32_t shares = (uint32_t)mf_option_count(sweep->options->of, 1);
    const uint32_t share = (uint32_t)mf_option_count(sweep->options->task, 1);
    for (uint32_t i = share - 1; i < count; i += shares) {
        if (mf_app_stop_requested())
            return mf_fail(error, MF_STOPPED, "stopped; the same command continues");
        MF_TRY(do_search(sweep, i, error));
    }
    return MF_OK;
}

// ---- setting up --------------------------------------------------------------------------------

// Loads every setting, so that mistakes show before the first search; and what is maximized.
static mf_Status check_settings(Sweep *sweep, mf_Error *error) {
    const mf_SweepPlan *plan = &sweep->plan;
    mf_Fitness fitness = MF_FITNESS_DISTANCE;
    bool several = false;
    for (uint32_t i = 0; i < plan->setting_count; i++) {
        Search search;
        mf_SceneFile *file;
        MF_TRY(name_search(sweep, i, &search, error));
        mf_Status status = load_scene(sweep, &search, &file, error);
        if (status == MF_OK) {
            several = several || (i > 0 && file->fitness != fitness);
            fitness = file->fitness;
            sweep->results.verified =
                sweep->results.verified || file->verify.motion != MF_VERIFY_NONE;
        }
        mf_scene_file_destroy(file);
        if (status != MF_OK)
            return status;
    }
    sweep->results.title = several ? "fitness" : mf_fitness_title(fitness);
    sweep->results.unit = several ? "" : mf_fitness_unit(fitness);
    return MF_OK;
}

static mf_Status make_groups(Sweep *sweep, mf_Error *error) {
    const mf_SweepPlan *plan = &sweep->plan;
    mf_SweepResults *results = &sweep->results;
    results->groups = mf_allocate(sweep->context, plan->setting_count, sizeof *results->groups);
    MF_NEED_MEMORY(results->groups != NULL, error, "sweep");
    results->count = plan->setting_count;
    for (uint32_t i = 0; i < plan->setting_count; i++) {
        mf_SweepGroup *group = &results->groups[i];
        group->name = plan->settings[i].name;
        group->expected = plan->seed_count;
        group->searches = mf_allocate(sweep->context, plan->seed_count, sizeof *group->searches);
        MF_NEED_MEMORY(group->searches != NULL, error, "sweep");
    }
    return MF_OK;
}

static void choose_folder(Sweep *sweep, const char *file) {
    const char *out = sweep->options->out;
    if (out != NULL)
        snprintf(sweep->folder, MF_APP_PATH, "%s", out);
    else
        mf_folder_default(file, 0, sweep->folder);
    char *end = out == NULL ? strrchr(sweep->folder, '-') : NULL; // without a seed
    if (end != NULL)
        *end = '\0';
    for (size_t size = strlen(sweep->folder); size > 1 && sweep->folder[size - 1] == '/'; size--)
        sweep->folder[size - 1] = '\0';
}

static mf_Status set_up(Sweep *sweep, const char *file, mf_Error *error) {
    const Options *options = sweep->options;
    const mf_OptionList *extra = &options->inputs.settings;
    mf_Inputs inputs = options->inputs;
    inputs.threads = "1"; // this process only reads files, and forks
    MF_TRY(mf_inputs_context(&inputs, &sweep->context, error));
    for (uint32_t i = 0; i < extra->count; i++)
        if (strchr(extra->items[i], '=') == NULL)
            return mf_app_refuse("sweep", "--set: expected path=value", error);
    sweep->results.file = file;
    MF_TRY(
        mf_sweep_plan_load(sweep->context, file, extra->items, extra->count, &sweep->plan, error));
    choose_folder(sweep, file);
    sweep->results.scene = sweep->plan.scene;
    sweep->results.command = sweep->command;
    MF_TRY(check_settings(sweep, error));
    return make_groups(sweep, error);
}

static void tear_down(Sweep *sweep) {
    mf_SweepResults *results = &sweep->results;
    for (uint32_t i = 0; i < results->count; i++) {
        mf_SweepGroup *group = &results->groups[i];
        for (uint32_t k = 0; k < group->count; k++) {
            mf_release(sweep->context, group->searches[k].values);
            mf_release(sweep->context, (void *)group->searches[k].folder);
        }
        mf_release(sweep->context, group->searches);
    }
    if (sweep->context != NULL)
        mf_release(sweep->context, results->groups);
    mf_sweep_plan_free(&sweep->plan);
    mf_context_destroy(sweep->context);
}

// ---- the end -----------------------------------------------------------------------------------

// Reads all complete searches, also those of other processes.
static mf_Status gather(Sweep *sweep, mf_Error *error) {
    const mf_SweepPlan *plan = &sweep->plan;
    for (uint32_t i = 0; i < plan->setting_count * plan->seed_count; i++) {
        Search search;
        State state;
        mf_SweepGroup *group = &sweep->results.groups[i % plan->setting_count];
        mf_SweepSearch *found = &group->searches[group->count];
        MF_TRY(name_search(sweep, i, &search, error));
        MF_TRY(look(sweep, &search, &state, found, error));
        if (state != COMPLETE)
            continue;
        group->count++;
        const char *name = search.folder + strlen(sweep->folder) + 1;
        const size_t size = strlen(name) + 1;
        char *folder = mf_allocate(sweep->context, size, 1);
        MF_NEED_MEMORY(folder != NULL, error, "sweep");
        found->folder = memcpy(folder, name, size);
    }
    for (uint32_t i = 0; i < plan->setting_count; i++)
        MF_TRY(mf_sweep_summarize(sweep->context, &sweep->results.groups[i], error));
    return MF_OK;
}

static mf_Status write_results(Sweep *sweep, char report[MF_APP_PATH], mf_Error *error) {
    uint32_t made;
    MF_TRY(gather(sweep, error));
    MF_TRY(mf_folder_make(sweep->context, sweep->folder, &made, error));
    MF_TRY(mf_folder_path(sweep->folder, "report.html", report, error));
    MF_TRY(mf_sweep_table_write(&sweep->plan, &sweep->results, sweep->folder, error));
    return mf_sweep_page_write(sweep->context, &sweep->results, report, error);
}

static bool print_end(const Sweep *sweep, const char *report) {
    uint32_t complete = 0;
    for (uint32_t i = 0; i < sweep->results.count; i++)
        complete += sweep->results.groups[i].count;
    const uint32_t count = sweep->plan.setting_count * sweep->plan.seed_count;
    if (sweep->options->json)
        return mf_app_print(json_pack("{s:b, s:I, s:I, s:I, s:I, s:s, s:s}", "done",
                                      (int)(complete == count), "complete", (json_int_t)complete,
                                      "searches", (json_int_t)count, "failed",
                                      (json_int_t)sweep->failed, "busy", (json_int_t)sweep->busy,
                                      "folder", sweep->folder, "report", report));
    mf_sweep_table_print(&sweep->results);
    printf("complete         %u of %u searches\ntable            %s/table.csv, searches.csv\n"
           "report           %s\n",
           complete, count, sweep->folder, report);
    return mf_app_flush();
}

static int finish(Sweep *sweep, mf_Status status, mf_Error *error) {
    char report[MF_APP_PATH];
    if (status == MF_STOPPED) {
        fprintf(stderr, "mayfly: %s\n", error->message);
        return MF_EXIT_STOPPED;
    }
    MF_THEN(status, write_results(sweep, report, error));
    if (status != MF_OK)
        return mf_app_fail(error);
    if (!print_end(sweep, report))
        return MF_EXIT_FAILED;
    if (sweep->failed == 0)
        return MF_EXIT_DONE;
    fprintf(stderr, "mayfly: %u searches failed\n", sweep->failed);
    return MF_EXIT_FAILED;
}

int mf_command_sweep(int argc, char **argv) {
    Options options = {.inputs = {0}};
    char command[8 * MF_APP_PATH] = "";
    mf_app_quote(command, sizeof command, mf_app_program());
    for (int i = 0; i < argc && strlen(command) + strlen(argv[i]) + 8 < sizeof command; i++)
        if (strcmp(argv[i], "--report") != 0 && strcmp(argv[i], "--json") != 0)
            mf_app_quote(command, sizeof command, argv[i]);
    int count, result = mf_options_parse(&mf_help_sweep, &options, argc, argv, &count);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    const uint64_t share = mf_option_count(options.task, 1),
                   shares = mf_option_count(options.of, 1);
    if ((options.task == NULL) != (options.of == NULL) || share > shares)
        return mf_app_usage("sweep", "expected --task I --of N with I from 1 to N");
    mf_app_catch_stop();
    Sweep sweep = {.options = &options, .command = command};
    mf_Error error = {0};
    mf_Status status = set_up(&sweep, argv[1], &error);
    if (status != MF_OK) {
        result = mf_inputs_fail(&error);
    } else {
        if (!options.report)
            status = do_searches(&sweep, &error);
        result = finish(&sweep, status, &error);
    }
    tear_down(&sweep);
    return result;
}
