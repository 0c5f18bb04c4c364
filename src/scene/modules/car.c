// Cars of modules that drive until two of them dock, go on as one, and part again. Which module is
// a wheel, has the dock that finds the other car, or has the dock that opens is in its settings;
// when to do what it learns by messages only. The stage is a number that never falls and that all
// tell their neighbors in each tick, so the largest spreads over an assembly:
//     approach  until a `front` dock engages
//     joined    all stand for `wait` seconds; modules with a `front` dock have the clock
//     together  all drive for `wait` seconds
//     parting   all stand; after `wait` seconds the `back` dock opens
//     parted    those behind the opened dock drive away; the others never hear of it
#include "scene/modules/policies.h"

enum { STAGE, SINCE, MEMORY };
enum { APPROACH, JOINED, TOGETHER, PARTING, PARTED };

static void enter(mf_Policy *policy, double stage) {
    mf_policy_set_memory(policy, STAGE, stage);
    mf_policy_set_memory(policy, SINCE, 0.0);
}

static void listen(mf_Policy *policy) {
    mf_Message message;
    while (mf_policy_receive(policy, MF_NONE, &message))
        if (message.type == MF_POLICY_CAR &&
            message.content.words[0] > (uint32_t)mf_policy_memory(policy, STAGE))
            enter(policy, message.content.words[0]);
}

static void tell(mf_Policy *policy) {
    mf_Message message = {.type = MF_POLICY_CAR, .size = 4};
    message.content.words[0] = (uint32_t)mf_policy_memory(policy, STAGE);
    mf_policy_tell(policy, &message);
}

// What a module decides itself, by its docks.
static bool decide(mf_Policy *policy, const mf_PolicyPlan *plan) {
    const double stage = mf_policy_memory(policy, STAGE);
    const bool waited = mf_policy_memory(policy, SINCE) >= plan->settings.wait;
    const bool opens = plan->back != MF_NONE && stage == PARTING;
    if (plan->front != MF_NONE && stage == APPROACH && mf_policy_is_engaged(policy, plan->front))
        enter(policy, JOINED);
    else if (plan->front != MF_NONE && (stage == JOINED || stage == TOGETHER) && waited)
        enter(policy, stage + 1.0);
    else if (opens && !mf_policy_is_engaged(policy, plan->back))
        enter(policy, PARTED);
    else if (opens && waited)
        return mf_policy_act(policy, MF_POLICY_DOCKS, plan->back, 0.0);
    return true;
}

static bool think(mf_Policy *policy, void *user) {
    const mf_PolicyPlan *plan = user;
    const mf_PolicyBehavior *settings = &plan->settings;
    const double speeds[] = {[APPROACH] = settings->speed,
                             [JOINED] = 0.0,
                             [TOGETHER] = settings->together,
                             [PARTING] = 0.0,
                             [PARTED] = settings->apart};
    mf_policy_set_memory(policy, SINCE, mf_policy_memory(policy, SINCE) + mf_policy_period(policy));
    listen(policy);
    if (!decide(policy, plan))
        return false;
    tell(policy);
    const double speed = speeds[(uint32_t)mf_policy_memory(policy, STAGE)];
    return mf_policy_drive(policy, plan, speed, speed);
}

const mf_PolicyKind mf_policy_car = {.name = "car",
                                     .think = think,
                                     .memory = MEMORY,
                                     .words = 1,
                                     .joints = true,
                                     .drives = true,
                                     .parts = true,
                                     .some_ends = true,
                                     .sensor = MF_SENSOR_CONTACTS};
