// One frame of the trusses of some lanes: actuators change their rest lengths, noise is drawn, and
// the vertices move to the nearest minimum of the energy; then forces, stresses and warnings.
// docs/explanation/quasistatic.md has the equations.
//
// Invariants: a lane never depends on another; a lane whose frame is not finite or out of range
// stores nothing of it.
#include "math/lane_random.h"
#include "motion/quasistatic/newton.h"

// Range of positions: within it a double resolves a bar's length to 1e-10 m.
#define MF_TRUSS_RANGE ((mf_real)1e6) // [m]

// ---- loading
// -------------------------------------------------------------------------------------

static MF_INLINE mf_index index_load(const uint32_t *rows, size_t component) {
    return mf_load_index((const int32_t *)rows + component * MF_BLOCK);
}

// Most of the lanes where the mask holds.
static uint32_t most_of(mf_index value, mf_mask where) {
    MF_ALIGNED(64) int32_t values[MF_BLOCK];
    mf_store_index(values, mf_select_index(where, value, mf_set_index(0)));
    int32_t most = 0;
    for (int lane = 0; lane < MF_LANES; lane++)
        most = values[lane] > most ? values[lane] : most;
    return (uint32_t)most;
}

// The value of the first lane where the mask holds.
static uint32_t first_of(mf_index value, mf_mask where) {
    MF_ALIGNED(64) int32_t values[MF_BLOCK], chosen[MF_BLOCK];
    mf_store_index(values, value);
    mf_store_index(chosen, mf_select_index(where, mf_set_index(1), mf_set_index(0)));
    for (int lane = 0; lane < MF_LANES; lane++) {
        if (chosen[lane] != 0)
            return (uint32_t)values[lane];
    }
    return 0;
}

static End end_of(const Frame *f, mf_index vertex) {
    const mf_index lane = mf_lane_numbers(), stride = mf_set_index(MF_BLOCK);
    End end;
    end.vertex = vertex;
    end.row = mf_gather_index((const int32_t *)f->block->order, vertex * stride + lane);
    end.same = first_of(end.vertex, f->alive);
    end.same_row = first_of(end.row, f->alive);
    return end;
}

static void load_vertices(Frame *f) {
    const mf_TrussBlock *block = f->block;
    for (uint32_t v = 0; v < f->vertices; v++) {
        f->position[v] = f->start[v] = vec_load(block->position, AXES * (size_t)v);
        f->mass[v] = row_load(block->mass, v);
        f->fixed[v] = index_load(block->fixed, v);
        f->own[v] = end_of(f, mf_set_index((int32_t)v));
        Vec weight = {mf_set((mf_real)f->plan->gravity[0]), mf_set((mf_real)f->plan->gravity[1]),
                      mf_set((mf_real)f->plan->gravity[2])};
        weight = vec_scale(weight, f->mass[v]);
        Vec load = vec_load(block->load, AXES * (size_t)v);
        f->load = f->load + vec_most(weight) + vec_most(load);
        f->pull[v] = vec_add(weight, load);
    }
}

static void load_bars(Frame *f) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_BARS);
    f->same = true;
    for (uint32_t b = 0; b < f->bars; b++) {
        Bar *bar = &f->bar[b];
        mf_mask exists = mf_index_less(mf_set_index((int32_t)b), count);
        for (int e = 0; e < 2; e++) {
            End *end = &bar->ends[e];
            *end = end_of(f, index_load(block->ends, 2 * (size_t)b + (size_t)e));
            mf_mask agrees = mf_index_equal(end->vertex, mf_set_index((int32_t)end->same));
            f->same = f->same && mf_all(mf_or(agrees, mf_not(f->alive)));
            agrees = mf_index_equal(end->row, mf_set_index((int32_t)end->same_row));
            f->same = f->same && mf_all(mf_or(agrees, mf_not(f->alive)));
        }
        f->same = f->same && mf_all(mf_or(exists, mf_not(f->alive)));
        bar->rest = row_load(block->rest, b);
        mf_lane length = mf_max(bar->rest, mf_set((mf_real)1e-6));
        bar->stiffness = mf_keep(exists, row_load(block->rigidity, b) / length);
        bar->radius = mf_keep(exists, row_load(block->diameter, b) * mf_set((mf_real)0.5));
    }
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask agrees = mf_index_equal(f->own[v].row, mf_set_index((int32_t)f->own[v].same_row));
        f->same = f->same && mf_all(mf_or(agrees, mf_not(f->alive)));
    }
}

