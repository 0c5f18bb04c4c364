// Broad and narrow phase of collisions: which pairs of a plan are near, and where they touch.
#include "contact/collide_box.h"
#include "contact/narrow_any.h"
#include "contact/near_boxes.h"

#if defined(MF_KERNEL_F64)
#define BOUNDS(hulls) mf_hulls_bounds_f64(hulls)
#else
#define BOUNDS(hulls) mf_hulls_bounds_f32(hulls)
#endif

static MF_INLINE const ShapeValue *values_of(const mf_CollidePlan *plan, const Frames *frames,
                                             uint32_t shape) {
    return shape_values(plan, frames->own) + (size_t)shape * MF_COLLIDE_SHAPE_VALUES;
}

// The same of all lanes.
static MF_INLINE mf_real class_margin(const mf_CollidePlan *plan, uint32_t number) {
    return collide_values(plan)[(size_t)plan->shape_count * MF_COLLIDE_SHAPE_VALUES + number];
}

// The axis z of a shape.
static MF_INLINE Vec axis_of(const ShapeValue *values) {
    return MF_VALUE(Vec, shape_value(&values[2]), shape_value(&values[5]), shape_value(&values[8]));
}

static MF_INLINE Vec frame_vec(const mf_lane *frame, uint32_t at) {
    return MF_VALUE(Vec, frame[at], frame[at + 1], frame[at + 2]);
}

// ---- broad phase --------------------------------------------------------------------------------

// Larger by what the roundings of its position can be, so that a pair is never missed: whether a
// pair is examined must not show in any lane.
static MF_INLINE void sphere_store(Vec center, mf_lane radius, mf_lane *sphere) {
    sphere[0] = center.x;
    sphere[1] = center.y;
    sphere[2] = center.z;
    mf_lane size = mf_abs(center.x) + mf_abs(center.y) + mf_abs(center.z);
    sphere[3] = mf_fma(size + radius, mf_set(NOISE), radius);
}

static MF_INLINE void sphere_of_shape(const mf_CollidePlan *plan, uint32_t i, const Frames *frames,
                                      mf_lane *sphere) {
    const mf_CollideShape *shape = &mf_collide_shapes(plan)[i];
    const ShapeValue *values = values_of(plan, frames, i);
    Vec position = shape_vec(values + MF_COLLIDE_POSITION);
    if (shape->frame != MF_NONE) {
        const mf_lane *frame = frames->first + shape->frame * frames->stride;
        position = MF_VALUE(Vec, vec_dot_add(frame_vec(frame, 0), position, frame[9]),
                            vec_dot_add(frame_vec(frame, 3), position, frame[10]),
                            vec_dot_add(frame_vec(frame, 6), position, frame[11]));
    }
    sphere_store(position, shape_value(&values[MF_COLLIDE_RADIUS]), sphere);
}

// A sphere about two: centered in the middle of the line between the far sides.
static MF_INLINE void sphere_around(const mf_lane *a, const mf_lane *b, mf_lane *sphere) {
    const mf_lane middle = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    Vec offset = vec_sub(frame_vec(b, 0), frame_vec(a, 0));
    mf_lane square = vec_dot(offset, offset);
    mf_mask fine = mf_less(TINY, square);
    mf_lane length = mf_sqrt(mf_select(fine, square, TINY));
    mf_lane radius = middle * (length + a[3] + b[3]);
    radius = mf_max(mf_max(a[3], b[3]), radius);
    // Held by the larger: then no step; else from a by what its own radius leaves over.
    mf_lane t = mf_clamp((radius - a[3]) / length, mf_zero(), one);
    Vec center = vec_fma(offset, t, frame_vec(a, 0));
    sphere_store(center, radius, sphere);
}

