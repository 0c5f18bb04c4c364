// MJCF import: the order of the passes, and release of their memory.
#include "import/mjcf.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

static mf_Status name_model(mf_Mjcf *m) {
    const char *name = mf_xml_attribute(m->xml.root, "model");
    if (name != NULL && strlen(name) > MF_MODEL_NAME_LIMIT)
        return mf_xml_fail(&m->xml, m->xml.root, MF_LIMIT,
                           "<mujoco> model: at most %u bytes, found %zu", MF_MODEL_NAME_LIMIT,
                           strlen(name));
    m->draft.name = mf_draft_text(&m->draft, name && *name ? name : "robot");
    m->draft.file = mf_draft_text(&m->draft, m->file);
    return m->draft.name && m->draft.file ? MF_OK : mf_mjcf_no_memory(m);
}

// The file of the last note, where it is not the main one.
static mf_Status name_file(mf_Mjcf *m, const char *file, bool unsupported) {
    mf_Note *note = mf_draft_notes(&m->draft) + m->draft.notes.count - 1;
    note->unsupported = unsupported;
    note->file = file != m->file ? mf_draft_text(&m->draft, file) : "";
    return note->file != NULL ? MF_OK : mf_mjcf_no_memory(m);
}

static mf_Status note_ignored(mf_Mjcf *m) {
    const mf_MjcfIgnored *items = mf_mjcf_ignored(m);
    for (uint32_t i = 0; i < m->ignored.count; i++) {
        char times[40] = "";
        if (items[i].count > 1)
            snprintf(times, sizeof times, " (%u times)", items[i].count);
        MF_TRY(mf_draft_note(
            &m->draft, items[i].physical, items[i].node->line, "%s %s%s", items[i].what,
            items[i].physical ? "dropped: this changes the motion of the robot" : "has no effect",
            times));
        MF_TRY(name_file(m, items[i].node->file, true));
    }
    return MF_OK;
}

static mf_Status note_comment(mf_Mjcf *m, const mf_Xml *xml) {
    if (xml->loose_comment == 0)
        return MF_OK;
    MF_TRY(mf_draft_note(&m->draft, false, xml->loose_comment, "%s", MF_XML_LOOSE_COMMENT));
    return name_file(m, xml->file, false);
}

static mf_Status note_comments(mf_Mjcf *m) {
    MF_TRY(note_comment(m, &m->xml));
    for (uint32_t i = 0; i < m->included.count; i++)
        MF_TRY(note_comment(m, mf_mjcf_included(m)[i]));
    return MF_OK;
}

// Notes about chains and bases that the points motion does not support.
static bool is_level_plane(const mf_Shape *shape) {
    return shape->type == MF_SHAPE_PLANE && shape->link == MF_NONE && shape->collides &&
           mf_abs(shape->rotation[1]) < 1e-6 && mf_abs(shape->rotation[2]) < 1e-6;
}

// Level planes of one height are one ground; MuJoCo adds up the forces of each.
static mf_Status note_planes(mf_Mjcf *m) {
    const mf_Shape *shapes = mf_draft_shapes(&m->draft);
    for (uint32_t i = 1; i < m->draft.shapes.count; i++)
        for (uint32_t k = 0; k < i && is_level_plane(&shapes[i]); k++)
            if (is_level_plane(&shapes[k]) && shapes[i].position[2] == shapes[k].position[2])
                return mf_draft_note(&m->draft, false, m->xml.root->line,
                                     "level planes at one height count as one ground");
    return MF_OK;
}

static mf_Status note_points(mf_Mjcf *m) {
    return m->draft.base_type != MF_BASE_FIXED
               ? MF_OK
               : mf_draft_note(&m->draft, false, 0,
                               "the base is fixed in the world: the points motion, which moves one "
                               "free body, does not support this");
}

typedef mf_Status (*Pass)(mf_Mjcf *m);

// The texts of items on links.
static mf_Status read_mounted(mf_Mjcf *m) {
#define READ(item, name, type) MF_TRY(mf_mjcf_read_texts(m, #name, mf_mjcf_read_##name##_text));
    MF_MOUNTED_KINDS(READ)
    return MF_OK;
}

static mf_Status run_passes(mf_Mjcf *m) {
    static const Pass passes[] = {mf_mjcf_include,
                                  mf_mjcf_attach,
                                  name_model,
                                  mf_mjcf_read_sections,
                                  mf_mjcf_read_options,
                                  mf_mjcf_replicate,
                                  mf_mjcf_read_classes,
                                  mf_mjcf_read_assets,
                                  mf_mjcf_read_bodies,
                                  mf_mjcf_place_geoms,
                                  mf_mjcf_weigh_bodies,
                                  mf_mjcf_list_pairs,
                                  mf_mjcf_make_links,
                                  mf_mjcf_make_points,
                                  mf_mjcf_read_contacts,
                                  mf_mjcf_read_tendons,
                                  mf_mjcf_read_equalities,
                                  mf_mjcf_read_actuators,
                                  mf_mjcf_read_sensors,
                                  read_mounted,
                                  mf_mjcf_read_keyframes,
                                  mf_mjcf_resolve,
                                  note_comments,
                                  note_planes,
                                  note_points,
                                  note_ignored};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        MF_TRY(passes[i](m));
    return MF_OK;
}

static void release(mf_Mjcf *m) {
    for (uint32_t i = 0; i < m->meshes.count; i++)
        mf_release(m->context, mf_mjcf_meshes(m)[i].exact);
    for (uint32_t i = 0; i < m->included.count; i++)
        mf_xml_release(mf_mjcf_included(m)[i]);
#define RELEASE_LIST(list, type) mf_list_release(m->context, &m->list);
#define RELEASE_NAMES(table) mf_names_release(&m->table);
    MF_MJCF_LISTS(RELEASE_LIST)
    MF_MJCF_NAME_TABLES(RELEASE_NAMES)
    mf_draft_release(&m->draft);
    mf_xml_release(&m->xml);
    mf_arena_release(&m->arena);
}

mf_Status mf_mjcf_parse(mf_Context *context, const char *file, const char *data, size_t size,
                        const mf_ImportConfig *config, bool in_memory, mf_Model **out,
                        mf_Error *error) {
    *out = NULL;
    mf_Mjcf m = {.context = context,
                 .config = config,
                 .file = file,
                 .in_memory = in_memory,
                 .error = error,
                 .arena = {.context = context}};
#define START_NAMES(table) m.table = mf_names_start(context);
    MF_MJCF_NAME_TABLES(START_NAMES)
    mf_draft_start(&m.draft, context);
    m.draft.file = file;
    m.draft.error = error;
    mf_Status status = mf_xml_parse(context, file, data, size, &m.xml, error);
    MF_THEN(status, run_passes(&m));
    MF_THEN(status, mf_draft_freeze(&m.draft, out, error));
    release(&m);
    return status;
}
