// The world solver (solver.h): creation, memory and who takes part. A step is in solver_step.c.
//
// Invariant: memory grows between steps only, to what joints and contacts were announced.
#include "base/memory.h"
#include "base/sort.h"
#include "solve/joints.h"
#include "world/attach.h"
#include "world/systems.h"
#include "world/world_state.h"

#include <string.h>

bool mf_solver_takes(mf_Group *group) {
    return mf_trial_step_kind(group) != MF_TRIAL_STEP_UNSUPPORTED;
}

// ---- memory of a step ---------------------------------------------------------------------------

static void release_step(mf_Solver *solver) {
    mf_scratch_destroy(solver->context, solver->common_scratch);
    mf_release(solver->context, solver->contacts);
    mf_block_system_destroy(solver->context, &solver->system);
}

static bool allocate_step(mf_Solver *solver) {
    const size_t rows = solver->constraint_capacity, nodes = solver->node_capacity;
    const mf_Array arrays[] = {
        MF_ARRAY(solver->contacts, solver->contact_capacity),
        MF_ARRAY(solver->joint_nodes, solver->joint_capacity),
        MF_ARRAY(solver->constraints, rows),
        MF_ARRAY(solver->members, rows),
        MF_ARRAY(solver->nodes, nodes),
        MF_ARRAY(solver->bodies, nodes),
        MF_ARRAY(solver->blocks, nodes),
        MF_ARRAY(solver->islands, nodes),
        MF_ARRAY(solver->responses, (size_t)MF_BLOCK_VALUES * solver->response_capacity),
        MF_ARRAY(solver->keys, solver->key_capacity),
        MF_ARRAY(solver->side_keys, 2 * rows),
        MF_ARRAY(solver->queue, nodes),
        MF_ARRAY(solver->starts, nodes + 1),
        MF_ARRAY(solver->touch, 2 * rows),
        MF_ARRAY(solver->inverse, 2 * MF_BLOCK_ROWS * nodes),
        MF_ARRAY(solver->change, MF_BLOCK_ROWS * nodes),
        MF_ARRAY(solver->step, MF_BLOCK_ROWS * nodes),
        MF_ARRAY(solver->left, MF_BLOCK_ROWS * nodes),
        MF_ARRAY(solver->sweep_values, solver->sweep_capacity + 1),
        MF_ARRAY(solver->rates, solver->rate_capacity + 1)};
    return mf_allocate_arrays(solver->context, arrays, sizeof arrays / sizeof *arrays);
}

// Nodes of contacts are no more than links that may touch.
static mf_Status reserve(mf_Solver *solver, mf_Error *error) {
    const uint64_t sides = 2 * (uint64_t)solver->contact_capacity;
    const uint64_t touched = sides < solver->links ? sides : solver->links;
    const uint64_t nodes = 2 * (uint64_t)solver->joint_capacity + touched;
    const uint64_t few = 16 * sides + 256, all = (uint64_t)solver->links * solver->links;
    const uint64_t responses = solver->joint_blocks + (all < few ? all : few);
    const uint64_t rows = (uint64_t)solver->joint_capacity + solver->contact_capacity;
    mf_Status status = MF_NO_MEMORY;
    solver->constraint_capacity = (uint32_t)rows;
    solver->node_capacity = (uint32_t)nodes;
    solver->response_capacity = (uint32_t)responses;
    if (solver->contact_capacity > 0) { // both sides of six rows
        solver->sweep_capacity = 4 * (size_t)solver->dofs * 6 * rows;
        solver->rate_capacity = nodes * solver->dofs;
    }
    solver->common_size = rows > 0 ? mf_solver_common_bytes(solver) : 0;
    const uint64_t pairs = nodes * nodes / 2, most = 4096, fill = pairs < most ? pairs : most;
    const uint64_t blocks = rows + responses / 2 + fill;
    solver->key_capacity = (size_t)(2 * blocks + 2 * rows + responses);
    if (nodes <= UINT32_MAX / 64 && blocks <= UINT32_MAX / 64 && allocate_step(solver))
        status =
            mf_scratch_create(solver->context, solver->common_size,
                              mf_context_threads(solver->context), &solver->common_scratch, error);
    if (status == MF_OK)
        status = mf_block_system_create(solver->context, (uint32_t)nodes, (uint32_t)blocks,
                                        &solver->system, error);
    return status == MF_OK ? MF_OK
                           : mf_fail(error, MF_NO_MEMORY, "solver: no memory for %llu links",
                                     (unsigned long long)nodes);
}

