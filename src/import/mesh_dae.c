// COLLADA meshes (DAE): the triangles of the scene's nodes as one mesh in meters.
//
// COLLADA 1.4.1 and 1.5 (Khronos): <scene> instantiates a <visual_scene>; its nodes carry
// transforms, in their order, and instances of geometries, of skins and of other nodes; geometries
// hold primitives, whose corners index sources of numbers. Node transforms and the file's unit are
// applied; its up axis is not, as in ROS, whose tools use the coordinates unchanged. Materials,
// cameras and animations are ignored.
//
// Files are untrusted. Every text of numbers is read once, however often it is used; recursion of
// nodes is limited, and the size of all instances is counted before they are created. Invariant:
// vertices are numbered in the order in which triangles first use them.
#include "import/mesh.h"

#include "math/scalar.h"
#include "model/draft.h"
#include "import/number.h"
#include "import/polygon.h"
#include "import/xml.h"
#include "model/names.h"

#include <math.h>
#include <string.h>

enum {
    DEPTH = 64,      // [1] nodes within nodes, instances included
    VISITS = 2000000 // [1] nodes and instances of the scene
};

// The points of a <source>.
typedef struct Points {
    float *values;    // [file's unit] 3 per point
    uint32_t *number; // [1] in the mesh, of the present instance; MF_NONE: not used yet
    uint32_t count;   // [1]
} Points;

// A primitive of a geometry, as triangles.
typedef struct Part {
    uint32_t points;    // [1] index of its Points
    uint32_t *corners;  // [1] 3 points per triangle
    uint32_t triangles; // [1]
} Part;

// An element that others refer to.
typedef struct Named {
    const mf_XmlNode *node;
    uint32_t same;         // [1] the next one with this name; MF_NONE: none
    bool made;             // it has been read:
    uint32_t first, count; // [1] a source's Points; a geometry's parts
} Named;

typedef struct Dae {
    mf_Context *context;
    mf_Xml xml;
    mf_Names ids;                 // of elements; values index `named`
    mf_List named, points, parts; // Named, Points, Part
    double unit;                  // [m]
    uint32_t vertices, triangles; // [1] of the mesh, counted or made so far
    uint32_t visits;              // [1] nodes and instances so far
    mf_Polygon polygon;
    mf_MeshData *out; // NULL: they are counted
    mf_Error *error;
} Dae;

typedef double Transform[12]; // rows of 4: rotation and scale, then translation

static mf_Status fail(const Dae *dae, const mf_XmlNode *node, mf_Status status, const char *text) {
    return mf_xml_fail(&dae->xml, node, status, "<%.60s> %s", node->name, text);
}

static mf_Status no_memory(const Dae *dae) {
    return mf_fail_at(dae->error, MF_NO_MEMORY, dae->xml.file, 0, 0, "no memory for the mesh");
}

// ---- references ---------------------------------------------------------------------------------

static mf_Status add_id(Dae *dae, const mf_XmlNode *node, const char *id) {
    const uint32_t known = mf_names_find(&dae->ids, id), index = dae->named.count;
    Named *slot = mf_list_push(dae->context, &dae->named, sizeof *slot);
    if (slot == NULL || (known == UINT32_MAX && !mf_names_add(&dae->ids, id, index)))
        return no_memory(dae);
    *slot = (Named){.node = node, .same = MF_NONE};
    if (known != UINT32_MAX) { // after the first
        Named *first = (Named *)dae->named.items + known;
        slot->same = first->same;
        first->same = index;
    }
    return MF_OK;
}

static mf_Status list_ids(Dae *dae, const mf_XmlNode *root) {
    for (const mf_XmlNode *node = root; node != NULL;) {
        const char *id = mf_xml_attribute(node, "id");
        if (id != NULL && add_id(dae, node, id) != MF_OK)
            return MF_NO_MEMORY;
        if (node->first != NULL) {
            node = node->first;
            continue;
        }
        while (node != NULL && node != root && node->next == NULL)
            node = node->parent;
        node = node == NULL || node == root ? NULL : node->next;
    }
    return MF_OK;
}

static const mf_XmlNode *mesh_around(const mf_XmlNode *node) {
    while (node != NULL && strcmp(node->name, "mesh") != 0)
        node = node->parent;
    return node;
}

