// mayfly bench: throughput as text or as JSON lines.
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_time.h"
#include "options.h"

typedef struct Options {
    const char *threads, *instances, *steps, *generations, *repeats, *isa, *precision, *model;
    bool json;
} Options;

// ---- the command -------------------------------------------------------------------------------

static const mf_BenchKind *const kinds[] = {
    &mf_bench_points,    &mf_bench_evolutions, &mf_bench_swarms,  &mf_bench_articulated,
    &mf_bench_models,    &mf_bench_ladder,     &mf_bench_soccer,  &mf_bench_environments,
    &mf_bench_schedule,  &mf_bench_trusses,    &mf_bench_modules, &mf_bench_cloths,
    &mf_bench_particles, &mf_bench_cameras,    &mf_bench_scripts};

enum { KINDS = sizeof kinds / sizeof *kinds };

static const mf_Bench *bench_at(const mf_BenchKind *kind, uint32_t n) {
    return (const mf_Bench *)(const void *)((const char *)kind->benches + n * kind->size);
}

// A bench and its kind.
typedef struct Found {
    const mf_BenchKind *kind;
    const mf_Bench *bench;
} Found;

static Found find(const char *name) {
    for (size_t k = 0; k < KINDS; k++)
        for (uint32_t n = 0; n < kinds[k]->count; n++)
            if (strcmp(bench_at(kinds[k], n)->name, name) == 0)
                return (Found){kinds[k], bench_at(kinds[k], n)};
    return (Found){NULL, NULL};
}

// The names of all benches.
static const char *bench_name_at(const void *list, uint32_t index) {
    (void)list;
    for (size_t k = 0; k < KINDS; index -= kinds[k++]->count)
        if (index < kinds[k]->count)
            return bench_at(kinds[k], index)->name;
    return NULL;
}

static const char *isa_name_at(const void *list, uint32_t index) {
    (void)list;
    return index <= MF_ISA_AVX512 - MF_ISA_AUTO ? mf_isa_name((mf_Isa)(MF_ISA_AUTO + (int)index))
                                                : NULL;
}

static const char *precision_name_at(const void *list, uint32_t index) {
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
    MF_OPT_NAME("isa", "NAME", Options, isa, isa_name_at,
                "instruction set: scalar, avx2, avx512 (default: the best available)"),
    MF_OPT_NAME("precision", "NAME", Options, precision, precision_name_at, "float or double"),
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
        "  lua-1000, lua-1000-arrays\n"
        "                     a script that reads and writes 10 values of 1000 robots every\n"
        "                     step, one by one, and all robots at a time\n"
        "  evolve-golem       200 machines of bars and neurons over 600 generations, with\n"
        "                     their archive (scenes/golem.yaml); only when named\n"
        "  truss-shared       crawlers of 30 bars that move: 256 copies, in double precision\n"
        "  truss-mixed        1024 machines of 10 to 40 bars from the operators of evolution,\n"
        "                     all different; only when named\n"
        "  modules-1000       separate SuperBots on the ground, all motors moving, 1/60 s\n"
        "  modules-snake-1000 docked front to back, sinusoidal, 1/60 s; also prints what a dock\n"
        "                     event costs; modules-snake-10, -100 and -10000 (in double\n"
        "                     precision) only when named\n"
        "  modules-atron-1500 separate ATRONs that spin\n"
        "  cloth              a cloth of 100 x 100 vertices that hangs by two corners, steps of\n"
        "                     5 ms with 5 substeps\n"
        "  fluid-100k         100,000 particles of water that run apart\n"
        "  grains-100k        100,000 glass beads that settle\n"
        "  fluid-frames-20k, fluid-frames-100k, debris-frames-100k\n"
        "                     steps of 1/60 s: two layers of water, and debris that falls; also\n"
        "                     print steps/s of all particles; only when named\n"
        "  cameras-84         64 robots with a picture of 84 x 84 per step; also prints images/s\n"
        "  cameras-84-samples the same with 2 x 2 rays per pixel\n"
        "  cameras-humanoids  six humanoids walk by kinematics and see each other, 320 x 240 at\n"
        "                     20 Hz with lens, blur and noise\n"
        "  swarm              100 to 1,000,000 agents; only when named\n"
        "With --json: bench, motion, instances, threads, isa, precision, dt, steps (per robot),\n"
        "seconds, steps_per_second, realtime_factor, hash, bytes_per_robot, contacts_per_robot,\n"
        "gflops: rate of fused multiply-adds of one core, to compare figures of different\n"
        "machines.\n"
        "For swarms `steps` is agents times rounds; further members are round_ms, rounds, alive\n"
        "and neighbors.",
    .examples = "  mayfly bench points-hexapod --threads 2\n"
                "  mayfly bench --json --isa scalar\n",
    .least = 0,
    .most = 100,
    .options = table,
    .names = bench_name_at,
    .noun = "bench"};