// On failure all is as it was.
static mf_Status reserve_more(mf_Solver *solver, uint32_t joints, uint32_t blocks,
                              uint32_t contacts, mf_Error *error) {
    mf_Solver before = *solver;
    solver->contacts = NULL; // and all in its block
    solver->common_scratch = NULL;
    solver->system = (mf_BlockSystem){.node_count = 0};
    solver->joint_capacity = joints;
    solver->joint_blocks = blocks;
    solver->contact_capacity = contacts;
    mf_Status status = reserve(solver, error);
    release_step(status == MF_OK ? &before : solver);
    if (status != MF_OK)
        *solver = before;
    return status;
}

mf_Status mf_solver_reserve_joints(mf_Solver *solver, uint32_t joints, uint32_t blocks,
                                   mf_Error *error) {
    if (joints <= solver->joint_capacity && blocks <= solver->joint_blocks &&
        mf_solver_common_bytes(solver) <= solver->common_size) // groups may be new
        return MF_OK;
    const uint32_t capacity = joints > solver->joint_capacity ? 2 * joints : solver->joint_capacity;
    const uint32_t more = blocks > solver->joint_blocks ? 2 * blocks : solver->joint_blocks;
    return reserve_more(solver, capacity, more, solver->contact_capacity, error);
}

mf_Status mf_solver_reserve_contacts(mf_Solver *solver, uint32_t contacts, mf_Error *error) {
    mf_WarmContact *warm;
    uint64_t *keys;
    const mf_Array arrays[] = {MF_ARRAY(warm, contacts), MF_ARRAY(keys, contacts)};
    if (!mf_allocate_arrays(solver->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "solver: no memory for contacts");
    const mf_Status status =
        reserve_more(solver, solver->joint_capacity, solver->joint_blocks, contacts, error);
    mf_release(solver->context, status == MF_OK ? solver->warm : warm);
    if (status != MF_OK)
        return status;
    solver->warm = warm;
    solver->warm_keys = keys;
    solver->warm_capacity = contacts;
    solver->warm_count = 0;
    return MF_OK;
}

// ---- groups -------------------------------------------------------------------------------------

typedef struct NamedGroup {
    const char *name;
    uint32_t group; // [1]
} NamedGroup;

static bool is_named_before(const void *a, const void *b) {
    return strcmp(((const NamedGroup *)a)->name, ((const NamedGroup *)b)->name) < 0;
}

// `named`: memory for as many as there are groups.
static void rank_groups(mf_Solver *solver, NamedGroup *named) {
    for (uint32_t g = 0; g < solver->group_count; g++)
        named[g] = (NamedGroup){mf_group_config_of(mf_world_group(solver->world, g))->name, g};
    mf_heap_sort(named, solver->group_count, sizeof *named, is_named_before);
    for (uint32_t i = 0; i < solver->group_count; i++) {
        solver->ranks[named[i].group] = i;
        solver->group_at[i] = named[i].group;
    }
}

static mf_Status grow_groups(mf_Solver *solver, mf_Error *error) {
    const uint32_t needed = mf_world_group_count(solver->world);
    mf_Context *context = solver->context;
    if (needed <= solver->group_count)
        return MF_OK;
    mf_Solver more;
    NamedGroup *named;
    const mf_Array arrays[] = {MF_ARRAY(more.trials, needed),   MF_ARRAY(more.memories, needed),
                               MF_ARRAY(more.free, needed),     MF_ARRAY(more.common, needed),
                               MF_ARRAY(more.answers, needed),  MF_ARRAY(more.ranks, needed),
                               MF_ARRAY(more.group_at, needed), MF_ARRAY(named, needed)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "solver: no memory for %u groups", needed);
    if (solver->group_count > 0) {
        memcpy(more.trials, solver->trials, solver->group_count * sizeof *more.trials);
        memcpy(more.memories, solver->memories, solver->group_count * sizeof *more.memories);
        memcpy(more.common, solver->common, solver->group_count * sizeof *more.common);
        memcpy(more.free, solver->free, solver->group_count * sizeof *more.free);
        memcpy(more.answers, solver->answers, solver->group_count * sizeof *more.answers);
    }
    mf_release(context, solver->trials);
    solver->trials = more.trials;
    solver->memories = more.memories;
    solver->free = more.free;
    solver->common = more.common;
    solver->answers = more.answers;
    solver->ranks = more.ranks;
    solver->group_at = more.group_at;
    solver->group_count = needed;
    rank_groups(solver, named);
    return MF_OK;
}

static size_t count_blocks(const mf_TrialStep *trial) {
    return (mf_group_count(trial->group) + MF_BLOCK - 1) / MF_BLOCK;
}

static void release_memory(mf_Context *context, mf_SolverMemory *memory) {
    mf_release(context, memory->saved);
    mf_release(context, memory->links);
    mf_release(context, memory->motions);
}

// The group's robots take no part.
static void drop_group(mf_Solver *solver, uint32_t g) {
    release_memory(solver->context, &solver->memories[g]);
    mf_free_response_destroy(solver->context, solver->free[g]);
    mf_trial_step_destroy(solver->context, solver->trials[g]);
    mf_solver_common_release(solver->context, &solver->common[g]);
    solver->common[g] = (mf_SolverCommon){.motion = NULL};
    solver->memories[g] = (mf_SolverMemory){0};
    solver->free[g] = NULL;
    solver->trials[g] = NULL;
}

static bool allocate_memory(mf_Context *context, const mf_TrialStep *trial, mf_SolverMemory *out) {
    const size_t blocks = count_blocks(trial), links = mf_group_model(trial->group)->link_count;
    const size_t values = mf_link_motions_size(&trial->links);
    out->saved = mf_allocate(context, blocks, trial->bytes);
    out->links = mf_allocate(context, blocks * links, sizeof *out->links);
    out->motions = mf_allocate(context, blocks * values, sizeof *out->motions);
    return out->saved != NULL && out->links != NULL && out->motions != NULL;
}

// Robots that are reset touch anew.
static mf_Status hear_resets(mf_Solver *solver, mf_Group *group, mf_Error *error) {
    static const char *const none[] = {NULL};
    mf_SystemConfig system = mf_system_config();
    system.name = "contacts";
    system.phase = MF_PHASE_AFTER;
    system.reset = mf_solver_forget_robot;
    system.user = solver;
    system.reads = system.writes = none;
    return mf_group_add_system(group, &system, error);
}

// What the solver has of a group. MF_NO_MEMORY.
static mf_Status take_group(mf_Solver *solver, uint32_t g, mf_Error *error) {
    mf_Group *group = mf_world_group(solver->world, g);
    mf_Status status = mf_trial_step_create(group, &solver->trials[g], error);
    MF_THEN(status, mf_free_response_create(group, &solver->free[g], error));
    MF_THEN(status, mf_solver_common_create(solver, group, &solver->common[g], error));
    if (status == MF_OK &&
        !allocate_memory(solver->context, solver->trials[g], &solver->memories[g]))
        status = mf_fail(error, MF_NO_MEMORY, "solver: no memory for group %s",
                         mf_group_config_of(group)->name);
    MF_THEN(status, hear_resets(solver, group, error));
    if (status != MF_OK)
        drop_group(solver, g);
    return status;
}

mf_Status mf_solver_add_group(mf_Solver *solver, mf_Group *group, bool contacts, mf_Error *error) {
    MF_TRY(grow_groups(solver, error));
    const uint32_t g = mf_world_group_number(solver->world, group);
    if (contacts)
        solver->links += mf_group_count(group) * mf_group_model(group)->link_count;
    if (solver->trials[g] != NULL)
        return MF_OK;
    MF_TRY(take_group(solver, g, error));
    const mf_FreeResponse *free = solver->free[g];
    solver->dofs = free->tree->dof_count > solver->dofs ? free->tree->dof_count : solver->dofs;
    solver->answers[g] = mf_trial_step_kind(group) == MF_TRIAL_STEP_ANSWERS;
    return MF_OK;
}

bool mf_solver_refresh(mf_Solver *solver) {
    for (uint32_t g = 0; g < solver->group_count; g++) {
        mf_TrialStep *trial = solver->trials[g];
        if (trial == NULL || !mf_trial_step_stale(trial))
            continue;
        mf_trial_step_note_motions(trial);
        if (solver->free[g] != NULL)
            mf_free_response_note_motions(solver->free[g]);
        const size_t before = trial->bytes;
        mf_trial_step_fill(trial);
        solver->answers[g] = mf_trial_step_kind(trial->group) == MF_TRIAL_STEP_ANSWERS;
        if (trial->bytes <= before)
            continue;
        char *saved = mf_allocate(solver->context, count_blocks(trial), trial->bytes);
        if (saved == NULL)
            return false;
        mf_release(solver->context, solver->memories[g].saved);
        solver->memories[g].saved = saved;
    }
    return true;
}

// ---- contacts of a step -------------------------------------------------------------------------

bool mf_solver_has_capacity(const mf_Solver *solver) {
    return solver->contact_count < solver->contact_capacity;
}

void mf_solver_add_contact(mf_Solver *solver, const mf_SolverContact *contact) {
    solver->contacts[solver->contact_count++] = *contact;
}

void mf_solver_clear_contacts(mf_Solver *solver) {
    solver->contact_count = 0;
}

// ---- creation -----------------------------------------------------------------------------------

void mf_solver_destroy(mf_Solver *solver) {
    mf_Context *context = solver->context;
    for (uint32_t g = 0; g < solver->group_count; g++) {
        mf_trial_step_destroy(context, solver->trials[g]);
        release_memory(context, &solver->memories[g]);
        mf_free_response_destroy(context, solver->free[g]);
        mf_solver_common_release(context, &solver->common[g]);
    }
    mf_release(context, solver->trials);
    mf_release(context, solver->warm);
    release_step(solver);
    mf_joints_destroy(solver->joints);
    mf_release(context, solver);
}

static void destroy(mf_Context *context, void *user) {
    (void)context;
    mf_solver_destroy(user);
}

static mf_Status add_systems(mf_Solver *solver, mf_Error *error) {
    static const char *const reads[] = {
        "base.position", "base.orientation", "base.linear_velocity", "base.angular_velocity",
        "joint.angle",   "joint.rate",       "ball.orientation",     "ball.rate",
        "free.position", "free.velocity",    "fault.word",           NULL};
    static const char *const writes[] =
        MF_NAMES("wrench.link", "wrench.count", "warning.word", "warning.steps", "warning.residual",
                 "joint_slot.angle");
    mf_WorldSystemConfig system =
        mf_attach_world_system("joints.end", MF_PHASE_AFTER, mf_solver_end, solver);
    system.writes = writes;
    MF_TRY(mf_world_add_system(solver->world, &system, error));
    system.name = "joints";
    system.phase = MF_PHASE_MOTION;
    system.run = mf_solver_run;
    system.reads = reads;
    system.destroy = destroy;
    return mf_world_add_last_system(solver->world, &system, error); // behind collisions
}

mf_Solver *mf_solver_in(const mf_World *world) {
    const mf_WorldSystemConfig *system = mf_world_find_system(world, "joints");
    return system != NULL && system->run == mf_solver_run ? system->user : NULL;
}

mf_Status mf_solver_of(mf_World *world, mf_Solver **out, mf_Error *error) {
    const mf_WorldJointsConfig usual = mf_world_joints_config();
    *out = mf_solver_in(world);
    if (*out != NULL)
        return MF_OK;
    if (mf_world_system_count(world) + 2 > MF_WORLD_SYSTEM_LIMIT)
        return mf_fail(error, MF_LIMIT, "world: at most %u systems", MF_WORLD_SYSTEM_LIMIT);
    mf_Context *context = mf_world_context(world);
    mf_Solver *solver = mf_allocate(context, 1, sizeof *solver);
    MF_NEED_MEMORY(solver != NULL, error, "solver");
    solver->context = context;
    solver->world = world;
    solver->rounds = usual.rounds;
    solver->tolerance = usual.tolerance;
    mf_Status status = mf_joints_create(solver, &solver->joints, error);
    MF_THEN(status, add_systems(solver, error)); // there is space for them
    if (status != MF_OK)
        mf_solver_destroy(solver);
    else
        *out = solver;
    return status;
}
