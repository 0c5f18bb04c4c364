// The path of messages: what was sent in the last step goes to the boxes of those who are docked
// there, or see the sender by infrared, at the beginning of this one.
//
// Method: receivers gather. Each port that receives reads the outboxes of its senders, in a fixed
// order, and writes its own box; when all have, each port empties its own outbox. So blocks of
// robots are independent in both passes.
// Invariants: results depend neither on threads nor on the order of robots; random numbers are
// keyed by the receiving port, the tick and the number of the message among those that reach the
// port in this step; a box is in the order of due ticks, then of arrival. Nothing is allocated.
#include "agent/modules/messages.h"
#include "base/context.h"
#include "math/scalar.h"

static const uint32_t message_stream = 0x6d736700; // of random numbers: "msg", then a number

static bool is_engaged(const mf_DockGroup *group, uint32_t instance, uint32_t dock) {
    return group->state[mf_dock_at(group, instance, dock, 1, 0)] == MF_DOCK_ENGAGED;
}

// True once the tick `due`, of which only the low half is kept, has come.
static bool has_come(uint32_t due, uint64_t tick) {
    return (int32_t)((uint32_t)tick - due) >= 0;
}

// ---- infrared -----------------------------------------------------------------------------------

static bool takes_infrared(const mf_DockGroup *group, uint32_t instance, uint32_t dock) {
    return !is_engaged(group, instance, dock);
}

// Whether the line to another port is within the angle of a port.
static bool faces(const mf_Messages *messages, const mf_DockSite *site, const double direction[3]) {
    const double outwards[3] = {1.0, 0.0, 0.0};
    double axis[3], across[3];
    mf_quat_rotate(axis, site->orientation, outwards);
    mf_vec3_cross(across, axis, direction);
    return mf_atan2(mf_vec3_length(across), mf_vec3_dot(axis, direction)) <= messages->config.angle;
}

// Lists are sorted by distance, then by ports.
static void add_near(mf_Messages *messages, uint32_t port, uint32_t other, double square) {
    mf_MessageNear *list = messages->near + (size_t)port * MF_MESSAGE_NEAR;
    uint32_t *count = &messages->near_count[port], at = *count;
    while (at > 0 && (square < list[at - 1].square ||
                      (!(square > list[at - 1].square) && other < list[at - 1].port)))
        at--;
    messages->crowded += *count == MF_MESSAGE_NEAR;
    if (at == MF_MESSAGE_NEAR)
        return;
    if (*count < MF_MESSAGE_NEAR)
        ++*count;
    for (uint32_t k = *count - 1; k > at; k--)
        list[k] = list[k - 1];
    list[at] = (mf_MessageNear){square, other};
}

static void examine(mf_WorldDocks *docks, uint32_t first, uint32_t second, void *user) {
    mf_Messages *messages = user;
    const mf_DockSite *a = &docks->sites[first], *b = &docks->sites[second];
    const double range = messages->config.range;
    double offset[3], back[3];
    mf_vec3_sub(offset, b->position, a->position);
    mf_vec3_scale(back, offset, -1.0);
    const double square = mf_vec3_dot(offset, offset);
    if (square > range * range || (a->group == b->group && a->instance == b->instance) ||
        !faces(messages, a, offset) || !faces(messages, b, back))
        return;
    add_near(messages, a->port, b->port, square);
    add_near(messages, b->port, a->port, square);
}

static void find_near(mf_Messages *messages) {
    for (uint32_t p = 0; p < messages->docks->port_count; p++)
        messages->near_count[p] = 0;
    mf_docks_find_sites(messages->docks, takes_infrared);
    mf_docks_visit_near(messages->docks, messages->config.range, examine, messages);
}

// ---- boxes --------------------------------------------------------------------------------------

// A port in its group.
typedef struct Port {
    const mf_MessageGroup *group;
    uint32_t instance, dock;
} Port;

static uint32_t number_of(const Port *port) {
    const mf_DockGroup *group = port->group->docks;
    return group->first + port->instance * group->model->dock_count + port->dock;
}

static size_t index_of(const Port *port) {
    return mf_dock_at(port->group->docks, port->instance, port->dock, 1, 0);
}

static uint32_t *slot_of(uint32_t *slots, const Port *port, uint32_t slot, uint32_t c) {
    return &slots[mf_message_at(port->group, port->instance, port->dock, slot, c)];
}

// Copies a message to its position in a box: behind all that are due by then.
static void insert(const Port *to, const Port *from, uint32_t slot, uint32_t due) {
    uint32_t *count = &to->group->in_count[index_of(to)], at = *count;
    const uint32_t width = to->group->messages->slot;
    uint32_t *in = to->group->in;
    for (; at > 0 && !has_come(*slot_of(in, to, at - 1, MF_MESSAGE_DUE), due); at--)
        for (uint32_t c = 0; c < width; c++)
            *slot_of(in, to, at, c) = *slot_of(in, to, at - 1, c);
    *slot_of(in, to, at, MF_MESSAGE_DUE) = due;
    for (uint32_t c = MF_MESSAGE_TYPE; c < width; c++)
        *slot_of(in, to, at, c) = *slot_of(from->group->out, from, slot, c);
    ++*count;
}

