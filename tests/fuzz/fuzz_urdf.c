// Fuzzes the URDF importer from memory (no other file is touched), and the description of what it
// accepted.
#include "fuzz.h"
#include "import/urdf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    const mf_ImportConfig config = mf_import_config();
    mf_Model *model = NULL;
    mf_Error error = {0};
    if (mf_urdf_parse(context, "fuzz.urdf", (const char *)data, size, &config, true, &model,
                      &error) == MF_OK) {
        char *text = NULL;
        if (mf_model_describe(model, &text, &error) == MF_OK)
            mf_release(context, text);
        // A model that was let through is sound. Without any mass it is for `kinematic`.
        if (!(model->mass >= 0.0) || model->joint_count + 1 != model->link_count)
            __builtin_trap();
    }
    mf_model_destroy(model);
    if (mf_context_live_bytes(context) != 0)
        __builtin_trap();
    mf_context_destroy(context);
    return 0;
}
