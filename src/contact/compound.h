// Compounds: all solids of one robot, or of the static scenery of a scene, under a tree of bounding
// volumes (Friedmann, Petersen, von Stryk 2008, section 5), frozen before the first step.
//
// The tree is binary with solids only in its leaves, built once; its volumes are recomputed after
// the robot has moved (compound_refit_kernel.c). A robot's tree follows its links (their 5.1):
// links without solids vanish, solids of links with children move to their own leaves, and a limb
// without branches is halved instead of being peeled link by link. Static solids are halved along
// the longest side of the box of their centers.
//
// Planes are solids of still compounds alone, where asked for, with a sphere that holds every
// robot. Height fields are excluded: they are ground, which the motions handle.
#pragma once

#include "contact/collide.h"
#include "multibody/tree.h"

#include <mayfly/collision.h>

// The bounding volumes: of mf_CollisionBounds, name (also of their functions in the kernels:
// bounds.h, compound_refit_kernel.c), whether they are boxes. Nodes have a sphere with each,
// because the order of the descent depends on it, and with that the sums of forces.
#define MF_BOUNDS_LIST(X)                                                                          \
    X(SPHERE, sphere, false) X(BOX, box, true) X(ORIENTED, oriented, true) X(NONE, none, false)
extern const char *const mf_bounds_names[]; // by mf_CollisionBounds, NULL behind the last

enum { MF_COMPOUND_SHAPES = 1024 }; // [1] most solids of a compound

typedef struct mf_CompoundLink {
    uint32_t parent; // [1] smaller; MF_NONE for link 0
    bool hinged;     // its joint is a hinge
    uint32_t joint;  // [1] component of joint.angle
    bool needed;     // it or a link that it carries has a solid
    double extent;   // [m] a solid that it carries is never farther from its origin
} mf_CompoundLink;

// What a solid is to those that push it: a part of its link as if that were alone, with the links
// fixed to it. As a part of its robot it moves no less mass.
typedef struct mf_CompoundSolid {
    mf_CollideKind kind;
    uint32_t shape; // [1] of the model
    uint32_t link;  // [1] of the model
    uint32_t hull;  // [1] of the set; MF_NONE
    bool rotated;   // its axes are not its link's
    double box[3];  // [m] half edges of a box about its position that holds it, its axes
    uint32_t contact_type, contact_with; // [1] bits, as in mf_Shape
    double pressed; // [1/kg] inverse of the least mass that moves along a normal of its surface;
                    // 0: held by the world
    double inverse_mass;       // [1/kg]
    double inverse_inertia[9]; // [1/(kg m^2)] about the center of mass, link's axes
    double center[3];          // [m] of mass, link's frame
    double spun;               // [1/(kg m^2)] inverse of the least inertia; 0: a point
} mf_CompoundSolid;

typedef struct mf_Compound {
    mf_Context *context;
    const mf_Model *model;
    uint32_t link_count, solid_count; // [1]
    uint32_t node_count;              // [1] solids first, then nodes above them
    uint32_t root;                    // [1] MF_NONE without solids
    uint32_t depth;                   // [1] of the tree: 0 for a leaf
    bool still;                       // no solid can move
    bool planes;                      // planes are solids
    bool hinged;      // only hinges move solids against the base: mf_compound_drift knows how far
    double reach;     // [m] no solid is ever farther from the base's origin; INFINITY: unknown
    mf_Tree *tree;    // of all links, on the fields of a group
    uint32_t *needed; // [1] links but the base that are needed, in rising order
    uint32_t needed_count; // [1]
    mf_CompoundLink *links;
    mf_CompoundSolid *solids;
    mf_CollideNode *nodes; // of nodes solid_count .. node_count - 1
    uint32_t *node_links; // [1] per node: the link that carries all its solids; MF_NONE: several do
    uint32_t *node_axes;  // [1] per node: the last link that carries all links of its solids
    mf_CollisionBounds bounds; // spheres at first; the owner may change it before the first refit
    bool *inner;               // solid_count^2: these may touch each other
    double *values_f64;        // of solids (MF_COLLIDE_SHAPE_VALUES each)
    float *values_f32;
    mf_HullSet *hulls;
} mf_Compound;