// The element of this kind that an attribute "#id" names; NULL, with an error: there is none. If
// meshes repeat ids, the element of the same mesh is meant.
static Named *follow(Dae *dae, const mf_XmlNode *node, const char *attribute, const char *kind) {
    const char *address = mf_xml_attribute(node, attribute);
    uint32_t index =
        address != NULL && address[0] == '#' ? mf_names_find(&dae->ids, address + 1) : UINT32_MAX;
    const mf_XmlNode *around = mesh_around(node);
    Named *named = dae->named.items, *found = NULL;
    for (; index != UINT32_MAX && dae->visits <= VISITS; index = named[index].same) {
        const bool fits = strcmp(named[index].node->name, kind) == 0;
        if (fits && mesh_around(named[index].node) == around)
            return &named[index];
        if (fits && found == NULL)
            found = &named[index];
        if (named[index].same != MF_NONE)
            dae->visits++;
    }
    if (found == NULL)
        mf_xml_refuse(&dae->xml, node, "<%.60s> %s: there is no <%s> '%.100s'", node->name,
                      attribute, kind, address != NULL ? address : "");
    return found;
}

// ---- numbers ------------------------------------------------------------------------------------

static const char *skip_space(const char *text) {
    while (mf_is_space(*text))
        text++;
    return text;
}

// Reads a whole number below 2^31; false: there is none.
static bool read_index(const char **text, uint32_t *out) {
    const char *at = skip_space(*text);
    uint32_t value = 0;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > (INT32_MAX - 9) / 10)
            return false;
        value = 10 * value + (uint32_t)(*at - '0');
    }
    *text = at;
    *out = value;
    return *at == '\0' || mf_is_space(*at);
}

static uint32_t count_tokens(const char *text) {
    uint32_t count = 0;
    for (text = skip_space(text); *text != '\0'; text = skip_space(text), count++)
        while (*text != '\0' && !mf_is_space(*text))
            text++;
    return count;
}

static mf_Status read_attribute(const Dae *dae, const mf_XmlNode *node, const char *attribute,
                                uint32_t usual, uint32_t *out) {
    const char *text = mf_xml_attribute(node, attribute);
    *out = usual;
    if (text == NULL)
        return MF_OK;
    return read_index(&text, out) && *skip_space(text) == '\0'
               ? MF_OK
               : mf_xml_refuse(&dae->xml, node, "<%.60s> %s: expected a whole number", node->name,
                               attribute);
}

// ---- sources ------------------------------------------------------------------------------------

// Indices of x, y and z within the numbers of a point: the named parameters of the accessor.
static void find_axes(const mf_XmlNode *accessor, uint32_t axis[3]) {
    static const char *const names[3] = {"X", "Y", "Z"};
    uint32_t at = 0;
    for (uint32_t c = 0; c < 3; c++)
        axis[c] = c;
    for (const mf_XmlNode *node = mf_xml_child(accessor, "param"); node != NULL;
         node = mf_xml_next(node, "param"), at++)
        for (uint32_t c = 0; c < 3; c++) {
            const char *name = mf_xml_attribute(node, "name");
            if (name != NULL && strcmp(name, names[c]) == 0)
                axis[c] = at;
        }
}

static mf_Status read_floats(Dae *dae, const mf_XmlNode *node, float **out, uint32_t *count) {
    const char *text = skip_space(node->text);
    *count = count_tokens(text);
    float *values = mf_arena_take(&dae->xml.arena, ((size_t)*count + 1) * sizeof *values);
    *out = values;
    if (values == NULL)
        return no_memory(dae);
    for (uint32_t i = 0; i < *count; i++, text = skip_space(text)) {
        double value;
        if (!mf_number_parse(text, &text, &value) || (*text != '\0' && !mf_is_space(*text)) ||
            !isfinite((float)value))
            return mf_xml_refuse(&dae->xml, node, "<%.60s> number %u is not a finite one",
                                 node->name, i);
        values[i] = (float)value;
    }
    return MF_OK;
}

