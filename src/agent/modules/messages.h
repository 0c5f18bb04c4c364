// Inside of messages: shared by their files only.
//
//   messages.c   creation, fields, sending and receiving by calls
//   route.c      the path of messages from outboxes to boxes, at the beginning of a step
//
// A slot of a field is a message: due tick, type, content (mayfly/messages.h).
#pragma once

#include "solve/modules/docks.h"

#include <mayfly/messages.h>

enum { MF_MESSAGE_DUE, MF_MESSAGE_TYPE, MF_MESSAGE_CONTENT }; // values of a slot
enum {                                                        // values of message.tally
    MF_TALLY_SENT,
    MF_TALLY_UNHEARD,
    MF_TALLY_RECEIVED,
    MF_TALLY_LOST,
    MF_TALLY_OVERFLOWED,
    MF_TALLY_COUNT
};
enum { MF_MESSAGE_NEAR = 16 }; // [1] infrared receivers of a port at most

// The messages of a group; owned by the world's.
typedef struct mf_MessageGroup {
    struct mf_MessageGroup *next;
    struct mf_Messages *messages;
    mf_DockGroup *docks;
    uint32_t *out, *out_count, *in, *in_count, *ready, *tally; // data of the fields
} mf_MessageGroup;

// A port that another one sees by infrared.
typedef struct mf_MessageNear {
    double square; // [m^2] of their distance
    uint32_t port; // [1]
} mf_MessageNear;

struct mf_Messages {
    mf_Context *context;
    mf_World *world;
    mf_WorldDocks *docks;
    mf_MessagesConfig config;
    mf_MessageGroup *groups;    // in the order of the docks' groups
    uint32_t slot;              // [1] values of a slot
    uint64_t tick;              // [1] of the step that is routed
    mf_MessageNear *near;       // MF_MESSAGE_NEAR per port; NULL: no infrared
    uint32_t *near_count;       // [1] per port
    mf_MessageGroup **group_of; // per block of robots, as docks->blocks
    uint64_t crowded;
    bool complete; // all systems were added
};

// Where value `c` of slot `slot` of a dock is, in message.out and message.in.
static inline size_t mf_message_at(const mf_MessageGroup *group, uint32_t instance, uint32_t dock,
                                   uint32_t slot, uint32_t c) {
    const mf_Messages *messages = group->messages;
    const uint32_t width = messages->slot * messages->config.capacity;
    return mf_dock_at(group->docks, instance, dock, width, slot * messages->slot + c);
}

static inline uint32_t *mf_message_tally(const mf_MessageGroup *group, uint32_t instance,
                                         uint32_t dock, uint32_t what) {
    return &group->tally[mf_dock_at(group->docks, instance, dock, MF_TALLY_COUNT, what)];
}

// The system: moves messages and counts those that have arrived.
void mf_messages_route(const mf_WorldRun *run, void *user);

const mf_MessagesConfig *mf_messages_config_of(const mf_Messages *messages);
