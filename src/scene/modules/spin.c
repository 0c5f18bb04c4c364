// Joints that turn at a constant speed: an ATRON that drives as a car.
#include "scene/modules/policies.h"

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    return mf_policy_drive(policy, plan, plan->settings.speed, plan->settings.speed);
}

const mf_PolicyKind mf_policy_spin = {
    .name = "spin", .think = think, .joints = true, .drives = true, .sensor = MF_SENSOR_CONTACTS};
