// Internals of scene files, shared by the reader and the checks.
#pragma once

#include "body/kind.h"
#include "io/reader.h"

#include <mayfly/scene.h>

// Checks relations between keys after all have been read, and notes where entries of lists are.
mf_Status mf_scene_check(const mf_Reader *reader, mf_SceneFile *file);

// Stores the line and the column of a key, or of the whole mapping where the key is missing, for
// errors; 0 where it was typed on the command line.
void mf_scene_note_location(const mf_Reader *reader, const char *path, int32_t *line,
                            int32_t *column);
// Whether the group's robots are vertices and no links.
static inline bool mf_scene_is_vertices(const mf_SceneGroup *group) {
    return group->kind != NULL && group->kind->vertices;
}

// The number of the group of that name, NULL allowed; MF_NONE: there is none.
uint32_t mf_scene_file_group(const mf_SceneFile *file, const char *name);

// The scene of one robot from the file at `path`, whatever moves it: also a vehicle's, which
// mf_scene_file_load refuses.
mf_Status mf_scene_file_of_robot(mf_Context *context, const char *path, mf_SceneFile **out,
                                 mf_Error *error);

// Whether a file is a robot (URDF or MJCF) and not YAML, by its name and first character.
bool mf_scene_is_robot(const char *path, const char *text, size_t size);
