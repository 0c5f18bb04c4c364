// A YAML document as a tree of nodes with their position in the file, so that every later check can
// report line and column. Scalars are text; the table of keys defines their meaning.
#pragma once

#include "model/arena.h"

enum {
    MF_YAML_DEPTH = 32,       // nesting of mappings and lists
    MF_YAML_NODES = 131072,   // values in one document
    MF_YAML_ENTRIES = 4096,   // keys of one mapping
    MF_YAML_BYTES = 64 << 20, // size of one document
    MF_YAML_KEY = 255         // bytes of one key
};

typedef enum mf_YamlKind { MF_YAML_SCALAR, MF_YAML_MAPPING, MF_YAML_SEQUENCE } mf_YamlKind;

// A node and its descendants belong to their tree.
typedef struct mf_YamlNode {
    mf_YamlKind kind;
    bool quoted;                  // a scalar in quotes or a block scalar: text, never a number
    const char *key;              // of an entry of a mapping, else NULL
    const char *text;             // of a scalar, "" otherwise
    const char *override;         // text of the override that made this node, NULL from the file
    int32_t line, column;         // [1] of the value, 1-based; 0 with an override
    int32_t key_line, key_column; // [1] of the key, or of the value where there is no key
    struct mf_YamlNode *first;    // entries in order
    struct mf_YamlNode *last;
    struct mf_YamlNode *next;
} mf_YamlNode;

typedef struct mf_YamlTree {
    mf_Arena arena;
    const char *file; // borrowed, for messages
    mf_YamlNode *root;
    uint32_t count; // [1] nodes
} mf_YamlTree;

// Parses one document of `size` bytes. Rejects anchors, aliases, tags, keys that are not plain
// text, duplicate keys, a second document, and text that is not clean UTF-8. On failure the tree is
// empty. `file` must outlive the tree.
mf_Status mf_yaml_parse(mf_Context *context, const char *file, const char *text, size_t size,
                        mf_YamlTree *out, mf_Error *error);
void mf_yaml_free(mf_YamlTree *tree);

// Entry of a mapping, NULL when absent or when `mapping` is not a mapping.
mf_YamlNode *mf_yaml_find(const mf_YamlNode *mapping, const char *key, size_t key_length);

// A null scalar: empty, ~ or null, not in quotes.
bool mf_yaml_is_null(const mf_YamlNode *node);

// "12", "text in quotes", "a list", "nothing": description of a found value for messages; long text
// is cut.
const char *mf_yaml_describe(const mf_YamlNode *node, char *out, size_t size);

// Appends an entry made by an override to `mapping`; its position is that of the override. NULL
// when out of memory.
mf_YamlNode *mf_yaml_add(mf_YamlTree *tree, mf_YamlNode *mapping, const char *key,
                         size_t key_length, const char *override);
void mf_yaml_remove(mf_YamlNode *mapping, mf_YamlNode *entry);

// mf_fail_at for a node: the position of its value, or of its key when `at_key`.
mf_Status mf_yaml_fail(const mf_YamlTree *tree, const mf_YamlNode *node, bool at_key,
                       mf_Status status, mf_Error *error, const char *format, ...) MF_PRINTF(6, 7);

// [1] Entries of a list or mapping.
static inline uint32_t mf_yaml_count(const mf_YamlNode *node) {
    uint32_t count = 0;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next)
        count++;
    return count;
}
