// Which pairs can collide and how their parameters are combined: the rules of MuJoCo's
// documentation, computed by hand.
#include "contact/collide.h"
#include "rig/rig.h"

GROUP_FIXTURE(make_context, drop_context);

enum { LINKS = 6, SHAPES = 8 };

// 0 carries 1 and 4; 1 carries 2 (intermediate), which carries 3; 5 hangs on 4 by a fixed joint.
// Shape i < 6 belongs to link i, 6 and 7 to the world.
static mf_Link links[LINKS];
static mf_Joint joints[LINKS - 1];
static mf_Shape shapes[SHAPES];
static mf_Body bodies[LINKS + 1];
static mf_Model model;

static void reset(void) {
    const uint32_t parents[LINKS] = {MF_NONE, 0, 1, 2, 0, 4};
    for (uint32_t i = 0; i < LINKS; i++) {
        links[i] = (mf_Link){.parent = parents[i], .joint = i ? i - 1 : MF_NONE};
        if (i > 0)
            joints[i - 1] = (mf_Joint){.type = MF_JOINT_HINGE, .parent = parents[i], .child = i};
    }
    links[2].intermediate = true;
    joints[4].type = MF_JOINT_FIXED;
    for (uint32_t i = 0; i < SHAPES; i++)
        shapes[i] = (mf_Shape){.type = MF_SHAPE_SPHERE,
                               .link = i < LINKS ? i : MF_NONE,
                               .collides = i != 2,
                               .rotation = {1, 0, 0, 0},
                               .size = {0.1, 0.2, 0.3},
                               .body = i < LINKS ? i + 1 : MF_NONE,
                               .contact_type = 1,
                               .contact_with = 1,
                               .dimension = 3,
                               .friction = {1, 0.005, 0.0001},
                               .mix = 1,
                               .softness = {{0.02, 1}, {0.9, 0.95, 0.001, 0.5, 2}}};
    model = (mf_Model){.name = "robot",
                       .links = links,
                       .link_count = LINKS,
                       .joints = joints,
                       .joint_count = LINKS - 1,
                       .shapes = shapes,
                       .shape_count = SHAPES,
                       .bodies = bodies,
                       .body_count = LINKS + 1,
                       .physics = {.step = 0.002}};
}

static mf_CollidePlan *plan_of_model(mf_Context *context) {
    mf_CollidePlan *plan = NULL;
    MUST(mf_collide_create(context, &model, NULL, &plan, &error));
    return plan;
}

static const mf_CollidePair *pair_of(const mf_CollidePlan *plan, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < plan->pair_count; i++) {
        uint32_t x = mf_collide_shapes(plan)[mf_collide_pairs(plan)[i].a].shape,
                 y = mf_collide_shapes(plan)[mf_collide_pairs(plan)[i].b].shape;
        if ((x == a && y == b) || (x == b && y == a))
            return &mf_collide_pairs(plan)[i];
    }
    return NULL;
}

static const mf_CollideClass *class_of(const mf_CollidePlan *plan, uint32_t a, uint32_t b) {
    return &mf_collide_classes(plan)[pair_of(plan, a, b)->touches];
}

