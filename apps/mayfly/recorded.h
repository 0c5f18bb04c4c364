// Recordings, for `info` and `view`.
#pragma once

#include "app.h"

// Whether the file begins as recordings do: HDF5 or MCAP.
bool mf_recorded_begins(const char *head, size_t size);
// Whether it does, or its name says that it should.
bool mf_recorded_is(const char *path);
bool mf_recorded_named(const char *path);

// Prints what a recording holds: version, times, fields with units.
mf_Status mf_recorded_info(mf_Context *context, const char *path, bool json, mf_Error *error);

// The page that shows a recording, terminated by 0; from mf_allocate.
mf_Status mf_recorded_page(mf_Context *context, const char *path, char **page, mf_Error *error);
// Writes it as a film.
mf_Status mf_recorded_film(mf_Context *context, const char *path, const char *film,
                           mf_Error *error);
