// Values for sensors that only full dynamics computes: contacts between shapes, and lengths of
// spatial tendons. They are computed from the present state, when a sensor is due, by a kernel that
// shares the geometry of the step (sensing_kernel.c), into the field sensor.look.
#ifndef MF_MOTION_ARTICULATED_SENSING_H
#define MF_MOTION_ARTICULATED_SENSING_H

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
    uint32_t row, count;         // [1] its values in sensor.look
    uint32_t tendon;             // [1]
    double scale;                // [1] of length and rate
    double lower, upper, margin; // [m]
    mf_ContactQuery query;
    // Whether it measures a contact with the ground or a pair of shapes, and which way the normal
    // goes: 1 as found, -1 turned, 0 not.
    const int8_t *touches, *pairs;
} mf_ArtSensingItem;

typedef struct mf_ArtSensing {
    uint32_t count;
    mf_ArtSensingItem *items;
    int8_t *signs;          // of all items
    bool *wanted;           // per pair of plan->collide: an item measures it
    bool touches, contacts; // some item measures contacts with the ground, between shapes
} mf_ArtSensing;

MF_KERNEL_COPIES(void, mf_articulated_sense, (const mf_ArtBlock *block));

// What `articulated` offers to sensors.
extern const mf_SensorSource mf_art_sensor_source;

void mf_art_sensing_destroy(mf_Context *context, mf_ArtSensing *sensing); // NULL is fine

#endif