TEST(bodies_filter_pairs) {
    reset();
    mf_CollidePlan *plan = plan_of_model(*state);
    // Not: 0-1 (carried), 1-3 (carried, through the intermediate link), 0-4 and 0-5 (4 and 5 are
    // one body), 4-5, 6-7 (both the world).
    const uint32_t may[][2] = {{0, 3}, {1, 4}, {1, 5}, {3, 4}, {3, 5}, {0, 6}, {0, 7}, {1, 6},
                               {1, 7}, {3, 6}, {3, 7}, {4, 6}, {4, 7}, {5, 6}, {5, 7}};
    assert_int_equal(plan->pair_count, sizeof may / sizeof *may);
    for (size_t i = 0; i < sizeof may / sizeof *may; i++)
        assert_non_null(pair_of(plan, may[i][0], may[i][1]));
    mf_release(*state, plan);

    model.physics.disabled = MF_DISABLE_FILTER_PARENT; // 0-1, 1-3, 0-4, 0-5 more
    plan = plan_of_model(*state);
    assert_int_equal(plan->pair_count, 19);
    assert_non_null(pair_of(plan, 0, 1));
    mf_release(*state, plan);

    // Fixed in the world without an MJCF file, link 0 is a robot's foot, which 1, 4, 5 are next to;
    // 0-6 and 0-7 never move.
    reset();
    model.base = MF_BASE_FIXED;
    model.body_count = 0;
    plan = plan_of_model(*state);
    assert_int_equal(plan->pair_count, 13);
    assert_null(pair_of(plan, 0, 4));
    mf_release(*state, plan);

    // With link 0 as the world 0-1, 0-4, 0-5 may touch, 0-6 and 0-7 never move.
    model.body_count = LINKS + 1;
    plan = plan_of_model(*state);
    assert_int_equal(plan->pair_count, 16);
    assert_non_null(pair_of(plan, 0, 4));
    assert_null(pair_of(plan, 0, 6));
    mf_release(*state, plan);
}

