// The motion table and what all rows have in common.
#include "motion/table.h"

#include <string.h>

const mf_MotionRow *mf_motion_row(mf_Motion motion) {
    static const mf_MotionRow *const rows[MF_MOTION_COUNT] = {
        [MF_MOTION_KINEMATIC] = &mf_kinematic_row,
        [MF_MOTION_POINTS] = &mf_points_row,
        [MF_MOTION_RIGID] = &mf_rigid_row,
        [MF_MOTION_PRESCRIBED] = &mf_prescribed_row,
        [MF_MOTION_ARTICULATED] = &mf_articulated_row,
        [MF_MOTION_QUADROTOR] = &mf_quadrotor_row,
        [MF_MOTION_FIXED_WING] = &mf_fixed_wing_row,
        [MF_MOTION_CAR] = &mf_car_row,
        [MF_MOTION_EXTERNAL] = &mf_external_row,
    };
    return (unsigned)motion < MF_MOTION_COUNT ? rows[motion] : NULL;
}

mf_Status mf_motion_begin(const mf_Group *group, const mf_MotionRow *row, mf_Error *error) {
    if (group == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_%s_add: group is NULL", row->name);
    if (mf_motion_plan(group, row) != NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: the group already has the motion %s", row->name,
                       row->name);
    return MF_OK;
}

mf_Status mf_motion_join(mf_Group *group, const mf_MotionRow *row, void *plan,
                         uint64_t settings_hash, mf_Error *error) {
    mf_SystemConfig system = mf_system_config();
    system.name = row->name;
    system.phase = MF_PHASE_MOTION;
    system.run = row->run;
    system.reset = row->reset;
    system.refresh = row->refresh;
    system.destroy = row->destroy;
    system.user = plan;
    system.reads = row->reads;
    system.writes = row->writes;
    system.any_gravity = row->any_gravity;
    system.settings_hash = settings_hash;
    return mf_group_add_system(group, &system, error);
}

void *mf_motion_plan(const mf_Group *group, const mf_MotionRow *row) {
    for (uint32_t i = 0; group != NULL && i < mf_group_system_count(group); i++) {
        const mf_SystemConfig *system = mf_group_system(group, i);
        if (system->run == row->run && strcmp(system->name, row->name) == 0)
            return system->user;
    }
    return NULL;
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
