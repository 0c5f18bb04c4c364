// A table of keys as a JSON Schema (draft 2020-12), for editors that complete and check YAML files.
// Conditions that a schema cannot express (files that must exist, relations between keys) are
// checked on reading.
#include "base/text.h"
#include "io/decimal.h"
#include "io/keys.h"

#include <stdio.h>
#include <string.h>

// State of the writer.
typedef struct Schema {
    mf_Text text;
    uint32_t indent; // [1] steps of two blanks
} Schema;

static void line(Schema *schema) {
    mf_text_put(&schema->text, "\n");
    for (uint32_t i = 0; i < schema->indent; i++)
        mf_text_put(&schema->text, "  ");
}

static void put_string(Schema *schema, const char *string) {
    mf_text_put(&schema->text, "\"");
    for (; *string != '\0'; string++) {
        if (*string == '"' || *string == '\\')
            mf_text_put(&schema->text, "\\");
        mf_text_put_bytes(&schema->text, string, 1);
    }
    mf_text_put(&schema->text, "\"");
}

// ---- values ------------------------------------------------------------------------------------

static void put_names(Schema *schema, const mf_Key *key) {
    const char *comma = "";
    mf_text_put(&schema->text, "\"enum\": [");
    for (const char *const *choice = key->choices; *choice != NULL; choice++) {
        mf_text_put(&schema->text, comma);
        put_string(schema, *choice);
        comma = ", ";
    }
    mf_text_put(&schema->text, "]");
}

static void put_number(Schema *schema, const mf_Key *key, const char *type) {
    char lower[MF_DECIMAL_TEXT], upper[MF_DECIMAL_TEXT];
    mf_text_format(&schema->text, "\"type\": \"%s\", \"%s\": %s, \"maximum\": %s", type,
                   key->flags & MF_KEY_ABOVE ? "exclusiveMinimum" : "minimum",
                   mf_decimal_write(key->lower, lower), mf_decimal_write(key->upper, upper));
}

static void put_numbers(Schema *schema, const mf_Key *key, bool exact) {
    mf_text_put(&schema->text, "\"type\": \"array\", \"items\": {");
    put_number(schema, key, "number");
    mf_text_put(&schema->text, "}");
    if (exact)
        mf_text_format(&schema->text, ", \"minItems\": %u", key->length);
    mf_text_format(&schema->text, ", \"maxItems\": %u", key->length);
}

// A number, a list of numbers, or a name instead.
static void put_either(Schema *schema, const mf_Key *key) {
    const bool infinite = (key->flags & MF_KEY_INFINITE) != 0;
    const bool other = infinite || (key->flags & MF_KEY_AUTO);
    if (other)
        mf_text_put(&schema->text, "\"anyOf\": [{");
    if (key->kind == MF_KEY_VECTOR)
        put_numbers(schema, key, true);
    else
        put_number(schema, key, "number");
    if (infinite) // YAML's .inf, which JSON lacks
        mf_text_put(&schema->text, "}, {\"type\": \"number\", \"exclusiveMinimum\": 0}]");
    else if (other)
        mf_text_put(&schema->text, "}, {\"const\": \"auto\"}]");
}

static void put_table(Schema *schema, const mf_KeyTable *table, const char *group);

static void put_items(Schema *schema, const mf_Key *key) {
    mf_text_put(&schema->text, "\"type\": \"array\", \"minItems\": 1, \"items\": {");
    put_table(schema, key->items, "");
    mf_text_put(&schema->text, "}");
}

static void put_value(Schema *schema, const mf_Key *key) {
    const mf_KeyForm *form = &mf_key_forms[key->kind];
    if (form->schema != NULL) {
        mf_text_put(&schema->text, form->schema);
    } else if (key->kind == MF_KEY_COUNT) {
        put_number(schema, key, "integer");
    } else if (form->number != NULL || key->kind == MF_KEY_VECTOR) {
        put_either(schema, key);
    } else if (key->kind == MF_KEY_NUMBERS) {
        put_numbers(schema, key, false);
    } else if (key->kind == MF_KEY_POINTS) {
        mf_text_put(&schema->text, "\"type\": \"array\", \"items\": {");
        put_numbers(schema, key, true);
        mf_text_put(&schema->text, "}");
    } else if (key->kind == MF_KEY_LIST) {
        put_items(schema, key);
    } else {
        put_names(schema, key);
    }
}

