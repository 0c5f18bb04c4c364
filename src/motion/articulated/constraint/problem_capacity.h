// The arrays of a problem, cut from the scratch of a block of lanes.
#pragma once

#include "motion/articulated/constraint/problem_islands.h"
#include "motion/articulated/constraint/problem_mass.h"
#include "motion/articulated/constraint/problem_drift.h"

// ---- problem coriolis ---------------------------------------------------------------------------

// What Coriolis, centrifugal and gyroscopic forces c(q, v) change by with the velocities, for
// MuJoCo's integrator `implicit` (MuJoCo documentation, "Computation", numerical integration):
//     (M + h B + h dc/dv) a' = M a
// c is a quadratic form in v, so dc/dv u = (c(v + u) - c(v - u)) / 2 without an error of the
// difference; c is found by the recursive Newton-Euler algorithm in world axes (Luh, Walker, Paul
// 1980). The matrix is not symmetric: Gauss's elimination, without a search for pivots because M
// outweighs the rest.

// Only where the plan has that integrator.
typedef struct Coriolis {
    Lump *bodies;   // of link l at l + 1, by itself
    Wrench *wrench; // likewise, what its motion needs, about its origin
    mf_lane *matrix;
    mf_lane *speed, *ahead, *back; // per dof
} Coriolis;

static inline void coriolis_carve(const mf_ArtPlan *plan, mf_Carver *carver, Coriolis *all) {
    const size_t dofs = plan->coriolis ? plan->dof_count : 0;
    const size_t links = plan->coriolis ? plan->link_count + 1 : 0;
    MF_CARVE(carver, all->bodies, links);
    MF_CARVE(carver, all->wrench, links);
    MF_CARVE(carver, all->matrix, dofs * dofs);
    MF_CARVE(carver, all->speed, dofs);
    MF_CARVE(carver, all->ahead, dofs);
    MF_CARVE(carver, all->back, dofs);
}

// How links accelerate at the velocities `v`, which stay.
static inline void coriolis_outward(const Problem *p, const mf_lane *v, Drift *drift) {
    const mf_ArtPlan *plan = p->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    drift[0] = MF_VALUE(Drift, vec_zero(), vec_zero(), vec_zero());
    for (uint32_t k = 3; !plan->fixed && k < 6; k++)
        drift[0].rate = vec_fma(p->axis[k], v[k], drift[0].rate);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        const Drift *parent = &drift[link->parent + 1];
        Drift *own = &drift[l + 1];
        const Vec offset = vec_sub(p->origin[l + 1], p->origin[link->parent + 1]);
        const Vec swing = vec_cross(parent->rate, offset);
        const Vec *axis = &p->axis[link->dof];
        *own = *parent;
        own->straight =
            vec_add(own->straight, vec_cross_add(parent->rate, swing,
                                                 vec_cross(parent->angular_acceleration, offset)));
        if (link->kind == MF_ART_SLIDE) {
            const mf_lane speed = v[link->dof];
            own->straight = vec_fma(vec_cross(parent->rate, *axis), speed + speed, own->straight);
            continue;
        }
        Vec rate = vec_scale(axis[0], v[link->dof]);
        for (uint32_t k = 1; link->kind == MF_ART_BALL && k < 3; k++)
            rate = vec_fma(axis[k], v[link->dof + k], rate);
        own->rate = vec_add(own->rate, rate);
        own->angular_acceleration =
            vec_add(own->angular_acceleration, vec_cross(parent->rate, rate));
    }
}

static MF_INLINE Wrench coriolis_wrench(const Lump *body, const Drift *drift) {
    const Vec *h = &body->moment, *w = &drift->rate, *a = &drift->angular_acceleration;
    Vec force = vec_add(vec_cross(*a, *h), vec_cross(*w, vec_cross(*w, *h)));
    force = vec_fma(drift->straight, body->mass, force);
    const Vec spin = sym_apply(&body->inertia, *w);
    Vec torque = vec_add(sym_apply(&body->inertia, *a), vec_cross(*w, spin));
    return MF_VALUE(Wrench, .force = force, .torque = vec_cross_add(*h, drift->straight, torque));
}

