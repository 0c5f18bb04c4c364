// The host's side of aircraft: what kernels do not see.
#pragma once

#include <mayfly/fixed_wing.h>
#include "motion/vehicle/fixed_wing/plan.h"
#include "motion/vehicle/external_wrench.h"

typedef struct mf_WingMotion {
    const mf_WingPlan *plan;
    mf_FixedWing parameters;
    mf_FixedWingConfig config;
    mf_VehicleWrench wrench;
    mf_FixedWingTrim start;                       // straight ahead at the start airspeed
    double gravity;                               // [m/s^2]
    uint32_t interval;                            // [1] steps between control ticks
    mf_WingStepFn step;                           // `lanes` lanes at once
    mf_WingStepFn step_one;                       // one lane
    uint32_t lanes;                               // [1]
    mf_Field *rows[MF_WING_ROWS];                 // NULL where there is none
    mf_Field *commands[MF_WING_COMMANDS];         // the field of each value
    uint32_t command_component[MF_WING_COMMANDS]; // [1] and its component there
} mf_WingMotion;

// Aerodynamics, propulsion and body of a checked aircraft; step and gravity are left 0.
void mf_wing_constants(double *constants, const mf_FixedWing *parameters);
// Gains and trim of the autopilot; MF_NOT_FOUND when the aircraft cannot fly its design airspeed.
mf_Status mf_wing_gains(double *constants, const mf_FixedWing *parameters, double gravity,
                        double control_step, mf_Error *error);
// Constants of the gust filters for steps of `step` seconds.
void mf_wing_gusts(double *constants, const mf_Dryden *dryden, double step);
// Trim with the constants already made.
mf_Status mf_wing_trim(const double *constants, const mf_FixedWing *parameters, double airspeed,
                       double climb, double radius, double gravity, mf_FixedWingTrim *out,
                       mf_Error *error);

// Settings in range for a world of that step [ns].
mf_Status mf_wing_check_settings(const mf_FixedWingConfig *config, mf_Time step, mf_Error *error);
// Puts an agent, which stands at its start already, into flight.
void mf_wing_start(const mf_WingMotion *motion, uint32_t instance);

// MF_BAD_ARGUMENT names the first member that is out of range ("fixed_wing.mass: ...").
mf_Status mf_fixed_wing_check(const mf_FixedWing *parameters, mf_Error *error);
mf_Dryden mf_dryden(mf_Turbulence turbulence, double airspeed); // airspeed [m/s]

// What mf_motions_config() has of aircraft.
mf_FixedWingConfig mf_fixed_wing_config(void);

// The Aerosonde with polar drag and the autopilot measured in docs/studies/vehicles.md.
mf_FixedWing mf_fixed_wing(void);

// The model of one link that a group of these aircraft needs; to be destroyed after the world.
mf_Status mf_fixed_wing_model(mf_Context *context, const mf_FixedWing *parameters, const char *name,
                              mf_Model **out, mf_Error *error);
