// Evaluations: the worlds in which robots evolve, genomes, and fitness that depends on the genome
// only.
#include "rig/rig.h"
#include "model/points.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

static mf_SceneFile *load(mf_Context *context, const char *name, const mf_Override *overrides,
                          uint32_t count) {
    return load_scene(context, formatted("scenes/%s", name), overrides, count);
}

TEST(every_scene_of_ours_evolves) {
    static const char *const names[] = {"hexapod.yaml", "neophysix.yaml",  "quadruped.yaml",
                                        "rough.yaml",   "oscillator.yaml", "two_levels.yaml"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        AUTO_SCENE_FILE *file = load(*state, names[i], NULL, 0);
        MUST(mf_scene_file_can_evolve(file, &error));
        AUTO_SCENE scene = make_evaluation(*state, file, 3);
        assert_int_equal(mf_group_count(scene.group), 3);
        assert_int_equal(file->search.genome_bytes, mf_scene_genome_bytes(&scene));
        mf_world_step(scene.world, 200);
        assert_int_equal(mf_group_fault_total(scene.group), 0);
    }
}

// At another level: the step of `verify`, servos from the robot's file, feet that feel the ground.
TEST(a_scene_moves_to_another_level) {
    const mf_Override overrides[] = {{"search.verify.step", "0.002"}, {"run.duration", "1"}};
    AUTO_SCENE_FILE *file = load(*state, "quadruped.yaml", overrides, 2);
    mf_SceneConfig config = mf_scene_config_at_level(file, MF_MOTION_ARTICULATED);
    assert_int_equal(config.step, 2 * MF_MILLISECOND);
    assert_true(config.evaluates);
    assert_int_equal(mf_scene_config_at_level(file, MF_MOTION_POINTS).step, 0); // the file's own
    config.count = 20;
    mf_Scene scene = make_with(*state, file, &config);
    assert_int_equal(scene.motion, MF_MOTION_ARTICULATED);
    assert_non_null(mf_articulated_config_of(scene.group));
    assert_false(mf_motion_in(scene.group, MF_MOTION_POINTS));
    mf_world_step(scene.world, 500);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
    assert_int_equal(scene.model->sensor_value_count, 4); // a contact sensor for each foot
    for (uint32_t foot = 0; foot < 4; foot++)
        assert_true(get_field(scene.group, "sensor.value", 17, foot) ==
                    1.0); // it stands on all fours
    // Held up by servos that give in a little: the body stays within 2 cm of where it stood.
    assert_near(get(&scene, 0, "base.position", 3, 2), scene.model->rest_height, 0.02);

    // An evaluation is the same again, whatever came before.
    uint8_t genomes[20 * MF_GP_BYTES];
    double fitness[2][20];
    for (size_t i = 0; i < sizeof genomes; i++)
        genomes[i] = (uint8_t)(i * 89 + i / 7);
    for (int i = 0; i < 2; i++)
        MUST(mf_scene_evaluate(&scene, genomes, 20, MF_GP_BYTES, fitness[i], &error));
    assert_memory_equal(fitness[0], fitness[1], sizeof fitness[0]);
    mf_scene_destroy(&scene);

    config = mf_scene_config_at_level(file, MF_MOTION_OWN);
    MUST_FAIL(mf_scene_create(*state, file, &config, &scene, &error), MF_BAD_ARGUMENT,
              "motion own: none of its plugins is a motion");
}

// Fischer and Ihme 2024, section IV.
TEST(the_published_experiment_is_a_scene) {
    AUTO_SCENE_FILE *e = load(*state, "neophysix.yaml", NULL, 0);
    assert_int_equal(e->search.population, 100);
    assert_int_equal(e->search.survivors, 50);
    assert_int_equal(e->generations, 1364);
    assert_true(e->duration == 120);
    assert_int_equal(e->step, 10 * MF_MILLISECOND);
    assert_int_equal(e->groups[0].motions.points.joint_interval, 80 * MF_MILLISECOND);
    AUTO_SCENE scene = make_evaluation(*state, e, 1);
    assert_int_equal(scene.model->joint_count, 18);
    assert_int_equal(mf_scene_genome_bytes(&scene), 32);
}

static mf_SceneFile *load_with(mf_Context *context, const char *initial) {
    return parse_scene(
        context,
        formatted("groups:\n  - name: a\n    model: ../models/hexapod.urdf\n    motion: points\n"
                  "    controller: gp\n    initial: %s\n",
                  initial));
}

