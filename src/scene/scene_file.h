// The inside of scene files, shared between reading and checking them.
#ifndef MAYFLY_SRC_SCENE_SCENE_FILE_H
#define MAYFLY_SRC_SCENE_SCENE_FILE_H

#include "io/reader.h"

#include <mayfly/scene.h>

// What one key says about another, after all have been read.
mf_Status mf_scene_check(const mf_Reader *reader, mf_SceneFile *file);

// Whether a file holds a robot (URDF or MJCF) and no YAML, recognized by its name and first letter.
bool mf_scene_is_robot(const char *path, const char *text, size_t size);

#endif
