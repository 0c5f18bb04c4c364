// Cutting one block of memory into arrays, for kernels whose scratch is sized by the counts of a
// plan. The same function also measures: without a block nothing is written, and `used` becomes the
// size that the block needs.
//
//   mf_Carver carver = {scratch, 0};
//   MF_CARVE(&carver, work->links, plan->link_count);
#pragma once

#include <stddef.h>

enum { MF_CARVE_ALIGNMENT = 64 }; // [byte] of the block and of every array in it

typedef struct mf_Carver {
    char *block; // aligned to MF_CARVE_ALIGNMENT; NULL: measure only
    size_t used; // [byte] so far
} mf_Carver;

// The next `size` bytes; NULL without a block.
static inline void *mf_carve_bytes(mf_Carver *carver, size_t size) {
    const size_t begin = carver->used;
    carver->used += (size + MF_CARVE_ALIGNMENT - 1) & ~(size_t)(MF_CARVE_ALIGNMENT - 1);
    return carver->block == NULL ? NULL : (void *)(carver->block + begin);
}

// Points `field`, a pointer, to `count` elements.
#define MF_CARVE(carver, field, count)                                                             \
    ((field) = (__typeof__(field))mf_carve_bytes((carver), sizeof *(field) * (size_t)(count)))