static mf_BenchOptions read_options(const Options *options) {
    return (mf_BenchOptions){.threads = (uint32_t)mf_option_count(options->threads, 0),
                             .instances = (uint32_t)mf_option_count(options->instances, 0),
                             .steps = mf_option_count(options->steps, 0),
                             .generations = (uint32_t)mf_option_count(options->generations, 0),
                             .repeats = (uint32_t)mf_option_count(options->repeats, 0),
                             .double_precision = options->precision != NULL &&
                                                 strcmp(options->precision, "double") == 0,
                             .model = options->model,
                             .gflops = mf_core_rate()};
}

static bool lists(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (; *text != '\0'; text += strcspn(text, " "), text += *text == ' ')
        if (strcspn(text, " ") == length && strncmp(text, name, length) == 0)
            return true;
    return false;
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
            used = !lists(find(argv[i]).kind->ignores, given[o][0]);
        if (!used)
            return mf_app_usage("bench", "--%s has no effect on %.99s", given[o][0], argv[1]);
    }
    return MF_OPTIONS_GO_ON;
}

static int run_one(const mf_BenchKind *kind, const mf_Bench *bench, const mf_BenchOptions *options,
                   bool json) {
    return kind->run != NULL ? kind->run(bench, options, json)
                             : mf_bench_run(kind, bench, options, json);
}

static int run_usual(const mf_BenchOptions *options, bool json) {
    char path[MF_APP_PATH];
    int result = MF_EXIT_DONE;
    for (size_t k = 0; k < KINDS; k++)
        for (uint32_t n = 0; n < kinds[k]->count && result == MF_EXIT_DONE; n++) {
            const mf_Bench *bench = bench_at(kinds[k], n);
            if (!bench->only_named && (bench->needs == NULL || mf_bench_shared(bench->needs, path)))
                result = run_one(kinds[k], bench, options, json);
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
    // Worlds read their instruction set from an environment variable.
    if (options.isa != NULL && strcmp(options.isa, mf_isa_name(MF_ISA_AUTO)) != 0 &&
        setenv("MAYFLY_ISA", options.isa, 1) != 0)
        return MF_EXIT_FAILED;
    mf_app_catch_stop();
    const mf_BenchOptions chosen = read_options(&options);
    if (!options.json)
        printf("this core: %.1f GFLOP/s of fused multiply-adds in single precision\n"
               "%-20s %7s %7s %-8s %-6s %14s %17s %9s %10s %5s  %s\n",
               chosen.gflops, "bench", "robots", "threads", "isa", "real", "robot steps",
               "real time", "median", "per robot", "feet", "hash");
    result = count == 0 ? run_usual(&chosen, options.json) : MF_EXIT_DONE;
    for (int i = 1; i <= count && result == MF_EXIT_DONE; i++) {
        const Found found = find(argv[i]);
        result = run_one(found.kind, found.bench, &chosen, options.json);
    }
    return result;
}
