// Common code of the tests of scripts: a scene that is run as far as its scripts come, and what
// they print.
#pragma once

#include "scene/script/script.h"
#include "scene/support.h"

typedef struct Run {
    mf_Context *context;
    mf_SceneFile *file;
    mf_Scene scene;
    mf_Status status; // of the last call
    mf_Error error;
    char printed[4000];
} Run;

static inline void take_line(const char *script, const char *line, void *user) {
    Run *run = user;
    const size_t used = strlen(run->printed);
    snprintf(run->printed + used, sizeof run->printed - used, "%s: %s\n", script, line);
}

// Both are taken over.
static inline Run *open_run(mf_Context *context, mf_SceneFile *file) {
    Run *run = calloc(1, sizeof *run);
    run->context = context;
    run->file = file;
    run->status = mf_scene_create(context, file, NULL, &run->scene, &run->error);
    mf_scene_on_print(&run->scene, take_line, run);
    return run;
}

static inline void close_run(Run **run) {
    drop_scene(&(*run)->scene, (*run)->file);
    close_context((*run)->context);
    free(*run);
}
#define AUTO_RUN AUTO(close_run) Run

static inline void expect_good(const Run *run) {
    if (run->status != MF_OK)
        fail_with(&run->error);
}

// `finish` is not called.
static inline uint64_t step_run(Run *run, uint64_t steps) {
    uint64_t done = 0;
    if (run->status == MF_OK)
        run->status = mf_scene_step(&run->scene, steps, &done, &run->error);
    return done;
}
