/* Loads the installed hexapod with the tools library; argv[1] is the folder of installed data. */
#include <mayfly/mayfly.h>

#include <stdio.h>

int main(int argc, char **argv) {
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_Error error;
    char path[1024], text[1024];
    if (argc != 2 || mf_context_create(NULL, &context, NULL) != MF_OK)
        return 1;
    snprintf(path, sizeof path, "%s/models/hexapod.urdf", argv[1]);
    if (mf_model_load(context, path, NULL, &model, &error) != MF_OK) {
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
        mf_context_destroy(context);
        return 2;
    }
    unsigned joints = model->joint_count;
    printf("mayfly %s: %s has %u joints\n", mf_version(), model->name, joints);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return joints == 18 ? 0 : 3;
}
