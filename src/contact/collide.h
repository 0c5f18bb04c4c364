// Pairs of shapes of a robot, and of the robot and its world, that may touch, and the poses of
// shapes: the data of the kernels of src/contact, frozen before the first step, shared by all
// threads.
//
// Pairs follow MuJoCo's filter (documentation, "Computation", collision detection): bits of type
// and affinity, not the same link, not parent and child (the world as parent is allowed), no
// exclusion; listed pairs whatever the filter says.
#pragma once

#include "contact/hull.h"
#include "model/shape_kinds.h"

enum {
    MF_COLLIDE_CONTACTS = 8,     // [1] most contacts of a pair, which is of boxes,
    MF_COLLIDE_CORNERS = 4,      // [1] and of other pairs
    MF_COLLIDE_PAIRS = 1 << 22,  // [1] most listed pairs
    MF_COLLIDE_FLOATING = 60000, // [1] most floating shapes, whose pairs have numbers below 2^32
    MF_COLLIDE_LISTED = 64       // [1] up to so many floating bodies all pairs are listed
};

// Rows of the values of a shape, in both precisions.
enum {
    MF_COLLIDE_ROTATION = 0, // [1] 9 values: its axes to those of its frame, row after row
    MF_COLLIDE_POSITION = 9, // [m] 3 values: its center in its frame
    MF_COLLIDE_HALF = 12,    // [m] 3 values: half sizes, as of mf_ShapeKind
    MF_COLLIDE_RADIUS = 15,  // [m] of the sphere about its center that holds it; planes: 0
    MF_COLLIDE_SHAPE_VALUES = 16
};

// Fills them: a shape at this pose in its frame. `hull` is its own, else NULL.
void mf_collide_pose(const mf_Shape *shape, const double position[3], const double rotation[4],
                     const mf_ConvexHull *hull, double *values);

typedef struct mf_CollideShape {
    mf_CollideKind kind;
    uint32_t shape; // [1] of the model
    uint32_t frame; // [1] that it moves with, MF_NONE: fixed in the world
    uint32_t hull;  // [1] of the set; MF_NONE
} mf_CollideShape;

// How two shapes touch: mixed from both, or as the model's pair says. Pairs that touch alike share
// one.
typedef struct mf_CollideClass {
    uint32_t most;                // [1] contacts that a pair can make
    uint32_t dimension;           // [1] 1, 3, 4 or 6
    double margin;                // [m] a contact is made from this distance on
    double gap;                   // [m]
    double friction[5];           // [1] two sliding, [m] torsion, [m] two rolling
    double friction_reference[2]; // [s], [1] as in mf_ContactPair
    mf_Softness softness;
} mf_CollideClass;

// Two shapes that may touch.
typedef struct mf_CollidePair {
    uint32_t a, b;    // [1] shapes of the plan, kind of a <= kind of b
    uint32_t touches; // [1] class
} mf_CollidePair;

// A shape of a floating body, in models with many. The pairs between such shapes are not listed:
// two of different bodies may touch where the classes of their surfaces say so.
typedef struct mf_CollideFloating {
    uint32_t shape;   // [1] of the plan; by kind, then by number
    uint32_t body;    // [1] link of the model with the floating joint
    uint32_t surface; // [1] shapes with the same one touch alike
} mf_CollideFloating;

// Bounding spheres: shapes are nodes 0 .. shape_count - 1 (by number), the others hold two nodes of
// smaller number each.
typedef struct mf_CollideNode {
    uint32_t children[2]; // [1]
} mf_CollideNode;

// A question of the broad phase, in the order in which they are asked: are the spheres of two nodes
// near? Where they are not, the next `skip` questions need no answer. The first node may be a
// plane; planes are in no group.
typedef struct mf_CollideTest {
    uint32_t nodes[2]; // [1]
    uint32_t pair;     // [1] MF_NONE: of a group of pairs
    uint32_t skip;     // [1]
    bool plane;
} mf_CollideTest;

// Arrays of a plan.
#define MF_COLLIDE_ARRAYS(X, of)                                                                   \
    X(mf_CollideShape, shapes, (of)->shape_count)                                                  \
    X(mf_CollideClass, classes, (of)->class_count)                                                 \
    X(mf_CollidePair, pairs, (of)->pair_count) /* that are listed */                               \
    X(mf_CollideFloating, floating, (of)->floating_count)                                          \
    /* [1] class by the surfaces of both, MF_NONE: they do not touch */                            \
    X(uint32_t, surfaces, (of)->surface_count *(of)->surface_count)                                \
    X(mf_CollideNode, nodes, (of)->node_count - (of)->shape_count) /* without the shapes */        \
    X(mf_CollideTest, tests, (of)->test_count)                                                     \
    /* shapes, then per class its margin, then boxes (collide_box.h) */                            \
    X(double, values_f64, (of)->value_count)                                                       \
    X(float, values_f32, (of)->value_count)

