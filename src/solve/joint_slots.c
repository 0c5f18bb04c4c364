// Joint slots: the fields by which controllers make and destroy run-time joints, the system that
// writes their results, and the memory for their joints. Requests are carried out in
// joint_requests.c.
//
// Invariant: all state of a slot is in fields; the joint of a slot is the one that its handle
// names, if the first side of that joint is the slot's robot.
#include "base/hash.h"
#include "base/floats.h"
#include "solve/joints.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/states.h"
#include "world/systems.h"

enum { SLOTS_LIMIT = 16 }; // [1] per robot

static const char system_name[] = "joint_slots";

// ---- fields -------------------------------------------------------------------------------------

static mf_Status add_fields(mf_JointSlots *slots, mf_Error *error) {
    const uint32_t count = slots->count;
    const mf_StateField rows[] = {
        {"joint_slot.request", "1", MF_U32, count, 1, MF_FIELD_INPUT, &slots->request, NULL,
         "0 none, 1 join, 2 leave, 3 enable, 4 disable, 5 motor; 0 when it was carried out"},
        {"joint_slot.kind", "1", MF_U32, count, 1, MF_FIELD_INPUT, &slots->kind, NULL,
         "0 fixed, 1 ball, 2 hinge"},
        {"joint_slot.link", "1", MF_U32, count, 4, MF_FIELD_INPUT, &slots->link, NULL,
         "own link; group, robot and link of the partner"},
        {"joint_slot.frame", "1", MF_REAL, count, 7, MF_FIELD_INPUT, &slots->frame, NULL,
         "joint's frame in the own link: position [m], orientation (w, x, y, z)"},
        {"joint_slot.partner", "1", MF_REAL, count, 7, MF_FIELD_INPUT, &slots->partner, NULL,
         "likewise in the partner's link; an orientation of zeros: as they are"},
        {"joint_slot.setting", "1", MF_REAL, count, 8, MF_FIELD_INPUT, &slots->setting, NULL,
         "stiffness [N/m], damping [N s/m], angular_stiffness [N m/rad], angular_damping "
         "[N m s/rad], time [s], force_limit [N], moment_limit [N m], reach [m]"},
        {"joint_slot.hinge", "1", MF_REAL, count, 4, MF_FIELD_INPUT, &slots->hinge, NULL,
         "of a hinge: lower_angle [rad], upper_angle [rad] (0, 0: no range), motor_rate [rad/s], "
         "motor_torque [N m]"},
        {"joint_slot.state", "1", MF_U32, count, 1, MF_FIELD_OUTPUT, &slots->state, NULL,
         "0 free, 1 joined, 2 disabled, 3 broken"},
        {"joint_slot.answer", "1", MF_U32, count, 1, MF_FIELD_OUTPUT, &slots->answer, NULL,
         "status of the last request, 0: carried out"},
        {"joint_slot.joint", "1", MF_U32, count, 5, MF_FIELD_OUTPUT, &slots->joint, NULL,
         "handle, low and high half; group, robot and link of the partner"},
        {"joint_slot.load", "1", MF_REAL, count, 6, MF_FIELD_OUTPUT, &slots->load, NULL,
         "force [N] and moment [N m] on the own link, world axes"},
        {"joint_slot.angle", "1", MF_REAL, count, 3, MF_FIELD_OUTPUT, &slots->angle, NULL,
         "of a hinge: angle [rad], rate [rad/s], torque [N m] of motor and stops on the partner"},
    };
    return mf_attach_states(slots->group, rows, sizeof rows / sizeof *rows, error);
}

// ---- the system ---------------------------------------------------------------------------------

static void set_all(mf_Field *field, uint32_t instance, uint32_t slot, const double *values) {
    mf_field_write(field, instance, slot * field->info.width, field->info.width, values);
}

mf_WorldJointId mf_joint_slot_id(const mf_JointSlots *slots, uint32_t instance, uint32_t slot) {
    const uint32_t low = (uint32_t)mf_field_get(slots->joint, instance, 5 * slot);
    const uint32_t high = (uint32_t)mf_field_get(slots->joint, instance, 5 * slot + 1);
    const mf_WorldJointId id = (mf_WorldJointId)high << 32 | low;
    const mf_JointRecord *record = mf_joints_find(slots->joints, id);
    return record != NULL && record->group[0] == slots->group_index &&
                   record->instance[0] == instance
               ? id
               : MF_WORLD_JOINT_NONE;
}

