// Links of assemblies that others touch or hold (assemblies.h): the world's solver presses on these
// nodes, and hears how they accelerate and how they answer.
#include "solve/assemblies.h"
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

void mf_assemblies_open_nodes(mf_Assemblies *all) {
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

void mf_assemblies_add_node(mf_Assemblies *all, uint32_t robot, uint32_t link,
                            const double point[3]) {
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

void mf_assemblies_press(mf_Assemblies *all, uint32_t node, const double wrench[SIX]) {
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

void mf_assemblies_accelerations(mf_Assemblies *all, uint32_t assembly, double *out) {
    const mf_Assembly *own = &all->assemblies[assembly];
    accelerate(all, own, MF_ASSEMBLY_ALL, out, 1);
    for (uint32_t n = own->first_node; n < own->node_end; n++, out += SIX)
        mf_vec3_sub(out, out, all->lift);
}

// Column by column, from a unit of each wrench alone.
void mf_assemblies_respond(mf_Assemblies *all, uint32_t assembly, double *out) {
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
