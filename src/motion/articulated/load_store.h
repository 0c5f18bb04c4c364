// Loading a state from the fields of a few lanes, checking and storing the new one; shared by the
// motions that step the plan's tree.
//
// Invariants: a lane never reads another lane; nothing of a lane whose new state is not finite or
// out of range is stored (it raises its fault word and is frozen).
#pragma once

#include "motion/articulated/state.h"

typedef struct Step {
    const mf_ArtBlock *block;
    const mf_ArtPlan *plan;
    mf_mask alive;
    bool all_alive;
} Step;

// Speeds [m/s, rad/s] and positions [m] beyond this are out of range.
static MF_INLINE mf_lane range_limit(void) {
    return mf_set((mf_real)1e9);
}

static inline void raise_fault(Step *s, mf_mask fine, uint32_t bit) {
    mf_mask bad = mf_and(s->alive, mf_not(fine));
    if (!mf_any(bad))
        return;
    mf_index word = mf_load_index((const int32_t *)s->block->fault);
    word = mf_select_index(bad, word | mf_set_index((int32_t)bit), word);
    mf_store_index((int32_t *)s->block->fault, word);
    s->alive = mf_and(s->alive, fine);
    s->all_alive = false;
}

static MF_INLINE const mf_real *row_of(const mf_ArtBlock *block, uint32_t row) {
    return (const mf_real *)block->rows[row];
}

static MF_INLINE Quat quat_load(const mf_real *row, uint32_t c) {
    return MF_VALUE(Quat, row_load(row, c), row_load(row, c + 1), row_load(row, c + 2),
                    row_load(row, c + 3));
}

static inline void load_state(const mf_ArtBlock *block, State *state) {
    const mf_ArtPlan *plan = block->plan;
    const mf_real *angle = row_of(block, MF_ART_ROW_ANGLE), *rate = row_of(block, MF_ART_ROW_RATE);
    state->position = vec_load(row_of(block, MF_ART_ROW_POSITION), 0);
    state->attitude = quat_load(row_of(block, MF_ART_ROW_ORIENTATION), 0);
    state->velocity = state->rate = vec_zero();
    if (!plan->fixed) {
        state->velocity = vec_load(row_of(block, MF_ART_ROW_LINEAR), 0);
        state->rate = vec_load(row_of(block, MF_ART_ROW_ANGULAR), 0);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL) {
            state->ball[link->row] = quat_load(row_of(block, MF_ART_ROW_BALL), 4 * link->row);
            state->ball_rate[link->row] =
                vec_load(row_of(block, MF_ART_ROW_BALL_RATE), 3 * link->row);
        } else if (link->inner) {
            state->angle[l] = row_load(row_of(block, MF_ART_ROW_FREE), link->row);
            state->speed[l] = row_load(row_of(block, MF_ART_ROW_FREE_SPEED), link->row);
        } else {
            state->angle[l] = row_load(angle, link->row);
            state->speed[l] = row_load(rate, link->row);
        }
    }
}

static MF_INLINE mf_real *low_of(const mf_ArtBlock *block, uint32_t row) {
    return low_row(block->rows[row], block->row[row].low);
}

// The remainders of the base's sums.
static inline void load_low_base(const mf_ArtBlock *block, State *low) {
    low->position = low_vec(low_of(block, MF_ART_ROW_POSITION), 0);
    low->attitude = low_quat(low_of(block, MF_ART_ROW_ORIENTATION), 0);
    low->velocity = low_vec(low_of(block, MF_ART_ROW_LINEAR), 0);
    low->rate = low_vec(low_of(block, MF_ART_ROW_ANGULAR), 0);
}

// Those of the joints'.
static inline void load_low_joints(const mf_ArtBlock *block, State *low) {
    const mf_ArtPlan *plan = block->plan;
    const mf_real *angle = low_of(block, MF_ART_ROW_ANGLE), *rate = low_of(block, MF_ART_ROW_RATE);
    const mf_real *free = low_of(block, MF_ART_ROW_FREE),
                  *free_speed = low_of(block, MF_ART_ROW_FREE_SPEED);
    const mf_real *ball = low_of(block, MF_ART_ROW_BALL),
                  *ball_rate = low_of(block, MF_ART_ROW_BALL_RATE);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const uint32_t row = link->row;
        if (link->kind == MF_ART_BALL) {
            low->ball[row] = low_quat(ball, 4 * row);
            low->ball_rate[row] = low_vec(ball_rate, 3 * row);
            continue;
        }
        low->angle[l] = low_load(link->inner ? free : angle, row);
        low->speed[l] = low_load(link->inner ? free_speed : rate, row);
    }
}

static inline void load_low(const mf_ArtBlock *block, State *low) {
    load_low_base(block, low);
    load_low_joints(block, low);
}

// ---- storing ------------------------------------------------------------------------------------

// `field` of the lanes to step.
static MF_INLINE void keep_at(const Step *s, void *field, uint32_t c, mf_lane a) {
    mf_real *base = (mf_real *)field + (size_t)c * MF_BLOCK;
    if (s->all_alive)
        mf_store(base, a);
    else
        mf_store_where(s->alive, base, a);
}

static MF_INLINE void keep_store(const Step *s, uint32_t row, uint32_t c, mf_lane a) {
    keep_at(s, s->block->rows[row], c, a);
}

