// Bounding volumes of compounds: on random robots in random poses every choice finds the contacts
// of testing all pairs of solids, to the bit and in the same order, in every copy; gaps hold; and
// the counts of tests differ as the volumes do.
#include "contact/compounds.h"
#include "math/kernel_table.h"

#include "rig/rig.h"

GROUP_FIXTURE(setup_context, teardown_context);

static const mf_CompoundRefitFn refits[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_refit);
static const mf_CompoundSearchFn searches[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_search);
static const mf_CompoundWithinFn withins[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_within);
static _Alignas(64) char scratch[1 << 16]; // mf_compound_search_scratch_size(MF_COMPOUND_SHAPES)

enum { BOUNDS = MF_BOUNDS_NONE + 1, ROBOTS = 24, PAIRS = 40, MOST = 4096, JOINTS = 16 };

static double unit(uint32_t stream, uint32_t number) {
    uint32_t word[4];
    mf_random(7, number, stream, 0, word);
    return mf_random_unit_double(word[0], word[1]);
}

static double signed_unit(uint32_t stream, uint32_t number) {
    return 2 * unit(stream, number) - 1;
}

// ---- random robots ------------------------------------------------------------------------------

typedef struct Text {
    char text[1 << 14];
    size_t size;
    uint32_t seed, number; // of the next random number
} Text;

static double next(Text *text, double low, double high) {
    return low + (high - low) * unit(1000 + text->seed, text->number++);
}

__attribute__((format(printf, 2, 3))) static void put(Text *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text->size +=
        (size_t)vsnprintf(text->text + text->size, sizeof text->text - text->size, format, list);
    va_end(list);
    assert_true(text->size < sizeof text->text);
}

static void put_shape(Text *text) {
    static const char *const types[] = {"sphere", "capsule", "box", "cylinder", "ellipsoid"};
    const double thin = next(text, 0.01, 0.05), wide = next(text, 0.02, 0.3);
    put(text, "<geom type='%s' size='%g %g %g'", types[(int)next(text, 0, 5)], thin, wide,
        next(text, 0.01, 0.1));
    put(text, " pos='%g %g %g'", next(text, -0.2, 0.2), next(text, -0.2, 0.2),
        next(text, -0.2, 0.2));
    put(text, " euler='%g %g %g'", next(text, 0, 360), next(text, 0, 360), next(text, 0, 360));
    put(text, " contype='%d' conaffinity='%d'/>", (int)next(text, 1, 4), (int)next(text, 1, 4));
}

static void put_body(Text *text, uint32_t depth, uint32_t *left) {
    const uint32_t shapes = (uint32_t)next(text, 0, 4), branches = (uint32_t)next(text, 1, 4);
    put(text, "<body pos='%g %g %g' euler='%g %g 0'>", next(text, -0.3, 0.3), next(text, -0.3, 0.3),
        next(text, -0.3, 0.3), next(text, 0, 360), next(text, 0, 360));
    if (depth > 0)
        put(text, "<joint type='%s' axis='%g %g 1'/>", next(text, 0, 1) < 0.8 ? "hinge" : "slide",
            next(text, -1, 1), next(text, -1, 1));
    else
        put(text, "<freejoint/>");
    for (uint32_t i = 0; i < shapes + (depth == 0); i++)
        put_shape(text);
    put(text, "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>");
    for (uint32_t i = 0; i < branches && depth < 5 && *left > 0; i++) {
        --*left;
        put_body(text, depth + 1, left);
    }
    put(text, "</body>");
}

typedef struct Robot {
    mf_Model *model;
    mf_Compound *compound;
    void *parts[2];
} Robot;

static void make_robot(mf_Context *context, uint32_t seed, Robot *robot) {
    static Text text;
    uint32_t left = 1 + seed % (JOINTS - 2);
    text = (Text){.seed = seed};
    put(&text, "<mujoco model='random'><worldbody>");
    if (seed % 6 == 5) { // scenery with a plane
        put(&text, "<geom type='plane' size='0 0 1' pos='0 0 -0.2' euler='%g 0 0'/>",
            next(&text, -20, 20));
        for (uint32_t i = 0; i < 12; i++)
            put_shape(&text);
    } else {
        put_body(&text, 0, &left);
    }
    put(&text, "</worldbody></mujoco>");
    robot->model = load_text(context, text.text);
    MUST(mf_compound_create(context, robot->model, true, &robot->compound, &error));
}

typedef struct State { // of a block
    _Alignas(64) double orientation[4][MF_BLOCK];
    double zero[3][MF_BLOCK], angle[JOINTS][MF_BLOCK];
} State;

