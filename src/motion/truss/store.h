// Storing of the trusses of some lanes into their fields, with forces, stresses and warnings.
#ifndef MF_MOTION_TRUSS_STORE_H
#define MF_MOTION_TRUSS_STORE_H

#include "motion/truss/load.h"

// Range of positions: within it a double resolves a bar's length to 1e-10 m.
#define MF_TRUSS_RANGE ((mf_real)1e6) // [m]

static MF_INLINE void keep_row(mf_mask where, double *rows, size_t c, mf_lane a) {
    mf_store_where(where, rows + c * MF_BLOCK, a);
}

static MF_INLINE void keep_vec(mf_mask where, double *rows, size_t c, Vec a) {
    keep_row(where, rows, c, a.x);
    keep_row(where, rows, c + 1, a.y);
    keep_row(where, rows, c + 2, a.z);
}

// The velocity [m/s] of a vertex at the end of a stage.
static Vec velocity_of(const Frame *f, uint32_t v) {
    return vec_scale(vec_sub(f->position[v], f->base[v]), mf_set((mf_real)1) / f->stage);
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
    if (!f->plan->dynamic)
        keep_vec(where, block->linear, 0,
                 vec_scale(vec_sub(now, was), mf_set((mf_real)(1 / block->step))));
}

// What is farther than a jump is no movement that goes on.
static void store_movements(const Frame *f, mf_mask where, mf_lane most) {
    const mf_index count = index_load(f->block->counts, MF_TRUSS_VERTICES);
    mf_mask jumps = mf_less(mf_set((mf_real)f->plan->jump), most);
    const Vec none = {mf_zero(), mf_zero(), mf_zero()};
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask has = mf_and(where, mf_index_less(mf_set_index((int32_t)v), count));
        Vec by = vec_select(jumps, none, vec_sub(f->position[v], f->start[v]));
        Vec change = vec_select(jumps, none, vec_sub(by, f->movement[v]));
        keep_vec(has, f->block->movement, AXES * (size_t)v, by);
        keep_vec(has, f->block->change, AXES * (size_t)v, change);
    }
}

// Velocities [m/s] at the end of a dynamic step, and that of the center of mass.
static void store_velocities(Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const mf_index count = index_load(block->counts, MF_TRUSS_VERTICES);
    for (uint32_t v = 0; v < f->vertices; v++) {
        mf_mask has = mf_and(where, mf_index_less(mf_set_index((int32_t)v), count));
        f->velocity[v] = velocity_of(f, v);
        keep_vec(has, block->velocity, AXES * (size_t)v, f->velocity[v]);
    }
    keep_vec(where, block->linear, 0, center_of(f, f->velocity));
}

static void store_contacts(const Frame *f, mf_mask where) {
    const mf_TrussBlock *block = f->block;
    const uint32_t count = contact_count(f);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t row = i < f->vertices ? i : i - f->vertices + f->plan->vertices;
        const Touch *touch = &f->touch[i];
        ContactPoint contact_point;
        contact_point_of(f, i, &contact_point);
        Contact c = contact_at(f, touch, contact_position(f->position, &contact_point, false));
        Vec force;
        contact_energy(f, &c, &force);
        force = vec_scale(force, mf_set((mf_real)1) / f->share);
        mf_mask has = mf_and(where, contact_point_exists(f, i));
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

#endif
