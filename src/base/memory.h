// Test whether the memory of an object exceeds that of the machine, before anything is allocated.
#ifndef MAYFLY_BASE_MEMORY_H
#define MAYFLY_BASE_MEMORY_H

#include <mayfly/base.h>

enum { MF_MEMORY_MANY = 1 << 16 }; // [1] smaller counts are not checked

// MF_NO_MEMORY with the bytes needed when `count` objects of `each` bytes exceed the machine's
// memory or the limit on the process's address space. `what`: plural noun for the message.
mf_Status mf_memory_suffices(size_t each, uint64_t count, const char *what, mf_Error *error);

#endif
