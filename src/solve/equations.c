// The equations of motion of many robots at once (mayfly/dynamics.h): the kernels of the tree work
// on blocks of robots in double; results are then copied from rows of lanes to the caller's arrays.
// The world keeps a tree and scratch memory per group.
//
// Invariant: each task of a call has its own scratch memory and its own blocks.
#include "solve/link_motion.h"
#include "base/context.h"
#include "base/floats.h"
#include "base/memory.h"
#include "math/kernel_table.h"
#include "motion/articulated/host.h"
#include "multibody/tree.h"
#include "world/attach.h"
#include "world/systems.h"

#include <mayfly/dynamics.h>

#include <string.h>

static const char kept_name[] = "equations";

// What the kernels write to, of one task.
typedef struct Scratch {
    double *position, *rotation, *matrix, *velocity, *acceleration, *inertias,
        *wrenches; // per link
    double *twists, *in, *out, *entries;
} Scratch;

typedef struct GroupEquations {
    mf_Group *group;
    bool articulated; // the tree knows the settings of that motion
    mf_Tree *tree;
    Scratch *scratches; // one per thread of the context, and what they are in
} GroupEquations;

typedef struct Equations {
    mf_TreeMotionFn motion, motion_one;
    mf_TreeQueryFn query, query_one;
    uint32_t lanes, scratch_count; // [1]
    uint32_t count;                // [1] groups of the world that there is an entry for
    GroupEquations *groups;        // by number; `group` NULL: not asked yet
} Equations;

// ---- memory kept by the world ------------------------------------------------------------------

static void release_group(mf_Context *context, GroupEquations *own) {
    mf_release(context, own->tree);
    mf_release(context, own->scratches);
}

static void destroy(mf_Context *context, void *user) {
    Equations *equations = user;
    for (uint32_t g = 0; g < equations->count; g++)
        release_group(context, &equations->groups[g]);
    mf_release(context, equations->groups);
    mf_release(context, equations);
}

static Equations *make(mf_World *world, mf_Error *error) {
    static const mf_TreeMotionFn motions[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_tree_motion);
    static const mf_TreeQueryFn queries[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_DOUBLE(mf_tree_query);
    mf_Context *context = mf_world_context(world);
    const mf_KernelPick pick = mf_kernel_pick(mf_world_isa(world), true);
    Equations *equations = mf_allocate(context, 1, sizeof *equations);
    if (equations == NULL) {
        mf_fail(error, MF_NO_MEMORY, "equations of motion: out of memory");
        return NULL;
    }
    *equations = (Equations){.motion = motions[pick.wide][1],
                             .motion_one = motions[pick.single][1],
                             .query = queries[pick.wide][0],
                             .query_one = queries[pick.single][0],
                             .lanes = pick.lanes,
                             .scratch_count = mf_context_threads(context)};
    if (mf_world_keep(world, kept_name, equations, destroy, error) == MF_OK)
        return equations;
    mf_release(context, equations);
    return NULL;
}

static void lay_out(Scratch *scratch, const mf_Tree *tree, double **memory) {
    const size_t links = tree->link_count, dofs = tree->dof_count;
    *scratch = (Scratch){.position = mf_take_rows(memory, 3 * links),
                         .rotation = mf_take_rows(memory, 4 * links),
                         .matrix = mf_take_rows(memory, 9 * links),
                         .velocity = mf_take_rows(memory, 6 * links),
                         .acceleration = mf_take_rows(memory, 6 * links),
                         .inertias = mf_take_rows(memory, 10 * links),
                         .wrenches = mf_take_rows(memory, 6 * links),
                         .twists = mf_take_rows(memory, 6 * dofs),
                         .in = mf_take_rows(memory, dofs),
                         .out = mf_take_rows(memory, 6 * dofs),
                         .entries = mf_take_rows(memory, tree->entry_count)};
}

static mf_Status make_group(mf_Context *context, uint32_t scratches, mf_Group *group,
                            GroupEquations *out, mf_Error *error) {
    mf_Tree *tree;
    MF_TRY(mf_group_make_tree(group, &tree, error));
    const size_t rows =
        44 * (size_t)tree->link_count + 13 * (size_t)tree->dof_count + tree->entry_count;
    *out = (GroupEquations){
        .group = group, .articulated = mf_articulated_config_of(group) != NULL, .tree = tree};
    double *memory;
    const mf_Array arrays[] = {MF_ARRAY(out->scratches, scratches),
                               MF_ARRAY(memory, scratches * rows * MF_BLOCK)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays)) {
        release_group(context, out);
        return mf_fail(error, MF_NO_MEMORY, "equations of motion: out of memory");
    }
    for (uint32_t r = 0; r < scratches; r++)
        lay_out(&out->scratches[r], tree, &memory);
    return MF_OK;
}

