// A table from names to numbers, at most half full.
#include "model/names.h"

#include <string.h>

void mf_names_release(mf_Names *names) {
    mf_release(names->context, names->entries);
    *names = (mf_Names){.context = names->context};
}

static uint32_t find_slot(const mf_NameEntry *entries, uint32_t capacity, const char *name) {
    uint64_t hash = mf_hash_bytes(MF_HASH_START, name, strlen(name));
    uint32_t slot = (uint32_t)(hash ^ (hash >> 32)) & (capacity - 1);
    while (entries[slot].name != NULL && strcmp(entries[slot].name, name) != 0)
        slot = (slot + 1) & (capacity - 1);
    return slot;
}

uint32_t mf_names_find(const mf_Names *names, const char *name) {
    if (names->capacity == 0)
        return UINT32_MAX;
    const mf_NameEntry *entry = &names->entries[find_slot(names->entries, names->capacity, name)];
    return entry->name ? entry->value : UINT32_MAX;
}

static bool grow(mf_Names *names) {
    uint32_t capacity = names->capacity ? 2 * names->capacity : 32;
    mf_NameEntry *entries = mf_allocate(names->context, capacity, sizeof *entries);
    if (entries == NULL)
        return false;
    for (uint32_t i = 0; i < names->capacity; i++) {
        if (names->entries[i].name != NULL)
            entries[find_slot(entries, capacity, names->entries[i].name)] = names->entries[i];
    }
    mf_release(names->context, names->entries);
    names->entries = entries;
    names->capacity = capacity;
    return true;
}

bool mf_names_add(mf_Names *names, const char *name, uint32_t value) {
    if (2 * names->count >= names->capacity && !grow(names))
        return false;
    names->entries[find_slot(names->entries, names->capacity, name)] = (mf_NameEntry){name, value};
    names->count++;
    return true;
}
