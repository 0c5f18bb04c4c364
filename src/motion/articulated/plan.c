// Plans of the `articulated` motion: checks, settings, what acts on the joints, contacts.
#include "motion/articulated/host.h"
#include "model/mounted.h"
#include "model/points.h"
#include "math/carve.h"
#include "math/kernel_table.h"
#include "motion/articulated/build.h"
#include "motion/articulated/step.h"
#include "math/scalar.h"
#include "terrain/image.h"

#include <math.h>
#include <string.h>

// ---- checks -------------------------------------------------------------------------------------

static mf_Status check_servo(const mf_Model *model, const mf_Servo *servo, uint32_t joint,
                             mf_Error *error) {
    const char *wrong = !(servo->gain >= 0 && servo->gain < INFINITY)         ? "gain: need >= 0"
                        : !(servo->damping >= 0 && servo->damping < INFINITY) ? "damping: need >= 0"
                        : !(servo->effort > 0)                                ? "effort: need > 0"
                        : !(servo->speed > 0)                                 ? "speed: need > 0"
                        : !(servo->no_load_speed > 0) ? "no_load_speed: need > 0"
                        : !(servo->rotor_inertia >= 0 && servo->rotor_inertia < INFINITY)
                            ? "rotor_inertia: need >= 0"
                        : !(servo->gear > 0 && servo->gear < INFINITY) ? "gear: need > 0"
                        : !(servo->backlash >= 0 && servo->backlash < INFINITY)
                            ? "backlash: need >= 0"
                        : servo->no_load_speed < INFINITY && !(servo->effort < INFINITY)
                            ? "no_load_speed: needs a finite effort"
                            : NULL;
    if (wrong == NULL)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT, "articulated: servo of joint %s: %s",
                   model->joints[joint].name, wrong);
}

// Anything that mf_servo() does not have, also what makes no sense and is to be refused.
static bool says_something(const mf_Servo *servo) {
    const mf_Servo nothing = mf_servo();
    return memcmp(servo, &nothing, sizeof nothing) != 0;
}

static mf_Servo servo_of(const mf_Model *model, const mf_ArticulatedConfig *config,
                         uint32_t joint) {
    mf_Servo servo = config->servos != NULL ? config->servos[joint] : config->servo;
    bool given = config->servos != NULL || says_something(&servo);
    return given || !config->motors ? servo : mf_joint_servo(model, joint);
}

static mf_Status check_config(const mf_Model *model, const mf_ArticulatedConfig *config,
                              mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "articulated: start from mf_motions_config()");
    const char *wrong =
        !(config->limit_time >= 0.0 && config->limit_time <= 10.0) ? "limit_time: need 0 .. 10 s"
        : !(config->limit_damping >= 0.0 && config->limit_damping <= 100.0)
            ? "limit_damping: need 0 .. 100"
        : !(config->friction_rate > 0.0 && config->friction_rate < INFINITY)
            ? "friction_rate: need > 0"
        : !(config->contact_stiffness >= 0.0 && config->contact_stiffness < INFINITY)
            ? "contact_stiffness: need >= 0"
        : !(isnan(config->contact_damping) ||
            (config->contact_damping >= 0.0 && config->contact_damping < INFINITY))
            ? "contact_damping: need >= 0"
        : !(config->contact_time >= 0.0 && config->contact_time <= 10.0)
            ? "contact_time: need 0 .. 10 s"
        : !(config->contact_ratio >= 0.0 && config->contact_ratio <= 100.0)
            ? "contact_ratio: need 0 .. 100"
        : !(isnan(config->friction) || (config->friction >= 0.0 && config->friction <= 1e6))
            ? "friction: need 0 .. 1e6"
        : !(config->slip_speed > 0.0 && config->slip_speed < INFINITY) ? "slip_speed: need > 0"
        : !(config->contact_depth > 0.0 && config->contact_depth < INFINITY)
            ? "contact_depth: need > 0"
        : config->sweeps > 1000                                  ? "sweeps: need 0 .. 1000"
        : config->solver_rounds > 1000                           ? "solver_rounds: need 0 .. 1000"
        : (uint32_t)config->integrator > MF_ARTICULATED_OF_MODEL ? "integrator: unknown"
        : (uint32_t)config->contact_law > MF_CONTACT_LAW_HARD    ? "contact_law: unknown"
        : config->contact_law == MF_CONTACT_LAW_HARD && config->integrator == MF_ARTICULATED_RK4
            ? "contact_law: Runge-Kutta does not support hard contacts"
            : NULL;
    MF_NEED(wrong == NULL, error, "articulated.%s", wrong);
    if (!(model->mass > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "articulated: model %s has no mass%s", model->name,
                       model->body_count > 0 || model->file == NULL || model->file[0] == '\0'
                           ? ""
                           : " (URDF: import.density gives links one)");
    for (uint32_t j = 0; j < model->joint_count; j++) {
        const mf_Servo servo = servo_of(model, config, j);
        MF_TRY(check_servo(model, &servo, j, error));
    }
    return MF_OK;
}

