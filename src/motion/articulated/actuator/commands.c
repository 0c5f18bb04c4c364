// joint.target as the command of actuators that control positions.
//
// The force of such an actuator is k u + b0 + b1 l + b2 (rate of l) with control u, length l and
// b1 < 0 (MuJoCo's affine bias; a filter of the control may lie between). It rests where
// k u = -(b0 + b1 l), so the control that holds its joints at their targets is
//     u = -(b0 + b1 l*) / k,   l* = sum of weight * joint.target.
//
// The last writer has priority: joint.target if a controller of the group writes it, or if it
// changed since the actuators tracked it last (stored in actuator.target); else actuator.control
// does not change.
#include "motion/articulated/actuator/commands.h"
#include "model/points.h"

#include "math/scalar.h"
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"
#include "world/attach.h"
#include "world/systems.h"

#include <string.h>

typedef struct Servo {
    uint32_t actuator;               // [1] of the model
    uint32_t first_term, term_count; // [1]
    double offset, slope;            // [1] control = offset + slope * length
} Servo;

typedef struct Commands {
    mf_Group *group;
    mf_Field *target, *followed, *control;
    uint32_t joint_count, servo_count, term_count;
    Servo *servos;        // in its block, as `terms`
    mf_TendonTerm *terms; // joints of the model, and weights of their position in the length
} Commands;

static const char system_name[] = "commands";

// ---- which actuators control positions ----------------------------------------------------------

static bool has_terms(const mf_Model *model, const mf_Actuator *actuator) {
    if (actuator->drive == MF_DRIVE_TENDON)
        return model->tendons[actuator->tendon].term_count > 0;
    return actuator->joint != MF_NONE && mf_joint_has_axis(&model->joints[actuator->joint]);
}

static bool controls_position(const mf_Model *model, const mf_Actuator *actuator) {
    return has_terms(model, actuator) && actuator->dynamics != MF_DYNAMICS_INTEGRATOR &&
           actuator->gain[0] != 0.0 && actuator->gain[1] == 0.0 && actuator->gain[2] == 0.0 &&
           actuator->bias[1] < 0.0;
}

static bool pulls_on(const mf_Model *model, const mf_Actuator *actuator, uint32_t joint) {
    mf_TendonTerm own;
    const mf_TendonTerm *terms;
    if (!has_terms(model, actuator))
        return actuator->joint == joint;
    const uint32_t count = mf_art_pulled(model, actuator, &own, &terms);
    for (uint32_t t = 0; t < count; t++)
        if (terms[t].joint == joint && actuator->gear[0] * terms[t].coefficient != 0.0)
            return true;
    return false;
}

static const char *what_instead(const mf_Actuator *actuator) {
    return actuator->dynamics == MF_DYNAMICS_INTEGRATOR ? "integrates its control"
           : actuator->bias[1] == 0.0 && actuator->bias[2] < 0.0
               ? "controls the speed, not the position"
           : actuator->bias[1] == 0.0 ? "gives a force that does not depend on the position"
                                      : "is not a plain position control";
}

mf_Status mf_art_follows(const mf_Group *group, uint32_t joint, mf_Error *error) {
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    const mf_Model *model = mf_group_model(group);
    const mf_Joint *own = &model->joints[joint];
    if (!mf_joint_has_axis(own))
        return mf_fail(error, MF_UNSUPPORTED, "joint %s is neither a hinge nor a slide", own->name);
    if (own->mimic != MF_NONE || motion->links[motion->joint_links[joint]].drive & MF_ART_HAS_SERVO)
        return MF_OK;
    const mf_Actuator *other = NULL;
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        if (!pulls_on(model, &model->actuators[a], joint))
            continue;
        if (controls_position(model, &model->actuators[a]))
            return MF_OK;
        other = &model->actuators[a];
    }
    if (other != NULL)
        return mf_fail(error, MF_UNSUPPORTED, "joint %s cannot follow a target: its actuator %s %s",
                       own->name, other->name, what_instead(other));
    return mf_fail(error, MF_UNSUPPORTED, "joint %s cannot follow a target: it has no %s",
                   own->name,
                   model->actuator_count > 0 ? "actuator" : "motor (effort and speed above 0)");
}

// ---- stepping -----------------------------------------------------------------------------------

static void load(const mf_Field *field, uint32_t block, uint32_t component, double out[MF_BLOCK]) {
    const size_t at = ((size_t)block * field->components + component) * MF_BLOCK;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        out[lane] = field->info.type == MF_F64 ? ((const double *)field->data)[at + lane]
                                               : (double)((const float *)field->data)[at + lane];
}

static void store(const mf_Field *field, uint32_t block, uint32_t component,
                  const double values[MF_BLOCK]) {
    const size_t at = ((size_t)block * field->components + component) * MF_BLOCK;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        if (field->info.type == MF_F64)
            ((double *)field->data)[at + lane] = values[lane];
        else
            ((float *)field->data)[at + lane] = (float)values[lane];
}

