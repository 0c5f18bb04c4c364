// What the files of the server share: connections, their buffers and subscriptions.
#pragma once

#include "base/clock.h"
#include "client/spin.h"
#include "client/wire.h"
#include "serve/region.h"
#include "serve/server.h"

#include <mayfly/property.h>

#include <poll.h>
#include <sys/types.h>

typedef struct mf_LinkBuffer {
    uint8_t *data;
    size_t begin, end; // [byte] what is used
    size_t capacity;   // [byte]
} mf_LinkBuffer;

typedef struct mf_Subscription {
    mf_EntryPart *entries; // NULL: unused
    uint32_t entry_count;
    uint32_t lost;     // [1] states since the last one that was sent
    bool behind;       // the newest one was lost
    uint64_t missed;   // [1] its tick
    size_t size;       // [byte] of a state with its head
    mf_Region *region; // in which states travel; NULL: they go over the socket
    mf_Time period;    // [ns] 0: every step
    uint64_t next;     // [1] tick at which it is due
} mf_Subscription;

// What a path names, under a number of the client.
typedef struct mf_LinkProperties {
    mf_Property *list; // NULL: unused
    uint32_t count;    // [1]
    uint32_t values;   // [1] of all of them
} mf_LinkProperties;

// A file that goes out with a message.
typedef struct mf_LinkPass {
    int file;
    uint64_t at; // [byte] sent of the connection before that message
} mf_LinkPass;

#define MF_LINK_MESSAGE (2u << 20) // [byte] that a message of a client may have in any world
enum { MF_LINK_PASSES = 4 };       // [1] files of a connection that wait

typedef struct mf_Peer {
    int socket;      // -1: unused
    uint32_t number; // [1] of the connection, from 1; never used again
    bool welcome;    // its hello was accepted
    bool closing;    // ends when its output is sent
    bool is_shut;    // all of it is sent
    double since;    // [s] of the clock, when it connected or began to close
    mf_LinkBuffer in, out;
    mf_LinkPass passes[MF_LINK_PASSES];
    uint32_t pass_count;
    mf_Region *writes;  // of the client; NULL: none
    bool share_refused; // it asked for shared memory in vain
    mf_Subscription subscriptions[MF_PROTOCOL_SUBSCRIPTIONS];
    uint32_t used;                 // [1] numbers below which subscriptions are looked for
    uint32_t events;               // [1] mask
    struct mf_Watch *watch;        // of events that are looked for; NULL: none of them is requested
    bool renewed;                  // the world was restored: what is now there is no event
    bool stale;                    // numbers of fields have changed since its last LIST
    mf_LinkProperties *properties; // [MF_PROTOCOL_PROPERTIES]; NULL: none yet
    uint32_t property_count;       // [1] in all of them
    bool lock_step, waiting;       // the world waits for it
    mf_Time turn_period;           // [ns]
    mf_Time limit;                 // [ns] of the clock
    uint64_t turn;                 // [1] tick of the next turn, or of the one it is waited for
    double deadline;               // [s] of the clock
    bool steps;                    // it is answered when the steps that it asked for are done
    uint16_t steps_tag;
    double messages_left, bytes_left; // [1], [byte] that may be read now
    double filled, resume; // [s] of the clock, of that; when it is read again, 0: it is read
    mf_ServerStatistics seen;
    uint64_t bytes_in, bytes_out;   // [byte] over the socket
    uint64_t shared_in, shared_out; // [byte] of values through shared memory
} mf_Peer;

typedef struct mf_LinkField {
    mf_Group *group;
    mf_Field *field;
    uint32_t group_number;
    bool writable;
} mf_LinkField;

// A camera of the scene's file, or of a group's model, which every robot of the group has.
typedef struct mf_LinkEye {
    mf_Camera camera;
    uint32_t group;      // [1] MF_PROTOCOL_ALL: of the file
    uint32_t carrier;    // [1] group that carries it; MF_NONE: fixed in the world
    uint32_t robot;      // [1] that carries a camera of the file
    mf_FreeCamera *free; // NULL before the first picture
} mf_LinkEye;

