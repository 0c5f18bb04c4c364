// Reading an experiment: from the node tree into the structure, by the table of keys.
#ifndef MAYFLY_SRC_EXPERIMENT_READER_H
#define MAYFLY_SRC_EXPERIMENT_READER_H

#include "experiment/keys.h"
#include "experiment/yaml.h"

// One string or list of strings of an experiment.
typedef struct mf_ExperimentString {
    struct mf_ExperimentString *next;
    _Alignas(16) char data[];
} mf_ExperimentString;

// An experiment with the memory behind it. The public part comes first.
typedef struct mf_ExperimentBox {
    mf_Experiment experiment;
    mf_ExperimentString *strings;
} mf_ExperimentBox;

// Everything that reading passes around.
typedef struct mf_Reader {
    mf_YamlTree *tree;
    mf_ExperimentBox *box;
    mf_Error *error;
} mf_Reader;

// `size` zeroed bytes that live as long as the experiment. NULL when there is no memory.
void *mf_reader_allocate(mf_Reader *reader, size_t size);

// Stores the value of `node` in the member that `key` describes, after checking its range.
mf_Status mf_reader_take(mf_Reader *reader, const mf_ExperimentKey *key, const mf_YamlNode *node);

// Stores what `key` has when the file does not say.
mf_Status mf_reader_take_default(mf_Reader *reader, const mf_ExperimentKey *key);

// The node at a path such as "search.population", NULL when the tree has none.
mf_YamlNode *mf_reader_find(const mf_YamlTree *tree, const char *path);

// Applies "path=value" overrides to the tree. An override of terrain.shape or terrain.file takes
// the place of the other, and one inside a variant selects that variant.
mf_Status mf_reader_override(mf_Reader *reader, const mf_Override *overrides, uint32_t count);

// Refuses keys that are not in the table. `path` is that of the group, "" at the top.
mf_Status mf_reader_check_keys(const mf_Reader *reader, const mf_YamlNode *group, const char *path);

#endif
