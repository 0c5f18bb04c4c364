// The benches and their timing. A plain run: random machine-code programs and sensors on rough
// ground; every repeat starts from the same snapshot, so it does the same work and must end with
// the same hash. The first repeat is a warm-up. An evolution is timed once, including its archive.
#include <math.h>
#include <stdio.h>
#include <string.h>
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
    "ground: {shape: noise, amplitude: 0.03, wavelength: 1, octaves: 4, seed: 7}\n"

static const char hexapod_scene[] = ROUGH WALKERS("hexapod.urdf");
static const char quadruped_scene[] = ROUGH WALKERS("quadruped.urdf");
static const char paper_scene[] =
    "name: bench\n"
    "world: {step: 0.01, seed: 1}\n"
    "ground: {shape: flat}\n" WALKERS("hexapod.urdf") "run: {duration: 120}\n"
                                                      "search: {population: 100, survivors: 50}\n";

const mf_Bench mf_benches[] = {
    {"points-hexapod", "18 joints on a height map, programs and sensors on, 1024 robots",
     hexapod_scene, 1, 1024, 4000, 0, false},
    {"points-quadruped", "8 joints, otherwise the same", quadruped_scene, 1, 1024, 8000, 0, false},
    {"points-single", "a single hexapod", hexapod_scene, 1, 1, 1000000, 0, false},
    {"points-hexapod-1m", "a million hexapods (several GiB of memory)", hexapod_scene, 1, 1000000,
     40, 0, true},
    {"evolve-paper", "an evolution with its archive: 100 hexapods, 2 minutes each", paper_scene, 0,
     100, 12000, 50, false},
    {NULL, NULL, NULL, 0, 0, 0, 0, false}};

// ---- scenes ------------------------------------------------------------------------------------

typedef struct Setup {
    mf_Context *context;
    mf_SceneFile *file;
    mf_Scene scene;
} Setup;

static void setup_free(Setup *setup) {
    mf_scene_destroy(&setup->scene);
    mf_scene_file_destroy(setup->file);
    mf_context_destroy(setup->context);
}

static mf_Status setup_make(const mf_Bench *bench, const mf_BenchOptions *options, Setup *setup,
                            mf_Error *error) {
    char scenes[MF_APP_PATH], path[MF_APP_PATH + 16];
    mf_ContextConfig config = mf_context_config();
    config.threads = options->threads != 0 ? options->threads : bench->threads;
    mf_SceneConfig scene = mf_scene_config();
    mf_Override override = {"group.precision", options->double_precision ? "double" : "float"};
    *setup = (Setup){0};
    snprintf(path, sizeof path, "%s/bench", mf_app_own("scenes", scenes));
    mf_Status status = mf_context_create(&config, &setup->context, error);
    if (status == MF_OK)
        status = mf_scene_file_parse(setup->context, path, bench->scene, strlen(bench->scene),
                                     &override, 1, &setup->file, error);
    if (status != MF_OK)
        return status;
    scene.evaluates = true;
    scene.count = options->instances != 0 ? options->instances : bench->instances;
    if (bench->generations != 0) {
        setup->file->search.population = scene.count;
        setup->file->search.survivors = scene.count / 2;
    }
    return mf_scene_create(setup->context, setup->file, &scene, &setup->scene, error);
}

static void random_programs(void *user) {
    Setup *setup = user;
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

static void describe(const Setup *setup, mf_BenchResult *result) {
    *result =
        (mf_BenchResult){.instances = mf_group_count(setup->scene.group),
                         .threads = mf_context_threads(setup->context),
                         .isa = mf_world_isa(setup->scene.world),
                         .double_precision = setup->file->groups[0].double_precision,
                         .dt = mf_time_to_seconds(setup->scene.step),
                         .bytes_per_robot = (double)mf_group_bytes_per_instance(setup->scene.group),
                         .best = NAN};
}

// ---- plain runs --------------------------------------------------------------------------------

static mf_Status time_run(const mf_Bench *bench, const mf_BenchOptions *options, Setup *setup,
                          mf_BenchResult *result, mf_Error *error) {
    const mf_BenchWork work = {.name = bench->name,
                               .world = setup->scene.world,
                               .image = setup->scene.start,
                               .size = setup->scene.start_size,
                               .steps = options->steps != 0 ? options->steps : bench->steps,
                               .prepare = random_programs,
                               .user = setup};
    mf_Status status = mf_bench_time(&work, options, result, error);
    result->contacts_per_robot = mf_bench_contacts(setup->scene.group, "point.load");
    return status;
}

// ---- evolutions --------------------------------------------------------------------------------

static mf_Status evolve_all(Setup *setup, const char *path, uint32_t generations, mf_Search *search,
                            mf_Error *error) {
    mf_Archive *archive;
    mf_Status status = mf_archive_create(setup->context, path, mf_search_config_of(search), "", 0,
                                         0, &archive, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < generations && status == MF_OK; i++) {
        if (mf_app_stop_wanted())
            status = mf_fail(error, MF_STOPPED, "stopped");
        if (status == MF_OK)
            status = mf_search_advance(search, error);
        if (status == MF_OK)
            status = mf_archive_append(archive, search, 0.0, 0.0, error);
    }
    mf_archive_close(archive);
    return status;
}

static mf_Status time_evolution(const mf_Bench *bench, const mf_BenchOptions *options, Setup *setup,
                                mf_BenchResult *result, mf_Error *error) {
    const char *root = getenv("TMPDIR");
    char folder[MF_APP_PATH], path[MF_APP_PATH + 16];
    uint32_t generations = options->generations != 0 ? options->generations : bench->generations;
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
    double started = mf_app_clock();
    mf_Status status = mf_search_create(setup->context, &config, &search, error);
    if (status == MF_OK) {
        status = evolve_all(setup, path, generations, search, error);
        result->seconds = result->slowest = mf_app_clock() - started;
        if (status == MF_OK) {
            result->hash = mf_search_hash(search);
            result->best = mf_search_best(search);
        }
        mf_search_destroy(search);
    }
    unlink(path);
    rmdir(folder);
    result->repeats = 1;
    result->steps = generations * (options->steps != 0 ? options->steps : bench->steps);
    result->contacts_per_robot = mf_bench_contacts(setup->scene.group, "point.load");
    return status;
}

mf_Status mf_bench_run(const mf_Bench *bench, const mf_BenchOptions *options,
                       mf_BenchResult *result, mf_Error *error) {
    Setup setup;
    mf_Status status = setup_make(bench, options, &setup, error);
    if (status == MF_OK) {
        describe(&setup, result);
        status = bench->generations != 0 ? time_evolution(bench, options, &setup, result, error)
                                         : time_run(bench, options, &setup, result, error);
    }
    setup_free(&setup);
    return status;
}
