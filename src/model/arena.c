// Arena memory: allocated in pieces, released as a whole.
#include "model/arena.h"

#include <string.h>

struct mf_ArenaBlock {
    _Alignas(16) mf_ArenaBlock *next;
    size_t used;     // [byte]
    size_t capacity; // [byte]
};

void *mf_arena_take(mf_Arena *arena, size_t size) {
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + 15) & ~(size_t)15;
    mf_ArenaBlock *block = arena->blocks;
    if (block == NULL || block->capacity - block->used < size) {
        size_t capacity = size > 4000 ? size : 4000;
        block = mf_allocate(arena->context, 1, sizeof *block + capacity);
        if (block == NULL)
            return NULL;
        block->capacity = capacity;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *memory = (char *)(block + 1) + block->used;
    block->used += size;
    return memory;
}

char *mf_arena_text(mf_Arena *arena, const char *text, size_t length) {
    char *copy = mf_arena_take(arena, length + 1);
    if (copy != NULL)
        memcpy(copy, text, length);
    return copy;
}

void mf_arena_adopt(mf_Arena *arena, mf_Arena *other) {
    mf_ArenaBlock **end = &other->blocks;
    while (*end != NULL)
        end = &(*end)->next;
    *end = arena->blocks;
    arena->blocks = other->blocks;
    other->blocks = NULL;
}

void mf_arena_release(mf_Arena *arena) {
    while (arena->blocks != NULL) {
        mf_ArenaBlock *next = arena->blocks->next;
        mf_release(arena->context, arena->blocks);
        arena->blocks = next;
    }
}
