// Values for sensors that only full dynamics computes: contacts between shapes, and lengths of
// spatial tendons. They are computed from the present state, when a sensor is due, by a kernel that
// shares the geometry of the step (look_kernel.c), into the field sensor.look.
#ifndef MF_MOTION_ARTICULATED_LOOK_H
#define MF_MOTION_ARTICULATED_LOOK_H

#include "math/kernel.h"
#include "motion/articulated/plan.h"
#include "world/attach.h"

enum { MF_ARTICULATED_LOOK_SLOTS = 16 }; // contacts that one sensor tells at most

typedef enum mf_ArtLookKind {
    MF_ART_LOOK_LENGTH,       // [m]
    MF_ART_LOOK_RATE,         // [m/s]
    MF_ART_LOOK_LIMIT_LENGTH, // [m] to the limit less margin, where that is below 0
    MF_ART_LOOK_LIMIT_RATE,   // [m/s] likewise
    MF_ART_LOOK_CONTACTS
} mf_ArtLookKind;

typedef struct mf_ArtLookItem {
    mf_ArtLookKind kind;
    uint32_t sensor;             // [1] of the model
    uint32_t row, count;         // [1] its values in sensor.look
    uint32_t tendon;             // [1]
    double scale;                // [1] of length and rate
    double lower, upper, margin; // [m]
    mf_ContactQuery query;
    // Whether it looks at a contact with the ground or a pair of shapes, and which way the normal
    // goes: 1 as found, -1 turned, 0 not.
    const int8_t *touches, *pairs;
} mf_ArtLookItem;

typedef struct mf_ArtLook {
    uint32_t count;
    mf_ArtLookItem *items;
    int8_t *signs;       // of all items
    bool *wanted;        // per pair of plan->collide: an item looks at it
    bool touches, meets; // some item looks at contacts with the ground, between shapes
} mf_ArtLook;

MF_KERNEL_COPIES(void, mf_articulated_look, (const mf_ArtBlock *block));

// What `articulated` offers to sensors.
extern const mf_Lookout mf_art_lookout;

void mf_art_look_destroy(mf_Context *context, mf_ArtLook *look); // NULL is fine

#endif
