// Models inside a model: <asset><model name file/></asset> names one, and <attach model body
// prefix/> in a body inserts a body of it, or the contents of its world, there.
//
// This works on the trees of elements before they are interpreted: the attached elements are copied
// with the prefix added to every name that they define or use, together with the model's assets,
// defaults, contacts, equalities, tendons, actuators and sensors; those that refer to parts that
// are not attached are ignored. Each element keeps the <compiler> settings of its own model
// (mf_mjcf_settings); its options and keyframes have no effect. A model's default class "main"
// becomes the class PREFIXmain, which does not inherit from the class "main" of the outer model.
#include "model/import/mjcf.h"

#include <stdio.h>
#include <string.h>

typedef struct Source {
    const char *name;
    mf_XmlNode *root;
} Source;

typedef struct Attaching {
    mf_Mjcf *m;
    mf_List sources; // Source
    mf_Names done;   // "model prefix" whose sections were copied already
} Attaching;

// ---- copies
// --------------------------------------------------------------------------------------

// Attributes that name an element.
static bool names_element(const char *attribute) {
    static const char *const list[] = {
        "name",       "class",         "childclass", "mesh",     "material", "hfield",
        "texture",    "joint",         "joint1",     "joint2",   "body",     "body1",
        "body2",      "jointinparent", "geom",       "geom1",    "geom2",    "site",
        "site1",      "site2",         "sidesite",   "tendon",   "tendon1",  "tendon2",
        "objname",    "refname",       "target",     "actuator", "refsite",  "instance",
        "slidersite", "camera",        "cranksite",  "subtree1", "subtree2", NULL};
    for (const char *const *name = list; *name; name++) {
        if (strcmp(attribute, *name) == 0)
            return true;
    }
    return false;
}

static const char *join(mf_Mjcf *m, const char *prefix, const char *name) {
    char text[2 * MF_MODEL_NAME_LIMIT + 2];
    int length = snprintf(text, sizeof text, "%.*s%.*s", (int)MF_MODEL_NAME_LIMIT, prefix,
                          (int)MF_MODEL_NAME_LIMIT, name);
    return mf_arena_text(&m->arena, text, (size_t)length);
}

mf_XmlNode *mf_mjcf_new_node(mf_Mjcf *m, const char *name, const mf_XmlNode *place,
                             uint32_t attributes) {
    if (m->copied++ >= MF_XML_NODES)
        return NULL;
    mf_XmlNode *node = mf_arena_take(&m->arena, sizeof *node);
    mf_XmlAttribute *list = mf_arena_take(&m->arena, (attributes + 1) * sizeof *list);
    if (node == NULL || list == NULL)
        return NULL;
    *node = (mf_XmlNode){.name = name,
                         .text = "",
                         .attributes = list,
                         .file = place->file,
                         .line = place->line,
                         .column = place->column};
    return node;
}

mf_Status mf_mjcf_no_room(const mf_Mjcf *m, const mf_XmlNode *node) {
    if (m->copied < MF_XML_NODES)
        return mf_mjcf_no_memory(m);
    return mf_xml_fail(&m->xml, node, m->error, MF_LIMIT,
                       "at most %u attached and replicated elements", MF_XML_NODES);
}

void mf_mjcf_add_attribute(mf_XmlNode *node, const char *name, const char *value) {
    node->attributes[node->attribute_count++] = (mf_XmlAttribute){name, value};
}

