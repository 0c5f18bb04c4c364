// One group of a scene: its model, motion, plugins, controller and sensors, all as the file says.
#include "scene/builder.h"

#include "math/scalar.h"

#include <mayfly/instruments.h>

#include <math.h>

#define CONTROL_INTERVAL (10 * MF_MILLISECOND) // [ns] of joints that are told where to be

uint32_t mf_scene_group_count(const mf_SceneBuilder *builder, uint32_t index) {
    return index == 0 && builder->config.count > 0 ? builder->config.count
                                                   : builder->file->groups[index].count;
}

mf_Motion mf_scene_group_motion(const mf_SceneBuilder *builder, uint32_t index) {
    return index == 0 && builder->config.motion != MF_MOTION_COUNT
               ? builder->config.motion
               : builder->file->groups[index].motion;
}

bool mf_scene_group_isolated(const mf_SceneBuilder *builder, uint32_t index) {
    const bool evaluated = builder->config.evaluates || builder->file->evolves;
    return builder->file->groups[index].isolated ||
           (index == 0 && (evaluated || builder->config.isolated));
}

bool mf_scene_is_scenery(const mf_Model *model) {
    return model->base == MF_BASE_FIXED && model->joint_count == 0;
}

static bool can_meet(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    return from->contact_others && !mf_scene_group_isolated(builder, index);
}

// Alone in the world there is nobody to meet.
bool mf_scene_group_meets(const mf_SceneBuilder *builder, uint32_t index) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        count += can_meet(builder, i) ? mf_scene_group_count(builder, i) : 0;
    return builder->file->contact && count > 1 && can_meet(builder, index);
}

// ---- model -------------------------------------------------------------------------------------

mf_Status mf_scene_load_model(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Model **out = &builder->scene->models[index];
    if (from->model != NULL) {
        *out = (mf_Model *)(uintptr_t)from->model; // only read
        return MF_OK;
    }
    if (from->vehicle != NULL)
        return mf_vehicle_body_model(builder->context, from->vehicle, out, builder->error);
    return mf_model_load(builder->context, from->model_path, &from->import, out, builder->error);
}

// ---- times -------------------------------------------------------------------------------------

// How often the controller of genomes ticks; 0/0 without one.
static mf_Rate controller_rate(const mf_SceneGroup *from) {
    return from->controller == MF_CONTROLLER_GP           ? from->gp.rate
           : from->controller == MF_CONTROLLER_OSCILLATOR ? from->oscillator.rate
                                                          : (mf_Rate){0, 0};
}

// Joints that go where they are told have until the next word of the controller, in whole steps: in
// less they would throw the robot into the air.
mf_Time mf_scene_control_interval(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time step = builder->scene->step, steps = CONTROL_INTERVAL / step;
    const mf_Rate rate = controller_rate(from);
    if (from->control_interval > 0 || from->vehicle != NULL)
        return from->control_interval;
    if (rate.numerator == 0)
        return step * (steps > 0 ? steps : 1);
    const mf_Time period = MF_SECOND * rate.denominator / rate.numerator;
    return (period > step ? (period + step / 2) / step : 1) * step;
}

// As published, where no gait tells the joints where to be.
static mf_Time points_interval(const mf_SceneBuilder *builder, uint32_t index, mf_Time control) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time step = builder->scene->step;
    const mf_Time published = mf_points_config().joint_interval / step;
    if (from->points.joint_interval > 0)
        return from->points.joint_interval;
    if (from->gait_count > 0 || from->control_interval > 0)
        return control;
    return step * (published > 0 ? published : 1);
}

// What the reader could not compare, because the models decide the step.
static mf_Status check_multiple(const mf_SceneBuilder *builder, uint32_t index, const char *key,
                                mf_Time interval) {
    const mf_Time step = builder->scene->step;
    if (interval % step == 0)
        return MF_OK;
    return mf_fail_at(builder->error, MF_BAD_FILE, builder->file->file, 0, 0,
                      "groups.%s.%s: expected a multiple of the step of %.9g s, found %.9g s",
                      builder->file->groups[index].name, key, mf_time_to_seconds(step),
                      mf_time_to_seconds(interval));
}

