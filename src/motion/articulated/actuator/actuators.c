// Actuators of a plan from a model's: what they pull on, as weighted joints, or push.
#include "model/points.h"
#include "motion/articulated/build.h"
#include "math/scalar.h"

#include <math.h>
#include <string.h>

static mf_Status unsupported(const mf_Actuator *actuator, const char *what, mf_Error *error) {
    return mf_fail(error, MF_UNSUPPORTED, "articulated: actuator %s: %s", actuator->name, what);
}

// What the integral of an error needs.
static bool has_length(const mf_Model *model, const mf_Actuator *actuator) {
    if (actuator->drive == MF_DRIVE_TENDON)
        return true;
    return actuator->joint != MF_NONE && mf_joint_has_axis(&model->joints[actuator->joint]);
}

static uint32_t term_count(const mf_Model *model) {
    uint32_t count = 0;
    mf_TendonTerm own;
    const mf_TendonTerm *terms;
    for (uint32_t i = 0; i < model->actuator_count; i++)
        count += mf_art_pulled(model, &model->actuators[i], &own, &terms);
    return count;
}

static mf_Status add_terms(mf_ArtMotion *motion, const mf_Model *model, const mf_Actuator *from,
                           mf_ArtActuator *actuator, mf_Error *error) {
    mf_TendonTerm own;
    const mf_TendonTerm *terms;
    const uint32_t count = mf_art_pulled(model, from, &own, &terms);
    MF_TRY(mf_art_add_terms(motion, model, from->name, terms, count, from->gear[0],
                            &actuator->first_term, &actuator->term_count, error));
    for (uint32_t t = 0; t < count; t++)
        motion->links[motion->terms[actuator->first_term + t].link].actuated = true;
    return MF_OK;
}

// Only of position control by turns alone; `gear` are the three numbers of the turn.
static double wrap_period(const mf_Actuator *from, const double gear[3]) {
    const bool position =
        from->gain[1] == 0.0 && from->gain[2] == 0.0 && from->bias[1] == -from->gain[0];
    return position && from->gain[0] != 0.0 ? 2.0 * MF_PI * mf_vec3_length(gear) : 0.0;
}

// A ball joint rotates about an axis; plan axes of balls are the model's.
static mf_Status add_rotation(mf_ArtMotion *motion, const mf_Model *model, const mf_Actuator *from,
                              mf_ArtActuator *actuator, mf_Error *error) {
    if (model->joints[from->joint].type != MF_JOINT_BALL)
        return unsupported(from, "drives a joint that is neither hinge, slide nor ball", error);
    const uint32_t link = motion->joint_links[from->joint];
    actuator->acts = MF_ART_TORQUES;
    actuator->links[0] = (int32_t)link;
    actuator->period = wrap_period(from, from->gear);
    actuator->in_parent = from->drive == MF_DRIVE_JOINT_IN_PARENT;
    memcpy(actuator->gear, from->gear, sizeof actuator->gear);
    motion->links[link].actuated = true;
    return MF_OK;
}

// Force and torque about the link's origin that an actuator of 1 N makes, in the plan's axes.
static mf_Status add_force(mf_ArtMotion *motion, const mf_Actuator *from, mf_ArtActuator *actuator,
                           double *c, mf_Error *error) {
    double rotation[4], arm[3], lever[3];
    actuator->acts = MF_ART_FORCES;
    actuator->rated = from->gain[2] != 0.0 || from->bias[2] != 0.0;
    actuator->links[0] = mf_art_pose(motion, from->frame.link, from->frame.position,
                                     from->frame.rotation, arm, rotation);
    if (actuator->links[0] == MF_ART_WORLD)
        return unsupported(from, "pushes a site of the world", error);
    mf_quat_rotate(c + MF_ART_WRENCH, rotation, from->gear);
    mf_quat_rotate(c + MF_ART_WRENCH + 3, rotation, from->gear + 3);
    mf_vec3_cross(lever, arm, c + MF_ART_WRENCH);
    mf_vec3_add(c + MF_ART_WRENCH + 3, c + MF_ART_WRENCH + 3, lever);
    mf_art_mark_thrust(motion, actuator->links[0]);
    if (actuator->rated)
        mf_art_mark_posed(motion, actuator->links[0]);
    return MF_OK;
}

