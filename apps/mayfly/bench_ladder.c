// Benches of the motions whose joints track the commanded motion: humanoids that walk in place,
// or crouch and rise where they could fall, and swing their arms. Every joint gets a new target in
// every step, under `rigid` and `prescribed` in each of their control intervals. All repeats start
// from the same snapshot and must end with the same hash; the first is a warm-up.
#include "bench_time.h"

#include <mayfly/motion.h>
#include <math.h>
#include <string.h>

enum { PERIOD = 1000, JOINTS_MOST = 64 }; // [1] steps of a gait cycle, joints

typedef struct Bench {
    mf_Bench bench;
    mf_Motion motion;
} Bench;

static const Bench benches[] = {
    {{"humanoid-kinematic", NULL, false, 1, 4096, 5 * PERIOD}, MF_MOTION_KINEMATIC},
    {{"humanoid-rigid", NULL, false, 1, 4096, 5 * PERIOD}, MF_MOTION_RIGID},
    {{"humanoid-prescribed", NULL, false, 1, 4096, 5 * PERIOD}, MF_MOTION_PRESCRIBED}};

typedef struct Setup {
    mf_BenchRig rig;
    mf_Field *target;
    bool twice;                      // the target is of type double
    bool crouches;                   // instead of walking
    float wave[PERIOD][JOINTS_MOST]; // [rad] targets along the cycle
} Setup;

// ---- the gait ----------------------------------------------------------------------------------

typedef enum Kind {
    SWINGS, // sin(phase + shift)
    LIFTS,  // its positive part
    SWAYS   // the whole, sideways
} Kind;

typedef struct Swing { // angle = middle + size * wave
    const char *joint;
    double middle, size, shift;
    Kind kind;
} Swing;

#define HALF 3.14159265358979323846

static const Swing swings[] = {{"left_hip_pitch", -0.3, -0.4, 0, LIFTS},
                               {"left_knee", 0.6, 0.8, 0, LIFTS},
                               {"left_ankle_pitch", -0.3, -0.4, 0, LIFTS},
                               {"right_hip_pitch", -0.3, -0.4, HALF, LIFTS},
                               {"right_knee", 0.6, 0.8, HALF, LIFTS},
                               {"right_ankle_pitch", -0.3, -0.4, HALF, LIFTS},
                               {"left_hip_roll", 0, 0.08, 0, SWAYS},
                               {"right_hip_roll", 0, 0.08, 0, SWAYS},
                               {"left_ankle_roll", 0, -0.08, 0, SWAYS},
                               {"right_ankle_roll", 0, -0.08, 0, SWAYS},
                               {"left_hip_yaw", 0, 0.1, 0, SWAYS},
                               {"right_hip_yaw", 0, 0.1, 0, SWAYS},
                               {"left_shoulder_pitch", 0, 0.5, 0, SWINGS},
                               {"right_shoulder_pitch", 0, 0.5, HALF, SWINGS},
                               {"left_elbow", -0.3, 0.2, 0, SWINGS},
                               {"right_elbow", -0.3, 0.2, HALF, SWINGS},
                               {"waist", 0, 0.1, 0, SWINGS},
                               {"neck_yaw", 0, 0.5, 1, SWINGS},
                               {"neck_pitch", 0, 0.2, 2, SWINGS},
                               {"left_shoulder_roll", 0.1, 0.05, 0, SWINGS},
                               {"right_shoulder_roll", -0.1, 0.05, 0, SWINGS}};

// Crouching: both legs together, starting straight, without sideways motion.
static void make_waves(Setup *setup) {
    const bool crouches = setup->crouches;
    for (uint32_t j = 0; j < setup->rig.model->joint_count && j < JOINTS_MOST; j++) {
        const Swing *swing = NULL;
        for (size_t i = 0; i < sizeof swings / sizeof *swings; i++)
            if (strcmp(swings[i].joint, setup->rig.model->joints[j].name) == 0)
                swing = &swings[i];
        for (int n = 0; swing != NULL && n < PERIOD; n++) {
            double shift = crouches && swing->kind == LIFTS ? 0.0 : swing->shift;
            double wave = sin(2.0 * HALF * n / PERIOD + shift);
            if ((swing->kind == LIFTS && wave < 0.0) || (swing->kind == SWAYS && crouches))
                wave = 0.0;
            double middle = swing->kind == LIFTS && crouches ? 0.0 : swing->middle;
            setup->wave[n][j] = (float)(middle + swing->size * wave);
        }
    }
}

// Robots of a block have the same phase, blocks do not. Crouching robots begin with straight legs.
static void drive(const mf_SystemRun *run, void *user) {
    const Setup *setup = user;
    const uint32_t joints = setup->target->components;
    const bool twice = setup->twice;
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++) {
        const uint32_t shift = 37 * b, straight = PERIOD / 2 + shift % (PERIOD / 2);
        const float *wave =
            setup->wave[(run->tick + (setup->crouches ? straight : shift)) % PERIOD];
        const size_t first = (size_t)b * joints * MF_BLOCK;
        double *wide = (double *)setup->target->data + first;
        float *narrow = (float *)setup->target->data + first;
        for (uint32_t j = 0; j < joints && j < JOINTS_MOST; j++) {
            const float value = wave[j];
            if (twice)
                for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
                    wide[j * MF_BLOCK + lane] = value;
            else
                for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
                    narrow[j * MF_BLOCK + lane] = value;
        }
    }
}

// ---- the world ---------------------------------------------------------------------------------

static mf_Status add_drive(Setup *setup, mf_Error *error) {
    static const char *const writes[] = {"joint.target", NULL};
    mf_SystemConfig system = mf_system_config();
    setup->target = mf_group_find_field(setup->rig.group, "joint.target");
    setup->twice = setup->target->info.type == MF_F64;
    make_waves(setup);
    system.name = "drive";
    system.phase = MF_PHASE_CONTROL;
    system.run = drive;
    system.user = setup;
    system.writes = writes;
    if (setup->crouches)
        system.rate = (mf_Rate){100, 1};
    return mf_group_add_system(setup->rig.group, &system, error);
}

static mf_Status open_setup(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    Setup *setup = (Setup *)rig;
    char path[MF_APP_PATH];
    setup->crouches = bench->motion != MF_MOTION_KINEMATIC;
    rig->motion = mf_motion_name(bench->motion);
    MF_TRY(mf_bench_rig_load(rig, options->threads, mf_app_own("models/humanoid.urdf", path), NULL,
                             error));
    MF_TRY(mf_bench_rig_fill(rig, options, MF_MILLISECOND, error));
    MF_TRY(mf_motion_add(rig->group, bench->motion, NULL, error));
    return add_drive(setup, error);
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *result) {
    return mf_bench_pack_group("model", rig->model->name, result, rig->group);
}

const mf_BenchKind mf_bench_ladder = {MF_BENCH_ROWS(benches), .ignores = "model generations",
                                      .rig_size = sizeof(Setup), .open = open_setup, .more = more};
