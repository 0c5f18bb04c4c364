// The host's side of quadrotors: what kernels do not see.
#pragma once

#include <mayfly/quadrotor.h>
#include "motion/vehicle/quadrotor/plan.h"
#include "motion/vehicle/external_wrench.h"

typedef struct mf_QuadrotorMotion {
    const mf_QuadrotorPlan *plan;
    mf_QuadrotorFields fields;
    mf_Quadrotor parameters;
    mf_QuadrotorConfig config;
    mf_VehicleWrench wrench;
    mf_QuadrotorRunFn run;     // `lanes` lanes at once
    mf_QuadrotorRunFn run_one; // one lane
    uint32_t lanes;            // [1]
    mf_Field *speed, *rotor_command, *demand, *rate_integral, *velocity_integral;
    mf_Field *command, *command_last, *accepted, *wind, *refused;
} mf_QuadrotorMotion;

// Makes the plan of checked parameters and settings. `gravity` [m/s^2], `step` [ns]. The caller
// frees *out with mf_release. MF_NO_MEMORY.
mf_Status mf_quadrotor_plan_create(mf_Context *context, const mf_Quadrotor *parameters,
                                   const mf_QuadrotorConfig *config, double gravity, mf_Time step,
                                   const mf_QuadrotorPlan **out, mf_Error *error);

// Thrust [m/s^2 per s^-2] and twists per squared rotor speed, row after row, and its inverse.
// False when there is none.
bool mf_quadrotor_allocation(const mf_Quadrotor *quadrotor, double matrix[16], double inverse[16]);

// MF_BAD_ARGUMENT names the member that is out of range ("quadrotor.mass: ..."), an impossible
// inertia, or rotors that cannot push and rotate the body independently.
mf_Status mf_quadrotor_check(const mf_Quadrotor *quadrotor, mf_Error *error);

// The quadrotor of Sun et al. 2022 with gains for quadrotors of any size.
mf_Quadrotor mf_quadrotor(void);

// The one-link model for mf_GroupConfig.model; `name` is copied.
mf_Status mf_quadrotor_model(mf_Context *context, const mf_Quadrotor *quadrotor, const char *name,
                             mf_Model **out, mf_Error *error);
