// From a track to a snake: a closed chain of modules rolls (track.c) until its first module opens
// the dock at its front. That module has no neighbor at its front any more, so it is the head of a
// snake (snake.c); the others hear of it by the wave that comes from module to module, and leave
// the track when it arrives.
#include "scene/behavior/minds.h"

enum { TRACK = MF_SNAKE_MEMORY, MEMORY = TRACK + MF_TRACK_MEMORY };

static bool opens(const mf_Mind *mind, const mf_MindPlan *plan) {
    return mf_mind_robot(mind) == 0 && mf_mind_is_engaged(mind, plan->front) &&
           mf_time_to_seconds(mf_mind_time(mind)) >= plan->settings.open;
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    double angle;
    if (opens(mind, plan) && !mf_mind_act(mind, MF_MIND_DOCKS, plan->front, 0.0))
        return false;
    if (mf_mind_snake_angle(mind, plan, 0, &angle))
        return mf_mind_pose(mind, plan, angle);
    const double bent = mf_mind_percept(mind, MF_MIND_ANGLE, plan->joints[0].joint);
    return mf_mind_pose(mind, plan, mf_mind_track_bend(mind, plan, TRACK, bent));
}

const mf_MindKind mf_mind_unroll = {.name = "unroll",
                                    .think = think,
                                    .memory = MEMORY,
                                    .words = MF_SNAKE_WORDS,
                                    .joints = true,
                                    .ends = true,
                                    .parts = true,
                                    .sensor = MF_SENSOR_ACCELEROMETER,
                                    .other = MF_SENSOR_ACCELEROMETER};