static void pose(Robot *robot, uint32_t seed, int row) {
    State state = {0};
    assert_true(robot->model->joint_count <= JOINTS);
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        double size = 0.0;
        for (uint32_t c = 0; c < 4; c++) {
            state.orientation[c][lane] = signed_unit(200 + c, seed * MF_BLOCK + lane);
            size += state.orientation[c][lane] * state.orientation[c][lane];
        }
        for (uint32_t c = 0; c < 4; c++) // a third of the robots upright: axes of each other
            state.orientation[c][lane] =
                lane % 3 == 0 ? (double)(c == 0) : state.orientation[c][lane] / sqrt(size);
        for (uint32_t j = 0; j < JOINTS; j++)
            state.angle[j][lane] = signed_unit(300 + j, seed * MF_BLOCK + lane);
    }
    const mf_TreeState from = {.orientation = state.orientation,
                               .linear = state.zero,
                               .angular = state.zero,
                               .angle = state.angle,
                               .rate = state.angle,
                               .wide = true};
    for (int wide = 0; wide < 2; wide++) {
        const size_t bytes = mf_compound_rows(robot->compound) * MF_BLOCK * (wide ? 8 : 4);
        free(robot->parts[wide]);
        robot->parts[wide] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        assert_non_null(robot->parts[wide]);
        refits[row][wide](robot->compound, &from, MF_ALL_ROBOTS, robot->parts[wide]);
    }
}

static void drop(Robot *robot) {
    free(robot->parts[0]);
    free(robot->parts[1]);
    mf_compound_destroy(robot->compound);
    mf_model_destroy(robot->model);
}

// ---- contacts -----------------------------------------------------------------------------------

static mf_CompoundPair pair_of(const Robot *robots, uint32_t i, int wide) {
    const Robot *a = &robots[i % ROBOTS], *b = &robots[i * 7 / 3 % ROBOTS];
    mf_CompoundPair pair = {
        .sides = {{a->compound, a->parts[wide], i % MF_BLOCK},
                  {b->compound, b->parts[wide], i * 5 % MF_BLOCK}},
    };
    const double far = i % 5 == 0 ? 0.0 : i % 5 == 1 ? 1e-7 : 0.3 * (i % 5);
    for (uint32_t c = 0; c < 3; c++)
        pair.direction[c] = far * signed_unit(400 + c, i);
    return pair;
}

// Pairs of solids whose bits let them touch.
static uint64_t count_matches(const mf_CompoundPair *pair) {
    const mf_Compound *a = pair->sides[0].compound, *b = pair->sides[1].compound;
    uint64_t count = 0;
    for (uint32_t i = 0; i < a->solid_count; i++)
        for (uint32_t k = 0; k < b->solid_count; k++)
            count += (a->solids[i].contact_type & b->solids[k].contact_with) != 0 ||
                     (b->solids[k].contact_type & a->solids[i].contact_with) != 0;
    return count;
}

typedef struct Found {
    mf_CompoundTouch touches[MOST];
    uint32_t count;
    double gap;
} Found;

static void look(const mf_CompoundPair *pair, int row, int wide, double target, Found *found,
                 mf_CollisionsStatistics *sum) {
    mf_CompoundSearch search = {.pairs = pair,
                                .pair_count = 1,
                                .touches = found->touches,
                                .capacity = MOST,
                                .gaps = &found->gap,
                                .target_gap = target,
                                .scratch = scratch};
    searches[row][wide](&search);
    assert_int_equal(search.lost, 0);
    found->count = search.touch_count;
    sum->bound_tests += search.bound_tests;
    sum->shape_tests += search.solid_tests;
    sum->contacts += search.touch_count;
}

static void same(const Found *a, const Found *b) {
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        const mf_CompoundTouch *x = &a->touches[i], *y = &b->touches[i];
        assert_memory_equal(x->solids, y->solids, sizeof x->solids);
        assert_memory_equal(x->point, y->point, sizeof x->point);
        assert_memory_equal(x->normal, y->normal, sizeof x->normal);
        assert_true(x->depth == y->depth && x->depth > 0.0);
    }
}

// Moved by less than its gap, whatever the way, a robot does not touch.
static void check_gap(const mf_CompoundPair *pair, int row, int wide, double gap, uint32_t seed) {
    static Found found;
    mf_CollisionsStatistics none = {0};
    for (uint32_t k = 0; gap > 1e-4 && k < 8; k++) {
        mf_CompoundPair moved = *pair;
        double way[3], size = 0.0;
        for (uint32_t c = 0; c < 3; c++) {
            way[c] = signed_unit(500 + c, seed * 8 + k);
            size += way[c] * way[c];
        }
        for (uint32_t c = 0; c < 3; c++)
            moved.direction[c] += way[c] * (gap - 1e-4) / sqrt(size);
        look(&moved, row, wide, 0.0, &found, &none);
        assert_int_equal(found.count, 0);
    }
}

static void set_bounds(Robot *robots, uint32_t bounds, int row) {
    for (uint32_t r = 0; r < ROBOTS; r++) {
        robots[r].compound->bounds = (mf_CollisionBounds)bounds;
        pose(&robots[r], r, row);
    }
}

