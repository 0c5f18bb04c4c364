// Mayfly: numbers of the protocol of `mayfly serve`. docs/reference/protocol.md specifies the
// messages; this header contains no code, so that clients may copy it.
#pragma once

#include <stdint.h>

#define MF_PROTOCOL_MAGIC 0x594c464du // "MFLY" in the order of the bytes
#define MF_PROTOCOL_MAJOR 1u          // another one is refused
#define MF_PROTOCOL_MINOR 3u          // a higher one knows all messages of a lower one
#define MF_PROTOCOL_HEAD 8u           // [byte] size, kind and tag of a message
#define MF_PROTOCOL_PORT 8766u        // of TCP, unless another one is named

enum {
    MF_PROTOCOL_SUBSCRIPTIONS = 64, // [1] most of a connection; their numbers are 0 .. 63
    MF_PROTOCOL_ENTRIES = 1024,     // [1] most of a subscription or a write
    MF_PROTOCOL_PROPERTIES = 4096,  // [1] numbers of properties of a connection: 0 .. 4095
    MF_PROTOCOL_TOKEN = 256,        // [byte] longest token
    MF_PROTOCOL_SLOTS = 8,          // [1] most slots of a region
    MF_PROTOCOL_COUNTER = 64,       // [byte] between the counters of the slots of a region
    // As MF_DRAW_KINDS, MF_DRAW_NUMBERS, MF_DRAW_CONTROLS and MF_CONTROL_KINDS of draw.h.
    MF_PROTOCOL_DRAW_KINDS = 5,
    MF_PROTOCOL_DRAW_NUMBERS = 1 << 18, // [1] most of a layer
    MF_PROTOCOL_CONTROLS = 64,          // [1] most of a connection
    MF_PROTOCOL_CONTROL_NONE = 3        // kind that removes one
};

#define MF_PROTOCOL_ALL UINT32_MAX      // groups or instances: all
#define MF_PROTOCOL_ANY_TICK UINT64_MAX // of a write: it is never late