static mf_Status read_points(Dae *dae, const mf_XmlNode *source, Points *out) {
    const mf_XmlNode *accessor = mf_xml_child(mf_xml_child(source, "technique_common"), "accessor");
    if (accessor == NULL)
        return fail(dae, source, MF_BAD_FILE, "needs <technique_common> with an <accessor>");
    const Named *array = follow(dae, accessor, "source", "float_array");
    uint32_t stride, first, count, numbers, axis[3];
    float *values;
    if (array == NULL)
        return MF_BAD_FILE;
    MF_TRY(read_attribute(dae, accessor, "stride", 1, &stride));
    MF_TRY(read_attribute(dae, accessor, "offset", 0, &first));
    MF_TRY(read_attribute(dae, accessor, "count", 0, &count));
    MF_TRY(read_floats(dae, array->node, &values, &numbers));
    find_axes(accessor, axis);
    for (uint32_t c = 0; c < 3; c++)
        if (axis[c] >= stride)
            return fail(dae, accessor, MF_BAD_FILE, "expected a stride of three numbers or more");
    if (count > 0 && first + (uint64_t)stride * count > numbers)
        return mf_xml_refuse(&dae->xml, accessor,
                             "<accessor> expects %llu numbers, <float_array> has %u",
                             (unsigned long long)(first + (uint64_t)stride * count), numbers);
    out->count = count;
    out->values = mf_arena_take(&dae->xml.arena, (3 * (size_t)count + 1) * sizeof *out->values);
    out->number = mf_arena_take(&dae->xml.arena, ((size_t)count + 1) * sizeof *out->number);
    if (out->values == NULL || out->number == NULL)
        return no_memory(dae);
    for (uint32_t i = 0; i < count; i++) {
        out->number[i] = MF_NONE;
        for (uint32_t c = 0; c < 3; c++)
            out->values[3 * (size_t)i + c] = values[first + (size_t)stride * i + axis[c]];
    }
    return MF_OK;
}

// The index of the points of a source, which is read at its first use.
static mf_Status find_points(Dae *dae, Named *source, uint32_t *out) {
    if (!source->made) {
        Points points;
        MF_TRY(read_points(dae, source->node, &points));
        Points *slot = mf_list_push(dae->context, &dae->points, sizeof *slot);
        if (slot == NULL)
            return no_memory(dae);
        *slot = points;
        source->made = true;
        source->first = dae->points.count - 1;
    }
    *out = source->first;
    return MF_OK;
}

// ---- primitives ---------------------------------------------------------------------------------

// Layout of the numbers of a corner, and the points that they index.
typedef struct Layout {
    uint32_t stride, at; // [1] numbers per corner, and that of the point
    uint32_t points;
} Layout;

static mf_Status read_layout(Dae *dae, const mf_XmlNode *primitive, Layout *out) {
    const mf_XmlNode *position = NULL;
    uint32_t offset;
    *out = (Layout){0};
    MF_XML_EACH (node, primitive, "input") {
        const char *semantic = mf_xml_attribute(node, "semantic");
        MF_TRY(read_attribute(dae, node, "offset", 0, &offset));
        if (offset > 255)
            return fail(dae, node, MF_LIMIT, "offset: at most 255");
        out->stride = offset + 1 > out->stride ? offset + 1 : out->stride;
        if (semantic == NULL ||
            (strcmp(semantic, "VERTEX") != 0 && strcmp(semantic, "POSITION") != 0))
            continue;
        position = node;
        out->at = offset;
        if (strcmp(semantic, "VERTEX") != 0)
            continue;
        const Named *vertices = follow(dae, node, "source", "vertices");
        if (vertices == NULL)
            return MF_BAD_FILE;
        position = mf_xml_child(vertices->node, "input");
        while (position != NULL &&
               (mf_xml_attribute(position, "semantic") == NULL ||
                strcmp(mf_xml_attribute(position, "semantic"), "POSITION") != 0))
            position = mf_xml_next(position, "input");
    }
    if (position == NULL)
        return fail(dae, primitive, MF_BAD_FILE, "needs an <input> of VERTEX with a POSITION");
    Named *source = follow(dae, position, "source", "source");
    return source == NULL ? MF_BAD_FILE : find_points(dae, source, &out->points);
}

