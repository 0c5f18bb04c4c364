// Compounds: shape of the trees, kinematics against mf_model_pose and finite differences;
// descending two trees finds the same contacts as testing all pairs of solids, to the bit, in every
// copy.
#include "contact/compounds.h"
#include "model/points.h"
#include "math/kernel_table.h"

#include "rig/rig.h"

GROUP_FIXTURE(setup_context, teardown_context);

static const mf_CompoundRefitFn refits[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_refit);
static const mf_CompoundDriftFn drifts[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_drift);
static const mf_CompoundSearchFn searches[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_compound_search);
static _Alignas(64) char scratch[1 << 16]; // mf_compound_search_scratch_size(MF_COMPOUND_SHAPES)

static double unit(uint32_t stream, uint32_t number) {
    uint32_t word[4];
    mf_random(3, number, stream, 0, word);
    return mf_random_unit_double(word[0], word[1]);
}

typedef struct Robot {
    mf_Model *model;
    mf_Compound *compound;
} Robot;

static Robot load(mf_Context *context, const char *name) {
    Robot robot;
    MUST(mf_model_load(context, formatted("%s/models/%s", MAYFLY_SOURCE_DIR, name), NULL,
                       &robot.model, &error));
    MUST(mf_compound_create(context, robot.model, false, &robot.compound, &error));
    return robot;
}

static Robot load_robot(mf_Context *context, const char *text) {
    Robot robot = {.model = load_text(context, text)};
    MUST(mf_compound_create(context, robot.model, false, &robot.compound, &error));
    return robot;
}

static void unload(Robot *robot) {
    mf_compound_destroy(robot->compound);
    mf_model_destroy(robot->model);
}
#define AUTO_ROBOT AUTO(unload) Robot

// ---- trees --------------------------------------------------------------------------------------

static uint32_t count_under(const mf_Compound *compound, uint32_t node, uint32_t *seen) {
    seen[node]++;
    if (node < compound->solid_count)
        return 1;
    const uint32_t *children = compound->nodes[node - compound->solid_count].children;
    assert_true(children[0] < node && children[1] < node);
    return count_under(compound, children[0], seen) + count_under(compound, children[1], seen);
}

TEST(trees_are_binary_with_solids_in_their_leaves) {
    static const char *const names[] = {"humanoid.urdf",    "car.urdf", "hexapod.urdf", "ball.xml",
                                        "soccer_field.xml", "ant.xml",  "figure.xml"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        AUTO_ROBOT robot = load(*state, names[i]);
        const mf_Compound *compound = robot.compound;
        uint32_t seen[2 * MF_COMPOUND_SHAPES] = {0};
        assert_true(compound->solid_count > 0);
        assert_int_equal(compound->node_count, 2 * compound->solid_count - 1);
        assert_int_equal(count_under(compound, compound->root, seen), compound->solid_count);
        for (uint32_t n = 0; n < compound->node_count; n++)
            assert_int_equal(seen[n], 1);
        // A tree that halves has the depth of the logarithm; limbs may add a few.
        assert_true(compound->depth <= 6 + ceil(log2(compound->solid_count)));
        assert_true(compound->still == (i == 4));
    }
}

// ---- kinematics ---------------------------------------------------------------------------------

enum { JOINTS = 32 };

typedef struct State { // of a block, in double
    _Alignas(64) double orientation[4][MF_BLOCK];
    double linear[3][MF_BLOCK], angular[3][MF_BLOCK];
    double angle[JOINTS][MF_BLOCK], rate[JOINTS][MF_BLOCK];
} State;

// Makes the orientation of a lane a unit quaternion.
static void normalize(State *state, uint32_t lane) {
    double size = 0.0;
    for (uint32_t c = 0; c < 4; c++)
        size += state->orientation[c][lane] * state->orientation[c][lane];
    for (uint32_t c = 0; c < 4; c++)
        state->orientation[c][lane] /= sqrt(size);
}