TEST(bits_exclusions_and_lists_filter_pairs) {
    reset();
    shapes[3].contact_type = 2; // seen by 1 only through their contact_with
    shapes[3].contact_with = 0;
    shapes[1].contact_with = 3;
    shapes[0].contact_with = 0;
    shapes[6].contact_type = shapes[6].contact_with = 0;
    const mf_ContactExclusion exclusions[] = {{"", {5, 2}}, {"", {MF_NONE, 6}}}; // 1-4, world-5
    const mf_ContactPair pairs[] = {{.name = "p",
                                     .shapes = {3, 1}, // although one carries the other
                                     .dimension = 6,
                                     .friction = {1, 2, 3, 4, 5},
                                     .friction_reference = {0.1, 0.2},
                                     .margin = 0.25,
                                     .gap = 0.5,
                                     .softness = {{-100, -10}, {1, 2, 3, 4, 5}}}};
    model.exclusions = exclusions;
    model.exclusion_count = 2;
    model.pairs = pairs;
    model.pair_count = 1;
    mf_CollidePlan *plan = plan_of_model(*state);
    const uint32_t may[][2] = {{1, 3}, {1, 5}, {0, 7}, {1, 7}, {4, 7}};
    assert_int_equal(plan->pair_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_non_null(pair_of(plan, may[i][0], may[i][1]));
    const mf_CollideClass *pair = class_of(plan, 1, 3);
    assert_int_equal(pair->dimension, 6);
    assert_memory_equal(pair->friction, pairs[0].friction, sizeof pair->friction);
    assert_memory_equal(&pair->softness, &pairs[0].softness, sizeof pair->softness);
    assert_true(pair->friction_reference[1] == 0.2 && pair->gap == 0.5);
    assert_true(pair->margin == 0.25 && plan->margin == 0.25);
    mf_release(*state, plan);
}

TEST(parameters_mix) {
    reset();
    shapes[0].mix = 3;
    shapes[0].dimension = 1;
    shapes[0].friction[0] = 0.5;
    shapes[0].friction[1] = 0.25;
    shapes[0].margin = 0.01;
    shapes[0].gap = 0.125;
    shapes[0].softness.reference[0] = 0.06;
    shapes[0].softness.impedance[2] = 0.005;
    shapes[3].dimension = 4;
    shapes[3].margin = 0.02;
    mf_CollidePlan *plan = plan_of_model(*state);
    const mf_CollideClass *pair = class_of(plan, 0, 3);
    // Weights 3/4 and 1/4: 0.75 * 0.06 + 0.25 * 0.02 = 0.05, 0.75 * 0.005 + 0.25 * 0.001 = 0.004.
    assert_int_equal(pair->dimension, 4);
    assert_true(pair->friction[0] == 1 && pair->friction[1] == 1 && pair->friction[2] == 0.25);
    assert_true(pair->friction[3] == 0.0001 && pair->friction[4] == 0.0001);
    assert_true(fabs(pair->margin - 0.03) < 1e-15 && pair->gap == 0.125);
    assert_near(pair->softness.reference[0], 0.05, 1e-15);
    assert_near(pair->softness.impedance[2], 0.004, 1e-15);
    mf_release(*state, plan);

    shapes[3].softness.reference[0] = -100; // direct stiffness: the smaller of both
    shapes[3].softness.reference[1] = -20;
    plan = plan_of_model(*state);
    pair = class_of(plan, 0, 3);
    assert_true(pair->softness.reference[0] == -100 && pair->softness.reference[1] == -20);
    mf_release(*state, plan);

    shapes[0].priority = 1;
    plan = plan_of_model(*state);
    pair = class_of(plan, 0, 3);
    assert_int_equal(pair->dimension, 1);
    assert_true(pair->friction[0] == 0.5 && pair->softness.reference[0] == 0.06);
    mf_release(*state, plan);

    model.physics.override_contacts = true;
    model.physics.override_margin = 0.5;
    model.physics.override_friction[0] = 7;
    plan = plan_of_model(*state);
    pair = class_of(plan, 0, 3);
    assert_true(pair->margin == 0.5 && pair->friction[0] == 7 && plan->margin == 0.5);
    mf_release(*state, plan);
}

// Sizes are halved, kinds put in order, hulls moved to their middle, links to their holders.
TEST(shapes_are_placed) {
    static const float vertices[] = {9, 9, 9, 1, 0, 0, 3, 0, 0, 2, 3, 0, 2, 0, 3};
    static const uint32_t hull[] = {1, 2, 3, 4}, none[] = {0};
    const mf_Mesh meshes[] = {{.vertices = vertices, .hull_vertices = hull, .hull_vertex_count = 4},
                              {.vertices = vertices, .hull_vertices = none}};
    reset();
    model.meshes = meshes;
    model.mesh_count = 2;
    for (int i = 0; i < SHAPES; i++)
        shapes[i].collides = false;
    shapes[1].collides = shapes[3].collides = shapes[4].collides = shapes[6].collides = true;
    shapes[7].collides = shapes[0].collides = true;
    shapes[0].type = MF_SHAPE_HEIGHTS;
    shapes[1].type = MF_SHAPE_MESH;
    shapes[1].mesh = 0;
    shapes[1].position[1] = 10;
    shapes[1].rotation[0] = shapes[1].rotation[3] = 0.70710678118654752; // x to y
    shapes[3].type = MF_SHAPE_BOX;
    shapes[3].position[0] = 1;
    shapes[4].type = MF_SHAPE_MESH; // without a hull
    shapes[4].mesh = 1;
    shapes[6].type = MF_SHAPE_PLANE;
    shapes[7].type = MF_SHAPE_CYLINDER;
    mf_CollideHolder holders[LINKS];
    for (uint32_t i = 0; i < LINKS; i++)
        holders[i] = (mf_CollideHolder){.frame = 10 + i, .rotation = {1, 0, 0, 0}};
    holders[3] = (mf_CollideHolder){.frame = 2, .position = {0, 0, 5}, .rotation = {0, 0, 1, 0}};
    mf_CollidePlan *plan = NULL;
    MUST(mf_collide_create(*state, &model, holders, &plan, &error));
    assert_int_equal(plan->shape_count, 4);
    assert_int_equal(plan->heights_left, 1);
    const double *v = mf_collide_values_f64(plan);
    // Mean (2, 0.75, 0.75), turned to (-0.75, 2, 0.75).
    assert_int_equal(mf_collide_shapes(plan)[0].kind, MF_COLLIDE_HULL);
    assert_int_equal(mf_collide_shapes(plan)[0].frame, 11);
    assert_true(fabs(v[9] + 0.75) < 1e-15 && fabs(v[10] - 12) < 1e-14 &&
                fabs(v[11] - 0.75) < 1e-15);
    const mf_ConvexHull *own = mf_hull_of(mf_collide_hulls(plan), mf_collide_shapes(plan)[0].hull);
    assert_true(mf_hull_vertices_f64(own)[0] == -1 && mf_hull_vertices_f64(own)[3] == 1);
    assert_true(mf_hull_vertices_f64(own)[6 + 1] == 2.25 &&
                mf_hull_vertices_f32(own)[9 + 2] == 2.25f);
    // A half rotation about y: (1, 0, 0) to (-1, 0, 0), then 5 up.
    v += MF_COLLIDE_SHAPE_VALUES;
    assert_int_equal(mf_collide_shapes(plan)[1].frame, 2);
    assert_true(v[0] == -1 && v[4] == 1 && v[8] == -1 && v[9] == -1 && v[11] == 5);
    assert_true(v[12] == 0.05 && v[13] == 0.1 && v[14] == 0.15);
    assert_int_equal(mf_collide_shapes(plan)[2].frame, MF_NONE);
    v += 2 * MF_COLLIDE_SHAPE_VALUES;
    assert_true(v[12] == 0.1 && v[13] == 0.1 && fabs(v[15] - 0.1 * sqrt(2)) < 1e-15);
    const mf_CollidePair *pair = pair_of(plan, 1, 7);
    assert_int_equal(mf_collide_shapes(plan)[pair->a].shape, 7); // the cylinder first
    assert_int_equal(mf_collide_shapes(plan)[pair_of(plan, 3, 6)->a].kind, MF_COLLIDE_PLANE);
    mf_release(*state, plan);
}

// The n-th allocation fails, for all n: an error, nothing left behind, *out untouched.
TEST(failures_leave_nothing) {
    reset();
    for (uint64_t n = 1;; n++) {
        mf_CollidePlan *plan = NULL;
        size_t before = mf_context_live_bytes(*state);
        mf_context_fail_after(*state, n);
        mf_Status status = mf_collide_create(*state, &model, NULL, &plan, NULL);
        mf_context_fail_after(*state, 0);
        if (status == MF_OK) {
            assert_true(n > 8);
            mf_release(*state, plan);
            return;
        }
        assert_int_equal(status, MF_NO_MEMORY);
        assert_null(plan);
        assert_true(mf_context_live_bytes(*state) == before);
    }
}

TEST(models_without_pairs_have_a_plan) {
    reset();
    model.shape_count = 0;
    mf_CollidePlan *plan = plan_of_model(*state);
    assert_int_equal(plan->pair_count, 0);
    assert_int_equal(plan->test_count, 0);
    mf_release(*state, plan);
}

// ---- for comparisons with other programs --------------------------------------------------------

static const char *body_name(const mf_Model *file, uint32_t shape) {
    uint32_t body = file->shapes[shape].body;
    return body == MF_NONE ? "world" : file->bodies[body].name;
}

// Writes the bodies of every pair of a model file.
static int print_pairs(mf_Context *context, const char *path) {
    mf_Error error;
    mf_Model *file = NULL;
    mf_CollidePlan *plan = NULL;
    char text[1024];
    mf_ImportConfig config = WITH(mf_import_config(), .lenient = true);
    if (mf_model_load(context, path, &config, &file, &error) != MF_OK ||
        mf_collide_create(context, file, NULL, &plan, &error) != MF_OK) {
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
        mf_model_destroy(file);
        return 1;
    }
    for (uint32_t i = 0; i < plan->pair_count; i++)
        printf("%s\t%s\n",
               body_name(file, mf_collide_shapes(plan)[mf_collide_pairs(plan)[i].a].shape),
               body_name(file, mf_collide_shapes(plan)[mf_collide_pairs(plan)[i].b].shape));
    mf_release(context, plan);
    mf_model_destroy(file);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2) {
        void *context = NULL;
        if (make_context(&context) != 0)
            return 1;
        int result = print_pairs(context, argv[1]);
        return drop_context(&context) != 0 || result;
    }
    return run_listed_tests();
}
