// Comparisons of levels: a tripod gait covers about the same distance at every level, the level of
// highest fidelity is the reference, unsupported levels give a reason, and the page contains all of
// it.
#include "rig/rig.h"
#include "scene/support.h"

GROUP_FIXTURE(make_context, drop_context);

#define PAGE "compare_test.html"

// A robot with a gait at its command, half a second after it was put down.
static mf_SceneFile *gait_scene(mf_Context *context, const char *robot, const char *gait,
                                const char *command, double duration) {
    return parse_scene(
        context,
        formatted(
            "world: {step: 0.001}\nrun: {duration: %g}\ngroups:\n  - name: a\n    model: "
            "../models/%s.urdf\n"
            "    settle: 0.5\n    gaits: [%s]\n    behavior: {gait: {name: %s, command: %s}}\n",
            duration, robot, gait, gait, command));
}

static mf_SceneFile *ball_scene(mf_Context *context, double duration) {
    const char *value = formatted("%g", duration);
    const mf_Override overrides[] = {{"run.duration", value}, {"world.step", "0.001"}};
    return load_scene(context, "models/ball.xml", overrides, 2);
}

TEST(a_tripod_walks_at_every_level) {
    AUTO_SCENE_FILE *file = gait_scene(*state, "hexapod", "tripod", "[0.08, 0, 0]", 4.0);
    AUTO_COMPARISON *all = NULL;
    MUST(mf_compare(*state, file, &WITH(mf_compare_config(), .cost_robots = 16), &all, &error));
    assert_string_equal(all->gait, "tripod");
    assert_true(fabs(all->command[0] - 0.08) < 1e-7 && all->command[1] == 0);
    assert_true(all->duration == 4.0 && all->note_count == 0);
    assert_int_equal(all->reference, MF_MOTION_ARTICULATED);
    const mf_CompareRow *best = &all->rows[MF_MOTION_ARTICULATED];
    assert_true(isnan(best->position_error) && isnan(best->energy_error));
    for (int i = 0; i < MF_MOTION_LEVELS; i++) {
        const mf_CompareRow *row = &all->rows[i];
        assert_true(row->possible && row->finished && isnan(row->fell));
        assert_int_equal(row->sample_count, 401);
        // Levels differ (feet that roll, servos that give), but none by a third of the way.
        assert_true(fabs(row->forward - best->forward) < 0.33 * best->forward);
        assert_true(fabs(row->heading_change) < 0.1 && row->tilt < 0.1);
        assert_true(row->penetration < 0.01 && row->seconds > 0.0);
        assert_true(row == best || (row->position_error > 0.0 && row->position_error < 0.1));
    }
    MUST(mf_comparison_write(all, PAGE, &error));
    AUTO(end_memory) char *page = file_get(PAGE, NULL);
    for (int i = 0; i < MF_MOTION_LEVELS; i++) {
        assert_non_null(strstr(page, mf_motion_name((mf_Motion)i)));
        assert_non_null(strstr(page, mf_motion_limitation((mf_Motion)i)));
    }
    unlink(PAGE);
}

// What no force holds must not fall: errors of tilt that steps leave do not add up.
TEST(kinematic_soles_stay_flat) {
    AUTO_SCENE_FILE *file = gait_scene(*state, "humanoid", "march", "[0, 0, 0]", 10.0);
    AUTO_COMPARISON *all = NULL;
    mf_CompareConfig config = WITH(mf_compare_config(), .cost_robots = 0);
    memset(config.selected, 0, sizeof config.selected);
    config.selected[MF_MOTION_KINEMATIC] = true;
    MUST(mf_compare(*state, file, &config, &all, &error));
    const mf_CompareRow *row = &all->rows[MF_MOTION_KINEMATIC];
    assert_true(isnan(row->fell) && row->tilt < 0.2 && row->distance < 0.05);
}

