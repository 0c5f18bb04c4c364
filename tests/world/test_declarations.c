// Declarations of systems are correct, for all systems that scenes and Mayfly's robots use: running
// one alone changes no field except those that it declares as written, and its output is the same,
// bit for bit, for any values of the fields that it does not declare as read.
#include "motion/rig.h"
#include "motion/vehicle/car/motion.h"
#include "motion/vehicle/fixed_wing/motion.h"
#include "motion/vehicle/quadrotor/motion.h"
#include "rig/motions.h"
#include "world/attach.h"

#define FOLDER MAYFLY_SOURCE_DIR "/"

typedef struct Image {
    void *fields[128];
    uint32_t count;
} Image;

static size_t field_bytes(const mf_Field *field) {
    const size_t values = (size_t)field->blocks * field->components * MF_BLOCK;
    // The remainders of sums lie behind the values (world/attach.h).
    return values * mf_field_value_size(field->info.type) * (field->remainder != NULL ? 2 : 1);
}

static Image take_image(mf_Group *group) {
    Image image = {.count = mf_group_field_count(group)};
    assert_true(image.count <= 128);
    for (uint32_t f = 0; f < image.count; f++) {
        const mf_Field *field = mf_group_field(group, f);
        image.fields[f] = malloc(field_bytes(field) + 1);
        memcpy(image.fields[f], field->data, field_bytes(field));
    }
    return image;
}

static void put_back(mf_Group *group, const Image *image) {
    for (uint32_t f = 0; f < image->count; f++)
        memcpy(mf_group_field(group, f)->data, image->fields[f],
               field_bytes(mf_group_field(group, f)));
}

static void drop_image(Image *image) {
    for (uint32_t f = 0; f < image->count; f++)
        free(image->fields[f]);
}

static bool same(mf_Group *group, const Image *image, uint32_t f) {
    const mf_Field *field = mf_group_field(group, f);
    return memcmp(field->data, image->fields[f], field_bytes(field)) == 0;
}

static bool named(const char *const *names, const char *name) {
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static void scramble(mf_Field *field) {
    for (uint32_t i = 0; i < field->blocks * MF_BLOCK; i++)
        for (uint32_t c = 0; c < field->components; c++)
            mf_field_set(field, i, c,
                         field->info.type == MF_U32 || field->info.type == MF_I32
                             ? mf_field_get(field, i, c) + 1.0
                             : 1.25 * mf_field_get(field, i, c) + 0.375);
}

static void run_system(mf_Group *group, const mf_SystemConfig *config, uint64_t tick) {
    mf_Time step = mf_world_config_of(mf_group_world(group))->step;
    mf_SystemRun run = {group, (mf_Time)tick * step, step, tick, 0, mf_group_block_count(group)};
    if (config->run != NULL)
        config->run(&run, config->user);
}

static void check_system(mf_Group *group, const mf_SystemConfig *config, uint64_t tick) {
    AUTO(drop_image) Image before = take_image(group);
    run_system(group, config, tick);
    AUTO(drop_image) Image after = take_image(group);
    for (uint32_t f = 0; f < before.count; f++) {
        const char *name = mf_group_field(group, f)->info.name;
        if (!same(group, &before, f) && !named(config->writes, name))
            fail_msg("%s writes %s and does not say so", config->name, name);
    }
    for (uint32_t f = 0; f < before.count; f++) {
        const char *name = mf_group_field(group, f)->info.name;
        if (named(config->writes, name) || named(config->reads, name))
            continue;
        put_back(group, &before);
        scramble(mf_group_field(group, f));
        run_system(group, config, tick);
        for (uint32_t w = 0; w < before.count; w++) {
            const char *written = mf_group_field(group, w)->info.name;
            if (named(config->writes, written) && !same(group, &after, w))
                fail_msg("%s reads %s (seen in %s) and does not say so", config->name, name,
                         written);
        }
    }
    put_back(group, &before);
}

// After each of `rounds` pieces of `steps` steps, every system of every group.
static uint32_t check_world(mf_World *world, uint64_t steps, int rounds) {
    uint32_t checked = 0;
    uint64_t tick = 0;
    for (int round = 0; round < rounds; round++) {
        for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
            mf_Group *group = mf_world_group(world, g);
            for (uint32_t s = 0; s < mf_group_system_count(group); s++) {
                const mf_SystemConfig *config = mf_group_system(group, s);
                if (config->reads == NULL || config->writes == NULL)
                    fail_msg("%s does not declare what it touches", config->name);
                check_system(group, config, tick);
                checked++;
            }
        }
        mf_world_step(world, steps);
        tick += steps;
    }
    return checked;
}

// ---- scenes ------------------------------------------------------------------------------------

