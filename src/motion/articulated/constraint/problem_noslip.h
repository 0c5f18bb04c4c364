// MuJoCo's noslip pass after its solver (MuJoCo documentation, "Computation", noslip). The
// regularization lets friction creep; the pass makes dry friction and the friction of contacts
// rigid, with constant normal forces.
//
// It is a Gauss-Seidel sweep over the dual problem without regularization: for each block of
// friction forces f, with all other forces constant, the minimum of
//     1/2 f^T A f + f^T b,    A = J M^-1 J^T,  A f + b = J a - r
// within |f| <= F (dry friction), within the constant sum of two opposite edges of a pyramid, or
// within the ellipse of the normal force. The file states the number of sweeps; an island of trees
// connected by constraints ends sooner if a sweep gains less than the file's tolerance.
//
// With M = L^T D L a row is w = D^-1/2 L^-T J^T, which is nonzero only at the dofs of the row and
// their ancestors. Then A = w w^T, and y = sum of w times force represents all forces: J a - r = w
// . y - rest and a = a0 + L^-1 D^-1/2 y.
#pragma once

#include "motion/articulated/constraint/problem_islands.h"
#include "motion/articulated/constraint/problem_points.h"

#define NOSLIP_LEAST 1e-15   // forces and diagonal elements of A below this count as 0
#define NOSLIP_ROUNDED 1e-10 // likewise of costs, and of pivots of a contact's block of A

enum { CONE_ROUNDS = 20, CONE_ROWS = CONTACT_ROWS - 1 };

// ---- blocks -------------------------------------------------------------------------------------

static MF_INLINE bool has_slip(const Constraint *c) {
    return c->kind == CONSTRAINT_DRY || c->kind == CONSTRAINT_PYRAMID ||
           c->kind == CONSTRAINT_ELLIPTIC;
}

static inline bool has_inertia(const Problem *p) {
    bool any = false;
    for (uint32_t n = 0; n < p->constraint_count; n++)
        any = any || p->constraints[n].inertia;
    return any;
}

// The pattern of the factors of M: the tree's, unless tendons have inertia.
static inline Pattern slip_pattern(const Problem *p) {
    return has_inertia(p) ? p->pattern : tree_pattern(p);
}

// All dofs that the elimination of those of a constraint passes through.
static inline void slip_directions(const Problem *p, const Constraint *c, Pattern pattern,
                                   Chain *chain) {
    *chain = chain_start(p);
    for (uint32_t i = 0; i < c->count; i++)
        chain_mark(chain, p->slots[c->first_slot + i], 1);
    for (uint32_t w = chain->end; w-- > 0;)
        for (uint64_t left = chain->bits[w]; left != 0;) {
            const uint32_t bit = 63 - (uint32_t)__builtin_clzll(left);
            const uint32_t dof = 64 * w + bit;
            for (uint32_t e = pattern.start[dof]; e < pattern.start[dof + 1]; e++)
                chain_mark(chain, pattern.column[e], 1);
            left = chain->bits[w] & (((uint64_t)1 << bit) - 1);
        }
}

static inline void slip_add(Problem *p, uint32_t number, Pattern pattern) {
    const Constraint *c = &p->constraints[number];
    Slip *slip = &p->slips[p->slip_count];
    Chain chain;
    slip_directions(p, c, pattern, &chain);
    *slip = MF_VALUE(Slip, .constraint = number, .skip = c->kind == CONSTRAINT_DRY ? 0u : 1u,
                     .first = p->number_count, .first_slot = p->slot_count,
                     .count = chain_count(&chain));
    const uint32_t numbers = (c->rows - slip->skip) * slip->count;
    if (p->number_count + numbers > p->capacity.numbers ||
        p->slot_count + slip->count > p->capacity.numbers) {
        p->overflow = true;
        return;
    }
    uint16_t *slot = &p->slots[slip->first_slot];
    for (uint32_t w = chain.first; w < chain.end; w++)
        for (uint64_t left = chain.bits[w]; left != 0; left &= left - 1)
            *slot++ = (uint16_t)(64 * w + (uint32_t)__builtin_ctzll(left));
    p->number_count += numbers;
    p->slot_count += slip->count;
    p->slip_count++;
}

