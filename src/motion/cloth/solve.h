// One pass over constraints: extended position-based dynamics with one iteration a substep (Macklin
// et al. 2016, equations 17 and 18; 2019, algorithm 1), so that the multiplier begins at zero:
//
//   dlambda = -(C + g grad C . d) / ((1 + g) sum w |grad C|^2 + a),   dx = w grad C dlambda
//
// a is the compliance over the substep's square, g the damping time over the substep (2016,
// equation 26, with damping in proportion to stiffness), d the way since the substep began.
#pragma once

#include "math/lane_list.h"
#include "math/lane_vector.h"
#include "motion/cloth/plan.h"

typedef struct Solve { // what all batches of a chunk have in common
    const mf_ClothJob *job;
    mf_real *array[MF_CLOTH_WORK];
    const mf_real *values;
    const int32_t *slots;
    mf_real stiffening; // [1/s^2] compliance of a substep over that of the constraint
    mf_real damping;    // [1] g
    mf_real substep;    // [s]
    uint32_t chunk;     // [1]
} Solve;

typedef struct Batch { // some lanes of one
    const Solve *solve;
    const mf_ClothBatch *batch;
    uint32_t lane; // [1] the first
    bool apart;    // its nodes are in the slots of a list
    bool pulls;    // pushes on its vertices are summed
    bool damped;
    bool tears;     // constraints may be gone, and elements may tear
    uint32_t index; // [1] of the batch
    mf_mask whole;  // lanes whose constraint is there
    bool keeps;     // residuals are asked for
} Batch;

static MF_INLINE mf_index slots_of(const Batch *b, uint32_t node) {
    return mf_load_index(b->solve->slots + b->batch->slots + node * MF_CLOTH_LANES + b->lane);
}

static MF_INLINE mf_lane value_of(const Batch *b, uint32_t row) {
    return mf_load(b->solve->values + (size_t)(b->batch->values + row) * MF_CLOTH_LANES + b->lane);
}

static MF_INLINE mf_lane node_value(const Batch *b, uint32_t node, uint32_t array) {
    const mf_real *from = b->solve->array[array];
    if (b->apart)
        return mf_gather(from, slots_of(b, node));
    return mf_load_any(from + b->batch->at[node] + b->lane);
}

static MF_INLINE void node_put(const Batch *b, uint32_t node, uint32_t array, mf_lane value) {
    mf_real *to = b->solve->array[array];
    if (b->apart) {
        mf_scatter(mf_mask_all(), to, slots_of(b, node), value);
        return;
    }
    memcpy(to + b->batch->at[node] + b->lane, &value, sizeof value);
}

static MF_INLINE Vec node_vec(const Batch *b, uint32_t node, uint32_t array) {
    return MF_VALUE(Vec, node_value(b, node, array), node_value(b, node, array + 1),
                    node_value(b, node, array + 2));
}

static MF_INLINE void node_put_vec(const Batch *b, uint32_t node, uint32_t array, Vec value) {
    node_put(b, node, array, value.x);
    node_put(b, node, array + 1, value.y);
    node_put(b, node, array + 2, value.z);
}

typedef struct Node {
    Vec x;            // [m]
    Vec displacement; // [m] in the substep so far; of damped constraints
    mf_lane w;        // [1/kg]
} Node;

static MF_INLINE Node node_load(const Batch *b, uint32_t node) {
    Node out;
    out.x = node_vec(b, node, MF_CLOTH_X);
    out.w = node_value(b, node, MF_CLOTH_W);
    out.displacement = out.x;
    if (b->damped)
        out.displacement = vec_fma(node_vec(b, node, MF_CLOTH_V), mf_set(b->solve->substep),
                                   vec_sub(out.x, node_vec(b, node, MF_CLOTH_P)));
    return out;
}

