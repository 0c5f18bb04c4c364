// Modular robots in the scene builder: docks that act and are joined at the start, and messages.
#pragma once

#include "scene/builder.h"
#include "scene/scene_file.h"

#include <mayfly/docks.h>

// Whether robots of the group have docks and share the world.
bool mf_scene_is_modular(const mf_SceneBuilder *builder, uint32_t index);
// Limits the loads of the docks of the group's model, which nobody has seen yet.
mf_Status mf_scene_limit_modules(const mf_SceneBuilder *builder, uint32_t index);
// Whether a field is one of docks, which are added after all groups: initial values are then
// written again.
bool mf_scene_is_early(const mf_SceneBuilder *builder, uint32_t index, const char *path);
// Whether a field is one of docks or messages, which are there only after all groups.
bool mf_scene_is_module_field(const char *name);
// Stores where the file has the keys of a group's chain and limits.
void mf_scene_locate_modules(const mf_Reader *reader, mf_SceneGroup *group);
// Lets docks act, and joins the pairs of the file.
mf_Status mf_scene_add_modules(mf_SceneBuilder *builder);
mf_Status mf_scene_connect_docks(mf_SceneBuilder *builder, mf_WorldDocks *docks);
// Lets docks send messages, if the file says so.
mf_Status mf_scene_add_messages(mf_SceneBuilder *builder);
// Notes on targets of docked arms that are out of reach.
void mf_scene_note_arms(mf_SceneBuilder *builder);
