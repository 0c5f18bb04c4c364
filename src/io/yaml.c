// The node tree of a YAML document, built from libyaml's events. libyaml (YAML 1.1) reports the
// position of every event; the tree stores it. Invariants: at most MF_YAML_DEPTH levels and
// MF_YAML_NODES nodes, MF_YAML_ENTRIES keys in a mapping, no key twice in a mapping, all memory in
// blocks that are freed together. libyaml has no allocator hook, so its working memory (a few
// buffers, freed after parsing) comes from malloc.
#include "io/yaml.h"
#include "base/inject.h"

#include "base/plain.h"
#include "io/yaml_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef struct Builder {
    yaml_parser_t parser;
    mf_YamlTree *tree;
    mf_YamlNode *stack[MF_YAML_DEPTH];
    uint32_t depth;  // [1] open mappings and lists
    const char *key; // read, the value is pending
    yaml_mark_t key_mark;
    mf_Error *error;
} Builder;

void mf_yaml_free(mf_YamlTree *tree) {
    mf_arena_release(&tree->arena);
    *tree = (mf_YamlTree){0};
}

mf_Status mf_yaml_fail(const mf_YamlTree *tree, const mf_YamlNode *node, bool at_key,
                       mf_Status status, mf_Error *error, const char *format, ...) {
    char message[sizeof((mf_Error *)NULL)->message];
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(message, sizeof message, format, arguments);
    va_end(arguments);
    if (node->override != NULL)
        return mf_fail(error, status, "override %.100s: %s", node->override, message);
    return mf_fail_at(error, status, tree->file, at_key ? node->key_line : node->line,
                      at_key ? node->key_column : node->column, "%s", message);
}

// ---- reading nodes -----------------------------------------------------------------------------

mf_YamlNode *mf_yaml_find(const mf_YamlNode *mapping, const char *key, size_t key_length) {
    if (mapping == NULL || mapping->kind != MF_YAML_MAPPING)
        return NULL;
    for (mf_YamlNode *entry = mapping->first; entry != NULL; entry = entry->next) {
        if (strncmp(entry->key, key, key_length) == 0 && entry->key[key_length] == '\0')
            return entry;
    }
    return NULL;
}

bool mf_yaml_is_null(const mf_YamlNode *node) {
    return node->kind == MF_YAML_SCALAR && !node->quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
            strcmp(node->text, "null") == 0);
}

const char *mf_yaml_describe(const mf_YamlNode *node, char *out, size_t size) {
    enum { SHOWN = 40 };
    if (node->kind != MF_YAML_SCALAR) {
        snprintf(out, size, "%s",
                 node->kind == MF_YAML_MAPPING ? "a group of keys"
                 : node->first == NULL         ? "an empty list"
                                               : "a list");
        return out;
    }
    if (mf_yaml_is_null(node)) {
        snprintf(out, size, "nothing");
        return out;
    }
    size_t length = strlen(node->text), shown = length;
    if (length > SHOWN) {
        shown = SHOWN - 3;
        while (shown > 0 && ((unsigned char)node->text[shown] & 0xc0) == 0x80)
            shown--;
    }
    const char *quote = node->quoted ? "\"" : "";
    snprintf(out, size, "%s%.*s%s%s", quote, (int)shown, node->text, length > shown ? "..." : "",
             quote);
    return out;
}

// ---- changing the tree -------------------------------------------------------------------------

static void append(mf_YamlNode *parent, mf_YamlNode *node) {
    if (parent->last == NULL)
        parent->first = node;
    else
        parent->last->next = node;
    parent->last = node;
}

mf_YamlNode *mf_yaml_add(mf_YamlTree *tree, mf_YamlNode *mapping, const char *key,
                         size_t key_length, const char *override) {
    mf_YamlNode *node = mf_arena_take(&tree->arena, sizeof *node);
    char *name = node == NULL ? NULL : mf_arena_text(&tree->arena, key, key_length);
    if (name == NULL)
        return NULL;
    *node = (mf_YamlNode){.kind = MF_YAML_SCALAR, .key = name, .text = "", .override = override};
    append(mapping, node);
    return node;
}

