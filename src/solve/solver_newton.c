// The forces of the joints and contacts of an island.
//
// With the velocities v of its links, the response K of its robots, M = K^-1, and the trial step
// that gave velocities v0 under wrenches w0, the forces balance where
//     minimize  1/2 (v - v0) M (v - v0) + w0 (v - v0) + sum of costs(J v)                       (1)
// whose gradient is M (v - v0) + w0 - J^T f(J v), f the laws of solver_rows.c. Newton's method
// with an exact search along its steps (Todorov, Convex and analytically-invertible dynamics with
// contacts and constraints, ICRA 2014) finds the minimum. The matrix M + J^T f' J has a block of
// 6 x 6 per link and one per two links that share a robot or a constraint (block_system.h).
//
// (1) is convex for friction within a given bound. The bound is mu times the load at the step's
// beginning and follows the load from step to step: a fixed point of Coulomb's law itself, without
// the dilation of a cone with associated flow (Haslinger, Approximation of the Signorini problem
// with friction, obeying the Coulomb law, 1983).
//
// Invariant: an island writes to its own nodes and constraints only.
#include "solve/solver.h"
#include "math/scalar.h"

#include <string.h>

enum {
    ROWS = MF_BLOCK_ROWS,
    VALUES = MF_BLOCK_VALUES,
    STEPS = 60, // [1] of Newton's method, at most
    LOADS = 20, // [1] from that one on bounds of friction are constant: a convex problem
    SEARCHES = 40
};

// [1] Added to the diagonal of responses, relative to their mean, against rounding, which dominates
// in directions without response.
static const double doubt_whole = 1e-6, doubt_wide = 1e-5, doubt_narrow = 1e-3, whole_pivot = 0.02;
// [1] For assemblies, whose response is computed in double, but is singular because joined links
// move alike.
static const double doubt_tree = 1e-8;
static const double least_give = 1e-9;   // [1] of the robot's own response, if there is none
static const double usual_change = 10.0; // [m/s^2], [rad/s^2] scale of the residual

// ---- compliance ---------------------------------------------------------------------------------

static double gives_of(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                       uint32_t side, uint32_t row) {
    const uint32_t n = constraint->node[side];
    if (n == MF_NONE || !solver->bodies[solver->nodes[n].body].moves)
        return 0.0;
    const mf_SolverBody *body = &solver->bodies[solver->nodes[n].body];
    const size_t width = (size_t)ROWS * body->count, at = (size_t)ROWS * (n - body->first);
    const double *response = mf_solver_response(solver, body) + at * width + at;
    double rows[VALUES], sum = 0.0;
    mf_solver_jacobian(constraint, side, rows);
    const double *own = rows + (size_t)ROWS * row;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < ROWS; j++)
            sum += own[i] * response[i * width + j] * own[j];
    return sum > 0.0 ? sum : 0.0;
}

// Stiff rows of a joint from `first` to `end` get equal stiffness.
static void soften_joint(mf_SolverConstraint *constraint, uint32_t first, uint32_t end) {
    double sum = 0.0, soft = 0.0;
    for (uint32_t r = first; r < end; r++) {
        sum += constraint->gives[r];
        soft += constraint->gamma[r];
    }
    constraint->dead[first > 0] = !(sum + soft > 0.0);
    for (uint32_t r = first; r < end; r++)
        if (!(constraint->gamma[r] > 0.0))
            constraint->gamma[r] = constraint->give * sum / (end - first);
}

// Rows of a contact from `first` to `end` get equal compliance. Returns the sum.
static double make_alike(mf_SolverConstraint *constraint, uint32_t first, uint32_t end) {
    double sum = 0.0;
    for (uint32_t r = first; r < end; r++)
        sum += constraint->gives[r];
    for (uint32_t r = first; r < end; r++)
        constraint->gives[r] = sum / (end - first);
    return sum;
}

// Wrong forces may jam a robot, so that later probes find no response; the earlier response is then
// kept, or such forces would count as exact.
static void keep_alive(mf_SolverConstraint *constraint, const double before[MF_JOINT_ROWS],
                       uint32_t first, uint32_t end) {
    double sum = 0.0;
    for (uint32_t r = first; r < end; r++)
        sum += constraint->gives[r];
    for (uint32_t r = first; r < end && !(sum > 0.0); r++)
        constraint->gives[r] = before[r];
}

