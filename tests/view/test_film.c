// Films: poses in the page equal the recorded ones for films of any length; shapes, ground and
// meshes are included; unsupported requests are rejected, and nothing leaks when memory runs out.
#include "rig/rig.h"
#include "view/ball.h"
#include "view/film_page.h"

#define PAGE "film_test.html"
#define TURN (410.0 / 4096.0) // [rad] what films hold exactly

GROUP_FIXTURE(setup_context, teardown_context);

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_Terrain *terrain;
    mf_World *world;
    mf_Group *group;
} Fixture;

static Fixture fixture_open(mf_Context *context, uint32_t count, mf_Terrain *terrain) {
    Fixture fixture = {
        .context = context, .model = ball_with_arm(context, "ball </script>"), .terrain = terrain};
    fixture.world = open_world(context, &WITH(mf_world_config(), .terrain = terrain));
    fixture.group = add_group(fixture.world, &WITH(mf_group_config(), .model = fixture.model,
                                                   .count = count, .double_precision = true));
    return fixture;
}

static void fixture_close(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_terrain_destroy(fixture->terrain);
    mf_model_destroy(fixture->model);
    unlink(PAGE);
}

static mf_Film *film_of(mf_Group *group, double period) {
    mf_Film *film = NULL;
    MUST(mf_film_create(group, period, &film, &error));
    return film;
}

// The page of a film, which ends with it.
static FilmPage page_of(mf_Film *film) {
    MUST(mf_film_write(film, PAGE, &error));
    mf_film_destroy(film);
    return open_page(PAGE);
}

// ---- cases -------------------------------------------------------------------------------------

// Robot i stands at x = i with its arm turned by t: the arm's origin is 0.5 m ahead of the ball's.
static void put_robots(const Fixture *fixture, double angle) {
    for (uint32_t i = 0; i < mf_group_count(fixture->group); i++) {
        set_field(fixture->group, "base.position", i, 0, i);
        set_field(fixture->group, "base.position", i, 2, 2.0);
        set_field(fixture->group, "joint.angle", i, 0, angle);
    }
}

TEST(poses_come_back) {
    AUTO_FIXTURE fixture = fixture_open(*state, 20, NULL);
    mf_Film *film = film_of(fixture.group, 0.02);
    for (int s = 0; s < 5; s++) {
        put_robots(&fixture, TURN * s);
        mf_film_sample(film);
    }
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(number(&page, "robots"), 20);
    assert_int_equal(number(&page, "of"), 20);
    assert_int_equal(number(&page, "frames"), 5);
    assert_true(json_is_true(json_object_get(page.film, "apart")));
    assert_true(json_number_value(json_object_get(page.film, "period")) == 0.02);
    for (int s = 0; s < 5; s++) {
        for (uint32_t r = 0; r < 20; r++) {
            const float *ball = page.poses + ((size_t)s * 20 + r) * 14;
            const float *arm = ball + 7;
            assert_true(ball[0] == (float)r && ball[2] == 2.0f && ball[3] == 1.0f);
            // A turn of t about y is (cos t/2, 0, sin t/2, 0).
            assert_true(fabs((double)arm[0] - r - 0.5) < 1e-6);
            assert_true(fabs(arm[3] - cos(0.5 * TURN * s)) < 1e-6);
            assert_true(fabs(arm[5] - sin(0.5 * TURN * s)) < 1e-6);
        }
    }
}

