// The kernels of cloth: between fields and working memory, the substep of vertices, and passes over
// constraints (solve.h). What they read and the order of work are in plan.h.
//
// Invariants: chunks of a wave and rows of slots never share a slot that one of them writes; the
// copies of all instruction sets do the same operations in the same order.

#include "motion/cloth/obstacle.h"
#include "motion/cloth/solve.h"

// ---- self ---------------------------------------------------------------------------------------

// Cloth against itself: vertices are balls that stay a distance apart, except of those that are
// near each other in the cloth at rest. Near ones are found once a step in a grid of cells, by a
// counting sort; in every substep all vertices move away from theirs at once (Jacobi), so that both
// of a pair get the same push and the order does not matter.

#define MF_CLOTH_RELAXATION                                                                        \
    ((mf_real)0.25)                        // [1] of what parts a pair, as a vertex may have several
#define MF_CLOTH_MOST_SHIFT ((mf_real)0.1) // [1] of the distance, in a substep
#define MF_CLOTH_FAMILY 3.0 // [1] distances within which vertices are neighbors at rest

// The square root of one value.
static inline mf_real mf_one_sqrt(mf_real value) {
    MF_ALIGNED(64) mf_real lanes[MF_LANES];
    mf_store(lanes, mf_sqrt(mf_set(value)));
    return lanes[0];
}

typedef struct Cell {
    int32_t at[3]; // [1]
} Cell;

// Any place of cells; different ones may share a bucket.
static inline uint32_t bucket_of(const mf_ClothSelf *self, Cell cell) {
    const uint32_t x = (uint32_t)cell.at[0] * 73856093u, y = (uint32_t)cell.at[1] * 19349663u;
    return (x ^ y ^ (uint32_t)cell.at[2] * 83492791u) & (self->bucket_count - 1);
}

static inline int32_t floor_of(mf_real value) {
    const int32_t whole = (int32_t)value;
    return whole - (value < (mf_real)whole);
}

// Cells have the reach of the search, twice the distance, as edge.
static inline Cell cell_of(const mf_ClothJob *job, const mf_real *x, uint32_t vertex) {
    const uint32_t at = mf_cloth_slot_of(job->plan)[vertex];
    const size_t stride = mf_cloth_scratch_size(job->plan);
    const mf_real scale = (mf_real)(0.5 / job->plan->self_distance);
    const mf_real most = (mf_real)1e9;
    Cell cell;
    for (uint32_t c = 0; c < 3; c++) {
        const mf_real value = x[c * stride + at] * scale;
        cell.at[c] = value > -most && value < most ? floor_of(value) : 0;
    }
    return cell;
}

static inline double rest_square(const mf_ClothJob *job, uint32_t a, uint32_t b) {
    const double *home = mf_cloth_home(job->plan);
    double square = 0;
    for (uint32_t c = 0; c < 3; c++) {
        const double distance = home[3 * (size_t)a + c] - home[3 * (size_t)b + c];
        square += distance * distance;
    }
    return square;
}

static inline mf_real distance_squared(const mf_ClothJob *job, const mf_real *x, uint32_t a,
                                       uint32_t b) {
    const size_t stride = mf_cloth_scratch_size(job->plan);
    const uint32_t *slot_of = mf_cloth_slot_of(job->plan);
    mf_real square = 0;
    for (uint32_t c = 0; c < 3; c++) {
        const mf_real distance = x[c * stride + slot_of[a]] - x[c * stride + slot_of[b]];
        square += distance * distance;
    }
    return square;
}

// Adds the vertices of one cell that are near. Returns how many found no space.
static inline uint32_t list_cell(const mf_ClothJob *job, const mf_real *x, uint32_t vertex,
                                 Cell cell) {
    const mf_ClothSelf *self = &job->self;
    const double distance = job->plan->self_distance;
    const mf_real reach = (mf_real)(2 * distance);
    const uint32_t bucket = bucket_of(self, cell);
    uint32_t dropped = 0;
    for (uint32_t i = self->begins[bucket]; i < self->begins[bucket + 1]; i++) {
        const uint32_t other = self->sorted[i];
        if (memcmp(self->cells + 3 * (size_t)other, cell.at, sizeof cell.at) != 0 ||
            other == vertex || distance_squared(job, x, vertex, other) >= reach * reach ||
            rest_square(job, vertex, other) <=
                MF_CLOTH_FAMILY * MF_CLOTH_FAMILY * distance * distance)
            continue;
        if (self->counts[vertex] == MF_CLOTH_NEAR)
            dropped++;
        else
            self->near[(size_t)vertex * MF_CLOTH_NEAR + self->counts[vertex]++] = other;
    }
    return dropped;
}

