// Recordings: what they hold, and as a page.
#include "recorded.h"
#include "view/film.h"

#include <stdio.h>
#include <string.h>

#include <mayfly/record.h>

bool mf_recorded_begins(const char *head, size_t size) {
    static const char hdf5[] = "\x89HDF\r\n\x1a\n", mcap[] = "\x89MCAP0\r\n";
    return size >= 8 && (memcmp(head, hdf5, 8) == 0 || memcmp(head, mcap, 8) == 0);
}

bool mf_recorded_named(const char *path) {
    return mf_app_ends_with(path, ".h5") || mf_app_ends_with(path, ".hdf5") ||
           mf_app_ends_with(path, ".mcap");
}

bool mf_recorded_is(const char *path) {
    char head[8];
    FILE *file = mf_recorded_named(path) ? NULL : fopen(path, "rb");
    if (file == NULL)
        return mf_recorded_named(path);
    const size_t size = fread(head, 1, sizeof head, file);
    fclose(file);
    return mf_recorded_begins(head, size);
}

// ---- info --------------------------------------------------------------------------------------

static const char *type_name(mf_FieldType type) {
    static const char *const names[] = {
        [MF_F32] = "float32", [MF_F64] = "float64", [MF_I32] = "int32", [MF_U32] = "uint32"};
    return names[type];
}

static void show_times(const mf_Recording *recording) {
    const uint32_t last = recording->samples > 0 ? recording->samples - 1 : 0;
    printf("%u samples", recording->samples);
    if (recording->samples > 0)
        printf(", %g s to %g s", recording->time[0], recording->time[last]);
    if (last > 0)
        printf(", every %.6g s", (recording->time[last] - recording->time[0]) / last);
    puts("");
}

static void show(const mf_Recording *recording) {
    printf("%s: recording, %s%s%s, by Mayfly %s\n", recording->path, recording->kind,
           recording->compression[0] != '\0' ? ", compressed by " : "", recording->compression,
           recording->version[0] != '\0' ? recording->version : "(unknown version)");
    show_times(recording);
    printf("step %g ms, seed %llu\n", 1e3 * recording->step, (unsigned long long)recording->seed);
    if (!recording->complete)
        puts("note: the run that wrote it did not end: the last samples are missing");
    printf("mayfly view %s\n", recording->picture[0] != '\0'
                                   ? "shows it"
                                   : "cannot show it: it has numbers and no picture");
    if (recording->scene[0] != '\0')
        puts("holds the scene that was run (--json prints it)");
    printf("\n%-32s %8s %10s  %-8s %-7s %-8s %s\n", "field", "robots", "components", "type", "unit",
           "frame", "what");
    for (uint32_t i = 0; i < recording->field_count; i++) {
        const mf_RecordedField *field = &recording->fields[i];
        printf("%-32s %8u %10u  %-8s %-7s %-8s %s\n", field->name, field->count, field->components,
               type_name(field->type), field->unit, field->frame, field->description);
    }
}

static json_t *pack(const mf_Recording *recording) {
    const uint32_t count = recording->samples;
    json_t *fields = json_array();
    for (uint32_t i = 0; i < recording->field_count; i++) {
        const mf_RecordedField *field = &recording->fields[i];
        json_array_append_new(
            fields, json_pack("{s:s s:s s:s s:s s:s s:I s:I}", "name", field->name, "type",
                              type_name(field->type), "unit", field->unit, "frame", field->frame,
                              "description", field->description, "robots", (json_int_t)field->count,
                              "components", (json_int_t)field->components));
    }
    return json_pack("{s:s s:s s:s s:b s:I s:o s:I s:o s:o s:b s:s s:s s:o}", "kind",
                     recording->kind, "compression", recording->compression, "version",
                     recording->version, "complete", recording->complete, "seed",
                     (json_int_t)recording->seed, "step", mf_json_real(recording->step), "samples",
                     (json_int_t)count, "first",
                     count > 0 ? mf_json_real(recording->time[0]) : json_null(), "last",
                     count > 0 ? mf_json_real(recording->time[count - 1]) : json_null(), "picture",
                     recording->picture[0] != '\0', "scene", recording->scene, "run",
                     recording->run, "fields", fields);
}

mf_Status mf_recorded_info(mf_Context *context, const char *path, bool json, mf_Error *error) {
    mf_Recording *recording;
    MF_TRY(mf_recording_open(context, path, 0, &recording, error));
    mf_Status status = MF_OK;
    if (!json)
        show(recording);
    else if (!mf_app_print(pack(recording)))
        status = mf_fail(error, MF_IO, "cannot write to the standard output");
    mf_recording_destroy(recording);
    return status;
}

// ---- the page ----------------------------------------------------------------------------------

mf_Status mf_recorded_page(mf_Context *context, const char *path, char **page, mf_Error *error) {
    mf_Recording *recording;
    mf_Status status = mf_recording_open(context, path, 0, &recording, error);
    MF_THEN(status, mf_film_recording_page(context, recording, page, error));
    mf_recording_destroy(recording);
    return status;
}

mf_Status mf_recorded_film(mf_Context *context, const char *path, const char *film,
                           mf_Error *error) {
    mf_Recording *recording;
    mf_Status status = mf_recording_open(context, path, 0, &recording, error);
    MF_THEN(status, mf_film_write_recording(recording, film, error));
    mf_recording_destroy(recording);
    return status;
}