// A Wheelbot that is pitched by 30 degrees, its sensor 100 mm ahead and 30 mm up: the ray goes to
// what it reads, half a meter, or to its reach of 2 m and no farther.
TEST(rays_end_where_their_sensors_read) {
    static const double readings[] = {0.5, 2.5}, lengths[] = {0.5, 2.0};
    AUTO_MODEL *model = NULL;
    MUST(mf_model_load(*state, MAYFLY_SOURCE_DIR "/models/modules/wheelbot.urdf", NULL, &model,
                       &error));
    AUTO_WORLD *world = open_world(*state, NULL);
    mf_Group *group = add_group(world, &WITH(mf_group_config(), .model = model));
    MUST(mf_motion_add(group, MF_MOTION_ARTICULATED, NULL, &error));
    MUST(mf_sensors_add(group, NULL, &error));
    const uint32_t address = model->sensors[0].address;
    assert_int_equal(model->sensors[0].type, MF_SENSOR_RAY);
    mf_Film *film = film_of(group, 0.02);
    for (int s = 0; s < 2; s++) {
        const double position[3] = {1, 2, 3}, rotation[4] = {cos(M_PI / 12), 0, sin(M_PI / 12), 0};
        set_fields(group, "base.orientation", 0, 4, rotation);
        set_fields(group, "base.position", 0, 3, position);
        set_field(group, "sensor.value", 0, address, readings[s]);
        mf_film_sample(film);
    }
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(number(&page, "rays"), 1);
    float *rows = unpack_rows(page.text, "rays", 7, 2);
    for (int s = 0; s < 2; s++) {
        const double cosine = sqrt(0.75), x = 1 + 0.1 * cosine + 0.03 * 0.5,
                     z = 3 - 0.1 * 0.5 + 0.03 * cosine;
        const double expected[7] = {x,     2, z, x + lengths[s] * cosine, 2, z - lengths[s] * 0.5,
                                    s == 0};
        for (int c = 0; c < 7; c++)
            assert_true(fabs(rows[7 * s + c] - expected[c]) < 2e-6);
    }
    free(rows);
    unlink(PAGE);
}

TEST(shapes_are_named_and_names_are_escaped) {
    AUTO_FIXTURE fixture = fixture_open(*state, 1, NULL);
    mf_Film *film = film_of(fixture.group, 0.02);
    mf_film_sample(film);
    AUTO(close_page) FilmPage page = page_of(film);
    json_t *shapes = json_object_get(cast_of(&page, 0), "shapes");
    assert_int_equal(json_array_size(shapes), 2);
    json_t *ball = json_array_get(shapes, 0);
    assert_string_equal(json_string_value(json_object_get(ball, "type")), "sphere");
    json_t *size = json_object_get(ball, "size"), *color = json_object_get(ball, "color");
    assert_true(json_number_value(json_array_get(size, 0)) == 0.1);
    assert_true(json_number_value(json_array_get(color, 0)) == 1.0);
    assert_true(json_number_value(json_array_get(color, 1)) == 0.0);
    assert_true(json_number_value(json_object_get(page.film, "level")) == 0.0);
    assert_false(json_is_true(json_object_get(page.film, "apart")));
    assert_non_null(strstr(page.text, "<title>ball &lt;/script&gt;</title>"));
    assert_null(strstr(page.text, "@DATA@"));
}

// 8192 samples are kept at most; thinning keeps even steps from the start.
TEST(long_films_are_thinned) {
    AUTO_FIXTURE fixture = fixture_open(*state, 1, NULL);
    mf_Field *position = mf_group_find_field(fixture.group, "base.position");
    mf_Film *film = film_of(fixture.group, 0.01);
    for (int s = 0; s < 20000; s++) {
        mf_field_set(position, 0, 0, s);
        mf_film_sample(film);
    }
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(number(&page, "frames"), 5000); // every fourth of 20,000
    assert_true(json_number_value(json_object_get(page.film, "period")) == 0.04);
    for (int s = 0; s < 5000; s++)
        assert_true(page.poses[(size_t)s * 14] == (float)(4 * s));
}

