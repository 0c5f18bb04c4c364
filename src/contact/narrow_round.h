// Spheres and capsules with each other, with boxes and with cylinders, in closed form.
//
// A sphere or capsule is a core (point or segment) with a radius: the contact is that of the cores'
// nearest points. Two segments: Ericson, Real-Time Collision Detection, 2005, section 5.1.9, in
// central form. A segment and a box: half the derivative of the squared distance along the segment
// is continuous, rising and straight between the six positions where the segment crosses a plane of
// the box, so its root is found exactly by examining these places. A core inside leaves by the
// shortest way (separating axes).
#pragma once

#include "contact/narrow_parts.h"

// Cores that nearly touch in the points `from` and `to`, seen from the center of a in world axes.
static inline void put_cores(PairTest *test, uint32_t i, mf_mask where, Vec from, mf_lane radius_a,
                             Vec to, mf_lane radius_b, Vec other) {
    mf_lane length;
    Vec normal = unit_or(vec_sub(to, from), other, &length);
    mf_lane depth = radius_a + radius_b - length;
    mf_lane ahead = mf_fma(mf_set((mf_real)-0.5), depth, radius_a);
    put(test, i, where, vec_add(vec_fma(normal, ahead, from), test->a.position), normal, depth);
}

// Of two with the same center the normal is across both z axes, else along x, as in MuJoCo.
static void sphere_sphere(PairTest *test) {
    mf_lane length;
    const Vec across = vec_cross(axis_z(&test->a.rotation), axis_z(&test->b.rotation));
    put_cores(test, 0, mf_mask_all(), constant_vec(0, 0, 0), half(&test->a, 0),
              vec_sub(test->b.position, test->a.position), half(&test->b, 0),
              unit_or(across, constant_vec(1, 0, 0), &length));
}

static void sphere_capsule(PairTest *test) {
    Vec axis = axis_z(&test->b.rotation), offset = vec_sub(test->b.position, test->a.position);
    mf_lane along = mf_clamp(minus(vec_dot(offset, axis)), -half(&test->b, 1), half(&test->b, 1));
    put_cores(test, 0, mf_mask_all(), constant_vec(0, 0, 0), half(&test->a, 0),
              vec_fma(axis, along, offset), half(&test->b, 0), perpendicular(axis));
}

// Where two segments are nearest: s and t [m] from their centers along the unit vectors u and v;
// `direction` [m] is from the first center to the second.
static inline void segments_nearest(Vec u, mf_lane length_u, Vec v, mf_lane length_v, Vec direction,
                                    mf_lane *s, mf_lane *t) {
    Vec across = vec_cross(u, v);
    mf_lane cosine = vec_dot(u, v), square = vec_dot(across, across);
    mf_lane ahead_u = vec_dot(direction, u), ahead_v = vec_dot(direction, v);
    mf_mask crossing = mf_less(mf_set(NOISE * NOISE), square);
    mf_lane first =
        mf_fma(minus(cosine), ahead_v, ahead_u) / mf_select(crossing, square, mf_set((mf_real)1));
    first = mf_clamp(mf_select(crossing, first, ahead_u), -length_u, length_u);
    *t = mf_clamp(mf_fma(cosine, first, minus(ahead_v)), -length_v, length_v);
    *s = mf_clamp(mf_fma(cosine, *t, ahead_u), -length_u, length_u);
}

