// Builds one group of a scene: its model, motion, plugins, controller and sensors.
#include "scene/modules/modules.h"
#include "control/plugin.h"
#include "world/group.h"
#include "motion/table.h"
#include "model/points.h"
#include "base/floats.h"
#include "scene/behavior.h"
#include "scene/machines.h"
#include "scene/scene_file.h"

#include "math/scalar.h"
#include "world/attach.h"

#include <mayfly/links.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONTROL_INTERVAL (10 * MF_MILLISECOND) // [ns] default interval of joint commands

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

static bool can_collide(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    return from->contact_others && !mf_scene_is_vertices(from) &&
           !mf_scene_group_particles(builder, index) && !mf_scene_group_isolated(builder, index);
}

// A single robot has no other to collide with.
bool mf_scene_group_collides(const mf_SceneBuilder *builder, uint32_t index) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        count += can_collide(builder, i) ? mf_scene_group_count(builder, i) : 0;
    return builder->file->contact && count > 1 && can_collide(builder, index);
}

// ---- model -------------------------------------------------------------------------------------

mf_Status mf_scene_load_model(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Model **out = &builder->scene->models[index];
    if (from->model != NULL) {
        *out = (mf_Model *)(uintptr_t)from->model; // only read
        return mf_scene_limit_modules(builder, index);
    }
    if (from->kind != NULL)
        return mf_body_model(builder->context, from->kind, from->body, out, builder->error);
    const mf_Status status =
        mf_model_load(builder->context, from->model_path, &from->import, out, builder->error);
    if (status != MF_OK)
        return mf_scene_blame_file(builder->file, status, "groups", from->name, "model",
                                   from->model_path, from->model_line, from->model_column,
                                   builder->error);
    return mf_scene_limit_modules(builder, index);
}

// ---- times -------------------------------------------------------------------------------------

// Rate of the controller of genomes; 0/0: none.
static mf_Rate controller_rate(const mf_SceneGroup *from) {
    return from->controller == MF_CONTROLLER_GP           ? from->gp.rate
           : from->controller == MF_CONTROLLER_OSCILLATOR ? from->oscillator.rate
                                                          : (mf_Rate){0, 0};
}

// [ns] interval of joint commands; vehicles: interval of onboard loops, 0: every step. Joints that
// track the commanded motion reach their target at the next command, in whole steps: a faster
// motion would throw the robot into the air.
static mf_Time control_interval_of(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time step = builder->scene->step, steps = CONTROL_INTERVAL / step;
    const mf_Rate rate = controller_rate(from);
    if (from->control_interval > 0 || mf_group_vehicle(from) != NULL)
        return from->control_interval;
    if (rate.numerator == 0)
        return step * (steps > 0 ? steps : 1);
    const mf_Time period = MF_SECOND * rate.denominator / rate.numerator;
    return (period > step ? (period + step / 2) / step : 1) * step;
}

// The published value where no gait commands the joints.
static mf_Time points_interval(const mf_SceneBuilder *builder, uint32_t index, mf_Time control) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time step = builder->scene->step;
    const mf_Time published = mf_motions_config().points.joint_interval / step;
    if (from->motions.points.joint_interval > 0)
        return from->motions.points.joint_interval;
    if (from->gait_count > 0 || from->control_interval > 0)
        return control;
    return step * (published > 0 ? published : 1);
}

// Checks intervals that the reader could not check, because the step depends on the models.
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
    MF_TRY(check_multiple(builder, index, "control_interval", from->control_interval));
    MF_TRY(check_multiple(builder, index, "motion.points.joint_interval",
                          from->motions.points.joint_interval));
    MF_TRY(check_multiple(builder, index, "controller: tick", period_of(controller_rate(from))));
    for (uint32_t i = 0; i < from->plugin_count; i++)
        MF_TRY(check_multiple(builder, index, "plugins: tick", period_of(from->plugins[i].tick)));
    return MF_OK;
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
    bool driven = (mf_joint_has_axis(joint)) && joint->mimic == MF_NONE;
    if (!driven || servo->gain > 0.0)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "servo.gain: expected a number above 0, because the joint %.99s has neither a "
                   "servo nor effort and speed in its file",
                   joint->name);
}

