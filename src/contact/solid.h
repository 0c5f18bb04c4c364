// Convex solids of links in the world, as vertices of surfaces and particles touch them: frozen for
// a step, moved on with their twist within it.
#pragma once

#include "contact/collide.h"

// A face of a hull, in the axes of its solid.
typedef struct mf_SolidFace {
    double normal[3]; // [1] outward
    double distance;  // [m] from the center
} mf_SolidFace;

typedef struct mf_Solid {
    mf_CollideKind kind;         // no plane
    double half[3];              // [m] as MF_COLLIDE_HALF
    const mf_SolidFace *faces;   // of a hull
    uint32_t face_count;         // [1]
    double radius;               // [m] of the sphere about its center that holds it
    double rotation[9];          // [1] its axes to the world's, row after row
    double center[3];            // [m]
    double velocity[3], rate[3]; // [m/s] of the center, [rad/s]
    double about[3];             // [m] the point about which torques on it are
    double low[3], high[3];      // [m] box that holds it, and what is in reach of it, for the step
    double friction;             // [1]
} mf_Solid;

// Where a solid is after `time` [s] with its twist; the point of its torques stays.
void mf_solid_after(mf_Solid *out, const mf_Solid *start, double time);
