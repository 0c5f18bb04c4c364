// Run-time joints of a world: creation, removal and accessors. The step is in solver_step.c.
//
// Invariants: a slot's generation increases with each joint created in it, and is kept while it is
// free; the solver has space for all existing joints.
#include "solve/joints.h"
#include "base/floats.h"
#include "base/plain.h"
#include "math/scalar.h"
#include "world/systems.h"
#include "world/world_state.h"

#include <math.h>
#include <string.h>

mf_WorldJointsConfig mf_world_joints_config(void) {
    return (mf_WorldJointsConfig){
        .struct_size = sizeof(mf_WorldJointsConfig), .rounds = 4, .tolerance = 1e-4};
}

mf_WorldJointConfig mf_world_joint_config(void) {
    const mf_WorldJointSide side = {.orientation = {1.0, 0.0, 0.0, 0.0}};
    return (mf_WorldJointConfig){.struct_size = sizeof(mf_WorldJointConfig),
                                 .sides = {side, side},
                                 .force_limit = (double)INFINITY,
                                 .moment_limit = (double)INFINITY,
                                 .lower_angle = -(double)INFINITY,
                                 .upper_angle = (double)INFINITY};
}

const char *mf_world_joint_kind_name(mf_WorldJointKind kind) {
    static const char *const names[] = {"fixed", "ball", "hinge"};
    return (unsigned)kind <= MF_WORLD_JOINT_HINGE ? names[kind] : "unknown";
}

// ---- checks -------------------------------------------------------------------------------------

// Motor and stops; messages name the members of the configuration.
static mf_Status check_drive(const mf_JointRecord *record, mf_Error *error) {
    const double angle = 6.2831853071795862, most = 1e12;
    const double lower = record->lower_angle, upper = record->upper_angle;
    MF_NEED(mf_abs(record->motor_rate) <= most, error,
            "joint.motor_rate: %g, need a number up to %g", record->motor_rate, most);
    MF_NEED(record->motor_torque >= 0.0 && record->motor_torque <= most, error,
            "joint.motor_torque: %g, need 0 .. %g", record->motor_torque, most);
    const bool none = lower < -most && upper > most; // both infinite
    MF_NEED(none || (lower >= -angle && upper <= angle && lower <= upper && upper - lower <= 6.0),
            error,
            "joint.lower_angle, joint.upper_angle: %g .. %g, need a range of at most 6 "
            "rad within -2 pi .. 2 pi, or none",
            lower, upper);
    if (record->kind != MF_WORLD_JOINT_HINGE && (!none || record->motor_torque > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "joint.kind: only a hinge has a range of angles and a motor");
    return MF_OK;
}

static mf_Status check_numbers(const mf_WorldJoints *all, const mf_JointRecord *record,
                               mf_Error *error) {
    const double step = (double)mf_world_config_of(all->world)->step * 1e-9, most = 1e12;
    const mf_Range ranges[] = {
        {"stiffness", "N/m", record->stiffness, 0.0, most},
        {"damping", "N s/m", record->damping, 0.0, most},
        {"angular_stiffness", "N m/rad", record->angular_stiffness, 0.0, most},
        {"angular_damping", "N m s/rad", record->angular_damping, 0.0, most},
        {"time", "s", record->time == 0.0 ? step : record->time, step, 1e6},
        {"force_limit", "N", record->force_limit, 1e-12, (double)INFINITY},
        {"moment_limit", "N m", record->moment_limit, 1e-12, (double)INFINITY},
    };
    MF_TRY(mf_ranges_check("joint", ranges, sizeof ranges / sizeof *ranges, error));
    if (record->damping > 0.0 && record->stiffness == 0.0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "joint.damping: a joint without stiffness is rigid; set time instead");
    if (record->angular_damping > 0.0 && record->angular_stiffness == 0.0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "joint.angular_damping: a joint without angular_stiffness is rigid; set "
                       "time instead");
    if (record->kind > MF_WORLD_JOINT_HINGE)
        return mf_fail(error, MF_BAD_ARGUMENT, "joint.kind: %u does not exist", record->kind);
    return check_drive(record, error);
}

mf_Status mf_joints_check_frame(const mf_JointRecord *record, uint32_t side, mf_Error *error) {
    const double *q = record->orientation[side];
    const double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    for (uint32_t c = 0; c < 3; c++)
        if (!(mf_abs(record->position[side][c]) <= 1e9))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "joint.sides[%u].position: need numbers within "
                           "1e9 m",
                           side);
    MF_NEED(size > 0.98 && size < 1.02, error,
            "joint.sides[%u].orientation: need a quaternion of length 1", side);
    return MF_OK;
}