// Servos of all joints, NULL if the file does not mention them and nothing needs them. A controller
// of genomes drives every joint, so every joint needs one.
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

// Applies the settings of the group and of the model's file to motions of links and joints.
static void set_levels(const mf_SceneBuilder *builder, uint32_t index, const mf_Group *group,
                       mf_Time control, mf_MotionsConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Model *model = builder->scene->models[index];
    mf_motions_set_shapes(config, from->contact_shapes);
    mf_motions_set_control(config, control);
    config->points.joint_interval = points_interval(builder, index, control);
    if (!isnan(from->friction))
        mf_motions_set_friction(config, from->friction);
    mf_motions_set_contacts(config, mf_group_touches_ground(group));
    mf_motions_set_limits(config,
                          !(model->physics.disabled & (MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT)));
    config->articulated.self_contacts = from->contact_self;
    config->articulated.servo_inputs = from->servo.inputs;
}

// All levels that the model supports, for mf_SceneConfig.levels.
static void add_levels(const mf_SceneBuilder *builder, uint32_t index, mf_MotionsConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    if (!builder->config.levels || config->start >= MF_MOTION_LEVELS || from->plugin_count > 0)
        return;
    for (int i = 0; i < MF_MOTION_LEVELS; i++)
        if (i != (int)config->start && !config->has[i])
            config->has[i] =
                mf_motion_check(builder->scene->models[index], (mf_Motion)i, NULL) == MF_OK;
}

static mf_Status make_config(const mf_SceneBuilder *builder, uint32_t index, const mf_Group *group,
                             mf_MotionsConfig *config) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time control = control_interval_of(builder, index);
    int mode = 0;
    *config = from->motions;
    config->start = mf_scene_group_motion(builder, index);
    config->external.control_interval = from->control_interval;
    for (uint32_t i = 0; i < from->rule_count; i++)
        if (from->rules[i].to != MF_MOTION_OWN)
            config->has[from->rules[i].to] = true;
    const mf_Vehicle *vehicle = mf_group_vehicle(from);
    if (vehicle != NULL)
        MF_TRY(mf_behavior_mode(&from->behavior, vehicle->kind, &mode, builder->error));
    if (from->kind != NULL)
        from->kind->configure(from->body, mode, control, config);
    if (from->controller == MF_CONTROLLER_MACHINE)
        mf_machine_motions(from, config);
    if (vehicle == NULL) {
        add_levels(builder, index, config);
        set_levels(builder, index, group, control, config);
    }
    return MF_OK;
}

static mf_Status add_one_motion(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                                mf_SceneParts *parts) {
    const mf_Model *model = builder->scene->models[index];
    mf_MotionsConfig *config = &parts->motions;
    const bool articulated = config->start == MF_MOTION_ARTICULATED;
    mf_Status status = mf_motion_add(group, config->start, config, builder->error);
    // If the model is the reason the message names the motions that support it.
    if (status != MF_OK && status != MF_NO_MEMORY && config->start < MF_MOTION_LEVELS &&
        !articulated) {
        mf_Error reason = {0};
        const mf_Status checked = mf_motion_check(model, config->start, &reason);
        if (checked != MF_OK && builder->error != NULL)
            *builder->error = reason;
        return checked != MF_OK ? checked : status;
    }
    if (status != MF_LIMIT || !articulated || model->body_count > 0 ||
        !config->articulated.self_contacts || !parts->drops_contacts)
        return status;
    // A URDF file with very many meshes.
    config->articulated.self_contacts = false;
    mf_scene_note(
        builder->scene,
        "group %.60s: the model has too many pairs of shapes, so its links do not collide",
        builder->file->groups[index].name);
    return mf_motion_add(group, config->start, config, builder->error);
}

