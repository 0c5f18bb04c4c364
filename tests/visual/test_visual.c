// What groups look like: which shapes are seen, what stands for robots without shapes, colors of
// groups, and bars.
#include "rig/rig.h"
#include "rig/motions.h"
#include "math/scalar.h"
#include "visual/visual.h"

GROUP_FIXTURE(make_context, drop_context);

static mf_Visual open_visual(mf_Context *context, const char *text, const mf_Terrain *terrain,
                             mf_World **world, mf_Model **model) {
    mf_WorldConfig world_config = WITH(mf_world_config(), .terrain = terrain);
    *model = load_text(context, text);
    *world = open_world(context, &world_config);
    mf_Group *group = add_group(*world, &WITH(mf_group_config(), .model = *model, .count = 2));
    assert_int_equal(rig_add_articulated(group, NULL, NULL), MF_OK);
    return mf_visual_of(group);
}

static uint32_t seen_of(const mf_Visual *visual, const char *names[8]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < visual->part_count; i++) {
        mf_Shape part;
        if (mf_visual_part(visual, MF_NONE, i, &part))
            names[count++] = visual->own_parts ? "" : mf_group_model(visual->group)->shapes[i].name;
    }
    return count;
}

// Links with visual shapes by these, others by their collision shapes; the level plane at the
// ground's height is the ground, another one and a tilted one are scenery.
TEST(shapes_that_are_seen) {
    static const char text[] =
        "<mujoco><worldbody><geom name='ground' type='plane' size='0 0 1'/>"
        "<geom name='table' type='plane' size='1 1 1' pos='0 0 .5'/>"
        "<geom name='ramp' type='plane' size='1 1 1' euler='0 20 0'/>"
        "<body pos='0 0 2'><freejoint/><geom name='hull' type='box' size='.1 .1 .1'/>"
        "<geom name='skin' type='box' size='.1 .1 .1' contype='0' conaffinity='0' group='2'"
        " mass='0'/>"
        "<body pos='0 0 .3'><joint axis='0 1 0'/><geom name='arm' type='capsule' size='.03 .1'/>"
        "</body></body></worldbody></mujoco>";
    mf_World *world;
    AUTO_MODEL *model;
    const char *names[8];
    const mf_Visual visual = open_visual(*state, text, NULL, &world, &model);
    assert_int_equal(visual.kind, MF_VISUAL_PARTS);
    assert_false(visual.own_parts);
    assert_int_equal(seen_of(&visual, names), 4);
    assert_string_equal(names[0], "table");
    assert_string_equal(names[1], "ramp");
    assert_string_equal(names[2], "skin");
    assert_string_equal(names[3], "arm");
    mf_world_destroy(world);
}

// A robot of mass points is seen by them; a vehicle by a body with wheels in place of its cylinder.
TEST(robots_without_shapes) {
    const double at[2][3] = {{0.0, 0.0, 0.1}, {0.2, 0.0, 0.1}};
    const float red[3] = {1.0f, 0.0f, 0.0f};
    mf_Builder *builder;
    AUTO_MODEL *points, *car;
    mf_MotionsConfig motions = mf_motions_config();
    mf_Shape part;
    MUST(mf_builder_create(*state, "points", &builder, &error));
    const mf_BodyId first = mf_body_create_point(builder, at[0], 1.0, red);
    mf_body_connect(builder, first, mf_body_create_point(builder, at[1], 1.0, red));
    MUST(mf_builder_finalize(builder, &points, &error));
    mf_builder_destroy(builder);
    MUST(mf_motion_model(*state, MF_MOTION_CAR, &motions, "car", &car, &error));
    AUTO_WORLD *world = open_world(*state, NULL);
    mf_GroupConfig config = WITH(mf_group_config(), .model = points);
    mf_Group *group = add_group(world, &config);
    MUST(mf_motion_add(group, MF_MOTION_POINTS, &motions, &error));
    const mf_Visual balls = mf_visual_of(group);
    assert_int_equal(balls.part_count, 2);
    assert_true(mf_visual_part(&balls, MF_NONE, 1, &part));
    assert_int_equal(part.type, MF_SHAPE_SPHERE);
    assert_near(part.color[0], 1.0, 0.0);
    config.model = car;
    config.name = "cars";
    group = add_group(world, &config);
    MUST(mf_motion_add(group, MF_MOTION_CAR, &motions, &error));
    const mf_Visual wheels = mf_visual_of(group);
    assert_true(wheels.own_parts && wheels.part_count >= 6);
    assert_true(mf_visual_part(&wheels, MF_NONE, 0, &part));
    assert_int_equal(part.type, MF_SHAPE_BOX);
}

// What is colored takes the color of its group, as bright as it was; gray and black stay.
TEST(colors_of_groups) {
    const float tint[3] = {1.0f, 0.5f, 0.0f}, gray[3] = {0.5f, 0.45f, 0.4f},
                blue[3] = {0.1f, 0.2f, 0.8f}, black[3] = {0.0f, 0.0f, 0.0f};
    float out[3];
    (void)state;
    mf_visual_tint(blue, tint, out);
    assert_near(out[0], 0.8, 1e-6);
    assert_near(out[1], 0.8 * (0.12 + 0.44), 1e-6);
    assert_near(out[2], 0.8 * 0.12, 1e-6);
    mf_visual_tint(gray, tint, out);
    assert_memory_equal(out, gray, sizeof out);
    mf_visual_tint(black, tint, out);
    assert_memory_equal(out, black, sizeof out);
    mf_visual_tint(blue, NULL, out);
    assert_memory_equal(out, blue, sizeof out);
}

// A rotation takes z to the direction of a bar, straight down too.
TEST(bars_lie_along_their_ends) {
    static const double ends[][3] = {{0, 0, 1}, {0, 0, -2}, {3, 0, 0}, {0, -1, 0}, {1, 2, -2}};
    const double from[3] = {0.5, -1.0, 2.0}, up[3] = {0.0, 0.0, 1.0};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        double to[3], q[4], z[3], length = 0.0;
        for (int c = 0; c < 3; c++) {
            to[c] = from[c] + ends[i][c];
            length += ends[i][c] * ends[i][c];
        }
        mf_visual_along(q, from, to);
        mf_quat_rotate(z, q, up);
        for (int c = 0; c < 3; c++)
            assert_near(z[c], ends[i][c] / sqrt(length), 1e-12);
    }
}
