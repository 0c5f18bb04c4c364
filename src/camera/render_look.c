// Looks of shapes in pictures: textures of their materials, and colors of groups.
#include "camera/render.h"

#include "math/scalar.h"

// ---- textures -----------------------------------------------------------------------------------

static bool is_shown(const mf_Model *model, uint32_t texture) {
    if (model->textures[texture].type == MF_TEXTURE_SKY)
        return true;
    for (uint32_t i = 0; i < model->shape_count; i++) {
        const uint32_t material = model->shapes[i].material;
        if (material != MF_NONE && model->materials[material].texture == texture)
            return true;
    }
    return false;
}

mf_Status mf_render_take_textures(mf_RenderScene *scene, const mf_Model *model,
                                  const mf_TextureMap **out, mf_Error *error) {
    *out = NULL;
    for (uint32_t i = 0; i < scene->texture_count; i++)
        if (scene->textures[i].model == model)
            *out = scene->textures[i].maps;
    if (model->texture_count == 0 || *out != NULL)
        return MF_OK;
    mf_RenderTextures *own = &scene->textures[scene->texture_count];
    own->maps = mf_allocate(scene->context, model->texture_count, sizeof *own->maps);
    MF_NEED_MEMORY(own->maps != NULL, error, "cameras");
    own->model = model;
    scene->texture_count++;
    *out = own->maps;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < model->texture_count && status == MF_OK; i++) {
        if (!is_shown(model, i))
            continue;
        status = mf_texture_map_make(scene->context, &model->textures[i], &own->maps[i], error);
        if (model->textures[i].type == MF_TEXTURE_SKY && scene->sky == NULL)
            scene->sky = &own->maps[i];
    }
    return status;
}

void mf_render_release_textures(mf_RenderScene *scene) {
    for (uint32_t i = 0; scene->textures != NULL && i < scene->texture_count; i++) {
        const mf_RenderTextures *own = &scene->textures[i];
        for (uint32_t t = 0; t < own->model->texture_count; t++)
            if (own->maps[t].context != NULL)
                mf_texture_map_release(&own->maps[t]);
        mf_release(scene->context, own->maps);
    }
    mf_release(scene->context, scene->textures);
}

// ---- looks --------------------------------------------------------------------------------------

void mf_render_take_look(mf_RenderShape *out, const mf_Model *model, const mf_Shape *shape,
                         const mf_TextureMap *maps) {
    mf_TextureLay lay;
    if (shape->material != MF_NONE)
        out->emission = (float)model->materials[shape->material].emission;
    if (maps == NULL || !mf_texture_lay(model, shape, &lay))
        return;
    out->texture = &maps[lay.texture];
    mf_vec3_copy(out->factor, lay.factor);
    mf_vec3_copy(out->offset, lay.offset);
    out->half = (float)lay.half;
    out->stretch = (float)lay.stretch;
}

mf_RenderLook mf_render_look_at(const mf_RenderShape *shape, const mf_RenderTransform *pose) {
    mf_RenderLook look = {
        .texture = shape->texture, .half = shape->half, .stretch = shape->stretch};
    for (int i = 0; i < 3; i++) {
        double shift = shape->offset[i];
        for (int k = 0; k < 3; k++) {
            const double row = shape->factor[i] * pose->rotation[3 * k + i];
            look.rows[3 * i + k] = (float)row;
            shift -= row * pose->position[k];
        }
        look.shift[i] = (float)shift;
    }
    return look;
}