// c(q, v)
static inline void coriolis_force(const Problem *p, const Coriolis *all, const mf_lane *v,
                                  mf_lane *out) {
    const mf_ArtPlan *plan = p->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    Wrench *wrench = all->wrench;
    coriolis_outward(p, v, p->drift);
    for (uint32_t l = 0; l <= plan->link_count; l++)
        wrench[l] = coriolis_wrench(&all->bodies[l], &p->drift[l]);
    for (uint32_t l = plan->link_count; l-- > 0;) {
        const mf_ArtLink *link = &links[l];
        const Wrench *own = &wrench[l + 1];
        Wrench *sum = &wrench[link->parent + 1];
        for (uint32_t k = 0; k < (link->kind == MF_ART_BALL ? 3u : 1u); k++)
            out[link->dof + k] = vec_dot(p->axis[link->dof + k],
                                         link->kind == MF_ART_SLIDE ? own->force : own->torque);
        const Vec offset = vec_sub(p->origin[l + 1], p->origin[link->parent + 1]);
        sum->force = vec_add(sum->force, own->force);
        sum->torque = vec_add(sum->torque, vec_cross_add(offset, own->force, own->torque));
    }
    for (uint32_t k = 0; !plan->fixed && k < 6; k++)
        out[k] = vec_dot(p->axis[k], k < 3 ? wrench[0].force : wrench[0].torque);
}

// Adds h dc/dv to the matrix and takes its product with the accelerations from `change`.
static inline void coriolis_add(const Problem *p, const Coriolis *all, mf_lane step,
                                const mf_lane *acceleration, mf_lane *change) {
    const uint32_t n = p->dofs;
    const mf_lane one = mf_set((mf_real)1), half = mf_set((mf_real)0.5) * step;
    const Pose *poses = p->work->contacts.pose;
    for (uint32_t l = 0; l <= p->plan->link_count; l++)
        all->bodies[l] = lump_of(l == 0 ? base_constants(p->plan) : link_constants(p->plan, l - 1),
                                 &poses[l].rotation);
    for (uint32_t i = 0; i < n; i++)
        all->speed[i] = p->speed[i];
    for (uint32_t k = 0; k < n; k++) {
        all->speed[k] = p->speed[k] + one;
        coriolis_force(p, all, all->speed, all->ahead);
        all->speed[k] = p->speed[k] - one;
        coriolis_force(p, all, all->speed, all->back);
        all->speed[k] = p->speed[k];
        for (uint32_t i = 0; i < n; i++) {
            const mf_lane value = half * (all->ahead[i] - all->back[i]);
            all->matrix[(size_t)i * n + k] = all->matrix[(size_t)i * n + k] + value;
            change[i] = mf_fma(-value, acceleration[k], change[i]);
        }
    }
}

// The symmetric part: lower half in `factor`, not yet factored.
static inline void coriolis_start(const Problem *p, const Coriolis *all) {
    const uint32_t n = p->dofs;
    for (size_t i = 0; i < (size_t)n * n; i++)
        all->matrix[i] = mf_zero();
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = p->used.start[i]; e < p->used.start[i + 1]; e++) {
            const uint32_t k = p->used.column[e];
            all->matrix[(size_t)i * n + k] = all->matrix[(size_t)k * n + i] = p->factor[e];
        }
}

