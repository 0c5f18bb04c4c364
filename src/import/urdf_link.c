// URDF links: inertial, visual, collision, material, geometry.
#include "import/mesh.h"
#include "import/urdf.h"

#include "math/scalar.h"
#include "model/shape_kinds.h"

#include <math.h>
#include <string.h>

// ---- materials ---------------------------------------------------------------------------------

// Reads <color rgba> of a material; `found` tells whether there was one.
static mf_Status read_color(mf_Urdf *urdf, const mf_XmlNode *material, float color[3],
                            bool *found) {
    static const char *const known[] = {"color", NULL};
    const mf_XmlNode *node = mf_xml_child(material, "color");
    *found = node != NULL && mf_xml_attribute(node, "rgba") != NULL;
    MF_TRY(mf_urdf_ignore_others(urdf, material, known));
    if (!*found)
        return MF_OK;
    double rgba[4];
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "rgba", 4, rgba));
    for (int i = 0; i < 3; i++)
        color[i] = (float)mf_clamp(rgba[i], 0.0, 1.0);
    return MF_OK;
}

static mf_Status define_material(mf_Urdf *urdf, const char *name, const float color[3]) {
    if (name == NULL || *name == '\0' || mf_names_find(&urdf->material_names, name) != UINT32_MAX)
        return MF_OK;
    mf_UrdfMaterial *item = mf_list_push(urdf->context, &urdf->materials, sizeof *item);
    if (item == NULL || !mf_names_add(&urdf->material_names, name, urdf->materials.count - 1))
        return mf_urdf_no_memory(urdf);
    memcpy(item->color, color, sizeof item->color);
    return MF_OK;
}

mf_Status mf_urdf_read_materials(mf_Urdf *urdf) {
    MF_XML_EACH (node, urdf->xml.root, "material") {
        float color[3];
        bool found;
        MF_TRY(read_color(urdf, node, color, &found));
        if (found)
            MF_TRY(define_material(urdf, mf_xml_attribute(node, "name"), color));
    }
    return MF_OK;
}

static mf_Status read_material(mf_Urdf *urdf, const mf_XmlNode *visual, float color[3]) {
    const mf_XmlNode *node = mf_xml_child(visual, "material");
    memcpy(color, mf_gray, sizeof mf_gray);
    if (node == NULL)
        return MF_OK;
    bool found;
    const char *name = mf_xml_attribute(node, "name");
    mf_Status status = read_color(urdf, node, color, &found);
    if (status != MF_OK || found)
        return status == MF_OK ? define_material(urdf, name, color) : status;
    uint32_t index = name ? mf_names_find(&urdf->material_names, name) : UINT32_MAX;
    if (index != UINT32_MAX)
        memcpy(color, ((mf_UrdfMaterial *)urdf->materials.items)[index].color, sizeof mf_gray);
    return MF_OK;
}

// ---- geometry ----------------------------------------------------------------------------------

// A radius or length. Spheres of radius 0 and disks of length 0 are in use for points and plates.
static mf_Status read_size(mf_Urdf *urdf, const mf_XmlNode *node, const char *attribute,
                           double *out) {
    const double least = 1e-6; // [m]
    MF_TRY(mf_xml_number(&urdf->xml, node, attribute, out));
    if (!(*out >= 0.0))
        return mf_xml_refuse(&urdf->xml, node, "<%.80s> %s: must be >= 0, found %g", node->name,
                             attribute, *out);
    if (*out >= least)
        return MF_OK;
    *out = least;
    return mf_draft_note(&urdf->draft, false, node->line, "<%.80s> %s: below %g m, raised to it",
                         node->name, attribute, least);
}

static mf_Status read_box(mf_Urdf *urdf, const mf_XmlNode *node, mf_UrdfSolid *solid) {
    if (mf_xml_attribute(node, "size") == NULL)
        return mf_xml_refuse(&urdf->xml, node, "<box> needs the attribute 'size'");
    MF_TRY(mf_xml_numbers(&urdf->xml, node, "size", 3, solid->size));
    // Flat boxes (one edge 0) are in use as floors and fins.
    if (!(solid->size[0] >= 0.0 && solid->size[1] >= 0.0 && solid->size[2] >= 0.0))
        return mf_xml_refuse(&urdf->xml, node, "<box> size: must be >= 0, found %g %g %g",
                             solid->size[0], solid->size[1], solid->size[2]);
    return MF_OK;
}

// Reads the first geometry that is known; `keep` is false (with a note) when there is none.
static mf_Status read_geometry(mf_Urdf *urdf, const mf_XmlNode *element, mf_UrdfSolid *solid,
                               bool *keep) {
    static const char *const known[] = {"box", "cylinder", "sphere", "capsule", "mesh", NULL};
    const mf_XmlNode *geometry = mf_xml_child(element, "geometry"), *node = NULL;
    if (geometry == NULL)
        return mf_xml_refuse(&urdf->xml, element, "<%.80s> needs a <geometry>", element->name);
    for (uint32_t kind = 0; known[kind] && node == NULL; kind++)
        node = mf_xml_child(geometry, known[kind]);
    *keep = node != NULL;
    MF_TRY(mf_urdf_ignore_others(urdf, geometry, known));
    if (node == NULL)
        return MF_OK;
    for (solid->type = MF_SHAPE_BOX; strcmp(mf_shape_names[solid->type], node->name) != 0;)
        solid->type++;
    if (solid->type == MF_SHAPE_BOX)
        return read_box(urdf, node, solid);
    if (solid->type == MF_SHAPE_MESH) {
        MF_TRY(mf_urdf_mesh(urdf, node, solid->visual, &solid->mesh));
        *keep = solid->mesh != MF_NONE;
        return MF_OK;
    }
    MF_TRY(read_size(urdf, node, "radius", &solid->size[0]));
    if (mf_shape_kinds[solid->type].half_count > 1)
        MF_TRY(read_size(urdf, node, "length", &solid->size[1]));
    return MF_OK;
}

