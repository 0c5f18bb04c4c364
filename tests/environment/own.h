// Common code of the tests of tasks with Mayfly's own robots.
#ifndef MAYFLY_TESTS_ENVIRONMENT_OWN_H
#define MAYFLY_TESTS_ENVIRONMENT_OWN_H

#include "environment/support.h"

#include "math/scalar.h"

#define EXACT 1e-12 // [1] sums of a few dozen values of the order of 1, in another order

static inline Rig open_task(const char *file, const mf_EnvironmentConfig *config,
                            uint32_t threads) {
    Rig rig = {.context = open_context(threads)};
    if (file != NULL)
        MUST(mf_model_load(rig.context, file, NULL, &rig.model, &error));
    rig_build(&rig, config);
    return rig;
}

static inline void act_and_step(Rig *rig, uint32_t n) {
    for (uint32_t i = 0; i < rig->count; i++)
        rig_act(rig, i, i, n);
    rig_step(rig);
}

static inline void read_field(const Rig *rig, const char *name, uint32_t robot, uint32_t count,
                              double *out) {
    for (uint32_t c = 0; c < count; c++)
        out[c] = rig_field(rig, name, robot, c);
}

static inline void expect_near(double found, double expected, double most) {
    if (!(fabs(found - expected) <= most))
        fail_msg("expected %.17g, found %.17g", expected, found);
}

// The base's axes in the world: row-major, body to world.
static inline void base_matrix(const Rig *rig, uint32_t robot, double matrix[9]) {
    double rotation[4];
    read_field(rig, "base.orientation", robot, 4, rotation);
    mf_quat_to_matrix(matrix, rotation);
}

static inline mf_EnvironmentConfig flyer_config(const char *task, uint32_t count,
                                                const mf_TaskSetting *settings,
                                                uint32_t setting_count) {
    return WITH(rig_config(task, count), .autoreset = MF_AUTORESET_OFF, .settings = settings,
                .setting_count = setting_count);
}

#endif
