// Steps that are too long (start_report.h), one spring or servo at a time. A spring of stiffness k
// along q, with dampers of which d acts at the beginning of the step and e at its end, moves by q''
// = -m (k q + (d + e) q'), with m the acceleration of q per force at the start, everything else
// free. A semi-implicit Euler step h gives the characteristic polynomial
//     x^2 - (1 + b - a m h^2 k) x + b,    a = 1 / (1 + m h e),    b = a (1 - m h d)
// with roots in the unit circle when |b| < 1 and a m h^2 k < 2 (1 + b) (Jury's conditions); a step
// of Runge-Kutta is stable where |1 + z + z^2/2 + z^3/6 + z^4/24| <= 1 for z = h times the roots of
// s^2 + m (d + e) s + m k. A single unstable mode implies an unstable system: m k is a diagonal
// entry of a symmetric matrix whose largest eigenvalue decides. Equality constraints may stabilize
// it, because they add moving mass.
#include "evaluate/start_report.h"
#include "model/points.h"
#include "solve/link_motion.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>

#include <mayfly/articulated.h>
#include <mayfly/dynamics.h>

#define SHORTEST 1e-7 // [s] lower bound of the search

typedef struct Spring {
    double stiffness;   // [N/m] or [N m/rad]
    double early, late; // [N s/m] or [N m s/rad] dampers at the beginning and the end of a step
    double ease;        // [1/kg] or [1/(kg m^2)] inverse inertia
    const char *what, *name;
} Spring;

typedef struct Check {
    mf_Group *group;
    const mf_Model *model;
    const mf_ArticulatedConfig *config;
    bool rk4, implicit; // integrator
    double step;        // [s]
    double *forces, *still, *moved;
} Check;

// ---- stability ----------------------------------------------------------------------------------

static bool euler_stable(const Spring *s, double h) {
    const double a = 1.0 / (1.0 + s->ease * h * s->late), b = a * (1.0 - s->ease * h * s->early);
    return fabs(b) <= 1.0 && a * s->ease * h * h * s->stiffness <= 2.0 * (1.0 + b);
}

static bool rk4_stable(const Spring *s, double h) {
    const double damping = s->ease * (s->early + s->late), stiffness = s->ease * s->stiffness;
    const double complex root = csqrt(0.25 * damping * damping - stiffness);
    for (int side = -1; side <= 1; side += 2) {
        const double complex z = h * (-0.5 * damping + side * root);
        const double complex growth = 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)));
        if (cabs(growth) > 1.0 + 1e-12)
            return false;
    }
    return true;
}

static bool is_stable(const Check *check, const Spring *spring, double h) {
    return check->rk4 ? rk4_stable(spring, h) : euler_stable(spring, h);
}

// The longest stable step [s] below one that is not.
static double longest_step(const Check *check, const Spring *spring) {
    double stable = SHORTEST, not = check->step;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (stable + not );
        *(is_stable(check, spring, middle) ? &stable : &not ) = middle;
    }
    return stable;
}

// ---- springs of a model -------------------------------------------------------------------------

// Acceleration along the forces, per force.
static double ease_along(const Check *check) {
    const uint32_t count = mf_group_velocity_count(check->group);
    double ease = 0.0;
    mf_articulated_forward(check->group, 0, check->forces, check->moved);
    for (uint32_t i = 0; i < count; i++)
        ease += check->forces[i] * (check->moved[i] - check->still[i]);
    return ease;
}

static void add_joint(const Check *check, uint32_t joint, double weight) {
    const uint32_t at = mf_group_velocity_address(check->group, joint);
    if (at != MF_NONE && mf_joint_has_axis(&check->model->joints[joint]))
        check->forces[at] += weight;
}

static void clear_forces(const Check *check) {
    for (uint32_t i = 0; i < mf_group_velocity_count(check->group); i++)
        check->forces[i] = 0.0;
}

