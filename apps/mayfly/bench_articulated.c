// Benches of full dynamics: robots that get a random control for every actuator in every step, fall
// over, and begin again after an episode. One repeat is one or more whole episodes with the resets
// between them; every repeat begins at time 0 with the same numbers and must end with the same
// hash. The first repeat is a warm-up.
#include "bench_articulated.h"
#include "bench_time.h"
#include "warnings.h"

#include <mayfly/articulated.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench {
    const char *name;
    const char *shared; // file in the shared folder, or NULL
    const char *own;    // Mayfly's own file, used if the other is missing
    uint32_t instances; // [1]
    uint32_t episode;   // [1] steps
    uint32_t episodes;  // [1]
    bool contacts;
} Bench;

static const Bench benches[] = {
    {"articulated-free", NULL, "models/figure.xml", 4096, 250, 1, false},
    {"articulated-humanoid", "models/mujoco_models/humanoid.xml", "models/figure.xml", 4096, 500, 1,
     true},
    {"articulated-ant", NULL, "models/ant.xml", 4096, 500, 1, true},
    {"articulated-t1", "models/booster_t1/scene.xml", "models/figure.xml", 4096, 500, 1, true},
    {"articulated-single", "models/mujoco_models/humanoid.xml", "models/figure.xml", 1, 500, 40,
     true},
};

#define BENCH_COUNT (sizeof benches / sizeof benches[0])

typedef struct Setup {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Field *control;
} Setup;

// ---- random controls ---------------------------------------------------------------------------

// A cheap hash (the finalizer of MurmurHash3, Appleby): the numbers need only be different, at
// negligible cost compared with a step.
static uint32_t mix(uint32_t a) {
    a ^= a >> 16;
    a *= 0x85ebca6bu;
    a ^= a >> 13;
    a *= 0xc2b2ae35u;
    return a ^ a >> 16;
}

static void draw_controls(const mf_SystemRun *run, void *user) {
    const mf_Field *control = user;
    const bool twice = mf_group_config_of(run->group)->double_precision;
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++) {
        size_t first = (size_t)b * control->components * MF_BLOCK;
        uint32_t robots = mf_group_count(run->group) - b * MF_BLOCK;
        robots = robots < MF_BLOCK ? robots : MF_BLOCK;
        for (uint32_t c = 0; c < control->components; c++) {
            uint32_t key = mix((uint32_t)run->tick * 131u + c) + b * MF_BLOCK;
            const size_t row = first + (size_t)c * MF_BLOCK;
            for (uint32_t lane = 0; lane < robots; lane++) {
                float number = (float)(int32_t)mix(key + lane * 0x9e3779b9u) * 0x1p-31f;
                if (twice)
                    ((double *)control->data)[row + lane] = number;
                else
                    ((float *)control->data)[row + lane] = number;
            }
        }
    }
}

// ---- the stage ---------------------------------------------------------------------------------

static void setup_free(Setup *setup) {
    mf_world_destroy(setup->world);
    mf_model_destroy(setup->model);
    mf_context_destroy(setup->context);
}

static const char *find_model(const Bench *bench, const mf_BenchOptions *options,
                              char out[MF_APP_PATH]) {
    if (options->model != NULL)
        return mf_app_find(options->model, out);
    return mf_bench_robot(bench->name, bench->shared, bench->own, out);
}

static mf_Status add_controls(Setup *setup, mf_Error *error) {
    static const char *const reads[] = {NULL}, *const writes[] = {"actuator.control", NULL};
    setup->control = mf_group_find_field(setup->group, "actuator.control");
    if (setup->control == NULL)
        return MF_OK;
    mf_SystemConfig system = mf_system_config();
    system.name = "random";
    system.phase = MF_PHASE_CONTROL;
    system.run = draw_controls;
    system.user = setup->control;
    system.reads = reads;
    system.writes = writes;
    return mf_group_add_system(setup->group, &system, error);
}

static mf_Status setup_make(const Bench *bench, const mf_BenchOptions *options, Setup *setup,
                            mf_Error *error) {
    char path[MF_APP_PATH];
    mf_ContextConfig context = mf_context_config();
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    mf_ArticulatedConfig motion = mf_articulated_config();
    mf_ImportConfig import = mf_import_config();
    context.threads = options->threads != 0 ? options->threads : 1;
    import.lenient = true;
    mf_Status status = mf_context_create(&context, &setup->context, error);
    if (status == MF_OK)
        status = mf_model_load(setup->context, find_model(bench, options, path), &import,
                               &setup->model, error);
    if (status != MF_OK)
        return status;
    world.step = (mf_Time)(setup->model->physics.step * 1e9 + 0.5);
    group.model = setup->model;
    group.count = options->instances != 0 ? options->instances : bench->instances;
    group.double_precision = options->double_precision;
    motion.contacts = bench->contacts;
    motion.shapes = true;
    motion.self_contacts = bench->contacts;
    status = mf_world_create(setup->context, &world, &setup->world, error);
    if (status == MF_OK)
        status = mf_world_add_group(setup->world, &group, &setup->group, error);
    if (status == MF_OK)
        status = mf_articulated_add(setup->group, &motion, error);
    if (status == MF_OK)
        status = add_controls(setup, error);
    return status;
}

