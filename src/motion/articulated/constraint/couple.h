// Rows of the solver of couplings (couple_kernel.c).
//
// A coupling is a row J of one number per velocity, with the force J^T times its impulse. With the
// articulated-body factors of this step (the inverse of the mass matrix, implicit terms included,
// is L^-T D^-1 L^-1 by joints) a unit impulse is passed inward along its own path only; the
// remainders at the joints, over the square root of their inertia, are w = D^-1/2 L^-1 J^T. So
//     J M^-1 J^T = w w^T,      change of velocity = L^-T D^-1/2 (sum of w times impulse),
// the first by short dot products, the second by one outward pass for all rows together.
#pragma once

#include "motion/articulated/tree/ball_joint.h"

// Rows with the same path through the tree, built together.
enum { COUPLE_TOGETHER = 3 };

typedef struct Row {
    uint32_t first, count; // in the arena
    uint32_t offset;       // in the slots: rows made together share them
    mf_lane value;         // row times velocity at the end of the step, without impulses
    mf_lane diagonal;      // row of w times itself
    mf_lane given, slope;  // impulse = given - slope * value at the end, kept within
    mf_lane low, high;
    mf_lane impulse;
} Row;

typedef struct Couple {
    const mf_ArtPlan *plan;
    Work *work;
    mf_lane *root;  // of hinges and slides: 1 / sqrt(inertia)
    Vec *ball_root; // likewise of D (ball_joint.h)
    mf_lane base_root[6];
    uint64_t *active;                  // bit l + 1: link l has a force to pass inward
    uint32_t words;                    // [1] of `active`
    uint32_t together;                 // [1] rows being made
    Wrench (*pull)[COUPLE_TOGETHER];   // on link l at l + 1
    mf_lane (*twist)[COUPLE_TOGETHER]; // likewise on the joint itself
    uint32_t row_count, used;          // [1]
    uint32_t dry_first, dry_end;       // [1] rows of dry friction of joints
    uint32_t *tendon_row;              // [1] per tendon: its first row
    uint32_t *limit_row;               // [1] per tendon: row + 1 of the limit; 0: none
    mf_lane *limit_sign;               // [1] likewise, of its push on the length
    Row *rows;
    mf_lane *arena;
    uint16_t *slot;
    mf_lane *sum; // of w times impulse
} Couple;

// Capacities of rows, and of their numbers (find_capacity in contact_pairs.c).
static inline uint32_t couple_rows(const mf_ArtPlan *plan) {
    return plan->loop_rows + 3 * plan->tendon_count + plan->dry_rows + 6 * plan->contact_capacity;
}

static inline uint32_t couple_numbers(const mf_ArtPlan *plan) {
    const uint64_t most = (uint64_t)couple_rows(plan) * plan->row_of_all;
    return most < plan->row_numbers ? (uint32_t)most : plan->row_numbers;
}

// Numbers of `sum`: of the base, then 3 of each link.
static inline uint32_t couple_slots(const mf_ArtPlan *plan) {
    return 6 + 3 * plan->link_count;
}

static inline void couple_carve(const mf_ArtPlan *plan, mf_Carver *carver, Couple *c) {
    const uint32_t links = plan->link_count, numbers = couple_numbers(plan);
    c->words = links / 64 + 1;
    MF_CARVE(carver, c->root, links);
    MF_CARVE(carver, c->ball_root, plan->ball_count);
    MF_CARVE(carver, c->active, c->words);
    MF_CARVE(carver, c->pull, links + 1);
    MF_CARVE(carver, c->twist, links + 1);
    MF_CARVE(carver, c->tendon_row, plan->tendon_count);
    MF_CARVE(carver, c->limit_row, plan->tendon_count);
    MF_CARVE(carver, c->limit_sign, plan->tendon_count);
    MF_CARVE(carver, c->rows, couple_rows(plan));
    MF_CARVE(carver, c->arena, numbers);
    MF_CARVE(carver, c->slot, numbers);
    MF_CARVE(carver, c->sum, couple_slots(plan));
}

