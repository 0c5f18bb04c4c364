// Eight hexapods walk by a gait from a file, half of them by the motion `points` and half by full
// dynamics; then all go on by full dynamics. Prints how far they come and what a sensor of ours and
// some properties say.
//
//     example_walk_by_levels models/hexapod.urdf models/gaits/hexapod/tripod.yaml
#include <stdio.h>

#include <mayfly/mayfly.h>

enum { ROBOTS = 8 };

// A sensor of our own: the height [m] of each robot's base.
static void measure_height(const mf_SystemRun *run, mf_Field *values, void *user) {
    const mf_Field *position = user;
    for (uint32_t i = 0; i < mf_group_count(run->group); i++)
        mf_field_set(values, i, 0, mf_field_get(position, i, 2));
}

static bool print_property(const mf_Property *property, void *user) {
    char path[200];
    double value;
    (void)user;
    mf_property_read(property, &value);
    printf("  %s = %.3f\n", mf_property_path(property, path, sizeof path), value);
    return true;
}

static mf_Status equip(mf_Group *group, const mf_Gait *gait, mf_Error *error) {
    mf_MotionsConfig motions = mf_motions_config();
    mf_SensorConfig height = mf_sensor_config();
    motions.start = MF_MOTION_POINTS;
    motions.has[MF_MOTION_ARTICULATED] = true;
    motions.articulated.servo.gain = 60.0;   // [N m/rad]
    motions.articulated.servo.damping = 2.0; // [N m s/rad]
    mf_motions_set_control(&motions, 20 * MF_MILLISECOND);
    mf_motions_set_friction(&motions, 0.9);
    mf_motions_set_limits(&motions, true);
    height.name = "height";
    height.unit = "m";
    height.map = measure_height;
    mf_Status status = mf_motions_add(group, &motions, error);
    if (status == MF_OK)
        status = mf_gaits_add(group, &gait, 1, NULL, error);
    if (status == MF_OK)
        status = mf_sensors_add(group, NULL, error); // the sensors of the file
    height.user = mf_group_find_field(group, "base.position");
    if (status == MF_OK)
        status = mf_sensor_add(group, &height, error);
    if (status == MF_OK)
        status = mf_sensor_add_field(group, "side", "base.position", 1, 1, NULL, error);
    return status;
}

// What the gait asks of the first leg in the course of a stride.
static mf_Status print_stride(const mf_Model *model, const mf_Gait *gait, mf_Error *error) {
    static const double forward[3] = {0.1, 0.0, 0.0}; // [m/s], [m/s], [rad/s]
    double angles[64] = {0};
    mf_Status status = MF_OK;
    printf("the first leg's joints [rad] each 0.1 s:\n");
    for (int k = 0; k < 5 && status == MF_OK; k++) {
        status = mf_gait_sample(gait, model, 0.1 * k, forward, angles, error);
        printf("  %6.3f %6.3f %6.3f\n", angles[0], angles[1], angles[2]);
    }
    return status;
}

static void report(mf_World *world, const char *what) {
    mf_Group *group = mf_world_find_group(world, "walkers");
    const mf_Field *position = mf_group_find_field(group, "base.position");
    const mf_Field *height = mf_group_find_field(group, "height");
    const mf_Field *side = mf_group_find_field(group, "side");
    printf("%s at %.0f s\n", what, mf_time_to_seconds(mf_world_time(world)));
    for (uint32_t i = 0; i < ROBOTS; i += ROBOTS / 2)
        printf("  robot %u by %s: %.3f m far, %.3f m to the left, %.3f m high\n", i,
               mf_motion_name(mf_motion_of(group, i)), mf_field_get(position, i, 0),
               mf_field_get(side, i, 0), mf_field_get(height, i, 0));
}

static mf_Status walk(mf_World *world, const mf_Model *model, const mf_Gait *gait,
                      mf_Error *error) {
    mf_Group *group = NULL;
    mf_GroupConfig config = mf_group_config();
    mf_Property property;
    const double slow[3] = {0.05, 0.0, 0.0}; // [m/s], [m/s], [rad/s]
    config.name = "walkers";
    config.model = model;
    config.count = ROBOTS;
    mf_Status status = mf_world_add_group(world, &config, &group, error);
    if (status == MF_OK)
        status = equip(group, gait, error);
    if (status != MF_OK)
        return status;
    mf_Field *command = mf_group_find_field(group, "gait.command");
    for (uint32_t i = 0; i < ROBOTS; i++)
        mf_field_set(command, i, 0, 0.1); // [m/s] forward
    for (uint32_t i = ROBOTS / 2; i < ROBOTS && status == MF_OK; i++)
        status = mf_motion_switch(group, i, MF_MOTION_ARTICULATED, error);
    mf_world_step(world, 2500);
    report(world, "two levels");
    for (uint32_t i = 0; i < ROBOTS / 2 && status == MF_OK; i++)
        status = mf_motion_switch(group, i, MF_MOTION_ARTICULATED, error);
    mf_world_step(world, 2500);
    report(world, "full dynamics");
    printf("joints of a leg:\n");
    mf_property_list(world, "walkers[0]/leg1_*/joint.angle", print_property, NULL);
    if (status == MF_OK)
        status = mf_property_find(world, "walkers[0]/gait.command", &property, error);
    if (status == MF_OK)
        status = mf_property_write(&property, slow, error);
    mf_world_step(world, 2500);
    report(world, "the first one half as fast");
    return status;
}

int main(int count, char **arguments) {
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_Gait *gait = NULL;
    mf_World *world = NULL;
    mf_Error error = {0};
    char line[600];
    if (count != 3) {
        fprintf(stderr, "usage: %s MODEL GAIT\n", arguments[0]);
        return 2;
    }
    mf_WorldConfig config = mf_world_config();
    config.step = 2 * MF_MILLISECOND;
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_model_load(context, arguments[1], NULL, &model, &error);
    if (status == MF_OK)
        status = mf_gait_load(context, arguments[2], model, &gait, &error);
    if (status == MF_OK)
        status = print_stride(model, gait, &error);
    if (status == MF_OK)
        status = mf_world_create(context, &config, &world, &error);
    if (status == MF_OK)
        status = walk(world, model, gait, &error);
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, line, sizeof line));
    mf_world_destroy(world);
    mf_gait_destroy(gait);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status != MF_OK;
}
