// No attribute and no element of MJCF is ignored without a word: each of MuJoCo's schema, in a
// robot where it has a meaning, changes the model, raises a note that names it, or is refused by
// name. What is silent is listed below with its reason.
#include "model/support.h"

#include "import/mjcf_keys.h"

GROUP_FIXTURE(make_context, drop_context);

enum { PATH = 256 };

// Why an attribute, or with "" an element, may be silent.
#define LOOKS "looks"            // only in pictures of MuJoCo's renderer
#define TEXTS "data of the user" // that no simulation reads
#define FILES "files"            // how they are found, read or written
#define SPEED "speed"            // how MuJoCo computes, not what
#define BESIDE "nothing without another attribute, which is refused or noted"

typedef struct Silent {
    const char *element, *attribute, *why; // element "": any
} Silent;

static const Silent silent[] = {
    {"", "user", TEXTS},
    {"mujoco", "model", TEXTS},
    {"", "group", LOOKS},
    {"", "rgba", LOOKS},
    {"", "material", LOOKS},
    {"", "width", LOOKS},
    {"", "castshadow", LOOKS},
    {"", "ipd", LOOKS},
    {"light", "", LOOKS},
    {"mesh", "normal", LOOKS},
    {"mesh", "smoothnormal", LOOKS},
    {"mesh", "params", BESIDE},
    {"", "content_type", FILES},
    {"texture", "colorspace", LOOKS},
    {"texture", "nchannel", LOOKS},
    {"texture", "embed", FILES},
    {"compiler", "assetdir", FILES},
    {"compiler", "meshdir", FILES},
    {"compiler", "texturedir", FILES},
    {"compiler", "conflict", FILES},
    {"compiler", "saveinertial", FILES},
    {"compiler", "savecanonical", FILES},
    {"compiler", "savecompiled", FILES},
    {"compiler", "passthrough", FILES},
    {"compiler", "fusestatic", SPEED},
    {"compiler", "usethread", SPEED},
    {"body", "fuse", SPEED},
    {"body", "simple", SPEED},
    {"option", "jacobian", SPEED},
    {"flag", "energy", SPEED},
    {"flag", "fwdinv", SPEED},
    {"flag", "invdiscrete", SPEED},
    {"flag", "island", SPEED},
    {"flag", "midphase", SPEED},
    {"flag", "warmstart", SPEED},
    {"flag", "autoreset", "robots are never reset, and raise a fault"},
    {"camera", "target", BESIDE},
    {"extension", "", BESIDE},
    {"extension/plugin", "", BESIDE},
    {"", "actdim", "follows from the type"},
    {"general", "input", "names what the control is; laws of several inputs are refused"},
    {"", "nsample", BESIDE},
    {"", "interp", BESIDE},
    {"", "lengthrange", "of muscles only"},
    {"user", "datatype", TEXTS},
    {"user", "needstage", TEXTS},
    {"user", "objtype", TEXTS},
    {"user", "objname", TEXTS},
    {"deformable", "", BESIDE},
};

typedef struct Sum {
    uint32_t changed, noted, refused, silent, wrong;
} Sum;

typedef enum Outcome { ILLEGAL, IGNORED, REFUSED, NOTED, CHANGED } Outcome;
static const char *const outcomes[] = {"illegal", "ignored", "refused", "noted", "changed"};

static const char *why_silent(const char *element, const char *attribute) {
    const size_t length = strcspn(element, "*");
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        const Silent *row = &silent[i];
        if ((row->element[0] == '\0' ||
             (strlen(row->element) == length && strncmp(row->element, element, length) == 0)) &&
            strcmp(row->attribute, attribute) == 0)
            return row->why;
    }
    return NULL;
}

typedef struct Keys {
    mf_Context *context;
    char *text;    // of the file
    char *edited;  // where an attribute has a meaning
    char *changed; // with it
    mf_Error error;
} Keys;

