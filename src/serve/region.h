// A region of memory that the server shares with one client: slots of one size, which one side
// fills and the other one empties. docs/reference/protocol.md ("Shared memory") has the layout.
//
// The file is made here and its size is sealed, so that no client can cut it under the server. A
// client may write anything anywhere in it at any time: nothing that is read from it is a length,
// an index or an address, and no value is read twice. A counter that is wrong makes a slot look
// taken or free, which concerns nobody but that client.
#ifndef MAYFLY_SERVE_REGION_H
#define MAYFLY_SERVE_REGION_H

#include <mayfly/base.h>
#include <mayfly/protocol.h>

#include <stdbool.h>

typedef struct mf_Region {
    uint8_t *memory;
    size_t size;                         // [byte] of the file
    uint32_t first;                      // [byte] where slot 0 begins
    uint32_t stride;                     // [byte] of a slot, a multiple of 64
    uint32_t slots;                      // [1]
    uint32_t last;                       // [1] number of what was put last in any slot
    uint32_t numbers[MF_PROTOCOL_SLOTS]; // of what was put last in each; 0: nothing was
} mf_Region;

// Makes the memory and an open file of it, which the caller closes. `slot_size` [byte] > 0 of one
// of the 1 .. MF_PROTOCOL_SLOTS slots. MF_LIMIT: above `most` bytes. MF_NO_MEMORY. MF_IO: the
// system refused it.
mf_Status mf_region_create(mf_Context *context, uint32_t slots, size_t slot_size, size_t most,
                           mf_Region **out, int *file, mf_Error *error);
// `reclaims`: its pages are given back even if the client keeps the file, which then holds zeros.
// NULL is allowed.
void mf_region_destroy(mf_Context *context, mf_Region *region, bool reclaims);

// The first slot whose content the client has released, and the number that its next content has;
// NULL: there is none.
uint8_t *mf_region_take(mf_Region *region, uint32_t *slot, uint32_t *number);
// Tells the client that slot `slot` was read, of whose content it said this number.
void mf_region_release(mf_Region *region, uint32_t slot, uint32_t number);
static inline uint8_t *mf_region_slot(const mf_Region *region, uint32_t slot) {
    return region->memory + region->first + (size_t)slot * region->stride;
}

#endif
