// Benches of cloth: a square of 100 x 100 vertices that hangs by two corners and swings down. Steps
// are of 5 ms, in substeps of 1 ms.
#include "bench_time.h"

#include <mayfly/cloth.h>

enum { SIDE = 100, STEPS = 200, STEP = 5 }; // [1] vertices, [1], [ms]

static const mf_Bench benches[] = {{"cloth", NULL, false, 1, 1, STEPS}};

// Shared, so that threads share the work.
static mf_Status make_world(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    world.step = STEP * MF_MILLISECOND;
    group.model = rig->model;
    group.count = options->instances;
    group.double_precision = options->double_precision;
    group.isolated = false;
    MF_TRY(mf_world_create(rig->context, &world, &rig->world, error));
    return mf_world_add_group(rig->world, &group, &rig->group, error);
}

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    static const uint32_t pins[2] = {0, SIDE - 1};
    mf_Cloth cloth = mf_cloth_rectangle(1.0, 1.0, SIDE, SIDE);
    mf_MotionsConfig motion = mf_motions_config();
    rig->motion = "cloth";
    cloth.pins = pins;
    cloth.pin_count = 2;
    motion.cloth.cloth = &cloth;
    motion.cloth.contacts = false;
    motion.cloth.substep = MF_MILLISECOND;
    MF_TRY(mf_bench_rig_context(rig, options->threads, error));
    MF_TRY(mf_cloth_model(rig->context, &cloth, &rig->model, error));
    MF_TRY(make_world(rig, options, error));
    MF_TRY(mf_motion_add(rig->group, MF_MOTION_CLOTH, &motion, error));
    return mf_cloths_add(rig->world, error);
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    return mf_bench_pack_group("model", "rectangle", result, rig->group);
}

const mf_BenchKind mf_bench_cloths = {MF_BENCH_ROWS(benches), .ignores = "model generations",
                                      .rig_size = sizeof(mf_BenchRig), .open = open_rig,
                                      .more = more};
