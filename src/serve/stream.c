// What the server sends without being asked each time: states, turns and events.
#include "serve/peer.h"
#include "scene/watch.h"

#define FAULT_EVENTS_MOST 256u // [1] faults reported one by one between two steps

// ---- values ------------------------------------------------------------------------------------

size_t mf_link_entry_size(const mf_Server *server, const mf_EntryPart *entry) {
    const mf_Field *field = server->fields[entry->field].field;
    return (size_t)entry->count * field->components * mf_field_value_size(field->info.type);
}

// ---- states ------------------------------------------------------------------------------------

// All values of a state.
static void gather_state(const mf_Server *server, const mf_Subscription *subscription,
                         uint8_t *out) {
    for (uint32_t i = 0; i < subscription->entry_count; i++) {
        const mf_EntryPart *entry = &subscription->entries[i];
        const size_t size = mf_link_entry_size(server, entry);
        mf_link_gather(out, server->fields[entry->field].field, entry->first, entry->count);
        memset(out + size, 0, mf_wire_padded(size, 8) - size);
        out += mf_wire_padded(size, 8);
    }
}

// Its values go into a slot, or behind the head of the message if there is none.
static void put_state(mf_Server *server, mf_Peer *peer, uint32_t number, uint64_t tick,
                      uint8_t *slot, const uint32_t shared[2]) {
    mf_Subscription *subscription = &peer->subscriptions[number];
    mf_StateSharedAnswer *out =
        mf_peer_message(server, peer, slot != NULL ? MF_ANSWER_STATE_SHARED : MF_ANSWER_STATE, 0,
                        slot != NULL ? sizeof *out : subscription->size);
    if (out == NULL)
        return;
    // The head of STATE is the same, with 0 for the slot.
    *out = (mf_StateSharedAnswer){number,    subscription->lost, tick, mf_world_time(server->world),
                                  shared[0], shared[1]};
    gather_state(server, subscription, slot != NULL ? slot : (uint8_t *)(out + 1));
    peer->shared_out += slot != NULL ? subscription->size - sizeof *out : 0;
    subscription->lost = 0;
    peer->seen.states++;
    server->sum.states++;
}

// False: it has no slot of its shared memory free. In lock-step the socket takes what that does
// not.
static bool send_state(mf_Server *server, mf_Peer *peer, uint32_t number, uint64_t tick) {
    mf_Subscription *subscription = &peer->subscriptions[number];
    mf_Region *region = subscription->region;
    uint32_t shared[2] = {0, 0};
    uint8_t *slot = region != NULL ? mf_region_take(region, &shared[0], &shared[1]) : NULL;
    if (slot == NULL && region != NULL && !peer->lock_step)
        return false;
    if (subscription->behind && subscription->missed == tick && subscription->lost > 0) {
        subscription->lost--; // it comes after all
        peer->seen.lost--;
        server->sum.lost--;
    }
    put_state(server, peer, number, tick, slot, shared);
    subscription->behind = false;
    return true;
}

// A reader that has not yet taken what was sent before, or released a slot of its shared memory,
// loses this state; of a paused world it gets the present one as soon as it can. In lock-step it
// loses none: the world waits for it anyway.
static void publish_states(mf_Server *server, mf_Peer *peer, uint64_t tick) {
    if (peer->out.begin < peer->out.end) // answers, perhaps of this moment
        mf_peer_flush(server, peer);
    const bool busy = peer->out.begin < peer->out.end && !peer->lock_step;
    const bool rests = server->paused && server->steps_asked == 0;
    for (uint32_t i = 0; i < peer->used && peer->socket >= 0; i++) {
        mf_Subscription *subscription = &peer->subscriptions[i];
        const bool due = subscription->entries != NULL && subscription->next <= tick;
        if (!due && !(subscription->behind && rests))
            continue;
        if (due)
            subscription->next = mf_link_next(server, subscription->period, tick);
        if ((!busy && send_state(server, peer, i, tick)) || !due)
            continue;
        subscription->behind = true;
        subscription->missed = tick;
        subscription->lost += subscription->lost < UINT32_MAX;
        peer->seen.lost++;
        server->sum.lost++;
    }
}

static void look_at_scene(mf_Server *server, mf_Peer *peer);

static void publish_turn(mf_Server *server, mf_Peer *peer, uint64_t tick) {
    if (!peer->lock_step || peer->waiting || peer->turn > tick || server->steps_left == 0 ||
        server->stopped)
        return;
    look_at_scene(server, peer);
    mf_TurnAnswer *out = mf_peer_message(server, peer, MF_ANSWER_TURN, 0, sizeof *out);
    if (out == NULL)
        return;
    *out = (mf_TurnAnswer){tick, mf_world_time(server->world)};
    peer->turn = tick;
    peer->waiting = true;
    peer->deadline = mf_clock_seconds() + 1e-9 * (double)peer->limit;
    peer->seen.turns++;
    server->sum.turns++;
}