// ---- what acts on the joints --------------------------------------------------------------------

static bool bounded(double a) {
    return mf_is_finite(a);
}

// What the motors of the file exert on a joint at most [N m] or [N]: actuators whose force is
// proportional to their control. No limit without such.
static double motor_effort(const mf_Model *model, uint32_t joint) {
    double sum = 0.0;
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *actuator = &model->actuators[i];
        const double *gain = actuator->gain, *bias = actuator->bias;
        if (actuator->drive != MF_DRIVE_JOINT || actuator->joint != joint || gain[1] != 0.0 ||
            gain[2] != 0.0 || bias[0] != 0.0 || bias[1] != 0.0 || bias[2] != 0.0)
            continue;
        const double control =
            mf_smaller(mf_abs(actuator->control_upper), mf_abs(actuator->control_lower));
        const double force =
            mf_smaller(mf_abs(actuator->force_upper), mf_abs(actuator->force_lower));
        sum += mf_abs(actuator->gear[0]) * mf_smaller(force, mf_abs(gain[0]) * control);
    }
    return sum > 0.0 ? sum : INFINITY;
}

// With inputs, a joint without a motor has a servo, too, with a gain of 0 at first, and the law has
// no limit of the speed: that belongs to commands of positions alone.
static void set_servo(mf_ArtLink *link, double *c, const mf_Model *model, const mf_Joint *joint,
                      const mf_Servo *servo, bool inputs) {
    double effort = mf_smaller(joint->effort, servo->effort);
    double speed = mf_smaller(joint->speed, servo->speed);
    c[MF_ART_ARMATURE] += servo->rotor_inertia * servo->gear * servo->gear;
    if (bounded(servo->no_load_speed))
        c[MF_ART_DAMPING] += servo->effort / servo->no_load_speed;
    if (!(servo->gain > 0.0) && !(inputs && effort > 0.0)) {
        c[MF_ART_DAMPING] += servo->damping;
        return;
    }
    if (inputs)
        effort = mf_smaller(motor_effort(model, link->joint), effort);
    link->drive |= MF_ART_HAS_SERVO;
    c[MF_ART_SERVO_GAIN] = servo->gain;
    c[MF_ART_SERVO_DAMPING] = servo->damping;
    c[MF_ART_EFFORT] = effort;
    c[MF_ART_SERVO_SPEED] = servo->damping * speed;
    c[MF_ART_BACKLASH] = 0.5 * servo->backlash;
    if (bounded(effort) && effort > 0.0)
        link->drive |= MF_ART_HAS_EFFORT;
    if (bounded(speed) && servo->damping > 0.0 && !inputs)
        link->drive |= MF_ART_HAS_SPEED;
    if (servo->backlash > 0.0)
        link->drive |= MF_ART_HAS_BACKLASH;
}

