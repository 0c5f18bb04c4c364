// One attribute after the other of MJCF, as MuJoCo's schema (mjcf_schema.txt) lists them, set in a
// robot that has every element (mjcf_keys.xml) to a value that is not its default.
#pragma once

#include "import/mjcf.h"

#include "base/hash.h"

#include <mayfly/model_fields.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_NODES = 64, KEYS_TEXT = 1 << 16 };

// An element of the schema, an attribute of it and a value; "" stands for any. A value after "!"
// must be an error that names the attribute, one after "?" any error or refusal: others depend on
// it.
typedef struct KeyValue {
    const char *element, *attribute, *value;
} KeyValue;

// Rows of an element come before those of all; all rows that fit are tried, but those
// for all attributes only where there is no other.
static const KeyValue key_values[] = {
    {"compiler", "angle", "degree"},
    {"compiler", "autolimits", "!false"},
    {"compiler", "balanceinertia", "true"},
    {"compiler", "boundinertia", "0.5"},
    {"compiler", "boundmass", "0.5"},
    {"compiler", "conflict", "warning"},
    {"compiler", "coordinate", "!global"},
    {"compiler", "discardvisual", "true"},
    {"compiler", "eulerseq", "zyx"},
    {"compiler", "inertiafromgeom", "true"},
    {"compiler", "inertiagrouprange", "0 2"},
    {"compiler", "settotalmass", "20"},
    {"compiler", "usethread", "false"},
    {"lengthrange", "mode", "all"},
    {"option", "actuatorgroupdisable", "0"},
    {"option", "cone", "pyramidal"},
    {"option", "gravity", "0 1 -5"},
    {"option", "integrator", "implicitfast"},
    {"option", "jacobian", "dense"},
    {"option", "magnetic", "1 2 3"},
    {"option", "o_friction", "1 1 0.1 0.1 0.1"},
    {"option", "solver", "CG"},
    {"option", "timestep", "0.002"},
    {"option", "wind", "5 1 0"},
    {"option", "iterations", "3"},
    {"option", "noslip_iterations", "3"},
    {"default", "class", "?third"},
    {"flag", "ipc", "enable"},
    {"flag", "energy", "enable"},
    {"flag", "fwdinv", "enable"},
    {"flag", "invdiscrete", "enable"},
    {"flag", "multiccd", "enable"},
    {"flag", "override", "enable"},
    {"flag", "sleep", "enable"},
    {"flag", "diagexact", "enable"},
    {"flag", "speculative", "enable"},
    {"flag", "", "disable"},
    {"mesh", "builtin", "sphere"},
    {"mesh", "content_type", "model/obj"},
    {"mesh", "face", "0 2 1  0 1 3  1 2 3"},
    {"mesh", "file", "!missing.obj"},
    {"mesh", "inertia", "shell"},
    {"mesh", "maxhullvert", "4"},
    {"mesh", "normal", "0 0 1  0 0 1  0 0 1  0 0 1"},
    {"mesh", "params", "1 2"},
    {"mesh", "texcoord", "0 0  1 0  0 1  0.5 1"},
    {"mesh", "vertex", "0 0 0  0.1 0 0  0 0.12 0  0 0 0.24"},
    {"mesh", "scale", "2 1 1"},
    {"hfield", "content_type", "image/png"},
    {"hfield", "elevation", "1 0 0 1 0 1 0 1 1"},
    {"hfield", "file", "!missing.png"},
    {"hfield", "size", "1 2 0.3 0.2"},
    {"hfield", "name", "?renamed"},
    {"hfield", "nrow", "?2"},
    {"hfield", "ncol", "?2"},
    {"texture", "builtin", "gradient"},
    {"texture", "colorspace", "sRGB"},
    {"texture", "embed", "true"},
    {"texture", "content_type", "image/png"},
    {"texture", "gridlayout", ".U..LFRB.D.."},
    {"texture", "gridsize", "3 4"},
    {"texture", "mark", "cross"},
    {"texture", "type", "cube"},
    {"texture", "width", "32"},
    {"texture", "height", "32"},
    {"texture", "random", "0.3"},
    {"texture", "nchannel", "4"},
    {"texture", "file", "!missing.png"},
    {"texture", "fileback", "missing.png"},
    {"material", "texture", "stripes"},
    {"material", "texrepeat", "2 3"},
    {"body", "childclass", "other"},
    {"body", "sleep", "never"},
    {"body", "fuse", "false"},
    {"body", "simple", "false"},
    {"inertial", "diaginertia", "0.02 0.02 0.03"},
    {"inertial", "fullinertia", "0.02 0.02 0.03 0.001 0.002 0.003"},
    {"joint", "axis", "0.3 1 0.2"},
    {"joint", "type", "slide"},
    {"joint", "springdamper", "0.3 0.5"},
    {"geom", "type", "ellipsoid"},
    {"geom", "axisangle", "?1 0 0 0.3"},
    {"geom", "euler", "?0.1 0.2 0.3"},
    {"geom", "quat", "?0.9 0.1 0.2 0.3"},
    {"geom", "zaxis", "?1 0 1"},
    {"geom", "fromto", "?0 0 0 0.1 0 0.3"},
    {"geom", "shellinertia", "?true"},
    {"geom", "mesh", "?penta"},
    {"geom", "mesh", "penta"},
    {"geom", "hfield", "?dales"},
    {"geom", "material", "plain"},
    {"geom", "fluidcoef", "0.1 0.2 0.3 0.4 0.5"},
    {"geom", "fluidshape", "ellipsoid"},
    {"geom", "friction", "0.6 0.01 0.001"},
    {"geom", "surfacevel", "1 0 0"},
    {"site", "type", "capsule"},
    {"site", "fromto", "?0 0 0 0.1 0 0.3"},
    {"site", "mesh", "penta"},
    {"site", "material", "plain"},
    {"camera", "mode", "track"},
    {"camera", "output", "depth"},
    {"camera", "projection", "orthographic"},
    {"camera", "resolution", "32 16"},
    {"camera", "sensorsize", "0.03 0.02"},
    {"camera", "focal", "0.03 0.02"},
    {"camera", "focalpixel", "20 30"},
    {"camera", "principal", "0.002 0.002"},
    {"camera", "principalpixel", "2 3"},
    {"camera", "target", "upper"},
    {"pair", "friction", "0.6 0.6 0.01 0.001 0.001"},
    {"pair", "geom1", "foot3"},
    {"pair", "geom2", "foot3"},
    {"exclude", "", "lower"},
    {"connect", "body1", "lower"},
    {"connect", "body2", "lower"},
    {"weld", "body1", "lower"},
    {"weld", "body2", "lower"},
    {"joint", "joint1", "arm"},
    {"joint", "joint2", "turn2"},
    {"joint", "coef", "0.5"},
    {"tendon", "tendon1", "belt"},
    {"tendon", "tendon2", "strap"},
    {"connect", "anchor", "0.1 0 0"},
    {"weld", "anchor", "0.1 0 0"},
    {"", "polycoef", "0.1 0.5 0.2 0 0"},
    {"spatial", "range", "0 0.2"},
    {"", "sidesite", "back"},
    {"geom", "geom", "drum"},
    {"pulley", "divisor", "3"},
    {"general", "dyntype", "integrator"},
    {"general", "gaintype", "fixed"},
    {"general", "gaintype", "affine"},
    {"general", "biastype", "affine"},
    {"general", "actrange", "?0.1 0.3"},
    {"general", "biastype", "none"},
    {"general", "dynprm", "0.3"},
    {"general", "gainprm", "3 2 1"},
    {"general", "biasprm", "3 -1 -1"},
    {"general", "inheritrange", "1"},
    {"position", "inheritrange", "1"},
    {"intvelocity", "inheritrange", "1"},
    {"cylinder", "bias", "1 -1 -1"},
    {"cylinder", "diameter", "0.5"},
    {"muscle", "range", "0.6 1.2"},
    {"muscle", "fvmax", "1.5"},
    {"muscle", "lmax", "1.8"},
    {"muscle", "timeconst", "0.02 0.08"},
    {"muscle", "tausmooth", "0.1"},
    {"", "lengthrange", "0.1 0.9"},
    {"", "ctrlrange", "0 0.5"},
    {"", "forcerange", "0.1 0.5"},
    {"", "actrange", "0.1 0.3"},
    {"", "gear", "2 0.1 0 0.3"},
    {"contact", "data", "found dist pos"},
    {"contact", "reduce", "mindist"},
    {"contact", "num", "3"},
    {"", "objtype", "body"},
    {"", "objname", "tip"},
    {"", "objname", "lower"},
    {"", "reftype", "site"},
    {"", "refname", "upper"},
    {"", "interval", "0.01\" nsample=\"3"},
    {"user", "datatype", "positive"},
    {"user", "dim", "3"},
    {"ballquat", "joint", "?turn"},
    {"ballangvel", "joint", "?turn"},
    {"intvelocity", "joint", "arm"},
    {"weld", "relpose", "0.3 0 0 0 1 0 0"},
    {"user", "needstage", "vel"},
    {"key", "qpos", "0 0 1 1 0 0 0 0 0 0 1 0 0 0 0 0 0"},
    {"key", "qvel", "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0"},
    {"key", "act", "0.1 0.2 0.3 0.1 0.2"},
    {"key", "ctrl", "1 1 1 1 1 1 1 1 1 1 1 1"},
    {"key", "mpos", "1 0 0"},
    {"key", "mquat", "0 1 0 0"},
    {"key", "time", "2"},
    // of several elements
    {"", "class", "other"},
    {"", "name", "?renamed"},
    {"", "pos", "0.01 0.02 0.03"},
    {"", "quat", "0.9 0.1 0.2 0.3"},
    {"", "axisangle", "1 0 0 0.3"},
    {"", "euler", "0.1 0.2 0.3"},
    {"", "xyaxes", "0 1 0 -1 0 0"},
    {"", "zaxis", "1 0 1"},
    {"", "fromto", "0 0 0 0.1 0 0.3"},
    {"", "size", "0.06 0.04 0.03"},
    {"", "rgba", "0.1 0.2 0.3 0.4"},
    {"", "rgb1", "0.4 0.5 0.6"},
    {"", "rgb2", "0.4 0.7 0.6"},
    {"", "markrgb", "0.4 0.5 0.9"},
    {"", "refpos", "0.1 0 0"},
    {"", "refquat", "0.9 0.1 0.2 0.3"},
    {"", "user", "1 2"},
    {"", "group", "2"},
    {"", "condim", "4"},
    {"", "conaffinity", "4"},
    {"", "contype", "4"},
    {"", "priority", "1"},
    {"", "solref", "0.05 0.8"},
    {"", "o_solref", "0.05 0.8"},
    {"", "solreffriction", "0.05 0.8"},
    {"", "solreflimit", "0.05 0.8"},
    {"", "solimp", "0.8 0.9 0.01 0.4 3"},
    {"", "o_solimp", "0.8 0.9 0.01 0.4 3"},
    {"", "solimpfriction", "0.8 0.9 0.01 0.4 3"},
    {"", "solimplimit", "0.8 0.9 0.01 0.4 3"},
    {"", "gap", "0.002"},
    {"", "margin", "0.02"},
    {"", "o_margin", "0.02"},
    {"", "range", "-0.2 0.002"},
    {"", "actuatorfrcrange", "-1 1"},
    {"", "springlength", "0.02"},
    {"", "limited", "?false"},
    {"", "actuatorfrclimited", "false"},
    {"", "ctrllimited", "false"},
    {"", "forcelimited", "false"},
    {"", "actlimited", "false"},
    {"", "active", "false"},
    {"", "joint", "turn"},
    {"", "joint", "knee"},
    {"", "jointinparent", "turn"},
    {"", "tendon", "strap"},
    {"", "site", "grip"},
    {"", "refsite", "grip"},
    {"", "slidersite", "tip"},
    {"", "cranksite", "back"},
    {"", "actuator", "servo"},
    {"", "camera", "pixel"},
    {"", "body", "upper"},
    {"", "body1", "right"},
    {"", "body2", "right"},
    {"", "geom1", "foot3"},
    {"", "geom2", "foot3"},
    {"", "subtree1", "upper"},
    {"", "subtree2", "upper"},
    {"", "site1", "grip"},
    {"", "site2", "grip2"},
    {"", "interp", "cubic"},
    {"", "interp", "cubic\" nsample=\"3\" delay=\"0.004"},
    {"", "nsample", "3"},
    {"", "delay", "0.004\" nsample=\"3"},
    {"", "cutoff", "0.01"},
    {"", "noise", "0.1"},
    {"", "actdim", "2"},
    {"", "input", "velocity"},
    {"", "align", "true"},
    {"", "alignfree", "true"},
    {"", "strippath", "true"},
    {"", "fusestatic", "true"},
    {"", "saveinertial", "true"},
    {"", "fitaabb", "true"},
    {"", "actearly", "true"},
    {"", "hflip", "true"},
    {"", "vflip", "true"},
    {"", "texuniform", "true"},
    {"", "mocap", "?true"},
    {"", "shellinertia", "true"},
    {"", "actuatorgravcomp", "true"},
    {"", "ref", "0.2"},
    {"", "springref", "0.2"},
    {"", "stiffness", "8"},
    {"", "damping", "2"},
    {"", "", "0.7"},
};

