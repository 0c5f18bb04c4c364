// The client's drawings and controls (client.h, draw.h).
#include "client/link.h"
#include "base/floats.h"

static size_t length_of(const char *text) {
    return text != NULL ? strlen(text) : 0;
}

mf_Status mf_client_draw(mf_Client *client, const char *layer, const mf_Drawing *drawing,
                         const mf_ClientCarrier *carrier, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (client == NULL || layer == NULL || drawing == NULL ||
        (drawing->count > 0 && drawing->numbers == NULL))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client, layer, drawing or numbers is NULL");
    if (drawing->count > MF_DRAW_NUMBERS)
        return mf_client_fail(error, MF_LIMIT, "layer %.64s: expected at most %d numbers, found %u",
                              layer, MF_DRAW_NUMBERS, drawing->count);
    const size_t name = strlen(layer), text = length_of(drawing->text);
    const size_t bytes = drawing->count * sizeof *drawing->numbers;
    mf_DrawRequest *head =
        mf_client_message(client, MF_MESSAGE_DRAW, 0, sizeof *head + bytes + name + text);
    if (head == NULL)
        return mf_client_no_memory(error);
    *head = (mf_DrawRequest){.kind = (uint32_t)drawing->kind,
                             .color = drawing->color,
                             .size = drawing->size,
                             .group = carrier != NULL ? carrier->group : MF_PROTOCOL_ALL,
                             .instance = carrier != NULL ? carrier->robot : 0,
                             .link = carrier != NULL ? carrier->link : 0,
                             .count = drawing->count,
                             .name_size = (uint32_t)name,
                             .text_size = (uint32_t)text};
    uint8_t *out = (uint8_t *)(head + 1);
    if (bytes > 0)
        memcpy(out, drawing->numbers, bytes);
    memcpy(out + bytes, layer, name);
    if (text > 0)
        memcpy(out + bytes + name, drawing->text, text);
    return mf_client_ask(client, MF_MESSAGE_DRAW, NULL, NULL, 0, NULL, error);
}

mf_Status mf_client_clear(mf_Client *client, const char *layer, mf_Error *error) {
    return mf_client_ask(client, MF_MESSAGE_CLEAR, "", layer, length_of(layer), NULL, error);
}

mf_Status mf_client_control(mf_Client *client, uint32_t number, const mf_Control *control,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    char texts[2 * MF_DRAW_NAME];
    mf_ControlRequest head = {.number = number, .kind = MF_PROTOCOL_CONTROL_NONE};
    if (control == NULL)
        return mf_client_ask(client, MF_MESSAGE_CONTROL, &head, "", 0, NULL, error);
    const size_t name = length_of(control->name), unit = length_of(control->unit);
    if (name >= MF_DRAW_NAME || unit >= MF_DRAW_NAME)
        return mf_client_fail(error, MF_LIMIT, "expected a name and a unit of less than %d bytes",
                              MF_DRAW_NAME);
    head = (mf_ControlRequest){.number = number,
                               .kind = (uint32_t)control->kind,
                               .low = control->low,
                               .high = control->high,
                               .step = control->step,
                               .value = control->value,
                               .name_size = (uint32_t)name,
                               .unit_size = (uint32_t)unit};
    if (name > 0)
        memcpy(texts, control->name, name);
    if (unit > 0)
        memcpy(texts + name, control->unit, unit);
    return mf_client_ask(client, MF_MESSAGE_CONTROL, &head, texts, name + unit, NULL, error);
}
