// Several contacts of two solids that touch along a given normal with faces or edges.
//
// Each solid shows a face: the quadrangle of its points that are extreme, or nearly, along the
// normal (a segment is a thin one). Seen along the normal, every edge of one face is cut by the
// four sides of the other (Cyrus and Beck 1978), from both sides; the ends of what is left are all
// corners of the overlap. Of these up to four are kept: the deepest, the one farthest from it, and
// the two that span the largest triangles with these on either side.
#pragma once

#include "contact/narrow_reach.h"

typedef struct Face { // in the solid's axes, from its center
    Vec corner[4];    // [m] around
    Vec normal;       // [1] outward
} Face;

typedef struct Candidate { // of the overlap of two faces
    mf_lane x, y, height;  // [m] across and along the normal, from the center of a
    mf_lane depth;         // [m] -MF_REAL_MAX: none
} Candidate;

typedef struct Candidates {
    uint32_t count;  // [1]
    Candidate *item; // with space for all
} Candidates;

// The width of a segment over the smaller solid's size.
#define FACE_THIN mf_set((mf_real)1e-4)

// ---- faces of solids ----------------------------------------------------------------------------

static MF_INLINE void face_thin(Vec from, Vec to, Vec wide, Face *face) {
    face->corner[0] = vec_add(from, wide);
    face->corner[1] = vec_add(to, wide);
    face->corner[2] = vec_sub(to, wide);
    face->corner[3] = vec_sub(from, wide);
}

static void face_of_box(const Solid *solid, Vec n, Face *face) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const Vec size = halves(solid), part = {mf_abs(n.x), mf_abs(n.y), mf_abs(n.z)};
    mf_mask by_x = mf_and(mf_less_equal(part.y, part.x), mf_less_equal(part.z, part.x));
    mf_mask by_y = mf_and(mf_not(by_x), mf_less_equal(part.z, part.y));
    Vec x = {with_sign(one, n.x), zero, zero}, y = {zero, with_sign(one, n.y), zero},
        z = {zero, zero, with_sign(one, n.z)};
    face->normal = vec_select(by_x, x, vec_select(by_y, y, z));
    Vec center = {face->normal.x * size.x, face->normal.y * size.y, face->normal.z * size.z};
    Vec u = vec_select(by_x, MF_VALUE(Vec, zero, size.y, zero), MF_VALUE(Vec, size.x, zero, zero));
    Vec v = vec_select(mf_or(by_x, by_y), MF_VALUE(Vec, zero, zero, size.z),
                       MF_VALUE(Vec, zero, size.y, zero));
    face->corner[0] = vec_add(vec_add(center, u), v);
    face->corner[1] = vec_add(vec_sub(center, u), v);
    face->corner[2] = vec_sub(vec_sub(center, u), v);
    face->corner[3] = vec_sub(vec_add(center, u), v);
}

// An end, by the lowest point of its rim and three more, or a line of the side.
static void face_of_cylinder(const Solid *solid, Vec n, mf_lane thin, Face *face) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    const mf_lane radius = half(solid, 0), tall = half(solid, 1);
    mf_lane length;
    Vec out = unit_or(MF_VALUE(Vec, n.x, n.y, zero), constant_vec(1, 0, 0), &length);
    Vec along = {-out.y, out.x, zero}, up = {zero, zero, with_sign(one, n.z)};
    mf_mask end = mf_less(mf_set((mf_real)0.7), mf_abs(n.z));
    Face side;
    Vec line = vec_scale(out, radius);
    face_thin(MF_VALUE(Vec, line.x, line.y, tall), MF_VALUE(Vec, line.x, line.y, -tall),
              vec_scale(along, thin), &side);
    Vec center = vec_scale(up, tall);
    Vec rim[4] = {out, along, {-out.x, -out.y, zero}, {-along.x, -along.y, zero}};
    for (int i = 0; i < 4; i++)
        face->corner[i] = vec_select(end, vec_fma(rim[i], radius, center), side.corner[i]);
    face->normal = vec_select(end, up, out);
}

static void face_of_capsule(const Solid *solid, Vec n, mf_lane thin, Face *face) {
    const mf_lane zero = mf_zero(), tall = half(solid, 1);
    mf_lane length;
    Vec out = unit_or(MF_VALUE(Vec, n.x, n.y, zero), constant_vec(1, 0, 0), &length);
    Vec line = vec_scale(out, half(solid, 0)), along = {-out.y, out.x, zero};
    face_thin(MF_VALUE(Vec, line.x, line.y, tall), MF_VALUE(Vec, line.x, line.y, -tall),
              vec_scale(along, thin), face);
    face->normal = out;
}