// Index in `sum` of component k of a link (-1 = base). Indices decrease along a row.
static MF_INLINE uint32_t couple_slot(int32_t link, uint32_t k) {
    return link < 0 ? 5 - k : 8 + 3 * (uint32_t)link - k;
}

// ---- factors ------------------------------------------------------------------------------------

static inline void couple_start(Couple *c, const mf_ArtPlan *plan, Work *work) {
    c->plan = plan;
    c->work = work;
    c->row_count = c->used = c->dry_first = c->dry_end = 0;
    for (uint32_t i = 0; i < plan->tendon_count; i++)
        c->limit_row[i] = 0;
    memset(c->active, 0, c->words * sizeof *c->active);
    for (uint32_t i = 0; i < couple_slots(plan); i++)
        c->sum[i] = mf_zero();
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const mf_lane *inverse = work->balls[link->row].inverse;
        if (link->kind == MF_ART_BALL)
            c->ball_root[link->row] =
                MF_VALUE(Vec, mf_sqrt(inverse[0]), mf_sqrt(inverse[1]), mf_sqrt(inverse[2]));
        else
            c->root[l] = mf_sqrt(work->links[l].inverse);
    }
    for (int i = 0; i < 6 && !plan->fixed; i++)
        c->base_root[i] = mf_sqrt(work->base_inverse[i]);
}

// ---- making rows --------------------------------------------------------------------------------

static MF_INLINE void rows_begin(Couple *c, uint32_t together) {
    c->together = together;
}

static MF_INLINE void row_touch(Couple *c, int32_t link) {
    uint32_t bit = (uint32_t)(link + 1);
    if (c->active[bit / 64] >> bit % 64 & 1)
        return;
    c->active[bit / 64] |= (uint64_t)1 << bit % 64;
    for (uint32_t k = 0; k < c->together; k++) {
        c->pull[bit][k] = MF_VALUE(Wrench, vec_zero(), vec_zero());
        c->twist[bit][k] = mf_zero();
    }
}

// Adds a force at `arm` and a torque to row k, in the link's axes; no effect on the world.
static MF_INLINE void row_pull(Couple *c, uint32_t k, int32_t link, Vec arm, Vec force,
                               Vec torque) {
    if (link == MF_ART_WORLD || (link < 0 && c->plan->fixed))
        return;
    row_touch(c, link);
    Wrench *pull = &c->pull[link + 1][k];
    pull->force = vec_add(pull->force, force);
    pull->torque = vec_add(pull->torque, vec_cross_add(arm, force, torque));
}

static MF_INLINE void row_impulse(Couple *c, uint32_t link, mf_lane weight) {
    row_touch(c, (int32_t)link);
    c->twist[link + 1][0] = c->twist[link + 1][0] + weight;
}

// From the axes after the joint's rotation to the parent's.
static MF_INLINE Vec dof_rotation(const mf_ArtLink *link, const Constant *c, Vec a) {
    if (link->tilt == MF_ART_UP)
        a = MF_VALUE(Vec, a.x, -a.z, a.y);
    else if (link->tilt == MF_ART_DOWN)
        a = MF_VALUE(Vec, a.x, a.z, -a.y);
    else if (link->tilt == MF_ART_OVER)
        a = MF_VALUE(Vec, a.x, -a.y, -a.z);
    else if (link->tilt == MF_ART_ANY)
        a = vec_rotate_x(a, constant_at(c, MF_ART_COS_TILT), constant_at(c, MF_ART_SIN_TILT));
    if (link->spun)
        a = vec_rotate_z(a, constant_at(c, MF_ART_COS_ANGLE), constant_at(c, MF_ART_SIN_ANGLE));
    return a;
}

