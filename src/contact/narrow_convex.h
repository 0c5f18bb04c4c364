// Any two convex solids by their points farthest along directions.
//
// With D the set of differences a - b of the cores of both solids and h(n) the farthest that D goes
// along n, the depth is the least h(n) of all directions. Two searches, each a bounded number of
// rounds that a lane leaves as it is once it is done:
//  - cores apart: the point of D nearest to 0 (Gilbert, Johnson and Keerthi 1988), with a triangle
//    kept at all times and the nearest point of three triangles in each round;
//  - cores that overlap or nearly: the face of D that a ray from inside through 0 leaves by, by
//    portals (Snethen, XenoCollide, 2008). The face's normal replaces the ray, from the middle of D
//    along it, until 0 lies before the face itself: then h is least among its neighbors. From the
//    centers' direction that is the least of all unless the solids overlap deeply.
// Whatever a search ends with is a true bound, since h of its direction is measured; the direction
// of the smaller h is taken.
#pragma once

#include "contact/narrow_polygon.h"
#include "contact/narrow_round.h"

// A triangle is examined inside where the square of the sine between two sides is larger: of a
// thinner one the normal is all rounding, and its edges are as near to 0.
#if defined(MF_KERNEL_F64)
#define THIN_TRIANGLE mf_set((mf_real)1e-10)
enum { NEAREST_ROUNDS = 64, PORTAL_ROUNDS = 64, FIND_ROUNDS = 12, ITERATIONS = 8 };
#else
#define THIN_TRIANGLE mf_set((mf_real)1e-5)
enum { NEAREST_ROUNDS = 32, PORTAL_ROUNDS = 32, FIND_ROUNDS = 12, ITERATIONS = 8 };
#endif

typedef struct Convex {
    const Solid *a, *b;
    Mat rotation;  // axes of b to those of a
    Vec position;  // [m] center of b
    mf_lane slack; // [m] what counts as nothing
} Convex;

typedef struct Corner { // in the axes of a, from its center
    Vec at;             // [m] point of a
    Vec apart;          // [m] that point less one of b: a point of D
} Corner;

typedef struct Answer { // the best direction so far
    Vec normal;         // [1] from a to b
    mf_lane level;      // [m] h of it
    Vec at;             // [m] point of a's core where it touches
    mf_lane gap;        // [m] how much lower h may be, where a search ended early
} Answer;

static void corner_along(const Convex *pair, mf_mask where, Vec n, Corner *corner) {
    Vec back = mat_apply_transposed(&pair->rotation, n);
    corner->at = core_reach(pair->a, n, where);
    Vec other = core_reach(pair->b, vec_minus(back), where);
    corner->apart = vec_sub(corner->at, mat_apply_add(&pair->rotation, other, pair->position));
}

static MF_INLINE void corner_select(mf_mask where, const Corner *from, Corner *to) {
    to->at = vec_select(where, from->at, to->at);
    to->apart = vec_select(where, from->apart, to->apart);
}

static MF_INLINE void answer_take(mf_mask where, Vec normal, mf_lane level, Vec at,
                                  Answer *answer) {
    answer->normal = vec_select(where, normal, answer->normal);
    answer->level = mf_select(where, level, answer->level);
    answer->at = vec_select(where, at, answer->at);
}

static MF_INLINE mf_lane determinant(Vec a, Vec b, Vec c) {
    return vec_dot(vec_cross(a, b), c);
}

// ---- apart --------------------------------------------------------------------------------------

typedef struct Near {  // a point of a triangle near 0
    mf_lane square;    // [m^2]
    Vec position;      // [m]
    mf_lane weight[3]; // [1] of the corners
} Near;

static MF_INLINE void near_edge(Vec from, Vec to, uint32_t first, uint32_t last, Near *near) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Vec along = vec_sub(to, from);
    mf_lane square = vec_dot(along, along);
    mf_mask fine = mf_less(TINY, square);
    mf_lane t = mf_clamp(minus(vec_dot(from, along)) / mf_select(fine, square, one), zero, one);
    t = mf_keep(fine, t);
    mf_lane rest = one - t;
    Vec position = vec_fma(along, t, from);
    square = vec_dot(position, position);
    mf_mask better = mf_less(square, near->square);
    near->square = mf_select(better, square, near->square);
    near->position = vec_select(better, position, near->position);
    for (uint32_t i = 0; i < 3; i++) {
        mf_lane weight = i == last ? t : i == first ? rest : zero;
        near->weight[i] = mf_select(better, weight, near->weight[i]);
    }
}