// Of the vertices of the face, that is those at most `depth` below the highest along n: the
// farthest along a direction, the farthest from that one, and the two that span most with these.
static void lane_corners(const mf_ConvexHull *hull, const mf_real n[3], const mf_real along[3],
                         mf_real depth, mf_real corner[4][3]) {
    const mf_real zero[3] = {0, 0, 0};
    const HullView view = hull_view(hull, n);
    const mf_real floor = hull_farthest(&view, n).value - depth;
    mf_real direction[3], side[3];
    hull_entry(hull, hull_search(&view, along, zero, n, floor).entry, corner[0]);
    hull_entry(hull, hull_distant(&view, corner[0], n, floor).entry, corner[2]);
    less_of(corner[2], corner[0], direction);
    side[0] = n[1] * direction[2] - n[2] * direction[1];
    side[1] = n[2] * direction[0] - n[0] * direction[2];
    side[2] = n[0] * direction[1] - n[1] * direction[0];
    for (int i = 0; i < 2; i++) {
        const HullBest best = hull_search(&view, side, corner[0], n, floor);
        hull_entry(hull, best.entry, corner[1 + 2 * i]);
        for (int k = 0; k < 3; k++) {
            corner[1 + 2 * i][k] = best.value > 0 ? corner[1 + 2 * i][k] : corner[0][k];
            side[k] = -side[k];
        }
    }
}

static void hull_corners(const Solid *solid, Vec n, mf_lane depth, mf_mask where, Face *face) {
    Rows up, across, out[4];
    MF_ALIGNED(64) mf_real on[MF_LANES];
    MF_ALIGNED(64) mf_real deep[MF_LANES];
    rows_put(n, &up);
    rows_put(perpendicular(n), &across);
    mf_store(deep, depth);
    lanes_put(where, on);
    for (int k = 0; k < 4; k++)
        rows_put(constant_vec(0, 0, 0), &out[k]);
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        if (!(on[lane] > 0))
            continue;
        const mf_real direction[3] = {up.x[lane], up.y[lane], up.z[lane]};
        const mf_real along[3] = {across.x[lane], across.y[lane], across.z[lane]};
        mf_real corner[4][3];
        lane_corners(solid->hull, direction, along, deep[lane], corner);
        for (int k = 0; k < 4; k++)
            rows_set(&out[k], lane, corner[k]);
    }
    for (int k = 0; k < 4; k++)
        face->corner[k] = rows_take(&out[k]);
}

static void face_of_hull(const Solid *solid, Vec n, mf_lane thin, mf_mask where, Face *face) {
    const Vec t1 = perpendicular(n);
    hull_corners(solid, n, mf_set((mf_real)MF_HULL_TILT) * radius_of(solid), where, face);
    Vec first = vec_sub(face->corner[0], face->corner[2]);
    Vec second = vec_sub(face->corner[1], face->corner[3]);
    Vec cross = vec_cross(second, first);
    mf_lane square1 = vec_dot(first, first), square2 = vec_dot(second, second), length;
    mf_mask flat = mf_less(mf_set((mf_real)1e-4) * square1 * square2, vec_dot(cross, cross));
    face->normal = unit_or(cross, n, &length);
    // An edge or a corner: a thin quadrangle along the longer diagonal.
    mf_mask one = mf_less(square2, square1);
    Vec from = vec_select(one, face->corner[2], face->corner[3]);
    Vec along = unit_or(vec_select(one, first, second), t1, &length);
    Vec to = vec_fma(along, mf_max(length, thin), from);
    Vec normal = unit_or(vec_fma(along, minus(vec_dot(along, n)), n), n, &length);
    Face edge;
    face_thin(from, to, vec_scale(vec_cross(normal, along), thin), &edge);
    for (int k = 0; k < 4; k++)
        face->corner[k] = vec_select(flat, face->corner[k], edge.corner[k]);
    face->normal = vec_select(flat, face->normal, normal);
}

// The face of a solid along the unit vector n of its axes, in the lanes `where`.
static void face_of(const PairTest *test, const Solid *solid, Vec n, mf_mask where, Face *face) {
    mf_lane thin = test->small * FACE_THIN;
    if (solid->kind == MF_COLLIDE_BOX)
        face_of_box(solid, n, face);
    else if (solid->kind == MF_COLLIDE_CYLINDER)
        face_of_cylinder(solid, n, thin, face);
    else if (solid->kind == MF_COLLIDE_CAPSULE)
        face_of_capsule(solid, n, thin, face);
    else
        face_of_hull(solid, n, thin, where, face);
}