// One joint holds the ball to the world 0.3 m above its middle, and is switched off in between.
TEST(joints_are_shown_with_their_forces) {
    AUTO_FIXTURE fixture = {.context = *state, .model = ball_with_arm(*state, "ball </script>")};
    mf_WorldJoints *joints = NULL;
    mf_WorldJointId id = MF_WORLD_JOINT_NONE;
    mf_Film *film = NULL;
    fixture.world = open_world(*state, &WITH(mf_world_config(), .step = MF_MILLISECOND));
    fixture.group = add_group(fixture.world, &WITH(mf_group_config(), .model = fixture.model,
                                                   .isolated = false, .double_precision = true));
    assert_int_equal(mf_collisions_prepare(fixture.group, NULL), MF_OK);
    assert_int_equal(mf_motion_add(fixture.group, MF_MOTION_RIGID, NULL, NULL), MF_OK);
    mf_group_reset_all(fixture.group);
    assert_int_equal(mf_world_joints_add(fixture.world, NULL, &joints, NULL), MF_OK);
    mf_WorldJointConfig config = WITH(mf_world_joint_config(), .kind = MF_WORLD_JOINT_FIXED,
                                      .force_limit = 100.0, .sides[1].group = fixture.group);
    const double above[3] = {0.0, 0.0, 2.4};
    set_field(fixture.group, "base.position", 0, 2, 2.0);
    mf_group_refresh(fixture.group, 0);
    assert_int_equal(mf_world_joint_here(&config, above, NULL, NULL), MF_OK);
    assert_int_equal(mf_film_create_world(fixture.world, "t", NULL, 0.01, &film, NULL), MF_OK);
    assert_int_equal(mf_film_show_joints(film, joints, NULL), MF_OK);
    assert_int_equal(mf_film_show_joints(film, joints, NULL), MF_BAD_ARGUMENT);
    mf_film_sample(film);
    assert_int_equal(mf_film_show_joints(film, joints, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_world_joint_create(joints, &config, &id, NULL), MF_OK);
    mf_world_step(fixture.world, 200);
    mf_film_sample(film);
    assert_int_equal(mf_world_joint_enable(joints, id, false, NULL), MF_OK);
    mf_film_sample(film);
    // Another joint does not take the row of one that has just gone.
    assert_int_equal(mf_world_joint_destroy(joints, id, NULL), MF_OK);
    assert_int_equal(mf_world_joint_create(joints, &config, &id, NULL), MF_OK);
    mf_film_sample(film);
    enum { JOINT = 11, SAMPLE = 2 * JOINT };
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(number(&page, "joints"), 2);
    float *rows = unpack_rows(page.text, "joints", SAMPLE, 4);
    const float *sampled = rows + SAMPLE, *last = rows + 3 * SAMPLE;
    assert_true(rows[7] == 0.0f);                              // none yet
    assert_true(sampled[7] == 1.0f);                           // holds
    assert_true(fabs((double)sampled[6] - 1.2 * 9.81) < 0.05); // its weight
    assert_true(fabs((double)sampled[8] - 0.1177) < 1e-3);     // of what breaks it
    assert_true(sampled[9] == -1.0f && sampled[10] == 0.0f);   // the world and the only robot
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs((double)sampled[3 * side + c] - above[c]) < 1e-3);
    assert_true(rows[2 * SAMPLE + 7] == 2.0f); // off
    assert_true(last[7] == 0.0f && last[JOINT + 7] == 1.0f);
    free(rows);
}

