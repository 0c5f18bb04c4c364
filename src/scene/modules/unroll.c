// From a track to a snake: a closed chain of modules rolls (track.c) until its first module opens
// the dock at its front. That module has no neighbor at its front any more, so it is the head of a
// snake (snake.c); the others hear of it by the wave that comes from module to module, and leave
// the track when it arrives.
#include "scene/modules/policies.h"

enum { TRACK = MF_SNAKE_MEMORY, MEMORY = TRACK + MF_TRACK_MEMORY };

static bool opens(const mf_Policy *policy, const mf_PolicyPlan *plan) {
    return mf_policy_robot(policy) == 0 && mf_policy_is_engaged(policy, plan->front) &&
           mf_time_to_seconds(mf_policy_time(policy)) >= plan->settings.open;
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    double angle;
    if (opens(policy, plan) && !mf_policy_act(policy, MF_POLICY_DOCKS, plan->front, 0.0))
        return false;
    if (mf_policy_snake_angle(policy, plan, 0, &angle))
        return mf_policy_pose(policy, plan, angle);
    const double bent = mf_policy_percept(policy, MF_POLICY_ANGLE, plan->joints[0].joint);
    return mf_policy_pose(policy, plan, mf_policy_track_bend(policy, plan, TRACK, bent));
}

const mf_PolicyKind mf_policy_unroll = {.name = "unroll",
                                        .think = think,
                                        .memory = MEMORY,
                                        .words = MF_SNAKE_WORDS,
                                        .joints = true,
                                        .ends = true,
                                        .parts = true,
                                        .sensor = MF_SENSOR_ACCELEROMETER,
                                        .other = MF_SENSOR_ACCELEROMETER};