// Takes what a port sent. `number` counts the messages that reached the receiver in this step.
static void take(const Port *to, const Port *from, uint32_t *number) {
    const mf_Messages *messages = to->group->messages;
    const mf_MessagesConfig *config = &messages->config;
    const uint32_t sent = mf_smaller_u32(from->group->out_count[index_of(from)], config->capacity);
    for (uint32_t k = 0; k < sent; k++) {
        uint32_t words[4] = {0}, due = (uint32_t)messages->tick + config->delay;
        uint32_t outcome = MF_TALLY_RECEIVED;
        if (config->loss > 0.0 || config->jitter > 0)
            mf_random(mf_world_config_of(messages->world)->seed, number_of(to),
                      message_stream + (*number)++, messages->tick, words);
        due += (uint32_t)((uint64_t)words[2] * (config->jitter + 1) >> 32);
        if (config->loss > 0.0 && mf_random_unit_double(words[0], words[1]) < config->loss)
            outcome = MF_TALLY_LOST;
        else if (to->group->in_count[index_of(to)] >= config->capacity)
            outcome = MF_TALLY_OVERFLOWED;
        else
            insert(to, from, k, due);
        ++*mf_message_tally(to->group, to->instance, to->dock, outcome);
    }
}

// ---- ports --------------------------------------------------------------------------------------

static const mf_MessageGroup *group_with(const mf_Messages *messages, uint32_t index) {
    const mf_MessageGroup *group = messages->groups;
    while (group != NULL && group->docks->index != index)
        group = group->next;
    return group;
}

// The port that an engaged one is docked to; false: none.
static bool find_partner(const Port *port, Port *out) {
    const mf_DockGroup *group = port->group->docks;
    const uint32_t *partner = group->partner;
    if (!is_engaged(group, port->instance, port->dock))
        return false;
    *out = (Port){group_with(port->group->messages,
                             partner[mf_dock_at(group, port->instance, port->dock, 3, 0)]),
                  partner[mf_dock_at(group, port->instance, port->dock, 3, 1)],
                  partner[mf_dock_at(group, port->instance, port->dock, 3, 2)]};
    return out->group != NULL;
}

static Port port_of(const mf_Messages *messages, uint32_t number) {
    const mf_MessageGroup *group = messages->groups;
    while (group->next != NULL && group->next->docks->first <= number)
        group = group->next;
    const uint32_t inside = number - group->docks->first, docks = group->docks->model->dock_count;
    return (Port){group, inside / docks, inside % docks};
}

static void receive(const Port *port) {
    const mf_Messages *messages = port->group->messages;
    const size_t at = index_of(port);
    uint32_t number = 0;
    Port from;
    port->group->in_count[at] =
        mf_smaller_u32(port->group->in_count[at], messages->config.capacity);
    if (find_partner(port, &from)) {
        take(port, &from, &number);
    } else if (messages->near != NULL) {
        const uint32_t own = number_of(port);
        for (uint32_t k = 0; k < messages->near_count[own]; k++) {
            from = port_of(messages, messages->near[(size_t)own * MF_MESSAGE_NEAR + k].port);
            take(port, &from, &number);
        }
    }
    uint32_t ready = 0;
    while (ready < port->group->in_count[at] &&
           has_come(*slot_of(port->group->in, port, ready, MF_MESSAGE_DUE), messages->tick))
        ready++;
    port->group->ready[at] = ready;
}

static void empty(const Port *port) {
    const mf_Messages *messages = port->group->messages;
    const uint32_t sent =
        mf_smaller_u32(port->group->out_count[index_of(port)], messages->config.capacity);
    Port partner;
    if (sent == 0)
        return;
    const bool heard = find_partner(port, &partner) ||
                       (messages->near != NULL && messages->near_count[number_of(port)] > 0);
    *mf_message_tally(port->group, port->instance, port->dock, MF_TALLY_SENT) += sent;
    *mf_message_tally(port->group, port->instance, port->dock, MF_TALLY_UNHEARD) +=
        heard ? 0 : sent;
    for (uint32_t k = 0; k < sent; k++)
        for (uint32_t c = 0; c < messages->slot; c++)
            *slot_of(port->group->out, port, k, c) = 0;
    port->group->out_count[index_of(port)] = 0;
}

// ---- a step -------------------------------------------------------------------------------------

static void for_ports(const mf_Messages *messages, uint32_t index, void (*act)(const Port *port)) {
    const mf_MessageGroup *group = messages->group_of[index];
    const uint32_t first = messages->docks->blocks[index].block * MF_BLOCK;
    const uint32_t end = mf_smaller_u32(first + MF_BLOCK, group->docks->robots);
    for (uint32_t i = first; i < end; i++)
        for (uint32_t d = 0; d < group->docks->model->dock_count; d++)
            act(&(Port){group, i, d});
}

static void receive_block(void *user, uint32_t index) {
    for_ports(user, index, receive);
}

static void empty_block(void *user, uint32_t index) {
    for_ports(user, index, empty);
}

static void for_blocks(mf_Messages *messages, void (*act)(void *user, uint32_t index)) {
    const uint32_t blocks = messages->docks->block_count;
    if (blocks > 1 && mf_context_threads(messages->context) > 1)
        mf_parallel_for(messages->context, blocks, act, messages);
    else
        for (uint32_t b = 0; b < blocks; b++)
            act(messages, b);
}

void mf_messages_route(const mf_WorldRun *run, void *user) {
    mf_Messages *messages = user;
    messages->tick = run->tick;
    if (messages->near != NULL)
        find_near(messages);
    for_blocks(messages, receive_block);
    for_blocks(messages, empty_block);
}