static void fill_state(State *state, const mf_Model *model, uint32_t seed) {
    memset(state, 0, sizeof *state);
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        for (uint32_t c = 0; c < 4; c++)
            state->orientation[c][lane] = unit(seed + c, lane) - 0.5;
        normalize(state, lane);
        for (uint32_t c = 0; c < 3; c++) {
            state->linear[c][lane] = unit(seed + 4 + c, lane) - 0.5;
            state->angular[c][lane] = 4 * unit(seed + 7 + c, lane) - 2;
        }
        for (uint32_t j = 0; j < model->joint_count; j++) {
            state->angle[j][lane] = 2 * unit(seed + 10 + j, lane) - 1;
            state->rate[j][lane] = 6 * unit(seed + 50 + j, lane) - 3;
        }
    }
}

static mf_TreeState view(const State *state) {
    return (mf_TreeState){.orientation = state->orientation,
                          .linear = state->linear,
                          .angular = state->angular,
                          .angle = state->angle,
                          .rate = state->rate,
                          .wide = true};
}

static void *make_parts(const mf_Compound *compound, bool wide) {
    size_t bytes = mf_compound_rows(compound) * MF_BLOCK * (wide ? 8 : 4);
    void *parts = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(parts);
    return parts;
}

static void refit(const mf_Compound *compound, const State *state, int row, int precision,
                  void *parts) {
    mf_TreeState from = view(state);
    refits[row][precision](compound, &from, MF_ALL_ROBOTS, parts);
}

static double at(const void *parts, size_t row, uint32_t lane) {
    return ((const double *)parts)[row * MF_BLOCK + lane];
}

// Moves a state on by a short time, by its own velocities.
static void advance(State *state, const mf_Model *model, double time) {
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        double q[4], w[3], rotated[4];
        for (int c = 0; c < 4; c++)
            q[c] = state->orientation[c][lane];
        for (int c = 0; c < 3; c++)
            w[c] = state->angular[c][lane] * time * 0.5;
        rotated[0] = q[0] - q[1] * w[0] - q[2] * w[1] - q[3] * w[2];
        rotated[1] = q[1] + q[0] * w[0] + q[2] * w[2] - q[3] * w[1];
        rotated[2] = q[2] + q[0] * w[1] + q[3] * w[0] - q[1] * w[2];
        rotated[3] = q[3] + q[0] * w[2] + q[1] * w[1] - q[2] * w[0];
        for (int c = 0; c < 4; c++)
            state->orientation[c][lane] = rotated[c];
        for (uint32_t j = 0; j < model->joint_count; j++)
            state->angle[j][lane] += time * state->rate[j][lane];
    }
}