static void open_keys(Keys *keys, mf_Context *context) {
    *keys = (Keys){.context = context};
    keys->text = calloc(1, KEYS_TEXT);
    keys->edited = malloc(KEYS_TEXT);
    keys->changed = malloc(KEYS_TEXT);
    FILE *file = fopen(MAYFLY_SOURCE_DIR "/tests/import/mjcf_keys.xml", "r");
    assert_non_null(file);
    assert_true(fread(keys->text, 1, KEYS_TEXT / 2, file) > 0);
    fclose(file);
    mf_Status status;
    mf_model_destroy(parse_keys(context, keys->text, false, &status, &keys->error));
    if (status != MF_OK)
        fail_msg("%s", keys->error.message);
}

static void close_keys(Keys *keys) {
    free(keys->text);
    free(keys->edited);
    free(keys->changed);
}

static void parse_nodes(Keys *keys, const char *text, const char *path, mf_Xml *xml,
                        KeyNodes *out) {
    MUST(mf_xml_parse(keys->context, "keys.xml", text, strlen(text), xml, &error));
    out->count = 0;
    find_nodes(xml->root, path, out);
}

// What becomes of the changed text beside that of `model` (NULL: an error); a refusal or a note
// must have the word.
static Outcome try_changed(Keys *keys, const mf_Model *model, const char *name, bool lenient) {
    mf_Status status;
    AUTO_MODEL *other = parse_keys(keys->context, keys->changed, lenient, &status, &keys->error);
    if (status != MF_OK)
        return status == MF_UNSUPPORTED && strstr(keys->error.message, name) ? REFUSED : ILLEGAL;
    const Outcome outcome = model == NULL                                ? CHANGED
                            : notes_more(other, model, name)             ? NOTED
                            : digest_model(other) != digest_model(model) ? CHANGED
                                                                         : IGNORED;
    return outcome;
}

// With the edited text, whose model is `model`.
static Outcome try_value(Keys *keys, const mf_Model *model, const mf_XmlNode *node,
                         const char *attribute, const char *value) {
    const char mark = value[0];
    const bool may_fail = mark == '?' || mark == '!';
    set_attribute(keys->changed, keys->edited, node, attribute, value + may_fail);
    Outcome outcome = try_changed(keys, model, attribute, false);
    if (outcome == ILLEGAL &&
        (mark == '?' || (mark == '!' && strstr(keys->error.message, attribute))))
        return REFUSED;
    if (outcome != REFUSED || mark == '?')
        return outcome;
    outcome = try_changed(keys, model, attribute, true);
    return outcome == CHANGED || outcome == IGNORED ? IGNORED : REFUSED; // dropped without a word
}

// The best outcome of all values at any of the elements.
static Outcome try_attribute(Keys *keys, const char *path, const char *attribute) {
    const char *element = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    Outcome best = ILLEGAL;
    char illegal[200] = "";
    KeyNodes nodes;
    AUTO(mf_xml_release) mf_Xml xml;
    mf_Status status;
    edit_text(keys->edited, keys->text, element, attribute);
    parse_nodes(keys, keys->edited, path, &xml, &nodes);
    AUTO_MODEL *model = parse_keys(keys->context, keys->edited, false, &status, &keys->error);
    for (uint32_t i = 0; i < nodes.count && best < NOTED; i++) {
        const char *value;
        for (uint32_t k = 0; (value = key_value(element, attribute, k)) != NULL && best < NOTED;
             k++) {
            const Outcome outcome = try_value(keys, model, nodes.list[i], attribute, value);
            if (outcome == ILLEGAL)
                snprintf(illegal, sizeof illegal, "%.190s", keys->error.message);
            best = outcome > best ? outcome : best;
        }
    }
    snprintf(keys->error.message, sizeof keys->error.message, "%s", illegal);
    return best;
}

