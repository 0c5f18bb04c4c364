// The constraint problem of many trees, such as boxes in a bin: its constraints lie side by side in
// the lanes where otherwise robots do. Those of one class - kind, rows, number of
// dofs, friction - fill blocks; a block is a constraint whose lanes are constraints of the robot.
// Blocks whose lanes are of the same dofs, as the contacts of two boxes are, form a pack. Numbers
// of dofs are rounded up, with zeros, for fuller lanes.
//
// Newton's method with an exact search along each direction, as for few dofs (constrain_kernel.c),
// but the direction comes from conjugate gradients (Hestenes and Stiefel 1952), ended early
// (Dembo, Eisenstat, Steihaug 1982), so that a step costs what the constraints number. They are
// preconditioned by what the Hessian has within each tree.
//
// The order of all sums depends on the constraints alone, not on the number of lanes: sums over
// constraints or dofs are WIDE_SUMS sums, number i modulo WIDE_SUMS in each, added in order.
#include "motion/articulated/constraint/sparse_trees.h"

#define WIDE_PART 0.05 // [1] of the gradient, in the norm of the inverse preconditioner
// The last step ends nearer, or what is left of it lets piles creep: forces that are a little off
// are accelerations that are much off where contacts are stiff.
#define LAST_PART 1e-3

enum { WIDE_STEPS = 300, MEMBERS_MOST = 4 };

// ---- blocks -------------------------------------------------------------------------------------

static MF_INLINE const Constraint *first_block(const Wide *w, const Pack *pack) {
    return &w->blocks[pack->first];
}

static MF_INLINE const mf_lane *curve_of(const Wide *w, const Constraint *block) {
    return w->curve + (size_t)(block - w->blocks) * CONTACT_PRODUCTS;
}

// values = u at the dofs of a pack.
static MF_INLINE void pack_gather(const Wide *w, const Pack *pack, const mf_real *u) {
    const Constraint *b = first_block(w, pack);
    const int32_t *positions = w->positions + (size_t)MF_LANES * b->first_slot;
    for (uint32_t a = 0; a < b->count; a++)
        w->values[a] = mf_gather(u, mf_load_index(positions + a * MF_LANES));
}

// to += sums at the dofs of a pack, lane by lane.
static MF_INLINE void pack_scatter(const Wide *w, const Pack *pack, mf_real *to) {
    const Constraint *b = first_block(w, pack);
    const int32_t *positions = w->positions + (size_t)MF_LANES * b->first_slot;
    const mf_real *sums = (const mf_real *)w->sums;
    for (uint32_t lane = 0; lane < pack->filled; lane++)
        for (uint32_t a = 0; a < b->count; a++)
            to[positions[a * MF_LANES + lane]] += sums[a * MF_LANES + lane];
}

// J values of a block; `rows` is a constant where this and the next are called.
static MF_INLINE void block_times(const Wide *w, const Constraint *b, mf_lane *out,
                                  const uint32_t rows) {
    const mf_lane *j = &w->numbers[b->first];
    mf_lane sum[CONTACT_ROWS];
    for (uint32_t r = 0; r < rows; r++)
        sum[r] = mf_zero();
    for (uint32_t a = 0; a < b->count; a++, j += rows)
        for (uint32_t r = 0; r < rows; r++)
            sum[r] = mf_fma(j[r], w->values[a], sum[r]);
    for (uint32_t r = 0; r < rows; r++)
        out[r] = sum[r];
}

// sums = J^T force of a block, or += behind the first one.
static MF_INLINE void block_pull(const Wide *w, const Constraint *b, bool begins,
                                 const mf_lane *force, const uint32_t rows) {
    const mf_lane *j = &w->numbers[b->first];
    for (uint32_t a = 0; a < b->count; a++, j += rows) {
        mf_lane sum = begins ? mf_zero() : w->sums[a];
        for (uint32_t r = 0; r < rows; r++)
            sum = mf_fma(j[r], force[r], sum);
        w->sums[a] = sum;
    }
}

#define WIDE_ROWS(rows, call)                                                                      \
    switch (rows) {                                                                                \
    case 1:                                                                                        \
        call(1);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        call(3);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        call(4);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        call(6);                                                                                   \
        break;                                                                                     \
    }

