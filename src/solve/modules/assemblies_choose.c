// Which assemblies move as one tree in a step (assemblies.h), and the pieces of their robots.
#include "solve/modules/assemblies.h"
#include "world/attach.h"

#include <string.h>

static void press(mf_Assemblies *all, uint32_t group, uint32_t instance, uint32_t link) {
    const mf_DockGroup *of = group != MF_NONE ? mf_docks_group(all->docks, group) : NULL;
    if (of == NULL)
        return;
    all->pressed[of->first_robot + instance] = true;
    if (of->assemblies->pieces != NULL &&
        mf_art_pieces_site(of->assemblies->pieces, link) == MF_NONE)
        all->blocked[of->first_robot + instance] = true;
}

// Robots that other joints hold or others touch.
static void find_pressed(mf_Assemblies *all) {
    const mf_WorldJoints *joints = all->docks->joints;
    const mf_Solver *solver = joints->solver;
    memset(all->blocked, 0, all->robot_count * sizeof *all->blocked);
    memset(all->pressed, 0, all->robot_count * sizeof *all->pressed);
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        const mf_JointRecord *record = &joints->records[slot];
        for (uint32_t s = 0; s < 2 && record->exists && record->part[0] == 0; s++)
            press(all, record->group[s], record->instance[s], record->link[s]);
    }
    for (uint32_t i = 0; i < solver->contact_count; i++)
        for (uint32_t s = 0; s < 2; s++)
            press(all, solver->contacts[i].group[s], solver->contacts[i].instance[s],
                  solver->contacts[i].link[s]);
}

static bool holds(const mf_Assemblies *all, const mf_AssemblyEdge *edge) {
    const mf_JointRecord *record = &all->docks->joints->records[edge->slot];
    return record->enabled && !record->broken;
}

static bool takes_part(const mf_Assemblies *all, const mf_AssemblyRobot *robot) {
    const mf_AssemblyGroup *group = robot->group->assemblies;
    if (robot->anchored)
        return robot->group->fault[robot->instance] == 0;
    if (robot->parent != MF_NONE && !holds(all, &robot->edge))
        return false;
    return !all->blocked[robot->number] && robot->group->fault[robot->instance] == 0 &&
           (group->level == NULL || ((const uint32_t *)group->level->data)[robot->instance] ==
                                        (uint32_t)MF_MOTION_ARTICULATED);
}

static void take(mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++) {
        const mf_AssemblyRobot *robot = &all->order[i];
        if (robot->anchored)
            continue;
        robot->group->assemblies->taken[robot->instance] = true;
        robot->group->assemblies->used[robot->piece] = true;
        robot->group->assemblies->sites[robot->piece] |=
            all->pressed[robot->number] ? UINT32_MAX : robot->sites;
        if (robot->parent != MF_NONE)
            all->carried[robot->edge.slot] = true;
    }
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++)
        all->carried[all->loops[l].slot] = true;
}

// Links of robots that move by themselves, at the edges of an assembly.
static void look_at(const mf_Assemblies *all, mf_AssemblyEdge *edge) {
    const mf_WorldJoints *joints = all->docks->joints;
    const mf_JointRecord *record = &joints->records[edge->slot];
    for (uint32_t s = 0; s < 2; s++) {
        const mf_AssemblyRobot *robot = &all->order[edge->robots[s]];
        const mf_TrialStep *trial = joints->solver->trials[robot->group->index];
        if (robot->anchored)
            mf_link_motion_read(&edge->anchors[s], &trial->links, robot->instance,
                                record->link[edge->side ^ s], trial->values);
    }
}

static void look_at_anchor(mf_Assemblies *all, const mf_Assembly *assembly) {
    if (!all->order[assembly->first].anchored)
        return;
    const mf_AssemblyRobot *root = &all->order[assembly->first];
    for (uint32_t c = root->first_child; c < root->first_child + root->child_count; c++)
        look_at(all, &all->order[c].edge);
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++)
        look_at(all, &all->loops[l]);
}

