// The regions of memory that the server shares with one client each.
//
// The file is made here and its size is sealed, so that a client cannot truncate it while the
// server maps it. A client may write anything anywhere in it at any time: nothing that is read from
// it is a length, an index or an address, and no value is read twice. A counter that is wrong makes
// a slot look taken or free, which affects only that client.
#pragma once

#include "client/slots.h"

#include <mayfly/base.h>

#include <stdbool.h>

// Makes the memory and an open file of it, which the caller closes. `slot_size` [byte] > 0 of one
// of the 1 .. MF_PROTOCOL_SLOTS slots. MF_LIMIT: above `most` bytes. MF_NO_MEMORY. MF_IO: the
// system refused it.
mf_Status mf_region_create(mf_Context *context, uint32_t slots, size_t slot_size, size_t most,
                           mf_Region **out, int *file, mf_Error *error);
// `reclaims`: frees the pages even if the client still holds the file, which then reads as zeros.
// NULL is allowed.
void mf_region_destroy(mf_Context *context, mf_Region *region, bool reclaims);
