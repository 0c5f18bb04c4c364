// Requests of joint slots: what controllers wrote to the fields joint_slot.* becomes run-time
// joints, in the order of groups, robots and slots, on one thread, right before the joints of a
// step are solved.
//
// Invariants: nothing is allocated; a request that is refused changes no joint.
#include "base/plain.h"
#include "solve/joints.h"
#include "math/scalar.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

typedef struct Request {
    mf_JointSlots *slots;
    uint32_t instance, slot;
} Request;

static double value(const Request *request, const mf_Field *field, uint32_t component) {
    return mf_field_get(field, request->instance, request->slot * field->info.width + component);
}

static void read_values(const Request *request, const mf_Field *field, uint32_t first,
                        uint32_t count, double *out) {
    mf_field_read(field, request->instance, request->slot * field->info.width + first, count, out);
}

// Motions of all links of a block, in the memory of the group's trials.
static const double *find_block(const mf_TrialStep *trial, uint32_t block) {
    const mf_LinkChoice choice = {.first = 0, .end = mf_trial_step_lanes(trial, block)};
    mf_link_motions_find(&trial->links, block, &choice, trial->values);
    return trial->values;
}

static const mf_TrialStep *trial_of(const mf_WorldJoints *all, uint32_t group) {
    return group < all->solver->group_count ? all->solver->trials[group] : NULL;
}

// ---- the nearest partner ------------------------------------------------------------------------

typedef struct Search {
    const mf_JointRecord *record; // as requested
    double point[3];              // [m] world
    double nearest;               // [m^2]
    uint32_t group, instance, link;
} Search;

static bool fits(uint32_t needed, uint32_t number) {
    return needed == MF_JOINT_NEAREST || needed == number;
}

static void search_robot(Search *search, const mf_TrialStep *trial, const double *values,
                         uint32_t group, uint32_t instance) {
    const mf_Model *model = mf_group_model(trial->group);
    for (uint32_t l = 0; l < model->link_count; l++) {
        mf_LinkMotion motion;
        double center[3];
        if (!fits(search->record->link[1], l))
            continue;
        mf_link_motion(&motion, values, instance % MF_BLOCK, l, false);
        mf_link_point(&motion, model->links[l].center, center, NULL);
        mf_vec3_sub(center, center, search->point);
        const double square = mf_vec3_dot(center, center);
        if (square < search->nearest) {
            search->nearest = square;
            search->group = group;
            search->instance = instance;
            search->link = l;
        }
    }
}

static void search_group(Search *search, const mf_TrialStep *trial, uint32_t group) {
    const mf_JointRecord *record = search->record;
    const uint32_t count = mf_group_count(trial->group);
    const double *values = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (i % MF_BLOCK == 0)
            values = NULL;
        if (!fits(record->instance[1], i) ||
            (group == record->group[0] && i == record->instance[0]))
            continue;
        if (values == NULL)
            values = find_block(trial, i / MF_BLOCK);
        search_robot(search, trial, values, group, i);
    }
}

// Replaces MF_JOINT_NEAREST. False: nothing within reach.
static bool find_partner(const mf_WorldJoints *all, mf_JointRecord *record, double reach) {
    uint32_t *group = &record->group[1], *instance = &record->instance[1];
    if (*group == MF_NONE) {
        *instance = record->link[1] = 0;
        return true;
    }
    if (*group != MF_JOINT_NEAREST && *instance != MF_JOINT_NEAREST &&
        record->link[1] != MF_JOINT_NEAREST)
        return true;
    const mf_LinkMotion own = mf_joint_motion(all, record, 0);
    Search search = {.record = record, .nearest = reach * reach, .group = MF_NONE};
    mf_link_point(&own, record->position[0], search.point, NULL);
    for (uint32_t g = 0; g < all->solver->group_count; g++)
        if (fits(*group, g) && all->solver->trials[g] != NULL)
            search_group(&search, all->solver->trials[g], g);
    if (search.group == MF_NONE)
        return false;
    *group = search.group;
    *instance = search.instance;
    record->link[1] = search.link;
    return true;
}