// The point nearest to 0 of a triangle, which may be thin or a point.
static void near_triangle(const Vec corner[3], Near *near) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    near->square = mf_set(MF_REAL_MAX);
    near->position = corner[0];
    near->weight[0] = one;
    near->weight[1] = near->weight[2] = zero;
    near_edge(corner[0], corner[1], 0, 1, near);
    near_edge(corner[1], corner[2], 1, 2, near);
    near_edge(corner[2], corner[0], 2, 0, near);
    Vec u = vec_sub(corner[1], corner[0]), v = vec_sub(corner[2], corner[0]);
    Vec normal = vec_cross(u, v);
    mf_lane area = vec_dot(normal, normal);
    mf_mask fine = mf_less(THIN_TRIANGLE * vec_dot(u, u) * vec_dot(v, v), area);
    fine = mf_and(fine, mf_less(TINY * TINY, area));
    mf_lane inverse = one / mf_select(fine, area, one);
    mf_lane y = determinant(v, corner[0], normal) * inverse;
    mf_lane z = determinant(corner[0], u, normal) * inverse;
    mf_lane x = one - y - z;
    mf_mask within =
        mf_and(mf_less_equal(zero, x), mf_and(mf_less_equal(zero, y), mf_less_equal(zero, z)));
    within = mf_and(within, fine);
    Vec position = vec_scale(normal, vec_dot(normal, corner[0]) * inverse);
    near->position = vec_select(within, position, near->position);
    near->square = mf_select(within, vec_dot(position, position), near->square);
    near->weight[0] = mf_select(within, x, near->weight[0]);
    near->weight[1] = mf_select(within, y, near->weight[1]);
    near->weight[2] = mf_select(within, z, near->weight[2]);
}

