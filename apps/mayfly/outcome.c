// The outcome of robots (outcome.h), from samples of their bases and of the first robots' shapes.
#include "outcome.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/scalar.h"

#define FALLEN 1.0              // [rad] as in comparisons of levels
#define DEPTH_OF 4u             // [1] robots whose depth is sampled
#define SUNK 0.25               // [1] of its height that a robot may be in the ground
#define FAULT_BITS 31           // [1] at most
#define REQUESTED_AT_STOP 4096u // [1] robots sampled after an early stop

// ---- samples ------------------------------------------------------------------------------------

// A single cell has no outside.
static bool is_outside(const mf_Group *group, const double position[3]) {
    const mf_Terrain *terrain = mf_world_config_of(mf_group_world(group))->terrain;
    if (terrain == NULL || terrain->columns * terrain->rows == 1)
        return false;
    const double x = (position[0] - terrain->origin[0]) / terrain->cell;
    const double y = (position[1] - terrain->origin[1]) / terrain->cell;
    return !(x >= 0.0 && x <= terrain->columns && y >= 0.0 && y <= terrain->rows);
}

static void take(mf_Outcome *outcome, uint32_t robot) {
    double up[3];
    mf_robot_pose_read(outcome->group, robot, &outcome->pose);
    const double x = outcome->pose.position[0][0] - outcome->start[robot][0];
    const double y = outcome->pose.position[0][1] - outcome->start[robot][1];
    mf_quat_rotate(up, outcome->pose.rotation[0], outcome->up[robot]);
    outcome->distance[robot] = sqrt(x * x + y * y);
    outcome->tilt[robot] = acos(fmax(-1.0, fmin(1.0, up[2])));
    outcome->left += is_outside(outcome->group, outcome->pose.position[0]);
    outcome->fell[robot] = outcome->fell[robot] || outcome->tilt[robot] > FALLEN;
    if (robot >= DEPTH_OF)
        return;
    const mf_RobotDepth depth = mf_robot_depth(outcome->group, robot, &outcome->pose);
    if (robot == 0 && outcome->tall == 0.0 && depth.touches)
        outcome->tall = depth.highest + depth.deepest;
    outcome->deepest = depth.touches ? fmax(outcome->deepest, depth.deepest) : outcome->deepest;
}

mf_Status mf_outcome_begin(mf_Context *context, mf_Group *group, mf_Outcome *out, mf_Error *error) {
    const uint32_t count = mf_group_count(group);
    *out = (mf_Outcome){.context = context, .group = group, .count = count};
    out->start = mf_allocate(context, count, sizeof *out->start);
    out->up = mf_allocate(context, count, sizeof *out->up);
    out->fell = mf_allocate(context, count, sizeof *out->fell);
    out->tilt = mf_allocate(context, count, sizeof *out->tilt);
    out->distance = mf_allocate(context, count, sizeof *out->distance);
    if (out->start == NULL || out->up == NULL || out->fell == NULL || out->tilt == NULL ||
        out->distance == NULL) {
        mf_outcome_end(out);
        return mf_fail(error, MF_NO_MEMORY, "run: out of memory");
    }
    mf_Status status = mf_robot_pose_make(group, &out->pose, error);
    if (status != MF_OK) {
        mf_outcome_end(out);
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        static const double vertical[3] = {0.0, 0.0, 1.0};
        double back[4];
        mf_robot_pose_read(group, i, &out->pose);
        memcpy(out->start[i], out->pose.position[0], sizeof out->start[i]);
        for (int c = 0; c < 4; c++)
            back[c] = c == 0 ? out->pose.rotation[0][c] : -out->pose.rotation[0][c];
        mf_quat_rotate(out->up[i], back, vertical);
        take(out, i);
    }
    out->left = 0;
    return MF_OK;
}

void mf_outcome_end(mf_Outcome *outcome) {
    mf_release(outcome->context, outcome->start);
    mf_release(outcome->context, outcome->up);
    mf_release(outcome->context, outcome->fell);
    mf_release(outcome->context, outcome->tilt);
    mf_release(outcome->context, outcome->distance);
    mf_robot_pose_free(outcome->context, &outcome->pose);
    *outcome = (mf_Outcome){.count = 0};
}

