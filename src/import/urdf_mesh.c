// Meshes of a URDF file: found, loaded once per file and scale, or ignored with a note.
#include "import/hull.h"
#include "import/mesh.h"
#include "import/package.h"
#include "import/urdf.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static mf_Status skip(mf_Urdf *urdf, const mf_XmlNode *node, bool visual, const char *address,
                      const char *why) {
    const char *effect = visual ? "not drawn" : "dropped, so it touches nothing";
    return mf_draft_note(&urdf->draft, !visual, node->line, "%s mesh '%.150s' %s: %s",
                         visual ? "visual" : "collision", address, why, effect);
}

static bool is_readable_kind(const char *address) {
    const char *ending = strrchr(address, '.');
    return ending && (strcasecmp(ending, ".stl") == 0 || strcasecmp(ending, ".obj") == 0 ||
                      strcasecmp(ending, ".dae") == 0);
}

static mf_Status load(mf_Urdf *urdf, const mf_XmlNode *node, const char *path,
                      const double scale[3]) {
    mf_MeshData data;
    MF_TRY(mf_mesh_load(urdf->context, path, &data, urdf->error));
    mf_mesh_scale(&data, scale);
    for (uint32_t i = 0; i < 3 * data.vertex_count; i++) {
        if (mf_is_finite(data.vertices[i]))
            continue;
        mf_mesh_release(&data);
        return mf_xml_refuse(&urdf->xml, node, "<mesh>: a scaled vertex is too large");
    }
    const mf_Mesh mesh = {.path = path,
                          .vertex_count = data.vertex_count,
                          .triangle_count = data.triangle_count,
                          .vertices = data.vertices,
                          .triangles = data.triangles,
                          .coordinates = data.coordinates,
                          .scale = {scale[0], scale[1], scale[2]}};
    if (mf_draft_add(&urdf->draft, MF_ITEM_MESH, &mesh) != NULL)
        return MF_OK;
    mf_mesh_release(&data);
    return mf_urdf_no_memory(urdf);
}

static mf_Status load_once(mf_Urdf *urdf, const mf_XmlNode *node, const char *path,
                           const double scale[3], uint32_t *out) {
    char key[MF_PATH_LIMIT + 100];
    snprintf(key, sizeof key, "%a %a %a %s", scale[0], scale[1], scale[2], path);
    *out = mf_names_find(&urdf->mesh_names, key);
    if (*out != UINT32_MAX)
        return MF_OK;
    MF_TRY(load(urdf, node, path, scale));
    *out = urdf->draft.meshes.count - 1;
    const char *copy = mf_arena_text(&urdf->xml.arena, key, strlen(key));
    return copy && mf_names_add(&urdf->mesh_names, copy, *out) ? MF_OK : mf_urdf_no_memory(urdf);
}

// The collision shape of a mesh against other links.
static mf_Status add_hull(mf_Urdf *urdf, const mf_XmlNode *node, const char *address,
                          uint32_t index) {
    mf_Mesh *mesh = &mf_draft_meshes(&urdf->draft)[index];
    size_t numbers = 3 * (size_t)mesh->vertex_count;
    if (mesh->hull_vertex_count > 0)
        return MF_OK;
    double *points = mf_allocate(urdf->context, numbers, sizeof *points);
    if (points == NULL)
        return mf_urdf_no_memory(urdf);
    for (size_t i = 0; i < numbers; i++)
        points[i] = mesh->vertices[i];
    mf_Hull hull;
    mf_HullResult result = mf_hull_make(urdf->context, points, mesh->vertex_count, -1, &hull);
    mf_release(urdf->context, points);
    if (result == MF_HULL_NO_MEMORY)
        return mf_urdf_no_memory(urdf);
    mesh->hull_vertices = hull.vertices;
    mesh->hull_vertex_count = hull.vertex_count;
    mesh->hull_triangles = hull.triangles;
    mesh->hull_triangle_count = hull.triangle_count;
    return result != MF_HULL_FLAT
               ? MF_OK
               : mf_draft_note(
                     &urdf->draft, true, node->line,
                     "collision mesh '%.150s' is flat: it touches the ground, but no other link",
                     address);
}

static bool is_absolute(const char *address) {
    return address[0] == '/' || strncmp(address, "file://", 7) == 0;
}

mf_Status mf_urdf_mesh(mf_Urdf *urdf, const mf_XmlNode *node, bool visual, uint32_t *out) {
    *out = MF_NONE;
    const char *address = mf_xml_attribute(node, "filename");
    double scale[3] = {1.0, 1.0, 1.0};
    if (address == NULL || *address == '\0')
        return mf_xml_refuse(&urdf->xml, node, "<mesh> needs the attribute 'filename'");
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "scale", 3, scale));
    if (scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0)
        return mf_xml_refuse(&urdf->xml, node, "<mesh> scale: must not be 0");
    if (visual && !urdf->config->visual)
        return MF_OK;
    if (!is_readable_kind(address))
        return skip(urdf, node, visual, address, "is neither STL, OBJ nor DAE");
    if (urdf->in_memory)
        return skip(urdf, node, visual, address, "not found");
    char path[MF_PATH_LIMIT];
    mf_Status status = mf_package_resolve(urdf->context, urdf->file, urdf->config, "mesh",
                                          urdf->mesh_folder, address, path, urdf->error);
    if (status == MF_NOT_FOUND)
        return skip(urdf, node, visual, address,
                    is_absolute(address) ? "not found below its root folder (--root sets another)"
                    : strncmp(address, "package://", 10) == 0
                        ? "not found (--package NAME=FOLDER says where a package is)"
                        : "not found");
    if (status == MF_UNSUPPORTED)
        return skip(urdf, node, visual, address, "has an address of an unknown kind");
    if (status == MF_BAD_FILE)
        return mf_xml_refuse(&urdf->xml, node,
                             "<mesh> '%.200s': leaves its folder by '..' or is not in a package",
                             address);
    MF_THEN(status, load_once(urdf, node, path, scale, out));
    if (visual && (status == MF_BAD_FILE || status == MF_LIMIT)) {
        *out = MF_NONE;
        return skip(urdf, node, visual, address, "cannot be read");
    }
    return status == MF_OK && !visual ? add_hull(urdf, node, address, *out) : status;
}
