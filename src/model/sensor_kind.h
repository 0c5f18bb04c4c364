// The kinds of sensors, one row each, in the order of mf_SensorType: what all parts of Mayfly know
// of them. What a kind measures is in sensors_kernel.c (mf_SensorKind's `items` say of which
// parts): a new sensor is a row here, a value of mf_SensorType and its case there.
#pragma once

#include <mayfly/model.h>

typedef enum mf_SensorMount {
    MF_AT_LINK, // these three are not in MJCF
    MF_AT_OWN_JOINT,
    MF_AT_FIELD,
    MF_AT_SITE,
    MF_AT_JOINT, // hinge or slide
    MF_AT_LIMITED_JOINT,
    MF_AT_BALL,
    MF_AT_TENDON,
    MF_AT_ACTUATOR,
    MF_AT_FRAME, // any object, optionally relative to another one
    MF_AT_BODY,
    MF_AT_CONTACTS,
    MF_AT_NOTHING
} mf_SensorMount;

typedef enum mf_SensorItems { // the parts of a robot that a kind sums or searches
    MF_SENSES_TERMS,          // joints or actuators, or nothing
    MF_SENSES_CONTACTS,       // of a link with the ground
    MF_SENSES_SHAPES,
    MF_SENSES_LUMPS // masses of a subtree
} mf_SensorItems;

enum {                  // flags of a kind
    MF_SENSES_POSE = 1, // it is somewhere: mf_Sensor.frame
    MF_SENSES_ACCELERATION = 2,
    MF_SENSES_DIRECTION = 4, // its values have length 1 together
    MF_SENSES_LIMIT = 8,     // reads 0 where limits are disabled
    MF_SENSES_LIMIT_FORCE = 16,
    MF_SENSES_ENERGY = 32,
    MF_SENSES_LENGTH = 64, // of tendons, or actuators on them: of spatial ones by few motions
    MF_SENSES_RANGE = 128  // a ray that sees other robots
};