mf_Status mf_joints_check_group(mf_Group *group, mf_Error *error) {
    const char *name = mf_group_config_of(group)->name;
    if (mf_group_config_of(group)->isolated)
        return mf_fail(error, MF_BAD_ARGUMENT, "joint: group %s is isolated, need a shared one",
                       name);
    switch (mf_trial_step_kind(group)) {
    case MF_TRIAL_STEP_UNPREPARED:
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "joint: links of group %s do not accept forces: add it with pushable, in C "
                       "call mf_collisions_prepare before its motion is added",
                       name);
    case MF_TRIAL_STEP_UNSUPPORTED:
        return mf_fail(error, MF_UNSUPPORTED,
                       "joint: the motion of group %s (%s) does not accept forces on its links",
                       name, mf_motion_name(mf_motion_of(group, 0)));
    case MF_TRIAL_STEP_ANSWERS:
    case MF_TRIAL_STEP_KINEMATIC:
        break;
    }
    return MF_OK;
}

static mf_Status check_side(const mf_WorldJoints *all, const mf_JointRecord *record, uint32_t side,
                            bool *answers, mf_Error *error) {
    mf_Status status = mf_joints_check_frame(record, side, error);
    if (status != MF_OK || record->group[side] == MF_NONE)
        return status;
    mf_Group *group = mf_world_group(all->world, record->group[side]);
    MF_NEED(group != NULL, error, "joint.sides[%u].group: not of this world", side);
    const char *name = mf_group_config_of(group)->name;
    if (record->instance[side] >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT, "joint.sides[%u].instance: group %s has %u, not %u",
                       side, name, mf_group_count(group), record->instance[side]);
    if (record->link[side] >= mf_group_model(group)->link_count)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "joint.sides[%u].link: robots of group %s have %u links, not %u", side, name,
                       mf_group_model(group)->link_count, record->link[side]);
    *answers = *answers || mf_trial_step_kind(group) == MF_TRIAL_STEP_ANSWERS;
    return mf_joints_check_group(group, error);
}

mf_Status mf_joints_check(const mf_WorldJoints *all, const mf_JointRecord *record,
                          mf_Error *error) {
    bool answers = false;
    MF_TRY(check_numbers(all, record, error));
    for (uint32_t s = 0; s < 2; s++)
        MF_TRY(check_side(all, record, s, &answers, error));
    if (record->group[0] == record->group[1] &&
        (record->group[0] == MF_NONE ||
         (record->instance[0] == record->instance[1] && record->link[0] == record->link[1])))
        return mf_fail(error, MF_BAD_ARGUMENT, "joint.sides: both are the same link");
    MF_NEED(answers, error, "joint.sides: neither can move, both are moved from outside");
    return MF_OK;
}

// ---- from settings to records, and back ---------------------------------------------------------

// The numbers that settings and records share, from one to the other.
#define NUMBER(to, from, name) (to)->name = (from)->name;
#define COPY_NUMBERS(to, from)                                                                     \
    NUMBER(to, from, stiffness)                                                                    \
    NUMBER(to, from, damping)                                                                      \
    NUMBER(to, from, angular_stiffness)                                                            \
    NUMBER(to, from, angular_damping)                                                              \
    NUMBER(to, from, time)                                                                         \
    NUMBER(to, from, force_limit)                                                                  \
    NUMBER(to, from, moment_limit)                                                                 \
    NUMBER(to, from, lower_angle)                                                                  \
    NUMBER(to, from, upper_angle)                                                                  \
    NUMBER(to, from, motor_rate)                                                                   \
    NUMBER(to, from, motor_torque)