typedef struct mf_LinkMade mf_LinkMade;

struct mf_Server {
    mf_Context *context;
    mf_Scene *scene;   // of the configuration, or of the newest of `made`
    mf_LinkMade *made; // NULL: nothing was loaded or spawned
    bool has_bridges;  // of the configuration's scene
    mf_World *world;
    mf_ServerConfig config;
    char address[128];
    char path[108]; // of the Unix socket to remove; ""
    int listener;
    mf_Peer *peers;
    uint32_t peer_count; // [1] below which peers are in use
    uint32_t peer_limit; // [1] slots: as many as configured, and some to refuse others in
    struct pollfd *polls;
    uint32_t numbers; // [1] given to connections so far
    mf_LinkField *fields;
    uint32_t field_count;
    size_t message_limit; // [byte] longest message of a client
    mf_LinkEye *eyes;
    uint32_t eye_count;
    uint32_t **words; // last fault words per group; NULL before someone listens
    bool paused;
    uint64_t steps_asked; // while paused
    uint64_t to_sample;   // [1] steps; UINT64_MAX: none
    uint64_t steps_left;  // [1] until it stands still; UINT64_MAX: it never does
    bool stopped;         // by a connection, a script or a failure
    bool is_loaded;       // a client has loaded this world: its end is not the server's
    char reason[256];     // why, "" without one
    double looked;        // [s] of the clock, at the sockets
    mf_Spin spin;
    double speed;
    double clock_begin, simulated_begin, step_seconds, factor, factor_clock, factor_simulated;
    mf_ServerStatistics sum;
};

// MF_BAD_FILE: a message is not what its kind says.
static inline mf_Status mf_link_fail_format(mf_Error *error, const char *expected) {
    return mf_fail(error, MF_BAD_FILE, "expected a message of %s", expected);
}
// [1] ticks of the world so far.
uint64_t mf_link_tick(const mf_Server *server);
// Restarts the pace from the present moment.
void mf_link_restart_clock(mf_Server *server);
// The first tick after `tick` at which something of that period [ns] is due.
uint64_t mf_link_next(const mf_Server *server, mf_Time period, uint64_t tick);

// Serves until is_done, or the end of the configuration.
mf_Status mf_link_until(mf_Server *server, bool (*is_done)(const mf_Server *server),
                        mf_Error *error);
// False: no step is to be done whatever the clock says.
bool mf_link_may_move(const mf_Server *server);

// MF_STOPPED: a world that a client has loaded was stopped by its script, or failed.
mf_Status mf_link_check_live(const mf_Server *server, mf_Error *error);

// Makes server->fields of its world, and the limit of messages.
mf_Status mf_link_list_fields(mf_Server *server, mf_Error *error);

// ---- peer.c ------------------------------------------------------------------------------------

// Begins a message and returns its payload of `size` bytes; NULL: the peer is closing (out of
// memory, or more than it may leave unread).
void *mf_peer_message(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag, size_t size);
// A message that is one text.
void mf_peer_text(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag, const void *text,
                  size_t size);
// Sends what the socket takes now.
void mf_peer_flush(mf_Server *server, mf_Peer *peer);
// Goes on with one that was over its rate.
void mf_peer_resume(mf_Server *server, mf_Peer *peer);
// Reads what has come, and hands over whole messages.
void mf_peer_read(mf_Server *server, mf_Peer *peer);
// Sends an error.
void mf_peer_error(mf_Server *server, mf_Peer *peer, uint32_t tag, const mf_Error *error);
// Sends it and ends the connection.
void mf_peer_refuse(mf_Server *server, mf_Peer *peer, uint32_t tag, mf_Status status,
                    const char *format, ...) MF_PRINTF(5, 6);
// [1] connections whose hello was accepted.
uint32_t mf_peer_welcome_count(const mf_Server *server);
// Closes the others whose clients have closed and that nothing more comes from.
void mf_peer_reap(mf_Server *server, const mf_Peer *except);
// Whether a new connection has a slot: one is free, or is held by one that says nothing.
bool mf_peer_has_slot(const mf_Server *server);
// Closes such a one where no slot is free. Only after mf_peer_has_slot.
void mf_peer_make_slot(mf_Server *server);
// Takes over a socket, in a slot that is free.
void mf_peer_open(mf_Server *server, int socket);
void mf_peer_close(mf_Server *server, mf_Peer *peer);
void mf_peer_drop_subscription(mf_Server *server, mf_Subscription *subscription);

