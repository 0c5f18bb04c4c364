// Repeats with equal work, verified by their hash; output; worlds.
#include "bench_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "notes.h"

double mf_bench_median(double *values, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        double value = values[i];
        uint32_t k = i;
        for (; k > 0 && values[k - 1] > value; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
    return values[count / 2];
}

double mf_bench_contacts(mf_Group *group, const char *field) {
    const mf_Field *load = mf_group_find_field(group, field);
    uint64_t count = 0;
    for (uint32_t robot = 0; load != NULL && robot < mf_group_count(group); robot++)
        for (uint32_t i = 0; i < load->components; i++)
            count += mf_field_get(load, robot, i) > 0.0;
    return (double)count / mf_group_count(group);
}

static double time_once(mf_BenchRig *rig) {
    if (rig->prepare != NULL)
        rig->prepare(rig);
    const double started = mf_clock_seconds();
    if (rig->run != NULL)
        rig->run(rig);
    else
        mf_world_step(rig->world, rig->steps);
    return mf_clock_seconds() - started;
}

static mf_Status repeat(mf_BenchRig *rig, const void *image, size_t size, mf_BenchResult *result,
                        mf_Error *error) {
    double seconds[MF_BENCH_REPEATS];
    for (uint32_t i = 0; i <= result->repeats; i++) {
        if (mf_app_stop_requested())
            return mf_fail(error, MF_STOPPED, "stopped");
        MF_TRY(mf_world_restore(rig->world, image, size, error));
        const double once = time_once(rig);
        const uint64_t hash = mf_world_hash(rig->world);
        if (i > 0 && hash != result->hash)
            return mf_fail(error, MF_CORRUPT, "%s: repeat %u ended with hash %016llx, not %016llx",
                           ((const mf_Bench *)rig->bench)->name, i, (unsigned long long)hash,
                           (unsigned long long)result->hash);
        result->hash = hash;
        if (i > 0)
            seconds[i - 1] = once;
    }
    result->seconds = mf_bench_median(seconds, result->repeats);
    result->slowest = seconds[result->repeats - 1];
    return MF_OK;
}

static mf_Status repeat_from_now(mf_BenchRig *rig, mf_BenchResult *result, mf_Error *error) {
    mf_Context *context = mf_world_context(rig->world);
    const size_t size = mf_world_snapshot_size(rig->world);
    void *image = mf_allocate(context, size, 1);
    MF_NEED_MEMORY(image != NULL, error, "bench");
    mf_Status status = mf_world_snapshot(rig->world, image, size, error);
    MF_THEN(status, repeat(rig, image, size, result, error));
    mf_release(context, image);
    return status;
}

mf_Status mf_bench_time(mf_BenchRig *rig, const mf_BenchOptions *options, mf_BenchResult *result,
                        mf_Error *error) {
    result->repeats = options->repeats != 0 ? options->repeats : 5;
    result->steps = rig->steps;
    result->threads = mf_context_threads(mf_world_context(rig->world));
    result->isa = mf_world_isa(rig->world);
    result->dt = mf_time_to_seconds(mf_world_config_of(rig->world)->step);
    return rig->image != NULL ? repeat(rig, rig->image, rig->image_size, result, error)
                              : repeat_from_now(rig, result, error);
}

void mf_bench_describe(mf_BenchResult *result, mf_Group *group, const char *contacts) {
    result->instances = mf_group_count(group);
    result->double_precision = mf_group_config_of(group)->double_precision;
    result->bytes_per_robot = (double)mf_group_bytes_per_instance(group);
    result->contacts_per_robot = mf_bench_contacts(group, contacts);
}

bool mf_bench_print_row(const char *name, const mf_BenchResult *r, const mf_Group *group) {
    const uint32_t faults = mf_group_fault_total(group), warnings = mf_group_warning_total(group);
    double rate = (double)r->steps * r->instances / r->seconds;
    char factor[MF_APP_NUMBER], time[MF_APP_NUMBER];
    printf("%-20s %7u %7u %-8s %-6s %10.4g M/s %15s x %9s %8.0f B %5.1f  %016llx", name,
           r->instances, r->threads, mf_isa_name(r->isa), r->double_precision ? "double" : "float",
           rate * 1e-6, mf_app_count(rate * r->dt, factor), mf_app_duration(r->seconds, time),
           r->bytes_per_robot, r->contacts_per_robot, (unsigned long long)r->hash);
    if (faults > 0)
        printf("  %u faults", faults);
    if (warnings > 0)
        printf("  %u with warnings", warnings);
    printf("\n");
    return mf_app_flush();
}

bool mf_bench_shared(const char *shared, char out[MF_APP_PATH]) {
    const char *folder = getenv("MAYFLY_SHARED");
    if (folder != NULL)
        snprintf(out, MF_APP_PATH, "%s/%s", folder, shared);
    else
        snprintf(out, MF_APP_PATH, "%s/../shared/%s", MAYFLY_SOURCE_DIR, shared);
    return access(out, R_OK) == 0;
}

const char *mf_bench_robot(const char *bench, const char *shared, const char *own,
                           char out[MF_APP_PATH]) {
    if (shared != NULL && mf_bench_shared(shared, out))
        return out;
    if (shared != NULL)
        fprintf(stderr, "mayfly: %s: %s was not found; measured with %s\n", bench, out, own);
    return mf_app_own(own, out);
}

bool mf_bench_print_line(const mf_BenchOptions *options, json_t *line) {
    if (line != NULL)
        json_object_set_new(line, "gflops", mf_json_real(options->gflops));
    return mf_app_print(line);
}

bool mf_bench_print_json(const mf_BenchOptions *options, const char *name, const char *motion,
                         const mf_BenchResult *r, json_t *more) {
    const double robot_steps = (double)r->steps * r->instances;
    json_t *line = json_pack(
        "{s:s, s:s, s:I, s:I, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "bench", name,
        "motion", motion, "instances", (json_int_t)r->instances, "threads", (json_int_t)r->threads,
        "isa", mf_isa_name(r->isa), "precision", r->double_precision ? "double" : "float", "dt",
        mf_json_real(r->dt), "steps", (json_int_t)r->steps, "seconds", mf_json_real(r->seconds),
        "steps_per_second", mf_json_real(robot_steps / r->seconds), "realtime_factor",
        mf_json_real(robot_steps * r->dt / r->seconds), "hash", mf_app_hash(r->hash),
        "slowest_seconds", mf_json_real(r->slowest), "repeats", (json_int_t)r->repeats);
    if (more != NULL)
        json_object_update(line, more);
    json_decref(more);
    return mf_bench_print_line(options, line);
}

json_t *mf_bench_pack_group(const char *what, const char *value, const mf_BenchResult *result,
                            const mf_Group *group) {
    return json_pack("{s:s, s:o, s:o, s:I, s:o}", what, value, "bytes_per_robot",
                     mf_json_real(result->bytes_per_robot), "contacts_per_robot",
                     mf_json_real(result->contacts_per_robot), "faults",
                     (json_int_t)mf_group_fault_total(group), "warnings", mf_warnings_pack(group));
}

int mf_bench_end(mf_Status status, const mf_Error *error, bool written) {
    if (status != MF_OK)
        return mf_app_fail(error);
    return written ? MF_EXIT_DONE : MF_EXIT_FAILED;
}

// ---- worlds ------------------------------------------------------------------------------------

mf_Status mf_bench_rig_context(mf_BenchRig *rig, uint32_t threads, mf_Error *error) {
    mf_ContextConfig config = mf_context_config();
    config.threads = threads;
    return mf_context_create(&config, &rig->context, error);
}

mf_Status mf_bench_rig_load(mf_BenchRig *rig, uint32_t threads, const char *path,
                            const mf_ImportConfig *import, mf_Error *error) {
    MF_TRY(mf_bench_rig_context(rig, threads, error));
    return mf_model_load(rig->context, path, import, &rig->model, error);
}

mf_Status mf_bench_rig_fill(mf_BenchRig *rig, const mf_BenchOptions *options, mf_Time step,
                            mf_Error *error) {
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    world.step = step;
    group.model = rig->model;
    group.count = options->instances;
    group.double_precision = options->double_precision;
    MF_TRY(mf_world_create(rig->context, &world, &rig->world, error));
    return mf_world_add_group(rig->world, &group, &rig->group, error);
}

mf_Status mf_bench_rig_parse(mf_BenchRig *rig, uint32_t threads, const char *text,
                             const mf_Override *override, uint32_t overrides, mf_Error *error) {
    char scenes[MF_APP_PATH], path[MF_APP_PATH + 16];
    snprintf(path, sizeof path, "%s/bench", mf_app_own("scenes", scenes));
    MF_TRY(mf_bench_rig_context(rig, threads, error));
    return mf_scene_file_parse(rig->context, path, text, strlen(text), override, overrides,
                               &rig->file, error);
}

mf_Status mf_bench_rig_scene(mf_BenchRig *rig, const mf_SceneConfig *config, mf_Error *error) {
    mf_Status status = mf_scene_create(rig->context, rig->file, config, &rig->scene, error);
    rig->world = rig->scene.world;
    rig->group = rig->scene.group;
    return status;
}

void mf_bench_rig_free(mf_BenchRig *rig) {
    if (rig->file == NULL)
        mf_world_destroy(rig->world);
    mf_scene_destroy(&rig->scene);
    mf_scene_file_destroy(rig->file);
    mf_model_destroy(rig->model);
    mf_context_destroy(rig->context);
}

// ---- one bench ---------------------------------------------------------------------------------

// The options with the bench's own values where they say nothing.
static mf_BenchOptions complete(const mf_Bench *bench, const mf_BenchOptions *given) {
    mf_BenchOptions options = *given;
    if (options.threads == 0)
        options.threads = bench->threads == MF_BENCH_ALL ? 0 : bench->threads;
    if (options.instances == 0)
        options.instances = bench->instances;
    if (options.steps == 0)
        options.steps = bench->steps;
    return options;
}

static mf_Status measure(const mf_BenchKind *kind, const mf_BenchOptions *options, mf_BenchRig *rig,
                         mf_BenchResult *result, mf_Error *error) {
    rig->contacts = "contact.load";
    rig->steps = options->steps;
    MF_TRY(kind->open(rig, options, error));
    MF_TRY((kind->time != NULL ? kind->time : mf_bench_time)(rig, options, result, error));
    if (rig->status != MF_OK) {
        *error = rig->error;
        return rig->status;
    }
    if (rig->dt > 0.0)
        result->dt = rig->dt;
    mf_bench_describe(result, rig->group, rig->contacts);
    return kind->finish != NULL ? kind->finish(rig, options, result, error) : MF_OK;
}

static bool print(const mf_BenchKind *kind, const mf_BenchOptions *options, mf_BenchRig *rig,
                  const mf_BenchResult *result, bool json) {
    const char *name = ((const mf_Bench *)rig->bench)->name;
    if (json)
        return mf_bench_print_json(options, name, rig->motion, result,
                                   kind->more != NULL ? kind->more(rig, result) : NULL);
    return (kind->row != NULL ? kind->row(rig, result)
                              : mf_bench_print_row(name, result, rig->group)) &&
           (kind->note == NULL || kind->note(rig, result)) && mf_app_flush();
}

static int run_one(const mf_BenchKind *kind, const mf_Bench *bench, const mf_BenchOptions *given,
                   bool json) {
    const mf_BenchOptions options = complete(bench, given);
    mf_BenchRig *rig = calloc(1, kind->rig_size);
    mf_BenchResult result = {.best = NAN};
    mf_Error error = {0};
    if (rig == NULL)
        return mf_bench_end(mf_fail(&error, MF_NO_MEMORY, "bench: out of memory"), &error, false);
    rig->bench = bench;
    const mf_Status status = measure(kind, &options, rig, &result, &error);
    const bool written = status == MF_OK && print(kind, &options, rig, &result, json);
    if (kind->close != NULL)
        kind->close(rig);
    mf_bench_rig_free(rig);
    free(rig);
    return mf_bench_end(status, &error, written);
}

int mf_bench_run(const mf_BenchKind *kind, const mf_Bench *bench, const mf_BenchOptions *options,
                 bool json) {
    if (kind->curve == NULL || bench->instances != 0 || options->instances != 0)
        return run_one(kind, bench, options, json);
    mf_BenchOptions one = *options;
    int result = MF_EXIT_DONE;
    for (uint32_t n = 0; result == MF_EXIT_DONE; n++) {
        const mf_BenchPoint point = kind->curve(bench, n);
        if (point.instances == 0)
            break;
        one.instances = point.instances;
        one.steps = options->steps != 0 ? options->steps : point.steps;
        result = run_one(kind, bench, &one, json);
    }
    return result;
}
