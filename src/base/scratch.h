// Working memory for the threads of a step: equal blocks, one per thread, allocated with the object
// that needs them. The contents of a block are undefined after it is returned. Nothing is allocated
// between creation and destruction.
#pragma once

#include <mayfly/base.h>

typedef struct mf_Scratch mf_Scratch;

// At most `most` blocks of `size` bytes, aligned to 64, as many as the context has threads. The
// caller destroys *out. MF_NO_MEMORY.
mf_Status mf_scratch_create(mf_Context *context, size_t size, uint32_t most, mf_Scratch **out,
                            mf_Error *error);
void mf_scratch_destroy(mf_Context *context, mf_Scratch *scratch); // may be NULL

// Lets the blocks have at least `size` bytes; none may be in use. On failure nothing changes.
// MF_NO_MEMORY.
mf_Status mf_scratch_reserve(mf_Context *context, mf_Scratch *scratch, size_t size,
                             mf_Error *error);

// A block for exclusive use until it is returned. Waits while all are in use, which happens only
// when a host's own parallel loop has more threads than the context.
void *mf_scratch_borrow(mf_Scratch *scratch);
void mf_scratch_return(mf_Scratch *scratch, void *block);
