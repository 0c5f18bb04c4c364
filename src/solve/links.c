// The derived fields link.pose and link.velocity: one system runs the forward kinematics of the
// tree at the end of a step whose result somebody can see.
//
// Invariant: they follow from the state, and from nothing else.
#include "base/floats.h"
#include "base/memory.h"
#include "math/kernel_table.h"
#include "multibody/tree.h"
#include "world/attach.h"
#include "world/systems.h"
#include "world/world_state.h"

#include <mayfly/links.h>

#include <string.h>

enum { POSE = 7, VELOCITY = 6 }; // [1] values per link

typedef struct Links {
    mf_Tree *tree;
    mf_TreeFields fields;
    mf_Field *pose, *velocity;
    mf_TreeMotionFn wide, one;
} Links;

static const char system_name[] = "links";

static const char *const reads[] = {MF_TREE_FIELD_NAMES, NULL};
static const char *const writes[] = {"link.pose", "link.velocity", NULL};

static void *row_of(const mf_Field *field, uint32_t block, uint32_t component) {
    const size_t row = (size_t)block * field->components + component;
    return (char *)field->data + row * MF_BLOCK * mf_field_value_size(field->info.type);
}

static void derive(const Links *links, mf_TreeMotionFn kernel, uint32_t block, uint32_t lane,
                   uint32_t count) {
    const mf_TreeState state = mf_tree_state(&links->fields, block);
    const mf_TreeMotion motion = {.position = row_of(links->pose, block, 0),
                                  .rotation = row_of(links->pose, block, 3),
                                  .velocity = row_of(links->velocity, block, 0),
                                  .position_rows = POSE,
                                  .rotation_rows = POSE,
                                  .velocity_rows = VELOCITY,
                                  .first_lane = lane,
                                  .lane_count = count,
                                  .in_world = true};
    kernel(links->tree, &state, &motion);
}

static void run(const mf_SystemRun *step, void *user) {
    const Links *links = user;
    for (uint32_t b = 0; b < step->block_count; b++)
        derive(links, links->wide, step->first_block + b, 0, MF_BLOCK);
}

static void derive_one(mf_Group *group, uint32_t instance, void *user) {
    const Links *links = user;
    (void)group;
    derive(links, links->one, instance / MF_BLOCK, instance % MF_BLOCK, 1);
}

static void derive_all(mf_Group *group, void *user) {
    const Links *links = user;
    for (uint32_t b = 0; b < mf_group_block_count(group); b++)
        derive(links, links->wide, b, 0, MF_BLOCK);
}

static void destroy(mf_Context *context, void *user) {
    Links *links = user;
    mf_release(context, links->tree);
    mf_release(context, links);
}

static mf_Status add_fields(mf_Group *group, Links *links, mf_Error *error) {
    const uint32_t count = mf_group_model(group)->link_count;
    const mf_FieldInfo pose = MF_FIELD_INFO(
        "link.pose", "1", "world", MF_REAL, MF_FIXED_COUNT, POSE, MF_FIELD_OUTPUT,
        "per link: origin [m], then rotation link to world, unit quaternion (w, x, y, z)");
    const mf_FieldInfo velocity = {
        "link.velocity", "1",
        "world",         MF_REAL,
        MF_FIXED_COUNT,  VELOCITY,
        MF_FIELD_OUTPUT, "per link: velocity of its origin [m/s], then angular velocity [rad/s]"};
    MF_TRY(mf_attach_field(group, &pose, count, &links->pose, error));
    return mf_attach_field(group, &velocity, count, &links->velocity, error);
}

static mf_Status add_system(mf_Group *group, Links *links, mf_Error *error) {
    mf_SystemConfig system = mf_attach_system(system_name, MF_PHASE_AFTER, run, links);
    system.reset = system.refresh = derive_one;
    system.destroy = destroy;
    system.reads = reads;
    system.writes = writes;
    return mf_group_add_system(group, &system, error);
}

// NULL: the group has no such system.
static Links *find_links(const mf_Group *group) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->run == run)
            return system->user;
    }
    return NULL;
}

mf_Status mf_group_derive_links(mf_Group *group, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const mf_TreeMotionFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_tree_motion);
    MF_NEED(group != NULL, error, "links: group is NULL");
    if (find_links(group) != NULL)
        return MF_OK;
    mf_Context *context = mf_world_context(mf_group_world(group));
    const mf_Isa isa = mf_world_isa(mf_group_world(group));
    const bool precise = mf_group_config_of(group)->double_precision;
    Links *links;
    MF_TRY(MF_ALLOCATE(context, "links", error, MF_ARRAY(links, 1)));
    *links = (Links){.fields = mf_tree_fields(group),
                     .wide = table[mf_kernel_row(isa)][precise],
                     .one = table[mf_kernel_row_single(isa)][precise]};
    mf_Status status = mf_tree_create(context, mf_group_model(group), MF_TREE_FIELDS, true, NULL,
                                      &links->tree, error);
    MF_THEN(status, add_fields(group, links, error));
    MF_THEN(status, add_system(group, links, error));
    if (status != MF_OK) {
        destroy(context, links);
        return status;
    }
    mf_attach_derived(group, system_name);
    mf_group_on_restore(group, derive_all, links);
    derive_all(group, links);
    return MF_OK;
}
