// mayfly bench: throughput as text or as JSON lines.
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
#include "core_rate.h"
#include "options.h"

typedef struct Options {
    const char *threads, *instances, *steps, *generations, *repeats, *isa, *precision, *model;
    bool json;
} Options;

// ---- output ------------------------------------------------------------------------------------

static bool print_json(const mf_BenchOptions *options, const mf_Bench *bench,
                       const mf_BenchResult *result) {
    double robot_steps = (double)result->steps * result->instances;
    return mf_bench_print_line(
        options,
        json_pack(
            "{s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}",
            "bench", bench->name, "motion", "points", "instances", (json_int_t)result->instances,
            "threads", (json_int_t)result->threads, "isa", mf_isa_name(result->isa), "precision",
            result->double_precision ? "double" : "float", "dt", mf_app_real(result->dt), "steps",
            (json_int_t)result->steps, "seconds", mf_app_real(result->seconds), "steps_per_second",
            mf_app_real(robot_steps / result->seconds), "realtime_factor",
            mf_app_real(robot_steps * result->dt / result->seconds), "hash",
            mf_app_hash(result->hash), "bytes_per_robot", mf_app_real(result->bytes_per_robot),
            "contacts_per_robot", mf_app_real(result->contacts_per_robot), "slowest_seconds",
            mf_app_real(result->slowest), "repeats", (json_int_t)result->repeats, "best",
            mf_app_real(result->best)));
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

static void print_head(double gflops) {
    printf("this core: %.1f GFLOP/s of fused multiply-adds in single precision\n", gflops);
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

// Benches of other kinds.
typedef struct Kind {
    const char *(*name)(uint32_t n);  // of all benches; NULL after the last
    const char *(*usual)(uint32_t n); // that run by default; NULL after the last
    int (*run)(const char *name, const mf_BenchOptions *options, bool json);
    const char *ignores; // options without effect, besides --generations
} Kind;

static const Kind kinds[] = {
    {mf_bench_swarm_name, mf_bench_swarm_usual, mf_bench_swarm_run, "model"},
    {mf_bench_articulated_name, mf_bench_articulated_usual, mf_bench_articulated_run, ""},
    {mf_bench_model_name, mf_bench_model_usual, mf_bench_model_run,
     "threads instances steps precision model"},
    {mf_bench_ladder_name, mf_bench_ladder_usual, mf_bench_ladder_run, "model"},
    {mf_bench_soccer_name, mf_bench_soccer_usual, mf_bench_soccer_run, "model precision"},
    {mf_bench_environment_name, mf_bench_environment_usual, mf_bench_environment_run, ""},
    {mf_bench_schedule_name, mf_bench_schedule_usual, mf_bench_schedule_run, "model precision"},
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static const Kind *find_kind(const char *name) {
    const char *own;
    for (size_t i = 0; i < KIND_COUNT; i++)
        for (uint32_t n = 0; (own = kinds[i].name(n)) != NULL; n++)
            if (strcmp(own, name) == 0)
                return &kinds[i];
    return NULL;
}

// The names of all benches.
static const char *bench_word(const void *list, uint32_t index) {
    (void)list;
    for (const mf_Bench *bench = mf_benches; bench->name != NULL; bench++)
        if (index-- == 0)
            return bench->name;
    for (size_t k = 0; k < KIND_COUNT; k++) {
        const char *name;
        for (uint32_t n = 0; (name = kinds[k].name(n)) != NULL; n++)
            if (index-- == 0)
                return name;
    }
    return NULL;
}

static const char *isa_word(const void *list, uint32_t index) {
    (void)list;
    return index <= MF_ISA_AVX512 - MF_ISA_AUTO ? mf_isa_name((mf_Isa)(MF_ISA_AUTO + (int)index))
                                                : NULL;
}

static const char *precision_word(const void *list, uint32_t index) {
    (void)list;
    return index == 0 ? "float" : index == 1 ? "double" : NULL;
}

static const mf_Option table[] = {
    MF_OPT_COUNT("threads", "N", Options, threads, 1, 4096,
                 "worker threads (default: 1; evolve-paper all)"),
    MF_OPT_COUNT("instances", "N", Options, instances, 1, 1 << 26, "robots"),
    MF_OPT_COUNT("steps", "N", Options, steps, 1, 1e12, "physics steps per robot"),
    MF_OPT_COUNT("generations", "N", Options, generations, 1, 1e6,
                 "generations of evolve-paper (default 50)"),
    MF_OPT_COUNT("repeats", "N", Options, repeats, 1, 101,
                 "timed repeats of plain runs (default 5)"),
    MF_OPT_WORD("isa", "NAME", Options, isa, isa_word,
                "instruction set: scalar, baseline, avx2, avx512 (default: the best available)"),
    MF_OPT_WORD("precision", "NAME", Options, precision, precision_word, "float or double"),
    MF_OPT_TEXT("model", "FILE", Options, model,
                "robot of the articulated benches (default: their own) and of Gymnasium's tasks"),
    MF_OPT_FLAG("json", Options, json, "one JSON object per bench"),
    MF_OPT_END};

const mf_CommandHelp mf_help_bench = {
    .name = "bench",
    .arguments = "[NAME...]",
    .summary = "measure throughput",
    .text =
        "Runs the benches (the default set, or those named) and prints robot steps per second: "
        "the\n"
        "median of repeats after a warm-up. Every repeat does the same work and must end\n"
        "with the same hash.\n"
        "  points-hexapod     18 joints on a height map, programs and sensors on, 1024 robots\n"
        "  points-quadruped   8 joints, otherwise the same\n"
        "  points-single      a single hexapod\n"
        "  points-hexapod-1m  a million hexapods; several GiB; only when named\n"
        "  evolve-paper       an evolution with archive; --generations 1364 as published\n"
        "  quadrotor-1000, quadrotor-10000, quadrotor-1000000 (only when named)\n"
        "                     rounds of quadrotors: rate loop and one Runge-Kutta step\n"
        "  quadrotor-10000-interacting\n"
        "                     with neighbors, collisions and downwash every round\n"
        "  mixed-1000         three kinds of vehicles in one world, neighbors on\n"
        "  articulated-free   full dynamics: 27 degrees of freedom in the air\n"
        "  articulated-humanoid, articulated-ant, articulated-t1\n"
        "                     with contacts, random controls and resets, 4096 robots\n"
        "  articulated-single a single humanoid\n"
        "  humanoid-kinematic, humanoid-rigid, humanoid-prescribed\n"
        "                     the cheaper motions: 4096 humanoids, 1 kHz, feet on the ground\n"
        "  model-humanoid, model-t1\n"
        "                     loading a robot's file and creating its world\n"
        "  soccer-2           two humanoids that walk into each other, ball and field; also "
        "prints\n"
        "                     the numbers of contact tests\n"
        "  soccer-10-car, soccer-10-car-articulated\n"
        "                     a car among ten humanoids, 1 kHz: rigid, and full dynamics on 2\n"
        "                     threads\n"
        "  soccer-field       2 to 200 humanoids on a field; only when named\n"
        "  environment-hexapod-points, environment-hexapod, environment-quadrotor,\n"
        "  environment-swarm  4096 robots of a task with random actions; steps are those of the\n"
        "                     environment\n"
        "  environment-ant, environment-half-cheetah, environment-hopper, environment-humanoid,\n"
        "  environment-walker2d\n"
        "                     Gymnasium's tasks, with their file as --model; only when\n"
        "                     named\n"
        "  schedule-sequence, schedule-waves\n"
        "                     two systems of 20 us in sequence, and in parallel on 2\n"
        "                     threads\n"
        "  swarm              100 to 1,000,000 agents; only when named\n"
        "With --json: bench, motion, instances, threads, isa, precision, dt, steps (per robot),\n"
        "seconds, steps_per_second, realtime_factor, hash, bytes_per_robot, contacts_per_robot,\n"
        "gflops: rate of fused multiply-adds of one core, to compare figures of different\n"
        "machines.\n"
        "For swarms `steps` is agents times rounds; further members are round_ms, rounds, alive\n"
        "and neighbors.",
    .examples = "  mayfly bench points-hexapod --threads 2\n"
                "  mayfly bench --json --isa baseline\n",
    .least = 0,
    .most = 100,
    .options = table,
    .words = bench_word,
    .noun = "bench"};

static int run_bench(const char *name, const Options *options, double gflops) {
    mf_BenchOptions wanted = {.threads = (uint32_t)mf_option_count(options->threads, 0),
                              .instances = (uint32_t)mf_option_count(options->instances, 0),
                              .steps = mf_option_count(options->steps, 0),
                              .generations = (uint32_t)mf_option_count(options->generations, 0),
                              .repeats = (uint32_t)mf_option_count(options->repeats, 0),
                              .double_precision = options->precision != NULL &&
                                                  strcmp(options->precision, "double") == 0,
                              .model = options->model,
                              .gflops = gflops};
    mf_BenchResult result;
    mf_Error error = {0};
    const Kind *kind = find_kind(name);
    if (kind != NULL)
        return kind->run(name, &wanted, options->json);
    const mf_Bench *bench = find_bench(name);
    mf_Status status = mf_bench_run(bench, &wanted, &result, &error);
    if (status != MF_OK)
        return mf_app_fail(&error);
    bool written = options->json ? print_json(&wanted, bench, &result) : print_row(bench, &result);
    return written ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

static bool lists(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (; *words != '\0'; words += strcspn(words, " "), words += *words == ' ')
        if (strcspn(words, " ") == length && strncmp(words, word, length) == 0)
            return true;
    return false;
}

static bool takes(const char *name, const char *option) {
    const Kind *kind = find_kind(name);
    if (kind != NULL)
        return strcmp(option, "generations") != 0 && !lists(kind->ignores, option);
    const bool evolution = find_bench(name)->generations > 0;
    return strcmp(option, "generations") == 0 ? evolution
           : strcmp(option, "repeats") == 0   ? !evolution
                                              : strcmp(option, "model") != 0;
}

// An option without effect on any of the named benches.
static int check_use(const Options *options, int count, char **argv) {
    const char *const given[][2] = {
        {"threads", options->threads}, {"instances", options->instances},
        {"steps", options->steps},     {"generations", options->generations},
        {"repeats", options->repeats}, {"precision", options->precision},
        {"model", options->model}};
    for (size_t o = 0; o < sizeof given / sizeof *given; o++) {
        bool used = given[o][1] == NULL || count == 0;
        for (int i = 1; i <= count && !used; i++)
            used = takes(argv[i], given[o][0]);
        if (!used)
            return mf_app_usage("bench", "--%s has no effect on %.99s", given[o][0], argv[1]);
    }
    return MF_OPTIONS_GO_ON;
}

// Worlds read their instruction set from an environment variable.
static bool choose_isa(const char *name) {
    return name == NULL || strcmp(name, mf_isa_name(MF_ISA_AUTO)) == 0 ||
           setenv("MAYFLY_ISA", name, 1) == 0;
}

static int run_usual(const Options *options, double gflops) {
    int result = MF_EXIT_DONE;
    for (const mf_Bench *bench = mf_benches; bench->name != NULL && result == MF_EXIT_DONE; bench++)
        if (!bench->only_named)
            result = run_bench(bench->name, options, gflops);
    for (size_t k = 0; k < KIND_COUNT; k++) {
        const char *name;
        for (uint32_t i = 0; result == MF_EXIT_DONE && (name = kinds[k].usual(i)) != NULL; i++)
            result = run_bench(name, options, gflops);
    }
    return result;
}

int mf_command_bench(int argc, char **argv) {
    Options options = {0};
    int count, result = mf_options_parse(&mf_help_bench, &options, argc, argv, &count);
    if (result == MF_OPTIONS_GO_ON)
        result = check_use(&options, count, argv);
    if (result != MF_OPTIONS_GO_ON)
        return result;
    if (!choose_isa(options.isa))
        return MF_EXIT_FAILED;
    mf_app_catch_stop();
    const double gflops = mf_core_rate();
    if (!options.json)
        print_head(gflops);
    result = count == 0 ? run_usual(&options, gflops) : MF_EXIT_DONE;
    for (int i = 1; i <= count && result == MF_EXIT_DONE; i++)
        result = run_bench(argv[i], &options, gflops);
    return result;
}