// Actuators change the rest length of their bars towards the command.
static void drive(const Frame *f) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_ACTUATORS);
    const mf_lane most = mf_set((mf_real)f->plan->change);
    for (uint32_t a = 0; a < f->actuators; a++) {
        mf_mask drives = mf_and(f->alive, mf_index_less(mf_set_index((int32_t)a), count));
        mf_index at = index_load(block->actuator, a) * mf_set_index(MF_BLOCK) + mf_lane_numbers();
        mf_lane rest = mf_gather(block->rest, at);
        mf_lane wanted =
            mf_clamp(row_load(block->command, a), row_load(block->range, 2 * (size_t)a),
                     row_load(block->range, 2 * (size_t)a + 1));
        mf_lane by = wanted - rest;
        drives = mf_and(drives, mf_finite(by));
        mf_scatter(drives, block->rest, at, rest + mf_clamp(by, -most, most));
    }
}

// Random forces, so that no unstable balance lasts.
static void add_noise(Frame *f) {
    if (f->plan->noise <= 0)
        return;
    const mf_lane size = mf_set((mf_real)f->plan->noise);
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_lane normal[4];
        mf_normal_lanes(f->plan->seed, f->block->first, 0x54525553u + v, f->block->tick, normal);
        mf_mask weighs = mf_less(mf_zero(), f->mass[v]);
        Vec force = {normal[0], normal[1], normal[2]};
        force = vec_scale(force, mf_keep(weighs, size));
        f->pull[v] = vec_add(f->pull[v], force);
    }
}

// Lanes that have the vertex or bar of a spot.
static mf_mask spot_exists(const Frame *f, uint32_t spot) {
    const bool own = spot < f->vertices;
    const uint32_t number = own ? spot : (spot - f->vertices) / f->plan->samples;
    const mf_index count = index_load(f->block->counts, own ? MF_TRUSS_VERTICES : MF_TRUSS_BARS);
    return mf_index_less(mf_set_index((int32_t)number), count);
}

static void load_ground(Frame *f) {
    const mf_TrussBlock *block = f->block;
    if (!f->plan->ground)
        return;
    const uint32_t count = spot_count(f), samples = f->plan->samples;
    for (uint32_t i = 0; i < count; i++) {
        // Rows of points of bars begin behind those of all vertices that the group has room for.
        const uint32_t row = i < f->vertices ? i : i - f->vertices + f->plan->vertices;
        Touch *touch = &f->touch[i];
        Vec force = vec_load(block->contact, AXES * (size_t)row);
        touch->anchor = vec_load(block->anchor, AXES * (size_t)row);
        touch->normal_force = mf_zero();
        touch->radius = i < f->vertices ? row_load(block->radius, i)
                                        : f->bar[(i - f->vertices) / samples].radius;
        // What a lane does not have is far from the ground.
        touch->radius = mf_select(spot_exists(f, i), touch->radius, mf_set((mf_real)-1e3));
        Spot spot;
        spot_of(f, i, &spot);
        Vec at = spot_position(f->position, &spot, false);
        mf_lane slope_x, slope_y;
        mf_lane height = ground_height(f, at, &slope_x, &slope_y);
        const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
        mf_lane steep = mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        mf_lane up = one / steep;
        touch->rim = touch->radius * steep;
        touch->normal = MF_VALUE(Vec, -(slope_x * up), -(slope_y * up), up);
        touch->normal_force = mf_max(vec_dot(force, touch->normal), zero);
        // What begins on the ground sticks there from the start, as if it carried all.
        mf_lane depth = height + touch->rim - at.z;
        mf_mask rests = mf_less_equal(touch->normal_force, zero);
        rests = mf_and(rests, mf_less(mf_set(-MF_TRUSS_NEAR), depth));
        touch->anchor = vec_select(rests, at, touch->anchor);
        touch->normal_force = mf_select(rests, f->load, touch->normal_force);
        touch->stood = mf_less(mf_zero(), touch->normal_force);
    }
}

