// Docked robots that move as one tree (assemblies.h) in the world's solver: all links of an
// assembly that contacts or joints act on belong to one body. A trial is the solution of its tree
// under the present wrenches, contacts with the ground and limits included, and its response that
// of the tree at these links, so docks hold whatever the forces are.
//
// Links end a trial where the accelerations at the beginning of the step lead.
#include "solve/modules/assemblies.h"
#include "solve/solver.h"
#include "math/scalar.h"

#include <string.h>

enum { SIX = 6 };

// Forces before moments, as the solver has them, and linear before angular.
static uint32_t is_angular(uint32_t row) {
    return row < 3 ? row + 3 : row - 3;
}

uint32_t mf_assemblies_robot(const mf_Assemblies *all, uint32_t group, uint32_t instance) {
    const mf_DockGroup *of =
        all != NULL && group != MF_NONE ? mf_docks_group(all->docks, group) : NULL;
    if (of == NULL || all->piece_count == 0)
        return MF_NONE;
    const uint32_t robot = all->frames[of->first_robot + instance];
    if (robot == MF_NONE || all->order[robot].anchored ||
        !all->assemblies[all->order[robot].assembly].active)
        return MF_NONE;
    return robot;
}

// ---- nodes --------------------------------------------------------------------------------------

static void open_nodes(mf_Assemblies *all) {
    for (uint32_t n = 0; n < all->node_count; n++)
        all->order[all->nodes[n].robot].pressed = false;
    for (uint32_t a = 0; a < all->count; a++)
        all->assemblies[a].first_node = all->assemblies[a].node_end = 0;
    all->node_count = 0;
}

bool mf_assemblies_reserve_nodes(mf_Assemblies *all, uint32_t capacity) {
    if (capacity <= all->node_capacity)
        return true;
    mf_AssemblyNode *nodes = mf_allocate(all->context, capacity, sizeof *nodes);
    if (nodes == NULL)
        return false;
    if (all->node_count > 0)
        memcpy(nodes, all->nodes, all->node_count * sizeof *nodes);
    mf_release(all->context, all->nodes);
    all->nodes = nodes;
    all->node_capacity = capacity;
    return true;
}

static void add_node(mf_Assemblies *all, uint32_t robot, uint32_t link, const double point[3]) {
    mf_AssemblyRobot *own = &all->order[robot];
    mf_Assembly *assembly = &all->assemblies[own->assembly];
    const mf_ArtPieces *pieces;
    const mf_ArtAssembly *piece = mf_assembly_piece(all, own, &pieces);
    mf_AssemblyNode *node = &all->nodes[all->node_count];
    double origin[3];
    *node = (mf_AssemblyNode){.robot = robot, .place = {.site = mf_art_pieces_site(pieces, link)}};
    mf_art_pieces_get(pieces, piece->pose, own->lane, MF_ART_SITE_POSE * node->place.site + 9, 3,
                      origin);
    mf_vec3_copy(node->point, point);
    mf_vec3_sub(node->place.arm, point, origin);
    if (assembly->node_end == assembly->first_node)
        assembly->first_node = all->node_count;
    assembly->node_end = ++all->node_count;
    own->pressed = true;
}

static void press(mf_Assemblies *all, uint32_t node, const double wrench[SIX]) {
    mf_AssemblyNode *own = &all->nodes[node];
    mf_Assembly *assembly = &all->assemblies[all->order[own->robot].assembly];
    for (uint32_t r = 0; r < SIX; r++) {
        assembly->solved = assembly->solved && own->wrench[is_angular(r)] == wrench[r];
        own->wrench[is_angular(r)] = wrench[r];
    }
}

// ---- what they do -------------------------------------------------------------------------------

static void accelerate(mf_Assemblies *all, const mf_Assembly *assembly, unsigned causes,
                       double *out, size_t stride) {
    double sites[SIX * MF_ART_SITES], own[SIX];
    for (uint32_t n = assembly->first_node; n < assembly->node_end; n++) {
        const mf_AssemblyNode *node = &all->nodes[n];
        const mf_AssemblyRobot *robot = &all->order[node->robot];
        if (n == assembly->first_node || node->robot != node[-1].robot)
            mf_assembly_loads(all, robot, true, causes, sites);
        mf_assembly_accelerate(all, robot, &node->place, sites, causes, own);
        for (uint32_t r = 0; r < SIX; r++, out += stride)
            *out = own[is_angular(r)];
    }
}

