// Scenes: a world made from an experiment, and the evaluation that evolution runs on it.
//
// Invariant: an evaluation depends on the genomes alone. Each one begins from the same image of the
// world at time 0, taken when the scene was made, so that neither the state nor the phase of any
// rate is left over from the one before.
#include "base/memory.h"
#include "experiment/initial.h"
#include "experiment/scene.h"
#include "math/scalar.h"

#include <mayfly/experiment.h>
#include <mayfly/plugin.h>

#include <math.h>
#include <string.h>

#define GENOME_MOST 4096u // [byte] as of a search

// ---- making ------------------------------------------------------------------------------------

static mf_Status make_terrain(mf_Context *context, const mf_Experiment *experiment,
                              mf_Terrain **out, mf_Error *error) {
    if (experiment->terrain_path != NULL)
        return mf_terrain_load(context, experiment->terrain_path, &experiment->terrain,
                               experiment->terrain_scale, experiment->terrain_offset, out, error);
    mf_TerrainConfig config = experiment->terrain;
    // Outside the map the border goes on, so one cell is as flat as many and stays in the cache.
    if (experiment->generator.shape == MF_TERRAIN_FLAT)
        config.columns = config.rows = 1;
    return mf_terrain_generate(context, &config, &experiment->generator, out, error);
}

static mf_Status make_world(mf_Context *context, const mf_Experiment *experiment, uint32_t count,
                            mf_Scene *scene, mf_Error *error) {
    mf_WorldConfig world = mf_world_config();
    world.step = experiment->step;
    world.seed = experiment->search.seed;
    world.gravity = experiment->gravity;
    world.terrain = scene->terrain;
    mf_Status status = mf_world_create(context, &world, &scene->world, error);
    if (status != MF_OK)
        return status;
    mf_GroupConfig group = mf_group_config();
    group.model = scene->model;
    group.count = count;
    group.isolated = true;
    group.double_precision = experiment->double_precision;
    return mf_world_add_group(scene->world, &group, &scene->group, error);
}

// Sensors are read as often as the controller runs.
static mf_Rate sensor_rate(const mf_Experiment *experiment) {
    switch (experiment->controller) {
    case MF_CONTROLLER_GP:
        return experiment->gp.rate;
    case MF_CONTROLLER_OSCILLATOR:
        return experiment->oscillator.rate;
    case MF_CONTROLLER_PLUGIN:
        return experiment->plugin_rate;
    case MF_CONTROLLER_NONE:
        break;
    }
    return mf_rate_from_period(experiment->points.joint_interval);
}

// [ns] Joints that go where they are told have until the next word of the controller, in whole
// steps: in less they would throw the robot into the air.
static mf_Time control_interval(const mf_Experiment *experiment, mf_Group *group) {
    const mf_Time step = mf_world_settings(mf_group_world(group))->step;
    const mf_Rate rate = sensor_rate(experiment);
    const mf_Time period = MF_SECOND * rate.denominator / rate.numerator;
    return (period > step ? (period + step / 2) / step : 1) * step;
}

mf_Status mf_scene_servo(const mf_Experiment *experiment, const mf_Model *model, uint32_t index,
                         mf_Servo *servo, mf_Error *error) {
    const mf_Joint *joint = &model->joints[index];
    *servo = mf_joint_servo(model, index);
    if (experiment->servo_gain > 0.0)
        servo->gain = experiment->servo_gain;
    if (experiment->servo_damping > 0.0)
        servo->damping = experiment->servo_damping;
    if (experiment->servo_speed > 0.0)
        servo->speed = experiment->servo_speed;
    servo->gain *= experiment->servo_stiffness;
    servo->damping *= mf_sqrt(experiment->servo_stiffness);
    bool driven =
        (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE) && joint->mimic == MF_NONE;
    if (!driven || servo->gain > 0.0)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "servo.gain: expected a number above 0, because the joint %.99s has neither a "
                   "servo nor effort and speed in its file",
                   joint->name);
}

static mf_Status add_articulated(const mf_Experiment *experiment, mf_Group *group,
                                 mf_Error *error) {
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_Servo *servos = mf_allocate(context, model->joint_count, sizeof *servos);
    if (servos == NULL)
        return mf_fail(error, MF_NO_MEMORY, "scene: no memory for servos");
    mf_ArticulatedConfig config = mf_articulated_config();
    config.servos = servos;
    config.self_contacts = false; // as at the other levels
    mf_Status status = MF_OK;
    for (uint32_t j = 0; j < model->joint_count && status == MF_OK; j++)
        status = mf_scene_servo(experiment, model, j, &servos[j], error);
    if (status == MF_OK)
        status = mf_articulated_add(group, &config, error);
    mf_release(context, servos);
    return status;
}

