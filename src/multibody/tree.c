// From a model to the tree that the kernels read.
#include "multibody/tree.h"

#include "math/scalar.h"
#include "multibody/numbers.h"
#include "world/attach.h"

static bool is_rotated(const double q[4]) {
    return q[1] != 0.0 || q[2] != 0.0 || q[3] != 0.0;
}

uint32_t mf_tree_joint_dofs(mf_JointType type) {
    switch (type) {
    case MF_JOINT_HINGE:
    case MF_JOINT_SLIDE:
        return 1;
    case MF_JOINT_BALL:
        return 3;
    case MF_JOINT_FLOATING:
        return 6;
    default:
        return 0;
    }
}

uint32_t mf_tree_velocity_address(const mf_Model *model, bool free, uint32_t joint) {
    uint32_t address = free ? 6 : 0;
    for (uint32_t j = 0; j < joint; j++)
        address += mf_tree_joint_dofs(model->joints[j].type);
    return address;
}

// Numbers of joints among those of a kind, in the model's order, as fields count them.
typedef struct Counts {
    uint32_t balls, floating; // [1] so far; a floating joint is in both
    uint32_t velocities;      // [1] values of a velocity vector so far
} Counts;

static void set_rows(mf_TreeLink *link, mf_TreeRows rows, const mf_Joint *joint, uint32_t number,
                     const Counts *counts) {
    const bool floats = joint->type == MF_JOINT_FLOATING;
    if (rows == MF_TREE_VECTORS) {
        link->slide_row = joint->position_address;
        link->slide_rate_row = joint->velocity_address;
        link->rotation_row = joint->position_address + (floats ? 3 : 0);
        link->rotation_rate_row = joint->velocity_address + (floats ? 3 : 0);
    } else if (floats || joint->type == MF_JOINT_BALL) {
        link->slide_row = link->slide_rate_row = 3 * counts->floating;
        link->rotation_row = 4 * counts->balls;
        link->rotation_rate_row = 3 * counts->balls;
    } else {
        link->slide_row = link->slide_rate_row = link->rotation_row = link->rotation_rate_row =
            number;
    }
}

static void set_joint(mf_TreeLink *link, const mf_Joint *joint) {
    link->parent = joint->parent;
    link->type = joint->type;
    link->rotated = is_rotated(joint->rotation);
    link->reference = joint->reference;
    mf_vec3_copy(link->position, joint->position);
    mf_vec3_copy(link->axis, joint->axis);
    memcpy(link->rotation, joint->rotation, sizeof link->rotation);
    link->dofs = mf_tree_joint_dofs(joint->type);
}

static void set_mass(mf_TreeLink *out, const mf_Link *link) {
    out->mass = link->mass;
    mf_vec3_copy(out->center, link->center);
    memcpy(out->inertia, link->inertia, sizeof out->inertia);
}

static void set_links(const mf_Tree *tree, const mf_Model *model, mf_TreeRows rows,
                      mf_TreeLink *links) {
    const uint32_t base = tree->free ? 6 : 0;
    Counts counts = {.velocities = base};
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        mf_TreeLink *link = &links[joint->child];
        set_joint(link, joint);
        set_rows(link, rows, joint, j, &counts);
        link->joint_numbers = mf_numbers_of_joint(model, j);
        link->velocity = counts.velocities;
        counts.velocities += link->dofs;
        counts.balls += joint->type == MF_JOINT_BALL || joint->type == MF_JOINT_FLOATING;
        counts.floating += joint->type == MF_JOINT_FLOATING;
    }
    links[0].parent = MF_NONE;
    links[0].dofs = base;
    for (uint32_t l = 0; l < model->link_count; l++) {
        set_mass(&links[l], &model->links[l]);
        links[l].link_numbers = mf_numbers_of_link(l);
    }
}

