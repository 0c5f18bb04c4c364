// Model files: which importer a file is for.
#include "model/import/mesh.h"
#include "model/import/urdf.h"

#include "math/scalar.h"

#include <string.h>

mf_ImportConfig mf_import_config(void) {
    return (mf_ImportConfig){
        .struct_size = sizeof(mf_ImportConfig), .visual = true, .mesh_points = 8};
}

static mf_Status check_config(const mf_ImportConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "import config: start from mf_import_config()");
    if (config->mesh_points < 1 || config->mesh_points > MF_MESH_POINTS_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "import config: need mesh_points in 1 .. %u, found %u", MF_MESH_POINTS_LIMIT,
                       config->mesh_points);
    if (!(config->density >= 0.0) || !mf_is_finite(config->density))
        return mf_fail(error, MF_BAD_ARGUMENT, "import config: need density >= 0, found %g",
                       config->density);
    for (uint32_t i = 0; i < config->package_count; i++) {
        if (config->packages == NULL || config->packages[i] == NULL ||
            strchr(config->packages[i], '=') == NULL)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "import config: package %u: expected \"name=folder\"", i + 1);
    }
    return MF_OK;
}

mf_Status mf_model_load(mf_Context *context, const char *path, const mf_ImportConfig *config,
                        mf_Model **out, mf_Error *error) {
    const mf_ImportConfig defaults = mf_import_config();
    *out = NULL;
    if (config == NULL)
        config = &defaults;
    mf_Status status = check_config(config, error);
    if (status != MF_OK)
        return status;
    char *data;
    size_t size;
    status = mf_file_read(context, path, MF_FILE_LIMIT, &data, &size, error);
    if (status != MF_OK)
        return status;
    // Everything that is read so far is XML; the root element tells which format.
    if (size == 0)
        status = mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "expected a URDF file, found it empty");
    else
        status = mf_urdf_parse(context, path, data, size, config, false, out, error);
    mf_release(context, data);
    return status;
}
