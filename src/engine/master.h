// What the files of the master share.
#pragma once

#include "engine/engine.h"
#include "engine/wire.h"

#include <poll.h>
#include <sys/types.h>

typedef struct mf_EnginePeer {
    int socket;
    bool welcome; // its token and version were right
    bool closing; // it was refused: ends when its output is sent
    mf_EngineBuffer in, out;
    uint32_t works[MF_ENGINE_AHEAD]; // numbers; the first is being done
    uint32_t work_count;             // [1]
    double began;                    // [s] of the clock: the first of them, or the connection
} mf_EnginePeer;

// A program that the master has started.
typedef struct mf_EngineChild {
    pid_t pid; // 0: none
} mf_EngineChild;

typedef struct mf_EngineTask {
    uint32_t copies; // [1] workers that have it
    uint32_t losses; // [1] workers that it ended, since another work was done
    uint64_t works;  // [1] that were done then
    bool done;
} mf_EngineTask;

struct mf_Engine {
    mf_Context *context;
    mf_EngineConfig config;
    char address[80], token[128], version[64];
    int listener;
    mf_EnginePeer *peers;
    struct pollfd *polls; // as many, and the listener
    uint32_t peer_count, peer_capacity;
    // Programs.
    char **arguments; // one allocation; NULL: none are started
    char *variable;   // MAYFLY_TOKEN=...
    mf_EngineChild *children;
    uint32_t child_count;
    uint32_t early; // [1] programs in succession that ended before anybody was welcome
    int end_code;   // of the last of them
    // The call of mf_engine_do.
    mf_Work *works;
    mf_EngineTask *tasks;
    uint32_t count, left; // [1]
    uint32_t base;        // [1] number of its first work
    uint32_t waiting;     // [1] works before it are given out
    double seconds;       // [s] that works took, in all
    uint64_t taken;       // [1] of them
    mf_Status failed;     // of a work
    mf_Error reason;
    mf_EngineStatistics sum;
};

// ---- children.c ---------------------------------------------------------------------------------

// Starts programs for those that have ended. MF_IO: they end before they work.
mf_Status mf_engine_watch(mf_Engine *engine, mf_Error *error);
void mf_engine_end_children(mf_Engine *engine);

// ---- peers.c ------------------------------------------------------------------------------------

mf_Status mf_engine_listen(mf_Engine *engine, const char *address, mf_Error *error);
// Waits up to `seconds` for connections and messages, and handles them.
mf_Status mf_engine_look(mf_Engine *engine, double seconds, mf_Error *error);
// Sends what has been put; a connection that is over is closed.
void mf_engine_send(mf_Engine *engine, mf_EnginePeer *peer);
void mf_engine_close_peers(mf_Engine *engine);

// ---- master.c -----------------------------------------------------------------------------------

// What a peer says about a work.
void mf_engine_answered(mf_Engine *engine, mf_EnginePeer *peer, const mf_EngineHead *head,
                        const uint8_t *data);
// Its works are for others.
void mf_engine_lost(mf_Engine *engine, mf_EnginePeer *peer);
