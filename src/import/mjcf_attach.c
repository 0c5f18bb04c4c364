// Models inside a model: <asset><model name file/></asset> names one, and <attach model prefix/> in
// a body inserts the contents of its world, a body or a frame there. Without `model` the body or
// frame is one of the model itself.
//
// This works on the trees of elements before they are interpreted: the attached elements are copied
// with the prefix added to every name that they define or use, together with the model's assets,
// defaults, contacts, equalities, tendons, actuators and sensors; those that refer to parts that
// are not attached are ignored. Each element keeps the <compiler> settings of its own model
// (mf_mjcf_settings); its options and keyframes have no effect. A model is complete, with all that
// it attaches itself, before another one attaches it. Its default classes get names of their own,
// "attached.NUMBER.NAME", so that two models may have classes of the same name; its class "main"
// does not inherit from the class "main" of the outer model. Copies of own elements keep the
// classes, and use the same assets.
#include "import/mjcf_rows.h"

#include <stdio.h>
#include <string.h>

typedef struct Source {
    const char *name;
    mf_XmlNode *root;
} Source;

// Of one model, the main one or an attached one.
typedef struct Attaching {
    mf_Mjcf *m;
    mf_XmlNode *root;
    const struct Attaching *outer; // the model that this one is a part of; NULL: none
    mf_List sources;               // Source
    mf_Names done;                 // "model prefix" whose sections were copied already, by number
} Attaching;

// How names change in a copy.
typedef struct Naming {
    mf_Mjcf *m;
    const char *prefix;
    const char *class_prefix; // NULL: a copy of own elements, only what they define is renamed
} Naming;

// ---- copies ------------------------------------------------------------------------------------

// Attributes that name an element.
bool mf_mjcf_names_element(const char *attribute) {
    static const char *const list[] = {
        "name",       "mesh",    "material",  "hfield",   "texture",       "joint",   "joint1",
        "joint2",     "body",    "body1",     "body2",    "jointinparent", "geom",    "geom1",
        "geom2",      "site",    "site1",     "site2",    "sidesite",      "tendon",  "tendon1",
        "tendon2",    "objname", "refname",   "target",   "actuator",      "refsite", "instance",
        "slidersite", "camera",  "cranksite", "subtree1", "subtree2",      NULL};
    return mf_name_listed(list, attribute);
}

static const char *join(mf_Mjcf *m, const char *prefix, const char *name) {
    char text[2 * MF_MODEL_NAME_LIMIT + 2];
    int length = snprintf(text, sizeof text, "%.*s%.*s", (int)MF_MODEL_NAME_LIMIT, prefix,
                          (int)MF_MODEL_NAME_LIMIT, name);
    return mf_arena_text(&m->arena, text, (size_t)length);
}

mf_XmlNode *mf_mjcf_new_node(mf_Mjcf *m, const char *name, const mf_XmlNode *parent,
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
                         .file = parent->file,
                         .line = parent->line,
                         .column = parent->column};
    return node;
}

mf_Status mf_mjcf_out_of_memory(const mf_Mjcf *m, const mf_XmlNode *node) {
    if (m->copied < MF_XML_NODES)
        return mf_mjcf_no_memory(m);
    return mf_xml_fail(&m->xml, node, MF_LIMIT, "at most %u attached and replicated elements",
                       MF_XML_NODES);
}

void mf_mjcf_add_attribute(mf_XmlNode *node, const char *name, const char *value) {
    node->attributes[node->attribute_count++] = (mf_XmlAttribute){.name = name, .value = value};
}

// Assets without a name get their files' names, behind the prefix.
static mf_Status name_asset(mf_Mjcf *m, const mf_XmlNode *from, const char *prefix,
                            mf_XmlNode *copied) {
    const char *file = mf_xml_attribute(from, "file"), *name;
    if (strcmp(from->parent->name, "asset") != 0 || file == NULL ||
        mf_xml_attribute(from, "name") != NULL)
        return MF_OK;
    MF_TRY(mf_mjcf_name_by_file(m, file, &name));
    name = join(m, prefix, name);
    if (name == NULL)
        return mf_mjcf_no_memory(m);
    mf_mjcf_add_attribute(copied, "name", name);
    return MF_OK;
}

// What is put before the value of an attribute; "": nothing.
static const char *prefix_of(const Naming *naming, const mf_XmlAttribute *attribute) {
    static const char *const classes[] = {"class", "childclass", NULL};
    static const char *const own[] = {"name", "target", NULL};
    if (naming->class_prefix == NULL)
        return mf_name_listed(own, attribute->name) ? naming->prefix : "";
    if (mf_name_listed(classes, attribute->name))
        return naming->class_prefix;
    return mf_mjcf_names_element(attribute->name) && strcmp(attribute->value, "world") != 0
               ? naming->prefix
               : "";
}