static void count_attribute(Keys *keys, const char *path, const char *attribute, Sum *sum) {
    const char *element = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *why = why_silent(element, attribute);
    const Outcome outcome = try_attribute(keys, path, attribute);
    if (getenv("MAYFLY_KEYS") != NULL)
        print_message("%s %s: %s\n", path, attribute, outcomes[outcome]);
    sum->changed += outcome == CHANGED;
    sum->noted += outcome == NOTED;
    sum->refused += outcome == REFUSED;
    sum->silent += outcome == IGNORED && why != NULL;
    if (outcome > IGNORED || (outcome == IGNORED && why != NULL))
        return;
    sum->wrong++;
    print_message("%s %s=\"%s\": %s\n", path, attribute, key_value(element, attribute, 0),
                  outcome == ILLEGAL ? keys->error.message : "ignored without a word");
}

// An element that the file has not must be refused or noted in the innermost parent that is there.
static void count_element(Keys *keys, const char *path, Sum *sum) {
    char parent[PATH], name[PATH], outer[PATH];
    KeyNodes nodes = {.count = 0};
    mf_Xml xml = {.root = NULL};
    mf_Status status;
    snprintf(parent, sizeof parent, "%.255s", path);
    while (nodes.count == 0) {
        char *slash = strrchr(parent, '/');
        assert_non_null(slash);
        *slash = '\0';
        mf_xml_release(&xml);
        parse_nodes(keys, keys->text, parent, &xml, &nodes);
    }
    const char *first = path + strlen(parent) + 1, *last = strrchr(path, '/') + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(last, "*/"), last);
    if (strchr(first, '/') != NULL && strchr(strchr(first, '/') + 1, '/') != NULL) {
        mf_xml_release(&xml);
        return; // its parent is refused or noted
    }
    add_element(keys->changed, keys->text, nodes.list[0], first);
    snprintf(outer, sizeof outer, "%.*s", (int)strcspn(first, "*/"), first);
    mf_Model *model = parse_keys(keys->context, keys->text, false, &status, &keys->error);
    Outcome outcome = try_changed(keys, model, name, false);
    if (outcome < REFUSED && strcmp(outer, name) != 0)
        outcome = try_changed(keys, model, outer, false);
    if (outcome == ILLEGAL && strstr(keys->error.message, name) != NULL)
        outcome = REFUSED;
    sum->noted += outcome == NOTED;
    sum->refused += outcome == REFUSED;
    const char *why = why_silent(first, "");
    sum->silent += outcome == IGNORED && why != NULL;
    if (outcome == ILLEGAL || outcome == CHANGED || (outcome == IGNORED && why == NULL)) {
        sum->wrong++;
        print_message("%s: %s\n", path,
                      outcome == ILLEGAL   ? keys->error.message
                      : outcome == CHANGED ? "read, but not in mjcf_keys.xml"
                                           : "ignored without a word");
    }
    mf_model_destroy(model);
    mf_xml_release(&xml);
}

static void count_line(Keys *keys, char *line, Sum *sum) {
    KeyNodes nodes;
    mf_Xml xml;
    char *attributes = strchr(line, ':');
    assert_non_null(attributes);
    *attributes++ = '\0';
    parse_nodes(keys, keys->text, line, &xml, &nodes);
    mf_xml_release(&xml);
    if (nodes.count == 0)
        count_element(keys, line, sum);
    for (char *name = strtok(attributes, " \n"); name && nodes.count > 0;
         name = strtok(NULL, " \n"))
        count_attribute(keys, line, name, sum);
}

TEST(test_schema) {
    Keys keys;
    Sum sum = {0};
    char line[4096];
    open_keys(&keys, *state);
    FILE *file = fopen(MAYFLY_SOURCE_DIR "/tests/import/mjcf_schema.txt", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (line[0] != '#')
            count_line(&keys, line, &sum);
    fclose(file);
    print_message("%u attributes change the model, %u are noted, %u refused, %u silent by reason, "
                  "%u wrong\n",
                  sum.changed, sum.noted, sum.refused, sum.silent, sum.wrong);
    close_keys(&keys);
    assert_true(sum.changed > 500);
    assert_int_equal(sum.wrong, 0);
}
