// The results of a sweep: one search per setting and seed, their quartiles, and the page about
// them.
#pragma once

#include <mayfly/base.h>

// One complete search.
typedef struct mf_SweepSearch {
    uint64_t seed;        // [1]
    double best;          // [m] or what the fitness measures: values[generations - 1]
    double evaluations;   // [1]
    double seconds;       // [s] wall time
    double *values;       // [m] best fitness of each generation; NaN: none
    uint32_t generations; // [1]
    const char *folder;   // of the search, relative to that of the sweep
} mf_SweepSearch;

// Least value, quartiles and largest value.
typedef struct mf_Quartiles {
    double least, lower, median, upper, most; // [any]; NaN without a value
} mf_Quartiles;

// One setting.
typedef struct mf_SweepGroup {
    const char *name;
    mf_SweepSearch *searches;
    uint32_t count;              // [1] complete searches
    uint32_t expected;           // [1] seeds
    mf_Quartiles best;           // [m] or what the fitness measures
    double evaluations, seconds; // [1], [s] medians
} mf_SweepGroup;

typedef struct mf_SweepResults {
    const char *file, *scene; // paths
    const char *title, *unit; // of the fitness, "distance" and "m"; unit "": of several kinds
    const char *command;      // command line that continues the sweep
    bool verified;            // the fitness is that of the verification, where there was one
    mf_SweepGroup *groups;
    uint32_t count; // [1]
} mf_SweepResults;

// Quartiles by linear interpolation between order statistics (type 7 of Hyndman and Fan, Sample
// quantiles in statistical packages, 1996); values that are not finite rank lowest. Sorts the
// values.
mf_Quartiles mf_quartiles(double *values, uint32_t count);

// Sets `best`, `evaluations` and `seconds` of a group from its searches.
mf_Status mf_sweep_summarize(mf_Context *context, mf_SweepGroup *group, mf_Error *error);

// Writes the page, one file without network access.
mf_Status mf_sweep_page_write(mf_Context *context, const mf_SweepResults *results, const char *path,
                              mf_Error *error);