// Effort and speed of URDF files hold for inputs, too. MuJoCo's range of a joint's
// motors does not hold for what corresponds to joint.torque (qfrc_applied). What is not limited
// gets a number that no joint reaches.
static void set_bound(mf_ArtLink *link, double *c, const mf_Model *model, const mf_Joint *joint) {
    const double unlimited = 1e20;
    const bool effort = bounded(joint->effort) && joint->effort > 0.0,
               speed = bounded(joint->speed) && joint->speed > 0.0;
    if (model->body_count > 0 || joint->mimic != MF_NONE || !(effort || speed))
        return;
    link->drive |= MF_ART_HAS_BOUND;
    if (!(link->drive & MF_ART_HAS_EFFORT))
        c[MF_ART_EFFORT] = effort ? joint->effort : unlimited;
    c[MF_ART_SPEED] = speed ? joint->speed : unlimited;
}

// Models made by hand leave both at 0.
static bool ball_limited(const mf_Joint *joint) {
    return bounded(joint->upper) && joint->upper > 0.0;
}

// A joint with what actuators on it add, as the file's switches leave it.
static mf_Joint acting_joint(const mf_Model *model, const mf_Joint *joint) {
    const uint32_t off = model->physics.disabled;
    mf_Joint acting = *joint;
    for (uint32_t i = 0; i < model->actuator_count; i++) {
        const mf_Actuator *actuator = &model->actuators[i];
        if (actuator->joint != MF_NONE && &model->joints[actuator->joint] == joint)
            mf_art_actuator_add(actuator, &acting.damping, &acting.armature);
    }
    if (off & MF_DISABLE_SPRING)
        acting.stiffness = 0.0;
    if (off & MF_DISABLE_DAMPER)
        acting.damping = 0.0;
    if (off & (MF_DISABLE_FRICTION_LOSS | MF_DISABLE_CONSTRAINT))
        acting.friction = 0.0;
    return acting;
}

static void set_drive(const mf_ArtMotion *motion, const mf_Model *model, int32_t index) {
    const mf_ArticulatedConfig *config = &motion->config;
    mf_ArtLink *link = &motion->links[index];
    const mf_Joint acting = acting_joint(model, &model->joints[link->joint]), *joint = &acting;
    const uint32_t loose = MF_DISABLE_LIMIT | MF_DISABLE_CONSTRAINT;
    const bool limits = config->limits && !(model->physics.disabled & loose);
    double *c = mf_art_constants(motion, index);
    c[MF_ART_ARMATURE] = joint->armature;
    c[MF_ART_DAMPING] = joint->damping;
    if (mf_joint_has_axis(joint)) {
        const mf_Servo servo = servo_of(model, config, link->joint);
        if (joint->mimic == MF_NONE) // its leader's motor moves it
            set_servo(link, c, model, joint, &servo, config->servo_inputs);
        if (config->input_limits)
            set_bound(link, c, model, joint);
        c[MF_ART_STIFFNESS] = joint->stiffness;
        c[MF_ART_RELAXED] = joint->spring_reference;
        c[MF_ART_FRICTION] = joint->friction;
        c[MF_ART_LOWER] = joint->lower;
        c[MF_ART_UPPER] = joint->upper;
        if (joint->stiffness > 0.0)
            link->drive |= MF_ART_HAS_SPRING;
        if (joint->friction > 0.0)
            link->drive |= MF_ART_HAS_FRICTION;
        if (limits && (bounded(joint->lower) || bounded(joint->upper)))
            link->drive |= MF_ART_HAS_LIMIT;
    }
    if (joint->type == MF_JOINT_FLOATING && joint->friction > 0.0) {
        c[MF_ART_FRICTION] = joint->friction;
        link->drive |= MF_ART_HAS_FRICTION;
    }
    if (joint->type == MF_JOINT_BALL) {
        c[MF_ART_STIFFNESS] = joint->stiffness;
        c[MF_ART_FRICTION] = joint->friction;
        c[MF_ART_UPPER] = joint->upper;
        link->drive |= (joint->stiffness > 0.0 ? MF_ART_HAS_SPRING : 0u) |
                       (joint->friction > 0.0 ? MF_ART_HAS_FRICTION : 0u) |
                       (limits && ball_limited(joint) ? MF_ART_HAS_LIMIT : 0u);
    }
    if (c[MF_ART_DAMPING] > 0.0)
        link->drive |= MF_ART_HAS_DAMPING;
}

