// Which docked robots move as one tree (assemblies.h): memory, and spanning trees found anew when
// docks change.
#include "solve/modules/assemblies.h"
#include "base/memory.h"
#include "world/attach.h"
#include "math/scalar.h"

#include <string.h>

enum { BRANCHED = 128 }; // [1] robots from which on branches are tasks of their own

// ---- memory -------------------------------------------------------------------------------------

static mf_Status out_of_memory(mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "docks: no memory for assemblies");
}

static mf_Status create_group(mf_Assemblies *all, mf_DockGroup *of, mf_AssemblyGroup *group,
                              mf_Error *error) {
    const size_t robots = (size_t)mf_group_block_count(of->group) * MF_BLOCK;
    group->group = of;
    group->level = mf_group_find_field(of->group, "motion.level");
    mf_canonical_rows(of->group, group->base, MF_BODY_ROWS);
    const mf_Array arrays[] = {MF_ARRAY(group->dock_sites, of->model->dock_count),
                               MF_ARRAY(group->taken, robots), MF_ARRAY(group->carried, robots)};
    if (!mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays))
        return out_of_memory(error);
    for (uint32_t d = 0; d < of->model->dock_count; d++)
        group->dock_sites[d] = of->model->docks[d].frame.link;
    mf_Status status = mf_art_pieces_create(all->context, of->group, &group->pieces,
                                            group->dock_sites, of->model->dock_count, error);
    group->anchored = status == MF_OK && group->pieces == NULL &&
                      mf_trial_step_kind(of->group) == MF_TRIAL_STEP_KINEMATIC;
    if (status != MF_OK || group->pieces == NULL)
        return status;
    const size_t pieces = group->pieces->count;
    const mf_Array of_pieces[] = {MF_ARRAY(group->used, pieces), MF_ARRAY(group->sites, pieces),
                                  MF_ARRAY(group->listed, pieces)};
    all->piece_count += group->pieces->count;
    return mf_allocate_arrays(all->context, of_pieces, sizeof of_pieces / sizeof *of_pieces)
               ? MF_OK
               : out_of_memory(error);
}

static mf_Status create_groups(mf_Assemblies *all, mf_Error *error) {
    uint32_t count = 0;
    for (const mf_DockGroup *of = all->docks->groups; of != NULL; of = of->next)
        count++;
    all->groups = mf_allocate(all->context, count, sizeof *all->groups);
    if (all->groups == NULL)
        return out_of_memory(error);
    for (mf_DockGroup *of = all->docks->groups; of != NULL; of = of->next) {
        mf_AssemblyGroup *group = &all->groups[all->group_count++];
        of->assemblies = group;
        MF_TRY(create_group(all, of, group, error));
    }
    return MF_OK;
}

// A robot of d docks in use has a matrix of (6 d)^2 values; in trees of n robots all docks together
// are at most 2 n.
static void measure_memory(mf_Assemblies *all) {
    size_t most = 1;
    for (uint32_t g = 0; g < all->group_count; g++)
        if (all->groups[g].group->model->dock_count > most)
            most = all->groups[g].group->model->dock_count;
    all->right_capacity = 12 * (size_t)all->robot_count;
    all->matrix_capacity = 72 * most * all->robot_count;
}

static mf_Status allocate(mf_Assemblies *all, mf_Error *error) {
    mf_Context *context = all->context;
    const size_t robots = all->robot_count, ports = all->docks->port_count;
    measure_memory(all);
    const mf_Array arrays[] = {MF_ARRAY(all->order, robots),
                               MF_ARRAY(all->assemblies, robots),
                               MF_ARRAY(all->pieces, all->piece_count),
                               MF_ARRAY(all->seats, robots),
                               MF_ARRAY(all->frames, robots),
                               MF_ARRAY(all->starts, robots + 1),
                               MF_ARRAY(all->edges, ports + 1),
                               MF_ARRAY(all->work, 2 * robots),
                               MF_ARRAY(all->blocked, robots),
                               MF_ARRAY(all->pressed, robots),
                               MF_ARRAY(all->matrices, all->matrix_capacity),
                               MF_ARRAY(all->rights, all->right_capacity),
                               MF_ARRAY(all->biases, all->right_capacity),
                               MF_ARRAY(all->loops, ports / 2 + 1),
                               MF_ARRAY(all->dock_list, 2 * robots),
                               MF_ARRAY(all->sequence, robots),
                               MF_ARRAY(all->stems, robots),
                               MF_ARRAY(all->branches, robots)};
    all->piece_count = 0; // it was how many there can be
    return mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays)
               ? mf_scratch_create(context, mf_assembly_loop_scratch_size(), (uint32_t)robots,
                                   &all->scratch, error)
               : out_of_memory(error);
}

