// Contact pairs and exclusions.
#include "import/mjcf_rows.h"

#include <string.h>

static mf_Status read_pair(mf_Mjcf *m, const mf_XmlNode *node) {
    mf_MjcfPair pair;
    uint32_t *shapes = pair.plain.shapes;
    MF_TRY(mf_mjcf_read_element(m, node, NULL, MF_MJCF_PAIR, &pair));
    for (int i = 0; i < 2; i++) {
        const char *attribute = i ? "geom2" : "geom1";
        uint32_t geom;
        if (pair.geoms[i] == NULL)
            return mf_mjcf_fail(m, node, "<pair> needs the attribute '%s'", attribute);
        MF_TRY(mf_mjcf_find(m, node, attribute, pair.geoms[i], &m->geom_names, "geom", &geom));
        shapes[i] = geom != MF_NONE ? mf_mjcf_geoms(m)[geom].shape : MF_NONE;
        if (shapes[i] == MF_NONE)
            return mf_mjcf_refuse(m, node, attribute); // a dropped geom, or an omitted visual one
    }
    if (!mf_mjcf_is_dimension(pair.plain.dimension))
        return mf_mjcf_fail(m, node, "<pair> condim: expected 1, 3, 4 or 6, found %d",
                            (int32_t)pair.plain.dimension);
    pair.plain.name = pair.name;
    return mf_mjcf_add(m, node, MF_ITEM_PAIR, &pair.plain, &m->pair_names);
}

// Marks the geoms that pairs name, before they are converted to shapes. Errors of a pair are
// reported when it is read.
mf_Status mf_mjcf_list_pairs(mf_Mjcf *m) {
    MF_XML_EACH (section, m->xml.root, "contact") {
        MF_XML_EACH (node, section, "pair") {
            mf_MjcfGeom *geoms[2] = {NULL, NULL};
            for (int i = 0; i < 2; i++) {
                const char *name = mf_xml_attribute(node, i ? "geom2" : "geom1");
                uint32_t at = name ? mf_names_find(&m->geom_names, name) : MF_NONE;
                geoms[i] = at != MF_NONE ? &mf_mjcf_geoms(m)[at] : NULL;
            }
            for (int i = 0; i < 2 && geoms[0] && geoms[1]; i++) {
                geoms[i]->listed = true;
                geoms[i]->listed_world |= !mf_mjcf_bodies(m)[geoms[1 - i]->body].moves;
            }
        }
    }
    return MF_OK;
}

typedef struct Exclusion {
    const char *name, *bodies[2];
} Exclusion;

#define T Exclusion
static mf_Status read_exclusion(mf_Mjcf *m, const mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {TEXT("name", name), TEXT("body1", bodies[0]),
                                          TEXT("body2", bodies[1]), END};
    Exclusion exclusion = {0};
    uint32_t bodies[2] = {0, 0};
    MF_TRY(mf_mjcf_read(m, node, fields, &exclusion));
    for (int i = 0; i < 2; i++) {
        const char *attribute = i ? "body2" : "body1";
        if (exclusion.bodies[i] == NULL)
            return mf_mjcf_fail(m, node, "<exclude> needs the attribute '%s'", attribute);
        MF_TRY(mf_mjcf_find(m, node, attribute, exclusion.bodies[i], &m->body_names, "body",
                            &bodies[i]));
    }
    const mf_ContactExclusion item = {
        exclusion.name, {mf_mjcf_draft_body(bodies[0]), mf_mjcf_draft_body(bodies[1])}};
    return mf_mjcf_add(m, node, MF_ITEM_EXCLUSION, &item, NULL);
}

static mf_Status read_contact(mf_Mjcf *m, const mf_XmlNode *node) {
    if (strcmp(node->name, "pair") == 0)
        return read_pair(m, node);
    return strcmp(node->name, "exclude") == 0 ? read_exclusion(m, node)
                                              : mf_mjcf_refuse(m, node, NULL);
}

mf_Status mf_mjcf_read_contacts(mf_Mjcf *m) {
    return mf_mjcf_read_section(m, "contact", read_contact);
}