// The nearest of the three triangles that `fresh` makes with the sides of the kept one takes its
// position where the mask holds.
static void near_renew(mf_mask where, const Corner *fresh, Corner kept[3], Near *near) {
    Corner best[3] = {kept[0], kept[1], kept[2]};
    Near best_near = {.square = mf_set(MF_REAL_MAX)};
    best_near.position = near->position;
    for (uint32_t i = 0; i < 3; i++)
        best_near.weight[i] = near->weight[i];
    for (uint32_t i = 0; i < 3; i++) {
        const Corner *p = &kept[i], *q = &kept[(i + 1) % 3];
        const Vec corners[3] = {fresh->apart, p->apart, q->apart};
        Near now;
        near_triangle(corners, &now);
        mf_mask better = mf_less(now.square, best_near.square);
        corner_select(better, fresh, &best[0]);
        corner_select(better, p, &best[1]);
        corner_select(better, q, &best[2]);
        best_near.square = mf_select(better, now.square, best_near.square);
        best_near.position = vec_select(better, now.position, best_near.position);
        for (uint32_t k = 0; k < 3; k++)
            best_near.weight[k] = mf_select(better, now.weight[k], best_near.weight[k]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        corner_select(where, &best[i], &kept[i]);
        near->weight[i] = mf_select(where, best_near.weight[i], near->weight[i]);
    }
    near->square = mf_select(where, best_near.square, near->square);
    near->position = vec_select(where, best_near.position, near->position);
}

static Vec weighted(const mf_lane weight[3], Vec a, Vec b, Vec c) {
    return vec_fma(a, weight[0], vec_fma(b, weight[1], vec_scale(c, weight[2])));
}

// Improves the answer in the lanes `where`, as long as it is worse than `bound`: a lane that is
// known to be farther apart is left. Returns the lanes in which the cores are clearly apart.
static mf_mask search_apart(const Convex *pair, mf_mask where, mf_lane bound, Answer *answer) {
    Corner kept[3], fresh;
    corner_along(pair, where, answer->normal, &kept[0]);
    kept[1] = kept[2] = kept[0];
    Near near = {vec_dot(kept[0].apart, kept[0].apart),
                 kept[0].apart,
                 {mf_set((mf_real)1), mf_zero(), mf_zero()}};
    mf_mask active = where, apart = mf_not(mf_mask_all());
    mf_lane gain = mf_zero();
    for (int round = 0; round < NEAREST_ROUNDS && mf_any(active); round++) {
        mf_lane length;
        Vec normal = unit_or(vec_minus(near.position), answer->normal, &length);
        corner_along(pair, active, normal, &fresh);
        mf_lane level = vec_dot(normal, fresh.apart);
        Vec at = weighted(near.weight, kept[0].at, kept[1].at, kept[2].at);
        // Nearly the same level in a later round is the better place.
        answer_take(mf_and(active, mf_less(level, answer->level + pair->slack)), normal, level, at,
                    answer);
        apart = mf_or(apart, mf_and(active, mf_less(level + pair->slack, mf_zero())));
        gain = level + length; // what the next triangle may gain
        mf_mask more = mf_less(pair->slack, gain);
        more = mf_and(more, mf_less(bound, level));
        more = mf_and(more, mf_less(pair->slack, length));
        active = mf_and(active, more);
        mf_lane before = near.square;
        near_renew(active, &fresh, kept, &near);
        // Inside, or no nearer by rounding.
        active = mf_and(active, mf_less(near.square, before));
    }
    answer->gap = mf_keep(active, gain);
    if (mf_collide_is_curved(pair->a->kind) || mf_collide_is_curved(pair->b->kind))
        return apart;
    // Where D is long and flat rounding ends the search with a distance that is good and a
    // direction whose level is not quite as low: the distance is reported.
    mf_lane length;
    Vec normal = unit_or(vec_minus(near.position), answer->normal, &length);
    Vec at = weighted(near.weight, kept[0].at, kept[1].at, kept[2].at);
    mf_mask flat = mf_and(apart, mf_less(answer->level, mf_set((mf_real)-0.99) * length));
    flat = mf_and(flat, mf_less(minus(length), answer->level));
    answer_take(flat, normal, minus(length), at, answer);
    return apart;
}

// ---- overlapping --------------------------------------------------------------------------------

typedef struct Portal {
    Vec start; // [m] of the ray, inside D
    Vec ray;   // [1]
    Corner corner[3];
} Portal;

static MF_INLINE Vec seen(const Portal *portal, uint32_t i) {
    return vec_sub(portal->corner[i].apart, portal->start);
}

// Three corners of D around the ray.
static void portal_find(const Convex *pair, mf_mask where, Portal *portal) {
    mf_lane length;
    const mf_lane zero = mf_zero();
    Corner fresh;
    corner_along(pair, where, portal->ray, &portal->corner[0]);
    Vec side = vec_cross(seen(portal, 0), portal->ray);
    side = unit_or(side, perpendicular(portal->ray), &length);
    corner_along(pair, where, side, &portal->corner[1]);
    side = vec_cross(seen(portal, 0), seen(portal, 1));
    mf_mask swapped = mf_less(vec_dot(side, portal->ray), zero);
    side = vec_select(swapped, vec_minus(side), side);
    Corner first = portal->corner[0];
    corner_select(swapped, &portal->corner[1], &portal->corner[0]);
    corner_select(swapped, &first, &portal->corner[1]);
    portal->corner[2] = portal->corner[1];
    mf_mask active = where;
    for (int round = 0; round < FIND_ROUNDS && mf_any(active); round++) {
        corner_along(pair, active, unit_or(side, portal->ray, &length), &fresh);
        corner_select(active, &fresh, &portal->corner[2]);
        Vec a = seen(portal, 0), b = seen(portal, 1), c = seen(portal, 2);
        Vec beyond_b = vec_cross(a, c), beyond_a = vec_cross(c, b);
        mf_mask drop_b = mf_and(active, mf_less(zero, vec_dot(beyond_b, portal->ray)));
        mf_mask drop_a = mf_and(active, mf_less(zero, vec_dot(beyond_a, portal->ray)));
        drop_a = mf_and(drop_a, mf_not(drop_b));
        corner_select(drop_b, &fresh, &portal->corner[1]);
        corner_select(drop_a, &fresh, &portal->corner[0]);
        side = vec_select(drop_b, beyond_b, vec_select(drop_a, beyond_a, side));
        active = mf_or(drop_a, drop_b);
    }
}

// Moves the portal out to the surface of D. Its normal goes to *normal. Returns how far it was
// still below the surface where the rounds ended first.
static mf_lane portal_refine(const Convex *pair, mf_mask where, Vec *normal, Portal *portal) {
    const mf_lane zero = mf_zero();
    Corner fresh;
    mf_mask active = where;
    mf_lane below = zero;
    for (int round = 0; round < PORTAL_ROUNDS && mf_any(active); round++) {
        Vec a = seen(portal, 0), b = seen(portal, 1), c = seen(portal, 2);
        mf_lane length;
        Vec cross = vec_cross(vec_sub(b, a), vec_sub(c, a));
        Vec out = unit_or(cross, *normal, &length);
        active = mf_and(active, mf_less(zero, length));
        *normal = vec_select(active, out, *normal);
        corner_along(pair, active, out, &fresh);
        Vec d = vec_sub(fresh.apart, portal->start);
        below = vec_dot(out, vec_sub(d, a));
        active = mf_and(active, mf_less(pair->slack, below));
        // The ray leaves through one of the three triangles that d makes with the sides.
        Vec plane = vec_cross(d, portal->ray);
        mf_mask a_right = mf_less_equal(vec_dot(a, plane), zero);
        mf_mask b_left = mf_less_equal(zero, vec_dot(b, plane));
        mf_mask c_right = mf_less_equal(vec_dot(c, plane), zero);
        mf_mask drop_c = mf_and(a_right, b_left);
        mf_mask drop_b = mf_and(mf_not(a_right), c_right);
        mf_mask drop_a = mf_not(mf_or(drop_b, drop_c));
        corner_select(mf_and(active, drop_a), &fresh, &portal->corner[0]);
        corner_select(mf_and(active, drop_b), &fresh, &portal->corner[1]);
        corner_select(mf_and(active, drop_c), &fresh, &portal->corner[2]);
    }
    return mf_keep(active, below);
}

// Weights of the portal's corners at the point below 0 along the normal; true where it is within.
static mf_mask portal_weights(const Convex *pair, const Portal *portal, Vec normal,
                              mf_lane weight[3]) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Vec a = portal->corner[0].apart, b = portal->corner[1].apart, c = portal->corner[2].apart;
    mf_lane x = determinant(b, c, normal), y = determinant(c, a, normal),
            z = determinant(a, b, normal);
    mf_lane sum = x + y + z, slack = pair->slack * pair->slack;
    mf_mask within = mf_and(mf_less_equal(-slack, x),
                            mf_and(mf_less_equal(-slack, y), mf_less_equal(-slack, z)));
    x = mf_max(x, zero);
    y = mf_max(y, zero);
    z = mf_max(z, zero);
    sum = x + y + z;
    mf_mask fine = mf_less(zero, sum);
    mf_lane inverse = one / mf_select(fine, sum, one);
    weight[0] = mf_select(fine, x * inverse, one);
    weight[1] = mf_keep(fine, y * inverse);
    weight[2] = mf_keep(fine, z * inverse);
    return within;
}