// ---- storing
// -------------------------------------------------------------------------------------

static MF_INLINE void keep_row(mf_mask where, double *rows, size_t c, mf_lane a) {
    mf_store_where(where, rows + c * MF_BLOCK, a);
}

static MF_INLINE void keep_vec(mf_mask where, double *rows, size_t c, Vec a) {
    keep_row(where, rows, c, a.x);
    keep_row(where, rows, c + 1, a.y);
    keep_row(where, rows, c + 2, a.z);
}

// Center of mass of `at`.
static Vec center_of(const Frame *f, const Vec *at) {
    Vec sum = {mf_zero(), mf_zero(), mf_zero()};
    mf_lane mass = mf_set((mf_real)1e-30);
    for (uint32_t v = 0; v < f->vertices; v++) {
        sum = vec_fma(at[v], f->mass[v], sum);
        mass = mass + f->mass[v];
    }
    return vec_scale(sum, mf_set((mf_real)1) / mass);
}

static void store_vertices(const Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_VERTICES);
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask has = mf_and(where, mf_index_less(mf_set_index((int32_t)v), count));
        keep_vec(has, block->position, AXES * (size_t)v, f->position[v]);
    }
    Vec now = center_of(f, f->position), was = center_of(f, f->start);
    keep_vec(where, block->base, 0, now);
    keep_vec(where, block->linear, 0,
             vec_scale(vec_sub(now, was), mf_set((mf_real)block->inverse_step)));
}

static void store_contacts(const Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const uint32_t count = spot_count(f);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = i < f->vertices ? i : i - f->vertices + f->plan->vertices;
        const Touch *touch = &f->touch[i];
        Spot spot;
        spot_of(f, i, &spot);
        Contact c = contact_at(f, touch, spot_position(f->position, &spot, false));
        Vec force;
        contact_energy(f, &c, &force);
        mf_mask has = mf_and(where, spot_exists(f, i));
        keep_vec(has, block->contact, AXES * (size_t)row, force);
        keep_vec(has, block->anchor, AXES * (size_t)row, touch->anchor);
    }
}

// Tension, stress, and what the material does not bear: yield, and the load of Euler (1744),
// pi^2 E I / L^2 with E I = rigidity * d^2 / 16 for a round bar.
static void store_bars(Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const mf_real pi = (mf_real)3.14159265358979323846;
    const mf_lane yield = mf_set((mf_real)f->plan->yield);
    mf_lane stressed = mf_zero(), buckled = mf_zero();
    for (uint32_t b = 0; b < f->bars; b++) {
        const Bar *bar = &f->bar[b];
        Stretch s = stretch_of(bar, f->position, false);
        mf_lane diameter = mf_max(bar->radius + bar->radius, mf_set((mf_real)1e-9));
        mf_lane stress = s.force / (mf_set(pi / 4) * diameter * diameter);
        mf_mask has = mf_and(where, mf_less(mf_zero(), bar->stiffness));
        keep_row(has, block->force, b, s.force);
        keep_row(has, block->stress, b, stress);
        mf_lane bending = bar->stiffness * bar->rest * diameter * diameter * mf_set(pi * pi / 16);
        mf_lane euler = bending / mf_max(bar->rest * bar->rest, mf_set((mf_real)1e-18));
        stressed = mf_max(stressed, mf_abs(stress));
        buckled = mf_max(buckled, -s.force / mf_max(euler, mf_set((mf_real)1e-30)));
    }
    mf_mask yields = mf_and(mf_less(mf_zero(), yield), mf_less(yield, stressed));
    warnings_raise(&f->warnings, yields, MF_WARNING_YIELD, stressed);
    warnings_raise(&f->warnings, mf_less(mf_set((mf_real)1), buckled), MF_WARNING_BUCKLING,
                   buckled);
}

static mf_lane movement_of(const Frame *f) {
    mf_lane most = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++)
        most = mf_max(most, vec_most(vec_sub(f->position[v], f->start[v])));
    return most;
}