// The value of that index, counted from 0; NULL after the last.
static inline const char *key_value(const char *element, const char *attribute, uint32_t index) {
    const size_t length = strcspn(element, "*"), count = sizeof key_values / sizeof *key_values;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const KeyValue *row = &key_values[i];
        const bool is_general = row->attribute[0] == '\0';
        if ((row->element[0] == '\0' ||
             (strlen(row->element) == length && strncmp(row->element, element, length) == 0)) &&
            (is_general ? found == 0 : strcmp(row->attribute, attribute) == 0) && found++ == index)
            return row->value;
    }
    return NULL;
}

// What the file is changed to, so that an attribute has a meaning. "$" stands for the element.
typedef struct KeyEdit {
    const char *element, *attribute, *from, *to;
} KeyEdit;

static const KeyEdit key_edits[] = {
    {"compiler", "balanceinertia", "0.01 0.02 0.015", "0.01 0.02 0.05"},
    {"geom", "size", "size=\"0.02 0.02 0.02\"", ""},
    {"camera", "focal", "<camera/>",
     "<camera sensorsize=\"0.02 0.02\" resolution=\"8 8\" focal=\"0.02 0.02\"/>"},
    {"camera", "principal", "<camera/>",
     "<camera sensorsize=\"0.02 0.02\" resolution=\"8 8\" focal=\"0.02 0.02\"/>"},
    {"camera", "sensorsize", "<camera/>", "<camera resolution=\"8 8\" focal=\"0.02 0.02\"/>"},
    {"inertial", "fullinertia", "diaginertia=\"0.01 0.02 0.015\"", ""},
    {"connect", "site1", "body1=\"wrist\" body2=\"twin\" anchor=\"0 0 0\"",
     "site1=\"end\" site2=\"tip\""},
    {"connect", "site2", "body1=\"wrist\" body2=\"twin\" anchor=\"0 0 0\"",
     "site1=\"end\" site2=\"tip\""},
    {"weld", "site1", "name=\"glue\" body1=\"wrist\" body2=\"twin\"",
     "site1=\"end\" site2=\"tip\""},
    {"weld", "site2", "name=\"glue\" body1=\"wrist\" body2=\"twin\"",
     "site1=\"end\" site2=\"tip\""},
    {"position", "dampratio", "<$/>", "<$ kp=\"3\"/>"},
    {"intvelocity", "inheritrange", "joint=\"turn\" actrange=\"-1 1\"", "joint=\"knee\""},
    {"intvelocity", "actrange", "joint=\"turn\" actrange=\"-1 1\"", "joint=\"turn\""},
    {"damper", "ctrlrange", "kv=\"0.2\" ctrlrange=\"0 1\"", "kv=\"0.2\""},
    {"adhesion", "ctrlrange", "body=\"base\" ctrlrange=\"0 1\"", "body=\"base\""},
    {"general", "ctrllimited", "<$/>", "<$ ctrlrange=\"0 2\"/>"},
    {"", "ctrllimited", "<$/>", "<$ ctrlrange=\"-2 2\"/>"},
    {"", "forcelimited", "<$/>", "<$ forcerange=\"-0.2 0.2\"/>"},
    {"geom", "contype", "name=\"floor\" type=\"plane\"",
     "name=\"floor\" type=\"plane\" contype=\"0\""},
    {"geom", "conaffinity", "name=\"floor\" type=\"plane\"",
     "name=\"floor\" type=\"plane\" conaffinity=\"0\""},
    {"option", "o_friction", "<flag/>", "<flag override=\"enable\"/>"},
    {"option", "o_margin", "<flag/>", "<flag override=\"enable\"/>"},
    {"option", "o_solref", "<flag/>", "<flag override=\"enable\"/>"},
    {"option", "o_solimp", "<flag/>", "<flag override=\"enable\"/>"},
    {"option", "noslip_tolerance", "impratio=\"2\"", "impratio=\"2\" noslip_iterations=\"5\""},
    {"flag", "refsafe", "friction=\"0.2 0.2\"", "friction=\"0.2 0.2\" solref=\"0.001 1\""},
    {"joint", "actuatorgravcomp", "type=\"slide\"", "type=\"slide\" actuatorfrcrange=\"-0.1 0.1\""},
    {"general", "dynprm", "<$/>", "<$ dyntype=\"filter\"/>"},
    {"general", "body", "site=\"tip\" refsite=\"back\"", ""},
    {"general", "tendon", "site=\"tip\" refsite=\"back\"", ""},
    {"motor", "refsite", "joint=\"knee\"/", "site=\"tip\"/"},
    {"motor", "site", "joint=\"knee\"/", "/"},
    {"motor", "tendon", "joint=\"knee\"/", "/"},
    {"position", "refsite", "class=\"$\" joint=\"slider\"", "class=\"$\" site=\"tip\""},
    {"position", "site", "class=\"$\" joint=\"slider\"", "class=\"$\""},
    {"position", "tendon", "class=\"$\" joint=\"slider\"", "class=\"$\""},
    {"velocity", "refsite", "class=\"$\" joint=\"arm\"", "class=\"$\" site=\"tip\""},
    {"velocity", "site", "class=\"$\" joint=\"arm\"", "class=\"$\""},
    {"velocity", "tendon", "class=\"$\" joint=\"arm\"", "class=\"$\""},
    {"intvelocity", "refsite", "class=\"$\" joint=\"turn\"", "class=\"$\" site=\"tip\""},
    {"intvelocity", "site", "class=\"$\" joint=\"turn\"", "class=\"$\""},
    {"intvelocity", "tendon", "class=\"$\" joint=\"turn\"", "class=\"$\""},
    {"damper", "refsite", "class=\"$\" joint=\"turn2\"", "class=\"$\" site=\"tip\""},
    {"damper", "site", "class=\"$\" joint=\"turn2\"", "class=\"$\""},
    {"damper", "tendon", "class=\"$\" joint=\"turn2\"", "class=\"$\""},
    {"cylinder", "refsite", "class=\"$\" tendon=\"rope\"", "class=\"$\" site=\"tip\""},
    {"cylinder", "site", "class=\"$\" tendon=\"rope\"", "class=\"$\""},
    {"cylinder", "joint", "class=\"$\" tendon=\"rope\"", "class=\"$\""},
    {"cylinder", "jointinparent", "class=\"$\" tendon=\"rope\"", "class=\"$\""},
    {"muscle", "joint", "class=\"$\" tendon=\"rope\"", "class=\"$\""},
    {"muscle", "jointinparent", "class=\"$\" tendon=\"rope\"", "class=\"$\""},
    {"damper", "kv", "kv=\"0.2\"", ""},
    {"intvelocity", "jointinparent", "class=\"$\" joint=\"turn\"", "class=\"$\""},
};