// Adds the push [N s^2] to the node; the caller stores it.
static MF_INLINE void node_push(const Batch *b, uint32_t node, Node *n, Vec gradient, mf_lane by) {
    const mf_lane step = n->w * by;
    if (b->pulls) {
        Vec sum = node_vec(b, node, MF_CLOTH_Q);
        node_put_vec(b, node, MF_CLOTH_Q, vec_fma(gradient, by, sum));
    }
    n->x = vec_fma(gradient, step, n->x);
    if (b->damped)
        n->displacement = vec_fma(gradient, step, n->displacement);
}

static MF_INLINE mf_lane compliance(const Batch *b, uint32_t row) {
    return value_of(b, row) * mf_set(b->solve->stiffening);
}

// The denominator that `weight`, the sum of w |grad C|^2, and the compliance make.
static MF_INLINE mf_lane resistance(const Batch *b, mf_lane weight, mf_lane a) {
    return b->damped ? mf_fma(weight, mf_set(1 + b->solve->damping), a) : weight + a;
}

// ---- residuals ---------------------------------------------------------------------------------

static MF_INLINE mf_real *after_row(const Batch *b, uint32_t row) {
    return (mf_real *)b->solve->job->after +
           ((size_t)b->index * MF_CLOTH_AFTER + row) * MF_CLOTH_LANES + b->lane;
}

// `by` is the constraint over its denominator. It moves by its weight times that, so its compliance
// times that is left.
static MF_INLINE void keep_after(const Batch *b, uint32_t row, mf_lane by, mf_lane a) {
    if (b->keeps)
        mf_store(after_row(b, row), by * mf_min(a, mf_set((mf_real)1e30)));
}

// ---- tearing -----------------------------------------------------------------------------------

static MF_INLINE mf_mask whole_lanes(const Batch *b) {
    MF_ALIGNED(64) mf_real gone[MF_LANES];
    const uint32_t bits = b->solve->job->tear.lanes[b->index];
    if (bits == 0)
        return mf_mask_all();
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        gone[lane] = (mf_real)(bits >> (b->lane + lane) & 1);
    return mf_less(mf_load(gone), mf_set((mf_real)0.5));
}

// A constraint that is gone pushes nothing.
static MF_INLINE mf_lane if_whole(const Batch *b, mf_lane by) {
    return b->tears ? mf_keep(b->whole, by) : by;
}

// Elements whose force, c / (h^2 under), is above that at the strain of tearing. a is the
// compliance over h^2, so the strain that this force makes is a c / (length under).
static MF_INLINE void tear(const Batch *b, mf_lane c, mf_lane length, mf_lane a, mf_lane under) {
    const mf_ClothTear *tear = &b->solve->job->tear;
    const mf_lane most = mf_set((mf_real)b->solve->job->plan->tear_strain) * length * under;
    // Lanes without a constraint have no compliance to speak of.
    const mf_lane never = mf_set((mf_real)MF_CLOTH_NEVER);
    const mf_mask is = mf_and(mf_and(mf_less(most, c * a), mf_less(a, never)), b->whole);
    MF_ALIGNED(64) mf_real torn[MF_LANES];
    if (!mf_any(is))
        return;
    mf_store(torn, mf_keep(is, mf_set((mf_real)1)));
    tear->tears[b->solve->chunk] = 1;
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        if (torn[lane] != 0)
            tear->torn[mf_cloth_elements(
                b->solve->job->plan)[mf_cloth_need_at(b->index, b->lane + lane)]] = 1;
}

// ---- kinds -------------------------------------------------------------------------------------

// C = |x1 - x0| - l.
static MF_INLINE void solve_edge(const Batch *b) {
    Node one = node_load(b, 0), two = node_load(b, 1);
    Vec offset = vec_sub(two.x, one.x);
    const mf_lane tiny = mf_set((mf_real)1e-30);
    const mf_lane length = mf_sqrt(vec_dot(offset, offset) + tiny);
    const mf_lane a = compliance(b, 1), under = resistance(b, one.w + two.w, a);
    mf_lane c = length - value_of(b, 0);
    if (b->damped)
        c = mf_fma(mf_set(b->solve->damping),
                   vec_dot(offset, vec_sub(two.displacement, one.displacement)) / length, c);
    // A pair of pinned vertices without compliance has nothing to divide by.
    const mf_lane by = if_whole(b, c / (length * under + tiny));
    keep_after(b, 0, by * length, a);
    if (b->tears)
        tear(b, c, value_of(b, 0), a, under);
    node_push(b, 0, &one, offset, by);
    node_push(b, 1, &two, offset, -by);
    node_put_vec(b, 0, MF_CLOTH_X, one.x);
    node_put_vec(b, 1, MF_CLOTH_X, two.x);
}

