// Common code of the passes of the MJCF importer: attributes by table, orientations, names, ranges,
// and the record of what is ignored or rejected.
#include "import/mjcf.h"

#include "math/scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const mf_mjcf_tristate[] = {"false", "true", "auto", NULL};

mf_Status mf_mjcf_fail(const mf_Mjcf *m, const mf_XmlNode *node, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mf_xml_fail_list(&m->xml, node, MF_BAD_FILE, format, arguments);
    va_end(arguments);
    return MF_BAD_FILE;
}

const mf_MjcfSettings *mf_mjcf_settings(const mf_Mjcf *m, const mf_XmlNode *node) {
    const mf_MjcfScope *scopes = mf_mjcf_scopes(m);
    for (uint32_t i = 0; i < m->scopes.count; i++) {
        if (scopes[i].file == node->file)
            return scopes[i].settings;
    }
    return &m->settings;
}

// ---- ignored elements --------------------------------------------------------------------------

static mf_Status record(mf_Mjcf *m, const mf_XmlNode *node, const char *what, bool physical) {
    uint32_t index = mf_names_find(&m->ignored_names, what);
    if (index != UINT32_MAX) {
        mf_MjcfIgnored *known = &mf_mjcf_ignored(m)[index];
        known->count++;
        known->physical = known->physical || physical;
        return MF_OK;
    }
    const char *copy = mf_arena_text(&m->arena, what, strlen(what));
    mf_MjcfIgnored *item = copy ? mf_list_push(m->context, &m->ignored, sizeof *item) : NULL;
    if (item == NULL || !mf_names_add(&m->ignored_names, copy, m->ignored.count - 1))
        return mf_mjcf_no_memory(m);
    *item = (mf_MjcfIgnored){.node = node, .what = copy, .count = 1, .physical = physical};
    return MF_OK;
}

static void describe(char what[300], const mf_XmlNode *node, const char *attribute) {
    if (attribute != NULL)
        snprintf(what, 300, "<%.100s> %.100s", node->name, attribute);
    else
        snprintf(what, 300, "<%.100s> in <%.100s>", node->name,
                 node->parent ? node->parent->name : "");
}

mf_Status mf_mjcf_pass(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute) {
    char what[300];
    describe(what, node, attribute);
    return record(m, node, what, false);
}

mf_Status mf_mjcf_refuse(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute) {
    char what[300];
    describe(what, node, attribute);
    if (m->config->lenient)
        return record(m, node, what, true);
    return mf_xml_fail(&m->xml, node, MF_UNSUPPORTED,
                       "%.250s is not supported (lenient loading drops it)", what);
}

static mf_Status refuse_child(void *m, const mf_XmlNode *child) {
    return mf_mjcf_refuse(m, child, NULL);
}

mf_Status mf_mjcf_only(mf_Mjcf *m, const mf_XmlNode *node, const char *const *known) {
    return mf_xml_each_other(node, known, refuse_child, m);
}

// ---- attributes --------------------------------------------------------------------------------

static mf_Status read_numbers(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *field,
                              const char *text, double *out) {
    return mf_xml_some_numbers(&m->xml, node, field->name, text, field->least, field->most, out);
}

static mf_Status read_orientation(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *field,
                                  const char *text, mf_MjcfOrientation *out) {
    static const mf_MjcfField fields[] = {{"quat", MF_MJCF_NUMBERS, 4, 4, 0, NULL},
                                          {"axisangle", MF_MJCF_NUMBERS, 4, 4, 0, NULL},
                                          {"xyaxes", MF_MJCF_NUMBERS, 6, 6, 0, NULL},
                                          {"zaxis", MF_MJCF_NUMBERS, 3, 3, 0, NULL},
                                          {"euler", MF_MJCF_NUMBERS, 3, 3, 0, NULL}};
    uint32_t given = 0, kind = 0;
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        given += mf_xml_attribute(node, fields[i].name) != NULL;
        kind = strcmp(field->name, fields[i].name) == 0 ? i : kind;
    }
    if (given > 1)
        return mf_mjcf_fail(
            m, node,
            "<%.80s> has two orientations, expected one of quat, axisangle, xyaxes, zaxis, euler",
            node->name);
    out->kind = (mf_MjcfOrientationKind)kind;
    return read_numbers(m, node, &fields[kind], text, out->value);
}

