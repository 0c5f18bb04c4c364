// A fixture for tests of environments: an environment with a model given as text, and its buffers.
#ifndef MAYFLY_TESTS_ENVIRONMENT_SUPPORT_H
#define MAYFLY_TESTS_ENVIRONMENT_SUPPORT_H

#include "rig/rig.h"

#include "environment/models.h"

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
    mf_EnvironmentConfig config =
        WITH(mf_environment_config(), .task = task, .count = count, .double_precision = true);
    return config;
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

// `config` without its model, which is `text`.
static inline Rig rig_open(const char *text, const mf_EnvironmentConfig *config, uint32_t threads) {
    Rig rig = {.context = open_context(threads)};
    rig.model = load_text(rig.context, text);
    rig_build(&rig, config);
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

static inline const double *rig_observation(const Rig *rig, uint32_t robot) {
    return (const double *)rig->buffers.observation + (size_t)robot * rig->seen;
}

static inline double rig_field(const Rig *rig, const char *name, uint32_t robot,
                               uint32_t component) {
    const mf_Field *field = mf_group_find_field(rig->group, name);
    if (field == NULL)
        fail_msg("no field %s", name);
    return mf_field_get(field, robot, component);
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

static inline uint32_t rig_signal(const Rig *rig, const char *name) {
    for (uint32_t i = 0; i < rig->signals; i++)
        if (strcmp(rig->task->signals[i], name) == 0)
            return i;
    fail_msg("task %s has no signal %s", rig->task->name, name);
    return 0;
}

static inline double rig_commanded(const Rig *rig, uint32_t robot, const char *name) {
    return rig->buffers.signals[(size_t)robot * rig->signals + rig_signal(rig, name)];
}

#endif