// All messages, in the order of their numbers. One row is one message: its kind, its names (of the
// constant, the struct and the function), for a request the answer, then the members of its head in
// the order of the wire, what follows them ("": nothing), and what else a client should know. From
// the table come MF_MESSAGE_* and MF_ANSWER_* below, the structs and checks of server and client in
// C, mayfly/_messages.py, the tables of docs/reference/protocol.md, and tests of each message. A
// new message: its row here, mf_answer_<name> in src/serve, which the linker asks for, and a run of
// test_serve_messages with MAYFLY_UPDATE=1, which writes the files made from the table.
//
//     REQUEST(kind, NAME, Name, name, ANSWER, members, tail, text)
//     ANSWER(kind, NAME, Name, members, tail, text)
//     PART(NAME, Name, members, tail, text)    an element of a tail
//     MEMBER(type, name, most, text)           u8 .. u64, i64, f64; above `most` it is refused
// clang-format off
#define MF_PROTOCOL_REQUESTS(REQUEST, MEMBER, ANY) \
    REQUEST(1, HELLO, Hello, hello, WELCOME, \
        MEMBER(u32, magic, ANY, "0x594c464d (\"MFLY\")") \
        MEMBER(u16, major, ANY, "1") MEMBER(u16, minor, ANY, "3") \
        MEMBER(u32, token_size, ANY, ""), "the token", "") \
    REQUEST(2, LIST, List, list, LISTING, , "", "") \
    REQUEST(3, SUBSCRIBE, Subscribe, subscribe, DONE, \
        MEMBER(u32, number, MF_PROTOCOL_SUBSCRIPTIONS - 1, "of the subscription") \
        MEMBER(u32, count, MF_PROTOCOL_ENTRIES, "of entries, 1 at least") \
        MEMBER(i64, period, ANY, "[ns]"), "for each entry ENTRY", "") \
    REQUEST(4, UNSUBSCRIBE, Unsubscribe, unsubscribe, DONE, \
        MEMBER(u32, number, MF_PROTOCOL_SUBSCRIPTIONS - 1, "of the subscription"), "", "") \
    REQUEST(5, WRITE, Write, write, DONE, \
        MEMBER(u64, tick, ANY, "") MEMBER(u32, count, MF_PROTOCOL_ENTRIES, "of entries") \
        MEMBER(u32, flags, MF_WRITE_GO, "(1: GO)"), \
        "for each entry WRITE_ENTRY, the values, zeros up to a multiple of 8 bytes", \
        "With tag 0 it is answered only if it fails") \
    REQUEST(6, LOCK_STEP, LockStep, lock_step, DONE, \
        MEMBER(u32, on, 1, "") MEMBER(u32, zero, 0, "") MEMBER(i64, period, ANY, "[ns]") \
        MEMBER(i64, limit, ANY, "[ns] of wall time, 1 ms .. 1 h"), "", "") \
    REQUEST(7, PAUSE, Pause, pause, DONE, MEMBER(u32, on, 1, ""), "", "") \
    REQUEST(8, STEP, Step, step, DONE, \
        MEMBER(u64, steps, ANY, "1 .. 1e9, of a paused world"), "", \
        "Answered after the steps; STATEs of the last one follow the answer") \
    REQUEST(9, RESET, Reset, reset, DONE, \
        MEMBER(u32, group, ANY, "or ALL") MEMBER(u32, first, ANY, "") \
        MEMBER(u32, count, ANY, ""), "", "") \
    REQUEST(10, SNAPSHOT, Snapshot, snapshot, IMAGE, , "", "") \
    REQUEST(11, RESTORE, Restore, restore, DONE, , "the bytes of an IMAGE of the same scene", "") \
    REQUEST(12, SWITCH, Switch, switch, DONE, \
        MEMBER(u32, group, ANY, "") MEMBER(u32, first, ANY, "") MEMBER(u32, count, ANY, "") \
        MEMBER(u32, motion, 31, ""), "", "") \
    REQUEST(13, STATISTICS, Statistics, statistics, STATISTICS, \
        MEMBER(u32, flags, MF_STATISTICS_HASH, "(1: with the hash of the state)"), "", "") \
    REQUEST(14, SPEED, Speed, speed, DONE, \
        MEMBER(f64, speed, ANY, "simulated seconds per second 0 .. 1e6; 0: as fast as possible"), \
        "", "") \
    REQUEST(15, EVENTS, Events, events, DONE, \
        MEMBER(u32, mask, (1u << MF_EVENT_KINDS) - 1, "(bit 1 << event for each that comes)"), \
        "", "") \
    REQUEST(16, PING, Ping, ping, DONE, , "", "") \
    REQUEST(17, MODEL, Model, model, MODEL, MEMBER(u32, group, ANY, ""), "", "") \
    REQUEST(18, PHOTO, Photo, photo, PHOTO, \
        MEMBER(u32, group, ANY, "or ALL") MEMBER(u32, instance, ANY, "") \
        MEMBER(u32, camera, ANY, "") MEMBER(u32, kind, MF_PHOTO_LIST, "of picture"), "", "") \
    REQUEST(19, SET_POSES, SetPoses, set_poses, DONE, \
        MEMBER(u32, group, ANY, "") MEMBER(u32, first, ANY, "") MEMBER(u32, count, ANY, "") \
        MEMBER(u32, zero, 0, ""), "for each instance POSE", \
        "Resets them and places them there, at rest, regardless of the ground") \
    REQUEST(20, LOAD, Load, load, DONE, \
        MEMBER(u32, what, MF_LOAD_SCENE, "for a file or a scene") MEMBER(u32, zero, 0, ""), \
        "text: a path below the server's folder of files, or the YAML of a scene", \
        "[Another world](#another-world-and-more-robots)") \
    REQUEST(21, SPAWN, Spawn, spawn, DONE, \
        MEMBER(u32, count, 65536, "of robots, 1 at least") MEMBER(u32, source_size, ANY, "") \
        MEMBER(u32, name_size, ANY, "") \
        MEMBER(u32, what, MF_SPAWN_GROUP, "for a file or a group") \
        MEMBER(f64, height, ANY, "[m]"), \
        "for each robot SPAWN_POSE, then the source: a path below the server's folder of files, " \
        "or the name of a group, then the name of the new group, which may be empty", \
        "[More robots](#another-world-and-more-robots)") \
    REQUEST(22, PROPERTY, Property, property, PROPERTY, \
        MEMBER(u32, number, MF_PROTOCOL_PROPERTIES - 1, ""), \
        "a path or pattern of [properties](model_fields.md#paths)", "") \
    REQUEST(23, GET, Get, get, VALUES, MEMBER(u32, number, ANY, "of a property"), "", "") \
    REQUEST(24, SET, Set, set, DONE, \
        MEMBER(u32, count, ANY, "of entries") MEMBER(u32, zero, 0, ""), \
        "for each entry SET_ENTRY, f64 values", \
        "Applies immediately; values before a refused one are applied") \
    REQUEST(25, ABOUT, About, about, ABOUT, , "", "") \
    REQUEST(26, DOCK, Dock, dock, DONE, \
        MEMBER(u32, on, 1, "(1: connect, 0: disconnect)") MEMBER(u32, group, ANY, "") \
        MEMBER(u32, instance, ANY, "") MEMBER(u32, dock, ANY, "") \
        MEMBER(u32, other_group, ANY, "") MEMBER(u32, other_instance, ANY, "") \
        MEMBER(u32, other_dock, ANY, "(unused to disconnect)") MEMBER(u32, orientation, ANY, ""), \
        "", "") \
    REQUEST(27, STOP, Stop, stop, DONE, , "text: the reason", \
        "Ends a run of `mayfly run --python`; refused by `mayfly serve`") \
    REQUEST(28, WORLD, World, world, WELCOME, , "", "After the event WORLD") \
    REQUEST(29, SHARE, Share, share, SHARED, \
        MEMBER(u32, number, ANY, "of a subscription, or ALL: for writes") MEMBER(u32, zero, 0, "") \
        MEMBER(u64, bytes, ANY, "of the values of a write, 0 for a subscription"), "", "") \
    REQUEST(30, WRITE_SHARED, WriteShared, write_shared, DONE, \
        MEMBER(u64, tick, ANY, "") MEMBER(u32, count, MF_PROTOCOL_ENTRIES, "of entries") \
        MEMBER(u32, flags, MF_WRITE_GO, "(1: GO)") MEMBER(u32, slot, ANY, "") \
        MEMBER(u32, number, ANY, ""), "for each entry WRITE_ENTRY; the values are in the slot", \
        "Answered as WRITE") \
    REQUEST(31, DRAW, Draw, draw, DONE, \
        MEMBER(u32, kind, MF_PROTOCOL_DRAW_KINDS - 1, "(0 points, 1 lines, 2 arrows, 3 text, " \
        "4 ghost)") MEMBER(u32, color, ANY, "0xrrggbbaa, or 0") \
        MEMBER(f64, size, ANY, "[m], or 0") MEMBER(u32, group, ANY, "or ALL: the world") \
        MEMBER(u32, instance, ANY, "") MEMBER(u32, link, ANY, "that carries it") \
        MEMBER(u32, count, MF_PROTOCOL_DRAW_NUMBERS, "of numbers") \
        MEMBER(u32, name_size, ANY, "") MEMBER(u32, text_size, ANY, ""), \
        "f32 numbers, the name of the layer, the text", "[Drawings](#drawings-and-controls)") \
    REQUEST(32, CLEAR, Clear, clear, DONE, , "the name of a layer; without: all layers", "") \
    REQUEST(33, CONTROL, Control, control, DONE, \
        MEMBER(u32, number, MF_PROTOCOL_CONTROLS - 1, "") \
        MEMBER(u32, kind, MF_PROTOCOL_CONTROL_NONE, "(0 slider, 1 button, 2 checkbox, 3 removes " \
        "it)") MEMBER(f64, low, ANY, "") MEMBER(f64, high, ANY, "") \
        MEMBER(f64, step, ANY, "or 0") MEMBER(f64, value, ANY, "") \
        MEMBER(u32, name_size, ANY, "") MEMBER(u32, unit_size, ANY, ""), \
        "the name, the unit", "[Controls](#drawings-and-controls)")