// Stores a joint's component of a row in `out`; `pull` becomes the remaining force, in the parent's
// axes.
static MF_INLINE void pass_ball(const Couple *c, uint32_t l, Wrench *pull, mf_lane *out) {
    const mf_ArtLink *link = &mf_art_links(c->plan)[l];
    const BallWork *ball = &c->work->balls[link->row];
    const Vec root = c->ball_root[link->row], left = ball_forward(ball, pull->torque);
    out[0] = left.x * root.x;
    out[1] = left.y * root.y;
    out[2] = left.z * root.z;
    ball_pass(ball, left, &pull->torque, &pull->force);
    pull->torque = mat_apply(&ball->rotation, pull->torque);
    pull->force = mat_apply(&ball->rotation, pull->force);
}

static MF_INLINE void pass_axis(const Couple *c, uint32_t l, mf_lane impulse, const mf_lane *angle,
                                Wrench *pull, mf_lane *out) {
    const mf_ArtLink *link = &mf_art_links(c->plan)[l];
    const Constant *constants = link_constants(c->plan, l);
    const LinkWork *own = &c->work->links[l];
    mf_lane along = link->kind == MF_ART_HINGE ? pull->torque.z : pull->force.z;
    mf_lane left = along + impulse;
    *out = left * c->root[l];
    pull->torque = vec_fma(own->angular, -left, pull->torque);
    pull->force = vec_fma(own->linear, -left, pull->force);
    if (link->kind == MF_ART_SLIDE) {
        mf_lane distance = angle[l] + constant_at(constants, MF_ART_OFFSET);
        pull->torque.x = mf_fma(-distance, pull->force.y, pull->torque.x);
        pull->torque.y = mf_fma(distance, pull->force.x, pull->torque.y);
    }
    pull->torque =
        dof_rotation(link, constants, vec_rotate_z(pull->torque, own->cosine, own->sine));
    pull->force = dof_rotation(link, constants, vec_rotate_z(pull->force, own->cosine, own->sine));
}

// A link stores its joint's component of each row and passes the rest to its parent. `out` is the
// first number of the joint in the first row; rows are `count` numbers apart.
static inline void rows_pass(Couple *c, uint32_t l, const mf_lane *angle, mf_lane *out,
                             uint32_t count) {
    const mf_ArtPlan *plan = c->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    const mf_ArtLink *link = &links[l];
    const bool ends = link->parent < 0 && plan->fixed;
    const Vec position = vec_constant(link_constants(plan, l) + MF_ART_POSITION);
    for (uint32_t k = 0; k < c->together; k++) {
        Wrench pull = c->pull[l + 1][k];
        if (link->kind == MF_ART_BALL)
            pass_ball(c, l, &pull, out + (size_t)k * count);
        else
            pass_axis(c, l, c->twist[l + 1][k], angle, &pull, out + (size_t)k * count);
        if (ends)
            continue;
        if (link->shift != 0)
            pull.torque = vec_cross_add(position, pull.force, pull.torque);
        Wrench *sum = &c->pull[link->parent + 1][k];
        sum->force = vec_add(sum->force, pull.force);
        sum->torque = vec_add(sum->torque, pull.torque);
    }
}

static inline void rows_pass_base(Couple *c, mf_lane *out, uint32_t count) {
    const Work *work = c->work;
    for (uint32_t row = 0; row < c->together; row++, out += count) {
        const Wrench *pull = &c->pull[0][row];
        mf_lane r[6] = {pull->torque.x, pull->torque.y, pull->torque.z,
                        pull->force.x,  pull->force.y,  pull->force.z};
        for (uint32_t k = 0; k < 6; k++) {
            mf_lane part = r[k] * work->base_inverse[k];
            for (uint32_t i = k + 1; i < 6; i++)
                r[i] = mf_fma(-work->base_factor[i][k], part, r[i]);
            out[k] = r[k] * c->base_root[k];
        }
    }
}

