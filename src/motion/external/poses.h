// Streams of time-stamped poses, such as those of motion capture, shown with a delay.
#pragma once

#include <mayfly/external.h>

#define MF_POSE_WIDTH 8u // [1] numbers of a pose: time, position, orientation

#define MF_POSES_MOST 256 // [1] of an instance

// What a stream shows at one time.
typedef struct mf_PoseShown {
    double age;                      // [s] of the newest pose; negative: it is to be shown later
    double position[3], attitude[4]; // [m], [1], world
    double velocity[3], rate[3];     // [m/s] world, [rad/s] body
} mf_PoseShown;

// What the poses of an instance, in any order, show at `time` [s]. Those with a number that is not
// finite, or without a rotation, are none. Beyond the newest pose it goes on for at most `hold`
// [s]. With MF_POSES_NONE only `age` of the result has a meaning.
mf_PoseState mf_poses_show(const mf_Field *poses, uint32_t instance, double time, double hold,
                           mf_PoseShown *out);
