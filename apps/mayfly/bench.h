// Benches: throughput of whole scenes, the same work every time.
#ifndef MAYFLY_APP_BENCH_H
#define MAYFLY_APP_BENCH_H

#include "app.h"

// Options of the command line; 0: the bench's own value.
typedef struct mf_BenchOptions {
    uint32_t threads;     // [1]
    uint32_t instances;   // [1]
    uint64_t steps;       // [1] per robot
    uint32_t generations; // [1]
    uint32_t repeats;     // [1]
    bool double_precision;
    const char *model; // file for the benches of full dynamics, NULL: their own
    double gflops;     // [GFLOP/s] of one core, printed with every figure
} mf_BenchOptions;

typedef struct mf_BenchResult {
    uint32_t instances; // [1] robots at the same time
    uint32_t threads;   // [1]
    mf_Isa isa;
    bool double_precision;
    double dt;                 // [s] physics step
    uint64_t steps;            // [1] per robot
    double seconds;            // [s] wall, the median of the repeats
    double slowest;            // [s] of the repeats
    uint32_t repeats;          // [1]
    uint64_t hash;             // [1] of the state at the end, the same in every repeat
    double bytes_per_robot;    // [byte] of all fields
    double contacts_per_robot; // [1] mean number of loaded points at the end
    double best;               // [m] of an evolution, NaN otherwise
} mf_BenchResult;

typedef struct mf_Bench {
    const char *name;
    const char *summary;
    const char *scene;    // scene text; files in it are relative to scenes/
    uint32_t threads;     // [1] 0 = all processors
    uint32_t instances;   // [1]
    uint64_t steps;       // [1] per robot
    uint32_t generations; // [1] 0: a plain run; else a whole evolution
    bool only_named;      // too large to run by default
} mf_Bench;

// Prints a line of --json including the core's rate; frees it.
bool mf_bench_print_line(const mf_BenchOptions *options, json_t *line);

extern const mf_Bench mf_benches[]; // ends with an empty row

mf_Status mf_bench_run(const mf_Bench *bench, const mf_BenchOptions *options,
                       mf_BenchResult *result, mf_Error *error);

#endif