// ---- cutting ------------------------------------------------------------------------------------

typedef struct Flat {         // a face seen along the normal
    mf_lane x[4], y[4], z[4]; // [m]
    mf_lane slope_x, slope_y; // [1] of its plane
} Flat;

typedef struct View { // directions in the axes of a
    Vec across1, across2, normal;
} View;

static MF_INLINE void flat_corner(const View *view, Vec corner, uint32_t i, Flat *flat) {
    flat->x[i] = vec_dot(view->across1, corner);
    flat->y[i] = vec_dot(view->across2, corner);
    flat->z[i] = vec_dot(view->normal, corner);
}

static MF_INLINE void flat_slope(const View *view, Vec normal, Flat *flat) {
    mf_lane up = vec_dot(view->normal, normal);
    // Faces are never steep; the bound is for lanes whose numbers mean nothing.
    mf_lane inverse = mf_set((mf_real)1) / with_sign(mf_max(mf_abs(up), mf_set((mf_real)0.1)), up);
    flat->slope_x = minus(vec_dot(view->across1, normal)) * inverse;
    flat->slope_y = minus(vec_dot(view->across2, normal)) * inverse;
}

static MF_INLINE mf_lane flat_height(const Flat *flat, mf_lane x, mf_lane y) {
    return mf_fma(flat->slope_x, x - flat->x[0], mf_fma(flat->slope_y, y - flat->y[0], flat->z[0]));
}

static MF_INLINE mf_lane flat_area(const Flat *flat) { // > 0: counter-clockwise
    return mf_fma(flat->x[2] - flat->x[0], flat->y[3] - flat->y[1],
                  -((flat->x[3] - flat->x[1]) * (flat->y[2] - flat->y[0])));
}

// What of the edges of `cut` lies over `over`, or next to it by `slack` [m]: both ends of each, or
// with `starts` the one from which it goes counter-clockwise; `up` is 1 when `cut` is the face of
// a, else -1.
static void cut_edges(const Flat *cut, const Flat *over, mf_lane slack, mf_lane up, bool starts,
                      Candidates *all) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_lane area = flat_area(over);
    const mf_mask backward = mf_less(flat_area(cut), zero);
    mf_lane inside[4][4], some[4]; // of corner i, side k: < 0 outside
    for (uint32_t k = 0; k < 4; k++) {
        mf_lane x = over->x[(k + 1) & 3] - over->x[k], y = over->y[(k + 1) & 3] - over->y[k];
        x = mf_select(mf_less(area, zero), -x, x);
        y = mf_select(mf_less(area, zero), -y, y);
        some[k] = slack * (mf_abs(x) + mf_abs(y));
        for (uint32_t i = 0; i < 4; i++)
            inside[i][k] =
                mf_fma(x, cut->y[i] - over->y[k], mf_fma(-y, cut->x[i] - over->x[k], some[k]));
    }
    for (uint32_t n = 0; n < 4; n++) {
        // Opposite ones first: a sweep of a solver over them turns the solids less.
        const uint32_t i = starts ? (n & 1) * 2 + n / 2 : n, next = (i + 1) & 3;
        mf_lane low = zero, high = one;
        for (uint32_t k = 0; k < 4; k++) {
            mf_lane from = inside[i][k], to = inside[next][k], change = from - to;
            mf_mask out_from = mf_less(from, zero), out_to = mf_less(to, zero);
            mf_mask crosses = mf_differ(out_from, out_to);
            mf_lane t = (starts ? from - some[k] : from) / mf_select(crosses, change, one);
            t = starts ? mf_clamp(t, zero, one) : t;
            low = mf_select(mf_and(crosses, out_from), mf_max(low, t), low);
            high = mf_select(mf_and(crosses, out_to), mf_min(high, t), high);
            high = mf_select(mf_and(out_from, out_to), mf_set((mf_real)-1), high);
        }
        const mf_mask exists = mf_less_equal(low, high);
        low = starts ? mf_select(backward, high, low) : low;
        for (int end = 0; end < (starts ? 1 : 2); end++) {
            mf_lane t = end ? high : low;
            mf_lane x = mf_fma(cut->x[next] - cut->x[i], t, cut->x[i]);
            mf_lane y = mf_fma(cut->y[next] - cut->y[i], t, cut->y[i]);
            mf_lane z = mf_fma(cut->z[next] - cut->z[i], t, cut->z[i]);
            mf_lane other = flat_height(over, x, y);
            all->item[all->count].x = x;
            all->item[all->count].y = y;
            all->item[all->count].height = mf_select(mf_less(zero, up), z, other);
            all->item[all->count++].depth =
                mf_select(exists, up * (z - other), mf_set(-MF_REAL_MAX));
        }
    }
}

