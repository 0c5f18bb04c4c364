// Textures and materials. Both are listed when assets are read, and become part of the model when a
// shape uses them; a skybox always does. Files are read then, but not decoded.
#include "image/image.h"
#include "import/mjcf_rows.h"
#include "import/package.h"
#include "model/texture.h"

#include <string.h>

enum { CELLS_MOST = 12 }; // faces in a cube's file, with those that are left out

// ---- reading ------------------------------------------------------------------------------------

static mf_Status check_texture(mf_Mjcf *m, const mf_MjcfTexture *texture) {
    const mf_XmlNode *node = texture->node;
    const mf_Texture *plain = &texture->plain;
    const double *grid = texture->grid;
    if ((texture->file != NULL) == (plain->pattern != MF_PATTERN_NONE))
        return mf_mjcf_fail(m, node, "<texture> needs either 'file' or 'builtin', found %s",
                            texture->file != NULL ? "both" : "neither");
    if (!(grid[0] >= 1.0 && grid[1] >= 1.0 && grid[0] * grid[1] <= CELLS_MOST))
        return mf_mjcf_fail(m, node,
                            "<texture> gridsize: expected 1 to 12 squares, found %g times %g",
                            grid[0], grid[1]);
    if (texture->layout != NULL && strspn(texture->layout, ".RLUDFB") != strlen(texture->layout))
        return mf_mjcf_fail(m, node,
                            "<texture> gridlayout: expected characters of .RLUDFB, found \"%.40s\"",
                            texture->layout);
    if (texture->file != NULL)
        return MF_OK;
    const uint64_t faces = mf_texture_faces(plain);
    const uint32_t height = plain->type == MF_TEXTURE_FLAT ? plain->height : plain->width;
    if (plain->width < 1 || height < 1 || plain->width > MF_TEXTURE_PIXELS ||
        height > MF_TEXTURE_PIXELS || faces * plain->width * height > MF_TEXTURE_PIXELS)
        return mf_mjcf_fail(m, node,
                            "<texture>: expected width and height > 0 and at most 2^26 pixels, "
                            "found %d and %d",
                            (int32_t)plain->width, (int32_t)plain->height);
    return MF_OK;
}

// fileright, fileleft and so on: materials with such a texture have their color alone.
static bool has_face_files(const mf_XmlNode *node) {
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const char *name = node->attributes[i].name;
        if (strncmp(name, "file", 4) == 0 && name[4] != '\0')
            return true;
    }
    return false;
}

#define T mf_MjcfTexture
mf_Status mf_mjcf_read_texture(mf_Mjcf *m, const mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {TEXT("name", name),
                                          TEXT("file", file),
                                          NUMBERS("gridsize", 2, 2, grid),
                                          TEXT("gridlayout", layout),
                                          PLAIN(TEXTURE),
                                          PASSED("content_type colorspace nchannel embed"),
                                          NOTED("class"),
                                          END};
    mf_MjcfTexture texture = {.node = node, .draft = MF_NONE, .grid = {1.0, 1.0}};
    mf_item_reset(MF_ITEM_TEXTURE, &texture.plain);
    texture.left_out = has_face_files(node);
    MF_TRY(texture.left_out ? mf_mjcf_pass(m, node, "with a file per face")
                            : mf_mjcf_read(m, node, fields, &texture));
    if (texture.left_out)
        texture.name = mf_xml_attribute(node, "name");
    else
        MF_TRY(check_texture(m, &texture));
    if (texture.name == NULL && texture.file != NULL)
        MF_TRY(mf_mjcf_name_by_file(m, texture.file, &texture.name));
    return mf_mjcf_list_item(m, &m->textures, sizeof texture, &texture, &m->texture_names);
}

// What is read, but not drawn.
static mf_Status note_unused(mf_Mjcf *m, const mf_XmlNode *node) {
    static const char *const unused[] = {"specular", "shininess", "reflectance",
                                         "metallic", "roughness", NULL};
    for (const char *const *name = unused; *name; name++)
        if (mf_xml_attribute(node, *name) != NULL)
            MF_TRY(mf_mjcf_pass(m, node, *name));
    for (const mf_XmlNode *child = node->first; child; child = child->next)
        MF_TRY(mf_mjcf_pass(m, child, NULL));
    return MF_OK;
}

mf_Status mf_mjcf_check_material(mf_Mjcf *m, const void *item) {
    const mf_MjcfMaterial *material = item;
    const mf_Material *plain = &material->plain;
    if (!(plain->repeat[0] > 0.0 && plain->repeat[1] > 0.0))
        return mf_mjcf_fail(m, material->node,
                            "<material> texrepeat: expected numbers > 0, found %g and %g",
                            plain->repeat[0], plain->repeat[1]);
    if (!(plain->emission >= 0.0))
        return mf_mjcf_fail(m, material->node,
                            "<material> emission: expected a number >= 0, found %g",
                            plain->emission);
    return note_unused(m, material->node);
}