static void report(mf_JointSlots *slots, uint32_t instance, uint32_t slot) {
    const mf_JointRecord *record =
        mf_joints_find(slots->joints, mf_joint_slot_id(slots, instance, slot));
    double state = MF_JOINT_SLOT_FREE, load[6] = {0}, who[5] = {0, 0, 0, 0, 0};
    if (record != NULL) {
        state = record->broken    ? MF_JOINT_SLOT_BROKEN
                : record->enabled ? MF_JOINT_SLOT_JOINED
                                  : MF_JOINT_SLOT_DISABLED;
        mf_vec3_scale(load, record->force, -1.0);
        mf_vec3_scale(load + 3, record->moment, -1.0);
        for (uint32_t c = 0; c < 2; c++)
            who[c] = mf_field_get(slots->joint, instance, 5 * slot + c);
        mf_vec3_set(who + 2, record->group[1], record->instance[1], record->link[1]);
    }
    set_all(slots->state, instance, slot, &state);
    set_all(slots->load, instance, slot, load);
    set_all(slots->joint, instance, slot, who);
}

static void measure(mf_JointSlots *slots, uint32_t instance, uint32_t slot) {
    const mf_WorldJointId id = mf_joint_slot_id(slots, instance, slot);
    const mf_JointRecord *record = mf_joints_find(slots->joints, id);
    mf_WorldJointState now = {.enabled = false};
    if (record != NULL && record->kind == MF_WORLD_JOINT_HINGE)
        (void)mf_world_joint_state(slots->joints, id, &now, NULL);
    set_all(slots->angle, instance, slot, (double[]){now.angle, now.rate, now.torque});
}

void mf_joint_slots_measure(mf_WorldJoints *all) {
    for (mf_JointSlots *slots = all->slots; slots != NULL; slots = slots->next)
        for (uint32_t i = 0; i < mf_group_count(slots->group); i++)
            for (uint32_t s = 0; s < slots->count; s++)
                measure(slots, i, s);
}

static void run(const mf_SystemRun *step, void *user) {
    mf_JointSlots *slots = user;
    const uint32_t end = (step->first_block + step->block_count) * MF_BLOCK;
    for (uint32_t i = step->first_block * MF_BLOCK; i < end && i < mf_group_count(slots->group);
         i++)
        for (uint32_t s = 0; s < slots->count; s++)
            report(slots, i, s);
}

// The joint itself is destroyed with the requests of the next step: resets may be parallel.
static void reset(mf_Group *group, uint32_t instance, void *user) {
    mf_JointSlots *slots = user;
    const double nearest = MF_JOINT_NEAREST, zeros[8] = {0};
    const double link[4] = {0, nearest, nearest, nearest}, frame[7] = {0, 0, 0, 1, 0, 0, 0};
    (void)group;
    for (uint32_t s = 0; s < slots->count; s++) {
        const double request = mf_joint_slot_id(slots, instance, s) != MF_WORLD_JOINT_NONE
                                   ? MF_JOINT_REQUEST_LEAVE
                                   : MF_JOINT_REQUEST_NONE;
        set_all(slots->request, instance, s, &request);
        set_all(slots->kind, instance, s, zeros);
        set_all(slots->link, instance, s, link);
        set_all(slots->frame, instance, s, frame);
        set_all(slots->partner, instance, s, zeros);
        set_all(slots->setting, instance, s, zeros);
        set_all(slots->hinge, instance, s, zeros);
        set_all(slots->answer, instance, s, zeros);
    }
}

static mf_Status add_system(mf_JointSlots *slots, mf_Error *error) {
    static const char *const reads[] = {"joint_slot.joint", NULL};
    static const char *const writes[] = {"joint_slot.state", "joint_slot.load", "joint_slot.joint",
                                         NULL};
    mf_SystemConfig system = mf_attach_system(system_name, MF_PHASE_AFTER, run, slots);
    system.reset = reset;
    system.destroy = mf_attach_release;
    system.reads = reads;
    system.writes = writes;
    system.settings_hash = mf_hash_u32(MF_HASH_START, slots->count);
    return mf_group_add_system(slots->group, &system, error);
}

// ---- adding -------------------------------------------------------------------------------------

static mf_Status check_group(const mf_WorldJoints *all, mf_Group *group, uint32_t count,
                             uint32_t *index, mf_Error *error) {
    *index = mf_world_group_number(all->world, group);
    MF_NEED(*index != MF_NONE, error, "joint slots: a group of another world");
    if (mf_group_config_of(group)->isolated)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "joint slots: group %s is isolated, need a shared one",
                       mf_group_config_of(group)->name);
    if (!(count >= 1 && count <= SLOTS_LIMIT))
        return mf_fail(error, MF_BAD_ARGUMENT, "joint slots: %u, need 1 .. %d", count, SLOTS_LIMIT);
    return mf_attach_check(group, system_name, (mf_Rate){1, 1}, error);
}