// ---- groups of keys ----------------------------------------------------------------------------

static bool is_in(const mf_Key *key, const char *group) {
    const size_t length = strlen(group);
    return mf_key_group_length(key->path) == length && strncmp(key->path, group, length) == 0;
}

static void put_description(Schema *schema, const mf_Key *key) {
    const bool unit = key->unit[0] != '\0' && strcmp(key->unit, "1") != 0;
    char text[900];
    snprintf(text, sizeof text, "%s%s%s%s", key->description, unit ? " [" : "",
             unit ? key->unit : "", unit ? "]" : "");
    mf_text_put(&schema->text, "\"description\": ");
    put_string(schema, text);
}

// A group, a variant (the name of a sub-group, or one of them), or a value.
static void put_key(Schema *schema, const mf_KeyTable *table, const mf_Key *key) {
    put_string(schema, mf_key_last_name(key->path));
    mf_text_put(&schema->text, ": {");
    put_description(schema, key);
    mf_text_put(&schema->text, ", ");
    if (key->kind == MF_KEY_VARIANT) {
        mf_text_put(&schema->text, "\"anyOf\": [{");
        put_names(schema, key);
        mf_text_put(&schema->text, "}, {\"maxProperties\": 1, ");
        put_table(schema, table, key->path);
        mf_text_put(&schema->text, "}]");
    } else if (mf_key_is_group(key)) {
        put_table(schema, table, key->path);
    } else {
        put_value(schema, key);
    }
    mf_text_put(&schema->text, "}");
}

static void put_required(Schema *schema, const mf_KeyTable *table, const char *group) {
    const char *comma = "";
    for (uint32_t i = 0; i < mf_keys_count(table); i++) {
        const mf_Key *key = mf_keys_at(table, i);
        if (!(key->flags & MF_KEY_REQUIRED) || !is_in(key, group))
            continue;
        if (comma[0] == '\0')
            mf_text_put(&schema->text, ", \"required\": [");
        mf_text_put(&schema->text, comma);
        put_string(schema, mf_key_last_name(key->path));
        comma = ", ";
    }
    mf_text_put(&schema->text, comma[0] == '\0' ? "" : "]");
}

static void put_table(Schema *schema, const mf_KeyTable *table, const char *group) {
    bool first = true;
    // A group may be empty, which YAML reads as null.
    mf_text_put(&schema->text,
                group[0] == '\0' ? "\"type\": \"object\"" : "\"type\": [\"object\", \"null\"]");
    mf_text_put(&schema->text, ", \"additionalProperties\": false, \"properties\": {");
    schema->indent++;
    for (uint32_t i = 0; i < mf_keys_count(table); i++) {
        if (!is_in(mf_keys_at(table, i), group))
            continue;
        mf_text_put(&schema->text, first ? "" : ",");
        line(schema);
        put_key(schema, table, mf_keys_at(table, i));
        first = false;
    }
    schema->indent--;
    line(schema);
    mf_text_put(&schema->text, "}");
    put_required(schema, table, group);
}

mf_Status mf_keys_schema(mf_Context *context, const mf_KeyTable *table, char **text,
                         mf_Error *error) {
    Schema schema = {.text = mf_text_begin(context), .indent = 1};
    *text = NULL;
    mf_text_put(&schema.text,
                "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                "  \"title\": ");
    put_string(&schema, table->noun);
    mf_text_put(&schema.text, ",\n  ");
    put_table(&schema, table, "");
    mf_text_put(&schema.text, "\n}\n");
    return mf_text_end(&schema.text, MF_OK, table->noun, text, error);
}
