// Numbers of robots' own (numbers.h).
#include "multibody/numbers.h"
#include "multibody/tree.h"
#include "world/attach.h"

#include <string.h>

static const mf_FieldInfo info = {
    "model.numbers",
    "1",
    "",
    MF_F64,
    MF_FIXED_COUNT,
    1,
    MF_FIELD_STATE,
    "the robot's own masses, lengths and sizes, where robots of the group differ (mf_group_vary)"};

static uint32_t dof_count(const mf_Model *model) {
    return mf_tree_velocity_address(model, true, model->joint_count);
}

static uint32_t shape_row(const mf_Model *model, uint32_t shape) {
    return mf_numbers_of_dof(model, dof_count(model)) + shape * MF_SHAPE_NUMBERS;
}

// Values of one row after the other, MF_BLOCK apart.
static double *put(double *to, const double *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, to += MF_BLOCK)
        *to = from[i];
    return to;
}

static void put_armature(double *to, const mf_Model *model) {
    static const double none[6] = {0.0};
    if (model->base == MF_BASE_FREE)
        to = put(to, none, 6);
    for (uint32_t j = 0; j < model->joint_count; j++)
        for (uint32_t d = 0; d < mf_tree_joint_dofs(model->joints[j].type); d++)
            to = put(to, &model->joints[j].armature, 1);
}

static void put_robot(const mf_Field *numbers, const mf_Model *model, const double *armature,
                      uint32_t instance) {
    double *to = (double *)numbers->data + mf_field_index(numbers, instance, 0);
    for (uint32_t l = 0; l < model->link_count; l++) {
        const mf_Link *link = &model->links[l];
        to = put(to, &link->mass, 1);
        to = put(to, link->center, 3);
        to = put(to, link->inertia, 6);
    }
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        to = put(to, joint->position, 3);
        to = put(to, joint->rotation, 4);
        to = put(to, joint->axis, 3);
        to = put(to, &joint->reference, 1);
    }
    if (armature != NULL)
        put(to, armature, dof_count(model));
    else
        put_armature(to, model);
    to += (size_t)dof_count(model) * MF_BLOCK;
    for (uint32_t s = 0; s < model->shape_count; s++) {
        const mf_Shape *shape = &model->shapes[s];
        to = put(to, shape->size, 3);
        to = put(to, shape->position, 3);
        to = put(to, shape->rotation, 4);
    }
}

mf_Status mf_numbers_begin(mf_Group *group, const double *armature, mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    mf_Field *numbers;
    if (mf_group_numbers(group) != NULL)
        return MF_OK;
    MF_TRY(mf_attach_field(group, &info, shape_row(model, model->shape_count), &numbers, error));
    // Also in lanes without a robot, which compute like the others.
    for (uint32_t i = 0; i < mf_group_block_count(group) * MF_BLOCK; i++)
        put_robot(numbers, model, armature, i);
    mf_attach_numbers(group, numbers);
    return MF_OK;
}

void mf_numbers_give(mf_Group *group, const mf_Model *model, const double *armature,
                     const uint32_t *instances, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        put_robot(mf_group_numbers(group), model, armature, instances[i]);
}

// ---- what a robot has ---------------------------------------------------------------------------

mf_Link mf_own_link(const mf_Group *group, uint32_t instance, uint32_t link) {
    const mf_Field *numbers = mf_group_numbers(group);
    const uint32_t row = mf_numbers_of_link(link);
    mf_Link own = mf_group_model(group)->links[link];
    if (numbers != NULL) {
        own.mass = mf_field_get(numbers, instance, row + MF_LINK_MASS);
        mf_field_read(numbers, instance, row + MF_LINK_CENTER, 3, own.center);
        mf_field_read(numbers, instance, row + MF_LINK_INERTIA, 6, own.inertia);
    }
    return own;
}

mf_Joint mf_own_joint(const mf_Group *group, uint32_t instance, uint32_t joint) {
    const mf_Model *model = mf_group_model(group);
    const mf_Field *numbers = mf_group_numbers(group);
    const uint32_t row = mf_numbers_of_joint(model, joint);
    mf_Joint own = model->joints[joint];
    if (numbers != NULL) {
        mf_field_read(numbers, instance, row + MF_JOINT_POSITION, 3, own.position);
        mf_field_read(numbers, instance, row + MF_JOINT_ROTATION, 4, own.rotation);
        mf_field_read(numbers, instance, row + MF_JOINT_AXIS, 3, own.axis);
        own.reference = mf_field_get(numbers, instance, row + MF_JOINT_REFERENCE);
    }
    return own;
}

mf_Shape mf_own_shape(const mf_Group *group, uint32_t instance, uint32_t shape) {
    const mf_Model *model = mf_group_model(group);
    const mf_Field *numbers = mf_group_numbers(group);
    mf_Shape own = model->shapes[shape];
    if (numbers != NULL) {
        const uint32_t row = shape_row(model, shape);
        mf_field_read(numbers, instance, row + MF_SHAPE_SIZE, 3, own.size);
        mf_field_read(numbers, instance, row + MF_SHAPE_POSITION, 3, own.position);
        mf_field_read(numbers, instance, row + MF_SHAPE_ROTATION, 4, own.rotation);
        memcpy(own.color, mf_group_model_of(group, instance)->shapes[shape].color,
               sizeof own.color);
    }
    return own;
}
