// Several files in one block of bytes, as a page sends a folder: of each the length of its path and
// its size (u32, little-endian), then the path and the bytes.
#ifndef MAYFLY_SRC_IO_BUNDLE_H
#define MAYFLY_SRC_IO_BUNDLE_H

#include <mayfly/base.h>

enum {
    MF_BUNDLE_FILES = 4096, // [1] most files
    MF_BUNDLE_PATH = 512,   // [byte] a path with its end
    MF_BUNDLE_DEPTH = 16    // [1] most folders of a path
};

typedef struct mf_Bundle {
    const uint8_t *at, *end;
    uint32_t count; // [1] files read
} mf_Bundle;

typedef struct mf_BundleFile {
    char path[MF_BUNDLE_PATH]; // as mf_bundle_is_path allows it
    const uint8_t *data;       // in the bundle
    size_t size;               // [byte]
} mf_BundleFile;

// Whether a path names a file below a folder that it cannot leave: no part of it is empty, begins
// with a point, or has a backslash or a control character.
bool mf_bundle_is_path(const char *path);

// The next file. False at the end, or with an error of status MF_BAD_FILE (the bytes are no bundle,
// or a path is refused) or MF_LIMIT.
bool mf_bundle_next(mf_Bundle *bundle, mf_BundleFile *out, mf_Error *error);

#endif
