// What mf_file_replace does before it writes, for those who want to know it early.
#ifndef MAYFLY_BASE_FILE_H
#define MAYFLY_BASE_FILE_H

#include <mayfly/base.h>

// MF_OK when mf_file_replace could write `path` now: its folder exists and takes a new file, and
// the path is no folder, device or pipe. Tried by creating and removing a temporary file; `path`
// itself is not touched.
mf_Status mf_file_try(mf_Context *context, const char *path, mf_Error *error);

#endif