// Set for every robot, before distance counts, and again in every evaluation; the fit of points
// follows the angles.
TEST(episodes_begin_with_initial_values) {
    AUTO_SCENE_FILE *file = load_with(*state, "[{property: '*/joint.angle', values: [0.125]}, "
                                              "{property: leg2_femur/joint.angle, values: [0.25]}, "
                                              "{property: base.position, values: [3, 4, 0.5]}]");
    AUTO_SCENE scene = make_evaluation(*state, file, 2);
    uint32_t joint = mf_model_find(scene.model, MF_ITEM_JOINT, "leg2_femur");
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 2; i++) {
            assert_true(get(&scene, 0, "joint.angle", i, 0) == 0.125);
            assert_true(get(&scene, 0, "joint.angle", i, joint) == 0.25);
            assert_true(get(&scene, 0, "base.position", i, 1) == 4.0);
            assert_true(mf_scene_distance(&scene, i) == 0.0);
        }
        mf_world_step(scene.world, 50);
        MUST(mf_world_restore(scene.world, scene.start, scene.start_size, &error));
    }
}

TEST(wrong_initial_values_are_named) {
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"[{property: leg9/joint.angle, values: [0]}]", "has no such link, joint"},
        {"[{property: leg2_femur/joint.angel, values: [0]}]", "near: joint.angle"},
        {"[{property: mass, values: [2]}]", "cannot be written, it is a constant of the model"},
        {"[{property: sensor.attitude, values: [0]}]", "with the name of an attitude sensor"},
        {"[{property: sensor.value, values: [0]}]", "cannot be written, it is computed"},
        {"[{property: base.position, values: [0, 1]}]", "base.position has 3 values, found 2"},
        {"[{property: base.orientation, values: [1, 1, 0, 0]}]", "of length 1"},
        {"[{property: base.position.x, values: [1e200]}]", "expected finite numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AUTO_SCENE_FILE *file = load_with(*state, rows[i].text);
        mf_Scene scene;
        mf_Error error = {0};
        assert_int_not_equal(mf_scene_create(*state, file, NULL, &scene, &error), MF_OK);
        assert_contains(error.message, rows[i].part);
        assert_string_equal(error.file, file->file);
        assert_int_equal(error.line, 6);
        assert_int_equal(error.column, 15);
    }
}

TEST(robots_without_a_genome_idle) {
    static const char *const controllers[] = {"gp", "oscillator", "none"};
    for (size_t i = 0; i < 3; i++) {
        const mf_Override override = {"group.controller", controllers[i]};
        AUTO_WHOLE_SCENE scene =
            make_evaluation(*state, load(*state, "neophysix.yaml", &override, 1), 2);
        mf_world_step(scene.world, 400);
        for (uint32_t j = 0; j < scene.model->joint_count; j++)
            assert_near(get_field(scene.group, "joint.angle", 1, j), scene.model->start_angle[j],
                        1e-6);
        assert_true(mf_scene_distance(&scene, 1) < 0.01);
    }
}

TEST(distance_is_horizontal_and_0_with_a_fault) {
    AUTO_WHOLE_SCENE scene = make_evaluation(*state, load(*state, "neophysix.yaml", NULL, 0), 2);
    mf_Field *position = mf_group_find_field(scene.group, "base.position");
    assert_true(mf_scene_distance(&scene, 0) == 0);
    mf_field_set(position, 0, 0, 3);
    mf_field_set(position, 0, 1, -4);
    mf_field_set(position, 0, 2, 12);
    assert_true(mf_scene_distance(&scene, 0) == 5); // 3-4-5 triangle, height does not count
    assert_true(mf_scene_distance(&scene, 1) == 0);
    set_field(scene.group, "fault.word", 0, 0, MF_FAULT_RANGE);
    assert_true(mf_scene_distance(&scene, 0) == 0);
}

TEST(oscillator_genes_map_into_the_joint_range) {
    AUTO_WHOLE_SCENE scene = make_evaluation(*state, load(*state, "oscillator.yaml", NULL, 0), 2);
    uint32_t joints = scene.model->joint_count, bytes = mf_scene_genome_bytes(&scene);
    assert_int_equal(bytes, 3 * joints + 1);
    uint8_t genome[256] = {0};
    genome[0] = 255; // joint 0: offset at its upper limit
    genome[1] = 255; // half of the range
    genome[2] = 64;  // a quarter rotation
    genome[bytes - 1] = 255;
    mf_scene_apply_genome(&scene, 1, genome);
    const mf_Joint *joint = scene.model->joints;
    mf_Group *group = scene.group;
    assert_near(get_field(group, "oscillator.offset", 1, 0), joint[0].upper, 1e-6);
    assert_near(get_field(group, "oscillator.offset", 1, 1), joint[1].lower, 1e-6);
    assert_near(get_field(group, "oscillator.amplitude", 1, 0),
                (joint[0].upper - joint[0].lower) / 2, 1e-6);
    assert_true(get_field(group, "oscillator.amplitude", 1, 1) == 0);
    assert_true(get_field(group, "oscillator.phase", 1, 0) == 0.25);
    assert_true(get_field(group, "oscillator.frequency", 1, 0) == 2);
}