static void check_hills(mf_Context *context, uint32_t robots) {
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 100, .rows = 100);
    mf_TerrainGenerator slope = {.shape = MF_TERRAIN_SLOPE, .amplitude = 0.1};
    mf_Terrain *terrain = NULL;
    config.interpolation = MF_BILINEAR;
    assert_int_equal(mf_terrain_generate(context, &config, &slope, &terrain, NULL), MF_OK);
    AUTO_FIXTURE fixture = fixture_open(context, robots, terrain);
    mf_Film *film = film_of(fixture.group, 0.02);
    mf_film_sample(film);
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(json_is_true(json_object_get(page.film, "apart")), robots > 1);
    json_t *ground = json_object_get(page.film, "ground");
    size_t columns = (size_t)json_integer_value(json_object_get(ground, "columns"));
    size_t rows = (size_t)json_integer_value(json_object_get(ground, "rows"));
    double step = json_number_value(json_object_get(ground, "step"));
    double x = json_number_value(json_array_get(json_object_get(ground, "origin"), 0));
    double y = json_number_value(json_array_get(json_object_get(ground, "origin"), 1));
    // 2 m on every side of a robot of 0.5 m between its links' origins.
    assert_true(fabs((double)(columns - 1) * step - 4.5) < fmax(0.06, step));
    assert_true(fabs((double)(rows - 1) * step - 4.0) < fmax(0.06, step));
    assert_true(columns * rows * robots <= 402 * 402);
    float *heights = floats(json_string_value(json_object_get(ground, "heights")), columns * rows);
    for (size_t i = 0; i < columns * rows; i++) {
        double height = mf_terrain_height(terrain, x + (double)(i % columns) * step,
                                          y + (double)(i / columns) * step, NULL);
        assert_true(fabs(heights[i] - height) < 1e-6);
    }
    free(heights);
}

TEST(hills_are_shown_around_the_path) {
    check_hills(*state, 1);
}

// Each robot of an isolated group has a piece of them; all pieces together have no more nodes.
TEST(robots_apart_have_their_own_hills) {
    check_hills(*state, 36);
}

// [rad] Small ones: twice the distance of the quaternions, of which either sign will do.
static double angle_between(const double a[4], const float *b) {
    double same = 0.0, sum = 0.0;
    for (int c = 0; c < 4; c++)
        same += a[c] * (double)b[c];
    for (int c = 0; c < 4; c++)
        sum += pow(a[c] - (same < 0.0 ? -1.0 : 1.0) * (double)b[c], 2.0);
    return 2.0 * sqrt(sum);
}

// A ball that rolls several turns about a slanted axis, and is not a number in between; its arm
// swings by what films do not hold exactly.
TEST(turns_are_kept_to_half_a_step) {
    enum { SAMPLES = 60 };
    static const double axis[3] = {0.6, 0.0, 0.8};
    AUTO_FIXTURE fixture = fixture_open(*state, 1, NULL);
    mf_Field *position = mf_group_find_field(fixture.group, "base.position");
    mf_Film *film = film_of(fixture.group, 0.02);
    for (int s = 0; s < SAMPLES; s++) {
        double rotation[4];
        mf_quat_from_axis_angle(rotation, axis, 0.37 * s);
        put_robots(&fixture, 0.5 * sin(0.3 * s));
        set_fields(fixture.group, "base.orientation", 0, 4, rotation);
        mf_field_set(position, 0, 0, s == 30 ? NAN : 0.0123 * s);
        mf_film_sample(film);
    }
    AUTO(close_page) FilmPage page = page_of(film);
    for (int s = 0; s < SAMPLES; s++) {
        const float *ball = page.poses + (size_t)s * 14;
        double rotation[4], arm[4], both[4];
        mf_quat_from_axis_angle(rotation, axis, 0.37 * s);
        mf_quat_from_axis_angle(arm, (double[3]){0.0, 1.0, 0.0}, 0.5 * sin(0.3 * s));
        mf_quat_multiply(both, rotation, arm);
        // Half a step of each of three numbers; the arm has its own beside the ball's.
        const double error = sqrt(3.0) * 0.5 / 4096.0;
        assert_true(angle_between(rotation, ball + 3) < error + 1e-6);
        assert_true(angle_between(both, ball + 10) < 2.0 * error + 1e-6);
        assert_true(s == 30 ? isnan(ball[0]) : fabs((double)ball[0] - 0.0123 * s) < 0.51 / 16384.0);
    }
}

