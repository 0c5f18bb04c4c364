// Scene files: defaults, every key, overrides, text that is written and read again, a robot's own
// file as a scene, and the tables of keys.
#include "rig/rig.h"
#include "support.h"

#include <locale.h>

GROUP_FIXTURE(make_context, drop_context);

#define OK_MODEL "groups: [{name: a, model: a.urdf}]\n"

// ---- input -------------------------------------------------------------------------------------

static mf_SceneFile *parse_at(mf_Context *context, const char *path, const char *text) {
    mf_SceneFile *file = NULL;
    MUST(mf_scene_file_parse(context, path, text, strlen(text), NULL, 0, &file, &error));
    return file;
}

TEST(a_file_with_a_model_alone_gets_all_defaults) {
    AUTO_SCENE_FILE *file =
        parse_at(*state, "scenes/t.yaml", "groups: [{name: a, model: robot.urdf}]\n");
    const mf_SceneGroup *group = file->groups;
    assert_string_equal(file->file, "scenes/t.yaml");
    assert_string_equal(file->name, "t");
    assert_int_equal(file->group_count, 1);
    assert_true(mf_scene_file_count(file) == 1 && mf_scene_file_count(NULL) == 0);
    assert_string_equal(group->name, "a");
    assert_string_equal(group->model_path, "scenes/robot.urdf");
    assert_null(group->model);
    assert_null(group->kind);
    assert_false(file->ground.given);
    assert_null(file->ground.path);
    assert_true(file->ground.generator.amplitude == 0 && file->ground.generator.wavelength == 1);
    assert_int_equal(file->ground.generator.octaves, 4);
    assert_int_equal(file->ground.terrain.columns, 256);
    assert_true(file->step == 0 && isnan(file->gravity) && file->switch_interval == 0);
    assert_true(file->contact && isnan(file->friction) && !file->proximity && !file->evolves);
    assert_true(file->duration == 10);
    assert_null(file->record_path);
    assert_int_equal(file->fitness, MF_FITNESS_DISTANCE);
    assert_int_equal(file->verify.motion, MF_VERIFY_NONE);
    assert_int_equal(file->generations, 200);
    assert_true(file->seed == 1 && file->search.seed == 1);
    assert_null(file->hooks.fitness);
    assert_int_equal(group->motion, MF_MOTION_ARTICULATED);
    assert_int_equal(group->controller, MF_CONTROLLER_NONE);
    assert_true(!group->double_precision && !group->isolated && group->sensors);
    assert_true(group->contact_shapes && group->contact_self && group->contact_others);
    assert_true(isnan(group->friction) && group->control_interval == 0);
    assert_int_equal(group->placement.kind, MF_PLACEMENT_LINE);
    assert_true(group->placement.distance == 1 && group->placement.height == 0);
    assert_true(group->servo.gain == 0 && group->servo.stiffness == 1);
    assert_int_equal(group->behavior.kind, MF_BEHAVIOR_HOLD);
    assert_true(isnan(group->behavior.gait_command[0]) || group->behavior.gait == NULL);
    assert_int_equal(group->color, MF_COLOR_AUTO);
    assert_int_equal(group->initial_count + group->plugin_count + group->rule_count, 0);
    assert_ptr_equal(file->context, *state);
}

static void motions_have_the_defaults_of_the_library(const mf_SceneGroup *group) {
    mf_PointsConfig points = mf_motions_config().points;
    const mf_MotionsConfig own = mf_motions_config(), *read = &group->motions;
    assert_int_equal(read->points.struct_size, points.struct_size);
    assert_int_equal(read->points.joint_interval, 0); // as the controller; see `auto`
    assert_int_equal(read->points.friction, points.friction);
    assert_int_equal(read->points.weighted, points.weighted);
    assert_true(read->points.friction_coefficient == points.friction_coefficient);
    assert_int_equal(read->points.keep_momentum, points.keep_momentum);
    assert_true(read->points.compliance == points.compliance);
    assert_true(read->points.contact_margin == points.contact_margin);
    assert_int_equal(read->articulated.integrator, MF_ARTICULATED_OF_MODEL);
    assert_int_equal(read->articulated.contact_law, own.articulated.contact_law);
    assert_int_equal(read->quadrotor_config.integrator, own.quadrotor_config.integrator);
    assert_int_equal(read->fixed_wing_config.integrator, own.fixed_wing_config.integrator);
    assert_int_equal(read->fixed_wing_config.turbulence, MF_TURBULENCE_NONE);
    assert_int_equal(read->car_config.integrator, own.car_config.integrator);
    assert_int_equal(read->car_config.model, own.car_config.model);
    assert_int_equal(read->car_config.tire, own.car_config.tire);
}

