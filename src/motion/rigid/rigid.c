// The `rigid` motion's host side; most of it is shared (motion/driven).
#include "motion/articulated/host.h"
#include "motion/driven/driven.h"
#include "motion/rigid/step.h"

#include <assert.h>
#include <math.h>

mf_RigidConfig mf_rigid_config(void) {
    return (mf_RigidConfig){.struct_size = sizeof(mf_RigidConfig),
                            .control_interval = 10 * MF_MILLISECOND,
                            .limits = true,
                            .speeds = true,
                            .contacts = true,
                            .contact_time = MF_DRIVEN_CONTACT_TIME,
                            .separation = 0.1,
                            .friction = (double)NAN,
                            .spin_friction = 0.02,
                            .friction_rate = 1e-3,
                            .slip_speed = 1e-4,
                            .contact_depth = 0.02};
}

static void run_rigid(const mf_SystemRun *run, void *user) {
    mf_driven_run(run, user);
}

static mf_DrivenPlan *find_plan(const mf_Group *group) {
    return mf_driven_plan_of(group, run_rigid);
}

static mf_DrivenPlan *must_find(const mf_Group *group) {
    mf_DrivenPlan *plan = find_plan(group);
    assert(plan != NULL);
    return plan;
}

static void fill_config(const mf_RigidConfig *given, mf_DrivenConfig *driven) {
    static const mf_DrivenStepFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_rigid_step);
    *driven = (mf_DrivenConfig){.name = "rigid",
                                .own = MF_MOTION_RIGID,
                                .run = run_rigid,
                                .kernels = kernels,
                                .art = mf_articulated_config(),
                                .control_interval = given->control_interval,
                                .limits = given->limits,
                                .speeds = given->speeds};
    driven->art.integrator = given->integrator;
    driven->art.base = given->base;
    driven->art.contacts = given->contacts;
    driven->art.shapes = given->shapes;
    driven->art.contact_stiffness = given->contact_stiffness;
    driven->art.contact_time = given->contact_time;
    driven->art.friction = given->friction;
    driven->art.friction_rate = given->friction_rate;
    driven->art.slip_speed = given->slip_speed;
    driven->art.contact_depth = given->contact_depth;
    driven->art.contact_damping = 0.0;
    driven->bounces = true;
    driven->separation = given->separation;
    driven->spin_friction = given->spin_friction;
}

mf_Status mf_rigid_add(mf_Group *group, const mf_RigidConfig *config, mf_Error *error) {
    const mf_RigidConfig settings = config != NULL ? *config : mf_rigid_config();
    mf_DrivenConfig driven;
    mf_DrivenPlan *plan;
    if (settings.struct_size != sizeof settings)
        return mf_fail(error, MF_BAD_ARGUMENT, "rigid: start from mf_rigid_config()");
    if (find_plan(group) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "rigid: the group moves by rigid already");
    fill_config(&settings, &driven);
    mf_Status status = mf_driven_add(group, &driven, &plan, error);
    if (status == MF_OK)
        plan->config.rigid = settings;
    return status;
}

const mf_RigidConfig *mf_rigid_settings(const mf_Group *group) {
    const mf_DrivenPlan *plan = find_plan(group);
    return plan != NULL ? &plan->config.rigid : NULL;
}

void mf_rigid_refresh(mf_Group *group, uint32_t instance) {
    mf_driven_refresh(must_find(group), instance);
}

void mf_rigid_energy(const mf_Group *group, uint32_t instance, double *kinetic, double *potential) {
    mf_ArticulatedEnergy energy = mf_art_energy(must_find(group)->art, instance, false);
    *kinetic = energy.kinetic;
    *potential = energy.potential;
}

void mf_rigid_momentum(const mf_Group *group, uint32_t instance, double center[3], double linear[3],
                       double angular[3]) {
    mf_art_momentum(must_find(group)->art, instance, false, center, linear, angular);
}