TEST(positions_and_velocities_are_those_of_the_model) {
    static const char *const slider =
        "<mujoco model='slider'><worldbody><body><freejoint/><geom type='sphere' size='0.1'/>"
        "<body pos='0.2 0.1 0' euler='30 0 20'><joint type='slide' axis='0 0.6 0.8' ref='0.1'/>"
        "<geom type='box' size='0.1 0.2 0.05' euler='10 20 30'/><body pos='0 0 0.3'>"
        "<joint type='hinge' axis='1 0 0'/><geom type='capsule' size='0.05 0.1'/></body></body>"
        "</body></worldbody></mujoco>";
    for (int which = 0; which < 3; which++) {
        AUTO_ROBOT robot = which == 2 ? load_robot(*state, slider)
                                      : load(*state, which == 0 ? "humanoid.urdf" : "car.urdf");
        const mf_Model *model = robot.model;
        const double time = 1e-6;
        State now, then;
        fill_state(&now, model, 100);
        then = now;
        advance(&then, model, time);
        AUTO(end_memory)
        void *parts = make_parts(robot.compound, true), *later = make_parts(robot.compound, true);
        refit(robot.compound, &now, mf_kernel_row(MF_ISA_SCALAR), 1, parts);
        refit(robot.compound, &then, mf_kernel_row(MF_ISA_SCALAR), 1, later);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
            double angle[JOINTS], position[JOINTS][3], rotation[JOINTS][4];
            for (uint32_t j = 0; j < model->joint_count; j++)
                angle[j] = now.angle[j][lane];
            mf_model_pose(model, angle, position, rotation);
            for (uint32_t l = 0; l < model->link_count; l++) {
                if (!robot.compound->links[l].needed)
                    continue;
                const size_t row = mf_compound_link_row(l);
                double own[3] = {0, 0, 0};
                for (size_t r = 0; r < 3; r++)
                    for (size_t c = 0; c < 3; c++)
                        own[r] += at(parts, MF_PART_MATRIX + 3 * r + c, lane) * position[l][c];
                for (size_t c = 0; c < 3; c++) {
                    double here = at(parts, row + MF_PART_POSITION + c, lane);
                    double speed = (at(later, row + MF_PART_POSITION + c, lane) - here) / time;
                    assert_near(here, own[c], 1e-12);
                    speed += now.linear[c][lane]; // places are relative to the base
                    assert_near(at(parts, row + MF_PART_VELOCITY + c, lane), speed, 1e-4);
                    // d/dt of the axes is the rate times them: row r of R' = rate x column.
                    const size_t d = (c + 1) % 3, e = (c + 2) % 3;
                    double change =
                        (at(later, row + 3 * c, lane) - at(parts, row + 3 * c, lane)) / time;
                    double turning =
                        at(parts, row + MF_PART_RATE + d, lane) * at(parts, row + 3 * e, lane) -
                        at(parts, row + MF_PART_RATE + e, lane) * at(parts, row + 3 * d, lane);
                    assert_near(change, turning, 1e-4);
                }
            }
        }
    }
}

// ---- touches ------------------------------------------------------------------------------------

enum { ROOM = 4096 };

static int by_solids(const void *x, const void *y) {
    const mf_CompoundTouch *a = x, *b = y;
    if (a->solids[0] != b->solids[0])
        return a->solids[0] < b->solids[0] ? -1 : 1;
    if (a->solids[1] != b->solids[1])
        return a->solids[1] < b->solids[1] ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void same_touches(const mf_CompoundTouch *a, const mf_CompoundTouch *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(a[i].solids[0], b[i].solids[0]);
        assert_int_equal(a[i].solids[1], b[i].solids[1]);
        assert_memory_equal(a[i].point, b[i].point, sizeof a[i].point);
        assert_memory_equal(a[i].normal, b[i].normal, sizeof a[i].normal);
        assert_true(a[i].depth == b[i].depth && a[i].depth > 0.0);
    }
}

static mf_CompoundSearch search_of(const mf_CompoundPair *pairs, uint32_t count,
                                   mf_CompoundTouch touches[ROOM]) {
    return (mf_CompoundSearch){.pairs = pairs,
                               .pair_count = count,
                               .touches = touches,
                               .capacity = ROOM,
                               .scratch = scratch};
}

typedef struct Count {
    uint64_t touches, spheres, solids, every;
} Count;

static void set_bounds(const mf_CompoundPair *pair, mf_CollisionBounds bounds) {
    for (uint32_t k = 0; k < 2; k++)
        ((mf_Compound *)(uintptr_t)pair->sides[k].compound)->bounds = bounds;
}