// Triangles so far, with memory for as many as all corners can make.
typedef struct Making {
    Dae *dae;
    const mf_XmlNode *node;
    const Layout *layout;
    const char *text;  // of corners that are not read yet
    uint32_t *corners; // [1] 3 per triangle
    uint32_t triangles;
} Making;

static mf_Status read_corner(Making *making, uint32_t *out) {
    const Points *points = &((const Points *)making->dae->points.items)[making->layout->points];
    for (uint32_t k = 0; k < making->layout->stride; k++) {
        uint32_t index;
        if (!read_index(&making->text, &index))
            return fail(making->dae, making->node, MF_BAD_FILE, "too few whole numbers in <p>");
        if (k != making->layout->at)
            continue;
        if (index >= points->count)
            return mf_xml_refuse(&making->dae->xml, making->node, "<%.60s> point %u of %u",
                                 making->node->name, index, points->count);
        *out = index;
    }
    return MF_OK;
}

static mf_Status read_polygon(Making *making, uint32_t count) {
    Dae *dae = making->dae;
    const float *points = ((const Points *)dae->points.items)[making->layout->points].values;
    if (count > MF_POLYGON_CORNERS)
        return fail(dae, making->node, MF_LIMIT, "has a polygon of more than 16384 corners");
    for (uint32_t i = 0; i < count; i++)
        MF_TRY(read_corner(making, &dae->polygon.ring[i]));
    if (count < 3)
        return MF_OK;
    if (!mf_polygon_cut(&dae->polygon, points, count,
                        &making->corners[3 * (size_t)making->triangles]))
        return fail(dae, making->node, MF_LIMIT, "has too many polygons of too many corners");
    making->triangles += count - 2;
    return MF_OK;
}

static void put(Making *making, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *corner = &making->corners[3 * (size_t)making->triangles++];
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

// A strip: each corner from the third on forms a triangle with the last two, with alternating
// orientation; in a fan, with the first and the last.
static mf_Status read_strip(Making *making, uint32_t count, bool fan) {
    uint32_t corner[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        MF_TRY(read_corner(making, &corner[i < 2 ? i : 2]));
        if (i < 2)
            continue;
        const bool rotated = !fan && i % 2 == 1;
        put(making, corner[rotated], corner[!rotated], corner[2]);
        if (!fan)
            corner[0] = corner[1];
        corner[1] = corner[2];
    }
    return MF_OK;
}

// <vcount> of a <polylist>: corners of each polygon.
static mf_Status read_polylist(Making *making) {
    const mf_XmlNode *counts = mf_xml_child(making->node, "vcount");
    const char *text = counts == NULL ? "" : counts->text;
    for (uint32_t count; *skip_space(text) != '\0';) {
        if (!read_index(&text, &count) || count > MF_POLYGON_CORNERS)
            return fail(making->dae, counts, MF_BAD_FILE, "expected numbers of corners");
        MF_TRY(read_polygon(making, count));
    }
    return MF_OK;
}

static mf_Status read_list(Making *making, const mf_XmlNode *list, uint32_t corners) {
    const char *kind = making->node->name;
    making->text = list->text;
    if (strcmp(kind, "polylist") == 0)
        return read_polylist(making);
    if (strcmp(kind, "tristrips") == 0 || strcmp(kind, "trifans") == 0)
        return read_strip(making, corners, kind[3] == 'f');
    if (strcmp(kind, "polygons") == 0)
        return read_polygon(making, corners);
    for (uint32_t i = 0; i < corners / 3; i++)
        MF_TRY(read_polygon(making, 3));
    return MF_OK;
}

// The outline of a polygon with holes stands in <ph>; the holes are left out.
static const mf_XmlNode *outline(const mf_XmlNode *node) {
    return strcmp(node->name, "ph") == 0  ? mf_xml_child(node, "p")
           : strcmp(node->name, "p") == 0 ? node
                                          : NULL;
}

static mf_Status read_part(Dae *dae, const mf_XmlNode *primitive, Part *out) {
    Layout layout;
    uint64_t corners = 0;
    MF_TRY(read_layout(dae, primitive, &layout));
    for (const mf_XmlNode *node = primitive->first; node != NULL; node = node->next)
        if (outline(node) != NULL)
            corners += count_tokens(outline(node)->text) / layout.stride;
    Making making = {.dae = dae, .node = primitive, .layout = &layout};
    making.corners = mf_arena_take(&dae->xml.arena, (3 * corners + 3) * sizeof *making.corners);
    if (making.corners == NULL)
        return no_memory(dae);
    for (const mf_XmlNode *node = primitive->first; node != NULL; node = node->next)
        if (outline(node) != NULL)
            MF_TRY(read_list(&making, outline(node),
                             count_tokens(outline(node)->text) / layout.stride));
    *out = (Part){layout.points, making.corners, making.triangles};
    return MF_OK;
}

static bool is_surface(const mf_XmlNode *node) {
    static const char *const kinds[] = {"triangles", "polylist", "polygons", "tristrips",
                                        "trifans"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(node->name, kinds[i]) == 0)
            return true;
    return false;
}

// The parts of a geometry, which is read at its first use.
static mf_Status read_geometry(Dae *dae, Named *geometry) {
    const mf_XmlNode *mesh = mf_xml_child(geometry->node, "mesh");
    if (geometry->made)
        return MF_OK;
    geometry->made = true;
    geometry->first = dae->parts.count;
    for (const mf_XmlNode *node = mesh == NULL ? NULL : mesh->first; node != NULL;
         node = node->next) {
        if (!is_surface(node) ||
            (mf_xml_child(node, "p") == NULL && mf_xml_child(node, "ph") == NULL))
            continue;
        Part part;
        MF_TRY(read_part(dae, node, &part));
        Part *slot = mf_list_push(dae->context, &dae->parts, sizeof *slot);
        if (slot == NULL)
            return no_memory(dae);
        *slot = part;
        geometry->count++;
    }
    return MF_OK;
}

// ---- the scene ----------------------------------------------------------------------------------

static void multiply(Transform out, const Transform a, const Transform b) {
    Transform made;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            made[4 * r + c] = c == 3 ? a[4 * r + 3] : 0.0;
            for (int k = 0; k < 3; k++)
                made[4 * r + c] += a[4 * r + k] * b[4 * k + c];
        }
    memcpy(out, made, sizeof made);
}