void mf_mjcf_add_child(mf_XmlNode *parent, mf_XmlNode *child) {
    child->parent = parent;
    child->next = NULL;
    if (parent->last != NULL)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

// Assets without a name get their files' names before the prefix is added.
static const char *asset_name(mf_Mjcf *m, const mf_XmlNode *node) {
    const char *file = mf_xml_attribute(node, "file");
    if (node->parent == NULL || strcmp(node->parent->name, "asset") != 0 || file == NULL ||
        mf_xml_attribute(node, "name") != NULL)
        return NULL;
    const char *slash = strrchr(file, '/'), *start = slash ? slash + 1 : file;
    const char *dot = strrchr(start, '.');
    return mf_arena_text(&m->arena, start, dot ? (size_t)(dot - start) : strlen(start));
}

// A copy of an element and its children with the prefix; NULL when out of memory. It has capacity
// for one more attribute.
static mf_XmlNode *copy(mf_Mjcf *m, const mf_XmlNode *from, const char *prefix) {
    mf_XmlNode *node = mf_mjcf_new_node(m, from->name, from, from->attribute_count + 2);
    const char *own = asset_name(m, from);
    if (node == NULL)
        return NULL;
    node->text = from->text;
    for (uint32_t i = 0; i < from->attribute_count; i++) {
        const mf_XmlAttribute *attribute = &from->attributes[i];
        const bool named = names_element(attribute->name) && strcmp(attribute->value, "world") != 0;
        const char *value = named ? join(m, prefix, attribute->value) : attribute->value;
        if (value == NULL)
            return NULL;
        mf_mjcf_add_attribute(node, attribute->name, value);
    }
    if (own != NULL) {
        own = join(m, prefix, own);
        if (own == NULL)
            return NULL;
        mf_mjcf_add_attribute(node, "name", own);
    }
    for (const mf_XmlNode *child = from->first; child; child = child->next) {
        mf_XmlNode *inner = copy(m, child, prefix);
        if (inner == NULL)
            return NULL;
        mf_mjcf_add_child(node, inner);
    }
    return node;
}

// ---- sections
// ------------------------------------------------------------------------------------

// A section of the attached model; elements without a class are of PREFIXmain.
static mf_Status copy_section(mf_Mjcf *m, const mf_XmlNode *from, const char *prefix,
                              const char *main_class) {
    static const char *const without[] = {"model", "texture", "hfield", "skin", "exclude", NULL};
    mf_XmlNode *section = copy(m, from, prefix);
    if (section == NULL)
        return mf_mjcf_no_room(m, from);
    bool classes = strcmp(from->name, "sensor") != 0;
    for (mf_XmlNode *child = section->first; classes && child; child = child->next) {
        bool may = mf_xml_attribute(child, "class") == NULL;
        for (const char *const *name = without; *name; name++)
            may = may && strcmp(child->name, *name) != 0;
        if (may)
            mf_mjcf_add_attribute(child, "class", main_class);
    }
    mf_mjcf_add_child(m->xml.root, section);
    return MF_OK;
}

// The model's defaults as one class of the outer model.
static mf_Status copy_defaults(mf_Mjcf *m, const mf_XmlNode *root, const char *prefix,
                               const char *main_class) {
    mf_XmlNode *outer = mf_mjcf_new_node(m, "default", m->xml.root, 0);
    mf_XmlNode *class = outer ? mf_mjcf_new_node(m, "default", root, 1) : NULL;
    if (class == NULL)
        return mf_mjcf_no_room(m, root);
    mf_mjcf_add_attribute(class, "class", main_class);
    mf_mjcf_add_child(outer, class);
    for (const mf_XmlNode *node = mf_xml_child(root, "default"); node;
         node = mf_xml_next(node, "default")) {
        for (const mf_XmlNode *child = node->first; child; child = child->next) {
            mf_XmlNode *inner = copy(m, child, prefix);
            if (inner == NULL)
                return mf_mjcf_no_room(m, child);
            mf_mjcf_add_child(class, inner);
        }
    }
    mf_mjcf_add_child(m->xml.root, outer);
    return MF_OK;
}

static mf_Status copy_sections(Attaching *a, const mf_XmlNode *node, const Source *source,
                               const char *prefix, const char *main_class) {
    static const char *const copied[] = {"asset",    "contact", "equality", "tendon",
                                         "actuator", "sensor",  NULL};
    mf_Mjcf *m = a->m;
    char key[2 * MF_MODEL_NAME_LIMIT + 2];
    snprintf(key, sizeof key, "%.255s %.255s", source->name, prefix);
    if (mf_names_find(&a->done, key) != UINT32_MAX)
        return MF_OK;
    const char *text = mf_arena_text(&m->arena, key, strlen(key));
    if (text == NULL || !mf_names_add(&a->done, text, 0))
        return mf_mjcf_no_memory(m);
    mf_Status status = copy_defaults(m, source->root, prefix, main_class);
    for (const mf_XmlNode *from = source->root->first; status == MF_OK && from; from = from->next) {
        for (const char *const *name = copied; *name && status == MF_OK; name++) {
            if (strcmp(from->name, *name) == 0)
                status = copy_section(m, from, prefix, main_class);
        }
        if (status == MF_OK && strcmp(from->name, "keyframe") == 0)
            status = mf_mjcf_pass(m, node, "keyframes of the attached model");
    }
    return status;
}

// ---- attaching
// -----------------------------------------------------------------------------------

static const mf_XmlNode *find_body(const mf_XmlNode *parent, const char *name) {
    for (const mf_XmlNode *child = parent->first; child; child = child->next) {
        const char *own = mf_xml_attribute(child, "name");
        if (strcmp(child->name, "body") == 0 && own != NULL && strcmp(own, name) == 0)
            return child;
        const mf_XmlNode *found = find_body(child, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

// The attached elements, in a frame with the pose of the <attach>.
static mf_Status copy_body(mf_Mjcf *m, const mf_XmlNode *node, const Source *source,
                           const char *prefix, mf_XmlNode *frame) {
    const char *name = mf_xml_attribute(node, "body");
    for (const mf_XmlNode *world = mf_xml_child(source->root, "worldbody"); world;
         world = mf_xml_next(world, "worldbody")) {
        const mf_XmlNode *body = name ? find_body(world, name) : NULL;
        for (const mf_XmlNode *child = name ? body : world->first; child;
             child = name ? NULL : child->next) {
            mf_XmlNode *inner = copy(m, child, prefix);
            if (inner == NULL)
                return mf_mjcf_no_room(m, child);
            mf_mjcf_add_child(frame, inner);
        }
    }
    if (name != NULL && frame->first == NULL)
        return mf_mjcf_fail(m, node, "<attach> body: model '%.100s' has no body '%.100s'",
                            source->name, name);
    return MF_OK;
}

static mf_Status attach(Attaching *a, mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {{"model", MF_MJCF_ELSEWHERE, 0, 0, 0, NULL},
                                          {"body", MF_MJCF_ELSEWHERE, 0, 0, 0, NULL},
                                          {"prefix", MF_MJCF_ELSEWHERE, 0, 0, 0, NULL},
                                          {NULL, MF_MJCF_PASSED, 0, 0, 0, NULL}};
    mf_Mjcf *m = a->m;
    const char *name = mf_xml_attribute(node, "model"), *prefix = mf_xml_attribute(node, "prefix");
    const Source *source = NULL;
    mf_Status status = mf_mjcf_read(m, node, fields, NULL);
    for (uint32_t i = 0; name && i < a->sources.count; i++) {
        const Source *item = (Source *)a->sources.items + i;
        source = strcmp(item->name, name) == 0 ? item : source;
    }
    if (status == MF_OK && source == NULL)
        return mf_mjcf_fail(m, node, "<attach> model: there is no <model> '%.100s' in <asset>",
                            name ? name : "");
    prefix = prefix ? prefix : "";
    const char *main_class = join(m, prefix, *prefix ? "main" : "attached main");
    mf_XmlNode *frame = main_class ? mf_mjcf_new_node(m, "frame", source->root, 1) : NULL;
    if (status != MF_OK || frame == NULL)
        return status == MF_OK ? mf_mjcf_no_room(m, node) : status;
    mf_mjcf_add_attribute(frame, "childclass", main_class);
    status = copy_body(m, node, source, prefix, frame);
    if (status == MF_OK)
        status = copy_sections(a, node, source, prefix, main_class);
    // The frame overwrites the <attach> node, because others point to it.
    node->name = frame->name;
    node->attributes = frame->attributes;
    node->attribute_count = frame->attribute_count;
    node->file = frame->file;
    node->first = frame->first;
    node->last = frame->last;
    for (mf_XmlNode *child = node->first; child; child = child->next)
        child->parent = node;
    return status;
}

static mf_Status attach_in(Attaching *a, mf_XmlNode *parent) {
    mf_Status status = MF_OK;
    for (mf_XmlNode *node = parent->first; status == MF_OK && node; node = node->next) {
        if (strcmp(node->name, "attach") == 0)
            status = attach(a, node);
        else
            status = attach_in(a, node);
    }
    return status;
}

// ---- models
// --------------------------------------------------------------------------------------

// All files of a model have its settings.
static mf_Status add_scopes(mf_Mjcf *m, const mf_MjcfSettings *settings, uint32_t first) {
    for (uint32_t i = first; i < m->included.count; i++) {
        mf_MjcfScope *scope = mf_list_push(m->context, &m->scopes, sizeof *scope);
        if (scope == NULL)
            return mf_mjcf_no_memory(m);
        *scope = (mf_MjcfScope){((mf_Xml **)m->included.items)[i]->file, settings};
    }
    return MF_OK;
}

static mf_Status read_model(Attaching *a, const mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {{"name", MF_MJCF_ELSEWHERE, 0, 0, 0, NULL},
                                          {"file", MF_MJCF_ELSEWHERE, 0, 0, 0, NULL},
                                          {"content_type", MF_MJCF_PASSED, 0, 0, 0, NULL},
                                          {NULL, MF_MJCF_PASSED, 0, 0, 0, NULL}};
    mf_Mjcf *m = a->m;
    const uint32_t first = m->included.count;
    mf_XmlNode *root = NULL;
    mf_MjcfSettings *settings = mf_arena_take(&m->arena, sizeof *settings);
    mf_Status status = settings ? mf_mjcf_read(m, node, fields, NULL) : mf_mjcf_no_memory(m);
    if (status == MF_OK)
        status = mf_mjcf_read_file(m, node, true, &root);
    if (status == MF_OK && strcmp(root->name, "mujoco") != 0)
        return mf_mjcf_fail(m, root, "expected an MJCF <mujoco>, found <%.80s>", root->name);
    if (status == MF_OK)
        status = mf_mjcf_read_settings(m, root, settings);
    if (status == MF_OK) {
        settings->file = root->file;
        status = add_scopes(m, settings, first);
    }
    Source *source = status == MF_OK ? mf_list_push(m->context, &a->sources, sizeof *source) : NULL;
    if (source == NULL)
        return status == MF_OK ? mf_mjcf_no_memory(m) : status;
    const char *name = mf_xml_attribute(node, "name");
    const char *own = mf_xml_attribute(root, "model");
    *source = (Source){name ? name : own ? own : "", root};
    return MF_OK;
}

mf_Status mf_mjcf_attach(mf_Mjcf *m) {
    Attaching a = {.m = m, .done = mf_names_start(m->context)};
    mf_Status status = MF_OK;
    m->settings.file = m->file;
    for (const mf_XmlNode *section = mf_xml_child(m->xml.root, "asset"); section;
         section = mf_xml_next(section, "asset")) {
        for (const mf_XmlNode *node = mf_xml_child(section, "model"); status == MF_OK && node;
             node = mf_xml_next(node, "model"))
            status = read_model(&a, node);
    }
    for (mf_XmlNode *world = mf_xml_child(m->xml.root, "worldbody"); status == MF_OK && world;
         world = mf_xml_next(world, "worldbody"))
        status = attach_in(&a, world);
    mf_list_release(m->context, &a.sources);
    mf_names_release(&a.done);
    return status;
}
