// A step of docks. At its beginning what is not enabled any more comes apart, what touches joins,
// and magnets pull; at its end overloaded joints break.
//
// A joint is made between the docks as they are: no velocity changes, so momentum stays; what is
// left of distance and angle then closes as an error of any run-time joint does.
//
// Loads are those of the joints in the step, in the frames of the docks where it began. All are
// compared with the limits before any joint is taken away, and that changes no velocity: breaks do
// not depend on an order and neither add momentum nor energy.
#include "solve/modules/docks.h"
#include "math/scalar.h"

#include <math.h>

static const uint32_t latch_stream = 0x646f636b; // of random numbers: "dock"

void mf_dock_facing(double out[4], uint32_t orientation, uint32_t orientations) {
    const double root = 0.70710678118654752440;
    const double halves[4][2] = {{1.0, 0.0}, {root, root}, {0.0, 1.0}, {-root, root}};
    const double *half =
        halves[4 * orientation / orientations % 4]; // cosine and sine of half of the angle
    const double about[4] = {half[0], half[1], 0.0, 0.0};
    const double half_rotation[4] = {0.0, 0.0, 0.0, 1.0}; // about z: the x axes are opposite
    mf_quat_multiply(out, about, half_rotation);
}

// ---- coming apart -------------------------------------------------------------------------------

static mf_WorldJointId id_of(const mf_WorldJoints *joints, uint32_t slot) {
    return (uint64_t)joints->records[slot].generation << 32 | slot;
}

void mf_dock_clear(mf_DockGroup *group, uint32_t instance, uint32_t dock, mf_DockState state) {
    const size_t at = mf_dock_at(group, instance, dock, 1, 0);
    group->state[at] = state;
    group->orientation[at] = 0;
    for (uint32_t c = 0; c < 3; c++)
        group->partner[mf_dock_at(group, instance, dock, 3, c)] = MF_NONE;
    for (uint32_t c = 0; c < 2; c++)
        group->joint[mf_dock_at(group, instance, dock, 2, c)] = 0;
    mf_field_set(group->wait, instance, dock, 0.0);
    for (uint32_t c = 0; c < 6 && state != MF_DOCK_BROKEN; c++)
        mf_field_set(group->load, instance, 6 * dock + c, 0.0);
}

mf_DockGroup *mf_docks_group(const mf_WorldDocks *docks, uint32_t index) {
    return index < docks->world_groups ? docks->group_of[index] : NULL;
}

void mf_docks_part(mf_WorldDocks *docks, uint32_t slot, mf_DockState state) {
    const mf_JointRecord record = docks->joints->records[slot];
    const mf_WorldJointId id = id_of(docks->joints, slot);
    mf_joints_remove(docks->joints, slot);
    for (uint32_t s = 0; s < 2; s++) {
        mf_DockGroup *group = mf_docks_group(docks, record.group[s]);
        const uint32_t dock = record.part[s] - 1;
        if (group == NULL || mf_dock_joint(group, record.instance[s], dock) != id)
            continue; // that robot was reset
        mf_dock_clear(group, record.instance[s], dock, state);
        if (state == MF_DOCK_BROKEN)
            group->enabled[mf_dock_at(group, record.instance[s], dock, 1, 0)] = 0;
    }
}

static bool still_latched(const mf_WorldDocks *docks, uint32_t slot) {
    const mf_JointRecord *record = &docks->joints->records[slot];
    for (uint32_t s = 0; s < 2; s++) {
        const mf_DockGroup *group = mf_docks_group(docks, record->group[s]);
        const uint32_t dock = record->part[s] - 1, instance = record->instance[s];
        if (group == NULL || mf_dock_joint(group, instance, dock) != id_of(docks->joints, slot) ||
            group->enabled[mf_dock_at(group, instance, dock, 1, 0)] == 0)
            return false;
    }
    return true;
}

static void release(mf_WorldDocks *docks) {
    mf_WorldJoints *joints = docks->joints;
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        const mf_JointRecord *record = &joints->records[slot];
        if (!mf_dock_holds(record) || still_latched(docks, slot))
            continue;
        mf_docks_part(docks, slot, MF_DOCK_FREE);
        docks->statistics.released++;
    }
}

// ---- joining ------------------------------------------------------------------------------------

static double softer(double a, double b) {
    return a > 0.0 && b > 0.0 ? (a < b ? a : b) : a + b;
}