static bool switches(const mf_MotionsConfig *config) {
    bool any = false;
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        any = any || (config->has[i] && config->start != (mf_Motion)i);
    return any;
}

static mf_Status add_motion(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                            mf_SceneParts *parts) {
    const mf_MotionsConfig *config = &parts->motions;
    mf_Status status = MF_OK;
    if (switches(config) || builder->file->groups[index].rule_count > 0)
        status = mf_motions_add(group, config, builder->error);
    else if (config->start < MF_MOTION_COUNT)
        status = add_one_motion(builder, index, group, parts);
    // Adds the motions that support the model to the message if that is the reason.
    for (int i = 0; i < MF_MOTION_LEVELS && status == MF_UNSUPPORTED; i++)
        if (config->has[i] || config->start == (mf_Motion)i)
            mf_motion_check(builder->scene->models[index], (mf_Motion)i, builder->error);
    return status;
}

// ---- plugins, controllers, sensors -------------------------------------------------------------

// The derived fields of links are there for the controllers that name them.
static mf_Status derive_links(const mf_PluginEntry *entry, mf_Group *group, mf_Error *error) {
    for (uint32_t f = 0; f < entry->field_count; f++)
        if (strcmp(entry->fields[f].name, "link.pose") == 0 ||
            strcmp(entry->fields[f].name, "link.velocity") == 0)
            return mf_group_derive_links(group, error);
    return MF_OK;
}

// Parts of modules and pictures, whose fields a plugin may use, are there only after all groups.
static bool is_late(const mf_PluginEntry *entry) {
    for (uint32_t f = 0; f < entry->field_count; f++)
        if (mf_scene_is_module_field(entry->fields[f].name) ||
            strncmp(entry->fields[f].name, "camera.", 7) == 0)
            return true;
    return false;
}

// Robots have been reset before: only the plugin's own fields are new.
static void reset_plugin(mf_Group *group, const char *name) {
    char system_name[MF_PLUGIN_TEXT_LIMIT + 16];
    snprintf(system_name, sizeof system_name, "plugin:%s", name);
    for (uint32_t s = 0; s < mf_group_system_count(group); s++) {
        const mf_SystemConfig *system = mf_group_system(group, s);
        if (strcmp(system->name, system_name) != 0 || system->reset == NULL)
            continue;
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            system->reset(group, i, system->user);
    }
}

static mf_Status add_plugin(const mf_SceneBuilder *builder, mf_Group *group, mf_Time interval,
                            const mf_ScenePlugin *from, bool late) {
    mf_Scene *scene = builder->scene;
    const mf_Rate tick = from->tick.numerator > 0 ? from->tick : mf_rate_from_period(interval);
    mf_PluginConfig config = mf_plugin_config();
    mf_Plugin *plugin = NULL;
    config.values = from->values;
    config.value_count = from->value_count;
    mf_Status status = mf_plugin_load_named(builder->context, from->path, &plugin, builder->error);
    if (status != MF_OK)
        return status;
    const mf_PluginEntry *entry = mf_plugin_describe(plugin);
    if (is_late(entry) != late) {
        mf_plugin_close(plugin);
        return MF_OK;
    }
    if (entry->kind == MF_PLUGIN_CONTROL)
        status = derive_links(entry, group, builder->error);
    if (entry->kind == MF_PLUGIN_MOTION)
        status = mf_plugin_motion_add(group, plugin, &config, NULL, builder->error);
    else if (status == MF_OK)
        status = mf_plugin_control_add(group, tick, plugin, &config, builder->error);
    if (status == MF_OK && late)
        reset_plugin(group, entry->name);
    if (scene->plugin_count < MF_SCENE_LIBRARIES)
        scene->plugins[scene->plugin_count++] = plugin;
    else
        mf_plugin_close(plugin); // the group keeps a reference
    return status;
}

