// Mayfly: a client of `mayfly serve`. src/client/ compiles alone, with mayfly/base.h, world.h,
// draw.h and protocol.h, and links nothing of Mayfly: the library mayfly-client, or the files
// themselves. docs/reference/protocol.md explains lock-step, turns and what a slow reader loses.
//
// Calls that ask for something wait for the answer, at most MF_CLIENT_PATIENCE; states, turns and
// events that come meanwhile are kept for mf_client_receive. A client belongs to one thread.
#pragma once

#include <mayfly/base.h>
#include <mayfly/draw.h>
#include <mayfly/protocol.h>
#include <mayfly/world.h>

enum { MF_CLIENT_PATIENCE = 60 }; // [s]
enum { MF_CLIENT_SHARE = 16384 }; // [byte]

typedef struct mf_Client mf_Client;

// Connects to "127.0.0.1:8766", "[::1]:8766", "host:port", or, with a slash in it, to the Unix
// socket of that path; `token` NULL: none. Reads the list of fields. Free with mf_client_close.
// MF_IO: nobody listens there. MF_BAD_ARGUMENT: the server refused it, in its words.
MF_API mf_Status mf_client_connect(const char *address, const char *token, mf_Client **out,
                                   mf_Error *error);
MF_API void mf_client_close(mf_Client *client); // NULL is allowed

// For how long messages are waited for at most without a sleep, 0 .. 1 s, by default 200 us: waking
// up takes longer than a step of one robot. Where most of these waits are in vain, they end after
// 10 us, until a later one is not.
MF_API mf_Status mf_client_spin(mf_Client *client, double seconds, mf_Error *error);

// Values of states and writes of at least `least` bytes [byte] travel in shared memory where the
// server is at a Unix socket and grants it; SIZE_MAX: none do. Default MF_CLIENT_SHARE, from where
// on it was measured to win. Acts on later subscriptions and writes. The bits are the same.
MF_API mf_Status mf_client_share(mf_Client *client, size_t least, mf_Error *error);

typedef struct mf_ClientShared {
    size_t bytes;            // [byte] of shared memory at present
    uint64_t states, writes; // [1] that came and went through it
    const char *refused;     // why the server granted none, until the next call; NULL: it did
} mf_ClientShared;
MF_API mf_ClientShared mf_client_shared(const mf_Client *client);

// ---- what the world has ------------------------------------------------------------------------

// A field of a group; the strings belong to the client.
typedef struct mf_ClientField {
    const char *group, *name, *unit, *frame, *description;
    uint32_t group_number; // [1]
    uint32_t instances;    // [1] of the group
    mf_FieldType type;     // never MF_REAL
    mf_FieldShape shape;
    uint32_t elements, width; // [1] values of an instance: elements * width
    uint32_t flags;           // [1] MF_FIELD_*, MF_FIELD_WRITABLE
} mf_ClientField;

MF_API mf_Time mf_client_step_time(const mf_Client *client); // [ns] physics step of the world
MF_API const char *mf_client_title(const mf_Client *client); // of the scene; "" if it has none
MF_API uint32_t mf_client_field_count(const mf_Client *client);
MF_API const mf_ClientField *mf_client_field(const mf_Client *client, uint32_t field);
// The number of a field; UINT32_MAX when absent. `group` NULL: the first group that has it.
MF_API uint32_t mf_client_find(const mf_Client *client, const char *group, const char *name);

// The model of a group's robot as JSON, with the names of its links, joints, sensors and cameras
// in the order of the elements of fields (docs/reference/model_fields.md). The text has `size`
// bytes, is not ended by a zero, and is the client's, valid until its next call. MF_NOT_FOUND:
// there is no such group.
MF_API mf_Status mf_client_model(mf_Client *client, uint32_t group, const char **text, size_t *size,
                                 mf_Error *error);

// ---- states and commands -----------------------------------------------------------------------

// Instances of a field; count MF_PROTOCOL_ALL: all from `first` on.
typedef struct mf_ClientEntry {
    uint32_t field;        // [1] of the listing
    uint32_t first, count; // [1] instances
} mf_ClientEntry;

// Subscribes to fields under a number of 0 .. MF_PROTOCOL_SUBSCRIPTIONS - 1, instead of what had
// it before; a state comes at once and then at each multiple of `period` [ns]; 0: at every step.
MF_API mf_Status mf_client_subscribe(mf_Client *client, uint32_t subscription, mf_Time period,
                                     const mf_ClientEntry *entries, uint32_t count,
                                     mf_Error *error);
