// What the rows of all vehicles in the motion table have in common: a vehicle counts as one rigid
// body, with the mass and inertia of its model.
#ifndef MF_MOTION_VEHICLE_BODY_H
#define MF_MOTION_VEHICLE_BODY_H

#include <mayfly/vehicle.h>
#include <mayfly/motion.h>

// The names of integrators, for keys; ends with NULL.
extern const char *const mf_integrator_names[];

// As mf_vehicle_model, but others meet an upright cylinder that reaches `half_height` [m] above and
// below the center of mass and lies within the sphere of `body->radius`; the sphere itself where
// `half_height` is 0 or not less than the radius.
mf_Status mf_vehicle_flat_model(mf_Context *context, const mf_VehicleBody *body, double half_height,
                                mf_Model **out, mf_Error *error);

// Whether the group's model is the body of such a vehicle: one of `mass` [kg] without joints and
// with its center of mass at the origin; its shapes may be any.
// MF_BAD_ARGUMENT.
mf_Status mf_vehicle_check(const mf_Group *group, const char *name, double mass, mf_Error *error);

// `plan` is not used.
void mf_vehicle_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]);
mf_MotionEnergy mf_vehicle_energy(const mf_Group *group, const void *plan, uint32_t instance);

// Creates the model: its origin is the center of mass. MF_BAD_ARGUMENT names the error of mass,
// inertia ("not positive definite", "no real body has it") or radius.
mf_Status mf_vehicle_model(mf_Context *context, const mf_VehicleBody *body, mf_Model **out,
                           mf_Error *error);

// "euler", "semi_implicit", "heun", "rk4".
const char *mf_integrator_name(mf_Integrator integrator);

#endif