// A joint that moves nothing with inertia has no equation of motion.
static mf_Status check_inertia(const mf_ArtMotion *motion, const mf_Model *model,
                               mf_Context *context, mf_Error *error) {
    double *mass; // with all that a link carries
    mf_Status status = MF_OK;
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(mass, motion->plan->link_count)));
    for (uint32_t l = motion->plan->link_count; status == MF_OK && l-- > 0;) {
        const mf_ArtLink *link = &motion->links[l];
        const double *c = mf_art_constants(motion, (int32_t)l), *j = c + MF_ART_INERTIA;
        mass[l] += c[MF_ART_MASS];
        if (link->parent >= 0)
            mass[link->parent] += mass[l];
        bool moves_mass =
            link->kind == MF_ART_SLIDE ? mass[l] > 0.0
            : link->kind == MF_ART_HINGE
                ? (link->leaf ? j[2] > 0.0 : mass[l] > 0.0)
                : (link->leaf ? j[0] > 0.0 && j[1] > 0.0 && j[2] > 0.0 : mass[l] > 0.0);
        if (!moves_mass && !(c[MF_ART_ARMATURE] > 0.0))
            status = mf_fail(error, MF_BAD_ARGUMENT,
                             "articulated: joint %s of model %s moves no inertia about its axis; "
                             "give its link mass and inertia, or the joint armature",
                             model->joints[link->joint].name, model->name);
    }
    mf_release(context, mass);
    return status;
}

// ---- making -------------------------------------------------------------------------------------

// [m] At which a contact of stiffness m / T^2 bears four times the weight.
static double least_deep(double time, double gravity) {
    return 4.0 * mf_abs(gravity) * time * time;
}

// [m] A contact of the default stiffness pushes harder up to this depth. Its force k d - (c + h k)
// v at the end of a step of length h pushes up to the speed v = k d / (c + h k) only, and that is
// held to 1 m/s, so that what starts in the ground leaves it no faster at small steps. The weight
// is borne at any step.
static double deepest(const mf_ArticulatedConfig *config, double time, double step,
                      double gravity) {
    const double exit_speed = 1.0; // [m/s] a fall from 5 cm
    if (config->contact_stiffness > 0.0 || !isnan(config->contact_damping))
        return config->contact_depth;
    const double ratio = config->contact_ratio > 1.0 ? config->contact_ratio : 1.0;
    const double depth = exit_speed * (2.0 * ratio * time + step);
    const double least = least_deep(time, gravity);
    const double most = config->contact_depth < depth ? config->contact_depth : depth;
    return most > least ? most : least;
}

// [s] Of the default stiffness: two steps. Modules that others rest on carry several
// times their own weight, so from 10 ms on it is at most the time for which one contact bears one
// module at a thirtieth of its height above the ground, however long the step.
static double default_time(const mf_Model *model, double step, double gravity) {
    const double part = 1.0 / 30.0, least = 0.01; // [1], [s]
    const double time = 2.0 * step;
    if (!mf_model_is_module(model) || !(gravity > 0.0) || !(model->rest_height > 0.0) ||
        time <= least)
        return time;
    return mf_clamp(mf_sqrt(part * model->rest_height / gravity), least, time);
}