// A contact's load has the softness of a mass on a spring. In a cone of several rows gamma mu^2 is
// the same, as in MuJoCo's, and that of the row that needs most: sliding, unless torsion and
// rolling would be stiffer than a thousandth of it.
static void soften_contact(mf_SolverConstraint *constraint) {
    const uint32_t rows = constraint->rows, straight = rows < 3 ? rows : 3;
    double *gamma = constraint->gamma, angular = 0.0;
    if (!(gamma[0] > 0.0))
        gamma[0] = constraint->yield * constraint->gives[0];
    constraint->dead[0] = !(make_alike(constraint, 0, straight) > 0.0);
    if (rows > 3)
        angular = make_alike(constraint, 3, 4);
    if (rows > 4)
        angular += make_alike(constraint, 4, rows);
    constraint->dead[1] = !(angular > 0.0);
    for (mf_SolverCone cone = MF_CONE_NONE; mf_solver_next_cone(constraint, &cone);) {
        double most = 0.0;
        for (uint32_t r = cone.first; r < cone.end; r++) {
            const double own = constraint->give * constraint->gives[r] /
                               (constraint->weight[r] * constraint->weight[r]);
            const double part = r >= 3 && cone.first < 3 ? 1e-3 * own : own;
            most = part > most ? part : most;
        }
        for (uint32_t r = cone.first; r < cone.end; r++)
            if (!(gamma[r] > 0.0))
                gamma[r] = most * constraint->weight[r] * constraint->weight[r];
    }
}

void mf_solver_soften(mf_Solver *solver, mf_SolverConstraint *constraint) {
    const uint32_t turning = constraint->rows < 3 ? constraint->rows : 3;
    const bool swept = solver->islands[constraint->island].swept;
    double before[MF_JOINT_ROWS];
    memcpy(before, constraint->gives, sizeof before);
    if (swept)
        mf_solver_large_rows(solver, constraint);
    for (uint32_t r = 0; r < constraint->rows && !swept; r++)
        constraint->gives[r] =
            gives_of(solver, constraint, 0, r) + gives_of(solver, constraint, 1, r);
    if (constraint->joint == MF_NONE) {
        keep_alive(constraint, before, 0, turning);
        keep_alive(constraint, before, turning, constraint->rows);
        soften_contact(constraint);
        return;
    }
    soften_joint(constraint, 0, turning);
    soften_joint(constraint, turning, constraint->rows);
}

// ---- inertia ------------------------------------------------------------------------------------

// [N] or [N m] The trial wrench in a row of a body.
static double probe_of(const mf_SolverNode *nodes, size_t row) {
    return nodes[row / ROWS].size[row % ROWS >= 3];
}

// Makes the matrix symmetric, with elements within the bounds of a positive matrix. Both probes of
// a pair of rows agree up to rounding, which is smaller for the larger wrench.
static void make_symmetric(const mf_SolverNode *nodes, double *k, size_t width) {
    for (size_t i = 0; i < width; i++)
        if (!(k[i * width + i] > 0.0))
            k[i * width + i] = 0.0;
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < i; j++) {
            const double a = probe_of(nodes, j), b = probe_of(nodes, i);
            const double mean =
                (a * a * k[i * width + j] + b * b * k[j * width + i]) / (a * a + b * b);
            const double most = mf_sqrt(k[i * width + i] * k[j * width + j]);
            k[i * width + j] = k[j * width + i] = mf_clamp(mean, -most, most);
        }
}

// The diagonal of K with a part of it added.
static void add_doubt(const double *diagonal, double *out, size_t width, double part,
                      double least) {
    for (size_t first = 0; first < width; first += 3) {
        double sum = 0.0;
        for (size_t i = first; i < first + 3; i++)
            sum += diagonal[i];
        // Moments and forces are related by an arm of 0.1 m, the size of a robot.
        const double floor = first % ROWS == 0 ? least : 100.0 * least;
        for (size_t i = first; i < first + 3; i++)
            out[i] = diagonal[i] + part * sum / 3.0 + floor;
    }
}

// K + part of its diagonal = L L^T in the lower triangle; the upper one and `whole`, the diagonal,
// are left. False: a pivot is less than `least` of its diagonal element.
static bool factor(double *k, const double *whole, size_t width, double least) {
    for (size_t j = 0; j < width; j++) {
        double pivot = whole[j];
        for (size_t i = 0; i < j; i++)
            pivot -= k[j * width + i] * k[j * width + i];
        if (!(pivot > least * whole[j]))
            return false;
        const double root = mf_sqrt(pivot);
        k[j * width + j] = root;
        for (size_t i = j + 1; i < width; i++) {
            double sum = k[j * width + i]; // of the upper triangle
            for (size_t c = 0; c < j; c++)
                sum -= k[i * width + c] * k[j * width + c];
            k[i * width + j] = sum / root;
        }
    }
    return true;
}

