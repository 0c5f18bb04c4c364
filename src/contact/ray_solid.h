// Shapes as rays hit them (ray.h), in host code.
#pragma once

#include "model/shape_kinds.h"

#define MF_RAY_FAR 1e30 // [1] the time of what is not hit

typedef struct mf_RaySolid {
    mf_ShapeType type;
    mf_CollideKind kind; // its row's, which a kernel has not
    double size[3];      // [m] radii and half lengths; of a plane half edges, 0: endless
    const mf_Mesh *mesh; // of MF_SHAPE_MESH: its triangles
} mf_RaySolid;

// The sizes of a shape or site as a model has them (whole lengths and edges).
mf_RaySolid mf_ray_solid(mf_ShapeType type, const double size[3], const mf_Mesh *mesh);

// The time at which the ray start + time direction hits the solid, both in the solid's axes [m];
// MF_RAY_FAR where it does not hit it. `normal` [1], unless NULL, gets the outward normal of the
// surface there, against the ray for meshes. In double, for one ray at a time.
double mf_ray_hit(const mf_RaySolid *solid, const double start[3], const double direction[3],
                  double normal[3]);

// Its parts in the arithmetic of the kernels: the time, and the triangle that is hit first.
double mf_ray_time_scalar_f64(const mf_RaySolid *solid, const double start[3],
                              const double direction[3]);
uint32_t mf_ray_triangle_scalar_f64(const mf_Mesh *mesh, const double start[3],
                                    const double direction[3]);