// The vector C = sum of k x, linear, so that three equations have one multiplier each and the same
// denominator. `bends`: it counts among the residuals of bending.
static MF_INLINE void solve_sum(const Batch *b, Node *n, const mf_lane *k, uint32_t count,
                                mf_lane a, bool bends) {
    Vec c = vec_scale(n[0].x, k[0]);
    mf_lane weight = n[0].w * k[0] * k[0];
    for (uint32_t i = 1; i < count; i++) {
        c = vec_fma(n[i].x, k[i], c);
        weight = mf_fma(n[i].w * k[i], k[i], weight);
    }
    if (b->damped) {
        Vec rate = vec_scale(n[0].displacement, k[0]);
        for (uint32_t i = 1; i < count; i++)
            rate = vec_fma(n[i].displacement, k[i], rate);
        c = vec_fma(rate, mf_set(b->solve->damping), c);
    }
    const mf_lane under = resistance(b, weight, a) + mf_set((mf_real)1e-30);
    const mf_lane by = if_whole(b, mf_set((mf_real)-1) / under);
    if (bends) {
        keep_after(b, 0, c.x * -by, a);
        keep_after(b, 1, c.y * -by, a);
        keep_after(b, 2, c.z * -by, a);
    }
    for (uint32_t i = 0; i < count; i++)
        node_push(b, i, &n[i], c, by * k[i]);
}

static MF_INLINE void store_nodes(const Batch *b, const Node *n, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        node_put_vec(b, i, MF_CLOTH_X, n[i].x);
}

static MF_INLINE void solve_line(const Batch *b) {
    Node n[3] = {node_load(b, 0), node_load(b, 1), node_load(b, 2)};
    const mf_lane k[3] = {value_of(b, 0), value_of(b, 1), value_of(b, 2)};
    solve_sum(b, n, k, 3, compliance(b, 3), true);
    store_nodes(b, n, 3);
}

static MF_INLINE void solve_hinge(const Batch *b) {
    Node n[4] = {node_load(b, 0), node_load(b, 1), node_load(b, 2), node_load(b, 3)};
    const mf_lane k[4] = {value_of(b, 0), value_of(b, 1), value_of(b, 2), value_of(b, 3)};
    solve_sum(b, n, k, 4, compliance(b, 4), true);
    store_nodes(b, n, 4);
}

// The scalar constraint with these gradients. `strain`: which strain of a triangle it is; MF_NONE:
// none.
static MF_INLINE void solve_scalar(const Batch *b, Node *n, const Vec *gradient, uint32_t count,
                                   mf_lane c, mf_lane a, uint32_t strain) {
    mf_lane weight = n[0].w * vec_dot(gradient[0], gradient[0]);
    for (uint32_t i = 1; i < count; i++)
        weight = mf_fma(n[i].w, vec_dot(gradient[i], gradient[i]), weight);
    if (b->damped) {
        mf_lane rate = vec_dot(gradient[0], n[0].displacement);
        for (uint32_t i = 1; i < count; i++)
            rate = vec_dot_add(gradient[i], n[i].displacement, rate);
        c = mf_fma(mf_set(b->solve->damping), rate, c);
    }
    const mf_lane under = resistance(b, weight, a) + mf_set((mf_real)1e-30);
    const mf_lane by = if_whole(b, -c / under);
    if (strain != MF_NONE)
        keep_after(b, strain, -by, a);
    if (b->tears && strain != MF_NONE)
        tear(b, c, mf_set((mf_real)1), a, under);
    for (uint32_t i = 0; i < count; i++)
        node_push(b, i, &n[i], gradient[i], by);
}

