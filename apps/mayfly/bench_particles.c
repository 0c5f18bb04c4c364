// Benches of particles: a sheet of water that runs apart on level ground, and one of glass beads
// that settles; and frames of 1/60 s of both and of debris. A step of the bench is a step of every
// particle.
#include "bench_time.h"

#include <stdio.h>

typedef struct Bench {
    mf_Bench bench;
    const char *scene;
} Bench;

#define SHEET(half)                                                                                \
    "world: {step: 0.016666667}\n"                                                                 \
    "groups:\n"                                                                                    \
    "  - name: water\n"                                                                            \
    "    model: ../models/drop.xml\n"                                                              \
    "    count: 20000\n"                                                                           \
    "    motion: {fluid: {sound_speed: 9}}\n"                                                      \
    "    placement: {fill: {lower: [-" half ", -" half ", 0], upper: [" half ", " half             \
    ", 1000]}}\n"

static const Bench benches[] = {
    {{"fluid-100k", NULL, false, 1, 100000, 10}, // of ten substeps
     "world: {step: 0.006}\n"
     "groups:\n"
     "  - name: water\n"
     "    model: ../models/drop.xml\n"
     "    count: 100000\n"
     "    motion: {fluid: {sound_speed: 20}}\n"
     "    placement: {fill: {lower: [-2, -2, 0], upper: [2, 2, 1000]}}\n"},
    {{"grains-100k", NULL, false, 1, 100000, 100},
     "world: {step: 0.00008}\n"
     "groups:\n"
     "  - name: beads\n"
     "    model: ../models/grain.xml\n"
     "    count: 100000\n"
     "    motion: grains\n"
     "    settle: 0.04\n"
     "    placement: {fill: {lower: [-1, -1, 0], upper: [1, 1, 1000]}}\n"},
    // Two layers of water, so that waves of sqrt(g depth) are a tenth of the speed of sound.
    {{"fluid-frames-20k", NULL, true, 1, 20000, 60}, SHEET("2")},
    {{"fluid-frames-100k", NULL, true, 1, 100000, 20}, SHEET("4.48")},
    {{"debris-frames-100k", NULL, true, 1, 100000, 120},
     "world: {step: 0.016666667}\n"
     "groups:\n"
     "  - name: debris\n"
     "    model: ../models/grain.xml\n"
     "    count: 100000\n"
     "    motion: debris\n"
     "    placement: {fill: {lower: [-2, -2, 0.5], upper: [2, 2, 1000]}}\n"},
};

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    char count[16];
    snprintf(count, sizeof count, "%u", options->instances);
    const mf_Override overrides[] = {
        {"groups.0.count", count},
        {"groups.0.precision", options->double_precision ? "double" : "float"}};
    MF_TRY(mf_bench_rig_parse(rig, options->threads, bench->scene, overrides, 2, error));
    MF_TRY(mf_bench_rig_scene(rig, NULL, error));
    rig->motion = mf_motion_name(mf_motion_of(rig->group, 0));
    return MF_OK;
}

static double particle_rate(const mf_BenchRig *rig, const mf_BenchResult *result) {
    return (double)result->steps * result->instances * mf_particles_substeps(rig->group) /
           result->seconds;
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    return json_pack("{s:o, s:o, s:I}", "particle_steps_per_second",
                     mf_json_real(particle_rate(rig, result)), "frames_per_second",
                     mf_json_real((double)result->steps / result->seconds), "substeps",
                     (json_int_t)mf_particles_substeps(rig->group));
}

static bool note(mf_BenchRig *rig, const mf_BenchResult *result) {
    const uint32_t substeps = mf_particles_substeps(rig->group);
    return printf("    particle-steps/s: %.3g M, %u of %.3g ms in a step; %.3g steps/s of all\n",
                  1e-6 * particle_rate(rig, result), substeps, 1e3 * result->dt / substeps,
                  (double)result->steps / result->seconds) > 0;
}

const mf_BenchKind mf_bench_particles = {MF_BENCH_ROWS(benches),
                                         .ignores = "model generations",
                                         .rig_size = sizeof(mf_BenchRig),
                                         .open = open_rig,
                                         .more = more,
                                         .note = note};