// Replaces the lower triangle L by (L L^T)^-1, then mirrors it.
static void invert_factor(double *l, size_t width) {
    for (size_t j = 0; j < width; j++) {
        l[j * width + j] = 1.0 / l[j * width + j];
        for (size_t i = j + 1; i < width; i++) {
            double sum = 0.0;
            for (size_t c = j; c < i; c++)
                sum -= l[i * width + c] * l[c * width + j];
            l[i * width + j] = sum / l[i * width + i];
        }
    }
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t c = i; c < width; c++)
                sum += l[c * width + i] * l[c * width + j];
            l[i * width + j] = sum;
        }
    for (size_t i = 0; i < width; i++)
        for (size_t j = 0; j < i; j++)
            l[j * width + i] = l[i * width + j];
}

// Increases the added diagonal until rounding cannot give a direction a response of the wrong sign,
// which would make the inverse arbitrary.
void mf_solver_invert(mf_Solver *solver, const mf_SolverBody *body) {
    const size_t width = (size_t)ROWS * body->count;
    const double alone = (double)solver->run.step * 1e-9 / solver->trials[body->group]->mass;
    const double usual = body->assembly != MF_NONE           ? doubt_tree
                         : solver->trials[body->group]->wide ? doubt_wide
                                                             : doubt_narrow;
    double *k = mf_solver_response(solver, body), part = body->count == 1 ? doubt_whole : usual;
    double *diagonal = solver->inverse + 2 * (size_t)ROWS * body->first, *whole = diagonal + width;
    make_symmetric(solver->nodes + body->first, k, width);
    for (size_t i = 0; i < width; i++)
        diagonal[i] = k[i * width + i];
    add_doubt(diagonal, whole, width, part, least_give * alone);
    bool found = factor(k, whole, width, body->count == 1 ? whole_pivot : 0.5 * part);
    for (part = usual; !found && part < 1.0; part *= 4.0) {
        add_doubt(diagonal, whole, width, part, least_give * alone);
        found = factor(k, whole, width, 0.5 * part);
    }
    if (!found) // diagonal only
        for (size_t i = 0; i < width * width; i++)
            k[i] = i % (width + 1) == 0 ? mf_sqrt(whole[i / width]) : 0.0;
    invert_factor(k, width);
}

// ---- the matrix and the gradient ----------------------------------------------------------------

static bool moves(const mf_Solver *solver, uint32_t node) {
    return node != MF_NONE && solver->nodes[node].at != MF_NONE;
}

// The block of M of two links of a robot.
static const double *inertia_of(const mf_Solver *solver, const mf_SolverBody *body, uint32_t a,
                                uint32_t b, size_t *width) {
    *width = (size_t)ROWS * body->count;
    return mf_solver_response(solver, body) + (size_t)ROWS * (a - body->first) * *width +
           (size_t)ROWS * (b - body->first);
}

static double *block_of(mf_Solver *solver, uint32_t column, uint32_t row) {
    mf_BlockSystem *system = &solver->system;
    return column == row
               ? system->diagonal + (size_t)column * VALUES
               : system->below + (size_t)mf_block_system_find(system, column, row) * VALUES;
}

// M, and out = M x.
static void add_inertia(mf_Solver *solver, uint32_t a) {
    const mf_SolverNode *node = &solver->nodes[a];
    const mf_SolverBody *body = &solver->bodies[node->body];
    for (uint32_t b = body->first; b < body->first + body->count; b++) {
        if (solver->nodes[b].at < node->at)
            continue;
        size_t width;
        const double *from = inertia_of(solver, body, b, a, &width);
        double *to = block_of(solver, node->at, solver->nodes[b].at);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < ROWS; j++)
                to[ROWS * i + j] += from[i * width + j];
    }
}

static void multiply_inertia(const mf_Solver *solver, const mf_SolverIsland *island,
                             const double *x, double *out) {
    for (uint32_t q = island->first; q < island->end; q++) {
        const uint32_t a = solver->queue[q];
        const mf_SolverBody *body = &solver->bodies[solver->nodes[a].body];
        double *to = out + (size_t)ROWS * solver->nodes[a].at;
        for (size_t i = 0; i < ROWS; i++)
            to[i] = 0.0;
        for (uint32_t b = body->first; b < body->first + body->count; b++) {
            size_t width;
            const double *from = inertia_of(solver, body, a, b, &width);
            const double *own = x + (size_t)ROWS * solver->nodes[b].at;
            for (size_t i = 0; i < ROWS; i++)
                for (size_t j = 0; j < ROWS; j++)
                    to[i] += from[i * width + j] * own[j];
        }
    }
}