// Shear C = xu . xv, xu and xv the mean tangents of the cell; then twist, the mixed difference.
static MF_INLINE void solve_cell(const Batch *b) {
    Node n[4] = {node_load(b, 0), node_load(b, 1), node_load(b, 2), node_load(b, 3)};
    const mf_lane across = value_of(b, 0), along = value_of(b, 1);
    const mf_lane one = mf_set((mf_real)1);
    Vec rising = vec_sub(n[3].x, n[0].x), falling = vec_sub(n[1].x, n[2].x);
    Vec xu = vec_scale(vec_add(rising, falling), across);
    Vec xv = vec_scale(vec_sub(rising, falling), along);
    Vec plus = vec_fma(xv, across, vec_scale(xu, along));
    Vec minus = vec_fma(xv, across, vec_scale(xu, -along));
    const Vec gradient[4] = {vec_scale(plus, -one), minus, vec_scale(minus, -one), plus};
    solve_scalar(b, n, gradient, 4, vec_dot(xu, xv), compliance(b, 2), MF_NONE);
    const mf_lane k[4] = {one, -one, -one, one};
    solve_sum(b, n, k, 4, compliance(b, 3), false);
    store_nodes(b, n, 4);
}

typedef struct Tangents { // of a triangle: along warp and weft
    Vec u, v;
} Tangents;

static MF_INLINE Tangents tangents_of(const Node *n, const mf_lane *a, const mf_lane *c) {
    Vec one = vec_sub(n[1].x, n[0].x), two = vec_sub(n[2].x, n[0].x);
    return MF_VALUE(Tangents, vec_fma(two, a[1], vec_scale(one, a[0])),
                    vec_fma(two, c[1], vec_scale(one, c[0])));
}

// C = |xu| - 1 of one direction, whose gradients of nodes 1 and 2 are k.
static MF_INLINE void solve_stretch(const Batch *b, Node *n, Vec tangent, const mf_lane *k,
                                    mf_lane a, uint32_t strain) {
    const mf_lane length = mf_sqrt(vec_dot(tangent, tangent) + mf_set((mf_real)1e-30));
    Vec along = vec_scale(tangent, mf_set((mf_real)1) / length);
    const Vec gradient[3] = {vec_scale(along, -(k[0] + k[1])), vec_scale(along, k[0]),
                             vec_scale(along, k[1])};
    solve_scalar(b, n, gradient, 3, length - mf_set((mf_real)1), a, strain);
}

static MF_INLINE void solve_triangle(const Batch *b) {
    Node n[3] = {node_load(b, 0), node_load(b, 1), node_load(b, 2)};
    const mf_lane u[2] = {value_of(b, 0), value_of(b, 1)};
    const mf_lane v[2] = {value_of(b, 2), value_of(b, 3)};
    solve_stretch(b, n, tangents_of(n, u, v).u, u, compliance(b, 4), 0);
    solve_stretch(b, n, tangents_of(n, u, v).v, v, compliance(b, 4), 1);
    Tangents t = tangents_of(n, u, v);
    const Vec one = vec_fma(t.v, u[0], vec_scale(t.u, v[0]));
    const Vec two = vec_fma(t.v, u[1], vec_scale(t.u, v[1]));
    const Vec gradient[3] = {vec_scale(vec_add(one, two), mf_set((mf_real)-1)), one, two};
    solve_scalar(b, n, gradient, 3, vec_dot(t.u, t.v), compliance(b, 5), MF_NONE);
    store_nodes(b, n, 3);
}

static MF_INLINE void solve_lanes(const Batch *b) {
    switch (b->batch->kind) {
    case MF_CLOTH_EDGE:
        solve_edge(b);
        break;
    case MF_CLOTH_LINE:
        solve_line(b);
        break;
    case MF_CLOTH_CELL:
        solve_cell(b);
        break;
    case MF_CLOTH_TRIANGLE:
        solve_triangle(b);
        break;
    default:
        solve_hinge(b);
    }
}
