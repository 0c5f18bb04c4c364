// Contents of a world: schedule, fields and constants, as text and as JSON; and its cameras.
#pragma once

#include <mayfly/scene.h>

#include "app.h"

// Every system in the order of a step: phase, rate, fields it reads and writes, systems it may run
// in parallel with.
void mf_info_schedule(mf_World *world);
// Every field: values, type, unit, frame, permitted access, writers and readers; and the constants
// of the model with their values.
void mf_info_fields(mf_World *world);
// Both as one JSON object.
json_t *mf_info_world_json(mf_World *world);

// One line per camera of the file and of the models of its groups; nothing without one.
mf_Status mf_info_cameras(const mf_Scene *scene, mf_Error *error);
