// Benches: throughput of whole scenes, the same work every time.
#pragma once

#include "app.h"

// Options of the command line; 0: the bench's own value, which has replaced it in those that a kind
// gets.
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

// How a bench is named and chosen. Every structure that describes a bench begins with it.
typedef struct mf_Bench {
    const char *name;
    const char *needs; // runs by default if this file of the shared folder exists; NULL: always
    bool only_named;   // does not run by default
    // If the command line does not say:
    uint32_t threads;   // [1] workers; MF_BENCH_ALL: one per processor
    uint32_t instances; // [1] robots; 0: those of the kind's curve, one line for each number
    uint64_t steps;     // [1] of the world, or of what the kind counts
} mf_Bench;

#define MF_BENCH_ALL UINT32_MAX

// A point of a curve over the number of robots.
typedef struct mf_BenchPoint {
    uint32_t instances; // [1] 0: behind the last one
    uint64_t steps;     // [1] 0: the bench's own
} mf_BenchPoint;

// Benches that are measured in the same way: mf_bench_run opens one, times it, prints it and frees
// it. What is opened begins with mf_BenchRig of bench_time.h.
typedef struct mf_BenchRig mf_BenchRig;
typedef struct mf_BenchKind {
    const void *benches; // structures that begin with mf_Bench
    size_t size;         // [byte] of one
    uint32_t count;      // [1]
    const char *ignores; // options without effect
    size_t rig_size;     // [byte]
    mf_BenchPoint (*curve)(const mf_Bench *bench, uint32_t n); // or NULL
    // Opens the rig and says what is timed.
    mf_Status (*open)(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Error *error);
    // In place of mf_bench_time, or NULL.
    mf_Status (*time)(mf_BenchRig *rig, const mf_BenchOptions *options, mf_BenchResult *result,
                      mf_Error *error);
    // After the timing, or NULL.
    mf_Status (*finish)(mf_BenchRig *rig, const mf_BenchOptions *options, mf_BenchResult *result,
                        mf_Error *error);
    // Further members of a line of --json, or NULL.
    json_t *(*more)(mf_BenchRig *rig, const mf_BenchResult *result);
    // In place of mf_bench_print_row, or NULL. False: it could not be written.
    bool (*row)(mf_BenchRig *rig, const mf_BenchResult *result);
    // Prints more below the row of text, or NULL; false: it could not be written.
    bool (*note)(mf_BenchRig *rig, const mf_BenchResult *result);
    // Frees what is not in mf_BenchRig, or NULL.
    void (*close)(mf_BenchRig *rig);
    // In place of all of these: runs one, prints its lines and returns an exit code.
    int (*run)(const void *bench, const mf_BenchOptions *options, bool json);
} mf_BenchKind;

#define MF_BENCH_ROWS(table)                                                                       \
    .benches = (table), .size = sizeof *(table), .count = sizeof(table) / sizeof *(table)

extern const mf_BenchKind mf_bench_points, mf_bench_evolutions; // bench_points.c
extern const mf_BenchKind mf_bench_swarms, mf_bench_articulated, mf_bench_models, mf_bench_ladder,
    mf_bench_soccer, mf_bench_environments, mf_bench_schedule, mf_bench_trusses, mf_bench_modules,
    mf_bench_cloths, mf_bench_particles, mf_bench_cameras, mf_bench_scripts;
