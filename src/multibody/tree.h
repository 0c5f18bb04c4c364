// The tree of links of a model, as the kernels of this folder read it: one block of memory without
// pointers. tree_motion_kernel.c computes poses and velocities of links,
// tree_dynamics_double_kernel.c the equations of motion.
#pragma once

#include "math/kernel.h"

#include <mayfly/world.h>

// Source of the values of joints.
typedef enum mf_TreeRows {
    MF_TREE_FIELDS, // in the fields of a group: joint.angle, joint.rate, ball.*, free.*
    MF_TREE_VECTORS // in a position and a velocity vector of the model
} mf_TreeRows;

typedef struct mf_TreeLink {
    uint32_t parent;                          // [1] link
    uint32_t type;                            // mf_JointType of its joint
    bool rotated;                             // `rotation` is not the identity
    uint32_t slide_row, slide_rate_row;       // [1] components of a translation, and of its rate
    uint32_t rotation_row, rotation_rate_row; // [1] likewise of a hinge or a ball
    uint32_t velocity, dofs;                  // [1] its first degree of freedom, and how many
    double position[3], rotation[4];          // [m], [1] of the joint in the parent
    double axis[3];                           // [1] of the joint in the link
    double reference;                         // [rad] or [m]
    double mass, center[3], inertia[6];       // [kg], [m], [kg m^2] about the center, link's axes
    uint32_t joint_numbers, link_numbers;     // [1] rows in model.numbers (numbers.h)
} mf_TreeLink;

// Degrees of freedom are the values of a velocity vector.
typedef struct mf_TreeDof {
    uint32_t link;
    uint32_t parent;  // [1] the next one towards the base; MF_NONE: none
    uint32_t entries; // [1] the first entry of its row of the mass matrix: of itself, then of the
                      // ones towards the base
    double armature;  // [kg m^2] or [kg]
    uint32_t number;  // [1] its row in model.numbers
} mf_TreeDof;

typedef struct mf_Tree {
    uint32_t bytes;      // [byte] of the block
    uint32_t link_count; // [1] the base first, parents before children
    uint32_t dof_count;
    uint32_t entry_count;       // [1] of the lower half of the mass matrix that may be nonzero
    uint32_t links_at, dofs_at; // [byte] of the arrays below, from the beginning of the block
    bool free;                  // the base has six degrees of freedom
} mf_Tree;

static inline const mf_TreeLink *mf_tree_links(const mf_Tree *tree) {
    return (const mf_TreeLink *)(const void *)((const char *)tree + tree->links_at);
}

static inline const mf_TreeDof *mf_tree_dofs(const mf_Tree *tree) {
    return (const mf_TreeDof *)(const void *)((const char *)tree + tree->dofs_at);
}

uint32_t mf_tree_joint_dofs(mf_JointType type); // [1] degrees of freedom
// The first value of a joint in a velocity vector with or without a free base; of joint_count: the
// size of such a vector.
uint32_t mf_tree_velocity_address(const mf_Model *model, bool free, uint32_t joint);

// Makes the tree; `free` overrides the model. `armature` has a value per degree of freedom; NULL:
// those of the model's joints. Freed with mf_release. MF_NO_MEMORY.
mf_Status mf_tree_create(mf_Context *context, const mf_Model *model, mf_TreeRows rows, bool free,
                         const double *armature, mf_Tree **out, mf_Error *error);

// Values of a block of robots: rows of MF_BLOCK, component after component.
typedef struct mf_TreeState {
    const void *position, *orientation, *linear, *angular; // of the base as in its fields; NULL:
                                                           // 0, no rotation, at rest
    const void *angle, *rate;     // hinges and slides; in vectors the same as the next four
    const void *ball, *ball_rate; // ball and floating joints; NULL: no rotation
    const void *free, *free_rate; // floating joints; NULL: 0
    bool wide;                    // rows are of double
    const double *numbers;        // rows of model.numbers; NULL: all robots have the tree's
} mf_TreeState;

// The fields of a group from which its link poses and velocities follow.
typedef struct mf_TreeFields {
    const mf_Field *position, *orientation, *linear, *angular, *angle, *rate;
    const mf_Field *ball, *ball_rate, *free, *free_rate; // NULL: the group has none
    const mf_Group *group;
} mf_TreeFields;
// Their names, for the lists of what a system reads; a group may lack those with "?".
#define MF_TREE_FIELD_NAMES                                                                        \
    "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",          \
        "joint.angle", "joint.rate", "?ball.orientation", "?ball.rate", "?free.position",          \
        "?free.velocity"
mf_TreeFields mf_tree_fields(mf_Group *group);
mf_TreeState mf_tree_state(const mf_TreeFields *fields, uint32_t block);

// Output of the forward kinematics: rows of MF_BLOCK values in the kernel's precision. Vectors are
// in world axes; positions are relative to the base's origin, because far from the world's origin
// they would lose digits.
typedef struct mf_TreeMotion {
    void *position;     // [m] 3 per link
    void *rotation;     // [1] (w, x, y, z) per link, to the world
    void *matrix;       // [1] 9 per link: the rotation as a matrix; NULL: not stored
    void *velocity;     // 6 per link: [m/s] of its origin, [rad/s]
    void *acceleration; // 6 per link: [m/s^2], [rad/s^2]; NULL: not computed
    const void *change; // [1] input: derivative of the velocity vector, in the kernel's precision;
                        // NULL: 0
    uint32_t position_rows, rotation_rows, matrix_rows, velocity_rows; // [1] from link to link
    const uint32_t *links; // [1] links to compute behind the base, in rising order, with all links
                           // between base and them; NULL: all
    uint32_t link_count;   // [1] of them
    uint32_t first_lane, lane_count; // [1] lanes to compute, in whole widths of the kernel
    bool in_world;                   // positions are relative to the world's origin instead
} mf_TreeMotion;

// Computes the motion of all links.
typedef void (*mf_TreeMotionFn)(const mf_Tree *tree, const mf_TreeState *state,
                                const mf_TreeMotion *motion);
MF_KERNEL_COPIES(void, mf_tree_motion,
                 (const mf_Tree *tree, const mf_TreeState *state, const mf_TreeMotion *motion));

typedef enum mf_TreeTask {
    MF_TREE_MASS,     // entries of the mass matrix
    MF_TREE_INVERSE,  // forces for given accelerations
    MF_TREE_FORWARD,  // accelerations for given forces
    MF_TREE_JACOBIAN, // velocity of a point per degree of freedom
} mf_TreeTask;

// A query for a block of robots. All memory is rows of MF_BLOCK doubles.
typedef struct mf_TreeQuery {
    const mf_Tree *tree;
    mf_TreeTask task;
    mf_TreeMotion motion; // with matrix; acceleration and change as the task needs
    double gravity[3];    // [m/s^2]
    uint32_t link;        // of a Jacobian,
    double point[3];      // [m] in that link's frame
    const void *in;       // dof_count rows: forces of MF_TREE_FORWARD
    void *twists;         // 6 per degree of freedom: rate, then velocity at the base's origin
    void *inertias;       // 10 per link: as Sym about the base's origin, first moment, mass
    void *wrenches;       // 6 per link: torque about the base's origin, force
    void *entries;        // entry_count: the mass matrix, or its factors
    void *out;            // dof_count rows of forces or accelerations; 6 per degree of freedom of a
                          // Jacobian: velocity, rate
} mf_TreeQuery;

typedef void (*mf_TreeQueryFn)(const mf_TreeQuery *query, const mf_TreeState *state);
MF_KERNEL_COPIES(void, mf_tree_query, (const mf_TreeQuery *query, const mf_TreeState *state));