static inline uint32_t list_near(const mf_ClothJob *job, const mf_real *x, uint32_t vertex) {
    const Cell own = cell_of(job, x, vertex);
    uint32_t dropped = 0;
    job->self.counts[vertex] = 0;
    for (int32_t i = 0; i < 27; i++) {
        Cell cell;
        cell.at[0] = own.at[0] + i % 3 - 1;
        cell.at[1] = own.at[1] + i / 3 % 3 - 1;
        cell.at[2] = own.at[2] + i / 9 - 1;
        dropped += list_cell(job, x, vertex, cell);
    }
    return dropped;
}

// What parts the vertex from those near it: all at once, from where they are.
static inline void separate(const mf_ClothJob *job, const mf_real *x, const mf_real *w,
                            mf_real *shift, uint32_t vertex) {
    const mf_ClothSelf *self = &job->self;
    const size_t stride = mf_cloth_scratch_size(job->plan);
    const uint32_t *slot_of = mf_cloth_slot_of(job->plan);
    const uint32_t at = slot_of[vertex];
    const mf_real distance = (mf_real)job->plan->self_distance;
    mf_real sum[3] = {0, 0, 0};
    for (uint32_t i = 0; i < self->counts[vertex]; i++) {
        const uint32_t other = self->near[(size_t)vertex * MF_CLOTH_NEAR + i];
        const mf_real square = distance_squared(job, x, vertex, other);
        const mf_real both = w[at] + w[slot_of[other]];
        if (!(square < distance * distance && square > 0 && both > 0))
            continue;
        // Bounded, so that what got deep comes out slowly.
        const mf_real length = mf_one_sqrt(square), most = MF_CLOTH_MOST_SHIFT * distance;
        const mf_real depth = distance - length < most ? distance - length : most;
        const mf_real part = MF_CLOTH_RELAXATION * depth / length * w[at] / both;
        for (uint32_t c = 0; c < 3; c++)
            sum[c] += part * (x[c * stride + at] - x[c * stride + slot_of[other]]);
    }
    for (uint32_t c = 0; c < 3; c++)
        shift[c * stride + at] = sum[c];
}

// ---- residual -----------------------------------------------------------------------------------

// How far a pass is from the stiffness of the cloth: right after its own turn a constraint C and
// its multiplier l meet C + a l = 0, which is what an infinite number of passes would give; those
// that follow in the same pass move it away from there. The rest is a strain or a curvature that no
// force of the cloth corresponds to; here it is squared, over the compliance.

static MF_INLINE mf_lane square_over(mf_lane c, mf_lane a) {
    return c * c / a;
}

// `whole` gets the same of the constraint itself, not of what is left over.
static MF_INLINE mf_lane edge_residual(const Batch *b, mf_lane *whole) {
    Vec offset = vec_sub(node_vec(b, 1, MF_CLOTH_X), node_vec(b, 0, MF_CLOTH_X));
    const mf_lane length = mf_sqrt(vec_dot(offset, offset) + mf_set((mf_real)1e-30));
    const mf_lane c = length - value_of(b, 0);
    *whole = square_over(c, value_of(b, 1));
    return square_over(c - mf_load(after_row(b, 0)), value_of(b, 1));
}

static MF_INLINE mf_lane bend_residual(const Batch *b, uint32_t count) {
    Vec c = vec_scale(node_vec(b, 0, MF_CLOTH_X), value_of(b, 0));
    for (uint32_t i = 1; i < count; i++)
        c = vec_fma(node_vec(b, i, MF_CLOTH_X), value_of(b, i), c);
    const mf_lane a = value_of(b, count);
    return square_over(c.x - mf_load(after_row(b, 0)), a) +
           square_over(c.y - mf_load(after_row(b, 1)), a) +
           square_over(c.z - mf_load(after_row(b, 2)), a);
}

