// Sorting in place without allocation, and finding in what is sorted.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Whether `a` comes before `b`.
typedef bool (*mf_BeforeFn)(const void *a, const void *b);

enum { MF_SORT_SIZE = 64 }; // [byte] of an item at most

static inline void mf_sort_swap(char *a, char *b, size_t size) {
    char keep[MF_SORT_SIZE];
    memcpy(keep, a, size);
    memcpy(a, b, size);
    memcpy(b, keep, size);
}

static inline void mf_sort_sift(char *heap, uint32_t root, uint32_t count, size_t size,
                                mf_BeforeFn before) {
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && before(heap + child * size, heap + (child + 1) * size);
        if (!before(heap + root * size, heap + child * size))
            return;
        mf_sort_swap(heap + root * size, heap + child * size, size);
    }
}

// The index of the last of `count` > 0 items of `size` bytes whose number, *first in item 0, is not
// larger than `number`; that of item 0 is not.
static inline uint32_t mf_find_part(const uint32_t *first, size_t size, uint32_t count,
                                    uint32_t number) {
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        uint32_t begin;
        memcpy(&begin, (const char *)first + middle * size, sizeof begin);
        *(begin > number ? &high : &low) = middle;
    }
    return low;
}

// Heapsort: n log n for any input; items of which none comes before the other may change places.
// Inline, so that the compiler knows `size` and `before`.
static inline void mf_heap_sort(void *items, uint32_t count, size_t size, mf_BeforeFn before) {
    char *heap = (char *)items;
    for (uint32_t root = count / 2; root-- > 0;)
        mf_sort_sift(heap, root, count, size, before);
    for (uint32_t left = count; left-- > 1;) {
        mf_sort_swap(heap, heap + left * size, size);
        mf_sort_sift(heap, 0, left, size, before);
    }
}
