// Where a camera is that stands in the world or on a link.
#pragma once

#include "math/scalar.h"

#include <mayfly/camera.h>

// The camera's place in the world, as mf_free_camera_take wants it. `pose` is the field link.pose
// of the group that carries it with `robot`; NULL: the frame is in the world. False: the robot's
// pose is not finite.
static inline bool mf_camera_pose(const mf_Frame *frame, const mf_Field *pose, uint32_t robot,
                                  double position[3], double rotation[4]) {
    double at[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    for (uint32_t c = 0; pose != NULL && frame->link != MF_NONE && c < 7; c++)
        at[c] = mf_field_get(pose, robot, 7 * frame->link + c);
    if (!mf_all_finite(at, 7))
        return false;
    mf_quat_rotate(position, at + 3, frame->position);
    mf_vec3_add(position, position, at);
    mf_quat_multiply(rotation, at + 3, frame->rotation);
    return true;
}

// The group whose first robot cameras see that no robot carries: without it a scene of isolated
// robots would be empty for them. MF_NONE: no group is isolated.
static inline uint32_t mf_first_isolated(mf_World *world) {
    for (uint32_t g = 0; g < mf_world_group_count(world); g++)
        if (mf_group_config_of(mf_world_group(world, g))->isolated)
            return g;
    return MF_NONE;
}