// Makes space for the blocks, in MuJoCo's order: dry friction of dofs, then of tendons, contacts.
// The constraints and their pattern must be there.
static inline void slips_find(Problem *p) {
    p->slip_count = 0;
    if (p->plan->noslip_iterations == 0)
        return;
    const Pattern pattern = slip_pattern(p);
    for (int round = 0; round < 3; round++)
        for (uint32_t n = 0; n < p->constraint_count && !p->overflow; n++) {
            const Constraint *c = &p->constraints[n];
            const int own = c->kind != CONSTRAINT_DRY ? 2 : c->tendon ? 1 : 0;
            if (has_slip(c) && own == round)
                slip_add(p, n, pattern);
        }
    if (p->overflow)
        p->slip_count = 0;
}

// ---- factors of M -------------------------------------------------------------------------------

static inline void slip_factor(Problem *p) {
    hessian_start(p, slip_pattern(p));
    for (uint32_t n = 0; n < p->constraint_count; n++)
        if (p->constraints[n].inertia)
            hessian_add(p, &p->constraints[n], &p->weight[p->constraints[n].row]);
    hessian_factor(p);
}

// x = D^-1/2 L^-T x at `count` dofs in ascending order, including all their ancestors.
static MF_INLINE void slip_reduce(const Problem *p, const uint16_t *slot, uint32_t count,
                                  mf_lane *x) {
    const uint32_t *start = p->used.start;
    const uint16_t *column = p->used.column;
    for (uint32_t i = count; i-- > 0;) {
        const uint32_t k = slot[i];
        for (uint32_t e = start[k]; e < start[k + 1] - 1; e++)
            x[column[e]] = mf_fma(-p->factor[e], x[k], x[column[e]]);
        x[k] = x[k] * mf_sqrt(p->inverse[k]);
    }
}

// x = L^-1 D^-1/2 y
static inline void slip_expand(const Problem *p, const mf_lane *y, mf_lane *x) {
    const uint32_t *start = p->used.start;
    for (uint32_t k = 0; k < p->dofs; k++) {
        mf_lane sum = y[k] * mf_sqrt(p->inverse[k]);
        for (uint32_t e = start[k]; e < start[k + 1] - 1; e++)
            sum = mf_fma(-p->factor[e], x[p->used.column[e]], sum);
        x[k] = sum;
    }
}

// The rows w of a block.
static inline void slip_rows(Problem *p, const Slip *slip) {
    const Constraint *c = &p->constraints[slip->constraint];
    const uint16_t *from = &p->slots[c->first_slot], *slot = &p->slots[slip->first_slot];
    mf_lane *x = p->row;
    for (uint32_t k = slip->skip; k < c->rows; k++) {
        for (uint32_t i = 0; i < slip->count; i++)
            x[slot[i]] = mf_zero();
        for (uint32_t i = 0; i < c->count; i++)
            x[from[i]] = jacobian(p, c, k, i);
        slip_reduce(p, slot, slip->count, x);
        mf_lane *w = &p->numbers[slip->first + (k - slip->skip) * slip->count];
        for (uint32_t i = 0; i < slip->count; i++)
            w[i] = x[slot[i]];
    }
}

// y of all forces. A tendon's inertia is in M, its row's reference is not.
static inline void slip_forces(Problem *p, mf_lane *y) {
    for (uint32_t i = 0; i < p->dofs; i++)
        y[i] = mf_zero();
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        const Constraint *c = &p->constraints[n];
        const uint16_t *slot = &p->slots[c->first_slot];
        for (uint32_t k = 0; k < c->rows; k++) {
            const uint32_t row = c->row + k;
            mf_lane force = p->force[row];
            if (c->inertia)
                force = p->weight[row] * p->rest[row];
            for (uint32_t i = 0; i < c->count; i++)
                y[slot[i]] = mf_fma(jacobian(p, c, k, i), force, y[slot[i]]);
        }
    }
    slip_reduce(p, p->counting, p->dofs, y);
}

// ---- the ellipse of a contact -------------------------------------------------------------------

typedef struct Block { // of friction forces
    uint32_t rows;     // [1]
    mf_lane a[CONE_ROWS][CONE_ROWS], residual[CONE_ROWS], old[CONE_ROWS], force[CONE_ROWS];
    mf_lane scale[CONE_ROWS]; // [1], [m] friction
    mf_lane radius;           // [N] bound of the scaled forces
} Block;

