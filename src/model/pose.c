// Forward kinematics in plain double: the pose of every link from the joint angles.
//
//   child rotation = parent rotation * joint rotation * turn(axis, angle - reference)  hinge
//                    parent rotation * joint rotation * quaternion                     ball,
//                    floating
//   child position = parent position + parent rotation (joint position + joint rotation shift)
//                    shift: axis (angle - reference) of a slide, position of a floating joint
// From angles alone joints of other types than hinge and slide stay at their zero pose.
#include "math/scalar.h"
#include "model/points.h"
#include "base/floats.h"

#include <mayfly/model.h>

static void pose_of_child(const mf_Joint *joint, double value, const double parent_position[3],
                          const double parent_rotation[4], double position[3], double rotation[4]) {
    double local[3], frame[4], angle = value - joint->reference;
    mf_quat_multiply(frame, parent_rotation, joint->rotation);
    mf_quat_rotate(local, parent_rotation, joint->position);
    mf_vec3_add(position, parent_position, local);
    if (joint->type == MF_JOINT_HINGE) {
        double orientation[4];
        mf_quat_from_axis_angle(orientation, joint->axis, angle);
        mf_quat_multiply(frame, frame, orientation);
    } else if (joint->type == MF_JOINT_SLIDE) {
        mf_quat_rotate(local, frame, joint->axis);
        mf_vec3_add_scaled(position, position, angle, local);
    }
    mf_quat_normalize(frame);
    for (int i = 0; i < 4; i++)
        rotation[i] = frame[i];
}

// Pose of one link by walking up to the base, for callers that store only one of the two arrays.
static void pose_by_walk(const mf_Model *model, const double *angle, uint32_t link,
                         double position[3], double rotation[4]) {
    mf_vec3_set(position, 0.0, 0.0, 0.0);
    mf_quat_identity(rotation);
    while (link != 0) {
        const mf_Joint *joint = &model->joints[model->links[link].joint];
        const double zero[3] = {0.0, 0.0, 0.0}, identity[4] = {1.0, 0.0, 0.0, 0.0};
        double step_position[3], step_rotation[4], moved[3];
        pose_of_child(joint, angle[model->links[link].joint], zero, identity, step_position,
                      step_rotation);
        mf_quat_rotate(moved, step_rotation, position);
        mf_vec3_add(position, step_position, moved);
        mf_quat_multiply(rotation, step_rotation, rotation);
        link = joint->parent;
    }
}

void mf_model_pose(const mf_Model *model, const double *angle, double (*position)[3],
                   double (*rotation)[4]) {
    MF_DEFAULT_FLOATS;
    if (model == NULL)
        return;
    if (position == NULL || rotation == NULL) {
        double spare_position[3], spare_rotation[4];
        for (uint32_t i = 0; i < model->link_count; i++)
            pose_by_walk(model, angle, i, position ? position[i] : spare_position,
                         rotation ? rotation[i] : spare_rotation);
        return;
    }
    mf_vec3_set(position[0], 0.0, 0.0, 0.0);
    mf_quat_identity(rotation[0]);
    for (uint32_t i = 1; i < model->link_count; i++) {
        const mf_Joint *joint = &model->joints[model->links[i].joint];
        pose_of_child(joint, angle[model->links[i].joint], position[joint->parent],
                      rotation[joint->parent], position[i], rotation[i]);
    }
}

static void pose_at(const mf_Joint *joint, const double *q, const double parent_position[3],
                    const double parent_rotation[4], double position[3], double rotation[4]) {
    const double *orientation = joint->type == MF_JOINT_BALL ? q : q + 3;
    if (joint->type != MF_JOINT_BALL && joint->type != MF_JOINT_FLOATING) {
        bool moves = mf_joint_has_axis(joint);
        pose_of_child(joint, moves ? q[0] : 0.0, parent_position, parent_rotation, position,
                      rotation);
        return;
    }
    double local[3], unit[4], frame[4];
    memcpy(unit, orientation, sizeof unit);
    mf_quat_normalize(unit);
    mf_quat_rotate(local, parent_rotation, joint->position);
    mf_vec3_add(position, parent_position, local);
    mf_quat_multiply(frame, parent_rotation, joint->rotation);
    if (joint->type == MF_JOINT_FLOATING) {
        mf_quat_rotate(local, frame, q);
        mf_vec3_add(position, position, local);
    }
    mf_quat_multiply(rotation, frame, unit);
    mf_quat_normalize(rotation);
}

void mf_model_pose_at(const mf_Model *model, const double *q, double (*position)[3],
                      double (*rotation)[4]) {
    MF_DEFAULT_FLOATS;
    if (model == NULL || position == NULL || rotation == NULL)
        return;
    mf_vec3_set(position[0], 0.0, 0.0, 0.0);
    mf_quat_identity(rotation[0]);
    if (model->base == MF_BASE_FREE) {
        mf_vec3_copy(position[0], q);
        memcpy(rotation[0], q + 3, sizeof rotation[0]);
        mf_quat_normalize(rotation[0]);
    }
    for (uint32_t i = 1; i < model->link_count; i++) {
        const mf_Joint *joint = &model->joints[model->links[i].joint];
        pose_at(joint, q + joint->position_address, position[joint->parent],
                rotation[joint->parent], position[i], rotation[i]);
    }
}
