// XML by expat, as nodes in one arena.
//
// Expat's own memory hooks carry no user pointer, so its working memory (bounded by the file's size
// limit) comes from the C library; creating and running the parser count as fallible calls, and the
// tree itself is allocated by the context.
#include "import/xml.h"
#include "base/inject.h"

#include "base/plain.h"
#include "import/number.h"

#include <expat.h>
#include <string.h>

typedef struct Parser {
    mf_Xml *xml;
    XML_Parser expat;
    mf_XmlNode *open; // innermost element
    uint32_t depth;
    uint32_t nodes;
    char *text; // of the innermost element since its last child
    size_t length, capacity;
    mf_Status status; // why a handler stopped, or MF_OK
} Parser;

static int32_t parser_line(const Parser *parser) {
    return (int32_t)XML_GetCurrentLineNumber(parser->expat);
}

static int32_t parser_column(const Parser *parser) {
    return (int32_t)XML_GetCurrentColumnNumber(parser->expat) + 1;
}

static void stop(Parser *parser, mf_Status status, const char *message) {
    if (parser->status != MF_OK)
        return;
    parser->status = mf_fail_at(parser->xml->error, status, parser->xml->file, parser_line(parser),
                                parser_column(parser), "%s", message);
    XML_StopParser(parser->expat, XML_FALSE);
}

static bool copy_attributes(Parser *parser, mf_XmlNode *node, const char **pairs) {
    uint32_t count = 0;
    while (pairs[2 * count] != NULL)
        count++;
    mf_Arena *arena = &parser->xml->arena;
    node->attributes = mf_arena_take(arena, count * sizeof *node->attributes);
    if (node->attributes == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = pairs[2 * i], *value = pairs[2 * i + 1];
        node->attributes[i].name = mf_arena_text(arena, name, strlen(name));
        node->attributes[i].value = mf_arena_text(arena, value, strlen(value));
        node->attributes[i].is_read = false;
        if (node->attributes[i].name == NULL || node->attributes[i].value == NULL)
            return false;
    }
    node->attribute_count = count;
    return true;
}

// Hands what was gathered to the innermost element. Only the first run of text between its children
// is stored: these formats have no mixed content.
static void end_text(Parser *parser) {
    const char *text = parser->text;
    size_t length = parser->length;
    parser->length = 0;
    if (parser->open == NULL || parser->open->text[0] != '\0')
        return;
    while (length > 0 && mf_is_space(text[0])) {
        text++;
        length--;
    }
    while (length > 0 && mf_is_space(text[length - 1]))
        length--;
    if (length == 0)
        return;
    char *copy = mf_arena_text(&parser->xml->arena, text, length);
    if (copy == NULL)
        stop(parser, MF_NO_MEMORY, "no memory for the file's elements");
    else
        parser->open->text = copy;
}

// Long texts arrive in pieces.
static void character_data(void *user, const char *text, int length) {
    Parser *parser = user;
    mf_Context *context = parser->xml->arena.context;
    const size_t size = (size_t)length;
    if (parser->status != MF_OK || parser->open == NULL)
        return;
    if (parser->capacity - parser->length < size) {
        const size_t capacity = 2 * (parser->length + size);
        char *more = mf_allocate(context, capacity, 1);
        if (more == NULL) {
            stop(parser, MF_NO_MEMORY, "no memory for the file's elements");
            return;
        }
        if (parser->length > 0)
            memcpy(more, parser->text, parser->length);
        mf_release(context, parser->text);
        parser->text = more;
        parser->capacity = capacity;
    }
    memcpy(parser->text + parser->length, text, size);
    parser->length += size;
}