static mf_Status grow(mf_Context *context, Equations *equations, uint32_t count, mf_Error *error) {
    if (count <= equations->count)
        return MF_OK;
    GroupEquations *groups = mf_allocate(context, count, sizeof *groups);
    MF_NEED_MEMORY(groups != NULL, error, "equations of motion");
    if (equations->count > 0)
        memcpy(groups, equations->groups, equations->count * sizeof *groups);
    mf_release(context, equations->groups);
    equations->groups = groups;
    equations->count = count;
    return MF_OK;
}

// The entry of a group; made where there is none, and again where the motion was added after it.
static mf_Status find(mf_Group *group, const Equations **out, const GroupEquations **own,
                      mf_Error *error) {
    mf_World *world = mf_group_world(group);
    Equations *equations = mf_world_kept(world, kept_name);
    if (equations == NULL)
        equations = make(world, error);
    if (equations == NULL)
        return MF_NO_MEMORY;
    const uint32_t g = mf_world_group_number(world, group);
    mf_Context *context = mf_world_context(world);
    MF_TRY(grow(context, equations, mf_world_group_count(world), error));
    *out = equations;
    *own = &equations->groups[g];
    const bool articulated = mf_articulated_config_of(group) != NULL;
    if ((*own)->group != NULL && (*own)->articulated == articulated)
        return MF_OK;
    GroupEquations made;
    MF_TRY(make_group(context, equations->scratch_count, group, &made, error));
    release_group(context, &equations->groups[g]);
    equations->groups[g] = made;
    return MF_OK;
}

// ---- blocks -------------------------------------------------------------------------------------

typedef struct Batch {
    const Equations *equations;
    const GroupEquations *own;
    mf_TreeFields fields;
    uint32_t first, count;   // [1] instances
    uint32_t blocks, tasks;  // [1]
    bool kinematics;         // poses or velocities of links,
    mf_TreeTask task;        // else this
    bool accelerated;        // `in` are accelerations
    const double *in;        // [1] dof_count values per instance; NULL: zeros
    uint32_t link;           // of a Jacobian,
    const double *point;     // [m]
    double *out, *rotations; // results; of kinematics: velocities, or with rotations poses
} Batch;

// The lanes of a block that belong to the range.
typedef struct Lanes {
    uint32_t block, first, end; // [1]
    size_t instance;            // [1] of the first lane, counted from the first of the range
} Lanes;

static Lanes lanes_of(const Batch *batch, uint32_t block) {
    const uint32_t begin = block * MF_BLOCK, end = begin + MF_BLOCK,
                   last = batch->first + batch->count;
    Lanes lanes = {.block = block, .end = (last < end ? last : end) - begin};
    lanes.first = batch->first > begin ? batch->first - begin : 0;
    lanes.instance = begin + lanes.first - batch->first;
    return lanes;
}

static void load_in(const Batch *batch, const Lanes *lanes, double *rows) {
    const size_t count = batch->own->tree->dof_count;
    const double *from = batch->in + lanes->instance * count;
    for (uint32_t lane = lanes->first; lane < lanes->end; lane++, from += count)
        for (size_t c = 0; c < count; c++)
            rows[c * MF_BLOCK + lane] = from[c];
}

// out[instance][component] from rows [component][lane].
static void store_rows(const Lanes *lanes, const double *rows, size_t count, double *out) {
    out += lanes->instance * count;
    for (uint32_t lane = lanes->first; lane < lanes->end; lane++, out += count)
        for (size_t c = 0; c < count; c++)
            out[c] = rows[c * MF_BLOCK + lane];
}

static void store_mass(const Batch *batch, const Lanes *lanes, const double *entries) {
    const mf_Tree *tree = batch->own->tree;
    const mf_TreeDof *dofs = mf_tree_dofs(tree);
    const size_t n = tree->dof_count;
    double *out = batch->out + lanes->instance * n * n;
    for (uint32_t lane = lanes->first; lane < lanes->end; lane++, out += n * n) {
        memset(out, 0, n * n * sizeof *out);
        for (uint32_t d = 0; d < n; d++) {
            const double *entry = entries + (size_t)dofs[d].entries * MF_BLOCK + lane;
            for (uint32_t i = d; i != MF_NONE; i = dofs[i].parent, entry += MF_BLOCK)
                out[d * n + i] = out[i * n + d] = *entry;
        }
    }
}

