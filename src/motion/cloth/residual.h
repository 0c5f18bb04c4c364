// How far a pass is from the stiffness of the cloth: right after its own turn a constraint C and
// its multiplier l meet C + a l = 0, which is what an infinite number of passes would give; those
// that follow in the same pass move it away from there. The rest is a strain or a curvature that no
// force of the cloth corresponds to; here it is squared, over the compliance.
#ifndef MF_MOTION_CLOTH_RESIDUAL_H
#define MF_MOTION_CLOTH_RESIDUAL_H

#include "motion/cloth/solve.h"

static MF_INLINE mf_lane square_over(mf_lane c, mf_lane a) {
    return c * c / a;
}

// `whole` gets the same of the constraint itself, not of what is left over.
static MF_INLINE mf_lane edge_residual(const Batch *b, mf_lane *whole) {
    Vec offset = vec_sub(node_vec(b, 1, MF_CLOTH_X), node_vec(b, 0, MF_CLOTH_X));
    const mf_lane length = mf_sqrt(vec_dot(offset, offset) + mf_set((mf_real)1e-30));
    const mf_lane c = length - value_of(b, 0);
    *whole = square_over(c, value_of(b, 1));
    return square_over(c - mf_load(after_row(b, 0)), value_of(b, 1));
}

static MF_INLINE mf_lane bend_residual(const Batch *b, uint32_t count) {
    Vec c = vec_scale(node_vec(b, 0, MF_CLOTH_X), value_of(b, 0));
    for (uint32_t i = 1; i < count; i++)
        c = vec_fma(node_vec(b, i, MF_CLOTH_X), value_of(b, i), c);
    const mf_lane a = value_of(b, count);
    return square_over(c.x - mf_load(after_row(b, 0)), a) +
           square_over(c.y - mf_load(after_row(b, 1)), a) +
           square_over(c.z - mf_load(after_row(b, 2)), a);
}

static MF_INLINE mf_lane triangle_residual(const Batch *b, mf_lane *whole) {
    Vec from = node_vec(b, 0, MF_CLOTH_X);
    Vec one = vec_sub(node_vec(b, 1, MF_CLOTH_X), from);
    Vec two = vec_sub(node_vec(b, 2, MF_CLOTH_X), from);
    mf_lane sum = mf_zero();
    *whole = mf_zero();
    for (uint32_t k = 0; k < 2; k++) {
        Vec tangent = vec_fma(two, value_of(b, 2 * k + 1), vec_scale(one, value_of(b, 2 * k)));
        const mf_lane length = mf_sqrt(vec_dot(tangent, tangent) + mf_set((mf_real)1e-30));
        const mf_lane c = length - mf_set((mf_real)1);
        *whole = *whole + square_over(c, value_of(b, 4));
        sum = sum + square_over(c - mf_load(after_row(b, k)), value_of(b, 4));
    }
    return sum;
}

// Of stretch and bending; the shear and the twist of cells are not counted.
static MF_INLINE mf_lane residual_of(const Batch *b, mf_lane *whole) {
    *whole = mf_zero();
    switch (b->batch->kind) {
    case MF_CLOTH_EDGE:
        return edge_residual(b, whole);
    case MF_CLOTH_TRIANGLE:
        return triangle_residual(b, whole);
    default:
        return bend_residual(b, mf_cloth_nodes(b->batch->kind));
    }
}

#endif
