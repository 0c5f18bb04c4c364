// Location of the files that a model's file names: meshes, textures, included files.
#pragma once

#include "base/root.h"

#include <mayfly/model.h>

#define MF_PATH_LIMIT MF_ROOT_PATH // [byte] a path with its end

// Resolves `address` relative to the model `file` and writes the path to `out` (of MF_PATH_LIMIT
// bytes). Supported are package://NAME/REST, model://NAME/REST, file:///PATH, absolute and relative
// paths. NAME is looked up in the config's pairs, then as a folder of that name or with a
// package.xml of that <name> in or above the model's folder. `mesh_folder` (may be NULL) is a
// folder, relative to the model, where the bare file name is looked up as well.
// `what` is the kind of file for messages, such as "mesh" or "texture".
//
// MF_OK only when the file exists. MF_BAD_FILE: the address leaves its root by ".." or a link.
// MF_NOT_FOUND: no such package or file, or an absolute path outside of the root, whether there is
// a file or not. MF_UNSUPPORTED: an address of another kind.
mf_Status mf_package_resolve(mf_Context *context, const char *file, const mf_ImportConfig *config,
                             const char *what, const char *mesh_folder, const char *address,
                             char *out, mf_Error *error);
