// Several files in one block of bytes, as a page sends a folder: of each the length of its path and
// its size (u32, little-endian), then the path and the bytes.
#pragma once

#include <mayfly/base.h>

enum {
    MF_PACKAGE_FILES = 4096, // [1] most files
    MF_PACKAGE_PATH = 512,   // [byte] a path with its end
    MF_PACKAGE_DEPTH = 16    // [1] most folders of a path
};

typedef struct mf_Package {
    const uint8_t *at, *end;
    uint32_t count; // [1] files read
} mf_Package;

typedef struct mf_PackageFile {
    char path[MF_PACKAGE_PATH]; // as mf_package_is_path allows it
    const uint8_t *data;        // in the package
    size_t size;                // [byte]
} mf_PackageFile;

// Whether a path names a file below a folder that it cannot leave: no part of it is empty, begins
// with a point, or has a backslash or a control character.
bool mf_package_is_path(const char *path);

// The next file. False at the end, or with an error of status MF_BAD_FILE (the bytes are no
// package, or a path is refused) or MF_LIMIT.
bool mf_package_next(mf_Package *package, mf_PackageFile *out, mf_Error *error);
