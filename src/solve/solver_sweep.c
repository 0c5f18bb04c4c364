// The forces of large islands: heaps of robots, whose responses by trial steps and linear systems
// would cost a hundred times what their motions do.
//
// The response is that of robots that nothing holds (free_response.h), and projected Gauss-Seidel
// sweeps over the rows of contacts and joints find the forces that balance by it (Jean, The
// non-smooth contact dynamics method, 1999; bounds of friction follow the loads). Trial steps tell
// where that leads, contacts with the ground, servos and limits included, and the next correction
// begins there. What they add only takes from the response, K <= K', so each correction minimizes
// an upper bound of the true cost that touches it where the correction begins, and the cost falls
// (majorization; Hunter and Lange, A tutorial on MM algorithms, 2004): forces are approached from
// the safe side, and what is left of them comes with the next step, which begins with these.
//
// Invariant: an island writes to its own rows and robots only, in the order of its constraints.
#include "solve/solver.h"
#include "math/scalar.h"

#include <string.h>

enum { SWEEPS = 15 }; // [1] of a correction, at most

static const double settled = 1e-3;      // [1] sweeps end where forces change by less
static const double usual_change = 10.0; // [m/s^2], [rad/s^2] that this is measured by
static const double extension = 1.3;     // [1]
// [1] Islands are large from so many links on, or where the responses of their robots together have
// so many blocks.
enum { LINKS = MF_SOLVER_FILLED, BLOCKS = 128 };

// ---- who is in one ------------------------------------------------------------------------------

// Not where joints prevail: sweeps are slow along chains, which the system of links solves at once.
static bool is_large(const mf_Solver *solver, const mf_SolverIsland *island) {
    uint32_t contacts = 0, blocks = 0;
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverBody *body = &solver->bodies[solver->nodes[solver->queue[q]].body];
        if (body->assembly != MF_NONE)
            return false; // it is as small as can be
        blocks += body->count;
    }
    if (island->end - island->first <= LINKS && blocks <= BLOCKS)
        return false;
    for (uint32_t row = island->row; row < island->row_end; row++)
        contacts += mf_solver_member(solver, row)->contact != MF_NONE ? 1 : 0;
    return 2 * contacts > island->row_end - island->row;
}

static uint32_t dofs_of(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                        uint32_t side) {
    if (constraint->node[side] == MF_NONE)
        return 0;
    const mf_SolverBody *body = &solver->bodies[solver->nodes[constraint->node[side]].body];
    return body->moves ? body->dofs : 0;
}

// Places for the rows of an island; false: there is none.
static bool place_rows(mf_Solver *solver, const mf_SolverIsland *island, size_t *used) {
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        const size_t width = dofs_of(solver, constraint, 0) + dofs_of(solver, constraint, 1);
        constraint->values = *used;
        *used += 2 * width * constraint->rows;
        if (*used > solver->sweep_capacity)
            return false;
    }
    return true;
}

// Places for the velocities of its robots.
static bool place_rates(mf_Solver *solver, const mf_SolverIsland *island, size_t *used) {
    for (uint32_t q = island->first; q < island->end; q++) {
        mf_SolverBody *body = &solver->bodies[solver->nodes[solver->queue[q]].body];
        if (body->swept)
            continue;
        body->swept = true;
        body->dofs = mf_free_response_dofs(solver->free[body->group], body->instance);
        body->rates = *used;
        *used += body->dofs;
    }
    return *used <= solver->rate_capacity;
}

// Where there is no space for one its contacts are explicit.
void mf_solver_find_large(mf_Solver *solver) {
    size_t rows = 0, rates = 0;
    for (uint32_t i = 0; i < solver->island_count; i++) {
        mf_SolverIsland *island = &solver->islands[i];
        const size_t rows_before = rows, rates_before = rates;
        if (island->done || !is_large(solver, island))
            continue;
        island->swept = place_rates(solver, island, &rates) && place_rows(solver, island, &rows);
        if (island->swept)
            continue;
        island->done = true;
        island->best = 1.0;
        rows = rows_before;
        rates = rates_before;
    }
}

void mf_solver_prepare_large(mf_Solver *solver, uint32_t index) {
    const mf_SolverBlock *block = &solver->blocks[index];
    uint32_t instances[MF_BLOCK], count = 0;
    for (uint32_t b = block->first; b < block->first + block->count; b++)
        if (solver->bodies[b].swept)
            instances[count++] = solver->bodies[b].instance;
    if (count > 0)
        mf_free_response_prepare(solver->free[block->group], block->block, instances, count);
}

