// The motion table and what all rows have in common.
#include "motion/table.h"
#include "world/attach.h"
#include "world/systems.h"

#include <string.h>

#define ROW(value, name) [MF_MOTION_##value] = &mf_##name##_row,
static const mf_MotionRow *const rows[MF_MOTION_COUNT] = {MF_MOTION_LIST(ROW)};
#undef ROW

const mf_MotionRow *mf_motion_row(mf_Motion motion) {
    return (unsigned)motion < MF_MOTION_COUNT ? rows[motion] : NULL;
}

bool mf_motion_responds(mf_Motion motion) {
    const mf_MotionRow *row = mf_motion_row(motion);
    return row == NULL || row->dynamic;
}

bool mf_motion_has_shapes(mf_Motion motion) {
    const mf_MotionRow *row = mf_motion_row(motion);
    return row == NULL || !row->level || row->common.shapes != 0;
}

bool mf_motion_has_particles(mf_Motion motion) {
    const mf_MotionRow *row = mf_motion_row(motion);
    return row != NULL && row->look.kind == MF_VISUAL_POINTS;
}

uint32_t mf_motion_key_count(void) {
    uint32_t count = 0;
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        count += rows[i]->key_count;
    return count;
}

const mf_Key *mf_motion_key(uint32_t index) {
    for (int i = 0; i < MF_MOTION_COUNT; i++) {
        if (index < rows[i]->key_count)
            return &rows[i]->keys[index];
        index -= rows[i]->key_count;
    }
    return NULL;
}

static mf_Status add_system(mf_Group *group, const mf_MotionRow *row, void *plan, mf_Error *error) {
    mf_WarningFields warnings; // of what any motion can do wrong (world/inspect.c)
    MF_TRY(mf_attach_warnings(group, &warnings, error));
    mf_SystemConfig system = mf_attach_system(row->name, MF_PHASE_MOTION, row->run, plan);
    system.reset = row->reset;
    system.refresh = row->refresh;
    system.destroy = row->destroy;
    system.reads = row->reads;
    system.writes = row->writes;
    system.any_gravity = row->any_gravity;
    system.settings_hash = row->hash(plan);
    return mf_group_add_system(group, &system, error);
}

mf_Status mf_motion_join(mf_Group *group, const mf_MotionRow *row, const mf_MotionsConfig *config,
                         mf_Error *error) {
    MF_NEED(group != NULL, error, "mf_%s_add: group is NULL", row->name);
    MF_NEED(mf_motion_plan(group, row) == NULL, error, "%s: the group already has the motion %s",
            row->name, row->name);
    mf_Context *context = mf_world_context(mf_group_world(group));
    void *plan = NULL;
    if (row->plan_size > 0 && (plan = mf_allocate(context, 1, row->plan_size)) == NULL)
        return mf_fail(error, MF_NO_MEMORY, "%s: out of memory", row->name);
    mf_Status status = row->make(group, config, &plan, error);
    MF_THEN(status, add_system(group, row, plan, error));
    if (status != MF_OK) {
        if (plan != NULL)
            row->destroy(context, plan);
        return status;
    }
    return row->begin != NULL ? row->begin(group, config, plan, error) : MF_OK;
}

void *mf_motion_plan(const mf_Group *group, const mf_MotionRow *row) {
    for (uint32_t i = 0; group != NULL && i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->run == row->run && strcmp(system->name, row->name) == 0)
            return system->user;
    }
    return NULL;
}

const mf_MotionRow *mf_motion_first(const mf_Group *group) {
    for (int i = 0; i < MF_MOTION_COUNT; i++)
        if (mf_motion_plan(group, rows[i]) != NULL)
            return rows[i];
    return NULL;
}

const mf_Field *mf_motion_counts(const mf_Group *group) {
    const mf_MotionRow *row = mf_motion_first(group);
    return row != NULL && row->look.counts != NULL
               ? mf_group_find_field((mf_Group *)(uintptr_t)group, row->look.counts)
               : NULL;
}

const mf_SystemConfig *mf_motion_own(const mf_Group *group, mf_Motion motion) {
    unsigned number = MF_MOTION_OWN;
    for (uint32_t i = 0; i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->phase == MF_PHASE_MOTION && strncmp(system->name, "plugin:", 7) == 0 &&
            number++ == (unsigned)motion)
            return system;
    }
    return NULL;
}
