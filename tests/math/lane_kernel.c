// Runs the operations of math/lane.h, lane_functions.h and lane_table.h over arrays; compiled once
// per instruction set and precision like every kernel.
#include "lane_cases.h"

#include "math/lane.h"
#include "math/lane_functions.h"
#include "math/lane_record.h"
#include "math/lane_table.h"

static inline mf_lane from_mask(mf_mask mask) {
    return mf_keep(mask, mf_set((mf_real)1));
}

static inline mf_lane real_case(mf_LaneCase which, mf_lane a, mf_lane b) {
    mf_lane one = mf_set((mf_real)1), sine, cosine;
    switch (which) {
    case MF_LANE_ADD:
        return a + b;
    case MF_LANE_SUB:
        return a - b;
    case MF_LANE_MUL:
        return a * b;
    case MF_LANE_DIV:
        return a / b;
    case MF_LANE_MIN:
        return mf_min(a, b);
    case MF_LANE_MAX:
        return mf_max(a, b);
    case MF_LANE_SQRT:
        return mf_sqrt(a);
    case MF_LANE_ABS:
        return mf_abs(a);
    case MF_LANE_CLAMP:
        return mf_clamp(b, mf_set((mf_real)-1), a);
    case MF_LANE_ADD_WHERE:
        return mf_add_where(mf_less_equal(a, b), a, b);
    case MF_LANE_FMA_WHERE:
        return mf_fma_where(mf_less_equal(a, b), a, b, a);
    case MF_LANE_SELECT:
        return mf_select(mf_less(a, b), a, b + one);
    case MF_LANE_KEEP:
        return mf_keep(mf_less_equal(a, b), b);
    case MF_LANE_LESS:
        return from_mask(mf_less(a, b));
    case MF_LANE_LESS_EQUAL:
        return from_mask(mf_less_equal(a, b));
    case MF_LANE_AND:
        return from_mask(mf_and(mf_less(a, b), mf_less(a, one)));
    case MF_LANE_DIFFER:
        return from_mask(mf_differ(mf_less(a, b), mf_less(a, one)));
    case MF_LANE_OR:
        return from_mask(mf_or(mf_less(a, b), mf_less(a, one)));
    case MF_LANE_NOT:
        return from_mask(mf_not(mf_less(a, b)));
    case MF_LANE_FINITE:
        return from_mask(mf_finite(a));
    case MF_LANE_FLOOR:
        return mf_floor_lane(a);
    case MF_LANE_TRUNCATE:
        return mf_from_index(mf_to_index(a));
    case MF_LANE_SINE:
        mf_sin_cos_lane(a, &sine, &cosine);
        return sine;
    case MF_LANE_COSINE:
        mf_sin_cos_lane(a, &sine, &cosine);
        return cosine;
    case MF_LANE_ATAN2:
        return mf_atan2_lane(a, b);
    default:
        return mf_zero();
    }
}

static inline mf_lane index_case(mf_LaneCase which, const mf_LaneInput *input, uint32_t at) {
    mf_index i = mf_load_index(input->i + at), j = mf_load_index(input->j + at);
    mf_index low = j & mf_set_index(31);
    mf_Bytes bytes;
    switch (which) {
    case MF_LANE_INDEX_EQUAL:
        return from_mask(mf_index_equal(i, low));
    case MF_LANE_INDEX_LESS:
        return from_mask(mf_index_less(i, low));
    case MF_LANE_INDEX_HAS:
        return from_mask(mf_index_has(i, low));
    case MF_LANE_INDEX_SELECT:
        return mf_from_index(mf_select_index(mf_index_less(i, low), i, mf_set_index(-7)));
    case MF_LANE_INDEX_SHIFT:
        return mf_from_index((i << 4) + (j >> 3));
    case MF_LANE_GATHER:
        return mf_gather((const mf_real *)input->a, i);
    case MF_LANE_GATHER_INDEX:
        return mf_from_index(mf_gather_index(input->j, i));
    default:
        bytes = mf_bytes_pack(input->j + at % MF_BYTES_STRIDE);
        // Bits above the eighth do not count.
        return mf_from_index(mf_bytes_read(&bytes, (i << 3) + (low << 8)) & mf_set_index(255));
    }
}

void MF_KERNEL(mf_lane_run)(mf_LaneCase which, const mf_LaneInput *input, void *out) {
    const mf_real *a = (const mf_real *)input->a, *b = (const mf_real *)input->b;
    mf_real *result = (mf_real *)out;
    bool indices = which >= MF_LANE_INDEX_EQUAL && which < MF_LANE_FUNCTIONS;
    for (uint32_t at = 0; at < input->count; at += MF_LANES) {
        mf_lane left = mf_load(a + at), right = mf_load(b + at);
        if (which == MF_LANE_STORE_WHERE) {
            mf_store(result + at, mf_set((mf_real)7));
            mf_store_where(mf_less_equal(left, right), result + at, left);
        } else {
            mf_store(result + at,
                     indices ? index_case(which, input, at) : real_case(which, left, right));
        }
    }
}

uint32_t MF_KERNEL(mf_lane_masks)(const mf_LaneInput *input, int32_t *out) {
    const mf_real *a = (const mf_real *)input->a;
    for (uint32_t at = 0; at < input->count; at += MF_LANES) {
        mf_mask mask = mf_less(mf_load(a + at), mf_zero());
        int32_t said = (mf_any(mask) ? 1 : 0) | (mf_all(mask) ? 2 : 0);
        for (uint32_t lane = 0; lane < MF_LANES; lane++)
            out[at + lane] = said;
    }
    return MF_LANES;
}

uint32_t MF_KERNEL(mf_lane_scatter)(const mf_LaneInput *input, void *out, int32_t *list) {
    const mf_real *a = (const mf_real *)input->a, *b = (const mf_real *)input->b;
    uint32_t count = 0;
    for (uint32_t at = 0; at < input->count; at += MF_LANES) {
        mf_lane value = mf_load(a + at);
        mf_mask mask = mf_less(value, mf_load(b + at));
        mf_index lane = mf_lane_numbers() + mf_set_index((int32_t)(at % 16));
        mf_index index = mf_load_index(input->i + at) + (lane << 5);
        mf_scatter(mask, (mf_real *)out, index, value);
        count += mf_append_index(list + count, mask, mf_load_index(input->j + at));
    }
    return count;
}

uint32_t MF_KERNEL(mf_lane_records)(const mf_LaneInput *input, void *out, int32_t *list) {
    const mf_real *a = (const mf_real *)input->a, *b = (const mf_real *)input->b;
    mf_real *result = (mf_real *)out;
    uint32_t count = 0;
    for (uint32_t at = 0; at < input->count; at += MF_LANES) {
        mf_lane values[MF_RECORD];
        mf_load_records(a, input->i + at, values);
        for (uint32_t c = 0; c < MF_RECORD; c++)
            mf_store(result + c * input->count + at, values[c]);
        count +=
            mf_append_numbers(list + count, mf_less(mf_load(a + at), mf_load(b + at)), (int32_t)at);
    }
    return count;
}
