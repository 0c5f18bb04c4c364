// Benches of collisions between robots: humanoids that stand, two that start with a speed towards
// each other, a car or a ball in their way, with or without a field. The clock of the schedule
// gives the time of collisions in a step. Every repeat starts from the same snapshot and must end
// with the same hash; the first is a warm-up.
#include "bench_time.h"

#include <mayfly/model_fields.h>
#include <mayfly/collision.h>
#include <mayfly/motion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Bench {
    mf_Bench bench;
    mf_Motion motion;    // of all moving groups
    mf_CollisionLaw law; // explicit, as in scenes/soccer.yaml, if not said otherwise
    double spacing;      // [m] between them; 0: spread over the field
    bool car, ball, field;
    bool swings; // the humanoids swing their limbs instead of standing still
} Bench;

// clang-format off
static const Bench benches[] = {
    // motion, law, spacing, car, ball, field, swings
    {{"soccer-2", NULL, false, 1, 2, 2000},
     MF_MOTION_ARTICULATED, MF_COLLISION_EXPLICIT, 0.28, false, true, true, false},
    {{"soccer-2-compliant", NULL, false, 1, 2, 2000},
     MF_MOTION_ARTICULATED, MF_COLLISION_COMPLIANT, 0.28, false, true, true, false},
    {{"soccer-10-car", NULL, false, 1, 10, 2000},
     MF_MOTION_RIGID, MF_COLLISION_EXPLICIT, 0.4, true, false, false, false},
    {{"soccer-10-car-articulated", NULL, false, 2, 10, 2000},
     MF_MOTION_ARTICULATED, MF_COLLISION_EXPLICIT, 0.4, true, false, false, false},
    {{"soccer-field", NULL, true, 1, 0, 400},
     MF_MOTION_RIGID, MF_COLLISION_EXPLICIT, 0.0, false, true, true, true},
};
// clang-format on

// ---- the worlds ---------------------------------------------------------------------------------

#define PI 3.14159265358979323846

enum { MODELS = 4, HUMANOID = 0, CAR, BALL, FIELD };

// Joints that swing about their start, so that no robot is at rest.
typedef struct Swing {
    const char *joint;
    double size; // [rad]
} Swing;

static const Swing swings[] = {{"left_shoulder_pitch", 0.5},
                               {"right_shoulder_pitch", -0.5},
                               {"left_elbow", 0.2},
                               {"right_elbow", -0.2},
                               {"waist", 0.1},
                               {"neck_yaw", 0.5}};

enum { SWINGS = sizeof swings / sizeof swings[0] };

typedef struct Swings {
    mf_Field *target;
    uint32_t joints[SWINGS]; // [1]
} Swings;

typedef struct Setup {
    mf_BenchRig rig;
    mf_Model *models[MODELS];
    mf_Collisions *collisions;
    Swings swings;
    uint32_t number;                    // [1] of repeats so far
    double parts[MF_BENCH_REPEATS + 1]; // [s] of each in collisions; the first warms up
    double part;                        // [s] of a step in collisions, the median
    mf_CollisionsStatistics statistics; // of all repeats
} Setup;

static void close_setup(mf_BenchRig *rig) {
    mf_world_destroy(rig->world); // before its models
    rig->world = NULL;
    for (int i = 0; i < MODELS; i++)
        mf_model_destroy(((Setup *)rig)->models[i]);
}

static mf_Status load_models(const Bench *bench, Setup *setup, mf_Error *error) {
    static const char *const names[MODELS] = {"humanoid.urdf", "car.urdf", "ball.xml",
                                              "soccer_field.xml"};
    const bool requested[MODELS] = {true, bench->car, bench->ball, bench->field};
    char models[MF_APP_PATH], path[MF_APP_PATH + 32];
    for (int i = 0; i < MODELS; i++) {
        if (!requested[i])
            continue;
        snprintf(path, sizeof path, "%s/%s", mf_app_own("models", models), names[i]);
        MF_TRY(mf_model_load(setup->rig.context, path, NULL, &setup->models[i], error));
    }
    return MF_OK;
}

static mf_Status add_articulated(mf_Group *group, bool servos, bool shapes, mf_Error *error) {
    mf_MotionsConfig motion = mf_motions_config();
    motion.articulated.self_contacts = false;
    motion.articulated.motors = false;
    motion.articulated.shapes = shapes;
    if (servos) {
        motion.articulated.servo.gain = 20.0;
        motion.articulated.servo.damping = 0.5;
    }
    return mf_motion_add(group, MF_MOTION_ARTICULATED, &motion, error);
}

