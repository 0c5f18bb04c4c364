// The shortest path of a string from one point to another around a sphere or an infinite cylinder,
// in lanes. All points are in the frame of the shape; the cylinder's axis is z.
//
// Around a sphere the path stays in the plane of the two points and the center; around a cylinder
// it is projected along the axis, and its height changes linearly with the path length. So both are
// a string around a circle: two tangents and an arc between them. A side point selects the arc; one
// inside the shape makes the string pass through the circle's inside instead, touching it in one
// point, which is computed by Newton's method. The cases and tolerances are those of MuJoCo 4.0,
// determined from its results, so that paths change from straight to wrapped in the same states.
#pragma once

#include "math/lane.h"

#include "math/lane_functions.h"

#define MF_WRAP_TINY ((mf_real)1e-15) // as MuJoCo's mjMINVAL
enum { MF_WRAP_ROUNDS = 20 };         // of Newton's method

typedef struct mf_Bend {
    mf_mask bends;          // else the path is straight
    mf_lane length;         // [m] on the surface
    mf_lane from[3], to[3]; // [m] where the string touches and leaves the surface
} mf_Bend;

static inline mf_lane mf_wrap_dot2(const mf_lane a[2], const mf_lane b[2]) {
    return mf_fma(a[0], b[0], a[1] * b[1]);
}

static inline mf_lane mf_wrap_dot3(const mf_lane a[3], const mf_lane b[3]) {
    return mf_fma(a[0], b[0], mf_fma(a[1], b[1], a[2] * b[2]));
}

static inline void mf_wrap_cross(mf_lane out[3], const mf_lane a[3], const mf_lane b[3]) {
    out[0] = mf_fma(a[1], b[2], -(a[2] * b[1]));
    out[1] = mf_fma(a[2], b[0], -(a[0] * b[2]));
    out[2] = mf_fma(a[0], b[1], -(a[1] * b[0]));
}

static inline mf_lane mf_wrap_one(void) {
    return mf_set((mf_real)1);
}

static inline mf_lane mf_wrap_tiny(void) {
    return mf_set(MF_WRAP_TINY);
}

// Arc sine, for what rounding leaves within its range.
static inline mf_lane mf_wrap_asin(mf_lane x) {
    mf_lane rest = mf_max(mf_fma(-x, x, mf_wrap_one()), mf_zero());
    return mf_atan2_lane(x, mf_sqrt(rest));
}

// Whether the segments a-b and c-d intersect.
static inline mf_mask mf_wrap_hit(const mf_lane a[2], const mf_lane b[2], const mf_lane c[2],
                                  const mf_lane d[2]) {
    const mf_lane zero = mf_zero(), one = mf_wrap_one();
    const mf_lane ab[2] = {b[0] - a[0], b[1] - a[1]}, cd[2] = {d[0] - c[0], d[1] - c[1]},
                  ca[2] = {a[0] - c[0], a[1] - c[1]};
    mf_lane det = mf_fma(cd[1], ab[0], -(cd[0] * ab[1]));
    mf_mask skew = mf_not(mf_less(mf_abs(det), mf_wrap_tiny()));
    det = mf_select(skew, det, one);
    mf_lane s = mf_fma(cd[0], ca[1], -(cd[1] * ca[0])) / det;
    mf_lane t = mf_fma(ab[0], ca[1], -(ab[1] * ca[0])) / det;
    mf_mask in = mf_and(mf_and(mf_less_equal(zero, s), mf_less_equal(s, one)),
                        mf_and(mf_less_equal(zero, t), mf_less_equal(t, one)));
    return mf_and(skew, in);
}

// Where the segment a-b is nearest to the origin.
static inline void mf_wrap_nearest(mf_lane out[2], const mf_lane a[2], const mf_lane b[2]) {
    const mf_lane direction[2] = {b[0] - a[0], b[1] - a[1]};
    mf_lane square = mf_max(mf_wrap_dot2(direction, direction), mf_wrap_tiny());
    mf_lane part = mf_clamp(-(mf_wrap_dot2(a, direction) / square), mf_zero(), mf_wrap_one());
    out[0] = mf_fma(part, direction[0], a[0]);
    out[1] = mf_fma(part, direction[1], a[1]);
}

typedef struct mf_Arc {
    mf_lane from[2], to[2];
    mf_lane worth; // the larger is chosen
} mf_Arc;

