// Rows of the solver of couplings (couple_kernel.c).
//
// A coupling is a row J of one number per velocity, and pushes with J^T times its impulse. With the
// articulated-body factors of this step - the inverse of the mass matrix with all that is implicit
// in it is L^-T D^-1 L^-1 by joints - a unit impulse is passed inward along its own path only; what
// is left over at the joints, over the root of what they move, is w = D^-1/2 L^-1 J^T. So
//     J M^-1 J^T = w w^T,      change of velocity = L^-T D^-1/2 (sum of w times impulse),
// the first by short dot products, the second by one outward pass for all rows together.
#ifndef MF_MOTION_ARTICULATED_COUPLE_H
#define MF_MOTION_ARTICULATED_COUPLE_H

#include "motion/articulated/spread.h"

enum {
    COUPLE_ARENA = MF_ARTICULATED_ROW_NUMBERS,
    COUPLE_ROWS =
        MF_ARTICULATED_MAX_LOOPS + 3 * MF_ARTICULATED_MAX_TENDONS + 6 * MF_ARTICULATED_MAX_MEETINGS,
    COUPLE_SLOTS = 6 + 3 * MF_ARTICULATED_MAX_LINKS,
    COUPLE_WORDS = MF_ARTICULATED_MAX_LINKS / 64 + 1
};

typedef struct Row {
    uint32_t first, count; // in the arena
    mf_lane value;         // row times velocity at the end of the step, without impulses
    mf_lane diagonal;      // row of w times itself
    mf_lane given, slope;  // impulse = given - slope * value at the end, kept within
    mf_lane low, high;
    mf_lane impulse;
} Row;

typedef struct Couple {
    const mf_ArtPlan *plan;
    Work *work;
    mf_lane root[MF_ARTICULATED_MAX_LINKS];  // of hinges and slides: 1 / sqrt(inertia)
    Mat ball_root[MF_ARTICULATED_MAX_BALLS]; // lower G with G G^T = inverse inertia
    mf_lane base_root[6];
    uint64_t active[COUPLE_WORDS]; // bit l + 1: link l has something to pass on
    Wrench pull[MF_ARTICULATED_MAX_LINKS + 1];
    mf_lane twist[MF_ARTICULATED_MAX_LINKS + 1]; // on the joint itself
    uint32_t row_count, used;                    // [1]
    Row rows[COUPLE_ROWS];
    mf_lane arena[COUPLE_ARENA];
    uint16_t slot[COUPLE_ARENA];
    mf_lane sum[COUPLE_SLOTS]; // of w times impulse
} Couple;

// Where in `sum` is part k of a link (-1 = base). Along a row these numbers fall.
static MF_INLINE uint32_t couple_slot(int32_t link, uint32_t k) {
    return link < 0 ? 5 - k : 8 + 3 * (uint32_t)link - k;
}

// ---- factors ------------------------------------------------------------------------------------

static MF_INLINE Mat sym_root(const Sym *s) {
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    Mat g = {.xy = zero, .xz = zero, .yz = zero};
    g.xx = mf_sqrt(s->xx);
    mf_lane x = one / g.xx;
    g.yx = s->xy * x;
    g.zx = s->xz * x;
    g.yy = mf_sqrt(mf_fma(-g.yx, g.yx, s->yy));
    g.zy = mf_fma(-g.zx, g.yx, s->yz) / g.yy;
    g.zz = mf_sqrt(mf_fma(-g.zy, g.zy, mf_fma(-g.zx, g.zx, s->zz)));
    return g;
}

static inline void couple_start(Couple *c, const mf_ArtPlan *plan, Work *work) {
    c->plan = plan;
    c->work = work;
    c->row_count = c->used = 0;
    for (int i = 0; i < COUPLE_WORDS; i++)
        c->active[i] = 0;
    for (uint32_t i = 0; i < 6 + 3 * plan->link_count; i++)
        c->sum[i] = mf_zero();
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &plan->links[l];
        if (link->kind == MF_ART_BALL)
            c->ball_root[link->row] = sym_root(&work->balls[link->row].inverse);
        else
            c->root[l] = mf_sqrt(work->links[l].inverse);
    }
    for (int i = 0; i < 6 && !plan->fixed; i++)
        c->base_root[i] = mf_sqrt(work->base_inverse[i]);
}

