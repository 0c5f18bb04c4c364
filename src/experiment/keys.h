// The table of all keys of an experiment file. One row makes a key: from it come reading, checking,
// overriding, writing, the help text and the table in docs/experiments.md.
#ifndef MAYFLY_SRC_EXPERIMENT_KEYS_H
#define MAYFLY_SRC_EXPERIMENT_KEYS_H

#include <mayfly/experiment.h>

typedef enum mf_KeyKind {
    MF_KEY_SECTION, // a group of keys
    MF_KEY_VARIANT, // a group of which one sub-group is given, or just the name of one
    MF_KEY_TEXT,    // const char *
    MF_KEY_FILE,    // const char *, resolved against the file's folder
    MF_KEY_REAL,    // double
    MF_KEY_TIME,    // mf_Time, written in seconds
    MF_KEY_RATE,    // mf_Rate, written as its period in seconds
    MF_KEY_COUNT,   // uint32_t
    MF_KEY_SEED,    // uint64_t
    MF_KEY_FLAG,    // bool, written true or false
    MF_KEY_CHOICE,  // an enum (int sized), written as one of `choices`
    MF_KEY_DOUBLE,  // bool, written as one of two `choices`: false, true
    MF_KEY_WORD,    // const char *, one of `choices`
    MF_KEY_PLACE,   // double[2], written [x, y], or the word centered for NAN
    MF_KEY_PACKAGES // the import's package pairs, written as a group "name: folder"
} mf_KeyKind;

enum {
    MF_KEY_ABOVE = 1,    // the lower bound itself is not allowed
    MF_KEY_INFINITE = 2, // .inf is allowed beside the range
    MF_KEY_REQUIRED = 4, // there is no default
    MF_KEY_IMAGE = 8,    // only for terrain from an image
    MF_KEY_SHAPE = 16    // only for generated terrain
};

#define MF_KEY_NOWHERE SIZE_MAX // the row has no member in mf_Experiment

typedef struct mf_ExperimentKey {
    const char *path; // "search.population"
    mf_KeyKind kind;
    uint32_t flags;             // [1] MF_KEY_*
    const char *unit;           // "s"; "1" for pure numbers, "" where there is none
    const char *fallback;       // the default as it would be written; NULL for none
    double lower, upper;        // [unit of the row] allowed range of numbers
    const char *const *choices; // NULL-terminated
    size_t offset;              // [byte] in mf_Experiment
    const char *description;
} mf_ExperimentKey;

// All rows; sections come before what is in them.
const mf_ExperimentKey *mf_experiment_keys(uint32_t *count);

// The row of a path of `length` bytes, NULL when there is none.
const mf_ExperimentKey *mf_experiment_find_key(const char *path, size_t length);

// The known path that an unknown one most likely means: one in the same group with few letters
// changed, else one of the same last name elsewhere. NULL when none is near.
const char *mf_experiment_near_key(const char *path);

// "a whole number from 2 to 1048576", "one of nearest, bilinear": what the row asks for.
const char *mf_experiment_expectation(const mf_ExperimentKey *key, char *out, size_t size);

// The allowed values in short, for tables: "2 .. 1048576", "nearest, bilinear", "text".
const char *mf_experiment_key_range(const mf_ExperimentKey *key, char *out, size_t size);

// All keys for people: with `markdown` the tables of docs/experiments.md, else the text that
// `mayfly help experiment` prints. From mf_allocate.
mf_Status mf_experiment_describe(mf_Context *context, bool markdown, char **text, mf_Error *error);

// Period of a rate that was made from a period.
mf_Time mf_experiment_period(mf_Rate rate); // [ns]

// Length of the path of the group that a path is in: 6 for "search.population", 0 at the top.
size_t mf_experiment_group_length(const char *path);

#endif
