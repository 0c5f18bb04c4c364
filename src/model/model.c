// The frozen model: release and look-up by name; the neutral physics.
#include "model/fields.h"

#include <mayfly/texture.h>

#include <string.h>

void mf_model_destroy(mf_Model *model) {
    if (model == NULL)
        return;
    for (uint32_t i = 0; i < model->mesh_count; i++) {
        mf_release(model->context, (void *)model->meshes[i].vertices);
        mf_release(model->context, (void *)model->meshes[i].triangles);
        mf_release(model->context, (void *)model->meshes[i].coordinates);
        mf_release(model->context, (void *)model->meshes[i].hull_vertices);
        mf_release(model->context, (void *)model->meshes[i].hull_triangles);
    }
    for (uint32_t i = 0; i < model->height_field_count; i++)
        mf_release(model->context, (void *)model->height_fields[i].heights);
    for (uint32_t i = 0; i < model->texture_count; i++)
        mf_release(model->context, (void *)model->textures[i].file);
    mf_release(model->context, model);
}

mf_Physics mf_physics(void) {
    mf_Physics physics;
    mf_item_reset(MF_ITEM_PHYSICS, &physics);
    return physics;
}

static uint32_t find_named(const mf_Model *model, mf_ItemType item, const char *name) {
    const mf_ModelField *field = mf_item_field(item, "name");
    uint32_t count;
    const char *items = mf_model_items(model, item, &count);
    for (uint32_t i = 0; i < count; i++) {
        const void *own = mf_field_at(field, items + i * mf_item_table(item)->size);
        if (strcmp(*(const char *const *)own, name) == 0)
            return i;
    }
    return MF_NONE;
}

uint32_t mf_model_find_link(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_LINK, name);
}

uint32_t mf_model_find_joint(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_JOINT, name);
}

uint32_t mf_model_find_sensor(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_SENSOR, name);
}

uint32_t mf_model_find_dock(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_DOCK, name);
}

uint32_t mf_model_find_camera(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_CAMERA, name);
}

uint32_t mf_model_find_body(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_BODY, name);
}

uint32_t mf_model_find_actuator(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_ACTUATOR, name);
}

uint32_t mf_model_find_keyframe(const mf_Model *model, const char *name) {
    return find_named(model, MF_ITEM_KEYFRAME, name);
}