#define MF_PROTOCOL_ANSWERS(ANSWER, MEMBER, ANY) \
    ANSWER(128, ERROR, Error, MEMBER(u32, code, ANY, ""), "text (UTF-8, one line)", \
        "Codes: 1 bad argument, 2 bad message, 3 no memory, 4 input or output, 5 unsupported, " \
        "6 not found, 7 busy, 8 corrupt, 9 version, 10 stopped, 11 over a limit") \
    ANSWER(129, WELCOME, Welcome, \
        MEMBER(u32, magic, ANY, "") MEMBER(u16, major, ANY, "") MEMBER(u16, minor, ANY, "") \
        MEMBER(u32, number, ANY, "of the connection") \
        MEMBER(u32, longest, ANY, "accepted payload [byte]") MEMBER(i64, step, ANY, "[ns]") \
        MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]") MEMBER(u32, groups, ANY, "") \
        MEMBER(u32, fields, ANY, "") MEMBER(u32, flags, ANY, "(1: paused)") \
        MEMBER(u32, title_size, ANY, ""), "the title", "") \
    ANSWER(130, LISTING, Listing, MEMBER(u32, groups, ANY, "") MEMBER(u32, fields, ANY, ""), \
        "for each group GROUP, its name, zeros up to a multiple of 4 bytes, and for each of its " \
        "fields FIELD, its four texts, zeros up to a multiple of 4 bytes", "") \
    ANSWER(131, STATE, State, \
        MEMBER(u32, number, ANY, "of the subscription") MEMBER(u32, lost, ANY, "") \
        MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]") MEMBER(u64, zero, ANY, ""), \
        "the values of its entries, each with zeros up to a multiple of 8 bytes", "") \
    ANSWER(132, DONE, Done, MEMBER(u64, tick, ANY, "") \
        MEMBER(i64, time, ANY, "[ns] at which the request was applied"), "", "") \
    ANSWER(133, IMAGE, Image, , "the snapshot", "") \
    ANSWER(134, STATISTICS, Statistics, \
        MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]") \
        MEMBER(u64, hash, ANY, "or 0") MEMBER(u64, states, ANY, "sent") \
        MEMBER(u64, lost, ANY, "states") MEMBER(u64, writes, ANY, "") \
        MEMBER(u64, late, ANY, "writes") MEMBER(u64, turns, ANY, "") \
        MEMBER(u64, missed, ANY, "turns") MEMBER(u64, bytes_in, ANY, "received by the server") \
        MEMBER(u64, bytes_out, ANY, "sent by it") MEMBER(f64, speed, ANY, "requested") \
        MEMBER(f64, factor, ANY, "speed measured over half a second (0 before)") \
        MEMBER(u32, connections, ANY, "") \
        MEMBER(u32, flags, ANY, "(1: paused, 2: this connection has shared memory, 4: a request " \
        "for some was refused)"), "", \
        "States to bytes are those of this connection; bytes are those of the socket and of the " \
        "shared memory") \
    ANSWER(135, EVENT, Event, \
        MEMBER(u32, event, ANY, "") MEMBER(u32, group, ANY, "") MEMBER(u32, instance, ANY, "") \
        MEMBER(u32, value, ANY, "") MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]"), \
        "", "") \
    ANSWER(136, TURN, Turn, MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]"), "", "") \
    ANSWER(137, BYE, Bye, , "text", "The server ends") \
    ANSWER(138, MODEL, Model, , "the model of a group's robot, as JSON (UTF-8)", \
        "What `mayfly info --json` shows of the robot's file, with the names of its links, " \
        "joints, sensors and cameras in the order of the fields' elements; `vehicle`: the " \
        "parameters of a vehicle as in its file, else null; `servos` of the joints under " \
        "`articulated` (`gain`, `damping`, `effort`, `speed`, `backlash`; gain 0: none), else " \
        "null; `world_gravity` [m/s^2]") \
    ANSWER(139, PHOTO, Photo, \
        MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]") \
        MEMBER(u32, kind, ANY, "of picture") MEMBER(u32, width, ANY, "") \
        MEMBER(u32, height, ANY, "") MEMBER(u32, size, ANY, "[byte]"), \
        "the pixels, or for each camera CAMERA, its name, zeros up to a multiple of 4 bytes", "") \
    ANSWER(145, SHARED, Shared, \
        MEMBER(u32, number, ANY, "of the subscription or ALL") MEMBER(u32, slots, ANY, "1 .. 8") \
        MEMBER(u32, first, ANY, "[byte] offset of slot 0") \
        MEMBER(u32, stride, ANY, "[byte] of a slot") \
        MEMBER(u64, size, ANY, "[byte] in total"), "", \
        "The file descriptor is sent with its first byte") \
    ANSWER(146, STATE_SHARED, StateShared, \
        MEMBER(u32, number, ANY, "of the subscription") MEMBER(u32, lost, ANY, "") \
        MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]") MEMBER(u32, slot, ANY, "") \
        MEMBER(u32, content, ANY, "number of what is in the slot"), "", \
        "Its values are in the slot") \
    ANSWER(150, PROPERTY, Property, \
        MEMBER(u32, number, ANY, "") MEMBER(u32, count, ANY, "of properties") \
        MEMBER(u32, values, ANY, "") MEMBER(u32, flags, ANY, "(1 locked, 2 a rotation)") \
        MEMBER(u32, name_size, ANY, "") MEMBER(u32, unit_size, ANY, "") \
        MEMBER(u32, locked_size, ANY, "") MEMBER(u32, zero, ANY, ""), \
        "name, unit and why it is locked, zeros up to a multiple of 4 bytes, then for each " \
        "property PROPERTY_PART", "") \
    ANSWER(151, VALUES, Values, MEMBER(u32, number, ANY, "") MEMBER(u32, count, ANY, ""), \
        "f64 values", "") \
    ANSWER(152, ABOUT, About, \
        MEMBER(u64, seed, ANY, "of the world") MEMBER(u64, faults, ANY, "robots with a fault"), \
        "for each group GROUP_NAMES, and for each of these NAME, the name, zeros up to a " \
        "multiple of 4 bytes", "") \
    ANSWER(153, CHANGED, Changed, \
        MEMBER(u32, number, ANY, "of a control of this connection") MEMBER(u32, zero, ANY, "") \
        MEMBER(f64, value, ANY, "") MEMBER(u64, tick, ANY, "") MEMBER(i64, time, ANY, "[ns]"), \
        "", "A page has changed it")

