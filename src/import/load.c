// Model files: selection of the importer.
#include "base/file.h"
#include "import/foreign.h"
#include "import/mesh.h"
#include "base/floats.h"
#include "import/mjcf.h"
#include "import/urdf.h"

#include "math/scalar.h"

#include <string.h>

mf_ImportConfig mf_import_config(void) {
    return (mf_ImportConfig){
        .struct_size = sizeof(mf_ImportConfig), .visual = true, .mesh_points = 8};
}

static mf_Status check_config(const mf_ImportConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "import config: start from mf_import_config()");
    MF_NEED(config->mesh_points >= 1 && config->mesh_points <= MF_MESH_POINTS_LIMIT, error,
            "import config: need mesh_points in 1 .. %u, found %u", MF_MESH_POINTS_LIMIT,
            config->mesh_points);
    MF_NEED(config->density >= 0.0 && mf_is_finite(config->density), error,
            "import config: need density >= 0, found %g", config->density);
    if ((uint32_t)config->base > MF_IMPORT_BASE_FIXED ||
        (uint32_t)config->inertia > MF_IMPORT_INERTIA_GEOMETRY)
        return mf_fail(error, MF_BAD_ARGUMENT, "import config: base or inertia: unknown");
    for (uint32_t i = 0; i < config->package_count; i++) {
        if (config->packages == NULL || config->packages[i] == NULL ||
            strchr(config->packages[i], '=') == NULL)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "import config: package %u: expected \"name=folder\"", i + 1);
    }
    return MF_OK;
}

// Whether the root element is <mujoco>. A file that is not XML is passed to the URDF importer,
// which reports the error.
static bool is_mjcf(const char *data, size_t size) {
    size_t at = 0;
    while (at < size) {
        if (data[at] != '<') {
            at++;
            continue;
        }
        if (size - at > 4 && memcmp(data + at, "<!--", 4) == 0) {
            const char *end = strstr(data + at + 4, "-->"); // the buffer ends in a 0
            if (end == NULL)
                return false;
            at = (size_t)(end - data) + 3;
        } else if (size - at > 2 && (data[at + 1] == '?' || data[at + 1] == '!')) {
            at++;
        } else {
            return size - at > 7 && memcmp(data + at, "<mujoco", 7) == 0;
        }
    }
    return false;
}

mf_Status mf_model_load(mf_Context *context, const char *path, const mf_ImportConfig *config,
                        mf_Model **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL, error, "mf_model_load: context is NULL");
    const mf_ImportConfig defaults = mf_import_config();
    *out = NULL;
    if (config == NULL)
        config = &defaults;
    mf_Status status = check_config(config, error);
    if (status != MF_OK)
        return status;
    char *data;
    size_t size;
    status = mf_file_read_text(context, path, MF_FILE_LIMIT, &data, &size, error);
    if (status != MF_OK)
        return status;
    // All formats are XML; the root element determines the format.
    if (size == 0)
        status = mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                            "expected a URDF or MJCF file, found it empty");
    else
        status = mf_foreign_check(path, data, size, error);
    if (status != MF_OK) {
        mf_release(context, data);
        return status;
    }
    if (is_mjcf(data, size))
        status = mf_mjcf_parse(context, path, data, size, config, false, out, error);
    else
        status = mf_urdf_parse(context, path, data, size, config, false, out, error);
    mf_release(context, data);
    return status;
}