static void set_dofs(mf_Tree *tree, const mf_Model *model, const double *armature,
                     mf_TreeDof *dofs) {
    const mf_TreeLink *links = mf_tree_links(tree);
    for (uint32_t l = 0; l < tree->link_count; l++) {
        const mf_TreeLink *link = &links[l];
        uint32_t above = l; // the next link on the way to the base that can move
        do
            above = links[above].parent;
        while (above != MF_NONE && links[above].dofs == 0);
        for (uint32_t i = 0; i < link->dofs; i++) {
            mf_TreeDof *dof = &dofs[link->velocity + i];
            dof->link = l;
            dof->number = mf_numbers_of_dof(model, link->velocity + i);
            dof->parent = link->velocity + i - 1;
            if (i == 0)
                dof->parent =
                    above == MF_NONE ? MF_NONE : links[above].velocity + links[above].dofs - 1;
            if (armature != NULL)
                dof->armature = armature[link->velocity + i];
            else if (l > 0)
                dof->armature = model->joints[model->links[l].joint].armature;
        }
    }
    for (uint32_t d = 0; d < tree->dof_count; d++) {
        dofs[d].entries = tree->entry_count;
        for (uint32_t i = d; i != MF_NONE; i = dofs[i].parent)
            tree->entry_count++;
    }
}

mf_Status mf_tree_create(mf_Context *context, const mf_Model *model, mf_TreeRows rows, bool free,
                         const double *armature, mf_Tree **out, mf_Error *error) {
    const uint32_t dofs = mf_tree_velocity_address(model, free, model->joint_count);
    const size_t start = (sizeof(mf_Tree) + 7) / 8 * 8, // links hold doubles
        at = start + model->link_count * sizeof(mf_TreeLink),
                 bytes = at + dofs * sizeof(mf_TreeDof);
    mf_Tree *tree = bytes <= UINT32_MAX ? mf_allocate(context, 1, bytes) : NULL;
    *out = tree;
    if (tree == NULL)
        return mf_fail(error, MF_NO_MEMORY, "model %s: out of memory", model->name);
    tree->bytes = (uint32_t)bytes;
    tree->link_count = model->link_count;
    tree->dof_count = dofs;
    tree->links_at = (uint32_t)start;
    tree->dofs_at = (uint32_t)at;
    tree->free = free;
    set_links(tree, model, rows, (mf_TreeLink *)(void *)((char *)tree + start));
    set_dofs(tree, model, armature, (mf_TreeDof *)(void *)((char *)tree + at));
    return MF_OK;
}

// ---- fields ------------------------------------------------------------------------------------

mf_TreeFields mf_tree_fields(mf_Group *group) {
    return (mf_TreeFields){.position = mf_group_find_field(group, "base.position"),
                           .orientation = mf_group_find_field(group, "base.orientation"),
                           .linear = mf_group_find_field(group, "base.linear_velocity"),
                           .angular = mf_group_find_field(group, "base.angular_velocity"),
                           .angle = mf_group_find_field(group, "joint.angle"),
                           .rate = mf_group_find_field(group, "joint.rate"),
                           .ball = mf_group_find_field(group, "ball.orientation"),
                           .ball_rate = mf_group_find_field(group, "ball.rate"),
                           .free = mf_group_find_field(group, "free.position"),
                           .free_rate = mf_group_find_field(group, "free.velocity"),
                           .group = group};
}

static const void *rows_at(const mf_Field *field, uint32_t block) {
    if (field == NULL)
        return NULL;
    const size_t row = MF_BLOCK * mf_field_value_size(field->info.type);
    return (const char *)field->data + (size_t)block * field->components * row;
}

mf_TreeState mf_tree_state(const mf_TreeFields *fields, uint32_t block) {
    return (mf_TreeState){.position = rows_at(fields->position, block),
                          .orientation = rows_at(fields->orientation, block),
                          .linear = rows_at(fields->linear, block),
                          .angular = rows_at(fields->angular, block),
                          .angle = rows_at(fields->angle, block),
                          .rate = rows_at(fields->rate, block),
                          .ball = rows_at(fields->ball, block),
                          .ball_rate = rows_at(fields->ball_rate, block),
                          .free = rows_at(fields->free, block),
                          .free_rate = rows_at(fields->free_rate, block),
                          .numbers = rows_at(mf_group_numbers(fields->group), block),
                          .wide = fields->position->info.type == MF_F64};
}
