// Benches of vector environments: random actions, float observations, and restarted episodes. A
// step is one of the environment, with several physics steps. All repeats start from the same
// snapshot and must end with the same hash; the first is a warm-up.
#include "bench_time.h"

#include <mayfly/environment.h>
#include <stdio.h>

enum { TABLES = 16, SPREAD = 64 }; // [1] tables of actions, steps that mix episodes before timing

typedef struct Bench {
    mf_Bench bench; // tasks of Gymnasium run when named: their files are not part of Mayfly
    const char *task;
    const char *model; // NULL: the task's own, or --model for tasks of Gymnasium
    mf_Motion motion;
    uint32_t steps; // [1]
} Bench;

static const Bench benches[] = {
    // clang-format off
    {{"environment-hexapod-points", NULL, false},
     "hexapod", "models/hexapod.urdf", MF_MOTION_POINTS, 500},
    {{"environment-hexapod", NULL, false},
     "hexapod", "models/hexapod.urdf", MF_MOTION_ARTICULATED, 50},
    // clang-format on
    {{"environment-quadrotor", NULL, false}, "quadrotor", NULL, MF_MOTION_ARTICULATED, 1000},
    {{"environment-swarm", NULL, false}, "swarm", NULL, MF_MOTION_ARTICULATED, 500},
    {{"environment-ant", NULL, true}, "ant", NULL, MF_MOTION_ARTICULATED, 50},
    {{"environment-half-cheetah", NULL, true}, "half_cheetah", NULL, MF_MOTION_ARTICULATED, 100},
    {{"environment-hopper", NULL, true}, "hopper", NULL, MF_MOTION_ARTICULATED, 100},
    {{"environment-humanoid", NULL, true}, "humanoid", NULL, MF_MOTION_ARTICULATED, 20},
    {{"environment-walker2d", NULL, true}, "walker2d", NULL, MF_MOTION_ARTICULATED, 100},
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

static void go(void *user) {
    Setup *setup = user;
    const mf_Environment *e = setup->environment;
    const size_t table = (size_t)mf_environment_count(e) * mf_environment_action_count(e);
    for (uint64_t i = 0; setup->rig.status == MF_OK && i < setup->steps; i++) {
        setup->buffers.action = setup->actions + table * (setup->done++ % TABLES);
        setup->rig.status =
            mf_environment_step(setup->environment, &setup->buffers, &setup->rig.error);
    }
}

static void begin(void *user) {
    Setup *setup = user;
    setup->done = 0;
}

static mf_Status make_environment(const Bench *bench, const mf_BenchOptions *options, Setup *setup,
                                  mf_Error *error) {
    char path[MF_APP_PATH];
    mf_EnvironmentConfig config = mf_environment_config();
    mf_Status status = mf_bench_rig_context(&setup->rig, options->threads, error);
    const char *file = bench->model != NULL ? mf_app_own(bench->model, path) : NULL;
    if (bench->bench.only_named && options->model == NULL)
        status = mf_fail(error, MF_BAD_ARGUMENT,
                         "%s: the file of the task is required: --model FILE", bench->bench.name);
    if (bench->bench.only_named)
        file = options->model;
    if (status == MF_OK && file != NULL)
        status = mf_model_load(setup->rig.context, file, NULL, &setup->rig.model, error);
    if (status != MF_OK)
        return status;
    config.task = bench->task;
    config.model = setup->rig.model;
    config.motion = bench->motion;
    config.count = options->instances != 0 ? options->instances : 4096;
    config.double_precision = options->double_precision;
    config.observation_type = MF_F32;
    status = mf_environment_create(setup->rig.context, &config, &setup->environment, error);
    if (status == MF_OK)
        take_buffers(setup);
    return status == MF_OK ? setup->rig.status : status;
}

static mf_Status start(Setup *setup, mf_Error *error) {
    const uint32_t count = mf_environment_count(setup->environment);
    uint64_t *seeds = mf_allocate(setup->rig.context, count, sizeof *seeds);
    MF_ALLOCATED(seeds != NULL, error, "bench");
    for (uint32_t i = 0; i < count; i++)
        seeds[i] = i;
    draw_actions(setup);
    setup->rig.status =
        mf_environment_reset(setup->environment, NULL, seeds, &setup->buffers, &setup->rig.error);
    mf_release(setup->rig.context, seeds);
    setup->steps = SPREAD;
    go(setup);
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
    rig->work = (mf_BenchWork){.steps = options->steps != 0 ? options->steps : bench->steps,
                               .prepare = begin,
                               .run = go,
                               .user = setup};
    setup->steps = rig->work.steps;
    rig->dt = mf_environment_interval(setup->environment);
    return status;
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    return mf_bench_pack_group("task", ((const Bench *)rig->bench)->task, result, rig->group);
}

const mf_BenchKind mf_bench_environments = {
    MF_BENCH_ROWS(benches), .ignores = "generations", .rig_size = sizeof(Setup), .open = open_setup,
    .more = more,           .close = close_setup};
