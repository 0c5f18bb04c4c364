// What the files of the client share: the connection, and messages over it.
#pragma once

#include "client/slots.h"
#include "client/spin.h"
#include "client/wire.h"

#include <mayfly/client.h>

#include <sys/types.h>

#define MF_CLIENT_EVENTS 256u // [1] kept while an answer is waited for; older ones are dropped

enum {
    MF_CLIENT_FILES = 4, // [1] that came before their messages were read
    // Tags of requests whose answers nobody waits for; other requests have lower ones.
    MF_CLIENT_TAG_SHARE_STATES = UINT16_MAX,
    MF_CLIENT_TAG_SHARE_WRITES = UINT16_MAX - 1
};

typedef struct mf_ClientState {
    uint8_t *data;         // for the values of a STATE that comes over the socket; NULL: none
    const uint8_t *values; // of the newest state: data, or a slot of the region
    uint64_t tick;         // [1] of the newest state
    mf_Time time;          // [ns]
    uint32_t *starts;      // [byte] of each entry's values in it
    uint32_t count;        // [1] entries
    size_t size;           // [byte] of a state with its head; 0: not subscribed
    bool fresh;            // not yet received by the caller
    uint32_t lost;         // [1] since the caller received one
    mf_Region region;
    bool holds; // a slot of the region, until the next state
    uint32_t slot, number;
} mf_ClientState;

struct mf_Client {
    int socket;
    mf_Time step;
    uint32_t message_limit; // [byte]
    char *title;
    mf_ClientField *fields;
    char *texts; // the strings of fields
    uint32_t field_count, group_count;
    uint8_t *in, *out;              // buffers
    uint8_t *direct;                // where what comes goes instead of `in`; NULL: nowhere else
    size_t direct_end, direct_size; // [byte] of that
    size_t in_begin, in_end, in_capacity, out_capacity;
    bool in_slot; // the values of the message read last, a STATE, are in their memory already
    double longest_spin; // [s] without a sleep
    mf_Spin spin;
    uint16_t tag; // of the last request
    mf_ClientState states[MF_PROTOCOL_SUBSCRIPTIONS];
    uint8_t *photo; // the last picture, or the names of cameras
    size_t photo_size;
    void *kept; // of the last property, or what is known about the world
    bool turn;
    uint64_t turn_tick;
    mf_Time turn_time;
    mf_ClientNews events[MF_CLIENT_EVENTS];
    uint32_t event_first, event_count, events_lost;
    bool may_share; // a Unix socket of a server that can
    size_t share_least;
    int files[MF_CLIENT_FILES];
    uint32_t file_count;
    mf_Region writes;
    size_t writes_asked; // [byte] of the region that was asked for last
    mf_ClientShared shared;
    char share_refused[160];
    bool goodbye;
    mf_Error refused; // an error of an earlier write; status MF_OK: none
};

mf_Status mf_client_fail(mf_Error *error, mf_Status status, const char *format, ...)
    MF_PRINTF(3, 4);
mf_Status mf_client_open(const char *address, int *out, mf_Error *error);
// Space for a message of `size` bytes; returns the place of its payload, NULL: out of memory.
void *mf_client_message(mf_Client *client, uint32_t kind, uint32_t tag, size_t size);
mf_Status mf_client_send(mf_Client *client, mf_Error *error);
// The next message, which fits its row; valid until the one after it. MF_STOPPED: none within
// `seconds`.
mf_Status mf_client_next(mf_Client *client, double seconds, mf_WireMessage *out, mf_Error *error);

// Sends a message with the next tag and waits for its answer. `head` NULL: the message was begun by
// mf_client_message; else it is the struct of that kind, which `size` bytes of `tail` follow. `out`
// may be NULL.
mf_Status mf_client_ask(mf_Client *client, uint32_t kind, const void *head, const void *tail,
                        size_t size, mf_WireMessage *out, mf_Error *error);
mf_Status mf_client_no_memory(mf_Error *error);
mf_Status mf_client_malformed(mf_Error *error);
// ---- region.c ----------------------------------------------------------------------------------

// recv() without waiting; keeps a file that comes with the bytes.
ssize_t mf_client_receive_bytes(mf_Client *client, uint8_t *out, size_t size);
// Ask for memory where it pays; without waiting.
mf_Status mf_client_share_states(mf_Client *client, uint32_t subscription, mf_Error *error);
mf_Status mf_client_share_writes(mf_Client *client, size_t bytes, mf_Error *error);
mf_Status mf_client_keep_shared(mf_Client *client, const mf_SharedAnswer *in, mf_Error *error);
// Makes the slot of a STATE_SHARED the newest values, and releases the one before.
mf_Status mf_client_keep_state_shared(mf_Client *client, const mf_StateSharedAnswer *in,
                                      mf_Error *error);
void mf_client_release_state(mf_ClientState *state);
// Space for `bytes` of values of a write, with its slot and number; NULL: none, or it does not pay.
uint8_t *mf_client_take_slot(mf_Client *client, size_t bytes, uint32_t out[2]);
void mf_client_unmap(mf_Client *client, mf_Region *region);
