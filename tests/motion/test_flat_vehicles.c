// Kernels read plans and ground from flat images only: a world whose images are moved to other
// memory during a run, with the originals overwritten, gives the same bits. One world with hills
// and wind contains walkers of `points` with gaits, networks and programs, cars on a path,
// quadrotors, and aircraft in gusts.
#include "base/move_image.h"
#include "motion/vehicle/fixed_wing/motion.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "solve/parts.h"
#include "motion/vehicle/car/motion.h"
#include "motion/rig.h"
#include "motion/points/motion.h"
#include "motion/table.h"
#include "sense/sensors_build.h"
#include "world/group.h"

enum { MOST = 16, STEPS = 120, WALKERS = 3, MODELS = 6, GAITS = 3 };

typedef struct Case {
    mf_Interpolation interpolation;
    bool wide;
    uint32_t threads;
} Case;

typedef struct Scene {
    const Case *from;
    mf_Context *context;
    mf_Terrain *terrain;
    mf_World *world;
    mf_Interaction *interaction;
    mf_Model *models[MODELS];
    mf_Gait *gaits[GAITS];
    uint32_t model_count, gait_count;
    void *spoiled[MOST];
    uint32_t spoiled_count;
    mf_TerrainImage *ground; // the copy
} Scene;

static void path_of(char *out, size_t size, const char *file) {
    snprintf(out, size, "%s/models/%s", MAYFLY_SOURCE_DIR, file);
}

// ---- the scene ----------------------------------------------------------------------------------

static mf_Group *add_shared(Scene *scene, const char *name, mf_Model *model, uint32_t count) {
    scene->models[scene->model_count++] = model;
    return add_group(scene->world,
                     &WITH(mf_group_config(), .name = name, .model = model, .count = count,
                           .isolated = false, .double_precision = scene->from->wide));
}

static mf_Group *add_walkers(Scene *scene, const char *name, const char *file, bool coupled) {
    char path[512];
    mf_Model *model;
    path_of(path, sizeof path, file);
    MUST(mf_model_load(scene->context, path, NULL, &model, &error));
    mf_Group *group = add_shared(scene, name, model, WALKERS);
    MUST(rig_add_points(group,
                        &WITH(mf_motions_config().points, .joint_interval = 5 * MF_MILLISECOND,
                              .friction = coupled ? MF_FRICTION_COUPLED : MF_FRICTION_FIT,
                              .friction_coefficient = 0.8),
                        &error));
    return group;
}

static void add_gaits(Scene *scene, mf_Group *group) {
    static const char *const files[GAITS] = {
        "gaits/humanoid/walk.yaml", "gaits/humanoid/kick_left.yaml", "gaits/humanoid/march.yaml"};
    for (; scene->gait_count < GAITS; scene->gait_count++) {
        char path[512];
        path_of(path, sizeof path, files[scene->gait_count]);
        MUST(mf_gait_load(scene->context, path, mf_group_model(group),
                          &scene->gaits[scene->gait_count], &error));
    }
    MUST(mf_gaits_add(group, (const mf_Gait *const *)scene->gaits, GAITS, NULL, &error));
}

static void add_network(mf_Group *group) {
    static const uint32_t hidden[] = {7};
    MUST(mf_network_add(group, &WITH(mf_network_config(), .hidden = hidden, .hidden_count = 1),
                        &error));
}

static void add_program(mf_Group *group) {
    mf_GpConfig config = WITH(mf_gp_config(), .rate = mf_rate_from_period(10 * MF_MILLISECOND));
    MUST(mf_sensors_add(
        group,
        &WITH(mf_sensors_config(), .rate = config.rate, .before_control = true, .posture = true),
        &error));
    MUST(mf_gp_add(group, &config, &error));
}

static void add_vehicles(Scene *scene) {
    static const double path[][2] = {{0, 0}, {4, 1}, {3, 4}, {-1, 3}};
    mf_Model *model;
    mf_MotionsConfig motions = WITH(mf_motions_config(), .car_config.command = MF_CAR_COMMAND_PATH,
                                    .quadrotor_config.command = MF_QUADROTOR_POSITION,
                                    .quadrotor_config.outer_interval = 4 * MF_MILLISECOND,
                                    .fixed_wing_config.command = MF_FIXED_WING_ORBIT,
                                    .fixed_wing_config.turbulence = MF_TURBULENCE_LOW_MODERATE);

    MUST(mf_car_body(scene->context, &motions.car, "body", &model, &error));
    mf_Group *cars = add_shared(scene, "cars", model, 5);
    MUST(mf_motion_add(cars, MF_MOTION_CAR, &motions, &error));
    MUST(mf_car_set_path(cars, path, 4, true, &error));
    MUST(mf_quadrotor_model(scene->context, &motions.quadrotor, "body", &model, &error));
    mf_Group *quadrotors = add_shared(scene, "quadrotors", model, 9);
    MUST(mf_motion_add(quadrotors, MF_MOTION_QUADROTOR, &motions, &error));
    MUST(mf_fixed_wing_model(scene->context, &motions.fixed_wing, "fixed_wing", &model, &error));
    mf_Group *wings = add_shared(scene, "wings", model, 4);
    MUST(mf_motion_add(wings, MF_MOTION_FIXED_WING, &motions, &error));
}

static void spread(Scene *scene) {
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++) {
        mf_Group *group = mf_world_group(scene->world, g);
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            const bool flies = mf_motion_plan(group, &mf_quadrotor_row) != NULL;
            const double position[3] = {2.0 * random_signed(g, 2 * i),
                                        2.0 * random_signed(g, 2 * i + 1),
                                        flies ? 2.0 + 0.3 * i : 0.0};
            MUST(mf_group_set_start(group, i, position, NULL, NULL, &error));
        }
    }
}

