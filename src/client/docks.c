// The client's calls for docks (client.h).
#include "base/floats.h"
#include "client/link.h"

static mf_Status set_docked(mf_Client *client, bool on, const mf_ClientDock *first,
                            const mf_ClientDock *second, uint32_t orientation, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (first == NULL || second == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "a dock is NULL");
    const mf_DockRequest head = {on,           first->group,  first->instance,
                                 first->dock,  second->group, second->instance,
                                 second->dock, orientation};
    return mf_client_ask(client, MF_MESSAGE_DOCK, &head, NULL, 0, NULL, error);
}

mf_Status mf_client_dock(mf_Client *client, const mf_ClientDock *first, const mf_ClientDock *second,
                         uint32_t orientation, mf_Error *error) {
    return set_docked(client, true, first, second, orientation, error);
}

mf_Status mf_client_undock(mf_Client *client, const mf_ClientDock *first, mf_Error *error) {
    return set_docked(client, false, first, first, 0, error);
}
