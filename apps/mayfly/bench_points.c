// Benches of `points`. A plain run: random machine-code programs and sensors on rough
// ground; every repeat starts from the same snapshot, so it does the same work and must end with
// the same hash. The first repeat is a warm-up. An evolution is timed once, including its archive:
// that of the paper at `points`, and a whole run of machines (scenes/golem.yaml).
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_time.h"

#define GENOME_STREAM 0x62656e63u // separates these random numbers from all others

#define WALKERS(model)                                                                             \
    "groups:\n"                                                                                    \
    "  - name: walkers\n"                                                                          \
    "    model: ../models/" model "\n"                                                             \
    "    motion: points\n"                                                                         \
    "    contact: {shapes: false, self: false}\n"                                                  \
    "    controller: gp\n"

#define ROUGH                                                                                      \
    "name: bench\n"                                                                                \
    "world: {step: 0.01}\n"                                                                        \
    "ground: {shape: noise, amplitude: 0.03, wavelength: 1, octaves: 4, seed: 7, interpolation: "  \
    "nearest}\n"

static const char hexapod_scene[] = ROUGH WALKERS("hexapod.urdf");
static const char quadruped_scene[] = ROUGH WALKERS("quadruped.urdf");
static const char paper_scene[] =
    "name: bench\n"
    "world: {step: 0.01, seed: 1}\n"
    "ground: {shape: flat}\n" WALKERS("hexapod.urdf") "run: {duration: 120}\n"
                                                      "search: {population: 100, survivors: 50}\n";

typedef struct Bench {
    mf_Bench bench;
    const char *scene;    // text, whose files are relative to scenes/; or the name of a file
    uint32_t threads;     // [1] 0 = all processors
    uint32_t instances;   // [1]
    uint64_t steps;       // [1] per robot
    uint32_t generations; // [1] of an evolution
} Bench;

static const Bench runs[] = {
    {{"points-hexapod", NULL, false}, hexapod_scene, 1, 1024, 4000, 0},
    {{"points-quadruped", NULL, false}, quadruped_scene, 1, 1024, 8000, 0},
    {{"points-single", NULL, false}, hexapod_scene, 1, 1, 1000000, 0},
    {{"points-hexapod-1m", NULL, true}, hexapod_scene, 1, 1000000, 40, 0},
};

static const Bench evolutions[] = {
    {{"evolve-paper", NULL, false}, paper_scene, 0, 100, 12000, 50},
    {{"evolve-golem", NULL, true}, "scenes/golem.yaml", 0, 200, 0, 600},
};

// ---- scenes ------------------------------------------------------------------------------------

// Machines are always in double.
static mf_Status read_file(const Bench *bench, uint32_t threads, mf_BenchRig *setup,
                           mf_Error *error) {
    char path[MF_APP_PATH], *text = NULL;
    size_t size;
    mf_Context *context;
    mf_Status status = mf_context_create(NULL, &context, error);
    MF_THEN(status,
            mf_file_read(context, mf_app_find(bench->scene, path), 1 << 20, &text, &size, error));
    MF_THEN(status, mf_bench_rig_parse(setup, threads, text, NULL, 0, error));
    mf_release(context, text);
    mf_context_destroy(context);
    return status;
}

static mf_Status open_scene(const Bench *bench, const mf_BenchOptions *options, mf_BenchRig *setup,
                            mf_Error *error) {
    mf_SceneConfig scene = mf_scene_config();
    const uint32_t threads = options->threads != 0 ? options->threads : bench->threads;
    const bool file = strchr(bench->scene, '\n') == NULL;
    mf_Override override = {"group.precision", options->double_precision ? "double" : "float"};
    MF_TRY(file ? read_file(bench, threads, setup, error)
                : mf_bench_rig_parse(setup, threads, bench->scene, &override, 1, error));
    scene.evaluates = true;
    scene.count = options->instances != 0 ? options->instances : bench->instances;
    if (bench->generations != 0) {
        setup->file->search.population = scene.count;
        setup->file->search.survivors = scene.count / 2;
    }
    return mf_bench_rig_scene(setup, &scene, error);
}

static void random_programs(void *user) {
    mf_BenchRig *setup = user;
    for (uint32_t robot = 0; robot < mf_group_count(setup->scene.group); robot++) {
        uint8_t program[MF_GP_BYTES];
        for (uint32_t i = 0; i < MF_GP_BYTES; i += 4) {
            uint32_t words[4];
            mf_random(1, robot, GENOME_STREAM, i, words);
            for (uint32_t k = 0; k < 4; k++)
                program[i + k] = (uint8_t)(words[k] >> 24);
        }
        mf_scene_apply_genome(&setup->scene, robot, program);
    }
}

