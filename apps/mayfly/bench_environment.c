// Benches of vector environments: random actions, float observations, and restarted episodes. A
// step is one of the environment, with several physics steps. All repeats start from the same
// snapshot and must end with the same hash; the first is a warm-up.
#include "bench_time.h"

#include <mayfly/environment.h>

enum { TABLES = 16, SPREAD = 64 }; // [1] tables of actions, steps that mix episodes before timing

typedef struct Bench {
    mf_Bench bench; // tasks of Gymnasium run when named: their files are not part of Mayfly
    const char *task;
    const char *model; // NULL: the task's own, or --model for tasks of Gymnasium
    mf_Motion motion;
} Bench;

static const Bench benches[] = {
    // clang-format off
    {{"environment-hexapod-points", NULL, false, 1, 4096, 500},
     "hexapod", "models/hexapod.urdf", MF_MOTION_POINTS},
    {{"environment-hexapod", NULL, false, 1, 4096, 50},
     "hexapod", "models/hexapod.urdf", MF_MOTION_ARTICULATED},
    {{"environment-quadrotor", NULL, false, 1, 4096, 1000},
     "quadrotor", NULL, MF_MOTION_ARTICULATED},
    {{"environment-swarm", NULL, false, 1, 4096, 500}, "swarm", NULL, MF_MOTION_ARTICULATED},
    {{"environment-ant", NULL, true, 1, 4096, 50}, "ant", NULL, MF_MOTION_ARTICULATED},
    {{"environment-half-cheetah", NULL, true, 1, 4096, 100},
     "half_cheetah", NULL, MF_MOTION_ARTICULATED},
    {{"environment-hopper", NULL, true, 1, 4096, 100}, "hopper", NULL, MF_MOTION_ARTICULATED},
    {{"environment-humanoid", NULL, true, 1, 4096, 20}, "humanoid", NULL, MF_MOTION_ARTICULATED},
    {{"environment-walker2d", NULL, true, 1, 4096, 100}, "walker2d", NULL, MF_MOTION_ARTICULATED},
    // clang-format on
};

typedef struct Setup {
    mf_BenchRig rig;
    mf_Environment *environment;
    mf_EnvironmentBuffers buffers;
    float *actions; // TABLES of them
    void *memory[6];
    uint32_t memories;
    uint64_t steps;
    uint64_t done; // [1] steps since the start
} Setup;

// ---- the environment ---------------------------------------------------------------------------

static void close_setup(mf_BenchRig *rig) {
    Setup *setup = (Setup *)rig;
    mf_environment_destroy(setup->environment);
    for (uint32_t i = 0; i < setup->memories; i++)
        mf_release(setup->rig.context, setup->memory[i]);
    rig->world = NULL; // the environment's
}

static void *take(Setup *setup, size_t count, size_t size) {
    void *memory = mf_allocate(setup->rig.context, count, size);
    if (memory == NULL)
        setup->rig.status = mf_fail(&setup->rig.error, MF_NO_MEMORY, "bench: out of memory");
    else
        setup->memory[setup->memories++] = memory;
    return memory;
}

static void take_buffers(Setup *setup) {
    const mf_Environment *e = setup->environment;
    const size_t count = mf_environment_count(e);
    mf_EnvironmentBuffers *buffers = &setup->buffers;
    setup->actions = take(setup, TABLES * count * mf_environment_action_count(e), sizeof(float));
    buffers->observation = take(setup, count * mf_environment_observation_count(e), sizeof(float));
    buffers->reward = take(setup, count, sizeof(double));
    buffers->terminated = take(setup, count, 1);
    buffers->truncated = take(setup, count, 1);
    buffers->signals = take(setup, count * mf_environment_task(e)->signal_count, sizeof(double));
}