static mf_JointRecord record_of(const mf_WorldDocks *docks, const mf_DockSite sites[2],
                                uint32_t orientation) {
    const mf_Dock *a = sites[0].dock, *b = sites[1].dock;
    mf_JointRecord record = {.exists = 1,
                             .enabled = 1,
                             .kind = MF_WORLD_JOINT_FIXED,
                             .stiffness = softer(a->stiffness, b->stiffness),
                             .damping = softer(a->damping, b->damping),
                             .angular_stiffness =
                                 softer(a->angular_stiffness, b->angular_stiffness),
                             .angular_damping = softer(a->angular_damping, b->angular_damping),
                             .time = docks->config.time,
                             .force_limit = (double)INFINITY,
                             .moment_limit = (double)INFINITY,
                             .lower_angle = -(double)INFINITY,
                             .upper_angle = (double)INFINITY};
    for (uint32_t s = 0; s < 2; s++) {
        const mf_Frame *frame = &sites[s].dock->frame;
        record.group[s] = sites[s].group->index;
        record.instance[s] = sites[s].instance;
        record.link[s] = frame->link;
        record.part[s] = mf_dock_number(&sites[s]) + 1;
        mf_vec3_copy(record.position[s], frame->position);
        for (uint32_t c = 0; c < 4; c++)
            record.orientation[s][c] = frame->rotation[c];
    }
    double facing[4];
    mf_dock_facing(facing, orientation, mf_dock_orientations(a, b));
    mf_quat_multiply(record.orientation[0], a->frame.rotation, facing);
    for (uint32_t s = 0; s < 2; s++)
        mf_quat_normalize(record.orientation[s]);
    return record;
}

// Fields of one of two ports that close or are engaged.
static void set_partner(const mf_DockSite *own, const mf_DockSite *other, mf_DockState state) {
    mf_DockGroup *group = own->group;
    const uint32_t dock = mf_dock_number(own);
    const uint32_t partner[3] = {other->group->index, other->instance, mf_dock_number(other)};
    mf_dock_clear(group, own->instance, dock, state);
    for (uint32_t c = 0; c < 3; c++)
        group->partner[mf_dock_at(group, own->instance, dock, 3, c)] = partner[c];
}

void mf_docks_join(mf_WorldDocks *docks, const mf_DockSite sites[2], uint32_t orientation) {
    const mf_JointRecord record = record_of(docks, sites, orientation);
    const mf_WorldJointId id = mf_joints_insert(docks->joints, &record);
    for (uint32_t s = 0; s < 2; s++) {
        mf_DockGroup *group = sites[s].group;
        const uint32_t instance = sites[s].instance, dock = mf_dock_number(&sites[s]);
        set_partner(&sites[s], &sites[1 - s], MF_DOCK_ENGAGED);
        group->orientation[mf_dock_at(group, instance, dock, 1, 0)] = orientation;
        group->joint[mf_dock_at(group, instance, dock, 2, 0)] = (uint32_t)id;
        group->joint[mf_dock_at(group, instance, dock, 2, 1)] = (uint32_t)(id >> 32);
    }
    docks->statistics.joined++;
}

static uint32_t *state_at(const mf_DockSite *site) {
    return &site->group->state[mf_dock_at(site->group, site->instance, mf_dock_number(site), 1, 0)];
}

static bool catches(mf_WorldDocks *docks, const mf_DockSite sites[2], uint64_t tick) {
    const double failure = 1.0 - (1.0 - sites[0].dock->failure) * (1.0 - sites[1].dock->failure);
    uint32_t words[4];
    if (!(failure > 0.0))
        return true;
    mf_random(mf_world_config_of(docks->world)->seed, sites[0].port, latch_stream, tick, words);
    return mf_random_unit_double(words[0], words[1]) >= failure;
}

// The clamps of two docks close. True: they are closed.
static bool close_clamps(const mf_DockSite sites[2], bool goes_on, double step) {
    const double a = sites[0].dock->closing, b = sites[1].dock->closing;
    double wait = a > b ? a : b;
    if (goes_on)
        wait =
            mf_field_get(sites[0].group->wait, sites[0].instance, mf_dock_number(&sites[0])) - step;
    if (wait <= 1e-9)
        return true;
    for (uint32_t s = 0; s < 2; s++) {
        set_partner(&sites[s], &sites[1 - s], MF_DOCK_CLOSING);
        mf_field_set(sites[s].group->wait, sites[s].instance, mf_dock_number(&sites[s]), wait);
    }
    return false;
}

