// The output file of a recorder: created under a temporary name in the same folder, written by HDF5
// through Mayfly's own driver, and renamed when it is complete.
#ifndef MAYFLY_SRC_RECORD_OUTPUT_H
#define MAYFLY_SRC_RECORD_OUTPUT_H

#include <mayfly/base.h>

#include <hdf5.h>

typedef struct mf_Output {
    mf_Context *context;
    const char *path; // final name, owned
    char *temporary;  // name until then, owned
    int descriptor;   // -1 while closed
    int failure;      // errno of the first system call that failed, 0: none
    hid_t driver;     // H5I_INVALID_HID while not registered
} mf_Output;

// Creates the temporary file. On failure nothing remains.
mf_Status mf_output_create(mf_Context *context, const char *path, mf_Output *out, mf_Error *error);

// A file access property list for writing to `output`, which must not move in memory;
// H5I_INVALID_HID on failure. Close it with H5Pclose.
hid_t mf_output_access(mf_Output *output);

// Syncs the file and moves it to its final name. On failure an existing file remains unchanged.
mf_Status mf_output_commit(mf_Output *output, mf_Error *error);

// Closes and frees; removes the temporary file unless it was committed.
void mf_output_free(mf_Output *output);

// The message for the failed system call.
mf_Status mf_output_fail(const mf_Output *output, mf_Error *error);

#endif
