// Timing of benches that step a world.
#pragma once

#include "bench.h"

#include <mayfly/scene.h>

enum { MF_BENCH_REPEATS = 101 }; // [1] most

// Times the rig's work once to warm up and then as often as `options` say (default 5), each repeat
// from the same snapshot of the world; sets seconds (median), slowest, repeats, steps, hash,
// threads, isa and dt of `result`. MF_CORRUPT: a repeat ended in another state than the others.
// MF_STOPPED. MF_NO_MEMORY.
mf_Status mf_bench_time(mf_BenchRig *rig, const mf_BenchOptions *options, mf_BenchResult *result,
                        mf_Error *error);

// Fused multiply-adds of single precision of one core in registers, in the widest vectors it has:
// [GFLOP/s], two operations each, the best in about fifty milliseconds. On processors without the
// instruction, a multiplication and an addition.
double mf_core_rate(void);

// Sorts the values and returns their median.
double mf_bench_median(double *values, uint32_t count);

// Loaded contacts per robot; `field`: point.load or contact.load. 0 without such a field.
double mf_bench_contacts(mf_Group *group, const char *field);

// Sets instances, precision, bytes and contacts of `result`; `contacts` is the field that
// mf_bench_contacts takes.
void mf_bench_describe(mf_BenchResult *result, mf_Group *group, const char *contacts);

// One line of text: robot steps per second and details. `group` may be NULL. False: it could not be
// written.
bool mf_bench_print_row(const char *name, const mf_BenchResult *result, const mf_Group *group);

// The path of the file `shared` in the folder MAYFLY_SHARED (default: `shared` next to the source
// folder); false when it does not exist.
bool mf_bench_shared(const char *shared, char out[MF_APP_PATH]);

// The robot of a bench: its shared file, or Mayfly's file `own` if that is missing, with a line on
// stderr. `shared` may be NULL. Returns `out`.
const char *mf_bench_robot(const char *bench, const char *shared, const char *own,
                           char out[MF_APP_PATH]);

// The same as a line of --json, with the core's rate and with the members of `more`, which replace
// others of the same name; releases `more`.
bool mf_bench_print_json(const mf_BenchOptions *options, const char *name, const char *motion,
                         const mf_BenchResult *result, json_t *more);

// Members that lines of one group have: bytes, contacts, faults, warnings. `what` is "model",
// "task" or similar, and `value` its name.
json_t *mf_bench_pack_group(const char *what, const char *value, const mf_BenchResult *result,
                            const mf_Group *group);

// A line of --json with the core's rate; releases it.
bool mf_bench_print_line(const mf_BenchOptions *options, json_t *line);

// One bench of a kind without its own `run`; returns an exit code.
int mf_bench_run(const mf_BenchKind *kind, const mf_Bench *bench, const mf_BenchOptions *options,
                 bool json);

// Reports the error, if any; returns the exit code of a bench.
int mf_bench_end(mf_Status status, const mf_Error *error, bool written);

typedef void (*mf_BenchWorkFn)(mf_BenchRig *rig);

// What a bench opens, and what is timed; of a scene, or a world with one group.
struct mf_BenchRig {
    const void *bench; // the row of its kind, which begins with mf_Bench
    mf_Context *context;
    mf_Model *model;
    mf_SceneFile *file;
    mf_Scene scene;
    mf_World *world;
    mf_Group *group;
    const void *image;      // that repeats start from; NULL: the state after opening
    size_t image_size;      // [byte]
    uint64_t steps;         // [1] of the world in a repeat
    mf_BenchWorkFn prepare; // untimed preparation after the snapshot, or NULL
    mf_BenchWorkFn run;     // NULL: `steps` steps
    const char *motion;     // of --json
    const char *contacts;   // field of mf_bench_contacts
    double dt;              // [s] of a step that is not one of the world; 0: it is
    mf_Status status;       // of work that failed
    mf_Error error;
};

// Each opens a part. A context with `threads` threads, and with a model (`import` as for
// mf_model_load).
mf_Status mf_bench_rig_context(mf_BenchRig *rig, uint32_t threads, mf_Error *error);
mf_Status mf_bench_rig_load(mf_BenchRig *rig, uint32_t threads, const char *path,
                            const mf_ImportConfig *import, mf_Error *error);
// Makes the world with `step` and its group, of the options' robots and precision.
mf_Status mf_bench_rig_fill(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Time step,
                            mf_Error *error);
// Reads a scene given as text into a context with `threads` threads; files in it are relative to
// scenes/. Creates its world (`config` may be NULL).
mf_Status mf_bench_rig_parse(mf_BenchRig *rig, uint32_t threads, const char *text,
                             const mf_Override *override, uint32_t overrides, mf_Error *error);
mf_Status mf_bench_rig_scene(mf_BenchRig *rig, const mf_SceneConfig *config, mf_Error *error);
void mf_bench_rig_free(mf_BenchRig *rig);
