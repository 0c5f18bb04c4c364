// Numbers of links, joints and shapes that robots of a group have of their own (mf_group_vary): the
// field model.numbers, from which the tree's kernels, queries and pictures take masses, lengths and
// sizes.
#pragma once

#include <mayfly/world.h>

// Rows of the field: those of each link, of each joint, an armature per degree of freedom of a tree
// with a free base, and those of each shape.
enum {
    MF_LINK_MASS = 0,
    MF_LINK_CENTER = 1,
    MF_LINK_INERTIA = 4,
    MF_LINK_NUMBERS = 10,
    MF_JOINT_POSITION = 0,
    MF_JOINT_ROTATION = 3,
    MF_JOINT_AXIS = 7,
    MF_JOINT_REFERENCE = 10,
    MF_JOINT_NUMBERS = 11,
    MF_SHAPE_SIZE = 0,
    MF_SHAPE_POSITION = 3,
    MF_SHAPE_ROTATION = 6,
    MF_SHAPE_NUMBERS = 10
};

static inline uint32_t mf_numbers_of_link(uint32_t link) {
    return link * MF_LINK_NUMBERS;
}
static inline uint32_t mf_numbers_of_joint(const mf_Model *model, uint32_t joint) {
    return model->link_count * MF_LINK_NUMBERS + joint * MF_JOINT_NUMBERS;
}
// Of a value of the velocity vector.
static inline uint32_t mf_numbers_of_dof(const mf_Model *model, uint32_t dof) {
    return mf_numbers_of_joint(model, model->joint_count) + dof;
}

// Adds the field, if it is missing, with the numbers of the group's model for all robots.
// `armature` as in mf_tree_create, of a tree of that group. MF_NO_MEMORY.
mf_Status mf_numbers_begin(mf_Group *group, const double *armature, mf_Error *error);
// Gives the instances the numbers of `model`, which has the tree of the group's.
void mf_numbers_give(mf_Group *group, const mf_Model *model, const double *armature,
                     const uint32_t *instances, uint32_t count);

// What a robot has: an item of its model with its own numbers. Materials and meshes are those of
// the group's model.
mf_Link mf_own_link(const mf_Group *group, uint32_t instance, uint32_t link);
mf_Joint mf_own_joint(const mf_Group *group, uint32_t instance, uint32_t joint);
mf_Shape mf_own_shape(const mf_Group *group, uint32_t instance, uint32_t shape);