static mf_Status add_rigid(mf_Group *group, bool shapes, mf_Error *error) {
    mf_MotionsConfig motion = mf_motions_config();
    motion.rigid.shapes = shapes;
    return mf_motion_add(group, MF_MOTION_RIGID, &motion, error);
}

static mf_Status add_group(const Bench *bench, mf_World *world, const mf_Model *model,
                           const char *name, uint32_t count, bool moves, mf_Group **out,
                           mf_Error *error) {
    mf_GroupConfig config = mf_group_config();
    config.name = name;
    config.model = model;
    config.count = count;
    config.isolated = false;
    MF_TRY(mf_world_add_group(world, &config, out, error));
    if (!moves)
        return MF_OK;
    const bool shapes = model->file[0] != '\0' && model->joint_count == 0;
    MF_TRY(mf_collisions_prepare(*out, error));
    // Wheels rotate freely.
    return bench->motion == MF_MOTION_RIGID
               ? add_rigid(*out, shapes, error)
               : add_articulated(*out, strcmp(name, "humanoids") == 0, shapes, error);
}

// Robots of a block have the same phase, blocks do not.
static void swing(const mf_SystemRun *run, void *user) {
    const Swings *all = user;
    const double time = 1e-3 * (double)run->tick; // [s]
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++) {
        const double wave = sin(2.0 * PI * (time + 0.37 * b)); // 1 Hz
        const size_t first = (size_t)b * all->target->components * MF_BLOCK;
        for (size_t i = 0; i < SWINGS; i++)
            for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
                ((float *)all->target->data)[first + all->joints[i] * MF_BLOCK + lane] =
                    (float)(swings[i].size * wave);
    }
}

static mf_Status add_swings(mf_Group *group, Swings *all, mf_Error *error) {
    static const char *const writes[] = {"joint.target", NULL};
    mf_SystemConfig system = mf_system_config();
    all->target = mf_group_find_field(group, "joint.target");
    for (size_t i = 0; i < SWINGS; i++) {
        all->joints[i] = mf_model_find(mf_group_model(group), MF_ITEM_JOINT, swings[i].joint);
        if (all->joints[i] == MF_NONE)
            return mf_fail(error, MF_NOT_FOUND, "bench: no joint %s", swings[i].joint);
    }
    system.name = "swing";
    system.phase = MF_PHASE_CONTROL;
    system.run = swing;
    system.user = all;
    system.writes = writes;
    system.rate = (mf_Rate){100, 1};
    return mf_group_add_system(group, &system, error);
}

// In rows; each moves towards the next one, every other row in the opposite direction.
static mf_Status place_humanoids(const Bench *bench, mf_Group *group, uint32_t count,
                                 mf_Error *error) {
    uint32_t columns = 1;
    while (columns * columns * 2 < 3 * count)
        columns++;
    const uint32_t rows = (count + columns - 1) / columns;
    const double along = bench->spacing > 0.0 ? bench->spacing : 9.0 / columns;
    const double across = bench->spacing > 0.0 ? bench->spacing : 6.0 / rows;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = i / columns, column = i % columns;
        const double at[3] = {(column - 0.5 * (columns - 1)) * along,
                              (row - 0.5 * (rows - 1)) * across,
                              mf_group_model(group)->rest_height};
        const double walk = bench->spacing > 0.0 && !bench->car ? 0.5 : 0.0;
        const double speed[3] = {column % 2 ? -walk : walk, 0, 0};
        MF_TRY(mf_group_set_start(group, i, at, NULL, speed, error));
    }
    return MF_OK;
}

// One that starts at `at` with a speed along x.
static mf_Status add_moving(const Bench *bench, Setup *setup, int model, const char *name,
                            const double at[3], double along, mf_Error *error) {
    const double speed[3] = {along, 0, 0};
    mf_Group *group;
    MF_TRY(add_group(bench, setup->rig.world, setup->models[model], name, 1, true, &group, error));
    return mf_group_set_start(group, 0, at, NULL, speed, error);
}

static mf_Status fill_world(const Bench *bench, Setup *setup, uint32_t count, mf_Error *error) {
    static const double car[3] = {-0.9, 0.05, 0.055}, ball[3] = {-0.5, 0.02, 0.07};
    mf_BenchRig *rig = &setup->rig;
    mf_Group *field;
    MF_TRY(add_group(bench, rig->world, setup->models[HUMANOID], "humanoids", count, true,
                     &rig->group, error));
    MF_TRY(place_humanoids(bench, rig->group, count, error));
    if (bench->swings)
        MF_TRY(add_swings(rig->group, &setup->swings, error));
    if (bench->car)
        MF_TRY(add_moving(bench, setup, CAR, "car", car, 2.0, error));
    if (bench->ball)
        MF_TRY(add_moving(bench, setup, BALL, "ball", ball, 1.0, error));
    return bench->field ? add_group(bench, rig->world, setup->models[FIELD], "field", 1, false,
                                    &field, error)
                        : MF_OK;
}

