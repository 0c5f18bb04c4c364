// Worlds created from scenes: values of the model where a file says `auto`, and initial poses of
// robots.
#include "motion/points/motion.h"
#include "motion/table.h"
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define MODEL(name, file) "  - name: " name "\n    model: ../models/" file "\n"

// ---- automatic values --------------------------------------------------------------------------

TEST(the_step_is_the_least_that_models_ask_for) {
    static const struct {
        const char *text;
        mf_Time step;
    } cases[] = {
        {"groups:\n" MODEL("a", "ant.xml"), 10 * MF_MILLISECOND}, // as its file
        {"groups:\n" MODEL("a", "ant.xml") MODEL("b", "figure.xml"), 5 * MF_MILLISECOND},
        {"groups:\n" MODEL("a", "figure.xml") MODEL("b", "crazyflie.yaml"), 2 * MF_MILLISECOND},
        {"groups:\n" MODEL("a", "crazyflie.yaml"), 2 * MF_MILLISECOND},
        {"world: {step: auto}\ngroups:\n" MODEL("a", "ant.xml"), 10 * MF_MILLISECOND},
        {"world: {step: 0.004}\ngroups:\n" MODEL("a", "ant.xml"), 4 * MF_MILLISECOND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_WHOLE_SCENE scene = scene_of(*state, cases[i].text);
        assert_int_equal(scene.step, cases[i].step);
        assert_int_equal(mf_world_config_of(scene.world)->step, cases[i].step);
        assert_true(mf_scene_steps(&scene) == (uint64_t)(10 * MF_SECOND / cases[i].step));
    }
}

// What another file asks for and does not get is noted.
TEST(gravity_is_that_of_the_first_model) {
    static const struct {
        const char *text;
        double gravity;
        uint32_t notes;
    } cases[] = {
        {"groups:\n" MODEL("a", "tumbler.xml") MODEL("b", "ball.xml"), 0.0, 1},
        {"groups:\n" MODEL("a", "ball.xml") MODEL("b", "tumbler.xml"), 9.81, 1},
        {"groups:\n" MODEL("a", "ball.xml") MODEL("b", "hexapod.urdf"), 9.81, 0},
        {"proximity: {enabled: true}\ngroups:\n" MODEL("a", "crazyflie.yaml"), 9.81, 0},
        {"world: {gravity: 1.62}\ngroups:\n" MODEL("a", "tumbler.xml"), 1.62, 0}, // as asked
        {"world: {gravity: auto}\ngroups:\n" MODEL("a", "hexapod.urdf"), 9.81, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_WHOLE_SCENE scene = scene_of(*state, cases[i].text);
        assert_near(mf_world_config_of(scene.world)->gravity, cases[i].gravity, 1e-12);
        assert_int_equal(scene.note_count, cases[i].notes);
        for (uint32_t n = 0; n < scene.note_count; n++)
            assert_non_null(strstr(scene.notes[n], "the gravity of its file is"));
    }
}

// A quadrotor or aircraft that nothing keeps out of the ground is noted; cars stand on it.
TEST(what_passes_through_the_ground_is_noted) {
    static const struct {
        const char *text;
        bool noted;
    } cases[] = {
        {"groups:\n" MODEL("a", "crazyflie.yaml")
             MODEL("b", "car_full_size.yaml") "    placement: {poses: [[9, 0, 0]]}\n",
         true},
        {"proximity: {collisions: {terrain: false}}\ngroups:\n" MODEL("b", "aerosonde.yaml"), true},
        {"proximity: {enabled: true}\ngroups:\n  - {name: c, model: ../models/sun2022.yaml, "
         "isolated: true}\n",
         true},
        {"proximity: {enabled: true}\ngroups:\n" MODEL("a", "crazyflie.yaml"), false},
        {"groups:\n" MODEL("b", "car_full_size.yaml"), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_WHOLE_SCENE scene = scene_of(*state, cases[i].text);
        char text[MF_MOTION_NOTE];
        const bool noted = mf_motion_group_note(mf_world_group(scene.world, 0), 0, text);
        assert_int_equal(noted, cases[i].noted);
        if (noted)
            assert_non_null(strstr(text, "it flies through the ground without a fault"));
        assert_int_equal(scene.note_count, 0);
    }
}

// Wind on what has no drag, or whose motion feels none.
TEST(wind_without_effect_is_noted) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, "air: {wind: [3, 0, 0]}\nproximity: {enabled: true}\ngroups:\n" MODEL(
                             "a", "hexapod.urdf") MODEL("b", "aerosonde.yaml") "    height: 50\n");
    mf_StartNote notes[4];
    assert_int_equal(scene.note_count, 0); // one feels it, the level of the other does not
    const uint32_t count = mf_scene_start_notes(&scene, notes, 4);
    bool said = false;
    for (uint32_t i = 0; i < count && i < 4; i++)
        said |= notes[i].kind == MF_NOTE_LEVEL &&
                strcmp(notes[i].text, "group a: motion articulated: feels no wind") == 0;
    assert_true(said);
    AUTO_WHOLE_SCENE calm = scene_of(
        *state,
        "air: {wind: [3, 0, 0]}\nproximity: {enabled: true}\ngroups:\n" MODEL("a", "hexapod.urdf"));
    assert_int_equal(calm.note_count, 1);
    assert_string_equal(calm.notes[0], "group a: air.wind has no effect: its motion feels none");
}

// Keys by their earlier names are read, with one note.
TEST(old_keys_are_read_and_noted) {
    mf_SceneFile *file = parse_scene(
        *state, "groups:\n" MODEL("a", "hexapod.urdf") "    place: {poses: [[1, 2, 0]]}\n" MODEL(
                    "b", "hexapod.urdf") "    place: {poses: [[3, 4, 0]]}\n");
    mf_Scene scene = make_scene(*state, file);
    assert_near(get_field(scene.group, "base.position", 0, 1), 2.0, 1e-6);
    assert_int_equal(scene.note_count, 1);
    assert_string_equal(scene.notes[0], "keys with a new name: place is called placement (2 keys)");
    drop_scene(&scene, file);
    // `turn` has another new name in each place.
    file = parse_scene(*state, "groups:\n  - name: m\n    model: ../models/modules/wheelbot.urdf\n"
                               "    behavior: {wheels: {left: a, right: b, turn: 1.5}}\n");
    assert_true(file->groups[0].behavior.policy.pivot_time == 1.5);
    assert_string_equal(file->old_keys, "turn is called pivot_time (1 key)");
    mf_scene_file_destroy(file);
    file = parse_scene(*state, "groups:\n  - name: m\n    count: 2\n    model: "
                               "../models/modules/superbot_simple.urdf\n"
                               "    chain: {first: front, second: back, turn: 2}\n");
    assert_int_equal(file->groups[0].chain.orientation, 2);
    assert_string_equal(file->old_keys, "turn is called orientation (1 key)");
    mf_scene_file_destroy(file);
    const char both[] = "groups:\n" MODEL("a", "hexapod.urdf") "    place: line\n"
                                                               "    placement: line\n";
    MUST_FAIL(mf_scene_file_parse(*state, "t.yaml", both, sizeof both - 1, NULL, 0, &file, &error),
              MF_BAD_FILE, "did you mean groups.a.placement?");
}

// The rate of a system of the first group; 0: it has none.
static mf_Time period_of(const mf_Scene *scene, const char *system) {
    for (uint32_t i = 0; i < mf_group_system_count(scene->group); i++) {
        const mf_SystemConfig *config = mf_group_system(scene->group, i);
        if (strcmp(config->name, system) == 0)
            return MF_SECOND * config->rate.denominator / config->rate.numerator;
    }
    return 0;
}

// About 10 ms in whole steps; as the controller of genomes where there is one; as published for
// points without gaits.
TEST(default_control_intervals) {
    static const struct {
        const char *step, *keys;
        mf_Time gaits, points; // [ns] 0: not there
    } cases[] = {
        {"0.001", "    gaits: [tripod]\n", 10 * MF_MILLISECOND, 0},
        {"0.003", "    gaits: [tripod]\n", 9 * MF_MILLISECOND, 0},
        {"0.02", "    gaits: [tripod]\n", 20 * MF_MILLISECOND, 0},
        {"0.001", "    gaits: [tripod]\n    control_interval: 0.004\n", 4 * MF_MILLISECOND, 0},
        {"0.01", "    motion: points\n", 0, 80 * MF_MILLISECOND},
        {"0.03", "    motion: points\n", 0, 60 * MF_MILLISECOND},
        {"0.01", "    motion: points\n    controller: gp\n", 0, 80 * MF_MILLISECOND},
        {"0.002", "    motion: points\n    gaits: [tripod]\n", 10 * MF_MILLISECOND,
         10 * MF_MILLISECOND},
        {"0.002", "    motion: {points: {joint_interval: 0.004}}\n    gaits: [tripod]\n",
         10 * MF_MILLISECOND, 4 * MF_MILLISECOND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_WHOLE_SCENE scene = scene_of(
            *state, formatted("world: {step: %s}\ngroups:\n" MODEL("a", "hexapod.urdf") "%s",
                              cases[i].step, cases[i].keys));
        assert_int_equal(period_of(&scene, "gaits"), cases[i].gaits);
        const mf_PointsMotion *points = mf_motion_plan(scene.group, &mf_points_row);
        assert_int_equal(points == NULL ? 0 : points->config.joint_interval, cases[i].points);
    }
}

// What the reader could not compare is compared when the models' step is known.
TEST(times_that_do_not_fit_the_step_are_refused) {
    static const struct {
        const char *keys, *message;
    } cases[] = {
        {"    control_interval: 0.003\n    gaits: [tripod]\n",
         "groups.a.control_interval: expected a multiple of the step of 0.002 s, found 0.003 s"},
        {"    motion: {points: {joint_interval: 0.003}}\n",
         "groups.a.motion.points.joint_interval: expected a multiple of the step of 0.002 s, found "
         "0.003 s"},
        {"    controller: {gp: {tick: 0.001}}\n",
         "groups.a.controller: tick: expected a multiple of the step of 0.002 s, found 0.001 s"},
        {"    switch: [{to: rigid, when: {at: {time: 1}}}]\nworld: {switch_interval: 0.003}\n",
         "world.switch_interval: expected a multiple of the step of 0.002 s, found 0.003 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_SCENE_FILE *file = parse_scene(
            *state, formatted("groups:\n" MODEL("a", "hexapod.urdf") "%s", cases[i].keys));
        mf_Scene scene;
        MUST_FAIL_AS(mf_scene_create(*state, file, NULL, &scene, &error), MF_BAD_FILE,
                     cases[i].message);
        assert_null(scene.world);
    }
}

// The planes of a model are the ground, wherever in the list it is, unless the file has one.
TEST(the_ground_is_that_of_a_model) {
    static const char slope[] =
        "<mujoco><worldbody><geom type='plane' size='5 5 1' pos='0 0 0.25'/>"
        "<body pos='9 9 9'><geom size='0.1'/></body></worldbody></mujoco>";
    const char *path = MAYFLY_BINARY_DIR "/test_scene_start.xml";
    file_put_text(path, slope);
    for (int own = 0; own < 2; own++) {
        AUTO_WHOLE_SCENE scene = scene_of(
            *state, formatted("%sgroups:\n" MODEL("a", "hexapod.urdf") "  - {name: b, model: %s}\n",
                              own == 1 ? "ground: {shape: flat, amplitude: 0.5}\n" : "", path));
        const double height = own == 1 ? 0.5 : 0.25;
        assert_near(mf_terrain_height(scene.terrain, 0.3, 0.2, NULL), height, 1e-9);
        assert_near(get(&scene, 0, "base.position", 0, 2), scene.model->rest_height + height, 0.01);
        mf_world_step(scene.world, 200);
        assert_near(get(&scene, 0, "base.position", 0, 2), scene.model->rest_height + height, 0.02);
    }
    unlink(path);
}

// ---- places ------------------------------------------------------------------------------------

static void expect_position(const mf_Scene *scene, uint32_t robot, double x, double y, double z,
                            double heading) {
    const double found[3] = {x, y, z};
    for (uint32_t c = 0; c < 3; c++)
        assert_near(get(scene, 0, "base.position", robot, c), found[c], 1e-5);
    assert_near(get(scene, 0, "base.orientation", robot, 0), cos(0.5 * heading), 1e-6);
    assert_near(get(scene, 0, "base.orientation", robot, 3), sin(0.5 * heading), 1e-6);
}

TEST(robots_stand_at_their_start_poses) {
    static const struct {
        const char *keys;
        double above; // [m] the height at which one robot stands without keys
        uint32_t count;
        double poses[4][3]; // x, y, heading
    } cases[] = {
        {"", 0, 1, {{0, 0, 0}}},
        {"    height: 0.5\n", 0.5, 1, {{0, 0, 0}}},
        {"    count: 3\n    placement: {line: {distance: 2}}\n",
         0,
         3,
         {{0, -2, 0}, {0, 0, 0}, {0, 2, 0}}},
        {"    count: 3\n    isolated: true\n", 0, 3, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
        {"    count: 2\n    placement: {poses: [[1, 2, 0.5], [-3, 4, 2]]}\n",
         0,
         2,
         {{1, 2, 0.5}, {-3, 4, 2}}},
        {"    count: 4\n    placement: {grid: {spacing: [2, 3, 1], columns: 2}}\n    heading: 1\n",
         0,
         4,
         {{-1, -1.5, 1}, {1, -1.5, 1}, {-1, 1.5, 1}, {1, 1.5, 1}}},
        {"    count: 2\n    placement: {circle: {radius: 3, along: true}}\n",
         0,
         2,
         {{3, 0, 1.5707963267948966}, {-3, 0, 4.7123889803846897}}},
    };
    double z = 0.0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        AUTO_WHOLE_SCENE scene = scene_of(
            *state,
            formatted("groups:\n" MODEL("a", "hexapod.urdf") "    contact: {self: false}\n%s",
                      cases[k].keys));
        if (k == 0)
            z = get(&scene, 0, "base.position", 0, 2);
        assert_near(z, scene.model->rest_height, 0.01); // on its shapes, not on points of them
        for (uint32_t i = 0; i < cases[k].count; i++) {
            const double *pose = cases[k].poses[i];
            expect_position(&scene, i, pose[0], pose[1], z + cases[k].above, pose[2]);
        }
    }
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, "groups:\n" MODEL("a", "hexapod.urdf") "    contact: {shapes: false}\n");
    expect_position(&scene, 0, 0, 0, scene.model->rest_height, 0);
}

// Each on the ground below it.
TEST(robots_stand_on_uneven_ground) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, "ground: {shape: slope, amplitude: 0.2, interpolation: bilinear}\n"
                         "groups:\n" MODEL("a", "ball.xml") "    count: 4\n"
                                                            "    placement: {line: {distance: 1}}\n"
                                                            "    heading: 1\n");
    for (uint32_t i = 0; i < 4; i++) {
        double x = get(&scene, 0, "base.position", i, 0), y = get(&scene, 0, "base.position", i, 1);
        double ground = mf_terrain_height(scene.terrain, x, y, NULL);
        assert_near(get(&scene, 0, "base.position", i, 2), ground + 0.07, 1e-5);
    }
}