// ---- listen.c ----------------------------------------------------------------------------------

mf_Status mf_link_listen(mf_Server *server, mf_Error *error);
void mf_link_accept(mf_Server *server);
// Whether a connection by TCP is of the user of this server, of root or not of this machine.
bool mf_link_is_own_user(const mf_Server *server, int socket);

// ---- answer.c ----------------------------------------------------------------------------------

// Handles one message; what is wrong with it is answered.
void mf_link_answer(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message);

// mf_answer_hello, mf_answer_list and so on, each in the file of its subject. The message has the
// size and the ranges of its row. MF_BUSY without an error: it is answered already, or later.
#define MF_ANSWER_FUNCTION(kind, NAME, Name, name, ...)                                            \
    mf_Status mf_answer_##name(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,    \
                               mf_Error *error);
MF_PROTOCOL_REQUESTS(MF_ANSWER_FUNCTION, MF_PROTOCOL_NOTHING, 0)
void mf_link_done(mf_Server *server, mf_Peer *peer, uint32_t tag);
// ---- share.c -----------------------------------------------------------------------------------

// Sends at most `size` bytes, as send() does, and the file that belongs to the first of them.
ssize_t mf_link_send(mf_Peer *peer, const uint8_t *data, size_t size);
// Ends a region; NULL in it is allowed. `reclaims`: the client has asked for its end, so that one
// who asks again and again and keeps the files, or never takes them, holds no memory. Otherwise the
// client may still look at its last state.
void mf_link_drop_region(mf_Server *server, mf_Region **region, bool reclaims);
// MF_SERVER_SHARES and MF_SERVER_REFUSED of a connection.
uint32_t mf_link_shares(const mf_Peer *peer);
// All regions and files of a connection, except its subscriptions'.
void mf_link_unshare(mf_Server *server, mf_Peer *peer);

// ---- load.c ------------------------------------------------------------------------------------

// Destroys the worlds that were loaded or spawned.
void mf_link_drop_made(mf_Server *server);

// ---- property.c --------------------------------------------------------------------------------

void mf_link_drop_properties(mf_Server *server, mf_Peer *peer);

// ---- draw.c ------------------------------------------------------------------------------------

// Sends the changes of controls to those that made these.
void mf_link_tell_controls(mf_Server *server);

// ---- photo.c -----------------------------------------------------------------------------------

// Finds all cameras, and lets the groups compute the poses of links if there are any: before the
// fields are listed, and so that pictures add nothing to snapshots.
mf_Status mf_link_find_eyes(mf_Server *server, mf_Error *error);
void mf_link_drop_eyes(mf_Server *server);

// ---- values.c ----------------------------------------------------------------------------------

// Copy values of instances between a field and a message, [instance][component].
void mf_link_gather(uint8_t *out, const mf_Field *field, uint32_t first, uint32_t count);
void mf_link_scatter(mf_Field *field, const uint8_t *in, uint32_t first, uint32_t count);

// ---- stream.c ----------------------------------------------------------------------------------

// [byte] of the values of an entry, without padding.
size_t mf_link_entry_size(const mf_Server *server, const mf_EntryPart *entry);
// Sends the states and turns that are due.
void mf_link_publish(mf_Server *server);
// Makes everything due at the present tick: after the time has jumped.
void mf_link_due_now(mf_Server *server);
void mf_link_event(mf_Server *server, uint32_t event, uint32_t group, uint32_t instance,
                   uint32_t value);
// Reports faults that changed since the last call.
void mf_link_watch_faults(mf_Server *server);
// Looks for the events of mf_Watch for those that are not in lock-step; these look at their turns.
void mf_link_watch_scene(mf_Server *server);
mf_Status mf_link_begin_watch(mf_Server *server, mf_Error *error);
