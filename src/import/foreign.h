// Robot files of formats that are not read.
#pragma once

#include <mayfly/base.h>

// Whether the name is that of a mesh.
bool mf_foreign_mesh(const char *path);

// MF_UNSUPPORTED, with what helps, for a mesh, USD or SDF file; `data` is followed by a 0.
mf_Status mf_foreign_check(const char *path, const char *data, size_t size, mf_Error *error);
