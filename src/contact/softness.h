// How soft a file's contacts, limits and other constraints are: MuJoCo's solref and solimp.
//
// MuJoCo (documentation, "Computation", constraint model) asks of a constraint at depth d with
// speed v that
//     a = z (-b v + k z d) + (1 - z) a0,    k = 1 / (w^2 T^2 r^2),  b = 2 / (w T)
// where a0 is its acceleration without the constraint, T and r are the reference, z is the
// impedance and w its largest value; a reference below 0 gives k = stiffness / w^2 and b = damping
// / w. With the mass m that the constraint moves by itself this is the force
//     f = G (k z d - b v - a),    G = m z / (1 - z).
#pragma once

#include <mayfly/model.h>

// [1] An impedance as it is used: not quite 0 or 1.
double mf_softness_clip(double z);
// Whether it differs from what holds where a file says nothing.
bool mf_softness_is_stated(const mf_Softness *softness);
// k [1/s^2] and b [1/s] at a step [s]. `safe`: time constants are two steps at least.
void mf_softness_reference(const mf_Softness *softness, double step, bool safe, double *k,
                           double *b);
// [1] z at a depth [m] or [rad].
double mf_softness_impedance(const mf_Softness *softness, double depth);
