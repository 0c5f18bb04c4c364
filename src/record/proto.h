// Messages of protocol buffers, as far as Mayfly writes them, and their descriptions.
//
// A text buffer is the memory. A message inside another one is written between mf_proto_open and
// mf_proto_close, which puts the length in front of it.
#pragma once

#include "base/text.h"

void mf_proto_uint(mf_Text *out, uint32_t field, uint64_t value);
void mf_proto_fixed32(mf_Text *out, uint32_t field, uint32_t value);
void mf_proto_double(mf_Text *out, uint32_t field, double value);
void mf_proto_string(mf_Text *out, uint32_t field, const char *text);
void mf_proto_bytes(mf_Text *out, uint32_t field, const void *bytes, size_t size);

size_t mf_proto_open(mf_Text *out, uint32_t field);
void mf_proto_close(mf_Text *out, size_t opened);

// A google.protobuf.Timestamp.
void mf_proto_time(mf_Text *out, uint32_t field, mf_Time time);

// Appends a FileDescriptorSet: google/protobuf/timestamp.proto and duration.proto, and a file of
// the given package. Each line describes a message: its name and its fields, numbered from 1 on or
// from what stands behind '='; `name:TYPE` with d double, r float, i sfixed32, u fixed32, s string,
// b bool, y bytes, T Timestamp, D Duration or the name of a message; '*' in front of a type:
// repeated, '?': optional; "name:Enum(A,B)": an enumeration inside the message.
void mf_proto_describe(mf_Text *out, const char *package, const char *const *lines);
