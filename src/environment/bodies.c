// Velocities of links, and inertia and velocity of bodies about the centre of mass of the whole:
// what MuJoCo calls cinert and cvel, for models whose moving bodies hang on one root.
#include "environment/task.h"

#include "math/scalar.h"

// The joint's own share, in the world's axes.
static void add_joint(const mf_Joint *joint, const double *v, const double parent_turn[4],
                      const double child_turn[4], double speed[3], double rate[3]) {
    double frame[4], local[3], world[3];
    switch (joint->type) {
    case MF_JOINT_HINGE:
        mf_quat_rotate(world, child_turn, joint->axis); // it stays where it is when the joint turns
        mf_vec3_add_scaled(rate, rate, v[0], world);
        break;
    case MF_JOINT_SLIDE:
        mf_quat_multiply(frame, parent_turn, joint->rotation);
        mf_quat_rotate(world, frame, joint->axis);
        mf_vec3_add_scaled(speed, speed, v[0], world);
        break;
    case MF_JOINT_BALL:
        mf_quat_rotate(world, child_turn, v);
        mf_vec3_add(rate, rate, world);
        break;
    case MF_JOINT_FLOATING:
        mf_quat_multiply(frame, parent_turn, joint->rotation);
        mf_quat_rotate(local, frame, v);
        mf_quat_rotate(world, child_turn, v + 3);
        mf_vec3_add(speed, speed, local);
        mf_vec3_add(rate, rate, world);
        break;
    default:
        break;
    }
}

void mf_task_speeds(const mf_Model *model, const double *velocity, mf_TaskRoom *room) {
    mf_vec3_set(room->speed[0], 0.0, 0.0, 0.0);
    mf_vec3_set(room->rate[0], 0.0, 0.0, 0.0);
    if (model->base == MF_BASE_FREE) {
        mf_vec3_copy(room->speed[0], velocity);
        mf_quat_rotate(room->rate[0], room->turn[0], velocity + 3);
    }
    for (uint32_t l = 1; l < model->link_count; l++) {
        const mf_Joint *joint = &model->joints[model->links[l].joint];
        uint32_t p = joint->parent;
        double arm[3], swing[3];
        mf_vec3_sub(arm, room->place[l], room->place[p]);
        mf_vec3_cross(swing, room->rate[p], arm);
        mf_vec3_add(room->speed[l], room->speed[p], swing);
        mf_vec3_copy(room->rate[l], room->rate[p]);
        add_joint(joint, velocity + joint->velocity_address, room->turn[p], room->turn[l],
                  room->speed[l], room->rate[l]);
    }
}

// World place of a body's centre of mass.
static void body_center(const mf_Body *body, const mf_TaskRoom *room, double center[3]) {
    double local[3];
    mf_quat_rotate(local, body->rotation, body->center);
    mf_vec3_add(local, local, body->position);
    mf_vec3_copy(center, local);
    if (body->link == MF_NONE)
        return;
    mf_quat_rotate(center, room->turn[body->link], local);
    mf_vec3_add(center, center, room->place[body->link]);
}

void mf_task_center(const mf_Model *model, const mf_TaskRoom *room, double center[3]) {
    double sum[3] = {0.0, 0.0, 0.0}, mass = 0.0;
    for (uint32_t b = 0; b < model->body_count; b++) {
        double own[3];
        body_center(&model->bodies[b], room, own);
        mf_vec3_add_scaled(sum, sum, model->bodies[b].mass, own);
        mass += model->bodies[b].mass;
    }
    mf_vec3_scale(center, sum, mass > 0.0 ? 1.0 / mass : 0.0);
}

// Inertia of one body, its principal axes turned by `turn` and its centre at `arm`.
static void body_inertia(const mf_Body *body, const double turn[4], const double arm[3],
                         double out[10]) {
    const double m = body->mass;
    double axes[9];
    mf_quat_to_matrix(axes, turn);
    for (int k = 0; k < 6; k++) {
        static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
        const int i = row[k], j = column[k];
        double sum = k < 3 ? m * (mf_vec3_dot(arm, arm) - arm[i] * arm[i]) : -m * arm[i] * arm[j];
        for (int a = 0; a < 3; a++)
            sum += axes[3 * i + a] * body->moments[a] * axes[3 * j + a];
        out[k] = sum;
    }
    for (int i = 0; i < 3; i++)
        out[6 + i] = m * arm[i];
    out[9] = m;
}

void mf_task_bodies(const mf_Model *model, const double center[3], mf_TaskRoom *room) {
    for (uint32_t b = 0; b < model->body_count; b++) {
        const mf_Body *body = &model->bodies[b];
        double own[3], arm[3], turn[4], *twist = room->twist + 6 * (size_t)b;
        mf_quat_multiply(turn, body->rotation, body->axes);
        if (body->link != MF_NONE)
            mf_quat_multiply(turn, room->turn[body->link], turn);
        body_center(body, room, own);
        mf_vec3_sub(arm, own, center);
        body_inertia(body, turn, arm, room->inertia + 10 * (size_t)b);
        for (int i = 0; i < 6; i++)
            twist[i] = 0.0;
        if (body->link == MF_NONE)
            continue;
        mf_vec3_copy(twist, room->rate[body->link]);
        mf_vec3_sub(arm, center, room->place[body->link]);
        mf_vec3_cross(twist + 3, room->rate[body->link], arm);
        mf_vec3_add(twist + 3, twist + 3, room->speed[body->link]);
    }
}