// v = -(A + extra 1)^-1 b by Cholesky's method; `back` = (A + extra 1)^-1 v. Returns the lanes
// where A + extra is not positive.
static MF_INLINE mf_mask cone_solve(const Block *block, const mf_lane *b, mf_lane extra, mf_lane *v,
                                    mf_lane *back) {
    const mf_lane one = mf_set((mf_real)1), least = mf_set((mf_real)NOSLIP_ROUNDED);
    const mf_lane rounded = mf_set(16 * MF_REAL_EPSILON);
    const uint32_t rows = block->rows;
    mf_lane f[CONE_ROWS][CONE_ROWS], inverse[CONE_ROWS], product = one;
    mf_mask fails = mf_not(mf_mask_all());
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            mf_lane sum = block->a[i][k];
            if (i == k)
                sum = sum + extra;
            for (uint32_t j = 0; j < k; j++)
                sum = mf_fma(-f[i][j], f[k][j], sum);
            if (k < i)
                sum = sum * inverse[k];
            f[i][k] = sum;
        }
        const mf_lane pivot = f[i][i];
        product = product * pivot;
        fails = mf_or(fails, mf_not(mf_less(rounded * (block->a[i][i] + extra), pivot)));
        // MuJoCo bounds the determinant of two and three rows, each pivot of five.
        if (rows > 3 || i + 1 == rows)
            fails = mf_or(fails, mf_less(rows > 3 ? pivot : product, least));
        inverse[i] = one / mf_sqrt(mf_select(fails, one, pivot));
    }
    for (int round = 0; round < 2; round++) {
        mf_lane *x = round == 0 ? v : back;
        for (uint32_t i = 0; i < rows; i++) {
            mf_lane sum = round == 0 ? -b[i] : v[i];
            for (uint32_t k = 0; k < i; k++)
                sum = mf_fma(-f[i][k], x[k], sum);
            x[i] = sum * inverse[i];
        }
        for (uint32_t i = rows; i-- > 0;) {
            mf_lane sum = x[i];
            for (uint32_t k = i + 1; k < rows; k++)
                sum = mf_fma(-f[k][i], x[k], sum);
            x[i] = sum * inverse[i];
        }
    }
    return fails;
}

static MF_INLINE mf_lane cone_dot(const Block *block, const mf_lane *a, const mf_lane *b) {
    mf_lane sum = mf_zero();
    for (uint32_t i = 0; i < block->rows; i++)
        sum = mf_fma(a[i], b[i], sum);
    return sum;
}

// The minimum of 1/2 v^T A v + b^T v for |v| <= radius, A and b scaled: Newton's method for the
// multiplier at which the minimum is on the circle. Lanes in which A is not positive keep 0.
static inline void cone_minimum(const Block *block, const mf_lane *b, mf_lane *v) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    const mf_lane least = mf_set((mf_real)NOSLIP_ROUNDED), square = block->radius * block->radius;
    const mf_lane near = mf_max(least, mf_set(16 * MF_REAL_EPSILON) * square);
    mf_lane extra = zero, back[CONE_ROWS];
    mf_mask busy = mf_mask_all(), fails = mf_not(busy);
    for (int round = 0; round < CONE_ROUNDS && mf_any(busy); round++) {
        const mf_mask singular = mf_and(busy, cone_solve(block, b, extra, v, back));
        const mf_lane over = cone_dot(block, v, v) - square;
        const mf_lane step = over / (two * cone_dot(block, v, back));
        fails = mf_or(fails, singular);
        busy = mf_and(mf_and(busy, mf_not(singular)), mf_less_equal(near, over));
        busy = mf_and(busy, mf_less_equal(least, step));
        extra = extra + mf_keep(busy, step);
    }
    // Projects onto the circle.
    const mf_mask outside = mf_less(zero, extra);
    const mf_lane size = mf_max(cone_dot(block, v, v), mf_set((mf_real)NOSLIP_LEAST));
    const mf_lane scale = mf_select(outside, mf_sqrt(square / size), one);
    for (uint32_t i = 0; i < block->rows; i++)
        v[i] = mf_keep(mf_not(fails), v[i] * scale);
}

