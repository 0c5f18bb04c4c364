// Responses by the mass matrix (free_response.h): the tree's kernel computes it for a block of
// robots, its factors L^T D L (Featherstone, Rigid Body Dynamics Algorithms, 2008, section 6.5) are
// found here, of all degrees of freedom or of the base alone, whose matrix is that of the whole
// robot with its joints at rest.
//
// Invariant: what is kept of a robot follows from its own state. A step allocates nothing.
#include "solve/free_response.h"
#include "base/memory.h"
#include "solve/link_motion.h"
#include "math/kernel_table.h"
#include "motion/dispatch.h"
#include "math/scalar.h"

#include <mayfly/motion.h>

#include <string.h>

enum { BASE = 6 }; // [1] degrees of freedom of a free base

static const double least_pivot = 1e-9; // [1] of a diagonal element: links without inertia

// ---- creation -----------------------------------------------------------------------------------

// [byte] Rows of the kernel's working memory: motions, matrices, inertias; twists; entries.
static size_t scratch_size(const mf_Tree *tree) {
    const size_t rows = (size_t)(3 + 4 + 9 + 6 + 10) * tree->link_count +
                        (size_t)6 * tree->dof_count + tree->entry_count;
    return rows * MF_BLOCK * sizeof(double);
}

mf_Status mf_free_response_create(mf_Group *group, mf_FreeResponse **out, mf_Error *error) {
    static const mf_TreeQueryFn queries[MF_KERNEL_ROWS][1] = MF_KERNEL_TABLE_DOUBLE(mf_tree_query);
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    const mf_KernelPick pick = mf_kernel_pick(mf_world_isa(world), true);
    const size_t count = mf_group_count(group);
    mf_FreeResponse *free = *out = mf_allocate(context, 1, sizeof *free);
    MF_NEED_MEMORY(free != NULL, error, "solver");
    *free = (mf_FreeResponse){.group = group,
                              .fields = mf_tree_fields(group),
                              .kernel = queries[pick.wide][0],
                              .lanes = pick.lanes};
    mf_free_response_note_motions(free);
    mf_Status status = mf_group_make_tree(group, &free->tree, error);
    MF_THEN(status, mf_world_scratch(world, scratch_size(free->tree), &free->scratch, error));
    if (status == MF_OK) {
        const size_t dofs = free->tree->dof_count, entries = free->tree->entry_count;
        status = MF_ALLOCATE(context, "solver", error, MF_ARRAY(free->twists, count * dofs * 6 + 1),
                             MF_ARRAY(free->factors, count * entries + 1));
    }
    if (status != MF_OK) {
        mf_free_response_destroy(context, free);
        *out = NULL;
    }
    return status;
}

void mf_free_response_destroy(mf_Context *context, mf_FreeResponse *free) {
    if (free == NULL)
        return;
    mf_release(context, free->tree);
    mf_release(context, free->twists);
    mf_release(context, free->factors);
    mf_release(context, free);
}

// ---- factors ------------------------------------------------------------------------------------

void mf_free_response_note_motions(mf_FreeResponse *free) {
    free->level = mf_group_find_field(free->group, "motion.level");
    free->motion = free->level == NULL ? mf_motion_of(free->group, 0) : MF_MOTION_COUNT;
}

uint32_t mf_free_response_dofs(const mf_FreeResponse *free, uint32_t instance) {
    const mf_Motion motion = free->level != NULL
                                 ? (mf_Motion)((const uint32_t *)free->level->data)[instance]
                                 : free->motion;
    if (motion == MF_MOTION_ARTICULATED)
        return free->tree->dof_count;
    return free->tree->free ? BASE : 0;
}

static double *factors_of(const mf_FreeResponse *free, uint32_t instance) {
    return free->factors + (size_t)instance * free->tree->entry_count;
}

static double *twists_of(const mf_FreeResponse *free, uint32_t instance) {
    return free->twists + (size_t)instance * 6 * free->tree->dof_count;
}

// M = L^T D L in place: 1 / D where an entry is of a degree of freedom with itself, L elsewhere.
static void factorize(const mf_TreeDof *dofs, uint32_t count, double *entries) {
    for (uint32_t k = 0; k < count; k++) // a link without inertia
        if (!(entries[dofs[k].entries] > 0.0))
            entries[dofs[k].entries] = 1e-12;
    for (uint32_t k = count; k-- > 0;) {
        double *own = entries + dofs[k].entries;
        const double inverse = 1.0 / own[0];
        uint32_t c = 1;
        for (uint32_t i = dofs[k].parent; i != MF_NONE; i = dofs[i].parent, c++) {
            const double part = own[c] * inverse;
            double *to = entries + dofs[i].entries;
            const double least = least_pivot * to[0];
            uint32_t from = c;
            for (uint32_t j = i; j != MF_NONE; j = dofs[j].parent)
                *to++ -= part * own[from++];
            to = entries + dofs[i].entries;
            to[0] = to[0] > least ? to[0] : least;
        }
        own[0] = inverse;
        for (uint32_t i = 1; i < c; i++)
            own[i] *= inverse;
    }
}