// True in lanes in which the sphere is not clear of the plane shape i.
static mf_mask near_plane(const mf_CollidePlan *plan, uint32_t i, const Frames *frames,
                          const mf_lane *plane, const mf_lane *sphere, mf_lane more) {
    const mf_CollideShape *shape = &mf_collide_shapes(plan)[i];
    const ShapeValue *values = values_of(plan, frames, i);
    Vec up = axis_of(values);
    if (shape->frame != MF_NONE) {
        const mf_lane *frame = frames->first + shape->frame * frames->stride;
        up = MF_VALUE(Vec, vec_dot(frame_vec(frame, 0), up), vec_dot(frame_vec(frame, 3), up),
                      vec_dot(frame_vec(frame, 6), up));
    }
    Vec offset = vec_sub(frame_vec(sphere, 0), frame_vec(plane, 0));
    return mf_less(vec_dot(up, offset), sphere[3] + plane[3] + more);
}

static Vec capsule_axis(const mf_CollidePlan *plan, uint32_t i, const Frames *frames) {
    const mf_CollideShape *shape = &mf_collide_shapes(plan)[i];
    const ShapeValue *values = values_of(plan, frames, i);
    Vec axis = axis_of(values);
    if (shape->frame == MF_NONE)
        return axis;
    const mf_lane *frame = frames->first + shape->frame * frames->stride;
    return MF_VALUE(Vec, vec_dot(frame_vec(frame, 0), axis), vec_dot(frame_vec(frame, 3), axis),
                    vec_dot(frame_vec(frame, 6), axis));
}

static bool is_kind(const mf_CollidePlan *plan, uint32_t node, mf_CollideKind kind) {
    return node < plan->shape_count && mf_collide_shapes(plan)[node].kind == kind;
}

// Whether a sphere or capsule and a capsule are near in some lane: the spheres about long ones are
// much more often than they are. A percent of their size is far more than what roundings can hide.
static bool near_capsules(const mf_CollidePlan *plan, const Frames *frames, uint32_t a, uint32_t b,
                          const mf_lane *spheres, mf_lane more) {
    const mf_lane *axes = spheres + 4 * (size_t)plan->node_count;
    const mf_lane length_b = shape_value(&values_of(plan, frames, b)[MF_COLLIDE_HALF + 1]);
    mf_lane scale = spheres[4 * (size_t)a + 3] + spheres[4 * (size_t)b + 3], s, t;
    mf_lane sum = mf_fma(scale, mf_set((mf_real)1.01), more) - length_b;
    Vec v = frame_vec(axes, 3 * b), gap;
    Vec offset = vec_sub(frame_vec(spheres, 4 * b), frame_vec(spheres, 4 * a));
    if (is_kind(plan, a, MF_COLLIDE_CAPSULE)) {
        const mf_lane length_a = shape_value(&values_of(plan, frames, a)[MF_COLLIDE_HALF + 1]);
        Vec u = frame_vec(axes, 3 * a);
        segments_nearest(u, length_a, v, length_b, offset, &s, &t);
        gap = vec_fma(v, t, vec_fma(u, -s, offset));
        sum = sum - length_a;
    } else {
        gap = vec_fma(v, mf_clamp(-vec_dot(offset, v), -length_b, length_b), offset);
    }
    return mf_any(mf_less(vec_dot(gap, gap), sum * sum));
}

// Turns numbers of tests into those of their pairs, and leaves out what is not near after all. In a
// pass of its own: whether it is cannot be foretold, and the tests before it do not wait for that.
static uint32_t sift(const mf_CollidePlan *plan, const Frames *frames, const mf_lane *spheres,
                     mf_lane more, uint32_t *near, uint32_t count) {
    const mf_CollideTest *tests = mf_collide_tests(plan);
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mf_CollideTest *test = &tests[near[i]];
        bool any = true;
        if (is_kind(plan, test->nodes[1], MF_COLLIDE_CAPSULE) && !test->plane)
            any = near_capsules(plan, frames, test->nodes[0], test->nodes[1], spheres, more);
        near[left] = test->pair;
        left += any;
    }
    return left;
}