// A truss whose actuators nothing drives gets a sine: both motions follow it within millimeters.
TEST(a_truss_is_compared_with_inertia) {
    AUTO_SCENE_FILE *file = parse_scene(
        *state,
        "run: {duration: 2}\ngroups: [{name: a, model: ../models/tetrahedron.truss.yaml}]\n");
    AUTO_COMPARISON *all = NULL;
    MUST(mf_compare(*state, file, &WITH(mf_compare_config(), .cost_robots = 16), &all, &error));
    assert_int_equal(all->reference, MF_MOTION_ELASTIC);
    assert_string_equal(all->body, "truss");
    assert_true(strstr(all->drive, "sine of 1.1 s") != NULL);
    const mf_CompareRow *frames = &all->rows[MF_MOTION_QUASISTATIC];
    const mf_CompareRow *best = &all->rows[MF_MOTION_ELASTIC];
    assert_true(frames->possible && best->possible && !all->rows[MF_MOTION_RIGID].possible);
    assert_true(frames->finished && best->finished && best->warnings == 0);
    assert_int_equal(frames->sample_count, 101);
    assert_int_equal(best->sample_count, 101);
    assert_true(frames->step == 0.02 && best->step == 0.001);
    assert_true(frames->vertex_error > 0.0 && frames->vertex_error < 3e-3);
    assert_true(frames->position_error < 3e-3 && frames->height_error < 3e-3);
    assert_true(isnan(best->vertex_error) && isnan(frames->tilt_error));
    assert_true(frames->force > 0.05 && frames->seconds > 0.0 && best->seconds > 0.0);
    MUST(mf_comparison_write(all, PAGE, &error));
    unlink(PAGE);
}

// The page links a film of each level that ran, beside it.
TEST(films_are_linked) {
    AUTO_SCENE_FILE *file = ball_scene(*state, 0.1);
    mf_Comparison *all = NULL;
    char name[400];
    mf_CompareConfig config =
        WITH(mf_compare_config(), .cost_robots = 0, .films = "./compare #1.html");
    MUST(mf_compare(*state, file, &config, &all, &error));
    assert_string_equal(all->rows[MF_MOTION_RIGID].film, "compare #1-rigid.html");
    assert_string_equal(all->rows[MF_MOTION_KINEMATIC].film, ""); // not possible
    MUST(mf_comparison_write(all, PAGE, &error));
    AUTO(end_memory) char *page = file_get(PAGE, NULL);
    AUTO(end_memory) char *film = file_get("compare #1-rigid.html", NULL);
    assert_non_null(strstr(page, "rigid <a href=\"compare%20%231-rigid.html\">film</a>"));
    assert_non_null(strstr(film, "<title>ball, standing: rigid</title>"));
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (all->rows[i].film[0] != '\0')
            assert_int_equal(unlink(all->rows[i].film), 0);
    mf_comparison_destroy(all);
    config.films = "no/such/folder.html";
    MUST_FAIL(mf_compare(*state, file, &config, &all, &error), MF_NOT_FOUND, "");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    config.films = name;
    MUST_FAIL(mf_compare(*state, file, &config, &all, &error), MF_LIMIT, "");
    unlink(PAGE);
}

TEST(unsupported_features_of_a_level_are_listed) {
    AUTO_SCENE_FILE *file = ball_scene(*state, 0.1);
    mf_Comparison *all = NULL;
    mf_CompareConfig config = WITH(mf_compare_config(), .cost_robots = 0);
    assert_int_equal(mf_compare(*state, file, &config, &all, NULL), MF_OK);
    assert_string_equal(all->gait, "standing");
    assert_false(all->rows[MF_MOTION_KINEMATIC].possible);
    assert_non_null(strstr(all->rows[MF_MOTION_KINEMATIC].reason, "feet"));
    assert_true(all->rows[MF_MOTION_RIGID].possible);
    assert_true(isnan(all->rows[MF_MOTION_RIGID].seconds));
    assert_true(all->rows[MF_MOTION_RIGID].position_error < 1e-6); // it lies
    mf_comparison_destroy(all);
    memset(config.selected, 0, sizeof config.selected);
    config.selected[MF_MOTION_KINEMATIC] = true;
    MUST_FAIL(mf_compare(*state, file, &config, &all, &error), MF_UNSUPPORTED, "");
    assert_null(all);
    config = mf_compare_config();
    config.struct_size--;
    MUST_FAIL(mf_compare(*state, file, &config, &all, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_compare(*state, NULL, NULL, &all, &error), MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_compare(*state, file, NULL, NULL, &error), MF_BAD_ARGUMENT, "");
}

TEST(incomparable_models_give_a_reason) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"groups: [{name: a, model: ../models/ball.xml}, {name: b, model: ../models/ball.xml}]\n",
         "expected a scene of one group to compare, found 2"},
        {"groups: [{name: a, model: ../models/crazyflie.yaml}]\n",
         "a vehicle has one motion, so there is nothing to compare"},
        {"groups: [{name: a, model: ../models/ball.xml}]\nrun: {duration: 1e6}\n",
         "run.duration: expected at most 1e5 s to compare, found 1e+06 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_SCENE_FILE *file = parse_scene(*state, cases[i].text);
        mf_Comparison *all = NULL;
        mf_Error error = {0};
        assert_int_not_equal(mf_compare(*state, file, NULL, &all, &error), MF_OK);
        assert_null(all);
        assert_string_equal(error.message, cases[i].message);
    }
}