// One pair in every copy of the kernel that this machine has, with trees and without.
static void compare(const mf_CompoundPair *pair, int precision, const int *rows, int row_count,
                    Count *count) {
    static mf_CompoundTouch first[ROOM], touches[ROOM];
    uint32_t found = 0;
    for (int r = 0; r < row_count; r++) {
        for (int trees = 1; trees >= 0; trees--) {
            mf_CompoundSearch search = search_of(pair, 1, touches);
            set_bounds(pair, trees ? MF_BOUNDS_SPHERE : MF_BOUNDS_NONE);
            searches[rows[r]][precision](&search);
            assert_int_equal(search.lost, 0);
            for (uint32_t i = 1; i < search.touch_count; i++)
                assert_true(touches[i].order > touches[i - 1].order);
            qsort(touches, search.touch_count, sizeof *touches, by_solids);
            if (r == 0 && trees) {
                memcpy(first, touches, search.touch_count * sizeof *touches);
                found = search.touch_count;
                count->touches += found;
                count->spheres += search.bound_tests;
                count->solids += search.solid_tests;
            } else if (r == 0) {
                count->every += search.solid_tests;
            }
            assert_int_equal(search.touch_count, found);
            same_touches(first, touches, found);
        }
    }
}

static int kernel_rows(int *rows) {
    int count = 0;
    FOR_EACH_ISA (isa)
        rows[count++] = mf_kernel_row(isa);
    return count;
}

static const char *const zoo =
    "<mujoco model='zoo'><worldbody><body><freejoint/><geom type='sphere' size='0.1'/>"
    "<body pos='0.2 0 0'><joint type='hinge' axis='0 1 0'/><geom type='box' size='0.1 0.05 0.05'/>"
    "<body pos='0.2 0 0'><joint type='hinge' axis='0 1 0'/>"
    "<geom type='cylinder' size='0.05 0.08' euler='0 90 0'/><body pos='0.2 0 0'>"
    "<joint type='hinge' axis='0 0 1'/><geom type='ellipsoid' size='0.1 0.05 0.04'/>"
    "<body pos='0.2 0 0'><joint type='hinge' axis='0 1 0'/><geom type='capsule' size='0.04 0.1'/>"
    "<geom type='box' size='0.02 0.2 0.02' contype='2' conaffinity='2'/></body></body></body>"
    "</body></body></worldbody></mujoco>";

// Random states of robots at distances from inside each other to far apart, and the hostile cases:
// one robot in the very place of another, apart by a hair, and in axes of each other.
TEST(trees_find_what_every_two_find) {
    int rows[MF_KERNEL_ROWS], row_count = kernel_rows(rows);
    Robot robots[4] = {load(*state, "humanoid.urdf"), load(*state, "soccer_field.xml"),
                       load_robot(*state, zoo), load(*state, "ball.xml")};
    for (int precision = 0; precision < 2; precision++) {
        Count count = {0};
        void *parts[4];
        State states[4];
        for (uint32_t r = 0; r < 4; r++) {
            parts[r] = make_parts(robots[r].compound, precision);
            fill_state(&states[r], robots[r].model, 1000 * r);
            for (uint32_t lane = 0; lane < MF_BLOCK && (r == 1 || r == 0); lane++)
                for (uint32_t c = 0; c < 4 && (r == 1 || lane % 3 == 0); c++)
                    states[r].orientation[c][lane] = c == 0; // upright
            refit(robots[r].compound, &states[r], rows[0], precision, parts[r]);
        }
        for (uint32_t i = 0; i < 240; i++) {
            const uint32_t a = i % 4, b = i / 4 % 4, lane = i % MF_BLOCK, other = i * 7 % MF_BLOCK;
            mf_CompoundPair pair = {.sides = {{robots[a].compound, parts[a], lane},
                                              {robots[b].compound, parts[b], other}}};
            if (a == 1 && b == 1)
                continue;
            const double far = i < 64 ? 0.0 : i < 80 ? 1e-7 : 0.7;
            for (uint32_t c = 0; c < 3; c++)
                pair.direction[c] = far * (2 * unit(500 + c, i) - 1);
            if (a == 1)
                pair.direction[0] += 4.5;
            if (b == 1)
                pair.direction[0] -= 4.5;
            compare(&pair, precision, rows, row_count, &count);
        }
        assert_true(count.touches > 500);
        assert_true(count.solids * 3 < count.every);
        for (uint32_t r = 0; r < 4; r++)
            free(parts[r]);
    }
    for (uint32_t r = 0; r < 4; r++)
        unload(&robots[r]);
}