static inline void coriolis_solve(const Problem *p, const Coriolis *all, mf_lane *x) {
    const uint32_t n = p->dofs;
    const mf_lane one = mf_set((mf_real)1);
    for (uint32_t k = 0; k < n; k++) {
        const mf_lane *pivot = &all->matrix[(size_t)k * n];
        const mf_lane inverse = one / pivot[k];
        for (uint32_t i = k + 1; i < n; i++) {
            mf_lane *row = &all->matrix[(size_t)i * n];
            const mf_lane part = row[k] * inverse;
            for (uint32_t j = k + 1; j < n; j++)
                row[j] = mf_fma(-part, pivot[j], row[j]);
            x[i] = mf_fma(-part, x[k], x[i]);
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        const mf_lane *row = &all->matrix[(size_t)i * n];
        for (uint32_t k = i + 1; k < n; k++)
            x[i] = mf_fma(-row[k], x[k], x[i]);
        x[i] = x[i] / row[i];
    }
}

// ---- problem capacity ---------------------------------------------------------------------------

static inline void islands_carve(const mf_ArtPlan *plan, mf_Carver *carver, uint32_t constraints,
                                 Islands *all) {
    MF_CARVE(carver, all->trees, plan->dof_count);
    MF_CARVE(carver, all->tree_of, plan->dof_count);
    MF_CARVE(carver, all->names, plan->dof_count);
    MF_CARVE(carver, all->own, constraints);
    MF_CARVE(carver, all->gain, plan->dof_count);
    MF_CARVE(carver, all->busy, plan->dof_count);
}

// What the tree alone needs: enough for rows of tendons; with a Hessian also for the mass matrix.
static inline void problem_carve_tree(const mf_ArtPlan *plan, mf_Carver *carver, Problem *p) {
    const uint32_t dofs = plan->dof_count, links = plan->link_count;
    MF_CARVE(carver, p->axis, dofs);
    MF_CARVE(carver, p->origin, links + 1);
    MF_CARVE(carver, p->mass, plan->tree_entries);
    MF_CARVE(carver, p->counting, dofs);
    MF_CARVE(carver, p->inverse, dofs);
    MF_CARVE(carver, p->free, dofs);
    MF_CARVE(carver, p->speed, dofs);
    MF_CARVE(carver, p->x, dofs);
    MF_CARVE(carver, p->inertial, dofs);
    MF_CARVE(carver, p->descent, dofs);
    MF_CARVE(carver, p->ahead, dofs);
    MF_CARVE(carver, p->gradient, dofs);
    MF_CARVE(carver, p->acceleration, dofs);
    MF_CARVE(carver, p->entry_slots, dofs);
    MF_CARVE(carver, p->chain, dofs);
    MF_CARVE(carver, p->chain_bits, problem_words(plan));
    MF_CARVE(carver, p->slope, dofs);
    MF_CARVE(carver, p->change, dofs);
    MF_CARVE(carver, p->row, dofs);
    MF_CARVE(carver, p->forces, dofs);
    MF_CARVE(carver, p->drift, links + 1);
    MF_CARVE(carver, p->lumps, links + 1);
    MF_CARVE(carver, p->sum.slot, dofs);
    MF_CARVE(carver, p->sum.value, dofs);
}

// The Hessian and its pattern, with the row of bits that bits_fill takes apart.
static inline void problem_carve_hessian(const mf_ArtPlan *plan, mf_Carver *carver, Problem *p) {
    const bool large = problem_is_large(plan);
    const size_t dofs = plan->dof_count;
    const size_t entries = large ? plan->tree_entries : dofs * (dofs + 1) / 2;
    MF_CARVE(carver, p->own_start, dofs + 1);
    MF_CARVE(carver, p->own_column, entries);
    MF_CARVE(carver, p->factor, entries);
    MF_CARVE(carver, p->bits, large ? 0 : (dofs + 1) * problem_words(plan));
}

static inline void problem_carve(const mf_ArtPlan *plan, mf_Carver *carver, Problem *p) {
    const ProblemCapacity capacity = p->capacity = problem_capacity(plan);
    problem_carve_tree(plan, carver, p);
    problem_carve_hessian(plan, carver, p);
    MF_CARVE(carver, p->constraints, capacity.constraints);
    MF_CARVE(carver, p->present, capacity.constraints);
    MF_CARVE(carver, p->bends, capacity.constraints);
    MF_CARVE(carver, p->weight, capacity.rows);
    MF_CARVE(carver, p->rest, capacity.rows);
    MF_CARVE(carver, p->slack, capacity.rows);
    MF_CARVE(carver, p->along, capacity.rows);
    MF_CARVE(carver, p->force, capacity.rows);
    MF_CARVE(carver, p->zones, 2 * capacity.rows);
    MF_CARVE(carver, p->rays, capacity.contacts);
    MF_CARVE(carver, p->numbers, capacity.numbers);
    MF_CARVE(carver, p->slots, capacity.numbers);
    MF_CARVE(carver, p->contacts, capacity.contacts);
    MF_CARVE(carver, p->candidates, capacity.candidates);
    MF_CARVE(carver, p->limit_first, plan->link_count);
    MF_CARVE(carver, p->limit_count, plan->link_count);
    MF_CARVE(carver, p->tendon_first, plan->tendon_count);
    MF_CARVE(carver, p->tendon_count, plan->tendon_count);
    MF_CARVE(carver, p->tendon_upper, plan->tendon_count);
    MF_CARVE(carver, p->tendon_dry, plan->tendon_count);
    MF_CARVE(carver, p->loop_first, plan->loop_count);
    Coriolis none, *coriolis;
    MF_CARVE(carver, coriolis, 1);
    p->coriolis = coriolis;
    coriolis_carve(plan, carver, coriolis != NULL ? coriolis : &none);
    MF_CARVE(carver, p->sparse, problem_is_large(plan) ? capacity.constraints : 0);
    p->islands = NULL;
    if (plan->noslip_iterations == 0)
        return;
    Islands measured, *islands;
    MF_CARVE(carver, p->slips, capacity.constraints);
    MF_CARVE(carver, p->bounds, capacity.rows);
    MF_CARVE(carver, islands, 1);
    p->islands = islands;
    islands_carve(plan, carver, capacity.constraints, islands != NULL ? islands : &measured);
}
