// Hashing of numbers by value: the same on every machine, whatever its byte order.
#pragma once

#include <mayfly/base.h>

// CRC-32 (IEEE 802.3, reflected), for snapshots; start from 0.
uint32_t mf_crc32(uint32_t crc, const void *data, size_t size);

uint64_t mf_hash_u32(uint64_t hash, uint32_t value);

// -0 is hashed as 0, because both give the same motion.
uint64_t mf_hash_doubles(uint64_t hash, const double *values, size_t count);