static bool wants_own(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    bool wants = mf_scene_group_motion(builder, index) == MF_MOTION_OWN;
    for (uint32_t i = 0; i < from->rule_count; i++)
        wants = wants || from->rules[i].to == MF_MOTION_OWN;
    return wants;
}

static mf_Status add_plugins(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                             bool late) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_Time interval = control_interval_of(builder, index);
    for (uint32_t i = 0; i < from->plugin_count; i++)
        MF_TRY(add_plugin(builder, group, interval > 0 ? interval : builder->scene->step,
                          &from->plugins[i], late));
    if (!late && wants_own(builder, index) && !mf_motion_in(group, MF_MOTION_OWN))
        return mf_fail(builder->error, MF_BAD_ARGUMENT,
                       "group %s: motion own: none of its plugins is a motion", from->name);
    return MF_OK;
}

mf_Status mf_scene_add_late_plugins(const mf_SceneBuilder *builder) {
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        MF_TRY(add_plugins(builder, i, mf_world_group(builder->scene->world, i), true));
    return MF_OK;
}

// Rate of the measurements that a genome can read, before its controller; false: the robot has no
// genome.
static bool genome_senses(const mf_SceneBuilder *builder, uint32_t index, mf_Rate *rate) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const bool evaluated =
        (builder->config.evaluates || builder->file->evolves) && mf_group_vehicle(from) == NULL;
    if (from->controller == MF_CONTROLLER_NONE && (index > 0 || !evaluated))
        return false;
    const mf_Time interval = control_interval_of(builder, index); // 0: a vehicle's own
    *rate = controller_rate(from);
    if (rate->numerator == 0)
        *rate = mf_rate_from_period(interval > 0 ? interval : builder->scene->step);
    return true;
}

static mf_Status add_sensors(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                             const mf_SceneParts *parts) {
    mf_SensorsConfig config = parts->sensors;
    mf_Rate rate;
    const bool genome = genome_senses(builder, index, &rate);
    config.posture = genome;
    if (genome && !parts->measures) {
        config.rate = rate;
        config.before_control = config.lenient = true;
    }
    return genome || parts->measures ? mf_sensors_add(group, &config, builder->error) : MF_OK;
}

static mf_Status add_controller(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    if (from->controller == MF_CONTROLLER_GP)
        return mf_gp_add(group, &from->gp, builder->error);
    if (from->controller == MF_CONTROLLER_OSCILLATOR)
        return mf_oscillator_add(group, &from->oscillator, builder->error);
    return from->kind != NULL && from->kind->control != NULL
               ? from->kind->control(from, group, builder->error)
               : MF_OK;
}

// Whether bodies of the scene can touch the robots of a group.
static bool is_touched(const mf_SceneBuilder *builder, uint32_t index) {
    const mf_BodyKind *kind = builder->file->groups[index].kind;
    bool any = false;
    for (uint32_t i = 0; i < builder->file->group_count; i++)
        any = any || mf_scene_group_touches(builder, i);
    return any && (kind == NULL || kind->touch == NULL) && !mf_scene_group_isolated(builder, index);
}

// ---- the whole group ---------------------------------------------------------------------------

static mf_Status make_parts(const mf_SceneBuilder *builder, uint32_t index, const mf_Group *group,
                            mf_SceneParts *out) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Rate rate;
    mf_Status status = make_config(builder, index, group, &out->motions);
    if (status == MF_OK && mf_scene_group_particles(builder, index))
        status = mf_scene_choose_placed(builder, index, &out->motions);
    out->gaits = mf_gait_config();
    out->gaits.first = MF_NONE;
    if (from->gait_count > 0)
        out->gaits.rate = mf_rate_from_period(control_interval_of(builder, index));
    // Missing measurements read 0; `mayfly info` lists them.
    out->sensors = mf_sensors_config();
    out->sensors.lenient = true;
    out->measures = from->sensors && mf_group_vehicle(from) == NULL &&
                    !mf_scene_is_vertices(from) && !genome_senses(builder, index, &rate) &&
                    !(mf_group_model(group)->physics.disabled & MF_DISABLE_SENSOR);
    out->drops_contacts = true;
    return status;
}