static void raise_fault(Frame *f, mf_mask bad, uint32_t bit) {
    bad = mf_and(bad, f->alive);
    if (!mf_any(bad))
        return;
    mf_index word = index_load(f->block->fault, 0);
    word = mf_select_index(bad, word | mf_set_index((int32_t)bit), word);
    mf_store_index((int32_t *)f->block->fault, word);
    f->alive = mf_and(f->alive, mf_not(bad));
}

// Lanes with a load or a rest length that is no number are frozen.
static void check_inputs(Frame *f) {
    mf_lane sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++)
        sum = sum + mf_abs(f->pull[v].x) + mf_abs(f->pull[v].y) + mf_abs(f->pull[v].z);
    for (uint32_t b = 0; b < f->bars; b++)
        sum = sum + mf_abs(f->bar[b].stiffness) + mf_abs(f->bar[b].rest);
    raise_fault(f, mf_not(mf_finite(sum)), MF_FAULT_INPUT);
}

// Lanes whose positions are no numbers or too far away are frozen.
static void check_frame(Frame *f) {
    mf_lane most = mf_zero(), sum = mf_zero();
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_lane size = vec_most(f->position[v]);
        most = mf_max(most, size);
        sum = sum + mf_abs(f->position[v].x) + mf_abs(f->position[v].y) + mf_abs(f->position[v].z);
    }
    raise_fault(f, mf_not(mf_finite(sum)), MF_FAULT_NONFINITE);
    raise_fault(f, mf_not(mf_less(most, mf_set(MF_TRUSS_RANGE))), MF_FAULT_RANGE);
}

// ---- the frame
// -----------------------------------------------------------------------------------

static void load_frame(Frame *f) {
    const mf_TrussBlock *block = f->block;
    f->load = mf_zero();
    f->vertices = most_of(index_load(block->counts, MF_TRUSS_VERTICES), f->alive);
    f->bars = most_of(index_load(block->counts, MF_TRUSS_BARS), f->alive);
    f->actuators = most_of(index_load(block->counts, MF_TRUSS_ACTUATORS), f->alive);
    f->width = most_of(index_load(block->counts, MF_TRUSS_WIDTH), f->alive);
    f->direct = f->vertices <= MF_TRUSS_DIRECT;
    f->map = mf_lane_map(block->terrain);
    f->warnings.any = false;
    f->pair_count = 0;
    drive(f);
    load_vertices(f);
    load_bars(f);
    add_noise(f);
    load_ground(f);
}

// The force [N] that counts as none: a share of the load, and above the rounding of bars.
static mf_lane tolerance_of(const Frame *f) {
    mf_lane rounding = mf_zero();
    for (uint32_t b = 0; b < f->bars; b++)
        rounding = mf_max(rounding, f->bar[b].stiffness * f->bar[b].rest);
    return mf_max(f->load * mf_set((mf_real)f->plan->tolerance), rounding * mf_set((mf_real)1e-14));
}

static mf_index relax_frame(Newton *n, mf_lane *residual) {
    Frame *f = n->frame;
    const mf_lane tolerance = tolerance_of(f);
    mf_index spent = mf_set_index(0);
    n->residual = mf_zero();
    mf_mask relaxed = relax(n, f->alive, tolerance, &spent);
    *residual = n->residual / mf_max(tolerance, mf_set((mf_real)1e-300));
    warnings_raise(&f->warnings, mf_not(relaxed), MF_WARNING_SOLVER, *residual);
    return spent;
}

// Lanes on level ground that nothing holds: turning or moving them along it changes no energy.
static mf_mask free_lanes(const Frame *f) {
    mf_mask held = mf_not(f->alive);
    const mf_index none = mf_set_index(0);
    for (uint32_t v = 0; v < f->vertices; v++)
        held = mf_or(held, mf_not(mf_index_equal(f->fixed[v], none)));
    const uint32_t count = f->plan->friction > 0 ? spot_count(f) : 0;
    for (uint32_t i = 0; i < count; i++)
        held = mf_or(held, mf_less(mf_zero(), f->touch[i].normal_force));
    return mf_not(held);
}

