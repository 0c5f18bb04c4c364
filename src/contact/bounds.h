// Whether the volumes of two nodes of compounds can touch, for kernels: a row per bounding volume
// (MF_BOUNDS_LIST) with two tests,
//
//     NAME_overlap(two, nodes, tests, &gap)                of two nodes
//     NAME_reached(side, node, center, radius, tests)      of a ball and a node
//
// False: they are apart, two nodes by at least `gap` [m] >= 0. The tests allow for more than they
// and the narrow phase round, so every volume leaves the same contacts.
#pragma once

#include "contact/compounds.h"
#include "math/lane.h"

// ---- the rows of parts --------------------------------------------------------------------------

static inline const mf_real *part_of(const mf_CompoundSide *side, size_t row) {
    return (const mf_real *)side->parts + row * MF_BLOCK + side->lane;
}

static inline const mf_real *sphere_of(const mf_CompoundSide *side, uint32_t node) {
    return part_of(side, mf_compound_node_row(side->compound, node));
}

// [m] The radius of its sphere, whatever the volume is.
static inline mf_real size_of(const mf_CompoundSide *side, uint32_t node) {
    return sphere_of(side, node)[(MF_PART_NODE_ROWS - 1) * MF_BLOCK];
}

// Two compounds of which nodes are tested.
typedef struct Trees {
    const mf_CompoundSide *sides;
    mf_real direction[3];                 // [m] as in mf_CompoundPair
    const mf_real *spheres[2], *boxes[2]; // of node 0 of both
} Trees;

static inline Trees trees_of(const mf_CompoundPair *pair) {
    Trees two;
    two.sides = pair->sides;
    for (size_t i = 0; i < 3; i++)
        two.direction[i] = (mf_real)pair->direction[i];
    for (size_t k = 0; k < 2; k++) {
        two.spheres[k] = sphere_of(&pair->sides[k], 0);
        two.boxes[k] = part_of(&pair->sides[k], mf_compound_box_row(pair->sides[k].compound, 0));
    }
    return two;
}

static inline const mf_real *sphere_in(const Trees *two, size_t side, uint32_t node) {
    return two->spheres[side] + (size_t)node * MF_PART_NODE_ROWS * MF_BLOCK;
}

static inline const mf_real *box_in(const Trees *two, size_t side, uint32_t node) {
    return two->boxes[side] + (size_t)node * MF_PART_BOX_ROWS * MF_BLOCK;
}

static inline bool is_leaf(const mf_CompoundSide *side, uint32_t node) {
    return node < side->compound->solid_count;
}

static inline mf_real size(mf_real a) {
    return a < 0 ? -a : a;
}

// ---- spheres ------------------------------------------------------------------------------------

// How much longer a vector is than `sum`, at least, without a root: `length` is no less than its
// length.
static inline mf_real gap_of(mf_real square, mf_real sum, mf_real length) {
    return (square - sum * sum) / (length + sum);
}

// A ball and a plane, which is solid below.
static inline bool plane_near(const mf_real *rotation, const mf_real *position,
                              const mf_real center[3], mf_real radius, mf_real *gap) {
    mf_real above = 0, sum = radius;
    for (size_t i = 0; i < 3; i++) {
        const mf_real distance = center[i] - position[i * MF_BLOCK];
        above += rotation[(3 * i + 2) * MF_BLOCK] * distance;
        sum += size(distance);
    }
    *gap = above - radius - 64 * MF_REAL_EPSILON * sum;
    return *gap < 0;
}

// A ball and a box; `rotation` NULL: its axes are the world's.
static inline bool ball_near(const mf_real *rotation, const mf_real *position,
                             const mf_real half[3], const mf_real center[3], mf_real radius,
                             mf_real *gap) {
    mf_real direction[3], sum = radius, square = 0, length = 0;
    for (size_t i = 0; i < 3; i++) {
        direction[i] = center[i] - position[i * MF_BLOCK];
        sum += size(direction[i]) + half[i];
    }
    for (size_t i = 0; i < 3; i++) {
        mf_real along = rotation == NULL ? direction[i]
                                         : rotation[i * MF_BLOCK] * direction[0] +
                                               rotation[(3 + i) * MF_BLOCK] * direction[1] +
                                               rotation[(6 + i) * MF_BLOCK] * direction[2];
        mf_real apart = size(along) - half[i];
        square += apart > 0 ? apart * apart : 0;
        length += apart > 0 ? apart : 0;
    }
    // Larger than the roundings of all this.
    radius += 64 * MF_REAL_EPSILON * sum;
    if (square < radius * radius)
        return true;
    *gap = gap_of(square, radius, length);
    return false;
}