// Follows the ray of a portal, then the normals that it finds.
static void portal_follow(const Convex *pair, mf_mask where, Portal *portal, Answer *answer) {
    const mf_lane zero = mf_zero();
    mf_mask active = where;
    for (int round = 0; round < ITERATIONS && mf_any(active); round++) {
        Vec normal = portal->ray;
        portal_find(pair, active, portal);
        const mf_lane below = portal_refine(pair, active, &normal, portal);
        Corner far;
        corner_along(pair, active, normal, &far);
        mf_lane level = vec_dot(normal, far.apart), weight[3];
        mf_mask settled = portal_weights(pair, portal, normal, weight);
        Vec at = weighted(weight, portal->corner[0].at, portal->corner[1].at, portal->corner[2].at);
        // Of equal levels the later: its position on the face is known better.
        mf_mask better = mf_and(active, mf_less(level, answer->level + pair->slack));
        // Turns that end first were still getting lower by as much as the last one.
        mf_lane gap = below;
        if (round + 1 == ITERATIONS)
            gap = mf_max(gap, mf_keep(mf_not(settled), answer->level - level));
        answer->gap = mf_select(better, gap, answer->gap);
        answer_take(better, normal, level, at, answer);
        // The first turn goes on from where it came out even when another search did better.
        active = mf_and(active, mf_not(settled));
        if (round > 0)
            active = mf_and(active, better);
        corner_along(pair, active, vec_minus(normal), &far);
        mf_lane back = vec_dot(normal, far.apart);
        portal->ray = vec_select(active, normal, portal->ray);
        portal->start = vec_select(
            active, vec_scale(normal, mf_min((level + back) * mf_set((mf_real)0.5), zero)),
            portal->start);
    }
}

