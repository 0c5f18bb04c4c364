// Reading a file by a table of keys: from the node tree into a structure.
#ifndef MAYFLY_SRC_IO_READER_H
#define MAYFLY_SRC_IO_READER_H

#include "io/keys.h"
#include "io/yaml.h"

// Memory that what was read points into: strings, lists. Freed together.
typedef struct mf_KeyBlock {
    struct mf_KeyBlock *next;
    _Alignas(16) char data[];
} mf_KeyBlock;

typedef struct mf_KeyMemory {
    mf_Context *context;
    mf_KeyBlock *blocks;
} mf_KeyMemory;

void mf_key_memory_free(mf_KeyMemory *memory);

enum { MF_READER_PREFIX = 300 }; // [byte] of a list's path with an entry's name

// Everything that reading passes around.
typedef struct mf_Reader {
    mf_YamlTree *tree;
    const mf_KeyTable *table;
    mf_YamlNode *root;             // the mapping that holds the table's keys
    void *base;                    // the structure that they go into
    const char *what;              // what messages call the mapping itself
    char prefix[MF_READER_PREFIX]; // in front of paths in messages: "groups.quads.", or ""
    mf_KeyMemory *memory;
    mf_Error *error;
} mf_Reader;

// `size` zeroed bytes that live as long as the memory. NULL when there is none; the error is set.
void *mf_reader_allocate(mf_Reader *reader, size_t size);

// Refuses unknown keys, fills the structure with its start values, then reads every key of the
// table, or its default. Changes the structure on failure too.
mf_Status mf_reader_read(mf_Reader *reader);

// A reader for the entry `index` of a list; its `base` is left to the caller.
mf_Reader mf_reader_entry(const mf_Reader *reader, const mf_Key *list, const mf_YamlNode *entry,
                          uint32_t index);

// A reader for the entry `index` of the list at `path` that has been read into `base`, with the
// entry's structure as its base. The list has that entry.
mf_Reader mf_reader_item(const mf_Reader *reader, const char *path, uint32_t index);

// Stores the value of `node` in the member that `key` describes, after checking its range.
mf_Status mf_reader_take(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node);

// Stores what `key` has when the file does not say.
mf_Status mf_reader_take_default(mf_Reader *reader, const mf_Key *key);

// The node at a path such as "search.population", NULL when there is none.
mf_YamlNode *mf_reader_find(const mf_Reader *reader, const char *path);

// The node that a complaint about `path` points at: its value, else that of `other` (may be NULL)
// which it was compared with, else the mapping.
const mf_YamlNode *mf_reader_blame(const mf_Reader *reader, const char *path, const char *other);

// Applies "path=value" overrides to the tree. An override of terrain.shape or terrain.file takes
// the place of the other, and one inside a variant selects that variant. Entries of lists are
// reached by their name or their number from 0: "groups.quads.count".
mf_Status mf_reader_override(mf_Reader *reader, const mf_Override *overrides, uint32_t count);
// The same for one whose path has been resolved; messages name it as it was `typed`.
mf_Status mf_reader_override_as(mf_Reader *reader, const mf_Override *override, const char *typed);

// Refuses keys that are not in the table. `path` is that of the group, "" at the top.
mf_Status mf_reader_check_keys(const mf_Reader *reader, const mf_YamlNode *group, const char *path);

// ---- what formats check alike (checks.c) --------------------------------------------------------

// MF_BAD_FILE, "<path>: <message>", at the place of mf_reader_blame.
mf_Status mf_reader_refuse(const mf_Reader *reader, const char *path, const char *other,
                           const char *format, ...) MF_PRINTF(4, 5);

// The time at `path` is a multiple of `unit` > 0, which is the value at `of`.
mf_Status mf_reader_check_multiple(const mf_Reader *reader, const char *path, mf_Time interval,
                                   const char *of, mf_Time unit);

// The key `name` of an entry can stand in paths of overrides.
mf_Status mf_reader_check_name(const mf_Reader *reader, const char *name);

// Relations within the keys of ground_keys.h.
mf_Status mf_reader_check_ground(const mf_Reader *reader, bool image,
                                 const mf_TerrainGenerator *generator);

#endif
