// Reading recordings: what the readers of both formats share. They fill an mf_Recording piece by
// piece; all memory is on its list.
#pragma once

#include <mayfly/record.h>

#include <stdbool.h>

typedef struct mf_RecordingMemory {
    mf_Context *context;
    void **blocks;
    uint32_t count, capacity;
    uint64_t left;            // [byte] that may still be taken
    uint32_t field_capacity;  // [1]
    mf_RecordedField *fields; // the recording's, as they are made; moved when they grow
    double *time;
    float *frames;
} mf_RecordingMemory;

// Zeros, kept until the recording is destroyed; NULL and an error: no memory, or beyond the limit.
void *mf_recording_take(mf_Recording *recording, uint64_t count, uint64_t size, mf_Error *error);
// A copy of a text; "" for NULL. NULL and an error: no memory.
const char *mf_recording_text(mf_Recording *recording, const char *text, size_t size,
                              mf_Error *error);
// The next field, to be filled before the one after it; NULL and an error: no memory.
mf_RecordedField *mf_recording_field(mf_Recording *recording, mf_Error *error);
// MF_VERSION unless this version reads the format.
mf_Status mf_recording_check(const mf_Recording *recording, uint64_t format, mf_Error *error);

bool mf_recording_is_mcap(const char *data, size_t size);
mf_Status mf_recording_read_mcap(mf_Recording *recording, const char *data, size_t size,
                                 mf_Error *error);
// `image`: the file as it was whole last; NULL: as it is.
mf_Status mf_recording_read_hdf5(mf_Recording *recording, char *image, size_t size,
                                 mf_Error *error);

// Calls `heard` for every message in CDR of an MCAP file that others have written, in its order,
// with topic, name of its type and time [ns]; a failure ends it. `recording`: for memory and
// messages, from mf_recording_make.
typedef mf_Status (*mf_McapMessageFn)(void *user, const char *topic, const char *type, mf_Time time,
                                      const uint8_t *data, size_t size, mf_Error *error);
mf_Status mf_recording_messages(mf_Recording *recording, const char *data, size_t size,
                                mf_McapMessageFn heard, void *user, mf_Error *error);
// An empty recording. NULL and an error: no memory.
mf_Recording *mf_recording_make(mf_Context *context, const char *path, uint64_t most,
                                mf_Error *error);
