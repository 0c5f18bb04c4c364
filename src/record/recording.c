// Recordings in memory: opening, by what the file begins with, and the memory of what was read.
#include "record/recording.h"
#include "base/floats.h"

#include "record/journal.h"
#include "record/recorder.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_MOST (UINT64_C(8) << 30) // [byte]

// ---- memory ------------------------------------------------------------------------------------

static bool grow(mf_RecordingMemory *memory) {
    if (memory->count < memory->capacity)
        return true;
    const uint32_t capacity = memory->capacity == 0 ? 256 : 2 * memory->capacity;
    void **blocks = mf_allocate(memory->context, capacity, sizeof *blocks);
    if (blocks == NULL)
        return false;
    if (memory->count > 0)
        memcpy(blocks, memory->blocks, memory->count * sizeof *blocks);
    mf_release(memory->context, memory->blocks);
    memory->blocks = blocks;
    memory->capacity = capacity;
    return true;
}

void *mf_recording_take(mf_Recording *recording, uint64_t count, uint64_t size, mf_Error *error) {
    mf_RecordingMemory *memory = recording->memory;
    if (size > 0 && count > memory->left / size) {
        mf_fail_at(error, MF_LIMIT, recording->path, 0, 0,
                   "the recording needs more memory than %.3g GB", 1e-9 * (double)memory->left);
        return NULL;
    }
    void *block = grow(memory) ? mf_allocate(memory->context, count + 1, size) : NULL;
    if (block == NULL) {
        mf_fail_at(error, MF_NO_MEMORY, recording->path, 0, 0, "no memory to read the recording");
        return NULL;
    }
    memory->left -= count * size;
    memory->blocks[memory->count++] = block;
    return block;
}

const char *mf_recording_text(mf_Recording *recording, const char *text, size_t size,
                              mf_Error *error) {
    char *copy = mf_recording_take(recording, size + 1, 1, error);
    if (copy != NULL && text != NULL)
        memcpy(copy, text, size);
    return copy;
}

mf_RecordedField *mf_recording_field(mf_Recording *recording, mf_Error *error) {
    mf_RecordingMemory *memory = recording->memory;
    if (recording->field_count == memory->field_capacity) {
        const uint32_t capacity = 2 * memory->field_capacity + 256;
        mf_RecordedField *fields = mf_recording_take(recording, capacity, sizeof *fields, error);
        if (fields == NULL)
            return NULL;
        if (recording->field_count > 0)
            memcpy(fields, memory->fields, recording->field_count * sizeof *fields);
        recording->fields = memory->fields = fields;
        memory->field_capacity = capacity;
    }
    return &memory->fields[recording->field_count++];
}

mf_Status mf_recording_check(const mf_Recording *recording, uint64_t format, mf_Error *error) {
    if (format >= 1 && format <= MF_RECORD_FORMAT)
        return MF_OK;
    return mf_fail_at(error, MF_VERSION, recording->path, 0, 0,
                      "recording of format %llu, by version %.40s; this version reads format %u: "
                      "use that version, or record it again",
                      (unsigned long long)format,
                      recording->version[0] != '\0' ? recording->version : "unknown",
                      MF_RECORD_FORMAT);
}

void mf_recording_destroy(mf_Recording *recording) {
    if (recording == NULL)
        return;
    mf_RecordingMemory *memory = recording->memory;
    mf_Context *context = memory->context;
    for (uint32_t i = 0; i < memory->count; i++)
        mf_release(context, memory->blocks[i]);
    mf_release(context, memory->blocks);
    mf_release(context, memory);
    mf_release(context, recording);
}

// ---- opening -----------------------------------------------------------------------------------

mf_Recording *mf_recording_make(mf_Context *context, const char *path, uint64_t most,
                                mf_Error *error) {
    mf_Recording *recording = mf_allocate(context, 1, sizeof *recording);
    mf_RecordingMemory *memory = mf_allocate(context, 1, sizeof *memory);
    if (recording == NULL || memory == NULL) {
        mf_release(context, recording);
        mf_release(context, memory);
        mf_fail(error, MF_NO_MEMORY, "recording: out of memory");
        return NULL;
    }
    memory->context = context;
    memory->left = most != 0 ? most : USUAL_MOST;
    *recording = (mf_Recording){.context = context,
                                .path = "",
                                .compression = "",
                                .version = "",
                                .model = "",
                                .group = "",
                                .run = "",
                                .scene = "",
                                .picture = "",
                                .memory = memory};
    recording->path = mf_recording_text(recording, path, strlen(path), error);
    if (recording->path != NULL)
        return recording;
    mf_recording_destroy(recording);
    return NULL;
}

static mf_Status read_file(mf_Recording *recording, mf_Error *error) {
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    const size_t mark = sizeof hdf5 - 1;
    const uint64_t most = recording->memory->left;
    char *data = NULL;
    size_t size = 0;
    mf_Status status =
        mf_file_read(recording->context, recording->path,
                     most < SIZE_MAX / 2 ? (size_t)most : SIZE_MAX / 2, &data, &size, error);
    if (status != MF_OK)
        return status;
    const bool is_hdf5 = size >= mark && memcmp(data, hdf5, mark) == 0;
    bool undone = false;
    if (is_hdf5)
        status = mf_journal_apply(recording->context, recording->path, data, &size, &undone, error);
    else if (mf_recording_is_mcap(data, size))
        status = mf_recording_read_mcap(recording, data, size, error);
    else if (!is_hdf5)
        status = mf_fail_at(error, MF_BAD_FILE, recording->path, 0, 0,
                            "not a recording: expected a file that mayfly run --record has "
                            "written, HDF5 (.h5) or MCAP (.mcap)");
    if (!undone) { // the library reads the file itself
        mf_release(recording->context, data);
        data = NULL;
    }
    if (status == MF_OK && is_hdf5)
        status = mf_recording_read_hdf5(recording, data, size, error);
    mf_release(recording->context, data);
    return status;
}

mf_Status mf_recording_open(mf_Context *context, const char *path, uint64_t most,
                            mf_Recording **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Error own = {0};
    error = error != NULL ? error : &own;
    MF_NEED(out != NULL, error, "recording: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && path != NULL, error, "recording: context or path is NULL");
    mf_Recording *recording = mf_recording_make(context, path, most, error);
    mf_Status status = recording != NULL ? read_file(recording, error) : error->status;
    if (status != MF_OK)
        mf_recording_destroy(recording);
    else
        *out = recording;
    return status;
}
