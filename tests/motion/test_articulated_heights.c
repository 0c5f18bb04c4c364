// Height fields of a file as ground: the resulting map, and bodies that rest and roll on it.
#include "motion/articulated_rig.h"

// A world of one field of 5 x 3 points (x by y), and a body on it.
static void write_world(char *text, size_t capacity, const char *size, const char *elevation,
                        const char *at, const char *more) {
    snprintf(text, capacity,
             "<mujoco><option timestep='0.001'/><asset><hfield name='h' nrow='3' ncol='5' size='%s'"
             " elevation='%s'/></asset><worldbody><geom type='hfield' hfield='h' %s/>%s<body "
             "pos='0 0 1'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='.004 .004 .004'/>"
             "<geom type='sphere' size='.1'/></body></worldbody></mujoco>",
             size, elevation, at, more);
}

static mf_Terrain *ground_of(mf_Context *context, const char *text) {
    AUTO_MODEL *model = load_text(context, text);
    mf_Terrain *terrain;
    MUST(mf_terrain_from_model(context, model, &terrain, &error));
    return terrain;
}

static const char *const hills = "0 1 2 3 4 4 3 2 1 0 0 0 4 0 0";

// Points of square cells are taken as they are: rows of a file begin at the highest y, its numbers
// are stretched over 0 .. 1, so that 4 is the field's height of 0.8 m.
TEST(square_cells_are_kept) {
    static const double rows[3][5] = {{0, 0, 4, 0, 0}, {4, 3, 2, 1, 0}, {0, 1, 2, 3, 4}};
    AUTO_CONTEXT *context = open_context(1);
    char text[1024];
    write_world(text, sizeof text, "1 .5 .8 .1", hills, "pos='3 -2 .25'", "");
    AUTO_TERRAIN *ground = ground_of(context, text);
    assert_int_equal(ground->columns, 5);
    assert_int_equal(ground->rows, 3);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 5; column++)
            assert_near(mf_terrain_height(ground, 2.0 + 0.5 * column, -2.5 + 0.5 * row, NULL),
                        0.25 + 0.2 * rows[row][column], 1e-7);
    assert_near(mf_terrain_height(ground, 2.25, -2.25, NULL), 0.25 + 0.2 * 1.75, 1e-7);
    assert_near(mf_terrain_height(ground, 1000, -1.5, NULL), 0.25 + 0.2 * 4, 1e-7);
}

// Cells that are not square, a field that is turned, and a plane that goes on beyond: the points
// themselves are met where the finer map has them too.
TEST(others_are_sampled) {
    AUTO_CONTEXT *context = open_context(1);
    char text[1024];
    write_world(text, sizeof text, "2 .5 .8 .1", hills, "",
                "<geom type='plane' size='1 1 1' pos='0 0 .1'/>");
    mf_Terrain *ground = ground_of(context, text);
    assert_near(mf_terrain_height(ground, 0, 0, NULL), 0.4, 1e-7);
    assert_near(mf_terrain_height(ground, -1, 0.5, NULL), 0.2, 1e-7);
    assert_near(mf_terrain_height(ground, 1.5, 0.5, NULL), 0.7, 1e-7);
    assert_near(mf_terrain_height(ground, -2, 0.5, NULL), 0.1, 1e-7); // the plane is higher
    assert_near(mf_terrain_height(ground, 50, 50, NULL), 0.1, 1e-7);
    mf_terrain_destroy(ground);
    write_world(text, sizeof text, "1 .5 .8 .1", hills, "euler='0 0 90'", "");
    ground = ground_of(context, text);
    assert_near(mf_terrain_height(ground, -0.5, 1, NULL), 0.8, 1e-7);
    assert_near(mf_terrain_height(ground, 0, -1, NULL), 0.8, 1e-7);
    assert_near(mf_terrain_height(ground, 0.5, 0, NULL), 0.8, 1e-7);
    mf_terrain_destroy(ground);
    assert_null(ground_of(context, "<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom "
                                   "type='sphere' size='.1'/></body></worldbody></mujoco>"));
}

typedef struct Hill {
    Rig text;
    mf_Terrain *ground;
    mf_Context *context;
} Hill;

