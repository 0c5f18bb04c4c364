// What a model's file asks of its constraints and steps, and does not get with the settings in use.
#include "motion/articulated/build.h"
#include "motion/articulated/host.h"

#include <math.h>

static bool is_implicit(const mf_Model *model) {
    return model->physics.integrator == MF_PHYSICS_IMPLICIT ||
           model->physics.integrator == MF_PHYSICS_IMPLICIT_FAST;
}

// Actuators on ball joints and sites whose force depends on the rate.
static bool rates_act_early(const mf_ArtPlan *plan, const mf_Model *model) {
    bool any = false;
    for (uint32_t i = 0; i < plan->actuator_count; i++)
        any |= plan->actuators[i].acts != MF_ART_PULLS && plan->actuators[i].rated;
    return any && is_implicit(model);
}

static bool settings_say(const mf_ArticulatedConfig *config) {
    return config->contact_stiffness > 0.0 || config->contact_time > 0.0 ||
           config->limit_time > 0.0 || !isnan(config->contact_damping);
}

const char *mf_articulated_note(const mf_Group *group, uint32_t index) {
    const mf_ArtPlan *plan = mf_art_plan_of(group);
    if (plan == NULL)
        return NULL;
    const mf_Model *model = mf_group_model(group);
    const bool file = model->body_count > 0, rk4 = plan->config.integrator == MF_ARTICULATED_RK4;
    const struct {
        bool holds;
        const char *text;
    } notes[] = {
        {file && !plan->law,
         "contact_law: contacts, limits and equality constraints do not follow MuJoCo's law; "
         "solref, solimp, cone and impratio are honoured in part (docs/articulated.md)"},
        {plan->law && settings_say(&plan->config),
         "contact_law mujoco: stiffness, damping and time constants of the settings are not read"},
        {plan->law && model->physics.integrator == MF_PHYSICS_RK4 && !rk4,
         "integrator RK4: steps are those of Euler's method"},
        {plan->law && model->physics.integrator != MF_PHYSICS_RK4 && rk4 && file,
         "integrator: steps are those of Runge-Kutta, not the file's"},
        {plan->law && model->physics.integrator == MF_PHYSICS_IMPLICIT && !rk4,
         "integrator implicit: as implicitfast, Coriolis forces act at the beginning of the step"},
        {plan->law && !rk4 && rates_act_early(plan, model),
         "integrator: velocity terms of actuators on ball joints and sites act at the beginning of "
         "the step"},
        {!plan->config.self_contacts, "self_contacts: links do not touch each other"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].holds && index-- == 0)
            return notes[i].text;
    return NULL;
}
