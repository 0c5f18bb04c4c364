// The host's side of cars: what kernels do not see.
#pragma once

#include <mayfly/car.h>
#include "motion/vehicle/car/plan.h"

typedef struct mf_CarMotion {
    const mf_CarPlan *plan;
    const mf_TerrainImage *terrain;
    const mf_CarPath *path; // NULL: none
    mf_CarFields fields;
    const mf_Terrain *ground;
    mf_Car car;
    mf_CarConfig config;
    uint32_t interval;           // [1] steps between control ticks
    mf_CarStepFn step;           // `lanes` lanes at once
    mf_CarStepFn step_one;       // one lane
    uint32_t lanes;              // [1]
    mf_Field *rows[MF_CAR_ROWS]; // NULL where the command mode does not use one
    mf_Field *refused;
} mf_CarMotion;

// Names the member that is out of range, its value and the range.
mf_Status mf_car_check_settings(const mf_CarConfig *config, mf_Error *error);
// A step [s] that the tires or the steering cannot follow is refused.
mf_Status mf_car_check_step(const mf_Car *car, mf_CarModel model, double step, mf_Error *error);
// Samples the positions. The caller frees *out with mf_release; untouched on failure.
mf_Status mf_car_path_create(mf_Context *context, const double (*positions)[2], uint32_t count,
                             bool closed, double spacing, const mf_CarPath **out, mf_Error *error);
// Fills the constants of `car` on ground of height `ground` [m]; plan->model is set. `step` and
// `tick`, the control interval, in s.
void mf_car_plan_constants(mf_CarPlan *plan, const mf_Car *car, double step, double tick,
                           double gravity, double ground);

// MF_BAD_ARGUMENT with the member's name if a parameter is out of range.
mf_Status mf_car_check(const mf_Car *car, mf_Error *error);

// The path of a group with MF_CAR_COMMAND_PATH: `count` >= 2 points (x, y) [m], world frame, joined
// by straight lines, and the last to the first if `closed`. Copied, as at most 65536 pieces of
// equal length. On an open path cars stop at the end. Every car then searches for the nearest point
// of the path. Do not call it during a step.
mf_Status mf_car_set_path(mf_Group *group, const double (*points)[2], uint32_t count, bool closed,
                          mf_Error *error);

// The ORCA 1:43 car, the default. Others, with their sources: models/car_*.yaml.
mf_Car mf_car(void);

// The body of a car as a model for mf_GroupConfig.model. The caller destroys it.
mf_Status mf_car_body(mf_Context *context, const mf_Car *car, const char *name, mf_Model **out,
                      mf_Error *error);
