// The frozen model: release and look-up by name.
#include <mayfly/model.h>

#include <string.h>

void mf_model_destroy(mf_Model *model) {
    if (model == NULL)
        return;
    for (uint32_t i = 0; i < model->mesh_count; i++) {
        mf_release(model->context, (void *)model->meshes[i].vertices);
        mf_release(model->context, (void *)model->meshes[i].triangles);
    }
    mf_release(model->context, model);
}

uint32_t mf_model_find_link(const mf_Model *model, const char *name) {
    for (uint32_t i = 0; i < model->link_count; i++) {
        if (strcmp(model->links[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_joint(const mf_Model *model, const char *name) {
    for (uint32_t i = 0; i < model->joint_count; i++) {
        if (strcmp(model->joints[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_sensor(const mf_Model *model, const char *name) {
    for (uint32_t i = 0; i < model->sensor_count; i++) {
        if (strcmp(model->sensors[i].name, name) == 0)
            return i;
    }
    return MF_NONE;
}
