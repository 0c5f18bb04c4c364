// The `prescribed` motion's host side; most of it is shared (motion/driven).
#include "motion/driven/driven.h"
#include "motion/prescribed/step.h"

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

mf_Status mf_prescribed_add(mf_Group *group, const mf_PrescribedConfig *config, mf_Error *error) {
    if (group == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_prescribed_add: group is NULL");
    static const mf_DrivenStepFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_prescribed_step);
    const mf_PrescribedConfig given = config != NULL ? *config : mf_prescribed_config();
    const mf_DrivenConfig driven = {.name = "prescribed",
                                    .own = MF_MOTION_PRESCRIBED,
                                    .kernels = kernels,
                                    .given = &given,
                                    .given_size = sizeof given,
                                    .common = given,
                                    .spin_friction = (double)NAN};
    return mf_driven_add(group, &driven, error);
}

const mf_PrescribedConfig *mf_prescribed_settings(const mf_Group *group) {
    if (group == NULL)
        return NULL;
    const mf_DrivenPlan *plan = mf_driven_find(group, MF_MOTION_PRESCRIBED);
    return plan != NULL ? &plan->config.prescribed : NULL;
}

void mf_prescribed_refresh(mf_Group *group, uint32_t instance) {
    if (group == NULL)
        return;
    mf_driven_refresh(group, MF_MOTION_PRESCRIBED, instance);
}

void mf_prescribed_energy(const mf_Group *group, uint32_t instance, double *kinetic,
                          double *potential) {
    if (group == NULL)
        return;
    mf_driven_energy(group, MF_MOTION_PRESCRIBED, instance, kinetic, potential);
}

void mf_prescribed_momentum(const mf_Group *group, uint32_t instance, double center[3],
                            double linear[3], double angular[3]) {
    if (group == NULL)
        return;
    mf_driven_momentum(group, MF_MOTION_PRESCRIBED, instance, center, linear, angular);
}
