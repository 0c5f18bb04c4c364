// The file of a sweep: a scene, seeds, and settings.
#pragma once

#include "io/yaml.h"

#include "app.h"

enum { MF_SWEEP_SETTINGS = 1000, MF_SWEEP_SEEDS = 10000, MF_SWEEP_VALUES = 64 }; // [1] most

// One key of a scene with its value.
typedef struct mf_SweepValue {
    const char *path;        // "search.islands"
    const char *value;       // as YAML text on one line
    const char *word;        // "search.islands=4"
    const mf_YamlNode *node; // in the file
} mf_SweepValue;

typedef struct mf_SweepSetting {
    const char *name;        // of its folder
    const mf_YamlNode *node; // for messages
    mf_SweepValue values[MF_SWEEP_VALUES];
    uint32_t common; // [1] values that all settings have, first
    uint32_t count;  // [1] of all values
} mf_SweepSetting;

typedef struct mf_SweepPlan {
    mf_Context *context;
    mf_YamlTree tree;
    const char *file;  // borrowed
    const char *scene; // path
    uint64_t *seeds;
    uint32_t seed_count; // [1]
    mf_SweepSetting *settings;
    uint32_t setting_count; // [1]
} mf_SweepPlan;

// Reads the file; `extra` (path=value, at most MF_SWEEP_VALUES) replace values of `set`. Errors
// have file and line. After a failure, too, the caller frees the plan.
mf_Status mf_sweep_plan_load(mf_Context *context, const char *file, const char *const *extra,
                             uint32_t extra_count, mf_SweepPlan *out, mf_Error *error);
void mf_sweep_plan_free(mf_SweepPlan *plan);
