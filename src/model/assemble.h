// Common code of the two parts of freezing a draft: assemble.c has the tree (links, joints, points,
// shapes, sensors), assemble_dynamics.c the additions of full dynamics.
#pragma once

#include "model/draft.h"

// New indices of draft links and joints, and the new order of links.
typedef struct mf_Order {
    uint32_t *link_at;  // [new] draft link
    uint32_t *new_link; // [draft] new index
    uint32_t *new_joint;
    uint32_t *first_child; // [draft link] draft link or MF_NONE
    uint32_t *next_sibling;
    uint32_t *moved_by;    // [draft link] draft joint or MF_NONE
    uint32_t *point_start; // [new link + 1] index of its first point
} mf_Order;

// A bump allocator over the model's block; with base NULL it only measures.
typedef struct mf_Block {
    char *base;
    size_t used;
} mf_Block;

void *mf_block_take(mf_Block *block, size_t count, size_t size);
const char *mf_block_text(mf_Block *block, const char *text);

static inline uint32_t mf_order_link(const mf_Order *order, uint32_t link) {
    return link == MF_NONE ? MF_NONE : order->new_link[link];
}
static inline uint32_t mf_order_joint(const mf_Order *order, uint32_t joint) {
    return joint == MF_NONE ? MF_NONE : order->new_joint[joint];
}

// Allocates the start position, the root and the keyframes in the block; `model` is NULL while
// measuring. All lists but keyframes must be filled.
void mf_assemble_dynamics(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                          mf_Model *model);

// [1] values of a joint in a position and in a velocity vector.
uint32_t mf_joint_positions(mf_JointType type);
uint32_t mf_joint_velocities(mf_JointType type);

// Length of the draft's position vector.
uint32_t mf_draft_position_count(const mf_Draft *draft);
