// Working memory that the threads of a step borrow: a few equal blocks, as many as threads can work
// at a time, made with the object that needs them. What is in a block may be thrown away when it is
// given back. Nothing is allocated in between.
#ifndef MAYFLY_BASE_SCRATCH_H
#define MAYFLY_BASE_SCRATCH_H

#include <mayfly/base.h>

typedef struct mf_Scratch mf_Scratch;

// At most `most` blocks of `size` bytes, aligned to 64, as many as the context has threads. The
// caller destroys *out. MF_NO_MEMORY.
mf_Status mf_scratch_create(mf_Context *context, size_t size, uint32_t most, mf_Scratch **out,
                            mf_Error *error);
void mf_scratch_destroy(mf_Context *context, mf_Scratch *scratch); // NULL is fine

// A block that nobody else has until it is given back. Waits where all are in use, which only a
// host's own parallel loop of more threads than the context has can bring about.
void *mf_scratch_borrow(mf_Scratch *scratch);
void mf_scratch_return(mf_Scratch *scratch, void *block);

size_t mf_scratch_size(const mf_Scratch *scratch); // [byte] of a block

#endif
