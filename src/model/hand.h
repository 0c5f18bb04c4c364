// Models defined point by point, for check cases and tests that need exact masses, inertias and
// contact points without an importer or the construction API. Header only; not used by the library
// itself.
#pragma once

#include <mayfly/model.h>
#include "model/draft.h"

#include <math.h>
#include <string.h>

enum { MF_HAND_LINKS = 32, MF_HAND_POINTS = 128 };

// Must not move in memory while a group uses `model`, which points into it.
typedef struct mf_HandModel {
    mf_Model model;
    mf_Link links[MF_HAND_LINKS];
    mf_Joint joints[MF_HAND_LINKS];
    mf_Point points[MF_HAND_POINTS];
    double start_angle[MF_HAND_LINKS]; // [rad] or [m]
} mf_HandModel;

static inline void mf_hand_start(mf_HandModel *hand, mf_Context *context) {
    memset(hand, 0, sizeof *hand);
    hand->links[0] = (mf_Link){.name = "base", .parent = MF_NONE, .joint = MF_NONE};
    hand->model = (mf_Model){.name = "hand",
                             .file = "",
                             .link_count = 1,
                             .links = hand->links,
                             .joints = hand->joints,
                             .points = hand->points,
                             .start_angle = hand->start_angle,
                             .position_count = 7,
                             .velocity_count = 6,
                             .physics = mf_physics(),
                             .context = context};
}

// Adds a point at (x, y, z) of a link's frame. mass 0: contact only.
static inline void mf_hand_point(mf_HandModel *hand, uint32_t link, double x, double y, double z,
                                 double mass, bool collides) {
    mf_Point *point = &hand->points[hand->model.point_count++];
    uint32_t flags = (collides ? MF_POINT_COLLIDES : 0u) | (mass > 0 ? MF_POINT_HAS_MASS : 0u);
    *point = (mf_Point){
        .link = link, .flags = flags, .position = {x, y, z}, .mass = mass, .shape = MF_NONE};
    hand->links[link].mass += mass;
    hand->model.mass += mass;
}

// Adds six points without contact that have this mass and these principal moments about the origin
// of `link` (a moment larger than the sum of the others cannot be made).
static inline void mf_hand_inertia(mf_HandModel *hand, uint32_t link, double mass,
                                   const double moment[3]) {
    double half = 0.5 * (moment[0] + moment[1] + moment[2]);
    for (int axis = 0; axis < 3; axis++) {
        // A pair of m/6 at +-d gives 2 (m/6) d^2 to the second moment along the axis.
        double arm = sqrt(fmax(3.0 * (half - moment[axis]) / mass, 0.0)), position[3] = {0, 0, 0};
        for (int side = -1; side <= 1; side += 2) {
            position[axis] = side * arm;
            mf_hand_point(hand, link, position[0], position[1], position[2], mass / 6.0, false);
        }
    }
}

// Adds a link on a hinge at (x, y, z) of its parent about `axis` (of unit length), without limits.
// Returns the link's index; its joint has that index minus one.
static inline uint32_t mf_hand_hinge(mf_HandModel *hand, uint32_t parent, double x, double y,
                                     double z, const double axis[3]) {
    uint32_t joint = hand->model.joint_count++, link = hand->model.link_count++;
    uint32_t position = hand->model.position_count++, velocity = hand->model.velocity_count++;
    hand->links[link] = (mf_Link){.name = "link", .parent = parent, .joint = joint};
    hand->joints[joint] = (mf_Joint){.name = "joint",
                                     .type = MF_JOINT_HINGE,
                                     .parent = parent,
                                     .child = link,
                                     .position = {x, y, z},
                                     .rotation = {1, 0, 0, 0},
                                     .axis = {axis[0], axis[1], axis[2]},
                                     .lower = -INFINITY,
                                     .upper = INFINITY,
                                     .speed = INFINITY,
                                     .effort = INFINITY,
                                     .mimic = MF_NONE,
                                     .multiplier = 1.0,
                                     .position_address = position,
                                     .velocity_address = velocity,
                                     .force_lower = -INFINITY,
                                     .force_upper = INFINITY};
    return link;
}

// As mf_hand_hinge, sliding along `axis`.
static inline uint32_t mf_hand_slide(mf_HandModel *hand, uint32_t parent, double x, double y,
                                     double z, const double axis[3]) {
    uint32_t link = mf_hand_hinge(hand, parent, x, y, z, axis);
    hand->joints[link - 1].type = MF_JOINT_SLIDE;
    return link;
}
