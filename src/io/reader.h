// Reading a file by a table of keys: from the node tree into a structure.
#pragma once

#include "io/keys.h"
#include "io/yaml.h"

// Memory of strings and lists that were read. Freed together.
typedef struct mf_KeyMemory {
    mf_Arena arena;
    uint32_t *old_keys; // [MF_KEY_RENAMES] keys read by each of their old names; NULL: these are
                        // refused, with the new one
} mf_KeyMemory;

enum { MF_READER_PREFIX = 300 }; // [byte] of a list's path with an entry's name

// State of reading a file.
typedef struct mf_Reader {
    mf_YamlTree *tree;
    const mf_KeyTable *table;
    mf_YamlNode *root;             // the mapping that holds the table's keys
    void *base;                    // the structure to fill
    const char *what;              // name of the mapping in messages
    char prefix[MF_READER_PREFIX]; // prefix of paths in messages: "groups.quads.", or ""
    mf_KeyMemory *memory;
    mf_Error *error;
} mf_Reader;

// `size` zeroed bytes that live as long as the memory. NULL when there is none; the error is set.
void *mf_reader_allocate(mf_Reader *reader, size_t size);

// Refuses unknown keys, fills the structure with its start values, then reads every key of the
// table, or its default. The structure is also changed on failure.
mf_Status mf_reader_read(mf_Reader *reader);

// A reader for the entry `index` of a list; the caller sets its `base`.
mf_Reader mf_reader_entry(const mf_Reader *reader, const mf_Key *list, const mf_YamlNode *entry,
                          uint32_t index);

// A reader for the entry `index` of the list at `path` that has been read into `base`, with the
// entry's structure as its base. The list has that entry.
mf_Reader mf_reader_item(const mf_Reader *reader, const char *path, uint32_t index);

// Stores the value of `node` in the member that `key` describes, after checking its range.
mf_Status mf_reader_take(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node);

// Stores the default of `key`.
mf_Status mf_reader_take_default(mf_Reader *reader, const mf_Key *key);

// The node at a path such as "search.population", NULL when there is none.
mf_YamlNode *mf_reader_find(const mf_Reader *reader, const char *path);

// The node that an error of `path` refers to: its value, else that of `other` (may be NULL), with
// which it was compared, else the mapping.
const mf_YamlNode *mf_reader_blame(const mf_Reader *reader, const char *path, const char *other);

// Applies "path=value" overrides to the tree. An override of terrain.shape or terrain.file replaces
// the other, and one inside a variant selects that variant. Entries of lists are selected by name
// or by number from 0: "groups.quads.count".
mf_Status mf_reader_override(mf_Reader *reader, const mf_Override *overrides, uint32_t count);
// The same for one whose path has been resolved; messages name it as it was `typed`.
mf_Status mf_reader_override_as(mf_Reader *reader, const mf_Override *override, const char *typed);

// Refuses keys that are not in the table, and renames those with an old name. `path` is that of the
// group, "" at the top.
mf_Status mf_reader_check_keys(const mf_Reader *reader, mf_YamlNode *group, const char *path);

// ---- checks shared by formats (checks.c) --------------------------------------------------------

// MF_BAD_FILE, "<path>: <message>", at the position of mf_reader_blame.
mf_Status mf_reader_refuse(const mf_Reader *reader, const char *path, const char *other,
                           const char *format, ...) MF_PRINTF(4, 5);

// Checks that the time at `path` is a multiple of `unit` > 0, the value at `of`.
mf_Status mf_reader_check_multiple(const mf_Reader *reader, const char *path, mf_Time interval,
                                   const char *of, mf_Time unit);

// Checks that the key `name` of an entry can be part of an override's path.
mf_Status mf_reader_check_name(const mf_Reader *reader, const char *name);

// Checks relations between the keys of the ground.
mf_Status mf_reader_check_ground(const mf_Reader *reader, bool image,
                                 const mf_TerrainGenerator *generator);