MF_API mf_Status mf_client_unsubscribe(mf_Client *client, uint32_t subscription, mf_Error *error);

// Writes input fields: values[i] has the values of entry i, [instance][component], in the field's
// type. `tick`: of the state that it answers, or MF_PROTOCOL_ANY_TICK. `go`: also ends the turn of
// that tick. Does not wait; an error of the server comes by mf_client_receive. count may be 0.
MF_API mf_Status mf_client_write(mf_Client *client, uint64_t tick, const mf_ClientEntry *entries,
                                 const void *const *values, uint32_t count, bool go,
                                 mf_Error *error);

// Lock-step: the world gives this connection the turn now, and at each multiple of `period` [ns]
// (0: at every step), and waits for mf_client_write with `go`, at most `limit` [ns], 1 ms .. 1 h.
MF_API mf_Status mf_client_lock_step(mf_Client *client, bool on, mf_Time period, mf_Time limit,
                                     mf_Error *error);

// Something that came.
typedef struct mf_ClientNews {
    uint32_t kind;         // [1] MF_ANSWER_STATE, _TURN, _EVENT, _CHANGED, _BYE
    uint64_t tick;         // [1] of STATE, TURN, EVENT and CHANGED
    mf_Time time;          // [ns] likewise
    uint32_t subscription; // [1] of STATE
    uint32_t lost;         // [1] of STATE and EVENT: how many were dropped before it
    uint32_t event, group, instance, value; // [1] of EVENT: as in protocol.h
    uint32_t control;                       // [1] of CHANGED: its number
    double control_value;                   // [1] of CHANGED
} mf_ClientNews;

// Waits at most `seconds` (0: not at all) for the next thing: of several states of a subscription
// that have come the newest one, before the turn of their tick. MF_STOPPED: nothing came. MF_IO:
// the connection is gone. Else: an error of the server about an earlier mf_client_write.
MF_API mf_Status mf_client_receive(mf_Client *client, double seconds, mf_ClientNews *out,
                                   mf_Error *error);
// The values of entry `entry` in the newest state of a subscription, [instance][component] in the
// field's type, aligned to 8 bytes; valid until the next state of it. NULL: there is none.
MF_API const void *mf_client_values(const mf_Client *client, uint32_t subscription, uint32_t entry);

// ---- services ----------------------------------------------------------------------------------

MF_API mf_Status mf_client_pause(mf_Client *client, bool on, mf_Error *error);
// Simulates steps of a paused world, and waits until they are done.
MF_API mf_Status mf_client_run_steps(mf_Client *client, uint64_t steps, mf_Error *error);
MF_API mf_Status mf_client_set_speed(mf_Client *client, double speed, mf_Error *error);
// Instances of a group, or MF_PROTOCOL_ALL, 0, MF_PROTOCOL_ALL.
MF_API mf_Status mf_client_reset(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                                 mf_Error *error);
// Resets instances of one group and puts their bases elsewhere, at rest: for each one position [m]
// and orientation (w, x, y, z; of length 1 within 1 %) in the world frame. The ground is not taken
// into account. A later reset returns to the initial state, not to here.
MF_API mf_Status mf_client_set_poses(mf_Client *client, uint32_t group, uint32_t first,
                                     uint32_t count, const double *poses, mf_Error *error);
// The world's snapshot; the image is the client's, valid until its next call.
MF_API mf_Status mf_client_snapshot(mf_Client *client, const void **image, size_t *size,
                                    mf_Error *error);
MF_API mf_Status mf_client_restore(mf_Client *client, const void *image, size_t size,
                                   mf_Error *error);
// Switches instances of a group to a motion: a number of mf_Motion.
MF_API mf_Status mf_client_switch(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                                  uint32_t motion, mf_Error *error);
// Which events come: bit 1 << MF_EVENT_*.
MF_API mf_Status mf_client_events(mf_Client *client, uint32_t mask, mf_Error *error);

// ---- another world, and more robots ------------------------------------------------------------