// Random programs: 64-bit words of the library's own generator.
static void make_genomes(uint8_t *genomes, uint32_t count, uint32_t bytes) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t b = 0; b < bytes; b++) {
            uint32_t words[4];
            mf_random(7, i, 0, b, words);
            genomes[i * bytes + b] = (uint8_t)words[0];
        }
    }
}

static void evaluate(mf_Scene *scene, const uint8_t *genomes, uint32_t count, double *fitness) {
    MUST(mf_scene_evaluate(scene, genomes, count, mf_scene_genome_bytes(scene), fitness, &error));
}

static void check_independence(mf_Context *context, const char *name) {
    enum { COUNT = 20 };
    // 3.03 s is no multiple of the controller's 80 ms: a phase left over would show.
    static const mf_Override overrides[] = {{"run.duration", "3.03"}};
    AUTO_SCENE_FILE *file = load(context, name, overrides, 1);
    AUTO_SCENE scene = make_evaluation(context, file, COUNT),
               alone = make_evaluation(context, file, 1);
    uint32_t bytes = mf_scene_genome_bytes(&scene);
    uint8_t genomes[COUNT * 64];
    double first[COUNT], again[COUNT], fitness;
    make_genomes(genomes, COUNT, bytes);
    evaluate(&scene, genomes, COUNT, first);
    bool moved = false;
    for (uint32_t i = 0; i < COUNT; i++)
        moved |= first[i] > 0.01;
    assert_true(moved);
    // The same again, after a smaller batch in another order.
    evaluate(&scene, genomes + 5 * bytes, 7, again);
    for (uint32_t i = 0; i < 7; i++)
        assert_memory_equal(&again[i], &first[5 + i], sizeof(double));
    evaluate(&scene, genomes, COUNT, again);
    assert_memory_equal(again, first, sizeof first);
    // And alone.
    for (uint32_t i = 0; i < COUNT; i++) {
        evaluate(&alone, genomes + i * bytes, 1, &fitness);
        assert_memory_equal(&fitness, &first[i], sizeof(double));
    }
}

TEST(fitness_depends_on_the_genome_alone) {
    check_independence(*state, "neophysix.yaml");
    check_independence(*state, "oscillator.yaml");
    check_independence(*state, "rough.yaml");
}

