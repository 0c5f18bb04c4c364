// One step of the trusses of some lanes: actuators change their rest lengths, noise is drawn, and
// the vertices move to the nearest minimum of the energy, without inertia (a frame) or with it
// (stages.h); then forces, stresses and warnings. docs/explanation/quasistatic.md and elastic.md
// have the equations.
//
// Invariants: a lane never depends on another; a lane whose step is not finite or out of range
// stores nothing of it.
#include "motion/truss/stages.h"

// ---- a frame
// ----------------------------------------------------------------------------------------

// Lanes in which the trial positions have less energy begin there.
static void begin_lower(Frame *f, mf_lane *energy) {
    mf_lane at = energy_at(f, f->trial, NULL);
    mf_mask less = mf_and(mf_less(at, *energy), f->driven);
    *energy = mf_select(less, at, *energy);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->position[v] = vec_select(less, f->trial[v], f->position[v]);
}

// Actuators mostly move as in the last frame, and the truss with them: lanes begin where it would
// get them, with the same movement or, better, with one that changes as it did last, where that has
// less energy. What is found then is also what slower motion would find. Where loads alone change,
// going on could pass a snap that they do not reach.
static void go_on(Frame *f) {
    if (f->plan->descend || !mf_any(f->driven))
        return;
    mf_lane energy = energy_at(f, f->position, NULL);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->trial[v] = vec_add(f->start[v], f->movement[v]);
    begin_lower(f, &energy);
    for (uint32_t v = 0; v < f->vertices; v++)
        f->trial[v] = vec_add(f->start[v], vec_add(f->movement[v], f->change[v]));
    begin_lower(f, &energy);
}

static void relax_frame(Newton *n, Result *result) {
    Frame *f = n->frame;
    find_pairs(n);
    const mf_lane tolerance = tolerance_of(f);
    if (!f->plan->descend)
        predict(n, &result->spent);
    const mf_index most = result->spent + mf_set_index((int32_t)f->plan->iterations);
    mf_mask relaxed = relax(n, f->alive, tolerance, most, &result->spent);
    result->residual = n->residual / mf_max(tolerance, mf_set((mf_real)1e-300));
    result->energy = n->energy;
    warnings_raise(&f->warnings, mf_not(relaxed), MF_WARNING_SOLVER, result->residual);
}

// Lanes on level ground that nothing holds: turning or moving them along it changes no energy.
static mf_mask free_lanes(const Frame *f) {
    mf_mask fixed = mf_not(f->alive);
    const mf_index none = mf_set_index(0);
    for (uint32_t v = 0; v < f->vertices; v++)
        fixed = mf_or(fixed, mf_not(mf_index_equal(f->fixed[v], none)));
    const uint32_t count = f->plan->friction > 0 ? contact_count(f) : 0;
    for (uint32_t i = 0; i < count; i++)
        fixed = mf_or(fixed, mf_less(mf_zero(), f->touch[i].normal_force));
    return mf_not(fixed);
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
    mf_mask rotates = mf_less(mf_set((mf_real)1e-30), size);
    sine = mf_keep(rotates, sine / mf_select(rotates, size, mf_set((mf_real)1)));
    cosine = mf_select(rotates, cosine / mf_select(rotates, size, mf_set((mf_real)1)),
                       mf_set((mf_real)1));
    for (uint32_t v = 0; v < f->vertices; v++) {
        Vec b = vec_sub(f->position[v], now);
        Vec rotated = {mf_fma(cosine, b.x, -(sine * b.y)) + was.x,
                       mf_fma(sine, b.x, cosine * b.y) + was.y, f->position[v].z};
        f->position[v] = vec_select(where, rotated, f->position[v]);
    }
}
// ---- a step
// -----------------------------------------------------------------------------------------

static void store_frame(Frame *f, const Result *result) {
    const mf_TrussBlock *block = f->block;
    mf_lane movement = movement_of(f);
    mf_mask jumps = mf_less(mf_set((mf_real)f->plan->jump), movement);
    if (!f->plan->dynamic)
        warnings_raise(&f->warnings, jumps, MF_WARNING_JUMP, movement);
    check_frame(f);
    if (f->plan->ground)
        store_contacts(f, f->alive);
    store_vertices(f, f->alive);
    if (f->plan->dynamic)
        store_velocities(f, f->alive);
    else
        store_movements(f, f->alive, movement);
    store_bars(f, f->alive);
    keep_row(f->alive, block->relaxation, 0, result->energy);
    keep_row(f->alive, block->relaxation, 1, result->residual);
    keep_row(f->alive, block->relaxation, 2, movement);
    mf_index was = index_load(block->iterations, 0);
    mf_store_index((int32_t *)block->iterations, mf_select_index(f->alive, result->spent, was));
    warnings_store(&f->warnings, &block->warnings, f->alive);
}
size_t MF_KERNEL(mf_truss_scratch_size)(const mf_TrussPlan *plan) {
    mf_Carver carver = {NULL, 0};
    Frame frame;
    frame_carve(plan, &carver, &frame);
    return carver.used;
}

static void frame_step(Newton *n, Result *result) {
    Frame *f = n->frame;
    go_on(f);
    relax_frame(n, result);
    take_nearest(f);
    if (f->plan->ground)
        ground_slip(f, mf_mask_all(), false);
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
    const uint32_t rows = AXES * frame.vertices;
    Newton newton;
    newton.frame = &frame;
    newton.matrix = MF_VALUE(Band, frame.matrix, rows, 0, frame.first);
    newton.factor = MF_VALUE(Band, frame.factor, rows, 0, frame.first);
    newton.energy = mf_zero();
    newton_begin(&newton);
    Result result = {mf_set_index(0), mf_zero(), mf_zero()};
    check_inputs(&frame);
    if (frame.plan->dynamic)
        elastic_step(&newton, &result);
    else
        frame_step(&newton, &result);
    store_frame(&frame, &result);
}
