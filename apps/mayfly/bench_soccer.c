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
    uint32_t threads;    // [1]
    uint32_t humanoids;  // [1] 0: a curve over several numbers
    double spacing;      // [m] between them; 0: spread over the field
    bool car, ball, field;
    bool swings; // the humanoids swing their limbs instead of standing still
    uint32_t steps;
} Bench;

// clang-format off
static const Bench benches[] = {
    // motion, law, threads, humanoids, spacing, car, ball, field, swings, steps
    {{"soccer-2", NULL, false},
     MF_MOTION_ARTICULATED, MF_COLLISION_EXPLICIT, 1, 2, 0.28, false, true, true, false, 2000},
    {{"soccer-2-compliant", NULL, false},
     MF_MOTION_ARTICULATED, MF_COLLISION_COMPLIANT, 1, 2, 0.28, false, true, true, false, 2000},
    {{"soccer-10-car", NULL, false},
     MF_MOTION_RIGID, MF_COLLISION_EXPLICIT, 1, 10, 0.4, true, false, false, false, 2000},
    {{"soccer-10-car-articulated", NULL, false},
     MF_MOTION_ARTICULATED, MF_COLLISION_EXPLICIT, 2, 10, 0.4, true, false, false, false, 2000},
    {{"soccer-field", NULL, true},
     MF_MOTION_RIGID, MF_COLLISION_EXPLICIT, 1, 0, 0.0, false, true, true, true, 400},
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
    mf_Context *context;
    mf_Model *models[MODELS];
    mf_World *world;
    mf_Collisions *collisions;
    Swings swings;
} Setup;

static void setup_free(Setup *setup) {
    mf_world_destroy(setup->world);
    for (int i = 0; i < MODELS; i++)
        mf_model_destroy(setup->models[i]);
    mf_context_destroy(setup->context);
}

static mf_Status load_models(const Bench *bench, Setup *setup, mf_Error *error) {
    static const char *const names[MODELS] = {"humanoid.urdf", "car.urdf", "ball.xml",
                                              "soccer_field.xml"};
    const bool requested[MODELS] = {true, bench->car, bench->ball, bench->field};
    mf_Status status = MF_OK;
    char models[MF_APP_PATH], path[MF_APP_PATH + 32];
    for (int i = 0; i < MODELS && status == MF_OK; i++) {
        if (!requested[i])
            continue;
        snprintf(path, sizeof path, "%s/%s", mf_app_own("models", models), names[i]);
        status = mf_model_load(setup->context, path, NULL, &setup->models[i], error);
    }
    return status;
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
    mf_Status status = mf_world_add_group(world, &config, out, error);
    if (status != MF_OK || !moves)
        return status;
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

static mf_Status fill_world(const Bench *bench, Setup *setup, uint32_t count, mf_World *world,
                            mf_Error *error) {
    mf_Group *group;
    mf_Status status =
        add_group(bench, world, setup->models[HUMANOID], "humanoids", count, true, &group, error);
    MF_THEN(status, place_humanoids(bench, group, count, error));
    if (status == MF_OK && bench->swings)
        status = add_swings(group, &setup->swings, error);
    if (status == MF_OK && bench->car) {
        const double at[3] = {-0.9, 0.05, 0.055}, speed[3] = {2.0, 0, 0};
        status = add_group(bench, world, setup->models[CAR], "car", 1, true, &group, error);
        MF_THEN(status, mf_group_set_start(group, 0, at, NULL, speed, error));
    }
    if (status == MF_OK && bench->ball) {
        const double at[3] = {-0.5, 0.02, 0.07}, speed[3] = {1.0, 0, 0};
        status = add_group(bench, world, setup->models[BALL], "ball", 1, true, &group, error);
        MF_THEN(status, mf_group_set_start(group, 0, at, NULL, speed, error));
    }
    if (status == MF_OK && bench->field)
        status = add_group(bench, world, setup->models[FIELD], "field", 1, false, &group, error);
    return status;
}

static mf_Status setup_make(const Bench *bench, uint32_t count, const mf_BenchOptions *options,
                            Setup *setup, mf_Error *error) {
    mf_ContextConfig config = mf_context_config();
    config.threads = options->threads != 0 ? options->threads : bench->threads;
    MF_TRY(mf_context_create(&config, &setup->context, error));
    MF_TRY(load_models(bench, setup, error));
    mf_WorldConfig world = mf_world_config();
    world.step = MF_MILLISECOND;
    mf_Status status = mf_world_create(setup->context, &world, &setup->world, error);
    MF_THEN(status, fill_world(bench, setup, count, setup->world, error));
    mf_CollisionsConfig between = mf_collisions_config();
    between.law = bench->law;
    MF_THEN(status, mf_collisions_add(setup->world, &between, &setup->collisions, error));
    return status;
}

// ---- timing -------------------------------------------------------------------------------------

typedef struct Result {
    mf_BenchResult bench;
    double step;                        // [s] of one, the median of the repeats
    double part;                        // [s] of it in collisions, likewise
    mf_CollisionsStatistics statistics; // of one repeat
} Result;

typedef struct Match {
    const Setup *setup;
    uint64_t steps;                     // [1]
    uint32_t number;                    // [1] of repeats
    double parts[MF_BENCH_REPEATS + 1]; // [s] in collisions; the first warms up
} Match;

static void prepare(void *user) {
    const Match *match = user;
    mf_collisions_clear_statistics(match->setup->collisions);
    mf_world_measure(match->setup->world, true);
}

static void play(void *user) {
    Match *match = user;
    mf_World *world = match->setup->world;
    const double before = mf_world_system_seconds(world, 0);
    mf_world_step(world, match->steps);
    match->parts[match->number++] = mf_world_system_seconds(world, 0) - before;
}

static mf_Status time_steps(const Bench *bench, const Setup *setup, uint64_t steps,
                            const mf_BenchOptions *options, Result *out, mf_Error *error) {
    Match match = {.setup = setup, .steps = steps};
    const mf_BenchWork work = {.name = bench->bench.name,
                               .world = setup->world,
                               .steps = steps,
                               .prepare = prepare,
                               .run = play,
                               .user = &match};
    MF_TRY(mf_bench_time(&work, options, &out->bench, error));
    const uint32_t repeats = out->bench.repeats;
    out->step = out->bench.seconds / (double)steps;
    out->part = mf_bench_median(match.parts + 1, repeats) / (double)steps;
    out->statistics = mf_collisions_statistics(setup->collisions);
    return MF_OK;
}

// ---- output -------------------------------------------------------------------------------------

static double per_step(const Result *result, uint64_t sum) {
    return (double)sum / (double)result->statistics.steps;
}

static bool print_json(const mf_BenchOptions *options, const Bench *bench, const Result *r) {
    const mf_CollisionsStatistics *s = &r->statistics;
    return mf_bench_print_json(
        options, bench->bench.name, mf_motion_name(bench->motion), &r->bench,
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "realtime_factor",
                  mf_json_real(1e-3 / r->step), "step_us", mf_json_real(1e6 * r->step),
                  "collisions_us", mf_json_real(1e6 * r->part), "sphere_tests",
                  mf_json_real(per_step(r, s->robot_tests + s->sphere_tests)), "shape_tests",
                  mf_json_real(per_step(r, s->shape_tests)), "tests_without_trees",
                  mf_json_real(per_step(r, s->without)), "contacts",
                  mf_json_real(per_step(r, s->contacts))));
}

