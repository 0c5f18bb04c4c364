// Benches of full dynamics: robots that get a random control for every actuator in every step, fall
// over, and begin again after an episode. One repeat is one or more whole episodes with the resets
// between them; every repeat begins at time 0 with the same numbers and must end with the same
// hash. The first repeat is a warm-up.
#include "bench_time.h"

typedef struct Bench {
    mf_Bench bench;    // its `needs`: the robot; its steps: those of an episode
    const char *own;   // Mayfly's own file, used if that is missing
    uint32_t episodes; // [1]
    bool contacts;
} Bench;

// clang-format off
static const Bench benches[] = {
    {{"articulated-free", NULL, false, 1, 4096, 250}, "models/figure.xml", 1, false},
    {{"articulated-humanoid", "models/mujoco_models/humanoid.xml", false, 1, 4096, 500},
     "models/figure.xml", 1, true},
    {{"articulated-ant", NULL, false, 1, 4096, 500}, "models/ant.xml", 1, true},
    {{"articulated-t1", "models/booster_t1/scene.xml", false, 1, 4096, 500},
     "models/figure.xml", 1, true},
    {{"articulated-single", "models/mujoco_models/humanoid.xml", false, 1, 1, 500},
     "models/figure.xml", 40, true},
};
// clang-format on

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

static void run_episodes(mf_BenchRig *rig) {
    const uint32_t episodes = ((const Bench *)rig->bench)->episodes;
    for (uint32_t e = 0; e < episodes; e++) {
        mf_group_reset_all(rig->group);
        mf_world_step(rig->world, rig->steps / episodes);
    }
}

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    char path[MF_APP_PATH];
    mf_MotionsConfig motion = mf_motions_config();
    mf_ImportConfig import = mf_import_config();
    import.lenient = true;
    MF_TRY(
        mf_bench_rig_load(rig, options->threads, find_model(bench, options, path), &import, error));
    motion.articulated.contacts = bench->contacts;
    motion.articulated.shapes = true;
    motion.articulated.self_contacts = bench->contacts;
    MF_TRY(mf_bench_rig_fill(rig, options, (mf_Time)(rig->model->physics.step * 1e9 + 0.5), error));
    rig->motion = "articulated";
    rig->steps *= bench->episodes;
    rig->run = run_episodes;
    MF_TRY(mf_motion_add(rig->group, MF_MOTION_ARTICULATED, &motion, error));
    return add_controls(rig->group, error);
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    json_t *line = mf_bench_pack_group("model", rig->model->name, result, rig->group);
    json_object_set_new(line, "episodes", json_integer(((const Bench *)rig->bench)->episodes));
    return line;
}

const mf_BenchKind mf_bench_articulated = {MF_BENCH_ROWS(benches), .ignores = "generations",
                                           .rig_size = sizeof(mf_BenchRig), .open = open_rig,
                                           .more = more};
