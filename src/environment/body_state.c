// The model in the form that body_state_kernel.c reads.
#include "environment/body_state.h"

#include "environment/task.h"
#include "math/scalar.h"

static bool is_rotated(const double q[4]) {
    return q[1] != 0.0 || q[2] != 0.0 || q[3] != 0.0;
}

static void plan_body(const mf_Body *body, mf_BodyStateBody *out) {
    out->link = body->link;
    out->parent = body->parent;
    out->mass = body->mass;
    mf_quat_rotate(out->center, body->rotation, body->center);
    mf_vec3_add(out->center, out->center, body->position);
    mf_quat_multiply(out->axes, body->rotation, body->axes);
    out->rotated = is_rotated(out->axes);
    mf_vec3_copy(out->moments, body->moments);
}

mf_Status mf_body_state_plan(mf_Context *context, const mf_Model *model, mf_BodyStatePlan *plan,
                             mf_Error *error) {
    plan->bodies = mf_allocate(context, model->body_count + 1, sizeof *plan->bodies);
    if (plan->bodies == NULL)
        return mf_fail(error, MF_NO_MEMORY, "environment: out of memory");
    plan->body_count = model->body_count;
    for (uint32_t b = 0; b < model->body_count; b++) {
        plan_body(&model->bodies[b], &plan->bodies[b]);
        plan->mass += model->bodies[b].mass;
    }
    return mf_tree_create(context, model, MF_TREE_VECTORS, model->base == MF_BASE_FREE, NULL,
                          &plan->tree, error);
}

void mf_body_state_release(mf_Context *context, mf_BodyStatePlan *plan) {
    mf_release(context, plan->tree);
    mf_release(context, plan->bodies);
}
