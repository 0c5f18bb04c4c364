// Two boxes: the axis of least overlap among the 15 that can separate them (Gottschalk, Lin and
// Manocha, OBBTree, 1996), then the contacts of the two faces along it. The depth of boxes that do
// not touch is minus their distance along that axis, which may be less than their distance.
#ifndef MF_CONTACT_NARROW_BOX_H
#define MF_CONTACT_NARROW_BOX_H

#include "contact/narrow_face.h"

typedef struct Least { // overlap so far, and its direction in the axes of a
    mf_lane overlap;   // [m]
    Vec axis;          // [1] either sign
} Least;

static MF_INLINE void least_take(mf_mask better, mf_lane overlap, Vec axis, Least *least) {
    least->overlap = mf_select(better, overlap, least->overlap);
    least->axis = vec_select(better, axis, least->axis);
}

static MF_INLINE Vec vec_abs(Vec a) {
    return MF_VALUE(Vec, mf_abs(a.x), mf_abs(a.y), mf_abs(a.z));
}

// Axes across an edge of a and an edge of b along the unit vector `edge`, in the axes of a.
static void least_across(Vec edge, const Mat *rotation, Vec position, Vec size_a, Vec size_b,
                         mf_lane slack, Least *least) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    for (int i = 0; i < 3; i++) {
        Vec axis = i == 0   ? MF_VALUE(Vec, zero, -edge.z, edge.y)
                   : i == 1 ? MF_VALUE(Vec, edge.z, zero, -edge.x)
                            : MF_VALUE(Vec, -edge.y, edge.x, zero);
        mf_lane square = vec_dot(axis, axis);
        mf_mask fine = mf_less(mf_set((mf_real)1e-6), square);
        axis = vec_scale(axis, one / mf_sqrt(mf_select(fine, square, one)));
        Vec in_b = mat_apply_transposed(rotation, axis);
        mf_lane overlap = vec_dot(size_a, vec_abs(axis)) + vec_dot(size_b, vec_abs(in_b)) -
                          mf_abs(vec_dot(position, axis));
        least_take(mf_and(fine, mf_less(overlap + slack, least->overlap)), overlap, axis, least);
    }
}

static void box_box(PairTest *test) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Mat rotation = mat_transposed_times(&test->a.rotation, &test->b.rotation);
    const Vec position =
        mat_apply_transposed(&test->a.rotation, vec_sub(test->b.position, test->a.position));
    const Vec size_a = halves(&test->a), size_b = halves(&test->b),
              back = mat_apply_transposed(&rotation, position);
    const Vec x = {rotation.xx, rotation.yx, rotation.zx},
              y = {rotation.xy, rotation.yy, rotation.zy},
              z = {rotation.xz, rotation.yz, rotation.zz};
    // Of equal overlaps the first, so that noise does not choose.
    const mf_lane slack = mf_set(NOISE) * test->scale;
    Least least = {size_a.x + vec_dot(size_b, vec_abs(MF_VALUE(Vec, x.x, y.x, z.x))) -
                       mf_abs(position.x),
                   {one, zero, zero}};
    mf_lane overlap =
        size_a.y + vec_dot(size_b, vec_abs(MF_VALUE(Vec, x.y, y.y, z.y))) - mf_abs(position.y);
    least_take(mf_less(overlap + slack, least.overlap), overlap, MF_VALUE(Vec, zero, one, zero),
               &least);
    overlap =
        size_a.z + vec_dot(size_b, vec_abs(MF_VALUE(Vec, x.z, y.z, z.z))) - mf_abs(position.z);
    least_take(mf_less(overlap + slack, least.overlap), overlap, MF_VALUE(Vec, zero, zero, one),
               &least);
    overlap = size_b.x + vec_dot(size_a, vec_abs(x)) - mf_abs(back.x);
    least_take(mf_less(overlap + slack, least.overlap), overlap, x, &least);
    overlap = size_b.y + vec_dot(size_a, vec_abs(y)) - mf_abs(back.y);
    least_take(mf_less(overlap + slack, least.overlap), overlap, y, &least);
    overlap = size_b.z + vec_dot(size_a, vec_abs(z)) - mf_abs(back.z);
    least_take(mf_less(overlap + slack, least.overlap), overlap, z, &least);
    mf_mask near = mf_and(test->sound, mf_less(test->bound, least.overlap));
    if (!mf_any(near))
        return;
    least_across(x, &rotation, position, size_a, size_b, slack, &least);
    least_across(y, &rotation, position, size_a, size_b, slack, &least);
    least_across(z, &rotation, position, size_a, size_b, slack, &least);
    near = mf_and(near, mf_less(test->bound, least.overlap));
    if (!mf_any(near))
        return;
    mf_mask against = mf_less(vec_dot(least.axis, position), zero);
    Vec normal = vec_select(against, vec_minus(least.axis), least.axis);
    put_faces(test, near, &rotation, position, normal, least.overlap, NULL);
}

#endif