static MF_INLINE mf_lane triangle_residual(const Batch *b, mf_lane *whole) {
    Vec from = node_vec(b, 0, MF_CLOTH_X);
    Vec one = vec_sub(node_vec(b, 1, MF_CLOTH_X), from);
    Vec two = vec_sub(node_vec(b, 2, MF_CLOTH_X), from);
    mf_lane sum = mf_zero();
    *whole = mf_zero();
    for (uint32_t k = 0; k < 2; k++) {
        Vec tangent = vec_fma(two, value_of(b, 2 * k + 1), vec_scale(one, value_of(b, 2 * k)));
        const mf_lane length = mf_sqrt(vec_dot(tangent, tangent) + mf_set((mf_real)1e-30));
        const mf_lane c = length - mf_set((mf_real)1);
        *whole = *whole + square_over(c, value_of(b, 4));
        sum = sum + square_over(c - mf_load(after_row(b, k)), value_of(b, 4));
    }
    return sum;
}

// Of stretch and bending; the shear and the twist of cells are not counted.
static MF_INLINE mf_lane residual_of(const Batch *b, mf_lane *whole) {
    *whole = mf_zero();
    switch (b->batch->kind) {
    case MF_CLOTH_EDGE:
        return edge_residual(b, whole);
    case MF_CLOTH_TRIANGLE:
        return triangle_residual(b, whole);
    default:
        return bend_residual(b, mf_cloth_nodes(b->batch->kind));
    }
}

// ---- cloth kernel -------------------------------------------------------------------------------

static MF_INLINE mf_real *array_of(const mf_ClothJob *job, uint32_t array) {
    return (mf_real *)job->work + array * mf_cloth_scratch_size(job->plan);
}

static MF_INLINE const mf_real *values_of(const mf_ClothPlan *plan) {
#if defined(MF_KERNEL_F64)
    return mf_cloth_values_f64(plan);
#else
    return mf_cloth_values_f32(plan);
#endif
}

static MF_INLINE const mf_real *masses_of(const mf_ClothPlan *plan) {
#if defined(MF_KERNEL_F64)
    return mf_cloth_masses_f64(plan);
#else
    return mf_cloth_masses_f32(plan);
#endif
}

// ---- fields and working memory -----------------------------------------------------------------

// In the order of the fields, whose values are far apart; the working memory is near.
void MF_KERNEL(mf_cloth_load)(const mf_ClothJob *job, uint32_t first, uint32_t count) {
    const mf_real *position = (const mf_real *)job->position;
    const mf_real *velocity = (const mf_real *)job->velocity;
    const mf_real *mass = masses_of(job->plan);
    const uint32_t *slot_of = mf_cloth_slot_of(job->plan);
    mf_real *w = array_of(job, MF_CLOTH_W);
    for (uint32_t vertex = first; vertex < first + count; vertex++) {
        const uint32_t at = slot_of[vertex];
        for (uint32_t c = 0; c < 3; c++) {
            const size_t from = ((size_t)3 * vertex + c) * MF_CLOTH_LANES;
            const mf_real lead = (mf_real)(job->lead * job->plan->gravity[c]);
            array_of(job, MF_CLOTH_X + c)[at] = position[from];
            array_of(job, MF_CLOTH_V + c)[at] = velocity[from] - lead;
        }
        w[at] = 1 / mass[at];
    }
}

void MF_KERNEL(mf_cloth_store)(const mf_ClothJob *job, uint32_t first, uint32_t count) {
    mf_real *position = (mf_real *)job->position, *velocity = (mf_real *)job->velocity;
    const uint32_t *slot_of = mf_cloth_slot_of(job->plan);
    for (uint32_t vertex = first; vertex < first + count; vertex++) {
        const uint32_t at = slot_of[vertex];
        for (uint32_t c = 0; c < 3; c++) {
            const size_t to = ((size_t)3 * vertex + c) * MF_CLOTH_LANES;
            const mf_real lead = (mf_real)(job->lead * job->plan->gravity[c]);
            position[to] = array_of(job, MF_CLOTH_X + c)[at];
            velocity[to] = array_of(job, MF_CLOTH_V + c)[at] + lead;
        }
    }
}

// ---- vertices ----------------------------------------------------------------------------------

static MF_INLINE Vec load_at(const mf_ClothJob *job, uint32_t array, uint32_t at) {
    return MF_VALUE(Vec, mf_load(array_of(job, array) + at), mf_load(array_of(job, array + 1) + at),
                    mf_load(array_of(job, array + 2) + at));
}

static MF_INLINE void store_at(const mf_ClothJob *job, uint32_t array, uint32_t at, Vec value) {
    mf_store(array_of(job, array) + at, value.x);
    mf_store(array_of(job, array + 1) + at, value.y);
    mf_store(array_of(job, array + 2) + at, value.z);
}