static Hill open_hill(const char *elevation, const char *body) {
    Hill hill;
    const char *text = formatted(
        "<mujoco><option timestep='0.001'/><asset><hfield name='h' nrow='3' ncol='5' "
        "size='2 1 1 .1' elevation='%s'/></asset><worldbody><geom type='hfield' hfield='h'/>"
        "<body pos='0 0 1'><freejoint/>%s</body></worldbody></mujoco>",
        elevation, body);
    hill.context = open_context(1);
    hill.ground = ground_of(hill.context, text);
    hill.text = text_open(text, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                                     .motion.shapes = true, .world.terrain = hill.ground));
    return hill;
}

static void close_hill(Hill *hill) {
    rig_close(&hill->text);
    mf_terrain_destroy(hill->ground);
    mf_context_destroy(hill->context);
}

// All solids rest on the plateau of a field, 1 m high, as deep as contacts are: m g / (n k), k = m
// / (4 h^2).
TEST(solids_rest_on_a_plateau) {
    static const struct {
        const char *geom;
        double below; // [m] of the origin
    } cases[] = {{"<geom type='sphere' size='.1'/>", 0.1},
                 {"<geom type='box' size='.2 .1 .05'/>", 0.05},
                 {"<geom type='capsule' size='.05 .1' euler='0 90 0'/>", 0.05},
                 {"<geom type='cylinder' size='.1 .2'/>", 0.2},
                 {"<geom type='ellipsoid' size='.1 .2 .05'/>", 0.05}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(close_hill) Hill hill = open_hill("0 1 1 1 0 0 1 1 1 0 0 1 1 1 0", cases[i].geom);
        rig_set3(&hill.text, "base.position", 0.1, 0.05, 1.0 + cases[i].below + 0.02);
        mf_world_step(hill.text.world, 2000);
        double sunk = 1.0 + cases[i].below - rig_get(&hill.text, "base.position", 2);
        assert_true(sunk > 0.0 && sunk < 1.01 * 9.81 * 4e-6);
        assert_near(rig_get(&hill.text, "base.linear_velocity", 0), 0.0, 1e-6);
    }
}

// A ball rolls down the side of a field, which falls by 0.25 m per meter: g sin / 1.4 along it.
TEST(a_ball_rolls_down_a_field) {
    const double slope = atan(0.25), g = 9.81;
    AUTO(close_hill)
    Hill hill = open_hill("4 3 2 1 0 4 3 2 1 0 4 3 2 1 0",
                          "<inertial pos='0 0 0' mass='1' diaginertia='.004 .004 .004'/>"
                          "<geom type='sphere' size='.1'/>");
    rig_set3(&hill.text, "base.position", -1.2 + 0.1 * sin(slope), 0,
             1.0 - 0.25 * 0.8 + 0.1 * cos(slope));
    mf_world_step(hill.text.world, 200);
    double before = rig_get(&hill.text, "base.linear_velocity", 0);
    mf_world_step(hill.text.world, 500);
    double gained = rig_get(&hill.text, "base.linear_velocity", 0) - before;
    double expected = 0.5 * g * sin(slope) / 1.4 * cos(slope);
    assert_near(gained, expected, 3e-3 * expected);
}

// Fields that are tilted or move are told with their line.
TEST(tilted_fields_are_refused) {
    static const char *const worlds[] = {
        "<geom type='hfield' hfield='h' euler='10 0 0'/>",
        "<body pos='0 0 1'><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom "
        "type='hfield' hfield='h'/></body>"};
    AUTO_CONTEXT *context = open_context(1);
    for (int i = 0; i < 2; i++) {
        mf_Error error = {0};
        mf_Model *model;
        assert_int_equal(
            try_text(
                context,
                formatted(
                    "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 .1'/></asset>\n"
                    "<worldbody><body><freejoint/><geom "
                    "size='.1'/></body>\n%s</worldbody></mujoco>",
                    worlds[i]),
                &model, &error),
            MF_UNSUPPORTED);
        assert_int_equal(error.line, 3);
        assert_non_null(strstr(error.message, "hfield (tilted, or on a body that moves)"));
    }
}
