// Block L D L^T: what it solves, how many blocks it has, and matrices that are not quite positive.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dynamics/block_ldl.h"

enum { ROWS = MF_BLOCK_ROWS, MOST = 40 };

static double unit(uint32_t number) {
    uint32_t word[4];
    mf_random(5, number, 1, 0, word);
    return 2.0 * mf_random_unit_double(word[0], word[1]) - 1.0;
}

// A random matrix with these blocks, diagonally dominant, in both forms.
static void fill(mf_BlockLdl *ldl, const mf_BlockPair *pairs, uint32_t count, double *dense) {
    const uint32_t size = ldl->node_count * ROWS;
    memset(dense, 0, sizeof *dense * size * size);
    mf_block_ldl_clear(ldl);
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t a = pairs[p].first, b = pairs[p].second;
        double *block = ldl->below + (size_t)mf_block_ldl_find(ldl, a, b) * MF_BLOCK_VALUES;
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < ROWS; j++) {
                const double value = unit(1000 * p + ROWS * i + j);
                block[ROWS * i + j] = value;
                dense[(b * ROWS + i) * size + a * ROWS + j] = value;
                dense[(a * ROWS + j) * size + b * ROWS + i] = value;
            }
    }
    for (uint32_t n = 0; n < ldl->node_count; n++)
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t j = 0; j < ROWS; j++) {
                const double value = i == j ? 100.0 : 0.5 * unit(77 + i + j);
                ldl->diagonal[(size_t)n * MF_BLOCK_VALUES + ROWS * i + j] = value;
                dense[(n * ROWS + i) * size + n * ROWS + j] = value;
            }
}

static void check(uint32_t nodes, const mf_BlockPair *pairs, uint32_t count, uint32_t blocks) {
    mf_Context *context;
    mf_Error error = {0};
    mf_BlockLdl ldl;
    assert_int_equal(mf_context_create(NULL, &context, &error), MF_OK);
    assert_int_equal(mf_block_ldl_create(context, nodes, pairs, count, &ldl, &error), MF_OK);
    assert_int_equal(ldl.starts[nodes], blocks);
    const uint32_t size = nodes * ROWS;
    double *dense = malloc(sizeof *dense * size * size), x[MOST * ROWS], right[MOST * ROWS];
    fill(&ldl, pairs, count, dense);
    for (uint32_t i = 0; i < size; i++)
        x[i] = right[i] = unit(9000 + i);
    mf_block_ldl_factor(&ldl, 1e-6);
    mf_block_ldl_solve(&ldl, x);
    for (uint32_t i = 0; i < size; i++) {
        double sum = 0.0;
        for (uint32_t j = 0; j < size; j++)
            sum += dense[i * size + j] * x[j];
        assert_true(fabs(sum - right[i]) < 1e-13);
    }
    free(dense);
    mf_block_ldl_destroy(context, &ldl);
    assert_int_equal(mf_context_live_bytes(context), 0);
    mf_context_destroy(context);
}

static void chains_and_trees_have_no_further_blocks(void **state) {
    (void)state;
    mf_BlockPair pairs[MOST] = {{0, 0}};
    check(1, pairs, 0, 0);
    for (uint32_t i = 0; i + 1 < MOST; i++)
        pairs[i] = (mf_BlockPair){i, i + 1};
    check(MOST, pairs, MOST - 1, MOST - 1);
    for (uint32_t i = 0; i + 1 < MOST; i++) // a binary tree, leaves first
        pairs[i] = (mf_BlockPair){i, MOST - 1 - (MOST - 2 - i) / 2};
    check(MOST, pairs, MOST - 1, MOST - 1);
}

// A ring has one block more for each node that stands between the ends of the chain; all to all
// has all.
static void loops_have_few(void **state) {
    (void)state;
    mf_BlockPair pairs[MOST * MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < MOST; i++)
        pairs[count++] = (mf_BlockPair){i, i + 1};
    pairs[count++] = (mf_BlockPair){0, MOST - 1};
    check(MOST, pairs, count, 2 * MOST - 3);
    count = 0;
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t j = i + 1; j < 8; j++)
            pairs[count++] = (mf_BlockPair){i, j};
    check(8, pairs, count, 28);
}

// Where a pivot is not positive the solution stays of the size of the diagonal's.
static void what_is_not_positive_stays_small(void **state) {
    (void)state;
    mf_Context *context;
    mf_Error error = {0};
    mf_BlockLdl ldl;
    double x[ROWS] = {1, -1, 0, 0, 0, 0};
    assert_int_equal(mf_context_create(NULL, &context, &error), MF_OK);
    assert_int_equal(mf_block_ldl_create(context, 1, NULL, 0, &ldl, &error), MF_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        ldl.diagonal[i * (uint32_t)(ROWS + 1)] = 1.0;
    ldl.diagonal[1] = ldl.diagonal[ROWS] = 1.0 + 1e-9; // indefinite
    mf_block_ldl_factor(&ldl, 1e-5);
    mf_block_ldl_solve(&ldl, x);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_true(fabs(x[i]) < 4.0);
    mf_block_ldl_destroy(context, &ldl);
    mf_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_and_trees_have_no_further_blocks),
        cmocka_unit_test(loops_have_few),
        cmocka_unit_test(what_is_not_positive_stays_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