mf_Status mf_assemblies_create(mf_WorldDocks *docks, mf_Assemblies **out, mf_Error *error) {
    mf_Assemblies *all = *out = mf_allocate(docks->context, 1, sizeof *all);
    if (all == NULL)
        return out_of_memory(error);
    all->context = docks->context;
    all->docks = docks;
    all->robot_count = docks->robot_count;
    all->seen = UINT64_MAX;
    mf_Status status = create_groups(all, error);
    MF_THEN(status, allocate(all, error));
    if (status != MF_OK) {
        mf_assemblies_destroy(all);
        *out = NULL;
    }
    return status;
}

void mf_assemblies_destroy(mf_Assemblies *all) {
    if (all == NULL)
        return;
    for (uint32_t g = 0; g < all->group_count; g++) {
        mf_AssemblyGroup *group = &all->groups[g];
        mf_art_pieces_destroy(group->pieces);
        mf_release(all->context, group->dock_sites);
        mf_release(all->context, group->used);
    }
    mf_scratch_destroy(all->context, all->scratch);
    mf_release(all->context, all->groups);
    mf_release(all->context, all->order);
    mf_release(all->context, all->carried);
    mf_release(all->context, all->nodes);
    mf_release(all->context, all);
}

// ---- the graph of robots ------------------------------------------------------------------------

static const mf_JointRecord *record_at(const mf_Assemblies *all, uint32_t slot) {
    return &all->docks->joints->records[slot];
}

static uint32_t number_of(const mf_Assemblies *all, const mf_JointRecord *record, uint32_t side) {
    return mf_docks_group(all->docks, record->group[side])->first_robot + record->instance[side];
}

// Joints of docks per robot: sorted by counting.
static void list_edges(mf_Assemblies *all) {
    const mf_WorldJoints *joints = all->docks->joints;
    memset(all->starts, 0, ((size_t)all->robot_count + 1) * sizeof *all->starts);
    for (uint32_t slot = 0; slot < joints->used; slot++)
        for (uint32_t s = 0; s < 2 && mf_dock_holds(record_at(all, slot)); s++)
            all->starts[number_of(all, record_at(all, slot), s) + 1]++;
    for (uint32_t i = 0; i < all->robot_count; i++)
        all->starts[i + 1] += all->starts[i];
    memcpy(all->work, all->starts, (size_t)all->robot_count * sizeof *all->work);
    for (uint32_t slot = 0; slot < joints->used; slot++)
        for (uint32_t s = 0; s < 2 && mf_dock_holds(record_at(all, slot)); s++)
            all->edges[all->work[number_of(all, record_at(all, slot), s)]++] = slot;
}

static mf_AssemblyGroup *group_of(const mf_Assemblies *all, uint32_t number, uint32_t *instance) {
    uint32_t g = 0;
    for (uint32_t end = all->group_count; end - g > 1;) {
        const uint32_t middle = g + (end - g) / 2;
        *(all->groups[middle].group->first_robot > number ? &end : &g) = middle;
    }
    *instance = number - all->groups[g].group->first_robot;
    return &all->groups[g];
}

static bool is_fixed(const mf_AssemblyGroup *group) {
    return group->anchored || (group->pieces != NULL && group->pieces->motion->plan->fixed);
}