TEST(every_choice_finds_what_all_pairs_find) {
    static Robot robots[ROBOTS];
    static Found truth[PAIRS * ROBOTS][2], found;
    mf_CollisionsStatistics sum[BOUNDS] = {0};
    uint32_t apart[BOUNDS] = {0};
    for (uint32_t r = 0; r < ROBOTS; r++)
        make_robot(*state, r, &robots[r]);
    FOR_EACH_ISA (isa) {
        const int row = mf_kernel_row(isa);
        for (uint32_t bounds = BOUNDS; bounds-- > 0;) { // none first
            set_bounds(robots, bounds, row);
            for (uint32_t i = 0; i < PAIRS * ROBOTS; i++)
                for (int wide = 0; wide < 2; wide++) {
                    const mf_CompoundPair pair = pair_of(robots, i, wide);
                    const uint64_t before = sum[bounds].shape_tests;
                    Found *all = &truth[i][wide];
                    if (bounds == MF_BOUNDS_NONE) {
                        look(&pair, row, wide, 0.0, all, &sum[bounds]);
                        assert_int_equal(sum[bounds].shape_tests - before, count_matches(&pair));
                        continue;
                    }
                    look(&pair, row, wide, i % 3 * 0.05, &found, &sum[bounds]);
                    same(&found, all);
                    assert_true(found.gap >= 0.0 && (found.count == 0 || found.gap == 0.0));
                    apart[bounds] += found.gap > 0.0;
                    if (i % 4 == 0)
                        check_gap(&pair, row, wide, found.gap, i);
                }
        }
    }
    for (uint32_t bounds = 0; bounds < BOUNDS; bounds++) {
        print_message("%-8s %llu tests of volumes, %llu of shapes, %llu contacts, %u apart\n",
                      mf_bounds_names[bounds], (unsigned long long)sum[bounds].bound_tests,
                      (unsigned long long)sum[bounds].shape_tests,
                      (unsigned long long)sum[bounds].contacts, apart[bounds]);
        assert_int_equal(sum[bounds].contacts, sum[0].contacts);
        assert_true(bounds == MF_BOUNDS_NONE || apart[bounds] > 100);
    }
    const mf_CollisionsStatistics *sphere = &sum[MF_BOUNDS_SPHERE], *box = &sum[MF_BOUNDS_BOX],
                                  *oriented = &sum[MF_BOUNDS_ORIENTED],
                                  *none = &sum[MF_BOUNDS_NONE];
    assert_true(sphere->contacts > 1000 && none->bound_tests == 0);
    assert_true(sphere->shape_tests < none->shape_tests && box->shape_tests < sphere->shape_tests &&
                oriented->shape_tests < box->shape_tests);
    for (uint32_t r = 0; r < ROBOTS; r++)
        drop(&robots[r]);
}

// A ball that touches a robot is never left out by a volume, and many of the others are.
TEST(balls_reach_what_they_touch) {
    static Robot robots[ROBOTS + 1];
    static Found found;
    uint32_t reached[BOUNDS] = {0}, touched = 0;
    mf_CollisionsStatistics sum = {0};
    Robot *const ball = &robots[ROBOTS];
    for (uint32_t r = 0; r < ROBOTS; r++)
        make_robot(*state, r, &robots[r]);
    ball->model = load_text(*state, "<mujoco model='ball'><worldbody><body><freejoint/><geom "
                                    "size='0.05' contype='3' conaffinity='3'/></body></worldbody>"
                                    "</mujoco>");
    MUST(mf_compound_create(*state, ball->model, true, &ball->compound, &error));
    FOR_EACH_ISA (isa) {
        const int row = mf_kernel_row(isa);
        for (uint32_t bounds = 0; bounds < BOUNDS; bounds++) {
            set_bounds(robots, bounds, row);
            ball->compound->bounds = bounds;
            pose(ball, 0, row);
            for (uint32_t i = 0; i < 100 * ROBOTS; i++) {
                const Robot *robot = &robots[i % ROBOTS];
                const mf_CompoundSide side = {robot->compound, robot->parts[1], i % MF_BLOCK};
                mf_CompoundPair pair = {.sides = {side, {ball->compound, ball->parts[1], 0}}};
                uint64_t tests = 0;
                for (uint32_t c = 0; c < 3; c++)
                    pair.direction[c] = signed_unit(600 + c, i);
                look(&pair, row, 1, 0.0, &found, &sum);
                const bool near = withins[row][1](&side, pair.direction, 0.05, &tests);
                assert_true(near || found.count == 0);
                assert_true((tests == 0) == (bounds == MF_BOUNDS_NONE));
                reached[bounds] += near;
                touched += found.count > 0;
            }
        }
    }
    assert_true(touched > 1000);
    for (uint32_t bounds = 0; bounds < MF_BOUNDS_NONE; bounds++)
        assert_true(2 * reached[bounds] < reached[MF_BOUNDS_NONE]);
    for (uint32_t r = 0; r < ROBOTS + 1; r++)
        drop(&robots[r]);
}
