// Benches of modules: a thousand separate SuperBots on the ground and fifteen hundred ATRONs that
// spin, and SuperBots docked front to back, with what one dock event costs; ten thousand as a comb,
// since a straight row of 1.7 km is beyond single precision. Steps of 1/60 s, two threads.
#include "bench_time.h"

#include <mayfly/model_fields.h>
#include <mayfly/docks.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "solve/modules/assemblies.h"

typedef enum Move { ALTERNATE, WAVE, SPIN } Move;

typedef struct Bench {
    mf_Bench bench;
    const char *model; // in models/modules
    bool docked;
    Move move;
    uint32_t tooth; // [1] robots of a tooth of a comb and of its root; 0: all in a row
    uint32_t warm;  // [1] steps before the first repeat, so that all move
} Bench;

static const Bench benches[] = {
    {{"modules-1000", NULL, false, 2, 1000, 60}, "superbot.urdf", false, ALTERNATE, 0, 90},
    {{"modules-snake-10", NULL, true, 2, 10, 200}, "superbot.urdf", true, WAVE, 0, 300},
    {{"modules-snake-100", NULL, true, 2, 100, 60}, "superbot.urdf", true, WAVE, 0, 300},
    {{"modules-snake-1000", NULL, false, 2, 1000, 60}, "superbot.urdf", true, WAVE, 0, 300},
    {{"modules-snake-10000", NULL, true, 2, 10000, 6}, "superbot.urdf", true, WAVE, 1000, 60},
    {{"modules-atron-1500", NULL, false, 2, 1500, 60}, "atron.urdf", false, SPIN, 0, 90},
};

// ---- the scene ----------------------------------------------------------------------------------

// The first robot of each tooth is in the comb's back, which is along x; teeth are along y.
static void put_comb(FILE *text, uint32_t count, uint32_t tooth) {
    fputs("docks:\n", text);
    for (uint32_t i = 1; i < count; i++) {
        const bool root = i % tooth == 0;
        fprintf(text,
                "  - first: {group: modules, robot: %u, dock: %s}\n"
                "    second: {group: modules, robot: %u, dock: back}\n",
                root ? i - tooth : i - 1, i % tooth == 1 ? "front_left" : "front", i);
    }
}

static mf_Status open_scene(const Bench *bench, const mf_BenchOptions *options, mf_BenchRig *scene,
                            mf_Error *error) {
    const uint32_t count = options->instances;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    MF_NEED_MEMORY(out != NULL, error, "bench");
    fprintf(out,
            "world: {step: 0.016666667}\ngroups:\n  - name: modules\n"
            "    model: ../models/modules/%s\n    count: %u\n    sensors: false\n"
            "    placement: {grid: {spacing: [0.3, 0.3, 0.3]}}\n%s",
            bench->model, count,
            bench->docked && bench->tooth == 0 ? "    chain: {first: front, second: back}\n" : "");
    if (bench->tooth > 0)
        put_comb(out, count, bench->tooth);
    mf_Status status = fclose(out) == 0 ? MF_OK : mf_fail(error, MF_NO_MEMORY, "bench: no memory");
    MF_THEN(status, mf_bench_rig_parse(scene, options->threads, text, NULL, 0, error));
    free(text);
    MF_THEN(status, mf_bench_rig_scene(scene, NULL, error));
    return status;
}

// ---- motors -------------------------------------------------------------------------------------

typedef struct Motors {
    mf_BenchRig base;
    Move move;
    uint32_t tooth; // [1] as of the bench: the back of a comb does not move
    mf_Field *target;
} Motors;

// [rad] Target of a joint of a robot at `time` [s].
static double target_of(Move move, uint32_t robot, uint32_t joint, double time) {
    switch (move) {
    case ALTERNATE: // two states in turn
        return fmod(time + 0.1 * (robot % 7), 1.0) < 0.5 ? 0.4 : -0.4;
    case WAVE: // that grows within a second
        return joint == 0 ? 0.4 * fmin(time, 1.0) *
                                sin(2.0 * 3.14159265358979 * (0.5 * time - 0.1 * robot))
                          : 0.0;
    case SPIN:
    default:
        return 1000.0; // as fast as the drive goes
    }
}