// ---- joining ------------------------------------------------------------------------------------

static void read_record(const Request *request, mf_JointRecord *out) {
    const mf_JointSlots *slots = request->slots;
    double setting[8], hinge[4];
    read_values(request, slots->setting, 0, 8, setting);
    read_values(request, slots->hinge, 0, 4, hinge);
    const bool free = hinge[0] == 0.0 && hinge[1] == 0.0;
    *out = (mf_JointRecord){.exists = 1,
                            .enabled = 1,
                            .kind = (uint32_t)value(request, slots->kind, 0),
                            .stiffness = setting[0],
                            .damping = setting[1],
                            .angular_stiffness = setting[2],
                            .angular_damping = setting[3],
                            .time = setting[4],
                            .force_limit = setting[5] == 0.0 ? (double)INFINITY : setting[5],
                            .moment_limit = setting[6] == 0.0 ? (double)INFINITY : setting[6],
                            .lower_angle = free ? -(double)INFINITY : hinge[0],
                            .upper_angle = free ? (double)INFINITY : hinge[1],
                            .motor_rate = hinge[2],
                            .motor_torque = hinge[3]};
    out->group[0] = slots->group_index;
    out->instance[0] = request->instance;
    out->link[0] = (uint32_t)value(request, slots->link, 0);
    out->group[1] = (uint32_t)value(request, slots->link, 1);
    out->instance[1] = (uint32_t)value(request, slots->link, 2);
    out->link[1] = (uint32_t)value(request, slots->link, 3);
    for (uint32_t s = 0; s < 2; s++) {
        const mf_Field *frame = s == 0 ? slots->frame : slots->partner;
        read_values(request, frame, 0, 3, out->position[s]);
        read_values(request, frame, 3, 4, out->orientation[s]);
    }
}

// Whether links exist and their groups take part, as far as it is said.
static mf_Status check_links(const mf_WorldJoints *all, const mf_JointRecord *record,
                             mf_Error *error) {
    for (uint32_t s = 0; s < 2; s++) {
        const uint32_t group = record->group[s];
        if (group == MF_NONE || group == MF_JOINT_NEAREST)
            continue;
        const mf_TrialStep *trial = trial_of(all, group);
        MF_NEED(trial != NULL, error,
                "group %u does not exist or takes no part (mf_joint_slots_ready)", group);
        const uint32_t instance = record->instance[s], link = record->link[s];
        const uint32_t robots = mf_group_count(trial->group);
        const uint32_t links = mf_group_model(trial->group)->link_count;
        if (instance >= robots && instance != MF_JOINT_NEAREST)
            return mf_fail(error, MF_BAD_ARGUMENT, "group %s has %u robots, none with number %u",
                           mf_group_config_of(trial->group)->name, robots, instance);
        if (link >= links && (s == 0 || link != MF_JOINT_NEAREST))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "robots of group %s have %u links, none with "
                           "number %u",
                           mf_group_config_of(trial->group)->name, links, link);
    }
    return MF_OK;
}

// Both frames coincide as the robots are now.
static void place_partner(const mf_WorldJoints *all, mf_JointRecord *record) {
    const mf_LinkMotion own = mf_joint_motion(all, record, 0);
    const mf_LinkMotion other = mf_joint_motion(all, record, 1);
    double position[3], orientation[4];
    mf_joint_frame(record, 0, &own, position, orientation);
    mf_joint_frame_in(&other, position, orientation, record->position[1], record->orientation[1]);
}

static bool is_zero(const double q[4]) {
    return q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
}

static void destroy(const Request *request) {
    mf_JointSlots *slots = request->slots;
    const mf_WorldJointId id = mf_joint_slot_id(slots, request->instance, request->slot);
    if (id != MF_WORLD_JOINT_NONE)
        mf_joints_remove(slots->joints, (uint32_t)id);
    for (uint32_t c = 0; c < 2; c++)
        mf_field_set(slots->joint, request->instance, 5 * request->slot + c, 0.0);
}

