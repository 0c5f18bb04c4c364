// Forward kinematics of one link: from the link up to the base, so that only the joints on the path
// are evaluated (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 4).
//
// Invariant: plain double arithmetic on values of fields, so equal states have equal motions.
#include "dynamics/link_motion.h"
#include "math/scalar.h"

mf_LinkMotion mf_link_motion_world(void) {
    return (mf_LinkMotion){.orientation = {1.0, 0.0, 0.0, 0.0}};
}

void mf_link_fields_bind(mf_LinkFields *fields, mf_Group *group) {
    const mf_Model *model = mf_group_model(group);
    uint32_t balls = 0, frees = 0;
    fields->model = model;
    fields->position = mf_group_find_field(group, "base.position");
    fields->orientation = mf_group_find_field(group, "base.orientation");
    fields->linear_velocity = mf_group_find_field(group, "base.linear_velocity");
    fields->angular_velocity = mf_group_find_field(group, "base.angular_velocity");
    fields->angle = mf_group_find_field(group, "joint.angle");
    fields->rate = mf_group_find_field(group, "joint.rate");
    fields->ball = mf_group_find_field(group, "ball.orientation");
    fields->ball_rate = mf_group_find_field(group, "ball.rate");
    fields->place = mf_group_find_field(group, "free.position");
    fields->speed = mf_group_find_field(group, "free.velocity");
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const bool floats = model->joints[j].type == MF_JOINT_FLOATING;
        fields->ball_of[j] = balls;
        fields->free_of[j] = frees;
        balls += floats || model->joints[j].type == MF_JOINT_BALL;
        frees += floats;
    }
}

static void read_values(double *out, const mf_Field *field, uint32_t instance, uint32_t first,
                        uint32_t count) {
    for (uint32_t c = 0; c < count; c++)
        out[c] = mf_field_get(field, instance, first + c);
}

// How the child of a joint stands and moves on the parent, in the parent's axes.
typedef struct Step {
    double place[3], turn[4];    // [m], [1] child to parent
    double velocity[3], rate[3]; // [m/s], [rad/s]
} Step;

static void turn_ball(Step *step, const mf_LinkFields *fields, uint32_t instance, uint32_t j) {
    double turn[4], rate[3];
    if (fields->ball == NULL)
        return;
    read_values(turn, fields->ball, instance, 4 * fields->ball_of[j], 4);
    mf_quat_normalize(turn);
    mf_quat_multiply(step->turn, step->turn, turn);
    read_values(rate, fields->ball_rate, instance, 3 * fields->ball_of[j], 3);
    mf_quat_rotate(step->rate, step->turn, rate);
}

static void step_of(Step *step, const mf_LinkFields *fields, uint32_t instance, uint32_t j) {
    const mf_Joint *joint = &fields->model->joints[j];
    double axis[3], turn[4], shift[3];
    *step = (Step){.place = {0}};
    mf_vec3_copy(step->place, joint->position);
    memcpy(step->turn, joint->rotation, sizeof step->turn);
    if (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE) {
        const double way = mf_field_get(fields->angle, instance, j) - joint->reference;
        const double rate = mf_field_get(fields->rate, instance, j);
        mf_quat_rotate(axis, joint->rotation, joint->axis);
        if (joint->type == MF_JOINT_HINGE) {
            mf_quat_from_axis_angle(turn, joint->axis, way);
            mf_quat_multiply(step->turn, joint->rotation, turn);
            mf_vec3_scale(step->rate, axis, rate);
        } else {
            mf_vec3_add_scaled(step->place, step->place, way, axis);
            mf_vec3_scale(step->velocity, axis, rate);
        }
    }
    if (joint->type == MF_JOINT_FLOATING && fields->place != NULL) {
        read_values(shift, fields->place, instance, 3 * fields->free_of[j], 3);
        mf_quat_rotate(shift, joint->rotation, shift);
        mf_vec3_add(step->place, step->place, shift);
        read_values(shift, fields->speed, instance, 3 * fields->free_of[j], 3);
        mf_quat_rotate(step->velocity, joint->rotation, shift);
    }
    if (joint->type == MF_JOINT_BALL || joint->type == MF_JOINT_FLOATING)
        turn_ball(step, fields, instance, j);
}

// Takes a motion from the axes of a child to those of the parent.
static void carry(mf_LinkMotion *motion, const Step *step) {
    double arm[3], swing[3], turned[3];
    mf_quat_rotate(arm, step->turn, motion->position);
    mf_vec3_cross(swing, step->rate, arm);
    mf_vec3_add(motion->position, step->place, arm);
    mf_quat_rotate(turned, step->turn, motion->velocity);
    mf_vec3_add(turned, turned, swing);
    mf_vec3_add(motion->velocity, turned, step->velocity);
    mf_quat_rotate(turned, step->turn, motion->rate);
    mf_vec3_add(motion->rate, turned, step->rate);
    mf_quat_multiply(motion->orientation, step->turn, motion->orientation);
}

void mf_link_motion(mf_LinkMotion *out, const mf_LinkFields *fields, uint32_t instance,
                    uint32_t link, bool still) {
    const mf_Model *model = fields->model;
    Step step;
    *out = mf_link_motion_world();
    for (uint32_t l = link; l != 0; l = model->links[l].parent) {
        step_of(&step, fields, instance, model->links[l].joint);
        carry(out, &step);
    }
    double rate[3];
    read_values(step.place, fields->position, instance, 0, 3);
    read_values(step.turn, fields->orientation, instance, 0, 4);
    mf_quat_normalize(step.turn);
    read_values(step.velocity, fields->linear_velocity, instance, 0, 3);
    read_values(rate, fields->angular_velocity, instance, 0, 3);
    mf_quat_rotate(step.rate, step.turn, rate);
    carry(out, &step);
    mf_quat_normalize(out->orientation);
    if (still) {
        mf_vec3_set(out->velocity, 0, 0, 0);
        mf_vec3_set(out->rate, 0, 0, 0);
    }
}

void mf_link_point(const mf_LinkMotion *motion, const double point[3], double position[3],
                   double velocity[3]) {
    double arm[3], swing[3];
    mf_quat_rotate(arm, motion->orientation, point);
    if (position != NULL)
        mf_vec3_add(position, motion->position, arm);
    if (velocity != NULL) {
        mf_vec3_cross(swing, motion->rate, arm);
        mf_vec3_add(velocity, motion->velocity, swing);
    }
}