// to += a^T slope b
static void add_product(double *to, const double *a, const double *slope, const double *b,
                        uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++) {
        double row[ROWS] = {0};
        bool any = false;
        for (uint32_t c = 0; c < rows; c++) {
            const double value = slope[MF_JOINT_ROWS * r + c];
            if (!(mf_abs(value) > 0.0))
                continue;
            any = true;
            for (uint32_t j = 0; j < ROWS; j++)
                row[j] += value * b[ROWS * c + j];
        }
        for (uint32_t i = 0; i < ROWS && any; i++)
            for (uint32_t j = 0; j < ROWS; j++)
                to[ROWS * i + j] += a[ROWS * r + i] * row[j];
    }
}

// The force of a constraint, and its derivative.
static void add_constraint(mf_Solver *solver, const mf_SolverConstraint *constraint) {
    double force[MF_JOINT_ROWS], slope[VALUES], rows[2][VALUES];
    mf_solver_force(constraint, constraint->moved, force, slope);
    for (uint32_t s = 0; s < 2; s++) {
        if (!moves(solver, constraint->node[s]))
            continue;
        const uint32_t at = solver->nodes[constraint->node[s]].at;
        double *left = solver->left + (size_t)ROWS * at;
        mf_solver_jacobian(constraint, s, rows[s]);
        for (uint32_t r = 0; r < constraint->rows; r++)
            for (uint32_t c = 0; c < ROWS; c++)
                left[c] -= rows[s][ROWS * r + c] * force[r];
        add_product(block_of(solver, at, at), rows[s], slope, rows[s], constraint->rows);
    }
    if (!moves(solver, constraint->node[0]) || !moves(solver, constraint->node[1]))
        return;
    const uint32_t a = solver->nodes[constraint->node[0]].at,
                   b = solver->nodes[constraint->node[1]].at;
    if (a < b)
        add_product(block_of(solver, a, b), rows[1], slope, rows[0], constraint->rows);
    else
        add_product(block_of(solver, b, a), rows[0], slope, rows[1], constraint->rows);
}

static void assemble(mf_Solver *solver, const mf_SolverIsland *island) {
    mf_block_system_clear(&solver->system, island->first, island->end);
    multiply_inertia(solver, island, solver->change, solver->left);
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverNode *node = &solver->nodes[solver->queue[q]];
        for (size_t i = 0; i < ROWS; i++)
            solver->left[(size_t)ROWS * node->at + i] += node->wrench[i];
        add_inertia(solver, solver->queue[q]);
    }
    for (uint32_t row = island->row; row < island->row_end; row++)
        add_constraint(solver, mf_solver_member(solver, row));
}

// ---- along a step -------------------------------------------------------------------------------

// Changes of row values along the step.
static void find_directions(const mf_Solver *solver, const mf_SolverIsland *island) {
    double rows[VALUES];
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        for (uint32_t r = 0; r < constraint->rows; r++)
            constraint->direction[r] = 0.0;
        for (uint32_t s = 0; s < 2; s++) {
            if (!moves(solver, constraint->node[s]))
                continue;
            const double *step =
                solver->step + (size_t)ROWS * solver->nodes[constraint->node[s]].at;
            mf_solver_jacobian(constraint, s, rows);
            for (uint32_t r = 0; r < constraint->rows; r++)
                for (uint32_t c = 0; c < ROWS; c++)
                    constraint->direction[r] += rows[ROWS * r + c] * step[c];
        }
    }
}

typedef struct Course { // the linear part of the slope along a step
    double begin, growth;
} Course;

static Course course_of(mf_Solver *solver, const mf_SolverIsland *island) {
    Course course = {0.0, 0.0};
    const size_t first = (size_t)ROWS * island->first, end = (size_t)ROWS * island->end;
    multiply_inertia(solver, island, solver->change, solver->left);
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverNode *node = &solver->nodes[solver->queue[q]];
        for (size_t i = 0; i < ROWS; i++)
            solver->left[(size_t)ROWS * node->at + i] += node->wrench[i];
    }
    for (size_t i = first; i < end; i++)
        course.begin += solver->step[i] * solver->left[i];
    multiply_inertia(solver, island, solver->step, solver->left);
    for (size_t i = first; i < end; i++)
        course.growth += solver->step[i] * solver->left[i];
    return course;
}