static MF_INLINE void block_cone(Block *block) {
    Block scaled = {.rows = block->rows, .radius = block->radius};
    mf_lane b[CONE_ROWS], v[CONE_ROWS];
    for (uint32_t i = 0; i < block->rows; i++) {
        const mf_lane own = block->scale[i];
        mf_lane sum = block->residual[i];
        for (uint32_t k = 0; k < block->rows; k++) {
            sum = mf_fma(-block->a[i][k], block->old[k], sum);
            scaled.a[i][k] = block->a[i][k] * (own * block->scale[k]);
        }
        b[i] = sum * own;
    }
    cone_minimum(&scaled, b, v);
    const mf_mask presses = mf_less_equal(mf_set((mf_real)NOSLIP_LEAST), block->radius);
    for (uint32_t i = 0; i < block->rows; i++)
        block->force[i] = mf_keep(presses, v[i] * block->scale[i]);
}

// ---- sweeps -------------------------------------------------------------------------------------

// Rows first .. first + count - 1 of a block: their part of A and J a - r.
static MF_INLINE void block_read(const Problem *p, const Slip *slip, const mf_lane *y,
                                 uint32_t first, uint32_t count, Block *block) {
    const Constraint *c = &p->constraints[slip->constraint];
    const uint16_t *slot = &p->slots[slip->first_slot];
    block->rows = count;
    for (uint32_t i = 0; i < count; i++) {
        const mf_lane *w = &p->numbers[slip->first + (first + i) * slip->count];
        const uint32_t row = c->row + slip->skip + first + i;
        mf_lane sum = -p->rest[row];
        for (uint32_t s = 0; s < slip->count; s++)
            sum = mf_fma(w[s], y[slot[s]], sum);
        block->residual[i] = sum;
        block->old[i] = p->force[row];
        for (uint32_t k = 0; k <= i; k++) {
            const mf_lane *other = &p->numbers[slip->first + (first + k) * slip->count];
            mf_lane product = mf_zero();
            for (uint32_t s = 0; s < slip->count; s++)
                product = mf_fma(w[s], other[s], product);
            block->a[i][k] = block->a[k][i] = product;
        }
    }
}

// Accepts the new forces in lanes where they do not increase the cost. Returns the gain.
static MF_INLINE mf_lane block_take(Problem *p, const Slip *slip, mf_lane *y, uint32_t first,
                                    mf_mask busy, const Block *block) {
    const Constraint *c = &p->constraints[slip->constraint];
    const uint16_t *slot = &p->slots[slip->first_slot];
    const mf_lane half = mf_set((mf_real)0.5);
    mf_lane direction[CONE_ROWS], change = mf_zero();
    for (uint32_t i = 0; i < block->rows; i++)
        direction[i] = block->force[i] - block->old[i];
    for (uint32_t i = 0; i < block->rows; i++) {
        mf_lane sum = block->residual[i];
        for (uint32_t k = 0; k < block->rows; k++)
            sum = mf_fma(half * block->a[i][k], direction[k], sum);
        change = mf_fma(direction[i], sum, change);
    }
    const mf_mask better = mf_less_equal(change, mf_set((mf_real)NOSLIP_ROUNDED));
    const mf_mask taken = mf_and(mf_and(busy, c->exists), better);
    for (uint32_t i = 0; i < block->rows; i++) {
        const mf_lane *w = &p->numbers[slip->first + (first + i) * slip->count];
        const uint32_t row = c->row + slip->skip + first + i;
        direction[i] = mf_keep(taken, direction[i]);
        p->force[row] = mf_select(taken, block->force[i], p->force[row]);
        for (uint32_t s = 0; s < slip->count; s++)
            y[slot[s]] = mf_fma(w[s], direction[i], y[slot[s]]);
    }
    return -mf_keep(taken, change);
}

// One force within +-`most`.
static MF_INLINE void block_line(Block *block, mf_lane most) {
    const mf_lane least = mf_set((mf_real)NOSLIP_LEAST);
    const mf_lane force = block->old[0] - block->residual[0] / mf_max(block->a[0][0], least);
    block->force[0] = mf_clamp(force, -most, most);
}

// The friction of a contact with a pyramid: along each axis the edges n +- mu t keep their sum.
static inline mf_lane sweep_pyramid(Problem *p, const Slip *slip, mf_lane *y, const mf_lane *bounds,
                                    mf_mask busy) {
    const Constraint *c = &p->constraints[slip->constraint];
    mf_lane gain = mf_zero();
    for (uint32_t k = 1; k < c->rows; k++) {
        const mf_lane edge = mf_set((mf_real)4) * c->friction[k - 1] * c->friction[k - 1];
        Block block;
        block_read(p, slip, y, k - 1, 1, &block);
        block_line(&block, bounds[c->row + k]);
        const mf_mask stiff = mf_less(edge * block.a[0][0], mf_set((mf_real)NOSLIP_LEAST));
        block.force[0] = mf_keep(mf_not(stiff), block.force[0]);
        gain = gain + block_take(p, slip, y, k - 1, busy, &block);
    }
    return gain;
}

