// Sensors of a group: the interface of host code and kernel.
#ifndef MF_SENSE_SENSORS_H
#define MF_SENSE_SENSORS_H

#include "math/kernel.h"

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

// One joint on the path from the base to a ray's link.
typedef struct mf_SensorJoint {
    double position[3]; // [m] joint frame in the parent's frame
    double rotation[9]; // joint frame to parent frame at angle 0
    double axis[3];     // joint frame, unit
    uint32_t joint;     // [1] component of joint.angle, MF_NONE when it never moves
    bool slides;        // true: a slide; false: a hinge
} mf_SensorJoint;

typedef struct mf_SensorRay {
    double start[3];     // [m] link frame
    double direction[3]; // link frame, unit
    double range;        // [m]
    uint32_t first;      // [1] chain[first .. first+count-1] leads from the base to the link
    uint32_t count;      // [1]
} mf_SensorRay;

// All blocks of a group. Data pointers are in field layout and the group's precision.
typedef struct mf_SensorBatch {
    const mf_Terrain *terrain;
    uint32_t contact_count, ray_count, joint_count; // [1]
    const mf_SensorContact *contacts;
    const mf_SensorRow *rows;
    const mf_SensorRay *rays;
    const mf_SensorJoint *chain;
    const void *load, *point_load;              // contact.load, point.load
    uint32_t load_components, point_components; // [1]
    const int32_t *level;                       // motion.level; NULL: the group has one motion
    const void *position, *orientation, *angle;
    const int32_t *fault;                   // fault.word
    void *contact, *ray, *joint, *attitude; // NULL: not measured now
} mf_SensorBatch;

typedef void (*mf_SensorRunFn)(const mf_SensorBatch *batch, uint32_t first, uint32_t count);
MF_KERNEL_COPIES(void, mf_sensor_run,
                 (const mf_SensorBatch *batch, uint32_t first, uint32_t count));

#endif
