// Assets: meshes, height fields, textures and materials are listed and read when a geom uses them
// (mjcf_mesh.c, mjcf_heights.c, mjcf_texture.c); skins are for viewing only.
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <string.h>

mf_Status mf_mjcf_name_by_file(mf_Mjcf *m, const char *file, const char **name) {
    const char *slash = strrchr(file, '/');
    const char *start = slash ? slash + 1 : file;
    const char *dot = strrchr(start, '.');
    *name = mf_arena_text(&m->arena, start, dot ? (size_t)(dot - start) : strlen(start));
    return *name ? MF_OK : mf_mjcf_no_memory(m);
}

static mf_Status read_mesh(mf_Mjcf *m, const mf_XmlNode *node) {
    static const char *const none[] = {NULL};
    mf_MjcfMesh mesh;
    MF_TRY(mf_mjcf_only(m, node, none));
    MF_TRY(mf_mjcf_read_element(m, node, NULL, MF_MJCF_MESH, &mesh));
    mesh.draft = MF_NONE;
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
        MF_TRY(mf_mjcf_name_by_file(m, mesh.file, &mesh.name));
    return mf_mjcf_list_item(m, &m->meshes, sizeof mesh, &mesh, &m->mesh_names);
}

#define T mf_MjcfHeights
static mf_Status read_heights(mf_Mjcf *m, const mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {TEXT("name", name),           TEXT("file", file),
                                          TEXT("elevation", elevation), INTEGER("nrow", rows),
                                          INTEGER("ncol", columns),     NUMBERS("size", 4, 4, size),
                                          PASSED("content_type"),       END};
    mf_MjcfHeights heights = {.node = node, .draft = MF_NONE};
    MF_TRY(mf_mjcf_read(m, node, fields, &heights));
    for (int i = 0; i < 4; i++) {
        if (!(heights.size[i] > 0.0))
            return mf_mjcf_fail(m, node, "<hfield> size: expected 4 numbers > 0, found %g",
                                heights.size[i]);
    }
    if (heights.name == NULL && heights.file != NULL)
        MF_TRY(mf_mjcf_name_by_file(m, heights.file, &heights.name));
    return mf_mjcf_list_item(m, &m->heights, sizeof heights, &heights, &m->height_names);
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
