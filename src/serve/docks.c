// Docks for clients: the message that joins two, or parts one from its partner.
#include "serve/peer.h"

#include <mayfly/docks.h>

static mf_Status find_port(mf_Server *server, uint32_t group, uint32_t instance, uint32_t dock,
                           mf_DockPort *out, mf_Error *error) {
    if (group >= mf_world_group_count(server->world))
        return mf_fail(error, MF_NOT_FOUND, "expected a group below %u, found %u",
                       mf_world_group_count(server->world), group);
    *out = (mf_DockPort){
        .group = mf_world_group(server->world, group), .instance = instance, .dock = dock};
    return MF_OK;
}

mf_Status mf_answer_dock(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    const mf_DockRequest *in = message->data;
    mf_DockPort first, second;
    (void)peer;
    mf_WorldDocks *docks = mf_world_docks_of(server->world);
    MF_TRY(find_port(server, in->group, in->instance, in->dock, &first, error));
    MF_TRY(find_port(server, in->other_group, in->other_instance, in->other_dock, &second, error));
    MF_CHECK(docks != NULL, error, MF_NOT_FOUND, "the world has no docks");
    return in->on == 0 ? mf_docks_disconnect(docks, &first, error)
                       : mf_docks_connect(docks, &first, &second, in->orientation, error);
}
