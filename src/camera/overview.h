// The camera of pictures that nobody directs. A swarm is larger than a picture in which a robot can
// be seen, so it shows those that stand most densely: of all balls that a picture holds in which
// the robot in their middle is tall enough, the one with the most robots that are as tall, and what
// touches these; of equal ones that of the first group. The page does the same (web/src/focus.ts).
#pragma once

#include <mayfly/camera.h>

typedef struct mf_Overview mf_Overview;

// Of the robots, particles and bodies of vertices which mf_free_camera_take of `eye`, made of
// `camera`, can show with this group and instance. It is directed at once, to the
// origin if nothing is there with a finite pose. The caller destroys *out before `eye`.
mf_Status mf_overview_create(const mf_FreeCamera *eye, const mf_Camera *camera, uint32_t group,
                             uint32_t instance, mf_Overview **out, mf_Error *error);
void mf_overview_destroy(mf_Overview *overview); // NULL is allowed
// Follows the robots that it shows: `part` [1] of the way to where they are now. Where they move
// apart, it goes back as much.
void mf_overview_follow(mf_Overview *overview, double part);
// Where the camera is, as for mf_free_camera_take.
void mf_overview_pose(const mf_Overview *overview, double position[3], double rotation[4]);