uint32_t mf_outcome_requested(const mf_Group *group) {
    const uint32_t count = mf_group_count(group);
    return mf_app_stop_requested() && count > REQUESTED_AT_STOP ? REQUESTED_AT_STOP : count;
}

void mf_outcome_sample(void *outcome) {
    mf_Outcome *own = outcome;
    const uint32_t requested = mf_outcome_requested(own->group);
    own->left = 0;
    for (uint32_t i = 0; i < requested; i++)
        if (mf_group_fault(own->group, i) == 0)
            take(own, i);
}

mf_OutcomeSum mf_outcome_sum(const mf_Outcome *outcome) {
    mf_OutcomeSum sum = {.falls = 0};
    const uint32_t faults = mf_group_fault_total(outcome->group);
    const uint32_t requested = mf_outcome_requested(outcome->group);
    uint32_t counted = 0;
    for (uint32_t i = 0; i < requested; i++) {
        sum.falls += outcome->fell[i];
        if (faults < outcome->count && mf_group_fault(outcome->group, i) != 0)
            continue;
        counted++;
        sum.distance += outcome->distance[i];
        sum.tilt += outcome->tilt[i];
        if (outcome->distance[i] > sum.farthest) {
            sum.farthest = outcome->distance[i];
            sum.farthest_robot = i;
        }
    }
    sum.distance /= counted;
    sum.tilt /= counted;
    return sum;
}

bool mf_outcome_sank(const mf_Outcome *outcome) {
    return outcome->tall > 0.0 && outcome->deepest > SUNK * outcome->tall;
}

// ---- faults -------------------------------------------------------------------------------------

static const char *fault_name(uint32_t bit) {
    switch (bit) {
    case MF_FAULT_NONFINITE:
        return "nonfinite";
    case MF_FAULT_RANGE:
        return "range";
    case MF_FAULT_INPUT:
        return "input";
    case MF_FAULT_CONTROL:
        return "control";
    case MF_FAULT_COLLISION:
        return "collision";
    case MF_FAULT_TERRAIN:
        return "terrain";
    case MF_FAULT_FENCE:
        return "fence";
    case MF_FAULT_PLUGIN:
        return "plugin";
    case MF_FAULT_TRIAL:
        return "trial";
    case MF_FAULT_CONTACTS:
        return "contacts";
    default:
        return "other";
    }
}

const char *mf_fault_text(uint32_t word, char out[MF_FAULT_TEXT]) {
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t bit = 0; bit <= FAULT_BITS && used < MF_FAULT_TEXT; bit++)
        if (word >> bit & 1u)
            used += (size_t)snprintf(out + used, MF_FAULT_TEXT - used, "%s%s", used > 0 ? ", " : "",
                                     fault_name(1u << bit));
    return out;
}

static uint32_t count_fault(const mf_Group *group, uint32_t bit) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < mf_group_count(group); i++)
        count += mf_group_fault(group, i) >> bit & 1u;
    return count;
}

const char *mf_fault_summary(const mf_Group *group, char out[MF_FAULT_TEXT]) {
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t bit = 0; bit <= FAULT_BITS && used < MF_FAULT_TEXT; bit++) {
        const uint32_t count = count_fault(group, bit);
        if (count > 0)
            used += (size_t)snprintf(out + used, MF_FAULT_TEXT - used, "%s%u %s",
                                     used > 0 ? ", " : ": ", count, fault_name(1u << bit));
    }
    return out;
}

json_t *mf_fault_pack(const mf_Group *group) {
    json_t *all = json_object();
    for (uint32_t bit = 0; all != NULL && bit <= FAULT_BITS; bit++) {
        const uint32_t count = count_fault(group, bit);
        if (count > 0)
            json_object_set_new(all, fault_name(1u << bit), json_integer(count));
    }
    return all;
}