// out = J u, each block at its row.
static __attribute__((noinline)) void pack_times(const Wide *w, const Pack *pack, const mf_real *u,
                                                 mf_lane *out) {
    const Constraint *b = first_block(w, pack), *end = b + pack->members;
    pack_gather(w, pack, u);
    for (; b < end; b++) {
#define TIMES(rows) block_times(w, b, out + b->row, rows)
        WIDE_ROWS(b->rows, TIMES)
#undef TIMES
    }
}

static void wide_times(const Wide *w, const mf_real *u, mf_lane *out) {
    for (uint32_t n = 0; n < w->pack_count; n++)
        pack_times(w, &w->packs[n], u, out);
}

// to -= J^T force
static __attribute__((noinline)) void pack_pull(const Wide *w, const Pack *pack, mf_real *to) {
    for (uint32_t m = 0; m < pack->members; m++) {
        const Constraint *b = first_block(w, pack) + m;
        mf_lane force[CONTACT_ROWS];
        for (uint32_t r = 0; r < b->rows; r++)
            force[r] = -w->force[b->row + r];
#define PULL(rows) block_pull(w, b, m == 0, force, rows)
        WIDE_ROWS(b->rows, PULL)
#undef PULL
    }
    pack_scatter(w, pack, to);
}

static MF_INLINE mf_lane curve_at(const mf_lane *curve, uint32_t i, uint32_t k) {
    return i < k ? curve[k * (k + 1) / 2 + i] : curve[i * (i + 1) / 2 + k];
}

// to += J^T W J u
static MF_INLINE void pack_bend_few(const Wide *w, const Pack *pack, const mf_real *u, mf_real *to,
                                    const uint32_t rows) {
    pack_gather(w, pack, u);
    for (uint32_t m = 0; m < pack->members; m++) {
        const Constraint *b = first_block(w, pack) + m;
        const mf_lane *curve = curve_of(w, b);
        mf_lane slope[CONTACT_ROWS], force[CONTACT_ROWS];
        block_times(w, b, slope, rows);
        for (uint32_t i = 0; i < rows; i++) {
            force[i] = curve_at(curve, i, 0) * slope[0];
            for (uint32_t k = 1; k < rows; k++)
                force[i] = mf_fma(curve_at(curve, i, k), slope[k], force[i]);
        }
        block_pull(w, b, m == 0, force, rows);
    }
    pack_scatter(w, pack, to);
}

static __attribute__((noinline)) void pack_bend(const Wide *w, const Pack *pack, const mf_real *u,
                                                mf_real *to) {
#define BEND(rows) pack_bend_few(w, pack, u, to, rows)
    WIDE_ROWS(first_block(w, pack)->rows, BEND)
#undef BEND
}

// An entry that the pattern of a tree omits: the factors stay those of a positive matrix, which is
// not less than the one with it.
static MF_INLINE void diagonal_add(Wide *w, uint32_t a, uint32_t b, mf_real value) {
    const mf_real size = value < 0 ? -value : value;
    w->factor[w->entry[w->start[a + 1] - 1]] += size;
    w->factor[w->entry[w->start[b + 1] - 1]] += size;
}