static MF_INLINE uint32_t joint_width(const mf_ArtPlan *plan, uint32_t bit) {
    if (bit == 0)
        return 6;
    return mf_art_links(plan)[bit - 1].kind == MF_ART_BALL ? 3 : 1;
}

// Adds the links between the pulled ones and the base; writes the slots of all their joints.
// Returns their number.
static inline uint32_t rows_size(Couple *c) {
    const mf_ArtPlan *plan = c->plan;
    uint32_t count = 0;
    for (uint32_t w = c->words; w-- > 0;) {
        // The word changes while it is read: it also contains parents of its links.
        for (uint64_t left = c->active[w]; left != 0;) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(left), at = 64 * w + bit;
            if (at > 0 && !(mf_art_links(plan)[at - 1].parent < 0 && plan->fixed))
                row_touch(c, mf_art_links(plan)[at - 1].parent);
            for (uint32_t k = 0; k < joint_width(plan, at); k++)
                c->slot[c->used + count++] = (uint16_t)couple_slot((int32_t)at - 1, k);
            left = c->active[w] & (((uint64_t)1 << bit) - 1);
        }
    }
    return count;
}

// Completes the rows built by row_pull and row_impulse, one after the other, with impulse 0.
static inline Row *rows_finish(Couple *c, const State *state) {
    const mf_lane zero = mf_zero();
    const uint32_t first = c->used, count = rows_size(c);
    mf_lane *out = &c->arena[first];
    for (uint32_t w = c->words; w-- > 0;) {
        for (; c->active[w] != 0;) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(c->active[w]);
            uint32_t at = 64 * w + bit;
            c->active[w] &= ~((uint64_t)1 << bit);
            if (at == 0)
                rows_pass_base(c, out, count);
            else
                rows_pass(c, at - 1, state->angle, out, count);
            out += joint_width(c->plan, at);
        }
    }
    Row *rows = &c->rows[c->row_count];
    for (uint32_t k = 0; k < c->together; k++) {
        Row *row = &rows[k];
        row->first = first + k * count;
        row->count = count;
        row->offset = first;
        row->diagonal = zero;
        for (uint32_t i = row->first; i < row->first + count; i++)
            row->diagonal = mf_fma(c->arena[i], c->arena[i], row->diagonal);
        row->impulse = row->given = row->slope = row->low = row->high = zero;
    }
    c->row_count += c->together;
    c->used += c->together * count;
    return rows;
}

// ---- using rows ---------------------------------------------------------------------------------

static MF_INLINE mf_lane row_value(const Couple *c, const Row *row) {
    const mf_lane *w = &c->arena[row->first];
    const uint16_t *slot = &c->slot[row->offset];
    mf_lane value = row->value;
    for (uint32_t i = 0; i < row->count; i++)
        value = mf_fma(w[i], c->sum[slot[i]], value);
    return value;
}

static MF_INLINE void row_add(Couple *c, Row *row, mf_lane change) {
    const mf_lane *w = &c->arena[row->first];
    const uint16_t *slot = &c->slot[row->offset];
    row->impulse = row->impulse + change;
    for (uint32_t i = 0; i < row->count; i++)
        c->sum[slot[i]] = mf_fma(w[i], change, c->sum[slot[i]]);
}

// Product of two rows.
static inline mf_lane row_product(const Couple *c, const Row *a, const Row *b) {
    const mf_lane *u = &c->arena[a->first], *v = &c->arena[b->first];
    const uint16_t *slot_u = &c->slot[a->offset], *slot_v = &c->slot[b->offset];
    uint32_t i = 0, k = 0;
    mf_lane sum = mf_zero();
    while (i < a->count && k < b->count) {
        if (slot_u[i] == slot_v[k])
            sum = mf_fma(u[i++], v[k++], sum);
        else if (slot_u[i] > slot_v[k])
            i++;
        else
            k++;
    }
    return sum;
}
