// A package of files is untrusted: lengths are checked before they are used, and paths before
// anyone opens them.
#include "io/package.h"

#include <string.h>

static bool is_part(const char *part, size_t length) {
    if (length == 0 || part[0] == '.')
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)part[i] < 32 || part[i] == 127 || part[i] == '\\')
            return false;
    return true;
}

bool mf_package_is_path(const char *path) {
    if (strlen(path) >= MF_PACKAGE_PATH)
        return false;
    for (int depth = 0; depth <= MF_PACKAGE_DEPTH; depth++) {
        const size_t length = strcspn(path, "/");
        if (!is_part(path, length))
            return false;
        if (path[length] == '\0')
            return true;
        path += length + 1;
    }
    return false;
}

static uint32_t read_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

// What a message may show of a path that is refused.
static const char *show(char path[MF_PACKAGE_PATH]) {
    for (char *c = path; *c != '\0'; c++)
        *c = (unsigned char)*c < 32 || *c == 127 ? '?' : *c;
    return path;
}

bool mf_package_next(mf_Package *package, mf_PackageFile *out, mf_Error *error) {
    const size_t left = (size_t)(package->end - package->at);
    if (left == 0)
        return false;
    const uint32_t length = left >= 8 ? read_u32(package->at) : 0;
    const uint32_t size = left >= 8 ? read_u32(package->at + 4) : 0;
    if (left < 8 || length > left - 8 || size > left - 8 - length) {
        mf_fail(error, MF_BAD_FILE, "the files came only in part");
        return false;
    }
    if (package->count >= MF_PACKAGE_FILES) {
        mf_fail(error, MF_LIMIT, "expected at most %d files", MF_PACKAGE_FILES);
        return false;
    }
    const size_t kept = length < MF_PACKAGE_PATH ? length : MF_PACKAGE_PATH - 1;
    memcpy(out->path, package->at + 8, kept);
    out->path[kept] = '\0';
    if (length != kept || strlen(out->path) != kept || !mf_package_is_path(out->path)) {
        mf_fail(error, MF_BAD_FILE,
                "expected files with paths in their folder, without '..' and hidden ones, found "
                "'%.120s'",
                show(out->path));
        return false;
    }
    out->data = package->at + 8 + length;
    out->size = size;
    package->at += 8 + (size_t)length + size;
    package->count++;
    return true;
}