// One of the two arcs between the tangents from a and b, turning by `sign`; a shorter chord has the
// higher value, unless the tangents intersect.
static inline mf_Arc mf_wrap_arc(const mf_lane a[2], const mf_lane b[2], mf_real sign,
                                 mf_lane radius) {
    const mf_lane square = radius * radius, direction = mf_set(sign) * radius;
    const mf_lane aa = mf_wrap_dot2(a, a), bb = mf_wrap_dot2(b, b);
    const mf_lane ra = direction * mf_sqrt(mf_max(aa - square, mf_zero())),
                  rb = direction * mf_sqrt(mf_max(bb - square, mf_zero()));
    mf_Arc arc = {
        .from = {mf_fma(a[0], square, a[1] * ra) / aa, mf_fma(a[1], square, -(a[0] * ra)) / aa},
        .to = {mf_fma(b[0], square, -(b[1] * rb)) / bb, mf_fma(b[1], square, b[0] * rb) / bb}};
    const mf_lane chord[2] = {arc.from[0] - arc.to[0], arc.from[1] - arc.to[1]};
    arc.worth = mf_select(mf_wrap_hit(a, arc.from, b, arc.to), mf_set((mf_real)-10000),
                          -mf_wrap_dot2(chord, chord));
    return arc;
}

static inline mf_lane mf_wrap_rotation(const mf_lane a[2], const mf_lane b[2]) {
    return mf_fma(a[0], b[1], -(a[1] * b[0]));
}

// Around the circle; `side` may be NULL. The side point has an effect where the two points are on
// different sides of its line through the center: then the string passes on its side, also where
// the straight segment would not touch the circle.
static inline mf_mask mf_wrap_outside(const mf_lane a[2], const mf_lane b[2], mf_lane radius,
                                      const mf_lane *side, mf_lane from[2], mf_lane to[2],
                                      mf_lane *length) {
    const mf_lane zero = mf_zero(), square = radius * radius;
    const mf_lane direction[2] = {b[0] - a[0], b[1] - a[1]};
    mf_mask bends = mf_and(mf_not(mf_less(mf_wrap_dot2(a, a), square)),
                           mf_not(mf_less(mf_wrap_dot2(b, b), square)));
    bends = mf_and(bends, mf_not(mf_less(mf_wrap_dot2(direction, direction), mf_wrap_tiny())));
    const mf_Arc one = mf_wrap_arc(a, b, 1, radius), two = mf_wrap_arc(a, b, -1, radius);
    mf_mask first = mf_less(two.worth, one.worth);
    mf_lane nearest[2];
    mf_wrap_nearest(nearest, a, b);
    mf_mask clear = mf_less(square, mf_wrap_dot2(nearest, nearest));
    if (side != NULL) {
        const mf_mask counts = mf_less(mf_wrap_rotation(side, a) * mf_wrap_rotation(side, b), zero);
        const mf_mask passed = mf_less_equal(zero, mf_wrap_dot2(side, nearest));
        const mf_mask sided = mf_less(zero, mf_wrap_rotation(direction, side));
        clear = mf_and(clear, mf_or(mf_not(counts), passed));
        first = mf_or(mf_and(counts, sided), mf_and(mf_not(counts), first));
    }
    bends = mf_and(bends, mf_not(clear));
    for (int i = 0; i < 2; i++) {
        from[i] = mf_select(first, one.from[i], two.from[i]);
        to[i] = mf_select(first, one.to[i], two.to[i]);
    }
    bends = mf_and(bends, mf_not(mf_wrap_hit(a, from, b, to)));
    // The arc of the chosen sense, which may be more than half the circle.
    const mf_lane sine_part = mf_wrap_rotation(to, from);
    const mf_lane angle = mf_atan2_lane(mf_abs(sine_part), mf_wrap_dot2(from, to));
    const mf_mask long_arc = mf_or(mf_and(mf_less(zero, sine_part), mf_not(first)),
                                   mf_and(mf_less(sine_part, zero), first));
    const mf_lane whole = mf_set((mf_real)6.283185307179586);
    *length = radius * mf_select(long_arc, whole - angle, angle);
    return bends;
}

typedef struct mf_Touching { // of the string inside the circle (mf_wrap_inside)
    mf_lane part[2];         // radius over the distance of each end
    mf_lane between;         // [rad] angle between the ends
} mf_Touching;

// asin(A z) + asin(B z) - 2 asin(z) + G, and its slope.
static inline mf_lane mf_wrap_error(const mf_Touching *t, mf_lane z, mf_lane *slope) {
    const mf_lane one = mf_wrap_one(), two = one + one, tiny = mf_wrap_tiny();
    const mf_lane u = t->part[0] * z, v = t->part[1] * z;
    const mf_lane root[3] = {mf_sqrt(mf_max(mf_fma(-u, u, one), mf_zero())),
                             mf_sqrt(mf_max(mf_fma(-v, v, one), mf_zero())),
                             mf_sqrt(mf_max(mf_fma(-z, z, one), mf_zero()))};
    *slope = t->part[0] / mf_max(root[0], tiny) + t->part[1] / mf_max(root[1], tiny) -
             two / mf_max(root[2], tiny);
    return mf_wrap_asin(u) + mf_wrap_asin(v) - two * mf_wrap_asin(z) + t->between;
}

