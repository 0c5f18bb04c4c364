// Hashing of numbers by value: the same on every machine, whatever its byte order.
#ifndef MAYFLY_BASE_HASH_H
#define MAYFLY_BASE_HASH_H

#include <mayfly/base.h>

uint64_t mf_hash_u32(uint64_t hash, uint32_t value);

// -0 counts as 0: they move a robot the same.
uint64_t mf_hash_doubles(uint64_t hash, const double *values, size_t count);

#endif
