// Docks of robot files:
//
//   URDF: <mayfly><dock name="front" link="nose" xyz="0.1 0 0" rpy="0 0 0" gender="male"
//         orientations="4"/></mayfly>
//   MJCF: <custom><text name="dock:front" data="site=front_site gender=male orientations=4"/>
//         </custom>
//
// Only name and place are required: a link of a URDF; a site, or `xyz` and `quat` of a body, of an
// MJCF. The x axis of the dock points outwards. The other attributes are the rows of the table of
// dock fields.
#include "import/item.h"
#include "import/mjcf.h"
#include "import/urdf.h"

#include <stdio.h>

#define OLD_ORIENTATIONS "turns" // `orientations` by its earlier name

// All attributes over the defaults, but for those of the place.
static mf_Status read_values(const mf_Xml *xml, const mf_XmlNode *node,
                             const char *const *elsewhere, mf_Dock *out) {
    *out = mf_dock();
    MF_TRY(mf_import_names(xml, node, MF_ITEM_DOCK, elsewhere));
    MF_TRY(mf_xml_name(xml, node, "name", &out->name));
    MF_TRY(mf_import_member(xml, node, OLD_ORIENTATIONS,
                            mf_item_field(MF_ITEM_DOCK, "orientations"), out));
    return mf_import_members(xml, node, MF_ITEM_DOCK, out);
}

static mf_Status add(const mf_Xml *xml, const mf_XmlNode *node, mf_Draft *draft,
                     const mf_Dock *dock) {
    char what[300];
    if (mf_xml_attribute(node, OLD_ORIENTATIONS) != NULL)
        MF_TRY(mf_draft_note(draft, false, node->line,
                             "<dock> " OLD_ORIENTATIONS " is called orientations"));
    snprintf(what, sizeof what, "<dock> %.255s", dock->name);
    return mf_import_mount(xml, node, draft, &mf_dock_kind, dock, what);
}

mf_Status mf_urdf_read_dock(mf_Urdf *urdf, const mf_XmlNode *node) {
    static const char *const elsewhere[] = {OLD_ORIENTATIONS, "link", "xyz", "rpy", NULL};
    mf_Dock dock;
    MF_TRY(read_values(&urdf->xml, node, elsewhere, &dock));
    MF_TRY(mf_urdf_read_frame(urdf, node, &dock.frame));
    return add(&urdf->xml, node, &urdf->draft, &dock);
}

static mf_Status place(mf_Mjcf *m, const mf_XmlNode *node, mf_Frame *out) {
    const char *site = mf_xml_attribute(node, "site"), *body = mf_xml_attribute(node, "body");
    double xyz[3] = {0.0, 0.0, 0.0}, quat[4] = {1.0, 0.0, 0.0, 0.0};
    const mf_MjcfSite *at = NULL;
    uint32_t index = 0;
    if ((site != NULL) == (body != NULL))
        return mf_mjcf_fail(m, node, "<dock>: expected a site or a body");
    MF_TRY(site != NULL ? mf_mjcf_find_site(m, node, "site", site, &at, out)
                        : mf_mjcf_find(m, node, "body", body, &m->body_names, "body", &index));
    if (at != NULL)
        return MF_OK;
    if (site != NULL || index == MF_NONE)
        return mf_mjcf_refuse(m, node, site != NULL ? "site" : "body");
    MF_TRY(mf_xml_numbers(&m->xml, node, "xyz", 3, xyz));
    MF_TRY(mf_xml_numbers(&m->xml, node, "quat", 4, quat));
    *out = mf_mjcf_frame(m, index, xyz, quat);
    return MF_OK;
}

mf_Status mf_mjcf_read_dock_text(mf_Mjcf *m, const mf_XmlNode *node) {
    static const char *const elsewhere[] = {OLD_ORIENTATIONS, "site", "body", "xyz", "quat", NULL};
    mf_Dock dock;
    MF_TRY(read_values(&m->xml, node, elsewhere, &dock));
    MF_TRY(place(m, node, &dock.frame));
    if (dock.frame.link == MF_NONE)
        return mf_mjcf_fail(m, node, "<text> dock:%.100s: it is on the world, not on a body",
                            dock.name);
    return add(&m->xml, node, &m->draft, &dock);
}