static const char *rename_value(const void *user, const mf_XmlNode *from,
                                const mf_XmlAttribute *attribute) {
    const Naming *naming = user;
    const char *before = prefix_of(naming, attribute);
    (void)from;
    return *before ? join(naming->m, before, attribute->value) : attribute->value;
}

static mf_XmlNode *copy(mf_Mjcf *m, const mf_XmlNode *from, mf_MjcfRename rename,
                        const void *user) {
    mf_XmlNode *node = mf_mjcf_new_node(m, from->name, from, from->attribute_count + 2);
    if (node == NULL)
        return NULL;
    node->text = from->text;
    for (uint32_t i = 0; i < from->attribute_count; i++) {
        const char *value = rename(user, from, &from->attributes[i]);
        if (value == NULL)
            return NULL;
        mf_mjcf_add_attribute(node, from->attributes[i].name, value);
    }
    for (const mf_XmlNode *child = from->first; child; child = child->next) {
        mf_XmlNode *inner = copy(m, child, rename, user);
        if (inner == NULL)
            return NULL;
        mf_xml_add_child(node, inner);
    }
    return node;
}

mf_Status mf_mjcf_copy(mf_Mjcf *m, const mf_XmlNode *from, mf_MjcfRename rename, const void *user,
                       mf_XmlNode *parent) {
    mf_XmlNode *node = copy(m, from, rename, user);
    if (node == NULL)
        return mf_mjcf_out_of_memory(m, from);
    mf_xml_add_child(parent, node);
    return MF_OK;
}

// ---- sections ----------------------------------------------------------------------------------

// A section of the attached model; elements without a class are of its class main.
static mf_Status copy_section(const Attaching *a, const mf_XmlNode *from, const Naming *naming,
                              const char *main_class) {
    static const char *const without[] = {"model", "texture", "hfield", "skin", "exclude", NULL};
    mf_Mjcf *m = a->m;
    MF_TRY(mf_mjcf_copy(m, from, rename_value, naming, a->root));
    if (strcmp(from->name, "sensor") == 0)
        return MF_OK;
    const mf_XmlNode *own = from->first;
    for (mf_XmlNode *child = a->root->last->first; child; child = child->next, own = own->next) {
        MF_TRY(name_asset(m, own, naming->prefix, child));
        if (mf_xml_attribute(child, "class") == NULL && !mf_name_listed(without, child->name))
            mf_mjcf_add_attribute(child, "class", main_class);
    }
    return MF_OK;
}

// The model's defaults as one class of the outer model.
static mf_Status copy_defaults(const Attaching *a, const mf_XmlNode *root, const Naming *naming,
                               const char *main_class) {
    mf_Mjcf *m = a->m;
    mf_XmlNode *outer = mf_mjcf_new_node(m, "default", a->root, 0);
    mf_XmlNode *class = outer ? mf_mjcf_new_node(m, "default", root, 1) : NULL;
    if (class == NULL)
        return mf_mjcf_out_of_memory(m, root);
    mf_mjcf_add_attribute(class, "class", main_class);
    mf_xml_add_child(outer, class);
    mf_xml_add_child(a->root, outer);
    MF_XML_EACH (node, root, "default")
        for (const mf_XmlNode *child = node->first; child; child = child->next)
            MF_TRY(mf_mjcf_copy(m, child, rename_value, naming, class));
    return MF_OK;
}

static mf_Status copy_sections(const Attaching *a, const mf_XmlNode *node, const Source *source,
                               const Naming *naming, const char *main_class) {
    static const char *const copied[] = {"asset",    "contact", "equality", "tendon",
                                         "actuator", "sensor",  NULL};
    MF_TRY(copy_defaults(a, source->root, naming, main_class));
    for (const mf_XmlNode *from = source->root->first; from; from = from->next) {
        if (mf_name_listed(copied, from->name))
            MF_TRY(copy_section(a, from, naming, main_class));
        else if (strcmp(from->name, "keyframe") == 0)
            MF_TRY(mf_mjcf_pass(a->m, node, "keyframes of the attached model"));
    }
    return MF_OK;
}

// ---- attaching ---------------------------------------------------------------------------------

