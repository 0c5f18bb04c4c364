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

static mf_Status pack(mf_Context *context, const mf_Model *model, mf_BodyStateBody *bodies,
                      const mf_BodyStatePlan **out, mf_Error *error) {
    mf_BodyStatePlan plan = {.body_count = model->body_count};
    for (uint32_t b = 0; b < model->body_count; b++) {
        plan_body(&model->bodies[b], &bodies[b]);
        plan.mass += model->bodies[b].mass;
    }
    mf_Tree *tree;
    MF_TRY(mf_tree_create(context, model, MF_TREE_VECTORS, model->base == MF_BASE_FREE, NULL, &tree,
                          error));
    const mf_FlatPart parts[] = {MF_FLAT_PART(&plan, bodies, bodies, plan.body_count),
                                 {&plan.tree_at, tree, tree->bytes}};
    void *image;
    mf_Status status = mf_flat_pack(context, &plan, sizeof plan, parts, 2, &image, error);
    mf_release(context, tree);
    *out = image;
    return status;
}

mf_Status mf_body_state_create(mf_Context *context, const mf_Model *model,
                               const mf_BodyStatePlan **out, mf_Error *error) {
    *out = NULL;
    mf_BodyStateBody *bodies = mf_allocate(context, model->body_count + 1, sizeof *bodies);
    MF_NEED_MEMORY(bodies != NULL, error, "environment");
    mf_Status status = pack(context, model, bodies, out, error);
    mf_release(context, bodies);
    return status;
}