// Adds what row `a` of J^T W J of a pack has within trees to `factor`.
static MF_INLINE void row_ease(Wide *w, const Pack *pack, uint32_t a, const uint32_t rows) {
    const Constraint *b = first_block(w, pack);
    const uint32_t *slots = w->slots + (size_t)MF_LANES * b->first_slot;
    const mf_real *sums = (const mf_real *)w->sums;
    uint32_t first = b->count; // of the dofs in the same tree, in any lane
    for (uint32_t lane = 0; lane < pack->filled; lane++)
        while (first > 0 &&
               slots[(first - 1) * MF_LANES + lane] >= w->tree[slots[a * MF_LANES + lane]])
            first--;
    for (uint32_t m = 0; m < pack->members; m++, b++) {
        const mf_lane *curve = curve_of(w, b), *numbers = &w->numbers[b->first];
        mf_lane left[CONTACT_ROWS];
        for (uint32_t i = 0; i < rows; i++) {
            left[i] = curve_at(curve, i, 0) * numbers[a * rows];
            for (uint32_t k = 1; k < rows; k++)
                left[i] = mf_fma(curve_at(curve, i, k), numbers[a * rows + k], left[i]);
        }
        for (uint32_t c = first; c <= a; c++) {
            mf_lane entry = m == 0 ? mf_zero() : w->sums[c];
            for (uint32_t i = 0; i < rows; i++)
                entry = mf_fma(left[i], numbers[c * rows + i], entry);
            w->sums[c] = entry;
        }
    }
    for (uint32_t lane = 0; lane < pack->filled; lane++) {
        const uint32_t row = slots[a * MF_LANES + lane], lowest = w->tree[row];
        if (row == w->dofs)
            continue; // of a zero
        uint32_t at = w->start[row + 1];
        const bool whole = at - w->start[row] == row - lowest + 1; // no other branch
        for (uint32_t c = a + 1; c-- > first;) {
            const uint32_t slot = slots[c * MF_LANES + lane];
            if (slot < lowest)
                break;
            if (whole) {
                at = w->start[row] + (slot - lowest);
            } else {
                while (at > w->start[row] && w->column[at - 1] >= slot)
                    at--;
                if (w->column[at] != slot) {
                    diagonal_add(w, row, slot, sums[c * MF_LANES + lane]);
                    continue;
                }
            }
            w->factor[w->entry[at]] += sums[c * MF_LANES + lane];
        }
    }
}

// The same of all rows of WIDE_SUMS lanes from a pack on, row by row.
static MF_INLINE void packs_ease_few(Wide *w, const Pack *pack, const Pack *end,
                                     const uint32_t rows) {
    for (uint32_t a = 0; a < first_block(w, pack)->count; a++)
        for (const Pack *one = pack; one < end; one++)
            row_ease(w, one, a, rows);
}

static __attribute__((noinline)) void packs_ease(Wide *w, const Pack *pack) {
    const Pack *end = pack + 1;
    while (end < w->packs + w->pack_count && end->part != 0)
        end++;
#define EASE(rows) packs_ease_few(w, pack, end, rows)
    WIDE_ROWS(first_block(w, pack)->rows, EASE)
#undef EASE
}

// ---- from lanes of robots to lanes of constraints -----------------------------------------------

static inline uint32_t rounded(uint32_t dofs) {
    return dofs <= 1 ? dofs : dofs <= 3 ? 3 : (dofs + WIDE_ROUND - 1) / WIDE_ROUND * WIDE_ROUND;
}

static inline bool is_of_class(const mf_SparseConstraint *a, const mf_SparseConstraint *b) {
    return a->kind == b->kind && a->rows == b->rows && rounded(a->count) == rounded(b->count) &&
           memcmp(a->friction, b->friction, sizeof a->friction) == 0;
}

// How many constraints from one on are alike and of the same dofs.
static uint32_t members_from(const mf_Sparse *in, uint32_t n) {
    const mf_SparseConstraint *c = &in->constraints[n];
    uint32_t members = 1;
    while (members < MEMBERS_MOST && n + members < in->constraint_count &&
           is_of_class(c, c + members) && c->count == c[members].count &&
           memcmp(in->slots + c->first_slot, in->slots + c[members].first_slot,
                  c->count * sizeof *in->slots) == 0)
        members++;
    return members;
}

static void classes_find(Wide *w) {
    w->class_count = 0;
    for (uint32_t n = 0, members; n < w->in->constraint_count; n += members) {
        const mf_SparseConstraint *c = &w->in->constraints[n];
        uint32_t k = 0;
        members = members_from(w->in, n);
        while (k < w->class_count &&
               (w->classes[k].members != members || !is_of_class(w->classes[k].like, c)))
            k++;
        if (k == w->class_count)
            w->classes[w->class_count++] = MF_VALUE(WideClass, .like = c, .members = members);
        w->classes[k].count++;
        w->class_of[n] = k;
    }
}

