// mayfly bench: throughput, for people or as JSON lines.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_articulated.h"
#include "bench_environment.h"
#include "bench_schedule.h"
#include "bench_soccer.h"
#include "bench_ladder.h"
#include "bench_model.h"
#include "bench_swarm.h"
#include "options.h"

typedef struct Options {
    const char *threads, *instances, *steps, *generations, *repeats, *isa, *precision, *model;
    bool json;
} Options;

static const mf_CommandHelp help = {
    .name = "bench",
    .arguments = "[NAME...]",
    .summary = "measure throughput",
    .text =
        "Runs the benches (the usual ones, or those named) and prints robot steps per second: the\n"
        "median of repeats after one that warms up. Every repeat does the same work and must end\n"
        "with the same hash.\n"
        "  points-hexapod     18 joints on a height map, programs and sensors on, 1024 robots\n"
        "  points-quadruped   8 joints, otherwise the same\n"
        "  points-single      one hexapod alone\n"
        "  points-hexapod-1m  a million hexapods; several GiB; only when named\n"
        "  evolve-paper       a whole evolution with archive; --generations 1364 is the published "
        "one\n"
        "  quadrotor-1000, quadrotor-10000, quadrotor-1000000 (only when named)\n"
        "                     rounds of quadrotors: rate loop and one Runge-Kutta step\n"
        "  quadrotor-10000-interacting\n"
        "                     with neighbours, collisions and downwash every round\n"
        "  mixed-1000         three kinds of vehicles in one world, neighbours on\n"
        "  articulated-free   full dynamics: 27 degrees of freedom in the air\n"
        "  articulated-humanoid, articulated-ant, articulated-t1\n"
        "                     with contacts, random controls and resets, 4096 robots\n"
        "  articulated-single one humanoid alone\n"
        "  humanoid-kinematic, humanoid-rigid, humanoid-prescribed\n"
        "                     the cheaper motions: 4096 humanoids, 1 kHz, feet on the ground\n"
        "  model-humanoid, model-t1\n"
        "                     loading a robot's file and making its world\n"
        "  soccer-2           two humanoids that walk into each other, ball and field, and what\n"
        "                     collisions spare\n"
        "  soccer-10-car, soccer-10-car-articulated\n"
        "                     a car among ten humanoids, 1 kHz: rigid, and full dynamics on 2\n"
        "                     threads\n"
        "  soccer-field       2 to 200 humanoids on a field; only when named\n"
        "  environment-hexapod-points, environment-hexapod, environment-quadrotor,\n"
        "  environment-swarm  4096 robots of a task with random actions; steps are those of the\n"
        "                     environment\n"
        "  environment-ant, environment-half-cheetah, environment-hopper, environment-humanoid,\n"
        "  environment-walker2d\n"
        "                     twins of Gymnasium's tasks, with their file as --model; only when\n"
        "                     named\n"
        "  schedule-sequence, schedule-waves\n"
        "                     two systems of 20 us one after the other, and at the same time on 2\n"
        "                     threads\n"
        "  swarm              the curve from 100 to 1,000,000 agents; only when named\n"
        "With --json: bench, motion, instances, threads, isa, precision, dt, steps (per robot),\n"
        "seconds, steps_per_second, realtime_factor, hash, bytes_per_robot, contacts_per_robot.\n"
        "For swarms `steps` counts agents times rounds, and there are round_ms, rounds, alive and\n"
        "neighbours.",
    .examples = "  mayfly bench points-hexapod --threads 2\n"
                "  mayfly bench --json --isa baseline\n",
    .least = 0,
    .most = 100};

// ---- output ------------------------------------------------------------------------------------

