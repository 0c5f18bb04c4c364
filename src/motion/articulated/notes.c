// Notes about constraints and integrators of a model's file that the settings in use do not
// support.
#include "math/scalar.h"
#include "model/mounted.h"
#include "motion/articulated/host.h"

#include <math.h>

static bool is_implicit(const mf_Model *model) {
    return model->physics.integrator == MF_PHYSICS_IMPLICIT ||
           model->physics.integrator == MF_PHYSICS_IMPLICIT_FAST;
}

// Actuators on sites whose force depends on the rate.
static bool rates_act_early(const mf_Model *model) {
    bool any = false;
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *actuator = &model->actuators[i];
        const bool rated = mf_abs(actuator->gain[2]) > 0.0 || mf_abs(actuator->bias[2]) > 0.0;
        any |= rated && actuator->drive == MF_DRIVE_SITE && actuator->reference_site == MF_NONE;
    }
    return any && is_implicit(model);
}

static bool settings_say(const mf_ArticulatedConfig *config) {
    return config->contact_stiffness > 0.0 || config->contact_time > 0.0 ||
           config->limit_time > 0.0 || !isnan(config->contact_damping);
}

static bool has_bounds(const mf_Model *model) {
    bool any = false;
    for (uint32_t j = 0; j < model->joint_count; j++)
        any = any || (model->joints[j].effort > 0.0 && model->joints[j].effort < INFINITY) ||
              (model->joints[j].speed > 0.0 && model->joints[j].speed < INFINITY);
    return any;
}

const char *mf_art_note(const mf_Model *model, const mf_ArticulatedConfig *config, uint32_t index) {
    const bool file = model->body_count > 0, rk4 = config->integrator == MF_ARTICULATED_RK4,
               law = config->contact_law == MF_CONTACT_LAW_MUJOCO;
    const struct {
        bool holds;
        const char *text;
    } notes[] = {
        {!config->motors && model->actuator_count > 0,
         "motors false: joints have no servos; the actuators of the file stay, with the inputs "
         "actuator.control"},
        {file && !law,
         "contact_law: contacts, limits and equality constraints do not use MuJoCo's law; solref, "
         "solimp, cone and impratio have only a partial effect (docs/explanation/constraints.md)"},
        {!config->input_limits && !file && has_bounds(model),
         "servo.limits: effort and velocity of the file's joints do not hold for joint.torque"},
        {law && settings_say(config),
         "contact_law mujoco: stiffness, damping and time constants of the settings have no "
         "effect"},
        {law && mf_model_is_module(model),
         "contact_law mujoco: run-time joints hold docked robots; with contact_law: compliant they "
         "move as one tree, exactly and faster (docs/explanation/docks.md)"},
        {law && model->physics.integrator == MF_PHYSICS_RK4 && !rk4,
         "integrator RK4: Euler's method is used"},
        {law && model->physics.integrator != MF_PHYSICS_RK4 && rk4 && file,
         "integrator: Runge-Kutta is used, not the file's"},
        {law && !rk4 && rates_act_early(model),
         "integrator: velocity terms of actuators on sites are explicit"},
        {law && !rk4 && is_implicit(model) &&
             (model->physics.density > 0.0 || model->physics.viscosity > 0.0),
         "integrator: forces of the medium are explicit"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].holds && index-- == 0)
            return notes[i].text;
    return NULL;
}