static void mate(mf_WorldDocks *docks, const mf_DockPair *pair, const mf_SystemRun *run) {
    const mf_DockSite sites[2] = {docks->sites[pair->sites[0]], docks->sites[pair->sites[1]]};
    bool *touches[2] = {&docks->mated[sites[0].port], &docks->mated[sites[1].port]};
    const bool missed =
        *state_at(&sites[0]) == MF_DOCK_MISSED || *state_at(&sites[1]) == MF_DOCK_MISSED;
    if (!missed && (*touches[0] || *touches[1]))
        return; // one has a nearer partner
    *touches[0] = *touches[1] = true;
    if (missed || !close_clamps(sites, pair->square < 0.0, (double)run->step * 1e-9))
        return;
    if (catches(docks, sites, run->tick)) {
        mf_docks_join(docks, sites, pair->orientation);
        return;
    }
    for (uint32_t s = 0; s < 2; s++)
        mf_dock_clear(sites[s].group, sites[s].instance, mf_dock_number(&sites[s]), MF_DOCK_MISSED);
    docks->statistics.missed++;
}

// Those that wait for a partner, or for the end of a meeting, and met nobody.
static void forget(mf_WorldDocks *docks) {
    for (uint32_t i = 0; i < docks->site_count; i++) {
        const mf_DockSite *site = &docks->sites[i];
        const uint32_t state = *state_at(site);
        if ((state == MF_DOCK_CLOSING || state == MF_DOCK_MISSED) && !docks->mated[site->port])
            mf_dock_clear(site->group, site->instance, mf_dock_number(site), MF_DOCK_FREE);
        docks->mated[site->port] = false; // nothing of this step is left for the next one
    }
}

// ---- disabled docks -----------------------------------------------------------------------------

// A dock that is not enabled is free; one that its user destroyed the joint of, too.
static void tidy(mf_WorldDocks *docks) {
    for (mf_DockGroup *group = docks->groups; group != NULL; group = group->next)
        for (uint32_t i = 0; i < group->robots; i++)
            for (uint32_t d = 0; d < group->model->dock_count; d++) {
                const size_t at = mf_dock_at(group, i, d, 1, 0);
                const uint32_t state = group->state[at];
                if (state == MF_DOCK_FREE)
                    continue;
                const bool lost = state == MF_DOCK_ENGAGED &&
                                  mf_joints_find(docks->joints, mf_dock_joint(group, i, d)) == NULL;
                const bool off = group->enabled[at] == 0 && state != MF_DOCK_BROKEN;
                const bool repaired = group->enabled[at] != 0 && state == MF_DOCK_BROKEN;
                if (lost || off || repaired)
                    mf_dock_clear(group, i, d, MF_DOCK_FREE);
            }
}

// ---- magnets ------------------------------------------------------------------------------------

// Adds a force and a moment to the link of a site, and keeps what was there.
static void push(mf_WorldDocks *docks, const mf_DockSite *site, const double force[3],
                 const double moment[3]) {
    const mf_TrialStep *trial = docks->joints->solver->trials[site->group->index];
    mf_DockPush *kept = &docks->pushes[docks->push_count];
    if (trial->wrench == NULL)
        return;
    *kept = (mf_DockPush){site->group->index, site->instance, site->dock->frame.link, 0, {0}};
    kept->count = (uint32_t)mf_field_get(trial->wrench_count, site->instance, 0);
    for (uint32_t c = 0; c < 6; c++)
        kept->before[c] = mf_field_get(trial->wrench, site->instance, 6 * kept->link + c);
    docks->push_count++;
    mf_trial_step_apply(trial, site->instance, kept->link, site->position, force, moment);
}

// Both attract each other along the line between their origins with pull (1 - distance / range)^2,
// and turn towards each other with the moment of that force at half of the range.
static void pull(mf_WorldDocks *docks, const mf_DockPair *pair) {
    const mf_DockSite *a = &docks->sites[pair->sites[0]], *b = &docks->sites[pair->sites[1]];
    const double most = a->dock->pull < b->dock->pull ? a->dock->pull : b->dock->pull;
    const double range = a->dock->range < b->dock->range ? a->dock->range : b->dock->range;
    double offset[3], facing[4], target[4], back[4], error[4], moment[3];
    mf_vec3_sub(offset, b->position, a->position);
    const double distance = mf_vec3_length(offset);
    if (!(most > 0.0) || !(distance < range))
        return;
    const double part = 1.0 - distance / range, size = most * part * part;
    mf_vec3_scale(offset, offset, distance > 1e-9 ? size / distance : 0.0);
    mf_dock_facing(facing, pair->orientation, mf_dock_orientations(a->dock, b->dock));
    mf_quat_multiply(target, a->orientation, facing);
    mf_quat_conjugate(back, b->orientation);
    mf_quat_multiply(error, target, back); // turns b to where it fits, world axes
    mf_vec3_scale(moment, error + 1, (error[0] < 0.0 ? -1.0 : 1.0) * size * range);
    push(docks, a, offset, (double[3]){-moment[0], -moment[1], -moment[2]});
    mf_vec3_scale(offset, offset, -1.0);
    push(docks, b, offset, moment);
}

