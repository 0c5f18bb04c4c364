// Benches of quasi-static trusses: equal crawlers side by side, and a thousand machines whose bars
// all differ. All actuators move in every frame; ground, friction and bars that meet are on.
//
// A bar-relaxation is one bar in one iteration of the truss that has it. An iteration of Newton's
// method does far more than one of steepest descent, so the same frames are relaxed by both: the
// effective rate is Newton's times the ratio of the iterations that both need.
#include "bench_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mayfly/machine.h>

enum {
    BEAM = 12,       // [1] vertices of the crawler, which has 3 BEAM - 6 bars
    CHILDREN = 400,  // [1] least number of generations from nothing to a machine
    LEAST_BARS = 10, // [1] of a machine
    MOST_BARS = 40   // [1]
};
#define SEED 20260801u    // of the machines
#define SETTLE 8u         // [1] untimed frames of evolved machines, as in their trials
#define PERIOD 24.0       // [1] frames of an actuator's wave
#define DESCENTS 20000u   // [1] most iterations of steepest descent in a frame
#define TRIAL 1e-4        // [1] tolerance of the trials of machines (mayfly/machine.h)
#define TRIAL_ROUNDS 100u // [1] their iterations

typedef struct Bench {
    mf_Bench bench; // its steps are frames
    bool mixed;
    uint32_t compared, compare_with; // [1] frames and trusses that both methods relax
} Bench;

static const Bench benches[] = {
    {{"truss-shared", NULL, false, 1, 256, 96}, false, 3, 16},
    {{"truss-mixed", NULL, true, 1, 1024, 4}, true, 2, 16},
};

// ---- trusses -----------------------------------------------------------------------------------

// A beam of tetrahedra that lies on the ground; a wave runs along its actuators.
static void make_crawler(mf_Machine *m) {
    *m = (mf_Machine){.vertex_count = BEAM};
    for (uint32_t v = 0; v < BEAM; v++) {
        static const double across[] = {0.0, 0.09, 0.045}, up[] = {0.005, 0.005, 0.085};
        m->vertices[v] =
            (mf_TrussVertex){.position = {0.05 * v, across[v % 3], up[v % 3]}, .mass = 0.0};
    }
    for (uint32_t v = 0; v < BEAM; v++)
        for (uint32_t w = v + 1; w <= v + 3 && w < BEAM; w++)
            m->bars[m->bar_count++] = (mf_TrussBar){{v, w}, 0.01, 0.0};
    for (uint32_t b = 1; b < m->bar_count; b += 4) {
        const double *from = m->vertices[m->bars[b].ends[0]].position;
        const double *to = m->vertices[m->bars[b].ends[1]].position;
        const double length =
            sqrt(pow(to[0] - from[0], 2) + pow(to[1] - from[1], 2) + pow(to[2] - from[2], 2));
        m->actuators[m->actuator_count++] =
            (mf_TrussActuator){b, 0.9 * length, 1.1 * length, MF_NONE};
    }
}

// The machine number `index`: the last of many children of which none has more bars than its
// number allows.
static mf_Status make_machine(uint32_t index, mf_Machine *m, mf_Error *error) {
    const mf_MachineConfig config = mf_machine_config();
    const uint32_t most = LEAST_BARS + index % (MOST_BARS - LEAST_BARS + 1);
    uint8_t parent[MF_MACHINE_BYTES], child[MF_MACHINE_BYTES];
    for (uint32_t i = 0; i < CHILDREN || m->actuator_count == 0 || m->bar_count < LEAST_BARS; i++) {
        MF_TRY(mf_machine_vary((void *)(uintptr_t)&config, i == 0 ? NULL : parent, SEED + index, i,
                               child, MF_MACHINE_BYTES));
        MF_TRY(mf_machine_decode(child, MF_MACHINE_BYTES, m, error));
        if (m->bar_count <= most)
            memcpy(parent, child, sizeof parent);
        else
            mf_machine_decode(parent, MF_MACHINE_BYTES, m, NULL);
    }
    return MF_OK;
}