// Rows of requested robots, for each robot alone and for some together; the others' memory is zero.
TEST(robots_that_are_requested_have_the_bits_of_all) {
    int rows[MF_KERNEL_ROWS], row_count = kernel_rows(rows);
    AUTO_ROBOT robot = load(*state, "humanoid.urdf");
    State states;
    fill_state(&states, robot.model, 78);
    const mf_TreeState from = view(&states);
    const size_t count = mf_compound_rows(robot.compound);
    for (int precision = 0; precision < 2; precision++) {
        AUTO(end_memory) void *all = make_parts(robot.compound, precision);
        AUTO(end_memory) void *some = make_parts(robot.compound, precision);
        const size_t size = precision ? 8 : 4;
        for (int r = 0; r < row_count; r++) {
            memset(all, 0, count * MF_BLOCK * size); // some rows are of none
            refit(robot.compound, &states, rows[r], precision, all);
            for (uint32_t i = 0; i < MF_BLOCK + 4; i++) {
                const uint32_t robots = i < MF_BLOCK ? 1u << i : 0x8421u * (i - MF_BLOCK) & 0xffffu;
                memset(some, 0, count * MF_BLOCK * size);
                refits[rows[r]][precision](robot.compound, &from, robots, some);
                for (size_t at = 0; at < count * MF_BLOCK; at++)
                    if (robots >> at % MF_BLOCK & 1)
                        assert_memory_equal((char *)some + at * size, (char *)all + at * size,
                                            size);
            }
        }
    }
}

// Many pairs in one call: each as if it were alone, also when the leaves do not fit at a time, and
// a robot with a joint that is not a number touches nothing.
TEST(bits_do_not_depend_on_other_agents) {
    enum { PAIRS = 120 };
    static mf_CompoundTouch together[ROOM], alone[ROOM];
    int rows[MF_KERNEL_ROWS], row_count = kernel_rows(rows);
    AUTO_ROBOT robot = load(*state, "humanoid.urdf");
    State states;
    fill_state(&states, robot.model, 77);
    states.angle[3][5] = (double)NAN;
    states.linear[1][6] = (double)INFINITY;
    for (int precision = 0; precision < 2; precision++) {
        AUTO(end_memory) void *parts = make_parts(robot.compound, precision);
        refit(robot.compound, &states, rows[row_count - 1], precision, parts);
        mf_CompoundPair pairs[PAIRS];
        for (uint32_t i = 0; i < PAIRS; i++) {
            pairs[i] = (mf_CompoundPair){.sides = {{robot.compound, parts, i % MF_BLOCK},
                                                   {robot.compound, parts, i * 5 % MF_BLOCK}},
                                         .direction = {0.02 * unit(1, i), 0.02, 0.1 * unit(2, i)}};
        }
        mf_CompoundSearch all = search_of(pairs, PAIRS, together);
        searches[rows[row_count - 1]][precision](&all);
        assert_true(all.solid_tests > 600 && all.touch_count > 300);
        uint32_t first = 0;
        for (uint32_t i = 0; i < PAIRS; i++) {
            mf_CompoundSearch one = search_of(pairs + i, 1, alone);
            searches[rows[0]][precision](&one);
            bool sick = i % MF_BLOCK == 5 || i % MF_BLOCK == 6 || i * 5 % MF_BLOCK == 5 ||
                        i * 5 % MF_BLOCK == 6;
            assert_true(!sick || one.touch_count == 0);
            for (uint32_t k = 0; k < one.touch_count; k++)
                assert_int_equal(together[first + k].pair, i);
            same_touches(alone, together + first, one.touch_count);
            first += one.touch_count;
        }
        assert_int_equal(first, all.touch_count);
        // Without room the first ones are told, and the others counted.
        all.capacity = 100;
        searches[rows[row_count - 1]][precision](&all);
        assert_int_equal(all.touch_count, 100);
        assert_int_equal(all.lost, first - 100);
    }
}

