// What a world consists of: schedule, fields and constants, for people and for programs.
#ifndef MAYFLY_APP_INFO_WORLD_H
#define MAYFLY_APP_INFO_WORLD_H

#include "app.h"

// Every system in the order of a step: phase, rate, what it reads and writes, what it may run
// next to.
void mf_info_schedule(mf_World *world);
// Every field: values, type, unit, frame, what may be done with it, writers and readers; and the
// constants of the model with their values.
void mf_info_fields(mf_World *world);
// Both as one JSON object.
json_t *mf_info_world_json(mf_World *world);

#endif
