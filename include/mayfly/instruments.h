// Mayfly: computation of the sensors of a model (docs/reference/sensors.md).
#ifndef MAYFLY_INSTRUMENTS_H
#define MAYFLY_INSTRUMENTS_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mf_InstrumentsConfig {
    uint32_t struct_size; // [byte] set by mf_instruments_config()
    mf_Rate rate;         // [1/s] of sensors without their own rate; default: every step
    bool noise;           // values get noise and bias of their sensors; default true
    bool lenient;         // sensors that cannot be computed read 0 instead of causing an error;
                          // default false
} mf_InstrumentsConfig;
// The defaults of mf_InstrumentsConfig: every configuration starts from them.
MF_API mf_InstrumentsConfig mf_instruments_config(void);

// Adds the model's sensors as the field sensor.value: the values of a sensor begin at its
// `address`. They are computed at the end of steps, from the state after the step; accelerations
// are the change of velocity in that step. Each mf_Signal applies to its values. A reset measures
// the initial state, at rest. Call it after the motion. `config` may be NULL. Values of
// MF_SENSOR_USER are not changed. A robot with a fault keeps its readings. MF_UNSUPPORTED, naming
// the sensor, unless lenient: forces of limits, and force and torque sensors of bodies that can
// collide, if the motion is not `articulated` (docs/reference/sensors.md); fields that the
// group does not have. MF_LIMIT: more than 512 links or 1024 velocity values.
MF_API mf_Status mf_instruments_add(mf_Group *group, const mf_InstrumentsConfig *config,
                                    mf_Error *error);

// Range sensors (rays, range finders) see the shapes that collide of all robots of shared groups,
// not only the ground: those of other robots in their state after the step, and what files of
// shared groups fix in the world. A ray passes through its own robot; a range finder, as in MuJoCo,
// through its own body only. Meshes are seen at their triangles; planes and height fields where the
// world's ground has them. A ray that begins inside a shape ends where it leaves it. Robots with a
// fault are not seen. Sensors of isolated groups, and those of mf_sensors_add, see the ground only.
// Costs each step that measures the poses of all these robots; a reset of a robot with such
// sensors, too.
//
// Call it once, after all groups with their instruments were added and their robots placed; before
// the first step readings are measured anew. Without something to see it adds nothing. Scenes do it
// by themselves. MF_BAD_ARGUMENT: called twice. MF_LIMIT: too many systems. MF_NO_MEMORY.
MF_API mf_Status mf_ranges_add(mf_World *world, mf_Error *error);

// Notes about sensors that a lenient call left at 0, and sensors that differ from MuJoCo's: one
// sentence of at most MF_INSTRUMENTS_NOTE bytes into `text` for each index from 0 on; false after
// the last.
enum { MF_INSTRUMENTS_NOTE = 320 };
MF_API bool mf_instruments_note(const mf_Group *group, uint32_t index, char *text);

#ifdef __cplusplus
}
#endif
#endif
