// Textures in films: each once, as a PNG, halved until it is small; and how they lie on shapes and
// on the ground.
#include "view/film.h"
#include "image/image.h"
#include "model/texture.h"

enum { EDGE = 512, LEVEL = 9 }; // [pixel] longest of a face; of compression

// A small flat file is packed as it is.
static bool is_ready(const mf_Texture *texture) {
    return texture->file != NULL && texture->type == MF_TEXTURE_FLAT && texture->width <= EDGE &&
           texture->height <= EDGE && !texture->flip_columns && !texture->flip_rows;
}

// Files were checked when they were read; without memory a texture is not shown.
static void put_texture(mf_Text *text, const mf_Texture *texture) {
    uint8_t *pixels = NULL, *png = NULL;
    size_t size = texture->file_size;
    uint32_t width = 0, height = 0;
    mf_Status status = MF_OK;
    if (!is_ready(texture)) {
        status = mf_texture_shrink(text->context, texture, EDGE, &pixels, &width, &height, NULL);
        const mf_Image image = {width, mf_texture_faces(texture) * height, 3, 8, 255, pixels};
        MF_THEN(status, mf_image_encode(text->context, &image, LEVEL, &png, &size, NULL));
    }
    text->failed = text->failed || status == MF_NO_MEMORY;
    mf_text_format(text, "{\"cube\":%s,\"png\":\"",
                   texture->type != MF_TEXTURE_FLAT ? "true" : "false");
    if (status == MF_OK)
        mf_text_base64(text, png != NULL ? png : texture->file, size);
    mf_text_put(text, "\"}");
    mf_release(text->context, pixels);
    mf_release(text->context, png);
}

// How a texture lies on a part of a model; false: none does, or the part is not seen.
static bool lay_of(const mf_Visual *visual, uint32_t index, mf_Shape *part, mf_TextureLay *lay) {
    return mf_visual_part(visual, MF_NONE, index, part) && !visual->own_parts &&
           mf_texture_lay(mf_group_model(visual->group), part, lay);
}

static bool is_shown(const mf_Visual *visual, uint32_t texture) {
    mf_TextureLay lay;
    mf_Shape part;
    for (uint32_t i = 0; i < visual->part_count; i++)
        if (lay_of(visual, i, &part, &lay) && lay.texture == texture)
            return true;
    return false;
}

bool mf_film_is_placed(const mf_Visual *visual, uint32_t mesh) {
    mf_TextureLay lay;
    mf_Shape part;
    for (uint32_t i = 0; i < visual->part_count; i++)
        if (lay_of(visual, i, &part, &lay) && lay.placed && part.type == MF_SHAPE_MESH &&
            part.mesh == mesh)
            return true;
    return false;
}

void mf_film_put_textures(mf_Text *text, const mf_Visual *visual) {
    const mf_Model *model = mf_group_model(visual->group);
    if (model->texture_count == 0)
        return;
    mf_text_put(text, ",\"textures\":[");
    for (uint32_t i = 0; i < model->texture_count; i++) {
        mf_text_put(text, i > 0 ? "," : "");
        if (is_shown(visual, i))
            put_texture(text, &model->textures[i]);
        else
            mf_text_put(text, "null");
    }
    mf_text_put(text, "]");
}

void mf_film_put_lay(mf_Text *text, const mf_TextureLay *lay) {
    mf_text_format(text, ",\"texture\":%u", lay->texture);
    if (lay->placed)
        return;
    mf_film_put_numbers(text, "factor", lay->factor, 3);
    mf_film_put_numbers(text, "offset", lay->offset, 3);
    if (lay->half > 0.0)
        mf_text_format(text, ",\"half\":%.7g,\"stretch\":%.7g", lay->half, lay->stretch);
}

static const mf_Shape *find_floor(const mf_Film *film, const mf_Model **model) {
    const mf_Terrain *terrain = mf_world_config_of(film->world)->terrain;
    for (uint32_t c = 0; c < film->cast_count; c++) {
        *model = mf_group_model(film->casts[c].group);
        for (uint32_t i = 0; i < (*model)->shape_count; i++)
            if (mf_texture_is_floor(terrain, &(*model)->shapes[i]))
                return &(*model)->shapes[i];
    }
    return NULL;
}

void mf_film_put_floor(mf_Text *text, const mf_Film *film) {
    const mf_Model *model;
    const mf_Shape *floor = find_floor(film, &model);
    mf_TextureLay lay;
    if (floor == NULL)
        return;
    const double *q = floor->rotation;
    // Turned about z alone.
    const double cosine = q[0] * q[0] - q[3] * q[3], sine = 2.0 * q[0] * q[3];
    const double color[3] = {(double)floor->color[0], (double)floor->color[1],
                             (double)floor->color[2]};
    mf_text_put(text, ",\"floor\":{\"type\":\"plane\"");
    mf_film_put_numbers(text, "color", color, 3);
    if (mf_texture_lay(model, floor, &lay) && !lay.cube) {
        // u = u0 x + u1 y + u2 with the world's x and y, likewise v.
        double rows[6];
        for (int k = 0; k < 2; k++) {
            rows[3 * k] = lay.factor[k] * (k == 0 ? cosine : -sine);
            rows[3 * k + 1] = lay.factor[k] * (k == 0 ? sine : cosine);
            rows[3 * k + 2] = lay.offset[k] - rows[3 * k] * floor->position[0] -
                              rows[3 * k + 1] * floor->position[1];
        }
        mf_film_put_numbers(text, "rows", rows, 6);
        mf_text_put(text, ",\"texture\":");
        put_texture(text, &model->textures[lay.texture]);
    }
    mf_text_put(text, "}");
}
