// Everything that lanes can do, by number, so that one test can run it through every copy of
// lane_kernel.c.
#pragma once

#include "math/kernel.h"

typedef enum mf_LaneCase {
    // From a and b to a real number.
    MF_LANE_ADD,
    MF_LANE_SUB,
    MF_LANE_MUL,
    MF_LANE_DIV,
    MF_LANE_MIN,
    MF_LANE_MAX,
    MF_LANE_SQRT,
    MF_LANE_ABS,
    MF_LANE_CLAMP,       // b between -1 and a
    MF_LANE_SELECT,      // a < b ? a : b + 1
    MF_LANE_KEEP,        // a <= b ? b : 0
    MF_LANE_ADD_WHERE,   // a + b where a <= b, else a
    MF_LANE_FMA_WHERE,   // a b + a, rounded once, where a <= b, else a
    MF_LANE_STORE_WHERE, // a where a <= b, else 7
    // Truth values, as 1 and 0.
    MF_LANE_LESS,
    MF_LANE_LESS_EQUAL,
    MF_LANE_AND,    // a < b and a < 1
    MF_LANE_DIFFER, // one of the two, not both
    MF_LANE_OR,
    MF_LANE_NOT,
    MF_LANE_FINITE,
    MF_LANE_COMPARISONS_END, // what follows needs |a| < 2^30
    MF_LANE_FLOOR = MF_LANE_COMPARISONS_END,
    MF_LANE_TRUNCATE, // to an index and back
    // From the integers i and j, 0 <= i < 32.
    MF_LANE_INDEX_EQUAL, // i == j & 31
    MF_LANE_INDEX_LESS,
    MF_LANE_INDEX_HAS, // i & j & 31
    MF_LANE_INDEX_SELECT,
    MF_LANE_INDEX_SHIFT,  // (i << 4) + (j >> 3)
    MF_LANE_GATHER,       // a[i]
    MF_LANE_GATHER_INDEX, // j[i]
    MF_LANE_BYTES,        // byte i of the lane's 32 bytes, which are j of the first two blocks
    // Functions: the result of the first is sine, of the second cosine.
    MF_LANE_FUNCTIONS,
    MF_LANE_SINE = MF_LANE_FUNCTIONS,
    MF_LANE_COSINE,
    MF_LANE_ATAN2,
    MF_LANE_CASES
} mf_LaneCase;

// `count` values (a multiple of 16) of a and b and of i and j; all arrays aligned to 64 bytes.
typedef struct mf_LaneInput {
    const void *a, *b;
    const int32_t *i, *j;
    uint32_t count;
} mf_LaneInput;

MF_KERNEL_COPIES(void, mf_lane_run, (mf_LaneCase which, const mf_LaneInput *input, void *out));
// What a mask says as a whole: bit 0 any, bit 1 all, for a < 0 in each full group of lanes; written
// to out[0 .. count-1], the same for all lanes of a group.
MF_KERNEL_COPIES(uint32_t, mf_lane_masks, (const mf_LaneInput *input, int32_t *out));
// Scatters a to out[i + 32 * lane of 16] where a < b; appends j where a < b to list and returns how
// many.
MF_KERNEL_COPIES(uint32_t, mf_lane_scatter, (const mf_LaneInput *input, void *out, int32_t *list));
// Writes value c of record i of a to out[c * count + place]; appends the places where a < b to list
// and returns how many.
MF_KERNEL_COPIES(uint32_t, mf_lane_records, (const mf_LaneInput *input, void *out, int32_t *list));