static inline void put_pattern(char out[256], const char *pattern, const char *element) {
    size_t used = 0;
    for (; *pattern != '\0'; pattern++)
        used += (size_t)snprintf(out + used, 256 - used, *pattern == '$' ? "%s" : "%.1s",
                                 *pattern == '$' ? element : pattern);
    out[used] = '\0';
}

// The text in which the attribute has a meaning.
static inline void edit_text(char out[KEYS_TEXT], const char *text, const char *element,
                             const char *attribute) {
    char from[256], to[256], name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(element, "*"), element);
    snprintf(out, KEYS_TEXT, "%s", text);
    for (size_t i = 0; i < sizeof key_edits / sizeof *key_edits; i++) {
        const KeyEdit *edit = &key_edits[i];
        if ((edit->attribute[0] != '\0' && strcmp(edit->attribute, attribute) != 0) ||
            (edit->element[0] != '\0' && strcmp(edit->element, name) != 0))
            continue;
        put_pattern(from, edit->from, name);
        put_pattern(to, edit->to, name);
        const char *found = strstr(text, from);
        if (found != NULL)
            snprintf(out, KEYS_TEXT, "%.*s%s%s", (int)(found - text), text, to,
                     found + strlen(from));
        return;
    }
}

// ---- elements of a file ------------------------------------------------------------------------