static void set_settings(mf_ArtMotion *motion, const mf_Model *model, const mf_WorldConfig *world) {
    double *c = motion->constants_f64;
    const mf_ArticulatedConfig *config = &motion->config;
    double step = mf_time_to_seconds(world->step);
    double limit = config->limit_time > 0.0 ? config->limit_time : 2.0 * step;
    double contact = config->contact_time > 0.0 ? config->contact_time
                                                : default_time(model, step, world->gravity);
    c[MF_ART_STEP] = step;
    c[MF_ART_GRAVITY] = world->gravity;
    for (int i = 0; i < 3; i++)
        c[MF_ART_ZENITH + i] = -world->gravity_direction[i];
    c[MF_ART_LIMIT_FORCE] = 1.0 / (limit * limit);
    c[MF_ART_LIMIT_DRAG] = 2.0 * config->limit_damping / limit;
    c[MF_ART_LIMIT_BRAKE] = c[MF_ART_LIMIT_DRAG] / step;
    c[MF_ART_CREEP] = config->friction_rate;
    double stiffness = config->contact_stiffness > 0.0 ? config->contact_stiffness
                                                       : model->mass / (contact * contact);
    c[MF_ART_FORCE] = stiffness;
    c[MF_ART_DRAG] = isnan(config->contact_damping)
                         ? 2.0 * config->contact_ratio * mf_sqrt(model->mass * stiffness)
                         : config->contact_damping;
    c[MF_ART_SLIP] = config->slip_speed;
    c[MF_ART_DEEP] = deepest(config, contact, step, world->gravity);
    const double heavy = least_deep(2.0 * step, world->gravity); // as long as a file's time may get
    c[MF_ART_DEEP_STATED] = config->contact_depth > heavy ? config->contact_depth : heavy;
    c[MF_ART_ALL_MASS] = model->mass;
    c[MF_ART_HIGHEST] = motion->terrain->highest;
    if (model->root != NULL) {
        const mf_Joint root = acting_joint(model, model->root);
        mf_art_constants(motion, -1)[MF_ART_ARMATURE] = root.armature;
        mf_art_constants(motion, -1)[MF_ART_DAMPING] = root.damping;
        mf_art_constants(motion, -1)[MF_ART_FRICTION] = root.friction;
    }
}

// MuJoCo's law does not have what the turning of a path around a shape does to its inertia, and
// MuJoCo refuses it.
static bool has_heavy_bend(const mf_Model *model) {
    bool heavy = false;
    for (uint32_t i = 0; i < model->tendon_count; i++) {
        const mf_Tendon acting = mf_art_tendon(model, i);
        for (uint32_t w = 0; w < acting.wrap_count && acting.armature > 0.0; w++) {
            const mf_WrapType type = model->tendon_wraps[acting.first_wrap + w].type;
            heavy = heavy || type == MF_WRAP_SPHERE || type == MF_WRAP_CYLINDER;
        }
    }
    return heavy;
}

// MJCF files get MuJoCo's law unless the settings say how contacts or limits give way.
mf_ContactLaw mf_art_law(const mf_Model *model, const mf_ArticulatedConfig *config) {
    const bool said = config->contact_stiffness > 0.0 || config->contact_time > 0.0 ||
                      config->limit_time > 0.0 || !isnan(config->contact_damping);
    if (config->contact_law != MF_CONTACT_LAW_AS_MODEL)
        return config->contact_law;
    return model->body_count > 0 && !said && !has_heavy_bend(model) ? MF_CONTACT_LAW_MUJOCO
                                                                    : MF_CONTACT_LAW_COMPLIANT;
}

static void number_dofs(mf_ArtMotion *motion) {
    motion->plan->dof_count = motion->plan->fixed ? 0 : 6;
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        motion->links[l].dof = motion->plan->dof_count;
        motion->plan->dof_count += motion->links[l].kind == MF_ART_BALL ? 3 : 1;
    }
}

