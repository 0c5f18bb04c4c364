// The string around a shape of wrap.h in plain doubles.
#pragma once

#include <stdbool.h>

// The shortest path from `a` to `b` [m] around a sphere or an infinite cylinder along z of that
// radius [m], all in the shape's frame; `side` (may be NULL) selects the side. False when the path
// is straight; else the points where it touches and leaves the surface and its length on it [m].
bool mf_bend_around(bool cylinder, double radius, const double a[3], const double b[3],
                    const double *side, double from[3], double to[3], double *length);