uint32_t MF_COLLIDE_KERNEL(mf_collide_near)(const mf_CollidePlan *plan, const Frames *frames,
                                            mf_real reach, NearSearch *search) {
    const mf_lane more = mf_set(reach + (mf_real)plan->margin);
    mf_lane *spheres = search->spheres;
    uint32_t *near = search->near;
    const mf_CollideTest *tests = mf_collide_tests(plan);
    const mf_CollideNode *nodes = mf_collide_nodes(plan);
    for (uint32_t i = 0; i < plan->shape_count; i++)
        sphere_of_shape(plan, i, frames, spheres + 4 * (size_t)i);
    for (uint32_t i = plan->shape_count; i < plan->node_count; i++) {
        const uint32_t *children = nodes[i - plan->shape_count].children;
        sphere_around(spheres + 4 * (size_t)children[0], spheres + 4 * (size_t)children[1],
                      spheres + 4 * (size_t)i);
    }
    for (uint32_t i = 0; i < plan->shape_count; i++) {
        if (!is_kind(plan, i, MF_COLLIDE_CAPSULE))
            continue;
        Vec axis = capsule_axis(plan, i, frames);
        mf_lane *out = spheres + 4 * (size_t)plan->node_count + 3 * (size_t)i;
        out[0] = axis.x;
        out[1] = axis.y;
        out[2] = axis.z;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->test_count; i++) {
        const mf_CollideTest *test = &tests[i];
        const mf_lane *a = spheres + 4 * (size_t)test->nodes[0],
                      *b = spheres + 4 * (size_t)test->nodes[1];
        Vec offset = vec_sub(frame_vec(b, 0), frame_vec(a, 0));
        mf_lane sum = a[3] + b[3] + more;
        mf_mask close = mf_less(vec_dot(offset, offset), sum * sum);
        if (test->plane)
            close = near_plane(plan, test->nodes[0], frames, a, b, more);
        bool any = mf_any(close);
        if (test->pair != MF_NONE) {
            near[count] = i;
            count += any;
        } else if (!any) {
            i += test->skip;
        }
    }
    if (plan->floating_count > 0)
        boxes_build(plan, more, search);
    return sift(plan, frames, spheres, more, near, count);
}

// The near pairs of a floating shape and those behind it, to near[at]; returns how many.
static uint32_t near_floating(const mf_CollidePlan *plan, const Frames *frames, mf_lane more,
                              const NearSearch *search, uint32_t at) {
    const mf_CollideFloating *floating = mf_collide_floating(plan);
    const uint32_t first = search->next, own = floating[first].shape;
    const mf_lane *spheres = search->spheres, *a = spheres + 4 * (size_t)own;
    const uint32_t *classes =
        mf_collide_surfaces(plan) + (size_t)floating[first].surface * plan->surface_count;
    uint32_t *near = search->near + at, left = 0;
    const uint32_t count = boxes_near(plan, search, first, near);
    for (uint32_t i = 0; i < count; i++) {
        const mf_CollideFloating *other = &floating[near[i]];
        const mf_lane *b = spheres + 4 * (size_t)other->shape;
        if (other->body == floating[first].body || classes[other->surface] == MF_NONE)
            continue;
        const Vec offset = vec_sub(frame_vec(b, 0), frame_vec(a, 0));
        const mf_lane sum = a[3] + b[3] + more;
        if (mf_any(mf_less(vec_dot(offset, offset), sum * sum)) &&
            (!is_kind(plan, other->shape, MF_COLLIDE_CAPSULE) ||
             near_capsules(plan, frames, own, other->shape, spheres, more)))
            near[left++] = mf_collide_number(plan, first, near[i]);
    }
    return left;
}

uint32_t MF_COLLIDE_KERNEL(mf_collide_near_more)(const mf_CollidePlan *plan, const Frames *frames,
                                                 mf_real reach, NearSearch *search) {
    const mf_lane more = mf_set(reach + (mf_real)plan->margin);
    const uint32_t most = plan->floating_count;
    uint32_t count = 0;
    for (; search->next < most && count + most - search->next <= near_most(plan); search->next++)
        count += near_floating(plan, frames, more, search, count);
    return count;
}

// ---- narrow phase -------------------------------------------------------------------------------