static void controllers_have_the_defaults_of_the_library(const mf_SceneGroup *group) {
    mf_GpConfig gp = mf_gp_config();
    assert_int_equal(group->gp.struct_size, gp.struct_size);
    assert_int_equal(group->gp.rate.numerator, gp.rate.numerator);
    assert_int_equal(group->gp.rate.denominator, gp.rate.denominator);
    assert_int_equal(group->gp.instructions_per_tick, gp.instructions_per_tick);
    assert_true(group->gp.angle_per_move == gp.angle_per_move);
    assert_int_equal(group->gp.unknown, gp.unknown);
    mf_OscillatorConfig oscillator = mf_oscillator_config();
    assert_int_equal(group->oscillator.struct_size, oscillator.struct_size);
    assert_int_equal(group->oscillator.rate.numerator, oscillator.rate.numerator);
    assert_int_equal(group->oscillator.rate.denominator, oscillator.rate.denominator);
}

static void interaction_has_the_defaults_of_the_library(const mf_InteractionConfig *found) {
    mf_InteractionConfig expected = mf_interaction_config();
    assert_true(found->detect == expected.detect && found->radius == expected.radius);
    assert_true(found->nearest == expected.nearest && found->relative == expected.relative);
    assert_near(found->view_angle, expected.view_angle, 1e-15);
    assert_true(found->detection_rate.numerator == expected.detection_rate.numerator);
    assert_true(found->collide == expected.collide && found->terrain == expected.terrain);
    assert_true(found->terrain_tolerance == expected.terrain_tolerance);
    assert_true(found->background == expected.background && found->latency == expected.latency);
    assert_true(found->downwash == expected.downwash);
    assert_true(found->downwash_reach == expected.downwash_reach);
    assert_true(found->air_density == expected.air_density && found->profile == expected.profile);
    assert_true(found->wind_roughness == expected.wind_roughness);
    assert_true(found->wind_reference == expected.wind_reference);
    assert_true(found->margin == expected.margin && found->candidates == expected.candidates);
    assert_true(found->event_capacity == expected.event_capacity);
}

// The defaults of the tables are those of the library, so that a program and a file agree.
TEST(defaults_are_those_of_the_library) {
    AUTO_SCENE_FILE *file = parse_scene(*state, OK_MODEL);
    const mf_SceneGroup *group = file->groups;
    mf_ImportConfig import = mf_import_config();
    assert_int_equal(group->import.struct_size, import.struct_size);
    assert_int_equal(group->import.keep_fixed, import.keep_fixed);
    assert_int_equal(group->import.visual, import.visual);
    assert_int_equal(group->import.mesh_points, import.mesh_points);
    assert_true(group->import.density == import.density);
    mf_TerrainConfig terrain = mf_terrain_config();
    assert_int_equal(file->ground.terrain.struct_size, terrain.struct_size);
    assert_true(file->ground.terrain.cell == terrain.cell);
    assert_true(isnan(file->ground.terrain.origin[0]) && isnan(terrain.origin[0]));
    assert_true(isnan(file->ground.terrain.origin[1]) && isnan(terrain.origin[1]));
    assert_int_equal(file->ground.terrain.interpolation, terrain.interpolation);
    motions_have_the_defaults_of_the_library(group);
    controllers_have_the_defaults_of_the_library(group);
    interaction_has_the_defaults_of_the_library(&file->interaction);
    mf_SearchConfig search = mf_search_config();
    assert_int_equal(file->search.struct_size, search.struct_size);
    assert_int_equal(file->search.population, search.population);
    assert_int_equal(file->search.survivors, search.survivors);
    assert_true(file->search.mutation_rate == search.mutation_rate);
    assert_int_equal(file->search.reuse_fitness, search.reuse_fitness);
}