// The next block, without constraints.
static void block_add(Wide *w, const WideClass *own, const Pack *pack, Constraint *end) {
    const mf_SparseConstraint *like = own->like;
    const uint32_t n = w->block_count++, count = rounded(like->count), numbers = like->rows * count;
    Constraint *b = &w->blocks[n];
    *b = MF_VALUE(Constraint, .kind = like->kind, .rows = like->rows, .row = end->row,
                  .first = end->first, .first_slot = end->first_slot, .count = count,
                  .zone = 2 * end->row, .ray = n);
    for (int i = 0; i < 5; i++)
        b->friction[i] = mf_set((mf_real)like->friction[i]);
    b->cone = mf_set((mf_real)1);
    b->stiff = b->most = mf_zero();
    b->exists = mf_index_less(mf_lane_numbers(), mf_set_index((int32_t)pack->filled));
    w->part[n] = pack->part;
    for (uint32_t i = b->row; i < b->row + b->rows; i++) {
        w->weight[i] = mf_set((mf_real)1);
        w->rest[i] = mf_zero();
    }
    for (uint32_t i = b->first; i < b->first + numbers; i++)
        w->numbers[i] = mf_zero();
    for (uint32_t i = b->zone; i < b->zone + 2 * b->rows; i++)
        w->zones[i] = mf_not(mf_mask_all());
    end->row += b->rows;
    end->first += numbers;
}

static void pack_add(Wide *w, const WideClass *own, uint32_t left, Constraint *end) {
    const uint32_t n = w->pack_count++;
    Pack *pack = &w->packs[n];
    *pack = MF_VALUE(Pack, .first = w->block_count, .members = own->members,
                     .filled = left < MF_LANES ? left : MF_LANES,
                     .part = (n - own->first) % WIDE_PARTS);
    for (uint32_t m = 0; m < own->members; m++)
        block_add(w, own, pack, end);
    const uint32_t count = rounded(own->like->count);
    for (uint32_t i = 0; i < MF_LANES * count; i++) {
        w->slots[MF_LANES * end->first_slot + i] = w->dofs;
        w->positions[MF_LANES * end->first_slot + i] = (int32_t)w->position[w->dofs];
    }
    end->first_slot += count;
}

static void packs_make(Wide *w) {
    Constraint end = {.row = 0};
    w->pack_count = w->block_count = 0;
    for (uint32_t k = 0; k < w->class_count; k++) {
        WideClass *own = &w->classes[k];
        own->first = w->pack_count;
        for (uint32_t done = 0; done < own->count; done += MF_LANES)
            pack_add(w, own, own->count - done, &end);
    }
}

static void constraint_load(Wide *w, uint32_t block, uint32_t at, uint32_t n) {
    const mf_Sparse *in = w->in;
    const mf_SparseConstraint *c = &in->constraints[n];
    const mf_real *weight = (const mf_real *)in->weight, *rest = (const mf_real *)in->rest,
                  *numbers = (const mf_real *)in->numbers;
    const size_t stride = in->stride;
    Constraint *b = &w->blocks[block];
    w->source[block * MF_LANES + at] = n;
    *lane_at(&b->most, at) = (mf_real)c->most;
    *lane_at(&b->cone, at) = (mf_real)c->cone;
    *lane_at(&b->stiff, at) = (mf_real)c->stiff;
    for (uint32_t k = 0; k < c->rows; k++) {
        *lane_at(&w->weight[b->row + k], at) = weight[(c->row + k) * stride];
        *lane_at(&w->rest[b->row + k], at) = rest[(c->row + k) * stride];
    }
    for (uint32_t i = 0; i < c->rows * c->count; i++)
        *lane_at(&w->numbers[b->first + i], at) = numbers[(c->first + i) * stride];
}

static void packs_fill(Wide *w) {
    const mf_Sparse *in = w->in;
    for (uint32_t n = 0; n < in->constraint_count;) {
        const mf_SparseConstraint *c = &in->constraints[n];
        WideClass *own = &w->classes[w->class_of[n]];
        const Pack *pack = &w->packs[own->first + own->filled / MF_LANES];
        const uint32_t at = own->filled++ % MF_LANES;
        const size_t first = (size_t)MF_LANES * first_block(w, pack)->first_slot;
        for (uint32_t i = 0; i < c->count; i++) {
            const uint32_t slot = in->slots[c->first_slot + i];
            w->slots[first + i * MF_LANES + at] = slot;
            w->positions[first + i * MF_LANES + at] = (int32_t)w->position[slot];
        }
        for (uint32_t m = 0; m < pack->members; m++)
            constraint_load(w, pack->first + m, at, n++);
    }
}

