// Fuzz target: gait files. For any bytes the reader returns a complete gait or one line of error,
// with a robot or without; a gait can be written and read back to the same text, and gives finite
// angles within the joints' ranges.
#include "fuzz.h"
#include "io/document.h"

// The joints of one side: two legs and two arms that a walk can use.
static const struct {
    const char *name, *axis;
    double down;
} joints[] = {{"hip_yaw", "0 0 1", 0},         {"hip_roll", "1 0 0", 0},
              {"hip_pitch", "0 1 0", 0},       {"knee", "0 1 0", 0.1},
              {"ankle_pitch", "0 1 0", 0.1},   {"ankle_roll", "1 0 0", 0.0},
              {"shoulder_pitch", "0 1 0", 0.0}};

static void try_gait(mf_Context *context, const char *text, size_t size, const mf_Model *model) {
    mf_Gait *gait = NULL, *again = NULL;
    mf_Error error = {0};
    char *once = NULL, *twice = NULL;
    mf_Status status = mf_gait_parse(context, "/fuzz/g.yaml", text, size, model, &gait, &error);
    require((status == MF_OK) == (gait != NULL));
    require(status == MF_OK || error.message[0] != '\0');
    if (gait == NULL)
        return;
    require(mf_gait_write(gait, &once, NULL) == MF_OK);
    require(mf_gait_parse(context, "/fuzz/g.yaml", once, strlen(once), model, &again, NULL) ==
            MF_OK);
    require(mf_gait_write(again, &twice, NULL) == MF_OK);
    require(strcmp(once, twice) == 0);
    for (int n = 0; model != NULL && n < 5; n++) {
        const double command[3] = {100.0, -1.0, 0.5};
        double angles[16] = {0};
        require(mf_gait_sample(gait, model, 0.21 * n, command, angles, NULL) == MF_OK);
        for (uint32_t j = 0; j < model->joint_count; j++)
            require(angles[j] >= -3.0 && angles[j] <= 3.0);
    }
    mf_release(context, once);
    mf_release(context, twice);
    mf_gait_destroy(gait);
    mf_gait_destroy(again);
}

static mf_Model *make_robot(mf_Context *context) {
    mf_Builder *builder = NULL;
    mf_Model *model = NULL;
    const double base[3] = {0, 0, 0}, size[3] = {0.1, 0.1, 0.1};
    require(mf_builder_create(context, "biped", &builder, NULL) == MF_OK);
    mf_BodyId trunk = mf_body_create_box(builder, size, base, 1.0, NULL);
    for (int side = 0; side < 2; side++) {
        double position[3] = {0, side == 0 ? 0.05 : -0.05, 0};
        mf_BodyId above = trunk;
        for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
            char name[40] = "left_";
            if (side == 1)
                strcpy(name, "right_");
            strcat(name, joints[i].name);
            bool arm = i == 6;
            position[2] = arm ? 0.1 : position[2] - joints[i].down;
            mf_BodyId body = mf_body_create_box(builder, size, position, 0.1, NULL);
            mf_HingeConfig hinge = mf_hinge_config();
            hinge.name = name;
            hinge.lower = -3.0;
            hinge.upper = 3.0;
            const double center[3] = {0, 0, 0};
            double axis[3] = {joints[i].axis[0] - '0', joints[i].axis[2] - '0',
                              joints[i].axis[4] - '0'};
            mf_joint_create_hinge(builder, body, arm ? trunk : above, center, axis, &hinge);
            above = body;
        }
    }
    mf_builder_finalize(builder, &model, NULL);
    mf_builder_destroy(builder);
    return model;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mf_Context *context = fuzz_context();
    mf_Model *model = make_robot(context);
    require(model != NULL);
    try_gait(context, (const char *)data, size, model);
    try_gait(context, (const char *)data, size, NULL);
    mf_model_destroy(model);
    fuzz_end(context);
    return 0;
}