static bool choose(mf_Assemblies *all) {
    bool any = false;
    for (uint32_t a = 0; a < all->count; a++) {
        mf_Assembly *assembly = &all->assemblies[a];
        assembly->active = assembly->tree;
        assembly->touched = assembly->solved = false;
        assembly->first_node = assembly->node_end = 0;
        assembly->rounds = 0;
        for (uint32_t i = assembly->first; i < assembly->end && assembly->active; i++) {
            assembly->active = takes_part(all, &all->order[i]);
            assembly->touched = !all->order[i].anchored && all->blocked[all->order[i].number];
        }
        for (uint32_t l = assembly->first_loop; l < assembly->loop_end && assembly->active; l++)
            assembly->active = holds(all, &all->loops[l]);
        if (assembly->active) {
            take(all, assembly);
            look_at_anchor(all, assembly);
        }
        any = any || assembly->active;
    }
    return any;
}

static bool list_pieces(mf_Assemblies *all) {
    mf_Error error;
    all->piece_count = 0;
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_AssemblyGroup *group = &all->groups[g];
        if (group->pieces == NULL)
            continue;
        if (mf_art_pieces_reserve(group->pieces, &error) != MF_OK)
            return false;
        for (uint32_t p = 0; p < group->pieces->count; p++) {
            if (!group->used[p])
                continue;
            const size_t first = (size_t)(p / group->pieces->per_block) * MF_BLOCK +
                                 (size_t)(p % group->pieces->per_block) * group->pieces->lanes;
            mf_art_pieces_bind(group->pieces, p, group->taken + first, group->sites[p]);
            group->listed[p] = all->piece_count;
            all->pieces[all->piece_count++] =
                (mf_AssemblyPiece){.group = g, .piece = p, .flags = group->pieces->pieces[p].flags};
        }
    }
    return true;
}

static void seat(mf_Assemblies *all) {
    for (uint32_t a = 0; a < all->count; a++) {
        const mf_Assembly *assembly = &all->assemblies[a];
        for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end && assembly->active;
             i++) {
            const mf_AssemblyRobot *robot = &all->order[i];
            const uint32_t p = robot->group->assemblies->listed[robot->piece];
            mf_AssemblyPiece *piece = &all->pieces[p];
            piece->assembly = piece->lanes == 0 || piece->assembly == a ? a : MF_NONE;
            piece->lanes |= 1u << robot->lane;
            all->seats[i] = (mf_AssemblySeat){p, robot->lane};
        }
    }
}

static void forget_last(mf_Assemblies *all) {
    for (uint32_t g = 0; g < all->group_count; g++) {
        mf_AssemblyGroup *group = &all->groups[g];
        const size_t robots = (size_t)mf_group_block_count(group->group->group) * MF_BLOCK;
        memset(group->taken, 0, robots * sizeof *group->taken);
        memset(group->carried, 0, robots * sizeof *group->carried);
        if (group->pieces == NULL)
            continue;
        memset(group->used, 0, group->pieces->count * sizeof *group->used);
        memset(group->sites, 0, group->pieces->count * sizeof *group->sites);
    }
    memset(all->carried, 0, all->carried_capacity * sizeof *all->carried);
}

bool mf_assemblies_choose(mf_Assemblies *all) {
    forget_last(all);
    find_pressed(all);
    if (mf_assemblies_reserve_nodes(all, all->docks->joints->solver->node_capacity) &&
        choose(all) && list_pieces(all)) {
        seat(all);
        return true;
    }
    forget_last(all);
    all->piece_count = 0;
    return false;
}

void mf_assembly_give_up(mf_Assemblies *all, mf_Assembly *assembly) {
    assembly->active = false;
    for (uint32_t i = mf_assembly_first(all, assembly); i < assembly->end; i++) {
        const mf_AssemblyRobot *robot = &all->order[i];
        mf_art_pieces_release(robot->group->assemblies->pieces, robot->piece, robot->lane);
        robot->group->assemblies->taken[robot->instance] = false;
        if (robot->parent != MF_NONE)
            all->carried[robot->edge.slot] = false;
    }
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++)
        all->carried[all->loops[l].slot] = false;
}

void mf_assemblies_release(mf_Assemblies *all, uint32_t assembly) {
    mf_assembly_give_up(all, &all->assemblies[assembly]);
    all->assemblies[assembly].touched = true;
}