// The direction of least level among the axes of both solids and those between the axes of a, and
// the middle of D along it.
static void search_around(const Convex *pair, mf_mask where, Portal *portal) {
    const mf_real length[4] = {0, 1, (mf_real)0.70710678118654752, (mf_real)0.57735026918962576};
    mf_lane least = mf_set(MF_REAL_MAX);
    for (int i = 0; i < 33; i++) {
        int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
        Vec direction;
        if (i >= 27) {
            int k = (i - 27) / 2, sign = i % 2 ? 1 : -1;
            direction = mat_apply(&pair->rotation,
                                  constant_vec((k == 0) * sign, (k == 1) * sign, (k == 2) * sign));
        } else {
            direction = vec_scale(constant_vec(x, y, z), mf_set(length[x * x + y * y + z * z]));
            if (i == 13) // no direction
                continue;
        }
        Corner corner;
        corner_along(pair, where, direction, &corner);
        mf_lane level = vec_dot(direction, corner.apart);
        mf_mask better = mf_less(level, least);
        least = mf_select(better, level, least);
        portal->ray = vec_select(better, direction, portal->ray);
    }
    Corner far;
    corner_along(pair, where, vec_minus(portal->ray), &far);
    mf_lane back = vec_dot(portal->ray, far.apart);
    portal->start =
        vec_scale(portal->ray, mf_min((least + back) * mf_set((mf_real)0.5), mf_zero()));
}

// From the centers' direction, and where the overlap is no longer small from the least of many.
static void search_inside(const Convex *pair, mf_mask where, mf_lane small, Answer *answer) {
    mf_lane length;
    Portal portal;
    portal.start = vec_minus(pair->position);
    portal.ray = unit_or(pair->position, constant_vec(0, 0, 1), &length);
    portal_follow(pair, where, &portal, answer);
    mf_mask deep = mf_and(where, mf_less(small, answer->level));
    if (!mf_any(deep))
        return;
    search_around(pair, deep, &portal);
    portal_follow(pair, deep, &portal, answer);
}

// ---- the last digits ----------------------------------------------------------------------------
//
// On curved solids a search finds a direction to half the digits of its level. Where the likely
// exact one is next to it and its level is as low, that is taken.

static void answer_try(const Convex *pair, mf_mask where, Vec normal, Answer *answer) {
    Corner corner;
    corner_along(pair, where, normal, &corner);
    mf_lane level = vec_dot(normal, corner.apart);
    mf_mask beside = mf_less(mf_set((mf_real)0.999), vec_dot(normal, answer->normal));
    where = mf_and(where, mf_and(beside, mf_less(level, answer->level + pair->slack)));
    answer_take(where, normal, level, answer->at, answer);
}

static bool has_axis(mf_CollideKind kind) {
    return kind == MF_COLLIDE_CAPSULE || kind == MF_COLLIDE_CYLINDER;
}

// Tries the flat sides of boxes and cylinders, and the way between the axes of two cylinders.
static void answer_polish(const Convex *pair, mf_mask where, Answer *answer) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Face side;
    if (pair->a->kind == MF_COLLIDE_BOX) {
        face_of_box(pair->a, answer->normal, &side);
        answer_try(pair, where, side.normal, answer);
    } else if (pair->a->kind == MF_COLLIDE_CYLINDER) {
        Vec end = {zero, zero, with_sign(one, answer->normal.z)};
        answer_try(pair, where, end, answer);
    }
    Vec back = vec_minus(mat_apply_transposed(&pair->rotation, answer->normal));
    if (pair->b->kind == MF_COLLIDE_BOX) {
        face_of_box(pair->b, back, &side);
        answer_try(pair, where, vec_minus(mat_apply(&pair->rotation, side.normal)), answer);
    } else if (pair->b->kind == MF_COLLIDE_CYLINDER) {
        Vec end = {zero, zero, with_sign(one, minus(back.z))};
        answer_try(pair, where, mat_apply(&pair->rotation, end), answer);
    }
    if (has_axis(pair->a->kind) && has_axis(pair->b->kind)) {
        Vec u = {zero, zero, one}, v = axis_z(&pair->rotation);
        mf_lane s, t, length;
        segments_nearest(u, half(pair->a, 1), v, half(pair->b, 1), pair->position, &s, &t);
        Vec direction = vec_fma(v, t, vec_fma(u, -s, pair->position));
        answer_try(pair, where, unit_or(direction, answer->normal, &length), answer);
    }
}

