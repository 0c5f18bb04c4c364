// Mayfly: numbers of the protocol of `mayfly serve`. docs/reference/protocol.md specifies the
// messages; this header contains no code, so that clients may copy it.
#ifndef MAYFLY_PROTOCOL_H
#define MAYFLY_PROTOCOL_H

#include <stdint.h>

#define MF_PROTOCOL_MAGIC 0x594c464du // "MFLY" in the order of the bytes
#define MF_PROTOCOL_MAJOR 1u          // another one is refused
#define MF_PROTOCOL_MINOR 2u          // a higher one knows all messages of a lower one
#define MF_PROTOCOL_HEAD 8u           // [byte] size, kind and tag of a message
#define MF_PROTOCOL_PORT 8766u        // of TCP, unless another one is named

enum {
    MF_PROTOCOL_SUBSCRIPTIONS = 64, // [1] most of a connection; their numbers are 0 .. 63
    MF_PROTOCOL_ENTRIES = 1024,     // [1] most of a subscription or a write
    MF_PROTOCOL_PROPERTIES = 4096,  // [1] numbers of properties of a connection: 0 .. 4095
    MF_PROTOCOL_TOKEN = 256,        // [byte] longest token
    MF_PROTOCOL_SLOTS = 8,          // [1] most slots of a region
    MF_PROTOCOL_COUNTER = 64        // [byte] between the counters of the slots of a region
};

#define MF_PROTOCOL_ALL UINT32_MAX      // groups or instances: all
#define MF_PROTOCOL_ANY_TICK UINT64_MAX // of a write: it is never late

// Kinds of messages of clients.
enum {
    MF_MESSAGE_HELLO = 1,
    MF_MESSAGE_LIST = 2,
    MF_MESSAGE_SUBSCRIBE = 3,
    MF_MESSAGE_UNSUBSCRIBE = 4,
    MF_MESSAGE_WRITE = 5,
    MF_MESSAGE_LOCK_STEP = 6,
    MF_MESSAGE_PAUSE = 7,
    MF_MESSAGE_STEP = 8,
    MF_MESSAGE_RESET = 9,
    MF_MESSAGE_SNAPSHOT = 10,
    MF_MESSAGE_RESTORE = 11,
    MF_MESSAGE_SWITCH = 12,
    MF_MESSAGE_STATISTICS = 13,
    MF_MESSAGE_SPEED = 14,
    MF_MESSAGE_EVENTS = 15,
    MF_MESSAGE_PING = 16,
    MF_MESSAGE_MODEL = 17,
    MF_MESSAGE_PHOTO = 18,
    MF_MESSAGE_SET_POSES = 19,
    MF_MESSAGE_LOAD = 20,
    MF_MESSAGE_SPAWN = 21,
    MF_MESSAGE_PROPERTY = 22,
    MF_MESSAGE_GET = 23,
    MF_MESSAGE_SET = 24,
    MF_MESSAGE_ABOUT = 25,
    MF_MESSAGE_DOCK = 26,
    MF_MESSAGE_STOP = 27,
    MF_MESSAGE_WORLD = 28,
    MF_MESSAGE_SHARE = 29,
    MF_MESSAGE_WRITE_SHARED = 30,
    MF_MESSAGE_KINDS = 31 // numbers that are missing are free
};

// Kinds of messages of the server.
enum {
    MF_ANSWER_ERROR = 128,
    MF_ANSWER_WELCOME = 129,
    MF_ANSWER_LISTING = 130,
    MF_ANSWER_STATE = 131,
    MF_ANSWER_DONE = 132,
    MF_ANSWER_IMAGE = 133,
    MF_ANSWER_STATISTICS = 134,
    MF_ANSWER_EVENT = 135,
    MF_ANSWER_TURN = 136,
    MF_ANSWER_BYE = 137,
    MF_ANSWER_MODEL = 138,
    MF_ANSWER_PHOTO = 139,
    MF_ANSWER_SHARED = 145,
    MF_ANSWER_STATE_SHARED = 146,
    MF_ANSWER_PROPERTY = 150,
    MF_ANSWER_VALUES = 151,
    MF_ANSWER_ABOUT = 152
};

// Flags of WRITE, WELCOME and STATISTICS, and of a field of LISTING beyond MF_FIELD_*.
enum { MF_WRITE_GO = 1, MF_SERVER_PAUSED = 1, MF_STATISTICS_HASH = 1, MF_FIELD_WRITABLE = 16 };

// Further flags of STATISTICS.
enum {
    MF_SERVER_SHARES = 2, // this connection has shared memory
    MF_SERVER_REFUSED = 4 // it asked for shared memory that it did not get
};

// What PHOTO asks for: the pixels of mf_CameraPixels (camera.h), or which cameras there are.
enum {
    MF_PHOTO_COLOR = 0,
    MF_PHOTO_DEPTH = 1,
    MF_PHOTO_SEGMENTATION = 2,
    MF_PHOTO_LIST = 3,
    MF_PHOTO_HEAD = 32 // [byte] of the answer before the pixels
};

// Events: bit 1 << kind of the mask of EVENTS.
enum {
    MF_EVENT_FAULT = 0,   // fault.word of an instance changed; value: the word
    MF_EVENT_LATE = 1,    // a connection (value) did not answer its turn in time
    MF_EVENT_JOINED = 2,  // a connection (value) was welcomed
    MF_EVENT_LEFT = 3,    // a connection (value) ended
    MF_EVENT_PAUSE = 4,   // value: 1 paused, 0 running
    MF_EVENT_RESET = 5,   // instances were reset; value: their number
    MF_EVENT_RESTORE = 6, // the world was restored from a snapshot
    MF_EVENT_SWITCH = 7,  // instances switched their motion; value: the mf_Motion
    MF_EVENT_MISSED = 8,  // more robots changed their faults than were reported; value: how many
    MF_EVENT_RAISED = 9,  // bits were raised in fault.word since the last look; value: those
    MF_EVENT_FALL = 10,   // a robot leans more than 1 rad from its start
    MF_EVENT_DOCK = 11,   // a dock changed its state; value: dock + (state << 16)
    MF_EVENT_GOAL = 12,   // the robots of a group scored in soccer
    MF_EVENT_END = 13,    // the run is over: the world does not move any more
    MF_EVENT_HELD = 14,   // a connection (value) is not read for a while: it is over its rate
    MF_EVENT_WORLD = 15,  // robots joined, or another world is served; value: MF_WORLD_*
    MF_EVENT_KINDS = 16
};

// Values of MF_EVENT_WORLD.
enum {
    MF_WORLD_JOINED = 0, // numbers of groups and fields are as before, with new ones behind them
    MF_WORLD_RENUMBERED = 1, // likewise of groups; those of fields have changed: LIST
    MF_WORLD_LOADED = 2      // another world, at its start: WORLD, LIST and subscribe again
};

// What LOAD and SPAWN have.
enum { MF_LOAD_FILE = 0, MF_LOAD_SCENE = 1, MF_SPAWN_FILE = 0, MF_SPAWN_GROUP = 1 };

#endif
