// What people do to a running world on a page, between two of its steps, and when: acts in the
// order of their steps, with a cursor. All acts before the cursor have been done; those behind it
// are what was done before somebody stepped back, and are done again unless he acts otherwise. A
// world that starts again and does the same acts at the same steps gets the same bits.
#pragma once

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

// The field of a group with that name; MF_NONE: there is none.
uint32_t mf_act_field(const mf_Group *group, const char *name);

#define MF_TIMELINE_MOST 4194304u // [1] acts

typedef struct mf_Timeline {
    mf_Context *context;
    mf_Act *acts;
    uint32_t count, capacity; // [1]
    uint32_t next;            // [1] the cursor: so many acts have been done
    bool has_kept;            // a moment is kept:
    uint64_t kept_step;       // [1]
    mf_Act *kept;             // what had been done then
    uint32_t kept_count;      // [1]
} mf_Timeline;

mf_Timeline mf_timeline_begin(mf_Context *context);
void mf_timeline_free(mf_Timeline *timeline);

// Adds an act at the cursor, instead of all behind it. False: there is no space for it.
bool mf_timeline_add(mf_Timeline *timeline, const mf_Act *act);
// How many acts are before a step.
uint32_t mf_timeline_before(const mf_Timeline *timeline, uint64_t step);
// Keeps what has been done so far. False: no memory.
bool mf_timeline_keep(mf_Timeline *timeline, uint64_t step);
// What had been done at the kept moment is what has been done. False: nothing is kept, no memory.
bool mf_timeline_return(mf_Timeline *timeline);
