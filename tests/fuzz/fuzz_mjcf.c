// Fuzzes the MJCF importer from memory (no other file is touched), strict and lenient, and the
// description of what it accepted.
#include "fuzz.h"
#include "import/mjcf.h"

static void check(const mf_Model *model) {
    // A model that was let through is sound. Scenery has no mass.
    const bool moves = model->joint_count > 0 || model->base == MF_BASE_FREE;
    if (!(model->mass > 0.0 || (model->mass == 0.0 && !moves)) ||
        model->joint_count + 1 != model->link_count)
        __builtin_trap();
    for (uint32_t i = 0; i < model->joint_count; i++) {
        if (model->joints[i].child != i + 1 || model->joints[i].parent > i)
            __builtin_trap();
    }
    for (uint32_t i = 0; i < model->shape_count; i++) {
        if (model->shapes[i].link != MF_NONE && model->shapes[i].link >= model->link_count)
            __builtin_trap();
    }
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *actuator = &model->actuators[i];
        if (actuator->joint != MF_NONE && actuator->joint >= model->joint_count)
            __builtin_trap();
    }
}

static void load(mf_Context *context, const char *data, size_t size, bool lenient) {
    mf_ImportConfig config = mf_import_config();
    config.lenient = lenient;
    mf_Model *model = NULL;
    mf_Error error = {0};
    if (mf_mjcf_parse(context, "fuzz.xml", data, size, &config, true, &model, &error) != MF_OK)
        return;
    char *text = NULL;
    check(model);
    mf_model_hash(model);
    if (mf_model_describe(model, &text, &error) == MF_OK)
        mf_release(context, text);
    mf_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    load(context, (const char *)data, size, false);
    load(context, (const char *)data, size, true);
    if (mf_context_live_bytes(context) != 0)
        __builtin_trap();
    mf_context_destroy(context);
    return 0;
}