// The velocity changes by what constraints and contacts moved the vertex, so that a vertex that
// nothing moves keeps it to the bit.
static MF_INLINE void end_substep(const mf_ClothJob *job, uint32_t at, uint32_t piece,
                                  ContactPoint *contact_point, const mf_LaneMap *map) {
    const mf_ClothPlan *plan = job->plan;
    const mf_real h = (mf_real)job->substep, one = 1;
    mf_real *touches = array_of(job, MF_CLOTH_TOUCHES) + at;
    contact_point->predicted = load_at(job, MF_CLOTH_P, at);
    if (plan->self_distance > 0)
        contact_point->x = vec_add(contact_point->x, load_at(job, MF_CLOTH_S, at));
    contact_point->touches = mf_load(touches);
    if (plan->ground)
        contact_point_touch_ground(contact_point, plan, map, mf_set(h));
    contact_point_touch_obstacles(contact_point, job, at % MF_CLOTH_LANES, piece);
    mf_store(touches, contact_point->touches);
    contact_point->v = vec_fma(vec_sub(contact_point->x, contact_point->predicted), mf_set(one / h),
                               contact_point->v);
    const mf_mask free = mf_less(mf_zero(), contact_point->free);
    const mf_lane slowed = mf_set(one / (one + h * (mf_real)plan->drag));
    contact_point->v = vec_scale(contact_point->v, mf_select(free, slowed, mf_set(one)));
}

static MF_INLINE void begin_substep(const mf_ClothJob *job, uint32_t at,
                                    ContactPoint *contact_point) {
    const mf_lane h = mf_set((mf_real)job->substep);
    const mf_mask free = mf_less(mf_zero(), contact_point->free);
    const double *g = job->plan->gravity;
    const Vec fall = {mf_set((mf_real)g[0]), mf_set((mf_real)g[1]), mf_set((mf_real)g[2])};
    contact_point->v = vec_select(free, vec_fma(fall, h, contact_point->v), contact_point->v);
    contact_point->x = vec_fma(contact_point->v, h, contact_point->x);
    store_at(job, MF_CLOTH_P, at, contact_point->x);
}

void MF_KERNEL(mf_cloth_move)(const mf_ClothJob *job, uint32_t first, uint32_t count, bool ends,
                              bool begins, uint32_t piece) {
    const mf_LaneMap map = mf_lane_map(job->terrain);
    const uint32_t end = (first + count) * MF_CLOTH_LANES;
    for (uint32_t at = first * MF_CLOTH_LANES; at < end; at += MF_LANES) {
        ContactPoint contact_point;
        contact_point.x = load_at(job, MF_CLOTH_X, at);
        contact_point.v = load_at(job, MF_CLOTH_V, at);
        contact_point.free = mf_load(array_of(job, MF_CLOTH_W) + at);
        if (ends)
            end_substep(job, at, piece, &contact_point, &map);
        if (begins)
            begin_substep(job, at, &contact_point);
        store_at(job, MF_CLOTH_X, at, contact_point.x);
        store_at(job, MF_CLOTH_V, at, contact_point.v);
    }
}

// The smallest and largest of lanes; zeros of slots without a vertex do not count.
static MF_INLINE void widen(mf_mask is, mf_lane x, mf_lane *low, mf_lane *high) {
    *low = mf_select(is, mf_min(*low, x), *low);
    *high = mf_select(is, mf_max(*high, x), *high);
}

