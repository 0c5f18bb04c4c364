// The cameras of a scene.
#ifndef MAYFLY_APP_INFO_CAMERA_H
#define MAYFLY_APP_INFO_CAMERA_H

#include <mayfly/scene.h>

// One line per camera of the file and of the models of its groups; nothing without one.
mf_Status mf_info_cameras(const mf_Scene *scene, mf_Error *error);

#endif
