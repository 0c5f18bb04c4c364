// Arrays in one block, and whether the memory of an object exceeds that of the machine, before
// anything is allocated.
#pragma once

#include <mayfly/base.h>

enum { MF_MEMORY_MANY = 1 << 16 }; // [1] smaller counts are not checked

// MF_NO_MEMORY with the bytes needed when `count` objects of `each` bytes exceed the machine's
// memory or the limit on the process's address space. `what`: plural noun for the message.
mf_Status mf_memory_suffices(size_t each, uint64_t count, const char *what, mf_Error *error);

// An array of several that live as long as each other.
typedef struct mf_Array {
    void *pointer; // address of the pointer to its first element
    size_t count, size;
} mf_Array;
#define MF_ARRAY(pointer, count)                                                                   \
    { &(pointer), (count), sizeof *(pointer) }

// One block with all of them, zeroed; mf_release of the first pointer releases it. False: no
// memory; the pointers are NULL.
bool mf_allocate_arrays(mf_Context *context, const mf_Array *arrays, size_t count);

// Each in a block of its own, zeroed. MF_NO_MEMORY, with the message "<who>: out of memory": those
// that could be allocated remain, for their owner to release.
mf_Status mf_allocate_each(mf_Context *context, const mf_Array *arrays, size_t count,
                           const char *who, mf_Error *error);
#define MF_ALLOCATE(context, who, error, ...)                                                      \
    mf_allocate_each((context), (const mf_Array[]){__VA_ARGS__},                                   \
                     sizeof((const mf_Array[]){__VA_ARGS__}) / sizeof(mf_Array), (who), (error))