// Serves another scene, or a robot, instead of the present one, from time 0 on: a file below the
// server's folder of files. Then lists its fields, as mf_client_refresh. Subscriptions of all
// connections end; everybody is told the event MF_EVENT_WORLD. After an error the old world goes
// on. MF_NOT_FOUND: no such file there. MF_UNSUPPORTED: the server keeps its world, and says why.
MF_API mf_Status mf_client_load(mf_Client *client, const char *path, mf_Error *error);
// The same with the text of a scene [size bytes]. All files that it names must be below the folder.
MF_API mf_Status mf_client_load_scene(mf_Client *client, const char *text, size_t size,
                                      mf_Error *error);

// Robots that join the world: of a robot's `file` below the server's folder of files, or like those
// of a `group`; the other one is NULL. They stand on the ground at `poses`, x and y [m] and heading
// [rad] for each of `count` robots, raised by `height` [m].
typedef struct mf_ClientSpawn {
    const char *file, *group;
    const char *name; // of their group, which no other has; NULL: chosen by the server
    uint32_t count;   // [1] 1 .. 65536
    const double (*poses)[3];
    double height; // [m]
} mf_ClientSpawn;
// Adds them as another group, behind the others; *number, which may be NULL, becomes its number.
// Then lists the fields, as mf_client_refresh. Time and the other robots are as if nothing had
// happened, as far as they do not touch the new ones; subscriptions go on; numbers of properties
// end. After an error nothing has changed.
MF_API mf_Status mf_client_spawn(mf_Client *client, const mf_ClientSpawn *spawn, uint32_t *number,
                                 mf_Error *error);

// Asks for the title, the step and the fields again: after the event MF_EVENT_WORLD. What
// mf_client_field and mf_client_title returned before is no longer valid.
MF_API mf_Status mf_client_refresh(mf_Client *client, mf_Error *error);

// ---- properties --------------------------------------------------------------------------------

// One of the properties that a path names.
typedef struct mf_ClientPropertyPart {
    uint32_t group, instance; // [1]
    uint32_t field;           // [1] of the listing; UINT32_MAX: a constant
    uint32_t count;           // [1] values
    mf_FieldType type;
    bool moves; // a motion moves the values: others follow from them
} mf_ClientPropertyPart;

// What a path or a pattern names (docs/reference/model_fields.md). Texts and parts are the
// client's, valid until the next call of mf_client_property or mf_client_about.
typedef struct mf_ClientProperty {
    const char *name, *unit; // of the last one
    const char *locked;      // why it cannot be written; NULL: it can be
    bool is_rotation;        // (w, x, y, z)
    uint32_t count;          // [1] properties
    uint32_t values;         // [1] of all of them
    const mf_ClientPropertyPart *parts;
} mf_ClientProperty;
// Gives a path or pattern a number of 0 .. MF_PROTOCOL_PROPERTIES - 1, instead of what had it
// before, for the two calls below; `out` may be NULL. Numbers end when the world is replaced or
// robots join it. MF_NOT_FOUND: nothing has that path; the message proposes another one.
MF_API mf_Status mf_client_property(mf_Client *client, uint32_t number, const char *path,
                                    mf_ClientProperty *out, mf_Error *error);
// All values under a number: at most `most` of them to `values`; *count, which may be NULL: all.
MF_API mf_Status mf_client_get(mf_Client *client, uint32_t number, double *values, uint32_t most,
                               uint32_t *count, mf_Error *error);

// Values first .. first + count - 1 of those under a number.
typedef struct mf_ClientValues {
    uint32_t number;       // [1]
    uint32_t first, count; // [1]
    const double *values;  // [1] or in the property's unit
} mf_ClientValues;
// Writes them at once. MF_BAD_ARGUMENT: a value is out of its range, or locked; those of entries
// before it have acted.
MF_API mf_Status mf_client_set(mf_Client *client, const mf_ClientValues *entries, uint32_t count,
                               mf_Error *error);

// The names of a group's gaits and docks, in the order of their numbers.
typedef struct mf_ClientGroupAbout {
    uint32_t gait_count, dock_count; // [1]
    const char *const *gaits, *const *docks;
} mf_ClientGroupAbout;
typedef struct mf_ClientAbout {
    uint64_t seed;        // [1] of the world
    uint64_t faults;      // [1] robots with a fault
    uint32_t group_count; // [1]
    const mf_ClientGroupAbout *groups;
} mf_ClientAbout;
// What the fields do not say of the world. The names are the client's, valid until the next call of
// mf_client_property or mf_client_about.
MF_API mf_Status mf_client_about(mf_Client *client, mf_ClientAbout *out, mf_Error *error);