static MF_INLINE void keep_vec(const Step *s, uint32_t row, uint32_t c, Vec a) {
    keep_store(s, row, c, a.x);
    keep_store(s, row, c + 1, a.y);
    keep_store(s, row, c + 2, a.z);
}

static MF_INLINE void keep_quat(const Step *s, uint32_t row, uint32_t c, Quat a) {
    keep_store(s, row, c, a.w);
    keep_store(s, row, c + 1, a.x);
    keep_store(s, row, c + 2, a.y);
    keep_store(s, row, c + 3, a.z);
}

static MF_INLINE mf_lane vec_size(Vec a) {
    return mf_abs(a.x) + mf_abs(a.y) + mf_abs(a.z);
}

static MF_INLINE mf_lane quat_size(Quat a) {
    return mf_abs(a.w) + mf_abs(a.x) + mf_abs(a.y) + mf_abs(a.z);
}

// A sum forgets neither NaN nor infinity, and no part of it is larger.
static inline void check_state(Step *s, const State *state) {
    const mf_ArtPlan *plan = s->plan;
    mf_lane sum = vec_size(state->position) + vec_size(state->velocity) + vec_size(state->rate) +
                  quat_size(state->attitude);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++)
        if (links[l].kind != MF_ART_BALL)
            sum = sum + mf_abs(state->angle[l]) + mf_abs(state->speed[l]);
    for (uint32_t b = 0; b < plan->ball_count; b++)
        sum = sum + quat_size(state->ball[b]) + vec_size(state->ball_rate[b]);
    raise_fault(s, mf_finite(sum), MF_FAULT_NONFINITE);
    raise_fault(s, mf_less(sum, range_limit()), MF_FAULT_RANGE);
}

static MF_INLINE void keep_low(const Step *s, mf_real *lows, uint32_t c, mf_lane a) {
    if (lows != NULL)
        keep_at(s, lows, c, a);
}

static MF_INLINE void keep_low_vec(const Step *s, mf_real *lows, uint32_t c, Vec a) {
    keep_low(s, lows, c, a.x);
    keep_low(s, lows, c + 1, a.y);
    keep_low(s, lows, c + 2, a.z);
}

static MF_INLINE void keep_low_quat(const Step *s, mf_real *lows, uint32_t c, Quat a) {
    keep_low(s, lows, c, a.w);
    keep_low(s, lows, c + 1, a.x);
    keep_low(s, lows, c + 2, a.y);
    keep_low(s, lows, c + 3, a.z);
}

static inline void store_low_base(const Step *s, const State *low) {
    const mf_ArtBlock *block = s->block;
    keep_low_vec(s, low_of(block, MF_ART_ROW_POSITION), 0, low->position);
    keep_low_quat(s, low_of(block, MF_ART_ROW_ORIENTATION), 0, low->attitude);
    keep_low_vec(s, low_of(block, MF_ART_ROW_LINEAR), 0, low->velocity);
    keep_low_vec(s, low_of(block, MF_ART_ROW_ANGULAR), 0, low->rate);
}

static inline void store_low_joints(const Step *s, const State *low) {
    const mf_ArtBlock *block = s->block;
    const mf_ArtPlan *plan = s->plan;
    mf_real *angle = low_of(block, MF_ART_ROW_ANGLE), *rate = low_of(block, MF_ART_ROW_RATE);
    mf_real *free = low_of(block, MF_ART_ROW_FREE),
            *free_speed = low_of(block, MF_ART_ROW_FREE_SPEED);
    mf_real *ball = low_of(block, MF_ART_ROW_BALL),
            *ball_rate = low_of(block, MF_ART_ROW_BALL_RATE);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const uint32_t row = link->row;
        if (link->kind == MF_ART_BALL) {
            keep_low_quat(s, ball, 4 * row, low->ball[row]);
            keep_low_vec(s, ball_rate, 3 * row, low->ball_rate[row]);
            continue;
        }
        keep_low(s, link->inner ? free : angle, row, low->angle[l]);
        keep_low(s, link->inner ? free_speed : rate, row, low->speed[l]);
    }
}

static inline void store_low(const Step *s, const State *low) {
    if (!s->plan->fixed)
        store_low_base(s, low);
    store_low_joints(s, low);
}

static inline void store_state(const Step *s, const State *state) {
    const mf_ArtPlan *plan = s->plan;
    if (!plan->fixed) {
        keep_vec(s, MF_ART_ROW_POSITION, 0, state->position);
        keep_quat(s, MF_ART_ROW_ORIENTATION, 0, state->attitude);
        keep_vec(s, MF_ART_ROW_LINEAR, 0, vec_if_moves(state->velocity));
        keep_vec(s, MF_ART_ROW_ANGULAR, 0, vec_if_moves(state->rate));
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL) {
            keep_quat(s, MF_ART_ROW_BALL, 4 * link->row, state->ball[link->row]);
            keep_vec(s, MF_ART_ROW_BALL_RATE, 3 * link->row,
                     vec_if_moves(state->ball_rate[link->row]));
            continue;
        }
        mf_lane angle = state->angle[l], speed = state->speed[l];
        settle_joint(&angle, &speed);
        keep_store(s, link->inner ? MF_ART_ROW_FREE : MF_ART_ROW_ANGLE, link->row, angle);
        keep_store(s, link->inner ? MF_ART_ROW_FREE_SPEED : MF_ART_ROW_RATE, link->row, speed);
    }
}