static bool is_rigid(const mf_JointRecord *record) {
    return !(record->stiffness > 0.0) && !(record->angular_stiffness > 0.0);
}

// The other robot of an edge.
static uint32_t across(const mf_Assemblies *all, uint32_t slot, uint32_t number, uint32_t *side) {
    const mf_JointRecord *record = record_at(all, slot);
    *side = number_of(all, record, 0) == number ? 0 : 1;
    return number_of(all, record, 1 - *side);
}

// Lists the robots connected with one, breadth first, into the order; `frames` marks them.
static void spread(mf_Assemblies *all, uint32_t root, mf_Assembly *assembly) {
    uint32_t side;
    all->order_count = assembly->first;
    all->frames[root] = all->order_count;
    all->order[all->order_count++] =
        (mf_AssemblyRobot){.number = root, .parent = MF_NONE, .edge = {.slot = MF_NONE}};
    assembly->tree = true;
    for (uint32_t at = assembly->first; at < all->order_count; at++) {
        mf_AssemblyRobot *robot = &all->order[at];
        const uint32_t number = robot->number;
        robot->first_child = all->order_count;
        for (uint32_t e = all->starts[number]; e < all->starts[number + 1]; e++) {
            const uint32_t slot = all->edges[e], other = across(all, slot, number, &side);
            assembly->tree = assembly->tree && is_rigid(record_at(all, slot));
            if (other == number || all->frames[other] != MF_NONE)
                continue;
            all->frames[other] = all->order_count;
            all->order[all->order_count] = (mf_AssemblyRobot){
                .number = other,
                .parent = at,
                .edge = {.slot = slot, .side = side, .robots = {at, all->order_count}}};
            all->order_count++;
        }
        robot->child_count = all->order_count - robot->first_child;
    }
    assembly->end = all->order_count;
}

static void forget(mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        all->frames[all->order[i].number] = MF_NONE;
}

// A fixed base is the root; two of them close a loop through the world.
static void choose_root(mf_Assemblies *all, mf_Assembly *assembly) {
    uint32_t fixed = 0, root = MF_NONE, instance;
    for (uint32_t i = assembly->first; i < assembly->end; i++) {
        const mf_AssemblyGroup *group = group_of(all, all->order[i].number, &instance);
        assembly->tree = assembly->tree && (group->pieces != NULL || group->anchored);
        if (is_fixed(group)) {
            root = fixed == 0 || all->order[i].number < root ? all->order[i].number : root;
            fixed++;
        }
    }
    assembly->tree = assembly->tree && fixed <= 1;
    if (fixed == 1 && root != all->order[assembly->first].number) {
        const bool tree = assembly->tree;
        forget(all, assembly);
        spread(all, root, assembly);
        assembly->tree = assembly->tree && tree;
    }
}

// ---- geometry -----------------------------------------------------------------------------------

// The joint's frame of a side, in the axes of its plan link.
static void fill_frame(const mf_AssemblyGroup *group, const mf_JointRecord *record, uint32_t side,
                       mf_AssemblyFrame *joint_frame) {
    static const mf_ArtFrame same = {.rotation = {1.0, 0.0, 0.0, 0.0}};
    const mf_ArtFrame *frame =
        group->anchored ? &same : &group->pieces->motion->frames[record->link[side]];
    double orientation[4];
    if (!group->anchored)
        joint_frame->site = group->dock_sites[record->part[side] - 1];
    mf_pose_multiply(joint_frame->position, orientation, frame->position, frame->rotation,
                     record->position[side], record->orientation[side]);
    mf_quat_normalize(orientation);
    mf_quat_to_matrix(joint_frame->rotation, orientation);
}

static void fill_edge(mf_Assemblies *all, mf_AssemblyEdge *edge) {
    const mf_JointRecord *record = record_at(all, edge->slot);
    for (uint32_t s = 0; s < 2; s++) {
        uint32_t instance;
        const mf_AssemblyGroup *group =
            group_of(all, all->order[edge->robots[s]].number, &instance);
        fill_frame(group, record, edge->side ^ s, &edge->frames[s]);
        if (!group->anchored)
            all->order[edge->robots[s]].sites |= 1u << edge->frames[s].site;
    }
}