// Robots with genomes, and what evaluations add to them, or a scene as it is.
static void check_scene(const char *name, const mf_Override *overrides, uint32_t count,
                        const mf_SceneConfig *config, uint64_t steps) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_SCENE_FILE *file;
    AUTO_SCENE scene;
    MUST(mf_scene_file_load(context, formatted(FOLDER "scenes/%s", name), overrides, count, &file,
                            &error));
    MUST(mf_scene_create(context, file, config, &scene, &error));
    uint32_t bytes = config != NULL ? mf_scene_genome_bytes(&scene) : 0;
    for (uint32_t robot = 0; robot < 5 && bytes > 0; robot++) {
        uint8_t genome[4096];
        for (uint32_t i = 0; i < bytes; i++)
            genome[i] = (uint8_t)(i * 37 + robot * 101 + i * i);
        mf_scene_apply_genome(&scene, robot, genome);
    }
    assert_true(check_world(scene.world, steps, 3) >= 6);
}

static void check_evaluation(const char *name, const mf_Override *overrides, uint32_t count) {
    check_scene(name, overrides, count, &WITH(mf_scene_config(), .count = 5, .evaluates = true),
                56);
}

TEST(evaluations_declare_what_they_do) {
    static const mf_Override coupled[] = {{"group.motion.points.friction", "coupled"},
                                          {"group.motion.points.weighted", "true"},
                                          {"group.motion.points.keep_momentum", "true"}};
    check_evaluation("neophysix.yaml", NULL, 0);
    check_evaluation("rough.yaml", coupled, 3);
    check_evaluation("oscillator.yaml", NULL, 0);
    check_evaluation("quadruped.yaml", NULL, 0);
    static const char *const fitnesses[] = {"speed", "economy", "upright", "steps"};
    for (int i = 0; i < 4; i++) {
        const mf_Override fitness = {"search.fitness", fitnesses[i]};
        check_evaluation("hexapod.yaml", &fitness, 1);
    }
}

TEST(vehicles_declare_what_they_do) {
    static const mf_Override few[] = {{"groups.quads.count", "20"},
                                      {"groups.wings.count", "20"},
                                      {"groups.cars.count", "20"},
                                      {"groups.wings.motion.fixed_wing.turbulence", "low_light"},
                                      {"groups.quads.control_interval", "0.02"},
                                      {"groups.quads.motion.quadrotor.outer_interval", "0.04"}};
    check_scene("swarm.yaml", few, 6, NULL, 37);
    check_scene("circles.yaml", NULL, 0, NULL, 37);
}

// ---- robots under full dynamics ----------------------------------------------------------------

static void check_robot(const char *name, const mf_ArticulatedConfig *config) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model;
    MUST(mf_model_load(context, formatted(FOLDER "models/%s", name),
                       &WITH(mf_import_config(), .lenient = true), &model, &error));
    AUTO_WORLD *world = open_world(context, &WITH(mf_world_config(), .step = 2 * MF_MILLISECOND));
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = model, .count = 3));
    MUST(rig_add_articulated(group, config, &error));
    const bool none = model->sensor_value_count == 0;
    MUST(mf_sensors_add(group, &WITH(mf_sensors_config(), .before_control = none, .posture = none),
                        &error));
    mf_Field *control = mf_group_find_field(group, "actuator.control");
    for (uint32_t c = 0; control != NULL && c < control->components; c++)
        mf_field_set(control, 1, c, 0.25);
    assert_true(check_world(world, 60, 3) >= 6);
}

TEST(robots_declare_what_they_do) {
    mf_ArticulatedConfig servos =
        WITH(mf_motions_config().articulated, .servo.gain = 20.0, .servo.damping = 0.5);
    mf_ArticulatedConfig hard = WITH(servos, .contact_law = MF_CONTACT_LAW_HARD, .shapes = true);
    check_robot("hexapod.urdf", &servos);
    check_robot("humanoid.urdf", &hard);
    check_robot("ant.xml", NULL);
    check_robot("trotter.xml", &hard);
    check_robot("figure.xml", NULL);
    check_robot("stack.xml", &hard);
}

// Five robots, each at another level of the ladder.
TEST(levels_declare_what_they_do) {
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model;
    mf_MotionsConfig motions = mf_motions_config();
    MUST(mf_model_load(context, FOLDER "models/hexapod.urdf", NULL, &model, &error));
    AUTO_WORLD *world = open_world(context, NULL);
    mf_Group *group =
        add_group(world, &WITH(mf_group_config(), .model = model, .count = MF_MOTION_LEVELS));
    for (int i = 0; i < MF_MOTION_LEVELS; i++)
        motions.has[i] = true;
    MUST(mf_motions_add(group, &motions, &error));
    for (uint32_t i = 0; i < MF_MOTION_LEVELS; i++)
        MUST(mf_motion_switch(group, i, (mf_Motion)i, &error));
    assert_true(check_world(world, 24, 3) >= 3 * MF_MOTION_LEVELS);
}