// What the packs of all classes have, with so many lanes.
static mf_SparseSize packs_size(const Wide *w, uint32_t lanes) {
    mf_SparseSize size = {.dofs = w->in->dofs, .entries = w->in->entries};
    for (uint32_t k = 0; k < w->class_count; k++) {
        const WideClass *own = &w->classes[k];
        const uint32_t blocks = (own->count + lanes - 1) / lanes * own->members;
        size.constraints += blocks;
        size.rows += blocks * own->like->rows;
        size.numbers += blocks * own->like->rows * rounded(own->like->count);
    }
    return size;
}

// False: there is no memory for it. The answer does not depend on the number of lanes.
static bool wide_open(Wide *w) {
    mf_Carver carver = w->in->memory;
    wide_carve_classes(w->in->constraint_count, &carver, w);
    if (carver.used > w->in->memory_size)
        return false;
    classes_find(w);
    mf_SparseSize most = packs_size(w, MF_SPARSE_LANES);
    const mf_SparseSize own = packs_size(w, MF_LANES);
    most.constraints *= MF_SPARSE_LANES;
    most.rows *= MF_SPARSE_LANES;
    most.numbers *= MF_SPARSE_LANES;
    if (mf_sparse_bytes(&most) > w->in->memory_size - carver.used)
        return false;
    wide_carve(&own, &carver, w);
    return carver.used <= w->in->memory_size; // always
}

static void wide_begin(Wide *w) {
    w->dofs = w->in->dofs;
    w->start = w->in->start;
    w->column = w->in->column;
    trees_find(w);
    masses_load(w);
    mf_real *const rows[] = {w->x,    w->inertial, w->gradient, w->descent, w->ahead,
                             w->left, w->eased,    w->search,   w->bent};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wide_clear(w, rows[i]);
    packs_make(w);
    packs_fill(w);
}

// ---- Newton's method ----------------------------------------------------------------------------

// The sum of the costs; `settled`: no piece has changed and none is curved.
static __attribute__((noinline)) mf_real wide_reply(Wide *w, bool *settled) {
    mf_lane sums[WIDE_PARTS];
    mf_mask moves = mf_not(mf_mask_all());
    sums_clear(sums);
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        Reply reply;
        reply_find(b, &w->weight[b->row], &w->slack[b->row], &reply);
        sums[w->part[n]] = sums[w->part[n]] + reply.cost;
        for (uint32_t k = 0; k < b->rows; k++)
            w->force[b->row + k] = reply.force[k];
        for (uint32_t k = 0; k < zone_count(b); k++) {
            const mf_mask zone = mf_and(reply.zones[k], b->exists);
            moves = mf_or(moves, mf_differ(zone, w->zones[b->zone + k]));
            w->zones[b->zone + k] = zone;
        }
        if (b->kind == CONSTRAINT_ELLIPTIC)
            moves = mf_or(moves, w->zones[b->zone]);
    }
    *settled = !mf_any(moves);
    return sums_total(sums);
}

// slack = J x - rest
static void wide_slacks(Wide *w) {
    wide_times(w, w->x, w->slack);
    for (uint32_t n = 0; n < w->block_count; n++)
        for (uint32_t r = w->blocks[n].row; r < w->blocks[n].row + w->blocks[n].rows; r++)
            w->slack[r] = w->slack[r] - w->rest[r];
}

// gradient = M x - J^T force
static void wide_gradient(Wide *w) {
    memcpy(w->gradient, w->inertial, w->size * sizeof *w->gradient);
    for (uint32_t n = 0; n < w->pack_count; n++)
        pack_pull(w, &w->packs[n], w->gradient);
}

// Curvatures, and the factors of what trees have of the Hessian.
static void wide_curve(Wide *w) {
    memcpy(w->factor, w->mass, w->entries * sizeof *w->factor);
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        curve_find(b, &w->weight[b->row], &w->slack[b->row], &w->zones[b->zone],
                   w->curve + (size_t)n * CONTACT_PRODUCTS);
    }
    for (uint32_t n = 0; n < w->pack_count; n++)
        if (w->packs[n].part == 0)
            packs_ease(w, &w->packs[n]);
    wide_factor(w);
}