// Of all equal minima such a lane takes the nearest to where it was: the center of mass does not
// move along the ground, and the sum of m (was x is) has no vertical part.
static void take_nearest(const Frame *f) {
    mf_mask where = free_lanes(f);
    if (!f->plan->level || !mf_any(where))
        return;
    const mf_lane zero = mf_zero();
    Vec now = center_of(f, f->position), was = center_of(f, f->start);
    mf_lane sine = zero, cosine = zero;
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec a = vec_sub(f->start[v], was), b = vec_sub(f->position[v], now);
        sine = mf_fma(f->mass[v], mf_fma(b.x, a.y, -(b.y * a.x)), sine);
        cosine = mf_fma(f->mass[v], mf_fma(b.x, a.x, b.y * a.y), cosine);
    }
    mf_lane size = mf_sqrt(mf_fma(sine, sine, cosine * cosine));
    mf_mask turns = mf_less(mf_set((mf_real)1e-30), size);
    sine = mf_keep(turns, sine / mf_select(turns, size, mf_set((mf_real)1)));
    cosine =
        mf_select(turns, cosine / mf_select(turns, size, mf_set((mf_real)1)), mf_set((mf_real)1));
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec b = vec_sub(f->position[v], now);
        Vec turned = {mf_fma(cosine, b.x, -(sine * b.y)) + was.x,
                      mf_fma(sine, b.x, cosine * b.y) + was.y, f->position[v].z};
        f->position[v] = vec_select(where, turned, f->position[v]);
    }
}

static void store_frame(Frame *f, const Newton *n, mf_index spent, mf_lane residual) {
    const mf_TrussBlock *block = f->block;
    mf_lane movement = movement_of(f);
    warnings_raise(&f->warnings, mf_less(mf_set((mf_real)f->plan->jump), movement), MF_WARNING_JUMP,
                   movement);
    check_frame(f);
    store_vertices(f, f->alive);
    store_bars(f, f->alive);
    keep_row(f->alive, block->relaxation, 0, n->energy);
    keep_row(f->alive, block->relaxation, 1, residual);
    keep_row(f->alive, block->relaxation, 2, movement);
    mf_index was = index_load(block->iterations, 0);
    mf_store_index((int32_t *)block->iterations, mf_select_index(f->alive, spent, was));
    warnings_store(&f->warnings, &block->warnings, f->alive);
}

size_t MF_KERNEL(mf_truss_room)(const mf_TrussPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Frame frame;
    frame_carve(plan, &carver, &frame);
    return carver.used;
}

void MF_KERNEL(mf_truss_frame)(const mf_TrussBlock *block) {
    Frame frame;
    frame.block = block;
    frame.plan = block->plan;
    // Lanes behind the last instance have no vertices.
    mf_mask exists = mf_index_less(mf_set_index(0), index_load(block->counts, MF_TRUSS_VERTICES));
    frame.alive = mf_and(exists, mf_index_equal(index_load(block->fault, 0), mf_set_index(0)));
    if (!mf_any(frame.alive))
        return;
    mf_Carver carver = {(char *)block->scratch, 0};
    frame_carve(block->plan, &carver, &frame);
    load_frame(&frame);
    const uint32_t rows = AXES * frame.vertices, entries = band_entries(frame.width);
    Newton newton;
    newton.frame = &frame;
    newton.matrix = MF_VALUE(Band, frame.matrix, rows, entries);
    newton.factor = MF_VALUE(Band, frame.factor, rows, entries);
    newton.shift = newton.energy = newton.moved = newton.listed = mf_zero();
    newton.travel = 0;
    newton.rate = mf_set((mf_real)1e-3);
    newton.before = mf_set((mf_real)1e30);
    newton.reach = mf_set((mf_real)(frame.plan->reach / 4));
    find_pairs(&newton);
    check_inputs(&frame);
    mf_lane residual;
    mf_index spent = relax_frame(&newton, &residual);
    take_nearest(&frame);
    if (frame.plan->ground) {
        ground_slip(&frame, false);
        store_contacts(&frame, frame.alive);
    }
    store_frame(&frame, &newton, spent, residual);
}
