// Docks of an MJCF file, in a form that MuJoCo passes over:
//
//   <custom><text name="dock:front" data="site=front_site gender=male orientations=4"/></custom>
//
// Words of the data are key=value with the attributes of a URDF dock; commas stand for the spaces
// within a value. The dock is at a site, or at `xyz` and `quat` of a body.
#include "import/item.h"
#include "import/mjcf.h"

#include "math/scalar.h"

#include <string.h>

static const char prefix[] = "dock:";

// Cuts the pairs in place; MF_NONE: it is no such list.
static uint32_t cut(char *data, mf_XmlAttribute out[MF_MJCF_NAMES]) {
    uint32_t count = 0;
    while (*(data += strspn(data, " \t\r\n")) != '\0') {
        char *equals = strchr(data, '='), *end = data + strcspn(data, " \t\r\n");
        if (equals == NULL || equals >= end || count == MF_MJCF_NAMES)
            return MF_NONE;
        *equals = '\0';
        out[count].name = data;
        out[count++].value = equals + 1;
        data = *end == '\0' ? end : end + 1;
        *end = '\0';
        for (char *c = equals + 1; *c != '\0'; c++)
            *c = *c == ',' ? ' ' : *c;
    }
    return count;
}

mf_Status mf_mjcf_text_element(mf_Mjcf *m, const mf_XmlNode *text, const char *kind,
                               const char *name, mf_XmlAttribute attributes[MF_MJCF_NAMES + 1],
                               mf_XmlNode *out) {
    const char *data = mf_xml_attribute(text, "data");
    char *copy = (char *)mf_draft_text(&m->draft, data != NULL ? data : "");
    if (copy == NULL)
        return mf_mjcf_no_memory(m);
    const uint32_t count = cut(copy, attributes + 1);
    if (count == MF_NONE)
        return mf_mjcf_fail(m, text, "<text> %s:%.100s: expected key=value pairs, found \"%.60s\"",
                            kind, name, data);
    attributes[0] = (mf_XmlAttribute){.name = "name", .value = name};
    *out = *text;
    out->name = kind;
    out->attributes = attributes;
    out->attribute_count = count + 1;
    return MF_OK;
}

static mf_Status place(mf_Mjcf *m, const mf_XmlNode *node, mf_Frame *out) {
    const char *site = mf_xml_attribute(node, "site"), *body = mf_xml_attribute(node, "body");
    double xyz[3] = {0.0, 0.0, 0.0}, quat[4] = {1.0, 0.0, 0.0, 0.0};
    const mf_MjcfSite *at = NULL;
    uint32_t index = 0;
    if ((site != NULL) == (body != NULL))
        return mf_mjcf_fail(m, node, "<dock>: expected a site or a body");
    mf_Status status = site != NULL
                           ? mf_mjcf_find_site(m, node, "site", site, &at, out)
                           : mf_mjcf_find(m, node, "body", body, &m->body_names, "body", &index);
    if (status != MF_OK || at != NULL)
        return status;
    if (site != NULL || index == MF_NONE)
        return mf_mjcf_refuse(m, node, site != NULL ? "site" : "body");
    MF_TRY(mf_xml_numbers(&m->xml, node, "xyz", 3, xyz));
    MF_TRY(mf_xml_numbers(&m->xml, node, "quat", 4, quat));
    *out = mf_mjcf_frame(m, index, xyz, quat);
    return MF_OK;
}

static mf_Status read_dock(mf_Mjcf *m, const mf_XmlNode *text, const char *name) {
    static const char *const placed[] = {"site", "body", "xyz", "quat", NULL};
    mf_XmlAttribute attributes[MF_MJCF_NAMES + 1];
    mf_XmlNode node;
    mf_Dock dock;
    MF_TRY(mf_mjcf_text_element(m, text, "dock", name, attributes, &node));
    MF_TRY(mf_import_dock(&m->xml, &node, placed, &dock));
    MF_TRY(place(m, &node, &dock.frame));
    if (dock.frame.link == MF_NONE)
        return mf_mjcf_fail(m, text, "<text> dock:%.100s: it is on the world, not on a body", name);
    return mf_import_add_dock(&m->xml, &node, &m->draft, &dock);
}

mf_Status mf_mjcf_read_docks(mf_Mjcf *m) {
    return mf_mjcf_read_texts(m, prefix, read_dock);
}
