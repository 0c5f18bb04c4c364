// The string around a shape of wrap.h in plain doubles.
#ifndef MF_MATH_BEND_H
#define MF_MATH_BEND_H

#include <stdbool.h>

// The shortest way from `a` to `b` [m] around a sphere or, endless along z, a cylinder of that
// radius [m], all in the shape's frame; `side` (may be NULL) is a point on whose side it goes.
// False when it is straight; else where it meets and leaves the surface and its length there [m].
bool mf_bend_around(bool cylinder, double radius, const double a[3], const double b[3],
                    const double *side, double from[3], double to[3], double *length);

#endif
