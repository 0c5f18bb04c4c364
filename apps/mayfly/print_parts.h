// Files to print a truss, and what was written, for `print` and `replay`.
#pragma once

#include <mayfly/print.h>

typedef struct mf_PrintFiles {
    const char *stl; // folder
    const char *mf3; // file, or NULL
} mf_PrintFiles;

// Writes the files; makes the folder.
mf_Status mf_print_parts_save(const mf_Print *print, const mf_PrintFiles *files, mf_Error *error);
// Lines on stdout.
void mf_print_parts_report(const mf_Print *print, const mf_PrintFiles *files);

// The parts of an evolved machine, at the smallest scale at which every bar has space for its
// joints and its actuator. A bar that evolved can have more stroke than an actuator of its length
// has: the actuators then have a `share` [1] of the strokes, as large as fits.
mf_Status mf_print_parts_fit(mf_Context *context, const mf_Truss *truss, mf_Print **out,
                             double *share, mf_Error *error);
