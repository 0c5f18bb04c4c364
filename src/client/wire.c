// The rows of the table of messages.
#include "client/wire.h"

#define MEMBER(type, name, most, ...) {#name, sizeof(mf_wire_##type), most},
#define REQUEST(kind, NAME, Name, name, ANSWER, members, tail, ...)                                \
    [kind] = {#NAME, MF_ANSWER_##ANSWER, sizeof(mf_##Name##Request), sizeof(tail) > 1,             \
              (const mf_WireMember[]){members{NULL, 0, 0}}},
#define ANSWER(kind, NAME, Name, members, tail, ...)                                               \
    [kind] = {#NAME, 0, sizeof(mf_##Name##Answer), sizeof(tail) > 1,                               \
              (const mf_WireMember[]){members{NULL, 0, 0}}},
const mf_WireRow mf_wire_rows[MF_ANSWER_KINDS] = {MF_PROTOCOL_REQUESTS(
    REQUEST, MEMBER, UINT64_MAX) MF_PROTOCOL_ANSWERS(ANSWER, MEMBER, UINT64_MAX)};