// Stiffness and damping of the actuators of a joint or fixed tendon; `drive` selects it.
static void add_actuators(const Check *check, uint32_t joint, uint32_t tendon, Spring *spring) {
    if (check->model->physics.disabled & MF_DISABLE_ACTUATION)
        return;
    for (uint32_t i = 0; i < check->model->actuator_count; i++) {
        const mf_Actuator *actuator = &check->model->actuators[i];
        const double gear = actuator->gear[0] * actuator->gear[0];
        const bool on_joint = actuator->drive == MF_DRIVE_JOINT && actuator->joint == joint;
        const bool on_tendon = actuator->drive == MF_DRIVE_TENDON && actuator->tendon == tendon;
        if (actuator->muscle.exists || !(on_joint || on_tendon))
            continue;
        spring->stiffness -= gear * actuator->bias[1];
        *(check->implicit ? &spring->late : &spring->early) -= gear * actuator->bias[2];
    }
}

static Spring spring_of_joint(const Check *check, uint32_t joint) {
    const mf_Joint *own = &check->model->joints[joint];
    const uint32_t off = check->model->physics.disabled;
    const bool fixed = check->rk4 || (off & MF_DISABLE_EULER_DAMPING && !check->implicit);
    Spring spring = {.what = "joint", .name = own->name};
    if (!mf_joint_has_axis(own))
        return spring;
    spring.stiffness = off & MF_DISABLE_SPRING ? 0.0 : own->stiffness;
    *(fixed ? &spring.early : &spring.late) = off & MF_DISABLE_DAMPER ? 0.0 : own->damping;
    add_actuators(check, joint, MF_NONE, &spring);
    if (check->rk4 && check->config->motors) { // there they act within the step
        const mf_Servo servo = mf_joint_servo(check->model, joint);
        spring.stiffness += servo.gain;
        spring.early += servo.damping;
    }
    clear_forces(check);
    add_joint(check, joint, 1.0);
    spring.ease = ease_along(check);
    return spring;
}

static Spring spring_of_tendon(const Check *check, uint32_t tendon) {
    const mf_Tendon *own = &check->model->tendons[tendon];
    Spring spring = {.what = "tendon", .name = own->name};
    if (own->wrap_count > 0)
        return spring;
    add_actuators(check, MF_NONE, tendon, &spring);
    clear_forces(check);
    for (uint32_t i = 0; i < own->term_count; i++) {
        const mf_TendonTerm *term = &check->model->tendon_terms[own->first_term + i];
        add_joint(check, term->joint, term->coefficient);
    }
    spring.ease = ease_along(check);
    return spring;
}

static bool is_tied(const mf_Model *model) {
    bool tied = false;
    for (uint32_t i = 0; i < model->equality_count; i++)
        tied = tied || model->equalities[i].active;
    return tied;
}

// Finds the one with the shortest stable step; false when all are stable.
static bool find_unstable(const Check *check, char *text) {
    const uint32_t joints = check->model->joint_count, tendons = check->model->tendon_count;
    uint32_t count = 0;
    double shortest = INFINITY;
    Spring worst = {.name = ""};
    for (uint32_t i = 0; i < joints + tendons; i++) {
        const Spring spring =
            i < joints ? spring_of_joint(check, i) : spring_of_tendon(check, i - joints);
        if (!(spring.ease > 0.0) || is_stable(check, &spring, check->step) ||
            !is_stable(check, &spring, SHORTEST))
            continue;
        const double longest = longest_step(check, &spring);
        count++;
        if (longest < shortest) {
            shortest = longest;
            worst = spring;
        }
    }
    if (count == 0)
        return false;
    const char *plural = count == 1 ? "" : "s";
    const char *shakes = is_tied(check->model)
                             ? "may oscillate, unless equality constraints prevent it"
                         : count == 1 ? "oscillates"
                                      : "oscillate";
    snprintf(text, MF_STEP_TEXT,
             "the step of %.4g ms is too long for %u spring%s or servo%s, which %s: %s "
             "'%.80s' requires at most %.3g ms",
             1e3 * check->step, count, plural, plural, shakes, worst.what, worst.name,
             1e3 * shortest);
    return true;
}

// ---- motors of the settings, which act at the end of a step and are stable ----------------------

// [s] What a servo of gain k and damping d needs for a joint of inertia m: one over the frequency
// of its oscillation or, where the damping prevents that, the time constant of its slow mode.
static double response_time(double k, double d, double m) {
    const double root = d * d - 4.0 * k * m;
    return root < 0.0 ? sqrt(m / k) : (d + sqrt(root)) / (2.0 * k);
}

