// Joints that turn at a constant speed: an ATRON that drives as a car.
#include "scene/behavior/minds.h"

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    return mf_mind_drive(mind, plan, plan->settings.speed, plan->settings.speed);
}

const mf_MindKind mf_mind_spin = {
    .name = "spin", .think = think, .joints = true, .drives = true, .sensor = MF_SENSOR_CONTACTS};
