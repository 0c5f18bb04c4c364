// Rows of tendons among the couplings of an articulated body: spring, damper and inertia, dry
// friction, limits.
#pragma once

#include "motion/articulated/constraint/tendon_path.h"
#include "motion/articulated/constraint/couple.h"

// ---- couple dry ---------------------------------------------------------------------------------

// Rows of dry friction among the couplings of an articulated body, of tendons and joints: no speed
// at the end of the step, with a force within +-F. Rows of joints act where other couplings do;
// what is known of their friction without couplings (aba_velocity.h) is a force on them already.

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
    const mf_lane most = constant_at(link_constants(c->plan, l), MF_ART_FRICTION);
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
    const mf_lane most = constant_at(link_constants(c->plan, l), MF_ART_FRICTION);
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

// ---- couple tendons -----------------------------------------------------------------------------

typedef struct Pull { // a tendon's row being made
    const mf_ArtTendon *tendon;
    const TendonPath *path; // of a spatial one, else NULL
    mf_lane length, speed, gain;
} Pull;

// What the tendon pulls with at one unit of force, `sign` times.
static inline void pull_links(Couple *c, const Pull *pull, mf_lane sign) {
    const mf_ArtTerm *terms = mf_art_terms(c->plan) + pull->tendon->first_term;
    for (uint32_t t = 0; t < pull->tendon->term_count; t++)
        row_impulse(c, terms[t].link, sign * mf_set((mf_real)terms[t].weight));
    for (uint32_t i = 0; pull->path != NULL && i < pull->path->count; i++) {
        const Wrench *wrench = &pull->path->row[i];
        row_pull(c, 0, pull->path->links[i], vec_zero(), vec_scale(wrench->force, sign),
                 vec_scale(wrench->torque, sign));
    }
}

static inline Row *tendon_row(Couple *c, const State *state, const Pull *pull, mf_lane sign,
                              mf_lane unit, bool is_explicit) {
    rows_begin(c, 1);
    pull_links(c, pull, sign);
    Row *row = rows_finish(c, state);
    row->value = sign * value_at(pull->speed, pull->gain, unit, is_explicit);
    row->low = mf_set(-MF_REAL_MAX);
    row->high = mf_set(MF_REAL_MAX);
    return row;
}

// Spring, damper and inertia: at the end of the step, force = -k (l + h l' - l0) - d l' - m l''.
static inline void elastic_row(Couple *c, const State *state, const Pull *pull, mf_lane unit,
                               bool is_explicit) {
    const mf_ArtTendon *tendon = pull->tendon;
    mf_lane length = pull->length, k = mf_set((mf_real)tendon->stiffness);
    mf_lane ahead = length;
    if (!is_explicit)
        ahead = mf_fma(unit, pull->speed, length);
    mf_lane clamped = mf_clamp(ahead, mf_set((mf_real)tendon->spring_lower),
                               mf_set((mf_real)tendon->spring_upper));
    k = mf_keep(mf_less(mf_zero(), mf_abs(ahead - clamped)), k);
    mf_lane d = mf_set((mf_real)tendon->damping), m = mf_set((mf_real)tendon->armature);
    Row *row = tendon_row(c, state, pull, mf_set((mf_real)1), unit, is_explicit);
    if (is_explicit) {
        row->given = mf_fma(k, clamped - length, -(d * pull->speed));
        row->slope = m;
        return;
    }
    row->given = mf_fma(unit * k, clamped - length, m * pull->speed);
    row->slope = mf_fma(unit, mf_fma(unit, k, d), m);
}

static inline void friction_row(Couple *c, const State *state, const Pull *pull, mf_lane unit,
                                bool is_explicit) {
    mf_lane most = mf_set((mf_real)pull->tendon->friction), creep = setting(c->plan, MF_ART_CREEP);
    Row *row = tendon_row(c, state, pull, mf_set((mf_real)1), unit, is_explicit);
    if (is_explicit) {
        row->given = -(most * pull->speed) / mf_max(mf_abs(pull->speed), creep);
        return;
    }
    dry_law(row, most, mf_zero(), mf_mask_all(), unit);
}