static mf_Status add_motion(const mf_Experiment *experiment, mf_Group *group, mf_Error *error) {
    mf_RigidConfig rigid = mf_rigid_config();
    mf_PrescribedConfig prescribed = mf_prescribed_config();
    switch (experiment->motion) {
    case MF_MOTION_KINEMATIC:
        return mf_kinematic_add(group, NULL, error);
    case MF_MOTION_POINTS:
        return mf_points_add(group, &experiment->points, error);
    case MF_MOTION_RIGID:
        rigid.control_interval = control_interval(experiment, group);
        return mf_rigid_add(group, &rigid, error);
    case MF_MOTION_PRESCRIBED:
        prescribed.control_interval = control_interval(experiment, group);
        return mf_prescribed_add(group, &prescribed, error);
    case MF_MOTION_ARTICULATED:
        return add_articulated(experiment, group, error);
    default:
        break;
    }
    return mf_fail(error, MF_UNSUPPORTED,
                   "experiment: expected the motion kinematic, points, rigid, prescribed or "
                   "articulated, found %s",
                   mf_motion_name(experiment->motion));
}

// The group keeps the library loaded.
static mf_Status add_plugin(const mf_Experiment *experiment, mf_Group *group, mf_Error *error) {
    mf_Plugin *plugin;
    mf_Status status = mf_plugin_load_named(mf_world_context(mf_group_world(group)),
                                            experiment->plugin_path, &plugin, error);
    if (status == MF_OK)
        status = mf_plugin_control_add(group, experiment->plugin_rate, plugin, NULL, error);
    mf_plugin_close(plugin);
    return status;
}

static mf_Status add_systems(const mf_Experiment *experiment, mf_Group *group, mf_Error *error) {
    mf_Status status = add_motion(experiment, group, error);
    if (status == MF_OK)
        status = mf_sensors_add(group, sensor_rate(experiment), error);
    if (status == MF_OK && experiment->controller == MF_CONTROLLER_GP)
        status = mf_gp_add(group, &experiment->gp, error);
    if (status == MF_OK && experiment->controller == MF_CONTROLLER_OSCILLATOR)
        status = mf_oscillator_add(group, &experiment->oscillator, error);
    if (status == MF_OK && experiment->controller == MF_CONTROLLER_PLUGIN)
        status = add_plugin(experiment, group, error);
    return status;
}

// Notes where each robot starts, for its distance.
static mf_Status note_start(mf_Group *group, mf_Error *error) {
    static const mf_FieldInfo info = {
        "start.position",
        "m",
        "world",
        MF_REAL,
        MF_FIXED_COUNT,
        2,
        0,
        "horizontal place of the base at the start, from which distance counts"};
    mf_Field *start;
    mf_Status status = mf_group_add_field(group, &info, 1, &start, error);
    if (status != MF_OK)
        return status;
    const mf_Field *position = mf_group_find_field(group, "base.position");
    for (uint32_t i = 0; i < mf_group_count(group); i++) {
        for (uint32_t c = 0; c < 2; c++)
            mf_field_set(start, i, c, mf_field_get(position, i, c));
    }
    return MF_OK;
}

static mf_Status keep_start(mf_Context *context, mf_Scene *scene, mf_Error *error) {
    scene->start_size = mf_world_snapshot_size(scene->world);
    scene->start = mf_allocate(context, scene->start_size, 1);
    if (scene->start == NULL)
        return mf_fail(error, MF_NO_MEMORY, "scene: no memory for its start state (%zu bytes)",
                       scene->start_size);
    return mf_world_snapshot(scene->world, scene->start, scene->start_size, error);
}

// A program that does nothing, or oscillators that hold the start angles.
static void idle(const mf_Scene *scene, uint32_t instance) {
    if (scene->experiment->controller == MF_CONTROLLER_GP) {
        uint8_t program[MF_GP_BYTES];
        memset(program, MF_GP_NOT << 5, sizeof program);
        mf_gp_set_program(scene->group, instance, program);
    } else if (scene->experiment->controller == MF_CONTROLLER_OSCILLATOR) {
        mf_Field *offset = mf_group_find_field(scene->group, "oscillator.offset");
        for (uint32_t j = 0; j < scene->model->joint_count; j++)
            mf_field_set(offset, instance, j, scene->model->start_angle[j]);
    }
}

