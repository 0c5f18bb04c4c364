// Eight six-legged robots walk for ten seconds, each at its own stride frequency.
// usage: example_hello [MODEL]; MODEL is models/hexapod.urdf unless given
#include <mayfly/mayfly.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// A tripod gait: legs 1, 3, 5 alternate with legs 2, 4, 6, and while a hip swings its foot forward
// the knee lifts it.
static void set_gait(mf_Group *robots, uint32_t robot, double frequency) {
    const mf_Model *model = mf_group_model(robots);
    mf_Field *amplitude = mf_group_find_field(robots, "oscillator.amplitude");
    mf_Field *phase = mf_group_find_field(robots, "oscillator.phase");
    mf_field_set(mf_group_find_field(robots, "oscillator.frequency"), robot, 0, frequency);
    for (uint32_t joint = 0; joint < model->joint_count; joint++) {
        const char *name = model->joints[joint].name; // such as leg3_femur
        double angle = strchr("135", name[3]) != NULL ? 0.0 : 0.5;
        if (strstr(name, "coxa") != NULL) {
            mf_field_set(amplitude, robot, joint, 0.35);
            mf_field_set(phase, robot, joint, angle);
        } else if (strstr(name, "femur") != NULL) {
            mf_field_set(amplitude, robot, joint, 0.3);
            mf_field_set(phase, robot, joint, angle + 0.25);
        }
    }
}

static mf_Status walk(mf_World *world, const mf_Model *model, mf_Error *error) {
    mf_GroupConfig config = mf_group_config();
    config.model = model;
    config.count = 8; // eight robots, each on its own copy of the ground

    mf_Group *robots = NULL;
    MF_TRY(mf_world_add_group(world, &config, &robots, error));
    MF_TRY(mf_motion_add(robots, MF_MOTION_POINTS, NULL, error)); // the motion
    MF_TRY(mf_oscillator_add(robots, NULL, error));               // the controller of their joints

    for (uint32_t robot = 0; robot < config.count; robot++)
        set_gait(robots, robot, 0.25 * (robot + 1));
    mf_world_step(world, 1000); // steps of 10 ms

    mf_Field *position = mf_group_find_field(robots, "base.position");
    for (uint32_t robot = 0; robot < config.count; robot++)
        printf("%4.2f Hz: %5.2f m\n", 0.25 * (robot + 1),
               hypot(mf_field_get(position, robot, 0), mf_field_get(position, robot, 1)));
    return MF_OK;
}

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "models/hexapod.urdf";
    mf_WorldConfig settings = mf_world_config(); // flat ground, 10 ms steps
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Error error = {0};
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_model_load(context, path, NULL, &model, &error);
    if (status == MF_OK)
        status = mf_world_create(context, &settings, &world, &error);
    if (status == MF_OK)
        status = walk(world, model, &error);

    char text[1024];
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, text, sizeof text));
    mf_world_destroy(world);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status == MF_OK ? 0 : 1;
}
