// The kernels of cloth: between fields and working memory, the substep of vertices, and passes over
// constraints (solve.h). What they read and the order of work are in plan.h.
//
// Invariants: chunks of a wave and rows of places never share a place that one of them writes; the
// copies of all instruction sets do the same operations in the same order.
#include "motion/cloth/obstacle.h"
#include "motion/cloth/residual.h"
#include "motion/cloth/self.h"

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

// ---- fields and working memory
// -------------------------------------------------------------------

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

// ---- vertices
// ------------------------------------------------------------------------------------

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

// The smallest and largest of lanes; zeros of places without a vertex do not count.
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

// ---- the cloth against itself
// -------------------------------------------------------------------

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

// ---- constraints
// ---------------------------------------------------------------------------------

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