static bool carries(const mf_ArtMotion *motion, int32_t upper, int32_t link) {
    while (link > upper && link >= 0)
        link = motion->links[link].parent;
    return link == upper;
}

static void add_force_from(mf_ArtMotion *motion, const mf_Actuator *from,
                           mf_ArtActuator *actuator) {
    const mf_Frame *frames[2] = {&from->frame, &from->reference};
    actuator->acts = MF_ART_FORCES_FROM;
    if (from->gear[0] == 0.0 && from->gear[1] == 0.0 && from->gear[2] == 0.0)
        actuator->period = wrap_period(from, from->gear + 3);
    memcpy(actuator->gear, from->gear, sizeof actuator->gear);
    for (int side = 0; side < 2; side++) {
        double rotation[4];
        actuator->links[side] = mf_art_pose(motion, frames[side]->link, frames[side]->position,
                                            frames[side]->rotation, actuator->arms[side], rotation);
        mf_quat_to_matrix(actuator->rotations[side], rotation);
        mf_art_mark_thrust(motion, actuator->links[side]);
        mf_art_mark_posed(motion, actuator->links[side]);
    }
    actuator->common = MF_ART_WORLD;
    if (actuator->links[0] != MF_ART_WORLD && actuator->links[1] != MF_ART_WORLD) {
        actuator->common = actuator->links[0];
        while (actuator->common >= 0 && !carries(motion, actuator->common, actuator->links[1]))
            actuator->common = motion->links[actuator->common].parent;
        mf_art_mark_thrust(motion, actuator->common);
    }
}

static double activation_step(const mf_Actuator *from, double step) {
    switch (from->dynamics) {
    case MF_DYNAMICS_NONE:
        return 0.0;
    case MF_DYNAMICS_INTEGRATOR:
    case MF_DYNAMICS_MUSCLE:
    case MF_DYNAMICS_ERROR:
        return step;
    case MF_DYNAMICS_FILTER:
        return step / (from->time_constant > 1e-15 ? from->time_constant : 1e-15);
    case MF_DYNAMICS_FILTER_EXACT:
        return from->time_constant > 0.0 ? 1.0 - mf_exp(-step / from->time_constant) : 1.0;
    }
    return 0.0;
}

static mf_Status add_actuator(mf_ArtMotion *motion, const mf_Model *model, uint32_t i, double step,
                              mf_Error *error) {
    const mf_Actuator *from = &model->actuators[i];
    mf_ArtActuator *actuator = &motion->actuators[i];
    double *c =
        motion->constants_f64 + motion->plan->actuator_offset + (size_t)i * MF_ART_ACTUATOR_VALUES;
    const bool acts = !(model->physics.disabled & MF_DISABLE_ACTUATION),
               clamps = !(model->physics.disabled & MF_DISABLE_CLAMP_CONTROL);
    for (int k = 0; k < 3 && acts; k++) {
        c[MF_ART_GAIN + k] = from->gain[k];
        c[MF_ART_BIAS + k] = from->bias[k];
    }
    c[MF_ART_CONTROL_LOWER] = clamps ? from->control_lower : -INFINITY;
    c[MF_ART_CONTROL_UPPER] = clamps ? from->control_upper : INFINITY;
    c[MF_ART_FORCE_LOWER] = acts ? from->force_lower : -INFINITY;
    c[MF_ART_FORCE_UPPER] = acts ? from->force_upper : INFINITY;
    c[MF_ART_ACTIVATION_LOWER] = from->activation_lower;
    c[MF_ART_ACTIVATION_UPPER] = from->activation_upper;
    c[MF_ART_ACTIVATION_STEP] = acts ? activation_step(from, step) : 0.0;
    c[MF_ART_SLEW] = from->slew_limit > 0.0 ? from->slew_limit * step : (double)INFINITY;
    motion->plan->has_slew = motion->plan->has_slew || from->slew_limit > 0.0;
    c[MF_ART_INTEGRAL_GAIN] = acts ? from->integral_gain : 0.0;
    *actuator = (mf_ArtActuator){.dynamics = from->dynamics,
                                 .early = from->early,
                                 .explicit_rate = from->explicit_rate,
                                 .tendon = from->drive == MF_DRIVE_TENDON ? from->tendon : MF_NONE,
                                 .on_joint = from->drive == MF_DRIVE_JOINT ||
                                             from->drive == MF_DRIVE_JOINT_IN_PARENT};
    if (from->dynamics == MF_DYNAMICS_ERROR && !has_length(model, from))
        return unsupported(
            from, "integrates the error of a target that is neither hinge, slide nor tendon",
            error);
    actuator->muscle = from->muscle.exists && acts;
    if (actuator->muscle)
        actuator->fibre = mf_art_muscle(&from->muscle);
    motion->plan->has_activation =
        motion->plan->has_activation || from->dynamics != MF_DYNAMICS_NONE;
    if (from->drive == MF_DRIVE_BODY) {
        actuator->acts = MF_ART_ADHESION;
        actuator->body = from->body;
        motion->plan->adhesion = true;
        return MF_OK;
    }
    if (from->drive == MF_DRIVE_SITE && from->reference_site == MF_NONE)
        return add_force(motion, from, actuator, c, error);
    if (from->drive == MF_DRIVE_SITE) {
        add_force_from(motion, from, actuator);
        return MF_OK;
    }
    if (from->drive == MF_DRIVE_TENDON && model->tendons[from->tendon].wrap_count > 0) {
        actuator->acts = MF_ART_TENSES;
        actuator->path = from->tendon;
        memcpy(actuator->gear, from->gear, sizeof actuator->gear);
        mf_art_path_thrust(motion, from->tendon);
        return MF_OK;
    }
    if (from->drive != MF_DRIVE_TENDON && !mf_joint_has_axis(&model->joints[from->joint]))
        return add_rotation(motion, model, from, actuator, error);
    return add_terms(motion, model, from, actuator, error);
}