// The least distance [m] of two of the first robots, seen from above.
static double least_distance(const mf_Scene *scene, uint32_t count) {
    double least = INFINITY, at[20][2];
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t c = 0; c < 2; c++)
            at[a][c] = get(scene, 0, "base.position", a, c);
        for (uint32_t b = 0; b < a; b++)
            least = fmin(least, hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]));
    }
    return least;
}

// Scenery that is placed has the origin of its file on the map under it, at any heading; without a
// placement, or on level ground, it is where its file says.
TEST(scenery_follows_the_map) {
    static const char *const map = "ground: {file: landscape.pgm, cell: 0.2, scale: 0.8, "
                                   "interpolation: bilinear}\ngroups:\n";
    static const char *const places[] = {"    placement: {poses: [[0.83, 0.37, 0.7]]}\n",
                                         ("    placement: {poses: [[0.83, 0.37, 0]]}\n"
                                          "    height: 0.25\n"),
                                         ""};
    for (int on_map = 0; on_map < 2; on_map++)
        for (int k = 0; k < 3; k++) {
            AUTO_WHOLE_SCENE scene =
                scene_of(*state, formatted("%s" MODEL("a", "small_pool.xml") "%s",
                                           on_map ? map : "groups:\n", places[k]));
            const double ground = on_map ? mf_terrain_height(scene.terrain, 0.83, 0.37, NULL) : 0.0;
            assert_true(on_map == 0 || ground > 0.01);
            assert_near(get(&scene, 0, "base.position", 0, 0), k < 2 ? 0.83 : 0.0, 1e-6);
            assert_near(get(&scene, 0, "base.position", 0, 2),
                        k == 0   ? ground
                        : k == 1 ? ground + 0.25
                                 : 0.0,
                        1e-6);
        }
}

