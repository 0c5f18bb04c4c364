// Warm start: the forces of the last step's contacts are where this step's begin, as those of
// joints are. Responses are then found near the solution, with what robots touch of the ground
// there, and few corrections are left.
//
// A contact is recognized by its two shapes. Where these had as many contacts, each begins from
// that of its place among them; else they share the sum.
//
// Invariant: what is kept follows from the contacts in their order; it is state, so snapshots and
// hashes hold it (joints_image.c).
#include "solve/solver.h"
#include "math/scalar.h"

#include <string.h>

static const uint64_t index_mask = 0xffffff; // [1] of keys: the rest is of the shapes

static uint64_t key_of(const mf_WarmContact *warm) {
    const uint64_t hash = mf_hash_bytes(MF_HASH_START, &warm->shapes, sizeof warm->shapes);
    return hash & ~index_mask;
}

static bool is_same(const mf_WarmContact *a, const mf_WarmContact *b) {
    return memcmp(&a->shapes, &b->shapes, sizeof a->shapes) == 0;
}

static mf_WarmContact warm_of(const mf_SolverContact *contact) {
    mf_WarmContact warm = {0};
    for (uint32_t s = 0; s < 2; s++) {
        warm.shapes.group[s] = contact->group[s];
        warm.shapes.instance[s] = contact->instance[s];
        warm.shapes.shape[s] = contact->shape[s];
    }
    return warm;
}

// ---- the end of a step --------------------------------------------------------------------------

static bool is_kept(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    return constraint->contact != MF_NONE && constraint->island != MF_NONE &&
           (solver->islands[constraint->island].swept ||
            solver->islands[constraint->island].best <= MF_SOLVER_INEXACT);
}

static void sort_keys(mf_Solver *solver) {
    for (uint32_t i = 0; i < solver->warm_count; i++)
        solver->warm_keys[i] = key_of(&solver->warm[i]) | i;
    mf_solver_sort(solver->warm_keys, solver->warm_count);
}

void mf_solver_keep_warm(mf_Solver *solver) {
    solver->warm_count = 0;
    for (uint32_t c = 0; c < solver->constraint_count; c++) {
        const mf_SolverConstraint *constraint = &solver->constraints[c];
        if (!is_kept(solver, constraint))
            continue;
        mf_WarmContact warm = warm_of(&solver->contacts[constraint->contact]);
        for (uint32_t r = 0; r < constraint->rows; r++) {
            double *to = r < 3 ? warm.force : warm.moment;
            mf_vec3_add_scaled(to, to, constraint->force[r], constraint->axes[r]);
        }
        solver->warm[solver->warm_count++] = warm;
    }
    sort_keys(solver);
}

void mf_solver_forget(mf_Solver *solver) {
    solver->warm_count = 0;
}

// Resets may be parallel: each writes to its own sides only.
void mf_solver_forget_robot(mf_Group *group, uint32_t instance, void *user) {
    mf_Solver *solver = user;
    for (uint32_t i = 0; i < solver->warm_count; i++)
        for (uint32_t s = 0; s < 2; s++) {
            mf_WarmContact *warm = &solver->warm[i];
            if (warm->shapes.instance[s] == instance &&
                mf_world_group(solver->world, warm->shapes.group[s]) == group)
                warm->over[s] = 1;
        }
}

// ---- the beginning ------------------------------------------------------------------------------

// Position and number of a contact among those of the same shapes.
static uint32_t index_of(const mf_Solver *solver, uint32_t contact, const mf_WarmContact *own,
                         uint32_t *count) {
    uint32_t first = contact, end = contact + 1;
    mf_WarmContact other;
    for (; first > 0; first--) {
        other = warm_of(&solver->contacts[first - 1]);
        if (!is_same(&other, own))
            break;
    }
    for (; end < solver->contact_count; end++) {
        other = warm_of(&solver->contacts[end]);
        if (!is_same(&other, own))
            break;
    }
    *count = end - first;
    return contact - first;
}

// Force and moment of the last step; false: it is new.
static bool find_warm(const mf_Solver *solver, uint32_t contact, double force[3],
                      double moment[3]) {
    const mf_WarmContact own = warm_of(&solver->contacts[contact]);
    const uint64_t key = key_of(&own);
    uint32_t now, before = 0;
    const uint32_t index = index_of(solver, contact, &own, &now);
    const mf_WarmContact *same = NULL;
    mf_vec3_set(force, 0, 0, 0);
    mf_vec3_set(moment, 0, 0, 0);
    for (uint32_t i = mf_solver_find(solver->warm_keys, solver->warm_count, key);
         i < solver->warm_count && (solver->warm_keys[i] & ~index_mask) == key; i++) {
        const mf_WarmContact *warm = &solver->warm[solver->warm_keys[i] & index_mask];
        if (!is_same(warm, &own) || warm->over[0] || warm->over[1])
            continue;
        same = before++ == index ? warm : same;
        mf_vec3_add(force, force, warm->force);
        mf_vec3_add(moment, moment, warm->moment);
    }
    const double share = 1.0 / now;
    mf_vec3_scale(force, before == now ? same->force : force, before == now ? 1.0 : share);
    mf_vec3_scale(moment, before == now ? same->moment : moment, before == now ? 1.0 : share);
    return before > 0;
}

void mf_solver_warm_start(const mf_Solver *solver, mf_SolverConstraint *constraint) {
    double force[3], moment[3], *rows = constraint->force;
    if (!find_warm(solver, constraint->contact, force, moment))
        return;
    for (uint32_t r = 0; r < constraint->rows; r++)
        rows[r] = mf_vec3_dot(constraint->axes[r], r < 3 ? force : moment);
    rows[0] = rows[0] > 0.0 ? rows[0] : 0.0;
    mf_solver_cut(constraint, rows);
}

// ---- snapshots ----------------------------------------------------------------------------------

void mf_solver_take_warm(mf_Solver *solver, const mf_WarmContact *contacts, uint32_t count) {
    solver->warm_count = count;
    if (count > 0)
        memcpy(solver->warm, contacts, count * sizeof *contacts);
    sort_keys(solver);
}
