// What people do to a running world on a page, between two of its steps.
#ifndef MAYFLY_APP_ACT_H
#define MAYFLY_APP_ACT_H

#include "app.h"
#include "view/push.h"

typedef enum mf_ActKind {
    MF_ACT_PUSH,    // a robot is taken, or what holds it moves
    MF_ACT_RELEASE, // of what is pushed
    MF_ACT_SET,     // a value of an input
    MF_ACT_LEVEL    // another motion
} mf_ActKind;

typedef struct mf_Act {
    uint64_t step; // [1] of a timeline: it is done before this step of the world
    mf_ActKind kind;
    uint32_t group, robot; // [1] of the world; of the group
    uint32_t part;         // [1] push: link; set: component; level: mf_Motion
    uint32_t field;        // [1] set: of the group
    double values[6];      // push: point [m] in the link's frame, goal [m] in the world; set: value
} mf_Act;

// NULL, or why the act is not possible now. `push`: what is pushed in the world, or
// NULL where that leaves the inputs between two steps alone.
const char *mf_act_refused(mf_World *world, const mf_Push *push, const mf_Act *act);

#endif