// Whether robots touch the ground by their shapes at first, so that a reset puts these onto it.
static bool starts_by_shapes(const mf_MotionsConfig *config) {
    const mf_MotionRow *row = mf_motion_row(config->start);
    return row != NULL && row->common.shapes != 0 &&
           *(const bool *)((const char *)config + row->common.shapes);
}

static mf_Status equip(mf_SceneBuilder *builder, uint32_t index, mf_Group *group,
                       mf_SceneParts *parts) {
    MF_TRY(add_motion(builder, index, group, parts));
    if (starts_by_shapes(&parts->motions))
        MF_TRY(mf_group_stand_on_shapes(group, builder->error));
    MF_TRY(mf_scene_add_joint_slots(builder, index, group));
    MF_TRY(add_plugins(builder, index, group, false));
    MF_TRY(mf_scene_add_gaits(builder, index, group, &parts->gaits));
    MF_TRY(add_sensors(builder, index, group, parts));
    return add_controller(builder, index, group);
}

// Settings of servos where no servo acts: under other motions, and in models without joints.
static void note_servos(const mf_SceneBuilder *builder, uint32_t index, bool articulated) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_ServoChange *change = &from->servo;
    const mf_Model *model = builder->scene->models[index];
    bool joints = false;
    if (!change->inputs && !(change->gain > 0.0 || change->damping > 0.0 || change->speed > 0.0) &&
        change->stiffness == 1.0)
        return;
    for (uint32_t j = 0; j < model->joint_count; j++)
        joints |= mf_joint_has_axis(&model->joints[j]);
    if (!articulated)
        mf_scene_note(builder->scene,
                      "group %.60s: servo has no effect: its robots do not move by `articulated`",
                      from->name);
    else if (!joints)
        mf_scene_note(builder->scene,
                      "group %.60s: servo has no effect: its model has no hinge and no slide",
                      from->name);
}

// Adds the controller and sensors of the file.
static mf_Status equip_by_file(mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    mf_SceneParts parts;
    mf_Servo *servos = NULL;
    mf_Status status = make_parts(builder, index, group, &parts);
    const bool articulated = status == MF_OK && (parts.motions.start == MF_MOTION_ARTICULATED ||
                                                 parts.motions.has[MF_MOTION_ARTICULATED]);
    if (articulated)
        status = make_servos(builder, index, &servos);
    if (status == MF_OK)
        note_servos(builder, index, articulated);
    parts.motions.articulated.servos = servos;
    MF_THEN(status, equip(builder, index, group, &parts));
    mf_release(builder->context, servos);
    return status;
}

// The file's own values: state that only scripts and programs change.
static mf_Status add_values(const mf_SceneBuilder *builder, uint32_t index, mf_Group *group) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    for (uint32_t i = 0; i < from->value_count; i++) {
        char name[MF_SCENE_VALUE_NAME];
        mf_Field *field;
        snprintf(name, sizeof name, "value.%s", from->values[i]);
        const mf_FieldInfo info = {.name = name,
                                   .unit = "1",
                                   .frame = "",
                                   .type = MF_F64,
                                   .shape = MF_PER_INSTANCE,
                                   .width = 1,
                                   .flags = MF_FIELD_STATE | MF_FIELD_INPUT,
                                   .description = "value of the scene's own"};
        MF_TRY(mf_group_add_field(group, &info, 1, &field, builder->error));
    }
    return MF_OK;
}