typedef struct KeyNodes {
    const mf_XmlNode *list[KEYS_NODES];
    uint32_t count;
} KeyNodes;

// The elements at `path` below and with `node`: "mujoco/worldbody/body*/geom". What has a star may
// be inside itself, and need not be there at all.
static inline void find_nodes(const mf_XmlNode *node, const char *path, KeyNodes *out) {
    const size_t length = strcspn(path, "/"), name = strcspn(path, "*/");
    const bool nests = path[name] == '*';
    const char *rest = path[length] == '/' ? path + length + 1 : NULL;
    if (strlen(node->name) != name || strncmp(node->name, path, name) != 0)
        return;
    if (rest == NULL && out->count < KEYS_NODES)
        out->list[out->count++] = node;
    for (const mf_XmlNode *child = node->first; child; child = child->next) {
        const char *below = rest;
        if (below != NULL) {
            find_nodes(child, below, out);
            const size_t first = strcspn(below, "*/");
            if (below[first] == '*' && below[first + 1] == '/' &&
                strncmp(path, "worldbody", 9) == 0)
                find_nodes(child, below + first + 2, out); // of the world itself
        }
        if (nests)
            find_nodes(child, path, out);
    }
}

// Where the element begins in the text.
static inline const char *node_begin(const char *text, const mf_XmlNode *node) {
    for (int32_t line = 1; line < node->line; line++)
        text = strchr(text, '\n') + 1;
    return text + node->column - 1;
}

