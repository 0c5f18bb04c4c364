// The server of a world: connections over TCP or a Unix socket take part in a simulation by the
// protocol of docs/reference/protocol.md.
//
// One thread steps the world, reads and writes the sockets; nothing ever waits for a socket. What
// a client sends is checked before it changes anything; a client that violates the protocol is
// told why and disconnected.
#pragma once

#include <mayfly/scene.h>

typedef struct mf_Server mf_Server;

typedef struct mf_ServerConfig {
    uint32_t struct_size; // [byte] set by mf_server_config()
    const char *address;  // numeric IPv4 or IPv6 address to bind; default "127.0.0.1"
    uint16_t port;        // of TCP; 0: a free one; default MF_PROTOCOL_PORT
    const char *path;     // of a Unix socket instead of TCP; default NULL
    const char *token;    // that clients must send; NULL: none
    uint32_t connections; // [1] most at once, 1 .. 4096; default 64
    double message_rate;  // [1/s] messages that are read of a connection; 0: no limit; default 0
    double byte_rate;     // [byte/s] likewise
    size_t shared_limit;  // [byte] most shared memory of a connection over a Unix socket; 0: none;
                          // default 64 MiB
    bool led; // the world moves only by mf_server_step, while a connection is in lock-step
    // Of a world that others move, too: called instead of mf_scene_step, with its results; it may
    // restore the world to another moment. Its error, or a script's, ends mf_server_step and
    // mf_server_run, unless LOAD has made that world. Default NULL.
    mf_Status (*move)(void *mover, uint64_t steps, uint64_t *done, mf_Error *error);
    void *mover;
    bool scripts_first; // scripts of the scene are called before the turns of their step
    // Called each `sample_steps` steps; its error ends mf_server_run. Default NULL.
    mf_Status (*sample)(void *sampled, mf_Error *error);
    void *sampled;
    uint64_t sample_steps;
    // One that takes part beside the connections, such as a page: called between steps, at least
    // every 20 ms. Default NULL.
    void (*visit)(void *visitor);
    void *visitor;
    bool paused;      // default false
    double speed;     // [1] simulated seconds per second; 0: as fast as possible; default 1
    double spin;      // [s] for which turns are waited for without a sleep; default 1e-5
    mf_Time duration; // [ns] of simulated time after which it ends; 0: no end; default 0
    // Folder below which LOAD and SPAWN find files; NULL: they are refused. Default NULL.
    const char *files;
    // Called with a world that LOAD (`loaded`) or SPAWN has made, before it takes the place of the
    // present one, which stays after an error. Default NULL.
    mf_Status (*accept)(void *user, mf_Scene *scene, bool loaded, mf_Error *error);
    // Called when a world that LOAD has made is stopped by a script ("" without a reason), or
    // fails: it rests, and another one can be loaded. Default NULL.
    void (*ended)(void *user, const char *reason);
    bool (*stop)(void *user); // asked at least every 20 ms; true ends mf_server_run; default NULL
    void *user;               // of accept, ended and stop
} mf_ServerConfig;
mf_ServerConfig mf_server_config(void);

// Opens the socket. The scene is borrowed, and no one else may step it while the server exists; a
// LOAD or SPAWN destroys its world (mf_scene_destroy, which may then be called again).
// MF_IO: the address cannot be bound.
mf_Status mf_server_create(mf_Context *context, mf_Scene *scene, const mf_ServerConfig *config,
                           mf_Server **out, mf_Error *error);
// Says goodbye to all connections and closes them.
void mf_server_destroy(mf_Server *server);

// The scene that is served: as given to mf_server_create, until LOAD or SPAWN replace it.
mf_Scene *mf_server_scene(const mf_Server *server);

// "127.0.0.1:8766", "[::1]:8766" or the path of the Unix socket.
const char *mf_server_address(const mf_Server *server);

// Serves until the configuration's stop() or duration says so. MF_IO: poll failed.
mf_Status mf_server_run(mf_Server *server, mf_Error *error);

// ---- for a visitor: what messages of clients do, with their events ------------------------------

typedef struct mf_ServerPace {
    bool paused;
    double speed;  // [1] simulated seconds per second that are requested; 0: as fast as possible
    double factor; // [1] that it does
} mf_ServerPace;
mf_ServerPace mf_server_pace(const mf_Server *server);

void mf_server_pause(mf_Server *server, bool paused);
// MF_BAD_ARGUMENT: the world is not paused. MF_STOPPED: a loaded world has ended. MF_BUSY: steps
// that were asked for are not done yet. MF_LIMIT: not 1 .. 1e9 steps.
mf_Status mf_server_ask_steps(mf_Server *server, uint64_t steps, mf_Error *error);
// MF_BAD_ARGUMENT: not 0 .. 1e6.
mf_Status mf_server_set_speed(mf_Server *server, double speed, mf_Error *error);
void mf_server_reset(mf_Server *server); // all robots
mf_Status mf_server_restore(mf_Server *server, const void *image, size_t size, mf_Error *error);
// Robots `first` .. `first + count - 1` of a group of the world go on with another motion.
mf_Status mf_server_switch(mf_Server *server, uint32_t group, uint32_t first, uint32_t count,
                           mf_Motion motion, mf_Error *error);

// ---- a server that is led: mf_world_step with a connection that has the turns ------------------

// Each of these three also ends when the configuration's stop() says so. MF_IO: poll failed.
// Serves until a connection is in lock-step or has stopped the run; it gets no turn before
// mf_server_step.
mf_Status mf_server_await(mf_Server *server, mf_Error *error);
// `done` [1] steps, fewer than `steps` if a connection stopped the run or none is in lock-step.
mf_Status mf_server_step(mf_Server *server, uint64_t steps, uint64_t *done, mf_Error *error);
// Tells the event END, and serves until all connections are gone; the world does not move.
mf_Status mf_server_end(mf_Server *server, mf_Error *error);
// Why a connection stopped the run, "" without a reason; NULL: none did.
const char *mf_server_stopped(const mf_Server *server);
// Whether a connection is in lock-step.
bool mf_server_is_led(const mf_Server *server);

typedef struct mf_ServerStatistics {
    uint64_t connections;   // [1] welcomed so far
    uint64_t refused;       // [1] ended for a violation of the protocol, a token or a limit
    uint64_t states, lost;  // [1] sent; dropped because the reader was slow
    uint64_t writes, late;  // [1] commands; those after the tick that they were meant for
    uint64_t turns, missed; // [1] of lock-step connections; not answered in time
    uint64_t paused;        // [1] times that a connection was not read, over its rate
    uint64_t shared;        // [byte] of shared memory at present
    uint64_t unshared;      // [1] requests for shared memory that were refused
} mf_ServerStatistics;
mf_ServerStatistics mf_server_statistics(const mf_Server *server);