// Whether only gravity, pushes and the ground act on the tree from outside.
static bool is_loose(const mf_ArtMotion *motion) {
    const double *root = motion->constants_f64 + MF_ART_SETTINGS;
    bool loose = !motion->plan->fixed && motion->plan->fluid_count == 0 &&
                 !motion->plan->any_lifted && !motion->plan->base_lifted &&
                 !motion->plan->base_thrust && root[MF_ART_ARMATURE] == 0.0 &&
                 root[MF_ART_DAMPING] == 0.0 && root[MF_ART_FRICTION] == 0.0;
    for (uint32_t l = 0; l < motion->plan->link_count; l++)
        loose = loose && !motion->links[l].thrust && !motion->links[l].lifted;
    // MuJoCo's law knows what acts. Flights under gravity end soon, and keep MuJoCo's own steps.
    if (motion->plan->law)
        return loose && !motion->plan->adhesion && motion->constants_f64[MF_ART_GRAVITY] == 0.0 &&
               (motion->like == NULL || motion->like->plan->loose);
    for (uint32_t i = 0; i < motion->plan->loop_count; i++)
        loose = loose && motion->loops[i].links[0] != MF_ART_WORLD &&
                motion->loops[i].links[1] != MF_ART_WORLD;
    for (uint32_t i = 0; i < motion->plan->path_count; i++)
        for (uint32_t k = 0; k < motion->paths[i].link_count; k++)
            loose = loose && motion->path_links[motion->paths[i].first_link + k] != MF_ART_WORLD;
    for (uint32_t i = 0; motion->collide != NULL && i < motion->collide->shape_count; i++)
        loose = loose && mf_collide_shapes(motion->collide)[i].frame != MF_NONE;
    return loose;
}

// Those of the group. URDF files ask which of them overlap at the start, so the image needs a copy.
static mf_Status take_hulls(mf_ArtMotion *motion, const mf_Model *model, mf_Context *context,
                            mf_Error *error) {
    mf_HullSet *hulls = motion->like->hulls;
    motion->hulls = hulls;
    if (model->body_count > 0)
        return MF_OK;
    motion->hulls = mf_allocate(context, 1, hulls->bytes);
    MF_NEED_MEMORY(motion->hulls != NULL, error, "articulated");
    memcpy(motion->hulls, hulls, hulls->bytes);
    return MF_OK;
}

static mf_Status fill_plan(mf_ArtMotion *motion, const mf_Model *model, const mf_WorldConfig *world,
                           mf_Context *context, mf_Error *error) {
    if (motion->like != NULL && motion->like->hulls != NULL)
        MF_TRY(take_hulls(motion, model, context, error));
    else if (motion->config.shapes || motion->config.self_contacts)
        MF_TRY(mf_hulls_create(context, model, &motion->hulls, error));
    const uint32_t contacts = mf_art_contact_count(motion, model);
    MF_TRY(mf_art_tree_build(motion, model, contacts, model->actuator_count, context, error));
    number_dofs(motion);
    for (uint32_t l = 0; l < motion->plan->link_count; l++) {
        set_drive(motion, model, (int32_t)l);
        motion->plan->limited |= (motion->links[l].drive & MF_ART_HAS_LIMIT) != 0;
    }
    set_settings(motion, model, world);
    MF_TRY(mf_art_mocaps_build(motion, model, context, error));
    MF_TRY(mf_art_queries_build(motion, context, error));
    MF_TRY(mf_art_paths_build(motion, model, context, error));
    MF_TRY(mf_art_actuators_build(motion, model, mf_time_to_seconds(world->step), context, error));
    MF_TRY(mf_art_fluids_build(motion, model, context, error));
    MF_TRY(mf_art_couplings_build(motion, model, context, error));
    MF_TRY(mf_art_contact_pairs_build(motion, model, context, error));
    MF_TRY(mf_art_pack(motion, context, error)); // the next ask about it
    MF_TRY(check_inertia(motion, model, context, error));
    MF_TRY(mf_art_moved_find(motion, model, context, error));
    MF_TRY(mf_art_limits_soften(motion, model, context, error));
    MF_TRY(MF_ALLOCATE(context, "articulated", error, MF_ARRAY(motion->contacts, contacts)));
    mf_art_contacts_position(motion, model);
    MF_TRY(mf_art_surfaces_fill(motion, model, context, error));
    MF_TRY(mf_art_adhesion_build(motion, model, context, error));
    motion->plan->loose = is_loose(motion);
    mf_art_contacts_surround(motion);
    MF_TRY(mf_art_laws_fill(motion, model, context, error));
    mf_art_mocaps_carry(motion, model);
    MF_TRY(mf_art_pack(motion, context, error));
    MF_TRY(mf_art_muscle_lengths(motion, model, context, error));
    for (size_t i = 0; i < motion->plan->value_count; i++)
        motion->constants_f32[i] = (float)motion->constants_f64[i];
    return MF_OK;
}

