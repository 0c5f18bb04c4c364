// The constraint problem of one robot of many trees, such as boxes in a bin: its constraints lie
// side by side in the lanes where otherwise robots do. Those of one class - kind, rows, number of
// dofs, friction - fill blocks; a block is a constraint whose lanes are constraints of the robot.
//
// Newton's method with an exact search along each direction, as for few dofs (constrain_kernel.c),
// but the direction comes from conjugate gradients (Hestenes and Stiefel 1952), ended early while
// the minimum is far (Dembo, Eisenstat, Steihaug 1982), so that a step costs what the constraints
// number. They are preconditioned by what the Hessian has within each tree.
//
// The order of all sums depends on the constraints alone, not on the number of lanes: sums over
// constraints or dofs are WIDE_SUMS sums, number i modulo WIDE_SUMS in each, added in order.
#include "motion/articulated/constraint/problem_cost.h"
#include "motion/articulated/constraint/sparse.h"

enum { WIDE_SUMS = 16, WIDE_PARTS = WIDE_SUMS / MF_LANES, WIDE_STEPS = 300 };

typedef struct WideClass {
    const mf_SparseConstraint *like;
    uint32_t count, filled; // [1] constraints; those that have their lane
    uint32_t first;         // [1] block
} WideClass;

typedef struct Wide {
    const mf_Sparse *in;
    uint32_t dofs;
    const uint32_t *start; // pattern of the trees
    const uint16_t *column;
    uint32_t *tree; // [1] per dof, the first dof of its tree
    uint32_t class_count, block_count;
    WideClass *classes;
    uint32_t *class_of; // [1] per constraint of the problem
    Constraint *blocks;
    uint32_t *filled; // [1] lanes of a block
    uint32_t *part;   // [1] of WIDE_PARTS, which sums a block adds to
    uint32_t *source; // [1] constraints of the problem, MF_LANES per block
    // As in a problem, with blocks for constraints; a slot is one number per lane.
    mf_lane *weight, *rest, *slack, *along, *force, *numbers, *curve;
    mf_mask *zones;
    Ray *rays;
    uint32_t *slots;
    mf_real *gathered; // [MF_LANES] per dof of a block
    uint32_t entries;  // [1] of the trees
    mf_real *mass, *factor, *inverse;
    // Per dof, with zeros up to a multiple of WIDE_SUMS and at least one.
    uint32_t size;
    mf_real *x, *inertial, *gradient, *descent, *ahead;
    mf_real *left, *eased, *search,
        *bent; // of conjugate gradients: r, P^-1 r, direction, H times it
} Wide;

static uint32_t wide_size(const mf_ArtPlan *plan) {
    return (plan->dof_count + WIDE_SUMS) / WIDE_SUMS * WIDE_SUMS;
}

static void wide_carve(const mf_ArtPlan *plan, mf_Carver *carver, Wide *w) {
    const ProblemCapacity all = problem_capacity(plan), *capacity = &all;
    const uint32_t size = wide_size(plan);
    MF_CARVE(carver, w->tree, size);
    MF_CARVE(carver, w->classes, capacity->constraints);
    MF_CARVE(carver, w->class_of, capacity->constraints);
    MF_CARVE(carver, w->blocks, capacity->constraints);
    MF_CARVE(carver, w->filled, capacity->constraints);
    MF_CARVE(carver, w->part, capacity->constraints);
    MF_CARVE(carver, w->source, (size_t)MF_LANES * capacity->constraints);
    MF_CARVE(carver, w->weight, capacity->rows);
    MF_CARVE(carver, w->rest, capacity->rows);
    MF_CARVE(carver, w->slack, capacity->rows);
    MF_CARVE(carver, w->along, capacity->rows);
    MF_CARVE(carver, w->force, capacity->rows);
    MF_CARVE(carver, w->zones, 2 * capacity->rows);
    MF_CARVE(carver, w->curve, (size_t)CONTACT_PRODUCTS * capacity->constraints);
    MF_CARVE(carver, w->rays, capacity->constraints);
    MF_CARVE(carver, w->numbers, capacity->numbers);
    MF_CARVE(carver, w->slots, (size_t)MF_LANES * capacity->numbers);
    MF_CARVE(carver, w->gathered, (size_t)MF_LANES * plan->dof_count);
    MF_CARVE(carver, w->mass, mf_art_tree_start(plan)[plan->dof_count]);
    MF_CARVE(carver, w->factor, mf_art_tree_start(plan)[plan->dof_count]);
    MF_CARVE(carver, w->inverse, size);
    mf_real **const rows[] = {&w->x,    &w->inertial, &w->gradient, &w->descent, &w->ahead,
                              &w->left, &w->eased,    &w->search,   &w->bent};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        MF_CARVE(carver, *rows[i], size);
}