void mf_link_publish(mf_Server *server) {
    const uint64_t tick = mf_link_tick(server);
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        if (peer->socket < 0)
            continue;
        publish_states(server, peer, tick);
        publish_turn(server, peer, tick);
        if (peer->out.begin < peer->out.end || (peer->closing && !peer->is_shut))
            mf_peer_flush(server, peer);
    }
}

void mf_link_due_now(mf_Server *server) {
    const uint64_t tick = mf_link_tick(server);
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        for (uint32_t i = 0; i < peer->used; i++)
            peer->subscriptions[i].next = tick;
        peer->turn = tick;
        peer->waiting = false;
        peer->renewed = true;
    }
}

// ---- events ------------------------------------------------------------------------------------

static void put_event(mf_Server *server, mf_Peer *peer, uint32_t event, uint32_t group,
                      uint32_t instance, uint32_t value) {
    mf_EventAnswer *out = mf_peer_message(server, peer, MF_ANSWER_EVENT, 0, sizeof *out);
    if (out != NULL)
        *out = (mf_EventAnswer){
            event, group, instance, value, mf_link_tick(server), mf_world_time(server->world)};
}

void mf_link_event(mf_Server *server, uint32_t event, uint32_t group, uint32_t instance,
                   uint32_t value) {
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        const bool wants = (peer->events >> event & 1u) != 0;
        // Everybody is notified of another world, as numbers may have changed, and of its end.
        const bool concerns = event == MF_EVENT_WORLD || event == MF_EVENT_END;
        if (peer->socket >= 0 && (wants || (concerns && peer->welcome)))
            put_event(server, peer, event, group, instance, value);
    }
}

// ---- events that are looked for ----------------------------------------------------------------

typedef struct Look {
    mf_Server *server;
    mf_Peer *peer;
} Look;

static mf_Status tell(const mf_Happening *what, void *user, mf_Error *error) {
    const Look *look = user;
    const uint32_t event = MF_EVENT_RAISED + (uint32_t)what->kind;
    (void)error;
    if ((look->peer->events >> event & 1u) != 0)
        put_event(look->server, look->peer, event, what->group, what->robot,
                  what->kind == MF_HAPPENING_STATE ? what->value << 16 | what->part : what->value);
    return MF_OK;
}

static void look_at_scene(mf_Server *server, mf_Peer *peer) {
    Look look = {server, peer};
    if (peer->watch == NULL)
        return;
    mf_watch_look(peer->watch, peer->renewed ? NULL : tell, &look, NULL);
    peer->renewed = false;
}

void mf_link_watch_scene(mf_Server *server) {
    for (uint32_t p = 0; p < server->peer_count; p++)
        if (server->peers[p].socket >= 0 && !server->peers[p].lock_step)
            look_at_scene(server, &server->peers[p]);
}

// ---- faults ------------------------------------------------------------------------------------

static bool is_watched(const mf_Server *server) {
    const uint32_t mask = 1u << MF_EVENT_FAULT | 1u << MF_EVENT_MISSED;
    for (uint32_t p = 0; p < server->peer_count; p++)
        if (server->peers[p].socket >= 0 && (server->peers[p].events & mask) != 0)
            return true;
    return false;
}

void mf_link_watch_faults(mf_Server *server) {
    uint32_t reported = 0, missed = 0;
    if (server->words == NULL || !is_watched(server))
        return;
    for (uint32_t g = 0; g < mf_world_group_count(server->world); g++) {
        const mf_Group *group = mf_world_group(server->world, g);
        for (uint32_t i = 0; i < mf_group_count(group); i++) {
            const uint32_t word = mf_group_fault(group, i);
            if (word == server->words[g][i])
                continue;
            server->words[g][i] = word;
            if (reported < FAULT_EVENTS_MOST)
                mf_link_event(server, MF_EVENT_FAULT, g, i, word);
            else
                missed++;
            reported += reported < FAULT_EVENTS_MOST;
        }
    }
    if (missed > 0)
        mf_link_event(server, MF_EVENT_MISSED, 0, 0, missed);
}

mf_Status mf_link_begin_watch(mf_Server *server, mf_Error *error) {
    const uint32_t groups = mf_world_group_count(server->world);
    size_t total = 0, used = 0;
    if (server->words != NULL)
        return MF_OK;
    for (uint32_t g = 0; g < groups; g++)
        total += mf_group_count(mf_world_group(server->world, g));
    const size_t heads = groups * sizeof(uint32_t *);
    server->words = mf_allocate(server->context, 1, heads + total * sizeof(uint32_t));
    MF_NEED_MEMORY(server->words != NULL, error, "serve");
    uint32_t *words = (uint32_t *)((uint8_t *)server->words + heads);
    for (uint32_t g = 0; g < groups; g++) {
        const mf_Group *group = mf_world_group(server->world, g);
        server->words[g] = words + used;
        used += mf_group_count(group);
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            server->words[g][i] = mf_group_fault(group, i);
    }
    return MF_OK;
}