#define MF_PROTOCOL_PARTS(PART, MEMBER, ANY) \
    PART(ENTRY, Entry, \
        MEMBER(u32, field, ANY, "") MEMBER(u32, first, ANY, "instance") \
        MEMBER(u32, count, ANY, "")) \
    PART(WRITE_ENTRY, WriteEntry, \
        MEMBER(u32, field, ANY, "") MEMBER(u32, first, ANY, "instance") \
        MEMBER(u32, count, ANY, "") MEMBER(u32, size, ANY, "of the values [byte]")) \
    PART(POSE, Pose, \
        MEMBER(f64, x, ANY, "[m]") MEMBER(f64, y, ANY, "[m]") MEMBER(f64, z, ANY, "[m]") \
        MEMBER(f64, qw, ANY, "") MEMBER(f64, qx, ANY, "") MEMBER(f64, qy, ANY, "") \
        MEMBER(f64, qz, ANY, "of the base's orientation in the world")) \
    PART(SPAWN_POSE, SpawnPose, \
        MEMBER(f64, x, ANY, "[m]") MEMBER(f64, y, ANY, "[m]") MEMBER(f64, heading, ANY, "[rad]")) \
    PART(SET_ENTRY, SetEntry, \
        MEMBER(u32, number, ANY, "of a property") MEMBER(u32, first, ANY, "value") \
        MEMBER(u32, count, ANY, "") MEMBER(u32, zero, ANY, "")) \
    PART(GROUP, Group, \
        MEMBER(u32, instances, ANY, "") MEMBER(u32, fields, ANY, "") \
        MEMBER(u32, motions, ANY, "(bit 1 << motion)") MEMBER(u8, name_size, ANY, "") \
        MEMBER(u8, isolated, ANY, "(1: its instances are isolated from each other)") \
        MEMBER(u16, zero, ANY, "")) \
    PART(FIELD, Field, \
        MEMBER(u32, type, ANY, "(0 f32, 1 f64, 2 i32, 3 u32)") \
        MEMBER(u32, elements, ANY, "of an instance") MEMBER(u32, width, ANY, "components of an " \
        "element") MEMBER(u8, flags, ANY, "(1 state, 2 input, 4 output, 8 bits, 16 writable: an " \
        "input that no system of the scene writes)") \
        MEMBER(u8, shape, ANY, "(0 one element, 1 per joint, 2 per point, 3 per contact, 4 per " \
        "sensor, 5 fixed)") MEMBER(u16, zero, ANY, "") \
        MEMBER(u8, name_size, ANY, "") MEMBER(u8, unit_size, ANY, "") \
        MEMBER(u8, frame_size, ANY, "") MEMBER(u8, description_size, ANY, "")) \
    PART(CAMERA, Camera, \
        MEMBER(u32, width, ANY, "") MEMBER(u32, height, ANY, "") \
        MEMBER(u32, kinds, ANY, "that it measures (bit 1 << kind)") \
        MEMBER(u32, name_size, ANY, "")) \
    PART(PROPERTY_PART, Property, \
        MEMBER(u32, group, ANY, "") MEMBER(u32, instance, ANY, "") \
        MEMBER(u32, field, ANY, "(0xffffffff: a constant)") \
        MEMBER(u32, bits, ANY, "the number of its values in bits 0 .. 23, the type of the field " \
        "in bits 24 .. 26, and bit 31 if a motion moves it")) \
    PART(GROUP_NAMES, GroupNames, MEMBER(u32, gaits, ANY, "") MEMBER(u32, docks, ANY, "")) \
    PART(NAME, Name, MEMBER(u32, size, ANY, "[byte]"))

