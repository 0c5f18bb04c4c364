// The points of a robot that may touch the ground in one step, and the body that they carry.
#ifndef MF_MOTION_POINTS_CONTACTS_H
#define MF_MOTION_POINTS_CONTACTS_H

#include "motion/points/ground.h"

typedef struct Body {
    Vec com;       // [m] centre of mass, world
    Vec velocity;  // [m/s] of the centre of mass, world
    Quat attitude; // body to world
    Vec rate;      // [rad/s] body axes
    Vec center;    // [m] centre of mass, base frame
    Sym inertia;   // [kg m^2] about the centre of mass, body axes
    Sym inverse;   // its inverse
} Body;

typedef struct Motion { // the part of a body that a step changes
    Vec com, velocity;
    Quat attitude;
    Vec rate;
} Motion;

typedef struct Contact {
    Vec place;      // [m] relative to the centre of mass, world axes
    Vec normal;     // [1] of the ground, only where it is not level
    Vec slip;       // [m] place minus anchor, world axes
    mf_lane depth;  // [m] vertical, how far below its support
    mf_lane before; // [m] compression after the step before, 0 = no contact
    mf_lane press;  // [m] compression found by the solver
    uint32_t index; // [1] contact number
} Contact;

typedef struct Contacts {
    uint32_t count;
    Contact row[MF_POINTS_MAX_CONTACTS];
} Contacts;

// How the solved displacement moves the body.
typedef struct Shift {
    Vec move; // [m] of the centre of mass
    Vec turn; // [rad] world axes, small
} Shift;

static inline mf_lane contact_rise(const Shift *shift, Vec place) {
    return shift->move.z + shift->turn.x * place.y - shift->turn.y * place.x;
}

#endif