static mf_Status fill(mf_Context *context, mf_Experiment *experiment, uint32_t count,
                      mf_Scene *scene, mf_Error *error) {
    mf_Status status =
        mf_model_load(context, experiment->model_path, &experiment->import, &scene->model, error);
    if (status == MF_OK)
        status = make_terrain(context, experiment, &scene->terrain, error);
    if (status == MF_OK)
        status = make_world(context, experiment, count, scene, error);
    if (status == MF_OK)
        status = add_systems(experiment, scene->group, error);
    if (status != MF_OK)
        return status;
    mf_group_reset_all(scene->group);
    for (uint32_t i = 0; i < count; i++)
        idle(scene, i);
    status = mf_scene_begin(scene, error);
    if (status == MF_OK)
        status = note_start(scene->group, error);
    const mf_ExperimentHooks *hooks = &experiment->hooks;
    if (status == MF_OK)
        status = mf_fitness_add(experiment, scene->group, error);
    if (status == MF_OK && hooks->attach != NULL)
        status = hooks->attach(scene, hooks->user, error);
    return status == MF_OK ? keep_start(context, scene, error) : status;
}

// By two small ones, whether the machine has room for `count` robots.
static mf_Status check_memory(mf_Context *context, mf_Experiment *experiment, uint32_t count,
                              mf_Error *error) {
    size_t bytes[2];
    for (uint32_t i = 0; i < 2 && count >= MF_MEMORY_MANY; i++) {
        mf_Scene scene;
        const size_t before = mf_context_live_bytes(context);
        mf_Status status = mf_scene_create(context, experiment, (i + 1) * MF_BLOCK, &scene, error);
        if (status != MF_OK)
            return status;
        bytes[i] = mf_context_live_bytes(context) - before;
        mf_scene_destroy(&scene);
    }
    return count < MF_MEMORY_MANY
               ? MF_OK
               : mf_memory_suffices((bytes[1] - bytes[0]) / MF_BLOCK, count, "robots", error);
}

mf_Status mf_scene_create(mf_Context *context, mf_Experiment *experiment, uint32_t count,
                          mf_Scene *out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "scene: out is NULL");
    *out = (mf_Scene){0};
    if (context == NULL || experiment == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "scene: context or experiment is NULL");
    bool own = experiment->controller == MF_CONTROLLER_NONE ||
               experiment->controller == MF_CONTROLLER_PLUGIN;
    if (own && experiment->hooks.apply_genome != NULL &&
        (experiment->hooks.genome_bytes < 1 || experiment->hooks.genome_bytes > GENOME_MOST))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "hooks.genome_bytes: expected 1 to %u bytes with apply_genome, found %u",
                       GENOME_MOST, experiment->hooks.genome_bytes);
    mf_Scene scene = {.experiment = experiment};
    mf_Status status = check_memory(context, experiment, count, error);
    if (status == MF_OK)
        status = fill(context, experiment, count, &scene, error);
    if (status != MF_OK) {
        mf_scene_destroy(&scene);
        return status;
    }
    experiment->search.genome_bytes = mf_scene_genome_bytes(&scene);
    *out = scene;
    return MF_OK;
}

void mf_scene_destroy(mf_Scene *scene) {
    if (scene == NULL || scene->experiment == NULL)
        return;
    if (scene->world != NULL)
        mf_release(mf_world_context(scene->world), scene->start);
    mf_world_destroy(scene->world);
    mf_terrain_destroy(scene->terrain);
    mf_model_destroy(scene->model);
    *scene = (mf_Scene){0};
}

// ---- genomes -----------------------------------------------------------------------------------

uint32_t mf_scene_genome_bytes(const mf_Scene *scene) {
    if (scene == NULL)
        return 0;
    switch (scene->experiment->controller) {
    case MF_CONTROLLER_GP:
        return MF_GP_BYTES;
    case MF_CONTROLLER_OSCILLATOR:
        return 3 * scene->model->joint_count + 1;
    case MF_CONTROLLER_PLUGIN:
    case MF_CONTROLLER_NONE:
        break;
    }
    const mf_ExperimentHooks *hooks = &scene->experiment->hooks;
    return hooks->apply_genome == NULL ? 0 : hooks->genome_bytes;
}

// Range of a joint; one without limits gets a turn, or a metre to each side.
static void joint_range(const mf_Joint *joint, double *lower, double *upper) {
    const double half_turn = 3.14159265358979323846;
    double reach = joint->type == MF_JOINT_SLIDE ? 1.0 : half_turn;
    *lower = isfinite(joint->lower) ? joint->lower : -reach;
    *upper = isfinite(joint->upper) ? joint->upper : reach;
}

