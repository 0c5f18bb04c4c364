// Where all that a camera sees is: for pictures that are to show a whole world.
#ifndef MAYFLY_CAMERA_EXTENT_H
#define MAYFLY_CAMERA_EXTENT_H

#include <mayfly/camera.h>

// A ball around the robots, particles, trusses and cloths which mf_free_camera_take with this group
// and instance can show, without ground and scenery: `middle` [m] is the mean of their parts'
// middles, *radius [m] 1.8 times the root of their mean square distance from it; few that are far
// from all others are outside. MF_NOT_FOUND: no robot is there with a finite pose.
mf_Status mf_free_camera_extent(const mf_FreeCamera *camera, uint32_t group, uint32_t instance,
                                double middle[3], double *radius, mf_Error *error);

#endif
