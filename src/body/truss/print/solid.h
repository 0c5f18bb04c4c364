// Closed surfaces from surfaces of revolution and spheres with round holes, which share the rings
// of vertices where they meet: nothing is cut, so nothing can leak.
#pragma once

#include <mayfly/print.h>

typedef struct mf_SolidDraft {
    mf_Context *context;
    double *vertices;                                                          // [m] 3 each
    uint32_t *triangles;                                                       // [1] 3 each
    uint32_t vertex_count, triangle_count, vertex_capacity, triangle_capacity; // [1]
    uint32_t segments;                                                         // [1] of a circle
    bool failed; // out of memory; later calls do nothing
} mf_SolidDraft;

mf_SolidDraft mf_solid_begin(mf_Context *context, uint32_t segments);
void mf_solid_free(mf_SolidDraft *draft);

typedef struct mf_SolidFrame {
    double origin[3];  // [m]
    double axes[3][3]; // [1] x, y, z; a surface of revolution turns about z
} mf_SolidFrame;

// A frame at `origin` with z along `axis` (length 1); x and y depend on the axis alone.
mf_SolidFrame mf_solid_frame(const double origin[3], const double axis[3]);

enum { MF_PROFILE_MOST = 256 }; // [1]

// A line in the half plane (radius, z) that rotates about the axis: the solid lies to its left.
typedef struct mf_Profile {
    double radius[MF_PROFILE_MOST], z[MF_PROFILE_MOST]; // [m]
    uint32_t count;                                     // [1]
} mf_Profile;

void mf_profile_point(mf_Profile *profile, double radius, double z);
// A piece of the circle of `radius` about (0, center), by angles [rad] from +z.
void mf_profile_arc(mf_Profile *profile, double center, double radius, double from, double to,
                    uint32_t segments);

// Turns the profile. An end on the axis is closed, another one is a ring of `segments` vertices:
// ends[0] and ends[1] are their first vertices.
void mf_solid_rotate(mf_SolidDraft *draft, const mf_SolidFrame *frame, const mf_Profile *profile,
                     uint32_t ends[2]);

typedef struct mf_SolidHole {
    double axis[3]; // [1] of its center, from that of the sphere
    double angle;   // [rad] from its center to its edge
    uint32_t ring;  // [1] first vertex of its edge
} mf_SolidHole;

// Adds a sphere with round holes that do not overlap, whose edges are there already.
mf_Status mf_solid_sphere(mf_SolidDraft *draft, const double center[3], double radius,
                          const mf_SolidHole *holes, uint32_t count, mf_Error *error);

// Appends `solid` moved into `frame`.
void mf_solid_append(mf_SolidDraft *draft, const mf_SolidFrame *frame, const mf_SolidDraft *solid);

// [m^3] within the surface, by the divergence theorem.
double mf_solid_volume(const mf_SolidDraft *draft);