static void fill_robot(mf_Assemblies *all, mf_AssemblyRobot *robot) {
    mf_AssemblyGroup *group = group_of(all, robot->number, &robot->instance);
    robot->group = group->group;
    robot->anchored = group->anchored;
    if (robot->anchored)
        return;
    robot->piece = robot->instance / MF_BLOCK * group->pieces->per_block +
                   robot->instance % MF_BLOCK / group->pieces->lanes;
    robot->lane = robot->instance % MF_BLOCK % group->pieces->lanes;
    if (robot->parent != MF_NONE)
        fill_edge(all, &robot->edge);
}

static void fill(mf_Assemblies *all, const mf_Assembly *assembly) {
    for (uint32_t i = assembly->first; i < assembly->end; i++)
        fill_robot(all, &all->order[i]);
    for (uint32_t l = assembly->first_loop; l < assembly->loop_end; l++)
        fill_edge(all, &all->loops[l]);
}

// Docks that the tree passed over, each from its first side.
static void list_loops(mf_Assemblies *all, mf_Assembly *assembly) {
    assembly->first_loop = all->loop_count;
    for (uint32_t i = assembly->first; i < assembly->end; i++) {
        const uint32_t number = all->order[i].number;
        for (uint32_t e = all->starts[number]; e < all->starts[number + 1]; e++) {
            const uint32_t slot = all->edges[e];
            const mf_JointRecord *record = record_at(all, slot);
            if (number_of(all, record, 0) != number)
                continue;
            const uint32_t other = all->frames[number_of(all, record, 1)];
            if (all->order[i].edge.slot == slot || all->order[other].edge.slot == slot ||
                (all->loop_count > assembly->first_loop &&
                 all->loops[all->loop_count - 1].slot == slot))
                continue;
            all->loops[all->loop_count++] =
                (mf_AssemblyEdge){.slot = slot, .side = 0, .robots = {i, other}};
            all->order[i].looped = all->order[other].looped = true;
        }
    }
    assembly->loop_end = all->loop_count;
    assembly->tree =
        assembly->tree && assembly->loop_end - assembly->first_loop <= MF_ASSEMBLY_LOOPS;
}

// ---- the elimination ----------------------------------------------------------------------------

// The robot from which no branch has more than half of all: down from the root while one has.
static uint32_t find_middle(const mf_Assemblies *all, const mf_Assembly *assembly) {
    uint32_t *below = all->work; // robots with all their children
    for (uint32_t i = assembly->end; i-- > assembly->first;) {
        const mf_AssemblyRobot *robot = &all->order[i];
        below[i] = 1;
        for (uint32_t c = 0; c < robot->child_count; c++)
            below[i] += below[robot->first_child + c];
    }
    uint32_t middle = assembly->first;
    for (bool moved = true; moved;) {
        const mf_AssemblyRobot *robot = &all->order[middle];
        moved = false;
        for (uint32_t c = 0; c < robot->child_count && !moved; c++)
            if (2 * below[robot->first_child + c] > assembly->end - assembly->first) {
                middle = robot->first_child + c;
                moved = true;
            }
    }
    return middle;
}

// Lists a robot's docks, that to `from` first.
static void list_docks(mf_Assemblies *all, uint32_t number, uint32_t from, uint32_t *count) {
    mf_AssemblyRobot *robot = &all->order[number];
    robot->first_dock = *count;
    robot->middle = from == MF_NONE;
    for (uint32_t pass = 0; pass < 2; pass++) {
        const bool first = pass == 0;
        if (robot->parent != MF_NONE && (robot->parent == from) == first)
            all->dock_list[(*count)++] = (mf_AssemblyDock){number, 1, robot->parent};
        for (uint32_t c = robot->first_child; c < robot->first_child + robot->child_count; c++)
            if ((c == from) == first)
                all->dock_list[(*count)++] = (mf_AssemblyDock){c, 0, c};
    }
    robot->dock_count = *count - robot->first_dock;
}

