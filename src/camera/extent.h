// Where all that a camera sees is: for pictures that are to show a whole world.
#pragma once

#include <mayfly/camera.h>

// A ball around the robots, particles and bodies of vertices which mf_free_camera_take with this
// group and instance can show, without ground and scenery: `middle` [m] is the mean of their parts'
// middles, and *radius [m] reaches around all of them, but at most 3 times as far as the root of
// their mean square distance, so that few may be outside. MF_NOT_FOUND: no robot is there with a
// finite pose.
mf_Status mf_free_camera_extent(const mf_FreeCamera *camera, uint32_t group, uint32_t instance,
                                double middle[3], double *radius, mf_Error *error);
