// Scenes with vehicles and the worlds created from them: mistakes, overrides, initial positions,
// behaviors, and the same bits for any number of threads.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define GROUP "groups:\n  - name: quads\n    model: ../models/sun2022.yaml\n" // lines 1 to 3
#define CAR "groups:\n  - name: cars\n    model: ../models/car_full_size.yaml\n"
#define WING "groups:\n  - name: wings\n    model: ../models/aerosonde.yaml\n"

// `auto` is what the vehicle moves by; nobody else may.
TEST(vehicles_move_by_their_kind) {
    static const struct {
        const char *text, *name;
        mf_Motion motion;
    } cases[] = {{GROUP, "sun2022", MF_MOTION_QUADROTOR},
                 {CAR, "car_full_size", MF_MOTION_CAR},
                 {WING, "aerosonde", MF_MOTION_FIXED_WING},
                 {CAR "    motion: auto\n", "car_full_size", MF_MOTION_CAR},
                 {CAR "    motion: {car: {tire: linear}}\n", "car_full_size", MF_MOTION_CAR}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_SCENE_FILE *file = parse_scene(*state, cases[i].text);
        assert_int_equal(file->groups[0].motion, cases[i].motion);
        assert_string_equal(((const mf_Vehicle *)file->groups[0].body)->name, cases[i].name);
        AUTO_SCENE scene = make_scene(*state, file);
        assert_int_equal(mf_motion_of(scene.group, 0), cases[i].motion);
        assert_int_equal(scene.step, 2 * MF_MILLISECOND); // nobody asks for less
    }
}

