// External wrenches on vehicles that fly: the fields wrench.link and wrench.count
// (mayfly/collision.h), applied as an impulse at the beginning of a step, before the vehicle's own
// kernel. The kernels do not know about them, so a vehicle that nothing pushes costs nothing and
// keeps its bits.
#pragma once

#include <mayfly/world.h>

typedef struct mf_VehicleWrench {
    const mf_Field *wrench, *count; // NULL: the group takes no wrenches
    mf_Field *orientation, *linear, *angular, *fault;
    double speed_per_force;    // [s/kg] step over mass
    double rate_per_torque[6]; // [s/(kg m^2)] step times the inverse inertia
} mf_VehicleWrench;

// The inverse of a symmetric positive definite matrix xx, yy, zz, xy, xz, yz.
void mf_vehicle_invert(double out[6], const double matrix[6]);

// Finds the fields of the group, which has them when mf_collisions_prepare was called before.
// `mass` [kg] and `inertia` [kg m^2] are those that the vehicle moves by; the base's origin is its
// center of mass.
void mf_vehicle_wrench_bind(mf_VehicleWrench *wrench, mf_Group *group, double mass,
                            const double inertia[6]);

// Adds what the wrenches change in a step to the velocities of the instances of `run`. One whose
// velocities would not be finite keeps them and gets MF_FAULT_NONFINITE.
void mf_vehicle_wrench_apply(const mf_VehicleWrench *wrench, const mf_SystemRun *run);
