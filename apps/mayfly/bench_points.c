// Benches of `points`. A plain run: random machine-code programs and sensors on rough
// ground; every repeat starts from the same snapshot, so it does the same work and must end with
// the same hash. The first repeat is a warm-up. An evolution is timed once, including its archive:
// that of the paper at `points`, and a whole run of machines (scenes/golem.yaml).
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
    uint32_t generations; // [1] of an evolution
} Bench;

static const Bench runs[] = {
    {{"points-hexapod", NULL, false, 1, 1024, 4000}, hexapod_scene, 0},
    {{"points-quadruped", NULL, false, 1, 1024, 8000}, quadruped_scene, 0},
    {{"points-single", NULL, false, 1, 1, 1000000}, hexapod_scene, 0},
    {{"points-hexapod-1m", NULL, true, 1, 1000000, 40}, hexapod_scene, 0},
};

// As many steps as the scene says.
static const Bench evolutions[] = {
    {{"evolve-paper", NULL, false, MF_BENCH_ALL, 100, 0}, paper_scene, 50},
    {{"evolve-golem", NULL, true, MF_BENCH_ALL, 200, 0}, "scenes/golem.yaml", 600},
};

// ---- scenes ------------------------------------------------------------------------------------

// Machines are always in double.
static mf_Status read_file(mf_BenchRig *rig, const char *scene, uint32_t threads, mf_Error *error) {
    char path[MF_APP_PATH], *text = NULL;
    size_t size;
    mf_Context *context;
    MF_TRY(mf_context_create(NULL, &context, error));
    mf_Status status =
        mf_file_read(context, mf_app_find(scene, path), 1 << 20, &text, &size, error);
    MF_THEN(status, mf_bench_rig_parse(rig, threads, text, NULL, 0, error));
    mf_release(context, text);
    mf_context_destroy(context);
    return status;
}

static mf_Status open_scene(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    mf_SceneConfig scene = mf_scene_config();
    const mf_Override override = {"group.precision",
                                  options->double_precision ? "double" : "float"};
    MF_TRY(strchr(bench->scene, '\n') == NULL
               ? read_file(rig, bench->scene, options->threads, error)
               : mf_bench_rig_parse(rig, options->threads, bench->scene, &override, 1, error));
    scene.evaluates = true;
    scene.count = options->instances;
    if (bench->generations != 0) {
        rig->file->search.population = scene.count;
        rig->file->search.survivors = scene.count / 2;
    }
    MF_TRY(mf_bench_rig_scene(rig, &scene, error));
    rig->motion = mf_motion_name(rig->scene.motion);
    rig->contacts = "point.load";
    return MF_OK;
}

static void random_programs(mf_BenchRig *setup) {
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

static mf_Status open_plain(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    MF_TRY(open_scene(rig, options, error));
    rig->image = rig->scene.start;
    rig->image_size = rig->scene.start_size;
    rig->prepare = random_programs;
    return MF_OK;
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
    mf_Status status = MF_OK;
    MF_TRY(mf_archive_create(setup->context, path, mf_search_config_of(search), "", 0, 0, &archive,
                             error));
    for (uint32_t i = 0; i < generations && status == MF_OK; i++) {
        if (mf_app_stop_requested())
            status = mf_fail(error, MF_STOPPED, "stopped");
        MF_THEN(status, mf_search_advance(search, error));
        MF_THEN(status, mf_archive_append(archive, search, 0.0, 0.0, error));
    }
    mf_archive_close(archive);
    return status;
}

static mf_Status time_evolution(mf_BenchRig *setup, const mf_BenchOptions *options,
                                mf_BenchResult *result, mf_Error *error) {
    const Bench *bench = setup->bench;
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

const mf_BenchKind mf_bench_evolutions = {
    MF_BENCH_ROWS(evolutions), .ignores = "model repeats", .rig_size = sizeof(mf_BenchRig),
    .open = open_scene,        .time = time_evolution,     .more = more};
