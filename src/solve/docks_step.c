// The beginning of a step of docks: what is not enabled any more comes apart, what meets joins, and
// magnets pull.
//
// A joint is made between the docks as they are: no velocity changes, so momentum stays; what is
// left of distance and angle then closes as an error of any run-time joint does.
#include "solve/docks.h"
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

static mf_WorldJointId id_at(const mf_DockGroup *group, uint32_t instance, uint32_t dock) {
    return (uint64_t)group->joint[mf_dock_at(group, instance, dock, 2, 1)] << 32 |
           group->joint[mf_dock_at(group, instance, dock, 2, 0)];
}

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
    mf_DockGroup *group = docks->groups;
    while (group != NULL && group->index != index)
        group = group->next;
    return group;
}

void mf_docks_part(mf_WorldDocks *docks, uint32_t slot, mf_DockState state) {
    const mf_JointRecord record = docks->joints->records[slot];
    const mf_WorldJointId id = id_of(docks->joints, slot);
    mf_joints_remove(docks->joints, slot);
    for (uint32_t s = 0; s < 2; s++) {
        mf_DockGroup *group = mf_docks_group(docks, record.group[s]);
        const uint32_t dock = record.dock[s] - 1;
        if (group == NULL || id_at(group, record.instance[s], dock) != id)
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
        const uint32_t dock = record->dock[s] - 1, instance = record->instance[s];
        if (group == NULL || id_at(group, instance, dock) != id_of(docks->joints, slot) ||
            group->enabled[mf_dock_at(group, instance, dock, 1, 0)] == 0)
            return false;
    }
    return true;
}

static void release(mf_WorldDocks *docks) {
    mf_WorldJoints *joints = docks->joints;
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        const mf_JointRecord *record = &joints->records[slot];
        if (!record->exists || record->dock[0] == 0 || still_latched(docks, slot))
            continue;
        mf_docks_part(docks, slot, MF_DOCK_FREE);
        docks->statistics.released++;
    }
}

// ---- joining ------------------------------------------------------------------------------------

static uint32_t dock_of(const mf_DockSite *site) {
    return (uint32_t)(site->dock - site->group->model->docks);
}

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
        record.dock[s] = dock_of(&sites[s]) + 1;
        mf_vec3_copy(record.position[s], frame->position);
        for (uint32_t c = 0; c < 4; c++)
            record.orientation[s][c] = frame->rotation[c];
    }
    double facing[4];
    mf_dock_facing(facing, orientation,
                   a->orientations < b->orientations ? a->orientations : b->orientations);
    mf_quat_multiply(record.orientation[0], a->frame.rotation, facing);
    for (uint32_t s = 0; s < 2; s++)
        mf_quat_normalize(record.orientation[s]);
    return record;
}

void mf_docks_join(mf_WorldDocks *docks, const mf_DockSite sites[2], uint32_t orientation) {
    const mf_JointRecord record = record_of(docks, sites, orientation);
    const mf_WorldJointId id = mf_joints_insert(docks->joints, &record);
    for (uint32_t s = 0; s < 2; s++) {
        mf_DockGroup *group = sites[s].group;
        const uint32_t instance = sites[s].instance, dock = dock_of(&sites[s]);
        const uint32_t partner[3] = {sites[1 - s].group->index, sites[1 - s].instance,
                                     dock_of(&sites[1 - s])};
        mf_dock_clear(group, instance, dock, MF_DOCK_ENGAGED);
        group->orientation[mf_dock_at(group, instance, dock, 1, 0)] = orientation;
        for (uint32_t c = 0; c < 3; c++)
            group->partner[mf_dock_at(group, instance, dock, 3, c)] = partner[c];
        group->joint[mf_dock_at(group, instance, dock, 2, 0)] = (uint32_t)id;
        group->joint[mf_dock_at(group, instance, dock, 2, 1)] = (uint32_t)(id >> 32);
    }
    docks->statistics.joined++;
}

static uint32_t *state_at(const mf_DockSite *site) {
    return &site->group->state[mf_dock_at(site->group, site->instance, dock_of(site), 1, 0)];
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
        wait = mf_field_get(sites[0].group->wait, sites[0].instance, dock_of(&sites[0])) - step;
    if (wait <= 1e-9)
        return true;
    for (uint32_t s = 0; s < 2; s++) {
        mf_DockGroup *group = sites[s].group;
        const uint32_t instance = sites[s].instance, dock = dock_of(&sites[s]);
        mf_dock_clear(group, instance, dock, MF_DOCK_CLOSING);
        group->partner[mf_dock_at(group, instance, dock, 3, 0)] = sites[1 - s].group->index;
        group->partner[mf_dock_at(group, instance, dock, 3, 1)] = sites[1 - s].instance;
        group->partner[mf_dock_at(group, instance, dock, 3, 2)] = dock_of(&sites[1 - s]);
        mf_field_set(group->wait, instance, dock, wait);
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
        mf_dock_clear(sites[s].group, sites[s].instance, dock_of(&sites[s]), MF_DOCK_MISSED);
    docks->statistics.missed++;
}

// Those that wait for a partner, or for the end of a meeting, and met nobody.
static void forget(mf_WorldDocks *docks) {
    for (uint32_t i = 0; i < docks->site_count; i++) {
        const mf_DockSite *site = &docks->sites[i];
        const uint32_t state = *state_at(site);
        if ((state == MF_DOCK_CLOSING || state == MF_DOCK_MISSED) && !docks->mated[site->port])
            mf_dock_clear(site->group, site->instance, dock_of(site), MF_DOCK_FREE);
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
                                  mf_joints_find(docks->joints, id_at(group, i, d)) == NULL;
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
    mf_dock_facing(facing, pair->orientation,
                   a->dock->orientations < b->dock->orientations ? a->dock->orientations
                                                                 : b->dock->orientations);
    mf_quat_multiply(target, a->orientation, facing);
    mf_quat_conjugate(back, b->orientation);
    mf_quat_multiply(error, target, back); // turns b to where it fits, world axes
    mf_vec3_scale(moment, error + 1, (error[0] < 0.0 ? -1.0 : 1.0) * size * range);
    push(docks, a, offset, (double[3]){-moment[0], -moment[1], -moment[2]});
    mf_vec3_scale(offset, offset, -1.0);
    push(docks, b, offset, moment);
}

void mf_docks_unpull(mf_WorldDocks *docks) {
    while (docks->push_count > 0) {
        const mf_DockPush *kept = &docks->pushes[--docks->push_count];
        const mf_TrialStep *trial = docks->joints->solver->trials[kept->group];
        mf_field_set(trial->wrench_count, kept->instance, 0, (double)kept->count);
        for (uint32_t c = 0; c < 6; c++)
            mf_field_set(trial->wrench, kept->instance, 6 * kept->link + c, kept->before[c]);
    }
}

// ---- a step -------------------------------------------------------------------------------------

void mf_docks_begin(mf_WorldDocks *docks, const mf_SystemRun *run) {
    if (docks == NULL)
        return;
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
