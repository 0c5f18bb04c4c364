// Robot files of formats that are not read, known by how they begin, and what converts them.
#include "import/foreign.h"

#include <string.h>
#include <strings.h>

static bool begins(const char *data, size_t size, const char *with) {
    const size_t length = strlen(with);
    return size >= length && memcmp(data, with, length) == 0;
}

static bool ends(const char *path, const char *with) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcasecmp(dot, with) == 0;
}

// The name of the first element, or "".
static const char *root_of(const char *data, size_t size) {
    const char *at = data, *end = data + size;
    while (at < end && (at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        if (at + 1 < end && at[1] != '!' && at[1] != '?')
            return at + 1;
        const char *close = begins(at, (size_t)(end - at), "<!--") ? "-->" : ">";
        at = strstr(at, close);
        if (at == NULL)
            return "";
    }
    return "";
}

bool mf_foreign_mesh(const char *path) {
    static const char *const meshes[] = {".stl", ".obj", ".dae", ".ply", ".glb"};
    bool any = false;
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        any = any || ends(path, meshes[i]);
    return any;
}

mf_Status mf_foreign_check(const char *path, const char *data, size_t size, mf_Error *error) {
    if (mf_foreign_mesh(path))
        return mf_fail_at(error, MF_UNSUPPORTED, path, 0, 0,
                          "a mesh, not a robot: a URDF or MJCF file names it");
    const bool zip = begins(data, size, "PK\003\004");
    if (begins(data, size, "PXR-USDC") || begins(data, size, "#usda ") ||
        (zip && ends(path, ".usdz")))
        return mf_fail_at(error, MF_UNSUPPORTED, path, 0, 0,
                          "a USD file: usd_to_urdf (pip install nvidia-srl-usd-to-urdf) converts "
                          "it to URDF");
    const char *root = root_of(data, size);
    if (strncmp(root, "sdf", 3) == 0 && strchr(" \t\r\n>", root[3]) != NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, path, 0, 0,
                          "an SDF file: sdf2mjcf (pip install sdformat-mjcf) converts it to MJCF");
    return MF_OK;
}
