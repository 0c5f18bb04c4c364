// Assets: meshes, height fields, textures and materials are listed and read when a geom uses them
// (mjcf_mesh.c, mjcf_heights.c, mjcf_texture.c); skins are for viewing only.
#include "import/mjcf.h"

#include "math/scalar.h"

#include <string.h>

#define END                                                                                        \
    { NULL, MF_MJCF_PASSED, 0, 0, 0, NULL }

mf_Status mf_mjcf_name_by_file(mf_Mjcf *m, const char *file, const char **name) {
    const char *slash = strrchr(file, '/');
    const char *start = slash ? slash + 1 : file;
    const char *dot = strrchr(start, '.');
    *name = mf_arena_text(&m->arena, start, dot ? (size_t)(dot - start) : strlen(start));
    return *name ? MF_OK : mf_mjcf_no_memory(m);
}

static mf_Status read_mesh(mf_Mjcf *m, const mf_XmlNode *node) {
    const mf_MjcfClass *class;
    static const char *const none[] = {NULL};
    mf_Status status = mf_mjcf_class(m, node, mf_mjcf_main(m), &class);
    if (status == MF_OK)
        status = mf_mjcf_only(m, node, none);
    if (status != MF_OK)
        return status;
    mf_MjcfMesh mesh = class->mesh;
    mesh.node = node;
    mesh.draft = MF_NONE;
    status = mf_mjcf_read(m, node, mf_mjcf_mesh_fields, &mesh);
    if (status != MF_OK)
        return status;
    const bool made = mf_xml_attribute(node, "builtin") || mf_xml_child(node, "plugin");
    if (mesh.file == NULL && mesh.vertices == NULL)
        return made ? mf_mjcf_dropped(m, "mesh", mesh.name)
                    : mf_mjcf_fail(m, node, "<mesh> needs the attribute 'file' or 'vertex'");
    if (mesh.file != NULL && mesh.vertices != NULL)
        return mf_mjcf_fail(m, node, "<mesh> has both 'file' and 'vertex'");
    if (mesh.hull_limit != -1 && mesh.hull_limit < 4)
        return mf_mjcf_fail(m, node, "<mesh> maxhullvert: expected -1 or at least 4, found %d",
                            mesh.hull_limit);
    if (mesh.plain.scale[0] == 0.0 || mesh.plain.scale[1] == 0.0 || mesh.plain.scale[2] == 0.0)
        return mf_mjcf_fail(m, node, "<mesh> scale: expected numbers other than 0");
    if (mesh.name == NULL && mesh.file != NULL)
        status = mf_mjcf_name_by_file(m, mesh.file, &mesh.name);
    mf_MjcfMesh *item = status == MF_OK ? mf_list_push(m->context, &m->meshes, sizeof *item) : NULL;
    if (item == NULL)
        return status == MF_OK ? mf_mjcf_no_memory(m) : status;
    *item = mesh;
    return mf_mjcf_name(m, node, &m->mesh_names, mesh.name, m->meshes.count - 1);
}

static mf_Status read_heights(mf_Mjcf *m, const mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {
        {"name", MF_MJCF_TEXT, 0, 0, offsetof(mf_MjcfHeights, name), NULL},
        {"file", MF_MJCF_TEXT, 0, 0, offsetof(mf_MjcfHeights, file), NULL},
        {"elevation", MF_MJCF_TEXT, 0, 0, offsetof(mf_MjcfHeights, elevation), NULL},
        {"nrow", MF_MJCF_INTEGER, 0, 0, offsetof(mf_MjcfHeights, rows), NULL},
        {"ncol", MF_MJCF_INTEGER, 0, 0, offsetof(mf_MjcfHeights, columns), NULL},
        {"size", MF_MJCF_NUMBERS, 4, 4, offsetof(mf_MjcfHeights, size), NULL},
        {"content_type", MF_MJCF_PASSED, 0, 0, 0, NULL},
        END};
    mf_MjcfHeights heights = {.node = node, .draft = MF_NONE};
    mf_Status status = mf_mjcf_read(m, node, fields, &heights);
    if (status != MF_OK)
        return status;
    for (int i = 0; i < 4; i++) {
        if (!(heights.size[i] > 0.0))
            return mf_mjcf_fail(m, node, "<hfield> size: expected 4 numbers > 0, found %g",
                                heights.size[i]);
    }
    if (heights.name == NULL && heights.file != NULL)
        status = mf_mjcf_name_by_file(m, heights.file, &heights.name);
    mf_MjcfHeights *item =
        status == MF_OK ? mf_list_push(m->context, &m->heights, sizeof *item) : NULL;
    if (item == NULL)
        return status == MF_OK ? mf_mjcf_no_memory(m) : status;
    *item = heights;
    return mf_mjcf_name(m, node, &m->height_names, heights.name, m->heights.count - 1);
}

static mf_Status read_asset(mf_Mjcf *m, const mf_XmlNode *node) {
    if (strcmp(node->name, "mesh") == 0)
        return read_mesh(m, node);
    if (strcmp(node->name, "hfield") == 0)
        return read_heights(m, node);
    if (strcmp(node->name, "material") == 0)
        return mf_mjcf_list_material(m, node);
    if (strcmp(node->name, "texture") == 0)
        return mf_mjcf_read_texture(m, node);
    if (strcmp(node->name, "model") == 0) // mjcf_attach.c
        return MF_OK;
    if (strcmp(node->name, "skin") == 0)
        return mf_mjcf_pass(m, node, NULL);
    return mf_mjcf_refuse(m, node, NULL);
}

mf_Status mf_mjcf_read_assets(mf_Mjcf *m) {
    return mf_mjcf_read_section(m, "asset", read_asset);
}