static mf_Status read_solid(mf_Urdf *urdf, uint32_t link, const mf_XmlNode *node, bool visual) {
    static const char *const known[] = {"origin", "geometry", "material", NULL};
    mf_UrdfSolid solid = {
        .node = node, .next = MF_NONE, .visual = visual, .mesh = MF_NONE, .friction = (double)NAN};
    bool keep = false;
    MF_TRY(mf_urdf_origin(urdf, node, solid.position, solid.rotation));
    MF_TRY(read_material(urdf, node, solid.color));
    MF_TRY(read_geometry(urdf, node, &solid, &keep));
    MF_TRY(mf_urdf_ignore_others(urdf, node, known));
    if (!keep)
        return MF_OK;
    mf_UrdfSolid *item = mf_list_push(urdf->context, &urdf->solids, sizeof *item);
    if (item == NULL)
        return mf_urdf_no_memory(urdf);
    *item = solid;
    uint32_t index = urdf->solids.count - 1;
    mf_UrdfLink *owner = &mf_urdf_links(urdf)[link];
    if (owner->last_solid == MF_NONE)
        owner->first_solid = index;
    else
        mf_urdf_solids(urdf)[owner->last_solid].next = index;
    owner->last_solid = index;
    return MF_OK;
}

// ---- inertial ----------------------------------------------------------------------------------

static mf_Status read_inertia(mf_Urdf *urdf, const mf_XmlNode *inertial, mf_MassProperties *body) {
    static const char *const names[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    double position[3], rotation[4];
    const mf_XmlNode *node = mf_xml_child(inertial, "inertia");
    MF_TRY(mf_urdf_origin(urdf, inertial, position, rotation));
    for (int i = 0; node && i < 6; i++)
        MF_TRY(mf_xml_numbers(&urdf->xml, node, names[i], 1, &body->inertia[i]));
    *body = mf_mass_transform(body, position, rotation);
    if (!mf_all_finite(body->inertia, 6))
        return mf_xml_refuse(&urdf->xml, inertial, "<inertial>: numbers too large");
    return MF_OK;
}

static mf_Status read_inertial(mf_Urdf *urdf, mf_UrdfLink *link) {
    static const char *const known[] = {"origin", "mass", "inertia", NULL};
    const mf_XmlNode *node = link->inertial;
    if (node == NULL)
        return MF_OK;
    const mf_XmlNode *mass = mf_xml_child(node, "mass");
    if (mass == NULL)
        return mf_xml_refuse(&urdf->xml, node, "<inertial> needs a <mass>");
    MF_TRY(mf_xml_number(&urdf->xml, mass, "value", &link->body.mass));
    if (!(link->body.mass >= 0.0))
        return mf_xml_refuse(&urdf->xml, mass, "link '%.100s': mass must be >= 0, found %g",
                             link->name, link->body.mass);
    MF_TRY(read_inertia(urdf, node, &link->body));
    return mf_urdf_ignore_others(urdf, node, known);
}

static mf_Status read_link(mf_Urdf *urdf, const mf_XmlNode *node) {
    static const char *const known[] = {"inertial", "visual", "collision", "contact", NULL};
    const char *name;
    MF_TRY(mf_xml_name(&urdf->xml, node, "name", &name));
    if (mf_names_find(&urdf->link_names, name) != UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "two links are named '%.100s'", name);
    uint32_t index = urdf->links.count;
    if (index >= MF_MODEL_LINK_LIMIT)
        return mf_xml_fail(&urdf->xml, node, MF_LIMIT, "at most %u links", MF_MODEL_LINK_LIMIT);
    mf_UrdfLink *link = mf_list_push(urdf->context, &urdf->links, sizeof *link);
    if (link == NULL || !mf_names_add(&urdf->link_names, name, index))
        return mf_urdf_no_memory(urdf);
    link->name = name;
    link->node = node;
    link->inertial = mf_xml_child(node, "inertial");
    link->first_solid = link->last_solid = MF_NONE;
    link->joint = link->first_child = MF_NONE;
    mf_quat_identity(link->rotation);
    MF_TRY(read_inertial(urdf, link));
    for (const mf_XmlNode *child = node->first; child; child = child->next) {
        bool visual = strcmp(child->name, "visual") == 0;
        bool skip = visual && urdf->drop_visual;
        if (!skip && (visual || strcmp(child->name, "collision") == 0))
            MF_TRY(read_solid(urdf, index, child, visual));
    }
    return mf_urdf_ignore_others(urdf, node, known);
}

mf_Status mf_urdf_read_links(mf_Urdf *urdf) {
    MF_XML_EACH (node, urdf->xml.root, "link") {
        MF_TRY(read_link(urdf, node));
    }
    if (urdf->links.count == 0)
        return mf_xml_refuse(&urdf->xml, urdf->xml.root, "the robot has no <link>");
    return MF_OK;
}
