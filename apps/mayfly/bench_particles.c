// Benches of particles: a sheet of water that runs apart on level ground, and one of glass beads
// that settles. A step of the bench is a step of every particle.
#include "bench_time.h"

#include <stdio.h>

typedef struct Bench {
    mf_Bench bench;
    uint32_t particles; // [1]
    uint64_t steps;     // [1] of the world
    const char *scene;
} Bench;

static const Bench benches[] = {
    {{"fluid-100k", NULL, false},
     100000,
     10, // of ten substeps
     "world: {step: 0.006}\n"
     "groups:\n"
     "  - name: water\n"
     "    model: ../models/drop.xml\n"
     "    count: 100000\n"
     "    motion: {fluid: {sound_speed: 20}}\n"
     "    placement: {fill: {lower: [-2, -2, 0], upper: [2, 2, 1000]}}\n"},
    {{"grains-100k", NULL, false},
     100000,
     100,
     "world: {step: 0.00008}\n"
     "groups:\n"
     "  - name: beads\n"
     "    model: ../models/grain.xml\n"
     "    count: 100000\n"
     "    motion: grains\n"
     "    settle: 0.04\n"
     "    placement: {fill: {lower: [-1, -1, 0], upper: [1, 1, 1000]}}\n"},
};

static bool print(const Bench *bench, const mf_BenchOptions *options, const mf_BenchResult *result,
                  const mf_Group *group, bool json) {
    const char *motion = mf_motion_name(mf_motion_of(group, 0));
    const double rate =
        (double)result->steps * result->instances * mf_particles_substeps(group) / result->seconds;
    if (json)
        return mf_bench_print_json(options, bench->bench.name, motion, result,
                                   json_pack("{s:o, s:I}", "particle_steps_per_second",
                                             mf_json_real(rate), "substeps",
                                             (json_int_t)mf_particles_substeps(group)));
    if (!mf_bench_print_row(bench->bench.name, result, group))
        return false;
    printf("    particle-steps/s: %.3g M, %u of %.3g ms in a step\n", 1e-6 * rate,
           mf_particles_substeps(group), 1e3 * result->dt / mf_particles_substeps(group));
    return mf_app_flush();
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    char count[16];
    mf_BenchScene scene = {0};
    mf_BenchResult result = {0};
    mf_Error error = {0};
    snprintf(count, sizeof count, "%u",
             options->instances != 0 ? options->instances : bench->particles);
    const mf_Override overrides[] = {
        {"groups.0.count", count},
        {"groups.0.precision", options->double_precision ? "double" : "float"}};
    mf_Status status = mf_bench_scene_parse(&scene, options->threads != 0 ? options->threads : 1,
                                            bench->scene, overrides, 2, &error);
    if (status == MF_OK)
        status = mf_scene_create(scene.context, scene.file, NULL, &scene.scene, &error);
    const mf_BenchWork work = {.name = bench->bench.name,
                               .world = scene.scene.world,
                               .steps = options->steps != 0 ? options->steps : bench->steps};
    if (status == MF_OK)
        status = mf_bench_time(&work, options, &result, &error);
    bool written = false;
    if (status == MF_OK) {
        mf_bench_describe(&result, scene.scene.group, "contact.load");
        written = print(bench, options, &result, scene.scene.group, json);
    }
    mf_bench_scene_free(&scene);
    return mf_bench_end(status, &error, written);
}

const mf_BenchKind mf_bench_particles = {MF_BENCH_ROWS(benches), .ignores = "model generations",
                                         .run = run};
