// Values for sensors that only full dynamics computes: contacts between shapes, and lengths of
// spatial tendons. They are computed from the present state, when a sensor is due, by a kernel that
// shares the geometry of the step (sensing_kernel.c), into the field sensor.geometry.
#pragma once

#include "math/kernel.h"
#include "motion/articulated/plan.h"
#include "world/attach.h"

enum { MF_ARTICULATED_SENSING_SLOTS = 16 }; // contacts that one sensor tells at most

typedef enum mf_ArtSensingKind {
    MF_ART_SENSE_LENGTH,       // [m]
    MF_ART_SENSE_RATE,         // [m/s]
    MF_ART_SENSE_LIMIT_LENGTH, // [m] to the limit less margin, where that is below 0
    MF_ART_SENSE_LIMIT_RATE,   // [m/s] likewise
    MF_ART_SENSE_CONTACTS
} mf_ArtSensingKind;

typedef struct mf_ArtSensingItem {
    mf_ArtSensingKind kind;
    uint32_t sensor;             // [1] of the model
    uint32_t row, count;         // [1] its values in sensor.geometry
    uint32_t tendon;             // [1]
    double scale;                // [1] of length and rate
    double lower, upper, margin; // [m]
    mf_ContactQuery query;
    uint32_t first_sign; // [1] its first one in signs
} mf_ArtSensingItem;

// Arrays of what sensors measure.
#define MF_ART_SENSING_ARRAYS(X, of)                                                               \
    X(mf_ArtSensingItem, items, (of)->count)                                                       \
    /* Of each item, per contact with the ground, then per listed pair of shapes: whether it is    \
       measured, and which way the normal goes: 1 as found, -1 turned, 0 not. Behind them, per     \
       floating shape, which sides of the item it matches: bit 0 the first, bit 1 the second. */   \
    X(int8_t, signs, (of)->sign_count)                                                             \
    /* An item measures the listed pair; per floating shape the sides of all items that it has. */ \
    X(uint8_t, requested, (of)->pair_count)

// A flat image (base/flat.h).
typedef struct mf_ArtSensing {
    uint32_t bytes;         // [byte] of the image
    uint32_t count;         // [1] items
    uint32_t sign_count;    // [1] of all items
    uint32_t pair_count;    // [1] of the plan, and its floating shapes
    bool touches, contacts; // some item measures contacts with the ground, between shapes
    MF_ART_SENSING_ARRAYS(MF_FLAT_MEMBER, )
} mf_ArtSensing;

#define MF_ART_SENSING_READER(Type, name, count)                                                   \
    MF_FLAT_READER(mf_ArtSensing, mf_art_sensing, Type, name)
MF_ART_SENSING_ARRAYS(MF_ART_SENSING_READER, )

MF_KERNEL_COPIES(void, mf_articulated_sense, (const mf_ArtBlock *block));

// What `articulated` offers to sensors.
extern const mf_SensorSource mf_art_sensor_source;