static mf_lane frame_sum(const mf_lane *frame) {
    mf_lane a = frame[0] + frame[1] + frame[2], b = frame[3] + frame[4] + frame[5];
    mf_lane c = frame[6] + frame[7] + frame[8], d = frame[9] + frame[10] + frame[11];
    return (a + b) + (c + d);
}

// Positions a shape; of its axes only z when it is `round`. Returns the lanes in which its frame is
// finite.
static mf_mask solid_position(const mf_CollidePlan *plan, uint32_t i, const Frames *frames,
                              bool round, Solid *solid) {
    const mf_CollideShape *shape = &mf_collide_shapes(plan)[i];
    const ShapeValue *values = values_of(plan, frames, i);
    const Vec rows[3] = {shape_vec(values), shape_vec(values + 3), shape_vec(values + 6)};
    solid->kind = shape->kind;
    solid->values = values;
    solid->hull =
        shape->kind == MF_COLLIDE_HULL ? mf_hull_of(mf_collide_hulls(plan), shape->hull) : NULL;
    solid->rotation = MF_VALUE(Mat, rows[0].x, rows[0].y, rows[0].z, rows[1].x, rows[1].y,
                               rows[1].z, rows[2].x, rows[2].y, rows[2].z);
    solid->position = shape_vec(values + MF_COLLIDE_POSITION);
    if (shape->frame == MF_NONE)
        return mf_mask_all();
    const mf_lane *frame = frames->first + shape->frame * frames->stride;
    Mat rotation = {frame[0], frame[1], frame[2], frame[3], frame[4],
                    frame[5], frame[6], frame[7], frame[8]};
    if (round) {
        Vec z = mat_apply(&rotation, axis_z(&solid->rotation));
        solid->rotation.xz = z.x;
        solid->rotation.yz = z.y;
        solid->rotation.zz = z.z;
    } else {
        solid->rotation = mat_times(&rotation, &solid->rotation);
    }
    solid->position = mat_apply_add(&rotation, solid->position, frame_vec(frame, 9));
    return mf_finite(frame_sum(frame));
}

typedef struct BoxGap { // the largest gap between two boxes along one of their axes
    mf_lane gap;        // [m] < 0: they overlap along all
    Vec axis;           // [1] from the first to the second, axes of the first
} BoxGap;

static MF_INLINE void gap_take(mf_lane distance, mf_lane reach, Vec axis, BoxGap *best) {
    mf_lane gap = mf_abs(distance) - reach;
    mf_mask better = mf_less(best->gap, gap);
    best->gap = mf_select(better, gap, best->gap);
    axis = vec_select(mf_less(distance, mf_zero()), vec_minus(axis), axis);
    best->axis = vec_select(better, axis, best->axis);
}

static BoxGap box_gap(const ShapeValue *box_a, const ShapeValue *box_b, const Solid *a,
                      const Solid *b) {
    const Mat rotation = mat_transposed_times(&a->rotation, &b->rotation);
    const Vec half_a = shape_vec(box_a + MF_COLLIDE_BOX_HALF),
              half_b = shape_vec(box_b + MF_COLLIDE_BOX_HALF);
    Vec offset = mat_apply_transposed(&a->rotation, vec_sub(b->position, a->position));
    offset = vec_sub(mat_apply_add(&rotation, shape_vec(box_b + MF_COLLIDE_BOX_MIDDLE), offset),
                     shape_vec(box_a + MF_COLLIDE_BOX_MIDDLE));
    const Vec back = mat_apply_transposed(&rotation, offset);
    const Mat wide = {mf_abs(rotation.xx), mf_abs(rotation.xy), mf_abs(rotation.xz),
                      mf_abs(rotation.yx), mf_abs(rotation.yy), mf_abs(rotation.yz),
                      mf_abs(rotation.zx), mf_abs(rotation.zy), mf_abs(rotation.zz)};
    const Vec reach_a = mat_apply_add(&wide, half_b, half_a);
    const Vec reach_b = vec_add(mat_apply_transposed(&wide, half_a), half_b);
    BoxGap best = {mf_set(-MF_REAL_MAX), constant_vec(0, 0, 1)};
    gap_take(offset.x, reach_a.x, constant_vec(1, 0, 0), &best);
    gap_take(offset.y, reach_a.y, constant_vec(0, 1, 0), &best);
    gap_take(offset.z, reach_a.z, constant_vec(0, 0, 1), &best);
    gap_take(back.x, reach_b.x, MF_VALUE(Vec, rotation.xx, rotation.yx, rotation.zx), &best);
    gap_take(back.y, reach_b.y, MF_VALUE(Vec, rotation.xy, rotation.yy, rotation.zy), &best);
    gap_take(back.z, reach_b.z, MF_VALUE(Vec, rotation.xz, rotation.yz, rotation.zz), &best);
    return best;
}