// The text with the attribute of that element set; any value it has is replaced.
static inline void set_attribute(char out[KEYS_TEXT], const char *text, const mf_XmlNode *node,
                                 const char *attribute, const char *value) {
    char mark[128];
    const char *begin = node_begin(text, node);
    const char *name_end = begin + 1 + strlen(node->name), *end = strchr(begin, '>');
    snprintf(mark, sizeof mark, "%s=\"", attribute);
    const char *old = name_end, *old_end;
    do {
        old = strstr(old + 1, mark);
    } while (old != NULL && old < end && old[-1] != ' ' && old[-1] != '\n');
    if (old == NULL || old >= end)
        old = old_end = name_end;
    else
        old_end = strchr(old + strlen(mark), '"') + 1;
    snprintf(out, KEYS_TEXT, "%.*s %s%s\"%.*s%s", (int)(name_end - text), text, mark, value,
             (int)(old - name_end), name_end, old_end);
}

// The text with one more element, first of those in `parent`: `path` has its name, and those of
// elements in it.
static inline void add_element(char out[KEYS_TEXT], const char *text, const mf_XmlNode *parent,
                               const char *path) {
    char made[512] = "", name[64];
    const char *end = strchr(node_begin(text, parent), '>');
    const bool closed = end[-1] == '/';
    snprintf(made, sizeof made, "<%.*s", (int)strcspn(path, "*/"), path);
    const char *rest = strchr(path, '/');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(path, "*/"), path);
    if (rest == NULL)
        strcat(made, "/>");
    else
        snprintf(made + strlen(made), sizeof made - strlen(made), "><%.*s/></%s>",
                 (int)strcspn(rest + 1, "*/"), rest + 1, name);
    snprintf(out, KEYS_TEXT, "%.*s>%s%s%s%s%s", (int)(end - text) - closed, text, made,
             closed ? "</" : "", closed ? parent->name : "", closed ? ">" : "", end + 1);
}