static bool print_json(const mf_Bench *bench, const mf_BenchResult *result) {
    double robot_steps = (double)result->steps * result->instances;
    return mf_app_print(json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
        "bench", bench->name, "motion", "points", "instances", (json_int_t)result->instances,
        "threads", (json_int_t)result->threads, "isa", mf_isa_name(result->isa), "precision",
        result->double_precision ? "double" : "float", "dt", mf_app_real(result->dt), "steps",
        (json_int_t)result->steps, "seconds", mf_app_real(result->seconds), "steps_per_second",
        mf_app_real(robot_steps / result->seconds), "realtime_factor",
        mf_app_real(robot_steps * result->dt / result->seconds), "hash", mf_app_hash(result->hash),
        "bytes_per_robot", mf_app_real(result->bytes_per_robot), "contacts_per_robot",
        mf_app_real(result->contacts_per_robot), "slowest_seconds", mf_app_real(result->slowest),
        "repeats", (json_int_t)result->repeats, "best", mf_app_real(result->best)));
}

static bool print_row(const mf_Bench *bench, const mf_BenchResult *result) {
    double rate = (double)result->steps * result->instances / result->seconds;
    char factor[MF_APP_NUMBER], time[MF_APP_NUMBER];
    printf("%-18s %9u %7u %-8s %-6s %10.4g M/s %15s x %9s %8.0f B %5.1f  %016llx\n", bench->name,
           result->instances, result->threads, mf_isa_name(result->isa),
           result->double_precision ? "double" : "float", rate * 1e-6,
           mf_app_count(rate * result->dt, factor), mf_app_duration(result->seconds, time),
           result->bytes_per_robot, result->contacts_per_robot, (unsigned long long)result->hash);
    return mf_app_flush();
}

static void print_head(void) {
    printf("%-18s %9s %7s %-8s %-6s %14s %17s %9s %10s %5s  %s\n", "bench", "robots", "threads",
           "isa", "real", "robot steps", "real time", "median", "per robot", "feet", "hash");
}

// ---- the command -------------------------------------------------------------------------------

static const mf_Bench *find_bench(const char *name) {
    for (const mf_Bench *bench = mf_benches; bench->name != NULL; bench++) {
        if (strcmp(bench->name, name) == 0)
            return bench;
    }
    return NULL;
}

// Benches that are more than experiments.
typedef struct Kind {
    bool (*knows)(const char *name);
    const char *(*usual)(uint32_t n); // that run unasked; NULL behind the last
    int (*run)(const char *name, const mf_BenchOptions *options, bool json);
} Kind;

static const Kind kinds[] = {
    {mf_bench_swarm_knows, mf_bench_swarm_usual, mf_bench_swarm_run},
    {mf_bench_articulated_knows, mf_bench_articulated_usual, mf_bench_articulated_run},
    {mf_bench_model_knows, mf_bench_model_usual, mf_bench_model_run},
    {mf_bench_ladder_knows, mf_bench_ladder_usual, mf_bench_ladder_run},
    {mf_bench_soccer_knows, mf_bench_soccer_usual, mf_bench_soccer_run},
    {mf_bench_environment_knows, mf_bench_environment_usual, mf_bench_environment_run},
    {mf_bench_schedule_knows, mf_bench_schedule_usual, mf_bench_schedule_run},
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static const Kind *find_kind(const char *name) {
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].knows(name))
            return &kinds[i];
    return NULL;
}