// Removes the wrenches of magnets.
static void stop_pulling(mf_WorldDocks *docks) {
    while (docks->push_count > 0) {
        const mf_DockPush *kept = &docks->pushes[--docks->push_count];
        const mf_TrialStep *trial = docks->joints->solver->trials[kept->group];
        mf_field_set(trial->wrench_count, kept->instance, 0, (double)kept->count);
        for (uint32_t c = 0; c < 6; c++)
            mf_field_set(trial->wrench, kept->instance, 6 * kept->link + c, kept->before[c]);
    }
}

// ---- loads --------------------------------------------------------------------------------------

// [N], [N m] on the link of a side, in its dock's frame. The joint's frame is that of the second.
static void load_of(const mf_JointRecord *record, const mf_Dock *first, uint32_t side,
                    double out[6]) {
    double into[4], back[4];
    for (uint32_t c = 0; c < 6; c++)
        out[c] = side == 1 ? record->load[c] : -record->load[c];
    if (side == 1)
        return;
    mf_quat_conjugate(back, first->frame.rotation);
    mf_quat_multiply(into, back, record->orientation[0]);
    mf_quat_rotate(out, into, (double[3]){out[0], out[1], out[2]});
    mf_quat_rotate(out + 3, into, (double[3]){out[3], out[4], out[5]});
}

static bool is_over(const double load[6], const mf_Dock *a, const mf_Dock *b) {
    const double shear = mf_sqrt(load[1] * load[1] + load[2] * load[2]);
    const double bending = mf_sqrt(load[4] * load[4] + load[5] * load[5]);
    return load[0] > mf_smaller(b->tension, a->tension) || shear > mf_smaller(b->shear, a->shear) ||
           bending > mf_smaller(b->bending, a->bending) ||
           mf_abs(load[3]) > mf_smaller(b->torsion, a->torsion);
}

static void report(const mf_WorldDocks *docks, mf_JointRecord *record) {
    const mf_Dock *dock[2];
    mf_DockGroup *group[2];
    double load[2][6];
    for (uint32_t s = 0; s < 2; s++) {
        group[s] = mf_docks_group(docks, record->group[s]);
        dock[s] = &group[s]->model->docks[record->part[s] - 1];
    }
    for (uint32_t s = 0; s < 2; s++) {
        load_of(record, dock[0], s, load[s]);
        for (uint32_t c = 0; c < 6; c++)
            mf_field_set(group[s]->load, record->instance[s], 6 * (record->part[s] - 1) + c,
                         load[s][c]);
    }
    record->broken = is_over(load[1], dock[0], dock[1]);
}

// ---- a step -------------------------------------------------------------------------------------

void mf_docks_begin(mf_WorldDocks *docks, const mf_SystemRun *run) {
    release(docks);
    tidy(docks);
    mf_docks_find_near(docks);
    for (uint32_t i = 0; i < docks->pair_count; i++)
        if (docks->pairs[i].aligned)
            mate(docks, &docks->pairs[i], run);
    forget(docks);
    for (uint32_t i = 0; i < docks->pair_count && docks->magnets; i++)
        if (*state_at(&docks->sites[docks->pairs[i].sites[0]]) != MF_DOCK_ENGAGED &&
            *state_at(&docks->sites[docks->pairs[i].sites[1]]) != MF_DOCK_ENGAGED)
            pull(docks, &docks->pairs[i]);
}

void mf_docks_end(mf_WorldDocks *docks) {
    stop_pulling(docks);
    mf_WorldJoints *joints = docks->joints;
    for (uint32_t slot = 0; slot < joints->used; slot++)
        if (mf_dock_holds(&joints->records[slot]))
            report(docks, &joints->records[slot]);
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        if (!mf_dock_holds(&joints->records[slot]) || !joints->records[slot].broken)
            continue;
        mf_docks_part(docks, slot, MF_DOCK_BROKEN);
        docks->statistics.broken++;
    }
}