static bool print_row(const Bench *bench, const Result *r) {
    const mf_CollisionsStatistics *s = &r->statistics;
    printf("%-25s %5u robots %8.3f us per step, %6.1f x real time, %8.3f us in collisions; tests "
           "%8.1f of spheres %7.1f of shapes, %10.1f without trees; %6.2f contacts %016llx\n",
           bench->bench.name, r->bench.instances, 1e6 * r->step, 1e-3 / r->step, 1e6 * r->part,
           per_step(r, s->robot_tests + s->sphere_tests), per_step(r, s->shape_tests),
           per_step(r, s->without), per_step(r, s->contacts), (unsigned long long)r->bench.hash);
    return mf_app_flush();
}

static int run_one(const Bench *bench, uint32_t count, uint64_t usual,
                   const mf_BenchOptions *options, bool json) {
    Setup setup = {0};
    mf_Error error = {0};
    Result result = {.bench = {.instances = count}};
    const uint64_t steps = options->steps != 0 ? options->steps : usual;
    mf_Status status = setup_make(bench, count, options, &setup, &error);
    MF_THEN(status, time_steps(bench, &setup, steps, options, &result, &error));
    bool written = false;
    if (status == MF_OK)
        written = json ? print_json(options, bench, &result) : print_row(bench, &result);
    setup_free(&setup);
    return mf_bench_end(status, &error, written);
}

static int run_curve(const Bench *bench, const mf_BenchOptions *options, bool json) {
    static const uint32_t numbers[] = {2, 5, 10, 20, 50, 100, 200};
    int result = MF_EXIT_DONE;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && result == MF_EXIT_DONE; i++)
        result = run_one(bench, numbers[i], bench->steps, options, json);
    return result;
}

static int run(const void *row, const mf_BenchOptions *options, bool json) {
    const Bench *bench = row;
    if (bench->humanoids == 0 && options->instances == 0)
        return run_curve(bench, options, json);
    return run_one(bench, options->instances != 0 ? options->instances : bench->humanoids,
                   bench->steps, options, json);
}

const mf_BenchKind mf_bench_soccer = {MF_BENCH_ROWS(benches),
                                      .ignores = "model precision generations", .run = run};
