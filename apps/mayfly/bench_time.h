// Timing of benches that step a world.
#ifndef MAYFLY_APP_BENCH_TIME_H
#define MAYFLY_APP_BENCH_TIME_H

#include "bench.h"

enum { MF_BENCH_REPEATS = 101 }; // [1] most

// The timed work. Every repeat starts from the same snapshot of the world.
typedef struct mf_BenchWork {
    const char *name;
    mf_World *world;
    const void *image;           // NULL: the current state, stored for the repeats
    size_t size;                 // [byte] of it
    uint64_t steps;              // [1] of the world
    void (*prepare)(void *user); // untimed preparation after the snapshot, or NULL
    void (*run)(void *user);     // NULL: `steps` steps
    void *user;                  // argument of both
} mf_BenchWork;

// Times the work once to warm up and then as often as `options` say (default 5); sets seconds
// (median), slowest, repeats, steps, hash, threads, isa and dt of `result`. MF_CORRUPT: a repeat
// ended in another state than the others. MF_STOPPED. MF_NO_MEMORY.
mf_Status mf_bench_time(const mf_BenchWork *work, const mf_BenchOptions *options,
                        mf_BenchResult *result, mf_Error *error);

// Sorts the values.
double mf_bench_median(double *values, uint32_t count);

// Loaded contacts per robot; `field`: point.load or contact.load. 0 without such a field.
double mf_bench_contacts(mf_Group *group, const char *field);

// One line of text: robot steps per second and details. False: it could not be written.
bool mf_bench_print_row(const char *name, const mf_BenchResult *result, const mf_Group *group);

// The path of the file `shared` in the folder MAYFLY_SHARED (default: `shared` next to the source
// folder); false when it does not exist.
bool mf_bench_shared(const char *shared, char out[MF_APP_PATH]);

// The robot of a bench: its shared file, or Mayfly's file `own` if that is missing, with a line on
// stderr. `shared` may be NULL. Returns `out`.
const char *mf_bench_robot(const char *bench, const char *shared, const char *own,
                           char out[MF_APP_PATH]);

// The same as a line of JSON; `what` is "model", "task" or similar, and `value` its name.
bool mf_bench_print_json(const mf_BenchOptions *options, const char *name, const char *motion,
                         const char *what, const char *value, const mf_BenchResult *result,
                         const mf_Group *group);

#endif