static void store_jacobian(const Batch *batch, const Lanes *lanes, const double *rows) {
    const size_t n = batch->own->tree->dof_count;
    double *out = batch->out + lanes->instance * 6 * n;
    for (uint32_t lane = lanes->first; lane < lanes->end; lane++, out += 6 * n)
        for (size_t d = 0; d < n; d++)
            for (size_t i = 0; i < 6; i++)
                out[i * n + d] = rows[(6 * d + i) * MF_BLOCK + lane];
}

static void store(const Batch *batch, const Lanes *lanes, const Scratch *scratch) {
    const size_t links = batch->own->tree->link_count;
    if (batch->kinematics && batch->rotations == NULL) {
        store_rows(lanes, scratch->velocity, 6 * links, batch->out);
    } else if (batch->kinematics) {
        store_rows(lanes, scratch->position, 3 * links, batch->out);
        store_rows(lanes, scratch->rotation, 4 * links, batch->rotations);
    } else if (batch->task == MF_TREE_MASS) {
        store_mass(batch, lanes, scratch->entries);
    } else if (batch->task == MF_TREE_JACOBIAN) {
        store_jacobian(batch, lanes, scratch->out);
    } else {
        store_rows(lanes, scratch->out, batch->own->tree->dof_count, batch->out);
    }
}

static mf_TreeQuery query_of(const Batch *batch, const Scratch *scratch) {
    const mf_WorldConfig *world = mf_world_config_of(mf_group_world(batch->own->group));
    mf_TreeQuery query = {.tree = batch->own->tree,
                          .task = batch->task,
                          .link = batch->link,
                          .in = scratch->in,
                          .twists = scratch->twists,
                          .inertias = scratch->inertias,
                          .wrenches = scratch->wrenches,
                          .entries = scratch->entries,
                          .out = scratch->out};
    query.motion = (mf_TreeMotion){.position = scratch->position,
                                   .rotation = scratch->rotation,
                                   .matrix = scratch->matrix,
                                   .velocity = scratch->velocity,
                                   .position_rows = 3,
                                   .rotation_rows = 4,
                                   .matrix_rows = 9,
                                   .velocity_rows = 6,
                                   .in_world = batch->kinematics};
    if (batch->task == MF_TREE_INVERSE || batch->task == MF_TREE_FORWARD)
        query.motion.acceleration = scratch->acceleration;
    if (batch->accelerated)
        query.motion.change = scratch->in;
    for (int i = 0; i < 3; i++) {
        query.gravity[i] = world->gravity * world->gravity_direction[i];
        query.point[i] = batch->point != NULL ? batch->point[i] : 0.0;
    }
    return query;
}

static void run_block(const Batch *batch, uint32_t block, const Scratch *scratch) {
    const Equations *equations = batch->equations;
    const Lanes lanes = lanes_of(batch, block);
    const bool one = lanes.end - lanes.first == 1; // faster in a copy for one lane
    const uint32_t width = one ? 1 : equations->lanes, begin = lanes.first / width * width;
    const mf_TreeState state = mf_tree_state(&batch->fields, block);
    mf_TreeQuery query = query_of(batch, scratch);
    query.motion.first_lane = begin;
    query.motion.lane_count = (lanes.end - begin + width - 1) / width * width;
    if (batch->in != NULL)
        load_in(batch, &lanes, scratch->in);
    if (batch->kinematics)
        (one ? equations->motion_one : equations->motion)(query.tree, &state, &query.motion);
    else
        (one ? equations->query_one : equations->query)(&query, &state);
    store(batch, &lanes, scratch);
}

static void run_part(void *user, uint32_t task) {
    const Batch *batch = user;
    const uint64_t first = batch->first / MF_BLOCK, blocks = batch->blocks;
    const uint32_t end = (uint32_t)(first + blocks * (task + 1) / batch->tasks);
    for (uint32_t b = (uint32_t)(first + blocks * task / batch->tasks); b < end; b++)
        run_block(batch, b, &batch->own->scratches[task]);
}

// Fills what all functions have in common. MF_BAD_ARGUMENT, MF_NO_MEMORY, MF_LIMIT.
static mf_Status begin(Batch *batch, mf_Group *group, uint32_t first, uint32_t count,
                       const void *in, const void *out, mf_Error *error) {
    if (group == NULL || in == NULL || out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "equations of motion: group or array is NULL");
    if (first > mf_group_count(group) || count > mf_group_count(group) - first)
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: %u instances from %u on, it has %u",
                       mf_group_config_of(group)->name, count, first, mf_group_count(group));
    *batch = (Batch){.first = first, .count = count};
    batch->fields = mf_tree_fields(group);
    return find(group, &batch->equations, &batch->own, error);
}