static mf_Group *add_shared(mf_World *world, const mf_Model *model, const char *name) {
    return add_group(world, &WITH(mf_group_config(), .model = model, .name = name, .count = 3,
                                  .isolated = false));
}

static void add_loaded(mf_World *world, const mf_Model *model, mf_Motion motion) {
    mf_Group *group = add_shared(world, model, mf_motion_name(motion));
    MUST(mf_collisions_prepare(group, &error));
    MUST(mf_motion_add(group, motion, NULL, &error));
    for (uint32_t i = 0; i < 2; i++) {
        set_field(group, "wrench.count", i, 0, 1);
        set_field(group, "wrench.link", i, 0, 0.01);
        set_field(group, "wrench.link", i, 5, 0.001);
    }
}

// Bodies that are moved from outside, and vehicles that are pushed.
TEST(bodies_declare_what_they_do) {
    AUTO_CONTEXT *context = open_context(1);
    mf_Model *models[4];
    mf_World *world;
    const mf_Quadrotor quadrotor = mf_quadrotor();
    const mf_FixedWing wing = mf_fixed_wing();
    const mf_Car car = mf_car();
    mf_ExternalConfig external = mf_motions_config().external;
    MUST(mf_model_load(context, FOLDER "models/humanoid.urdf", NULL, &models[0], &error));
    MUST(mf_quadrotor_model(context, &quadrotor, "quadrotor", &models[1], &error));
    MUST(mf_fixed_wing_model(context, &wing, "fixed_wing", &models[2], &error));
    MUST(mf_car_body(context, &car, "car", &models[3], &error));
    MUST(mf_world_create(context, NULL, &world, &error));
    MUST(rig_add_external(add_shared(world, models[0], "free"), &external, &error));
    external.targets = true;
    MUST(rig_add_external(add_shared(world, models[0], "led"), &external, &error));
    add_loaded(world, models[1], MF_MOTION_QUADROTOR);
    add_loaded(world, models[2], MF_MOTION_FIXED_WING);
    add_loaded(world, models[3], MF_MOTION_CAR);
    assert_int_equal(check_world(world, 7, 3), 15);
    mf_world_destroy(world);
    for (int i = 0; i < 4; i++)
        mf_model_destroy(models[i]);
}

// ---- robots with gaits, rules and plugins -------------------------------------------------------

#define PLUGINS MAYFLY_BINARY_DIR "/plugins/plugin_"
#define HUMANOID                                                                                   \
    "    model: models/humanoid.urdf\n    sensors: true\n    count: 2\n"                           \
    "    gaits: [walk, stand]\n    behavior: {gait: {name: walk, command: [0.1, 0, 0.1]}}\n"

static void check_play(const char *text, uint64_t steps, uint32_t least) {
    enum { ROUNDS = SANITIZED ? 1 : 3 };
    AUTO_CONTEXT *context = open_context(1);
    AUTO_SCENE_FILE *file;
    AUTO_SCENE scene;
    mf_plugins_allow(context, true);
    MUST(mf_scene_file_parse(context, FOLDER "t.yaml", text, strlen(text), NULL, 0, &file, &error));
    MUST(mf_scene_create(context, file, NULL, &scene, &error));
    uint32_t checked = check_world(scene.world, steps, ROUNDS);
    if (checked < ROUNDS * least)
        fail_msg("%u systems, expected %u", checked, ROUNDS * least);
}

// Every level by itself, with a gait, the whole chain of sensors, and pushes by a robot that stands
// in the way: motions, gaits, motion and sensors of each group, and what refreshes them.
TEST(plays_declare_what_they_do) {
    static const char *const levels[] = {"kinematic", "points", "rigid", "prescribed",
                                         "articulated"};
    for (int i = 0; i < MF_MOTION_LEVELS; i++) {
        check_play(
            formatted("world: {step: 0.001}\ngroups:\n  - name: a\n    motion: %s\n" HUMANOID
                      "    placement: {poses: [[0, 0, 0], [0.12, 0.06, 3]]}\n"
                      "  - name: b\n    motion: %s\n" HUMANOID
                      "    placement: {poses: [[0.1, -0.1, 0], [2, 0, 0]]}\n"
                      "    switch:\n      - {to: rigid, when: {far: {group: a, distance: 1}}}\n",
                      levels[i], levels[i]),
            13, 8);
    }
}

TEST(plugins_do_what_they_declare) {
    check_play("world: {step: 0.001}\ngroups:\n  - name: a\n    model: models/hexapod.urdf\n    "
               "motion: own\n"
               "    count: 3\n    sensors: true\n    plugins:\n"
               "      - file: \"" PLUGINS "hover.so\"\n      - file: \"" PLUGINS "sway.so\"\n"
               "    switch:\n      - {to: rigid, when: {near: {group: a, distance: 0.1}}}\n",
               20, 5);
}
