// Messages between a master and its workers, and the buffers that they travel through.
#pragma once

#include <mayfly/base.h>

#define MF_ENGINE_MAGIC 0x4d46u             // upper half of mf_EngineHead.kind
#define MF_ENGINE_MESSAGE ((size_t)1 << 30) // [byte] most of a message
enum { MF_ENGINE_AHEAD = 2 };               // [1] works that a worker has: one waits beside it

typedef enum mf_EngineKind {
    MF_ENGINE_HELLO,    // of a worker: token, 0, version
    MF_ENGINE_REFUSED,  // text
    MF_ENGINE_SETUP,    // of the master, once
    MF_ENGINE_WORK,     // likewise
    MF_ENGINE_CANCEL,   // the work with that number is done elsewhere
    MF_ENGINE_REPLY,    // of a worker
    MF_ENGINE_ERROR,    // likewise: mf_Error
    MF_ENGINE_CANCELED, // likewise: it was not begun
    MF_ENGINE_END,      // of the master: nothing comes any more
    MF_ENGINE_KINDS
} mf_EngineKind;

// Both sides are the same version of the program; bytes are little endian.
typedef struct mf_EngineHead {
    uint32_t kind, id; // id [1]: of the work
    uint64_t size;     // [byte] of what follows
} mf_EngineHead;

typedef struct mf_EngineBuffer {
    uint8_t *data;
    size_t begin, end, capacity; // [byte]
} mf_EngineBuffer;

// Makes `size` bytes behind the end. False: out of memory.
bool mf_engine_reserve(mf_Context *context, mf_EngineBuffer *buffer, size_t size);
bool mf_engine_put(mf_Context *context, mf_EngineBuffer *buffer, mf_EngineKind kind, uint32_t id,
                   const void *data, size_t size);
// The first message of the buffer, if the whole of it is there. False: `error` of a message that is
// none, or longer than `most`.
bool mf_engine_peek(const mf_EngineBuffer *buffer, size_t most, mf_EngineHead *head,
                    const uint8_t **data, mf_Error *error);
void mf_engine_drop(mf_EngineBuffer *buffer, const mf_EngineHead *head);

// Sends or takes what goes at once. False: the connection is over.
bool mf_engine_flush(int socket, mf_EngineBuffer *buffer);
bool mf_engine_fill(mf_Context *context, int socket, mf_EngineBuffer *buffer);

// Does not sleep before a message, and finds out within 30 s that the other machine is gone.
void mf_engine_tune(int socket);
