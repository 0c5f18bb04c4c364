// The points of a robot that may touch the ground in one step, and the body that they carry.
#ifndef MF_MOTION_POINTS_CONTACTS_H
#define MF_MOTION_POINTS_CONTACTS_H

#include "math/lane_sum.h"
#include "motion/points/ground.h"

// The rest of a body - its center and inertia, which change with the joints only - is read from its
// fields where it is needed: registers are few.
typedef struct Body {
    Vec com;       // [m] center of mass, world
    Vec velocity;  // [m/s] of the center of mass, world
    Quat attitude; // body to world
    Vec rate;      // [rad/s] body axes
} Body;

typedef Body Lows; // the remainders of a body's sums (math/lane_sum.h)

typedef struct Contact {
    Vec position;    // [m] relative to the center of mass, world axes
    Vec normal;      // [1] of the ground, only where it is not level
    Vec slip;        // [m] position minus anchor, world axes
    mf_lane depth;   // [m] vertical, how far below its support
    mf_lane before;  // [m] compression after the step before, 0 = no contact
    mf_lane press;   // [m] compression found by the solver
    mf_mask pressed; // whether the support's solver takes it for pressed
    size_t index;    // [1] contact number
} Contact;

// Sums over the contacts, kept along the way so that nobody has to go through the rows once more.
typedef struct ContactSums {
    mf_lane fixed; // [m] of `before`
    mf_lane deep;  // [m] of the depths of points below the ground
    mf_lane had;   // [m^2] of the squares of `before`
} ContactSums;

typedef struct Contacts {
    size_t count;
    ContactSums sums;
    mf_lane has;      // [m^2] sum of the squares of `press`
    mf_mask standing; // lanes whose search for pressed points starts from those pressed before
    Contact *row;
} Contacts;

static MF_INLINE void contact_add(Contact *row, ContactSums *sums, size_t index, Vec position,
                                  mf_lane before, mf_lane depth) {
    row->index = index;
    row->position = position;
    row->before = before;
    row->depth = depth;
    sums->fixed = sums->fixed + before;
    sums->deep = sums->deep + mf_max(depth, mf_zero());
    sums->had = mf_fma(before, before, sums->had);
}

// How the solved displacement moves the body.
typedef struct Shift {
    Vec move;            // [m] of the center of mass
    Vec rotation_vector; // [rad] world axes, small
} Shift;

static MF_INLINE mf_lane contact_rise(const Shift *shift, Vec position) {
    return mf_fma(-shift->rotation_vector.y, position.x,
                  mf_fma(shift->rotation_vector.x, position.y, shift->move.z));
}

#endif
