// <replicate>: its content is repeated `count` times, each copy displaced by `offset` and rotated
// by `euler`. Every name of a copy ends in `sep` and the number of the copy. Pairs, tendons,
// equality constraints, actuators and sensors that refer to an element inside are repeated for each
// copy, too, after the others of their section; likewise what refers to one of those. As MuJoCo
// 4.0.
#include "import/mjcf_rows.h"

#include "base/plain.h"
#include "math/scalar.h"

#include <string.h>

enum { REPLICATE_MOST = 1000 }; // [1] elements <replicate> in a model, and copies of one

typedef struct Copying {
    mf_Mjcf *m;
    uint32_t total;  // [1] elements <replicate> so far
    mf_Names inside; // "kind name" of what is copied
    char suffix[MF_MODEL_NAME_LIMIT + 16];
} Copying;

// ---- names --------------------------------------------------------------------------------------

// What kind of element an attribute refers to; NULL: none that can be inside.
static const char *kind_of(const mf_XmlNode *node, const char *attribute) {
    static const struct {
        const char *kind;
        const char *attributes[10];
    } kinds[] = {
        {"joint", {"joint", "joint1", "joint2", "jointinparent", NULL}},
        {"body", {"body", "body1", "body2", "subtree1", "subtree2", "target", NULL}},
        {"geom", {"geom", "geom1", "geom2", NULL}},
        {"site",
         {"site", "site1", "site2", "sidesite", "refsite", "slidersite", "cranksite", NULL}},
        {"camera", {"camera", NULL}},
        {"tendon", {"tendon", "tendon1", "tendon2", NULL}},
        {"actuator", {"actuator", NULL}}};
    const char *type = strcmp(attribute, "objname") == 0   ? mf_xml_attribute(node, "objtype")
                       : strcmp(attribute, "refname") == 0 ? mf_xml_attribute(node, "reftype")
                                                           : NULL;
    if (type != NULL)
        return strcmp(type, "xbody") == 0 ? "body" : type;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mf_name_listed(kinds[i].attributes, attribute))
            return kinds[i].kind;
    return NULL;
}

static void key_of(const char *kind, const char *name, char key[600]) {
    mf_plain_format(key, 600, "%.60s %.500s", kind, name);
}

static bool is_inside(const Copying *c, const char *kind, const char *name) {
    char key[600];
    key_of(kind, name, key);
    return mf_names_find(&c->inside, key) != UINT32_MAX;
}

static mf_Status put_inside(Copying *c, const char *kind, const char *name) {
    char key[600];
    if (name == NULL || is_inside(c, kind, name))
        return MF_OK;
    key_of(kind, name, key);
    const char *text = mf_arena_text(&c->m->arena, key, strlen(key));
    return text && mf_names_add(&c->inside, text, 0) ? MF_OK : mf_mjcf_no_memory(c->m);
}

// All names below a node, by the kind of their element.
static mf_Status list_names(Copying *c, const mf_XmlNode *node) {
    for (const mf_XmlNode *child = node->first; child; child = child->next) {
        const char *kind = strcmp(child->name, "freejoint") == 0 ? "joint" : child->name;
        MF_TRY(put_inside(c, kind, mf_xml_attribute(child, "name")));
        MF_TRY(list_names(c, child));
    }
    return MF_OK;
}

static bool refers_inside(const Copying *c, const mf_XmlNode *node) {
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const char *kind = kind_of(node, node->attributes[i].name);
        if (kind != NULL && is_inside(c, kind, node->attributes[i].value))
            return true;
    }
    for (const mf_XmlNode *child = node->first; child; child = child->next)
        if (refers_inside(c, child))
            return true;
    return false;
}

// ---- copies -------------------------------------------------------------------------------------

static const char *with_suffix(const Copying *c, const char *name) {
    char text[2 * MF_MODEL_NAME_LIMIT + 32];
    mf_plain_format(text, sizeof text, "%.*s%s", (int)MF_MODEL_NAME_LIMIT, name, c->suffix);
    return mf_arena_text(&c->m->arena, text, strlen(text));
}

static const char *rename_value(const void *user, const mf_XmlNode *from,
                                const mf_XmlAttribute *attribute) {
    const Copying *c = user;
    const char *kind = kind_of(from, attribute->name), *value = attribute->value;
    const bool own = strcmp(attribute->name, "name") == 0;
    return own || (kind != NULL && is_inside(c, kind, value)) ? with_suffix(c, value) : value;
}

// Moves the elements of a section that refer to something inside to a list, in order.
static mf_Status take_out(Copying *c, mf_XmlNode *section, mf_XmlNode *taken) {
    mf_XmlNode *next = section->first;
    section->first = section->last = NULL;
    while (next != NULL) {
        mf_XmlNode *node = next;
        next = node->next;
        const bool refers = refers_inside(c, node);
        mf_xml_add_child(refers ? taken : section, node);
        if (refers && strcmp(section->name, "tendon") == 0)
            MF_TRY(put_inside(c, "tendon", mf_xml_attribute(node, "name")));
        if (refers && strcmp(section->name, "actuator") == 0)
            MF_TRY(put_inside(c, "actuator", mf_xml_attribute(node, "name")));
    }
    return MF_OK;
}

// ---- one element --------------------------------------------------------------------------------

typedef struct Series {
    int32_t count;
    double offset[3], euler[3];
    const char *separator, *class;
} Series;