TEST(mistakes_are_one_line_with_their_position) {
    static const struct {
        const char *text, *message; // the message's beginning, after the path
    } cases[] = {
        {GROUP "    control_interval: -0.1\n",
         ":4:23: groups.quads.control_interval: expected a time"},
        {GROUP "    control_interval: 0.004\n    motion: {quadrotor: {outer_interval: 0.006}}\n",
         ":5:42: groups.quads.motion.quadrotor.outer_interval: expected a multiple of "
         "control_interval = 0.004 s, found 0.006 s"},
        {"world: {step: 0.002}\n" GROUP "    motion: {quadrotor: {outer_interval: 0.003}}\n",
         ":5:42: groups.quads.motion.quadrotor.outer_interval: expected a multiple of world.step = "
         "0.002 s, found 0.003 s"},
        {"world: {step: 0.002}\n" GROUP "    control_interval: 0.003\n",
         ":5:23: groups.quads.control_interval: expected a multiple of world.step = 0.002 s, found "
         "0.003 s"},
        {GROUP "    behavior_interval: -1\n",
         ":4:24: groups.quads.behavior_interval: expected a time"},
        {GROUP "    behavior: {command: {mode: rates, values: [0, 0, 0]}}\n",
         ":4:15: groups.quads.behavior: command mode rates takes 4 values, found 3"},
        {GROUP "    behavior: {command: {mode: speed, values: [0]}}\n",
         ":4:15: groups.quads.behavior: a quadrotor has no command mode speed, expected one of "
         "rotors, rates, attitude, velocity, position"},
        {GROUP "    behavior: waypoints\n",
         ":2:5: expected the key groups.quads.behavior.waypoints.points, which is missing"},
        {GROUP "    behavior: {orbit: {speed: 500}}\n",
         ":4:15: groups.quads.behavior: speed: this quadrotor flies up to"},
        {GROUP "    motion: external\n    behavior: {orbit: {speed: 1}}\n",
         ":5:15: groups.quads.behavior: the vehicle is moved from outside, expected hold"},
        {GROUP "    behavior: flock\n", ":4:15: groups.quads.behavior: a flock"},
        {GROUP "    behavior: flock\nproximity: {enabled: false}\n",
         ":4:15: groups.quads.behavior: a flock"},
        {GROUP "    behavior: {formation: {separation: 3}}\nproximity: {neighbors: {nearest: 0}}\n",
         ":4:15: groups.quads.behavior: a flock"},
        {GROUP "    motion: {car: {tire: linear}}\n",
         ":4:13: groups.quads.motion: car: the vehicle is a quadrotor"},
        {GROUP "    motion: articulated\n",
         ":4:13: groups.quads.motion: articulated: the vehicle is a quadrotor"},
        {GROUP "    switch: [{to: rigid, when: {at: {time: 1}}}]\n",
         ":4:13: groups.quads.switch: vehicles have one motion and cannot switch"},
        {GROUP "    gaits: [walk]\n    behavior: {gait: {name: walk}}\n",
         ":5:15: groups.quads.behavior: gaits are for robots with joints, the model is a vehicle"},
        {"groups:\n  - name: a\n    model: gone.yaml\n", ":3:12: groups.a.model: "},
        {WING "    behavior: {orbit: {speed: 5}}\n",
         ":4:15: groups.wings.behavior: speed: this aircraft flies at 18 .. 35 m/s, found 5 m/s"},
        {CAR "    rotor_area: 0.1\n", ":4:17: groups.cars.rotor_area: only quadrotors cause "
                                      "downwash, the motion of this group is car"},
        {CAR "    behavior: {orbit: {radius: 1, speed: 5}}\n",
         ":4:15: groups.cars.behavior: radius: this car needs at least its wheelbase of 2.7 m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *error = scene_error(*state, cases[i].text, true);
        if (strncmp(error, cases[i].message, strlen(cases[i].message)) != 0)
            assert_string_equal(error, cases[i].message);
    }
}

TEST(overrides_reach_into_groups) {
    static const mf_Override good[] = {{"groups.quads.count", "7"},
                                       {"groups.0.placement.circle.radius", "9"},
                                       {"group.rotor_area", "0.05"},
                                       {"proximity.neighbors.radius", "3"},
                                       {"world.seed", "5"}};
    AUTO_SCENE_FILE *file = parse_with(*state, GROUP, good, 5);
    assert_int_equal(file->groups[0].count, 7);
    assert_int_equal(file->groups[0].placement.kind, MF_PLACEMENT_CIRCLE);
    assert_true(file->groups[0].placement.radius == 9.0);
    assert_true(file->groups[0].rotor_area == 0.05);
    assert_true(file->proximity && file->interaction.radius == 3.0);
    assert_int_equal(file->seed, 5);
}

// Whoever touches is dead, or is pushed: not both, unless the file says so.
TEST(proximity_and_contact_exclude_each_other) {
    static const struct {
        const char *text;
        bool proximity, contact;
    } cases[] = {
        {GROUP, false, true},
        {GROUP "proximity: {}\n", true, false},
        {GROUP "proximity: {enabled: false}\n", false, true},
        {GROUP "proximity: {collisions: {agents: false}}\n", true, true},
        {GROUP "proximity: {}\ncontact: {enabled: true}\n", true, true},
        {GROUP "contact: {enabled: false}\n", false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_SCENE_FILE *again, *file = parse_scene(*state, cases[i].text);
        write_twice(*state, file, &again);
        assert_true(file->proximity == cases[i].proximity && file->contact == cases[i].contact);
        assert_true(again->proximity == cases[i].proximity && again->contact == cases[i].contact);
    }
}

TEST(written_text_reads_back_the_same) {
    static const char text[] =
        "ground: {shape: noise, amplitude: 2}\nproximity: {neighbors: {radius: 3}}\n" GROUP
        "    count: 3\n    motion: {quadrotor: {integrator: heun}}\n    rotor_area: 0.04\n"
        "    behavior: {waypoints: {points: [[1, 2, 3], [4, 5, 6]], loop: false}}\n"
        "  - name: cars\n    model: ../models/car_orca.yaml\n    placement: {circle: {radius: 3}}\n"
        "    motion: {car: {model: dynamic, tire: curvature}}\n"
        "    behavior: {command: {mode: speed, values: [1, 0.1]}}\n"
        "  - name: wings\n    model: ../models/aerosonde.yaml\n    placement: random\n"
        "    motion: {fixed_wing: {turbulence: low_light}}\n    behavior: {flock: {speed: 25}}\n";
    AUTO_SCENE_FILE *again, *file = parse_scene(*state, text);
    write_twice(*state, file, &again);
    assert_int_equal(again->groups[0].motions.quadrotor_config.integrator, MF_INTEGRATOR_HEUN);
    assert_true(again->groups[0].rotor_area == 0.04);
    assert_int_equal(again->groups[0].behavior.point_count, 2);
    assert_true(again->groups[0].behavior.points[1][2] == 6.0);
    assert_int_equal(again->groups[1].motions.car_config.model, MF_CAR_DYNAMIC);
    assert_int_equal(again->groups[1].motions.car_config.tire, MF_CAR_TIRE_CURVATURE);
    assert_int_equal(again->groups[2].motions.fixed_wing_config.turbulence,
                     MF_TURBULENCE_LOW_LIGHT);
    assert_int_equal(again->groups[2].behavior.kind, MF_BEHAVIOR_FLOCK);
}

// ---- start places ------------------------------------------------------------------------------

TEST(random_positions_keep_apart) {
    enum { COUNT = 500 };
    static double positions[3 * COUNT], again[3 * COUNT], headings[COUNT];
    const double taken[1][4] = {{0.0, 0.0, 0.0, 3.0}};
    mf_Placement box = {.kind = MF_PLACEMENT_RANDOM,
                        .lower = {-10, -10, -10},
                        .upper = {10, 10, 10},
                        .distance = 1.0,
                        .seed = 4};
    MUST(mf_placement_positions(*state, &box, NULL, COUNT, 0.2, -1.0, true, taken, 1, positions,
                                headings, &error));
    for (uint32_t i = 0; i < COUNT; i++) {
        const double *a = positions + 3 * i;
        assert_true(sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) >= 3.2);
        for (uint32_t k = 0; k < i; k++) {
            const double *b = positions + 3 * k;
            double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
            assert_true(x * x + y * y + z * z >= 1.0);
        }
    }
    // The first places do not depend on how many follow.
    MUST(mf_placement_positions(*state, &box, NULL, 50, 0.2, -1.0, true, taken, 1, again, headings,
                                &error));
    assert_memory_equal(positions, again, 50 * 3 * sizeof(double));
    box.distance = 8.0;
    MUST_FAIL(mf_placement_positions(*state, &box, NULL, COUNT, 0.2, -1.0, true, NULL, 0, positions,
                                     headings, &error),
              MF_BAD_ARGUMENT, "no free position");
}

TEST(overlap_is_refused_with_its_line) {
    assert_string_equal(
        scene_error(*state, GROUP "    count: 2\n    placement: {grid: {spacing: [0.1, 0.1, 1]}}\n",
                    false),
        ":5:16: groups.quads.placement: agent 1 would overlap agent 0 of quads at the start");
    assert_string_equal(
        scene_error(*state,
                    GROUP "    placement: {grid: {center: [0, 0, 10]}}\n"
                          "  - name: others\n    model: ../models/hummingbird.yaml\n"
                          "    placement: {circle: {center: [0, 0, 10], radius: 0.05}}\n",
                    false),
        ":7:16: groups.others.placement: agent 0 would overlap agent 0 of quads at the start");
    assert_string_equal(
        scene_error(*state,
                    GROUP
                    "    count: 100\n    placement: {random: {lower: [0, 0, 5], upper: [1, 1, "
                    "5], distance: 1}}\n",
                    false),
        ":5:16: groups.quads.placement: random: after 2 of 100 agents no free position "
        "was found for the next; use a larger box, a smaller distance or fewer agents");
}

// ---- behaviors ---------------------------------------------------------------------------------

static double position_of(mf_Scene *scene, const char *group, uint32_t agent, uint32_t c) {
    mf_Group *found = mf_world_find_group(scene->world, group);
    return get_field(found, "base.position", agent, c);
}

TEST(agents_hold_their_positions) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, GROUP "    count: 20\n");
    double x = position_of(&scene, "quads", 7, 0), z = position_of(&scene, "quads", 7, 2);
    mf_world_step(scene.world, 2500);
    assert_float_equal(position_of(&scene, "quads", 7, 0), x, 1e-3);
    assert_float_equal(position_of(&scene, "quads", 7, 2), z, 1e-3);
}

