// The forces of the joints of a step: Newton's method with the responses of the robots as the
// derivative (joints_step.c).
//
// Invariant: components of the graph that no joint connects are independent; each keeps the best
// forces so far.
#include "dynamics/joints.h"
#include "math/scalar.h"

#include <float.h>

// [1] How much stiff joints give way, of what the robots do. It makes joints whose forces are not
// unique share them, and is beside the step's own error: the opening under a load f is this times
// what f would move the robots within a step.
static const double give = 1e-4;
static const double least_pivot = 1e-5;  // [1] below it the responses are not those of masses
static const double residual_most = 1e9; // [1] of what is told
static const double usual_change = 10.0; // [m/s^2], [rad/s^2] that residuals are measured by

// ---- the matrix ---------------------------------------------------------------------------------

static void add_symmetric(double *to, const double *a, const double *b) {
    for (uint32_t i = 0; i < MF_JOINT_ROWS; i++)
        for (uint32_t j = 0; j < MF_JOINT_ROWS; j++)
            to[MF_JOINT_ROWS * i + j] +=
                0.5 * (a[MF_JOINT_ROWS * i + j] + b[MF_JOINT_ROWS * j + i]);
}

static void add_body(const mf_JointGraph *graph, const mf_JointBody *body) {
    const mf_JointIncident *own = graph->incidents + body->first;
    const uint32_t *coupling = graph->couplings + body->coupling;
    for (uint32_t a = 0; a < body->count; a++) {
        const double *self = mf_joints_response(graph, body, a, a);
        add_symmetric(graph->matrix.diagonal + (size_t)own[a].node * MF_BLOCK_VALUES, self, self);
        for (uint32_t b = a + 1; b < body->count; b++)
            add_symmetric(graph->matrix.below + (size_t)*coupling++ * MF_BLOCK_VALUES,
                          mf_joints_response(graph, body, b, a),
                          mf_joints_response(graph, body, a, b));
    }
}

// Softness of the rows from `first` to `end`, and what to divide residuals by.
static void soften(mf_JointNode *node, double *diagonal, uint32_t first, uint32_t end) {
    double sum = 0.0, gamma = 0.0;
    for (uint32_t r = first; r < end; r++) {
        sum += diagonal[r * (MF_JOINT_ROWS + 1)];
        gamma += node->gamma[r];
    }
    const bool dead = first == end || !(sum + gamma > 0.0) || !node->active;
    node->dead[first >= 3] = dead;
    for (uint32_t r = first; r < end && !dead; r++) {
        if (gamma == 0.0)
            node->gamma[r] = give * sum / (end - first);
        diagonal[r * (MF_JOINT_ROWS + 1)] += node->gamma[r];
    }
}

// Rows that hold nothing are those of the identity.
static void fill_rows(const mf_JointNode *node, double *diagonal) {
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        if (r >= node->rows || node->dead[r >= 3]) {
            for (uint32_t c = 0; c < MF_JOINT_ROWS; c++)
                diagonal[MF_JOINT_ROWS * r + c] = diagonal[MF_JOINT_ROWS * c + r] = 0.0;
            diagonal[r * (MF_JOINT_ROWS + 1)] = 1.0;
        }
}

static void measure_scale(const mf_WorldJoints *all, mf_JointNode *node, const double *step) {
    const double usual = usual_change * (double)all->run.step * 1e-9;
    node->scale[0] = node->scale[1] = usual;
    for (uint32_t r = 0; r < node->rows; r++) {
        const double before = mf_abs(node->force[r]), after = mf_abs(node->force[r] + step[r]);
        const double change = usual + node->gives[r] * (before > after ? before : after);
        if (change > node->scale[r >= 3])
            node->scale[r >= 3] = change;
    }
}

// ---- corrections --------------------------------------------------------------------------------

static void find_wrong(mf_WorldJoints *all) {
    const mf_JointGraph *graph = &all->graph;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
            node->wrong[r] = 0.0;
        if (!node->active)
            continue;
        mf_joint_wrong(&all->records[node->slot], node);
        for (uint32_t r = 0; r < node->rows; r++)
            if (node->dead[r >= 3])
                node->wrong[r] = 0.0;
    }
}

static double residual_of(const mf_JointNode *node) {
    double most = 0.0;
    for (uint32_t r = 0; r < node->rows; r++) {
        const double part = mf_abs(node->wrong[r]) / node->scale[r >= 3];
        most = part > most ? part : most;
        if (!mf_is_finite(part))
            return part;
    }
    return most;
}

// Of each part the largest of its joints.
static void measure_parts(const mf_JointGraph *graph, double *residual) {
    for (uint32_t p = 0; p < graph->part_count; p++)
        residual[p] = 0.0;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        double *most = &residual[graph->nodes[n].part];
        const double own = residual_of(&graph->nodes[n]);
        if (!(own <= *most))
            *most = own;
    }
}

static void copy_rows(double *to, const double *from) {
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        to[r] = from[r];
}

