// Common code of the fuzz targets for recordings: what is accepted is read to its last value.
#ifndef MAYFLY_TESTS_FUZZ_RECORDING_H
#define MAYFLY_TESTS_FUZZ_RECORDING_H

#include "fuzz.h"

enum { MOST = 1 << 26 }; // [byte] of a recording in memory

static inline size_t value_size(mf_FieldType type) {
    return type == MF_F64 ? 8 : 4;
}

// A sum over everything, so that each byte is read.
static inline unsigned read_everything(const mf_Recording *recording) {
    unsigned sum = (unsigned)(strlen(recording->version) + strlen(recording->scene) +
                              strlen(recording->picture) + strlen(recording->run));
    for (uint32_t s = 0; s < recording->samples; s++)
        sum += recording->time[s] > 0.0;
    for (uint64_t i = 0; i < (uint64_t)recording->samples * recording->frame_size; i++)
        sum += recording->frames[i] > 0.0f;
    for (uint32_t f = 0; f < recording->field_count; f++) {
        const mf_RecordedField *field = &recording->fields[f];
        const uint8_t *bytes = field->values;
        const uint64_t count = (uint64_t)recording->samples * field->count * field->components;
        sum += (unsigned)(strlen(field->name) + strlen(field->unit) + strlen(field->frame));
        for (uint64_t i = 0; i < count * value_size(field->type); i++)
            sum += bytes[i];
    }
    return sum;
}

// Opens a file of that content, and reads all that is accepted.
static inline int fuzz_recording(const uint8_t *data, size_t size) {
    static volatile unsigned sink;
    char path[64];
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/mayfly-fuzz-recording-%ld", folder, (long)getpid());
    FILE *file = fopen(path, "wb");
    require(file != NULL);
    require(fwrite(data, 1, size, file) == size);
    fclose(file);
    mf_Context *context = fuzz_context();
    mf_Recording *recording = NULL;
    mf_Error error = {0};
    const mf_Status status = mf_recording_open(context, path, MOST, &recording, &error);
    require((status == MF_OK) == (recording != NULL));
    require(status == MF_OK || (error.message[0] != '\0' && strchr(error.message, '\n') == NULL));
    if (recording != NULL)
        sink = read_everything(recording);
    (void)sink;
    mf_recording_destroy(recording);
    fuzz_end(context);
    unlink(path);
    return 0;
}

#endif
