// Benches of the schedule: one robot with two systems of equal rate that write different fields,
// like two cameras, each with about 20 us of work per step. In sequence or, if both are declared
// slow, in parallel. The work is a logistic map, whose result depends on every step, so equal
// hashes mean equal work.
#include "bench_schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 10000u // [1] of the map in a step: some 20 us
#define REPEATS_USUAL 5u
#define REPEATS_MOST 101u

typedef struct Bench {
    const char *name;
    bool slow;
    uint64_t steps; // [1]
} Bench;

static const Bench benches[] = {{"schedule-sequence", false, 5000}, {"schedule-waves", true, 5000}};

enum { BENCHES = sizeof benches / sizeof *benches };

typedef struct Setup {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Setup;

static void work(const mf_SystemRun *run, void *user) {
    mf_Field *field = user;
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK && i < mf_group_count(run->group);
         i++) {
        double x = mf_field_get(field, i, 0);
        for (uint32_t n = 0; n < ROUNDS; n++)
            x = 3.9 * x * (1.0 - x);
        mf_field_set(field, i, 0, x);
    }
}

static mf_Status add_work(const Setup *setup, const char *name, double start, bool slow,
                          const char *const *writes, mf_Error *error) {
    static const char *const nothing[] = {NULL};
    const mf_FieldInfo info = {
        name, "1", "", MF_REAL, MF_PER_INSTANCE, 1, MF_FIELD_STATE, "a number that is processed"};
    mf_Field *field;
    mf_Status status = mf_group_add_field(setup->group, &info, 0, &field, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < mf_group_count(setup->group); i++)
        mf_field_set(field, i, 0, start);
    mf_SystemConfig system = mf_system_config();
    system.name = name;
    system.phase = MF_PHASE_SENSE;
    system.run = work;
    system.user = field;
    system.reads = nothing;
    system.writes = writes;
    system.slow = slow;
    return mf_group_add_system(setup->group, &system, error);
}

static mf_Status make(const Bench *bench, const mf_BenchOptions *options, Setup *setup,
                      mf_Error *error) {
    static const char *const one[] = {"work.one", NULL}, *const two[] = {"work.two", NULL};
    char path[MF_APP_PATH];
    mf_ContextConfig config = mf_context_config();
    mf_GroupConfig group = mf_group_config();
    config.threads = options->threads > 0 ? options->threads : 2;
    group.count = options->instances > 0 ? options->instances : 1;
    group.double_precision = true;
    mf_Status status = mf_context_create(&config, &setup->context, error);
    if (status == MF_OK)
        status = mf_model_load(setup->context, mf_app_find("models/hexapod.urdf", path), NULL,
                               &setup->model, error);
    group.model = setup->model;
    if (status == MF_OK)
        status = mf_world_create(setup->context, NULL, &setup->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(setup->world, &group, &setup->group, error);
    if (status == MF_OK)
        status = add_work(setup, "work.one", 0.3, bench->slow, one, error);
    if (status == MF_OK)
        status = add_work(setup, "work.two", 0.7, bench->slow, two, error);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median [s] of the repeats, after a warm-up; the hash is that of the last.
static double time_steps(const Setup *setup, uint64_t steps, uint32_t repeats) {
    double seconds[REPEATS_MOST];
    mf_world_step(setup->world, steps);
    for (uint32_t i = 0; i < repeats; i++) {
        double begin = mf_app_clock();
        mf_world_step(setup->world, steps);
        seconds[i] = mf_app_clock() - begin;
    }
    qsort(seconds, repeats, sizeof *seconds, by_size);
    return seconds[repeats / 2];
}

static bool print(const mf_BenchOptions *options, const Bench *bench, const Setup *setup,
                  uint64_t steps, double seconds, bool json) {
    char time[MF_APP_NUMBER], factor[MF_APP_NUMBER];
    uint32_t count = mf_group_count(setup->group), threads = mf_context_threads(setup->context);
    double rate = (double)steps * count / seconds;
    double dt = mf_time_to_seconds(mf_world_config_of(setup->world)->step);
    uint64_t hash = mf_world_hash(setup->world);
    if (json)
        return mf_bench_print_line(
            options,
            json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o}", "bench",
                      bench->name, "motion", "none", "instances", (json_int_t)count, "threads",
                      (json_int_t)threads, "isa", mf_isa_name(mf_world_isa(setup->world)),
                      "precision", "double", "dt", mf_app_real(dt), "steps", (json_int_t)steps,
                      "seconds", mf_app_real(seconds), "steps_per_second", mf_app_real(rate),
                      "realtime_factor", mf_app_real(rate * dt), "hash", mf_app_hash(hash)));
    printf("%-18s %9u %7u %-8s %-6s %10.4g M/s %15s x %9s %10s %5s  %016llx\n", bench->name, count,
           threads, mf_isa_name(mf_world_isa(setup->world)), "double", rate * 1e-6,
           mf_app_count(rate * dt, factor), mf_app_duration(seconds, time), "-", "-",
           (unsigned long long)hash);
    return mf_app_flush();
}

// ---- what bench.c calls ------------------------------------------------------------------------

static const Bench *find(const char *name) {
    for (uint32_t i = 0; i < BENCHES; i++)
        if (strcmp(benches[i].name, name) == 0)
            return &benches[i];
    return NULL;
}

const char *mf_bench_schedule_name(uint32_t n) {
    return n < BENCHES ? benches[n].name : NULL;
}

const char *mf_bench_schedule_usual(uint32_t n) {
    return n < BENCHES ? benches[n].name : NULL;
}

int mf_bench_schedule_run(const char *name, const mf_BenchOptions *options, bool json) {
    const Bench *bench = find(name);
    const uint64_t steps = options->steps > 0 ? options->steps : bench->steps;
    Setup setup = {0};
    mf_Error error = {0};
    bool written = false;
    mf_Status status = make(bench, options, &setup, &error);
    if (status == MF_OK) {
        double seconds =
            time_steps(&setup, steps, options->repeats > 0 ? options->repeats : REPEATS_USUAL);
        written = print(options, bench, &setup, steps, seconds, json);
    }
    mf_world_destroy(setup.world);
    mf_model_destroy(setup.model);
    mf_context_destroy(setup.context);
    if (status != MF_OK)
        return mf_app_fail(&error);
    return written ? MF_EXIT_DONE : MF_EXIT_FAILED;
}