// Rotation by `angle` [degree] about an axis: O. Rodrigues, 1840.
static void set_rotation(Transform out, const double about[4]) {
    double axis[3] = {about[0], about[1], about[2]}, sine, cosine;
    const double length = mf_vec3_length(axis);
    mf_sin_cos(about[3] * 0.017453292519943295769, &sine, &cosine);
    mf_vec3_scale(axis, axis, length > 0.0 ? 1.0 / length : 0.0);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            const int next = (r + 1) % 3;
            const double cross = r == c ? 0.0 : c == next ? -axis[3 - r - c] : axis[3 - r - c];
            out[4 * r + c] =
                (r == c ? cosine : 0.0) + (1.0 - cosine) * axis[r] * axis[c] + sine * cross;
        }
}

// Multiplies a node's transform by one of its elements; others have none.
static mf_Status apply(const Dae *dae, const mf_XmlNode *node, Transform transform) {
    Transform own = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    double v[16] = {0};
    if (strcmp(node->name, "matrix") == 0) {
        MF_TRY(mf_xml_text_numbers(&dae->xml, node, 16, v));
        memcpy(own, v, sizeof own);
    } else if (strcmp(node->name, "translate") == 0) {
        MF_TRY(mf_xml_text_numbers(&dae->xml, node, 3, v));
        for (int r = 0; r < 3; r++)
            own[4 * r + 3] = v[r];
    } else if (strcmp(node->name, "scale") == 0) {
        MF_TRY(mf_xml_text_numbers(&dae->xml, node, 3, v));
        for (int r = 0; r < 3; r++)
            own[5 * r] = v[r];
    } else if (strcmp(node->name, "rotate") == 0) {
        MF_TRY(mf_xml_text_numbers(&dae->xml, node, 4, v));
        set_rotation(own, v);
    } else if (strcmp(node->name, "skew") == 0 || strcmp(node->name, "lookat") == 0) {
        return fail(dae, node, MF_UNSUPPORTED, "is not supported: expected <matrix>");
    } else {
        return MF_OK;
    }
    multiply(transform, transform, own);
    return MF_OK;
}