static mf_Status make_truss(const Bench *bench, uint32_t index, mf_Machine *m, mf_Error *error) {
    if (bench->mixed)
        return make_machine(index, m, error);
    make_crawler(m);
    return MF_OK;
}

// ---- worlds ------------------------------------------------------------------------------------

typedef struct Facts {
    double rate;         // [1/s] bar-relaxations
    double iterations;   // [1] mean of a frame of a truss
    double bars;         // [1] mean of a truss
    double frames;       // [1/s] of trusses
    double descent_rate; // [1/s] bar-relaxations of steepest descent
    double saving;       // [1] iterations of steepest descent over those of Newton's method
    uint32_t topologies; // [1]
    double moved;        // [m] mean distance of the center of mass at the end
    uint64_t unrelaxed;  // [1] frames of trusses
    uint32_t compared;   // [1] frames of trusses that both methods relax
    uint64_t rough;      // [1] of those, frames in which steepest descent gave up
} Facts;

typedef struct Rig {
    mf_BenchRig base;
    Facts facts;
    mf_Field *command, *range, *counts, *iterations;
    uint64_t frame;   // [1] since the start
    uint64_t frames;  // [1] of a run
    uint64_t bars;    // [1] sum over trusses and iterations of a run
    uint64_t spent;   // [1] iterations of a run
    uint64_t settled; // [1] frames that were not relaxed before the first run
} Rig;

// Frames [1] of all trusses so far that were not relaxed.
static uint64_t rough_frames(const Rig *rig) {
    return mf_group_warning_sum(rig->base.group, MF_WARNING_SOLVER).steps;
}

static mf_Status add_motion(Rig *rig, const Bench *bench, const mf_Truss *first,
                            mf_QuasistaticMethod method, mf_Error *error) {
    mf_MotionsConfig motion = mf_motions_config();
    motion.quasistatic.truss = first;
    motion.quasistatic.method = method;
    if (bench->mixed) {
        motion.quasistatic.vertices = MF_MACHINE_VERTICES;
        motion.quasistatic.bars = MF_MACHINE_BARS;
        motion.quasistatic.actuators = MF_MACHINE_ACTUATORS;
        motion.quasistatic.tolerance = TRIAL;
        motion.quasistatic.iterations = TRIAL_ROUNDS;
    }
    if (method == MF_QUASISTATIC_GRADIENT)
        motion.quasistatic.iterations = DESCENTS;
    return mf_motion_add(rig->base.group, MF_MOTION_QUASISTATIC, &motion, error);
}

static mf_Status fill(Rig *rig, const Bench *bench, mf_Machine *m, mf_Error *error) {
    for (uint32_t i = 1; bench->mixed && i < mf_group_count(rig->base.group); i++) {
        MF_TRY(make_truss(bench, i, m, error));
        const mf_Truss truss = mf_machine_truss(m);
        MF_TRY(mf_quasistatic_set(rig->base.group, i, &truss, error));
    }
    return MF_OK;
}

static mf_Status open_world(Rig *rig, const mf_BenchOptions *options, const Bench *bench,
                            uint32_t count, mf_QuasistaticMethod method, mf_Machine *m,
                            mf_Error *error) {
    mf_BenchOptions exact = *options;
    exact.double_precision = true;
    exact.instances = count;
    MF_TRY(make_truss(bench, 0, m, error));
    const mf_Truss truss = mf_machine_truss(m);
    MF_TRY(mf_truss_model(rig->base.context, &truss, &rig->base.model, error));
    MF_TRY(mf_bench_rig_fill(&rig->base, &exact, 20 * MF_MILLISECOND, error));
    MF_TRY(add_motion(rig, bench, &truss, method, error));
    return fill(rig, bench, m, error);
}