// A command beyond the gait is cut, and that is noted.
TEST(commands_beyond_the_gait_are_noted) {
    AUTO_SCENE_FILE *file = gait_scene(*state, "hexapod", "tripod", "[9, 0, 0]", 0.1);
    AUTO_COMPARISON *all = NULL;
    MUST(mf_compare(*state, file, &WITH(mf_compare_config(), .cost_robots = 0), &all, &error));
    assert_int_equal(all->note_count, 1);
    assert_non_null(
        strstr(all->notes[0], "the command is clamped to the gait's range: forward 9 m/s to "));
    assert_true(all->command[0] > 0 && all->command[0] < 1);
}

// A hull of more corners than a robot can have contacts touches the ground with some of them.
TEST(hulls_of_many_corners_are_compared) {
    static const char urdf[] = "compare_test.urdf", mesh[] = "compare_test.obj";
    static const char robot[] =
        "<robot name='ball'><link name='base'><inertial><mass value='1'/><inertia ixx='.01' "
        "iyy='.01' izz='.01' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry>"
        "<mesh filename='compare_test.obj'/></geometry></collision></link></robot>";
    enum { CORNERS = 600 };
    FILE *file = fopen(mesh, "w");
    assert_non_null(file);
    for (int i = 0; i < CORNERS; i++) { // on a spiral around a sphere
        double z = (2.0 * i + 1.0) / CORNERS - 1.0, rotation = 2.4 * i, wide = sqrt(1.0 - z * z);
        fprintf(file, "v %.9g %.9g %.9g\n", 0.1 * wide * cos(rotation), 0.1 * wide * sin(rotation),
                0.1 * z);
    }
    for (int i = 1; i + 2 <= CORNERS; i++)
        fprintf(file, "f %d %d %d\n", i, i + 1, i + 2);
    fclose(file);
    file_put_text(urdf, robot);
    const mf_Override overrides[] = {
        {"run.duration", "0.1"}, {"group.settle", "0.5"}, {"world.step", "0.001"}};
    AUTO_SCENE_FILE *source = NULL;
    AUTO_COMPARISON *all = NULL;
    mf_Error error = {0};
    mf_CompareConfig config = WITH(mf_compare_config(), .cost_robots = 0);
    if (mf_scene_file_load(*state, urdf, overrides, 3, &source, &error) != MF_OK ||
        mf_compare(*state, source, &config, &all, &error) != MF_OK)
        fail_with(&error);
    unlink(urdf);
    unlink(mesh);
    for (int i = MF_MOTION_RIGID; i < MF_MOTION_LEVELS; i++)
        // On corners it may lie lower than a ball: on a face of eight (a cube) at r / sqrt(3).
        if (!all->rows[i].finished || !(all->rows[i].height > 0.057 && all->rows[i].height < 0.11))
            fail_msg("%s: height %g", mf_motion_name((mf_Motion)i), all->rows[i].height);
}

static mf_Status compare_once(mf_Context *context, void *user, mf_Error *error) {
    AUTO_COMPARISON *all = NULL;
    mf_CompareConfig config =
        WITH(mf_compare_config(), .cost_robots = 0, .selected[MF_MOTION_KINEMATIC] = false,
             .selected[MF_MOTION_POINTS] = false, .selected[MF_MOTION_PRESCRIBED] = false);
    MF_TRY(mf_compare(context, user, &config, &all, error));
    return mf_comparison_write(all, PAGE, error);
}

TEST(every_failing_call_is_survived) {
    AUTO_SCENE_FILE *file = ball_scene(*state, 0.02);
    assert_true(torture(*state, compare_once, file, TORTURE_MUST_FAIL) > 50);
    unlink(PAGE);
}