// 20,000 robots of two links: as many as there is space for, and the page says of how many.
TEST(as_many_robots_are_shown_as_fit) {
    AUTO_FIXTURE fixture = fixture_open(*state, 20000, NULL);
    mf_Film *film = film_of(fixture.group, 0.02);
    put_robots(&fixture, 0.0);
    mf_film_sample(film);
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(number(&page, "robots"), MF_FILM_LINKS / 2);
    assert_int_equal(number(&page, "of"), 20000);
    assert_true(page.poses[(MF_FILM_LINKS - 2) * 7] == (float)(MF_FILM_LINKS / 2 - 1));
}

TEST(bad_calls_are_refused) {
    AUTO_FIXTURE fixture = fixture_open(*state, 1, NULL);
    mf_Film *film = NULL;
    mf_Error error;
    assert_int_equal(mf_film_create(NULL, 0.1, &film, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_film_create(fixture.group, 0.0, &film, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_film_create(fixture.group, NAN, &film, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_film_create(fixture.group, 0.1, NULL, &error), MF_BAD_ARGUMENT);
    assert_null(film);
    assert_int_equal(mf_film_create(fixture.group, 0.1, &film, &error), MF_OK);
    assert_int_equal(mf_film_write(film, PAGE, &error), MF_BAD_ARGUMENT); // nothing sampled
    mf_film_sample(film);
    assert_int_equal(mf_film_write(film, NULL, &error), MF_BAD_ARGUMENT);
    assert_int_equal(mf_film_write(film, "no/such/folder.html", &error), MF_NOT_FOUND);
    assert_non_null(strstr(error.file, "no/such/folder.html"));
    mf_film_destroy(film);
    mf_film_destroy(NULL);
}

static mf_Status make_film(mf_Context *context, void *user, mf_Error *error) {
    Fixture *fixture = user;
    AUTO_FILM *film = NULL;
    unlink(PAGE);
    mf_Status status = mf_film_create(fixture->group, 0.02, &film, error);
    if (status != MF_OK) {
        assert_null(film);
        return status;
    }
    mf_film_sample(film);
    return mf_film_write(film, PAGE, error);
}

TEST(nothing_is_lost_when_calls_fail) {
    AUTO_FIXTURE fixture = fixture_open(*state, 2, NULL);
    assert_int_equal(make_film(*state, &fixture, NULL), MF_OK); // worlds keep what poses need
    assert_true(torture(*state, make_film, &fixture, TORTURE_MUST_FAIL) > 5);
}

// Two groups in one position: poses group by group, each with its shapes, and not put apart.
TEST(a_world_shows_all_its_groups) {
    AUTO_FIXTURE fixture = fixture_open(*state, 2, NULL);
    static const char *const colors[] = {NULL, "#ff8800"};
    mf_Group *more = NULL;
    mf_Film *film = NULL;
    more = add_group(fixture.world, &WITH(mf_group_config(), .name = "more", .model = fixture.model,
                                          .count = 3, .isolated = false));
    assert_int_equal(mf_film_create_world(fixture.world, "all", colors, 0.1, &film, NULL), MF_OK);
    for (uint32_t i = 0; i < 3; i++)
        set_field(more, "base.position", i, 1, 10.0 + i);
    mf_film_sample(film);
    mf_film_sample(film);
    AUTO(close_page) FilmPage page = page_of(film);
    assert_int_equal(number(&page, "robots"), 5);
    assert_int_equal(poses_each(&page), 10);
    assert_int_equal(json_array_size(json_object_get(cast_of(&page, 1), "shapes")), 2);
    assert_null(json_object_get(cast_of(&page, 0), "color"));
    assert_string_equal(json_string_value(json_object_get(cast_of(&page, 1), "color")), "#ff8800");
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 3; i++)
            assert_true(page.poses[(10 * s + 4 + 2 * i) * 7 + 1] == 10.0f + (float)i);
    AUTO_WORLD *empty = open_world(*state, NULL);
    assert_int_equal(mf_film_create_world(empty, "none", NULL, 0.1, &film, NULL), MF_BAD_ARGUMENT);
}