TEST(random_robots_are_apart) {
    AUTO_WHOLE_SCENE scene = scene_of(
        *state,
        "groups:\n" MODEL("a", "ball.xml") "    count: 20\n    placement: {random: {lower: [-1, "
                                           "-1, 0], upper: [1, 1, 0], distance: 0.2}}\n");
    for (uint32_t i = 0; i < 20; i++)
        assert_near(get(&scene, 0, "base.position", i, 2), 0.07, 1e-6);
    assert_true(least_distance(&scene, 20) >= 0.2 - 1e-6);
}

// As many boxes as fit by their own size, of each kind of shape: the ball around a box of edges a,
// b, c has the radius |(a, b, c)| / 2.
TEST(random_robots_fit_by_their_size) {
    static const struct {
        const char *geom;
        double radius;
    } cases[] = {{"type='box' size='.1 .1 .05'", 0.15},
                 {"type='cylinder' size='.12 .09'", 0.15},
                 {"type='capsule' size='.05 .1'", 0.15},
                 {"type='ellipsoid' size='.15 .1 .05'", 0.15},
                 {"size='.15'", 0.15}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const char path[] = MAYFLY_BINARY_DIR "/fits.xml";
        char text[600];
        file_put_text(path, formatted("<mujoco><worldbody><body><freejoint/><geom %s/></body>"
                                      "</worldbody></mujoco>",
                                      cases[i].geom));
        snprintf(text, sizeof text,
                 "groups:\n  - name: a\n    model: %s\n    count: 10\n    placement: {random: "
                 "{lower: [-0.9, -0.9, 0], upper: [0.9, 0.9, 0]}}\n",
                 path);
        AUTO_WHOLE_SCENE scene = scene_of(*state, text);
        assert_true(least_distance(&scene, 10) >= 2.0 * cases[i].radius - 1e-6);
        unlink(path);
    }
}