// Newton's method from z = 1 down. Returns the lanes in which it found the touching point.
static inline mf_mask mf_wrap_solve(const mf_Touching *t, mf_lane *z) {
    const mf_lane zero = mf_zero(), small = mf_set((mf_real)1e-6);
    mf_lane slope;
    *z = mf_set((mf_real)(1 - 1e-7));
    mf_lane error = mf_wrap_error(t, *z, &slope);
    mf_mask good = mf_not(mf_less(zero, error)), busy = mf_and(good, mf_less(small, mf_abs(error)));
    for (int i = 0; i < MF_WRAP_ROUNDS && mf_any(busy); i++) {
        mf_mask falls = mf_less(slope, -mf_wrap_tiny());
        mf_lane next = *z - error / mf_select(falls, slope, mf_wrap_one());
        mf_mask step = mf_and(busy, mf_and(falls, mf_less_equal(next, *z)));
        good = mf_and(good, mf_or(mf_not(busy), step));
        *z = mf_select(step, next, *z);
        error = mf_wrap_error(t, *z, &slope);
        good = mf_and(good, mf_not(mf_and(step, mf_less(small, error))));
        busy = mf_and(mf_and(step, good), mf_less(small, mf_abs(error)));
    }
    return mf_and(good, mf_not(busy));
}

// Through the inside of the circle: it touches in one point, where its two parts make equal angles
// with the radius. Without a solution the touching point lies between the directions of the ends.
static inline mf_mask mf_wrap_inside(const mf_lane a[2], const mf_lane b[2], mf_lane radius,
                                     mf_lane touch[2]) {
    const mf_lane zero = mf_zero(), one = mf_wrap_one(), tiny = mf_wrap_tiny();
    const mf_lane size[2] = {mf_sqrt(mf_wrap_dot2(a, a)), mf_sqrt(mf_wrap_dot2(b, b))};
    const mf_lane direction[2] = {b[0] - a[0], b[1] - a[1]},
                  square = mf_wrap_dot2(direction, direction);
    mf_mask bends = mf_and(mf_less(radius, size[0]), mf_less(radius, size[1]));
    // The straight segment already passes through the inside.
    mf_lane part = -(mf_wrap_dot2(a, direction) / mf_max(square, tiny));
    const mf_lane near[2] = {mf_fma(part, direction[0], a[0]), mf_fma(part, direction[1], a[1])};
    mf_mask between = mf_and(mf_less(zero, part), mf_less(part, one));
    mf_mask through = mf_less_equal(mf_wrap_dot2(near, near), radius * radius);
    bends = mf_and(bends, mf_not(mf_and(mf_and(mf_less(tiny, square), between), through)));
    const mf_lane sum[2] = {a[0] + b[0], a[1] + b[1]};
    const mf_lane scale = radius / mf_max(mf_sqrt(mf_wrap_dot2(sum, sum)), tiny);
    touch[0] = sum[0] * scale;
    touch[1] = sum[1] * scale;
    const mf_lane sine_part = mf_fma(a[0], b[1], -(a[1] * b[0])), along = mf_wrap_dot2(a, b);
    const mf_lane cosine = along / mf_max(size[0] * size[1], tiny);
    bends = mf_and(bends, mf_not(mf_less(cosine, tiny - one)));
    const mf_Touching t = {{radius / mf_max(size[0], tiny), radius / mf_max(size[1], tiny)},
                           mf_atan2_lane(mf_abs(sine_part), along)};
    mf_lane z, sine, cos;
    mf_mask found = mf_and(mf_wrap_solve(&t, &z), mf_not(mf_less(one - tiny, cosine)));
    const mf_mask first = mf_less(zero, sine_part);
    const mf_lane angle =
        mf_wrap_asin(z) - mf_wrap_asin(mf_select(first, t.part[0], t.part[1]) * z);
    mf_sin_cos_lane(angle, &sine, &cos);
    const mf_lane distance = mf_max(mf_select(first, size[0], size[1]), tiny);
    const mf_lane unit[2] = {mf_select(first, a[0], b[0]) / distance,
                             mf_select(first, a[1], b[1]) / distance};
    touch[0] = mf_select(found, radius * mf_fma(cos, unit[0], -(sine * unit[1])), touch[0]);
    touch[1] = mf_select(found, radius * mf_fma(sine, unit[0], cos * unit[1]), touch[1]);
    return bends;
}