// As limits of joints: a spring and damper in proportion to the inertia that the tendon moves.
static inline void limit_row(Couple *c, const State *state, const Pull *pull, mf_lane unit,
                             bool is_explicit) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane ahead = pull->length;
    if (!is_explicit)
        ahead = mf_fma(unit, pull->speed, ahead);
    mf_lane below = mf_set((mf_real)pull->tendon->lower) - ahead;
    mf_lane above = ahead - mf_set((mf_real)pull->tendon->upper);
    mf_mask low = mf_less(zero, below), high = mf_less(zero, above);
    mf_mask out = mf_or(low, high);
    if (!mf_any(out))
        return;
    c->limit_row[pull->tendon - mf_art_tendons(c->plan)] = c->row_count + 1;
    mf_lane sign = mf_select(high, -one, one);
    c->limit_sign[pull->tendon - mf_art_tendons(c->plan)] = sign;
    mf_lane force = setting(c->plan, MF_ART_LIMIT_FORCE),
            drag = setting(c->plan, MF_ART_LIMIT_DRAG);
    Row *row = tendon_row(c, state, pull, sign, unit, is_explicit);
    mf_lane inertia = one / mf_max(row->diagonal, mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON));
    mf_lane depth = mf_max(below, above);
    row->low = zero;
    row->high = mf_keep(out, mf_set(MF_REAL_MAX));
    if (is_explicit) {
        mf_lane load = mf_fma(force, depth, -(drag * sign * pull->speed));
        row->given = mf_keep(out, mf_max(load, zero) * inertia);
        return;
    }
    // The depth at the end of the step is that of now less what the velocity at the end adds.
    depth = mf_fma(unit * sign, pull->speed, depth);
    row->given = unit * force * depth * inertia;
    row->slope = unit * mf_fma(unit, force, drag) * inertia;
}

// Length, its rate, and what that gains without the rows. What the path's turning adds to the gain
// is left out, as in MuJoCo: it vanishes with the step.
static inline void spatial_pull(const Couple *c, const State *state, TendonPath *path, Pull *pull) {
    const mf_ArtPlan *plan = c->plan;
    const Vec none = vec_zero();
    tendon_path(plan, state, c->work, pull->tendon->tendon, path);
    pull->path = path;
    pull->length = path->length;
    pull->speed = path->speed;
    for (uint32_t i = 0; i < path->count; i++) {
        const PointMotion point_motion =
            point_motion_at(plan, state, c->work, path->links[i], none, none);
        const Vec gain = into_link(c->work, path->links[i], point_motion.acceleration),
                  rotation = into_link(c->work, path->links[i], point_motion.angular_acceleration);
        pull->gain = vec_dot_add(path->row[i].force, gain, pull->gain);
        pull->gain = vec_dot_add(path->row[i].torque, rotation, pull->gain);
    }
}

static inline void fixed_pull(const Couple *c, const State *state, const Rates *rates, Pull *pull) {
    const mf_ArtTendon *tendon = pull->tendon;
    const mf_ArtTerm *terms = mf_art_terms(c->plan);
    for (uint32_t t = 0; t < tendon->term_count; t++) {
        const mf_ArtTerm *term = &terms[tendon->first_term + t];
        mf_lane weight = mf_set((mf_real)term->weight);
        pull->length = mf_fma(weight, state->angle[term->link], pull->length);
        pull->speed = mf_fma(weight, state->speed[term->link], pull->speed);
        pull->gain = mf_fma(weight, rates->joint[term->link], pull->gain);
    }
}

static inline void tendon_rows(Couple *c, const State *state, const Rates *rates, mf_lane unit,
                               bool is_explicit) {
    const mf_ArtPlan *plan = c->plan;
    const mf_ArtTendon *tendons = mf_art_tendons(plan);
    for (uint32_t i = 0; i < plan->tendon_count; i++) {
        const mf_ArtTendon *tendon = &tendons[i];
        TendonPath path;
        Pull pull = {tendon, NULL, mf_zero(), mf_zero(), mf_zero()};
        c->tendon_row[i] = c->row_count;
        if (tendon->path != MF_NONE)
            spatial_pull(c, state, &path, &pull);
        else
            fixed_pull(c, state, rates, &pull);
        if (tendon->elastic)
            elastic_row(c, state, &pull, unit, is_explicit);
        if (tendon->friction > 0.0)
            friction_row(c, state, &pull, unit, is_explicit);
        if (tendon->lower > -DBL_MAX || tendon->upper < DBL_MAX)
            limit_row(c, state, &pull, unit, is_explicit);
    }
}