static void apply_oscillator(const mf_Scene *scene, uint32_t instance, const uint8_t *genome) {
    const double largest_frequency = 2.0; // [Hz] legs of desk-sized robots seldom swing faster
    mf_Field *offset = mf_group_find_field(scene->group, "oscillator.offset");
    mf_Field *amplitude = mf_group_find_field(scene->group, "oscillator.amplitude");
    mf_Field *phase = mf_group_find_field(scene->group, "oscillator.phase");
    mf_Field *frequency = mf_group_find_field(scene->group, "oscillator.frequency");
    uint32_t joints = scene->model->joint_count;
    for (uint32_t j = 0; j < joints; j++) {
        const uint8_t *gene = genome + 3 * (size_t)j;
        double lower, upper;
        joint_range(&scene->model->joints[j], &lower, &upper);
        mf_field_set(offset, instance, j, lower + gene[0] / 255.0 * (upper - lower));
        mf_field_set(amplitude, instance, j, gene[1] / 255.0 * (upper - lower) / 2.0);
        mf_field_set(phase, instance, j, gene[2] / 256.0);
    }
    mf_field_set(frequency, instance, 0, genome[3 * (size_t)joints] / 255.0 * largest_frequency);
}

void mf_scene_apply_genome(mf_Scene *scene, uint32_t instance, const uint8_t *genome) {
    if (scene == NULL)
        return;
    if (scene->experiment->controller == MF_CONTROLLER_GP)
        mf_gp_set_program(scene->group, instance, genome);
    else if (scene->experiment->controller == MF_CONTROLLER_OSCILLATOR)
        apply_oscillator(scene, instance, genome);
    else if (scene->experiment->hooks.apply_genome != NULL)
        scene->experiment->hooks.apply_genome(scene, instance, genome,
                                              scene->experiment->hooks.user);
}

// ---- evaluation --------------------------------------------------------------------------------

double mf_scene_distance(const mf_Scene *scene, uint32_t instance) {
    if (scene == NULL)
        return 0;
    if (mf_group_fault(scene->group, instance) != 0)
        return 0.0;
    const mf_Field *position = mf_group_find_field(scene->group, "base.position");
    const mf_Field *start = mf_group_find_field(scene->group, "start.position");
    double x = mf_field_get(position, instance, 0) - mf_field_get(start, instance, 0);
    double y = mf_field_get(position, instance, 1) - mf_field_get(start, instance, 1);
    return sqrt(x * x + y * y);
}

double mf_scene_fitness(const mf_Scene *scene, uint32_t instance) {
    if (scene == NULL)
        return 0;
    const mf_ExperimentHooks *hooks = &scene->experiment->hooks;
    if (mf_group_fault(scene->group, instance) != 0)
        return NAN;
    return hooks->fitness != NULL ? hooks->fitness(scene, instance, hooks->user)
                                  : mf_fitness_of(scene, instance);
}

static uint64_t step_count(const mf_Experiment *experiment) {
    mf_Time duration = mf_time_from_seconds(experiment->duration);
    return (uint64_t)(duration / experiment->step + (duration % experiment->step != 0));
}

mf_Status mf_scene_evaluate(void *user, const uint8_t *genomes, uint32_t count,
                            uint32_t genome_bytes, double *fitness, mf_Error *error) {
    mf_Scene *scene = user;
    if (scene == NULL || genomes == NULL || fitness == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "evaluate: scene, genomes or fitness is NULL");
    uint32_t robots = mf_group_count(scene->group), expected = mf_scene_genome_bytes(scene);
    if (expected == 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "evaluate: expected a controller to evolve, found controller: none");
    if (genome_bytes != expected)
        return mf_fail(error, MF_BAD_ARGUMENT, "evaluate: expected genomes of %u bytes, found %u",
                       expected, genome_bytes);
    if (count > robots)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "evaluate: expected at most %u genomes, one for each robot, found %u",
                       robots, count);
    mf_Status status = mf_world_restore(scene->world, scene->start, scene->start_size, error);
    if (status != MF_OK)
        return status;
    for (uint32_t i = 0; i < count; i++)
        mf_scene_apply_genome(scene, i, genomes + (size_t)i * genome_bytes);
    mf_world_step(scene->world, step_count(scene->experiment));
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = mf_scene_fitness(scene, i);
    return MF_OK;
}