// Whatever may touch can be pulled at.
mf_Status mf_art_adhesion_build(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                                mf_Error *error) {
    const mf_CollidePlan *collide = motion->collide;
    if (!motion->plan->adhesion)
        return MF_OK;
    motion->plan->posed = true;
    MF_TRY(MF_ALLOCATE(context, "articulated", error,
                       MF_ARRAY(motion->contact_body, motion->plan->contact_count + 1),
                       MF_ARRAY(motion->shape_body, collide != NULL ? collide->shape_count : 1)));
    for (uint32_t i = 0; i < motion->plan->contact_count; i++) {
        const uint32_t shape = motion->contacts[i].shape;
        motion->contact_body[i] = shape != MF_NONE ? model->shapes[shape].body : MF_NONE;
        mf_art_mark_thrust(motion, motion->contacts[i].link);
    }
    for (uint32_t i = 0; collide != NULL && i < collide->shape_count; i++) {
        const uint32_t frame = mf_collide_shapes(collide)[i].frame;
        motion->shape_body[i] = model->shapes[mf_collide_shapes(collide)[i].shape].body;
        mf_art_mark_thrust(motion, frame == MF_NONE ? MF_ART_WORLD : (int32_t)frame - 1);
    }
    return MF_OK;
}

mf_Status mf_art_actuators_build(mf_ArtMotion *motion, const mf_Model *model, double step,
                                 mf_Context *context, mf_Error *error) {
    uint32_t count = model->actuator_count;
    if (count > MF_ARTICULATED_MAX_ACTUATORS)
        return mf_fail(error, MF_LIMIT, "articulated: model %s has %u actuators, at most %d",
                       model->name, count, MF_ARTICULATED_MAX_ACTUATORS);
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->actuators, count),
                       MF_ARRAY(motion->terms, term_count(model) + mf_art_coupling_terms(model))));
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        const mf_Joint *joint = &model->joints[motion->links[l].joint];
        double *c = mf_art_constants(motion, (int32_t)l);
        // Models made by hand have no range.
        bool ranged = joint->force_lower < joint->force_upper;
        c[MF_ART_SUM_LOWER] = ranged ? joint->force_lower : -INFINITY;
        c[MF_ART_SUM_UPPER] = ranged ? joint->force_upper : INFINITY;
    }
    for (uint32_t i = 0; i < count; i++)
        MF_TRY(add_actuator(motion, model, i, step, error));
    motion->plan->actuator_count = count;
    return MF_OK;
}
