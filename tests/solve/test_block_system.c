// Block systems: exact solution of trees, iterative solution of loops, and nearly singular
// matrices.
#include "rig/rig.h"
#include "solve/block_system.h"

typedef struct Pair {
    uint32_t first, second; // first < second
} Pair;

enum { ROWS = MF_BLOCK_ROWS, MOST = 40 };

static double unit(uint32_t number) {
    uint32_t word[4];
    mf_random(5, number, 1, 0, word);
    return 2.0 * mf_random_unit_double(word[0], word[1]) - 1.0;
}

// Sets the blocks, which are sorted by their column.
static void connect(mf_BlockSystem *system, uint32_t nodes, const Pair *pairs, uint32_t count) {
    uint32_t next = 0;
    system->node_count = nodes;
    for (uint32_t n = 0; n <= nodes; n++) {
        while (next < count && pairs[next].first < n)
            next++;
        system->starts[n] = next;
    }
    for (uint32_t p = 0; p < count; p++)
        system->rows[p] = pairs[p].second;
}

// A random matrix with these blocks, diagonally dominant, in both forms.
static void fill(mf_BlockSystem *system, const Pair *pairs, uint32_t count, double *dense) {
    const uint32_t size = system->node_count * ROWS;
    memset(dense, 0, sizeof *dense * size * size);
    mf_block_system_clear(system, 0, system->node_count);
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t a = pairs[p].first, b = pairs[p].second;
        double *block =
            system->below + (size_t)mf_block_system_find(system, a, b) * MF_BLOCK_VALUES;
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < ROWS; j++) {
                const double value = unit(1000 * p + ROWS * i + j);
                block[ROWS * i + j] = value;
                dense[(b * ROWS + i) * size + a * ROWS + j] = value;
                dense[(a * ROWS + j) * size + b * ROWS + i] = value;
            }
    }
    for (uint32_t n = 0; n < system->node_count; n++)
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < ROWS; j++) {
                const double value = i == j ? 100.0 : 0.5 * unit(77 + i + j);
                system->diagonal[(size_t)n * MF_BLOCK_VALUES + ROWS * i + j] = value;
                dense[(n * ROWS + i) * size + n * ROWS + j] = value;
            }
}

static void open_system(mf_Context **context, uint32_t nodes, const Pair *pairs, uint32_t count,
                        mf_BlockSystem *out) {
    MUST(mf_context_create(NULL, context, &error));
    MUST(mf_block_system_create(*context, nodes, count, out, &error));
    connect(out, nodes, pairs, count);
}

static void close_system(mf_Context *context, mf_BlockSystem *system) {
    mf_block_system_destroy(context, system);
    close_context(context);
}

// Returns the iterations.
static uint32_t check(uint32_t nodes, const Pair *pairs, uint32_t count, double tolerance) {
    mf_Context *context;
    mf_BlockSystem system;
    open_system(&context, nodes, pairs, count, &system);
    const uint32_t size = nodes * ROWS;
    double *dense = malloc(sizeof *dense * size * size), x[MOST * ROWS], right[MOST * ROWS];
    fill(&system, pairs, count, dense);
    for (uint32_t i = 0; i < size; i++)
        right[i] = unit(9000 + i);
    const uint32_t iterations = mf_block_system_solve(&system, 0, nodes, 1e-6, right, x);
    for (uint32_t i = 0; i < size; i++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < size; j++)
            sum += dense[i * size + j] * x[j];
        assert_near(sum, right[i], tolerance);
    }
    free(dense);
    close_system(context, &system);
    return iterations;
}

TEST(trees_are_solved_at_once) {
    Pair pairs[MOST] = {{0, 0}};
    assert_int_equal(check(1, pairs, 0, 1e-13), 0);
    for (uint32_t i = 0; i + 1 < MOST; i++)
        pairs[i] = (Pair){i, i + 1};
    assert_int_equal(check(MOST, pairs, MOST - 1, 1e-13), 0);
    for (uint32_t i = 0; i + 1 < MOST; i++) // a binary tree, leaves first
        pairs[i] = (Pair){i, MOST - 1 - (MOST - 2 - i) / 2};
    assert_int_equal(check(MOST, pairs, MOST - 1, 1e-13), 0);
}

TEST(loops_are_iterated) {
    Pair pairs[MOST * MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < MOST; i++) {
        pairs[count++] = (Pair){i, i + 1};
        if (i == 0)
            pairs[count++] = (Pair){0, MOST - 1};
    }
    const uint32_t iterations = check(MOST, pairs, count, 1e-8);
    assert_true(iterations > 0 && iterations < 20);
    count = 0;
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = i + 1; j < 8; j++)
            pairs[count++] = (Pair){i, j};
    assert_int_equal(check(8, pairs, count, 1e-13), 0);
}

// Parts that share no block are solved by themselves, to the bit.
TEST(parts_know_nothing_of_each_other) {
    const Pair pairs[] = {{0, 1}, {1, 2}, {3, 4}};
    mf_Context *context;
    mf_BlockSystem system;
    double dense[30 * 30], right[30], both[30], one[30];
    open_system(&context, 5, pairs, 3, &system);
    fill(&system, pairs, 3, dense);
    for (uint32_t i = 0; i < 30; i++)
        right[i] = unit(i);
    mf_block_system_solve(&system, 0, 5, 1e-6, right, both);
    mf_block_system_solve(&system, 3, 5, 1e-6, right, one);
    assert_memory_equal(both + 18, one + 18, 12 * sizeof *one);
    close_system(context, &system);
}

// Where a pivot is not positive the solution stays of the size of the diagonal's.
TEST(what_is_not_positive_stays_small) {
    mf_Context *context;
    mf_BlockSystem system;
    double x[ROWS], right[ROWS] = {1, -1, 0, 0, 0, 0};
    open_system(&context, 1, NULL, 0, &system);
    mf_block_system_clear(&system, 0, 1);
    for (uint32_t i = 0; i < ROWS; i++)
        system.diagonal[i * (uint32_t)(ROWS + 1)] = 1.0;
    system.diagonal[1] = system.diagonal[ROWS] = 1.0 + 1e-9; // indefinite
    mf_block_system_solve(&system, 0, 1, 1e-5, right, x);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_true(fabs(x[i]) < 4.0);
    close_system(context, &system);
}
