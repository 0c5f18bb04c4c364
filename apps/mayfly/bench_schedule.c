// Benches of the schedule: one robot with two systems of equal rate that write different fields,
// like two cameras, each with about 20 us of work per step. In sequence or, if both are declared
// slow, in parallel. The work is a logistic map, whose result depends on every step, so equal
// hashes mean equal work.
#include "bench_time.h"

#define ROUNDS 10000u // [1] of the map in a step: some 20 us

typedef struct Bench {
    mf_Bench bench;
    bool slow;
} Bench;

static const Bench benches[] = {{{"schedule-sequence", NULL, false, 2, 1, 5000}, false},
                                {{"schedule-waves", NULL, false, 2, 1, 5000}, true}};

static void work(const mf_SystemRun *run, void *user) {
    mf_Field *field = user;
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK && i < mf_group_count(run->group);
         i++) {
        double x = mf_field_get(field, i, 0);
        for (uint32_t n = 0; n < ROUNDS; n++)
            x = 3.9 * x * (1.0 - x);
        mf_field_set(field, i, 0, x);
    }
}

static mf_Status add_work(mf_Group *group, const char *name, double start, bool slow,
                          const char *const *writes, mf_Error *error) {
    static const char *const nothing[] = {NULL};
    const mf_FieldInfo info = {
        name, "1", "", MF_REAL, MF_PER_INSTANCE, 1, MF_FIELD_STATE, "a number that is processed"};
    mf_Field *field;
    MF_TRY(mf_group_add_field(group, &info, 0, &field, error));
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        mf_field_set(field, i, 0, start);
    mf_SystemConfig system = mf_system_config();
    system.name = name;
    system.phase = MF_PHASE_SENSE;
    system.run = work;
    system.user = field;
    system.reads = nothing;
    system.writes = writes;
    system.slow = slow;
    return mf_group_add_system(group, &system, error);
}

static mf_Status open_rig(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    static const char *const one[] = {"work.one", NULL}, *const two[] = {"work.two", NULL};
    const Bench *bench = rig->bench;
    char path[MF_APP_PATH];
    mf_BenchOptions twice = *options;
    twice.double_precision = true;
    MF_TRY(mf_bench_rig_load(rig, options->threads, mf_app_find("models/hexapod.urdf", path), NULL,
                             error));
    MF_TRY(mf_bench_rig_fill(rig, &twice, mf_world_config().step, error));
    MF_TRY(add_work(rig->group, "work.one", 0.3, bench->slow, one, error));
    rig->motion = "none";
    return add_work(rig->group, "work.two", 0.7, bench->slow, two, error);
}

const mf_BenchKind mf_bench_schedule = {MF_BENCH_ROWS(benches),
                                        .ignores = "model precision generations",
                                        .rig_size = sizeof(mf_BenchRig), .open = open_rig};