static mf_Time period_of(mf_Rate rate) {
    return rate.numerator == 0 ? 0 : MF_SECOND * rate.denominator / rate.numerator;
}

static mf_Status check_times(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Status status = check_multiple(builder, index, "control_interval", from->control_interval);
    if (status == MF_OK)
        status = check_multiple(builder, index, "motion.points.joint_interval",
                                from->points.joint_interval);
    if (status == MF_OK)
        status =
            check_multiple(builder, index, "controller: tick", period_of(controller_rate(from)));
    for (uint32_t i = 0; i < from->plugin_count && status == MF_OK; i++)
        status = check_multiple(builder, index, "plugins: tick", period_of(from->plugins[i].tick));
    return status;
}

// ---- motion ------------------------------------------------------------------------------------

mf_Status mf_scene_servo(const mf_ServoChange *change, double stiffness, const mf_Model *model,
                         uint32_t index, mf_Servo *servo, mf_Error *error) {
    const mf_Joint *joint = &model->joints[index];
    *servo = mf_joint_servo(model, index);
    if (change->gain > 0.0)
        servo->gain = change->gain;
    if (change->damping > 0.0)
        servo->damping = change->damping;
    if (change->speed > 0.0)
        servo->speed = change->speed;
    servo->gain *= stiffness;
    servo->damping *= mf_sqrt(stiffness);
    bool driven =
        (joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_SLIDE) && joint->mimic == MF_NONE;
    if (!driven || servo->gain > 0.0)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "servo.gain: expected a number above 0, because the joint %.99s has neither a "
                   "servo nor effort and speed in its file",
                   joint->name);
}

// Servos of all joints, NULL where nothing about them is said or asked. A controller of genomes
// drives every joint, so none may be without.
static mf_Status make_servos(const mf_SceneBuilder *builder, uint32_t index, mf_Servo **out) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_ServoChange *change = &from->servo;
    const mf_Model *model = builder->scene->models[index];
    const double stiffness = index == 0 ? builder->scene->stiffness : change->stiffness;
    const bool strict = from->controller != MF_CONTROLLER_NONE;
    mf_Status status = MF_OK;
    *out = NULL;
    if (!strict && !(change->gain > 0.0 || change->damping > 0.0 || change->speed > 0.0) &&
        stiffness == 1.0)
        return MF_OK;
    *out = mf_allocate(builder->context, model->joint_count + 1, sizeof **out);
    if (*out == NULL)
        return mf_fail(builder->error, MF_NO_MEMORY, "scene: no memory for servos");
    for (uint32_t j = 0; j < model->joint_count && status == MF_OK; j++) {
        status = mf_scene_servo(change, stiffness, model, j, &(*out)[j], builder->error);
        status = strict ? status : MF_OK;
    }
    return status;
}

static void set_vehicle(const mf_SceneGroup *from, int mode, mf_Time control,
                        mf_MotionsConfig *config) {
    switch (from->vehicle->kind) {
    case MF_VEHICLE_QUADROTOR:
        config->quadrotor = from->vehicle->quadrotor;
        config->quadrotor_settings.command = (mf_QuadrotorCommand)mode;
        config->quadrotor_settings.integrator = from->integrator;
        config->quadrotor_settings.control_interval = control;
        config->quadrotor_settings.outer_interval = from->outer_interval;
        return;
    case MF_VEHICLE_FIXED_WING:
        config->fixed_wing = from->vehicle->fixed_wing;
        config->fixed_wing_settings.command = (mf_FixedWingCommand)mode;
        config->fixed_wing_settings.integrator = from->integrator;
        config->fixed_wing_settings.control_interval = control;
        config->fixed_wing_settings.gusts =
            mf_dryden(from->turbulence, from->vehicle->fixed_wing.airspeed_design);
        config->fixed_wing_settings.start_altitude = -1e5; // they fly where they are placed
        return;
    case MF_VEHICLE_CAR:
        break;
    }
    config->car = from->vehicle->car;
    config->car_settings.command = (mf_CarCommand)mode;
    config->car_settings.integrator = from->integrator;
    config->car_settings.control_interval = control;
    config->car_settings.model = from->car_model;
    config->car_settings.tyre = from->car_tyre;
}

