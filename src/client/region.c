// Memory that the server shares with a client over a Unix socket, which links nothing of Mayfly's
// libraries, either: values of large states are read where the server put them, those of large
// writes are put where it reads them. Whatever does not fit goes over the socket.
#include "client/link.h"
#include "base/floats.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static mf_Status malformed(mf_Error *error) {
    return mf_client_fail(error, MF_CORRUPT, "the server sent shared memory that is malformed");
}

void mf_client_unmap(mf_Client *client, mf_Region *region) {
    if (region->memory == NULL)
        return;
    munmap(region->memory, region->size);
    client->shared.bytes -= region->size;
    *region = (mf_Region){.memory = NULL};
}

// ---- files that come with messages -------------------------------------------------------------

ssize_t mf_client_receive_bytes(mf_Client *client, uint8_t *out, size_t size) {
    union {
        struct cmsghdr head; // for its alignment
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = out, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (!client->may_share)
        return recv(client->socket, out, size, MSG_DONTWAIT);
    const ssize_t got = recvmsg(client->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *right = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int file;
    if (right == NULL || right->cmsg_level != SOL_SOCKET || right->cmsg_type != SCM_RIGHTS)
        return got;
    memcpy(&file, CMSG_DATA(right), sizeof file);
    if (client->file_count < MF_CLIENT_FILES)
        client->files[client->file_count++] = file;
    else
        close(file); // its message will be malformed
    return got;
}

static int next_file(mf_Client *client) {
    if (client->file_count == 0)
        return -1;
    const int file = client->files[0];
    client->file_count--;
    memmove(client->files, client->files + 1, client->file_count * sizeof file);
    return file;
}

// ---- requests ----------------------------------------------------------------------------------

// Its answer is awaited by no one: what comes before it goes over the socket.
static mf_Status request(mf_Client *client, uint32_t number, uint64_t bytes, mf_Error *error) {
    const uint32_t tag =
        number == MF_PROTOCOL_ALL ? MF_CLIENT_TAG_SHARE_WRITES : MF_CLIENT_TAG_SHARE_STATES;
    mf_ShareRequest *out = mf_client_message(client, MF_MESSAGE_SHARE, tag, sizeof *out);
    if (out == NULL)
        return mf_client_no_memory(error);
    *out = (mf_ShareRequest){.number = number, .bytes = bytes};
    return mf_client_send(client, error);
}

mf_Status mf_client_share_states(mf_Client *client, uint32_t subscription, mf_Error *error) {
    if (!client->may_share || client->states[subscription].size < client->share_least)
        return MF_OK;
    return request(client, subscription, 0, error);
}

mf_Status mf_client_share_writes(mf_Client *client, size_t bytes, mf_Error *error) {
    if (!client->may_share || bytes < client->share_least || bytes <= client->writes_asked)
        return MF_OK;
    client->writes_asked = bytes;
    mf_client_unmap(client, &client->writes); // the server has dropped it when it reads this
    return request(client, MF_PROTOCOL_ALL, bytes, error);
}

mf_Status mf_client_keep_shared(mf_Client *client, const mf_SharedAnswer *in, mf_Error *error) {
    struct stat found;
    const int file = next_file(client);
    const uint32_t number = in->number;
    mf_ClientState *state = number < MF_PROTOCOL_SUBSCRIPTIONS ? &client->states[number] : NULL;
    mf_Region *region = state != NULL ? &state->region : &client->writes;
    if (file < 0 || (state == NULL && number != MF_PROTOCOL_ALL) || region->memory != NULL) {
        if (file >= 0)
            close(file);
        return malformed(error);
    }
    mf_Region made = {
        .slots = in->slots, .first = in->first, .stride = in->stride, .size = in->size};
    const uint64_t needed = made.first + (uint64_t)made.slots * made.stride;
    const bool fits = made.slots >= 1 && made.slots <= MF_PROTOCOL_SLOTS &&
                      made.first >= made.slots * MF_PROTOCOL_COUNTER && made.first % 8 == 0 &&
                      made.stride % 8 == 0 && needed <= made.size && fstat(file, &found) == 0 &&
                      (uint64_t)found.st_size >= made.size &&
                      (state == NULL || made.stride >= state->size - sizeof(mf_StateAnswer));
    void *memory =
        fits ? mmap(NULL, made.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    if (!fits)
        return malformed(error);
    if (memory == MAP_FAILED)
        return mf_client_fail(error, MF_NO_MEMORY, "cannot map %zu bytes of shared memory",
                              made.size);
    made.memory = memory;
    client->shared.bytes += made.size;
    *region = made;
    return MF_OK;
}

// ---- values ------------------------------------------------------------------------------------

void mf_client_release_state(mf_ClientState *state) {
    if (state->holds)
        mf_region_release(&state->region, state->slot, state->number);
    state->holds = false;
}

mf_Status mf_client_keep_state_shared(mf_Client *client, const mf_StateSharedAnswer *in,
                                      mf_Error *error) {
    mf_ClientState *state = &client->states[in->number]; // checked
    const uint32_t slot = in->slot;
    if (state->region.memory == NULL || slot >= state->region.slots)
        return malformed(error);
    mf_client_release_state(state);
    state->holds = true;
    state->slot = slot;
    state->number = in->content;
    state->values = mf_region_slot(&state->region, slot);
    client->shared.states++;
    return MF_OK;
}

uint8_t *mf_client_take_slot(mf_Client *client, size_t bytes, uint32_t out[2]) {
    mf_Region *region = &client->writes;
    if (region->memory == NULL || bytes < client->share_least || bytes > region->stride)
        return NULL;
    uint8_t *slot = mf_region_take(region, &out[0], &out[1]);
    client->shared.writes += slot != NULL;
    return slot;
}

// ---- for the caller ----------------------------------------------------------------------------

mf_Status mf_client_share(mf_Client *client, size_t least, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (client == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client is NULL");
    client->share_least = least;
    return MF_OK;
}

mf_ClientShared mf_client_shared(const mf_Client *client) {
    return client == NULL ? (mf_ClientShared){.refused = NULL} : client->shared;
}