void mf_yaml_remove(mf_YamlNode *mapping, mf_YamlNode *entry) {
    mf_YamlNode *before = NULL;
    for (mf_YamlNode *each = mapping->first; each != entry; each = each->next)
        before = each;
    if (before == NULL)
        mapping->first = entry->next;
    else
        before->next = entry->next;
    if (mapping->last == entry)
        mapping->last = before;
}

// ---- building it from events -------------------------------------------------------------------

// libyaml marks count characters from 0, starting again in each line.
static int32_t one_based(size_t index) {
    return index < INT32_MAX ? (int32_t)index + 1 : INT32_MAX;
}

static mf_Status fail_event(Builder *builder, mf_Status status, yaml_mark_t mark,
                            const char *message) {
    return mf_fail_at(builder->error, status, builder->tree->file, one_based(mark.line),
                      one_based(mark.column), "%s", message);
}

static mf_Status fail_memory(Builder *builder) {
    return mf_fail_at(builder->error, MF_NO_MEMORY, builder->tree->file, 0, 0,
                      "no memory to read the file");
}

// libyaml's error message in one line with its position.
static mf_Status fail_parser(Builder *builder) {
    const yaml_parser_t *parser = &builder->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return fail_memory(builder);
    const char *context = parser->context != NULL ? parser->context : "";
    return mf_fail_at(builder->error, MF_BAD_FILE, builder->tree->file,
                      one_based(parser->problem_mark.line), one_based(parser->problem_mark.column),
                      "expected YAML: %s%s%s",
                      parser->problem != NULL ? parser->problem : "unclear",
                      context[0] != '\0' ? " " : "", context);
}

static mf_YamlNode *parent_of(const Builder *builder) {
    return builder->depth == 0 ? NULL : builder->stack[builder->depth - 1];
}

// Creates the node of an event and inserts it into the tree.
static mf_Status place_node(Builder *builder, mf_YamlKind kind, yaml_mark_t mark,
                            mf_YamlNode **out) {
    mf_YamlTree *tree = builder->tree;
    if (tree->count == MF_YAML_NODES)
        return fail_event(builder, MF_LIMIT, mark, "expected at most 131072 values in a file");
    if (kind != MF_YAML_SCALAR && builder->depth == MF_YAML_DEPTH)
        return fail_event(builder, MF_LIMIT, mark, "expected at most 32 levels of nesting");
    mf_YamlNode *node = mf_arena_take(&tree->arena, sizeof *node);
    if (node == NULL)
        return fail_memory(builder);
    tree->count++;
    yaml_mark_t key_mark = builder->key != NULL ? builder->key_mark : mark;
    *node = (mf_YamlNode){.kind = kind,
                          .key = builder->key,
                          .text = "",
                          .line = one_based(mark.line),
                          .column = one_based(mark.column),
                          .key_line = one_based(key_mark.line),
                          .key_column = one_based(key_mark.column)};
    mf_YamlNode *parent = parent_of(builder);
    if (parent == NULL)
        tree->root = node;
    else
        append(parent, node);
    builder->key = NULL;
    *out = node;
    return MF_OK;
}

static bool awaits_key(const Builder *builder) {
    const mf_YamlNode *parent = parent_of(builder);
    return parent != NULL && parent->kind == MF_YAML_MAPPING && builder->key == NULL;
}

static mf_Status take_key(Builder *builder, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (length == 0 || length > MF_YAML_KEY || strlen(text) != length)
        return fail_event(builder, MF_BAD_FILE, event->start_mark,
                          "expected a key of 1 to 255 characters");
    const mf_YamlNode *twin = mf_yaml_find(parent_of(builder), text, length);
    if (twin != NULL)
        return mf_fail_at(builder->error, MF_BAD_FILE, builder->tree->file,
                          one_based(event->start_mark.line), one_based(event->start_mark.column),
                          "expected each key once, found %s again (first in line %d)", text,
                          twin->key_line);
    if (mf_yaml_count(parent_of(builder)) >= MF_YAML_ENTRIES)
        return fail_event(builder, MF_LIMIT, event->start_mark,
                          "expected at most 4096 keys in a group");
    builder->key = mf_arena_text(&builder->tree->arena, text, length);
    builder->key_mark = event->start_mark;
    return builder->key == NULL ? fail_memory(builder) : MF_OK;
}

