// Arena memory: allocated in pieces, released as a whole. Pieces never move.
#pragma once

#include <mayfly/base.h>

typedef struct mf_ArenaBlock mf_ArenaBlock;

typedef struct mf_Arena {
    mf_Context *context;
    mf_ArenaBlock *blocks;
} mf_Arena;

// `size` zeroed bytes aligned to 16, or NULL when out of memory.
void *mf_arena_take(mf_Arena *arena, size_t size);
// A copy of the `length` bytes of `text` with a terminating 0, or NULL without memory.
char *mf_arena_text(mf_Arena *arena, const char *text, size_t length);
// Takes over all memory of `other`.
void mf_arena_adopt(mf_Arena *arena, mf_Arena *other);
void mf_arena_release(mf_Arena *arena);
