// Friction of a URDF's links, which URDF itself does not have:
//
//   <gazebo reference="LINK"><mu1>0.8</mu1><mu2>0.8</mu2></gazebo>      Gazebo, also mu1
//   value="0.8" <link ...><contact><lateral_friction value="0.8"/></contact></link> Bullet
//
// It holds for all collision shapes of the link. Friction is the same in all directions here, so
// two values become their mean, with a note. Softness (kp, kd, stiffness, damping) is of those
// engines' contacts and ignored.
#include "import/urdf.h"

#include <math.h>

uint32_t mf_urdf_reference(const mf_Urdf *urdf, const mf_XmlNode *gazebo) {
    const char *reference = mf_xml_attribute(gazebo, "reference");
    if (reference == NULL)
        return MF_NONE;
    const uint32_t link = mf_names_find(&urdf->link_names, reference);
    if (link != UINT32_MAX)
        return link;
    const uint32_t joint = mf_names_find(&urdf->joint_names, reference);
    return joint != UINT32_MAX ? mf_urdf_joints(urdf)[joint].joint.child : MF_NONE;
}

// A coefficient in the element's text or its attribute `value`; without the element *out stays.
static mf_Status read_friction(mf_Urdf *urdf, const mf_XmlNode *parent, const char *name,
                               double *out) {
    const mf_XmlNode *node = mf_xml_child(parent, name);
    if (node == NULL)
        return MF_OK;
    MF_TRY(mf_xml_attribute(node, "value") != NULL ? mf_xml_number(&urdf->xml, node, "value", out)
                                                   : mf_xml_text_numbers(&urdf->xml, node, 1, out));
    if (!(*out >= 0.0))
        return mf_xml_refuse(&urdf->xml, node, "<%.80s>: friction must be >= 0, found %g", name,
                             *out);
    return MF_OK;
}

// More than the limit of a friction coefficient, as files have it for "does not slip", is the
// limit.
static void set_friction(mf_Urdf *urdf, uint32_t link, double friction) {
    const double most = 1e6;
    uint32_t i = mf_urdf_links(urdf)[link].first_solid;
    for (; i != MF_NONE; i = mf_urdf_solids(urdf)[i].next)
        mf_urdf_solids(urdf)[i].friction = friction < most ? friction : most;
}

static mf_Status read_gazebo(mf_Urdf *urdf, const mf_XmlNode *node) {
    double first = (double)NAN, second = (double)NAN;
    MF_TRY(read_friction(urdf, node, "mu1", &first));
    MF_TRY(read_friction(urdf, node, "mu2", &second));
    if (isnan(first) && isnan(second))
        return MF_OK;
    first = isnan(first) ? second : first;
    second = isnan(second) ? first : second;
    const uint32_t link = mf_urdf_reference(urdf, node);
    if (link == MF_NONE)
        return mf_draft_note(&urdf->draft, true, node->line,
                             "<gazebo> with friction dropped: it refers to no link or joint");
    set_friction(urdf, link, 0.5 * (first + second));
    if (first != second)
        return mf_draft_note(&urdf->draft, false, node->line,
                             "link '%.100s': friction %.4g in all directions, not mu1 %.4g and mu2 "
                             "%.4g",
                             mf_urdf_links(urdf)[link].name, 0.5 * (first + second), first, second);
    return MF_OK;
}

static mf_Status read_contact(mf_Urdf *urdf, uint32_t link) {
    static const char *const known[] = {"lateral_friction", NULL};
    const mf_XmlNode *node = mf_xml_child(mf_urdf_links(urdf)[link].node, "contact");
    double friction = (double)NAN;
    if (node == NULL)
        return MF_OK;
    MF_TRY(read_friction(urdf, node, "lateral_friction", &friction));
    if (!isnan(friction))
        set_friction(urdf, link, friction);
    return mf_urdf_ignore_others(urdf, node, known);
}

mf_Status mf_urdf_read_surfaces(mf_Urdf *urdf) {
    for (uint32_t i = 0; i < urdf->links.count; i++)
        MF_TRY(read_contact(urdf, i));
    MF_XML_EACH (node, urdf->xml.root, "gazebo")
        MF_TRY(read_gazebo(urdf, node));
    return MF_OK;
}