// ---- choosing -----------------------------------------------------------------------------------

static MF_INLINE void choose(mf_mask where, const Candidates *all, uint32_t i, Candidate *chosen) {
    chosen->x = mf_select(where, all->item[i].x, chosen->x);
    chosen->y = mf_select(where, all->item[i].y, chosen->y);
    chosen->height = mf_select(where, all->item[i].height, chosen->height);
    chosen->depth = mf_select(where, all->item[i].depth, chosen->depth);
}

static void put_chosen(PairTest *test, const View *view, uint32_t i, mf_mask where,
                       const Candidate *chosen) {
    mf_lane middle = mf_fma(mf_set((mf_real)-0.5), chosen->depth, chosen->height);
    Vec point = vec_scale(view->normal, middle);
    point = vec_fma(view->across1, chosen->x, vec_fma(view->across2, chosen->y, point));
    put_from_a(test, i, where, point, view->normal, chosen->depth);
}

// Puts down up to four of the candidates. The one numbered 0 is only used as the deepest, where it
// is deeper than all others.
static void put_candidates(PairTest *test, const View *view, mf_mask where, const Candidates *all) {
    const mf_lane apart = test->small * mf_set((mf_real)0.01), least = apart * apart;
    Candidate first = {mf_zero(), mf_zero(), mf_zero(), mf_set(-MF_REAL_MAX)};
    mf_lane slack = mf_set(NOISE) * test->scale;
    for (uint32_t i = 1; i < all->count; i++)
        choose(mf_less(first.depth, all->item[i].depth), all, i, &first);
    choose(mf_less(first.depth + slack, all->item[0].depth), all, 0, &first);
    put_chosen(test, view, 0, where, &first);

    Candidate second = first, third = first, fourth = first;
    mf_lane farthest = least;
    for (uint32_t i = 1; i < all->count; i++) {
        mf_lane x = all->item[i].x - first.x, y = all->item[i].y - first.y;
        mf_lane square = mf_fma(x, x, y * y);
        mf_mask better =
            mf_and(mf_less(farthest, square), mf_less(test->bound, all->item[i].depth));
        farthest = mf_select(better, square, farthest);
        choose(better, all, i, &second);
    }
    mf_mask two = mf_and(where, mf_less(least, farthest));
    put_chosen(test, view, 1, two, &second);
    if (!mf_any(two))
        return;
    mf_lane along_x = second.x - first.x, along_y = second.y - first.y;
    mf_lane bar = mf_sqrt(farthest) * apart, left = bar, right = bar;
    for (uint32_t i = 1; i < all->count; i++) {
        mf_lane x = all->item[i].x - first.x, y = all->item[i].y - first.y;
        mf_lane area = mf_fma(along_x, y, -(along_y * x));
        mf_mask deep = mf_and(two, mf_less(test->bound, all->item[i].depth));
        mf_mask to_left = mf_and(deep, mf_less(left, area));
        mf_mask to_right = mf_and(deep, mf_less(right, -area));
        left = mf_select(to_left, area, left);
        right = mf_select(to_right, -area, right);
        choose(to_left, all, i, &third);
        choose(to_right, all, i, &fourth);
    }
    mf_mask has_left = mf_less(bar, left), has_right = mf_less(bar, right);
    third.x = mf_select(has_left, third.x, fourth.x);
    third.y = mf_select(has_left, third.y, fourth.y);
    third.height = mf_select(has_left, third.height, fourth.height);
    third.depth = mf_select(has_left, third.depth, fourth.depth);
    put_chosen(test, view, 2, mf_and(two, mf_or(has_left, has_right)), &third);
    put_chosen(test, view, 3, mf_and(two, mf_and(has_left, has_right)), &fourth);
}

static MF_INLINE void view_along(Vec normal, View *view) {
    view->normal = normal;
    view->across1 = perpendicular(normal);
    view->across2 = vec_cross(normal, view->across1);
}