static mf_Status read_integer(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *field,
                              const char *text, int32_t *out) {
    double value;
    const char *rest;
    uint32_t found = mf_xml_scan(text, 1, &value, &rest);
    if (found != 1 || *rest != '\0' || !(value >= -2147483648.0 && value <= 2147483647.0) ||
        value != (double)(int32_t)value)
        return mf_mjcf_fail(m, node, "<%.80s> %s: expected a whole number, found \"%.60s\"",
                            node->name, field->name, text);
    *out = (int32_t)value;
    return MF_OK;
}

static mf_Status read_flag(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *field,
                           const char *text, bool *out) {
    *out = strcmp(text, "true") == 0;
    if (*out || strcmp(text, "false") == 0)
        return MF_OK;
    return mf_mjcf_fail(m, node, "<%.80s> %s: expected true or false, found \"%.60s\"", node->name,
                        field->name, text);
}

static mf_Status read_choice(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *field,
                             const char *text, int32_t *out) {
    char list[200] = "";
    size_t used = 0;
    for (int32_t i = 0; field->names[i]; i++) {
        if (field->names[i][0] == '\0')
            continue; // not of this format
        if (strcmp(text, field->names[i]) == 0) {
            *out = i;
            return MF_OK;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "",
                                     field->names[i]);
    }
    return mf_mjcf_fail(m, node, "<%.80s> %s: expected one of %s, found \"%.60s\"", node->name,
                        field->name, list, text);
}

static bool is_zero(const char *text) {
    const char *rest = text;
    double value;
    if (strcmp(text, "false") == 0 || strcmp(text, "none") == 0)
        return true;
    while (*text != '\0') {
        uint32_t found = mf_xml_scan(text, 1, &value, &rest);
        if (found == 0 || value != 0.0 || rest == text)
            return found == 0 && *rest == '\0';
        text = rest;
    }
    return true;
}

static mf_Status read_field(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *field,
                            const char *text, char *item) {
    switch (field->kind) {
    case MF_MJCF_NUMBERS:
        return read_numbers(m, node, field, text, (double *)(void *)(item + field->offset));
    case MF_MJCF_INTEGER:
        return read_integer(m, node, field, text, (int32_t *)(void *)(item + field->offset));
    case MF_MJCF_FLAG:
        return read_flag(m, node, field, text, (bool *)(void *)(item + field->offset));
    case MF_MJCF_CHOICE:
        return read_choice(m, node, field, text, (int32_t *)(void *)(item + field->offset));
    case MF_MJCF_TEXT:
        *(const char **)(void *)(item + field->offset) = text;
        return MF_OK;
    case MF_MJCF_ORIENTATION:
        return read_orientation(m, node, field, text, (void *)(item + field->offset));
    case MF_MJCF_REFUSED:
        return is_zero(text) ? MF_OK : mf_mjcf_refuse(m, node, field->name);
    case MF_MJCF_NOTED:
        return mf_mjcf_pass(m, node, field->name);
    case MF_MJCF_ELSEWHERE:
    case MF_MJCF_PASSED:
    case MF_MJCF_PLAIN:
        break;
    }
    return MF_OK;
}

// Whether the attribute is a member of structure `item` in the table of model fields, and how it is
// read. `pattern`: spelling in the enclosing structure ("sol%slimit").
static bool find_plain(mf_ItemType item, const char *pattern, const char *attribute,
                       mf_MjcfField *out) {
    static const mf_MjcfKind kinds[] = {
        [MF_VALUE_REAL] = MF_MJCF_NUMBERS,   [MF_VALUE_INTEGER] = MF_MJCF_INTEGER,
        [MF_VALUE_NUMBER] = MF_MJCF_INTEGER, [MF_VALUE_FLAG] = MF_MJCF_FLAG,
        [MF_VALUE_ENUM] = MF_MJCF_CHOICE,    [MF_VALUE_TEXT] = MF_MJCF_TEXT};
    const mf_ItemTable *table = mf_item_table(item);
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_ModelField *field = &table->fields[i];
        char name[64];
        if (field->mjcf == NULL || field->spelled & (MF_SPELLED_OTHER | MF_SPELLED_RANGE))
            continue;
        mf_spell(name, sizeof name, pattern, field->mjcf);
        if (field->type == MF_VALUE_ITEM && find_plain(field->item, name, attribute, out)) {
            out->offset += field->offset;
            return true;
        }
        if (field->type == MF_VALUE_ITEM || strcmp(name, attribute) != 0)
            continue;
        const uint8_t most = (uint8_t)field->count;
        *out = (mf_MjcfField){.name = attribute,
                              .kind = kinds[field->type],
                              .least = field->spelled & MF_SPELLED_SHORT ? 1 : most,
                              .most = most,
                              .offset = field->offset,
                              .names = field->names};
        return true;
    }
    return false;
}

