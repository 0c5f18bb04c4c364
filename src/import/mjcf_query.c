// Contact sensors: selection of contacts, and the reported data.
#include "import/mjcf_rows.h"

#include <string.h>

enum { CONTACT_SLOTS = 16 }; // most contacts of one sensor

static const struct {
    const char *word;
    uint32_t bit, values; // 0: not supported
} data_words[] = {{"found", MF_CONTACT_FOUND, 1},
                  {"force", 0, 3},
                  {"torque", 0, 3},
                  {"dist", MF_CONTACT_DISTANCE, 1},
                  {"pos", MF_CONTACT_POSITION, 3},
                  {"normal", MF_CONTACT_NORMAL, 3},
                  {"tangent", 0, 3}};
enum { DATA_WORDS = sizeof data_words / sizeof *data_words };

// The object of one side, if the element names one. `*found` is false when it was dropped.
static mf_Status read_side(mf_Mjcf *m, const mf_XmlNode *node, int side, mf_ContactQuery *query,
                           bool *found) {
    static const char *const attributes[2][3] = {{"body1", "subtree1", "geom1"},
                                                 {"body2", "subtree2", "geom2"}};
    static const mf_ContactSide sides[3] = {MF_CONTACT_SIDE_BODY, MF_CONTACT_SIDE_SUBTREE,
                                            MF_CONTACT_SIDE_SHAPE};
    query->objects[side] = MF_NONE;
    for (int i = 0; i < 3; i++) {
        const char *attribute = attributes[side][i], *name = mf_xml_attribute(node, attribute);
        const bool geom = sides[i] == MF_CONTACT_SIDE_SHAPE;
        uint32_t index;
        if (name == NULL)
            continue;
        if (query->sides[side] != MF_CONTACT_SIDE_ANY)
            return mf_mjcf_fail(m, node, "<contact>: expected one of body%d, subtree%d, geom%d",
                                side + 1, side + 1, side + 1);
        mf_Status status =
            mf_mjcf_find(m, node, attribute, name, geom ? &m->geom_names : &m->body_names,
                         geom ? "geom" : "body", &index);
        if (status != MF_OK || index == MF_NONE) {
            *found = false;
            return status;
        }
        query->sides[side] = sides[i];
        query->objects[side] = geom ? mf_mjcf_geoms(m)[index].shape : mf_mjcf_draft_body(index);
    }
    return MF_OK;
}

// Words of `data`, in the order of the table. `*values` is their total number of values.
static mf_Status read_data(mf_Mjcf *m, const mf_XmlNode *node, mf_ContactQuery *query,
                           uint32_t *values, bool *found) {
    const char *text = mf_xml_attribute(node, "data");
    int last = -1;
    query->data = 0;
    *values = 0;
    for (text = text != NULL && *text != '\0' ? text : "found"; *text != '\0';) {
        const size_t gap = strspn(text, " \t\r\n"), size = strcspn(text + gap, " \t\r\n");
        text += gap;
        if (size == 0)
            break;
        int i = 0;
        while (i < DATA_WORDS &&
               (strlen(data_words[i].word) != size || strncmp(text, data_words[i].word, size) != 0))
            i++;
        if (i == DATA_WORDS || i <= last)
            return mf_mjcf_fail(m, node,
                                "<contact> data: expected words of found, force, torque, dist, "
                                "pos, normal, tangent in this order, found \"%.60s\"",
                                text);
        if (data_words[i].bit == 0) {
            *found = false;
            return mf_mjcf_refuse(m, node, "data force, torque or tangent of a sensor");
        }
        query->data |= data_words[i].bit;
        *values += data_words[i].values;
        last = i;
        text += size;
    }
    if (query->data == 0)
        return mf_mjcf_fail(m, node, "<contact> data: expected at least one word");
    return MF_OK;
}

typedef struct Reduction {
    int32_t reduction, slots;
} Reduction;

#define T Reduction
mf_Status mf_mjcf_read_query(mf_Mjcf *m, const mf_XmlNode *node, mf_ContactQuery *query,
                             uint32_t *count, bool *found) {
    static const char *const reductions[] = {"none", "mindist", "maxforce", "netforce", NULL};
    static const mf_MjcfField fields[] = {CHOICE("reduce", reduction, reductions),
                                          INTEGER("num", slots), END};
    Reduction own = {.slots = 1};
    uint32_t values = 0;
    *found = true;
    MF_TRY(mf_mjcf_read_some(m, node, fields, &own));
    if (own.slots < 1)
        return mf_mjcf_fail(m, node, "<contact> num: expected >= 1, found %d", own.slots);
    MF_TRY(read_data(m, node, query, &values, found));
    for (int side = 0; *found && side < 2; side++)
        MF_TRY(read_side(m, node, side, query, found));
    if (!*found)
        return MF_OK;
    const char *refused = own.reduction > 1                ? "reduce by force of a sensor"
                          : own.slots > CONTACT_SLOTS      ? "num above 16 of a sensor"
                          : mf_xml_attribute(node, "site") ? "site of a sensor"
                                                           : NULL;
    if (refused != NULL) {
        *found = false;
        return mf_mjcf_refuse(m, node, refused);
    }
    query->nearest = own.reduction == 1;
    query->slots = (uint32_t)own.slots;
    *count = query->slots * values;
    return MF_OK;
}