// At least how far a hull goes along `direction`, its axes, times `scale`, which makes the largest
// component of `direction` 1.
static mf_lane hull_bound(const mf_real *bounds, Vec direction, mf_lane *scale) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const mf_lane half = mf_set((mf_real)(MF_HULL_SQUARES / 2)), last = half + half - one;
    const mf_real row = MF_HULL_SQUARES + 1;
    const mf_lane x = mf_abs(direction.x), y = mf_abs(direction.y), z = mf_abs(direction.z);
    const mf_mask by_z = mf_and(mf_less(x, z), mf_less(y, z));
    const mf_mask by_y = mf_and(mf_less(x, y), mf_not(by_z));
    const mf_lane most = mf_select(by_z, direction.z, mf_select(by_y, direction.y, direction.x));
    *scale = one / mf_abs(most);
    mf_lane u = mf_select(by_z, direction.x, mf_select(by_y, direction.z, direction.y)) * *scale;
    mf_lane v = mf_select(by_z, direction.y, mf_select(by_y, direction.x, direction.z)) * *scale;
    u = mf_clamp(mf_fma(u, half, half), zero, last + one);
    v = mf_clamp(mf_fma(v, half, half), zero, last + one);
    mf_lane column = mf_min(mf_from_index(mf_to_index(u)), last);
    mf_lane line = mf_min(mf_from_index(mf_to_index(v)), last);
    u = u - column;
    v = v - line;
    mf_lane face = mf_select(by_z, mf_set((mf_real)4), mf_select(by_y, mf_set((mf_real)2), zero));
    face = face + mf_select(mf_less(most, zero), one, zero);
    line = mf_fma(face, mf_set(row), line);
    const mf_index at = mf_to_index(mf_fma(line, mf_set(row), column));
    const mf_index up = at + mf_set_index(MF_HULL_SQUARES + 1), side = mf_set_index(1);
    mf_lane low = mf_gather(bounds, at), high = mf_gather(bounds, up);
    low = mf_fma(u, mf_gather(bounds, at + side) - low, low);
    high = mf_fma(u, mf_gather(bounds, up + side) - high, high);
    return mf_fma(v, high - low, low);
}

// At least how far the surface of a solid goes along the unit vector `direction` of its axes.
static mf_lane solid_bound(const mf_CollidePlan *plan, const Solid *solid, Vec direction) {
    if (solid->kind != MF_COLLIDE_HULL)
        return vec_dot(core_reach(solid, direction, mf_mask_all()), direction) + core_radius(solid);
    mf_lane scale;
    const size_t hull = solid->hull->number;
    const mf_real *bounds = BOUNDS(mf_collide_hulls(plan)) + hull * MF_HULL_BOUNDS;
    mf_lane bound = hull_bound(bounds, direction, &scale);
    return bound / scale;
}

