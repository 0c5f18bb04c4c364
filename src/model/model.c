// The frozen model: release and look-up by name; the neutral physics.
#include "model/fields.h"
#include "model/draft.h"

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

const char *mf_model_item_name(const mf_Model *model, mf_ItemType item, uint32_t index) {
    uint32_t count = 0;
    const char *items = mf_model_items(model, item, &count);
    return index < count ? mf_item_name(item, items + index * mf_item_table(item)->size) : NULL;
}

uint32_t mf_model_find(const mf_Model *model, mf_ItemType item, const char *name) {
    uint32_t count;
    const char *items = mf_model_items(model, item, &count);
    if (items == NULL || mf_item_field(item, "name") == NULL)
        return MF_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const char *own = mf_item_name(item, items + i * mf_item_table(item)->size);
        if (own != NULL && strcmp(own, name) == 0)
            return i;
    }
    return MF_NONE;
}