// `probed`: the present forces are those of new probes, so corrections begin there in any case.
// `first`: they are the last step's, which are corrected however good they are.
static void judge(mf_WorldJoints *all, bool probed, bool first) {
    const mf_JointGraph *graph = &all->graph;
    measure_parts(graph, graph->residuals);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        const mf_JointPart *part = &graph->parts[node->part];
        const double residual = graph->residuals[node->part];
        if (part->done)
            continue;
        if (residual < part->best)
            copy_rows(node->best, node->force);
        if (probed || residual < part->from)
            copy_rows(node->from, node->force);
    }
    for (uint32_t p = 0; p < graph->part_count; p++) {
        mf_JointPart *part = &graph->parts[p];
        const double residual = graph->residuals[p];
        if (part->done)
            continue;
        part->best = residual < part->best ? residual : part->best;
        part->moved = probed || residual < part->from;
        part->nearer = !probed && (part->nearer || part->moved);
        part->from = part->moved ? residual : part->from;
        part->stretch = part->moved ? 1.0 : 0.5 * part->stretch;
        part->done = !first && part->best <= all->config.tolerance;
    }
}

// The corrections of parts that begin anew.
static void solve(const mf_JointGraph *graph) {
    double *room = graph->room;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        const mf_JointNode *node = &graph->nodes[n];
        const bool moved = graph->parts[node->part].moved;
        for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
            room[n * MF_JOINT_ROWS + r] = moved ? -node->wrong[r] : 0.0;
    }
    mf_block_ldl_solve(&graph->matrix, room);
    for (uint32_t n = 0; n < graph->node_count; n++)
        if (graph->parts[graph->nodes[n].part].moved)
            copy_rows(graph->step + (size_t)n * MF_JOINT_ROWS, room + (size_t)n * MF_JOINT_ROWS);
}

static void correct(mf_JointNode *node, const double *step, double stretch) {
    for (uint32_t r = 0; r < node->rows; r++)
        node->force[r] = node->from[r] + stretch * step[r];
}

static bool any_left(const mf_JointGraph *graph) {
    for (uint32_t p = 0; p < graph->part_count; p++)
        if (!graph->parts[p].done)
            return true;
    return false;
}

// ---- for a step ---------------------------------------------------------------------------------

static void assemble(mf_JointGraph *graph) {
    mf_BlockLdl *matrix = &graph->matrix;
    mf_block_ldl_clear(matrix);
    for (uint32_t b = 0; b < graph->body_count; b++)
        add_body(graph, &graph->bodies[b]);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        double *diagonal = matrix->diagonal + (size_t)n * MF_BLOCK_VALUES;
        soften(node, diagonal, 0, 3);
        soften(node, diagonal, 3, node->rows);
        fill_rows(node, diagonal);
        for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
            node->gives[r] = diagonal[r * (MF_JOINT_ROWS + 1)];
    }
    mf_block_ldl_factor(matrix, least_pivot);
}

void mf_joints_solve_begin(mf_WorldJoints *all, bool first) {
    mf_JointGraph *graph = &all->graph;
    for (uint32_t p = 0; p < graph->part_count; p++)
        if (first)
            graph->parts[p] = (mf_JointPart){.best = DBL_MAX, .moved = true};
        else
            graph->parts[p].moved = !graph->parts[p].done;
    assemble(graph);
    find_wrong(all);
    solve(graph);
    for (uint32_t n = 0; n < graph->node_count && first; n++) {
        measure_scale(all, &graph->nodes[n], graph->step + (size_t)n * MF_JOINT_ROWS);
        for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
            graph->nodes[n].best[r] = 0.0; // until there are finite ones
    }
    judge(all, true, first);
}

bool mf_joints_solve_next(mf_WorldJoints *all) {
    const mf_JointGraph *graph = &all->graph;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        const mf_JointPart *part = &graph->parts[node->part];
        if (part->done)
            copy_rows(node->force, node->best);
        else
            correct(node, graph->step + (size_t)n * MF_JOINT_ROWS, part->stretch);
    }
    return any_left(graph);
}

void mf_joints_solve_learn(mf_WorldJoints *all) {
    find_wrong(all);
    judge(all, false, false);
    solve(&all->graph);
}

bool mf_joints_solve_again(mf_WorldJoints *all) {
    const mf_JointGraph *graph = &all->graph;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        const mf_JointPart *part = &graph->parts[node->part];
        if (part->done)
            copy_rows(node->force, node->best);
        else // where no way led nearer, contacts may hold that did not at the beginning of it
            correct(node, graph->step + (size_t)n * MF_JOINT_ROWS, part->nearer ? 0.0 : 1.0);
    }
    return any_left(graph);
}

void mf_joints_solve_end(mf_WorldJoints *all) {
    mf_JointGraph *graph = &all->graph;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        copy_rows(node->force, node->best);
        const double residual = graph->parts[node->part].best;
        if (node->active)
            all->records[node->slot].residual = residual < residual_most ? residual : residual_most;
    }
}
