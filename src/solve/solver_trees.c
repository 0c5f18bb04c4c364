// Docked robots that move as one tree (assemblies.h) in the world's solver: all links of an
// assembly that contacts or joints act on belong to one body. A trial is the solution of its tree
// under the present wrenches, contacts with the ground and limits included, and its response that
// of the tree at these links, so docks hold whatever the forces are.
//
// Links end a trial where the accelerations at the beginning of the step lead.
#include "solve/assemblies.h"
#include "solve/solver.h"
#include "math/scalar.h"

#include <string.h>

static mf_Assemblies *assemblies_of(const mf_Solver *solver) {
    return solver->joints->docks != NULL ? solver->joints->docks->assemblies : NULL;
}

static const mf_SolverBody *body_of(const mf_Solver *solver, uint32_t node) {
    return &solver->bodies[solver->nodes[node].body];
}

// ---- who is in one ------------------------------------------------------------------------------

bool mf_solver_release_trees(mf_Solver *solver) {
    bool any = false;
    for (uint32_t b = solver->robot_count; b < solver->body_count; b++) {
        const mf_SolverBody *body = &solver->bodies[b];
        const mf_SolverIsland *island =
            body->island != MF_NONE ? &solver->islands[body->island] : NULL;
        if (!body->crowded && island != NULL && island->end - island->first <= MF_SOLVER_FILLED)
            continue;
        mf_assemblies_release(assemblies_of(solver), body->assembly);
        any = true;
    }
    return any;
}

static void look_at(const mf_Solver *solver, mf_SolverNode *node) {
    const mf_TrialStep *trial = solver->trials[node->group];
    const uint32_t lane = node->instance % MF_BLOCK;
    const mf_LinkChoice choice = {.first = lane, .end = lane + 1};
    mf_vec3_copy(node->center, mf_group_model(trial->group)->links[node->link].center);
    mf_link_motions_find(&trial->links, node->instance / MF_BLOCK, &choice, trial->values);
    mf_link_motion(&node->begin, trial->values, lane, node->link, false);
    mf_link_point(&node->begin, node->center, node->point, node->velocity);
    mf_vec3_copy(node->velocity + 3, node->begin.rate);
    node->end = node->begin;
    node->size[0] = node->size[1] = 1.0;
}

void mf_solver_look_trees(mf_Solver *solver) {
    mf_Assemblies *all = assemblies_of(solver);
    if (all != NULL)
        mf_assemblies_open_nodes(all);
    for (uint32_t n = solver->tree_node; n < solver->node_count; n++) {
        mf_SolverNode *node = &solver->nodes[n];
        look_at(solver, node);
        mf_assemblies_add_node(all, node->robot, node->link, node->point);
    }
}

// ---- trials -------------------------------------------------------------------------------------

static bool is_left(const mf_Solver *solver, const mf_SolverBody *body) {
    return body->island != MF_NONE && !solver->islands[body->island].done;
}

// What the tree's accelerations make of a link.
static void move(const mf_Solver *solver, mf_SolverNode *node, const double *acceleration) {
    const double step = (double)solver->run.step * 1e-9;
    double axis[3] = {1.0, 0.0, 0.0}, rotation[4], arm[3], swing[3];
    mf_link_point(&node->begin, node->center, NULL, node->velocity);
    mf_vec3_copy(node->velocity + 3, node->begin.rate);
    mf_vec3_add_scaled(node->velocity, node->velocity, step, acceleration);
    mf_vec3_add_scaled(node->velocity + 3, node->velocity + 3, step, acceleration + 3);
    mf_LinkMotion *end = &node->end;
    mf_vec3_copy(end->rate, node->velocity + 3);
    const double rate = mf_vec3_length(end->rate);
    if (rate > 0.0)
        mf_vec3_scale(axis, end->rate, 1.0 / rate);
    mf_quat_from_axis_angle(rotation, axis, rate * step);
    mf_quat_multiply(end->orientation, rotation, node->begin.orientation);
    mf_quat_rotate(arm, end->orientation, node->center);
    mf_vec3_cross(swing, end->rate, arm);
    mf_vec3_sub(end->velocity, node->velocity, swing);
    mf_vec3_add_scaled(end->position, node->point, step, node->velocity);
    mf_vec3_sub(end->position, end->position, arm);
}

static void read(mf_Solver *solver, mf_SolverBody *body) {
    // The body's rows of the inverse are free until it is inverted.
    double *accelerations = solver->inverse + 2 * (size_t)MF_BLOCK_ROWS * body->first;
    mf_assemblies_accelerations(assemblies_of(solver), body->assembly, accelerations);
    body->lost = !mf_all_finite(accelerations, MF_BLOCK_ROWS * body->count);
    for (uint32_t n = 0; n < body->count; n++) {
        mf_SolverNode *node = &solver->nodes[body->first + n];
        if (!body->lost)
            move(solver, node, accelerations + (size_t)MF_BLOCK_ROWS * n);
    }
}

void mf_solver_press_trees(mf_Solver *solver, bool last) {
    for (uint32_t n = solver->tree_node; n < solver->node_count; n++)
        if (last || is_left(solver, body_of(solver, n)))
            mf_assemblies_press(assemblies_of(solver), n - solver->tree_node,
                                solver->nodes[n].wrench);
}

void mf_solver_try_trees(mf_Solver *solver) {
    if (solver->robot_count == solver->body_count)
        return;
    mf_solver_press_trees(solver, false);
    mf_assemblies_solve(assemblies_of(solver));
    for (uint32_t b = solver->robot_count; b < solver->body_count; b++)
        if (is_left(solver, &solver->bodies[b]))
            read(solver, &solver->bodies[b]);
}

void mf_solver_probe_tree(mf_Solver *solver, uint32_t index) {
    const mf_SolverBody *body = &solver->bodies[solver->robot_count + index];
    const double step = (double)solver->run.step * 1e-9;
    const size_t width = (size_t)MF_BLOCK_ROWS * body->count;
    double *response = mf_solver_response(solver, body);
    if (!is_left(solver, body))
        return;
    mf_assemblies_respond(assemblies_of(solver), body->assembly, response);
    for (size_t i = 0; i < width * width; i++)
        response[i] *= step;
}