// ---- vectors ------------------------------------------------------------------------------------

static inline mf_real real_sqrt(mf_real value) {
    const mf_lane root = mf_sqrt(mf_set(value));
    return lane_get(&root, 0);
}

static inline mf_real sums_total(const mf_lane *sums) {
    mf_real total = 0;
    for (uint32_t i = 0; i < WIDE_SUMS; i++)
        total += lane_get(&sums[i / MF_LANES], i % MF_LANES);
    return total;
}

static inline void sums_clear(mf_lane *sums) {
    for (uint32_t i = 0; i < WIDE_PARTS; i++)
        sums[i] = mf_zero();
}

static mf_real wide_dot(const Wide *w, const mf_real *a, const mf_real *b) {
    mf_lane sums[WIDE_PARTS];
    sums_clear(sums);
    for (uint32_t i = 0; i < w->size; i += WIDE_SUMS)
        for (uint32_t k = 0; k < WIDE_PARTS; k++)
            sums[k] = mf_fma(mf_load(a + i + k * MF_LANES), mf_load(b + i + k * MF_LANES), sums[k]);
    return sums_total(sums);
}

// to += f from
static void wide_add(const Wide *w, mf_real *to, mf_real f, const mf_real *from) {
    const mf_lane factor = mf_set(f);
    for (uint32_t i = 0; i < w->size; i += MF_LANES)
        mf_store(to + i, mf_fma(factor, mf_load(from + i), mf_load(to + i)));
}

// to = from + f to
static void wide_turn(const Wide *w, mf_real *to, mf_real f, const mf_real *from) {
    const mf_lane factor = mf_set(f);
    for (uint32_t i = 0; i < w->size; i += MF_LANES)
        mf_store(to + i, mf_fma(factor, mf_load(to + i), mf_load(from + i)));
}

static void wide_clear(const Wide *w, mf_real *to) {
    memset(to, 0, w->size * sizeof *to);
}

// ---- trees --------------------------------------------------------------------------------------

// y = M x
static void wide_mass(const Wide *w, const mf_real *x, mf_real *y) {
    const uint32_t *start = w->start;
    const uint16_t *column = w->column;
    for (uint32_t i = 0; i < w->dofs; i++) {
        const uint32_t last = start[i + 1] - 1;
        mf_real sum = w->mass[last] * x[i];
        for (uint32_t k = start[i]; k < last; k++) {
            sum += w->mass[k] * x[column[k]];
            y[column[k]] += w->mass[k] * x[i];
        }
        y[i] = sum;
    }
}

// L^T D L of what is in `factor` (as sparse_factor of problem_hessian.h).
static void wide_factor(Wide *w) {
    const uint32_t *start = w->start;
    const uint16_t *column = w->column;
    for (uint32_t k = w->dofs; k-- > 0;) {
        const uint32_t first = start[k], last = start[k + 1] - 1;
        const mf_real inverse = 1 / w->factor[last];
        w->inverse[k] = inverse;
        for (uint32_t e = last; e-- > first;) {
            const mf_real f = w->factor[e] * inverse;
            // The row of an ancestor begins as this one.
            mf_real *row = w->factor + start[column[e]];
            for (uint32_t n = first; n <= e; n++)
                row[n - first] -= f * w->factor[n];
            w->factor[e] = f;
        }
    }
}

// to = P^-1 from
static void wide_ease(const Wide *w, const mf_real *from, mf_real *to) {
    const uint32_t *start = w->start;
    const uint16_t *column = w->column;
    memcpy(to, from, w->size * sizeof *to);
    for (uint32_t k = w->dofs; k-- > 0;)
        for (uint32_t e = start[k]; e < start[k + 1] - 1; e++)
            to[column[e]] -= w->factor[e] * to[k];
    for (uint32_t k = 0; k < w->dofs; k++) {
        mf_real sum = to[k] * w->inverse[k];
        for (uint32_t e = start[k]; e < start[k + 1] - 1; e++)
            sum -= w->factor[e] * to[column[e]];
        to[k] = sum;
    }
}