static mf_Status open_rig(Rig *rig, const mf_BenchOptions *options, const Bench *bench,
                          uint32_t count, mf_QuasistaticMethod method, mf_Error *error) {
    mf_Machine *m = malloc(sizeof *m);
    mf_Status status = m != NULL ? mf_bench_rig_context(&rig->base, options->threads, error)
                                 : mf_fail(error, MF_NO_MEMORY, "bench: out of memory");
    MF_THEN(status, open_world(rig, options, bench, count, method, m, error));
    free(m);
    if (status != MF_OK)
        return status;
    rig->command = mf_group_find_field(rig->base.group, "actuator.control");
    rig->range = mf_group_find_field(rig->base.group, "actuator.range");
    rig->counts = mf_group_find_field(rig->base.group, "truss.counts");
    rig->iterations = mf_group_find_field(rig->base.group, "frame.iterations");
    if (bench->mixed)
        mf_world_step(rig->base.world, SETTLE);
    rig->settled = rough_frames(rig);
    return MF_OK;
}

// ---- the work ----------------------------------------------------------------------------------

// Waves along the actuators, each truss in its own phase.
static void drive(Rig *rig) {
    const uint32_t count = mf_group_count(rig->base.group);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t actuators = (uint32_t)mf_field_get(rig->counts, i, 2);
        for (uint32_t a = 0; a < actuators; a++) {
            const double angle = ((double)rig->frame + i) / PERIOD + 0.25 * a;
            const double share = 0.5 + 0.5 * sin(6.283185307179586 * angle);
            const double lower = mf_field_get(rig->range, i, 2 * a);
            const double upper = mf_field_get(rig->range, i, 2 * a + 1);
            mf_field_set(rig->command, i, a, lower + share * (upper - lower));
        }
    }
}

static void count_work(Rig *rig) {
    const uint32_t count = mf_group_count(rig->base.group);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t spent = (uint64_t)mf_field_get(rig->iterations, i, 0);
        rig->spent += spent;
        rig->bars += spent * (uint64_t)mf_field_get(rig->counts, i, 1);
    }
}

static void run_frames(mf_BenchRig *base) {
    Rig *rig = (Rig *)base;
    rig->spent = rig->bars = 0;
    for (rig->frame = 0; rig->frame < rig->frames; rig->frame++) {
        drive(rig);
        mf_world_step(rig->base.world, 1);
        count_work(rig);
    }
}

// ---- figures -----------------------------------------------------------------------------------

static double mean_bars(const Rig *rig) {
    double sum = 0.0;
    const uint32_t count = mf_group_count(rig->base.group);
    for (uint32_t i = 0; i < count; i++)
        sum += mf_field_get(rig->counts, i, 1);
    return sum / count;
}

static double mean_distance(const Rig *rig) {
    const mf_Field *base = mf_group_find_field(rig->base.group, "base.position");
    double sum = 0.0;
    const uint32_t count = mf_group_count(rig->base.group);
    for (uint32_t i = 0; i < count; i++)
        sum += hypot(mf_field_get(base, i, 0), mf_field_get(base, i, 1));
    return sum / count;
}

// The first frames of fewer trusses, by one method on one thread.
static mf_Status relax_some(Rig *rig, const Bench *bench, const mf_BenchOptions *options,
                            mf_QuasistaticMethod method, double *seconds, mf_Error *error) {
    mf_BenchOptions alone = *options;
    alone.threads = 1;
    MF_TRY(open_rig(rig, &alone, bench, bench->compare_with, method, error));
    rig->frames = bench->compared;
    const double started = mf_clock_seconds();
    run_frames(&rig->base);
    *seconds = mf_clock_seconds() - started;
    return MF_OK;
}

static mf_Status compare(const Bench *bench, const mf_BenchOptions *options, Facts *facts,
                         mf_Error *error) {
    double seconds;
    Rig newton = {.frame = 0}, descent = {.frame = 0};
    mf_Status status = relax_some(&newton, bench, options, MF_QUASISTATIC_NEWTON, &seconds, error);
    MF_THEN(status, relax_some(&descent, bench, options, MF_QUASISTATIC_GRADIENT, &seconds, error));
    if (status == MF_OK) {
        facts->descent_rate = (double)descent.bars / seconds;
        facts->saving = (double)descent.bars / (double)newton.bars;
        facts->compared = bench->compared * bench->compare_with;
        facts->rough = rough_frames(&descent) - descent.settled;
    }
    mf_bench_rig_free(&descent.base);
    mf_bench_rig_free(&newton.base);
    return status;
}

