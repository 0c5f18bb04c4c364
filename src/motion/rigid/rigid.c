// The `rigid` motion's host side; most of it is shared (motion/driven).
#include "motion/driven/driven.h"
#include "motion/rigid/step.h"

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

mf_Status mf_rigid_add(mf_Group *group, const mf_RigidConfig *config, mf_Error *error) {
    if (group == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_rigid_add: group is NULL");
    static const mf_DrivenStepFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_rigid_step);
    const mf_RigidConfig given = config != NULL ? *config : mf_rigid_config();
    const mf_DrivenConfig driven = {.name = "rigid",
                                    .own = MF_MOTION_RIGID,
                                    .kernels = kernels,
                                    .given = &given,
                                    .given_size = sizeof given,
                                    .common = {.struct_size = given.struct_size,
                                               .integrator = given.integrator,
                                               .base = given.base,
                                               .control_interval = given.control_interval,
                                               .limits = given.limits,
                                               .speeds = given.speeds,
                                               .contacts = given.contacts,
                                               .shapes = given.shapes,
                                               .contact_stiffness = given.contact_stiffness,
                                               .contact_time = given.contact_time,
                                               .contact_ratio = 1.0,
                                               .friction = given.friction,
                                               .friction_rate = given.friction_rate,
                                               .slip_speed = given.slip_speed,
                                               .contact_depth = given.contact_depth},
                                    .bounces = true,
                                    .separation = given.separation,
                                    .spin_friction = given.spin_friction};
    return mf_driven_add(group, &driven, error);
}

const mf_RigidConfig *mf_rigid_settings(const mf_Group *group) {
    if (group == NULL)
        return NULL;
    const mf_DrivenPlan *plan = mf_driven_find(group, MF_MOTION_RIGID);
    return plan != NULL ? &plan->config.rigid : NULL;
}

void mf_rigid_refresh(mf_Group *group, uint32_t instance) {
    if (group == NULL)
        return;
    mf_driven_refresh(group, MF_MOTION_RIGID, instance);
}

void mf_rigid_energy(const mf_Group *group, uint32_t instance, double *kinetic, double *potential) {
    if (group == NULL)
        return;
    mf_driven_energy(group, MF_MOTION_RIGID, instance, kinetic, potential);
}

void mf_rigid_momentum(const mf_Group *group, uint32_t instance, double center[3], double linear[3],
                       double angular[3]) {
    if (group == NULL)
        return;
    mf_driven_momentum(group, MF_MOTION_RIGID, instance, center, linear, angular);
}