static void copy_lane(const double *rows, uint32_t lane, size_t count, double *out) {
    for (size_t c = 0; c < count; c++)
        out[c] = rows[c * MF_BLOCK + lane];
}

void mf_free_response_prepare(const mf_FreeResponse *free, uint32_t block,
                              const uint32_t *instances, uint32_t count) {
    const mf_Tree *tree = free->tree;
    const mf_TreeState state = mf_tree_state(&free->fields, block);
    const uint32_t first = instances[0] % MF_BLOCK / free->lanes * free->lanes;
    const uint32_t lane_groups =
        (instances[count - 1] % MF_BLOCK + 1 - first + free->lanes - 1) / free->lanes;
    void *scratch = mf_scratch_borrow(free->scratch);
    double *memory = scratch;
    const size_t links = tree->link_count;
    mf_TreeQuery query = {.tree = tree, .task = MF_TREE_MASS};
    query.motion = (mf_TreeMotion){.position = mf_take_rows(&memory, 3 * links),
                                   .rotation = mf_take_rows(&memory, 4 * links),
                                   .matrix = mf_take_rows(&memory, 9 * links),
                                   .velocity = mf_take_rows(&memory, 6 * links),
                                   .position_rows = 3,
                                   .rotation_rows = 4,
                                   .matrix_rows = 9,
                                   .velocity_rows = 6,
                                   .first_lane = first,
                                   .lane_count = lane_groups * free->lanes};
    query.inertias = mf_take_rows(&memory, 10 * links);
    query.twists = mf_take_rows(&memory, (size_t)6 * tree->dof_count);
    query.entries = mf_take_rows(&memory, tree->entry_count);
    free->kernel(&query, &state);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t lane = instances[i] % MF_BLOCK;
        double *factors = factors_of(free, instances[i]);
        copy_lane(query.twists, lane, (size_t)6 * tree->dof_count, twists_of(free, instances[i]));
        copy_lane(query.entries, lane, tree->entry_count, factors);
        factorize(mf_tree_dofs(tree), mf_free_response_dofs(free, instances[i]), factors);
    }
    mf_scratch_return(free->scratch, scratch);
}

// ---- rows ---------------------------------------------------------------------------------------

// x = M^-1 x
static void solve(const mf_TreeDof *dofs, uint32_t count, const double *factors, double *x) {
    for (uint32_t d = count; d-- > 0;) {
        const double own = x[d], *entry = factors + dofs[d].entries + 1;
        for (uint32_t i = dofs[d].parent; i != MF_NONE && own != 0.0; i = dofs[i].parent)
            x[i] -= *entry++ * own;
    }
    for (uint32_t d = 0; d < count; d++) {
        const double *entry = factors + dofs[d].entries;
        double sum = x[d] * *entry++;
        for (uint32_t i = dofs[d].parent; i != MF_NONE; i = dofs[i].parent)
            sum -= *entry++ * x[i];
        x[d] = sum;
    }
}

void mf_free_response_row(const mf_FreeResponse *free, uint32_t instance, uint32_t link,
                          const double point[3], const double row[6], double *jacobian,
                          double *response) {
    const mf_Tree *tree = free->tree;
    const mf_TreeDof *dofs = mf_tree_dofs(tree);
    const mf_TreeLink *links = mf_tree_links(tree);
    const uint32_t count = mf_free_response_dofs(free, instance);
    double arm[3], turning[3];
    for (uint32_t c = 0; c < 3; c++)
        arm[c] = point[c] - mf_field_get(free->fields.position, instance, c);
    mf_vec3_cross(turning, arm, row); // row (w x p) = w (p x row)
    mf_vec3_add(turning, turning, row + 3);
    memset(jacobian, 0, count * sizeof *jacobian);
    while (link != MF_NONE && links[link].dofs == 0)
        link = links[link].parent;
    uint32_t d = link == MF_NONE ? MF_NONE : links[link].velocity + links[link].dofs - 1;
    for (; d != MF_NONE; d = dofs[d].parent) {
        const double *twist = twists_of(free, instance) + (size_t)6 * d;
        if (d < count)
            jacobian[d] = mf_vec3_dot(twist, turning) + mf_vec3_dot(twist + 3, row);
    }
    memcpy(response, jacobian, count * sizeof *response);
    solve(dofs, count, factors_of(free, instance), response);
}