// Lane by lane, so that the order does not depend on the width of a kernel.
void MF_KERNEL(mf_cloth_sum)(const mf_ClothJob *job, uint32_t first, uint32_t count,
                             mf_ClothSum *out) {
    enum { SUMS = 7, LOW = SUMS, HIGH = LOW + 3, SPEED = HIGH + 3, ROWS };
    MF_ALIGNED(64) mf_real lanes[ROWS][MF_CLOTH_LANES];
    const mf_real *mass = masses_of(job->plan);
    const mf_lane most = mf_set((mf_real)MF_CLOTH_FARTHEST);
    mf_mask fine = mf_mask_all();
    for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane += MF_LANES) {
        mf_lane sum[ROWS];
        for (uint32_t i = 0; i < ROWS; i++)
            sum[i] = i >= LOW && i < HIGH ? most : i >= HIGH && i < SPEED ? -most : mf_zero();
        for (uint32_t row = first; row < first + count; row++) {
            const uint32_t at = row * MF_CLOTH_LANES + lane;
            const mf_lane m = mf_load(mass + at);
            const mf_mask is = mf_less(mf_zero(), m);
            for (uint32_t c = 0; c < 3; c++) {
                const mf_lane x = mf_load(array_of(job, MF_CLOTH_X + c) + at);
                const mf_lane v = mf_load(array_of(job, MF_CLOTH_V + c) + at);
                sum[c] = mf_fma(m, x, sum[c]);
                sum[3 + c] = mf_fma(m, v, sum[3 + c]);
                widen(is, x, &sum[LOW + c], &sum[HIGH + c]);
                sum[SPEED] = mf_max(mf_abs(v), sum[SPEED]);
                fine = mf_and(fine, mf_and(mf_less(mf_abs(x), most), mf_less(mf_abs(v), most)));
            }
            sum[6] = sum[6] + mf_load(array_of(job, MF_CLOTH_TOUCHES) + at);
        }
        for (uint32_t i = 0; i < ROWS; i++)
            mf_store(lanes[i] + lane, sum[i]);
    }
    double all[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        all[i] = (double)lanes[i][0];
        for (uint32_t lane = 1; lane < MF_CLOTH_LANES; lane++) {
            const double more = (double)lanes[i][lane];
            all[i] = i < SUMS   ? all[i] + more
                     : i < HIGH ? (more < all[i] ? more : all[i])
                                : (more > all[i] ? more : all[i]);
        }
    }
    for (uint32_t c = 0; c < 3; c++) {
        out->position[c] = all[c];
        out->momentum[c] = all[3 + c];
        out->low[c] = all[LOW + c];
        out->high[c] = all[HIGH + c];
    }
    out->touching = all[6];
    out->speed = all[SPEED];
    out->broken = !mf_all(fine);
}

// ---- the cloth against itself ------------------------------------------------------------------

// Where the vertices of each bucket end, and the mean velocity [m/s].
static void count_cells(const mf_ClothJob *job, double mean[3]) {
    const mf_ClothSelf *self = &job->self;
    const uint32_t vertices = job->plan->vertex_count, *slot_of = mf_cloth_slot_of(job->plan);
    memset(self->begins, 0, (self->bucket_count + 1) * sizeof *self->begins);
    for (uint32_t v = 0; v < vertices; v++) {
        const Cell cell = cell_of(job, array_of(job, MF_CLOTH_X), v);
        memcpy(self->cells + 3 * (size_t)v, cell.at, sizeof cell.at);
        self->begins[bucket_of(self, cell) + 1]++;
        for (uint32_t c = 0; c < 3; c++)
            mean[c] += (double)array_of(job, MF_CLOTH_V + c)[slot_of[v]] / vertices;
    }
    for (uint32_t b = 0; b < self->bucket_count; b++)
        self->begins[b + 1] += self->begins[b];
}

double MF_KERNEL(mf_cloth_sort)(const mf_ClothJob *job, double span) {
    const mf_ClothSelf *self = &job->self;
    const uint32_t vertices = job->plan->vertex_count, *slot_of = mf_cloth_slot_of(job->plan);
    double mean[3] = {0, 0, 0}, fastest = 0;
    count_cells(job, mean);
    // From the last to the first, so that a bucket begins where its first vertex is put.
    for (uint32_t v = vertices; v-- > 0;) {
        Cell cell;
        double square = 0;
        memcpy(cell.at, self->cells + 3 * (size_t)v, sizeof cell.at);
        self->sorted[--self->begins[bucket_of(self, cell) + 1]] = v;
        for (uint32_t c = 0; c < 3; c++) {
            const double speed = (double)array_of(job, MF_CLOTH_V + c)[slot_of[v]] - mean[c];
            square += speed * speed;
        }
        fastest = square > fastest ? square : fastest;
    }
    for (uint32_t b = 0; b < self->bucket_count; b++)
        self->begins[b] = self->begins[b + 1];
    self->begins[self->bucket_count] = vertices;
    return span * (double)mf_one_sqrt((mf_real)fastest);
}

void MF_KERNEL(mf_cloth_list)(const mf_ClothJob *job, uint32_t first, uint32_t count,
                              uint32_t piece) {
    const mf_real *x = array_of(job, MF_CLOTH_X);
    job->self.dropped[piece] = 0;
    for (uint32_t v = first; v < first + count; v++)
        job->self.dropped[piece] += list_near(job, x, v);
}