mf_Status mf_joint_slots_add(mf_WorldJoints *joints, mf_Group *group, uint32_t count,
                             mf_Error *error) {
    MF_DEFAULT_FLOATS;
    uint32_t index;
    MF_NEED(joints != NULL && group != NULL, error, "joint slots: joints or group is NULL");
    MF_TRY(check_group(joints, group, count, &index, error));
    mf_JointSlots *slots = mf_allocate(joints->context, 1, sizeof *slots);
    MF_NEED_MEMORY(slots != NULL, error, "joint slots");
    *slots = (mf_JointSlots){.joints = joints,
                             .group = group,
                             .group_index = index,
                             .count = count,
                             .fault = mf_group_find_field(group, "fault.word")->data};
    mf_Status status = add_fields(slots, error);
    MF_THEN(status, add_system(slots, error));
    if (status != MF_OK) {
        mf_release(joints->context, slots);
        return status;
    }
    mf_JointSlots **at = &joints->slots;
    while (*at != NULL && (*at)->group_index < index)
        at = &(*at)->next;
    slots->next = *at;
    *at = slots;
    return MF_OK;
}

// ---- memory -------------------------------------------------------------------------------------

// Adds the groups whose robots can be at a joint, and finds the largest number of their links.
static mf_Status add_partners(mf_WorldJoints *all, uint32_t *links, mf_Error *error) {
    *links = 1;
    for (uint32_t g = 0; g < mf_world_group_count(all->world); g++) {
        mf_Group *group = mf_world_group(all->world, g);
        const mf_TrialStepKind kind = mf_trial_step_kind(group);
        if (mf_group_config_of(group)->isolated ||
            (kind != MF_TRIAL_STEP_ANSWERS && kind != MF_TRIAL_STEP_KINEMATIC))
            continue;
        if (mf_group_model(group)->link_count > *links)
            *links = mf_group_model(group)->link_count;
        MF_TRY(mf_solver_add_group(all->solver, group, false, error));
    }
    return MF_OK;
}

// A robot of n links with joints at all of them has a response of n^2 blocks; a joint at one link
// more adds at most 2 n - 1 of them, at each side.
static mf_Status count_capacity(const mf_WorldJoints *all, uint32_t links, uint64_t *joints,
                                uint64_t *blocks, mf_Error *error) {
    *joints = *blocks = 0;
    for (const mf_JointSlots *slots = all->slots; slots != NULL; slots = slots->next) {
        const uint64_t count = (uint64_t)mf_group_count(slots->group) * slots->count;
        *joints += count;
        *blocks += count * 2 * (mf_group_model(slots->group)->link_count + (uint64_t)links - 1);
    }
    if (*joints + all->count > MF_JOINTS_LIMIT || *blocks > UINT32_MAX / 64)
        return mf_fail(error, MF_LIMIT, "joint slots: %llu of all robots, at most %d joints",
                       (unsigned long long)*joints, MF_JOINTS_LIMIT);
    return MF_OK;
}

mf_Status mf_joint_slots_ready(mf_WorldJoints *joints, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    uint32_t links = 1;
    uint64_t capacity = 0, blocks = 0;
    MF_NEED(joints != NULL, error, "joint slots: joints is NULL");
    for (const mf_JointSlots *slots = joints->slots; slots != NULL; slots = slots->next)
        MF_TRY(mf_joints_check_group(slots->group, error));
    MF_TRY(add_partners(joints, &links, error));
    MF_TRY(count_capacity(joints, links, &capacity, &blocks, error));
    const uint32_t before[2] = {joints->slot_capacity, joints->slot_blocks};
    joints->slot_capacity = (uint32_t)capacity;
    joints->slot_blocks = (uint32_t)blocks;
    mf_Status status = mf_joints_ensure_capacity(joints, error);
    MF_THEN(status, mf_joints_reserve(joints, joints->records, joints->used, error));
    if (status != MF_OK) {
        joints->slot_capacity = before[0];
        joints->slot_blocks = before[1];
    }
    return status;
}

mf_JointRequestStatistics mf_joint_request_statistics(const mf_WorldJoints *joints) {
    return joints != NULL ? joints->requests : (mf_JointRequestStatistics){.carried_out = 0};
}
