// The part of a frozen model that only full dynamics uses: addresses, the start position, the joint
// of a free base, references of equalities and actuators, keyframes.
#include "model/assemble.h"

#include "math/scalar.h"

#include <string.h>

uint32_t mf_joint_positions(mf_JointType type) {
    static const uint32_t counts[] = {1, 1, 4, 0, 7, 0};
    return counts[type];
}

uint32_t mf_joint_velocities(mf_JointType type) {
    static const uint32_t counts[] = {1, 1, 3, 0, 6, 0};
    return counts[type];
}

uint32_t mf_draft_position_count(const mf_Draft *draft) {
    uint32_t count = draft->base_type == MF_BASE_FREE ? 7 : 0;
    for (uint32_t i = 0; i < draft->joints.count; i++)
        count += mf_joint_positions(mf_draft_joints(draft)[i].type);
    return count;
}

static void set_addresses(mf_Model *model) {
    mf_Joint *joints = (mf_Joint *)model->joints;
    bool is_free = model->base == MF_BASE_FREE;
    model->position_count = is_free ? 7 : 0;
    model->velocity_count = is_free ? 6 : 0;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        joints[i].position_address = model->position_count;
        joints[i].velocity_address = model->velocity_count;
        model->position_count += mf_joint_positions(joints[i].type);
        model->velocity_count += mf_joint_velocities(joints[i].type);
    }
    mf_Sensor *sensors = (mf_Sensor *)model->sensors;
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        sensors[i].address = model->sensor_value_count;
        model->sensor_value_count += sensors[i].count;
    }
}

static void fill_start(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    double *start = mf_block_take(block, mf_draft_position_count(draft), sizeof *start);
    if (model == NULL)
        return;
    model->start_position = start;
    if (draft->start_position != NULL) {
        memcpy(start, draft->start_position, model->position_count * sizeof *start);
        return;
    }
    for (uint32_t i = 0; i < model->position_count; i++)
        start[i] = 0.0;
    if (model->base == MF_BASE_FREE)
        start[3] = 1.0;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        double *value = start + joint->position_address;
        if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE)
            value[0] = joint->reference;
        else if (joint->type == MF_JOINT_BALL)
            value[0] = 1.0;
        else if (joint->type == MF_JOINT_FLOATING)
            value[3] = 1.0;
    }
}

static void fill_root(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    if (draft->root.type != MF_JOINT_FLOATING)
        return;
    mf_Joint *root = mf_block_take(block, 1, sizeof *root);
    const char *name = mf_block_text(block, draft->root.name);
    if (model == NULL)
        return;
    *root = draft->root;
    root->name = name;
    model->root = root;
}

// References of equalities depend on their type; actuators with dynamics have one activation each.
static void fill_couplings(const mf_Order *order, mf_Model *model) {
    mf_Equality *equalities = (mf_Equality *)model->equalities;
    mf_Actuator *actuators = (mf_Actuator *)model->actuators;
    for (uint32_t i = 0; i < model->equality_count; i++)
        for (int side = 0; side < 2 && equalities[i].type == MF_EQUALITY_JOINT; side++)
            equalities[i].objects[side] = mf_order_joint(order, equalities[i].objects[side]);
    for (uint32_t i = 0; i < model->actuator_count; i++)
        actuators[i].activation_address =
            actuators[i].dynamics == MF_DYNAMICS_NONE ? MF_NONE : model->activation_count++;
}

static double *copy_numbers(mf_Block *block, const double *numbers, size_t count) {
    double *copy = mf_block_take(block, count, sizeof *copy);
    if (block->base != NULL && count > 0)
        memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

// As MuJoCo does for keyframes: normalized, zero becomes the identity.
static void make_unit(double *rotation) {
    if (!mf_quat_normalize(rotation))
        mf_quat_identity(rotation);
}

static void make_rotations_unit(const mf_Model *model, double *position) {
    if (model->base == MF_BASE_FREE)
        make_unit(position + 3);
    for (uint32_t i = 0; i < model->joint_count; i++) {
        const mf_Joint *joint = &model->joints[i];
        if (joint->type == MF_JOINT_BALL || joint->type == MF_JOINT_FLOATING)
            make_unit(position + joint->position_address +
                      (joint->type == MF_JOINT_FLOATING ? 3 : 0));
    }
}

static void fill_keyframes(const mf_Draft *draft, mf_Block *block, mf_Model *model) {
    mf_Keyframe *items = mf_block_take(block, draft->keyframes.count, sizeof *items);
    uint32_t positions = mf_draft_position_count(draft), activations = 0;
    uint32_t velocities = draft->base_type == MF_BASE_FREE ? 6 : 0;
    for (uint32_t i = 0; i < draft->joints.count; i++)
        velocities += mf_joint_velocities(mf_draft_joints(draft)[i].type);
    for (uint32_t i = 0; i < draft->actuators.count; i++)
        activations += mf_draft_actuators(draft)[i].dynamics != MF_DYNAMICS_NONE;
    for (uint32_t i = 0; i < draft->keyframes.count; i++) {
        const mf_Keyframe *from = &mf_draft_keyframes(draft)[i];
        mf_Keyframe to = {.name = mf_block_text(block, from->name), .time = from->time};
        double *position = copy_numbers(block, from->position, positions);
        to.position = position;
        to.velocity = copy_numbers(block, from->velocity, velocities);
        to.activation = copy_numbers(block, from->activation, activations);
        to.control = copy_numbers(block, from->control, draft->actuators.count);
        if (model == NULL)
            continue;
        make_rotations_unit(model, position);
        items[i] = to;
    }
    if (model == NULL)
        return;
    model->keyframes = items;
    model->keyframe_count = draft->keyframes.count;
}

void mf_assemble_dynamics(const mf_Draft *draft, const mf_Order *order, mf_Block *block,
                          mf_Model *model) {
    if (model != NULL) {
        model->base = draft->base_type;
        model->physics = draft->physics;
        set_addresses(model);
        fill_couplings(order, model);
    }
    fill_start(draft, block, model);
    fill_root(draft, block, model);
    fill_keyframes(draft, block, model);
}
