// The way to find the contacts of a pair, by its kinds.
#pragma once

#include "contact/narrow_convex.h"
#include "contact/narrow_round.h"
#include "contact/narrow_face.h"
#include "contact/narrow_reach.h"

// ---- narrow hull --------------------------------------------------------------------------------

// The corners of a hull that touch a plane (hull.h).

// By rising number of their vertices, so that a face that lies keeps the order of its contacts
// whichever corner is the lowest by rounding.
static inline uint32_t hull_sorted(const mf_HullFace *face, uint32_t lowest, uint32_t out[4]) {
    uint32_t count = 0;
    if (face == NULL) {
        out[count++] = lowest;
        return count;
    }
    for (uint32_t i = 0; i < face->count; i++) {
        uint32_t at = count++;
        for (; at > 0 && out[at - 1] > face->corners[i]; at--)
            out[at] = out[at - 1];
        out[at] = face->corners[i];
    }
    return count;
}

// `up` is the plane's normal in the hull's axes.
static void hull_on_plane(const mf_ConvexHull *hull, mf_mask where, Vec up, HullCorners *out) {
    Rows direction, corner[4];
    MF_ALIGNED(64) mf_real on[MF_LANES];
    MF_ALIGNED(64) mf_real exists[4][MF_LANES];
    rows_put(vec_minus(up), &direction);
    lanes_put(where, on);
    for (int k = 0; k < 4; k++) {
        rows_put(constant_vec(0, 0, 0), &corner[k]);
        mf_store(exists[k], mf_zero());
    }
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        if (!(on[lane] > 0))
            continue;
        const mf_real down[3] = {direction.x[lane], direction.y[lane], direction.z[lane]};
        const HullView view = hull_view(hull, down);
        const uint32_t lowest = mf_hull_numbers(hull)[hull_farthest(&view, down).entry];
        uint32_t sorted[4];
        const uint32_t count = hull_sorted(hull_face(hull, lowest, down), lowest, sorted);
        for (uint32_t k = 0; k < count; k++) {
            rows_set(&corner[k], lane, HULL_VERTICES(hull) + 3 * (size_t)sorted[k]);
            exists[k][lane] = 1;
        }
    }
    for (int k = 0; k < 4; k++) {
        out->at[k] = rows_take(&corner[k]);
        out->exists[k] = mf_less(mf_zero(), mf_load(exists[k]));
    }
}

// ---- narrow plane -------------------------------------------------------------------------------

// A plane (solid below) with all kinds of solids, in closed form. The normal is the plane's.

typedef struct Floor { // the plane in the axes of b
    Vec up;            // [1]
    mf_lane height;    // [m] of the center of b above it
} Floor;

static MF_INLINE mf_lane height_above(const Floor *ground, Vec point) {
    return vec_dot_add(ground->up, point, ground->height);
}

// A point of b [m], in its axes, `radius` above what touches.
static void put_on_plane(PairTest *test, uint32_t i, mf_mask where, const Floor *ground, Vec point,
                         mf_lane radius) {
    mf_lane depth = radius - height_above(ground, point);
    point = vec_fma(ground->up, mf_fma(mf_set((mf_real)0.5), depth, -radius), point);
    put(test, i, where, mat_apply_add(&test->b.rotation, point, test->b.position),
        mat_apply(&test->b.rotation, ground->up), depth);
}

// The lower corners of a box.
static void plane_box(PairTest *test, const Floor *ground) {
    Face face;
    face_of_box(&test->b, vec_minus(ground->up), &face);
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(test, i, mf_mask_all(), ground, face.corner[i], mf_zero());
}

// The lowest vertex of a hull and corners of a face about it (hull.h).
static void plane_hull(PairTest *test, const Floor *ground) {
    HullCorners corners;
    hull_on_plane(test->b.hull, test->sound, ground->up, &corners);
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(test, i, corners.exists[i], ground, corners.at[i], mf_zero());
}

// The lowest points of both rims, and two more a third of a turn away on the lower one.
static void plane_cylinder(PairTest *test, const Floor *ground, Vec down) {
    const mf_lane zero = mf_zero(), radius = half(&test->b, 0), tall = half(&test->b, 1);
    const mf_lane back = mf_set((mf_real)-0.5), wide = mf_set((mf_real)0.86602540378443865);
    mf_lane length;
    Vec out = unit_or(MF_VALUE(Vec, down.x, down.y, zero), constant_vec(1, 0, 0), &length);
    Vec along = {-out.y, out.x, zero}, end = {zero, zero, with_sign(tall, down.z)};
    Vec left = vec_fma(out, back, vec_scale(along, wide));
    Vec right = vec_fma(out, back, vec_scale(along, minus(wide)));
    const Vec points[4] = {vec_fma(out, radius, end), vec_sub(vec_scale(out, radius), end),
                           vec_fma(left, radius, end), vec_fma(right, radius, end)};
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(test, i, mf_mask_all(), ground, points[i], zero);
}

