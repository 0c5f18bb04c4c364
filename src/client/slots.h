// A region of memory that server and client share: slots of one size, which one side fills and the
// other one empties. docs/reference/protocol.md ("Shared memory") has the layout.
#pragma once

#include <mayfly/protocol.h>

#include <stdatomic.h>
#include <stddef.h>

typedef struct mf_Region {
    uint8_t *memory;                     // NULL: none
    size_t size;                         // [byte] of the file
    uint32_t first;                      // [byte] where slot 0 begins
    uint32_t stride;                     // [byte] of a slot
    uint32_t slots;                      // [1]
    uint32_t last;                       // [1] number of what was put last in any slot
    uint32_t numbers[MF_PROTOCOL_SLOTS]; // of what was put last in each; 0: nothing was
} mf_Region;

static inline uint8_t *mf_region_slot(const mf_Region *region, uint32_t slot) {
    return region->memory + region->first + (size_t)slot * region->stride;
}

static inline _Atomic uint32_t *mf_region_counter(const mf_Region *region, uint32_t slot) {
    return (_Atomic uint32_t *)(void *)(region->memory + (size_t)slot * MF_PROTOCOL_COUNTER);
}

// Tells the other side that a slot was read, of whose content it said this number.
static inline void mf_region_release(const mf_Region *region, uint32_t slot, uint32_t number) {
    atomic_store_explicit(mf_region_counter(region, slot), number, memory_order_release);
}

// The first slot whose content the other side has released, and the number of its next content;
// NULL: there is none.
static inline uint8_t *mf_region_take(mf_Region *region, uint32_t *slot, uint32_t *number) {
    for (uint32_t s = 0; s < region->slots; s++) {
        if (atomic_load_explicit(mf_region_counter(region, s), memory_order_acquire) !=
            region->numbers[s])
            continue;
        region->last += region->last == UINT32_MAX ? 2 : 1; // 0 is that of an unused slot
        region->numbers[s] = *number = region->last;
        *slot = s;
        return mf_region_slot(region, s);
    }
    return NULL;
}