static void flat_faces(PairTest *test, mf_mask where, const Mat *rotation, Vec position,
                       const View *view, Flat *a, Flat *b) {
    Face face;
    face_of(test, &test->a, view->normal, where, &face);
    for (uint32_t i = 0; i < 4; i++)
        flat_corner(view, face.corner[i], i, a);
    flat_slope(view, face.normal, a);
    Vec back = mat_apply_transposed(rotation, view->normal);
    face_of(test, &test->b, vec_minus(back), where, &face);
    for (uint32_t i = 0; i < 4; i++)
        flat_corner(view, mat_apply_add(rotation, face.corner[i], position), i, b);
    flat_slope(view, mat_apply(rotation, face.normal), b);
}

// Contacts in the lanes `where` along `normal` (in the axes of a, from a to b), none deeper than
// `deepest`. `rotation` and `position` are the axes and center of b in those of a. `at` [m] is a
// point on the surface of a where the depth is `deepest`, used when no corner of the faces is as
// deep.
static __attribute__((noinline)) void put_faces(PairTest *test, mf_mask where, const Mat *rotation,
                                                Vec position, Vec normal, mf_lane deepest, Vec at) {
    Flat a, b;
    View view;
    view_along(normal, &view);
    flat_faces(test, where, rotation, position, &view, &a, &b);
    Candidate item[17];
    Candidates all = {.count = 1, .item = item};
    all.item[0].x = vec_dot(view.across1, at);
    all.item[0].y = vec_dot(view.across2, at);
    all.item[0].height = vec_dot(view.normal, at);
    all.item[0].depth = deepest;
    mf_lane slack = mf_set(NOISE) * test->scale;
    cut_edges(&a, &b, slack, mf_set((mf_real)1), false, &all);
    cut_edges(&b, &a, slack, mf_set((mf_real)-1), false, &all);
    for (uint32_t i = 1; i < all.count; i++)
        all.item[i].depth = mf_min(all.item[i].depth, deepest);
    put_candidates(test, &view, where, &all);
}

// As above of two boxes: every corner of the overlap, up to eight; in the lanes `crossed`, where
// two edges touch, the deepest alone.
static __attribute__((noinline)) void put_corners(PairTest *test, mf_mask where, mf_mask crossed,
                                                  const Mat *rotation, Vec position, Vec normal,
                                                  mf_lane deepest) {
    Flat a, b;
    View view;
    view_along(normal, &view);
    flat_faces(test, where, rotation, position, &view, &a, &b);
    Candidate item[MF_COLLIDE_CONTACTS];
    Candidates all = {.item = item};
    // Wide enough that edges of a stack that lie on each other stay so, and have no crossings.
    const mf_lane one = mf_set((mf_real)1), apart = test->small * FACE_THIN;
    const mf_lane slack = mf_set((mf_real)0.5) * apart;
    cut_edges(&a, &b, slack, one, true, &all);
    cut_edges(&b, &a, slack, minus(one), true, &all);
    // Those that stay move to the front, of `crossed` lanes the deepest to the first place.
    mf_lane most = mf_set(-MF_REAL_MAX), count = mf_zero();
    for (uint32_t i = 0; i < MF_COLLIDE_CONTACTS; i++) {
        item[i].depth = mf_min(item[i].depth, deepest);
        mf_mask fresh = mf_less(test->bound, item[i].depth);
        for (uint32_t k = 0; k < i; k++) {
            mf_lane x = item[k].x - item[i].x, y = item[k].y - item[i].y;
            mf_mask same = mf_and(mf_less(mf_set((mf_real)k), count),
                                  mf_less(mf_fma(x, x, y * y), apart * apart));
            fresh = mf_and(fresh, mf_not(same));
        }
        const mf_mask deeper = mf_and(fresh, mf_less(most, item[i].depth));
        most = mf_select(deeper, item[i].depth, most);
        choose(mf_and(deeper, crossed), &all, i, &item[0]);
        fresh = mf_and(fresh, mf_not(crossed));
        for (uint32_t k = 0; k < i; k++)
            choose(mf_and(fresh, mf_equal(count, mf_set((mf_real)k))), &all, i, &item[k]);
        count = count + mf_keep(fresh, one);
    }
    count = mf_select(crossed, one, count);
    for (uint32_t i = 0; i < MF_COLLIDE_CONTACTS; i++) {
        const mf_mask exists = mf_and(where, mf_less(mf_set((mf_real)i), count));
        if (mf_any(exists))
            put_chosen(test, &view, i, exists, &item[i]);
    }
}