static double determinant(const Transform t) {
    return t[0] * (t[5] * t[10] - t[6] * t[9]) - t[1] * (t[4] * t[10] - t[6] * t[8]) +
           t[2] * (t[4] * t[9] - t[5] * t[8]);
}

static bool put_vertex(const Dae *dae, const float point[3], const Transform t, uint32_t number) {
    float *out = &dae->out->vertices[3 * (size_t)number];
    for (int r = 0; r < 3; r++) {
        out[r] =
            (float)(dae->unit * (t[4 * r] * (double)point[0] + t[4 * r + 1] * (double)point[1] +
                                 t[4 * r + 2] * (double)point[2] + t[4 * r + 3]));
        if (!isfinite(out[r]))
            return false;
    }
    return true;
}

static bool place_part(Dae *dae, const Part *part, const Transform transform) {
    Points *points = &((Points *)dae->points.items)[part->points];
    const bool mirrored = determinant(transform) < 0.0;
    for (uint32_t i = 0; i < 3 * part->triangles; i++) {
        uint32_t *number = &points->number[part->corners[i]];
        if (*number == MF_NONE) {
            *number = dae->vertices++;
            if (dae->out != NULL &&
                !put_vertex(dae, &points->values[3 * (size_t)part->corners[i]], transform, *number))
                return false;
        }
        if (dae->out != NULL)
            dae->out->triangles[3 * (size_t)dae->triangles + i] = *number;
        if (dae->out != NULL && mirrored && i % 3 == 2)
            mf_mesh_reverse(dae->out, dae->triangles + i / 3);
    }
    dae->triangles += part->triangles;
    return true;
}

static mf_Status place(Dae *dae, const mf_XmlNode *node, const Named *geometry,
                       const Transform transform) {
    if (geometry->count == 0)
        return MF_OK;
    const Part *parts = (const Part *)dae->parts.items + geometry->first;
    bool finite = true;
    for (uint32_t p = 0; p < geometry->count && finite; p++) {
        if (parts[p].triangles > MF_MESH_TRIANGLES - dae->triangles)
            return mf_xml_fail(&dae->xml, node, MF_LIMIT, "at most %u triangles in all instances",
                               MF_MESH_TRIANGLES);
        finite = place_part(dae, &parts[p], transform);
    }
    for (uint32_t p = 0; p < geometry->count; p++)
        for (uint32_t i = 0; i < 3 * parts[p].triangles; i++)
            ((Points *)dae->points.items)[parts[p].points].number[parts[p].corners[i]] = MF_NONE;
    return finite ? MF_OK : fail(dae, node, MF_BAD_FILE, "has a vertex that is not finite");
}

static mf_Status place_instance(Dae *dae, const mf_XmlNode *node, const Transform transform) {
    const mf_XmlNode *from = node;
    const char *attribute = "url";
    if (strcmp(node->name, "instance_controller") == 0) { // a skin or a morph as it is bound
        const Named *controller = follow(dae, node, "url", "controller");
        if (controller == NULL)
            return MF_BAD_FILE;
        from = mf_xml_child(controller->node, "skin");
        from = from != NULL ? from : mf_xml_child(controller->node, "morph");
        attribute = "source";
        if (from == NULL)
            return fail(dae, controller->node, MF_BAD_FILE, "needs a <skin> or a <morph>");
    }
    Named *geometry = follow(dae, from, attribute, "geometry");
    if (geometry == NULL)
        return MF_BAD_FILE;
    MF_TRY(read_geometry(dae, geometry));
    return place(dae, node, geometry, transform);
}