// Events: bit 1 << number of the mask of EVENTS. EVENT(number, NAME, meaning, what the message has)
#define MF_PROTOCOL_EVENTS(EVENT) \
    EVENT(0, FAULT, "`fault.word` of an instance changed; at most 256 between two steps", \
        "group, instance, the word") \
    EVENT(1, LATE, "a connection did not answer its TURN in time", "value: its number") \
    EVENT(2, JOINED, "a connection was accepted", "value: its number") \
    EVENT(3, LEFT, "a connection ended", "value: its number") \
    EVENT(4, PAUSE, "the world was paused or continues", "value: 1 or 0") \
    EVENT(5, RESET, "instances were reset or placed", "group, first, count") \
    EVENT(6, RESTORE, "the world was restored", "") \
    EVENT(7, SWITCH, "instances switched their motion", "group, first, motion") \
    EVENT(8, MISSED, "number of changed faults that were not sent", "value: the number") \
    EVENT(9, RAISED, "bits of `fault.word` were raised", "group, instance, these bits") \
    EVENT(10, FALL, "a robot with a free base, other than a ball, tilts more than 1 rad from its " \
        "start; again after it was within 0.5 rad", "group, instance") \
    EVENT(11, DOCK, "a dock changed its state", "group, instance, dock + (state << 16)") \
    EVENT(12, SCORE, "`value.score` of an instance rose", "group, instance") \
    EVENT(13, END, "the run of `mayfly run --python` is over, or a loaded world was stopped by its script or " \
        "failed; sent to all connections. Requests are still answered", "") \
    EVENT(14, HELD, "reading of a connection is suspended, because it exceeds its rate", \
        "value: its number") \
    EVENT(15, WORLD, "robots joined, or another world is served; sent to all connections", \
        "groups, fields, 0 .. 2 as [below](#another-world-and-more-robots)")

