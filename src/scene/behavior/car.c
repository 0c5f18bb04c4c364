// Cars of modules that drive until two of them dock, go on as one, and part again. Which module is
// a wheel, has the dock that finds the other car, or has the dock that opens is in its settings;
// when to do what it learns by messages only. The stage is a number that never falls and that all
// tell their neighbors in each tick, so the largest spreads over an assembly:
//     approach  until a `front` dock engages
//     joined    all stand for `wait` seconds; modules with a `front` dock have the clock
//     together  all drive for `wait` seconds
//     parting   all stand; after `wait` seconds the `back` dock opens
//     parted    those behind the opened dock drive away; the others never hear of it
#include "scene/behavior/minds.h"

enum { STAGE, SINCE, MEMORY };
enum { APPROACH, JOINED, TOGETHER, PARTING, PARTED };

static void enter(mf_Mind *mind, double stage) {
    mf_mind_remember(mind, STAGE, stage);
    mf_mind_remember(mind, SINCE, 0.0);
}

static void listen(mf_Mind *mind) {
    mf_Message message;
    while (mf_mind_receive(mind, MF_NONE, &message))
        if (message.type == MF_MIND_CAR &&
            message.content.words[0] > (uint32_t)mf_mind_recall(mind, STAGE))
            enter(mind, message.content.words[0]);
}

static void tell(mf_Mind *mind) {
    mf_Message message = {.type = MF_MIND_CAR, .size = 4};
    message.content.words[0] = (uint32_t)mf_mind_recall(mind, STAGE);
    for (uint32_t d = 0; d < mf_mind_docks(mind); d++)
        if (mf_mind_is_engaged(mind, d))
            mf_mind_send(mind, d, &message);
}

// What a module decides itself, by its docks.
static bool decide(mf_Mind *mind, const mf_MindPlan *plan) {
    const double stage = mf_mind_recall(mind, STAGE);
    const bool waited = mf_mind_recall(mind, SINCE) >= plan->settings.wait;
    const bool opens = plan->back != MF_NONE && stage == PARTING;
    if (plan->front != MF_NONE && stage == APPROACH && mf_mind_is_engaged(mind, plan->front))
        enter(mind, JOINED);
    else if (plan->front != MF_NONE && (stage == JOINED || stage == TOGETHER) && waited)
        enter(mind, stage + 1.0);
    else if (opens && !mf_mind_is_engaged(mind, plan->back))
        enter(mind, PARTED);
    else if (opens && waited)
        return mf_mind_act(mind, MF_MIND_DOCKS, plan->back, 0.0);
    return true;
}

static bool think(mf_Mind *mind, void *user) {
    const mf_MindPlan *plan = user;
    const mf_MindBehavior *settings = &plan->settings;
    const double speeds[] = {[APPROACH] = settings->speed,
                             [JOINED] = 0.0,
                             [TOGETHER] = settings->together,
                             [PARTING] = 0.0,
                             [PARTED] = settings->apart};
    mf_mind_remember(mind, SINCE, mf_mind_recall(mind, SINCE) + mf_mind_period(mind));
    listen(mind);
    if (!decide(mind, plan))
        return false;
    tell(mind);
    const double speed = speeds[(uint32_t)mf_mind_recall(mind, STAGE)];
    return mf_mind_drive(mind, plan, speed, speed);
}

const mf_MindKind mf_mind_car = {.name = "car",
                                 .think = think,
                                 .memory = MEMORY,
                                 .words = 1,
                                 .joints = true,
                                 .drives = true,
                                 .parts = true,
                                 .some_ends = true,
                                 .sensor = MF_SENSOR_CONTACTS};