// The control of a servo for the targets of its joints, where one of them changed.
static void follow(const Commands *commands, const Servo *servo, uint32_t block, bool all) {
    double length[MF_BLOCK] = {0.0}, control[MF_BLOCK], target[MF_BLOCK], followed[MF_BLOCK];
    bool changed[MF_BLOCK] = {false}, any = all;
    for (uint32_t t = 0; t < servo->term_count; t++) {
        const mf_TendonTerm *term = &commands->terms[servo->first_term + t];
        load(commands->target, block, term->joint, target);
        load(commands->followed, block, term->joint, followed);
        for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
            length[lane] += term->coefficient * target[lane];
            changed[lane] = changed[lane] || all || target[lane] != followed[lane];
            any = any || changed[lane];
        }
    }
    if (!any)
        return;
    load(commands->control, block, servo->actuator, control);
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        if (changed[lane])
            control[lane] = servo->offset + servo->slope * length[lane];
    store(commands->control, block, servo->actuator, control);
}

static void run_commands(const mf_SystemRun *run, void *user) {
    const Commands *commands = user;
    const bool all = mf_attach_drives_joints(commands->group);
    const size_t row =
        (size_t)commands->joint_count * MF_BLOCK * mf_field_value_size(commands->target->info.type);
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++) {
        char *followed = (char *)commands->followed->data + b * row;
        const char *target = (const char *)commands->target->data + b * row;
        if (!all && memcmp(followed, target, row) == 0)
            continue;
        for (uint32_t s = 0; s < commands->servo_count; s++)
            follow(commands, &commands->servos[s], b, all);
        memcpy(followed, target, row);
    }
}

// The start is no command.
static void reset_commands(mf_Group *group, uint32_t instance, void *user) {
    const Commands *commands = user;
    (void)group;
    for (uint32_t j = 0; j < commands->joint_count; j++)
        mf_field_set(commands->followed, instance, j, mf_field_get(commands->target, instance, j));
}

// ---- adding -------------------------------------------------------------------------------------

static void count_servos(const mf_Model *model, uint32_t *servos, uint32_t *terms) {
    mf_TendonTerm own;
    const mf_TendonTerm *from;
    *servos = *terms = 0;
    for (uint32_t a = 0; a < model->actuator_count; a++)
        if (controls_position(model, &model->actuators[a])) {
            ++*servos;
            *terms += mf_art_pulled(model, &model->actuators[a], &own, &from);
        }
}

static void fill_servos(Commands *commands, const mf_Model *model) {
    for (uint32_t a = 0; a < model->actuator_count; a++) {
        const mf_Actuator *actuator = &model->actuators[a];
        if (!controls_position(model, actuator))
            continue;
        mf_TendonTerm own;
        const mf_TendonTerm *terms;
        const uint32_t count = mf_art_pulled(model, actuator, &own, &terms);
        commands->servos[commands->servo_count++] =
            (Servo){.actuator = a,
                    .first_term = commands->term_count,
                    .term_count = count,
                    .offset = -actuator->bias[0] / actuator->gain[0],
                    .slope = -actuator->bias[1] / actuator->gain[0]};
        for (uint32_t t = 0; t < count; t++)
            commands->terms[commands->term_count++] = (mf_TendonTerm){
                .joint = terms[t].joint, .coefficient = actuator->gear[0] * terms[t].coefficient};
    }
}

static mf_Status add_system(Commands *commands, mf_Error *error) {
    static const char *const reads[] = {"joint.target", "?motion.level", NULL};
    static const char *const writes[] = {"actuator.control", "actuator.target", NULL};
    mf_SystemConfig system = mf_system_config();
    system.name = system_name;
    system.phase = MF_PHASE_MOTION; // behind all controllers, before the motion
    system.run = run_commands;
    system.reset = reset_commands;
    system.destroy = mf_attach_release;
    system.user = commands;
    system.reads = reads;
    system.writes = writes;
    system.any_gravity = true;
    return mf_group_add_system(commands->group, &system, error);
}

// By an attempt whose motion could not be added.
static bool added_before(const mf_Group *group) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++)
        if (mf_group_system(group, i)->run == run_commands)
            return true;
    return false;
}

mf_Status mf_art_commands_add(mf_Group *group, mf_Error *error) {
    static const mf_FieldInfo followed = MF_FIELD_INFO(
        "actuator.target", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, MF_FIELD_STATE,
        "the joint.target that actuators with position control tracked last; metres for slides");
    const mf_Model *model = mf_group_model(group);
    mf_Context *context = mf_world_context(mf_group_world(group));
    uint32_t servos, terms;
    count_servos(model, &servos, &terms);
    if (servos == 0 || added_before(group))
        return MF_OK;
    Commands *commands;
    Servo *servo;
    mf_TendonTerm *term;
    const mf_Array arrays[] = {MF_ARRAY(commands, 1), MF_ARRAY(servo, servos),
                               MF_ARRAY(term, terms)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    *commands = (Commands){.group = group,
                           .joint_count = model->joint_count,
                           .servos = servo,
                           .terms = term,
                           .target = mf_group_find_field(group, "joint.target"),
                           .control = mf_group_find_field(group, "actuator.control")};
    fill_servos(commands, model);
    mf_Status status = mf_attach_field(group, &followed, 0, &commands->followed, error);
    MF_THEN(status, add_system(commands, error));
    if (status != MF_OK)
        mf_release(context, commands);
    return status;
}
