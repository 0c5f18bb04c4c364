// Two hexapods side by side: one is controlled by a program of 32 instructions, one by a network of
// four neurons that excite each other in a ring. Prints where they are each second.
//
//     example_controllers models/hexapod.urdf
#include <stdio.h>

#include <mayfly/mayfly.h>

// A tripod gait, one small move of each motor at a time (docs/reference/controllers.md): legs 1, 3
// and 5 lift, swing forward while the others push, and come down; then the others do.
static const char program_text[] = "right 1\nright 7\nright 13\n"
                                   "right 0\nright 6\nright 12\nleft 3\nleft 9\nleft 15\n"
                                   "left 1\nleft 7\nleft 13\n"
                                   "right 4\nright 10\nright 16\n"
                                   "left 0\nleft 6\nleft 12\nright 3\nright 9\nright 15\n"
                                   "left 4\nleft 10\nleft 16\n"
                                   "load 1\njump 0\n";

static mf_Status add_program(mf_Group *group, mf_Error *error) {
    uint8_t program[MF_GP_BYTES];
    char text[1024];
    mf_SensorsConfig sensors = mf_sensors_config();
    sensors.rate = (mf_Rate){25, 2};
    sensors.before_control = sensors.posture = true;
    MF_TRY(mf_gp_assemble(program_text, program, error));
    MF_TRY(mf_sensors_add(group, &sensors, error)); // numbered, for `sensor n`
    MF_TRY(mf_gp_add(group, NULL, error));
    mf_gp_set_program(group, 0, program);
    mf_gp_disassemble(program, text, sizeof text);
    printf("the program as the robot has it:\n%s\n", text);
    return MF_OK;
}

// Neurons of a ring follow their predecessors, the first one the opposite of the last: a wave. Each
// drives the same joint of all legs.
static mf_Status add_network(mf_Group *group, mf_Error *error) {
    enum { NEURONS = 4 };
    static const mf_Synapse synapses[NEURONS] = {
        {0, 1, 8.0}, {1, 2, 8.0}, {2, 3, 8.0}, {3, 0, -8.0}};
    mf_Neuron neurons[NEURONS];
    uint32_t attached[32];
    const uint32_t joints = mf_group_model(group)->joint_count;
    for (uint32_t i = 0; i < NEURONS; i++)
        neurons[i] = (mf_Neuron){.kind = MF_NEURON_SIGMOID, .bias = i == 0 ? 4.0 : -4.0};
    for (uint32_t j = 0; j < joints; j++)
        attached[j] = j % 3 == 2 ? MF_NONE : (3 * (j % 3) + j / 3 % 2 * 2) % NEURONS;
    mf_NeuronsConfig config = mf_neurons_config();
    config.brain = (mf_Brain){.neurons = neurons,
                              .synapses = synapses,
                              .neuron_count = NEURONS,
                              .synapse_count = NEURONS,
                              .attached = attached,
                              .attached_count = joints};
    config.cycle = 100 * MF_MILLISECOND;
    mf_Status status = mf_neurons_add(group, &config, error);
    neurons[0].bias = 3.0; // another brain for the first robot
    return status == MF_OK ? mf_neurons_set(group, 0, &config.brain, error) : status;
}

static mf_Status add_robot(mf_World *world, const mf_Model *model, const char *name, double left,
                           mf_Group **out, mf_Error *error) {
    const double position[3] = {0.0, left, model->rest_height};
    mf_GroupConfig config = mf_group_config();
    config.name = name;
    config.model = model;
    config.isolated = false;
    MF_TRY(mf_world_add_group(world, &config, out, error));
    MF_TRY(mf_group_set_start(*out, 0, position, NULL, NULL, error));
    return mf_motion_add(*out, MF_MOTION_POINTS, NULL, error);
}

int main(int count, char **arguments) {
    mf_Context *context = NULL;
    mf_Model *model = NULL;
    mf_World *world = NULL;
    mf_Group *program = NULL, *network = NULL;
    mf_Error error = {0};
    char line[600];
    if (count != 2) {
        fprintf(stderr, "usage: %s MODEL\n", arguments[0]);
        return 2;
    }
    mf_Status status = mf_context_create(NULL, &context, &error);
    if (status == MF_OK)
        status = mf_model_load(context, arguments[1], NULL, &model, &error);
    if (status == MF_OK)
        status = mf_world_create(context, NULL, &world, &error);
    if (status == MF_OK)
        status = add_robot(world, model, "program", 0.5, &program, &error);
    if (status == MF_OK)
        status = add_program(program, &error);
    if (status == MF_OK)
        status = add_robot(world, model, "network", -0.5, &network, &error);
    if (status == MF_OK)
        status = add_network(network, &error);
    for (int second = 0; second <= 10 && status == MF_OK; second++) {
        printf("%2d s: by program at %6.3f m, by network at %6.3f m\n", second,
               mf_field_get(mf_group_find_field(program, "base.position"), 0, 0),
               mf_field_get(mf_group_find_field(network, "base.position"), 0, 0));
        mf_world_step(world, 100);
    }
    if (status != MF_OK)
        fprintf(stderr, "%s\n", mf_error_format(&error, line, sizeof line));
    mf_world_destroy(world);
    mf_model_destroy(model);
    mf_context_destroy(context);
    return status != MF_OK;
}
