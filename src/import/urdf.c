// URDF import: the order of the passes, and common code. The format: http://wiki.ros.org/urdf/XML.
#include "import/urdf.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

static mf_Status ignore(mf_Urdf *urdf, const mf_XmlNode *node, const char *attribute) {
    const char *parent = node->parent ? node->parent->name : "";
    char key[800];
    snprintf(key, sizeof key, "%.250s/%.250s %.250s", parent, node->name,
             attribute ? attribute : "");
    uint32_t index = mf_names_find(&urdf->ignored_names, key);
    if (index != UINT32_MAX) {
        ((mf_UrdfIgnored *)urdf->ignored.items)[index].count++;
        return MF_OK;
    }
    const char *copy = mf_arena_text(&urdf->xml.arena, key, strlen(key));
    mf_UrdfIgnored *item = copy ? mf_list_push(urdf->context, &urdf->ignored, sizeof *item) : NULL;
    if (item == NULL || !mf_names_add(&urdf->ignored_names, copy, urdf->ignored.count - 1))
        return mf_urdf_no_memory(urdf);
    *item = (mf_UrdfIgnored){.node = node, .attribute = attribute, .count = 1};
    return MF_OK;
}

mf_Status mf_urdf_ignore(mf_Urdf *urdf, const mf_XmlNode *node) {
    return ignore(urdf, node, NULL);
}

static mf_Status ignore_child(void *urdf, const mf_XmlNode *child) {
    return mf_urdf_ignore(urdf, child);
}

mf_Status mf_urdf_ignore_others(mf_Urdf *urdf, const mf_XmlNode *node, const char *const *known) {
    return mf_xml_each_other(node, known, ignore_child, urdf);
}

mf_Status mf_urdf_origin(mf_Urdf *urdf, const mf_XmlNode *node, double position[3],
                         double rotation[4]) {
    const mf_XmlNode *origin = mf_xml_child(node, "origin");
    double rpy[3] = {0.0, 0.0, 0.0};
    mf_vec3_set(position, 0.0, 0.0, 0.0);
    mf_quat_identity(rotation);
    if (origin == NULL)
        return MF_OK;
    MF_TRY(mf_xml_numbers(&urdf->xml, origin, "xyz", 3, position));
    MF_TRY(mf_xml_numbers(&urdf->xml, origin, "rpy", 3, rpy));
    mf_quat_from_rpy(rotation, rpy);
    return MF_OK;
}

static mf_Status check_root(mf_Urdf *urdf) {
    const mf_XmlNode *root = urdf->xml.root;
    if (strcmp(root->name, "robot") == 0)
        return MF_OK;
    return mf_xml_refuse(&urdf->xml, root, "expected a URDF <robot>, found <%.80s>", root->name);
}

// The first element of xacro below `node`, in the order of the file; NULL: there is none.
static const mf_XmlNode *find_macro(const mf_XmlNode *node) {
    const mf_XmlNode *found = strncmp(node->name, "xacro:", 6) == 0 ? node : NULL;
    for (const mf_XmlNode *child = node->first; child != NULL && found == NULL; child = child->next)
        found = find_macro(child);
    return found;
}

static mf_Status check_elements(mf_Urdf *urdf) {
    static const char *const known[] = {"link",   "joint",  "material", "gazebo",
                                        "mujoco", "mayfly", NULL};
    const mf_XmlNode *macro = find_macro(urdf->xml.root);
    if (macro != NULL)
        return mf_xml_fail(&urdf->xml, macro, MF_UNSUPPORTED,
                           "<%.80s>: xacro FILE > robot.urdf (pip install xacro) expands the file",
                           macro->name);
    return mf_urdf_ignore_others(urdf, urdf->xml.root, known);
}

static bool is_true(const char *value) {
    return value != NULL && strcmp(value, "true") == 0;
}

// <mujoco><compiler meshdir discardvisual .../></mujoco>, as found in URDF files of robot makers.
static mf_Status read_mujoco(mf_Urdf *urdf) {
    const mf_XmlNode *node = mf_xml_child(urdf->xml.root, "mujoco");
    const mf_XmlNode *compiler = mf_xml_child(node, "compiler");
    static const char *const known[] = {"compiler", NULL};
    mf_Status status = MF_OK;
    if (compiler != NULL) {
        urdf->mesh_folder = mf_xml_attribute(compiler, "meshdir");
        urdf->drop_visual = is_true(mf_xml_attribute(compiler, "discardvisual"));
        if (is_true(mf_xml_attribute(compiler, "balanceinertia")))
            status =
                mf_draft_note(&urdf->draft, false, compiler->line,
                              "balanceinertia: impossible inertias are replaced anyway, see notes");
    }
    return status == MF_OK && node ? mf_urdf_ignore_others(urdf, node, known) : status;
}

// Elements of which attributes have no meaning: what is only looked at, and bounds, axes and
// friction of a joint that does not move.
static bool is_plain(const mf_Urdf *urdf, const mf_XmlNode *node) {
    const char *type = strcmp(node->name, "joint") == 0 ? mf_xml_attribute(node, "type") : NULL;
    return strcmp(node->name, "visual") == 0 || strcmp(node->name, "material") == 0 ||
           (type != NULL && strcmp(type, "fixed") == 0) ||
           (strcmp(node->name, "inertial") == 0 &&
            urdf->config->inertia == MF_IMPORT_INERTIA_GEOMETRY);
}