// ---- timing ------------------------------------------------------------------------------------

typedef struct Episodes {
    Setup *setup;
    uint64_t steps;  // [1] of one
    uint32_t number; // [1]
} Episodes;

static void run_episodes(void *user) {
    const Episodes *episodes = user;
    for (uint32_t e = 0; e < episodes->number; e++) {
        mf_group_reset_all(episodes->setup->group);
        mf_world_step(episodes->setup->world, episodes->steps);
    }
}

static mf_Status measure(const Bench *bench, const mf_BenchOptions *options, Setup *setup,
                         mf_BenchResult *result, mf_Error *error) {
    Episodes episodes = {setup, options->steps != 0 ? options->steps : bench->episode,
                         bench->episodes};
    const mf_BenchWork work = {.name = bench->name,
                               .world = setup->world,
                               .steps = episodes.steps * episodes.number,
                               .run = run_episodes,
                               .user = &episodes};
    mf_Status status = mf_bench_time(&work, options, result, error);
    result->instances = mf_group_count(setup->group);
    result->double_precision = options->double_precision;
    result->bytes_per_robot = (double)mf_group_bytes_per_instance(setup->group);
    result->contacts_per_robot = mf_bench_contacts(setup->group, "contact.load");
    return status;
}

// ---- output ------------------------------------------------------------------------------------

static bool print_json(const mf_BenchOptions *options, const Bench *bench, const Setup *setup,
                       const mf_BenchResult *r) {
    double robot_steps = (double)r->steps * r->instances;
    return mf_bench_print_line(
        options,
        json_pack(
            "{s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, "
            "s:I, s:I, s:o}",
            "bench", bench->name, "motion", "articulated", "model", setup->model->name, "instances",
            (json_int_t)r->instances, "threads", (json_int_t)r->threads, "isa", mf_isa_name(r->isa),
            "precision", r->double_precision ? "double" : "float", "dt", mf_app_real(r->dt),
            "steps", (json_int_t)r->steps, "seconds", mf_app_real(r->seconds), "steps_per_second",
            mf_app_real(robot_steps / r->seconds), "realtime_factor",
            mf_app_real(robot_steps * r->dt / r->seconds), "hash", mf_app_hash(r->hash),
            "bytes_per_robot", mf_app_real(r->bytes_per_robot), "contacts_per_robot",
            mf_app_real(r->contacts_per_robot), "slowest_seconds", mf_app_real(r->slowest),
            "repeats", (json_int_t)r->repeats, "episodes", (json_int_t)bench->episodes, "faults",
            (json_int_t)mf_group_fault_total(setup->group), "warnings",
            mf_warnings_pack(setup->group)));
}

// ---- what bench.c calls ------------------------------------------------------------------------

static const Bench *find(const char *name) {
    for (size_t i = 0; i < BENCH_COUNT; i++)
        if (strcmp(benches[i].name, name) == 0)
            return &benches[i];
    return NULL;
}

const char *mf_bench_articulated_name(uint32_t n) {
    return n < BENCH_COUNT ? benches[n].name : NULL;
}

const char *mf_bench_articulated_usual(uint32_t n) {
    char path[MF_APP_PATH];
    for (size_t i = 0; i < BENCH_COUNT; i++) {
        const bool here = benches[i].shared == NULL || mf_bench_shared(benches[i].shared, path);
        if (here && n-- == 0)
            return benches[i].name;
    }
    return NULL;
}

int mf_bench_articulated_run(const char *name, const mf_BenchOptions *options, bool json) {
    const Bench *bench = find(name);
    Setup setup = {0};
    mf_Error error = {0};
    mf_BenchResult result = {0};
    mf_Status status = setup_make(bench, options, &setup, &error);
    if (status == MF_OK)
        status = measure(bench, options, &setup, &result, &error);
    bool written =
        status == MF_OK && (json ? print_json(options, bench, &setup, &result)
                                 : mf_bench_print_row(bench->name, &result, setup.group));
    setup_free(&setup);
    if (status != MF_OK)
        return mf_app_fail(&error);
    return written ? MF_EXIT_DONE : MF_EXIT_FAILED;
}
