// What happens to the robots of a scene: faults, falls, states of parts and scores, as differences
// between two looks. For the function `event` of scripts and for clients.
#pragma once

#include <mayfly/model_fields.h>
#include <mayfly/scene.h>

typedef struct mf_Watch mf_Watch;

typedef enum mf_HappeningKind {
    MF_HAPPENING_FAULT, // bits were raised in the fault word of a robot; value: those
    MF_HAPPENING_FALL, // it leans more than 1 rad from its start (not a ball); again within 0.5 rad
    MF_HAPPENING_STATE, // a part changed its state; value: that
    MF_HAPPENING_SCORE, // the field value.score of a robot rose
    MF_HAPPENINGS
} mf_HappeningKind;

typedef struct mf_Happening {
    mf_HappeningKind kind;
    uint32_t group; // [1] of the scene
    uint32_t robot; // [1]
    uint32_t part;  // [1] of its model; 0: the robot
    uint32_t value; // [1]
} mf_Happening;

// The parts of robots whose states are watched (modules/modules.c).
typedef struct mf_WatchedParts {
    const char *name;  // of their events
    const char *field; // of their states
    mf_ItemType item;  // of a model
    const char *(*state)(uint32_t value);
} mf_WatchedParts;
extern const mf_WatchedParts mf_watched_parts;

const char *mf_happening_name(mf_HappeningKind kind); // "fault"

typedef mf_Status (*mf_WatchFn)(const mf_Happening *what, void *user, mf_Error *error);

// Falls are measured from the attitudes of this moment. The scene is borrowed. MF_NO_MEMORY.
mf_Status mf_watch_create(const mf_Scene *scene, mf_Watch **out, mf_Error *error);
void mf_watch_destroy(mf_Watch *watch); // NULL is allowed

// Calls `tell` for what is new since the last look: group by group, robot by robot, faults before
// falls before parts before scores; ends at its first error. NULL: nothing is reported.
mf_Status mf_watch_look(mf_Watch *watch, mf_WatchFn tell, void *user, mf_Error *error);