// ---- making a row -------------------------------------------------------------------------------

static MF_INLINE void row_touch(Couple *c, int32_t link) {
    uint32_t bit = (uint32_t)(link + 1);
    if (c->active[bit / 64] >> bit % 64 & 1)
        return;
    c->active[bit / 64] |= (uint64_t)1 << bit % 64;
    c->pull[bit] = (Wrench){vec_zero(), vec_zero()};
    c->twist[bit] = mf_zero();
}

// Adds a force at `arm` and a torque, in the link's axes; on the world they do nothing.
static MF_INLINE void row_pull(Couple *c, int32_t link, Vec arm, Vec force, Vec torque) {
    if (link == MF_ART_WORLD || (link < 0 && c->plan->fixed))
        return;
    row_touch(c, link);
    Wrench *pull = &c->pull[link + 1];
    pull->force = vec_add(pull->force, force);
    pull->torque = vec_add(pull->torque, vec_cross_add(arm, force, torque));
}

static MF_INLINE void row_twist(Couple *c, uint32_t link, mf_lane weight) {
    row_touch(c, (int32_t)link);
    c->twist[link + 1] = c->twist[link + 1] + weight;
}

static MF_INLINE void row_put(Couple *c, uint32_t slot, mf_lane value) {
    c->slot[c->used] = (uint16_t)slot;
    c->arena[c->used++] = value;
}

// From the axes behind the joint's turn to the parent's.
static MF_INLINE Vec out_of_turn(const mf_ArtLink *link, const mf_real *c, Vec a) {
    if (link->tilt == MF_ART_UP)
        a = (Vec){a.x, -a.z, a.y};
    else if (link->tilt == MF_ART_DOWN)
        a = (Vec){a.x, a.z, -a.y};
    else if (link->tilt == MF_ART_OVER)
        a = (Vec){a.x, -a.y, -a.z};
    else if (link->tilt == MF_ART_ANY)
        a = vec_turn_x(a, mf_set(c[MF_ART_COS_TILT]), mf_set(c[MF_ART_SIN_TILT]));
    if (link->spun)
        a = vec_turn_z(a, mf_set(c[MF_ART_COS_SPIN]), mf_set(c[MF_ART_SIN_SPIN]));
    return a;
}

// A link keeps its joint's share and hands the rest to its parent.
static inline void row_pass(Couple *c, uint32_t l, const mf_lane *angle) {
    const mf_ArtPlan *plan = c->plan;
    const mf_ArtLink *link = &plan->links[l];
    const mf_real *constants = link_constants(plan, l);
    const LinkWork *own = &c->work->links[l];
    Wrench pull = c->pull[l + 1];
    if (link->kind == MF_ART_BALL) {
        const BallWork *ball = &c->work->balls[link->row];
        Vec left = mat_apply_transposed(&c->ball_root[link->row], pull.torque);
        row_put(c, couple_slot((int32_t)l, 0), left.x);
        row_put(c, couple_slot((int32_t)l, 1), left.y);
        row_put(c, couple_slot((int32_t)l, 2), left.z);
        Vec gain = sym_apply(&ball->inverse, pull.torque);
        pull.torque = vec_sub(pull.torque, sym_apply(&ball->j, gain));
        pull.force = vec_sub(pull.force, mat_apply_transposed(&ball->h, gain));
        pull.torque = mat_apply(&ball->turn, pull.torque);
        pull.force = mat_apply(&ball->turn, pull.force);
    } else {
        mf_lane along = link->kind == MF_ART_HINGE ? pull.torque.z : pull.force.z;
        mf_lane left = along + c->twist[l + 1];
        row_put(c, couple_slot((int32_t)l, 0), left * c->root[l]);
        pull.torque = vec_fma(own->angular, -left, pull.torque);
        pull.force = vec_fma(own->linear, -left, pull.force);
        if (link->kind == MF_ART_SLIDE) {
            mf_lane way = angle[l] + mf_set(constants[MF_ART_OFFSET]);
            pull.torque.x = mf_fma(-way, pull.force.y, pull.torque.x);
            pull.torque.y = mf_fma(way, pull.force.x, pull.torque.y);
        }
        pull.torque = out_of_turn(link, constants, vec_turn_z(pull.torque, own->cosine, own->sine));
        pull.force = out_of_turn(link, constants, vec_turn_z(pull.force, own->cosine, own->sine));
    }
    if (link->parent < 0 && plan->fixed)
        return;
    if (link->shift != 0)
        pull.torque =
            vec_cross_add(vec_constant(constants + MF_ART_PLACE), pull.force, pull.torque);
    row_touch(c, link->parent);
    Wrench *sum = &c->pull[link->parent + 1];
    sum->force = vec_add(sum->force, pull.force);
    sum->torque = vec_add(sum->torque, pull.torque);
}