static mf_Status finish(Batch *batch) {
    mf_Context *context = mf_world_context(mf_group_world(batch->own->group));
    if (batch->count == 0)
        return MF_OK;
    batch->blocks = (batch->first + batch->count - 1) / MF_BLOCK - batch->first / MF_BLOCK + 1;
    batch->tasks = batch->equations->scratch_count;
    if (batch->tasks > batch->blocks)
        batch->tasks = batch->blocks;
    mf_parallel_for(context, batch->tasks, run_part, batch);
    return MF_OK;
}

// ---- functions --------------------------------------------------------------------------------

static bool is_free(const mf_Group *group) {
    const mf_ArticulatedConfig *config = mf_articulated_config_of(group);
    if (config != NULL && config->base != MF_ARTICULATED_AS_MODEL)
        return config->base == MF_ARTICULATED_FREE;
    return mf_group_model(group)->base == MF_BASE_FREE;
}

uint32_t mf_group_velocity_count(const mf_Group *group) {
    if (group == NULL)
        return 0;
    const mf_Model *model = mf_group_model(group);
    return mf_tree_velocity_address(model, is_free(group), model->joint_count);
}

uint32_t mf_group_velocity_address(const mf_Group *group, uint32_t joint) {
    if (group == NULL || joint >= mf_group_model(group)->joint_count)
        return MF_NONE;
    const mf_Model *model = mf_group_model(group);
    const mf_JointType type = model->joints[joint].type;
    if (type == MF_JOINT_FIXED || type == MF_JOINT_PLANAR)
        return MF_NONE;
    return mf_tree_velocity_address(model, is_free(group), joint);
}

// A question that `takes` a vector per instance, and its answers.
static mf_Status answer(mf_Group *group, uint32_t first, uint32_t count, mf_TreeTask task,
                        bool takes, const double *in, double *out, mf_Error *error) {
    Batch batch;
    MF_TRY(begin(&batch, group, first, count, takes ? in : out, out, error));
    batch.task = task;
    batch.accelerated = takes && task == MF_TREE_INVERSE;
    batch.in = in;
    batch.out = out;
    return finish(&batch);
}

mf_Status mf_group_mass_matrix(mf_Group *group, uint32_t first, uint32_t count, double *matrix,
                               mf_Error *error) {
    return answer(group, first, count, MF_TREE_MASS, false, NULL, matrix, error);
}

mf_Status mf_group_bias(mf_Group *group, uint32_t first, uint32_t count, double *force,
                        mf_Error *error) {
    return answer(group, first, count, MF_TREE_INVERSE, false, NULL, force, error);
}

mf_Status mf_group_inverse_dynamics(mf_Group *group, uint32_t first, uint32_t count,
                                    const double *acceleration, double *force, mf_Error *error) {
    return answer(group, first, count, MF_TREE_INVERSE, true, acceleration, force, error);
}

mf_Status mf_group_forward_dynamics(mf_Group *group, uint32_t first, uint32_t count,
                                    const double *force, double *acceleration, mf_Error *error) {
    return answer(group, first, count, MF_TREE_FORWARD, true, force, acceleration, error);
}

mf_Status mf_group_jacobian(mf_Group *group, uint32_t first, uint32_t count, uint32_t link,
                            const double point[3], double *matrix, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Batch batch;
    MF_TRY(begin(&batch, group, first, count, point, matrix, error));
    if (link >= mf_group_model(group)->link_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: its model has no link %u",
                       mf_group_config_of(group)->name, link);
    batch.task = MF_TREE_JACOBIAN;
    batch.link = link;
    batch.point = point;
    batch.out = matrix;
    return finish(&batch);
}

mf_Status mf_group_link_poses(mf_Group *group, uint32_t first, uint32_t count, double *position,
                              double *rotation, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Batch batch;
    MF_TRY(begin(&batch, group, first, count, position, rotation, error));
    batch.kinematics = true;
    batch.out = position;
    batch.rotations = rotation;
    return finish(&batch);
}

mf_Status mf_group_link_velocities(mf_Group *group, uint32_t first, uint32_t count,
                                   double *velocity, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    Batch batch;
    MF_TRY(begin(&batch, group, first, count, velocity, velocity, error));
    batch.kinematics = true;
    batch.out = velocity;
    return finish(&batch);
}