static const char full[] =
    "name: \"Say \\\"walk\\\" \\\\ é\"\n"
    "world: {step: 0.0005, gravity: 1.62, seed: 99, switch_interval: 0.001}\n"
    "ground: {shape: noise, amplitude: 0.25, wavelength: 2, octaves: 6, seed: "
    "18446744073709551615,\n"
    "         columns: 64, rows: 32, cell: 0.05, origin: [-1.5, 2], interpolation: bilinear}\n"
    "contact: {enabled: false, friction: 0.4}\n"
    "groups:\n"
    "  - name: walkers\n"
    "    model: ../models/a b.urdf\n"
    "    import:\n"
    "      packages: {one: ../pkg, two: /abs/pkg}\n"
    "      keep_fixed: true\n"
    "      visual: false\n"
    "      mesh_points: 12\n"
    "      density: 1.5e3\n"
    "      lenient: false\n"
    "    count: 7\n"
    "    precision: double\n"
    "    isolated: true\n"
    "    motion:\n"
    "      points: {joint_interval: 0.02, friction: coupled, weighted: true,\n"
    "               friction_coefficient: 0.7, keep_momentum: true, compliance: 0.3,\n"
    "               contact_margin: 0}\n"
    "    control_interval: 0.004\n"
    "    servo: {gain: 3, damping: 0.25, speed: 5, stiffness: 2, inputs: true}\n"
    "    contact: {shapes: false, self: false, others: false, friction: 0.9}\n"
    "    heading: 0.5\n    height: 0.125\n    speed: 2\n    keyframe: none\n    settle: 0.75\n"
    "    joint_noise: 0.01\n    sensors: false\n    color: pink\n"
    "    initial: [{property: base.position.z, values: [0.5]},\n"
    "              {property: \"*/joint.angle\", values: [-1, 2e-3]}]\n"
    "    controller: {gp: {tick: 0.02, instructions_per_tick: 3, angle_per_move: 0.1,\n"
    "                      unknown: ignore}}\n"
    "run: {duration: 12.5}\n"
    "search: {fitness: upright, generations: 5, population: 20, survivors: 19,\n"
    "         mutation_rate: 0.1, reuse_fitness: true,\n"
    "         verify: {motion: rigid, every: 3, best: 4, step: 0.002, disparity: 2,\n"
    "                  stiffness: 3}}\n";

static void check_full_group(const mf_SceneGroup *g) {
    assert_true(g->import.keep_fixed && !g->import.visual && !g->import.lenient);
    assert_int_equal(g->import.mesh_points, 12);
    assert_true(g->import.density == 1500);
    assert_int_equal(g->import.package_count, 2);
    assert_string_equal(g->import.packages[1], "two=/abs/pkg");
    assert_int_equal(g->count, 7);
    assert_true(g->double_precision && g->isolated && !g->sensors);
    assert_int_equal(g->motion, MF_MOTION_POINTS);
    assert_int_equal(g->motions.points.joint_interval, 20 * MF_MILLISECOND);
    assert_int_equal(g->motions.points.friction, MF_FRICTION_COUPLED);
    assert_true(g->motions.points.weighted && g->motions.points.keep_momentum);
    assert_true(g->motions.points.friction_coefficient == 0.7 &&
                g->motions.points.compliance == 0.3);
    assert_true(g->motions.points.contact_margin == 0);
    assert_int_equal(g->control_interval, 4 * MF_MILLISECOND);
    assert_true(g->servo.gain == 3 && g->servo.damping == 0.25);
    assert_true(g->servo.speed == 5 && g->servo.stiffness == 2 && g->servo.inputs);
    assert_true(!g->contact_shapes && !g->contact_self && !g->contact_others);
    assert_true(g->friction == 0.9 && g->settle == 0.75 && g->joint_noise == 0.01);
    assert_true(g->placement.heading == 0.5 && g->placement.height == 0.125 &&
                g->placement.speed == 2);
    assert_string_equal(g->keyframe, "none");
    assert_int_equal(g->color, MF_COLOR_PINK);
    assert_int_equal(g->initial_count, 2);
    assert_string_equal(g->initial[1].path, "*/joint.angle");
    assert_int_equal(g->initial[1].value_count, 2);
    assert_true(g->initial[0].values[0] == 0.5 && g->initial[1].values[1] == 2e-3);
    assert_int_equal(g->controller, MF_CONTROLLER_GP);
    assert_int_equal(g->gp.rate.numerator, 50);
    assert_int_equal(g->gp.rate.denominator, 1);
    assert_int_equal(g->gp.instructions_per_tick, 3);
    assert_true(g->gp.angle_per_move == 0.1);
    assert_int_equal(g->gp.unknown, MF_GP_UNKNOWN_IGNORE);
}

