// Mayfly: the sensors of a model, and user-defined sensors. A sensor maps the state of a robot to
// values; the processing of the values - the signal - is the same for all: saturation, bias and
// noise, A/D conversion, rate, delay (docs/reference/sensors.md).
#pragma once

#include <mayfly/world.h>

// ---- sensors of a model ------------------------------------------------------------------------

typedef struct mf_SensorsConfig {
    uint32_t struct_size; // [byte] set by mf_sensors_config()
    mf_Rate rate;         // [1/s] of sensors without their own rate; default: every step
    bool noise;           // values get noise and bias of their sensors; default true
    bool lenient;         // sensors that cannot be computed read 0 instead of causing an error;
                          // default false
    bool before_control;  // measured at the beginning of a step, before the controllers, instead of
                          // at the end of the step before: what programs change between steps
                          // counts at once. Range sensors then see the ground only. Default false
    bool posture;         // behind the values of the model also the position of each joint [rad],
                          // [m], and roll, pitch, yaw [rad] of the base; default false
} mf_SensorsConfig;
// The defaults of mf_SensorsConfig: every configuration starts from them.
MF_API mf_SensorsConfig mf_sensors_config(void);

// Adds the model's sensors as the field sensor.value: the values of a sensor begin at its
// `address`. They are computed at the end of steps, from the state after the step; accelerations
// are the change of velocity in that step. Each mf_Signal applies to its values. A reset measures
// the initial state, at rest. Call it after the motion. `config` may be NULL. Values of
// MF_SENSOR_USER are not changed. A robot with a fault keeps its readings. MF_UNSUPPORTED, naming
// the sensor, unless lenient: forces of limits, and force and torque sensors of bodies that can
// collide, if the motion is not `articulated` (docs/reference/sensors.md); fields that the
// group does not have. A model without sensors, without `posture`: nothing is added.
MF_API mf_Status mf_sensors_add(mf_Group *group, const mf_SensorsConfig *config, mf_Error *error);

// Range sensors (rays, range finders) see the shapes that collide of all robots of shared groups,
// not only the ground: those of other robots in their state after the step, and what files of
// shared groups fix in the world. A ray passes through its own robot; a range finder, as in MuJoCo,
// through its own body only. Meshes are seen at their triangles; planes and height fields where the
// world's ground has them. A ray that begins inside a shape ends where it leaves it. Robots with a
// fault are not seen. Sensors of isolated groups see the ground only. Costs each step that measures
// the poses of all these robots; a reset of a robot with such sensors, too.
//
// Call it once, after all groups with their sensors were added and their robots placed; before
// the first step readings are measured anew. Without something to see it adds nothing. Scenes do it
// by themselves. MF_BAD_ARGUMENT: called twice. MF_LIMIT: too many systems. MF_NO_MEMORY.
MF_API mf_Status mf_ranges_add(mf_World *world, mf_Error *error);

// Notes about sensors that a lenient call left at 0, and sensors that differ from MuJoCo's: one
// sentence of at most MF_SENSORS_NOTE bytes into `text` for each index from 0 on; false after
// the last.
enum { MF_SENSORS_NOTE = 320 };
MF_API bool mf_sensors_note(const mf_Group *group, uint32_t index, char *text);

// ---- user-defined sensors ----------------------------------------------------------------------

// Writes the true values of the run's blocks to `values`, a field of the group's precision with
// `count` values per robot. Called at the end of a step that measures, for the state which it
// leaves, at time run->time + run->step; and when a robot is reset, for its block, with a step of
// 0. Other rules as for mf_SystemFn; values that are not finite count as 0.
typedef void (*mf_SensorFn)(const mf_SystemRun *run, mf_Field *values, void *user);

typedef struct mf_SensorConfig {
    uint32_t struct_size;    // [byte] set by mf_sensor_config()
    const char *name;        // of the field with the readings, copied; no other field has it
    const char *unit;        // borrowed, as long as the group; default "1"
    const char *frame;       // likewise; default ""
    const char *description; // likewise; default ""
    uint32_t count;          // [1] values per robot, 1 .. 2^20; default 1
    mf_Signal signal;        // of all of them; default: no processing
    mf_SensorFn map;
    void *user;                                       // handed to `map`
    void (*destroy)(mf_Context *context, void *user); // may be NULL
    const char *const *reads; // names of the fields it reads, as in mf_SystemConfig; borrowed, as
                              // long as the group. NULL: may be any
} mf_SensorConfig;
// The defaults of mf_SensorConfig: every configuration starts from them.
MF_API mf_SensorConfig mf_sensor_config(void);

// Adds a sensor: readings in the field config->name, true values in the field NAME.raw. Call it
// after the motion; a reset measures the start. A robot with a fault keeps its readings. On success
// the group owns `user` (destroy is called with it); on failure the caller still does.
MF_API mf_Status mf_sensor_add(mf_Group *group, const mf_SensorConfig *config, mf_Error *error);

// Adds a sensor that reads `count` components of a field, from `component` on: the true values of
// any field, with the same processing. `signal` may be NULL. MF_NOT_FOUND: no such field.
MF_API mf_Status mf_sensor_add_field(mf_Group *group, const char *name, const char *field,
                                     uint32_t component, uint32_t count, const mf_Signal *signal,
                                     mf_Error *error);