static mf_Status visit(Dae *dae, const mf_XmlNode *node, const Transform parent, uint32_t depth) {
    Transform transform;
    memcpy(transform, parent, sizeof transform);
    if (depth > DEPTH)
        return fail(dae, node, MF_LIMIT, "is more than 64 nodes deep, or contains itself");
    for (const mf_XmlNode *part = node->first; part != NULL; part = part->next) {
        if (++dae->visits > VISITS)
            return fail(dae, part, MF_LIMIT, "is beyond 2000000 nodes and instances");
        if (strcmp(part->name, "node") == 0) {
            MF_TRY(visit(dae, part, transform, depth + 1));
        } else if (strcmp(part->name, "instance_node") == 0) {
            const Named *other = follow(dae, part, "url", "node");
            MF_TRY(other == NULL ? MF_BAD_FILE : visit(dae, other->node, transform, depth + 1));
        } else if (strcmp(part->name, "instance_geometry") == 0 ||
                   strcmp(part->name, "instance_controller") == 0) {
            MF_TRY(place_instance(dae, part, transform));
        } else {
            MF_TRY(apply(dae, part, transform));
        }
    }
    return MF_OK;
}

static mf_Status find_scene(Dae *dae, const mf_XmlNode **out) {
    const mf_XmlNode *root = dae->xml.root;
    const mf_XmlNode *node = mf_xml_child(mf_xml_child(root, "scene"), "instance_visual_scene");
    if (strcmp(root->name, "COLLADA") != 0)
        return fail(dae, root, MF_BAD_FILE, "found: expected <COLLADA>");
    if (node != NULL) {
        const Named *scene = follow(dae, node, "url", "visual_scene");
        *out = scene == NULL ? NULL : scene->node;
        return scene == NULL ? MF_BAD_FILE : MF_OK;
    }
    *out = mf_xml_child(mf_xml_child(root, "library_visual_scenes"), "visual_scene");
    return *out != NULL ? MF_OK : fail(dae, root, MF_BAD_FILE, "needs a <visual_scene>");
}

static mf_Status read_unit(Dae *dae) {
    const mf_XmlNode *unit = mf_xml_child(mf_xml_child(dae->xml.root, "asset"), "unit");
    dae->unit = 1.0;
    MF_TRY(unit == NULL ? MF_OK : mf_xml_numbers(&dae->xml, unit, "meter", 1, &dae->unit));
    if (!(dae->unit > 0.0))
        return fail(dae, unit, MF_BAD_FILE, "meter: expected a positive number");
    return MF_OK;
}

static mf_Status take_polygon(Dae *dae) {
    mf_Polygon *polygon = &dae->polygon;
    mf_Arena *arena = &dae->xml.arena;
    polygon->ring = mf_arena_take(arena, MF_POLYGON_CORNERS * sizeof *polygon->ring);
    polygon->next = mf_arena_take(arena, MF_POLYGON_CORNERS * sizeof *polygon->next);
    polygon->flat = mf_arena_take(arena, MF_POLYGON_CORNERS * sizeof *polygon->flat);
    return polygon->ring == NULL || polygon->next == NULL || polygon->flat == NULL ? no_memory(dae)
                                                                                   : MF_OK;
}

// Counts first, then creates.
static mf_Status read_scene(Dae *dae, mf_MeshData *out) {
    const Transform still = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const mf_XmlNode *scene = NULL;
    MF_TRY(list_ids(dae, dae->xml.root));
    MF_TRY(take_polygon(dae));
    MF_TRY(find_scene(dae, &scene));
    MF_TRY(read_unit(dae));
    MF_TRY(visit(dae, scene, still, 0));
    if (dae->triangles == 0)
        return fail(dae, scene, MF_BAD_FILE, "expected triangles, found none");
    if (!mf_mesh_reserve(out, dae->vertices, dae->triangles, false))
        return no_memory(dae);
    out->vertex_count = dae->vertices;
    out->triangle_count = dae->triangles;
    dae->vertices = dae->triangles = dae->visits = 0;
    dae->out = out;
    return visit(dae, scene, still, 0);
}

mf_Status mf_dae_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    Dae dae = {.context = context, .ids = mf_names_start(context), .error = error};
    *out = (mf_MeshData){.context = context};
    MF_TRY(mf_xml_parse(context, file, data, size, &dae.xml, error));
    mf_Status status = read_scene(&dae, out);
    if (status != MF_OK)
        mf_mesh_release(out);
    mf_list_release(context, &dae.named);
    mf_list_release(context, &dae.points);
    mf_list_release(context, &dae.parts);
    mf_names_release(&dae.ids);
    mf_xml_release(&dae.xml);
    return status;
}
