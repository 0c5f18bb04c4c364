// The problem of one lane, for solvers of plain arrays (sparse.h): where it is, or copied for a
// solver of several robots.
#pragma once

#include "motion/articulated/constraint/problem_drift.h"

static inline bool exists_in(const Constraint *c, uint32_t lane) {
    return mf_any(mf_and(c->exists, lane_range(lane, 1)));
}

static inline mf_SparseConstraint sparse_constraint(const Constraint *c, uint32_t lane) {
    mf_SparseConstraint out = MF_VALUE(
        mf_SparseConstraint, .kind = c->kind, .rows = c->rows, .row = c->row, .first = c->first,
        .first_slot = c->first_slot, .count = c->count, .most = lane_get(&c->most, lane),
        .cone = lane_get(&c->cone, lane), .stiff = lane_get(&c->stiff, lane));
    for (int i = 0; i < 5; i++)
        out.friction[i] = lane_get(&c->friction[i], lane);
    return out;
}

static inline void copy_lane(const mf_lane *from, uint32_t lane, uint32_t count, double *out) {
    for (uint32_t i = 0; i < count; i++)
        out[i] = lane_get(&from[i], lane);
}

static inline void copy_vec(const Vec *from, uint32_t lane, double out[3]) {
    out[0] = lane_get(&from->x, lane);
    out[1] = lane_get(&from->y, lane);
    out[2] = lane_get(&from->z, lane);
}

// Adds a constraint of a lane; false: there is no space.
static inline bool give_constraint(const Problem *p, const Constraint *c, uint32_t lane,
                                   mf_ArtProblem *out) {
    mf_SparseSize *size = &out->size;
    const uint32_t numbers = c->rows * c->count;
    if (size->constraints == out->most.constraints || size->rows + c->rows > out->most.rows ||
        size->numbers + numbers > out->most.numbers)
        return false;
    mf_SparseConstraint *to = &out->constraints[size->constraints++];
    *to = sparse_constraint(c, lane);
    to->row = size->rows;
    to->first = to->first_slot = size->numbers;
    copy_lane(&p->weight[c->row], lane, c->rows, &out->weight[to->row]);
    copy_lane(&p->rest[c->row], lane, c->rows, &out->rest[to->row]);
    copy_lane(&p->numbers[c->first], lane, numbers, &out->numbers[to->first]);
    for (uint32_t i = 0; i < c->count; i++)
        out->slots[to->first_slot + i] = p->slots[c->first_slot + i];
    size->rows += c->rows;
    size->numbers += numbers;
    return true;
}

// The problem of a lane, for a solver of several robots.
static inline void give_problem(const Problem *p, uint32_t lane, mf_ArtProblem *out) {
    out->size = MF_VALUE(mf_SparseSize, .dofs = p->dofs, .entries = p->plan->tree_entries);
    out->whole = !p->overflow;
    copy_lane(p->mass, lane, p->plan->tree_entries, out->mass);
    copy_lane(p->free, lane, p->dofs, out->free);
    copy_lane(p->speed, lane, p->dofs, out->speed);
    copy_lane(p->slope, lane, p->dofs, out->slope);
    copy_lane(p->change, lane, p->dofs, out->change);
    for (uint32_t l = 0; l <= p->plan->link_count; l++) {
        copy_vec(&p->origin[l], lane, out->origin[l]);
        copy_vec(&p->drift[l].rate, lane, out->drift[l]);
        copy_vec(&p->drift[l].angular_acceleration, lane, out->drift[l] + 3);
        copy_vec(&p->drift[l].straight, lane, out->drift[l] + 6);
    }
    for (uint32_t i = 0; i < p->dofs; i++) {
        copy_vec(&p->axis[i], lane, out->axis[i]);
        out->warm[i] = lane_get(&p->free[i], lane);
    }
    for (uint32_t i = 0; p->work->solver.warm != NULL && i < p->dofs; i++)
        out->warm[i] = p->work->solver.warm[(size_t)i * MF_BLOCK + lane];
    for (uint32_t n = 0; n < p->constraint_count; n++)
        if (exists_in(&p->constraints[n], lane))
            out->whole = out->whole && give_constraint(p, &p->constraints[n], lane, out);
}

// With slopes and changes at the end of the step.
static inline void give_problems(const Problem *p, uint32_t first, uint32_t end) {
    drift_find(p, p->drift);
    for (uint32_t lane = first; lane < end; lane++)
        if (p->work->solver.problems[lane] != NULL)
            give_problem(p, lane, p->work->solver.problems[lane]);
}