// Bits of evolutions, seen before scenes were read as they are now: what a file says in another way
// is the same world.
TEST(evolutions_give_their_bits) {
    static const struct {
        const char *name;
        uint64_t hash;
    } cases[] = {{"neophysix.yaml", UINT64_C(0x7fae2429c4a241d8)},
                 {"oscillator.yaml", UINT64_C(0xe88c30ee2c1770ee)},
                 {"quadruped.yaml", UINT64_C(0xa63d3fd52042f66d)},
                 {"rough.yaml", UINT64_C(0x327da7ecf6fc4f67)}};
    static const mf_Override overrides[] = {{"run.duration", "6"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_SCENE_FILE *file = load(*state, cases[i].name, overrides, 1);
        AUTO_SCENE scene = make_evaluation(*state, file, file->search.population);
        AUTO_SEARCH *search = NULL;
        mf_SearchConfig config = WITH(file->search, .evaluate = mf_scene_evaluate, .user = &scene);
        MUST(mf_search_create(*state, &config, &search, &error));
        for (int generation = 0; generation < 4; generation++)
            MUST(mf_search_advance(search, &error));
        if (mf_search_hash(search) != cases[i].hash)
            fail_msg("%s: %016llx", cases[i].name, (unsigned long long)mf_search_hash(search));
    }
}

TEST(a_lifetime_is_rounded_up_to_whole_steps) {
    static const mf_Override overrides[] = {{"run.duration", "1.001"}};
    AUTO_WHOLE_SCENE scene =
        make_evaluation(*state, load(*state, "neophysix.yaml", overrides, 1), 1);
    uint8_t genome[MF_GP_BYTES] = {0};
    double fitness;
    evaluate(&scene, genome, 1, &fitness);
    assert_int_equal(mf_world_time(scene.world), 1010 * MF_MILLISECOND);
}

TEST(wrong_calls_are_refused) {
    static const mf_Override none = {"group.controller", "none"};
    AUTO_SCENE_FILE *file = load(*state, "neophysix.yaml", NULL, 0);
    AUTO_SCENE scene = make_evaluation(*state, file, 1);
    uint8_t genome[2 * MF_GP_BYTES] = {0};
    double fitness[2];
    mf_Error error = {0};
    assert_fails_as(mf_scene_evaluate(&scene, genome, 2, 32, fitness, &error), MF_BAD_ARGUMENT,
                    &error, "evaluate: expected at most 1 genomes, one for each robot, found 2");
    assert_fails_as(mf_scene_evaluate(&scene, genome, 1, 31, fitness, &error), MF_BAD_ARGUMENT,
                    &error, "evaluate: expected genomes of 32 bytes, found 31");
    assert_int_equal(mf_scene_evaluate(&scene, NULL, 1, 32, fitness, &error), MF_BAD_ARGUMENT);
    mf_scene_destroy(&scene);
    mf_scene_destroy(&scene); // twice is fine
    mf_scene_file_destroy(file);

    file = load(*state, "neophysix.yaml", &none, 1);
    scene = make_evaluation(*state, file, 1);
    assert_int_equal(mf_scene_genome_bytes(&scene), 0);
    assert_int_equal(mf_scene_evaluate(&scene, genome, 1, 32, fitness, &error), MF_BAD_ARGUMENT);
}

TEST(wrong_configurations_are_refused) {
    AUTO_SCENE_FILE *file = load(*state, "neophysix.yaml", NULL, 0);
    mf_SceneConfig config = mf_scene_config();
    mf_Scene scene;
    mf_Error error = {0};
    assert_int_equal(mf_scene_create(*state, NULL, NULL, &scene, &error), MF_BAD_ARGUMENT);
    assert_null(scene.world);
    assert_int_equal(mf_scene_create(NULL, file, NULL, &scene, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_create(*state, file, NULL, NULL, &error), MF_BAD_ARGUMENT);
    config.struct_size--;
    assert_fails_as(mf_scene_create(*state, file, &config, &scene, &error), MF_BAD_ARGUMENT, &error,
                    "scene: start from mf_scene_config()");
    config = mf_scene_config();
    config.divisor = 3; // 10 ms in three are no whole nanoseconds
    assert_fails(mf_scene_create(*state, file, &config, &scene, &error), MF_BAD_ARGUMENT, &error,
                 "found 3");
    assert_null(scene.world);
}

// What a configuration says goes before what the file says.
TEST(a_configuration_changes_what_the_file_says) {
    AUTO_SCENE_FILE *file = load(*state, "neophysix.yaml", NULL, 0);
    mf_SceneConfig config = WITH(mf_scene_config(), .count = 3, .motion = MF_MOTION_ARTICULATED,
                                 .step = 4 * MF_MILLISECOND, .divisor = 2, .stiffness = 2.5);
    AUTO_SCENE scene = make_with(*state, file, &config);
    assert_int_equal(mf_group_count(scene.group), 3);
    assert_int_equal(mf_motion_of(scene.group, 2), MF_MOTION_ARTICULATED);
    assert_int_equal(scene.motion, MF_MOTION_ARTICULATED);
    assert_int_equal(mf_world_config_of(scene.world)->step, 2 * MF_MILLISECOND);
    assert_int_equal(scene.step, 2 * MF_MILLISECOND);
    assert_true(scene.divisor == 2 && scene.stiffness == 2.5);
    assert_true(mf_scene_steps(&scene) == 60000); // 120 s
    mf_Servo servo = mf_joint_servo(scene.model, 0);
    assert_true(servo.gain > 0);
}

// A scene without a section `search` keeps no start, so there is nothing to go back to.
TEST(evaluations_must_be_asked_for) {
    mf_SceneFile *file = parse_scene(
        *state, "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n    controller: gp\n");
    mf_Scene scene = make_scene(*state, file);
    uint8_t genome[MF_GP_BYTES] = {0};
    double fitness;
    mf_Error error = {0};
    assert_null(scene.start);
    assert_fails_as(
        mf_scene_evaluate(&scene, genome, 1, 32, &fitness, &error), MF_BAD_ARGUMENT, &error,
        "evaluate: the scene was not created for evaluation (mf_SceneConfig.evaluates)");
    assert_true(mf_scene_distance(&scene, 0) == 0);
    mf_scene_destroy(&scene);
    scene = make_evaluation(*state, file, 1);
    assert_int_equal(mf_scene_evaluate(&scene, genome, 1, 32, &fitness, &error), MF_OK);
    drop_scene(&scene, file);
}

TEST(a_missing_model_is_named) {
    static const mf_Override lost = {"group.model", "/nowhere/robot.urdf"};
    AUTO_SCENE_FILE *file = load(*state, "neophysix.yaml", &lost, 1);
    mf_Scene scene;
    mf_Error error = {0};
    assert_int_equal(mf_scene_create(*state, file, NULL, &scene, &error), MF_NOT_FOUND);
    assert_string_equal(error.file, "/nowhere/robot.urdf");
}