// A flat image (base/flat.h).
typedef struct mf_CollidePlan {
    uint32_t bytes;                                // [byte] of the image
    uint32_t shape_count, class_count, pair_count; // [1]
    uint32_t listed_contacts;                      // [1] that all listed pairs can make
    uint32_t floating_count, surface_count;        // [1]
    uint32_t node_count;                           // [1] with the shapes
    uint32_t test_count;                           // [1]
    uint32_t value_count;                          // [1]
    uint32_t heights_left; // [1] height fields that collide: they take no part here
    double margin;         // [m] largest of all pairs
    MF_COLLIDE_ARRAYS(MF_FLAT_MEMBER, )
    MF_FLAT_ARRAY(hulls); // an image in this one
} mf_CollidePlan;

#define MF_COLLIDE_READER(Type, name, count) MF_FLAT_INDEXED(mf_CollidePlan, mf_collide, Type, name)
MF_COLLIDE_ARRAYS(MF_COLLIDE_READER, )
MF_FLAT_READER(mf_CollidePlan, mf_collide, mf_HullSet, hulls)

// Pairs have numbers: those that are listed from 0 on, behind them first * floating_count + second
// for the floating shapes first < second.
static inline uint32_t mf_collide_number(const mf_CollidePlan *plan, uint32_t first,
                                         uint32_t second) {
    return plan->pair_count + first * plan->floating_count + second;
}

// And which two, of a pair that is not listed.
static inline void mf_collide_indices(const mf_CollidePlan *plan, uint32_t pair,
                                      uint32_t indices[2]) {
    indices[0] = (pair - plan->pair_count) / plan->floating_count;
    indices[1] = (pair - plan->pair_count) % plan->floating_count;
}

static inline mf_CollidePair mf_collide_pair_of(const mf_CollidePlan *plan, uint32_t pair) {
    if (pair < plan->pair_count)
        return mf_collide_pairs(plan)[pair];
    uint32_t indices[2];
    mf_collide_indices(plan, pair, indices);
    const mf_CollideFloating *a = &mf_collide_floating(plan)[indices[0]],
                             *b = &mf_collide_floating(plan)[indices[1]];
    mf_CollidePair out;
    out.a = a->shape;
    out.b = b->shape;
    out.touches = mf_collide_surfaces(plan)[a->surface * plan->surface_count + b->surface];
    return out;
}

static inline const mf_CollideClass *mf_collide_class_of(const mf_CollidePlan *plan,
                                                         uint32_t pair) {
    return &mf_collide_classes(plan)[mf_collide_pair_of(plan, pair).touches];
}

// Which of the caller's frames a link of the model is in, and where in it.
typedef struct mf_CollideHolder {
    uint32_t frame;     // [1] MF_NONE: held in the world
    double position[3]; // [m] the link's origin in that frame
    double rotation[4]; // [1] the link's axes to the frame's
} mf_CollideHolder;

// The plan for `model`; `holders`, one per link, are read only here; NULL: frame l is link l.
// Shapes of a link whose holder has no frame take part as shapes of the world do. The caller frees
// *out with mf_release. MF_UNSUPPORTED: a height field takes part. MF_LIMIT: more pairs than
// MF_COLLIDE_PAIRS. MF_NO_MEMORY.
mf_Status mf_collide_create(mf_Context *context, const mf_Model *model,
                            const mf_CollideHolder *holders, mf_CollidePlan **out, mf_Error *error);
// As above with the model's hulls, which the plan copies.
mf_Status mf_collide_create_with(mf_Context *context, const mf_Model *model,
                                 const mf_CollideHolder *holders, const mf_HullSet *hulls,
                                 mf_CollidePlan **out, mf_Error *error);

// The values of `plan` for a model whose shapes differ from those of the plan's in position and
// size alone, to value_count doubles. Meshes are the plan's.
void mf_collide_values_of(const mf_CollidePlan *plan, const mf_Model *model,
                          const mf_CollideHolder *holders, double *values);

// The pair of the model of two of its shapes, in either order; NULL: it has none.
const mf_ContactPair *mf_collide_listed(const mf_Model *model, uint32_t a, uint32_t b);

// Whether two shapes of the model may touch, and how: fills *out but for `most`.
bool mf_collide_match(const mf_Model *model, uint32_t x, uint32_t y, mf_CollideClass *out);

// The same of two shapes that touch, of any models: mixed by MuJoCo's rules.
void mf_collide_mix(mf_CollideClass *out, const mf_Shape *a, const mf_Shape *b);
