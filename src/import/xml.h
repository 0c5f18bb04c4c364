// XML files as a tree of nodes with line and column. Parsed by expat.
#pragma once

#include "base/text.h"
#include "model/arena.h"

#include <stdarg.h>

typedef struct mf_XmlAttribute {
    const char *name;
    const char *value;
    bool is_read; // mf_xml_attribute or one of its kind was asked for it
} mf_XmlAttribute;

typedef struct mf_XmlNode mf_XmlNode;
struct mf_XmlNode {
    const char *name;
    const char *text; // character data directly inside, trimmed; "": none
    mf_XmlAttribute *attributes;
    uint32_t attribute_count;
    const char *file; // source file, for errors; borrowed
    int32_t line;
    int32_t column;
    mf_XmlNode *first;  // first child
    mf_XmlNode *last;   // last child
    mf_XmlNode *next;   // next sibling
    mf_XmlNode *parent; // NULL for the root
};

typedef struct mf_Xml {
    mf_Arena arena;
    const char *file; // for errors, borrowed
    mf_Error *error;  // where functions without one report
    mf_XmlNode *root;
    int32_t loose_comment; // [1] first line of a comment that contains "--"; 0: none
} mf_Xml;

#define MF_XML_LOOSE_COMMENT                                                                       \
    "a comment contains '--', which XML forbids: other programs may refuse the file"
#define MF_XML_DEPTH 1024u        // [1] nested elements
#define MF_XML_NODES 2000000u     // [1] elements of a file
#define MF_FILE_LIMIT (64u << 20) // [byte] any input file

// Parses UTF-8 text; `error` is kept in `out`. Comments may contain "--", which XML forbids
// (1.0, 2.5) and common readers of robots accept. On success release `out` with mf_xml_release; on
// failure it is empty. Entity declarations are rejected, because they can expand small files to
// huge ones.
mf_Status mf_xml_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_Xml *out, mf_Error *error);
void mf_xml_release(mf_Xml *xml);

// First child named `name`, and the next sibling of that name; NULL when there is none.
mf_XmlNode *mf_xml_child(const mf_XmlNode *node, const char *name);
mf_XmlNode *mf_xml_next(const mf_XmlNode *node, const char *name);
// All children named `name`, one after the other.
#define MF_XML_EACH(node, parent, name)                                                            \
    for (mf_XmlNode *node = mf_xml_child(parent, name); node != NULL;                              \
         node = mf_xml_next(node, name))

void mf_xml_add_child(mf_XmlNode *parent, mf_XmlNode *child); // behind the others

// Value of an attribute, or NULL. Marks it as read.
const char *mf_xml_attribute(const mf_XmlNode *node, const char *name);

// As above; an attribute that is missing, empty or longer than 255 bytes is an error.
mf_Status mf_xml_name(const mf_Xml *xml, const mf_XmlNode *node, const char *attribute,
                      const char **out);

// Reads exactly `count` finite numbers, separated by white space, from an attribute. A missing
// attribute leaves `out` unchanged and is not an error.
mf_Status mf_xml_numbers(const mf_Xml *xml, const mf_XmlNode *node, const char *attribute,
                         uint32_t count, double *out);
// Reads `least` to `most` finite numbers that fill all of `text`; `what` it is, for messages.
mf_Status mf_xml_some_numbers(const mf_Xml *xml, const mf_XmlNode *node, const char *what,
                              const char *text, uint32_t least, uint32_t most, double *out);
// As mf_xml_numbers for one number that must be there.
mf_Status mf_xml_number(const mf_Xml *xml, const mf_XmlNode *node, const char *attribute,
                        double *out);
// As mf_xml_numbers, from the node's text.
mf_Status mf_xml_text_numbers(const mf_Xml *xml, const mf_XmlNode *node, uint32_t count,
                              double *out);

// Reads up to `count` finite numbers that fill all of `text`. Returns how many it found, count + 1
// for more than that; anything else ends the list, and `*rest` is not at the end of the text.
uint32_t mf_xml_scan(const char *text, uint32_t count, double *out, const char **rest);

// mf_fail_at with the position of the node; the second one with MF_BAD_FILE.
mf_Status mf_xml_fail(const mf_Xml *xml, const mf_XmlNode *node, mf_Status status,
                      const char *format, ...) MF_PRINTF(4, 5);
mf_Status mf_xml_refuse(const mf_Xml *xml, const mf_XmlNode *node, const char *format, ...)
    MF_PRINTF(3, 4);
// The same for arguments of a caller.
mf_Status mf_xml_fail_list(const mf_Xml *xml, const mf_XmlNode *node, mf_Status status,
                           const char *format, va_list arguments) MF_PRINTF(4, 0);

// Calls `use` for each child whose name is not in `known` (NULL behind the last) until it fails.
mf_Status mf_xml_each_other(const mf_XmlNode *node, const char *const *known,
                            mf_Status (*use)(void *user, const mf_XmlNode *child), void *user);