// The compound of a model's solids; `planes`: with the planes of one that is still. MF_LIMIT: more
// than MF_COMPOUND_SHAPES. MF_NO_MEMORY. The caller destroys *out; `model` must outlive it.
mf_Status mf_compound_create(mf_Context *context, const mf_Model *model, bool planes,
                             mf_Compound **out, mf_Error *error);
void mf_compound_destroy(mf_Compound *compound); // NULL is fine
// Whether no link of a model that has shapes which collide can move.
bool mf_compound_is_still(const mf_Model *model);

// Fills nodes, node_links, node_axes, node_count, root and depth; solids must stand. `work` is
// space for 4 (link_count + 2 solid_count) numbers. For mf_compound_create.
void mf_compound_grow(mf_Compound *compound, uint32_t *work);

// ---- poses of the parts of sixteen robots -------------------------------------------------------

// Rows of 16 values: per link, then per solid, then per node of the tree its sphere, then per node
// its box where the volumes are boxes. Positions are relative to the base's origin, in world axes.
enum {
    MF_PART_MATRIX = 0,    // [1] 9 values, row after row: link's axes to the world's
    MF_PART_POSITION = 9,  // [m] 3 values: origin
    MF_PART_VELOCITY = 12, // [m/s] 3 values: of the origin
    MF_PART_RATE = 15,     // [rad/s] 3 values: world axes
    MF_PART_ROTATION = 18, // [1] 4 values: the same as MF_PART_MATRIX as a quaternion
    MF_PART_LINK_ROWS = 22,
    MF_PART_SOLID_ROWS = 12, // [1], [m] rotation (only of one that is rotated) and position
    MF_PART_NODE_ROWS = 4,   // [m] center and radius; NaN in all lanes of robots to pass over
    MF_PART_BOX_ROWS = 6     // [m] center and half edges
};

static inline size_t mf_compound_link_row(uint32_t link) {
    return (size_t)link * MF_PART_LINK_ROWS;
}
static inline size_t mf_compound_solid_row(const mf_Compound *compound, uint32_t solid) {
    return mf_compound_link_row(compound->link_count) + (size_t)solid * MF_PART_SOLID_ROWS;
}
// Of its turn: that of its link where they are the same.
static inline size_t mf_compound_rotation_row(const mf_Compound *compound, uint32_t solid) {
    const mf_CompoundSolid *of = &compound->solids[solid];
    return of->rotated ? mf_compound_solid_row(compound, solid)
                       : mf_compound_link_row(of->link) + MF_PART_MATRIX;
}
static inline size_t mf_compound_node_row(const mf_Compound *compound, uint32_t node) {
    return mf_compound_solid_row(compound, compound->solid_count) +
           (size_t)node * MF_PART_NODE_ROWS;
}
static inline size_t mf_compound_box_row(const mf_Compound *compound, uint32_t node) {
    return mf_compound_node_row(compound, compound->node_count) + (size_t)node * MF_PART_BOX_ROWS;
}
// Of the axes of its box where that is oriented.
static inline size_t mf_compound_axes_row(const mf_Compound *compound, uint32_t node) {
    return node < compound->solid_count
               ? mf_compound_rotation_row(compound, node)
               : mf_compound_link_row(compound->node_axes[node]) + MF_PART_MATRIX;
}
static inline size_t mf_compound_rows(const mf_Compound *compound) {
#define BOXES(NAME, name, boxes) boxes,
    static const bool has_boxes[] = {MF_BOUNDS_LIST(BOXES)};
#undef BOXES
    return mf_compound_box_row(compound, has_boxes[compound->bounds] ? compound->node_count : 0);
}