static void check_full(const mf_SceneFile *file) {
    assert_string_equal(file->name, "Say \"walk\" \\ é");
    assert_int_equal(file->step, MF_MILLISECOND / 2);
    assert_int_equal(file->switch_interval, MF_MILLISECOND);
    assert_true(file->gravity == 1.62);
    assert_true(file->ground.given);
    assert_int_equal(file->ground.generator.shape, MF_TERRAIN_NOISE);
    assert_true(file->ground.generator.amplitude == 0.25 && file->ground.generator.wavelength == 2);
    assert_int_equal(file->ground.generator.octaves, 6);
    assert_true(file->ground.generator.seed == UINT64_MAX);
    assert_int_equal(file->ground.terrain.columns, 64);
    assert_int_equal(file->ground.terrain.rows, 32);
    assert_true(file->ground.terrain.cell == 0.05);
    assert_true(file->ground.terrain.origin[0] == -1.5 && file->ground.terrain.origin[1] == 2);
    assert_int_equal(file->ground.terrain.interpolation, MF_BILINEAR);
    assert_true(!file->contact && file->friction == 0.4);
    check_full_group(file->groups);
    assert_true(file->duration == 12.5 && file->evolves);
    assert_int_equal(file->fitness, MF_FITNESS_UPRIGHT);
    assert_int_equal(file->generations, 5);
    assert_int_equal(file->search.population, 20);
    assert_int_equal(file->search.survivors, 19);
    assert_true(file->search.mutation_rate == 0.1 && file->search.reuse_fitness);
    assert_true(file->seed == 99 && file->search.seed == 99); // one for world and search
    assert_int_equal(file->verify.motion, MF_VERIFY_LEVEL + MF_MOTION_RIGID);
    assert_int_equal(file->verify.every, 3);
    assert_int_equal(file->verify.best, 4);
    assert_int_equal(file->verify.step, 2 * MF_MILLISECOND);
    assert_true(file->verify.disparity == 2 && file->verify.stiffness == 3);
}

TEST(every_key_is_stored_in_its_member) {
    AUTO_SCENE_FILE *file = parse_at(*state, "scenes/t.yaml", full);
    check_full(file);
    assert_string_equal(file->groups[0].model_path, "scenes/../models/a b.urdf");
    assert_string_equal(file->groups[0].import.packages[0], "one=scenes/../pkg");
}

