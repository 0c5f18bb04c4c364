// Benches of full dynamics: robots that get a random control for every actuator in every step, fall
// over, and begin again after an episode. One repeat is one or more whole episodes with the resets
// between them; every repeat begins at time 0 with the same numbers and must end with the same
// hash. The first repeat is a warm-up.
#include "bench_time.h"

#include <mayfly/articulated.h>
#include <stdio.h>

typedef struct Bench {
    mf_Bench bench;     // its `needs`: the robot
    const char *own;    // Mayfly's own file, used if that is missing
    uint32_t instances; // [1]
    uint32_t episode;   // [1] steps
    uint32_t episodes;  // [1]
    bool contacts;
} Bench;

static const Bench benches[] = {
    {{"articulated-free", NULL, false}, "models/figure.xml", 4096, 250, 1, false},
    {{"articulated-humanoid", "models/mujoco_models/humanoid.xml", false},
     "models/figure.xml",
     4096,
     500,
     1,
     true},
    {{"articulated-ant", NULL, false}, "models/ant.xml", 4096, 500, 1, true},
    {{"articulated-t1", "models/booster_t1/scene.xml", false},
     "models/figure.xml",
     4096,
     500,
     1,
     true},
    {{"articulated-single", "models/mujoco_models/humanoid.xml", false},
     "models/figure.xml",
     1,
     500,
     40,
     true},
};

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

// ---- the world ---------------------------------------------------------------------------------

static const char *find_model(const Bench *bench, const mf_BenchOptions *options,
                              char out[MF_APP_PATH]) {
    if (options->model != NULL)
        return mf_app_find(options->model, out);
    return mf_bench_robot(bench->bench.name, bench->bench.needs, bench->own, out);
}

static mf_Status add_controls(mf_Group *group, mf_Error *error) {
    static const char *const reads[] = {NULL}, *const writes[] = {"actuator.control", NULL};
    mf_Field *control = mf_group_find_field(group, "actuator.control");
    if (control == NULL)
        return MF_OK;
    mf_SystemConfig system = mf_system_config();
    system.name = "random";
    system.phase = MF_PHASE_CONTROL;
    system.run = draw_controls;
    system.user = control;
    system.reads = reads;
    system.writes = writes;
    return mf_group_add_system(group, &system, error);
}

static mf_Status open_rig(const Bench *bench, const mf_BenchOptions *options, mf_BenchRig *rig,
                          mf_Error *error) {
    char path[MF_APP_PATH];
    mf_MotionsConfig motion = mf_motions_config();
    mf_ImportConfig import = mf_import_config();
    import.lenient = true;
    mf_Status status = mf_bench_rig_load(rig, options->threads != 0 ? options->threads : 1,
                                         find_model(bench, options, path), &import, error);
    if (status != MF_OK)
        return status;
    motion.articulated.contacts = bench->contacts;
    motion.articulated.shapes = true;
    motion.articulated.self_contacts = bench->contacts;
    status = mf_bench_rig_fill(rig, options, bench->instances,
                               (mf_Time)(rig->model->physics.step * 1e9 + 0.5), error);
    if (status == MF_OK)
        status = mf_motion_add(rig->group, MF_MOTION_ARTICULATED, &motion, error);
    if (status == MF_OK)
        status = add_controls(rig->group, error);
    return status;
}

// ---- timing ------------------------------------------------------------------------------------

typedef struct Episodes {
    const mf_BenchRig *rig;
    uint64_t steps;  // [1] of one
    uint32_t number; // [1]
} Episodes;

static void run_episodes(void *user) {
    const Episodes *episodes = user;
    for (uint32_t e = 0; e < episodes->number; e++) {
        mf_group_reset_all(episodes->rig->group);
        mf_world_step(episodes->rig->world, episodes->steps);
    }
}

static mf_Status measure(const Bench *bench, const mf_BenchOptions *options, const mf_BenchRig *rig,
                         mf_BenchResult *result, mf_Error *error) {
    Episodes episodes = {rig, options->steps != 0 ? options->steps : bench->episode,
                         bench->episodes};
    const mf_BenchWork work = {.name = bench->bench.name,
                               .world = rig->world,
                               .steps = episodes.steps * episodes.number,
                               .run = run_episodes,
                               .user = &episodes};
    mf_Status status = mf_bench_time(&work, options, result, error);
    mf_bench_describe(result, rig->group, "contact.load");
    return status;
}

static bool print_json(const mf_BenchOptions *options, const Bench *bench, const mf_BenchRig *rig,
                       const mf_BenchResult *result) {
    json_t *more = mf_bench_pack_group("model", rig->model->name, result, rig->group);
    json_object_set_new(more, "episodes", json_integer(bench->episodes));
    return mf_bench_print_json(options, bench->bench.name, "articulated", result, more);
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    mf_BenchRig rig = {0};
    mf_Error error = {0};
    mf_BenchResult result = {0};
    mf_Status status = open_rig(bench, options, &rig, &error);
    if (status == MF_OK)
        status = measure(bench, options, &rig, &result, &error);
    const bool written =
        status == MF_OK && (json ? print_json(options, bench, &rig, &result)
                                 : mf_bench_print_row(bench->bench.name, &result, rig.group));
    mf_bench_rig_free(&rig);
    return mf_bench_end(status, &error, written);
}

const mf_BenchKind mf_bench_articulated = {MF_BENCH_ROWS(benches), .ignores = "generations",
                                           .run = run};
