// The output file of a recorder: created under a temporary name in the same folder, written by HDF5
// through Mayfly's own driver, and renamed when its head is there. From then on it can be read up
// to what was written last, whatever ends the run; what it replaces is kept until it is complete.
#pragma once

#include <mayfly/base.h>

#include "record/journal.h"

#include <hdf5.h>

typedef struct mf_Output {
    mf_Context *context;
    const char *path; // final name, owned
    char *temporary;  // name until then, owned
    bool placed;      // it has its final name
    bool kept;        // it stays there, though it is not complete
    mf_Journal journal;
    int descriptor; // -1 while closed
    int failure;    // errno of the first system call that failed, 0: none
    hid_t driver;   // H5I_INVALID_HID while not registered
} mf_Output;

// Creates the temporary file. On failure nothing remains.
mf_Status mf_output_create(mf_Context *context, const char *path, mf_Output *out, mf_Error *error);

// A file access property list for writing to `output`, which must not move in memory;
// H5I_INVALID_HID on failure. Close it with H5Pclose.
hid_t mf_output_access(mf_Output *output);

// The head is there: moves the file to its final name, unless it replaces another one. What is
// written from now on can be undone.
mf_Status mf_output_publish(mf_Output *output, mf_Error *error);
// All that was written can be read.
void mf_output_whole(mf_Output *output);
// After a failure: where the disk is full, undoes what was written since the file was whole last,
// and keeps it, also instead of another one.
void mf_output_keep(mf_Output *output);

// Syncs the file and moves it to its final name. On failure a file there remains unchanged.
mf_Status mf_output_commit(mf_Output *output, mf_Error *error);

// Closes and frees; removes the file unless it was committed or kept.
void mf_output_free(mf_Output *output);

// The message for the failed system call.
mf_Status mf_output_fail(const mf_Output *output, mf_Error *error);