// MF_NOT_FOUND without a message: nothing within reach.
static mf_Status join(const Request *request, mf_Error *error) {
    mf_WorldJoints *all = request->slots->joints;
    const double reach = value(request, request->slots->setting, 7);
    mf_JointRecord record;
    read_record(request, &record);
    MF_NEED(reach >= 0.0 && reach <= 1e9, error, "reach: %g, need 0 .. 1e9 m", reach);
    MF_TRY(check_links(all, &record, error));
    MF_TRY(mf_joints_check_frame(&record, 0, error));
    if (!find_partner(all, &record, reach))
        return MF_NOT_FOUND;
    if (is_zero(record.orientation[1]))
        place_partner(all, &record);
    MF_TRY(mf_joints_check(all, &record, error));
    for (uint32_t s = 0; s < 2; s++)
        mf_quat_normalize(record.orientation[s]);
    destroy(request);
    const mf_WorldJointId id = mf_joints_insert(all, &record);
    mf_field_set(request->slots->joint, request->instance, 5 * request->slot, (uint32_t)id);
    mf_field_set(request->slots->joint, request->instance, 5 * request->slot + 1,
                 (double)(id >> 32));
    return MF_OK;
}

// ---- all requests -------------------------------------------------------------------------------

static mf_Status carry_out(const Request *request, mf_JointRequest kind, mf_Error *error) {
    mf_JointSlots *slots = request->slots;
    switch (kind) {
    case MF_JOINT_REQUEST_JOIN:
        return join(request, error);
    case MF_JOINT_REQUEST_LEAVE:
        destroy(request);
        return MF_OK;
    case MF_JOINT_REQUEST_ENABLE:
    case MF_JOINT_REQUEST_DISABLE:
    case MF_JOINT_REQUEST_MOTOR:
        break;
    case MF_JOINT_REQUEST_NONE:
    default:
        return mf_fail(error, MF_BAD_ARGUMENT, "request %u does not exist", (unsigned)kind);
    }
    mf_JointRecord *record =
        mf_joints_find(slots->joints, mf_joint_slot_id(slots, request->instance, request->slot));
    if (record == NULL)
        return MF_NOT_FOUND;
    if (kind == MF_JOINT_REQUEST_MOTOR)
        return mf_joint_set_motor(record, value(request, slots->hinge, 2),
                                  value(request, slots->hinge, 3), error);
    mf_joint_set_enabled(record, kind == MF_JOINT_REQUEST_ENABLE);
    return MF_OK;
}

static void refuse(const Request *request, const mf_Error *error) {
    mf_JointRequestStatistics *seen = &request->slots->joints->requests;
    request->slots->fault[request->instance] |= MF_FAULT_INPUT;
    if (seen->refused++ == 0)
        mf_plain_format(seen->reason, sizeof seen->reason, "group %s, robot %u, joint slot %u: %s",
                        mf_group_config_of(request->slots->group)->name, request->instance,
                        request->slot, error->message);
}

static void answer(const Request *request, mf_JointRequest kind) {
    mf_JointSlots *slots = request->slots;
    mf_Error error = {0};
    const mf_Status status = carry_out(request, kind, &error);
    mf_field_set(slots->request, request->instance, request->slot, MF_JOINT_REQUEST_NONE);
    mf_field_set(slots->answer, request->instance, request->slot, (double)status);
    if (status == MF_OK)
        slots->joints->requests.carried_out++;
    else if (status != MF_NOT_FOUND)
        refuse(request, &error);
}

void mf_joint_requests_run(mf_WorldJoints *all) {
    for (mf_JointSlots *slots = all->slots; slots != NULL; slots = slots->next)
        for (uint32_t i = 0; i < mf_group_count(slots->group); i++)
            for (uint32_t s = 0; s < slots->count && slots->fault[i] == 0; s++) {
                const Request request = {slots, i, s};
                const uint32_t kind = (uint32_t)value(&request, slots->request, 0);
                if (kind != MF_JOINT_REQUEST_NONE)
                    answer(&request, (mf_JointRequest)kind);
            }
}