static int run_bench(const char *name, const Options *options) {
    mf_BenchOptions wanted = {.threads = (uint32_t)mf_option_count(options->threads, 0),
                              .instances = (uint32_t)mf_option_count(options->instances, 0),
                              .steps = mf_option_count(options->steps, 0),
                              .generations = (uint32_t)mf_option_count(options->generations, 0),
                              .repeats = (uint32_t)mf_option_count(options->repeats, 0),
                              .double_precision = options->precision != NULL &&
                                                  strcmp(options->precision, "double") == 0,
                              .model = options->model};
    mf_BenchResult result;
    mf_Error error = {0};
    const Kind *kind = find_kind(name);
    if (kind != NULL)
        return kind->run(name, &wanted, options->json);
    const mf_Bench *bench = find_bench(name);
    mf_Status status = mf_bench_run(bench, &wanted, &result, &error);
    if (status != MF_OK)
        return mf_app_fail(&error);
    bool written = options->json ? print_json(bench, &result) : print_row(bench, &result);
    return written ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

static int check_words(const Options *options, int count, char **argv) {
    for (int i = 1; i <= count; i++) {
        if (find_bench(argv[i]) == NULL && find_kind(argv[i]) == NULL)
            return mf_app_usage("bench", "unknown bench '%.99s'", argv[i]);
    }
    if (options->precision != NULL && strcmp(options->precision, "float") != 0 &&
        strcmp(options->precision, "double") != 0)
        return mf_app_usage("bench", "--precision: expected float or double, found '%.99s'",
                            options->precision);
    mf_Isa isa;
    if (options->isa == NULL)
        return MF_OPTIONS_GO_ON;
    for (isa = MF_ISA_AUTO; isa <= MF_ISA_AVX512; isa = (mf_Isa)(isa + 1)) {
        if (strcmp(mf_isa_name(isa), options->isa) == 0)
            break;
    }
    if (isa > MF_ISA_AVX512)
        return mf_app_usage("bench",
                            "--isa: expected auto, scalar, baseline, avx2 or avx512, found '%.99s'",
                            options->isa);
    // Worlds choose their instruction set by this variable.
    if (isa != MF_ISA_AUTO && setenv("MAYFLY_ISA", options->isa, 1) != 0)
        return MF_EXIT_FAILED;
    return MF_OPTIONS_GO_ON;
}

static int run_usual(const Options *options) {
    int result = MF_EXIT_DONE;
    for (const mf_Bench *bench = mf_benches; bench->name != NULL && result == MF_EXIT_DONE; bench++)
        if (!bench->only_named)
            result = run_bench(bench->name, options);
    for (size_t k = 0; k < KIND_COUNT; k++) {
        const char *name;
        for (uint32_t i = 0; result == MF_EXIT_DONE && (name = kinds[k].usual(i)) != NULL; i++)
            result = run_bench(name, options);
    }
    return result;
}

int mf_command_bench(int argc, char **argv) {
    Options options = {0};
    const mf_Option table[] = {
        {"threads", "N", MF_OPTION_COUNT, &options.threads, 1, 4096,
         "worker threads (default: 1; evolve-paper all)"},
        {"instances", "N", MF_OPTION_COUNT, &options.instances, 1, 1 << 26, "robots"},
        {"steps", "N", MF_OPTION_COUNT, &options.steps, 1, 1e12, "physics steps per robot"},
        {"generations", "N", MF_OPTION_COUNT, &options.generations, 1, 1e6,
         "of evolve-paper (default 50)"},
        {"repeats", "N", MF_OPTION_COUNT, &options.repeats, 1, 101,
         "timed repeats of plain runs (default 5)"},
        {"isa", "NAME", MF_OPTION_TEXT, &options.isa, 0, 0,
         "instruction set: scalar, baseline, avx2, avx512 (default: the best there is)"},
        {"precision", "NAME", MF_OPTION_TEXT, &options.precision, 0, 0, "float or double"},
        {"model", "FILE", MF_OPTION_TEXT, &options.model, 0, 0,
         "robot of the articulated benches (default: their own) and of twins"},
        {"json", NULL, MF_OPTION_FLAG, &options.json, 0, 0, "one JSON object per bench"},
        {NULL, NULL, MF_OPTION_FLAG, NULL, 0, 0, NULL}};
    int count, result = mf_options_parse(&help, table, argc, argv, &count);
    if (result == MF_OPTIONS_GO_ON)
        result = check_words(&options, count, argv);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    mf_app_catch_stop();
    if (!options.json)
        print_head();
    result = count == 0 ? run_usual(&options) : MF_EXIT_DONE;
    for (int i = 1; i <= count && result == MF_EXIT_DONE; i++)
        result = run_bench(argv[i], &options);
    return result;
}