// The slope of (1) at the fraction `part` of the step.
static double slope_at(const mf_Solver *solver, const mf_SolverIsland *island, Course course,
                       double part) {
    double sum = course.begin + part * course.growth;
    for (uint32_t row = island->row; row < island->row_end; row++) {
        const mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        double rows[MF_JOINT_ROWS] = {0}, force[MF_JOINT_ROWS];
        for (uint32_t r = 0; r < constraint->rows; r++)
            rows[r] = constraint->moved[r] + part * constraint->direction[r];
        mf_solver_force(constraint, rows, force, NULL);
        for (uint32_t r = 0; r < constraint->rows; r++)
            sum -= force[r] * constraint->direction[r];
    }
    return sum;
}

// The zero of the slope, to a hundredth, by false position (Illinois).
static double search(mf_Solver *solver, const mf_SolverIsland *island) {
    const Course course = course_of(solver, island);
    double low = 0.0, high = 1.0;
    double below = slope_at(solver, island, course, low);
    double above = slope_at(solver, island, course, high);
    const double enough = 0.01 * mf_abs(below);
    for (uint32_t i = 0; i < 3 && above < -enough; i++) { // the minimum is farther away
        low = high;
        below = above;
        high *= 2.0;
        above = slope_at(solver, island, course, high);
    }
    if (!(below < 0.0) || !(above > enough))
        return high;
    int side = 0;
    for (uint32_t i = 0; i < SEARCHES; i++) {
        const double part = low + (high - low) * (below / (below - above));
        const double slope = slope_at(solver, island, course, part);
        if (mf_abs(slope) <= enough)
            return part;
        if (slope < 0.0) {
            low = part;
            below = slope;
            above = side == -1 ? 0.5 * above : above;
            side = -1;
        } else {
            high = part;
            above = slope;
            below = side == 1 ? 0.5 * below : below;
            side = 1;
        }
    }
    return low > 0.0 ? low : high;
}

// ---- an island ----------------------------------------------------------------------------------

static void begin(mf_Solver *solver, const mf_SolverIsland *island) {
    memset(solver->change + (size_t)ROWS * island->first, 0,
           (size_t)(island->end - island->first) * ROWS * sizeof(double));
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        memcpy(constraint->moved, constraint->now, sizeof constraint->moved);
        constraint->grip = mf_solver_load(constraint, constraint->moved);
    }
}

// Takes the fraction `part` of the step. True: no force changed significantly.
static bool advance(mf_Solver *solver, const mf_SolverIsland *island, double part, bool follow) {
    const double usual = usual_change * (double)solver->run.step * 1e-9;
    bool settled = true;
    for (size_t i = (size_t)ROWS * island->first; i < (size_t)ROWS * island->end; i++)
        solver->change[i] += part * solver->step[i];
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        double before[MF_JOINT_ROWS], force[MF_JOINT_ROWS];
        mf_solver_force(constraint, constraint->moved, before, NULL);
        for (uint32_t r = 0; r < constraint->rows; r++)
            constraint->moved[r] += part * constraint->direction[r];
        if (follow)
            constraint->grip = mf_solver_load(constraint, constraint->moved);
        mf_solver_force(constraint, constraint->moved, force, NULL);
        for (uint32_t r = 0; r < constraint->rows; r++) {
            const double change = mf_abs(force[r] - before[r]) * constraint->gives[r];
            const double whole = usual + mf_abs(force[r]) * constraint->gives[r];
            settled = settled && change <= 0.1 * solver->tolerance * whole;
        }
    }
    return settled;
}

void mf_solver_balance(mf_Solver *solver, mf_SolverIsland *island) {
    begin(solver, island);
    for (uint32_t step = 0; step < STEPS; step++) {
        assemble(solver, island);
        for (size_t i = (size_t)ROWS * island->first; i < (size_t)ROWS * island->end; i++)
            solver->left[i] = -solver->left[i];
        mf_block_system_solve(&solver->system, island->first, island->end, 1e-12, solver->left,
                              solver->step);
        island->iterations++;
        find_directions(solver, island);
        if (advance(solver, island, search(solver, island), step < LOADS))
            break;
    }
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        mf_solver_force(constraint, constraint->moved, constraint->target, NULL);
    }
}