// What motions of links and joints are told by the group and by the model's file.
static void set_levels(const mf_SceneBuilder *builder, uint32_t index, mf_Time control,
                       mf_MotionsConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Model *model = builder->scene->models[index];
    const bool touches = mf_model_meets_ground(model, builder->scene->terrain != NULL);
    const bool limits = !(model->physics.disabled & (MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT));
    config->points = from->points;
    mf_motions_set_shapes(config, from->contact_shapes);
    mf_motions_set_control(config, control);
    config->points.joint_interval = points_interval(builder, index, control);
    config->rigid.friction = config->prescribed.friction = config->articulated.friction =
        from->friction;
    if (!isnan(from->friction))
        config->points.friction_coefficient = from->friction;
    config->rigid.contacts = config->prescribed.contacts = config->articulated.contacts = touches;
    config->rigid.limits = config->prescribed.limits = config->articulated.limits = limits;
    config->articulated.self_contacts = from->contact_self;
    config->external.targets = from->external_targets;
    config->external.control_interval = from->control_interval;
    // Runge-Kutta steps have contacts of MuJoCo's law only.
    if (model->physics.integrator == MF_PHYSICS_RK4 && (!touches || model->body_count > 0))
        config->articulated.integrator = MF_ARTICULATED_RK4;
}

static mf_Status make_config(const mf_SceneBuilder *builder, uint32_t index,
                             mf_MotionsConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time control = mf_scene_control_interval(builder, index);
    int mode = 0;
    *config = mf_motions_config();
    config->start = mf_scene_group_motion(builder, index);
    for (uint32_t i = 0; i < from->rule_count; i++)
        if (from->rules[i].to != MF_MOTION_OWN)
            config->has[from->rules[i].to] = true;
    if (from->vehicle == NULL) {
        set_levels(builder, index, control, config);
        return MF_OK;
    }
    mf_Status status =
        mf_behaviour_mode(&from->behaviour, from->vehicle->kind, &mode, builder->error);
    set_vehicle(from, mode, control, config);
    return status;
}

static mf_Status add_one_motion(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                                mf_MotionsConfig *config) {
    const mf_Model *model = builder->scene->models[index];
    const bool articulated = config->start == MF_MOTION_ARTICULATED;
    mf_Status status = MF_OK;
    if (config->start < MF_MOTION_LEVELS && !articulated)
        status = mf_motion_check(model, config->start, builder->error);
    if (status == MF_OK)
        status = mf_motion_add(group, config->start, config, builder->error);
    if (status != MF_LIMIT || !articulated || model->body_count > 0 ||
        !config->articulated.self_contacts)
        return status;
    // A URDF file of very many meshes.
    config->articulated.self_contacts = false;
    mf_scene_note(
        builder->scene,
        "group %.60s: the model has too many pairs of shapes, so its links do not collide",
        builder->file->groups[index].name);
    return mf_motion_add(group, config->start, config, builder->error);
}

static mf_Status add_motion(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    mf_MotionsConfig config;
    mf_Servo *servos = NULL;
    mf_Status status = make_config(builder, index, &config);
    if (status == MF_OK &&
        (config.start == MF_MOTION_ARTICULATED || config.has[MF_MOTION_ARTICULATED]))
        status = make_servos(builder, index, &servos);
    config.articulated.servos = servos;
    if (status == MF_OK && builder->file->groups[index].rule_count > 0)
        status = mf_motions_add(group, &config, builder->error);
    else if (status == MF_OK && config.start != MF_MOTION_OWN)
        status = add_one_motion(builder, index, group, &config);
    mf_release(builder->context, servos);
    return status;
}

// ---- plugins, controllers, sensors -------------------------------------------------------------