// A ball about `center` [m], from the side's base origin, and the box of a solid: spheres about
// flat and long things are near much more often than they are.
static inline bool solid_near(const mf_CompoundSide *side, uint32_t solid, const mf_real center[3],
                              mf_real radius, mf_real *gap) {
    const mf_CompoundSolid *of = &side->compound->solids[solid];
    const mf_real *rotation = part_of(side, mf_compound_rotation_row(side->compound, solid));
    const mf_real *position = part_of(side, mf_compound_solid_row(side->compound, solid) + 9);
    const mf_real half[3] = {(mf_real)of->box[0], (mf_real)of->box[1], (mf_real)of->box[2]};
    if (of->kind == MF_COLLIDE_SPHERE)
        return true;
    if (of->kind == MF_COLLIDE_PLANE)
        return plane_near(rotation, position, center, radius, gap);
    return ball_near(rotation, position, half, center, radius, gap);
}

// Those of both nodes that are leaves, each with the sphere of the other.
static inline bool leaves_near(const Trees *two, const uint32_t nodes[2], const mf_real *a,
                               const mf_real *b, uint64_t *tests, mf_real *gap) {
    const mf_real *direction = two->direction;
    if (is_leaf(&two->sides[0], nodes[0])) {
        const mf_real center[3] = {b[0] + direction[0], b[MF_BLOCK] + direction[1],
                                   b[2 * MF_BLOCK] + direction[2]};
        ++*tests;
        if (!solid_near(&two->sides[0], nodes[0], center, b[3 * MF_BLOCK], gap))
            return false;
    }
    if (is_leaf(&two->sides[1], nodes[1])) {
        const mf_real center[3] = {a[0] - direction[0], a[MF_BLOCK] - direction[1],
                                   a[2 * MF_BLOCK] - direction[2]};
        ++*tests;
        return solid_near(&two->sides[1], nodes[1], center, a[3 * MF_BLOCK], gap);
    }
    return true;
}

static inline bool sphere_overlap(const Trees *two, const uint32_t nodes[2], uint64_t *tests,
                                  mf_real *gap) {
    const mf_real *a = sphere_in(two, 0, nodes[0]), *b = sphere_in(two, 1, nodes[1]);
    mf_real square = 0, length = 0, sum = a[3 * MF_BLOCK] + b[3 * MF_BLOCK];
    for (size_t i = 0; i < 3; i++) {
        mf_real apart = b[i * MF_BLOCK] + two->direction[i] - a[i * MF_BLOCK];
        square += apart * apart;
        length += size(apart);
    }
    ++*tests;
    // Larger than the roundings of the way between both; NaN is false.
    if (square < sum * sum * (1 + 64 * MF_REAL_EPSILON))
        return leaves_near(two, nodes, a, b, tests, gap);
    *gap = gap_of(square, sum, length);
    return false;
}

static inline bool leaf_reached(const mf_CompoundSide *side, uint32_t node, const double center[3],
                                double radius, uint64_t *tests) {
    const mf_real at[3] = {(mf_real)center[0], (mf_real)center[1], (mf_real)center[2]};
    mf_real gap;
    if (!is_leaf(side, node))
        return true;
    ++*tests;
    return solid_near(side, node, at, (mf_real)radius, &gap);
}

static inline bool sphere_reached(const mf_CompoundSide *side, uint32_t node,
                                  const double center[3], double radius, uint64_t *tests) {
    const mf_real *sphere = sphere_of(side, node);
    double square = 0, sum = radius + (double)sphere[3 * MF_BLOCK];
    for (size_t i = 0; i < 3; i++) {
        double apart = center[i] - (double)sphere[i * MF_BLOCK];
        square += apart * apart;
    }
    ++*tests;
    return square < sum * sum && leaf_reached(side, node, center, radius, tests);
}

// ---- boxes --------------------------------------------------------------------------------------

// [1] Of the sum of half edges: beyond what the tests and the narrow phase of shapes that fill
// their boxes round.
#define BOX_SLACK (1024 * MF_REAL_EPSILON)

static inline const mf_real *box_of(const mf_CompoundSide *side, uint32_t node) {
    return part_of(side, mf_compound_box_row(side->compound, node));
}

static inline bool box_overlap(const Trees *two, const uint32_t nodes[2], uint64_t *tests,
                               mf_real *gap) {
    const mf_real *a = box_in(two, 0, nodes[0]), *b = box_in(two, 1, nodes[1]);
    mf_real square = 0, length = 0;
    bool overlap = true;
    for (size_t i = 0; i < 3; i++) {
        const mf_real sum = a[(3 + i) * MF_BLOCK] + b[(3 + i) * MF_BLOCK];
        mf_real apart = b[i * MF_BLOCK] + two->direction[i] - a[i * MF_BLOCK];
        apart = size(apart) - sum * (1 + BOX_SLACK);
        overlap = overlap && apart < 0;
        square += apart > 0 ? apart * apart : 0;
        length += apart > 0 ? apart : 0;
    }
    ++*tests;
    if (overlap)
        return leaves_near(two, nodes, sphere_in(two, 0, nodes[0]), sphere_in(two, 1, nodes[1]),
                           tests, gap);
    *gap = length > 0 ? square / length : 0;
    return false;
}

