// Test whether the memory of an object exceeds that of the machine, before anything is allocated.
#ifndef MAYFLY_BASE_MEMORY_H
#define MAYFLY_BASE_MEMORY_H

#include <mayfly/base.h>

enum { MF_MEMORY_MANY = 1 << 16 }; // [1] fewer of anything are simply tried

// MF_NO_MEMORY with the bytes needed when `count` things of `each` bytes are more than the machine
// has (its memory, or the limit on the process's address space). `what`: their plural.
mf_Status mf_memory_suffices(size_t each, uint64_t count, const char *what, mf_Error *error);

#endif
