// A small search in a folder of its own, and the page that is written of it.
#ifndef MAYFLY_TESTS_VIEW_RUN_H
#define MAYFLY_TESTS_VIEW_RUN_H

#include "rig/rig.h"

typedef struct Run {
    mf_SceneFile *file;
    mf_Archive *archive;
    char folder[64];
    const char *path, *report; // in the folder
} Run;

static inline Run begin_run(void) {
    Run run = {.folder = "/tmp/mayfly-report-XXXXXX"};
    assert_non_null(mkdtemp(run.folder));
    run.path = formatted("%s/archive.sqlite", run.folder);
    run.report = formatted("%s/report.html", run.folder);
    return run;
}

static inline void remove_run(Run *run) {
    mf_archive_close(run->archive);
    mf_scene_file_destroy(run->file);
    assert_int_equal(system(formatted("rm -r '%s'", run->folder)), 0);
}
#define AUTO_RUN AUTO(remove_run) Run

static inline void evolve_run(mf_Context *context, Run *run, const char *text, int generations) {
    AUTO_SCENE scene = {0};
    AUTO_SEARCH *search = NULL;
    MUST(mf_scene_file_parse(context, "small.yaml", text, strlen(text), NULL, 0, &run->file,
                             &error));
    MUST(mf_scene_create(context, run->file,
                         &WITH(mf_scene_config(), .evaluates = true,
                               .count = mf_search_evaluated_at_once(&run->file->search)),
                         &scene, &error));
    mf_SearchConfig config = WITH(run->file->search, .genome_bytes = mf_scene_genome_bytes(&scene),
                                  .evaluate = mf_scene_evaluate, .user = &scene);
    config.describe = config.descriptor_count > 0 ? mf_scene_describe : NULL;
    config.describe_user = &scene;
    MUST(mf_search_create(context, &config, &search, &error));
    MUST(mf_archive_create(context, run->path, &config, text, 1, 2, &run->archive, &error));
    for (int i = 0; i < generations; i++) {
        MUST(mf_search_advance(search, &error));
        MUST(mf_archive_append(run->archive, search, i, 16.0 * (i + 1), &error));
    }
}

static inline mf_Status write_report(mf_Context *context, const Run *run, mf_Error *error) {
    const mf_ReportFacts facts = {.threads = 1,
                                  .isa = "any",
                                  .wall_seconds = 1.5,
                                  .simulated = 48.0,
                                  .hash = 7,
                                  .command = "mayfly evolve small.yaml"};
    return mf_report_write(context, run->archive, run->file, &facts, run->report, NULL, error);
}

// The page of a run; the caller frees it.
static inline char *page_of(mf_Context *context, const Run *run) {
    MUST(write_report(context, run, &error));
    return file_get(run->report, NULL);
}

// One failed call at a time, every `stride`-th; a report exists only when all went well.
static inline void check_failing_reports(mf_Context *context, const Run *run, uint64_t stride) {
    bool reached = true;
    for (uint64_t n = 1; reached; n += stride) {
        mf_Error error = {0};
        const uint64_t before = mf_context_call_count(context);
        const size_t live = mf_context_live_bytes(context);
        mf_context_fail_after(context, n);
        const mf_Status status = write_report(context, run, &error);
        mf_context_fail_after(context, 0);
        reached = mf_context_call_count(context) - before >= n;
        assert_int_equal(mf_context_live_bytes(context), live);
        const bool exists = access(run->report, F_OK) == 0;
        assert_true(status == MF_OK ? !reached || exists : error.message[0] != '\0' && !exists);
        unlink(run->report);
    }
}

#endif
