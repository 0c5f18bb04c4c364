// Mayfly: signals of sensors, and user-defined sensors. A sensor maps the state of a robot to
// values; the processing of the values - the signal - is the same for all: saturation, bias and
// noise, A/D conversion, rate, delay (docs/reference/sensors.md).
#ifndef MAYFLY_SENSOR_H
#define MAYFLY_SENSOR_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- signals -----------------------------------------------------------------------------------

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

#ifdef __cplusplus
}
#endif
#endif