// What robots are to do, behind the reset that comes with a start.
static void command(const Scene *scene) {
    mf_Group *gaits = mf_world_find_group(scene->world, "humanoids");
    mf_Group *programs = mf_world_find_group(scene->world, "programs");
    mf_Field *weight =
        mf_group_find_field(mf_world_find_group(scene->world, "networks"), "network.weight");
    mf_Field *speed =
        mf_group_find_field(mf_world_find_group(scene->world, "cars"), "command.speed");
    for (uint32_t i = 0; i < WALKERS; i++) {
        uint8_t program[MF_GP_BYTES];
        set_field(gaits, "gait.select", i, 0, i);
        set_field(gaits, "gait.command", i, 0, 0.2);
        for (uint32_t c = 0; c < weight->components; c++)
            mf_field_set(weight, i, c, random_signed(i, c));
        for (uint32_t b = 0; b < MF_GP_BYTES; b++)
            program[b] = (uint8_t)(127.0 * (1.0 + random_signed(10 + i, b)));
        mf_gp_set_program(programs, i, program);
        mf_field_set(speed, i, 0, 1.0 + 0.2 * i);
    }
}

static void scene_open(Scene *scene, const Case *from) {
    *scene = (Scene){.from = from, .context = open_context(from->threads)};
    scene->terrain =
        make_terrain(scene->context, MF_TERRAIN_NOISE, from->interpolation, 0.05, 1.0, 0.1);
    scene->world = open_world(scene->context, &WITH(mf_world_config(), .terrain = scene->terrain,
                                                    .step = MF_MILLISECOND));
    add_gaits(scene, add_walkers(scene, "humanoids", "humanoid.urdf", false));
    add_network(add_walkers(scene, "networks", "hexapod.urdf", true));
    add_program(add_walkers(scene, "programs", "quadruped.urdf", false));
    add_vehicles(scene);
    spread(scene);
    command(scene);
    MUST(mf_interaction_add(scene->world,
                            &WITH(mf_interaction_config(), .collide = false, .terrain = false,
                                  .detect = false, .downwash = true, .profile = MF_WIND_LOGARITHMIC,
                                  .wind[0] = 3.0),
                            &scene->interaction, &error));
}

static void scene_close(Scene *scene) {
    if (scene->ground != NULL)
        memcpy((void *)(uintptr_t)mf_terrain_image(scene->terrain), scene->ground,
               scene->ground->bytes);
    mf_world_destroy(scene->world);
    mf_terrain_destroy(scene->terrain);
    mf_release(scene->context, scene->ground);
    for (uint32_t i = 0; i < scene->spoiled_count; i++)
        mf_release(scene->context, scene->spoiled[i]);
    for (uint32_t i = 0; i < scene->gait_count; i++)
        mf_gait_destroy(scene->gaits[i]);
    for (uint32_t i = 0; i < scene->model_count; i++)
        mf_model_destroy(scene->models[i]);
    close_context(scene->context);
}

// ---- moving -------------------------------------------------------------------------------------

static void move(Scene *scene, const void **image) {
    assert_true(scene->spoiled_count < MOST);
    void *copy = move_image(scene->context, *image);
    scene->spoiled[scene->spoiled_count++] = (void *)(uintptr_t)*image;
    *image = copy;
}

// What such a system works on begins with the pointer to its image.
static bool has_image(const char *system) {
    static const char *const names[] = {"points", "car", "quadrotor", "fixed_wing",
                                        "gaits",  "gp",  "network"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(system, names[i]) == 0)
            return true;
    return false;
}

static void move_ground(Scene *scene, mf_Group *group) {
    mf_PointsMotion *points = mf_motion_plan(group, &mf_points_row);
    mf_CarMotion *car = mf_motion_plan(group, &mf_car_row);
    if (points != NULL)
        points->terrain = scene->ground;
    if (car == NULL)
        return;
    car->terrain = scene->ground;
    move(scene, (const void **)&car->path);
}

static void move_all(Scene *scene) {
    uint32_t count = 0;
    scene->ground = move_image(scene->context, mf_terrain_image(scene->terrain));
    for (uint32_t g = 0; g < mf_world_group_count(scene->world); g++) {
        mf_Group *group = mf_world_group(scene->world, g);
        move_ground(scene, group);
        for (uint32_t s = 0; s < group->system_count; s++) {
            const mf_SystemConfig *config = &group->systems[s].config;
            if (strcmp(config->name, "sensors") == 0)
                ((mf_SensePlan *)config->user)->batch.terrain = scene->ground;
            if (!has_image(config->name))
                continue;
            move(scene, config->user);
            count++;
        }
    }
    assert_int_equal(count, 9);
    move(scene, (const void **)&scene->interaction->air_task.plan);
}

// ---- tests --------------------------------------------------------------------------------------

static uint64_t run(const Case *from, bool moved) {
    AUTO(scene_close) Scene scene;
    scene_open(&scene, from);
    mf_world_step(scene.world, STEPS);
    if (moved)
        move_all(&scene);
    mf_world_step(scene.world, STEPS);
    for (uint32_t g = 0; g < mf_world_group_count(scene.world); g++) {
        mf_Group *group = mf_world_group(scene.world, g);
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            assert_int_equal(get_field(group, "fault.word", i, 0), 0);
    }
    return mf_world_hash(scene.world);
}

TEST(moved_images_give_the_same_bits) {
    static const Case cases[] = {{MF_BILINEAR, false, 1}, {MF_NEAREST, true, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(run(&cases[i], false) == run(&cases[i], true));
}
