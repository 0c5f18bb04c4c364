// External wrenches on vehicles that fly: the fields push.link and push.count (mayfly/collision.h),
// applied as an impulse at the beginning of a step, before the vehicle's own kernel. The kernels do
// not know about them, so a vehicle that nothing pushes costs nothing and keeps its bits.
#ifndef MF_MOTION_VEHICLE_PUSH_H
#define MF_MOTION_VEHICLE_PUSH_H

#include <mayfly/world.h>

typedef struct mf_VehiclePush {
    const mf_Field *wrench, *count; // NULL: the group takes no wrenches
    mf_Field *orientation, *linear, *angular, *fault;
    double speed_per_force;    // [s/kg] step over mass
    double rate_per_torque[6]; // [s/(kg m^2)] step times the inverse inertia
} mf_VehiclePush;

// The inverse of a symmetric positive definite matrix xx, yy, zz, xy, xz, yz.
void mf_vehicle_invert(double out[6], const double matrix[6]);

// Finds the fields of the group, which has them when mf_collisions_prepare was called before.
// `mass` [kg] and `inertia` [kg m^2] are those that the vehicle moves by; the base's origin is its
// centre of mass.
void mf_vehicle_push_bind(mf_VehiclePush *push, mf_Group *group, double mass,
                          const double inertia[6]);

// Adds what the wrenches change in a step to the velocities of the instances of `run`. One whose
// velocities would not be finite keeps them and gets MF_FAULT_NONFINITE.
void mf_vehicle_push_apply(const mf_VehiclePush *push, const mf_SystemRun *run);

#endif