// Capsules that are parallel touch at both ends of the part in which they lie side by side, as in
// MuJoCo: the least angle between them leaves one contact.
// The spheres about long capsules are near much more often than these are, so the distance is
// examined first. No position tried later is nearer but for roundings, which are far below a
// percent of the pair's size: leaving early shows in no lane.
static void capsule_capsule(PairTest *test) {
    const mf_lane length_a = half(&test->a, 1), length_b = half(&test->b, 1);
    Vec u = axis_z(&test->a.rotation), v = axis_z(&test->b.rotation);
    Vec offset = vec_sub(test->b.position, test->a.position), across = vec_cross(u, v);
    mf_lane cosine = vec_dot(u, v), square = vec_dot(across, across);
    mf_lane ahead_a = vec_dot(offset, u), ahead_b = vec_dot(offset, v), s, t;
    segments_nearest(u, length_a, v, length_b, offset, &s, &t);
    Vec gap = vec_fma(v, t, vec_fma(u, -s, offset));
    mf_lane distance = mf_sqrt(vec_dot(gap, gap));
    mf_lane touching = half(&test->a, 0) + half(&test->b, 0) - test->bound;
    if (!mf_any(mf_less(distance, mf_fma(mf_set((mf_real)0.01), test->scale, touching))))
        return;

    mf_lane wide = length_b * mf_abs(cosine);
    mf_lane low = mf_max(-length_a, ahead_a - wide), high = mf_min(length_a, ahead_a + wide);
    mf_lane low_b = mf_clamp(mf_fma(cosine, low, minus(ahead_b)), -length_b, length_b);
    mf_lane high_b = mf_clamp(mf_fma(cosine, high, minus(ahead_b)), -length_b, length_b);
    Vec gap_low = vec_fma(v, low_b, vec_fma(u, -low, offset));
    Vec gap_high = vec_fma(v, high_b, vec_fma(u, -high, offset));
    mf_mask beside = mf_and(mf_less(square, mf_set(8 * MF_REAL_EPSILON)), mf_less(low, high));
    // Of positions that are equally near to rounding, one at an end.
    mf_lane near = distance + mf_set(NOISE) * test->scale;
    mf_mask at_low = mf_and(beside, mf_less_equal(vec_dot(gap_low, gap_low), near * near));
    mf_mask at_high = mf_and(beside, mf_less_equal(vec_dot(gap_high, gap_high), near * near));
    s = mf_select(at_low, low, mf_select(at_high, high, s));
    t = mf_select(at_low, low_b, mf_select(at_high, high_b, t));
    Vec other = unit_or(across, perpendicular(u), &wide);
    put_cores(test, 0, mf_mask_all(), vec_scale(u, s), half(&test->a, 0), vec_fma(v, t, offset),
              half(&test->b, 0), other);
    mf_mask to_high = mf_less(s - low, high - s);
    s = mf_select(to_high, high, low);
    t = mf_select(to_high, high_b, low_b);
    put_cores(test, 1, beside, vec_scale(u, s), half(&test->a, 0), vec_fma(v, t, offset),
              half(&test->b, 0), other);
}

// ---- box ----------------------------------------------------------------------------------------

// The axis of which the mask says true, with the sign of `side`.
static MF_INLINE Vec signed_axis(mf_mask x, mf_mask y, Vec side) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    Vec axis = vec_select(y, MF_VALUE(Vec, zero, with_sign(one, side.y), zero),
                          MF_VALUE(Vec, zero, zero, with_sign(one, side.z)));
    return vec_select(x, MF_VALUE(Vec, with_sign(one, side.x), zero, zero), axis);
}

static MF_INLINE Vec vec_clamp(Vec a, Vec size) {
    return MF_VALUE(Vec, mf_clamp(a.x, -size.x, size.x), mf_clamp(a.y, -size.y, size.y),
                    mf_clamp(a.z, -size.z, size.z));
}

// Puts down a core of `radius` at `core` in the axes of b that leaves b by `out` [1] when moved by
// `distance` [m].
static inline void put_leaving(PairTest *test, uint32_t i, mf_mask where, Vec core, mf_lane radius,
                               Vec out, mf_lane distance) {
    mf_lane depth = radius + distance;
    Vec point = vec_fma(out, mf_fma(mf_set((mf_real)0.5), depth, -radius), core);
    put(test, i, where, mat_apply_add(&test->b.rotation, point, test->b.position),
        mat_apply(&test->b.rotation, vec_minus(out)), depth);
}