static bool find_field(const mf_MjcfField *fields, const char *attribute, mf_MjcfField *out) {
    for (; fields->name != NULL; fields++) {
        *out = *fields;
        out->name = attribute;
        if (mf_name_in_text(fields->name, attribute))
            return true;
        if (fields->kind == MF_MJCF_PLAIN &&
            find_plain((mf_ItemType)fields->least, "%s", attribute, out)) {
            out->offset += fields->offset;
            return true;
        }
    }
    return false;
}

mf_Status mf_mjcf_read(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *fields, void *item) {
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const mf_XmlAttribute *attribute = &node->attributes[i];
        mf_MjcfField field;
        MF_TRY(find_field(fields, attribute->name, &field)
                   ? read_field(m, node, &field, attribute->value, item)
                   : mf_mjcf_refuse(m, node, attribute->name));
    }
    return MF_OK;
}

mf_Status mf_mjcf_read_some(mf_Mjcf *m, const mf_XmlNode *node, const mf_MjcfField *fields,
                            void *item) {
    for (const mf_MjcfField *field = fields; field->name; field++) {
        const char *text = mf_xml_attribute(node, field->name);
        if (text != NULL)
            MF_TRY(read_field(m, node, field, text, item));
    }
    return MF_OK;
}

mf_Status mf_mjcf_list(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute, double **out,
                       uint32_t *count) {
    const char *text = mf_xml_attribute(node, attribute), *rest;
    *out = NULL;
    *count = 0;
    if (text == NULL)
        return MF_OK;
    // A number has two bytes at least, so this capacity is sufficient.
    size_t capacity = strlen(text) / 2 + 1;
    double *values = mf_arena_take(&m->arena, capacity * sizeof *values);
    if (values == NULL)
        return mf_mjcf_no_memory(m);
    uint32_t found = mf_xml_scan(text, (uint32_t)capacity, values, &rest);
    if (*rest != '\0')
        return mf_mjcf_fail(m, node, "<%.80s> %s: expected finite numbers, found \"%.40s\"",
                            node->name, attribute, rest);
    *out = values;
    *count = found;
    return MF_OK;
}

// ---- orientations and frames -------------------------------------------------------------------

bool mf_mjcf_unit(double rotation[4]) {
    double square = rotation[0] * rotation[0] + rotation[1] * rotation[1] +
                    rotation[2] * rotation[2] + rotation[3] * rotation[3];
    if (mf_abs(square - 1.0) <= 0x1p-49)
        return true;
    return mf_quat_normalize(rotation);
}

