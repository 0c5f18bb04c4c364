// The frozen model: release and look-up by name; the neutral physics.
#include "model/draft.h"

#include <string.h>

void mf_model_destroy(mf_Model *model) {
    if (model == NULL)
        return;
    for (uint32_t i = 0; i < model->mesh_count; i++) {
        mf_release(model->context, (void *)model->meshes[i].vertices);
        mf_release(model->context, (void *)model->meshes[i].triangles);
        mf_release(model->context, (void *)model->meshes[i].hull_vertices);
        mf_release(model->context, (void *)model->meshes[i].hull_triangles);
    }
    for (uint32_t i = 0; i < model->height_field_count; i++)
        mf_release(model->context, (void *)model->height_fields[i].heights);
    mf_release(model->context, model);
}

mf_Physics mf_physics(void) {
    return (mf_Physics){.step = 0.002,
                        .gravity = {0.0, 0.0, -9.81},
                        .magnetic = {0.0, -0.5, 0.0},
                        .friction_impedance_ratio = 1.0,
                        .noslip_tolerance = 1e-6,
                        .solver_iterations = 100,
                        .solver_tolerance = 1e-8,
                        .override_softness = mf_softness(),
                        .override_friction = {1.0, 1.0, 0.005, 0.0001, 0.0001}};
}

uint32_t mf_model_find_link(const mf_Model *model, const char *name) {
    if (model == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < model->link_count; i++) {
        if (strcmp(model->links[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_joint(const mf_Model *model, const char *name) {
    if (model == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < model->joint_count; i++) {
        if (strcmp(model->joints[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_sensor(const mf_Model *model, const char *name) {
    if (model == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        if (strcmp(model->sensors[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_body(const mf_Model *model, const char *name) {
    if (model == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < model->body_count; i++) {
        if (strcmp(model->bodies[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_actuator(const mf_Model *model, const char *name) {
    if (model == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        if (strcmp(model->actuators[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_keyframe(const mf_Model *model, const char *name) {
    if (model == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < model->keyframe_count; i++) {
        if (strcmp(model->keyframes[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}
