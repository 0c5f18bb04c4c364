// Actuators of a plan from a model's: what they pull on, as weighted joints, or push.
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <math.h>

static mf_Status unsupported(const mf_Actuator *actuator, const char *what, mf_Error *error) {
    return mf_fail(error, MF_UNSUPPORTED, "articulated: actuator %s: %s", actuator->name, what);
}

static uint32_t term_count(const mf_Model *model) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *actuator = &model->actuators[i];
        count +=
            actuator->drive == MF_DRIVE_TENDON ? model->tendons[actuator->tendon].term_count : 1;
    }
    return count;
}

static mf_Status add_term(mf_ArtPlan *plan, const mf_Model *model, const mf_Actuator *from,
                          mf_ArtActuator *actuator, uint32_t joint, double weight,
                          mf_Error *error) {
    mf_JointType type = model->joints[joint].type;
    if (type != MF_JOINT_HINGE && type != MF_JOINT_SLIDE)
        return unsupported(from, "drives a joint that is neither hinge nor slide", error);
    uint32_t link = plan->joint_links[joint];
    plan->links[link].actuated = true;
    plan->terms[plan->term_count++] = (mf_ArtTerm){.link = link, .weight = weight};
    actuator->term_count++;
    return MF_OK;
}

static mf_Status add_terms(mf_ArtPlan *plan, const mf_Model *model, const mf_Actuator *from,
                           mf_ArtActuator *actuator, mf_Error *error) {
    actuator->first_term = plan->term_count;
    if (from->drive != MF_DRIVE_TENDON)
        return add_term(plan, model, from, actuator, from->joint, from->gear[0], error);
    const mf_Tendon *tendon = &model->tendons[from->tendon];
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < tendon->term_count && status == MF_OK; i++) {
        const mf_TendonTerm *term = &model->tendon_terms[tendon->first_term + i];
        status = add_term(plan, model, from, actuator, term->joint,
                          from->gear[0] * term->coefficient, error);
    }
    return status;
}

// Force and torque about the link's origin that an actuator of 1 N makes, in the plan's axes.
static mf_Status add_push(mf_ArtPlan *plan, const mf_Actuator *from, mf_ArtActuator *actuator,
                          double *c, mf_Error *error) {
    if (from->reference_site != MF_NONE)
        return unsupported(from, "pushes a site relative to another", error);
    if (from->frame.link == MF_NONE)
        return unsupported(from, "pushes a site of the world", error);
    const mf_ArtPlace *place = &plan->places[from->frame.link];
    double turn[4], arm[3], lever[3];
    mf_quat_multiply(turn, place->turn, from->frame.rotation);
    mf_quat_rotate(arm, place->turn, from->frame.position);
    mf_vec3_add(arm, arm, place->place);
    mf_quat_rotate(c + MF_ART_WRENCH, turn, from->gear);
    mf_quat_rotate(c + MF_ART_WRENCH + 3, turn, from->gear + 3);
    mf_vec3_cross(lever, arm, c + MF_ART_WRENCH);
    mf_vec3_add(c + MF_ART_WRENCH + 3, c + MF_ART_WRENCH + 3, lever);
    actuator->link = place->link;
    if (place->link < 0)
        plan->base_thrust = !plan->fixed;
    else
        plan->links[place->link].thrust = true;
    return MF_OK;
}

static double activation_step(const mf_Actuator *from, double step) {
    switch (from->dynamics) {
    case MF_DYNAMICS_NONE:
        return 0.0;
    case MF_DYNAMICS_INTEGRATOR:
        return step;
    case MF_DYNAMICS_FILTER:
        return step / (from->time_constant > 1e-15 ? from->time_constant : 1e-15);
    case MF_DYNAMICS_FILTER_EXACT:
        return from->time_constant > 0.0 ? 1.0 - mf_exp(-step / from->time_constant) : 1.0;
    }
    return 0.0;
}

static mf_Status add_actuator(mf_ArtPlan *plan, const mf_Model *model, uint32_t i, double step,
                              mf_Error *error) {
    const mf_Actuator *from = &model->actuators[i];
    mf_ArtActuator *actuator = &plan->actuators[i];
    double *c = plan->constants_f64 + plan->actuator_offset + (size_t)i * MF_ART_ACTUATOR_VALUES;
    for (int k = 0; k < 3; k++) {
        c[MF_ART_GAIN + k] = from->gain[k];
        c[MF_ART_BIAS + k] = from->bias[k];
    }
    c[MF_ART_CONTROL_LOWER] = from->control_lower;
    c[MF_ART_CONTROL_UPPER] = from->control_upper;
    c[MF_ART_FORCE_LOWER] = from->force_lower;
    c[MF_ART_FORCE_UPPER] = from->force_upper;
    c[MF_ART_ACTIVATION_LOWER] = from->activation_lower;
    c[MF_ART_ACTIVATION_UPPER] = from->activation_upper;
    c[MF_ART_ACTIVATION_STEP] = activation_step(from, step);
    *actuator = (mf_ArtActuator){.dynamics = from->dynamics, .early = from->early};
    plan->has_activation = plan->has_activation || from->dynamics != MF_DYNAMICS_NONE;
    if (from->drive == MF_DRIVE_SITE)
        return add_push(plan, from, actuator, c, error);
    return add_terms(plan, model, from, actuator, error);
}

mf_Status mf_art_actuators_build(mf_ArtPlan *plan, const mf_Model *model, double step,
                                 mf_Context *context, mf_Error *error) {
    uint32_t count = model->actuator_count;
    if (count > MF_ARTICULATED_MAX_ACTUATORS)
        return mf_fail(error, MF_LIMIT, "articulated: model %s has %u actuators, at most %d",
                       model->name, count, MF_ARTICULATED_MAX_ACTUATORS);
    plan->actuators = mf_allocate(context, count, sizeof *plan->actuators);
    plan->terms =
        mf_allocate(context, term_count(model) + mf_art_coupling_terms(model), sizeof *plan->terms);
    if (plan->actuators == NULL || plan->terms == NULL)
        return mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_Joint *joint = &model->joints[plan->links[l].joint];
        double *c = mf_art_constants(plan, (int32_t)l);
        // Models made by hand have no range.
        bool ranged = joint->force_lower < joint->force_upper;
        c[MF_ART_SUM_LOWER] = ranged ? joint->force_lower : -INFINITY;
        c[MF_ART_SUM_UPPER] = ranged ? joint->force_upper : INFINITY;
    }
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < count && status == MF_OK; i++)
        status = add_actuator(plan, model, i, step, error);
    plan->actuator_count = status == MF_OK ? count : 0;
    return status;
}