// Puts a robot and those that it leads to at the end of the sequence, one chain after the other: in
// the same order as their pieces, as far as chains are of robots that follow each other.
static void follow(mf_Assemblies *all, uint32_t first, uint32_t *end, uint32_t *docks) {
    uint32_t *left = all->work + all->robot_count, count = 0;
    left[count++] = first;
    while (count > 0) {
        const uint32_t number = left[--count];
        all->sequence[(*end)++] = number;
        list_docks(all, number, all->work[number], docks);
        const mf_AssemblyRobot *robot = &all->order[number];
        for (uint32_t d = robot->dock_count; d-- > 1;) {
            const uint32_t other = all->dock_list[robot->first_dock + d].other;
            all->work[other] = number; // where it was found from
            left[count++] = other;
        }
    }
}

static void list_sequence(mf_Assemblies *all, uint32_t number, uint32_t *docks) {
    mf_Assembly *assembly = &all->assemblies[number];
    const uint32_t middle = find_middle(all, assembly);
    uint32_t end = assembly->first;
    all->sequence[end++] = middle;
    list_docks(all, middle, MF_NONE, docks);
    const mf_AssemblyRobot *robot = &all->order[middle];
    assembly->branched = assembly->end - assembly->first >= BRANCHED;
    for (uint32_t d = 0; d < robot->dock_count; d++) {
        const uint32_t first = end, other = all->dock_list[robot->first_dock + d].other;
        all->work[other] = middle;
        follow(all, other, &end, docks);
        if (assembly->branched)
            all->branches[all->branch_count++] = (mf_AssemblyBranch){first, end, number};
    }
}

// Where matrices begin: in the order in which they are passed.
static void lay_out(mf_Assemblies *all) {
    size_t values = 0, right = 0;
    uint32_t docks = 0;
    all->branch_count = 0;
    for (uint32_t a = 0; a < all->count; a++) {
        const mf_Assembly *assembly = &all->assemblies[a];
        if (!assembly->tree)
            continue;
        list_sequence(all, a, &docks);
        for (uint32_t i = assembly->first; i < assembly->end; i++) {
            mf_AssemblyRobot *robot = &all->order[all->sequence[i]];
            const size_t rows = 6 * (size_t)robot->dock_count;
            robot->stem = i;
            robot->values = values;
            robot->right = right;
            values += rows * rows;
            right += rows;
        }
    }
}

static bool grow_carried(mf_Assemblies *all) {
    const uint32_t capacity = all->docks->joints->capacity;
    if (all->carried_capacity >= capacity)
        return true;
    mf_release(all->context, all->carried);
    all->carried = mf_allocate(all->context, capacity, sizeof *all->carried);
    all->carried_capacity = all->carried != NULL ? capacity : 0;
    return all->carried != NULL;
}

void mf_assemblies_refresh(mf_Assemblies *all) {
    if (all->seen == all->docks->joints->version &&
        all->carried_capacity >= all->docks->joints->capacity)
        return;
    all->seen = all->docks->joints->version;
    all->count = all->order_count = all->loop_count = 0;
    if (!grow_carried(all))
        return;
    list_edges(all);
    memset(all->frames, 0xff, (size_t)all->robot_count * sizeof *all->frames); // MF_NONE
    for (uint32_t i = 0; i < all->robot_count; i++) {
        if (all->frames[i] != MF_NONE || all->starts[i] == all->starts[i + 1])
            continue;
        mf_Assembly *assembly = &all->assemblies[all->count];
        *assembly = (mf_Assembly){.first = all->order_count};
        spread(all, i, assembly);
        choose_root(all, assembly);
        list_loops(all, assembly);
        for (uint32_t k = assembly->first; k < assembly->end; k++)
            all->order[k].assembly = all->count;
        if (assembly->tree)
            fill(all, assembly);
        all->count++;
    }
    lay_out(all);
}