void MF_KERNEL(mf_cloth_part)(const mf_ClothJob *job, uint32_t first, uint32_t count) {
    const mf_real *x = array_of(job, MF_CLOTH_X), *w = array_of(job, MF_CLOTH_W);
    for (uint32_t v = first; v < first + count; v++)
        if (job->self.counts[v] > 0)
            separate(job, x, w, array_of(job, MF_CLOTH_S), v);
}

// ---- constraints -------------------------------------------------------------------------------

static MF_INLINE void solve_batch(const Solve *solve, uint32_t index, bool apart, bool pulls,
                                  bool damped, bool tears, bool keeps) {
    Batch b = {solve,
               &mf_cloth_batches(solve->job->plan)[index],
               0,
               apart,
               pulls,
               damped,
               tears,
               index,
               mf_mask_all(),
               keeps};
    for (b.lane = 0; b.lane < MF_CLOTH_LANES; b.lane += MF_LANES) {
        if (tears)
            b.whole = whole_lanes(&b);
        solve_lanes(&b);
    }
}

static MF_INLINE Solve solve_of(const mf_ClothJob *job, uint32_t chunk) {
    const mf_ClothPlan *plan = job->plan;
    Solve solve;
    solve.job = job;
    for (uint32_t i = 0; i < MF_CLOTH_WORK; i++)
        solve.array[i] = array_of(job, i);
    solve.values = values_of(plan);
    solve.slots = mf_cloth_slots(plan);
    solve.stiffening = (mf_real)(1 / (job->substep * job->substep));
    solve.damping = (mf_real)(plan->damping / job->substep);
    solve.substep = (mf_real)job->substep;
    solve.chunk = chunk;
    return solve;
}

void MF_KERNEL(mf_cloth_solve)(const mf_ClothJob *job, uint32_t chunk) {
    const mf_ClothPlan *plan = job->plan;
    const mf_ClothRange range = mf_cloth_chunks(plan)[chunk];
    const Solve solve = solve_of(job, chunk);
    const bool damped = plan->damping > 0, tears = plan->element_count > 0;
    const bool keeps = job->after != NULL;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        const mf_ClothBatch *batch = &mf_cloth_batches(plan)[i];
        const bool apart = batch->slots != MF_CLOTH_APART;
        if (apart || job->pulls[i] || damped)
            solve_batch(&solve, i, apart, job->pulls[i] != 0, damped, tears, keeps);
        else if (tears)
            solve_batch(&solve, i, false, false, false, true, keeps);
        else if (keeps)
            solve_batch(&solve, i, false, false, false, false, true);
        else // the common case, without its branches
            solve_batch(&solve, i, false, false, false, false, false);
    }
}

// Lane by lane, so that the order does not depend on the width of a kernel.
void MF_KERNEL(mf_cloth_residual)(const mf_ClothJob *job, uint32_t chunk, mf_ClothResidual *out) {
    const mf_ClothPlan *plan = job->plan;
    const mf_ClothRange range = mf_cloth_chunks(plan)[chunk];
    const Solve solve = solve_of(job, chunk);
    out->stretch = out->bending = out->whole = 0;
    for (uint32_t i = range.first; i < range.first + range.count; i++) {
        const mf_ClothBatch *batch = &mf_cloth_batches(plan)[i];
        const bool stretches = batch->kind == MF_CLOTH_EDGE || batch->kind == MF_CLOTH_TRIANGLE;
        MF_ALIGNED(64) mf_real lanes[MF_CLOTH_LANES], all[MF_CLOTH_LANES];
        Batch b = {&solve, batch,         0,    batch->slots != MF_CLOTH_APART, false, false, false,
                   i,      mf_mask_all(), false};
        if (batch->kind == MF_CLOTH_CELL)
            continue;
        for (b.lane = 0; b.lane < MF_CLOTH_LANES; b.lane += MF_LANES) {
            if (plan->element_count > 0)
                b.whole = whole_lanes(&b);
            mf_lane whole;
            mf_store(lanes + b.lane, mf_keep(b.whole, residual_of(&b, &whole)));
            mf_store(all + b.lane, mf_keep(b.whole, whole));
        }
        double *sum = stretches ? &out->stretch : &out->bending;
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            *sum += (double)lanes[lane];
        for (uint32_t lane = 0; lane < MF_CLOTH_LANES; lane++)
            out->whole += (double)all[lane];
    }
}