static inline mf_lane sweep_slip(Problem *p, const Slip *slip, mf_lane *y, const mf_lane *bounds,
                                 mf_mask busy) {
    const Constraint *c = &p->constraints[slip->constraint];
    Block block;
    if (c->kind == CONSTRAINT_PYRAMID)
        return sweep_pyramid(p, slip, y, bounds, busy);
    block_read(p, slip, y, 0, c->rows - slip->skip, &block);
    if (c->kind == CONSTRAINT_DRY) {
        block_line(&block, c->most);
    } else {
        block.radius = p->force[c->row];
        for (uint32_t i = 0; i < block.rows; i++) {
            block.a[i][i] = mf_max(block.a[i][i], mf_set((mf_real)NOSLIP_ROUNDED));
            block.scale[i] = c->friction[i];
        }
        block_cone(&block);
    }
    return block_take(p, slip, y, 0, busy, &block);
}

// The sum of the two edges of a pyramid's axis, times mu: the bound of friction.
static inline void bounds_find(const Problem *p, mf_lane *bounds) {
    const mf_lane zero = mf_zero();
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        const Constraint *c = &p->constraints[n];
        const mf_lane *slack = &p->slack[c->row], weight = p->weight[c->row];
        for (uint32_t k = 1; k < c->rows && c->kind == CONSTRAINT_PYRAMID; k++) {
            const mf_lane mu = c->friction[k - 1];
            const mf_lane a = mf_min(mf_fma(mu, slack[k], slack[0]), zero);
            const mf_lane b = mf_min(mf_fma(-mu, slack[k], slack[0]), zero);
            bounds[c->row + k] = mf_keep(c->exists, -(mu * weight * (a + b)));
        }
    }
}

// The cost of the regularization of all forces, a gain of the first sweep.
static inline mf_lane soft_cost(const Problem *p, const Constraint *c) {
    const mf_lane half = mf_set((mf_real)0.5);
    Reply reply;
    mf_lane sum = mf_zero();
    if (c->kind == CONSTRAINT_PYRAMID) {
        reply_find(c, &p->weight[c->row], &p->slack[c->row], &reply);
        return reply.cost;
    }
    for (uint32_t k = 0; k < c->rows; k++)
        sum =
            mf_fma(p->force[c->row + k] * p->force[c->row + k], half / p->weight[c->row + k], sum);
    return mf_keep(c->exists, sum);
}

// Changes the friction forces, and accelerations with them.
static __attribute__((noinline)) void noslip(Problem *p, mf_lane *acceleration) {
    mf_lane *y = p->forces, *x = p->row, *bounds = p->bounds;
    mf_mask slips = mf_not(mf_mask_all());
    Islands *islands = p->islands;
    islands_find(p, islands);
    islands_clear(islands);
    for (uint32_t n = 0; n < p->constraint_count; n++)
        if (!p->constraints[n].inertia)
            islands_gain(islands, n, soft_cost(p, &p->constraints[n]));
    bounds_find(p, bounds);
    slip_factor(p);
    for (uint32_t s = 0; s < p->slip_count; s++)
        slip_rows(p, &p->slips[s]);
    slip_forces(p, y);
    for (uint32_t sweep = 0; sweep < p->plan->noslip_iterations && mf_any(islands->any); sweep++) {
        for (uint32_t s = 0; s < p->slip_count; s++) {
            const uint32_t n = p->slips[s].constraint;
            const mf_mask busy = islands_busy(islands, n);
            islands_gain(islands, n, sweep_slip(p, &p->slips[s], y, bounds, busy));
        }
        islands_end(islands, mf_set((mf_real)p->plan->noslip_least));
        islands_clear(islands);
    }
    slip_expand(p, y, x);
    // Lanes without friction keep their bits.
    for (uint32_t s = 0; s < p->slip_count; s++)
        slips = mf_or(slips, p->constraints[p->slips[s].constraint].exists);
    for (uint32_t i = 0; i < p->dofs; i++)
        acceleration[i] = mf_select(slips, p->free[i] + x[i], acceleration[i]);
}
