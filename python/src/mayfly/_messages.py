"""Messages of the protocol of `mayfly serve`, by the table in mayfly/protocol.h.

Written by the test serve/messages with MAYFLY_UPDATE=1.
"""

from mayfly._wire import Message

MAGIC, MAJOR, MINOR = 0x594C464D, 1, 3
SUBSCRIPTIONS, PROPERTIES, COUNTER = 64, 4096, 64
ALL, ANY_TICK = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
WRITABLE, PAUSED, SHARES = 16, 1, 2
PHOTO_LIST, WORLD_LOADED = 3, 2
EVENT_NAMES = (
    "fault",
    "late",
    "joined",
    "left",
    "pause",
    "reset",
    "restore",
    "switch",
    "missed",
    "raised",
    "fall",
    "dock",
    "score",
    "end",
    "held",
    "world",
)

# From the server.
ANSWER_ERROR = Message(128, "u32 code")
ANSWER_WELCOME = Message(
    129,
    "u32 magic u16 major u16 minor u32 number u32 longest i64 step u64 tick i64 time u32 groups "
    "u32 fields u32 flags u32 title_size",
)
ANSWER_LISTING = Message(130, "u32 groups u32 fields")
ANSWER_STATE = Message(131, "u32 number u32 lost u64 tick i64 time u64 zero")
ANSWER_DONE = Message(132, "u64 tick i64 time")
ANSWER_IMAGE = Message(133, "")
ANSWER_STATISTICS = Message(
    134,
    "u64 tick i64 time u64 hash u64 states u64 lost u64 writes u64 late u64 turns u64 missed "
    "u64 bytes_in u64 bytes_out f64 speed f64 factor u32 connections u32 flags",
)
ANSWER_EVENT = Message(135, "u32 event u32 group u32 instance u32 value u64 tick i64 time")
ANSWER_TURN = Message(136, "u64 tick i64 time")
ANSWER_BYE = Message(137, "")
ANSWER_MODEL = Message(138, "")
ANSWER_PHOTO = Message(139, "u64 tick i64 time u32 kind u32 width u32 height u32 size")
ANSWER_SHARED = Message(145, "u32 number u32 slots u32 first u32 stride u64 size")
ANSWER_STATE_SHARED = Message(146, "u32 number u32 lost u64 tick i64 time u32 slot u32 content")
ANSWER_PROPERTY = Message(
    150,
    "u32 number u32 count u32 values u32 flags u32 name_size u32 unit_size u32 locked_size u32 "
    "zero",
)
ANSWER_VALUES = Message(151, "u32 number u32 count")
ANSWER_ABOUT = Message(152, "u64 seed u64 faults")
ANSWER_CHANGED = Message(153, "u32 number u32 zero f64 value u64 tick i64 time")

# From the client.
HELLO = Message(1, "u32 magic u16 major u16 minor u32 token_size", ANSWER_WELCOME)
LIST = Message(2, "", ANSWER_LISTING)
SUBSCRIBE = Message(3, "u32 number u32 count i64 period", ANSWER_DONE)
UNSUBSCRIBE = Message(4, "u32 number", ANSWER_DONE)
WRITE = Message(5, "u64 tick u32 count u32 flags", ANSWER_DONE)
LOCK_STEP = Message(6, "u32 on u32 zero i64 period i64 limit", ANSWER_DONE)
PAUSE = Message(7, "u32 on", ANSWER_DONE)
STEP = Message(8, "u64 steps", ANSWER_DONE)
RESET = Message(9, "u32 group u32 first u32 count", ANSWER_DONE)
SNAPSHOT = Message(10, "", ANSWER_IMAGE)
RESTORE = Message(11, "", ANSWER_DONE)
SWITCH = Message(12, "u32 group u32 first u32 count u32 motion", ANSWER_DONE)
STATISTICS = Message(13, "u32 flags", ANSWER_STATISTICS)
SPEED = Message(14, "f64 speed", ANSWER_DONE)
EVENTS = Message(15, "u32 mask", ANSWER_DONE)
PING = Message(16, "", ANSWER_DONE)
MODEL = Message(17, "u32 group", ANSWER_MODEL)
PHOTO = Message(18, "u32 group u32 instance u32 camera u32 kind", ANSWER_PHOTO)
SET_POSES = Message(19, "u32 group u32 first u32 count u32 zero", ANSWER_DONE)
LOAD = Message(20, "u32 what u32 zero", ANSWER_DONE)
SPAWN = Message(21, "u32 count u32 source_size u32 name_size u32 what f64 height", ANSWER_DONE)
PROPERTY = Message(22, "u32 number", ANSWER_PROPERTY)
GET = Message(23, "u32 number", ANSWER_VALUES)
SET = Message(24, "u32 count u32 zero", ANSWER_DONE)
ABOUT = Message(25, "", ANSWER_ABOUT)
DOCK = Message(
    26,
    "u32 on u32 group u32 instance u32 dock u32 other_group u32 other_instance u32 other_dock "
    "u32 orientation",
    ANSWER_DONE,
)
STOP = Message(27, "", ANSWER_DONE)
WORLD = Message(28, "", ANSWER_WELCOME)
SHARE = Message(29, "u32 number u32 zero u64 bytes", ANSWER_SHARED)
WRITE_SHARED = Message(30, "u64 tick u32 count u32 flags u32 slot u32 number", ANSWER_DONE)
DRAW = Message(
    31,
    "u32 kind u32 color f64 size u32 group u32 instance u32 link u32 count u32 name_size u32 "
    "text_size",
    ANSWER_DONE,
)
CLEAR = Message(32, "", ANSWER_DONE)
CONTROL = Message(
    33,
    "u32 number u32 kind f64 low f64 high f64 step f64 value u32 name_size u32 unit_size",
    ANSWER_DONE,
)

# Parts of messages.
ENTRY = Message(0, "u32 field u32 first u32 count")
WRITE_ENTRY = Message(0, "u32 field u32 first u32 count u32 size")
POSE = Message(0, "f64 x f64 y f64 z f64 qw f64 qx f64 qy f64 qz")
SPAWN_POSE = Message(0, "f64 x f64 y f64 heading")
SET_ENTRY = Message(0, "u32 number u32 first u32 count u32 zero")
GROUP = Message(0, "u32 instances u32 fields u32 motions u8 name_size u8 isolated u16 zero")
FIELD = Message(
    0,
    "u32 type u32 elements u32 width u8 flags u8 shape u16 zero u8 name_size u8 unit_size u8 "
    "frame_size u8 description_size",
)
CAMERA = Message(0, "u32 width u32 height u32 kinds u32 name_size")
PROPERTY_PART = Message(0, "u32 group u32 instance u32 field u32 bits")
GROUP_NAMES = Message(0, "u32 gaits u32 docks")
NAME = Message(0, "u32 size")
