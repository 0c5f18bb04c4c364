// The model as sight_kernel.c reads it.
#include "environment/sight.h"

#include "environment/task.h"
#include "math/scalar.h"

static bool is_turned(const double q[4]) {
    return q[1] != 0.0 || q[2] != 0.0 || q[3] != 0.0;
}

static void plan_link(const mf_Joint *joint, mf_SightLink *link) {
    link->parent = joint->parent;
    link->position = joint->position_address;
    link->velocity = joint->velocity_address;
    link->type = joint->type;
    link->reference = joint->reference;
    link->turned = is_turned(joint->rotation);
    mf_vec3_copy(link->place, joint->position);
    mf_vec3_copy(link->axis, joint->axis);
    memcpy(link->rotation, joint->rotation, sizeof link->rotation);
}

static void plan_body(const mf_Body *body, mf_SightBody *out) {
    out->link = body->link;
    out->parent = body->parent;
    out->mass = body->mass;
    mf_quat_rotate(out->center, body->rotation, body->center);
    mf_vec3_add(out->center, out->center, body->position);
    mf_quat_multiply(out->axes, body->rotation, body->axes);
    out->turned = is_turned(out->axes);
    mf_vec3_copy(out->moments, body->moments);
}

mf_Status mf_sight_plan(mf_Context *context, const mf_Model *model, mf_SightPlan *plan,
                        mf_Error *error) {
    plan->links = mf_allocate(context, model->link_count, sizeof *plan->links);
    plan->bodies = mf_allocate(context, model->body_count + 1, sizeof *plan->bodies);
    if (plan->links == NULL || plan->bodies == NULL)
        return mf_fail(error, MF_NO_MEMORY, "environment: out of memory");
    plan->link_count = model->link_count;
    plan->body_count = model->body_count;
    plan->free = model->base == MF_BASE_FREE;
    for (uint32_t l = 1; l < model->link_count; l++)
        plan_link(&model->joints[model->links[l].joint], &plan->links[l]);
    for (uint32_t b = 0; b < model->body_count; b++) {
        plan_body(&model->bodies[b], &plan->bodies[b]);
        plan->mass += model->bodies[b].mass;
    }
    return MF_OK;
}

void mf_sight_release(mf_Context *context, mf_SightPlan *plan) {
    mf_release(context, plan->links);
    mf_release(context, plan->bodies);
}