static mf_Status fill_record(mf_World *world, const mf_WorldJointConfig *config,
                             mf_JointRecord *out, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "joint: start from mf_world_joint_config()");
    *out = (mf_JointRecord){.exists = 1, .enabled = 1, .kind = (uint32_t)config->kind};
    COPY_NUMBERS(out, config)
    for (uint32_t s = 0; s < 2; s++) {
        const mf_WorldJointSide *side = &config->sides[s];
        out->group[s] = side->group != NULL ? mf_world_group_number(world, side->group) : MF_NONE;
        if (side->group != NULL && out->group[s] == MF_NONE)
            return mf_fail(error, MF_BAD_ARGUMENT, "joint: a group of another world");
        out->instance[s] = side->group != NULL ? side->instance : 0;
        out->link[s] = side->group != NULL ? side->link : 0;
        mf_vec3_copy(out->position[s], side->position);
        memcpy(out->orientation[s], side->orientation, sizeof out->orientation[s]);
    }
    return MF_OK;
}

static void fill_config(const mf_WorldJoints *all, const mf_JointRecord *record,
                        mf_WorldJointConfig *out) {
    *out = mf_world_joint_config();
    out->kind = (mf_WorldJointKind)record->kind;
    COPY_NUMBERS(out, record)
    for (uint32_t s = 0; s < 2; s++) {
        mf_WorldJointSide *side = &out->sides[s];
        side->group =
            record->group[s] == MF_NONE ? NULL : mf_world_group(all->world, record->group[s]);
        side->instance = record->instance[s];
        side->link = record->link[s];
        mf_vec3_copy(side->position, record->position[s]);
        memcpy(side->orientation, record->orientation[s], sizeof side->orientation);
    }
}

// ---- frames that are closed now -----------------------------------------------------------------

// A rotation that takes the z axis to unit vector `axis`, the shortest way.
static void rotation_to(double out[4], const double axis[3]) {
    out[0] = 1.0 + axis[2];
    mf_vec3_set(out + 1, -axis[1], axis[0], 0.0);
    if (out[0] < 1e-12) { // straight down
        out[0] = 0.0;
        mf_vec3_set(out + 1, 1.0, 0.0, 0.0);
    }
    mf_quat_normalize(out);
}

static mf_Status find_now(const mf_WorldJointSide *side, mf_LinkMotion *out, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(side->group));
    mf_LinkMotions links;
    MF_TRY(mf_link_motions_create(&links, side->group, error));
    double *values = mf_allocate(context, mf_link_motions_size(&links), sizeof *values);
    if (values != NULL)
        mf_link_motion_read(out, &links, side->instance, side->link, values);
    mf_release(context, values);
    mf_link_motions_release(context, &links);
    return values != NULL ? MF_OK : mf_fail(error, MF_NO_MEMORY, "joint: out of memory");
}

void mf_joint_frame_in(const mf_LinkMotion *link, const double position[3],
                       const double orientation[4], double out_position[3],
                       double out_orientation[4]) {
    double arm[3], back[4];
    mf_quat_conjugate(back, link->orientation);
    mf_vec3_sub(arm, position, link->position);
    mf_quat_rotate(out_position, back, arm);
    mf_quat_multiply(out_orientation, back, orientation);
}

static mf_Status place_side(mf_WorldJointSide *side, const double position[3],
                            const double orientation[4], mf_Error *error) {
    mf_LinkMotion now = mf_link_motion_world();
    if (side->group != NULL) {
        if (side->instance >= mf_group_count(side->group) ||
            side->link >= mf_group_model(side->group)->link_count)
            return mf_fail(error, MF_BAD_ARGUMENT, "joint: group %s has no link %u of robot %u",
                           mf_group_config_of(side->group)->name, side->link, side->instance);
        MF_TRY(find_now(side, &now, error));
    }
    mf_joint_frame_in(&now, position, orientation, side->position, side->orientation);
    return MF_OK;
}

mf_Status mf_world_joint_here(mf_WorldJointConfig *config, const double position[3],
                              const double axis[3], mf_Error *error) {
    MF_DEFAULT_FLOATS;
    double unit[3] = {0.0, 0.0, 1.0}, orientation[4];
    MF_NEED(config != NULL && config->struct_size == sizeof *config && position != NULL, error,
            "mf_world_joint_here: start from mf_world_joint_config(); need a position");
    if (axis != NULL)
        mf_vec3_copy(unit, axis);
    MF_NEED(mf_vec3_normalize(unit) && mf_all_finite(position, 3), error,
            "mf_world_joint_here: need finite numbers and an axis of a length > 0");
    rotation_to(orientation, unit);
    MF_TRY(place_side(&config->sides[0], position, orientation, error));
    return place_side(&config->sides[1], position, orientation, error);
}

