// Sensors of a group: the interface of host code and kernel.
#ifndef MF_SENSE_SENSORS_H
#define MF_SENSE_SENSORS_H

#include "base/flat.h"
#include "base/scratch.h"
#include "math/kernel.h"
#include "sense/signal.h"
#include "multibody/tree.h"
#include "terrain/image.h"

#include <mayfly/world.h>

// A component of point.load or contact.load.
typedef struct mf_SensorRow {
    uint32_t row; // [1]
    bool of_points;
} mf_SensorRow;

// The loads of one contact sensor: rows[first .. first+count-1] of a shared list.
typedef struct mf_SensorContact {
    uint32_t first; // [1]
    uint32_t count; // [1]
} mf_SensorContact;

typedef struct mf_SensorRay {
    double start[3];     // [m] link frame
    double direction[3]; // link frame, unit
    double range;        // [m]
    uint32_t link;       // [1]
} mf_SensorRay;

// The plan: a flat image.
typedef struct mf_SensorImage {
    uint32_t bytes;                                           // [byte]
    uint32_t contact_count, ray_count, row_count, link_count; // [1] of the arrays
    uint32_t joint_count, ball_count, free_count;             // [1] components of fields
    uint32_t load_components, point_components;               // [1]
    bool fixed;                                               // the base does not move
    MF_FLAT_ARRAY(tree);                                      // mf_Tree, one
    MF_FLAT_ARRAY(links);    // uint32_t: links behind the base on the way to rays, parents first
    MF_FLAT_ARRAY(contacts); // mf_SensorContact
    MF_FLAT_ARRAY(rows);     // mf_SensorRow
    MF_FLAT_ARRAY(rays);     // mf_SensorRay
} mf_SensorImage;
MF_FLAT_READER(mf_SensorImage, mf_sensor, mf_Tree, tree)
MF_FLAT_READER(mf_SensorImage, mf_sensor, uint32_t, links)
MF_FLAT_READER(mf_SensorImage, mf_sensor, mf_SensorContact, contacts)
MF_FLAT_READER(mf_SensorImage, mf_sensor, mf_SensorRow, rows)
MF_FLAT_READER(mf_SensorImage, mf_sensor, mf_SensorRay, rays)

// All blocks of a group: the plan and the pointers of a call. Data pointers are in field layout and
// the group's precision.
typedef struct mf_SensorBatch {
    const mf_SensorImage *image;
    const mf_TerrainImage *terrain;
    const void *load, *point_load; // contact.load, point.load
    const int32_t *level;          // motion.level; NULL: the group has one motion
    const void *position, *orientation, *linear, *angular, *angle, *rate, *ball, *ball_rate, *free,
        *free_rate;                         // fields; NULL when absent
    const int32_t *fault;                   // fault.word
    void *contact, *ray, *joint, *attitude; // NULL: not measured now
    void *scratch; // mf_sensor_scratch_size bytes, aligned to 64, where `ray` is not NULL
} mf_SensorBatch;

typedef void (*mf_SensorRunFn)(const mf_SensorBatch *batch, uint32_t first, uint32_t count);
MF_KERNEL_COPIES(void, mf_sensor_run,
                 (const mf_SensorBatch *batch, uint32_t first, uint32_t count));
// [byte] of scratch that rays need.
MF_KERNEL_COPIES(size_t, mf_sensor_scratch_size, (const mf_SensorImage *image));

// ---- the system ---------------------------------------------------------------------------------

typedef struct mf_SensorFields {
    mf_Field *contact, *ray; // NULL when the model has none
    mf_Field *joint, *attitude;
} mf_SensorFields;

typedef struct mf_SensorSystem {
    mf_SensorBatch batch;
    mf_SensorImage *image; // of the batch
    mf_SensorRunFn run;
    mf_SensorFields fields;
    mf_Rate rate;
    mf_SignalSet *contact_signals, *ray_signals; // NULL: true values are readings
    mf_Scratch *scratch;                         // NULL: there are no rays
    const char *reads[16], *writes[11];          // [1] names, NULL-terminated
} mf_SensorSystem;

#endif