#define T Series
static mf_Status read_series(mf_Mjcf *m, const mf_XmlNode *node, Series *series) {
    static const mf_MjcfField fields[] = {
        INTEGER("count", count), NUMBERS("offset", 3, 3, offset), NUMBERS("euler", 3, 3, euler),
        TEXT("sep", separator),  TEXT("childclass", class),       END};
    *series = (Series){.count = -1, .separator = ""};
    MF_TRY(mf_mjcf_read(m, node, fields, series));
    if (series->count < 0 || series->count > REPLICATE_MOST)
        return mf_mjcf_fail(m, node, "<replicate> count: expected 0 to %d", REPLICATE_MOST);
    return MF_OK;
}

// The number of a copy has as many digits as the number of copies.
static void set_suffix(Copying *c, const Series *series, uint32_t i) {
    char digits[16];
    const int width = mf_plain_format(digits, sizeof digits, "%d", series->count);
    mf_plain_format(c->suffix, sizeof c->suffix, "%.*s%0*u", (int)MF_MODEL_NAME_LIMIT,
                    series->separator, width, i);
}

static const char *numbers(mf_Mjcf *m, const double *values, int count) {
    char text[160] = "";
    int used = 0;
    for (int i = 0; i < count; i++)
        used += mf_plain_format(text + used, sizeof text - (size_t)used, i ? " %.17g" : "%.17g",
                                values[i]);
    return mf_arena_text(&m->arena, text, strlen(text));
}

// The frame of copy i with its contents.
static mf_Status add_copy(const Copying *c, const mf_XmlNode *from, const Series *series,
                          uint32_t i, const double position[3], double rotation[4],
                          mf_XmlNode *parent) {
    mf_Mjcf *m = c->m;
    mf_MjcfOrientation orientation = {.kind = MF_MJCF_EULER};
    mf_vec3_scale(orientation.value, series->euler, i);
    MF_TRY(mf_mjcf_rotation(m, from, &orientation, rotation));
    mf_XmlNode *frame = mf_mjcf_new_node(m, "frame", from, 3);
    const char *location = numbers(m, position, 3), *quat = numbers(m, rotation, 4);
    if (frame == NULL || location == NULL || quat == NULL)
        return mf_mjcf_out_of_memory(m, from);
    mf_mjcf_add_attribute(frame, "pos", location);
    mf_mjcf_add_attribute(frame, "quat", quat);
    if (series->class != NULL)
        mf_mjcf_add_attribute(frame, "childclass", series->class);
    mf_xml_add_child(parent, frame);
    for (const mf_XmlNode *child = from->first; child; child = child->next)
        MF_TRY(mf_mjcf_copy(m, child, rename_value, c, frame));
    return MF_OK;
}

// Elements that refer to something inside, for copy i.
static mf_Status add_others(const Copying *c, const mf_XmlNode *taken, const char *name) {
    mf_Mjcf *m = c->m;
    if (taken->first == NULL)
        return MF_OK;
    mf_XmlNode *section = mf_mjcf_new_node(m, name, taken->first, 0);
    if (section == NULL)
        return mf_mjcf_out_of_memory(m, taken->first);
    mf_xml_add_child(m->xml.root, section);
    for (const mf_XmlNode *node = taken->first; node; node = node->next)
        MF_TRY(mf_mjcf_copy(m, node, rename_value, c, section));
    return MF_OK;
}

static mf_Status expand(Copying *c, mf_XmlNode *node) {
    static const char *const sections[] = {"contact", "tendon", "equality", "actuator", "sensor"};
    enum { SECTIONS = sizeof sections / sizeof *sections };
    mf_Mjcf *m = c->m;
    Series series;
    mf_XmlNode taken[SECTIONS] = {{0}}, frames = {0};
    double position[3] = {0.0, 0.0, 0.0}, rotation[4], step[3];
    mf_Status status = read_series(m, node, &series);
    if (status == MF_OK && c->total++ >= REPLICATE_MOST)
        return mf_xml_fail(&m->xml, node, MF_LIMIT, "at most %d elements <replicate>",
                           REPLICATE_MOST);
    c->inside = mf_names_start(m->context);
    MF_THEN(status, list_names(c, node));
    for (int k = 0; k < SECTIONS; k++)
        for (mf_XmlNode *section = mf_xml_child(m->xml.root, sections[k]);
             status == MF_OK && section; section = mf_xml_next(section, sections[k]))
            status = take_out(c, section, &taken[k]);
    for (uint32_t i = 0; status == MF_OK && i < (uint32_t)series.count; i++) {
        set_suffix(c, &series, i);
        status = add_copy(c, node, &series, i, position, rotation, &frames);
        for (int k = 0; status == MF_OK && k < SECTIONS; k++)
            status = add_others(c, &taken[k], sections[k]);
        if (status == MF_OK) {
            mf_quat_rotate(step, rotation, series.offset);
            mf_vec3_add(position, position, step);
        }
    }
    mf_names_release(&c->inside);
    // A frame with the copies overwrites the node, because others point to it.
    node->name = "frame";
    node->attribute_count = 0;
    node->first = frames.first;
    node->last = frames.last;
    for (mf_XmlNode *child = node->first; child; child = child->next)
        child->parent = node;
    return status;
}

// The inner ones first: their copies are copied, too.
static mf_Status expand_in(Copying *c, mf_XmlNode *parent) {
    for (mf_XmlNode *node = parent->first; node; node = node->next) {
        MF_TRY(expand_in(c, node));
        if (strcmp(node->name, "replicate") == 0)
            MF_TRY(expand(c, node));
    }
    return MF_OK;
}

mf_Status mf_mjcf_replicate(mf_Mjcf *m) {
    Copying c = {.m = m};
    MF_XML_EACH (world, m->xml.root, "worldbody")
        MF_TRY(expand_in(&c, world));
    return MF_OK;
}