// ---- the joints of a world ----------------------------------------------------------------------

mf_Status mf_joints_create(mf_Solver *solver, mf_WorldJoints **out, mf_Error *error) {
    mf_WorldJoints *all = *out = mf_allocate(solver->context, 1, sizeof *all);
    MF_NEED_MEMORY(all != NULL, error, "joints");
    all->context = solver->context;
    all->world = solver->world;
    all->solver = solver;
    return mf_joints_keep(all, error);
}

void mf_joints_destroy(mf_WorldJoints *all) {
    if (all == NULL)
        return;
    mf_release(all->context, all->records);
    mf_release(all->context, all->next_records);
    mf_release(all->context, all->next_warm);
    mf_release(all->context, all->welds);
    mf_release(all->context, all);
}

mf_Status mf_world_joints_add(mf_World *world, const mf_WorldJointsConfig *config,
                              mf_WorldJoints **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_WorldJointsConfig settings = config != NULL ? *config : mf_world_joints_config();
    MF_NEED(world != NULL && out != NULL, error, "joints: world or out is NULL");
    *out = NULL;
    if (settings.struct_size != sizeof settings)
        return mf_fail(error, MF_BAD_ARGUMENT, "joints: start from mf_world_joints_config()");
    if (!(settings.rounds >= 1 && settings.rounds <= 32))
        return mf_fail(error, MF_BAD_ARGUMENT, "joints.rounds: %u, need 1 .. 32", settings.rounds);
    MF_NEED(settings.tolerance >= 1e-9 && settings.tolerance <= 0.1, error,
            "joints.tolerance: %g, need 1e-9 .. 0.1", settings.tolerance);
    mf_Solver *solver;
    MF_TRY(mf_solver_of(world, &solver, error));
    MF_NEED(!solver->joints->added, error, "joints: the world already has joints");
    solver->rounds = settings.rounds;
    solver->tolerance = settings.tolerance;
    solver->joints->added = true;
    *out = solver->joints;
    return MF_OK;
}

mf_WorldJoints *mf_world_joints_of(const mf_World *world) {
    const mf_Solver *solver = world != NULL ? mf_solver_in(world) : NULL;
    return solver != NULL && solver->joints->added ? solver->joints : NULL;
}

uint32_t mf_world_joints_count(const mf_WorldJoints *joints) {
    return joints != NULL ? joints->count : 0;
}

// ---- one joint ----------------------------------------------------------------------------------

static mf_WorldJointId id_of(const mf_WorldJoints *joints, uint32_t slot) {
    return (mf_WorldJointId)joints->records[slot].generation << 32 | slot;
}

mf_JointRecord *mf_joints_find(const mf_WorldJoints *joints, mf_WorldJointId id) {
    const uint32_t slot = (uint32_t)id, generation = (uint32_t)(id >> 32);
    if (joints == NULL || slot >= joints->used)
        return NULL;
    mf_JointRecord *record = &joints->records[slot];
    return record->exists && record->generation == generation ? record : NULL;
}

mf_LinkMotion mf_joint_motion(const mf_WorldJoints *joints, const mf_JointRecord *record,
                              uint32_t side) {
    mf_LinkMotion motion = mf_link_motion_world();
    if (record->group[side] == MF_NONE)
        return motion;
    const mf_TrialStep *trial = joints->solver->trials[record->group[side]];
    mf_link_motion_read(&motion, &trial->links, record->instance[side], record->link[side],
                        trial->values);
    return motion;
}

static mf_Status not_found(mf_WorldJointId id, mf_Error *error) {
    return mf_fail(error, MF_NOT_FOUND, "joint: no joint has the handle %llx",
                   (unsigned long long)id);
}

mf_Status mf_joints_ensure_capacity(mf_WorldJoints *joints, mf_Error *error) {
    const uint32_t least = joints->used + joints->slot_capacity + joints->reserved + 1;
    if (least <= joints->capacity)
        return MF_OK;
    const uint32_t larger = 2 * joints->capacity > least ? 2 * joints->capacity : least + 7;
    mf_JointRecord *moved = mf_allocate(joints->context, larger, sizeof *moved);
    if (moved == NULL)
        return mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", larger);
    if (joints->used > 0)
        memcpy(moved, joints->records, joints->used * sizeof *moved);
    mf_release(joints->context, joints->records);
    joints->records = moved;
    joints->capacity = larger;
    return MF_OK;
}