// The point of a's core on the plane of the answer. What the searches found is a mean of corners;
// for solids that touch in a point that point itself is known.
static Vec answer_point(const Convex *pair, mf_mask where, const Answer *answer) {
    const Vec n = answer->normal;
    if (!mf_collide_has_face(pair->a->kind))
        return core_reach(pair->a, n, where);
    if (!mf_collide_has_face(pair->b->kind)) {
        Vec back = vec_minus(mat_apply_transposed(&pair->rotation, n));
        Vec other =
            mat_apply_add(&pair->rotation, core_reach(pair->b, back, where), pair->position);
        return vec_fma(n, answer->level, other);
    }
    return vec_fma(n, vec_dot(n, vec_sub(core_reach(pair->a, n, where), answer->at)), answer->at);
}

// ---- the contacts -------------------------------------------------------------------------------

typedef struct Closest { // of two solids
    Answer answer;
    mf_mask near;  // the lanes in which the rest is known: deeper than the bound
    mf_lane depth; // [m] < 0: apart by so much
    Vec at;        // [m] point of a's surface, axes of a, from its center
} Closest;

// False: no lane is near. Out of line, so that its frame is gone when the faces are cut.
static __attribute__((noinline)) bool convex_closest(PairTest *test, Convex *pair, Closest *out) {
    *pair = MF_VALUE(Convex, .a = &test->a, .b = &test->b, .slack = mf_set(NOISE) * test->scale);
    pair->rotation = mat_transposed_times(&test->a.rotation, &test->b.rotation);
    pair->position =
        mat_apply_transposed(&test->a.rotation, vec_sub(test->b.position, test->a.position));
    mf_lane radius_a = core_radius(&test->a), radius = radius_a + core_radius(&test->b), length;
    mf_lane bound = test->bound - radius; // the level at which solids are too far apart
    Answer answer = {.normal = unit_or(pair->position, constant_vec(0, 0, 1), &length),
                     .gap = mf_zero()};
    if (test->boxed)
        answer.normal = test->start;
    mf_mask near = test->sound;
    Corner corner;
    corner_along(pair, near, answer.normal, &corner);
    answer.level = vec_dot(answer.normal, corner.apart);
    answer.at = corner.at;
    near = mf_and(near, mf_less(bound, answer.level));
    if (!mf_any(near))
        return false;
    mf_mask apart = search_apart(pair, near, bound, &answer);
    near = mf_and(near, mf_less(bound, answer.level));
    mf_mask deep = mf_and(near, mf_not(apart));
    if (mf_any(deep))
        search_inside(pair, deep, test->small * mf_set((mf_real)0.05), &answer);
    if (!mf_any(near))
        return false;
    answer_polish(pair, near, &answer);
    out->answer = answer;
    out->near = near;
    out->depth = answer.level + radius;
    out->at = vec_fma(answer.normal, radius_a, answer_point(pair, near, &answer));
    return true;
}

// Boxes, and hulls whose faces are known.
static bool has_polygons(const Solid *solid) {
    return solid->kind == MF_COLLIDE_BOX ||
           (solid->kind == MF_COLLIDE_HULL && solid->hull->face_count > 0);
}

static __attribute__((noinline)) void convex_convex(PairTest *test) {
    Convex pair;
    Closest found;
    if (!convex_closest(test, &pair, &found))
        return;
    const Answer *answer = &found.answer;
    const mf_lane depth = found.depth;
    test->out->unsure =
        mf_and(found.near, mf_less(test->small * mf_set((mf_real)1e-3), answer->gap));
    test->out->gap = mf_keep(test->out->unsure, answer->gap);
    // With a margin the normals are that of least overlap, as in MuJoCo, which then looks for one
    // contact after the other.
    if (!test->wide && has_polygons(&test->a) && has_polygons(&test->b)) {
        put_polygons(test, found.near, &pair.rotation, pair.position, answer->normal, depth,
                     found.at);
        return;
    }
    if (mf_collide_has_face(test->a.kind) && mf_collide_has_face(test->b.kind)) {
        put_faces(test, found.near, &pair.rotation, pair.position, answer->normal, depth, found.at);
        return;
    }
    put_from_a(test, 0, found.near,
               vec_fma(answer->normal, mf_set((mf_real)-0.5) * depth, found.at), answer->normal,
               depth);
}