// ---- blocks -------------------------------------------------------------------------------------

static MF_INLINE const uint32_t *block_slots(const Wide *w, const Constraint *b) {
    return w->slots + (size_t)MF_LANES * b->first_slot;
}

// out = J u of a block; `rows` is a constant where this is called.
static MF_INLINE void block_times_few(const Wide *w, const Constraint *b, const mf_real *u,
                                      mf_lane *out, const uint32_t rows) {
    const uint32_t *slots = block_slots(w, b);
    const mf_lane *j = &w->numbers[b->first];
    mf_lane sum[CONTACT_ROWS];
    for (uint32_t r = 0; r < rows; r++)
        sum[r] = mf_zero();
    for (uint32_t a = 0; a < b->count; a++, j += rows, slots += MF_LANES) {
        const mf_lane value = mf_gather(u, mf_load_index((const int32_t *)slots));
        for (uint32_t r = 0; r < rows; r++)
            sum[r] = mf_fma(j[r], value, sum[r]);
    }
    for (uint32_t r = 0; r < rows; r++)
        out[r] = sum[r];
}

// to += J^T force of a block, constraint by constraint.
static MF_INLINE void block_pull_few(const Wide *w, uint32_t n, const mf_lane *force, mf_real *to,
                                     const uint32_t rows) {
    const Constraint *b = &w->blocks[n];
    const uint32_t *slots = block_slots(w, b);
    const mf_lane *j = &w->numbers[b->first];
    for (uint32_t a = 0; a < b->count; a++, j += rows) {
        mf_lane sum = j[0] * force[0];
        for (uint32_t r = 1; r < rows; r++)
            sum = mf_fma(j[r], force[r], sum);
        mf_store(w->gathered + (size_t)a * MF_LANES, sum);
    }
    for (uint32_t lane = 0; lane < w->filled[n]; lane++)
        for (uint32_t a = 0; a < b->count; a++)
            to[slots[a * MF_LANES + lane]] += w->gathered[a * MF_LANES + lane];
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

static __attribute__((noinline)) void block_times(const Wide *w, const Constraint *b,
                                                  const mf_real *u, mf_lane *out) {
#define TIMES(rows) block_times_few(w, b, u, out, rows)
    WIDE_ROWS(b->rows, TIMES)
#undef TIMES
}

static __attribute__((noinline)) void block_pull(const Wide *w, uint32_t n, const mf_lane *force,
                                                 mf_real *to) {
#define PULL(rows) block_pull_few(w, n, force, to, rows)
    WIDE_ROWS(w->blocks[n].rows, PULL)
#undef PULL
}

static MF_INLINE mf_lane curve_at(const mf_lane *curve, uint32_t i, uint32_t k) {
    return i < k ? curve[k * (k + 1) / 2 + i] : curve[i * (i + 1) / 2 + k];
}

// to += J^T W J u of a block.
static MF_INLINE void block_bend_few(const Wide *w, uint32_t n, const mf_real *u, mf_real *to,
                                     const uint32_t rows) {
    const mf_lane *curve = w->curve + (size_t)n * CONTACT_PRODUCTS;
    mf_lane slope[CONTACT_ROWS], force[CONTACT_ROWS];
    block_times_few(w, &w->blocks[n], u, slope, rows);
    for (uint32_t i = 0; i < rows; i++) {
        force[i] = curve_at(curve, i, 0) * slope[0];
        for (uint32_t k = 1; k < rows; k++)
            force[i] = mf_fma(curve_at(curve, i, k), slope[k], force[i]);
    }
    block_pull_few(w, n, force, to, rows);
}

static __attribute__((noinline)) void block_bend(const Wide *w, uint32_t n, const mf_real *u,
                                                 mf_real *to) {
#define BEND(rows) block_bend_few(w, n, u, to, rows)
    WIDE_ROWS(w->blocks[n].rows, BEND)
#undef BEND
}

// Adds what row `a` of J^T W J of a block has within trees to `factor`.
static MF_INLINE void row_ease(Wide *w, uint32_t n, uint32_t a, const uint32_t rows) {
    const Constraint *b = &w->blocks[n];
    const mf_lane *curve = w->curve + (size_t)n * CONTACT_PRODUCTS,
                  *numbers = &w->numbers[b->first];
    const uint32_t *slots = block_slots(w, b);
    mf_lane left[CONTACT_ROWS];
    uint32_t first = b->count; // of the dofs in the same tree, in any lane
    for (uint32_t i = 0; i < rows; i++) {
        left[i] = curve_at(curve, i, 0) * numbers[a * rows];
        for (uint32_t k = 1; k < rows; k++)
            left[i] = mf_fma(curve_at(curve, i, k), numbers[a * rows + k], left[i]);
    }
    for (uint32_t lane = 0; lane < w->filled[n]; lane++)
        while (first > 0 &&
               slots[(first - 1) * MF_LANES + lane] >= w->tree[slots[a * MF_LANES + lane]])
            first--;
    for (uint32_t c = first; c <= a; c++) {
        mf_lane entry = left[0] * numbers[c * rows];
        for (uint32_t i = 1; i < rows; i++)
            entry = mf_fma(left[i], numbers[c * rows + i], entry);
        mf_store(w->gathered + (size_t)c * MF_LANES, entry);
    }
    for (uint32_t lane = 0; lane < w->filled[n]; lane++) {
        const uint32_t row = slots[a * MF_LANES + lane], end = w->start[row + 1];
        for (uint32_t c = first, at = w->start[row]; c <= a; c++) {
            const uint32_t slot = slots[c * MF_LANES + lane];
            while (at < end && w->column[at] < slot)
                at++;
            if (at < end && w->column[at] == slot)
                w->factor[at] += w->gathered[c * MF_LANES + lane];
        }
    }
}

// The same of all rows of WIDE_SUMS constraints from block n on, row by row.
static MF_INLINE void block_ease_few(Wide *w, uint32_t n, uint32_t end, const uint32_t rows) {
    for (uint32_t a = 0; a < w->blocks[n].count; a++)
        for (uint32_t k = n; k < end; k++)
            row_ease(w, k, a, rows);
}

static __attribute__((noinline)) void block_ease(Wide *w, uint32_t n) {
    uint32_t end = n + 1;
    while (end < w->block_count && w->part[end] != 0)
        end++;
#define EASE(rows) block_ease_few(w, n, end, rows)
    WIDE_ROWS(w->blocks[n].rows, EASE)
#undef EASE
}

// ---- from lanes of robots to lanes of constraints -----------------------------------------------

static inline bool is_of_class(const mf_SparseConstraint *a, const mf_SparseConstraint *b) {
    return a->kind == b->kind && a->rows == b->rows && a->count == b->count &&
           memcmp(a->friction, b->friction, sizeof a->friction) == 0;
}

static void classes_find(Wide *w) {
    w->class_count = 0;
    for (uint32_t n = 0; n < w->in->constraint_count; n++) {
        const mf_SparseConstraint *c = &w->in->constraints[n];
        uint32_t k = 0;
        while (k < w->class_count && !is_of_class(w->classes[k].like, c))
            k++;
        if (k == w->class_count)
            w->classes[w->class_count++] = MF_VALUE(WideClass, .like = c);
        w->classes[k].count++;
        w->class_of[n] = k;
    }
}

// The next block, without constraints.
static void block_add(Wide *w, const WideClass *own, uint32_t filled, Constraint *end) {
    const mf_SparseConstraint *like = own->like;
    const uint32_t n = w->block_count++, numbers = like->rows * like->count;
    Constraint *b = &w->blocks[n];
    *b = MF_VALUE(Constraint, .kind = like->kind, .rows = like->rows, .row = end->row,
                  .first = end->first, .first_slot = end->first_slot, .count = like->count,
                  .zone = 2 * end->row, .ray = n);
    for (int i = 0; i < 5; i++)
        b->friction[i] = (mf_real)like->friction[i];
    b->cone = mf_set((mf_real)1);
    b->stiff = b->most = mf_zero();
    b->exists = mf_index_less(mf_lane_numbers(), mf_set_index((int32_t)filled));
    w->filled[n] = filled;
    w->part[n] = (n - own->first) % WIDE_PARTS;
    for (uint32_t i = b->row; i < b->row + b->rows; i++) {
        w->weight[i] = mf_set((mf_real)1);
        w->rest[i] = mf_zero();
    }
    for (uint32_t i = b->first; i < b->first + numbers; i++)
        w->numbers[i] = mf_zero();
    for (uint32_t i = MF_LANES * b->first_slot; i < MF_LANES * (b->first_slot + b->count); i++)
        w->slots[i] = w->dofs;
    for (uint32_t i = b->zone; i < b->zone + 2 * b->rows; i++)
        w->zones[i] = mf_not(mf_mask_all());
    end->row += b->rows;
    end->first += numbers;
    end->first_slot += b->count;
}

static void blocks_make(Wide *w) {
    Constraint end = {.row = 0};
    w->block_count = 0;
    for (uint32_t k = 0; k < w->class_count; k++) {
        WideClass *own = &w->classes[k];
        own->first = w->block_count;
        for (uint32_t done = 0; done < own->count; done += MF_LANES)
            block_add(w, own, own->count - done < MF_LANES ? own->count - done : MF_LANES, &end);
    }
}

static void blocks_fill(Wide *w) {
    const mf_Sparse *in = w->in;
    const mf_real *weight = in->weight, *rest = in->rest, *numbers = in->numbers;
    const size_t stride = in->stride;
    for (uint32_t n = 0; n < in->constraint_count; n++) {
        const mf_SparseConstraint *c = &in->constraints[n];
        WideClass *own = &w->classes[w->class_of[n]];
        const uint32_t block = own->first + own->filled / MF_LANES, at = own->filled % MF_LANES;
        Constraint *b = &w->blocks[block];
        own->filled++;
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
        for (uint32_t i = 0; i < c->count; i++)
            w->slots[(b->first_slot + i) * MF_LANES + at] = in->slots[c->first_slot + i];
    }
}

static void wide_begin(Wide *w) {
    const mf_real *mass = w->in->mass;
    w->dofs = w->in->plan->dof_count;
    w->start = mf_art_tree_start(w->in->plan);
    w->column = mf_art_tree_column(w->in->plan);
    w->size = wide_size(w->in->plan);
    w->entries = w->start[w->dofs];
    for (uint32_t i = 0; i < w->size; i++)
        w->tree[i] = i < w->dofs ? w->column[w->start[i]] : i;
    for (uint32_t i = 0; i < w->entries; i++)
        w->mass[i] = mass[(size_t)i * w->in->stride];
    mf_real *const rows[] = {w->x,    w->inertial, w->gradient, w->descent, w->ahead,
                             w->left, w->eased,    w->search,   w->bent};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wide_clear(w, rows[i]);
    classes_find(w);
    blocks_make(w);
    blocks_fill(w);
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
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        mf_lane *slack = &w->slack[b->row];
        block_times(w, b, w->x, slack);
        for (uint32_t k = 0; k < b->rows; k++)
            slack[k] = slack[k] - w->rest[b->row + k];
    }
}