typedef struct mf_ClientDock {
    uint32_t group, instance; // [1]
    uint32_t dock;            // [1] of its model
} mf_ClientDock;
// Joins two docks, whatever their distance, and parts the dock `first` from its partner:
// mf_docks_connect and mf_docks_disconnect.
MF_API mf_Status mf_client_dock(mf_Client *client, const mf_ClientDock *first,
                                const mf_ClientDock *second, uint32_t orientation, mf_Error *error);
MF_API mf_Status mf_client_undock(mf_Client *client, const mf_ClientDock *first, mf_Error *error);

// ---- drawings and controls ---------------------------------------------------------------------

// The robot that carries a drawing, or that a ghost is like.
typedef struct mf_ClientCarrier {
    uint32_t group, robot, link; // [1]
} mf_ClientCarrier;
// mf_draw and mf_draw_clear for the pages and recordings of the server: layers and controls are
// this connection's, and end with it. `carrier` takes the place of the group, robot and link of
// `drawing`; NULL: drawn in the world frame.
MF_API mf_Status mf_client_draw(mf_Client *client, const char *layer, const mf_Drawing *drawing,
                                const mf_ClientCarrier *carrier, mf_Error *error);
MF_API mf_Status mf_client_clear(mf_Client *client, const char *layer, mf_Error *error);
// mf_control; its changes come as MF_ANSWER_CHANGED by mf_client_receive.
MF_API mf_Status mf_client_control(mf_Client *client, uint32_t number, const mf_Control *control,
                                   mf_Error *error);

// ---- pictures ----------------------------------------------------------------------------------

// A camera of a group, or, for the group MF_PROTOCOL_ALL, of the scene's file; the name belongs to
// the client until it is asked for a picture or for cameras again.
typedef struct mf_ClientCamera {
    const char *name;
    uint32_t width, height; // [pixel]
    uint32_t kinds;         // [1] 1 << MF_PHOTO_* for what it measures
} mf_ClientCamera;
// Which cameras there are, in the order of their numbers: at most `most` of them to `out`, which
// may be NULL if `most` is 0; *count: all.
MF_API mf_Status mf_client_cameras(mf_Client *client, uint32_t group, mf_ClientCamera *out,
                                   uint32_t most, uint32_t *count, mf_Error *error);

// A picture; the pixels are the client's, valid until the next call of one of these two. Row after
// row from the top: // uint8_t red, green, blue; float depth [m]; int32_t group, robot and link
// (mf_CameraPixels).
typedef struct mf_ClientPhoto {
    uint64_t tick;          // [1] of the state that it shows
    mf_Time time;           // [ns]
    uint32_t kind;          // [1] MF_PHOTO_*
    uint32_t width, height; // [pixel]
    uint32_t size;          // [byte] of the pixels
    const void *pixels;     // aligned to 4 bytes
} mf_ClientPhoto;
// Takes a picture of the present state by camera number `camera` of a robot of a group, or of the
// scene's file (MF_PROTOCOL_ALL, instance 0), whatever its rate and delay. The world waits
// meanwhile. MF_NOT_FOUND: no such camera, or the robot's pose is not finite. MF_BAD_ARGUMENT also:
// the colors of a camera that has none.
MF_API mf_Status mf_client_photo(mf_Client *client, uint32_t group, uint32_t instance,
                                 uint32_t camera, uint32_t kind, mf_ClientPhoto *out,
                                 mf_Error *error);

// ---- statistics --------------------------------------------------------------------------------

typedef struct mf_ClientStatistics {
    uint64_t tick;                // [1] steps so far
    mf_Time time;                 // [ns] simulated
    uint64_t hash;                // [1] mf_world_hash; 0 unless it was asked for
    uint64_t states, lost;        // [1] sent to this connection; dropped because it was slow
    uint64_t writes, late;        // [1] of this connection; after the tick that they were meant for
    uint64_t turns, missed;       // [1] likewise; not answered within the limit
    uint64_t bytes_in, bytes_out; // [byte] as the server sees them
    double speed, factor;         // [1] requested, and measured over half a second
    uint32_t connections;         // [1] of all clients
    uint32_t flags;               // [1] MF_SERVER_PAUSED, _SHARES, _REFUSED
} mf_ClientStatistics;
// `hash`: also computes the hash of the world's state.
MF_API mf_Status mf_client_statistics(mf_Client *client, bool hash, mf_ClientStatistics *out,
                                      mf_Error *error);
