// A fixture for tests of environments: an environment with a model given as text, and its buffers.
#pragma once

#include "rig/rig.h"

#include "math/scalar.h"

#include "environment/models.h"

#define EXACT 1e-12 // [1] sums of a few dozen values of the order of 1, in another order

typedef struct Rig {
    mf_Context *context;
    mf_Model *model;
    mf_Environment *environment;
    mf_Group *group;
    const mf_TaskInfo *task;
    uint32_t count, seen, actions, signals; // numbers of robots and of their values
    mf_EnvironmentBuffers buffers;
    float *action; // what buffers.action points to
} Rig;

static inline const char *text_of(const char *task) {
    for (int i = 0; i < TASKS; i++)
        if (strcmp(task_models[i].task, task) == 0)
            return task_models[i].text;
    fail_msg("no model for task %s", task);
    return NULL;
}

static inline mf_EnvironmentConfig rig_config(const char *task, uint32_t count) {
    return WITH(mf_environment_config(), .task = task, .count = count, .double_precision = true);
}

// Episodes that end, and do not start anew by themselves, with these settings of the task.
static inline mf_EnvironmentConfig single_config(const char *task, uint32_t count,
                                                 const mf_TaskSetting *settings,
                                                 uint32_t setting_count) {
    return WITH(rig_config(task, count), .autoreset = MF_AUTORESET_OFF, .settings = settings,
                .setting_count = setting_count);
}

static inline void *zeros(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size);
    assert_non_null(memory);
    return memory;
}

// On rig->context and with rig->model, or the task's own where that is NULL.
static inline void rig_build(Rig *rig, const mf_EnvironmentConfig *config) {
    mf_EnvironmentConfig whole = WITH(*config, .model = rig->model);
    rig->count = config->count;
    MUST(mf_environment_create(rig->context, &whole, &rig->environment, &error));
    rig->group = mf_environment_group(rig->environment);
    rig->task = mf_environment_task(rig->environment);
    rig->seen = mf_environment_observation_count(rig->environment);
    rig->actions = mf_environment_action_count(rig->environment);
    rig->signals = rig->task->signal_count;
    rig->action = zeros((size_t)rig->count * rig->actions, sizeof *rig->action);
    rig->buffers =
        (mf_EnvironmentBuffers){.action = rig->action,
                                .observation = zeros((size_t)rig->count * rig->seen, 8),
                                .reward = zeros(rig->count, sizeof(double)),
                                .terminated = zeros(rig->count, 1),
                                .truncated = zeros(rig->count, 1),
                                .final_observation = zeros((size_t)rig->count * rig->seen, 8),
                                .signals = zeros((size_t)rig->count * rig->signals, 8),
                                .final_signals = zeros((size_t)rig->count * rig->signals, 8)};
}

// `config` without its model, which is this text or file, or the task's own where that is NULL.
static inline Rig rig_open(const char *model, mf_EnvironmentConfig config, uint32_t threads) {
    Rig rig = {.context = open_context(threads)};
    if (model != NULL && model[0] == '<')
        rig.model = load_text(rig.context, model);
    else if (model != NULL)
        MUST(mf_model_load(rig.context, model, NULL, &rig.model, &error));
    rig_build(&rig, &config);
    return rig;
}

static inline void rig_close(Rig *rig) {
    free(rig->action);
    free(rig->buffers.observation);
    free(rig->buffers.reward);
    free(rig->buffers.terminated);
    free(rig->buffers.truncated);
    free(rig->buffers.final_observation);
    free(rig->buffers.signals);
    free(rig->buffers.final_signals);
    mf_environment_destroy(rig->environment);
    mf_model_destroy(rig->model);
    close_context(rig->context);
}
#define AUTO_RIG AUTO(rig_close) Rig

// Robot i gets the seed first + i.
static inline void rig_reset(Rig *rig, uint64_t first) {
    AUTO(end_memory) uint64_t *seeds = zeros(rig->count, sizeof *seeds);
    for (uint32_t i = 0; i < rig->count; i++)
        seeds[i] = first + i;
    MUST(mf_environment_reset(rig->environment, NULL, seeds, &rig->buffers, &error));
}

// The same with one thread, after a reset.
static inline Rig rig_begin(const char *model, mf_EnvironmentConfig config, uint64_t first) {
    Rig rig = rig_open(model, config, 1);
    rig_reset(&rig, first);
    return rig;
}