// All three kinds come to fly or drive on the circle, evenly spaced.
TEST(orbits_are_joined) {
    static const char text[] =
        "world: {step: 0.01}\n" GROUP "    count: 4\n"
        "    placement: {circle: {center: [0, 0, 20], radius: 24}}\n"
        "    behavior: {orbit: {radius: 20, height: 20, speed: 3}}\n"
        "  - name: cars\n    model: ../models/car_full_size.yaml\n    count: 2\n"
        "    placement: {circle: {radius: 40, along: true}}\n"
        "    behavior: {orbit: {radius: 40, speed: 6}}\n"
        "  - name: wings\n    model: ../models/aerosonde.yaml\n    count: 2\n"
        "    placement: {circle: {center: [0, 0, 100], radius: 200, along: true}}\n"
        "    behavior: {orbit: {radius: 200, height: 100, speed: 25}}\n";
    static const struct {
        const char *group;
        double radius, tolerance;
        uint32_t count;
    } circles[] = {{"quads", 20.0, 0.3, 4}, {"cars", 40.0, 1.0, 2}, {"wings", 200.0, 5.0, 2}};
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    mf_world_step(scene.world, 6000);
    for (size_t i = 0; i < 3; i++) {
        double x = 0.0, y = 0.0;
        for (uint32_t k = 0; k < circles[i].count; k++) {
            double px = position_of(&scene, circles[i].group, k, 0);
            double py = position_of(&scene, circles[i].group, k, 1);
            assert_float_equal(hypot(px, py), circles[i].radius, circles[i].tolerance);
            x += px;
            y += py;
        }
        // Evenly spaced: their middle is that of the circle.
        assert_true(hypot(x, y) / circles[i].count < 0.1 * circles[i].radius);
    }
    assert_int_equal(mf_group_fault_total(mf_world_group(scene.world, 0)), 0);
}