static void sphere_box(PairTest *test) {
    Vec size = halves(&test->b);
    Vec core = mat_apply_transposed(&test->b.rotation, vec_sub(test->a.position, test->b.position));
    Vec left = {size.x - mf_abs(core.x), size.y - mf_abs(core.y), size.z - mf_abs(core.z)};
    mf_mask by_x = mf_and(mf_less_equal(left.x, left.y), mf_less_equal(left.x, left.z));
    mf_mask by_y = mf_less_equal(left.y, left.z);
    Vec inner = signed_axis(by_x, by_y, core);
    mf_lane least = mf_min(left.x, mf_min(left.y, left.z)), length;
    Vec out = unit_or(vec_sub(core, vec_clamp(core, size)), inner, &length);
    mf_mask outside = mf_less(mf_zero(), length);
    put_leaving(test, 0, mf_mask_all(), core, half(&test->a, 0), out,
                mf_select(outside, -length, least));
}

typedef struct Stick { // the core of a capsule in the axes of a box: center + t along, |t| <= 1
    Vec center, along, size;
} Stick;

static MF_INLINE Vec stick_excess(const Stick *stick, mf_lane t) {
    Vec position = vec_fma(stick->along, t, stick->center);
    return vec_sub(position, vec_clamp(position, stick->size));
}

typedef struct Bracket { // around the root of a rising function
    mf_lane low, high, value_low, value_high;
} Bracket;

static MF_INLINE void bracket_search(const Stick *stick, mf_lane position, mf_lane along,
                                     mf_lane plane, Bracket *bracket) {
    mf_mask crosses = mf_less(TINY, along * along);
    mf_lane t = (plane - position) / mf_select(crosses, along, mf_set((mf_real)1));
    t = mf_clamp(t, bracket->low, bracket->high);
    mf_lane value = vec_dot(stick->along, stick_excess(stick, t));
    mf_mask rising = mf_and(crosses, mf_less(mf_zero(), value));
    mf_mask falling = mf_and(crosses, mf_less_equal(value, mf_zero()));
    bracket->high = mf_select(rising, t, bracket->high);
    bracket->value_high = mf_select(rising, value, bracket->value_high);
    bracket->low = mf_select(falling, t, bracket->low);
    bracket->value_low = mf_select(falling, value, bracket->value_low);
}

// Where the stick is nearest to the box.
static mf_lane stick_nearest(const Stick *stick) {
    const mf_lane one = mf_set((mf_real)1);
    Bracket bracket = {-one, one, vec_dot(stick->along, stick_excess(stick, -one)),
                       vec_dot(stick->along, stick_excess(stick, one))};
    mf_mask before = mf_less(mf_zero(), bracket.value_low);
    mf_mask behind = mf_less(bracket.value_high, mf_zero());
    for (int side = 0; side < 2; side++) {
        mf_lane sign = mf_set((mf_real)(side ? 1 : -1));
        bracket_search(stick, stick->center.x, stick->along.x, sign * stick->size.x, &bracket);
        bracket_search(stick, stick->center.y, stick->along.y, sign * stick->size.y, &bracket);
        bracket_search(stick, stick->center.z, stick->along.z, sign * stick->size.z, &bracket);
    }
    mf_lane rise = bracket.value_high - bracket.value_low;
    mf_mask steep = mf_less(mf_zero(), rise);
    mf_lane t = mf_fma(bracket.low - bracket.high, bracket.value_low / mf_select(steep, rise, one),
                       bracket.low);
    t = mf_clamp(mf_select(steep, t, bracket.low), bracket.low, bracket.high);
    return mf_select(before, -one, mf_select(behind, one, t));
}

