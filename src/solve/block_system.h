// Symmetric positive systems of 6x6 blocks with few blocks, solved by conjugate gradients behind an
// incomplete Cholesky factor without fill (Meijerink, van der Vorst 1977; Saad, Iterative Methods
// for Sparse Linear Systems, 2003, section 10.3).
//
// Nodes are in an order of elimination. For a tree of cliques, leaves first, nothing is left out of
// the factor: it is exact, no iteration is made, and the cost is linear in the number of blocks.
//
// A system holds many parts that share no block; each is a range of nodes and is solved by itself.
#pragma once

#include <mayfly/model.h>

enum { MF_BLOCK_ROWS = 6, MF_BLOCK_VALUES = 36 };

typedef struct mf_BlockSystem {
    uint32_t node_capacity, block_capacity; // [1]
    uint32_t node_count;                    // [1]
    // In one block: [1] node_count + 1: where a node's blocks below the diagonal begin.
    uint32_t *starts;
    uint32_t *rows;                // [1] per such block: its row, rising within a node
    double *diagonal;              // MF_BLOCK_VALUES per node, row after row; all of a block is set
    double *below;                 // MF_BLOCK_VALUES per block
    double *factor, *factor_below; // likewise
    double *work;                  // 4 MF_BLOCK_ROWS per node
} mf_BlockSystem;

// Space for so many nodes and blocks below the diagonal; without any yet. MF_NO_MEMORY leaves *out
// zeroed.
mf_Status mf_block_system_create(mf_Context *context, uint32_t node_capacity,
                                 uint32_t block_capacity, mf_BlockSystem *out, mf_Error *error);
void mf_block_system_destroy(mf_Context *context, mf_BlockSystem *system);

// The block of row `row` in column `column`; MF_NONE: there is none.
uint32_t mf_block_system_find(const mf_BlockSystem *system, uint32_t column, uint32_t row);

// All values of nodes first .. end - 1 to 0.
void mf_block_system_clear(mf_BlockSystem *system, uint32_t first, uint32_t end);

// x = A^-1 b of nodes first .. end - 1, MF_BLOCK_ROWS values per node, in x and b at the position
// of the node. Diagonal elements are positive. `least`: a pivot that is not above `least` times its
// diagonal element is replaced by the element. Returns the iterations made, 0 where the factor is
// exact.
uint32_t mf_block_system_solve(mf_BlockSystem *system, uint32_t first, uint32_t end, double least,
                               const double *b, double *x);
