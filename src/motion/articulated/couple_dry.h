// Rows of dry friction among the couplings of an articulated body, of tendons and joints: no speed
// at the end of the step, with a force within +-F. Rows of joints act where other couplings do;
// what is known of their friction without couplings (dry.h) is a force on them already.
#ifndef MF_MOTION_ARTICULATED_COUPLE_DRY_H
#define MF_MOTION_ARTICULATED_COUPLE_DRY_H

#include "motion/articulated/couple.h"

// The slope is only so large that rounding does not show.
static inline void dry_law(Row *row, mf_lane most, mf_lane already, mf_mask where, mf_lane unit) {
    const mf_real stiff = sizeof(mf_real) == 4 ? (mf_real)1e5 : (mf_real)1e10;
    const mf_lane tiny = mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON);
    row->slope = mf_set(stiff) / mf_max(row->diagonal, tiny);
    row->given = mf_keep(where, -(unit * already));
    row->high = mf_keep(where, unit * (most - already));
    row->low = mf_keep(where, -(unit * (most + already)));
}

static inline void dry_axis_row(Couple *c, const State *state, uint32_t l, mf_lane gain,
                                mf_lane unit) {
    const mf_lane most = mf_set(link_constants(c->plan, l)[MF_ART_FRICTION]);
    rows_begin(c, 1);
    row_impulse(c, l, mf_set((mf_real)1));
    Row *row = rows_finish(c, state);
    row->value = mf_fma(unit, gain, state->speed[l]);
    dry_law(row, most, c->work->dry[l].force, c->work->unlocked, unit);
}

// About each of the child's axes by itself.
static inline void dry_ball_rows(Couple *c, const State *state, uint32_t l, Vec gain,
                                 mf_lane unit) {
    const mf_ArtLink *link = &mf_art_links(c->plan)[l];
    const Mat *rotation = &c->work->balls[link->row].rotation;
    const mf_lane most = mf_set(link_constants(c->plan, l)[MF_ART_FRICTION]);
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Vec none = vec_zero(), end = vec_fma(gain, unit, state->ball_rate[link->row]),
              force = c->work->dry_balls[link->row].force;
    const Vec axes[3] = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
    const mf_lane speeds[3] = {end.x, end.y, end.z}, forces[3] = {force.x, force.y, force.z};
    rows_begin(c, 3);
    for (uint32_t k = 0; k < 3; k++) {
        row_pull(c, k, (int32_t)l, none, none, axes[k]);
        row_pull(c, k, link->parent, none, none, vec_negative(mat_apply(rotation, axes[k])));
    }
    Row *rows = rows_finish(c, state);
    for (uint32_t k = 0; k < 3; k++) {
        rows[k].value = speeds[k];
        dry_law(&rows[k], most, forces[k], c->work->unlocked, unit);
    }
}

static inline void dry_rows(Couple *c, const State *state, const Rates *rates, mf_lane unit) {
    const mf_ArtLink *links = mf_art_links(c->plan);
    if (c->plan->dry_rows == 0 || !mf_any(c->work->unlocked))
        return;
    c->dry_first = c->row_count;
    for (uint32_t l = 0; l < c->plan->link_count; l++) {
        if (!(links[l].drive & MF_ART_HAS_FRICTION))
            continue;
        if (links[l].kind == MF_ART_BALL)
            dry_ball_rows(c, state, l, rates->ball[links[l].row], unit);
        else
            dry_axis_row(c, state, l, rates->joint[l], unit);
    }
    c->dry_end = c->row_count;
}

#endif