static const mf_XmlNode *find_part(const mf_XmlNode *parent, const char *kind, const char *name) {
    for (const mf_XmlNode *child = parent->first; child; child = child->next) {
        const char *own = mf_xml_attribute(child, "name");
        if (strcmp(child->name, kind) == 0 && own != NULL && strcmp(own, name) == 0)
            return child;
        const mf_XmlNode *found = find_part(child, kind, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static const mf_XmlNode *find_in_worlds(const mf_XmlNode *root, const char *kind,
                                        const char *name) {
    MF_XML_EACH (world, root, "worldbody") {
        const mf_XmlNode *found = find_part(world, kind, name);
        if (found != NULL)
            return found;
    }
    return NULL;
}

// The attached elements, in a frame with the pose of the <attach>: a part, or all of the worlds.
static mf_Status copy_parts(mf_Mjcf *m, const mf_XmlNode *root, const mf_XmlNode *part,
                            const Naming *naming, mf_XmlNode *frame) {
    if (part != NULL)
        return mf_mjcf_copy(m, part, rename_value, naming, frame);
    MF_XML_EACH (world, root, "worldbody") {
        for (const mf_XmlNode *child = world->first; child; child = child->next)
            MF_TRY(mf_mjcf_copy(m, child, rename_value, naming, frame));
    }
    return MF_OK;
}

// What an <attach> asks for.
typedef struct Request {
    const Source *source;   // NULL: the model itself
    const mf_XmlNode *part; // NULL: everything
    const char *prefix;
} Request;

static mf_Status read_request(const Attaching *a, const mf_XmlNode *node, Request *out) {
    static const mf_MjcfField fields[] = {ELSEWHERE("model body frame prefix"), END};
    mf_Mjcf *m = a->m;
    const char *name = mf_xml_attribute(node, "model"), *prefix = mf_xml_attribute(node, "prefix");
    const char *body = mf_xml_attribute(node, "body"), *frame = mf_xml_attribute(node, "frame");
    const char *kind = body != NULL ? "body" : "frame", *part = body != NULL ? body : frame;
    *out = (Request){.prefix = prefix ? prefix : ""};
    MF_TRY(mf_mjcf_read(m, node, fields, NULL));
    for (uint32_t i = 0; name && i < a->sources.count; i++) {
        const Source *item = (Source *)a->sources.items + i;
        out->source = strcmp(item->name, name) == 0 ? item : out->source;
    }
    if (name != NULL && out->source == NULL)
        return mf_mjcf_fail(m, node, "<attach> model: there is no <model> '%.100s' in <asset>",
                            name);
    if (body != NULL && frame != NULL)
        return mf_mjcf_fail(m, node, "<attach>: expected body or frame, found both");
    if (name == NULL && part == NULL)
        return mf_mjcf_fail(m, node, "<attach> without a model needs the attribute body or frame");
    if (part == NULL)
        return MF_OK;
    out->part = find_in_worlds(out->source ? out->source->root : a->root, kind, part);
    if (out->part == NULL)
        return mf_mjcf_fail(m, node, "<attach> %s: %s%.100s%s has no %s '%.100s'", kind,
                            name ? "model '" : "the model", name ? name : "", name ? "'" : "", kind,
                            part);
    for (const mf_XmlNode *above = node; above; above = above->parent)
        if (above == out->part)
            return mf_mjcf_fail(m, node, "<attach> %s: '%.100s' cannot contain a copy of itself",
                                kind, part);
    return MF_OK;
}

// The class of elements without one below a part of the model itself; NULL: main.
static const char *class_around(const mf_XmlNode *part) {
    const char *found = NULL;
    for (const mf_XmlNode *above = part->parent; above && found == NULL; above = above->parent)
        found = mf_xml_attribute(above, "childclass");
    return found;
}

// The frame overwrites the <attach> node, because others point to it.
static void become(mf_XmlNode *node, const mf_XmlNode *frame) {
    node->name = frame->name;
    node->attributes = frame->attributes;
    node->attribute_count = frame->attribute_count;
    node->file = frame->file;
    node->first = frame->first;
    node->last = frame->last;
    for (mf_XmlNode *child = node->first; child; child = child->next)
        child->parent = node;
}

static mf_Status attach_own(const Attaching *a, mf_XmlNode *node, const Request *request) {
    mf_XmlNode *frame = mf_mjcf_new_node(a->m, "frame", node, 1);
    const char *class = class_around(request->part);
    const Naming naming = {.m = a->m, .prefix = request->prefix};
    if (frame == NULL)
        return mf_mjcf_out_of_memory(a->m, node);
    mf_mjcf_add_attribute(frame, "childclass", class ? class : "main");
    mf_Status status = mf_mjcf_copy(a->m, request->part, rename_value, &naming, frame);
    become(node, frame);
    return status;
}

// The number of a model with a prefix; `*first` whether it is a new one.
static mf_Status number_of(Attaching *a, const Request *request, uint32_t *out, bool *first) {
    char key[2 * MF_MODEL_NAME_LIMIT + 2];
    snprintf(key, sizeof key, "%.255s %.255s", request->source->name, request->prefix);
    *out = mf_names_find(&a->done, key);
    *first = *out == UINT32_MAX;
    if (!*first)
        return MF_OK;
    *out = ++a->m->attached;
    const char *text = mf_arena_text(&a->m->arena, key, strlen(key));
    return text && mf_names_add(&a->done, text, *out) ? MF_OK : mf_mjcf_no_memory(a->m);
}

static mf_Status attach_model(Attaching *a, mf_XmlNode *node, const Request *request) {
    mf_Mjcf *m = a->m;
    const Source *source = request->source;
    uint32_t number;
    bool first;
    char classes[40];
    MF_TRY(number_of(a, request, &number, &first));
    snprintf(classes, sizeof classes, "attached.%u.", number);
    const Naming naming = {m, request->prefix, classes};
    const char *main_class = join(m, classes, "main");
    mf_XmlNode *frame = main_class ? mf_mjcf_new_node(m, "frame", source->root, 1) : NULL;
    if (frame == NULL)
        return mf_mjcf_out_of_memory(m, node);
    mf_mjcf_add_attribute(frame, "childclass", main_class);
    mf_Status status = copy_parts(m, source->root, request->part, &naming, frame);
    if (status == MF_OK && first)
        status = copy_sections(a, node, source, &naming, main_class);
    become(node, frame);
    return status;
}

static mf_Status attach(Attaching *a, mf_XmlNode *node) {
    Request request;
    MF_TRY(read_request(a, node, &request));
    return request.source != NULL ? attach_model(a, node, &request) : attach_own(a, node, &request);
}

static mf_Status attach_in(Attaching *a, mf_XmlNode *parent) {
    for (mf_XmlNode *node = parent->first; node; node = node->next) {
        if (strcmp(node->name, "attach") == 0)
            MF_TRY(attach(a, node));
        else
            MF_TRY(attach_in(a, node));
    }
    return MF_OK;
}

// ---- models ------------------------------------------------------------------------------------

// All files of a model have its settings.
static mf_Status add_scopes(mf_Mjcf *m, const mf_MjcfSettings *settings, uint32_t first) {
    for (uint32_t i = first; i < m->included.count; i++) {
        mf_MjcfScope *scope = mf_list_push(m->context, &m->scopes, sizeof *scope);
        if (scope == NULL)
            return mf_mjcf_no_memory(m);
        *scope = (mf_MjcfScope){mf_mjcf_included(m)[i]->file, settings};
    }
    return MF_OK;
}

static mf_Status attach_all(mf_Mjcf *m, mf_XmlNode *root, const Attaching *outer);

static bool is_open(const Attaching *a, const char *file) {
    for (; a != NULL; a = a->outer)
        if (strcmp(a->root->file, file) == 0)
            return true;
    return false;
}

static mf_Status read_model(Attaching *a, const mf_XmlNode *node) {
    static const mf_MjcfField fields[] = {ELSEWHERE("name file"), PASSED("content_type"), END};
    mf_Mjcf *m = a->m;
    const uint32_t first = m->included.count;
    mf_XmlNode *root = NULL;
    mf_MjcfSettings *settings = mf_arena_take(&m->arena, sizeof *settings);
    if (settings == NULL)
        return mf_mjcf_no_memory(m);
    MF_TRY(mf_mjcf_read(m, node, fields, NULL));
    MF_TRY(mf_mjcf_read_file(m, node, true, &root));
    if (strcmp(root->name, "mujoco") != 0)
        return mf_mjcf_fail(m, root, "expected an MJCF <mujoco>, found <%.80s>", root->name);
    if (is_open(a, root->file))
        return mf_mjcf_fail(m, node, "<model>: '%.200s' is a part of itself", root->file);
    MF_TRY(mf_mjcf_read_settings(m, root, settings));
    settings->file = root->file;
    MF_TRY(add_scopes(m, settings, first));
    MF_TRY(attach_all(m, root, a));
    Source *source = mf_list_push(m->context, &a->sources, sizeof *source);
    if (source == NULL)
        return mf_mjcf_no_memory(m);
    const char *name = mf_xml_attribute(node, "name");
    const char *own = mf_xml_attribute(root, "model");
    *source = (Source){name ? name : own ? own : "", root};
    return MF_OK;
}

static mf_Status attach_all(mf_Mjcf *m, mf_XmlNode *root, const Attaching *outer) {
    Attaching a = {.m = m, .root = root, .outer = outer, .done = mf_names_start(m->context)};
    mf_Status status = MF_OK;
    MF_XML_EACH (section, root, "asset") {
        for (const mf_XmlNode *node = mf_xml_child(section, "model"); status == MF_OK && node;
             node = mf_xml_next(node, "model"))
            status = read_model(&a, node);
    }
    for (mf_XmlNode *world = mf_xml_child(root, "worldbody"); status == MF_OK && world;
         world = mf_xml_next(world, "worldbody"))
        status = attach_in(&a, world);
    mf_list_release(m->context, &a.sources);
    mf_names_release(&a.done);
    return status;
}

mf_Status mf_mjcf_attach(mf_Mjcf *m) {
    m->settings.file = m->file;
    return attach_all(m, m->xml.root, NULL);
}
