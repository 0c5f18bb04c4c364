// Mayfly: common declarations of all vehicles (quadrotors, fixed wings, cars).
#ifndef MAYFLY_VEHICLE_H
#define MAYFLY_VEHICLE_H

#include <mayfly/world.h>

// Integrator of a vehicle's equations. All are one-step methods.
typedef enum mf_Integrator {
    MF_INTEGRATOR_EULER,         // order 1: all rates at the start of the step
    MF_INTEGRATOR_SEMI_IMPLICIT, // order 1: velocities first, then positions with the new
                                 // velocities
    MF_INTEGRATOR_HEUN,          // order 2
    MF_INTEGRATOR_RK4            // order 4, the classical Runge-Kutta method
} mf_Integrator;

// The body of a vehicle as a model of one link, for mf_GroupConfig.model.
typedef struct mf_VehicleBody {
    const char *name;  // copied
    double mass;       // [kg] > 0
    double inertia[6]; // [kg m^2] xx, yy, zz, xy, xz, yz about the center of mass, body axes;
                       // positive definite and with principal values of a real body
    double radius;     // [m] > 0 of the collision sphere about the center of mass
    double clearance;  // [m] >= 0 from the center of mass down to the ground where it stands
} mf_VehicleBody;

#endif