static inline void row_pass_base(Couple *c) {
    const Wrench *pull = &c->pull[0];
    const Work *work = c->work;
    mf_lane r[6] = {pull->torque.x, pull->torque.y, pull->torque.z,
                    pull->force.x,  pull->force.y,  pull->force.z};
    for (uint32_t k = 0; k < 6; k++) {
        mf_lane part = r[k] * work->base_inverse[k];
        for (uint32_t i = k + 1; i < 6; i++)
            r[i] = mf_fma(-work->base_factor[i][k], part, r[i]);
        row_put(c, couple_slot(-1, k), r[k] * c->base_root[k]);
    }
}

// Ends the row that row_pull and row_twist made. It pushes nothing yet.
static inline Row *row_finish(Couple *c, const State *state) {
    Row *row = &c->rows[c->row_count++];
    const mf_lane zero = mf_zero();
    row->first = c->used;
    for (int w = COUPLE_WORDS - 1; w >= 0; w--) {
        while (c->active[w] != 0) {
            int bit = 63 - __builtin_clzll(c->active[w]);
            c->active[w] &= ~((uint64_t)1 << bit);
            uint32_t l = (uint32_t)(64 * w + bit);
            if (l == 0)
                row_pass_base(c);
            else
                row_pass(c, l - 1, state->angle);
        }
    }
    row->count = c->used - row->first;
    row->diagonal = zero;
    for (uint32_t i = row->first; i < c->used; i++)
        row->diagonal = mf_fma(c->arena[i], c->arena[i], row->diagonal);
    row->impulse = row->given = row->slope = row->low = row->high = zero;
    return row;
}

// ---- using rows ---------------------------------------------------------------------------------

static MF_INLINE mf_lane row_value(const Couple *c, const Row *row) {
    mf_lane value = row->value;
    for (uint32_t i = row->first; i < row->first + row->count; i++)
        value = mf_fma(c->arena[i], c->sum[c->slot[i]], value);
    return value;
}

static MF_INLINE void row_add(Couple *c, Row *row, mf_lane change) {
    row->impulse = row->impulse + change;
    for (uint32_t i = row->first; i < row->first + row->count; i++)
        c->sum[c->slot[i]] = mf_fma(c->arena[i], change, c->sum[c->slot[i]]);
}

// Product of two rows.
static inline mf_lane row_product(const Couple *c, const Row *a, const Row *b) {
    uint32_t i = a->first, k = b->first;
    mf_lane sum = mf_zero();
    while (i < a->first + a->count && k < b->first + b->count) {
        if (c->slot[i] == c->slot[k]) {
            sum = mf_fma(c->arena[i], c->arena[k], sum);
            i++;
            k++;
        } else if (c->slot[i] > c->slot[k]) {
            i++;
        } else {
            k++;
        }
    }
    return sum;
}

#endif