static mf_Status add_plugin(const mf_SceneBuilder *builder, mf_Group *group, mf_Time interval,
                            const mf_ScenePlugin *from) {
    mf_Scene *scene = builder->scene;
    const mf_Rate tick = from->tick.numerator > 0 ? from->tick : mf_rate_from_period(interval);
    mf_PluginConfig config = mf_plugin_config();
    mf_Plugin *plugin = NULL;
    config.values = from->values;
    config.value_count = from->value_count;
    mf_Status status = mf_plugin_load_named(builder->context, from->path, &plugin, builder->error);
    if (status != MF_OK)
        return status;
    if (mf_plugin_describe(plugin)->kind == MF_PLUGIN_MOTION)
        status = mf_plugin_motion_add(group, plugin, &config, NULL, builder->error);
    else
        status = mf_plugin_control_add(group, tick, plugin, &config, builder->error);
    if (scene->plugin_count < MF_SCENE_LIBRARIES)
        scene->plugins[scene->plugin_count++] = plugin;
    else
        mf_plugin_close(plugin); // the group keeps it loaded
    return status;
}

static bool wants_own(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    bool wants = mf_scene_group_motion(builder, index) == MF_MOTION_OWN;
    for (uint32_t i = 0; i < from->rule_count; i++)
        wants = wants || from->rules[i].to == MF_MOTION_OWN;
    return wants;
}

static mf_Status add_plugins(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time interval = mf_scene_control_interval(builder, index);
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < from->plugin_count && status == MF_OK; i++)
        status = add_plugin(builder, group, interval > 0 ? interval : builder->scene->step,
                            &from->plugins[i]);
    if (status == MF_OK && wants_own(builder, index) && !mf_motion_in(group, MF_MOTION_OWN))
        status = mf_fail(builder->error, MF_BAD_ARGUMENT,
                         "group %s: motion own: none of its plugins is a motion", from->name);
    return status;
}

// What a genome can read of its robot comes with its controller; else the model's sensors.
static mf_Status add_sensors(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const bool evaluated =
        (builder->config.evaluates || builder->file->evolves) && from->vehicle == NULL;
    mf_Rate rate = controller_rate(from);
    if (rate.numerator == 0)
        rate = mf_rate_from_period(mf_scene_control_interval(builder, index));
    if (from->controller != MF_CONTROLLER_NONE || (index == 0 && evaluated))
        return mf_sensors_add(group, rate, builder->error);
    // What cannot be measured reads 0; mayfly info tells.
    mf_InstrumentsConfig config = mf_instruments_config();
    config.lenient = true;
    if (!from->sensors || from->vehicle != NULL ||
        (mf_group_model(group)->physics.disabled & MF_DISABLE_SENSOR))
        return MF_OK;
    return mf_instruments_add(group, &config, builder->error);
}

static mf_Status add_controller(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    if (from->controller == MF_CONTROLLER_GP)
        return mf_gp_add(group, &from->gp, builder->error);
    if (from->controller == MF_CONTROLLER_OSCILLATOR)
        return mf_oscillator_add(group, &from->oscillator, builder->error);
    return MF_OK;
}

mf_Status mf_scene_add_group(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Model *model = builder->scene->models[index];
    mf_GroupConfig config = mf_group_config();
    mf_Group *group = NULL;
    config.name = from->name;
    config.model = model;
    config.count = mf_scene_group_count(builder, index);
    config.isolated = mf_scene_group_isolated(builder, index);
    config.double_precision = from->double_precision;
    mf_Status status = check_times(builder, index);
    if (status == MF_OK)
        status = mf_world_add_group(builder->scene->world, &config, &group, builder->error);
    if (status != MF_OK || mf_scene_is_scenery(model))
        return status;
    if (mf_scene_group_meets(builder, index) || mf_scene_group_is_joined(builder, index))
        status = mf_collisions_prepare(group, builder->error);
    if (status == MF_OK)
        status = add_motion(builder, index, group);
    if (status == MF_OK)
        status = add_plugins(builder, index, group);
    if (status == MF_OK)
        status = mf_scene_add_gaits(builder, index, group);
    if (status == MF_OK)
        status = add_sensors(builder, index, group);
    return status == MF_OK ? add_controller(builder, index, group) : status;
}