void mf_xml_add_child(mf_XmlNode *parent, mf_XmlNode *child) {
    child->parent = parent;
    child->next = NULL;
    if (parent->last != NULL)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

static void start_element(void *user, const char *name, const char **pairs) {
    Parser *parser = user;
    if (parser->status != MF_OK)
        return;
    end_text(parser);
    if (++parser->depth > MF_XML_DEPTH) {
        stop(parser, MF_LIMIT, "elements are nested more than 1024 deep");
        return;
    }
    if (++parser->nodes > MF_XML_NODES) {
        stop(parser, MF_LIMIT, "the file has more than 2000000 elements");
        return;
    }
    mf_XmlNode *node = mf_arena_take(&parser->xml->arena, sizeof *node);
    if (node != NULL)
        node->name = mf_arena_text(&parser->xml->arena, name, strlen(name));
    if (node == NULL || node->name == NULL || !copy_attributes(parser, node, pairs)) {
        stop(parser, MF_NO_MEMORY, "no memory for the file's elements");
        return;
    }
    node->text = "";
    node->file = parser->xml->file;
    node->line = parser_line(parser);
    node->column = parser_column(parser);
    if (parser->open == NULL)
        parser->xml->root = node;
    else
        mf_xml_add_child(parser->open, node);
    parser->open = node;
}

static void end_element(void *user, const char *name) {
    Parser *parser = user;
    (void)name;
    if (parser->status != MF_OK || parser->open == NULL)
        return;
    end_text(parser);
    parser->open = parser->open->parent;
    parser->depth--;
}

static void entity_declaration(void *user, const char *name, int is_parameter, const char *value,
                               int length, const char *base, const char *system_id,
                               const char *public_id, const char *notation) {
    (void)name, (void)is_parameter, (void)value, (void)length;
    (void)base, (void)system_id, (void)public_id, (void)notation;
    stop(user, MF_BAD_FILE, "entity declarations are rejected");
}

// ---- loose comments ----------------------------------------------------------------------------

// The first `mark` in the text, or its end.
static const char *find(const char *text, const char *end, const char *mark) {
    const size_t size = strlen(mark);
    for (; (size_t)(end - text) >= size; text++)
        if (*text == *mark && memcmp(text, mark, size) == 0)
            return text;
    return end;
}

// The next comment from `text` on, without its marks; what looks like one in other sections, which
// end by marks of their own, is none. False at the end, and for one that does not end.
static bool next_comment(const char *text, const char *end, const char **first, const char **last) {
    static const char *const sections[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    while ((text = find(text, end, "<")) < end) {
        const char *close = text + 1;
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
            const size_t size = strlen(sections[i][0]);
            if ((size_t)(end - text) < size || memcmp(text, sections[i][0], size) != 0)
                continue;
            close = find(text + size, end, sections[i][1]);
            *first = text + size;
            *last = close;
            if (i == 0)
                return close < end;
        }
        text = close;
    }
    return false;
}

static bool is_loose(const char *first, const char *last) {
    return find(first, last, "--") < last || (last > first && last[-1] == '-');
}

// A copy whose comments have blanks instead of dashes, where one is loose; else `*out` stays
// `data`.
static mf_Status tighten_comments(mf_Context *context, const char *data, size_t size, mf_Xml *xml,
                                  const char **out) {
    const char *first, *last = data, *end = data + size;
    char *copy = NULL;
    *out = data;
    while (next_comment(last, end, &first, &last)) {
        if (!is_loose(first, last))
            continue;
        if (copy == NULL) {
            copy = mf_allocate(context, size, 1);
            if (copy == NULL)
                return mf_fail_at(xml->error, MF_NO_MEMORY, xml->file, 0, 0, "no memory");
            memcpy(copy, data, size);
            xml->loose_comment = 1;
            for (const char *c = data; c < first; c++)
                xml->loose_comment += *c == '\n';
        }
        for (const char *c = first; c < last; c++)
            if (*c == '-')
                copy[c - data] = ' ';
    }
    if (copy != NULL)
        *out = copy;
    return MF_OK;
}

static mf_Status run(Parser *parser, const char *data, size_t size) {
    XML_SetUserData(parser->expat, parser);
    XML_SetElementHandler(parser->expat, start_element, end_element);
    XML_SetCharacterDataHandler(parser->expat, character_data);
    XML_SetEntityDeclHandler(parser->expat, entity_declaration);
    enum XML_Status result = XML_Parse(parser->expat, data, (int)size, XML_TRUE);
    if (parser->status != MF_OK)
        return parser->status;
    if (result == XML_STATUS_OK)
        return MF_OK;
    enum XML_Error code = XML_GetErrorCode(parser->expat);
    MF_NEED_MEMORY(code != XML_ERROR_NO_MEMORY, parser->xml->error, parser->xml->file);
    return mf_fail_at(parser->xml->error, MF_BAD_FILE, parser->xml->file, parser_line(parser),
                      parser_column(parser), "expected well-formed XML in UTF-8: %s",
                      XML_ErrorString(code));
}

mf_Status mf_xml_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_Xml *out, mf_Error *error) {
    *out = (mf_Xml){.arena = {.context = context}, .file = file, .error = error};
    if (size > MF_FILE_LIMIT)
        return mf_fail_at(error, MF_LIMIT, file, 0, 0, "larger than 64 MiB");
    Parser parser = {.xml = out};
    // Setting the encoding overrides the file's declaration, so anything but UTF-8 is rejected.
    if (mf_allow(context, "create an XML parser"))
        parser.expat = XML_ParserCreate("UTF-8");
    if (parser.expat == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory");
    const char *text = data;
    mf_Status status = tighten_comments(context, data, size, out, &text);
    MF_THEN(status, run(&parser, text, size));
    XML_ParserFree(parser.expat);
    mf_release(context, parser.text);
    if (text != data)
        mf_release(context, (void *)(uintptr_t)text);
    if (status != MF_OK)
        mf_xml_release(out);
    return status;
}

void mf_xml_release(mf_Xml *xml) {
    mf_arena_release(&xml->arena);
    xml->root = NULL;
}

static mf_XmlNode *find_from(mf_XmlNode *node, const char *name) {
    while (node != NULL && strcmp(node->name, name) != 0)
        node = node->next;
    return node;
}

mf_XmlNode *mf_xml_child(const mf_XmlNode *node, const char *name) {
    return node ? find_from(node->first, name) : NULL;
}

mf_XmlNode *mf_xml_next(const mf_XmlNode *node, const char *name) {
    return find_from(node->next, name);
}

const char *mf_xml_attribute(const mf_XmlNode *node, const char *name) {
    for (uint32_t i = 0; node && i < node->attribute_count; i++) {
        if (strcmp(node->attributes[i].name, name) == 0) {
            node->attributes[i].is_read = true;
            return node->attributes[i].value;
        }
    }
    return NULL;
}

mf_Status mf_xml_name(const mf_Xml *xml, const mf_XmlNode *node, const char *attribute,
                      const char **out) {
    const char *value = mf_xml_attribute(node, attribute);
    if (value == NULL || *value == '\0')
        return mf_xml_fail(xml, node, MF_BAD_FILE, "<%.80s> needs the attribute '%s'", node->name,
                           attribute);
    if (strlen(value) > 255)
        return mf_xml_fail(xml, node, MF_LIMIT, "<%.80s> %s: at most 255 bytes, found %zu",
                           node->name, attribute, strlen(value));
    *out = value;
    return MF_OK;
}

uint32_t mf_xml_scan(const char *text, uint32_t count, double *out, const char **rest) {
    for (uint32_t found = 0;; found++) {
        while (mf_is_space(*text))
            text++;
        *rest = text;
        if (*text == '\0' || found == count)
            return *text == '\0' ? found : count + 1;
        if (!mf_number_parse(text, &text, &out[found]) || (*text != '\0' && !mf_is_space(*text)))
            return found;
    }
}

mf_Status mf_xml_some_numbers(const mf_Xml *xml, const mf_XmlNode *node, const char *what,
                              const char *text, uint32_t least, uint32_t most, double *out) {
    double values[16];
    const char *rest;
    uint32_t found = mf_xml_scan(text, most, values, &rest);
    if (*rest == '\0' && found >= least && found <= most) {
        memcpy(out, values, found * sizeof *out);
        return MF_OK;
    }
    if (least == most)
        return mf_xml_refuse(xml, node, "<%.80s> %s: expected %u finite number%s, found \"%.60s\"",
                             node->name, what, most, most == 1 ? "" : "s", text);
    return mf_xml_refuse(xml, node, "<%.80s> %s: expected %u to %u finite numbers, found \"%.60s\"",
                         node->name, what, least, most, text);
}

mf_Status mf_xml_numbers(const mf_Xml *xml, const mf_XmlNode *node, const char *attribute,
                         uint32_t count, double *out) {
    const char *text = mf_xml_attribute(node, attribute);
    return text ? mf_xml_some_numbers(xml, node, attribute, text, count, count, out) : MF_OK;
}

mf_Status mf_xml_number(const mf_Xml *xml, const mf_XmlNode *node, const char *attribute,
                        double *out) {
    if (mf_xml_attribute(node, attribute) == NULL)
        return mf_xml_fail(xml, node, MF_BAD_FILE, "<%.80s> needs the attribute '%s'", node->name,
                           attribute);
    return mf_xml_numbers(xml, node, attribute, 1, out);
}

mf_Status mf_xml_text_numbers(const mf_Xml *xml, const mf_XmlNode *node, uint32_t count,
                              double *out) {
    return mf_xml_some_numbers(xml, node, "text", node->text, count, count, out);
}

mf_Status mf_xml_fail_list(const mf_Xml *xml, const mf_XmlNode *node, mf_Status status,
                           const char *format, va_list arguments) {
    char message[400];
    mf_plain_format_list(message, sizeof message, format, arguments);
    // Values may contain escaped line breaks; an error is one line.
    for (char *c = message; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    // The node knows its file, which may be an included one.
    return mf_fail_at(xml->error, status, node->file, node->line, node->column, "%s", message);
}

mf_Status mf_xml_fail(const mf_Xml *xml, const mf_XmlNode *node, mf_Status status,
                      const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mf_xml_fail_list(xml, node, status, format, arguments);
    va_end(arguments);
    return status;
}

mf_Status mf_xml_refuse(const mf_Xml *xml, const mf_XmlNode *node, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mf_xml_fail_list(xml, node, MF_BAD_FILE, format, arguments);
    va_end(arguments);
    return MF_BAD_FILE;
}

mf_Status mf_xml_each_other(const mf_XmlNode *node, const char *const *known,
                            mf_Status (*use)(void *user, const mf_XmlNode *child), void *user) {
    for (const mf_XmlNode *child = node->first; child; child = child->next) {
        if (!mf_name_listed(known, child->name))
            MF_TRY(use(user, child));
    }
    return MF_OK;
}