// The kinds, by these tables; numbers that are missing are free.
#define MF_PROTOCOL_NOTHING(...)
#define MF_PROTOCOL_REQUEST(kind, NAME, ...) MF_MESSAGE_##NAME = kind,
#define MF_PROTOCOL_ANSWER(kind, NAME, ...) MF_ANSWER_##NAME = kind,
#define MF_PROTOCOL_EVENT(number, NAME, ...) MF_EVENT_##NAME = number,
enum { MF_PROTOCOL_REQUESTS(MF_PROTOCOL_REQUEST, MF_PROTOCOL_NOTHING, 0) MF_MESSAGE_KINDS };
enum { MF_PROTOCOL_ANSWERS(MF_PROTOCOL_ANSWER, MF_PROTOCOL_NOTHING, 0) MF_ANSWER_KINDS };
enum { MF_PROTOCOL_EVENTS(MF_PROTOCOL_EVENT) MF_EVENT_KINDS };
// clang-format on

// Flags of WRITE, WELCOME and STATISTICS, and of a field of LISTING beyond MF_FIELD_*.
enum { MF_WRITE_GO = 1, MF_SERVER_PAUSED = 1, MF_STATISTICS_HASH = 1, MF_FIELD_WRITABLE = 16 };

// Further flags of STATISTICS.
enum {
    MF_SERVER_SHARES = 2, // this connection has shared memory
    MF_SERVER_REFUSED = 4 // it asked for shared memory that it did not get
};

// What PHOTO asks for: the pixels of mf_CameraPixels (camera.h), or which cameras there are.
enum { MF_PHOTO_COLOR = 0, MF_PHOTO_DEPTH = 1, MF_PHOTO_SEGMENTATION = 2, MF_PHOTO_LIST = 3 };

// Values of MF_EVENT_WORLD.
enum {
    MF_WORLD_JOINED = 0, // numbers of groups and fields are as before, with new ones behind them
    MF_WORLD_RENUMBERED = 1, // likewise of groups; those of fields have changed: LIST
    MF_WORLD_LOADED = 2      // another world, at its start: WORLD, LIST and subscribe again
};

// What LOAD and SPAWN have.
enum { MF_LOAD_FILE = 0, MF_LOAD_SCENE = 1, MF_SPAWN_FILE = 0, MF_SPAWN_GROUP = 1 };