static void drive(const mf_SystemRun *run, void *user) {
    const Motors *motors = user;
    const uint32_t joints = motors->target->components;
    const double time = mf_time_to_seconds(run->time);
    for (uint32_t robot = run->first_block * MF_BLOCK;
         robot < (run->first_block + run->block_count) * MF_BLOCK; robot++)
        for (uint32_t j = 0; j < joints && robot < mf_group_count(run->group); j++)
            mf_field_set(motors->target, robot, j,
                         motors->tooth > 0 && robot % motors->tooth == 0
                             ? 0.0
                             : target_of(motors->move, robot, j, time));
}

static mf_Status add_motors(mf_Group *group, Motors *motors, mf_Error *error) {
    static const char *const writes[] = {"joint.target", NULL};
    static const char *const reads[] = {NULL};
    mf_SystemConfig system = mf_system_config();
    motors->target = mf_group_find_field(group, "joint.target");
    system.name = "motors";
    system.phase = MF_PHASE_CONTROL;
    system.run = drive;
    system.user = motors;
    system.reads = reads;
    system.writes = writes;
    return mf_group_add_system(group, &system, error);
}

// ---- a dock event -------------------------------------------------------------------------------

// [us] The mean of letting go of a dock in the middle of the assembly and joining it again, and of
// finding the trees of both, without the step.
static double time_event(const Bench *bench, mf_BenchRig *scene) {
    mf_Group *group = scene->group;
    const uint32_t events = mf_group_count(group) > 1000 ? 20 : 200;
    mf_WorldDocks *docks = mf_world_docks_of(scene->world);
    const mf_Model *model = mf_group_model(group);
    uint32_t middle = mf_group_count(group) / 2;
    if (bench->tooth > 0 && middle % bench->tooth == 0)
        middle += 2; // within a tooth
    const mf_DockPort front = {group, middle, mf_model_find(model, MF_ITEM_DOCK, "front")};
    const mf_DockPort back = {group, middle + 1, mf_model_find(model, MF_ITEM_DOCK, "back")};
    const int64_t begin = mf_clock_now();
    for (uint32_t i = 0; i < events; i++) {
        if (mf_docks_disconnect(docks, &front, NULL) != MF_OK)
            return NAN;
        mf_assemblies_refresh(docks->assemblies);
        if (mf_docks_connect(docks, &front, &back, 0, NULL) != MF_OK)
            return NAN;
        mf_assemblies_refresh(docks->assemblies);
    }
    return 1e-3 * (double)(mf_clock_now() - begin) / (2.0 * events);
}

// ---- rows ---------------------------------------------------------------------------------------

// [1] Share of steps in which assemblies moved as trees: joints take much longer.
static double tree_share(const mf_BenchRig *scene) {
    const mf_DocksStatistics seen = mf_docks_statistics(mf_world_docks_of(scene->world));
    const uint64_t all = seen.trees + seen.loops + seen.touched + seen.others;
    return all > 0 ? (double)seen.trees / (double)all : 1.0;
}

static bool note(mf_BenchRig *rig, const mf_BenchResult *r) {
    const Bench *bench = rig->bench;
    return !bench->docked ||
           printf("%20s %.3g us for a dock to let go or join, %.3g us per module and step; %.3g %% "
                  "of steps as one tree\n",
                  "", time_event(bench, rig), 1e6 * r->seconds / (double)r->steps / r->instances,
                  100.0 * tree_share(rig)) > 0;
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *r) {
    const Bench *bench = rig->bench;
    const double step = r->seconds / (double)r->steps;
    json_t *line = json_pack("{s:o, s:o}", "realtime_factor", mf_json_real(r->dt / step),
                             "us_per_module", mf_json_real(1e6 * step / r->instances));
    if (bench->docked) {
        json_object_set_new(line, "dock_event_us", mf_json_real(time_event(bench, rig)));
        json_object_set_new(line, "tree_share", mf_json_real(tree_share(rig)));
    }
    return line;
}

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    Motors *motors = (Motors *)rig;
    motors->move = bench->move;
    motors->tooth = bench->tooth;
    rig->motion = "articulated";
    MF_TRY(open_scene(bench, options, rig, error));
    MF_TRY(add_motors(rig->group, motors, error));
    mf_world_step(rig->world, bench->warm);
    return MF_OK;
}

const mf_BenchKind mf_bench_modules = {MF_BENCH_ROWS(benches),
                                       .ignores = "generations model precision",
                                       .rig_size = sizeof(Motors),
                                       .open = open_rig,
                                       .more = more,
                                       .note = note};
