// No attribute and no element of MJCF is ignored without a word: each of MuJoCo's schema, in a robot
// where it has a meaning, changes the model, raises a note that names it, or is refused by name. What
// is silent is listed below with its reason.
#include "model/support.h"

#include "model/mjcf_keys.h"

enum { NAME = 128 };

// Why an attribute may be silent.
#define LOOKS "only pictures by MuJoCo's own renderer"
#define TEXTS "a text for people and programs, in no model"
#define FILES "how MuJoCo loads, stores or checks the file, not what is in it"
#define TWICE "another attribute says the same, in every file that is legal"
#define SPEED "how fast MuJoCo computes, not what"

typedef struct Silent {
    const char *element, *attribute, *why; // "": any
} Silent;

static const Silent silent[] = {
    {"", "user", TEXTS},
};

typedef struct Sum {
    uint32_t changed, noted, refused, silent, wrong;
} Sum;

typedef enum Outcome { IGNORED, ILLEGAL, REFUSED, NOTED, CHANGED } Outcome;

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
    char *text;      // of the file
    char *changed;   // of a variant
    mf_Xml xml;      // of the file
    mf_Model *model; // of the file
    uint64_t digest;
    mf_Error error;
} Keys;

static void open_keys(Keys *keys, mf_Context *context) {
    mf_Status status;
    size_t size = 0;
    *keys = (Keys){.context = context};
    keys->text = calloc(1, KEYS_TEXT);
    keys->changed = malloc(KEYS_TEXT);
    FILE *file = fopen(MAYFLY_SOURCE_DIR "/tests/model/mjcf_keys.xml", "r");
    assert_non_null(file);
    size = fread(keys->text, 1, KEYS_TEXT / 2, file);
    fclose(file);
    if (mf_xml_parse(context, "keys.xml", keys->text, size, &keys->xml, &keys->error) != MF_OK)
        fail_msg("%s", keys->error.message);
    keys->model = parse_keys(context, keys->text, false, &status, &keys->error);
    if (status != MF_OK)
        fail_msg("%s", keys->error.message);
    keys->digest = digest_model(keys->model);
}

static void close_keys(Keys *keys) {
    mf_model_destroy(keys->model);
    mf_xml_release(&keys->xml);
    free(keys->text);
    free(keys->changed);
}

// What becomes of the changed text; a refusal or a note must have the word.
static Outcome try_changed(Keys *keys, const char *word, bool lenient) {
    mf_Status status;
    mf_Model *model = parse_keys(keys->context, keys->changed, lenient, &status, &keys->error);
    if (status != MF_OK)
        return status == MF_UNSUPPORTED && strstr(keys->error.message, word) ? REFUSED : ILLEGAL;
    const Outcome outcome = notes_more(model, keys->model, word)         ? NOTED
                            : digest_model(model) != keys->digest ? CHANGED
                                                                         : IGNORED;
    mf_model_destroy(model);
    return outcome;
}

// The best outcome at any of the elements.
static Outcome try_attribute(Keys *keys, const KeyNodes *nodes, const char *attribute) {
    Outcome best = IGNORED;
    char illegal[200] = "";
    for (uint32_t i = 0; i < nodes->count && best < NOTED; i++) {
        const char *value = key_value(nodes->list[i]->name, attribute);
        set_attribute(keys->changed, keys->text, nodes->list[i], attribute, value);
        Outcome outcome = try_changed(keys, attribute, false);
        if (outcome == REFUSED && try_changed(keys, attribute, true) != NOTED)
            outcome = IGNORED; // dropped without a word
        if (outcome == ILLEGAL)
            snprintf(illegal, sizeof illegal, "%.190s", keys->error.message);
        best = outcome > best ? outcome : best;
    }
    if (best == ILLEGAL)
        snprintf(keys->error.message, sizeof keys->error.message, "%s", illegal);
    return best;
}

static void count_attribute(Keys *keys, const char *path, const KeyNodes *nodes,
                            const char *attribute, Sum *sum) {
    const char *element = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *why = why_silent(element, attribute);
    const Outcome outcome = try_attribute(keys, nodes, attribute);
    sum->changed += outcome == CHANGED;
    sum->noted += outcome == NOTED;
    sum->refused += outcome == REFUSED;
    sum->silent += outcome == IGNORED && why != NULL;
    if (outcome == ILLEGAL || (outcome == IGNORED && why == NULL)) {
        sum->wrong++;
        print_message("%s %s=\"%s\": %s\n", path, attribute, key_value(element, attribute),
                      outcome == ILLEGAL ? keys->error.message : "ignored without a word");
    } else if (outcome > IGNORED && why != NULL && getenv("MAYFLY_KEYS"))
        print_message("%s %s: listed as silent (%s), and it is not\n", path, attribute, why);
}

// An element that the file has not: it must be refused or noted, in every parent that is there.
static void count_element(Keys *keys, const char *path, Sum *sum) {
    char parent[NAME * 2], name[NAME];
    KeyNodes nodes = {.count = 0};
    const char *slash = strrchr(path, '/');
    assert_non_null(slash);
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash + 1, "*"), slash + 1);
    find_nodes(keys->xml.root, parent, &nodes);
    if (nodes.count == 0)
        return; // the parent is refused or noted itself
    add_element(keys->changed, keys->text, nodes.list[0], name);
    Outcome outcome = try_changed(keys, name, false);
    if (outcome == REFUSED && try_changed(keys, name, true) != NOTED)
        outcome = IGNORED;
    sum->noted += outcome == NOTED;
    sum->refused += outcome == REFUSED;
    if (outcome == REFUSED || outcome == NOTED)
        return;
    sum->wrong++;
    print_message("%s: %s\n", path,
                  outcome == ILLEGAL   ? keys->error.message
                  : outcome == CHANGED ? "read, but not in mjcf_keys.xml"
                                       : "ignored without a word");
}

static void count_line(Keys *keys, char *line, Sum *sum) {
    KeyNodes nodes = {.count = 0};
    char *attributes = strchr(line, ':');
    assert_non_null(attributes);
    *attributes++ = '\0';
    find_nodes(keys->xml.root, line, &nodes);
    if (nodes.count == 0)
        count_element(keys, line, sum);
    for (char *name = strtok(attributes, " \n"); name && nodes.count > 0; name = strtok(NULL, " \n"))
        count_attribute(keys, line, &nodes, name, sum);
}

static void test_schema(void **state) {
    Keys keys;
    Sum sum = {0};
    char line[4096];
    open_keys(&keys, *state);
    FILE *file = fopen(MAYFLY_SOURCE_DIR "/tests/model/mjcf_schema.txt", "r");
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schema)};
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