// ---- states ------------------------------------------------------------------------------------

TEST(speed_is_along_the_heading) {
    AUTO_WHOLE_SCENE scene = scene_of(
        *state,
        "groups:\n" MODEL("a", "ball.xml") "    placement: {poses: [[0, 0, 1.5707963267948966]]}\n"
                                           "    speed: 2\n");
    assert_near(get(&scene, 0, "base.linear_velocity", 0, 0), 0, 1e-6);
    assert_near(get(&scene, 0, "base.linear_velocity", 0, 1), 2, 1e-6);
    AUTO_WHOLE_SCENE slow = scene_of(
        *state, "groups:\n" MODEL("a", "ball.xml") "    placement: {poses: [[0, 0, 3]]}\n");
    for (uint32_t c = 0; c < 3; c++) {
        const double zero = 0.0, v = get(&slow, 0, "base.linear_velocity", 0, c);
        assert_memory_equal(&v, &zero, sizeof v); // not -0: worlds are compared by their bits
    }
}

TEST(keyframes_of_the_file_are_taken) {
    static const char *const keys[] = {"", "    keyframe: stand\n", "    keyframe: none\n",
                                       "    placement: {poses: [[2, 0, 0]]}\n"};
    for (int i = 0; i < 4; i++) {
        AUTO_WHOLE_SCENE scene =
            scene_of(*state, formatted("groups:\n" MODEL("a", "trotter.xml") "%s", keys[i]));
        assert_near(get(&scene, 0, "joint.angle", 0, 0), i == 2 ? scene.model->start_angle[0] : 0.9,
                    1e-6);
    }
}