static bool is_ignored(const mf_Urdf *urdf, const mf_XmlNode *node) {
    const mf_UrdfIgnored *items = urdf->ignored.items;
    for (uint32_t i = 0; i < urdf->ignored.count; i++)
        if (items[i].attribute == NULL && strcmp(items[i].node->name, node->name) == 0 &&
            strcmp(items[i].node->parent->name, node->parent->name) == 0)
            return true;
    return false;
}

// Attributes that no pass has asked for.
static mf_Status ignore_unread(mf_Urdf *urdf, const mf_XmlNode *node) {
    if (is_plain(urdf, node) || is_ignored(urdf, node))
        return MF_OK;
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const mf_XmlAttribute *own = &node->attributes[i];
        if (!own->is_read && strcmp(own->name, "name") != 0 && strchr(own->name, ':') == NULL)
            MF_TRY(ignore(urdf, node, own->name));
    }
    for (const mf_XmlNode *child = node->first; child; child = child->next)
        MF_TRY(ignore_unread(urdf, child));
    return MF_OK;
}

static mf_Status ignore_attributes(mf_Urdf *urdf) {
    for (const mf_XmlNode *node = urdf->xml.root->first; node; node = node->next)
        if (strcmp(node->name, "link") == 0 || strcmp(node->name, "joint") == 0)
            MF_TRY(ignore_unread(urdf, node));
    return MF_OK;
}

static mf_Status note_ignored(mf_Urdf *urdf) {
    const mf_UrdfIgnored *items = urdf->ignored.items;
    for (uint32_t i = 0; i < urdf->ignored.count; i++) {
        const mf_XmlNode *node = items[i].node;
        const char *name = mf_xml_attribute(node, "name");
        char times[40] = "", own[128] = "";
        if (items[i].count > 1)
            snprintf(times, sizeof times, " (%u times)", items[i].count);
        else if (name != NULL)
            snprintf(own, sizeof own, " '%.100s'", name);
        MF_TRY(items[i].attribute != NULL
                   ? mf_draft_note(&urdf->draft, false, node->line, "<%.100s> %.100s ignored%s",
                                   node->name, items[i].attribute, times)
                   : mf_draft_note(&urdf->draft, false, node->line,
                                   "<%.100s>%s in <%.100s> ignored%s", node->name, own,
                                   node->parent->name, times));
    }
    return MF_OK;
}

static mf_Status name_model(mf_Urdf *urdf) {
    const char *name = mf_xml_attribute(urdf->xml.root, "name");
    if (name != NULL && strlen(name) > MF_MODEL_NAME_LIMIT)
        return mf_xml_fail(&urdf->xml, urdf->xml.root, MF_LIMIT,
                           "<robot> name: at most 255 bytes, found %zu", strlen(name));
    urdf->draft.name = mf_draft_text(&urdf->draft, name && *name ? name : "robot");
    urdf->draft.file = mf_draft_text(&urdf->draft, urdf->file);
    return urdf->draft.name && urdf->draft.file ? MF_OK : mf_urdf_no_memory(urdf);
}

static mf_Status note_comment(mf_Urdf *urdf) {
    const int32_t line = urdf->xml.loose_comment;
    return line == 0 ? MF_OK : mf_draft_note(&urdf->draft, false, line, "%s", MF_XML_LOOSE_COMMENT);
}

typedef mf_Status (*Pass)(mf_Urdf *urdf);

static mf_Status run_passes(mf_Urdf *urdf) {
    static const Pass passes[] = {check_root,
                                  name_model,
                                  check_elements,
                                  read_mujoco,
                                  mf_urdf_read_materials,
                                  mf_urdf_read_links,
                                  mf_urdf_read_joints,
                                  mf_urdf_read_surfaces,
                                  mf_urdf_read_servos,
                                  mf_urdf_check_inertias,
                                  mf_urdf_merge,
                                  mf_urdf_place_mass,
                                  mf_urdf_read_mayfly,
                                  mf_urdf_read_sensors,
                                  note_comment,
                                  ignore_attributes,
                                  note_ignored};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        MF_TRY(passes[i](urdf));
    return MF_OK;
}

static void release(mf_Urdf *urdf) {
    mf_List *lists[] = {&urdf->links, &urdf->joints, &urdf->solids, &urdf->materials,
                        &urdf->ignored};
    mf_Names *names[] = {&urdf->link_names, &urdf->joint_names,  &urdf->material_names,
                         &urdf->mesh_names, &urdf->sensor_names, &urdf->ignored_names};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mf_list_release(urdf->context, lists[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mf_names_release(names[i]);
    mf_draft_release(&urdf->draft);
    mf_xml_release(&urdf->xml);
}

mf_Status mf_urdf_parse(mf_Context *context, const char *file, const char *data, size_t size,
                        const mf_ImportConfig *config, bool in_memory, mf_Model **out,
                        mf_Error *error) {
    *out = NULL;
    const mf_Names names = mf_names_start(context);
    mf_Urdf urdf = {.context = context,
                    .config = config,
                    .file = file,
                    .in_memory = in_memory,
                    .link_names = names,
                    .joint_names = names,
                    .material_names = names,
                    .mesh_names = names,
                    .sensor_names = names,
                    .ignored_names = names,
                    .error = error};
    mf_draft_start(&urdf.draft, context);
    urdf.draft.file = file;
    urdf.draft.error = error;
    mf_Status status = mf_xml_parse(context, file, data, size, &urdf.xml, error);
    MF_THEN(status, run_passes(&urdf));
    MF_THEN(status, mf_draft_freeze(&urdf.draft, out, error));
    release(&urdf);
    return status;
}