TEST(variants_may_be_named_or_filled) {
    static const struct {
        const char *keys;
        mf_ControllerKind kind;
    } cases[] = {{"    controller: gp\n", MF_CONTROLLER_GP},
                 {"    controller:\n", MF_CONTROLLER_NONE},
                 {"    controller: none\n", MF_CONTROLLER_NONE},
                 {"    controller: oscillator\n", MF_CONTROLLER_OSCILLATOR},
                 {"    controller: {gp: }\n", MF_CONTROLLER_GP},
                 {"    controller: {oscillator: {tick: 0.04}}\n    motion: points\n",
                  MF_CONTROLLER_OSCILLATOR},
                 {"search:\n# all by default\n", MF_CONTROLLER_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_SCENE_FILE *file =
            parse_scene(*state, formatted("groups:\n  - name: a\n    model: a\n%s", cases[i].keys));
        assert_int_equal(file->groups[0].controller, cases[i].kind);
    }
}

TEST(seconds_become_exact_nanoseconds) {
    static const struct {
        const char *value;
        mf_Time time;
    } cases[] = {{"0.08", 80000000},  {"1e-6", 1000},       {"0.000123456", 123456},
                 {"1", 1000000000},   {"0.1", 100000000},   {".3", 300000000},
                 {"+0.7", 700000000}, {"33.3E-3", 33300000}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_SCENE_FILE *file = parse_scene(
            *state,
            formatted("world: {step: %s}\n"
                      "groups: [{name: a, model: a, motion: {points: {joint_interval: %s}}}]\n",
                      cases[i].value, cases[i].value));
        assert_int_equal(file->step, cases[i].time);
        assert_int_equal(file->groups[0].motions.points.joint_interval, cases[i].time);
    }
}

TEST(ground_from_an_image) {
    AUTO_SCENE_FILE *file = parse_at(*state, "scenes/t.yaml",
                                     "groups: [{name: a, model: /m.urdf}]\n"
                                     "ground: {file: hills.pgm, scale: 0.3, offset: -0.1}\n");
    assert_string_equal(file->groups[0].model_path, "/m.urdf");
    assert_true(file->ground.given);
    assert_string_equal(file->ground.path, "scenes/hills.pgm");
    assert_true(file->ground.scale == 0.3 && file->ground.offset == -0.1);
}

// Where it means the same, `auto` is a value like another: it is written back.
TEST(values_may_be_automatic) {
    static const char text[] =
        "world: {step: auto, gravity: auto, switch_interval: auto}\n"
        "contact: {friction: auto}\n"
        "groups:\n  - name: a\n    model: a.urdf\n    motion: {points: {joint_interval: auto}}\n"
        "    control_interval: auto\n    contact: {friction: auto}\n    gaits: [walk]\n"
        "    behavior: {gait: {name: walk, command: auto}}\n";
    AUTO_SCENE_FILE *again, *file = parse_scene(*state, text);
    const mf_SceneGroup *group = file->groups;
    assert_true(file->step == 0 && isnan(file->gravity) && file->switch_interval == 0);
    assert_true(isnan(file->friction) && isnan(group->friction));
    assert_true(group->control_interval == 0 && group->motions.points.joint_interval == 0);
    for (int c = 0; c < 3; c++)
        assert_true(isnan(group->behavior.gait_command[c]));
    const char *once = write_twice(*state, file, &again);
    static const char *const lines[] = {"  step: auto # [s]\n",
                                        "  gravity: auto # [m/s^2]\n",
                                        "  switch_interval: auto # [s]\n",
                                        "        joint_interval: auto # [s]\n",
                                        "    control_interval: auto # [s]\n",
                                        "      friction: auto\n",
                                        "        command: auto\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_contains(once, lines[i]);
}

// The words of motions, and the events of rules with what each one needs.
TEST(motions_and_rules_are_written_back) {
    static const char rules[] =
        "groups:\n"
        "  - name: a\n    model: a.urdf\n    motion: %s\n    plugins: [{file: p.so}]\n"
        "    switch:\n"
        "      - {to: kinematic, when: {at: {time: 1.5}}}\n"
        "      - {to: points, when: {near: {group: b, distance: 2}}}\n"
        "      - {to: prescribed, when: {far: {group: a, distance: 0.25}}}\n"
        "      - {to: articulated, when: {tilted: {angle: 0.5}}}\n"
        "      - {to: own, when: {at: {time: 0}}}\n"
        "  - {name: b, model: b.xml}\n";
    static const struct {
        const char *name, *written;
        mf_Motion motion;
    } cases[] = {{"kinematic", "    motion: kinematic\n", MF_MOTION_KINEMATIC},
                 {"points", "    motion:\n      points:\n", MF_MOTION_POINTS},
                 {"rigid", "    motion: rigid\n", MF_MOTION_RIGID},
                 {"prescribed", "    motion: prescribed\n", MF_MOTION_PRESCRIBED},
                 {"articulated", "    motion:\n      articulated:\n", MF_MOTION_ARTICULATED},
                 {"auto", "    motion:\n      articulated:\n", MF_MOTION_ARTICULATED},
                 {"own", "    motion: own\n", MF_MOTION_OWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_SCENE_FILE *again, *file = parse_scene(*state, formatted(rules, cases[i].name));
        const char *once = write_twice(*state, file, &again);
        assert_contains(once, cases[i].written);
        for (int both = 0; both < 2; both++) {
            const mf_SceneGroup *group = (both == 0 ? file : again)->groups;
            const mf_SwitchRule *rule = group->rules;
            assert_int_equal(group->motion, cases[i].motion);
            assert_int_equal(group->rule_count, 5);
            assert_true(rule[0].to == MF_MOTION_KINEMATIC && rule[0].event == MF_SWITCH_AT);
            assert_true(rule[0].time == 1.5);
            assert_true(rule[1].to == MF_MOTION_POINTS && rule[1].event == MF_SWITCH_NEAR);
            assert_true(rule[1].other == 1 && rule[1].distance == 2);
            assert_string_equal(rule[1].group, "b");
            assert_true(rule[2].to == MF_MOTION_PRESCRIBED && rule[2].event == MF_SWITCH_FAR);
            assert_true(rule[2].other == 0 && rule[2].distance == 0.25);
            assert_true(rule[3].to == MF_MOTION_ARTICULATED && rule[3].event == MF_SWITCH_TILTED);
            assert_true(rule[3].tilt == 0.5);
            assert_int_equal(rule[4].to, MF_MOTION_OWN);
        }
    }
}

// A program that changes the motion after loading has it written.
TEST(motions_that_programs_set_are_written) {
    AUTO_SCENE_FILE *again, *file = parse_scene(*state, OK_MODEL);
    file->groups[0].motion = MF_MOTION_RIGID;
    const char *once = write_twice(*state, file, &again);
    assert_non_null(strstr(once, "    motion: rigid\n"));
    assert_int_equal(again->groups[0].motion, MF_MOTION_RIGID);
}

// ---- overrides ---------------------------------------------------------------------------------

TEST(overrides_come_before_the_check) {
    static const mf_Override overrides[] = {{"search.population", "200"},
                                            {"search.survivors", "150"},
                                            {"group.model", "here/robot.urdf"},
                                            {"group.import.packages.pkg", "there"},
                                            {"world.step", "0.02"},
                                            {"groups.a.controller.oscillator.tick", "0.04"},
                                            {"ground.origin", "[1, -2]"},
                                            {"name", "123: [odd"}};
    // Alone, this file would be refused: the population is out of range.
    AUTO_SCENE_FILE *file = parse_with(*state,
                                       "groups: [{name: a, model: a.urdf, controller: {gp: {tick: "
                                       "1}}}]\nsearch: {population: 0}\n",
                                       overrides, sizeof overrides / sizeof overrides[0]);
    const mf_SceneGroup *group = file->groups;
    assert_int_equal(file->search.population, 200);
    assert_int_equal(file->search.survivors, 150);
    assert_string_equal(group->model_path, "here/robot.urdf"); // as typed, not beside the file
    assert_string_equal(group->import.packages[0], "pkg=there");
    assert_int_equal(file->step, 20 * MF_MILLISECOND);
    assert_int_equal(group->controller, MF_CONTROLLER_OSCILLATOR);
    assert_int_equal(group->oscillator.rate.numerator, 25);
    assert_true(file->ground.terrain.origin[0] == 1 && file->ground.terrain.origin[1] == -2);
    assert_string_equal(file->name, "123: [odd");
}

TEST(an_override_changes_where_the_ground_comes_from) {
    static const mf_Override image[] = {{"ground.file", "a.png"}, {"ground.scale", "2"}};
    mf_SceneFile *file =
        parse_with(*state, OK_MODEL "ground: {shape: sine, amplitude: 3, cell: 0.2}\n", image, 2);
    assert_string_equal(file->ground.path, "a.png");
    assert_true(file->ground.scale == 2 && file->ground.terrain.cell == 0.2);
    mf_scene_file_destroy(file);
    static const mf_Override shape = {"ground.shape", "flat"};
    file = parse_with(*state, OK_MODEL "ground: {file: a.png, offset: 3, cell: 0.2}\n", &shape, 1);
    assert_null(file->ground.path);
    assert_true(file->ground.given && file->ground.terrain.cell == 0.2);
    mf_scene_file_destroy(file);
    static const mf_Override models = {"ground.shape", "model"};
    file = parse_with(*state, OK_MODEL "ground: {shape: slope, amplitude: 0.1}\n", &models, 1);
    assert_false(file->ground.given);
    mf_scene_file_destroy(file);
}

TEST(overrides_reach_lists_in_lists) {
    const mf_Override overrides[] = {{"groups.blue.switch.1.when.far.distance", "3.5"},
                                     {"groups.red.gaits", "[walk]"},
                                     {"groups.red.values", "[laps]"},
                                     {"groups.3.placement.poses", "[[0, 0, 0], [1, 2, 3]]"},
                                     {"groups.red.count", "2"}};
    AUTO_SCENE_FILE *file = load_scene(*state, "scenes/soccer.yaml", overrides, 5);
    assert_true(file->groups[2].rules[1].distance == 3.5);
    assert_int_equal(file->groups[3].gait_count, 1);
    assert_int_equal(file->groups[3].value_count, 1);
    assert_int_equal(file->groups[3].placement.pose_count, 2);
    assert_true(file->groups[3].placement.poses[1][2] == 3);
}

// "group." is the only group, by whatever name.
TEST(group_means_the_only_one) {
    static const mf_Override overrides[] = {{"group.count", "3"},
                                            {"group.controller", "gp"},
                                            {"group.name", "others"},
                                            {"group.motion.points.friction", "coupled"}};
    AUTO_SCENE_FILE *file = parse_with(*state, OK_MODEL, overrides, 4);
    assert_int_equal(file->groups[0].count, 3);
    assert_int_equal(file->groups[0].controller, MF_CONTROLLER_GP);
    assert_string_equal(file->groups[0].name, "others");
    assert_int_equal(file->groups[0].motion, MF_MOTION_POINTS);
    assert_int_equal(file->groups[0].motions.points.friction, MF_FRICTION_COUPLED);
}

// ---- robots' own files -------------------------------------------------------------------------

// One robot, alone, with every default; overrides reach it, and what is written is a scene.
TEST(a_robots_file_is_a_scene) {
    static const mf_Override overrides[] = {{"group.count", "5"}, {"world.step", "0.002"}};
    AUTO_SCENE_FILE *file = load_scene(*state, "models/hexapod.urdf", overrides, 2);
    assert_string_equal(file->name, "hexapod");
    assert_int_equal(file->group_count, 1);
    assert_string_equal(file->groups[0].name, "robot");
    assert_string_equal(file->groups[0].model_path, MAYFLY_SOURCE_DIR "/models/hexapod.urdf");
    assert_int_equal(file->groups[0].count, 5);
    assert_true(file->groups[0].isolated);
    assert_int_equal(file->groups[0].motion, MF_MOTION_ARTICULATED);
    assert_int_equal(file->step, 2 * MF_MILLISECOND);
    assert_false(file->evolves);
}

static uint64_t hash_after(mf_Context *context, mf_SceneFile *file, uint64_t steps) {
    AUTO_SCENE scene = make_scene(context, file);
    mf_world_step(scene.world, steps);
    uint64_t hash = mf_world_hash(scene.world);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
    return hash;
}

TEST(a_robots_scene_is_the_same_when_written) {
    static const char *const names[] = {"models/humanoid.urdf", "models/quadruped.urdf",
                                        "models/ant.xml", "models/figure.xml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mf_Override overrides[] = {{"group.count", "3"}};
        AUTO_SCENE_FILE *again, *file = load_scene(*state, names[i], overrides, 1);
        write_twice(*state, file, &again);
        const uint64_t hash = hash_after(*state, file, 100);
        assert_true(hash_after(*state, again, 100) == hash);
        assert_true(hash_after(*state, again, 101) != hash);
    }
}

// A model that a program has is borrowed, and moves as the one in the file.
TEST(a_model_of_a_program_is_a_scene) {
    AUTO_MODEL *model = NULL;
    mf_SceneFile *own = NULL;
    mf_Error error = {0};
    assert_int_equal(
        mf_model_load(*state, MAYFLY_SOURCE_DIR "/models/hexapod.urdf", NULL, &model, &error),
        MF_OK);
    must(mf_scene_file_of_model(*state, model, NULL, 0, &own, &error), &error);
    assert_ptr_equal(own->groups[0].model, model);
    mf_SceneFile *file = load_scene(*state, "models/hexapod.urdf", NULL, 0);
    assert_true(hash_after(*state, own, 50) == hash_after(*state, file, 50));
    mf_scene_file_destroy(file);
    mf_scene_file_destroy(own);
    assert_int_equal(mf_scene_file_of_model(*state, NULL, NULL, 0, &own, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_scene_file_of_model(*state, model, NULL, 0, NULL, &error),
                     MF_BAD_ARGUMENT); // it is still there
}

// ---- writing -----------------------------------------------------------------------------------

TEST(written_text_reads_back_the_same) {
    static const char *const texts[] = {
        full,
        OK_MODEL,
        OK_MODEL "search: {}\n",
        "groups: [{name: a, model: a.urdf, controller: gp}, {name: b, model: b, controller: "
        "none}]\n",
        "groups: [{name: a, model: a.urdf, controller: oscillator}]\n",
        OK_MODEL "ground: {file: hills.pgm, scale: 0.1}\n",
        OK_MODEL "ground: {shape: flat}\n",
        OK_MODEL "proximity: {enabled: false}\n",
        OK_MODEL "proximity: {neighbors: {view_angle: 1, interval: 0.05}, fence: {watch: true}}\n",
        OK_MODEL "air: {wind: [1, 2, 3], profile: logarithmic, interval: 0.01}\n",
        OK_MODEL "record: {file: out.h5, fields: [base.position.z]}\n",
        OK_MODEL "search: {mutation_rate: 0.1}\nrun: {duration: 0.30000000000000004}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        AUTO_SCENE_FILE *second, *first = parse_at(*state, "scenes/t.yaml", texts[i]);
        write_twice(*state, first, &second);
        if (i == 0)
            check_full(second);
        assert_true(first->duration == second->duration);
        assert_true(first->search.mutation_rate == second->search.mutation_rate);
        assert_true(first->evolves == second->evolves && first->contact == second->contact);
        assert_true(first->proximity == second->proximity);
        assert_true(first->ground.given == second->ground.given);
        assert_int_equal(first->groups[0].controller, second->groups[0].controller);
        // Names of files point to the same position from everywhere.
        const char *path = first->groups[0].model_path, *other = second->groups[0].model_path;
        assert_true(other[0] == '/');
        assert_string_equal(other + strlen(other) - strlen(path), path);
    }
}

// Every scene of ours, with all that it has.
TEST(our_scenes_are_written_back) {
    static const char *const names[] = {"circles",    "hexapod",    "neophysix", "oscillator",
                                        "quadruped",  "rough",      "soccer",    "swarm",
                                        "two_levels", "arm",        "wall",      "atron_cars",
                                        "obstacles",  "caterpillar"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO_SCENE_FILE *again,
            *file = load_scene(*state, formatted("scenes/%s.yaml", names[i]), NULL, 0);
        write_twice(*state, file, &again);
        assert_int_equal(file->group_count, again->group_count);
        assert_true(mf_scene_file_count(file) == mf_scene_file_count(again));
    }
}

TEST(written_text_has_every_default) {
    AUTO_SCENE_FILE *file = parse_scene(*state, "groups: [{name: r, model: /r.urdf}]\n");
    char *text = NULL;
    MUST(mf_scene_file_write(file, &text, &error));
    assert_string_equal(text, "name: \"t\"\n"
                              "world:\n"
                              "  step: auto # [s]\n"
                              "  gravity: auto # [m/s^2]\n"
                              "  seed: 1\n"
                              "  switch_interval: auto # [s]\n"
                              "ground:\n"
                              "  shape: model\n"
                              "  amplitude: 0 # [m]\n"
                              "  wavelength: 1 # [m]\n"
                              "  octaves: 4\n"
                              "  seed: 1\n"
                              "  columns: 256\n"
                              "  rows: 256\n"
                              "  cell: 0.1 # [m]\n"
                              "  origin: centered # [m]\n"
                              "  interpolation: auto\n"
                              "  border: continues\n"
                              "groups:\n"
                              "  - name: \"r\"\n"
                              "    model: \"/r.urdf\"\n"
                              "    import:\n"
                              "      keep_fixed: false\n"
                              "      visual: true\n"
                              "      mesh_points: 8\n"
                              "      density: 0 # [kg/m^3]\n"
                              "      inertia: file\n"
                              "      lenient: true\n"
                              "    base: auto\n"
                              "    count: 1\n"
                              "    precision: float\n"
                              "    isolated: false\n"
                              "    motion:\n"
                              "      articulated:\n"
                              "        integrator: auto\n"
                              "        contact_law: auto\n"
                              "    control_interval: auto # [s]\n"
                              "    servo:\n"
                              "      gain: 0 # [N m/rad]\n"
                              "      damping: 0 # [N m s/rad]\n"
                              "      speed: 0 # [rad/s]\n"
                              "      stiffness: 1\n"
                              "      inputs: false\n"
                              "      limits: true\n"
                              "    contact:\n"
                              "      shapes: true\n"
                              "      self: true\n"
                              "      others: true\n"
                              "      friction: auto\n"
                              "    placement:\n"
                              "      line:\n"
                              "        distance: 1 # [m]\n"
                              "    heading: 0 # [rad]\n"
                              "    height: 0 # [m]\n"
                              "    speed: 0 # [m/s]\n"
                              "    keyframe: \"\"\n"
                              "    settle: 0 # [s]\n"
                              "    joint_noise: 0 # [rad/s]\n"
                              "    sensors: true\n"
                              "    cameras: false\n"
                              "    gaits: []\n"
                              "    values: []\n"
                              "    controller: none\n"
                              "    chain:\n"
                              "      first: \"\"\n"
                              "      second: \"\"\n"
                              "      orientation: 0\n"
                              "      closed: false\n"
                              "    dock_limits:\n"
                              "      tension: 0 # [N]\n"
                              "      shear: 0 # [N]\n"
                              "      bending: 0 # [N m]\n"
                              "      torsion: 0 # [N m]\n"
                              "    joint_slots: 0\n"
                              "    behavior: hold\n"
                              "    behavior_interval: 0.05 # [s]\n"
                              "    color: auto\n"
                              "contact:\n"
                              "  enabled: true\n"
                              "  law: compliant\n"
                              "  bounds: sphere\n"
                              "  friction: auto\n"
                              "air:\n"
                              "  wind: [0, 0, 0] # [m/s]\n"
                              "  profile: uniform\n"
                              "  ground: 0 # [m]\n"
                              "  roughness: 0.03 # [m]\n"
                              "  reference: 10 # [m]\n"
                              "  downwash: false\n"
                              "  downwash_reach: 4 # [m]\n"
                              "  density: 1.225 # [kg/m^3]\n"
                              "  interval: 0 # [s]\n"
                              "run:\n"
                              "  duration: 10 # [s]\n");
    mf_release(*state, text);
}

// A program in a country of decimal commas reads the same numbers.
TEST(the_locale_does_not_matter) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && found == NULL; i++)
        found = setlocale(LC_ALL, names[i]);
    if (found == NULL) {
        print_message("skipped: no locale with a decimal comma is installed\n");
        skip();
    }
    AUTO_SCENE_FILE *again, *file = parse_scene(*state, full);
    check_full(file);
    const char *text = write_twice(*state, file, &again);
    assert_non_null(strstr(text, "gravity: 1.62"));
    setlocale(LC_ALL, "C");
}