// A file that puts its robot into the ground is not left there.
TEST(robots_are_lifted_out_of_the_ground) {
    static const char deep[] =
        "<mujoco><worldbody><geom type='plane' size='5 5 1'/><body pos='0 0 0.02'><freejoint/>"
        "<geom type='sphere' size='0.1'/></body></worldbody></mujoco>";
    const char *path = MAYFLY_BINARY_DIR "/test_scene_deep.xml";
    file_put_text(path, deep);
    mf_SceneFile *file = NULL;
    MUST(mf_scene_file_load(*state, path, NULL, 0, &file, &error));
    mf_Scene scene = make_scene(*state, file);
    assert_near(scene.raised[0], 0.08, 1e-6);
    assert_near(get(&scene, 0, "base.position", 0, 2), 0.1, 1e-6);
    drop_scene(&scene, file);
    unlink(path);
}

TEST(all_but_the_first_are_shaken) {
    static const char text[] =
        "groups:\n" MODEL("a", "hexapod.urdf") "    count: 3\n    joint_noise: "
                                               "0.1\n    isolated: true\n";
    double first[18];
    for (int go = 0; go < 3; go++) {
        const mf_Override seed = {"world.seed", go < 2 ? "7" : "8"};
        AUTO_WHOLE_SCENE scene = make_scene(*state, parse_with(*state, text, &seed, 1));
        uint32_t same = 0;
        for (uint32_t j = 0; j < 18; j++) {
            double rate = get(&scene, 0, "joint.rate", 1, j);
            assert_true(get(&scene, 0, "joint.rate", 0, j) == 0.0);
            assert_true(rate != 0.0 && fabs(rate) <= 0.1 * (1 + 1e-6));
            assert_true(rate != get(&scene, 0, "joint.rate", 2, j));
            same += go > 0 && rate == first[j];
            first[j] = rate;
        }
        assert_int_equal(same, go == 1 ? 18 : 0);
    }
}

// Robots have settled when the scene is there: dropped from 1 cm they lie still, and time that
// counts begins then.
TEST(robots_settle_before_time_counts) {
    AUTO_WHOLE_SCENE scene = scene_of(
        *state, "world: {step: 0.002}\ngroups:\n" MODEL(
                    "a", "ball.xml") "    height: 0.01\n    settle: 1\n    keyframe: none\n"
                                     "    placement: {poses: [[0, 0, 0]]}\n");
    assert_near(get(&scene, 0, "base.position", 0, 2), 0.07, 2e-3);
    assert_near(get(&scene, 0, "base.linear_velocity", 0, 2), 0, 1e-2);
    assert_int_equal(mf_world_time(scene.world), MF_SECOND);
    assert_true(mf_scene_steps(&scene) == 5000); // of the duration alone
}
