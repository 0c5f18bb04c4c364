#include "act.h"

static const char *set_refused(mf_World *world, const mf_Push *push, const mf_Act *act) {
    mf_Group *group = mf_world_group(world, act->group);
    const mf_Field *field =
        act->field < mf_group_field_count(group) ? mf_group_field(group, act->field) : NULL;
    if (field == NULL || act->part >= field->components)
        return "the robot has no such field";
    if ((field->info.flags & MF_FIELD_INPUT) == 0)
        return "this field is not an input";
    if (mf_group_writer(group, field->info.name, 0) != NULL)
        return "a system of the scene writes this field";
    if (push != NULL && mf_push_writes(push, group, act->robot, field))
        return "the robot is pulled: let go of it first";
    return NULL;
}

const char *mf_act_refused(mf_World *world, const mf_Push *push, const mf_Act *act) {
    if (act->kind == MF_ACT_RELEASE)
        return NULL;
    if (act->group >= mf_world_group_count(world) ||
        act->robot >= mf_group_count(mf_world_group(world, act->group)))
        return "there is no such robot";
    if (act->kind == MF_ACT_PUSH)
        return mf_push_refuses(mf_world_group(world, act->group), act->robot, act->part);
    if (act->kind == MF_ACT_SET)
        return set_refused(world, push, act);
    return mf_motion_in(mf_world_group(world, act->group), (mf_Motion)act->part)
               ? NULL
               : "this robot cannot move at this level";
}