// ---- plain runs --------------------------------------------------------------------------------

static mf_Status open_plain(mf_BenchRig *setup, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = setup->bench;
    mf_Status status = open_scene(bench, options, setup, error);
    setup->motion = mf_motion_name(setup->scene.motion);
    setup->contacts = "point.load";
    setup->work = (mf_BenchWork){.image = setup->scene.start,
                                 .size = setup->scene.start_size,
                                 .steps = options->steps != 0 ? options->steps : bench->steps,
                                 .prepare = random_programs,
                                 .user = setup};
    return status;
}

static json_t *more(mf_BenchRig *setup, const mf_BenchResult *result) {
    const char *model = mf_group_config_of(setup->group)->model->name;
    json_t *line = mf_bench_pack_group("model", model, result, setup->group);
    json_object_set_new(line, "best", mf_json_real(result->best));
    return line;
}

const mf_BenchKind mf_bench_points = {MF_BENCH_ROWS(runs), .ignores = "model generations",
                                      .rig_size = sizeof(mf_BenchRig), .open = open_plain,
                                      .more = more};

// ---- evolutions --------------------------------------------------------------------------------

static mf_Status evolve_all(mf_BenchRig *setup, const char *path, uint32_t generations,
                            mf_Search *search, mf_Error *error) {
    mf_Archive *archive;
    MF_TRY(mf_archive_create(setup->context, path, mf_search_config_of(search), "", 0, 0, &archive,
                             error));
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < generations && status == MF_OK; i++) {
        if (mf_app_stop_requested())
            status = mf_fail(error, MF_STOPPED, "stopped");
        MF_THEN(status, mf_search_advance(search, error));
        MF_THEN(status, mf_archive_append(archive, search, 0.0, 0.0, error));
    }
    mf_archive_close(archive);
    return status;
}

static mf_Status time_evolution(const Bench *bench, const mf_BenchOptions *options,
                                mf_BenchRig *setup, mf_BenchResult *result, mf_Error *error) {
    const char *root = getenv("TMPDIR");
    char folder[MF_APP_PATH], path[MF_APP_PATH + 16];
    uint32_t generations = options->generations != 0 ? options->generations : bench->generations;
    result->dt = mf_time_to_seconds(setup->scene.step);
    if (options->steps != 0)
        setup->file->duration = (double)options->steps * result->dt;
    mf_SearchConfig config = setup->file->search;
    config.genome_bytes = mf_scene_genome_bytes(&setup->scene);
    config.evaluate = mf_scene_evaluate;
    config.user = &setup->scene;
    mf_Search *search;
    snprintf(folder, sizeof folder, "%s/mayfly-bench-XXXXXX", root == NULL ? "/tmp" : root);
    if (mkdtemp(folder) == NULL)
        return mf_fail_at(error, MF_IO, folder, 0, 0, "cannot create a temporary folder");
    snprintf(path, sizeof path, "%s/archive", folder);
    double started = mf_clock_seconds();
    mf_Status status = mf_search_create(setup->context, &config, &search, error);
    if (status == MF_OK) {
        status = evolve_all(setup, path, generations, search, error);
        result->seconds = result->slowest = mf_clock_seconds() - started;
        if (status == MF_OK) {
            result->hash = mf_search_hash(search);
            result->best = mf_search_best(search);
        }
        mf_search_destroy(search);
    }
    unlink(path);
    rmdir(folder);
    result->repeats = 1;
    result->threads = mf_context_threads(setup->context);
    result->isa = mf_world_isa(setup->scene.world);
    result->steps = generations * mf_scene_steps(&setup->scene);
    return status;
}

static int run_evolution(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    mf_BenchRig setup = {0};
    mf_Error error = {0};
    mf_BenchResult result = {.best = NAN};
    mf_Status status = open_scene(bench, options, &setup, &error);
    MF_THEN(status, time_evolution(bench, options, &setup, &result, &error));
    bool written = false;
    if (status == MF_OK) {
        mf_bench_describe(&result, setup.group, "point.load");
        written = json ? mf_bench_print_json(options, bench->bench.name,
                                             mf_motion_name(setup.scene.motion), &result,
                                             more(&setup, &result))
                       : mf_bench_print_row(bench->bench.name, &result, setup.group);
    }
    mf_bench_rig_free(&setup);
    return mf_bench_end(status, &error, written);
}

const mf_BenchKind mf_bench_evolutions = {MF_BENCH_ROWS(evolutions), .ignores = "model repeats",
                                          .run = run_evolution};