// Leaves out the lanes in which the solids are clearly apart along `direction` [1], axes of a.
static void reject_along(const mf_CollidePlan *plan, const Mat *rotation, Vec position,
                         Vec direction, mf_lane *least, PairTest *test) {
    const mf_lane slack = mf_set((mf_real)1e-4) * test->scale;
    const Vec back = vec_minus(mat_apply_transposed(rotation, direction));
    mf_lane level = solid_bound(plan, &test->a, direction) + solid_bound(plan, &test->b, back);
    level = level - vec_dot(position, direction);
    test->sound = mf_and(test->sound, mf_not(mf_less(level, test->bound - slack)));
    mf_mask better = mf_less(level, *least);
    *least = mf_select(better, level, *least);
    test->start = vec_select(better, direction, test->start);
}

// Leaves out the lanes that are clearly apart: whose boxes are, or the solids along the axis of
// the largest gap between the boxes, the way between the centers, or the middle of both. The
// search starts from the best of these.
static void reject_apart(const mf_CollidePlan *plan, const Frames *frames,
                         const mf_CollidePair *pair, PairTest *test) {
    const BoxGap best = box_gap(shape_values(plan, frames->own) + mf_collide_box_at(plan, pair->a),
                                shape_values(plan, frames->own) + mf_collide_box_at(plan, pair->b),
                                &test->a, &test->b);
    const mf_lane slack = mf_set((mf_real)1e-4) * test->scale;
    test->sound = mf_and(test->sound, mf_less(best.gap, slack - test->bound));
    test->start = best.axis;
    test->boxed = true;
    if (!mf_any(test->sound))
        return;
    const Mat rotation = mat_transposed_times(&test->a.rotation, &test->b.rotation);
    const Vec position =
        mat_apply_transposed(&test->a.rotation, vec_sub(test->b.position, test->a.position));
    mf_lane least = mf_set(MF_REAL_MAX), length;
    const Vec center = unit_or(position, best.axis, &length);
    reject_along(plan, &rotation, position, best.axis, &least, test);
    reject_along(plan, &rotation, position, center, &least, test);
    if (mf_any(test->sound))
        reject_along(plan, &rotation, position,
                     unit_or(vec_add(center, best.axis), center, &length), &least, test);
}

static bool is_searched(mf_CollideKind a, mf_CollideKind b) {
    const bool round = a == MF_COLLIDE_SPHERE && b == MF_COLLIDE_CYLINDER;
    return b == MF_COLLIDE_HULL || mf_collide_is_curved(a) || (mf_collide_is_curved(b) && !round);
}

void MF_COLLIDE_KERNEL(mf_collide_pair)(const mf_CollidePlan *plan, uint32_t pair,
                                        const Frames *frames, mf_real reach, Manifold *out) {
    const mf_CollidePair found = mf_collide_pair_of(plan, pair), *item = &found;
    PairTest test = {.out = out};
    // Spheres and capsules among themselves: what they do depends on their long axis at most.
    const bool round = mf_collide_shapes(plan)[item->a].kind != MF_COLLIDE_PLANE &&
                       mf_collide_shapes(plan)[item->b].kind <= MF_COLLIDE_CAPSULE;
    mf_mask sound_a = solid_position(plan, item->a, frames, round, &test.a);
    test.sound = mf_and(sound_a, solid_position(plan, item->b, frames, round, &test.b));
    const mf_lane radius_a = radius_of(&test.a), radius_b = radius_of(&test.b);
    const mf_real margin = class_margin(plan, item->touches);
    test.bound = mf_set(-(margin + reach));
    test.wide = margin > 0;
    test.scale = test.a.kind == MF_COLLIDE_PLANE ? radius_b : radius_a + radius_b;
    test.small = mf_min(radius_a, radius_b);
    out->count = 0;
    out->unsure = mf_not(mf_mask_all());
    out->gap = mf_zero();
    if (test.a.kind != MF_COLLIDE_PLANE && is_searched(test.a.kind, test.b.kind))
        reject_apart(plan, frames, item, &test);
    if (mf_any(test.sound))
        test_any(&test);
}

#if !defined(MF_COLLIDE_VARIED)
void MF_KERNEL(mf_hull_on_plane)(const mf_ConvexHull *hull, mf_mask where, Vec up,
                                 HullCorners *out) {
    hull_on_plane(hull, where, up, out);
}
#endif
