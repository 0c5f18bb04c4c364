// Assets: meshes and height fields are listed here and read when a geom uses them; of materials
// only the colour is kept; textures and skins are for viewing only.
#include "model/import/mjcf.h"

#include "math/scalar.h"

#include <string.h>

#define END                                                                                        \
    { NULL, MF_MJCF_PASSED, 0, 0, 0, NULL }

// A mesh without a name is called like its file, without folder and ending.
static mf_Status name_by_file(mf_Mjcf *m, mf_MjcfMesh *mesh) {
    const char *slash = strrchr(mesh->file, '/');
    const char *start = slash ? slash + 1 : mesh->file;
    const char *dot = strrchr(start, '.');
    mesh->name = mf_arena_text(&m->arena, start, dot ? (size_t)(dot - start) : strlen(start));
    return mesh->name ? MF_OK : mf_mjcf_no_memory(m);
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
    if (mesh.file == NULL && mesh.vertices == NULL)
        return mf_xml_attribute(node, "builtin") ? mf_mjcf_dropped(m, "mesh", mesh.name)
                                                 : mf_mjcf_fail(m, node,
                                                                "<mesh> needs the "
                                                                "attribute 'file' or 'vertex'");
    if (mesh.file != NULL && mesh.vertices != NULL)
        return mf_mjcf_fail(m, node, "<mesh> has both 'file' and 'vertex'");
    if (mesh.hull_limit != -1 && mesh.hull_limit < 4)
        return mf_mjcf_fail(m, node, "<mesh> maxhullvert: expected -1 or at least 4, found %d",
                            mesh.hull_limit);
    if (mesh.scale[0] == 0.0 || mesh.scale[1] == 0.0 || mesh.scale[2] == 0.0)
        return mf_mjcf_fail(m, node, "<mesh> scale: expected numbers other than 0");
    if (mesh.name == NULL && mesh.file != NULL)
        status = name_by_file(m, &mesh);
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
    mf_MjcfHeights *item = mf_list_push(m->context, &m->heights, sizeof *item);
    if (item == NULL)
        return mf_mjcf_no_memory(m);
    *item = heights;
    return mf_mjcf_name(m, node, &m->height_names, heights.name, m->heights.count - 1);
}

static mf_Status read_material(mf_Mjcf *m, const mf_XmlNode *node) {
    const char *name = mf_xml_attribute(node, "name");
    mf_MjcfMaterial *item = mf_list_push(m->context, &m->materials, sizeof *item);
    if (item == NULL)
        return mf_mjcf_no_memory(m);
    for (int i = 0; i < 4; i++)
        item->color[i] = 1.0;
    mf_Status status = mf_xml_numbers(&m->xml, node, "rgba", 4, item->color, m->error);
    return status == MF_OK ? mf_mjcf_name(m, node, &m->material_names, name, m->materials.count - 1)
                           : status;
}

static mf_Status read_asset(mf_Mjcf *m, const mf_XmlNode *node) {
    if (strcmp(node->name, "mesh") == 0)
        return read_mesh(m, node);
    if (strcmp(node->name, "hfield") == 0)
        return read_heights(m, node);
    if (strcmp(node->name, "material") == 0)
        return read_material(m, node);
    if (strcmp(node->name, "texture") == 0 || strcmp(node->name, "skin") == 0)
        return mf_mjcf_pass(m, node, NULL);
    return mf_mjcf_refuse(m, node, NULL);
}

mf_Status mf_mjcf_read_assets(mf_Mjcf *m) {
    mf_Status status = MF_OK;
    for (const mf_XmlNode *section = mf_xml_child(m->xml.root, "asset"); section;
         section = mf_xml_next(section, "asset")) {
        for (const mf_XmlNode *node = section->first; status == MF_OK && node; node = node->next)
            status = read_asset(m, node);
    }
    return status;
}

// ---- height fields -----------------------------------------------------------------------------

// Heights scaled into 0 .. 1. The text's first row is at +y, as an image shows it.
static mf_Status fill_heights(mf_Mjcf *m, const mf_MjcfHeights *heights, mf_HeightField *field) {
    double *values;
    uint32_t given;
    mf_Status status = mf_mjcf_list(m, heights->node, "elevation", &values, &given);
    if (status != MF_OK)
        return status;
    size_t count = (size_t)field->rows * field->columns;
    if (heights->elevation != NULL && given != count)
        return mf_mjcf_fail(m, heights->node, "<hfield> elevation: expected %zu numbers, found %u",
                            count, given);
    float *out = mf_allocate(m->context, count, sizeof *out);
    if (out == NULL)
        return mf_mjcf_no_memory(m);
    double low = given ? values[0] : 0.0, high = low;
    for (uint32_t i = 0; i < given; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    for (uint32_t row = 0; row < field->rows; row++) {
        for (uint32_t column = 0; column < field->columns; column++) {
            size_t from = (size_t)(field->rows - 1 - row) * field->columns + column;
            double value = given ? values[from] : 0.0;
            out[(size_t)row * field->columns + column] =
                high > low ? (float)((value - low) / (high - low)) : 0.0f;
        }
    }
    field->heights = out;
    return MF_OK;
}

mf_Status mf_mjcf_load_heights(mf_Mjcf *m, mf_MjcfHeights *heights) {
    if (heights->draft != MF_NONE)
        return MF_OK;
    if (heights->file != NULL)
        return mf_mjcf_refuse(m, heights->node, "file");
    if (heights->rows < 2 || heights->columns < 2 ||
        (uint64_t)heights->rows * (uint64_t)heights->columns > (1u << 26))
        return mf_mjcf_fail(m, heights->node,
                            "<hfield>: expected nrow and ncol >= 2 and at most "
                            "2^26 cells, found %d and %d",
                            heights->rows, heights->columns);
    const char *name = mf_draft_text(&m->draft, heights->name ? heights->name : "");
    mf_HeightField *field =
        name ? mf_list_push(m->context, &m->draft.heights, sizeof *field) : NULL;
    if (field == NULL)
        return mf_mjcf_no_memory(m);
    *field = (mf_HeightField){.name = name,
                              .path = "",
                              .rows = (uint32_t)heights->rows,
                              .columns = (uint32_t)heights->columns,
                              .half_size = {heights->size[0], heights->size[1]},
                              .height = heights->size[2],
                              .base = heights->size[3]};
    mf_Status status = fill_heights(m, heights, field);
    if (status == MF_OK)
        heights->draft = m->draft.heights.count - 1;
    return status;
}
