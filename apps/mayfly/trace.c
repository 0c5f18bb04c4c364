// A line for each iteration: group, robot, time at the end of the frame, iteration from 0, which is
// before the first one, and energy.
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct mf_Trace {
    const mf_Scene *scene;
    const char *path;
    FILE *file;
};

static const mf_Field *counts_of(const mf_Scene *scene, uint32_t group) {
    return mf_group_find_field(mf_world_group(scene->world, group), "frame.traced");
}

static mf_Status check_groups(const mf_Scene *scene, mf_Error *error) {
    for (uint32_t g = 0; g < scene->group_count; g++)
        if (counts_of(scene, g) != NULL)
            return MF_OK;
    return mf_fail(error, MF_UNSUPPORTED,
                   "--trace: no group moves by `quasistatic` and keeps energies "
                   "(motion.quasistatic.trace)");
}

mf_Status mf_trace_open(const mf_Scene *scene, const char *path, mf_Trace **out, mf_Error *error) {
    mf_Context *context = mf_world_context(scene->world);
    MF_TRY(check_groups(scene, error));
    mf_Trace *trace = mf_allocate(context, 1, sizeof *trace);
    MF_NEED_MEMORY(trace != NULL, error, "--trace");
    *trace = (mf_Trace){.scene = scene, .path = path, .file = fopen(path, "w")};
    if (trace->file == NULL) {
        mf_release(context, trace);
        return mf_fail_at(error, MF_IO, path, 0, 0, "cannot write it: %s", strerror(errno));
    }
    fprintf(trace->file, "group,robot,time [s],iteration,energy [J]\n");
    *out = trace;
    return MF_OK;
}

static void write_group(const mf_Trace *trace, uint32_t index) {
    mf_Group *group = mf_world_group(trace->scene->world, index);
    const mf_Field *counts = counts_of(trace->scene, index);
    const mf_Field *energies = mf_group_find_field(group, "frame.trace");
    const double time = mf_time_to_seconds(mf_world_time(trace->scene->world));
    for (uint32_t i = 0; counts != NULL && i < mf_group_count(group); i++)
        for (uint32_t n = 0; n < (uint32_t)mf_field_get(counts, i, 0); n++)
            fprintf(trace->file, "%s,%u,%.9g,%u,%.17g\n", mf_group_config_of(group)->name, i, time,
                    n, mf_field_get(energies, i, n));
}

void mf_trace_frame(const mf_Trace *trace) {
    for (uint32_t g = 0; g < trace->scene->group_count; g++)
        write_group(trace, g);
}

mf_Status mf_trace_close(mf_Trace *trace, mf_Error *error) {
    if (trace == NULL)
        return MF_OK;
    const bool failed = ferror(trace->file) != 0;
    const bool written = fclose(trace->file) == 0 && !failed;
    const char *path = trace->path;
    mf_release(mf_world_context(trace->scene->world), trace);
    return written ? MF_OK : mf_fail_at(error, MF_IO, path, 0, 0, "could not be written");
}
