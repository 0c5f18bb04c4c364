// The kinds of sensors, in the order of mf_SensorType: word, object, number of values, and unit
// (for hinges).
#ifndef MAYFLY_SRC_MODEL_SENSOR_KIND_H
#define MAYFLY_SRC_MODEL_SENSOR_KIND_H

#include <mayfly/model.h>

typedef enum mf_SensorMount {
    MF_AT_OWN, // not in MJCF
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

// type, word (MuJoCo's where it has one), position, values (0: given by the element), unit
#define MF_SENSOR_KINDS(X)                                                                         \
    X(CONTACT, "contact", OWN, 1, "1")                                                             \
    X(RAY, "ray", OWN, 1, "m")                                                                     \
    X(JOINT, "joint", OWN, 1, "rad")                                                               \
    X(ATTITUDE, "attitude", OWN, 3, "rad")                                                         \
    X(TOUCH, "touch", SITE, 1, "N")                                                                \
    X(ACCELEROMETER, "accelerometer", SITE, 3, "m/s^2")                                            \
    X(VELOCIMETER, "velocimeter", SITE, 3, "m/s")                                                  \
    X(GYRO, "gyro", SITE, 3, "rad/s")                                                              \
    X(FORCE, "force", SITE, 3, "N")                                                                \
    X(TORQUE, "torque", SITE, 3, "N m")                                                            \
    X(MAGNETOMETER, "magnetometer", SITE, 3, "1")                                                  \
    X(RANGEFINDER, "rangefinder", SITE, 1, "m")                                                    \
    X(JOINT_POSITION, "jointpos", JOINT, 1, "rad")                                                 \
    X(JOINT_VELOCITY, "jointvel", JOINT, 1, "rad/s")                                               \
    X(TENDON_POSITION, "tendonpos", TENDON, 1, "m")                                                \
    X(TENDON_VELOCITY, "tendonvel", TENDON, 1, "m/s")                                              \
    X(ACTUATOR_POSITION, "actuatorpos", ACTUATOR, 1, "rad")                                        \
    X(ACTUATOR_VELOCITY, "actuatorvel", ACTUATOR, 1, "rad/s")                                      \
    X(ACTUATOR_FORCE, "actuatorfrc", ACTUATOR, 1, "N m")                                           \
    X(JOINT_ACTUATOR_FORCE, "jointactuatorfrc", JOINT, 1, "N m")                                   \
    X(TENDON_ACTUATOR_FORCE, "tendonactuatorfrc", TENDON, 1, "N")                                  \
    X(BALL_QUATERNION, "ballquat", BALL, 4, "1")                                                   \
    X(BALL_RATE, "ballangvel", BALL, 3, "rad/s")                                                   \
    X(JOINT_LIMIT_POSITION, "jointlimitpos", LIMITED_JOINT, 1, "rad")                              \
    X(JOINT_LIMIT_VELOCITY, "jointlimitvel", LIMITED_JOINT, 1, "rad/s")                            \
    X(JOINT_LIMIT_FORCE, "jointlimitfrc", LIMITED_JOINT, 1, "N m")                                 \
    X(TENDON_LIMIT_POSITION, "tendonlimitpos", TENDON, 1, "m")                                     \
    X(TENDON_LIMIT_VELOCITY, "tendonlimitvel", TENDON, 1, "m/s")                                   \
    X(TENDON_LIMIT_FORCE, "tendonlimitfrc", TENDON, 1, "N")                                        \
    X(FRAME_POSITION, "framepos", FRAME, 3, "m")                                                   \
    X(FRAME_QUATERNION, "framequat", FRAME, 4, "1")                                                \
    X(FRAME_X_AXIS, "framexaxis", FRAME, 3, "1")                                                   \
    X(FRAME_Y_AXIS, "frameyaxis", FRAME, 3, "1")                                                   \
    X(FRAME_Z_AXIS, "framezaxis", FRAME, 3, "1")                                                   \
    X(FRAME_VELOCITY, "framelinvel", FRAME, 3, "m/s")                                              \
    X(FRAME_RATE, "frameangvel", FRAME, 3, "rad/s")                                                \
    X(FRAME_ACCELERATION, "framelinacc", FRAME, 3, "m/s^2")                                        \
    X(FRAME_ANGULAR_ACCELERATION, "frameangacc", FRAME, 3, "rad/s^2")                              \
    X(SUBTREE_CENTER, "subtreecom", BODY, 3, "m")                                                  \
    X(SUBTREE_VELOCITY, "subtreelinvel", BODY, 3, "m/s")                                           \
    X(SUBTREE_MOMENTUM, "subtreeangmom", BODY, 3, "kg m^2/s")                                      \
    X(POTENTIAL_ENERGY, "e_potential", NOTHING, 1, "J")                                            \
    X(KINETIC_ENERGY, "e_kinetic", NOTHING, 1, "J")                                                \
    X(CLOCK, "clock", NOTHING, 1, "s")                                                             \
    X(USER, "user", NOTHING, 0, "1")                                                               \
    X(CONTACT_FORCE, "contact force", OWN, 1, "N")                                                 \
    X(FIELD, "field", OWN, 0, "1")                                                                 \
    X(CONTACTS, "contact pair", CONTACTS, 0, "1")

typedef struct mf_SensorKind {
    const char *mjcf; // its element; NULL: none
    mf_SensorMount mount;
    uint32_t count;   // [1] values
    const char *unit; // of the values
} mf_SensorKind;

// NULL: no mf_SensorType.
const mf_SensorKind *mf_sensor_kind(mf_SensorType type);

// [1] how many sensors of a type a model has.
uint32_t mf_sensors_of_type(const mf_Model *model, mf_SensorType type);

#endif