// ---- timing -------------------------------------------------------------------------------------

static mf_BenchPoint curve(const mf_Bench *bench, uint32_t n) {
    static const uint32_t numbers[] = {2, 5, 10, 20, 50, 100, 200, 0};
    (void)bench;
    return (mf_BenchPoint){numbers[n], 0};
}

static void prepare(mf_BenchRig *rig) {
    mf_world_measure(rig->world, true);
}

static void play(mf_BenchRig *rig) {
    Setup *setup = (Setup *)rig;
    const double before = mf_world_system_seconds(rig->world, 0);
    mf_world_step(rig->world, rig->steps);
    setup->parts[setup->number++] = mf_world_system_seconds(rig->world, 0) - before;
}

static mf_Status open_setup(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error) {
    const Bench *bench = rig->bench;
    Setup *setup = (Setup *)rig;
    mf_WorldConfig world = mf_world_config();
    mf_CollisionsConfig between = mf_collisions_config();
    world.step = MF_MILLISECOND;
    between.law = bench->law;
    rig->motion = mf_motion_name(bench->motion);
    rig->prepare = prepare;
    rig->run = play;
    MF_TRY(mf_bench_rig_context(rig, options->threads, error));
    MF_TRY(load_models(bench, setup, error));
    MF_TRY(mf_world_create(rig->context, &world, &rig->world, error));
    MF_TRY(fill_world(bench, setup, options->instances, error));
    return mf_collisions_add(rig->world, &between, &setup->collisions, error);
}

static mf_Status find_facts(mf_BenchRig *rig, const mf_BenchOptions *options,
                            mf_BenchResult *result, mf_Error *error) {
    Setup *setup = (Setup *)rig;
    (void)options;
    (void)error;
    setup->part = mf_bench_median(setup->parts + 1, result->repeats) / (double)result->steps;
    setup->statistics = mf_collisions_statistics(setup->collisions);
    return MF_OK;
}

// ---- output -------------------------------------------------------------------------------------

static double per_step(const Setup *setup, uint64_t sum) {
    return (double)sum / (double)setup->statistics.steps;
}

static json_t *more(mf_BenchRig *rig, const mf_BenchResult *r) {
    const Setup *setup = (Setup *)rig;
    const mf_CollisionsStatistics *s = &setup->statistics;
    const double step = r->seconds / (double)r->steps;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "realtime_factor",
                     mf_json_real(1e-3 / step), "step_us", mf_json_real(1e6 * step),
                     "collisions_us", mf_json_real(1e6 * setup->part), "bound_tests",
                     mf_json_real(per_step(setup, s->robot_tests + s->bound_tests)), "shape_tests",
                     mf_json_real(per_step(setup, s->shape_tests)), "tests_without_trees",
                     mf_json_real(per_step(setup, s->without)), "contacts",
                     mf_json_real(per_step(setup, s->contacts)));
}

static bool print_row(mf_BenchRig *rig, const mf_BenchResult *r) {
    const Setup *setup = (Setup *)rig;
    const mf_CollisionsStatistics *s = &setup->statistics;
    const double step = r->seconds / (double)r->steps;
    printf("%-25s %5u robots %8.3f us per step, %6.1f x real time, %8.3f us in collisions; tests "
           "%8.1f of volumes %7.1f of shapes, %10.1f without trees; %6.2f contacts %016llx\n",
           ((const Bench *)rig->bench)->bench.name, r->instances, 1e6 * step, 1e-3 / step,
           1e6 * setup->part, per_step(setup, s->robot_tests + s->bound_tests),
           per_step(setup, s->shape_tests), per_step(setup, s->without),
           per_step(setup, s->contacts), (unsigned long long)r->hash);
    return true;
}

const mf_BenchKind mf_bench_soccer = {MF_BENCH_ROWS(benches),
                                      .ignores = "model precision generations",
                                      .rig_size = sizeof(Setup),
                                      .curve = curve,
                                      .open = open_setup,
                                      .finish = find_facts,
                                      .more = more,
                                      .row = print_row,
                                      .close = close_setup};
