// Symmetric systems of 6x6 blocks with few blocks: L D L^T in a given order of elimination
// (Davis, Direct Methods for Sparse Linear Systems, 2006, chapter 4; right-looking).
//
// The order decides how many blocks there are. For blocks of the joints of a tree of bodies, leaves
// first, no block is added, and the cost is linear in the number of joints.
#ifndef MF_DYNAMICS_BLOCK_LDL_H
#define MF_DYNAMICS_BLOCK_LDL_H

#include <mayfly/model.h>

enum { MF_BLOCK_ROWS = 6, MF_BLOCK_VALUES = 36 };

typedef struct mf_BlockLdl {
    uint32_t node_count; // [1] in the order of elimination
    uint32_t *starts;    // [1] node_count + 1: where a node's blocks below the diagonal begin
    uint32_t *rows;      // [1] per such block: its row, rising within a node
    double *diagonal;    // MF_BLOCK_VALUES per node, row after row
    double *below;       // MF_BLOCK_VALUES per block
    double *whole;       // MF_BLOCK_ROWS per node: the diagonal before it was factored
} mf_BlockLdl;

// Two nodes that share a block; first < second.
typedef struct mf_BlockPair {
    uint32_t first, second; // [1]
} mf_BlockPair;

// Finds the blocks of the factors, with room for their values. MF_NO_MEMORY leaves *out zeroed.
mf_Status mf_block_ldl_create(mf_Context *context, uint32_t node_count, const mf_BlockPair *pairs,
                              uint32_t pair_count, mf_BlockLdl *out, mf_Error *error);
void mf_block_ldl_destroy(mf_Context *context, mf_BlockLdl *ldl);

// The block of row `second` in column `first`; it exists.
uint32_t mf_block_ldl_find(const mf_BlockLdl *ldl, uint32_t first, uint32_t second);

// All values 0.
void mf_block_ldl_clear(mf_BlockLdl *ldl);
// Replaces the matrix, whose diagonal elements are positive, by its factors. Where a pivot is
// not above `least` times its diagonal element, the matrix is not positive definite or nearly so;
// the diagonal element then stands for it, so that what the factors solve for stays small.
void mf_block_ldl_factor(mf_BlockLdl *ldl, double least);
// x = A^-1 x; MF_BLOCK_ROWS values per node.
void mf_block_ldl_solve(const mf_BlockLdl *ldl, double *x);

#endif