// The axes of the circle's plane: those of the cylinder, or through both points and the center.
static inline void mf_wrap_plane(bool cylinder, const mf_lane a[3], const mf_lane b[3],
                                 mf_lane axes[2][3]) {
    const mf_lane zero = mf_zero(), one = mf_wrap_one(), tiny = mf_wrap_tiny();
    axes[0][0] = axes[1][1] = one;
    axes[0][1] = axes[0][2] = axes[1][0] = axes[1][2] = zero;
    if (cylinder)
        return;
    mf_lane normal[3], other[3], size = mf_max(mf_sqrt(mf_wrap_dot3(a, a)), tiny);
    for (int i = 0; i < 3; i++)
        axes[0][i] = a[i] / size;
    mf_wrap_cross(normal, a, b);
    // Where both points and the center are on a line, any plane through it does.
    const mf_mask line = mf_less(mf_sqrt(mf_wrap_dot3(normal, normal)), tiny);
    const mf_lane x = mf_abs(axes[0][0]), y = mf_abs(axes[0][1]), z = mf_abs(axes[0][2]);
    const mf_mask is_y = mf_and(mf_less(x, y), mf_less(z, y)),
                  is_z = mf_and(mf_less(x, z), mf_less(y, z));
    const mf_lane ones[3] = {mf_keep(mf_or(is_y, is_z), one), mf_select(is_y, zero, one),
                             mf_select(is_z, zero, one)};
    mf_wrap_cross(other, axes[0], ones);
    for (int i = 0; i < 3; i++)
        normal[i] = mf_select(line, other[i], normal[i]);
    size = mf_max(mf_sqrt(mf_wrap_dot3(normal, normal)), tiny);
    for (int i = 0; i < 3; i++)
        normal[i] = normal[i] / size;
    mf_wrap_cross(axes[1], normal, axes[0]);
    size = mf_max(mf_sqrt(mf_wrap_dot3(axes[1], axes[1])), tiny);
    for (int i = 0; i < 3; i++)
        axes[1][i] = axes[1][i] / size;
}

// The height along a cylinder, which changes linearly with the path length.
static inline void mf_wrap_rise(const mf_lane a[3], const mf_lane b[3], mf_Bend *bend) {
    const mf_lane in[2] = {bend->from[0] - a[0], bend->from[1] - a[1]},
                  out[2] = {b[0] - bend->to[0], b[1] - bend->to[1]};
    const mf_lane before = mf_sqrt(mf_wrap_dot2(in, in)), after = mf_sqrt(mf_wrap_dot2(out, out));
    const mf_lane whole = mf_max(before + bend->length + after, mf_wrap_tiny());
    const mf_lane slope = (b[2] - a[2]) / whole;
    bend->from[2] = mf_fma(slope, before, a[2]);
    bend->to[2] = mf_fma(slope, before + bend->length, a[2]);
    const mf_lane rise = bend->to[2] - bend->from[2];
    bend->length = mf_sqrt(mf_fma(bend->length, bend->length, rise * rise));
}

// From a to b around the shape; `side` may be NULL.
static inline mf_Bend mf_wrap(bool cylinder, mf_lane radius, const mf_lane a[3], const mf_lane b[3],
                              const mf_lane *side) {
    mf_lane axes[2][3], p[2], q[2], s[2], from[2], to[2];
    mf_Bend bend;
    mf_wrap_plane(cylinder, a, b, axes);
    for (int i = 0; i < 2; i++) {
        p[i] = mf_wrap_dot3(a, axes[i]);
        q[i] = mf_wrap_dot3(b, axes[i]);
    }
    const mf_lane tiny = mf_wrap_tiny();
    const mf_mask apart =
        mf_and(mf_less(tiny, mf_wrap_dot3(a, a)), mf_less(tiny, mf_wrap_dot3(b, b)));
    for (int i = 0; side != NULL && i < 2; i++)
        s[i] = mf_wrap_dot3(side, axes[i]);
    bend.bends =
        mf_and(apart, mf_wrap_outside(p, q, radius, side ? s : NULL, from, to, &bend.length));
    const mf_mask inside =
        side ? mf_less(mf_wrap_dot3(side, side), radius * radius) : mf_not(mf_mask_all());
    if (mf_any(inside)) {
        mf_lane touch[2];
        mf_mask bends = mf_and(apart, mf_wrap_inside(p, q, radius, touch));
        bend.bends = mf_or(mf_and(inside, bends), mf_and(mf_not(inside), bend.bends));
        bend.length = mf_select(inside, mf_zero(), bend.length);
        for (int i = 0; i < 2; i++) {
            from[i] = mf_select(inside, touch[i], from[i]);
            to[i] = mf_select(inside, touch[i], to[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        bend.from[i] = mf_fma(axes[0][i], from[0], axes[1][i] * from[1]);
        bend.to[i] = mf_fma(axes[0][i], to[0], axes[1][i] * to[1]);
    }
    if (cylinder)
        mf_wrap_rise(a, b, &bend);
    return bend;
}