// ---- rows ---------------------------------------------------------------------------------------

// Where the rows of a constraint are: for each row and side with `count` values the Jacobian, then
// the response.
typedef struct Rows {
    double *values;
    double *rates[2]; // of the robots of both sides
    uint32_t count[2];
} Rows;

static Rows rows_of(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    Rows rows = {.values = solver->sweep_values + constraint->values};
    for (uint32_t s = 0; s < 2; s++) {
        rows.count[s] = dofs_of(solver, constraint, s);
        if (rows.count[s] > 0)
            rows.rates[s] =
                solver->rates + solver->bodies[solver->nodes[constraint->node[s]].body].rates;
    }
    return rows;
}

static double *side_of(const Rows *rows, uint32_t row, uint32_t side) {
    const size_t width = (size_t)rows->count[0] + rows->count[1];
    return rows->values + 2 * (row * width + (side == 1 ? rows->count[0] : 0));
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void fill_side(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                      const Rows *rows, uint32_t side) {
    const double step = (double)solver->run.step * 1e-9;
    const mf_SolverNode *node = &solver->nodes[constraint->node[side]];
    const mf_SolverBody *body = &solver->bodies[node->body];
    double own[MF_BLOCK_VALUES];
    mf_solver_jacobian(constraint, side, own);
    for (uint32_t r = 0; r < constraint->rows; r++) {
        double *jacobian = side_of(rows, r, side), *response = jacobian + rows->count[side];
        mf_free_response_row(solver->free[body->group], body->instance, node->link, node->point,
                             own + (size_t)MF_BLOCK_ROWS * r, jacobian, response);
        for (uint32_t d = 0; d < rows->count[side]; d++)
            response[d] *= step;
    }
}

void mf_solver_large_rows(mf_Solver *solver, mf_SolverConstraint *constraint) {
    const Rows rows = rows_of(solver, constraint);
    for (uint32_t s = 0; s < 2; s++)
        if (rows.count[s] > 0)
            fill_side(solver, constraint, &rows, s);
    for (uint32_t r = 0; r < constraint->rows; r++) {
        double sum = 0.0;
        for (uint32_t s = 0; s < 2; s++)
            for (uint32_t t = 0; t < 2; t++) // two links of one robot answer to each other
                if (rows.count[s] > 0 && rows.rates[s] == rows.rates[t])
                    sum += dot(side_of(&rows, r, s), side_of(&rows, r, t) + rows.count[t],
                               rows.count[s]);
        constraint->own[r] = constraint->gives[r] = sum > 0.0 ? sum : 0.0;
    }
}

// ---- sweeps -------------------------------------------------------------------------------------

// What the forces changed so far make of a row.
static double row_value(const mf_SolverConstraint *constraint, const Rows *rows, uint32_t row) {
    double sum = constraint->now[row];
    for (uint32_t s = 0; s < 2; s++)
        sum += dot(side_of(rows, row, s), rows->rates[s], rows->count[s]);
    return sum;
}

static void change_force(mf_SolverConstraint *constraint, const Rows *rows, uint32_t row,
                         double force) {
    const double change = force - constraint->target[row];
    constraint->target[row] = force;
    for (uint32_t s = 0; s < 2; s++) {
        const double *response = side_of(rows, row, s) + rows->count[s];
        for (uint32_t d = 0; d < rows->count[s]; d++)
            rows->rates[s][d] += response[d] * change;
    }
}

// The force of a row without bounds, the others given.
static double target_of(const mf_SolverConstraint *constraint, const Rows *rows, uint32_t row,
                        double gives) {
    const double force = constraint->target[row], gamma = constraint->gamma[row];
    return force - (row_value(constraint, rows, row) + gamma * force) / (gives + gamma);
}

// [(m/s)/N] What the rows of a cone give way: that of the row of each kind that gives way most,
// or, for forces that slide, alike in the cone.
static void cone_gives(const mf_SolverConstraint *constraint, mf_SolverCone cone, bool slide,
                       double gives[MF_JOINT_ROWS]) {
    const double *own = constraint->own, *weight = constraint->weight;
    double alike = 0.0;
    for (uint32_t r = cone.first; r < cone.end; r++) {
        const uint32_t twin = r == 3 ? 3 : r < 3 ? 3 - r : 9 - r; // 1 and 2, 4 and 5
        gives[r] = own[twin] > own[r] ? own[twin] : own[r];
        const double part = gives[r] / (weight[r] * weight[r]);
        alike = part > alike ? part : alike;
    }
    for (uint32_t r = cone.first; r < cone.end && slide; r++)
        gives[r] = alike * weight[r] * weight[r];
}

static void sweep_cone(mf_SolverConstraint *constraint, const Rows *rows, mf_SolverCone cone) {
    const double limit = constraint->friction[cone.first] * constraint->target[0];
    double force[MF_JOINT_ROWS] = {0}, gives[MF_JOINT_ROWS], square = 0.0;
    if (!(constraint->gamma[cone.first] > 0.0))
        return; // nothing gives way
    for (uint32_t slide = 0; slide < 2; slide++) {
        cone_gives(constraint, cone, slide == 1, gives);
        for (uint32_t r = cone.first; r < cone.end; r++)
            force[r] = target_of(constraint, rows, r, gives[r]);
        square = mf_solver_cone_square(constraint, cone, force);
        if (!(square > limit * limit))
            break;
    }
    const double part = square > limit * limit ? limit / mf_sqrt(square) : 1.0;
    for (uint32_t r = cone.first; r < cone.end; r++)
        change_force(constraint, rows, r, part * force[r]);
}

static void sweep_contact(mf_SolverConstraint *constraint, const Rows *rows) {
    if (constraint->dead[0])
        return;
    const double load = target_of(constraint, rows, 0, constraint->own[0]);
    change_force(constraint, rows, 0, load > 0.0 ? load : 0.0);
    for (mf_SolverCone cone = MF_CONE_NONE; mf_solver_next_cone(constraint, &cone);)
        sweep_cone(constraint, rows, cone);
}

static void sweep_joint(mf_SolverConstraint *constraint, const Rows *rows) {
    for (uint32_t r = 0; r < constraint->rows; r++) {
        if (constraint->dead[r >= 3])
            continue;
        const double force = constraint->target[r], gives = constraint->own[r];
        if (r < 5 || constraint->drive == NULL) {
            change_force(constraint, rows, r, target_of(constraint, rows, r, gives));
            continue;
        }
        double stiff = 0.0; // a step of Newton's method
        const double torque = mf_joint_drive(constraint->drive, constraint->gamma[r],
                                             row_value(constraint, rows, r), &stiff);
        change_force(constraint, rows, r, force + (torque - force) / (1.0 + gives * stiff));
    }
}

// Sweeps a constraint. Returns the largest change of what a row's force does, of the whole.
static double sweep(const mf_Solver *solver, mf_SolverConstraint *constraint) {
    const double usual = usual_change * (double)solver->run.step * 1e-9;
    const Rows rows = rows_of(solver, constraint);
    double before[MF_JOINT_ROWS], most = 0.0;
    memcpy(before, constraint->target, sizeof before);
    if (constraint->contact != MF_NONE)
        sweep_contact(constraint, &rows);
    else
        sweep_joint(constraint, &rows);
    for (uint32_t r = 0; r < constraint->rows; r++) {
        const double change = mf_abs(constraint->target[r] - before[r]) * constraint->own[r];
        const double part = change / (usual + mf_abs(constraint->target[r]) * constraint->own[r]);
        most = part > most ? part : most;
    }
    return most;
}

// Goes beyond what free responses lead to: those with contacts with the ground are less, and up to
// twice the way the cost still falls.
static void extend(mf_SolverConstraint *constraint) {
    for (uint32_t r = 0; r < constraint->rows; r++)
        constraint->target[r] =
            constraint->force[r] + extension * (constraint->target[r] - constraint->force[r]);
    if (constraint->contact == MF_NONE)
        return;
    double *force = constraint->target;
    force[0] = force[0] > 0.0 ? force[0] : 0.0;
    mf_solver_cut(constraint, force);
}

void mf_solver_balance_large(mf_Solver *solver, mf_SolverIsland *island) {
    const uint32_t count = island->row_end - island->row;
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverBody *body = &solver->bodies[solver->nodes[solver->queue[q]].body];
        memset(solver->rates + body->rates, 0, body->dofs * sizeof *solver->rates);
    }
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        memcpy(constraint->target, constraint->force, sizeof constraint->target);
    }
    for (uint32_t i = 0; i < SWEEPS; i++) {
        double most = 0.0;
        for (uint32_t k = 0; k < count; k++) { // forth and back
            const uint32_t row = i % 2 == 0 ? island->row + k : island->row_end - 1 - k;
            const double change = sweep(solver, mf_solver_member(solver, row));
            most = change > most ? change : most;
        }
        island->iterations++;
        if (most <= settled)
            break;
    }
    for (uint32_t row = island->row; row < island->row_end; row++)
        extend(mf_solver_member(solver, row));
}
