// Data of a world for queries: a compound per group, and memory for the poses of two instances, so
// that queries do not allocate.
#include "base/memory.h"
#include "solve/query.h"
#include "math/scalar.h"
#include "multibody/numbers.h"
#include "world/attach.h"
#include "world/systems.h"

#include <mayfly/dynamics.h>

#include <math.h>
#include <string.h>

static const char kept_name[] = "queries";

// ---- creation -----------------------------------------------------------------------------------

static void release_group(mf_Context *context, mf_QueryGroup *group) {
    mf_compound_destroy(group->compound);
    for (int i = 0; i < 2; i++) {
        mf_release(context, group->pose[i].position);
    }
    *group = (mf_QueryGroup){0};
}

static void destroy_query(mf_Context *context, void *user) {
    mf_Query *query = user;
    for (uint32_t g = 0; g < query->count; g++)
        release_group(context, &query->groups[g]);
    mf_release(context, query->groups);
    mf_release(context, query);
}

// Planes are unbounded, and meshes without a hull are in no compound.
static double find_reach(const mf_QueryGroup *group) {
    double reach = group->compound->root != MF_NONE ? group->compound->reach : -1.0;
    for (uint32_t i = 0; i < group->model->shape_count; i++) {
        const mf_Shape *shape = &group->model->shapes[i];
        const bool moves = shape->link != MF_NONE || group->model->base == MF_BASE_FIXED;
        const bool bare = shape->type == MF_SHAPE_MESH &&
                          group->model->meshes[shape->mesh].hull_vertex_count == 0;
        if (shape->collides && moves && (shape->type == MF_SHAPE_PLANE || bare))
            reach = (double)INFINITY;
    }
    return reach;
}

static mf_Status make_group(mf_Context *context, mf_Group *own, mf_QueryGroup *group,
                            mf_Error *error) {
    const mf_Model *model = mf_group_model(own);
    *group = (mf_QueryGroup){.group = own,
                             .model = model,
                             .position = mf_group_find_field(own, "base.position"),
                             .fault = mf_group_find_field(own, "fault.word")};
    MF_TRY(mf_compound_create(context, model, false, &group->compound, error));
    for (int i = 0; i < 2; i++) {
        mf_QueryPose *pose = &group->pose[i];
        const size_t solids = group->compound->solid_count + 1;
        const mf_Array arrays[] = {MF_ARRAY(pose->position, model->link_count),
                                   MF_ARRAY(pose->rotation, model->link_count),
                                   MF_ARRAY(pose->solids, solids),
                                   MF_ARRAY(pose->values, solids * MF_COLLIDE_SHAPE_VALUES)};
        if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
            return mf_fail(error, MF_NO_MEMORY, "queries: out of memory");
    }
    group->reach = find_reach(group);
    return mf_group_link_poses(own, 0, 0, group->pose[0].position[0], group->pose[0].rotation[0],
                               error);
}

static mf_Status grow(mf_Query *query, uint32_t count, mf_Error *error) {
    if (count <= query->capacity)
        return MF_OK;
    mf_QueryGroup *groups = mf_allocate(query->context, count, sizeof *groups);
    MF_NEED_MEMORY(groups != NULL, error, "queries");
    if (query->count > 0)
        memcpy(groups, query->groups, query->count * sizeof *groups);
    mf_release(query->context, query->groups);
    query->groups = groups;
    query->capacity = count;
    return MF_OK;
}

mf_Status mf_query_of(mf_World *world, mf_Query **out, mf_Error *error) {
    mf_Context *context = mf_world_context(world);
    mf_Query *query = mf_world_kept(world, kept_name);
    mf_Status status = MF_OK;
    if (query == NULL) {
        MF_TRY(MF_ALLOCATE(context, "queries", error, MF_ARRAY(query, 1)));
        query->context = context;
        query->world = world;
        status = mf_world_keep(world, kept_name, query, destroy_query, error);
        if (status != MF_OK) {
            mf_release(context, query);
            return status;
        }
    }
    MF_TRY(grow(query, mf_world_group_count(world), error));
    while (status == MF_OK && query->count < mf_world_group_count(world)) {
        mf_QueryGroup *group = &query->groups[query->count];
        status = make_group(context, mf_world_group(world, query->count), group, error);
        if (status == MF_OK)
            query->count++;
        else
            release_group(context, group);
    }
    *out = query;
    return status;
}

uint32_t mf_query_number(const mf_Query *query, const mf_Group *group) {
    const uint32_t g = mf_world_group_number(query->world, group);
    return g < query->count ? g : MF_NONE;
}

// ---- poses --------------------------------------------------------------------------------------

bool mf_query_present(const mf_QueryGroup *group, uint32_t instance, double base[3]) {
    double position[3];
    mf_field_read(group->position, instance, 0, 3, position);
    if (base != NULL)
        mf_vec3_copy(base, position);
    return ((const uint32_t *)group->fault->data)[instance] == 0 && mf_all_finite(position, 3);
}

void mf_query_links(mf_QueryGroup *group, uint32_t instance, mf_QueryPose *pose) {
    // Prepared when the group was first seen, so it cannot fail.
    mf_group_link_poses(group->group, instance, 1, pose->position[0], pose->rotation[0], NULL);
}

void mf_query_solids(mf_QueryGroup *group, uint32_t instance, mf_QueryPose *pose) {
    const mf_Compound *compound = group->compound;
    const bool differs = mf_group_numbers(group->group) != NULL;
    const double *values = differs ? pose->values : compound->values_f64;
    mf_query_links(group, instance, pose);
    for (uint32_t s = 0; s < compound->solid_count; s++) {
        const mf_CompoundSolid *from = &compound->solids[s];
        const double *own = values + (size_t)s * MF_COLLIDE_SHAPE_VALUES;
        mf_GapSolid *to = &pose->solids[s];
        double rotation[9];
        *to = (mf_GapSolid){.kind = from->kind, .values = own};
        if (from->kind == MF_COLLIDE_HULL)
            to->hull = mf_hull_of(compound->hulls, from->hull);
        if (differs) {
            const mf_Shape shape = mf_own_shape(group->group, instance, from->shape);
            mf_collide_pose(&shape, shape.position, shape.rotation, to->hull,
                            pose->values + (size_t)s * MF_COLLIDE_SHAPE_VALUES);
        }
        mf_quat_to_matrix(rotation, pose->rotation[from->link]);
        mf_mat3_multiply(to->rotation, rotation, own + MF_COLLIDE_ROTATION);
        mf_mat3_apply(to->position, rotation, own + MF_COLLIDE_POSITION);
        mf_vec3_add(to->position, to->position, pose->position[from->link]);
    }
}