// A thousand airplanes keep their ten circles and do not collide.
TEST(airplanes_keep_their_circles) {
    AUTO_SCENE_FILE *file = load_scene(*state, "scenes/airplanes.yaml", NULL, 0);
    AUTO_SCENE scene = make_scene(*state, file);
    double worst[2] = {0, 0};
    uint32_t count = 0;
    mf_world_step(scene.world, 2000);
    for (uint32_t g = 0; g < scene.group_count; g++) {
        mf_Group *group = mf_world_group(scene.world, g);
        const mf_Field *position = mf_group_find_field(group, "base.position");
        assert_int_equal(mf_group_fault_total(group), 0);
        for (uint32_t i = 0; i < mf_group_count(group); i++, count++) {
            const double x = mf_field_get(position, i, 0), y = mf_field_get(position, i, 1);
            worst[0] = fmax(worst[0], fabs(hypot(x, y) - (300 + 40 * g)));
            worst[1] = fmax(worst[1], fabs(mf_field_get(position, i, 2) - (100 + 15 * g)));
        }
    }
    print_message("%u airplanes, at most %.2f m off their circles and %.2f m off their heights\n",
                  count, worst[0], worst[1]);
    assert_int_equal(count, 1000);
    assert_true(worst[0] < 5 && worst[1] < 5);
}