// Groups of a record, and keys of the links of both sides that are none of the world.
static mf_Status take_sides(mf_WorldJoints *all, const mf_JointRecord *record, uint64_t *keys,
                            uint32_t *count, mf_Error *error) {
    for (uint32_t s = 0; s < 2; s++) {
        if (record->group[s] == MF_NONE)
            continue;
        keys[(*count)++] = mf_solver_key(record->group[s], record->instance[s], record->link[s]);
        MF_TRY(mf_solver_add_group(all->solver, mf_world_group(all->world, record->group[s]), false,
                                   error));
    }
    return MF_OK;
}

// [1] Blocks of the responses of all robots to their links of sorted `keys`.
static uint32_t count_blocks(const uint64_t *keys, uint32_t count) {
    uint32_t blocks = 0, links = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && keys[i] == keys[i - 1])
            continue;
        links =
            i > 0 && keys[i] >> MF_KEY_INSTANCE == keys[i - 1] >> MF_KEY_INSTANCE ? links + 1 : 1;
        blocks += 2 * links - 1; // of links^2
    }
    return blocks;
}

mf_Status mf_joints_reserve(mf_WorldJoints *all, const mf_JointRecord *records, uint32_t used,
                            mf_Error *error) {
    uint32_t joints = 0, count = 0;
    mf_Status status = MF_OK;
    uint64_t *keys = mf_allocate(all->context, 2 * (size_t)used + 1, sizeof *keys);
    if (keys == NULL)
        return mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", used);
    for (uint32_t slot = 0; slot < used && status == MF_OK; slot++)
        if (records[slot].exists) {
            joints++;
            status = take_sides(all, &records[slot], keys, &count, error);
        }
    MF_THEN(status, mf_joints_ensure_weld_capacity(all, joints + all->slot_capacity + all->reserved,
                                                   error));
    if (status == MF_OK) {
        mf_solver_sort(keys, count);
        status = mf_solver_reserve_joints(
            all->solver, joints + all->slot_capacity + all->reserved,
            count_blocks(keys, count) + all->slot_blocks + all->reserved_blocks, error);
    }
    mf_release(all->context, keys);
    return status;
}

static uint32_t free_slot(const mf_WorldJoints *joints) {
    uint32_t slot = joints->lowest;
    while (slot < joints->used && joints->records[slot].exists)
        slot++;
    return slot;
}

mf_WorldJointId mf_joints_insert(mf_WorldJoints *joints, const mf_JointRecord *record) {
    const uint32_t slot = free_slot(joints);
    const uint32_t before = slot < joints->used ? joints->records[slot].generation : 0;
    joints->records[slot] = *record;
    joints->records[slot].generation = before == UINT32_MAX ? 1 : before + 1;
    if (slot == joints->used)
        joints->used++;
    joints->count++;
    joints->version++;
    joints->lowest = slot + 1;
    return id_of(joints, slot);
}

void mf_joints_remove(mf_WorldJoints *joints, uint32_t slot) {
    joints->records[slot] = (mf_JointRecord){.generation = joints->records[slot].generation};
    joints->count--;
    joints->version++;
    if (slot < joints->lowest)
        joints->lowest = slot;
}

// Room in the solver for one more joint.
static mf_Status reserve_one(mf_WorldJoints *joints, const mf_JointRecord *record,
                             mf_Error *error) {
    const uint32_t slot = free_slot(joints);
    const mf_JointRecord before = joints->records[slot];
    joints->records[slot] = *record;
    mf_Status status = mf_joints_reserve(joints, joints->records,
                                         slot < joints->used ? joints->used : slot + 1, error);
    joints->records[slot] = before;
    return status;
}

mf_Status mf_world_joint_create(mf_WorldJoints *joints, const mf_WorldJointConfig *config,
                                mf_WorldJointId *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_JointRecord record;
    MF_NEED(joints != NULL && out != NULL, error, "joint: joints or out is NULL");
    *out = MF_WORLD_JOINT_NONE;
    MF_TRY(fill_record(joints->world, config, &record, error));
    MF_TRY(mf_joints_check(joints, &record, error));
    for (uint32_t s = 0; s < 2; s++)
        mf_quat_normalize(record.orientation[s]);
    if (joints->count == MF_JOINTS_LIMIT)
        return mf_fail(error, MF_LIMIT, "joints: at most %d", MF_JOINTS_LIMIT);
    MF_TRY(mf_joints_ensure_capacity(joints, error));
    MF_TRY(reserve_one(joints, &record, error));
    *out = mf_joints_insert(joints, &record);
    return MF_OK;
}