// to = H u
static void wide_bend(const Wide *w, const mf_real *u, mf_real *to) {
    wide_mass(w, u, to);
    for (uint32_t n = 0; n < w->pack_count; n++)
        pack_bend(w, &w->packs[n], u, to);
}

// descent = -H^-1 gradient, until what is left is WIDE_PART of it; LAST_PART where that gains less
// than `gain`. Returns twice the gain.
static mf_real wide_descend(Wide *w, mf_real gain) {
    wide_clear(w, w->descent);
    wide_clear(w, w->left);
    wide_add(w, w->left, -1, w->gradient);
    wide_ease(w, w->left, w->eased);
    memcpy(w->search, w->eased, w->size * sizeof *w->search);
    mf_real size = wide_dot(w, w->left, w->eased), fall = 0;
    mf_real enough = (mf_real)(WIDE_PART * WIDE_PART) * size;
    const mf_real least = (mf_real)(LAST_PART * LAST_PART) * size;
    for (uint32_t step = 0; step < WIDE_STEPS && size > enough; step++) {
        wide_bend(w, w->search, w->bent);
        const mf_real length = size / wide_dot(w, w->search, w->bent);
        wide_add(w, w->descent, length, w->search);
        wide_add(w, w->left, -length, w->bent);
        wide_ease(w, w->left, w->eased);
        const mf_real next = wide_dot(w, w->left, w->eased);
        wide_extend(w, w->search, next / size, w->eased);
        size = next;
        if (size <= enough && enough > least) {
            fall = -wide_dot(w, w->gradient, w->descent);
            enough = fall / 2 < gain ? least : enough;
        }
    }
    return -wide_dot(w, w->gradient, w->descent);
}

// The minimum of the cost along the descent, whose slope at 0 is -`fall` (search_direction of
// constrain_kernel.c).
static __attribute__((noinline)) mf_real wide_search(Wide *w, mf_real enough) {
    const mf_real slope = wide_dot(w, w->descent, w->inertial);
    const mf_real curve = wide_dot(w, w->descent, w->ahead);
    mf_real distance = 1, low = 0, high = MF_REAL_MAX;
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        if (b->kind == CONSTRAINT_ELLIPTIC)
            ray_find(b, &w->weight[b->row], &w->slack[b->row], &w->along[b->row], &w->rays[n]);
    }
    for (int step = 0; step < LINE_STEPS; step++) {
        mf_lane firsts[WIDE_PARTS], seconds[WIDE_PARTS];
        sums_clear(firsts);
        sums_clear(seconds);
        for (uint32_t n = 0; n < w->block_count; n++) {
            const Constraint *b = &w->blocks[n];
            along_find(b, &w->weight[b->row], &w->slack[b->row], &w->along[b->row], &w->rays[n],
                       mf_set(distance), &firsts[w->part[n]], &seconds[w->part[n]]);
        }
        const mf_real first = distance * curve + slope + sums_total(firsts);
        const mf_real second = curve + sums_total(seconds);
        if (!(enough < (first < 0 ? -first : first)))
            break;
        if (first > 0)
            high = distance;
        else
            low = distance;
        mf_real next = distance - first / second;
        if (!(low < next && next < high))
            next = high < MF_REAL_MAX ? (low + high) / 2 : 2 * distance;
        distance = next;
    }
    return distance;
}

static void wide_step(Wide *w, mf_real distance) {
    const mf_lane length = mf_set(distance);
    wide_add(w, w->x, distance, w->descent);
    wide_add(w, w->inertial, distance, w->ahead);
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        for (uint32_t r = b->row; r < b->row + b->rows; r++)
            w->slack[r] = mf_fma(length, w->along[r], w->slack[r]);
    }
}

// The acceleration of the previous step may be a better start than 0.
static void wide_start(Wide *w) {
    const mf_real *warm = (const mf_real *)w->in->warm, *free = (const mf_real *)w->in->free;
    bool settled;
    wide_slacks(w);
    if (warm == NULL)
        return;
    const mf_real cold = wide_reply(w, &settled);
    for (uint32_t i = 0; i < w->dofs; i++)
        w->x[w->position[i]] =
            warm[(size_t)i * w->in->warm_stride] - free[(size_t)i * w->in->stride];
    wide_mass(w, w->x, w->inertial);
    wide_slacks(w);
    const mf_real cost = wide_reply(w, &settled) + wide_dot(w, w->x, w->inertial) / 2;
    if (cost < cold)
        return;
    wide_clear(w, w->x);
    wide_clear(w, w->inertial);
    wide_slacks(w);
}

