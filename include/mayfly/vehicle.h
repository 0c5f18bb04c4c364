// Mayfly: common declarations of all vehicles (quadrotors, fixed wings, cars).
#pragma once

#include <mayfly/world.h>

// Integrator of a vehicle's equations. All are one-step methods.
typedef enum mf_Integrator {
    MF_INTEGRATOR_EULER,         // order 1: all rates at the start of the step
    MF_INTEGRATOR_SEMI_IMPLICIT, // order 1: velocities first, then positions with the new
                                 // velocities
    MF_INTEGRATOR_HEUN,          // order 2
    MF_INTEGRATOR_RK4            // order 4, the classical Runge-Kutta method
} mf_Integrator;