// The least way by which a stick that is partly inside leaves the box, by a face or by an edge.
static mf_lane stick_leave(const Stick *stick, Vec *out) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Vec c = stick->center, w = stick->along, size = stick->size;
    Vec wide = {mf_abs(w.x), mf_abs(w.y), mf_abs(w.z)};
    Vec left = {size.x + wide.x - mf_abs(c.x), size.y + wide.y - mf_abs(c.y),
                size.z + wide.z - mf_abs(c.z)};
    mf_mask by_x = mf_and(mf_less_equal(left.x, left.y), mf_less_equal(left.x, left.z));
    mf_mask by_y = mf_less_equal(left.y, left.z);
    mf_lane best = mf_min(left.x, mf_min(left.y, left.z));
    *out = signed_axis(by_x, by_y, c);
    for (int i = 0; i < 3; i++) {
        Vec axis = i == 0   ? MF_VALUE(Vec, zero, -w.z, w.y)
                   : i == 1 ? MF_VALUE(Vec, w.z, zero, -w.x)
                            : MF_VALUE(Vec, -w.y, w.x, zero);
        mf_lane square = vec_dot(axis, axis), beside = vec_dot(axis, c);
        mf_mask fine = mf_less(mf_set(NOISE) * vec_dot(w, w), square);
        fine = mf_and(fine, mf_less(TINY, square));
        axis = vec_scale(axis, with_sign(one, beside) / mf_sqrt(mf_select(fine, square, one)));
        mf_lane distance =
            vec_dot(size, MF_VALUE(Vec, mf_abs(axis.x), mf_abs(axis.y), mf_abs(axis.z))) -
            vec_dot(axis, c);
        mf_mask better = mf_and(fine, mf_less(distance, best));
        best = mf_select(better, distance, best);
        *out = vec_select(better, axis, *out);
    }
    return best;
}

// The part of the stick between two planes of the box.
static MF_INLINE void stick_cut(mf_lane position, mf_lane along, mf_lane size, mf_mask use,
                                mf_lane *low, mf_lane *high) {
    const mf_lane one = mf_set((mf_real)1), none = mf_set((mf_real)2);
    mf_mask crosses = mf_less(TINY, along * along);
    mf_lane inverse = one / mf_select(crosses, along, one);
    mf_lane first = (-size - position) * inverse, last = (size - position) * inverse;
    mf_lane from = mf_min(first, last), to = mf_max(first, last);
    // Parallel to the planes: all of it or nothing.
    mf_mask within = mf_less_equal(mf_abs(position), size);
    from = mf_select(crosses, from, mf_select(within, -one, none));
    to = mf_select(crosses, to, mf_select(within, one, -none));
    *low = mf_select(use, mf_max(*low, from), *low);
    *high = mf_select(use, mf_min(*high, to), *high);
}

static MF_INLINE mf_lane vec_pick(mf_mask x, mf_mask y, Vec a) {
    return mf_select(x, a.x, mf_select(y, a.y, a.z));
}

// How the core leaves the box at one position: out of a face where it is inside.
static MF_INLINE mf_lane stick_touch(const Stick *stick, mf_lane t, Vec face, mf_lane edge,
                                     Vec *out) {
    mf_lane length;
    *out = unit_or(stick_excess(stick, t), face, &length);
    mf_lane within = edge - vec_dot(face, vec_fma(stick->along, t, stick->center));
    return mf_select(mf_less(mf_zero(), length), -length, within);
}

// The part of the stick that lies along the box: between the planes to which `out` is nearly
// parallel, or where it is inside between all but those of the face.
static void stick_part(const Stick *stick, mf_mask outside, Vec out, mf_mask by_x, mf_mask by_y,
                       mf_lane *low, mf_lane *high) {
    const mf_lane little = mf_set((mf_real)0.3);
    mf_mask inside = mf_not(outside), by_z = mf_not(mf_or(by_x, by_y));
    mf_mask along_x = mf_or(inside, mf_less(mf_abs(out.x), little));
    mf_mask along_y = mf_or(inside, mf_less(mf_abs(out.y), little));
    mf_mask along_z = mf_or(inside, mf_less(mf_abs(out.z), little));
    *low = mf_set((mf_real)-1);
    *high = mf_set((mf_real)1);
    stick_cut(stick->center.x, stick->along.x, stick->size.x, mf_and(along_x, mf_not(by_x)), low,
              high);
    stick_cut(stick->center.y, stick->along.y, stick->size.y, mf_and(along_y, mf_not(by_y)), low,
              high);
    stick_cut(stick->center.z, stick->along.z, stick->size.z, mf_and(along_z, mf_not(by_z)), low,
              high);
}