static mf_Status find_facts(mf_BenchRig *base, const mf_BenchOptions *options,
                            mf_BenchResult *result, mf_Error *error) {
    const Bench *bench = base->bench;
    Rig *rig = (Rig *)base;
    Facts *facts = &rig->facts;
    const double trusses = mf_group_count(rig->base.group), frames = (double)rig->frames;
    facts->rate = (double)rig->bars / result->seconds;
    facts->iterations = (double)rig->spent / (trusses * frames);
    facts->bars = mean_bars(rig);
    facts->frames = trusses * frames / result->seconds;
    facts->topologies = bench->mixed ? mf_group_count(rig->base.group) : 1;
    facts->moved = mean_distance(rig);
    facts->unrelaxed = rough_frames(rig) - rig->settled;
    return compare(bench, options, facts, error);
}

// ---- output ------------------------------------------------------------------------------------

static json_t *more(mf_BenchRig *base, const mf_BenchResult *result) {
    const Rig *rig = (Rig *)base;
    const Facts *f = &rig->facts;
    (void)result;
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:I, s:I, s:I, s:o}",
        "bar_relaxations_per_second", mf_json_real(f->rate), "iterations_per_frame",
        mf_json_real(f->iterations), "bars", mf_json_real(f->bars), "frames_per_second",
        mf_json_real(f->frames), "gradient_bar_relaxations_per_second",
        mf_json_real(f->descent_rate), "iterations_saved", mf_json_real(f->saving),
        "effective_bar_relaxations_per_second", mf_json_real(f->rate * f->saving), "topologies",
        (json_int_t)f->topologies, "distance", mf_json_real(f->moved), "unrelaxed_frames",
        (json_int_t)f->unrelaxed, "compared_frames", (json_int_t)f->compared,
        "gradient_unrelaxed_frames", (json_int_t)f->rough, "bytes_per_robot",
        mf_json_real((double)mf_group_bytes_per_instance(rig->base.group)));
}

static bool note(mf_BenchRig *base, const mf_BenchResult *result) {
    const Rig *rig = (Rig *)base;
    const Facts *f = &rig->facts;
    char frames[MF_APP_NUMBER];
    (void)result;
    printf("    %.1f bars, %u topolog%s, %.3g iterations/frame, %s frames/s, %.3g mm/frame; "
           "%llu frames not relaxed\n",
           f->bars, f->topologies, f->topologies == 1 ? "y" : "ies", f->iterations,
           mf_app_count(f->frames, frames), 1e3 * f->moved / (double)rig->frames,
           (unsigned long long)f->unrelaxed);
    printf("    bar-relaxations/s: %.3g M; by steepest descent %.3g M with %.4g times the "
           "iterations (%llu of %u frames gave up); effective %.3g G\n",
           1e-6 * f->rate, 1e-6 * f->descent_rate, f->saving, (unsigned long long)f->rough,
           f->compared, 1e-9 * f->rate * f->saving);
    return true;
}

static mf_Status open_crawlers(mf_BenchRig *base, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = base->bench;
    Rig *rig = (Rig *)base;
    rig->frames = options->steps;
    base->motion = "quasistatic";
    base->run = run_frames;
    return open_rig(rig, options, bench, options->instances, MF_QUASISTATIC_NEWTON, error);
}

const mf_BenchKind mf_bench_trusses = {MF_BENCH_ROWS(benches),
                                       .ignores = "model precision generations",
                                       .rig_size = sizeof(Rig),
                                       .open = open_crawlers,
                                       .finish = find_facts,
                                       .more = more,
                                       .note = note};