// ---- models ------------------------------------------------------------------------------------

static inline uint64_t digest_item(uint64_t hash, mf_ItemType item, const void *value) {
    const mf_ItemTable *table = mf_item_table(item);
    for (uint32_t i = 0; i < table->count; i++) {
        const mf_ModelField *field = &table->fields[i];
        const char *at = (const char *)value + field->offset;
        if (field->type == MF_VALUE_TEXT) {
            const char *text = *(const char *const *)(const void *)at;
            hash = mf_hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
        } else if (field->type == MF_VALUE_ITEM) {
            for (uint32_t k = 0; k < field->count; k++)
                hash = digest_item(hash, field->item, at + k * (field->size / field->count));
        } else if (field->type < MF_VALUE_LIST) {
            hash = mf_hash_bytes(hash, at, field->size);
        }
    }
    return hash;
}

// Of everything in a model but its notes.
static inline uint64_t digest_model(const mf_Model *model) {
    uint64_t hash = mf_model_hash(model);
    for (int item = 0; item < MF_ITEM_NOTE; item++) {
        uint32_t count;
        const char *values = mf_model_items(model, (mf_ItemType)item, &count);
        for (uint32_t i = 0; i < count; i++)
            hash = digest_item(hash, (mf_ItemType)item,
                               values + i * mf_item_table((mf_ItemType)item)->size);
    }
    for (uint32_t k = 0; k < model->keyframe_count; k++) {
        const mf_Keyframe *key = &model->keyframes[k];
        hash = mf_hash_doubles(hash, key->position, model->position_count);
        hash = mf_hash_doubles(hash, key->velocity, model->velocity_count);
        hash = mf_hash_doubles(hash, key->activation, model->activation_count);
        hash = mf_hash_doubles(hash, key->control, model->actuator_count);
    }
    if (model->root != NULL)
        hash = digest_item(hash, MF_ITEM_JOINT, model->root);
    return digest_item(hash, MF_ITEM_PHYSICS, &model->physics);
}

static inline bool has_note(const mf_Model *model, const char *text) {
    for (uint32_t i = 0; i < model->note_count; i++)
        if (strcmp(model->notes[i].text, text) == 0)
            return true;
    return false;
}

// Whether a model has a note with that word which another one lacks.
static inline bool notes_more(const mf_Model *model, const mf_Model *other, const char *name) {
    for (uint32_t i = 0; i < model->note_count; i++)
        if (!has_note(other, model->notes[i].text) && strstr(model->notes[i].text, name) != NULL)
            return true;
    return false;
}

static inline mf_Model *parse_keys(mf_Context *context, const char *text, bool lenient,
                                   mf_Status *status, mf_Error *error) {
    mf_Model *model = NULL;
    mf_ImportConfig config = WITH(mf_import_config(), .lenient = lenient);
    *error = (mf_Error){0};
    *status = mf_mjcf_parse(context, "keys.xml", text, strlen(text), &config, true, &model, error);
    return model;
}