TEST(waypoints_are_visited_in_order) {
    static const char text[] = "world: {step: 0.01}\n" GROUP "    count: 2\n"
                               "    placement: {grid: {center: [0, 0, 20], spacing: [4, 4, 4]}}\n"
                               "    behavior:\n      waypoints: {points: [[20, 0, 20], [20, 20, "
                               "30]], speed: 4, reached: 1, loop: false}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    assert_true(get_field(mf_world_group(scene.world, 0), "behavior.waypoint", 0, 0) == 0.0);
    mf_world_step(scene.world, 800);
    assert_true(get_field(mf_world_group(scene.world, 0), "behavior.waypoint", 0, 0) == 1.0);
    mf_world_step(scene.world, 2000);
    for (uint32_t i = 0; i < 2; i++) { // each beside the last waypoint, as at the start
        assert_float_equal(position_of(&scene, "quads", i, 0), 20.0 + (i == 0 ? -2.0 : 2.0), 0.2);
        assert_float_equal(position_of(&scene, "quads", i, 1), 20.0, 0.2);
        assert_float_equal(position_of(&scene, "quads", i, 2), 30.0, 0.2);
    }
}

TEST(a_flock_comes_to_fly_alike) {
    static const char text[] =
        "world: {step: 0.01}\nproximity: {neighbors: {radius: 10}}\n" GROUP "    count: 60\n"
        "    placement: {random: {lower: [-15, -15, 20], upper: [15, 15, 30], distance: 3}}\n"
        "    behavior: {flock: {speed: 3, separation: 3, goal: [500, 0, 30]}}\n";
    AUTO_WHOLE_SCENE scene = scene_of(*state, text);
    mf_world_step(scene.world, 1500);
    mf_Group *group = mf_world_group(scene.world, 0);
    double order[3] = {0};
    for (uint32_t i = 0; i < 60; i++) {
        double v[3], size = 0.0;
        for (uint32_t c = 0; c < 3; c++) {
            v[c] = get_field(group, "base.linear_velocity", i, c);
            size += v[c] * v[c];
        }
        for (uint32_t c = 0; c < 3; c++)
            order[c] += v[c] / sqrt(size) / 60.0;
    }
    assert_true(order[0] > 0.9); // towards the goal, together
    assert_int_equal(mf_group_fault_total(group), 0);
}

// ---- in the air and among others ---------------------------------------------------------------

// Wind needs nobody to detect anybody.
TEST(wind_blows_without_proximity) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, "air: {wind: [3, 0, 0]}\n" GROUP "    count: 2\n");
    const mf_Field *wind = mf_group_find_field(scene.group, "wind.velocity");
    assert_non_null(scene.interaction);
    assert_non_null(wind);
    mf_world_step(scene.world, 10);
    assert_true(mf_field_get(wind, 1, 0) == 3.0);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
}

// With `proximity` who touches is dead, robots too; else they push each other.
TEST(collisions_give_faults_or_forces) {
    for (int dead = 0; dead < 2; dead++) {
        AUTO_WHOLE_SCENE scene = scene_of(
            *state,
            formatted("%sgroups:\n  - name: balls\n    model: ../models/ball.xml\n    count: 3\n"
                      "    placement: {poses: [[0, 0, 0], [0.13, 0, 0], [5, 0, 0]]}\n",
                      dead == 1 ? "proximity: {}\n" : ""));
        assert_true((scene.collisions == NULL) == (dead == 1));
        assert_true((scene.interaction != NULL) == (dead == 1));
        mf_world_step(scene.world, 500);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(mf_group_fault(scene.group, i), dead == 1 ? MF_FAULT_COLLISION : 0);
        assert_int_equal(mf_group_fault(scene.group, 2), 0);
        double gap = get(&scene, 0, "base.position", 1, 0) - get(&scene, 0, "base.position", 0, 0);
        assert_true(dead == 1 ? gap < 0.135 : gap > 0.138);
    }
}

static double forward_of(const mf_Scene *scene, uint32_t instance, void *user) {
    return get(scene, 0, "base.position", instance, 0);
}

static void steer_car(mf_Scene *scene, uint32_t instance, const uint8_t *genome, void *user) {
    set_field(scene->group, "command.speed", instance, 0, genome[0]);
}

