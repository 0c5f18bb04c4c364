// What range sensors see besides the ground and their own robot's file: the shapes of all robots
// that share their space, under a tree of boxes.
//
// Everything here is double on the host, one ray at a time: link poses come from the kernel of the
// tree, and everything behind them is scalar, so readings depend neither on threads nor on
// instruction sets. The tree of boxes only selects candidates: readings do not depend on its shape.
#pragma once

#include "contact/ray_solid.h"
#include "sense/sensors_build.h"
#include "multibody/tree.h"

enum { MF_RANGE_DEPTH = 72 }; // [1] levels of the tree

// A shape as rays meet it.
typedef struct mf_RangeSolid {
    uint32_t frame;     // [1] of its group's frames; MF_NONE: fixed in the world
    double position[3]; // [m] in the link's frame, or in the world
    double rotation[4]; // [1] its axes to the link's
    double radius;      // [m] of the sphere about its position that holds it
    mf_RaySolid shape;
} mf_RangeSolid;

// A range sensor of a model.
typedef struct mf_RangeRay {
    uint32_t item;       // [1] of the plan
    uint32_t frame;      // [1] of its group's frames; MF_NONE: fixed in the world
    double start[3];     // [m] in the link's frame, or in the world
    double direction[3]; // [1] likewise, unit
} mf_RangeRay;

typedef struct mf_RangePose {
    double position[3]; // [m] world
    double rotation[4]; // [1] to the world, unit
} mf_RangePose;

typedef struct mf_RangeGroup {
    mf_Group *group;
    mf_SensePlan *plan; // NULL: it has no range sensors
    mf_Tree *tree;
    mf_TreeMotionFn move; // in the group's precision
    mf_TreeFields fields;
    const uint32_t *fault;                    // fault.word
    bool wide;                                // its fields are double
    uint32_t count, first_block, block_count; // [1] robots; its blocks among those of all
    uint32_t first_item, item_count;          // [1] robots, then what is fixed in the world
    uint32_t *links;                          // [1] but the base, that frames need, in rising order
    uint32_t link_count;                      // [1]
    uint32_t *frames;                         // [1] links with solids or rays, in rising order
    uint32_t frame_count;                     // [1]
    mf_RangeSolid *solids;                    // first those of links
    uint32_t solid_count, moving_count;       // [1] all; those of links
    mf_RangeRay *rays;
    uint32_t ray_count;   // [1]
    mf_RangePose *poses;  // per robot and frame
    double (*centers)[3]; // [m] per robot and solid of a link: its position, world
} mf_RangeGroup;

typedef struct mf_RangeNode {
    double box[6];         // [m] lower and upper corner, world
    uint32_t first, count; // [1] items of a leaf; count 0: a node above `first` and the next node
} mf_RangeNode;

typedef struct mf_Ranges {
    mf_Context *context;
    mf_World *world;
    uint32_t group_count, item_count, block_count, node_count; // [1]
    mf_RangeGroup *groups;
    double (*boxes)[6];  // [m] per item; lower above upper: it is not there
    uint32_t *group_of;  // [1] per item
    uint32_t *order;     // [1] items that are there, as the leaves have them
    mf_RangeNode *nodes; // the root first
    mf_Scratch *scratch; // for the kernel of the tree
    mf_SystemRun run;    // of the step at work
} mf_Ranges;

// Fills groups (all but `plan`), items and memory from the world's shared groups. MF_NO_MEMORY.
mf_Status mf_ranges_take_groups(mf_Ranges *all, mf_Error *error);
void mf_ranges_destroy(mf_Context *context, void *user);

// Reads the present state of all groups; `alone`: on the calling thread only.
void mf_ranges_update(mf_Ranges *all, bool alone);
// Makes the tree of the boxes of all items. For mf_ranges_update.
void mf_ranges_grow(mf_Ranges *all);

// [m] how far the first shape is along a ray from `start` [m] along the unit vector `direction`,
// world; `nearest` where none is nearer. Shapes of the item `without` are passed over.
double mf_ranges_cast(const mf_Ranges *all, const double start[3], const double direction[3],
                      double nearest, uint32_t without);

// Shortens the values that the kernel has written for the blocks of `run` to the shapes that are
// nearer.
void mf_ranges_apply(const mf_Ranges *all, const mf_SensePlan *plan, const mf_SenseBatch *batch,
                     const mf_SenseRun *run);
