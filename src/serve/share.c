// Shared memory of connections over Unix sockets: requests for it, and files that go out with the
// answers. Messages remain on the socket, which keeps their order, wakes up who waits and tells of
// ends; only values of large states and writes travel in the memory.
#include "serve/peer.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// [1] one that the client holds, one that it has not yet read, and one to fill meanwhile
#define STATE_SLOTS 3u
#define WRITE_SLOTS 2u

// ---- regions -----------------------------------------------------------------------------------

static size_t shared_bytes(const mf_Peer *peer, const mf_Region *except) {
    size_t sum = peer->writes != NULL && peer->writes != except ? peer->writes->size : 0;
    for (uint32_t i = 0; i < peer->used; i++) {
        const mf_Region *region = peer->subscriptions[i].region;
        sum += region != NULL && region != except ? region->size : 0;
    }
    return sum;
}

void mf_link_drop_region(mf_Server *server, mf_Region **region, bool reclaims) {
    if (*region != NULL)
        server->sum.shared -= (*region)->size;
    mf_region_destroy(server->context, *region, reclaims);
    *region = NULL;
}

uint32_t mf_link_shares(const mf_Peer *peer) {
    return (shared_bytes(peer, NULL) > 0 ? MF_SERVER_SHARES : 0u) |
           (peer->share_refused ? MF_SERVER_REFUSED : 0u);
}

void mf_link_unshare(mf_Server *server, mf_Peer *peer) {
    mf_link_drop_region(server, &peer->writes, false);
    for (uint32_t i = 0; i < peer->pass_count; i++)
        close(peer->passes[i].file);
    peer->pass_count = 0;
}

// ---- files -------------------------------------------------------------------------------------

static ssize_t send_file(int socket, const uint8_t *data, size_t size, int file) {
    union {
        struct cmsghdr head; // for its alignment
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *right = CMSG_FIRSTHDR(&message);
    right->cmsg_level = SOL_SOCKET;
    right->cmsg_type = SCM_RIGHTS;
    right->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(right), &file, sizeof file);
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t mf_link_send(mf_Peer *peer, const uint8_t *data, size_t size) {
    const bool passes = peer->pass_count > 0 && peer->passes[0].at == peer->bytes_out;
    if (peer->pass_count > (passes ? 1u : 0u)) { // not beyond the next message with a file
        const uint64_t before = peer->passes[passes ? 1 : 0].at - peer->bytes_out;
        size = before < size ? (size_t)before : size;
    }
    if (!passes)
        return send(peer->socket, data, size, MSG_NOSIGNAL);
    const ssize_t sent = send_file(peer->socket, data, size, peer->passes[0].file);
    if (sent > 0) {
        close(peer->passes[0].file);
        peer->pass_count--;
        memmove(peer->passes, peer->passes + 1, peer->pass_count * sizeof *peer->passes);
    }
    if (sent < 0 && errno == ETOOMANYREFS) // files of this user that others have not yet taken
        errno = EAGAIN;
    return sent;
}

// ---- requests ----------------------------------------------------------------------------------

static mf_Status make(mf_Server *server, mf_Peer *peer, uint32_t number, uint64_t bytes,
                      mf_Region **slot, int *file, mf_Error *error) {
    const bool is_state = number != MF_PROTOCOL_ALL;
    const size_t limit = server->config.shared_limit, others = shared_bytes(peer, *slot);
    const size_t size = is_state ? peer->subscriptions[number].size : (size_t)bytes;
    mf_Region *made;
    if (server->config.path == NULL || limit == 0)
        return mf_fail(error, MF_UNSUPPORTED, "this server shares no memory");
    if (peer->pass_count == MF_LINK_PASSES)
        return mf_fail(error, MF_BUSY, "memory that was asked for before was not yet taken");
    if (size > server->message_limit && !is_state)
        return mf_fail(error, MF_LIMIT, "expected writes of at most %zu bytes, found %zu",
                       server->message_limit, size);
    MF_TRY(mf_region_create(server->context, is_state ? STATE_SLOTS : WRITE_SLOTS, size,
                            limit > others ? limit - others : 0, &made, file, error));
    mf_link_drop_region(server, slot, true);
    *slot = made;
    server->sum.shared += made->size;
    return MF_OK;
}

mf_Status mf_answer_share(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const mf_ShareRequest *in = message->data;
    const uint32_t number = in->number;
    const bool is_state = number < MF_PROTOCOL_SUBSCRIPTIONS;
    int file;
    if ((is_state && peer->subscriptions[number].entries == NULL) ||
        (!is_state && number != MF_PROTOCOL_ALL))
        return mf_fail(error, MF_NOT_FOUND, "expected a subscription, found %u", number);
    if (is_state != (in->bytes == 0))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "expected 0 bytes for a subscription, at least 1 for writes");
    mf_Region **slot = is_state ? &peer->subscriptions[number].region : &peer->writes;
    mf_Status status = make(server, peer, number, in->bytes, slot, &file, error);
    if (status != MF_OK) {
        peer->share_refused = true;
        server->sum.unshared++;
        return status;
    }
    const mf_LinkPass pass = {file, peer->bytes_out + (peer->out.end - peer->out.begin)};
    mf_SharedAnswer *out =
        mf_peer_message(server, peer, MF_ANSWER_SHARED, message->tag, sizeof *out);
    if (out == NULL) {
        close(file);
        return MF_BUSY;
    }
    peer->passes[peer->pass_count++] = pass;
    *out =
        (mf_SharedAnswer){number, (*slot)->slots, (*slot)->first, (*slot)->stride, (*slot)->size};
    return MF_BUSY;
}