void mf_art_destroy(mf_Context *context, mf_ArtMotion *motion) {
    if (motion == NULL)
        return;
    mf_art_release_plan(motion, context);
    mf_release(context, motion->sensing);
    mf_release(context, motion->views);
    mf_art_destroy(context, motion->unmeasured);
    mf_release(context, motion->servos);
    mf_scratch_destroy(context, motion->queries);
    mf_release(context, motion);
}

mf_ArtQueryFn mf_art_query_of(mf_Isa isa) {
#if MF_HAS_SINGLE
    if (mf_kernel_row_single(isa) == MF_ROW_SINGLE)
        return mf_articulated_query_single_f64;
#else
    (void)isa;
#endif
    return MF_ONE_LANE(mf_articulated_query);
}

static void values_carve(const mf_ArtPlan *plan, mf_Carver *carver, mf_ArtValues *values) {
    MF_CARVE(carver, values->position, 7 + (size_t)plan->position_count);
    MF_CARVE(carver, values->velocity, 6 + (size_t)plan->velocity_count);
    MF_CARVE(carver, values->bodies, (size_t)plan->link_count + 1);
    MF_CARVE(carver, values->flights, (size_t)plan->link_count + 1);
}

mf_Status mf_art_queries_build(mf_ArtMotion *motion, mf_Context *context, mf_Error *error) {
    mf_Carver carver = {NULL, 0};
    mf_ArtValues values;
    values_carve(motion->plan, &carver, &values);
    return mf_scratch_create(
        context, carver.used + MF_ONE_LANE(mf_articulated_query_scratch_size)(motion->plan),
        UINT32_MAX, &motion->queries, error);
}

void mf_art_values_borrow(const mf_ArtMotion *motion, mf_ArtValues *values) {
    const mf_ArtPlan *plan = motion->plan;
    mf_Carver carver = {mf_scratch_borrow(motion->queries), 0};
    values_carve(plan, &carver, values);
    memset(values->position, 0, (7 + (size_t)plan->position_count) * sizeof *values->position);
    memset(values->velocity, 0, (6 + (size_t)plan->velocity_count) * sizeof *values->velocity);
    values->joints = values->position + (plan->fixed ? 7 : 0);
    values->block = carver.block;
    values->scratch = carver.block + carver.used;
}

void mf_art_values_return(const mf_ArtMotion *motion, const mf_ArtValues *values) {
    mf_scratch_return(motion->queries, values->block);
}

void mf_art_ask(const mf_ArtMotion *motion, mf_ArtTask task, const mf_ArtValues *values,
                const double *in, double *out) {
    const mf_ArtQuery query = {.plan = motion->plan,
                               .task = task,
                               .position = values->position,
                               .velocity = values->velocity,
                               .in = in,
                               .out = out,
                               .scratch = values->scratch};
    motion->query(&query);
}

// What the file requests, where contacts allow it.
static mf_ArticulatedIntegrator integrator_of(const mf_Model *model,
                                              const mf_ArticulatedConfig *config) {
    if (config->integrator != MF_ARTICULATED_OF_MODEL)
        return config->integrator;
    const bool allowed = !config->contacts || config->contact_law == MF_CONTACT_LAW_MUJOCO;
    return model->physics.integrator == MF_PHYSICS_RK4 && allowed ? MF_ARTICULATED_RK4
                                                                  : MF_ARTICULATED_IMPLICIT;
}

mf_ArtMotion *mf_art_begin(mf_Group *group, mf_Error *error) {
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    mf_ArtMotion *motion = mf_allocate(context, 1, sizeof *motion);
    mf_ArtPlan *plan = mf_allocate(context, 1, sizeof *plan);
    if (motion == NULL || plan == NULL) {
        mf_release(context, motion);
        mf_release(context, plan);
        mf_fail(error, MF_NO_MEMORY, "articulated: out of memory");
        return NULL;
    }
    plan->bytes = sizeof *plan;
    motion->plan = plan;
    motion->context = context;
    motion->query = mf_art_query_of(mf_world_isa(world));
    motion->double_precision = mf_group_config_of(group)->double_precision;
    motion->terrain = mf_world_config_of(world)->terrain;
    return motion;
}

