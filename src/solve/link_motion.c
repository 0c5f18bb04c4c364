// Motions of links (link_motion.h). Rows per link: position, orientation, velocity, rate.
#include "solve/link_motion.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "motion/articulated/host.h"

enum { POSITION = 0, ORIENTATION = 3, VELOCITY = 7, RATE = 10, ROWS = 13 };

mf_Status mf_group_make_tree(mf_Group *group, mf_Tree **out, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    const mf_Model *model = mf_group_model(group);
    bool free = model->base == MF_BASE_FREE;
    double *armature = mf_allocate(
        context, mf_tree_velocity_address(model, true, model->joint_count), sizeof *armature);
    if (armature == NULL)
        return mf_fail(error, MF_NO_MEMORY, "group %s: no memory for its tree",
                       mf_group_config_of(group)->name);
    const bool known = mf_art_armature(group, &free, armature);
    const mf_Status status =
        mf_tree_create(context, model, MF_TREE_FIELDS, free, known ? armature : NULL, out, error);
    mf_release(context, armature);
    return status;
}

mf_Status mf_link_motions_create(mf_LinkMotions *out, mf_Group *group, mf_Error *error) {
    static const mf_TreeMotionFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_tree_motion);
    mf_World *world = mf_group_world(group);
    const mf_Model *model = mf_group_model(group);
    const mf_KernelPick pick = mf_kernel_pick(mf_world_isa(world), true);
    *out = (mf_LinkMotions){
        .fields = mf_tree_fields(group), .lanes = pick.lanes, .kernel = table[pick.wide][1]};
    return mf_tree_create(mf_world_context(world), model, MF_TREE_FIELDS,
                          model->base == MF_BASE_FREE, NULL, &out->tree, error);
}

void mf_link_motions_release(mf_Context *context, mf_LinkMotions *motions) {
    mf_release(context, motions->tree);
    motions->tree = NULL;
}

size_t mf_link_motions_size(const mf_LinkMotions *motions) {
    return (size_t)motions->tree->link_count * ROWS * MF_BLOCK;
}

void mf_link_motions_find(const mf_LinkMotions *motions, uint32_t block,
                          const mf_LinkChoice *choice, double *values) {
    const uint32_t first = choice->first / motions->lanes * motions->lanes;
    const uint32_t lane_groups = (choice->end - first + motions->lanes - 1) / motions->lanes;
    const mf_TreeState state = mf_tree_state(&motions->fields, block);
    const mf_TreeMotion motion = {.position = values + POSITION * MF_BLOCK,
                                  .rotation = values + ORIENTATION * MF_BLOCK,
                                  .velocity = values + VELOCITY * MF_BLOCK,
                                  .position_rows = ROWS,
                                  .rotation_rows = ROWS,
                                  .velocity_rows = ROWS,
                                  .links = choice->links,
                                  .link_count = choice->count,
                                  .first_lane = first,
                                  .lane_count = lane_groups * motions->lanes,
                                  .in_world = true};
    motions->kernel(motions->tree, &state, &motion);
}

void mf_link_motion(mf_LinkMotion *out, const double *values, uint32_t lane, uint32_t link,
                    bool still) {
    const double *own = values + (size_t)link * ROWS * MF_BLOCK + lane;
    *out = mf_link_motion_world();
    for (uint32_t c = 0; c < 4; c++)
        out->orientation[c] = own[(ORIENTATION + c) * MF_BLOCK];
    for (uint32_t c = 0; c < 3; c++) {
        out->position[c] = own[(POSITION + c) * MF_BLOCK];
        out->velocity[c] = still ? 0.0 : own[(VELOCITY + c) * MF_BLOCK];
        out->rate[c] = still ? 0.0 : own[(RATE + c) * MF_BLOCK];
    }
}

void mf_link_motion_read(mf_LinkMotion *out, const mf_LinkMotions *motions, uint32_t instance,
                         uint32_t link, double *values) {
    const uint32_t lane = instance % MF_BLOCK;
    const mf_LinkChoice choice = {.first = lane, .end = lane + 1};
    mf_link_motions_find(motions, instance / MF_BLOCK, &choice, values);
    mf_link_motion(out, values, lane, link, false);
}

mf_LinkMotion mf_link_motion_world(void) {
    return (mf_LinkMotion){.orientation = {1.0, 0.0, 0.0, 0.0}};
}

void mf_link_point(const mf_LinkMotion *motion, const double point[3], double position[3],
                   double velocity[3]) {
    double arm[3], swing[3];
    mf_quat_rotate(arm, motion->orientation, point);
    if (position != NULL)
        mf_vec3_add(position, motion->position, arm);
    if (velocity != NULL) {
        mf_vec3_cross(swing, motion->rate, arm);
        mf_vec3_add(velocity, motion->velocity, swing);
    }
}