// ---- gaps and ways ------------------------------------------------------------------------------

static const mf_CompoundTouch *count_touches(const mf_CompoundPair *pair, bool trees,
                                             double expected, int row, int precision,
                                             uint32_t *count, double *gap) {
    static mf_CompoundTouch touches[ROOM];
    mf_CompoundSearch search = search_of(pair, 1, touches);
    set_bounds(pair, trees ? MF_BOUNDS_SPHERE : MF_BOUNDS_NONE);
    search.gaps = gap;
    search.target_gap = expected;
    searches[row][precision](&search);
    *count = search.touch_count;
    return touches;
}

// Robots that are a gap apart do not touch when one moves by less, whatever its way; asking for
// gaps changes no touch; all copies tell the same gap.
TEST(gaps_hold) {
    enum { PAIRS = 300, DIRECTIONS = 30 };
    int rows[MF_KERNEL_ROWS], row_count = kernel_rows(rows);
    uint32_t apart = 0, wide = 0;
    AUTO_ROBOT robot = load(*state, "humanoid.urdf");
    State states;
    fill_state(&states, robot.model, 31);
    for (int precision = 0; precision < 2; precision++) {
        AUTO(end_memory) void *parts = make_parts(robot.compound, precision);
        refit(robot.compound, &states, rows[0], precision, parts);
        for (uint32_t i = 0; i < PAIRS; i++) {
            mf_CompoundPair pair = {.sides = {{robot.compound, parts, i % MF_BLOCK},
                                              {robot.compound, parts, i * 7 % MF_BLOCK}},
                                    .direction = {1.2 * unit(1, i) - 0.6, 1.2 * unit(2, i) - 0.6,
                                                  0.4 * unit(3, i) - 0.2}};
            const double expected = i % 3 == 0 ? 0.0 : 0.1 * unit(4, i);
            double gap = -1.0, least;
            uint32_t count, plain;
            count_touches(&pair, true, expected, rows[0], precision, &count, &gap);
            count_touches(&pair, true, expected, rows[0], precision, &plain, NULL);
            assert_int_equal(count, plain);
            assert_true(gap >= 0.0 && (count == 0 || gap == 0.0));
            for (int r = 1; r < row_count; r++) {
                count_touches(&pair, true, expected, rows[r], precision, &count, &least);
                assert_true(least == gap);
            }
            apart += gap > 0.0;
            wide += gap > 0.04;
            for (uint32_t k = 0; gap > 1e-4 && k < DIRECTIONS; k++) {
                mf_CompoundPair moved = pair;
                double direction[3], size = 0.0;
                for (uint32_t c = 0; c < 3; c++) {
                    direction[c] = unit(5 + c, i * DIRECTIONS + k) - 0.5;
                    size += direction[c] * direction[c];
                }
                for (uint32_t c = 0; c < 3; c++)
                    moved.direction[c] += direction[c] * (gap - 1e-4) / sqrt(size);
                count_touches(&moved, false, 0.0, rows[row_count - 1], precision, &count, NULL);
                assert_int_equal(count, 0);
            }
        }
    }
    assert_true(apart > 200 && wide > 60);
}