static void find_accelerations(mf_Assemblies *all, uint32_t assembly, double *out) {
    const mf_Assembly *own = &all->assemblies[assembly];
    accelerate(all, own, MF_ASSEMBLY_ALL, out, 1);
    for (uint32_t n = own->first_node; n < own->node_end; n++, out += SIX)
        mf_vec3_sub(out, out, all->lift);
}

// Column by column, from a unit of each wrench alone.
static void respond(mf_Assemblies *all, uint32_t assembly, double *out) {
    mf_Assembly *own = &all->assemblies[assembly];
    const uint32_t width = SIX * (own->node_end - own->first_node);
    mf_AssemblyLoops loops;
    mf_assembly_open_loops(all, own, &loops);
    for (uint32_t n = own->first_node; n < own->node_end; n++) {
        memcpy(all->nodes[n].joined, all->nodes[n].wrench, sizeof all->nodes[n].joined);
        memset(all->nodes[n].wrench, 0, sizeof all->nodes[n].wrench);
    }
    for (uint32_t c = 0; c < width; c++) {
        double *unit = &all->nodes[own->first_node + c / SIX].wrench[is_angular(c % SIX)];
        *unit = 1.0;
        mf_assembly_answer(all, own, &loops, MF_ASSEMBLY_NODES);
        accelerate(all, own, MF_ASSEMBLY_NODES, out + c, width);
        *unit = 0.0;
    }
    for (uint32_t n = own->first_node; n < own->node_end; n++)
        memcpy(all->nodes[n].wrench, all->nodes[n].joined, sizeof all->nodes[n].wrench);
    mf_assembly_leave_loops(all, &loops);
    own->solved = false;
}

// ---- in the solver ------------------------------------------------------------------------------

static mf_Assemblies *assemblies_of(const mf_Solver *solver) {
    return solver->joints->assemblies;
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
    mf_vec3_copy(node->center, mf_group_model(trial->group)->links[node->link].center);
    mf_link_motion_read(&node->begin, &trial->links, node->instance, node->link, trial->values);
    mf_link_point(&node->begin, node->center, node->point, node->velocity);
    mf_vec3_copy(node->velocity + 3, node->begin.rate);
    node->end = node->begin;
    node->size[0] = node->size[1] = 1.0;
}

void mf_solver_look_trees(mf_Solver *solver) {
    mf_Assemblies *all = assemblies_of(solver);
    if (all != NULL)
        open_nodes(all);
    for (uint32_t n = solver->tree_node; n < solver->node_count; n++) {
        mf_SolverNode *node = &solver->nodes[n];
        look_at(solver, node);
        add_node(all, node->robot, node->link, node->point);
    }
}

// ---- trials -------------------------------------------------------------------------------------

static bool is_left(const mf_Solver *solver, const mf_SolverBody *body) {
    return body->island != MF_NONE && !solver->islands[body->island].done;
}

// What the tree's accelerations make of a link.
static void move(const mf_Solver *solver, mf_SolverNode *node, const double *acceleration) {
    const double step = (double)solver->run.step * 1e-9;
    double rotation[4], arm[3], swing[3];
    mf_link_point(&node->begin, node->center, NULL, node->velocity);
    mf_vec3_copy(node->velocity + 3, node->begin.rate);
    mf_vec3_add_scaled(node->velocity, node->velocity, step, acceleration);
    mf_vec3_add_scaled(node->velocity + 3, node->velocity + 3, step, acceleration + 3);
    mf_LinkMotion *end = &node->end;
    mf_vec3_copy(end->rate, node->velocity + 3);
    mf_assembly_rotation(rotation, end->rate, step);
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
    find_accelerations(assemblies_of(solver), body->assembly, accelerations);
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
            press(assemblies_of(solver), n - solver->tree_node, solver->nodes[n].wrench);
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
    respond(assemblies_of(solver), body->assembly, response);
    for (size_t i = 0; i < width * width; i++)
        response[i] *= step;
}
