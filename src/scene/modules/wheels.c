// A robot on wheels drives on until its range sensor sees something near, then turns in place to
// the right, for a time and as long as it sees it.
#include "scene/modules/policies.h"

enum { LEFT, MEMORY }; // [s] left of a turn

// A range finder that sees nothing reads -1 (MJCF); a ray its reach.
static bool sees(const mf_Policy *policy, const mf_PolicyPlan *plan) {
    const double reading = mf_policy_percept(policy, MF_POLICY_SENSOR, plan->sensor);
    return reading >= 0.0 && reading < plan->settings.distance;
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    const double speed = plan->settings.speed;
    double left = mf_policy_memory(policy, LEFT) - mf_policy_period(policy);
    if (sees(policy, plan))
        left = plan->settings.pivot_time;
    mf_policy_set_memory(policy, LEFT, left > 0.0 ? left : 0.0);
    return mf_policy_drive(policy, plan, speed, left > 0.0 ? -speed : speed);
}

const mf_PolicyKind mf_policy_wheels = {.name = "wheels",
                                        .think = think,
                                        .memory = MEMORY,
                                        .joints = true,
                                        .drives = true,
                                        .sides = true,
                                        .sensor = MF_SENSOR_RANGEFINDER,
                                        .other = MF_SENSOR_RAY};