static inline bool ball_in_box(const mf_CompoundSide *side, const mf_real *rotation, uint32_t node,
                               const double center[3], double radius) {
    const mf_real at[3] = {(mf_real)center[0], (mf_real)center[1], (mf_real)center[2]};
    const mf_real *box = box_of(side, node);
    const mf_real half[3] = {box[3 * MF_BLOCK], box[4 * MF_BLOCK], box[5 * MF_BLOCK]};
    mf_real gap;
    return ball_near(rotation, box, half, at, (mf_real)radius, &gap);
}

static inline bool box_reached(const mf_CompoundSide *side, uint32_t node, const double center[3],
                               double radius, uint64_t *tests) {
    ++*tests;
    return ball_in_box(side, NULL, node, center, radius) &&
           leaf_reached(side, node, center, radius, tests);
}

// ---- oriented boxes -----------------------------------------------------------------------------

static inline const mf_real *axes_of(const mf_CompoundSide *side, uint32_t node) {
    return part_of(side, mf_compound_axes_row(side->compound, node));
}

// The largest gap along the axes of both; the nine products of edges, which would part few more
// (van den Bergen, Efficient collision detection of complex deformable models using AABB trees,
// 1997), are left to the narrow phase.
static inline bool oriented_overlap(const Trees *two, const uint32_t nodes[2], uint64_t *tests,
                                    mf_real *gap) {
    const mf_real *a = box_in(two, 0, nodes[0]), *b = box_in(two, 1, nodes[1]);
    const mf_real *x = axes_of(&two->sides[0], nodes[0]), *y = axes_of(&two->sides[1], nodes[1]);
    mf_real apart[3], along[2][3] = {{0}, {0}}, half[2][3], sums[2][3], slack = 0;
    for (size_t i = 0; i < 3; i++) {
        apart[i] = b[i * MF_BLOCK] + two->direction[i] - a[i * MF_BLOCK];
        half[0][i] = a[(3 + i) * MF_BLOCK];
        half[1][i] = b[(3 + i) * MF_BLOCK];
        slack += half[0][i] + half[1][i];
        sums[0][i] = half[0][i];
        sums[1][i] = half[1][i];
    }
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            mf_real cosine = 0;
            for (size_t c = 0; c < 3; c++)
                cosine += x[(3 * c + i) * MF_BLOCK] * y[(3 * c + k) * MF_BLOCK];
            sums[0][i] += size(cosine) * half[1][k];
            sums[1][k] += size(cosine) * half[0][i];
            along[0][i] += x[(3 * k + i) * MF_BLOCK] * apart[k];
            along[1][i] += y[(3 * k + i) * MF_BLOCK] * apart[k];
        }
    mf_real most = -MF_REAL_MAX;
    for (size_t i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            const mf_real gap_along = size(along[k][i]) - sums[k][i];
            most = gap_along > most ? gap_along : most;
        }
    ++*tests;
    *gap = most - BOX_SLACK * slack;
    return *gap < 0 && leaves_near(two, nodes, sphere_in(two, 0, nodes[0]),
                                   sphere_in(two, 1, nodes[1]), tests, gap);
}

static inline bool oriented_reached(const mf_CompoundSide *side, uint32_t node,
                                    const double center[3], double radius, uint64_t *tests) {
    ++*tests;
    return ball_in_box(side, axes_of(side, node), node, center, radius) &&
           leaf_reached(side, node, center, radius, tests);
}

// ---- none ---------------------------------------------------------------------------------------

static inline bool none_overlap(const Trees *two, const uint32_t nodes[2], uint64_t *tests,
                                mf_real *gap) {
    (void)two;
    (void)nodes;
    (void)tests;
    (void)gap;
    return true;
}

static inline bool none_reached(const mf_CompoundSide *side, uint32_t node, const double center[3],
                                double radius, uint64_t *tests) {
    (void)side;
    (void)node;
    (void)center;
    (void)radius;
    (void)tests;
    return true;
}

// ---- all ----------------------------------------------------------------------------------------

static inline bool bounds_overlap(const Trees *two, const uint32_t nodes[2], uint64_t *tests,
                                  mf_real *gap) {
#define OVERLAP(NAME, name, boxes)                                                                 \
    case MF_BOUNDS_##NAME:                                                                         \
        return name##_overlap(two, nodes, tests, gap);
    switch (two->sides[0].compound->bounds) { MF_BOUNDS_LIST(OVERLAP) }
#undef OVERLAP
    return true;
}

static inline bool bounds_reached(const mf_CompoundSide *side, uint32_t node,
                                  const double center[3], double radius, uint64_t *tests) {
#define REACHED(NAME, name, boxes)                                                                 \
    case MF_BOUNDS_##NAME:                                                                         \
        return name##_reached(side, node, center, radius, tests);
    switch (side->compound->bounds) { MF_BOUNDS_LIST(REACHED) }
#undef REACHED
    return true;
}