static bool find_unresolved(const Check *check, char *text) {
    double shortest = INFINITY;
    const char *name = NULL;
    for (uint32_t j = 0; j < check->model->joint_count; j++) {
        const mf_Joint *own = &check->model->joints[j];
        const mf_Servo servo = mf_joint_servo(check->model, j);
        if (!mf_joint_has_axis(own) || !check->config->motors || !(servo.gain > 0.0))
            continue;
        clear_forces(check);
        add_joint(check, j, 1.0);
        const double time =
            response_time(servo.gain, servo.damping + own->damping, 1.0 / ease_along(check));
        if (time < check->step && time < shortest) {
            shortest = time;
            name = own->name;
        }
    }
    if (name != NULL)
        snprintf(text, MF_STEP_TEXT,
                 "the step of %.4g ms is too long for the motor of joint '%.80s' with a time "
                 "constant of %.3g ms: its response is slower and softer",
                 1e3 * check->step, name, 1e3 * shortest);
    return name != NULL;
}

// ---- constraints --------------------------------------------------------------------------------

static void see_time(const mf_Softness *softness, double *shortest) {
    if (softness->reference[0] > 0.0 && softness->reference[0] < *shortest)
        *shortest = softness->reference[0];
}

// MuJoCo's rule that no constraint is faster than two steps (refsafe).
static bool find_softened(const Check *check, char *text) {
    const mf_Model *model = check->model;
    const double least = 2.0 * check->step;
    double shortest = INFINITY;
    for (uint32_t i = 0; i < model->shape_count; i++)
        if (model->shapes[i].collides && model->shapes[i].dimension > 0)
            see_time(&model->shapes[i].softness, &shortest);
    for (uint32_t i = 0; i < model->pair_count; i++)
        see_time(&model->pairs[i].softness, &shortest);
    for (uint32_t j = 0; j < model->joint_count; j++)
        if (isfinite(model->joints[j].lower) || isfinite(model->joints[j].upper))
            see_time(&model->joints[j].limit_softness, &shortest);
    for (uint32_t i = 0; i < model->equality_count; i++)
        if (model->equalities[i].active)
            see_time(&model->equalities[i].softness, &shortest);
    if (model->body_count == 0 || !(shortest < least * (1.0 - 1e-9)))
        return false;
    if (model->physics.disabled & MF_DISABLE_SAFE_REFERENCE)
        snprintf(text, MF_STEP_TEXT,
                 "the step of %.4g ms is too long for solref of %.3g ms: less than two steps may "
                 "be unstable, and the file disables refsafe",
                 1e3 * check->step, 1e3 * shortest);
    else
        snprintf(text, MF_STEP_TEXT,
                 "the step of %.4g ms is too long for solref of %.3g ms: constraints use %.4g ms, "
                 "two steps",
                 1e3 * check->step, 1e3 * shortest, 1e3 * least);
    return true;
}

bool mf_step_note(mf_Group *group, uint32_t index, char *text) {
    const mf_ArticulatedConfig *config = mf_articulated_config_of(group);
    if (config == NULL)
        return false;
    mf_Context *context = mf_world_context(mf_group_world(group));
    const mf_Model *model = mf_group_model(group);
    const mf_PhysicsIntegrator integrator = model->physics.integrator;
    const uint32_t count = mf_group_velocity_count(group);
    double *values = mf_allocate(context, 3 * (size_t)count + 1, sizeof *values);
    Check check = {.group = group,
                   .model = model,
                   .config = config,
                   .rk4 = config->integrator == MF_ARTICULATED_RK4,
                   .implicit =
                       integrator == MF_PHYSICS_IMPLICIT || integrator == MF_PHYSICS_IMPLICIT_FAST,
                   .step = mf_time_to_seconds(mf_world_config_of(mf_group_world(group))->step),
                   .forces = values,
                   .still = values + count,
                   .moved = values + 2 * (size_t)count};
    if (values == NULL)
        return false;
    clear_forces(&check);
    mf_articulated_forward(group, 0, check.forces, check.still);
    // Without MuJoCo's law springs and servos act at the end of the step.
    const bool early = check.rk4 || config->contact_law == MF_CONTACT_LAW_MUJOCO;
    bool found = early && find_unstable(&check, text) && index-- == 0;
    found = found || (!early && find_unresolved(&check, text) && index-- == 0);
    found = found || (find_softened(&check, text) && index-- == 0);
    mf_release(context, values);
    return found;
}