// gradient = M x - J^T force
static void wide_gradient(Wide *w) {
    memcpy(w->gradient, w->inertial, w->size * sizeof *w->gradient);
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        mf_lane force[CONTACT_ROWS];
        for (uint32_t k = 0; k < b->rows; k++)
            force[k] = -w->force[b->row + k];
        block_pull(w, n, force, w->gradient);
    }
}

// Curvatures, and the factors of what trees have of the Hessian.
static void wide_curve(Wide *w) {
    memcpy(w->factor, w->mass, w->entries * sizeof *w->factor);
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        curve_find(b, &w->weight[b->row], &w->slack[b->row], &w->zones[b->zone],
                   w->curve + (size_t)n * CONTACT_PRODUCTS);
    }
    for (uint32_t n = 0; n < w->block_count; n++)
        if (w->part[n] == 0)
            block_ease(w, n);
    wide_factor(w);
}

// to = H u
static void wide_bend(const Wide *w, const mf_real *u, mf_real *to) {
    wide_mass(w, u, to);
    for (uint32_t n = 0; n < w->block_count; n++)
        if (mf_any(curve_where(&w->blocks[n], &w->zones[w->blocks[n].zone])))
            block_bend(w, n, u, to);
}

// descent = -H^-1 gradient, until what is left is `part` of it. Returns twice the gain.
static mf_real wide_descend(Wide *w, mf_real part) {
    wide_clear(w, w->descent);
    wide_clear(w, w->left);
    wide_add(w, w->left, -1, w->gradient);
    wide_ease(w, w->left, w->eased);
    memcpy(w->search, w->eased, w->size * sizeof *w->search);
    mf_real size = wide_dot(w, w->left, w->eased);
    const mf_real enough = part * part * size;
    for (uint32_t step = 0; step < WIDE_STEPS && size > enough; step++) {
        wide_bend(w, w->search, w->bent);
        const mf_real length = size / wide_dot(w, w->search, w->bent);
        wide_add(w, w->descent, length, w->search);
        wide_add(w, w->left, -length, w->bent);
        wide_ease(w, w->left, w->eased);
        const mf_real next = wide_dot(w, w->left, w->eased);
        wide_turn(w, w->search, next / size, w->eased);
        size = next;
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
    const mf_real *warm = w->in->warm, *free = w->in->free;
    bool settled;
    wide_slacks(w);
    if (warm == NULL)
        return;
    const mf_real cold = wide_reply(w, &settled);
    for (uint32_t i = 0; i < w->dofs; i++)
        w->x[i] = warm[(size_t)i * MF_BLOCK] - free[(size_t)i * w->in->stride];
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
    const mf_ArtPlan *plan = w->in->plan;
    const bool single = sizeof(mf_real) == 4;
    const mf_real fine = single ? (mf_real)4e-12 : (mf_real)1e-29;
    const mf_real rounded = single ? (mf_real)1e-7 : (mf_real)1e-18;
    const mf_real gain = (mf_real)plan->solver_gain;
    mf_real before = MF_REAL_MAX;
    bool last = false;
    out->ended = true;
    for (out->steps = 0;; out->steps++) {
        bool settled;
        const mf_real cost = wide_reply(w, &settled);
        if (last)
            return;
        wide_gradient(w);
        if (out->steps == 0 || out->steps < plan->solver_steps)
            wide_curve(w);
        const mf_real fall = wide_descend(w, (mf_real)0.01);
        const mf_real size = wide_dot(w, w->x, w->inertial) + cost + cost;
        out->residual = (double)real_sqrt((fall > 0 ? fall : 0) / (size > 0 ? size : 1));
        const bool stalls = before / 4 < fall && fall <= rounded * size;
        const bool flat = wide_dot(w, w->gradient, w->gradient) < gain * gain;
        const bool lost = !(fall + size <= MF_REAL_MAX && fall + size >= -MF_REAL_MAX);
        if (stalls || flat || lost || fall <= fine * size)
            return;
        out->ended = out->steps < plan->solver_steps;
        if (!out->ended)
            return;
        last = fall / 2 < gain;
        before = fall;
        wide_mass(w, w->descent, w->ahead);
        for (uint32_t n = 0; n < w->block_count; n++)
            block_times(w, &w->blocks[n], w->descent, &w->along[w->blocks[n].row]);
        wide_step(w, wide_search(w, (mf_real)search_part(plan) * fall));
    }
}

void MF_KERNEL(mf_articulated_sparse)(mf_Sparse *sparse) {
    Wide *w;
    mf_real *x = sparse->x, *force = sparse->force;
    const size_t stride = sparse->stride;
    MF_CARVE(&sparse->memory, w, 1);
    wide_carve(sparse->plan, &sparse->memory, w);
    w->in = sparse;
    wide_begin(w);
    wide_start(w);
    wide_newton(w, sparse);
    for (uint32_t i = 0; i < w->dofs; i++)
        x[i * stride] = w->x[i];
    for (uint32_t n = 0; n < w->block_count; n++) {
        const Constraint *b = &w->blocks[n];
        for (uint32_t at = 0; at < w->filled[n]; at++) {
            const mf_SparseConstraint *c = &sparse->constraints[w->source[n * MF_LANES + at]];
            for (uint32_t k = 0; k < b->rows; k++)
                force[(c->row + k) * stride] = lane_get(&w->force[b->row + k], at);
        }
    }
}

size_t MF_KERNEL(mf_articulated_sparse_scratch_size)(const mf_ArtPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Wide wide, *own;
    if (!problem_is_large(plan))
        return 0;
    MF_CARVE(&carver, own, 1);
    wide_carve(plan, &carver, &wide);
    return carver.used;
}