static void draw_actions(Setup *setup) {
    const mf_Environment *e = setup->environment;
    const uint32_t count = mf_environment_count(e), width = mf_environment_action_count(e);
    for (uint32_t a = 0; a < width; a++) {
        double lower, upper;
        mf_environment_action_range(e, a, &lower, &upper);
        for (uint32_t i = 0; i < TABLES * count; i++) {
            uint32_t words[4];
            mf_random(1, i, a, 0, words);
            double share = mf_random_unit_double(words[0], words[1]);
            setup->actions[(size_t)i * width + a] = (float)(lower + share * (upper - lower));
        }
    }
}

static void go(mf_BenchRig *rig) {
    Setup *setup = (Setup *)rig;
    const mf_Environment *e = setup->environment;
    const size_t table = (size_t)mf_environment_count(e) * mf_environment_action_count(e);
    for (uint64_t i = 0; setup->rig.status == MF_OK && i < setup->steps; i++) {
        setup->buffers.action = setup->actions + table * (setup->done++ % TABLES);
        setup->rig.status =
            mf_environment_step(setup->environment, &setup->buffers, &setup->rig.error);
    }
}

static void begin(mf_BenchRig *rig) {
    ((Setup *)rig)->done = 0;
}

static mf_Status make_environment(const Bench *bench, const mf_BenchOptions *options, Setup *setup,
                                  mf_Error *error) {
    char path[MF_APP_PATH];
    mf_EnvironmentConfig config = mf_environment_config();
    MF_TRY(mf_bench_rig_context(&setup->rig, options->threads, error));
    const char *file = bench->model != NULL ? mf_app_own(bench->model, path) : NULL;
    if (bench->bench.only_named && options->model == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: the file of the task is required: --model FILE",
                       bench->bench.name);
    if (bench->bench.only_named)
        file = options->model;
    if (file != NULL)
        MF_TRY(mf_model_load(setup->rig.context, file, NULL, &setup->rig.model, error));
    config.task = bench->task;
    config.model = setup->rig.model;
    config.motion = bench->motion;
    config.count = options->instances;
    config.double_precision = options->double_precision;
    config.observation_type = MF_F32;
    MF_TRY(mf_environment_create(setup->rig.context, &config, &setup->environment, error));
    take_buffers(setup);
    return setup->rig.status;
}

static mf_Status start(Setup *setup, mf_Error *error) {
    const uint32_t count = mf_environment_count(setup->environment);
    uint64_t *seeds = mf_allocate(setup->rig.context, count, sizeof *seeds);
    MF_NEED_MEMORY(seeds != NULL, error, "bench");
    for (uint32_t i = 0; i < count; i++)
        seeds[i] = i;
    draw_actions(setup);
    setup->rig.status =
        mf_environment_reset(setup->environment, NULL, seeds, &setup->buffers, &setup->rig.error);
    mf_release(setup->rig.context, seeds);
    setup->steps = SPREAD;
    go(&setup->rig);
    return setup->rig.status;
}

// ---- timing ------------------------------------------------------------------------------------

static mf_Status open_setup(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    Setup *setup = (Setup *)rig;
    MF_TRY(make_environment(bench, options, setup, error));
    mf_Status status = start(setup, error);
    if (rig->status != MF_OK)
        *error = rig->error;
    rig->world = mf_environment_world(setup->environment);
    rig->group = mf_environment_group(setup->environment);
    // Tasks with their own model use a quadrotor.
    rig->motion = bench->model == NULL && !bench->bench.only_named ? "quadrotor"
                                                                   : mf_motion_name(bench->motion);
    rig->contacts = bench->motion == MF_MOTION_POINTS ? "point.load" : "contact.load";
    rig->prepare = begin;
    rig->run = go;
    setup->steps = rig->steps;
    rig->dt = mf_environment_interval(setup->environment);
    return status;
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    return mf_bench_pack_group("task", ((const Bench *)rig->bench)->task, result, rig->group);
}

const mf_BenchKind mf_bench_environments = {
    MF_BENCH_ROWS(benches), .ignores = "generations", .rig_size = sizeof(Setup), .open = open_setup,
    .more = more,           .close = close_setup};