mf_Status mf_mjcf_list_material(mf_Mjcf *m, const mf_XmlNode *node) {
    mf_MjcfMaterial material;
    MF_TRY(mf_mjcf_read_element(m, node, NULL, MF_MJCF_MATERIAL, &material));
    material.draft = MF_NONE;
    return mf_mjcf_list_item(m, &m->materials, sizeof material, &material, &m->material_names);
}

// ---- use ----------------------------------------------------------------------------------------

static mf_Status decode(mf_Context *context, const mf_Texture *texture, uint8_t **out,
                        uint32_t *width, uint32_t *height, mf_Error *error) {
    mf_Image image;
    MF_TRY(
        mf_image_parse(context, texture->path, texture->file, texture->file_size, &image, error));
    MF_TRY(mf_image_to_color(context, &image, error));
    *out = image.pixels;
    *width = image.width;
    *height = image.height;
    return MF_OK;
}

// The texture owns the bytes. Pixels are decoded when a picture or a film needs them; that they can
// be is known now.
static mf_Status load_png(mf_Context *context, mf_Texture *texture, mf_Error *error) {
    char *data;
    size_t size;
    mf_Status status = mf_file_read(context, texture->path, MF_FILE_LIMIT, &data, &size, error);
    if (status == MF_OK) {
        texture->file = (const uint8_t *)data;
        texture->file_size = (uint32_t)size;
        texture->decode = decode;
        status =
            mf_image_check_png(texture->path, data, size, &texture->width, &texture->height, error);
    }
    return status == MF_OK ? mf_texture_check_squares(texture, error) : status;
}

static mf_Status load_file(mf_Mjcf *m, const mf_MjcfTexture *from, mf_Texture *texture) {
    char path[MF_PATH_LIMIT];
    mf_Error reason = {0};
    MF_TRY(mf_mjcf_find_asset(m, from->node, "texture",
                              mf_mjcf_settings(m, from->node)->texture_folder, from->file, path));
    texture->path = mf_draft_text(&m->draft, path);
    if (texture->path == NULL)
        return mf_mjcf_no_memory(m);
    mf_Status status = load_png(m->context, texture, &reason);
    return status == MF_OK ? status
                           : mf_xml_fail(&m->xml, from->node, status, "<texture> '%.150s': %.200s",
                                         from->file, reason.message);
}

// *out stays MF_NONE for one that is left out, and for a file that text in memory names.
static mf_Status use_texture(mf_Mjcf *m, mf_MjcfTexture *from, uint32_t *out) {
    mf_Texture texture = from->plain;
    *out = from->draft;
    if (from->draft != MF_NONE || from->left_out)
        return MF_OK;
    if (from->file != NULL && m->in_memory)
        return mf_mjcf_pass(m, from->node, "file (text in memory)");
    texture.name = from->name;
    texture.layout = from->layout;
    for (int i = 0; i < 2; i++)
        texture.grid[i] = (uint32_t)from->grid[i];
    mf_Status status = from->file != NULL ? load_file(m, from, &texture) : MF_OK;
    if (status == MF_OK && mf_draft_add(&m->draft, MF_ITEM_TEXTURE, &texture) == NULL)
        status = mf_mjcf_no_memory(m);
    if (status != MF_OK) {
        mf_release(m->context, (void *)texture.file);
        return status;
    }
    *out = from->draft = m->draft.textures.count - 1;
    return MF_OK;
}

mf_Status mf_mjcf_use_material(mf_Mjcf *m, const mf_MjcfGeom *geom, uint32_t *out) {
    uint32_t index = MF_NONE, texture = MF_NONE;
    *out = MF_NONE;
    if (geom->material == NULL)
        return MF_OK;
    MF_TRY(mf_mjcf_find(m, geom->node, "material", geom->material, &m->material_names, "material",
                        &index));
    if (index == MF_NONE)
        return MF_OK;
    mf_MjcfMaterial *from = &mf_mjcf_materials(m)[index];
    *out = from->draft;
    if (from->draft != MF_NONE)
        return MF_OK;
    if (from->texture != NULL)
        MF_TRY(mf_mjcf_find(m, from->node, "texture", from->texture, &m->texture_names, "texture",
                            &texture));
    if (texture != MF_NONE)
        MF_TRY(use_texture(m, &mf_mjcf_textures(m)[texture], &texture));
    mf_Material material = from->plain;
    material.name = from->name;
    material.texture = texture;
    *out = from->draft = m->draft.materials.count;
    return mf_mjcf_add(m, from->node, MF_ITEM_MATERIAL, &material, NULL);
}

mf_Status mf_mjcf_use_sky(mf_Mjcf *m) {
    uint32_t ignored;
    mf_MjcfTexture *textures = mf_mjcf_textures(m);
    if (!m->config->visual || m->discard_visual)
        return MF_OK;
    for (uint32_t i = 0; i < m->textures.count; i++)
        if (textures[i].plain.type == MF_TEXTURE_SKY && !textures[i].left_out)
            return use_texture(m, &textures[i], &ignored);
    return MF_OK;
}