static __attribute__((noinline)) void capsule_box(PairTest *test) {
    const mf_lane one = mf_set((mf_real)1), radius = half(&test->a, 0);
    const mf_lane alike = mf_set((mf_real)0.9);
    Stick stick = {
        mat_apply_transposed(&test->b.rotation, vec_sub(test->a.position, test->b.position)),
        vec_scale(mat_apply_transposed(&test->b.rotation, axis_z(&test->a.rotation)),
                  half(&test->a, 1)),
        halves(&test->b)};
    mf_lane t = stick_nearest(&stick), length, low, high;
    Vec inner, out_low, out_high;
    mf_lane inner_axis = stick_leave(&stick, &inner);
    Vec out = unit_or(stick_excess(&stick, t), inner, &length);
    mf_mask outside = mf_less(mf_set(NOISE) * test->scale, length);
    out = vec_select(outside, out, inner);
    mf_lane distance = mf_select(outside, -length, inner_axis);
    Vec size = {mf_abs(out.x), mf_abs(out.y), mf_abs(out.z)};
    mf_mask by_x = mf_and(mf_less_equal(size.y, size.x), mf_less_equal(size.z, size.x));
    mf_mask by_y = mf_and(mf_not(by_x), mf_less_equal(size.z, size.y));
    Vec face = signed_axis(by_x, by_y, out);
    mf_lane edge = vec_pick(by_x, by_y, stick.size);
    stick_part(&stick, outside, out, by_x, by_y, &low, &high);
    mf_lane along_low = stick_touch(&stick, low, face, edge, &out_low);
    mf_lane along_high = stick_touch(&stick, high, face, edge, &out_high);
    mf_mask long_part = mf_less(low, high);

    // A core that is inside touches with the deeper end of that part, and where it leaves by an
    // edge with the middle; one that is parallel with an end, not anywhere.
    mf_mask straight = mf_less(mf_set((mf_real)(1 - NOISE)), vec_dot(face, out));
    mf_lane middle = mf_clamp((low + high) * mf_set((mf_real)0.5), -one, one);
    mf_lane deeper = mf_select(mf_less(along_low, along_high), high, low);
    mf_lane inside_t = mf_select(mf_and(straight, long_part), deeper, middle);
    mf_lane slack = distance - mf_set(NOISE) * test->scale;
    mf_mask at_low = mf_and(long_part, mf_less_equal(slack, along_low));
    mf_mask at_high = mf_and(long_part, mf_less_equal(slack, along_high));
    t = mf_select(outside, mf_select(at_low, low, mf_select(at_high, high, t)), inside_t);
    put_leaving(test, 0, mf_mask_all(), vec_fma(stick.along, t, stick.center), radius, out,
                distance);
    mf_mask to_high = mf_less(t - low, high - t);
    Vec other = vec_select(to_high, out_high, out_low);
    mf_mask second = mf_and(long_part, mf_less(alike, vec_dot(other, out)));
    t = mf_select(to_high, high, low);
    put_leaving(test, 1, second, vec_fma(stick.along, t, stick.center), radius, other,
                mf_min(distance, mf_select(to_high, along_high, along_low)));
}

// ---- cylinder -----------------------------------------------------------------------------------

static void sphere_cylinder(PairTest *test) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane wide = half(&test->b, 0), tall = half(&test->b, 1), away, length;
    Vec core = mat_apply_transposed(&test->b.rotation, vec_sub(test->a.position, test->b.position));
    Vec radial = unit_or(MF_VALUE(Vec, core.x, core.y, zero), constant_vec(1, 0, 0), &away);
    mf_lane left = wide - away, left_z = tall - mf_abs(core.z);
    mf_mask by_end = mf_less(left_z, left);
    Vec inner = vec_select(by_end, MF_VALUE(Vec, zero, zero, with_sign(one, core.z)), radial);
    Vec excess = vec_scale(radial, mf_max(-left, zero));
    excess.z = core.z - mf_clamp(core.z, -tall, tall);
    Vec out = unit_or(excess, inner, &length);
    mf_mask outside = mf_less(zero, length);
    put_leaving(test, 0, mf_mask_all(), core, half(&test->a, 0), out,
                mf_select(outside, -length, mf_min(left, left_z)));
}
