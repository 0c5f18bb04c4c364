// What the robots of a group look like: one description that cameras, films and recordings read.
#pragma once

#include "motion/look.h"
#include "visual/vehicle.h"

#include <mayfly/terrain.h>

typedef struct mf_Visual {
    mf_VisualKind kind;
    mf_Group *group;
    const mf_Terrain *terrain; // the world's; NULL: level at 0
    uint32_t part_count;       // [1] numbers of parts, some of which are not seen
    bool own_parts;            // made for the eye: without meshes and textures
    mf_Shape vehicle[MF_VEHICLE_PARTS];
    float color[3];           // [1] of points, bars and triangles
    double radius;            // [m] of points
    const mf_Field *position; // [m] base.position of points, vertex.position of others
    const mf_Field *waiting;  // of points: not 0 for those that are not there yet; NULL: all are
    const mf_Field *counts, *ends, *diameter, *actuators, *ranges; // of bars
    mf_Surface surface;                                            // of triangles
} mf_Visual;

// Of a group with its motion.
mf_Visual mf_visual_of(mf_Group *group);

// Whether it cannot move: a field, a pool.
bool mf_visual_is_scenery(const mf_Visual *visual);
// Whether a shape of a model is seen: links with visual shapes are seen by them, others by their
// collision shapes, and of scenery all shapes are seen but a level plane that is the ground.
bool mf_visual_shows(const mf_Terrain *terrain, const mf_Model *model, const mf_Shape *shape);
// A part of a robot, with its own numbers (multibody/numbers.h), of MF_NONE as the group's model
// has it: on its link or, MF_NONE, fixed in the world; points are small balls. False: it is not
// seen.
bool mf_visual_part(const mf_Visual *visual, uint32_t instance, uint32_t index, mf_Shape *out);

typedef struct mf_VisualBar {
    double ends[2][3]; // [m]
    double radius;     // [m]
    double range[2];   // [m] lengths of an actuator; 0, 0: it is none
    float color[3];    // [1]
} mf_VisualBar;
uint32_t mf_visual_bar_count(const mf_Visual *visual, uint32_t instance);
void mf_visual_bar(const mf_Visual *visual, uint32_t instance, uint32_t index, mf_VisualBar *out);

// The shortest rotation that takes the z axis to the direction from one point to another.
void mf_visual_along(double rotation[4], const double from[3], const double to[3]);

// The color of a shape in a group with a color of its own, NULL: without: what is colored at all
// takes it.
void mf_visual_tint(const float own[3], const float *tint, float out[3]);