mf_Status mf_world_joint_destroy(mf_WorldJoints *joints, mf_WorldJointId id, mf_Error *error) {
    if (mf_joints_find(joints, id) == NULL)
        return not_found(id, error);
    mf_joints_remove(joints, (uint32_t)id);
    return MF_OK;
}

void mf_joint_set_enabled(mf_JointRecord *record, bool enabled) {
    if (enabled && record->enabled && !record->broken)
        return;
    record->enabled = enabled;
    if (enabled)
        record->broken = 0;
    if (!record->broken) {
        mf_vec3_set(record->force, 0, 0, 0);
        mf_vec3_set(record->moment, 0, 0, 0);
        record->torque = 0.0;
    }
}

mf_Status mf_world_joint_enable(mf_WorldJoints *joints, mf_WorldJointId id, bool enabled,
                                mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_JointRecord *record = mf_joints_find(joints, id);
    if (record == NULL)
        return not_found(id, error);
    mf_joint_set_enabled(record, enabled);
    return MF_OK;
}

mf_Status mf_joint_set_motor(mf_JointRecord *record, double rate, double torque, mf_Error *error) {
    mf_JointRecord other = *record;
    other.motor_rate = rate;
    other.motor_torque = torque;
    MF_TRY(check_drive(&other, error));
    *record = other;
    return MF_OK;
}

mf_Status mf_world_joint_set_motor(mf_WorldJoints *joints, mf_WorldJointId id, double rate,
                                   double torque, mf_Error *error) {
    mf_JointRecord *record = mf_joints_find(joints, id);
    return record != NULL ? mf_joint_set_motor(record, rate, torque, error) : not_found(id, error);
}

bool mf_world_joint_exists(const mf_WorldJoints *joints, mf_WorldJointId id) {
    return mf_joints_find(joints, id) != NULL;
}

mf_WorldJointId mf_world_joint_next(const mf_WorldJoints *joints, mf_WorldJointId id) {
    if (joints == NULL)
        return MF_WORLD_JOINT_NONE;
    for (uint32_t slot = id == MF_WORLD_JOINT_NONE ? 0 : (uint32_t)id + 1; slot < joints->used;
         slot++)
        if (joints->records[slot].exists)
            return id_of(joints, slot);
    return MF_WORLD_JOINT_NONE;
}

mf_Status mf_world_joint_state(const mf_WorldJoints *joints, mf_WorldJointId id,
                               mf_WorldJointState *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_JointRecord *record = mf_joints_find(joints, id);
    mf_LinkMotion motions[2];
    double opening[3], rotation_vector[3];
    MF_NEED(out != NULL, error, "mf_world_joint_state: out is NULL");
    *out = (mf_WorldJointState){.enabled = false};
    if (record == NULL)
        return not_found(id, error);
    out->enabled = record->enabled;
    out->broken = record->broken;
    mf_vec3_copy(out->force, record->force);
    mf_vec3_copy(out->moment, record->moment);
    out->torque = record->torque;
    out->residual = record->residual;
    out->rounds = record->rounds;
    for (uint32_t s = 0; s < 2; s++) {
        double rotation[4];
        motions[s] = mf_joint_motion(joints, record, s);
        mf_joint_frame(record, s, &motions[s], out->anchors[s], rotation);
    }
    mf_joint_error(record, motions, opening, rotation_vector);
    out->opening = mf_vec3_length(opening);
    out->angular_opening = mf_vec3_length(rotation_vector);
    if (record->kind == MF_WORLD_JOINT_HINGE)
        mf_joint_angle(record, motions, &out->angle, &out->rate);
    return MF_OK;
}

mf_Status mf_world_joint_config_of(const mf_WorldJoints *joints, mf_WorldJointId id,
                                   mf_WorldJointConfig *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_JointRecord *record = mf_joints_find(joints, id);
    MF_NEED(out != NULL, error, "mf_world_joint_config_of: out is NULL");
    if (record == NULL)
        return not_found(id, error);
    fill_config(joints, record, out);
    return MF_OK;
}
