// The checks of mf_file_replace before it writes, for callers that need them earlier.
#pragma once

#include <mayfly/base.h>

// MF_OK when mf_file_replace could write `path` now: its folder exists and takes a new file, and
// the path is no folder, device or pipe. Tried by creating and removing a temporary file; `path`
// itself is not touched.
mf_Status mf_file_try(mf_Context *context, const char *path, mf_Error *error);

// mf_file_read for texts: a byte order mark of UTF-8 is dropped, UTF-16 and UTF-32 are refused.
mf_Status mf_file_read_text(mf_Context *context, const char *path, size_t limit, char **data,
                            size_t *size, mf_Error *error);

// From now on `seen` is called with the path of every file that mf_file_read has read, on the
// thread that read it; NULL ends it. Used to store the input files of a run. Must not be called
// while other calls use the context.
void mf_file_watch(mf_Context *context, void (*seen)(const char *path, void *user), void *user);

// From now on mf_file_read refuses every path for which `may` is false, before it opens it; NULL
// ends it. Used to read what others have sent. Must not be called while other calls use the
// context.
void mf_file_guard(mf_Context *context, bool (*may)(const char *path, void *user), void *user);

// Whether the guard lets it be read; it is not opened.
bool mf_file_may(const mf_Context *context, const char *path);