// Links that are held do not touch, and all others do as before.
TEST(fixed_links_do_not_touch) {
    int rows[MF_KERNEL_ROWS], row_count = kernel_rows(rows);
    uint32_t left_out = 0, kept = 0;
    AUTO_ROBOT robot = load(*state, "humanoid.urdf");
    const mf_CompoundSolid *solids = robot.compound->solids;
    State states;
    fill_state(&states, robot.model, 31);
    AUTO(end_memory) void *parts = make_parts(robot.compound, false);
    refit(robot.compound, &states, rows[0], 0, parts);
    for (uint32_t i = 0; i < 200; i++) {
        mf_CompoundPair pair = {
            .sides = {{robot.compound, parts, i % MF_BLOCK},
                      {robot.compound, parts, i * 7 % MF_BLOCK}},
            .direction = {0.4 * unit(1, i) - 0.2, 0.4 * unit(2, i) - 0.2, 0.4 * unit(3, i) - 0.2}};
        static mf_CompoundTouch before[ROOM];
        uint32_t count, all;
        double gap = -1.0;
        memcpy(before, count_touches(&pair, true, 0.0, rows[0], 0, &all, NULL), sizeof before);
        if (all == 0)
            continue;
        pair.fixed = true;
        for (uint32_t s = 0; s < 2; s++)
            pair.links[s] = solids[before[i % all].solids[s]].link;
        const int row = rows[i % (uint32_t)row_count];
        const mf_CompoundTouch *touch = count_touches(&pair, i % 5 > 0, 0.1, row, 0, &count, &gap);
        assert_true(gap == 0.0);
        uint32_t next = 0;
        for (uint32_t k = 0; k < all; k++) {
            if (solids[before[k].solids[0]].link == pair.links[0] &&
                solids[before[k].solids[1]].link == pair.links[1]) {
                left_out++;
                continue;
            }
            for (uint32_t t = 0; i % 5 > 0 && t < 2; t++)
                assert_int_equal(touch[next].solids[t], before[k].solids[t]);
            assert_true(i % 5 == 0 || touch[next].depth == before[k].depth);
            next++;
            kept++;
        }
        assert_int_equal(next, count);
    }
    assert_true(left_out > 200 && kept > 400);
}

// Of points of the solids against the base: on the way to the corners of their boxes, but within
// their spheres.
static double farthest_move(const mf_Compound *compound, const void *from, const void *to,
                            uint32_t lane) {
    double most = 0.0;
    for (uint32_t s = 0; s < compound->solid_count; s++) {
        const size_t orientation = mf_compound_rotation_row(compound, s);
        const size_t index = mf_compound_solid_row(compound, s) + 9;
        const double radius = at(from, mf_compound_node_row(compound, s) + 3, lane);
        const double *box = compound->solids[s].box;
        const double size = sqrt(box[0] * box[0] + box[1] * box[1] + box[2] * box[2]);
        const double part = size > radius ? radius / size : 1.0;
        for (uint32_t corner = 0; corner < 8; corner++) {
            double square = 0.0;
            for (size_t r = 0; r < 3; r++) {
                double gone = at(to, index + r, lane) - at(from, index + r, lane);
                for (size_t c = 0; c < 3; c++) {
                    const double arm = corner >> c & 1 ? part * box[c] : -part * box[c];
                    const size_t row = orientation + 3 * r + c;
                    gone += arm * (at(to, row, lane) - at(from, row, lane));
                }
                square += gone * gone;
            }
            most = sqrt(square) > most ? sqrt(square) : most;
        }
    }
    return most;
}

