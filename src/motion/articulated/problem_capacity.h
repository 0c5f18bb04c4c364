// The arrays of a problem, cut from the scratch of a block of lanes.
#ifndef MF_MOTION_ARTICULATED_PROBLEM_CAPACITY_H
#define MF_MOTION_ARTICULATED_PROBLEM_CAPACITY_H

#include "motion/articulated/problem_coriolis.h"
#include "motion/articulated/problem_islands.h"
#include "motion/articulated/problem_mass.h"

static inline void islands_carve(const mf_ArtPlan *plan, mf_Carver *carver, uint32_t constraints,
                                 Islands *all) {
    MF_CARVE(carver, all->trees, plan->dof_count);
    MF_CARVE(carver, all->tree_of, plan->dof_count);
    MF_CARVE(carver, all->names, plan->dof_count);
    MF_CARVE(carver, all->own, constraints);
    MF_CARVE(carver, all->gain, plan->dof_count);
    MF_CARVE(carver, all->busy, plan->dof_count);
}

// What the tree alone requests: enough for rows of tendons and the mass matrix.
static inline void problem_carve_tree(const mf_ArtPlan *plan, mf_Carver *carver, Problem *p) {
    const uint32_t dofs = plan->dof_count, links = plan->link_count;
    const uint32_t tree = plan->tree_entries > 0 ? mf_art_tree_start(plan)[dofs] : 0;
    const uint32_t entries = problem_least(dofs * (dofs + 1) / 2, PROBLEM_ENTRIES);
    MF_CARVE(carver, p->axis, dofs);
    MF_CARVE(carver, p->origin, links + 1);
    MF_CARVE(carver, p->mass, tree);
    MF_CARVE(carver, p->counting, dofs);
    MF_CARVE(carver, p->own_start, dofs + 1);
    MF_CARVE(carver, p->own_column, entries);
    MF_CARVE(carver, p->factor, entries);
    MF_CARVE(carver, p->inverse, dofs);
    MF_CARVE(carver, p->free, dofs);
    MF_CARVE(carver, p->speed, dofs);
    MF_CARVE(carver, p->x, dofs);
    MF_CARVE(carver, p->inertial, dofs);
    MF_CARVE(carver, p->descent, dofs);
    MF_CARVE(carver, p->ahead, dofs);
    MF_CARVE(carver, p->gradient, dofs);
    MF_CARVE(carver, p->acceleration, dofs);
    MF_CARVE(carver, p->bits, dofs);
    MF_CARVE(carver, p->entry_slots, dofs);
    MF_CARVE(carver, p->chain, dofs);
    MF_CARVE(carver, p->slope, dofs);
    MF_CARVE(carver, p->change, dofs);
    MF_CARVE(carver, p->row, dofs);
    MF_CARVE(carver, p->forces, dofs);
    MF_CARVE(carver, p->drift, links + 1);
    MF_CARVE(carver, p->lumps, links + 1);
    MF_CARVE(carver, p->sum.slot, dofs);
    MF_CARVE(carver, p->sum.value, dofs);
}

static inline void problem_carve(const mf_ArtPlan *plan, mf_Carver *carver, Problem *p) {
    const ProblemCapacity capacity = p->capacity = problem_capacity(plan);
    problem_carve_tree(plan, carver, p);
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

#endif