mf_Status mf_scene_add_group(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    const mf_SceneHooks *hooks = &builder->file->hooks;
    const mf_Model *model = builder->scene->models[index];
    mf_GroupConfig config = mf_group_config();
    mf_Group *group = NULL;
    config.name = from->name;
    config.model = model;
    config.count = mf_scene_group_count(builder, index);
    config.isolated = mf_scene_group_isolated(builder, index);
    config.double_precision = from->double_precision;
    MF_TRY(check_times(builder, index));
    MF_TRY(mf_world_add_group(builder->scene->world, &config, &group, builder->error));
    MF_TRY(add_values(builder, index, group));
    if (index == 0 && hooks->prepare != NULL)
        MF_TRY(hooks->prepare(group, hooks->user, builder->error));
    if (mf_scene_is_scenery(model))
        return MF_OK;
    const bool wetted =
        builder->file->contact && can_collide(builder, index) && mf_scene_has_particles(builder);
    if (mf_scene_group_collides(builder, index) || mf_scene_group_is_joined(builder, index) ||
        wetted || is_touched(builder, index))
        MF_TRY(mf_collisions_prepare(group, builder->error));
    return equip_by_file(builder, index, group);
}

// ---- groups of programs ------------------------------------------------------------------------

static void end_group(mf_SceneBuilder *builder) {
    mf_release(builder->context, builder->scene->models);
}

// A builder for one group that is in a world already. `scene` must be zeroed.
static mf_Status begin_group(mf_SceneBuilder *builder, const mf_Group *group, mf_SceneFile *file,
                             mf_Scene *scene, mf_Error *error) {
    MF_NEED(group != NULL && file != NULL, error, "scene: group or file is NULL");
    scene->file = file;
    scene->world = mf_group_world(group);
    scene->group_count = 1;
    scene->step = mf_world_config_of(scene->world)->step;
    scene->stiffness = file->groups[0].servo.stiffness;
    *builder = (mf_SceneBuilder){.context = mf_world_context(scene->world),
                                 .file = file,
                                 .config = mf_scene_config(),
                                 .scene = scene,
                                 .error = error};
    MF_TRY(mf_scene_allocate_groups(builder));
    scene->models[0] = (mf_Model *)(uintptr_t)mf_group_model(group); // only read
    const mf_Status status = check_times(builder, 0);
    if (status != MF_OK)
        end_group(builder);
    return status;
}

mf_Status mf_scene_parts(const mf_Group *group, mf_SceneFile *file, mf_SceneParts *out,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_SceneBuilder builder;
    mf_Scene scene = {0};
    MF_NEED(out != NULL, error, "scene: out is NULL");
    MF_TRY(begin_group(&builder, group, file, &scene, error));
    const mf_Status status = make_parts(&builder, 0, group, out);
    end_group(&builder);
    return status;
}

mf_Status mf_scene_equip(mf_Group *group, mf_SceneFile *file, mf_SceneParts *parts,
                         mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_SceneBuilder builder;
    mf_Scene scene = {0};
    MF_TRY(begin_group(&builder, group, file, &scene, error));
    mf_Status status =
        parts != NULL ? equip(&builder, 0, group, parts) : equip_by_file(&builder, 0, group);
    MF_THEN(status, mf_scene_ready_joint_slots(&builder));
    const mf_Vehicle *vehicle = mf_group_vehicle(&file->groups[0]);
    if (status == MF_OK && vehicle != NULL)
        status = mf_behavior_add(group, vehicle->kind, &file->groups[0].behavior, error);
    for (uint32_t i = 0; i < scene.plugin_count; i++)
        mf_plugin_close(scene.plugins[i]); // the group keeps references
    for (uint32_t i = 0; i < MF_SCENE_GAITS; i++)
        mf_gait_destroy(scene.gaits[0][i]);
    end_group(&builder);
    if (status == MF_OK)
        mf_group_reset_all(group);
    return status;
}
