// Mayfly: messages between robots that are docked, or that see each other by infrared. A message
// goes to a dock, not to a robot: whoever is docked there one step later gets it. Robots need no
// names, so one program runs on all of them. docs/how_to/modules.md shows how to use them.
#pragma once

#include <mayfly/docks.h>

#define MF_MESSAGE_BYTES 64u    // [byte] most content of a message
#define MF_MESSAGE_CAPACITY 16u // [1] most messages in a box
#define MF_MESSAGE_DELAY 10000u // [1] most steps of a delay

// Fields of groups whose models have docks, per dock. A slot has `w` = 2 + size / 4 values: when it
// is due (low half of the tick), type, content. Slots of a dock follow each other, oldest first.
//     message.out        w per slot  the outbox: messages that the dock sends; their first value is
//                                    ignored. An input
//     message.out_count  1           [1] messages in it; an input. The next step empties it
//     message.in         w per slot  the box: messages that have arrived and, behind them, those
//                                    that are under way
//     message.in_count   1           [1] messages in it
//     message.ready      1           [1] of these, that have arrived: may be read
//     message.tally      5           [1] sent, of these without anybody to receive them; received,
//                                    lost by noise, overflowed: no space in this box
// They are all of the state of messages.

typedef struct mf_MessagesConfig {
    uint32_t struct_size; // [byte] set by mf_messages_config()
    uint32_t size;        // [byte] of content, a multiple of 4, 4 .. 64; default 16
    uint32_t capacity;    // [1] messages in a box and in an outbox, 1 .. 16; default 4
    double loss;          // [1] probability that a message is lost, 0 .. 1; default 0
    uint32_t delay;       // [1] steps that each message takes in addition to one; default 0
    uint32_t jitter;      // [1] further steps, uniformly 0 .. jitter; default 0
    double range;         // [m] infrared: docks that are not engaged also send to all that are
                          // nearer than this, of other robots, and not engaged either; default 0:
                          // none. Bodies between them do not shade
    double angle;         // [rad] infrared: largest angle between a dock's x axis and the line to
                          // the other one, for both; 0 .. pi; default 0.5
} mf_MessagesConfig;
// The defaults of mf_MessagesConfig: every configuration starts from them.
MF_API mf_MessagesConfig mf_messages_config(void);

// The messages of a world; owned by the world.
typedef struct mf_Messages mf_Messages;

// Lets the docks of a world send messages: adds their fields, and a world system that, before the
// sensors and controllers of each step, moves the messages that were sent in the last step to the
// boxes of their receivers. One that is sent in step t may be read from step t + 1 + delay on,
// until it is read. A full box, in which messages under way count, drops it. A reset empties the
// robot's boxes. Random numbers depend on seed, receiving dock and step only. Call it after
// mf_world_docks_add. `config` may be NULL. MF_BAD_ARGUMENT: a setting, a second call, or a world
// without docks. MF_NO_MEMORY.
MF_API mf_Status mf_messages_add(mf_World *world, const mf_MessagesConfig *config,
                                 mf_Messages **out, mf_Error *error);
MF_API mf_Messages *mf_messages_of(const mf_World *world); // NULL: none were added

typedef struct mf_Message {
    uint32_t dock; // [1] that received it; of the model
    uint32_t type; // [1] any number: the user's
    uint32_t size; // [byte] of content; a received one has that of the configuration
    union {        // what is not used is 0
        uint32_t words[MF_MESSAGE_BYTES / 4]; // [1]
        float floats[MF_MESSAGE_BYTES / 4];   // [1]
        uint8_t bytes[MF_MESSAGE_BYTES];      // [1]
    } content;
} mf_Message;

// Puts a message into the outbox of a dock. May be called by controllers for their own robot, and
// between steps. MF_BAD_ARGUMENT: no messages, no such robot or dock, or too much content.
// MF_LIMIT: the outbox is full, which counts as one that overflowed.
MF_API mf_Status mf_message_send(mf_Group *group, uint32_t instance, uint32_t dock,
                                 const mf_Message *message, mf_Error *error);
// Takes the oldest message that has arrived at a dock out of its box; `dock` MF_NONE: at the first
// dock that has one. False: there is none. May be called as mf_message_send.
MF_API bool mf_message_receive(mf_Group *group, uint32_t instance, uint32_t dock, mf_Message *out);

typedef struct mf_MessagesStatistics { // sums of message.tally
    uint64_t sent;                     // [1]
    uint64_t unheard;                  // [1] of these: nobody was docked or in range
    uint64_t delivered;                // [1] to a box; with infrared one may go to several
    uint64_t lost;                     // [1] by noise
    uint64_t overflowed;               // [1] no space in an outbox or a box
    uint64_t crowded; // [1] infrared receivers beyond the 16 nearest of a dock and step; no state
} mf_MessagesStatistics;
MF_API mf_MessagesStatistics mf_messages_statistics(const mf_Messages *messages);
