// Benches of loading: reading a robot's file with its meshes, and building a world with one robot
// under full dynamics. Each repeat starts from scratch; the first is a warm-up. The files are those
// of the shared folder (MAYFLY_SHARED, or `shared` next to the source folder), or, if missing, one
// of Mayfly's.
#include "bench_time.h"

#include <stdio.h>

typedef struct Bench {
    mf_Bench bench;   // its `needs`: the robot
    uint32_t repeats; // [1]
} Bench;

static const Bench benches[] = {
    {{"model-humanoid", "models/mujoco_models/humanoid.xml", false, 1, 1, 0}, 25},
    {{"model-t1", "models/booster_t1/t1.xml", false, 1, 1, 0}, 11}};

typedef struct Times {
    double load[MF_BENCH_REPEATS], compile[MF_BENCH_REPEATS], both[MF_BENCH_REPEATS]; // [s]
    uint64_t hash; // [1] of the model
} Times;

static mf_Status run_once(mf_Context *context, const char *path, Times *times, uint32_t at,
                          mf_Error *error) {
    mf_Model *model = NULL;
    mf_SceneFile *file = NULL;
    mf_Scene scene = {0};
    double started = mf_clock_seconds(), loaded;
    MF_TRY(mf_model_load(context, path, NULL, &model, error));
    loaded = mf_clock_seconds();
    mf_Status status = mf_scene_file_of_model(context, model, NULL, 0, &file, error);
    MF_THEN(status, mf_scene_create(context, file, NULL, &scene, error));
    times->load[at] = loaded - started;
    times->compile[at] = mf_clock_seconds() - loaded;
    times->both[at] = times->load[at] + times->compile[at];
    times->hash = mf_model_hash(model);
    mf_scene_destroy(&scene);
    mf_scene_file_destroy(file);
    mf_model_destroy(model);
    return status;
}

static bool print(const mf_BenchOptions *options, const char *name, const char *path, Times *times,
                  uint32_t repeats, bool json) {
    double both = mf_bench_median(times->both, repeats), slowest = times->both[repeats - 1];
    double load = mf_bench_median(times->load, repeats),
           compile = mf_bench_median(times->compile, repeats);
    if (json)
        return mf_bench_print_line(
            options,
            json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:o}", "bench", name,
                      "file", path, "motion", "articulated", "instances", (json_int_t)1, "threads",
                      (json_int_t)1, "steps", (json_int_t)0, "seconds", mf_json_real(both),
                      "load_seconds", mf_json_real(load), "compile_seconds", mf_json_real(compile),
                      "slowest_seconds", mf_json_real(slowest), "repeats", (json_int_t)repeats,
                      "hash", mf_app_hash(times->hash)));
    printf("%-18s load %8.3f ms, compile %8.3f ms, both %8.3f ms (slowest %.3f)  %016llx\n", name,
           1e3 * load, 1e3 * compile, 1e3 * both, 1e3 * slowest, (unsigned long long)times->hash);
    return mf_app_flush();
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    char path[MF_APP_PATH];
    mf_ContextConfig config = mf_context_config();
    mf_Context *context = NULL;
    mf_Error error = {0};
    Times times = {.hash = 0};
    uint32_t repeats = options->repeats != 0 ? options->repeats : bench->repeats;
    mf_bench_robot(bench->bench.name, bench->bench.needs, "models/figure.xml", path);
    config.threads = 1;
    mf_Status status = mf_context_create(&config, &context, &error);
    MF_THEN(status, run_once(context, path, &times, 0, &error));
    for (uint32_t i = 0; status == MF_OK && i < repeats && !mf_app_stop_requested(); i++)
        status = run_once(context, path, &times, i, &error);
    mf_context_destroy(context);
    return mf_bench_end(status, &error,
                        status == MF_OK &&
                            print(options, bench->bench.name, path, &times, repeats, json));
}

const mf_BenchKind mf_bench_models = {
    MF_BENCH_ROWS(benches), .ignores = "threads instances steps precision model generations",
    .run = run};