// A program may evolve vehicles by hooks; their motion is theirs at every level.
TEST(vehicles_can_be_evaluated) {
    AUTO_SCENE_FILE *file =
        parse_scene(*state, CAR "run: {duration: 4}\n"); // nothing commands them
    AUTO_SCENE scene;
    mf_Error error = {0};
    mf_SceneConfig config = WITH(mf_scene_config(), .motion = MF_MOTION_RIGID);
    assert_fails_as(mf_scene_create(*state, file, &config, &scene, &error), MF_UNSUPPORTED, &error,
                    "group cars: a vehicle has one motion, car, found rigid");
    file->hooks =
        (mf_SceneHooks){.fitness = forward_of, .apply_genome = steer_car, .genome_bytes = 1};
    scene = make_evaluation(*state, file, 3);
    const uint8_t genomes[3] = {1, 5, 3};
    double fitness[3];
    assert_int_equal(mf_scene_evaluate(&scene, genomes, 3, 1, fitness, &error), MF_OK);
    assert_true(fitness[1] > fitness[2] && fitness[2] > fitness[0]);
}

// ---- bits --------------------------------------------------------------------------------------

static uint64_t hash_with(const void *user, uint32_t threads, mf_Isa isa) {
    static const char text[] =
        "world: {step: 0.005}\nproximity: {}\nair: {downwash: true, wind: [1, 2, 0]}\n" GROUP
        "    count: 300\n    motion: quadrotor\n    rotor_area: 0.05\n"
        "    placement: {random: {lower: [-15, -15, 5], upper: [15, 15, 25], distance: 1}}\n"
        "    behavior: {flock: {speed: 3, separation: 2}}\n"
        "  - name: wings\n    model: ../models/aerosonde.yaml\n    count: 30\n"
        "    placement: {grid: {center: [0, 0, 100], spacing: [10, 10, 10]}}\n"
        "    behavior: {formation: {circles: 3, radius: 150, speed: 25, alternate: true}}\n"
        "  - name: cars\n    model: ../models/car_full_size.yaml\n    count: 30\n"
        "    placement: {grid: {center: [100, 0, 0], spacing: [8, 8, 8]}}\n"
        "    behavior: {waypoints: {points: [[0, 0, 0], [100, 0, 0]]}}\n";
    if (isa != MF_ISA_AUTO)
        setenv("MAYFLY_ISA", mf_isa_name(isa), 1);
    AUTO_CONTEXT *context = open_context(threads);
    AUTO_WHOLE_SCENE scene = scene_of(context, text);
    mf_world_step(scene.world, 200);
    unsetenv("MAYFLY_ISA");
    return mf_world_hash(scene.world);
}

TEST(threads_and_instructions_change_nothing) {
    assert_same_bits(hash_with, NULL);
}

// ---- failures ----------------------------------------------------------------------------------

static mf_Status make_all(mf_Context *context, void *user, mf_Error *error) {
    static const char text[] =
        "proximity: {}\n" GROUP "    count: 3\n    behavior: {waypoints: {points: [[1, 2, 3]]}}\n"
        "  - name: wings\n    model: ../models/aerosonde.yaml\n"
        "    placement: {random: {}}\n    behavior: {flock: {speed: 25}}\n";
    static const mf_Override overrides[] = {{"groups.wings.count", "2"}};
    AUTO_SCENE_FILE *file = NULL;
    AUTO_SCENE scene = {0};
    char *page = NULL;
    mf_Status status =
        mf_scene_file_parse(context, SCENE_PATH, text, strlen(text), overrides, 1, &file, error);
    assert_int_equal(status != MF_OK, file == NULL);
    if (status == MF_OK)
        status = mf_scene_file_write(file, &page, error);
    if (status == MF_OK)
        status = mf_scene_create(context, file, NULL, &scene, error);
    mf_release(context, page);
    return status;
}

TEST(every_failing_call_is_survived) {
    assert_true(torture(*state, make_all, NULL, TORTURE_MUST_FAIL) > 60);
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
