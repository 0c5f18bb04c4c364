#include "timeline.h"

#include <string.h>

#define CAPACITY 64u // [1] acts at first

uint32_t mf_act_field(const mf_Group *group, const char *name) {
    for (uint32_t f = 0; f < mf_group_field_count(group); f++)
        if (strcmp(mf_group_field((mf_Group *)(uintptr_t)group, f)->info.name, name) == 0)
            return f;
    return MF_NONE;
}

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

mf_Timeline mf_timeline_begin(mf_Context *context) {
    return (mf_Timeline){.context = context};
}

void mf_timeline_free(mf_Timeline *timeline) {
    mf_release(timeline->context, timeline->acts);
    mf_release(timeline->context, timeline->kept);
    *timeline = mf_timeline_begin(timeline->context);
}

static bool reserve(mf_Timeline *timeline, uint32_t count) {
    if (count <= timeline->capacity)
        return true;
    uint32_t capacity = timeline->capacity > 0 ? timeline->capacity : CAPACITY;
    while (capacity < count)
        capacity *= 2;
    mf_Act *acts = capacity <= MF_TIMELINE_MOST
                       ? mf_allocate(timeline->context, capacity, sizeof *acts)
                       : NULL;
    if (acts == NULL)
        return false;
    if (timeline->count > 0)
        memcpy(acts, timeline->acts, timeline->count * sizeof *acts);
    mf_release(timeline->context, timeline->acts);
    timeline->acts = acts;
    timeline->capacity = capacity;
    return true;
}

bool mf_timeline_add(mf_Timeline *timeline, const mf_Act *act) {
    timeline->count = timeline->next;
    if (!reserve(timeline, timeline->count + 1))
        return false;
    timeline->acts[timeline->count++] = *act;
    timeline->next = timeline->count;
    return true;
}

uint32_t mf_timeline_before(const mf_Timeline *timeline, uint64_t step) {
    uint32_t count = timeline->count;
    while (count > 0 && timeline->acts[count - 1].step >= step)
        count--;
    return count;
}

bool mf_timeline_keep(mf_Timeline *timeline, uint64_t step) {
    mf_Act *kept = mf_allocate(timeline->context, timeline->next + 1u, sizeof *kept);
    if (kept == NULL)
        return false;
    if (timeline->next > 0)
        memcpy(kept, timeline->acts, timeline->next * sizeof *kept);
    mf_release(timeline->context, timeline->kept);
    timeline->kept = kept;
    timeline->kept_count = timeline->next;
    timeline->kept_step = step;
    timeline->has_kept = true;
    return true;
}

bool mf_timeline_return(mf_Timeline *timeline) {
    if (!timeline->has_kept || !reserve(timeline, timeline->kept_count))
        return false;
    if (timeline->kept_count > 0)
        memcpy(timeline->acts, timeline->kept, timeline->kept_count * sizeof *timeline->kept);
    timeline->count = timeline->next = timeline->kept_count;
    return true;
}
