// A table from names to numbers: open addressing over 64-bit FNV-1a. Names are borrowed.
#pragma once

#include <mayfly/base.h>

typedef struct mf_NameEntry {
    const char *name; // NULL = free
    uint32_t value;
} mf_NameEntry;

typedef struct mf_Names {
    mf_Context *context;
    mf_NameEntry *entries;
    uint32_t count;
    uint32_t capacity; // a power of two, or 0
} mf_Names;

static inline mf_Names mf_names_start(mf_Context *context) {
    return (mf_Names){.context = context};
}
void mf_names_release(mf_Names *names);

// The number stored under `name`, or UINT32_MAX.
uint32_t mf_names_find(const mf_Names *names, const char *name);

// Stores `value` (not UINT32_MAX) under a new name; false when out of memory.
bool mf_names_add(mf_Names *names, const char *name, uint32_t value);