static void plane_any(PairTest *test) {
    const mf_lane zero = mf_zero();
    Vec up = axis_z(&test->a.rotation);
    Floor ground = {mat_apply_transposed(&test->b.rotation, up),
                    vec_dot(up, vec_sub(test->b.position, test->a.position))};
    Vec down = vec_minus(ground.up);
    mf_lane radius = half(&test->b, 0), tall = half(&test->b, 1);
    switch (test->b.kind) {
    default: // smooth: the lowest point of the core
        put_on_plane(test, 0, mf_mask_all(), &ground, core_reach(&test->b, down, mf_mask_all()),
                     core_radius(&test->b));
        return;
    case MF_COLLIDE_CAPSULE: // the lower end first
        tall = with_sign(tall, down.z);
        put_on_plane(test, 0, mf_mask_all(), &ground, MF_VALUE(Vec, zero, zero, tall), radius);
        put_on_plane(test, 1, mf_mask_all(), &ground, MF_VALUE(Vec, zero, zero, -tall), radius);
        return;
    case MF_COLLIDE_CYLINDER:
        plane_cylinder(test, &ground, down);
        return;
    case MF_COLLIDE_BOX:
        plane_box(test, &ground);
        return;
    case MF_COLLIDE_HULL:
        plane_hull(test, &ground);
        return;
    case MF_COLLIDE_PLANE: // never a pair
        return;
    }
}

// ---- narrow box ---------------------------------------------------------------------------------

// Two boxes: the axis of least overlap among the 15 that can separate them (Gottschalk, Lin and
// Manocha, OBBTree, 1996), then the contacts of the two faces along it. The depth of boxes that do
// not touch is minus their distance along that axis, which may be less than their distance.

#define EDGES_ALIKE ((mf_real)0.99) // [1] cosine between an axis of edges and one of a face
#define EDGES_LESS ((mf_real)0.05)  // [1] by how much the overlap must be less there

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
    const Least face = least;
    least_across(x, &rotation, position, size_a, size_b, slack, &least);
    least_across(y, &rotation, position, size_a, size_b, slack, &least);
    least_across(z, &rotation, position, size_a, size_b, slack, &least);
    near = mf_and(near, mf_less(test->bound, least.overlap));
    if (!mf_any(near))
        return;
    // An axis of edges next to that of a face says the same of a contact of faces, as in MuJoCo.
    mf_mask crossed = mf_less(least.overlap, face.overlap);
    mf_mask alike = mf_less(mf_set(EDGES_ALIKE), mf_abs(vec_dot(least.axis, face.axis)));
    mf_lane little = mf_set(EDGES_LESS) * mf_abs(face.overlap);
    alike = mf_and(alike, mf_less(face.overlap - little, least.overlap));
    crossed = mf_and(crossed, mf_not(alike));
    least_take(alike, face.overlap, face.axis, &least);
    mf_mask against = mf_less(vec_dot(least.axis, position), zero);
    Vec normal = vec_select(against, vec_minus(least.axis), least.axis);
    put_corners(test, near, crossed, &rotation, position, normal, least.overlap);
}

// ---- narrow any ---------------------------------------------------------------------------------

static void test_any(PairTest *test) {
    const mf_CollideKind a = test->a.kind, b = test->b.kind;
    if (a == MF_COLLIDE_PLANE)
        plane_any(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_SPHERE)
        sphere_sphere(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CAPSULE)
        sphere_capsule(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CYLINDER)
        sphere_cylinder(test);
    else if (a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_BOX)
        sphere_box(test);
    else if (a == MF_COLLIDE_CAPSULE && b == MF_COLLIDE_CAPSULE)
        capsule_capsule(test);
    else if (a == MF_COLLIDE_CAPSULE && b == MF_COLLIDE_BOX)
        capsule_box(test);
    else if (a == MF_COLLIDE_BOX && b == MF_COLLIDE_BOX)
        box_box(test);
    else
        convex_convex(test);
}