// As `newton` of constrain_kernel.c, whose tolerances these are.
static void wide_newton(Wide *w, mf_Sparse *out) {
    const bool single = sizeof(mf_real) == 4;
    const mf_real fine = single ? (mf_real)4e-12 : (mf_real)1e-29;
    const mf_real rounded = single ? (mf_real)1e-7 : (mf_real)1e-18;
    const mf_real gain = (mf_real)w->in->gain;
    mf_real before = MF_REAL_MAX;
    bool last = false;
    out->ended = true;
    for (out->steps = 0;; out->steps++) {
        bool settled;
        const mf_real cost = wide_reply(w, &settled);
        if (last)
            return;
        wide_gradient(w);
        if (out->steps == 0 || (out->steps < w->in->steps_most && !settled))
            wide_curve(w);
        const mf_real fall = wide_descend(w, gain);
        const mf_real size = wide_dot(w, w->x, w->inertial) + cost + cost;
        out->residual = (double)real_sqrt((fall > 0 ? fall : 0) / (size > 0 ? size : 1));
        const bool stalls = before / 4 < fall && fall <= rounded * size;
        const bool flat = wide_dot(w, w->gradient, w->gradient) < gain * gain;
        const bool lost = !(fall + size <= MF_REAL_MAX && fall + size >= -MF_REAL_MAX);
        if (stalls || flat || lost || fall <= fine * size)
            return;
        out->ended = out->steps < w->in->steps_most;
        if (!out->ended)
            return;
        last = fall / 2 < gain;
        before = fall;
        wide_mass(w, w->descent, w->ahead);
        wide_times(w, w->descent, w->along);
        wide_step(w, wide_search(w, search_part(w->in->steps_most) * fall));
    }
}

void MF_KERNEL(mf_articulated_sparse)(mf_Sparse *sparse) {
    Wide *w;
    mf_real *x = (mf_real *)sparse->x, *force = (mf_real *)sparse->force,
            *slack = (mf_real *)sparse->slack;
    const size_t stride = sparse->stride;
    MF_CARVE(&sparse->memory, w, 1);
    w->in = sparse;
    sparse->solved = wide_open(w);
    if (!sparse->solved)
        return;
    wide_begin(w);
    wide_start(w);
    wide_newton(w, sparse);
    for (uint32_t i = 0; i < w->dofs; i++)
        x[i * stride] = w->x[w->position[i]];
    for (uint32_t n = 0; n < w->pack_count; n++) {
        const Pack *pack = &w->packs[n];
        for (uint32_t m = pack->first; m < pack->first + pack->members; m++)
            for (uint32_t at = 0; at < pack->filled; at++) {
                const mf_SparseConstraint *c = &sparse->constraints[w->source[m * MF_LANES + at]];
                for (uint32_t k = 0; k < c->rows; k++) {
                    const uint32_t row = w->blocks[m].row + k;
                    force[(c->row + k) * stride] = lane_get(&w->force[row], at);
                    slack[(c->row + k) * stride] = lane_get(&w->slack[row], at);
                }
            }
    }
}

void MF_KERNEL(mf_articulated_problem_size)(const mf_ArtPlan *plan, mf_SparseSize *most) {
    const ProblemCapacity capacity = problem_capacity(plan);
    most->dofs = plan->dof_count;
    most->entries = plan->tree_entries;
    most->constraints = capacity.constraints;
    most->rows = capacity.rows;
    most->numbers = capacity.numbers;
}

// As if no two constraints were alike.
size_t MF_KERNEL(mf_articulated_sparse_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    mf_SparseSize most;
    Wide wide, *own;
    if (!problem_is_large(plan))
        return 0;
    MF_KERNEL(mf_articulated_problem_size)(plan, &most);
    most.numbers *= 2;
    MF_CARVE(&carver, own, 1);
    wide_carve_classes(most.constraints, &carver, &wide);
    wide_carve(&most, &carver, &wide);
    return carver.used;
}
