// The state of a robot as position and velocity vectors of its model: reading and writing.

#include "math/scalar.h"

#include "world/group.h"

// The fields of ball and floating joints; NULL if the motion does not support them.
typedef struct Rows {
    mf_Field *angle, *rate, *target, *followed, *ball, *ball_rate, *position, *speed;
} Rows;

static Rows find_rows(mf_Group *group) {
    return (Rows){.angle = mf_group_find_field(group, "joint.angle"),
                  .rate = mf_group_find_field(group, "joint.rate"),
                  .target = mf_group_find_field(group, "joint.target"),
                  .followed = mf_group_find_field(group, "actuator.target"),
                  .ball = mf_group_find_field(group, "ball.orientation"),
                  .ball_rate = mf_group_find_field(group, "ball.rate"),
                  .position = mf_group_find_field(group, "free.position"),
                  .speed = mf_group_find_field(group, "free.velocity")};
}

static void write(mf_Field *field, uint32_t instance, uint32_t first, uint32_t count,
                  const double *values) {
    for (uint32_t i = 0; field != NULL && i < count; i++)
        mf_field_set(field, instance, first + i, values[i]);
}

static void write_rotation(mf_Field *field, uint32_t instance, uint32_t first,
                           const double *rotation) {
    double unit[4] = {rotation[0], rotation[1], rotation[2], rotation[3]};
    if (!mf_quat_normalize(unit))
        mf_quat_identity(unit);
    write(field, instance, first, 4, unit);
}

static void write_base(mf_Group *group, uint32_t instance, const double *q, const double *v) {
    write(mf_group_find_field(group, "base.position"), instance, 0, 3, q);
    write_rotation(mf_group_find_field(group, "base.orientation"), instance, 0, q + 3);
    write(mf_group_find_field(group, "base.linear_velocity"), instance, 0, 3, v);
    write(mf_group_find_field(group, "base.angular_velocity"), instance, 0, 3, v + 3);
}

void mf_group_set_state(mf_Group *group, uint32_t instance, const double *position,
                        const double *velocity) {
    if (group == NULL || instance >= mf_group_count(group))
        return;
    const mf_Model *model = mf_group_model(group);
    const Rows rows = find_rows(group);
    uint32_t ball = 0, floating = 0;
    if (model->base == MF_BASE_FREE)
        write_base(group, instance, position, velocity);
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        const double *q = position + joint->position_address;
        const double *v = velocity + joint->velocity_address;
        if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE) {
            write(rows.angle, instance, j, 1, q);
            write(rows.target, instance, j, 1, q);
            write(rows.followed, instance, j, 1, q); // a state does not change commands
            write(rows.rate, instance, j, 1, v);
            continue;
        }
        if (joint->type == MF_JOINT_FLOATING) {
            write(rows.position, instance, 3 * floating, 3, q);
            write(rows.speed, instance, 3 * floating, 3, v);
            floating++;
            q += 3;
            v += 3;
        }
        if (joint->type == MF_JOINT_FLOATING || joint->type == MF_JOINT_BALL) {
            write_rotation(rows.ball, instance, 4 * ball, q);
            write(rows.ball_rate, instance, 3 * ball, 3, v);
            ball++;
        }
    }
    mf_group_refresh(group, instance);
}

static void read(const mf_Field *field, uint32_t instance, uint32_t first, uint32_t count,
                 double *values) {
    for (uint32_t i = 0; field != NULL && i < count; i++)
        values[i] = mf_field_get(field, instance, first + i);
}

void mf_group_get_position(const mf_Group *group, uint32_t instance, double *position) {
    const mf_Model *model = mf_group_model(group);
    const Rows rows = find_rows((mf_Group *)group);
    uint32_t ball = 0, floating = 0;
    memcpy(position, model->start_position, model->position_count * sizeof *position);
    if (model->base == MF_BASE_FREE) {
        read(group->canonical.position, instance, 0, 3, position);
        read(group->canonical.orientation, instance, 0, 4, position + 3);
    }
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Joint *joint = &model->joints[j];
        double *q = position + joint->position_address;
        if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE)
            read(rows.angle, instance, j, 1, q);
        if (joint->type == MF_JOINT_FLOATING) {
            read(rows.position, instance, 3 * floating++, 3, q);
            q += 3;
        }
        if (joint->type == MF_JOINT_FLOATING || joint->type == MF_JOINT_BALL)
            read(rows.ball, instance, 4 * ball++, 4, q);
    }
}