static mf_Status take_scalar(Builder *builder, const yaml_event_t *event) {
    if (event->data.scalar.anchor != NULL)
        return fail_event(builder, MF_UNSUPPORTED, event->start_mark,
                          "expected a plain value, found an anchor (&name)");
    if (event->data.scalar.tag != NULL)
        return fail_event(builder, MF_UNSUPPORTED, event->start_mark,
                          "expected a plain value, found a tag (!name)");
    if (awaits_key(builder))
        return take_key(builder, event);
    mf_YamlNode *node;
    MF_TRY(place_node(builder, MF_YAML_SCALAR, event->start_mark, &node));
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, '\0', length) != NULL)
        return fail_event(builder, MF_BAD_FILE, event->start_mark,
                          "expected text, found a zero character in it");
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = mf_arena_text(&builder->tree->arena, text, length);
    return node->text == NULL ? fail_memory(builder) : MF_OK;
}

static mf_Status open_container(Builder *builder, const yaml_event_t *event, mf_YamlKind kind) {
    bool mapping = kind == MF_YAML_MAPPING;
    const void *anchor =
        mapping ? event->data.mapping_start.anchor : event->data.sequence_start.anchor;
    const void *tag = mapping ? event->data.mapping_start.tag : event->data.sequence_start.tag;
    if (anchor != NULL)
        return fail_event(builder, MF_UNSUPPORTED, event->start_mark,
                          "expected a plain value, found an anchor (&name)");
    if (tag != NULL)
        return fail_event(builder, MF_UNSUPPORTED, event->start_mark,
                          "expected a plain value, found a tag (!name)");
    if (awaits_key(builder))
        return fail_event(builder, MF_BAD_FILE, event->start_mark,
                          mapping ? "expected a key, found a group of keys"
                                  : "expected a key, found a list");
    mf_YamlNode *node;
    MF_TRY(place_node(builder, kind, event->start_mark, &node));
    builder->stack[builder->depth++] = node;
    return MF_OK;
}

static mf_Status take_event(Builder *builder, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (builder->tree->root != NULL)
            return fail_event(builder, MF_BAD_FILE, event->start_mark,
                              "expected one document, found a second one");
        return MF_OK;
    case YAML_ALIAS_EVENT:
        return fail_event(builder, MF_UNSUPPORTED, event->start_mark,
                          "expected a plain value, found an alias (*name)");
    case YAML_SCALAR_EVENT:
        return take_scalar(builder, event);
    case YAML_MAPPING_START_EVENT:
        return open_container(builder, event, MF_YAML_MAPPING);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(builder, event, MF_YAML_SEQUENCE);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        builder->depth--;
        return MF_OK;
    default:
        return MF_OK;
    }
}

static mf_Status read_events(Builder *builder) {
    for (;;) {
        yaml_event_t event;
        if (!mf_allow(builder->tree->arena.context, "parse YAML"))
            return fail_memory(builder);
        if (!yaml_parser_parse(&builder->parser, &event))
            return fail_parser(builder);
        bool end = event.type == YAML_STREAM_END_EVENT;
        mf_Status status = take_event(builder, &event);
        yaml_event_delete(&event);
        if (end || status != MF_OK)
            return status;
    }
}

mf_Status mf_yaml_parse(mf_Context *context, const char *file, const char *text, size_t size,
                        mf_YamlTree *out, mf_Error *error) {
    *out = (mf_YamlTree){.arena = {.context = context}, .file = file};
    if (size > MF_YAML_BYTES)
        return mf_fail_at(error, MF_LIMIT, file, 0, 0, "expected at most 64 MiB, found %zu bytes",
                          size);
    MF_TRY(mf_yaml_check_text(file, text, size, error));
    Builder builder = {.tree = out, .error = error};
    if (!mf_allow(context, "start YAML parser") || !yaml_parser_initialize(&builder.parser))
        return fail_memory(&builder);
    yaml_parser_set_encoding(&builder.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *)text, size);
    mf_Status status = read_events(&builder);
    yaml_parser_delete(&builder.parser);
    if (status == MF_OK && out->root == NULL)
        status = mf_fail_at(error, MF_BAD_FILE, file, 1, 1, "expected keys, found nothing");
    if (status != MF_OK)
        mf_yaml_free(out);
    return status;
}
