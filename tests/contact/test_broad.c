// The broad phase finds exactly the pairs whose bounding spheres are near in some lane of a group
// (for capsules with capsules and spheres: the capsules themselves), for random trees, in every
// copy. So it does in models of many floating bodies, whose pairs are not listed.
#include "broad_cases.h"

#include "math/kernel_table.h"
#include "math/scalar.h"

#include "rig/rig.h"

GROUP_FIXTURE(make_context, drop_context);

enum {
    COUNT = 32,
    LINKS = 20,
    SHAPES = 48,
    BODIES = 150, // floating
    MOST_SHAPES = 6 + 2 * BODIES
};

typedef struct Copy {
    const char *name;
    mf_KernelRow row;
    bool wide;
    uint32_t (*run)(const BroadRun *run);
    size_t (*memory)(const mf_CollidePlan *plan);
} Copy;

#define COPY(row, name)                                                                            \
    {#name "_f32", row, false, mf_broad_run_##name##_f32, mf_broad_memory_##name##_f32},           \
        {#name "_f64", row, true, mf_broad_run_##name##_f64, mf_broad_memory_##name##_f64},

static const Copy copies[] = {MF_EACH_COPY(COPY)};

static uint64_t random_state;

static double between(double low, double high) { // SplitMix64
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return low + (high - low) * (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static mf_Link links[BROAD_FRAMES];
static mf_Joint joints[BROAD_FRAMES];
static mf_Shape shapes[MOST_SHAPES];
static mf_Body bodies[BODIES];
static _Alignas(64) double frames[BROAD_FRAMES * BROAD_FRAME * COUNT];
static _Alignas(64) float frames_f32[BROAD_FRAMES * BROAD_FRAME * COUNT];
static double positions[COUNT][MOST_SHAPES][3]; // [m] of shapes in the world
static double ups[COUNT][MOST_SHAPES][3];       // [1] their z axes

static void random_quat(double q[4]) {
    for (int i = 0; i < 4; i++)
        q[i] = between(-1, 1);
    assert_true(mf_quat_normalize(q));
}

static mf_Shape *random_shape(uint32_t i, uint32_t link) {
    mf_Shape *shape = &shapes[i];
    *shape = (mf_Shape){.type = i % 3 ? MF_SHAPE_CAPSULE : MF_SHAPE_SPHERE,
                        .link = link,
                        .collides = true,
                        .mesh = MF_NONE,
                        .body = MF_NONE,
                        .contact_type = 1,
                        .contact_with = 1,
                        .margin = 0.005 * (i % 2)};
    shape->size[0] = between(0.02, 0.08);
    shape->size[1] = between(0.05, 0.3);
    random_quat(shape->rotation);
    for (int k = 0; k < 3; k++)
        shape->position[k] = between(-0.2, 0.2);
    return shape;
}

// A random tree with spheres and capsules, some shapes of the world and two planes.
static mf_Model random_model(void) {
    for (uint32_t i = 0; i < LINKS; i++) {
        links[i] = (mf_Link){.parent = i ? (uint32_t)between(0, i) : MF_NONE, .joint = i};
        joints[i] = (mf_Joint){.type = MF_JOINT_HINGE};
    }
    links[0].joint = MF_NONE;
    for (uint32_t i = 0; i < SHAPES; i++) {
        const uint32_t link = i < 6 ? MF_NONE : (uint32_t)between(0, LINKS);
        random_shape(i, link);
    }
    shapes[0].type = shapes[20].type = MF_SHAPE_PLANE;
    return (mf_Model){.name = "tree",
                      .links = links,
                      .link_count = LINKS,
                      .joints = joints,
                      .joint_count = LINKS,
                      .shapes = shapes,
                      .shape_count = SHAPES};
}

// Many floating bodies of one or two shapes of several surfaces, some of which do not touch each
// other, an exclusion, two listed pairs, and a plane and capsules of the world.
static mf_Model floating_model(void) {
    static const mf_ContactExclusion exclusions[] = {{.bodies = {3, 5}}};
    static mf_ContactPair pairs[] = {{.shapes = {20, 30}, .dimension = 1},
                                     {.shapes = {13, 2}, .dimension = 3, .margin = 0.001}};
    uint32_t count = 0;
    for (uint32_t i = 0; i <= BODIES; i++) {
        links[i] = (mf_Link){.parent = i ? 0 : MF_NONE, .joint = i ? i : MF_NONE};
        joints[i] = (mf_Joint){.type = MF_JOINT_FLOATING};
    }
    while (count < 6)
        random_shape(count++, MF_NONE);
    shapes[0].type = MF_SHAPE_PLANE;
    for (uint32_t i = 0; i < BODIES; i++) {
        bodies[i] = (mf_Body){.link = i + 1, .parent = MF_NONE};
        for (uint32_t k = 0; k < 1 + i % 2; k++) {
            mf_Shape *shape = random_shape(count++, i + 1);
            shape->body = i;
            shape->friction[0] = 0.5 * (i % 4);
            if (i % 10 == 0)
                shape->contact_type = shape->contact_with = 2; // touches only its kind
        }
    }
    return (mf_Model){.name = "bodies",
                      .base = MF_BASE_FIXED,
                      .links = links,
                      .link_count = BODIES + 1,
                      .joints = joints,
                      .joint_count = BODIES + 1,
                      .bodies = bodies,
                      .body_count = BODIES,
                      .exclusions = exclusions,
                      .exclusion_count = 1,
                      .pairs = pairs,
                      .pair_count = 2,
                      .shapes = shapes,
                      .shape_count = count};
}

static void random_frames(const mf_Model *model, double wide) {
    for (uint32_t lane = 0; lane < COUNT; lane++) {
        double quat[BROAD_FRAMES][4], position[BROAD_FRAMES][3];
        for (uint32_t l = 0; l < model->link_count; l++) {
            double rotation[9];
            random_quat(quat[l]);
            mf_quat_to_matrix(rotation, quat[l]);
            for (int k = 0; k < 3; k++)
                position[l][k] = between(-wide, wide);
            for (uint32_t i = 0; i < BROAD_FRAME; i++) {
                size_t at = ((size_t)l * BROAD_FRAME + i) * COUNT + lane;
                frames[at] = i < 9 ? rotation[i] : position[l][i - 9];
                frames_f32[at] = (float)frames[at];
            }
        }
        for (uint32_t s = 0; s < model->shape_count; s++) {
            const mf_Shape *shape = &shapes[s];
            const double z[3] = {0, 0, 1};
            mf_vec3_copy(positions[lane][s], shape->position);
            mf_quat_rotate(ups[lane][s], shape->rotation, z);
            if (shape->link == MF_NONE)
                continue;
            mf_quat_rotate(positions[lane][s], quat[shape->link], positions[lane][s]);
            mf_vec3_add(positions[lane][s], positions[lane][s], position[shape->link]);
            mf_quat_rotate(ups[lane][s], quat[shape->link], ups[lane][s]);
        }
    }
}

static double radius_of(const mf_Shape *shape) {
    if (shape->type == MF_SHAPE_PLANE)
        return 0;
    return shape->size[0] + (shape->type == MF_SHAPE_CAPSULE ? 0.5 * shape->size[1] : 0);
}

// [m] from a point, seen from the center of a segment, to that segment.
static double point_to_segment(const double point[3], const double axis[3], double half) {
    double along = fmax(-half, fmin(half, mf_vec3_dot(point, axis))), direction[3];
    for (int k = 0; k < 3; k++)
        direction[k] = point[k] - along * axis[k];
    return mf_vec3_length(direction);
}

// [m] of a shape's straight part.
static double half_of(const mf_Shape *shape) {
    return shape->type == MF_SHAPE_CAPSULE ? 0.5 * shape->size[1] : 0;
}

// [m] between two segments, which may be points: from an end of one, or between places inside both.
static double between_segments(uint32_t lane, uint32_t a, uint32_t b) {
    const double *u = ups[lane][a], *v = ups[lane][b];
    double half_a = half_of(&shapes[a]), half_b = half_of(&shapes[b]);
    double offset[3], cross[3], least = INFINITY;
    mf_vec3_sub(offset, positions[lane][b], positions[lane][a]);
    for (int side = -1; side <= 1; side += 2) {
        double from_a[3], from_b[3];
        for (int k = 0; k < 3; k++) {
            from_a[k] = offset[k] + side * half_b * v[k];
            from_b[k] = side * half_a * u[k] - offset[k];
        }
        least = fmin(least, point_to_segment(from_a, u, half_a));
        least = fmin(least, point_to_segment(from_b, v, half_b));
    }
    mf_vec3_cross(cross, u, v);
    double square = mf_vec3_dot(cross, cross), cosine = mf_vec3_dot(u, v);
    double s = (mf_vec3_dot(offset, u) - cosine * mf_vec3_dot(offset, v)) / square;
    double t = (cosine * mf_vec3_dot(offset, u) - mf_vec3_dot(offset, v)) / square;
    if (square > 1e-12 && fabs(s) < half_a && fabs(t) < half_b)
        least = fmin(least, fabs(mf_vec3_dot(offset, cross)) / sqrt(square));
    return least;
}

// [m] between the spheres of a pair, or with a capsule between the shapes; *slack: what may be told
// beyond.
static double gap_of(const mf_CollidePlan *plan, uint32_t p, uint32_t lane, double *slack) {
    const mf_CollidePair pair = mf_collide_pair_of(plan, p);
    uint32_t a = mf_collide_shapes(plan)[pair.a].shape, b = mf_collide_shapes(plan)[pair.b].shape;
    double offset[3], both = radius_of(&shapes[a]) + radius_of(&shapes[b]);
    *slack = 0;
    if (shapes[a].type != MF_SHAPE_PLANE && half_of(&shapes[a]) + half_of(&shapes[b]) > 0) {
        *slack = 0.01 * both;
        return between_segments(lane, a, b) - shapes[a].size[0] - shapes[b].size[0];
    }
    mf_vec3_sub(offset, positions[lane][b], positions[lane][a]);
    double apart = shapes[a].type == MF_SHAPE_PLANE ? mf_vec3_dot(offset, ups[lane][a])
                                                    : mf_vec3_length(offset);
    return apart - both;
}

static void check_pair(const Copy *copy, const mf_CollidePlan *plan, uint32_t p, double reach,
                       uint32_t width, const BroadRun *run, uint32_t *skipped, uint32_t *reported) {
    for (uint32_t lane = 0; lane < COUNT; lane += width) {
        double least = INFINITY, slack = 0;
        for (uint32_t i = 0; i < width; i++)
            least = fmin(least, gap_of(plan, p, lane + i, &slack));
        uint32_t times = run->near[(size_t)lane * run->pair_most + p];
        double margin = reach + plan->margin;
        if (times > 1 || (times == 0 && least < margin - 1e-6) ||
            (times == 1 && least > margin + slack + 1e-4))
            fail_msg("%s: pair %u of lane %u found %u times at a distance of %g", copy->name, p,
                     lane, times, least);
        *(times ? reported : skipped) += 1;
    }
}

// `numbers`: whether a number is that of a pair.
static void check_copy(const Copy *copy, const mf_CollidePlan *plan, uint32_t links_count,
                       const bool *numbers, uint32_t *skipped, uint32_t *reported) {
    const uint32_t most = plan->pair_count + plan->floating_count * plan->floating_count;
    BroadRun run = {.plan = plan,
                    .frame_count = links_count,
                    .count = COUNT,
                    .reach = 0.01,
                    .frames = copy->wide ? (const void *)frames : (const void *)frames_f32,
                    .pair_most = most,
                    .near = calloc(COUNT, most),
                    .memory = aligned_alloc(64, copy->memory(plan))};
    assert_true(run.near != NULL && run.memory != NULL);
    const uint32_t width = copy->run(&run);
    assert_true(width > 0);
    for (uint32_t p = 0; p < most; p++) {
        if (numbers[p])
            check_pair(copy, plan, p, run.reach, width, &run, skipped, reported);
        else
            for (uint32_t lane = 0; lane < COUNT; lane++)
                assert_int_equal(run.near[(size_t)lane * most + p], 0);
    }
    free(run.near);
    free(run.memory);
}

// Which numbers a pair has: one for each two shapes that may touch and move against each other.
static bool *check_numbers(const mf_Model *model, const mf_CollidePlan *plan) {
    const uint32_t most = plan->pair_count + plan->floating_count * plan->floating_count;
    const uint32_t count = model->shape_count;
    bool *numbers = calloc(most, sizeof *numbers);
    unsigned char *times = calloc(count, count);
    assert_true(numbers != NULL && times != NULL);
    for (uint32_t p = 0; p < most; p++) {
        if (p >= plan->pair_count) {
            uint32_t indices[2];
            mf_collide_indices(plan, p, indices);
            const mf_CollideFloating *a = &mf_collide_floating(plan)[indices[0]],
                                     *b = &mf_collide_floating(plan)[indices[1]];
            if (indices[0] >= indices[1] || a->body == b->body)
                continue;
            assert_int_equal(mf_collide_number(plan, indices[0], indices[1]), p);
        }
        const mf_CollidePair pair = mf_collide_pair_of(plan, p);
        numbers[p] = pair.touches != MF_NONE;
        if (!numbers[p])
            continue;
        const mf_CollideShape *a = &mf_collide_shapes(plan)[pair.a],
                              *b = &mf_collide_shapes(plan)[pair.b];
        assert_true(a->kind <= b->kind);
        times[(size_t)a->shape * count + b->shape]++;
        times[(size_t)b->shape * count + a->shape]++;
        mf_CollideClass touches = {.most = 0};
        assert_true(mf_collide_match(model, a->shape, b->shape, &touches));
        const mf_CollideClass *own = mf_collide_class_of(plan, p);
        assert_int_equal(own->dimension, touches.dimension);
        assert_memory_equal(own->friction, touches.friction, sizeof touches.friction);
        assert_memory_equal(&own->margin, &touches.margin, sizeof touches.margin);
    }
    for (uint32_t x = 0; x < count; x++) {
        for (uint32_t y = 0; y < count; y++) {
            mf_CollideClass touches;
            const bool expected = model->shapes[x].link != model->shapes[y].link &&
                                  (model->shapes[x].type != MF_SHAPE_PLANE ||
                                   model->shapes[y].type != MF_SHAPE_PLANE) &&
                                  mf_collide_match(model, x, y, &touches);
            assert_int_equal(times[(size_t)x * count + y], expected);
        }
    }
    free(times);
    return numbers;
}

static void check_model(const mf_Model *model, const mf_CollidePlan *plan, double wide) {
    bool *numbers = check_numbers(model, plan);
    uint32_t skipped = 0, reported = 0;
    random_frames(model, wide);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        if (mf_kernel_row_available(copies[i].row))
            check_copy(&copies[i], plan, model->link_count, numbers, &skipped, &reported);
    }
    assert_true(reported > 0 && skipped > 0);
    free(numbers);
}

TEST(near_pairs_are_listed_once) {
    const double wide[3] = {0.2, 0.7, 3.0};
    for (uint32_t round = 0; round < 30; round++) {
        random_state = round;
        mf_Model model = random_model();
        mf_CollidePlan *plan = NULL;
        MUST(mf_collide_create(*state, &model, NULL, &plan, &error));
        assert_true(plan->pair_count > 300 && plan->floating_count == 0);
        check_model(&model, plan, wide[round % 3]);
        mf_release(*state, plan);
    }
}

// A search over all pairs finds the same.
TEST(near_floating_bodies_are_found) {
    const double wide[3] = {0.5, 2.0, 8.0};
    for (uint32_t round = 0; round < 6; round++) {
        random_state = 100 + round;
        mf_Model model = floating_model();
        mf_CollidePlan *plan = NULL;
        MUST(mf_collide_create(*state, &model, NULL, &plan, &error));
        // Those of the two excluded bodies, of the two listed pairs and of the world are listed.
        assert_true(plan->floating_count > BODIES && plan->pair_count < 12 * model.shape_count);
        assert_true(plan->class_count < 40);
        check_model(&model, plan, wide[round % 3]);
        mf_release(*state, plan);
    }
}

// Every pair has its test, groups hold whole runs of tests, and nodes come after what they hold.
TEST(tests_cover_all_pairs) {
    random_state = 99;
    mf_Model model = random_model();
    mf_CollidePlan *plan = NULL;
    MUST(mf_collide_create(*state, &model, NULL, &plan, &error));
    uint32_t pairs = 0, groups = 0;
    for (uint32_t i = 0; i < plan->test_count; i++) {
        const mf_CollideTest *test = &mf_collide_tests(plan)[i];
        pairs += test->pair != MF_NONE;
        groups += test->pair == MF_NONE;
        assert_true(test->pair == MF_NONE || test->skip == 0);
        assert_true(i + test->skip < plan->test_count);
        assert_true(test->nodes[0] < plan->node_count && test->nodes[1] < plan->node_count);
    }
    assert_int_equal(pairs, plan->pair_count);
    assert_true(groups > 10);
    for (uint32_t i = plan->shape_count; i < plan->node_count; i++) {
        const uint32_t *children = mf_collide_nodes(plan)[i - plan->shape_count].children;
        assert_true(children[0] < i && children[1] < i);
    }
    mf_release(*state, plan);
}