// From the columns of a rotation matrix.
static void from_axes(double rotation[4], const double x[3], const double y[3]) {
    double z[3];
    mf_vec3_cross(z, x, y);
    const double matrix[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
    mf_quat_from_matrix(rotation, matrix);
}

static bool from_xyaxes(double rotation[4], const double value[6]) {
    double x[3], y[3];
    mf_vec3_copy(x, value);
    mf_vec3_copy(y, value + 3);
    if (!mf_vec3_normalize(x))
        return false;
    mf_vec3_add_scaled(y, y, -mf_vec3_dot(x, y), x);
    if (mf_vec3_length(y) < 1e-14 * mf_vec3_length(value + 3) || !mf_vec3_normalize(y))
        return false;
    from_axes(rotation, x, y);
    return true;
}

// The shortest rotation of z onto the axis; for -z: 180 degrees about x.
static bool from_zaxis(double rotation[4], const double value[3]) {
    double z[3];
    mf_vec3_copy(z, value);
    if (!mf_vec3_normalize(z))
        return false;
    double axis[3] = {-z[1], z[0], 0.0};
    double sine = mf_sqrt(z[0] * z[0] + z[1] * z[1]);
    if (sine < 1e-10)
        mf_vec3_set(axis, 1.0, 0.0, 0.0);
    mf_quat_from_axis_angle(rotation, axis, mf_atan2(sine, z[2]));
    return true;
}

// Lower case letters rotate about the moving axes, upper case about the fixed axes.
static void from_euler(double rotation[4], const char *sequence, const double angle[3]) {
    mf_quat_identity(rotation);
    for (int i = 0; i < 3; i++) {
        int letter = sequence[i] | 0x20;
        double axis[3] = {letter == 'x', letter == 'y', letter == 'z'}, orientation[4];
        mf_quat_from_axis_angle(orientation, axis, angle[i]);
        if (sequence[i] == letter)
            mf_quat_multiply(rotation, rotation, orientation);
        else
            mf_quat_multiply(rotation, orientation, rotation);
    }
}

mf_Status mf_mjcf_rotation(const mf_Mjcf *m, const mf_XmlNode *node,
                           const mf_MjcfOrientation *orientation, double rotation[4]) {
    const double *value = orientation->value;
    double unit = mf_mjcf_settings(m, node)->radians ? 1.0 : MF_PI / 180.0, angle[3];
    bool good = true;
    switch (orientation->kind) {
    case MF_MJCF_QUAT:
        memcpy(rotation, value, 4 * sizeof *rotation);
        break;
    case MF_MJCF_AXISANGLE:
        good = mf_vec3_length(value) > 1e-14;
        mf_quat_from_axis_angle(rotation, value, value[3] * unit);
        break;
    case MF_MJCF_XYAXES:
        good = from_xyaxes(rotation, value);
        break;
    case MF_MJCF_ZAXIS:
        good = from_zaxis(rotation, value);
        break;
    case MF_MJCF_EULER:
        mf_vec3_scale(angle, value, unit);
        from_euler(rotation, mf_mjcf_settings(m, node)->eulerseq, angle);
        break;
    }
    if (good && mf_mjcf_unit(rotation))
        return MF_OK;
    return mf_mjcf_fail(m, node, "<%.80s>: the orientation is zero or its axes are parallel",
                        node->name);
}

mf_Status mf_mjcf_between_ends(const mf_Mjcf *m, const mf_XmlNode *node, const double fromto[6],
                               int32_t type, double position[3], double rotation[4],
                               double size[3]) {
    mf_MjcfOrientation z = {MF_MJCF_ZAXIS, {0.0}};
    mf_vec3_sub(z.value, fromto, fromto + 3);
    const double half = mf_vec3_length(z.value) / 2;
    if (half < 1e-14)
        return mf_mjcf_fail(m, node, "<%.80s> fromto: the two points are the same", node->name);
    for (int i = 0; i < 3; i++)
        position[i] = (fromto[i] + fromto[i + 3]) / 2;
    size[2] = half;
    size[1] = mf_mjcf_size_count(type) == 3 ? size[0] : half;
    return mf_mjcf_rotation(m, node, &z, rotation);
}

void mf_mjcf_compose(double position[3], double rotation[4], const double parent_position[3],
                     const double parent_rotation[4], const double inner_position[3],
                     const double inner_rotation[4]) {
    double moved[3];
    mf_quat_rotate(moved, parent_rotation, inner_position);
    mf_vec3_add(position, parent_position, moved);
    mf_quat_multiply(rotation, parent_rotation, inner_rotation);
    mf_mjcf_unit(rotation);
}

mf_Frame mf_mjcf_frame(const mf_Mjcf *m, uint32_t body, const double position[3],
                       const double rotation[4]) {
    const mf_MjcfBody *item = &mf_mjcf_bodies(m)[body];
    mf_Frame frame = {.link = item->link};
    mf_mjcf_compose(frame.position, frame.rotation, item->link_position, item->link_rotation,
                    position, rotation);
    return frame;
}

// ---- ranges, names, classes --------------------------------------------------------------------

mf_Status mf_mjcf_limited(mf_Mjcf *m, const mf_XmlNode *node, const char *what, int32_t limited,
                          const double range[2], bool *out) {
    bool given = range[0] != 0.0 || range[1] != 0.0;
    *out = limited == MF_MJCF_TRUE;
    if (limited == MF_MJCF_AUTO) {
        if (given && !mf_mjcf_settings(m, node)->autolimits)
            return mf_mjcf_fail(m, node,
                                "<%.80s> has %srange but not %slimited, and autolimits is false",
                                node->name, what, what);
        *out = range[0] < range[1];
        if (given && !*out)
            return mf_draft_note(&m->draft, true, node->line,
                                 "<%.80s> %srange: %g is not below %g, so nothing is limited",
                                 node->name, what, range[0], range[1]);
    }
    if (*out && !(range[0] < range[1]))
        return mf_mjcf_fail(m, node, "<%.80s> %srange: expected lower < upper, found %g and %g",
                            node->name, what, range[0], range[1]);
    return MF_OK;
}

mf_Status mf_mjcf_stiffness(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute,
                            const double polynomial[3], double *out) {
    *out = polynomial[0];
    if (!(polynomial[0] >= 0.0))
        return mf_mjcf_fail(m, node, "<%.80s> %s: expected >= 0, found %g", node->name, attribute,
                            polynomial[0]);
    if (polynomial[1] != 0.0 || polynomial[2] != 0.0)
        return mf_mjcf_refuse(m, node, attribute);
    return MF_OK;
}

mf_Status mf_mjcf_name(mf_Mjcf *m, const mf_XmlNode *node, mf_Names *names, const char *name,
                       uint32_t index) {
    if (name == NULL || *name == '\0')
        return MF_OK;
    if (strlen(name) > MF_MODEL_NAME_LIMIT)
        return mf_xml_fail(&m->xml, node, MF_LIMIT, "<%.80s> name: at most %u bytes, found %zu",
                           node->name, MF_MODEL_NAME_LIMIT, strlen(name));
    if (mf_names_find(names, name) != UINT32_MAX)
        return mf_mjcf_fail(m, node, "<%.80s>: the name '%.100s' is used twice", node->name, name);
    return mf_names_add(names, name, index) ? MF_OK : mf_mjcf_no_memory(m);
}

mf_Status mf_mjcf_dropped(mf_Mjcf *m, const char *kind, const char *name) {
    char key[600];
    if (name == NULL)
        return MF_OK;
    snprintf(key, sizeof key, "%s %.500s", kind, name);
    if (mf_names_find(&m->dropped_names, key) != UINT32_MAX)
        return MF_OK;
    const char *copy = mf_arena_text(&m->arena, key, strlen(key));
    return copy && mf_names_add(&m->dropped_names, copy, 0) ? MF_OK : mf_mjcf_no_memory(m);
}

mf_Status mf_mjcf_find(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute, const char *name,
                       const mf_Names *names, const char *kind, uint32_t *out) {
    char key[600];
    *out = mf_names_find(names, name);
    if (*out != UINT32_MAX)
        return MF_OK;
    *out = MF_NONE;
    snprintf(key, sizeof key, "%s %.500s", kind, name);
    if (mf_names_find(&m->dropped_names, key) != UINT32_MAX) {
        snprintf(key, sizeof key, "%s of a dropped %s", attribute, kind);
        return mf_mjcf_refuse(m, node, key);
    }
    if (mf_mjcf_settings(m, node) != &m->settings) { // refers to parts that are not attached
        snprintf(key, sizeof key, "%s of a %s that is not attached", attribute, kind);
        return mf_mjcf_pass(m, node, key);
    }
    return mf_mjcf_fail(m, node, "<%.80s> %s: there is no %s '%.100s'", node->name, attribute, kind,
                        name);
}

mf_Status mf_mjcf_find_site(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute,
                            const char *name, const mf_MjcfSite **out, mf_Frame *frame) {
    uint32_t index;
    MF_TRY(mf_mjcf_find(m, node, attribute, name, &m->site_names, "site", &index));
    const mf_MjcfSite *site = index != MF_NONE ? &mf_mjcf_sites(m)[index] : NULL;
    if (site != NULL)
        *frame = mf_mjcf_frame(m, site->body, site->position, site->rotation);
    *out = site;
    return MF_OK;
}

mf_Status mf_mjcf_class(mf_Mjcf *m, const mf_XmlNode *node, const char *attribute,
                        const mf_MjcfClass *inherited, const mf_MjcfClass **out) {
    const char *name = mf_xml_attribute(node, attribute);
    *out = inherited != NULL ? inherited : mf_mjcf_classes(m)[0];
    if (name == NULL)
        return MF_OK;
    uint32_t index = mf_names_find(&m->class_names, name);
    if (index == UINT32_MAX)
        return mf_mjcf_fail(m, node, "<%.80s>%s: there is no default class '%.100s'", node->name,
                            strcmp(attribute, "class") == 0 ? "" : " childclass", name);
    *out = mf_mjcf_classes(m)[index];
    return MF_OK;
}

mf_Status mf_mjcf_list_item(mf_Mjcf *m, mf_List *list, size_t size, const void *item,
                            mf_Names *names) {
    const mf_MjcfHead *head = item;
    void *slot = mf_list_push(m->context, list, size);
    if (slot == NULL)
        return mf_mjcf_no_memory(m);
    memcpy(slot, item, size);
    return mf_mjcf_name(m, head->node, names, head->name, list->count - 1);
}

mf_Status mf_mjcf_add(mf_Mjcf *m, const mf_XmlNode *node, mf_ItemType item, const void *values,
                      mf_Names *names) {
    if (mf_draft_add(&m->draft, item, values) == NULL)
        return mf_mjcf_no_memory(m);
    return names == NULL ? MF_OK
                         : mf_mjcf_name(m, node, names, mf_item_name(item, values),
                                        mf_draft_list(&m->draft, item)->count - 1);
}

mf_Status mf_mjcf_read_section(mf_Mjcf *m, const char *name, mf_MjcfReader *read) {
    MF_XML_EACH (section, m->xml.root, name)
        for (const mf_XmlNode *node = section->first; node; node = node->next)
            MF_TRY(read(m, node));
    return MF_OK;
}

// ---- texts -------------------------------------------------------------------------------------

// Cuts "key=value key=value" in place; MF_NONE: it is no such list.
static uint32_t cut(char *data, uint32_t capacity, mf_XmlAttribute *out) {
    uint32_t count = 0;
    while (*(data += strspn(data, " \t\r\n")) != '\0') {
        char *equals = strchr(data, '='), *end = data + strcspn(data, " \t\r\n");
        if (equals == NULL || equals >= end || count == capacity)
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

static mf_Status read_text(mf_Mjcf *m, const mf_XmlNode *text, const char *kind, const char *name,
                           mf_MjcfReader *read) {
    enum { PAIRS = 32 };
    const char *data = mf_xml_attribute(text, "data");
    char *copy = (char *)mf_draft_text(&m->draft, data != NULL ? data : "");
    mf_XmlAttribute attributes[PAIRS + 1] = {{.name = "name", .value = name}};
    if (copy == NULL)
        return mf_mjcf_no_memory(m);
    const uint32_t count = cut(copy, PAIRS, attributes + 1);
    if (count == MF_NONE)
        return mf_mjcf_fail(m, text, "<text> %s:%.100s: expected key=value pairs, found \"%.60s\"",
                            kind, name, data);
    mf_XmlNode node = *text;
    node.name = kind;
    node.attributes = attributes;
    node.attribute_count = count + 1;
    return read(m, &node);
}

mf_Status mf_mjcf_read_texts(mf_Mjcf *m, const char *kind, mf_MjcfReader *read) {
    const size_t length = strlen(kind);
    MF_XML_EACH (part, m->xml.root, "custom")
        MF_XML_EACH (text, part, "text") {
            const char *name = mf_xml_attribute(text, "name");
            if (name != NULL && strncmp(name, kind, length) == 0 && name[length] == ':')
                MF_TRY(read_text(m, text, kind, name + length + 1, read));
        }
    return MF_OK;
}