static mf_Status keep_servos(mf_ArtMotion *motion, const mf_Model *model, mf_Error *error) {
    const mf_Servo *servos = motion->config.servos;
    if (servos == NULL)
        return MF_OK;
    motion->servos = mf_allocate(motion->context, model->joint_count, sizeof *servos);
    MF_NEED_MEMORY(motion->servos != NULL, error, "articulated");
    memcpy(motion->servos, servos, model->joint_count * sizeof *servos);
    motion->config.servos = motion->servos;
    return MF_OK;
}

// The gravity of a robot of a group (mf_group_vary). Where it is the world's it keeps its bits.
static void set_gravity(mf_WorldConfig *settings, const double gravity[3]) {
    const double size = mf_sqrt(mf_vec3_dot(gravity, gravity));
    bool same = true;
    for (int i = 0; i < 3; i++)
        same = same && gravity[i] == settings->gravity * settings->gravity_direction[i];
    if (same)
        return;
    settings->gravity = size;
    for (int i = 0; i < 3 && size > 0.0; i++)
        settings->gravity_direction[i] = gravity[i] / size;
}

// A motion for the group's settings and a model that has no plan yet.
static mf_Status create_for(mf_Group *group, const mf_Model *model, const mf_ArtMotion *like,
                            const mf_ArticulatedConfig *config, mf_ArtMotion **out,
                            mf_Error *error) {
    *out = NULL;
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    MF_TRY(check_config(model, config, error));
    mf_ArtMotion *motion = mf_art_begin(group, error);
    if (motion == NULL)
        return MF_NO_MEMORY;
    motion->config = *config;
    motion->like = like;
    motion->config.contact_law = mf_art_law(model, config);
    motion->plan->integrator = motion->config.integrator = integrator_of(model, &motion->config);
    motion->plan->law = motion->config.contact_law == MF_CONTACT_LAW_MUJOCO;
    motion->plan->hard = motion->config.contact_law == MF_CONTACT_LAW_HARD;
    motion->plan->sweeps = config->sweeps > 0 ? config->sweeps : motion->plan->hard ? 30 : 8;
    motion->plan->rounds = config->solver_rounds;
    motion->plan->level = mf_terrain_level(motion->terrain);
    motion->plan->stepped = !motion->plan->level && motion->terrain->interpolation == MF_NEAREST;
    mf_WorldConfig settings = *mf_world_config_of(world);
    const double *direction = settings.gravity_direction;
    motion->plan->upright = direction[0] == 0.0 && direction[1] == 0.0 && direction[2] < 0.0;
    if (like != NULL && model != mf_group_model(group))
        set_gravity(&settings, model->physics.gravity);
    motion->plan->fixed = config->base == MF_ARTICULATED_FIXED ||
                          (config->base == MF_ARTICULATED_AS_MODEL && model->base == MF_BASE_FIXED);
    mf_Status status = keep_servos(motion, model, error);
    MF_THEN(status, fill_plan(motion, model, &settings, context, error));
    if (status != MF_OK)
        mf_art_destroy(context, motion);
    else
        *out = motion;
    return status;
}

mf_Status mf_art_create(mf_Group *group, const mf_ArticulatedConfig *config, mf_ArtMotion **out,
                        mf_Error *error) {
    MF_TRY(create_for(group, mf_group_model(group), NULL, config, out, error));
    const mf_Status status = mf_art_report_contacts(group, *out, error);
    if (status != MF_OK) {
        mf_art_destroy(mf_world_context(mf_group_world(group)), *out);
        *out = NULL;
    }
    return status;
}

mf_Status mf_art_create_like(mf_Group *group, const mf_ArtMotion *like, const mf_Model *model,
                             mf_ArtMotion **out, mf_Error *error) {
    return create_for(group, model, like, &like->config, out, error);
}
