// Robot files of formats that are not read.
#pragma once

#include <mayfly/base.h>

// MF_UNSUPPORTED, with the way to convert it, for a USD or SDF file; `data` is followed by a 0.
mf_Status mf_foreign_check(const char *path, const char *data, size_t size, mf_Error *error);