// type, word (MuJoCo's where it has one), type in URDF, mount, items, flags, values (0: given by
// the element), unit (for hinges), description
#define MF_SENSOR_KINDS(X)                                                                         \
    X(CONTACT, "contact", "contact", LINK, CONTACTS, 0, 1, "1",                                    \
      "1 while a contact of the link with the ground carries load, else 0; 0 where the "           \
      "motion computes no loads")                                                                  \
    X(RAY, "ray", "ray", LINK, TERMS, MF_SENSES_RANGE, 1, "m",                                     \
      "along the x axis of the sensor to the ground or to another robot, at most `reach`; "        \
      "0 when it starts below the ground")                                                         \
    X(JOINT, "joint", NULL, OWN_JOINT, TERMS, 0, 1, "rad", "position of a joint: with `posture`")  \
    X(ATTITUDE, "attitude", "attitude", LINK, TERMS, MF_SENSES_POSE, 3, "rad",                     \
      "roll, pitch, yaw of the sensor about the fixed axes x, y, z")                               \
    X(TOUCH, "touch", NULL, SITE, CONTACTS, MF_SENSES_POSE, 1, "N",                                \
      "normal forces in the volume of the site")                                                   \
    X(ACCELEROMETER, "accelerometer", "accelerometer", SITE, TERMS,                                \
      MF_SENSES_POSE | MF_SENSES_ACCELERATION, 3, "m/s^2",                                         \
      "with gravity, axes of the sensor: +g upwards at rest, 0 in free fall, w^2 r "               \
      "inwards on a wheel")                                                                        \
    X(VELOCIMETER, "velocimeter", "velocimeter", SITE, TERMS, MF_SENSES_POSE, 3, "m/s",            \
      "axes of the sensor")                                                                        \
    X(GYRO, "gyro", "gyroscope", SITE, TERMS, MF_SENSES_POSE, 3, "rad/s", "axes of the sensor")    \
    X(FORCE, "force", NULL, SITE, LUMPS, MF_SENSES_POSE | MF_SENSES_ACCELERATION, 3, "N",          \
      "between the body of the site and its parent, axes of the site")                             \
    X(TORQUE, "torque", NULL, SITE, LUMPS, MF_SENSES_POSE | MF_SENSES_ACCELERATION, 3, "N m",      \
      "likewise, about the site")                                                                  \
    X(MAGNETOMETER, "magnetometer", "magnetometer", SITE, TERMS, MF_SENSES_POSE, 3, "1",           \
      "the field of the file, axes of the sensor")                                                 \
    X(RANGEFINDER, "rangefinder", NULL, SITE, SHAPES, MF_SENSES_POSE | MF_SENSES_RANGE, 1, "m",    \
      "along the z axis of the site to the next shape, -1: none")                                  \
    X(JOINT_POSITION, "jointpos", "encoder", JOINT, TERMS, 0, 1, "rad", "of a hinge or slide")     \
    X(JOINT_VELOCITY, "jointvel", "joint_rate", JOINT, TERMS, 0, 1, "rad/s",                       \
      "of a hinge or slide")                                                                       \
    X(TENDON_POSITION, "tendonpos", NULL, TENDON, TERMS, MF_SENSES_LENGTH, 1, "m", "length")       \
    X(TENDON_VELOCITY, "tendonvel", NULL, TENDON, TERMS, MF_SENSES_LENGTH, 1, "m/s", "its rate")   \
    X(ACTUATOR_POSITION, "actuatorpos", NULL, ACTUATOR, TERMS, MF_SENSES_LENGTH, 1, "rad",         \
      "length")                                                                                    \
    X(ACTUATOR_VELOCITY, "actuatorvel", NULL, ACTUATOR, TERMS, MF_SENSES_LENGTH, 1, "rad/s",       \
      "its rate")                                                                                  \
    X(ACTUATOR_FORCE, "actuatorfrc", NULL, ACTUATOR, TERMS, 0, 1, "N m", "force of the actuator")  \
    X(JOINT_ACTUATOR_FORCE, "jointactuatorfrc", NULL, JOINT, TERMS, 0, 1, "N m",                   \
      "of all actuators on the joint, within its range of force")                                  \
    X(TENDON_ACTUATOR_FORCE, "tendonactuatorfrc", NULL, TENDON, TERMS, 0, 1, "N",                  \
      "of all actuators on the tendon")                                                            \
    X(BALL_QUATERNION, "ballquat", NULL, BALL, TERMS, MF_SENSES_DIRECTION, 4, "1",                 \
      "rotation of a ball joint")                                                                  \
    X(BALL_RATE, "ballangvel", NULL, BALL, TERMS, 0, 3, "rad/s",                                   \
      "angular velocity of a ball joint")                                                          \
    X(JOINT_LIMIT_POSITION, "jointlimitpos", NULL, LIMITED_JOINT, TERMS, MF_SENSES_LIMIT, 1,       \
      "rad", "distance to the nearer limit less margin")                                           \
    X(JOINT_LIMIT_VELOCITY, "jointlimitvel", NULL, LIMITED_JOINT, TERMS, MF_SENSES_LIMIT, 1,       \
      "rad/s", "its rate")                                                                         \
    X(JOINT_LIMIT_FORCE, "jointlimitfrc", NULL, LIMITED_JOINT, TERMS, MF_SENSES_LIMIT_FORCE, 1,    \
      "N m", "of the limit, >= 0")                                                                 \
    X(TENDON_LIMIT_POSITION, "tendonlimitpos", NULL, TENDON, TERMS,                                \
      MF_SENSES_LIMIT | MF_SENSES_LENGTH, 1, "m", "distance to the nearer limit less margin")      \
    X(TENDON_LIMIT_VELOCITY, "tendonlimitvel", NULL, TENDON, TERMS,                                \
      MF_SENSES_LIMIT | MF_SENSES_LENGTH, 1, "m/s", "its rate")                                    \
    X(TENDON_LIMIT_FORCE, "tendonlimitfrc", NULL, TENDON, TERMS, MF_SENSES_LIMIT_FORCE, 1, "N",    \
      "of the limit, >= 0")                                                                        \
    X(FRAME_POSITION, "framepos", "position", FRAME, TERMS, MF_SENSES_POSE, 3, "m",                \
      "of an object, in the world or in a reference frame")                                        \
    X(FRAME_QUATERNION, "framequat", NULL, FRAME, TERMS, MF_SENSES_POSE | MF_SENSES_DIRECTION, 4,  \
      "1", "rotation of an object")                                                                \
    X(FRAME_X_AXIS, "framexaxis", NULL, FRAME, TERMS, MF_SENSES_POSE | MF_SENSES_DIRECTION, 3,     \
      "1", "x axis of an object")                                                                  \
    X(FRAME_Y_AXIS, "frameyaxis", NULL, FRAME, TERMS, MF_SENSES_POSE | MF_SENSES_DIRECTION, 3,     \
      "1", "y axis of an object")                                                                  \
    X(FRAME_Z_AXIS, "framezaxis", NULL, FRAME, TERMS, MF_SENSES_POSE | MF_SENSES_DIRECTION, 3,     \
      "1", "z axis of an object")                                                                  \
    X(FRAME_VELOCITY, "framelinvel", NULL, FRAME, TERMS, MF_SENSES_POSE, 3, "m/s", "of an object") \
    X(FRAME_RATE, "frameangvel", NULL, FRAME, TERMS, MF_SENSES_POSE, 3, "rad/s", "of an object")   \
    X(FRAME_ACCELERATION, "framelinacc", NULL, FRAME, TERMS,                                       \
      MF_SENSES_POSE | MF_SENSES_ACCELERATION, 3, "m/s^2", "of an object, with gravity")           \
    X(FRAME_ANGULAR_ACCELERATION, "frameangacc", NULL, FRAME, TERMS,                               \
      MF_SENSES_POSE | MF_SENSES_ACCELERATION, 3, "rad/s^2", "of an object")                       \
    X(SUBTREE_CENTER, "subtreecom", NULL, BODY, LUMPS, 0, 3, "m",                                  \
      "center of mass of a body and what it carries")                                              \
    X(SUBTREE_VELOCITY, "subtreelinvel", NULL, BODY, LUMPS, 0, 3, "m/s", "of that center")         \
    X(SUBTREE_MOMENTUM, "subtreeangmom", NULL, BODY, LUMPS, 0, 3, "kg m^2/s",                      \
      "angular momentum about that center")                                                        \
    X(POTENTIAL_ENERGY, "e_potential", NULL, NOTHING, TERMS, MF_SENSES_ENERGY, 1, "J",             \
      "of masses and springs")                                                                     \
    X(KINETIC_ENERGY, "e_kinetic", NULL, NOTHING, TERMS, MF_SENSES_ENERGY, 1, "J",                 \
      "of masses and rotors")                                                                      \
    X(CLOCK, "clock", NULL, NOTHING, TERMS, 0, 1, "s", "time of the state")                        \
    X(USER, "user", NULL, NOTHING, TERMS, 0, 0, "1", "written by programs")                        \
    X(CONTACT_FORCE, "contact force", "contact_force", LINK, CONTACTS, 0, 1, "N",                  \
      "loads of all contacts of the link with the ground")                                         \
    X(FIELD, "field", "field", FIELD, TERMS, 0, 0, "1",                                            \
      "values of any field, from component `first` on")                                            \
    X(CONTACTS, "contact pair", NULL, CONTACTS, TERMS, 0, 0, "1", "contacts between two objects")

typedef struct mf_SensorKind {
    const char *word; // in messages and tables
    const char *mjcf; // its element; NULL: none
    const char *urdf; // its type there; NULL: none
    mf_SensorMount mount;
    mf_SensorItems items;
    uint32_t flags;   // [1] sum of MF_SENSES_*
    uint32_t count;   // [1] values
    const char *unit; // of the values
    const char *description;
} mf_SensorKind;

// NULL: no mf_SensorType.
const mf_SensorKind *mf_sensor_kind(mf_SensorType type);

// [1] how many sensors of a type a model has.
uint32_t mf_sensors_of_type(const mf_Model *model, mf_SensorType type);