// No point of a robot goes farther against its base than it is said to, for small and large turns
// of it and of its joints, wherever the base goes; who does not move has gone no way.
TEST(nothing_goes_farther_than_its_reach) {
    int rows[MF_KERNEL_ROWS], row_count = kernel_rows(rows);
    AUTO_ROBOT robot = load(*state, "humanoid.urdf");
    const mf_Compound *compound = robot.compound;
    assert_true(compound->hinged);
    AUTO(end_memory) void *before = make_parts(compound, true), *after = make_parts(compound, true);
    const size_t bytes = mf_compound_drift_rows(compound) * MF_BLOCK * sizeof(double);
    AUTO(end_memory) void *memory = aligned_alloc(64, bytes);
    assert_non_null(memory);
    memset(memory, 0, bytes);
    for (uint32_t round = 0; round < 40; round++) {
        _Alignas(64) double position[2][3][MF_BLOCK], drift[MF_BLOCK];
        const double part = round % 4 == 0 ? 1e-4 : round % 4 == 1 ? 0.01 : 0.3;
        State now, then, other;
        fill_state(&now, robot.model, 100 * round);
        fill_state(&other, robot.model, 100 * round + 5000);
        then = now;
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
            for (uint32_t c = 0; c < 4; c++) {
                double *q = &then.orientation[c][lane];
                *q += lane % 3 == 0 ? 0.0 : part * (other.orientation[c][lane] - *q);
            }
            normalize(&then, lane);
            for (uint32_t c = 0; c < 3; c++) {
                position[0][c][lane] = 3 * unit(c, lane);
                position[1][c][lane] =
                    position[0][c][lane] + part * (lane % 4 == 0) * unit(c + 3, lane);
            }
            for (uint32_t j = 0; j < robot.model->joint_count; j++)
                if (lane % 5 != 1 && (lane % 5 != 2 || j == (lane + round) % 21))
                    then.angle[j][lane] += part * (other.angle[j][lane] - now.angle[j][lane]);
        }
        mf_TreeState from = view(&now), to = view(&then);
        from.position = position[0];
        to.position = position[1];
        refits[rows[0]][1](compound, &from, MF_ALL_ROBOTS, before);
        refits[rows[0]][1](compound, &to, MF_ALL_ROBOTS, after);
        const int row = rows[round % (uint32_t)row_count];
        drifts[row][1](compound, &from, memory, drift);
        drifts[row][1](compound, &to, memory, drift);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
            const double most = farthest_move(compound, before, after, lane);
            if (!(most <= drift[lane] + 1e-15)) // rounding of the turns here
                fail_msg("round %u, lane %u: %g m, not %g", round, lane, most, drift[lane]);
        }
        drifts[row][1](compound, &to, memory, drift);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
            assert_true(drift[lane] == 0.0);
        then.angle[2][5] = (double)NAN;
        drifts[row][1](compound, &to, memory, drift);
        assert_true(isnan(drift[5]) && drift[6] == 0.0);
        memset(memory, 0, bytes);
    }
}

// ---- masses -------------------------------------------------------------------------------------

// A ball is as heavy as it is along its normals; a thin rod at its end a quarter of it, as a rod
// that is struck there; what is fixed in the world has no mass to move.
TEST(masses_are_those_at_the_worst_position) {
    static const char *const rod =
        "<mujoco model='rod'><worldbody><body><freejoint/><geom type='capsule' size='0.001 0.5'"
        " mass='2'/></body></worldbody></mujoco>";
    AUTO_ROBOT ball = load(*state, "ball.xml"), field = load(*state, "soccer_field.xml"),
               stick = load_robot(*state, rod);
    assert_near(ball.compound->solids[0].pressed, 1 / 0.19, 1e-9);
    assert_near(ball.compound->solids[0].spun, 1 / 6.207e-4, 1e-6);
    assert_near(stick.compound->solids[0].pressed, 4.0 / 2.0, 0.02);
    for (uint32_t s = 0; s < field.compound->solid_count; s++)
        assert_true(field.compound->solids[s].pressed == 0.0);
}

// A mass in one point moves whole wherever it is pushed, and has nothing to turn. Files cannot say
// so: their readers give it the inertia of its shapes.
TEST(a_point_has_its_mass) {
    AUTO_ROBOT ball = load(*state, "ball.xml");
    mf_compound_destroy(ball.compound);
    mf_Link *link = (mf_Link *)(uintptr_t)ball.model->links; // as if built by hand
    memset(link->inertia, 0, sizeof link->inertia);
    MUST(mf_compound_create(*state, ball.model, false, &ball.compound, &error));
    assert_near(ball.compound->solids[0].pressed, 1 / 0.19, 1e-9);
    assert_near(ball.compound->solids[0].spun, 0.0, 0.0);
    for (int i = 0; i < 9; i++)
        assert_near(ball.compound->solids[0].inverse_inertia[i], 0.0, 0.0);
}
