// What clients draw, and controls that they put on the page (visual/draw.h): each belongs to its
// connection and ends with it.
#include "serve/peer.h"
#include "visual/draw.h"

_Static_assert((int)MF_PROTOCOL_DRAW_KINDS == (int)MF_DRAW_KINDS &&
                   (int)MF_PROTOCOL_DRAW_NUMBERS == (int)MF_DRAW_NUMBERS &&
                   (int)MF_PROTOCOL_CONTROLS == (int)MF_DRAW_CONTROLS &&
                   (int)MF_PROTOCOL_CONTROL_NONE == (int)MF_CONTROL_KINDS,
               "the protocol has the numbers of draw.h");

enum { TEXT_MOST = 256 }; // [byte]

// A text of a message, terminated. MF_LIMIT: it is longer, or has a zero in it.
static mf_Status take_text(mf_WireReader *tail, size_t size, char out[TEXT_MOST], mf_Error *error) {
    const void *text = mf_wire_take(tail, size);
    if (text == NULL)
        return mf_link_fail_format(error, "as many numbers and bytes of text as it says");
    MF_CHECK(size < TEXT_MOST && memchr(text, 0, size) == NULL, error, MF_LIMIT,
             "expected a text of less than %d bytes, without zeros", TEXT_MOST);
    memcpy(out, text, size);
    out[size] = '\0';
    return MF_OK;
}

mf_Status mf_answer_draw(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    const mf_DrawRequest *in = message->data;
    mf_WireReader tail = mf_wire_tail(message);
    const size_t bytes = in->count * sizeof(float);
    char name[TEXT_MOST], text[TEXT_MOST];
    const void *numbers = mf_wire_take(&tail, bytes);
    MF_TRY(take_text(&tail, in->name_size, name, error));
    MF_TRY(take_text(&tail, in->text_size, text, error));
    if (!mf_wire_done(&tail))
        return mf_link_fail_format(error, "as many numbers and bytes of text as it says");
    const uint32_t groups = mf_world_group_count(server->world);
    MF_CHECK(in->group == MF_PROTOCOL_ALL || in->group < groups, error, MF_NOT_FOUND,
             "expected a group below %u, found %u", groups, in->group);
    float *copy = mf_allocate(server->context, in->count + 1, sizeof *copy); // aligned
    MF_NEED_MEMORY(copy != NULL, error, "serve");
    memcpy(copy, numbers, bytes);
    const mf_Drawing drawing = {
        .kind = (mf_DrawKind)in->kind,
        .color = in->color,
        .size = in->size,
        .group = in->group != MF_PROTOCOL_ALL ? mf_world_group(server->world, in->group) : NULL,
        .robot = in->instance,
        .link = in->link,
        .numbers = copy,
        .count = in->count,
        .text = text};
    mf_Status status = mf_draw_as(server->world, peer->number, name, &drawing, error);
    mf_release(server->context, copy);
    return status;
}

mf_Status mf_answer_clear(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    char name[TEXT_MOST];
    mf_WireReader tail = mf_wire_tail(message);
    MF_TRY(take_text(&tail, message->size, name, error));
    mf_draw_clear_as(server->world, peer->number, name[0] != '\0' ? name : NULL);
    return MF_OK;
}

mf_Status mf_answer_control(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                            mf_Error *error) {
    const mf_ControlRequest *in = message->data;
    mf_WireReader tail = mf_wire_tail(message);
    char name[TEXT_MOST], unit[TEXT_MOST];
    MF_TRY(take_text(&tail, in->name_size, name, error));
    MF_TRY(take_text(&tail, in->unit_size, unit, error));
    if (!mf_wire_done(&tail))
        return mf_link_fail_format(error, "a control whose texts are as long as it says");
    const mf_Control control = {.kind = (mf_ControlKind)in->kind,
                                .name = name,
                                .unit = unit,
                                .low = in->low,
                                .high = in->high,
                                .step = in->step,
                                .value = in->value};
    return mf_control_as(server->world, peer->number, in->number,
                         in->kind != MF_PROTOCOL_CONTROL_NONE ? &control : NULL, error);
}

void mf_link_tell_controls(mf_Server *server) {
    if (!mf_control_waits(server->world))
        return;
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        uint32_t number;
        double value;
        while (peer->socket >= 0 &&
               mf_control_take(server->world, peer->number, &number, &value, NULL)) {
            mf_ChangedAnswer *out =
                mf_peer_message(server, peer, MF_ANSWER_CHANGED, 0, sizeof *out);
            if (out != NULL)
                *out = (mf_ChangedAnswer){.number = number,
                                          .value = value,
                                          .tick = mf_link_tick(server),
                                          .time = mf_world_time(server->world)};
        }
    }
}
