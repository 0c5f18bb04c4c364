// Pairs of links of a URDF file that touch though a joint connects them, as flush parts that rub:
//
//   <mayfly><pair link1="inner" link2="outer" margin="1e-5" friction="0.1"/></mayfly>
//
// Each collision shape of one link is paired with each of the other. Only the links are required;
// `friction`, `margin` and `dimension` are rows of the table of pairs. Without `friction` it is the
// larger one of the two shapes.
#include "import/item.h"
#include "import/mjcf.h"
#include "import/urdf.h"

#include "math/scalar.h"

static mf_Status find_link(mf_Urdf *urdf, const mf_XmlNode *node, const char *attribute,
                           const mf_UrdfLink **out) {
    const char *name;
    MF_TRY(mf_xml_name(&urdf->xml, node, attribute, &name));
    const uint32_t index = mf_names_find(&urdf->link_names, name);
    if (index == UINT32_MAX)
        return mf_xml_refuse(&urdf->xml, node, "<pair> %s: there is no link '%.100s'", attribute,
                             name);
    *out = &mf_urdf_links(urdf)[index];
    for (uint32_t i = (*out)->first_solid; i != MF_NONE; i = mf_urdf_solids(urdf)[i].next)
        if (!mf_urdf_solids(urdf)[i].visual)
            return MF_OK;
    return mf_xml_refuse(&urdf->xml, node, "<pair> %s: link '%.100s' has no collision shape",
                         attribute, name);
}

static mf_Status read_values(mf_Urdf *urdf, const mf_XmlNode *node, mf_ContactPair *out) {
    static const char *const known[] = {"link1", "link2", "friction", "margin", "dimension", NULL};
    for (uint32_t a = 0; a < node->attribute_count; a++)
        if (!mf_name_listed(known, node->attributes[a].name))
            return mf_xml_refuse(&urdf->xml, node,
                                 "<pair>: unknown attribute '%.60s'; there are link1, link2, "
                                 "friction, margin and dimension",
                                 node->attributes[a].name);
    mf_item_reset(MF_ITEM_PAIR, out);
    out->friction[1] = -1.0; // not given: as the first
    MF_TRY(mf_import_members(&urdf->xml, node, MF_ITEM_PAIR, out));
    if (out->friction[1] == -1.0)
        out->friction[1] = out->friction[0];
    if (!mf_mjcf_is_dimension(out->dimension))
        return mf_import_refuse(&urdf->xml, node, "dimension", "1, 3, 4 or 6");
    for (int i = 0; i < 5; i++)
        if (!(out->friction[i] >= 0.0))
            return mf_import_refuse(&urdf->xml, node, "friction", "numbers >= 0");
    if (!(out->margin >= 0.0))
        return mf_import_refuse(&urdf->xml, node, "margin", "a number >= 0");
    return MF_OK;
}

static mf_Status add_pair(mf_Urdf *urdf, const mf_XmlNode *node, mf_ContactPair *pair) {
    if (mf_xml_attribute(node, "friction") == NULL)
        for (int i = 0; i < 2; i++)
            pair->friction[i] =
                mf_larger(mf_draft_shapes(&urdf->draft)[pair->shapes[0]].friction[0],
                          mf_draft_shapes(&urdf->draft)[pair->shapes[1]].friction[0]);
    return mf_draft_add(&urdf->draft, MF_ITEM_PAIR, pair) != NULL ? MF_OK : mf_urdf_no_memory(urdf);
}

mf_Status mf_urdf_read_pair(mf_Urdf *urdf, const mf_XmlNode *node) {
    const mf_UrdfSolid *solids = mf_urdf_solids(urdf);
    const mf_UrdfLink *links[2] = {NULL, NULL};
    mf_ContactPair pair;
    MF_TRY(find_link(urdf, node, "link1", &links[0]));
    MF_TRY(find_link(urdf, node, "link2", &links[1]));
    if (links[0]->draft == links[1]->draft)
        return mf_xml_refuse(&urdf->xml, node,
                             "<pair>: '%.80s' and '%.80s' do not move against "
                             "each other",
                             links[0]->name, links[1]->name);
    MF_TRY(read_values(urdf, node, &pair));
    for (uint32_t a = links[0]->first_solid; a != MF_NONE; a = solids[a].next) {
        for (uint32_t b = links[1]->first_solid; b != MF_NONE; b = solids[b].next) {
            if (solids[a].visual || solids[b].visual)
                continue;
            pair.shapes[0] = solids[a].shape;
            pair.shapes[1] = solids[b].shape;
            MF_TRY(add_pair(urdf, node, &pair));
        }
    }
    return MF_OK;
}
