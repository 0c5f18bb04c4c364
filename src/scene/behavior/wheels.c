// A robot on wheels drives on until its range sensor sees something near, then turns on the spot to
// the right, for a time and as long as it sees it.
#include "scene/behavior/minds.h"

enum { LEFT, MEMORY }; // [s] left of a turn

// A range finder that sees nothing reads -1 (MJCF); a ray its reach.
static bool sees(const mf_Mind *mind, const mf_MindPlan *plan) {
    const double reading = mf_mind_percept(mind, MF_MIND_SENSOR, plan->sensor);
    return reading >= 0.0 && reading < plan->settings.distance;
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    const double speed = plan->settings.speed;
    double left = mf_mind_recall(mind, LEFT) - mf_mind_period(mind);
    if (sees(mind, plan))
        left = plan->settings.turn;
    mf_mind_remember(mind, LEFT, left > 0.0 ? left : 0.0);
    return mf_mind_drive(mind, plan, speed, left > 0.0 ? -speed : speed);
}

const mf_MindKind mf_mind_wheels = {.name = "wheels",
                                    .think = think,
                                    .memory = MEMORY,
                                    .joints = true,
                                    .drives = true,
                                    .sides = true,
                                    .sensor = MF_SENSOR_RANGEFINDER,
                                    .other = MF_SENSOR_RAY};
