// What the rows of all vehicles in the motion table have in common: a vehicle counts as one rigid
// body, with the mass and inertia of its model.
#pragma once

#include <mayfly/vehicle.h>
#include <mayfly/motion.h>

// "euler", "semi_implicit", "heun", "rk4", for keys; ends with NULL.
extern const char *const mf_integrator_names[];

// The body of a vehicle as a model of one link, for mf_GroupConfig.model.
typedef struct mf_VehicleBody {
    const char *name;  // copied
    double mass;       // [kg] > 0
    double inertia[6]; // [kg m^2] xx, yy, zz, xy, xz, yz about the center of mass, body axes;
                       // positive definite and with principal values of a real body
    double radius;     // [m] > 0 of the collision sphere about the center of mass
    double
        half_height;  // [m] not 0 and less than the radius: others collide with an upright cylinder
                      // within that sphere, which reaches as far above and below the center
    double clearance; // [m] >= 0 from the center of mass down to the ground where it stands
} mf_VehicleBody;

// Whether the group's model is the body of such a vehicle: one of `mass` [kg] without joints and
// with its center of mass at the origin; its shapes may be any.
// MF_BAD_ARGUMENT.
mf_Status mf_vehicle_check(const mf_Group *group, const char *name, double mass, mf_Error *error);

// What the rows of all vehicles have alike: their functions, and tables with the name `kind`.
#define MF_VEHICLE_ROW(kind)                                                                       \
    .name = #kind, .body = "vehicle", .dynamic = true, .averages = MF_INTEGRATOR_HEUN,             \
    .model = row_model, .make = make_##kind, .hash = hash_##kind, .run = run_##kind,               \
    .reset = reset_##kind, .destroy = destroy_##kind, .reads = kind##_reads,                       \
    .writes = kind##_writes, .defaults = row_defaults, .keys = row_keys,                           \
    .key_count = sizeof row_keys / sizeof *row_keys,                                               \
    .notes = {.list = notes, .settings = note_settings}, .momentum = mf_vehicle_momentum,          \
    .energy = mf_vehicle_energy

// `plan` is not used.
void mf_vehicle_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                         double center[3], double linear[3], double angular[3]);
mf_MotionEnergy mf_vehicle_energy(const mf_Group *group, const void *plan, uint32_t instance);

// Creates the model: its origin is the center of mass. MF_BAD_ARGUMENT names the error of mass,
// inertia ("not positive definite", "no real body has it") or radius.
mf_Status mf_vehicle_model(mf_Context *context, const mf_VehicleBody *body, mf_Model **out,
                           mf_Error *error);

// Whether a real body has this inertia, within what rounding of published figures and flat plates
// need (Crazyflie: 1.05 % off). MF_BAD_ARGUMENT begins with `name`.
mf_Status mf_vehicle_check_inertia(const char *name, const double inertia[6], mf_Error *error);
