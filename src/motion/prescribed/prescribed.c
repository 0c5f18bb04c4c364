// The `prescribed` motion's host side; most of it is shared (motion/driven).
#include "motion/articulated/host.h"
#include "motion/driven/driven.h"
#include "motion/prescribed/step.h"

#include <assert.h>
#include <math.h>

mf_PrescribedConfig mf_prescribed_config(void) {
    return (mf_PrescribedConfig){.struct_size = sizeof(mf_PrescribedConfig),
                                 .control_interval = 10 * MF_MILLISECOND,
                                 .limits = true,
                                 .speeds = true,
                                 .contacts = true,
                                 .contact_time = MF_DRIVEN_CONTACT_TIME,
                                 .contact_damping = (double)NAN,
                                 .contact_ratio = 1.0,
                                 .friction = (double)NAN,
                                 .friction_rate = 1e-3,
                                 .slip_speed = 1e-4,
                                 .contact_depth = 0.02};
}

static void run_prescribed(const mf_SystemRun *run, void *user) {
    mf_driven_run(run, user);
}

static mf_DrivenPlan *find_plan(const mf_Group *group) {
    return mf_driven_plan_of(group, run_prescribed);
}

static mf_DrivenPlan *must_find(const mf_Group *group) {
    mf_DrivenPlan *plan = find_plan(group);
    assert(plan != NULL);
    return plan;
}

static void fill_config(const mf_PrescribedConfig *given, mf_DrivenConfig *driven) {
    static const mf_DrivenStepFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_prescribed_step);
    *driven = (mf_DrivenConfig){.name = "prescribed",
                                .own = MF_MOTION_PRESCRIBED,
                                .run = run_prescribed,
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
    driven->art.contact_damping = given->contact_damping;
    driven->art.contact_ratio = given->contact_ratio;
    driven->spin_friction = (double)NAN;
}

mf_Status mf_prescribed_add(mf_Group *group, const mf_PrescribedConfig *config, mf_Error *error) {
    const mf_PrescribedConfig settings = config != NULL ? *config : mf_prescribed_config();
    mf_DrivenConfig driven;
    mf_DrivenPlan *plan;
    if (settings.struct_size != sizeof settings)
        return mf_fail(error, MF_BAD_ARGUMENT, "prescribed: start from mf_prescribed_config()");
    if (find_plan(group) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "prescribed: the group moves by prescribed already");
    fill_config(&settings, &driven);
    mf_Status status = mf_driven_add(group, &driven, &plan, error);
    if (status == MF_OK)
        plan->config.prescribed = settings;
    return status;
}

const mf_PrescribedConfig *mf_prescribed_settings(const mf_Group *group) {
    const mf_DrivenPlan *plan = find_plan(group);
    return plan != NULL ? &plan->config.prescribed : NULL;
}

void mf_prescribed_refresh(mf_Group *group, uint32_t instance) {
    mf_driven_refresh(must_find(group), instance);
}

void mf_prescribed_energy(const mf_Group *group, uint32_t instance, double *kinetic,
                          double *potential) {
    mf_ArticulatedEnergy energy = mf_art_energy(must_find(group)->art, instance, true);
    *kinetic = energy.kinetic;
    *potential = energy.potential;
}

void mf_prescribed_momentum(const mf_Group *group, uint32_t instance, double center[3],
                            double linear[3], double angular[3]) {
    mf_art_momentum(must_find(group)->art, instance, true, center, linear, angular);
}