static inline void rig_step(Rig *rig) {
    MUST(mf_environment_step(rig->environment, &rig->buffers, &error));
}

// Actions of robot number `number` in step `step`: in its range, never the same again.
static inline void rig_act(Rig *rig, uint32_t robot, uint32_t number, uint32_t step) {
    for (uint32_t a = 0; a < rig->actions; a++) {
        double lower, upper;
        mf_environment_action_range(rig->environment, a, &lower, &upper);
        double wish = 0.5 + 0.5 * random_signed(900 + number, step * 32ull + a);
        rig->action[(size_t)robot * rig->actions + a] = (float)(lower + (upper - lower) * wish);
    }
}

// A step in which robot i acts as number first + i.
static inline void rig_go(Rig *rig, uint32_t first, uint32_t step) {
    for (uint32_t i = 0; i < rig->count; i++)
        rig_act(rig, i, first + i, step);
    rig_step(rig);
}

static inline void act_and_step(Rig *rig, uint32_t step) {
    rig_go(rig, 0, step);
}

// The sum of the squares of a robot's actions.
static inline double effort(const Rig *rig, uint32_t robot) {
    double sum = 0.0;
    for (uint32_t a = 0; a < rig->actions; a++)
        sum += pow((double)rig->action[(size_t)robot * rig->actions + a], 2.0);
    return sum;
}

static inline const double *rig_observation(const Rig *rig, uint32_t robot) {
    return (const double *)rig->buffers.observation + (size_t)robot * rig->seen;
}

static inline double rig_field(const Rig *rig, const char *name, uint32_t robot,
                               uint32_t component) {
    return get_field(rig->group, name, robot, component);
}

// The same in the state that the last physics step looked at last: Runge and Kutta's last stage.
static inline double rig_observed(const Rig *rig, const char *name, uint32_t robot,
                                  uint32_t component) {
    const uint32_t joints = rig->model->joint_count;
    const struct {
        const char *name;
        uint32_t first;
    } parts[] = {{"base.position", 0},
                 {"base.orientation", 3},
                 {"joint.angle", 13},
                 {"joint.rate", 13 + joints}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, name) == 0)
            return rig_field(rig, "stage.state", robot, parts[i].first + component);
    fail_msg("%s is not in stage.state", name);
    return 0.0;
}

// The base's axes in the world: row-major, body to world.
static inline void base_matrix(const Rig *rig, uint32_t robot, double matrix[9]) {
    double rotation[4];
    get_fields(rig->group, "base.orientation", robot, 4, rotation);
    mf_quat_to_matrix(matrix, rotation);
}

static inline uint32_t rig_signal(const Rig *rig, const char *name) {
    for (uint32_t i = 0; i < rig->signals; i++)
        if (strcmp(rig->task->signals[i], name) == 0)
            return i;
    fail_msg("task %s has no signal %s", rig->task->name, name);
    return 0;
}

// What becomes of robot number first + i, and of its values in the buffers, in some steps.
typedef struct Path {
    uint64_t hash;     // of the buffers
    uint64_t instance; // of the state at the end
} Path;

static inline void rig_walk(Rig *rig, uint32_t first, uint32_t steps, Path *out) {
    const mf_EnvironmentBuffers *buffers = &rig->buffers;
    rig_reset(rig, 1000 + first);
    for (uint32_t i = 0; i < rig->count; i++)
        out[i].hash = MF_HASH_START;
    for (uint32_t n = 0; n < steps; n++) {
        rig_go(rig, first, n);
        for (uint32_t i = 0; i < rig->count; i++) {
            uint64_t hash = mf_hash_bytes(out[i].hash, rig_observation(rig, i), 8 * rig->seen);
            hash = mf_hash_bytes(hash, buffers->signals + i * rig->signals, 8 * rig->signals);
            hash = mf_hash_bytes(hash, &buffers->reward[i], sizeof(double));
            hash = mf_hash_bytes(hash, &buffers->terminated[i], 1);
            out[i].hash = mf_hash_bytes(hash, &buffers->truncated[i], 1);
        }
    }
    for (uint32_t i = 0; i < rig->count; i++)
        out[i].instance = mf_group_instance_hash(rig->group, i);
}

static inline double rig_commanded(const Rig *rig, uint32_t robot, const char *name) {
    return rig->buffers.signals[(size_t)robot * rig->signals + rig_signal(rig, name)];
}
